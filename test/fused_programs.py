"""Random programs of operators that are fused: rows of few shapes, long enough for vectors and what is left over, in every dtype.

    python test/fused_programs.py --count 200 --seed 0 --engine native --procs 2
    python test/fused_programs.py --show 17             # the program of seed 17, as Python
    python test/fused_programs.py --shrink 17 --engine native

Chains (`random_programs.py`) have an operator of each kind and small tensors; what is wrong of kernels needs several that meet: parts and joins of
what is computed, reductions that feed what they reduced, products with what follows them, writes to parts, casts in between,
values with many users. So all tensors here have one of a program's few shapes, and a part of the programs is called with other sizes, 0 and 1 among
them. What is right is said there.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import collections
import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from random_programs import (
    DTYPES,
    LARGEST,
    Maker,
    Program,
    attempt,
    campaign,
    magnitude,
    options,
    quiet,
    seeds_of,
    shrink,
)

LENGTHS = (1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 24, 31, 33, 40, 64, 65, 100, 130, 257, 515)
"""Of rows: about multiples of vectors' lanes, and longer ones."""
LEADING = ((), (1,), (2,), (3,), (5,), (8,), (2, 3), (1, 4), (4, 1), (17,), (64,))
SQUARES = (2, 3, 4, 5, 8, 16, 17, 20)
"""Sizes of programs that have only one: what is a row and what a column, and how many there are, no size tells."""
ELEMENTS = 9000
"""A value of a program has at most so many."""

