"""Every pointwise operator against PyTorch: dtypes, broadcasting, 0-dim and empty tensors, the edges of arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, find_operator, program_of, run  # noqa: E402
from xdsl.context import Context  # noqa: E402

from interpreter.operators.test_backward import GRADIENTS  # noqa: E402
from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.expr import Expr  # noqa: E402
from xdsl_exir.dialects.meta import SHAPES, MetaError  # noqa: E402
from xdsl_exir.dialects.spec import find, specs  # noqa: E402
from xdsl_exir.dialects.tensors import TensorMeta  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402
from xdsl_exir.transforms.decompositions import pointwise  # noqa: E402
from xdsl_exir.transforms.decompositions import special as special_family  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:where received a uint8 condition"),
    pytest.mark.filterwarnings("ignore:Casting complex values to real"),
]

FLOATS = ["float32", "float16", "bfloat16", "float64"]
INTEGERS = ["int64", "int32", "int8", "uint8"]
COMPLEX = ["complex64", "complex128"]

SPECIAL = [0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 6.5, -30.0, 25.0]
"""Numbers at which a function may turn."""


def tensor(dtype: str, *shape: int, low: float = -3, high: float = 3, seed: int = 0) -> torch.Tensor:
    """Random numbers between `low` and `high`, whole ones for integers."""
    generator = torch.Generator().manual_seed(seed + sum(shape))
    kind = getattr(torch, dtype)
    if kind == torch.bool:
        return torch.rand(shape, generator=generator) > 0.5
    if kind.is_complex:
        parts = torch.rand(*shape, 2, generator=generator, dtype=torch.float64) * (high - low) + low
        return torch.view_as_complex(parts).to(kind)
    values = torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low
    if not kind.is_floating_point:
        values = values.abs().round() if kind == torch.uint8 else values.round()
    return values.to(kind)


def special(dtype: str) -> torch.Tensor:
    return torch.tensor(SPECIAL, dtype=getattr(torch, dtype))


def special_pairs(dtype: str = "float32") -> tuple[torch.Tensor, torch.Tensor]:
    """All pairs of the special numbers, by broadcasting."""
    return special(dtype)[:, None], special(dtype)


class Call:
    """A call to check: its arguments, and what `check` is told."""

    def __init__(self, *args: Any, **kwargs: Any):
        self.args, self.kwargs = args, kwargs


Calls = Callable[[], Iterator[Call]]
TABLE: dict[str, list[Calls]] = {}
"""Operator name to makers of calls."""


def case(*names: str) -> Callable[[Calls], Calls]:
    """The calls are checked for each operator named."""

    def decorate(calls: Calls) -> Calls:
        for name in " ".join(names).split():
            TABLE.setdefault(f"aten.{name}", []).append(calls)
        return calls

    return decorate


# --- one operand ---------------------------------------------------------------------------------------------

REAL_FUNCTIONS = "neg abs sign ceil floor trunc round relu relu6 square nan_to_num"
FLOAT_FUNCTIONS = (
    "exp exp2 expm1 sqrt rsqrt reciprocal sin cos tan atan sinh cosh tanh asinh sigmoid erf erfc"
)
OPEN_FUNCTIONS = "log log2 log10 log1p asin acos acosh atanh erfinv logit deg2rad rad2deg sinc"
"""Those whose domain is not every number: NaN outside."""
ACTIVATIONS = (
    "hardsigmoid hardswish leaky_relu elu selu celu silu mish softplus log_sigmoid hardshrink softshrink"
)
TESTS = "isnan isinf isfinite signbit logical_not"
SAME = "clone alias detach contiguous lift_fresh lift_fresh_copy _to_copy sgn conj real"


@case(REAL_FUNCTIONS, FLOAT_FUNCTIONS, OPEN_FUNCTIONS, ACTIVATIONS, TESTS, SAME, "frac hardtanh")
def floats() -> Iterator[Call]:
    for dtype in FLOATS:
        yield Call(tensor(dtype, 3, 5))
    yield Call(special("float32"))
    yield Call(special("bfloat16"))
    yield Call(tensor("float32"))
    yield Call(tensor("float32", 0, 2))


@case(REAL_FUNCTIONS, FLOAT_FUNCTIONS, OPEN_FUNCTIONS, TESTS, SAME, "hardtanh bitwise_not")
def integers() -> Iterator[Call]:
    for dtype in ("int64", "int8"):
        yield Call(tensor(dtype, 4, 3, low=-5, high=5))
    yield Call(tensor("int64"))


@case(REAL_FUNCTIONS, FLOAT_FUNCTIONS, TESTS, SAME, "bitwise_not")
def unsigned() -> Iterator[Call]:
    yield Call(tensor("uint8", 7, low=0, high=9))


@case(FLOAT_FUNCTIONS, "log log1p erfinv logit sinc", TESTS, SAME, "sign bitwise_not square")
def booleans() -> Iterator[Call]:
    yield Call(tensor("bool", 7))


COMPLEX_FUNCTIONS = (
    "neg abs sgn square exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh "
    "cosh tanh asinh acosh atanh sigmoid silu sinc isnan isinf isfinite logical_not clone alias detach contiguous "
    "lift_fresh _to_copy conj _conj real view_as_real"
)


@case(COMPLEX_FUNCTIONS)
def complexes() -> Iterator[Call]:
    for dtype in COMPLEX:
        yield Call(tensor(dtype, 3, 4))
    yield Call(tensor("complex64"))


@case("isnan isinf isfinite sgn")
def complex_specials() -> Iterator[Call]:
    yield Call(torch.tensor([complex(nan, 0), complex(0, inf), complex(-inf, nan), 0j, 3 + 4j]))


@case("logit")
def logit() -> Iterator[Call]:
    for dtype in ("float32", "float16"):
        yield Call(tensor(dtype, 9, low=-1, high=2), 0.1)


@case("round.decimals")
def round_decimals() -> Iterator[Call]:
    for dtype in FLOATS:
        yield Call(tensor(dtype, 20, low=-200, high=200), decimals=1)
    yield Call(tensor("float32", 20, low=-200, high=200), decimals=-1)
    yield Call(torch.tensor([0.5, 1.5, 2.5, -0.5]), decimals=0)


@case("round")
def round_half_to_even() -> Iterator[Call]:
    yield Call(torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1e10, -0.2]))


@case("hardtanh")
def hardtanh() -> Iterator[Call]:
    yield Call(tensor("float32", 9), -0.5, 1)
    yield Call(tensor("int64", 9, low=-9, high=9), -2.5, 3.5)
    yield Call(tensor("uint8", 9, high=9), 0, 6)


@case("leaky_relu")
def leaky_relu() -> Iterator[Call]:
    yield Call(special("float32"), 0.3)
    yield Call(special("float16"), -1)


@case("elu")
def elu() -> Iterator[Call]:
    yield Call(special("float32"), 1.5, 2, 0.5)


@case("celu")
def celu() -> Iterator[Call]:
    yield Call(special("float32"), 0.5)


@case("gelu")
def gelu() -> Iterator[Call]:
    # Not of infinity: there eager float32 gives NaN where its float64 gives infinity.
    for dtype in FLOATS:
        yield Call(tensor(dtype, 4, 5))
        yield Call(tensor(dtype, 4, 5), approximate="tanh")
    yield Call(tensor("float32"))


@case("softplus")
def softplus() -> Iterator[Call]:
    yield Call(special("float32"), 2, 10)
    yield Call(special("bfloat16"), 0.5)


@case("hardshrink softshrink")
def shrink() -> Iterator[Call]:
    yield Call(special("float32"), 1.5)
    yield Call(special("float32"), 0)


@case("threshold")
def threshold() -> Iterator[Call]:
    yield Call(special("float32"), 0.5, 20)
    yield Call(tensor("float16", 9), 0.1, -1.5)
    yield Call(tensor("int64", 9), 1, 7)


@case("nan_to_num")
def nan_to_num() -> Iterator[Call]:
    yield Call(special("float32"), 1.0, 2.0, 3.0)
    yield Call(special("float64"))
    yield Call(special("float16"), 7.0)
    yield Call(tensor("bool", 3))


# --- two operands --------------------------------------------------------------------------------------------

ARITHMETIC = "add.Tensor sub.Tensor mul.Tensor div.Tensor rsub.Tensor"
COMPARISONS = "eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor"
EXTREMA = "minimum maximum fmin fmax"
LOGICAL = "logical_and logical_or logical_xor"
FLOAT_BINARY = "atan2 copysign.Tensor xlogy.Tensor logaddexp logaddexp2 hypot"
BITWISE = (
    "bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor __and__.Tensor __or__.Tensor __xor__.Tensor"
)


@case(ARITHMETIC, COMPARISONS, EXTREMA, LOGICAL, FLOAT_BINARY, "remainder.Tensor fmod.Tensor floor_divide")
def float_pairs() -> Iterator[Call]:
    for dtype in FLOATS:
        yield Call(tensor(dtype, 4, 1, 3), tensor(dtype, 5, 3, seed=1))
    yield Call(*special_pairs())
    yield Call(tensor("float32"), tensor("float32", seed=1))
    yield Call(tensor("float32", 0, 3), tensor("float32", 3))
    yield Call(tensor("float64", 3), tensor("float32", 3, seed=1))
    yield Call(tensor("float16", 3), tensor("float32", seed=1))


@case(ARITHMETIC, COMPARISONS, EXTREMA, LOGICAL, "atan2 copysign.Tensor xlogy.Tensor")
def integer_pairs() -> Iterator[Call]:
    for dtype in INTEGERS:
        yield Call(tensor(dtype, 4, 3, low=-9, high=9), tensor(dtype, 3, low=-9, high=9, seed=2))
    yield Call(tensor("int64", 3), tensor("float32", 3))
    yield Call(tensor("int8", 5), tensor("uint8", 5))
    yield Call(tensor("uint8", 5), tensor("int64"))


@case("add.Tensor mul.Tensor div.Tensor", COMPARISONS, EXTREMA, LOGICAL)
def boolean_and_integer() -> Iterator[Call]:
    yield Call(tensor("bool", 5), tensor("int32", 5))


@case("add.Tensor mul.Tensor div.Tensor", COMPARISONS, EXTREMA, LOGICAL, BITWISE, "xlogy.Tensor")
def boolean_pairs() -> Iterator[Call]:
    yield Call(tensor("bool", 3, 1), tensor("bool", 4))


@case("add.Tensor sub.Tensor mul.Tensor div.Tensor rsub.Tensor eq.Tensor ne.Tensor", LOGICAL)
def complex_pairs() -> Iterator[Call]:
    yield Call(tensor("complex64", 3, 1), tensor("complex64", 4, seed=1))
    yield Call(tensor("complex64", 3), tensor("float64", 3))
    yield Call(tensor("complex64", 3), torch.ones(3, dtype=torch.complex64))


@case("add.Tensor mul.Tensor sub.Tensor div.Tensor")
def tensor_and_number() -> Iterator[Call]:
    for number in (2, 2.5):
        for dtype in ("float32", "bfloat16", "int64"):
            yield Call(tensor(dtype, 3), number)


@case("add.Tensor")
def wraparound() -> Iterator[Call]:
    yield Call(tensor("uint8", 3), 300)
    yield Call(torch.tensor([120, -128], dtype=torch.int8), torch.tensor([100, -1], dtype=torch.int8))
    yield Call(torch.tensor([True, False, True]), torch.tensor([True, False, False]), alpha=True)


@case("add.Tensor sub.Tensor rsub.Tensor")
def alpha() -> Iterator[Call]:
    yield Call(tensor("float32", 3), tensor("float32", 3, seed=1), alpha=0.5)
    yield Call(tensor("int64", 3), tensor("int64", 3, seed=1), alpha=3)
    yield Call(tensor("complex64", 3), tensor("complex64", 3, seed=1), alpha=2j)
    yield Call(tensor("float16", 3), tensor("float32", 3, seed=1), alpha=2)


@case("add.Scalar sub.Scalar rsub.Scalar")
def alpha_scalar() -> Iterator[Call]:
    for dtype in ("float32", "float16", "int64"):
        yield Call(tensor(dtype, 3, 2), 3)
        yield Call(tensor(dtype, 3), 4, 2)
    yield Call(tensor("int64", 3), 2.5)
    yield Call(tensor("complex64", 3), 2.5)


@case("mul.Scalar div.Scalar floor_divide.Scalar remainder.Scalar fmod.Scalar eq.Scalar ne.Scalar lt.Scalar")
@case("le.Scalar gt.Scalar ge.Scalar")
def number() -> Iterator[Call]:
    for dtype in [*FLOATS, "int64", "uint8"]:
        yield Call(tensor(dtype, 3, 2, low=-9, high=9), 3)
        yield Call(tensor(dtype, 3, low=-9, high=9), 2.5)
    yield Call(tensor("int64"), 2)
    yield Call(special("float32"), 2.5)


@case("remainder.Scalar fmod.Scalar floor_divide.Scalar div.Scalar")
def negative_number() -> Iterator[Call]:
    yield Call(special("float32"), -2.5)
    yield Call(tensor("int64", 20, low=-9, high=9), -4)
    yield Call(special("float32"), 0)


@case("eq.Scalar ne.Scalar")
def compare_rounded() -> Iterator[Call]:
    yield Call(torch.tensor([0.1, 0.2], dtype=torch.float16), 0.1)
    yield Call(torch.tensor([0.1, 0.2], dtype=torch.bfloat16), 0.1)
    yield Call(torch.tensor([1 + 0j, 1 + 1j]), 1)
    yield Call(torch.tensor([True, False]), True)
    yield Call(torch.tensor([nan, 1.0]), nan)


@case("mul.Scalar")
def mul_bool() -> Iterator[Call]:
    yield Call(tensor("bool", 4), True)
    yield Call(tensor("bool", 4), 2)


def divisors(dtype: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Dividends and divisors of either sign, no divisor zero."""
    dividend = torch.arange(0 if dtype == "uint8" else -9, 10).to(getattr(torch, dtype))
    divisor = torch.tensor([1, 2, 3, 7] if dtype == "uint8" else [-7, -2, -1, 1, 3, 4])
    return dividend[:, None], divisor.to(getattr(torch, dtype))


