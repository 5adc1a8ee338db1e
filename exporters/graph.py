"""From a program to plain data (`importers.graph`): the mirror of `importers.build`.

What it gives is what PyTorch's own export would have given: names are the values' where they have some, arguments stand
where the schema has them, defaults left out. Edge operators become the aten ones that they are; Python numbers become
arguments; literals become `aten.full` where one number fills them, and lifted constants else. Strides are those of the
data for weights, and contiguous for all other tensors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FileLineColLoc
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.ancestry import calls_of, origin_of, places_of
from xdsl_exir.dialects.argument_syntax import is_default
from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.exir import ConstantOp, NumberOp, RefineOp
from xdsl_exir.dialects.expr import Dim, Expr, ExprError, to_srepr, to_str
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import (
    INPUT,
    OUTPUT,
    InputAttr,
    InputKind,
    InputSpec,
    Origin,
    OutputAttr,
    OutputKind,
    OutputSpec,
    conditions_of,
    derived_ranges_of,
    guards_of,
    ranges_of,
)
from xdsl_exir.dialects.sym_ops import SYM_OPS, SymOp, SymSumOp
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, is_value, tensor_meta
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.exporters.contiguity import Contiguity, bases_of
from xdsl_exir.exporters.guards import guard_text, symbol_places
from xdsl_exir.importers.strides import memory_of
from xdsl_exir.locations import text_of
from xdsl_exir.narrowing import is_list

if TYPE_CHECKING:
    from xdsl_exir.program import CallingConvention, Program, Slot

TORCH_VERSION = "2.13.0"
"""The PyTorch whose programs these are."""
OPSET = {"aten": 10}
"""Its operator versions."""
DIALECT = "ATEN"
"""What PyTorch calls functional programs, whichever operators they are of."""


def graph_of(program: Program, method: str | None = None) -> g.ExportedGraph:
    """A method of a program, the first by default, as plain data.

    Raises `UnsupportedError` that lists every operation that Export IR has no form for, `ExirError` for an unknown
    method.
    """
    program = exportable(program)
    return _graph(program, program.method(method))


def graphs_of(program: Program) -> dict[str, g.ExportedGraph]:
    """All methods of a program, by name. Raises what `graph_of` raises."""
    program = exportable(program)
    return {name: _graph(program, function) for name, function in program.methods.items()}


def exportable(program: Program) -> Program:
    """The program without what PyTorch has other words for."""
    from xdsl_exir.transforms.flex_attention import ExpandFlexAttention, has_flex_attention
    from xdsl_exir.transforms.layouts import ToMemoryFormats
    from xdsl_exir.transforms.partition import InlineDelegates
    from xdsl_exir.transforms.verify import refuse_linalg

    refuse_linalg(program, "Export IR")
    program = program.inlined()
    if any(isinstance(op, DelegateOp) for op in program.module.walk()):
        program = program.apply(InlineDelegates())
    if has_flex_attention(program.module):  # which PyTorch itself does not save
        program = program.apply(ExpandFlexAttention())
    return program.apply(ToMemoryFormats())


def _graph(program: Program, function: FuncOp) -> g.ExportedGraph:
    return _Writer(program, function, program.conventions.get(function.sym_name.data)).program()


# Names


class _Names:
    """Gives every value and node of a graph a name of its own: its hint, or what its operator is called."""

    def __init__(self):
        self.taken: set[str] = set()
        self.numbers: dict[str, Iterator[int]] = {}
        """Numbers not yet behind a name, by the name without one."""

    def fresh(self, wanted: str) -> str:
        """The wanted name, made an identifier, with a number where it is taken."""
        base = re.sub(r"\W", "_", wanted) or "_"
        base = f"_{base}" if base[0].isdigit() else base
        name = base
        if name in self.taken:
            stem = re.sub(r"_\d+$", "", base)
            numbers = self.numbers.setdefault(stem, count(1))
            name = next(name for i in numbers if (name := f"{stem}_{i}") not in self.taken)
        self.taken.add(name)
        return name

    def numbered(self, name: str) -> str:
        """A name with the first number behind it that is free, from 0 on."""
        numbers = self.numbers.setdefault(name, count())
        return self.fresh(next(one for i in numbers if (one := f"{name}_{i}") not in self.taken))


def _operator_name(op: Operation) -> str:
    """`add` of `aten.add.Tensor`: what FX calls the nodes of an operator."""
    parts = op.SPEC.qualified_name.split(".") if isinstance(op, OperatorOp) else op.name.split(".")
    return parts[1].removeprefix("sym_") if isinstance(op, SymOp) else parts[1]


def _origin(op: Operation) -> Origin:
    return origin_of(op) or Origin("", "")


def _is_imported(op: Operation) -> bool:
    """Whether an operation stands for the node that its origin names; the node of others was another operator."""
    target = (
        op.SPEC.qualified_name if isinstance(op, OperatorOp) and op.NUMBERS else _SYM_TARGETS.get(type(op))
    )
    if type(op) in HIGHER_ORDER:
        target = f"higher_order.{HIGHER_ORDER[type(op)][0]}"
    return target is not None and _origin(op).operator == target


# Types


def example_values(
    ranges: Mapping[str, tuple[int | None, int | None]], names: Iterator[str], guards: Sequence[Dim] = ()
) -> dict[str, int]:
    """A value in range for every backed symbol, all different where that goes: PyTorch wants an example of each size.

    Sizes that guards want to be multiples are searched among multiples.
    """
    symbols = sorted(names)

    def candidate(factor: int) -> dict[str, int]:
        values: dict[str, int] = {}
        for i, name in enumerate(symbols):
            low, high = ranges.get(name, (None, None))
            value = (max(2, low or 0) + i) * factor
            values[name] = value if high is None else min(value, high)
        return values

    candidates = map(candidate, range(1, _MOST_OF_A_MULTIPLE))
    return next((values for values in candidates if _hold(guards, values)), candidate(1))


_MOST_OF_A_MULTIPLE = 65


def _hold(conditions: Iterable[Dim], values: Mapping[str, int]) -> bool:
    """Whether conditions hold; those on other symbols do."""
    try:
        return all(
            one.evaluate(values)
            for one in conditions
            if isinstance(one, Expr) and one.free_symbols() <= values.keys()
        )
    except ExprError:
        return False


@dataclass(frozen=True)
class _Symbols:
    """How symbolic sizes of a function are written."""

    examples: Mapping[str, int]
    plain: frozenset[str]
    """Symbols of integer inputs, of which PyTorch does not assume that they are positive."""

    @staticmethod
    def of(function: FuncOp, ranges: Mapping[str, tuple[int | None, int | None]]) -> _Symbols:
        names: dict[str, None] = {}
        sizes: set[str] = set()
        for type in _types(function):
            names.update(dict.fromkeys(_symbols_of(type)))
        for type in function.function_type.inputs.data:
            sizes |= _symbols_of(type) if is_tensor_type(type) else set()
        inputs = {str(type.data) for type in function.function_type.inputs.data if isinstance(type, SymType)}
        backed = (name for name in names if not name.startswith(("u", "zuf")))
        return _Symbols(example_values(ranges, backed, conditions_of(function)), frozenset(inputs - sizes))

    def size(self, dim: Dim) -> int | g.Symbolic:
        """A size or the value of a symbolic number."""
        if not isinstance(dim, Expr):
            return dim
        try:
            hint = dim.evaluate(self.examples) if dim.free_symbols() <= self.examples.keys() else None
        except ExprError:
            # No examples were found that the guards hold for, and these give a division by zero.
            hint = None
        return g.Symbolic(to_srepr(dim, self.plain), hint)

    def meta(
        self,
        type: Attribute,
        data: TensorData | None = None,
        requires_grad: bool = False,
        dim_order: tuple[int, ...] | None = None,
    ) -> g.ValueMeta:
        """What a value of this type is. Raises `UnsupportedError` for types that graphs have no values of."""
        if isinstance(type, SymType):
            kind = _SYM_KINDS[type.category]
            value = type.data
            if isinstance(value, Expr) and value.head == "constant":
                return g.SymMeta(kind, _NUMBERS[type.category](value.value))
            return g.SymMeta(kind, self.size(value))
        if not is_tensor_type(type):
            raise UnsupportedError([Unsupported(str(type), "a value of this type is no value of a graph")])
        meta = tensor_meta(type)
        order = dim_order or meta.dim_order or tuple(range(meta.ndim))
        strides = data.strides if data is not None else contiguous_strides(meta.shape, order)
        return g.TensorMeta(
            meta.dtype,
            tuple(map(self.size, meta.shape)),
            requires_grad,
            g.Device(meta.device),
            tuple(map(self.size, strides)),
            data.storage_offset if data is not None else 0,
            g.Layout("strided"),
        )


_SYM_KINDS: Mapping[Category, Any] = {Category.INT: "int", Category.FLOAT: "float", Category.BOOL: "bool"}
_NUMBERS: Mapping[Category, Callable[[Any], Any]] = {
    Category.INT: int,
    Category.FLOAT: float,
    Category.BOOL: bool,
}


def contiguous_strides(shape: Sequence[Dim], order: Sequence[int]) -> tuple[Dim, ...]:
    """Strides of a dense tensor whose dimensions lie in memory in this order, outermost first."""
    strides: dict[int, Dim] = {}
    stride: Dim = 1
    for dim in reversed(order):
        strides[dim] = stride
        size = shape[dim]
        stride = stride * (max(size, 1) if isinstance(size, int) else size)
    return tuple(strides[dim] for dim in range(len(shape)))


def _symbols_of(type: Attribute) -> set[str]:
    """Names of the symbols in a type."""
    dims: Sequence[Dim] = ()
    if is_tensor_type(type):
        dims = tensor_meta(type).shape
    elif isinstance(type, SymType):
        dims = (type.data,)
    return {name for dim in dims if isinstance(dim, Expr) for name in dim.free_symbols()}


def _types(function: FuncOp) -> Iterator[Attribute]:
    """Types of all values of a function."""
    for op in function.walk():
        arguments = [arg for region in op.regions for block in region.blocks for arg in block.args]
        yield from (value.type for value in (*op.results, *arguments))


# Graphs


@dataclass
class _GraphWriter:
    """Writes one block as graph. Blocks of regions get a writer of their own: they see nothing of the block around."""

    block: Block
    symbols: _Symbols
    lift: Callable[[ConstantOp], g.Ref] | None
    """Makes a literal an input of the program; None inside regions, which have no inputs of their own."""
    contiguity: Contiguity
    arguments: Sequence[str] = ()
    """Names for the block's arguments; those of regions have their own."""
    env: dict[SSAValue, g.Value] = field(default_factory=dict[SSAValue, g.Value])
    values: dict[str, g.ValueMeta] = field(default_factory=dict[str, g.ValueMeta])
    nodes: list[g.Node] = field(default_factory=list[g.Node])
    subgraphs: _Names = field(default_factory=_Names)
    unsupported: list[Unsupported] = field(default_factory=list[Unsupported])
    modules: Mapping[str, str] = field(default_factory=dict[str, str])
    """Classes of the modules that are called, by path; empty if that is not known."""
    depth: int = 0
    """How many graphs it is in."""

    def __post_init__(self):
        self.names = _Names()
        self.named: dict[SSAValue, str] = {}
        # Names that are known first, so that one made up never takes them.
        for value, name in zip(self.block.args, self.arguments, strict=False):
            self.named[value] = self.names.fresh(name)
        ops = [op for op in self.block.ops if not isinstance(op, _NO_NODES)]
        for op in ops:
            if _is_imported(op):
                self.name_as_imported(op)
        for value in (*self.block.args, *(value for op in ops for value in op.results)):
            if value.name_hint and value not in self.named:
                self.named[value] = self.names.fresh(value.name_hint)

    def name_as_imported(self, op: Operation) -> None:
        """Gives an imported operation's results their names: xDSL's hints have lost their numbers.

        Of several results each has a `getitem` node, whose number counts also where PyTorch removes the node."""
        node = _origin(op).node
        if _has_one_result(op):
            self.named[op.results[0]] = self.names.fresh(node)
        else:
            for i, value in enumerate(op.results):
                hint = value.name_hint or ""
                if value.uses and hint not in ("", "getitem"):
                    continue  # a name of its own
                getitem = self.names.fresh("getitem")
                self.named[value] = getitem if value.uses or hint == "getitem" else f"{node}_unused_{i}"

    def define(self, value: SSAValue, wanted: str, meta: g.ValueMeta | None = None) -> g.Ref:
        """The name that stands for a value from here on."""
        name = self.named.get(value) or self.names.fresh(wanted)
        self.values[name] = meta or self.symbols.meta(value.type)
        self.env[value] = g.Ref(name)
        return g.Ref(name)

    def write(self) -> tuple[g.Value, ...]:
        """Writes all operations; returns what the block's terminator gives."""
        for op in self.block.ops:
            if isinstance(op, cf.YieldOp):
                return tuple(self.yielded(op))
            if isinstance(op, ReturnOp):
                return tuple(map(self.returned, op.operands))
            self.contiguity.visit(op)
            self.operation(op)
        raise ExirError("a block without terminator")

    def returned(self, value: SSAValue) -> g.Value:
        """An output; one that was a copy is a copy again."""
        op = value.owner
        if isinstance(op, OperatorOp) and self.contiguity.lost_its_copy(op):
            return self.row_major_copy(value, op)
        return self.env[value]

    def yielded(self, op: cf.YieldOp) -> Iterator[g.Value]:
        """What a region gives: PyTorch takes it in memory of its own only, neither an argument's nor another result's."""
        taken = frozenset[SSAValue](self.block.args)
        for value in op.values:
            bases = bases_of(value) if is_tensor_type(value.type) else frozenset[SSAValue]()
            yield self.copy(value, op) if bases & taken else self.returned(value)
            taken |= bases

    def operation(self, op: Operation) -> None:
        """Writes one operation."""
        match op:
            case NumberOp():
                self.env[op.result] = op.number
            case RefineOp():
                self.env[op.result] = self.env[op.input]
            case ConstantOp() if op.is_splat:
                inputs = [
                    g.NodeInput("size", op.type.get_shape(), False),
                    g.NodeInput("fill_value", op.values[0], False),
                    g.NodeInput("dtype", tensor_meta(op.type).dtype, True),
                ]
                self.node(op, "aten.full", inputs)
            case ConstantOp() if self.lift is not None:
                self.env[op.result] = self.lift(op)
            case OperatorOp() if op.SPEC.writes:
                self.node(op, "higher_order.auto_functionalized_v2", list(self.writing(op)), False)
            case OperatorOp():
                inputs = list(self.inputs(op))
                if self.contiguity.copy_needed(op):
                    inputs[0] = replace(inputs[0], value=self.row_major_copy(op.operands[0], op))
                self.node(op, op.SPEC.qualified_name, inputs)
            case SymOp():
                self.node(op, _SYM_TARGETS[type(op)], self.symbolic_inputs(op))
            case _ if type(op) in HIGHER_ORDER:
                target, arguments = HIGHER_ORDER[type(op)]
                inputs = [g.NodeInput("", value, False) for value in arguments(self, op)]
                self.node(op, f"higher_order.{target}", inputs, False)
            case _:
                reason = "Export IR has no form for it"
                self.unsupported.append(Unsupported(op.name, reason, text_of(op.location)))
                for result in op.results:
                    self.env[result] = None

    # Arguments

    def inputs(self, op: OperatorOp) -> Iterator[g.NodeInput]:
        """An operator's arguments in the schema's order; defaults are left out, but those before a positional argument
        that is given."""
        arguments = op.arguments()
        given = [slot for slot in op.SLOTS.slots if not is_default(slot, arguments[slot.name])]
        named = BY_KEYWORD.get(re.sub(r"_\d+$", "", _origin(op).node), ())
        positional = [slot for slot in op.SLOTS.positional if slot.name not in named]
        last = max((positional.index(slot) for slot in given if slot in positional), default=-1)
        for slot in op.SLOTS.slots:
            keyword = slot not in positional
            if slot in given if keyword else positional.index(slot) <= last:
                yield g.NodeInput(
                    slot.name, self.value(arguments[slot.name], slot.argument.type.base), keyword
                )

    def writing(self, op: OperatorOp) -> Iterator[g.NodeInput]:
        """The arguments of `auto_functionalized_v2`, by which PyTorch calls an operator that writes: what it writes, the
        bases, apart from the others."""
        writes, arguments = op.SPEC.writes, op.arguments()
        yield g.NodeInput("", g.OperatorRef(op.SPEC.qualified_name), False)
        for slot in op.SLOTS.slots:
            if slot.name not in writes:
                value = self.value(arguments[slot.name], slot.argument.type.base)
                yield g.NodeInput(slot.name, value, True)
        for index, name in enumerate(writes):
            yield g.NodeInput(f"_{name}_base_index", index, True)
        yield g.NodeInput("_all_bases", tuple(self.env[arguments[name]] for name in writes), True)

    def value(self, value: Any, base: str = "") -> g.Value:
        """An argument of a base type of schemas."""
        if is_value(value):
            return self.env[value]
        if is_list(value):
            return tuple(self.value(item, base) for item in value)
        if base in _NAMED and isinstance(value, str):
            return _NAMED[base](value)
        return value

    def operands(self, values: Sequence[SSAValue]) -> tuple[g.Value, ...]:
        return tuple(self.env[value] for value in values)

    def symbolic_inputs(self, op: SymOp) -> list[g.NodeInput]:
        if isinstance(op, SymSumOp):
            return [g.NodeInput("args", self.operands(op.args), False)]
        names = _PARAMETERS.get(_SYM_TARGETS[type(op)].partition(".")[0], ("a", "b"))
        return [g.NodeInput(name, self.env[arg], False) for name, arg in zip(names, op.args, strict=False)]

    def subgraph(self, name: str, region: Region, bare: bool = False) -> g.Subgraph:
        """A region as graph argument; `bare` if it returns its only output rather than a tuple."""
        if self.depth == g.MAX_NESTING:
            reason = f"more than {g.MAX_NESTING} graphs in one another"
            raise UnsupportedError([Unsupported(name, reason)])
        # PyTorch's `arg0_1` is `arg0` as hint.
        hints = [arg.name_hint or f"arg{i}" for i, arg in enumerate(region.block.args)]
        names = [f"{hint}_1" if re.fullmatch(r"arg\d+", hint) else hint for hint in hints]
        inner = _GraphWriter(
            region.block,
            self.symbols,
            None,
            self.contiguity,
            names,
            modules=self.modules,
            depth=self.depth + 1,
        )
        inputs = tuple(inner.define(arg, "") for arg in region.block.args)
        outputs = inner.write()
        self.unsupported += inner.unsupported
        graph = g.Graph(inputs, tuple(inner.nodes), outputs, inner.values, bare)
        return g.Subgraph(self.subgraphs.numbered(name), graph)

    # Nodes

    def row_major_copy(self, value: SSAValue, op: Operation) -> g.Ref:
        """A copy of a tensor, for an operation that needs it row-major."""
        return self.copy(value, op, g.NodeInput("memory_format", g.MemoryFormat("contiguous_format"), True))

    def copy(self, value: SSAValue, op: Operation, *how: g.NodeInput) -> g.Ref:
        """A copy of a tensor, for an operation."""
        ref = g.Ref(self.names.fresh("clone"))
        self.values[ref.name] = self.symbols.meta(value.type)
        inputs = (g.NodeInput("self", self.env[value], False), *how)
        metadata = stack_trace_of(op), module_stack_of(_origin(op), self.modules)
        self.nodes.append(g.Node(ref.name, "aten.clone", inputs, (ref,), None, *metadata))
        return ref

    def node(
        self, op: Operation, target: str, inputs: list[g.NodeInput], returns_single_tensor: bool | None = None
    ) -> None:
        """Adds the node of an operation."""
        origin = _origin(op)
        if _has_one_result(op):
            refs: list[g.Ref] = [self.define(op.results[0], _operator_name(op))]
            name = refs[0].name
        else:
            name = self.names.fresh((_is_imported(op) and origin.node) or _operator_name(op))
            refs = [
                self.define(value, "getitem" if value.uses else f"{name}_unused_{i}")
                for i, value in enumerate(op.results)
            ]
        outputs: tuple[g.Result, ...] = tuple(refs)
        if isinstance(op, OperatorOp) and _gives_list(op):
            outputs = (tuple(refs),)
        elif isinstance(op, OperatorOp) and len(op.SPEC.writes) == len(refs) > 0:
            outputs = (None, *refs)  # what the operator itself returns
        metadata = stack_trace_of(op), module_stack_of(origin, self.modules)
        self.nodes.append(g.Node(name, target, tuple(inputs), outputs, returns_single_tensor, *metadata))


