"""Groups that pick elements or reduce outer dimensions, in blocks of rows: which have some, of what rows, and that numbers are PyTorch's, of any
sizes and threads; and which loops threads share where there are no blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differential import to_numpy, to_torch
from modules import Function
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.memref import SubviewOp
from xdsl.dialects.scf import ParallelOp
from xdsl.ir import Operation
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.lowering.mlir import run_passes
from xdsl_exir.program import context
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.blocks import with_blocks
from xdsl_exir.targets.cpu.compile import GROUPS, group_text

torch = pytest.importorskip("torch")
F = torch.nn.functional

PICKS = """
func.func @picks(%x: memref<{rows}x80xf32>, %at: memref<{rows}x{columns}xi64>, %out: memref<{rows}x{columns}xf32>)
    attributes {{large, direct}} {{
  %0 = bufferization.to_tensor %x restrict : memref<{rows}x80xf32> to tensor<{rows}x80xf32>
  %1 = bufferization.to_tensor %at restrict : memref<{rows}x{columns}xi64> to tensor<{rows}x{columns}xi64>
  %2 = tensor.empty() : tensor<{rows}x{columns}xf32>
  %3 = linalg.generic {{
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]
  }} ins(%1 : tensor<{rows}x{columns}xi64>) outs(%2 : tensor<{rows}x{columns}xf32>) {{
  ^bb0(%place: i64, %_: f32):
    %row = linalg.index 0 : index
    %column = arith.index_cast %place : i64 to index
    %picked = tensor.extract %0[%row, %column] : tensor<{rows}x80xf32>
    linalg.yield %picked : f32
  }} -> tensor<{rows}x{columns}xf32>
  bufferization.materialize_in_destination %3 in restrict writable %out
    : (tensor<{rows}x{columns}xf32>, memref<{rows}x{columns}xf32>) -> ()
  func.return
}}
"""


def functions_of(text: str) -> list[FuncOp]:
    """What a group becomes, as a module that verifies."""
    module = Parser(context().clone(), text).parse_module()
    [group] = module.body.block.ops
    assert isinstance(group, FuncOp)
    group.detach()
    functions = with_blocks(group)
    ModuleOp(list[Operation](functions)).verify()
    return functions


@pytest.mark.parametrize(
    ("rows", "columns", "dim", "count"),
    [(640, 100, 0, 10), (48, 1000, 0, 1), (100, 1000, 0, 2), (4, 9600, 1, 150)],
)
def test_rows_are_cut_into_blocks(rows: int, columns: int, dim: int, count: int) -> None:
    block, group = functions_of(PICKS.format(rows=rows, columns=columns))
    [parallel] = [op for op in group.walk() if isinstance(op, ParallelOp)]
    [call] = [op for op in parallel.body.block.ops if isinstance(op, CallOp)]
    assert call.callee.string_value() == block.sym_name.data
    out, *_ = (op for op in block.walk() if isinstance(op, SubviewOp))
    assert out.static_sizes.get_values() == tuple(
        count if at == dim else size for at, size in enumerate((rows, columns))
    )


def test_of_rows_that_nothing_divides_the_last_block_has_fewer() -> None:
    block, _ = functions_of(PICKS.format(rows=1009, columns=40))
    first, length, *_ = block.body.block.args
    out, *_ = (op for op in block.walk() if isinstance(op, SubviewOp))
    assert list(out.offsets) == [first]
    assert list(out.sizes) == [length]


@pytest.mark.parametrize(
    "text",
    [
        PICKS.format(rows=32, columns=100),  # too little to do
        PICKS.format(rows=640, columns=100).replace("{large, direct}", "{direct}"),
        PICKS.format(rows=640, columns=100).replace(
            "tensor.extract %0[%row, %column] : tensor<640x80xf32>", "arith.sitofp %place : i64 to f32"
        ),
    ],
)
def test_others_stay_as_they_are(text: str) -> None:
    [function] = functions_of(text)
    assert not any(isinstance(op, ParallelOp) for op in function.walk())


MOST = """
func.func @most(%x: memref<{leading}{rows}x{columns}xf32>, %out: memref<{leading}{columns}xf32>) attributes {{large, direct}} {{
  %0 = bufferization.to_tensor %x restrict : memref<{leading}{rows}x{columns}xf32> to tensor<{leading}{rows}x{columns}xf32>
  %1 = tensor.empty() : tensor<{leading}{columns}xf32>
  %2 = arith.constant 0xFF800000 : f32
  %3 = linalg.fill ins(%2 : f32) outs(%1 : tensor<{leading}{columns}xf32>) -> tensor<{leading}{columns}xf32>
  %4 = linalg.generic {{
      indexing_maps = [affine_map<({dims}d1, d2) -> ({dims}d1, d2)>, affine_map<({dims}d1, d2) -> ({dims}d2)>],
      iterator_types = [{parallel}"reduction", "parallel"]
  }} ins(%0 : tensor<{leading}{rows}x{columns}xf32>) outs(%3 : tensor<{leading}{columns}xf32>) {{
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  }} -> tensor<{leading}{columns}xf32>
  bufferization.materialize_in_destination %4 in restrict writable %out
    : (tensor<{leading}{columns}xf32>, memref<{leading}{columns}xf32>) -> ()
  func.return
}}
"""


def most(leading: str, rows: int, columns: int) -> str:
    """The largest of each column, of one matrix or of several."""
    loop, parallel = ("d0, ", '"parallel", ') if leading else ("", "")
    return MOST.format(leading=leading, rows=rows, columns=columns, dims=loop, parallel=parallel)


@pytest.mark.parametrize(
    ("leading", "columns", "count"), [("", 4096, 64), ("1x", 4096, 64), ("", 256, 16), ("", 1009, None)]
)
def test_reductions_of_outer_dimensions_are_cut_along_others(
    leading: str, columns: int, count: int | None
) -> None:
    block, group = functions_of(most(leading, 500, columns))
    assert any(isinstance(op, ParallelOp) for op in group.walk())
    out, *_ = (op for op in block.walk() if isinstance(op, SubviewOp))
    assert out.static_sizes.get_values()[-1] == (count or DYNAMIC_INDEX)


@pytest.mark.parametrize("columns", [4, 20, 70, 100])
def test_columns_that_a_vector_takes_stay_together(columns: int) -> None:
    [group] = functions_of(most("", 5000, columns))
    assert "large" not in group.attributes


def test_of_several_matrices_each_is_somebodys() -> None:
    [group] = functions_of(most("8x", 500, 100))
    assert "large" in group.attributes


@pytest.mark.native
def test_a_loop_of_one_step_is_not_what_threads_share() -> None:
    call, x = (lambda x: F.pad(x, (1, 1, 1, 1))), torch.randn(1, 24, 50, 50)
    program = xdsl_exir.from_exported_program(torch.export.export(Function(call), (x,)))
    [group] = plan_program(program.to("edge")).dispatches.functions.values()
    loops = run_passes(group_text(group), GROUPS)
    assert len(re.findall(r"scf.parallel \(%\w+\) = \(%c0\w*\) to \(%c24", loops)) == 2
    check(xdsl_exir.compile(program, target="native").flat([to_numpy(x)]), call(x))


def integers(most: int, *shape: int) -> Any:
    return torch.randint(most, shape)


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "gather": (lambda x, at: x.gather(1, at), (torch.randn(640, 80), integers(80, 640, 70))),
    "gather of a prime": (lambda x, at: x.gather(1, at), (torch.randn(1009, 40), integers(40, 1009, 50))),
    "gather along few": (lambda x, at: x.gather(1, at), (torch.randn(3, 40), integers(40, 3, 20011))),
    "gather of halves": (
        lambda x, at: x.gather(0, at),
        (torch.randn(90, 600).bfloat16(), integers(90, 80, 600)),
    ),
    "places are the same for all rows": (
        lambda x, at: x.gather(1, at.expand(640, 70)),
        (torch.randn(640, 80), integers(80, 1, 70)),
    ),
    "what is picked is computed": (
        lambda x, at: (x.cumsum(1) * 2).gather(1, at) + 1,
        (torch.randn(640, 80), integers(80, 640, 70)),
    ),
    "two results": (
        lambda x, at: (x.gather(1, at), x.gather(1, at) > 0),
        (torch.randn(640, 80), integers(80, 640, 70)),
    ),
    "searchsorted": (torch.searchsorted, (torch.randn(1000).sort().values, torch.randn(200, 300))),
    "bucketize": (torch.bucketize, (torch.randn(70001), torch.linspace(-2, 2, 17))),
    "grid_sample": (
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        (torch.randn(1, 24, 30, 31), torch.rand(1, 50, 51, 2) * 2.2 - 1.1),
    ),
    "nearest": (lambda x: F.interpolate(x, scale_factor=2), (torch.randn(2, 5, 11, 20, 21),)),
    "nearest of halves": (lambda x: F.interpolate(x, size=333), (torch.randn(3, 100, 111).half(),)),
    "bilinear": (
        lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"),
        (torch.randn(1, 67, 40, 30),),
    ),
    "unfold": (lambda x: F.unfold(x, 3, padding=1), (torch.randn(1, 16, 30, 33),)),
    "argmax of columns": (lambda x: x.argmax(0), (torch.randn(70, 4096),)),
    "argmax of few columns": (lambda x: x.argmax(0), (torch.randn(4099, 20),)),
    "argmax of channels": (lambda x: x.argmax(1), (torch.randn(1, 60, 30, 41),)),
    "logsumexp of channels": (lambda x: (x.logsumexp(1), x.amin(1)), (torch.randn(1, 60, 30, 41),)),
    "minima of halves": (lambda x: x.min(0), (torch.randn(67, 1009).half(),)),
    "adaptive": (lambda x: F.adaptive_max_pool2d(x, 7)[0], (torch.randn(1, 300, 20, 22),)),
    "no rows": (lambda x, at: x.gather(1, at), (torch.randn(0, 80), integers(80, 0, 70))),
}


@pytest.mark.native
@pytest.mark.parametrize("name", CALLS)
def test_numbers_are_pytorchs(name: str) -> None:
    call, inputs = CALLS[name]
    program = xdsl_exir.from_exported_program(torch.export.export(Function(call), inputs))
    results = xdsl_exir.compile(program, target="native").flat([to_numpy(x) for x in inputs])
    check(results, call(*inputs))


def check(results: Any, wanted: Any) -> None:
    for got, right in zip(results, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        torch.testing.assert_close(to_torch(np.asarray(got)), right)


@pytest.mark.native
def test_one_executable_of_many_sizes() -> None:
    call, x, at = CALLS["gather"][0], torch.randn(640, 80), integers(80, 640, 2000)
    rows = {0: torch.export.Dim("rows", max=4096)}
    exported = torch.export.export(Function(call), (x, at), dynamic_shapes=((rows, rows),))
    program = xdsl_exir.from_exported_program(exported)
    [group] = plan_program(program.to("edge")).dispatches.functions.values()
    assert len(with_blocks(group.clone())) == 2
    run = xdsl_exir.compile(program, target="native")
    for count in (640, 1, 3, 65, 1009, 63):
        x, at = torch.randn(count, 80), integers(80, count, 2000)
        check(run.flat([to_numpy(x), to_numpy(at)]), call(x, at))