ELEMENTWISE = (
    "{x} + {y}", "{x} - {y}", "{x} * {y}", "torch.maximum({r}, {y})", "torch.minimum({r}, {y})", "{r} > {y}", "{x} == {y}", "{r} <= {y}",
    "torch.where({b}, {x}, {y})", "torch.where({r} > {n}, {r}, {y})", "{b} & {b0}", "{b} ^ {b0}", "~{b}", "{i} & {i0}", "{i} ^ 5", "{i} << 1",
    "{i} >> 1", "~{i}", "{i} // 3", "{i} % 5", "{r} % 3", "{x}.abs()", "-{c}", "{f}.relu()", "{r}.clamp(-2, 3)", "{r}.clamp(min={y})", "{f}.floor()",
    "{f}.round()", "{f}.trunc()", "{r}.sign()", "{x}.masked_fill({m}, 2)", "{x}.square()", "torch.nn.functional.hardtanh({f})",
    "torch.nn.functional.leaky_relu({f}, {q})", "{x}.to({t})", "{f}.to({T})", "{f}.to({T}) + {f}", "{b}.to({t}) * {x}", "{i}.to({T})",
    "{x}.to(torch.float32) * {y}", "torch.fmod({r}, 3)", "{x} ** 2", "{x}.clone()", "{x}.eq(0)", "{x}.logical_not()", "{f}.isnan()", "{x} * {n}",
    "torch.nn.functional.threshold({f}, 0.5, 2)", "torch.heaviside({f}, {f0})", "{i} | {i0}", "torch.bitwise_left_shift({i}, 2)", "torch.gcd({i}, {i0})",
)  # fmt: skip
FUNCTIONS = (
    "{f}.tanh()", "{f}.sigmoid()", "{f}.clamp(-8, 8).exp()", "torch.nn.functional.gelu({f})", "torch.nn.functional.silu({f})", "{f}.abs().sqrt()",
    "({f}.abs() + 1).rsqrt()", "{f}.abs().log1p()", "{f}.sin()", "{f}.cos()", "{f}.erf()", "{f} / ({f0}.abs() + 1)", "{f}.atan2({yf})",
    "torch.nn.functional.softplus({f})", "torch.nn.functional.hardswish({f})", "torch.lerp({f}, {f0}, 0.3)", "torch.addcmul({f}, {f0}, {f0}, value=0.5)",
    "1 / ({f}.abs() + 0.5)", "torch.nn.functional.gelu({f}, approximate='tanh')", "{f}.expm1().clamp(max=99)", "{x} / 3", "{f}.sigmoid() * {f0}.tanh()",
    "({f}.abs() + 1).log()", "torch.nn.functional.mish({f})", "{f}.abs() ** 1.5", "{f}.tan().clamp(-9, 9)", "torch.nn.functional.elu({f})", "{f}.atan()",
)  # fmt: skip
PARTS = (
    "{x}.chunk(2, -1)[0]", "{x}.chunk(2, -1)[-1]", "{x}.chunk(3, -1)[1]", "{x}[..., :{e}]", "{x}[..., 1:]", "{x}[..., :-1]", "{x}[..., ::2]", "{x}[..., :1]",
    "{x}[..., -1:]", "{x}[..., 2:7]", "{x}[1:]", "{x}[:1]", "{x}[-1]", "{x}[..., 0]", "{x}.narrow(-1, 0, 1)", "{x}.flip(-1)", "{x}.flip(0)",
    "{x}.roll(1, -1)", "{x}.roll(2, 0)", "torch.nn.functional.pad({x}, (1, 2))", "torch.nn.functional.pad({x}, (-1, 1), value=3)", "{x}.unsqueeze(-1)",
    "{x}.unsqueeze(-2)", "{x}.reshape(-1)", "{x}.mT", "{x}.transpose(0, -1)", "torch.cat([{x}, {x0}], -1)", "torch.cat([{x}, {x0}], 0)",
    "torch.cat([{x}[..., 1:], {x}[..., :1]], -1)", "torch.stack([{x}, {x}], -1)", "torch.stack([{x}, {x}], 0)", "{x}[..., :1].expand_as({x})",
    "{x}.tril()", "{x}.triu(1)", "{x}.unflatten(-1, (-1, 1))", "{x}.flatten()", "{x}.split([1, {x}.shape[-1] - 1], -1)[1]", "{x}.repeat_interleave(2, -1)",
    "{x}.index_select(-1, ({i}.flatten()[:3].abs() % {x}.shape[-1]).long())", "{x}.gather(-1, {x}.long().abs() % {x}.shape[-1])",
    "{x}.index_select(0, ({i}.flatten()[:5].abs() % {x}.shape[0]).long())", "{x}.expand(2, *{x}.shape)", "{x}.contiguous()", "{x}.diagonal(0, -2, -1)",
    "{x}.unfold(-1, 2, 1)", "torch.nn.functional.embedding({i}.long().abs() % {x}.shape[0], {x})", "{x}.movedim(0, -1)", "torch.where({m}, {x}[..., :1], {x})",
    "torch.tensor_split({x}, 3, -1)[1]", "{x}.squeeze()", "{x}.view_as({x})", "torch.cat([{x}.chunk(2, -1)[1], {x0}], -1)",
)  # fmt: skip
REDUCTIONS = (
    "{x}.sum(-1)", "{x}.sum(-1, keepdim=True)", "{x}.sum(0)", "{x}.sum()", "{c}.mean(-1, keepdim=True)", "{c}.mean(0)", "{r}.amax(-1, keepdim=True)",
    "{r}.amin(-1)", "{r}.amax(0)", "{r}.amax()", "{x}.any(-1)", "{x}.all(-1, keepdim=True)", "{r}.max(-1)[0]", "{f}.var(-1, keepdim=True)", "{f}.std(-1)",
    "{f}.softmax(-1)", "{f}.log_softmax(-1)", "{f}.softmax(0)", "{f}.logsumexp(-1)", "torch.nn.functional.layer_norm({f}, {f}.shape[-1:])",
    "torch.nn.functional.rms_norm({f}, {f}.shape[-1:])", "torch.nn.functional.normalize({f}, dim=-1)", "{x}.cumsum(-1)", "{x}.cumsum(0)", "{r}.cummax(-1)[0]",
    "{f} - {f}.amax(-1, keepdim=True)", "{f} - {f}.mean(-1, keepdim=True)", "{f} * ({f}.square().mean(-1, keepdim=True) + 1e-5).rsqrt()",
    "{x}.count_nonzero(-1)", "{f}.norm(dim=-1)", "{f}.norm(p=1, dim=-1, keepdim=True)", "{x}.sum((0, -1))", "{x}.clamp(-1, 1).prod(-1)", "{b}.sum(-1)",
    "{x}.to(torch.float64).sum(-1, keepdim=True)", "{x}.sum(-1, dtype=torch.float64)", "{c}.mean()", "{f}.softmax(-1).to({T})", "{r}.amax((0, -1), keepdim=True)",
    "torch.nn.functional.log_softmax({f}, -1, dtype=torch.float64)",
)  # fmt: skip
PRODUCTS = (
    "{c} @ {c0}.mT", "{c}.mT @ {c0}", "torch.nn.functional.linear({f}, {f0}.reshape(-1, {f}.shape[-1]))", "({f} @ {f0}.mT).relu()",
    "torch.nn.functional.linear({f}, {f0}.reshape(-1, {f}.shape[-1])[:4]).sigmoid() + 1", "({f} @ {f0}.mT) * 0.5 + 1", "{i} @ {i0}.mT",
    "({f} @ {f0}.mT).softmax(-1) @ {f}", "torch.outer({f}.flatten()[:9], {f}.flatten()[:5])", "torch.einsum('...i,...i->...', {f}, {f0})",
)  # fmt: skip
LAYERS = (
    "torch.nn.functional.layer_norm({f}, {f}.shape[-1:], {f0}[0], {f0}[-1])", "torch.nn.functional.layer_norm({f}, {f}.shape[-1:], {f0}[..., 0])",
    "torch.nn.functional.layer_norm({f}, {f}.shape[-2:], {f0}, {f0} * 2)", "torch.nn.functional.layer_norm({f}, {f}.shape[-1:], {f}.mean(-1), {f}.sum(0))",
    "torch.nn.functional.layer_norm({f}, {f}.shape, {f0}, {f0}.mT)", "torch.nn.functional.layer_norm({f}, {f}.shape[-2:], {f0}.sin())",
    "torch.nn.functional.rms_norm({f}, {f}.shape[-1:], {f0}.sum(-1))", "torch.nn.functional.rms_norm({f}, {f}.shape[-2:], {f0}.to({f}.dtype) + 1)",
    "torch.nn.functional.group_norm({f}, 1, {f0}[0], {f0}.sum(0))", "torch.nn.functional.group_norm({f}, 2)", "torch.nn.functional.instance_norm({f})",
    "torch.nn.functional.batch_norm({f}, {f}.mean((0, 2)), {f0}[0].abs() + 1, {f0}[..., 0], training={k})", "{f} * {f0}.sum(-1)", "{f} - {f}.amax(-1)",
    "torch.nn.functional.batch_norm({f}, {f}.mean(0), {f}.var(0) + 1)", "{f} * {f0}.mean(0)", "{f} + {f0}.softmax(0)", "{f}.mT + {f0}", "{f}.softmax(-2) * {f}",
    "{f} / ({f0}.norm(dim=-1) + 1)", "{f}.softmax(-1).sum(-2)", "{f} - {f}.amax(-2, keepdim=True)", "{f} - {f}.logsumexp(-1)", "{f}.softmax(-1).mT * {f0}",
    "torch.nn.functional.linear({f}, {f0}, {f0}[0])", "torch.nn.functional.linear({f}, {f0}, {f}.sum(0)).relu()", "{f} @ {f0} + {f}.mean(-1)", "({f} @ {f0}) * {f}",
    "torch.nn.functional.linear({f}.softmax(-1), {f0}.softmax(0))", "torch.nn.functional.scaled_dot_product_attention({f}, {f0}, {f0})", "{f} @ {f0} + {f0}",
    "torch.nn.functional.scaled_dot_product_attention({f}, {f0}, {f}, {m})", "torch.nn.functional.conv1d({f}, {f0}, padding=1)", "{f}.mT.softmax(-1) @ {f0}",
    "torch.nn.functional.conv1d({f}, {f0}.unsqueeze(-1), {f0}[0])", "{f}[:, None] * {f0}[None]", "{f}[..., None, :] - {f0}[..., None]", "{f}.cumsum(-2) * {f0}",
    "({f}[..., None, :] - {f0}[..., None]).square().sum(-1)", "({f} * {f0}.sum(-1, keepdim=True)).sum(-2)", "{f} * {f0}.amax(-1)[..., None] + {f0}.amin(-2)",
    "torch.nn.functional.normalize({f}, dim=0) @ torch.nn.functional.normalize({f0}, dim=-1)", "{f}.mean(-1) * {f0}.mean(-2)", "{f}.max(-1)[0] - {f0}.max(-2)[0]",
    "torch.nn.functional.softmax({f} + {f0}[0], -1)", "torch.nn.functional.softmax({f} * {f0}[..., :1], -1)", "{f}.var(0) + {f0}.mean(-1)", "{f}.diagonal() * {f0}",
    "torch.nn.functional.cross_entropy({f}, {f0}.softmax(-1))", "torch.nn.functional.avg_pool1d({f}, 2, ceil_mode=True)", "{f}.mT.reshape({f}.shape) + {f0}",
    "torch.nn.functional.max_pool1d({f}, 3, 1, 1) - {f}", "torch.nn.functional.glu({f}, -1)", "{f}.std(-1) / ({f0}.std(-2) + 1)", "{f}.amax((-2, -1)) + {f}",
)  # fmt: skip
WRITES = (
    "{w}.add_({y})", "{w}.mul_({n})", "{w}[..., :1] = {n}", "{w}[..., 1:] *= 2", "{w}[..., ::2].add_(1)", "{w}[0] = {w}[-1]", "{w}.masked_fill_({m}, 1)",
    "{w}.copy_({y})", "{w}.zero_()", "{w}.chunk(2, -1)[0].mul_(3)", "{w}[..., -1:] = {w}[..., :1]", "{w}.clamp_(-2, 2)", "{w}.mT.add_(1)",
    "{w}.index_fill_(-1, torch.tensor([0]), 2)", "{w}[{b}] = 0", "{w}[1:].sub_({y})", "{w}.fill_diagonal_(1)", "{w}.flip(-1).add_(1)",
    "{w}.unsqueeze(0).mul_({y})", "{w}.reshape(-1)[::3] = 1",
)  # fmt: skip
KINDS = (
    (0.29, ELEMENTWISE, True),
    (0.15, FUNCTIONS, False),
    (0.23, PARTS, True),
    (0.16, REDUCTIONS, False),
    (0.05, PRODUCTS, False),
    (0.12, LAYERS, False),
)
"""How often a step is one of which templates, and whether its results are the same on every machine."""


