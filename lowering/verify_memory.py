"""`verify-memory`: that no two parts of an arena that are needed at the same time overlap, as proof, whoever planned them.

Which parts are needed when is found by liveness over the function, backwards, and owes nothing to `plan-memory`: a part is needed from
its `memref.view` to the last use of it, or of a view of it; in a loop, what is older than the loop is needed all the time. One may
lie exactly where another one does that is needed no longer once a call has read it, if the call is the first to use it and the description of its kernel
says that it may write there. Of symbolic
offsets and sizes (`exir.offset`, `exir.bytes`) it is shown for all values of the symbols, 0 among them, that the parts lie apart; where what
is known of expressions does not decide it, it is tried for many values.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from random import Random
from typing import Any, TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects import math as mlir_math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue

from xdsl_exir.dialects.expr import Dim, Expr, ExprError, apply, provably
from xdsl_exir.dialects.expr.limits import excerpt
from xdsl_exir.dialects.upstream import RemFOp
from xdsl_exir.errors import ExirError, VerificationError
from xdsl_exir.locations import location_text
from xdsl_exir.lowering.driver import size_in
from xdsl_exir.lowering.kernel import Kernels, OfKernels
from xdsl_exir.lowering.plan_memory import LOOPS, OFFSET, VIEWS, bytes_of, drivers_of, symbols_of
from xdsl_exir.lowering.pools import Arena, arenas_of
from xdsl_exir.lowering.vector_builder import FLOAT_PREDICATES
from xdsl_exir.threads import cached_property

# --- what is computed ----------------------------------------------------------------------------------------

Number: TypeAlias = Any
"""An int, or a float on the way from one int to another."""


def divide(a: int, b: int) -> int:
    """Division that rounds towards 0, as arith.divsi's."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS: dict[type[Operation], Callable[..., Number]] = {
    arith.AddiOp: operator.add,
    arith.SubiOp: operator.sub,
    arith.MuliOp: operator.mul,
    arith.DivSIOp: divide,
    arith.AndIOp: int.__and__,
    arith.OrIOp: int.__or__,
    arith.XOrIOp: int.__xor__,
    arith.ShLIOp: int.__lshift__,
    arith.MaxSIOp: max,
    arith.MinSIOp: min,
    arith.MaxUIOp: max,
    arith.MinUIOp: min,
    arith.IndexCastOp: int,
    arith.SIToFPOp: float,
    arith.FPToSIOp: int,
    arith.AddfOp: operator.add,
    arith.SubfOp: operator.sub,
    arith.MulfOp: operator.mul,
    arith.DivfOp: float.__truediv__,
    RemFOp: math.fmod,
    mlir_math.PowFOp: math.pow,
    mlir_math.SqrtOp: math.sqrt,
}
"""What sizes are computed with (`lowering.arithmetic`), on numbers."""
PREDICATES = operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge
"""Of arith.cmpi, in its order."""
REAL_PREDICATES = {
    FLOAT_PREDICATES.index(name): holds
    for name, holds in zip(("oeq", "une", "olt", "ole", "ogt", "oge"), PREDICATES, strict=True)
}
"""Of arith.cmpf, by their numbers."""


def evaluate(value: SSAValue, known: dict[SSAValue, Number]) -> Number:
    """The number that arithmetic on `index` values gives. Raises `VerificationError` for an operation that sizes are not computed with."""
    waiting = [value]
    while waiting:
        op = waiting[-1].owner
        if waiting[-1] in known:
            waiting.pop()
            continue
        if not isinstance(op, Operation):
            raise VerificationError("an offset into an arena depends on an argument that is no symbol")
        missing = [operand for operand in op.operands if operand not in known]
        if missing:
            waiting += missing
            continue
        known[waiting.pop()] = compute(op, [known[operand] for operand in op.operands])
    return known[value]


def compute(op: Operation, operands: Sequence[Number]) -> Number:
    """The result of one operation."""
    match op:
        case arith.ConstantOp(value=IntegerAttr(value=number) | FloatAttr(value=number)):
            return number.data
        case arith.CmpiOp(predicate=predicate) if predicate.value.data < len(PREDICATES):
            return PREDICATES[predicate.value.data](*operands)
        case arith.CmpfOp(predicate=predicate) if predicate.value.data in REAL_PREDICATES:
            return REAL_PREDICATES[predicate.value.data](*operands)
        case arith.SelectOp():
            return operands[1] if operands[0] else operands[2]
        case _ if type(op) in OPERATIONS:
            return OPERATIONS[type(op)](*operands)
        case _:
            raise VerificationError(f"an offset into an arena is computed with {op.name}")


# --- parts of an arena ---------------------------------------------------------------------------------------

