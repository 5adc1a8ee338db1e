"""Reductions and norms in the forms that kernels of rows take: over the last dimensions, in float32, of operators that these have.

    sum(x, [0, 2, 3])              becomes    sum(sum(x, [2, 3]), [0])
    sum(a * b)                     becomes    sum(sum(view(a) * view(b), [1]), [0]), in rows for threads to share
    native_group_norm(x)           becomes    native_layer_norm of the elements of each group, and what scales and shifts channels
    sum(a * b, [0])                becomes    sum(permute(a) * permute(b), [-1]), of rows that lie side by side
    softmax(x, 0)                  becomes    permute(softmax(permute(x), -1))

Of halves all are computed in float32, and rounded once, as PyTorch does (`kernel_forms` casts them).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd, inf, prod
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Results, cast, flat_results, meta
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import wrap_dims
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.spec import BY_ELEMENTS
from xdsl_exir.targets.cpu.kernels.pooling import few_taps
from xdsl_exir.transforms.decompositions.view import Sizes
from xdsl_exir.transforms.matching import is_tensor, known, made_by, static
from xdsl_exir.transforms.patterns import KEEP

SHORT = 16
"""Elements of a row up to which one vector of them is not worth turning them."""

WITH_KERNELS = frozenset({dt.Float, dt.Double, dt.Int, dt.Long})
"""Dtypes whose products have kernels."""

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
    whole: bool = False
    """Whether it has all of the operator's results, and not the first one alone."""
    mixed: bool = False
    """Whether operands may be of other dtypes than the result."""


def dims_of(x: SSAValue, dim: Any) -> list[int]:
    """The dimensions that a reduction is over, in order; None and the empty list are all."""
    ndim = meta(x).ndim
    return sorted(wrap_dims([dim] if isinstance(dim, int) else dim or None, ndim)) if ndim else []


def trailing(dims: Sequence[int], ndim: int) -> list[int]:
    """Those of some dimensions that are the last ones of all."""
    return [dim for at, dim in enumerate(dims) if list(dims[at:]) == list(range(dim, ndim))]


def as_one_row(
    form: Callable[[Namespace, Arguments], Results],
) -> Callable[[Namespace, Arguments], Results]:
    """A form of a reduction that takes what is reduced to one number as one row, from the cast on that widens it: so that both run over the
    same rows."""

    def whole(aten: Namespace, a: Arguments) -> Results:
        x = a["self"]
        shape, widened = static(meta(x).shape), made_by(x, "aten._to_copy")
        all_of_it = shape is not None and 0 not in shape and len(shape) > 1
        if widened is None or not all_of_it or len(dims_of(x, a.get("dim"))) < len(shape or ()):
            return form(aten, a)
        row = cast(aten, aten.view(widened.operands[0], [-1]), meta(x).dtype)
        made = form(aten, {**a, "self": row, **({"dim": [0], "keepdim": False} if "dim" in a else {})})
        return aten.view(made, [1] * len(shape or ())) if a.get("keepdim") else made

    return whole


OVER_DIMS = {
    "mean": "mean.dim",
    "sum": "sum.dim_IntList",
    "amax": "amax",
    "amin": "amin",
    "prod": "prod.dim_int",
}
"""Operators over dimensions, by what they make."""


def is_in_parts(a: Arguments) -> bool:
    """Whether a reduction is made otherwise than all at once, of the tensor as it lies."""
    return is_split(a) or is_cut(a) or is_made_across(a)


def is_made_across(a: Arguments) -> bool:
    """Whether a reduction is over dimensions before others, of what is made element by element: in one pass over rows that lie side by side."""
    x = a["self"]
    shape, dims = static(meta(x).shape), dims_of(x, a.get("dim"))
    if shape is None or 0 in shape or not dims or dims != list(range(dims[0], dims[-1] + 1)):
        return False
    wide = dims[-1] < len(shape) - 1 and prod(shape[dims[-1] + 1 :]) >= SHORT
    made = is_made_by_elements(x) and made_by(x, "aten._to_copy") is None
    return wide and meta(x).dtype in FLOATS and before_views(x) is x and made


