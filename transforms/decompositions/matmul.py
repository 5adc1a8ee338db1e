"""Decompositions of matrix products into `mm`, `bmm`, `addmm`, or where one side is a vector products and sums.

PyTorch chooses some of these forms by strides; here layouts are not known, and tensors count as contiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from string import ascii_lowercase
from typing import TypeAlias

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Size, cast, meta, opmath, sizes
from xdsl_exir.dialects.dtypes import Bool, Category, DType, Long
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.meta import broadcast_shapes, wrap_dims
from xdsl_exir.dialects.promotion import promote_types
from xdsl_exir.dialects.shapes.matmul import cross_dim, expanded_in_all, parse_einsum
from xdsl_exir.transforms.decompositions import decomposition
from xdsl_exir.transforms.decompositions.view import Sizes

Number: TypeAlias = int | float | complex


def laid_flat(aten: Namespace, value: SSAValue, count: int) -> SSAValue:
    """A tensor with its first dimensions as one."""
    size_of, shape = Sizes(aten, value), meta(value).shape
    return aten.view(value, size_of.of_view([size_of.together(shape[:count]), *shape[count:]]))


def transpose(aten: Namespace, value: SSAValue) -> SSAValue:
    """Swaps the last two dimensions."""
    rank = meta(value).ndim
    return aten.permute(value, [*range(rank - 2), rank - 1, rank - 2])


def contiguous(aten: Namespace, value: SSAValue) -> SSAValue:
    """What a program for PyTorch needs between a permutation and a view."""
    return aten.clone(value, memory_format="contiguous_format")


# --- vectors -------------------------------------------------------------------------------------------------


def inner(aten: Namespace, a: SSAValue, b: SSAValue, dims: Sequence[int]) -> SSAValue:
    """Products summed over dimensions, in the operands' dtype."""
    dtype = meta(a).dtype
    product = aten.mul.Tensor(cast(aten, a, opmath(dtype)), cast(aten, b, opmath(dtype)))
    return cast(aten, aten.sum.dim_IntList(product, list(dims)), dtype)


@decomposition("aten.dot")
def dot(aten: Namespace, self: SSAValue, tensor: SSAValue) -> SSAValue:
    return inner(aten, self, tensor, [])


