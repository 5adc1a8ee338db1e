"""Orders, the first few of one, and what is at one place of it, step by step as PyTorch finds them, which says where equal ones stand.

`torch.topk` on CPUs sorts part of a row with the C++ library's `partial_sort` where 64 times as many elements as it looks for are no
more than there are, else it has `nth_element` and `sort`. None of them is stable: which of equal elements are among the
first, and in which order, follows from their steps, those of libstdc++ (`bits/stl_algo.h`, `bits/stl_heap.h`): heaps, and
partitions by the median of three. `torch.sort` has the latter of elements of up to 16 bits (of others with AVX2 it sorts in vectors,
which is not followed here: equal ones stay as they stand). `torch.kthvalue` has a quickselect of its own (Sedgewick's, of 1978). They stand here once, for
whatever counts: Python's numbers, or what becomes code (`Steps`). They take rows as they come: the depth after which libstdc++ changes from partitions to a heap is not kept, which only rows made for it reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim

Number: TypeAlias = Any
"""An integer or a truth value: Python's, or one that code computes, which has Python's operators +, -, *, < and <= and goes with the former."""


Result = TypeVar("Result")
Function: TypeAlias = (
    Callable[[Number], Result]
    | Callable[[Number, Number], Result]
    | Callable[[Number, Number, Number], Result]
)
"""Of as many numbers as a loop carries."""


class Steps(Protocol):
    """A row of `size` positions in memory, at first each at its place, room for as many numbers behind them, and control flow."""

    def get(self, place: Number) -> Number:
        """What is held at a place."""
        ...

    def put(self, place: Number, value: Number) -> None:
        """Holds a number at a place from now on."""
        ...

    def precedes(self, x: Number, y: Number, /) -> Number:
        """Whether the element that stood at one position comes before that of another."""
        ...

    def half(self, x: Number) -> Number:
        """A number that is not negative, halved and rounded down."""
        ...

    def repeat(
        self,
        state: Sequence[Number],
        condition: Function[Number],
        step: Function[Sequence[Number]],
    ) -> Sequence[Number]:
        """Numbers that `step` makes of the last ones as long as `condition` holds of them."""
        ...

    def choose(
        self,
        condition: Number,
        then: Callable[[], Sequence[Number]],
        otherwise: Callable[[], Sequence[Number]],
    ) -> Sequence[Number]:
        """What one of two ways gives."""
        ...


class PythonSteps:
    """Steps in Python. Of the elements there are `ranks`, integers in their order."""

    def __init__(self, ranks: Sequence[int]):
        self.ranks = ranks
        self.held = [*range(len(ranks)), *[0] * len(ranks)]

    def get(self, place: int) -> int:
        return self.held[place]

    def put(self, place: int, value: int) -> None:
        self.held[place] = value

    def precedes(self, x: int, y: int) -> bool:
        return self.ranks[x] < self.ranks[y]

    def half(self, x: int) -> int:
        return x // 2

    def repeat(
        self, state: Sequence[int], condition: Callable[..., bool], step: Callable[..., Sequence[int]]
    ) -> Sequence[int]:
        while condition(*state):
            state = step(*state)
        return state

    def choose(
        self, condition: bool, then: Callable[[], Sequence[int]], otherwise: Callable[[], Sequence[int]]
    ) -> Sequence[int]:
        return then() if condition else otherwise()


def introselect(row: Steps, count: Number, size: Number, is_sorted: bool = True) -> None:
    """Brings the first `count` of `size` positions to the first places, in order unless only to be selected. There is at least one to
    find."""

    def partial_sort() -> Sequence[Number]:
        _heap_select(row, count, size)
        _sort_heap(row, count)
        return ()

    def select() -> Sequence[Number]:
        _nth_element(row, count - 1, size)
        if is_sorted:
            _sort(row, count - 1, size)
        return ()

    row.choose(count * 64 <= size, partial_sort, select)


def first_places(ranks: Sequence[int], count: int, is_sorted: bool = True) -> list[int]:
    """Where the first `count` elements stand, at least one. Of the elements there are `ranks`, integers in their order."""
    row = PythonSteps(ranks)
    introselect(row, count, len(ranks), is_sorted)
    return row.held[:count]


LEAST_BY_DIGITS = 32768
"""Integers of one dimension from which on PyTorch sorts them digit by digit (fbgemm)."""
FEW = 16
"""Elements that are put in order by insertion, which leaves equal ones as they stand."""


def sorts_by_steps(shape: Sequence[Dim], dim: int, dtype: DType, descending: bool) -> bool:
    """Whether `torch.sort` leaves equal elements of this dtype as they stand only if it is asked to."""
    size = shape[dim]
    by_digits = dtype.category is Category.INT and len(shape) == 1 and not descending
    if isinstance(size, int) and (size <= FEW or (by_digits and size >= LEAST_BY_DIGITS)):
        return False
    return dtype.bits <= 16


def introsort(row: Steps, size: Number) -> None:
    """Brings all to their places."""
    _sort(row, size, size)


def sorted_places(ranks: Sequence[int]) -> list[int]:
    """Where the elements of an order stand. Of the elements there are `ranks`, integers in their order."""
    row = PythonSteps(ranks)
    introsort(row, len(ranks))
    return row.held[: len(ranks)]


def quickselect(row: Steps, nth: Number, size: Number) -> None:
    """Brings what belongs at a place to it. What else is where, follows from the steps."""

    def narrow(first: Number, last: Number) -> Sequence[Number]:
        return row.choose(first + 1 < last, lambda: split(first, last), lambda: order(first, last))

    def order(first: Number, last: Number) -> Sequence[Number]:
        _swap_if_after(row, first, last)
        return [last, last]

    def split(first: Number, last: Number) -> Sequence[Number]:
        _swap(row, row.half(first + last), first + 1)
        _swap_if_after(row, first + 1, last)
        _swap_if_after(row, first, last)
        _swap_if_after(row, first + 1, first)
        left, right = _exchange(row, row.get(first), first + 2, last, lambda left, right: left <= right)
        _swap(row, first, right)
        [first] = row.choose(right <= nth, lambda: [left], lambda: [first])
        [last] = row.choose(nth <= right, lambda: [right - 1], lambda: [last])
        return [first, last]

    row.repeat([0, size - 1], lambda first, last: first < last, narrow)


def place_of(ranks: Sequence[int], nth: int) -> int:
    """Where the element stands that belongs at a place of the order. Of the elements there are `ranks`, integers in their order."""
    row = PythonSteps(ranks)
    quickselect(row, nth, len(ranks))
    return row.held[nth]


def _do_nothing() -> Sequence[Number]:
    return ()


def _when(row: Steps, condition: Number, then: Callable[[], None]) -> None:
    def way() -> Sequence[Number]:
        then()
        return ()

    row.choose(condition, way, _do_nothing)


def _both(row: Steps, condition: Number, other: Callable[[], Number]) -> Number:
    """Whether both hold; the other one is asked only where the first one holds."""
    [result] = row.choose(condition, lambda: [other()], lambda: [condition])
    return result


def _swap(row: Steps, x: Number, y: Number) -> None:
    first, second = row.get(x), row.get(y)
    row.put(x, second)
    row.put(y, first)


def _swap_if_after(row: Steps, x: Number, y: Number) -> None:
    """Exchanges two places if the order of what they hold is the other one."""
    _when(row, row.precedes(row.get(y), row.get(x)), lambda: _swap(row, x, y))


# --- heaps: the last in order is at place 0 ------------------------------------------------------------------


def _adjust_heap(row: Steps, top: Number, length: Number, value: Number) -> None:
    """A value into a hole at the top of a heap: the hole sinks to the ground, the value rises from there."""

    def sink(hole: Number) -> Sequence[Number]:
        right = hole * 2 + 2
        [child] = row.choose(
            row.precedes(row.get(right), row.get(right - 1)), lambda: [right - 1], lambda: [right]
        )
        row.put(hole, row.get(child))
        return [child]

    def only_left() -> Sequence[Number]:
        row.put(hole, row.get(hole * 2 + 1))
        return [hole * 2 + 1]

    def parent(hole: Number) -> Number:
        return row.half(hole - 1)

    def rise(hole: Number) -> Sequence[Number]:
        row.put(hole, row.get(parent(hole)))
        return [parent(hole)]

    def rises(hole: Number) -> Number:
        return _both(row, top < hole, lambda: row.precedes(row.get(parent(hole)), value))

    [hole] = row.repeat([top], lambda hole: hole * 2 + 2 < length, sink)
    [ground] = row.choose(hole * 2 + 2 <= length, only_left, lambda: [hole])
    [place] = row.repeat([ground], rises, rise)
    row.put(place, value)


def _heap_select(row: Steps, count: Number, size: Number) -> None:
    """The first ones to a heap at the beginning."""

    def heap_below(end: Number) -> Sequence[Number]:
        _adjust_heap(row, end - 1, count, row.get(end - 1))
        return [end - 1]

    def exchange(place: Number) -> None:
        value = row.get(place)
        row.put(place, row.get(0))
        _adjust_heap(row, 0, count, value)

    def look(place: Number) -> Sequence[Number]:
        _when(row, row.precedes(row.get(place), row.get(0)), lambda: exchange(place))
        return [place + 1]

    row.repeat([row.half(count)], lambda end: end > 0, heap_below)
    row.repeat([count], lambda place: place < size, look)


def _sort_heap(row: Steps, count: Number) -> None:
    """A heap to elements in order: the last of those left to their end, again and again."""

    def take_last(length: Number) -> Sequence[Number]:
        last = length - 1
        value = row.get(last)
        row.put(last, row.get(0))
        _adjust_heap(row, 0, last, value)
        return [last]

    row.repeat([count], lambda length: length - 1 > 0, take_last)


# --- partitions ----------------------------------------------------------------------------------------------


def _median_to_first(row: Steps, first: Number, a: Number, b: Number, c: Number) -> None:
    """Exchanges the median of three places with the first."""

    def before(x: Number, y: Number) -> Number:
        return row.precedes(row.get(x), row.get(y))

    def of(x: Number, y: Number, z: Number) -> Sequence[Number]:
        """The median, if `x` comes before `y`."""
        return row.choose(
            before(y, z), lambda: [y], lambda: row.choose(before(x, z), lambda: [z], lambda: [x])
        )

    def otherwise() -> Sequence[Number]:
        return row.choose(
            before(a, c), lambda: [a], lambda: row.choose(before(b, c), lambda: [c], lambda: [b])
        )

    [median] = row.choose(before(a, b), lambda: of(a, b, c), otherwise)
    _swap(row, first, median)


def _partition(row: Steps, first: Number, last: Number) -> Number:
    """Where the second part of a range begins, whose elements do not come before a pivot, nor those of the first part after it."""
    _median_to_first(row, first, first + 1, first + row.half(last - first), last - 1)
    return _exchange(row, row.get(first), first + 1, last, lambda left, right: left < right)[0]


def _exchange(
    row: Steps, pivot: Number, left: Number, right: Number, goes_on: Callable[[Number, Number], Number]
) -> Sequence[Number]:
    """Swaps elements on the wrong side of a pivot, from both ends of a range on, and tells where the two searches have met."""

    def scan(left: Number, right: Number) -> tuple[Number, Number]:
        """To the next ones from both ends that are on the wrong side."""
        [left] = row.repeat(
            [left], lambda place: row.precedes(row.get(place), pivot), lambda place: [place + 1]
        )
        [right] = row.repeat(
            [right - 1], lambda place: row.precedes(pivot, row.get(place)), lambda place: [place - 1]
        )
        return left, right

    def exchange(left: Number, right: Number) -> Sequence[Number]:
        _swap(row, left, right)
        return scan(left + 1, right)

    return row.repeat(scan(left, right), goes_on, exchange)


def _insertion_sort(row: Steps, first: Number, last: Number) -> None:
    def insert(place: Number) -> Sequence[Number]:
        value = row.get(place)

        def moves(free: Number) -> Number:
            return _both(row, first < free, lambda: row.precedes(value, row.get(free - 1)))

        def move(free: Number) -> Sequence[Number]:
            row.put(free, row.get(free - 1))
            return [free - 1]

        [free] = row.repeat([place], moves, move)
        row.put(free, value)
        return [place + 1]

    row.repeat([first + 1], lambda place: place < last, insert)


def _nth_element(row: Steps, nth: Number, size: Number) -> None:
    """What belongs at a place to it; nothing before that comes after it."""

    def narrow(first: Number, last: Number) -> Sequence[Number]:
        cut = _partition(row, first, last)
        return row.choose(cut <= nth, lambda: [cut, last], lambda: [first, cut])

    [first, last] = row.repeat([0, size], lambda first, last: first + 3 < last, narrow)
    _insertion_sort(row, first, last)


def _sort(row: Steps, count: Number, behind: Number) -> None:
    """Partitions, from the left on, down to a few elements; what is left to do an insertion sort does. The ends of ranges still to be
    partitioned are held `behind` the row, at first the end of all."""

    def part(first: Number, last: Number, free: Number) -> Sequence[Number]:
        def divide() -> Sequence[Number]:
            cut = _partition(row, first, last)
            row.put(free, last)
            return [first, cut, free + 1]

        def go_on() -> Sequence[Number]:
            return [last, row.get(free - 1), free - 1]

        return row.choose(first + FEW < last, divide, go_on)

    row.put(behind, count)
    row.repeat([0, count, behind + 1], lambda first, last, free: behind < free, part)
    _insertion_sort(row, 0, count)
