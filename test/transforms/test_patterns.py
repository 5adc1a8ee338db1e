"""Decompositions and specialisations as xDSL patterns: alone, in stock walkers, and with tables of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.parser import Parser
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)

import xdsl_exir
from xdsl_exir.dialects.spec import FAMILIES
from xdsl_exir.errors import ExirError, SpecError
from xdsl_exir.program import Program, context
from xdsl_exir.transforms.aten_to_edge import specialisations
from xdsl_exir.transforms.decompose_aten import decompositions
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS, KEEP
from xdsl_exir.transforms.patterns import OperatorPattern

DIGITS = Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2"

TEXT = """
func.func @forward(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = aten.linear(%x, %w, %b) : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32> loc("model.py":7:0)
  %1 = aten.silu(%0) {exir.origin = #exir.origin<"silu", "aten.silu", "act">} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("model.py":8:0)
  %one = exir.number 1 : i64
  %2 = aten.add.Tensor(%1, %one) : (tensor<2x4xf32>, i64) -> tensor<2x4xf32>
  func.return %2 : tensor<2x4xf32>
}
"""


def parse(text: str = TEXT) -> Program:
    return Program(Parser(context().clone(), text).parse_module()).verify()


def names(program: Program) -> list[str]:
    return [op.name for op in program.module.walk() if op.name.startswith(("aten.", "edge."))]


def walked(program: Program, *patterns: RewritePattern, dce: bool = False) -> Program:
    """The program after a stock walk."""
    module = program.module.clone()
    applier = GreedyRewritePatternApplier([*patterns], dce_enabled=dce)
    PatternRewriteWalker(applier).rewrite_module(module)
    return Program(module, program.state, program.conventions)


@pytest.mark.parametrize("source", ["text", "digits"])
def test_stock_walkers_do_what_the_passes_do(source: str):
    """Text for text, locations and origins included."""
    program = parse() if source == "text" else xdsl_exir.load(DIGITS)
    core, edge = walked(program, *decompositions()), program.to_edge()
    assert names(core) != names(program)
    assert core.text(locations=True) == program.to_core().text(locations=True)
    assert walked(core, *specialisations()).text(locations=True) == edge.text(locations=True)
    # In one walk as well: what the one gives, the other takes.
    assert str(walked(program, *decompositions(), *specialisations())) == str(edge)


def test_patterns_of_operators_that_are_named():
    program = parse()
    silu = walked(program, *decompositions("aten.silu"))
    assert names(silu) == ["aten.linear", "aten.sigmoid", "aten.mul.Tensor", "aten.add.Tensor"]
    both = walked(program, *decompositions("aten.silu", "aten.linear"))
    assert str(both) == str(program.to_core())
    edge = walked(program, *specialisations("aten.add.Tensor"))
    assert names(edge) == ["aten.linear", "aten.silu", "edge.aten.add.Tensor"]
    assert "exir.constant 1.0" in str(edge)


def test_what_is_built_descends_from_what_it_replaces():
    silu = walked(parse(), *decompositions("aten.silu"))
    built = [op for op in silu.module.walk() if op.name in ("aten.sigmoid", "aten.mul.Tensor")]
    assert len(built) == 2
    for op in built:
        assert op.location == FileLineColLoc(StringAttr("model.py"), IntAttr(8), IntAttr(0))
        assert "act" in str(op.attributes["exir.origin"])


def test_errors_of_names():
    with pytest.raises(SpecError, match=r"aten\.mm has no decomposition"):
        decompositions("aten.mm")
    with pytest.raises(SpecError, match=r"unknown operator 'aten\.nonesuch'"):
        decompositions("aten.nonesuch")
    with pytest.raises(SpecError, match=r"unknown operator 'aten\.nonesuch'"):
        specialisations("aten.nonesuch")


# --- a table of one's own ------------------------------------------------------------------------------------


def hard_silu(aten: Any, self: Any) -> Any:
    return aten.mul.Tensor(self, aten.hardsigmoid(self))


def test_a_table_for_one_program():
    program = parse()
    core = program.to_core(decompositions={"aten.silu": hard_silu, "aten.linear": None})
    assert "aten.linear" in names(core)
    assert "aten.sigmoid" not in names(core)
    assert str(core) == str(
        walked(program, *decompositions(table={"aten.silu": hard_silu, "aten.linear": None}))
    )
    assert "edge.aten.linear" in names(program.to_edge(decompositions={"aten.linear": None}))
    assert "aten.sigmoid" in names(program.to_core())


def test_errors_of_tables():
    program = parse()
    with pytest.raises(SpecError, match=r"decompositions: unknown operator 'aten\.nonesuch'"):
        program.to_core(decompositions={"aten.nonesuch": hard_silu})
    with pytest.raises(SpecError, match=r"aten\.silu: the operator has no argument 'alpha'"):
        program.to_core(decompositions={"aten.silu": lambda aten, self, alpha: self})
    with pytest.raises(ExirError, match=r"rule gives tensor<4x2xf32> for tensor<2x4xf32>"):
        program.to_core(decompositions={"aten.silu": lambda aten, self: aten.permute(self, [1, 0])})
    with pytest.raises(ExirError, match="rule gives 2 results for 1"):
        program.to_core(decompositions={"aten.silu": lambda aten, self: (self, self)})


def test_a_rule_may_ask_for_the_operation_it_replaces():
    """And for the types of its results; one of an operator that another rule would build gets neither."""
    asked: list[Any] = []

    def sigmoid(aten: Any, self: Any, op: Any, out: Any) -> Any:
        asked.append((op and op.name, out and len(out)))
        return KEEP

    table = {"aten.sigmoid": sigmoid}
    text = TEXT.replace("aten.silu(%0)", "aten.sigmoid(%0)")
    parse(text).to_core(decompositions=table)
    parse().to_core(decompositions=table)
    assert asked == [("aten.sigmoid", 1), (None, None)]


# --- as walkers see them -------------------------------------------------------------------------------------


def test_listeners_hear_of_everything():
    """What is inserted and stays, and what is erased, is all that changes."""
    program, inserted, erased = parse(), [], []
    listener = PatternRewriterListener(
        operation_insertion_handler=[inserted.append], operation_removal_handler=[erased.append]
    )
    module = program.module.clone()
    before = set(module.walk())
    walker = PatternRewriteWalker(GreedyRewritePatternApplier(decompositions()), listener=listener)
    assert walker.rewrite_module(module)
    after = set(module.walk())
    assert set(inserted) - set(erased) == after - before
    assert before - after <= set(erased)
    assert not walker.rewrite_module(module)


class BuildsAndKeeps(OperatorPattern):
    """Builds, then finds that it does not apply."""

    def results(self, op: Any, builder: Any) -> Any:
        builder.number(1)
        builder.call("aten.neg", [op.operands[0]], {})
        return KEEP


def test_what_was_built_in_vain_goes_and_is_no_action():
    program = parse()
    module = program.module.clone()
    assert not PatternRewriteWalker(BuildsAndKeeps()).rewrite_module(module)
    assert str(module) == str(program.module)
    op = next(op for op in module.walk() if op.name == "aten.silu")
    rewriter = PatternRewriter(op)
    rewriter.has_done_action = True
    BuildsAndKeeps().match_and_rewrite(op, rewriter)
    assert rewriter.has_done_action


def test_rules_that_may_keep_say_so():
    """The declaration is what tells which operators there can be in a decomposed program."""
    project = {
        name: entry
        for name in DECOMPOSITIONS.names(tuple(FAMILIES))
        if (entry := DECOMPOSITIONS.find(xdsl_exir.dialects.spec.find(name))) is not None and not entry.rank
    }
    keeping = {name for name, entry in project.items() if "KEEP" in entry.function.__code__.co_names}
    assert keeping == {name for name, entry in project.items() if entry.options.get("may_keep")}
    assert keeping


def test_results_are_the_same():
    program = xdsl_exir.load(DIGITS)
    images = np.random.default_rng(0).integers(0, 16, (360, 8, 8), np.uint8)
    [expected] = xdsl_exir.compile(program).flat([images])
    [got] = xdsl_exir.compile(walked(program, *decompositions())).flat([images])
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
