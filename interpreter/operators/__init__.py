"""What each operator computes, in NumPy: a small function each, in the family's file.

    @impl("aten.sigmoid", promote=True)
    def sigmoid(self: Array) -> Array:
        return 1 / (1 + np.exp(-self))

A function gets the arguments that it names: tensors as arrays, numbers as Python numbers, lists as lists, dtypes as
`DType`. Besides the schema's arguments it may name `out`, the dtypes of its results (a tuple of `DType`), and `rng`,
the run's `interpreter.generator.Generator`. It returns an array, or a tuple or list of them (of an operator with a number for
result, the number); the interpreter casts each array to its result's dtype.

Registration says how floating-point operands arrive:

- as a rule, float16 and bfloat16 come as float32 and results are rounded at the end, as PyTorch's CPU kernels compute;
- `promote=True`: operands that promote by the operator's dtype rule come in its computation dtype (integers as
  float32 where the results are floating-point);
- `raw=True`: as they are, for functions that move elements and never compute with them;
- both: in the computation dtype itself, for functions that compare or select;
- `undefined=(...)`: PyTorch accepts results of these dtypes, but what its own kernel gives for them is undefined, so
  that there is nothing to be equal to: the interpreter refuses them by name.

Arrays may be read-only and views of others: a function never writes to its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from typing_extensions import TypeIs

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.registry import Registry

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def with_strides(array: Array, shape: Sequence[int], strides: Sequence[int], writeable: bool) -> Array:
    """Elements at these strides, in bytes, from an array's first one on. NumPy does that to bytes: what ml_dtypes has it may not know."""
    elements = array.view(f"V{array.itemsize}")
    return np.lib.stride_tricks.as_strided(elements, shape, strides, writeable=writeable).view(array.dtype)


def is_array(value: object) -> TypeIs[Array]:
    """Whether this is an array."""
    return isinstance(value, np.ndarray)


def special(name: str) -> Callable[..., Array]:
    """A function of scipy.special, imported when first called."""

    def compute(*arrays: Array) -> Array:
        from scipy import special  # pyright: ignore[reportMissingTypeStubs]

        return getattr(special, name)(*arrays)

    return compute


F = TypeVar("F", bound=Callable[..., Any])

IMPLS: Registry[Callable[..., Any]] = Registry(
    "function", "xdsl_exir.interpreter.operators", extras=frozenset({"out", "rng"})
)


def impl(
    *names: str,
    promote: bool = False,
    raw: bool = False,
    undefined: tuple[DType, ...] = (),
    parameters: tuple[str, ...] | None = None,
) -> Callable[[F], F]:
    """Registers what computes the operators named, as xDSL's `impl` does for operations. `parameters`, where given, names what it gets."""
    return IMPLS.register(*names, parameters=parameters, promote=promote, raw=raw, undefined=undefined)
