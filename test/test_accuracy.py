"""Sums are as exact as PyTorch's, and the same from call to call and for any number of threads.

The whole table is `python test/accuracy.py`; here are its smaller calls of a few operators of each kind, the operators that
nobody accounts for, and sums that once were wrong.
"""

from __future__ import annotations

import operator
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from accuracy import DTYPES, excess, last_place, measure, samples  # noqa: E402
from accuracy_calls import CALLS, EXCEPTIONS, unaccounted  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.targets.cpu.machine import processor  # noqa: E402

ROWS = "sum.dim_IntList rows", "mean.dim", "var.correction", "linalg_vector_norm", "_softmax", "layer_norm"
KINDS = (
    *ROWS,
    "cumsum",
    "prod",
    "native_group_norm",
    "native_batch_norm",
    "mm",
    "mv",
    "conv2d",
    "avg_pool2d",
    "index_add",
)


def test_all_operators_that_add_up_are_measured() -> None:
    assert unaccounted() == []
    assert not {name.split(" ")[0] for name in CALLS} & set(EXCEPTIONS)


def check_errors(names: Sequence[str], dtype: str, engine: str, symbolic: bool = False) -> None:
    for sample in samples(names, [dtype], slice(1, 3)):
        for _, _, distribution, off in measure(sample, [engine], symbolic):
            assert isinstance(off, float)
            assert off <= 2, (sample.name, sample.shape, distribution, off)


@pytest.mark.parametrize("dtype", DTYPES)
def test_errors_of_the_interpreter(dtype: str) -> None:
    check_errors(KINDS, dtype, "interpreter")


@pytest.mark.parametrize("dtype", DTYPES)
def test_errors_of_native_code(dtype: str, native_tools: None) -> None:
    check_errors(KINDS if dtype == "float32" else ROWS, dtype, "native")


def test_errors_of_symbolic_sizes(native_tools: None) -> None:
    check_errors([*ROWS, "mm", "mv", "cumsum"], "float32", "native", symbolic=True)


@pytest.mark.parametrize("name", ["scaled_dot_product_attention", "conv_transpose2d.input"])
def test_errors_of_short_sums(name: str, native_tools: None) -> None:
    """A softmax of equal numbers gives many equal terms, whose sum is not one after the other; nor that of many taps."""
    [sample] = samples([name], ["float32"], slice(1))
    # PyTorch's products are not rounded before they are added, wherever it runs.
    bound = 2 if processor().fuses else 4
    for _, _, distribution, off in measure(sample, ["native"]):
        assert isinstance(off, float)
        assert off <= bound, (distribution, off)


# --- sums that were wrong ------------------------------------------------------------------------------------


class Function(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


def compiled(function: Callable[..., Any], x: torch.Tensor, engine: str = "native") -> Any:
    program = xdsl_exir.from_exported_program(torch.export.export(Function(function), (x,)))
    return xdsl_exir.compile(program, engine)


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


F = torch.nn.functional
LONG: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], Callable[[], torch.Tensor]]] = {
    "mean of ones": (lambda x: x.mean(), lambda: torch.ones(2**25, 1)),
    "sum of a column of ones": (lambda x: x.sum(0), lambda: torch.ones(2**25, 1)),
    "variance around a large mean": (lambda x: x.var(), lambda: randn(64, 4096) + 1e4),
    "batch norm around a large mean": (
        lambda x: F.batch_norm(x, None, None, training=True),
        lambda: randn(8, 16, 64) + 1e4,
    ),
    "layer norm around a large mean": (lambda x: F.layer_norm(x, (64,)), lambda: randn(8, 16, 64) + 1e4),
    "group norm around a large mean": (lambda x: F.group_norm(x, 4), lambda: randn(8, 16, 64) + 1e4),
    "norm": (lambda x: x.norm(), lambda: randn(2**22)),
    "long products": (lambda x: x @ x.T, lambda: randn(4, 2**20)),
}


def check_long(name: str, engine: str) -> None:
    function, make = LONG[name]
    x = make()
    got = torch.as_tensor(np.asarray(compiled(function, x, engine)(x)))
    assert excess(got, function(x), function(x.double()), False) <= 2


@pytest.mark.parametrize("name", LONG)
def test_long_sums_of_the_interpreter(name: str) -> None:
    check_long(name, "interpreter")


@pytest.mark.parametrize("name", LONG)
def test_long_sums_of_native_code(name: str, native_tools: None) -> None:
    check_long(name, "native")


DOUBLES: dict[str, Callable[[Any], Any]] = {
    "all": lambda x: x.sum(),
    "a dimension": lambda x: x.sum(1),
    "columns": lambda x: x.mean((0, 2)),
    "complex numbers": lambda x: (x * 1j).sum((0, 2)),
}


@pytest.mark.parametrize("name", DOUBLES)
def test_long_sums_of_float64(name: str, native_tools: None) -> None:
    """Against NumPy's sums, of numbers of more bits where the processor has them."""
    function = DOUBLES[name]
    x = torch.full((3, 130, 1037), 0.1, dtype=torch.float64) + torch.arange(1037) / 7
    exact = function(x.numpy().astype(np.longdouble))
    off = abs(np.asarray(compiled(function, x)(x)) - exact) / abs(exact)
    assert off.max() <= 8 * np.finfo(np.float64).eps


