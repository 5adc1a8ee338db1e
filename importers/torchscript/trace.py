"""A program for given inputs: what `Machine` leaves of it, as a graph like those that `torch.export` gives.

State that the program uses becomes parameters and buffers under the names of its attributes; an attribute that is set to
another tensor becomes a write to that buffer. Numbers, strings and the structure of lists and objects are decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from xdsl_exir.dialects import spec
from xdsl_exir.dialects.operator import EFFECT_TAGS
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.errors import InputError, Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.importers.fx_text import value_meta
from xdsl_exir.importers.nodes import HIGHER_ORDER_TARGETS, mutates
from xdsl_exir.importers.strides import size_of, tensor_of
from xdsl_exir.importers.torchscript.carried import DTYPES, as_tensor, from_tensor, kind_of
from xdsl_exir.importers.torchscript.machine import Machine
from xdsl_exir.importers.torchscript.tensors import Held, Tensors
from xdsl_exir.importers.torchscript.values import Condition, Number, Object, TensorValue, UnknownText, named
from xdsl_exir.interpreter.interpreter import dtype_of
from xdsl_exir.narrowing import is_dict, is_list, is_sequence, is_tuple
from xdsl_exir.program import Program, from_graphs, verified

if TYPE_CHECKING:
    from xdsl_exir.importers.torchscript.program import Session, StateTable

LEAF = pytree.LEAF


def traced(program: Session, inputs: Sequence[Any], method: str) -> Program:
    """The program of one method for inputs like these: arrays, numbers, types as text (`float32[s0, 8]`), and containers of them."""
    return verified(from_graphs({method: traced_graph(program, inputs, method)}, program.path))


def traced_graph(program: Session, inputs: Sequence[Any], method: str) -> g.ExportedGraph:
    """The graph that a method is for inputs like these.

    Attributes that are numbers, which the method sets to others, are state like tensors: then it is traced again with them as buffers.
    """
    varying: dict[str, Any] = {}
    known: tuple[Unsupported, ...] = ()
    while True:
        try:
            with program.errors_in(method):
                return _Trace(program, varying).graph(inputs, method)
        except _Varies as found:
            varying |= found.attributes
            known = found.error.items
        except UnsupportedError as error:
            made = UnsupportedError([*known, *error.items])
            made.place = error.place
            raise made from error


class _Varies(Exception):
    """Attributes that are numbers turn out to be set to others."""

    def __init__(self, attributes: Mapping[str, Any], error: UnsupportedError):
        super().__init__()
        self.attributes, self.error = attributes, error


class _Trace:
    """One attempt, with the state that it sees: `varying` are attributes that are numbers, as tensors."""

    def __init__(self, program: Session, varying: Mapping[str, Any]):
        self.program, self.varying = program, varying
        self.state = program.state.with_numbers(varying)

    def root(self, tensors: Tensors | None) -> Object:
        """The module, with its varying attributes as tensors of the state, or as what those say."""
        made = deepcopy(self.program.root)
        for path, value in self.varying.items():
            owner, _, name = path.rpartition(".")
            holder = made
            for part in owner.split(".") if owner else []:
                holder = holder.attributes[part]
            tensor = TensorValue(path)
            holder.attributes[name] = (
                tensor if tensors is None else from_tensor(tensors, tensor, kind_of(value))
            )
        return made

    def graph(self, inputs: Sequence[Any], method: str) -> g.ExportedGraph:
        """The graph. Raises `_Varies` for numbers that are set and not among the varying ones."""
        from xdsl_exir.importers.torchscript.evaluate import Evaluator

        program = self.program
        arguments = program.arguments(method, inputs, {})
        names = [parameter.name for parameter in program.signature(method).parameters]
        tensors = Tensors(program.path, Evaluator(), False, lambda name: self.state.held(name, False))
        reader = _Inputs(tensors)
        given = [
            reader.read(value, name) for value, name in zip(arguments[: len(inputs)], names, strict=False)
        ]
        defaults = [(value, LEAF) for value in arguments[len(given) :]]
        names = names[: len(given)]
        before, root = self.root(None), self.root(tensors)
        machine = Machine(program.script, tensors, program.constants)
        result = program.run(machine, method, root, [value for value, _ in [*given, *defaults]])
        _write_attributes(tensors, before, root)
        tensors.check_all_known()
        outputs: list[g.OutputSpec] = []
        out_spec = _output(tensors, result, outputs)
        return _exported(self.state, tensors, reader, names, [of for _, of in given], outputs, out_spec)


class _Inputs:
    """Reads the inputs of a call: which are tensors of the graph, and which are constants."""

    def __init__(self, tensors: Tensors):
        self.tensors = tensors
        self.specs: list[tuple[g.InputSpec, g.Ref | g.Constant, g.ValueMeta | None]] = []

    def read(self, value: Any, name: str) -> tuple[Any, pytree.TreeSpec]:
        """An argument as a value, and its structure."""
        if is_list(value) or is_tuple(value):
            items = [self.read(item, f"{name}_{index}") for index, item in enumerate(value)]
            kind = "builtins.list" if is_list(value) else "builtins.tuple"
            made = type(value)(item for item, _ in items)
            return made, pytree.TreeSpec(kind, None, tuple(of for _, of in items))
        if is_dict(value):
            pairs = [(key, *self.read(item, f"{name}_{key}")) for key, item in value.items()]
            spec_ = pytree.TreeSpec(
                "builtins.dict", tuple(key for key, _, _ in pairs), tuple(of for _, _, of in pairs)
            )
            return {key: item for key, item, _ in pairs}, spec_
        return self._leaf(value, name), LEAF

    def _leaf(self, value: Any, name: str) -> Any:
        if value is None or isinstance(value, bool | int | float | complex) or _is_text(value):
            self.specs.append((g.InputSpec("constant_input", name, value=value), value, None))
            return value
        meta = value_meta(value) if isinstance(value, str | TensorMeta) else self._of_array(value, name)
        self.specs.append((g.InputSpec("user_input", name), g.Ref(name), meta))
        if not isinstance(meta, g.TensorMeta):
            raise InputError(f"{name}: expected a tensor")
        known = TensorMeta(tuple(map(size_of, meta.sizes)), meta.dtype)
        self.tensors.input(name, Held(known))
        return TensorValue(name)

    def _of_array(self, value: Any, name: str) -> g.TensorMeta:
        from xdsl_exir.importers.torchscript.program import as_array

        array = as_array(value, name)
        return tensor_of(TensorMeta(array.shape, dtype_of(array.dtype)))


def _is_text(value: Any) -> bool:
    """Whether a string is one, and not the type of a tensor."""
    return isinstance(value, str) and not (value.endswith("]") and "[" in value)


def _write_attributes(tensors: Tensors, before: Any, after: Any) -> None:
    """Writes tensors that attributes were set to where they are kept. Raises `_Varies` for numbers that change, `UnsupportedError` for
    attributes that change otherwise."""
    waiting: list[tuple[Any, Any, str]] = [(before, after, "")]
    seen: set[int] = set()
    writes: list[tuple[TensorValue, TensorValue]] = []
    varying: dict[str, Any] = {}
    reasons: list[Unsupported] = []
    while waiting:
        old, new, at = waiting.pop()
        if id(old) in seen and not kind_of(old):
            continue
        seen.add(id(old))
        if isinstance(old, TensorValue) and kind_of(new) not in ("", "tensor"):
            new = as_tensor(tensors, new)
        match old, new:
            case TensorValue(), TensorValue():
                if old.name == new.name or tensors.identity(old) == tensors.identity(new):
                    continue
                was, now = tensors.meta(old), tensors.meta(new)
                if (was.shape, was.dtype) != (now.shape, now.dtype):
                    raise _changed(
                        at, f"a tensor of {was.dtype}{list(was.shape)}", f"of {now.dtype}{list(now.shape)}"
                    )
                writes.append((old, new))
            case Object(), Object() if (
                old.class_name == new.class_name and old.attributes.keys() == new.attributes.keys()
            ):
                inside = f"{at}." if at else ""
                waiting += [
                    (old.attributes[key], new.attributes[key], f"{inside}{key}") for key in old.attributes
                ]
            case _ if "[" not in at and kind_of(old) in DTYPES and kind_of(old) == kind_of(new):
                if old != new:
                    varying[at] = old
                    reasons += _changed(at, named(old), named(new)).items
            case _ if is_sequence(old) and is_sequence(new) and len(old) == len(new):
                waiting += [
                    (a, b, f"{at}[{index}]") for index, (a, b) in enumerate(zip(old, new, strict=True))
                ]
            case _ if is_dict(old) and is_dict(new) and old.keys() == new.keys():
                waiting += [(old[key], new[key], f"{at}[{key!r}]") for key in old]
            case _:
                is_held = isinstance(old, Object) or is_sequence(old) or is_dict(old)
                if is_held or type(old) is not type(new) or old != new:
                    raise _changed(at, named(old), named(new))
    if varying:
        raise _Varies(varying, UnsupportedError(reasons))
    # Values before any write: one attribute may have become what another one was.
    values = [tensors.call("aten.clone", {"self": new}) for _, new in writes]
    for (old, _), value in zip(writes, values, strict=True):
        tensors.call("aten.copy_", {"self": old, "src": value})


def _changed(at: str, before: str, after: str) -> UnsupportedError:
    reason = (
        f"attribute '{at}' becomes {after}, it was {before}; call the program once before, if it stays so"
    )
    return UnsupportedError([Unsupported("prim.SetAttr", reason)])


def _output(tensors: Tensors, value: Any, outputs: list[g.OutputSpec]) -> pytree.TreeSpec:
    """The structure of what is given back; its leaves become outputs."""
    match value:
        case TensorValue() | Number():
            tensors.constant(value)  # used
            outputs.append(g.OutputSpec("user_output", g.Ref(value.name)))
            return LEAF
        case Condition():
            return _output(tensors, value.tensor, outputs)
        case UnknownText():
            raise UnsupportedError([Unsupported("torchscript.return", value)])
        case _ if is_sequence(value):
            kind = "builtins.list" if is_list(value) else "builtins.tuple"
            return pytree.TreeSpec(kind, None, tuple(_output(tensors, item, outputs) for item in value))
        case _ if is_dict(value):
            children = tuple(_output(tensors, item, outputs) for item in value.values())
            return pytree.TreeSpec("builtins.dict", tuple(value), children)
        case None | bool() | int() | float() | complex() | str():
            outputs.append(g.OutputSpec("user_output", value))
            return LEAF
        case _:
            raise UnsupportedError(
                [Unsupported("torchscript.return", f"a result of kind {type(value).__name__}")]
            )


def _exported(
    table: StateTable,
    tensors: Tensors,
    reader: _Inputs,
    names: Sequence[str],
    in_specs: Sequence[pytree.TreeSpec],
    outputs: Sequence[g.OutputSpec],
    out_spec: pytree.TreeSpec,
) -> g.ExportedGraph:
    nodes = live(tensors.nodes, [output.value for output in outputs])
    used = {name for node in nodes for item in node.inputs for name in g.references(item.value)}
    used |= {name for output in outputs for name in g.references(output.value)}
    state = {name: table.data[name] for name in tensors.given if name in table.data and name in used}
    literals = {name: TensorData.of(*made) for name, made in tensors.literals.items() if name in used}
    # Names of state have dots, which values of a graph have not.
    inside = {name: f"p_{name.replace('.', '_')}_{index}" for index, name in enumerate(state)}
    specs: list[tuple[g.InputSpec, g.Ref | g.Constant, g.ValueMeta | None]] = []
    for name, data in state.items():
        kind: g.InputKind = "parameter" if table.kinds[name] == "parameter" else "buffer"
        meta = tensor_of(TensorMeta(data.sizes, data.dtype))
        persistent: bool | None = True if kind == "buffer" else None
        if table.kinds[name] == "constant_tensor":
            kind, persistent = "constant_tensor", None
            literals[name] = data
            if tensors.is_written(name):
                raise UnsupportedError(
                    [Unsupported("torchscript.prim.Constant", "a constant that is written to")]
                )
        specs.append((g.InputSpec(kind, inside[name], name, persistent), g.Ref(inside[name]), meta))
    for name in tensors.literals.keys() & literals.keys():
        data = literals[name]
        meta = tensor_of(TensorMeta(data.sizes, data.dtype))
        specs.append((g.InputSpec("constant_tensor", name, name), g.Ref(name), meta))
    specs += reader.specs
    values = {value.name: meta for _, value, meta in specs if isinstance(value, g.Ref) and meta is not None}
    values |= tensors.described
    args = pytree.TreeSpec("builtins.tuple", None, tuple(in_specs))
    in_spec = pytree.TreeSpec("builtins.tuple", None, (args, pytree.TreeSpec("builtins.dict", ())))
    signature = g.ModuleCallSignature((), (), pytree.dumps(in_spec), pytree.dumps(out_spec), tuple(names))
    graph = g.Graph(
        tuple(value for _, value, _ in specs),
        tuple(_renamed(node, inside) for node in nodes),
        tuple(_rename(output.value, inside) for output in outputs),
        values,
    )
    symbols = {
        symbol
        for _, _, meta in specs
        if isinstance(meta, g.TensorMeta)
        for size in meta.sizes
        for symbol in _symbols(size)
    }
    return g.ExportedGraph(
        graph=graph,
        inputs=tuple(spec_ for spec_, _, _ in specs),
        outputs=tuple(g.OutputSpec(item.kind, _rename(item.value, inside)) for item in outputs),
        range_constraints=dict.fromkeys(sorted(symbols), (2, None)),
        guards_code=(),
        module_calls=(g.ModuleCall("", signature),),
        namedtuple_fields={},
        state={name: data for name, data in state.items() if name not in literals},
        constants=literals,
        dialect="TRAINING",
        torch_version="",
        opset={},
        metadata={},
    )


def _symbols(size: int | g.Symbolic) -> set[str]:
    known = size_of(size)
    return set() if isinstance(known, int) else set(known.free_symbols())


def _rename(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case g.Ref(name) if name in names:
            return g.Ref(names[name])
        case _ if is_tuple(value):
            return tuple(_rename(item, names) for item in value)
        case _:
            return value


def _renamed(node: g.Node, names: Mapping[str, str]) -> g.Node:
    from dataclasses import replace

    inputs = tuple(replace(item, value=_rename(item.value, names)) for item in node.inputs)
    return replace(node, inputs=inputs)


def live(nodes: Sequence[g.Node], outputs: Sequence[g.Value]) -> list[g.Node]:
    """The nodes that somebody uses, or that write, draw random numbers or assert."""
    used = {name for output in outputs for name in g.references(output)}
    kept: list[g.Node] = []
    for node in reversed(nodes):
        if _has_effect(node) or any(name in used for name in node.result_names):
            kept.append(node)
            used |= {name for item in node.inputs for name in g.references(item.value)}
    return kept[::-1]


def _has_effect(node: g.Node) -> bool:
    if node.target in spec.specs():
        return bool(spec.find(node.target).tags & EFFECT_TAGS) or bool(spec.find(node.target).writes)
    return node.target.startswith(HIGHER_ORDER_TARGETS) or (
        node.target.startswith("aten.") and mutates(node.target)
    )
