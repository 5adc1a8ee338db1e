"""Control flow: exported by PyTorch, imported, rewritten, cleaned up and run, against eager; and what is refused."""

from __future__ import annotations

import copy
import dataclasses as dc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as torch_map
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop, while_loop_stack_output_op
from upstream_passes import BUFFERIZE
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.errors import ExirError, InputError, LoadError, UnsupportedError, VerificationError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers import control_flow as importer
from xdsl_exir.importers.exported_program import read_exported_program
from xdsl_exir.interpreter.interpreter import make_interpreter, run_function
from xdsl_exir.lowering import mlir
from xdsl_exir.program import Program, context
from xdsl_exir.runtime import linking
from xdsl_exir.transforms.verify import violations_of

Inputs = tuple[torch.Tensor, ...]


class Function(torch.nn.Module):
    """A function as module, with a weight, a bias and a buffer that it may capture."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("offset", torch.tensor([0.5, -1.0, 2.0]))
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(self, *args)


def captured_weights(self: Function, x: torch.Tensor) -> Any:
    def true_fn(x: torch.Tensor) -> Any:
        y = self.linear(x)
        return y.sin(), y.sum(), x * 1

    def false_fn(x: torch.Tensor) -> Any:
        y = x + self.offset
        y.add_(1)
        return y.cos(), y.sum(), x + 1

    return torch.cond(x.sum() > 0, true_fn, false_fn, (x,))


def nested_cond(self: Function, x: torch.Tensor) -> Any:
    def true_fn(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 5, lambda x: x.relu(), lambda x: x * 2, (x,))

    return torch.cond(x.sum() > 0, true_fn, lambda x: x.cos(), (x,))


def writes_through_views(self: Function, x: torch.Tensor) -> Any:
    def true_fn(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y[0].add_(1)
        y.mul_(3)
        return y

    return torch.cond(x.sum() > 0, true_fn, lambda x: x * 1, (x,))


def sizes_that_join(self: Function, x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x[:2] + 1, lambda x: x[:3] * 2, (x,))


def numbers_that_join(self: Function, x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: (x.sin(), 1), lambda x: (x.cos(), 2), (x,))


def symbolic_predicate(self: Function, x: torch.Tensor) -> Any:
    return torch.cond(x.shape[0] > 4, lambda x: x * x.shape[0], lambda x: x + x.shape[0], (x,))


def two_carried(self: Function, i: torch.Tensor, x: torch.Tensor) -> Any:
    return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * self.offset + 1), (i, x))


def carried_number(self: Function, x: torch.Tensor) -> Any:
    return while_loop(lambda i, x: i < x.shape[0], lambda i, x: (i + 1, x + i), (0, x))


def no_turn(self: Function, i: torch.Tensor, x: torch.Tensor) -> Any:
    return while_loop(lambda i, x: i < 0, lambda i, x: (i + 1, x * 2), (i, x))


def stacked_turns(self: Function, i: torch.Tensor, x: torch.Tensor) -> Any:
    return while_loop_stack_output_op(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (i, x), ())


def map_of_two(self: Function, x: torch.Tensor, y: torch.Tensor) -> Any:
    return torch_map(lambda xy, w: (xy[0] * w + xy[1], xy[0].sum()), (x, y), self.offset)


def scan_with_capture(self: Function, i: torch.Tensor, x: torch.Tensor) -> Any:
    def combine(carry: torch.Tensor, x: torch.Tensor) -> Any:
        carry = carry * 0.5 + x * self.offset
        return carry, {"sin": carry.sin(), "sum": carry.sum()}

    return scan(combine, i, x)


def cond_inside_scan(self: Function, i: torch.Tensor, x: torch.Tensor) -> Any:
    def combine(carry: torch.Tensor, x: torch.Tensor) -> Any:
        carry = torch.cond(x.sum() > 0, lambda c, x: c + x, lambda c, x: c * x, (carry, x))
        return carry, carry.clone()

    return scan(combine, i, x, dim=1, reverse=True)


def two_that_swap(self: Function, x: torch.Tensor, y: torch.Tensor) -> Any:
    def body(i: torch.Tensor, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> Any:
        return i + 1, b.clone(), a + b, c.clone()

    start = torch.zeros((), dtype=torch.int64)
    return while_loop(lambda i, a, b, c: i < c[0].abs() + 6, body, (start, x, y, x + y))


def loops_in_a_loop(self: Function, i: torch.Tensor, x: torch.Tensor) -> Any:
    def inner(i: torch.Tensor, x: torch.Tensor) -> Any:
        return i + 1, self.linear(x).tanh()

    def turn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        start = torch.zeros((), dtype=torch.int64)
        return torch.cond(
            w.sum() > 0,
            lambda x, i: while_loop(lambda i, x: i < 3, inner, (i, x))[1],
            lambda x, i: x * 2,
            (x, start),
        )

    def outer(i: torch.Tensor, x: torch.Tensor) -> Any:
        return i + 1, torch_map(turn, x, self.offset) * 0.5

    return while_loop(lambda i, x: i < 3, outer, (i, x))


def literals(self: Function, x: torch.Tensor) -> Any:
    """Tensors that a function writes down, which PyTorch keeps as attributes of its graph."""

    def step(total: torch.Tensor, row: torch.Tensor) -> Any:
        total = total * torch.tensor(0.5) + row * torch.tensor([[1.0, -2.0, 3.0]])[0]
        return total, total + torch.tensor([2, 2, 2])

    return scan(step, torch.zeros(3), x)


def over_constants(self: Function, x: torch.Tensor) -> Any:
    table = torch.ones(4, 3) * 2

    def combine(carry: torch.Tensor, x: torch.Tensor) -> Any:
        return carry * x + 1, carry > x

    return scan(combine, self.offset, table), scan(combine, x[0], x.flip(0))


def many_results(self: Function, x: torch.Tensor, y: torch.Tensor) -> Any:
    def true_fn(x: torch.Tensor, y: torch.Tensor) -> Any:
        z = x @ self.linear.weight
        return z.transpose(0, 1), z[1:3] * 2, y.clone(), z.argmax(1), self.offset + 0

    def false_fn(x: torch.Tensor, y: torch.Tensor) -> Any:
        return x.transpose(0, 1) + 1, x[2:4].clone(), y * x.sum(), x.argmin(1), y[0] * 1

    return torch.cond(torch.tensor([[True]]) & (x.sum() > 0), true_fn, false_fn, (x, y))


@torch.compiler.nested_compile_region
def compiled_region(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.sin() + y


def regions_called_twice(self: Function, x: torch.Tensor) -> Any:
    return compiled_region(compiled_region(x, self.offset), x)


def wrappers(self: Function, x: torch.Tensor) -> Any:
    y = x * 2
    view = y[0]
    with torch.no_grad():
        self.offset.add_(1)
        view.mul_(3)
        other = y[1]
    other.add_(5)
    with torch.autocast("cpu", enabled=False):
        z = y + 1
    return z + self.linear.bias * self.offset


def _tensor(*shape: int, scale: float = 1) -> torch.Tensor:
    count = int(np.prod(shape))
    return scale * torch.linspace(-1, 1.5, count).reshape(shape)


ROWS = torch.export.Dim("rows", min=2, max=10)
ZERO = torch.tensor(0)

CASES: dict[str, tuple[Callable[..., Any], list[Inputs], Any]] = {
    "captured_weights": (captured_weights, [(_tensor(3),), (_tensor(3, scale=-1),)], None),
    "nested_cond": (nested_cond, [(_tensor(4, 3, scale=s),) for s in (1, 9, -1)], None),
    "writes_through_views": (writes_through_views, [(_tensor(4, 3),), (_tensor(4, 3, scale=-1),)], None),
    "sizes_that_join": (sizes_that_join, [(_tensor(4, 3),), (_tensor(4, 3, scale=-1),)], None),
    "numbers_that_join": (numbers_that_join, [(_tensor(3),), (_tensor(3, scale=-1),)], None),
    "symbolic_predicate": (symbolic_predicate, [(_tensor(4, 3),), (_tensor(6, 3),)], ({0: ROWS},)),
    "two_carried": (two_carried, [(ZERO, _tensor(3)), (ZERO + 9, _tensor(3))], None),
    "carried_number": (carried_number, [(_tensor(4, 3),), (_tensor(7, 3),)], ({0: ROWS},)),
    "no_turn": (no_turn, [(ZERO, _tensor(3))], None),
    "stacked_turns": (
        stacked_turns,
        [(ZERO, _tensor(3)), (ZERO + 3, _tensor(3)), (ZERO + 9, _tensor(3))],
        None,
    ),
    "map_of_two": (map_of_two, [(_tensor(4, 3), _tensor(4, 3, scale=2))], None),
    "map_dynamic": (map_of_two, [(_tensor(n, 3), _tensor(n, 3)) for n in (4, 2)], ({0: ROWS}, {0: ROWS})),
    "scan_with_capture": (scan_with_capture, [(_tensor(3), _tensor(4, 3))], None),
    "scan_dynamic": (scan_with_capture, [(_tensor(3), _tensor(n, 3)) for n in (4, 7)], (None, {0: ROWS})),
    "cond_inside_scan": (cond_inside_scan, [(_tensor(4), _tensor(4, 3))], None),
    "two_that_swap": (
        two_that_swap,
        [(_tensor(3), _tensor(3, scale=2)), (_tensor(3, scale=20), _tensor(3))],
        None,
    ),
    "loops_in_a_loop": (loops_in_a_loop, [(ZERO, _tensor(4, 3)), (ZERO + 2, _tensor(4, 3, scale=3))], None),
    "over_constants": (over_constants, [(_tensor(4, 3),)], None),
    "many_results": (many_results, [(_tensor(4, 3, scale=s), _tensor(4, 3, scale=2)) for s in (1, -1)], None),
    "many_results_dynamic": (
        many_results,
        [(_tensor(n, 3, scale=s), _tensor(n, 3)) for n, s in ((4, 1), (6, -1))],
        ({0: torch.export.Dim("rows", min=4, max=10)},) * 2,
    ),
    "regions_called_twice": (regions_called_twice, [(_tensor(4, 3),)], None),
    "wrappers": (wrappers, [(_tensor(4, 3),)], None),
}

INLINED = {"wrappers", "regions_called_twice"}
"""What means nothing to values is built where it is called."""

UNSAVABLE = {"carried_number"}
"""PyTorch's own serializer cannot write these: a number among the carried inputs of a loop."""


def quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A call of PyTorch's exporter; its deprecation warnings are not ours."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="torch")
        warnings.filterwarnings("ignore", message=r".*(torch\.|LeafSpec|treespec).*")
        return function(*args, **kwargs)


def export(function: Callable[..., Any], inputs: Inputs, dynamic: Any) -> tuple[Function, Any]:
    torch.manual_seed(0)
    model = Function(function).requires_grad_(False)
    shapes = (dynamic,) if dynamic is not None else None
    return model, quietly(torch.export.export, model, inputs, dynamic_shapes=shapes)


def leaves(value: Any) -> list[Any]:
    return torch.utils._pytree.tree_leaves(value)


def stages(program: Program) -> dict[str, Program]:
    clean = "canonicalize,cse,dce"
    return {
        "aten": program,
        "core": program.to_core(),
        "edge": program.to_edge(),
        "cleaned": program.transform(clean).to_core().transform(clean).to_edge().transform(clean),
    }


def compare(what: str, program: Program, inputs: list[Inputs], expected: list[list[Any]]) -> None:
    """Runs all stages of a program on all inputs, state carried along, against eager's results."""
    for stage, staged in stages(program).items():
        run = xdsl_exir.compile(staged)
        for args, results in zip(inputs, expected, strict=True):
            got = leaves(run(*(arg.numpy() for arg in args)))
            assert len(got) == len(results), f"{what} as {stage}"
            for value, wanted in zip(got, results, strict=True):
                if isinstance(wanted, torch.Tensor):
                    assert value.dtype == wanted.numpy().dtype, f"{what} as {stage}"
                np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5, err_msg=f"{what} as {stage}")


