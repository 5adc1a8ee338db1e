"""Orders natively: as PyTorch's stable sort has them, in every dtype, with special values and ties, along any dimension."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import TopK

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.native

DTYPES = ["float32", "float64", "float16", "bfloat16", "int32", "int64", "int16", "int8", "uint8", "bool"]


class Calls(torch.nn.Module):
    def __init__(self, *calls: Any):
        super().__init__()
        self.calls = calls

    def forward(self, *inputs: Any) -> Any:
        return tuple(result for call in self.calls for result in call(*inputs))


def compiled(calls: Any, *inputs: Any, dynamic: Any = None) -> Any:
    program = torch.export.export(Calls(*calls), inputs, dynamic_shapes=dynamic)
    return xdsl_exir.compile(xdsl_exir.from_exported_program(program), "native")


def draw(dtype: str, *shape: int) -> Any:
    """Numbers with many ties, and what is special of the dtype."""
    kind = getattr(torch, dtype)
    if dtype == "bool":
        return torch.rand(shape) > 0.5
    if not kind.is_floating_point:
        info = torch.iinfo(kind)
        special = torch.tensor([info.min, info.max, 0, 1, info.max], dtype=kind)
        x = torch.randint(max(info.min, -9), 9, shape).to(kind)
    else:
        special = torch.tensor([torch.nan, -torch.nan, torch.inf, -torch.inf, 0.0, -0.0, -0.0, 0.0]).to(kind)
        x = (torch.randn(shape) * 4).round().to(kind) / 4
    flat = x.view(-1)
    places = torch.randperm(len(flat))[: 3 * len(special)]
    flat[places] = special.repeat(3)[: len(places)]
    return x


def bits(x: Any) -> Any:
    """Elements, zeros of both signs and NaN told apart; of NaN one."""
    array = np.asarray(x if not isinstance(x, torch.Tensor) else x.double().numpy()).astype("f8")
    return np.where(np.isnan(array), np.nan, array), np.signbit(np.where(np.isnan(array), 0, array))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sorts_are_stable(dtype: str) -> None:
    torch.manual_seed(0)
    x, column, long = draw(dtype, 3, 21, 5), draw(dtype, 16, 1), draw(dtype, 2, 200)
    calls = [
        lambda x, column, long: torch.sort(x, dim=1, stable=True),
        lambda x, column, long: torch.sort(x, dim=0, stable=True, descending=True),
        lambda x, column, long: torch.sort(column, dim=0, stable=True),
        lambda x, column, long: torch.sort(column, dim=1),
        lambda x, column, long: torch.sort(long, stable=True, descending=True),
        lambda x, column, long: torch.sort(long, stable=True)[:1],
        lambda x, column, long: torch.sort(long, stable=True)[1:],
    ]
    inputs = x, column, long
    results = compiled(calls, *inputs).flat([a if a.dtype is torch.bfloat16 else a.numpy() for a in inputs])
    for got, wanted in zip(results, Calls(*calls)(*inputs), strict=True):
        for mine, theirs in zip(bits(got), bits(wanted), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("dtype", DTYPES[:-1])
def test_the_first_of_an_order(dtype: str) -> None:
    """Kept as they come, of a heap, and by partitions, and k-th values: of equal elements those that PyTorch takes, which of all that are equal are not the first ones."""
    torch.manual_seed(1)
    x, same = draw(dtype, 4, 83), torch.zeros(2, 600, dtype=getattr(torch, dtype))
    kinds = [(1, 1), (7, 1, False), (20, 1), (60, 1, True, False), (83, 1, False), (2, 0, False), (3, 0)]
    calls = [lambda x, same, kind=kind: torch.topk(x, *kind) for kind in kinds]
    calls += [lambda x, same, count=count: torch.topk(same, count) for count in (1, 5, 9, 40, 600)]
    calls += [lambda x, same, k=k: torch.kthvalue(x, k) for k in (1, 20, 83)]
    calls += [lambda x, same: torch.kthvalue(same, 300), lambda x, same: torch.kthvalue(x, 2, 0)]
    results = compiled(calls, x, same).flat([a if dtype == "bfloat16" else a.numpy() for a in (x, same)])
    for got, wanted in zip(results, Calls(*calls)(x, same), strict=True):
        for mine, theirs in zip(bits(got), bits(wanted), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("target", ["native", "interpreter"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int16", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(3, 83), (300,), (40_000,), (12, 4)])
def test_sorts_that_are_not_stable(dtype: str, shape: tuple[int, ...], target: str) -> None:
    """Of elements of up to 16 bits: in the order that PyTorch's steps leave equal ones in, but for few, and many integers of one dimension."""
    torch.manual_seed(3)
    x = (torch.rand(shape) * 20).to(getattr(torch, dtype))
    if x.is_floating_point():
        x[..., ::7] = torch.nan
    calls = [lambda x: x.sort(-1), lambda x: x.sort(0, descending=True), lambda x: [x.argsort(0)]]
    program = xdsl_exir.from_exported_program(torch.export.export(Calls(*calls), (x,)))
    run = xdsl_exir.compile(program, target=target)
    for got, wanted in zip(
        run.flat([x if dtype == "bfloat16" else x.numpy()]), Calls(*calls)(x), strict=True
    ):
        for mine, theirs in zip(bits(got), bits(wanted), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_greatest_numbers_of_all_are_found() -> None:
    """Elements whose keys are the greatest that there are."""
    x = torch.full((2, 40), torch.iinfo(torch.int64).max)
    wanted = torch.topk(x, 5, largest=False)
    [values, places] = compiled([lambda x: torch.topk(x, 5, largest=False)], x).flat([x.numpy()])
    assert (values == wanted[0].numpy()).all()
    assert (places == wanted[1].numpy()).all()


def test_rows_may_be_symbolic_and_shared() -> None:
    rows = torch.export.Dim("rows", min=2)
    calls = [lambda x: torch.sort(x, stable=True), lambda x: torch.topk(x, 3)]
    run = compiled(calls, torch.randn(3, 300), dynamic={"inputs": ({0: rows},)})
    for count in (2, 400):
        x = torch.randn(count, 300)
        for got, wanted in zip(run.flat([x.numpy()]), Calls(*calls)(x), strict=True):
            np.testing.assert_array_equal(got, wanted.numpy())


def test_one_is_found_without_a_sort() -> None:
    """Of rows that are not short."""
    calls = [lambda x: x.median(1), lambda x: [x.nanmedian()], lambda x: x.kthvalue(3, 0)]
    for shape, kinds in (((40, 50), {"Select", "KthValue"}), ((5, 6), {"Order", "KthValue"})):
        program = torch.export.export(Calls(*calls), (torch.randn(shape),))
        scheduled = plan_program(xdsl_exir.from_exported_program(program).to_edge()).dispatches.scheduled
        assert {type(kernel).__name__ for kernel in scheduled} & {"Select", "Order", "KthValue"} == kinds


def test_few_are_kept_as_they_come() -> None:
    """Those that are neither the first of a heap, nor many, nor in no order."""
    assert TopK(1, 100, 1, 5, "f32").keeps == 6
    assert TopK(1, 5, 1, 5, "f32").keeps == 5
    assert not TopK(1, 1000, 1, 5, "f32").keeps
    assert not TopK(1, 1000, 1, 90, "f32").keeps
    assert not TopK(1, 100, 1, 5, "f32", is_sorted=False).keeps


@pytest.mark.parametrize("dtype", DTYPES[:-1])
def test_orders_of_any_size(dtype: str) -> None:
    """Of one element too, fewer than a vector has, and many; equal ones are where PyTorch has them."""
    calls = [
        lambda x: torch.sort(x, dim=0, stable=True),
        lambda x: torch.sort(x, stable=True, descending=True),
        lambda x: torch.topk(x, 1, 0),
        lambda x: torch.topk(x, 2, sorted=False)[0].sort(),
        lambda x: torch.kthvalue(x, 1, 0),
        lambda x: [x.median(1)[0], x.median(), x.flatten().median()],
    ]
    auto = torch.export.Dim.AUTO
    run = compiled(calls, draw(dtype, 30, 70), dynamic={"inputs": ({0: auto, 1: auto},)})
    assert not [path for path in run.slow_paths if "sort" in str(path) or "median" in str(path)]
    for shape in ((30, 70), (2, 3), (1, 2), (65, 2), (7, 513), (1000, 5)):
        x = draw(dtype, *shape)
        given = x.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if dtype == "bfloat16" else x.numpy()
        wanted = Calls(*calls)(x)
        for number, (got, right) in enumerate(zip(run.flat([given]), wanted, strict=True)):
            if number != 7:  # of those that are not in order, places of equal ones may be any
                np.testing.assert_array_equal(np.asarray(got).astype("f8"), right.double().numpy())


def test_medians_of_nothing() -> None:
    auto = torch.export.Dim.AUTO
    for x in (torch.randn(50), torch.arange(50), torch.arange(50, dtype=torch.uint8)):
        run = compiled([lambda x: [x.median(), x.nanmedian()]], x, dynamic={"inputs": ({0: auto},)})
        for got, wanted in zip(run.flat([x[:0].numpy()]), (x[:0].median(), x[:0].nanmedian()), strict=True):
            np.testing.assert_array_equal(got, wanted.numpy())


def test_the_first_of_rows_of_any_length() -> None:
    """By the same steps."""
    long = 2 * torch.export.Dim("half", min=2)
    calls = [
        lambda x: torch.topk(x, x.shape[1] // 2),
        lambda x: torch.topk(x, 2, largest=False),
        lambda x: torch.kthvalue(x, x.shape[1] // 2),
    ]
    x = torch.randint(0, 5, (3, 300)).float()
    run = compiled(calls, x, dynamic={"inputs": ({1: long},)})
    for size in (4, 6, 20, 1000):
        x = torch.randint(0, 5, (3, size)).float()
        for got, wanted in zip(run.flat([x.numpy()]), Calls(*calls)(x), strict=True):
            np.testing.assert_array_equal(got, wanted.numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "uint8"])
@pytest.mark.parametrize("shape", [(3, 84, 2), (40, 69, 1), (2, 11, 3)])
def test_what_stands_at_a_place_of_an_order(dtype: str, shape: tuple[int, ...]) -> None:
    """Medians, with NaN and without, which stand where their places say: of equal ones any."""
    torch.manual_seed(2)
    x = draw(dtype, *shape)
    if x.is_floating_point():
        x[0, :, 0] = torch.nan
    places = [
        (1, lambda x: x.median(1, keepdim=True)),
        (0, lambda x: x.median(0, keepdim=True)),
        *([(1, lambda x: x.nanmedian(1, keepdim=True))] if x.is_floating_point() else []),
    ]
    calls = [call for _, call in places] + [lambda x: [x.nanmedian(), x.median()]]
    wanted = Calls(*calls)(x)
    got = compiled(calls, x).flat([x.numpy()])
    for mine, right in zip(
        [*got[: 2 * len(places) : 2], *got[-2:]], [*wanted[: 2 * len(places) : 2], *wanted[-2:]], strict=True
    ):
        np.testing.assert_array_equal(np.asarray(mine), right.numpy())
    for (dim, _), values, indices in zip(places, got[::2], got[1::2], strict=False):
        np.testing.assert_array_equal(
            np.take_along_axis(x.numpy(), np.asarray(indices), dim), np.asarray(values)
        )
