"""Other programs that native code needs: whatever one does, there is one clear error, and nothing of it stays behind."""

# pyright: basic

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp

import xdsl_exir
from xdsl_exir.errors import ToolchainError
from xdsl_exir.lowering import external, mlir
from xdsl_exir.lowering.dispatch import Dispatches
from xdsl_exir.targets.cpu import compile as compiling
from xdsl_exir.targets.cpu import objects
from xdsl_exir.targets.cpu.compile import objects_of, units_of
from xdsl_exir.targets.cpu.emit import LOOPS
from xdsl_exir.targets.cpu.machine import processor

DIGITS = Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2"

TEXT = """graph():
    %x : [num_users=1] = placeholder[target=x]
    %y : [num_users=1] = call_function[target=torch.ops.aten.neg.default](args = (%x,), kwargs = {})
    return (y,)"""

SAYS = {
    "crashes": ("echo PLEASE submit >&2; kill -SEGV $$", r"crashed \(Segmentation fault\)"),
    "aborts": ("kill -ABRT $$", r"crashed \(Aborted\)"),
    "refuses": ("echo 'error: no' >&2; exit 1", "error: no"),
    "says nothing": ("exit 0", "printed no module, but ''"),
    "prints something": ("echo nonsense", r"printed no module, but 'nonsense\\n'"),
    "prints bytes": ("printf '\\377\\376module {}'", "printed something that is no text"),
    "prints half": ("echo 'module {'", "no whole module|refused the module"),
    "takes no input": ("exec <&-; echo 'module {}'", "made . modules of 2"),
    "hangs": ("exec sleep 1000", r"did not end within 1 s, and was stopped; XDSL_EXIR_LIMITS=tool_seconds"),
}


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Takes the place of mlir-opt, and of the cache."""

    def replace(script: str, name: str = "mlir-opt") -> Path:
        path, real = tmp_path / f"{name}-22", mlir.find_tool
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(mlir, "find_tool", lambda asked: path if asked == name else real(asked))
        monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path / "cache"))
        return path

    return replace


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("case", SAYS)
def test_mlir_opt(case: str, tool: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    script, message = SAYS[case]
    tool(f'case "$1" in --version) echo 22; exit;; esac\n{script}')
    run = external.run
    monkeypatch.setattr(external, "run", lambda command, text="": run(command, text, 1))
    program = xdsl_exir.from_fx_text(TEXT, {"x": "float32[4]"})
    with pytest.raises(ToolchainError, match=message) as raised:
        xdsl_exir.compile(program, "native")
    assert len(str(raised.value)) < 500


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("printed", ["nonsense", "define i32 @f() { ret i64 0 }"])
def test_mlir_translate(printed: str, tool: Callable[[str, str], Path]) -> None:
    tool(f"echo '{printed}'", "mlir-translate")
    program = xdsl_exir.from_fx_text(TEXT, {"x": "float32[4]"})
    with pytest.raises(ToolchainError, match="made 1 modules of 2"):
        xdsl_exir.compile(program, "native")


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("nonsense", "LLVM refused the code"),
        ("define i32 @f() { ret i64 0 }", "LLVM refused the code"),
        ("define void @f() { ret void }", "the tools made no function 'exir.entry.main'"),
    ],
)
@pytest.mark.usefixtures("native_tools")
def test_code_that_llvm_refuses(printed: str, message: str, tool: Callable[[str, str], Path]) -> None:
    tool(f"echo '{printed}'", "mlir-translate")
    driver = FuncOp("main", ([], []))
    driver.attributes["llvm.emit_c_interface"] = UnitAttr()
    driver.body.block.add_op(ReturnOp())
    with pytest.raises(ToolchainError, match=message):
        objects_of(units_of(Dispatches(), [driver]))


def test_a_program_that_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("")
    for path in (tmp_path, tmp_path / "text", tmp_path / "nonesuch"):
        with pytest.raises(ToolchainError, match=path.name):
            external.run([str(path)])


CHILD = """
import sys
from xdsl_exir.lowering import external
external.run(["sh", "-c", "echo $$ > " + sys.argv[1] + "; exec sleep 1000"])
"""


def ended(pids: str, seconds: float = 5.0) -> bool:
    """Whether these processes have ended, or do so soon. Nobody may be there to ask for their exit codes."""
    until = time.monotonic() + seconds
    for pid in pids.split():
        tool = Path("/proc", pid)
        while tool.exists() and "State:\tZ" not in (tool / "status").read_text():
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
    return True


def test_a_tool_ends_with_its_parent(tmp_path: Path) -> None:
    if not external._ending_with_us():
        pytest.skip("there is no setpriv here")
    file = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", CHILD, str(file)])
    while not file.exists() or not file.read_text():
        assert parent.poll() is None
        time.sleep(0.01)
    assert not ended(file.read_text(), 0)
    parent.kill()
    parent.wait()
    assert ended(file.read_text())


def test_a_child_keeps_nothing_of_tools_at_work() -> None:
    """It would have the other end of their pipes: they would wait for more to read as long as it lives."""
    text, printed = "x" * 1_000_000, list[str]()
    command = ["sh", "-c", "sleep 0.5; exec cat"]
    threads = [threading.Thread(target=lambda: printed.append(external.run(command, text))) for _ in range(3)]
    for thread in threads:
        thread.start()
    children = list[int]()
    for _ in range(10):
        time.sleep(0.05)
        if (child := os.fork()) == 0:
            time.sleep(600)
            os._exit(0)
        children.append(child)
    until = time.monotonic() + 15
    try:
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0))
        assert printed == [text] * 3
    finally:
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)


PLACES = """
import sys, warnings
warnings.filterwarnings("error", category=EncodingWarning, module="xdsl_exir")
from pathlib import Path
import numpy as np
import xdsl_exir
from xdsl_exir.runtime.c.library import compile_library
from xdsl_exir.tools.main import main

