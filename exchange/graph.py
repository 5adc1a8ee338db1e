"""An exported program as plain data: what both importers read and what the IR is built from.

The `.pt2` reader and the reader of live ExportedPrograms produce the same frozen dataclasses, free of torch, NumPy and
MLIR. They follow the schema of PyTorch's serializer (`torch/_export/serde/schema.py`): `getitem` is folded into the
results of the node it reads, sub-graphs stand inline as arguments, missing arguments mean the schema's defaults.
`check_program` states what holds of every program that leaves an importer. Building MLIR from it is not done here.

Operators have one spelling, PyTorch's without the prefix `torch.ops.` and the suffix `.default`: `aten.add.Tensor`,
`aten.linear`, `higher_order.cond`, `mylib.my_op`. Python functions on symbolic numbers keep their module, also as
PyTorch writes them: `_operator.mul`, `math.trunc`, `torch.sym_max`, `torch._sym_sqrt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import LoadError
from xdsl_exir.names import flaw

if TYPE_CHECKING:
    from xdsl_exir.exchange.tensor_data import TensorData

# Values


@dataclass(frozen=True, slots=True)
class Ref:
    """A use or definition of a graph value: a tensor or a symbolic number. `Graph.values` says which."""

    name: str


@dataclass(frozen=True, slots=True)
class Symbolic:
    """A symbolic number: sympy's `srepr` text, and the value it had for the example inputs, if any."""

    srepr: str
    hint: int | float | bool | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class MemoryFormat:
    """`contiguous_format`, `channels_last`, `channels_last_3d` or `preserve_format`."""

    name: str


@dataclass(frozen=True, slots=True)
class Layout:
    """`strided`, or one that the IR does not have: `sparse_coo`, `_mkldnn`..."""

    name: str


@dataclass(frozen=True, slots=True)
class Device:
    """A device as PyTorch prints it: `cpu`, `cuda:0`."""

    name: str


@dataclass(frozen=True, slots=True)
class OperatorRef:
    """An operator passed as an argument, in the spelling of `Node.target`."""

    name: str


@dataclass(frozen=True, slots=True)
class CustomObj:
    """A TorchBind or opaque object: its name in the graph and its class."""

    name: str
    class_fqn: str


MAX_NESTING = 32
"""Limit to the depth of sub-graphs in one another: what reads and writes them recurses."""


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A graph passed to a higher-order operator. It sees nothing of the graph around it."""

    name: str
    graph: Graph


Constant: TypeAlias = bool | int | float | complex | str | None
Value: TypeAlias = "Ref | Constant | DType | MemoryFormat | Layout | Device | OperatorRef | CustomObj | Subgraph | tuple[Value, ...] | dict[str, Value]"
"""An argument. Lists of every element type are tuples."""

Result: TypeAlias = Ref | tuple[Ref | None, ...] | None
"""One result of a node: a value, a list of values (`Tensor[]`), or None for a tensor the operator did not make."""

# What the values are


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """A tensor value. Sizes, strides and the storage offset count elements and may be symbolic."""

    dtype: DType
    sizes: tuple[int | Symbolic, ...]
    requires_grad: bool
    device: Device
    strides: tuple[int | Symbolic, ...]
    storage_offset: int | Symbolic
    layout: Layout


@dataclass(frozen=True, slots=True)
class SymMeta:
    """A symbolic number among the values: its Python type, and its expression or constant."""

    kind: Literal["int", "float", "bool"]
    expr: Symbolic | int | float | bool


@dataclass(frozen=True, slots=True)
class CustomObjMeta:
    """A TorchBind or opaque object among the values."""

    class_fqn: str


ValueMeta: TypeAlias = TensorMeta | SymMeta | CustomObjMeta

# Nodes and graphs


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stack trace."""

    file: str
    line: int
    function: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class ModuleFrame:
    """One `nn.Module` around a node: where it hangs (`layers.0`, empty for the root), its class, and which of its
    calls it is, from 0."""

    path: str
    type_name: str
    call: int = 0


@dataclass(frozen=True, slots=True)
class NodeInput:
    """An argument, named as in the operator's schema; positional arguments of higher-order operators have no name."""

    name: str
    value: Value
    keyword: bool


