"""`fallback="interpreter"`: which parts are native, that results are the interpreter's, and what is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch._higher_order_ops.while_loop import while_loop
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.errors import ExirError, UnsupportedError
from xdsl_exir.interpreter.generator import Generator
from xdsl_exir.interpreter.interpreter import RNG, OperatorFunctions
from xdsl_exir.lowering import LOWERINGS
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.executable import Executable
from xdsl_exir.runtime.fallback import SplitEngine, split
from xdsl_exir.tools.main import main
from xdsl_exir.transforms.fold_constants import constant_arguments

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning"
)

X = torch.linspace(-2, 2, 12).reshape(3, 4)


@pytest.fixture(autouse=True)
def _no_lowering_of_sin() -> Iterator[None]:
    """`sin` stands for what cannot be lowered, whatever gains a lowering."""
    before = LOWERINGS.override("aten.sin", None)
    yield
    LOWERINGS.override("aten.sin", before)


class Net(torch.nn.Module):
    """A function as module, with a layer and a buffer that it may use."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("calls", torch.zeros(()))
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(self, *args)


def export(function: Callable[..., Any], *inputs: torch.Tensor, **options: Any) -> Program:
    with torch.no_grad():
        return xdsl_exir.from_exported_program(torch.export.export(Net(function).eval(), inputs, **options))


def engine_of(executable: Executable) -> SplitEngine:
    assert isinstance(executable.engine, SplitEngine)
    return executable.engine


def check(program: Program, *inputs: torch.Tensor, calls: int = 1) -> Executable:
    """Compares native code with fallback to the interpreter, over some calls; returns it."""
    mixed = xdsl_exir.compile(program, "native", fallback="interpreter")
    whole = xdsl_exir.compile(program)
    for _ in range(calls):
        outputs = [run.flat([x.numpy().copy() for x in inputs]) for run in (mixed, whole)]
        for got, wanted in zip(*outputs, strict=True):
            assert got.dtype == wanted.dtype
            assert got.shape == wanted.shape
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    return mixed


def in_the_middle(self: Net, x: torch.Tensor) -> Any:
    return torch.relu(self.linear(torch.sin(torch.relu(self.linear(x)))))


def beside(self: Net, x: torch.Tensor) -> Any:
    return torch.relu(self.linear(x)), torch.sin(x), x * 2


def two_branches(self: Net, x: torch.Tensor) -> Any:
    # The first branch has one alternation more than the second: its middle joins the other's end.
    y = torch.sin(torch.sin(x * 2) + 1) * 3
    return y, torch.sin(x + 1) - 1


def at_the_ends(self: Net, x: torch.Tensor) -> Any:
    return torch.sin(self.linear(torch.sin(x)))


def several_results(self: Net, x: torch.Tensor) -> Any:
    values, indices = torch.topk(torch.sin(self.linear(x)), 2)
    return values, indices + 1, torch.sort(values.sin(), dim=0).values.exp()


def mutates(self: Net, x: torch.Tensor) -> Any:
    self.calls.add_(1)
    x.mul_(2)
    return torch.sin(self.linear(x)) + self.calls


def complex_middle(self: Net, x: torch.Tensor) -> Any:
    z = (x * 2).to(torch.complex64)
    return torch.view_as_real((z * z).sin()).sum(-1) + self.linear(x)


def complex_constant(self: Net, x: torch.Tensor) -> Any:
    factors = torch.arange(4.0).exp().to(torch.complex64)
    return torch.view_as_real((x.relu().to(torch.complex64) * factors).sin()).exp()


def branches(self: Net, x: torch.Tensor) -> Any:
    y = self.linear(x)
    return torch.cond(y.sum() > 0, lambda a: torch.sin(a), lambda a: a.neg(), (y,)) * 2


def constants_and_inputs(self: Net, x: torch.Tensor) -> Any:
    return torch.arange(3).sin(), x.clone(), self.linear.weight * 1


