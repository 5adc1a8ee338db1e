"""Reductions and norms in the forms that kernels of rows take: over the last dimensions, in float32, of operators that these have.

    mean(x)                        becomes    mean.dim(x, all)
    sum(x, [0, 2, 3])              becomes    sum(sum(x, [2, 3]), [0])
    native_group_norm(x)           becomes    native_layer_norm of the elements of each group, and what scales and shifts channels
    _log_softmax(x, -1)            becomes    y - log(sum(exp(y))), y = x - amax(x)
    linalg_vector_norm(x, 2)       becomes    sqrt(sum(x * x)), of halves

Of halves all are computed in float32, and rounded once, as PyTorch does (`kernel_forms` casts them).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Results, meta
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.meta import wrap_dims
from xdsl_exir.transforms.matching import static
from xdsl_exir.transforms.patterns import KEEP

Arguments = dict[str, Any]
"""By name; `out` is the first result's type."""


@dataclass(frozen=True)
class Form:
    """The same in another form; KEEP where there is none."""

    build: Callable[[Namespace, Arguments], Results]
    dtypes: frozenset[DType]
    """Those with kernels; of others, what is wider is computed if it is one of these."""
    helps: Callable[[Arguments], bool] = lambda a: True
    """Whether a dtype that has kernels needs another form."""


def dims_of(x: SSAValue, dim: Any) -> list[int]:
    """The dimensions that a reduction is over, in order; None and the empty list are all."""
    ndim = meta(x).ndim
    return sorted(wrap_dims([dim] if isinstance(dim, int) else dim or None, ndim)) if ndim else []


def trailing(dims: Sequence[int], ndim: int) -> list[int]:
    """Those of some dimensions that are the last ones of all."""
    return [dim for at, dim in enumerate(dims) if list(dims[at:]) == list(range(dim, ndim))]


def reduction(name: str) -> Callable[[Namespace, Arguments], Results]:
    """Over the last dimensions first, then over the others."""

    def form(aten: Namespace, a: Arguments) -> Results:
        x = a["self"]
        dims, shape = dims_of(x, a.get("dim")), static(meta(x).shape)
        inner = trailing(dims, meta(x).ndim)
        reduce = (
            aten.mean.dim
            if name == "mean"
            else aten.sum.dim_IntList
            if name == "sum"
            else getattr(aten, name)
        )
        if not inner or len(inner) == len(dims) or shape is None or 0 in shape:
            return reduce(x, dims, a.get("keepdim", False))
        made = reduce(reduce(x, inner), dims[: -len(inner)])
        for dim in dims if a.get("keepdim") else []:
            made = aten.unsqueeze(made, dim)
        return made

    return form


def is_split(a: Arguments) -> bool:
    """Whether a reduction is over the last dimensions and others."""
    dims = dims_of(a["self"], a["dim"])
    inner, shape = trailing(dims, meta(a["self"]).ndim), static(meta(a["self"]).shape)
    return shape is not None and 0 not in shape and 0 < len(inner) < len(dims)


def softmax(aten: Namespace, a: Arguments) -> Results:
    return aten._softmax(a["self"], a["dim"], False)


def log_softmax(aten: Namespace, a: Arguments) -> Results:
    """x - max - log(sum(exp(x - max))), as PyTorch computes it."""
    x, dim = a["self"], a["dim"]
    if not meta(x).ndim or 0 in meta(x).shape:
        return aten._log_softmax(x, dim, False)
    shifted = aten.sub.Tensor(x, aten.amax(x, [dim], True))
    return aten.sub.Tensor(shifted, aten.log(aten.sum.dim_IntList(aten.exp(shifted), [dim], True)))


def is_along_last(a: Arguments) -> bool:
    ndim = meta(a["self"]).ndim
    return ndim > 0 and a["dim"] % ndim == ndim - 1 and 0 not in meta(a["self"]).shape


def layer_norm(aten: Namespace, a: Arguments) -> Results:
    names = ("input", "normalized_shape", "weight", "bias", "eps")
    return aten.native_layer_norm(*(a[name] for name in names))[0], None, None


