"""A short run of fuzz.py, which says what it does; the long one is made by hand."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from fuzz import Outcome, run_cases

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")


def test_mutated_files_are_read_or_refused(figures: Any) -> None:
    outcomes: list[Outcome] = []
    run_cases(range(400), outcomes.append, processes=1)
    refused = sum(outcome.kind != "read" for outcome in outcomes)
    figures(f"{len(outcomes)} mutated files: {len(outcomes) - refused} read, {refused} refused")
    failures = [f"case {o.number} ({o.seed}): {o.kind}: {o.detail}" for o in outcomes if o.is_failure]
    assert not failures, "\n".join(failures)
    assert len(outcomes) == 400
    assert 300 < refused < 400


def test_mutated_torchscript(figures: Any) -> None:
    outcomes: list[Outcome] = []
    run_cases(range(300), outcomes.append, processes=1, torchscript=True)
    refused = sum(outcome.kind not in ("read", "runs long") for outcome in outcomes)
    figures(f"{len(outcomes)} mutated scripts: {len(outcomes) - refused} read, {refused} refused")
    failures = [f"case {o.number} ({o.seed}): {o.kind}: {o.detail}" for o in outcomes if o.is_failure]
    assert not failures, "\n".join(failures)
    assert 150 < refused < 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'builtin.module attributes {a = "never ' + "x" * 5000 + "\n} {}",
            r":1:32: a string that does not end",
        ),
        (
            "builtin.module attributes {a = " + "[" * 5000 + "} {}",
            r":1:131: brackets are nested more than 100 deep",
        ),
        ("func.func private @f(" + "tuple<" * 5000, r":1:22: brackets are nested"),
        ("builtin.module {\n  builtin.module attributes {a = 1 : i" + "9" * 30 + "} {}\n}", r"."),
    ],
)
def test_what_the_parser_does_not_survive(text: str, message: str, tmp_path: Any) -> None:
    import xdsl_exir

    path = tmp_path / "bad.mlir"
    path.write_text(text)
    with pytest.raises(xdsl_exir.LoadError, match=rf"bad\.mlir{message}"):
        xdsl_exir.load(path)
