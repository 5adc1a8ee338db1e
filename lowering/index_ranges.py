"""What operators that pick and place elements demand of their indices, and within which integers the elements of a tensor are known to be.

Indices that are within their dimension whatever a call gives, as positions and what clamps and remainders give, are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, cast, meta
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.meta import numel
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import SymIntType, is_value
from xdsl_exir.transforms.fold_constants import Array
from xdsl_exir.transforms.matching import made_by
from xdsl_exir.transforms.numbers_to_tensors import is_item

Known: TypeAlias = Mapping[SSAValue, Array]
"""Arrays of what is the same in all calls."""


@dataclass(frozen=True)
class Index:
    """A tensor of indices into a dimension of another; whether negative ones count from the end."""

    value: SSAValue
    of: SSAValue
    dim: int
    wraps: bool = False

    @property
    def size(self) -> Dim:
        shape = meta(self.of).shape
        return shape[self.dim] if shape else 1

    @property
    def message(self) -> str:
        return f"an index is out of range for a dimension of size {self.size}"

    def is_within(self, known: Known) -> bool:
        """Whether it is in range whatever a call gives."""
        low, high = range_of(self.value, known)
        size = self.size
        ends = high is not None and (
            high == size or (isinstance(high, int) and isinstance(size, int) and high <= size)
        )
        least = -size if self.wraps and isinstance(size, int) else 0
        return ends and low is not None and low >= least

    def check(self, aten: Namespace) -> SSAValue:
        """Whether each index is in range, element by element."""
        index = cast(aten, self.value, dt.Long)
        if isinstance(self.size, int):
            end = aten.builder.constant(self.size, dt.Long)
        else:
            end = aten.full([], aten.sym_size.int(self.of, self.dim), dtype=dt.Long)
        least = aten.neg(end) if self.wraps else aten.builder.constant(0, dt.Long)
        return aten.logical_and(aten.ge.Tensor(index, least), aten.lt.Tensor(index, end))


# --- which indices -------------------------------------------------------------------------------------------


def along(self: SSAValue, dim: int, index: SSAValue, **_: Any) -> Iterator[Index]:
    yield Index(index, self, dim)


def of_rows(weight: SSAValue, indices: SSAValue, **_: Any) -> Iterator[Index]:
    yield Index(indices, weight, 0)


def of_dimensions(self: SSAValue, indices: list[SSAValue | None], **_: Any) -> Iterator[Index]:
    """A mask stands for as many dimensions as it has, and demands nothing."""
    dim = 0
    for index in indices:
        is_mask = index is not None and meta(index).dtype in (dt.Bool, dt.Byte)
        if index is not None and not is_mask:
            yield Index(index, self, dim, wraps=True)
        dim += meta(index).ndim if is_mask and index is not None else 1


INDICES: Mapping[str, Callable[..., Iterator[Index]]] = {
    **dict.fromkeys((f"aten.{name}" for name in ("embedding", "_embedding_bag", "_embedding_bag_forward_only")), of_rows),
    **dict.fromkeys(
        (f"aten.{name}" for name in ("index_select", "gather", "scatter.src", "scatter.value", "scatter_add", "scatter_reduce.two")),
        along,
    ),
    **dict.fromkeys(("aten.index.Tensor", "aten.index_put"), of_dimensions),
}  # fmt: skip
"""By operator, its indices, from its arguments."""


def indices_of(op: OperatorOp, known: Known) -> Iterator[Index]:
    """The indices of an operator that may be out of range. None of a call that gives nothing."""
    indices = INDICES.get(op.SPEC.qualified_name)
    if indices is None or numel(meta(op.results[0]).shape) == 0:
        return
    yield from (index for index in indices(**op.arguments()) if not index.is_within(known))


# --- within which integers -----------------------------------------------------------------------------------

Range: TypeAlias = "tuple[int | None, Dim | None]"
"""The least that elements may be, and what they are below; None where it is not known."""
MOVES: Mapping[str, str] = {
    f"aten.{name}": "self"
    for name in (
        "alias", "clone", "expand", "flip", "gather", "index.Tensor", "index_select", "permute", "repeat", "select.int", "slice.Tensor",
        "squeeze.dims", "unsqueeze", "view",
    )
}  # fmt: skip
"""Operators whose results have elements of an argument, and no others."""
DEPTH = 32
"""How many operations are looked through."""


def range_of(value: SSAValue, known: Known, depth: int = DEPTH) -> Range:
    """Within which integers the elements of a tensor are, from what makes it."""
    if value in known:
        return _of_elements(np.asarray(known[value]))
    op = value.owner
    if isinstance(op, ConstantOp):
        return _of_elements(np.asarray(op.values))
    if not isinstance(op, OperatorOp) or not depth or meta(value).dtype.category is not Category.INT:
        return None, None
    name, given = op.SPEC.qualified_name, op.arguments()
    if name in MOVES:
        return range_of(given[MOVES[name]], known, depth - 1)
    rule = RANGES.get(name)
    return (
        (None, None)
        if rule is None
        else rule(given, lambda each: range_of(each, known, depth - 1), op.results.index(value))
    )


def _of_elements(elements: Array) -> Range:
    if elements.dtype.kind not in "iub" or not elements.size:
        return None, None
    return int(elements.min()), int(elements.max()) + 1


Rule: TypeAlias = "Callable[[Mapping[str, Any], Callable[[SSAValue], Range], int], Range]"
"""From the arguments, what gives the range of one, and which result it is about."""


def _arange(given: Mapping[str, Any], of: Callable[[SSAValue], Range], result: int) -> Range:
    start, end, step = given["start"], given["end"], given["step"]
    if not isinstance(start, int) or not isinstance(step, int) or step <= 0:
        return None, None
    if is_value(end):
        end = end.type.data if isinstance(end.type, SymIntType) else None
    return start, end if isinstance(end, int | Expr) else None


def _clamp(given: Mapping[str, Any], of: Callable[[SSAValue], Range], result: int) -> Range:
    low, high = of(given["self"])
    least, most = given.get("min"), given.get("max")
    if isinstance(least, int):
        low = least if low is None else max(low, least)
    if isinstance(most, int):
        high = most + 1 if not isinstance(high, int) else min(high, most + 1)
    return low, high


def _remainder(given: Mapping[str, Any], of: Callable[[SSAValue], Range], result: int) -> Range:
    """It has the sign of the divisor."""
    low, high = of(given["other"])
    if low is None or low <= 0 or not isinstance(high, int):
        return None, None
    return 0, high - 1


def _copy(given: Mapping[str, Any], of: Callable[[SSAValue], Range], result: int) -> Range:
    held, dtype = meta(given["self"]).dtype, given.get("dtype")
    is_wider = held.category is Category.INT and (dtype is None or dtype.bits >= held.bits)
    return of(given["self"]) if is_wider else (0, 2) if held is dt.Bool else (None, None)


def _where(given: Mapping[str, Any], of: Callable[[SSAValue], Range], result: int) -> Range:
    (low, high), (other_low, other_high) = of(given["self"]), of(given["other"])
    least = None if low is None or other_low is None else min(low, other_low)
    if high == other_high:
        return least, high
    return least, max(high, other_high) if isinstance(high, int) and isinstance(other_high, int) else None


def _filled(given: Mapping[str, Any], of: Callable[[SSAValue], Range], result: int) -> Range:
    number = given["s"] if "s" in given else given["fill_value"]
    return (number, number + 1) if isinstance(number, int) else (None, None)


def _position(given: Mapping[str, Any], of: Callable[[SSAValue], Range], result: int) -> Range:
    """Where along a dimension an element was; of what gives elements as well, the second result."""
    held, dim = meta(given["self"]), given["dim"]
    if not isinstance(dim, int) or not held.ndim:
        return None, None
    return 0, held.shape[dim]


def _second(given: Mapping[str, Any], of: Callable[[SSAValue], Range], result: int) -> Range:
    return _position(given, of, result) if result == 1 else (None, None)


def _count(given: Mapping[str, Any], of: Callable[[SSAValue], Range], result: int) -> Range:
    """How many of all elements are set."""
    flags = meta(given["self"])
    return (0, numel(flags.shape) + 1) if flags.dtype is dt.Bool and not given["dim"] else (None, None)


def _places(given: Mapping[str, Any], of: Callable[[SSAValue], Range], result: int) -> Range:
    """Where elements along one dimension are set: of as many as there are, none is missing."""
    flags, size = given["self"], given["size"]
    item = size.owner if is_value(size) else None
    count = (
        made_by(item.operands[0], "aten.sum.dim_IntList")
        if isinstance(item, OperatorOp) and is_item(item)
        else None
    )
    counted = count is not None and count.operands[0] is flags and meta(flags).ndim == 1
    return (0, meta(flags).shape[0]) if counted else (None, None)


RANGES: Mapping[str, Rule] = {
    "aten.sum.dim_IntList": _count,
    "aten.nonzero_static": _places,
    "aten.arange.start_step": _arange,
    "aten.clamp": _clamp,
    "aten.remainder.Tensor": _remainder,
    "aten._to_copy": _copy,
    "aten.where.self": _where,
    **dict.fromkeys(("aten.full", "aten.full_like", "aten.scalar_tensor"), _filled),
    **dict.fromkeys(("aten.argmax", "aten.argmin"), _position),
    **dict.fromkeys(("aten.sort", "aten.sort.stable", "aten.topk", "aten.max.dim", "aten.min.dim"), _second),
}
