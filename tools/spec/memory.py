"""Derives `shares` of the families' files: which results PyTorch's kernels give that lie in the memory of an operand.

    python -m xdsl_exir.tools.spec.memory                      # brings <family>.yaml up to date
    python -m xdsl_exir.tools.spec.memory --check              # exits 1 where they disagree with kernels
    python -m xdsl_exir.tools.spec.memory aten.reshape         # only shows what these operators share

For every operator: take small arguments (those of `probe` and `WRITTEN`), cast and lay them out in several ways, run the
kernel, look whose storage each result has, and write the first condition that holds exactly where it was seen
(`xdsl_exir.dialects.sharing`). Needs PyTorch, with its testing modules.
"""

# pyright: basic, reportMissingImports=false
# (PyTorch's types are unknown to the checker.)

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from xdsl_exir.dialects.schema import FunctionSchema
from xdsl_exir.dialects.sharing import CONDITIONS, Memory, Sharing
from xdsl_exir.dialects.spec import specs
from xdsl_exir.errors import SpecError
from xdsl_exir.tools.spec.entries import Entry, options, rewrite
from xdsl_exir.tools.spec.probe import needs_rule
from xdsl_exir.tools.spec.samples import OF_TORCH, bind, harvest, overload, run
from xdsl_exir.tools.spec.samples import WRITTEN as WRITTEN_FOR_DTYPES

Call = Mapping[str, Any]
"""Arguments by name."""


def _f(*shape: int) -> torch.Tensor:
    return torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape)


WRITTEN: dict[str, Sequence[tuple[Any, ...]]] = {
    "einsum": [
        *[(equation, [_f(2, 3)]) for equation in ("ij->ji", "ij->i", "ba")],
        *[(equation, [_f(2, 2)]) for equation in ("ii->i", "ii")],
        *[("...i->i...", [_f(2, 2, 3)]), ("i,i->i", [_f(2), _f(2)]), ("ij->i", [_f(2, 1)])],
    ],
    "cartesian_prod": [([_f(3)],), ([_f(3), _f(2)],)],
    "chain_matmul": [([_f(2, 2)],)],
    "channel_shuffle": [(_f(1, 4, 2, 2), 1), (_f(1, 4, 2, 2), 2)],
    **{
        name: [(_f(2, 3), 0.5, False), (_f(2, 3), 0.5, True), (_f(2, 3), 0.0, True), (_f(2, 3), 1.0, True)]
        for name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
    },
    "native_dropout": [(_f(3), 0.5, False), (_f(3), 0.0, True)],
    "resolve_conj": [(_f(3),), (_f(3).to(torch.complex64).conj(),)],
    "resolve_neg": [(_f(3),), (torch.ones(3, dtype=torch.complex64).conj().imag,)],
    "contiguous": [(_f(2, 3),), (_f(1, 2, 2, 2), torch.channels_last)],
    "to.dtype": [(_f(2, 3), dtype, False, copy) for dtype in (torch.float32, torch.int64) for copy in (0, 1)],
    "to.dtype_layout": [(_f(2, 3), dtype) for dtype in (torch.float32, torch.int64)]
    + [(_f(2, 3), None, None, None, None, False, True)],
    "type_as": [(_f(2, 3), other) for other in (_f(2), torch.ones(2, dtype=torch.int64))],
    "to.other": [(_f(2, 3), _f(2)), (_f(2, 3), _f(2), False, True)],
    "reshape": [
        *[(_f(2, 3), shape) for shape in ([3, 2], [-1], [2, 3])],
        *[(_f(2, 2, 3), shape) for shape in ([4, 3], [2, 6])],
        *[(_f(4, 3), [2, 2, 3]), (_f(2, 1, 3), [1, 2, 3, 1])],
    ],
    "flatten.using_ints": [
        (_f(2, 2, 3),),
        (_f(2, 2, 3), 1),
        (_f(2, 2, 3), 0, 1),
        (_f(3),),
        (torch.ones([]),),
    ],
    "ravel": [(_f(2, 3),), (_f(3),)],
    "sum_to_size": [(_f(2, 3), [2, 3]), (_f(2, 3), [1, 3]), (_f(1, 3), [1, 3]), (_f(1, 3), [3])],
    # What changes nothing, of operators that might say so.
    **{name: [(_f(1, 4, 2, 2), 1)] for name in ("pixel_shuffle", "pixel_unshuffle")},
    "pad": [(_f(1, 3), [0, 0]), (_f(1, 3), [0, 0], "reflect"), (_f(1, 3), [0, 0], "circular")],
    "constant_pad_nd": [(_f(3), [0, 0])],
    **{name: [(_f(3), [1]), (_f(3), [1, 1])] for name in ("tile", "repeat")},
    "roll": [(_f(3), [0], [0])],
    "flip": [(_f(3), [])],
    "rot90": [(_f(2, 2), 0)],
    "diff": [(_f(3), 0)],
    **{name: [([_f(2, 2)],)] for name in ("block_diag", "cat", "stack", "hstack", "vstack", "column_stack")},
    "pad_sequence": [([_f(3)],)],
    **{name: [(_f(2, 2), 1)] for name in ("linalg_matrix_power", "matrix_power")},
    "repeat_interleave.self_int": [(_f(3), 1), (_f(3), 1, 0)],
    **{name: [(_f(1, 1, 3, 3), [1, 1])] for name in ("avg_pool2d", "max_pool2d")},
    **{name: [(_f(1, 1, 3, 3), [3, 3])] for name in ("adaptive_avg_pool2d", "upsample_nearest2d")},
    "combinations": [(_f(3), 1)],
    **{name: [(_f(), 0)] for name in ("cumsum", "sort", "logcumsumexp")},
    **{name: [(_f(), [])] for name in ("amax", "mean.dim", "sum.dim_IntList", "logsumexp")},
    "round.decimals": [(_f(3), 0)],
}
"""Calls whose results may be their operands, beyond those that dtype rules are probed with."""

