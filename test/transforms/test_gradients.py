"""Gradients (`grad`): against PyTorch's autograd by operators, models and operations with regions; signatures, second gradients,
recomputation. `python test/gradients.py` does the first for all of PyTorch's samples.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.dialects.spec import FAMILIES, specs
from xdsl_exir.program import Program, context
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS
from xdsl_exir.transforms.gradients import GRADIENTS, gradient

torch = pytest.importorskip("torch")

import gradients as campaign  # noqa: E402

# What PyTorch warns of while it exports; nothing of ours warns.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning"
)

BOTH = ["interpreter", pytest.param("native", marks=pytest.mark.native)]
TAKES_NO_FLOATS = {
    *("bitwise_not", "bitwise_and.Scalar", "bitwise_and.Tensor", "bitwise_or.Scalar", "bitwise_or.Tensor"),
    *(
        "bitwise_xor.Scalar",
        "bitwise_xor.Tensor",
        "arange.start_step",
        "full",
        "scalar_tensor",
        "rand",
        "randn",
    ),
    *("randperm", "empty.memory_format", "empty_strided"),
}
"""Core operators that have no tensor of floats for an argument."""


def test_core_operators_have_rules() -> None:
    """All that decomposition leaves, and that take floats."""
    core = {spec for name, spec in specs().items() if "core" in spec.tags and name.startswith("aten.")}
    left = {
        spec.qualified_name.removeprefix("aten.")
        for spec in core
        if GRADIENTS.find(spec) is None
        and ((rule := DECOMPOSITIONS.find(spec)) is None or rule.options.get("may_keep", False))
    }
    assert left == TAKES_NO_FLOATS


def test_rules_stand_with_their_family() -> None:
    """Else they are not found before another of that file is."""
    for name in GRADIENTS.names(FAMILIES):
        found = GRADIENTS.find(specs()[name])
        assert found is not None
        if not found.options.get("constant", False) and name not in SHARED:
            assert found.home.rpartition(".")[2] == specs()[name].family, name


SHARED = {"aten.kthvalue"}
"""Operators that have the rule of another family's."""


