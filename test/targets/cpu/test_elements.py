"""Elements on vectors: every dtype that kernels take natively, functions of float64, and what code is told beside its kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.lowering.bfloat16_bits import bfloat16_as_bits
from xdsl_exir.lowering.distinct import DistinctObjectsOp, say_distinct
from xdsl_exir.program import context
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import Rows

torch = pytest.importorskip("torch")


class Calling(torch.nn.Module):
    """Functions as a module of as many results."""

    def __init__(self, *calls: Callable[..., Any]):
        super().__init__()
        self.calls = calls

    def forward(self, *args: Any) -> Any:
        return tuple(call(*args) for call in self.calls)


def edge_of(calls: list[Callable[..., Any]], *args: Any) -> Any:
    return xdsl_exir.from_exported_program(torch.export.export(Calling(*calls), args)).to_edge()


ANY: list[Callable[..., Any]] = [
    lambda x, y: x + y,
    lambda x, y: x * y[0],
    lambda x, y: x - y[:, :1],
    lambda x, y: torch.maximum(x, y),
    lambda x, y: (x > y) & (x != 2),
    lambda x, y: torch.where(x > y, x, -y),
    lambda x, y: x.clamp(-2, 3),
    *[lambda x, y, to=to: (x * 2).to(to) for to in (torch.float32, torch.float64, torch.int32, torch.int64)],
    *[lambda x, y, to=to: (x + 1).to(to) for to in (torch.bfloat16, torch.float16, torch.bool)],
]
OF_INTEGERS: list[Callable[..., Any]] = [lambda x, y: (x << 2) ^ y, lambda x, y: x.abs() & 5, lambda x, y: ~x]
OF_FLOATS: list[Callable[..., Any]] = [lambda x, y: (x / 4).floor() + y.trunc(), lambda x, y: x.abs() * 0.5]


@pytest.mark.native
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "int32"])
def test_every_dtype(dtype: str) -> None:
    torch.manual_seed(0)
    x, y = ((torch.randn(37, 61) * 5).to(getattr(torch, dtype)) for _ in range(2))
    if x.dtype.is_floating_point:
        x[0, :6] = torch.tensor([math.nan, -math.inf, -0.0, 3e38, 1e-40, 0.0]).to(x.dtype)
    calls = [*ANY, *(OF_FLOATS if x.dtype.is_floating_point else OF_INTEGERS)]
    edge = edge_of(calls, x, y)
    given = [each if each.dtype is torch.bfloat16 else each.numpy() for each in (x, y)]
    run = xdsl_exir.compile(edge, "native")
    for number, (got, wanted) in enumerate(zip(run.flat(given), Calling(*calls)(x, y), strict=True)):
        array = wanted.float().numpy() if wanted.dtype is torch.bfloat16 else wanted.numpy()
        keep = slice(1, None) if wanted.dtype in (torch.int32, torch.int64, torch.bool) else slice(None)
        np.testing.assert_array_equal(np.asarray(got).astype(array.dtype)[keep], array[keep], str(number))
    kernels = plan_program(edge).dispatches
    assert kernels.scheduled
    assert all(isinstance(kernel, Rows) for kernel in kernels.scheduled)


@pytest.mark.native
@pytest.mark.parametrize("dtype", ["float64", "int64", "int32", "int16", "bool", "float16", "float32"])
@pytest.mark.parametrize("length", [8, 200])
def test_parts_of_what_is_computed(dtype: str, length: int) -> None:
    """As gates of a recurrent network are: a part is read out of memory that holds the dtype."""

    def gates(x: Any, y: Any) -> Any:
        first, second = (x + y).chunk(2, -1)
        return first * second, first

    torch.manual_seed(0)
    x, y = (torch.randint(0, 99, (3, length)).to(getattr(torch, dtype)) for _ in range(2))
    got = xdsl_exir.compile(edge_of([gates], x, y), "native").flat([x.numpy(), y.numpy()])
    for array, wanted in zip(got, gates(x, y), strict=True):
        np.testing.assert_array_equal(np.asarray(array), wanted.numpy())


@pytest.mark.native
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_what_moves_halves(dtype: str) -> None:
    """Bits stay, through dispatches without a kernel as well."""
    x = (
        torch.arange(-(2**15), 2**15, dtype=torch.int32)
        .to(torch.int16)
        .view(getattr(torch, dtype))
        .view(256, 256)
    )
    x = torch.where(x.isnan(), 1, x)
    calls: list[Callable[..., Any]] = [
        lambda x: torch.cat([x, x.flip(0)], 1),
        lambda x: x.triu(),
        lambda x: torch.nn.functional.pad(x[None], (1, 2), mode="reflect"),
        lambda x: torch.stack([x, x], -1),
        lambda x: x.roll(3, 1),
        lambda x: x[torch.tensor([3, 1])],
        lambda x: torch.nn.functional.embedding(torch.tensor([7, 0, 7]), x),
    ]
    run = xdsl_exir.compile(edge_of(calls, x), "native")
    given = x if dtype == "bfloat16" else x.numpy()
    for number, (got, wanted) in enumerate(zip(run.flat([given]), Calling(*calls)(x), strict=True)):
        bits = np.asarray(got).view(np.int16)
        np.testing.assert_array_equal(bits, wanted.contiguous().view(torch.int16).numpy(), str(number))


@pytest.mark.parametrize("call", [torch.div, torch.reciprocal, torch.maximum], ids=lambda call: call.__name__)
def test_what_is_not_narrowed_to_halves(call: Callable[..., Any]) -> None:
    """LLVM would divide, and compare, the halves themselves, where that takes longer."""
    given = [torch.randn(4, 64).half() for _ in range(1 if call is torch.reciprocal else 2)]
    text = str(edge_of([call], *given).to("kernels"))
    assert "arith.extf" in text
    assert "llvm.arithmetic.fence" in text
    wide = str(edge_of([call], *[x.float() for x in given]).to("kernels"))
    assert "llvm.arithmetic.fence" not in wide


@pytest.mark.native
def test_buffered_halves() -> None:
    """What rows keep between passes is float32: halves are held by it."""
    x = torch.randn(3, 700).bfloat16()
    calls: list[Callable[..., Any]] = [lambda x: torch.softmax((x + 1).float(), -1) * (x + 1)]
    (got,) = xdsl_exir.compile(edge_of(calls, x), "native").flat([x])
    np.testing.assert_allclose(np.asarray(got).astype("f4"), calls[0](x).float(), rtol=2e-6)


SPECIAL = [
    0.0,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
    1.0,
    -1.0,
    5e-324,
    709.7,
    709.9,
    -745.1,
    -745.2,
    1e308,
    9.9e5,
    1e7,
]
PARTIAL = {"log": {0.0: -math.inf}}


@pytest.mark.native
@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "atan", "tanh", "erf"])
def test_functions_of_float64(name: str) -> None:
    torch.manual_seed(0)
    scales = (1e-310, 1e-30, 1e-9, 1e-3, 0.3, 1, 3, 30, 300, 1e5)
    near = [k * math.pi / 2 for k in range(1, 50)]
    x = torch.cat(
        [*(torch.randn(500) * scale for scale in scales), torch.tensor(SPECIAL + near).double()]
    ).double()

    def libm(value: float) -> float:
        try:
            return getattr(math, name)(value)
        except ValueError:
            return PARTIAL.get(name, {}).get(value, math.nan)
        except OverflowError:
            return math.inf

    wanted = np.array([libm(float(value)) for value in x])
    (got,) = xdsl_exir.compile(edge_of([getattr(torch, name)], x), "native").flat([x.numpy()])
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(got[~finite], wanted[~finite])
    np.testing.assert_array_equal(np.signbit(got[finite]), np.signbit(wanted[finite]))
    apart = np.abs(got[finite] - wanted[finite])
    assert np.all(apart <= 3 * np.spacing(np.abs(wanted[finite])))


SPECIAL = [
    0.0, 1.0, 2.0, 3.0, 0.5, 2.5, math.inf, math.nan, 1e-40, 1e-45, 1e30, 3e38, 127.0, 128.0, 149.0, 150.0, 2.0**23, 2.0**24,
    2.0**24 + 2, 2.0**24 - 1, 1 + 2.0**-23, 1 - 2.0**-24,
]  # fmt: skip


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_remainder(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    special = torch.tensor(SPECIAL, dtype=dtype)
    scales = (1e-30, 1e-3, 1, 1e5, 1e30)
    x = torch.cat([*(torch.randn(500, dtype=dtype) * scale for scale in scales), special, -special])
    y = x[torch.randperm(len(x))]
    (got,) = xdsl_exir.compile(edge_of([torch.fmod], x, y), "native").flat([x.numpy(), y.numpy()])
    with np.errstate(all="ignore"):
        wanted = np.fmod(x.numpy(), y.numpy())
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got)[wanted == 0], np.signbit(wanted)[wanted == 0])


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_powers(dtype: torch.dtype) -> None:
    """Every pair of special numbers, and others: as numpy's of float64; powers of integers that float64 holds are exact."""
    torch.manual_seed(0)
    special = torch.tensor([*SPECIAL, *(-x for x in SPECIAL)])
    bases = torch.cat(
        [special.repeat_interleave(len(special)), torch.randn(20000).mul(3).exp(), torch.randn(5000)]
    )
    exponents = torch.cat(
        [special.repeat(len(special)), torch.randn(20000) * 8, torch.randn(5000).mul(9).round()]
    )
    whole = torch.arange(1.0, 31).repeat_interleave(11), torch.arange(0.0, 11).repeat(30)
    bases, exponents = (torch.cat(each).to(dtype) for each in zip((bases, exponents), whole, strict=True))
    run = xdsl_exir.compile(edge_of([torch.pow], bases, exponents), "native")
    (got,) = run.flat([bases.numpy(), exponents.numpy()])
    with np.errstate(all="ignore"):
        wanted = np.power(bases.double().numpy(), exponents.double().numpy()).astype(got.dtype)
    np.testing.assert_array_max_ulp(got, wanted, 1)
    powers = [int(base) ** int(exponent) for base, exponent in zip(*whole, strict=True)]
    held = np.array([power < 2**53 for power in powers])
    np.testing.assert_array_equal(got[-len(powers) :][held], np.array(powers, dtype=got.dtype)[held])
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_array_equal(np.signbit(got[~np.isnan(wanted)]), np.signbit(wanted[~np.isnan(wanted)]))


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_round(dtype: torch.dtype) -> None:
    whole = [*range(-6, 7), *(2**n + k for n in (10, 22, 23, 24, 51, 52) for k in (-1, 0, 1))]
    x = torch.tensor([*(k / 2 for k in whole), *map(float, whole), *SPECIAL], dtype=torch.float64).to(dtype)
    (got,) = xdsl_exir.compile(edge_of([torch.round], x), "native").flat([x])
    wanted = torch.round(x).double().numpy()
    np.testing.assert_array_equal(got.astype(np.float64), wanted)
    known = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(got.astype(np.float64)[known]), np.signbit(wanted[known]))