IMAGE = 224
"""The width and the height of images that models are made for: some have whole windows of no others."""
TRIALS = (1, 64, 1009)
"""Values of symbols for which an offset is computed, to see that it is what it is said to be."""


@dataclass(frozen=True, eq=False)
class Part:
    """A part of an arena, in bytes."""

    op: memref.ViewOp
    start: Dim
    nbytes: Dim

    def __str__(self) -> str:
        place = location_text(self.op)
        ends = (excerpt(str(size)) for size in (self.start, self.start + self.nbytes))
        return f"[{', '.join(ends)})" + (f" ({place})" if place else "")


def part_of(op: memref.ViewOp, symbols: Mapping[str, SSAValue]) -> Part:
    """What a view takes of an arena. Raises `VerificationError` where its offset is not what it says."""
    start, seen = size_in(op.attributes.get(OFFSET)), False
    for trial in TRIALS:
        values = {name: trial + index for index, name in enumerate(symbols)}
        said = None if start is None else at(start, values)
        if start is not None and said is None:
            continue
        actual = evaluate(op.byte_shift, {symbols[name]: value for name, value in values.items()})
        start, seen = actual if start is None else start, True
        if said not in (None, actual):
            raise VerificationError(f"a part of an arena is at byte {actual}, not at {start}, for {values}")
    if start is None or not seen:
        raise VerificationError(
            f"a part of an arena is at byte {start}, which no sizes tried have a value for"
        )
    return Part(op, start, bytes_of(op, op.result.type))


def at(size: Dim, values: Mapping[str, int]) -> int | None:
    """A size for values of the symbols; None where it has none: of no call are there sizes that a size divides by 0 for."""
    try:
        return int(size.evaluate(values)) if isinstance(size, Expr) else size
    except ExprError:
        return None


class Layout:
    """Where the parts of an arena are."""

    def __init__(self, arena: Arena, symbols: Mapping[str, SSAValue]):
        self.total, self.alignment = arena.nbytes, arena.pool.alignment
        self.orders: dict[Dim, int] = {}
        self.parts: dict[SSAValue, Part] = {}
        for use in arena.argument.uses:
            if not isinstance(use.operation, memref.ViewOp):
                raise VerificationError(f"an arena is used by {use.operation.name}, which is no part of it")
            self.parts[use.operation.result] = part_of(use.operation, symbols)
        # The quotient of one by another is 0 in one of them; what is left of sound has a size from some hundreds on, or of images as models have them.
        orders = list(symbols), list(symbols)[::-1]
        starts = *((least, 1) for least in (64, 8, 4, 2, 1, 0, 1024, 16384)), (IMAGE, 0)
        tried = [
            {name: least + index * step for index, name in enumerate(order)}
            for least, step in starts
            for order in orders
        ]
        sizes = [size for size in self.sizes if size != 0]
        fit = (values for values in tried if all((at(size, values) or 0) > 0 for size in sizes))
        self.values = next(fit, tried[0])  # for these all parts have elements, if they can

    @cached_property
    def starts(self) -> list[Dim]:
        """All offsets, in the order that they have for some values of the symbols, and the arena's end."""
        return [*sorted({part.start for part in self.parts.values()}, key=self.order), self.total]

    @cached_property
    def sizes(self) -> list[Dim]:
        """Of the parts: of no call is one negative."""
        return [*dict.fromkeys(part.nbytes for part in self.parts.values())]

    @cached_property
    def trials(self) -> Trials:
        return Trials(self.sizes)

    def order(self, size: Dim) -> int:
        """What a size is for some values of the symbols."""
        if size not in self.orders:
            self.orders[size] = at(size, self.values) or 0
        return self.orders[size]

    @cached_property
    def rises(self) -> list[bool]:
        """Whether each offset is at most the next one."""
        return [at_most(a, 0, b, self.trials) for a, b in zip(self.starts, self.starts[1:], strict=False)]

    def reaches(self, part: Part) -> str | None:
        """What is wrong with a part by itself."""
        if isinstance(part.start, int) and part.start % self.alignment:
            return f"{part} is not aligned to {self.alignment} bytes"
        if not self.lies_before(part, self.total):
            return f"{part} reaches beyond the arena, which has {excerpt(str(self.total))} bytes"
        return None

    def lies_before(self, part: Part, end: Dim) -> bool:
        """Whether a part ends where something begins, or before."""
        if isinstance(end, int) and isinstance(part.start, int) and isinstance(part.nbytes, int):
            return part.start + part.nbytes <= end
        # It ends before an offset, and from there on offsets rise.
        beyond = self.order(part.start + part.nbytes)
        first = bisect_left(self.starts, beyond, key=self.order)
        until = bisect_right(self.starts, self.order(end), key=self.order) - 1
        if until < first or self.starts[until] != end:
            return False
        # Of parts that have no elements for these values several begin there.
        last = min(until, bisect_right(self.starts, beyond, key=self.order) - 1)
        return any(
            all(self.rises[after:until]) and at_most(part.start, part.nbytes, self.starts[after], self.trials)
            for after in range(first, max(first, last) + 1)
        )

    def are_apart(self, a: Part, b: Part) -> bool:
        """Whether two parts do not overlap."""
        return self.lies_before(a, b.start) or self.lies_before(b, a.start)


