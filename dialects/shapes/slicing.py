"""Shape rules of operators that take parts of tensors, or put such parts back."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_exir.dialects.expr import Dim, Expr, apply, ceildiv
from xdsl_exir.dialects.meta import (
    MetaError,
    Shape,
    check,
    may_be_at_most,
    numel,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
    wrap_dim,
)
from xdsl_exir.dialects.shapes.view import (
    MAX_INT,
    PartialShape,
    Size,
    cat_shape,
    diagonal_shape,
    divides,
    is_negative,
    larger,
    only_sizes,
    replaced,
    smaller,
    without,
)
from xdsl_exir.dialects.tensors import NumberMeta, TensorMeta


def static(size: Dim, what: str) -> int:
    """A size that decides how many results there are. Raises `MetaError` for a symbolic one."""
    if isinstance(size, Expr):
        raise MetaError(f"{what} is symbolic ({size}); the number of results must be known")
    return size


# --- taking parts --------------------------------------------------------------------------------------------


def from_start(place: Dim, size: Dim) -> Dim:
    """A place in a dimension, of which a negative one counts from the end."""
    negative = is_negative(place)
    if negative is None:
        return apply("where", apply("lt", place, 0), place + size, place)
    return place + size if negative else place


def clamped(bound: Dim, size: Dim) -> Dim:
    """A slice's bound as position: negative ones count from the end, all are within 0 and the size."""
    place = from_start(bound, size)
    return size if place == MAX_INT else smaller(larger(place, 0), size)


def slice_size(size: Dim, start: Size | None, end: Size | None, step: Size) -> Dim | None:
    """Number of elements of `[start:end:step]` of a dimension; None where the data decide."""
    start = 0 if start is None else start
    end = MAX_INT if end is None else end
    if isinstance(step, int):
        check(step > 0, f"step is {step}; it must be positive")
    if isinstance(start, NumberMeta) or isinstance(end, NumberMeta) or isinstance(step, NumberMeta):
        return None
    low, high = clamped(start, size), clamped(end, size)
    length = larger(high - low, 0)
    return length if step == 1 else ceildiv(length, step)


def sliced_dim(self: TensorMeta, dim: int) -> int:
    check(self.ndim > 0, "a 0-dim tensor has no dimension to take from")
    return wrap_dim(dim, self.ndim)


@shape_rule("aten.slice.Tensor", "aten.slice_copy.Tensor")
def slice_tensor(
    self: TensorMeta, dim: int, start: Size | None, end: Size | None, step: Size
) -> PartialShape:
    dim = sliced_dim(self, dim)
    return replaced(self.shape, dim, slice_size(self.shape[dim], start, end, step))


@shape_rule("aten.select.int", "aten.select_copy.int")
def select(self: TensorMeta, dim: int, index: Size) -> Shape:
    dim = sliced_dim(self, dim)
    if not isinstance(index, NumberMeta):
        size = self.shape[dim]
        fits = may_be_at_most(-size, index) and may_be_at_most(index + 1, size)
        check(fits, f"index {index} of a dimension of size {size}")
    return without(self.shape, dim)


@shape_rule("aten.narrow", "aten.narrow_copy")
def narrow(self: TensorMeta, dim: int, start: Size, length: Size) -> PartialShape:
    dim = sliced_dim(self, dim)
    size = self.shape[dim]
    [known] = only_sizes([length])
    if known is not None and not isinstance(start, NumberMeta):
        check(may_be_at_most(-size, start), f"start {start} of a dimension of size {size}")
        begin = start + size if is_negative(start) else start
        check(may_be_at_most(begin + known, size), f"{known} from {start} of a dimension of size {size}")
    return replaced(self.shape, dim, known)


@shape_rule("aten.narrow.Tensor")
def narrow_from(self: TensorMeta, dim: int, start: TensorMeta, length: Size) -> PartialShape:
    check(start.ndim == 0, f"start is a tensor of rank {start.ndim}")
    return narrow(self, dim, NumberMeta(start.dtype), length)


def parts(self: TensorMeta, dim: int, sizes: Sequence[Dim | None]) -> list[PartialShape]:
    """Shapes of pieces that have these sizes in one dimension."""
    return [replaced(self.shape, dim, size) for size in sizes]