# --- what code is told -----------------------------------------------------------------------------------------

BITS = """
func.func @moves(%x: memref<8xbf16>, %y: memref<8xf32>, %i: index) {
  %0 = "arith.constant"() <{value = 1.5 : bf16}> : () -> bf16
  %1 = "memref.load"(%x, %i) : (memref<8xbf16>, index) -> bf16
  %2 = "arith.extf"(%1) : (bf16) -> f32
  "memref.store"(%2, %y, %i) : (f32, memref<8xf32>, index) -> ()
  "memref.store"(%0, %x, %i) : (bf16, memref<8xbf16>, index) -> ()
  func.return
}
func.func @computes(%x: memref<8xbf16>, %i: index) {
  %1 = "memref.load"(%x, %i) : (memref<8xbf16>, index) -> bf16
  %2 = "arith.addf"(%1, %1) <{fastmath = #arith.fastmath<none>}> : (bf16, bf16) -> bf16
  "memref.store"(%2, %x, %i) : (bf16, memref<8xbf16>, index) -> ()
  func.return
}
"""


def test_bfloat16_as_bits() -> None:
    moves, computes = Parser(context().clone(), BITS).parse_module().body.block.ops
    before = str(computes)
    for function in (moves, computes):
        bfloat16_as_bits(function)  # pyright: ignore[reportArgumentType]
    assert "bf16" not in str(moves)
    assert "arith.constant 16320 : i16" in str(moves)
    assert "arith.shli" in str(moves)
    assert str(computes) == before


WRITES = """
func.func @writes(%x: memref<8xf32>, %y: memref<8xf32>, %out: memref<8xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  bufferization.materialize_in_destination %0 in restrict writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  func.return
}
"""


def test_what_is_written_lies_apart() -> None:
    module = Parser(context().clone(), WRITES).parse_module()
    (function,) = module.body.block.ops
    say_distinct(function)  # pyright: ignore[reportArgumentType]
    assert isinstance(module, ModuleOp)
    block = function.regions[0].block
    x, y, out = block.args
    said = [op for op in block.ops if isinstance(op, DistinctObjectsOp)]
    # The output and each input: two inputs may be one array.
    assert [list(op.operands) for op in said] == [[out, x], [said[0].results[0], y]]
    assert not any(isinstance(use.operation, DistinctObjectsOp) for use in said[-1].results[0].uses)
    module.verify()
