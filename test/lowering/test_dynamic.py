"""Symbolic sizes natively: one compilation, run at several sizes, compared with eager PyTorch."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from differential import compare, find_operator, flatten, program_of, to_numpy  # noqa: E402
from torch.export import Dim  # noqa: E402
from xdsl.context import Context  # noqa: E402
from xdsl.dialects import scf  # noqa: E402
from xdsl.dialects.builtin import ModuleOp, StringAttr  # noqa: E402
from xdsl.dialects.func import FuncOp  # noqa: E402
from xdsl.parser import Parser  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.errors import ExirError, InputError, UnsupportedError  # noqa: E402
from xdsl_exir.interpreter.operators.symbolic import AssertionFailed  # noqa: E402
from xdsl_exir.lowering.edge_to_linalg import EdgeToLinalg  # noqa: E402
from xdsl_exir.lowering.mlir import run_passes  # noqa: E402
from xdsl_exir.program import Program, context  # noqa: E402
from xdsl_exir.runtime.native import NativeEngine, plan_program  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

# PyTorch's own warnings while it exports; nothing of ours warns.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning"
)

N, M = 71, 73
"""Sizes that types have as the symbols s0 and s1."""
SIZES = ((71, 73), (1, 1), (2, 5), (3, 4), (7, 9), (8, 16), (33, 17), (130, 64))


def rand(*shape: int, dtype: Any = torch.float32) -> Any:
    if dtype.is_floating_point:
        return torch.rand(*shape, dtype=torch.float64).sub(0.4).to(dtype)
    return torch.randint(0, 2 if dtype is torch.bool else 9, shape).to(dtype)


Call = Callable[[int, int], Sequence[Any]]
"""From the values of s0 and s1 to an operator's arguments."""

CALLS: list[tuple[str, Call]] = [
    # matrix products: by schedule, by linalg
    ("aten.mm", lambda n, m: (rand(n, 40), rand(40, 33))),
    ("aten.mm", lambda n, m: (rand(6, 40), rand(40, n))),
    ("aten.mm", lambda n, m: (rand(6, n), rand(n, m))),
    ("aten.mm", lambda n, m: (rand(n, 5, dtype=torch.float64), rand(5, m, dtype=torch.float64))),
    ("aten.mm", lambda n, m: (rand(n, m, dtype=torch.int64), rand(m, 3, dtype=torch.int64))),
    ("aten.addmm", lambda n, m: (rand(33), rand(n, 40), rand(40, 33))),
    ("aten.addmm", lambda n, m: (rand(n, 33), rand(n, 40), rand(40, 33))),
    ("aten.bmm", lambda n, m: (rand(n, 5, 6), rand(n, 6, 7))),
    ("aten.bmm", lambda n, m: (rand(3, n, 6), rand(3, 6, m))),
    ("aten.bmm", lambda n, m: (rand(3, n, m), rand(3, m, 20))),
    ("aten.bmm", lambda n, m: (rand(3, m, 20), rand(3, n, 20).transpose(1, 2).contiguous())),
    # elements
    ("aten.add.Tensor", lambda n, m: (rand(n, m), rand(m))),
    ("aten.mul.Tensor", lambda n, m: (rand(n, 1), rand(n, 1, 5))),
    ("aten.sub.Tensor", lambda n, m: (rand(m, n, dtype=torch.bfloat16), rand(n, dtype=torch.float32))),
    ("aten.gelu", lambda n, m: (rand(2, n, 40),)),
    ("aten.relu", lambda n, m: (rand(n),)),
    ("aten.where.self", lambda n, m: (rand(n, m, dtype=torch.bool), rand(n, m), rand(1, m))),
    ("aten._to_copy", lambda n, m: (rand(n, m, dtype=torch.int64),)),
    # reductions and normalizations
    ("aten._softmax", lambda n, m: (rand(n, m), -1, False)),
    ("aten._softmax", lambda n, m: (rand(n, m), 0, False)),
    ("aten._log_softmax", lambda n, m: (rand(n, m, dtype=torch.float64), 1, False)),
    ("aten.layer_norm", lambda n, m: (rand(n, m, 40), [40], rand(40), rand(40))),
    ("aten.sum.dim_IntList", lambda n, m: (rand(n, m), [1], True)),
    ("aten.sum.dim_IntList", lambda n, m: (rand(n, m, dtype=torch.int64), [0])),
    ("aten.mean.dim", lambda n, m: (rand(n, m), [1])),
    ("aten.mean.dim", lambda n, m: (rand(n, m), [0])),
    ("aten.mean", lambda n, m: (rand(n, m, dtype=torch.float64),)),
    ("aten.amax", lambda n, m: (rand(n, m), [1])),
    ("aten.any.dim", lambda n, m: (rand(n, m, dtype=torch.bool), 1)),
    ("aten.argmax", lambda n, m: (rand(n, m), 1)),
    ("aten.min.dim", lambda n, m: (rand(n, m), 0)),
    ("aten.linalg_vector_norm", lambda n, m: (rand(n, m), 2, [1])),
    ("aten.cumsum", lambda n, m: (rand(n, m, dtype=torch.int64), 1)),
    ("aten.cumsum", lambda n, m: (rand(n, m), 0)),
    # views
    ("aten.permute", lambda n, m: (rand(n, 2, m), [2, 0, 1])),
    ("aten.view", lambda n, m: (rand(n, m, 4), [-1, 4])),
    ("aten.view", lambda n, m: (rand(n, 6), [-1, 2, 3])),
    ("aten.unsqueeze", lambda n, m: (rand(n, m), 1)),
    ("aten.expand", lambda n, m: (rand(n, 1), [3, -1, 4])),
    ("aten.select.int", lambda n, m: (rand(n, m), 0, -1)),
    ("aten.slice.Tensor", lambda n, m: (rand(n, m), 1, 1)),
    ("aten.slice.Tensor", lambda n, m: (rand(n, m), 0, -2)),
    ("aten.slice.Tensor", lambda n, m: (rand(n, m), 0, 0, -1, 2)),
    ("aten.cat", lambda n, m: ([rand(n, 3), rand(m, 3), rand(2, 3)], 0)),
    ("aten.cat", lambda n, m: ([rand(n, 3), rand(n, 4)], 1)),
    ("aten.split_with_sizes", lambda n, m: (rand(n, 7), [3, 4], 1)),
    ("aten.constant_pad_nd", lambda n, m: (rand(n, m), [1, 2, 3, 0], 0.5)),
    ("aten.clone", lambda n, m: (rand(n, m),)),
    # elements by place
    ("aten.embedding", lambda n, m: (rand(10, 40), rand(n, m, dtype=torch.int64))),
    ("aten.index_select", lambda n, m: (rand(n, 4), 1, rand(3, dtype=torch.int64) % 4)),
    ("aten.gather", lambda n, m: (rand(n, 4), 1, rand(n, 3, dtype=torch.int64) % 4)),
    ("aten.scatter_add", lambda n, m: (rand(n, 4), 1, rand(n, 3, dtype=torch.int64) % 4, rand(n, 3))),
    ("aten.index.Tensor", lambda n, m: (rand(n, 5), [torch.arange(m) % n])),
    ("aten.index_put", lambda n, m: (rand(n, 5), [torch.arange(m) % n], rand(m, 5), True)),
    ("aten.searchsorted.Tensor", lambda n, m: (torch.arange(m).float() / m, rand(n))),
    # order, running results, and copies
    ("aten.sort", lambda n, m: (rand(n, m), 1)),
    ("aten.topk", lambda n, m: (rand(n + 8, 9)[:n], 3, 1)),
    ("aten.median.dim", lambda n, m: (rand(n, m), 1)),
    ("aten.cummax", lambda n, m: (rand(n, m), 0)),
    ("aten.flip", lambda n, m: (rand(n, m, 3), [0, 1])),
    ("aten.roll", lambda n, m: (rand(n, m), [1, -2], [0, 1])),
    ("aten.repeat", lambda n, m: (rand(n, m), [2, 1, 3])),
    ("aten.diagonal", lambda n, m: (rand(3, n, m), 0, 1, 2)),
    ("aten.diag_embed", lambda n, m: (rand(n, m), 2)),
    ("aten.tril", lambda n, m: (rand(n, m), 1)),
    ("aten.unfold", lambda n, m: (rand(n, 8, m), 1, 3, 2)),
    # of several loops
    ("aten.group_norm", lambda n, m: (rand(n, 6, m), 3, rand(6), rand(6))),
    ("aten.linalg_inv_ex", lambda n, m: (rand(n, 3, 3) + 2 * torch.eye(3),)),
    ("aten._fft_r2c", lambda n, m: (rand(n, 12), [1], 1, True)),
    ("aten.lstm.input", lambda n, m: layer_call(4, n, m)),
    ("aten.gru.input", lambda n, m: layer_call(3, n, m)),
    # fillings
    ("aten.full_like", lambda n, m: (rand(n, m), 3)),
    ("aten.zeros_like", lambda n, m: (rand(n, m, dtype=torch.int64),)),
]

