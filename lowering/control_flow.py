"""Lowerings of control flow: regions become those of `scf`, on tensors.

What was handed to a region is seen from around it; tensors that change from turn to turn are carried. A turn over elements takes
them out of the whole tensors, and puts what it stacks into a tensor that is carried. The symbol of a loop's turns is its index.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.ancestry import descent_of
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.tensors import SymBoolType, is_tensor_type, tensor_meta
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.tensors import Tensor, lowered_type, storage_type

if TYPE_CHECKING:
    from xdsl_exir.lowering.edge_to_linalg import FunctionLowering


def tensors_of(values: Sequence[SSAValue]) -> list[SSAValue]:
    """Those of the values that are tensors; numbers are what their types say."""
    return [value for value in values if is_tensor_type(value.type)]


def yielded(region: Region) -> list[SSAValue]:
    """What a region yields."""
    end = region.block.last_op
    assert isinstance(end, cf.YieldOp)
    return list(end.values)


def element(builder: LinalgBuilder, value: Tensor, index: Dim) -> Tensor:
    """One element along the leading dimension."""
    sizes = value.shape[1:]
    part = builder.slice(value, [index, *[0] * len(sizes)], (1, *sizes), [1] * value.ndim)
    return builder.reshape(part, sizes)


def with_element(builder: LinalgBuilder, into: Tensor, index: Dim, part: Tensor) -> Tensor:
    """A tensor with one element along its leading dimension replaced."""
    return builder.insert(part, into, [index, *[0] * part.ndim])


class Regions:
    """Lowers the operations with regions of one function."""

    def __init__(self, function: FunctionLowering):
        self.function = function
        self.turns = 0

    def lower(self, builder: LinalgBuilder, op: Operation) -> None:
        """Lowers one operation and all that is in its regions."""
        values = self.function.values
        for operand, arg in cf.shared_arguments(op):
            if is_tensor_type(arg.type):
                values[arg] = builder.retyped(values[operand], tensor_meta(arg.type).shape)
        results = tensors_of(op.results)
        for result, value in zip(results, LOWERINGS[type(op)](self, builder, op), strict=True):
            assert is_tensor_type(result.type)
            values[result] = builder.retyped(value, tensor_meta(result.type).shape)

    # what they are made of

    @contextmanager
    def inside(self, block: Block) -> Generator[LinalgBuilder]:
        """What is lowered meanwhile goes into a block. Sizes that are computed there are seen there only."""
        function = self.function
        outer, symbols = function.block, function.symbols
        function.block, function.symbols = block, dict(symbols)
        yield function.builder()
        function.block, function.symbols = outer, symbols

    def bind(self, builder: LinalgBuilder, args: Sequence[SSAValue], given: Sequence[Tensor]) -> None:
        """Says what the tensors among a region's arguments are."""
        for arg, value in zip(tensors_of(args), given, strict=True):
            assert is_tensor_type(arg.type)
            self.function.values[arg] = builder.retyped(value, tensor_meta(arg.type).shape)

    def operations(self, builder: LinalgBuilder, region: Region) -> list[Tensor]:
        """Lowers what is in a region; the tensors that it yields."""
        for op in region.block.ops:
            self.function.location = descent_of(op)
            if not isinstance(op, cf.YieldOp):
                self.function.operation(builder, op)
        return [self.function.values[value] for value in tensors_of(yielded(region))]

    def predicate(self, builder: LinalgBuilder, value: SSAValue) -> SSAValue:
        """A predicate as i1."""
        if isinstance(value.type, SymBoolType):
            condition = value.type.data
            return self.condition(builder, condition if isinstance(condition, Expr) else int(condition))
        given = self.function.values[value]
        element = tensor.ExtractOp(given.value, [builder.size(0)] * given.ndim, storage_type(given.dtype))
        return builder.add(arith.CmpiOp(builder.add(element), builder.constant(False, given.dtype), "ne"))

    def condition(self, builder: LinalgBuilder, holds: Dim) -> SSAValue:
        """Whether a number is not 0, as i1."""
        return builder.add(arith.CmpiOp(builder.size(holds), builder.size(0), "ne"))

    def end(self, builder: LinalgBuilder, values: Sequence[Tensor], like: Sequence[Tensor]) -> None:
        """Ends a block with values in the types of others."""
        typed = [builder.retyped(value, to.shape).value for value, to in zip(values, like, strict=True)]
        self.function.insert(scf.YieldOp(*typed))

    def results(self, op: Operation, like: Sequence[Tensor]) -> list[Tensor]:
        """Inserts an operation; its results, as tensors like others."""
        self.function.insert(op)
        return [Tensor(value, to.shape, to.dtype) for value, to in zip(op.results, like, strict=True)]

    def empty(self, builder: LinalgBuilder, values: Sequence[SSAValue]) -> list[Tensor]:
        """Tensors for results that are put together."""
        metas = [tensor_meta(value.type) for value in values if is_tensor_type(value.type)]
        return [Tensor(builder.empty(meta.shape, meta.dtype), meta.shape, meta.dtype) for meta in metas]

    def turns_of(
        self,
        builder: LinalgBuilder,
        count: Dim,
        carried: Sequence[Tensor],
        turn: Callable[[LinalgBuilder, Expr, list[Tensor]], Sequence[Tensor]],
    ) -> list[Tensor]:
        """A loop that counts up to a size. `turn` gets its number and what is carried, and gives what is carried on."""
        start, stop, step = builder.size(0), builder.size(count), builder.size(1)
        block = Block(arg_types=[IndexType(), *(value.value.type for value in carried)])
        name = f"turn{self.turns}"
        self.turns += 1
        with self.inside(block) as inner:
            self.function.symbols[name] = block.args[0]
            now = [Tensor(arg, to.shape, to.dtype) for arg, to in zip(block.args[1:], carried, strict=True)]
            self.end(inner, turn(inner, Expr.symbol(name), now), carried)
        return self.results(scf.ForOp(start, stop, step, [value.value for value in carried], block), carried)

    def elements(
        self, builder: LinalgBuilder, xs: Sequence[SSAValue], args: Sequence[SSAValue], turn: Dim
    ) -> None:
        """Binds arguments to one element of each of `xs`."""
        values = self.function.values
        self.bind(builder, args, [element(builder, values[x], turn) for x in xs])

    # operations

    def cond(self, builder: LinalgBuilder, op: cf.CondOp) -> list[Tensor]:
        predicate = self.predicate(builder, op.pred)
        metas = [tensor_meta(value.type) for value in op.outputs if is_tensor_type(value.type)]
        blocks: list[Block] = []
        for region in (op.true_region, op.false_region):
            blocks.append(Block())
            with self.inside(blocks[-1]) as inner:
                values = self.operations(inner, region)
                typed = [inner.retyped(v, meta.shape) for v, meta in zip(values, metas, strict=True)]
                self.end(inner, typed, typed)
        types = [lowered_type(meta) for meta in metas]
        made = scf.IfOp(predicate, types, [blocks[0]], [blocks[1]])
        self.function.insert(made)
        return [Tensor(v, meta.shape, meta.dtype) for v, meta in zip(made.results, metas, strict=True)]

    def while_loop(self, builder: LinalgBuilder, op: cf.WhileLoopOp) -> list[Tensor]:
        values, count = self.function.values, len(op.carried_inputs)
        args = [region.block.args[:count] for region in (op.cond_region, op.body_region)]
        self.bind(builder, args[0], [values[value] for value in tensors_of(op.carried_inputs)])
        carried = [values[arg] for arg in tensors_of(args[0])]
        types = [value.value.type for value in carried]
        before, after = Block(arg_types=types), Block(arg_types=types)

        def now(block: Block) -> list[Tensor]:
            return [Tensor(arg, to.shape, to.dtype) for arg, to in zip(block.args, carried, strict=True)]

        with self.inside(before) as inner:
            self.bind(inner, args[0], now(before))
            self.operations(inner, op.cond_region)
            condition = self.predicate(inner, yielded(op.cond_region)[0])
            self.function.insert(scf.ConditionOp(condition, *before.args))
        with self.inside(after) as inner:
            self.bind(inner, args[1], now(after))
            self.end(inner, self.operations(inner, op.body_region), carried)
        made = scf.WhileOp([value.value for value in carried], types, [before], [after])
        return self.results(made, carried)

    def map(self, builder: LinalgBuilder, op: cf.MapOp) -> list[Tensor]:
        def turn(inner: LinalgBuilder, index: Expr, made: list[Tensor]) -> list[Tensor]:
            self.elements(inner, op.xs, op.body_region.block.args[: len(op.xs)], index)
            parts = self.operations(inner, op.body_region)
            return [with_element(inner, to, index, part) for to, part in zip(made, parts, strict=True)]

        return self.turns_of(builder, self.length(op.xs), self.empty(builder, op.outputs), turn)

    def scan(self, builder: LinalgBuilder, op: cf.ScanOp) -> list[Tensor]:
        values, args = self.function.values, op.combine_region.block.args
        first, last = len(op.init), len(op.init) + len(op.xs)
        self.bind(builder, args[:first], [values[value] for value in tensors_of(op.init)])
        carried = [values[arg] for arg in tensors_of(args[:first])]
        count = len(carried)

        def turn(inner: LinalgBuilder, index: Expr, now: list[Tensor]) -> list[Tensor]:
            self.bind(inner, args[:first], now[:count])
            self.elements(inner, op.xs, args[first:last], index)
            results = self.operations(inner, op.combine_region)
            stacked = zip(now[count:], results[count:], strict=True)
            return [*results[:count], *(with_element(inner, to, index, part) for to, part in stacked)]

        made = self.empty(builder, op.outputs[first:])
        return self.turns_of(builder, self.length(op.xs), [*carried, *made], turn)

    def associative_scan(self, builder: LinalgBuilder, op: cf.AssociativeScanOp) -> list[Tensor]:
        values, args, count = self.function.values, op.combine_region.block.args, len(op.xs)

        def turn(inner: LinalgBuilder, index: Expr, made: list[Tensor]) -> list[Tensor]:
            self.bind(inner, args[:count], [element(inner, value, index) for value in made])
            self.elements(inner, op.xs, args[count : 2 * count], index + 1)
            parts = self.operations(inner, op.combine_region)
            return [with_element(inner, to, index + 1, part) for to, part in zip(made, parts, strict=True)]

        # The first element is its own prefix; the others are replaced.
        return self.turns_of(builder, self.length(op.xs) - 1, [values[x] for x in op.xs], turn)

    def length(self, xs: Sequence[SSAValue]) -> Dim:
        """How many elements there are along the leading dimension."""
        return self.function.values[xs[0]].shape[0]


LOWERINGS: dict[type[Operation], Callable[..., list[Tensor]]] = {
    cf.CondOp: Regions.cond,
    cf.WhileLoopOp: Regions.while_loop,
    cf.MapOp: Regions.map,
    cf.ScanOp: Regions.scan,
    cf.AssociativeScanOp: Regions.associative_scan,
}
"""How each operation with regions is lowered."""
