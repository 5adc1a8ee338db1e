"""Views of tensors, and writes through them: what a tensor becomes when a view of it gets another value.

Most views have an inverse that is an operator (a transposition is its own, a slice has `slice_scatter`). All others that
only move elements are inverted by place: the view of the tensor's places says which of its elements the value's are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import spec
from xdsl_exir.dialects.builder import Builder, Namespace, meta, sizes
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.named_rules import RETURN_RULES
from xdsl_exir.dialects.signature import STRAIGHT
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.dialects.tensors import tensor_type
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers import composites
from xdsl_exir.narrowing import is_sequence

CONJUGATIONS = frozenset(f"aten.{name}" for name in ("conj", "_conj", "mH", "adjoint", "matrix_H"))
"""Views that conjugate complex numbers."""


@dataclass(frozen=True)
class Step:
    """A view operator on the way from a storage: its arguments besides the tensor it views, and which result it is."""

    operator: str
    source: str
    """Name of the argument that is viewed."""
    arguments: Mapping[str, Any]
    index: int | None = None
    """Of an operator with several results: which."""
    place: int | None = None
    """Of an operator with a list of operands: which is viewed."""
    shapes: Sequence[Sequence[Dim]] = ()
    """Of its results, where they may depend on another tensor's elements."""

    def call(self, builder: Builder, value: SSAValue) -> Any:
        """All results of the operator on a value."""
        viewed: Any = value
        if self.place is not None:
            viewed = [*self.arguments[self.source]]
            viewed[self.place] = value
        given = {**self.arguments, self.source: viewed}
        types = [tensor_type(shape, meta(value).dtype) for shape in self.shapes]
        return composites.call(builder, self.operator, given, types)

    def apply(self, builder: Builder, value: SSAValue) -> SSAValue:
        """The view of a value."""
        results = self.call(builder, value)
        return results if self.index is None else results[self.index]

    def of_places(self, builder: Builder, places: SSAValue) -> SSAValue:
        """The view of places; operands next to it are in their dtype, as they were in that of what is viewed."""
        if self.place is None:
            return self.apply(builder, places)
        aten = Namespace(builder)
        others = [aten.zeros_like(other, dtype=meta(places).dtype) for other in self.arguments[self.source]]
        return replace(self, arguments={**self.arguments, self.source: others}).apply(builder, places)

    def invert(self, builder: Builder, base: SSAValue, value: SSAValue) -> SSAValue:
        """What `base` becomes when its view becomes `value`. Raises `UnsupportedError` for unknown views."""
        inverse = INVERSES.get(self.operator, _by_place)
        return inverse(Namespace(builder), base, self, value)


def step_of(node: g.Node, bound: Mapping[str, Any], index: int | None, value: SSAValue) -> Step:
    """What a node with a `viewed_by` makes of that: a view, of which `value` is the result at an index."""
    sharing = spec.find(node.target).sharing
    assert sharing is not None
    place = (index or 0) if is_sequence(bound[sharing.source]) else None
    others = {name: given for name, given in bound.items() if place is not None or name != sharing.source}
    seen, shapes = meta(value), list[Sequence[Dim]]()
    if node.target == "aten.squeeze.dim":
        viewed, dim = meta(bound["self"]), bound["dim"]
        if seen.ndim < viewed.ndim and not is_static(viewed.shape):
            # Only a guard may say that the size is 1, and not all types know: what is left is the first of that dimension.
            return Step("aten.select.int", "self", {"dim": dim, "index": 0})
    if isinstance(value.owner, Operation) and any(isinstance(given, SSAValue) for given in others.values()):
        shapes = [meta(result).shape for result in value.owner.results]
    return Step(node.target, sharing.source, others, index, place, shapes)


Inverse = Callable[[Namespace, SSAValue, Step, SSAValue], SSAValue]
INVERSES: dict[str, Inverse] = {}
"""How a write through a view changes what it views, by operator."""


def inverse(*names: str) -> Callable[[Inverse], Inverse]:
    """Registers the inverse of views of `aten`."""

    def register(function: Inverse) -> Inverse:
        INVERSES.update((f"aten.{name}", function) for name in names)
        return function

    return register


