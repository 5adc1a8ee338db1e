"""Operators that PyTorch traces as other types than its kernels give: programs of them run as eager does."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from differential import compare, to_numpy  # noqa: E402

import xdsl_exir  # noqa: E402

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32)
BACKWARD = {
    "threshold": lambda gradient, x: torch.ops.aten.threshold_backward(gradient, x, 0.5) * 2,
    "dropout": lambda gradient, x: torch.ops.aten.native_dropout_backward(gradient, x > 0, 2.0) + x,
}


class Function(torch.nn.Module):
    def __init__(self, function: Any):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def program_of(model: Any, args: tuple[Any, ...]) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(model, args))


@pytest.mark.parametrize("name", BACKWARD)
def test_gradients_of_mixed_dtypes(name: str) -> None:
    for left, right in itertools.permutations(DTYPES, 2):
        args = tuple((torch.randn(5) * 3).to(dtype) for dtype in (left, right))
        program = program_of(Function(BACKWARD[name]), args)
        for stage in (program, program.to_edge()):
            [got] = xdsl_exir.compile(stage).flat([to_numpy(x) for x in args])
            compare(f"{name} of {left} and {right}", got, BACKWARD[name](*args))


def test_powers_of_an_exponent_without_dimensions() -> None:
    def scaled(x: Any, y: Any) -> Any:
        return torch.ldexp(x, y) * 3

    for left, right in itertools.product((torch.bool, *DTYPES), DTYPES):
        args = torch.tensor([0, 1, 3]).to(left), torch.tensor(2).to(right)
        [got] = xdsl_exir.compile(program_of(Function(scaled), args)).flat([to_numpy(x) for x in args])
        compare(f"ldexp of {left} and {right}", got, scaled(*args))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_whose_last_offset_is_the_end(mode: str) -> None:
    bags = torch.nn.EmbeddingBag(5, 3, mode=mode, include_last_offset=True)
    args = torch.tensor([0, 1, 2, 4]), torch.tensor([0, 2, 2, 4])
    [got] = xdsl_exir.compile(program_of(bags, args)).flat([x.numpy() for x in args])
    compare(mode, got, bags(*args).detach())


@pytest.mark.parametrize("reduce", [torch.nansum, torch.nanmean])
def test_empty_lists_of_dimensions_reduce_all(reduce: Any) -> None:
    functions = (
        lambda x: reduce(x, dim=[]),
        lambda x: (reduce(x, dim=[]) * 2 + torch.ones(3), x.sum(0)),
        lambda x: reduce(x, dim=[]).add_(x.max()),
    )
    x = torch.randn(4, 3)
    for function in functions:
        want = function(x)
        got = xdsl_exir.compile(program_of(Function(function), (x,))).flat([x.numpy()])
        for ours, theirs in zip(got, want if isinstance(want, tuple) else (want,), strict=True):
            compare("reduced", ours, theirs)


def written_as_rows(x: Any) -> Any:
    """A tensor after a write to what may be a view of it."""
    x.mT.reshape(-1, 1).zero_()
    return x


F = torch.nn.functional
LAID_APART: dict[str, Any] = {
    "log_sigmoid": F.logsigmoid,
    "pow of a number": lambda x: torch.pow(2.0, x),
    "pow of a number and integers": lambda x: torch.pow(-2, x.long()),
    "isin": lambda x: torch.isin(x, torch.tensor([1.0, 2.0])),
    "isin a number": lambda x: torch.isin(x.long(), 2),
    "angle": lambda x: torch.angle(torch.complex(x, -x)),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "batch_norm by running statistics": lambda x: F.batch_norm(x, torch.zeros(4), torch.ones(4)),
    "index_fill": lambda x: x[:, ::2].index_fill(0, torch.tensor([0]), 9.0),
    "copysign": lambda x: torch.copysign(x, torch.tensor(-1.0)),
    "div": lambda x: torch.div(x, torch.tensor(2.0), rounding_mode="floor"),
    "floor_divide": lambda x: x // torch.tensor(2.0),
    "heaviside": lambda x: torch.heaviside(torch.tensor(1.0), x),
    "logaddexp": lambda x: torch.logaddexp(torch.tensor(1.0), x),
    "copysign of a broadcast": lambda x: torch.copysign(x, -x[0].contiguous()),
    "xlogy": lambda x: torch.xlogy(x, (x + 1).contiguous()),
    "xlogy of a broadcast": lambda x: torch.xlogy(x[0], x),
    "logical_and": lambda x: torch.logical_and(x[:, :1], x),
    "one_hot": lambda x: F.one_hot(x.long(), 4),
    "max_pool1d": lambda x: F.max_pool1d(x, 2, 1),
    "max_unpool2d": lambda x: F.max_unpool2d(x[:1], 4 * torch.arange(x[0].numel()).view_as(x[:1]), 2),
    "max_unpool2d of planes": lambda x: F.max_unpool2d(
        x, 4 * torch.arange(x[0].numel()).view_as(x[0]).expand_as(x), 2
    ),
    "max_unpool2d of channels": lambda x: F.max_unpool2d(
        x[None], 4 * torch.arange(x[0].numel()).view_as(x[0]).expand_as(x[None]), 2
    ),
    "nearest": lambda x: F.interpolate(x, scale_factor=2),
    "what is computed from it": lambda x: F.logsigmoid(x).exp() * 2,
    "what is put into it": lambda x: torch.pow(2.0, x).index_put((torch.tensor([0]),), x[1]),
    "a view of it": lambda x: torch.pow(2.0, x).transpose(0, 2),
    "a view of a write to it": lambda x: torch.pow(2.0, x).neg_().movedim(1, 0)[..., None].sqrt_(),
    "what is seen in another shape": lambda x: written_as_rows(torch.pow(2.0, x)),
    # and some of those that are traced as they lie
    **{f"{f.__name__}": f for f in (torch.exp, torch.angle, torch.sgn, F.gelu, F.softplus, torch.cumsum)},
    "softmax": lambda x: x.softmax(1),
    "sort": lambda x: x.sort(0)[0],
    "cat": lambda x: torch.cat([x, x]),
    "where": lambda x: torch.where(x > 1, x, -x),
    "addcmul": lambda x: torch.addcmul(x, x, x.abs()),
    "layer_norm": lambda x: F.layer_norm(x, (3,)),
}


@pytest.mark.parametrize("order", [(2, 1, 0), (0, 2, 1)])
@pytest.mark.parametrize("name", LAID_APART)
def test_what_lies_in_memory_is_what_kernels_lay(name: str, order: tuple[int, ...]) -> None:
    """All of a result's memory, read through another view."""

    def memory(x: Any) -> Any:
        args = (x, 0) if name == "cumsum" else (x,)
        result = LAID_APART[name](*args)
        return result.as_strided((result.numel(),), (1,))

    x = torch.rand([(2, 4, 3)[dim] for dim in order]).permute(order) * 3
    want = memory(x)
    [got] = xdsl_exir.compile(program_of(Function(memory), (x,))).flat([x.numpy()])
    compare(name, got, want)
