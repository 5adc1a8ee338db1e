"""State that a caller gives in place of a program's own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from xdsl_exir.errors import InputError
from xdsl_exir.exchange.arrays import array_of
from xdsl_exir.exchange.tensor_data import TensorData

MOST = 5
"""Names that an error lists."""


def replaced_state(
    state: Mapping[str, TensorData], given: Mapping[str, Any], needed: Collection[str] = ()
) -> dict[str, TensorData]:
    """Copies of what is given, by the names in a program's state, and of what shares its memory there.

    Raises `InputError` where a needed name is not given, one is not known, dtype or shape differ, or names of one memory have
    different values."""
    if unknown := [name for name in given if name not in state]:
        raise InputError(f"the program has no state called {listed(unknown)}")
    if missing := sorted(set(needed) - given.keys()):
        raise InputError(f"not given: {listed(missing)} (strict=False leaves them as they are)")
    found = {name: data_of(name, value, state[name]) for name, value in given.items()}
    by_storage: dict[int, list[str]] = {}
    for name in found:
        by_storage.setdefault(state[name].storage_key, []).append(name)
    tied = dict(found)
    for name, data in state.items():
        for other in by_storage.get(data.storage_key, ()):
            if data != state[other] and name not in found and overlap(data, state[other]):
                raise InputError(f"'{name}' shares memory with '{other}': give it, too")
            if data == state[other] and name not in found:
                tied[name] = found[other]
            elif data == state[other] and not same(found[name], found[other]):
                raise InputError(f"'{name}' and '{other}' are one array, and were given different values")
    return tied


def data_of(name: str, value: Any, data: TensorData) -> TensorData:
    """A copy of an array, as the program has it. Raises `InputError` for one of another kind."""
    try:
        array = array_of(value)
    except (TypeError, ValueError, RuntimeError, BufferError, AttributeError) as error:
        raise InputError(f"'{name}' is no array: {error}") from None
    wanted = data.dtype.numpy
    if array.dtype.newbyteorder("=") != wanted or array.shape != data.sizes:
        raise InputError(
            f"'{name}' is {array.dtype}{list(array.shape)}, expected {data.dtype.torch_name}{list(data.sizes)}"
        )
    return TensorData.of(np.array(array, wanted, order="C"), data.dtype)


def overlap(one: TensorData, other: TensorData) -> bool:
    """Whether the bytes from the first element to the last one of these, of one storage, overlap."""
    ends: list[tuple[int, int]] = []
    for data in (one, other):
        last = sum((size - 1) * stride for size, stride in zip(data.sizes, data.strides, strict=True))
        size = 0 if 0 in data.sizes else last + 1
        ends.append(
            (data.storage_offset * data.dtype.itemsize, (data.storage_offset + size) * data.dtype.itemsize)
        )
    (start, end), (other_start, other_end) = ends
    return start < other_end and other_start < end


def same(one: TensorData, other: TensorData) -> bool:
    """Whether these are the same bytes."""
    return one.numpy().tobytes() == other.numpy().tobytes()


def listed(names: Collection[str]) -> str:
    """Names, up to the first few."""
    shown = ", ".join(f"'{name}'" for name in list(names)[:MOST])
    return shown + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
