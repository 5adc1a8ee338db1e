"""`xdsl-exir memory`, and the stages between edge and native code on the command line."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

import xdsl_exir
from xdsl_exir.lowering.plan_memory import arena_bytes_of
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.tools.main import main

DIGITS = Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2"


def test_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A line for each buffer, all of which lie in the arena, the fullest moment no fuller than it; a drawing with a box for each."""
    drawn = tmp_path / "memory.svg"
    assert main(["memory", str(DIGITS), "--svg", str(drawn)]) == 0
    head, _, *lines = capsys.readouterr().out.splitlines()
    found = re.fullmatch(r"forward: arena of (\d+) bytes, (\d+) of them needed at once, (\d+) buffers", head)
    assert found is not None
    total, peak, count = map(int, found.groups())
    assert total == arena_bytes_of(plan_program(xdsl_exir.load(DIGITS)).plans["forward"].driver)
    rows = [[int(word) for word in line.split()[:4]] for line in lines]
    assert len(rows) == count
    assert max(offset + nbytes for offset, nbytes, _, _ in rows) == total
    moments = range(max(last for *_, last in rows) + 1)
    assert peak == max(sum(n for _, n, first, last in rows if first <= now <= last) for now in moments)
    assert all("aten." in line for line in lines)  # whose result it is
    boxes = ElementTree.parse(drawn).getroot().findall(".//{*}rect/{*}title")
    assert len(boxes) == count


def test_symbolic_sizes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_text("""func.func @f(%x: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
      %v, %i = aten.sort(%x, dim = -1, descending = false) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<?x3xi64, #exir.shape<[s0, 3]>>)
      %r = aten.sin(%v) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
      func.return %r : tensor<?x3xf32, #exir.shape<[s0, 3]>>
    }""")
    assert main(["memory", str(path)]) == 0
    assert re.match(r"f: arena of \S.* bytes, \d+ of them needed at once", capsys.readouterr().out)


@pytest.mark.native
@pytest.mark.parametrize("stage", ["buffers", "planned"])
def test_stages_are_mlir(stage: str, tmp_path: Path) -> None:
    """What is printed is read back, and by mlir-opt, which knows all of its dialects."""
    path = tmp_path / "out.mlir"
    assert main(["import", str(DIGITS), "--stage", stage, "-o", str(path), "--generic"]) == 0
    text = path.read_text()
    assert ("memref.alloc" in text, "exir.arena_bytes" in text) == (stage == "buffers", stage == "planned")
    ran = subprocess.run(["mlir-opt-22", str(path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert main(["import", str(path), "-o", str(tmp_path / "again.mlir"), "--generic"]) == 0
    assert (tmp_path / "again.mlir").read_text() == text