class Trials:
    """Values of symbols for which no size of some is negative."""

    def __init__(self, sizes: Sequence[Dim] = ()):
        self.sizes, self.drawn = sizes, dict[frozenset[str], list[dict[str, int]]]()

    def values(self, symbols: Collection[str]) -> list[dict[str, int]]:
        """Many of these symbols, and of those that the sizes depend on, drawn once."""
        names = frozenset((*symbols, *symbols_in(*self.sizes)))
        if names not in self.drawn:
            draw = Random(0)
            tried = (
                {name: draw.randint(0, most) for name in sorted(names)}
                for most in (1, 4, 20, 100, 5000, 100000)
                for _ in range(40)
            )
            self.drawn[names] = list(filter(self.fit, tried))
        return self.drawn[names]

    def fit(self, values: Mapping[str, int]) -> bool:
        """Whether they are sizes of a call, as far as is known."""
        found = (at(size, values) for size in self.sizes)
        return all(size is not None and size >= 0 for size in found)


def at_most(start: Dim, nbytes: Dim, end: Dim, trials: Trials) -> bool:
    """Whether `start + nbytes <= end` whatever the symbols are; where that is not known, for all that are tried. The largest of sizes is at
    least each of them, and what is at least each of them is at least the largest."""
    opaque: dict[Expr, Expr] = {}
    room, nbytes = hidden(end - start, opaque), hidden(nbytes, opaque)
    bounds = cases(room)
    proved = all(any(is_at_most(case, bound) for bound in bounds) for case in cases(nbytes))
    return proved or holds_often(apply("ge", room, nbytes), trials)


def holds_often(condition: Dim, trials: Trials) -> bool:
    """Whether a condition holds for many values of the symbols; not if there are none."""
    if not isinstance(condition, Expr):
        return bool(condition)
    found = (at(condition, values) for values in trials.values(symbols_in(condition)))
    seen = [bool(holds) for holds in found if holds is not None]
    return bool(seen) and all(seen)


@lru_cache(maxsize=4096)
def is_at_most(a: Dim, b: Dim) -> bool:
    """Whether one size is at most another, whatever the symbols are."""
    return provably(apply("ge", b, a), dict.fromkeys(symbols_in(a, b), (0, None))) is True


ROUNDED = frozenset(("trunc_to_int", "floor_to_int", "ceil_to_int", "round_to_int"))
"""Functions that make floats whole numbers."""


def hidden(size: Dim, opaque: dict[Expr, Expr]) -> Dim:
    """A size in which symbols stand for parts of it that went through floats: of these, too, it is known that they are not negative."""
    if not isinstance(size, Expr) or not size.args:
        return size
    if size.head in ROUNDED and provably(apply("ge", size, 0)):
        return opaque.setdefault(size, Expr.symbol(f"opaque{len(opaque)}"))
    args = tuple(hidden(arg, opaque) for arg in size.args)
    return size if args == size.args else apply(size.head, *args)


def symbols_in(*given: Dim) -> set[str]:
    """The symbols that sizes depend on."""
    return {name for size in given if isinstance(size, Expr) for name in size.free_symbols()}


def is_positive(size: Expr) -> bool:
    """Whether a size is a number above 0."""
    return isinstance(size.value, int) and size.value > 0


GROWS: dict[str, Callable[[Sequence[Expr]], bool]] = {
    "add": lambda args: True,
    "mul": lambda args: is_positive(args[0]) and len(args) == 2,
    "floordiv": lambda args: is_positive(args[1]),
}
"""Whether a function of sizes is larger where one of them is: not a product, unless it is with a positive number."""


@lru_cache(maxsize=4096)
def cases(size: Dim) -> Sequence[Dim]:
    """What a size may be: with one of several sizes in place of the largest of them, where the whole grows with it. It is the largest of
    these."""
    if not isinstance(size, Expr):
        return [size]
    if size.head == "max":
        return list(dict.fromkeys(case for arg in size.args for case in cases(arg)))
    if size.head not in GROWS or not GROWS[size.head](size.args):
        return [size]
    parts = [cases(arg) for arg in size.args]
    if not 1 < math.prod(map(len, parts)) <= MOST_CASES:
        return [size]
    return list(dict.fromkeys(apply(size.head, *chosen) for chosen in product(*parts)))


MOST_CASES = 256
"""Beyond which a size is taken as it is."""


