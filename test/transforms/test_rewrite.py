"""Rewrites in Python form: what they match, what they leave, and that results are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.parser import Parser

from xdsl_exir import SpecError, rewrite
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import meta
from xdsl_exir.program import Program, context

TO_ADDMM = rewrite(
    lambda aten, x, w, b: aten.add.Tensor(aten.mm(x, w), b),
    lambda aten, x, w, b: aten.addmm(b, x, w),
)


def program(body: str, *more: str) -> Program:
    """A function of some tensors; `%y` is its result."""
    text = f"""
    func.func @forward(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %b: tensor<4xf32>, %s: tensor<2x4xf32>, %i: tensor<2x4xi64>)
        -> ({", ".join(["tensor<2x4xf32>", *("tensor<2x4xf32>" for _ in more)])}) {{
      {body}
      func.return {", ".join(["%y", *more])} : {", ".join(["tensor<2x4xf32>"] * (len(more) + 1))}
    }}"""
    return Program(Parser(context().clone(), text).parse_module()).verify()


MM = "%m = aten.mm(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>"
ADD = "%y = aten.add.Tensor(%m, %b{}) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>"
SUM = f"{MM}\n{ADD.format('')}"
S = "(tensor<2x4xf32>) -> tensor<2x4xf32>"
SS = "(tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>"


def ops(program: Program) -> list[str]:
    found = [op.name for op in program.module.walk() if op.name.startswith(("aten.", "edge.", "exir."))]
    return [name.removeprefix("edge.") for name in found]


@pytest.mark.parametrize("stage", ["aten", "edge"])
def test_the_common_case(stage: str):
    """In either dialect; what is built is of the same one."""
    before = program(SUM) if stage == "aten" else program(SUM).to_edge()
    after = before.transform(TO_ADDMM, check=True)
    assert ops(after) == ["aten.addmm"]
    assert str(after).count("edge.") == (stage == "edge")


def test_operators_that_commute_match_both_ways():
    other = f"{MM}\n%y = aten.add.Tensor(%b, %m) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>"
    assert ops(program(other).transform(TO_ADDMM, check=True)) == ["aten.addmm"]
    scaled = other.replace("%m)", "%m, alpha = 2)")
    assert ops(program(scaled).transform(TO_ADDMM)) == ["aten.mm", "aten.add.Tensor"]
    minus = rewrite(
        lambda aten, x, y: aten.sub.Tensor(aten.neg(x), y), lambda aten, x, y: aten.sub.Tensor(y, x)
    )
    text = f"%n = aten.neg(%s) : {S}\n%m = aten.sub.Tensor(%s, %n) : {SS}\n%y = aten.relu(%m) : {S}"
    assert "aten.neg" in ops(program(text).transform(minus))


def test_arguments_that_are_not_said_are_defaults():
    scaled = program(f"{MM}\n{ADD.format(', alpha = 2')}")
    assert ops(scaled.transform(TO_ADDMM)) == ["aten.mm", "aten.add.Tensor"]
    any_alpha = rewrite(
        lambda aten, x, w, b, k: aten.add.Tensor(aten.mm(x, w), b, alpha=k),
        lambda aten, x, w, b, k: aten.addmm(b, x, w, beta=k),
    )
    after = scaled.transform(any_alpha, check=True)
    assert ops(after) == ["aten.addmm"]
    assert "beta = 2" in str(after)


def test_variables_of_lists_and_strings():
    text = """
    %v = aten.view(%s, size = [4, 2]) : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %g = aten.gelu(%v, approximate = "tanh") : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %y = aten.view(%g, size = [2, 4]) : (tensor<4x2xf32>) -> tensor<2x4xf32>"""
    inside = rewrite(
        lambda aten, x, to, back, how: aten.view(aten.gelu(aten.view(x, to), approximate=how), back),
        lambda aten, x, how: aten.gelu(x, approximate=how),
        where=lambda x, back: list(meta(x).shape) == back,
    )
    after = program(text).transform(inside, check=True)
    assert ops(after) == ["aten.gelu"]
    assert 'approximate = "tanh"' in str(after)
    fixed = rewrite(
        lambda aten, x, n: aten.view(x, [n, 2]),
        lambda aten, x, n: aten.reshape(x, [n, 2]),
    )
    assert ops(program(text).transform(fixed)) == ["aten.reshape", "aten.gelu", "aten.view"]


def test_a_variable_that_occurs_twice_is_the_same_value():
    double = rewrite(lambda aten, x: aten.add.Tensor(x, x), lambda aten, x: aten.mul.Tensor(x, 2))
    text = "%m = aten.relu(%s) : {0}\n%y = aten.add.Tensor({2}, %m) : {1}"
    assert ops(program(text.format(S, SS, "%m")).transform(double, check=True)) == [
        "aten.relu",
        "exir.number",
        "aten.mul.Tensor",
    ]
    assert "aten.add.Tensor" in ops(program(text.format(S, SS, "%s")).transform(double))


@pytest.mark.parametrize("stage", ["aten", "edge"])
@pytest.mark.parametrize(("number", "matches"), [("2.0", True), ("3.0", False), ("-2.0", False)])
def test_numbers(stage: str, number: str, matches: bool):
    text = f"%n = exir.number {number} : f64\n%y = aten.mul.Tensor(%s, %n) : (tensor<2x4xf32>, f64) -> tensor<2x4xf32>"
    before = program(text) if stage == "aten" else program(text).to_edge()
    half = rewrite(lambda aten, x: aten.mul.Tensor(2, x), lambda aten, x: aten.add.Tensor(x, x))
    assert ("aten.add.Tensor" in ops(before.transform(half, check=True))) == matches


def test_zeros_have_signs():
    """`x + -0.0` is `x` for every `x`; `x + 0.0` is not for -0.0."""
    nothing = rewrite(lambda aten, x: aten.add.Tensor(x, -0.0), lambda aten, x: aten.relu(x))
    for number, matches in (("0.0", False), ("-0.0", True)):
        text = f"%n = exir.number {number} : f64\n%y = aten.add.Tensor(%s, %n) : (tensor<2x4xf32>, f64) -> tensor<2x4xf32>"
        assert ("aten.relu" in ops(program(text).transform(nothing))) == matches


@pytest.mark.parametrize(("ndim", "left"), [(1, ["aten.addmm"]), (2, ["aten.mm", "aten.add.Tensor"])])
def test_where(ndim: int, left: list[str]):
    pattern = rewrite(
        lambda aten, x, w, b: aten.add.Tensor(aten.mm(x, w), b),
        lambda aten, x, w, b: aten.addmm(b, x, w),
        where=lambda b, x: meta(b).ndim == ndim and meta(x).dtype is dt.Float,
    )
    assert ops(program(SUM).transform(pattern)) == left


def test_what_others_use_stays():
    both = program(SUM, "%m")
    assert ops(both.transform(TO_ADDMM, check=True)) == ["aten.mm", "aten.addmm"]
    alone = rewrite(
        lambda aten, x, w, b: aten.add.Tensor(aten.mm(x, w), b),
        lambda aten, x, w, b: aten.addmm(b, x, w),
        single_use=True,
    )
    assert ops(both.transform(alone)) == ["aten.mm", "aten.add.Tensor"]
    assert ops(program(SUM).transform(alone)) == ["aten.addmm"]


def test_a_dag():
    """A call that occurs twice is one operation; used inside the match only, it goes."""

    def before(aten: Any, x: Any) -> Any:
        sigmoid = aten.sigmoid(x)
        return aten.mul.Tensor(sigmoid, aten.sub.Tensor(sigmoid, x))

    text = f"%g = aten.sigmoid(%s) : {S}\n%d = aten.sub.Tensor(%g, %s) : {SS}\n%y = aten.mul.Tensor(%{{}}, %d) : {SS}"
    pattern = rewrite(before, lambda aten, x: aten.relu(x), single_use=True)
    assert ops(program(text.format("g")).transform(pattern)) == ["aten.relu"]
    twice = text.format("h").replace("%d =", f"%h = aten.sigmoid(%s) : {S}\n%d =")
    assert "aten.relu" not in ops(program(twice).transform(pattern))


def test_several_results():
    text = """
    %v, %k = aten.max.dim(%s, dim = 1, keepdim = true) : (tensor<2x4xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
    %y = aten.sub.Tensor(%s, %v) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>"""
    amax = rewrite(
        lambda aten, x, d, k: aten.max.dim(x, d, keepdim=k)[0],
        lambda aten, x, d, k: aten.amax(x, [d], keepdim=k),
    )
    assert ops(program(text).transform(amax, check=True)) == ["aten.amax", "aten.sub.Tensor"]
    used = text + "\n%z = aten._to_copy(%k, dtype = f32) : (tensor<2x1xi64>) -> tensor<2x1xf32>"
    used += "\n%u = aten.expand(%z, size = [2, 4]) : (tensor<2x1xf32>) -> tensor<2x4xf32>"
    assert "aten.max.dim" in ops(program(used, "%u").transform(amax))


def test_what_does_not_fit_stays():
    """Shapes that the new operator does not take, or another dtype than was: no match, and nothing left of the attempt."""
    wide = "%m = aten.mm(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>\n%y = aten.add.Tensor(%m, %i) : (tensor<2x4xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>"
    before = program(wide)
    assert str(before.transform(TO_ADDMM)) == str(before)
    other = rewrite(lambda aten, x: aten.relu(x), lambda aten, x: aten.neg(aten.gt.Scalar(x, 0)))
    before = program(f"%y = aten.relu(%s) : {S}")
    assert str(before.transform(other)) == str(before)


@pytest.mark.parametrize(
    ("before", "after", "where", "error"),
    [
        (3, lambda aten, x: x, None, "3 is no function"),
        (lambda aten, x: aten.nonesuch(x), lambda aten, x: x, None, "unknown operator 'aten.nonesuch'"),
        (lambda aten, x, y: aten.relu(x), lambda aten, x: x, None, "variable 'y' does not occur"),
        (lambda aten, x: aten.relu(x), lambda aten, z: z, None, "'z' is neither a variable"),
        (lambda aten, x: aten.relu(x), lambda aten, x: x, lambda y: True, "'y' is neither a variable"),
        (lambda aten, x: x, lambda aten, x: x, None, "results of one call"),
        (lambda aten, x: (aten.relu(x), aten.neg(x)), lambda aten, x: x, None, "results of one call"),
        (lambda aten, x: aten.relu(x, 1), lambda aten, x: x, None, "does not take 1"),
        (
            lambda aten, x: aten.relu(x, self=x),
            lambda aten, x: x,
            None,
            "does not take 'self', or has it twice",
        ),
        (lambda aten, x: aten.mm(x), lambda aten, x: x, None, "argument 'mat2' is missing"),
        (lambda aten, x: aten.sum(x, dtype="f32"), lambda aten, x: x, None, "dtype: expected a dtype"),
        (
            lambda aten, x: aten.neg(aten.bernoulli(x)),
            lambda aten, x: x,
            None,
            "does more than give a result",
        ),
        (lambda aten, x: aten.split.Tensor(x, 1), lambda aten, x: x, None, "list of results"),
        (lambda aten, x: (aten.neg(x), aten.relu(x))[1], lambda aten, x: x, None, r"aten\.neg is not used"),
    ],
)
def test_errors(before: Callable[..., Any], after: Callable[..., Any], where: Any, error: str):
    with pytest.raises(SpecError, match=error):
        rewrite(before, after, where)


@pytest.mark.parametrize(
    ("after", "error"),
    [
        (lambda aten, x: aten.nonesuch(x), "unknown operator"),
        (lambda aten, x: 1, "which is no value of the program"),
        (lambda aten, x: (x, x), "2 values in place of 1"),
    ],
)
def test_errors_of_what_is_built(after: Callable[..., Any], error: str):
    with pytest.raises(SpecError, match=error):
        program(f"%y = aten.relu(%s) : {S}").transform(rewrite(lambda aten, x: aten.relu(x), after))


def test_there_and_back():
    before = program(f"{SUM.replace('%y', '%a')}\n%y = aten.gelu(%a) : {S}")
    apart = rewrite(
        lambda aten, x, w, b: aten.addmm(b, x, w), lambda aten, x, w, b: aten.add.Tensor(aten.mm(x, w), b)
    )
    fused = before.transform(TO_ADDMM)
    assert ops(fused) == ["aten.addmm", "aten.gelu"]
    assert fused.transform(apart).module.is_structurally_equivalent(before.module)