@dataclass(frozen=True, slots=True)
class Node:
    """One call of an operator. The last three fields are PyTorch's metadata as text, parsed when asked for."""

    name: str
    target: str
    inputs: tuple[NodeInput, ...]
    outputs: tuple[Result, ...]
    returns_single_tensor: bool | None = None
    """Of a higher-order operator, whether it returns a tensor rather than a tuple; None of all others."""
    stack_trace: str = ""
    nn_module_stack: str = ""
    torch_fn: str = ""

    @property
    def result_names(self) -> list[str | None]:
        """Names of the results, those of lists one after another; None where nobody uses one."""
        items = (
            item for result in self.outputs for item in (result if isinstance(result, tuple) else [result])
        )
        return [item.name if item is not None else None for item in items]

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The stack trace, innermost frame last."""
        return parse_stack_trace(self.stack_trace)

    @property
    def frame(self) -> Frame | None:
        """The innermost frame of the user's own code; if there is none, the innermost of PyTorch's."""
        return innermost_user_frame(self.stack_trace)

    @property
    def modules(self) -> tuple[ModuleFrame, ...]:
        """The modules around the node, innermost last."""
        return parse_module_stack(self.nn_module_stack)

    @property
    def module_path(self) -> str:
        """Path of the innermost module, `layers.0.attention`, with the number of each module's call that is not its
        first: `layers.0@1.attention@3`."""
        calls = {frame.path: frame.call for frame in self.modules}
        path, marked = "", ""
        for part in self.modules[-1].path.split(".") if self.nn_module_stack else ():
            path = f"{path}.{part}" if path else part
            part = f"{part}@{number}" if (number := calls.get(path, 0)) else part
            marked = f"{marked}.{part}" if marked else part
        return marked


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph: its inputs (a number, string or None is an input fixed at export), nodes, outputs, and all its values."""

    inputs: tuple[Ref | CustomObj | Constant, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Value, ...]
    values: Mapping[str, ValueMeta]
    returns_single_tensor: bool = False
    """Whether a sub-graph returns its output bare, rather than a tuple of one."""


# The program around the graph

InputKind: TypeAlias = Literal[
    "user_input", "parameter", "buffer", "constant_tensor", "custom_obj", "token", "constant_input"
]
OutputKind: TypeAlias = Literal[
    "user_output",
    "loss_output",
    "buffer_mutation",
    "parameter_mutation",
    "gradient_to_parameter",
    "gradient_to_user_input",
    "user_input_mutation",
    "token",
]


@dataclass(frozen=True, slots=True)
class InputSpec:
    """What one input of the graph is."""

    kind: InputKind
    name: str
    target: str | None = None
    """Of parameters, buffers, constants and objects: the qualified name that `state` or `constants` has it under."""
    persistent: bool | None = None
    """Of buffers: whether `state` holds it (else `constants` does)."""
    value: Constant = None
    """Of constant inputs: the value that it had at export."""


@dataclass(frozen=True, slots=True)
class OutputSpec:
    """What one output of the graph is."""

    kind: OutputKind
    value: Value
    target: str | None = None
    """Of mutations and gradients: the parameter, buffer or user input they belong to."""


@dataclass(frozen=True, slots=True)
class ModuleCallSignature:
    """How a module is called: PyTorch's treespec texts (see `pytree.loads`) and the values at its boundary."""

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    in_spec: str
    out_spec: str
    forward_arg_names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """One module of the original program; the root has the empty name and always a signature."""

    fqn: str
    signature: ModuleCallSignature | None = None


@dataclass(frozen=True, slots=True)
class ExportedGraph:
    """One exported program."""

    graph: Graph
    inputs: tuple[InputSpec, ...]
    outputs: tuple[OutputSpec, ...]
    range_constraints: Mapping[str, tuple[int | None, int | None]]
    """Symbol to its smallest and largest value; None is unbounded."""
    guards_code: tuple[str, ...]
    module_calls: tuple[ModuleCall, ...]
    namedtuple_fields: Mapping[str, tuple[str, ...]]
    """Serialized name of a namedtuple class to its fields."""
    state: Mapping[str, TensorData]
    constants: Mapping[str, TensorData]
    dialect: str
    """`TRAINING` straight from `torch.export.export`, `ATEN` after `run_decompositions`."""
    torch_version: str
    opset: Mapping[str, int]
    metadata: Mapping[str, str]

    @property
    def signature(self) -> ModuleCallSignature:
        """How the whole program is called."""
        signature = next((call.signature for call in self.module_calls if call.fqn == ""), None)
        assert signature is not None, "check_program has seen to it"
        return signature

    def data(self, spec: InputSpec) -> TensorData:
        """The data of a parameter, buffer or constant tensor."""
        assert spec.target is not None
        return (self.state if _in_state(spec) else self.constants)[spec.target]


# Reading PyTorch's metadata


