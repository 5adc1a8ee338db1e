"""Kernels behind composite operators of `aten`, and names that it has twice."""

from __future__ import annotations

from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.exchange.graph import Ref, TensorMeta, Value
from xdsl_exir.importers.synonyms.calls import Calls, Table

ATEN = Table("aten")

ATEN.renamed("detach_", "aten.detach", "self")  # writes no element
ATEN.renamed("size.int", "aten.sym_size.int", "self dim")
ATEN.renamed("numel", "aten.sym_numel", "self")
ATEN.renamed("_is_all_true", "aten.all", "self")
ATEN.renamed("_is_any_true", "aten.any", "self")
ATEN.renamed("_reshape_alias", "aten.view", "self size stride=")
for _name, _dtype in dt.BY_NAME.items():
    ATEN.renamed(f"_cast_{_name}", "aten.to.dtype", "self non_blocking", dtype=_dtype)
ATEN.renamed("chalf", "aten.to.dtype", "self memory_format", dtype=dt.ComplexHalf)
for _name in ("index_put", "index_put_"):
    _own = _name.replace("put", "put_impl")
    ATEN.renamed(f"_{_own}", f"aten.{_name}", "self indices values accumulate unsafe=")
# what derivatives forward in a program are made of
ATEN.renamed("_efficientzerotensor", "aten.zeros", "size dtype layout device pin_memory")
ATEN.renamed("_new_zeros_with_same_feature_meta", "aten.zeros_like", "self= other=self self_num_batch_dims=")
_CONVOLUTION = "input weight bias stride padding dilation transposed output_padding groups benchmark= deterministic= cudnn_enabled= allow_tf32="
for _name in ("_convolution", "_convolution.deprecated"):
    ATEN.renamed(_name, "aten.convolution", _CONVOLUTION)


EXACT_TERMS = 512
"""So many products of bytes add up to at most 2**24, in any order: float32 has all the whole numbers until there."""


@ATEN.of("_int_mm")
def int_mm(calls: Calls, self: Value, mat2: Value) -> Ref:
    """Products of bytes, added up exactly: in float32, piece by piece, where there are kernels for products."""
    known = calls.values.get(mat2.name) if isinstance(mat2, Ref) else None
    terms = known.sizes[0] if isinstance(known, TensorMeta) else None
    if not isinstance(terms, int) or terms == 0:
        return calls("aten.mm", self=calls.cast(self, dt.Int), mat2=calls.cast(mat2, dt.Int))

    def piece(start: int) -> Ref:
        def part(of: Value, dim: int) -> Ref:
            if terms > EXACT_TERMS:
                of = calls("aten.slice.Tensor", self=of, dim=dim, start=start, end=start + EXACT_TERMS)
            return calls.cast(of, dt.Float)

        return calls.cast(calls("aten.mm", self=part(self, 1), mat2=part(mat2, 0)), dt.Int)

    total, *others = map(piece, range(0, terms, EXACT_TERMS))
    for each in others:
        total = calls("aten.add.Tensor", self=total, other=each)
    return total


@ATEN.of("_scaled_mm")
def scaled_mm(
    calls: Calls,
    self: Value,
    mat2: Value,
    scale_a: Value,
    scale_b: Value,
    bias: Value = None,
    scale_result: Value = None,
    out_dtype: Any = None,
    use_fast_accum: Value = False,
) -> Ref:
    """In float32, scaled before they are multiplied, as PyTorch's kernel for processors does."""
    dtype: DType = out_dtype or calls.meta(self).dtype
    if dtype.bits == 8:
        raise calls.unsupported(f"a result of {dtype.torch_name}")  # which saturates, by a scale of its own
    scaled = [
        calls("aten.mul.Tensor", self=calls.cast(operand, dt.Float), other=scale)
        for operand, scale in ((self, scale_a), (mat2, scale_b))
    ]
    product = calls("aten.mm", self=scaled[0], mat2=scaled[1])
    if bias is not None:
        product = calls("aten.add.Tensor", self=product, other=calls.cast(bias, dt.Float))
    return calls.cast(product, dtype)


@ATEN.of("_scaled_grouped_mm")
def scaled_grouped_mm(
    calls: Calls,
    self: Value,
    mat2: Value,
    scale_a: Value,
    scale_b: Value,
    offs: Value = None,
    bias: Value = None,
    scale_result: Value = None,
    out_dtype: Any = None,
    use_fast_accum: Value = False,
) -> Ref:
    """Of rows in groups, a scale a row and, of each group's matrix, a column. PyTorch has no kernel for processors."""
    if len(calls.meta(self).sizes) != 2 or len(calls.meta(mat2).sizes) != 3 or bias is not None:
        raise calls.unsupported("but of rows and a matrix a group, without bias")
    scales = (scale_a, -1), (scale_b, -2)
    scaled = [
        calls("aten.mul.Tensor", self=calls.cast(operand, dt.Float), other=calls("aten.unsqueeze", self=scale, dim=dim))
        for operand, (scale, dim) in zip((self, mat2), scales, strict=True)
    ]  # fmt: skip
    return calls.cast(
        calls("aten._grouped_mm", self=scaled[0], mat2=scaled[1], offs=offs), out_dtype or dt.BFloat16
    )


_FAKE = "_fake_quantize_learnable_per_"


@ATEN.of(f"{_FAKE}tensor_affine", f"{_FAKE}channel_affine")
def fake_quantize_learnable(
    calls: Calls, self: Value, scale: Value, zero_point: Value, *others: Any, **named: Any
) -> Ref:
    """Of zero points that are floats, and those nearest to them between the bounds (`FakeQuantizeCore`)."""
    by_channel = calls.node.target.endswith("channel_affine")
    names = ("axis",) * by_channel + ("quant_min", "quant_max", "grad_factor")
    bounds = dict(zip(names, others, strict=False)) | named
    bounds.pop("grad_factor", None)
    point = calls(
        "aten.clamp",
        self=calls("aten.round", self=zero_point),
        min=bounds["quant_min"],
        max=bounds["quant_max"],
    )
    kind = "channel_affine" if by_channel else "tensor_affine.tensor_qparams"
    point = calls.cast(point, dt.Int)
    return calls(f"aten.fake_quantize_per_{kind}", self=self, scale=scale, zero_point=point, **bounds)


@ATEN.of("_weight_norm_interface")
def weight_norm_interface(calls: Calls, v: Value, g: Value, dim: int = 0) -> tuple[Ref, Ref]:
    others = [other for other in range(len(calls.meta(v).sizes)) if other != dim]
    norm = calls("aten.linalg_vector_norm", self=v, dim=tuple(others), keepdim=True)
    ratio = calls("aten.div.Tensor", self=g, other=norm)
    return calls("aten.mul.Tensor", self=v, other=ratio), norm
