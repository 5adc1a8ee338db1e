"""The README and CONTRIBUTING: their code runs, their commands too, and their diffs are what is in the tree.

A block whose first line is `# name.ext` is a file of that name; Python without a name runs, block after block, in one
process of its own. Blocks that say what is elsewhere (C, MLIR, how to set up) are left alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "bench" / "digits" / "digits.pt2"
needs_mlir = pytest.mark.usefixtures("native_tools")
DOCUMENTS = ("README.md", "CONTRIBUTING.md")
EXAMPLE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (?P<name>[\w.]+\.(?:py|yaml))\n")


def blocks(document: str, *languages: str) -> list[str]:
    """The code blocks of these languages."""
    found = EXAMPLE.finditer((ROOT / document).read_text())
    return [match["text"] for match in found if match["language"] in languages]


# --- diffs ---------------------------------------------------------------------------------------------------


def hunks(diff: str) -> Iterator[tuple[str, str, bool]]:
    """The path of each hunk, its text after the change, and whether it is a whole file."""
    path, new, lines = "", False, list[str]()
    for line in [*diff.splitlines(), "@@"]:
        if line.startswith(("--- ", "+++ ", "@@")):
            if lines:
                yield path, "".join(f"{line}\n" for line in lines), new
                lines = []
            if line.startswith("--- "):
                new = line == "--- /dev/null"
            elif line.startswith("+++ "):
                path = line.removeprefix("+++ b/")
        elif not line.startswith("-"):
            assert line[:1] in "+ ", line
            lines.append(line[1:])


DIFFS = [hunk for document in DOCUMENTS for diff in blocks(document, "diff") for hunk in hunks(diff)]


def test_there_are_diffs() -> None:
    assert len(DIFFS) > 8


@pytest.mark.parametrize(("path", "text", "whole"), DIFFS, ids=[path for path, _, _ in DIFFS])
def test_diffs_are_in_the_tree(path: str, text: str, whole: bool) -> None:
    held = (ROOT / path).read_text()
    assert held == text if whole else f"\n{text}" in f"\n{held}"


# --- what runs -----------------------------------------------------------------------------------------------

PREPARE = """
import dataclasses
import numpy as np, torch
import xdsl_exir

class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.nn.functional.silu(x @ y)

x, y = torch.randn(2, 3), torch.randn(3, 4)
ep = torch.export.export(Model(), (x, y))
torch.export.save(ep, "model.pt2")
args, kwargs, weights = (x.numpy(), y.numpy()), {}, Model().state_dict()

import warnings
with warnings.catch_warnings(action="ignore"):
    torch.jit.save(torch.jit.trace(torch.nn.Linear(3, 4), (x,)), "model.pt")
x, y = args
"""
"""What the first block of the README takes for granted."""


def write_files(folder: Path) -> None:
    """Writes the files that blocks name."""
    for document in DOCUMENTS:
        for text in blocks(document, "python", "yaml"):
            if match := FILE.match(text):
                (folder / match["name"]).write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the documents' files."""
    write_files(tmp_path)
    return tmp_path


def python_of(document: str) -> str:
    """The Python of a document that runs as it stands: no files, and not what shows lines of several modules."""
    running = [text for text in blocks(document, "python") if not FILE.match(text)]
    return "\n".join(text for text in running if not re.match(r"@.*# (dialects|transforms|runtime)/", text))


@needs_mlir
@pytest.mark.parametrize("document", DOCUMENTS)
def test_python_runs(document: str, folder: Path) -> None:
    pytest.importorskip("torch")
    script = folder / "script.py"
    script.write_text((PREPARE if document == "README.md" else "") + python_of(document))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr


MINE = """
func.func @f() -> tensor<2xf32> {
  %x = exir.constant 0.0 : tensor<2xf32>
  %0 = mylib.soft_relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
"""


