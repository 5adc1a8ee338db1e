"""How views lie in memory: their strides, from those of what they are views of.

TorchScript does not say them, and they decide what shares memory (`contiguous`, `reshape`) and what overlaps itself. Of
operators without a rule here nothing is known, and writes that depend on it are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl_exir.dialects.sharing import Memory
from xdsl_exir.narrowing import is_sequence

Strides: TypeAlias = tuple[int, ...]
Rule: TypeAlias = Callable[[Memory, Mapping[str, Any], Sequence[int]], "Strides | None"]
"""Of how the operand lies, the call's arguments and the result's sizes; None where it is not known."""


def row_major(sizes: Sequence[int]) -> Strides:
    """Strides of a tensor without gaps, the last dimension innermost."""
    return tuple(math.prod(max(size, 1) for size in sizes[dim + 1 :]) for dim in range(len(sizes)))


def view_strides(memory: Memory, sizes: Sequence[int]) -> Strides | None:
    """Strides of a tensor seen in another shape; None where that takes a copy (`computeStride` in ATen's `TensorUtils.cpp`)."""
    if 0 in memory.sizes:
        return row_major(sizes)
    held = [(size, stride) for size, stride in zip(memory.sizes, memory.strides, strict=True) if size != 1]
    left = list(sizes)
    found: list[int] = []
    while held:
        run, stride = held.pop()
        inner = stride
        while held and held[-1][1] == run * stride:
            run *= held.pop()[0]
        while left and run % left[-1] == 0 and (run > 1 or left[-1] == 1):
            size = left.pop()
            found.append(inner)
            inner *= size
            run //= size
        if run != 1:
            return None
    base = memory.sizes and row_major(sizes)
    while left:
        if left.pop() != 1:
            return None
        found.append(base[len(left)] if base else 1)
    return tuple(reversed(found))


def _reshaped(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    return view_strides(memory, sizes) or row_major(sizes)


def _same(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    return memory.strides


def _contiguous(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    return memory.strides if memory.is_contiguous else row_major(sizes)


def _dim(
    memory: Memory, given: Mapping[str, Any], name: str = "dim", default: int = 0, extra: int = 0
) -> int:
    return given.get(name, default) % max(len(memory.sizes) + extra, 1)


def _transposed(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    if not memory.strides:
        return ()
    first, second = _dim(memory, given, "dim0"), _dim(memory, given, "dim1", 1)
    strides = list(memory.strides)
    strides[first], strides[second] = strides[second], strides[first]
    return tuple(strides)


def _reversed(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    return memory.strides[::-1]


def _permuted(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    dims: Any = given["dims"]
    return tuple(memory.strides[int(dim)] for dim in dims)


def _without(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    dim = _dim(memory, given)
    return memory.strides[:dim] + memory.strides[dim + 1 :]


def _sliced(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    dim, step = _dim(memory, given), int(given.get("step", 1))
    return tuple(stride * step if at == dim else stride for at, stride in enumerate(memory.strides))


def _expanded(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    added = len(sizes) - len(memory.sizes)
    kept = zip(memory.sizes, memory.strides, sizes[added:], strict=True)
    return (0,) * added + tuple(stride if before == after else 0 for before, stride, after in kept)


def _unsqueezed(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    dim = _dim(memory, given, extra=1)
    inner = memory.sizes[dim] * memory.strides[dim] if dim < len(memory.sizes) else 1
    return (*memory.strides[:dim], inner, *memory.strides[dim:])


def _squeezed(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    dims: Any = given.get("dim", list(range(len(memory.sizes))))
    chosen = {int(dim) % max(len(memory.sizes), 1) for dim in (dims if is_sequence(dims) else [dims])}
    pairs = enumerate(zip(memory.sizes, memory.strides, strict=True))
    return tuple(stride for dim, (size, stride) in pairs if size != 1 or dim not in chosen)


def _converted(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides | None:
    return row_major(sizes) if memory.is_contiguous else None


def _diagonal(memory: Memory, given: Mapping[str, Any], sizes: Sequence[int]) -> Strides:
    first, second = _dim(memory, given, "dim1"), _dim(memory, given, "dim2", 1)
    rest = tuple(stride for dim, stride in enumerate(memory.strides) if dim not in (first, second))
    return (*rest, memory.strides[first] + memory.strides[second])


RULES: Mapping[str, Rule] = {
    f"aten.{name}": rule
    for names, rule in (
        ("view reshape flatten.using_ints unflatten.int _unsafe_view view_as reshape_as ravel", _reshaped),
        ("alias detach dropout feature_dropout alpha_dropout lift_fresh", _same),
        ("contiguous", _contiguous),
        ("transpose.int swapaxes swapdims", _transposed),
        ("t numpy_T", _reversed),
        ("permute", _permuted),
        ("select.int unbind.int", _without),
        (
            "slice.Tensor narrow split.Tensor split.sizes split_with_sizes chunk tensor_split.sections",
            _sliced,
        ),
        ("expand expand_as broadcast_to", _expanded),
        ("unsqueeze", _unsqueezed),
        ("squeeze squeeze.dim squeeze.dims", _squeezed),
        ("to.dtype to.device to.other to.dtype_layout type_as", _converted),
        ("diagonal", _diagonal),
    )
    for name in names.split()
}
"""Rules by operator."""
