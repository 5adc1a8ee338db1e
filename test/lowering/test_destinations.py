"""Programs cut into dispatches, and as drivers over memrefs that call these: run, compiled and written at every stage below edge."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    f32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

import xdsl_exir
from xdsl_exir.dialects.signature import PLAN
from xdsl_exir.errors import ExirError, LoadError, UnsupportedError, VerificationError
from xdsl_exir.importers.mlir import read_module
from xdsl_exir.interpreter.interpreter import make_interpreter, run_function
from xdsl_exir.lowering.expand_kernels import KERNEL
from xdsl_exir.lowering.plan_memory import drivers_of
from xdsl_exir.lowering.pools import arenas_of
from xdsl_exir.lowering.printing import generic_text
from xdsl_exir.program import Program
from xdsl_exir.runtime import linking
from xdsl_exir.targets.cpu.kernels.attributes import kernel_of

torch = pytest.importorskip("torch")

STAGES = ("dispatches", "buffers", "planned")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path))


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.norm = (
            torch.nn.Linear(16, 48),
            torch.nn.Linear(16, 16),
            torch.nn.LayerNorm(16),
        )

    def forward(self, x: Any) -> Any:
        q, k, v = (y.unflatten(-1, (4, 4)).transpose(1, 2) for y in self.qkv(self.norm(x)).chunk(3, -1))
        scores = torch.softmax(q @ k.transpose(-1, -2) * 0.5, -1)
        return x + torch.nn.functional.gelu(self.out((scores @ v).transpose(1, 2).flatten(-2)))


class Convolutions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.body = nn.Sequential(
            *(nn.Conv2d(3, 20, 3, padding=1, bias=False), nn.BatchNorm2d(20), nn.SiLU()),
            *(nn.Conv2d(20, 20, 3, groups=20, stride=2), nn.ReLU6(), nn.MaxPool2d(2)),
            *(nn.Conv2d(20, 9, 1), nn.Hardswish(), nn.Conv2d(9, 6, 3, groups=3, padding=1)),
        )

    def forward(self, x: Any) -> Any:
        return self.body(x).mean((2, 3))


class Several(torch.nn.Module):
    """A constant, an input and another result as results, a number, an index, and what MLIR lowers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.arange(12.0).reshape(4, 3))

    def forward(self, x: Any, i: Any) -> Any:
        y = self.table[i] + x.cumsum(0)
        return y, self.table * 2, x, y.sort(0).values, x.shape[0], (y > 1).any(1)


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: Any) -> Any:
        self.total.add_(x.relu())
        return self.total * 2


