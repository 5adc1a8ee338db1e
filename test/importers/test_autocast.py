"""Autocast on CPUs: what PyTorch casts is cast in the program, so that its results have PyTorch's dtypes and values."""

from __future__ import annotations

import copy
import dataclasses as dc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import xdsl_exir
from xdsl_exir.dialects.dtypes import Half
from xdsl_exir.errors import ExirError, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.exported_program import read_exported_program
from xdsl_exir.program import Program, from_graphs

pytestmark = pytest.mark.filterwarnings("default")


class Layers(torch.nn.Module):
    """A function of a tensor as module, with layers that it may call."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        torch.manual_seed(0)
        self.linear, self.conv, self.lstm = (
            torch.nn.Linear(4, 4),
            torch.nn.Conv1d(3, 2, 3),
            torch.nn.LSTM(4, 2),
        )
        self.gru, self.rnn = torch.nn.GRU(4, 2, bidirectional=True), torch.nn.RNN(4, 2)
        self.encoder = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
        self.register_buffer("count", torch.zeros(4))
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


def lower_precision(self: Layers, x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = self.linear(x)
        return y, self.conv(x.relu()), y.softmax(-1), x.double() @ x.double().T, x + 1


def half(self: Layers, x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False):
        return self.linear(x), x.mean(), F.scaled_dot_product_attention(x[None], x[None], x[None])


def float32(self: Layers, x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = self.linear(x)
        return F.mse_loss(y, x.bfloat16()), y.prod(0), F.cross_entropy(y, torch.tensor([0, 3, 1]))


def widest(self: Layers, x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = self.linear(x)
        return torch.cat([y, x]), torch.cat([y, y]), torch.stack([x, y]), torch.stack([y, y])


def composed(self: Layers, x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        similarity = F.cosine_similarity(x[0], x[1], 0)  # of whose parts none is cast
        return torch.einsum("ij,kj->ik", x, x), similarity, self.encoder(x[None])


def remembers(self: Layers, x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return self.lstm(x)[0]


def in_steps(self: Layers, x: torch.Tensor) -> Any:
    """The state of one is cast by its first step, that of the other by none."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return *self.rnn(x), *self.gru(x)


def nested(self: Layers, x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = self.linear(x)
        with torch.autocast("cpu", enabled=False), torch.no_grad():
            z = y.float() @ self.linear.weight
        with torch.autocast("cuda", dtype=torch.float16):  # of tensors elsewhere
            return self.linear(z) + y, z


def written(self: Layers, x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x + 1
        y.addmm_(x, self.linear.weight)  # in place nothing is cast
        y[0].add_(self.linear(x)[0])
        self.count.add_(self.linear(x).sum(0))
        return y


def of_dtypes(self: Layers, x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return x[(x @ x.T).sum(1) > 0], torch.nonzero(x > 0)  # sizes that depend on the data are as described


def in_branches(self: Layers, x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = torch.cond(x.sum() > 1, lambda x: self.linear(x) + 1, lambda x: self.linear(x) - 1, (x,))
    return y.float() @ x.T


FUNCTIONS = (
    lower_precision,
    half,
    float32,
    widest,
    composed,
    remembers,
    in_steps,
    nested,
    written,
    of_dtypes,
    in_branches,
)


def agrees(program: Program, exported: Any, x: torch.Tensor, native: bool = True) -> None:
    """Asserts that a program gives what PyTorch's own gives, in its dtypes, at every stage."""
    with torch.no_grad():
        wanted = torch.utils._pytree.tree_leaves(copy.deepcopy(exported).module()(x))
    runs = [xdsl_exir.compile(stage) for stage in (program, program.to_core(), program.to_edge())]
    if native:
        runs.append(xdsl_exir.compile(program, target="native"))
    for run in runs:
        given = torch.utils._pytree.tree_leaves(run(x.numpy().copy()))
        for mine, its in zip(given, wanted, strict=True):
            assert str(mine.dtype) == str(its.dtype).removeprefix("torch.")
            np.testing.assert_allclose(mine.astype(np.float64), its.double(), rtol=2e-2, atol=2e-2)


def has_lstm(model: Layers, x: torch.Tensor) -> bool:
    """Whether PyTorch's LSTM of bfloat16, which oneDNN has for some processors, runs here."""
    try:
        with torch.no_grad():
            model(x)
    except RuntimeError as error:
        if "primitive descriptor" not in str(error):
            raise
        return False
    return True


@pytest.mark.native
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_casts(function: Callable[..., Any], tmp_path: Path) -> None:
    model, x = Layers(function).eval(), torch.linspace(-2, 2, 12).reshape(3, 4)
    if function is remembers and not has_lstm(model, x):
        pytest.skip("this processor has no LSTM of bfloat16 in PyTorch")
    exported = torch.export.export(model, (x,))
    assert "autocast" in str(exported.graph)
    program = xdsl_exir.from_exported_program(exported)
    native = function is not of_dtypes
    agrees(program, exported, x, native)
    if function is not in_branches:  # which PyTorch does not save
        torch.export.save(exported, tmp_path / "m.pt2")
        assert str(xdsl_exir.load(tmp_path / "m.pt2")) == str(program)


@pytest.mark.native
def test_dtypes_that_are_not_described() -> None:
    """Exported strictly, a program describes its values as if there were no autocast."""
    model, x = Layers(lower_precision).eval(), torch.linspace(-2, 2, 12).reshape(3, 4)
    exported = torch.export.export(model, (x,), strict=True)
    agrees(xdsl_exir.from_exported_program(exported), exported, x)


def test_parts_that_are_not_cast_stay_together() -> None:
    model, x = Layers(composed).eval(), torch.ones(3, 4)
    text = str(xdsl_exir.from_exported_program(torch.export.export(model, (x,))))
    assert "aten.cosine_similarity(" in text
    assert "aten.einsum(" not in text


def pseudo_inverse(self: Layers, x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return torch.linalg.pinv(x)


def test_refused() -> None:
    """Casts inside a kernel, autocast of tensors on a GPU, and a dtype that PyTorch itself refuses."""
    with pytest.raises(UnsupportedError, match=r"linalg_pinv\.atol_rtol_tensor: autocast inside it"):
        xdsl_exir.from_exported_program(torch.export.export(Layers(pseudo_inverse), (torch.ones(3, 4),)))
    program = read_exported_program(torch.export.export(Layers(widest).eval(), (torch.ones(3, 4),)))
    x, [node] = program.graph.values["x"], program.graph.nodes
    assert isinstance(x, g.TensorMeta)

    def imported(x: g.TensorMeta, *arguments: g.NodeInput) -> Program:
        nodes = (dc.replace(node, inputs=(*arguments, *node.inputs[len(arguments) :])),)
        graph = dc.replace(program.graph, nodes=nodes, values={**program.graph.values, "x": x})
        return from_graphs({"forward": dc.replace(program, graph=graph)}, "test")

    with pytest.raises(UnsupportedError, match=r"autocast of tensors on cuda; .*run_decompositions"):
        imported(dc.replace(x, device=g.Device("cuda:0")), g.NodeInput("", "cuda", False))
    with pytest.raises(ExirError, match=r"Half under autocast to BFloat16, which PyTorch refuses"):
        imported(dc.replace(x, dtype=Half))
