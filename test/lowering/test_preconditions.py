"""What operators raise for by what tensors hold, in the interpreter and natively, branches and loops included."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from differential import to_numpy
from torch._higher_order_ops.map import map as map_op  # pyright: ignore[reportMissingTypeStubs]
from torch._higher_order_ops.scan import scan  # pyright: ignore[reportMissingTypeStubs]
from torch._higher_order_ops.while_loop import while_loop  # pyright: ignore[reportMissingTypeStubs]
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.errors import ExirError
from xdsl_exir.lowering.preconditions import DIVISION_BY_ZERO
from xdsl_exir.program import context
from xdsl_exir.runtime.executable import Executable
from xdsl_exir.runtime.native import plan_program

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
DIVISIONS: dict[str, Callable[..., Any]] = {
    "floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "floor_divide": torch.floor_divide,
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "//=": lambda x, y: x.clone().floor_divide_(y),
    "%=": lambda x, y: x.clone().remainder_(y),
    "fmod_": lambda x, y: x.clone().fmod_(y),
    "div_": lambda x, y: x.clone().div_(y, rounding_mode="trunc"),
    "by a number": lambda x, y: (x // 3, x % 2, x % torch.tensor(5)),
    "number by": lambda x, y: torch.remainder(7, y),
}


class Net(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def program_of(function: Callable[..., Any], *args: torch.Tensor, **options: Any) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(Net(function), args, **options))


def executables(program: xdsl_exir.Program) -> list[Executable]:
    return [xdsl_exir.compile(program), xdsl_exir.compile(program.to_edge(), target="native")]


def check(function: Callable[..., Any], *calls: tuple[torch.Tensor, ...], **options: Any) -> list[str]:
    """Compares with eager for calls, the first of which the function is exported with; how each call ended."""
    runs = executables(program_of(function, *calls[0], **options))
    ends: list[str] = []
    for args in calls:
        try:
            expected: Any = torch.utils._pytree.tree_leaves(function(*args))
        except (RuntimeError, ZeroDivisionError) as error:
            assert "ZeroDivision" in repr(error) or "division by zero" in repr(error)  # noqa: PT017
            expected = None
        for run in runs:
            inputs = [to_numpy(x) for x in args]
            if expected is None:
                with pytest.raises(ExirError, match=DIVISION_BY_ZERO):
                    run.flat(inputs)
                continue
            for got, wanted in zip(run.flat(inputs), expected, strict=True):
                np.testing.assert_array_equal(got, to_numpy(wanted), strict=True)
        ends.append("raised" if expected is None else "gave")
    return ends


def test_integer_division_by_zero() -> None:
    def function(*args: torch.Tensor) -> Any:
        pairs = zip(args[::2], args[1::2], strict=True)
        return [divide(x, y) for x, y in pairs for divide in DIVISIONS.values()]

    def call(zero: int | None = None) -> tuple[torch.Tensor, ...]:
        """Numbers of either sign; one divisor 0 among those of one dtype."""
        made: list[torch.Tensor] = []
        for index, dtype in enumerate(INTEGERS):
            info = torch.iinfo(dtype)
            x = torch.tensor([info.min + 1, info.max, 7, 250, 0, 100, 3], dtype=torch.int64).to(dtype)
            y = torch.tensor([255, 2, 254, 3, 5, 7, info.max], dtype=torch.int64).to(dtype)
            made += [x, y.index_fill(0, torch.tensor(4), 0) if index == zero else y]
        return tuple(made)

    assert check(function, call(), *map(call, range(5))) == ["gave", *["raised"] * 5]


@pytest.mark.parametrize("dtype", INTEGERS[1:], ids=str)
def test_the_least_integer_divided_by_minus_one(dtype: torch.dtype) -> None:
    """PyTorch wraps around; where it divides rounding to zero, the processor stops it: so do we wrap there."""
    least = torch.iinfo(dtype).min
    x, y = torch.full((8,), least, dtype=dtype), torch.full((8,), -1, dtype=dtype)
    names = ["floor", "floor_divide", "remainder", "fmod"]
    assert check(lambda x, y: [DIVISIONS[name](x, y) for name in names], (x, y)) == ["gave"]
    for run in executables(program_of(DIVISIONS["trunc"], torch.ones_like(x), y)):
        np.testing.assert_array_equal(run(x.numpy(), y.numpy()), x.numpy(), strict=True)


def test_nothing_is_divided_where_there_is_nothing() -> None:
    ends = check(
        lambda x, y: x // y, (torch.ones(0, 3, dtype=torch.int32), torch.zeros(1, 3, dtype=torch.int32))
    )
    assert ends == ["gave"]
    shapes = {"args": ({0: torch.export.Dim.AUTO}, None)}
    zero, one = torch.tensor([0]), torch.tensor([1])
    calls = [(torch.arange(4), one), (torch.arange(5), zero), (torch.arange(0), zero)]
    assert check(lambda x, y: x // y, *calls, dynamic_shapes=shapes) == ["gave", "raised", "gave"]


def test_no_index_is_looked_at_where_nothing_is_picked() -> None:
    """As PyTorch, whose loop has no turns then."""
    auto = torch.export.Dim.AUTO
    program = program_of(
        lambda x: x[torch.tensor([4, 0]), 1:],
        torch.randn(5, 5),
        dynamic_shapes={"args": ({0: auto, 1: auto},)},
    )
    for run in executables(program):
        assert run(torch.randn(1, 1)).shape == (2, 0)
        with pytest.raises(ExirError, match="out of range"):
            run(torch.randn(4, 4))


def test_divisors_that_are_known_are_not_looked_at() -> None:
    x = torch.arange(5)
    program = program_of(lambda x: (x // 3, x % torch.tensor(2), x.fmod(torch.full((5,), 7))), x).to_edge()
    assert plan_program(program).checks["forward"] == []
    program = program_of(lambda x, y: (x // y, x % y, y % x), x, x + 1).to_edge()
    assert len(plan_program(program).checks["forward"]) == 2


def test_the_first_assertion_that_fails_is_told() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        torch._assert_async(x.sum() > 0, "first")
        z = x // y
        torch._assert_async(z.sum() > 0, "last")
        return z

    zero, one = torch.zeros(2, dtype=torch.int64), torch.ones(2, dtype=torch.int64)
    runs = executables(program_of(function, one, one + 5))
    for run, (x, y, text) in itertools.product(
        runs, [(zero, zero, "first"), (one, zero, DIVISION_BY_ZERO), (one, one + 5, "last")]
    ):
        with pytest.raises(ExirError, match=text):
            run(x.numpy(), y.numpy())


# --- regions -------------------------------------------------------------------------------------------------


def branch(p: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> Any:
    return torch.cond(
        p,
        lambda x, y: torch.cond(x.sum() > 9, lambda x, y: x // y, lambda x, y: x - y, (x, y)),
        lambda x, y: x + y,
        (x, y),
    )


def test_branches_that_are_not_taken_do_not_raise() -> None:
    yes, no = torch.tensor(True), torch.tensor(False)
    many, few, one, zero = (
        torch.tensor([9, 8]),
        torch.tensor([3, 4]),
        torch.tensor([2, 1]),
        torch.tensor([0, 1]),
    )
    calls = [(yes, many, one), (no, many, zero), (yes, few, zero), (yes, many, zero)]
    assert check(branch, *calls) == ["gave", "gave", "gave", "raised"]


def loop(x: torch.Tensor, y: torch.Tensor) -> Any:
    """Ends when it has divided by zero, though x does not change then."""
    return while_loop(lambda x, y: x.sum() > 20, lambda x, y: (x // y, y - 1), (x, y))


def loop_with_condition(x: torch.Tensor, y: torch.Tensor) -> Any:
    return while_loop(lambda x, y: (60 // x).sum() < 20, lambda x, y: (x - y, y.clone()), (x, y))


def test_loops() -> None:
    one = torch.tensor([60, 90])
    assert check(loop, (one, torch.tensor([4, 4])), (one, torch.tensor([1, 1])), (one // 90, one * 0)) == [
        "gave",
        "raised",
        "gave",
    ]
    five = torch.tensor([5])
    calls = [(five, torch.tensor([1])), (five, five), (five * 0, five)]
    assert check(loop_with_condition, *calls) == ["gave", "raised", "raised"]


def test_turns_over_elements() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        mapped = map_op(lambda a, b: a // b, x, y[0])
        scanned = scan(lambda c, a: (c + a[0] % a[1], c // a[1]), x[0], (x, y))
        return mapped, scanned

    x, y = torch.arange(12).reshape(4, 3) + 1, torch.arange(12).reshape(4, 3) + 2
    zeros = [y.index_put((torch.tensor(row), torch.tensor(1)), torch.tensor(0)) for row in (0, 3)]
    assert check(function, (x, y), *((x, zero) for zero in zeros)) == ["gave", "raised", "raised"]


PREFIXES = """
func.func @forward(%x : tensor<3x2xi64>) -> tensor<3x2xi64> {
  %y = higher_order.associative_scan xs(%x : tensor<3x2xi64>) -> tensor<3x2xi64> {
  ^bb0(%a : tensor<2xi64>, %b : tensor<2xi64>):
    %c = aten.add.Tensor(%a, %b) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %d = aten.remainder.Tensor(%a, %c) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    higher_order.yield %d : tensor<2xi64>
  }
  func.return %y : tensor<3x2xi64>
}"""


def test_associative_scans() -> None:
    runs = executables(xdsl_exir.Program(Parser(context().clone(), PREFIXES).parse_module()))
    x = np.array([[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(*(run(x) for run in runs))
    for run in runs:
        with pytest.raises(ExirError, match=DIVISION_BY_ZERO):
            run(np.array([[1, 2], [3, -2], [5, 6]]))


def test_masks_that_pick_more_places_than_there_are_elements() -> None:
    auto = torch.export.Dim.AUTO
    x, mask = torch.zeros(2, 3), torch.tensor([True, False, True])
    shapes: Any = ((None, None, {0: auto}),)
    program = program_of(torch.masked_scatter, x, mask, torch.arange(4.0), dynamic_shapes=shapes)
    for run in executables(program):
        np.testing.assert_array_equal(run(x, mask, torch.arange(5.0)), [[0, 0, 1], [2, 0, 3]])
        with pytest.raises(ExirError, match=r"masked_scatter: .* elements in source for"):
            run(x, mask, torch.arange(3.0))
        with pytest.raises(ExirError, match=r"masked_scatter: .* elements in source for"):
            run(x, ~(mask & False), torch.arange(5.0))


def test_a_mask_as_long_as_what_it_is_written_to() -> None:
    """PyTorch traces it without a guard; the tensor that is written keeps its own sizes."""

    def fill(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x.permute(0, 1).masked_scatter_(mask, torch.arange(30.0))
        return x * 2

    x, mask = torch.zeros(4, 5), torch.arange(5)[None] % 2 == 0
    dynamic = torch.export.Dim.DYNAMIC
    shapes = (({0: dynamic, 1: dynamic}, {1: dynamic}),)
    for run in executables(program_of(fill, x, mask, dynamic_shapes=shapes)):
        for of in (x, torch.zeros(2, 3)):
            np.testing.assert_array_equal(
                run(of, mask[:, : of.shape[1]]), fill(of.clone(), mask[:, : of.shape[1]])
            )
        with pytest.raises(ExirError, match=r"args_0.*args_1.*not s\d+ == s\d+"):
            run(torch.zeros(2, 3), mask)


def test_a_part_that_is_longer_than_what_it_is_written_to() -> None:
    """PyTorch traces no guard; what the operator's rule takes for granted is said of the inputs, by all engines."""

    def write(x: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
        return torch.slice_scatter(x, part, 0, 0, part.shape[0])

    x, part = torch.zeros(6, 2), torch.ones(5, 2)
    rows = {0: torch.export.Dim.DYNAMIC}
    for run in executables(program_of(write, x, part, dynamic_shapes=((rows, rows),))):
        for length in (5, 6, 0):
            np.testing.assert_array_equal(run(x, part[:length]), write(x, part[:length]))
        with pytest.raises(ExirError, match=r"args_0.*args_1.*not s\d+ == min"):
            run(x, torch.ones(7, 2))
