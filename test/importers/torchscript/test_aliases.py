"""Which values of a script may share memory, and who writes to it: as TorchScript's own analysis says, and what one can ask."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from alias_queries import compare  # noqa: E402
from script_features import FEATURES  # noqa: E402
from scripted import quiet, random_module, script  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402

COARSER = 0.05


def test_nothing_that_pytorch_reports_is_missing(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for seed in range(12):
        with quiet():
            graph = random_module(seed, tmp_path).inlined_graph
            assert compare(graph, counts) == []
    assert counts["may_contain_alias reported by PyTorch"] > 100
    assert counts["has_writers reported by PyTorch"] > 50
    for kind in ("has_writers", "may_contain_alias"):
        assert counts[f"{kind} coarser"] <= COARSER * counts[f"{kind} queries"]


@pytest.mark.parametrize(
    "name", ["Containers", "Early", "Flow", "InPlace", "NamedTuples", "WithCtx", "Writes"]
)
def test_features(name: str) -> None:
    module = script(FEATURES[name][0]().eval())
    with quiet():
        for graph in (module.graph, module.inlined_graph):
            assert compare(graph, Counter()) == []


TEXT = """\
graph(%x : Tensor, %n : int):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %t : bool = prim::Constant[value=1]()
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::relu(%x)
  %view : Tensor = aten::select(%a, %0, %0)
  %written : Tensor = aten::add_(%view, %b, %1)
  %list : Tensor[] = prim::ListConstruct(%b)
  %taken : Tensor = aten::__getitem__(%list, %0)
  %carried : Tensor = prim::Loop(%n, %t, %a)
    block0(%i : int, %inside : Tensor):
      %made : Tensor = aten::relu(%inside)
      -> (%t, %made)
  return (%carried)
"""


def test_questions() -> None:
    aliases = xdsl_exir.from_torchscript_text(TEXT).aliases()
    assert aliases.may_alias("%view", "%a")
    assert not aliases.may_alias("%a", "%b")
    assert aliases.may_alias("%taken", "%b")
    assert aliases.may_alias("%taken", "%x")  # both left sight
    assert not aliases.may_alias("%list", "%b")
    assert aliases.may_contain_alias("%list", "%b")
    assert [op.kind for op in aliases.writers("%a")] == ["aten.add_.Tensor"]
    assert aliases.has_writers("%view")
    assert not aliases.has_writers("%b")
    assert aliases.may_alias("%carried", "%a")
    # Of a turn before.
    assert aliases.may_alias("%inside", "%made")
    [written] = [op for op in aliases.function.walk() if op.name.endswith("add_.Tensor")]
    assert aliases.writes(written, "%a")
    with pytest.raises(ExirError, match="no value is called %nonesuch"):
        aliases.may_alias("%nonesuch", "%a")