@case("remainder.Tensor fmod.Tensor floor_divide")
def integer_division() -> Iterator[Call]:
    for dtype in INTEGERS:
        yield Call(*divisors(dtype))


@case("div.Tensor_mode")
def div_mode() -> Iterator[Call]:
    for mode in ("trunc", "floor"):
        for dtype in [*INTEGERS, *FLOATS]:
            yield Call(*divisors(dtype), rounding_mode=mode)
        yield Call(*special_pairs(), rounding_mode=mode)
        yield Call(tensor("int64", 3), 2.5, rounding_mode=mode)
    for dtype in FLOATS:
        yield Call(*divisors(dtype), rounding_mode=None)


@case("div.Scalar_mode")
def div_scalar_mode() -> Iterator[Call]:
    for mode in ("trunc", "floor"):
        yield Call(tensor("int64", 9, low=-9, high=9), 2, rounding_mode=mode)
        yield Call(tensor("float32", 9, low=-9, high=9), -2.5, rounding_mode=mode)
    yield Call(tensor("float32", 9), 2, rounding_mode=None)


@case("pow.Tensor_Tensor")
def pow_tensor() -> Iterator[Call]:
    yield Call(*special_pairs())
    for dtype in FLOATS:
        yield Call(tensor(dtype, 4, 1, low=0), tensor(dtype, 3))
    for exponent in (0.5, -0.5, 2.0, -1.0):
        yield Call(special("float32"), torch.tensor([exponent]))
    yield Call(tensor("int64", 9), tensor("int64", 9, low=0, seed=1))
    yield Call(torch.tensor([0, 1, -1, 2, -1]), torch.tensor([-1, -2, -3, -1, -2]))
    yield Call(tensor("uint8", 9, high=9), torch.tensor([7], dtype=torch.uint8))
    yield Call(tensor("int8", 9, high=9), tensor("float32", 9))
    yield Call(tensor("complex64", 5), tensor("complex64", 5, seed=1))


