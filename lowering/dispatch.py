"""Cutting an edge program into dispatches: a driver that calls one function after another on planned buffers.

A *dispatch* is a function in destination-passing style: a matrix product or convolution with what follows it, written
by a schedule (`schedules`), or a group of other operators, lowered to linalg and fused by MLIR. What does not depend on
the program's inputs is computed once, when it is compiled: weights are packed for their schedules, batch norms folded
into convolutions, constants folded. Operators that only rename elements (`view`, `unsqueeze`) rename a buffer.

The driver's arguments are pointers: inputs, constants, outputs and one arena that holds all other buffers, planned by
their lifetimes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import bufferization
from xdsl.dialects.builtin import MemRefType, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.printer import Printer

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.lowering.edge_to_linalg import FunctionLowering, meta_of, obstacle
from xdsl_exir.lowering.folding import folded
from xdsl_exir.lowering.linalg import static_shape, storage_type
from xdsl_exir.lowering.schedules import Conv2d, Epilogue, Input, Machine, Matmul
from xdsl_exir.lowering.schedules.text import Text
from xdsl_exir.errors import UnsupportedError, Unsupported
from xdsl_exir.locations import location_text

Array = np.ndarray[Any, np.dtype[Any]]

ALIGNMENT = 64
"""Bytes: a cache line, and an AVX-512 register."""

# --- buffers -------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Buffer:
    """Memory of the driver: an argument or a part of the arena."""

    nbytes: int
    argument: str | None = None
    """Name of the driver's argument; None for a part of the arena."""
    first: int = 0
    last: int = 0
    """Dispatches that make and last use a part of the arena."""
    offset: int = 0
    """Bytes into the arena."""


@dataclass(frozen=True)
class Value:
    """A tensor in memory, contiguous: a buffer and how it is read."""

    buffer: Buffer
    shape: tuple[int, ...]
    dtype: DType

    @property
    def type(self) -> str:
        """Its memref type."""
        return memref_text(self.shape, self.dtype)


def memref_text(shape: Sequence[int], dtype: DType) -> str:
    return f"memref<{''.join(f'{size}x' for size in shape)}{storage_type(dtype)}>"


@dataclass
class Call:
    """A call of a dispatch by the driver."""

    function: str
    arguments: list[Value]


@dataclass
class Plan:
    """A method cut into dispatches, ready to be written as one module."""

    inputs: list[Value] = field(default_factory=list[Value])
    constants: list[tuple[Value, Array]] = field(default_factory=list[tuple[Value, Array]])
    outputs: list[Value] = field(default_factory=list[Value])
    copies: list[tuple[int, Array | int]] = field(default_factory=list[tuple[int, "Array | int"]])
    """Outputs that no dispatch makes: their position, and a constant or the position of the input they repeat."""
    calls: list[Call] = field(default_factory=list[Call])
    arena: list[Buffer] = field(default_factory=list[Buffer])
    arena_bytes: int = 0


@dataclass
class Dispatches:
    """The dispatch functions of a program: their text, with `NAME` for the name, to the name. Equal ones are one."""

    scheduled: dict[str, str] = field(default_factory=dict[str, str])
    """Written by schedules."""
    generic: dict[str, str] = field(default_factory=dict[str, str])
    """Groups in linalg."""


NAME = "NAME"

# --- cutting -------------------------------------------------------------------------------------------------

RENAMES = frozenset(
    {"aten.view", "aten._unsafe_view", "aten.unsqueeze", "aten.squeeze.dims", "aten.squeeze.dim", "aten.squeeze", "aten.clone", "aten.alias"}
)
"""Operators whose result has its operand's elements in order."""


