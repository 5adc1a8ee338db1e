"""Operators on special values (`special_values`): those that tell signs of zero and infinities apart, orders of NaN and ties, and
conversions of what a dtype does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nan
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from differential import find_operator, program_of, run, run_native, to_torch  # noqa: E402
from special_values import (  # noqa: E402
    ENGINES,
    PARTS,
    REALS,
    Case,
    agrees,
    cases_of,
    cases_of_rows,
    conversions,
    differences,
)
from xdsl.context import Context  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402

from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.spec import find  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

COMPLEX = [
    *(
        "sqrt",
        "add.Tensor",
        "sub.Tensor",
        "reciprocal",
        "div.Tensor",
        "exp",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
    ),
    *("asin", "acos", "atan", "asinh", "acosh", "atanh", "log1p"),
]
REAL = [
    "relu",
    "hardtanh",
    "clamp",
    "erfinv",
    "maximum",
    "copysign.Tensor",
    "remainder.Tensor",
    "sigmoid_backward",
]
NATIVE = ["relu", "relu6", "hardtanh", "clamp", "gelu", "lgamma", "sigmoid_backward"]
CHOICES = ["fmax", "fmin"]
"""Which zero they choose of two depends on the dtype in PyTorch."""


@pytest.mark.parametrize("name", REAL)
def test_real_functions_in_the_interpreter(name: str) -> None:
    for case in cases_of(find(f"aten.{name}"), dt.Float):
        assert differences(case, run(case.module, case.tensors)) == []


def powers(stages: int) -> Iterator[tuple[list[torch.Tensor], list[torch.Tensor], ModuleOp]]:
    """Complex numbers and real ones raised to powers that PyTorch has formulas of its own for; what it gives, and programs."""
    parts = [*PARTS, 3e38]
    complexes = torch.tensor([complex(a, b) for a in parts for b in parts])
    for x, exponents in ((complexes, (0.5, -0.5, 0, 1, 2, 3, -1, -2)), (torch.tensor(REALS), (0.5, -0.5))):
        for exponent in exponents:
            module, _ = program_of("aten.pow.Tensor_Scalar", x, exponent)
            for stage in (DecomposeAten(), AtenToEdge())[:stages]:
                stage.apply(Context(), module)
            singles = torch.cat([x[i : i + 1] ** exponent for i in range(len(x))])
            yield [x], [x**exponent, singles], module


@pytest.mark.parametrize("stages", [0, 2])
def test_powers_in_the_interpreter(stages: int) -> None:
    for given, (vector, scalar), module in powers(stages):
        got = to_torch(run(module, given)[0])
        assert (agrees(got, vector) | agrees(got, scalar)).all()


@pytest.mark.usefixtures("native_tools")
def test_powers_natively() -> None:
    for given, (vector, scalar), module in powers(2):
        got = to_torch(run_native(module, given)[0])
        assert (agrees(got, vector) | agrees(got, scalar)).all()


def complex_powers() -> tuple[list[torch.Tensor], torch.Tensor, ModuleOp]:
    """Zeros and infinities raised to complex powers, which computes as C's cpow; whichever sign a zero has."""
    bases = [0j, complex(inf, 0), complex(inf, inf), complex(inf, nan), 1j, complex(0.5, -2)]
    exponents = [0j, 1 + 0j, -1 + 0j, 1j, complex(inf, 0), complex(inf, nan), complex(-2, 0.5)]
    grid = torch.meshgrid(torch.tensor(bases), torch.tensor(exponents), indexing="ij")
    given = [x.reshape(-1) for x in grid]
    module, _ = program_of("aten.pow.Tensor_Tensor", *given)
    return given, torch.pow(*given), module


def agrees_but_for_zeros(got: Any, expected: torch.Tensor) -> torch.Tensor:
    parts = [torch.view_as_real(x) + 0.0 for x in (to_torch(got), expected)]
    return agrees(*parts)


def test_complex_powers_in_the_interpreter() -> None:
    given, expected, module = complex_powers()
    assert agrees_but_for_zeros(run(module, given)[0], expected).all()


@pytest.mark.usefixtures("native_tools")
def test_complex_powers_natively() -> None:
    given, expected, module = complex_powers()
    for stage in (DecomposeAten(), AtenToEdge()):
        stage.apply(Context(), module)
    assert agrees_but_for_zeros(run_native(module, given)[0], expected).all()