folder, program = Path(sys.argv[1]), xdsl_exir.load(sys.argv[2])
names = xdsl_exir.from_fx_text(Path(sys.argv[3]).read_text(encoding="utf-8"), {"x\\xe9": "float32[2]"})
for suffix in ("mlir", "pt2"):
    program.save(folder / f"net.{suffix}")
    names.save(folder / f"names.{suffix}")
    run = xdsl_exir.compile(xdsl_exir.load(folder / f"names.{suffix}"), "native")
    assert run.flat([np.ones(2, np.float32)])[0].tolist() == [-1, -1]
    assert main(["import", str(folder / f"net.{suffix}"), "-o", str(folder / "text")]) == 0
    assert main(["import", str(folder / f"names.{suffix}"), "--to", "fx"]) == 0
compile_library(names, folder, "names")
assert main(["compile", str(folder / "net.mlir"), "-o", str(folder), "--name", "net"]) == 0
"""


@pytest.mark.usefixtures("native_tools")
def test_odd_places_in_a_locale_of_ascii(tmp_path: Path) -> None:
    """Folders of our own and for temporary files with commas, spaces and letters that the locale does not have; no file
    is read or written in the locale's encoding."""
    folder = tmp_path / "a,b c\u00e9"
    folder.mkdir()
    (folder / "text").write_text(TEXT.replace("x", "x\u00e9").replace("ex\u00e9", "ex"), encoding="utf-8")
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TMPDIR": str(folder),
        "XDSL_EXIR_CACHE": str(folder / "cache"),
        "XDSL_EXIR_CPU": "native",
    }
    done = subprocess.run(
        [
            *(sys.executable, "-X", "warn_default_encoding"),
            *("-c", PLACES, str(folder), str(DIGITS), str(folder / "text")),
        ],
        capture_output=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "x\u00e9 : [num_users=1]" in done.stdout.decode()
    assert not list(folder.glob("tmp*"))


@pytest.mark.parametrize(
    ("target", "processes"), [("interpreter", 1), ("native: version", 1), ("native", 1), ("native", 2)]
)
def test_ctrl_c(target: str, processes: int, tmp_path: Path) -> None:
    """One line, whether modules are being imported or tools are at work, by one thread or several; nothing but that says so."""
    target, _, asked = target.partition(": ")
    answers = "" if asked else 'case "$1" in --version) echo 22; exit;; esac'
    (tmp_path / "mlir-opt-22").write_text(f"#!/bin/sh\n{answers}\necho $$ >> started\nexec sleep 1000\n")
    (tmp_path / "mlir-opt-22").chmod(0o755)
    np.save(tmp_path / "x.npy", np.zeros((16, 8, 8), np.uint8))
    # Without a tool to wait for, the process itself says when: a while into its imports.
    soon = "threading.Timer(0.1, os.kill, (os.getpid(), 2)).start(); " if target == "interpreter" else ""
    # Jobs in the background of a shell inherit that Ctrl-C is ignored.
    heard = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    many = (
        "from xdsl_exir.targets.cpu import compile; compile.WORTHWHILE = 1; "
        f"os.sched_getaffinity = lambda _: range({processes}); "
        if target == "native"
        else ""
    )
    script = (
        "import os, signal, sys, threading; from xdsl_exir.tools.main import main; "
        f"{many}{heard}; {soon}sys.exit(main())"
    )
    command = [sys.executable, "-c", script, "run", str(DIGITS), "--target", target, "--inputs", "x.npy"]
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PATH": path, "XDSL_EXIR_CACHE": str(tmp_path / "cache")},
    )
    started = tmp_path / "started"
    while target == "native" and (not started.exists() or len(started.read_text().split()) < processes):
        assert process.poll() is None
        time.sleep(0.01)
    if target == "native":
        process.send_signal(2)
    try:
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    told = [line for line in errors.splitlines() if not line.startswith(("reading ", "compiling"))]
    assert (process.returncode, told) == (130, ["xdsl-exir: interrupted"])
    if target == "native":
        assert ended(started.read_text())


