"""Values that data decide, as tensors: what branches give and what loops carry leaves their graphs so.

Conditions are tensors of one boolean; numbers int64 or float64 tensors of no dimensions, whose elements are read again.
"""

from __future__ import annotations

from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.importers.torchscript.special import number_to_tensor
from xdsl_exir.importers.torchscript.tensors import Tensors
from xdsl_exir.importers.torchscript.values import Condition, Number, TensorValue

DTYPES: dict[str, DType] = {"bool": dt.Bool, "int": dt.Long, "float": dt.Double}
"""Of tensors that say numbers, by the numbers' kinds."""


def kind_of(value: Any) -> str:
    """What a value is carried as: `tensor`, the kind of a number, or nothing."""
    match value:
        case TensorValue():
            return "tensor"
        case Condition():
            return "bool"
        case Number():
            return value.kind
        case bool() | int() | float():
            return type(value).__name__
        case _:
            return ""


def as_tensor(tensors: Tensors, value: Any) -> TensorValue:
    """A value as a tensor of a graph."""
    match value:
        case TensorValue():
            return value
        case Condition():
            return value.tensor
        case _:
            return number_to_tensor(tensors, value)


def from_tensor(tensors: Tensors, tensor: TensorValue, kind: str) -> Any:
    """The value of a kind that a tensor says."""
    if kind == "tensor":
        return tensor
    return Condition(tensor) if kind == "bool" else tensors.item(tensor)
