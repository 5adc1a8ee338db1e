"""What each pass refuses, and that the error names it; passes without a case here say nothing of errors, and raise none of their own."""

# pyright: basic

from __future__ import annotations

import inspect

import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.program import Program, context
from xdsl_exir.universe import XDSL_EXIR_UNIVERSE

ATEN = """
func.func @forward(%x: tensor<4xf32>, %n: f64) -> tensor<4xf32> {
  %0 = aten.silu(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":2:0)
  func.return %0 : tensor<4xf32>
}
"""
EDGE = """
func.func @forward(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = edge.aten.bernoulli(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32> loc("model.py":3:0)
  %1 = edge.dim_order_ops._clone_dim_order(%0, dim_order = [1, 0]) : (tensor<4x6xf32>) -> tensor<4x6xf32> loc("model.py":4:0)
  func.return %1 : tensor<4x6xf32>
}
"""
RECURSIVE = """
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""
DELEGATE = """
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = backend.delegate "nobody" inputs(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    backend.yield %a : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
"""
KERNEL = """
func.func private @linear(memref<1x4xf32>) -> () attributes {exir.kernel = {is = "Nonesuch"}}
"""
OUTSIDE = """
func.func @forward(%x : tensor<4xf32>) attributes {llvm.emit_c_interface} {
  func.return
}
"""
OVERLAPPING = """
func.func private @use(memref<4xf32>, memref<4xf32>)
func.func @forward(%arena: memref<64xi8>) attributes {exir.arena_bytes = 64 : i64} {
  %0 = arith.constant 0 : index
  %a = memref.view %arena[%0][] : memref<64xi8> to memref<4xf32>
  %b = memref.view %arena[%0][] : memref<64xi8> to memref<4xf32>
  func.call @use(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
"""

CASES = [
    ("decompose-aten", 'decompose-aten{keep="aten.nonesuch"}', ATEN, r"keep: unknown operator 'aten\.nonesuch'"),
    ("grad", "grad", ATEN, r"grad: no parameters; wrt names some of x, n"),
    ("optimize", "optimize{level=3}", ATEN, "no level 3; there are 0 to 2"),
    ("canonicalize-fastmath", "canonicalize-fastmath{flags=fsat}", ATEN, "no flag 'fsat'; there are nnan"),
    ("specialize", 'specialize{symbols="s9=4"}', ATEN, "no symbol 's9'; there are none"),
    ("inline-modules", "inline-modules", RECURSIVE, "@g calls itself"),
    ("partition", 'partition{backend=b ops="aten.silu"}', ATEN, r"aten\.silu: not an edge operation \(model\.py:2\)"),
    ("to-memory-formats", "to-memory-formats", EDGE, r"dim_order \[1, 0\] is no memory format of PyTorch's \(model\.py:4\)"),
    ("fuse-operators", "fuse-operators", ATEN, r"aten\.silu: not an edge operation \(model\.py:2\)"),
    ("decompose-backend", 'decompose-backend{keep="npu.nonesuch"}', EDGE, r"no operator of a backend matches 'npu\.nonesuch'"),
    ("preprocess-delegates", "preprocess-delegates", DELEGATE, "delegate of backend nobody: it is not registered"),
    ("to-out-variants", "to-out-variants", ATEN, r"aten\.silu: not an edge operation \(model\.py:2\)"),
    ("verify-backend", "verify-backend", ATEN, "func.func: argument 1 is f64: a Python number"),
    ("verify-aten", "verify-aten", EDGE, r"model\.py:3: edge\.aten\.bernoulli"),
    ("verify-edge", "verify-edge", ATEN, "func.func: argument 1 is f64: a Python number"),
    ("edge-to-linalg", "edge-to-linalg", EDGE, r"edge\.aten\.bernoulli: no lowering"),
    ("form-dispatches", "form-dispatches", EDGE, r"edge\.aten\.bernoulli: no lowering"),
    ("to-destinations", "to-destinations", EDGE, r"edge\.aten\.bernoulli: no lowering"),
    ("plan-memory", "plan-memory{planner=by-luck}", ATEN, "no planner 'by-luck'; there are"),
    ("verify-memory", "verify-memory", OVERLAPPING, "overlap"),
    ("expand-kernels", "expand-kernels", KERNEL, "Nonesuch"),
    ("pack-arguments", "pack-arguments", OUTSIDE, "functions that are called from outside take no tensor<4xf32>"),
]  # fmt: skip
"""Pass, pipeline, program, and what the error says."""


def program(text: str) -> Program:
    return Program(Parser(context().clone(), text).parse_module())


@pytest.mark.parametrize(("name", "pipeline", "text", "message"), CASES, ids=[case[0] for case in CASES])
def test_refused(name: str, pipeline: str, text: str, message: str) -> None:
    assert pipeline.partition("{")[0] == name
    before = program(text)
    with pytest.raises(xdsl_exir.ExirError, match=message):
        before.apply(*Program.passes(pipeline))


@pytest.mark.parametrize("name", sorted(XDSL_EXIR_UNIVERSE.all_passes))
def test_a_pass_says_what_it_refuses(name: str) -> None:
    """In its docstring, or in that of the pass that it is for one target: those that have a case, and no others. What raises none has none."""
    ours = [
        base
        for base in XDSL_EXIR_UNIVERSE.all_passes[name]().__mro__
        if base.__module__.startswith("xdsl_exir.")
    ]
    refuses = name in {case[0] for case in CASES}
    assert any("Raises `" in (base.__doc__ or "") for base in ours) == refuses
    if not refuses:
        assert not any("raise ExirError" in inspect.getsource(base) for base in ours)
