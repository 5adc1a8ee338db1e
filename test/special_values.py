"""Operators on all combinations of special values: what PyTorch gives, in its vectorised and in its scalar kernels.

    python test/special_values.py [PATTERN ...] [--sweeps pointwise rows conversions] [--dtypes ...] [--engines ...]

`cases_of`, `cases_of_rows` and `conversions` are programs of an operator each, with results as PyTorch's two layouts give them:
as one tensor, and element by element (or by rows that lie apart). `differences` says where a result is neither. The script
prints those of all operators, and ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import fnmatch
import itertools
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import torch
from differential import TOLERANCE, find_operator, flatten, program_of, run, run_native, to_torch
from samples import calls
from torch.utils._pytree import tree_map
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.spec import BY_ELEMENTS, OperatorSpec, specs
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.errors import ExirError, UnsupportedError
from xdsl_exir.transforms.aten_to_edge import AtenToEdge
from xdsl_exir.transforms.decompose_aten import DecomposeAten

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
    dt.Short,
    dt.Int,
    dt.Long,
    dt.UInt16,
    dt.UInt32,
    dt.UInt64,
    dt.Bool,
]


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
    counted: Sequence[int] | None = None
    """Which results count, if not all."""
    signs: bool = True
    """Whether signs of zero count: of equal elements any may be the one that is found."""


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


# --- rows ----------------------------------------------------------------------------------------------------

ALONG: tuple[tuple[str, Sequence[Any], Sequence[int] | None], ...] = (
    *(
        (f"{name}", ([-1],), None)
        for name in ("sum.dim_IntList", "mean.dim", "nansum", "nanmean", "amax", "amin")
    ),
    *((f"{name}.dim", (-1,), None) for name in ("max", "min", "any", "all", "median", "nanmedian")),
    *(
        (name, (-1,), None)
        for name in ("prod.dim_int", "argmax", "argmin", "cumsum", "cumprod", "cummax", "cummin")
    ),
    *((name, (-1,), None) for name in ("logcumsumexp", "mode", "count_nonzero", "logsumexp")),
    *((f"{name}.int", (-1,), None) for name in ("softmax", "log_softmax")),
    *((f"{name}.correction", ([-1],), None) for name in ("var", "std")),
    *(("linalg_vector_norm", (order, [-1]), None) for order in (0, 1, 2, 3, 0.5, inf, -inf)),
    *(("sort.stable", (True, -1, descending), None) for descending in (False, True)),
    *(("topk", (2, -1, largest), [0]) for largest in (False, True)),
    ("kthvalue", (2, -1), [0]),
    ("aminmax", (), None),
    ("diff", (), None),
    ("renorm", (2, 0, 1.5), None),
    ("layer_norm", ([3],), None),
    ("max", (), None),
    ("min", (), None),
    ("prod", (), None),
)
"""Operators on rows, the arguments that follow, and which results count, if not all: places of equal elements may differ."""


def special_rows(dtype: DType) -> torch.Tensor:
    """Rows of all triples of a few special numbers."""
    numbers = values(dtype, few=True)
    if dtype.category is Category.COMPLEX:
        numbers = numbers[:9]
    return torch.cartesian_prod(*[numbers] * 3)


def cases_of_rows(dtype: DType, names: Callable[[str], bool]) -> Iterator[Case]:
    """Reductions, scans and orders of special rows; for PyTorch's other result, of rows whose elements lie apart."""
    rows = special_rows(dtype)
    for name, rest, counted in ALONG:
        if not names(name):
            continue
        # PyTorch sorts for the mode as if NaN had a place.
        x = rows[~rows.isnan().any(-1)] if name == "mode" else rows
        apart = x.T.contiguous().T
        function = find_operator(f"aten.{name}")
        args = [] if name == "aminmax" else list(rest)
        kwargs = {"dim": -1} if name == "aminmax" else {}
        if name == "sort.stable":
            args, kwargs = [], dict(zip(("stable", "dim", "descending"), rest, strict=True))
        try:
            vector, scalar = (flatten(function(each, *args, **kwargs)) for each in (x, apart))
            module, tensors = program_of(f"aten.{name}", x, *args, **kwargs)
        except (ExirError, *REFUSALS):
            continue
        yield Case(f"aten.{name}{tuple(rest)} {dtype}", module, tensors, vector, scalar, counted, signs=False)