@needs_mlir
def test_own_operator_runs(folder: Path) -> None:
    """The README's library, at every stage and on both targets."""
    (folder / "mine.mlir").write_text(MINE)
    code = """if True:
        import numpy as np, xdsl_exir
        from pathlib import Path
        from xdsl.parser import Parser
        from xdsl_exir.program import Program, context
        xdsl_exir.register_ops("mylib.yaml")
        text = Path("mine.mlir").read_text().replace("@f()", "@f(%y: tensor<2xf32>)").replace("soft_relu(%x", "soft_relu(%y")
        program = Program(Parser(context().clone(), text).parse_module()).verify()
        y = np.array([-3, 200], np.float32)
        for stage, target in ((program, "interpreter"), (program.to_edge(), "interpreter"), (program, "native")):
            [result] = xdsl_exir.compile(stage, target).flat([y])
            np.testing.assert_allclose(result, [0.048587352, 200], rtol=1e-6)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr


COMMANDS = [
    line.removeprefix("$ ").partition("  #")[0].strip()
    for document in DOCUMENTS
    for text in blocks(document, "")
    for line in text.splitlines()
    if re.match(r"\$ (XDSL_EXIR_\w+=\S+ )?xdsl-", line)
]


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo's model, an input and what it gives for it, and the documents' library of operators."""
    import numpy as np

    import xdsl_exir

    folder = tmp_path_factory.mktemp("model")
    write_files(folder)
    images = np.zeros((360, 8, 8), np.uint8)
    np.save(folder / "x.npy", images)
    np.save(folder / "y.npy", xdsl_exir.compile(xdsl_exir.load(DIGITS)).flat([images])[0])
    (folder / "model.pt2").write_bytes(DIGITS.read_bytes())
    (folder / "mine.mlir").write_text(MINE)
    (folder / "model.mlir").write_text(MINE.replace("mylib.soft_relu", "aten.silu"))
    (folder / "edge.mlir").write_text(MINE.replace("mylib.soft_relu", "edge.aten.sigmoid"))
    (folder / "edge.yaml").write_bytes((ROOT / "test/filecheck/Inputs/edge.yaml").read_bytes())
    return folder


@needs_mlir
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command: str, model_folder: Path) -> None:
    if "--irdl-file" in command:
        command = f"xdsl-exir irdl > exir.irdl.mlir && {command}"
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    bash = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(bash, capture_output=True, text=True, cwd=model_folder, env=environment)
    assert done.returncode == 0, done.stderr


# --- examples ------------------------------------------------------------------------------------------------


@needs_mlir
def test_the_backend_of_the_example() -> None:
    """It runs its delegates; without it the interpreter does; with native code around it, the same."""
    code = """if True:
        import sys, runpy, numpy as np, xdsl_exir
        from xdsl_exir.errors import UnsupportedError
        example = runpy.run_path(sys.argv[1])
        program = xdsl_exir.load(sys.argv[2])
        images = np.random.default_rng(0).integers(0, 16, (360, 8, 8), np.uint8)
        expected = xdsl_exir.compile(program).flat([images])[0]
        parts = program.to_edge().transform(example["PARTITION"])
        calls = []
        relu = example["INSTRUCTIONS"]["aten.relu"]
        example["INSTRUCTIONS"]["aten.relu"] = lambda self: (calls.append(1), relu(self))[1]
        run = xdsl_exir.compile(parts)
        np.testing.assert_allclose(run.flat([images])[0], expected, rtol=1e-4, atol=1e-4)
        assert len(calls) == 3, calls
        run = xdsl_exir.compile(parts, "native", fallback="interpreter")
        np.testing.assert_allclose(run.flat([images])[0], expected, rtol=1e-4, atol=1e-4)
        assert len(calls) == 6, calls
        assert [item.operator for item in run.fallbacks] == ["backend.delegate"] * 4
        try:
            xdsl_exir.compile(parts, "native")
        except UnsupportedError as error:
            assert 'backend.delegate: belongs to backend "vendor"' in str(error), error
        else:
            raise AssertionError("no error")
        example["INSTRUCTIONS"]["aten.relu"] = lambda self: self[1:]
        try:
            xdsl_exir.compile(parts).flat([images])
        except xdsl_exir.ExirError as error:
            assert 'backend "vendor" gives shape' in str(error), error
        else:
            raise AssertionError("no error")
    """
    vendor = ROOT / "examples" / "vendor" / "vendor.py"
    done = subprocess.run([sys.executable, "-c", code, vendor, DIGITS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([sys.executable, vendor, DIGITS], capture_output=True, text=True)
    assert 'backend.delegate "vendor" inputs(' in done.stdout
