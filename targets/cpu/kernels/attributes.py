"""Descriptions of kernels as attributes of upstream MLIR, and back: what a dispatch says of the kernel that stands for it.

    {is = "Matmul", m = 4 : i64, n = 128 : i64, ..., machine = {is = "Machine", lanes = 16 : i64}}

A dataclass is a dictionary of its fields, without those that have their defaults; a tuple an array; a symbolic size, which is no number, `{size = "2 * s0"}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FloatAttr, IntegerAttr, StringAttr, f64, i1, i64
from xdsl.ir import Attribute

from xdsl_exir.dialects.expr import Expr
from xdsl_exir.errors import VerificationError
from xdsl_exir.lowering.kernel import canonical
from xdsl_exir.targets.cpu.kernels import description, rows
from xdsl_exir.targets.cpu.kernels.across import Across
from xdsl_exir.targets.cpu.kernels.bags import Bags
from xdsl_exir.targets.cpu.kernels.chain import Chain
from xdsl_exir.targets.cpu.kernels.columns import Columns
from xdsl_exir.targets.cpu.kernels.contraction import Matmul
from xdsl_exir.targets.cpu.kernels.convolution import Conv2d, Planes
from xdsl_exir.targets.cpu.kernels.copies import Copy
from xdsl_exir.targets.cpu.kernels.fourier import Fourier
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.targets.cpu.kernels.orders import Order
from xdsl_exir.targets.cpu.kernels.pooling import Pool
from xdsl_exir.targets.cpu.kernels.scans import Scan
from xdsl_exir.targets.cpu.kernels.selections import Select
from xdsl_exir.targets.cpu.kernels.topk import KthValue, Sort, TopK

KIND, SIZE = "is", "size"

PARTS: Mapping[str, type] = {
    kind.__name__: kind
    for kind in (
        *(
            Across,
            Bags,
            Chain,
            Columns,
            Matmul,
            Conv2d,
            Planes,
            Copy,
            Fourier,
            KthValue,
            Order,
            Pool,
            Scan,
            Select,
            Sort,
            TopK,
            rows.Rows,
        ),
        *(
            description.Machine,
            description.Choice,
            description.Input,
            description.Elementwise,
            description.Constant,
        ),
        *(description.Step, description.Epilogue, description.Body, description.Instruction),
        *(rows.Load, rows.Gather, rows.Number, rows.Map, rows.Reduce, rows.Concat, rows.Slice),
    )
}
"""What descriptions are made of, by name."""


def as_attribute(value: object) -> Attribute:
    """What a description holds."""
    match value:
        case bool():
            return IntegerAttr(int(value), i1)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case Expr():
            return DictionaryAttr({SIZE: StringAttr(str(value))})
        case tuple():
            return ArrayAttr([as_attribute(part) for part in cast(tuple[object, ...], value)])
        case None:
            return DictionaryAttr({})
        case _:
            assert is_dataclass(value)
            kind = type(value)
            assert PARTS[kind.__name__] is kind
            said: dict[str, Attribute] = {KIND: StringAttr(kind.__name__)}
            for field in fields(value):
                held = getattr(value, field.name)
                if canonical(held) != canonical(default_of(field)):
                    said[field.name] = as_attribute(held)
            return DictionaryAttr(said)


def default_of(field: Any) -> object:
    """What a field is where nobody says it; MISSING where it has to be said."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def from_attribute(attr: Attribute) -> Any:
    """What an attribute says. Raises `VerificationError` for one that says no description."""
    match attr:
        case IntegerAttr(value=number, type=type):
            return bool(number.data) if type == i1 else number.data
        case FloatAttr(value=number):
            return number.data
        case StringAttr(data=text):
            return text
        case ArrayAttr(data=parts):
            return tuple(from_attribute(part) for part in parts)
        case DictionaryAttr(data=said):
            return _from_dictionary(said)
        case _:
            raise VerificationError(f"a kernel's description holds no {attr}")


def _from_dictionary(said: Mapping[str, Attribute]) -> Any:
    if not said:
        return None
    values = {name: from_attribute(held) for name, held in said.items()}
    if set(values) == {SIZE}:
        return Expr.parse(str(values[SIZE]))
    kind = values.pop(KIND, None)
    if kind not in PARTS:
        raise VerificationError(
            f"a kernel's description has no part {kind!r:.100}; there is {', '.join(PARTS)}"
        )
    try:
        return PARTS[kind](**values)
    except TypeError as error:
        raise VerificationError(f"{kind}: {error}") from None


def kernel_of(attr: Attribute) -> Kernel:
    """The kernel that an attribute describes. Raises `VerificationError` where it describes none."""
    found = from_attribute(attr)
    if not isinstance(found, Kernel):
        raise VerificationError(f"{attr!s:.100} describes no kernel")
    return found
