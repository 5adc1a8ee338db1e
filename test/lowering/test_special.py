"""Special functions natively: over their ranges against SciPy in float64, at poles and infinities against PyTorch."""

from __future__ import annotations

from math import inf, nan
from typing import Any, cast

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from differential import check_natively, program_of, run_native  # noqa: E402
from interpreter.operators.test_pointwise import HALVES_TOO, POLYNOMIALS, SINGLE, TABLE  # noqa: E402
from scipy import special  # noqa: E402  # pyright: ignore[reportMissingTypeStubs]
from xdsl.context import Context  # noqa: E402

from xdsl_exir.lowering.special import clenshaw, horner, series  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

REFERENCES: dict[str, Any] = {
    "expm1": np.expm1,
    "log1p": np.log1p,
    "lgamma": special.gammaln,
    "digamma": special.psi,
    "i0": special.i0,
    "special_i0e": special.i0e,
    "special_i1": special.i1,
    "special_i1e": special.i1e,
    "special_modified_bessel_k0": special.k0,
    "special_modified_bessel_k1": special.k1,
    "special_scaled_modified_bessel_k0": cast(Any, special).k0e,
    "special_scaled_modified_bessel_k1": cast(Any, special).k1e,
    "special_bessel_j0": special.j0,
    "special_bessel_j1": special.j1,
    "special_bessel_y0": special.y0,
    "special_bessel_y1": special.y1,
    "special_airy_ai": lambda x: special.airy(x)[0],
    "special_erfcx": special.erfcx,
    "special_log_ndtr": special.log_ndtr,
    "special_ndtri": special.ndtri,
    "special_spherical_bessel_j0": lambda x: special.spherical_jn(0, x),
}
SIZES = torch.logspace(-30, 3, 300).double()
NUMBERS = torch.cat([torch.linspace(-30, 30, 1501).double() + 1e-4, SIZES, -SIZES[:270]])
CHANCES = torch.cat([torch.linspace(0, 1, 1001).double(), torch.logspace(-300, -1, 300, dtype=torch.float64)])


def native(name: str, *args: Any) -> np.ndarray[Any, Any]:
    module, tensors = program_of(f"aten.{name}", *args)
    DecomposeAten().apply(Context(), module)
    AtenToEdge().apply(Context(), module)
    [result] = run_native(module, tensors)
    return np.asarray(result)


@pytest.mark.parametrize("name", REFERENCES)
def test_is_exact_over_the_whole_range(name: str):
    """11 digits, or as many after the point near zeros."""
    x = CHANCES if name == "special_ndtri" else NUMBERS
    with np.errstate(all="ignore"):
        expected = REFERENCES[name](x.numpy())
    np.testing.assert_allclose(native(name, x), expected, rtol=1e-11, atol=1e-12)


def test_tiny_arguments_lose_nothing():
    for name in ("expm1", "log1p"):
        np.testing.assert_allclose(
            native(name, SIZES[:200]), REFERENCES[name](SIZES[:200].numpy()), rtol=1e-15
        )


def test_series_are_exact_at_zero():
    """A value of 1 - 3e-16 is one that `logit` makes 36 where it is infinite."""
    tiny = torch.tensor([0.0, -0.0, 1e-300, -1e-300], dtype=torch.float64)
    for name in ("i0", "special_i0e", "special_modified_bessel_i0", "special_bessel_j0", "special_erfcx"):
        np.testing.assert_array_equal(native(name, tiny), 1.0)
    for name in ("special_i1", "special_i1e", "special_bessel_j1"):
        np.testing.assert_array_equal(native(name, tiny), tiny.numpy() / 2)


def test_growing_functions_to_a_few_units():
    x = torch.linspace(0.01, 8, 500, dtype=torch.float64)
    for name in ("i0", "special_i1", "special_i0e", "special_i1e"):
        np.testing.assert_allclose(native(name, x), REFERENCES[name](x.numpy()), rtol=3e-15)


def test_log_gamma_of_denormals():
    x = torch.tensor([5e-324, -5e-324, 1e-310, 2e-308], dtype=torch.float64)
    np.testing.assert_allclose(native("lgamma", x), torch.lgamma(x).numpy(), rtol=1e-15)


def test_far_below_a_normal_distribution_has_no_area():
    """As PyTorch has it, which adds 1 to erf."""
    x = torch.tensor([-8.0, -5.0, -1.0, 0.0, 6.0])
    np.testing.assert_allclose(native("special_ndtr", x), torch.special.ndtr(x).numpy(), rtol=1e-6)
    [whole] = native("special_ndtr", torch.tensor([-8]))
    assert whole == 0


