"""Loops that run as often as data say: `while_loop` of what TorchScript wrote, against PyTorch, for inputs that make them run otherwise."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.errors import UnsupportedError

torch = pytest.importorskip("torch")

from scripted import quiet, save, script  # noqa: E402


class While(torch.nn.Module):
    def forward(self, x):
        i = 0
        while bool(x.sum() < 100):
            x = x * 1.5 + 1
            i += 1
        x = x - 1 if bool(x.mean() > 3) else x + 1
        return x, i


class Counted(torch.nn.Module):
    def forward(self, x):
        n = int(x.abs().sum().item())
        y = torch.zeros(3, 3)
        for k in range(n):
            y = y + x * k
        return y


class Breaks(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        for _k in range(50):
            y.add_(0.3)
            if bool(y.sum() > 10):
                break
        return y


class WritesToItsInput(torch.nn.Module):
    def forward(self, x):
        while bool(x.max() < 5):
            x += 1
        return x * 2


class Lists(torch.nn.Module):
    def forward(self, x):
        hs = [x, x + 1]
        t = 0.5
        while bool(hs[0].sum() < 50):
            hs[0] = hs[0] * 1.2 + hs[1] * t
            hs[1] = hs[1] + 1
            t = t * 1.01
        return hs[0] + hs[1], t


class Attributes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("s", torch.zeros(3, 3))
        self.lin = torch.nn.Linear(3, 3)

    def forward(self, x):
        k = 0
        while bool(self.s.norm() < 4):
            self.s = self.s + torch.tanh(self.lin(x)) + 0.3
            k += 1
        return self.s * 1.0


class Nested(torch.nn.Module):
    def forward(self, x):
        total = torch.zeros(1)
        i = 0
        while i < int(x.abs().max().item() * 4):
            j = 0
            while bool(total[0] < float(i * j)):
                total = total + 0.7
                j += 1
            i += 1
        return total


class Grows(torch.nn.Module):
    def forward(self, x):
        out: list[torch.Tensor] = []
        while bool(x.sum() < 50):
            x = x * 1.3 + 1
            out.append(x)
        return torch.stack(out)


class Decodes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(4, 8)
        self.out = torch.nn.Linear(8, 4)

    def forward(self, h):
        tok = torch.zeros(1, 4)
        buf = torch.zeros(20, 4)
        i = 0
        done = False
        while i < 20 and not done:
            h = self.cell(tok, h)
            tok = torch.softmax(self.out(h), -1)
            buf[i] = tok[0]
            done = bool(tok.max() > 0.6)
            i += 1
        return buf, i


class Bisects(torch.nn.Module):
    def forward(self, x):
        lo, hi = 0.0, 4.0
        n = 0
        while hi - lo > 1e-3:
            mid = (lo + hi) / 2
            if bool((x.abs() < mid).float().mean() < 0.5):
                lo = mid
            else:
                hi = mid
            n += 1
        bounded = x.clamp(max=hi)
        y = bounded * lo if bool(x.sum() > 0) else bounded - hi
        return torch.tensor([lo, hi]), torch.add(x, y, alpha=lo)


class HandsOn(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        while bool(y.sum() < 50):
            y.mul_(2)
            y = y + 1
        return y


class Reshapes(torch.nn.Module):
    def forward(self, x):
        while bool(x.sum() < 50):
            x = torch.cat([x, x])
        return x


TAKEN = (While, Counted, Breaks, WritesToItsInput, Lists, Attributes, Nested, Decodes, Bisects)
REFUSED = {
    Grows: "lists or dicts become longer or shorter",
    HandsOn: "a write to a tensor that one turn hands to the next",
    Reshapes: r"a tensor of float32\[3, 3\] becomes one of float32\[6, 3\]",
}


def saved(module: type[torch.nn.Module], folder: Path) -> Path:
    torch.manual_seed(0)
    return save(script(module().eval()), folder / "model.pt")


def numbers(value: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in torch.utils._pytree.tree_leaves(value)]


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
@pytest.mark.parametrize("module", TAKEN)
def test_as_often_as_data_say(
    module: type[torch.nn.Module], target: str, tmp_path: Path, native_tools: None
) -> None:
    path = saved(module, tmp_path)
    x = torch.randn(1, 8) if module is Decodes else torch.randn(3, 3)
    program = xdsl_exir.load(path).to_aten([x.numpy()])
    assert "higher_order.while_loop" in str(program)
    run = xdsl_exir.compile(
        program.to_edge(), target, **({"fallback": "error"} if target == "native" else {})
    )
    with quiet():
        eager = torch.jit.load(str(path))
    for scale in (1.0, 0.3, 3.0):
        given = x * scale
        ours = given.numpy().copy()
        with torch.no_grad():
            wanted = numbers(eager(given))
        for a, b in zip(numbers(run(ours)), wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(ours, given.numpy(), rtol=1e-5)


@pytest.mark.parametrize("module", REFUSED)
def test_what_is_no_while_loop(module: type[torch.nn.Module], tmp_path: Path) -> None:
    program = xdsl_exir.load(saved(module, tmp_path))
    x = np.full((3, 3), 0.1, np.float32)
    assert numbers(program(x))  # as it is it runs
    with pytest.raises(UnsupportedError, match=REFUSED[module]):
        program.to_aten([x])
