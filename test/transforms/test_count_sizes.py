"""Sizes and numbers that depend on data, natively and without fallback: what is computed, what is refused, what is raised."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from differential import compare, dtype, find_operator, flatten, to_numpy
from interpreter.operators.test_indexing import DEPENDENT, DEPENDENT_SEVERAL, dependent_program
from interpreter_only import INTERPRETER_ONLY
from torch._higher_order_ops.while_loop import (  # pyright: ignore[reportMissingTypeStubs]
    while_loop,
    while_loop_stack_output_op,
)
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.dialects.tensors import tensor_type
from xdsl_exir.errors import ExirError, UnsupportedError
from xdsl_exir.interpreter.operators.symbolic import AssertionFailed
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.executable import Executable
from xdsl_exir.runtime.fallback import SplitEngine, make_engine
from xdsl_exir.runtime.native import NativeEngine
from xdsl_exir.transforms.aten_to_edge import AtenToEdge
from xdsl_exir.transforms.decompose_aten import DecomposeAten

pytestmark = [
    pytest.mark.usefixtures("native_tools"),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning"),
]

Inputs = tuple[torch.Tensor, ...]


class Net(torch.nn.Module):
    """A function as module, with a layer that it may use."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(4, 4)
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(self, *args)


def leaves(value: Any) -> list[Any]:
    """The leaves of a pytree, tensors as arrays."""
    flat = torch.utils._pytree.tree_leaves(value)
    return [leaf.detach().numpy() if isinstance(leaf, torch.Tensor) else leaf for leaf in flat]


def check(function: Callable[..., Any], *calls: Inputs, core: bool = False, **options: Any) -> Executable:
    """Compares native code with eager for inputs, the first of which the function is exported with."""
    model = Net(function).eval()
    with torch.no_grad():
        exported = torch.export.export(model, calls[0], **options)
        exported = exported.run_decompositions() if core else exported
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target="native")
    for inputs in calls:
        with torch.no_grad():
            expected = leaves(model(*copy.deepcopy(inputs)))
        for got, wanted in zip(leaves(run(*(x.numpy().copy() for x in inputs))), expected, strict=True):
            assert type(got) is type(wanted)
            if isinstance(wanted, np.ndarray):
                assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    assert run.fallbacks == ()
    return run


def pieces(run: Executable) -> int:
    """How many native pieces a program has."""
    return len(run.engine.pieces) if isinstance(run.engine, SplitEngine) else 1


def reads(run: Executable) -> int:
    """How many sizes native code reads itself, in a program of one piece."""
    assert isinstance(run.engine, NativeEngine)
    return len(run.engine.methods["forward"].plan.reads)


t = torch.tensor
X = torch.linspace(-2, 2.5, 20).reshape(5, 4).sin()
NONE = -torch.ones(5, 4)
LABELS = t([3, 1, 3, 2, 1])


def nonzero(self: Net, x: torch.Tensor) -> Any:
    found = x.relu().nonzero()
    return found, torch.arange(5)[found[:, 0]].sum(), found.shape[0]


def mask(self: Net, x: torch.Tensor) -> Any:
    return x[x > 0] * 2, torch.masked_select(x, x[0] > 0), x[:, x[0] < 0]


def mask_and_index(self: Net, x: torch.Tensor) -> Any:
    return x[t([1]), x[0] < 0], self.linear(x[x.sum(1) > -9]).softmax(-1)


def unique(self: Net, x: torch.Tensor) -> Any:
    values, counts = torch.unique(x, return_counts=True)
    runs = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
    return values * counts, torch.unique(x.reshape(1, -1), return_inverse=True), runs


def of_nothing(self: Net, x: torch.Tensor) -> Any:
    return torch.unique_consecutive(x, return_counts=True), x.nonzero(), torch.unique(x), x[x > 0] + 1


def unique_rows(self: Net, x: torch.Tensor) -> Any:
    rows = torch.unique(x, dim=0, return_inverse=True, return_counts=True)
    return rows, torch.unique_consecutive(x, return_inverse=True, return_counts=True, dim=1)


