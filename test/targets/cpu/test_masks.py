"""Masked attention natively: what is masked out costs nothing of its own, and results are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import xdsl_exir
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu import machine
from xdsl_exir.targets.cpu.kernels import Chain, Matmul, Rows

pytestmark = pytest.mark.native


class Attention(torch.nn.Module):
    def forward(self, query: Any, key: Any, value: Any, mask: Any) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)


def operands(*mask: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    shut = torch.rand(mask) < 0.4
    shut[..., 2, :] = True
    added = torch.zeros(mask).masked_fill(shut, -torch.inf)
    return (*(torch.randn(2, 3, 21, 16) for _ in range(3)), added)


def program(model: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(model, args))


@pytest.mark.parametrize("mask", [(21, 21), (2, 1, 21, 21), (2, 3, 21, 21)])
def test_attention(mask: tuple[int, ...]) -> None:
    args = operands(*mask)
    run = xdsl_exir.compile(program(Attention(), args), "native")
    np.testing.assert_allclose(run.flat(list(args))[0], Attention()(*args).numpy(), 1e-5, 1e-5)


def test_a_mask_is_added_where_rows_are_reduced() -> None:
    """Scores are read once, and nothing is stored of them but the result: zeros of their type need no elements."""
    kernels = list(plan_program(program(Attention(), operands(21, 21))).dispatches.kernels.values())
    (rows,) = [kernel for kernel in kernels if isinstance(kernel, Rows)]
    assert (len(rows.inputs), len(rows.outputs)) == (2, 1)
    assert not any(kernel.epilogue.inputs for kernel in kernels if isinstance(kernel, Matmul))


# --- chains: scores that are never all in memory ------------------------------------------------------------------


def heads(batch: tuple[int, ...], rows: int, keys: int, size: int, width: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    shapes = ((*batch, rows, size), (*batch, keys, size), (*batch, keys, width))
    return tuple(torch.randn(shape) for shape in shapes)


def shut(*shape: int) -> torch.Tensor:
    """Where scores are taken; of one row none are."""
    torch.manual_seed(1)
    taken = torch.rand(shape) > 0.3
    taken[..., shape[-2] // 2, :] = False
    return taken


SDPA = torch.nn.functional.scaled_dot_product_attention


def grouped(query: Any, key: Any, value: Any) -> Any:
    return SDPA(query, key[:, :2], value[:, :2], enable_gqa=True)


def causal(query: Any, key: Any, value: Any) -> Any:
    return SDPA(query, key, value, is_causal=True)


def fused(query: Any, key: Any, value: Any) -> Any:
    return torch.relu(SDPA(query, key, value) * 2 + query).transpose(1, 2).flatten(2)


def masked(mask: torch.Tensor) -> Callable[..., Any]:
    return lambda query, key, value: SDPA(query, key, value, mask)


def lower(rows: int, keys: int, beyond: int) -> torch.Tensor:
    """A mask of what lies at most so far beyond a row's own place, some rows of which are shut."""
    opened = torch.ones(rows, keys, dtype=torch.bool).tril(beyond)
    opened[::7] = False
    return opened


def other_rows(query: Any, key: Any, value: Any) -> Any:
    """Rows of other operators than a softmax."""
    scores = torch.tanh(query @ key.transpose(-1, -2)) + 1
    return torch.nn.functional.layer_norm(scores, scores.shape[-1:]) @ value


CHAINS: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "one batch": (SDPA, heads((1, 3), 200, 200, 16, 16)),
    "several": (SDPA, heads((2, 3), 131, 149, 17, 5)),
    "no batch": (lambda q, k, v: torch.softmax(q @ k.T, -1) @ v, heads((), 331, 257, 9, 33)),
    "causal": (causal, heads((2, 2), 150, 150, 8, 8)),
    "causal, of many": (causal, heads((1, 2), 600, 600, 16, 16)),
    "a mask that opens later": (masked(lower(300, 700, 90)), heads((2, 1), 300, 700, 16, 8)),
    "a mask for all": (masked(shut(133, 199)), heads((2, 3), 133, 199, 8, 8)),
    "a mask a batch": (masked(shut(2, 1, 133, 199)), heads((2, 3), 133, 199, 8, 8)),
    "a mask of keys": (masked(shut(2, 1, 2, 199)[..., :1, :]), heads((2, 3), 133, 199, 8, 8)),
    "grouped heads": (grouped, heads((1, 4), 150, 150, 16, 16)),
    "with what follows": (fused, heads((2, 3), 160, 160, 16, 16)),
    "other rows": (other_rows, heads((3,), 160, 170, 16, 20)),
    "long rows": (SDPA, heads((1, 1), 40, 5001, 8, 8)),
}


