"""Canonicalizations of what picks or masks elements: a triangle of a triangle is itself, and what is computed of elements that a mask
picks, and put back by it, is chosen by the mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Results, meta, sizes
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.transforms.batching import is_pointwise
from xdsl_exir.transforms.canonicalizations import KEEP, canonicalization
from xdsl_exir.transforms.matching import made_by, same_arguments


@canonicalization("aten.tril", "aten.triu")
def triangle(aten: Namespace, self: SSAValue, diagonal: Any, op: OperatorOp) -> Results:
    inner = made_by(self, op.SPEC.qualified_name)
    return self if inner is not None and same_arguments(inner, {"diagonal": diagonal}) else KEEP


# --- elements that a mask picks ------------------------------------------------------------------------------

Indices = Sequence[SSAValue | None]
MAY_FAIL = ("aten.div", "aten.floor_divide", "aten.fmod", "aten.pow", "aten.remainder")
"""Operators, of any overload, that fail for some integers, of which a mask may have kept them."""


@canonicalization("aten.index_put")
def put_by_mask(
    aten: Namespace, self: SSAValue, indices: Indices, values: SSAValue, accumulate: bool
) -> Results:
    """`x[mask] = f(x[mask], y[mask])` is `where(mask, f(x, y), x)`, whose sizes do not depend on data."""
    masks = [index for index in indices if index is not None]
    if accumulate or len(masks) != 1 or meta(masks[0]).dtype is not dt.Bool or not meta(masks[0]).ndim:
        return KEEP
    [mask] = masks
    after = meta(self).ndim - indices.index(mask) - meta(mask).ndim
    whole = unpicked(aten, self, indices, values, after)
    if whole is None or whole is values:
        return KEEP
    places = aten.view(mask, [*sizes(aten, mask), *[1] * after]) if after else mask
    return aten.where.self(places, whole, self)


def unpicked(
    aten: Namespace, self: SSAValue, indices: Indices, values: SSAValue, after: int
) -> SSAValue | None:
    """What is computed element by element of what `indices` pick from tensors of the shape of `self`, computed of all elements.
    Of other values those are taken that have no more than the dimensions that come after the mask's. None where there is more to it."""
    wholes, left = dict[SSAValue, SSAValue](), [values]
    while left:
        value = left[-1]
        op, source = value.owner, picked_from(value, indices)
        if value in wholes:
            left.pop()
        elif source is not None and meta(source).shape == meta(self).shape:
            wholes[value] = source
        elif not is_tensor_type(value.type) or meta(value).ndim <= after:
            wholes[value] = value
        elif not isinstance(op, OperatorOp) or not is_whole_too(op):
            return None
        elif missing := [operand for operand in op.operands if operand not in wholes]:
            left += missing
        else:
            built = aten.builder.build(type(op), op.arguments(wholes.__getitem__))
            assert isinstance(built, SSAValue)
            wholes[value] = built
    return wholes[values]


def picked_from(value: SSAValue, indices: Indices) -> SSAValue | None:
    """What the same indices pick a value from."""
    op = made_by(value, "aten.index.Tensor")
    return op.operands[0] if op is not None and list(op.arguments()["indices"]) == list(indices) else None


def is_whole_too(op: OperatorOp) -> bool:
    """Whether an operator computes each element alone, and may do so of elements that nobody asked for."""
    fails = op.SPEC.qualified_name.startswith(MAY_FAIL) and any(
        is_tensor_type(value.type) and meta(value).dtype.category is Category.INT for value in op.operands
    )
    return len(op.results) == 1 and is_pointwise(op.SPEC) and not fails
