"""Kernels for contractions and convolutions against NumPy: ragged sizes, views, epilogues, threads; and the toolchain."""

from __future__ import annotations

import itertools
import math as python_math
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from upstream_passes import BUFFERIZE
from xdsl.context import Context
from xdsl.dialects import math, omp
from xdsl.dialects.builtin import ModuleOp

from xdsl_exir import errors
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.lowering import mlir
from xdsl_exir.lowering.expand_math import EXPANSIONS, WIDE, ExpandMath
from xdsl_exir.lowering.printing import generic_text
from xdsl_exir.lowering.sizes import static
from xdsl_exir.lowering.vector_builder import Lanes
from xdsl_exir.runtime import linking
from xdsl_exir.runtime.openmp import find_openmp
from xdsl_exir.targets.cpu import objects
from xdsl_exir.targets.cpu.kernels import (
    Constant,
    Conv2d,
    Elementwise,
    Epilogue,
    Input,
    Kernel,
    Machine,
    Matmul,
    Step,
)
from xdsl_exir.targets.cpu.kernels.builder import KernelBuilder
from xdsl_exir.targets.cpu.kernels.description import Choice, memref
from xdsl_exir.targets.cpu.kernels.elements import expand
from xdsl_exir.targets.cpu.kernels.winograd import is_moderate
from xdsl_exir.targets.cpu.machine import TILES, processor

pytestmark = pytest.mark.native

MACHINES = {"avx512": Machine(16, 32, 1), "avx2": Machine(8, 16, 1), "threads": Machine(16, 32, 2)}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path))


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def with_inputs(*shapes: tuple[int, ...]) -> Epilogue:
    """max(value + sum of inputs, 0)."""
    positions = [0, *range(1 + len(shapes), 1 + 2 * len(shapes))]
    add = Elementwise("aten.add.Tensor")
    sums = [Step(add, (position, 1 + i)) for i, position in enumerate(positions[:-1])]
    last = Step(Elementwise("aten.maximum"), (positions[-1], Constant(0.0)))
    return Epilogue(tuple(Input(shape) for shape in shapes), (*sums, last))


def text_of(kernel: Kernel, name: str, public: bool = False) -> str:
    """A kernel's function, verified."""
    function = kernel.function(name, public)
    function.verify()
    return generic_text(function)


Result = tuple[int, ...] | np.ndarray
"""Shape of a result, or the view to write it to."""


def run_all(kernels: Sequence[tuple[Any, Sequence[np.ndarray], Result]]) -> list[np.ndarray]:
    """Compiles all kernels in one module; (kernel, its arguments without scratch and result, its result)."""
    library = linking.load(
        "\n".join(text_of(kernel, f"f{i}", True) for i, (kernel, *_) in enumerate(kernels))
    )
    results: list[np.ndarray] = []
    for i, (kernel, arguments, result) in enumerate(kernels):
        # NaN everywhere that the kernel has to write before it reads.
        out = result if isinstance(result, np.ndarray) else np.full(result, np.nan, np.float32)
        scratch = [np.full(kernel.scratch, np.nan, np.float32)] if kernel.scratch else []
        linking.bind(library, f"f{i}", [*arguments, *scratch, out])()
        results.append(out)
    return results


def close(actual: np.ndarray, expected: np.ndarray, message: object) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4, err_msg=str(message))