@case("pow.Tensor_Scalar")
def pow_scalar() -> Iterator[Call]:
    for exponent in (2, 3, 0.5, -0.5, -1, 0, 1, 2.5):
        yield Call(tensor("float32", 9, low=0), exponent)
    yield Call(special("float32"), 2)
    yield Call(special("float16"), 3)
    yield Call(tensor("int64", 9), 3)
    yield Call(tensor("uint8", 9, high=9), 3)
    yield Call(tensor("int64", 9), 0.5)
    yield Call(tensor("bool", 9), 2)
    yield Call(tensor("complex64", 9), 2)


@case("pow.Scalar")
def pow_of_scalar() -> Iterator[Call]:
    yield Call(2, tensor("float32", 9))
    yield Call(2.5, tensor("int64", 9))
    yield Call(2, tensor("int64", 9, low=0))
    yield Call(1, tensor("float16", 9))


@case("lcm")
def multiples() -> Iterator[Call]:
    for dtype in INTEGERS:
        if dtype != "bool":
            yield Call(tensor(dtype, 4, 1, low=-50, high=50), tensor(dtype, 3, low=-50, high=50, seed=1))
    yield Call(torch.tensor([0, 4, 5]), torch.tensor([0, 0, 3]))
    yield Call(torch.tensor([-128, 6, -128], dtype=torch.int8), torch.tensor([6, -128, 0], dtype=torch.int8))


@case("nextafter")
def neighbours() -> Iterator[Call]:
    ends = (
        torch.tensor([1.0, 0.0, -0.0, inf, nan, -1.0, 5e-45]),
        torch.tensor([2.0, -1.0, 1.0, 0.0, 1.0, -1.0, 0.0]),
    )
    for dtype in FLOATS:
        yield Call(*(end.to(getattr(torch, dtype)) for end in ends))
    yield Call(tensor("float32", 2, 1), tensor("float64", 3))


@case("ldexp.Tensor")
def scaled() -> Iterator[Call]:
    for dtype in ("float32", "float64", "int64", "complex64"):
        yield Call(tensor(dtype, 2, 1), torch.tensor([-3, 0, 200]))
    yield Call(tensor("complex64", 2, 1), torch.tensor([True, False]))
    yield Call(tensor("bfloat16", 3), tensor("float32", 3))
    for dtype in ("complex64", "complex128"):
        for other in ("bfloat16", "float32", "float64"):
            yield Call(tensor(dtype, 3), tensor(other, 3))
    for dtype in FLOATS:
        ends = torch.tensor([0.0, inf, nan, -3.1, 1e-38, 5e-324, 1e300]).to(getattr(torch, dtype))
        yield Call(ends, torch.tensor([[30000], [-30000], [1070], [-20], [-1060], [127]], dtype=torch.int16))
        yield Call(tensor(dtype, 4), torch.tensor([2**63 - 1, 2**32 + 1, 2**31 - 1, -(2**31)]))
    yield Call(tensor("float16"), tensor("int8", 2))


@case("frexp.Tensor")
def mantissas() -> Iterator[Call]:
    for dtype in FLOATS:
        yield Call(torch.tensor([0.0, -3.0, 1e-3, inf, nan, 6e-8]).to(getattr(torch, dtype)))


@case("positive")
def positive() -> Iterator[Call]:
    yield Call(tensor("float32", 3))
    yield Call(tensor("int64", 3))


@case(BITWISE, "gcd")
def bits() -> Iterator[Call]:
    for dtype in INTEGERS:
        yield Call(tensor(dtype, 4, 1, low=-50, high=50), tensor(dtype, 3, low=-50, high=50, seed=1))
    yield Call(tensor("int64", 3, low=-9), tensor("uint8", 3, high=9))
    yield Call(torch.tensor([-128, 6, -128], dtype=torch.int8), torch.tensor([6, -128, 0], dtype=torch.int8))


