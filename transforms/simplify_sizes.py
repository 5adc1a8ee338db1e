"""`simplify-sizes`: what the ranges and guards of a method's symbols say of its sizes, in all types.

Export writes sizes as it traced them, such as `1 - max(1 - s0, 0)`, which is 1 for all that `s0` may be, and has a guard where it took two
sizes for the same. Below edge a dimension broadcasts if its size is 1, and loops are shared by what has the same sizes: what
is known has to be in the types. A call that is out of range, or breaks a guard, is refused before anything is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from xdsl_exir.dialects import edge
from xdsl_exir.dialects.builder import Builder
from xdsl_exir.dialects.expr import Dim, Expr, as_dim, simplified
from xdsl_exir.dialects.signature import UNSAID, guards_of, held_ranges_of, ranges_of
from xdsl_exir.dialects.sym_ops import SymGtOp
from xdsl_exir.program import methods_of
from xdsl_exir.transforms.retyping import Place, change_sizes, compared, places_of


@dataclass(frozen=True)
class SimplifySizes(ModulePass):
    """Puts the simplest size in place of each, of those that are equal whenever a method runs.

    A size that is 1 but of empty tensors becomes 1 where nobody said whether these are given (`Dim.AUTO`): PyTorch, which leaves them out when
    it traces, had it broadcast. An assertion says so.
    """

    name = "simplify-sizes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in methods_of(op).values():
            if not ranges_of(function):
                continue  # nobody says anything of a size
            sizes = Sizes.of(function)
            change_sizes(function, sizes.simplest)
            for symbol in sorted(sizes.relied_on):
                assert_some(function.body.block, sizes.places[symbol], symbol)


@dataclass
class Sizes:
    """What is known of the sizes of a method."""

    ranges: Mapping[str, tuple[int | None, int | None]]
    places: Mapping[str, Place]
    """Of the symbols that may be 0 as nobody said that they are not."""
    equal: Mapping[Dim, Dim]
    """Sizes that guards say are symbols or numbers, with these."""
    same: Mapping[str, Dim] = field(default_factory=dict[str, Dim])
    """Symbols that guards say are others, with these."""
    relied_on: set[str] = field(default_factory=set[str])
    """Symbols that were taken not to be 0."""
    known: dict[Dim, Dim] = field(default_factory=dict[Dim, Dim])

    @staticmethod
    def of(function: FuncOp) -> Sizes:
        ranges, said = held_ranges_of(function), ranges_of(function)
        places = {
            symbol: place
            for symbol, place in places_of(function.body.block).items()
            if ranges.get(symbol, ANY)[0] == 0 and said.get(symbol, ANY)[0] == UNSAID
        }
        guards = [simplified(guard, ranges) for guard in guards_of(function)]
        return Sizes(ranges, places, dict(equalities(guards)), dict(synonyms(guards)))

    def simplest(self, size: Dim) -> Dim:
        if size not in self.known:
            self.known[size] = self._simplest(size)
        return self.known[size]

    def _simplest(self, size: Dim) -> Dim:
        if isinstance(size, Expr) and self.same.keys() & size.free_symbols():
            size = size.substitute(self.same)
        size = simplified(size, self.ranges)
        if not isinstance(size, Expr) or size in self.equal:
            return self.equal.get(size, size)
        taken = size.free_symbols() & self.places.keys()
        some = {symbol: (1, self.ranges[symbol][1]) for symbol in taken}
        if not taken or simplified(size, {**self.ranges, **some}) != 1:
            return size
        self.relied_on |= taken
        return 1


def equalities(guards: Iterable[Dim]) -> Iterator[tuple[Dim, Dim]]:
    """Sizes that are a symbol or a number, with these."""
    for guard in guards:
        if isinstance(guard, Expr) and guard.head == "eq":
            for size, other in (guard.args, guard.args[::-1]):
                if size.head not in PLAIN and other.head in PLAIN:
                    yield as_dim(size), as_dim(other)


def synonyms(guards: Iterable[Dim]) -> Iterator[tuple[str, Dim]]:
    """Symbols that are others, with the first one of these by name."""
    pairs = [
        sorted(str(side) for side in guard.args)
        for guard in guards
        if isinstance(guard, Expr)
        and guard.head == "eq"
        and all(side.head == "symbol" for side in guard.args)
    ]
    first: dict[str, str] = {}
    for name, other in sorted(pairs):
        first[other] = min(first.get(name, name), first.get(other, name))
    yield from ((name, Expr.symbol(known)) for name, known in first.items() if name != known)


PLAIN = ("symbol", "constant")
ANY = (None, None)


def assert_some(block: Block, place: Place, symbol: str) -> None:
    """An assertion that an argument's dimension is not empty."""
    assert block.first_op is not None
    builder = Builder(edge.OPERATORS, block.first_op)
    some = compared(builder, place, SymGtOp, 0)
    message = f"{symbol} elements along a dimension are taken to be some"
    builder.call("aten._assert_scalar", [some, message], {})
