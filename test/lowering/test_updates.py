"""State that is written where it lies: what is, what must not be, that calls see each other's writes, in process and at the stages on the way."""

# pyright: basic, reportMissingImports=false, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.errors import ExirError

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning"),
    pytest.mark.usefixtures("native_tools"),
]

NAMES = ("a", "b")
K, AT = (2, 3, 2, 4), (2,)
Change = Callable[[Any, Tensor, Tensor], Any]


class State(nn.Module):
    """Two buffers, and what is done to them."""

    def __init__(self, change: Change):
        super().__init__()
        self.change = change
        for name in NAMES:
            self.register_buffer(name, torch.arange(2 * 3 * 8 * 4, dtype=torch.float32).reshape(2, 3, 8, 4))

    def forward(self, k: Tensor, at: Tensor) -> Any:
        return self.change(self, k, at)


def index_copy(s: Any, k: Tensor, at: Tensor) -> Any:
    s.a.index_copy_(2, at, k)
    return s.a.sum()


def index_put(s: Any, k: Tensor, at: Tensor) -> Any:
    s.a[:, :, at] = k
    s.b.index_put_((at % 2, at % 3), k[0, 0, :, None].expand(2, 8, 4), accumulate=True)
    return s.a.mean() + s.b.sum()


def slices(s: Any, k: Tensor, at: Tensor) -> Any:
    s.a[:, :, 1:7:3] = k
    s.b[:, 1] = 2
    return s.a.sum() + s.b[:, 1:].sum()


def scatters(s: Any, k: Tensor, at: Tensor) -> Any:
    where = at[None, None, :, None].expand(2, 3, 2, 4)
    s.a.scatter_(2, where, k)
    s.a.scatter_(2, where + 1, 3.0)
    s.b.scatter_add_(2, where, k)
    return s.a.sum() + s.b.sum()


def through_views(s: Any, k: Tensor, at: Tensor) -> Any:
    s.a[0].index_copy_(1, at, k[0])
    first = s.a[0].sum()
    s.a[1, 2].index_copy_(0, at, k[1, 2])
    s.b.transpose(0, 2)[at] = k.transpose(0, 2)
    return first + s.a.sum() + s.b.sum()


def whole(s: Any, k: Tensor, at: Tensor) -> Any:
    s.a.copy_(torch.cat([s.a[:, :, 2:], k], 2))
    return s.a.sum()


def one_after_the_other(s: Any, k: Tensor, at: Tensor) -> Any:
    s.a[:, :, 0] = s.b[:, :, 1]
    s.b[:, :, 0] = s.a[:, :, 0] + 1
    s.a.index_copy_(2, at, s.b[:, :, :2])
    return s.a - s.b


def returned_as_it_is(s: Any, k: Tensor, at: Tensor) -> Any:
    s.a.index_copy_(2, at, k)
    return s.a, s.a[0, 0]


def old_values_are_used(s: Any, k: Tensor, at: Tensor) -> Any:
    old = s.a.clone()
    s.a.index_copy_(2, at, k)
    return s.a - old


def old_part_is_used(s: Any, k: Tensor, at: Tensor) -> Any:
    old = s.a[0, 0].clone()
    s.a.index_copy_(2, at, k)
    return s.a.sum() + old.sum()


def old_values_are_returned(s: Any, k: Tensor, at: Tensor) -> Any:
    old = s.a.clone()
    s.a[:, :, 2:4] = k
    return old


def old_values_in_another_order(s: Any, k: Tensor, at: Tensor) -> Any:
    """What no strides say of the buffer is a copy, made when it is used."""
    old, later = s.a.clone().transpose(0, 3).reshape(-1), s.b.clone().transpose(0, 3)
    s.a.index_copy_(2, at, k)
    s.b[:, 1] = 2
    return old, later.reshape(-1) + 1


def turned_into_itself(s: Any, k: Tensor, at: Tensor) -> Any:
    s.a[0].copy_(s.a[0].clone().transpose(0, 2).reshape(3, 8, 4))
    s.b[:, :, at] = s.b.clone().transpose(0, 3).reshape(2, 3, 8, 4)[:, :, :2]
    return s.a.sum() + s.b.sum()


