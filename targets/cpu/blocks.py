"""Groups that pick elements at computed places, or reduce outer dimensions, in blocks of rows that threads share.

    out[i, j] = x[i, at[j]]      becomes      parallel for first: block(x, at, out, first), which makes some rows of out, from the first one on

MLIR tells by the places that loops read and write whether they depend on one another, so where places are computed it does not. But what linalg makes along its parallel
dimensions needs nothing else of these. What the group picks from and makes itself is made before, whole. Blocks are functions, as LLVM knows of arguments that they
lie apart (`lowering.distinct`), and not of what OpenMP takes out of a function. And where MLIR makes the loops of a reduction the outer ones, threads would begin anew in each
of its steps; a block has all steps of some rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf, tensor
from xdsl.dialects.bufferization import ToBufferOp
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    MemRefType,
    StridedLayoutAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp
from xdsl.dialects.llvm import LinkageAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.rewriter import InsertPoint

from xdsl_exir.dialects.upstream import MaterializeInDestinationOp, ToTensorOp
from xdsl_exir.lowering.dispatches.groups import DIRECT, LARGE, LARGE_SIZE

TASKS = range(64, 7, -1)
"""Into how many blocks rows are cut: the first of these that divides them, if one does, else so many as come first, and each has a row at least. Whoever runs them, so
that what is computed is the same."""
FEWEST = 8
"""Rows of a dimension that is cut rather than one further in."""
THIN = 16
"""Elements side by side of `WORD` bytes, or more, that a vector, or a line of a cache, holds."""
WORD = 4
LOOPS = scf.ForOp | scf.WhileOp
Reshape = tensor.ExpandShapeOp | tensor.CollapseShapeOp


def with_blocks(function: FuncOp) -> list[FuncOp]:
    """The functions that a group becomes: itself, and before it that of its blocks, if it has some."""
    if LARGE not in function.attributes:
        return [function]
    picks = [op for op in function.walk() if isinstance(op, tensor.ExtractOp) and is_in_loops(op)]
    anew = any(map(begins_anew, function.walk()))
    for dim in dimensions(function) if picks or anew else []:
        block = Blocks(function, {op.tensor for op in picks}, dim)
        if not (anew and block.is_thin) and block.is_made():
            return [block.function(), function]
    if anew:
        del function.attributes[LARGE]
    return [function]


def begins_anew(op: Operation) -> bool:
    """Whether threads would begin anew in each step of a reduction: it is around what they can share."""
    if not isinstance(op, GenericOp):
        return False
    loops = zip(op.iterator_types, op.get_static_loop_ranges(), strict=True)
    kinds = [kind.data for kind, steps in loops if steps != 1]
    return IteratorType.PARALLEL in kinds and kinds[0] is IteratorType.REDUCTION


def is_in_loops(op: Operation) -> bool:
    """Whether an operation is in the body of one of linalg's."""
    around = op.parent_op()
    return isinstance(around, GenericOp) or (around is not None and is_in_loops(around))


def writes_of(function: FuncOp) -> list[MaterializeInDestinationOp]:
    return [op for op in function.body.block.ops if isinstance(op, MaterializeInDestinationOp)]


def dimensions(function: FuncOp) -> list[int]:
    """Dimensions that a group's results may be cut along, best first: outer ones with some rows, and then those with most. None if they are not of one shape,
    or of few elements each of which is soon made."""
    shapes = {shape_of(op.source) for op in writes_of(function)}
    if len(shapes) != 1:
        return []
    [shape] = shapes
    is_long = DYNAMIC_INDEX in shape or prod(shape) >= LARGE_SIZE
    if not is_long and not any(isinstance(op, LOOPS) or is_reduction(op) for op in function.walk()):
        return []
    many = [dim for dim, size in enumerate(shape) if size == DYNAMIC_INDEX or size >= FEWEST]
    few = [dim for dim, size in enumerate(shape) if dim not in many and size > 1]
    return [*many, *sorted(few, key=lambda dim: -shape[dim])]


