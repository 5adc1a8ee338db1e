"""Gradients of matrix products."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, sizes
from xdsl_exir.transforms.arithmetic import Number
from xdsl_exir.transforms.decompositions.matmul import transpose
from xdsl_exir.transforms.gradients import Gradients, conj, gradient
from xdsl_exir.transforms.gradients.pointwise import scaled


def adjoint(aten: Namespace, value: SSAValue) -> SSAValue:
    """The last two dimensions swapped, conjugated."""
    return conj(aten, transpose(aten, value))


@gradient("aten.mm")
def mm(aten: Namespace, grad: SSAValue, self: SSAValue, mat2: SSAValue) -> Gradients:
    return aten.mm(grad, adjoint(aten, mat2)), aten.mm(adjoint(aten, self), grad)


@gradient("aten.bmm")
def bmm(aten: Namespace, grad: SSAValue, self: SSAValue, mat2: SSAValue) -> Gradients:
    return aten.bmm(grad, adjoint(aten, mat2)), aten.bmm(adjoint(aten, self), grad)


@gradient("aten.addmm")
def addmm(
    aten: Namespace, grad: SSAValue, mat1: SSAValue, mat2: SSAValue, beta: Number, alpha: Number
) -> Gradients:
    share = scaled(aten, grad, alpha)
    return (
        scaled(aten, grad, beta),
        aten.mm(share, adjoint(aten, mat2)),
        aten.mm(adjoint(aten, mat1), share),
    )


@gradient("aten.addmv")
def addmv(
    aten: Namespace, grad: SSAValue, mat: SSAValue, vec: SSAValue, beta: Number, alpha: Number
) -> Gradients:
    share = scaled(aten, grad, alpha)
    return (
        scaled(aten, grad, beta),
        aten.outer(share, conj(aten, vec)),
        aten.mv(adjoint(aten, mat), share),
    )


@gradient("aten.addbmm")
def addbmm(
    aten: Namespace, grad: SSAValue, batch1: SSAValue, batch2: SSAValue, beta: Number, alpha: Number
) -> Gradients:
    count = sizes(aten, batch1)[0]
    share = aten.expand(aten.unsqueeze(scaled(aten, grad, alpha), 0), [count, *sizes(aten, grad)])
    return (
        scaled(aten, grad, beta),
        aten.bmm(share, adjoint(aten, batch2)),
        aten.bmm(adjoint(aten, batch1), share),
    )
