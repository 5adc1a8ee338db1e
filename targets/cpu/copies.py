"""Copies as dispatches: which of them have a kernel, and how it sees what it copies."""

from __future__ import annotations

from itertools import pairwise

from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.dispatches.buffers import Value
from xdsl_exir.lowering.dispatches.views import permuted, reshaped
from xdsl_exir.lowering.sizes import static
from xdsl_exir.lowering.vector_builder import ELEMENT_TYPES
from xdsl_exir.targets.cpu.epilogues import input_of
from xdsl_exir.targets.cpu.kernels.copies import Copy
from xdsl_exir.targets.cpu.kernels.description import Machine

FEW = 8
"""Elements of a row, or of a side of what is transposed, from which on vectors are worth it."""


def copy_of(source: Value, target: Value, machine: Machine) -> tuple[Copy, list[Value]] | None:
    """The kernel that copies a value to another one of its shape, and what it is called with; None if there is none."""
    seen = in_few_dimensions(source, target)
    if (
        seen is None
        or input_of(source).dtype not in ELEMENT_TYPES
        or source.dtype.category is Category.COMPLEX
    ):
        return None
    source, target = seen
    shape, rank = source.shape, len(source.shape)
    if target.strides[-1] != 1 or is_few(shape[-1]):
        return None
    if source.strides[-1] == 1:
        return Copy(input_of(source), input_of(target), False, machine), [source, target]
    along = next(
        (dim for dim in range(rank - 1) if source.strides[dim] == 1 and not is_few(shape[dim])), None
    )
    if along is None:
        return None
    others = [dim for dim in range(rank - 1) if dim != along]
    values = [permuted(source, [*others, rank - 1, along]), permuted(target, [*others, along, rank - 1])]
    return Copy(input_of(values[0]), input_of(values[1]), True, machine), values


def is_few(size: Dim) -> bool:
    """Whether so many elements are known to be not worth vectors."""
    return isinstance(size, int) and size < FEW


def in_few_dimensions(source: Value, target: Value) -> tuple[Value, Value] | None:
    """Both in the order in which the target's elements lie, if that is known, those dimensions as one that lie behind each other in both."""
    if 0 in source.shape:
        return None
    order = [dim for dim, size in enumerate(source.shape) if size != 1]
    if is_static(target.strides):
        order.sort(key=lambda dim: -static([target.strides[dim]])[0])
    if not order:
        return None
    sizes: list[list[Dim]] = [[source.shape[order[0]]]]
    for outer, inner in pairwise(order):
        size = source.shape[inner]
        if all(value.strides[outer] == value.strides[inner] * size for value in (source, target)):
            sizes[-1].append(size)
        else:
            sizes.append([size])
    ones = [dim for dim, size in enumerate(source.shape) if size == 1]
    merged = [prod(group) for group in sizes]
    views = [reshaped(permuted(value, [*ones, *order]), tuple(merged)) for value in (source, target)]
    first, second = views
    return None if first is None or second is None else (first, second)