class Called(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, query: Any, key: Any, value: Any) -> Any:
        return self.function(query, key, value)


@pytest.mark.parametrize("name", CHAINS)
def test_chains(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they give is PyTorch's, and the same for any number of threads."""
    function, args = CHAINS[name]
    given, results = program(Called(function), args), list[np.ndarray]()
    for threads in (1, 3):
        monkeypatch.setattr(machine, "cores", lambda threads=threads: threads)
        kernels = plan_program(given).dispatches.kernels.values()
        assert [kernel for kernel in kernels if isinstance(kernel, Chain)]
        run = xdsl_exir.compile(given, "native")
        results.append(run.flat(list(args))[0])
    np.testing.assert_allclose(results[0], function(*args).numpy(), 2e-5, 2e-5)
    np.testing.assert_array_equal(results[0], results[1])
    for _ in range(100):  # threads meet where blocks have rows in common
        np.testing.assert_array_equal(results[0], run.flat(list(args))[0])


def added(size: int) -> torch.Tensor:
    """A causal mask to add."""
    return torch.full((size, size), -torch.inf).triu(1)


def wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype is torch.float64 else x.float()


REACHES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], int | None]] = {
    "causal": (causal, heads((1, 2), 600, 600, 16, 16), 1),
    "later": (
        masked(torch.zeros(300, 700).masked_fill(~lower(300, 700, 90), -torch.inf)),
        heads((2, 1), 300, 700, 16, 8),
        91,
    ),
    "any": (masked(shut(133, 199)), heads((2, 3), 133, 199, 8, 8), None),
    "none": (SDPA, heads((1, 3), 200, 200, 16, 16), None),
    "twice the same": (
        lambda q, k, v: (q @ k.mT + added(600)[:300].repeat(2, 1)).softmax(-1) @ v,
        heads((2,), 600, 600, 16, 16),
        1,
    ),
    "rows that see what is shut": (
        lambda q, k, v: torch.nn.functional.layer_norm((q @ k.mT + added(600)).exp(), (600,)) @ v,
        heads((1, 2), 600, 600, 16, 16),
        None,
    ),
    "sums of what is left": (
        lambda q, k, v: (q @ k.mT / 4 + added(600)).exp() @ v,
        heads((1, 2), 600, 600, 16, 16),
        1,
    ),
}
"""Chains, and how far beyond its own place a row sees."""


@pytest.mark.parametrize("name", REACHES)
def test_what_a_row_sees(name: str) -> None:
    function, args, reach = REACHES[name]
    given = program(Called(function), args)
    [chain] = [each for each in plan_program(given).dispatches.kernels.values() if isinstance(each, Chain)]
    assert chain.reach == reach
    if reach is not None:
        seen = [elements for _, _, elements in chain.views]
        assert seen == sorted(set(seen))
        assert seen[0] < seen[-1] <= chain.first.n
    result = xdsl_exir.compile(given, "native").flat(list(args))[0]
    np.testing.assert_allclose(result, function(*args).numpy(), 2e-5, 2e-4)


OF_HALVES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], tuple[bool, bool]]] = {
    "whole tiles": (SDPA, heads((2, 2), 192, 192, 32, 64), (True, True)),
    "ends of tiles": (SDPA, heads((1, 3), 200, 214, 18, 23), (True, True)),
    "causal": (causal, heads((2, 2), 150, 150, 80, 80), (True, True)),
    "causal, of many": (causal, heads((1, 2), 700, 700, 64, 64), (True, True)),
    "long rows": (SDPA, heads((1, 2), 70, 3002, 64, 64), (True, True)),
    "an odd number of keys": (SDPA, heads((1, 4), 200, 201, 16, 16), (True, True)),
    "an odd number of columns and keys": (causal, heads((2, 2), 197, 197, 64, 35), (True, True)),
    "an odd number of elements": (SDPA, heads((1, 4), 200, 200, 17, 16), (False, False)),
    "what follows": (fused, heads((2, 3), 160, 160, 16, 16), (True, True)),
    "not rounded": (
        lambda q, k, v: torch.relu((wide(q) @ wide(k).mT).softmax(-1) @ wide(v) * 2 + wide(q)),
        heads((2, 3), 160, 160, 16, 16),
        (True, False),
    ),
}
"""What is computed of which operands, and whether, where there are tiles, its two products are of them."""