class Rows(Maker):
    """Makes a program of rows."""

    def __init__(self, seed: int):
        super().__init__(seed)
        rng = self.rng
        rng.seed(f"rows {seed}")
        self.wild = False
        self.symbols: dict[str, int] = {}
        length: int | str = rng.choice(LENGTHS)
        leading: tuple[int | str, ...] = rng.choice(LEADING)
        if rng.random() < 0.3:
            self.symbols = {"s0": rng.choice(LENGTHS[1:-2]), "s1": rng.choice((2, 3, 5, 8))}
            length, leading = "s0", (rng.choice(("s1", 2, "s1")),) if rng.random() < 0.8 else ()
            if rng.random() < 0.3:
                length, leading = rng.choice((8, 17, 64)), ("s1",)
        elif rng.random() < 0.4:
            length = rng.choice(SQUARES)
            leading = (length,) * rng.choice((1, 1, 2))
        ones = (1,) * len(leading)
        self.shapes = [
            (*leading, length),
            (*leading, length),
            (*leading, length),
            (length,),
            (*leading, 1),
            (*ones, length),
            leading,
        ]
        self.dtypes = rng.choice(
            (
                DTYPES,
                DTYPES,
                (torch.float32, torch.int64, torch.bool),
                (torch.float32,),
                (rng.choice(DTYPES), torch.float32),
            )
        )

    def add_input(
        self,
        shape: Sequence[int | str] | None = None,
        dtype: torch.dtype | None = None,
        tensor: torch.Tensor | None = None,
    ) -> str:
        rng = self.rng
        return super().add_input(rng.choice(self.shapes), dtype or rng.choice(self.dtypes))

    def writable(self, value: torch.Tensor) -> bool:
        return super().writable(value) and not any(size == 0 for size in value.stride())

    def expression(self) -> tuple[str, bool]:
        [(_, templates, exact)] = self.rng.choices(KINDS, [kind[0] for kind in KINDS])
        return self.fill(self.rng.choice(templates)), exact

    def write(self) -> str:
        if self.rng.random() < 0.6:  # fewer than in chains: what is written is not fused
            raise ValueError("no write")
        return self.fill(self.rng.choice(WRITES))

    def check(self, value: torch.Tensor) -> None:
        if value.numel() > ELEMENTS or value.dim() > 5 or value.dtype not in DTYPES:
            raise ValueError("large")
        if (value.is_floating_point() or value.is_complex()) and magnitude(value) > LARGEST:
            raise ValueError("large values")

    def make(self) -> Program:
        program = super().make()
        if not self.symbols:
            return program
        others = [
            {"s0": self.rng.choice((0, 1, 2, *LENGTHS)), "s1": self.rng.choice((0, 1, 2, 4, 9))}
            for _ in range(4)
        ]
        return replace(program, sizes=(self.symbols, *others))


