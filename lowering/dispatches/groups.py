"""Operators that no kernel takes alone, in groups: those that kernels of a target take together, and the others, which go through linalg."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IndexType,
    MemRefType,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.utils.hints import isa

from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_symbol
from xdsl_exir.dialects.tensors import SymIntType
from xdsl_exir.dialects.upstream import CopyOp, MaterializeInDestinationOp, ToTensorOp
from xdsl_exir.lowering.arithmetic import SYMBOLS
from xdsl_exir.lowering.dispatches.buffers import NAME, Value
from xdsl_exir.lowering.dispatches.outline import Outline
from xdsl_exir.lowering.edge_to_linalg import FunctionLowering
from xdsl_exir.lowering.hoisting import hoist
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.target import Group
from xdsl_exir.lowering.tensors import Tensor, tensor_of

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner


LARGE = "large"
"""The attribute of functions that are worth running in threads."""
LARGE_SIZE = 1 << 15
"""Elements that such a function makes, or reads to make fewer."""
DIRECT = "direct"
"""The attribute of functions whose results may be computed in their destination. MLIR's eliminate-empty-tensors takes the
destination of one result for what another is made of too, where both are one tensor with other elements written over: of one dtype, then."""
NESTED = "nested"
"""The attribute of functions with sizes that are computed in branches or loops, which MLIR's affine loops do not take."""
WRITES = scf.ForOp | tensor.InsertSliceOp
MOST = 128
"""Operators of a group, and their operands: MLIR's bufferization takes time that grows with more than a function's length."""


@dataclass
class LinalgGroup:
    """Operators that MLIR fuses and bufferizes."""

    planner: Planner
    ops: list[OperatorOp] = field(default_factory=list[OperatorOp])
    inside: set[Operation] = field(default_factory=set[Operation])
    length: int = 0
    """Operands and results of these operators."""

    def add(self, op: OperatorOp) -> None:
        self.ops.append(op)
        self.inside.add(op)
        self.length += weight(op)

    def copy(self) -> LinalgGroup:
        return replace(self, ops=[*self.ops], inside={*self.inside})

    def takes(self, op: OperatorOp) -> bool:
        return self.length + weight(op) <= MOST and self.planner.target.group(self.planner, op) is None

    def dispatch(self, outputs: Sequence[SSAValue]) -> None:
        """Makes a dispatch of the group; outputs are what is used outside."""
        planner = self.planner
        outline = Outline(planner, self.ops)
        block = outline.end(outputs)
        inputs = [planner.value(value) for value in outline.inputs if isinstance(value, SSAValue)]
        arguments = [*inputs, *(planner.make(value) for value in outputs)]
        function = linalg_function(block, outputs, arguments, planner.is_large(arguments))
        planner.call_function(function, arguments, self.ops)


def weight(op: OperatorOp) -> int:
    """How much an operator adds to the length of a group: its operands, and that it is one."""
    return 1 + len(op.operands)


def groups_of(planner: Planner, pending: Sequence[OperatorOp]) -> list[Group]:
    """Pending operators in groups, each depending on those before it: an operator joins one of its producers or their users if it can. A group
    that needs no other may come before all of them, for one of its users to join an earlier group."""
    groups: list[Group] = []
    place: dict[Operation, int] = {}
    reads: list[set[SSAValue]] = []
    needing: set[int] = set()
    """Groups that need others."""
    first: set[int] = set()
    """Those that need none, and come before all others."""
    for op in pending:
        roots = {planner.root(operand) for operand in op.operands if operand not in planner.constants}
        producers = {
            place[root.owner] for root in roots if isinstance(root.owner, Operation) and root.owner in place
        }
        behind = range(max(producers, default=0), len(groups))
        earlier = sorted(at for at in producers if max(producers & needing, default=0) <= at < behind.start)
        joined = next(
            (
                i
                for i in (*behind, *earlier)
                if groups[i].ops
                and (i not in first or producers <= {i})
                and joins(planner, groups[i], op, i in producers or roots & reads[i])
            ),
            None,
        )
        if joined is not None:
            for at in producers - needing - {joined}:
                taken = with_source(planner, groups[joined], groups[at], op)
                if taken is not None:
                    groups[joined] = taken
                    place |= dict.fromkeys(groups[at].ops, joined)
                    reads[joined] |= reads[at]
                    groups[at], reads[at] = LinalgGroup(planner), set()  # empty, and joined by no one
            producers = {at for at in producers if groups[at].ops}
        else:
            joined = len(groups)
            groups.append(planner.target.group(planner, op) or LinalgGroup(planner))
            reads.append(set())
        if producers - {joined}:
            needing.add(joined)
            first |= {at for at in producers if at > joined}
        groups[joined].add(op)
        reads[joined] |= roots
        place[op] = joined
    return [groups[at] for at in (*sorted(first), *(at for at in range(len(groups)) if at not in first))]