@case("bitwise_and.Scalar bitwise_or.Scalar bitwise_xor.Scalar __and__.Scalar __or__.Scalar __xor__.Scalar")
def bits_scalar() -> Iterator[Call]:
    for dtype in INTEGERS:
        yield Call(tensor(dtype, 4, low=-50, high=50), 6)
    yield Call(tensor("bool", 4), True)
    yield Call(tensor("bool", 4), 3)


@case("bitwise_and.Scalar_Tensor bitwise_or.Scalar_Tensor bitwise_xor.Scalar_Tensor")
def bits_of_a_number() -> Iterator[Call]:
    for dtype in INTEGERS:
        yield Call(6, tensor(dtype, 4, low=-50, high=50))
    yield Call(True, tensor("bool", 4))
    yield Call(3, tensor("bool", 4))


@case(
    "bitwise_left_shift.Tensor_Scalar bitwise_right_shift.Tensor_Scalar __lshift__.Scalar __rshift__.Scalar"
)
def shifts_by_a_number() -> Iterator[Call]:
    for dtype in INTEGERS:
        yield Call(tensor(dtype, 4, low=-50, high=50), 2)
    yield Call(tensor("bool", 4), 3)
    yield Call(tensor("uint8", high=9), 1)


@case("bitwise_left_shift.Scalar_Tensor bitwise_right_shift.Scalar_Tensor")
def shifts_of_a_number() -> Iterator[Call]:
    for dtype in INTEGERS:
        yield Call(100, tensor(dtype, 4, low=0, high=6))
    yield Call(1, tensor("int64", high=9))


@case("remainder.Scalar_Tensor")
def remainder_of_a_number() -> Iterator[Call]:
    yield Call(5, torch.tensor([3, -3, 7, -7]))
    yield Call(-5, torch.tensor([3, 100], dtype=torch.uint8))
    yield Call(5.5, torch.tensor([2, -2]))
    for dtype in FLOATS:
        yield Call(-5, tensor(dtype, 4, 3))


@case("copysign.Scalar")
def copysign_scalar() -> Iterator[Call]:
    for dtype in (*FLOATS, *INTEGERS):
        yield Call(tensor(dtype, 4), -1.0)
    yield Call(special("float32"), -0.0)
    yield Call(tensor("float32", 3), 2)


@case("bitwise_left_shift.Tensor bitwise_right_shift.Tensor __lshift__.Tensor __rshift__.Tensor")
def shifts() -> Iterator[Call]:
    yield Call(tensor("int64", 4, 1, low=-50, high=50), torch.tensor([0, 1, 3, 63, 64, 70]))
    yield Call(torch.tensor([200, 7], dtype=torch.uint8)[:, None], torch.tensor([1, 7, 9], dtype=torch.uint8))
    yield Call(
        torch.tensor([-100, 7], dtype=torch.int8)[:, None], torch.tensor([1, 7, 9, -1], dtype=torch.int8)
    )


@case("heaviside")
def heaviside() -> Iterator[Call]:
    yield Call(*special_pairs())
    yield Call(tensor("float16", 5), tensor("float16", 5, seed=1))
    yield Call(tensor("int8", 9), tensor("int8", 9, seed=1))
    yield Call(tensor("bool", 9), tensor("bool", 9, seed=1))
    yield Call(special("float32"), torch.tensor(0.5))


# --- limits and selection ------------------------------------------------------------------------------------


@case("clamp")
def clamp() -> Iterator[Call]:
    for dtype in ("float32", "bfloat16", "int64"):
        yield Call(tensor(dtype, 3, 4), -1, 1)
        yield Call(tensor(dtype, 3, 4), None, 1)
        yield Call(tensor(dtype, 3, 4), 2, -2)
    yield Call(special("float32"), 0.5)
    yield Call(special("float32"), min=nan)
    yield Call(tensor("int64", 3), 0.5)
    yield Call(tensor("uint8", 3), 1, 2)


@case("clamp.Tensor")
def clamp_tensor() -> Iterator[Call]:
    yield Call(special("float32"), torch.tensor(-1.0), torch.tensor(1.0))
    yield Call(tensor("float32", 3, 1), tensor("float32", 4), None)
    yield Call(tensor("int64", 3), None, tensor("float32", 3))
    yield Call(special("float32")[:, None], special("float32"), torch.tensor(2.0))


@case("clamp_min clamp_max")
def clamp_one() -> Iterator[Call]:
    yield Call(special("float32"), 0.5)
    yield Call(tensor("int64", 3), 1)
    yield Call(tensor("int64", 3), 1.5)
    yield Call(special("float16"), 0)


@case("clamp_min.Tensor clamp_max.Tensor")
def clamp_one_tensor() -> Iterator[Call]:
    yield Call(*special_pairs())
    yield Call(tensor("int64", 3), tensor("float16", 3))


MASK = torch.tensor([[True], [False], [True]])


@case("where.self")
def where() -> Iterator[Call]:
    for dtype in [*FLOATS, "int64", "bool", "complex64"]:
        yield Call(MASK, tensor(dtype, 4), tensor(dtype, 3, 4, seed=1))
    yield Call(MASK, tensor("int64", 4), tensor("float32"))
    yield Call(MASK, tensor("float16", 3, 1), tensor("float64", 1))
    yield Call(torch.tensor(True), special("float32"), tensor("float32"))
    yield Call(torch.tensor([1, 0], dtype=torch.uint8), tensor("float32", 2), tensor("float32", 2, seed=1))


@case("where.ScalarOther")
def where_scalar_other() -> Iterator[Call]:
    for dtype in ("float32", "float16", "int64", "complex64"):
        yield Call(MASK, tensor(dtype, 4), 2)
        yield Call(MASK, tensor(dtype, 4), -inf)


@case("where.ScalarSelf")
def where_scalar_self() -> Iterator[Call]:
    for dtype in ("float32", "float16", "int64", "bool"):
        yield Call(MASK, 2.5, tensor(dtype, 4))


@case("where.Scalar")
def where_scalar() -> Iterator[Call]:
    for pair in ((1, 0), (2.5, 1), (True, False), (True, 2), (1j, 1)):
        yield Call(MASK, *pair)


@case("masked_fill.Scalar")
def masked_fill() -> Iterator[Call]:
    for dtype in ("float32", "bfloat16", "complex64"):
        yield Call(tensor(dtype, 3, 4), MASK, -inf)
    yield Call(tensor("int64", 4), MASK, 2)
    yield Call(tensor("bool", 4), MASK, True)
    yield Call(tensor("float32"), MASK, 1)