def counts(self: Net, x: torch.Tensor) -> Any:
    repeated = torch.repeat_interleave(X, x, dim=0)
    return torch.bincount(x), torch.bincount(x, x * 0.5, minlength=3), repeated, torch.repeat_interleave(x)


def chained(self: Net, x: torch.Tensor) -> Any:
    some = x[x > 0]
    fewer = some[some > some.mean()]
    return torch.cat([fewer * 2, some]), some.shape[0] + fewer.shape[0]


def batch(self: Net, x: torch.Tensor) -> Any:
    y = self.linear(x)
    chosen = y.sum(1) > 0
    return y[chosen], y + x, x.shape[0] + chosen.nonzero().shape[0], torch.cat([y[y > 0], x.reshape(-1)])


def numbers(self: Net, x: torch.Tensor, n: torch.Tensor) -> Any:
    k = n.item()
    torch._check(k >= 0)
    torch._check(k < x.shape[0])
    filled = torch.full((k, 2), k) + torch.ones(k, 1)
    return x[:k] * 2, x.narrow(0, k, 1), x[k], filled, x.sum() * k, k + 1, k * 0.5, torch.arange(k)


def numbers_of_any_sign(self: Net, x: torch.Tensor, n: torch.Tensor) -> Any:
    k = n.item()
    return x[k] + 1, x[k:].sum(), x[:, :k]


def floats(self: Net, x: torch.Tensor, a: torch.Tensor) -> Any:
    return x * a.item() + torch.full((3, 1, 1), a.item() * 2), x * (a > 0).item()


def counter(self: Net, x: torch.Tensor) -> Any:
    def turn(i: Any, total: torch.Tensor, x: torch.Tensor) -> Any:
        return i + 1, total + x[i] * (i * 2), x.clone()

    return while_loop(lambda i, total, x: i < x.shape[0], turn, (0, torch.zeros(4), x))


def nested(self: Net, x: torch.Tensor, n: torch.Tensor) -> Any:
    def turn(i: Any, x: torch.Tensor) -> Any:
        y = torch.cond(i % 2 == 0, lambda x: x - 1.5, lambda x: x * 3, (x,))
        return i + 1, while_loop(lambda j, y: j < 2, lambda j, y: (j + 1, y + i), (0, y))[1]

    i, y = while_loop(lambda i, x: i < 5, turn, (0, x))
    return torch.cond(n.item() > 3, lambda y: y + 1, lambda y: y * 2, (y,)), i


def joined(self: Net, x: torch.Tensor) -> Any:
    some = x[x > 0]
    grown = torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a - 1, (some,))
    return grown, torch.cond(x.sum() > 0, lambda a: (a[:2], 1), lambda a: (a[:3], 2), (x,))


def stacked(self: Net, i: torch.Tensor, x: torch.Tensor) -> Any:
    return while_loop_stack_output_op(lambda i, x: i < 4, lambda i, x: (i + 1, x.cos() + i), (i, x), ())


BATCH = {"dynamic_shapes": (({0: torch.export.Dim("n", min=2, max=99)},),)}