IMAGES: list[tuple[str, Call]] = [
    ("aten.convolution", lambda n, m: image_call(rand(2, 3, n, m), 8, 3, padding=[1, 1], bias=True)),
    ("aten.convolution", lambda n, m: image_call(rand(1, 3, n, m), 40, 3, stride=[2, 2], padding=[1, 1])),
    ("aten.convolution", lambda n, m: image_call(rand(1, 6, n, m), 16, 1)),
    ("aten.convolution", lambda n, m: image_call(rand(1, 6, n, m), 16, 1, stride=[2, 2])),
    (
        "aten.convolution",
        lambda n, m: image_call(rand(1, 6, n, m), 9, 3, padding=[2, 2], dilation=[2, 2], groups=3),
    ),
    ("aten.convolution", lambda n, m: image_call(rand(1, 6, n, m), 6, 3, padding=[1, 1], groups=6)),
    ("aten.convolution", lambda n, m: image_call(rand(n, 3, 5, 6), 8, 3, padding=[1, 1])),
    (
        "aten.convolution",
        lambda n, m: (rand(2, 3, n), rand(4, 3, 3), None, [1], [1], [1], False, [0], 1),
    ),
    ("aten.convolution", lambda n, m: image_call(rand(n, 6, 9, 37), 12, 3, stride=[2, 2], groups=6)),
    ("aten.convolution", lambda n, m: image_call(rand(n, 16, 5, 6), 16, 3, padding=[1, 1], bias=True)),
    ("aten.group_norm", lambda n, m: (rand(n, 6, 5, 4), 3, rand(6), rand(6))),
    ("aten.group_norm", lambda n, m: (rand(n, 6, 5), 6, None, None)),
    ("aten.mm", lambda n, m: (rand(n, 40), rand(40, 1))),
    ("aten.bmm", lambda n, m: (rand(3, m, 17), rand(3, 17, 1))),
    ("aten.max_pool2d_with_indices", lambda n, m: (rand(1, 3, n, m), [2, 2], [2, 1], [1, 0], [4, 2])),
    ("aten.max_pool2d_with_indices", lambda n, m: (rand(1, 3, n, m), [3, 3], [2, 2], [1, 1])),
    ("aten.max_pool2d_with_indices", lambda n, m: (rand(n, 3, 6, 7), [2, 2])),
    ("aten.avg_pool2d", lambda n, m: (rand(1, 3, n, m), [3, 3], [2, 2], [1, 1])),
    ("aten._adaptive_avg_pool2d", lambda n, m: (rand(2, 3, n, m), [3, 4])),
    ("aten.adaptive_max_pool2d", lambda n, m: (rand(2, 3, n, m), [1, 2])),
    (
        "aten.convolution",
        lambda n, m: (rand(1, 3, n, m), rand(3, 4, 3, 3), rand(4), [2, 2], [1, 1], [1, 1], True, [1, 1], 1),
    ),
    ("aten.upsample_nearest2d.vec", lambda n, m: (rand(1, 3, n, m), None, [2.0, 1.5])),
    ("aten.upsample_bilinear2d.vec", lambda n, m: (rand(1, 3, n, m), None, False, [0.6, 2.0])),
    ("aten.grid_sampler_2d", lambda n, m: (rand(1, 2, n, m), rand(1, 3, 4, 2), 0, 2, False)),
    ("aten.reflection_pad2d", lambda n, m: (rand(1, 3, n, m), [1, 1, 2, 1])),
    ("aten.im2col", lambda n, m: (rand(2, 3, n, m), [3, 3], [1, 1], [1, 1], [2, 2])),
    ("aten.pixel_shuffle", lambda n, m: (rand(1, 8, n, m), 2)),
]
IMAGE_SIZES = ((71, 73), (5, 5), (7, 33), (16, 8), (40, 130))