@case("masked_fill.Tensor")
def masked_fill_tensor() -> Iterator[Call]:
    yield Call(tensor("float32", 3, 4), MASK, torch.tensor(-inf))
    yield Call(tensor("float16", 3, 4), MASK, torch.tensor(2.5))
    yield Call(tensor("int64", 3, 4), MASK, torch.tensor(2))


# --- several operands ----------------------------------------------------------------------------------------


@case("addcmul addcdiv")
def addcmul() -> Iterator[Call]:
    for dtype in [*FLOATS, "complex64"]:
        operands = [tensor(dtype, 3, 1), tensor(dtype, 4, seed=1), tensor(dtype, seed=2)]
        yield Call(*operands)
        yield Call(*operands, value=2)
    yield Call(tensor("float32", 3), tensor("float16", 3), tensor("float32", 3, seed=1), value=0.5)


@case("addcmul")
def addcmul_integer() -> Iterator[Call]:
    yield Call(tensor("int64", 3), tensor("int64", 3), tensor("int64", 3), value=3)
    yield Call(tensor("uint8", 3, high=90), tensor("uint8", 3, high=90), tensor("uint8", 3, high=90), value=3)


@case("lerp.Scalar")
def lerp() -> Iterator[Call]:
    for dtype in [*FLOATS, "complex64"]:
        for weight in (0.25, 0.75, 2, -1):
            yield Call(tensor(dtype, 3, 1), tensor(dtype, 4, seed=1), weight)


@case("lerp.Tensor")
def lerp_tensor() -> Iterator[Call]:
    for dtype in FLOATS:
        yield Call(tensor(dtype, 3, 1), tensor(dtype, 4, seed=1), tensor(dtype, 3, 4, seed=2))
    yield Call(tensor("float32", 3), tensor("float32", 3, seed=1), torch.tensor(0.5))


@case("prelu")
def prelu() -> Iterator[Call]:
    for dtype in ("float32", "float16", "float64"):
        yield Call(tensor(dtype, 2, 3, 4, 4), tensor(dtype, 3, seed=1))
    yield Call(tensor("float32", 2, 3), tensor("float32", 1))
    yield Call(tensor("float32", 2, 3), tensor("float32"))
    yield Call(tensor("float32", 4), tensor("float32", 1))
    yield Call(tensor("float32"), tensor("float32", 1))


@case("_prelu_kernel")
def prelu_kernel() -> Iterator[Call]:
    yield Call(special("float32"), tensor("float32", 1))
    yield Call(tensor("bfloat16", 2, 3, 4), tensor("bfloat16", 1, 3, 1, seed=1))


@case("logaddexp")
def logaddexp_complex() -> Iterator[Call]:
    yield Call(tensor("complex64", 5), tensor("complex64", 5, seed=1))


# --- casts, copies and fills ---------------------------------------------------------------------------------

DTYPES = ["float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool"]


@case("to.dtype")
def to_dtype() -> Iterator[Call]:
    for source in DTYPES:
        for target in DTYPES:
            yield Call(tensor(source, 3, 2, low=0, high=9), getattr(torch, target))
    yield Call(special("float32"), torch.float16)
    yield Call(special("float32"), torch.bool)
    yield Call(tensor("complex64", 3), torch.float32)
    yield Call(tensor("float32", 3), torch.complex64)
    yield Call(tensor("float32", 3), torch.float32, False, True)
    yield Call(torch.tensor([-1.5, 1.5, -0.5]), torch.int64)
    yield Call(torch.tensor([300, -1]), torch.uint8)


@case("_to_copy to.dtype_layout")
def to_copy() -> Iterator[Call]:
    yield Call(tensor("float32", 3), dtype=torch.float64)
    yield Call(tensor("float32", 3), dtype=torch.float32)
    yield Call(tensor("float32", 3))
    yield Call(tensor("int64", 3), dtype=torch.float16, device=torch.device("cpu"))


@case("to.device")
def to_device() -> Iterator[Call]:
    yield Call(tensor("float32", 3), torch.device("cpu"), torch.float32)
    yield Call(tensor("float32", 3), torch.device("cpu"), torch.int64)


@case("resolve_conj resolve_neg lift isreal isposinf isneginf special_entr special_ndtr special_log_ndtr")
def more_functions() -> Iterator[Call]:
    for dtype in ("float32", "float64"):
        yield Call(special(dtype))
        yield Call(tensor(dtype, 3, 4))
    yield Call(tensor("int64", 5))
    yield Call(tensor("float32", 0, 2))


@case("isreal resolve_conj")
def more_complex() -> Iterator[Call]:
    yield Call(torch.tensor([1 + 0j, 1j, complex(nan, 0), complex(0, nan)]))


@case("special_entr isposinf")
def more_shorter() -> Iterator[Call]:
    for dtype in ("float16", "bfloat16"):
        yield Call(special(dtype))
    yield Call(tensor("bool", 5))


@case("special_xlog1py float_power.Tensor_Tensor")
def more_pairs() -> Iterator[Call]:
    yield Call(*special_pairs())
    yield Call(tensor("int64", 5, low=0), tensor("int64", 5, low=0, seed=1))
    yield Call(tensor("float16", 5), tensor("float32", seed=1))


@case("float_power.Tensor_Tensor")
def complex_power() -> Iterator[Call]:
    yield Call(tensor("complex64", 5), tensor("float32", 5))
    yield Call(tensor("int64", 5, low=1), tensor("complex64", 5))


@case("special_zeta.other_scalar")
def function_of_a_number() -> Iterator[Call]:
    for number in (2, 3.0):
        yield Call(tensor("float32", 5, low=1), number)
        yield Call(tensor("int64", 5, low=1), number)


@case("special_zeta.self_scalar")
def number_of_a_function() -> Iterator[Call]:
    for number in (2, 3.5):
        yield Call(number, torch.tensor([1.0, 2.0, 5.0]))
        yield Call(number, tensor("int64", 5, low=1))


@case("xlogy.Scalar_Other special_xlog1py.other_scalar float_power.Tensor_Scalar")
def tensor_then_number() -> Iterator[Call]:
    for number in (2, 0.3, 0):
        yield Call(special("float32"), number)
        yield Call(tensor("int64", 5, low=1), number)
        yield Call(tensor("float16", 5), number)


@case("xlogy.Scalar_Self special_xlog1py.self_scalar float_power.Scalar")
def number_then_tensor() -> Iterator[Call]:
    for number in (2, 0.3, 0):
        yield Call(number, special("float32"))
        yield Call(number, tensor("int64", 5, low=1))
        yield Call(number, tensor("float16", 5))


