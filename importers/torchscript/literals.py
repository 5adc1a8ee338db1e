"""Constants: Python's values, as attributes, and back; and of which type values are that pickles hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, FloatData, IntegerAttr, StringAttr, f64, i1, i64
from xdsl.ir import Attribute

from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.errors import LoadError
from xdsl_exir.importers.torchscript.pickles import Instance, PickledDevice, PickledTensor
from xdsl_exir.limits import LIMITS
from xdsl_exir.narrowing import is_dict, is_list, is_tuple


def constant_attribute(value: Any, error: Callable[[str], LoadError]) -> Attribute | None:
    """A constant as the attribute `value` of `prim.Constant`; None of None. Floats are written exactly, as text.

    Raises an `error` of a place for integers that TorchScript does not have.
    """
    match value:
        case None:
            return None
        case bool():
            return IntegerAttr(int(value), i1)
        case int():
            if not -(1 << 63) <= value < 1 << 63:
                said = f"{value:.3e}" if abs(value) < 1e300 else "an integer of many digits"
                raise error(f"{said} is no 64-bit integer")
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case complex():
            return ArrayAttr([StringAttr("complex"), FloatAttr(value.real, f64), FloatAttr(value.imag, f64)])
        case str():
            return StringAttr(value)
        case _:
            items = [constant_attribute(item, error) for item in value]
            return ArrayAttr([item for item in items if item is not None])


def constant_value(attribute: Attribute | None) -> Any:
    """The constant that such an attribute is."""
    match attribute:
        case None:
            return None
        case IntegerAttr():
            return bool(attribute.value.data) if attribute.type == i1 else attribute.value.data
        case FloatAttr():
            return attribute.value.data
        case StringAttr():
            return attribute.data
        case ArrayAttr() if attribute.data and attribute.data[0] == StringAttr("complex"):
            _, real, imaginary = map(constant_value, attribute.data)
            return complex(real, imaginary)
        case ArrayAttr():
            return [constant_value(item) for item in attribute.data]
        case FloatData():
            return attribute.data
        case _:
            raise LoadError(f"{attribute} is no constant")


MAX_ITEMS = 1 << 16
"""Values in the containers of one constant: a pickle may say one list in many places, and a type says it in each."""


def type_of_data(value: Any) -> Attribute:
    """The type of what a pickle holds. Raises `LoadError` where it is too large, or nothing of TorchScript's."""
    return _Typing().type(value, 0)


class _Typing:
    def __init__(self) -> None:
        self.count = 0

    def type(self, value: Any, depth: int) -> Attribute:
        self.count += 1
        if self.count > MAX_ITEMS or depth > LIMITS.nesting:
            raise LoadError(
                f"a constant of more than {MAX_ITEMS} values, or {LIMITS.nesting} containers in one another"
            )
        match value:
            case PickledTensor():
                return ts.TENSOR
            case PickledDevice():
                return ts.DEVICE
            case Instance():
                return ts.class_of(value.class_name)
            case _ if is_tuple(value):
                return ts.tuple_of([self.type(item, depth + 1) for item in value])
            case _ if is_list(value):
                return ts.list_of(self.common(value, depth))
            case _ if is_dict(value):
                return ts.DictType(self.common(list(value), depth), self.common(list(value.values()), depth))
            case _:
                known = _PYTHON.get(value.__class__)
                if known is None:
                    raise LoadError(f"a constant of kind {type(value).__name__}")
                return known

    def common(self, values: Sequence[Any], depth: int) -> Attribute:
        types = [self.type(value, depth + 1) for value in values] or [ts.TENSOR]
        common = types[0]
        for type in types[1:]:
            common = ts.unify(common, type)
        return common


_PYTHON: Mapping[type, Attribute] = {
    type(None): ts.NONE, bool: ts.BOOL, int: ts.INT, float: ts.FLOAT, complex: ts.COMPLEX, str: ts.STR,
}  # fmt: skip