def is_reduction(op: Operation) -> bool:
    kinds = op.iterator_types.data if isinstance(op, GenericOp) else ()
    return any(kind.data is IteratorType.REDUCTION for kind in kinds)


def are_thin(rows: int, inner: Sequence[int], element: Attribute) -> bool:
    """Whether rows of these sizes, side by side in memory, are less than a vector takes at once: of short elements it takes more."""
    nbytes = element.size if isinstance(element, FixedBitwidthType) else WORD
    least = THIN * WORD // min(nbytes, WORD)
    return DYNAMIC_INDEX not in inner and 0 < rows * prod(inner) < least


class Blocks:
    """What makes some rows of a group's results along a dimension: its operations once more, of rows where they take rows."""

    def __init__(self, group: FuncOp, picked: set[SSAValue], dim: int):
        self.group, self.picked, self.dim = group, picked, dim
        self.writes = writes_of(group)
        rows, *inner = shape_of(self.writes[0].source)[dim:]
        element = memory_of(self.writes[0].source).element_type
        thin = {tasks for tasks in range(1, TASKS[0] + 1) if are_thin(-(-rows // tasks), inner, element)}
        self.tasks = next(
            (tasks for tasks in TASKS if rows % tasks == 0 and tasks not in thin),
            rows if 0 < rows < TASKS[0] else TASKS[0],
        )
        self.is_thin = self.tasks in thin
        self.count = rows // self.tasks if rows > 0 and rows % self.tasks == 0 else None
        """Rows of a block; None if the last one has fewer, or they are not known."""
        self.block = Block(arg_types=[IndexType()] if self.count else [IndexType(), IndexType()])
        self.first, *lengths = self.block.args
        self.length = lengths[0] if lengths else None
        """The block's first row, and how many it has where `count` does not say."""
        self.given: dict[SSAValue, SSAValue] = {}
        """The block's other arguments, by what they are outside."""
        self.wholes: dict[SSAValue, SSAValue] = {}
        self.rows: dict[tuple[SSAValue, int], SSAValue | None] = {}
        self.build = Builder(InsertPoint.at_end(self.block))

    def is_made(self) -> bool:
        """Makes the block's body; False if a result is not made by rows. (Destinations are first, so that results are computed there.)"""
        destinations = [self.part(self.argument(op.dest), self.dim) for op in self.writes]
        for op, destination in zip(self.writes, destinations, strict=True):
            made = self.rows_of(op.source, self.dim)
            if made is None:
                return False
            self.build.insert(MaterializeInDestinationOp(made, destination))
        self.build.insert(ReturnOp())
        return True

    def function(self) -> FuncOp:
        """The block as a function, which the group calls now instead of writing its results."""
        name = f"{self.group.sym_name.data}.block"
        function = FuncOp(name, ([arg.type for arg in self.block.args], []), Region(self.block), "private")
        function.attributes["llvm.linkage"] = LinkageAttr("internal")
        if DIRECT in self.group.attributes:
            function.attributes[DIRECT] = UnitAttr()
        self.call(name)
        for op in self.writes:
            op.detach()
            op.erase()
        return function

    def call(self, name: str) -> None:
        """Calls a function for one block after the other, in any order."""
        build = Builder(InsertPoint.before(self.writes[0]))
        rows = size_of(build, self.writes[0].dest, self.dim)
        zero, one, step = (index(build, number) for number in (0, 1, self.count or self.tasks))
        if self.length is not None:
            step = build.insert(arith.CeilDivUIOp(rows, step)).result
            step = build.insert(arith.MaxUIOp(step, one)).result
        given = [outside(build, value) for value in self.given]
        body = Block(arg_types=[IndexType()])
        inner, [first] = Builder(InsertPoint.at_end(body)), body.args
        if self.length is not None:
            left = inner.insert(arith.SubiOp(rows, first)).result
            given.insert(0, inner.insert(arith.MinUIOp(step, left)).result)
        inner.insert(CallOp(name, [first, *given], []))
        inner.insert(scf.ReduceOp())
        build.insert(scf.ParallelOp([zero], [rows], [step], Region(body)))

    # --- what is given --------------------------------------------------------------------------------------

    def argument(self, value: SSAValue) -> SSAValue:
        """A value from outside as an argument of the block: a tensor by its memory."""
        if value not in self.given:
            type = memory_of(value) if isinstance(value.type, TensorType) else value.type
            self.given[value] = self.block.insert_arg(type, len(self.block.args))
        return self.given[value]

    def memory(self, value: SSAValue) -> SSAValue:
        """The memory of a tensor that the group is given, or makes before."""
        return self.argument(value.owner.memref if isinstance(value.owner, ToTensorOp) else value)

    def whole(self, value: SSAValue) -> SSAValue:
        """All of a value."""
        if value not in self.wholes:
            if isinstance(value.owner, arith.ConstantOp):
                self.wholes[value] = self.build.insert(value.owner.clone()).result
            elif isinstance(value.type, TensorType):
                self.wholes[value] = self.build.insert(ToTensorOp(self.memory(value))).tensor
            else:
                self.wholes[value] = self.argument(value)
        return self.wholes[value]

    def part(self, buffer: SSAValue, dim: int) -> SSAValue:
        """The block's rows of memory along a dimension."""
        type: Any = buffer.type
        shape = self.cut(type.get_shape(), dim)
        places = [DYNAMIC_INDEX if at == dim else 0 for at in range(len(shape))]
        sizes = [
            self.length if at == dim and self.length is not None else size_of(self.build, buffer, at)
            for at, size in enumerate(shape)
            if size == DYNAMIC_INDEX
        ]
        strides = type.get_strides()
        start = type.get_offset() if strides[dim] == 0 else None  # rows that lie where the first one does
        made = MemRefType(type.element_type, shape, StridedLayoutAttr(strides, start))
        ones = [1] * len(shape)
        view = memref.SubviewOp(buffer, [self.first], sizes, [], places, shape, ones, made)
        return self.build.insert(view).result

    # --- what is made ---------------------------------------------------------------------------------------

    def cut(self, shape: Sequence[int], dim: int) -> list[int]:
        """A shape with a block's rows along a dimension."""
        return [(self.count or DYNAMIC_INDEX) if at == dim else size for at, size in enumerate(shape)]

    def type_of(
        self, value: SSAValue, dim: int, sizes: Sequence[SSAValue]
    ) -> tuple[TensorType[Any], list[SSAValue]]:
        """The type of rows of a tensor, and the sizes that it does not say, of those of all of the tensor."""
        type: Any = value.type
        left, shape = iter(sizes), type.get_shape()
        known: list[SSAValue | None] = [
            self.whole(next(left)) if size == DYNAMIC_INDEX else None for size in shape
        ]
        known[dim] = self.length
        return TensorType(type.element_type, self.cut(shape, dim)), [size for size in known if size]

    def rows_of(self, value: SSAValue, dim: int) -> SSAValue | None:
        """The block's rows of a tensor along one of its dimensions; None if it is not made by rows."""
        if (value, dim) not in self.rows:
            self.rows[value, dim] = self.made_rows(value, dim)
        return self.rows[value, dim]

    def made_rows(self, value: SSAValue, dim: int) -> SSAValue | None:
        op = value.owner
        if isinstance(op, ToTensorOp) or value in self.picked:
            return self.build.insert(ToTensorOp(self.part(self.memory(value), dim))).tensor
        if isinstance(op, tensor.EmptyOp):
            type, sizes = self.type_of(value, dim, op.dynamic_sizes)
            return self.build.insert(tensor.EmptyOp(sizes, type)).tensor
        if isinstance(op, FillOp):
            out = self.rows_of(op.outputs[0], dim)
            return out and self.build.insert(FillOp([self.whole(op.inputs[0])], [out], [out.type])).results[0]
        if isinstance(op, Reshape):
            return self.reshaped(op, dim)
        return self.generic(op, dim) if isinstance(op, GenericOp) else None

    def reshaped(self, op: Reshape, dim: int) -> SSAValue | None:
        """The same of rows, where it leaves the dimension as it is, but for others of size 1."""
        expands = isinstance(op, tensor.ExpandShapeOp)
        wide = shape_of(op.result if expands else op.src)
        groups = [
            [at for at in (each.value.data for each in group) if wide[at] != 1 or (expands and at == dim)]
            for group in op.reassociation
        ]
        if [dim] not in groups if expands else len(groups[dim]) != 1:
            return None
        source = self.rows_of(op.src, groups.index([dim]) if expands else groups[dim][0])
        if source is None:
            return None
        properties, sizes = dict(op.properties), list[SSAValue]()
        type: Any = op.result.type
        if expands:
            type, sizes = self.type_of(op.result, dim, op.dynamic_output_shape)
            properties["static_output_shape"] = DenseArrayBase.from_list(i64, type.get_shape())
        else:
            type = TensorType(type.element_type, self.cut(type.get_shape(), dim))
        made = op.create(operands=[source, *sizes], result_types=[type], properties=properties)
        return self.build.insert(made).results[0]

    def generic(self, op: GenericOp, dim: int) -> SSAValue | None:
        """The same of rows, if a parallel loop goes along them; its body sees which ones they are."""
        maps = [each.data for each in op.indexing_maps]
        loop = maps[-1].results[dim]
        if not isinstance(loop, AffineDimExpr):
            return None
        if op.iterator_types.data[loop.position].data is not IteratorType.PARALLEL:
            return None
        taken = [self.taken(operand, map, loop) for operand, map in zip(op.operands, maps, strict=True)]
        operands = [operand for operand in taken if operand is not None]
        if len(operands) < len(taken):
            return None
        body = Region()
        op.body.clone_into(body, value_mapper={value: self.whole(value) for value in captured(op)})
        for place in [place for place in body.walk() if isinstance(place, IndexOp)]:
            if place.dim.value.data == loop.position:
                self.shift(place)
        result, properties = operands[-1].type, dict(op.properties)
        made = op.create(operands=operands, result_types=[result], properties=properties, regions=[body])
        return self.build.insert(made).results[0]

    def taken(self, operand: SSAValue, map: AffineMap, loop: AffineDimExpr) -> SSAValue | None:
        """What a block takes of an operand: its rows along the dimension that a loop goes along, or all."""
        along = [at for at, place in enumerate(map.results) if loop.position in place.used_dims()]
        if not along:
            return self.whole(operand)
        return self.rows_of(operand, along[0]) if [map.results[at] for at in along] == [loop] else None

    def shift(self, place: IndexOp) -> None:
        """Which row it is of all, in the place of which one of the block's."""
        moved = Builder(InsertPoint.after(place)).insert(arith.AddiOp(place.result, self.first))
        place.result.replace_uses_with_if(moved.result, lambda use: use.operation is not moved)


def captured(op: GenericOp) -> Iterator[SSAValue]:
    """What the body of an operation takes from outside."""
    operands = (value for inner in op.body.walk() for value in inner.operands)
    return (value for value in operands if not op.is_ancestor(value.owner))


def outside(build: Builder, value: SSAValue) -> SSAValue:
    """What a call gives of a value: a tensor by its memory."""
    if not isinstance(value.type, TensorType):
        return value
    types, properties = [memory_of(value)], {"read_only": UnitAttr()}
    return build.insert(ToBufferOp.create(operands=[value], result_types=types, properties=properties)).memref


def memory_of(value: SSAValue) -> MemRefType[Any]:
    type: Any = value.type
    return MemRefType(type.element_type, type.get_shape())


def shape_of(value: SSAValue) -> tuple[int, ...]:
    type: Any = value.type
    return tuple(type.get_shape())


def index(build: Builder, number: int) -> SSAValue:
    return build.insert(arith.ConstantOp(IntegerAttr(number, IndexType()))).result


def size_of(build: Builder, buffer: SSAValue, dim: int) -> SSAValue:
    return build.insert(memref.DimOp(buffer, index(build, dim))).result
