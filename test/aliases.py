"""Random programs of views and writes: who shares memory with whom, against eager.

    python test/aliases.py --count 2000 --seed 0 [--stage edge] [--native]

A program starts from an input, a buffer and fresh tensors, sees them in other ways (slices, transpositions, and operators
that only sometimes give a view: `reshape`, `to`, `contiguous`, `dropout`...), writes through some of these, and at the end
returns all. The same seed gives the same program. What PyTorch refuses to run or to export is not a program.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
from differential import to_numpy, to_torch

import xdsl_exir
from xdsl_exir.errors import UnsupportedError

Tensors = list[torch.Tensor]
Function = Callable[[Tensors], Any]


@dataclass
class Step:
    """A function of the tensors so far; what it returns joins them."""

    text: str
    function: Function


@dataclass(eq=False)
class Program(torch.nn.Module):
    """The steps, as a module with a buffer."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    steps: list[Step] = field(default_factory=list[Step])

    def __post_init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", filled(self.shape, self.dtype))

    def forward(self, x: torch.Tensor) -> Tensors:
        tensors: Tensors = [x, self.kept]
        for step in self.steps:
            made = step.function(tensors)
            tensors += made if isinstance(made, list | tuple) else [] if made is None else [made]
        return [tensor.clone() for tensor in tensors]


def filled(shape: tuple[int, ...], dtype: torch.dtype, start: int = 1) -> torch.Tensor:
    count = int(np.prod(shape))
    values = torch.arange(start, start + count)
    return (values + values.flip(0) * 1j if dtype.is_complex else values % 7 - 2).to(dtype).reshape(shape)


# --- steps ---------------------------------------------------------------------------------------------------

Maker = Callable[[random.Random, torch.Tensor], "tuple[str, Callable[[torch.Tensor], Any]] | None"]


def dim_of(rng: random.Random, t: torch.Tensor) -> int:
    return rng.randrange(-t.ndim, t.ndim)


