"""Calls without Python in between: for arrays as they usually are, and only for those."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import xdsl_exir
from xdsl_exir.errors import ExirError, InputError
from xdsl_exir.runtime import quick
from xdsl_exir.runtime.executable import Executable

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("native_tools")]


class Weighted(torch.nn.Module):
    """Three inputs, of which one is not looked at, a weight, and two results."""

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.arange(12.0).reshape(3, 4))

    def forward(self, x: Any, unused: Any, n: Any) -> Any:
        return x @ self.w + n.sum(), (n + 1) % 5


X, UNUSED, N = np.ones((2, 3), np.float32), np.zeros(7, np.float64), np.arange(3, dtype=np.int64)


@pytest.fixture(scope="module")
def run(native_tools: None) -> Executable:
    inputs = tuple(map(torch.from_numpy, (X, UNUSED, N)))
    program = xdsl_exir.from_exported_program(torch.export.export(Weighted(), inputs))
    return xdsl_exir.compile(program, "native")


def expected(x: np.ndarray, n: np.ndarray) -> list[np.ndarray]:
    return [x @ np.arange(12, dtype=np.float32).reshape(3, 4) + n.sum(), (n + 1) % 5]


def check(given: list[Any], x: np.ndarray = X, n: np.ndarray = N) -> None:
    for a, b in zip(given, expected(x, n), strict=True):
        np.testing.assert_array_equal(a, b.astype(a.dtype))


def test_usual_arrays_take_the_quick_road(run: Executable) -> None:
    call = run.method().quick
    assert call is not None
    first, second = call([X, UNUSED, N]), call((2 * X, UNUSED, N))
    assert first is not None
    assert second is not None
    check(first)
    check(second, 2 * X)
    check(run.flat([X, UNUSED, N]))


UNUSUAL: dict[str, Callable[[], list[Any]]] = {
    "not contiguous": lambda: [np.ones((2, 6), np.float32)[:, ::2], UNUSED, N],
    "in another order": lambda: [np.ones((3, 2), np.float32).T, UNUSED, N],
    "not aligned": lambda: [np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3) + 0 * X + X, UNUSED, N],
    "of other bytes": lambda: [X.astype(">f4"), UNUSED, N],
    "a tensor": lambda: [torch.from_numpy(X), UNUSED, N],
    "of a class of its own": lambda: [X.view(np.matrix), UNUSED, N],
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_unusual_arrays_are_taken_all_the_same(run: Executable, case: str) -> None:
    check(run.flat(UNUSUAL[case]()))


@pytest.mark.parametrize(
    "inputs",
    [
        [X, UNUSED],
        [X, UNUSED, N, N],
        [X.astype(np.float64), UNUSED, N],
        [X[:1], UNUSED, N],
        [X, UNUSED[:3], N],
    ],
    ids=["too few", "too many", "dtype", "shape", "shape of what is not looked at"],
)
def test_wrong_arrays_are_errors(run: Executable, inputs: list[Any]) -> None:
    call = run.method().quick
    assert call is not None
    assert call(inputs) is None
    with pytest.raises(InputError):
        run.flat(inputs)


def test_arrays_that_only_lie_otherwise_are_not_quick(run: Executable) -> None:
    call = run.method().quick
    assert call is not None
    memory = np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3)
    assert memory.flags.aligned or call([memory, UNUSED, N]) is None
    assert call([np.ones((3, 2), np.float32).T, UNUSED, N]) is None


def test_other_weights(native_tools: None) -> None:
    inputs = tuple(map(torch.from_numpy, (X, UNUSED, N)))
    program = xdsl_exir.from_exported_program(torch.export.export(Weighted(), inputs))
    run = xdsl_exir.compile(program, "native")
    check(run.flat([X, UNUSED, N]))
    run.load_state({"w": np.zeros((3, 4), np.float32)})
    np.testing.assert_array_equal(run.flat([X, UNUSED, N])[0], np.full((2, 4), 3, np.float32))


def test_programs_that_need_more_of_python() -> None:
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(3))

        def forward(self, x: Any) -> Any:
            self.total.add_(x)
            return self.total * 2

    class Rows(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    x = torch.ones(3)
    rows = {"x": {0: torch.export.Dim("rows", min=2)}}
    for exported in (
        torch.export.export(Counter(), (x,)),
        torch.export.export(Rows(), (x,), dynamic_shapes=rows),
    ):
        run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
        assert run.method().quick is None
        np.testing.assert_array_equal(run.flat([x.numpy()])[0], [2, 2, 2])


class Repeats(torch.nn.Module):
    """Results that no dispatch makes: inputs, a constant, and one that is there twice."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.arange(3.0))

    def forward(self, x: Any, y: Any) -> Any:
        doubled = y * 2
        return y.clone(), self.kept.clone(), doubled, doubled.clone(), x.clone()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_results_that_no_dispatch_makes_are_quick(dtype: torch.dtype) -> None:
    x, y = torch.ones(2, 2, dtype=dtype), torch.arange(4.0).to(dtype)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(torch.export.export(Repeats(), (x, y))), "native")
    call = run.method().quick
    assert call is not None
    given = call([x, y])
    assert given is not None
    for got, wanted in zip(given, Repeats()(x, y), strict=True):
        np.testing.assert_array_equal(np.asarray(got, np.float32), wanted.float().numpy())


