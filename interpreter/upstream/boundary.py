"""Between a caller, who sees a method as it was at edge, and the method lowered to linalg, which takes other types.

Booleans are bytes there, unsigned integers signless ones; a number whose type says it is not passed at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xdsl_exir.dialects.sizes import is_symbol
from xdsl_exir.dialects.tensors import SymIntType, is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array
from xdsl_exir.interpreter.upstream.scalars import numpy_dtype


def passed(signature: FuncOp) -> list[int]:
    """Positions of the arguments at edge that the lowered method takes."""
    return [
        position
        for position, type in enumerate(signature.function_type.inputs)
        if not isinstance(type, SymIntType) or is_symbol(type.data)
    ]


def with_bits(value: Any, dtype: np.dtype[Any]) -> Array:
    """An array of numbers of the same bits in a dtype of the same size."""
    array = np.asarray(value)
    return array if array.dtype == dtype else np.ascontiguousarray(array).reshape(array.shape).view(dtype)


def stored(value: Any, type: Attribute) -> Any:
    """A value of edge as one of a lowered type; None of state that no operation looks at."""
    if value is None:
        return None
    if not isa(type, TensorType[Attribute]):
        return np.int64(value)
    return with_bits(value, numpy_dtype(type.element_type))


def given(value: Any, type: Attribute) -> Any:
    """A value of a lowered type as one of a type at edge."""
    if not is_tensor_type(type):
        return int(value)
    return with_bits(value, tensor_meta(type).dtype.numpy)


class Boundary:
    """How a lowered method is called as it was at edge. Raises `ExirError` where its signature is not one of it."""

    def __init__(self, function: FuncOp, signature: FuncOp):
        self.passed = passed(signature)
        self.types = function.function_type.inputs.data
        self.results = signature.function_type.outputs.data
        counts = len(self.types), len(function.function_type.outputs)
        if counts != (len(self.passed), len(self.results)):
            raise ExirError(
                f"'{function.sym_name.data}' has not the arguments and results that its signature says"
            )

    def arguments(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """What the lowered method takes of the values that it is called with."""
        return tuple(stored(values[at], type) for at, type in zip(self.passed, self.types, strict=True))

    def returned(self, values: Sequence[Any]) -> Iterator[Any]:
        """What a caller gets."""
        return (given(value, type) for value, type in zip(values, self.results, strict=True))