@case("float_power.Tensor_Scalar")
def complex_exponent() -> Iterator[Call]:
    yield Call(tensor("int64", 5, low=1), 2j)
    yield Call(tensor("complex64", 5), 2)


@case("isclose")
def isclose() -> Iterator[Call]:
    for equal_nan in (False, True):
        yield Call(*special_pairs(), equal_nan=equal_nan)
        yield Call(tensor("complex64", 5), tensor("complex64", 5) + 1e-9, equal_nan=equal_nan)
    yield Call(tensor("float32", 5), tensor("float32", 5) + 0.01, 0.01, 0.001)
    yield Call(tensor("float16", 5), tensor("float16", 5) + 0.01, 0.01)
    yield Call(tensor("int64", 5), tensor("int64", 5) + 1, 0.1, 0.5)
    yield Call(tensor("int64", 5), tensor("int64", 5), 0, 0)
    yield Call(tensor("bool", 5), tensor("bool", 5, seed=1))


@case("to.other type_as")
def to_other() -> Iterator[Call]:
    yield Call(tensor("float32", 3), tensor("float32", 5))
    yield Call(tensor("float32", 3), tensor("int64"))
    yield Call(tensor("bool", 3), tensor("bfloat16", 2, 2))


@case("clone contiguous")
def memory_format() -> Iterator[Call]:
    yield Call(tensor("float32", 3), memory_format=torch.contiguous_format)


@case("copy")
def copy() -> Iterator[Call]:
    yield Call(tensor("float32", 3, 4), tensor("int64", 4))
    yield Call(tensor("int64", 3, 4), tensor("float32"))
    yield Call(tensor("bfloat16", 2), tensor("float32", 2))


@case("fill.Scalar")
def fill() -> Iterator[Call]:
    for dtype in ("float32", "bfloat16", "int64"):
        yield Call(tensor(dtype, 2, 3), 2.5)
    yield Call(tensor("bool", 3), 2)


@case("fill.Tensor")
def fill_tensor() -> Iterator[Call]:
    yield Call(tensor("float32", 2, 3), torch.tensor(2))
    yield Call(tensor("int64", 2, 3), torch.tensor(2.5))


# --- dropout -------------------------------------------------------------------------------------------------


@case("rrelu")
def random_rrelu() -> Iterator[Call]:
    yield Call(tensor("float32", 2, 3), 0.1, 0.5, True, values=False)


@case("rrelu_with_noise_functional")
def rrelu_with_noise() -> Iterator[Call]:
    yield Call(tensor("float32", 2, 3), tensor("float32", 2, 3), 0.1, 0.5)
    yield Call(tensor("bfloat16", 2, 3), tensor("bfloat16", 2, 3), 0.25, 0.25, True)
    yield Call(tensor("float32", 2, 3), tensor("float32", 2, 3), 0.1, 0.5, True, values=False)


@case("dropout feature_dropout")
def no_dropout() -> Iterator[Call]:
    yield Call(tensor("float32", 2, 3), 0.5, False)
    yield Call(tensor("float32", 2, 3), 0.0, True)
    yield Call(tensor("float32", 2, 3), 1.0, True)


@case("alpha_dropout feature_alpha_dropout")
def no_alpha_dropout() -> Iterator[Call]:
    yield Call(tensor("float32", 2, 3), 0.5, False)
    yield Call(tensor("int64", 2, 3), 0.5, False)
    yield Call(tensor("float32", 2, 3), 0.0, True)


@case("glu")
def glu() -> Iterator[Call]:
    for dtype in ("float32", "float64", "bfloat16"):
        yield Call(tensor(dtype, 4, 6), scale=2)
    yield Call(tensor("float32", 4, 3, 5), 0, scale=2)
    yield Call(tensor("float32", 0, 4), -1)


@case("rrelu")
def rrelu() -> Iterator[Call]:
    yield Call(tensor("float32", 2, 3))
    yield Call(tensor("float64", 2, 3), 0.1, 0.5)
    yield Call(tensor("bfloat16", 3), 0.25, 0.25)


@case("dropout feature_dropout")
def random_dropout() -> Iterator[Call]:
    yield Call(tensor("float32", 2, 3, 4), 0.5, True, values=False)


# --- tests ---------------------------------------------------------------------------------------------------

for _name, _operator in (pointwise.OTHER_NAMES | special_family.OTHER_NAMES).items():
    if f"aten.{_operator}" in TABLE:
        TABLE.setdefault(f"aten.{_name}", TABLE[f"aten.{_operator}"][:1])

DROPOUTS = (
    "aten.dropout",
    "aten.feature_dropout",
    "aten.alpha_dropout",
    "aten.feature_alpha_dropout",
    "aten.native_dropout_backward",
)
OPERATORS = [
    name
    for name, spec in specs().items()
    if name in DROPOUTS or (spec.family in ("pointwise", "activation", "special") and name not in GRADIENTS)
]


# --- special functions, complex numbers, gradients -----------------------------------------------------------

HALVES_TOO = "lgamma digamma i0 special_i0 special_i0e special_i1 special_i1e special_gammaln special_digamma special_psi"
SINGLE = (
    "special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_modified_bessel_i0 "
    "special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_spherical_bessel_j0 "
    "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_airy_ai special_erfcx special_ndtri"
)


@case(HALVES_TOO)
def special_of_halves() -> Iterator[Call]:
    for dtype in ("float16", "bfloat16"):
        # PyTorch computes some of them in the dtype itself.
        yield Call(tensor(dtype, 3, 5, low=0.1, high=5), scale=4)


@case(HALVES_TOO, SINGLE)
def special_functions() -> Iterator[Call]:
    # PyTorch's Bessel functions of float64 are of single precision beyond 5, its Airy function below -2.09.
    yield Call(tensor("float32", 3, 5, low=-5, high=5))
    yield Call(tensor("float64", 3, 5, low=-2, high=5))
    yield Call(tensor("float32", 0, 2))
    yield Call(tensor("float32"))
    yield Call(tensor("int64", 4, low=0, high=5))
    yield Call(tensor("bool", 4))
    yield Call(torch.tensor([0.0, 1.0, inf, nan, 0.5, 6.5, 3.0]), scale=10)


@case("polygamma special_polygamma")
def polygamma() -> Iterator[Call]:
    for n in range(5):
        yield Call(n, tensor("float64", 7, low=0.1, high=5))
        yield Call(n, tensor("float32", 7, low=0.1, high=5), scale=10)
    yield Call(1, tensor("float64", 7, low=-5, high=0))
    yield Call(2, tensor("int64", 3, low=1, high=5), scale=10)
    yield from (Call(n, special("float32")) for n in range(4))


