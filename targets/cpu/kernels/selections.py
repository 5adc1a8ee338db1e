"""Selections: the element in the middle of an order, without sorting.

Elements are compared as integers whose order is theirs (`orders.ascending`). The greatest key of which at most so many are less is found from
its highest bits on, two at a time: three counts of the keys that are less than a candidate, in whole vectors and without a branch, whatever
the elements are. Where it stands first, a last look at the keys says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseArrayBase, MemRefType, i64
from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim, ceildiv, prod
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.vector_builder import predicate, type_of
from xdsl_exir.targets.cpu.kernels.builder import INDEX, Index, KernelBuilder
from xdsl_exir.targets.cpu.kernels.description import Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.targets.cpu.kernels.orders import ascending, key_type

LEAST = 32
"""Elements from which on a selection takes less time than a sort."""
MOST = 1 << 31
"""Elements along a dimension, of which places are integers of 32 bits."""
TOGETHER = 2
"""Vectors of keys in a turn of a loop."""
QUARTERS = 2
"""Bits that a round finds."""


@dataclass(frozen=True, eq=False)
class Select(Kernel):
    """The lower middle element of the order of x[outer, size, inner] along the middle dimension, and where it first stands.

    The function's arguments: x, scratch, values[outer, 1, inner], positions[outer, 1, inner] of int64. It is a NaN where there is one,
    unless `numbers` alone count.
    """

    outer: Dim
    size: Dim
    inner: Dim
    dtype: str
    numbers: bool = False
    unsigned: bool = False
    machine: Machine = field(default_factory=Machine)

    @property
    def bits(self) -> int:
        return int(key_type(self.dtype)[1:])

    @property
    def lanes(self) -> int:
        return max(1, self.machine.lanes * 32 // self.bits)

    @property
    def turns(self) -> Dim:
        """Of a loop over all keys."""
        return ceildiv(self.size, TOGETHER * self.lanes)

    @property
    def keys(self) -> Dim:
        """Of keys: those of whole turns."""
        return self.turns * TOGETHER * self.lanes

    @property
    def work(self) -> Dim:
        return prod((self.outer, self.inner, self.size)) * self.bits // 2

    @property
    def threads(self) -> int:
        return workers(self.machine, self.work)

    @property
    def scratch(self) -> Sizes:
        """Shape of the buffer of keys that it needs."""
        return (self.threads, self.keys)

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        results = (self.outer, 1, self.inner)
        return {
            "x": memref((self.outer, self.size, self.inner), self.dtype),
            "scratch": memref(self.scratch, key_type(self.dtype)),
            "values": memref(results, self.dtype),
            "positions": memref(results, "i64"),
        }

    def build(self, b: KernelBuilder) -> None:
        with b.share(prod((self.outer, self.inner)), self.threads, self.work) as (worker, row):
            outer, inner = b.delinearize(row, (self.outer, self.inner))
            Row(self, b, worker, outer, inner).run()


class Row:
    """Builds what happens to one row."""

    def __init__(self, kernel: Select, b: KernelBuilder, worker: Index, outer: Index, inner: Index):
        self.kernel, self.b = kernel, b
        self.worker, self.outer, self.inner = worker, outer, inner
        self.lanes, self.dtype = kernel.lanes, key_type(kernel.dtype)
        self.greatest = (1 << (kernel.bits - 1)) - 1
        """Of the keys: that of NaN, and of what fills the last vector."""

    # Numbers and vectors.

    def op(self, kind: type[Operation], *operands: SSAValue) -> SSAValue:
        return self.b.op(kind, operands, operands[0].type)

    def constant(self, value: int, lanes: int = 0) -> SSAValue:
        return self.b.constant(value, self.dtype, lanes)

    def compare(self, name: str, x: SSAValue, y: SSAValue, lanes: int = 0) -> SSAValue:
        return self.b.op(vectors.CmpiOp, [x, y], type_of("i1", lanes), predicate(vectors.CmpiOp, name))

    def total(self, kind: type[Operation], whole: SSAValue) -> SSAValue:
        """What all lanes make together."""
        lanes, first = self.lanes, {"static_position": DenseArrayBase.from_list(i64, [0])}
        while lanes > 1:
            lanes //= 2
            whole = self.op(kind, *(self.b.slice(whole, start, lanes, self.dtype) for start in (0, lanes)))
        return self.b.op(vector.ExtractOp, [whole], type_of(self.dtype), first)

    # Keys.

    def run(self) -> None:
        b, kernel = self.b, self.kernel
        if isinstance(kernel.size, int):
            self.select()
            return
        with b.when(kernel.size, "ne", 0):
            self.select()
        with b.when(kernel.size, "eq", 0):  # what PyTorch gives for no elements at all
            b.store_number(self.of_none(), b.buffers["values"], [self.outer, 0, self.inner])

    def of_none(self) -> SSAValue:
        dtype = self.kernel.dtype
        if not dtype.startswith("i"):
            return self.b.constant(nan, dtype)
        bits = int(dtype[1:])
        return self.b.constant(-(1 << (bits - 1)) if bits >= 32 else 0, dtype)

    def select(self) -> None:
        """Stores the element, and where it stands."""
        b, kernel = self.b, self.kernel
        self.make_keys()
        found = self.find(self.rank())
        position = b.op(arith.IndexCastOp, [self.first(found)], INDEX)
        value = b.load_number(b.buffers["x"], [self.outer, position, self.inner], kernel.dtype)
        b.store_number(value, b.buffers["values"], [self.outer, 0, self.inner])
        position = b.op(arith.IndexCastOp, [position], type_of("i64"))
        b.store_number(position, b.buffers["positions"], [self.outer, 0, self.inner])

    def make_keys(self) -> None:
        """Keys side by side, and behind them the greatest there are."""
        b, kernel, size = self.b, self.kernel, self.kernel.size
        x, scratch = b.buffers["x"], b.buffers["scratch"]
        if kernel.inner == 1:
            for offset, lanes, mask in b.pieces(size, self.lanes):
                given = b.load(x, [self.outer, offset, self.inner], lanes, mask, kernel.dtype)
                keys = ascending(b, given, kernel.dtype, kernel.unsigned, lanes)
                b.store(keys, scratch, [self.worker, offset], mask)
        else:
            with b.loop(0, size) as at:
                given = b.load_number(x, [self.outer, at, self.inner], kernel.dtype)
                key = ascending(b, given, kernel.dtype, kernel.unsigned)
                b.store_number(key, scratch, [self.worker, at])
        with b.loop(size, kernel.keys) as at:
            b.store_number(self.constant(self.greatest), scratch, [self.worker, at])

    def keys_of(self, turn: Index, part: int) -> SSAValue:
        """A vector of keys: one of those of a turn."""
        b, lanes = self.b, self.lanes
        place = [self.worker, b.add(b.mul(turn, TOGETHER * lanes), part * lanes)]
        return b.load(b.buffers["scratch"], place, lanes, None, self.dtype)

    def look(
        self,
        begun: Sequence[SSAValue],
        step: Callable[[SSAValue, SSAValue, SSAValue], SSAValue],
        *each: SSAValue,
    ) -> list[list[SSAValue]]:
        """What is made of all keys, from what it begins with, by the vector, the keys of a place and one of some others, for each of
        these: in as many vectors as keys are looked at in a turn."""

        def turn(number: Index, carried: list[SSAValue]) -> list[SSAValue]:
            made: list[SSAValue] = []
            for part in range(TOGETHER):
                keys = self.keys_of(number, part)
                held = carried[part * len(each) : (part + 1) * len(each)]
                made += [step(before, keys, one) for before, one in zip(held, each, strict=True)]
            return made

        made = self.b.reduce(self.kernel.turns, [*begun] * TOGETHER, turn)
        return [made[at :: len(each)] for at in range(len(each))]

    def less(self, *candidates: SSAValue) -> list[SSAValue]:
        """How many keys are less than each of some."""
        b, lanes, zero = self.b, self.lanes, self.constant(0, self.lanes)
        type = type_of(self.dtype, lanes)

        def step(before: SSAValue, keys: SSAValue, candidate: SSAValue) -> SSAValue:
            is_less = b.op(vectors.ExtSIOp, [self.compare("slt", keys, candidate, lanes)], type, {})
            return self.op(arith.SubiOp, before, is_less)

        each = [b.broadcast(candidate, lanes, self.dtype) for candidate in candidates]
        counted = self.look([zero] * len(each), step, *each)
        return [self.total(arith.AddiOp, b.in_pairs(arith.AddiOp, parts)) for parts in counted]

    def of_size(self, size: Dim) -> SSAValue:
        """A size as a key."""
        if isinstance(size, int):
            return self.constant(size)
        return self.b.op(arith.IndexCastOp, [self.b.index(size)], type_of(self.dtype))

    def rank(self) -> SSAValue:
        """How many elements come before the one that is asked for."""
        kernel, one = self.kernel, self.constant(1)
        if kernel.dtype.startswith("i"):
            return self.of_size((kernel.size - 1) // 2)
        [numbers] = self.less(self.constant(self.greatest))
        last = self.op(arith.MaxSIOp, self.op(arith.SubiOp, numbers, one), self.constant(0))
        middle = self.op(arith.ShRSIOp, last, one)
        if kernel.numbers:
            return middle
        are_all = self.compare("eq", numbers, self.of_size(kernel.size))
        return self.b.op(vectors.SelectOp, [are_all, middle, numbers], numbers.type)

    def find(self, rank: SSAValue) -> SSAValue:
        """The greatest key of which at most `rank` are less."""
        b, bits = self.b, self.kernel.bits
        parts, shift = 1 << QUARTERS, self.constant(QUARTERS)

        def find_bits(_: Index, carried: list[SSAValue]) -> list[SSAValue]:
            found, unit = carried
            candidates = [found]
            for _ in range(1, parts):
                candidates.append(self.op(arith.AddiOp, candidates[-1], unit))
            fitting = [self.compare("sle", count, rank) for count in self.less(*candidates[1:])]
            for is_fitting, candidate in zip(fitting, candidates[1:], strict=True):
                found = b.op(vectors.SelectOp, [is_fitting, candidate, found], found.type)
            return [found, self.op(arith.ShRUIOp, unit, shift)]

        begun = [self.constant(-(1 << (bits - 1))), self.constant(1 << (bits - QUARTERS))]
        return b.reduce(bits // QUARTERS, begun, find_bits)[0]

    def first(self, found: SSAValue) -> SSAValue:
        """Where a key first stands: of each lane the first turn in which it is there, and of these the first place."""
        b, lanes = self.b, self.lanes
        nowhere, one = self.constant(self.greatest, lanes), self.constant(1, lanes)
        wanted = b.broadcast(found, lanes, self.dtype)

        def turn(number: Index, carried: list[SSAValue]) -> list[SSAValue]:
            *held, now = carried
            made: list[SSAValue] = []
            for part in range(TOGETHER):
                here = self.compare("eq", self.keys_of(number, part), wanted, lanes)
                seen = b.op(vectors.SelectOp, [here, now, nowhere], now.type)
                made.append(self.op(arith.MinSIOp, held[part], seen))
            return [*made, self.op(arith.AddiOp, now, one)]

        *turns, _ = b.reduce(self.kernel.turns, [nowhere] * TOGETHER + [self.constant(0, lanes)], turn)
        step = self.constant(TOGETHER * lanes, lanes)
        places: list[SSAValue] = []
        for part, each in enumerate(turns):
            lane = self.b.constant(tuple(range(part * lanes, (part + 1) * lanes)), self.dtype, lanes)
            there = self.op(arith.AddiOp, self.op(arith.MuliOp, each, step), lane)
            is_there = self.compare("ne", each, nowhere, lanes)
            places.append(b.op(vectors.SelectOp, [is_there, there, nowhere], there.type))
        return self.total(arith.MinSIOp, b.in_pairs(arith.MinSIOp, places))
