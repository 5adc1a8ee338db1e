"""Every operator that makes tensors from numbers, against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, find_operator, program_of, run  # noqa: E402

from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.expr import Expr, apply  # noqa: E402
from xdsl_exir.dialects.shapes.creation import arange_shape  # noqa: E402
from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.dialects.tensors import NumberMeta  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402

X = torch.arange(6.0).reshape(2, 3)
LONGS = torch.arange(4)
F64, BF16, HALF, BOOL, LONG, INT = (
    torch.float64,
    torch.bfloat16,
    torch.float16,
    torch.bool,
    torch.int64,
    torch.int32,
)
BYTE, C64 = torch.uint8, torch.complex64


def V(value: complex, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A number as 0-dim tensor."""
    return torch.tensor(value, dtype=dtype)


Case = tuple[Any, ...]
"""Arguments of a call; a dict at the end holds keyword arguments."""

WINDOWS: dict[str, list[Case]] = {
    # In half types PyTorch rounds at other places.
    **{f"{name}_window": [*((n,) for n in (0, 1, 2, 5, 8)), (6, {"dtype": F64})] for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")},
    **{f"{name}_window.periodic": [(n, p) for n in (0, 1, 2, 5, 8) for p in (True, False)] for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")},
    "kaiser_window.beta": [(6, True, 3.0), (5, False, 9.5)],
    "hamming_window.periodic_alpha": [(6, True, 0.3)],
    "hamming_window.periodic_alpha_beta": [(6, False, 0.3, 0.6)],
}  # fmt: skip
TABLE: dict[str, list[Case]] = {
    **WINDOWS,
    "arange": [(5,), (5.5,), (0,), (5, {"dtype": torch.float32}), (3, {"dtype": BF16}), (5.5, {"dtype": LONG}), (4, {"dtype": BYTE})],
    "arange.start": [(1, 5), (-2, 3), (0.5, 4), (2, 2), (1.5, 4.5, {"dtype": LONG}), (1.5, 4.5, {"dtype": INT})],
    "range.step": [(0, 5), (0, 5, 2), (1, -3.5, -0.7), (0, 6, 2.5, {"dtype": INT}), (0, 2, 0.5, {"dtype": HALF})],
    "arange.start_step": [
        (1, 5, 2), (5, 1, -2), (0, 1, 0.1), (0, -1, -0.25), (0, 10, 3), (0, 9, 3), (1, 2), (0, 2.5, 0.5, {"dtype": INT}),
        (0, 5, 2.5, {"dtype": LONG}), (0, 1, 0.3, {"dtype": F64}), (0, 300, 7, {"dtype": HALF}), (1 << 60, (1 << 60) + 3, 1),
    ],
    "full": [
        ([2, 3], 1), ([2], 1.5), ([], True), ([0, 2], 2), ([2], 2.7, {"dtype": LONG}), ([2], 0.1, {"dtype": BF16}),
        ([2], 3, {"dtype": BOOL}), ([2], 1 + 2j), ([2], float("inf"), {"dtype": HALF}), ([2], float("nan")),
    ],
    "full_like": [(X, 2), (LONGS, 2.7), (X, 1, {"dtype": BOOL}), (torch.tensor(1.0), -1), (X.to(BF16), 0.1)],
    "zeros": [([2, 3],), ([],), ([2], {"dtype": LONG}), ([0], {"dtype": BOOL})],
    "zeros_like": [(X,), (LONGS,), (X, {"dtype": BOOL}), (X.t(), {"dtype": C64})],
    "ones": [([2, 3],), ([2], {"dtype": HALF}), ([2], {"dtype": BOOL})],
    "ones_like": [(X,), (X.bool(),), (X, {"dtype": LONG})],
    "new_zeros": [(LONGS, [2, 2]), (X, [2], {"dtype": BOOL})],
    "new_ones": [(X.bool(), [2]), (X, [], {"dtype": INT})],
    "new_full": [(LONGS, [2], 7), (X, [2, 2], 0.5), (X, [2], 2, {"dtype": LONG})],
    "scalar_tensor": [(1,), (2.5,), (True,), (2.7, {"dtype": LONG}), (1, {"dtype": BF16}), (3, {"dtype": BOOL})],
    "eye": [(3,), (0,), (3, {"dtype": LONG}), (2, {"dtype": BOOL}), (300,), (2, {"dtype": BF16})],
    "eye.m": [(2, 3), (3, 2, {"dtype": INT}), (0, 3)],
    "linspace": [
        (0, 1, 5), (0, 10, 4), (1, -1, 7), (0, 1, 0), (3, 4, 1), (0, 1, 2), (-2.5, 7, 33), (0, 10, 5, {"dtype": LONG}),
        (0, 1, 11, {"dtype": F64}), (0, 1, 6, {"dtype": BF16}), (0, 3, 7, {"dtype": HALF}),
        # Steps that half has: how PyTorch rounds others depends on whether the processor has half arithmetic.
        (-1, 1, 1025, {"dtype": HALF}), (-1, 1, 1000, {"dtype": BF16}), (0, 2**53, 9, {"dtype": LONG}),
    ],
    "linspace.Tensor_Tensor": [
        (V(0.5), V(5.9), 4, *rest) for rest in ((), ({"dtype": LONG},), ({"dtype": F64},), ({"dtype": HALF},))
    ] + [(V(2), V(9, LONG), 1), (V(2), V(9, LONG), 0), (V(1, LONG), V(1j), 3)],
    "linspace.Tensor_Scalar": [(V(0.5), 5.9, 4), (V(3, LONG), -1, 5, {"dtype": F64}), (V(0.1, F64), 1, 3), (V(1), 2j, 3)],
    "linspace.Scalar_Tensor": [(0.5, V(5.9), 4), (3, V(-1, LONG), 5, {"dtype": BF16})],
    "logspace": [(0, 2, 3), (0, 2.5, 4, {"dtype": INT}), (0, 2, 1), (0, 2, 0), (0, 2, 5, -2.0), (0, 2, 5, {"dtype": HALF}),
                 (-1, 1.5, 7, 2.0, {"dtype": F64}), (0, 1j, 3)],
    "logspace.Tensor_Tensor": [(V(0.5), V(1.5), 5), (V(0.5), V(2.5), 4, {"dtype": LONG})],
    "logspace.Tensor_Scalar": [(V(0.5), 1.5, 5), (V(2, LONG), 0, 3, 2.0)],
    "logspace.Scalar_Tensor": [(0.5, V(1.5), 5)],
    "cartesian_prod": [([LONGS],), ([LONGS, LONGS[:2]],), ([X[0], X[1], X[0]],), ([LONGS, LONGS[:0]],)],
    "tril_indices": [(3, 3), (2, 4, 1), (4, 2, -1), (3, 3, -5), (3, 3, 5), (0, 3), (3, 0), (3, 4, 1, {"dtype": INT}), (5, 2, 3)],
    "triu_indices": [(3, 3), (2, 4, 1), (4, 2, -1), (3, 3, -5), (3, 3, 5), (0, 3), (3, 4, 1, {"dtype": INT}), (5, 2, -3)],
}  # fmt: skip

UNINITIALISED: dict[str, list[Case]] = {
    "empty.memory_format": [([2, 3],), ([2], {"dtype": LONG})],
    "empty_like": [(X,), (X, {"dtype": BOOL})],
    "empty_strided": [([2, 3], [3, 1])],
    "empty_permuted": [([2, 3], [1, 0]), ([2, 3], [0, 1], {"dtype": HALF})],
    "new_empty": [(LONGS, [2])],
    "new_empty_strided": [(LONGS, [2, 3], [3, 1]), (X, [2], [1], {"dtype": HALF})],
}


def call(name: str, case: Case, **options: Any) -> None:
    args, kwargs = (case[:-1], case[-1]) if isinstance(case[-1], dict) else (case, {})
    check(f"aten.{name}", *args, **kwargs, **options)


@pytest.mark.parametrize("name", TABLE)
def test_agrees(name: str):
    for case in TABLE[name]:
        call(name, case)


@pytest.mark.parametrize("name", UNINITIALISED)
def test_uninitialised_tensors_have_the_type_and_are_zero(name: str):
    for case in UNINITIALISED[name]:
        call(name, case, values=False)
    module, tensors = program_of("aten.empty.memory_format", [2, 3])
    assert not run(module, tensors)[0].any()


def test_every_operator_occurs():
    family = {name for name, spec in specs().items() if spec.family == "creation"}
    # test_indexing has `combinations`, whose size counts as depending on the data.
    assert family == {f"aten.{name}" for name in [*TABLE, *UNINITIALISED, "combinations"]}


@pytest.mark.parametrize(
    "case",
    [
        ("full", [-1], 1), ("zeros", [2, -3]), ("eye", -1), ("eye.m", 2, -1), ("linspace", 0, 1, -1), ("arange", -1),
        ("arange.start", 2, 1), ("arange.start_step", 0, 5, 0), ("arange.start_step", 0, 5, -1), ("arange", float("inf")),
        ("empty_permuted", [2, 3], [0, 0]), ("empty_strided", [2, 3], [1]), ("tril_indices", -1, 2), ("triu_indices", 2, -1),
        ("linspace.Tensor_Tensor", X, X, 3), ("logspace", 0, 1, -1), ("cartesian_prod", [X]), ("combinations", X),
    ],
    ids=lambda case: case[0],
)  # fmt: skip
def test_refuses_what_pytorch_refuses(case: Case):
    name, *args = case
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        find_operator(f"aten.{name}")(*args)
    with pytest.raises(ExirError):
        program_of(f"aten.{name}", *args)


def test_length_of_a_symbolic_range():
    s = Expr.symbol("s0")
    assert arange_shape(0, s, 1, None) == (s,)
    assert arange_shape(2, 2 * s + 2, 2, None) == (s,)
    assert arange_shape(0, NumberMeta(dt.Long), 1, None) == (None,)
    assert arange_shape(0.0, s, 1.0, None) == (s,)
    assert arange_shape(0, s, 0.5, None) == (apply("ceil_to_int", apply("truediv", s, 0.5)),)
    assert arange_shape(0, s, 1.5, dt.Long) == (None,)
