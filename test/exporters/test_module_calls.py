"""How modules are called that `torch.export` was told to keep the signature of: through files, stages, and `unflatten`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.program import Program

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("default")


class Inner(torch.nn.Module):
    """Takes a dict and a keyword, gives a dict: of values, of what it was given, and of None; of `b` it makes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.act = torch.nn.Linear(4, 4), torch.nn.ReLU()

    def forward(self, d: Any, *, scale: float = 1.0) -> Any:
        y = self.act(self.linear(self.act(d["a"]))) * scale
        first, _ = y.split(2, 1)
        return {"y": y, "parts": (first, y.amax(0)), "none": None, "a": d["a"]}


class Outer(torch.nn.Module):
    """Has what it calls called in another module, which keeps no signature."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.ModuleList([Inner(), Inner()])

    def forward(self, x: Any, z: Any) -> Any:
        for inner in self.inner:
            x = inner({"a": inner({"a": x, "b": z}, scale=3.0)["y"], "b": x}, scale=2.0)["y"]
        return x


class Model(torch.nn.Module):
    """Calls one module twice in a row, in place."""

    def __init__(self) -> None:
        super().__init__()
        self.outer, self.relu, self.inner = Outer(), torch.nn.ReLU(inplace=True), Inner()

    def forward(self, x: Any, z: Any) -> Any:
        x = self.relu(self.relu(self.outer(x + 1, z * 2) + 0))
        result = self.inner({"a": x, "b": z})
        return result["y"] + z, result["parts"], result["a"]


KEPT = ("relu", "inner", "outer.inner.0", "outer.inner.0.act")
STAGES: dict[str, Callable[[Program], Program]] = {
    "imported": lambda program: program,
    "core": lambda program: program.to_core(),
    "edge": lambda program: program.to_edge().transform("cse,dce"),
}


@pytest.fixture(scope="module", params=["non-strict", "strict"])
def case(request: Any) -> tuple[Any, Any, tuple[Any, Any]]:
    torch.manual_seed(0)
    model, args = Model().eval().requires_grad_(False), (torch.randn(3, 4), torch.randn(3, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strict = request.param == "strict"
        exported = torch.export.export(model, args, strict=strict, preserve_module_call_signature=KEPT)
    return model, exported, args


def assert_same(got: Any, wanted: Any) -> None:
    got, wanted = map(torch.utils._pytree.tree_leaves, (got, wanted))
    for value, expected in zip(got, wanted, strict=True):
        if expected is not None:
            torch.testing.assert_close(torch.as_tensor(value), expected, rtol=1e-5, atol=1e-5)


def kept(exported: Any) -> dict[str, Any]:
    return {entry.fqn: entry.signature for entry in exported.module_call_graph if entry.signature}


@pytest.mark.parametrize("stage", STAGES)
def test_back_to_pytorch(case: Any, stage: str, tmp_path: Path) -> None:
    """The signatures are PyTorch's, of values that stand for its own, and it unflattens the program by them."""
    model, exported, args = case
    torch.export.save(exported, tmp_path / "in.pt2")
    program = STAGES[stage](xdsl_exir.load(tmp_path / "in.pt2"))
    program.save(tmp_path / "m.mlir")
    again = xdsl_exir.load(tmp_path / "m.mlir")
    assert again.conventions == program.conventions
    again.save(tmp_path / "out.pt2")
    back = torch.export.load(tmp_path / "out.pt2")
    assert [entry.fqn for entry in back.module_call_graph] == [
        entry.fqn for entry in exported.module_call_graph
    ]
    ours, theirs = kept(back), kept(exported)
    assert ours.keys() == theirs.keys() > {"relu@1", "outer.inner.0@1", "outer.inner.0.act@3"}
    for name, signature in theirs.items():
        assert (ours[name].in_spec, ours[name].out_spec) == (signature.in_spec, signature.out_spec)
        assert len(ours[name].inputs) == len(signature.inputs)
        assert len(ours[name].outputs) == len(signature.outputs)
    module = torch.export.unflatten(back)
    assert_same(module(*args), model(*args))
    assert_same(module.inner({"a": args[0], "b": args[1]}), model.inner({"a": args[0], "b": args[1]}))
    types = {name: inner.type_name() for name, inner in module.named_modules() if hasattr(inner, "type_name")}
    assert types["inner.linear"] == "torch.nn.modules.linear.Linear"


@pytest.mark.parametrize("stage", STAGES)
def test_nested_functions(case: Any, stage: str, tmp_path: Path) -> None:
    """Functions of such modules take and give what the module did, and `conventions` say how."""
    model, exported, args = case
    program = STAGES[stage](xdsl_exir.from_exported_program(exported))
    nested = program.unflatten()
    functions: dict[str, Any] = {op.sym_name.data: op for op in nested.module.ops}  # type: ignore[attr-defined]
    for name in ("inner", "outer.inner.0", "outer.inner.0@1", "relu", "relu@1"):
        convention, function = nested.conventions[name], functions[name]
        inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
        assert len(inputs) == len(values(convention.inputs)) + 2 * ("inner" in name)
        assert len(outputs) == len(values(convention.outputs))
    inner = nested.conventions["inner"]
    assert inner.out_spec.context == ("y", "parts", "none", "a")
    block = functions["inner"].body.block
    assert block.last_op.operands[-1] is block.args[0]  # "a" is given as it was taken
    assert str(nested.inlined()) == str(program)
    got = xdsl_exir.compile(nested)(*(x.numpy() for x in args))
    assert_same(got, model(*args))
    nested.save(tmp_path / "m.mlir")
    assert xdsl_exir.load(tmp_path / "m.mlir").conventions == nested.conventions


def values(slots: Any) -> list[Any]:
    return [slot for slot in slots if not slot.is_constant]


def test_a_call_that_is_no_more(case: Any) -> None:
    """A module that takes or gives other values than it did has no signature, and PyTorch takes the program all the same."""
    model, exported, args = case
    program = xdsl_exir.from_exported_program(exported)
    [inside] = [op for op in program.module.walk() if '"inner.act"' in str(op.attributes.get("exir.origin"))]
    inside.attributes.clear()
    back = program.to_exported_program()
    assert "inner" not in kept(back)
    assert "relu" in kept(back)
    assert_same(torch.export.unflatten(back)(*args), model(*args))


def test_calls_that_canonicalization_removes(case: Any) -> None:
    """A `relu` of a `relu` is none: that call has no signature any more, and PyTorch unflattens the rest."""
    model, exported, args = case
    program = xdsl_exir.from_exported_program(exported).to_edge().transform("canonicalize,cse,dce")
    back = program.to_exported_program()
    assert "relu@1" not in kept(back)
    assert {"relu", "outer.inner.0", "outer.inner.0@1"} <= kept(back).keys()
    assert_same(torch.export.unflatten(back)(*args), model(*args))


def test_calls_in_a_row() -> None:
    """Two calls of a module are two, though nothing is between them."""

    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.act = torch.nn.Tanh()

        def forward(self, x: Any) -> Any:
            return self.act(self.act(x))

    x = torch.randn(3)
    program = xdsl_exir.from_exported_program(torch.export.export(Twice(), (x,)))
    nested = program.unflatten()
    assert [op.sym_name.data for op in nested.module.ops] == ["forward", "act", "act@1"]  # type: ignore[attr-defined]
    np.testing.assert_allclose(xdsl_exir.compile(nested)(x.numpy()), torch.tanh(torch.tanh(x)), rtol=1e-6)
