"""`plan-memory`: allocations become parts of one arena a memory space (`lowering.pools`), which are a function's further arguments.

A buffer is needed from its `memref.alloc` to the last use of it, or of a view of it; where that is in a loop which the buffer is
older than, to the loop's end. Buffers that are not needed at the same time may share memory; what a kernel writes may lie where something lies that it is the
last to read, if the kernel's description says so (`lowering.reuse`). Sizes may be symbolic: buffers of such sizes lie behind the
others, in slots, each as large as the largest of its buffers. How many bytes an arena has is said in `exir.arena_bytes`, a number or an
expression of the function's symbols (see `lowering.driver`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from types import MappingProxyType
from typing import overload

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    ComplexType,
    FixedBitwidthType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnrealizedConversionCastOp,
    i8,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from xdsl_exir.dialects.expr import Dim, Expr, apply, ceildiv, max_, provably
from xdsl_exir.dialects.signature import ARENA_BYTES
from xdsl_exir.errors import ExirError
from xdsl_exir.lowering.arithmetic import SizesOf
from xdsl_exir.lowering.dispatches.buffers import ALIGNMENT
from xdsl_exir.lowering.driver import BYTES, SYMBOLS, TYPICAL, size_in
from xdsl_exir.lowering.kernel import Kernels, OfKernels
from xdsl_exir.lowering.pools import (
    ORDINARY,
    Pool,
    arenas_of,
    keep_arenas,
    memory_space,
    parse_pools,
    space_of,
)
from xdsl_exir.lowering.sizes import typical

OFFSET = "exir.offset"
NO_POOLS: Mapping[int, Pool] = MappingProxyType({})
Part = memref.AllocOp | memref.ViewOp
LOOPS = scf.ForOp | scf.WhileOp | scf.ParallelOp
VIEWS = memref.ReinterpretCastOp | memref.CastOp | UnrealizedConversionCastOp


@dataclass(frozen=True, eq=False)
class Buffer:
    """An allocation to be placed."""

    nbytes: Dim
    first: int
    last: int
    """Positions, in the order of the function's operations, from which on and until which it is needed."""
    typical: int
    """Its bytes; symbols taken to be typical."""
    alignment: int = ALIGNMENT
    """Bytes that it begins at a multiple of."""

    def meets(self, other: Buffer) -> bool:
        """Whether both are needed at a time."""
        return self.first <= other.last and other.first <= self.last


SPAN = 32
"""Positions that buffers are looked up by together."""