def layer_call(gates: int, n: int, m: int) -> Sequence[Any]:
    """Arguments of a recurrent layer in both directions, over n steps."""
    params = [
        rand(size, *inputs) for _ in range(2) for size in [gates * 5] for inputs in ((3,), (5,), (), ())
    ]
    states = [rand(2, m, 5), rand(2, m, 5)]
    return (rand(n, m, 3), states if gates == 4 else states[0], params, True, 1, 0.0, False, True, False)


def image_call(x: Any, outputs: int, kernel: int, **options: Any) -> tuple[Any, ...]:
    """Arguments of aten.convolution."""
    groups = options.get("groups", 1)
    weight = rand(outputs, x.shape[1] // groups, kernel, kernel)
    bias = rand(outputs) if options.get("bias") else None
    given = [options.get(name, default) for name, default in (("stride", [1, 1]), ("padding", [0, 0]))]
    return (x, weight, bias, *given, options.get("dilation", [1, 1]), False, [0, 0], groups)


def keywords(name: str) -> dict[str, Any]:
    return {"dtype": torch.float32} if name == "aten._to_copy" else {}


def compiled(calls: Sequence[tuple[str, Call]]) -> tuple[NativeEngine, ModuleOp]:
    """The calls as functions of one native program, call_0 and so on; and the module at edge."""
    module = ModuleOp([])
    for index, (name, call) in enumerate(calls):
        program, _ = program_of(name, *call(N, M), symbols={N: "s0", M: "s1"}, **keywords(name))
        [function] = program.ops
        assert isinstance(function, FuncOp)
        function.detach()
        function.sym_name = StringAttr(f"call_{index}")
        module.body.block.add_op(function)
    DecomposeAten().apply(Context(), module)
    AtenToEdge().apply(Context(), module)
    return NativeEngine(Program(module)), module


def tensors_of(args: Any) -> list[Any]:
    items: list[Any] = [*args] if isinstance(args, list | tuple) else []  # pyright: ignore[reportUnknownArgumentType]
    return [args] if isinstance(args, torch.Tensor) else [t for item in items for t in tensors_of(item)]


@pytest.mark.parametrize(("calls", "sizes"), [(CALLS, SIZES), (IMAGES, IMAGE_SIZES)], ids=["calls", "images"])
def test_operators(calls: list[tuple[str, Call]], sizes: Sequence[tuple[int, int]]) -> None:
    engine, _ = compiled(calls)
    for n, m in sizes:
        for index, (name, call) in enumerate(calls):
            torch.manual_seed(0)
            args = call(n, m)
            expected = flatten(find_operator(name)(*args, **keywords(name)))
            results = engine.run(f"call_{index}", [to_numpy(tensor) for tensor in tensors_of(args)])
            for position, (got, value) in enumerate(zip(results, expected, strict=True)):
                compare(f"{name} (call {index}) at {n}, {m}, result {position}", got, value, scale=8)


def test_linalg_in_upstream_dialects() -> None:
    """Functions get their symbols from their arguments."""
    _, module = compiled([call for call in CALLS if call[0] in ("aten.mm", "aten._softmax", "aten.view")])
    EdgeToLinalg().apply(Context(), module)
    assert "tensor<?x?xf32>" in run_passes(Program(module).text(generic=True), ())


def test_refused_by_name() -> None:
    def forward(self: Any, x: Any, y: Any) -> Any:
        return torch.nn.functional.conv1d(x, y.expand(1, 2, y.shape[0]), stride=y.shape[0])

    program = export(forward, (rand(1, 2, 12), rand(2)), (None, {0: Dim.DYNAMIC}))
    with pytest.raises(UnsupportedError, match=r"aten\.convolution: symbolic stride"):
        xdsl_exir.compile(program, "native")


# --- programs ------------------------------------------------------------------------------------------------


Forward = Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any] | Callable[[Any, Any, Any, Any], Any]
"""A module's `forward`, of one to three inputs."""


def export(forward: Forward, args: tuple[Any, ...], shapes: Any) -> Program:
    class Model(torch.nn.Module):
        pass

    Model.forward = forward  # pyright: ignore[reportAttributeAccessIssue]
    return xdsl_exir.from_exported_program(torch.export.export(Model(), args, dynamic_shapes=shapes))


TARGETS = ("interpreter", "native")


