"""Shape rules of matrix products. `matmul`, `linear`, `einsum` and their like are products of pairs underneath."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import (
    Shape,
    broadcast_shapes,
    check,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
    wrap_dims,
)
from xdsl_exir.dialects.tensors import TensorMeta


def check_rank(name: str, tensor: TensorMeta, rank: int) -> None:
    check(tensor.ndim == rank, f"'{name}' has shape {shape_text(tensor.shape)}; {rank} dimensions expected")


def check_inner(left: TensorMeta, right: TensorMeta, a: Dim, b: Dim) -> None:
    """The sizes that a product sums over must agree."""
    shapes = f"{shape_text(left.shape)} by {shape_text(right.shape)}"
    check(same_size(a, b), f"shapes do not multiply, {shapes}: {a} is not {b}")


def check_expands(tensor: TensorMeta, shape: Shape) -> None:
    """What is added to a product broadcasts to it, never the other way round."""
    try_shape = broadcast_shapes(tensor.shape, shape)
    grows = len(try_shape) != len(shape) or not all(map(same_size, try_shape, shape))
    check(not grows, f"shape {shape_text(tensor.shape)} does not expand to {shape_text(shape)}")


@shape_rule("aten.mm")
def mm(self: TensorMeta, mat2: TensorMeta) -> Shape:
    check_rank("self", self, 2)
    check_rank("mat2", mat2, 2)
    check_inner(self, mat2, self.shape[1], mat2.shape[0])
    return self.shape[0], mat2.shape[1]


@shape_rule("aten.bmm")
def bmm(self: TensorMeta, mat2: TensorMeta) -> Shape:
    check_rank("self", self, 3)
    check_rank("mat2", mat2, 3)
    check(same_size(self.shape[0], mat2.shape[0]), f"batches of {self.shape[0]} and {mat2.shape[0]}")
    check_inner(self, mat2, self.shape[2], mat2.shape[1])
    return self.shape[0], self.shape[1], mat2.shape[2]


@shape_rule("aten._grouped_mm")
def grouped_mm(self: TensorMeta, mat2: TensorMeta, offs: TensorMeta | None, bias: TensorMeta | None) -> Shape:
    """A matrix among the two is in groups along a dimension, which end at `offs`: rows of `self`, columns of `mat2`, or where both are
    matrices what is summed."""
    for name, tensor in (("self", self), ("mat2", mat2)):
        check(
            tensor.ndim in (2, 3),
            f"'{name}' has shape {shape_text(tensor.shape)}; 2 or 3 dimensions expected",
        )
    check(bias is None, "PyTorch takes no bias yet")
    check_inner(self, mat2, self.shape[-1], mat2.shape[-2])
    own = [tensor.shape[0] for tensor in (self, mat2) if tensor.ndim == 3]
    check((offs is None) == (len(own) == 2), "groups end somewhere where there is a matrix, and only there")
    if offs is not None:
        check_rank("offs", offs, 1)
        own.append(offs.shape[0])
    check(all(same_size(groups, own[0]) for groups in own), f"{' and '.join(map(str, own))} groups")
    product = (self.shape[-2], mat2.shape[-1])
    return product if self.ndim != mat2.ndim else (own[0], *product)


@shape_rule("transformers.grouped_mm_fallback")
def grouped_mm_fallback(input: TensorMeta, weight: TensorMeta, offs: TensorMeta) -> Shape:
    check_rank("input", input, 2)
    check_rank("weight", weight, 3)
    return grouped_mm(input, weight, offs, None)


@shape_rule("aten.addmm")
def addmm(self: TensorMeta, mat1: TensorMeta, mat2: TensorMeta) -> Shape:
    shape = mm(mat1, mat2)
    check_expands(self, shape)
    return shape


@shape_rule("aten.baddbmm")
def baddbmm(self: TensorMeta, batch1: TensorMeta, batch2: TensorMeta) -> Shape:
    shape = bmm(batch1, batch2)
    check_expands(self, shape)
    return shape


@shape_rule("aten.addbmm")
def addbmm(self: TensorMeta, batch1: TensorMeta, batch2: TensorMeta) -> Shape:
    shape = bmm(batch1, batch2)[1:]
    check_expands(self, shape)
    return shape


@shape_rule("aten.mv")
def mv(self: TensorMeta, vec: TensorMeta) -> Shape:
    check_rank("self", self, 2)
    check_rank("vec", vec, 1)
    check_inner(self, vec, self.shape[1], vec.shape[0])
    return (self.shape[0],)


@shape_rule("aten.addmv")
def addmv(self: TensorMeta, mat: TensorMeta, vec: TensorMeta) -> Shape:
    shape = mv(mat, vec)
    check_expands(self, shape)
    return shape


def dot(left: TensorMeta, right: TensorMeta) -> Shape:
    check_rank("self", left, 1)
    check_rank("other", right, 1)
    check_inner(left, right, left.shape[0], right.shape[0])
    return ()


@shape_rule("aten.dot")
def dot_shape(self: TensorMeta, tensor: TensorMeta) -> Shape:
    return dot(self, tensor)


@shape_rule("aten.vdot")
def vdot(self: TensorMeta, other: TensorMeta) -> Shape:
    return dot(self, other)


@shape_rule("aten.inner")
def inner(self: TensorMeta, other: TensorMeta) -> Shape:
    if self.ndim == 0 or other.ndim == 0:
        return self.shape + other.shape
    check(self.dtype is other.dtype, f"operands of one dtype expected, not {self.dtype} and {other.dtype}")
    check_inner(self, other, self.shape[-1], other.shape[-1])
    return self.shape[:-1] + other.shape[:-1]


@shape_rule("aten.addr")
def addr(self: TensorMeta, vec1: TensorMeta, vec2: TensorMeta) -> Shape:
    shape = outer(vec1, vec2)
    check_expands(self, shape)
    return shape


def cross_dim(shape: Shape, dim: int | None) -> int:
    """The dimension of vectors that `cross` multiplies: if not given, the first of size 3."""
    known = [dim] if dim is not None else [d for d, size in enumerate(shape) if size == 3]
    check(len(known) > 0, f"no dimension of {shape_text(shape)} has size 3")
    return wrap_dims(known[:1], len(shape))[0]


@shape_rule("aten.cross")
def cross(self: TensorMeta, other: TensorMeta, dim: int | None) -> Shape:
    check(self.ndim == other.ndim > 0, "takes operands of one rank")
    shape = broadcast_shapes(self.shape, other.shape)
    place = cross_dim(self.shape, dim)
    check(same_size(self.shape[place], 3) and same_size(other.shape[place], 3), "vectors have 3 elements")
    return shape


@shape_rule("aten.kron")
def kron(self: TensorMeta, other: TensorMeta) -> Shape:
    rank = max(self.ndim, other.ndim)
    left, right = ((1,) * (rank - tensor.ndim) + tensor.shape for tensor in (self, other))
    return tuple(a * b for a, b in zip(left, right, strict=True))


@shape_rule("aten.outer", "aten.ger")
def outer(self: TensorMeta, vec2: TensorMeta) -> Shape:
    check_rank("self", self, 1)
    check_rank("vec2", vec2, 1)
    return self.shape + vec2.shape


@shape_rule("aten.matmul", "aten.linalg_matmul")
def matmul(self: TensorMeta, other: TensorMeta) -> Shape:
    check(self.ndim > 0 and other.ndim > 0, "a 0-dim tensor does not multiply as a matrix")
    row, column = self.ndim == 1, other.ndim == 1
    check_inner(self, other, self.shape[-1], other.shape[-1 if column else -2])
    batch = broadcast_shapes(self.shape[:-2], other.shape[:-2])
    return batch + (() if row else (self.shape[-2],)) + (() if column else (other.shape[-1],))


@shape_rule("aten.linear")
def linear(input: TensorMeta, weight: TensorMeta, bias: TensorMeta | None) -> Shape:
    check(input.ndim > 0, "the input is 0-dimensional")
    check(weight.ndim in (1, 2), f"'weight' has shape {shape_text(weight.shape)}; 2 dimensions expected")
    check(weight.ndim == 2 or bias is None or bias.ndim == 0, "a weight vector takes a 0-dimensional bias")
    check_inner(input, weight, input.shape[-1], weight.shape[-1])
    shape = input.shape[:-1] + weight.shape[:-1]
    if bias is not None:
        check_expands(bias, shape)
    return shape


@shape_rule("aten.chain_matmul")
def chain_matmul(matrices: Sequence[TensorMeta]) -> Shape:
    check(len(matrices) > 0, "no matrices")
    for matrix in matrices:
        check_rank("matrices", matrix, 2)
    for left, right in pairwise(matrices):
        check_inner(left, right, left.shape[1], right.shape[0])
    return matrices[0].shape[0], matrices[-1].shape[1]


@shape_rule("aten.tensordot")
def tensordot(
    self: TensorMeta, other: TensorMeta, dims_self: Sequence[int], dims_other: Sequence[int]
) -> Shape:
    check(
        len(dims_self) == len(dims_other),
        f"{len(dims_self)} dimensions contracted with {len(dims_other)}",
    )
    check(not dims_self or min(self.ndim, other.ndim) > 0, "a 0-dim tensor has no dimension to contract")
    left, right = wrap_dims(dims_self, self.ndim), wrap_dims(dims_other, other.ndim)
    for a, b in zip(left, right, strict=True):
        sizes = self.shape[a], other.shape[b]
        if 1 not in sizes:
            check_inner(self, other, *sizes)
    free = [size for dim, size in enumerate(self.shape) if dim not in left]
    return (*free, *(size for dim, size in enumerate(other.shape) if dim not in right))


# --- products of three ---------------------------------------------------------------------------------------


@shape_rule("aten._trilinear")
def trilinear(
    i1: TensorMeta,
    i2: TensorMeta,
    i3: TensorMeta,
    expand1: list[int],
    expand2: list[int],
    expand3: list[int],
    sumdim: list[int],
    unroll_dim: int,
) -> Shape:
    """The product of three tensors that get dimensions of size 1 at `expand`, summed over some.

    A dimension that all three get has size 0 (`_trilinear` in ATen's `Linear.cpp`).
    """
    rank = i1.ndim + len(expand1)
    check(0 <= unroll_dim < rank, f"unroll_dim {unroll_dim} of {rank} dimensions")
    shapes: list[Shape] = []
    for tensor, expand in ((i1, expand1), (i2, expand2), (i3, expand3)):
        check(tensor.ndim + len(expand) == rank, "operands of different ranks")
        dims = wrap_dims(expand, rank)
        sizes = iter(tensor.shape)
        shapes.append(tuple(1 if dim in dims else next(sizes) for dim in range(rank)))
    summed, empty = wrap_dims(sumdim, rank), expanded_in_all(rank, expand1, expand2, expand3)
    sizes = (0 if dim in empty else size for dim, size in enumerate(broadcast_shapes(*shapes)))
    return tuple(size for dim, size in enumerate(sizes) if dim not in summed)


def expanded_in_all(rank: int, *expand: list[int]) -> set[int]:
    """The dimensions that no operand of a product has itself."""
    each = [wrap_dims(dims, rank) for dims in expand]
    return {dim for dim in range(rank) if all(dim in dims for dims in each)}


@shape_rule("aten.bilinear")
def bilinear(input1: TensorMeta, input2: TensorMeta, weight: TensorMeta, bias: TensorMeta | None) -> Shape:
    """`[*, I], [*, J]` by weights `[O, I, J]` give `[*, O]`."""
    check(input1.ndim >= 1 and input1.ndim == input2.ndim, "inputs of different ranks")
    check(weight.ndim == 3, f"weight {shape_text(weight.shape)} has not three dimensions")
    check(same_shape(input1.shape[:-1], input2.shape[:-1]), "inputs of different batches")
    expected = (weight.shape[0], input1.shape[-1], input2.shape[-1])
    check(
        same_shape(weight.shape, expected),
        f"weight {shape_text(weight.shape)}, expected {shape_text(expected)}",
    )
    check(bias is None or same_shape(bias.shape, weight.shape[:1]), "one bias per output expected")
    return (*input1.shape[:-1], weight.shape[0])


# --- einsum --------------------------------------------------------------------------------------------------


def parse_einsum(equation: str, ranks: Sequence[int]) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Labels of the operands' dimensions and of the result's: `ij,jk->ik` gives `[(i, j), (j, k)], (i, k)`.

    Dimensions of an ellipsis are labelled by their number from the right, `0` the last. Without an arrow the result
    has the ellipsis' dimensions and then, sorted, the letters that occur once. Raises `MetaError` for an equation
    that does not fit the ranks.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    check(len(terms) == len(ranks), f"'{equation}' is of {len(terms)} operands; {len(ranks)} given")
    labels = [_labels(term, rank, equation) for term, rank in zip(terms, ranks, strict=True)]
    ellipsis = sorted({label for term in labels for label in term if label.isdigit()}, key=int, reverse=True)
    if not arrow:
        letters = sorted(set(inputs) - set(",."))
        return labels, (*ellipsis, *(letter for letter in letters if inputs.count(letter) == 1))
    head, dots, tail = output.partition("...")
    result = (*head, *(ellipsis if dots else ()), *tail)
    known = {label for term in labels for label in term}
    for label in result:
        check(label in known, f"'{equation}': '{label}' of the result is in no operand")
        check(result.count(label) == 1, f"'{equation}': '{label}' comes twice in the result")
    return labels, result


def _labels(term: str, rank: int, equation: str) -> tuple[str, ...]:
    head, dots, tail = term.partition("...")
    letters = head + tail
    check(
        (letters.isalpha() and letters.isascii()) or not letters,
        f"'{equation}': '{term}' has other than letters",
    )
    covered = rank - len(letters)
    check(covered == 0 or (bool(dots) and covered > 0), f"'{equation}': '{term}' is not of {rank} dimensions")
    return (*head, *map(str, reversed(range(covered))), *tail)


def einsum_sizes(
    labels: Sequence[Sequence[str]], shapes: Sequence[Sequence[Dim]], equation: str
) -> dict[str, Dim]:
    """The size of every label; size 1 broadcasts. Raises `MetaError` where one has different sizes."""
    sizes: dict[str, Dim] = {}
    for term, shape in zip(labels, shapes, strict=True):
        for label, size in zip(term, shape, strict=True):
            known = sizes.setdefault(label, size)
            if known == 1:
                sizes[label] = size
            elif size != 1:
                check(same_size(known, size), f"'{equation}': '{label}' has sizes {known} and {size}")
    return sizes


@shape_rule("aten.einsum")
def einsum(equation: str, tensors: Sequence[TensorMeta]) -> Shape:
    shapes = [tensor.shape for tensor in tensors]
    labels, result = parse_einsum(equation, [len(shape) for shape in shapes])
    sizes = einsum_sizes(labels, shapes, equation)
    return tuple(sizes[label] for label in result)
