"""Views and rearrangements natively: what the operators' own tests call, and every dtype."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_natively, program_of, run_native, to_torch  # noqa: E402
from interpreter.operators.test_view import TABLE, split_case, t  # noqa: E402
from modules import Function  # noqa: E402
from xdsl.context import Context  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:torch.meshgrid", "ignore:Tensor.T is deprecated")

Call = tuple[str, tuple[Any, ...], dict[str, Any]]
"""An operator, its arguments and its keyword arguments."""


CALLS: list[Call] = [(f"aten.{name}", *split_case(case)) for name, cases in TABLE.items() for case in cases]
PARTS = 6
WINDOWS = {
    "overlap": lambda x: x.unfold(1, 3, 1).sum(-1),
    "lie apart": lambda x: x.unfold(1, 2, 5) * 2,
    "of windows": lambda x: x.unfold(0, 2, 1).unfold(1, 3, 2).amax((-2, -1)),
    "in another order": lambda x: x.unfold(1, 4, 2).transpose(1, 2).reshape(9, -1),
    "as large as what they see": lambda x: x.mul(2)[0].unfold(0, 3, 1)[:3].relu(),
    "beside it": lambda x: (y := x.mul(2)[0]).view(3, 3).sub(y.unfold(0, 3, 1)[:3]),
    "multiplied": lambda x: x.unfold(1, 4, 1) @ x.unfold(1, 4, 1).mT,
    "returned": lambda x: x.unfold(1, 4, 1),
}
"""What is done with windows on rows, which are views."""


@pytest.mark.parametrize("part", range(PARTS))
def test_agrees(part: int):
    check_natively(CALLS[part::PARTS])


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str) -> None:
    call, x = WINDOWS[name], torch.randn(9, 9)
    program = xdsl_exir.from_exported_program(torch.export.export(Function(call), (x,)))
    [made] = xdsl_exir.compile(program, "native").flat([x.numpy()])
    torch.testing.assert_close(to_torch(made), call(x))


DTYPES = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.int64,
    torch.int32,
    torch.int8,
    torch.uint8,
    torch.bool,
]


def moves(dtype: torch.dtype) -> list[Call]:
    """What moves elements of a dtype."""
    x = t(2, 3, 5, dtype=dtype)
    table: list[tuple[Any, ...]] = [
        ("view", [5, 6]), ("view", [2, -1]), ("permute", [1, -1, 0]), ("permute_copy", [2, 1, 0]), ("unsqueeze", -1),
        ("squeeze.dims", [0, 1]), ("expand", [2, 2, 3, 5]), ("repeat", [2, 1, 2, 1]), ("flip", [1, -1]),
        ("slice.Tensor", 2, 1, 4), ("slice.Tensor", -1, 0, 5, 2), ("slice.Tensor", 1, 3, 3), ("select.int", 1, -1),
        ("split_with_sizes", [1, 2], 1), ("diagonal", 1, 1, 2), ("diagonal", -1, 2, 0), ("unfold", 2, 2, 2),
        ("as_strided", [3, 2], [2, 7], 1), ("constant_pad_nd", [1, 2, 0, 1], 1), ("constant_pad_nd", [-1, 3], 2),
    ]  # fmt: skip
    calls: list[Call] = [(f"aten.{name}", (x, *args), {}) for name, *args in table]
    return [
        *calls,
        ("aten.cat", ([x, x[:, :1], x[:, :0]], 1), {}),
        ("aten.cat", ([x[:, :1], x[:, 1:2]], -1), {}),
        ("aten.cat", ([x[:, :1]], -1), {}),
        ("aten.cat", ([x, x.to(torch.float32)], -1), {}),
        ("aten.slice_scatter", (x, x[:, :2], 1, 0, 3, 2), {}),
        ("aten.diagonal_scatter", (x, x[:, :, 0], 0, 1, 2), {}),
        ("aten.as_strided_scatter", (x, x[0, :2, :2], [2, 2], [1, 9], 3), {}),
    ]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_moves_any_dtype(dtype: torch.dtype):
    check_natively(moves(dtype))


EMPTY, SCALAR = torch.zeros(2, 0, 3), torch.tensor(7.0)


def test_empty_and_0_dim():
    check_natively(
        [
            ("aten.flip", (EMPTY, [0, 1]), {}),
            ("aten.flip", (SCALAR, []), {}),
            ("aten.repeat", (EMPTY, [1, 2, 1]), {}),
            ("aten.repeat", (SCALAR, [2, 3]), {}),
            ("aten.diagonal", (EMPTY,), {}),
            ("aten.diagonal", (torch.zeros(3, 3), 5), {}),
            ("aten.slice.Tensor", (EMPTY, 0, 1), {}),
            ("aten.slice.Tensor", (torch.ones(1, dtype=torch.int8), 0, 1), {}),  # nothing of one byte
            ("aten.select.int", (EMPTY, 0, 1), {}),
            ("aten.cat", ([EMPTY, EMPTY], 1), {}),
            ("aten.constant_pad_nd", (EMPTY, [0, 0, 1, 0], 3.5), {}),
            ("aten.constant_pad_nd", (torch.zeros(2, dtype=torch.bool), [1, 0], 1j), {}),
            ("aten.as_strided", (EMPTY, [0, 2], [1, 1]), {}),
            ("aten.expand", (SCALAR, [0, 2]), {}),
            ("aten.squeeze.dims", (SCALAR, [-1]), {}),
            ("aten.slice_scatter", (EMPTY, EMPTY, 1), {}),
            ("aten.diagonal_scatter", (torch.zeros(3, 3), torch.zeros(0), 5), {}),
        ]
    )


def test_arguments_stay_as_they_are():
    x = t(3, 4)
    before = x.clone()
    for name, *args in [
        ("slice_scatter", x[:1] + 9, 0, 1, 2),
        ("diagonal_scatter", x[:, 0] + 9),
        ("as_strided_scatter", x[0, :2] + 9, [2], [5]),
    ]:
        module, tensors = program_of(f"aten.{name}", x, *args)
        DecomposeAten().apply(Context(), module)
        AtenToEdge().apply(Context(), module)
        run_native(module, tensors)
        assert torch.equal(x, before), name


def test_bits_of_every_width():
    numbers = torch.linspace(-50, 50, 24).reshape(3, 8)
    dtypes = [dtype for dtype in DTYPES if dtype != torch.bool]
    check_natively([("aten.view.dtype", (numbers.to(a), b), {}) for a in dtypes for b in dtypes])