def group_norm(aten: Namespace, a: Arguments) -> Results:
    """The elements of each group are a row."""
    x = a["input"]
    shape, groups = static(meta(x).shape), a["group"]
    if shape is None or 0 in shape or len(shape) < 2:
        return KEEP
    return channels_scaled(aten, a, [shape[0] * groups, -1]), None, None


def batch_norm(aten: Namespace, a: Arguments) -> Results:
    """Of one sample the elements of each channel are a row."""
    shape = static(meta(a["input"]).shape)
    if shape is None or 0 in shape or len(shape) < 3 or shape[0] != 1:
        return KEEP
    return channels_scaled(aten, a, [shape[1], -1]), None, None


def channels_scaled(aten: Namespace, a: Arguments, rows: Sequence[int]) -> SSAValue:
    """The input, seen as rows, normalized, and its channels scaled and shifted."""
    shape = static(meta(a["input"]).shape) or []
    seen = aten.view(a["input"], rows)
    made = aten.view(aten.native_layer_norm(seen, meta(seen).shape[1:], None, None, a["eps"])[0], shape)
    of_channels = [shape[1], *[1] * (len(shape) - 2)]
    if a["weight"] is not None:
        made = aten.mul.Tensor(made, aten.view(a["weight"], of_channels))
    if a["bias"] is not None:
        made = aten.add.Tensor(made, aten.view(a["bias"], of_channels))
    return made


def vector_norm(aten: Namespace, a: Arguments) -> Results:
    """Sums over the last dimensions."""
    x, dims = a["self"], dims_of(a["self"], a["dim"])
    if a["ord"] not in (1, 2):
        return KEEP
    term = aten.abs(x) if a["ord"] == 1 else aten.mul.Tensor(x, x)
    total = aten.sum.dim_IntList(term, dims, a["keepdim"])
    return total if a["ord"] == 1 else aten.sqrt(total)


def distances(aten: Namespace, a: Arguments) -> Results:
    """Sums of what pairs of rows are apart."""
    if a["p"] not in (1, 2):
        return KEEP
    apart = aten.sub.Tensor(aten.unsqueeze(a["x1"], -2), aten.unsqueeze(a["x2"], -3))
    if a["p"] == 1:
        return aten.sum.dim_IntList(aten.abs(apart), [-1])
    return aten.sqrt(aten.sum.dim_IntList(aten.mul.Tensor(apart, apart), [-1]))


def is_norm_of_rows(a: Arguments) -> bool:
    dims = dims_of(a["self"], a["dim"])
    # Squares of float32 overflow in it: they are added up in float64, by no kernel.
    return bool(dims) and trailing(dims, meta(a["self"]).ndim) == dims and a["ord"] == 1


def of_rows(a: Arguments) -> bool:
    return meta(a["self"]).ndim > 0


FLOAT = frozenset({dt.Float})
ROW_FORMS: dict[str, Form] = {
    "aten.mean": Form(reduction("mean"), FLOAT, of_rows),
    "aten.mean.dim": Form(reduction("mean"), FLOAT, is_split),
    "aten.sum.dim_IntList": Form(reduction("sum"), FLOAT, is_split),
    "aten.amax": Form(reduction("amax"), FLOAT, is_split),
    "aten.amin": Form(reduction("amin"), FLOAT, is_split),
    "aten._softmax": Form(softmax, FLOAT, lambda a: False),
    "aten._log_softmax": Form(log_softmax, FLOAT, is_along_last),
    "aten.native_layer_norm": Form(layer_norm, FLOAT, lambda a: False),
    "aten.native_group_norm": Form(group_norm, FLOAT),
    "aten._native_batch_norm_legit.no_stats": Form(batch_norm, FLOAT),
    "aten._cdist_forward": Form(distances, FLOAT),
    "aten.linalg_vector_norm": Form(vector_norm, FLOAT, is_norm_of_rows),
}
"""By operator."""
