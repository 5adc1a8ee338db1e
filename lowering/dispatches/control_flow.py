"""Control flow in the driver: branches and loops whose bodies are cut into dispatches like what is around them.

A region sees its operands and nothing else, so they are put in memory before it begins; its results are copied where the
operation's are, which makes all turns of a loop use the same buffers. A turn of a loop over elements sees them, and what it
stacks, as views at an offset.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.expr import Dim, Expr, apply, provably
from xdsl_exir.dialects.tensors import SymBoolType, is_tensor_type
from xdsl_exir.lowering.dispatches.buffers import Shape, Value
from xdsl_exir.lowering.driver import Predicate
from xdsl_exir.lowering.edge_to_linalg import meta_of

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner

# --- planning ------------------------------------------------------------------------------------------------


def named(value: Value, shape: Shape) -> Value:
    """The value with other names for its sizes."""
    return Value(value.buffer, shape, value.dtype, () if value.is_contiguous else value.strides, value.offset)


def element(value: Value, index: Dim) -> Value:
    """One element along the leading dimension."""
    stride, *strides = value.strides
    return Value(value.buffer, value.shape[1:], value.dtype, tuple(strides), value.offset + index * stride)


class Regions:
    """Plans the operations with regions."""

    def __init__(self, planner: Planner):
        self.planner = planner
        self.loops = 0

    def plan(self, op: Operation) -> None:
        """Plans one operation and all that is in its regions."""
        planner = self.planner
        planner.flush()
        for value in op.operands:
            if is_tensor_type(value.type):
                planner.value(value)
        for operand, arg in cf.shared_arguments(op):
            if is_tensor_type(arg.type):
                self.bind(arg, planner.value(operand))
        PLANS[type(op)](self, op)

    # what regions are made of

    def bind(self, arg: SSAValue, value: Value) -> None:
        """Says what an argument of a region is."""
        if arg not in self.planner.constants:
            self.planner.values[arg] = named(value, meta_of(arg).shape)

    def copy(self, source: Value, target: Value) -> None:
        """Copies a value to another one, whose sizes may have other names."""
        self.planner.copy(named(source, target.shape), target)

    def yielded(self, region: Region) -> list[SSAValue]:
        """The tensors that a region yields."""
        end = region.block.last_op
        assert isinstance(end, cf.YieldOp)
        return [value for value in end.values if is_tensor_type(value.type)]

    def predicate(self, value: SSAValue) -> SSAValue:
        """A predicate's i1."""
        said: Predicate = (
            value.type.data if isinstance(value.type, SymBoolType) else self.planner.value(value)
        )
        return self.planner.driver.predicate(said)

    def region(self, region: Region) -> list[Value]:
        """Plans what is in a region; the tensors that it yields."""
        self.planner.block(region.block)
        return [self.planner.value(value) for value in self.yielded(region)]

    @contextmanager
    def turns(self, xs: Sequence[SSAValue], length: Dim) -> Generator[Expr]:
        """A loop over elements; gives the symbol of its turns."""
        plan = self.planner.plan
        whole = cf.leading_dimension([x.type for x in xs])
        condition = apply("gt", whole, 0)
        if isinstance(condition, Expr) and not provably(condition, self.planner.ranges):
            plan.checks.append((condition, f"a leading dimension of {whole} must be positive"))
        turn = f"turn{self.loops}"
        self.loops += 1
        with self.planner.driver.loop(turn, length):
            yield Expr.symbol(turn)

    def carry(self, values: Sequence[Value], carried: Sequence[Value]) -> None:
        """Copies what a turn yields to where the next one finds it."""
        buffers = {value.buffer for value in carried}
        moved = [(named(value, to.shape), to) for value, to in zip(values, carried, strict=True)]
        moved = [(value, to) for value, to in moved if value != to]
        # What is in the way of others is put aside.
        aside: list[tuple[Value, Value]] = []
        for value, to in moved:
            if value.buffer in buffers:
                copy = self.planner.allocate(to.shape, to.dtype)
                self.copy(value, copy)
                value = copy
            aside.append((value, to))
        for value, to in aside:
            self.copy(value, to)

    def start(self, args: Sequence[SSAValue], inputs: Sequence[SSAValue]) -> list[Value]:
        """Buffers for the carried tensors among a region's arguments, with their first values."""
        carried: list[Value] = []
        for arg, given in zip(args, inputs, strict=True):
            if is_tensor_type(arg.type):
                value = self.planner.make(arg)
                self.copy(self.planner.value(given), value)
                carried.append(value)
        return carried

    def results(self, results: Sequence[SSAValue], values: Sequence[Value]) -> None:
        """Says where the tensors among an operation's results are."""
        tensors = [result for result in results if is_tensor_type(result.type)]
        for result, value in zip(tensors, values, strict=True):
            self.planner.values[result] = named(value, meta_of(result).shape)

    # operations

    def cond(self, op: cf.CondOp) -> None:
        driver = self.planner.driver
        made = [self.planner.make(result) for result in op.outputs if is_tensor_type(result.type)]
        blocks = Block(), Block()
        driver.add(scf.IfOp(self.predicate(op.pred), [], [blocks[0]], [blocks[1]]))
        for region, block in zip((op.true_region, op.false_region), blocks, strict=True):
            with driver.inside(block):
                for value, result in zip(self.region(region), made, strict=True):
                    self.copy(value, result)
                driver.add(scf.YieldOp())

    def while_loop(self, op: cf.WhileLoopOp) -> None:
        planner, driver = self.planner, self.planner.driver
        count = len(op.carried_inputs)
        condition, body = op.cond_region.block, op.body_region.block
        carried = self.start(condition.args[:count], op.carried_inputs)
        self.results(body.args[:count], carried)
        before, after = Block(), Block()
        driver.add(scf.WhileOp([], [], Region(before), Region(after)))
        with driver.inside(before):
            planner.block(condition)
            end = condition.last_op
            assert isinstance(end, cf.YieldOp)
            driver.add(scf.ConditionOp(self.predicate(end.values[0])))
        with driver.inside(after):
            self.carry(self.region(op.body_region), carried)
            driver.add(scf.YieldOp())
        self.results(op.outputs, carried)

    def stack(self, xs: Sequence[SSAValue], args: Sequence[SSAValue], turn: Dim) -> None:
        """Binds arguments to one element of each of `xs`."""
        for x, arg in zip(xs, args, strict=True):
            self.bind(arg, element(self.planner.value(x), turn))

    def map(self, op: cf.MapOp) -> None:
        made = [self.planner.make(result) for result in op.outputs]
        with self.turns(op.xs, meta_of(op.xs[0]).shape[0]) as turn:
            self.stack(op.xs, op.body_region.block.args[: len(op.xs)], turn)
            for value, result in zip(self.region(op.body_region), made, strict=True):
                self.copy(value, element(result, turn))

    def scan(self, op: cf.ScanOp) -> None:
        args = op.combine_region.block.args
        first, last = len(op.init), len(op.init) + len(op.xs)
        carried = self.start(args[:first], op.init)
        stacked = [self.planner.make(result) for result in op.outputs[first:]]
        with self.turns(op.xs, meta_of(op.xs[0]).shape[0]) as turn:
            self.stack(op.xs, args[first:last], turn)
            values = self.region(op.combine_region)
            for value, result in zip(values[len(carried) :], stacked, strict=True):
                self.copy(value, element(result, turn))
            self.carry(values[: len(carried)], carried)
        self.results(op.outputs[:first], carried)

    def associative_scan(self, op: cf.AssociativeScanOp) -> None:
        args, count = op.combine_region.block.args, len(op.xs)
        made = [self.planner.make(result) for result in op.outputs]
        for x, result in zip(op.xs, made, strict=True):
            self.copy(element(self.planner.value(x), 0), element(result, 0))
        with self.turns(op.xs, meta_of(op.xs[0]).shape[0] - 1) as turn:
            for arg, result in zip(args[:count], made, strict=True):
                self.bind(arg, element(result, turn))
            self.stack(op.xs, args[count : 2 * count], turn + 1)
            for value, result in zip(self.region(op.combine_region), made, strict=True):
                self.copy(value, element(result, turn + 1))


PLANS: dict[type[Operation], Callable[..., None]] = {
    cf.CondOp: Regions.cond,
    cf.WhileLoopOp: Regions.while_loop,
    cf.MapOp: Regions.map,
    cf.ScanOp: Regions.scan,
    cf.AssociativeScanOp: Regions.associative_scan,
}
"""How each operation with regions is planned."""