class Call(torch.nn.Module):
    """A module that calls a function; what it gives is a list."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        outputs = self.function(*inputs)
        return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def f(*shape: int, dtype: Any = torch.float64) -> Any:
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(sum(shape)))


F = torch.nn.functional
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "promotion": (lambda x, y: x * y + y.sum() * 2, (f(3, 4), f(4, dtype=torch.float32))),
    "views": (lambda x: (x.T.reshape(-1)[1:9:2], x.unfold(1, 2, 1), x.diagonal(), x.as_strided((2, 2), (1, 1))), (f(4, 3),)),
    "in place": (lambda x: (y := x * 2, y[1:].mul_(x[0]), y.add_(x))[0], (f(3, 2),)),
    "mask": (lambda x, v: x.clone().index_put_((x > 0,), v.sum()), (f(5), f(1))),
    "detached": (lambda x: x.detach() * x, (f(3),)),
    "zeros in products": (lambda x: (x.prod(), x.cumprod(0)), (torch.tensor([2.0, 0.0, 3.0, 0.0, 1.0]).double(),)),
    "convolution": (lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1, groups=2), (f(2, 4, 5, 5), f(6, 2, 3, 3), f(6))),
    "batch norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (f(4, 3, 2), f(3), f(3))),
    "attention": (F.scaled_dot_product_attention, (f(1, 2, 3, 4), f(1, 2, 5, 4), f(1, 2, 5, 4))),
    "grid": (lambda x, g: F.grid_sample(x, g, "bicubic", "reflection", False), (f(1, 2, 4, 5), f(1, 3, 2, 2))),
    "svd": (lambda x: torch.linalg.svd(x, full_matrices=False)[1:2], (f(4, 3),)),
    "complex": (lambda x, y: torch.view_as_real((x * y).exp() / (x + 2)), (f(3, dtype=torch.complex128), f(3))),
    "complex solve": (torch.linalg.solve, (f(3, 3, dtype=torch.complex128), f(3, 2, dtype=torch.complex128))),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_operators_equal_autograd(name: str) -> None:
    function, inputs = CALLS[name]
    assert campaign.compare(Call(function), inputs) < campaign.LARGEST


@pytest.mark.parametrize(
    "name",
    [
        "linalg.lu",
        "scatter_reduce.prod",
        "logcumsumexp",
        "pinverse",
        "as_strided_scatter",
        "nn.functional.hardsigmoid",
    ],
)
def test_samples_equal_autograd(name: str) -> None:
    """As the campaign takes them."""
    [info] = [info for info in campaign.operators() if campaign.name_of(info) == name]
    torch.manual_seed(0)
    (module, inputs), *_ = campaign.sample_modules(info, torch.float64)
    assert campaign.verdict(module, inputs, "interpreter") == ("equal", "")


# --- models --------------------------------------------------------------------------------------------------


def model_of(name: str) -> tuple[Any, tuple[Any, ...]]:
    """One of bench/models."""
    path = Path(__file__).parents[2] / "bench" / "models" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.get_model_and_inputs()


class Loss(torch.nn.Module):
    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def forward(self, x: Any) -> Any:
        return {"loss": (self.model(x) ** 2).mean(), "twice": x * 2}


@pytest.fixture(scope="module")
def mlp() -> tuple[Any, Any]:
    model, (x,) = model_of("mlp")
    return Loss(model).double(), x.double()


def joint(model: Any, *inputs: Any, **options: Any) -> Program:
    return xdsl_exir.from_exported_program(torch.export.export(model, inputs)).grad(**options)


def wanted(model: Any, loss: Any) -> dict[str, Any]:
    named = dict(model.named_parameters())
    return dict(zip(named, torch.autograd.grad(loss, list(named.values())), strict=True))


@pytest.mark.parametrize("target", BOTH)
def test_model(mlp: Any, target: str) -> None:
    model, x = mlp
    run = xdsl_exir.compile(joint(model, x, of="loss"), target)
    outputs = run(x)
    assert outputs.keys() == {"loss", "twice"}
    gradients = wanted(model, model(x)["loss"])
    assert run.gradients.keys() == gradients.keys()
    for name, want in gradients.items():
        assert campaign.error_of(run.gradients[name], want.numpy()) < campaign.LARGEST


def test_joint_programs_are_pytorchs(mlp: Any, tmp_path: Path) -> None:
    """PyTorch takes them, live and from a file, and they come back as they were."""
    model, x = mlp
    program = joint(model, x, of="loss", wrt=["x", "model.net.0.bias"])
    program.save(tmp_path / "joint.pt2")
    back = torch.export.load(tmp_path / "joint.pt2")
    signature = program.to_exported_program().graph_signature
    assert signature.backward_signature.loss_output == signature.output_specs[0].arg.name
    for found in (signature.backward_signature, back.graph_signature.backward_signature):
        assert [*found.gradients_to_parameters.values()] == ["model.net.0.bias"]
        assert [*found.gradients_to_user_inputs.values()] == ["x"]
    again = xdsl_exir.load(tmp_path / "joint.pt2")
    runs = [xdsl_exir.compile(each) for each in (program, again)]
    for run in runs:
        run(x)
    for name, array in runs[0].gradients.items():
        np.testing.assert_array_equal(array, runs[1].gradients[name])


def test_buffers_are_constants_unless_they_are_named() -> None:
    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("scale", torch.tensor([2.0, 3.0]))

        def forward(self, x: Any) -> Any:
            return (self.weight * self.scale * x).sum()

    x = torch.tensor([5.0, 7.0])
    run = xdsl_exir.compile(joint(Scaled(), x))
    run(x)
    assert {name: list(array) for name, array in run.gradients.items()} == {"weight": [10, 21]}
    run = xdsl_exir.compile(joint(Scaled(), x, wrt="scale"))
    run(x)
    assert {name: list(array) for name, array in run.gradients.items()} == {"scale": [5, 7]}


def test_what_the_loss_does_not_depend_on_has_zeros(mlp: Any) -> None:
    model, x = mlp
    program = joint(model, x, wrt="model.net.0.bias", of="twice", cotangents=True)
    run = xdsl_exir.compile(program)
    run(x, cotangent_0=np.ones(x.shape))
    assert not run.gradients["model.net.0.bias"].any()


@pytest.mark.parametrize("target", BOTH)
def test_second_gradients(target: str) -> None:
    """The Hessian times a vector: the gradient of a gradient."""

    def function(x: Any, y: Any) -> Any:
        return (F.softmax(x @ y, -1).log() * F.conv1d(y[None], x[:, :, None]).tanh()[0].sum() ** 2).sum()

    x, y, v = f(3, 4), f(4, 5), f(3, 4)
    program = xdsl_exir.from_exported_program(torch.export.export(Call(function), (x, y)))
    once = program.grad("inputs_0")
    twice = once.grad(["inputs_0", "inputs_1"], of="inputs_0", cotangents=True)
    run = xdsl_exir.compile(twice, target)
    outputs, former = run(x, y, cotangent_0=v)
    leaves = [each.clone().requires_grad_() for each in (x, y)]
    loss = function(*leaves)
    [first] = torch.autograd.grad(loss, leaves[:1], create_graph=True)
    second = torch.autograd.grad(first, leaves, v)
    np.testing.assert_allclose(outputs[0], loss.detach(), rtol=1e-12)
    assert campaign.error_of(former["inputs_0"], first.detach().numpy()) < campaign.LARGEST
    for name, want in zip(("inputs_0", "inputs_1"), second, strict=True):
        assert campaign.error_of(run.gradients[name], want.numpy()) < campaign.LARGEST


class Frozen(torch.nn.Module):
    """Parts are computed with gradients off."""

    def forward(self, x: Any) -> Any:
        with torch.no_grad():
            y = x.sin()
            z = y.view(-1)
        return (x * y).sum() + (z * x.view(-1)).sum() + (y * 3).sum()


def test_what_is_computed_without_gradients_is_a_constant() -> None:
    assert campaign.compare(Call(Frozen()), (f(2, 3),)) < campaign.LARGEST


def through_detached(x: Any) -> Any:
    y = x * 2
    d = y.detach()
    d[:1].mul_(x[1])
    y[1].add_(x[0])
    return (d * x).sum() + (y * y).sum()


def through_two_detached(x: Any) -> Any:
    y = x * 2
    d, e = y.detach(), y.t().detach()
    d.mul_(x)
    e.view_as(e)[1:].mul_(x.t()[:1])
    return (d * 1).sum() + (e * x.t()).sum() + y.sum()


def without_gradients_in_between(x: Any) -> Any:
    y = x * 2
    d = y.detach()
    d.mul_(x)
    with torch.no_grad():
        d.add_(1)
        y.mul_(3)
    d[0].mul_(x[1])
    return (d * 1).sum() + (y * x).sum()


@pytest.mark.parametrize("function", [through_detached, through_two_detached, without_gradients_in_between])
def test_what_is_detached_has_a_gradient_of_its_own(function: Any) -> None:
    """What is written to it is seen by all that share its memory, and has a gradient by it alone."""
    assert campaign.compare(Call(function), (f(2, 3),)) < campaign.LARGEST


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_training_loop(optimiser: str) -> None:
    """The example, without a compiler: PyTorch's losses."""
    path = Path(__file__).parents[2] / "examples" / "train" / "compare.py"
    spec = importlib.util.spec_from_file_location("compare_training", path)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    try:
        got, expected, _ = script.compare(optimiser, 3, "interpreter")
    finally:
        torch.use_deterministic_algorithms(False)  # which other tests' operators are not
    np.testing.assert_allclose(got, expected, rtol=1e-4)
    assert got[2] < got[0]


