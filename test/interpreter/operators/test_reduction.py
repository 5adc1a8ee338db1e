"""Every reduction, scan and norm against PyTorch: dims, keepdim, dtypes, NaN, ties, empty and 0-dim tensors."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from differential import check, check_symbolic, program_of, run  # noqa: E402

from xdsl_exir.dialects.meta import MetaError  # noqa: E402
from xdsl_exir.dialects.promotion import DtypeError  # noqa: E402
from xdsl_exir.dialects.spec import find, specs  # noqa: E402

# PyTorch warns where a variance has no degrees of freedom.
pytestmark = pytest.mark.filterwarnings("ignore:.*degrees of freedom")

FLOATS = ["float32", "float16", "bfloat16", "float64"]
REALS = [*FLOATS, "int64", "int32", "uint8"]
ALL = [*REALS, "bool", "complex64"]


def tensor(dtype: str, *shape: int) -> torch.Tensor:
    """Distinct small numbers in random order, zeros among them."""
    count = max(1, int(torch.tensor(shape).prod()))
    numbers = torch.randperm(count, generator=torch.Generator().manual_seed(count)) - count // 3
    kind = getattr(torch, dtype)
    if kind == torch.bool:
        return (numbers > 0).reshape(shape)
    if kind == torch.uint8:
        numbers = numbers.abs()
    return (numbers / 8 if kind.is_floating_point or kind.is_complex else numbers).to(kind).reshape(shape)


EMPTY = torch.empty(0, 3)
NANS = torch.tensor([[1.0, nan, 2.0, nan], [inf, 1.0, -inf, 1.0]])
TIES = torch.tensor([[2.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0]])

Call = tuple[tuple[Any, ...], dict[str, Any]]


def call(*args: Any, **kwargs: Any) -> Call:
    return args, kwargs


def each(dtypes: list[str], *args: Any, shape: tuple[int, ...] = (2, 3, 4), **kwargs: Any) -> list[Call]:
    """One call per dtype."""
    return [call(tensor(dtype, *shape), *args, **kwargs) for dtype in dtypes]


def over_dims(*specials: torch.Tensor, **kwargs: Any) -> list[Call]:
    """Calls of operators that take a list of dims and `keepdim`."""
    x = tensor("float32", 2, 3, 4)
    return [
        *(
            call(x, dims, keepdim=keep, **kwargs)
            for dims in ([], [0], [-1, 0], [1, 2])
            for keep in (False, True)
        ),
        *(call(value, dims, **kwargs) for value in specials for dims in ([], [1])),
        call(torch.tensor(3.0), [0], **kwargs),
        call(torch.tensor(3.0), [-1], keepdim=True, **kwargs),
        call(torch.tensor(3.0), [], **kwargs),
    ]


def over_dim(*specials: torch.Tensor) -> list[Call]:
    """Calls of operators that take one dim and `keepdim`."""
    x = tensor("float32", 2, 3, 4)
    return [
        *(call(x, dim, keep) for dim in (0, 1, -1) for keep in (False, True)),
        *(call(value, 1) for value in specials),
        call(EMPTY, 1),
        call(torch.tensor(3.0), 0),
        call(torch.tensor(3.0), -1, True),
    ]


def over_quantile() -> list[Call]:
    return [call(tensor("float32", 4, 5), 0.6, *rest) for rest in ((), (1,), (0, True))]


def dtype_arguments(*args: Any) -> list[Call]:
    return [
        call(tensor("float32", 5), *args, dtype=torch.float64),
        call(tensor("float32", 5), *args, dtype=torch.float16),
        call(tensor("float32", 5), *args, dtype=torch.int64),
        call(tensor("int32", 5), *args, dtype=torch.float32),
        call(tensor("int64", 5), *args, dtype=torch.int32),
    ]


CASES: dict[str, list[Call]] = {
    "aten.sum": [*each(ALL), *dtype_arguments(), call(EMPTY), call(NANS), call(torch.tensor(True)),
                 call(torch.tensor([0.6, 0.6]), dtype=torch.bool), call(torch.tensor([100, 100]), dtype=torch.int8)],
    "aten.sum.dim_IntList": [*over_dims(EMPTY, NANS), *each(ALL, [1]), *dtype_arguments([0]), call(NANS, None)],
    "aten.mean": [*each([*FLOATS, "complex64"]), call(EMPTY), call(tensor("int64", 5), dtype=torch.float32)],
    "aten.mean.dim": [*over_dims(EMPTY, NANS), *each([*FLOATS, "complex64"], [-1]), call(NANS, None),
                      call(EMPTY, [0]), call(tensor("float16", 5), [0], dtype=torch.float64)],
    "aten.prod": [*each(ALL, shape=(5,)), *dtype_arguments(), call(EMPTY),
                  call(torch.tensor([100, 100]), dtype=torch.uint8)],
    "aten.prod.dim_int": [*over_dim(NANS), *each(ALL, 0, shape=(5, 2)), call(EMPTY, 0), *dtype_arguments(0)],
    "aten.amax": [*over_dims(NANS, TIES), *each([*REALS, "bool"], [1]), call(EMPTY, [1])],
    "aten.amin": [*over_dims(NANS, TIES), *each([*REALS, "bool"], [1]), call(EMPTY, [1])],
    "aten.aminmax": [*each([*REALS, "bool"]), *each(FLOATS, dim=1, keepdim=True), call(NANS, dim=-1),
                     call(torch.tensor(1.0), dim=0, keepdim=True), call(NANS, keepdim=True)],
    "aten.max": [*each([*REALS, "bool"]), call(NANS), call(torch.tensor(1))],
    "aten.min": [*each([*REALS, "bool"]), call(NANS), call(torch.tensor(1))],
    "aten.max.dim": [*over_dim(NANS, TIES), *each([*REALS, "bool"], 1)],
    "aten.min.dim": [*over_dim(NANS, TIES), *each([*REALS, "bool"], 1)],
    "aten.max.other": [call(NANS, TIES), call(NANS, tensor("int64", 4)), call(tensor("uint8", 4), tensor("bool", 4))],
    "aten.min.other": [call(NANS, TIES), call(NANS, tensor("int64", 4)), call(tensor("uint8", 4), tensor("bool", 4))],
    "aten.argmax": [*over_dim(NANS, TIES), *each(REALS), *each(REALS, 1), call(NANS), call(TIES, None, True)],
    "aten.argmin": [*over_dim(NANS, TIES), *each(REALS), *each(REALS, 1), call(NANS), call(TIES, None, True)],
    "aten.any": [*each(ALL), call(EMPTY), call(NANS), call(torch.tensor(0))],
    "aten.any.dim": [*over_dim(NANS, TIES), *each(ALL, 1), call(EMPTY, 0)],
    "aten.any.dims": [*over_dims(NANS, TIES, EMPTY), *each(ALL, [1, 2]), call(TIES), call(TIES, keepdim=True)],
    "aten.all": [*each(ALL), call(EMPTY), call(NANS), call(torch.tensor(0))],
    "aten.all.dim": [*over_dim(NANS, TIES), *each(ALL, 1), call(EMPTY, 0)],
    "aten.all.dims": [*over_dims(NANS, TIES, EMPTY), *each(ALL, [1, 2]), call(TIES), call(TIES, keepdim=True)],
    "aten.var.correction": [*over_dims(NANS, EMPTY), *each(FLOATS, [1], correction=0), call(TIES),
                            *over_dims(correction=5), call(TIES, [0, 1], correction=0.5, keepdim=True),
                            *each(["complex64"], [1])],
    "aten.var.dim": [*over_dims(NANS), *each(FLOATS, [1], False), call(TIES, None, True, True)],
    "aten.var": [*each(FLOATS), *each(FLOATS, False), call(torch.tensor([1.0])), call(torch.tensor(1.0))],
    "aten.std.correction": [*over_dims(NANS), *each(FLOATS, [1], correction=0), call(TIES), *each(["complex64"], [1])],
    "aten.std.dim": [*over_dims(NANS), *each(FLOATS, [1], False), call(TIES, None, True, True)],
    "aten.std": [*each(FLOATS), *each(FLOATS, False), call(torch.tensor([1.0]))],
    "aten.var_mean.correction": [*over_dims(NANS), *each(FLOATS, [1], correction=0), call(TIES)],
    "aten.cumsum": [*each(ALL, 1), *each(["float32"], -1), *dtype_arguments(0), call(EMPTY, 0), call(NANS, 1),
                    call(torch.tensor(1), -1)],
    "aten.cumprod": [*each(ALL, 1), *each(["float32"], -1), *dtype_arguments(0), call(EMPTY, 0), call(NANS, 1),
                     call(torch.tensor(1), -1)],
    "aten.logsumexp": [*over_dims(EMPTY)[2:8], call(NANS, [1]), call(EMPTY, []), *each(FLOATS, [1, 2]), *each(["int64", "bool"], [0]),
                       call(torch.full((2, 2), -inf), [0]), call(torch.full((2, 2), inf), [0], True), call(EMPTY, [0])],
    "aten.norm.Scalar": [*each([*FLOATS, "complex64"]), call(NANS), *each(FLOATS, 1), *each(FLOATS, inf)],
    "aten.norm.ScalarOpt_dim": [call(TIES, None, [0]), call(TIES, 2, []), call(TIES, 3, [-1], True), *each(FLOATS, 0, [0])],
    "aten.linalg_vector_norm": [
        call(torch.tensor([complex(inf, nan), 1 + 1j])),
        *(call(tensor("float32", 3, 4), order, dims) for order in (0, 1, 2, 3, -1, 0.5, inf, -inf) for dims in (None, [0], [-1])),
        *each([*FLOATS, "complex64"]), call(NANS, 0), call(NANS, inf, [1]), call(EMPTY), call(EMPTY, inf, [1]),
        call(TIES, 2, [], True), call(TIES, dtype=torch.float64), call(torch.tensor(-2.0), 3)],
    "aten.count_nonzero.dim_IntList": [*each(ALL, [0, 2]), call(TIES, []), call(EMPTY, [0])],
    "aten.count_nonzero": [*each(ALL), *each(ALL, 1), call(NANS, -1), call(torch.tensor(1.0), 0)],
    "aten.cummax": [*each([*REALS, "bool"], 1), call(NANS, 1), call(TIES, -1), call(EMPTY, 0), call(EMPTY, 1),
                    call(torch.tensor(1.0), 0)],
    "aten.cummin": [*each([*REALS, "bool"], 1), call(NANS, 1), call(TIES, -1), call(EMPTY, 0), call(EMPTY, 1),
                    call(torch.tensor(1.0), 0)],
    "aten.median": [*each(REALS), call(NANS), call(EMPTY), call(torch.tensor([4.0, 1.0, 3.0, 2.0])), call(torch.tensor(1))],
    "aten.median.dim": [*over_dim(NANS[:1]), *each(REALS, 1)],
    "aten.special_logsumexp": [*each(FLOATS, [1, 2])],
    "aten.nansum": [*over_dims(EMPTY, NANS), *each([*REALS, "bool"], [1]), call(NANS), call(NANS, None, True),
                    call(NANS, [1], dtype=torch.float64)],
    "aten.nanmean": [*over_dims(EMPTY, NANS), *each(FLOATS, [1]), call(NANS), call(NANS, [1], dtype=torch.float64)],
    "aten.var_mean": [*each(FLOATS), *each(FLOATS, False)],
    "aten.var_mean.dim": [*over_dims(NANS), *each(FLOATS, [1], False)],
    "aten.std_mean": [*each([*FLOATS, "complex64"]), *each(FLOATS, False)],
    "aten.std_mean.dim": [*over_dims(NANS), *each([*FLOATS, "complex64"], [1], False)],
    "aten.std_mean.correction": [*over_dims(NANS), *each([*FLOATS, "complex64"], [1], correction=0), call(TIES)],
    "aten.nanmedian": [*each(REALS), call(NANS), call(EMPTY), call(torch.tensor(nan)), call(torch.tensor([nan, 3.0, 1.0, 2.0]))],
    "aten.nanmedian.dim": [*over_dim(NANS[:1]), *each(FLOATS, 1), call(torch.tensor([[nan, nan, 2.0], [nan, 1.0, 0.0]]), 0)],
    "aten.logcumsumexp": [*each(FLOATS, 1), call(NANS, 1), call(EMPTY, 0), call(torch.tensor(1.0), -1),
                          call(torch.tensor([-inf, -inf, 1.0, inf, 2.0]), 0)],
    "aten.quantile": [
        *(call(tensor("float32", 4, 5), torch.tensor(q), *rest, interpolation=kind)
          for kind in ("linear", "lower", "higher", "midpoint", "nearest")
          for q in (0.3, [0.0, 0.55, 1.0]) for rest in ((), (0,), (-1, True), (None, True))),
        call(NANS, torch.tensor([0.5]), 1), call(torch.tensor(3.0), torch.tensor([0.5]), 0, True)],
    "aten.nanquantile": [
        *(call(tensor("float32", 4, 5), torch.tensor(q), *rest, interpolation=kind)
          for kind in ("linear", "lower", "higher", "midpoint", "nearest")
          for q in (0.3, [0.0, 0.55, 1.0]) for rest in ((), (0,), (-1, True), (None, True))),
        call(NANS, torch.tensor([0.5, 0.9]), 1), call(NANS, torch.tensor(0.3)), call(torch.full((2,), nan), torch.tensor(0.5)), call(torch.tensor(3.0), torch.tensor([0.5]), 0, True)],
    "aten.nanquantile.scalar": over_quantile(),
    "aten.trace": [*each(REALS, shape=(3, 4)), call(EMPTY), call(tensor("complex64", 3, 3))],
    "aten.dist": [*(call(tensor("float32", 2, 3), tensor("float32", 3), p) for p in (0, 1, 2, 0.5, inf, -inf)), call(NANS, TIES),
                  call(tensor("float16", 4), tensor("float32", 4)), call(tensor("complex64", 4), tensor("float32", 4))],
    "aten.renorm": [*each([*FLOATS, "complex64"], 2, 1, 0.5), call(TIES, 1, 0, 3), call(TIES, inf, -1, 1), call(NANS, 2, 0, 1), call(EMPTY, 2, 1, 1)],
    "aten.sum_to_size": [*each(ALL, [1, 4]), call(TIES, [4]), call(TIES, [2, 4]), call(TIES, []), call(EMPTY, [1, 3]), call(torch.tensor(True), [])],
    "aten.hash_tensor": [*each([*REALS, "bool"]), *each(["float32", "int32"], [0, -1], keepdim=True), call(NANS, [1]), call(torch.tensor([-1], dtype=torch.int8)), call(torch.tensor(-0.0))],
    "aten.mode": [*each([*REALS, "bool"], 1), call(TIES), call(TIES, 0, True), call(torch.tensor(3.0)), call(torch.tensor([[1, 2, 2, 1], [3, 3, 0, 0]])),
                  call(torch.ones(2, 0), 0), call(torch.tensor([[nan, 1.0, 1.0]]))],
    "aten.histc": [*each(FLOATS, 4), call(tensor("float32", 50), 10, -3, 2), call(torch.tensor([1.0, 1.0]), 3), call(torch.ones(0), 3),
                   call(torch.tensor([1.0, nan, 2.0]), 3, 0, 3), call(tensor("bfloat16", 50), 7), call(tensor("float32", 4), 3, 2, 2)],
    "aten.histogram.bin_ct": [*each(["float32", "float64"], 4), call(tensor("float32", 50), 7, density=True), call(torch.ones(2), 3), call(torch.ones(0), 3),
                              call(tensor("float32", 8), 3, range=[-1.0, 0.5]), call(tensor("float32", 8), 3, weight=tensor("float32", 8), density=True)],
    "aten.histogram.bins_tensor": [call(tensor("float32", 50), torch.tensor([-1.0, 0.0, 0.125, 2.0, 2.0])), call(TIES, torch.tensor([1.0, 1.0])),
                                   call(NANS, torch.tensor([0.0, 1.0, 2.0]), weight=TIES, density=True)],
    "aten._histogramdd_bin_edges": [call(tensor("float32", 20, 2), [2, 3]), call(tensor("float64", 4, 5, 1), [3], range=[-1.0, 2.0]), call(torch.ones(3, 1), [2])],
    "aten._histogramdd_from_bin_cts": [call(tensor("float32", 20, 2), [2, 3]), call(tensor("float64", 4, 5, 1), [3], range=[-1.0, 2.0], density=True),
                                       call(tensor("float32", 20, 2), [2, 3], weight=tensor("float32", 20))],
    "aten._histogramdd_from_bin_tensors": [call(tensor("float32", 20, 2), [torch.tensor([-1.0, 0.0, 1.0]), torch.tensor([-2.0, 0.125, 3.0, 3.5])]),
                                           call(tensor("float32", 20, 1), [torch.tensor([-1.0, 0.0, 1.0])], weight=tensor("float32", 20), density=True)],
    "aten.segment_reduce": [
        *(call(tensor("float32", 6, 2), kind, lengths=torch.tensor([2, 0, 4]), **rest) for kind in ("sum", "mean", "max", "min", "prod") for rest in ({}, {"initial": 2})),
        *(call(tensor("float32", 6), kind, offsets=torch.tensor([0, 2, 2, 6])) for kind in ("sum", "mean", "max", "min", "prod")),
        call(tensor("float32", 2, 3, 2), "sum", lengths=torch.tensor([[2, 1], [1, 2]]), axis=1), call(NANS, "max", lengths=torch.tensor([1, 1])),
        call(tensor("bfloat16", 6), "mean", lengths=torch.tensor([2, 1], dtype=torch.int32), unsafe=True), call(torch.ones(0, 2), "sum", lengths=torch.tensor([0, 0]))],
    "aten.trapezoid.x": [*each([*REALS, "complex64"], tensor("float32", 3), dim=1), call(tensor("float32", 3, 4), tensor("float32", 3, 4)), call(tensor("float32", 2, 3, 4), tensor("float32", 3, 4), dim=1),
                         call(EMPTY, torch.ones(0), dim=0), call(TIES, torch.arange(4))],
    "aten.trapezoid.dx": [*each([*REALS, "complex64"], dim=1), call(TIES, dx=0.5), call(EMPTY, dim=0), call(EMPTY), call(torch.ones(1))],
    "aten.trapz.x": [call(TIES, tensor("float32", 4))],
    "aten.trapz.dx": [call(TIES, dx=0.5, dim=0)],
    "aten.cumulative_trapezoid.x": [*each([*REALS, "complex64"], tensor("float32", 3), dim=1), call(tensor("float32", 3, 4), tensor("float32", 3, 4)), call(TIES, torch.arange(4))],
    "aten.cumulative_trapezoid.dx": [*each([*REALS, "complex64"], dim=1), call(TIES, dx=0.5), call(torch.ones(1)), call(EMPTY, dim=0)],
    "aten.gradient.scalarint": [*each([*FLOATS, "int64", "int32", "complex64"], shape=(3, 4)), call(tensor("float32", 4, 3), dim=-1, spacing=0.5, edge_order=2), call(NANS, dim=1)],
    "aten.gradient.scalararray": [call(tensor("float32", 4, 3), spacing=2, dim=[1, 0])],
    "aten.gradient.array": [call(tensor("float32", 4, 3), dim=[-1])],
    "aten.gradient.scalarrayint": [call(tensor("float32", 4, 3), spacing=[2, 0.5]), call(tensor("float32", 4, 3), spacing=[2], dim=1)],
    "aten.gradient.scalarrayarray": [call(tensor("float32", 4, 3), spacing=[2, 0.5], dim=[1, 0], edge_order=2)],
    "aten.gradient.tensorarrayint": [call(tensor("float32", 4, 3), spacing=[torch.tensor([0.0, 1.0, 4.0, 4.5]), torch.tensor([1.0, 2.0, 4.0])], edge_order=order) for order in (1, 2)],
    "aten.gradient.tensorarray": [call(tensor("float32", 4, 3), spacing=[torch.tensor([1, 2, 4])], dim=[1])],
    "aten.quantile.scalar": [*over_quantile(), call(tensor("float64", 4, 5), 0.25, 0, True, interpolation="nearest")],
}  # fmt: skip

REFUSED: list[tuple[str, Call]] = [
    *((f"aten.{name}", call(EMPTY)) for name in ("max", "min", "argmax", "argmin", "aminmax", "amax", "amin")),
    *((f"aten.{name}", call(EMPTY, 0)) for name in ("max.dim", "min.dim", "argmax", "median.dim")),
    *((f"aten.{name}", call(EMPTY, 2)) for name in ("max.dim", "any.dim", "all.dim", "prod.dim_int", "cumsum", "cummax")),
    *((f"aten.{name}", call(EMPTY, [-3])) for name in ("sum.dim_IntList", "mean.dim", "logsumexp", "var.correction")),
    *((f"aten.{name}", call(TIES, [0, -2])) for name in ("sum.dim_IntList", "amax", "any.dims", "all.dims", "std.dim")),
    ("aten.linalg_vector_norm", call(EMPTY, inf)),
    ("aten.linalg_vector_norm", call(EMPTY, -1, [0])),
    ("aten.count_nonzero", call(EMPTY, 2)),
    ("aten.count_nonzero.dim_IntList", call(EMPTY, [2])),
    ("aten.max.other", call(EMPTY, TIES)),
    ("aten.mean", call(tensor("int64", 3))),
    ("aten.argmax", call(tensor("bool", 3))),
    ("aten.var", call(tensor("int64", 3))),
    ("aten.norm.Scalar", call(tensor("int64", 3))),
    ("aten.trace", call(tensor("float32", 3))),
    ("aten.mode", call(EMPTY, 0)),
    ("aten.hash_tensor", call(EMPTY)),
    ("aten.renorm", call(torch.ones(3), 2, 0, 1)),
    ("aten.sum_to_size", call(TIES, [3])),
    ("aten.histc", call(TIES, 3, 5, 2)),
    ("aten.gradient.scalarint", call(torch.ones(2), edge_order=2)),
    ("aten.segment_reduce", call(torch.ones(2, 3), "sum", lengths=torch.tensor([1, 1]), axis=1)),
    ("aten.trapezoid.x", call(TIES, torch.ones(3))),
]  # fmt: skip


def test_every_operator_occurs() -> None:
    # test_indexing has `bincount`, whose size depends on the data.
    assert {name for name, spec in specs().items() if spec.family == "reduction"} == {*CASES, "aten.bincount"}


@pytest.mark.parametrize("spacing", [2.0, -0.5])
@pytest.mark.parametrize("edge_order", [1, 2])
def test_zero_slopes_have_the_sign_of_the_distance(edge_order: int, spacing: float) -> None:
    module, tensors = program_of(
        "aten.gradient.scalarint", torch.ones(6), spacing=spacing, edge_order=edge_order
    )
    [slopes] = run(module, tensors)
    expected = torch.gradient(torch.ones(6), spacing=spacing, edge_order=edge_order)[0]
    assert np.signbit(slopes).tolist() == torch.signbit(expected).tolist()


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str) -> None:
    for args, kwargs in CASES[name]:
        # Norms add up in another order than PyTorch's vector units.
        check(name, *args, **kwargs, scale=2)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("aten.sum", call(tensor("float32", 7, 11))),
        ("aten.mean.dim", call(tensor("float32", 7, 4, 11), [-1], True)),
        ("aten.max.dim", call(tensor("float32", 7, 4, 11), 0)),
        ("aten.logsumexp", call(tensor("float32", 7, 11), [1])),
        ("aten.std.dim", call(tensor("float32", 7, 4, 11), [0, 2])),
        ("aten.cumsum", call(tensor("int64", 7, 11), 1)),
    ],
)
def test_symbolic_sizes(name: str, arguments: Call) -> None:
    args, kwargs = arguments
    check_symbolic({7: "s0", 11: "s1"}, name, *args, **kwargs)


@pytest.mark.parametrize(("name", "arguments"), REFUSED)
def test_refuses(name: str, arguments: Call) -> None:
    args, kwargs = arguments
    assert find(name).schema
    with pytest.raises((MetaError, DtypeError)):
        program_of(name, *args, **kwargs)
