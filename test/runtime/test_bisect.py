"""An artificial wrong pattern is found, by `bisect` and by `check=`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

import xdsl_exir
from xdsl_exir.dialects import edge
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.bisect import bisect
from xdsl_exir.runtime.inputs import random_inputs
from xdsl_exir.transforms.decompose_aten import DecomposeAten
from xdsl_exir.transforms.patterns import ApplyPatterns
from xdsl_exir.transforms.watch import LIMIT

DIGITS = Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2"

CHAIN = 12
"""Operators of the program, of which the pattern is wrong for one."""
TEXT = (
    "func.func @forward(%0: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
    + "".join(
        f"  %{n + 1} = aten.{'gelu' if n == 7 else 'silu'}(%{n}) : (tensor<2x3xf32>) -> tensor<2x3xf32>"
        f' loc("model.py":{n + 10}:0)\n'
        for n in range(CHAIN)
    )
    + f"  func.return %{CHAIN} : tensor<2x3xf32>\n}}"
)


@pytest.fixture
def program() -> Program:
    return Program(Parser(context().clone(), TEXT).parse_module()).verify()


def wrong_gelu(aten: Any, self: Any) -> Any:
    return aten.add.Scalar(aten.mul.Tensor(self, aten.sigmoid(self)), 1)


class WrongRelu(RewritePattern):
    """Wrong where it matters: below 0."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: edge.ReluOp, rewriter: PatternRewriter, /) -> None:
        rewriter.replace(op, edge.AbsOp(op.self))


WRONG = DecomposeAten(decompositions={"aten.gelu": wrong_gelu})


def test_a_wrong_decomposition_is_found(program: Program, monkeypatch: pytest.MonkeyPatch):
    steps: list[str] = []
    inputs = random_inputs(program)
    found = bisect(
        program, (WRONG, *Program.passes("aten-to-edge,canonicalize")), inputs, report=steps.append
    )
    assert found is not None
    assert found.application.of_pass == 8
    assert str(found).startswith(
        "application 8 of decompose-aten, decomposition of aten.gelu (model.py:17) changes what the program computes: "
    )
    assert len(steps) <= 7  # of some 40
    # The limit that it gives stops right after it.
    assert found.limit == f"{LIMIT}=decompose-aten=8"
    for count, right in ((7, True), (8, False)):
        monkeypatch.setenv(LIMIT, f"decompose-aten={count}")
        stopped = program.apply(WRONG)
        [expected], [got] = (xdsl_exir.compile(p).flat(inputs) for p in (program, stopped))
        assert np.allclose(got, expected, rtol=1e-5, atol=1e-5) == right


def test_nothing_wrong_is_found_in_what_is_right(program: Program):
    passes = Program.passes("decompose-aten,aten-to-edge,canonicalize,cse,dce")
    assert bisect(program, passes, random_inputs(program)) is None


def test_a_wrong_pattern_is_found_where_it_is_applied():
    """In a model, among right ones: digits has three relus."""
    program = xdsl_exir.load(DIGITS).to_edge()
    [first, *_] = [op for op in program.module.walk() if isinstance(op, edge.ReluOp)]
    images = np.random.default_rng(0).integers(0, 16, (360, 8, 8), np.uint8)
    found = bisect(program, [ApplyPatterns((WrongRelu(),))], [images])
    assert found is not None
    assert (found.application.pattern, found.application.operation) == ("WrongRelu", first.name)
    assert found.application.of_pass == 1
    assert "edge.aten.abs" in found.reason


def test_a_pattern_that_breaks_the_program_is_found(program: Program):
    class NoSuchShape(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: edge.SigmoidOp, rewriter: PatternRewriter, /) -> None:
            rewriter.replace(op, edge.PermuteOp(op.self, [1, 0]))

    program = program.to_edge()
    found = bisect(program, [ApplyPatterns((NoSuchShape(),))], random_inputs(program))
    assert found is not None
    assert found.application.of_pass == 1


@pytest.mark.parametrize("check", [True, "inputs"])
def test_check_names_what_is_wrong(program: Program, check: Any):
    inputs = check if check is True else [np.full((2, 3), 2, np.float32)]
    with pytest.raises(xdsl_exir.ExirError, match=r"decomposition of aten\.gelu \(model\.py:17\) changes"):
        program.transform(WRONG, check=inputs)
    assert str(program.transform("decompose-aten", check=inputs)) == str(program.to_core())
    text = TEXT.replace("aten.silu", "edge.aten.relu").replace("aten.gelu", "edge.aten.neg")
    relus = Program(Parser(context().clone(), text).parse_module())
    with pytest.raises(
        xdsl_exir.ExirError,
        match=r"WrongRelu on edge\.aten\.relu \(model\.py:18\) changes.*: result 0: the program before gives .*, the program after gives ",
    ):
        relus.transform(WrongRelu(), check=True)


def test_inputs_that_do_not_fit_are_nobodys_fault(program: Program):
    with pytest.raises(xdsl_exir.InputError):
        program.transform(WRONG, check=[np.zeros((3, 3), np.float32)])


def test_random_inputs():
    text = """
    func.func @forward(
        %a: tensor<?x4xi64, #exir.shape<[s0, 4]>>, %b: tensor<?xi1, #exir.shape<[s1]>>, %c: tensor<2xcomplex<f32>>, %d: f64,
        %e: i1, %f: !exir.symint<s2>
    ) attributes {exir.ranges = {s0 = #exir.range<5, 9>, s1 = #exir.range<0, 2>, s2 = #exir.range<2, inf>}} {
      func.return
    }
    """
    program = Program(Parser(context().clone(), text).parse_module())
    a, b, c, d, e, f = random_inputs(program)
    assert (a.shape, a.dtype, b.shape, b.dtype, c.shape, c.dtype) == (
        (5, 4),
        "int64",
        (2,),
        "bool",
        (2,),
        "complex64",
    )
    assert (type(d), type(e), f) == (float, bool, 3)
    assert set(a.flat) <= {0, 1}
    xdsl_exir.compile(program).flat([a, b, c, d, e, f])
    assert np.array_equal(random_inputs(program)[2], c)
    assert not np.array_equal(random_inputs(program, seed=1)[2], c)
