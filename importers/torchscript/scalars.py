"""What operators on numbers, strings, lists and dicts compute: Python, as TorchScript's are Python's.

By the operator's name without overload; what it gives has the type that the overload's schema says.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xdsl_exir.importers.torchscript.values import DeviceValue, EnumValue, ScriptError
from xdsl_exir.narrowing import is_dict, is_list, is_sequence, is_tuple

Function = Callable[..., Any]

PYTHON: dict[str, Function] = {}
"""Functions by name, `aten.add`, `prim.max`."""


def python(*names: str) -> Callable[[Function], Function]:
    """Registers a function."""

    def register(function: Function) -> Function:
        PYTHON.update(dict.fromkeys(names, function))
        return function

    return register


@python("aten.floordiv")
def floordiv(a: Any, b: Any) -> Any:
    return a // b


@python("aten.__round_to_zero_floordiv")
def round_to_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@python("aten.pow")
def power(a: Any, b: Any) -> Any:
    return a**b


@python("aten.round")
def rounded(a: float, digits: int = 0) -> float:
    return float(round(a, digits)) if digits else float(round(a))


@python("aten.log")
def log(a: Any, base: Any = None) -> float:
    return math.log(a) if base is None else math.log(a) / math.log(base)


@python("prim.max")
def largest(a: Any, b: Any = None) -> Any:
    return max(a) if b is None else max(a, b)


@python("prim.min")
def smallest(a: Any, b: Any = None) -> Any:
    return min(a) if b is None else min(a, b)


# --- containers ----------------------------------------------------------------------------------------------


@python("aten.__getitem__", "prim.StringIndex")
def get_item(container: Any, key: Any) -> Any:
    return container[key]


@python("aten._set_item")
def set_item(container: Any, key: Any, item: Any) -> Any:
    container[key] = item
    return container


@python("aten.append")
def append(items: list[Any], item: Any) -> list[Any]:
    items.append(item)
    return items


@python("aten.Delete")
def delete(container: Any, key: Any) -> None:
    del container[key]


@python("aten.copy")
def copy(container: Any) -> Any:
    return container.copy()


@python("aten.slice")
def slice_(items: Any, start: int | None = None, stop: int | None = None, step: int | None = 1) -> Any:
    return items[slice(start, stop, step)]


@python("aten.list")
def list_(items: Any) -> list[Any]:
    return list(items)


@python("aten.dict")
def dict_(items: Any = ()) -> dict[Any, Any]:
    return dict(items)


@python("aten.index")
def index(items: Any, item: Any, *rest: Any) -> int:
    return items.index(item, *rest)


@python("aten.add_")
def extended(items: list[Any], others: list[Any]) -> list[Any]:
    items.extend(others)
    return items


@python("aten.mul_")
def repeated(items: list[Any], count: int) -> list[Any]:
    items *= count
    return items


@python("aten.sort")
def sort(items: list[Any], reverse: bool = False) -> None:
    items.sort(reverse=reverse)


@python("aten.get")
def get(container: dict[Any, Any], key: Any, default: Any = None) -> Any:
    return container.get(key, default)


@python("aten.popitem")
def popitem(container: dict[Any, Any]) -> tuple[Any, ...]:
    return container.popitem()


@python("aten.pop")
def pop(container: Any, *rest: Any) -> Any:
    return container.pop(*rest)


@python("aten.__range_length")
def range_length(start: int, stop: int, step: int) -> int:
    return len(range(start, stop, step))


@python("aten.__derive_index")
def derive_index(number: int, start: int, step: int) -> int:
    return start + number * step


# --- strings -------------------------------------------------------------------------------------------------


def text_of(value: Any) -> str:
    """A value as TorchScript prints it."""
    if is_sequence(value):
        text = ", ".join(map(text_of, value))
        return f"[{text}]" if is_list(value) else f"({text})"
    if is_dict(value):
        return "{" + ", ".join(f"{text_of(key)}: {text_of(item)}" for key, item in value.items()) + "}"
    return str(value)


@python("aten.format")
def format_(text: str, *items: Any) -> str:
    return text.format(*map(text_of, items))


@python("aten.percentFormat")
def percent_format(text: str, *items: Any) -> str:
    [values] = items if len(items) == 1 and is_tuple(items[0]) else [items]
    return text % tuple(item if isinstance(item, int | float) else text_of(item) for item in values)


@python("aten.str")
def str_(value: Any) -> str:
    return text_of(value)


@python("aten.split")
def split(text: str, separator: str | None = None, limit: int = -1) -> list[str]:
    return text.split(separator, limit)


# --- conversions ---------------------------------------------------------------------------------------------


@python("aten.device")
def device(text: str, number: int | None = None) -> DeviceValue:
    return DeviceValue(text if number is None else f"{text}:{number}")


@python("prim.type")
def device_type(value: DeviceValue) -> str:
    return value.name.partition(":")[0]


@python("prim.index")
def device_index(value: DeviceValue) -> int | None:
    number = value.name.partition(":")[2]
    return int(number) if number else None


@python("prim.EnumName")
def enum_name(value: EnumValue) -> str:
    return value.name


@python("prim.EnumValue")
def enum_value(value: EnumValue) -> Any:
    return value.value


@python("prim.unchecked_unwrap_optional", "aten._unwrap_optional")
def unwrap(value: Any) -> Any:
    if value is None:
        raise ScriptError("Unwrapping null optional")
    return value


@python("prim.rangelist")
def rangelist(count: int) -> list[int]:
    return list(range(count))


@python("aten.ord")
def ord_(text: str) -> int:
    return ord(text)


@python("prim.IfThenElse")
def if_then_else(condition: bool, first: Any, second: Any) -> Any:
    return first if condition else second


@python("aten.keys")
def keys(container: dict[Any, Any]) -> list[Any]:
    return list(container)


@python("aten.values")
def values(container: dict[Any, Any]) -> list[Any]:
    return list(container.values())


@python("aten.items")
def items(container: dict[Any, Any]) -> list[Any]:
    return list(container.items())


@python("aten.startswith")
def startswith(text: str, prefix: str, start: int = 0, stop: int = -1) -> bool:
    return text[start : None if stop == -1 else stop].startswith(prefix)


@python("aten.endswith")
def endswith(text: str, suffix: str, start: int = 0, stop: int = -1) -> bool:
    return text[start : None if stop == -1 else stop].endswith(suffix)


@python("aten.find")
def find(text: str, part: str, start: int = 0, stop: int = -1) -> int:
    return text.find(part, start, None if stop == -1 else stop)


@python("aten.rfind")
def rfind(text: str, part: str, start: int = 0, stop: int = -1) -> int:
    return text.rfind(part, start, None if stop == -1 else stop)


@python("aten.rindex")
def rindex(text: str, part: str, start: int = 0, stop: int = -1) -> int:
    return text.rindex(part, start, None if stop == -1 else stop)


@python("aten.rsplit")
def rsplit(text: str, separator: str | None = None, limit: int = -1) -> list[str]:
    return text.rsplit(separator, limit)


@python("aten.is_scripting", "aten.is_grad_enabled")
def yes() -> bool:
    return True


@python(
    "aten.is_autocast_enabled", "aten.is_autocast_cpu_enabled", "aten.is_tracing", "aten._get_tracing_state",
    "aten.has_torch_function", "aten._nnpack_available", "aten.is_vulkan_available",
    "aten._use_cudnn_rnn_flatten_weight",
)  # fmt: skip
def not_(*arguments: Any) -> bool:
    return False


@python("aten.wait", "prim.awaitable_wait", "prim.awaitable_nowait", "aten.Size")
def itself(value: Any) -> Any:
    """What was begun beside the function is done at once."""
    return value


@python("aten._infer_size", "aten.broadcast_shapes")
def broadcast(a: list[int], b: list[int]) -> list[int]:
    return list(np.broadcast_shapes(tuple(a), tuple(b)))


@python("aten._size_if_not_equal")
def size_if_not_equal(size: list[int], other: list[int]) -> list[int] | None:
    return None if size == other else size


@python("aten.modf")
def modf(value: float) -> tuple[float, float]:
    return math.modf(value)


@python("aten.polar")
def polar(size: float, angle: float) -> complex:
    return complex(size * math.cos(angle), size * math.sin(angle))


@python("aten.angle")
def angle(value: complex) -> float:
    return math.atan2(complex(value).imag, complex(value).real)


@python("aten.isidentifier")
def isidentifier(text: str) -> bool:
    return text.isascii() and text.isidentifier()


@python("aten.set_grad_enabled", "aten.warn")
def nothing(*arguments: Any) -> None:
    return None


@python("prim.Print")
def print_(*values: Any) -> None:
    print(*map(text_of, values))


def _method(name: str) -> Function:
    """A method of Python's lists, dicts or strings."""

    def call(owner: Any, *rest: Any) -> Any:
        return getattr(owner, name)(*rest)

    return call


