"""Kernels of any size write nothing beyond their memory: buffers are laid out apart, and what is between them is looked at afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

import xdsl_exir  # noqa: E402
from xdsl_exir.dialects.expr import Dim, Expr, ceildiv  # noqa: E402
from xdsl_exir.lowering import plan_memory  # noqa: E402
from xdsl_exir.lowering.plan_memory import Buffer  # noqa: E402
from xdsl_exir.runtime import native  # noqa: E402

pytestmark = pytest.mark.native

GAP, FILLING = 4096, 0xA5
AUTO = torch.export.Dim.AUTO
nn, F = torch.nn, torch.nn.functional
CASES: dict[str, tuple[Callable[[Any], Any], int]] = {
    "sums": (lambda x: (x.sum(0), x.mean(1), x.amax((0, 1)), x.bfloat16().sum(0), x.prod(2)), 3),
    "softmax": (lambda x: (x.softmax(0), x.log_softmax(1), x.half().softmax(1), x.softmax(2)), 3),
    "norms": (lambda x: (F.batch_norm(x, None, None, training=True), x / x.norm(dim=1, keepdim=True)), 3),
    "deviations": (lambda x: (x.var(0), x.logsumexp(1), x.std((0, 2))), 3),
    "medians": (lambda x: (x.median(0), x.median(), x.double().nanmedian(-1), x.half().median(1)), 2),
    "orders": (lambda x: (x.sort(0), x.double().sort(1), x.half().sort(1), x.argsort(0, descending=True)), 2),
    "the first": (lambda x: (x.topk(1, 0), x.topk(2, 1, sorted=False), x.kthvalue(2, 1), x.cumsum(0)), 2),
    "products": (lambda x: (x @ x.t(), x.t() @ x, x @ x[0], x.half() @ x.half().t()), 2),
    "batches": (lambda x: (x @ x.mT, (x @ x.mT).softmax(-1) @ x, x.mT.contiguous()), 3),
    "copies": (
        lambda x: (x.roll(1, 1), torch.cat([x, x.flip(1)], 1), F.pad(x, (1, 2)), x.t().contiguous()),
        2,
    ),
    "pads": (
        lambda x: tuple(F.pad(x, (1, 2, 2, 1), mode) for mode in ("reflect", "replicate", "circular")),
        3,
    ),
    "repeats": (
        lambda x: (x.repeat(2, 3), x.tile(3), torch.cat([x, x[:1] + 1], 0), x[:, 1:].contiguous()),
        2,
    ),
    "images": (lambda x: (F.avg_pool2d(x, 2), F.max_pool2d(x, 2, 1), F.interpolate(x, scale_factor=2)), 4),
    "convolution": (nn.Conv2d(3, 20, 3, padding=1), 4),
    "depthwise": (nn.Conv2d(3, 3, 3, 2, 1, groups=3), 4),
    "transposed": (nn.ConvTranspose2d(3, 5, 3, 2, 1), 4),
}
SIZES: dict[int, list[tuple[int, ...]]] = {
    2: [(64, 128), (2, 3), (33, 65), (16, 17), (1, 64)],
    3: [(3, 32, 64), (2, 3, 3), (5, 33, 16), (64, 3, 65)],
    4: [(2, 3, 16, 32), (1, 3, 5, 7), (3, 3, 9, 64)],
}
"""By rank: whole vectors and tiles, less than one, and one more."""


class Model(nn.Module):
    def __init__(self, call: Callable[[Any], Any]):
        super().__init__()
        self.call = call

    def forward(self, x: Any) -> Any:
        return self.call(x)


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_written_between_buffers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    placed: dict[Buffer, Dim] = {}
    arenas: list[Any] = []

    def apart(buffers: Sequence[Buffer], planner: Any) -> tuple[dict[Buffer, Dim], Dim]:
        at: Dim = GAP
        for buffer in buffers:
            placed[buffer] = at
            at = at + ceildiv(buffer.nbytes, GAP) * GAP + GAP
        return {buffer: placed[buffer] for buffer in buffers}, at

    def filled(nbytes: int) -> Any:
        arenas.append(np.full(nbytes + GAP, FILLING, np.uint8)[-nbytes % GAP :][:nbytes])
        return arenas[-1]

    monkeypatch.setattr(plan_memory, "plan_buffers", apart)
    call, rank = CASES[name]
    torch.manual_seed(0)
    model = Model(call).eval()
    sizes = {dim: AUTO for dim in range(rank) if rank < 4 or dim != 1}
    exported = torch.export.export(model, (torch.randn(SIZES[rank][0]),), dynamic_shapes=(sizes,))
    program = xdsl_exir.from_exported_program(exported)
    [given] = [node.meta["val"].shape for node in exported.graph.nodes if node.name == "x"]
    monkeypatch.setattr(native, "aligned_bytes", filled)
    seen = 0
    for shape in SIZES[rank]:
        arenas.clear()
        xdsl_exir.compile(program, "native", fallback="error").flat([torch.randn(shape)])
        symbols = {str(size): number for size, number in zip(given, shape, strict=True)}
        for arena in arenas:
            between = np.ones(len(arena), bool)
            for buffer, at in placed.items():
                start, nbytes = (
                    size.evaluate(symbols) if isinstance(size, Expr) else size for size in (at, buffer.nbytes)
                )
                between[int(start) : int(start + nbytes)] = False
            seen += int((~between).sum())
            assert (arena[between] == FILLING).all()
    assert seen