def normal_target(target: str) -> str:
    """The spelling of `Node.target` of an operator as PyTorch serializes it: `torch.ops.aten.mm.default` is `aten.mm`."""
    return target.removeprefix("torch.ops.").removesuffix(".default")


def serialized_target(target: str) -> str:
    """The other way round: `aten.mm` is `torch.ops.aten.mm.default`. Python's functions keep their name."""
    namespace, *rest = target.split(".")
    if namespace in PYTHON_MODULES or target.startswith("#"):
        return target
    overload = "" if namespace == "higher_order" or len(rest) > 1 else ".default"
    return f"torch.ops.{target}{overload}"


PYTHON_MODULES = frozenset({"_operator", "math", "builtins", "torch"})
"""Modules of the functions on symbolic numbers."""


_FRAME = re.compile(
    r'^ *File "(?P<file>[^"\n]*)", line (?P<line>\d{1,9}), in (?P<function>.*)$', re.MULTILINE
)


@lru_cache(maxsize=4096)
def parse_stack_trace(text: str) -> tuple[Frame, ...]:
    """Frames of a stack trace as Python prints it, innermost last. Many nodes share one trace, hence the cache."""
    matches = list(_FRAME.finditer(text))
    starts = [*(match.start() for match in matches), len(text)]
    return tuple(
        Frame(match["file"], int(match["line"]), match["function"], text[match.end() : end].strip())
        for match, end in zip(matches, starts[1:], strict=True)
    )


_NOT_THE_USERS = re.compile(r"<|.*[/\\\\](site|dist)-packages[/\\\\]torch[/\\\\]")
"""Files of PyTorch, and the names that it gives generated code."""


@lru_cache(maxsize=4096)
def innermost_user_frame(text: str) -> Frame | None:
    """The innermost frame of a stack trace that is the user's; if there is none, the innermost; else None."""
    frames = parse_stack_trace(text)[::-1]
    return next((frame for frame in frames if not _NOT_THE_USERS.match(frame.file)), next(iter(frames), None))


@lru_cache(maxsize=4096)
def parse_module_stack(text: str) -> tuple[ModuleFrame, ...]:
    """Modules of `key,path,class;key,path,class`, innermost last. Keys and paths may hold commas inside brackets; the
    key of a second call ends in `@1`."""
    frames: list[ModuleFrame] = []
    for item in text.split(";") if text else ():
        key, path, type_name = _split_outside_brackets(item)[:3]
        number = re.search(r"@(\d{1,9})$", key)
        frames.append(ModuleFrame(path, type_name, int(number[1]) if number else 0))
    return tuple(frames)