def test_complex_sums_in_the_interpreter() -> None:
    for name in ("aten.add.Tensor", "aten.sub.Tensor", "aten.sub.Scalar"):
        for case in cases_of(find(name), dt.ComplexFloat):
            assert differences(case, run(case.module, case.tensors)) == []


def differences_natively(case: Case) -> list[str]:
    DecomposeAten().apply(Context(), case.module)
    AtenToEdge().apply(Context(), case.module)
    return differences(case, run_native(case.module, case.tensors))


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_functions_natively(name: str) -> None:
    assert differences_natively(next(cases_of(find(f"aten.{name}"), dt.ComplexFloat))) == []


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("name", NATIVE + CHOICES)
def test_real_functions_natively(name: str) -> None:
    """In single precision on vectors; in another through linalg."""
    for dtype in (dt.Float, dt.BFloat16)[: 1 if name in CHOICES else 2]:
        for case in cases_of(find(f"aten.{name}"), dtype):
            assert differences_natively(case) == []


def test_complex_products_of_infinities() -> None:
    """An infinite part makes no NaN of those that it has no part in (`aten.bmm`: PyTorch's `mm` is the BLAS's)."""
    left = torch.tensor([[[complex(1.5, -inf), 0.5 + 2j]], [[1j, 2 - 1j]]])
    right = torch.tensor([[[complex(1.5, -inf)], [0.5 + 2j]], [[complex(inf, 2)], [3 + 0j]]])
    for program in (
        program_of("aten.bmm", left, right),
        program_of("aten.addbmm", torch.zeros(1, 1) + 0j, left, right),
    ):
        module, tensors = program
        want = torch.bmm(left, right)
        want = want if len(tensors) == 2 else want.sum(0)
        assert agrees(to_torch(run(module, tensors)[0]), want).all()


BESIDE = ["exp", "tanh", "tan", "sigmoid", "special_exp2", "addcmul", "addcdiv", "lerp.Tensor"]


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("name", BESIDE)
def test_complex_numbers_beside_infinities(name: str) -> None:
    """Large finite parts beside infinities and NaN: what is lost with an angle, and what stays."""
    parts = (
        (0.0, 1.0, -2.5, inf, -inf, nan, 1e30, -1e30)
        if name != "special_exp2"
        else (0.0, 1.0, inf, -inf, nan)
    )
    every = torch.tensor([complex(a, b) for a in parts for b in parts])
    count = len([item for item in find(f"aten.{name}").schema.arguments if item.type.is_tensor])
    given = [every.roll(9 * n) for n in range(count)]
    operator = find_operator(f"aten.{name}")
    # PyTorch's vectors and what is left over do not always agree: then either is right.
    want, alone = operator(*given), torch.stack([operator(*item) for item in zip(*given, strict=True)])
    for engine in ("interpreter", "native"):
        module, tensors = program_of(f"aten.{name}", *given)
        for stage in (DecomposeAten(), AtenToEdge()):
            stage.apply(Context(), module)
        [got] = (run if engine == "interpreter" else run_native)(module, tensors)
        agrees = [torch.isclose(to_torch(got), each, 1e-5, 1e-5, equal_nan=True) for each in (want, alone)]
        assert (agrees[0] | agrees[1]).all(), engine


ORDERS = [
    "max.dim",
    "min.dim",
    "argmax",
    "all.dim",
    "cummax",
    "sort.stable",
    "topk",
    "kthvalue",
    "mode",
    "logsumexp",
]


@pytest.mark.parametrize("dtype", [dt.Float, dt.Char, dt.UInt16])
def test_rows_in_the_interpreter(dtype: dt.DType) -> None:
    for case in cases_of_rows(dtype, ORDERS.__contains__):
        assert differences(case, ENGINES["interpreter"](case)) == []


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize(("dtype", "names"), [(dt.Float, ORDERS[:4]), (dt.UInt16, ["all.dim"])])
def test_rows_natively(dtype: dt.DType, names: list[str]) -> None:
    for case in cases_of_rows(dtype, names.__contains__):
        assert differences(case, ENGINES["native"](case)) == []


@pytest.mark.usefixtures("native_tools")
def test_conversions_natively() -> None:
    """Of numbers that an integer dtype does not hold, among them NaN and infinities."""
    for case in conversions(dt.Float):
        if any(f"to {target}" in case.label for target in ("Byte", "Short", "UInt")):
            assert differences(case, ENGINES["native"](case)) == []
