"""Graphs as TorchScript prints them: read, and printed as they were but for names."""

from __future__ import annotations

import random
import re

import pytest

torch = pytest.importorskip("torch")

from scripted import MODULES, load, quiet, renamed, save  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.errors import ExirError, LoadError, VerificationError  # noqa: E402


@pytest.fixture(scope="module", params=MODULES)
def graphs(request: pytest.FixtureRequest) -> list[str]:
    torch.manual_seed(0)
    make, _ = MODULES[request.param]
    with quiet():
        module = make()
        return [str(module.graph), str(module.inlined_graph)]


def test_there_and_back(graphs: list[str]) -> None:
    for text in graphs:
        program = xdsl_exir.from_torchscript_text(text)
        assert renamed(program.torchscript_text()) == renamed(text)
        # Names that were made are names.
        assert renamed(
            xdsl_exir.from_torchscript_text(program.torchscript_text()).torchscript_text()
        ) == renamed(text)


def test_changed_texts(graphs: list[str]) -> None:
    for text in graphs:
        for seed in range(30):
            rng = random.Random(seed)
            at = rng.randrange(len(text))
            changed = (
                text[:at]
                + rng.choice(["", "(", "]", "%", '"', "block0(", "\n", "\\"])
                + text[at + rng.randrange(3) :]
            )
            try:
                xdsl_exir.from_torchscript_text(changed).torchscript_text()
            except ExirError as error:
                assert str(error)  # noqa: PT017


SUBGRAPH = """\
graph(%x : Float(2, *, strides=[3, 1], requires_grad=0, device=cpu),
      %y : NamedTuple(first : Tensor, second : int)[]):
  %1 : float = prim::Constant[value=0.10000000000000001](), scope: A/B # a file.py:3:4
  %2 : Tensor = prim::DifferentiableGraph_0(%x)
  %3 : Tensor = prim::Constant[value=<Tensor>]()
  %4 : Dict(str, Tensor?)? = prim::Constant()
  return (%2, %3)
with prim::DifferentiableGraph_0 = graph(%10 : Tensor):
  %11 : Tensor = aten::relu(%10)
  return (%11)
"""


def test_subgraphs_and_profiled_types() -> None:
    program = xdsl_exir.from_torchscript_text(SUBGRAPH)
    assert renamed(program.torchscript_text()) == renamed(SUBGRAPH.rstrip())
    assert "aten.relu" in str(program)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected 'graph'"),
        ("graph(%x : Tensor):\n  return (%y)", "line 2: nothing is called %y"),
        ("graph(%x : Tensr):\n  return (%x)", "'Tensr' is no type"),
        ("graph(%x : Tensor):\n  %y : Tensor = aten::nonesuch(%x)\n  return (%y)", "aten::nonesuch: no overload"),
        ("graph(%x : Tensor):\n  %x : Tensor = aten::relu(%x)\n  return (%x)", "%x is defined twice"),
        ("graph(%x : " + "(" * 5000 + "Tensor):\n  return (%x)", "too deep"),
        ("graph(%x : Tensor):\n  %y : Tensor = prim::DifferentiableGraph_0(%x)\n  return (%y)", "nothing says what"),
        ("graph(%x : Tensor):\n  return (%x)\nmore", "expected the end"),
    ],
)  # fmt: skip
def test_what_is_no_graph(text: str, message: str) -> None:
    with pytest.raises(LoadError, match=re.escape(message)):
        xdsl_exir.from_torchscript_text(text)


def test_a_constant_without_a_result() -> None:
    with pytest.raises(VerificationError, match=r"prim.Constant: 0 results, expected 1"):
        xdsl_exir.from_torchscript_text(
            'graph(%x : Tensor):\n   = prim::Constant[value="a"]()\n  return (%x)'
        )


def test_graphs_that_break_the_rules() -> None:
    text = "graph(%x : Tensor):\n  %y : Tensor = prim::If(%x)\n    block0():\n      -> ()\n  return (%y)"
    with pytest.raises(VerificationError, match=r"takes one bool\n.*blocks, expected 2"):
        xdsl_exir.from_torchscript_text(text)


def test_pytorch_reads_it() -> None:
    """`parse_ir` knows no modules; graphs without are read."""
    text = """\
graph(%x : Tensor, %n : int):
  %1 : int = prim::Constant[value=1]()
  %2 : float = prim::Constant[value=1.0000000000000001e-05]()
  %3 : str = prim::Constant[value="a\\"b\\n"]()
  %c : bool = aten::gt(%n, %1)
  %y : Tensor = prim::If(%c)
    block0():
      %z : Tensor = aten::add(%x, %2, %1)
      -> (%z)
    block1():
      -> (%x)
  return (%y)
"""
    ours = xdsl_exir.from_torchscript_text(text).torchscript_text()
    assert renamed(str(torch._C.parse_ir(ours))) == renamed(str(torch._C.parse_ir(text)))


def test_archives_print_as_graphs(tmp_path) -> None:
    make, _ = MODULES["recurrent"]
    program = load(save(make(), tmp_path / "model.pt"))
    text = program.torchscript_text()
    assert "prim::Loop" in text
    again = xdsl_exir.from_torchscript_text(text)
    assert renamed(again.torchscript_text()) == renamed(text)
    with pytest.raises(ExirError, match="no data to run with"):
        again(1)
