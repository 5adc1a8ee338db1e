"""Texts and files that were made to do harm: each is read, or refused by one error with its place, soon and in little memory.

`fuzz.py` breaks good files by chance; what chance does not find is here, class by class.
"""

from __future__ import annotations

import itertools
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.errors import ExirError, LoadError
from xdsl_exir.exporters import blocks
from xdsl_exir.limits import Limits, read_limits
from xdsl_exir.program import context
from xdsl_exir.runtime.c.library import compile_library

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


# --- chains --------------------------------------------------------------------------------------------------

FLAT, SQUARE = "tensor<16xf32>", "tensor<4x4xf32>"


def views(count: int) -> str:
    """A function that sees an input in turn as a row and as a square, an even number of times, between two operators."""
    lines = [f"%0 = edge.aten.exp(%x) : ({SQUARE}) -> {SQUARE}"]
    for i in range(count):
        types, size = ((SQUARE, FLAT), 16) if i % 2 == 0 else ((FLAT, SQUARE), "4, 4")
        lines.append(f"%{i + 1} = edge.aten.view(%{i}, size = [{size}]) : ({types[0]}) -> {types[1]}")
    lines.append(f"%y = edge.aten.exp(%{count}) : ({SQUARE}) -> {SQUARE}\n  func.return %y : {SQUARE}")
    return f"func.func @f(%x: {SQUARE}) -> {SQUARE} {{\n  " + "\n  ".join(lines) + "\n}"


def slices(count: int) -> str:
    """A function that takes the first element away, again and again."""
    types = [f"tensor<{count + 4 - i}xf32>" for i in range(count + 1)]
    lines = [
        f"%{i + 1} = edge.aten.slice.Tensor({f'%{i}' if i else '%x'}, dim = 0, start = 1) : ({before}) -> {after}"
        for i, (before, after) in enumerate(itertools.pairwise(types))
    ]
    lines.append(f"func.return %{count} : {types[-1]}")
    return f"func.func @f(%x: {types[0]}) -> {types[-1]} {{\n  " + "\n  ".join(lines) + "\n}"


def parsed(text: str) -> xdsl_exir.Program:
    return xdsl_exir.Program(Parser(context().clone(), text).parse_module()).verify()


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("make", [views, slices])
def test_long_chains_natively(make: Callable[[int], str]) -> None:
    program = parsed(make(700))
    (type,) = program.method().function_type.inputs.data
    x = np.random.default_rng(0).standard_normal(type.get_shape()).astype(np.float32)
    expected = xdsl_exir.compile(program).flat([x])[0]
    actual = xdsl_exir.compile(program, target="native").flat([x])[0]
    np.testing.assert_allclose(actual, expected, rtol=1e-5)


def test_names_of_nodes_take_time_in_proportion() -> None:
    names = blocks._Names()
    assert [names.fresh("relu") for _ in range(100_000)][-1] == "relu_99999"


# --- results that do not fit ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("target", ["interpreter", "native"])
@pytest.mark.parametrize("size", [1 << 60, 1 << 45])
def test_results_beyond_memory_are_refused(target: str, size: int) -> None:
    large = f"tensor<{size}xf32>"
    program = parsed(f"""func.func @f(%x: tensor<1xf32>) -> {large} {{
      %0 = edge.aten.expand(%x, size = [{size}]) : (tensor<1xf32>) -> {large}
      %1 = edge.aten.exp(%0) : ({large}) -> {large}
      func.return %1 : {large}
    }}""")
    at = {"interpreter": "edge.aten.exp", "native": r"result 0 \(\d+,\)"}[target]
    with pytest.raises(ExirError, match=f"{at}: {size * 4} bytes are needed, there are "):
        xdsl_exir.compile(program, target=target).flat([np.ones(1, np.float32)])


# --- names ---------------------------------------------------------------------------------------------------

INJECTED = "x) { return } func.func @y("
NAMES = (INJECTED, '"', "\\", "a\nb", "\0", "\u202eabc", "%s", "../../x", "x" * 300, "😀")


