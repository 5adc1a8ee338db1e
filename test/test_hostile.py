"""Texts and files that were made to do harm: each is read, or refused by one error with its place, soon and in little memory.

`fuzz.py` breaks good files by chance; what chance does not find is here, class by class.
"""

from __future__ import annotations

import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any, NoReturn

import pytest

import xdsl_exir
from xdsl_exir.errors import ExirError, LoadError
from xdsl_exir.limits import Limits, read_limits

SECONDS = 5.0
"""Processor time that a test may take: what grows faster than its text takes far more."""


@pytest.fixture(autouse=True)
def soon() -> Generator[None]:
    """Interrupts what takes too long."""

    def give_up(number: int, frame: Any) -> NoReturn:
        pytest.fail(f"takes more than {SECONDS:g} s")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


# --- MLIR ----------------------------------------------------------------------------------------------------

BODY = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>{} {{\n  {}\n  func.return %x : tensor<4xf32>\n}}\n"
MILLION = 1 << 20


def statement(text: str) -> str:
    return BODY.format("", text)


def attribute(text: str) -> str:
    return BODY.format(f" attributes {{a = {text}}}", "")


def aliases(first: str, pattern: str, count: int) -> str:
    lines = [f"#a0 = {first}", *(f"#a{i + 1} = " + pattern.replace("#", f"#a{i}") for i in range(count))]
    return "\n".join([*lines, f"builtin.module attributes {{a = #a{count}}} {{}}"])


REFUSED = {
    "operation's name": (statement("a." + "b" * MILLION), ":2:3: a name or number of more than 1024 characters"),
    "value's name": (statement(f"%{'b' * MILLION} = x.y"), ":2:3: a name or number"),
    "value's name of dashes": (statement(f"%{'-' * MILLION} = x.y"), ":2:3: a name or number"),
    "function's name": (f"func.func @{'f' * MILLION}() {{}}", ":1:11: a name or number"),
    "integer": (statement(f"%c = arith.constant {'9' * 100_000} : i64"), ":2:23: a name or number"),
    "hexadecimal": (statement(f"%c = arith.constant 0x{'9' * 100_000} : i64"), ":2:23: a name or number"),
    "width": (statement(f"%c = arith.constant 0 : i{'9' * 100_000}"), ":2:27: a name or number"),
    "size": (statement(f"%c = arith.constant dense<1> : tensor<{'9' * 100_000}xi64>"), ":2:41: a name or number"),
    "float": (statement(f"%c = arith.constant {'9' * 100_000}.0 : f32"), ":2:23: a name or number"),
    "rank": (statement(f"%c = x.y : tensor<{'1x' * 100_000}f32>"), ":2:21: more than 64 dimensions"),
    "symbolic rank": (f"func.func private @f(tensor<{'?x' * 100_000}f32>)", ":1:29: more than 64 dimensions"),
    "splat": (statement("%c = arith.constant dense<1> : tensor<1000000000000xi64>"), r":\d+:\d+: a dense literal of 10{12} elements"),
    "splat of a vector": (attribute("dense<0.5> : vector<1000000000000xf32>"), r":\d+:\d+: a dense literal of 10{12} elements"),
    "splat in hexadecimal": (attribute('dense<"0x00"> : tensor<1000000000000xi8>'), r":\d+:\d+: a dense literal of 10{12}"),
    "affine sum": (attribute(f"affine_map<(d0) -> ({'d0 + ' * 50_000}d0)>"), r":\d+:\d+: an affine expression is nested"),
    "affine signs": (attribute(f"affine_map<(d0) -> ({'-' * 50_000}d0)>"), r":1:\d+: cannot be read: maximum recursion"),
    "affine product": (attribute("affine_map<(d0) -> (d0 * d0)>"), r":1:\d+: cannot be read: Multiplication"),
    "tuples": (f"func.func private @f({'tuple<i32, ' * 5000}", ":1:22: brackets are nested"),
    "types over lines": ("func.func private @f(" + "tuple<\n" * 5000, r":\d+:\d+: cannot be read: maximum recursion"),
    "aliases that double": (aliases("[1, 1]", "[#, #]", 60), r":\d+:\d+: aliases expand to more than"),
    "aliases that nest": (aliases("[1]", "[#]", 5000), r":102:1: aliases nest brackets more than 100 deep"),
    "blanks, then nothing": (" \n" * MILLION + "!", rf":{MILLION + 1}:1: Expected suffix"),
    "operation in quotes": (statement(f'"a.{"b" * MILLION}"() : () -> ()'), r":2:\d+: Operation a.b{900}"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_mlir_is_refused(name: str, tmp_path: Path) -> None:
    text, message = REFUSED[name]
    path = tmp_path / "bad.mlir"
    path.write_text(text)
    with pytest.raises(LoadError, match=rf"bad\.mlir{message}") as caught:
        xdsl_exir.load(path)
    assert len(str(caught.value)) < 4000


def chain(count: int, operation: str) -> str:
    """A function of so many operations, each of the one before."""
    lines = [f"  %{i + 1} = {operation.replace('#', f'%{i}')}" for i in range(count)]
    text = BODY.format("", "\n".join(lines).strip())
    return text.replace("%x", "%0", 1).replace("return %x", f"return %{count}")


ACCEPTED = {
    "operations": chain(2000, "edge.aten.relu(#) : (tensor<4xf32>) -> tensor<4xf32>"),
    "numbers": attribute(f"array<i64: {', '.join(map(str, range(50_000)))}>"),
    "string": attribute(f'"{"a" * MILLION}"'),
    "functions": "".join(statement("").replace("@f", f"@f{i}") for i in range(1000)),
    "aliases": aliases("[1, 1]", "[#]", 20),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_long_mlir_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "good.mlir"
    path.write_text(ACCEPTED[name])
    read = xdsl_exir.load(path)
    again = tmp_path / "again.mlir"
    again.write_text(str(read))
    assert str(xdsl_exir.load(again)) == str(read)


# --- limits --------------------------------------------------------------------------------------------------


def test_limits_are_raised_by_name() -> None:
    assert read_limits("") == Limits()
    assert read_limits("rank=100, word=10") == Limits(rank=100, word=10)
    for text in ("ranks=1", "rank", "rank=-1", "rank=1e9"):
        with pytest.raises(ExirError, match="XDSL_EXIR_LIMITS: expected name=number"):
            read_limits(text)