# --- liveness ------------------------------------------------------------------------------------------------


class Liveness:
    """Which parts of arenas are needed where another one begins to be."""

    def __init__(self, function: FuncOp, layouts: Sequence[Layout], kernels: Kernels):
        self.kernels = kernels
        self.layouts = {value: layout for layout in layouts for value in layout.parts}
        """Of parts, the arena that they are of."""
        self.roots = {value: value for value in self.layouts}
        """What memrefs are views of."""
        self.replaced: dict[SSAValue, set[SSAValue]] = {}
        """Of parts that a kernel writes, and nothing used before: those in whose place they may be."""
        self.found: list[str] = []
        for op in function.walk():
            if op.operands and op.operands[0] in self.roots:
                for result in op.results:
                    if isinstance(result.type, MemRefType):
                        self.roots[result] = self.roots[op.operands[0]]
        self.block(function.body.block, set())

    def used(self, op: Operation) -> set[SSAValue]:
        """The parts older than an operation that it uses, in its regions too."""
        inside = list(op.walk())
        own = {result for inner in inside for result in inner.results}
        return {self.roots[o] for inner in inside for o in inner.operands if o in self.roots} - own

    def block(self, block: Block, live: set[SSAValue]) -> None:
        """Goes backwards through a block at whose end these parts are needed; leaves those that are at its beginning."""
        for op in reversed(list(block.ops)):
            if op.results and op.results[0] in self.layouts:
                self.begins(op.results[0], live)
                continue
            around = self.used(op)
            for region in op.regions:
                for inner in region.blocks:
                    # In a loop the next turn needs what this one does.
                    self.block(inner, live | around if isinstance(op, LOOPS) else set(live))
            self.uses(op, around, live)
            live |= around

    def uses(self, op: Operation, around: Collection[SSAValue], live: Collection[SSAValue]) -> None:
        """Notes what an operation means for what may be in place of something, `live` being what is needed after it."""
        if op.results and isinstance(op.results[0].type, MemRefType):
            return  # it only sees memory
        for value in around:
            self.replaced.pop(value, None)
        places = self.places(op)
        if places:
            roots = [self.roots.get(operand) for operand in op.operands]
            written = roots[-1]
            if written is not None and roots.count(written) == 1 and sees_all(op.operands[-1]):
                self.replaced[written] = {
                    read
                    for place in places
                    if (read := roots[place]) is not None
                    and read not in live
                    and roots.count(read) == 1
                    and sees_all(op.operands[place])
                    and op.operands[place].type == op.operands[-1].type
                }

    def places(self, op: Operation) -> Sequence[int]:
        """The operands in whose place a kernel may write its last one."""
        kernel = self.kernels(op.callee.string_value()) if isinstance(op, CallOp) else None
        return [] if kernel is None else kernel.places

    def begins(self, value: SSAValue, live: set[SSAValue]) -> None:
        """Compares a part that begins to be needed with those that are."""
        live.discard(value)
        layout, replaced = self.layouts[value], self.replaced.pop(value, set[SSAValue]())
        part = layout.parts[value]
        for other in live:
            if self.layouts[other] is not layout or layout.are_apart(part, layout.parts[other]):
                continue
            there = layout.parts[other]
            if other not in replaced or (part.start, part.nbytes) != (there.start, there.nbytes):
                self.found.append(f"{part} overlaps {there}, which is needed at the same time")


def sees_all(value: SSAValue) -> bool:
    """Whether a memref is a part of an arena as it is, from its beginning on."""
    while isinstance(op := value.owner, VIEWS):
        if isinstance(op, memref.ReinterpretCastOp) and op.static_offsets.get_values() != (0,):
            return False
        value = op.operands[0]
    return isinstance(value.owner, memref.ViewOp)


def violations_of(function: FuncOp, kernels: Kernels) -> list[str]:
    """All that is wrong with the memory of a function."""
    symbols, arenas = symbols_of(function), arenas_of(function)
    layouts = [Layout(arena, symbols) for arena in arenas]
    found = [wrong for layout in layouts for part in layout.parts.values() if (wrong := layout.reaches(part))]
    for arena in arenas:
        try:
            arena.pool.check(arena.nbytes)
        except ExirError as error:
            found.append(str(error))
    return found + Liveness(function, layouts, kernels).found


@dataclass(frozen=True)
class VerifyMemory(OfKernels):
    """Proves that parts of an arena that are needed at the same time do not overlap, but for what a kernel may write where it is the last to read.
    Raises `VerificationError` that lists those that may."""

    name = "verify-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = self.kernels(op)
        found = [
            f"@{f.sym_name.data}: {wrong}" for f in drivers_of(op) for wrong in violations_of(f, kernels)
        ]
        if found:
            raise VerificationError("\n".join(found))