def written_to_itself(s: Any, k: Tensor, at: Tensor) -> Any:
    s.a[:, :, 1:] = s.a[:, :, :-1].clone()
    s.b[:, :, at] = s.b[:, :, :2].clone()
    return s.a.sum() + s.b.sum()


def old_part_put_back(s: Any, k: Tensor, at: Tensor) -> Any:
    old = s.a[0].clone()
    s.a[0].index_copy_(1, at, k[0])
    changed = s.a.sum()
    s.a[0] = old
    return changed


def masked(s: Any, k: Tensor, at: Tensor) -> Any:
    s.a[s.a > 20] = 0
    return s.a.sum()


CHANGES: dict[Change, str] = {
    index_copy: "a",
    index_put: "ab",
    slices: "ab",
    scatters: "ab",
    through_views: "ab",
    whole: "a",
    one_after_the_other: "ab",
    returned_as_it_is: "a",
    old_values_are_used: "",
    old_part_is_used: "",
    old_values_are_returned: "",
    old_values_in_another_order: "",
    turned_into_itself: "a",  # of a copy of it
    written_to_itself: "a",  # of a copy of it
    old_part_put_back: "",
    masked: "",
}
"""And which buffers are written where they lie."""


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("how", ["native", "planned"])
def test_calls_as_eager(change: Change, how: str) -> None:
    eager = State(change)
    given = torch.randn(K), torch.tensor([1, 2])
    program = xdsl_exir.from_exported_program(torch.export.export(eager, given))
    run = (
        xdsl_exir.compile(program, "native") if how == "native" else xdsl_exir.compile(program.to("planned"))
    )
    assert run.method().updated == set(CHANGES[change])
    names = [name for name in NAMES if name in run.state]  # what nothing looks at is not part of a driver
    before = {name: run.array(name) for name in names}
    kept = {name: array.copy() for name, array in before.items()}
    for turn in range(3):
        k, at = torch.randn(K), torch.tensor([1, 2]) + turn
        wanted = eager(k, at)
        got = run(k.numpy(), at.numpy())
        torch.testing.assert_close(torch.utils._pytree.tree_map(torch.as_tensor, got), wanted)
        for name in names:
            np.testing.assert_array_equal(run.array(name), getattr(eager, name).numpy())
    for name, array in before.items():  # what was asked for before is as it was
        np.testing.assert_array_equal(array, kept[name])


def test_no_byte_of_the_cache_moves() -> None:
    """The memory stays the same, and the driver allocates nothing of a cache's size."""
    program = exported(index_copy)
    run = xdsl_exir.compile(program, "native")
    before = run.arrays["a"]
    run(np.ones(K, np.float32), np.array([0, 1]))
    assert run.arrays["a"] is before
    types: list[Any] = [
        op.results[0].type for op in program.to("buffers").module.walk() if op.name == "memref.alloc"
    ]
    assert all(np.prod(type.get_shape()) < 2 * 3 * 8 * 4 for type in types)


def exported(change: Change) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(
        torch.export.export(State(change), (torch.randn(K), torch.tensor([1, 2])))
    )


@pytest.mark.parametrize("change", [index_copy, scatters, through_views])
def test_out_of_range_writes_nowhere(change: Change) -> None:
    run = xdsl_exir.compile(exported(change), "native")
    before = run.array("a")
    with pytest.raises(ExirError, match="out of range"):
        run(np.ones(K, np.float32), np.array([100, 101]))
    np.testing.assert_array_equal(run.array("a"), before)


def test_inputs_that_are_written() -> None:
    class Step(nn.Module):
        def forward(self, cache: Tensor, k: Tensor, at: Tensor) -> Tensor:
            cache.index_copy_(0, at, k)
            return cache.sum()

    given = torch.zeros(8, 3), torch.ones(2, 3), torch.tensor([3, 5])
    program = xdsl_exir.from_exported_program(torch.export.export(Step(), copy.deepcopy(given)))
    run = xdsl_exir.compile(program, "native")
    assert run.method().updated == {"cache"}
    for cache in (np.zeros((8, 3), np.float32), np.zeros((3, 8), np.float32).T, torch.zeros(8, 3)):
        assert run(cache, given[1].numpy(), given[2].numpy()) == 6
        assert np.asarray(cache)[[3, 5]].sum() == np.asarray(cache).sum() == 6