class Picks(torch.nn.Module):
    def forward(self, rows: Any, index: Any) -> Any:
        return rows.index_select(0, index)


def test_what_is_asserted_of_indices_is_looked_at() -> None:
    rows, index = torch.arange(12.0).reshape(4, 3), torch.tensor([3, 0])
    exported = torch.export.export(Picks(), (rows, index))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    call = run.method().quick
    assert call is not None
    given = call([rows.numpy(), index.numpy()])
    assert given is not None
    assert len(given) == 1
    np.testing.assert_array_equal(given[0], rows[index])
    wrong = np.array([3, 4])
    assert call([rows.numpy(), wrong]) is None
    with pytest.raises(ExirError, match="out of range"):
        run.flat([rows.numpy(), wrong])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_tensors_are_quick_too(dtype: torch.dtype) -> None:
    rows, index = torch.arange(12.0).reshape(4, 3).to(dtype), torch.tensor([3, 0])
    exported = torch.export.export(Picks(), (rows, index))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    call = run.method().quick
    assert call is not None
    assert (
        call([torch.nn.Parameter(rows), index]) is None
    )  # of a class that has the function from another one
    given = call([rows, index])
    assert given is not None
    np.testing.assert_array_equal(given[0].astype(np.float32), rows[index].float())
    given = call([rows.clone().requires_grad_(), index])
    assert given is not None
    np.testing.assert_array_equal(given[0].astype(np.float32), rows[index].float())
    # Of others all is looked at before.
    assert call([torch.nn.Parameter(rows), index]) is None
    assert call([rows.to_sparse(), index]) is None
    assert call([rows.to("meta"), index]) is None


def test_tensors_of_a_class_that_does_not_say_where_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of PyTorch before 2.10."""
    monkeypatch.setattr(quick, "exchange_of", lambda kind: 0)
    x, y = torch.randn(6, 4).unbind(0)[:2]
    exported = torch.export.export(Doubled(), (x, y))
    call = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native").method().quick
    assert call is not None
    given = call([x, y])
    assert given is not None
    np.testing.assert_array_equal(given[0], x * 2 - y)
    assert call([x.clone().requires_grad_(), y]) is None


def test_calls_as_the_model_is_called_are_quick_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each argument is an array; others are taken apart, and all is said of what does not fit."""
    x, y = torch.randn(6, 4), torch.randn(6, 4)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(torch.export.export(Doubled(), (x, y))), "native")
    method = run.method()
    looked_at: list[Any] = []
    flat = method.flat
    monkeypatch.setattr(method, "flat", lambda inputs: looked_at.append(inputs) or flat(inputs))
    np.testing.assert_array_equal(run(x, y.numpy()), x * 2 - y)
    assert not looked_at
    np.testing.assert_array_equal(run(x, y=y), x * 2 - y)
    assert len(looked_at) == 1
    for args in ((x,), (x, [y]), (x, None), (x, y, y)):
        with pytest.raises(InputError):
            run(*args)


