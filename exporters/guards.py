"""Input guards as PyTorch writes them: the mirror of `importers.guards`.

eq(s77 mod 2, 0)    where x is tensor<?x..., #exir.shape<[s77, ...]>>:    ((L['x'].size()[0] % 2) == 0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from xdsl.ir import Attribute

from xdsl_exir.dialects.expr import Dim, Expr, linear
from xdsl_exir.dialects.expr.pytorch import PYTHON_FUNCTIONS
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, tensor_meta
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange.guards import RENAMED

_INFIX = {
    "add": "+",
    "mul": "*",
    "floordiv": "//",
    "mod": "%",
    "truediv": "/",
    "pow": "**",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "and",
    "or": "or",
}
_CALLS = {PYTHON_FUNCTIONS[name]: text for text, name in RENAMED.items()}


def symbol_places(paths: Sequence[str], leaves: Sequence[Attribute | None]) -> dict[str, str]:
    """Where each symbol is found among the inputs, as Python text; the leaves are types, None of a constant.

    Of a symbol that is no input's size itself, but part of one, the text solves for it: `(L['x'].size()[0] // 2)`.
    """
    found: list[tuple[Dim, str]] = []
    for path, type in zip(paths, leaves, strict=True):
        if isinstance(type, SymType):
            found.append((type.data, f"L{path}"))
        elif type is not None and is_tensor_type(type):
            found += [(size, f"L{path}.size()[{dim}]") for dim, size in enumerate(tensor_meta(type).shape)]
    solved: dict[str, str] = {}
    places: dict[str, str] = {}
    for value, place in found:
        if isinstance(value, Expr) and value.head == "symbol":
            places.setdefault(value.text, place)
        elif (known := linear(value)) is not None:
            symbol, step, start = known
            solved.setdefault(symbol, f"(({place} - {start}) // {step})")
    return solved | places


def guard_text(guard: Dim, places: Mapping[str, str]) -> str:
    """A condition as Python text on the inputs. Raises `UnsupportedError` for what such text has no form for."""
    if not isinstance(guard, Expr):
        return str(guard)
    arguments = [guard_text(argument, places) for argument in guard.args]
    match guard.head:
        case "symbol" if guard.text in places:
            return places[guard.text]
        case "constant" if isinstance(guard.value, int | float) and isfinite(guard.value):
            return repr(guard.value)
        case "not":
            return f"(not {arguments[0]})"
        case head if head in _CALLS:
            return f"{_CALLS[head]}({', '.join(arguments)})"
        case head if head in _INFIX:
            return f"({f' {_INFIX[head]} '.join(arguments)})"
        case _:
            raise UnsupportedError([Unsupported(f"guard {guard}", "no text on the inputs says it")])