def _gives_list(op: OperatorOp) -> bool:
    """Whether an operator's results are the elements of one list."""
    returns = op.SPEC.schema.returns
    return len(returns) == 1 and returns[0].type.is_list


def _has_one_result(op: Operation) -> bool:
    """Whether an operation's node is its result, rather than a tuple or list of them."""
    if isinstance(op, OperatorOp):
        return len(op.results) == 1 and not _gives_list(op) and not op.SPEC.writes
    return isinstance(op, SymOp | ConstantOp)


_NO_NODES = (NumberOp, RefineOp)
"""Operations that no node stands for."""
BY_KEYWORD = {"_assert_tensor_metadata_default": ("dtype",)}
"""Arguments that PyTorch gives by name although it need not, by the name of the nodes: those that a pass put there are
named after the overload too."""
_NAMED: Mapping[str, Callable[[str], g.Value]] = {
    "Device": g.Device,
    "Layout": g.Layout,
    "MemoryFormat": g.MemoryFormat,
}
_SYM_TARGETS: Mapping[type[Operation], str] = {cls: target for target, cls in reversed(SYM_OPS.items())}
_PARAMETERS = {"math": ("x",), "builtins": ("number",)}
"""Names of the arguments of Python's functions on numbers; of all others they are a and b."""

HigherOrder = tuple[str, Callable[[_GraphWriter, Any], list[g.Value]]]


