"""`flex_attention`: an operation with the functions of its scores as regions, and what it is made of, against eager."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.dialects.control_flow import FlexAttentionOp
from xdsl_exir.errors import VerificationError
from xdsl_exir.program import Program

torch: Any = pytest.importorskip("torch")
flex: Any = pytest.importorskip("torch.nn.attention.flex_attention")

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.native]


class Attention(torch.nn.Module):
    """Attention by a function, with a table and a number that it may capture."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.table = torch.nn.Parameter(torch.linspace(-1, 1, 32).reshape(4, 8), requires_grad=False)
        self.register_buffer("factor", torch.tensor(2.0))
        self.function = function

    def forward(self, q: Any, k: Any, v: Any) -> Any:
        return self.function(self, q, k, v)


def blocks(mask: Callable[..., Any]) -> Any:
    """A block mask of eight queries and keys."""
    return flex.create_block_mask(mask, None, None, 8, 8, device="cpu")


CAUSAL = blocks(lambda b, h, i, j: i >= j)
LATE = blocks(lambda b, h, i, j: i > 3)  # the first queries attend to nothing
DOCUMENTS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2])


def causal(self: Attention, q: Any, k: Any, v: Any) -> Any:
    return flex.flex_attention(q, k, v, block_mask=CAUSAL, scale=0.3)


def biased(self: Attention, q: Any, k: Any, v: Any) -> Any:
    def score(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return torch.where(i >= j, s * (1 + h) + (i - j) * 0.1, -float("inf"))

    return flex.flex_attention(q, k, v, score_mod=score)


def captured(self: Attention, q: Any, k: Any, v: Any) -> Any:
    def score(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return s + self.table[h, i - j] * self.factor

    mask = blocks(lambda b, h, i, j: DOCUMENTS[i] == DOCUMENTS[j])  # computed in the graph
    return flex.flex_attention(q, k, v, score_mod=score, block_mask=mask, enable_gqa=True, return_lse=True)


def with_writes(self: Attention, q: Any, k: Any, v: Any) -> Any:
    """Writes that are seen stay, whatever goes with the block mask that is computed in the graph."""
    queries, factor = q * 1, self.factor.add_(1)
    queries[0].mul_(2)
    return flex.flex_attention(queries, k, v, score_mod=lambda s, b, h, i, j: s + j), factor * 3


def masked_rows(self: Attention, q: Any, k: Any, v: Any) -> Any:
    return flex.flex_attention(q, k, v, block_mask=LATE, return_lse=True)


def by_elements(self: Attention, q: Any, k: Any, v: Any) -> Any:
    def score(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return torch.stack([s, s * 2 - i]).amax(0)

    return flex.flex_attention(q, k, v, score_mod=score, block_mask=CAUSAL)


def inputs(length: int = 8, heads: int = 4, dtype: Any = torch.float32) -> tuple[Any, Any, Any]:
    generator = torch.Generator().manual_seed(length)
    shapes = (2, 4, length, 4), (2, heads, length, 4), (2, heads, length, 6)
    return tuple(torch.randn(*shape, generator=generator).to(dtype) for shape in shapes)  # pyright: ignore


def quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def exported(function: Callable[..., Any], args: Any, dynamic: Any = None) -> Any:
    return quietly(torch.export.export, Attention(function), args, dynamic_shapes=dynamic)


def as_array(tensor: Any) -> Any:
    if tensor.dtype is torch.bfloat16:
        return tensor.float().numpy().astype(ml_dtypes.bfloat16)
    return tensor.numpy()


def agrees(program: Program, function: Callable[..., Any], *calls: Any, tolerance: float = 1e-5) -> None:
    """Asserts that a program gives eager's results as it was imported, in edge, and natively."""
    runs = [xdsl_exir.compile(stage) for stage in (program, program.to_edge())]
    runs.append(xdsl_exir.compile(program, target="native"))
    for args in calls:
        wanted = quietly(lambda args=args: torch.utils._pytree.tree_leaves(Attention(function)(*args)))
        for run in runs:
            given = torch.utils._pytree.tree_leaves(run(*map(as_array, args)))
            for mine, its in zip(given, wanted, strict=True):
                assert str(mine.dtype) == str(its.dtype).removeprefix("torch.")
                np.testing.assert_allclose(
                    mine.astype(np.float64), its.double(), rtol=tolerance, atol=tolerance
                )


@pytest.mark.parametrize("function", [causal, biased, captured, with_writes, masked_rows, by_elements])
def test_against_eager(function: Callable[..., Any]) -> None:
    args = inputs(heads=2 if function is captured else 4)
    traced = exported(function, args)
    for form in (quietly(traced.run_decompositions), traced):
        program = xdsl_exir.from_exported_program(form)
        assert "higher_order.flex_attention" in str(program)
        assert ("higher_order.map" in str(program.to_core())) == (function is by_elements)
        assert "aten.sort" not in str(program), "of block masks nothing is left"
    agrees(program, function, args)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 2e-2), (torch.float64, 1e-12)])
def test_in_other_dtypes(dtype: Any, tolerance: float) -> None:
    """Scores are computed in Float at least, whichever dtype the query has and PyTorch describes them in."""
    args = inputs(dtype=dtype)
    agrees(xdsl_exir.from_exported_program(exported(causal, args)), causal, args, tolerance=tolerance)


def test_of_any_length() -> None:
    length = torch.export.Dim("length", min=2, max=64)
    program = xdsl_exir.from_exported_program(exported(biased, inputs(), ({2: length},) * 3))
    agrees(program, biased, inputs(8), inputs(5), inputs(17))


def test_out_again(tmp_path: Path) -> None:
    """It goes back to PyTorch as what it is made of, and into MLIR as it is."""
    args = inputs(heads=2)
    traced = exported(captured, args)
    program = xdsl_exir.from_exported_program(quietly(traced.run_decompositions))
    wanted = quietly(copy.deepcopy(Attention(captured)), *args)
    program.save(tmp_path / "m.pt2")
    for back in (program.to_exported_program(), torch.export.load(tmp_path / "m.pt2")):
        torch.testing.assert_close(back.module()(*args), wanted)
    program.save(tmp_path / "m.mlir")
    again = xdsl_exir.load(tmp_path / "m.mlir")
    assert str(again) == str(program)
    agrees(again, captured, args)


def with_wrong_keys(op: FlexAttentionOp) -> None:
    op.operands[1] = op.value


def with_an_index_for_a_mask(op: FlexAttentionOp) -> None:
    end = op.mask_region.block.last_op
    assert end is not None
    end.operands[0] = op.mask_region.block.args[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_wrong_keys, "query and key differ in their last dimension"),
        (with_an_index_for_a_mask, "yield of the mask region: value 0 is"),
    ],
)
def test_refused(change: Callable[[FlexAttentionOp], None], message: str) -> None:
    program = xdsl_exir.from_exported_program(exported(causal, inputs()))
    [op] = [op for op in program.module.walk() if isinstance(op, FlexAttentionOp)]
    change(op)
    with pytest.raises(VerificationError, match=message):
        program.verify()


def test_not_in_edge() -> None:
    program = xdsl_exir.from_exported_program(exported(causal, inputs()))
    with pytest.raises(VerificationError, match="decompose-aten makes operators on all of them"):
        program.transform("aten-to-edge")