@pytest.mark.parametrize("target", TARGETS)
def test_guards(target: str) -> None:
    def forward(self: Any, x: Any, y: Any) -> Any:
        return x.reshape(-1, 2) + y[: x.shape[0] // 2]

    program = export(forward, (rand(8), rand(20, 2)), ({0: Dim.DYNAMIC}, {0: Dim("rows", min=3, max=32)}))
    run = xdsl_exir.compile(program, target)
    for n in (4, 6, 30):
        x, y = rand(n), rand(20, 2)
        np.testing.assert_allclose(run(x.numpy(), y.numpy()), forward(None, x, y).numpy())
    bad = (
        ((7, 20), r"input 'x', dimension 0: s\d+ = 7; not s\d+ mod 2 == 0"),
        ((8, 40), r"input 'y', dimension 0: 40 is more than 32 \(s\d+ <= 32\)"),
        ((8, 2), r"input 'y', dimension 0: 2 is less than 3 \(s\d+ >= 3\)"),
    )
    for (n, rows), message in bad:
        with pytest.raises(InputError, match=message):
            run(rand(n).numpy(), rand(rows, 2).numpy())


@pytest.mark.parametrize("rows", [Dim.AUTO, Dim.DYNAMIC(max=7), Dim("rows", min=2, max=7)])
@pytest.mark.parametrize("target", TARGETS)
def test_sizes_of_which_no_lower_end_was_said(target: str, rows: Any) -> None:
    """PyTorch runs them at 0 and 1 too, whatever it assumed to trace them."""
    program = export(lambda self, x: x.softmax(-1) + x.sum(), (rand(5, 4),), ({0: rows},))
    run = xdsl_exir.compile(program, target)
    for n in (0, 1, 2, 7):
        x = rand(n, 4)
        np.testing.assert_allclose(run(x.numpy()), (x.softmax(-1) + x.sum()).numpy(), rtol=1e-5, atol=1e-6)


def test_flattening_of_what_may_have_no_rows() -> None:
    program = export(lambda self, x: x.repeat_interleave(2, -1), (rand(5, 4),), ({0: Dim.AUTO, 1: Dim.AUTO},))
    assert xdsl_exir.compile(program)(np.zeros((0, 3), np.float32)).shape == (0, 6)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("rows", [Dim.AUTO, Dim("rows"), Dim("rows", min=0, max=64)])
def test_sizes_that_types_do_not_hold_for(target: str, rows: Any) -> None:
    """The last row is traced as one; where there is none, it would be read from beyond the memory."""
    program = export(lambda self, x: (x + 1)[-1:] * 2, (rand(5, 4),), ({0: rows, 1: Dim.AUTO},))
    run = xdsl_exir.compile(program, target)
    for shape in ((3, 2), (1, 5), (2, 0), (1, 1)):
        x = rand(*shape)
        np.testing.assert_allclose(run(x.numpy()), ((x + 1)[-1:] * 2).numpy())
    with pytest.raises(InputError, match=r"input 'x', dimension 0: s\d+ = 0; not s\d+ >= 1"):
        run(rand(0, 4).numpy())


@pytest.mark.parametrize("target", TARGETS)
def test_sizes_that_types_do_not_hold_for_together(target: str) -> None:
    """Three of rows and columns: PyTorch says of neither that they have to be enough."""
    program = export(lambda self, x: x.flatten()[:3] * 2, (rand(4, 4),), ({0: Dim.AUTO, 1: Dim.AUTO},))
    run = xdsl_exir.compile(program, target)
    for shape in ((3, 1), (1, 3), (5, 7)):
        x = rand(*shape)
        np.testing.assert_array_equal(run(x.numpy()), (x.flatten()[:3] * 2).numpy())
    with pytest.raises(InputError, match=r"not min\(s\d+ \* s\d+, 3\) == 3"):
        run(rand(1, 2).numpy())


@pytest.mark.native
def test_convolutions_of_any_number_of_images_have_kernels() -> None:
    weight, deep = rand(16, 16, 3, 3), rand(16, 1, 3, 3)

    def forward(self: Any, x: Any) -> Any:
        images = torch.nn.functional.conv2d(x, weight, padding=1)
        return torch.nn.functional.conv2d(images, deep, padding=1, groups=16)

    run = xdsl_exir.compile(export(forward, (rand(3, 16, 12, 13),), ({0: Dim.DYNAMIC},)), "native")
    assert not run.slow_paths
    for n in (1, 2, 5):
        x = rand(n, 16, 12, 13)
        np.testing.assert_allclose(run(x.numpy()), forward(None, x).numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
def test_medians_of_what_may_have_no_elements(target: str) -> None:
    def forward(self: Any, x: Any) -> Any:
        return x.median(), x.nanmedian(), x.half().median(), x.int().median(), x.to(torch.int8).median()

    run = xdsl_exir.compile(export(forward, (rand(5, 4),), ({0: Dim("rows", min=0)},)), target)
    for n in (3, 0, 1):
        x = rand(n, 4)
        for got, expected in zip(run(x.numpy()), forward(None, x), strict=True):
            np.testing.assert_array_equal(got, expected.numpy())


@pytest.mark.parametrize("target", TARGETS)
def test_exponentials_and_turns_of_what_may_have_no_elements(target: str) -> None:
    def forward(self: Any, x: Any) -> Any:
        return (
            x.logsumexp(0),
            x.logsumexp((0, 1), keepdim=True),
            x.half().logsumexp(0),
            x.roll((1, 2), (0, 1)),
        )

    run = xdsl_exir.compile(export(forward, (rand(5, 4),), ({0: Dim("rows", min=0)},)), target)
    for rows in (0, 1, 3):
        x = rand(rows, 4)
        for result, wanted in zip(run.flat([x.numpy()]), forward(None, x), strict=True):
            np.testing.assert_allclose(result, wanted.numpy(), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_equal_and_derived_sizes(target: str) -> None:
    half = Dim("half", min=2, max=9)
    program = export(
        lambda self, x, y, z: x[: y.shape[0]] + y * z,
        (rand(8), rand(4), rand(4)),
        ({0: 2 * half}, {0: half}, {0: half}),
    )
    run = xdsl_exir.compile(program, target)
    for n in (2, 9):
        x, y, z = rand(2 * n), rand(n), rand(n)
        np.testing.assert_allclose(
            run(x.numpy(), y.numpy(), z.numpy()), (x[:n] + y * z).numpy(), rtol=1e-6, atol=1e-6
        )
    for sizes, message in (
        ((8, 4, 5), r"input 'z', dimension 0: 5 is not s\d+ = 4, since input 'y', dimension 0 is 4"),
        ((9, 4, 4), r"input 'x', dimension 0: 9 is not 2 \* s\d+ = 8, since input 'y', dimension 0 is 4"),
    ):
        with pytest.raises(InputError, match=message):
            run(*(rand(n).numpy() for n in sizes))


@pytest.mark.parametrize("stage", ["linalg", "named-linalg"])
def test_symbols_that_only_derived_sizes_say(stage: str) -> None:
    half = Dim("half", min=3, max=9)
    program = export(
        lambda self, x, y: (torch.cat([x, x]), y.relu() @ torch.ones(3, 2)),
        (rand(9), rand(16, 3)),
        ({0: 2 * half + 1}, {0: 4 * half}),
    )
    run = xdsl_exir.compile(program.to(stage))
    for n in (3, 5):
        x, y = rand(2 * n + 1), rand(4 * n, 3)
        first, second = run(x.numpy(), y.numpy())
        np.testing.assert_array_equal(first, torch.cat([x, x]).numpy())
        np.testing.assert_allclose(second, (y.relu() @ torch.ones(3, 2)).numpy(), rtol=1e-5)


def test_ranges_of_derived_sizes() -> None:
    """A range of `2 * s0` is a condition on `s0`, where that has none of its own that says as much, as PyTorch checks both."""
    shape = "tensor<?xf32, #exir.shape<[s0]>>"
    text = f"""func.func @forward(%x: {shape}) -> {shape}
        attributes {{exir.ranges = {{s0 = #exir.range<2, 64>, "2 * s0" = #exir.range<4, 20>}}}} {{
      %y = edge.aten.relu(%x) : ({shape}) -> {shape}
      func.return %y : {shape}
    }}"""
    run = xdsl_exir.compile(Program(Parser(context().clone(), text).parse_module()))
    assert run(np.ones(10, np.float32))[0].shape == (10,)
    for n, message in ((1, r"not 2 \* s0 >= 4"), (11, r"not 2 \* s0 <= 20")):
        with pytest.raises(InputError, match=message):
            run(np.ones(n, np.float32))


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_in_and_out(target: str) -> None:
    def forward(self: Any, x: Any, n: int) -> Any:
        return x + n, x.shape[0] * 2 + n, torch.arange(x.shape[0] + n)

    program = export(forward, (rand(5), 4), ({0: Dim.DYNAMIC}, Dim.DYNAMIC))
    run = xdsl_exir.compile(program, target)
    for size, n in ((5, 4), (9, 7)):
        x = rand(size)
        total, number, row = run(x.numpy(), n)
        np.testing.assert_allclose(total, (x + n).numpy())
        assert number == 2 * size + n
        np.testing.assert_array_equal(row, np.arange(size + n))


@pytest.mark.parametrize("target", TARGETS)
def test_writes_through_views_by_computed_sizes(target: str) -> None:
    """What decomposition writes back to the input has 2 * (s0 floordiv 2) columns, which has to be s0."""

    class Halves(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            halves = x.unflatten(-1, (2, -1))
            halves[:, 0] += 1
            return halves * 2

    exported = torch.export.export(Halves(), (rand(2, 4),), dynamic_shapes=({1: Dim.AUTO},))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported.run_decompositions()), target)
    for columns in (4, 10):
        x, written = rand(2, columns), np.empty((2, columns), np.float32)
        written[:] = x
        np.testing.assert_array_equal(run(written), Halves()(x).numpy())
        np.testing.assert_array_equal(written, x.numpy())
    with pytest.raises(InputError, match=r"s\d+ = 7; not "):
        run(rand(2, 7).numpy())


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_that_decided_a_branch(target: str) -> None:
    """That a number is at least 2 is a guard of PyTorch's, as that of a size is not: it was compared, not assumed."""
    program = export(lambda self, x, n: x + n if n >= 2 else x, (rand(5), 4), (None, Dim.DYNAMIC))
    run = xdsl_exir.compile(program, target)
    np.testing.assert_array_equal(run(np.ones(5, np.float32), 2), np.full(5, 3, np.float32))
    with pytest.raises(InputError, match=r"input 'n': s\d+ = 1; not s\d+ >= 2"):
        run(np.ones(5, np.float32), 1)


@pytest.mark.parametrize("target", TARGETS)
def test_sizes_of_pointwise_operators_that_hold_for_some(target: str) -> None:
    """PyTorch says that the angles have one row, as of two and three columns, and of one there is none."""
    program = export(lambda self, x: torch.rad2deg(x[:, 0:-1:2]).t_() * 1, (rand(1, 3),), ({1: Dim.AUTO},))
    run = xdsl_exir.compile(program, target)
    np.testing.assert_allclose(run(np.ones((1, 2), np.float32)), [[57.29578]], rtol=1e-6)
    with pytest.raises(InputError, match=r"s\d+ = 1; not s\d+ >= 2"):
        run(np.ones((1, 1), np.float32))


@pytest.mark.parametrize("target", TARGETS)
def test_sizes_that_are_zero_where_others_are(target: str) -> None:
    """Places and the values for them are as many; no more rows are picked than there are."""

    def put(self: Any, x: Any, places: Any, values: Any) -> Any:
        written = x.clone()
        written[:, places] = values
        return written

    def count(self: Any, x: Any, columns: Any) -> Any:
        return torch.zeros_like(x).scatter_add(1, columns, torch.ones_like(columns, dtype=x.dtype))

    x = rand(2, 8)
    run = xdsl_exir.compile(
        export(put, (x, torch.arange(3), rand(2, 3)), ({}, {0: Dim.AUTO}, {1: Dim.AUTO})), target
    )
    np.testing.assert_array_equal(run(x, torch.arange(0), rand(2, 0)), x)
    with pytest.raises(InputError, match=r"not s\d+ == s\d+"):
        run(x, torch.arange(0), rand(2, 3))
    run = xdsl_exir.compile(
        export(count, (rand(3, 8), torch.ones(2, 4).long()), ({0: Dim.AUTO},) * 2), target
    )
    assert run(rand(0, 8), torch.ones(0, 4).long()).shape == (0, 8)
    np.testing.assert_array_equal(
        run(rand(2, 8), torch.ones(1, 4).long()), np.eye(8)[1:2].repeat(2, 0) * [[4], [0]]
    )


@pytest.mark.parametrize("target", TARGETS)
def test_values_that_are_fewer_than_places(target: str) -> None:
    """PyTorch's tracer takes it that there are as many; where there are fewer, memory behind them was read."""

    def put(self: Any, x: Any, values: Any) -> Any:
        written = x.clone()
        written[:, torch.tensor([0, 4, 2])] = values
        return written

    def put_found(self: Any, x: Any, mask: Any) -> Any:
        return x.index_put((torch.tensor([0, 4, 2]),), mask.nonzero()[:, 0].float())

    x, values = rand(2, 8), rand(2, 4)
    run = xdsl_exir.compile(export(put, (x, rand(2, 3)), ({}, {1: Dim.AUTO})), target)
    assert run(x, values[:, :3].contiguous())[0, 4] == values[0, 1]
    with pytest.raises(ExirError, match=r"index_put: (sizes do not fit|not \w+ == 3)"):
        run(x, values[:, :2].contiguous())
    run = xdsl_exir.compile(export(put_found, (rand(8), torch.tensor([0, 1, 1, 1])), ({}, {})), target)
    np.testing.assert_array_equal(run(rand(8), torch.tensor([1, 1, 0, 1]))[[0, 4, 2]], [0, 1, 3])
    with pytest.raises(ExirError, match=r"index_put: (sizes do not fit|not \w+ == 3)"):
        run(rand(8), torch.tensor([1, 0, 0, 1]))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(0, 3, 0, 5), (2, 3, 0, 5), (0, 3, 4, 5)])
