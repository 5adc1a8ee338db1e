"""`aten._foreach_*`: an operator for each tensor of a list, as optimizers and norms of gradients call it.

Schemas: `aten/src/ATen/native/native_functions.yaml`. In place they write to each tensor what the functional form gives.
"""

from __future__ import annotations

from typing import Any

from xdsl_exir.exchange.graph import Ref, Value
from xdsl_exir.importers.synonyms.calls import Calls, Table
from xdsl_exir.narrowing import is_sequence

FOREACH = Table("aten")

UNARY = """abs acos asin atan ceil clone cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 max neg reciprocal round
rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"""
_SCALARS = {"Scalar": "scalar", "ScalarList": "scalars"}

ELEMENTS: dict[str, tuple[str, str]] = {name: (name, "self") for name in UNARY.split()}
"""By the end of an operator's name: the operator of each element, and the arguments, with their names there (`scalar=other`)."""
for _name in ("add", "sub", "mul", "div"):
    for _overload in ("List", "Tensor"):
        ELEMENTS[f"{_name}.{_overload}"] = f"{_name}.Tensor", "self other alpha"
    for _overload, _scalar in _SCALARS.items():
        ELEMENTS[f"{_name}.{_overload}"] = f"{_name}.Scalar", f"self {_scalar}=other"
for _name, _other, _bound in (("maximum", "clamp_min", "min"), ("minimum", "clamp_max", "max")):
    for _own in (_name, _other):
        ELEMENTS[f"{_own}.List"] = _name, "self other"
        for _overload, _scalar in _SCALARS.items():
            ELEMENTS[f"{_own}.{_overload}"] = _other, f"self {_scalar}={_bound}"
for _name in ("addcdiv", "addcmul"):
    ELEMENTS[f"{_name}.Scalar"] = _name, "self tensor1 tensor2 value"
    ELEMENTS[f"{_name}.ScalarList"] = _name, "self tensor1 tensor2 scalars=value"
ELEMENTS.update(
    {
        "lerp.List": ("lerp.Tensor", "self tensors1=end weights=weight"),
        "lerp.Scalar": ("lerp.Scalar", "self tensors1=end weight"),
        "lerp.ScalarList": ("lerp.Scalar", "self tensors1=end weight"),
        "pow.List": ("pow.Tensor_Tensor", "self exponent"),
        "pow.Scalar": ("pow.Tensor_Scalar", "self exponent"),
        "pow.ScalarList": ("pow.Tensor_Scalar", "self exponent"),
        "pow.ScalarAndTensor": ("pow.Scalar", "self exponent"),
        "norm.Scalar": ("linalg_vector_norm", "self ord dtype"),
        "mm": ("mm", "self mat2"),
        "zero": ("zeros_like", "self"),
        "copy": ("copy", "self src non_blocking"),
    }
)


def _register(name: str, target: str, names: str) -> None:
    pairs = [(own, there or own) for own, _, there in (each.partition("=") for each in names.split())]

    def call(calls: Calls, *given: Any, **arguments: Any) -> tuple[Ref, ...]:
        arguments |= dict(zip((own for own, _ in pairs), given, strict=False))
        there = {to: arguments[own] for own, to in pairs if own in arguments}
        count = max(len(value) for value in there.values() if is_sequence(value))
        return tuple(calls(f"aten.{target}", **_nth(there, index)) for index in range(count))

    def write(calls: Calls, *given: Any, **arguments: Any) -> tuple[()]:
        written = arguments.get("self", given[0] if given else ())
        for tensor, value in zip(written, call(calls, *given, **arguments), strict=True):
            calls("aten.copy_", self=tensor, src=value)
        return ()

    packet, dot, overload = name.partition(".")
    FOREACH.of(f"_foreach_{name}")(call)
    FOREACH.of(f"_foreach_{packet}_{dot}{overload}")(write)


def _nth(arguments: dict[str, Value], index: int) -> dict[str, Value]:
    return {name: value[index] if is_sequence(value) else value for name, value in arguments.items()}


for _name, (_target, _names) in ELEMENTS.items():
    _register(_name, _target, _names)
