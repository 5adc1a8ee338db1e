"""Cutting an edge program into dispatches: a driver that calls one function after another on planned buffers.

A *dispatch* is a function in destination-passing style: what a kernel of the target takes (`lowering.target`), as a matrix product with
what follows it, or a chain of elementwise operators and reductions row by row; or a group of other operators, lowered to linalg
and fused by MLIR (`dispatches.groups`). What does not depend on the program's inputs is computed once, when it is
compiled: weights are packed for their kernels, constants folded. Operators that only rearrange how elements are seen
(`view`, `permute`, `expand`, `slice`) are views of buffers.

The driver (`lowering.driver`) is a function over memrefs: its arguments are inputs, constants and outputs; what is in between it
allocates (`plan-memory` makes that parts of one arena). Sizes may be symbolic: then the driver takes the program's symbols before all
else, and no code depends on their values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim, Expr, prod, provably
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import (
    OUTPUT,
    OutputAttr,
    checked_ranges_of,
    guards_of,
    held_ranges_of,
    ranges_of,
)
from xdsl_exir.dialects.sizes import is_static, is_symbol
from xdsl_exir.dialects.sizes import symbols_of as free_symbols
from xdsl_exir.dialects.tensors import SymIntType, SymType, is_tensor_type, tensor_meta
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.locations import location_text
from xdsl_exir.lowering.dispatches.assertions import asserted, assumed
from xdsl_exir.lowering.dispatches.boundaries import Boundaries, Formed
from xdsl_exir.lowering.dispatches.buffers import (
    ALIGNMENT,
    NAME,
    Array,
    Buffer,
    Dispatches,
    Place,
    Plan,
    Sizes,
    Value,
    value_for,
)
from xdsl_exir.lowering.dispatches.control_flow import Regions
from xdsl_exir.lowering.dispatches.groups import LARGE_SIZE, copies, groups_of
from xdsl_exir.lowering.dispatches.outline import Body, copied
from xdsl_exir.lowering.dispatches.updates import Updates, update, updates_of, write_to_copy
from xdsl_exir.lowering.dispatches.views import expanded, is_view, permuted, views_of
from xdsl_exir.lowering.driver import SYMBOLS, Driver
from xdsl_exir.lowering.edge_to_linalg import meta_of, obstacle
from xdsl_exir.lowering.kernel import Kernel
from xdsl_exir.lowering.reads import obstacle_to_reads, ranges_of_reads, reads_of, size_of
from xdsl_exir.lowering.sizes import solve, typical
from xdsl_exir.lowering.target import CodeTarget
from xdsl_exir.transforms.fold_constants import Folding
from xdsl_exir.transforms.forget_sizes import is_number
from xdsl_exir.transforms.numbers_to_tensors import is_item

__all__ = ["ALIGNMENT", "NAME", "Array", "Buffer", "Dispatches", "Plan", "Planner", "Value"]


def symbols_taken(function: FuncOp) -> list[str]:
    """The symbols that a function takes, in order."""
    names = function.attributes.get(SYMBOLS)
    return [name.data for name in names] if isa(names, ArrayAttr[StringAttr]) else []


def symbol_places(types: Sequence[Attribute]) -> dict[str, Place]:
    """Where values of these types say symbols, by symbol: as their sizes, or as numbers themselves. Positions are among the values."""
    places: list[tuple[Dim, int, int | None]] = []
    for position, type in enumerate(types):
        if isinstance(type, SymIntType):
            places.append((type.data, position, None))
        elif is_tensor_type(type):
            places += [(size, position, dim) for dim, size in enumerate(tensor_meta(type).shape)]
    said: dict[str, Place] = {}
    # A size that is a symbol says it as it is; one of another form has to be solved.
    for size, position, dim in sorted(places, key=lambda place: not is_symbol(place[0])):
        free = size.free_symbols() if isinstance(size, Expr) else frozenset[str]()
        if len(free) == 1 and solve(size, 0) is not None:
            (symbol,) = free
            said.setdefault(symbol, Place(position, dim, size))
    return said


def dim_orders(function: FuncOp) -> dict[int, Sequence[int]]:
    """By position of a result, the order of dimensions in which the function says that it lies in memory."""
    found: dict[int, Sequence[int]] = {}
    for position, attrs in enumerate(function.res_attrs or ()):
        spec = attrs.data.get(OUTPUT)
        if isinstance(spec, OutputAttr) and spec.data.dim_order is not None:
            found[position] = spec.data.dim_order
    return found


class Planner:
    """Plans one function of an edge module."""

    def __init__(
        self,
        function: FuncOp,
        state: Mapping[SSAValue, Array | TensorData],
        target: CodeTarget,
        dispatches: Dispatches,
        boundaries: Boundaries | None = None,
        laid: bool = False,
    ):
        self.function = function
        self.orders = dim_orders(function) if laid else {}
        """By position of a result, the order in which its dimensions are to lie in memory."""
        self.dispatches = dispatches
        self.target = target
        self.boundaries = boundaries or Boundaries()
        """What the program says of what goes into one dispatch."""
        self.formed: list[Formed] = []
        """The dispatches of the program's operators, in order."""
        self.plan = Plan()
        self.driver = Driver()
        folding = Folding(function, state, inner=True, lowers=lambda op: obstacle(op) is None)
        self.constants, self.folded = folding.known, folding.folded
        self.values: dict[SSAValue, Value] = {}
        """What lies in memory already."""
        self.pending: dict[OperatorOp, None] = {}
        """Operators that wait for their group's dispatch, in order."""
        self.identities: dict[SSAValue, SSAValue] = {}
        """Values that are the same as another one in memory: what made them is done elsewhere."""
        self.copied: dict[Buffer, Value] = {}
        """What buffers are copies of."""
        self.absorbed: set[Operation] = set()
        """Operations that are part of a dispatch before them."""
        self.bound: dict[int, Value] = {}
        """Constants that are arguments already, by the identity of their arrays."""
        self.kept: list[Array] = []
        """Those arrays: an identity means something while its object lives."""
        self.positions = {op: position for position, op in enumerate(function.walk())}
        self.updates = Updates()
        self.ranges = checked_ranges_of(function) | held_ranges_of(function)
        self.bounds = ranges_of(function)
        """What symbols are said to be, whether that is checked or not."""
        self.guards = guards_of(function)
        self.read_from: list[SSAValue] = []
        """The elements that the plan's reads are, in order."""
        self.regions = Regions(self)
        returned = function.get_return_op()
        assert returned is not None
        self.returned: ReturnOp = returned

    def run(self, name: str) -> Plan:
        """The plan, its driver called `name`. Raises `UnsupportedError` listing everything in the way, before any work is done."""
        self.find_symbols()
        blocking = [
            Unsupported(op.name, reason, location_text(op))
            for op in self.function.walk()
            if not self.is_constant(op)
            and not self.target.takes(op)
            and (reason := self.obstacle(op)) is not None
        ]
        blocking = blocking or [
            Unsupported(symbol, "a symbol that is no size of an input")
            for symbol in sorted(self.unknown_symbols())
        ]
        if blocking:
            raise UnsupportedError(blocking)
        self.updates = updates_of(self.function, self.boundaries)
        for arg in self.function.args:
            if arg not in self.constants and is_tensor_type(arg.type):
                self.values[arg] = self.passed(arg)
                self.driver.argument(self.values[arg])
                self.plan.inputs.append(self.values[arg])
        self.block(self.function.body.block)
        self.driver.source = self.returned
        self.finish()
        self.boundaries.check(self.formed)
        self.plan.driver = self.driver.function(name, list(self.plan.symbols))
        return self.plan

    def obstacle(self, op: Operation) -> str | None:
        """Why an operation cannot be lowered; None where it can."""
        return obstacle_to_reads(op, self.plan.reads) if self.plan.reads else obstacle(op)

    def block(self, block: Block) -> None:
        """Makes dispatches of all that is in a block."""
        for op in block.ops:
            if op in self.absorbed or self.is_constant(op):
                continue
            if isinstance(op, OperatorOp):
                self.operator(op)
            elif isinstance(op, cf.OPERATIONS):
                self.driver.source = op
                self.regions.plan(op)
        self.flush()

    def operator(self, op: OperatorOp) -> None:
        """Keeps what an operator asks of symbols, and does what it does."""
        for condition, message in (*asserted(op), *assumed(op)):
            self.require(condition, message)
        if is_item(op):
            self.read(op)
        elif not (is_number(op) or is_view(op)) and op.results:
            self.compute(op)  # all others are parts of sizes, or made when asked for

    def compute(self, op: OperatorOp) -> None:
        """Makes a dispatch of what an operator computes, or lets it wait for its group."""
        self.driver.source = op
        if op in self.updates.operators:
            update(self, op)
        elif not self.target.dispatch(self, op) and not write_to_copy(self, op):
            self.pending[op] = None

    # symbols

    def find_symbols(self) -> None:
        """Finds where a call sees the values of the symbols that sizes depend on."""
        self.plan.symbols = symbol_places(self.function.function_type.inputs.data)
        for symbol in self.plan.symbols:
            self.driver.symbol(symbol)
        self.plan.reads = self.driver.most = reads_of(self.function, self.constants)
        self.ranges |= ranges_of_reads(self.plan.reads)
        self.bounds |= ranges_of_reads(self.plan.reads)

    def read(self, op: OperatorOp) -> None:
        """Makes a number in memory a symbol."""
        (element,) = op.operands
        self.driver.read(str(size_of(op)), self.value(element))
        self.read_from.append(element)

    def unknown_symbols(self) -> set[str]:
        """Symbols that values' types name and no input says."""
        blocks = list(self.function.walk_blocks())
        values = [arg for block in blocks for arg in block.args]
        values += [result for block in blocks for op in block.ops for result in op.results]
        sizes = [size for value in values if is_tensor_type(value.type) for size in meta_of(value).shape]
        return free_symbols(sizes) - self.plan.symbols.keys() - self.plan.reads.keys()

    def is_large(self, values: Sequence[Value]) -> bool:
        """Whether there are values with many elements, symbolic sizes taken to be typical."""
        return max((self.usual(prod(value.shape)) for value in values), default=0) >= LARGE_SIZE

    def usual(self, size: Dim) -> float:
        """What a size is, symbols taken to be typical."""
        return typical(size, self.bounds)

    def require(self, condition: Dim, message: str) -> None:
        """Keeps what has to hold of a call's symbols, unless it does for all their values."""
        known = (
            not isinstance(condition, Expr) or condition in self.guards or provably(condition, self.ranges)
        )
        if not known and (condition, message) not in self.plan.checks:
            self.plan.checks.append((condition, message))

    # constants

    def is_constant(self, op: Operation) -> bool:
        """Whether it is known what an operation gives."""
        return op in self.folded

    def constant(self, array: Array, dtype: DType) -> Value:
        """A constant as an argument of the driver."""
        known = self.bound.get(id(array))
        if known is not None:
            return known
        contiguous = np.ascontiguousarray(array).reshape(array.shape)
        value = Value(Buffer(contiguous.nbytes), contiguous.shape, dtype)
        self.driver.argument(value)
        self.plan.constants.append((value, contiguous))
        self.bound[id(array)] = value
        self.kept.append(array)
        return value

    def splat(self, value: SSAValue) -> float | int | bool | None:
        """The number that fills a constant, if one does."""
        array = self.constants.splat(value)
        if array is None:
            return None
        return array.flat[0].item() if meta_of(value).dtype.category is not Category.COMPLEX else None

    def arguments_of(self, op: OperatorOp) -> dict[str, Any]:
        """An operator's arguments; tensors are their SSA values, or the numbers that fill them."""

        def argument(value: SSAValue) -> Any:
            number = self.splat(value)
            return value if number is None else number

        return op.arguments(argument)

    # values

    def position(self, op: Operation) -> int:
        """Where an operation stands in the program."""
        return self.positions[op]

    def root(self, value: SSAValue) -> SSAValue:
        """What a value is a view of."""
        while value not in self.values and value not in self.constants:
            if value in self.identities:
                value = self.identities[value]
            elif isinstance(value.owner, OperatorOp) and is_view(value.owner):
                value = value.owner.operands[0]
            else:
                break
        return value

    def is_available(self, value: SSAValue, at: SSAValue) -> bool:
        """Whether a value can be had before `at` is computed."""
        root = self.root(value)
        return root in self.values or root in self.constants or root.owner in self.pending

    def value(self, value: SSAValue) -> Value:
        """A value in memory; makes it if it waits, is a constant, or a view."""
        at = value
        views: list[OperatorOp] = []
        while at not in self.values and at not in self.constants:
            if at in self.identities:
                at = self.identities[at]
            elif isinstance(at.owner, OperatorOp) and is_view(at.owner):
                views.append(at.owner)
                at = at.owner.operands[0]
            else:
                self.flush()
                break
        for op in reversed(views):
            if op.results[0] not in self.values:
                self.see(op)
        while value in self.identities and value not in self.values and value not in self.constants:
            value = self.identities[value]
        if value in self.values:
            return self.values[value]
        meta = meta_of(value)
        # A number that fills a symbolic shape is one element, repeated.
        return expanded(self.constant(self.constants[value], meta.dtype), meta.shape)

    def see(self, op: OperatorOp) -> None:
        """Makes a view operator's results; where strides cannot say them, of a copy."""
        source = self.value(op.operands[0])
        views = views_of(source, op)
        if None in views:
            views = views_of(self.contiguous(source), op)
        for result, view in zip(op.results, views, strict=True):
            assert view is not None
            self.values[result] = view

    def contiguous(self, value: Value) -> Value:
        """The value, or a copy of it, without gaps and from its buffer's beginning."""
        if value.is_plain:
            return value
        copy = self.allocate(value.shape, value.dtype)
        self.copy(value, copy)
        self.copied[copy.buffer] = value
        return copy

    def plain(self, value: Value) -> Value:
        """The value, or a copy, as kernels take operands: with strides, but neither repeated nor with an offset."""
        return self.contiguous(value) if value.offset or 0 in value.strides else value

    def passed(self, value: SSAValue) -> Value:
        """An array that the driver is given for a tensor."""
        return value_for(meta_of(value))

    def allocate(self, shape: Sequence[Dim], dtype: DType, strides: Sizes | None = None) -> Value:
        """Memory of the driver's own, from the next dispatch on."""
        nbytes = prod(shape) * dtype.itemsize or 1
        value = Value(Buffer(nbytes), tuple(shape), dtype, strides or ())
        self.driver.allocate(value, int(self.usual(nbytes)))
        return value

    def make(self, value: SSAValue, strides: Sizes | None = None) -> Value:
        """Memory for a value."""
        meta = meta_of(value)
        self.values[value] = self.allocate(meta.shape, meta.dtype, strides)
        return self.values[value]

    def scratch(self, shape: Sequence[Dim]) -> Value:
        """A float32 buffer for one dispatch."""
        return self.allocate(shape, dt.Float)

    def unscale(self, value: SSAValue, user: OperatorOp) -> tuple[float, list[OperatorOp]]:
        """Takes a multiplication by a number, which waits, out of what a value is made of; gives the number, and what multiplied.

        For users to whom it does not matter when it happens: a matrix product's operand is scaled in the result.
        """
        root = self.root(value)
        op = root.owner
        if (
            not isinstance(op, OperatorOp)
            or op not in self.pending
            or op.SPEC.qualified_name != "aten.mul.Tensor"
            or not self.boundaries.are_together(op, user)
        ):
            return 1.0, []
        numbers = [self.splat(operand) for operand in op.operands]
        scaled = next((o for o, n in zip(op.operands, numbers, strict=True) if n is None), None)
        factor = next((n for n in numbers if n is not None), None)
        if scaled is None or factor is None or scaled.type != root.type or not self.is_private(root, value):
            return 1.0, []
        del self.pending[op]
        self.identities[root] = scaled
        return float(factor), [op]

    def is_private(self, root: SSAValue, value: SSAValue) -> bool:
        """Whether a value, which is a view of `root`, is all that is used of it, and once."""
        while value is not root:
            if not value.has_one_use():
                return False
            owner = value.owner
            assert isinstance(owner, OperatorOp)
            value = self.identities.get(value, owner.operands[0])
        return root.has_one_use()

    # dispatches

    def call_kernel(
        self,
        kernel: Kernel,
        arguments: Sequence[Value],
        body: Callable[[], Body | None],
        ops: Sequence[OperatorOp],
    ) -> None:
        """Calls a dispatch of operators that has a kernel; `body` says what it computes."""
        self.formed.append(Formed(type(kernel).__name__, ops))
        self.driver.call(self.dispatches.kernel(kernel, body), kernel.symbols, arguments)

    def call_function(
        self, function: FuncOp, arguments: Sequence[Value], ops: Sequence[OperatorOp] = ()
    ) -> None:
        """Calls a dispatch of operators, or of copies alone, that MLIR lowers."""
        if ops:
            self.formed.append(Formed(None, ops))
        self.driver.call(self.dispatches.function("group", function), symbols_taken(function), arguments)

    def copy(self, source: Value, target: Value) -> None:
        """Copies a value to another of its shape."""
        found = self.target.copy(source, target)
        if found is None:
            self.call_function(copies([(source, target)], self.is_large([source])), [source, target])
        else:
            kernel, arguments = found
            self.call_kernel(kernel, arguments, lambda: copied(source, target, arguments), [])

    def flush(self) -> None:
        """Makes dispatches of the operators that wait."""
        if not self.pending:
            return
        groups = groups_of(self, list(self.pending))
        self.pending = {}
        for group in groups:
            outputs = [r for op in group.ops for r in op.results if self.is_used_outside(r, group.inside)]
            if outputs:
                self.driver.source = group.ops[-1]
                group.dispatch(outputs)

    def is_used_outside(self, value: SSAValue, inside: set[Operation]) -> bool:
        """Whether a value, or a view of it, is used by other operations than these. What only needs its type is known already."""
        left = [value]
        while left:
            for use in left.pop().uses:
                results = use.operation.results
                if self.is_constant(use.operation):
                    continue
                if is_view(use.operation) or any(result in self.identities for result in results):
                    left += results
                elif use.operation not in inside:
                    return True
        return False

    # the end

    def finish(self) -> None:
        """Puts results where the caller wants them."""
        given = [self.result(operand, at) for at, operand in enumerate(self.returned.operands)]
        for position, (operand, value) in enumerate(zip(self.returned.operands, given, strict=True)):
            if isinstance(operand.type, SymType):
                self.plan.numbers[position] = operand.type.data
            elif position in self.updates.results:
                self.plan.updates[position] = self.input_of(self.updates.results[position])
            else:
                self.output(operand, value, self.orders.get(position))
        for element in self.read_from:
            self.output(element, self.contiguous(self.value(element)), None)

    def input_of(self, argument: SSAValue) -> int:
        """Which of the driver's inputs an argument is."""
        buffer = self.values[argument].buffer
        return next(at for at, given in enumerate(self.plan.inputs) if given.buffer is buffer)

    def result(self, operand: SSAValue, position: int) -> Value | None:
        """A result in memory, without gaps, its dimensions in the order in which they lie; None of a number, and of a constant, which is the caller's to copy."""
        if isinstance(operand.type, SymType) or (
            operand in self.constants and is_static(meta_of(operand).shape)
        ):
            return None
        value, order = self.value(operand), self.orders.get(position)
        return self.contiguous(value if order is None else permuted(value, order))

    def output(self, operand: SSAValue, value: Value | None, order: Sequence[int] | None) -> None:
        """Makes a result an argument of the driver, its dimensions in an order."""
        index, output = len(self.plan.outputs), self.passed(operand)
        if value is not None and order is not None:
            output = Value(output.buffer, value.shape, output.dtype)
            self.plan.orders[index] = order
        taken = value is not None and value.is_whole and not value.buffer.is_argument
        if value is not None and taken:  # the buffer is the caller's from the start
            output = Value(value.buffer, output.shape, output.dtype)
            self.driver.replace(value.buffer, output)
        else:
            self.driver.argument(output)
        self.plan.outputs.append(output)
        if value is None:
            self.plan.copies.append((index, self.constants[operand]))
        elif not taken and value.is_whole and (source := self.source_of(value)) is not None:
            self.plan.copies.append((index, source))
        elif not taken:
            self.copy(value, output)

    def source_of(self, value: Value) -> int | None:
        """Which input or output a value in one of the driver's arguments is, as in `Plan.copies`; None of a constant, and of parts of complex
        numbers."""
        given = [*enumerate(self.plan.inputs), *((-1 - i, v) for i, v in enumerate(self.plan.outputs))]
        same = (at for at, v in given if v.buffer is value.buffer and v.dtype is value.dtype)
        return next(same, None)
