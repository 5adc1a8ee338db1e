"""Values that data decide, as tensors: what branches give and what loops carry leaves their graphs so.

Conditions are tensors of one boolean; numbers int64 or float64 tensors of no dimensions, whose elements are read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.importers.torchscript.special import SCALAR_TENSOR, number_to_tensor
from xdsl_exir.importers.torchscript.tensors import Held, Tensors
from xdsl_exir.importers.torchscript.values import Condition, Number, TensorValue
from xdsl_exir.narrowing import is_dict, is_list, is_tuple

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


def stand_in(tensors: Tensors, value: Any, around: Tensors, outer: Tensors) -> Any:
    """What stands in a graph for a value of the graph `around` it, like it, where nobody looks: the result of a return that was not taken.

    `outer` is the graph that both are in. Raises `UnsupportedError` for a tensor of sizes that it does not have.
    """
    match value:
        case TensorValue():
            known = around.meta(value)
            names = [name for name in around.given if name in outer.build.values]
            size = [_size(tensors, of, around, names) for of in known.shape]
            given = {"size": size, "fill_value": 0, "dtype": known.dtype.code}
            return tensors.call("aten.full", given, SCALAR_TENSOR)
        case Condition() | Number():
            return {"bool": False, "int": 0, "float": 0.0}[kind_of(value)]
        case _ if is_tuple(value):
            return tuple(stand_in(tensors, item, around, outer) for item in value)
        case _ if is_list(value):
            return [stand_in(tensors, item, around, outer) for item in value]
        case _ if is_dict(value):
            return {key: stand_in(tensors, item, around, outer) for key, item in value.items()}
        case _:
            return value


def _size(tensors: Tensors, size: Dim, around: Tensors, names: Sequence[str]) -> Any:
    """A size as a number of a graph: one of a tensor that it sees."""
    if isinstance(size, int):
        return size
    for name in names:
        held = around.given[name]
        if isinstance(held, Held) and size in held.meta.shape:
            return tensors.size(TensorValue(name), held.meta.shape.index(size))
    raise UnsupportedError([Unsupported("prim.Uninitialized", f"a tensor of the size {size}")])
