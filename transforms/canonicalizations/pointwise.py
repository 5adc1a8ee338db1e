"""Canonicalizations of pointwise operators: identities, what is done twice, casts, and selections that are known.

| rule | left alone |
|---|---|
| `x * 1`, `x / 1`, `x ** 1` are `x`, `x ** 0` is 1 | complex numbers: an infinity times `1 + 0i` has a NaN |
| `x + 0` is `x` | floats, but where 0 is -0.0: `-0.0 + 0.0` is 0.0; complex numbers |
| `x - 0` is `x` | floats where 0 is -0.0; complex numbers |
| `x * 0`, `x - x` are 0 | all but integers |
| `(x + a) + b`, `(x * a) * b` are one operation | all but integers, which wrap |
| `abs(-x)` is `abs(x)` | unsigned integers, which wrap |
| a cast of a cast is one | where the first loses numbers, and where numbers may be out of range of integers, which C leaves open; complex numbers |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Results, meta
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.spec import find
from xdsl_exir.dialects.tensors import tensor_meta
from xdsl_exir.transforms.canonicalizations import CANONICALIZATIONS, KEEP, canonicalization
from xdsl_exir.transforms.matching import (
    category,
    is_integral,
    is_real,
    is_tensor,
    known,
    made_by,
    same_arguments,
    static,
)


def filled(aten: Namespace, type: Any, number: int) -> Results:
    """A literal of one number everywhere; `KEEP` where the shape is not static."""
    shape, dtype = static(tensor_meta(type).shape), tensor_meta(type).dtype
    return KEEP if shape is None else aten.builder.constant(number, dtype, tuple(shape))


def wrapped(number: int, dtype: DType) -> int:
    """An integer as one of this dtype holds it."""
    number %= 1 << dtype.bits
    return number - (1 << dtype.bits) if is_signed(dtype) and number >> (dtype.bits - 1) else number


def is_signed(dtype: DType) -> bool:
    """Whether a dtype of integers holds negative ones."""
    return dtype.numpy.kind == "i"


# --- arithmetic ----------------------------------------------------------------------------------------------


@canonicalization("aten.mul.Tensor", "aten.mul.Scalar")
def mul(aten: Namespace, self: Any, other: Any, out: list[Any]) -> Results:
    if not (is_real(self) and is_real(other)):
        return KEEP
    dtype = tensor_meta(out[0]).dtype
    for x, factor in ((self, known(other)), (other, known(self))):
        if factor is None or not is_tensor(x):
            continue
        if factor == 1 and x.type == out[0]:
            return x
        if factor == 0 and dtype.category is Category.INT:
            return filled(aten, out[0], 0)
        inner = made_by(x, "aten.mul.Tensor", "aten.mul.Scalar")
        given = inner.arguments() if inner is not None else {}
        before = known(given.get("other"))
        if before is not None and dtype.category is Category.INT and given["self"].type == x.type == out[0]:
            product = wrapped(int(before.real) * int(factor.real), dtype)
            return aten.mul.Tensor(given["self"], aten.builder.constant(product, dtype))
    return KEEP


def addend(other: Any, alpha: Any, dtype: DType) -> int | float | None:
    """The number that `alpha * other` is known to be in a sum of this dtype, with its sign; None of complex ones."""
    number, factor = known(other), known(alpha)
    if number is None or factor is None or isinstance(number, complex) or isinstance(factor, complex):
        return None
    if dtype.category is Category.FLOAT:
        return float(number) * float(factor)
    return number * factor if isinstance(number, int) and isinstance(factor, int) else None


def is_zero(number: int | float | None, dtype: DType, sign: float) -> bool:
    """Whether a number is 0, of floats the one of this sign."""
    if number is None or number != 0:
        return False
    return is_integral(dtype) or (dtype.category is Category.FLOAT and copysign(1, number) == sign)


@canonicalization("aten.add.Tensor", "aten.add.Scalar")
def add(aten: Namespace, self: Any, other: Any, alpha: Any, out: list[Any]) -> Results:
    dtype = tensor_meta(out[0]).dtype
    number = addend(other, alpha, dtype)
    if is_zero(number, dtype, -1.0):
        return self
    if known(alpha) == 1 and is_tensor(other) and is_zero(addend(self, 1, dtype), dtype, -1.0):
        return other
    inner = made_by(self, "aten.add.Tensor", "aten.add.Scalar")
    if dtype.category is not Category.INT or number is None or inner is None:
        return KEEP
    given = inner.arguments()
    before = addend(given["other"], given["alpha"], dtype)
    if before is None or not given["self"].type == self.type == out[0]:
        return KEEP
    return aten.add.Tensor(given["self"], aten.builder.constant(wrapped(int(before + number), dtype), dtype))


@canonicalization("aten.sub.Tensor", "aten.sub.Scalar")
def sub(aten: Namespace, self: Any, other: Any, alpha: Any, out: list[Any]) -> Results:
    dtype = tensor_meta(out[0]).dtype
    if is_zero(addend(other, alpha, dtype), dtype, 1.0):
        return self
    if self is other and known(alpha) == 1 and dtype.category is Category.INT:
        return filled(aten, out[0], 0)
    return KEEP


@canonicalization("aten.div.Tensor", "aten.div.Scalar")
def div(aten: Namespace, self: Any, other: Any) -> Results:
    return self if known(other) == 1 and is_real(self) and is_real(other) else KEEP


@canonicalization("aten.div.Tensor_mode", "aten.div.Scalar_mode", "aten.floor_divide")
def div_mode(aten: Namespace, self: Any, other: Any) -> Results:
    """Of floats the quotient is rounded."""
    return self if known(other) == 1 and category(self) is category(other) is Category.INT else KEEP


@canonicalization("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor")
def pow(aten: Namespace, self: Any, exponent: Any, out: list[Any]) -> Results:
    number = known(exponent) if is_real(self) and is_real(exponent) else None
    if number == 0 and tensor_meta(out[0]).dtype.category is not Category.BOOL:
        return filled(aten, out[0], 1)
    return self if number == 1 else KEEP


# --- done twice ----------------------------------------------------------------------------------------------

INVOLUTIONS = ("aten.neg", "aten.bitwise_not", "aten.logical_not", "aten._conj", "aten.conj_physical")
"""Operators that done twice give back what they were given, if that is of the same type: integers wrap."""

IDEMPOTENT = ("aten.clamp", "aten.clamp.Tensor", "aten.clamp_min", "aten.clamp_max",
              "aten.sign", "aten.floor", "aten.ceil", "aten.trunc", "aten.fix", "aten.round")  # fmt: skip
"""Operators that done twice, with the same other arguments, give what they give once."""


def involution(name: str) -> Callable[..., Results]:
    def rule(aten: Namespace, self: SSAValue) -> Results:
        inner = made_by(self, name)
        return KEEP if inner is None else inner.operands[0]

    return rule


def idempotent(name: str) -> Callable[..., Results]:
    def rule(aten: Namespace, **arguments: Any) -> Results:
        inner = made_by(arguments["self"], name)
        return arguments["self"] if inner is not None and same_arguments(inner, arguments, "self") else KEEP

    return rule


def each(names: Sequence[str], rule_of: Callable[[str], Callable[..., Results]]) -> None:
    """Registers for each operator named the rule that is made for it; it gets all the operator's arguments."""
    for name in names:
        arguments = tuple(argument.name for argument in find(name).schema.arguments)
        CANONICALIZATIONS.register(name, parameters=arguments)(rule_of(name))