def views(rng: random.Random, t: torch.Tensor) -> Iterator[tuple[str, Callable[[torch.Tensor], Any]]]:
    """Ways to see a tensor, some of which copy."""
    sizes, same = list(t.shape), t.dtype
    yield "alias", lambda t: t.view(t.shape) if t.is_contiguous() else t.detach()
    yield "detach", lambda t: t.detach()
    yield "to", lambda t: t.to(same)
    yield "to copy", lambda t: t.to(same, copy=True)
    yield "to other", lambda t: t.to(t)
    yield "contiguous", lambda t: t.contiguous()
    yield "type_as", lambda t: t.type_as(t)
    yield "ravel", lambda t: t.ravel()
    yield "flatten", lambda t: t.flatten()
    yield "reshape", lambda t: t.reshape(-1)
    yield "reshape same", lambda t: t.reshape(sizes)
    yield "expand same", lambda t: t.expand(sizes)
    yield "broadcast_to", lambda t: t.broadcast_to(sizes)
    yield "expand_as", lambda t: t.expand_as(torch.ones(sizes))
    yield "expand", lambda t: t.expand(2, *sizes)
    yield "broadcast_tensors", lambda t: torch.broadcast_tensors(t, torch.ones(sizes))[0]
    yield "atleast_1d", lambda t: torch.atleast_1d(t)
    yield "atleast_2d", lambda t: torch.atleast_2d(t, t)[1]
    yield "atleast_3d", lambda t: torch.atleast_3d(t)
    yield "unsqueeze", lambda t: t.unsqueeze(-1)
    yield "squeeze", lambda t: t.squeeze()
    yield "lift", lambda t: torch.ops.aten.lift(t)
    if same.is_floating_point:
        yield "sum_to_size", lambda t: torch.ops.aten.sum_to_size(t, sizes)
    yield "resolve_conj", lambda t: t.resolve_conj()
    yield "resolve_neg", lambda t: t.resolve_neg()
    yield "conj", lambda t: t.conj()
    yield "conj_physical", lambda t: torch.conj_physical(t)
    yield "clone", lambda t: t.clone()
    if same is not torch.bool:
        yield "positive", lambda t: +t
        yield "dropout", lambda t: torch.dropout(t, 0.5, False)
        yield "feature_dropout", lambda t: torch.ops.aten.feature_dropout(t, 0.5, False)
    if not same.is_complex:
        yield "real", lambda t: torch.real(t)
        if same is not torch.bool:
            for name in ("floor", "ceil", "trunc", "abs"):
                yield name, lambda t, name=name: getattr(torch, name)(t)
    else:
        yield "real", lambda t: t.real
        yield "imag", lambda t: t.imag
        yield "abs", lambda t: t.abs()
        if not t.is_conj():
            yield "view_as_real", lambda t: torch.view_as_real(t)
    if same is torch.float32 and t.ndim and sizes[-1] == 2 and not t.is_neg():
        yield "view_as_complex", lambda t: torch.view_as_complex(t)
    if same in (torch.float32, torch.int32):
        other = torch.int32 if same is torch.float32 else torch.float32
        yield "view dtype", lambda t: t.view(other)
    if t.ndim == 1:
        yield "cartesian_prod", lambda t: torch.cartesian_prod(t)
        yield "meshgrid", lambda t: torch.meshgrid(t, torch.ones(2).to(t.dtype), indexing="ij")[0]
        yield "einsum", lambda t: torch.einsum("i->i", t)
    if not t.ndim:
        return
    dim, other = dim_of(rng, t), dim_of(rng, t)
    size = sizes[dim]
    start = rng.randrange(size + 1)
    length, step = rng.randrange(size - start + 1), rng.choice((1, 1, 2))
    yield "transpose", lambda t: t.transpose(dim, other)
    yield "swapaxes", lambda t: t.swapaxes(dim, other)
    yield "movedim", lambda t: t.movedim(dim, other)
    yield "moveaxis", lambda t: torch.moveaxis(t, (dim,), (other,))
    yield "narrow", lambda t: t.narrow(dim, start, length)
    yield "narrow back", lambda t: t.narrow(dim, -size, size - 1)
    yield "flatten from", lambda t: t.flatten(dim)
    yield "unflatten", lambda t: t.unflatten(dim, (1, -1))
    yield "index", lambda t: t[..., ::step]
    yield "slice", lambda t: torch.ops.aten.slice.Tensor(t, dim, start, start + length, step)
    yield "squeeze dim", lambda t: t.squeeze(dim)
    if size:
        at = rng.randrange(-size, size)
        yield "select", lambda t: t.select(dim, at)
        yield "unbind", lambda t: list(t.unbind(dim))[:3]
        yield "unfold", lambda t: t.unfold(dim, min(2, size), 2)
        yield "unfold over", lambda t: t.unfold(dim, min(2, size), 1)
    order = rng.sample(range(t.ndim), t.ndim)
    yield "permute", lambda t: t.permute(order)
    yield "split", lambda t: list(t.split(2, dim))
    yield "split sizes", lambda t: list(t.split([start, size - start], dim))
    yield "chunk", lambda t: list(t.chunk(2, dim))
    yield "unsafe_chunk", lambda t: list(torch.unsafe_chunk(t, 2, dim))
    yield "unsafe_split", lambda t: list(torch.unsafe_split(t, 2, dim))
    yield "tensor_split", lambda t: list(t.tensor_split(3, dim))
    yield "tensor_split at", lambda t: list(t.tensor_split([start, 1], dim))
    yield "hsplit", lambda t: list(t.hsplit([start]))
    if t.ndim == 2:
        yield "einsum", lambda t: torch.einsum("ij->ji", t)
        yield "t", lambda t: t.t()
        yield "H", lambda t: t.H
        yield "numpy_T", lambda t: torch.ops.aten.numpy_T(t)
    if t.ndim >= 2:
        yield "mT", lambda t: t.mT
        yield "mH", lambda t: t.mH
        yield "adjoint", lambda t: t.adjoint()
        yield "diagonal", lambda t: t.diagonal(step - 1)
        yield "linalg.diagonal", lambda t: torch.linalg.diagonal(t)
        yield "vsplit", lambda t: list(t.vsplit([1]))
        yield "reshape two", lambda t: t.reshape(sizes[0] * sizes[1], *sizes[2:])
        yield "flatten two", lambda t: t.flatten(0, 1)
    if t.numel() >= 4 and not t.is_conj() and not t.is_neg():
        first = rng.randrange(2)
        yield "as_strided", lambda t: t.as_strided((2,), (2,), t.storage_offset() + first)