@pytest.mark.parametrize("name", CASES)
def test_against_eager(name: str, tmp_path: Path) -> None:
    function, inputs, dynamic = CASES[name]
    model, exported = export(function, inputs[0], dynamic)
    # A live program shares its buffers with the model, which may write to them.
    eager = copy.deepcopy(model)
    expected = [leaves(eager(*args)) for args in inputs]
    for dialect in ("training", "core"):
        if dialect == "core":
            exported = quietly(exported.run_decompositions)
        compare(f"{name}, {dialect}", xdsl_exir.from_exported_program(exported), inputs, expected)
        if name not in UNSAVABLE:
            path = tmp_path / f"{dialect}.pt2"
            quietly(torch.export.save, exported, path)
            saved = xdsl_exir.load(path)
            assert "higher_order" in str(saved) or name in INLINED
            compare(f"{name}, {dialect}, saved", saved, inputs, expected)


# --- native code ---------------------------------------------------------------------------------------------

NUMBERS = ("sizes_that_join", "numbers_that_join", "carried_number", "stacked_turns")
"""Whose regions compute numbers, which native code reads out of memory between its pieces."""
STOCK = (
    mlir.Pass("func.func(llvm-request-c-wrappers)", "functions that can be called"),
    *BUFFERIZE,
    *mlir.TO_LLVM,
)


