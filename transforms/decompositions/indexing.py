"""Decompositions of indexing operators: most are `index`, `index_put`, `gather` or `sort`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Size, cast, meta, sizes
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.exir import PythonNumber
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.dialects.tensors import is_tensor_type, tensor_meta, tensor_type
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.decompositions import KEEP, decomposition, other_names
from xdsl_exir.transforms.decompositions.view import Sizes

other_names(
    {
        "_unsafe_index.Tensor": "index.Tensor",
        "_unsafe_index_put": "index_put",
        "argsort": ("sort", 1),
        "argsort.stable": ("sort.stable", 1),
        "searchsorted.Scalar": "searchsorted.Tensor",
        "bucketize.Scalar": "bucketize.Tensor",
    }
)


def size(aten: Namespace, tensor: SSAValue, dim: int) -> Size:
    """A tensor's size, to be used as an argument."""
    known = meta(tensor).shape[dim]
    return aten.sym_size.int(tensor, dim) if isinstance(known, Expr) else known


# --- picking -------------------------------------------------------------------------------------------------


@decomposition("aten.take")
def take(aten: Namespace, self: SSAValue, index: SSAValue) -> SSAValue:
    return aten.index.Tensor(aten.view(self, [-1]), [index])


@decomposition("aten.put")
def put_flat(
    aten: Namespace, self: SSAValue, index: SSAValue, source: SSAValue, accumulate: bool
) -> SSAValue:
    flat = [aten.view(tensor, [-1]) for tensor in (self, index, source)]
    return aten.view(aten.index_put(flat[0], [flat[1]], flat[2], accumulate), sizes(aten, self))


@decomposition("aten._unsafe_masked_index")
def unsafe_masked_index(
    aten: Namespace, self: SSAValue, mask: SSAValue, indices: list[SSAValue | None], fill: PythonNumber
) -> SSAValue:
    """`self[indices]`, `fill` where the mask is not set: there indices may be out of range."""
    if 0 in meta(self).shape:
        shape = [size or 1 for size in meta(self).shape]
        zeros = aten.full(shape, 0, dtype=meta(self).dtype)
        return aten.full_like(unsafe_masked_index(aten, zeros, mask, indices, fill), fill)
    picked = aten.index.Tensor(self, within(aten, self, indices, wraps=False))
    return aten.masked_fill.Scalar(picked, aten.logical_not(mask), fill)


@decomposition("aten._unsafe_masked_index_put_accumulate")
def unsafe_masked_index_put(
    aten: Namespace, self: SSAValue, mask: SSAValue, indices: list[SSAValue | None], values: SSAValue
) -> SSAValue:
    if 0 in meta(self).shape:
        return aten.clone(self)
    values = aten.masked_fill.Scalar(values, aten.logical_not(mask), 0)
    return aten.index_put(self, within(aten, self, indices, wraps=True), values, True)


def within(
    aten: Namespace, self: SSAValue, indices: list[SSAValue | None], wraps: bool
) -> list[SSAValue | None]:
    """Indices moved into range; negative ones are in it if it `wraps`."""
    size_of = Sizes(aten, self)

    def clamped(index: SSAValue, dim: int) -> SSAValue:
        length = meta(self).shape[dim]
        return aten.clamp(index, size_of(-length) if wraps else 0, size_of(length - 1))

    return [None if index is None else clamped(index, dim) for dim, index in enumerate(indices)]


@decomposition("aten.take_along_dim")
def take_along_dim(aten: Namespace, self: SSAValue, indices: SSAValue, dim: int | None) -> SSAValue:
    if dim is None:
        return aten.gather(aten.view(self, [-1]), 0, aten.view(indices, [-1]))
    dim = wrap_dim(dim, meta(self).ndim)
    return aten.gather(
        expand_but(aten, self, indices, dim),
        dim,
        # Here, unlike in gather, negative indices count from the end.
        aten.remainder.Scalar(expand_but(aten, indices, self, dim), size(aten, self, dim)),
    )


def expand_but(aten: Namespace, self: SSAValue, other: SSAValue, dim: int) -> SSAValue:
    """A tensor broadcast to another of the same rank, but for one dimension."""
    sizes = [
        size(aten, self if axis == dim or own != 1 else other, axis)
        for axis, own in enumerate(meta(self).shape)
    ]
    return aten.expand(self, sizes)