def test_what_is_recomputed_is_not_kept(mlp: Any) -> None:
    """The numbers are the same, after all passes of the optimiser too."""
    model, x = mlp
    kept, again = (joint(model, x, of="loss", recompute=names) for names in ((), ("activation", "aten.pow*")))
    assert "exir.recomputed" not in str(kept)
    assert str(again).count("aten.gelu(") == str(kept).count("aten.gelu(") + 1
    optimized = again.to_edge().transform("optimize")
    assert str(optimized).count("edge.aten.gelu(") == str(again).count("aten.gelu(")
    runs = [xdsl_exir.compile(program) for program in (kept, again, optimized)]
    for run in runs:
        run(x)
    for name, array in runs[0].gradients.items():
        for run in runs[1:]:
            np.testing.assert_array_equal(run.gradients[name], array)


# --- operations with regions ---------------------------------------------------------------------------------


def branch(x: Any, y: Any) -> Any:
    return torch.cond(x.sum() > 0, lambda x, y: (x * y).sin(), lambda x, y: x.exp() + x, (x, y))


def branch_in_python(x: Any, y: Any) -> Any:
    return (x * y).sin() if x.sum() > 0 else x.exp() + x


def scanned(init: Any, xs: Any, w: Any) -> Any:
    from torch._higher_order_ops import scan

    return scan(lambda c, x: ((c @ w).tanh() + x, (c * x).sum(0).clone()), init, xs)


def scanned_in_python(init: Any, xs: Any, w: Any) -> Any:
    outputs, carried = [], init
    for x in xs:
        outputs.append((carried * x).sum(0))
        carried = (carried @ w).tanh() + x
    return carried, torch.stack(outputs)


def mapped(xs: Any, w: Any) -> Any:
    from torch._higher_order_ops import map

    return map(lambda x, w: (x * w).sin(), xs, w)


def counted(x: Any, w: Any) -> Any:
    from torch._higher_order_ops import while_loop

    return while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, (x * w).sin() + x), (torch.tensor(0), x))[1]


def counted_in_python(x: Any, w: Any) -> Any:
    for _ in range(4):
        x = (x * w).sin() + x
    return x


def growing(x: Any, w: Any) -> Any:
    from torch._higher_order_ops import while_loop

    body = lambda i, x: (i + 1, x * w + x.sin())  # noqa: E731
    return while_loop(lambda i, x: x.abs().sum() < 50, body, (torch.tensor(0), x))[1]


