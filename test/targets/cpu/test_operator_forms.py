"""Operators that are put in other forms natively, against PyTorch: sizes on both sides of where the form begins, NaN, infinities and ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xdsl_exir

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.native

Call = Callable[..., Any]


class Calls(torch.nn.Module):
    def __init__(self, calls: list[Call]):
        super().__init__()
        self.calls = calls

    def forward(self, *inputs: Any) -> Any:
        return [call(*inputs) for call in self.calls]


def results(calls: list[Call], inputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """What native code and PyTorch give."""
    model = Calls(calls)
    program = xdsl_exir.from_exported_program(torch.export.export(model, tuple(inputs)))
    made = xdsl_exir.compile(program, "native").flat([x.numpy() for x in inputs])
    expected = torch.utils._pytree.tree_leaves(model(*inputs))
    return [torch.as_tensor(np.asarray(each)) for each in made], expected


def randn(*shape: int) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def with_missing(x: Any) -> Any:
    x = x.clone()
    x.view(-1)[::7] = torch.nan
    x.view(-1)[3::11] = torch.inf
    x.view(-1)[5::13] = -torch.inf
    return x


MODES: dict[str, Any] = {
    "few numbers": torch.randint(-3, 3, (5, 40, 3), generator=torch.Generator().manual_seed(1)),
    "all differ": randn(5, 40, 3),
    "all equal": torch.full((2, 9, 2), 4.0),
    "zeros of both signs": torch.tensor([0.0, -0.0, 1.0, 1.0, -0.0, 0.0]).expand(2, 6).clone().unsqueeze(-1),
    "infinities": torch.tensor([torch.inf, 1, torch.inf, -torch.inf, -torch.inf, 1, 2]).expand(3, 7).clone()[..., None],
    "rounded": randn(4, 300, 2).round().double(),
    "one": randn(3, 1, 2),
}  # fmt: skip


def last_places(x: Any, values: Any, dim: int) -> Any:
    """Where values stand last along a dimension."""
    held = (x == values).int()
    return x.shape[dim] - 1 - held.flip(dim).argmax(dim, keepdim=True)


@pytest.mark.parametrize("name", MODES)
def test_modes(name: str) -> None:
    """The least of several most frequent numbers, and where it stands last: PyTorch's places are any of its, where rows are long."""
    x = MODES[name]
    for dim in (0, 1, -1):
        calls: list[Call] = [lambda x, dim=dim, keep=keep: torch.mode(x, dim, keep) for keep in (True, False)]
        made, expected = results(calls, [x])
        for got, wanted in zip(made, expected, strict=True):
            assert got.shape == wanted.shape
            assert got.dtype == wanted.dtype
        assert torch.equal(made[0], expected[0])
        assert torch.equal(made[1], last_places(x, expected[0], dim))
        for kept, squeezed in zip(made[:2], made[2:], strict=True):
            assert torch.equal(kept.squeeze(dim), squeezed)


@pytest.mark.parametrize("width", [1, 2, 3, 8, 16, 17])
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_distances(width: int, p: float) -> None:
    """Of batches too, and where the product that PyTorch takes would cancel: short rows are never one."""
    a, b = randn(2, 30, width), randn(2, 41, width).flip(1)
    b[:, :5] = a[:, :5] + 1e-3
    made, expected = results([lambda a, b: torch.cdist(a, b, p)], [a, b])
    exact = torch.cdist(a.double(), b.double(), p, "donot_use_mm_for_euclid_dist")
    assert made[0].shape == expected[0].shape
    torch.testing.assert_close(
        made[0].double(), exact, rtol=4 * 2.0**-23, atol=1e-30 if width <= 16 else 1e-6
    )


@pytest.mark.parametrize("shape", [(30, 17), (30, 3), (2, 5), (1, 5), (0, 5), (4, 0)])
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.5, torch.inf])
def test_distances_of_pairs(shape: tuple[int, ...], p: float) -> None:
    x = randn(*shape)
    if x.numel() > 100:
        x[3, 0], x[5, 1], x[6, 1] = torch.nan, torch.inf, torch.inf
    [made], [expected] = results([lambda x: torch.nn.functional.pdist(x, p)], [x])
    torch.testing.assert_close(made, expected, equal_nan=True)