@pytest.mark.native
@pytest.mark.parametrize("stage", ["edge", "linalg"])
@pytest.mark.parametrize("name", CASES)
def test_natively(name: str, stage: str) -> None:
    if stage == "linalg" and name in NUMBERS:
        pytest.skip("there are no numbers in linalg that data says")
    function, inputs, dynamic = CASES[name]
    model, exported = export(function, inputs[0], dynamic)
    eager = copy.deepcopy(model)
    expected = [leaves(eager(*args)) for args in inputs]
    program = xdsl_exir.from_exported_program(quietly(exported.run_decompositions))
    run = xdsl_exir.compile(program.to(stage), target="native")
    for args, results in zip(inputs, expected, strict=True):
        for value, wanted in zip(leaves(run(*(arg.numpy() for arg in args))), results, strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5, err_msg=name)


AS_SCF = [
    name for name, (_, _, dynamic) in CASES.items() if dynamic is None and name not in (*NUMBERS, "wrappers")
]
"""Of static sizes, for they are called by address; and without buffers that are written to."""


@pytest.fixture
def runtime_library() -> None:
    """What strided copies call when no schedule of ours takes them."""
    found = next(Path("/usr/lib/llvm-22/lib").glob("libmlir_c_runner_utils.so*"), None)
    if found is None:
        pytest.skip("MLIR's runtime library (libmlir_c_runner_utils) is not installed")
    pytest.importorskip("llvmlite.binding").load_library_permanently(str(found))


@pytest.mark.native
@pytest.mark.usefixtures("runtime_library")
@pytest.mark.parametrize("name", AS_SCF)
def test_as_scf(name: str) -> None:
    """`edge-to-linalg` in upstream dialects, through passes of MLIR alone."""
    function, inputs, dynamic = CASES[name]
    model, exported = export(function, inputs[0], dynamic)
    results = leaves(copy.deepcopy(model)(*inputs[0]))
    program = xdsl_exir.from_exported_program(quietly(exported.run_decompositions)).to_edge()
    state = [
        program.state[spec.target].numpy()
        for spec in xdsl_exir.compile(program).method().inputs
        if spec.target in program.state
    ]
    text = program.transform("edge-to-linalg").text(generic=True)
    assert "higher_order" not in text
    library = linking.load(text, STOCK)
    made = [np.empty(value.shape, value.numpy().dtype) for value in results]
    linking.bind(library, "forward", [*state, *(arg.numpy() for arg in inputs[0]), *made])()
    for value, wanted in zip(made, results, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.native
@pytest.mark.usefixtures("runtime_library")
def test_associative_scan_natively() -> None:
    x = np.linspace(0.5, 2, 12, dtype=np.float32).reshape(4, 3)
    for passes in ("decompose-aten,aten-to-edge", "decompose-aten,aten-to-edge,edge-to-linalg"):
        program = Program(parse(PREFIXES)).transform(passes)
        if "linalg" not in passes:
            [y] = xdsl_exir.compile(program, target="native").flat([x])
        else:
            library = linking.load(program.text(generic=True), STOCK)
            linking.bind(library, "f", [x, y := np.empty_like(x)])()
        np.testing.assert_allclose(y, np.cumprod(x, axis=0), rtol=1e-6)


@pytest.mark.native
@pytest.mark.parametrize("target", ["interpreter", "native"])
def test_a_branch_that_is_not_taken_does_not_fail(target: str) -> None:
    """Not even when constants are folded."""

    def function(self: Function, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + self.offset[torch.arange(7, 8)], lambda x: x * 2, (x,))

    _, exported = export(function, (_tensor(3),), None)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target=target)
    np.testing.assert_array_equal(run(-np.ones(3, np.float32)), -2)


@pytest.mark.native
@pytest.mark.native
def test_literals() -> None:
    """PyTorch neither decomposes nor saves programs whose functions hold tensors as attributes; their elements are written down."""
    inputs = (_tensor(4, 3),)
    model, exported = export(literals, inputs, None)
    program = xdsl_exir.from_exported_program(exported)
    expected = leaves(model(*inputs))
    compare("literals", program, [inputs], [expected])
    for value, wanted in zip(
        leaves(xdsl_exir.compile(program, "native")(inputs[0].numpy())), expected, strict=True
    ):
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5)


