"""`prims`, which PyTorch's own decompositions end in: operators without promotion and broadcasting, whose views are views."""

from __future__ import annotations

from typing import Any

from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.exchange.graph import Ref, Value
from xdsl_exir.importers.synonyms.calls import Calls, Table

PRIMS = Table("prims")

UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_not ceil conj_physical cos cosh digamma erf erfc exp exp2 expm1 floor isfinite lgamma "
    "log log10 log1p log2 neg reciprocal round rsqrt sign sin sinh sqrt tan tanh trunc erf_inv=erfinv ndtri=special_ndtri "
    "bessel_i0=i0 bessel_i0e=special_i0e bessel_i1=special_i1 bessel_i1e=special_i1e bessel_j0=special_bessel_j0 "
    "bessel_j1=special_bessel_j1 erfcx=special_erfcx frexp=frexp.Tensor real imag"
)
BINARY = (
    "add=add.Tensor atan2 bitwise_and=bitwise_and.Tensor bitwise_or=bitwise_or.Tensor bitwise_xor=bitwise_xor.Tensor eq=eq.Tensor "
    "fmax fmin fmod=fmod.Tensor gcd ge=ge.Tensor gt=gt.Tensor hypot igamma igammac le=le.Tensor lt=lt.Tensor maximum minimum mul=mul.Tensor "
    "ne=ne.Tensor nextafter remainder=remainder.Tensor shift_left=bitwise_left_shift.Tensor "
    "shift_right_arithmetic=bitwise_right_shift.Tensor sub=sub.Tensor zeta=special_zeta"
)
for _operators, _arguments in ((UNARY, "self"), (BINARY, "self other")):
    for _name, _, _other in (operator.partition("=") for operator in _operators.split()):
        PRIMS.renamed(_name, f"aten.{_other or _name}", _arguments)

_CREATION = "dtype device requires_grad="
for _name, _target, _arguments in (
    ("spherical_bessel_j0", "special_spherical_bessel_j0", "self=x"),
    ("pow", "pow.Tensor_Tensor", "self other=exponent"),
    ("as_strided", "as_strided", "a=self size stride storage_offset"),
    ("as_strided_scatter", "as_strided_scatter", "self src size stride storage_offset"),
    ("cat", "cat", "tensors dim"),
    ("clone", "clone", "self memory_format"),
    ("collapse_view", "flatten.using_ints", "a=self start=start_dim end=end_dim"),
    ("conj", "_conj", "a=self"),
    ("convert_element_type", "_to_copy", "a=self dtype"),
    ("copy_strided", "clone", "a=self stride="),
    ("copy_to", "copy_", "a=self b=src"),
    ("device_put", "_to_copy", "a=self device non_blocking"),
    ("empty", "empty.memory_format", f"shape=size {_CREATION}"),
    ("empty_permuted", "empty_permuted", f"shape=size physical_layout {_CREATION}"),
    ("empty_strided", "empty_strided", f"shape=size strides=stride {_CREATION}"),
    ("fill", "fill.Scalar", "self value"),
    ("full", "full", f"shape=size fill_value {_CREATION}"),
    ("full_like", "full_like", f"a=self fill_value {_CREATION}"),
    ("item", "item", "a=self"),
    ("normal", "normal.float_float", f"shape=size mean std {_CREATION} generator="),
    ("resize", "resize_", "a=self shape=size"),
    ("rev", "flip", "a=self dims"),
    ("scalar_tensor", "scalar_tensor", "s dtype device"),
    ("squeeze", "squeeze.dims", "a=self dimensions=dim"),
    ("svd", "linalg_svd", "A full_matrices"),
    ("transpose", "permute", "a=self permutation=dims"),
    ("view_of", "alias", "a=self"),
    ("where", "where.self", "pred=condition a=self b=other"),
):
    PRIMS.renamed(_name, f"aten.{_target}", _arguments)