@pytest.mark.parametrize("name", OF_HALVES)
def test_chains_of_halves(name: str) -> None:
    """They are as exact as PyTorch's."""
    function, args, tiles = OF_HALVES[name]
    halves = [each.bfloat16() for each in args]
    given = program(Called(function), tuple(halves))
    features = replace(machine.processor(), features="+avx512f,+avx512bf16,+amx-tile,+amx-bf16")
    [chain] = [
        each for each in plan_program(given, features).dispatches.kernels.values() if isinstance(each, Chain)
    ]
    assert (chain.first.tiled, chain.second.tiled) == tiles
    result = xdsl_exir.compile(given, "native").flat(halves)[0].astype(np.float64)
    exact = function(*[each.double() for each in halves])
    eager = (function(*halves).double() - exact).abs().max()
    assert np.abs(result - exact.numpy()).max() <= 1.5 * float(eager)


def test_a_chain_of_any_sizes() -> None:
    rows, keys = torch.export.Dim("rows", min=1), torch.export.Dim("keys", min=1)
    sizes = ({2: rows}, {2: keys}, {2: keys})
    args = heads((2, 4), 200, 300, 16, 8)
    exported = torch.export.export(Called(SDPA), args, dynamic_shapes=sizes)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    for m, n in ((200, 300), (1, 1), (7, 300), (65, 2), (33, 64)):
        given = heads((2, 4), m, n, 16, 8)
        np.testing.assert_allclose(run.flat(list(given))[0], SDPA(*given).numpy(), 2e-5, 2e-5)


class Ffn(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = torch.nn.Linear(32, 400, bias=False), torch.nn.Linear(400, 32, bias=False)

    def forward(self, x: Any, *others: Any) -> Any:
        return self.down(torch.nn.functional.silu(self.up(x)))


NO_CHAINS: dict[str, tuple[Any, tuple[torch.Tensor, ...]]] = {
    "weights": (Ffn(), (torch.randn(300, 32),)),
    "a row": (Called(SDPA), heads((1, 8), 1, 9000, 8, 8)),
    "wide": (Called(SDPA), heads((1, 2), 200, 400, 300, 300)),
    "used": (Called(lambda q, k, v: ((s := torch.softmax(q @ k.T, -1)) @ v, s)), heads((), 300, 300, 8, 8)),
    "twice": (Called(lambda q, k, v: (s := torch.softmax(q @ k.T, -1)) @ (s @ v)), heads((), 300, 300, 8, 8)),
    "along columns": (Called(lambda q, k, v: torch.softmax(q @ k.T, 0) @ v), heads((), 300, 300, 8, 8)),
    "float64": (Called(SDPA), tuple(each.double() for each in heads((1, 2), 300, 300, 8, 8))),
}


@pytest.mark.parametrize("name", NO_CHAINS)
def test_no_chains(name: str) -> None:
    model, args = NO_CHAINS[name]
    kernels = plan_program(program(model, args)).dispatches.kernels.values()
    assert not [kernel for kernel in kernels if isinstance(kernel, Chain)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exp_of_what_is_far_below(dtype: str) -> None:
    class Exp(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.exp()

    far = [-torch.inf, torch.nan, torch.inf, -0.0, -1e4, -1e30, -176.0, -254.0 * np.log(2), -1418.0]
    x = torch.cat([torch.tensor(far, dtype=torch.float64), torch.linspace(-1500, -60, 3001)])
    x = x.to(getattr(torch, dtype))
    run = xdsl_exir.compile(program(Exp(), (x,)), "native")
    smallest = torch.finfo(x.dtype).smallest_normal
    tiny = smallest * torch.finfo(x.dtype).eps
    got, wanted = run.flat([x])[0], x.exp().numpy()
    np.testing.assert_allclose(got, wanted, 4 * torch.finfo(x.dtype).eps, tiny)
    assert not np.signbit(got).any()