def test_batches_laid_flat_of_no_elements(target: str, shape: tuple[int, ...]) -> None:
    """A view finds no size of -1 where another one is 0."""
    program = export(
        lambda self, x: torch.nn.functional.group_norm(x @ x.mT, 3),
        (rand(2, 3, 4, 5),),
        ({0: Dim.AUTO, 2: Dim.AUTO},),
    )
    run = xdsl_exir.compile(program, target)
    assert run(np.zeros(shape, np.float32)).shape == (*shape[:3], shape[2])


@pytest.mark.parametrize("target", TARGETS)
def test_assertions_of_the_graph(target: str) -> None:
    program = export(
        lambda self, x, y: torch.cat([x, y]), (rand(5), rand(6)), ({0: Dim.DYNAMIC}, {0: Dim.DYNAMIC})
    )
    text = str(program)
    size = text.split("#exir.shape<[")[1].split("]")[0]
    condition = f"""
    %n = aten.sym_size.int(%x, dim = 0) : (tensor<?xf32, #exir.shape<[{size}]>>) -> !exir.symint<{size}>
    %five = exir.number 5 : !exir.symint<5>
    %ok = exir.sym_gt %n, %five : (!exir.symint<{size}>, !exir.symint<5>) -> !exir.symbool<gt({size}, 5)>
    aten._assert_scalar(%ok, assert_msg = "too short") : (!exir.symbool<gt({size}, 5)>) -> ()
"""
    head, cat, tail = text.partition("    %cat")
    run = xdsl_exir.compile(parsed(f"{head}{condition}{cat}{tail}"), target)
    assert run.flat([rand(6).numpy(), rand(3).numpy()])[0].shape == (9,)
    with pytest.raises(AssertionFailed, match="too short"):
        run.flat([rand(4).numpy(), rand(3).numpy()])