for _name in ("c2c", "c2r", "r2c"):
    PRIMS.renamed(
        f"fft_{_name}", f"aten._fft_{_name}", "self dim forward onesided last_dim_size", normalization=0
    )


@PRIMS.of("collapse")
def collapse(calls: Calls, a: Value, start: Value, end: Value) -> Ref:
    return _copy(calls, calls("aten.flatten.using_ints", self=a, start_dim=start, end_dim=end))


@PRIMS.of("reshape")
def reshape(calls: Calls, a: Value, shape: Value) -> Ref:
    return _copy(calls, calls("aten.reshape", self=a, shape=shape))


def _copy(calls: Calls, value: Ref) -> Ref:
    """Not a view, whatever made it."""
    return calls("aten.clone", self=value)


@PRIMS.of("split_dim")
def split_dim(calls: Calls, a: Value, dim: Value, outer_length: Value) -> Ref:
    return calls("aten.unflatten.int", self=a, dim=dim, sizes=(outer_length, -1))


@PRIMS.of("broadcast_in_dim")
def broadcast_in_dim(calls: Calls, a: Any, shape: Any, broadcast_dimensions: Any) -> Ref:
    for dim in range(len(shape)):
        if dim not in broadcast_dimensions:
            a = calls("aten.unsqueeze", self=a, dim=dim)
    return calls("aten.expand", self=a, size=shape)


@PRIMS.of("cbrt")
def cbrt(calls: Calls, self: Value) -> Ref:
    root = calls("aten.pow.Tensor_Scalar", self=calls("aten.abs", self=self), exponent=1 / 3)
    return calls("aten.copysign.Tensor", self=root, other=self)


@PRIMS.of("div")
def div(calls: Calls, self: Value, other: Value) -> Ref:
    """Integers have integers for quotients."""
    if calls.meta(self).dtype.category is Category.INT:
        return calls("aten.div.Tensor_mode", self=self, other=other, rounding_mode="trunc")
    return calls("aten.div.Tensor", self=self, other=other)


@PRIMS.of("iota")
def iota(
    calls: Calls, length: Value, start: Value, step: Value, dtype: Any, device: Value, **_: Value
) -> Ref:
    counted = calls("aten.arange", end=length, dtype=dtype, device=device)
    if step != 1:
        counted = calls("aten.mul.Scalar", self=counted, other=step)
    return calls("aten.add.Scalar", self=counted, other=start) if start != 0 else counted


def _cast(calls: Calls, value: Ref, dtype: DType | None) -> Ref:
    return value if dtype is None else calls.cast(value, dtype)


@PRIMS.of("amax", "amin")
def extremes(calls: Calls, inp: Value, dims: Any, output_dtype: Any = None) -> Ref:
    reduced = calls(calls.node.target.replace("prims", "aten"), self=inp, dim=dims or ())
    return _cast(calls, reduced, output_dtype)


@PRIMS.of("sum")
def sum(calls: Calls, inp: Value, dims: Any, output_dtype: Any = None) -> Ref:
    """In the dtype that the program says: sums of integers stay of theirs."""
    return calls("aten.sum.dim_IntList", self=inp, dim=dims, dtype=output_dtype or calls.dtypes[0])


@PRIMS.of("prod")
def prod(calls: Calls, inp: Any, dims: Any, output_dtype: Any = None) -> Ref:
    dtype = output_dtype or calls.dtypes[0]
    if dims is None:
        return calls("aten.prod", self=inp, dtype=dtype)
    for dim in sorted(dims, reverse=True):
        inp = calls("aten.prod.dim_int", self=inp, dim=dim, dtype=dtype)
    return _copy(calls, inp)


@PRIMS.of("var")
def var(calls: Calls, inp: Value, dims: Any, correction: Value = 1, output_dtype: Any = None) -> Ref:
    return _cast(calls, calls("aten.var.correction", self=inp, dim=dims, correction=correction), output_dtype)
