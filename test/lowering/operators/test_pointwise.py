"""Pointwise operators natively: what the tests of those without decomposition call, casts, and the edges of arithmetic."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_natively, program_of, run_native, to_torch  # noqa: E402
from interpreter.operators.test_pointwise import TABLE  # noqa: E402
from interpreter_only import INTERPRETER_ONLY  # noqa: E402
from xdsl.context import Context  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.dialects.spec import find, specs  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402
from xdsl_exir.lowering import LOWERINGS  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import SCALAR_TWINS, AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:where received a uint8 condition")

L = torch.tensor
Call = tuple[str, tuple[Any, ...], dict[str, Any]]


def calls_of(names: list[str]) -> list[Call]:
    calls: list[Call] = [
        (name, call.args, call.kwargs) for name in names for makes in TABLE[name] for call in makes()
    ]
    options = {"values", "scale"}  # of `check`, for calls whose results PyTorch itself computes less exactly
    return [call for call in calls if not options & call[2].keys()]


def survives(name: str) -> bool:
    """Whether an operator reaches edge, itself or as its twin that takes a tensor."""
    return DECOMPOSITIONS.find(find(name)) is None


SURVIVING = [name for name in TABLE if survives(name)]
PARTS = 4
CALLS = calls_of(SURVIVING)[::3]
"""A third of the calls, which goes through dtypes and special numbers alike; all would take two minutes."""


def test_every_operator_that_reaches_edge_has_a_lowering():
    names = {SCALAR_TWINS.get(name, name) for name in SURVIVING} - INTERPRETER_ONLY.keys()
    assert names <= {name for name, spec in specs().items() if LOWERINGS.find(spec)}


@pytest.mark.parametrize("part", range(PARTS))
def test_agrees(part: int):
    check_natively(CALLS[part::PARTS])


def test_decomposed_operators_agree():
    """One call of each of the others: what they are made of is covered above."""
    names = [name for name in TABLE if not survives(name)]
    calls = [calls_of([name])[:1] for name in names]
    check_natively([call for calls in calls for call in calls])


# --- casts ---------------------------------------------------------------------------------------------------

DTYPES = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
]


def test_casts_between_all_dtypes():
    numbers = [0.0, 1.0, -1.0, 0.4, -0.4, 1.5, 2.5, -2.5, 99.9, -99.9, 127.0]
    calls: list[Call] = []
    for source in DTYPES:
        x = L(numbers).to(source)
        calls += [("aten._to_copy", (x,), {"dtype": target}) for target in DTYPES if target is not source]
    check_natively(calls)


def test_casts_at_the_edges():
    wide = L([300, -1, 256, 1 << 40, -(1 << 40), 65536 + 7])
    floats = L([300.7, -1.5, 255.9, 1e6, -3.7])
    calls: list[Call] = [
        ("aten._to_copy", (wide,), {"dtype": target}) for target in DTYPES if target is not torch.int64
    ]
    calls += [
        ("aten._to_copy", (floats,), {"dtype": target}) for target in (torch.uint8, torch.int8, torch.int16)
    ]
    special = L([nan, inf, -inf, 0.0, -0.0, 1e-45, 65520.0, 3e38])
    for target in (torch.bool, torch.float16, torch.bfloat16, torch.float64):
        calls.append(("aten._to_copy", (special,), {"dtype": target}))
    calls.append(("aten._to_copy", (special.double() * 1e300,), {"dtype": torch.float32}))
    check_natively(calls)


# --- semantics -----------------------------------------------------------------------------------------------


def test_nan_and_zeros():
    numbers = L([nan, 0.0, -0.0, 1.0, -1.0, inf, -inf])
    pairs = (numbers[:, None], numbers)
    names = "minimum maximum fmin fmax eq.Tensor ne.Tensor lt.Tensor ge.Tensor logical_and logical_xor atan2 hypot"
    calls: list[Call] = [
        (f"aten.{name}", tuple(x.to(dtype) for x in pairs), {})
        for name in [
            *names.split(),
            "copysign.Tensor",
            "remainder.Tensor",
            "fmod.Tensor",
            "pow.Tensor_Tensor",
        ]
        for dtype in (torch.float32, torch.bfloat16, torch.float64)
    ]
    calls += [("aten.div.Tensor_mode", pairs, {"rounding_mode": mode}) for mode in (None, "trunc", "floor")]
    check_natively(calls)


def test_sign_of_zero():
    zeros = L([0.0, -0.0])
    for name, *args in [
        ("neg",),
        ("copysign.Tensor", L([1.0, -1.0])),
        ("trunc",),
        ("sqrt",),
        ("atan2", L([1.0, 1.0])),
    ]:
        expected = getattr(torch.ops.aten, name.split(".")[0])(zeros, *args)
        assert torch.equal(native(f"aten.{name}", zeros, *args).signbit(), expected.signbit()), name


def test_bools():
    a, b = L([True, True, False, False]), L([True, False, True, False])
    names = "add.Tensor mul.Tensor div.Tensor minimum maximum bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor "
    names += (
        "eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor logical_and logical_or logical_xor atan2"
    )
    calls: list[Call] = [(f"aten.{name}", (a, b), {}) for name in names.split()]
    calls += [
        (f"aten.{name}", (a,), {})
        for name in ("bitwise_not", "logical_not", "exp", "sign", "isnan", "signbit", "sqrt")
    ]
    calls += [
        ("aten.pow.Tensor_Scalar", (a, 2), {}),
        ("aten.add.Tensor", (a, L([1, 2, 3, 4])), {}),
        ("aten.mul.Tensor", (a, L([0.5, 1, 1.5, 2])), {}),
        ("aten.add.Tensor", (a, b), {"alpha": True}),
        ("aten.where.self", (a, a, b), {}),
    ]
    check_natively(calls)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 1e30])
def test_constants_that_no_integer_is(value: float):
    """LLVM has no value for them, and gave what lay in a register."""

    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            whole = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
            return [x.to(dtype).copy_(torch.tensor(value)) for dtype in whole], x.long().copy_(value)

    x = torch.zeros(3)
    program = xdsl_exir.from_exported_program(torch.export.export(Model(), (x,)))
    for target in ("interpreter", "native"):
        made, last = Model()(x)
        for got, want in zip(
            xdsl_exir.compile(program, target).flat([x.numpy()]), [*made, last], strict=True
        ):
            assert (got == want.numpy()).all(), (target, got, want)


def test_integers_that_their_dtype_does_not_hold():
    """They divide, and are divided, as floats; what computes in integers wraps them."""
    calls: list[Call] = []
    for x in (L([250, 3], dtype=torch.uint8), L([-3, 2], dtype=torch.int8), L([True, False])):
        calls += [(f"aten.{name}", (x, -300), {}) for name in ("div.Scalar", "true_divide.Scalar")]
        calls += [(f"aten.{name}", (x, L(-300)), {}) for name in ("div.Tensor", "atan2", "add.Tensor")]
        calls += [("aten.div.Tensor_mode", (x, L(-300)), {"rounding_mode": None})]
        calls += [("aten.div.Tensor", (L(-300), x), {}), ("aten.copysign.Scalar", (x, -300), {})]
    check_natively(calls)


INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]


def test_integers_wrap_and_divide():
    calls: list[Call] = []
    for dtype in INTEGERS:
        info = torch.iinfo(dtype)
        x = L([info.min, info.min + 1, 0, 1, 7, info.max - 1, info.max], dtype=dtype)
        y = L([3, 5, 7, 1, 2, 3, 100], dtype=dtype)
        for name in (
            "add.Tensor",
            "sub.Tensor",
            "mul.Tensor",
            "remainder.Tensor",
            "fmod.Tensor",
            "floor_divide",
        ):
            calls.append((f"aten.{name}", (x[:, None], y), {}))
        calls += [
            ("aten.div.Tensor_mode", (x[:, None], y), {"rounding_mode": mode}) for mode in ("trunc", "floor")
        ]
        calls += [
            ("aten.neg", (x,), {}),
            ("aten.abs", (x,), {}),
            ("aten.gcd", (x[1:, None], y), {}),
            ("aten.pow.Tensor_Tensor", (y[:, None], L([0, 1, 2, 63, 64, 65, 100], dtype=dtype)), {}),
            ("aten.pow.Tensor_Scalar", (x, 3), {}),
        ]
        if dtype != torch.uint8:
            calls.append(("aten.floor_divide", (x[1:, None], -y), {}))
            calls.append(("aten.remainder.Tensor", (x[1:, None], -y), {}))
    check_natively(calls)


def native(name: str, *args: Any, **kwargs: Any) -> torch.Tensor:
    module, tensors = program_of(name, *args, **kwargs)
    DecomposeAten().apply(Context(), module)
    AtenToEdge().apply(Context(), module)
    [result] = run_native(module, tensors)
    return to_torch(result)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_divisions_that_pytorch_refuses_do_not_trap(dtype: torch.dtype):
    """A divisor 0 is an error, and no signal. The least integer by -1 wraps."""
    x, zeros = L([5, 0, torch.iinfo(dtype).min], dtype=dtype), torch.zeros(3, dtype=dtype)
    with pytest.raises(ExirError, match="integer division by zero"):
        native("aten.div.Tensor_mode", x, zeros, rounding_mode="trunc")
    with pytest.raises(ExirError, match="integer division by zero"):
        native("aten.fmod.Tensor", x, zeros)
    if dtype != torch.uint8:
        assert torch.equal(native("aten.div.Tensor_mode", x, zeros - 1, rounding_mode="trunc"), -x)


def test_functions_over_their_range():
    """Large and small arguments, up to those whose result overflows."""
    names = [
        "exp",
        "expm1",
        "log1p",
        "tanh",
        "sigmoid",
        "erf",
        "erfc",
        "erfinv",
        "atan",
        "asinh",
        "rsqrt",
        "reciprocal",
    ]
    sizes = torch.logspace(-30, 4, 69)
    x = torch.cat([sizes, -sizes, torch.linspace(-1, 1, 41)])
    calls: list[Call] = [
        (f"aten.{name}", (x.to(dtype),), {}) for name in names for dtype in (torch.float32, torch.float64)
    ]
    check_natively(calls)


def test_neighbours_and_parts_of_special_numbers():
    x = L([0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 1e-45, 3e-39, 1.5, 65504.0, -2.0])
    dtypes = (torch.float32, torch.float64, torch.bfloat16)
    calls: list[Call] = [("aten.nextafter", (x[:, None].to(d), x.to(d)), {}) for d in dtypes]
    calls += [("aten.frexp.Tensor", (x.to(d),), {}) for d in (torch.float32, torch.float16)]
    tiny = torch.tensor([5e-324, 1e-310, 1e300, -3.0], dtype=torch.float64)
    check_natively([*calls, ("aten.frexp.Tensor", (tiny,), {})])


def test_broadcasting():
    x, row, column = torch.randn(3, 4), torch.randn(4), torch.randn(3, 1)
    scalar, empty = torch.tensor(1.5), torch.zeros(0, 4)
    calls: list[Call] = [
        (f"aten.{name}", operands, {})
        for name in ("add.Tensor", "fmin", "hypot", "copysign.Tensor", "lt.Tensor")
        for operands in ((x, row), (column, row), (x, scalar), (scalar, scalar), (empty, row), (row, x[None]))
    ]
    calls += [
        ("aten.where.self", (column > 0, row, scalar), {}),
        ("aten.clamp.Tensor", (x, column, row), {}),
        ("aten.clamp.Tensor", (x, None, scalar), {}),
        ("aten.copy", (x, row), {}),
    ]
    check_natively(calls)


def test_sign_of_a_rounded_number():
    """LLVM 22 dies of the question for the sign bit of a bfloat16 in a register, as where one loop makes it and asks."""

    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            y = torch.log(x.to(torch.bfloat16))
            return y, y.signbit(), torch.angle(y)

    for x in (L([0.5]), L([2.0, 0.5, 1.0])):
        run = xdsl_exir.compile(
            xdsl_exir.from_exported_program(torch.export.export(Model(), (x,))),
            target="native",
            fallback="error",
        )
        for result, expected in zip(run(x), Model()(x), strict=True):
            torch.testing.assert_close(to_torch(result), expected)


FLOAT8 = [torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz, torch.float8_e4m3fnuz]


def around_floats_of_8_bits(dtype: Any) -> Any:
    """Numbers that are rounded to floats of 8 bits: these, those halfway between two, much larger and smaller ones, each with its neighbours."""
    held = torch.arange(256).byte().view(dtype).float()
    held = held[held.isfinite()].unique()
    middle = (held[1:] + held[:-1]) / 2
    numbers = torch.cat([held, middle, 2 * held, held / 64, L([0.0, -0.0, 1e-45, 3e38, -3e38])])
    beside = [torch.nextafter(numbers, L(end)) for end in (inf, -inf)]
    return torch.cat([numbers, *beside, L([inf, -inf, nan])])


@pytest.mark.parametrize("target", ["interpreter", "native"])
@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_floats_of_8_bits(dtype: Any, target: str) -> None:
    """All of them, in other dtypes, moved, and made of other numbers, which are rounded as PyTorch rounds them."""

    class Casts(torch.nn.Module):
        def forward(self, bits: Any, x: Any) -> Any:
            e = bits.view(dtype)
            square, others = e.reshape(16, 16), (torch.float64, torch.float16, torch.bfloat16, torch.bool)
            moved = (
                square.t().contiguous(),
                torch.cat([square, square], 1),
                torch.full((3,), 1.7, dtype=dtype),
            )
            made = x.to(dtype), x.double().to(dtype), x.half().to(dtype), (x > 0).to(dtype)
            return (
                [e.float(), *(e.to(other) for other in others), *(e.to(other).float() for other in FLOAT8)],
                [each.view(torch.uint8) for each in (*moved, *made)],
            )

    inputs = torch.arange(256).byte(), around_floats_of_8_bits(dtype)
    wanted = torch.utils._pytree.tree_leaves(Casts()(*inputs))
    program = xdsl_exir.from_exported_program(torch.export.export(Casts(), inputs))
    run = xdsl_exir.compile(program, target)
    for got, want in zip(run.flat(inputs), wanted, strict=True):
        torch.testing.assert_close(to_torch(got), want, rtol=0, atol=0, equal_nan=True)
