"""Pointwise operators on all combinations of special values: what PyTorch gives, in its vectorised and in its scalar kernels.

`cases(names)` are programs of an operator each, with results as PyTorch's two layouts give them: as one tensor, and element
by element. `differences` says where a result is neither.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import torch
from differential import TOLERANCE, find_operator, flatten, program_of, to_torch
from samples import calls
from torch.utils._pytree import tree_map
from xdsl.dialects.builtin import ModuleOp

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.spec import OperatorSpec
from xdsl_exir.errors import ExirError

REALS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -7.25, 40.0, inf, -inf, nan]
FEW = [0.0, -0.0, 1.0, -2.5, inf, -inf, nan]
PARTS = [0.0, -0.0, 1.0, -2.5, inf, -inf, nan]
DTYPES = [
    dt.Float,
    dt.Double,
    dt.Half,
    dt.BFloat16,
    dt.ComplexFloat,
    dt.ComplexDouble,
    dt.Byte,
    dt.Char,
    dt.Int,
    dt.Long,
]

FAMILIES = ("pointwise",)


def values(dtype: DType, few: bool) -> torch.Tensor:
    """Special numbers of a dtype."""
    kind = getattr(torch, dtype.torch_name)
    match dtype.category:
        case Category.BOOL:
            return torch.tensor([True, False])
        case Category.INT:
            info = torch.iinfo(kind)
            least = [info.min, info.min + 1] if info.min else [0]
            numbers = [*least, info.max, 0, 1, 2, 3, 7, *([] if few else [info.max - 1, 100, 8])]
            return torch.tensor(numbers + ([-1, -2] if info.min else []), dtype=kind)
        case Category.FLOAT:
            info = torch.finfo(kind)
            extremes = [info.max, -info.max, info.tiny, -info.tiny, info.tiny / 4, info.eps]
            return torch.tensor(FEW if few else REALS + extremes, dtype=torch.float64).to(kind)
        case Category.COMPLEX:
            parts = FEW[::2] if few else PARTS
            return torch.tensor([complex(a, b) for a in parts for b in parts], dtype=kind)


@dataclass(frozen=True)
class Case:
    """One call: its program, what it is given, and what PyTorch gives."""

    label: str
    module: ModuleOp
    tensors: list[torch.Tensor]
    vector: list[torch.Tensor]
    scalar: list[torch.Tensor]


REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, ZeroDivisionError)


def tensors_of(value: Any) -> list[TensorMeta]:
    if isinstance(value, TensorMeta):
        return [value]
    if isinstance(value, list | tuple):
        return [meta for item in value for meta in tensors_of(item)]
    return []


def cases_of(spec: OperatorSpec, dtype: DType) -> Iterator[Case]:
    """The first of an operator's samples, on all combinations of special numbers."""
    for number, sample in enumerate(itertools.islice(calls(spec), 2)):
        metas = tensors_of([*sample.args, *sample.kwargs.values()])
        if not metas or len(metas) > 3:
            continue
        columns = [
            values(dtype, few=len(metas) > 1 and (len(metas) > 2 or dtype.category is Category.COMPLEX))
            for _ in metas
        ]
        if len(columns) == 1:
            flat = columns
        else:
            grid = torch.meshgrid(*columns, indexing="ij")
            flat = [column.reshape(-1).contiguous() for column in grid]
        if spec.qualified_name in NONZERO and dtype.category is Category.INT:
            kept = flat[-1] != 0
            least = torch.iinfo(flat[0].dtype).min
            kept &= ~((flat[-1] == -1) & (flat[0] == least)) if least else kept
            flat = [column[kept] for column in flat]
        main = metas[0].dtype
        kinds = [dtype if meta.dtype is main else meta.dtype for meta in metas]
        flat = [
            column if kind is dtype else column.to(getattr(torch, kind.torch_name))
            for column, kind in zip(flat, kinds, strict=True)
        ]

        def fill(tensors: Iterable[torch.Tensor]) -> tuple[list[Any], dict[str, Any]]:
            rest = iter(tensors)
            put = lambda value: next(rest) if isinstance(value, TensorMeta) else value  # noqa: E731
            is_leaf = lambda value: isinstance(value, TensorMeta)  # noqa: E731
            args = tree_map(put, list(sample.args), is_leaf=is_leaf)  # noqa: B023
            kwargs = sample.kwargs  # noqa: B023
            return args, {key: tree_map(put, value, is_leaf=is_leaf) for key, value in kwargs.items()}

        function = find_operator(spec.qualified_name)

        def call(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
            args, kwargs = fill(tensors)
            return flatten(function(*args, **kwargs))  # noqa: B023

        try:
            args, kwargs = fill(flat)
            module, tensors = program_of(spec.qualified_name, *args, **kwargs)
            module.verify()
        except (ExirError, *REFUSALS):
            continue
        except Exception:
            continue
        try:
            vector = call(flat)
            singles = [call([column[i : i + 1] for column in flat]) for i in range(len(flat[0]))]
        except REFUSALS:
            continue
        if not all(isinstance(x, torch.Tensor) and x.shape == flat[0].shape for x in vector):
            continue
        scalar = [torch.cat(list(parts)) for parts in zip(*singles, strict=True)]
        yield Case(f"{spec.qualified_name} {dtype} {number}", module, tensors, vector, scalar)


NONZERO = {
    "aten.div.Tensor_mode",
    "aten.floor_divide",
    "aten.remainder.Tensor",
    "aten.fmod.Tensor",
    "aten.divide.Tensor_mode",
    "aten.remainder.Scalar_Tensor",
}


def agrees(got: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
    """Which elements are as PyTorch has them: NaN where it has, infinities and zeros with their signs."""
    if got.dtype.is_complex:
        a, b = torch.view_as_real(got), torch.view_as_real(want.resolve_conj())
        return agrees(a, b).all(-1)
    if not got.dtype.is_floating_point:
        return got == want
    rtol, atol = TOLERANCE[got.dtype]
    a, b = got.double(), want.double()
    close = ((a - b).abs() <= 4 * rtol * b.abs() + 1e-30) | (a == b) | (a.isnan() & b.isnan())
    close |= ((a - b).abs() <= atol * 1e-1) & (b != 0)
    zero = (b == 0) & (a == 0)
    return torch.where(zero, a.signbit() == b.signbit(), close)


def differences(case: Case, results: Iterable[Any]) -> list[str]:
    """Where results are neither of the two, with what was given."""
    found: list[str] = []
    for result, vector, scalar in zip(results, case.vector, case.scalar, strict=True):
        got = to_torch(result)
        if got.dtype != vector.dtype or got.shape != vector.shape:
            found.append(
                f"{case.label}: {got.dtype} {tuple(got.shape)} for {vector.dtype} {tuple(vector.shape)}"
            )
            continue
        wrong = ~(agrees(got, vector) | agrees(got, scalar))
        for place in wrong.nonzero().flatten().tolist():
            given = ", ".join(str(x[place].item()) for x in case.tensors)
            want = {str(vector[place].item()), str(scalar[place].item())}
            found.append(f"{case.label}({given}) = {got[place].item()}, expected {' or '.join(sorted(want))}")
    return found