each(INVOLUTIONS, involution)
each(IDEMPOTENT, idempotent)


@canonicalization("aten.abs")
def absolute(aten: Namespace, self: SSAValue) -> Results:
    """Of itself it is itself, of a negated number that of the number."""
    inner = made_by(self, "aten.neg", "aten.abs")
    if inner is None:
        return KEEP
    if inner.SPEC.qualified_name == "aten.abs":
        return self
    unsigned = category(self) is Category.INT and not is_signed(meta(self).dtype)
    return KEEP if unsigned else aten.abs(inner.operands[0])


OF_ITSELF = frozenset({"bitwise_and", "bitwise_or", "logical_and", "logical_or", "maximum", "minimum", "fmax", "fmin"})  # fmt: skip
"""Operators of which two times one operand are that operand, if they give its type: `logical_and` of booleans."""

NEUTRAL = {"bitwise_or": False, "logical_or": False, "bitwise_xor": False, "logical_xor": False,
           "bitwise_and": True, "logical_and": True}  # fmt: skip
"""Operators on bits, and whether the operand that leaves the other as it is has all bits set, or none."""


def is_neutral(number: Any, dtype: DType, ones: bool) -> bool:
    """Whether an operand has all bits set, or none."""
    if number is None or not is_integral(dtype):
        return False
    if not ones:
        return number == 0
    return bool(number) if dtype is dt.Bool else number == wrapped(-1, dtype)


