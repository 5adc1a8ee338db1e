"""Linear algebra natively: the real calls of the operators' own tests, larger matrices, singular ones, distances."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_native, check_natively, program_of, run_native  # noqa: E402
from interpreter.operators.test_linear_algebra import (  # noqa: E402
    BOUNDLESS,
    CASES,
    INDEFINITE,
    POWERS,
    SINGULAR,
    positive,
    regular,
    tensor,
)
from xdsl.dialects import arith  # noqa: E402
from xdsl.dialects.linalg.ops import GenericOp  # noqa: E402

from xdsl_exir.errors import ExirError, UnsupportedError  # noqa: E402
from xdsl_exir.lowering.elimination import PANEL  # noqa: E402
from xdsl_exir.program import Program  # noqa: E402
from xdsl_exir.runtime.native import NativeEngine  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*deprecated"),
    pytest.mark.filterwarnings("ignore:.*is slow"),
]

NAMES = [
    "linalg_lu_factor_ex",
    "lu_unpack",
    "linalg_lu",
    "linalg_lu_solve",
    "linalg_inv_ex",
    "_linalg_solve_ex",
    "_linalg_det",
    "_linalg_slogdet",
    "linalg_solve_triangular",
    "triangular_solve",
    "linalg_cholesky_ex",
    "cholesky_solve",
    "cholesky_inverse",
    "geqrf",
    "linalg_householder_product",
    "ormqr",
    "linalg_qr",
    "linalg_matrix_exp",
    "_cdist_forward",
    "_pdist_forward",
]
VALUES = ["_linalg_svd", "_linalg_eigh", "linalg_pinv.atol_rtol_tensor"]
"""What has tests of its own below."""
REAL = {"_cdist_forward", "_pdist_forward"}
"""What PyTorch has no complex numbers for."""
OPTIONS = ("scale", "values")


@pytest.mark.parametrize("name", NAMES)
def test_operator(name: str):
    calls: list[Any] = [
        (f"aten.{name}", args, {key: value for key, value in kwargs.items() if key not in OPTIONS})
        for args, kwargs in CASES[f"aten.{name}"]
    ]
    assert calls
    check_natively(calls, scale=10)


def test_larger_matrices():
    """As steps share their buffers, the stack does not grow with their number."""
    a, b = regular(70, 70), tensor(70, 3)
    many = tensor(2000, 2)
    calls: list[Any] = [
        ("aten._linalg_solve_ex", (a, b), {}),
        ("aten.linalg_inv_ex", (regular(3, 40, 40),), {}),
        ("aten.linalg_cholesky_ex", (positive(60, 60),), {}),
        ("aten.linalg_cholesky_ex", (positive(27, 27, dtype="complex64"),), {}),
        ("aten.linalg_lu_factor_ex", (tensor(2, 30, 50),), {}),
        ("aten.linalg_lu_factor_ex", (tensor(50, 30),), {}),
        ("aten.linalg_lu_factor_ex", (tensor(29, 29, dtype="complex64"),), {}),
        ("aten.linalg_lu_factor_ex", (tensor(40, 40).tril().fill_diagonal_(0),), {}),
        ("aten.linalg_solve_triangular", (torch.eye(2000).double(), many), {"upper": True}),
    ]
    check_natively(calls, scale=100)


def test_large_matrices_are_taken_in_parts():
    """Of which some have rows to exchange with those of the part before, or pivots that are 0."""
    halves = regular(75, 75)
    factors, pivots, _ = torch.linalg.lu_factor_ex(halves)
    right = tensor(75, 3)
    last = tensor(70, 70)
    last[:, 69] = 0
    calls: list[Any] = [
        ("aten.linalg_lu_factor_ex", (tensor(150, 90),), {}),
        ("aten.linalg_lu_factor_ex", (tensor(67, 130),), {}),
        ("aten.linalg_lu_factor_ex", (tensor(66, 66, dtype="complex64"),), {}),
        ("aten.linalg_lu_factor_ex", (tensor(80, 80).tril().fill_diagonal_(0),), {}),
        ("aten.linalg_lu_factor_ex", (last,), {}),
        ("aten._linalg_solve_ex", (halves, right), {}),
        ("aten.linalg_inv_ex", (halves,), {}),
        ("aten.linalg_lu_solve", (factors, pivots, right), {}),
        ("aten.linalg_lu_solve", (factors, pivots, right), {"adjoint": True}),
        *(
            ("aten.linalg_solve_triangular", (halves, right), {"upper": upper, "unitriangular": unit})
            for upper in (False, True)
            for unit in (False, True)
        ),
        ("aten.linalg_solve_triangular", (halves, right.mT), {"upper": True, "left": False}),
    ]
    check_natively(calls, scale=100)


@pytest.mark.parametrize("name", ["linalg_lu_factor_ex", "linalg_cholesky_ex"])
def test_columns_are_eliminated_a_few_at_a_time(name: str):
    """What they take from an element behind them is taken at once."""
    module, _ = program_of(f"aten.{name}", tensor(40, 40))
    bodies = [
        op.body.block.ops for op in Program(module).to("linalg").module.walk() if isinstance(op, GenericOp)
    ]
    assert PANEL in [sum(isinstance(each, arith.SubfOp) for each in ops) for ops in bodies]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("batch", [(2,), (5,), (2, 19)])
def test_batches_side_by_side(batch: tuple[int, ...], symbolic: bool):
    """One by one, as part of a group, and of several: of the last group the last matrix fills the places. Also where no size is known."""
    a, definite, right = regular(*batch, 4, 4), positive(*batch, 4, 4), tensor(*batch, 4, 3)
    a.select(0, 1)[...] = 0  # and a singular matrix beside the others
    definite.select(0, 1)[...] -= 99 * torch.eye(4)  # no minor of which is positive
    calls: list[Any] = [
        ("aten.linalg_lu_factor_ex", (tensor(*batch, 5, 3),), {}),
        ("aten.linalg_lu", (tensor(*batch, 3, 5),), {}),
        ("aten.linalg_lu_factor_ex", (a,), {}),
        ("aten._linalg_slogdet", (a,), {}),
        ("aten.linalg_cholesky_ex", (definite,), {}),
        ("aten._linalg_solve_ex", (regular(*batch, 4, 4), right), {}),
        ("aten._linalg_solve_ex", (regular(4, 4), right), {}),
        ("aten.linalg_solve_triangular", (regular(*batch, 4, 4), right), {"upper": True}),
        ("aten.linalg_qr", (tensor(*batch, 5, 3),), {}),
        ("aten._linalg_eigh", (definite, "L", False), {}),
        ("aten._linalg_svd", (tensor(*batch, 3, 5), False, False), {}),
        ("aten.linalg_pinv.atol_rtol_tensor", (tensor(*batch, 5, 3),), {}),
        ("aten.linalg_matrix_exp", (tensor(*batch, 3, 3) * torch.rand(*batch, 1, 1) * 9,), {}),
    ]
    check_natively(
        calls, scale=100, symbols={size: f"s{size}" for size in range(2, 20)} if symbolic else None
    )


@pytest.mark.parametrize("size", [3, 8, 23, 24, 41])
def test_cholesky_of_unknown_size(size: int):
    """Whole panels, and what is left; also of what is not positive there, at last."""
    calls: list[Any] = []
    for dtype in ("float32", "float64", "complex128"):
        a = positive(size, size, dtype=dtype)
        calls += [("aten.linalg_cholesky_ex", (a,), {"upper": upper}) for upper in (False, True)]
        bad = a.clone()
        bad[-1, -1] = -1
        calls.append(("aten.linalg_cholesky_ex", (bad,), {}))
    check_natively(calls, scale=100, symbols={size: "s0"})


def test_orthogonal_factors():
    calls: list[Any] = [
        ("aten.linalg_qr", (tensor(*shape), mode), {})
        for shape in ((30, 20), (20, 30), (2, 9, 9))
        for mode in ("reduced", "complete", "r")
    ]
    calls += [("aten.geqrf", (a,), {}) for a in (torch.zeros(3, 2), torch.eye(3), torch.eye(3) * 1j)]
    check_natively(calls, scale=100)


def test_exponentials_of_every_norm():
    calls: list[Any] = [
        ("aten.linalg_matrix_exp", (tensor(4, 4) * size,), {}) for size in (0, 1e-8, 0.1, 1, 5, 20)
    ]
    calls += [
        ("aten.linalg_matrix_exp", (-1e5 * torch.eye(3),), {}),
        ("aten.linalg_matrix_exp", (tensor(2, 12, 12),), {}),
        ("aten.linalg_matrix_exp", (tensor(3, 3, dtype="complex64") * 5,), {}),
    ]
    check_natively(calls, scale=100)


SHAPES = [(1, 1), (3, 1), (1, 4), (2, 2), (5, 5), (6, 4), (4, 7), (2, 3, 5, 4), (40, 30), (0, 3)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_singular_values_and_inverses(dtype: str):
    matrices: list[Any] = [tensor(*shape, dtype=dtype) for shape in SHAPES]
    matrices += [
        torch.eye(4),
        torch.zeros(3, 3),
        SINGULAR,
        torch.ones(4, 4),
        torch.diag(torch.tensor([1e-3, 5.0, 5.0])),
    ]
    calls: list[Any] = [("aten._linalg_svd", (a, False, False), {}) for a in matrices]
    calls += [("aten.linalg_pinv.atol_rtol_tensor", (a,), {}) for a in matrices]
    tolerances = {"atol": torch.rand(2, dtype=torch.float64), "rtol": torch.rand(3, 1, dtype=torch.float64)}
    calls.append(("aten.linalg_pinv.atol_rtol_tensor", (tensor(4, 3, dtype=dtype),), tolerances))
    for a in (matrices[4], matrices[7]):
        calls.append(
            ("aten.linalg_pinv.atol_rtol_tensor", (a,), {"atol": torch.tensor(0.5, dtype=torch.float64)})
        )
        calls.append(
            ("aten.linalg_pinv.atol_rtol_tensor", (a,), {"rtol": torch.tensor(0.3, dtype=torch.float64)})
        )
    check_natively(calls, scale=40)


def test_eigenvalues():
    matrices: list[Any] = [
        tensor(5, 5),
        tensor(2, 3, 4, 4),
        tensor(7, 7, dtype="float32"),
        INDEFINITE,
        torch.zeros(2, 2),
        tensor(30, 30),
        tensor(4, 4, dtype="complex64"),
        tensor(2, 3, 3, dtype="complex128"),
    ]
    calls: list[Any] = [("aten._linalg_eigh", (a, uplo, False), {}) for a in matrices for uplo in "LU"]
    for dtype in ("float64", "complex128"):
        symmetric = positive(2, 4, 4, dtype=dtype) - 2 * torch.eye(4)
        calls.append(("aten.linalg_pinv.atol_rtol_tensor", (symmetric,), {"hermitian": True}))
    check_natively(calls, scale=40)


def test_vectors_that_nobody_uses():
    """What PyTorch's decompositions leave of norms and ranks."""
    a = tensor(2, 5, 4)
    calls: list[Any] = [("aten.linalg_svdvals", (a,), {}), ("aten.linalg_eigvalsh", (positive(4, 4),), {})]
    calls += [("aten.linalg_matrix_norm", (a, order), {}) for order in (2, -2)]
    calls += [("aten.linalg_matrix_norm.str_ord", (a, "nuc"), {}), ("aten.linalg_matrix_rank", (a, 0.5), {})]
    check_natively(calls, scale=40)


