"""Programs with the code of their kernels, written and read again: the same text, which MLIR takes, and the same numbers."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.importers.mlir import read_module
from xdsl_exir.lowering.mlir import find_tool
from xdsl_exir.program import Program

torch = pytest.importorskip("torch")
F = torch.nn.functional
from modules import Function  # noqa: E402

X, IMAGE = (20, 70), (1, 32, 8, 8)

CASES: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "maximum": (torch.maximum, [X, X]),
    "softmax": (lambda x: x.softmax(-1), [X]),
    "silu": (F.silu, [X]),
    "sort": (lambda x: x.sort()[0], [X]),
    "kthvalue": (lambda x: x.kthvalue(30)[0], [X]),
    "median": (lambda x: x.median(), [X]),
    "topk": (lambda x: x.topk(5)[0], [X]),
    "cumsum": (lambda x: x.cumsum(0), [X]),
    "sum": (lambda x: x.sum(0), [X]),
    "amax": (torch.amax, [X]),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), [IMAGE]),
    "conv2d": (lambda x, w: F.conv2d(x, w, padding=1), [IMAGE, (48, 32, 3, 3)]),
    "mm": (torch.mm, [(64, 128), (128, 96)]),
    "fft": (lambda x: torch.fft.rfft(x.float(), 1024), [X]),
    "attention": (F.scaled_dot_product_attention, [(1, 2, 40, 32)] * 3),
}


@pytest.mark.native
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", CASES)
def test_code_of_kernels_is_read_back(name: str, dtype: str, native_tools: None) -> None:
    torch.manual_seed(0)
    call, shapes = CASES[name]
    args = tuple(torch.randn(shape).to(getattr(torch, dtype)) for shape in shapes)
    edge = xdsl_exir.from_exported_program(torch.export.export(Function(call), args)).to_edge()
    at = edge.to("kernels").verify()
    again = Program(read_module(str(at), name), at.state).verify()
    assert again.text(generic=True) == at.text(generic=True)
    command = [find_tool("mlir-opt"), "--allow-unregistered-dialect", "-o", "/dev/null"]
    done = subprocess.run(command, input=at.text(generic=True), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [got], [wanted] = (xdsl_exir.compile(each, "native").flat(args) for each in (again, edge))
    np.testing.assert_array_equal(np.atleast_1d(got).view(np.uint8), np.atleast_1d(wanted).view(np.uint8))