def with_source(planner: Planner, group: Group, source: Group, op: OperatorOp) -> Group | None:
    """A group with what another one, that needs none, makes for an operator that joins it: of operands that are cast, each of its own, so
    one dispatch takes all. None if others use that too, or a kernel does not take them together."""
    inside = source.inside | {op}
    if isinstance(group, LinalgGroup) or isinstance(source, LinalgGroup):
        return None
    if any(planner.is_used_outside(result, inside) for each in source.ops for result in each.results):
        return None
    taken = group.copy()
    for each in source.ops:
        if not joins(planner, taken, each, True):
            return None
        taken.add(each)
    return taken if taken.takes(op) else None


def joins(planner: Planner, group: Group, op: OperatorOp, related: object) -> bool:
    """Whether an operator joins a group: one with a kernel if both use the same, or one uses the other's; linalg any."""
    fits = bool(related or isinstance(group, LinalgGroup))
    return fits and planner.boundaries.are_together(group.ops[0], op) and group.takes(op)


def linalg_function(
    block: Block, outputs: Sequence[SSAValue], arguments: Sequence[Value], large: bool
) -> FuncOp:
    """A block of operators as a function on memrefs around linalg on tensors, its results written to its last arguments;
    symbols come before the others."""
    lowered = linalg_of(block, [value.type for value in outputs])
    if large and not any(map(is_repeated, lowered.walk())):
        lowered.attributes[LARGE] = UnitAttr()
    apart = len({value.dtype for value in arguments[len(arguments) - len(outputs) :]}) == len(outputs)
    if apart or not any(isinstance(op, WRITES) for op in lowered.walk()):
        lowered.attributes[DIRECT] = UnitAttr()
    return destination_style(lowered, arguments)


def is_repeated(op: Operation) -> bool:
    """Whether steps of an algorithm over one group of matrices after the other are around an operation: threads would begin anew in each."""
    around = op.parent_op()
    return (
        isinstance(op, GenericOp)
        and isinstance(around, scf.ForOp)
        and isinstance(around.parent_op(), scf.ForOp)
    )


def linalg_update(block: Block, arguments: Sequence[Value], into: int) -> FuncOp:
    """A block of one operator as such a function, whose result is written to one of the arguments that it reads. (MLIR's bufferization sees that
    the tensor is one in memory that may be written to, and copies it where it would be read too late.)"""
    assert all(value.buffer is not arguments[into].buffer for at, value in enumerate(arguments) if at != into)
    lowered = linalg_of(block, [block.args[len(block.args) - len(arguments) + into].type])
    return destination_style(lowered, arguments, into)


def linalg_of(block: Block, results: Sequence[Attribute]) -> FuncOp:
    """A block of operators as a function of linalg on tensors, which names its symbols."""
    types = [arg.type for arg in block.args]
    symbols = [str(type.data) for type in types if isinstance(type, SymIntType) and is_symbol(type.data)]
    lowered = FunctionLowering(FuncOp(NAME, (types, results), Region(block))).run()
    if symbols:
        lowered.attributes[SYMBOLS] = ArrayAttr([StringAttr(symbol) for symbol in symbols])
    return lowered