def growing_in_python(x: Any, w: Any) -> Any:
    while x.abs().sum() < 50:
        x = x * w + x.sin()
    return x


REGIONS = {
    "cond": (branch, branch_in_python, (f(3).abs(), f(3))),
    "cond, the other": (branch, branch_in_python, (-f(3).abs(), f(3))),
    "scan": (scanned, scanned_in_python, (f(3), f(5, 3), f(3, 3))),
    "map": (mapped, lambda xs, w: (xs * w).sin(), (f(4, 3), f(3))),
    "while_loop of known length": (counted, counted_in_python, (f(3), f(3))),
    "while_loop": (growing, growing_in_python, (f(3), f(3).abs() + 1)),
    "while_loop that never turns": (growing, growing_in_python, (f(3) * 1000, f(3).abs() + 1)),
}


@pytest.mark.parametrize("target", BOTH)
@pytest.mark.parametrize("name", REGIONS)
def test_regions(name: str, target: str) -> None:
    function, plain, inputs = REGIONS[name]
    exported = torch.export.export(Call(function), inputs, strict=False)
    names = [f"inputs_{number}" for number in range(len(inputs))]
    program = xdsl_exir.from_exported_program(exported).grad(names, cotangents=True)
    run = xdsl_exir.compile(program, target)
    leaves = [each.clone().requires_grad_() for each in inputs]
    outputs = Call(plain)(*leaves)
    given = [f(*output.shape) for output in outputs]
    found = torch.autograd.grad(outputs, leaves, given, allow_unused=True)
    run.flat([*inputs, *given])
    for name, leaf, want in zip(names, leaves, found, strict=True):
        expected = np.zeros(leaf.shape) if want is None else want.numpy()
        assert campaign.error_of(run.gradients[name], expected) < campaign.LARGEST


ASSOCIATIVE = """
func.func @forward(%x: tensor<5x3xf64> {exir.input = #exir.input<user_input, "x">}) -> tensor<5x3xf64> {
  %0 = higher_order.associative_scan xs(%x : tensor<5x3xf64>) -> tensor<5x3xf64> {
  ^bb0(%a : tensor<3xf64>, %b : tensor<3xf64>):
    %1 = aten.mul.Tensor(%a, %b) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    higher_order.yield %1 : tensor<3xf64>
  }
  func.return %0 : tensor<5x3xf64>
}"""


def test_associative_scan() -> None:
    """Of products, as `cumprod` has it."""
    program = Program(Parser(context().clone(), ASSOCIATIVE).parse_module()).grad("x", cotangents=True)
    run = xdsl_exir.compile(program)
    x, given = f(5, 3), f(3, 5).T
    run.flat([x, given])
    leaf = x.clone().requires_grad_()
    [want] = torch.autograd.grad(leaf.cumprod(0), leaf, given)
    assert campaign.error_of(run.gradients["x"], want.numpy()) < campaign.LARGEST


def test_symbolic_sizes() -> None:
    def function(x: Any, w: Any) -> Any:
        normal = F.layer_norm((x @ w).relu(), (4,)).mean(0)
        return (normal * w[0] * x.sum()).sum() + torch.cat([x, x * 2], 0)[1:].cumsum(0).var()

    size = torch.export.Dim("size", min=2, max=64)
    module = Call(function)
    inputs = (f(5, 3), f(3, 4))
    exported = torch.export.export(module, inputs, dynamic_shapes=(({0: size}, None),))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported).grad(["inputs_0", "inputs_1"]))
    for count in (5, 2, 9):
        x, w = f(count, 3).requires_grad_(), f(3, 4).requires_grad_()
        run(x.detach(), w.detach())
        found = torch.autograd.grad(function(x, w), [x, w])
        for name, want in zip(("inputs_0", "inputs_1"), found, strict=True):
            assert campaign.error_of(run.gradients[name], want.numpy()) < campaign.LARGEST


# --- rules of one's own --------------------------------------------------------------------------------------


def test_rules_of_ones_own_count_first() -> None:
    """A straight-through estimator: rounding has the gradient of what it rounds."""
    program = xdsl_exir.from_exported_program(torch.export.export(Call(lambda x: x.round().sum()), (f(3),)))
    spec = specs()["aten.round"]
    former = GRADIENTS.find(spec)
    try:

        @gradient("aten.round")
        def straight_through(aten: Any, grad: Any) -> Any:
            return grad

        run = xdsl_exir.compile(program.grad("inputs_0"))
    finally:
        GRADIENTS.override("aten.round", former)
    run(f(3))
    assert run.gradients["inputs_0"].tolist() == [1, 1, 1]
    run = xdsl_exir.compile(program.grad("inputs_0"))
    run(f(3))
    assert run.gradients["inputs_0"].tolist() == [0, 0, 0]
