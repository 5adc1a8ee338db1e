"""Random programs at small scale: `python test/random_programs.py` runs more of them."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from random_programs import (  # noqa: E402
    Expected,
    Input,
    Program,
    Step,
    attempt,
    program_of,
    pruned,
    smaller,
)


def program(*steps: str, outputs: tuple[str, ...] = ("v1",)) -> Program:
    """Steps from one matrix, `v0`."""
    return Program(0, (Input("v0", (3, 4), torch.float32, "plain", 0),), tuple(map(Step, steps)), outputs)


def test_a_program_is_its_seed() -> None:
    texts = [str(program_of(seed)) for seed in range(5)]
    assert texts == [str(program_of(seed)) for seed in range(5)]
    assert len(set(texts)) == 5
    assert all(p.steps and p.outputs for p in map(program_of, range(5)))


def test_another_number_shape_or_dtype_is_a_difference() -> None:
    square = program("v1 = v0 * v0")
    expected = Expected(square, square.values())
    (right, *inputs) = expected.results
    assert not expected.difference([right, *inputs])
    assert "of 12 torch.float32" in expected.difference([right + 1e-3, *inputs])
    assert "shape (1, 3, 4)" in expected.difference([right[None], *inputs])
    assert "dtype torch.float64" in expected.difference([right.double(), *inputs])
    assert "v0 afterwards" in expected.difference([right, inputs[0] + 1])


def test_what_the_last_bits_decide_is_left_out() -> None:
    steps = (Step("v2 = v0.sin()", exact=False), Step("v1 = (v2 * 1e7) % 7"))
    chaotic = Program(0, (Input("v0", (3, 4), torch.float32, "plain", 0),), steps, ("v1", "v2"))
    expected = Expected(chaotic, chaotic.values())
    first, second, *inputs = expected.results
    assert not expected.difference([first + 3, second, *inputs])
    assert "v2: 12 of 12" in expected.difference([first, second + 1, *inputs])


def test_shrinking_keeps_what_is_needed() -> None:
    long = program(
        "v2 = v0.neg()", "v3 = v2.exp()", "v3.add_(1)", "v1 = v3.sum()", "v4 = v1 * 2", outputs=("v1", "v4")
    )
    assert [step.text for step in pruned(program("v2 = v0.neg()", "v1 = v0.exp()")).steps] == [
        "v1 = v0.exp()"
    ]
    shorter = list(smaller(long))
    assert any("v3.add_(1)" not in str(p) for p in shorter)
    assert any({i.name for i in p.inputs} == {"v3"} for p in shorter)


@pytest.mark.parametrize("stage", ["training", "core"])
@pytest.mark.parametrize("engine", ["interpreter"])
def test_simple_programs_are_right(engine: str, stage: str) -> None:
    good = program("v2 = v0.t().clone()", "v2.add_(1)", "v1 = v2.sum(0)")
    assert [outcome.status for outcome in attempt(good, [engine], stage)] == ["ok"]