class Planner:
    """Plans one function of an edge module."""

    def __init__(
        self, function: FuncOp, state: Mapping[SSAValue, Array], machine: Machine, dispatches: Dispatches
    ):
        self.function = function
        self.dispatches = dispatches
        self.machine = machine
        self.plan = Plan()
        self.constants: dict[SSAValue, Array] = dict(state)
        self.values: dict[SSAValue, Value] = {}
        self.group: list[OperatorOp] = []
        self.bound: dict[int, Value] = {}
        """Constants that are arguments already, by the identity of their arrays."""
        self.kept: list[Array] = []
        """Those arrays: an identity means something while its object lives."""
        self.absorbed: set[Operation] = set()
        """Operations that are part of a dispatch before them."""
        returned = function.get_return_op()
        assert returned is not None
        self.returned: ReturnOp = returned

    def run(self) -> Plan:
        """The plan. Raises `UnsupportedError` listing everything in the way, before any work is done."""
        self.constants = folded(self.function, self.constants)
        blocking = [
            Unsupported(op.name, reason, location_text(op))
            for op in self.function.body.block.ops
            if not self.is_constant(op) and (reason := obstacle(op)) is not None
        ]
        if blocking:
            raise UnsupportedError(blocking)
        for arg in self.function.args:
            if arg not in self.constants:
                self.values[arg] = self.argument(f"%in{len(self.plan.inputs)}", arg)
                self.plan.inputs.append(self.values[arg])
        for op in self.function.body.block.ops:
            if isinstance(op, OperatorOp) and not self.is_constant(op) and op not in self.absorbed:
                self.operator(op)
        self.flush()
        self.finish()
        return self.plan

    # constants

    def is_constant(self, op: Operation) -> bool:
        return bool(op.results) and all(result in self.constants for result in op.results)

    def constant(self, array: Array, dtype: DType) -> Value:
        """A constant as an argument of the driver."""
        known = self.bound.get(id(array))
        if known is not None:
            return known
        contiguous = np.ascontiguousarray(array).reshape(array.shape)
        buffer = Buffer(contiguous.nbytes, f"%const{len(self.plan.constants)}")
        value = Value(buffer, contiguous.shape, dtype)
        self.plan.constants.append((value, contiguous))
        self.bound[id(array)] = value
        self.kept.append(array)
        return value

    # values

    def argument(self, name: str, value: SSAValue) -> Value:
        meta = meta_of(value)
        shape = static_shape(meta)
        return Value(Buffer(prod(shape) * meta.dtype.itemsize, name), shape, meta.dtype)

    def make(self, value: SSAValue) -> Value:
        """A part of the arena for a value, from the next dispatch on."""
        meta = meta_of(value)
        shape = static_shape(meta)
        buffer = Buffer(max(prod(shape) * meta.dtype.itemsize, 1))
        buffer.first = buffer.last = len(self.plan.calls)
        self.plan.arena.append(buffer)
        self.values[value] = Value(buffer, shape, meta.dtype)
        return self.values[value]

    def scratch(self, shape: Sequence[int]) -> Value:
        """A float32 buffer for one dispatch."""
        buffer = Buffer(prod(shape) * 4, first=len(self.plan.calls), last=len(self.plan.calls))
        self.plan.arena.append(buffer)
        return Value(buffer, tuple(shape), dt.Float)

    def value(self, value: SSAValue) -> Value:
        """A value in memory; one that the open group makes closes it."""
        if value in self.constants:
            return self.constant(self.constants[value], meta_of(value).dtype)
        if value not in self.values:
            self.flush()
        return self.values[value]

    def call(self, table: dict[str, str], text: str, arguments: list[Value]) -> None:
        """Calls a dispatch of one of the tables."""
        kind = "kernel" if table is self.dispatches.scheduled else "group"
        name = table.setdefault(text, f"{kind}{len(table)}")
        for argument in arguments:
            argument.buffer.last = max(argument.buffer.last, len(self.plan.calls))
        self.plan.calls.append(Call(name, arguments))

    # operators

    def operator(self, op: OperatorOp) -> None:
        name = op.SPEC.qualified_name
        if name in RENAMES and op.operands[0] in self.values:
            source, meta = self.values[op.operands[0]], meta_of(op.results[0])
            self.values[op.results[0]] = Value(source.buffer, static_shape(meta), meta.dtype)
            return
        schedule = SCHEDULES.get(name)
        if schedule is None or not schedule(self, op):
            self.group.append(op)

    def flush(self) -> None:
        """Makes a dispatch of the operators collected so far."""
        if not self.group:
            return
        group, self.group = self.group, []
        inside = set(group)
        inputs: dict[SSAValue, None] = {}
        for op in group:
            for operand in op.operands:
                if operand.owner not in inside:
                    inputs[operand] = None
        outputs = [
            result
            for op in group
            for result in op.results
            if any(use.operation not in inside for use in result.uses)
        ]
        if not outputs:
            return
        arguments = [self.value(value) for value in inputs] + [self.make(value) for value in outputs]
        text = group_text(group, list(inputs), outputs)
        self.call(self.dispatches.generic, text, arguments)

    # the end

    def finish(self) -> None:
        """Puts results where the caller wants them, and plans the arena."""
        taken: set[Buffer] = set()
        for index, operand in enumerate(self.returned.operands):
            output = self.argument(f"%out{index}", operand)
            self.plan.outputs.append(output)
            if operand in self.constants:
                self.plan.copies.append((index, self.constants[operand]))
                continue
            value = self.values[operand]
            if value.buffer.argument is not None or value.buffer in taken:
                source = next((i for i, v in enumerate(self.plan.inputs) if v.buffer is value.buffer), None)
                if source is not None:
                    self.plan.copies.append((index, source))
                else:  # two results are one value: the second is copied from the first
                    first = next(i for i, v in enumerate(self.plan.outputs) if v.buffer is value.buffer)
                    self.plan.copies.append((index, -1 - first))
                continue
            # The buffer is the caller's from the start.
            self.plan.arena.remove(value.buffer)
            value.buffer.argument = f"%out{index}"
            self.plan.outputs[index] = Value(value.buffer, output.shape, output.dtype)
            taken.add(value.buffer)
        self.plan.arena_bytes = plan_arena(self.plan.arena)


