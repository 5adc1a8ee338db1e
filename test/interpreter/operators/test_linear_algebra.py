"""Every operator of linear algebra against PyTorch: batches, empty matrices, dtypes, statuses, options.

Factors that are unique up to signs only are checked by what they are factors of.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
from differential import check, find_operator, program_of, run  # noqa: E402

from xdsl_exir.dialects.meta import MetaError  # noqa: E402
from xdsl_exir.dialects.promotion import DtypeError  # noqa: E402
from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.errors import ExirError, UnsupportedError  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*deprecated"),
    pytest.mark.filterwarnings("ignore:.*is slow"),
]

DTYPES = ["float32", "float64", "complex64", "complex128"]
Call = tuple[tuple[Any, ...], dict[str, Any]]


def tensor(*shape: int, dtype: str = "float64") -> torch.Tensor:
    kind = getattr(torch, dtype)
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=kind)


POWERS = (0.0, 1.0, 2.0, 3.0, inf)
BOUNDLESS = torch.tensor([[inf, 1.0], [inf, 2.0], [-inf, 1.0], [nan, 0.0], [nan, nan]])
"""Rows whose differences are NaN here and there."""


def regular(*shape: int, dtype: str = "float64") -> torch.Tensor:
    """Well-conditioned matrices."""
    return tensor(*shape, dtype=dtype) + 4 * torch.eye(*shape[-2:], dtype=getattr(torch, dtype))


def positive(*shape: int, dtype: str = "float64") -> torch.Tensor:
    """Hermitian positive-definite matrices."""
    a = tensor(*shape, dtype=dtype)
    return a @ a.mH + torch.eye(shape[-1], dtype=a.dtype)


def symmetric(size: int, dtype: str, hermitian: bool) -> torch.Tensor:
    """An indefinite matrix that equals its transpose, or its adjoint."""
    a = tensor(size, size, dtype=dtype)
    return a + (a.mH if hermitian else a.mT)


def of(*args: Any, **kwargs: Any) -> Call:
    return args, kwargs


def lu(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.linalg.lu_factor(a)


SQUARE = [
    *(of(regular(3, 3, dtype=d)) for d in DTYPES),
    of(regular(2, 4, 3, 3)),
    of(tensor(0, 3, 3)),
    of(tensor(0, 0)),
]
POSITIVE = [
    *(of(positive(3, 3, dtype=d)) for d in DTYPES),
    of(positive(2, 3, 3)),
    of(positive(3, 3), upper=True),
]
RECTANGLES = [of(tensor(*s, dtype=d)) for s in ((3, 3), (4, 2), (2, 4)) for d in DTYPES] + [
    of(tensor(2, 3, 4, 2))
]
SYSTEMS = [
    *(of(regular(3, 3, dtype=d), tensor(3, 2, dtype=d)) for d in DTYPES),
    of(regular(2, 3, 3), tensor(3, 2)), of(regular(3, 3), tensor(4, 3, 2)),
    of(regular(3, 3), tensor(2, 3), left=False), of(regular(3, 3, dtype="complex64"), tensor(2, 3, dtype="complex64"), left=False),
]  # fmt: skip
SOLVE = [*SYSTEMS, of(regular(3, 3), tensor(3)), of(regular(2, 3, 3), tensor(2, 3))]
ORDERS = ["fro", "nuc", 1, -1, 2, -2, inf, -inf]
SINGULAR = torch.tensor([[1.0, 2.0], [2.0, 4.0]])
INDEFINITE = torch.tensor([[1.0, 2.0], [2.0, 1.0]])


def reflectors(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.geqrf(a)


def ormqr(dtype: str, **kwargs: Any) -> Call:
    c = tensor(4, 5, dtype=dtype) if kwargs.get("left", True) else tensor(5, 4, dtype=dtype)
    return of(*reflectors(tensor(4, 3, dtype=dtype)), c, **kwargs)


CASES: dict[str, list[Call]] = {
    "aten.linalg_cholesky_ex": [*POSITIVE, of(INDEFINITE)],
    "aten.linalg_cholesky": POSITIVE,
    "aten.cholesky": POSITIVE,
    "aten.cholesky_inverse": [of(torch.linalg.cholesky(positive(3, 3, dtype=d))) for d in DTYPES]
    + [of(torch.linalg.cholesky(positive(2, 3, 3)).mH, True)],
    "aten.cholesky_solve": [of(tensor(3, 2, dtype=d), torch.linalg.cholesky(positive(3, 3, dtype=d))) for d in DTYPES]
    + [of(tensor(2, 3, 2), torch.linalg.cholesky(positive(3, 3)).mH, True)],
    **{f"aten.{name}": SQUARE for name in ["linalg_inv_ex", "linalg_inv", "inverse", "linalg_lu_factor_ex", "linalg_lu_factor", "_linalg_det", "linalg_det", "det", "linalg_slogdet", "slogdet", "logdet"]},
    "aten._linalg_slogdet": [*SQUARE, of(torch.tensor([[nan]]))],
    **{f"aten.{name}": [*(of(tensor(3, 3, dtype=d)) for d in DTYPES), of(tensor(2, 3, 3)), of(tensor(0, 3, 3))]
       for name in ("linalg_matrix_exp", "matrix_exp")},
    "aten.linalg_lu": RECTANGLES,
    "aten.lu_unpack": [of(*lu(args[0])) for args, _ in RECTANGLES] + [of(*lu(regular(3, 3)), False), of(*lu(regular(3, 3)), True, False)],
    "aten.linalg_lu_solve": [of(*lu(a), b, adjoint=adjoint, **kwargs) for (a, b), kwargs in SYSTEMS for adjoint in (False, True)],
    "aten.lu_solve": [of(b, *lu(a)) for (a, b), kwargs in SYSTEMS if not kwargs],
    "aten.linalg_ldl_factor_ex": [of(positive(3, 3, dtype=d), hermitian=h) for d in DTYPES for h in (False, True)],
    "aten.linalg_ldl_factor": [of(positive(2, 3, 3))],
    "aten.linalg_ldl_solve": [of(*torch.linalg.ldl_factor(symmetric(3, dtype=d, hermitian=h), hermitian=h), tensor(2, 3, 2, dtype=d), hermitian=h)
                              for d in DTYPES for h in (False, True)],
    "aten._lu_with_info": [*RECTANGLES, of(SINGULAR, True, False)],
    "aten.orgqr": [of(*reflectors(tensor(4, 3, dtype=d))) for d in DTYPES],
    "aten.linalg_matrix_rank.atol_rtol_float": [*RECTANGLES, of(SINGULAR), of(positive(3, 3), hermitian=True), of(tensor(2, 3, 3), atol=0.5), of(tensor(3, 3), rtol=0.5)],
    "aten.linalg_matrix_rank": [of(tensor(2, 3, 3), 0.5), of(positive(3, 3), 1.5, True)],
    "aten.linalg_cond.p_str": [of(regular(2, 3, 3), p) for p in ("fro", "nuc")],
    "aten.frobenius_norm.dim": [of(tensor(2, 3, dtype=d), dim, keep) for d in DTYPES for dim in ([], [0], [0, 1]) for keep in (True, False)],
    "aten.nuclear_norm": [of(tensor(3, 4, dtype=d), keep) for d in DTYPES for keep in (True, False)],
    "aten.nuclear_norm.dim": [of(tensor(3, 4, 5), [2, 0], keep) for keep in (True, False)],
    "aten.linalg_qr": [of(*args, mode) for args, _ in RECTANGLES for mode in ("reduced", "complete", "r")],
    "aten.qr": [of(*args, some) for args, _ in RECTANGLES for some in (True, False)],
    "aten.geqrf": RECTANGLES,
    "aten.linalg_householder_product": [of(*reflectors(tensor(4, 3, dtype=d))) for d in DTYPES] + [of(*reflectors(tensor(2, 4, 3)))],
    "aten.ormqr": [ormqr(d, left=left, transpose=t) for d in DTYPES for left in (True, False) for t in (True, False)],
    "aten.linalg_svdvals": RECTANGLES,
    "aten.linalg_eigvalsh": [of(positive(3, 3, dtype=d), uplo) for d in DTYPES for uplo in "LU"] + [of(tensor(2, 3, 3))],
    "aten.linalg_eigvals": [of(torch.diag(tensor(3)).triu()), of(torch.triu(tensor(3, 3)))],
    "aten._linalg_solve_ex": SOLVE, "aten.linalg_solve_ex": SOLVE, "aten.linalg_solve": SOLVE,
    "aten.linalg_solve_triangular": [of(a.triu() if up else a.tril(), b, upper=up, **kwargs) for (a, b), kwargs in SYSTEMS for up in (True, False)]
    + [of(tensor(3, 3).triu(), tensor(3, 2), upper=True, unitriangular=True)],
    "aten.triangular_solve": [of(b, a.triu(), True, t) for (a, b), kwargs in SYSTEMS if not kwargs for t in (False, True)],
    "aten.linalg_tensorinv": [of(regular(6, 6).view(2, 3, 6), 2), of(regular(6, 6).view(6, 3, 2), 1)],
    "aten.linalg_tensorsolve": [of(regular(6, 6).view(2, 3, 6), tensor(2, 3)), of(regular(6, 6).view(2, 3, 6), tensor(2, 3), [2])],
    "aten.linalg_pinv": [of(*args, 0.1) for args, _ in RECTANGLES] + [of(positive(3, 3), 0.1, True)],
    "aten.linalg_pinv.atol_rtol_float": [of(*args, atol=atol) for args, _ in RECTANGLES for atol in (None, 0.2)],
    "aten.linalg_pinv.atol_rtol_tensor": [*RECTANGLES, of(tensor(2, 4, 3), atol=torch.rand(2)), of(tensor(4, 3), atol=torch.rand(2), rtol=torch.rand(3, 1)), of(tensor(0, 3)), of(positive(3, 3), hermitian=True)],
    "aten.pinverse": [*RECTANGLES, of(tensor(3, 2), 0.5)],
    "aten.linalg_matrix_rank.atol_rtol_tensor": [*RECTANGLES, of(SINGULAR), of(positive(3, 3), hermitian=True), of(tensor(2, 3, 3), atol=torch.tensor(0.5))],
    "aten.linalg_matrix_norm": [of(tensor(3, 4, dtype=d), order) for d in DTYPES for order in ORDERS[2:]]
    + [of(tensor(3, 4, 5), order, [2, 0], keep) for order in ORDERS[2:] for keep in (True, False)],
    "aten.linalg_matrix_norm.str_ord": [of(tensor(3, 4, dtype=d), order) for d in DTYPES for order in ("fro", "nuc")]
    + [of(tensor(3, 4, 5), order, [2, 0], True) for order in ("fro", "nuc")],
    "aten.linalg_norm": [of(tensor(3, 4)), of(tensor(3, 4), 1), of(tensor(4), 3), of(tensor(3, 4), inf, [1], True), of(tensor(3, 4), 2.0),
                         of(tensor(3, 4), None, [0]), of(tensor(2, 3, 4), -2, [0, 2])],
    "aten.linalg_norm.ord_str": [of(tensor(3, 4), "fro"), of(tensor(2, 3, 4), "nuc", [1, 2])],
    "aten.linalg_cond": [*(of(regular(3, 3, dtype=d)) for d in DTYPES), *(of(regular(2, 3, 3), p) for p in (1, -1, 2, -2, inf)), of(tensor(4, 3)),
                         of(torch.zeros(2, 2), 1)],
    **{f"aten.{name}": [of(regular(3, 3, dtype=d), n) for d in DTYPES for n in (0, 1, 2, 3, 5, -2)] for name in ("linalg_matrix_power", "matrix_power")},
    "aten.linalg_multi_dot": [of([tensor(2, 3), tensor(3, 4)]), of([tensor(3), tensor(3, 4), tensor(4)]), of([tensor(2, 3), tensor(3, 4), tensor(4, 5)])],
    "aten.linalg_vecdot": [of(tensor(2, 3, dtype=d), tensor(2, 3, dtype=d), dim=n) for d in DTYPES for n in (0, -1)],
    "aten.linalg_cross": [of(tensor(2, 3, dtype=d), tensor(1, 3, dtype=d)) for d in DTYPES] + [of(tensor(3, 2), tensor(3, 2), dim=0)],
    "aten.linalg_diagonal": [of(tensor(3, 4)), of(tensor(2, 3, 4), offset=1, dim1=0, dim2=2)],
    "aten._linalg_eigvals": [of(torch.triu(tensor(3, 3, dtype=d))) for d in DTYPES],
    "aten.vander": [of(tensor(3)), of(tensor(3), 2, True), of(torch.arange(3), 0), of(tensor(3), 1), of(torch.tensor([True, False]), 4)],
    "aten.linalg_matrix_rank.tol_tensor": [of(tensor(2, 3, 3), torch.tensor(0.5)), of(positive(3, 3), torch.tensor(1.5), True)],
    "aten.linalg_pinv.rcond_tensor": [of(tensor(4, 3), torch.tensor(0.3))],
    "aten.linalg_vander": [of(tensor(3)), of(torch.tensor(2.0), N=3), of(tensor(2, 3), N=5), of(torch.arange(3))],
    "aten.cdist": [of(tensor(3, 4), tensor(5, 4), p) for p in (0.0, 1.0, 2.0, 2.5, inf)] + [of(tensor(2, 1, 30, 4), tensor(5, 3, 4))] + [of(BOUNDLESS, BOUNDLESS, p) for p in POWERS],
    "aten._cdist_forward": [of(tensor(3, 4), tensor(5, 4), 2.0, mode) for mode in (None, 0, 1, 2)],
    "aten.pdist": [of(tensor(5, 3), p) for p in POWERS] + [of(BOUNDLESS, p) for p in POWERS] + [of(tensor(1, 3))],
    "aten._pdist_forward": [of(tensor(5, 3), 2.0), of(tensor(0, 3), 2.0)],
    "aten._linalg_check_errors": [of(torch.zeros(2, dtype=torch.int32), "linalg.inv", is_matrix=False)],
}  # fmt: skip

FACTORS = {
    "aten._linalg_svd",
    "aten.linalg_svd",
    "aten.svd",
    "aten._linalg_eigh",
    "aten.linalg_eigh",
    "aten.linalg_eig",
}
"""Checked below, by their product."""


def test_every_operator_is_checked() -> None:
    assert set(CASES) | FACTORS == {name for name, spec in specs().items() if spec.family == "linear_algebra"}


@pytest.mark.parametrize("name", CASES)
def test_against_pytorch(name: str) -> None:
    for args, kwargs in CASES[name]:
        check(name, *args, scale=10, **kwargs)


def results(name: str, *args: Any) -> list[torch.Tensor]:
    """An operator's results, of the shapes and dtypes that PyTorch's have."""
    module, tensors = program_of(name, *args)
    got = [torch.from_numpy(np.array(result)) for result in run(module, tensors)]
    for ours, theirs in zip(got, find_operator(name)(*args), strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    return got


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 2, 4)])
def test_singular_vectors(shape: tuple[int, ...], dtype: str) -> None:
    a = tensor(*shape, dtype=dtype)
    small = min(shape[-2:])
    for name, flag in (
        ("_linalg_svd", True),
        ("_linalg_svd", False),
        ("linalg_svd", True),
        ("svd", True),
        ("svd", False),
    ):
        u, s, vh = results(f"aten.{name}", a, flag)
        vh = vh.mH if name == "svd" else vh
        torch.testing.assert_close((u[..., :small] * s[..., None, :].to(a.dtype)) @ vh[..., :small, :], a)
        torch.testing.assert_close(s, torch.linalg.svdvals(a))
    assert [r.numel() for r in results("aten._linalg_svd", a, False, False)][::2] == [0, 0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvectors(dtype: str) -> None:
    a = positive(2, 3, 3, dtype=dtype)
    for name in ("_linalg_eigh", "linalg_eigh"):
        values, vectors = results(f"aten.{name}", a, "U")
        torch.testing.assert_close((vectors * values[..., None, :].to(a.dtype)) @ vectors.mH, a)
    assert results("aten._linalg_eigh", a, "L", False)[1].numel() == 0
    general = tensor(2, 3, 3, dtype=dtype)
    values, vectors = results("aten.linalg_eig", general)
    torch.testing.assert_close(general.to(vectors.dtype) @ vectors, vectors * values[..., None, :])
    torch.testing.assert_close(torch.linalg.vector_norm(vectors, dim=-2), torch.ones_like(values.real))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_undefined_results(dtype: torch.dtype) -> None:
    module, tensors = program_of("aten.matrix_exp", torch.zeros(2, 2, dtype=dtype))
    with pytest.raises(UnsupportedError, match=r"matrix_exp: PyTorch's own results in .*16 are undefined"):
        run(module, tensors)


@pytest.mark.parametrize("name", ["linalg_inv", "linalg_cholesky", "linalg_lu_factor"])
def test_singular(name: str) -> None:
    module, tensors = program_of(f"aten.{name}", torch.zeros(2, 2))
    with pytest.raises(ExirError, match="singular"):
        run(module, tensors)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("aten.linalg_inv", (tensor(2, 3),), {}),
        ("aten.linalg_det", (tensor(3),), {}),
        ("aten.linalg_inv", (tensor(2, 2).half(),), {}),
        ("aten.linalg_solve", (tensor(3, 3), tensor(2, 2)), {}),
        ("aten.linalg_solve", (tensor(3, 3), tensor(3)), {"left": False}),
        ("aten.linalg_qr", (tensor(3, 3), "thin"), {}),
        ("aten.linalg_eigh", (tensor(3, 3), "X"), {}),
        ("aten.linalg_lu_factor", (tensor(3, 3),), {"pivot": False}),
        ("aten.linalg_matrix_norm", (tensor(3, 3), 3), {}),
        ("aten.linalg_norm", (tensor(2, 3, 3), 2), {}),
        ("aten.linalg_cross", (tensor(2, 2), tensor(2, 2)), {}),
        ("aten.linalg_multi_dot", ([tensor(2, 3), tensor(2, 3)],), {}),
        ("aten.linalg_tensorinv", (tensor(2, 3, 5),), {}),
        ("aten.linalg_householder_product", (tensor(2, 3), tensor(2)), {}),
        ("aten.cdist", (tensor(2, 3), tensor(2, 4)), {}),
        ("aten.pdist", (tensor(3),), {}),
    ],
)
def test_refusals(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    with pytest.raises((MetaError, DtypeError)):
        program_of(name, *args, **kwargs)


def test_triangular_systems_with_zeros_and_matrices_with_nans() -> None:
    """Nobody looks at the diagonal: what is divided by 0 is infinite. A NaN is not positive."""
    zeros, ones = torch.tensor([[2.0, 1.0], [0.0, 0.0]]), torch.ones(2, 1)
    nans = torch.diag(torch.tensor([1.0, float("nan")]))
    calls = [
        ("aten.linalg_solve_triangular", (zeros, ones), {"upper": True}),
        ("aten.linalg_cholesky_ex", (torch.stack([nans, torch.eye(2)]),), {}),
        ("aten.linalg_eigvals", (torch.full((2, 1, 1), float("inf")),), {}),
    ]
    for name, args, options in calls:
        check(name, *args, **options)