@pytest.mark.parametrize("width", [1, 3, 17])
@pytest.mark.parametrize("batch", [(), (2,), (2, 1)])
@pytest.mark.parametrize("rows", [20, 30])
def test_distances_of_what_is_no_number(width: int, batch: tuple[int, ...], rows: int) -> None:
    """Of more than 25 rows PyTorch's are a product, of which two infinities of one sign make no infinity."""
    special = torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0, -0.0])
    a, b = randn(*batch, rows, width), randn(*batch, 19, width)
    a[..., :5, 0], a[..., 7:12, -1] = special, special
    b[..., :5, -1], b[..., 9:14, 0] = special.flip(0), special
    [made], [expected] = results([lambda a, b: torch.cdist(a, b)], [a, b])
    torch.testing.assert_close(made, expected, equal_nan=True, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("other", [-torch.inf, torch.inf, 0.0])
def test_whether_anything_is_left(other: float) -> None:
    """As a safe softmax asks: of rows that are masked wholly, or but for one number; of each dimension."""
    x = with_missing(randn(7, 9, 21))
    x[:, :6], x[:, 1, 4], x[:, 2, 0], x[:, 3, -1] = -torch.inf, torch.nan, torch.inf, 1.0
    calls: list[Call] = [
        lambda x, dim=dim, keep=keep: (x == other).logical_not().any(dim, keep)
        for dim in (0, 1, -1)
        for keep in (True, False)
    ]
    made, expected = results(calls, [x])
    assert all(torch.equal(got, wanted) for got, wanted in zip(made, expected, strict=True))


@pytest.mark.parametrize("shape", [(20, 33), (3, 33), (2, 9, 50), (17, 1), (70,)])
def test_running_sums_of_exponentials(shape: tuple[int, ...]) -> None:
    """Along the last dimension of many rows and of few."""
    made, expected = results([lambda x: torch.logcumsumexp(x, -1)], [x := 5 * randn(*shape)])
    torch.testing.assert_close(made, expected)
    [made], [expected] = results([lambda x: torch.logcumsumexp(x, -1)], [with_missing(x)])
    torch.testing.assert_close(made, expected, equal_nan=True)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_running_sums_of_other_dtypes(dtype: str) -> None:
    """Along each dimension: only the last one is turned."""
    x = randn(4, 20, 33).to(getattr(torch, dtype))
    made, expected = results([lambda x, dim=dim: torch.logcumsumexp(x, dim) for dim in (0, 1, -1)], [x])
    for got, wanted in zip(made, expected, strict=True):
        torch.testing.assert_close(
            got,
            wanted,
            rtol=4e-3 if dtype == "float16" else 1e-12,
            atol=1e-3 if dtype == "float16" else 1e-12,
        )


GROUPS: dict[str, Any] = {
    "several": torch.tensor([1, 1, 2, 2, 2, 3, 1, 1]),
    "one": torch.tensor([5, 5, 5]),
    "a single number": torch.tensor([7]),
    "each its own": torch.arange(6),
    "none": torch.zeros(0, dtype=torch.int64),
    "many": torch.randint(0, 3, (500,), generator=torch.Generator().manual_seed(2)),
    "rows": torch.tensor([[1, 2], [1, 2], [3, 4], [1, 2]]),
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups(name: str) -> None:
    """What begins them, which one each is in, and their lengths: the last one's is what is left."""
    x = GROUPS[name]
    calls: list[Call] = [
        lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
        lambda x: torch.unique(x, return_inverse=True, return_counts=True),
        lambda x: torch.nonzero(x),
        lambda x: torch.nonzero(x > 1),
    ]
    if x.ndim > 1:
        calls.append(lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True, dim=0))
    made, expected = results(calls, [x])
    for got, wanted in zip(made, expected, strict=True):
        assert got.shape == wanted.shape
        assert torch.equal(got, wanted)


def test_places_that_there_are_too_many_or_too_few_of() -> None:
    x = torch.tensor([[0, 1, 1], [1, 0, 1]])
    sizes = (0, 1, 3, 4, 6)
    made, expected = results(
        [lambda x, size=size: torch.nonzero_static(x, size=size, fill_value=-7) for size in sizes], [x]
    )
    for got, wanted in zip(made, expected, strict=True):
        assert torch.equal(got, wanted)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int32"])
def test_reductions_over_a_dimension_that_is_not_there(dtype: str) -> None:
    """PyTorch takes dimension -1 of a 0-dim tensor."""
    x = torch.tensor(-3).to(getattr(torch, dtype))
    calls: list[Call] = [
        lambda x: x.prod(-1),
        lambda x: x.sum(-1),
        lambda x: x.amax(-1),
        lambda x: x.amin(0, keepdim=True),
        lambda x: x.float().mean(0),
    ]
    program = xdsl_exir.from_exported_program(torch.export.export(Calls(calls), (x,)))
    made = xdsl_exir.compile(program, "native")(x)
    assert [(float(it), it.shape) for it in made] == [(-3.0, ())] * 5


SEARCHED = ("float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")


def extremes(x: Any) -> Any:
    ends = x.amax(0), x.amin(0), x.view(5, 7, 100).amax((0, 1)), (x + x).amin(), (x * 1).amax((0, 1), True)
    return (*x.max(-1), *x.min(-1), x.argmax(), x.argmin(-1, True), *ends)


@pytest.mark.parametrize("dtype", SEARCHED)
def test_extremes_and_where_they_are_first(dtype: str) -> None:
    torch.manual_seed(0)
    x = (torch.randn(5, 700) * 20).to(getattr(torch, dtype))
    x[1] = x[1, 0]
    if x.is_floating_point():
        x[2, 400:] = torch.nan
        x[3] = -torch.inf
    elif dtype == "int64":
        x[4, 9], x[4, 600] = 2**62 + 1, 2**62  # which floats do not tell apart
    for given in (x, x.flip(1).contiguous()):
        if dtype == "bool":  # of which PyTorch has no place
            check(lambda x: (*x.max(-1), *x.min(-1), x.amax(0), x.amin(-1), x.any(-1), x.all(0)), given)
        else:
            check(extremes, given)


def scans(x: Any) -> Any:
    given = {torch.bool: torch.int32}.get(x.dtype, x.dtype)
    sums = x.cumsum(-1), x.cumsum(0, dtype=given), x.cumprod(0), x.cumsum(-1, dtype=torch.float32)
    return (*sums, (x.repeat(1, 50) * 1).sum(), *x.cummax(-1), *x.cummin(0))


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "bool"])
def test_scans_of_integers(dtype: str) -> None:
    """Sums of short integers wrap as they do; what PyTorch rounds to the result's dtype first is rounded first."""
    torch.manual_seed(0)
    x = (torch.randn(5, 70) * 90).to(getattr(torch, dtype))
    check(scans, x)
    made = torch.float16 if dtype == "bool" else getattr(torch, dtype)
    check(lambda x: x.cumsum(-1, dtype=made), torch.tensor([[0.75, 0.5, 30.7], [1.5, -2.5, 2.9]]))


