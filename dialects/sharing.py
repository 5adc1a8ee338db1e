"""Which results of an operator share memory with which of its operands.

A fact of every operator, which its schema tells only in part: `dropout` says that it makes a new tensor and returns its
operand, `reshape` says that it gives a view and sometimes copies. The spec has it in a field, `shares`, probed from PyTorch's
kernels (`tools/spec/memory.py`): the operand whose memory the result lies in, and the condition under which it does.

    shares: self
    shares: self if viewable
    shares: self or itself if unchanged

The last says that a result which looks like the operand is that tensor, so that `squeeze_` of one is seen in the other. Of operators with a list of results each lies in the operand, or in that of its place where the operand is a list too.
Importers functionalize by this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_letters
from typing import Any

from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.errors import SpecError


@dataclass(frozen=True)
class Memory:
    """How a tensor lies in memory. Sizes and strides count elements."""

    dtype: DType
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    device: str = "cpu"
    is_conjugated: bool = False
    """Whether the tensor is the conjugate of what lies there (PyTorch's `is_conj`)."""
    is_negated: bool = False
    """Whether it is the negative (`is_neg`)."""

    @property
    def is_contiguous(self) -> bool:
        """Whether elements lie in row-major order, without gaps."""
        return 0 in self.sizes or self._held == self._row_major

    @property
    def _held(self) -> list[tuple[int, int]]:
        return [(size, stride) for size, stride in zip(self.sizes, self.strides, strict=True) if size != 1]

    @property
    def _row_major(self) -> list[tuple[int, int]]:
        sizes = [size for size, _ in self._held]
        return [(size, math.prod(sizes[dim + 1 :])) for dim, size in enumerate(sizes)]

    @property
    def overlaps(self) -> bool:
        """Whether two elements lie at the same place."""
        if 0 in self.sizes:
            return False
        reach = 0
        for stride, size in sorted((stride, size) for size, stride in self._held):
            if stride <= reach:
                return self._collides
            reach += (size - 1) * stride
        return False

    @property
    def _collides(self) -> bool:
        places = {0}
        for size, stride in self._held:
            if len(places) * size > FEW:
                return True
            moved = {place + at * stride for place in places for at in range(size)}
            if len(moved) < len(places) * size:
                return True
            places = moved
        return False


FEW = 1 << 16
"""Elements up to which places are compared one by one."""


def is_viewable(memory: Memory, sizes: Sequence[int]) -> bool:
    """Whether a tensor can be seen in another shape without a copy (`computeStride` in ATen's `TensorUtils.cpp`).

    `sizes` may hold a -1.
    """
    if 0 in memory.sizes or 0 in sizes:
        return True
    known = math.prod(size for size in sizes if size != -1)
    left = [math.prod(memory.sizes) // known if size == -1 and known else size for size in sizes]
    held = [(size, stride) for size, stride in zip(memory.sizes, memory.strides, strict=True) if size != 1]
    while held:
        # A run of dimensions that follow each other in memory is split as one likes.
        run, stride = held.pop()
        while held and held[-1][1] == run * stride:
            run *= held.pop()[0]
        while left and run % left[-1] == 0:
            run //= left.pop()
            if run == 1:
                break
        if run != 1:
            return False
    return True


Arguments = Mapping[str, Any]
Condition = Callable[[Arguments, Memory, Memory], bool]
"""Of an operator's arguments, how its operand lies in memory and what its result is."""


def _unchanged(arguments: Arguments, before: Memory, after: Memory) -> bool:
    same = (before.dtype, before.sizes, before.strides, before.device)
    return not arguments.get("copy") and same == (after.dtype, after.sizes, after.strides, after.device)


def _inactive(arguments: Arguments, before: Memory, after: Memory) -> bool:
    return not arguments["train"] or arguments["p"] == 0 or 0 in before.sizes


def _permutes(arguments: Arguments, before: Memory, after: Memory) -> bool:
    if len(arguments["tensors"]) != 1:
        return False
    inputs, arrow, output = "".join(filter(_IN_EQUATION.__contains__, arguments["equation"])).partition("->")
    return set(inputs) <= set(output) if arrow else len(set(inputs)) == len(inputs)


_IN_EQUATION = frozenset(ascii_letters + "->")


CONDITIONS: Mapping[str, Condition] = {
    "always": lambda arguments, before, after: True,
    "not_complex": lambda arguments, before, after: before.dtype.category is not Category.COMPLEX,
    "not_conjugated": lambda arguments, before, after: not before.is_conjugated,
    "not_negated": lambda arguments, before, after: not before.is_negated,
    "single": lambda arguments, before, after: len(arguments["tensors"]) == 1,
    "unchanged": _unchanged,
    "contiguous": lambda arguments, before, after: before.is_contiguous,
    "viewable": lambda arguments, before, after: is_viewable(before, after.sizes),
    "inactive": _inactive,
    "not_summed": lambda arguments, before, after: before.sizes == after.sizes != (),
    "permutes": _permutes,
}
"""Conditions by name, in the order in which a probe tries them: an operand that is not complex, or not seen as conjugate or
negative; a list of one tensor; a result of the operand's dtype, sizes and strides, where no copy is asked for; an operand in
row-major order; one that can be seen in the result's shape; dropout that drops nothing; a `sum_to_size` to the
operand's own; an `einsum` of one operand that sums nothing."""


@dataclass(frozen=True)
class Sharing:
    """An operator's `shares`."""

    source: str
    """The operand."""
    condition: str = "always"
    or_itself: bool = False
    """Whether a result of the operand's dtype, sizes and strides is the operand."""

    @staticmethod
    def parse(text: str) -> Sharing:
        """`self if viewable`. Raises `SpecError` for another form or condition."""
        sharing, _, condition = text.partition(" if ")
        source, itself, _ = sharing.partition(" or itself")
        found = Sharing(source, condition or "always", bool(itself))
        if found.condition not in CONDITIONS or str(found) != text:
            raise SpecError(f"shares: '{text}' is no operand, or no condition ({', '.join(CONDITIONS)})")
        return found

    def __str__(self) -> str:
        condition = "" if self.condition == "always" else f" if {self.condition}"
        return self.source + (" or itself" if self.or_itself else "") + condition

    def holds(self, arguments: Arguments, before: Memory, after: Memory) -> bool:
        """Whether the result of a call lies in the operand's memory. `arguments` are all of the call, defaults included."""
        return CONDITIONS[self.condition](arguments, before, after)