@case("mvlgamma special_multigammaln")
def mvlgamma() -> Iterator[Call]:
    for p in (1, 3):
        for dtype in ("float32", "float64", "float16"):
            yield Call(tensor(dtype, 7, low=2, high=5), p, scale=4)
        yield Call(tensor("int64", 7, low=3, high=9), p)


@case("special_zeta igamma igammac special_gammainc special_gammaincc")
def special_pairs_of_functions() -> Iterator[Call]:
    for dtype in ("float32", "float64"):
        yield Call(tensor(dtype, 4, 1, low=1.1, high=5), tensor(dtype, 5, low=0.1, high=5), scale=10)
    yield Call(torch.tensor([2.0, inf, nan, 0.5]), torch.tensor([inf, 2.0, 1.0, nan]))


@case("special_zeta")
def zeta_of_powers_that_overflow() -> Iterator[Call]:
    for dtype in (torch.float32, torch.float64):
        powers = torch.tensor([2.4e13, 2.7e13, 1e30, inf], dtype=dtype)[:, None]
        yield Call(powers, torch.tensor([0.5, 1.0, 1.5, 9e18, inf, -3.5, -3.0], dtype=dtype))
    yield Call(torch.tensor([2**63 - 1, 5]), torch.tensor([2**63 - 1, 3]))


@case("igamma igammac")
def igamma_of_halves() -> Iterator[Call]:
    yield Call(tensor("float16", 5, low=0.5, high=5), tensor("float16", 5, low=0.1, high=5))


POLYNOMIALS = " ".join(
    f"special_{name}"
    for name in (
        *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
        *("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"),
    )
)


@case(" ".join(f"{name}.n_scalar" for name in POLYNOMIALS.split()))
def polynomials_of_a_degree() -> Iterator[Call]:
    yield Call(tensor("float32", 6, low=-2, high=2), 3, scale=100)
    yield Call(tensor("int64", 5, low=-2, high=2), 2)


@case(" ".join(f"{name}.x_scalar" for name in POLYNOMIALS.split()))
def polynomials_at_a_number() -> Iterator[Call]:
    yield Call(0.75, torch.tensor([0.0, 1.0, 2.0, 5.0]), scale=100)
    yield Call(2, torch.tensor([0, 1, 4]), scale=100)


@case(POLYNOMIALS)
def polynomials() -> Iterator[Call]:
    degrees = torch.tensor([-1, 0, 1, 2, 3, 5, 8, 2.7])
    yield Call(tensor("float32", 6, 1, low=-2, high=2), degrees, scale=100)
    yield Call(torch.tensor([[0.0], [1.0], [-1.0], [0.5]], dtype=torch.float64), degrees.double())
    yield Call(tensor("int64", 5, low=-2, high=2), torch.tensor(3))
    yield Call(tensor("float32", 0), tensor("float32", 0))


@case("view_as_complex")
def pairs_of_parts() -> Iterator[Call]:
    yield Call(tensor("float32", 3, 2))
    yield Call(tensor("float64", 2))


@case("complex polar")
def complex_of_parts() -> Iterator[Call]:
    for dtype in ("float32", "float64"):
        yield Call(tensor(dtype, 3, 1), tensor(dtype, 4, seed=1))
    yield Call(torch.tensor([0.0, 1.0]), torch.tensor([0.5, 2.0]))


@case("angle imag conj_physical _conj_physical")
def parts() -> Iterator[Call]:
    for dtype in COMPLEX:
        yield Call(tensor(dtype, 3, 4))


@case("angle conj_physical _conj_physical")
def parts_of_reals() -> Iterator[Call]:
    yield Call(special("float32"))
    yield Call(tensor("float16", 5))
    yield Call(tensor("int64", 5))


@case("sigmoid_backward tanh_backward gelu_backward")
def gradients() -> Iterator[Call]:
    for dtype in ("float32", "float64", "bfloat16"):
        yield Call(tensor(dtype, 4, 3), tensor(dtype, 4, 3, seed=1))


@case("sigmoid_backward tanh_backward")
def complex_gradients() -> Iterator[Call]:
    yield Call(tensor("complex64", 4), tensor("complex64", 4, seed=1))


@case("gelu_backward")
def gelu_gradient() -> Iterator[Call]:
    yield Call(tensor("float32", 4, 3), tensor("float32", 4, 3, seed=1), approximate="tanh")


@case("threshold_backward")
def threshold_gradient() -> Iterator[Call]:
    for dtype in ("float32", "float16", "int64"):
        yield Call(tensor(dtype, 9), tensor(dtype, 9, seed=1), 0)


@case("native_dropout_backward")
def dropout_gradient() -> Iterator[Call]:
    for dtype in ("float32", "float16"):
        yield Call(tensor(dtype, 9), tensor("bool", 9), 2.0)


def test_every_operator_is_in_the_table() -> None:
    assert sorted(TABLE) == sorted(OPERATORS)


@pytest.mark.parametrize(
    ("name", "calls"),
    [pytest.param(name, calls, id=f"{name}-{calls.__name__}") for name in TABLE for calls in TABLE[name]],
)
def test_operator(name: str, calls: Calls) -> None:
    for call in calls():
        check(name, *call.args, **call.kwargs)


F, I, B = torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.int64), torch.zeros(2, 3, dtype=torch.bool)  # noqa: E741
WRONG = torch.zeros(2)

