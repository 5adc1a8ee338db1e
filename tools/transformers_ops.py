"""What the operators of `transformers_ops.yaml` do: products of rows with the matrix of the expert that they are for.

A library as users have them (`tools.huggingface` registers it); facts from `transformers.integrations.moe`.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta, sizes
from xdsl_exir.dialects.dtypes import Long
from xdsl_exir.dialects.meta import Shape, shape_rule
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.decompositions import decomposition


@shape_rule("transformers.grouped_mm_fallback")
def grouped_mm_shape(input: TensorMeta, weight: TensorMeta, offs: TensorMeta) -> Shape:
    """[rows, outputs] of input [rows, inputs], weight [experts, inputs, outputs] and offs [experts]."""
    if (input.ndim, weight.ndim, offs.ndim) != (2, 3, 1):
        raise ExirError(
            f"takes a matrix, matrices and their ends, not {input.ndim}, {weight.ndim} and {offs.ndim} dimensions"
        )
    if input.shape[1] != weight.shape[1] or offs.shape != weight.shape[:1]:
        raise ExirError(f"rows of {input.shape[1]} and {offs.shape[0]} ends do not fit {weight.shape}")
    return (input.shape[0], weight.shape[2])


@decomposition("transformers.grouped_mm_fallback")
def grouped_mm(aten: Namespace, input: SSAValue, weight: SSAValue, offs: SSAValue) -> SSAValue:
    """Row r times the matrix of expert e, where offs[e - 1] <= r < offs[e]; rows from the last end on are 0."""
    rows, _ = sizes(aten, input)
    experts, inputs, _ = sizes(aten, weight)
    ends = aten._to_copy(offs, dtype=Long)
    places = aten.arange(rows, dtype=Long)
    starts = aten.constant_pad_nd(aten.slice.Tensor(ends, 0, 0, -1), [1, 0])
    after, before = (aten.unsqueeze(each, 1) for each in (starts, ends))
    mine = aten.logical_and(aten.ge.Tensor(places, after), aten.lt.Tensor(places, before))  # [experts, rows]
    if isinstance(rows, int) and isinstance(experts, int) and rows <= experts:
        # Few rows read only the matrices that they need.
        chosen = aten.argmax(aten._to_copy(mine, dtype=Long), 0)
        product = aten.bmm(aten.unsqueeze(input, 1), aten.index_select(weight, 0, chosen))
        product, given = aten.squeeze.dims(product, [1]), aten.any.dim(mine, 0)
        return aten.where.ScalarOther(aten.unsqueeze(given, 1), product, 0)
    each = aten.bmm(aten.expand(input, [experts, rows, inputs]), weight)
    kept = aten.where.ScalarOther(aten.unsqueeze(mine, 2), each, 0)
    return aten.sum.dim_IntList(kept, [0], dtype=meta(input).dtype)