def test_tensors_that_lie_otherwise() -> None:
    """Whatever says that its elements are others than those in memory, one after the other, is looked at by PyTorch."""
    x = torch.randn(6, 4)
    run = xdsl_exir.compile(
        xdsl_exir.from_exported_program(torch.export.export(Doubled(), (x, x.clone()))), "native"
    )
    call = run.method().quick
    assert call is not None
    complex_ones = torch.complex(x, -x)
    others = {
        "turned": x.t().contiguous().t(),
        "part": torch.randn(12, 4)[::2],
        "from a place on": torch.randn(30)[3:27].view(6, 4),
        "negative": complex_ones.conj().imag,
        "negative and in order": torch._neg_view(x),
        "array": x.numpy(),
    }
    for name, other in others.items():
        for inputs in ((other, x), (x, other)):
            first, second = (torch.as_tensor(each) for each in inputs)
            np.testing.assert_array_equal(run.flat(inputs)[0], first * 2 - second, name)
    for other in (x.double(), x[:5], x.view(4, 6)):
        assert call([other, x]) is None
        with pytest.raises(InputError):
            run.flat([other, x])


class Doubled(torch.nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        return x * 2 - y


def test_interpreters_with_other_objects(run: Executable, monkeypatch: pytest.MonkeyPatch) -> None:
    assert quick.is_known()
    monkeypatch.setattr(quick, "is_known", lambda: False)
    assert quick.quick([], [], 0) is None


def test_many_threads(run: Executable) -> None:
    wrong: list[int] = []

    def calls(seed: int) -> None:
        for i in range(200):
            x = np.full((2, 3), seed * 1000 + i, np.float32)
            a, _ = run.flat([x, UNUSED, N])
            if not np.array_equal(a, expected(x, N)[0]):
                wrong.append(seed)

    threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


class Sums(torch.nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        return x + y, (x @ y.T).sum()


@pytest.fixture(scope="module")
def symbolic(native_tools: None) -> Executable:
    rows = {0: torch.export.Dim("rows", min=2, max=64)}
    x = torch.ones(4, 3)
    exported = torch.export.export(Sums(), (x, x.clone()), dynamic_shapes={"x": rows, "y": rows})
    return xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")


def test_symbolic_shapes_that_come_again_are_quick(symbolic: Executable) -> None:
    """In any order: what a call has for itself is taken by others."""
    method = symbolic.method()
    for rows in (4, 7, 4, 7, 4, 5, 4, 7, 7):
        x = np.random.default_rng(rows).standard_normal((rows, 3), np.float32)
        for given in ([x, x + 1], [torch.from_numpy(x), torch.from_numpy(x + 1)]):
            total, product = symbolic.flat(given)
            np.testing.assert_array_equal(total, x + (x + 1))
            np.testing.assert_allclose(product, (x @ (x + 1).T).sum(), rtol=1e-4)
    call = method.by_shapes[(4, 3), (4, 3)]
    assert call is not None
    x = np.ones((4, 3), np.float32)
    assert call([x, x]) is not None
    assert call([x[:3], x[:3]]) is None
    assert symbolic.flat([x.T.copy().T, x])[0].tolist() == [[2.0] * 3] * 4


def test_symbolic_shapes_that_do_not_fit_are_errors_again(symbolic: Executable) -> None:
    x = np.ones((4, 3), np.float32)
    for _ in range(3):
        for wrong in ([x, x[:3]], [np.ones((65, 3), np.float32)] * 2, [x, x.astype(np.float64)], [x]):
            with pytest.raises(InputError):
                symbolic.flat(wrong)