DTYPES = (torch.bool, torch.uint8, torch.int64, torch.float16, torch.float32, torch.complex64)
CALLS = 12
"""Calls tried of each operator, beside those written for it."""


def laid_out(tensor: torch.Tensor, way: int) -> torch.Tensor:
    """The same elements in memory of their own: row-major, transposed, with gaps, channels last."""
    if tensor.is_conj() or tensor.is_neg():
        return tensor
    if way == 1 and tensor.ndim >= 2:
        return tensor.mT.contiguous().mT
    if way == 2 and tensor.ndim:
        return tensor.repeat_interleave(2, -1)[..., ::2]
    if way == 3 and tensor.ndim == 4:
        return tensor.clone(memory_format=torch.channels_last)
    return tensor.clone(memory_format=torch.contiguous_format)


WAYS = 4


def variants(call: Call) -> Iterator[Call]:
    """A call with its tensors of floats of every dtype, and laid out in every way."""

    def made(value: Any, dtype: torch.dtype, way: int) -> Any:
        if isinstance(value, list | tuple):
            return [made(item, dtype, way) for item in value]
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            return value
        is_number = value.is_floating_point() or (value.is_complex() and not value.is_conj())
        return laid_out(value.detach().to(dtype) if is_number else value, way)

    for dtype in DTYPES:
        for way in range(WAYS):
            yield {name: made(value, dtype, way) for name, value in call.items()}


def tensors(value: Any) -> list[torch.Tensor]:
    """A tensor or the items of a list of them."""
    return [item for item in (value if isinstance(value, list | tuple) else [value]) if torch.is_tensor(item)]


def memory_of(tensor: torch.Tensor) -> Memory:
    """How a tensor lies in memory. Raises `KeyError` for dtypes that the IR does not have."""
    flags = tensor.is_conj(), tensor.is_neg()
    return Memory(OF_TORCH[tensor.dtype], tuple(tensor.shape), tensor.stride(), str(tensor.device), *flags)


@dataclass(frozen=True)
class Observation:
    """One result of a call: an operand that it may share memory with, and whether it does."""

    source: str
    arguments: Call
    before: Memory
    after: Memory
    shares: bool
    is_same: bool
    """Whether it is the operand."""