@pytest.mark.parametrize(
    ("function", "pieces"),
    [
        (in_the_middle, 2),
        (beside, 1),
        (two_branches, 3),
        (at_the_ends, 1),
        (several_results, 3),
        (mutates, 2),
        (complex_middle, 2),
        (complex_constant, 2),
        (branches, 2),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_as_few_pieces_as_can_be_with_the_interpreters_results(
    function: Callable[..., Any], pieces: int
) -> None:
    mixed = check(export(function, X), X, calls=2)
    assert len(engine_of(mixed).pieces) == pieces
    assert mixed.fallbacks


def test_constants_and_inputs_as_results() -> None:
    mixed = check(export(constants_and_inputs, X), X, calls=2)
    assert not mixed.fallbacks  # what depends on no input was computed when it was compiled


def test_written_inputs_and_buffers() -> None:
    program = export(mutates, X)
    given = {target: X.numpy().copy() for target in ("interpreter", "native")}
    runs = {target: xdsl_exir.compile(program, target, fallback="interpreter") for target in given}
    for _ in range(2):
        for target, run in runs.items():
            run.flat([given[target]])
    np.testing.assert_allclose(given["native"], X.numpy() * 4)
    assert runs["native"].array("calls") == 2


def test_random_numbers_are_drawn_in_order() -> None:
    def function(self: Net, x: torch.Tensor) -> Any:
        first = torch.rand_like(self.linear(self.linear(x)) + 1)
        return first * 2, torch.rand(3) + 1, torch.rand_like(first)

    program = export(function, X)
    results: list[list[Any]] = []
    for target in ("interpreter", "native"):
        run = xdsl_exir.compile(program, target)
        assert not run.fallbacks  # what draws is the host's
        drawing = ["edge.aten.rand_like", "edge.aten.rand", "edge.aten.rand_like"]
        assert [item.operator for item in run.hosted] == (drawing if target == "native" else [])
        engine: Any = run.engine
        engine.interpreter.set_data(OperatorFunctions, RNG, Generator(7))
        results.append(run.flat([X.numpy()]))
    for got, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_draws_in_branches_and_loops(tmp_path: Path) -> None:
    """The host runs these, and what is around the draws natively; weights stay constant there, numbers are eager's, saved or not."""

    class Noisy(Net):
        def forward(self, x: torch.Tensor) -> Any:
            def noisy(x: torch.Tensor) -> torch.Tensor:
                return torch.relu(x @ self.linear.weight) + torch.rand_like(x)

            def turn(at: torch.Tensor, x: torch.Tensor) -> Any:
                return at + 1, torch.cond(x.sum() > 6, lambda x: x @ x.t() @ x / 50, noisy, (x,))

            first = torch.rand_like(x) + noisy(x)
            _, last = while_loop(lambda at, _: at < 5, turn, (torch.tensor(0), first))
            return last + torch.randn(3, 4)

    model = Noisy(torch.relu).eval()
    with torch.no_grad():
        program = xdsl_exir.from_exported_program(torch.export.export(model, (X,)))
    compiled = xdsl_exir.compile(program, "native")
    compiled.save(tmp_path / "drawn.exir")
    for run in (compiled, xdsl_exir.load_executable(tmp_path / "drawn.exir")):
        torch.manual_seed(3)
        run.manual_seed(3)
        for _ in range(2):
            with torch.no_grad():
                expected = model(X)
            np.testing.assert_allclose(run(X), expected.numpy(), rtol=1e-5, atol=1e-6)
    assert [item.operator for item in compiled.hosted].count("edge.aten.rand_like") == 3
    outer = engine_of(compiled).outer
    [loop] = [op for op in outer.walk() if op.name == "higher_order.while_loop"]
    assert {op.name for op in loop.walk() if op.name.startswith("edge.")} == {"edge.aten.rand_like"}


@pytest.mark.parametrize(("size", "hosted"), [(16, []), (17, ["edge.aten._linalg_svd"])])
def test_lapack_has_what_loops_take_long_for(size: int, hosted: list[str], tmp_path: Path) -> None:
    """In this process; C libraries have the loops."""
    x = torch.randn(size, size)
    program = export(lambda self, x: torch.linalg.svdvals(x) + 1, x)
    run = xdsl_exir.compile(program, "native")
    assert [item.operator for item in run.hosted] == hosted
    np.testing.assert_allclose(run.flat([x.numpy()])[0], torch.linalg.svdvals(x) + 1, rtol=1e-5)
    assert xdsl_exir.compile_library(program, tmp_path, "net").library.exists()


def test_lapack_has_rotations_of_unknown_size() -> None:
    """Unless a side is known to be short."""
    free, x = torch.export.Dim.AUTO, torch.randn(20, 3)
    both = export(lambda self, x: torch.linalg.svdvals(x), x, dynamic_shapes=(({0: free, 1: free},),))
    one = export(lambda self, x: torch.linalg.svdvals(x), x, dynamic_shapes=(({0: free},),))
    for program, hosted in ((both, 1), (one, 0)):
        run = xdsl_exir.compile(program, "native", fallback="error")
        assert len(run.hosted) == hosted
        np.testing.assert_allclose(run.flat([x.numpy()])[0], torch.linalg.svdvals(x), rtol=1e-5)


def test_symbolic_sizes_are_no_reason_to_fall_back() -> None:
    size = torch.export.Dim("size", min=2, max=16)
    program = export(lambda self, x: self.linear(x).relu(), X, dynamic_shapes=(({0: size},),))
    mixed = check(program, torch.rand(5, 4))
    assert not isinstance(mixed.engine, SplitEngine)
    program = export(
        lambda self, x: (self.linear(x).sin() + x.shape[0]).relu(), X, dynamic_shapes=(({0: size},),)
    )
    for rows in (2, 5, 16):
        mixed = check(program, torch.rand(rows, 4))
        assert engine_of(mixed).pieces
        assert {item.operator for item in mixed.fallbacks} == {"edge.aten.sin"}


def test_pieces_that_see_no_symbol_as_a_size() -> None:
    """What is passed to a native piece has sizes such as `(s0 - 1) // 2 + 1` only; it is told the symbol."""

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        half = x[::2].sin()
        return (half * 2).relu() + half[0, 0]

    size = torch.export.Dim("n", min=3, max=50)
    program = export(forward, X, dynamic_shapes=(({0: size},),))
    run = xdsl_exir.compile(program, target="native", fallback="interpreter")
    for count in (5, 8):
        x = torch.randn(count, X.shape[1])
        torch.testing.assert_close(torch.from_numpy(run.flat([x.numpy()])[0]), forward(None, x))


def test_native_throughout_needs_no_interpreter() -> None:
    mixed = check(export(lambda self, x: self.linear(x).relu(), X), X)
    assert not isinstance(mixed.engine, SplitEngine)
    assert mixed.fallbacks == ()


def test_weights_stay_constant_in_pieces() -> None:
    cut = split(export(in_the_middle, X))
    for piece in cut.pieces.methods.values():
        state = constant_arguments(cut.pieces.module, piece, cut.pieces.state)
        [given] = [arg for arg in piece.args if arg not in state]
        assert given.name_hint not in ("p_linear_weight", "p_linear_bias")
        assert {array.shape for array in state.values()} == {(4, 4), (4,)}


def test_state_that_another_method_writes_is_no_constant() -> None:
    def reads(self: Net, x: torch.Tensor) -> Any:
        return x + self.calls

    with torch.no_grad():
        methods = {
            name: torch.export.export(Net(function).eval(), (X,))
            for name, function in {"reads": reads, "writes": mutates}.items()
        }
    program = xdsl_exir.from_exported_program(methods)
    for target in ("interpreter", "native"):
        run = xdsl_exir.compile(program, target, fallback="interpreter")
        run.method("writes").flat([X.numpy().copy()])
        np.testing.assert_allclose(run.method("reads").flat([X.numpy()])[0], X.numpy() + 1)


def test_assertions_that_compiling_settles() -> None:
    mixed = check(export(lambda self, x: (x.relu().double() * 2).sin() + 1, X), X)
    assert len(engine_of(mixed).pieces) == 2
    assert {item.operator for item in mixed.fallbacks} == {"edge.aten.sin"}
    text = """
    func.func @forward(%x: tensor<2xf32>) -> tensor<2xf32> {
      edge.aten._assert_scalar(self = 0, assert_msg = "never") : () -> ()
      %0 = edge.aten.sin(%x) : (tensor<2xf32>) -> tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }"""
    program = Program(Parser(context().clone(), text).parse_module())
    with pytest.raises(ExirError, match="never"):
        xdsl_exir.compile(program, "native", fallback="interpreter")


def test_reports_operators_reasons_and_lines() -> None:
    program = export(in_the_middle, X)
    [item] = xdsl_exir.compile(program, "native", fallback="interpreter").fallbacks
    assert (item.operator, item.reason) == ("edge.aten.sin", "no lowering")
    assert "test_fallback.py:" in item.location
    with pytest.raises(UnsupportedError, match=r"aten\.sin: no lowering \(.*test_fallback\.py:"):
        xdsl_exir.compile(program, "native")
    with pytest.raises(ExirError, match="no fallback 'eager'"):
        xdsl_exir.compile(program, "native", fallback="eager")  # pyright: ignore


def test_command_line_says_what_the_interpreter_runs(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path, inputs = tmp_path / "model.mlir", tmp_path / "x.npy"
    path.write_text("""
    func.func @forward(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = edge.aten.relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
      %1 = edge.aten.sin(%0) : (tensor<2xf32>) -> tensor<2xf32>
      func.return %1 : tensor<2xf32>
    }""")
    np.save(inputs, np.array([-1, 2], np.float32))
    command = ["run", str(path), "--inputs", str(inputs), "--target", "native"]
    assert main(command) == 1
    assert "no lowering" in capsys.readouterr().err
    assert main([*command, "--fallback", "interpreter"]) == 0
    captured = capsys.readouterr()
    assert "in the interpreter: edge.aten.sin: no lowering" in captured.err  # what takes long is said before
    assert "0.9093" in captured.out


@pytest.mark.usefixtures("native_tools")
def test_checks_of_what_tensors_hold() -> None:
    """What asserts about elements raises after native code as it does in the interpreter; nothing is left to that."""

    class Model(torch.nn.Module):
        def forward(self, labels: Any, matrix: Any) -> Any:
            return torch.nn.functional.one_hot(labels, 4), torch.linalg.inv(matrix)

    inputs = (torch.tensor([0, 3]), torch.eye(3) * 2)
    program = xdsl_exir.from_exported_program(torch.export.export(Model(), inputs))
    native = xdsl_exir.compile(program, target="native")
    for run in (xdsl_exir.compile(program), native):
        hot, inverse = run(*(x.numpy() for x in inputs))
        np.testing.assert_array_equal(hot, np.eye(4, dtype=np.int64)[[0, 3]])
        np.testing.assert_array_equal(inverse, np.eye(3, dtype=np.float32) / 2)
        with pytest.raises(xdsl_exir.ExirError, match="smaller than num_classes"):
            run(np.array([0, 4]), np.eye(3, dtype=np.float32))
        with pytest.raises(xdsl_exir.ExirError, match=r"singular.* \(in \S+ .*test_fallback\.py:\d+\)"):
            run(np.array([0, 1]), np.zeros((3, 3), np.float32))
