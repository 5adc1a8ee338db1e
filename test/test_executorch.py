"""Delegates there and back: programs that we partition, in ExecuTorch's runtime, and programs that ExecuTorch lowered, here.

    pip install --no-deps executorch==1.5.1 torchao==0.18.0
    pip install flatbuffers pandas psutil ruamel.yaml tabulate          # what of their needs these tests meet
    pytest test/test_executorch.py

Without ExecuTorch what needs it is skipped.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.dialects.backend import DelegateOp, delegates_of
from xdsl_exir.interpreter.backend import BACKENDS, program_of, register_backend

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch._higher_order_ops.executorch_call_delegate import executorch_call_delegate  # noqa: E402

BACKEND = "XnnpackBackend"
TAKEN = ("aten.linear", "aten.relu", "aten.add.Tensor")

pytestmark = pytest.mark.filterwarnings("ignore")


class Net(nn.Module):
    """Layers for a delegate, an operator that is left, and one for another delegate."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x: Any) -> Any:
        return torch.cumsum(self.second(self.first(x).relu()), -1) + 1


@pytest.fixture(scope="module")
def exported() -> Any:
    torch.manual_seed(0)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(Net().eval(), (torch.randn(2, 8),))


@pytest.fixture
def backend() -> Iterator[None]:
    """Forgets the backend that a test registers."""
    yield
    BACKENDS.pop(BACKEND, None)


X = torch.linspace(-2, 2, 16).reshape(2, 8)


def partitioned(exported: Any) -> xdsl_exir.Program:
    program = xdsl_exir.from_exported_program(exported).to_edge(keep=("aten.linear",))
    made = xdsl_exir.partition(program, BACKEND, lambda op: op.name in TAKEN)
    assert [item.operator for item in made.left] == ["edge.aten.cumsum"]
    return made.program


def with_modules(program: xdsl_exir.Program, path: Path, module: Any) -> Any:
    """A program whose delegates are preprocessed as PyTorch loads it, with a lowered module in the place of each delegate's graph: `module`
    makes one of the delegate and its bytes."""
    program.save(path)
    loaded = torch.export.load(path)
    graph, constants = loaded.graph_module.graph, loaded.graph_signature.inputs_to_lifted_tensor_constants
    ops = iter(delegates_of(program.module))
    for node in list(graph.nodes):
        if node.target is executorch_call_delegate:
            inner, operands, _, said = node.args
            data = loaded.constants[constants[operands[-1].name]].numpy().tobytes()
            name = f"lowered_{inner.target}"
            setattr(loaded.graph_module, name, module(next(ops), data))
            with graph.inserting_before(node):
                node.args = (graph.get_attr(name), *operands[: len(operands) - json.loads(said)["owned"] - 1])
    graph.eliminate_dead_code()
    loaded.graph_module.recompile()
    return loaded


class Lowered(nn.Module):
    """What the importer asks of ExecuTorch's class of this kind."""

    def __init__(self, program: Any, data: bytes):
        super().__init__()
        self.backend_id, self.processed_bytes, self.original_module = BACKEND, data, program
        self.compile_specs: list[Any] = []


def test_lowered_modules_are_delegates(exported: Any, backend: None, tmp_path: Path) -> None:
    """As ExecuTorch has them in a graph, without ExecuTorch."""
    given = partitioned(exported)
    register_backend(BACKEND, preprocess=lambda program, specs: str(len(program.state)).encode())
    processed = given.transform("preprocess-delegates")
    state = processed.state

    def lowered(op: DelegateOp, data: bytes) -> Any:
        return Lowered(program_of(op, state).to_exported_program(), data)

    program = xdsl_exir.from_exported_program(with_modules(processed, tmp_path / "net.pt2", lowered))
    found = delegates_of(program.module)
    assert [op.backend.data for op in found] == [BACKEND] * 2
    assert [len(op.owned) for op in found] == [4, 0]
    assert [program.state[op.processed.data].numpy().tobytes() for op in found] == [b"4", b"0"]  # pyright: ignore
    [expected], [got] = (xdsl_exir.compile(one, delegates="region").flat([X]) for one in (given, program))
    np.testing.assert_array_equal(got, expected)


# --- with ExecuTorch -----------------------------------------------------------------------------------------


def quiet_executorch() -> None:
    logging.disable(logging.CRITICAL)
    pytest.importorskip("executorch.exir", reason="needs ExecuTorch")
    logging.disable(logging.NOTSET)


def test_our_delegates_in_its_runtime(exported: Any, backend: None, tmp_path: Path) -> None:
    """Partitioned here, bytes of its `preprocess`, its `to_executorch`, its runtime."""
    quiet_executorch()
    from executorch.backends.xnnpack.xnnpack_preprocess import XnnpackBackend
    from executorch.exir import to_edge
    from executorch.exir.lowered_backend_module import LoweredBackendModule
    from executorch.runtime import Runtime

    made: dict[bytes, Any] = {}

    def preprocess(program: xdsl_exir.Program, specs: Any) -> bytes:
        edge = to_edge(program.to_exported_program()).exported_program()
        result = XnnpackBackend.preprocess(edge, [])
        data = bytes(result.processed_bytes)
        made[data] = edge, result.data_store_output
        return data

    def lowered(op: DelegateOp, data: bytes) -> Any:
        edge, beside = made[data]
        return LoweredBackendModule(edge, BACKEND, data, [], beside)

    register_backend(BACKEND, preprocess=preprocess)
    processed = partitioned(exported).transform("preprocess-delegates")
    assert len(made) == 2
    edge = to_edge(with_modules(processed, tmp_path / "net.pt2", lowered))
    buffer = edge.to_executorch().buffer  # the runtime reads constants where they lie: it does not keep them
    method = Runtime.get().load_program(buffer).load_method("forward")
    torch.testing.assert_close(method.execute([X])[0], exported.module()(X), rtol=1e-4, atol=1e-5)


def test_its_delegates_here(exported: Any) -> None:
    """What it partitioned and lowered is read, and run by what the regions say."""
    quiet_executorch()
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    edge = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    program = xdsl_exir.from_exported_program(edge.exported_program())
    assert [op.backend.data for op in delegates_of(program.module)] == [BACKEND] * 2
    with pytest.raises(xdsl_exir.UnsupportedError, match="backend XnnpackBackend: it is not registered"):
        xdsl_exir.compile(program)
    [found] = xdsl_exir.compile(program, delegates="region").flat([X])
    torch.testing.assert_close(torch.from_numpy(found), exported.module()(X), rtol=1e-4, atol=1e-5)