def writes(rng: random.Random, t: torch.Tensor) -> Iterator[tuple[str, Callable[[torch.Tensor], Any]]]:
    """Writes to a tensor."""
    shape, dtype = tuple(t.shape), t.dtype
    number = rng.choice((2, 3, -1))
    yield "copy_", lambda t: t.copy_(filled(shape, dtype, number))
    yield "copy_ number", lambda t: t.copy_(torch.tensor(number))
    yield "fill_", lambda t: t.fill_(number)
    yield "zero_", lambda t: t.zero_()
    yield "logical_not_", lambda t: t.logical_not_()
    yield "masked_fill_", lambda t: t.masked_fill_(filled(shape, torch.int64) > 0, number)
    yield "assign", lambda t: t.__setitem__(..., number)
    if dtype is not torch.bool:
        yield "add_", lambda t: t.add_(number)
        yield "add_ tensor", lambda t: t.add_(filled(shape, dtype))
        yield "mul_", lambda t: t.mul_(number)
        yield "neg_", lambda t: t.neg_()
        yield "iadd", lambda t: t.__iadd__(number)
        yield "add out", lambda t: torch.add(filled(shape, dtype), number, out=t)
    if dtype.is_complex:
        yield "mul_ j", lambda t: t.mul_(1j)
        yield "conj_physical_", lambda t: t.conj_physical_()
    elif dtype is not torch.bool:
        yield "clamp_", lambda t: t.clamp_(-1, 5)
        yield "bitwise", lambda t: t.bitwise_not_() if not dtype.is_floating_point else t.relu_()
    if t.ndim and shape[0]:
        yield "assign row", lambda t: t.__setitem__(0, number)
        yield "index_add_", lambda t: t.index_add_(0, torch.tensor([0]), filled((1, *shape[1:]), dtype))


def views_in_place(
    rng: random.Random, t: torch.Tensor
) -> Iterator[tuple[str, Callable[[torch.Tensor], Any]]]:
    """Operators that change how a tensor is seen."""
    yield "unsqueeze_", lambda t: t.unsqueeze_(0)
    yield "squeeze_", lambda t: t.squeeze_()
    yield "detach_", lambda t: t.detach_()
    if t.ndim:
        dim, other = dim_of(rng, t), dim_of(rng, t)
        yield "squeeze_ dim", lambda t: t.squeeze_(dim)
        yield "transpose_", lambda t: t.transpose_(dim, other)
        yield "swapaxes_", lambda t: t.swapaxes_(dim, other)
    if t.ndim <= 2:
        yield "t_", lambda t: t.t_()


def overlaps(t: torch.Tensor) -> bool:
    """Whether two elements of a tensor lie at the same place."""
    if not t.numel():
        return False
    places = np.zeros(1, np.int64)
    for size, stride in zip(t.shape, t.stride(), strict=True):
        places = np.add.outer(places, np.arange(size) * stride)
    return len(np.unique(places)) < t.numel()