def observations(schema: FunctionSchema, call: Call) -> Iterator[Observation]:
    """What one call shows. Raises `SpecError` where results share memory in a way that `shares` cannot say."""
    result = run(overload(schema.qualified_name), (), dict(call))
    if not result:
        return
    defaults = {item.name: None if item.required else item.default for item in schema.arguments}
    operands = [(name, item) for name, value in call.items() for item in enumerate(tensors(value))]
    for ret in result:
        for place, after in enumerate(tensors(ret)):
            if not after.numel() or after.layout != torch.strided or after.dtype not in OF_TORCH:
                continue
            for name, (index, before) in operands:
                if before.dtype not in OF_TORCH or not before.numel():
                    continue
                shares = before.untyped_storage().data_ptr() == after.untyped_storage().data_ptr()
                is_list = isinstance(call[name], list)
                if shares and (ret is not result[0] or (is_list and index != place)):
                    raise SpecError(
                        f"{schema.qualified_name}: result {place} shares memory with {name}[{index}]"
                    )
                if not is_list or index == place:
                    lain = memory_of(before), memory_of(after)
                    yield Observation(name, {**defaults, **call}, *lain, shares, after is before)


def fit(name: str, observed: Sequence[Observation]) -> str:
    """What `shares` says of an operator. Raises `SpecError` where no condition does."""
    sources = {each.source for each in observed if each.shares}
    if not sources:
        return ""
    if len(sources) > 1:
        raise SpecError(f"{name}: results share memory with {sorted(sources)}")
    [source] = sources
    own = [each for each in observed if each.source == source]
    for condition in CONDITIONS:
        try:
            if all(CONDITIONS[condition](e.arguments, e.before, e.after) is e.shares for e in own):
                return str(Sharing(source, condition, or_itself(name, own)))
        except KeyError:
            continue  # of arguments that the operator does not have
    raise SpecError(f"{name}: no condition says when results share memory with {source}")


def or_itself(name: str, observed: Sequence[Observation]) -> bool:
    """Whether results that look like the operand are the operand. Raises `SpecError` where only some are."""
    alike = {each.is_same for each in observed if each.shares and each.before == each.after}
    if len(alike) > 1 or any(each.is_same and each.before != each.after for each in observed):
        raise SpecError(f"{name}: only some results that look like the operand are it")
    return alike == {True}


def written(name: str) -> list[Call]:
    """The calls that are written here and for dtype rules."""
    short, schema = name.removeprefix("aten."), specs()[name].schema
    return [
        bind(schema, args, {}) for table in (WRITTEN, WRITTEN_FOR_DTYPES) for args in table.get(short, ())
    ]


def calls_of(names: Iterable[str]) -> dict[str, list[Call]]:
    """Calls of each operator: those that are written, and some of PyTorch's own samples."""
    harvested = harvest(frozenset(names))
    return {name: [*written(name), *harvested.get(name, [])[:CALLS]] for name in names}


def seen(name: str, calls: Iterable[Call]) -> list[Observation]:
    """What calls of an operator show."""
    schema = specs()[name].schema
    return [each for call in calls for given in variants(call) for each in observations(schema, given)]


def derive(calls: Mapping[str, Iterable[Call]]) -> Iterator[tuple[str, str]]:
    """What each operator shares, by what its calls show."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, some in calls.items():
            yield name, fit(name, seen(name, some))


def probed() -> list[str]:
    """Operators that are probed: PyTorch's own that take and give tensors."""
    return [name for name, known in specs().items() if name.startswith("aten.") and needs_rule(known)]


def main() -> int:
    given = options(__doc__, "show, as in aten.reshape").parse_args()
    shares = dict(derive(calls_of(given.names or probed())))
    if given.names:
        print(*(f"{name}: {found or 'nothing'}" for name, found in shares.items()), sep="\n")
        return 0

    def refreshed(entry: Entry) -> Entry:
        return replace(entry, shares=shares.get(entry.qualified_name, entry.shares))

    return 1 if rewrite(refreshed, given.check) and given.check else 0


if __name__ == "__main__":
    sys.exit(main())