def _by_place(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    """The inverse of whatever only moves elements."""
    return _by_places(aten, base, [step], value)


def _by_places(aten: Namespace, base: SSAValue, steps: Sequence[Step], value: SSAValue) -> SSAValue:
    """The inverse of steps that only move elements, or parts of complex ones, as one."""
    places = places_of(aten, base, steps, value)
    return in_numbers(aten, base, value, lambda numbers: aten.put(numbers, places, value))


def in_numbers(
    aten: Namespace, base: SSAValue, value: SSAValue, put: Callable[[SSAValue], SSAValue]
) -> SSAValue:
    """What `base` becomes by a change to numbers of the dtype of `value`: its elements, or the parts of complex ones."""
    if meta(value).dtype is meta(base).dtype:
        return put(base)
    return aten.view_as_complex(put(aten.view_as_real(base)))


def places_of(aten: Namespace, base: SSAValue, steps: Sequence[Step], value: SSAValue) -> SSAValue:
    """Where in `base` the elements of its view by `steps` lie, in numbers of the view's dtype (half a complex one).

    Raises `UnsupportedError` where steps do more than move.
    """
    # Steps that change no element may be of operators that convert places.
    steps = [step for step in steps if INVERSES.get(step.operator) not in (_same, _detach)]
    moves = _moving(steps, meta(base).dtype)
    if len(moves) < len(steps):
        raise UnsupportedError(
            [Unsupported(steps[len(moves)].operator, "a write through this view is not known")]
        )
    count = prod(meta(base).shape)
    every = aten.arange(count if isinstance(count, int) else aten.sym_numel(base), device=meta(base).device)
    places = aten.view(every, sizes(aten, base))
    for step in moves:
        part = PARTS.get(step.operator)
        places = part(aten, places) if part else step.of_places(aten.builder, places)
    return places


PARTS: dict[str, Callable[[Namespace, SSAValue], SSAValue]] = {
    "aten.real": lambda aten, places: aten.mul.Scalar(places, 2),
    "aten.imag": lambda aten, places: aten.add.Scalar(aten.mul.Scalar(places, 2), 1),
    "aten.view_as_real": lambda aten, places: aten.stack(
        [part(aten, places) for part in (PARTS["aten.real"], PARTS["aten.imag"])], -1
    ),
}
"""Where the numbers of complex elements lie, from where those do."""

TO_REAL = RETURN_RULES["to_real"]


def _moving(steps: Iterable[Step], dtype: DType) -> list[Step]:
    """The first steps, of elements of a dtype, as far as they move elements; once, complex ones become their parts."""
    moves: list[Step] = []
    for step in steps:
        if dtype.category is Category.COMPLEX and step.operator in PARTS:
            dtype = TO_REAL[dtype]
        elif not _moves(step, dtype):
            break
        moves.append(step)
    return moves


def _moves(step: Step, dtype: DType) -> bool:
    """Whether a view of elements of a dtype only moves them: it does the same to numbers of any dtype."""
    rule = spec.find(step.operator).dtype_rule
    return (
        rule is not None
        and dt.Long in rule.allowed.get(step.source, ())
        and (step.operator not in CONJUGATIONS or dtype.category is not Category.COMPLEX)
        and step.operator not in ("aten.view.dtype", "aten.real", "aten.imag", "aten._neg_view")
    )


OVERLAPPING = frozenset(
    f"aten.{name}"
    for name in ("expand", "expand_as", "broadcast_to", "broadcast_tensors", "meshgrid", "meshgrid.indexing",
                 "unfold", "as_strided")
)  # fmt: skip
"""Views of which two elements may be one of what they view."""


def and_then(steps: Sequence[Step], step: Step) -> tuple[Step, ...]:
    """Steps, and one more. A reshape to sizes that are said is one of what other reshapes before it were of."""
    count = len(steps)
    while (
        step.operator in ("aten.view", "aten._unsafe_view", "aten.reshape")
        and count
        and INVERSES.get(steps[count - 1].operator) is _reshape
        and steps[count - 1].place is None
    ):
        count -= 1
    return (*steps[:count], step)


def write_through(builder: Builder, base: SSAValue, steps: Sequence[Step], value: SSAValue) -> SSAValue:
    """What `base` becomes when its view by `steps`, one after the other, becomes `value`.

    A write to a part of a view that overlaps itself changes more of that view than the part: it is inverted by place
    from before that view. Raises `UnsupportedError` for unknown views.
    """
    undo: list[Callable[[SSAValue], SSAValue]] = []
    at = 0
    while at < len(steps):
        step = steps[at]
        at += 1
        if at == len(steps):
            undo.append(partial(step.invert, builder, base))
            break
        viewed = step.apply(builder, base)
        is_same = step.operator != "aten.as_strided" and meta(viewed).shape == meta(base).shape
        if step.operator in OVERLAPPING and not is_same:
            dtype = meta(base).dtype
            moves = [step, *_moving(islice(steps, at, None), dtype)]
            at += len(moves) - 1
            if any(_moves(step, dtype) for step in islice(steps, at, None)):
                raise UnsupportedError(
                    [Unsupported(steps[at].operator, "a write through this view is not known")]
                )
            for move in moves[1:]:
                viewed = move.apply(builder, viewed)
            undo.append(partial(_by_places, Namespace(builder), base, moves))
        else:
            undo.append(partial(step.invert, builder, base))
        base = viewed
    for invert in reversed(undo):
        value = invert(value)
    return value


def straight_through(builder: Builder, base: SSAValue, value: SSAValue) -> SSAValue:
    """What a write makes of `base` that autograd does not see: another value, with the gradient that `base` has."""
    if meta(base).dtype.category < Category.FLOAT:
        return value
    aten, attributes = Namespace(builder), builder.attributes
    value = aten.detach(value)
    builder.attributes = {**attributes, STRAIGHT: UnitAttr()}
    value = aten.copy(base, value)
    builder.attributes = attributes
    return value


@inverse("detach")
def _detach(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return straight_through(aten.builder, base, value)


@inverse("alias", "lift", "lift_fresh", "contiguous", "to.dtype", "to.device", "to.dtype_layout", "to.other",
         "type_as", "positive", "dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "conj_physical",
         "resolve_conj", "resolve_neg", "sum_to_size")  # fmt: skip
def _same(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return value


@inverse("view", "_unsafe_view", "reshape", "flatten.using_ints", "ravel", "unflatten.int", "view_as", "reshape_as",
         "unsqueeze", "squeeze", "squeeze.dim", "squeeze.dims", "atleast_1d", "atleast_2d", "atleast_1d.Sequence",
         "atleast_2d.Sequence", "atleast_3d", "atleast_3d.Sequence", "cartesian_prod")  # fmt: skip
def _reshape(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return aten.view(value, sizes(aten, base))


@inverse(
    "transpose.int",
    "swapaxes",
    "swapdims",
    "t",
    "numpy_T",
    "mT",
    "mH",
    "adjoint",
    "matrix_H",
    "conj",
    "_conj",
    "_neg_view",
)
def _again(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return step.apply(aten.builder, value)


@inverse("permute")
def _permute(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    dims = [dim % len(step.arguments["dims"]) for dim in step.arguments["dims"]]
    return aten.permute(value, [dims.index(dim) for dim in range(len(dims))])


@inverse("movedim.int", "movedim.intlist", "moveaxis.int", "moveaxis.intlist")
def _movedim(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    there, back = step.arguments["source"], step.arguments["destination"]
    moved = replace(step, source="self", arguments={"source": back, "destination": there})
    return moved.apply(aten.builder, value)


@inverse("expand", "expand_as", "broadcast_to", "broadcast_tensors")
def _expand(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return value if meta(value).shape == meta(base).shape else _by_place(aten, base, step, value)


@inverse("slice.Tensor")
def _slice(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return aten.slice_scatter(
        base, value, *(step.arguments[name] for name in ("dim", "start", "end", "step"))
    )


@inverse("narrow")
def _narrow(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    dim, start, length = (step.arguments[name] for name in ("dim", "start", "length"))
    if isinstance(start, int) and isinstance(length, int):
        end = start + length
        return aten.slice_scatter(base, value, dim, start, None if start < 0 <= end else end)
    # What begins there, with the value as its beginning: no sum of computed numbers.
    rest = aten.slice_scatter(aten.slice.Tensor(base, dim, start), value, dim, 0, length)
    return aten.slice_scatter(base, rest, dim, start)


@inverse("select.int")
def _select(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return aten.select_scatter(base, value, step.arguments["dim"], step.arguments["index"])


@inverse("unbind.int")
def _unbind(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return aten.select_scatter(base, value, step.arguments["dim"], step.index)


@inverse("diagonal", "linalg_diagonal")
def _diagonal(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return aten.diagonal_scatter(base, value, *(step.arguments[name] for name in ("offset", "dim1", "dim2")))


@inverse("as_strided")
def _as_strided(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    given = (step.arguments[name] for name in ("size", "stride", "storage_offset"))
    return aten.as_strided_scatter(base, value, *given)


DIM_OF_SPLIT = {"vsplit": 0, "hsplit": 1, "dsplit": 2}
"""The dimension of those splits that have no argument for it; `hsplit` of a vector splits that."""


@inverse("split.Tensor", "split_with_sizes", "split.sizes", "chunk", "unsafe_split.Tensor", "unsafe_chunk", "unsafe_split_with_sizes",
         "tensor_split.sections", "hsplit.int", "vsplit.int", "dsplit.int")  # fmt: skip
def _split(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    given: int = step.arguments.get("dim", DIM_OF_SPLIT.get(step.operator.split(".")[1], 0))
    dim = min(given, meta(base).ndim - 1)
    assert step.index is not None
    start: Dim = 0
    length: Dim = meta(value).shape[dim]
    for part in step.call(aten.builder, base)[: step.index]:
        start += meta(part).shape[dim]
    if not isinstance(start, int) or not isinstance(length, int):
        return _by_place(aten, base, step, value)
    return aten.slice_scatter(base, value, dim, start, start + length)


# --- views as another dtype ----------------------------------------------------------------------------------


@inverse("real")
def _real(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    is_complex = meta(base).dtype.category is Category.COMPLEX
    return aten.complex(value, aten.imag(base)) if is_complex else value


@inverse("imag")
def _imag(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return aten.complex(aten.real(base), value)


@inverse("view_as_real")
def _view_as_real(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return aten.view_as_complex(value)


@inverse("view_as_complex")
def _view_as_complex(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return aten.view_as_real(value)


@inverse("view.dtype")
def _view_dtype(aten: Namespace, base: SSAValue, step: Step, value: SSAValue) -> SSAValue:
    return aten.view.dtype(value, meta(base).dtype)