def test_an_assertion_in_a_branch_is_not_run_natively() -> None:
    """A caller checks all assertions, so it would have to hold for the other branch too."""
    text = """
func.func @f(%p : tensor<i1>, %x : tensor<?xf32, #exir.shape<[s0]>>) -> tensor<?xf32, #exir.shape<[s0]>> {
  %y = higher_order.cond %p : tensor<i1> inputs(%x : tensor<?xf32, #exir.shape<[s0]>>)
      -> tensor<?xf32, #exir.shape<[s0]>> {
  ^bb0(%a : tensor<?xf32, #exir.shape<[s0]>>):
    %n = edge.aten.sym_size.int(%a, dim = 0) : (tensor<?xf32, #exir.shape<[s0]>>) -> !exir.symint<s0>
    %three = exir.number 3 : !exir.symint<3>
    %c = exir.sym_gt %n, %three : (!exir.symint<s0>, !exir.symint<3>) -> !exir.symbool<gt(s0, 3)>
    edge.aten._assert_scalar(%c, assert_msg = "too small") : (!exir.symbool<gt(s0, 3)>) -> ()
    higher_order.yield %a : tensor<?xf32, #exir.shape<[s0]>>
  } else {
  ^bb0(%a : tensor<?xf32, #exir.shape<[s0]>>):
    higher_order.yield %a : tensor<?xf32, #exir.shape<[s0]>>
  }
  func.return %y : tensor<?xf32, #exir.shape<[s0]>>
}
"""
    program = Program(parse(text))
    with pytest.raises(UnsupportedError, match=r"edge\.aten\._assert_scalar: an assertion inside a region"):
        xdsl_exir.compile(program, target="native")
    x = np.ones(2, np.float32)
    for target, fallback in (("interpreter", "error"), ("native", "interpreter")):
        run = xdsl_exir.compile(program, target=target, fallback=fallback)
        np.testing.assert_array_equal(run.flat([np.array(False), x])[0], x)
        with pytest.raises(ExirError, match="too small"):
            run.flat([np.array(True), x])


# --- the importer's refusals ---------------------------------------------------------------------------------


def exported_cond(change: Callable[[g.Graph], g.Graph]) -> g.ExportedGraph:
    """An exported cond whose first branch is changed."""
    _, exported = export(nested_cond, (_tensor(4, 3),), None)
    program = read_exported_program(exported)

    def changed(node: g.Node) -> g.Node:
        if node.target != "higher_order.cond":
            return node
        branch = node.inputs[1]
        assert isinstance(branch.value, g.Subgraph)
        value = dc.replace(branch.value, graph=change(branch.value.graph))
        return dc.replace(node, inputs=(node.inputs[0], dc.replace(branch, value=value), *node.inputs[2:]))

    nodes = tuple(map(changed, program.graph.nodes))
    return dc.replace(program, graph=dc.replace(program.graph, nodes=nodes))


def imported(program: g.ExportedGraph) -> Program:
    return xdsl_exir.program.from_graphs({"forward": program}, "test")


def with_first_node(graph: g.Graph, target: str) -> g.Graph:
    argument = g.NodeInput("self", graph.inputs[0], False)  # type: ignore[arg-type]
    node = g.Node("new", target, (argument,), (g.Ref("new"),))
    values = {**graph.values, "new": next(iter(graph.values.values()))}
    return dc.replace(graph, nodes=(node, *graph.nodes), values=values)


def test_branch_that_writes_to_its_operand() -> None:
    program = exported_cond(lambda graph: with_first_node(graph, "aten.relu_"))
    with pytest.raises(
        UnsupportedError, match=r"higher_order\.cond: sub-graph \w+ writes to its operand 'args_0'"
    ):
        imported(program)


def test_unknown_operator_inside_a_branch() -> None:
    program = exported_cond(lambda graph: with_first_node(graph, "aten.no_such_operator"))
    with pytest.raises(UnsupportedError, match=r"aten\.no_such_operator: unknown operator"):
        imported(program)


def test_branch_that_returns_none() -> None:
    program = exported_cond(lambda graph: dc.replace(graph, outputs=(None,)))
    with pytest.raises(UnsupportedError, match="returns None"):
        imported(program)


def test_branch_with_other_inputs() -> None:
    program = exported_cond(lambda graph: dc.replace(graph, inputs=(*graph.inputs, 1)))
    with pytest.raises(LoadError, match="has 2 inputs for 1 operands"):
        imported(program)