def plan_arena(buffers: Sequence[Buffer]) -> int:
    """Offsets of buffers so that none overlaps another that lives at the same time; the arena's size in bytes.

    Greedy by size, each at the lowest gap that fits (Pisarchyk and Lee, 2020, "Efficient memory management for deep
    neural net inference").
    """
    placed: list[Buffer] = []
    total = 0
    for buffer in sorted(buffers, key=lambda b: -b.nbytes):
        offset = 0
        alive = [p for p in placed if p.first <= buffer.last and buffer.first <= p.last]
        for other in sorted(alive, key=lambda p: p.offset):
            if offset + buffer.nbytes <= other.offset:
                break
            offset = max(offset, -(-(other.offset + other.nbytes) // ALIGNMENT) * ALIGNMENT)
        buffer.offset = offset
        placed.append(buffer)
        total = max(total, offset + buffer.nbytes)
    return total


# --- groups --------------------------------------------------------------------------------------------------


def group_text(group: Sequence[OperatorOp], inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> str:
    """A group of operators as a function on memrefs around linalg on tensors, its results written to its last arguments."""
    block = Block(arg_types=[value.type for value in inputs])
    mapper: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for op in group:
        clone = op.clone(mapper, clone_name_hints=False)
        clone.attributes.clear()
        block.add_op(clone)
    block.add_op(ReturnOp(*[mapper[value] for value in outputs]))
    types = [value.type for value in inputs], [value.type for value in outputs]
    lowered = FunctionLowering(FuncOp(NAME, types, Region(block))).run()
    stream = StringIO()
    Printer(stream, print_generic_format=True).print_op(destination_style(lowered))
    return stream.getvalue()


def destination_style(function: FuncOp) -> FuncOp:
    """A function on tensors as one on memrefs: arguments read in place, results written to further arguments."""
    block = function.body.block
    returned = block.last_op
    assert isinstance(returned, ReturnOp)
    for arg in list(block.args):
        memref = block.insert_arg(memref_of(arg), arg.index)
        read = bufferization.ToTensorOp(memref, restrict=True)
        block.insert_ops_before([read], block.first_op) if block.first_op else block.add_op(read)
        arg.replace_all_uses_with(read.tensor)
        block.erase_arg(arg)
    results = list(returned.operands)
    returned.detach()
    returned.erase()
    for value in results:
        out = block.insert_arg(memref_of(value), len(block.args))
        block.add_op(bufferization.MaterializeInDestinationOp.build(
            operands=[value, out], result_types=[[]], properties={"restrict": UnitAttr(), "writable": UnitAttr()}
        ))
    block.add_op(ReturnOp())
    function.properties["function_type"] = type(function.function_type).from_lists(
        [arg.type for arg in block.args], []
    )
    return function


def memref_of(value: SSAValue) -> MemRefType[Any]:
    type = value.type
    return MemRefType(type.element_type, type.get_shape())  # pyright: ignore


# --- schedules -----------------------------------------------------------------------------------------------

Schedule = Callable[[Planner, OperatorOp], bool]
SCHEDULES: dict[str, Schedule] = {}
"""By operator: makes a dispatch of it and what it can absorb, if a schedule takes it."""


def schedule(*names: str) -> Callable[[Schedule], Schedule]:
    """Registers how operators become scheduled dispatches."""

    def register(function: Schedule) -> Schedule:
        SCHEDULES.update(dict.fromkeys(names, function))
        return function

    return register


def is_float32(*values: SSAValue) -> bool:
    return all(meta_of(value).dtype is dt.Float for value in values)


def add_inputs(text: Text, value: str, inputs: Sequence[str], lanes: int) -> str:
    """An epilogue that adds its inputs."""
    for operand in inputs:
        value = text.op(f"arith.addf {value}, {operand} : vector<{lanes}xf32>")
    return value


@schedule("aten.mm", "aten.addmm")
def _mm(planner: Planner, op: OperatorOp) -> bool:
    arguments = op.arguments()
    lhs, rhs = (arguments["self"], arguments["mat2"]) if "mat2" in arguments and op.SPEC.qualified_name == "aten.mm" else (arguments["mat1"], arguments["mat2"])
    bias = arguments["self"] if op.SPEC.qualified_name == "aten.addmm" else None
    if not is_float32(op.results[0], lhs, rhs) or bias is not None and (arguments["alpha"], arguments["beta"]) != (1, 1):
        return False
    (m, k), (_, n) = static_shape(meta_of(lhs)), static_shape(meta_of(rhs))
    if 0 in (m, n, k):
        return False
    packed = rhs in planner.constants
    inputs = (Input(static_shape(meta_of(bias))),) if bias is not None else ()
    matmul = Matmul(
        m, n, k, rhs="packed" if packed else "row_major", epilogue=Epilogue(inputs, add_inputs), machine=planner.machine
    )
    right = planner.constant(matmul.pack(planner.constants[rhs]), dt.Float) if packed else planner.value(rhs)
    dispatch(planner, op.results[0], matmul, [planner.value(lhs), right, *([planner.value(bias)] if bias is not None else [])])
    return True


@schedule("aten.bmm")
def _bmm(planner: Planner, op: OperatorOp) -> bool:
    lhs, rhs = op.operands
    if not is_float32(op.results[0]):
        return False
    (b, m, k), (_, _, n) = static_shape(meta_of(lhs)), static_shape(meta_of(rhs))
    if 0 in (b, m, n, k):
        return False
    matmul = Matmul(m, n, k, batch=(b,), rhs="row_major", machine=planner.machine)
    dispatch(planner, op.results[0], matmul, [planner.value(lhs), planner.value(rhs)])
    return True


def dispatch(planner: Planner, result: SSAValue, kernel: Matmul | Conv2d, arguments: list[Value]) -> None:
    """Calls a kernel, with its scratch buffer if it has one."""
    if kernel.scratch:
        arguments = [*arguments, planner.scratch(kernel.scratch)]
    text = kernel.emit(NAME)
    planner.call(planner.dispatches.scheduled, text, [*arguments, planner.make(result)])


@schedule("aten.convolution")
def _convolution(planner: Planner, op: OperatorOp) -> bool:
    a = op.arguments()
    if a["transposed"] or len(a["stride"]) != 2 or not is_float32(*op.results) or a["weight"] not in planner.constants:
        return False
    if a["bias"] is not None and a["bias"] not in planner.constants:
        return False
    n, c, h, w = static_shape(meta_of(a["input"]))
    weight = planner.constants[a["weight"]]
    bias = planner.constants[a["bias"]] if a["bias"] is not None else np.zeros(weight.shape[0], np.float32)
    result = op.results[0]
    norm = only_user(result)
    if isinstance(norm, OperatorOp) and norm.SPEC.qualified_name == "aten._native_batch_norm_legit_no_training":
        folded = fold_batch_norm(planner, norm, weight, bias)
        if folded is not None:
            weight, bias = folded
            planner.absorbed.add(norm)
            result = norm.results[0]
    epilogue, inputs, result = absorb_epilogue(planner, result)
    o, _, kh, kw = weight.shape
    pairs = {name: (a[name] * 2)[:2] for name in ("stride", "padding", "dilation")}
    conv = Conv2d(
        n, c, h, w, o, (kh, kw), *(tuple(pairs[name]) for name in pairs), groups=a["groups"],  # pyright: ignore
        epilogue=Epilogue((Input((o, 1, 1)), *[Input(v.shape) for v in inputs]), epilogue), machine=planner.machine,
    )
    if 0 in conv.out_shape:
        return False
    packed = planner.constant(np.ascontiguousarray(conv.pack(weight)), dt.Float)
    shift = planner.constant(bias.reshape(o, 1, 1), dt.Float)
    dispatch(planner, result, conv, [planner.value(a["input"]), packed, shift, *inputs])
    return True


def only_user(value: SSAValue) -> Operation | None:
    """The one operation that uses a value, if there is just one."""
    return value.get_user_of_unique_use()


def fold_batch_norm(
    planner: Planner, norm: OperatorOp, weight: Array, bias: Array
) -> tuple[Array, Array] | None:
    """Weights and bias of a convolution that does what a batch norm after it did."""
    a = norm.arguments()
    names = ("weight", "bias", "running_mean", "running_var")
    if any(a[name] is not None and a[name] not in planner.constants for name in names) or any(r.uses for r in norm.results[1:]):
        return None
    mean, var = planner.constants[a["running_mean"]], planner.constants[a["running_var"]]
    scale = 1 / np.sqrt(var.astype(np.float64) + a["eps"])
    if a["weight"] is not None:
        scale = scale * planner.constants[a["weight"]]
    shift = (bias - mean) * scale
    if a["bias"] is not None:
        shift = shift + planner.constants[a["bias"]]
    folded = weight * scale.reshape(-1, *[1] * (weight.ndim - 1))
    return folded.astype(np.float32), shift.astype(np.float32)


def absorb_epilogue(planner: Planner, result: SSAValue) -> tuple[Callable[..., str], list[Value], SSAValue]:
    """What follows a convolution and can happen before its result is stored: a residual sum, then ReLU or a clamp."""
    inputs: list[Value] = []
    user = only_user(result)
    if isinstance(user, OperatorOp) and user.SPEC.qualified_name == "aten.add.Tensor" and user.arguments()["alpha"] == 1:
        other = user.operands[1] if user.operands[0] is result else user.operands[0]
        known = other in planner.values or other in planner.constants
        if other is not result and known and other.type == result.type == user.results[0].type:
            inputs.append(planner.value(other))
            planner.absorbed.add(user)
            result = user.results[0]
            user = only_user(result)
    low: float | None = None
    high: float | None = None
    if isinstance(user, OperatorOp) and user.SPEC.qualified_name in ("aten.relu", "aten.hardtanh"):
        arguments = user.arguments()
        low, high = arguments.get("min_val", 0.0), arguments.get("max_val")
        planner.absorbed.add(user)
        result = user.results[0]

    def body(text: Text, value: str, operands: Sequence[str], lanes: int) -> str:
        value = add_inputs(text, value, operands, lanes)
        for bound, op in ((low, "maximumf"), (high, "minimumf")):
            if bound is not None:
                value = text.op(f"arith.{op} {value}, {text.vector(repr(float(bound)), lanes)} : vector<{lanes}xf32>")
        return value

    return body, inputs, result


# --- the module's text ---------------------------------------------------------------------------------------


def driver_text(plan: Plan, name: str) -> str:
    """The driver: views of the arena, and the calls."""
    arguments = [*plan.inputs, *[value for value, _ in plan.constants], *plan.outputs]
    signature = [f"{v.buffer.argument}: {v.type}" for v in arguments if v.buffer.argument is not None]
    signature = list(dict.fromkeys(signature))
    declared = {v.buffer: v for v in arguments}
    lines = [f"func.func @{name}({', '.join([*signature, f'%arena: memref<{max(plan.arena_bytes, 1)}xi8>'])}) attributes {{llvm.emit_c_interface}} {{"]
    views: dict[tuple[Buffer, str], str] = {}

    def view(value: Value) -> str:
        key = (value.buffer, value.type)
        if key in views:
            return views[key]
        result = f"%v{len(views)}"
        own = declared.get(value.buffer)
        if own is not None and own.type == value.type:
            views[key] = str(own.buffer.argument)
            return views[key]
        if own is not None:
            strides = [prod(value.shape[i + 1 :]) for i in range(len(value.shape))]
            lines.append(
                f"  {result} = memref.reinterpret_cast {own.buffer.argument} to offset: [0], sizes: {list(value.shape)}, "
                f"strides: {strides} : {own.type} to {value.type[:-1]}, strided<{strides}>>"
            )
            lines.append(f"  {result}c = memref.cast {result} : {value.type[:-1]}, strided<{strides}>> to {value.type}")
            views[key] = f"{result}c"
            return views[key]
        lines.append(f"  {result}o = arith.constant {value.buffer.offset} : index")
        lines.append(f"  {result} = memref.view %arena[{result}o][] : memref<{max(plan.arena_bytes, 1)}xi8> to {value.type}")
        views[key] = result
        return result

    for call in plan.calls:
        names = ", ".join(view(value) for value in call.arguments)
        types = ", ".join(value.type for value in call.arguments)
        lines.append(f"  func.call @{call.function}({names}) : ({types}) -> ()")
    return "\n".join([*lines, "  func.return", "}"])