def _while_loop(writer: _GraphWriter, op: cf.LoopOp) -> list[g.Value]:
    return [
        writer.subgraph("while_loop_cond_graph", op.cond_region, bare=True),
        writer.subgraph("while_loop_body_graph", op.body_region),
        writer.operands(op.carried_inputs),
        writer.operands(op.additional_inputs),
    ]


HIGHER_ORDER: Mapping[type[Operation], HigherOrder] = {
    cf.CondOp: (
        "cond",
        lambda writer, op: [
            writer.env[op.pred],
            writer.subgraph("true_graph", op.true_region),
            writer.subgraph("false_graph", op.false_region),
            writer.operands(op.inputs),
        ],
    ),
    cf.WhileLoopOp: ("while_loop", _while_loop),
    cf.WhileLoopStackOutputOp: ("while_loop_stack_output", _while_loop),
    cf.MapOp: (
        "map_impl",
        lambda writer, op: [
            writer.subgraph("body_graph", op.body_region),
            writer.operands(op.xs),
            writer.operands(op.pos_args),
        ],
    ),
    cf.ScanOp: (
        "scan",
        lambda writer, op: [
            writer.subgraph("scan_combine_graph", op.combine_region),
            writer.operands(op.init),
            writer.operands(op.xs),
            writer.operands(op.additional_inputs),
        ],
    ),
    cf.AssociativeScanOp: (
        "associative_scan",
        lambda writer, op: [
            writer.subgraph("associative_scan_combine_graph", op.combine_region),
            writer.operands(op.xs),
            writer.operands(op.additional_inputs),
        ],
    ),
}
"""The operator, and its arguments, of each operation with regions."""


