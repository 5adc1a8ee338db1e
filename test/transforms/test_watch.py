"""Watching passes at work: what is logged, counted, stopped, and what users' patterns build inherits."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

import xdsl_exir
from xdsl_exir.dialects import aten
from xdsl_exir.locations import location_text
from xdsl_exir.program import Program, context
from xdsl_exir.transforms.watch import ALL, LIMIT, Watch, watching

TEXT = """
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = aten.silu(%x) {exir.origin = #exir.origin<"silu", "aten.silu.default", "act">} : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":7:0)
  %1 = aten.silu(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":8:0)
  %2 = aten.relu(%1) {exir.origin = #exir.origin<"relu", "aten.relu.default", "top">} : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":9:0)
  func.return %2 : tensor<4xf32>
}
"""


class AbsOfRelu(RewritePattern):
    """Puts `abs(relu(x))` in place of `relu(x)`, once."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: aten.ReluOp, rewriter: PatternRewriter, /) -> None:
        if any(isinstance(use.operation, aten.AbsOp) for use in op.result.uses):
            return
        relu = aten.ReluOp(op.self)
        rewriter.replace(op, [relu, aten.AbsOp(relu.result)])


@dataclass(frozen=True)
class OwnPass(ModulePass):
    """A pass as users write it: with xDSL's walker."""

    name = "own-pass"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(GreedyRewritePatternApplier([AbsOfRelu()])).rewrite_module(op)


@pytest.fixture
def program() -> Program:
    return Program(Parser(context().clone(), TEXT).parse_module()).verify()


def named(program: Program, name: str) -> list[Any]:
    return [op for op in program.module.walk() if op.name == name]


# --- what is built inherits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [AbsOfRelu(), [AbsOfRelu()], OwnPass()], ids=["pattern", "list", "pass"])
def test_what_users_patterns_build_descends_from_what_they_replace(program: Program, how: Any):
    after = program.transform(how)
    built = [*named(after, "aten.relu"), *named(after, "aten.abs")]
    assert len(built) == 2
    for op in built:
        assert location_text(op) == "model.py:9"
        assert op.attributes["exir.origin"].data.module == "top"


def test_xdsl_is_as_it_was_afterwards(program: Program):
    stock = PatternRewriteWalker.rewrite_region
    program.transform(OwnPass())
    assert PatternRewriteWalker.rewrite_region is stock


def test_other_threads_are_not_watched(program: Program):
    """A walker of another thread works as ever, while passes of ours run."""
    elsewhere = program.module.clone()

    class Both(ModulePass):
        name = "both"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            thread = threading.Thread(target=OwnPass().apply, args=(ctx, elsewhere))
            thread.start()
            thread.join()

    with watching(Watch()) as watch:
        program.apply(Both())
    assert watch.counts == {("both", "both as a whole"): 1}
    assert [location_text(op) for op in elsewhere.walk() if op.name == "aten.abs"] == [""]


# --- what is told --------------------------------------------------------------------------------------------


def test_logging(program: Program, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.DEBUG, "xdsl_exir.pass"):
        program.transform("decompose-aten").transform(OwnPass())
    told = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    assert told[:2] == [
        (
            "xdsl_exir.pass.decompose-aten",
            "DEBUG",
            f"application {n} of decompose-aten, decomposition of aten.silu (model.py:{line})",
        )
        for n, line in ((1, 7), (2, 8))
    ]
    assert told[2][:2] == ("xdsl_exir.pass.decompose-aten", "INFO")
    assert told[2][2].startswith("2 applications, ")
    assert told[3] == (
        "xdsl_exir.pass.own-pass",
        "DEBUG",
        "application 1 of own-pass, AbsOfRelu on aten.relu (model.py:9)",
    )


def test_what_a_rewrite_does_not_fit_is_told(program: Program, caplog: pytest.LogCaptureFixture):
    sums = xdsl_exir.rewrite(lambda aten, x: aten.relu(x), lambda aten, x: aten.sum(x))
    with caplog.at_level(logging.DEBUG, "xdsl_exir.pass"):
        assert str(program.transform(sums)) == str(program)
    [told, _] = [record.getMessage() for record in caplog.records]
    assert told.startswith("rewrite of aten.relu keeps aten.relu (model.py:9): aten.relu")
    assert told.endswith("rule gives tensor<f32> for tensor<4xf32>")


@pytest.mark.parametrize("pipeline", [3, [3], ["canonicalize"], None])
def test_what_is_no_pipeline(program: Program, pipeline: Any):
    with pytest.raises(xdsl_exir.ExirError, match="is no pipeline, no pass, and no patterns"):
        program.transform(pipeline)


@pytest.mark.parametrize("check", [3, None, object()])
def test_what_is_nothing_to_check_with(program: Program, check: Any):
    with pytest.raises(xdsl_exir.ExirError, match="check: a list of"):
        program.transform("canonicalize", check=check)


def test_nothing_is_told_unasked(program: Program, caplog: pytest.LogCaptureFixture):
    program.to_edge()
    assert not caplog.records


def test_counts(program: Program):
    with watching(Watch()) as watch:
        program.to_edge()
    assert watch.counts["decompose-aten", "decomposition of aten.silu"] == 2
    assert watch.counts["aten-to-edge", "specialisation of aten.sigmoid"] == 2
    assert watch.totals[ALL] == sum(watch.counts.values()) == 7
    assert list(watch.seconds) == ["decompose-aten", "aten-to-edge"]
    assert all(seconds > 0 for seconds in watch.seconds.values())


def test_stats(program: Program, capsys: pytest.CaptureFixture[str]):
    assert str(program.transform("decompose-aten", stats=True)) == str(program.to_core())
    table = capsys.readouterr().err.splitlines()
    assert table[0].endswith(" s  decompose-aten")
    assert table[1].split() == ["2", "decomposition", "of", "aten.silu"]


def test_stats_of_passes_inside_passes(program: Program, capsys: pytest.CaptureFixture[str]):
    program.to_edge().transform("optimize{level=1}", stats=True)
    passes = [line.split()[-1] for line in capsys.readouterr().err.splitlines() if " s  " in line]
    assert {"canonicalize", "merge-common", "optimize"} <= set(passes)


def test_watching_changes_nothing(program: Program):
    with watching(Watch()):
        watched = program.to_edge().transform("canonicalize,cse,dce")
    assert watched.text(locations=True) == program.to_edge().transform("canonicalize,cse,dce").text(
        locations=True
    )


def test_what_an_applier_does_itself_counts_once(program: Program):
    """Folding and erasing is xDSL's own; what its patterns do is theirs."""
    unused = TEXT.replace("%2 =", "%3 = aten.neg(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  %2 =")
    with watching(Watch()) as watch:
        Program(Parser(context().clone(), unused).parse_module()).transform(OwnPass())
    assert watch.counts == {("own-pass", "fold or erase"): 1, ("own-pass", "AbsOfRelu"): 1}


def test_stock_canonicalize_tells_of_each_rule():
    text = """
    func.func @forward(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = aten.permute(%x, dims = [1, 0]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %1 = aten.permute(%0, dims = [1, 0]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
      func.return %1 : tensor<2x3xf32>
    }"""
    program = Program(Parser(context().clone(), text).parse_module()).verify()
    with watching(Watch()) as watch:
        after = program.transform("canonicalize")
    assert not named(after, "aten.permute")
    assert after.text() == program.transform("canonicalize").text()
    rules = {pattern for _, pattern in watch.counts} - {"fold or erase"}
    assert rules
    assert not any(" or " in rule for rule in rules)


# --- limits --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "silus", "relus"),
    [
        ("decompose-aten=0", 2, 0),
        ("decompose-aten=1", 1, 0),
        ("decompose-aten=2", 0, 0),
        ("1", 1, 1),
        ("3,decompose-aten=1", 1, 1),
        ("", 0, 0),
    ],
)
def test_limits(program: Program, monkeypatch: pytest.MonkeyPatch, limit: str, silus: int, relus: int):
    """A pass's own stops that pass, one for all stops what comes after it as well."""
    monkeypatch.setenv(LIMIT, limit)
    after = program.apply(*Program.passes("decompose-aten,aten-to-edge"))
    assert len(named(after, "aten.silu")) + len(named(after, "edge.aten.silu")) == silus
    assert len(named(after, "aten.relu")) == relus


def test_limits_hold_for_users_passes(program: Program, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(LIMIT, "own-pass=0")
    assert str(program.transform(OwnPass())) == str(program)


@pytest.mark.parametrize("limit", ["decompose-aten", "decompose-aten=", "decompose-aten=-1", "x=1=y", "²"])
def test_limits_that_are_none(program: Program, monkeypatch: pytest.MonkeyPatch, limit: str):
    monkeypatch.setenv(LIMIT, limit)
    with pytest.raises(xdsl_exir.ExirError, match=f"{LIMIT}=.*neither a number nor PASS=NUMBER"):
        program.to_core()