def destination_style(function: FuncOp, arguments: Sequence[Value], into: int | None = None) -> FuncOp:
    """A function on tensors as one on memrefs that lie as `arguments`, read in place, and results written to the last ones; a single one to
    that which it reads as `into`."""
    block = function.body.block
    returned = block.last_op
    assert isinstance(returned, ReturnOp)
    tensors = [arg for arg in block.args if not isinstance(arg.type, IndexType)]
    memories: list[SSAValue] = []
    for at, (arg, value) in enumerate(zip(tensors, arguments, strict=False)):
        memref = block.insert_arg(memref_of(arg, value), arg.index)
        memories.append(memref)
        read = ToTensorOp(memref, writable=at == into)
        block.insert_ops_before([read], block.first_op) if block.first_op else block.add_op(read)
        arg.replace_all_uses_with(read.tensor)
        block.erase_arg(arg)
    # Only now, since a result may be an argument.
    results = list(returned.operands)
    returned.detach()
    returned.erase()
    outs = [
        block.insert_arg(memref_of(result, value), len(block.args))
        for result, value in zip(results, arguments[len(tensors) :], strict=into is None)
    ]
    for result, out in zip(results, outs if into is None else [memories[into]], strict=True):
        block.add_op(MaterializeInDestinationOp(result, out))
    block.add_op(ReturnOp())
    function.properties["function_type"] = type(function.function_type).from_lists(
        [arg.type for arg in block.args], []
    )
    hoist(function)
    return function


def memref_of(tensor: SSAValue, value: Value) -> MemRefType[Any]:
    """The memref type of a tensor that lies as a value does."""
    type: Any = tensor.type
    return MemRefType(type.element_type, type.get_shape(), value.type.layout)


def made_of(
    source: Value, target: Value, build: Callable[[LinalgBuilder, Tensor], Tensor], large: bool
) -> FuncOp:
    """A function that makes one value of another, both of known sizes, as `build` says in linalg."""
    block = Block(arg_types=[tensor_of(source.shape, source.dtype)])
    made = build(LinalgBuilder(block.add_op), Tensor(block.args[0], source.shape, source.dtype))
    block.add_op(ReturnOp(made.value))
    function = FuncOp(NAME, ([block.args[0].type], [made.value.type]), Region(block))
    function.attributes[DIRECT] = UnitAttr()
    if large:
        function.attributes[LARGE] = UnitAttr()
    return destination_style(function, [source, target])


def copies(pairs: Sequence[tuple[Value, Value]], large: bool) -> FuncOp:
    """A function that copies values to others of their shapes; its arguments are each value and where it goes."""
    block = Block(arg_types=[value.type for pair in pairs for value in pair])
    numbers = range(len(pairs))
    for _, together in groupby(numbers, lambda at: pairs[at][0].shape):
        block.add_op(copy([(block.args[2 * at], block.args[2 * at + 1]) for at in together]))
    block.add_op(ReturnOp())
    function = FuncOp(NAME, ([arg.type for arg in block.args], []), Region(block))
    if large:
        function.attributes[LARGE] = UnitAttr()
    return function


def copy(pairs: Sequence[tuple[SSAValue, SSAValue]]) -> Operation:
    """A copy between memrefs of one shape; of several pairs element by element, so that what lies side by side is written together."""
    sources, targets = ([pair[at] for pair in pairs] for at in (0, 1))
    if len(pairs) == 1:
        return CopyOp(sources, targets, ())
    types = [value.type for value in (*sources, *targets) if isa(value.type, MemRefType[Attribute])]
    body = Block(arg_types=[type.element_type for type in types])
    body.add_op(YieldOp(*body.args[: len(pairs)]))
    rank = types[0].get_num_dims()
    map = AffineMapAttr(AffineMap.identity(rank))
    parallel = [IteratorTypeAttr.parallel()] * rank
    return GenericOp(sources, targets, Region(body), [map] * len(types), parallel)