def test_the_inverse_of_erf_to_a_few_units():
    """Over its range, up to the last numbers before 1."""
    for dtype, off in ((torch.float32, 5e-7), (torch.float64, 1e-15)):
        near = 1 - torch.logspace(-20, 0, 2001, dtype=torch.float64)
        x = torch.cat([near, -near, torch.linspace(-1, 1, 2001, dtype=torch.float64), SIZES[:200]]).to(dtype)
        x = torch.cat([x, torch.tensor([1.5, -0.0, nan, 5e-324]).to(dtype)])
        given = native("erfinv", x)
        np.testing.assert_allclose(given, special.erfinv(x.double().numpy()), rtol=off)
        np.testing.assert_array_equal(np.signbit(given[x == 0]), np.signbit(x[x == 0].numpy()))


def test_series_are_polynomials_unless_they_would_cancel():
    """A polynomial takes a third of the work."""
    assert [series(function, -1, 1, None)[0] for function in (np.exp, np.cos)] == [horner] * 2
    assert series(lambda x: 1 / (1 + 9 * x * x), -1, 1, None)[0] is clenshaw


def test_log_gamma_far_below_is_a_pole():
    x = torch.tensor([-6e307, -1e300, -3.0], dtype=torch.float64)
    np.testing.assert_array_equal(native("lgamma", x), inf)


EDGES = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 8.0, -8.0, 0.5, inf, -inf, nan])


def test_poles_and_infinities():
    names = [name for name in REFERENCES if name != "special_airy_ai"]  # PyTorch's is of single precision
    calls = [
        (f"aten.{name}", (EDGES.to(dtype),), {}) for name in names for dtype in (torch.float32, torch.float64)
    ]
    calls += [("aten.special_airy_ai", (EDGES,), {})]
    calls += [
        ("aten.polygamma", (n, EDGES[4:].to(dtype)), {}) for n in range(5) for dtype in (torch.float32,)
    ]
    check_natively(calls, scale=2)


def test_functions_of_two_numbers_at_their_limits():
    numbers = torch.tensor([0.0, 1.0, 0.5, 3.0, -1.5, -2.0, 30.0, inf, -inf, nan], dtype=torch.float64)
    check_natively(
        [(f"aten.{name}", (numbers[:, None], numbers), {}) for name in ("igamma", "igammac", "special_zeta")]
    )


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma_functions_everywhere(name: str):
    a = torch.logspace(-3, 7, 60, dtype=torch.float64)[:, None]
    near = a * torch.linspace(0.4, 2, 41, dtype=torch.float64)
    far = a * torch.logspace(-20, 4, 30, dtype=torch.float64)
    x = torch.cat([near, far], 1)
    reference = special.gammainc if name == "igamma" else special.gammaincc
    expected = reference(a.numpy(), x.numpy())
    np.testing.assert_allclose(native(name, a, x), expected, rtol=1e-9, atol=1e-9)


def test_zeta_over_its_range():
    x = torch.tensor([1.01, 1.5, 2.0, 3.0, 10.0, 50.0, 300.0, 1e5], dtype=torch.float64)[:, None]
    q = torch.logspace(-3, 6, 50, dtype=torch.float64)
    with np.errstate(all="ignore"):
        expected = cast(Any, special).zeta(x.numpy(), q.numpy())
    np.testing.assert_allclose(native("special_zeta", x, q), expected, rtol=1e-12)


def test_zeta_of_powers_that_overflow():
    x = torch.tensor([2.4e13, 2.7e13, 1e30, torch.inf], dtype=torch.float64)[:, None]
    q = torch.tensor([0.5, 1.0, 1.5, 9e18, torch.inf, -3.5, -3.0], dtype=torch.float64)
    np.testing.assert_array_equal(native("special_zeta", x, q), torch.special.zeta(x, q).numpy())


NAMES = f"{HALVES_TOO} {SINGLE} {POLYNOMIALS} polygamma special_zeta igamma igammac special_log_ndtr".split()


def test_the_calls_of_the_interpreter():
    """All of them, where the tests of pointwise operators take a part."""
    by_scale: dict[float, list[Any]] = {}
    for name in dict.fromkeys(NAMES):
        for makes in TABLE[f"aten.{name}"]:
            for call in makes():
                options = dict(call.kwargs)
                scale = max(options.pop("scale", 1), 4)
                by_scale.setdefault(scale, []).append((f"aten.{name}", call.args, options))
    for scale, calls in by_scale.items():
        check_natively(calls, scale=scale)


def test_high_degrees():
    x = torch.tensor([0.3, -0.7, 1.0, -1.0, 1.5], dtype=torch.float64)[:, None]
    degrees = torch.tensor([9.0, 20.0, 100.0], dtype=torch.float64)
    names = [
        f"aten.special_{name}_polynomial_{kind}"
        for name in ("chebyshev", "shifted_chebyshev")
        for kind in "tuvw"
    ]
    names += ["aten.special_legendre_polynomial_p", "aten.special_laguerre_polynomial_l"]
    check_natively([(name, (x, degrees), {}) for name in names])
