"""Lowerings of operators that are said element by element, as arithmetic on `Scalar`s.

    @pointwise("aten.sigmoid")
    def sigmoid(self: Scalar) -> Scalar:
        return 1 / (1 + s.exp(-self))

A body gets the operator's arguments by name: tensors as their elements, everything else as in the schema. Integers
arrive as floats where the result is floating-point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.registry import Parameters
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import LOWERINGS
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import compute_dtype
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.tensors import Tensor

F = TypeVar("F", bound=Callable[..., Scalar])


def pointwise(*names: str, takes_complex: bool = False) -> Callable[[F], F]:
    """Registers the lowering of pointwise operators by what they do to elements, complex ones too if it `takes_complex`."""

    def decorate(body: F) -> F:
        def lower(b: LinalgBuilder, out: list[TensorMeta], **arguments: Any) -> Tensor:
            return elementwise(b, body, arguments, out[0])

        lower.__module__ = body.__module__  # whose rule it is
        parameters = (*Parameters.of(body).names, "out")
        LOWERINGS.register(*names, parameters=parameters, takes_complex=takes_complex)(lower)
        return body

    return decorate


def elementwise(
    b: LinalgBuilder, body: Callable[..., Scalar], arguments: dict[str, Any], out: TensorMeta
) -> Tensor:
    """Maps `body` over the elements of the arguments that are tensors."""
    tensors = {name: value for name, value in arguments.items() if isinstance(value, Tensor)}

    def element(*elements: Scalar) -> Scalar:
        given = dict(zip(tensors, (to_computation(x, out.dtype) for x in elements), strict=True))
        return body(**{**arguments, **given})

    return b.elementwise(element, list(tensors.values()), out.shape, out.dtype)


def to_computation(x: Scalar, result: DType) -> Scalar:
    """An element in the dtype the operator computes in: floating-point where the result is."""
    floating = result.category is Category.FLOAT and x.dtype.category < Category.FLOAT
    return s.cast(x, compute_dtype(result)) if floating else x