def test_logic_of_bytes() -> None:
    x = (torch.arange(2800) % 7).to(torch.uint8).reshape(4, 700)
    x[1] = 0
    x[2] = 1
    check(lambda x: (x.any(), x.any(0), x.any(-1, True), x.all(), x.all(1), torch.any(x, (0, 1))), x)


ACROSS: dict[str, Call] = {
    "squares": lambda x: (x * x).sum(0),
    "of all but the last": lambda x: (x * 2 - 1).mean((0, 1)),
    "in the middle": lambda x: x.abs().amax(1, True),
    "without NaN": lambda x: x.nansum(1),
}


@pytest.mark.parametrize("name", ACROSS)
@pytest.mark.parametrize("shape", [(40, 48, 40), (7, 7, 64), (40, 40, 40)])
def test_reductions_before_others_make_their_elements(name: str, shape: tuple[int, ...]) -> None:
    x = randn(*shape)
    x.view(-1)[::71] = torch.nan
    program = xdsl_exir.from_exported_program(torch.export.export(Calls([ACROSS[name]]), (x,)))
    text = str(program.to("dispatches").module)
    assert text.count("backend.dispatch") == text.count('backend.dispatch kernel "Across"') == 1
    [made], [expected] = results([ACROSS[name]], [x])
    torch.testing.assert_close(made, expected, equal_nan=True)


def test_rows_along_different_dimensions_are_apart() -> None:
    """A square of booleans is counted where it lies, and its sum's rows lie side by side: neither is copied."""
    x = with_missing(randn(64, 64))
    check(lambda x: x.nanmean(0) * 0 + x.isnan().sum(0), x)


@pytest.mark.parametrize("outputs", [20, 37, 48, 80])
def test_convolutions_of_odd_numbers_of_vectors(outputs: int) -> None:
    """Of channels: three side by side leave none over."""
    weight = randn(outputs, 4, 3, 3)
    made, expected = results([lambda x: torch.conv2d(x, weight, padding=2, dilation=2)], [randn(2, 4, 6, 13)])
    for got, wanted in zip(made, expected, strict=True):
        torch.testing.assert_close(got, wanted)


def check(function: Call, x: Any) -> None:
    """Compares native code with eager, bit for bit."""
    for got, wanted in zip(*results([function], [x]), strict=True):
        assert torch.equal(got.nan_to_num(7), wanted.nan_to_num(7)), (got, wanted)