_OF_PYTHON = {
    "div": "truediv", "remainder": "mod", "__and__": "and_", "__or__": "or_", "__xor__": "xor", "__lshift__": "lshift",
    "__rshift__": "rshift", "__not__": "not_", "bitwise_not": "invert", "__contains__": "contains", "__is__": "is_",
    "__isnot__": "is_not", **{name: name for name in ("add", "sub", "mul", "neg", "eq", "ne", "lt", "le", "gt", "ge")},
}  # fmt: skip
"""Names of operators in Python's module `operator`."""
_OPERATORS: dict[str, Function] = {
    **{name: getattr(operator, python_name) for name, python_name in _OF_PYTHON.items()},
    "Int": int, "Float": float, "Bool": bool, "Complex": complex, "len": len, "abs": abs, "sorted": sorted,
    "divmod": divmod, "mathremainder": math.remainder, "select": operator.getitem, "any": any, "all": all, "sum": sum, "chr": chr, "hex": hex, "oct": oct, "bin": bin,
    **{
        name: getattr(math, name)
        for name in (
            "floor", "ceil", "trunc", "sqrt", "exp", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
            "atan2", "sinh", "cosh", "tanh", "fmod", "copysign", "isnan", "isinf", "isfinite", "gcd", "factorial", "degrees",
            "radians", "fabs", "gamma", "lgamma", "expm1", "erf", "erfc", "acosh", "asinh", "atanh", "ldexp", "frexp",
        )
    },
    **{
        name: _method(name)
        for name in (
            "extend", "insert", "remove", "clear", "reverse", "count", "setdefault", "update", "upper", "lower", "strip",
            "lstrip", "rstrip", "join", "replace", "splitlines", "isdigit", "isalpha", "isalnum", "isupper", "islower",
            "isspace", "capitalize", "title", "isnumeric", "isdecimal", "isprintable", "istitle", "expandtabs", "center", "ljust",
            "rjust", "swapcase", "zfill", "partition", "rpartition",
        )
    },
}  # fmt: skip
for _name, _function in _OPERATORS.items():
    PYTHON.setdefault(f"aten.{_name}", _function)
PYTHON["prim.abs"] = abs

_RETURNS: Mapping[str, Callable[[Any], Any]] = {"int": int, "float": float, "bool": bool, "complex": complex}


def compute(name: str, returns: str, arguments: list[Any]) -> Any:
    """What an operator gives for values that are no tensors. Raises `ScriptError` where Python raises, `KeyError` for an unknown one."""
    function = PYTHON[name]
    try:
        result = function(*arguments)
        result = _RETURNS[returns](result) if returns in _RETURNS else result
    except (ArithmeticError, ValueError, TypeError, IndexError, LookupError, AttributeError) as error:
        raise ScriptError(f"{name}: {type(error).__name__}: {error}") from None
    if returns == "int" and not -(1 << 63) <= result < 1 << 63:
        raise ScriptError(f"{name}: the result is no 64-bit integer")
    return result