# Metadata


def stack_trace_of(op: Operation) -> str:
    """What PyTorch's stack trace says of the line that an operation came from."""
    location = op.location
    if not isinstance(location, FileLineColLoc):
        return ""
    return f'File "{location.filename.data}", line {location.line.data}, in <unknown>\n'


_MODULE = "torch.nn.modules.module.Module"
"""The class of modules of which only the path is known."""


def module_stack_of(origin: Origin, modules: Mapping[str, str]) -> str:
    """PyTorch's text of the modules around a node, outermost first: those that are called, if that is known."""
    around = {"": "", **origin.calls()}
    return ";".join(
        f"L__self__{call},{path},{modules.get(path, _MODULE)}"
        for path, call in around.items()
        if not modules or not path or path in modules
    )


# Programs


def input_specs(function: FuncOp) -> list[InputSpec]:
    """What the arguments of a method are."""
    return _specs(
        function.arg_attrs, INPUT, InputAttr, len(function.body.block.args), InputSpec(InputKind.USER_INPUT)
    )


def output_specs(function: FuncOp) -> list[OutputSpec]:
    """What the results of a method are."""
    results = len(function.function_type.outputs.data)
    return _specs(function.res_attrs, OUTPUT, OutputAttr, results, OutputSpec(OutputKind.USER_OUTPUT))