class Loop(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        from torch._higher_order_ops.scan import scan

        return scan(lambda h, row: (torch.tanh(h + row), h * row), torch.zeros(3), x)


class Views(torch.nn.Module):
    """What follows a product is applied to a view, whose elements are in another order."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 1)

    def forward(self, x: Any) -> Any:
        y = self.conv(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1)
        return torch.nn.functional.silu(y) * 2


class Recurrent(torch.nn.Module):
    """Its steps take three parts, a step apart, of one tensor."""

    def __init__(self):
        super().__init__()
        self.gru = torch.nn.GRU(6, 8)

    def forward(self, x: Any) -> Any:
        return self.gru(x)[0]


class Parts(torch.nn.Module):
    """Complex numbers and their parts are one memory, of inputs and in between; pairs that lie apart are copied."""

    def forward(self, x: Any, z: Any) -> Any:
        turned = torch.view_as_real(torch.view_as_complex(x[1:, 2:]) * z[2:])
        apart = torch.view_as_complex(x[:, 1:3].contiguous()).abs()
        return (
            torch.view_as_real(z),
            turned,
            z.imag[1:] * 2,
            apart,
            torch.view_as_real(z[0]) + 1,
        )


class Nothing(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x


ROWS = torch.export.Dim("rows", min=2, max=50)
PAIRS = torch.export.Dim("pairs", min=3, max=50)
PROGRAMS: dict[str, Callable[[], tuple[Any, tuple[Any, ...], Any]]] = {
    "attention": lambda: (Attention(), (torch.randn(2, 5, 16),), None),
    "attention of any length": lambda: (Attention(), (torch.randn(2, 5, 16),), {"x": {1: ROWS}}),
    "convolutions": lambda: (Convolutions(), (torch.randn(2, 3, 17, 13),), None),
    "several results": lambda: (
        Several(),
        (torch.randn(5, 3), torch.tensor([0, 3, 3, 1, 2])),
        {"x": {0: ROWS}, "i": {0: ROWS}},
    ),
    "transformed filters": lambda: (
        torch.nn.Conv2d(18, 20, 3, padding=1),
        (torch.randn(2, 18, 9, 12),),
        None,
    ),
    "views": lambda: (Views(), (torch.randn(2, 3, 5, 4),), None),
    "parts": lambda: (Parts(), (torch.randn(4, 4), torch.randn(5, dtype=torch.complex64)), None),
    "parts, any number": lambda: (
        Parts(),
        (torch.randn(4, 4), torch.randn(5, dtype=torch.complex64)),
        {"x": {0: PAIRS}, "z": {0: PAIRS + 1}},
    ),
    "nothing": lambda: (Nothing(), (torch.randn(3),), None),
    "loop": lambda: (Loop(), (torch.randn(6, 3),), None),
    "recurrent": lambda: (Recurrent(), (torch.randn(5, 2, 6),), None),
}


@pytest.fixture(params=PROGRAMS)
def case(request: pytest.FixtureRequest) -> tuple[Program, tuple[Any, ...], list[Any]]:
    """A program at edge, inputs, and what PyTorch makes of them."""
    torch.manual_seed(0)
    module, inputs, dynamic = PROGRAMS[request.param]()
    module = module.eval()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # exporting sets attributes of recurrent layers
        exported = torch.export.export(module, inputs, dynamic_shapes=dynamic)
        wanted = torch.utils._pytree.tree_leaves(module(*inputs))
    return xdsl_exir.from_exported_program(exported).to_edge(), inputs, wanted


def check(program: Program, target: str, inputs: tuple[Any, ...], wanted: list[Any]) -> None:
    given = xdsl_exir.compile(program, target)(*(x.numpy() for x in inputs))
    for a, b in zip(torch.utils._pytree.tree_leaves(given), wanted, strict=True):
        torch.testing.assert_close(torch.as_tensor(a), torch.as_tensor(b))


def test_drivers_are_run(case: tuple[Program, tuple[Any, ...], list[Any]], tmp_path: Path) -> None:
    """In the interpreter, and from text."""
    program, inputs, wanted = case
    for stage in STAGES:
        lowered = program.to(stage)
        check(lowered, "interpreter", inputs, wanted)
        lowered.save(tmp_path / "lowered.mlir")
        check(xdsl_exir.load(tmp_path / "lowered.mlir"), "interpreter", inputs, wanted)


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_drivers_are_compiled(case: tuple[Program, tuple[Any, ...], list[Any]]) -> None:
    """From every stage on, and with what dispatches compute in place of their kernels."""
    program, inputs, wanted = case
    for stage in (*STAGES, "kernels"):
        check(program.to(stage), "native", inputs, wanted)
    buffers = program.to("buffers")
    for function in buffers.module.ops:
        function.attributes.pop(KERNEL, None)
    check(buffers, "native", inputs, wanted)


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_a_plan_in_place_needs_its_kernels() -> None:
    """MLIR's code of the same dispatch may read again what it wrote over."""
    module, inputs, _ = PROGRAMS["attention"]()
    planned = xdsl_exir.from_exported_program(torch.export.export(module.eval(), inputs)).to("planned")
    xdsl_exir.compile(planned, "native")
    for function in planned.module.ops:
        function.attributes.pop(KERNEL, None)
    with pytest.raises(VerificationError, match="overlaps"):
        xdsl_exir.compile(planned, "native")


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_memory_of_another_space() -> None:
    """Planned and interpreted with an arena of its own; a processor has none."""
    program, x = edge().to("buffers"), np.ones((1, 3), np.float32)
    wanted = xdsl_exir.compile(program).flat([x])
    [driver] = drivers_of(program.module)
    there = MemRefType(f32, [16], memory_space=IntegerAttr(1, i64))
    made = memref.AllocOp([], [], there)
    seen = memref.CastOp.get(made.memref, MemRefType(f32, [DYNAMIC_INDEX], memory_space=there.memory_space))
    assert driver.body.block.first_op is not None
    driver.body.block.insert_ops_before([made, seen], driver.body.block.first_op)
    planned = program.to("planned")
    assert [arena.pool.space for arena in arenas_of(next(drivers_of(planned.module)))] == [0, 1]
    again = Program(read_module(str(planned), "text"), planned.state)
    for actual, expected in zip(xdsl_exir.compile(again).flat([x]), wanted, strict=True):
        np.testing.assert_array_equal(actual, expected)
    for each in (program, planned):
        with pytest.raises(UnsupportedError, match="memory space 1: a processor has space 0 alone"):
            xdsl_exir.compile(each, "native")


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("name", ["attention", "convolutions", "views"])
def test_each_kernel_computes_what_its_dispatch_says(name: str) -> None:
    """The code of a kernel, and in the interpreter the body that it stands for, on the same memory."""
    torch.manual_seed(0)
    module, inputs, _ = PROGRAMS[name]()
    planned = xdsl_exir.from_exported_program(torch.export.export(module.eval(), inputs)).to("planned")
    interpreter = make_interpreter(planned.module)
    functions = [op for op in planned.module.ops if isinstance(op, FuncOp) and KERNEL in op.attributes]
    rng = np.random.default_rng(0)
    for function in functions:
        code = kernel_of(function.attributes[KERNEL]).function("f", True)
        types = [type for type in function.function_type.inputs if isa(type, MemRefType[Attribute])]
        memory = [rng.standard_normal(words_in(type)).astype(np.float32) for type in types]
        native, wanted = ([array.copy() for array in memory] for _ in range(2))
        linking.bind(linking.load(generic_text(code)), "f", list(map(seen, native, types)))()
        run_function(interpreter, function.sym_name.data, tuple(map(seen, wanted, types)))
        assert not np.array_equal(wanted[-1], memory[-1])
        torch.testing.assert_close(torch.as_tensor(native[-1]), torch.as_tensor(wanted[-1]))
    assert functions


def words_in(type: MemRefType[Attribute]) -> int:
    """Elements from the first to the last one of memory."""
    strides = type.get_strides() or ()
    return 1 + sum((size - 1) * (stride or 0) for size, stride in zip(type.get_shape(), strides, strict=True))


def seen(memory: np.ndarray[Any, Any], type: MemRefType[Attribute]) -> np.ndarray[Any, Any]:
    strides = [4 * (stride or 0) for stride in type.get_strides() or ()]
    return np.lib.stride_tricks.as_strided(memory, type.get_shape(), strides)


def test_state_is_kept() -> None:
    program = xdsl_exir.from_exported_program(torch.export.export(Counter(), (torch.ones(3),))).to("planned")
    run, x = xdsl_exir.compile(program), np.array([1.0, -1.0, 2.0], np.float32)
    np.testing.assert_array_equal(run(x), [2, 0, 4])
    np.testing.assert_array_equal(run(x), [4, 0, 8])


class Checked(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        torch.ops.aten._assert_async.msg(x.sum() > 0, "too little")
        return x * 2


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_what_is_checked(target: str, native_tools: None) -> None:
    program = xdsl_exir.from_exported_program(torch.export.export(Checked(), (torch.ones(3),)))
    for stage in STAGES:
        run = xdsl_exir.compile(program.to(stage), target)
        np.testing.assert_array_equal(run(np.ones(3, np.float32)), [2, 2, 2])
        with pytest.raises(ExirError, match="too little"):
            run(-np.ones(3, np.float32))


def edge() -> Program:
    return xdsl_exir.from_exported_program(
        torch.export.export(torch.nn.Linear(3, 2), (torch.ones(1, 3),))
    ).to_edge()


def test_stages_go_on_from_each_other() -> None:
    program = edge()
    assert str(program.to("buffers").to("planned")) == str(program.to("planned"))
    assert str(program.to("planned").to("kernels")) == str(program.to("kernels"))
    with pytest.raises(
        ExirError, match="a program lowered to planned is not taken to buffers: take it there from edge"
    ):
        program.to("planned").to("buffers")
    with pytest.raises(UnsupportedError, match="the interpreter does not run kernels' code"):
        xdsl_exir.compile(program.to("kernels"))
    with pytest.raises(UnsupportedError, match="Export IR takes it as it was at edge"):
        program.to("planned").fx_text()


def test_the_weights_are_the_drivers() -> None:
    """Packed, and not beside those that the program had."""
    assert sorted(edge().to("buffers").state) == ["forward.constant_0", "forward.constant_1"]


ONE = IntegerAttr(1, i64)
DAMAGED: dict[str, tuple[str, Any]] = {
    "inputs": ("the inputs are no tensors", ArrayAttr([IntegerAttr(7, i64)])),
    "constants": ("no data for the constant", ArrayAttr([StringAttr("x")])),
    "copies": ("is no pair", ArrayAttr([ONE])),
    "conditions": ("is no condition", ArrayAttr([ArrayAttr([ArrayAttr([]), StringAttr("m")])])),
    "checks": ("is no check", ArrayAttr([StringAttr("func.func private @check()")])),
}


@pytest.mark.parametrize("part", DAMAGED)
def test_drivers_that_do_not_say_how_they_are_called(part: str) -> None:
    program = edge().to("buffers")
    driver = program.method()
    said = driver.attributes[PLAN]
    assert isinstance(said, DictionaryAttr)
    message, attr = DAMAGED[part]
    driver.attributes[PLAN] = DictionaryAttr({**said.data, part: attr})
    with pytest.raises(LoadError, match=message):
        xdsl_exir.compile(program)
    driver.attributes[PLAN] = DictionaryAttr({name: attr for name, attr in said.data.items() if name != part})
    with pytest.raises(LoadError, match=f"has no list '{part}'"):
        xdsl_exir.compile(program)


def test_dispatches_that_are_missing() -> None:
    program = edge().to("buffers")
    for function in list(program.module.ops):
        if isinstance(function, FuncOp) and KERNEL in function.attributes:
            function.detach()
            function.erase()
    with pytest.raises(ExirError, match=r"exir\.kernel_"):
        xdsl_exir.compile(program, "native")
