"""Picking, placing and ordering natively: what the operators' own tests call, and the edges of native indexing."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import (  # noqa: E402
    check_natively,
    compare,
    find_operator,
    flatten,
    program_of,
    run,
    run_native,
    to_torch,
)
from differential import dtype as dtype_of  # noqa: E402
from xdsl.context import Context  # noqa: E402

import xdsl_exir  # noqa: E402
from interpreter.operators import test_indexing as operators  # noqa: E402
from xdsl_exir.dialects.tensors import tensor_type  # noqa: E402
from xdsl_exir.errors import ExirError, UnsupportedError  # noqa: E402
from xdsl_exir.lowering.edge_to_linalg import EdgeToLinalg  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")

L = torch.tensor
X = torch.arange(20.0).reshape(4, 5)
Call = tuple[str, tuple[Any, ...], dict[str, Any]]


def as_call(call: tuple[Any, ...]) -> Call:
    name, *args = call
    kwargs = args.pop() if args and isinstance(args[-1], dict) else {}
    return f"aten.{name}", tuple(args), kwargs


CALLS = [as_call(call) for call in operators.CALLS if call[0] != "one_hot"]


@pytest.mark.parametrize("part", range(2))
def test_agrees(part: int):
    check_natively(CALLS[part::2])


DTYPES = ["float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_dtype(dtype: str):
    calls = [as_call(call) for call in operators.calls_of(getattr(torch, dtype))]
    check_natively([call for call in calls if call[0] != "aten.one_hot"])


def test_masks():
    mask = L([[True, False, True, True, False]] * 4)
    calls: list[Call] = [
        ("aten.index_put", (X, [mask], L(3.0)), {}),
        ("aten.index_put", (X, [mask], torch.arange(12.0) + 90), {}),
        ("aten.index_put", (X, [mask], torch.arange(12.0) + 90, True), {}),
        ("aten.index_put", (X, [mask.byte()], torch.arange(12.0)), {}),
        ("aten.index_put", (X, [L([True, False, True, False])], torch.arange(10.0).reshape(2, 5)), {}),
        ("aten.index_put", (X, [None, mask[0]], torch.arange(12.0).reshape(4, 3)), {}),
        ("aten.index_put", (X, [None, mask[0]], torch.arange(4.0).reshape(4, 1)), {}),
        ("aten.index_put", (X, [mask[:, 0] & False], torch.zeros(0, 5)), {}),
        ("aten.masked_scatter", (X, mask, torch.arange(12) + 0.5), {}),
        ("aten.masked_scatter", (X, mask & False, torch.zeros(0)), {}),
    ]
    check_natively(calls)


def test_order_of_many():
    generator = torch.Generator().manual_seed(0)
    ties = torch.randint(0, 50, (3, 321), generator=generator).float()
    ties[0, ::7] = nan
    calls: list[Call] = [
        ("aten.sort.stable", (ties,), {"stable": True, "descending": descending})
        for descending in (False, True)
    ]
    calls += [
        ("aten.sort.stable", (ties.t(),), {"stable": True, "dim": 0}),
        ("aten.topk", (torch.randperm(1000, generator=generator), 13), {}),
        ("aten.topk", (torch.randperm(99, generator=generator).half(), 99, 0, False), {}),
        ("aten.sort", (torch.randperm(257, generator=generator),), {}),
        ("aten.sort", (torch.zeros(2, 0, 3), 0), {}),
    ]
    check_natively(calls)


def test_scatter_reduce():
    index = torch.arange(20).reshape(4, 5) % 3
    calls: list[Call] = []
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for include_self in (True, False):
            for dtype in (torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8):
                x = (X - 5).to(dtype)
                calls.append(
                    ("aten.scatter_reduce.two", (x, 0, index, x, reduce), {"include_self": include_self})
                )
    check_natively(calls)


def test_index_dtypes_and_broadcasting():
    z = torch.arange(120.0).reshape(2, 3, 4, 5)
    check_natively(
        [
            ("aten.embedding", (X, L([3, 0]).int()), {}),
            ("aten.index.Tensor", (z, [L([[1], [0]]).int(), None, L([0, -1, 2]).int()]), {}),
            ("aten.index.Tensor", (z, [None, None, L([[3]]), L([[0], [4]])]), {}),
            ("aten.index_put", (z, [None, L([[0], [2]]), L([1, 3])], torch.arange(5.0)), {}),
            ("aten.index_put", (z, [L([0, 0]), None, L(1)], torch.ones(1, 5), True), {}),
            ("aten.gather", (z, -2, torch.zeros(1, 2, 7, 5, dtype=torch.int64)), {}),
        ]
    )


def native(name: str, *args: Any) -> torch.Tensor:
    module, tensors = program_of(name, *args)
    DecomposeAten().apply(Context(), module)
    AtenToEdge().apply(Context(), module)
    [result] = run_native(module, tensors)
    return to_torch(result)


def test_arguments_stay_as_they_are():
    x, before = X.clone(), X.clone()
    index = torch.zeros(4, 5, dtype=torch.int64)
    native("aten.scatter_add", x, 1, index, x)
    native("aten.scatter.value", x, 0, index, 2.5)
    native("aten.index_put", x, [L([0, 1])], x[:2] + 1, True)
    native("aten.index_put", x, [x > 3], L(7.0))
    assert torch.equal(x, before)


def refused(module: Any, message: str):
    DecomposeAten().apply(Context(), module)
    AtenToEdge().apply(Context(), module)
    with pytest.raises(UnsupportedError, match=message):
        EdgeToLinalg().apply(Context(), module)


DEPENDENT = [*((call, (shape,)) for call, shape in operators.DEPENDENT), *operators.DEPENDENT_SEVERAL]


@pytest.mark.parametrize(("call", "shapes"), DEPENDENT, ids=lambda value: value[0])
def test_sizes_that_depend_on_the_data_are_read(call: tuple[Any, ...], shapes: tuple[tuple[Any, ...], ...]):
    name, *args = call
    expected = flatten(find_operator(f"aten.{name}")(*args))
    types = [tensor_type(shape, dtype_of(e.dtype)) for shape, e in zip(shapes, expected, strict=True)]
    module = operators.dependent_program(name, *args, types=types)
    tensors = [
        t for arg in args for t in (arg if isinstance(arg, list) else [arg]) if isinstance(t, torch.Tensor)
    ]
    for transform in (DecomposeAten(), AtenToEdge(), EdgeToLinalg()):
        transform.apply(Context(), module)
    for result, value in zip(run(module, tensors), expected, strict=True):
        compare(name, result.astype(bool) if value.dtype is torch.bool else result, value)  # stored in bytes


def test_masks_with_other_indices_are_refused():
    module, _ = program_of("aten.index_put", X, [X[:, 0] > 3, L([0, 1, 2])], L(1.0))
    refused(module, "index_put: a mask and other indices")


def test_contradiction_is_refused():
    module, _ = program_of("aten.searchsorted.Tensor", X[0], X, side="left", right=True)
    AtenToEdge().apply(Context(), module)
    with pytest.raises(ExirError, match="contradicts"):
        EdgeToLinalg().apply(Context(), module)


@pytest.mark.native
def test_rows_that_indices_select():
    """Of a matrix whole rows are copied, also between elementwise operators, of symbolic numbers of them, and of a transposed one;
    the numbers of what else is selected are looked up."""

    class Selects(torch.nn.Module):
        def forward(self, x: Any, places: Any) -> Any:
            rows = x.index_select(0, places)
            return (
                rows,
                (x * 2).index_select(-2, places.int()).relu(),
                x.t().index_select(0, places),
                x[:, :1][places],
            )

    x = torch.randn(7, 19)
    x[2, 3], x[4] = nan, torch.inf
    count = torch.export.Dim("count", min=2, max=50)
    given = torch.export.export(Selects(), (x, L([1, 0, 6])), dynamic_shapes=(None, {0: count}))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(given), "native")
    for places in (L([2, 2, 0, 6, 4]), torch.randint(0, 7, (50,))):
        for got, wanted in zip(run.flat([x.numpy(), places.numpy()]), Selects()(x, places), strict=True):
            torch.testing.assert_close(torch.as_tensor(got), wanted, rtol=0, atol=0, equal_nan=True)


@pytest.mark.native
def test_rows_of_what_is_made_of_rows_are_selected():
    """As many as there are: a kernel that makes rows has one at a time, and picks none of the others."""

    class Selects(torch.nn.Module):
        def forward(self, x: Any, places: Any) -> Any:
            table = torch.softmax(x, -1) * 2
            return table.index_select(0, places) + 1, torch.nn.functional.embedding(places, table)

    x, places = torch.randn(5, 19), L([4, 4, 0, 3, 1])
    given = torch.export.export(Selects(), (x, places))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(given), "native")
    for got, wanted in zip(run.flat([x.numpy(), places.numpy()]), Selects()(x, places), strict=True):
        torch.testing.assert_close(torch.as_tensor(got), wanted)
