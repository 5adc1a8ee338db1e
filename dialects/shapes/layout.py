"""Shape rules of the operators that say how tensors lie in memory (`dim_order_ops`); memory formats as orders of dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl_exir.dialects.meta import Shape, check_order, shape_rule
from xdsl_exir.dialects.shapes.view import PartialShape, only_sizes
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.errors import ExirError

ATEN_OPERATORS: Mapping[str, str] = {
    "dim_order_ops._to_dim_order_copy": "aten._to_copy",
    "dim_order_ops._clone_dim_order": "aten.clone",
    "dim_order_ops._empty_dim_order": "aten.empty.memory_format",
}
"""The operators, and the ones of ATen that take a memory format in place of an order."""

CHANNELS_LAST = {"channels_last": 4, "channels_last_3d": 5}
"""Memory formats with the channels innermost, and the rank of the tensors that have them."""


def dim_order(memory_format: str, rank: int) -> list[int] | None:
    """The order that a memory format is for a rank; None of `preserve_format`.

    Raises `ExirError` for channels last of another rank, which PyTorch refuses too.
    """
    if memory_format == "preserve_format":
        return None
    if memory_format not in CHANNELS_LAST:
        return list(range(rank))
    if rank != CHANNELS_LAST[memory_format]:
        raise ExirError(f"{memory_format} of a tensor of {rank} dimensions")
    return [0, *range(2, rank), 1]


def memory_format(order: Sequence[int]) -> str:
    """The memory format of an order. Raises `ExirError` for an order that is none of PyTorch's."""
    rank = len(order)
    formats = ["contiguous_format", *(name for name, its_rank in CHANNELS_LAST.items() if its_rank == rank)]
    for name in formats:
        if dim_order(name, rank) == list(order):
            return name
    raise ExirError(f"dim_order {list(order)} is no memory format of PyTorch's")


@shape_rule("dim_order_ops._to_dim_order_copy", "dim_order_ops._clone_dim_order")
def copy(self: TensorMeta, dim_order: list[int] | None) -> Shape:
    check_order(dim_order, self.ndim)
    return self.shape


@shape_rule("dim_order_ops._empty_dim_order")
def empty(size: list[int], dim_order: list[int] | None) -> PartialShape:
    check_order(dim_order, len(size))
    return only_sizes(size)
