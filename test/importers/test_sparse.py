"""Sparse tensors inside programs, against eager PyTorch: how they are made, what is computed of them, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from modules import Function  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Sparse ")

EDGES = torch.tensor([[0, 2, 2, 0, 1], [1, 3, 3, 0, 2]])
"""Places of a [3, 4], one of them twice."""


def adjacency(weights: Any) -> Any:
    return torch.sparse_coo_tensor(EDGES, weights, (3, 4))


def chain(a: Any) -> Any:
    """What keeps zeros, element by element."""
    return (-(a.to_sparse().sin().relu())).abs().sqrt().double().to_dense()


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "dense": (lambda a: a.to_sparse().to_dense(), ((3, 4),)),
    "dense_dims": (lambda a: a.to_sparse(2).to_dense(), ((3, 4, 2),)),
    "returned": (lambda a: (a.to_sparse(), -a.to_sparse(1)), ((3, 4),)),
    "elements": (chain, ((3, 4),)),
    "matmul": (lambda a, b: a.to_sparse() @ b, ((3, 4), (4, 5))),
    "vector": (lambda a, b: a.to_sparse() @ b, ((3, 4), (4,))),
    "sparse_mm": (lambda a, b: torch.sparse.mm(a.to_sparse(), b), ((3, 4), (4, 5))),
    "addmm": (lambda a, b, c: torch.sparse.addmm(c, a.to_sparse(), b, beta=0.5, alpha=2), ((3, 4), (4, 5), (3, 5))),
    "csr": (lambda a, b: a.to_sparse_csr() @ b, ((3, 4), (4, 5))),
    "edges": (lambda w, x: torch.relu(adjacency(w) @ x), ((5,), (4, 6))),
    "edges_values": (lambda w: adjacency(w)._values() * 2, ((5,),)),
    "edges_once": (lambda w: adjacency(w).coalesce().abs().to_dense(), ((5,),)),
    "edges_twice": (lambda w, u: (adjacency(w) + adjacency(u)).relu().to_dense(), ((5,), (5,))),
    "edges_less": (lambda w, u: (adjacency(w) - adjacency(u)).to_dense(), ((5,), (5,))),
    "onto_dense": (lambda x, w: x + adjacency(w), ((3, 4), (5,))),
    "transposed": (lambda w, x: adjacency(w).t() @ x, ((5,), (3, 2))),
    "scaled": (lambda a, x: (a.to_sparse() * x).to_dense(), ((3, 4), (3, 4))),
    "by_numbers": (lambda a: (a.to_sparse() * 3 / 2).to_dense(), ((3, 4),)),
    "sum": (lambda a: torch.sparse.sum(a.to_sparse()), ((3, 4),)),
    "sum_dim": (lambda a: torch.sparse.sum(a.to_sparse(), 0).to_dense(), ((3, 4),)),
    "sum_dims": (lambda a: torch.sparse.sum(a.to_sparse(2), (1, 2)).to_dense(), ((3, 4, 2),)),
    "sum_all_dims": (lambda a: torch.sparse.sum(a.to_sparse(2), (0, 1)), ((3, 4, 2),)),
    "sum_in": (lambda a: torch.sparse.sum(a.to_sparse(), 0, dtype=torch.float64).to_dense(), ((3, 4),)),
    "softmax": (lambda a: torch.sparse.softmax(a.to_sparse(), 1).to_dense(), ((3, 4),)),
    "log_softmax": (lambda a: torch.sparse.log_softmax(a.to_sparse(), 0).to_dense(), ((3, 4),)),
}  # fmt: skip
UNDECOMPOSED = {"by_numbers": "sparse tensors times numbers", "sum": "sums but to those of no elements"}


def inputs_of(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    """Random numbers, half of them zeros."""
    return tuple(torch.randn(shape).mul(torch.randint(2, shape)) for shape in shapes)


def dense(results: Any) -> list[np.ndarray]:
    flat = results if isinstance(results, tuple) else (results,)
    return [each.to_dense().numpy() if each.layout is not torch.strided else each.numpy() for each in flat]


@pytest.mark.parametrize("target", ["interpreter", "native"])
@pytest.mark.parametrize("stage", ["training", "core"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, stage: str, target: str, tmp_path: Path) -> None:
    if stage == "core" and name in UNDECOMPOSED:
        pytest.skip(f"PyTorch does not decompose {UNDECOMPOSED[name]}")
    function, shapes = PROGRAMS[name]
    torch.manual_seed(0)
    exported = torch.export.export(Function(function), inputs_of(*shapes))
    if stage == "core":
        exported = exported.run_decompositions()
    if name != "csr":  # which PyTorch does not save
        torch.export.save(exported, tmp_path / "sparse.pt2")
        program = xdsl_exir.load(tmp_path / "sparse.pt2")
        assert str(program) == str(xdsl_exir.from_exported_program(exported))
    else:
        program = xdsl_exir.from_exported_program(exported)
    run = xdsl_exir.compile(program, target, fallback="error")
    for inputs in (inputs_of(*shapes), inputs_of(*shapes), tuple(torch.zeros(shape) for shape in shapes)):
        for got, want in zip(run.flat([*inputs]), dense(function(*inputs)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1.3e-6, atol=1e-5)


def test_what_is_not_held_takes_no_part() -> None:
    """0 times an infinity is 0 where nothing is held, and NaN where a 0 is."""
    a, b = torch.tensor([[0.0, 2.0], [0.0, 0.0]]), torch.tensor([[float("inf")], [1.0]])
    w, x = torch.zeros(5), torch.full((4, 1), float("inf"))
    for function, inputs in ((PROGRAMS["matmul"][0], (a, b)), (PROGRAMS["edges"][0], (w, x))):
        program = xdsl_exir.from_exported_program(torch.export.export(Function(function), inputs))
        for target in ("interpreter", "native"):
            [got] = xdsl_exir.compile(program, target, fallback="error").flat([*inputs])
            np.testing.assert_array_equal(got, function(*inputs).numpy())


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "bfloat16", "float64", "complex64"])
def test_dtypes(dtype: str) -> None:
    a = torch.tensor([[0, 1, 3], [2, 0, 0]]).to(getattr(torch, dtype))
    exported = torch.export.export(Function(PROGRAMS["dense"][0]), (a,))
    for target in ("interpreter", "native"):
        run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target, fallback="error")
        np.testing.assert_array_equal(run(a).astype(complex), a.to(torch.complex128))


REFUSED = {
    "aten.values: of as many elements": lambda a: a.to_sparse().values() * 2,
    "aten.cat: of a sparse tensor": lambda a: torch.cat([a.to_sparse(), a.to_sparse()]).to_dense(),
    "aten.mul.Tensor: of two sparse": lambda a: (a.to_sparse() * a.to_sparse()).to_dense(),
    "aten.mul_.Tensor: of a sparse tensor": lambda a: a.to_sparse().mul_(2).to_dense(),
    "aten.to_sparse: .* blocks": lambda a: a.to_sparse(layout=torch.sparse_bsr, blocksize=(1, 1)).to_dense(),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused(reason: str) -> None:
    exported = torch.export.export(Function(REFUSED[reason]), inputs_of((3, 4)))
    with pytest.raises(ExirError, match=reason):
        xdsl_exir.from_exported_program(exported)
