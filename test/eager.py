"""An independent opinion on an operation: whether PyTorch runs it, and gives results of the types that it has."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed  # defines quantized_decomposed
from differential import find_operator, flatten
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import SymType, number_category, tensor_meta

NUMBERS = {Category.BOOL: True, Category.INT: 1, Category.FLOAT: 0.5, Category.COMPLEX: 1j}
"""What a computed number is for PyTorch, by its type."""
SYMBOL = 2
"""What every symbol is."""

NAMED = {"Device": torch.device, "Layout": torch.layout, "MemoryFormat": torch.memory_format}
REFUSALS = (
    AssertionError,
    RuntimeError,
    TypeError,
    ValueError,
    IndexError,
    NotImplementedError,
    ZeroDivisionError,
    OverflowError,
)


def aten_operators() -> Iterator[Any]:
    """Every overload of every aten operator that PyTorch's dispatcher knows. (`dir(torch.ops.aten)` lists those in use.)"""
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::"):
            yield find_operator(name.replace("::", "."))


def torch_dtype(dtype: DType) -> torch.dtype:
    return getattr(torch, dtype.torch_name)


def size_of(size: int | Expr) -> int:
    return size if isinstance(size, int) else int(size.evaluate(dict.fromkeys(size.free_symbols(), SYMBOL)))


def value_of(type: Attribute, integer: int) -> Any:
    """A value of a type: integers are as given, all else one."""
    if isinstance(type, TensorType):
        meta = tensor_meta(type)
        fill = integer if meta.dtype.category is Category.INT else 1
        return torch.full([size_of(size) for size in meta.shape], fill, dtype=torch_dtype(meta.dtype))
    if isinstance(type, SymType):
        return size_of(type.data)
    category = number_category(type)
    if category is None:
        raise TypeError(f"PyTorch has no values of type {type}")
    return NUMBERS[category]


def torch_value(base: str, value: Any) -> Any:
    """An argument as PyTorch takes it."""
    if isinstance(value, list):
        return [torch_value(base, item) for item in value]
    if isinstance(value, DType):
        return torch_dtype(value)
    if base == "Device" and value is not None:
        return torch.device(value)
    if base in ("Layout", "MemoryFormat") and value is not None:
        return getattr(torch, value)
    return value


def boxed(value: Any) -> Any:
    """A Python number as 0-dim tensor of the dtype it promotes as."""
    if isinstance(value, list):
        return [boxed(item) for item in value]
    if not isinstance(value, bool | int | float | complex):
        return value
    return torch.tensor(value, dtype=torch.complex64 if isinstance(value, complex) else None)


def call(op: OperatorOp, integer: int = 0, box: bool = False) -> list[Any]:
    """The results of PyTorch's operator. Raises one of `REFUSALS` where it takes no such arguments."""
    arguments = op.arguments(lambda value: value_of(SSAValue.get(value).type, integer))
    schema = op.SPEC.schema
    given = {name: torch_value(schema.argument(name).type.base, value) for name, value in arguments.items()}
    if box:
        given |= {name: boxed(value) for name, value in given.items() if schema.argument(name).type.is_tensor}
    args = [given[a.name] for a in schema.arguments if a.name in given and not a.keyword_only]
    kwargs = {a.name: given[a.name] for a in schema.arguments if a.name in given and a.keyword_only}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations and the like: only what it returns matters here
        return flatten(find_operator(op.SPEC.qualified_name)(*args, **kwargs))


def gives(type: Attribute, value: Any) -> bool:
    """Whether a value of PyTorch's is of a type."""
    if not isinstance(type, TensorType):
        return not isinstance(value, torch.Tensor)
    meta = tensor_meta(type)
    if value is None:  # a gradient that nobody asked for
        return meta.shape == (0,)
    if not isinstance(value, torch.Tensor):
        return False
    # A symbolic size of a result is what the data make it.
    fits = len(meta.shape) == value.ndim and all(
        isinstance(size, Expr) or size == given for size, given in zip(meta.shape, value.shape, strict=True)
    )
    return fits and value.dtype == torch_dtype(meta.dtype)


def accepts(op: OperatorOp) -> bool:
    """Whether PyTorch runs the operation with results of its types, in one of four readings.

    Integers are zeros (which index any dimension) or ones (which divide, and make assertions hold). A Python number in
    a tensor's place is itself, or where PyTorch's own binding takes none, a 0-dim tensor.
    """
    return any(_accepts(op, integer, box) for box in (False, True) for integer in (0, 1))


def _accepts(op: OperatorOp, integer: int, box: bool) -> bool:
    try:
        results = call(op, integer, box)
    except REFUSALS:
        return False
    return len(results) == len(op.results) and all(map(gives, op.result_types, results))