def test_norms_under_autocast() -> None:
    """Half precision beside parameters in Float: PyTorch traces statistics in another dtype than its kernels give."""

    class Norms(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.batch = torch.nn.Conv2d(3, 4, 1), torch.nn.BatchNorm2d(4)
            self.group, self.layer = torch.nn.GroupNorm(2, 4), torch.nn.LayerNorm(5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return self.layer(self.group(self.batch(self.conv(x)))).float()

    model, x = Norms().eval(), _tensor(2, 3, 5, 5)
    exported = quietly(lambda: torch.export.export(model, (x,)).run_decompositions())
    program = xdsl_exir.from_exported_program(exported)
    for stage in (program, program.to_edge()):
        [given] = xdsl_exir.compile(stage).flat([x.numpy()])
        torch.testing.assert_close(torch.from_numpy(given), model(x).detach(), rtol=2e-2, atol=2e-2)


def scan_of_pairs(x: torch.Tensor, y: torch.Tensor) -> Any:
    def combine(a: Any, b: Any) -> Any:
        return a[0] * b[0], a[1] * b[0] + b[1]

    return associative_scan(combine, (x, y), dim=1, reverse=True, combine_mode="generic")


@pytest.mark.native
def test_associative_scan_is_unrolled_by_pytorch() -> None:
    """With torch.vmap, of which PyTorch itself says what it does."""
    inputs = _tensor(3, 5), _tensor(3, 5, scale=-2)
    _, exported = export(lambda self, *args: scan_of_pairs(*args), inputs, None)
    program = quietly(xdsl_exir.from_exported_program, exported)
    for target in ("interpreter", "native"):
        results = xdsl_exir.compile(program, target=target)(*(value.numpy() for value in inputs))
        for value, wanted in zip(results, scan_of_pairs(*inputs), strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.native
def test_vmap(tmp_path: Path) -> None:
    """PyTorch says of a live program what torch.vmap does; of a file nobody can."""

    def function(self: Function, x: torch.Tensor, y: torch.Tensor) -> Any:
        def of_one(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return (x * y).sum(-1) + (x > y).to(x.dtype)[:, 0]

        return torch.vmap(of_one, in_dims=(0, None))(x, y)

    inputs = _tensor(5, 3, 4), _tensor(3, 4, scale=-2)
    model, exported = export(function, inputs, None)
    program = quietly(xdsl_exir.from_exported_program, exported)
    for target in ("interpreter", "native"):
        result = xdsl_exir.compile(program, target=target)(*(value.numpy() for value in inputs))
        np.testing.assert_allclose(result, model(*inputs), rtol=1e-5, atol=1e-6)
    quietly(torch.export.save, exported, tmp_path / "vmap.pt2")
    refusal = r"_add_batch_dim: unknown operator, a part of torch\.vmap; .*run_decomp"
    with pytest.raises(UnsupportedError, match=refusal):
        xdsl_exir.load(tmp_path / "vmap.pt2")


def test_vmap_that_pytorch_cannot_decompose() -> None:
    def function(self: Function, x: torch.Tensor, y: torch.Tensor) -> Any:
        torch.bincount(y).unfold(0, 2, 2).add_(1)
        return torch.vmap(lambda row: row.sum())(x)

    _, exported = export(function, (_tensor(3, 2), torch.tensor([3, 1])), None)
    with pytest.raises(
        LoadError, match=r"vmap in a program that PyTorch cannot decompose: .* data-dependent"
    ):
        quietly(xdsl_exir.from_exported_program, exported)


def test_wrappers_around_control_flow() -> None:
    """PyTorch leaves the beginnings and ends of contexts as they are where there are functions in them."""

    def function(self: Function, x: torch.Tensor) -> Any:
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
            y = torch.cond(x.sum() > 0, lambda x: x @ x.T, lambda x: x.cos(), (x @ x.T,))
        return y + x

    x = _tensor(3, 3)
    model, exported = export(function, (x,), None)
    compare("wrappers", xdsl_exir.from_exported_program(exported), [(x,)], [[model(x)]])


def test_effects_are_not_imported_as_control_flow() -> None:
    assert "higher_order.with_effects" not in importer.HIGHER_ORDER


# --- the verifier --------------------------------------------------------------------------------------------

COND = """
func.func @f(%p : tensor<i1>, %x : tensor<3xf32>) -> tensor<3xf32> {
  %y = higher_order.cond %p : tensor<i1> inputs(%x : tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a : tensor<3xf32>):
    %b = aten.sin(%a) : (tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %b : tensor<3xf32>
  } else {
  ^bb0(%a : tensor<3xf32>):
    higher_order.yield %a : tensor<3xf32>
  }
  %z = aten.cos(%y) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %z : tensor<3xf32>
}
"""
LOOP = """
func.func @f(%i : tensor<i64>, %w : tensor<3xf32>) -> tensor<i64> {
  %r = higher_order.while_loop carried(%i : tensor<i64>) additional(%w : tensor<3xf32>) -> tensor<i64> {
  ^bb0(%j : tensor<i64>, %a : tensor<3xf32>):
    %c = aten.lt.Scalar(%j, other = 5) : (tensor<i64>) -> tensor<i1>
    higher_order.yield %c : tensor<i1>
  } do {
  ^bb0(%j : tensor<i64>, %a : tensor<3xf32>):
    %k = aten.add.Tensor(%j, %j) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    higher_order.yield %k : tensor<i64>
  }
  func.return %r : tensor<i64>
}
"""
STACK = LOOP.replace("while_loop", "while_loop_stack_output").replace(
    "-> tensor<i64> {\n  ^", "-> tensor<7xi64> {\n  ^"
)
STACK = STACK.replace("-> tensor<i64> {\n  %r", "-> tensor<7xi64> {\n  %r").replace(
    "%r : tensor<i64>", "%r : tensor<7xi64>"
)
MAP = """
func.func @f(%x : tensor<4x3xf32>, %w : tensor<3xf32>) -> tensor<4x3xf32> {
  %y = higher_order.map xs(%x : tensor<4x3xf32>) args(%w : tensor<3xf32>) -> tensor<4x3xf32> {
  ^bb0(%a : tensor<3xf32>, %b : tensor<3xf32>):
    %c = aten.add.Tensor(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %c : tensor<3xf32>
  }
  func.return %y : tensor<4x3xf32>
}
"""
SCAN = """
func.func @f(%i : tensor<3xf32>, %x : tensor<4x3xf32>, %v : tensor<5x3xf32>) -> tensor<4xf32> {
  %y, %z = higher_order.scan init(%i : tensor<3xf32>) xs(%x : tensor<4x3xf32>) -> tensor<3xf32>, tensor<4xf32> {
  ^bb0(%a : tensor<3xf32>, %b : tensor<3xf32>):
    %c = aten.add.Tensor(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %d = aten.sum(%c) : (tensor<3xf32>) -> tensor<f32>
    higher_order.yield %c, %d : tensor<3xf32>, tensor<f32>
  }
  func.return %z : tensor<4xf32>
}
"""
PREFIXES = """
func.func @f(%x : tensor<4x3xf32>) -> tensor<4x3xf32> {
  %y = higher_order.associative_scan xs(%x : tensor<4x3xf32>) -> tensor<4x3xf32> {
  ^bb0(%a : tensor<3xf32>, %b : tensor<3xf32>):
    %c = aten.mul.Tensor(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %c : tensor<3xf32>
  }
  func.return %y : tensor<4x3xf32>
}
"""

MUTANTS = {
    "pred dtype": (COND, [("%p : tensor<i1>", "%p : tensor<i32>")], "pred is tensor<i32>"),
    "pred of two elements": (COND, [("%p : tensor<i1>", "%p : tensor<2xi1>")], "pred is tensor<2xi1>"),
    "branch argument": (
        COND,
        [("^bb0(%a : tensor<3xf32>):\n    higher_order.yield %a : tensor<3xf32>",
          "^bb0(%a : tensor<3xf64>):\n    higher_order.yield %a : tensor<3xf64>")],
        "arguments of the false region: value 0 is tensor<3xf64>",
    ),
    "branch without argument": (
        COND,
        [("^bb0(%a : tensor<3xf32>):\n    higher_order.yield %a : tensor<3xf32>", "^bb0:\n    higher_order.yield")],
        "arguments of the false region: 0 values for 1",
    ),
    "branch yields less": (COND, [("yield %a : tensor<3xf32>", "yield")], "yield of the false region: 0 values for 1"),
    "branch yields another type": (
        COND,
        [("aten.sin(%a) : (tensor<3xf32>) -> tensor<3xf32>", "aten.sum(%a) : (tensor<3xf32>) -> tensor<f32>"),
         ("yield %b : tensor<3xf32>", "yield %b : tensor<f32>")],
        "yield of the true region: value 0 is tensor<f32>",
    ),
    "bad op in a region": (COND, [("aten.sin", "aten.sum")], "aten.sum: result 0 is tensor<f32>"),
    "bad op after a region": (COND, [("aten.cos", "aten.sum")], "result 0 is tensor<f32>"),
    "condition is no boolean": (
        LOOP,
        [("yield %c : tensor<i1>", "yield %j : tensor<i64>")],
        "yield of the condition is tensor<i64>",
    ),
    "condition yields two": (LOOP, [("yield %c : tensor<i1>", "yield %c, %c : tensor<i1>, tensor<i1>")], "yields 2"),
    "body yields another type": (LOOP, [("yield %k : tensor<i64>", "yield %a : tensor<3xf32>")], "yield of the body"),
    "body yields more": (LOOP, [("yield %k : tensor<i64>", "yield %k, %a : tensor<i64>, tensor<3xf32>")], "2 values for 1"),
    "loop result": (LOOP, [("-> tensor<i64> {\n  ^", "-> tensor<i32> {\n  ^"), ("return %r : tensor<i64>", "return %i : tensor<i64>")], "results: value 0 is tensor<i32>"),
    "stacked loop result": (STACK, [("tensor<7xi64>", "tensor<7x1xi64>")], "results: value 0 is tensor<1xi64>"),
    "map length": (MAP, [("-> tensor<4x3xf32> {\n  ^", "-> tensor<5x3xf32> {\n  ^"), ("return %y", "return %x")], "results: value 0 is tensor<5x3xf32>"),
    "map of a scalar": (MAP, [("%x : tensor<4x3xf32>", "%x : tensor<f32>")], "leading dimension"),
    "map of nothing": (MAP, [("tensor<4x3xf32>", "tensor<0x3xf32>")], "the leading dimension is 0"),
    "map argument": (MAP, [("%w : tensor<3xf32>", "%w : tensor<2xf32>")], "arguments of the body"),
    "scan lengths": (
        SCAN,
        [("xs(%x : tensor<4x3xf32>)", "xs(%x, %v : tensor<4x3xf32>, tensor<5x3xf32>)")],
        "leading dimensions 4, 5 differ",
    ),
    "scan carry": (SCAN, [("yield %c, %d : tensor<3xf32>, tensor<f32>", "yield %d, %d : tensor<f32>, tensor<f32>")], "carried values of the yield"),
    "scan result": (SCAN, [("tensor<3xf32>, tensor<4xf32> {\n  ^", "tensor<3xf64>, tensor<4xf32> {\n  ^")], "carried results"),
    "scan stack": (SCAN, [("tensor<4xf32>", "tensor<3xf32>")], "stacked results"),
    "prefixes yield": (PREFIXES, [("yield %c : tensor<3xf32>", "yield")], "yield: 0 values for 1"),
    "prefixes result": (PREFIXES, [("-> tensor<4x3xf32> {\n  ^", "-> tensor<4x2xf32> {\n  ^"), ("return %y", "return %x")], "results: value 0 is tensor<4x2xf32>"),
}  # fmt: skip


def parse(text: str) -> ModuleOp:
    return Parser(context().clone(), text).parse_module()


@pytest.mark.parametrize("text", [COND, LOOP, STACK, MAP, SCAN, PREFIXES])
def test_valid(text: str) -> None:
    module = parse(text)
    module.verify()
    assert violations_of(module, "aten") == []


@pytest.mark.parametrize("name", MUTANTS)
def test_verifier_refuses(name: str) -> None:
    text, changes, message = MUTANTS[name]
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    violations = violations_of(parse(text), "aten")
    assert violations
    with pytest.raises(VerificationError, match=message):
        Program(parse(text)).verify()


def test_all_violations_are_listed() -> None:
    """One inside each branch and one behind the cond."""
    text = (
        COND.replace("aten.sin", "aten.sum")
        .replace("aten.cos", "aten.sum")
        .replace("yield %a", "yield %a, %a")
    )
    text = text.replace("yield %a, %a : tensor<3xf32>", "yield %a, %a : tensor<3xf32>, tensor<3xf32>")
    operations = [violation.operation for violation in violations_of(parse(text), "aten")]
    assert sorted(operations) == ["aten.sum", "aten.sum", "higher_order.cond"]


def test_wrong_stage_inside_a_region() -> None:
    program = Program(parse(COND.replace("aten.sin", "edge.aten.sin")))
    assert [v.operation for v in violations_of(program.module, "aten")] == ["edge.aten.sin"]
    with pytest.raises(VerificationError, match="not an edge operation"):
        program.verify()


def test_regions_do_not_see_the_values_around_them() -> None:
    text = COND.replace("%b = aten.sin(%a)", "%b = aten.sin(%x)")
    with pytest.raises(VerificationError, match="used where it is not defined"):
        Program(parse(text)).verify()


# --- running -------------------------------------------------------------------------------------------------


def run(text: str, *values: Any) -> Any:
    return run_function(make_interpreter(parse(text)), "f", values)


def test_associative_scan() -> None:
    x = np.linspace(0.5, 2, 12, dtype=np.float32).reshape(4, 3)
    [y] = run(PREFIXES, x)
    np.testing.assert_allclose(y, np.cumprod(x, axis=0), rtol=1e-6)


@pytest.mark.parametrize("pred", [np.array(True), np.array(False)])
def test_cond(pred: np.ndarray[Any, Any]) -> None:
    x = np.linspace(-1, 1, 3, dtype=np.float32)
    [y] = run(COND, pred, x)
    np.testing.assert_allclose(y, np.cos(np.sin(x) if pred else x), rtol=1e-6)


def test_nothing_to_map() -> None:
    """PyTorch refuses it too: nobody knows what the results are."""
    text = MAP.replace("tensor<4x3xf32>", "tensor<?x3xf32, #exir.shape<[s0, 3]>>")
    with pytest.raises(
        InputError, match=r"leading dimensions must be equal and positive, shapes are \[0, 3\]"
    ):
        run(text, np.zeros((0, 3), np.float32), np.zeros(3, np.float32))