def _split_outside_brackets(text: str) -> list[str]:
    parts = [""]
    depth = 0
    for char in text:
        depth += (char in "[(") - (char in ")]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [*parts, "", ""]


# What holds of every program

_HAS_DATA = frozenset({"parameter", "buffer", "constant_tensor"})
_TARGET_KINDS: Mapping[OutputKind, InputKind] = {
    "buffer_mutation": "buffer",
    "parameter_mutation": "parameter",
    "gradient_to_parameter": "parameter",
    "gradient_to_user_input": "user_input",
    "user_input_mutation": "user_input",
}


def check_program(program: ExportedGraph, source: str) -> None:
    """Check what the IR builder relies on: values are defined once and before use and are described; the signature
    fits the graph; every parameter, buffer and constant has data of the declared dtype and sizes.

    Raises LoadError, which names `source` and the place, as a path into the schema's JSON.
    """
    _check_graph(program.graph, f"{source}: graph_module.graph")
    _check_inputs(program, f"{source}: graph_module.signature.input_specs")
    _check_outputs(program, f"{source}: graph_module.signature.output_specs")
    if not any(call.fqn == "" and call.signature is not None for call in program.module_calls):
        _fail(f"{source}: graph_module.module_call_graph", "no signature for the root module")


def references(value: Value) -> Iterator[str]:
    """Names of the graph values that an argument uses; a sub-graph uses none."""
    match value:
        case Ref(name):
            yield name
        case tuple():
            for item in value:
                yield from references(item)
        case dict():
            for item in value.values():
                yield from references(item)
        case _:
            pass


def _subgraphs(value: Value) -> Iterator[Graph]:
    match value:
        case Subgraph():
            yield value.graph
        case dict():
            for item in value.values():
                yield from _subgraphs(item)
        case _:
            pass


def _check_name(name: str, at: str) -> None:
    if (reason := flaw(name)) is not None:
        _fail(at, reason)


def _check_graph(graph: Graph, at: str) -> None:
    defined: set[str] = set()

    def define(name: str, where: str) -> None:
        if name in defined:
            _fail(where, f"value {name!r} is defined twice")
        _check_name(name, where)
        if name not in graph.values:
            _fail(where, f"nothing says what value {name!r} is")
        defined.add(name)

    for i, value in enumerate(graph.inputs):
        if isinstance(value, Ref | CustomObj):
            define(value.name, f"{at}.inputs[{i}]")
    for i, node in enumerate(graph.nodes):
        for j, argument in enumerate(node.inputs):
            value = argument.value
            if type(value) is Ref:  # nearly all of them, hence not through the generators
                if value.name not in defined:
                    _undefined(value.name, f"{at}.nodes[{i}].inputs[{j}].arg")
            elif isinstance(value, tuple | dict | Subgraph):
                for name in references(value):
                    if name not in defined:
                        _undefined(name, f"{at}.nodes[{i}].inputs[{j}].arg")
                for k, subgraph in enumerate(_subgraphs(value)):
                    _check_graph(subgraph, f"{at}.nodes[{i}].inputs[{j}].arg.graph{f'#{k}' if k else ''}")
        for j, result in enumerate(node.outputs):
            for name in references(result):
                define(name, f"{at}.nodes[{i}].outputs[{j}]")
    for i, output in enumerate(graph.outputs):
        for name in references(output):
            if name not in defined:
                _undefined(name, f"{at}.outputs[{i}]")
    for name in graph.values:
        if name not in defined:
            _fail(f"{at}.tensor_values", f"value {name!r} is described, but no input or node makes it")


def _check_inputs(program: ExportedGraph, at: str) -> None:
    if len(program.inputs) != len(program.graph.inputs):
        _fail(at, f"{len(program.inputs)} input specs for {len(program.graph.inputs)} graph inputs")
    for i, (spec, value) in enumerate(zip(program.inputs, program.graph.inputs, strict=True)):
        where = f"{at}[{i}]"
        if isinstance(value, Ref | CustomObj):
            if spec.kind == "constant_input" or spec.name != value.name:
                _fail(where, f"{spec.kind} {spec.name!r} stands for graph input {value.name!r}")
        elif spec.kind != "constant_input":
            _fail(where, f"{spec.kind} {spec.name!r} stands for a constant")
        elif type(spec.value) is not type(value) or repr(spec.value) != repr(value):  # NaN is itself here
            _fail(where, f"constant input {spec.name!r} is {spec.value!r}, in the graph {value!r}")
        if spec.kind in _HAS_DATA:
            _check_data(program, spec, where)


def _in_state(spec: InputSpec) -> bool:
    return spec.kind == "parameter" or (spec.kind == "buffer" and spec.persistent is True)


def _check_data(program: ExportedGraph, spec: InputSpec, at: str) -> None:
    table = program.state if _in_state(spec) else program.constants
    if spec.target is None or spec.target not in table:
        _fail(at, f"no data for {spec.kind} {spec.target!r}")
    data = table[spec.target]
    meta = program.graph.values[spec.name]
    if not isinstance(meta, TensorMeta):
        _fail(at, f"{spec.kind} {spec.target!r} is not a tensor")
    if (meta.dtype, meta.sizes) != (data.dtype, data.sizes):
        _fail(
            at,
            f"{spec.kind} {spec.target!r} is {meta.dtype}{list(meta.sizes)} in the graph, "
            f"its data {data.dtype}{list(data.sizes)}",
        )


def _check_outputs(program: ExportedGraph, at: str) -> None:
    if len(program.outputs) != len(program.graph.outputs):
        _fail(at, f"{len(program.outputs)} output specs for {len(program.graph.outputs)} graph outputs")
    targets = {
        (spec.kind, spec.name if spec.kind == "user_input" else spec.target) for spec in program.inputs
    }
    for i, (spec, value) in enumerate(zip(program.outputs, program.graph.outputs, strict=True)):
        # A spec may give the constant that a symbolic number of the graph is known to have.
        if (isinstance(spec.value, Ref) or spec.kind != "user_output") and spec.value != value:
            _fail(f"{at}[{i}]", f"{spec.kind} {spec.value} stands for graph output {value}")
        if spec.kind in _TARGET_KINDS and (_TARGET_KINDS[spec.kind], spec.target) not in targets:
            _fail(f"{at}[{i}]", f"{spec.kind} of {spec.target!r}, which is no {_TARGET_KINDS[spec.kind]}")


def _undefined(name: str, at: str) -> NoReturn:
    _fail(at, f"value {name!r} is used before anything defines it")


def _fail(at: str, message: str) -> NoReturn:
    raise LoadError(f"{at}: {message}")