def seen_along(aten: Namespace, x: SSAValue, first: int, last: int) -> SSAValue:
    """A tensor with some dimensions as one, which is the last, what makes it element by element in that order."""
    shape = meta(x).shape
    ndim = len(shape) - (last - first)

    def turned(given: SSAValue) -> SSAValue:
        as_one = given if first == last else aten.view(given, [*shape[:first], -1, *shape[last + 1 :]])
        return aten.permute(as_one, [*(dim for dim in range(ndim) if dim != first), first])

    return seen_as(aten, x, turned)


def reduction(name: str) -> Callable[[Namespace, Arguments], Results]:
    """Over the last dimensions first, then over the others."""

    def form(aten: Namespace, a: Arguments) -> Results:
        x = a["self"]
        dims, shape = dims_of(x, a.get("dim")), static(meta(x).shape)
        if not dims:
            return KEEP
        inner = trailing(dims, meta(x).ndim)

        def reduce(x: SSAValue, dims: Sequence[int], *given: Any) -> Any:
            """Products are of one dimension after the other."""
            for over in reversed(dims) if name == "prod" else (dims,):
                x = aten.builder.call(f"aten.{OVER_DIMS[name]}", (x, over, *given), {})
            return x

        if is_made_across(a):
            made = reduce(seen_along(aten, x, dims[0], dims[-1]), [-1])
        elif (rows := cut_of(a)) is not None:
            made = reduce(reduce(as_rows(aten, x, rows), [1]), [0])
        elif name in ("amax", "amin") and shape is not None and is_outer_run(a):
            first, last = dims[0], dims[-1]
            made = reduce(aten.view(x, [*shape[:first], -1, *shape[last + 1 :]]), [first])
        elif not is_split(a):
            return reduce(x, dims, a.get("keepdim", False))
        else:
            made = reduce(reduce(x, inner), dims[: -len(inner)])
        for dim in dims if a.get("keepdim") else []:
            made = aten.unsqueeze(made, dim)
        return made

    return form


def product(aten: Namespace, a: Arguments) -> Results:
    """Of float32 all is multiplied in float64, and rounded once, of rows too."""
    if not is_cut(a):
        return reduction("prod")(aten, a)
    wide = cast(aten, a["self"], dt.Double)
    return cast(aten, reduction("prod")(aten, {**a, "self": wide}), a["out"].dtype)


def sums(aten: Namespace, a: Arguments) -> Results:
    """Sums of complex numbers over the first dimensions, or all, are those of their parts, which lie side by side: all in rows of them."""
    x = a["self"]
    if a["out"].dtype not in COMPLEX:
        return as_one_row(reduction("sum"))(aten, a)
    dims, shape = dims_of(x, a["dim"]), static(meta(x).shape)
    if not shape or 0 in shape or dims != list(range(len(dims))):
        return KEEP
    rest, parts = shape[len(dims) :], aten.view_as_real(x)
    if not rest:
        parts = aten.sum.dim_IntList(aten.view(parts, [-1, 2 * gcd(prod(shape), WIDTH)]), [0])
    made = aten.view_as_complex(aten.sum.dim_IntList(aten.view(parts, [-1, *rest, 2]), [0]))
    for dim in dims if a["keepdim"] else []:
        made = aten.unsqueeze(made, dim)
    return made


WIDTH = 64
"""Complex numbers of a row that are added to others at once, at most."""

CUTS = (256, 128, 64, 32, 16, 8, 4, 2)
"""Into how many rows what is reduced to one number may be cut, for threads to share them; whoever runs them, so that sums are the same."""
LONG_ROW, MANY = 1024, 1 << 16
"""Elements that such a row has at least, and from which on it is worth it, whatever makes them."""
MOST = 64
"""Operators that may be moved with what they make."""


