"""The module hierarchy as nested functions, and back: the same program, the same results at every stage."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.func import CallOp
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.errors import VerificationError
from xdsl_exir.program import Program, context
from xdsl_exir.transforms.verify import violations_of

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("default")


class FeedForward(torch.nn.Module):
    """Calls one of its modules twice."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down, self.act = torch.nn.Linear(4, 8), torch.nn.Linear(8, 4), torch.nn.ReLU()

    def forward(self, x: Any) -> Any:
        return self.down(self.act(self.act(self.up(x)) + 1))


class Layer(torch.nn.Module):
    """A container that is called, and does nothing itself: `seq`."""

    def __init__(self) -> None:
        super().__init__()
        self.ff = FeedForward()
        self.seq = torch.nn.Sequential(torch.nn.LayerNorm(4), torch.nn.Dropout(0.1))

    def forward(self, x: Any) -> Any:
        return self.seq(x + self.ff(x))


class Model(torch.nn.Module):
    """A list of layers, which is not called; a buffer that is written; a branch."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(), Layer()])
        self.act = torch.nn.Tanh()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.count.add_(1)
        x = self.act(x)
        for layer in self.layers:
            x = layer(x)
        x = torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))
        return self.act(x) * self.count


@pytest.fixture(scope="module", params=["training", "core"])
def case(request: Any) -> tuple[Any, Program]:
    torch.manual_seed(0)
    model = Model().eval().requires_grad_(False)
    shapes = ({0: torch.export.Dim("rows", min=2, max=9)},)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(model, (torch.randn(3, 4),), dynamic_shapes=shapes)
        if request.param == "core":
            exported = exported.run_decompositions()
    return model, xdsl_exir.from_exported_program(exported)


def stages(program: Program) -> dict[str, Program]:
    return {"imported": program, "core": program.to_core(), "edge": program.to_edge()}


def functions(program: Program) -> list[str]:
    return [op.sym_name.data for op in program.module.ops]  # type: ignore[attr-defined]


def calls(program: Program, function: str) -> list[str]:
    """What a function calls, in order."""
    [op] = [op for op in program.module.ops if op.sym_name.data == function]  # type: ignore[attr-defined]
    return [call.callee.string_value() for call in op.walk() if isinstance(call, CallOp)]


def run(program: Program, count: int) -> list[Any]:
    """Two calls: the buffer's state is carried along."""
    executable = xdsl_exir.compile(program)
    x = np.random.default_rng(count).standard_normal((count, 4)).astype(np.float32)
    return [executable(x), executable(x), executable.array("count")]


