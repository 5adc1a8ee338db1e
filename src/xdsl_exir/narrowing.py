"""Type tests of Python's containers.

`isinstance` tells a type checker the class and leaves what is in it unknown; these say what it is: anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypeIs


def is_list(value: object) -> TypeIs[list[Any]]:
    """Whether this is a list."""
    return isinstance(value, list)


def is_tuple(value: object) -> TypeIs[tuple[Any, ...]]:
    """Whether this is a tuple."""
    return isinstance(value, tuple)


def is_sequence(value: object) -> TypeIs[list[Any] | tuple[Any, ...]]:
    """Whether this is a list or a tuple."""
    return isinstance(value, list | tuple)


def is_dict(value: object) -> TypeIs[dict[Any, Any]]:
    """Whether this is a dictionary."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeIs[Mapping[Any, Any]]:
    """Whether this is a mapping."""
    return isinstance(value, Mapping)