class Lifetimes:
    """Buffers, found by when they are needed: in time that grows with those, not with all."""

    def __init__(self) -> None:
        self.needed: dict[int, list[Buffer]] = {}
        self.starting: dict[int, list[Buffer]] = {}

    def add(self, buffer: Buffer) -> None:
        self.starting.setdefault(buffer.first // SPAN, []).append(buffer)
        for span in range(buffer.first // SPAN, buffer.last // SPAN + 1):
            self.needed.setdefault(span, []).append(buffer)

    def meeting(self, buffer: Buffer) -> list[Buffer]:
        """Those that are needed at a time when a buffer is: around where it begins, or from later on."""
        first, last = buffer.first // SPAN, buffer.last // SPAN
        near = list(self.needed.get(first, ()))
        for span in range(first + 1, last + 1):
            near += self.starting.get(span, ())
        begins, ends = buffer.first, buffer.last
        return [other for other in near if other.first <= ends and begins <= other.last]


# --- planners ------------------------------------------------------------------------------------------------

Planner = Callable[[Sequence[Buffer]], list[int]]
"""Gives the offsets, in bytes, of buffers of static sizes: multiples of their alignments, so that those that meet do not overlap
(`verify-memory` proves it, whoever planned)."""


def greedy(order: Callable[[Buffer], tuple[int, ...]]) -> Planner:
    """The planner that puts one buffer after the other, in an order, into the lowest gap that fits (Pisarchyk and Lee, 2020, "Efficient
    memory management for deep neural net inference")."""

    def plan(buffers: Sequence[Buffer]) -> list[int]:
        placed, lifetimes = dict[Buffer, tuple[int, int]](), Lifetimes()
        for buffer in sorted(buffers, key=order):
            offset = 0
            for start, end in sorted([placed[other] for other in lifetimes.meeting(buffer)]):
                if offset + buffer.typical <= start:
                    break
                offset = max(offset, aligned(end, buffer.alignment))
            placed[buffer] = offset, offset + buffer.typical
            lifetimes.add(buffer)
        return [placed[buffer][0] for buffer in buffers]

    return plan


def best(buffers: Sequence[Buffer]) -> list[int]:
    """The offsets of whichever of the other planners needs the fewest bytes; of many buffers, of the first of them."""
    names = ("by-size", "by-lifetime", "by-start") if len(buffers) <= MANY else ("by-size",)
    plans = (PLANNERS[name](buffers) for name in names)
    return min(plans, key=lambda offsets: arena_bytes(buffers, offsets))


MANY = 1000
"""Buffers from which on one planner has to do: each takes time that grows with the square of them."""

PLANNERS: dict[str, Planner] = {
    "by-size": greedy(lambda buffer: (-buffer.typical,)),
    "by-lifetime": greedy(lambda buffer: (buffer.first - buffer.last, -buffer.typical)),
    "by-start": greedy(lambda buffer: (buffer.first, -buffer.typical)),
    "best": best,
}
"""By the name that `plan-memory{planner=...}` takes. Others may be added: `PLANNERS["mine"] = function`."""


def arena_bytes(buffers: Iterable[Buffer], offsets: Iterable[int]) -> int:
    """Bytes of an arena that holds buffers of static sizes."""
    return max((offset + b.typical for b, offset in zip(buffers, offsets, strict=True)), default=0)


def plan_slots(buffers: Sequence[Buffer]) -> list[list[Buffer]]:
    """Buffers that share memory, none of which are needed at the same time.

    Greedy by typical size, each in the smallest slot that is free (Pisarchyk and Lee, 2020, shared objects).
    """
    slots: list[list[Buffer]] = []
    for buffer in sorted(buffers, key=lambda b: -b.typical):
        free = (slot for slot in reversed(slots) if not any(buffer.meets(other) for other in slot))
        slot = next(free, None)
        if slot is None:
            slots.append(slot := [])
        slot.append(buffer)
    return slots


@overload
def aligned(nbytes: int, to: int = ...) -> int: ...
@overload
def aligned(nbytes: Dim, to: int = ...) -> Dim: ...
def aligned(nbytes: Dim, to: int = ALIGNMENT) -> Dim:
    """Bytes rounded up to an alignment."""
    return ceildiv(nbytes, to) * to


def largest(sizes: Sequence[Dim]) -> Dim:
    """The largest of sizes: one of them where that is known of all symbols' values, 0 among them."""

    def larger(a: Dim, b: Dim) -> Dim:
        ranges = {
            name: (0, None) for size in (a, b) if isinstance(size, Expr) for name in size.free_symbols()
        }
        if provably(apply("ge", b, a), ranges):
            return b
        return a if provably(apply("ge", a, b), ranges) else max_(a, b)

    return reduce(larger, sizes)


def plan_buffers(buffers: Sequence[Buffer], planner: Planner) -> tuple[dict[Buffer, Dim], Dim]:
    """Offsets of buffers, and the arena's bytes; those of symbolic sizes come behind the others."""
    static = [buffer for buffer in buffers if isinstance(buffer.nbytes, int)]
    places = planner(static)
    offsets: dict[Buffer, Dim] = dict(zip(static, places, strict=True))
    total: Dim = arena_bytes(static, places)
    for slot in plan_slots([buffer for buffer in buffers if isinstance(buffer.nbytes, Expr)]):
        total = aligned(total, slot[0].alignment)
        offsets.update(dict.fromkeys(slot, total))
        total = total + largest(list(dict.fromkeys(buffer.nbytes for buffer in slot)))
    return offsets, total


# --- what a function allocates -------------------------------------------------------------------------------


def views_of(value: SSAValue) -> Iterable[Operation]:
    """The operations that use a memref, or a view of it."""
    waiting = [value]
    while waiting:
        for use in waiting.pop().uses:
            yield use.operation
            waiting += [result for result in use.operation.results if isinstance(result.type, MemRefType)]


def end_of(op: Operation, block: Block, ends: Mapping[Operation, int]) -> int:
    """Where a buffer of a block is no longer needed that an operation, in it or in a region in it, uses."""
    end = ends[op]
    while op.parent is not block:
        parent = op.parent_op()
        assert parent is not None, "a use that its definition does not dominate"
        op = parent
        if isinstance(op, LOOPS):
            end = ends[op]
    return end


def bytes_of(op: Operation, type: MemRefType[Attribute]) -> Dim:
    """The bytes of an allocation, or of a view. Raises `ExirError` where its sizes are symbolic and it does not say them."""
    said = size_in(op.attributes.get(BYTES))
    if said is not None:
        return said
    count = 1
    for size in type.get_shape():
        if size == DYNAMIC_INDEX:
            raise ExirError(f"plan-memory: {op.name} of symbolic size without {BYTES}")
        count *= size
    element = type.element_type
    if isinstance(element, FixedBitwidthType):
        return count * element.size
    if isa(element, ComplexType[Float16Type | Float32Type | Float64Type]):  # its two parts
        return count * 2 * element.element_type.size
    raise ExirError(f"plan-memory: {op.name} of {element}, whose elements have no size")


def type_of(part: Part) -> MemRefType[Attribute]:
    """The type of the memory that is allocated, or a part of an arena."""
    return part.memref.type if isinstance(part, memref.AllocOp) else part.result.type


@dataclass(frozen=True)
class Positions:
    """Where operations stand in a function, those of regions behind the one that they are of."""

    starts: Mapping[Operation, int]
    ends: Mapping[Operation, int]
    """Of the last one in an operation's regions."""


def positions_in(function: FuncOp) -> Positions:
    """The positions of a function's operations, in order."""
    starts: dict[Operation, int] = {}
    ends: dict[Operation, int] = {}
    position = 0

    def number(block: Block) -> None:
        nonlocal position
        for op in block.ops:
            position += 1
            starts[op] = position
            for region in op.regions:
                for inner in region.blocks:
                    number(inner)
            ends[op] = position

    number(function.body.block)
    return Positions(starts, ends)


def buffers_of(function: FuncOp, pools: Mapping[int, Pool] = NO_POOLS) -> dict[Part, Buffer]:
    """What a function allocates, or the parts of its arenas once they are planned, in order; what nothing uses left out."""
    found: dict[Part, Buffer] = {}
    positions = positions_in(function)
    for op, first in positions.starts.items():
        if isinstance(op, Part) and op.results[0].uses:
            block, (memory,) = op.parent, op.results
            assert block is not None
            last = max(end_of(user, block, positions.ends) for user in views_of(memory))
            nbytes = bytes_of(op, type_of(op))
            typical = size_in(op.attributes.get(TYPICAL))
            size = nbytes if typical is None else typical
            assert isinstance(size, int), "an allocation of symbolic size says what is typical"
            found[op] = Buffer(nbytes, first, last, size, pools.get(space_of(type_of(op)), Pool()).alignment)
    return found


def offset_of(part: Part) -> int:
    """Where a part of an arena begins, symbols taken to be typical. Raises `ExirError` for an allocation."""
    said = size_in(part.attributes.get(OFFSET))
    if isinstance(said, Expr):
        return int(typical(said))
    shift = part.operands[1].owner if isinstance(part, memref.ViewOp) else None
    if not isinstance(shift, arith.ConstantOp) or not isinstance(shift.value, IntegerAttr):
        raise ExirError(f"{part.name} does not say where it begins")
    return shift.value.value.data


# --- in place ------------------------------------------------------------------------------------------------


def beginning(value: SSAValue) -> SSAValue | None:
    """The memory that a memref sees from its beginning on; None of one that begins elsewhere."""
    while isinstance(op := value.owner, VIEWS):
        if isinstance(op, memref.ReinterpretCastOp) and op.static_offsets.get_values() != (0,):
            return None
        value = op.operands[0]
    return value


def reuse(function: FuncOp, buffers: Mapping[Part, Buffer], kernels: Kernels) -> dict[Part, Part]:
    """What may lie where another part lies: what a kernel writes that nothing used before, in place of something as long that it is the last
    to use. Of the parts of an arena those that do."""
    found: dict[Part, Part] = {}
    taken: set[Part] = set()
    starts = positions_in(function).starts
    for call in [op for op in starts if isinstance(op, CallOp)]:
        kernel = kernels(call.callee.string_value())
        places = kernel.places if kernel is not None else ()
        seen = [beginning(value) for value in call.operands] if places else []
        written = owner_of(seen[-1], buffers) if places else None
        if written is None or written.parent is not call.parent or not begins_with(written, call, starts):
            continue
        reads = (owner_of(seen[place], buffers) for place in places)
        fitting = (part for part in reads if part is not None and part not in taken)
        read = next(
            (
                part
                for part in fitting
                if ends_with(part, call, buffers[part].last == starts[call])
                and are_alike(part, written, buffers)
            ),
            None,
        )
        if read is not None:
            found[written] = read
            taken.add(read)
    return found


def owner_of(value: SSAValue | None, buffers: Container[Part]) -> Part | None:
    """The buffer that a memory is."""
    op = None if value is None else value.owner
    return op if isinstance(op, Part) and op in buffers else None


def begins_with(part: Part, call: CallOp, starts: Mapping[Operation, int]) -> bool:
    """Whether nothing uses a buffer of a block before a call there, which does so once."""
    users = [op for op in views_of(part.results[0]) if not isinstance(op, VIEWS)]
    return users.count(call) == 1 and all(starts[op] >= starts[call] for op in users)


def ends_with(part: Part, call: CallOp, is_last: bool) -> bool:
    """Whether a call, after which a buffer is not needed, uses it once."""
    return is_last and [op for op in views_of(part.results[0]) if op is call] == [call]


def are_alike(read: Part, written: Part, buffers: Mapping[Part, Buffer]) -> bool:
    """Whether two buffers are of one size and memory space, and where they are planned already, in one place."""
    same = buffers[read].nbytes == buffers[written].nbytes
    here = space_of(type_of(read)) == space_of(type_of(written))
    return same and here and (isinstance(read, memref.AllocOp) or offset_of(read) == offset_of(written))


# --- the pass ------------------------------------------------------------------------------------------------


def symbols_of(function: FuncOp) -> dict[str, SSAValue]:
    """The symbols among a function's arguments."""
    names = function.attributes.get(SYMBOLS)
    said = (
        [name.data for name in names if isinstance(name, StringAttr)]
        if isa(names, ArrayAttr[Attribute])
        else []
    )
    return dict(zip(said, function.args, strict=False))


def is_planned(function: FuncOp) -> bool:
    """Whether the memory of a driver is planned."""
    return ARENA_BYTES in function.attributes


def arena_bytes_of(function: FuncOp) -> Dim:
    """The bytes of a function's ordinary arena. Raises `ExirError` where it was not planned."""
    return arenas_of(function)[0].nbytes


@dataclass(frozen=True)
class PoolPlan:
    """Where the buffers of one memory space are."""

    pool: Pool
    offsets: Mapping[Part, Dim]
    total: Dim


def plan_pool(
    pool: Pool, buffers: Mapping[Part, Buffer], reused: Mapping[Part, Part], planner: Planner
) -> PoolPlan:
    """Plans one memory space. What lies in another's place is one buffer with it."""
    groups: dict[Part, list[Part]] = {}
    for part in buffers:  # what is in place of another comes after it
        groups.setdefault(first_of(part, reused), []).append(part)
    whole = {first: together([buffers[part] for part in parts]) for first, parts in groups.items()}
    places, total = plan_buffers(list(whole.values()), planner)
    pool.check(total)
    return PoolPlan(
        pool, {part: places[whole[first]] for first, parts in groups.items() for part in parts}, total
    )


def first_of(part: Part, reused: Mapping[Part, Part]) -> Part:
    """The first of those that lie in one place, each in that of the one before."""
    while part in reused:
        part = reused[part]
    return part


def together(buffers: Sequence[Buffer]) -> Buffer:
    """Buffers of one size, one after the other in one place, as one."""
    first, last = min(buffer.first for buffer in buffers), max(buffer.last for buffer in buffers)
    return replace(buffers[0], first=first, last=last)


def plan_function(function: FuncOp, planner: Planner, pools: Mapping[int, Pool], kernels: Kernels) -> None:
    """Makes what a function allocates parts of arenas."""
    block = function.body.block
    buffers = buffers_of(function, pools)
    reused = reuse(function, buffers, kernels)
    by_space: dict[int, dict[Part, Buffer]] = {ORDINARY: {}}
    for part, buffer in buffers.items():
        by_space.setdefault(space_of(type_of(part)), {})[part] = buffer
    plans = {
        space: plan_pool(pools.get(space, Pool(space)), by_space[space], reused, planner)
        for space in sorted(by_space)
    }
    arenas = {space: block.insert_arg(arena_type(plan), len(block.args)) for space, plan in plans.items()}
    sizes = SizesOf(block, symbols_of(function))
    for op in [op for op in function.walk() if isinstance(op, memref.AllocOp)]:
        if op in buffers:
            space = space_of(type_of(op))
            view = part_of(op, arenas[space], plans[space].offsets[op], sizes)
            block_of = op.parent
            assert block_of is not None
            block_of.insert_ops_before([view], op)
            op.memref.replace_all_uses_with(view.results[0])
        op.detach()
        op.erase()
    keep_arenas(function, {space: (plan.pool, plan.total) for space, plan in plans.items()})
    function.update_function_type()


def arena_type(plan: PoolPlan) -> MemRefType[Attribute]:
    """The type of an arena."""
    size = max(plan.total, 1) if isinstance(plan.total, int) else DYNAMIC_INDEX
    return MemRefType(i8, [size], memory_space=memory_space(plan.pool.space))


def part_of(op: memref.AllocOp, arena: SSAValue, offset: Dim, sizes: SizesOf) -> memref.ViewOp:
    """The part of an arena that takes an allocation's place."""
    operands = [arena, sizes.index(offset), *op.dynamic_sizes]
    view = memref.ViewOp.create(operands=operands, result_types=[op.memref.type])
    view.attributes |= op.attributes
    if isinstance(offset, Expr):
        view.attributes[OFFSET] = StringAttr(str(offset))
    view.location = op.location
    return view


@dataclass(frozen=True)
class PlanMemory(OfKernels):
    """Plans the memory of each function that is not private and that was not planned before. Raises `ExirError` for a planner that there is not, and for a pool that is too
    small."""

    name = "plan-memory"

    planner: str = "best"
    pools: tuple[str, ...] = ()
    """What is known of memory spaces (`lowering.pools`)."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.planner not in PLANNERS:
            raise ExirError(f"plan-memory: no planner '{self.planner}'; there are {', '.join(PLANNERS)}")
        pools, kernels = parse_pools(self.pools), self.kernels(op)
        for function in drivers_of(op):
            if not is_planned(function):
                plan_function(function, PLANNERS[self.planner], pools, kernels)


def drivers_of(module: ModuleOp) -> Iterable[FuncOp]:
    """The functions of a module that are not private, and have a body: dispatches are private."""
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_visibility is None and not op.is_declaration:
            yield op


def symbolic_bytes(function: FuncOp) -> list[Dim]:
    """The bytes of what a function keeps in its arena, where they are symbolic."""
    said = (size_in(op.attributes.get(BYTES)) for op in function.walk())
    return [size for size in said if isinstance(size, Expr)]