@decomposition("aten.vdot")
def vdot(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    complex_ = meta(self).dtype.category is Category.COMPLEX
    return inner(aten, aten.conj(self) if complex_ else self, other, [])


@decomposition("aten.mv")
def mv(aten: Namespace, self: SSAValue, vec: SSAValue) -> SSAValue:
    return inner(aten, self, vec, [1])


@decomposition("aten.inner")
def inner_product(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    if meta(self).ndim == 0 or meta(other).ndim == 0:
        return aten.mul.Tensor(self, other)
    return aten.tensordot(self, other, [-1], [-1])


@decomposition("aten.addr")
def addr(
    aten: Namespace, self: SSAValue, vec1: SSAValue, vec2: SSAValue, beta: Number, alpha: Number
) -> SSAValue:
    # All promote as if they had dimensions.
    dtype = promote_types(meta(self).dtype, promote_types(meta(vec1).dtype, meta(vec2).dtype))
    self = cast(aten, self, dtype)
    product = cast(aten, aten.outer(vec1, vec2), dtype)
    if meta(self).dtype is meta(product).dtype is Bool:
        # The sum and the product of truth values, which numbers as factors would lead out of.
        beta, alpha = bool(beta), bool(alpha)
    product = product if alpha == 1 else aten.mul.Tensor(product, alpha)
    if beta == 0:
        return product
    return aten.add.Tensor(self if beta == 1 else aten.mul.Tensor(self, beta), product)


@decomposition("aten.cross")
def cross(aten: Namespace, self: SSAValue, other: SSAValue, dim: int | None) -> SSAValue:
    return aten.linalg_cross(self, other, dim=cross_dim(meta(self).shape, dim))


@decomposition("aten.kron")
def kron(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    """Every element of `self` times all of `other`, block beside block."""
    rank = max(meta(self).ndim, meta(other).ndim)
    left, right = ([1] * (rank - meta(value).ndim) + sizes(aten, value) for value in (self, other))
    a = aten.view(self, [size for length in left for size in (length, 1)])
    b = aten.view(other, [size for length in right for size in (1, length)])
    size_of = Sizes(aten, a, b)
    pairs = zip(meta(a).shape[::2], meta(b).shape[1::2], strict=True)
    return aten.view(aten.mul.Tensor(a, b), [size_of.flat(pair) for pair in pairs])


@decomposition("aten.outer", "aten.ger")
def outer(aten: Namespace, self: SSAValue, vec2: SSAValue) -> SSAValue:
    return aten.mul.Tensor(aten.view(self, [*sizes(aten, self), 1]), vec2)


# --- matmul and linear ---------------------------------------------------------------------------------------


@decomposition("aten.matmul", "aten.linalg_matmul")
def matmul(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    match meta(self).ndim, meta(other).ndim:
        case 1, 1:
            return aten.dot(self, other)
        case 2, 1:
            return aten.mv(self, other)
        case 1, 2:
            return aten.squeeze.dims(aten.mm(aten.unsqueeze(self, 0), other), [0])
        case 2, 2:
            return aten.mm(self, other)
        case 1, _:
            return folded(aten, contiguous(aten, transpose(aten, other)), self)
        case _, 1 | 2:
            return folded(aten, self, other)
        case _:
            return batched(aten, self, other)


def folded(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    """`[..., n] @ [n]` or `[..., n] @ [n, p]`, with all rows in one matrix."""
    rows = sizes(aten, self)[:-1]
    product = aten.matmul(laid_flat(aten, self, len(rows)), other)
    return aten.view(product, [*rows, *sizes(aten, other)[1:]])


def batched(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    """`[..., m, n] @ [..., n, p]`, batches broadcast and laid flat."""
    batch = broadcast_sizes(aten, self, other)
    [m, n], p = sizes(aten, self)[-2:], sizes(aten, other)[-1]
    left = laid_flat(aten, aten.expand(self, [*batch, m, n]), len(batch))
    right = laid_flat(aten, aten.expand(other, [*batch, n, p]), len(batch))
    return aten.view(aten.bmm(left, right), [*batch, m, p])


def broadcast_sizes(aten: Namespace, self: SSAValue, other: SSAValue) -> list[Size]:
    """Sizes of the batch that the batches of two stacks of matrices broadcast to."""
    available: dict[Dim, Size] = {}
    for value in (self, other):
        available |= zip(meta(value).shape, sizes(aten, value), strict=True)
    return [available[size] for size in broadcast_shapes(meta(self).shape[:-2], meta(other).shape[:-2])]


@decomposition("aten.linear")
def linear(aten: Namespace, input: SSAValue, weight: SSAValue, bias: SSAValue | None) -> SSAValue:
    if meta(weight).ndim == 1:  # whose bias is 0-dimensional
        product = aten.matmul(input, weight)
        return product if bias is None else aten.add.Tensor(product, bias)
    if bias is None:
        return aten.matmul(input, transpose(aten, weight))
    if meta(bias).ndim > 1 and meta(input).ndim != 2:
        return aten.add.Tensor(aten.matmul(input, transpose(aten, weight)), bias)
    if meta(input).ndim == 2:
        return aten.addmm(bias, input, transpose(aten, weight))
    rows = sizes(aten, input)[:-1]
    flat = laid_flat(aten, input, len(rows))
    return aten.view(aten.addmm(bias, flat, transpose(aten, weight)), [*rows, sizes(aten, weight)[0]])


@decomposition("aten.baddbmm")
def baddbmm(
    aten: Namespace, self: SSAValue, batch1: SSAValue, batch2: SSAValue, beta: Number, alpha: Number
) -> SSAValue:
    dtype = meta(self).dtype
    product = aten.bmm(*(cast(aten, batch, opmath(dtype)) for batch in (batch1, batch2)))
    product = scaled(aten, product, alpha, dtype)
    if beta == 0:
        return cast(aten, product, dtype)
    addend = scaled(aten, cast(aten, self, opmath(dtype)), beta, dtype)
    return cast(aten, aten.add.Tensor(addend, product), dtype)


def scaled(aten: Namespace, value: SSAValue, factor: Number, dtype: DType) -> SSAValue:
    """A tensor times a number, which is an integer where the tensor is of integers."""
    if dtype.category <= Category.INT and not isinstance(factor, complex):
        factor = int(factor)
    return value if factor == 1 else aten.mul.Tensor(value, factor)


def in_groups(aten: Namespace, count: Size, offs: SSAValue) -> SSAValue:
    """Which of `count` places are whose, [groups, count]: offs[g - 1] <= place < offs[g] are of group g, from the last end on of none."""
    ends = cast(aten, offs, Long)
    starts = aten.constant_pad_nd(aten.slice.Tensor(ends, 0, 0, -1), [1, 0])
    after, before = (aten.unsqueeze(each, 1) for each in (starts, ends))
    places = aten.arange(count, dtype=Long)
    return aten.logical_and(aten.ge.Tensor(places, after), aten.lt.Tensor(places, before))


@decomposition("transformers.grouped_mm_fallback")
def grouped_mm_fallback(aten: Namespace, input: SSAValue, weight: SSAValue, offs: SSAValue) -> SSAValue:
    """Each row times the matrix of the group that it is of; rows of no group are 0."""
    count, inputs = sizes(aten, input)
    [groups] = sizes(aten, offs)
    mine = in_groups(aten, count, offs)
    if isinstance(count, int) and isinstance(groups, int) and count <= groups:
        # Few rows read only the matrices that they need.
        chosen = aten.argmax(cast(aten, mine, Long), 0)
        product = aten.bmm(aten.unsqueeze(input, 1), aten.index_select(weight, 0, chosen))
        product, given = aten.squeeze.dims(product, [1]), aten.any.dim(mine, 0)
        return aten.where.ScalarOther(aten.unsqueeze(given, 1), product, 0)
    each = aten.bmm(aten.expand(input, [groups, count, inputs]), weight)
    kept = aten.where.ScalarOther(aten.unsqueeze(mine, 2), each, 0)
    return aten.sum.dim_IntList(kept, [0], dtype=meta(input).dtype)


@decomposition("aten._grouped_mm")
def grouped_mm(aten: Namespace, self: SSAValue, mat2: SSAValue, offs: SSAValue | None) -> SSAValue:
    """The shape rule says which dimension is in groups. PyTorch leaves what is of no group as memory happens to be, here it is 0."""
    if offs is None:
        return aten.bmm(self, mat2)
    if meta(self).ndim < meta(mat2).ndim:
        return grouped_mm_fallback(aten, self, mat2, offs)
    if meta(self).ndim > meta(mat2).ndim:
        turned = grouped_mm_fallback(aten, transpose(aten, mat2), transpose(aten, self), offs)
        return transpose(aten, turned)
    rows, summed = sizes(aten, self)
    [groups], columns = sizes(aten, offs), sizes(aten, mat2)[1]
    mine = in_groups(aten, summed, offs)
    # Both sides are of a group, for no number of another one, infinite as it may be, counts.
    left = aten.where.ScalarOther(aten.unsqueeze(mine, 1), aten.expand(self, [groups, rows, summed]), 0)
    right = aten.where.ScalarOther(aten.unsqueeze(mine, 2), aten.expand(mat2, [groups, summed, columns]), 0)
    return aten.bmm(left, right)


@decomposition("aten.chain_matmul")
def chain_matmul(aten: Namespace, matrices: Sequence[SSAValue]) -> SSAValue:
    """The product in the order that takes the fewest multiplications; from left to right where sizes are symbolic."""
    shapes = [meta(matrix).shape for matrix in matrices]
    edges = [shapes[0][0], *(shape[1] for shape in shapes)]
    sides = [edge for edge in edges if isinstance(edge, int)]
    if len(sides) != len(edges):
        sides = [1] * len(edges)

    @cache
    def best(first: int, last: int) -> tuple[int, int]:
        """Multiplications of the product of these matrices, and the last one of its left factor."""
        if first == last:
            return 0, first
        outer = sides[first] * sides[last + 1]
        return min(
            (best(first, split)[0] + best(split + 1, last)[0] + outer * sides[split + 1], -split)
            for split in range(first, last)
        )

    def product(first: int, last: int) -> SSAValue:
        if first == last:
            return matrices[first]
        split = -best(first, last)[1]
        return aten.mm(product(first, split), product(split + 1, last))

    return product(0, len(matrices) - 1)


# --- tensordot and einsum ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """A tensor with a label for each dimension."""

    value: SSAValue
    labels: tuple[str, ...]

    @property
    def shape(self) -> dict[str, Dim]:
        return dict(zip(self.labels, meta(self.value).shape, strict=True))

    def sizes(self, aten: Namespace) -> dict[str, Size]:
        return dict(zip(self.labels, sizes(aten, self.value), strict=True))

    def arrange(self, aten: Namespace, labels: Sequence[str]) -> Term:
        """The same tensor with its dimensions in this order."""
        order = [self.labels.index(label) for label in labels]
        return self if order == sorted(order) else Term(aten.permute(self.value, order), tuple(labels))

    def without(self, remove: Callable[[SSAValue, list[int]], SSAValue], labels: Collection[str]) -> Term:
        """The tensor that is left when an operator has removed the dimensions with these labels."""
        dims = [dim for dim, label in enumerate(self.labels) if label in labels]
        rest = tuple(label for label in self.labels if label not in labels)
        return Term(remove(self.value, dims), rest) if dims else self

    def squeeze_for(self, aten: Namespace, other: Term) -> Term:
        """The tensor less dimensions of size 1 that broadcast against the other's."""
        theirs = other.shape
        return self.without(
            aten.squeeze.dims,
            [label for label, size in self.shape.items() if size == 1 != theirs.get(label, 1)],
        )

    def sum_but(self, aten: Namespace, kept: Collection[str]) -> Term:
        """The tensor summed over all labels but these."""
        return self.without(
            lambda value, dims: cast(aten, aten.sum.dim_IntList(value, dims), meta(value).dtype),
            [label for label in self.labels if label not in kept],
        )

    def diagonal(self, aten: Namespace) -> Term:
        """The tensor with each label once: of dimensions that share one, the diagonal."""
        for label in self.labels:
            if self.labels.count(label) > 1:
                first = self.labels.index(label)
                second = self.labels.index(label, first + 1)
                rest = tuple(name for dim, name in enumerate(self.labels) if dim not in (first, second))
                # A diagonal becomes the last dimension.
                return Term(aten.diagonal(self.value, 0, first, second), (*rest, label)).diagonal(aten)
        return self

    def view(self, aten: Namespace, *groups: Sequence[str]) -> SSAValue:
        """The tensor with one dimension for each group of labels."""
        labels = [label for group in groups for label in group]
        parts = [[self.shape[label] for label in group] for group in groups]
        size_of = Sizes(aten, self.value)
        shape = size_of.of_view([*map(size_of.together, parts)])
        arranged = self.arrange(aten, labels)
        if [*meta(arranged.value).shape] == [*map(prod, parts)]:
            return arranged.value
        return aten.view(arranged.value if arranged is self else contiguous(aten, arranged.value), shape)


def contract(aten: Namespace, a: Term, b: Term, kept: Collection[str]) -> Term:
    """The product of two tensors, summed over labels that are not kept. Labels in both that are kept are batches."""
    a, b = a.squeeze_for(aten, b), b.squeeze_for(aten, a)
    a, b = a.sum_but(aten, {*kept, *b.labels}), b.sum_but(aten, {*kept, *a.labels})
    shared = [label for label in a.labels if label in b.labels]
    batch = [label for label in shared if label in kept]
    summed = [label for label in shared if label not in kept]
    rows = [label for label in a.labels if label not in shared]
    columns = [label for label in b.labels if label not in shared]
    known = a.sizes(aten) | b.sizes(aten)
    labels = (*batch, *rows, *columns)
    shape = [known[label] for label in labels]
    if not summed:
        left = a.arrange(aten, [*batch, *rows]).value
        if columns:
            left = aten.view(left, [*sizes(aten, left), *[1] * len(columns)])
        groups = [
            *([label] for label in batch),
            *(list[str]() for _ in rows),
            *([label] for label in columns),
        ]
        right = b.view(aten, *groups)
        return Term(aten.mul.Tensor(left, right), labels)
    if batch:
        product = aten.bmm(a.view(aten, batch, rows, summed), b.view(aten, batch, summed, columns))
    else:
        product = aten.mm(a.view(aten, rows, summed), b.view(aten, summed, columns))
    return Term(aten.view(product, shape), labels)


@decomposition("aten.tensordot")
def tensordot(
    aten: Namespace, self: SSAValue, other: SSAValue, dims_self: Sequence[int], dims_other: Sequence[int]
) -> SSAValue:
    left = [f"self {dim}" for dim in range(meta(self).ndim)]
    right = [f"other {dim}" for dim in range(meta(other).ndim)]
    kept = {*left, *right}
    pairs = zip(wrap_dims(dims_self, len(left)), wrap_dims(dims_other, len(right)), strict=True)
    for a, b in pairs:
        kept -= {left[a], right[b]}
        right[b] = left[a]
    return contract(aten, Term(self, tuple(left)), Term(other, tuple(right)), kept).value


@decomposition("aten._trilinear")
def trilinear(
    aten: Namespace,
    i1: SSAValue,
    i2: SSAValue,
    i3: SSAValue,
    expand1: list[int],
    expand2: list[int],
    expand3: list[int],
    sumdim: list[int],
    unroll_dim: int,
) -> SSAValue:
    """An einsum: operands have no label for the dimensions that they are expanded along.

    Those that all are expanded along are empty; a loop over one of them has no turns. Products of three are not rounded in
    between.
    """
    dtype = meta(i1).dtype
    i1, i2, i3 = (cast(aten, each, opmath(dtype)) for each in (i1, i2, i3))
    rank = meta(i1).ndim + len(expand1)
    letters = ascii_lowercase[:rank]
    empty = expanded_in_all(rank, expand1, expand2, expand3)

    def labels(*without: int) -> str:
        dims = wrap_dims(list(dict.fromkeys(without)), rank)
        return "".join(letter for dim, letter in enumerate(letters) if dim not in dims)

    terms = ",".join(labels(*expand) for expand in (expand1, expand2, expand3))
    summed = wrap_dims(sumdim, rank)
    result = aten.einsum(f"{terms}->{labels(*empty, *summed)}", [i1, i2, i3])
    if unroll_dim in empty:
        result = aten.full_like(result, 0)
    kept = [dim for dim in range(rank) if dim not in summed]
    for place in (place for place, dim in enumerate(kept) if dim in empty):
        result = aten.slice.Tensor(aten.unsqueeze(result, place), place, 0, 0)
    return cast(aten, result, dtype)


@decomposition("aten.bilinear")
def bilinear(
    aten: Namespace, input1: SSAValue, input2: SSAValue, weight: SSAValue, bias: SSAValue | None
) -> SSAValue:
    *batch, _ = sizes(aten, input1)
    rows = [aten.view(each, [-1, sizes(aten, each)[-1]]) for each in (input1, input2)]
    product = aten._trilinear(rows[0], weight, rows[1], [1, 3], [0], [1, 2], [2, 3])
    result = aten.view(product, [*batch, sizes(aten, weight)[0]])
    return result if bias is None else aten.add.Tensor(result, bias)


@decomposition("aten.einsum")
def einsum(
    aten: Namespace, equation: str, tensors: Sequence[SSAValue], path: Sequence[int] | None
) -> SSAValue:
    labels, result = parse_einsum(equation, [meta(tensor).ndim for tensor in tensors])
    terms = [Term(tensor, term).diagonal(aten) for tensor, term in zip(tensors, labels, strict=True)]
    pairs = zip(path[::2], path[1::2], strict=True) if path else [(0, 1)] * (len(terms) - 1)
    for first, second in pairs:
        a, b = terms[first], terms[second]
        terms = [term for position, term in enumerate(terms) if position not in (first, second)]
        kept = {*result, *(label for term in terms for label in term.labels)}
        product = contract(aten, a, b, kept)
        # By default products are made from left to right; a path counts a product as the last term.
        terms = [*terms, product] if path else [product, *terms]
    if len(tensors) == 1:  # no product: the sum of integers is wide
        summed = [label for label in terms[0].labels if label not in result]
        terms = [terms[0].without(aten.sum.dim_IntList, summed)]
    return terms[0].sum_but(aten, result).arrange(aten, result).value
