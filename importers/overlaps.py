"""Writes to tensors of which several elements lie at one place in memory.

PyTorch refuses the plain case (an expanded tensor) of most operators; of others it is the order of the writes that
decides what is there in the end. Operators that write some elements and leave the others (`masked_fill_`) change a place if
they change one of its elements. Pointwise ones compute elements one after the other, each from what those before it
have left: element by element of a place in rounds, of which each computes and writes one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Builder, Namespace, meta, sizes
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import prod
from xdsl_exir.dialects.sharing import FEW, Memory
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.importers.functionalize import Tensor
from xdsl_exir.importers.views import Step, in_numbers, places_of

SELECTIVE = frozenset(
    f"aten.{name}"
    for name in (
        "fill_diagonal_", "masked_fill.Scalar", "masked_fill.Tensor", "masked_scatter", "index_fill.int_Scalar", "index_fill.int_Tensor",
        "index_put", "index_copy", "scatter.src", "scatter.value", "tril", "triu",
    )
)  # fmt: skip
"""Operators whose in-place variants write some elements, not computed from what was there, and leave the others."""

MASKED = frozenset({"aten.masked_fill.Scalar", "aten.masked_fill.Tensor", "aten.masked_scatter"})
"""Of these, those that are told which: an element may be written that is as it was, after another one of its place."""

MOST_ROUNDS = 64
"""So many elements of one place are written one after the other at most."""


def is_selective(operator: str, accumulates: bool) -> bool:
    return operator in SELECTIVE and not accumulates


def write_some(
    builder: Builder, target: Tensor, value: SSAValue, mask: SSAValue | None, target_name: str
) -> None:
    """Writes the elements of `value` that a mask picks; without one those that are others than the tensor's."""
    aten = Namespace(builder)
    if mask is None:
        picked = differs(aten, value, target.read(builder))
    else:
        picked = aten.expand(mask, sizes(aten, value))
    write_where(builder, target, value, picked, target_name)


def differs(aten: Namespace, value: SSAValue, before: SSAValue) -> SSAValue:
    """Which elements of two tensors differ. NaN is no other than NaN."""
    changed = aten.ne.Tensor(value, before)
    if meta(value).dtype.category in (Category.FLOAT, Category.COMPLEX):
        are_nan = aten.logical_and(aten.isnan(value), aten.isnan(before))
        changed = aten.logical_and(changed, aten.logical_not(are_nan))
    return changed


def write_where(builder: Builder, target: Tensor, value: SSAValue, mask: SSAValue, operator: str) -> None:
    """Writes the elements of `value` that a mask selects."""
    if not target.steps:
        raise UnsupportedError([Unsupported(operator, "a write to memory that overlaps itself")])
    base = target.storage.value
    target.storage.value = put_where(Namespace(builder), base, target.steps, value, mask)
    target.storage.version += 1


def put_where(
    aten: Namespace, base: SSAValue, steps: Sequence[Step], value: SSAValue, mask: SSAValue
) -> SSAValue:
    """What `base` becomes when the elements of its view by `steps` that a mask selects become those of `value`."""
    places = places_of(aten, base, steps, value)

    def put(numbers: SSAValue) -> SSAValue:
        count = prod(meta(numbers).shape)
        end = count if isinstance(count, int) else aten.sym_numel(numbers)
        # What is not written goes to a place behind the last one.
        longer = aten.constant_pad_nd(aten.view(numbers, [-1]), [0, 1], 0)
        beyond = aten.full([], end, dtype=dt.Long)
        written = aten.put(longer, aten.where.self(mask, places, beyond), value)
        return aten.view(aten.slice.Tensor(written, 0, 0, end), sizes(aten, numbers))

    return in_numbers(aten, base, value, put)


def write_in_order(
    builder: Builder,
    target: Tensor,
    compute: Callable[[], SSAValue],
    memories: Sequence[Memory],
    at_once: bool,
    operator: str,
) -> None:
    """Writes what a pointwise operator computes element by element: of each place again and again.

    `memories` say how the tensors that the operator iterates over lie, the written one first. Computed `at_once` is what
    PyTorch computes in another dtype than it is written in, and copies then: the last element of a place remains. Raises `UnsupportedError`
    where PyTorch does (a stride of 0), where a place has too many elements, and where a size is a symbol.
    """
    written = memories[0]
    held = zip(written.sizes, written.strides, strict=True)
    rounds = [] if math.prod(written.sizes) > FEW else rounds_of(memories[:1] if at_once else memories)
    if any(stride == 0 and size > 1 for size, stride in held) or not rounds or max(rounds) >= MOST_ROUNDS:
        raise UnsupportedError([Unsupported(operator, "a write to memory that overlaps itself")])
    masks = [[at == turn for at in rounds] for turn in range(max(rounds) + 1)]
    computed = compute() if at_once else None
    for mask in masks:
        value = compute() if computed is None else computed
        if not is_static(meta(value).shape):  # rounds are those of the sizes at export
            reason = "a write to memory that overlaps itself, of a symbolic size"
            raise UnsupportedError([Unsupported(operator, reason)])
        chosen = builder.constant(mask, dt.Bool, written.sizes)
        write_where(builder, target, value, chosen, operator)


def rounds_of(memories: Sequence[Memory]) -> list[int]:
    """Of each element of the first tensor, in row-major order, how many of its place PyTorch's iterator writes before it."""
    written = memories[0]
    order = loop_order(memories)
    seen: dict[int, int] = {}
    rounds: dict[tuple[int, ...], int] = {}
    for outer in product(*(range(written.sizes[dim]) for dim in order)):
        at = dict(zip(order, outer, strict=True))
        index = tuple(at[dim] for dim in range(len(written.sizes)))
        place = sum(i * stride for i, stride in zip(index, written.strides, strict=True))
        rounds[index] = seen.get(place, 0)
        seen[place] = rounds[index] + 1
    return [rounds[index] for index in product(*map(range, written.sizes))]


def loop_order(memories: Sequence[Memory]) -> list[int]:
    """Dimensions from the outermost loop to the innermost (`reorder_dimensions` of ATen's TensorIterator)."""
    rank = len(memories[0].sizes)

    def stride(memory: Memory, dim: int) -> int:
        own = dim - rank + len(memory.sizes)
        return 0 if own < 0 or memory.sizes[own] == 1 else memory.strides[own]

    def compare(one: int, other: int) -> int:
        """Positive where `one` lies outside of `other`."""
        for memory in memories:
            a, b = stride(memory, one), stride(memory, other)
            if a == 0 or b == 0:
                continue
            if a != b:
                return a - b
            if memories[0].sizes[one] > memories[0].sizes[other]:
                return 1
        return 0

    inner_first = list(reversed(range(rank)))
    for n in range(1, rank):  # an insertion sort, as there: the relation is no order
        at = n
        for before in reversed(range(n)):
            found = compare(inner_first[before], inner_first[at])
            if found > 0:
                inner_first[before], inner_first[at] = inner_first[at], inner_first[before]
                at = before
            elif found < 0:
                break
    return list(reversed(inner_first))
