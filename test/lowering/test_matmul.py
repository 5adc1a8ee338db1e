"""Matrix products as native code against PyTorch: dtypes, factors, broadcasting addends, empty and ragged shapes."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_native  # noqa: E402

from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.errors import UnsupportedError  # noqa: E402
from xdsl_exir.lowering.toolchain import ToolchainError, find_tool  # noqa: E402

try:
    find_tool("mlir-opt")
except ToolchainError as error:
    pytest.skip(str(error), allow_module_level=True)

FLOATS = ["float32", "float16", "bfloat16", "float64"]
DTYPES = [*FLOATS, "int64", "int32", "uint8"]

Shape = tuple[int, ...]
Call = tuple[tuple[Any, ...], dict[str, Any]]


def tensor(*shape: int, dtype: str = "float32") -> torch.Tensor:
    """Multiples of 1/4: products and their sums are exact in every floating-point dtype."""
    generator = torch.Generator().manual_seed(sum(shape))
    numbers = torch.randint(-4, 5, shape, generator=generator)
    kind = getattr(torch, dtype)
    return (numbers / 4 if kind.is_floating_point else numbers).to(kind)


def of(*shapes: Shape, dtype: str = "float32", **kwargs: Any) -> Call:
    """A call with tensors of these shapes."""
    return tuple(tensor(*shape, dtype=dtype) for shape in shapes), kwargs


def each(*shapes: Shape, dtypes: list[str] = DTYPES, **kwargs: Any) -> list[Call]:
    """One call per dtype."""
    return [of(*shapes, dtype=dtype, **kwargs) for dtype in dtypes]


def factors(*shapes: Shape) -> list[Call]:
    """Calls with `beta` and `alpha`; a `beta` of 0 ignores NaN."""
    first, *rest = of(*shapes)[0]
    return [
        *each(*shapes, dtypes=["float32", "float16", "int64"], beta=2, alpha=3),
        of(*shapes, beta=0.5, alpha=-1.5),
        ((torch.full_like(first, nan), *rest), {"beta": 0}),
        of((), *shapes[1:]),
    ]


CASES: dict[str, list[Call]] = {
    "aten.mm": [*each((7, 3), (3, 5)), of((2, 0), (0, 4)), of((0, 3), (3, 4)), of((37, 41), (41, 29)),
                of((37, 41), (41, 29), dtype="float64")],
    "aten.bmm": [*each((5, 2, 3), (5, 3, 4)), of((5, 2, 0), (5, 0, 4)), of((0, 2, 3), (0, 3, 4)), of((2, 17, 9), (2, 9, 33))],
    "aten.addmm": [*each((4,), (2, 3), (3, 4)), *factors((2, 1), (2, 3), (3, 4)), of((4,), (2, 0), (0, 4), beta=2)],
    "aten.baddbmm": [*each((4,), (5, 2, 3), (5, 3, 4), dtypes=FLOATS), *factors((5, 2, 4), (5, 2, 3), (5, 3, 4))],
    "aten.addbmm": [*each((4,), (5, 2, 3), (5, 3, 4)), *factors((2, 4), (5, 2, 3), (5, 3, 4)), of((4,), (0, 2, 3), (0, 3, 4))],
    "aten.addmv": [*each((2,), (2, 3), (3,)), *factors((2,), (2, 3), (3,)), of((1,), (2, 3), (3,))],
    "aten.matmul": [of((3,), (3,)), of((2, 3), (3,)), of((3,), (4, 3, 6)), of((5, 1, 2, 3), (4, 3, 6))],
    "aten.linalg_matmul": [of((4, 2, 3), (3, 6))],
    "aten.linear": [of((4, 2, 3), (6, 3), (6,)), of((2, 3), (6, 3)), of((2, 3), (6, 3), (6,), dtype="bfloat16")],
    "aten.dot": [*each((3,), (3,)), of((0,), (0,))],
    "aten.vdot": [of((3,), (3,))],
    "aten.mv": [*each((2, 3), (3,), dtypes=["float16", "int32"]), of((2, 0), (0,))],
    "aten.outer": [of((2,), (3,))],
    "aten.chain_matmul": [(([tensor(2, 3), tensor(3, 4), tensor(4, 2)],), {})],
    "aten.tensordot": [((tensor(2, 3, 4), tensor(4, 2, 5), [0, 2], [1, 0]), {})],
    "aten.einsum": [(("bhid,bhjd->bhij", [tensor(2, 3, 4, 5), tensor(2, 3, 6, 5)]), {}),
                    (("ij,j->i", [tensor(2, 3, dtype="int64"), tensor(3, dtype="int64")]), {})],
}  # fmt: skip


def test_every_operator_occurs() -> None:
    assert {name for name, spec in specs().items() if spec.family == "matmul"} == set(CASES)


@pytest.mark.filterwarnings("ignore:torch.chain_matmul is deprecated")
@pytest.mark.parametrize("name", CASES)
def test_operator(name: str) -> None:
    for args, kwargs in CASES[name]:
        check_native(name, *args, **kwargs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats_are_added_up_in_float32(dtype: str) -> None:
    check_native(
        "aten.mm", *(torch.rand(*shape).to(getattr(torch, dtype)) for shape in ((4, 3000), (3000, 5)))
    )


def test_refuses_complex_numbers() -> None:
    with pytest.raises(UnsupportedError, match="dtype Complex"):
        check_native(
            "aten.mm", torch.ones(2, 2, dtype=torch.complex64), torch.ones(2, 2, dtype=torch.complex64)
        )