def test_statuses():
    calls: list[Any] = [
        ("aten.linalg_lu_factor_ex", (torch.stack([SINGULAR, INDEFINITE]),), {}),
        ("aten.linalg_lu_factor_ex", (torch.zeros(3, 3),), {}),
        ("aten._linalg_det", (torch.stack([SINGULAR, INDEFINITE]),), {}),
        ("aten._linalg_slogdet", (torch.stack([SINGULAR, INDEFINITE, -torch.eye(2)]),), {}),
        ("aten.linalg_cholesky_ex", (torch.stack([INDEFINITE, torch.eye(2)]),), {}),
        ("aten.linalg_cholesky_ex", (INDEFINITE,), {"upper": True}),
    ]
    check_natively(calls)


def test_distances():
    x, y = tensor(2, 5, 3), tensor(30, 3)
    calls: list[Any] = [
        ("aten._cdist_forward", (x, y, p, mode), {})
        for p in (0.0, 1.0, 2.0, 2.5, inf)
        for mode in (None, 1, 2)
    ]
    calls += [("aten._cdist_forward", (tensor(0, 3), y, 2.0, None), {})]
    calls += [
        ("aten._pdist_forward", (y.to(dtype), p), {})
        for p in (0.0, 1.0, 2.0, 3.0, inf)
        for dtype in (torch.float32, torch.float64)
    ]
    calls += [("aten._cdist_forward", (BOUNDLESS, BOUNDLESS, p, None), {}) for p in POWERS]
    calls += [("aten._pdist_forward", (BOUNDLESS, p), {}) for p in POWERS]
    check_natively(calls, scale=10)


