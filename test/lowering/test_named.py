"""Linalg for other compilers: each named operation, read back as text, in the interpreter and natively, against PyTorch."""

# pyright: basic

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import xdsl_exir

torch = pytest.importorskip("torch")
F: Any = torch.nn.functional
Case = tuple[Any, tuple[Any, ...], tuple[str, ...]]


def r(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


CASES: dict[str, Case] = {
    "mm": (torch.mm, (r(3, 4), r(4, 5)), ("matmul",)),
    "mm of integers": (torch.mm, ((9 * r(3, 4)).long(), (9 * r(4, 5)).long()), ("matmul",)),
    "mm of halves": (torch.mm, (r(3, 4).half(), r(4, 5).half()), ("matmul",)),
    "bmm": (torch.bmm, (r(2, 3, 4), r(2, 4, 5)), ("batch_matmul",)),
    "conv1d": (
        lambda x, w, b: F.conv1d(x, w, b, 2, 1, 2),
        (r(2, 3, 15), r(4, 3, 3), r(4)),
        ("conv_1d_ncw_fcw", "pad"),
    ),
    "conv2d": (
        lambda x, w: F.conv2d(x, w, None, (2, 1), (1, 0)),
        (r(2, 3, 9, 8), r(4, 3, 3, 2)),
        ("conv_2d_nchw_fchw", "pad"),
    ),
    "conv2d in groups": (
        lambda x, w: F.conv2d(x, w, groups=2),
        (r(2, 4, 6, 6), r(6, 2, 3, 3)),
        ("conv_2d_ngchw_gfchw",),
    ),
    "conv3d": (F.conv3d, (r(1, 2, 4, 5, 6), r(3, 2, 3, 3, 3)), ("conv_3d_ncdhw_fcdhw",)),
    "depthwise 1d": (
        lambda x, w: F.conv1d(x, w, groups=4),
        (r(2, 4, 9), r(4, 1, 3)),
        ("depthwise_conv_1d_ncw_cw",),
    ),
    "depthwise 2d": (
        lambda x, w: F.conv2d(x, w, None, 2, 1, 1, 4),
        (r(2, 4, 9, 9), r(4, 1, 3, 3)),
        ("depthwise_conv_2d_nchw_chw", "pad"),
    ),
    "depthwise transposed": (
        lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, 1, 4),
        (r(2, 4, 5, 5), r(4, 1, 3, 3)),
        ("depthwise_conv_2d_nchw_chw",),
    ),
    "transposed": (
        lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, 1),
        (r(2, 4, 5, 5), r(4, 3, 3, 3)),
        ("conv_2d_nchw_fchw",),
    ),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), (r(2, 4, 9, 9),), ("pad", "pooling_nchw_max")),
    "max_pool2d of NaN": (
        lambda x: F.max_pool2d(x, 2, 1),
        (torch.where(r(2, 4, 9, 9) > 1, torch.nan, 1.0),),
        ("pooling_nchw_max",),
    ),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1), (r(2, 4, 9, 9),), ("pad", "pooling_nchw_sum")),
    "pad": (lambda x: F.pad(x, (1, 2, 0, 3), value=2.5), (r(2, 3),), ("pad",)),
    # What has no name stays as it is.
    "average of one channel": (lambda x: F.avg_pool2d(x, 2), (r(1, 4, 4),), ()),
    "mm of bfloat16": (torch.mm, (r(3, 4).bfloat16(), r(4, 5).bfloat16()), ()),
}


class Calls(torch.nn.Module):
    def __init__(self, function: Any):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def lowered(function: Any, inputs: tuple[Any, ...], sizes: Any = None) -> xdsl_exir.Program:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(Calls(function), inputs, dynamic_shapes=(sizes,) if sizes else None)
    return xdsl_exir.from_exported_program(exported).to("named-linalg")


def names_in(program: xdsl_exir.Program) -> set[str]:
    found = re.findall(r'"(?:linalg|tensor)\.(\w+)"', program.text(generic=True))
    return {name for name in found if re.search("matmul|conv|pool|^pad$", name)}


def close(program: xdsl_exir.Program, inputs: tuple[Any, ...], expected: Any, target: str) -> None:
    [got] = xdsl_exir.compile(program, target).flat(list(inputs))
    expected = expected.double().numpy()
    scale = np.nanmax(np.abs(expected))
    tolerance = 2e-2 if inputs[0].itemsize == 2 else 2e-6
    np.testing.assert_allclose(np.asarray(got).astype(np.float64), expected, atol=tolerance * scale, rtol=0)


TARGETS = ["interpreter", pytest.param("native", marks=pytest.mark.native)]


@pytest.mark.parametrize("name", CASES)
def test_names(name: str, tmp_path: Any) -> None:
    function, inputs, names = CASES[name]
    program = lowered(function, inputs)
    assert names_in(program) == set(names)
    close(program, inputs, function(*inputs), "interpreter")
    program.save(tmp_path / "named.mlir")
    again = xdsl_exir.load(tmp_path / "named.mlir")
    assert names_in(again) == set(names)
    close(again, inputs, function(*inputs), "interpreter")


@pytest.mark.parametrize("target", TARGETS)
def test_a_network(target: str, request: pytest.FixtureRequest) -> None:
    if target == "native":
        request.getfixturevalue("native_tools")
    first, second, last = r(8, 3, 3, 3), r(8, 1, 3, 3), r(32, 5)

    def network(x: Any) -> Any:
        x = F.max_pool2d(F.relu(F.conv2d(x, first, None, 2, 1)), 3, 2, 1)
        x = F.avg_pool2d(F.conv2d(x, second, None, 1, 1, 1, 8), 2)
        return x.flatten(1) @ last

    x = r(2, 3, 16, 16)
    program = lowered(network, (x,))
    assert "f64" not in program.text(generic=True)
    close(program, (x,), network(x), target)


@pytest.mark.parametrize("target", TARGETS)
def test_symbolic_sizes(target: str, request: pytest.FixtureRequest) -> None:
    """A border that grows as the input shrinks has a known sum."""
    if target == "native":
        request.getfixturevalue("native_tools")
    weight, row = r(4, 3, 3, 3), r(32)

    def network(x: Any) -> Any:
        x = F.max_pool2d(F.conv2d(x, weight, None, 2, 1), 3, 2, 1).mean(3)
        return F.pad(x, (0, 32 - x.shape[2])) * row

    size = torch.export.Dim("n", min=8, max=64)
    program = lowered(network, (r(2, 3, 40, 16),), ({2: size},))
    assert names_in(program) == {"conv_2d_nchw_fchw", "pad", "pooling_nchw_max"}
    for height in (9, 44):
        x = r(2, 3, height, 16)
        close(program, (x,), network(x), target)