def test_squares_do_not_overflow(native_tools: None) -> None:
    x = torch.full((1000,), 1e30)
    got = torch.as_tensor(np.asarray(compiled(lambda x: x.norm(), x)(x)))
    exact = x.double().norm()
    assert excess(got, exact.float(), exact, False) <= 2


# --- functions -----------------------------------------------------------------------------------------------

PLAIN = """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p sqrt rsqrt erf erfc
    erfinv sigmoid"""
SERIES = "lgamma digamma special.i0e special.i1e special.erfcx special.log_ndtr special.ndtri"
"""Natively exact to some 45 bits."""
FUNCTIONS = {torch.float32: [*PLAIN.split(), *SERIES.split()], torch.float64: PLAIN.split()}


def everywhere(dtype: torch.dtype) -> torch.Tensor:
    """Numbers of all magnitudes, and many of those that functions do most with."""
    integers = torch.int32 if dtype is torch.float32 else torch.int64
    info, generator = torch.iinfo(integers), torch.Generator().manual_seed(0)
    bits = torch.randint(info.min, info.max, (10_000,), generator=generator, dtype=integers).view(dtype)
    near = [torch.linspace(-size, size, 5001, dtype=torch.float64).to(dtype) for size in (1, 12, 100)]
    x = torch.cat([bits, *near])
    return x[x.isfinite()]


def units(given: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    """How far numbers are off, each in units in its last place; where the reference is one that the dtype holds."""
    kept = reference.abs() <= torch.finfo(given.dtype).max
    return ((given.double() - reference).abs() / last_place(reference, given.dtype))[kept].nan_to_num(
        torch.inf
    )


@pytest.mark.parametrize("dtype", FUNCTIONS)
def test_functions_of_native_code(dtype: torch.dtype, native_tools: None) -> None:
    """Off by at most 4 units in the last place, or twice as far as PyTorch; in float64 by as many from PyTorch."""
    names = FUNCTIONS[dtype]
    functions = [operator.attrgetter(name)(torch) for name in names]
    x = everywhere(dtype)
    results = compiled(lambda x: [function(x) for function in functions], x)(x)
    far: dict[str, tuple[float, float]] = {}
    for name, result, function in zip(names, results, functions, strict=True):
        exact = function(x.double())
        off, of_eager = (
            units(each, exact).max().item() for each in (torch.as_tensor(np.asarray(result)), function(x))
        )
        if off > max(4, 2 * of_eager):
            far[name] = off, of_eager
    assert far == {}


ALL_BITS = "log log2 log10 exp exp2 tanh erf sigmoid"


def test_functions_of_nan_of_any_bits(native_tools: None) -> None:
    """They work on the bits of numbers: no payload makes a number of NaN."""
    functions = [operator.attrgetter(name)(torch) for name in ALL_BITS.split()]
    low = torch.randint(1, 2**23, (4096,), dtype=torch.int32, generator=torch.Generator().manual_seed(0))
    x = torch.cat([low | 0x7F800000, low | -0x00800000]).view(torch.float32)
    for name, result in zip(
        ALL_BITS.split(), compiled(lambda x: [f(x) for f in functions], x)(x), strict=True
    ):
        assert np.isnan(np.asarray(result)).all(), name


def test_logarithms_of_powers(native_tools: None) -> None:
    """Those of powers of their base are whole numbers, subnormal powers included."""
    twos = torch.arange(-149, 128, dtype=torch.float64)
    tens = torch.arange(0, 11, dtype=torch.float64)
    for function, base, powers in ((torch.log2, 2.0, twos), (torch.log10, 10.0, tens)):
        x = (base**powers).float()
        assert (np.asarray(compiled(function, x)(x)) == powers.numpy()).all()


# --- the same each time --------------------------------------------------------------------------------------


def everything(x: torch.Tensor) -> Sequence[torch.Tensor]:
    """Sums of all kinds, large enough for threads."""
    rows = x.reshape(512, 4096)
    return (
        x.sum(),
        rows.sum(0),
        rows.mean(1),
        rows.var(0),
        rows.softmax(-1),
        F.layer_norm(rows, (4096,)),
        rows[:, :512] @ rows[:, 512:1024],
        rows @ rows[0],
        F.conv2d(x[: 2**18].reshape(1, 64, 64, 64), rows[:8, :576].reshape(8, 64, 3, 3)),
        F.avg_pool2d(x.reshape(8, 64, 64, 64), 5),
        rows.cumsum(0),
    )


def test_sums_are_the_same_for_any_number_of_threads(native_tools: None) -> None:
    """Also from call to call, and wherever the numbers lie in memory."""
    script = (
        "import hashlib, sys, numpy as np; sys.path.insert(0, sys.argv[1])\n"
        "from test_accuracy import compiled, everything, randn\n"
        "x = randn(2**21); run = compiled(everything, x); room = np.empty(2**21 + 5, np.float32)\n"
        "def digest(x): return hashlib.sha256(b''.join(np.asarray(y).tobytes() for y in run(x))).hexdigest()\n"
        "found = {digest(x), digest(x)}\n"
        "for shift in (1, 5):\n"
        "    moved = room[shift : shift + 2**21]; moved[:] = x.numpy(); found.add(digest(moved))\n"
        "assert len(found) == 1, 'other sums from call to call'\n"
        "print(*found)"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script, os.path.dirname(__file__)],
            env=os.environ | {"OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "4")
    }
    assert len(digests) == 1
