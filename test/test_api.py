"""The Python API: names, what they return and leave alone, how a model is called, which errors there are."""

from __future__ import annotations

import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

import xdsl_exir
from xdsl_exir.program import Program, context

torch = pytest.importorskip("torch")

# What torch.export warns of is its own use of its own functions.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:torch",
    "ignore:`isinstance\\(treespec, LeafSpec\\)` is deprecated:FutureWarning",
)

DIGITS = Path(__file__).parents[1] / "bench" / "digits" / "digits.pt2"


class Mlp(torch.nn.Module):
    """Two layers, a buffer that counts calls."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.calls.add_(1)
        return torch.nn.functional.silu(self.second(torch.relu(self.first(x))))


X = torch.linspace(-1, 1, 12).reshape(3, 4)


@pytest.fixture(scope="module")
def model() -> Any:
    return Mlp().eval()


@pytest.fixture(scope="module")
def exported(model: Any) -> Any:
    return torch.export.export(model, (X,))


@pytest.fixture
def program(exported: Any) -> Program:
    return xdsl_exir.from_exported_program(exported)


def names(program: Program) -> list[str]:
    return [op.name for op in program.module.walk() if op.name.startswith(("aten.", "edge."))]


def text_program(text: str) -> Program:
    return Program(Parser(context().clone(), text).parse_module())


# --- programs ------------------------------------------------------------------------------------------------


def test_public_names() -> None:
    assert set(xdsl_exir.__all__) >= {
        "load",
        "from_exported_program",
        "compile",
        "Program",
        "Executable",
        "ExirError",
        "UnsupportedError",
        "InputError",
        "LoadError",
        "VerificationError",
    }
    for name in xdsl_exir.__all__:
        assert getattr(xdsl_exir, name).__module__.startswith("xdsl_exir.")
    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        _ = xdsl_exir.nonesuch  # pyright: ignore


def test_load_and_from_exported_program_agree(program: Program, exported: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    torch.export.save(exported, str(path))
    for given in (path, str(path)):
        loaded = xdsl_exir.load(given)
        assert str(loaded) == str(program)
        assert loaded.text(locations=True) == program.text(locations=True)
        assert (
            set(loaded.state)
            == set(program.state)
            == {
                "first.weight",
                "first.bias",
                "second.weight",
                "second.bias",
                "calls",
            }
        )


def test_several_methods(exported: Any, model: Any) -> None:
    class Scaled(torch.nn.Module):
        def __init__(self, base: Any) -> None:
            super().__init__()
            self.first = base.first

        def forward(self, x: Any, scale: Any) -> Any:
            return self.first(x) * scale

    both = {"forward": exported, "scaled": torch.export.export(Scaled(model), (X, torch.tensor(2.0)))}
    program = xdsl_exir.from_exported_program(both)
    assert list(program.methods) == ["forward", "scaled"]
    assert program.method().sym_name.data == "forward"
    run = xdsl_exir.compile(program.to_edge())
    scaled = run.method("scaled")(X.numpy(), np.float32(2))
    np.testing.assert_allclose(scaled, (model.first(X) * 2).detach(), rtol=1e-5)
    np.testing.assert_allclose(run(X.numpy()), run.method("forward")(X.numpy()))
    assert run.array("first.weight") is run.array("first.weight")
    for call in (program.method, run.method):
        with pytest.raises(
            xdsl_exir.ExirError, match="no method 'nonesuch'; the program has forward, scaled"
        ):
            call("nonesuch")


def test_text_and_module(program: Program) -> None:
    assert isinstance(program.module, ModuleOp)
    assert str(program).startswith("builtin.module {\n  func.func @forward(")
    assert str(program) == program.text()
    assert '"aten.linear"(' in program.text(generic=True)
    assert f'loc("{__file__}":' in program.text(locations=True)
    assert Parser(context().clone(), str(program)).parse_module().is_structurally_equivalent(program.module)


def test_transforming_leaves_the_old_program(program: Program) -> None:
    before = str(program)
    core, edge = program.to_core(), program.to_edge()
    assert "aten.silu" in names(program)
    assert "aten.silu" not in names(core)
    assert all(name.startswith("aten.") for name in names(core))
    assert all(name.startswith("edge.aten.") for name in names(edge))
    assert str(core.to_edge()) == str(edge)
    assert str(edge.to_edge()) == str(edge)
    assert str(program) == before
    assert core.state is program.state
    assert program.module is not core.module
    assert program.verify() is program


def test_keep(program: Program) -> None:
    assert "aten.silu" in names(program.to_core(keep=("aten.silu",)))
    assert "edge.aten.silu" in names(program.to_edge(keep=("aten.silu",)))
    with pytest.raises(xdsl_exir.SpecError, match=r"unknown operator 'aten\.nonesuch'"):
        program.to_core(keep=("aten.nonesuch",))


class Rename(ModulePass):
    """Gives the method another name."""

    name = "rename"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from xdsl.dialects.builtin import StringAttr

        for function in op.ops:
            function.properties["sym_name"] = StringAttr("renamed")


class Break(ModulePass):
    """Leaves an operation with a wrong result type."""

    name = "break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from xdsl.dialects.builtin import TensorType, f32

        for inner in op.walk():
            if inner.name == "aten.relu":
                inner.results[0]._type = TensorType(f32, [7])  # pyright: ignore


def test_transform(program: Program) -> None:
    assert list(program.transform(Rename()).methods) == ["renamed"]
    assert str(program.transform("decompose-aten,aten-to-edge")) == str(program.to_edge())
    assert program.transform("canonicalize,cse,dce").methods.keys() == {"forward"}
    for pipeline, message in (
        ("nonesuch", "nonesuch"),
        ("canonicalize,,", "pipeline"),
        ("decompose-aten{keep=1}", "pipeline"),
        ("decompose-aten{nonesuch=1}", "pipeline"),
    ):
        with pytest.raises(xdsl_exir.ExirError, match=message):
            program.transform(pipeline)
    with pytest.raises(
        xdsl_exir.VerificationError, match=r"test_api.py:\d+: aten.relu: result 0 is"
    ) as raised:
        program.transform(Break())
    assert isinstance(raised.value, xdsl_exir.ExirError)


# --- running -------------------------------------------------------------------------------------------------


def test_run_at_every_stage(program: Program, model: Any) -> None:
    expected = model(X).detach().numpy()
    for stage in (program, program.to_core(), program.to_edge()):
        run = xdsl_exir.compile(stage, target="interpreter", fallback="error")
        np.testing.assert_allclose(run(X.numpy()), expected, rtol=1e-5, atol=1e-6)
        [flat] = run.flat([X.numpy()])
        assert isinstance(flat, np.ndarray)
        assert flat.dtype == np.float32
        np.testing.assert_allclose(flat, expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(run(x=X.numpy()), expected, rtol=1e-5, atol=1e-6)


def test_buffers_persist_and_are_the_executables_own(program: Program, exported: Any) -> None:
    one, other = xdsl_exir.compile(program), xdsl_exir.compile(program)
    before = exported.state_dict["calls"].clone()
    for count in (1, 2, 3):
        one(X.numpy())
        assert one.array("calls") == before.item() + count
    assert other.array("calls") == before.item()
    assert torch.equal(exported.state_dict["calls"], before)


def test_bfloat16() -> None:
    import ml_dtypes

    class Half(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.to(torch.bfloat16) * 1.5

    run = xdsl_exir.compile(xdsl_exir.from_exported_program(torch.export.export(Half(), (X,))))
    result = run(X.numpy())
    assert result.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(result.astype(np.float32), (X.to(torch.bfloat16) * 1.5).float().numpy())


Point = namedtuple("Point", ["x", "y"])


@pytest.fixture(scope="module")
def tree() -> tuple[Any, Callable[..., Any]]:
    class Tree(torch.nn.Module):
        def forward(self, table: Any, pair: Any, *, scale: Any, options: Any = None) -> Any:
            total = table["a"] + table["b"][0] + pair.x * pair.y
            return {"total": total, "rest": [(total * scale, Point(total + 1, 3)), None]}

    torch.utils._pytree._register_namedtuple(Point, serialized_type_name="test_api.Point")
    args = {"a": X, "b": [X + 1]}, Point(X * 2, X - 1)
    kwargs = {"scale": torch.tensor(3.0)}
    ep = torch.export.export(Tree(), args, kwargs)
    return xdsl_exir.compile(xdsl_exir.from_exported_program(ep)), Tree()


def as_numpy(value: Any) -> Any:
    return torch.utils._pytree.tree_map(
        lambda leaf: leaf.numpy() if isinstance(leaf, torch.Tensor) else leaf, value
    )


def test_pytrees(tree: Any) -> None:
    run, model = tree
    args = {"a": X, "b": [X + 1]}, Point(X * 2, X - 1)
    expected = as_numpy(model(*args, scale=torch.tensor(3.0)))
    result = run(*as_numpy(args), scale=np.float32(3))
    assert list(result) == ["total", "rest"]
    [(scaled, point), nothing] = result["rest"]
    assert nothing is None
    assert type(result["rest"][0]) is tuple
    assert point._fields == ("x", "y")
    assert point.y == 3
    np.testing.assert_allclose(result["total"], expected["total"])
    np.testing.assert_allclose(scaled, expected["rest"][0][0])
    np.testing.assert_allclose(point.x, expected["rest"][0][1].x)
    by_name = run(table=as_numpy(args[0]), pair=as_numpy(args[1]), scale=np.float32(3))
    np.testing.assert_allclose(by_name["total"], expected["total"])
    flat = run.flat([as_numpy(X), as_numpy(X + 1), as_numpy(X * 2), as_numpy(X - 1), np.float32(3)])
    assert flat[3:] == [3, None]
    assert len(flat) == 5


@pytest.mark.parametrize(
    "change",
    [
        lambda table, pair: (({"a": table["a"]}, pair), {}),
        lambda table, pair: (({**table, "c": table["a"]}, pair), {}),
        lambda table, pair: (({**table, "b": table["a"]}, pair), {}),
        lambda table, pair: (({**table, "b": table["b"] * 2}, pair), {}),
        lambda table, pair: ((table, [*pair]), {}),
        lambda table, pair: ((table,), {}),
        lambda table, pair: ((table, pair, pair), {}),
        lambda table, pair: ((table, pair), {"nonesuch": 1}),
        lambda table, pair: ((table, pair), {"table": table}),
        lambda table, pair: ((table, pair), {"options": 7}),
    ],
)
def test_inputs_of_another_structure(tree: Any, change: Any) -> None:
    run, _ = tree
    args, kwargs = change({"a": X.numpy(), "b": [X.numpy()]}, Point(X.numpy(), X.numpy()))
    with pytest.raises(xdsl_exir.InputError):
        run(*args, **{"scale": np.float32(3), **kwargs})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((3, 4)), "input 'x' is float64, expected float32"),
        (np.zeros((3, 4), np.int64), "input 'x' is int64, expected float32"),
        (np.zeros(4, np.float32), "input 'x' has 1 dimensions, expected 2"),
        (np.zeros((3, 5), np.float32), "input 'x', dimension 1: 5 is not 4"),
        (np.zeros((2, 4), np.float32), "input 'x', dimension 0: 2 is not 3"),
        ("text", "input 'x' is str, expected float32"),
        (None, "input 'x' is NoneType, expected float32"),
        (torch.zeros(3, 4, dtype=torch.bfloat16), "input 'x' is bfloat16, expected float32"),
        (torch.zeros(3, 4, device="meta"), "input 'x' is no array: .*meta"),
        (torch.zeros(3, 4).to_sparse(), "input 'x' is no array: .*[Ss]parse"),
        (np.zeros((3, 4), ">f8"), "input 'x' is >f8, expected float32"),
    ],
)
def test_inputs_of_another_type(program: Program, value: Any, message: str) -> None:
    run = xdsl_exir.compile(program)
    for call in (lambda: run(value), lambda: run.flat([value])):
        with pytest.raises(xdsl_exir.InputError, match=message):
            call()


def test_inputs_that_are_written_to() -> None:
    """They are the caller's arrays, at any strides, but not read-only ones."""

    class Writing(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.add_(1).sum()

    run = xdsl_exir.compile(
        xdsl_exir.from_exported_program(torch.export.export(Writing(), (torch.zeros(3),)))
    )
    table = np.zeros((3, 2), np.float32)
    assert run(table[:, 0]) == 3
    np.testing.assert_array_equal(table, [[1, 0]] * 3)
    table.flags.writeable = False
    with pytest.raises(xdsl_exir.InputError, match="input 'x' is written to, and is read-only"):
        run(table[:, 0])


def test_inputs_that_are_written_to_overlap_nothing() -> None:
    """Themselves, where PyTorch raises too, or other inputs: what these hold when they are read is not said."""

    class Writing(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            x.add_(1)
            return y * 2

    zeros = torch.zeros(2, 3)
    run = xdsl_exir.compile(
        xdsl_exir.from_exported_program(torch.export.export(Writing(), (zeros, zeros + 1)))
    )
    memory = np.zeros(16, np.float32)
    strided = np.lib.stride_tricks.as_strided
    for strides in ((0, 4), (12, 0), (4, 4), (-4, 4), (8, 4)):
        start = memory[4:]
        with pytest.raises(
            xdsl_exir.InputError, match="more than one element of it refers to a single memory"
        ):
            run(strided(start, (2, 3), strides), np.zeros((2, 3), np.float32))
    with pytest.raises(
        RuntimeError, match="more than one element of the written-to tensor refers to a single"
    ):
        torch.zeros(3).expand(2, 3).add_(1)
    x = memory[:6].reshape(2, 3)
    for y in (x, memory[5:11].reshape(2, 3), x[::-1, ::-1]):
        with pytest.raises(
            xdsl_exir.InputError, match="input 'x' is written to, and shares memory with input 'y'"
        ):
            run(x, y)
    assert not memory.any()
    table = np.zeros((4, 6), np.float32)
    for x, y in (
        (table[::2, :3], table[1::2, :3]),
        (table[:2, ::2], table[:2, 1::2]),
        (table[:2, 2::-1], table[2:, 3:]),
    ):
        np.testing.assert_array_equal(run(x, y), 2 * y)
    assert table.sum() == 18
    np.testing.assert_array_equal(
        run(np.zeros((2, 3), np.float32), np.broadcast_to(np.float32(3), (2, 3))), 6
    )


def test_masked_arrays_are_refused() -> None:
    class Plus(torch.nn.Module):
        def forward(self, x: Any, n: Any) -> Any:
            return x + n

    program = torch.export.export(Plus(), (torch.zeros(3), 2.0))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(program))
    values = np.arange(3, dtype=np.float32)
    for mask in (False, [False, True, False]):
        with pytest.raises(xdsl_exir.InputError, match="input 'x' is a masked array"):
            run.flat([np.ma.masked_array(values, mask)])


def test_number_of_inputs(program: Program) -> None:
    run = xdsl_exir.compile(program)
    for inputs in ([], [X.numpy(), X.numpy()]):
        with pytest.raises(xdsl_exir.InputError, match=f"forward takes 1 inputs, got {len(inputs)}"):
            run.flat(inputs)
        with pytest.raises(xdsl_exir.InputError):
            run(*inputs)


@pytest.fixture(scope="module")
def dynamic() -> Any:
    class Dynamic(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return torch.cat([x, x]).sum(1) + y[: 2 * x.shape[0]]

    n = torch.export.Dim("n", min=2, max=8)
    shapes = {"x": {0: n}, "y": {0: 2 * n + 1}}
    return xdsl_exir.from_exported_program(
        torch.export.export(Dynamic(), (X, torch.zeros(7)), dynamic_shapes=shapes)
    )


def test_dynamic_sizes(dynamic: Program) -> None:
    for stage in (dynamic, dynamic.to_core(), dynamic.to_edge()):
        run = xdsl_exir.compile(stage)
        for size in (2, 3, 8):
            x = np.ones((size, 4), np.float32)
            np.testing.assert_array_equal(
                run(x, np.zeros(2 * size + 1, np.float32)), np.full(2 * size, 4, np.float32)
            )
        with pytest.raises(
            xdsl_exir.InputError,
            match=r"input 'y', dimension 0: 8 is not 2 \* s\d+ \+ 1 = 7, since input 'x', dimension 0 is 3",
        ):
            run(np.ones((3, 4), np.float32), np.zeros(8, np.float32))


def test_sizes_out_of_range(dynamic: Program) -> None:
    run = xdsl_exir.compile(dynamic)
    broken = {1: r"s\d+ = 1; not 2 \* s\d+ \+ 1 >= 5", 9: r"9 is more than 8 \(s\d+ <= 8\)"}
    for size, message in broken.items():
        with pytest.raises(xdsl_exir.InputError, match=rf"input 'x', dimension 0: {message}"):
            run(np.ones((size, 4), np.float32), np.zeros(2 * size + 1, np.float32))


# --- errors --------------------------------------------------------------------------------------------------


def test_one_root_of_all_errors() -> None:
    for name in ("LoadError", "SpecError", "VerificationError", "InputError", "UnsupportedError"):
        assert issubclass(getattr(xdsl_exir, name), xdsl_exir.ExirError)
    assert issubclass(xdsl_exir.UnsupportedError, NotImplementedError)


def test_unknown_target(program: Program) -> None:
    with pytest.raises(xdsl_exir.ExirError, match="no target 'abacus'; there is interpreter"):
        xdsl_exir.compile(program, target="abacus")


def test_everything_unsupported_is_listed() -> None:
    for name in ("twist", "turn"):
        torch.library.define(f"odd::{name}", "(Tensor x) -> Tensor")
        torch.library.impl(f"odd::{name}", "CompositeExplicitAutograd", torch.clone)
        torch.library.register_fake(f"odd::{name}", torch.empty_like)

    class Odd(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            y = torch.ops.odd.twist(x).relu()
            return torch.ops.odd.turn(y) + 1

    exported = torch.export.export(Odd(), (X,))
    with pytest.raises(xdsl_exir.UnsupportedError) as raised:
        xdsl_exir.from_exported_program(exported)
    error = raised.value
    assert [item.operator for item in error.items] == ["odd.twist", "odd.turn"]
    assert all(f"{Path(__file__).name}:" in item.location for item in error.items)
    for item in error.items:
        assert f"{item.operator}: unknown operator: no operators of namespace 'odd' are registered" in str(
            error
        )


def test_compile_lists_operators_without_kernel(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    from xdsl_exir.interpreter.operators import IMPLS
    from xdsl_exir.transforms.decompositions import DECOMPOSITIONS

    removed = ("aten.relu", "aten.addmm", "aten.linear")
    kept = [
        (registry, name, registry.override(name, None))
        for registry in (IMPLS, DECOMPOSITIONS)
        for name in removed
    ]
    try:
        with pytest.raises(xdsl_exir.UnsupportedError) as raised:
            xdsl_exir.compile(program)
    finally:
        for registry, name, function in kept:
            if function is not None:
                registry.override(name, function)
    assert {item.operator for item in raised.value.items} == {"aten.relu", "aten.linear"}
    assert all("test_api.py:" in item.location for item in raised.value.items)


def test_a_program_without_methods() -> None:
    with pytest.raises(xdsl_exir.ExirError, match="without methods"):
        xdsl_exir.compile(Program(ModuleOp([])))


def test_programs_of_text() -> None:
    program = text_program("""
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = aten.silu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}""")
    run = xdsl_exir.compile(program.to_edge())
    [result] = run(np.zeros(2, np.float32))
    assert result.tolist() == [0, 0]
    with pytest.raises(xdsl_exir.InputError, match="calling convention is not known"):
        run(x=np.zeros(2, np.float32))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises((xdsl_exir.LoadError, FileNotFoundError)):
        xdsl_exir.load(tmp_path / "nonesuch.pt2")


# --- what is imported ----------------------------------------------------------------------------------------


def imported(code: str, *modules: str) -> list[str]:
    """Which of these modules a fresh process has imported after running code."""
    script = f"import sys\n{code}\nprint(*[name for name in {modules!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_the_package_is_light() -> None:
    assert imported("import xdsl_exir", "numpy", "xdsl", "torch", "sympy", "yaml", "ml_dtypes") == []
    errors = imported(
        "from xdsl_exir import ExirError", "numpy", "torch", "sympy", "yaml", "xdsl.dialects.builtin"
    )
    assert errors == []


def test_dialects_need_neither_numpy_nor_sympy() -> None:
    code = "from xdsl_exir.dialects import aten, edge, exir; aten.dialect(), edge.dialect(), exir.dialect()"
    assert imported(code, "numpy", "torch", "sympy", "yaml", "scipy") == []


@pytest.mark.parametrize(
    "code",
    [
        f"import xdsl_exir; xdsl_exir.load({str(DIGITS)!r})",
        f"import xdsl_exir; xdsl_exir.load({str(DIGITS)!r}).to_edge()",
        f"import xdsl_exir, numpy; p = xdsl_exir.load({str(DIGITS)!r}); run = xdsl_exir.compile(p.to_edge()); "
        "run.flat([numpy.zeros(run.method().types[-1].get_shape(), 'uint8')])",
    ],
)
def test_loading_and_running_need_no_torch(code: str) -> None:
    assert imported(code, "torch", "llvmlite", "sympy") == []