def random_program(seed: int) -> tuple[Program, torch.Tensor]:
    """A program and its input."""
    rng = random.Random(seed)
    dtype = rng.choice((torch.float32, torch.float32, torch.int64, torch.complex64, torch.int32, torch.bool))
    shape = tuple(rng.choice((1, 2, 3, 4)) for _ in range(rng.randrange(1, 4)))
    program, x = Program(dtype, shape), filled(shape, dtype, 3)
    program.steps.append(Step("clone input", lambda ts: ts[0].clone()))
    count = rng.randrange(4, 12)
    while count:
        tensors = run(program, x)
        if tensors is None:
            raise AssertionError("a program that ran does not run")
        place = rng.randrange(len(tensors))
        t = tensors[place]
        kind = rng.random()
        if kind < 0.55:
            options, what = list(views(rng, t)), "view"
        elif kind < 0.95 and not overlaps(t):
            options, what = list(writes(rng, t)), "write"
        elif kind >= 0.95 and place > 1 and sum(each is t for each in tensors) == 1:
            options, what = list(views_in_place(rng, t)), "view in place"
        else:
            continue
        text, function = rng.choice(options)
        keeps = what == "view"

        def call(ts: Tensors, place: int = place, f: Any = function, keeps: bool = keeps) -> Any:
            made = f(ts[place])
            return made if keeps else None

        step = Step(f"{text}({place})", call)
        program.steps.append(step)
        after = run(program, x)
        if after is None or len(after) > 14:
            program.steps.pop()
        count -= 1
    return program, x


def run(program: Program, x: torch.Tensor) -> Tensors | None:
    """The tensors after a program, themselves; None where PyTorch refuses it."""
    tensors: Tensors = [x.clone(), program.kept.clone()]
    try:
        for step in program.steps:
            made = step.function(tensors)
            tensors += made if isinstance(made, list | tuple) else [] if made is None else [made]
    except (RuntimeError, IndexError, TypeError, ValueError):
        return None
    return tensors


# --- comparison ----------------------------------------------------------------------------------------------


def check(seed: int, stage: str = "imported", target: str = "interpreter") -> str:
    """Compares two calls of a program with eager's: outputs, input and buffer. Says `ok`, or why there is nothing to compare.

    Raises `AssertionError` for other numbers, `UnsupportedError` for what is refused.
    """
    program, x = random_program(seed)
    try:
        exported = torch.export.export(copy.deepcopy(program), (x.clone(),))
    except Exception as error:
        return f"not exported: {type(error).__name__}"
    ours = xdsl_exir.from_exported_program(exported)
    if stage != "imported":
        ours = ours.to_core() if stage == "core" else ours.to_edge()
    call = xdsl_exir.compile(ours, target)
    given, theirs = to_numpy(x).copy(), x.clone()
    for number in range(2):
        with torch.no_grad():
            expected = program(theirs)
        results = call(given)
        compare(f"call {number}: result", results, expected)
        compare(f"call {number}: input", [given], [theirs])
        if "kept" in call.state:
            compare(f"call {number}: buffer", [call.array("kept")], [program.kept])
    return "ok"


def compare(what: str, given: Any, expected: Any) -> None:
    assert len(given) == len(expected), what
    for index, (value, wanted) in enumerate(zip(given, expected, strict=True)):
        array = to_torch(np.asarray(value))
        wanted = wanted.resolve_conj().resolve_neg()
        torch.testing.assert_close(array, wanted, equal_nan=True, msg=lambda m, i=index: f"{what} {i}: {m}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stage", default="imported")
    parser.add_argument("--native", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: dict[str, int] = {}
    for seed in range(options.seed, options.seed + options.count):
        try:
            result = check(seed, options.stage, "native" if options.native else "interpreter")
        except UnsupportedError as error:
            result = f"refused: {error}"
        except Exception as error:
            result = f"{type(error).__name__}: {str(error)[:300]}"
        key = result.split("(")[0].split("\n")[0][:60] if not result.startswith("Asser") else "WRONG"
        counts[key] = counts.get(key, 0) + 1
        if result != "ok" and not result.startswith("not exported"):
            program, _ = random_program(seed)
            print(
                seed, program.dtype, program.shape, [s.text for s in program.steps], result[:400], flush=True
            )
    print(counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