def parsed(text: str) -> Program:
    from xdsl.parser import Parser

    from xdsl_exir.program import context

    return Program(Parser(context().clone(), text).parse_module())


@pytest.mark.parametrize("target", TARGETS)
def test_resampled_to_sizes_of_others(target: str) -> None:
    def forward(self: Any, x: Any, y: Any) -> Any:
        resample = torch.nn.functional.interpolate
        rows = resample(x[0], size=y.shape[2]), resample(x[0], size=y.shape[2], mode="linear")
        image = resample(x, size=y.shape[1:], mode="bicubic", align_corners=True)
        return *rows, image, resample(x, scale_factor=1.5, mode="nearest-exact")

    program = export(
        forward, (rand(1, 3, 5, 7), rand(1, 6, 11)), ({2: Dim.AUTO, 3: Dim.AUTO}, {1: Dim.AUTO, 2: Dim.AUTO})
    )
    run = xdsl_exir.compile(program, target)
    for h, w, rows, columns in ((5, 7, 6, 11), (8, 3, 9, 5)):
        x, y = rand(1, 3, h, w), rand(1, rows, columns)
        for got, expected in zip(run(x.numpy(), y.numpy()), forward(None, x, y), strict=True):
            np.testing.assert_allclose(got, expected.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_linearly_resampled_to_as_many(target: str, dynamic: bool) -> None:
    """Elements are then copied, whatever the factor, and next to an infinity, too."""

    def forward(self: Any, x: Any) -> Any:
        resample = torch.nn.functional.interpolate
        by_factor = (
            resample(x, scale_factor=1.05, mode="bilinear"),
            resample(x[0], scale_factor=1.05, mode="linear"),
        )
        return *by_factor, resample(x, size=(10, 11), mode="bilinear"), resample(x[0], size=11, mode="linear")

    sizes = ({2: Dim.AUTO, 3: Dim.AUTO},) if dynamic else None
    run = xdsl_exir.compile(export(forward, (rand(1, 2, 10, 11),), sizes), target)
    for h, w in ((10, 11), (25, 11), (10, 4)) if dynamic else ((10, 11),):
        x = rand(1, 2, h, w)
        x[0, 1, 3, 2] = torch.inf
        for got, expected in zip(run(x.numpy()), forward(None, x), strict=True):
            np.testing.assert_allclose(got, expected.numpy(), rtol=1e-4, atol=1e-5)


def test_what_was_taken_for_granted() -> None:
    """A dimension is squeezed at size 1 only, which no guard of PyTorch's says."""
    run = xdsl_exir.compile(export(lambda self, x: x.squeeze(), (rand(5, 1, 4),), ({0: Dim.AUTO},)), "native")
    assert run(rand(3, 1, 4).numpy()).shape == (3, 4)
    with pytest.raises(AssertionFailed, match=r"dimension 0 is squeezed where its size s\d+ is 1"):
        run(rand(1, 1, 4).numpy())


def test_attention_of_several_batches() -> None:
    def forward(self: Any, x: Any, mask: Any) -> Any:
        b, t, _ = x.shape
        q = x.view(b, t, 4, 8).transpose(1, 2)
        y = torch.nn.functional.scaled_dot_product_attention(q, q * 0.5, q + 1, attn_mask=mask)
        return y.transpose(1, 2).reshape(b, t, 32)

    batch, time = Dim("batch", min=1, max=8), Dim("time", min=2, max=64)
    example = rand(2, 10, 32), rand(2, 1, 1, 10)
    program = export(forward, example, ({0: batch, 1: time}, {0: batch, 3: time}))
    run = xdsl_exir.compile(program, "native")
    for b, t in ((1, 2), (3, 17), (8, 64), (2, 33)):
        x, mask = rand(b, t, 32), rand(b, 1, 1, t)
        expected = forward(None, x, mask).numpy()
        np.testing.assert_allclose(run(x.numpy(), mask.numpy()), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_sizes_that_an_operator_needs_to_be_equal(target: str) -> None:
    """PyTorch traces as many keys as values by a symbol each: they are checked, and one to what is compiled."""

    def forward(self: Any, q: Any, k: Any, v: Any) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    given = rand(2, 4, 9, 8), rand(2, 4, 7, 8), rand(2, 4, 7, 8)
    run = xdsl_exir.compile(export(forward, given, ({2: Dim.AUTO},) * 3), target)
    assert target == "interpreter" or not run.slow_paths
    for queries, keys in ((9, 7), (3, 20), (17, 2)):
        given = rand(2, 4, queries, 8), rand(2, 4, keys, 8), rand(2, 4, keys, 8)
        got = run(*[x.numpy() for x in given])
        np.testing.assert_allclose(got, forward(None, *given), rtol=1e-4, atol=1e-5)
    with pytest.raises(xdsl_exir.InputError, match="=="):
        run(*[rand(2, 4, count, 8).numpy() for count in (3, 5, 6)])


def test_attention_to_values_that_lie_along_their_length() -> None:
    """The last ones of a symbolic number are packed together: what lay behind their panels was written over."""

    def forward(self: Any, x: Any) -> Any:
        rows = x.transpose(1, 2)[:, None]
        return torch.nn.functional.scaled_dot_product_attention(rows, rows, rows)

    program = export(forward, (rand(3, 4, 9),), ({0: Dim.DYNAMIC, 2: Dim.DYNAMIC},))
    run = xdsl_exir.compile(program, "native")
    for b, t in ((3, 9), (1, 1), (2, 2), (5, 5), (5, 17), (4, 33)):
        x = rand(b, 4, t)
        np.testing.assert_allclose(run(x.numpy()), forward(None, x), rtol=1e-4, atol=1e-5)


# --- models --------------------------------------------------------------------------------------------------

BENCH = Path(__file__).parents[2] / "bench"


def model_of(name: str) -> Any:
    spec = importlib.util.spec_from_file_location("export_models", BENCH / "export_models.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["export_models"] = module
    spec.loader.exec_module(module)
    return module.get_model_and_inputs(name)[0]


def tokens(batch: int, time: int) -> Any:
    return torch.randint(0, 8192, (batch, time))


def padding(batch: int, time: int) -> Any:
    mask = torch.ones(batch, time, dtype=torch.int64)
    mask[:, time - time // 5 :] = 0
    return mask


BATCH, TIME = Dim("batch", min=1, max=16), Dim("time", min=2, max=512)
HEIGHT, WIDTH = Dim("height", min=33, max=512), Dim("width", min=33, max=512)
TEXTS = ((1, 128), (3, 17), (2, 64), (1, 300), (4, 77))
Inputs = Callable[[int], tuple[Any, ...]] | Callable[[int, int], tuple[Any, ...]]
MODELS: dict[str, tuple[Inputs, Any, Sequence[tuple[int, ...]]]] = {
    "mlp": (
        lambda n: (torch.randn(n, 64),),
        ({0: Dim("batch", min=1, max=64)},),
        ((1,), (2,), (7,), (33,), (64,)),
    ),
    "bert6": (lambda b, t: (tokens(b, t), padding(b, t)), ({0: BATCH, 1: TIME}, {0: BATCH, 1: TIME}), TEXTS),
    "llama8": (lambda b, t: (tokens(b, t),), ({0: BATCH, 1: TIME},), TEXTS),
    "resnet18": (
        lambda h, w: (torch.randn(1, 3, h, w),),
        ({2: HEIGHT, 3: WIDTH},),
        ((224, 224), (128, 96), (33, 65), (300, 200), (97, 224)),
    ),
}
"""Inputs of a model by sizes, its dynamic dimensions, and the sizes it is run at."""
TOO_LARGE = {
    "mlp": ((65,), r"input '\w+', dimension 0: 65 is more than 64 \(s\d+ <= 64\)"),
    "bert6": ((17, 64), r"input '\w+', dimension 0: 17 is more than 16 \(s\d+ <= 16\)"),
    "llama8": ((1, 513), r"input '\w+', dimension 1: 513 is more than 512 \(s\d+ <= 512\)"),
    "resnet18": ((32, 64), r"input '\w+', dimension 2: 32 is less than 33 \(s\d+ >= 33\)"),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    inputs: Any
    inputs, shapes, sizes = MODELS[name]
    torch.manual_seed(0)
    model = model_of(name)
    if name == "resnet18":
        model = torch.nn.Sequential(model.stem, model.layers)  # its head is of fixed size
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(model, inputs(*(max(n, 3) for n in sizes[2])), dynamic_shapes=shapes)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    for size in sizes:
        given = inputs(*size)
        with torch.no_grad():
            expected = model(*given)
        for got, value in zip(run.flat([x.numpy() for x in given]), flatten(expected), strict=True):
            np.testing.assert_allclose(got, value.numpy(), rtol=1e-4, atol=1e-4)
    size, message = TOO_LARGE[name]
    with pytest.raises(InputError, match=message):
        run.flat([x.numpy() for x in inputs(*size)])


def test_a_constant_without_elements_is_given_back(native_tools: None) -> None:
    """Its sizes are symbolic, so it is no array of its own: it was a raw StopIteration."""

    class Empty(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            x.flatten().zero_()
            return x * True

    n = torch.export.Dim("n", min=2)
    args = (torch.zeros(0, 3, 6, dtype=torch.int8), torch.zeros(3))
    exported = torch.export.export(Empty(), args, dynamic_shapes={"x": {1: n}, "y": {0: n}})
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    [result] = run.flat([np.zeros((0, 5, 6), np.int8), np.zeros(5, np.float32)])
    assert result.shape == (0, 5, 6)


class Reduced(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x.amax(), x.sum(-1), x.softmax(-1)


def test_rows_of_a_symbolic_length_are_reduced_in_several_chains():
    """One after the other they wait for each other; what is left of four vectors is taken one by one."""
    x = torch.randn(3, 70)
    dims = {1: Dim("length", min=2, max=4096)}
    exported = torch.export.export(Reduced(), (x,), dynamic_shapes=(dims,))
    program = xdsl_exir.from_exported_program(exported)
    kernels = plan_program(program).dispatches.kernels
    loops = [
        [op for op in kernel.function(name).walk() if isinstance(op, scf.ForOp)]
        for name, kernel in kernels.items()
    ]
    assert any(len(loop.iter_args) == 4 for each in loops for loop in each)
    run = xdsl_exir.compile(program, "native")
    for length in (2, 15, 16, 63, 64, 65, 100, 129, 1000):
        x = torch.randn(3, length)
        for given, expected in zip(run.flat([x.numpy()]), Reduced()(x), strict=True):
            np.testing.assert_allclose(given, expected, rtol=1e-5, atol=1e-5)


class Frames(torch.nn.Module):
    """Of sound, as speech models begin: there are none of fewer than 400 samples."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.convolutions = torch.nn.Sequential(
            *(
                torch.nn.Conv1d(channels, 16, size, stride)
                for channels, size, stride in [(1, 10, 5), (16, 8, 4), (16, 4, 2), (16, 4, 2)]
            )
        )
        self.norm = torch.nn.LayerNorm(16)

    def forward(self, x: Any) -> Any:
        x = self.norm(torch.nn.functional.gelu(self.convolutions(x)).mT)
        scores = torch.softmax(x @ x.mT, -1)
        return scores @ x + x, scores.sum(-1)


@pytest.mark.usefixtures("native_tools")
def test_sizes_from_some_hundreds_on():
    """Of fewer all buffers have negative sizes, which say nothing of where they lie."""
    model = Frames().eval()
    exported = torch.export.export(model, (torch.randn(1, 1, 4000),), dynamic_shapes=({2: Dim.AUTO},))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    for samples in (400, 1000, 4001):
        x = torch.randn(1, 1, samples)
        for given, expected in zip(run(x), model(x), strict=True):
            torch.testing.assert_close(torch.as_tensor(given), expected)


class Thirds(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        a, b, c = x.split(x.shape[-1] // 3, -1)
        return a * b + c


@pytest.mark.usefixtures("native_tools")
def test_pieces_of_a_symbolic_size():
    """As many as the program was exported with."""
    exported = torch.export.export(Thirds(), (torch.randn(2, 12),), dynamic_shapes=({1: Dim.AUTO},))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    for size in (6, 9, 30):
        x = torch.randn(2, size)
        torch.testing.assert_close(torch.as_tensor(run(x)), Thirds()(x))
    with pytest.raises(InputError):
        run(torch.randn(2, 10))


class Halves(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        y = torch.relu(x).reshape(-1, 2, 2).reshape(1, 1, -1)
        y = torch.nn.functional.pad(y.sin(), (1, 1)).cumsum(-1).flip(-1).cumsum(-1)
        return torch.nn.functional.avg_pool1d(y, 3).sort()[0]


@pytest.mark.usefixtures("native_tools")
def test_sizes_that_few_numbers_have_a_value_for():
    """A size divided by one that is 0 for small numbers."""
    exported = torch.export.export(Halves(), (torch.randn(4),), dynamic_shapes=({0: Dim.AUTO},))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    x = torch.randn(4)
    torch.testing.assert_close(torch.as_tensor(run(x)), Halves()(x))


class Folded(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        size, fold = x.shape[-2:], torch.nn.functional.fold
        overlapping = torch.nn.functional.unfold(x, (2, 3), padding=(0, 1), dilation=(2, 1))
        apart = torch.nn.functional.unfold(x, 4, stride=2)
        return fold(overlapping, size, (2, 3), padding=(0, 1), dilation=(2, 1)), fold(
            apart, size, 4, stride=2
        )


@pytest.mark.usefixtures("native_tools")
def test_patches_of_images_of_any_size():
    shapes = ({2: Dim.AUTO, 3: Dim.AUTO},)
    exported = torch.export.export(Folded(), (torch.randn(2, 3, 12, 10),), dynamic_shapes=shapes)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    for size in ((12, 10), (9, 15), (7, 6)):
        x = torch.randn(2, 3, *size)
        for given, expected in zip(run(x), Folded()(x), strict=True):
            torch.testing.assert_close(torch.as_tensor(given), expected)


class Tokens(torch.nn.Module):
    """Patches as tokens: a product of sizes, each of them a quotient and one more."""

    def forward(self, x: Any) -> Any:
        return torch.nn.functional.max_pool2d(x, 3, 2, 1).flatten(2).transpose(1, 2)


@pytest.mark.usefixtures("native_tools")
def test_flattening_of_quotients():
    shapes = ({0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO},)
    exported = torch.export.export(Tokens(), (torch.randn(2, 3, 12, 10),), dynamic_shapes=shapes)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    for size in ((2, 3, 12, 10), (4, 3, 9, 15)):
        x = torch.randn(*size)
        torch.testing.assert_close(torch.as_tensor(run(x)), Tokens()(x))


class Mirrored(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.nn.functional.pad(torch.nn.functional.max_pool2d(x, 3, 2, 1), (1, 2, 2, 1), "reflect")


@pytest.mark.usefixtures("native_tools")
def test_padding_of_quotients():
    exported = torch.export.export(
        Mirrored(), (torch.randn(2, 3, 12, 10),), dynamic_shapes=({2: Dim.AUTO, 3: Dim.AUTO},)
    )
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    for size in ((12, 10), (9, 15)):
        x = torch.randn(2, 3, *size)
        torch.testing.assert_close(torch.as_tensor(run(x)), Mirrored()(x))
