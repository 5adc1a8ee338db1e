"""Tensors of which data decide whether they are one: a write to one and a use of the other is refused by name, all else is PyTorch's."""

# pyright: basic

from __future__ import annotations

import numpy as np
import pytest
import torch
from scripted import assert_same, load, quiet, save, script

import xdsl_exir
from xdsl_exir.errors import UnsupportedError

DATA, NO_TURN = "data decide whether they share memory, and the other is used", "as there may be no turn"
CASES: dict[str, tuple[str, str]] = {
    "the other is used": ("t = x\nif c: t = y\nx.add_(1)\nreturn t", DATA),
    "in a list": ("l = [x, x]\nif c: l[0] = y\nx.add_(1)\nreturn l[0]", DATA),
    "the result is written": ("t = x\nif c: t = y\nt.add_(1)\nreturn t, x", DATA),
    "a view": ("t = x\nif c: t = y.t()\nt.add_(1)\nreturn t, y", DATA),
    "an input": ("if c: t = a\nelse: t = x\nt.add_(1)\nreturn t + 1", DATA),
    "a buffer": ("if c: t = self.b\nelse: t = x\nt.add_(1)\nreturn t + 1", DATA),
    "by way of another": ("t = x\nif c: t = y\nu = t\nif d: u = y * 2\nu.add_(1)\nreturn x, y", DATA),
    "from within": ("t = x\nif c:\n  t = y\n  if d: t = y[0:3]\ny.add_(1)\nreturn t", DATA),
    "of one another": ("if c:\n  t = x + 1\n  u = t\nelse:\n  t = x * 1\n  u = x * 2\nt.add_(1)\nreturn u", DATA),
    "turned": ("if c: x.t_()\nreturn x", "changes how 'v_2' lies in memory"),
    "no turn": ("t = x\nfor i in range(n): t = t + 1\nx.add_(1)\nreturn t", NO_TURN),
    "handed on": (
        "t = y\nfor i in range(n):\n  x.add_(1)\n  y = y + t\n  t = x\nreturn t, y",
        "to the next turn, and writes to it",
    ),
    "the other is not used": ("t = x\nif c: t = y\nx.add_(1)\nreturn x", ""),
    "the result is another": ("t = x\nif c: t = y\nt = t.relu()\nt.add_(1)\nreturn t, x, y", ""),
    "both are the same": ("t = x\nif c: t.add_(1)\nt.mul_(2)\nreturn t, x", ""),
    "both are what was written": ("t = x\nif c: t = x.add_(1)\nelse: t = x.mul_(3)\nt.mul_(2)\nreturn t, x", ""),
    "the first is not used": ("t = torch.zeros(3, 3)\nfor i in range(n): t = t + x\nt.add_(1)\nreturn t", ""),
    "it is read before": ("t = x\nif c: t = y\nu = t + 0\nx.add_(1)\nreturn u, x", ""),
    "which overlaps itself": ("t = x[1].expand(3, 3)\nif c: t.fill_diagonal_(2.0)\nreturn t, x", "overlaps itself"),
    "made in a branch, it overlaps itself": ("if c:\n  t = x[1].expand(3, 3)\n  t.fill_diagonal_(2.0)\nreturn x", ""),
    "of what lies otherwise": (
        "u = x.t()\nif c: u[1].expand(3, 3).fill_diagonal_(2.0)\nreturn x",
        "may overlap itself: it is not known how it lies",
    ),
    "written in a branch": ("if c:\n  x[0].add_(1)\n  t = x[0]\nelse: t = y[0]\nreturn t, x", ""),
}  # fmt: skip
"""A body, of tensors x, y, conditions c and d and a number n; what is said of it, nothing if it is taken."""


def module(tmp_path, body: str) -> torch.nn.Module:
    """A module with this body."""
    lines = [
        "import torch", "class Module(torch.nn.Module):", "  def __init__(self):", "    super().__init__()",
        "    self.register_buffer('b', torch.ones(3, 3))", "  def forward(self, a, other):",
        "    x, y = a + 0, other + 0", "    c, d = bool(y.sum() > 0), bool(y.sum() > -20)", "    n = int(y[0, 0])",
        *(f"    {line}" for line in body.split("\n")),
    ]  # fmt: skip
    path = tmp_path / "written.py"
    path.write_text("\n".join(lines) + "\n")
    made: dict[str, type[torch.nn.Module]] = {}
    exec(compile(path.read_text(), str(path), "exec"), made)
    return made["Module"]()


@pytest.mark.parametrize(("body", "said"), CASES.values(), ids=CASES)
def test_what_may_be_one(tmp_path, body: str, said: str) -> None:
    with quiet():
        path = save(script(module(tmp_path, body)), tmp_path / "m.pt")
    inputs = [(np.arange(9, dtype=np.float32).reshape(3, 3), np.full((3, 3), v, np.float32)) for v in (2, -1, -3)]  # fmt: skip
    program = load(path)
    if said:
        with pytest.raises(UnsupportedError, match=said):
            program.to_aten(["float32[3, 3]", "float32[3, 3]"])
        return
    run = xdsl_exir.compile(program.to_aten(["float32[3, 3]", "float32[3, 3]"]))
    for a, other in inputs:
        with quiet():
            wanted = torch.jit.load(str(path))(torch.tensor(a), torch.tensor(other))
        assert_same(run(a.copy(), other.copy()), wanted)