# --- conversions ---------------------------------------------------------------------------------------------


def conversions(dtype: DType) -> Iterator[Case]:
    """Special numbers of a dtype in each other."""
    x = values(dtype, few=False)
    if dtype.category is Category.FLOAT:
        ends = [float(2**bits + step) for bits in (7, 8, 15, 16, 31, 32, 63, 64) for step in (-1, 0, 1)]
        x = torch.cat([x, torch.tensor([sign * end for end in ends for sign in (1, -1)]).to(x.dtype)])
    for target in DTYPES:
        kind = getattr(torch, target.torch_name)
        module, tensors = program_of("aten._to_copy", x, dtype=kind)
        vector, scalar = x.to(kind), torch.cat([x[i : i + 1].to(kind) for i in range(len(x))])
        yield Case(f"aten._to_copy {dtype} to {target}", module, tensors, [vector], [scalar])


# --- comparing -----------------------------------------------------------------------------------------------

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
    for number, (result, vector, scalar) in enumerate(zip(results, case.vector, case.scalar, strict=True)):
        if case.counted is not None and number not in case.counted:
            continue
        got = to_torch(result)
        if got.dtype != vector.dtype or got.shape != vector.shape:
            found.append(
                f"{case.label}: {got.dtype} {tuple(got.shape)} for {vector.dtype} {tuple(vector.shape)}"
            )
            continue
        if not case.signs:
            got, vector, scalar = (x + 0 if x.is_floating_point() else x for x in (got, vector, scalar))
        wrong = ~(agrees(got, vector) | agrees(got, scalar))
        for place in map(tuple, wrong.nonzero().tolist()):
            given = ", ".join(str((x[place[:1]] if place else x).tolist()) for x in case.tensors)
            want = {str(vector[place].item()), str(scalar[place].item())}
            expected = " or ".join(sorted(want))
            found.append(
                f"{case.label}({given}){list(place[1:]) or ''} = {got[place].item()}, expected {expected}"
            )
    return found


# --- the whole sweep -----------------------------------------------------------------------------------------


def natively(module: ModuleOp) -> ModuleOp:
    for stage in (DecomposeAten(), AtenToEdge()):
        stage.apply(Context(), module)
    return module


ENGINES: dict[str, Callable[[Case], Sequence[Any]]] = {
    "interpreter": lambda case: run(case.module.clone(), case.tensors),
    "native": lambda case: run_native(natively(case.module.clone()), case.tensors),
}


def all_cases(sweep: str, dtype: DType, names: Callable[[str], bool]) -> Iterator[Case]:
    match sweep:
        case "pointwise":
            for spec in specs().values():
                if spec.family in BY_ELEMENTS and names(spec.qualified_name.removeprefix("aten.")):
                    yield from cases_of(spec, dtype)
        case "rows":
            yield from cases_of_rows(dtype, names)
        case _:
            yield from conversions(dtype)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=["*"], metavar="PATTERN")
    parser.add_argument("--sweeps", nargs="+", default=["pointwise", "rows", "conversions"])
    parser.add_argument("--dtypes", nargs="+", default=[str(dtype.torch_name) for dtype in DTYPES])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--most", type=int, default=4, help="how many differences of a call are printed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts = dict.fromkeys(("calls", "wrong", "refused"), 0)

    def wanted(name: str) -> bool:
        return any(fnmatch.fnmatch(name, pattern) for pattern in options.patterns)

    for sweep, dtype in itertools.product(options.sweeps, DTYPES):
        if dtype.torch_name not in options.dtypes:
            continue
        for case in all_cases(sweep, dtype, wanted):
            for engine in options.engines:
                counts["calls"] += 1
                try:
                    found = differences(case, ENGINES[engine](case))
                except UnsupportedError as error:
                    counts["refused"] += 1
                    print(f"{engine}: {case.label}: refused: {str(error).splitlines()[0][:120]}", flush=True)
                    continue
                except Exception as error:
                    found = [f"{case.label}: {type(error).__name__}: {str(error)[:160]}"]
                counts["wrong"] += bool(found)
                for line in found[: options.most]:
                    print(f"{engine}: {line}", flush=True)
                if found[options.most :]:
                    print(f"{engine}: {case.label}: and {len(found) - options.most} more", flush=True)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