def even_sizes(size: int, split_size: int) -> list[int]:
    """Sizes of pieces of `split_size`, the last one smaller where it does not divide."""
    check(split_size > 0 or (split_size == 0 and size == 0), f"split_size {split_size} of size {size}")
    count = max(-(-size // split_size), 1) if split_size else 1
    return [split_size] * (count - 1) + [size - split_size * (count - 1)]


@shape_rule("aten.split.Tensor", "aten.split_copy.Tensor", "aten.unsafe_split.Tensor")
def split(self: TensorMeta, split_size: Size, dim: int) -> list[PartialShape]:
    dim = sliced_dim(self, dim)
    size = self.shape[dim]
    if isinstance(split_size, int) and isinstance(size, int):
        return parts(self, dim, even_sizes(size, split_size))
    if isinstance(split_size, NumberMeta):
        raise MetaError("split_size depends on the data; the number of results must be known")
    count = static(ceildiv(size, split_size), "the number of pieces")
    return parts(self, dim, [split_size] * (count - 1) + [size - split_size * (count - 1)])


def with_sizes(self: TensorMeta, sizes: Sequence[Size], dim: int) -> list[PartialShape]:
    dim = sliced_dim(self, dim)
    known = only_sizes(sizes)
    whole = [size for size in known if size is not None]
    if len(whole) == len(known):
        total = sum(whole, 0)
        check(same_size(total, self.shape[dim]), f"sizes add up to {total}, not {self.shape[dim]}")
    return parts(self, dim, known)


@shape_rule("aten.split_with_sizes", "aten.split_with_sizes_copy", "aten.unsafe_split_with_sizes")
def split_with_sizes(self: TensorMeta, split_sizes: list[Size], dim: int) -> list[PartialShape]:
    return with_sizes(self, split_sizes, dim)


@shape_rule("aten.split.sizes")
def split_sizes(self: TensorMeta, split_size: list[Size], dim: int) -> list[PartialShape]:
    return with_sizes(self, split_size, dim)


def chunk_sizes(size: Dim, chunks: int) -> list[Dim]:
    """Sizes of at most `chunks` even pieces; a symbolic size is taken to be enough for all of them."""
    check(chunks > 0, f"chunks is {chunks}; it must be positive")
    split_size = ceildiv(size, chunks)
    if isinstance(size, int) and isinstance(split_size, int):
        return [0] * chunks if size == 0 else list(even_sizes(size, split_size))
    return [split_size] * (chunks - 1) + [size - split_size * (chunks - 1)]


@shape_rule("aten.chunk", "aten.unsafe_chunk")
def chunk(self: TensorMeta, chunks: int, dim: int) -> list[PartialShape]:
    dim = sliced_dim(self, dim)
    return parts(self, dim, chunk_sizes(self.shape[dim], chunks))


@shape_rule("aten.tensor_split.sections")
def tensor_split(self: TensorMeta, sections: Size, dim: int) -> list[PartialShape]:
    dim = sliced_dim(self, dim)
    if isinstance(sections, NumberMeta):
        raise MetaError("sections depends on the data; the number of results must be known")
    count = static(sections, "sections")
    check(count > 0, f"sections is {count}; it must be positive")
    # The first size % count pieces have one element more.
    return parts(self, dim, [(self.shape[dim] + (count - 1 - i)) // count for i in range(count)])


@shape_rule("aten.tensor_split.indices")
def tensor_split_indices(self: TensorMeta, indices: list[Size], dim: int) -> list[PartialShape]:
    dim = sliced_dim(self, dim)
    bounds = zip([0, *indices], [*indices, None], strict=True)
    return parts(self, dim, [slice_size(self.shape[dim], start, end, 1) for start, end in bounds])


def split_dim(self: TensorMeta, name: str) -> int:
    """The dimension that `hsplit`, `vsplit` or `dsplit` parts."""
    dim = {"hsplit": int(self.ndim > 1), "vsplit": 0, "dsplit": 2}[name]
    least = {"hsplit": 1, "vsplit": 2, "dsplit": 3}[name]
    check(self.ndim >= least, f"needs {least} dimensions, not {self.ndim}")
    return dim


def _split_rules(name: str) -> None:
    def split_int(self: TensorMeta, sections: int) -> list[PartialShape]:
        dim = split_dim(self, name)
        check(
            sections > 0 and divides(sections, self.shape[dim]), f"{sections} even parts of {self.shape[dim]}"
        )
        return tensor_split(self, sections, dim)

    def split_array(self: TensorMeta, indices: list[int]) -> list[PartialShape]:
        return tensor_split_indices(self, list(indices), split_dim(self, name))

    shape_rule(f"aten.{name}.int")(split_int)
    shape_rule(f"aten.{name}.array")(split_array)


for _name in ("hsplit", "vsplit", "dsplit"):
    _split_rules(_name)


@shape_rule("aten.unbind.int", "aten.unbind_copy.int")
def unbind(self: TensorMeta, dim: int) -> list[Shape]:
    dim = sliced_dim(self, dim)
    return [without(self.shape, dim)] * static(self.shape[dim], f"dimension {dim}")


@shape_rule("aten.diagonal", "aten.diagonal_copy")
def diagonal(self: TensorMeta, offset: int, dim1: int, dim2: int) -> Shape:
    return diagonal_shape(self.shape, offset, dim1, dim2)


@shape_rule("aten.diff")
def diff(
    self: TensorMeta, n: int, dim: int, prepend: TensorMeta | None, append: TensorMeta | None
) -> PartialShape:
    check(self.ndim > 0 and n >= 0, "takes a tensor of at least one dimension and an order of at least 0")
    dim = wrap_dim(dim, self.ndim)
    if n == 0:
        return self.shape
    joined = [tensor.shape for tensor in (prepend, self, append) if tensor is not None]
    check(all(len(shape) == self.ndim for shape in joined), "what is joined to self must have its rank")
    shape = cat_shape(joined, dim)
    return replaced(shape, dim, larger(shape[dim] - n, 0))


@shape_rule("aten.unfold", "aten.unfold_copy")
def unfold(self: TensorMeta, dimension: int, size: int, step: int) -> Shape:
    dim = wrap_dim(dimension, self.ndim)
    available = self.shape[dim] if self.shape else 1
    check(size >= 0 and step > 0, f"size {size}, step {step}: step must be positive, size not negative")
    check(may_be_at_most(size, available), f"window of {size} in a dimension of size {available}")
    if not self.shape:
        return (size,)
    return (*self.shape[:dim], (available - size) // step + 1, *self.shape[dim + 1 :], size)


def strided_shape(
    self: TensorMeta, size: list[Size], stride: list[Size], offset: Size | None
) -> PartialShape:
    check(len(size) == len(stride), f"{len(size)} sizes and {len(stride)} strides")
    known = only_sizes(size)
    only_sizes(stride)
    offset = 0 if offset is None else offset
    only_sizes([offset])
    numbers = [item for item in (*size, *stride, offset, numel(self.shape)) if isinstance(item, int)]
    if len(numbers) == 2 * len(size) + 2 and 0 not in known:
        *_, begin, count = numbers
        pairs = zip(numbers[: len(size)], numbers[len(size) : 2 * len(size)], strict=True)
        last = begin + sum((length - 1) * step for length, step in pairs)
        check(last < count, f"reaches element {last} of {count}")
    return known


@shape_rule("aten.as_strided", "aten.as_strided_copy")
def as_strided(
    self: TensorMeta, size: list[Size], stride: list[Size], storage_offset: Size | None
) -> PartialShape:
    return strided_shape(self, size, stride, storage_offset)


# --- writing parts -------------------------------------------------------------------------------------------


def check_source(src: TensorMeta, shape: PartialShape) -> None:
    """Raises `MetaError` unless what is written has the shape of the place."""
    known = tuple(size if part is None else part for size, part in zip(src.shape, shape, strict=False))
    fits = len(shape) == src.ndim and same_shape(src.shape, known)
    check(fits, f"src is {shape_text(src.shape)} for a place of another shape {list(map(str, shape))}")


@shape_rule("aten.slice_scatter")
def slice_scatter(
    self: TensorMeta, src: TensorMeta, dim: int, start: Size | None, end: Size | None, step: Size
) -> Shape:
    check_source(src, slice_tensor(self, dim, start, end, step))
    return self.shape


@shape_rule("aten.select_scatter")
def select_scatter(self: TensorMeta, src: TensorMeta, dim: int, index: Size) -> Shape:
    check_source(src, select(self, dim, index))
    return self.shape


@shape_rule("aten.diagonal_scatter")
def diagonal_scatter(self: TensorMeta, src: TensorMeta, offset: int, dim1: int, dim2: int) -> Shape:
    check_source(src, diagonal_shape(self.shape, offset, dim1, dim2))
    return self.shape


@shape_rule("aten.as_strided_scatter")
def as_strided_scatter(
    self: TensorMeta, src: TensorMeta, size: list[Size], stride: list[Size], storage_offset: Size | None
) -> Shape:
    check_source(src, strided_shape(self, size, stride, storage_offset))
    return self.shape


@shape_rule("aten.tensor_split.tensor_indices_or_sections")
def tensor_split_computed(
    self: TensorMeta, tensor_indices_or_sections: TensorMeta, dim: int
) -> list[PartialShape]:
    bounds = tensor_indices_or_sections
    check(bounds.ndim == 1, "the number of parts depends on the data")
    dim = sliced_dim(self, dim)
    count = static(bounds.shape[0], "the number of indices") + 1
    return [(*self.shape[:dim], None, *self.shape[dim + 1 :])] * count
