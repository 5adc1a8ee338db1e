"""Modules for TorchScript, archives of them, and what PyTorch makes of the same inputs."""

from __future__ import annotations

import importlib.util
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple  # noqa: UP035 (TorchScript's)

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from xdsl_exir.importers.torchscript.program import read_torchscript


@contextmanager
def quiet():
    """`torch.jit` is deprecated, and says so at every call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def script(module: nn.Module) -> Any:
    with quiet():
        return torch.jit.script(module)


def trace(module: nn.Module, *inputs: Any) -> Any:
    with quiet():
        return torch.jit.trace(module, inputs)


def freeze(module: nn.Module) -> Any:
    with quiet():
        return torch.jit.freeze(torch.jit.script(module.eval()))


def random_module(seed: int, folder: Path) -> Any:
    """A random script (`random_scripts.py`)."""
    from random_scripts import Writer

    path = folder / f"random_{seed}.py"
    path.write_text(Writer(seed).text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = made
    spec.loader.exec_module(made)
    return script(made.Module())


def renamed(text: str) -> str:
    """The text with values numbered in the order in which they occur."""
    graphs: list[str] = []
    for graph in re.split(r"(?m)^(?=with )", text.strip()):  # each has names of its own
        names: dict[str, str] = {}
        graphs.append(
            re.sub(
                r"%[\w.$-]+", lambda match, names=names: names.setdefault(match[0], f"%{len(names)}"), graph
            )
        )
    return "".join(graphs)


def save(module: Any, path: Path) -> Path:
    """Saves a scripted or traced module."""
    with quiet():
        torch.jit.save(module, str(path))
    return path


def load(path: Path, inputs: Sequence[Any] | None = None) -> Any:
    """The program in an archive; for inputs, the ordinary program that it is."""
    program = read_torchscript(path)
    return program if inputs is None else program.to_aten(inputs)


def to_numpy(value: Any) -> Any:
    """Tensors as arrays, wherever they are."""
    if isinstance(value, Tensor):
        return value.detach().numpy()
    if isinstance(value, list | tuple):
        return [to_numpy(item) for item in value] if isinstance(value, list) else tuple(map(to_numpy, value))
    if isinstance(value, dict):
        return {key: to_numpy(item) for key, item in value.items()}
    return value


def assert_same(ours: Any, theirs: Any, rtol: float = 1e-4, atol: float = 1e-5) -> None:
    """Results are what PyTorch gives: structure, dtypes, numbers."""
    ours, theirs = to_numpy(ours), to_numpy(theirs)
    if isinstance(theirs, np.ndarray):
        assert np.asarray(ours).dtype == theirs.dtype
        assert np.shape(ours) == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)
    elif isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b, rtol, atol)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key, item in theirs.items():
            assert_same(ours[key], item, rtol, atol)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=rtol, abs=atol, nan_ok=True)
    else:
        assert ours == theirs


class Net(nn.Module):
    """A small network of convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 4, 3),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(4, 2),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Recurrent(nn.Module):
    """A cell called in a loop, lists, a dict, a write to a slice, a counter."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(4, 5)
        self.register_buffer("count", torch.zeros(1))
        self.step = 3

    def forward(self, x: Tensor, state: Optional[Tuple[Tensor, Tensor]] = None):  # noqa: UP006, UP045
        outputs: List[Tensor] = []  # noqa: UP006
        if state is None:
            zeros = torch.zeros(x.size(1), 5)
            state = (zeros, zeros)
        for i in range(x.size(0)):
            if i % 2 == 0:  # noqa: SIM108
                state = self.cell(x[i], state)
            else:
                state = (state[0] + 1, state[1])
            outputs.append(state[0])
        self.count += 1
        known: Dict[str, int] = {"a": 1}  # noqa: UP006
        known["b"] = self.step
        n = 0
        while n < 10:
            n += self.step
            if n > 7:
                break
        known["n"] = n
        y = torch.stack(outputs)
        y[0, :, 1:3] = 0
        assert y.dim() == 3, f"bad {y.dim()}"
        return y, state, known


class Pair(NamedTuple):
    first: Tensor
    second: int


class Stateful(nn.Module):
    """Attributes that are set, several methods, named tuples, an exception."""

    def __init__(self) -> None:
        super().__init__()
        self.last = torch.zeros(2, 3)
        self.calls: List[int] = [0]  # noqa: UP006

    def forward(self, x: Tensor, scale: float = 2.0) -> Pair:
        y = self.last + x * scale
        self.last = y
        if x.shape[0] != 2:
            raise ValueError("not two rows: {}".format(x.shape[0]))  # noqa: UP032 (TorchScript's)
        return Pair(y, x.shape[1])

    @torch.jit.export
    def reset(self) -> None:
        self.last = torch.zeros(2, 3)


class OnData(nn.Module):
    """A branch that the data decide."""

    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):  # noqa: SIM108
            y = x * 2
        else:
            y = x - 1
        return y.relu_()


x = torch.linspace(-1, 1, 192).reshape(1, 3, 8, 8)
sequence = torch.linspace(-2, 2, 24).reshape(3, 2, 4)

MODULES: dict[str, tuple[Callable[[], Any], Sequence[Any]]] = {
    "scripted": (lambda: script(Net().eval()), [x]),
    "traced": (lambda: trace(Net().eval(), x), [x]),
    "frozen": (lambda: freeze(Net()), [x]),
    "recurrent": (lambda: script(Recurrent()), [sequence]),
    "stateful": (lambda: script(Stateful()), [torch.ones(2, 3)]),
    "on_data": (lambda: script(OnData()), [torch.tensor([1.0, -3.0, 0.5])]),
}
"""Modules and inputs by name."""