MATMULS = [
    (1, 1, 1),
    (1, 200, 7),
    (3, 17, 5),
    (7, 33, 16),
    (8, 32, 1),
    (9, 50, 33),
    (17, 130, 18),
    (50, 16, 40),
    (1, 2, 384),
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("rhs", ["packed", "row_major", "transposed"])
def test_matmul_of_ragged_sizes(machine: str, rhs: Any) -> None:
    cases: list[tuple[Any, Sequence[np.ndarray], Result]] = []
    expected: list[np.ndarray] = []
    halves: dict[Any, Any] = {None: np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8}
    sizes = [(size, None) for size in MATMULS] + list(
        zip(MATMULS[::2], itertools.cycle(("f16", "bf16", "i8")))
    )
    for (m, n, k), dtype in sizes:
        kernel = Matmul(m, n, k, rhs=rhs, rhs_dtype=dtype, machine=MACHINES[machine])
        a, b = random(m, k), random(k, n).astype(halves[dtype])
        right = {"packed": kernel.pack(b), "row_major": b, "transposed": np.ascontiguousarray(b.T)}[rhs]
        cases.append((kernel, [a, right], (m, n)))
        expected.append(a @ b.astype(np.float32))
    for size, actual, right in zip(sizes, run_all(cases), expected, strict=True):
        close(actual, right, size)


@pytest.mark.parametrize("machine", MACHINES)
def test_matmul_by_scaled_groups(machine: str) -> None:
    cases: list[tuple[Any, Sequence[np.ndarray], Result]] = []
    expected: list[np.ndarray] = []
    sizes = [(1, 300, 64, 32), (1, 20, 96, 96), (7, 130, 96, 8), (40, 33, 12, 4)]
    for m, n, k, group in sizes:
        kernel = Matmul(m, n, k, rhs_dtype="i8", scaled=group, machine=MACHINES[machine])
        a, b, scales = random(m, k), random(k, n).astype(np.int8), random(k // group, n)
        cases.append((kernel, [a, kernel.pack(b), kernel.pack(scales)], (m, n)))
        expected.append(a @ (b * scales.repeat(group, 0)))
    for size, actual, right in zip(sizes, run_all(cases), expected, strict=True):
        close(actual, right, size)


def values(*shape: int) -> np.ndarray:
    """Integers, whose sums of products are exact."""
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(np.float32)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("rhs", ["packed", "row_major", "transposed"])
@pytest.mark.parametrize(
    ("m", "n", "k", "way"),
    [(70, 45, 4999, "parts"), (40, 150, 1100, "parts"), (9, 17, 9000, "parts"), (700, 450, 13, "by_rows")],
)
def test_long_and_short_reductions(machine: str, rhs: Any, m: int, n: int, k: int, way: str) -> None:
    """Long ones are done part by part, where it pays; of short ones what is written lies in order."""
    made = Matmul(m, n, k, rhs=rhs, epilogue=with_inputs((n,)), machine=MACHINES[machine])
    a, b, bias = values(m, k), values(k, n), values(n)
    right = {"packed": made.pack(b), "row_major": b, "transposed": np.ascontiguousarray(b.T)}[rhs]
    assert getattr(made, way) or rhs == "packed" or m < 10 or not made.packs
    (result,) = run_all([(made, [a, right, bias], (m, n))])
    np.testing.assert_array_equal(result, np.maximum(a @ b + bias, 0))


PAIRS, IN_TILES = Machine(16, 32, 1, pairs=True), Machine(16, 32, 2, tiles=True)


def of_bfloat16(
    rhs: Any, sizes: Sequence[tuple[int, ...]], machine: Machine
) -> list[tuple[Any, Any, Result, Any]]:
    """Products of sizes ([batch,] M, N, K): kernels and what they take, of views of what lies otherwise where there is a batch; the results' shapes;
    and the results, with what follows."""
    cases: list[tuple[Any, Any, Result, Any]] = []
    for *batch, m, n, k in sizes:
        a, b = (values(*batch, *size).astype(ml_dtypes.bfloat16) for size in ((m, k), (k, n)))
        strides = (k, batch[0] * k, 1) if batch else None
        kernel = Matmul(m, n, k, tuple(batch), rhs, lhs_strides=strides, rhs_dtype="bf16", lhs_dtype="bf16")
        kernel = replace(kernel, machine=machine, epilogue=with_inputs((n,)))
        left = np.ascontiguousarray(a.swapaxes(0, 1)).swapaxes(0, 1) if batch else a
        right = kernel.pack(b) if rhs == "packed" else b if rhs == "row_major" else np.ascontiguousarray(b.mT)
        made = np.maximum(a.astype(np.float32) @ b.astype(np.float32) + values(n), 0)
        ways = (False, True) if rhs == "row_major" else (None,)
        cases += [
            (replace(kernel, choice=Choice(packs=packs)), [left, right, values(n)], (*batch, m, n), made)
            for packs in ways
        ]
    return cases


def check_results(cases: Sequence[tuple[Any, Any, Result, Any]]) -> None:
    results = run_all([case[:3] for case in cases])
    for (kernel, _, _, wanted), actual in zip(cases, results, strict=True):
        np.testing.assert_array_equal(actual, wanted, err_msg=str(kernel))


@pytest.mark.parametrize("rhs", ["packed", "row_major", "transposed"])
def test_products_of_pairs(rhs: Any) -> None:
    sizes = [(2, 1, 2), (3, 17, 6), (8, 32, 32), (9, 50, 34), (17, 130, 98), (40, 45, 4998), (70, 1, 64)]
    cases = of_bfloat16(rhs, sizes, PAIRS)
    if rhs != "packed":
        cases += of_bfloat16(rhs, [(3, 20, 33, 66)], replace(PAIRS, threads=2))
    assert all("dpbf16ps" in text_of(kernel, "f") for kernel, *_ in cases)
    if "avx512bf16" not in processor().enabled:
        pytest.skip("this processor has no instruction for it")
    check_results(cases)


@pytest.mark.parametrize("rhs", ["packed", "row_major", "transposed"])
def test_products_of_tiles(rhs: Any) -> None:
    """Of any number of terms, an even one where columns lie along them, and of rows from one tile on; what is left of these is multiplied again, and
    stored once."""
    sizes = [
        (16, 16, 32),
        (17, 5, 66),
        (31, 33, 32),
        (32, 32, 320),
        (40, 36, 22),
        (49, 70, 110),
        (64, 130, 992),
    ]
    sizes += [(17, 5, 17), (40, 36, 23), (33, 70, 65)] if rhs != "transposed" else []
    batches = [] if rhs == "packed" else [(3, 20, 33, 68)]
    cases = of_bfloat16(rhs, [*sizes, (600, 40, 1022), *batches], IN_TILES)
    assert all("tdpbf16ps" in text_of(kernel, "f") for kernel, *_ in cases)
    few = Matmul(15, 32, 64, rhs=rhs, rhs_dtype="bf16", lhs_dtype="bf16", machine=IN_TILES)
    long = replace(few, m=32, k=2048)
    assert replace(long, out_dtype="bf16").tiled
    assert not replace(few, m=16, k=65, rhs="transposed").tiled
    for other in (few, long, replace(few, m=16, k=14), replace(few, m=Expr.symbol("s0"))):
        assert not other.tiled
        assert "tdpbf16ps" not in text_of(other, "f")
    if not processor().enabled >= TILES:
        pytest.skip("this processor has no tiles")
    check_results(cases)


@pytest.mark.parametrize("threads", [1, 2])
def test_convolutions_of_tiles(threads: int) -> None:
    """Of any stride up to four, dilation, padding and groups; what is not a number is seen by those that see it alone."""
    convolutions = [
        Conv2d(1, 64, 9, 11, 32, (3, 3), padding=(1, 1)),
        Conv2d(2, 33, 15, 17, 49, (3, 3), (2, 2), (1, 1)),
        Conv2d(1, 40, 12, 21, 24, (3, 2), (1, 1), (2, 1), (2, 3)),
        Conv2d(2, 64, 8, 33, 72, (3, 3), padding=(0, 2), groups=2),
        Conv2d(1, 32, 7, 7, 16, (1, 1), (2, 3)),
        Conv2d(1, 40, 9, 10, 18, (3, 3), padding=(1, 1), groups=2),
        Conv2d(1, 31, 20, 19, 17, (5, 4), (3, 4), (2, 3)),
        Conv2d(1, 16, 1, 2100, 16, (1, 3), padding=(0, 1)),
        Conv2d(1, 16, 40, 60, 16, (1, 3), padding=(0, 1)),
    ]
    machine, cases = replace(IN_TILES, threads=threads), list[tuple[Any, Any, Result, Any]]()
    for given in convolutions:
        halves = replace(
            given, x_dtype="bf16", weight_dtype="bf16", machine=machine, epilogue=with_inputs((given.o, 1, 1))
        )
        x, weight = (
            values(given.n, given.c, given.h, given.w),
            values(given.o, given.c // given.groups, *given.kernel),
        )
        x[0, 1, given.h // 2, given.w // 2] = np.nan
        bias = values(given.o, 1, 1)
        wanted = np.maximum(convolve(given, x, weight) + bias, 0)
        packed = halves.pack(weight).astype(ml_dtypes.bfloat16)
        cases.append((halves, [x.astype(ml_dtypes.bfloat16), packed, bias], given.out_shape, wanted))
    assert all("tdpbf16ps" in text_of(kernel, "f") for kernel, *_ in cases)
    one = cases[0][0]
    assert replace(one, c=128, out_dtype="bf16").strategy == "tiles"
    others = (
        replace(one, c=128),
        replace(one, o=7),
        replace(one, stride=(1, 5)),
        replace(one, h=Expr.symbol("s0")),
    )
    assert {other.strategy for other in others} == {"channels"}
    if not processor().enabled >= TILES:
        pytest.skip("this processor has no tiles")
    check_results(cases)


def test_long_reductions_are_as_exact_as_short_ones() -> None:
    """Sums of parts are added up; where there are many parts they are longer, and their own sums are of float64."""
    for k in (20_000, 200_000):
        a, b = np.abs(random(24, k)), np.abs(random(k, 16))
        (result,) = run_all(
            [(Matmul(24, 16, k, rhs="row_major", machine=MACHINES["avx512"]), [a, b], (24, 16))]
        )
        exact = a.astype(np.float64) @ b.astype(np.float64)
        assert np.abs(result / exact - 1).max() < 4 * np.finfo(np.float32).eps


def test_matmul_large_enough_for_threads() -> None:
    m, n, k = 96, 200, 77
    a, b = random(m, k), random(k, n)
    kernels = [
        Matmul(m, n, k, rhs=rhs, machine=MACHINES["threads"]) for rhs in ("packed", "row_major", "transposed")
    ]
    assert all(kernel.threads == 2 for kernel in kernels)
    right = [kernels[0].pack(b.T, transposed=True), b, np.ascontiguousarray(b.T)]
    for actual in run_all([(kernel, [a, one], (m, n)) for kernel, one in zip(kernels, right, strict=True)]):
        close(actual, a @ b, (m, n, k))


def test_threads_of_symbolic_sizes_are_started_where_they_pay() -> None:
    many, few = (Matmul(m, 64, 64, machine=MACHINES["threads"]) for m in (Expr.symbol("s0"), 4))
    [parallel] = [op for op in many.function("many").walk() if isinstance(op, omp.ParallelOp)]
    assert parallel.if_expr is not None
    assert not [op for op in few.function("few").walk() if isinstance(op, omp.ParallelOp)]


@pytest.mark.parametrize("machine", MACHINES)
def test_matmul_epilogue_inputs_are_broadcast(machine: str) -> None:
    m, n, k = 11, 37, 6
    a, b = random(m, k), random(k, n)
    shapes = [(n,), (m, n), (m, 1), (1,), (), (1, n)]
    inputs = [random(*shape) for shape in shapes]
    kernel = Matmul(m, n, k, epilogue=with_inputs(*shapes), machine=MACHINES[machine])
    (actual,) = run_all([(kernel, [a, kernel.pack(b), *inputs], (m, n))])
    close(actual, np.maximum(a @ b + sum(inputs), 0), shapes)


def test_batched_matmul_on_views_with_broadcast_batches() -> None:
    """Attention: heads are views of one projection, several query heads share a key head."""
    heads, shared, tokens, size = 2, 3, 21, 20
    q = random(tokens, heads, shared, size).transpose(1, 2, 0, 3)
    k = random(tokens, heads, 1, size).transpose(1, 2, 0, 3)
    v = random(tokens, heads, 1, size).transpose(1, 2, 0, 3)
    p = random(heads, shared, tokens, tokens)

    def strides(array: np.ndarray) -> tuple[int, ...]:
        return tuple(step // 4 for step in array.strides)

    common = {"batch": (heads, shared), "rhs_batch": (heads, 1), "machine": MACHINES["threads"]}
    mask = random(1, 1, 1, tokens)
    scores = Matmul(
        tokens, tokens, size, rhs="transposed", lhs_strides=strides(q), rhs_strides=strides(k),
        epilogue=with_inputs(mask.shape), **common,
    )  # fmt: skip
    values = Matmul(tokens, size, tokens, rhs="row_major", rhs_strides=strides(v), **common)
    first, second = run_all(
        [
            (scores, [q, k, mask], (heads, shared, tokens, tokens)),
            (values, [p, v], (heads, shared, tokens, size)),
        ]
    )
    close(first, np.maximum(q @ k.swapaxes(-1, -2) + mask, 0), "scores")
    close(second, p @ v, "values")


def test_matmul_with_transposed_lhs() -> None:
    a, b = random(13, 10), random(13, 40)
    kernel = Matmul(10, 40, 13, lhs_transposed=True, machine=MACHINES["avx512"])
    (actual,) = run_all([(kernel, [a, kernel.pack(b)], (10, 40))])
    close(actual, a.T @ b, "transposed")


def convolve(conv: Conv2d, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """conv2d in float64: a sum over taps."""
    (ho, wo), (kh, kw), (sh, sw), (dh, dw) = conv.out_size, conv.kernel, conv.stride, conv.dilation
    ph, pw = conv.padding
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    groups = padded.reshape(conv.n, conv.groups, -1, *padded.shape[2:])
    filters = weight.astype(np.float64).reshape(conv.groups, conv.o // conv.groups, -1, kh, kw)
    out = np.zeros((conv.n, conv.groups, conv.o // conv.groups, ho, wo))
    for i, j in itertools.product(range(kh), range(kw)):
        seen = groups[..., i * dh : i * dh + (ho - 1) * sh + 1 : sh, j * dw : j * dw + (wo - 1) * sw + 1 : sw]
        out += np.einsum("ngchw,goc->ngohw", seen, filters[..., i, j])
    return out.reshape(conv.out_shape)


CONVOLUTIONS = {
    "dense 3x3": Conv2d(1, 5, 9, 11, 19, (3, 3), padding=(1, 1)),
    "no padding": Conv2d(2, 3, 7, 20, 40, (3, 3)),
    "stem": Conv2d(1, 3, 17, 19, 35, (7, 7), (2, 2), (3, 3)),
    "dilated": Conv2d(1, 4, 12, 13, 8, (3, 2), (1, 1), (2, 1), (2, 3)),
    "height only": Conv2d(1, 2, 9, 4, 3, (3, 1), padding=(1, 0)),
    "1-D": Conv2d(2, 7, 1, 33, 9, (1, 5), padding=(0, 2)),
    "groups": Conv2d(2, 6, 9, 11, 10, (3, 3), padding=(1, 1), groups=2),
    "grouped 1x1": Conv2d(1, 6, 5, 5, 9, (1, 1), groups=3),
    "1x1 with stride": Conv2d(1, 3, 9, 8, 33, (1, 1), (2, 2)),
    "1x1 by pixels": Conv2d(2, 5, 6, 8, 7, (1, 1)),
    "1x1 by channels": Conv2d(2, 160, 7, 7, 48, (1, 1)),
    "1x1, one pixel": Conv2d(1, 5, 1, 1, 3, (1, 1)),
    "1x1 with padding": Conv2d(1, 5, 3, 4, 3, (1, 1), padding=(1, 1)),
    "depthwise": Conv2d(2, 5, 11, 21, 5, (3, 3), padding=(1, 1), groups=5),
    "depthwise, multiplier": Conv2d(1, 5, 13, 17, 10, (3, 3), (2, 2), (1, 1), groups=5),
    "depthwise, wide, stride 2": Conv2d(1, 3, 9, 75, 3, (3, 3), (2, 2), (1, 1), groups=3),
    "depthwise, stride 3": Conv2d(1, 4, 13, 17, 4, (3, 3), (3, 3), (2, 2), (2, 2), groups=4),
    "depthwise, 7x7": Conv2d(1, 3, 14, 14, 3, (7, 7), padding=(3, 3), groups=3),
    "one channel": Conv2d(1, 1, 8, 9, 1, (3, 3), padding=(1, 1)),
    "batch": Conv2d(3, 4, 5, 6, 2, (2, 2), (1, 2), (1, 0)),
    "winograd": Conv2d(1, 16, 8, 10, 32, (3, 3), padding=(1, 1), transforms=True),
    "winograd, odd": Conv2d(2, 19, 13, 7, 21, (3, 3), padding=(1, 0), transforms=True),
    "winograd, small": Conv2d(1, 17, 4, 5, 16, (3, 3), padding=(1, 1), transforms=True),
    "winograd, many bands": Conv2d(1, 16, 40, 50, 24, (3, 3), transforms=True),
    "winograd, sums in blocks": Conv2d(1, 160, 7, 7, 16, (3, 3), padding=(1, 1), transforms=True),
    "part by part": Conv2d(2, 230, 9, 11, 19, (3, 3), padding=(1, 1)),
    "part by part, groups": Conv2d(1, 220, 12, 13, 40, (5, 4), (2, 1), (2, 1), groups=2),
    "1x1 part by part": Conv2d(1, 2100, 7, 7, 48, (1, 1)),
    "too few channels for winograd": Conv2d(1, 8, 8, 10, 32, (3, 3), padding=(1, 1), transforms=True),
}


@pytest.mark.parametrize("fused", [False, True], ids=["plain", "fused"])
@pytest.mark.parametrize("machine", MACHINES)
def test_convolutions(machine: str, fused: bool) -> None:
    cases: list[tuple[Any, Sequence[np.ndarray], Result]] = []
    expected: list[np.ndarray] = []
    for plain in CONVOLUTIONS.values():
        shapes = [(plain.o, 1, 1), plain.out_shape] if fused else []
        conv = replace(
            plain, machine=MACHINES[machine], epilogue=with_inputs(*shapes) if fused else Epilogue()
        )
        x, weight = (
            random(conv.n, conv.c, conv.h, conv.w),
            random(conv.o, conv.c // conv.groups, *conv.kernel),
        )
        inputs = [random(*shape) for shape in shapes]
        cases.append((conv, [x, conv.pack(weight), *inputs], conv.out_shape))
        right = convolve(conv, x, weight)
        expected.append(np.maximum(right + sum(inputs), 0) if fused else right)
    for name, actual, right in zip(CONVOLUTIONS, run_all(cases), expected, strict=True):
        close(actual, right, name)


@pytest.mark.parametrize(
    "conv",
    [
        Conv2d(1, 32, 15, 15, 40, (3, 3), padding=(1, 1)),
        Conv2d(1, 96, 16, 16, 40, (1, 1)),
        Conv2d(1, 64, 31, 31, 64, (3, 3), padding=(1, 1), groups=64),
        Conv2d(1, 32, 14, 14, 70, (3, 3), padding=(1, 1), transforms=True),
    ],
    ids=lambda conv: conv.strategy,
)
def test_convolutions_large_enough_for_threads(conv: Conv2d) -> None:
    conv = replace(conv, machine=MACHINES["threads"])
    assert conv.threads == 2
    x, weight = random(conv.n, conv.c, conv.h, conv.w), random(conv.o, conv.c // conv.groups, *conv.kernel)
    (actual,) = run_all([(conv, [x, conv.pack(weight)], conv.out_shape)])
    close(actual, convolve(conv, x, weight), conv)


DISTRIBUTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ones": np.ones_like,
    "large mean": lambda x: x + 1e4,
    "wide range": lambda x: x * 10.0 ** np.random.default_rng(1).uniform(-4, 4, x.shape),
}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_winograd_is_as_exact_as_the_sum_of_products(distribution: str) -> None:
    """Against float64, by the greatest error: at most twice that of the other way, or 4 units in the last place."""
    conv = Conv2d(1, 72, 14, 14, 32, (3, 3), padding=(1, 1), machine=MACHINES["avx2"])
    draw = DISTRIBUTIONS[distribution]
    x, weight = (draw(random(*shape)).astype(np.float32) for shape in ((1, 72, 14, 14), (32, 72, 3, 3)))
    ways = [conv, replace(conv, transforms=True)]
    assert [way.strategy for way in ways] == ["channels", "winograd"]
    found = run_all([(way, [x, way.pack(weight)], way.out_shape) for way in ways])
    expected = convolve(conv, x, weight)
    direct, transformed = (np.abs(each - expected).max() for each in found)
    assert transformed <= max(2 * direct, 4 * np.spacing(np.abs(expected).max().astype(np.float32)))


@pytest.mark.parametrize("machine", [*MACHINES.values(), Machine(4, 16, 1)], ids=str)
def test_winograd_of_what_is_not_moderate(machine: Machine) -> None:
    """Infinities, NaN and huge numbers stay where the sum of products has them."""
    conv = Conv2d(1, 16, 26, 26, 24, (3, 3), padding=(1, 1), transforms=True, machine=machine)
    assert conv.strategy == "winograd"
    x, weight = random(conv.n, conv.c, conv.h, conv.w), random(conv.o, conv.c, 3, 3)
    x[0, 3, 5, 7], x[0, 4, 20, 0], x[0, 5, 25, 25], x[0, 6, 12, 12] = np.inf, -np.inf, np.nan, 3e37
    with np.errstate(invalid="ignore"):
        expected = convolve(conv, x, weight)
    (actual,) = run_all([(conv, [x, conv.pack(weight)], conv.out_shape)])
    size = np.abs(np.where(np.isfinite(expected), expected, 0)).max(where=np.abs(expected) < 1e30, initial=1)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4 * size)


def test_filters_that_are_not_moderate_are_not_transformed() -> None:
    weight = random(16, 16, 3, 3)
    assert is_moderate(weight)
    for bad in (np.inf, np.nan, 1e30):
        weight[3, 4, 1, 1] = bad
        assert not is_moderate(weight)


def test_strategies() -> None:
    found = {conv.strategy for conv in CONVOLUTIONS.values()}
    assert found == {"pixels", "channels", "depthwise", "winograd"}
    assert CONVOLUTIONS["too few channels for winograd"].strategy == "channels"
    parts = {name for name, conv in CONVOLUTIONS.items() if conv.parts}
    assert parts == {name for name in CONVOLUTIONS if "part by part" in name}
    assert CONVOLUTIONS["1x1 by pixels"].strategy == "pixels"
    assert CONVOLUTIONS["1x1 by channels"].strategy == "channels"


CHOICES: tuple[Matmul | Conv2d, ...] = (
    Matmul(9, 70, 33),
    Matmul(30, 41, 20, rhs="row_major"),
    *(CONVOLUTIONS[name] for name in ("stem", "1x1 by pixels", "depthwise, stride 3", "winograd, odd")),
)


@pytest.mark.parametrize(
    "solved", CHOICES, ids=lambda solved: getattr(solved, "strategy", solved.__class__.__name__)
)
def test_choices(solved: Matmul | Conv2d) -> None:
    """Whatever way is chosen, the result is the same but for rounding; products are the same to the bit."""
    problem = replace(solved, machine=MACHINES["avx2"])
    some = problem.choices if isinstance(problem, Matmul) else (*problem.choices[:-1:3], problem.choices[-1])
    ways: list[Matmul | Conv2d] = [problem, *map(problem.chosen, some)]
    assert len({way.key for way in ways}) == len(ways) > 2
    assert {way.problem for way in ways} == {problem}
    if isinstance(problem, Conv2d):
        x, weight = (
            random(problem.n, problem.c, problem.h, problem.w),
            random(problem.o, problem.c // problem.groups, *problem.kernel),
        )
        made = run_all([(way, [x, way.pack(weight)], problem.out_shape) for way in ways])
        assert {way.strategy for way in ways if isinstance(way, Conv2d)} == set(problem.strategies)
        for way, each in zip(ways, made, strict=True):
            close(each, convolve(problem, x, weight), way)
        return
    m, n, k = static((problem.m, problem.n, problem.k))
    a, b = random(m, k), random(k, n)
    given = [way.pack(b) if problem.rhs == "packed" else b for way in ways]
    first, *others = run_all([(way, [a, right], (m, n)) for way, right in zip(ways, given, strict=True)])
    close(first, a @ b, problem)
    for each in others:
        np.testing.assert_array_equal(each, first)


def test_a_way_that_there_is_not() -> None:
    with pytest.raises(
        errors.VerificationError, match="is not done by 'winograd', but by pixels or channels"
    ):
        _ = replace(CONVOLUTIONS["1x1 by pixels"], choice=Choice("winograd")).types


# The toolchain.

EMPTY = "func.func @nothing() attributes {llvm.emit_c_interface} {\n  return\n}\n"


def test_objects_are_cached_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = objects.compile_object(EMPTY)
    [entry] = tmp_path.iterdir()
    assert entry.read_bytes().endswith(made)
    monkeypatch.setattr(mlir, "to_llvm_ir", None)
    assert objects.compile_object(EMPTY) == made
    cpu = processor()
    assert objects.cache_key(EMPTY, (), cpu) != objects.cache_key(EMPTY, mlir.TO_LLVM, cpu)


def test_a_missing_tool_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(errors.ToolchainError, match="apt-get install mlir-22-tools"):
        mlir.find_tool.__wrapped__("mlir-opt")


def test_a_refused_module_says_why() -> None:
    with pytest.raises(errors.ToolchainError, match="use of undeclared SSA value"):
        mlir.to_llvm_ir("func.func @f() -> index {\n  return %0 : index\n}\n")


def test_a_driver_calls_kernels_on_views_of_one_arena() -> None:
    kernel = Matmul(16, 32, 32, machine=MACHINES["avx512"])
    driver = """
      func.func @main(%x: memref<16x32xf32>, %w: memref<1x32x32xf32>, %arena: memref<2048xi8>, %out: memref<16x32xf32>)
          attributes {llvm.emit_c_interface} {
        %start = arith.constant 0 : index
        %between = memref.view %arena[%start][] : memref<2048xi8> to memref<16x32xf32>
        call @mm(%x, %w, %between) : (memref<16x32xf32>, memref<1x32x32xf32>, memref<16x32xf32>) -> ()
        call @mm(%between, %w, %out) : (memref<16x32xf32>, memref<1x32x32xf32>, memref<16x32xf32>) -> ()
        return
      }"""
    x, w, out = random(16, 32), random(32, 32), np.zeros((16, 32), np.float32)
    library = linking.load(text_of(kernel, "mm") + driver)
    linking.bind(library, "main", [x, kernel.pack(w), np.zeros(2048, np.int8), out])()
    close(out, x @ w @ w, "twice")


def test_linalg_on_tensors_is_bufferized() -> None:
    text = """
      func.func @f(%x: tensor<3x5xf32>, %y: tensor<5x4xf32>) -> tensor<3x4xf32> attributes {llvm.emit_c_interface} {
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<3x4xf32>
        %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
        %mm = linalg.matmul ins(%x, %y : tensor<3x5xf32>, tensor<5x4xf32>) outs(%start : tensor<3x4xf32>) -> tensor<3x4xf32>
        %tanh = linalg.map { math.tanh } ins(%mm : tensor<3x4xf32>) outs(%empty : tensor<3x4xf32>)
        return %tanh : tensor<3x4xf32>
      }"""
    x, y, out = random(3, 5), random(5, 4), np.zeros((3, 4), np.float32)
    library = linking.load(text, BUFFERIZE + mlir.TO_LLVM)
    linking.bind(library, "f", [x, y, out])()
    close(out, np.tanh(x @ y), "linalg")


def test_a_missing_function_is_named() -> None:
    with pytest.raises(errors.ToolchainError, match="no function 'other'"):
        linking.load(EMPTY).address("other")


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_shared_object_needs_only_libc_and_openmp(tmp_path: Path) -> None:
    kernel = Matmul(96, 200, 77, machine=MACHINES["threads"])
    (tmp_path / "kernel.o").write_bytes(objects.compile_object(text_of(kernel, "f", True)))
    openmp = find_openmp()
    linking.link_shared([tmp_path / "kernel.o"], tmp_path / "kernel.so", [str(openmp)])
    listed = subprocess.run(
        ["nm", "-D", "-u", tmp_path / "kernel.so"], capture_output=True, text=True, check=True
    )
    undefined = {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines()}
    own = {name for name in undefined if not name.startswith(("__kmpc_", "_ITM_", "__gmon", "__cxa"))}
    assert own <= {"malloc", "free", "memcpy", "memset"}


# Functions in arithmetic.


def libm(name: str) -> Any:
    from scipy import special

    return {
        "exp": np.exp,
        **{name: getattr(np, name) for name in ("log", "log2", "log10")},
        "tanh": np.tanh,
        "erf": special.erf,
        "erfc": special.erfc,
        "atanh": np.arctanh,
        "sigmoid": special.expit,
        "silu": lambda x: x * special.expit(x),
        "gelu": lambda x: x * special.ndtr(x),
        **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan")},
        **{name: getattr(np, name) for name in ("sin", "cos", "tan", "expm1", "log1p")},
        "round": np.rint,
    }[name]


EDGES = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-30,
    88.7,
    88.8,
    -87.4,
    -100.0,
    -103.9,
    -110.0,
    1e30,
    -1e30,
    1.0,
    0.625,
]


ANGLES = ("sin", "cos", "tan", "asin", "acos", "atan")


@pytest.mark.parametrize("lanes", [16, 0], ids=["vectors", "numbers"])
def test_functions(lanes: int) -> None:
    sizes = np.geomspace(1e-45, 3e38, 4096)
    grid = np.concatenate([np.linspace(-8, 8, 8192), np.linspace(-110, 95, 8176), sizes, EDGES])
    grid = grid.astype(np.float32)
    names = (
        "exp",
        "log",
        "log2",
        "log10",
        "tanh",
        "erf",
        "sigmoid",
        "gelu",
        *ANGLES,
        "expm1",
        "log1p",
        "round",
        "erfc",
        "atanh",
    )
    functions: list[str] = []
    for name in names:
        element = Elementwise(f"aten.{name}", (("approximate", "none"),) if name == "gelu" else ())
        b = KernelBuilder([], {"x": memref(grid.shape), "y": memref(grid.shape)})
        x, y = b.buffers["x"], b.buffers["y"]
        with b.loop(0, grid.size // max(lanes, 1)) as i:
            at = [b.mul(i, max(lanes, 1))]
            loaded = b.load(x, at, lanes) if lanes else b.load_number(x, at)
            value = expand(element, Lanes(b, lanes), [loaded])
            b.store(value, y, at) if lanes else b.store_number(value, y, at)
        module = ModuleOp([b.function(f"own_{name}", True)])
        module.verify()
        ExpandMath().apply(Context(), module)
        module.verify()
        kinds = [op for op in module.walk() if type(op) in EXPANSIONS]
        assert not [op for op in kinds if "f32" in str(op.results[0].type)]
        functions += map(generic_text, module.ops)
    library = linking.load("\n".join(functions))
    for name in names:
        actual = np.full_like(grid, 7)
        linking.bind(library, f"own_{name}", [grid, actual])()
        with np.errstate(all="ignore"):
            expected = libm(name)(grid.astype(np.float64)).astype(np.float32)
            if name in ("silu", "gelu"):  # -inf * 0 is NaN in PyTorch too
                expected[grid == -np.inf] = np.nan
        # As in PyTorch, 1 + erf(x) cancels in gelu for negative x, and e^-x overflows in silu a little before x e^x underflows.
        absolute = {"gelu": 2e-6, "silu": 1e-36}.get(name, 1e-37)
        np.testing.assert_allclose(actual, expected, rtol=5e-7, atol=absolute, err_msg=name)
        if name in (*ANGLES, "expm1", "log1p", "round"):
            known = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(actual[known]), np.signbit(expected[known]), name)


@pytest.mark.parametrize("lanes", [4, 0], ids=["vectors", "numbers"])
def test_functions_of_float64(lanes: int) -> None:
    grid = np.concatenate(
        [np.linspace(-1.2, 1.2, 1024), np.linspace(-760, 760, 1024), np.linspace(-9, 28, 1008), EDGES]
    )
    expected: dict[str, Any] = {
        **{name: getattr(np, name) for name in ("exp", "exp2", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
        **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan", "atanh")},
        "erf": np.vectorize(python_math.erf),
        "erfc": np.vectorize(python_math.erfc),
        "roundeven": np.rint,
    }  # fmt: skip
    functions: list[str] = []
    # Powers, of two numbers, are tested in test_elements.py.
    kinds = {kind.name.removeprefix("math."): kind for kind in WIDE if kind is not math.PowFOp}
    assert kinds.keys() == expected.keys()
    for name, kind in kinds.items():
        b = KernelBuilder([], {"x": memref(grid.shape, "f64"), "y": memref(grid.shape, "f64")})
        x, y = b.buffers["x"], b.buffers["y"]
        with b.loop(0, grid.size // max(lanes, 1)) as i:
            at = [b.mul(i, max(lanes, 1))]
            loaded = b.load(x, at, lanes, dtype="f64") if lanes else b.load_number(x, at, "f64")
            value = b.op(kind, [loaded], loaded.type)
            b.store(value, y, at) if lanes else b.store_number(value, y, at)
        module = ModuleOp([b.function(f"wide_{name}", True)])
        ExpandMath().apply(Context(), module)
        module.verify()
        functions += map(generic_text, module.ops)
    library = linking.load("\n".join(functions))
    for name, function in expected.items():
        actual = np.full_like(grid, 7)
        linking.bind(library, f"wide_{name}", [grid, actual])()
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(actual, function(grid), rtol=9e-16, atol=1e-300, err_msg=name)