@pytest.mark.usefixtures("native_tools")
def test_a_refusal_ends_what_else_is_at_work(
    tool: Callable[[str], Path], tmp_path: Path, monkeypatch: Any
) -> None:
    """Of the tools that run at once, one says no, and the other would take for ever."""
    folder = tmp_path / "first"
    tool(
        f'case "$1" in --version) echo 22; exit;; esac\nmkdir {folder} 2>/dev/null && exec sleep 1000; echo no >&2; exit 1'
    )
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(2))
    monkeypatch.setattr(compiling, "WORTHWHILE", 1)
    program = xdsl_exir.from_fx_text(TEXT, {"x": "float32[4]"})
    start = time.monotonic()
    with pytest.raises(ToolchainError, match="refused the module:\nno"):
        xdsl_exir.compile(program, "native")
    assert time.monotonic() - start < 60


WORKER_SAYS = {
    "crashes": (
        "echo PLEASE submit >&2; kill -SEGV $$",
        r"the code generator crashed \(Segmentation fault\)",
    ),
    "says nothing": ("cat > /dev/null", "gave no objects: the answer is not whole"),
    "prints something": ("echo nonsense", "gave no objects: the answer is not whole"),
    "prints no object": (r"printf '\003\0\0\0\0\0\0\0ELF'", "gave no objects: the answer is not whole"),
    "takes no input": ("exec <&-; exit 0", "gave no objects: the answer is not whole"),
    "hangs": ("exec sleep 1000", "the code generator did not end within 1 s"),
}


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("case", WORKER_SAYS)
def test_the_code_generator(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, message = WORKER_SAYS[case]
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(2))
    monkeypatch.setattr(compiling, "WORTHWHILE", 1)
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path / "cache"))
    run = external.run_on_bytes
    limit = 1 if case == "hangs" else 60
    monkeypatch.setattr(
        external,
        "run_on_bytes",
        lambda command, given, seconds=limit, name="": run(command, given, seconds, name),
    )
    program = xdsl_exir.from_fx_text(TEXT, {"x": "float32[4]"})
    with pytest.raises(ToolchainError, match=message) as raised:
        xdsl_exir.compile(program, "native")
    assert len(str(raised.value)) < 500
    assert not (tmp_path / "cache").exists()


@pytest.mark.usefixtures("native_tools")
def test_the_code_generator_finds_what_this_process_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """llvmlite may be in a folder that the environment does not name, and beside others of its name."""
    (tmp_path / "llvmlite.py").write_text("raise SystemExit('another llvmlite')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    [found] = objects.emit_elsewhere([("define void @f() { ret void }", LOOPS)], processor())
    assert "f" in objects.symbols_of([found]).defined
