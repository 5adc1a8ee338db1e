"""Reductions, scans and norms as native code against PyTorch: dims, keepdim, dtypes, NaN, ties, empty and 0-dim."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_native, program_of, run_native  # noqa: E402

from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.errors import UnsupportedError  # noqa: E402
from xdsl_exir.lowering.toolchain import ToolchainError, find_tool  # noqa: E402

try:
    find_tool("mlir-opt")
except ToolchainError as error:
    pytest.skip(str(error), allow_module_level=True)

# PyTorch warns where a variance has no degrees of freedom.
pytestmark = pytest.mark.filterwarnings("ignore:.*degrees of freedom")

FLOATS = ["float32", "float16", "bfloat16", "float64"]
INTEGERS = ["int64", "int32", "uint8"]
EMPTY = torch.empty(0, 3)
NANS = torch.tensor([[1.0, nan, 2.0, nan], [inf, 1.0, -inf, 1.0]])
TIES = torch.tensor([[2.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
NUMBER = torch.tensor(3.0)


def tensor(dtype: str, *shape: int) -> torch.Tensor:
    """Distinct small numbers in random order, zeros among them."""
    count = max(1, int(torch.tensor(shape).prod()))
    numbers = torch.randperm(count, generator=torch.Generator().manual_seed(count)) - count // 3
    kind = getattr(torch, dtype)
    if kind == torch.bool:
        return (numbers > 0).reshape(shape)
    if kind == torch.uint8:
        numbers = numbers.abs()
    return (numbers / 8 if kind.is_floating_point else numbers).to(kind).reshape(shape)


X = tensor("float32", 2, 3, 5)

Call = tuple[tuple[Any, ...], dict[str, Any]]


def call(*args: Any, **kwargs: Any) -> Call:
    return args, kwargs


def each(dtypes: list[str], *args: Any, shape: tuple[int, ...] = (2, 3), **kwargs: Any) -> list[Call]:
    """One call per dtype."""
    return [call(tensor(dtype, *shape), *args, **kwargs) for dtype in dtypes]


CASES: dict[str, list[Call]] = {
    "aten.sum": [call(X), call(EMPTY), call(X, dtype=torch.float16), call(tensor("float32", 7), dtype=torch.int64)],
    "aten.sum.dim_IntList": [
        *each([*FLOATS, *INTEGERS, "bool"], [1]), call(X, [0, -1], True), call(X, None), call(EMPTY, [0]), call(NUMBER, [-1]),
        call(torch.full((70, 90), 0.1).half(), [0])],
    "aten.mean": [call(X)],
    "aten.mean.dim": [*each(FLOATS, [-1]), call(X, [0, 2], True), call(EMPTY, [0]), call(X, [1], dtype=torch.float64)],
    "aten.prod": [*each(["float32", "int64"]), call(torch.tensor([100, 100]), dtype=torch.uint8)],
    "aten.prod.dim_int": [*each([*FLOATS, *INTEGERS, "bool"], 0), call(EMPTY, 0), call(NUMBER, 0)],
    "aten.amax": [*each([*FLOATS, *INTEGERS, "bool"], [1]), call(X, [0, -1], True), call(NANS), call(EMPTY, [1])],
    "aten.amin": [*each(["float32", *INTEGERS, "bool"], [1]), call(NANS, [1])],
    "aten.aminmax": [call(X, dim=1)],
    "aten.max": [*each(["float32", "int32"]), call(NANS)],
    "aten.min": [*each(["bfloat16", "uint8"]), call(NANS)],
    "aten.max.dim": [*each([*FLOATS, *INTEGERS, "bool"], 1), call(X, -2, True), call(NANS, 1), call(TIES, 1), call(NUMBER, 0)],
    "aten.min.dim": [*each(["float32", "uint8"], 1), call(NANS, 1), call(TIES, 1), call(EMPTY, 1)],
    "aten.max.other": [call(NANS, TIES)],
    "aten.min.other": [call(NANS, TIES)],
    "aten.argmax": [*each(["float32", "int64"], 1), call(X), call(TIES, -1, True), call(NANS)],
    "aten.argmin": [*each(["float16", "int32"], 1), call(X), call(TIES, None, True), call(NANS, 0)],
    "aten.any": [call(NANS), call(EMPTY)],
    "aten.any.dim": [*each(["float32", "uint8", "bool"], 1), call(TIES, 1, True), call(EMPTY, 0)],
    "aten.any.dims": [call(TIES, [0, 1]), call(TIES, []), call(TIES, None, True)],
    "aten.all": [call(NANS)],
    "aten.all.dim": [call(TIES, 1), call(tensor("uint8", 2, 3), 1)],
    "aten.all.dims": [call(TIES, [1])],
    "aten.var.correction": [*each(FLOATS, [1], correction=0), call(X), call(X, [0, 2], correction=0.5, keepdim=True),
                            call(TIES, [0], correction=2), call(NANS, [1])],
    "aten.var.dim": [call(X, [1], False)],
    "aten.var": [call(NUMBER)],
    "aten.std.correction": [*each(["float32", "float16"], [1], correction=0)],
    "aten.std.dim": [call(X, [-1])],
    "aten.std": [call(X)],
    "aten.var_mean.correction": [*each(FLOATS, [1]), call(X, [0, 1], keepdim=True), call(EMPTY, [0])],
    "aten.cumsum": [*each([*FLOATS, *INTEGERS, "bool"], 1), call(X, -2), call(X, 0, dtype=torch.float16), call(EMPTY, 0),
                    call(NUMBER, -1), call(torch.full((500,), 0.1), 0)],
    "aten.cumprod": [*each(["float32", "int64"], -1), call(NANS, 1)],
    "aten.logsumexp": [call(X, [1]), call(NANS, [1])],
    "aten.norm.Scalar": [call(X)],
    "aten.norm.ScalarOpt_dim": [call(X, None, [1], True)],
    "aten.linalg_vector_norm": [
        *(call(X, order, [1]) for order in (0, 1, 2, 3, -1, 0.5, inf, -inf)), *each(FLOATS), call(NANS, inf, [1]),
        call(EMPTY), call(X, dtype=torch.float64), call(-NUMBER, 3)],
    "aten.count_nonzero.dim_IntList": [call(TIES, [0])],
    "aten.count_nonzero": [call(TIES)],
    "aten.cummax": [*each(["float32", "int32", "bool"], 1), call(NANS, 1), call(TIES, -1), call(EMPTY, 0), call(NUMBER, 0)],
    "aten.cummin": [*each(["bfloat16", "uint8"], 1), call(NANS, 1), call(TIES, 0)],
    "aten.median": [call(torch.tensor([4.0, 1.0, 3.0, 2.0])), call(NANS), call(EMPTY)],
    "aten.median.dim": [call(X, 1, True), call(NANS[:1], -1), call(tensor("int32", 2, 3), 0), call(NUMBER, 0)],
}  # fmt: skip


def test_every_operator_occurs() -> None:
    assert {name for name, spec in specs().items() if spec.family == "reduction"} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str) -> None:
    for args, kwargs in CASES[name]:
        check_native(name, *args, **kwargs, scale=2)


def test_long_sums_of_short_floats_are_added_up_in_float32() -> None:
    check_native("aten.mean.dim", torch.rand(3, 3000).bfloat16(), [1])


@pytest.mark.parametrize("name", ["aten.sum", "aten.prod"])
def test_refuses_complex_numbers(name: str) -> None:
    with pytest.raises(UnsupportedError, match="dtype Complex"):
        check_native(name, torch.ones(3, dtype=torch.complex64))


def test_refuses_symbolic_sizes() -> None:
    module, tensors = program_of("aten.amax", tensor("float32", 7, 3), [0], symbols={7: "s0"})
    with pytest.raises(UnsupportedError, match="symbolic sizes"):
        run_native(module, tensors)