def test_symbolic_sizes_and_places() -> None:
    class Step(nn.Module):
        cache: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("cache", torch.zeros(16, 3))

        def forward(self, k: Tensor, start: int) -> Tensor:
            self.cache[start : start + k.shape[0]] = k
            return self.cache.sum(0)

    eager = Step()
    dynamic = {"k": {0: torch.export.Dim("n", min=1, max=4)}, "start": torch.export.Dim.AUTO}
    program = xdsl_exir.from_exported_program(
        torch.export.export(eager, (torch.ones(3, 3), 2), dynamic_shapes=dynamic)
    )
    run = xdsl_exir.compile(program, "native")
    assert run.method().updated == {"cache"}
    for count, start in ((1, 4), (4, 12), (2, 3)):
        k = torch.randn(count, 3)
        torch.testing.assert_close(torch.as_tensor(run(k.numpy(), start)), eager(k, start))
        np.testing.assert_array_equal(run.array("cache"), eager.cache.numpy())


def test_readers_see_whole_calls() -> None:
    """A method that only reads waits for one that is writing."""

    class Both(nn.Module):
        cache: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("cache", torch.zeros(64, 256))

        def write(self, x: Tensor, at: Tensor) -> Tensor:
            self.cache.index_copy_(0, at, x)
            return x.sum()

        def read(self, x: Tensor) -> Tensor:
            return self.cache + x

    both, every = Both(), torch.arange(64)
    methods: dict[str, Any] = {}
    for name, given in (("write", (torch.ones(64, 256), every)), ("read", (torch.zeros(256),))):
        both.forward = getattr(both, name)
        methods[name] = torch.export.export(both, given)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(methods), "native")
    seen: list[Any] = []
    x = np.zeros(256, np.float32)
    reader = threading.Thread(target=lambda: seen.extend(run.method("read")(x) for _ in range(100)))
    reader.start()
    for number in range(100):
        run.method("write")(np.full((64, 256), number, np.float32), every.numpy())
    reader.join()
    assert all((each == each[0, 0]).all() for each in seen)


# --- copies that are written to -------------------------------------------------------------------------------


def twice(x: Tensor, y: Tensor, at: Tensor) -> tuple[Tensor, ...]:
    """What is written into is an input, a result used before and after, one of the values, a view, and is of another dtype."""
    z = x * 2
    put = z.index_put((at,), y)
    added = put.index_add(0, at, y)
    itself = x.index_put((at,), x[:2], accumulate=True)
    turned = x.t().index_add(1, at, y.t())
    return (
        put,
        added,
        z,
        itself,
        turned,
        x.slice_scatter(2 * x[:, 1:4], 1, 2, 5)[:2],
        torch.zeros(4, 5).scatter(0, at[None], x),
    )


def scattered(x: Tensor, y: Tensor, at: Tensor) -> tuple[Tensor, ...]:
    where = at[:, None].expand(2, 5)
    beyond = x.slice_scatter(y, 0, -2, 99)
    halves = (
        x.half().index_add(0, at, y.half()).float(),
        x.bfloat16().scatter_add(0, where, y.bfloat16()).float(),
    )
    return x.scatter(0, where, y), x.scatter(0, where, 2.5), x.scatter_add(0, where, y), beyond, *halves


@pytest.mark.parametrize("call", [twice, scattered])
def test_copies_are_written_to(call: Callable[..., Any]) -> None:
    class Writes(nn.Module):
        def forward(self, *args: Tensor) -> Any:
            return call(*args)

    torch.manual_seed(0)
    args = torch.randn(4, 5), torch.randn(2, 5), torch.tensor([3, 3])
    program = xdsl_exir.from_exported_program(torch.export.export(Writes(), args)).to_edge()
    for stage in (program, program.transform("to-destinations")):
        for got, wanted in zip(
            xdsl_exir.compile(stage, "native")(*map(Tensor.numpy, args)), call(*args), strict=True
        ):
            np.testing.assert_allclose(got, wanted.numpy(), 1e-6, 1e-6)
