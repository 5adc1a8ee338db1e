"""Lowerings of matrix products: one contraction, and what is added to it elementwise afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import AffineMap

from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder, dims
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.tensors import Tensor

Out = list[TensorMeta]


def contract(b: LinalgBuilder, left: Tensor, right: Tensor, equation: str) -> Tensor:
    """Sums of products in Einstein's notation, `mk,kn->mn`, in the dtype that sums accumulate in: not rounded yet.

    Loops run over the result's indices, then over those summed.
    """
    (left_labels, right_labels), kept = equation.split("->")[0].split(","), equation.split("->")[1]
    loops = kept + "".join(label for label in dict.fromkeys(left_labels + right_labels) if label not in kept)
    index = dict(zip(loops, dims(len(loops)), strict=True))
    sizes = dict(zip(left_labels + right_labels, left.shape + right.shape, strict=True))
    wide = b.accumulator(left.dtype)

    def access(labels: str) -> AffineMap:
        return AffineMap(len(loops), 0, tuple(index[label] for label in labels))

    return b.generic(
        [(left, access(left_labels)), (right, access(right_labels))],
        b.fill(0, tuple(sizes[label] for label in kept), wide),
        access(kept),
        ["parallel" if label in kept else "reduction" for label in loops],
        lambda x, y, total: total + s.cast(x, wide) * s.cast(y, wide),
    )


@lowering("aten.mm", takes_complex=True)
def mm(b: LinalgBuilder, self: Tensor, mat2: Tensor, out: Out) -> Tensor:
    return b.convert(contract(b, self, mat2, "mk,kn->mn"), out[0].dtype)


@lowering("aten.bmm", takes_complex=True)
def bmm(b: LinalgBuilder, self: Tensor, mat2: Tensor, out: Out) -> Tensor:
    return b.convert(contract(b, self, mat2, "bmk,bkn->bmn"), out[0].dtype)


def scaled_sum(
    b: LinalgBuilder, self: Tensor, product: Tensor, beta: float, alpha: float, out: TensorMeta
) -> Tensor:
    """`beta * self + alpha * product`, where a `beta` of 0 drops even NaN."""

    def scaled(x: Scalar, factor: float) -> Scalar:
        return x if factor == 1 else x * factor

    def body(product: Scalar, *addend: Scalar) -> Scalar:
        result = scaled(product, alpha)
        return result + scaled(s.cast(addend[0], product.dtype), beta) if addend else result

    addends: Sequence[Tensor] = [] if beta == 0 else [self]
    return b.elementwise(body, [product, *addends], out.shape, out.dtype)


@lowering("aten.addmm", takes_complex=True)
def addmm(
    b: LinalgBuilder, self: Tensor, mat1: Tensor, mat2: Tensor, beta: float, alpha: float, out: Out
) -> Tensor:
    return scaled_sum(b, self, contract(b, mat1, mat2, "mk,kn->mn"), beta, alpha, out[0])


@lowering("aten.addbmm", takes_complex=True)
def addbmm(
    b: LinalgBuilder, self: Tensor, batch1: Tensor, batch2: Tensor, beta: float, alpha: float, out: Out
) -> Tensor:
    return scaled_sum(b, self, contract(b, batch1, batch2, "bmk,bkn->mn"), beta, alpha, out[0])


@lowering("aten.addmv", takes_complex=True)
def addmv(
    b: LinalgBuilder, self: Tensor, mat: Tensor, vec: Tensor, beta: float, alpha: float, out: Out
) -> Tensor:
    return scaled_sum(b, self, contract(b, mat, vec, "mk,k->m"), beta, alpha, out[0])