@pytest.mark.parametrize(
    ("function", "calls", "options"),
    [
        (nonzero, [(X,), (NONE,)], {}),
        (nonzero, [(X,), (NONE,)], {"core": True}),
        (mask, [(X,), (NONE,)], {}),
        (mask_and_index, [(X,)], {}),
        (unique, [(LABELS,), (t([1, 1, 1, 1, 1]),), (t([2, 2, 0, 0, 7]),)], {}),
        (unique, [(t([3.0, 1, 3, 2, float("nan")]),)], {"core": True}),
        (of_nothing, [(X[:0],)], {}),
        (unique_rows, [(t([[3, 1, 1], [3, 2, 2], [3, 1, 1], [0, 5, 5]]),)], {}),
        (counts, [(LABELS,), (t([0, 0, 9, 0, 0]),)], {}),
        (chained, [(X,), (X.abs(),)], {}),
        (batch, [(X,), (torch.cat([X, X * 3]),), (X[:2],)], BATCH),
        (numbers, [(X, t(3)), (X, t(0))], {}),
        (numbers, [(X, t(2)), (X, t(4))], {"core": True}),
        (numbers_of_any_sign, [(X, t(3)), (X, t(-2)), (X, t(0))], {}),
        (floats, [(X, t(2.5)), (X, t(-1.5))], {}),
        (counter, [(X,)], {}),
        (nested, [(X, t(3)), (X, t(4))], {}),
        (joined, [(X + 1,), (X - 0.5,), (NONE,)], {}),
        (stacked, [(t(3), X), (t(-2), X), (t(9), X)], {}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_equal_to_eager(function: Callable[..., Any], calls: list[Inputs], options: dict[str, Any]) -> None:
    check(function, *calls, **options)


def test_a_piece_for_each_number_that_others_wait_for() -> None:
    def again(self: Net, x: torch.Tensor) -> torch.Tensor:
        return torch.bincount(torch.bincount(x))

    assert pieces(check(again, (LABELS,))) == 3
    # Native code itself reads sizes of which it is known what they are at most.
    assert reads(check(mask, (X,))) == 3
    assert reads(check(chained, (X,))) == 2
    # What only makes a tensor of a number that was one needs no number.
    assert pieces(check(floats, (X, t(2.0)))) == 1


def test_programs_without_such_numbers_are_one_piece() -> None:
    def function(self: Net, x: torch.Tensor) -> torch.Tensor:
        torch._assert_async(x.sum() < 99, "too large")
        return self.linear(x)

    run = check(function, (X,))
    assert not isinstance(run.engine, SplitEngine)
    with pytest.raises(ExirError, match="too large"):
        run(X.numpy() + 100)


def test_what_numbers_have_to_keep() -> None:
    run = check(numbers, (X, t(3)))
    with pytest.raises(ExirError, match=r"u0 <= 4"):
        run(X.numpy(), np.array(5))
    run = check(numbers_of_any_sign, (X, t(3)))
    for index in (5, -6):
        with pytest.raises(ExirError, match="index u0 is out of range for a dimension of size 5"):
            run(X.numpy(), np.array(index))
    run = check(lambda self, x: torch.bincount(x), (LABELS,))
    with pytest.raises(ExirError, match="negative"):
        run(np.array([1, -1, 0, 0, 0]))


ONE_HOT = """
func.func @forward(%x: tensor<5xi64>) -> tensor<5x?xi64, #exir.shape<[5, u0]>> {
  %0 = edge.aten.one_hot(%x) : (tensor<5xi64>) -> tensor<5x?xi64, #exir.shape<[5, u0]>>
  func.return %0 : tensor<5x?xi64, #exir.shape<[5, u0]>>
}"""


def test_one_hot_without_a_number_of_classes() -> None:
    run = xdsl_exir.compile(Program(Parser(context().clone(), ONE_HOT).parse_module()), target="native")
    for labels in (LABELS, t([0, 0, 7, 1, 2])):
        np.testing.assert_array_equal(run.flat([labels.numpy()])[0], torch.nn.functional.one_hot(labels))


def test_sizes_that_a_region_computes_are_refused() -> None:
    def function(self: Net, x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x[x > 0].sum(), lambda x: x.sum(), (x,))

    program = xdsl_exir.from_exported_program(torch.export.export(Net(function), (X,)))
    with pytest.raises(UnsupportedError, match=r"aten\.index\.Tensor: u\d+ depends on data"):
        xdsl_exir.compile(program, target="native")
    run = xdsl_exir.compile(program, target="native", fallback="interpreter")
    np.testing.assert_allclose(run(X.numpy()), leaves(function(Net(function), X))[0], rtol=1e-5)
    assert [item.operator for item in run.fallbacks] == ["higher_order.cond"]


def test_operators_in_all_forms() -> None:
    """The calls that the interpreter is tested with, compiled together."""
    calls = [*((call, (shape,)) for call, shape in DEPENDENT), *DEPENDENT_SEVERAL]
    calls = [(call, shapes) for call, shapes in calls if f"aten.{call[0]}" not in INTERPRETER_ONLY]
    whole = ModuleOp([])
    for index, ((name, *args), shapes) in enumerate(calls):
        expected = flatten(find_operator(f"aten.{name}")(*args))
        types = [tensor_type(shape, dtype(e.dtype)) for shape, e in zip(shapes, expected, strict=True)]
        [function] = dependent_program(name, *args, types=types).ops
        assert isinstance(function, FuncOp)
        function.detach()
        function.sym_name = StringAttr(f"call_{index}")
        whole.body.block.add_op(function)
    for stage in (DecomposeAten(), AtenToEdge()):
        stage.apply(Context(), whole)
    engine = make_engine(Program(whole), "error")
    for index, ((name, *args), _) in enumerate(calls):
        tensors = [x for arg in args for x in (arg if isinstance(arg, list) else [arg])]
        given = [to_numpy(x) for x in tensors if isinstance(x, torch.Tensor)]
        expected = flatten(find_operator(f"aten.{name}")(*args))
        for got, wanted in zip(engine.run(f"call_{index}", given), expected, strict=True):
            compare(f"{name}{args}", got, wanted)


def test_a_mask_that_picks_again() -> None:
    """PyTorch knows that one mask picks equally many each time: both results name one size."""

    def function(_: Any, x: torch.Tensor, mask: torch.Tensor) -> Any:
        picked = x[mask]
        changed = x.clone()
        changed[mask] = picked * 2
        return changed, changed[mask] + picked, mask.nonzero()

    x = torch.randn(2, 5, 3)
    masks = (torch.rand(2, 5) > 0.5, torch.zeros(2, 5, dtype=torch.bool), torch.ones(2, 5, dtype=torch.bool))
    check(function, *((x, mask) for mask in masks))


def test_what_is_computed_of_what_a_mask_picks_and_put_back_needs_no_count() -> None:
    """Of the mask's elements, of rows that it picks, and of columns; what may fail elsewhere is computed of the elements alone."""

    def function(_: Any, x: torch.Tensor, n: torch.Tensor, mask: torch.Tensor) -> Any:
        rows, columns, divided = x.clone(), x.clone(), n.clone()
        x = x.clone()
        x[x < 0] = x[x < 0].exp() * 2 + 1
        rows[mask] = (rows[mask] - x[mask]).relu() * x[0]
        columns[:, mask[:3]] = -columns[:, mask[:3]]
        divided[n != 0] = 7 // n[n != 0]
        return x, rows, columns, divided

    x = torch.randn(5, 3)
    calls = [
        (x * sign, torch.tensor([2, 0, -1, 3]), mask)
        for sign in (1, -1)
        for mask in (torch.rand(5) > 0.5, torch.zeros(5, dtype=torch.bool), torch.ones(5, dtype=torch.bool))
    ]
    assert reads(check(function, *calls)) == 3  # of the four masks: not for the rows


def test_counts_that_the_program_holds_for() -> None:
    """What is reshaped to sizes that are known has to be as much: the data is looked at."""

    def function(_: Any, x: torch.Tensor, mask: torch.Tensor) -> Any:
        some = x[mask].reshape(2, 3), torch.masked_select(x, ~mask.unsqueeze(-1)).view(3, 3)
        return *some, mask.nonzero().reshape(4), torch.bincount(mask.int().view(-1)).reshape(2)

    x, mask = torch.randn(1, 5, 3), torch.tensor([[True, False, False, True, False]])
    run = check(function, (x, mask))
    with pytest.raises(AssertionFailed, match="a size that depends on data is not 2"):
        run(x.numpy(), ~mask.numpy())
