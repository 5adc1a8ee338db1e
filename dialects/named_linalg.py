"""Named operations of `linalg`: loops whose indexing maps and body the name says, as other compilers know them best.

Each is written in Einstein's notation, windows in parentheses: `nc(wx),fcx->nfw` reads its input at `w * stride + x * dilation`. The
table serves both ways: `lowering/named.py` looks up the name of a `linalg.generic`, and `NamedOp.indexing_maps` says what a name means.
xDSL has some of these operations, in forms of its own; here all are of one form, and are printed in the generic one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseIntElementsAttr, TensorType
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

LOOPS = {
    "matmul": "mk,kn->mn",
    "batch_matmul": "bmk,bkn->bmn",
    "conv_1d_ncw_fcw": "nc(wx),fcx->nfw",
    "conv_2d_nchw_fchw": "nc(hy)(wx),fcyx->nfhw",
    "conv_2d_ngchw_gfchw": "ngc(hy)(wx),gfcyx->ngfhw",
    "conv_3d_ncdhw_fcdhw": "nc(dz)(hy)(wx),fczyx->nfdhw",
    "depthwise_conv_1d_ncw_cw": "nc(wx),cx->ncw",
    "depthwise_conv_2d_nchw_chw": "nc(hy)(wx),cyx->nchw",
    "pooling_ncw_max": "nc(wx),x->ncw",
    "pooling_ncw_sum": "nc(wx),x->ncw",
    "pooling_nchw_max": "nc(hy)(wx),yx->nchw",
    "pooling_nchw_sum": "nc(hy)(wx),yx->nchw",
}
"""What names mean. Those of poolings end with what is done to elements; all others are sums of products."""

Token = tuple[str, ...]
"""One index of an operand: a loop, or a window's place and tap."""


def tokens(text: str) -> list[list[Token]]:
    """The indices of each operand."""
    found = [re.findall(r"\((\w)(\w)\)|(\w)", part) for part in re.split(",|->", text)]
    return [[tuple(filter(None, token)) for token in operand] for operand in found]


def renamed(operands: Sequence[Sequence[Token]]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Indices with loops numbered as they come, so that those of two operations compare."""
    number: dict[str, int] = {}
    return tuple(
        tuple(tuple(number.setdefault(loop, len(number)) for loop in token) for token in operand)
        for operand in operands
    )


# --- operations ----------------------------------------------------------------------------------------------


class NamedOp(IRDLOperation):
    """Loops that a name says. The region, which repeats the body, is MLIR's."""

    inputs = var_operand_def(TensorType[Attribute])
    outputs = var_operand_def(TensorType[Attribute])
    res = var_result_def(TensorType[Attribute])

    strides = opt_prop_def(DenseIntElementsAttr)
    dilations = opt_prop_def(DenseIntElementsAttr)
    maps = opt_prop_def(ArrayAttr[AffineMapAttr], prop_name="indexing_maps")
    """Matrix products say theirs, which may be those of a transposed matrix."""

    body = region_def("single_block")

    traits = traits_def(Pure())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def indices(self) -> list[list[Token]]:
        return tokens(LOOPS[self.name.partition(".")[2]])

    @property
    def indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        """Those of a `linalg.generic` that does the same."""
        if self.maps is not None:
            return self.maps
        operands = self.indices
        loops = list(loops_of(operands))
        scales = iter(
            zip(
                self.strides.get_values() if self.strides else (),
                self.dilations.get_values() if self.dilations else (),
                strict=True,
            )
        )

        def expr(token: Token) -> AffineExpr:
            place, *tap = [AffineDimExpr(loops.index(loop)) for loop in token]
            if not tap:
                return place
            stride, dilation = map(int, next(scales))
            return place * stride + tap[0] * dilation

        return ArrayAttr(
            AffineMapAttr(AffineMap(len(loops), 0, tuple(map(expr, operand)))) for operand in operands
        )

    @property
    def iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        operands = self.indices
        kept = {loop for token in operands[-1] for loop in token}
        return ArrayAttr(
            IteratorTypeAttr(IteratorType.PARALLEL if loop in kept else IteratorType.REDUCTION)
            for loop in loops_of(operands)
        )


def loops_of(operands: Iterable[Iterable[Token]]) -> dict[str, None]:
    """All loops, those of the result first, as MLIR orders them in products of matrices."""
    *inputs, output = operands
    return dict.fromkeys(loop for operand in (output, *inputs) for token in operand for loop in token)


OPERATIONS: dict[str, type[NamedOp]] = {
    name: irdl_op_definition(type(f"Linalg_{name}", (NamedOp,), {"name": f"linalg.{name}"})) for name in LOOPS
}


# --- indices ----------------------------------------------------------------------------------------------------


def linear(expr: AffineExpr) -> tuple[dict[int, int], int] | None:
    """The factors of loops in an expression, and what is added; None where it is not linear."""
    match expr:
        case AffineDimExpr(position=dim):
            return {dim: 1}, 0
        case AffineConstantExpr(value=value):
            return {}, value
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
            a, b = linear(lhs), linear(rhs)
            if a is None or b is None:
                return None
            return {dim: a[0].get(dim, 0) + b[0].get(dim, 0) for dim in a[0] | b[0]}, a[1] + b[1]
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=rhs):
            a, b = linear(lhs), linear(rhs)
            if a is None or b is None or (a[0] and b[0]):
                return None
            (factors, added), factor = (a, b[1]) if a[0] else (b, a[1])
            return {dim: f * factor for dim, f in factors.items()}, added * factor
        case _:
            return None
