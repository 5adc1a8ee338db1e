"""The FileCheck files are complete: each canonicalization, each fast-math rule and each pass has its case there.

`canonicalizations/FAMILY.mlir` has a function for each rule of the family, named after its operator. In it the rule applies, and where
it has conditions it also leaves an operation alone. What becomes of them is for lit to check.
"""

# pyright: basic

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from xdsl_exir.dialects.spec import find
from xdsl_exir.program import Program, context, methods_of
from xdsl_exir.transforms import canonicalizations
from xdsl_exir.transforms.canonicalizations import CANONICALIZATIONS
from xdsl_exir.transforms.canonicalizations.control_flow import PATTERNS
from xdsl_exir.transforms.fastmath import FLAGS, RULES, CanonicalizeFastMath
from xdsl_exir.transforms.optimize import LEVELS
from xdsl_exir.universe import XDSL_EXIR_UNIVERSE

FOLDER = Path(__file__).parents[1] / "filecheck"
CASES = FOLDER / "canonicalizations"
FAMILIES = sorted(path.stem for path in Path(canonicalizations.__file__).parent.glob("[a-z]*.py"))

ALWAYS = frozenset({"alias", "alias_copy", "detach", "detach_copy", "lift", "lift_fresh", "lift_fresh_copy", "positive",
                    "resolve_conj", "resolve_neg"})  # fmt: skip
"""Operators whose rule has no condition."""


def rules_of(family: str) -> set[str]:
    """Names of the operations that a file of canonicalizations has rules of."""
    if family == "control_flow":
        return {cls.name for cls in PATTERNS}
    return {name for name in CANONICALIZATIONS.names((family,)) if find(name).family == family}


def counts(function: FuncOp) -> Counter[str]:
    return Counter(op.name for op in function.walk())


@pytest.mark.parametrize("family", FAMILIES)
def test_every_canonicalization_has_a_case(family: str) -> None:
    program = Program(Parser(context().clone(), (CASES / f"{family}.mlir").read_text()).parse_module())
    before, after = methods_of(program.module), methods_of(program.transform("canonicalize").module)
    assert set(before) == rules_of(family)
    for name, function in before.items():
        left = counts(after[name])[name]
        assert left < counts(function)[name], f"{name} is not made simpler"
        assert left or name.removeprefix("aten.") in ALWAYS, f"{name} is nowhere left alone"


def with_flags(program: Program, flags: Iterable[str]) -> Program:
    return program.transform(CanonicalizeFastMath(tuple(flags)))


def test_every_fastmath_rule_has_a_case() -> None:
    text = (FOLDER / "fastmath.mlir").read_text()
    program = Program(Parser(context().clone(), text).parse_module())
    assert set(methods_of(program.module)) == {rule.__name__ for _, _, rule in RULES}
    for needed, _, rule in RULES:
        name, before = rule.__name__, str(program.method(rule.__name__))
        assert f"{{flags={','.join(flag for flag in FLAGS if flag in needed)}}}" in text
        assert str(with_flags(program, needed).method(name)) != before, f"{name} does not apply"
        for flag in needed:
            assert str(with_flags(program, needed - {flag}).method(name)) == before, f"{name} without {flag}"


def runs() -> list[str]:
    return [
        line for path in FOLDER.rglob("*.mlir") for line in path.read_text().splitlines() if "RUN:" in line
    ]


def own_passes() -> list[str]:
    """The passes that the plugin registers, and those of xDSL that the optimiser runs."""
    return sorted(
        {*XDSL_EXIR_UNIVERSE.all_passes, *(re.sub(r"\{.*", "", name) for level in LEVELS for name in level)}
    )


@pytest.mark.parametrize("name", own_passes())
def test_every_pass_has_a_case(name: str) -> None:
    """As the first of its pipeline: behind others it might do nothing."""
    assert any(re.search(rf" -p ['\"]?{name}(\{{[^}}]*\}})?[,'\" ]", line) for line in runs())