@pytest.mark.parametrize("stage", ["imported", "core", "edge"])
def test_hierarchy(case: tuple[Any, Program], stage: str) -> None:
    program = stages(case[1])[stage]
    nested = program.unflatten()
    assert list(nested.methods) == ["forward"]
    assert "layers" not in functions(nested)
    assert [name for name in calls(nested, "forward") if name != "act"][:2] == ["layers.0", "layers.1"]
    assert calls(nested, "layers.0")[0] == "layers.0.ff"
    assert {"layers.1.ff.up", "layers.1.ff.down", "act@1", "layers.0.ff.act@1"} <= set(functions(nested))
    if stage == "imported":
        assert calls(nested, "layers.0") == ["layers.0.ff", "layers.0.seq"] or "core" in str(nested)
    for count in (3, 7):
        for got, wanted in zip(run(nested, count), run(program, count), strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("stage", ["imported", "core", "edge"])
def test_the_way_back(case: tuple[Any, Program], stage: str) -> None:
    program = stages(case[1])[stage]
    assert program.unflatten().transform("inline-modules").text(locations=True) == program.text(
        locations=True
    )
    assert str(program.unflatten().inlined()) == str(program)
    assert program.inlined() is program


def test_stages_of_what_is_nested(case: tuple[Any, Program]) -> None:
    """Passes work on functions of modules as on methods."""
    program = case[1]
    nested = program.unflatten()
    for stage in (nested.to_core(), nested.to_edge(), nested.to_edge().transform("canonicalize,cse,dce")):
        for got, wanted in zip(run(stage, 5), run(program, 5), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


def test_text(case: tuple[Any, Program], tmp_path: Path) -> None:
    nested = case[1].unflatten()
    assert str(Parser(context().clone(), str(nested)).parse_module()) == str(nested)
    nested.save(tmp_path / "m.mlir")
    again = xdsl_exir.load(tmp_path / "m.mlir")
    assert str(again) == str(nested)
    assert again.conventions["forward"].modules == nested.conventions["forward"].modules
    nested.save(tmp_path / "m.pt2")
    assert list(xdsl_exir.load(tmp_path / "m.pt2").methods) == ["forward"]


def test_back_to_pytorch(case: tuple[Any, Program]) -> None:
    x = torch.randn(3, 4)
    torch.manual_seed(0)
    with torch.no_grad():
        wanted = case[1].to_exported_program().module()(x)
        torch.testing.assert_close(case[1].unflatten().to_exported_program().module()(x), wanted)


@pytest.mark.usefixtures("native_tools")
def test_native_code() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(Layer(), Layer()).eval().requires_grad_(False)
    x = torch.randn(3, 4)
    nested = xdsl_exir.from_exported_program(torch.export.export(model, (x,))).to_edge().unflatten()
    assert "func.call @" in str(nested)
    np.testing.assert_allclose(xdsl_exir.compile(nested, "native")(x.numpy()), model(x), atol=1e-5)
    assert "func.call" not in str(nested.transform("edge-to-linalg"))


def test_without_a_convention() -> None:
    """The pass alone takes the modules that operations name."""
    text = """
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = aten.relu(%x) {exir.origin = #exir.origin<"a", "aten.relu", "a.b">} : (tensor<2xf32>) -> tensor<2xf32>
      %1 = aten.exp(%0) {exir.origin = #exir.origin<"b", "aten.exp", "a.b.c">} : (tensor<2xf32>) -> tensor<2xf32>
      %2 = aten.exp(%1) : (tensor<2xf32>) -> tensor<2xf32>
      func.return %2 : tensor<2xf32>
    }"""
    program = Program(Parser(context().clone(), text).parse_module())
    nested = program.unflatten()
    assert functions(nested) == ["f", "a.b", "a.b.c"]
    assert str(nested.inlined()) == str(program)


# --- the verifier --------------------------------------------------------------------------------------------

T = "tensor<2xf32>"
CALL = f'func.func @f(%x: {T}) -> {T} {{ %0 = func.call @g(%x) : ({T}) -> {T} loc("model.py":3:0)\nfunc.return %0 : {T} }}\n'


@pytest.mark.parametrize(
    ("callee", "message"),
    [
        ("", "model.py:3: func.call: '@g' could not be found in symbol table"),
        (
            f"func.func @g(%x: {T}) -> {T} {{ func.return %x : {T} }}",
            "model.py:3: func.call: @g is a method",
        ),
        (
            "func.func private @g(%x: tensor<3xf32>) -> tensor<3xf32> { func.return %x : tensor<3xf32> }",
            "model.py:3: func.call: operand type mismatch: expected operand type tensor<3xf32>",
        ),
        (
            f"func.func private @g(%x: {T}) -> {T} {{ %0 = func.call @g(%x) : ({T}) -> {T}\nfunc.return %0 : {T} }}",
            "func.func: @g calls itself",
        ),
    ],
)
def test_bad_calls(callee: str, message: str) -> None:
    module = Parser(context().clone(), CALL + callee).parse_module()
    [found] = violations_of(module, "aten")
    assert str(found).startswith(message)


def test_inlining_what_calls_itself() -> None:
    text = f"func.func private @g(%x: {T}) -> {T} {{ %0 = func.call @g(%x) : ({T}) -> {T}\nfunc.return %0 : {T} }}"
    program = Program(Parser(context().clone(), CALL + text).parse_module())
    with pytest.raises(VerificationError, match="@g calls itself"):
        program.inlined()
