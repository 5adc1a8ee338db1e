"""A block of operations as a graph: nodes, their names, and the graphs of regions.

Names are the values' where they have some, arguments stand where the schema has them, defaults left out. Edge operators become the
aten ones that they are; Python numbers become arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xdsl_exir.dialects import backend
from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.ancestry import origin_of
from xdsl_exir.dialects.argument_syntax import is_default
from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.exir import ConstantOp, NumberOp, RefineOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import (
    Origin,
)
from xdsl_exir.dialects.sym_ops import SYM_OPS, SymOp, SymSumOp
from xdsl_exir.dialects.tensors import is_tensor_type, is_value, tensor_meta
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.exporters.contiguity import Contiguity, bases_of
from xdsl_exir.exporters.symbols import Symbols
from xdsl_exir.locations import text_of
from xdsl_exir.narrowing import is_list
from xdsl_exir.transforms.call_delegates import said_of

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


def origin_said(op: Operation) -> Origin:
    return origin_of(op) or Origin("", "")


def _is_imported(op: Operation) -> bool:
    """Whether an operation stands for the node that its origin names; the node of others was another operator."""
    target = (
        op.SPEC.qualified_name if isinstance(op, OperatorOp) and op.NUMBERS else _SYM_TARGETS.get(type(op))
    )
    if type(op) in HIGHER_ORDER:
        target = f"higher_order.{HIGHER_ORDER[type(op)][0]}"
    return target is not None and origin_said(op).operator == target


# Graphs


@dataclass
class GraphWriter:
    """Writes one block as graph. Blocks of regions get a writer of their own: they see nothing of the block around."""

    block: Block
    symbols: Symbols
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
        node = origin_said(op).node
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
            if isinstance(op, cf.YieldOp | backend.YieldOp):
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

    def yielded(self, op: cf.YieldOp | backend.YieldOp) -> Iterator[g.Value]:
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
        named = BY_KEYWORD.get(re.sub(r"_\d+$", "", origin_said(op).node), ())
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
        target = _SYM_TARGETS[type(op)]
        names = _PARAMETERS.get(target) or _PARAMETERS.get(target.partition(".")[0], ("a", "b"))
        given = self.operands(op.args)
        return [
            g.NodeInput(name, value, False) for name, value in zip(names[: len(given)], given, strict=True)
        ]

    def subgraph(self, name: str, region: Region, bare: bool = False) -> g.Subgraph:
        """A region as graph argument; `bare` if it returns its only output rather than a tuple."""
        if self.depth == g.MAX_NESTING:
            reason = f"more than {g.MAX_NESTING} graphs in one another"
            raise UnsupportedError([Unsupported(name, reason)])
        # PyTorch's `arg0_1` is `arg0` as hint.
        hints = [arg.name_hint or f"arg{i}" for i, arg in enumerate(region.block.args)]
        names = [f"{hint}_1" if re.fullmatch(r"arg\d+", hint) else hint for hint in hints]
        inner = GraphWriter(
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
        metadata = stack_trace_of(op), module_stack_of(origin_said(op), self.modules)
        self.nodes.append(g.Node(ref.name, "aten.clone", inputs, (ref,), None, *metadata))
        return ref

    def node(
        self, op: Operation, target: str, inputs: list[g.NodeInput], returns_single_tensor: bool | None = None
    ) -> None:
        """Adds the node of an operation."""
        origin = origin_said(op)
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
_PARAMETERS = {"math": ("x",), "builtins": ("number",), "torch.sym_ite": ("b", "t", "f")}
"""Names of the arguments of Python's functions on numbers, of a module or one function; of all others they are a and b."""

HigherOrder = tuple[str, Callable[[GraphWriter, Any], list[g.Value]]]


def _while_loop(writer: GraphWriter, op: cf.LoopOp) -> list[g.Value]:
    return [
        writer.subgraph("while_loop_cond_graph", op.cond_region, bare=True),
        writer.subgraph("while_loop_body_graph", op.body_region),
        writer.operands(op.carried_inputs),
        writer.operands(op.additional_inputs),
    ]


def _delegate(writer: GraphWriter, op: DelegateOp) -> list[g.Value]:
    """The region as a graph, the inputs, what the backend made of it last, and what says the rest."""
    return [
        writer.subgraph("delegate_graph", op.body),
        writer.operands(op.inputs),
        op.backend.data,
        said_of(op),
    ]


HIGHER_ORDER: Mapping[type[Operation], HigherOrder] = {
    DelegateOp: ("executorch_call_delegate", _delegate),
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