def _specs(
    attrs: ArrayAttr[DictionaryAttr] | None, name: str, kind: Any, number: int, default: Any
) -> list[Any]:
    held = attrs.data if attrs is not None else (DictionaryAttr({}),) * number
    found: list[Any] = [item.data.get(name) for item in held]
    return [attr.data if isinstance(attr, kind) else default for attr in found]


_PREFIXES = {
    InputKind.PARAMETER: "p_",
    InputKind.BUFFER: "b_",
    InputKind.CONSTANT_TENSOR: "c_",
    InputKind.CUSTOM_OBJ: "obj_",
}
"""How PyTorch begins the names of inputs."""


def placeholder_name(spec: InputSpec, index: int) -> str:
    """What PyTorch calls an input of the graph."""
    if spec.kind is InputKind.USER_INPUT:
        return spec.target or f"arg_{index}"
    return _PREFIXES.get(spec.kind, "") + re.sub(r"[^a-zA-Z0-9]", "_", spec.target).lower()


_USER_OUTPUTS = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)


class _Writer:
    """Writes one method."""

    def __init__(self, program: Program, function: FuncOp, convention: CallingConvention | None):
        self.state = program.state
        self.function = function
        self.convention = convention
        self.ranges = ranges_of(function)
        self.symbols = _Symbols.of(function, self.ranges)
        block = function.body.block
        names = [placeholder_name(spec, i) for i, spec in enumerate(input_specs(function))]
        self.graph = _GraphWriter(
            block,
            self.symbols,
            self.lift,
            Contiguity(),
            names,
            modules=convention.modules if convention else {},
        )
        self.places = places_of(function)
        self.lifted: list[tuple[g.Ref, g.InputSpec]] = []
        self.data: dict[str, TensorData] = {}

    def lift(self, op: ConstantOp) -> g.Ref:
        """Makes a literal a constant of the program."""
        import numpy as np

        meta = tensor_meta(op.type)
        number = next(i for i in count(len(self.lifted)) if f"lifted_tensor_{i}" not in self.state)
        target = f"lifted_tensor_{number}"
        array = np.array(op.values, meta.dtype.numpy).reshape(op.type.get_shape())
        self.data[target] = TensorData.of(array, meta.dtype)
        ref = self.graph.define(op.result, f"c_{target}")
        self.lifted.append((ref, g.InputSpec("constant_tensor", ref.name, target)))
        return ref

    def program(self) -> g.ExportedGraph:
        inputs = self.inputs()
        results = self.graph.write()
        if self.graph.unsupported:
            raise UnsupportedError(self.graph.unsupported)
        first_user = next((i for i, (_, spec) in enumerate(inputs) if spec.kind in _USER), len(inputs))
        inputs[first_user:first_user] = self.lifted
        outputs = self.outputs(results)
        graph = g.Graph(
            tuple(value for value, _ in inputs),
            tuple(self.graph.nodes),
            tuple(spec.value for spec in outputs),
            self.graph.values,
        )
        specs = tuple(spec for _, spec in inputs)
        derived = {to_str(size): bounds for size, bounds in derived_ranges_of(self.function).items()}
        in_state = {spec.target for spec in specs if spec.kind == "parameter" or (spec.kind == "buffer" and spec.persistent)}  # fmt: skip
        in_spec, out_spec = self.tree_specs(inputs, outputs)
        trees = [in_spec, out_spec]
        for call in self.convention.calls.values() if self.convention else ():
            trees += [call.in_spec, call.out_spec] if call else []
        return g.ExportedGraph(
            graph=graph,
            inputs=specs,
            outputs=tuple(outputs),
            range_constraints=self.ranges | derived,
            guards_code=tuple(self.guards(inputs)),
            module_calls=self.module_calls(pytree.dumps(in_spec), pytree.dumps(out_spec)),
            namedtuple_fields={
                name: fields for tree in trees for name, fields in pytree.namedtuple_fields(tree).items()
            },
            state={name: data for name, data in self.data.items() if name in in_state},
            constants={name: data for name, data in self.data.items() if name not in in_state},
            dialect=DIALECT,
            torch_version=TORCH_VERSION,
            opset=OPSET,
            metadata={},
        )

    def inputs(self) -> list[tuple[g.Ref | g.Constant, g.InputSpec]]:
        """The inputs with what they are; those that export fixed stand where the calling convention has them."""
        inputs: list[tuple[g.Ref | g.Constant, g.InputSpec]] = []
        slots = iter(self.convention.inputs if self.convention else ())

        def constants() -> None:
            for slot in slots:
                if not slot.is_constant:
                    return
                name = self.graph.names.fresh(slot.name)
                inputs.append((slot.constant, g.InputSpec("constant_input", name, value=slot.constant)))

        arguments = self.function.body.block.args
        for argument, spec in zip(arguments, input_specs(self.function), strict=True):
            target: str | None = None
            data: TensorData | None = None
            if spec.kind is InputKind.USER_INPUT:
                constants()
            else:
                target = spec.target
                data = self.state.get(target)
                if data is not None:
                    self.data[target] = data
            grad = spec.kind is InputKind.PARAMETER and _may_require_grad(argument.type)
            meta = self.symbols.meta(argument.type, data, grad, spec.dim_order)
            if spec.dim_order is None and _is_row_major(argument.type, meta if data is not None else None):
                self.graph.contiguity.row_major.add(argument)
            ref = self.graph.define(argument, "", meta)
            persistent = spec.persistent if spec.kind is InputKind.BUFFER else None
            kind: Any = spec.kind.value
            inputs.append((ref, g.InputSpec(kind, ref.name, target, persistent)))
        constants()
        return inputs

    def outputs(self, results: Sequence[g.Value]) -> list[g.OutputSpec]:
        """The outputs, those included that are constants."""
        outputs: list[g.OutputSpec] = []
        slots = iter(self.convention.outputs if self.convention else ())
        # The name of a user input may have changed, that of what is mutated with it.
        inputs = zip(input_specs(self.function), self.function.body.block.args, strict=True)
        user_inputs = {
            spec.target: self.graph.env[arg] for spec, arg in inputs if spec.kind is InputKind.USER_INPUT
        }

        def constants() -> None:
            for slot in slots:
                if not slot.is_constant:
                    return
                outputs.append(g.OutputSpec("user_output", slot.constant))

        arguments = set(user_inputs.values())
        types = self.function.function_type.outputs
        for value, spec, type in zip(results, output_specs(self.function), types, strict=True):
            if spec.kind in _USER_OUTPUTS:
                constants()
            if spec.dim_order is not None and isinstance(value, g.Ref) and value not in arguments:
                self.graph.values[value.name] = self.symbols.meta(type, None, False, spec.dim_order)
            kind: Any = spec.kind.value
            target = spec.target or None
            if spec.kind is OutputKind.USER_INPUT_MUTATION:
                ref = user_inputs[spec.target]
                assert isinstance(ref, g.Ref)
                target = ref.name
            outputs.append(g.OutputSpec(kind, value, target))
        constants()
        return outputs

    def tree_specs(
        self, inputs: Sequence[tuple[Any, g.InputSpec]], outputs: Sequence[g.OutputSpec]
    ) -> tuple[pytree.TreeSpec, pytree.TreeSpec]:
        """The calling convention; without one, flat arguments and a tuple of results."""
        if self.convention is not None:
            return self.convention.in_spec, self.convention.out_spec
        users = sum(spec.kind in _USER for _, spec in inputs)
        results = sum(spec.kind in ("user_output", "loss_output") for spec in outputs)
        args = pytree.TreeSpec("builtins.tuple", None, (pytree.LEAF,) * users)
        kwargs = pytree.TreeSpec("builtins.dict", ())
        return (
            pytree.TreeSpec("builtins.tuple", None, (args, kwargs)),
            pytree.TreeSpec("builtins.tuple", None, (pytree.LEAF,) * results),
        )

    def guards(self, inputs: Sequence[tuple[g.Ref | g.Constant, g.InputSpec]]) -> Iterator[str]:
        """The conditions that inputs have to fulfil, as text."""
        conditions = guards_of(self.function)
        if not conditions:
            return
        if self.convention is None:
            raise UnsupportedError(
                [Unsupported("guard", "the inputs have no names, for nothing says how it is called")]
            )
        arguments = zip(input_specs(self.function), self.function.body.block.args, strict=True)
        types = iter(arg.type for spec, arg in arguments if spec.kind is InputKind.USER_INPUT)
        users = [spec for _, spec in inputs if spec.kind in _USER]
        leaves = [next(types) if spec.kind == "user_input" else None for spec in users]
        places = symbol_places(pytree.paths(self.convention.in_spec, self.convention.arg_names), leaves)
        for condition in conditions:
            yield guard_text(condition, places)

    def module_calls(self, in_spec: str, out_spec: str) -> tuple[g.ModuleCall, ...]:
        """The root's signature, and the modules below; if these are not known, those that operations came from. PyTorch
        names no values in the root's."""
        names = self.convention.arg_names if self.convention else None
        root = g.ModuleCall("", g.ModuleCallSignature((), (), in_spec, out_spec, names))
        if self.convention is not None and self.convention.calls:
            calls = self.convention.calls.items()
        else:
            calls = ((path, None) for op in self.function.walk() for path in _origin(op).calls())
        ops = calls_of(self.function.body.block.ops)
        signatures = {
            path: self.module_signature(call, ops[path]) if call and path in ops else None
            for path, call in dict(calls).items()
        }
        return (root, *(g.ModuleCall(path, signature) for path, signature in signatures.items()))

    def module_signature(
        self, call: CallingConvention, ops: Sequence[Operation]
    ) -> g.ModuleCallSignature | None:
        """How a module is called; what was dropped because nothing reads it is None there. None for a module that takes
        or gives other values than it did, of which PyTorch could not make a module."""
        inputs, outputs = (tuple(map(self.at_boundary, side)) for side in (call.inputs, call.outputs))
        group, block = set(ops), self.function.body.block
        taken = (
            value
            for op in ops
            for inner in op.walk()
            for value in inner.operands
            if isinstance(value.owner, Operation) and value.owner.parent is block
            if value.owner not in group and not isinstance(value.type, SymType)
        )
        given = (
            value
            for op in ops
            for value in op.results
            if any(block.find_ancestor_op_in_block(use.operation) not in group for use in value.uses)
        )
        for values, side in ((taken, inputs), (given, outputs)):
            if not {name for value in values for name in g.references(self.graph.env[value])} <= {
                name for value in side for name in g.references(value)
            }:
                return None
        return g.ModuleCallSignature(
            inputs, outputs, pytree.dumps(call.in_spec), pytree.dumps(call.out_spec), call.arg_names
        )

    def at_boundary(self, slot: Slot) -> g.Value:
        """What a module takes or gives."""
        value = self.places.get((slot.name, slot.index))
        return slot.constant if slot.is_constant or value is None else self.graph.env[value]


_USER = ("user_input", "constant_input")


def _is_row_major(type: Attribute, data: g.ValueMeta | None) -> bool:
    """Whether an argument is row-major: one with data as these are, others as their type says."""
    if isinstance(data, g.TensorMeta):
        return memory_of(data).is_contiguous
    return is_tensor_type(type) and tensor_meta(type).dim_order is None


def _may_require_grad(type: Attribute) -> bool:
    return is_tensor_type(type) and tensor_meta(type).dtype.category >= Category.FLOAT
