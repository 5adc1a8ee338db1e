"""Tensors made from numbers, natively: what the operators' own tests call, not folded at compile time."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_natively, program_of, run_native  # noqa: E402
from interpreter.operators.test_creation import TABLE, UNINITIALISED  # noqa: E402
from xdsl.context import Context  # noqa: E402

from xdsl_exir.interpreter.operators import IMPLS  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

Call = tuple[str, tuple[Any, ...], dict[str, Any]]


@pytest.fixture(autouse=True)
def unfolded(monkeypatch: pytest.MonkeyPatch):
    """These operators have no operands: with kernels, they would be computed when the program is compiled."""
    find = IMPLS.find
    monkeypatch.setattr(IMPLS, "find", lambda spec: None if spec.family == "creation" else find(spec))


def calls_of(table: dict[str, list[tuple[Any, ...]]]) -> list[Call]:
    calls: list[Call] = []
    for name, cases in table.items():
        for case in cases:
            args, kwargs = (case[:-1], case[-1]) if isinstance(case[-1], dict) else (case, {})
            calls.append((f"aten.{name}", args, kwargs))
    return calls


def test_agrees():
    check_natively(calls_of(TABLE))


DTYPES = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.int64,
    torch.int32,
    torch.int8,
    torch.uint8,
]


def test_any_dtype():
    calls: list[Call] = []
    for dtype in DTYPES:
        like = torch.ones(3, 5, dtype=dtype)
        options = {"dtype": dtype}
        calls += [
            ("aten.full", ([3, 5], 7), options),
            ("aten.full", ([], 2.5), options),
            ("aten.full_like", (like, 3), {}),
            ("aten.full_like", (like > 0, 1), options),
            ("aten.scalar_tensor", (5,), options),
            ("aten.arange.start_step", (3, 40, 5), options),
            ("aten.arange.start_step", (40, 3, -3), options),
        ]
        if dtype.is_floating_point:
            calls += [
                ("aten.arange.start_step", (-1, 1, 0.1), options),
                ("aten.full", ([2], float("nan")), options),
                ("aten.full", ([2], -float("inf")), options),
            ]
    calls += [
        ("aten.full", ([3], True), {"dtype": torch.bool}),
        ("aten.full", ([3], 7), {"dtype": torch.bool}),
    ]
    check_natively(calls)


def test_triangles():
    sizes = [(5, 3), (3, 5), (1, 1), (0, 4), (7, 7)]
    check_natively(
        [
            (f"aten.{name}", (*size, offset), {})
            for name in ("tril_indices", "triu_indices")
            for size in sizes
            for offset in range(-8, 9, 2)
        ]
    )


def test_uninitialised_tensors_are_zero():
    for name, args, kwargs in calls_of(UNINITIALISED):
        module, tensors = program_of(name, *args, **kwargs)
        DecomposeAten().apply(Context(), module)
        AtenToEdge().apply(Context(), module)
        [result] = run_native(module, tensors)
        assert not result.any(), name
