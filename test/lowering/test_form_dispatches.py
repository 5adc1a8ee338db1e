"""Dispatches that a program has: what is said of them is what is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.dialects.backend import DispatchOp
from xdsl_exir.errors import UnsupportedError
from xdsl_exir.importers import mlir
from xdsl_exir.lowering.expand_kernels import KERNEL
from xdsl_exir.program import Program

SHAPE = "tensor<?x6xf32, #exir.shape<[s0, 6]>>"
TEXT = f"""
func.func @forward(%x : {SHAPE}, %w : tensor<6x6xf32>) -> {SHAPE}
    attributes {{exir.ranges = {{"s0" = #exir.range<2, 50>}}}} {{
  %0 = edge.aten.mm(%x, %w) : ({SHAPE}, tensor<6x6xf32>) -> {SHAPE}
  %1 = edge.aten.relu(%0) : ({SHAPE}) -> {SHAPE}
  %2 = edge.aten._softmax(%1, dim = 1, half_to_float = false) : ({SHAPE}) -> {SHAPE}
  %3 = edge.aten.logcumsumexp(%2, dim = 0) : ({SHAPE}) -> {SHAPE}
  %4 = edge.aten.add.Tensor(%3, %1) : ({SHAPE}, {SHAPE}) -> {SHAPE}
  func.return %4 : {SHAPE}
}}"""

X = np.random.default_rng(0).standard_normal((5, 6), np.float32)
W = np.random.default_rng(1).standard_normal((6, 6), np.float32)


@pytest.fixture
def formed() -> Program:
    return Program(mlir.read_module(TEXT, "test")).to("dispatches")


def dispatches(program: Program) -> Sequence[DispatchOp]:
    return [op for op in program.module.walk() if isinstance(op, DispatchOp)]


def kernels(program: Program) -> Counter[bool]:
    """How many functions there are with a kernel of ours, and without."""
    lowered = program.to("buffers")
    functions = [op for op in lowered.module.ops if op not in lowered.methods.values()]
    return Counter(KERNEL in op.attributes for op in functions)


def test_kernels_are_named(formed: Program) -> None:
    kinds = [op.kernel and op.kernel.data for op in dispatches(formed)]
    assert kinds == ["Matmul", "Rows", None, "Rows"]
    assert kernels(formed) == Counter({True: 3, False: 1})


def test_without_kernels(formed: Program) -> None:
    """A dispatch that says no kernel is lowered by MLIR, though there were one."""
    program = replace(formed, module=formed.module.clone())
    for op in dispatches(program):
        op.properties.pop("kernel", None)
    assert kernels(program) == Counter({False: 4})


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_compiled_as_it_says(formed: Program) -> None:
    plain = replace(formed, module=formed.module.clone())
    for op in dispatches(plain):
        op.properties.pop("kernel", None)
    wanted = xdsl_exir.compile(formed)(X, W)
    for program in (formed, plain):
        run = xdsl_exir.compile(program, "native")
        np.testing.assert_allclose(run(X, W), wanted, rtol=1.3e-6, atol=1e-5)
        np.testing.assert_array_equal(run(X, W), xdsl_exir.compile(program.to("planned"), "native")(X, W))


def test_a_kernel_that_takes_nothing_of_it(formed: Program) -> None:
    dispatches(formed)[2].properties["kernel"] = dispatches(formed)[0].properties["kernel"]
    with pytest.raises(UnsupportedError, match="no kernel of kind 'Matmul' takes it"):
        formed.to("buffers")


def test_what_needs_itself() -> None:
    """What an operator gives may be known though it has operands: then no dispatch waits for these when it is planned. Written down, one
    that is made of operators before and after would need itself."""
    text = """
func.func @forward(%x : tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = edge.aten.exp(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = edge.aten.cumsum(%0, dim = 0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = edge.aten.full_like(%1, fill_value = 2.0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = edge.aten.mul.Tensor(%0, %2) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %1, %3 : tensor<4x6xf32>, tensor<4x6xf32>
}"""
    program = Program(mlir.read_module(text, "test"))
    formed = program.to("dispatches").verify()
    x = X[:4]
    for got, wanted in zip(xdsl_exir.compile(formed)(x), xdsl_exir.compile(program)(x), strict=True):
        np.testing.assert_array_equal(got, wanted)
    formed.to("planned")


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_functions_of_other_names() -> None:
    """Two programs whose functions do the same, and are called otherwise, do not get each other's objects."""
    planned = Program(mlir.read_module(TEXT, "test")).to("planned")
    wanted = xdsl_exir.compile(planned, "native")(X, W)
    text = str(planned.module)
    for old, new in (("exir.kernel_", "exir.mine_"), ("exir.group_", "exir.other_")):
        text = text.replace(old, new)
    renamed = replace(planned, module=mlir.read_module(text, "test"))
    np.testing.assert_array_equal(xdsl_exir.compile(renamed, "native")(X, W), wanted)