def of_bits(kind: str) -> Callable[..., Results]:
    def rule(aten: Namespace, self: Any, other: Any, out: list[Any]) -> Results:
        if self is other and kind in OF_ITSELF:
            return self
        for x, number in ((self, known(other)), (other, known(self))):
            is_bits = kind in NEUTRAL and is_tensor(x) and x.type == out[0]
            if is_bits and is_neutral(number, meta(x).dtype, NEUTRAL[kind]):
                return x
        return KEEP

    return rule


BITS = ("aten.bitwise_and.Tensor", "aten.bitwise_and.Scalar", "aten.bitwise_or.Tensor", "aten.bitwise_or.Scalar", "aten.bitwise_xor.Tensor",
        "aten.bitwise_xor.Scalar", "aten.logical_and", "aten.logical_or", "aten.logical_xor", "aten.maximum", "aten.minimum", "aten.fmax", "aten.fmin")  # fmt: skip

for name in BITS:
    CANONICALIZATIONS.register(name, parameters=("self", "other", "out"))(of_bits(name.split(".")[1]))


# --- copies and casts ----------------------------------------------------------------------------------------


@canonicalization("aten.alias", "aten.detach", "aten.lift", "aten.lift_fresh", "aten.lift_fresh_copy", "aten.resolve_conj",
                  "aten.resolve_neg", "aten.positive")  # fmt: skip
def same_value(aten: Namespace, self: SSAValue) -> Results:
    return self


@canonicalization("aten.clone")
def clone(aten: Namespace, self: SSAValue, memory_format: str | None) -> Results:
    """A memory format is a wish that is kept."""
    return self if memory_format is None else KEEP


PRECISION = {dt.Half: (11, -24, 16), dt.BFloat16: (8, -133, 128), dt.Float: (24, -149, 128), dt.Double: (53, -1074, 1024)}  # fmt: skip
"""Of floats: significant bits, and the powers of two that are the least number and beyond the largest."""


def is_lossless(dtype: DType, wider: DType) -> bool:
    """Whether every number of a dtype is one of another."""
    match dtype.category, wider.category:
        case Category.BOOL, Category.INT:
            return True
        case Category.INT, Category.INT:
            spare = is_signed(wider) and not is_signed(dtype)
            return wider.bits >= dtype.bits + spare and is_signed(wider) >= is_signed(dtype)
        case ((Category.BOOL | Category.INT), Category.FLOAT):
            return wider in PRECISION and dtype.bits - is_signed(dtype) <= PRECISION[wider][0]
        case Category.FLOAT, Category.FLOAT if dtype in PRECISION and wider in PRECISION:
            (bits, least, largest), (more, lesser, larger) = PRECISION[dtype], PRECISION[wider]
            return bits <= more and least >= lesser and largest <= larger
        case _:
            return dtype is wider


def casts_compose(first: DType, second: DType, last: DType) -> bool:
    """Whether a cast by way of a second dtype is the cast from the first to the last."""
    if Category.COMPLEX in (first.category, second.category, last.category):
        return False
    from_float = second.category is Category.FLOAT and last.category is Category.INT
    return is_lossless(first, second) and (not from_float or is_lossless(first, last))


@canonicalization("aten._to_copy")
def to_copy(aten: Namespace, self: SSAValue, memory_format: str | None, out: list[Any]) -> Results:
    if memory_format is not None:
        return KEEP
    if self.type == out[0]:
        return self
    inner, last = made_by(self, "aten._to_copy"), tensor_meta(out[0]).dtype
    if inner is None or inner.arguments()["memory_format"] is not None:
        return KEEP
    origin = inner.operands[0]
    if not is_tensor(origin) or not casts_compose(meta(origin).dtype, meta(self).dtype, last):
        return KEEP
    return origin if origin.type == out[0] else aten._to_copy(origin, dtype=last)


# --- selections ----------------------------------------------------------------------------------------------


@canonicalization("aten.where.self")
def where(aten: Namespace, condition: SSAValue, self: SSAValue, other: SSAValue) -> Results:
    chosen = known(condition)
    if chosen is not None:
        return self if chosen else other
    if self is other:
        return self
    negated = made_by(condition, "aten.logical_not", "aten.bitwise_not")
    if negated is None or meta(negated.operands[0]).dtype is not dt.Bool:
        return KEEP
    return aten.where.self(negated.operands[0], other, self)


@canonicalization("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(aten: Namespace, self: SSAValue, mask: SSAValue) -> Results:
    return self if known(mask) is False else KEEP