def quoted(name: str) -> str:
    """A name as MLIR writes it in a string."""
    return (
        '"' + "".join(chr(b) if b < 128 and chr(b).isalnum() else f"\\{b:02X}" for b in name.encode()) + '"'
    )


def program_of(method: str = "forward", name: str = "x") -> xdsl_exir.Program:
    """A program of one method that adds its input to itself."""
    text = f"""func.func @{quoted(method)}(%x: tensor<4xf32> {{exir.input = #exir.input<user_input, {quoted(name)}>}}) -> tensor<4xf32> {{
      %0 = edge.aten.add.Tensor(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }}"""
    return xdsl_exir.Program(Parser(context().clone(), text).parse_module()).verify()


@pytest.mark.parametrize("name", NAMES)
def test_names_come_back_from_text(name: str, tmp_path: Path) -> None:
    program = program_of(name, name)
    program.save(tmp_path / "x.mlir")
    assert str(xdsl_exir.load(tmp_path / "x.mlir")) == str(program)


@pytest.mark.usefixtures("native_tools")
def test_names_of_methods_do_not_reach_the_compiler() -> None:
    x = np.arange(4, dtype=np.float32)
    run = xdsl_exir.compile(program_of(INJECTED), target="native")
    np.testing.assert_array_equal(run.flat([x])[0], x + x)


def test_a_method_that_is_no_file_is_not_saved(tmp_path: Path) -> None:
    for name in ("../x", "..", "a/b", "a\0b"):
        two = xdsl_exir.Program(ModuleOp([program_of(one).method().clone() for one in ("forward", name)]))
        with pytest.raises(ExirError, match="cannot be a file of an archive"):
            two.save(tmp_path / "x.pt2")
    assert not list(tmp_path.iterdir())


def test_errors_can_be_shown() -> None:
    text = str(ExirError("a\x1b[2Jb\u202ec\ud800d\u2028e\nf" + "g" * 100_000))
    assert text.startswith("a\\x1b[2Jb\\u202ec\\ud800d\\u2028e\nfggg")
    assert text.endswith(" characters more)")
    assert len(text) < 100_000
    text.encode()


def test_half_a_character_is_no_name() -> None:
    program = torch_export(lambda x: x + 1)
    with pytest.raises(LoadError, match=r"ExportedProgram: the name .* holds half a character"):
        xdsl_exir.from_exported_program({"a\ud800": program})


def torch_export(function: Any) -> Any:
    torch = pytest.importorskip("torch")

    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    return torch.export.export(Model(), (torch.ones(4),))


COMMENT_ENDS = (
    "*/ int injected; /*",
    "*\\\n/ int injected; /*",
    "*??/\n/ int injected; /*",
    "\\",
    "x\r*/int injected;",
    "??/",
)


@pytest.mark.usefixtures("native_tools")
@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler (cc) is installed")
def test_names_do_not_end_comments_in_c(tmp_path: Path) -> None:
    for name in COMMENT_ENDS:
        artifact = compile_library(program_of(name, name), tmp_path, "lib")
        source = f'#include "{artifact.header}"\ndouble injected;\n'
        flags = ["-std=c99", "-trigraphs", "-Wall", "-Werror", "-fsyntax-only", "-x", "c", "-"]
        done = subprocess.run(["cc", *flags], input=source, text=True, capture_output=True, check=False)
        assert not done.returncode, f"{name!r}: {done.stderr}"


# --- limits --------------------------------------------------------------------------------------------------


def test_limits_are_raised_by_name() -> None:
    assert read_limits("") == Limits()
    assert read_limits("rank=100, word=10") == Limits(rank=100, word=10)
    for text in ("ranks=1", "rank", "rank=-1", "rank=1e9"):
        with pytest.raises(ExirError, match="XDSL_EXIR_LIMITS: expected name=number"):
            read_limits(text)
