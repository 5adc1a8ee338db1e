"""Scans: running sums and products, and running extremes with their positions.

What comes next waits for what came before, so several rows go on at once, each with its own number, or columns side by side, in vectors: results do not
depend on how many. Sums and products of floats are in float64, as everywhere. Where the order is none of the result's (of extremes, and sums but those of float64), neighbours
in a row are combined in vectors (W. D. Hillis, G. L. Steele, "Data parallel algorithms", 1986).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseArrayBase, MemRefType, i64
from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim, ceildiv, prod
from xdsl_exir.lowering.vector_builder import predicate, type_of, vector_type
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask, Piece
from xdsl_exir.targets.cpu.kernels.description import Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.targets.cpu.kernels.row_nodes import HALVES

VECTORS = 4
"""Of columns side by side, that do: their numbers stay in registers."""

COMBINE: Mapping[str, tuple[type[Operation], type[Operation], int]] = {
    "sum": (arith.AddfOp, arith.AddiOp, 0),
    "prod": (arith.MulfOp, arith.MuliOp, 1),
}
"""What combines floats, and integers, and what it begins with."""

FURTHER = {"max": ("oge", "sge"), "min": ("ole", "sle")}
"""When an element is the new extreme: also if it is equal to the last one."""
INTEGERS: Mapping[str, type[Operation]] = {"max": arith.MaxSIOp, "min": arith.MinSIOp}
"""The further of two integers."""
MOST_PLACES = 2**31
"""That vectors tell apart as integers of 32 bits."""

Place = tuple[Index, Index, int, Mask]
"""A row, and a piece of it, of 0 columns if it is a number."""


@dataclass(frozen=True, eq=False)
class Scan(Kernel):
    """Each column of each row of x[rows, size, columns] scanned, along `size`; of one column, of x[rows, size].

    The function's arguments: x, of `dtype`, and out, as large, of `result`; for the kinds max and min also positions, of int64. A NaN is the
    greatest and the least.
    """

    rows: Dim
    size: Dim
    kind: str
    dtype: str
    result: str
    columns: Dim = 1
    machine: Machine = field(default_factory=Machine)

    @property
    def work(self) -> Dim:
        return 4 * prod((self.rows, self.size, self.columns))

    @property
    def scratch(self) -> None:
        return None

    @property
    def shape(self) -> tuple[Dim, ...]:
        """Of each argument."""
        return (self.rows, self.size) if self.columns == 1 else (self.rows, self.size, self.columns)

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        types = {"x": memref(self.shape, self.dtype), "out": memref(self.shape, self.result)}
        return types | ({"positions": memref(self.shape, "i64")} if self.kind in FURTHER else {})

    @property
    def accumulator(self) -> str:
        """In which numbers are combined, or compared."""
        if self.kind in COMBINE:
            return "f64" if self.result in ("f32", *HALVES) else self.result
        return "f32" if self.dtype in HALVES else self.dtype

    @property
    def neighbours(self) -> int:
        """How many elements of a row are a vector that is combined at once; 0 where one is added after the other."""
        if self.columns != 1:
            return 0
        lanes = self.machine.lanes // (2 if self.accumulator.endswith("64") else 1)
        if self.kind in FURTHER:
            return lanes if isinstance(self.size, int) and lanes <= self.size < MOST_PLACES else 0
        exact = self.kind == "sum" and self.result != "f64"
        return lanes if exact and not (isinstance(self.size, int) and self.size < lanes) else 0

    def build(self, b: KernelBuilder) -> None:
        columns, lanes = self.columns, self.machine.lanes
        block = VECTORS * lanes
        if not isinstance(columns, int):
            self.in_blocks(b, ceildiv(columns, block), lambda at: b.mask_below(lanes, b.sub(columns, at)))
            return
        blocks, rest = divmod(columns, block)
        if blocks:
            self.in_blocks(b, blocks, lambda _: None)
        if columns == 1:
            self.of_rows(b, [(0, 0, None)])
        elif rest:
            self.of_rows(b, [self.piece(b, blocks * block, *piece) for piece in b.pieces(rest, lanes)])

    def piece(self, b: KernelBuilder, first: int, at: Index, size: int, mask: Mask) -> Piece:
        """Of halves whole vectors: LLVM has no conversions of some others."""
        if self.dtype in HALVES:
            lanes = self.machine.lanes
            size, mask = lanes, b.mask_below(lanes, size)
        return b.add(first, at), size, mask

    def in_blocks(self, b: KernelBuilder, blocks: Dim, mask: Callable[[Index], Mask]) -> None:
        """So many blocks of columns of each row."""
        lanes = self.machine.lanes
        with b.share(prod((self.rows, blocks)), self.threads, self.work) as (_, task):
            row, number = b.delinearize(task, (self.rows, blocks))
            columns = [b.add(b.mul(number, VECTORS * lanes), at * lanes) for at in range(VECTORS)]
            Group(self, b, [(row, column, lanes, mask(column)) for column in columns]).run()

    def of_rows(self, b: KernelBuilder, pieces: Sequence[Piece]) -> None:
        """These columns of each row, of several rows at once."""
        kind = Neighbours if self.neighbours else Group
        at_once = max(1, kind.ROWS // len(pieces))

        def some(rows: Iterable[Index]) -> None:
            kind(self, b, [(row, *piece) for row in rows for piece in pieces]).run()

        whole, rest = self.rows // at_once, self.rows % at_once
        if whole != 0:
            with b.share(whole, self.threads, self.work) as (_, block):
                some([b.add(b.mul(block, at_once), row) for row in range(at_once)])
        done = whole * at_once
        if not isinstance(rest, int):
            with b.loop(0, rest) as row:
                some([b.add(done, row)])
        elif rest:
            some([done + row for row in range(rest)])

    @property
    def threads(self) -> int:
        return workers(self.machine, self.work)


class Group:
    """Builds what happens at some places at once."""

    ROWS = 8
    """That go on at once: as many as hide how long an addition takes."""

    def __init__(self, kernel: Scan, b: KernelBuilder, places: Sequence[Place]):
        self.kernel, self.b, self.places = kernel, b, places

    def run(self) -> None:
        self.b.reduce(self.kernel.size, self.begun(), self.step)

    @property
    def step(self) -> Callable[[Index, list[SSAValue]], list[SSAValue]]:
        """What happens from a place along the rows on; of what is carried."""
        return self.extreme if self.kernel.kind in FURTHER else self.running

    def begun(self) -> list[SSAValue]:
        """What all places begin with."""
        return [value for place in self.places for value in self.initial(place[2])]

    def initial(self, lanes: int) -> list[SSAValue]:
        """What a place begins with."""
        kernel, b, wide = self.kernel, self.b, self.kernel.accumulator
        floats = wide.startswith("f")
        if kernel.kind in COMBINE:
            number = COMBINE[kernel.kind][2]
            return [b.constant(float(number) if floats else number, wide, lanes)]
        sign = -1 if kernel.kind == "max" else 1
        if floats:
            worst: float = sign * float("inf")
        else:
            top = 1 << (int(wide[1:]) - 1)
            worst = top - 1 if sign > 0 else -top
        return [b.constant(worst, wide, lanes), b.constant(0, "i64", lanes)]

    def elements(self, at: Index) -> list[SSAValue]:
        """Those that are next, all loaded before any is used; wide."""
        b, dtype, wide, found = self.b, self.kernel.dtype, self.kernel.accumulator, list[SSAValue]()
        for place in self.places:
            x, where, (_, _, lanes, mask) = b.buffers["x"], self.where(place, at), place
            found.append(b.load(x, where, lanes, mask, dtype) if lanes else b.load_number(x, where, dtype))
        for step in self.steps(dtype, wide):
            extend = vectors.ExtFOp if step.startswith("f") else vectors.ExtSIOp
            found = [
                b.op(extend, [x], type_of(step, place[2]))
                for x, place in zip(found, self.places, strict=True)
            ]
        return found

    def where(self, place: Place, at: Index) -> list[Index]:
        """Where in the buffers an element of a place is."""
        row, column, *_ = place
        return [row, at, column][: len(self.kernel.shape)]

    @staticmethod
    def steps(narrow: str, wide: str) -> list[str]:
        """The dtypes from one to another, without the first: halves go by float32."""
        return [dtype for dtype in dict.fromkeys(["f32"] * (narrow in HALVES) + [wide]) if dtype != narrow]

    def put(self, value: SSAValue, name: str, place: Place, at: Index) -> None:
        _, _, lanes, mask = place
        buffer, where = self.b.buffers[name], self.where(place, at)
        if lanes:
            self.b.store(value, buffer, where, mask)
        else:
            self.b.store_number(value, buffer, where)

    def put_result(self, value: SSAValue, place: Place, at: Index) -> None:
        """Puts a wide number where it belongs."""
        narrow = self.kernel.result
        for step in [*reversed(self.steps(narrow, self.kernel.accumulator)), narrow][1:]:
            value = self.b.op(vectors.TruncFOp, [value], type_of(step, place[2]))
        self.put(value, "out", place, at)

    def running(self, at: Index, carried: list[SSAValue]) -> list[SSAValue]:
        """Running sums, or products."""
        totals = list(map(self.combine, carried, self.elements(at)))
        for place, total in zip(self.places, totals, strict=True):
            self.put_result(total, place, at)
        return totals

    def combine(self, before: SSAValue, x: SSAValue) -> SSAValue:
        """A sum, or product, with the next element."""
        floats, integers, _ = COMBINE[self.kernel.kind]
        return self.b.op(floats if self.kernel.accumulator.startswith("f") else integers, [before, x], x.type)

    def extreme(self, at: Index, carried: list[SSAValue]) -> list[SSAValue]:
        """Running extremes, and where the last element equal to each stands."""
        b, found = self.b, list[SSAValue]()
        here = b.op(arith.IndexCastOp, [b.index(at)], type_of("i64"))
        lasting = zip(self.places, self.elements(at), carried[::2], carried[1::2], strict=True)
        for place, x, best, last in lasting:
            lanes = place[2]
            joins = self.joins(x, best, lanes)
            best = b.op(vectors.SelectOp, [joins, x, best], x.type)
            now = b.broadcast(here, lanes, "i64") if lanes else here
            last = b.op(vectors.SelectOp, [joins, now, last], last.type)
            self.put_result(best, place, at)
            self.put(last, "positions", place, at)
            found += [best, last]
        return found

    def joins(self, x: SSAValue, best: SSAValue, lanes: int) -> SSAValue:
        """Whether an element is as far as the furthest one."""
        b, (floats, integers), type = self.b, FURTHER[self.kernel.kind], type_of("i1", lanes)
        if not self.kernel.accumulator.startswith("f"):
            return b.op(vectors.CmpiOp, [x, best], type, predicate(vectors.CmpiOp, integers))
        further, missing = (
            b.op(vectors.CmpfOp, [x, other], type, predicate(vectors.CmpfOp, name))
            for name, other in ((floats, best), ("uno", x))
        )
        return b.op(arith.OrIOp, [further, missing], type)


class Neighbours(Group):
    """The same of rows, some elements of each at once: of a vector, in steps of one, two, four lanes, and with what came before, which all lanes hold."""

    ROWS = 4
    """That go on at once."""

    def run(self) -> None:
        b, kernel, lanes = self.b, self.kernel, self.kernel.neighbours
        alone = Group(kernel, b, self.places)
        self.places = [(row, column, lanes, None) for row, column, *_ in self.places]
        whole = b.div(kernel.size, lanes)
        made = b.reduce(whole, self.begun(), lambda block, carried: self.step(b.mul(block, lanes), carried))
        if isinstance(kernel.size, int) and kernel.size % lanes == 0:
            return
        done, numbers = b.mul(whole, lanes), [self.number(value) for value in made]
        if kernel.kind in FURTHER:
            numbers[1::2] = [b.op(vectors.ExtSIOp, [place], type_of("i64")) for place in numbers[1::2]]
        b.reduce(b.sub(kernel.size, done), numbers, lambda at, carried: alone.step(b.add(done, at), carried))

    def initial(self, lanes: int) -> list[SSAValue]:
        """Of places in 32 bits, of which a vector holds more."""
        value, *places = super().initial(lanes)
        return [value, *(self.b.constant(0, "i32", lanes) for _ in places)]

    def number(self, value: SSAValue) -> SSAValue:
        """What all lanes hold."""
        first = {"static_position": DenseArrayBase.from_list(i64, [0])}
        return self.b.op(vector.ExtractOp, [value], vector_type(value).element_type, first)

    def running(self, at: Index, carried: list[SSAValue]) -> list[SSAValue]:
        """Running sums."""
        [none] = self.initial(self.kernel.neighbours)
        totals = self.combined(self.elements(at), carried, none, self.combine)
        for place, total in zip(self.places, totals, strict=True):
            self.put_result(total, place, at)
        return [self.last(total) for total in totals]

    def extreme(self, at: Index, carried: list[SSAValue]) -> list[SSAValue]:
        """Running extremes; where an element is as far as the one that it is part of, that stands there: the last such place is the greatest."""
        b, lanes, given = self.b, self.kernel.neighbours, self.elements(at)
        worst, nowhere = self.initial(lanes)
        bests = self.combined(given, carried[::2], worst, self.further)
        first = b.op(arith.IndexCastOp, [b.index(at)], type_of("i32"))
        steps = b.constant(tuple(range(lanes)), "i32", lanes)
        here = b.op(arith.AddiOp, [b.broadcast(first, lanes, "i32"), steps], steps.type)
        stands = [
            b.op(vectors.SelectOp, [self.joins(x, best, lanes), here, nowhere], here.type)
            for x, best in zip(given, bests, strict=True)
        ]
        places = self.combined(
            stands, carried[1::2], nowhere, lambda x, y: b.op(arith.MaxSIOp, [x, y], x.type)
        )
        for place, best, last in zip(self.places, bests, places, strict=True):
            self.put_result(best, place, at)
            self.put(b.op(vectors.ExtSIOp, [last], type_of("i64", lanes)), "positions", place, at)
        return [self.last(value) for pair in zip(bests, places, strict=True) for value in pair]

    def further(self, before: SSAValue, x: SSAValue) -> SSAValue:
        """Of two vectors' elements those that are further, the later ones if they are as far."""
        if not self.kernel.accumulator.startswith("f"):
            return self.b.op(INTEGERS[self.kernel.kind], [before, x], x.type)
        joins = self.joins(x, before, self.kernel.neighbours)
        return self.b.op(vectors.SelectOp, [joins, x, before], x.type)

    def combined(
        self,
        given: Sequence[SSAValue],
        carried: Sequence[SSAValue],
        neutral: SSAValue,
        combine: Callable[[SSAValue, SSAValue], SSAValue],
    ) -> list[SSAValue]:
        """Each element of vectors with those before it, and with what is carried."""
        lanes, made = self.kernel.neighbours, list(given)
        for step in (1 << n for n in range(lanes.bit_length() - 1)):
            order = [*range(step), *range(lanes, 2 * lanes - step)]
            made = [combine(self.b.shuffle(neutral, x, lanes, order), x) for x in made]
        return [combine(before, x) for before, x in zip(carried, made, strict=True)]

    def last(self, value: SSAValue) -> SSAValue:
        """The last lane, in all of them."""
        lanes = self.kernel.neighbours
        return self.b.shuffle(value, value, lanes, [lanes - 1] * lanes)
