"""How much memory there is, so that what cannot fit is refused before it is allocated: systems that promise more than they
have end the process that takes it."""

from __future__ import annotations

import os
from functools import cache
from math import prod

from xdsl.ir import Attribute

from xdsl_exir.dialects.tensors import is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError


@cache
def physical_memory() -> int:
    """Bytes of this machine's memory; what can be addressed where nobody says."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 63


def bytes_of(type: Attribute) -> int:
    """Bytes of a tensor's elements; 0 of a number, and of a tensor of symbolic sizes."""
    if not is_tensor_type(type):
        return 0
    meta = tensor_meta(type)
    sizes = [size for size in meta.shape if isinstance(size, int)]
    return prod(sizes) * meta.dtype.itemsize if len(sizes) == meta.ndim else 0


def check_fits(what: str, needed: int, available: int | None = None) -> None:
    """Raises `ExirError` where so many bytes are more than there are, in the machine by default."""
    available = physical_memory() if available is None else available
    if needed > available:
        raise ExirError(f"{what}: {needed} bytes are needed, there are {available}")
