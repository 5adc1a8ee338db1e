"""Matrices of a batch side by side: what lowerings of linear algebra make of one matrix, made of as many at once as vectors have lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, i64
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, apply, prod
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder, dims
from xdsl_exir.lowering.matrices import At
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.tensors import Tensor, read

LANES = 16
"""Matrices that algorithms go through side by side: of float32, as many as the longest vectors have numbers."""
FEW = 4
"""Matrices fewer than which are taken one by one: most of the lanes would do the same as others."""

Algorithm = Callable[[LinalgBuilder, list[Tensor]], Sequence[Tensor]]
"""What becomes of matrices `[rows, columns]` and vectors, or of as many of each side by side: `[rows, columns, lanes]`."""


def grouped(
    b: LinalgBuilder,
    algorithm: Algorithm,
    inputs: Sequence[tuple[Tensor, int]],
    results: Sequence[tuple[Sizes, DType]],
) -> list[Tensor]:
    """An algorithm over the batch of its inputs, given with the number of their own dimensions; results by their own sizes.

    Matrices stand side by side in the last dimension, so that loops along it are vectors whatever a matrix's size, and one group
    stays in the cache through all steps. In the last group the last matrix takes the places that are left.
    """
    first, rank = inputs[0]
    batch = first.shape[: first.ndim - rank]
    if not batch:
        return list(algorithm(b, [input for input, _ in inputs]))
    count = prod(batch)
    few = isinstance(count, int) and count < FEW
    lanes: Sizes = () if few else (LANES,)
    turns = count if few else apply("floordiv", count + (LANES - 1), LANES)
    flat = [b.reshape(x, (count, *x.shape[x.ndim - rank :])) for x, rank in inputs]
    start = [
        Tensor(b.empty(shape, dtype), shape, dtype)
        for shape, dtype in (((turns, *own, *lanes), dtype) for own, dtype in results)
    ]

    def turn(b: LinalgBuilder, number: Scalar, state: list[Tensor]) -> list[Tensor]:
        def taken(source: Tensor) -> Tensor:
            def element(*at: SSAValue) -> Scalar:
                if few:
                    return read(source, [number, *at])
                matrix = s.minimum(number * LANES + s.from_index(at[-1]), s.constant(count, dt.Long) - 1)
                return read(source, [matrix, *at[:-1]])

            return b.indexed(element, (*source.shape[1:], *lanes), source.dtype)

        where = b.add(arith.IndexCastOp(number.value, IndexType()))
        made = algorithm(b, [taken(source) for source in flat])
        return [
            b.insert(new, whole, [where, *[0] * new.ndim]) for new, whole in zip(made, state, strict=True)
        ]

    def apart(source: Tensor) -> Tensor:
        own = source.shape[1 : source.ndim - len(lanes)]

        def element(*at: SSAValue) -> Scalar:
            matrix = s.from_index(at[0])
            if few:
                return read(source, at)
            return read(source, [matrix / LANES, *at[1:], s.rem(matrix, s.constant(LANES, dt.Long))])

        return b.reshape(b.indexed(element, (count, *own), source.dtype), (*batch, *own))

    return [apart(made) for made in b.steps(turns, start, turn, in_place=True)]


def within(at: At) -> tuple[Scalar, Scalar, At]:
    """Row, column and lane, of matrices side by side."""
    return s.from_index(at[0]), s.from_index(at[1]), at[2:]


def folded(b: LinalgBuilder, count: Dim, start: Tensor, combine: Callable[..., Scalar]) -> Tensor:
    """Numbers, from those of `start` on, that `combine` makes from each number k from 0 to `count`, the last ones, and where
    they are. All of one k, then those of the next: along the lanes."""
    rank = start.ndim + 1
    loops = dims(rank)

    def body(_: Scalar, total: Scalar) -> Scalar:
        k, *at = (linalg.IndexOp(dim).results[0] for dim in range(rank))
        return combine(s.from_index(k), total, *at)

    # Only the shape of this one matters.
    counted = Tensor(b.empty((count,), dt.Byte), (count,), dt.Byte)
    return b.generic(
        [(counted, AffineMap(rank, 0, (loops[0],)))],
        start,
        AffineMap(rank, 0, tuple(loops[1:])),
        ["reduction", *["parallel"] * start.ndim],
        body,
    )


def updated(b: LinalgBuilder, old: Tensor, change: Callable[..., Scalar]) -> Tensor:
    """A tensor with each element changed, of which `change` gets the old one and the place. In its own buffer, where nothing but that is read
    of the old ones: what else a step needs of them it has to read before."""
    rank = old.ndim

    def body(x: Scalar) -> Scalar:
        return change(x, *[linalg.IndexOp(dim).results[0] for dim in range(rank)])

    return b.generic([], old, AffineMap.identity(rank), ["parallel"] * rank, body)


def units(b: LinalgBuilder, size: Dim, lanes: Sequence[Dim], dtype: DType) -> Tensor:
    """Unit matrices."""

    def element(*at: SSAValue) -> Scalar:
        i, j, _ = within(at)
        return s.cast(i.equals(j), dtype)

    return b.indexed(element, (size, size, *lanes), dtype)


def product(b: LinalgBuilder, left: Tensor, right: Tensor) -> Tensor:
    """Products of matrices, by rows: loops along a row of `right` are vectors, if those along the lanes are not."""
    i, k, j, *lanes = dims(left.ndim + 1)
    maps = [AffineMap(left.ndim + 1, 0, (*place, *lanes)) for place in ((i, k), (k, j), (i, j))]
    shape = (left.shape[0], *right.shape[1:])
    return b.generic(
        [(left, maps[0]), (right, maps[1])],
        b.fill(0, shape, left.dtype),
        maps[2],
        ["parallel", "reduction", *["parallel"] * (left.ndim - 1)],
        lambda x, y, total: total + x * y,
    )


def greatest(b: LinalgBuilder, numbers: Tensor) -> SSAValue:
    """The greatest of integers of all lanes, 0 if none is positive, as an `index` value."""
    most = b.reduce(s.maximum, numbers, range(numbers.ndim), 0, numbers.dtype) if numbers.ndim else numbers
    number = b.add(tensor.ExtractOp(b.reshape(most, ()).value, [], i64))
    return b.add(arith.IndexCastOp(number, IndexType()))