REFUSED: list[tuple[str, Call]] = [
    *((f"aten.{name}", Call(F, WRONG)) for name in f"{ARITHMETIC} {COMPARISONS} {EXTREMA} {LOGICAL}".split()),
    *(
        (f"aten.{name}", Call(F, WRONG))
        for name in f"{FLOAT_BINARY} heaviside copy prelu _prelu_kernel".split()
    ),
    *(
        (f"aten.{name}", Call(F, WRONG))
        for name in ("pow.Tensor_Tensor", "lerp.Scalar", "clamp_min.Tensor")[::2]
    ),
    *((f"aten.{name}", Call(I, I[:, 0])) for name in f"{BITWISE} gcd".split()),
    ("aten.lerp.Scalar", Call(F, WRONG, 0.5)),
    ("aten.lerp.Tensor", Call(F, F, WRONG)),
    ("aten.addcmul", Call(F, F, WRONG)),
    ("aten.addcdiv", Call(F, WRONG, F)),
    ("aten.where.self", Call(B, F, WRONG)),
    ("aten.where.self", Call(B[:, :2], F, F)),
    ("aten.where.ScalarOther", Call(B[:, :2], F, 1)),
    ("aten.where.ScalarSelf", Call(B[:, :2], 1, F)),
    ("aten.masked_fill.Scalar", Call(F, B[:, :2], 1)),
    ("aten.masked_fill.Scalar", Call(F, I, 1)),
    ("aten.masked_fill.Tensor", Call(F, B, WRONG)),
    ("aten.fill.Tensor", Call(F, WRONG)),
    ("aten.copy", Call(WRONG, F)),
    ("aten.clamp", Call(F)),
    ("aten.clamp.Tensor", Call(F)),
    ("aten.clamp.Tensor", Call(F, WRONG)),
    ("aten.add.Tensor", Call(I, I, alpha=0.5)),
    ("aten.add.Scalar", Call(I, 1, 0.5)),
    ("aten.sub.Tensor", Call(B, B)),
    ("aten.neg", Call(B)),
    ("aten.bitwise_and.Tensor", Call(F, F)),
    ("aten.lt.Tensor", Call(F + 0j, F)),
    ("aten.div.Tensor_mode", Call(F, F, rounding_mode="ceil")),
    ("aten.div.Scalar_mode", Call(F, 2, rounding_mode="round")),
    ("aten.gelu", Call(F, approximate="erf")),
    ("aten.gelu", Call(I)),
    ("aten.hardtanh", Call(I.to(torch.uint8), -1, 1)),
    ("aten.dropout", Call(F, 1.5, True)),
    ("aten.alpha_dropout", Call(F, -0.5, False)),
    ("aten.glu", Call(F[:, :1])),
    ("aten.rrelu", Call(F, 0.5, 0.25)),
    ("aten.feature_dropout", Call(WRONG, 0.5, True)),
    ("aten.prelu", Call(F, F)),
    ("aten.prelu", Call(torch.tensor(1.0), torch.zeros(2))),
    ("aten.view_as_real", Call(F)),
]
"""Calls that PyTorch refuses as well."""


@pytest.mark.parametrize(("name", "call"), REFUSED, ids=[name for name, _ in REFUSED])
def test_refusal(name: str, call: Call) -> None:
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        find_operator(name)(*call.args, **call.kwargs)
    with pytest.raises(ExirError):
        program_of(name, *call.args, **call.kwargs)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("aten.div.Tensor_mode", Call(I, I, rounding_mode="floor")),
        ("aten.remainder.Tensor", Call(I, I)),
        ("aten.fmod.Scalar", Call(I, 0)),
        ("aten.pow.Tensor_Scalar", Call(I, -1)),
    ],
)
def test_refusal_at_run_time(name: str, call: Call) -> None:
    with pytest.raises(RuntimeError):
        find_operator(name)(*call.args, **call.kwargs)
    with pytest.raises(ExirError, match=r"by zero|negative integer powers"):
        run(*program_of(name, *call.args, **call.kwargs))


def test_dropout_drops_and_scales() -> None:
    module, tensors = program_of("aten.dropout", torch.ones(100, 100), 0.25, True)
    [result] = run(module, tensors)
    assert set(result.flat) == {result.dtype.type(0), result.dtype.type(1 / 0.75)}
    assert (result == 0).mean() == pytest.approx(0.25, abs=0.03)


def test_feature_dropout_drops_channels() -> None:
    module, tensors = program_of("aten.feature_dropout", torch.ones(20, 20, 4), 0.5, True)
    [result] = run(module, tensors)
    assert (result == result[:, :, :1]).all()
    assert set(result.flat) == {0, 2}


def shape_of(name: str, **arguments: Any) -> Any:
    entry = SHAPES.find(find(name))
    assert entry is not None
    return entry.call(arguments)


def test_symbolic_shapes() -> None:
    s0, s1 = Expr.symbol("s0"), Expr.symbol("s1")
    x, y = TensorMeta((s0, 1, 8), dt.Float), TensorMeta((s1, 1), dt.Float)
    assert shape_of("aten.mul.Tensor", self=x, other=y) == (s0, s1, 8)
    assert shape_of("aten.relu", self=x) == (s0, 1, 8)
    assert shape_of("aten.copy", self=x, src=TensorMeta((8,), dt.Float)) == (s0, 1, 8)
    with pytest.raises(MetaError, match="do not broadcast"):
        shape_of("aten.mul.Tensor", self=x, other=TensorMeta((s0 + 1, 1, 8), dt.Float))
    with pytest.raises(MetaError, match="does not broadcast to"):
        shape_of("aten.copy", self=y, src=x)


# --- decompositions ------------------------------------------------------------------------------------------

H = torch.zeros(2, 3, dtype=torch.float16)

DECOMPOSED: list[tuple[str, Call, str]] = [
    ("aten.silu", Call(F), "sigmoid mul.Tensor"),
    ("aten.silu", Call(H), "_to_copy sigmoid mul.Tensor _to_copy"),
    ("aten.type_as", Call(F, F), ""),
    ("aten.type_as", Call(F, I), "_to_copy"),
    ("aten.to.dtype", Call(F, torch.float32), ""),
    ("aten.to.dtype", Call(F, torch.float64), "_to_copy"),
    ("aten.to.dtype", Call(F, torch.float32, False, True), "_to_copy"),
    ("aten.to.dtype_layout", Call(F), ""),
    ("aten.contiguous", Call(F), "clone"),
    ("aten.detach", Call(F), "alias"),
    ("aten.dropout", Call(F, 0.5, False), "clone"),
    ("aten.dropout", Call(F, 0.5, True), "native_dropout"),
    ("aten.rsub.Scalar", Call(F, 1), "sub.Tensor"),
    ("aten.square", Call(F), "pow.Tensor_Scalar"),
    ("aten.relu6", Call(F), "hardtanh"),
    ("aten.hardswish", Call(F), "add.Tensor clamp clamp mul.Tensor div.Tensor"),
    ("aten.where.ScalarOther", Call(B, I, 2.5), "_to_copy scalar_tensor where.self"),
    ("aten.masked_fill.Scalar", Call(F, B, -inf), "scalar_tensor where.self"),
    ("aten.softplus", Call(F), "exp log1p gt.Scalar where.self"),
    ("aten.prelu", Call(F, torch.zeros(3)), "view gt.Scalar mul.Tensor where.self"),
    ("aten.fill.Scalar", Call(F, 2), "full_like"),
    ("aten.add.Scalar", Call(F, 2), "add.Scalar"),
]


@pytest.mark.parametrize(("name", "call", "operators"), DECOMPOSED)
def test_decomposition(name: str, call: Call, operators: str) -> None:
    module, _ = program_of(name, *call.args, **call.kwargs)
    DecomposeAten().apply(Context(), module)
    names = [op.name.removeprefix("aten.") for op in module.walk() if op.name.startswith("aten.")]
    assert names == operators.split()