def program_of(seed: int) -> Program:
    """The program of a seed."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return Rows(seed).make()


def main() -> int:
    given = options(__doc__, "both").parse_args()
    if given.cpu:
        os.environ["XDSL_EXIR_CPU"] = given.cpu
    engines = ("interpreter", "native") if given.engine == "both" else (given.engine,)
    stages = ("training", "core") if given.stage == "both" else (given.stage,)
    if given.show is not None:
        print(program_of(given.show))
        return 0
    if given.shrink is not None:
        quiet()
        print(shrunk := shrink(program_of(given.shrink), engines[-1], stages[0]))
        print(
            *(f"# {outcome.status}: {outcome.detail}" for outcome in attempt(shrunk, engines[-1:], stages[0]))
        )
        return 0
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    programs: list[Any] = [program_of(seed) for seed in seeds_of(given)]
    for outcome in campaign(programs, engines, stages, given.procs):
        counts[outcome.engine, outcome.status] += 1
        if outcome.status not in ("ok", "skipped"):
            print(f"{outcome.status:8} {outcome.seed} {outcome.engine}: {outcome.detail[:300]}", flush=True)
    for (engine, status), count in sorted(counts.items()):
        print(f"{engine} {status}: {count}")
    return 0 if all(status in ("ok", "skipped", "refused") for _, status in counts) else 1


if __name__ == "__main__":
    sys.exit(main())
