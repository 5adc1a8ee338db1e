"""What TorchScript programs hold (`script_features.py`): run as they are, and as ordinary programs, they give what PyTorch gives."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from script_features import FEATURES  # noqa: E402
from scripted import assert_same, quiet, renamed, save, script, to_numpy  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.errors import UnsupportedError  # noqa: E402

REFUSED = {
    "Packed": "_pack_padded_sequence: of elements that are not known",
    "BeamSearch": "__getitem__.t: of a number that depends on data",
    "Gener": "manual_seed: an exported program draws from the stream",
    "Stateful2": "attribute 'hist' becomes",
}
"""What no exported program has a form for, and what is said of it."""


def check_pytorch_reads(ours: str, theirs: str) -> None:
    """What PyTorch reads of its own printing it reads of ours, as the same graph."""
    try:
        expected = str(torch._C.parse_ir(theirs))
    except RuntimeError:
        return  # `parse_ir` knows no modules, and no constants but numbers and text
    assert renamed(str(torch._C.parse_ir(ours))) == renamed(expected)


@pytest.mark.parametrize("name", FEATURES)
def test_feature(name: str, tmp_path: Path) -> None:
    cls, inputs = FEATURES[name]
    torch.manual_seed(0)
    module = script(cls().eval())
    path = save(module, tmp_path / "model.pt")

    def given() -> list[Any]:
        return deepcopy(to_numpy(list(inputs)))

    with quiet():
        theirs = torch.jit.load(str(path))
        expected = [deepcopy(to_numpy(theirs(*deepcopy(inputs)))) for _ in range(2)]
    program = xdsl_exir.load(path)
    for wanted in expected:
        assert_same(program(*given()), wanted)
    for graph in (module.graph, module.inlined_graph):
        again = xdsl_exir.from_torchscript_text(str(graph)).torchscript_text()
        assert renamed(again) == renamed(str(graph))
        check_pytorch_reads(again, str(graph))
    program = xdsl_exir.load(path)
    if name in REFUSED:
        with pytest.raises(UnsupportedError, match=REFUSED[name]):
            program.to_aten(given())
        return
    run = xdsl_exir.compile(program.to_aten(given()))
    for wanted in expected:
        assert_same(run(*given()), wanted)


BOXES = """
graph(%boxes : Tensor, %scores : Tensor):
  %most : float = prim::Constant[value=0.5]()
  %kept : Tensor = torchvision::nms(%boxes, %scores, %most)
  return (%kept)
"""


def best_boxes(boxes: Any, scores: Any, most: float) -> list[int]:
    """Boxes in the order of scores, but for those that a better one overlaps."""
    kept: list[int] = []
    for at in np.argsort(-scores, kind="stable"):
        shared = [
            np.minimum(boxes[at, 2:], boxes[k, 2:]) - np.maximum(boxes[at, :2], boxes[k, :2]) for k in kept
        ]
        common = np.array([side.clip(0).prod() for side in shared])
        area = (boxes[:, 2:] - boxes[:, :2]).prod(1)
        with np.errstate(invalid="ignore"):
            if not (common / (area[kept] + area[at] - common) > most).any():
                kept.append(int(at))
    return kept


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_nms_of_any_number_of_boxes(target: str, native_tools: None) -> None:
    program = xdsl_exir.from_torchscript_text(BOXES)
    run = xdsl_exir.compile(program.to_aten(["float32[s0, 4]", "float32[s0]"]), target)
    drawn = np.random.default_rng(0)
    for count in (0, 1, 5, 60):
        low = drawn.random((count, 2), np.float32) * 9
        size = np.round(drawn.random((count, 2), np.float32) * 9)  # some are empty: 0 / 0 overlaps nothing
        boxes, scores = np.concatenate([low, low + size], 1), np.round(drawn.random(count, np.float32), 1)
        wanted = best_boxes(boxes, scores, 0.5)
        assert run(boxes, scores).tolist() == program(boxes, scores).tolist() == wanted
    assert len(wanted) < 60


RANKS = """
graph(%x : Tensor):
  %first : int = prim::Constant[value=0]()
  %sum : Tensor = aten::any(%x)
  %holds : bool = aten::Bool(%sum)
  %y : Tensor = prim::If(%holds)
    block0():
      %row : Tensor = aten::unsqueeze(%x, %first)
      -> (%row)
    block1():
      -> (%x)
  return (%y)
"""


def test_branches_of_other_ranks_are_refused() -> None:
    with pytest.raises(
        UnsupportedError, match="float32 of 2 dimensions and float32 of 1 dimensions, and data"
    ):
        xdsl_exir.from_torchscript_text(RANKS).to_aten(["float32[3]"])