@decomposition("aten.msort")
def msort(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.sort(self, 0)[0]


# --- placing along one dimension -----------------------------------------------------------------------------


def put(
    aten: Namespace, self: SSAValue, dim: int, index: SSAValue, values: SSAValue, accumulate: bool = False
) -> SSAValue:
    """`self` with values at a vector of indices along a dimension; without elements, whatever the indices are."""
    if 0 in meta(self).shape:
        return aten.clone(self)
    if meta(index).ndim == 0:
        index = aten.unsqueeze(index, 0)
    if meta(self).ndim == 0:
        vector = aten.index_put(aten.unsqueeze(self, 0), [index], values, accumulate)
        return aten.squeeze.dims(vector, [0])
    dim = wrap_dim(dim, meta(self).ndim)
    return aten.index_put(self, [*[None] * dim, index], values, accumulate)


@decomposition("aten.index_copy")
def index_copy(aten: Namespace, self: SSAValue, dim: int, index: SSAValue, source: SSAValue) -> SSAValue:
    return put(aten, self, dim, index, source)


@decomposition("aten.index_add")
def index_add(
    aten: Namespace, self: SSAValue, dim: int, index: SSAValue, source: SSAValue, alpha: PythonNumber
) -> SSAValue:
    dtype: DType = meta(self).dtype
    # Of integers and booleans, the factor is one of them.
    factor = alpha if dtype.category > Category.INT else aten.scalar_tensor(alpha, dtype=dtype)
    scaled = source if alpha == 1 else aten.mul.Tensor(source, factor)
    return put(aten, self, dim, index, scaled, accumulate=True)


@decomposition("aten.index_fill.int_Scalar")
def index_fill(aten: Namespace, self: SSAValue, dim: int, index: SSAValue, value: PythonNumber) -> SSAValue:
    filler = aten.scalar_tensor(value, dtype=meta(self).dtype, device=meta(self).device)
    return put(aten, self, dim, index, filler)


@decomposition("aten.index_fill.int_Tensor")
def index_fill_tensor(
    aten: Namespace, self: SSAValue, dim: int, index: SSAValue, value: SSAValue
) -> SSAValue:
    return put(aten, self, dim, index, cast(aten, value, meta(self).dtype))


@decomposition("aten.index_reduce")
def index_reduce(
    aten: Namespace,
    self: SSAValue,
    dim: int,
    index: SSAValue,
    source: SSAValue,
    reduce: str,
    include_self: bool,
) -> SSAValue:
    if 0 in meta(self).shape:
        return aten.clone(self)
    dim = wrap_dim(dim, meta(self).ndim)
    along = [-1 if axis == dim else 1 for axis in range(meta(source).ndim)]
    places = aten.expand(aten.view(index, along), sizes(aten, source))
    return aten.scatter_reduce.two(self, dim, places, source, reduce, include_self=include_self)


COMBINED = {"add": "sum", "multiply": "prod"}
"""What `scatter_reduce` calls the combinations of `scatter`."""


@decomposition("aten.scatter.reduce")
def scatter_reduce(
    aten: Namespace, self: SSAValue, dim: int, index: SSAValue, src: SSAValue, reduce: str
) -> SSAValue:
    return aten.scatter_reduce.two(self, dim, index, src, COMBINED[reduce])


@decomposition("aten.scatter.value_reduce")
def scatter_value_reduce(
    aten: Namespace, self: SSAValue, dim: int, index: SSAValue, value: PythonNumber, reduce: str
) -> SSAValue:
    src = aten.full(sizes(aten, index), value, dtype=meta(self).dtype)
    return aten.scatter_reduce.two(self, dim, index, src, COMBINED[reduce])


# --- masks ---------------------------------------------------------------------------------------------------


def below_diagonal(aten: Namespace, self: SSAValue) -> SSAValue:
    """How far each element's column is past its row, `[rows, columns]`."""
    rows, columns = (
        aten.arange.start_step(0, size(aten, self, dim), device=meta(self).device) for dim in (-2, -1)
    )
    return aten.sub.Tensor(aten.unsqueeze(columns, -2), aten.unsqueeze(rows, -1))


def keep_where(aten: Namespace, self: SSAValue, mask: SSAValue) -> SSAValue:
    zero = aten.scalar_tensor(0, dtype=meta(self).dtype, device=meta(self).device)
    return aten.where.self(mask, self, zero)


@decomposition("aten.tril")
def tril(aten: Namespace, self: SSAValue, diagonal: Size) -> SSAValue:
    return keep_where(aten, self, aten.le.Scalar(below_diagonal(aten, self), diagonal))


@decomposition("aten.triu")
def triu(aten: Namespace, self: SSAValue, diagonal: Size) -> SSAValue:
    return keep_where(aten, self, aten.ge.Scalar(below_diagonal(aten, self), diagonal))


@decomposition("aten.one_hot", may_keep=True)
def one_hot(aten: Namespace, self: SSAValue, num_classes: int) -> Any:
    if num_classes == -1:
        return KEEP
    for comparison, bound, message in (
        (aten.ge, 0, "one_hot: Class values must be non-negative."),
        (aten.lt, num_classes, "one_hot: Class values must be smaller than num_classes."),
    ):
        wrong = aten.logical_not(comparison.Scalar(self, bound))
        aten._assert_async.msg(aten.logical_not(aten.any.dims(wrong)), message)
    classes = aten.arange.start_step(0, num_classes, dtype=dt.Long, device=meta(self).device)
    return aten._to_copy(aten.eq.Tensor(aten.unsqueeze(self, -1), classes), dtype=dt.Long)


# --- bags ----------------------------------------------------------------------------------------------------


@decomposition("aten.embedding_bag", "aten.embedding_bag.padding_idx")
def embedding_bag(
    aten: Namespace,
    weight: SSAValue,
    indices: SSAValue,
    offsets: SSAValue,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: SSAValue | None,
    include_last_offset: bool,
    padding_idx: int | None = None,
) -> tuple[SSAValue, ...]:
    padding = -1
    if padding_idx is not None:
        padding = padding_idx
        if padding < 0:
            rows = meta(weight).shape[0]
            if not isinstance(rows, int):
                raise ExirError(f"embedding_bag: padding_idx {padding} of a table of {rows} rows")
            padding += rows
    options = (scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding)
    return aten._embedding_bag_forward_only(weight, indices, offsets, *options)


# --- membership and positions --------------------------------------------------------------------------------

FEW = 16
"""Elements up to which each is compared; more are sorted and searched."""


@decomposition("aten.isin.Tensor_Tensor")
def isin(aten: Namespace, elements: SSAValue, test_elements: SSAValue, invert: bool) -> SSAValue:
    tests = aten.view(test_elements, [-1])
    count = meta(tests).shape[0]
    if isinstance(count, int) and count <= FEW:
        found = aten.any.dim(aten.eq.Tensor(aten.unsqueeze(elements, -1), tests), -1)
    else:
        ordered, _ = aten.sort(tests)
        # What belongs behind the last is compared with the first.
        place = aten.searchsorted.Tensor(ordered, elements)
        place = aten.where.self(aten.lt.Scalar(place, size(aten, tests, 0)), place, aten.full_like(place, 0))
        found = aten.eq.Tensor(aten.index.Tensor(ordered, [place]), elements)
    return aten.logical_not(found) if invert else found


@decomposition("aten.isin.Tensor_Scalar")
def isin_number(aten: Namespace, elements: SSAValue, test_element: PythonNumber, invert: bool) -> SSAValue:
    return aten.ne.Scalar(elements, test_element) if invert else aten.eq.Scalar(elements, test_element)


@decomposition("aten.isin.Scalar_Tensor")
def number_isin(aten: Namespace, element: PythonNumber, test_elements: SSAValue, invert: bool) -> SSAValue:
    found = aten.any(aten.eq.Scalar(test_elements, element))
    return aten.logical_not(found) if invert else found


@decomposition("aten.argwhere")
def argwhere(aten: Namespace, self: SSAValue, out: Sequence[Attribute] | None) -> SSAValue:
    builder = aten.builder
    return builder.build(builder.dialect["aten.nonzero"], {"self": self}, out)


@decomposition("aten.nonzero_numpy")
def nonzero_numpy(aten: Namespace, self: SSAValue, out: Sequence[Attribute] | None) -> list[SSAValue]:
    builder = aten.builder
    self = self if meta(self).ndim else aten.unsqueeze(self, 0)
    rank = meta(self).ndim
    # All results have the size that is the number found.
    known = out and [
        tensor_type((*tensor_meta(one).shape, rank), dt.Long) for one in out[:1] if is_tensor_type(one)
    ]
    return aten.unbind.int(builder.build(builder.dialect["aten.nonzero"], {"self": self}, known), 1)


@decomposition("aten.where")
def where_indices(aten: Namespace, condition: SSAValue, out: Sequence[Attribute] | None) -> list[SSAValue]:
    return nonzero_numpy(aten, condition, out)


@decomposition("aten.embedding_renorm")
def embedding_renorm(
    aten: Namespace, self: SSAValue, indices: SSAValue, max_norm: float, norm_type: float
) -> SSAValue:
    """Rows that are asked for, brought to a norm of at most `max_norm`."""
    norms = aten.linalg_vector_norm(self, norm_type, [1], True)
    scale = aten.mul.Scalar(aten.reciprocal(aten.add.Scalar(norms, 1e-7)), max_norm)
    rows = aten.full([sizes(aten, self)[0]], False, dtype=dt.Bool)
    asked = aten.index_fill.int_Scalar(rows, 0, aten.view(indices, [-1]), True)
    shrunk = aten.logical_and(aten.unsqueeze(asked, 1), aten.gt.Scalar(norms, max_norm))
    return aten.where.self(shrunk, aten.mul.Tensor(self, scale), self)
