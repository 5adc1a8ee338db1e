"""`auto_functionalized`: how PyTorch makes calls of custom operators functional that write to their arguments.

    auto_functionalized_v2(mylib.push, x = x, _cache_base_index = 0, _all_bases = [base])

stands for `mylib.push(cache, x)`, where `cache` is `base` or a view of it; it gives the operator's own results and
then the bases, as they are afterwards. The first form, `auto_functionalized(mylib.push, cache = cache, x = x)`, knows no
views: it gives the written arguments as they are afterwards. In the IR it is the operator itself, whose last results are
what it writes (`spec/library.py`). The forms are those of `torch/_higher_order_ops/auto_functionalize.py`.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import spec
from xdsl_exir.dialects.builder import Namespace, flat_results
from xdsl_exir.dialects.spec import OperatorSpec
from xdsl_exir.errors import LoadError, Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.build import GraphBuilder
from xdsl_exir.importers.nodes import dialect_of
from xdsl_exir.importers.strides import memory_order


def build_auto_functionalized(build: GraphBuilder, node: g.Node) -> None:
    """Builds the operator of the first form. Raises `UnsupportedError` for an operator that is not known."""
    known, given = _wrapped(node)
    arguments = {name: build.argument(value) for name, value in given.items()}
    own, others = _result_names(node, known, len(known.writes))
    build.define_all([*own, *others], _call(build, known, arguments, own))


def build_auto_functionalized_v2(build: GraphBuilder, node: g.Node) -> None:
    """Builds the operator and writes through views. Raises `UnsupportedError` for an operator that is not known."""
    known, given = _wrapped(node)
    bases = build.argument(given.get("_all_bases", ()))
    places = {name: _ViewOf(name, given) for name in known.writes if f"_{name}_base_index" in given}
    bases_given = given.get("_all_bases", ())
    for place in places.values():
        place.check(build, bases_given if isinstance(bases_given, tuple) else (), known.qualified_name)
    if len(places) != len(known.writes):
        raise LoadError(
            f"{known.qualified_name} is specified to write to {', '.join(known.writes) or 'nothing'}"
        )
    arguments = {
        argument.name: places[argument.name].read(build, bases)
        if argument.name in places
        else build.argument(given[argument.name])
        for argument in known.schema.arguments
        if argument.name in places or argument.name in given
    }
    own, others = _result_names(node, known, len(bases))
    results = _call(build, known, arguments, own)
    for name, value in zip(known.writes, results[len(own) :], strict=True):
        places[name].write(build, bases, value)
    build.define_all([*own, *others], [*results[: len(own)], *bases])


def _wrapped(node: g.Node) -> tuple[OperatorSpec, dict[str, g.Value]]:
    """The operator that a node calls, and its arguments. Raises `UnsupportedError` where it is not known."""
    wrapped = node.inputs[0].value if node.inputs else None
    if not isinstance(wrapped, g.OperatorRef):
        raise LoadError(f"{wrapped!r} is not an operator")
    if wrapped.name not in spec.specs():
        raise UnsupportedError([Unsupported(wrapped.name, f"unknown operator{spec.hint(wrapped.name)}")])
    return spec.find(wrapped.name), {item.name: item.value for item in node.inputs[1:]}


def _result_names(
    node: g.Node, known: OperatorSpec, written: int
) -> tuple[list[str | None], list[str | None]]:
    """Names of the operator's own results, and of what is written, which come last."""
    names = node.result_names
    count = len(names) - written
    # An operator without results gives one None.
    return names[:count] if known.schema.returns[len(known.writes) :] else [], names[count:]


def _call(
    build: GraphBuilder, known: OperatorSpec, arguments: dict[str, Any], own: list[str | None]
) -> list[SSAValue]:
    """The operator's results: those of its own, of these names, then what it writes."""
    cls = dialect_of(known.qualified_name)[known.qualified_name]
    bound = cls.SLOTS.bind(*build.builder.with_numbers(cls, (), arguments))
    types = build.result_types(cls, bound, [*own, *(None for _ in known.writes)])
    return flat_results(build.builder.build(cls, bound, types))


class _ViewOf:
    """Where in which base an argument lies."""

    def __init__(self, argument: str, given: dict[str, g.Value]):
        self.base = given[f"_{argument}_base_index"]
        prefix = f"_{argument}_"
        self.view = {
            name.removeprefix(prefix): value
            for name, value in given.items()
            if name.startswith(prefix) and name.removeprefix(prefix) in _VIEWS
        }

    def index(self, bases: list[SSAValue]) -> int:
        if not isinstance(self.base, int) or self.base >= len(bases):
            raise LoadError(f"no base {self.base!r} of {len(bases)}")
        return self.base

    def check(self, build: GraphBuilder, bases: tuple[g.Value, ...], operator: str) -> None:
        """Raises `UnsupportedError` where strides count in a base that is not row-major from its memory's start."""
        base = bases[self.base] if isinstance(self.base, int) and self.base < len(bases) else None
        meta = build.meta_of(base.name) if isinstance(base, g.Ref) else None
        if "size" not in self.view or not isinstance(meta, g.TensorMeta):
            return
        order = memory_order(meta)
        if order is None or order != tuple(range(len(order))) or meta.storage_offset != 0:
            reason = (
                f"it writes to a view by strides of what lies in memory with strides {list(meta.strides)}"
            )
            raise UnsupportedError([Unsupported(operator, reason)])

    def read(self, build: GraphBuilder, bases: list[SSAValue]) -> SSAValue:
        """The argument's value."""
        aten, base = Namespace(build.builder), bases[self.index(bases)]
        return _through(build, (aten.slice.Tensor, aten.as_strided), self.view, base)

    def write(self, build: GraphBuilder, bases: list[SSAValue], value: SSAValue) -> None:
        """Puts a value where the argument lies."""
        aten, index = Namespace(build.builder), self.index(bases)
        whole = not self.view.keys() - {"alias"}
        scatters = (aten.slice_scatter, aten.as_strided_scatter)
        bases[index] = value if whole else _through(build, scatters, self.view, bases[index], value)


_VIEWS = ("alias", "slice_dim", "slice_start", "slice_end", "size", "stride", "storage_offset")


def _through(
    build: GraphBuilder, operators: tuple[Any, Any], view: dict[str, g.Value], *values: SSAValue
) -> Any:
    """What the view's parameters mean: nothing, a slice, or strides."""
    if "slice_dim" in view:
        keys, operator = ("slice_dim", "slice_start", "slice_end"), operators[0]
    elif "size" in view:
        keys, operator = ("size", "stride", "storage_offset"), operators[1]
    else:
        return values[0]
    return operator(*values, *(build.argument(view[key]) for key in keys))
