"""A model with operators of one's own: exported, read as MLIR, run, compared with PyTorch, and saved.

python examples/mylib/model.py model.pt2
XDSL_EXIR_OPS=examples/mylib/mylib.yaml xdsl-exir run model.pt2 --inputs x.npy
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import xdsl_exir


@torch.library.custom_op("mylib::soft_relu", mutates_args=())
def soft_relu(x: torch.Tensor, beta: float = 1.0) -> torch.Tensor:
    return torch.nn.functional.softplus(x, beta, threshold=1e9)


@soft_relu.register_fake
def _(x: torch.Tensor, beta: float = 1.0) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("mylib::row_norms", mutates_args=())
def row_norms(x: torch.Tensor, weight: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    norms = x.norm(dim=1)
    rows = x / norms[:, None]
    return rows.clone() if weight is None else rows * weight, norms


@row_norms.register_fake
def _(x: torch.Tensor, weight: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.empty_like(x), x.new_empty(x.shape[:1])


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)
        self.weight = torch.nn.Parameter(torch.linspace(0.5, 2, 4))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        rows, norms = torch.ops.mylib.row_norms(self.linear(x), self.weight)
        return torch.ops.mylib.soft_relu(rows, 2.0), torch.ops.mylib.soft_relu(norms)


def main(path: str) -> None:
    torch.manual_seed(0)
    model, x = Model().eval(), torch.randn(5, 8)
    exported = torch.export.export(model, (x,))
    torch.export.save(exported, path)

    xdsl_exir.register_ops(Path(__file__).with_name("mylib.yaml"))
    program = xdsl_exir.from_exported_program(exported)
    print(program)
    print(program.to_edge())
    expected = model(x)
    for stage in (program, program.to_core(), program.to_edge()):
        for target in ("interpreter", "native"):
            given = xdsl_exir.compile(stage, target)(x.numpy())
            for one, other in zip(given, expected, strict=True):
                torch.testing.assert_close(torch.from_numpy(one), other)
    print("interpreter and native code agree with PyTorch, at every stage")


if __name__ == "__main__":
    main(sys.argv[1])