def test_what_lapack_chooses_and_checks_is_the_hosts() -> None:
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("aten.linalg_inv_ex", (regular(3, 3),), {"check_errors": True}),
        ("aten._linalg_svd", (regular(3, 3),), {}),
        ("aten._linalg_eigh", (regular(3, 3), "L", True), {}),
        ("aten.linalg_eig", (regular(3, 3),), {}),
    ]
    for name, args, kwargs in calls:
        module, _ = program_of(name, *args, **kwargs)
        with pytest.raises(UnsupportedError):
            NativeEngine(Program(module))
        check_native(name, *args, **kwargs)
    module, tensors = program_of("aten.linalg_inv_ex", torch.zeros(3, 3), check_errors=True)
    with pytest.raises(ExirError, match="singular"):
        run_native(module, tensors)
    module, _ = program_of("aten.linalg_inv", regular(3, 3))
    NativeEngine(Program(module))  # its check is the caller's


def test_matrices_of_one_element():
    """Infinite ones too: their eigenvalue, and their exponential's."""
    x = torch.tensor([2.5, float("inf"), -float("inf"), 1e38, -3.0])[:, None, None]
    check_natively([("aten.linalg_eigvalsh", (x,), {}), ("aten.linalg_matrix_exp", (x,), {})], scale=4)
