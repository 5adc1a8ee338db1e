"""Complex tensors natively: every lowering that takes them, in both dtypes; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_natively, program_of, run_native  # noqa: E402
from xdsl.dialects.func import FuncOp  # noqa: E402

import xdsl_exir  # noqa: E402
from lowering.operators.test_linear_algebra import NAMES, REAL, VALUES  # noqa: E402
from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.errors import UnsupportedError  # noqa: E402
from xdsl_exir.lowering import LOWERINGS  # noqa: E402
from xdsl_exir.lowering.driver import calls_of as dispatches_of  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")

inf, nan = float("inf"), float("nan")
UNUSUAL = torch.tensor(
    [complex(a, b) for a in (inf, -inf, nan, 1) for b in (inf, nan, 2)], dtype=torch.complex128
)
"""Numbers with parts that are infinite or NaN."""
Call = tuple[str, tuple[Any, ...], dict[str, Any]]
DTYPES = [torch.complex64, torch.complex128]
PARTS = {torch.complex64: torch.float32, torch.complex128: torch.float64}


def numbers(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(sum(shape)))


def special(dtype: torch.dtype) -> torch.Tensor:
    """Zeros of all signs, numbers on the axes, and great ones."""
    parts = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, 30.0, -30.0], dtype=PARTS[dtype])
    return torch.complex(*torch.meshgrid(parts, parts, indexing="ij"))


def ranged(dtype: torch.dtype) -> torch.Tensor:
    """Numbers around 0 on whose functions nobody differs."""
    return torch.cat([special(dtype).flatten()[14:], numbers(dtype, 20)])


def calls_of(dtype: torch.dtype) -> list[Call]:
    x, y, m = numbers(dtype, 2, 3), numbers(dtype, 1, 3), numbers(dtype, 3, 4)
    real, index = x.real.clone(), torch.tensor([1, 0])
    wide = torch.complex128 if dtype is torch.complex64 else torch.complex64
    functions = "exp exp2 log log2 log10 sqrt rsqrt sin cos tan sinh cosh tanh reciprocal neg abs angle sgn isnan isinf logical_not"
    later = "expm1 log1p sigmoid asin acos atan asinh acosh atanh"
    tiny, great = numbers(dtype, 9) * 1e-5, numbers(dtype, 9) * 50
    plain: dict[str, list[tuple[Any, ...]]] = {
        **{name: [(x,), (numbers(dtype),)] for name in functions.split()},
        **{name: [(x,), (tiny,), (great,), (special(dtype),)] for name in later.split()},
        **{name: [(ranged(dtype),)] for name in ("exp", "sqrt", "sin", "cosh", "tanh", "neg", "abs", "sgn", "logical_not")},
        **{name: [(x, y), (x, 2.5), (x, 1 + 2j), (x, real)] for name in ("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor")},
        "eq.Tensor": [(x, x), (x, y), (x, x.conj_physical())],
        "ne.Tensor": [(x, x), (x, y)],
        "pow.Tensor_Tensor": [(x, y), (torch.zeros_like(x), y.real + 3 + 0j * y)],
        **{f"logical_{name}": [(special(dtype), special(dtype).T)] for name in ("and", "or", "xor")},
        "where.self": [(real > 0, x, y)],
        "clone": [(x.T,)],
        "copy": [(x, real), (real, x)],
        "_conj": [(x,)],
        "_conj_physical": [(x,)],
        "view_as_real": [(x,), (numbers(dtype),)],
        "view_as_complex": [(torch.view_as_real(x),)],
        "complex": [(real, real.T.reshape(2, 3))],
        "polar": [(real.abs(), real)],
        "sum.dim_IntList": [(x, [0]), (x, [0, 1], True)],
        "mean.dim": [(x, [1])],
        "mean": [(x,)],
        "prod": [(x,)],
        "prod.dim_int": [(x, 1)],
        "any": [(x,)],
        "any.dim": [(x, 1)],
        "any.dims": [(x, [0, 1])],
        "cumsum": [(x, 1)],
        "cumprod": [(x, 0)],
        "logcumsumexp": [(x, 1), (numbers(dtype), 0)] + [(torch.stack([x[0, 0], z, x[0, 1]]), 0) for z in UNUSUAL.to(dtype)]
        + [(torch.tensor([0.5 + 2.5j, 0.5 - 2j, 0.5 + 2j], dtype=dtype), 0)],
        "var.correction": [(x,), (x, [1]), (special(dtype), [0])],
        "var_mean.correction": [(x, [1])],
        "linalg_vector_norm": [(x, order, [1]) for order in (0, 1, 2, 3, -2, inf, -inf)] + [(UNUSUAL.to(dtype)[:, None], 2, [1])],
        "mm": [(x, m)],
        "bmm": [(numbers(dtype, 2, 2, 3), numbers(dtype, 2, 3, 2))],
        "addmm": [(numbers(dtype, 4), x, m)],
        "addmv": [(numbers(dtype, 2), x, y[0])],
        "addbmm": [(numbers(dtype, 2, 2), numbers(dtype, 2, 2, 3), numbers(dtype, 2, 3, 2))],
        "view": [(x, [3, 2])],
        "_unsafe_view": [(x, [3, 2])],
        "view_copy": [(x, [6])],
        "permute": [(x, [1, 0])],
        "permute_copy": [(x, [1, 0])],
        "unsqueeze": [(x, 1)],
        "squeeze.dims": [(y, [0])],
        "expand": [(y, [2, 3])],
        "slice.Tensor": [(x, 1, 1, 3)],
        "select.int": [(x, 0, 1)],
        "split_with_sizes": [(x, [1, 2], 1)],
        "cat": [([x, y],)],
        "repeat": [(y, [2, 2])],
        "flip": [(x, [1])],
        "diagonal": [(m, 1)],
        "unfold": [(m, 1, 2, 1)],
        "as_strided": [(m, [2, 2], [4, 1], 1)],
        "constant_pad_nd": [(x, [1, 2], 1.5)],
        "slice_scatter": [(x, y, 0, 1, 2)],
        "diagonal_scatter": [(m, y[0])],
        "as_strided_scatter": [(m, numbers(dtype, 2, 2), [2, 2], [4, 1], 1)],
        "embedding": [(m, index)],
        "index_select": [(m, 0, index)],
        "gather": [(x, 1, index[:, None])],
        "index.Tensor": [(m, [index])],
        "index_put": [(m, [index], numbers(dtype, 2, 4)), (m, [index * 0], numbers(dtype, 2, 4), True)],
        "scatter.src": [(x, 1, index[:, None], x)],
        "scatter.value": [(x, 1, index[:, None], 2.5)],
        "scatter_add": [(x, 1, index[:, None], x)],
        "scatter_reduce.two": [(m, 0, index[:, None] * 0, m, how) for how in ("sum", "prod", "mean")],
        "masked_scatter": [(x, real > 0, m)],
        "view.dtype": [(x, to) for to in (torch.uint8, torch.int64, torch.float32, torch.float64)] + [(numbers(PARTS[dtype], 3, 4), dtype)],
        "full_like": [(x, 1 - 2j)],
        "mode": [(numbers(dtype),)],
        "kthvalue": [(numbers(dtype), 1)],
        "cummax": [(numbers(dtype), 0)],
        "cummin": [(numbers(dtype), -1)],
        "_fft_c2c": [(numbers(dtype, 3, size), [1], 0, True) for size in (1, 2, 7, 16, 17, 48, 300)]
        + [(numbers(dtype, 4, 5, 6), [0, 2], 1, False), (numbers(dtype, 6, 5), [0], 2, False), (x, [], 0, True)],
        "_fft_r2c": [(numbers(PARTS[dtype], 4, 5, 6), dims, 1, half) for dims in ([0, 2], [1]) for half in (True, False)],
        "_fft_c2r": [(numbers(dtype, 4, 5, 6), dims, 2, last) for dims, last in (([0, 2], 11), ([1], 8))],
        "_assert_tensor_metadata": [(x, None, None, dtype)],
    }  # fmt: skip
    calls: list[Call] = [(f"aten.{name}", args, {}) for name, cases in plain.items() for args in cases]
    conversions = [torch.float32, torch.float16, torch.int64, torch.bool, wide]
    calls += [("aten._to_copy", (x,), {"dtype": to}) for to in conversions]
    calls += [
        ("aten._to_copy", (x.real.to(of),), {"dtype": dtype})
        for of in (torch.bfloat16, torch.int32, torch.bool)
    ]
    return [
        *calls,
        ("aten.nonzero_static", (torch.eye(3, dtype=dtype),), {"size": 4}),
        ("aten.add.Tensor", (x, y), {"alpha": 2 - 1j}),
        ("aten.addmm", (x[:, :1], x, m), {"beta": 2, "alpha": 1j}),
    ]


WITHOUT_OPERANDS = {"full", "empty.memory_format", "empty_strided", "empty_permuted", "scalar_tensor"}
"""Folded when a program is compiled."""
NO_OPERAND_IS = {"aten.sign"}
"""One lowering with an operator that takes them (`sgn`), but PyTorch has none of complex numbers."""


def test_every_lowering_is_checked() -> None:
    called = {name for name, _, _ in calls_of(torch.complex64)} | {"aten.alias"}
    algebra = {*NAMES, *VALUES} - REAL
    called |= {f"aten.{name}" for name in WITHOUT_OPERANDS | algebra}
    entries = ((name, LOWERINGS.find(spec)) for name, spec in specs().items())
    assert (
        called
        == {name for name, entry in entries if entry and entry.options["takes_complex"]} - NO_OPERAND_IS
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_agrees(dtype: torch.dtype) -> None:
    check_natively(calls_of(dtype), scale=10)


@pytest.mark.native
@pytest.mark.parametrize("part", [torch.float32, torch.float64])
def test_parts_are_views(part: torch.dtype) -> None:
    """A product of pairs is one dispatch, and nothing is copied."""

    class Product(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return torch.view_as_real(torch.view_as_complex(x) * torch.view_as_complex(y)[2:])

    given = torch.randn(3, 2, dtype=part), torch.randn(5, 2, dtype=part)
    program = xdsl_exir.from_exported_program(torch.export.export(Product(), given)).to("buffers")
    driver = next(
        op for op in program.module.walk() if isinstance(op, FuncOp) and op.sym_name.data == "forward"
    )
    assert len(dispatches_of(driver)) == 1
    made = xdsl_exir.compile(program, "native")(*(x.numpy() for x in given))
    torch.testing.assert_close(torch.as_tensor(made), Product()(*given))


def test_division_does_not_overflow() -> None:
    great = torch.tensor([1e30 + 1e30j, 1e-30j, 3e38 + 0j])
    check_natively(
        [
            ("aten.div.Tensor", (great, great), {}),
            ("aten.abs", (great[:2],), {}),
            ("aten.reciprocal", (great,), {}),
        ]
    )


@pytest.mark.parametrize(
    ("name", "args", "reason"),
    [
        (
            "aten._fft_c2c",
            (numbers(torch.complex64, 521), [0], 0, True),
            "521 values, which has the prime factor 521",
        ),
        ("aten._fft_c2r", (numbers(torch.complex64, 522), [0], 0, 1042), "prime factor 521"),
    ],
)
def test_refusals(name: str, args: tuple[Any, ...], reason: str) -> None:
    module, tensors = program_of(name, *args)
    DecomposeAten().apply(None, module)  # pyright: ignore[reportArgumentType]
    AtenToEdge().apply(None, module)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnsupportedError, match=reason):
        run_native(module, tensors)