def cut_of(a: Arguments) -> list[int] | None:
    """[rows, elements of a row] of what is reduced to one number, if it is long, or made element by element: then it is made in rows, too."""
    x = a["self"]
    shape = static(meta(x).shape)
    if shape is None or len(dims_of(x, a.get("dim"))) < len(shape):
        return None
    count, by_elements = prod(shape), is_made_by_elements(x)
    rows = next((rows for rows in CUTS if count % rows == 0 and count // rows >= LONG_ROW), None)
    return [rows, count // rows] if rows and (by_elements or count >= MANY) else None


def is_cut(a: Arguments) -> bool:
    """Whether a reduction to one number is made in rows."""
    return cut_of(a) is not None


def is_made_by_elements(x: SSAValue) -> bool:
    """Whether nothing but one operation takes this of another, which makes it of elements at the same places, numbers, and its views."""
    x = before_views(x)
    op = x.owner
    if not isinstance(op, OperatorOp) or not is_taken_once(x):
        return False
    same = all(meta(value).shape in ((), meta(x).shape) for value in op.operands if is_tensor(value))
    return same and op.SPEC.family in BY_ELEMENTS and len(op.results) == 1


def is_taken_once(x: SSAValue) -> bool:
    """Whether one operation takes it, or none does yet."""
    return len({use.operation for use in x.uses}) <= 1


def before_views(x: SSAValue) -> SSAValue:
    """What others see of a tensor through views that nothing else takes."""
    while (view := made_by(x, "aten.view")) is not None and is_taken_once(x):
        x = view.operands[0]
    return x


def narrowed(aten: Namespace, x: SSAValue, dtype: DType) -> SSAValue:
    """A tensor in a dtype, cast before the views of it: in the rows that made it."""
    permuted = made_by(x, "aten.permute")
    if permuted is not None and is_taken_once(x):
        return aten.permute(narrowed(aten, permuted.operands[0], dtype), permuted.arguments()["dims"])
    source, view = before_views(x), made_by(x, "aten.view")
    cast = aten._to_copy(source, dtype=dtype)
    return cast if source is x or view is None else aten.view(cast, view.arguments()["size"])


def as_rows(aten: Namespace, x: SSAValue, rows: Sequence[int | SSAValue]) -> SSAValue:
    """A tensor seen as rows, what makes it element by element in these."""
    return seen_as(aten, x, lambda given: aten.view(given, rows), before_views)


def seen_as(
    aten: Namespace,
    x: SSAValue,
    view: Callable[[SSAValue], SSAValue],
    before: Callable[[SSAValue], SSAValue] = lambda x: x,
    left: int = MOST,
) -> SSAValue:
    """A view of a tensor, what makes it element by element of views of what that takes; `before` are the views that the new one makes void."""
    if not left or not is_made_by_elements(x) or before(x) is not before_views(x):
        return view(x)
    op = before(x).owner
    assert isinstance(op, OperatorOp)
    inner = {value: value for value in op.operands if not meta(value).ndim}
    for value in op.operands:
        if value not in inner:
            inner[value] = seen_as(aten, value, view, before, left - 1)
    given = {
        name: inner[value] if isinstance(value, SSAValue) else value for name, value in op.arguments().items()
    }
    [made] = flat_results(aten.builder.build(type(op), given))
    return made


def is_split(a: Arguments) -> bool:
    """Whether a reduction is over the last dimensions and others."""
    dims = dims_of(a["self"], a.get("dim"))
    inner, shape = trailing(dims, meta(a["self"]).ndim), meta(a["self"]).shape
    return 0 not in shape and 0 < len(inner) < len(dims)


def is_outer_run(a: Arguments) -> bool:
    """Whether a reduction is over several dimensions that lie behind one another, before others: as one they are gone through in order."""
    dims, shape = dims_of(a["self"], a.get("dim")), static(meta(a["self"]).shape)
    together = len(dims) > 1 and dims == list(range(dims[0], dims[-1] + 1))
    return shape is not None and 0 not in shape and together and dims[-1] < len(shape) - 1


def turned(name: str) -> Callable[[Namespace, Arguments], Results]:
    """Along the last dimension, with the dimensions in another order."""

    def form(aten: Namespace, a: Arguments) -> Results:
        ndim = meta(a["self"]).ndim
        if not is_across(a):
            return itself(name)(aten, a)
        dim = a["dim"] % ndim
        order = [*(other for other in range(ndim) if other != dim), dim]
        widening = made_by(a["self"], "aten._to_copy")  # of the rows, which then are of halves where they lie
        seen = aten.permute(a["self"] if widening is None else widening.operands[0], order)
        made = itself(name)(aten, {**a, "self": cast(aten, seen, meta(a["self"]).dtype), "dim": ndim - 1})
        return aten.permute(made, [order.index(at) for at in range(ndim)])

    return form


def is_across(a: Arguments) -> bool:
    """Whether it is along another dimension than the last one, and rows along it are of some length, or many of them lie side by side."""
    shape = meta(a["self"]).shape
    if not shape or 0 in shape:
        return False
    dim: int = a["dim"] % len(shape)
    row = static(shape[dim:])
    return dim != len(shape) - 1 and (row is None or max(row[0], prod(row[1:])) >= SHORT)


def itself(name: str) -> Callable[[Namespace, Arguments], Results]:
    """An operator's first result as it is, in the dtype of its operands; nothing takes the others."""

    def form(aten: Namespace, a: Arguments) -> Results:
        packet, _, overload = name.partition(".")
        operator: Any = getattr(aten, packet)
        operator = getattr(operator, overload) if overload else operator
        made: Results = operator(**{name: value for name, value in a.items() if name not in ("out", "dtype")})
        first, *others = flat_results(made)
        return (first, *[None] * len(others)) if others else first

    return form


def group_norm(aten: Namespace, a: Arguments) -> Results:
    """The elements of each group are a row. Of several channels that are scaled, rows have statistics alone, and channels do the rest."""
    x, groups = a["input"], a["group"]
    count, channels, *space = meta(x).shape
    if not isinstance(channels, int) or 0 in (count, channels, *space):
        return KEEP
    if groups == channels or a["weight"] is None:
        return channels_scaled(aten, a, groups), None, None
    size_of, apart = Sizes(aten, x), [groups, channels // groups]
    length = size_of(apart[1] * size_of.together(space))
    norm = normalized(aten, as_rows(aten, x, [-1, length]), a["eps"])
    [count] = size_of.of_view([count])
    mean, scale = (aten.view(each, [count, groups, 1]) for each in norm[1:])
    scale = aten.mul.Tensor(scale, aten.view(a["weight"], apart))
    mean = aten.clone(aten.expand(mean, [-1, *apart]))
    mean, scale = (aten.view(each, [count, channels, *[1] * len(space)]) for each in (mean, scale))
    made = aten.mul.Tensor(aten.sub.Tensor(x, mean), scale)
    return scaled(aten, {**a, "weight": None}, made), None, None


def normalized(aten: Namespace, rows: SSAValue, eps: float) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Rows with mean 0 and variance 1, their means, and what they were multiplied by. Of rows whose length is not known, which no number of
    the operator may say, by their statistics."""
    length = meta(rows).shape[-1]
    if isinstance(length, int):
        return aten.native_layer_norm(rows, [length], None, None, eps)
    variance, mean = aten.var_mean.correction(rows, [-1], correction=0, keepdim=True)
    scale = aten.rsqrt(aten.add.Tensor(variance, eps))
    return aten.mul.Tensor(aten.sub.Tensor(rows, mean), scale), mean, scale


def layer_norm(aten: Namespace, a: Arguments) -> Results:
    """Over several dimensions as over one, from the cast on that widens them: so that both run over the same rows."""
    inner, shape = a["normalized_shape"], meta(a["input"]).shape
    if 0 in shape or (len(inner) < 2 and not is_of_unknown_width(a)):
        return itself("native_layer_norm")(aten, a)
    size_of, outer = Sizes(aten, a["input"]), shape[: -len(inner)]
    length = size_of.flat(shape[-len(inner) :])
    made = normalized(aten, as_rows(aten, a["input"], [*size_of.all(outer), length]), a["eps"])[0]
    for scale_or_shift, factor in ((aten.mul.Tensor, a["weight"]), (aten.add.Tensor, a["bias"])):
        if factor is not None:
            made = scale_or_shift(made, as_rows(aten, factor, [length]))
    return aten.view(made, size_of.all(shape)), None, None


def is_of_unknown_width(a: Arguments) -> bool:
    """Whether a layer norm's rows are of no known length: kernels have its statistics, and know no such norm."""
    return not all(isinstance(size, int) for size in a["normalized_shape"])


def batch_norm(aten: Namespace, a: Arguments) -> Results:
    """The elements of each channel are a row; those of several samples are put behind one another."""
    x = a["input"]
    shape = meta(x).shape
    if 0 in shape or len(shape) < 2:
        return KEEP
    if shape[0] == 1 and len(shape) > 2:
        return channels_scaled(aten, a, shape[1]), None, None
    size_of, order = Sizes(aten, x), [1, 0, *range(2, len(shape))]
    length = size_of.flat(shape[dim] for dim in order[1:])
    seen = aten.view(aten.permute(x, order), [size_of(shape[1]), length])
    made = normalized(aten, seen, a["eps"])[0]
    made = aten.permute(aten.view(made, size_of.all([shape[dim] for dim in order])), order)
    return scaled(aten, a, made), None, None


def batch_norm_of_statistics(aten: Namespace, a: Arguments) -> Results:
    """`input * scale + shift`, a scale and a shift for each channel, as PyTorch computes it: element by element, with what is around it."""
    x, mean, weight, bias = a["input"], a["running_mean"], a["weight"], a["bias"]
    if meta(x).ndim < 2:
        return KEEP
    scale = aten.reciprocal(aten.sqrt(aten.add.Tensor(a["running_var"], a["eps"])))
    scale = scale if weight is None else aten.mul.Tensor(scale, weight)
    shift = aten.neg(aten.mul.Tensor(mean, scale))
    shift = shift if bias is None else aten.add.Tensor(shift, bias)
    return scaled(aten, {"weight": scale, "bias": shift}, x), None, None


def channels_scaled(aten: Namespace, a: Arguments, groups: Dim) -> SSAValue:
    """Groups of channels as rows, from the cast on that widens them, normalized, and channels scaled and shifted: in these rows if each is one."""
    x = a["input"]
    count, channels, *space = meta(x).shape
    size_of = Sizes(aten, x)
    shape = size_of.all([count, channels, *space])
    per_group = 1 if groups == channels else channels // groups
    length = size_of(per_group * size_of.together(space))
    seen = as_rows(aten, x, [shape[0], size_of(groups), length])
    made = normalized(aten, seen, a["eps"])[0]
    if groups == channels:
        return aten.view(scaled(aten, a, made), shape)
    return scaled(aten, a, aten.view(made, shape))


def scaled(aten: Namespace, a: Arguments, made: SSAValue) -> SSAValue:
    """Channels, scaled and shifted."""
    channels, *space = meta(made).shape[1:]
    of_channels = [channels if isinstance(channels, int) else -1, *[1] * len(space)]
    if a["weight"] is not None:
        made = aten.mul.Tensor(made, aten.view(a["weight"], of_channels))
    if a["bias"] is not None:
        made = aten.add.Tensor(made, aten.view(a["bias"], of_channels))
    return made


def widths_of(a: Arguments) -> list[int] | None:
    """How wide windows of adaptive pooling are that divide known sizes; None of others."""
    pairs = list(zip(meta(a["self"]).shape[-len(a["output_size"]) :], a["output_size"], strict=True))
    even = [size // count for size, count in pairs if isinstance(size, int) and count and size % count == 0]
    return even if len(even) == len(pairs) and 0 not in even else None


def is_of_long_windows(a: Arguments) -> bool:
    """Whether windows divide sizes, and have more taps than the kernel of pools has code for."""
    widths = widths_of(a)
    return widths is not None and not few_taps(widths)


def even_means(name: str) -> Callable[[Namespace, Arguments], Results]:
    """Means of adaptive windows, those that divide sizes as reductions over one dimension after the other."""

    def form(aten: Namespace, a: Arguments) -> Results:
        x, counts, widths = a["self"], a["output_size"], widths_of(a)
        if widths is None or few_taps(widths):
            return itself(name)(aten, a)
        shape, taps = list(meta(x).shape[: -len(counts)]), list[int]()
        for count, width in zip(counts, widths, strict=True):
            shape.append(count)
            if width > 1:
                taps.append(len(shape) - len(taps))
                shape.append(width)
        made = aten.view(x, Sizes(aten, x).of_view(shape))
        for dim in taps:
            made = aten.mean.dim(made, [dim])
        return made

    return form


INTEGERS = frozenset({dt.Long, dt.Int, dt.Short, dt.Char, dt.Byte})


def any_of_bytes(name: str) -> Callable[[Namespace, Arguments], Results]:
    """Logic of bytes, whose results are bytes, as that of booleans."""

    def form(aten: Namespace, a: Arguments) -> Results:
        if a["out"].dtype is dt.Bool:
            return is_anything_left(aten, a) if name == "any.dim" else KEEP
        given = (a[key] for key in ("dim", "keepdim") if key in a)
        made = aten.builder.call(f"aten.{name}", (aten.ne.Tensor(a["self"], 0), *given), {})
        return cast(aten, made, dt.Byte)

    return form


def is_anything_left(aten: Namespace, a: Arguments) -> Results:
    """Whether a row has an element that is not minus infinity: whether its greatest one is not (NaN is greatest), which a softmax asks for, too."""
    different = made_by(a["self"], "aten.logical_not")
    equal = made_by(different.operands[0], "aten.eq.Tensor") if different else None
    if equal is None or known(equal.operands[1]) != -inf:
        return KEEP
    x, shape = equal.operands[0], meta(a["self"]).shape
    if meta(x).dtype is not dt.Float or meta(x).shape != shape or 0 in (static(shape) or [0]):
        return KEEP
    return aten.logical_not(aten.eq.Tensor(aten.amax(x, [a["dim"]], a["keepdim"]), equal.operands[1]))


def never(a: Arguments) -> bool:
    """Rows of float32 are taken as they are."""
    return False


FLOAT = frozenset({dt.Float})
FLOATS = FLOAT | {dt.Double}
COMPLEX = frozenset({dt.ComplexFloat, dt.ComplexDouble})
ROW_FORMS: dict[str, Form] = {
    "aten.linalg_vector_norm": Form(as_one_row(itself("linalg_vector_norm")), FLOAT, never),
    "aten.mean": Form(as_one_row(reduction("mean")), FLOATS, is_cut),
    "aten.prod": Form(as_one_row(product), FLOATS, is_cut),
    "aten.prod.dim_int": Form(reduction("prod"), FLOATS, never),
    "aten.native_layer_norm": Form(layer_norm, FLOAT, is_of_unknown_width),
    **{f"aten.{name}": Form(turned(name), FLOATS, is_across) for name in ("_log_softmax", "_softmax")},
    "aten.mean.dim": Form(as_one_row(reduction("mean")), FLOATS, is_in_parts),
    "aten.sum.dim_IntList": Form(
        sums,
        FLOATS | COMPLEX | {dt.Long},
        lambda a: a["out"].dtype in COMPLEX or is_in_parts(a),
    ),
    **{
        f"aten.{name}": Form(
            as_one_row(reduction(name)),
            FLOAT | INTEGERS,
            lambda a: is_outer_run(a) or is_in_parts(a),
        )
        for name in ("amax", "amin")
    },
    **{
        f"aten.{name}": Form(any_of_bytes(name), frozenset({dt.Bool, dt.Byte}))
        for name in ("any", "any.dim", "any.dims")
    },
    "aten.native_group_norm": Form(group_norm, FLOAT | {dt.Double}),
    "aten._native_batch_norm_legit.no_stats": Form(batch_norm, FLOAT),
    "aten._native_batch_norm_legit_no_training": Form(batch_norm_of_statistics, FLOATS, mixed=True),
    **{
        f"aten.{name}": Form(even_means(name), FLOATS, is_of_long_windows)
        for name in ("_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
    },
    **{f"aten.{name}": Form(itself(name), FLOATS, never) for name in ("avg_pool2d", "avg_pool3d")},
}
"""By operator."""
