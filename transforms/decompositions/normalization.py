"""Decompositions of normalizations and softmax: the user's operator becomes the native one.

Only RMS norm is written out, as PyTorch does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, cast, meta, opmath, sizes
from xdsl_exir.dialects.dtypes import Byte, Double, DType
from xdsl_exir.transforms.decompositions import decomposition, other_names
from xdsl_exir.transforms.decompositions.matmul import laid_flat
from xdsl_exir.transforms.decompositions.view import Sizes

other_names(
    {
        "layer_norm": ("native_layer_norm", 0),
    }
)


# --- batch norm ----------------------------------------------------------------------------------------------


@decomposition("aten.batch_norm")
def batch_norm(
    aten: Namespace,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue | None,
    running_var: SSAValue | None,
    training: bool,
    momentum: float,
    eps: float,
) -> SSAValue:
    if 0 in meta(input).shape:
        return aten.clone(input)
    operands = input, weight, bias, running_mean, running_var
    return aten.native_batch_norm(*operands, training, momentum, eps)[0]


@decomposition("aten.native_batch_norm")
def native_batch_norm(
    aten: Namespace,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue | None,
    running_var: SSAValue | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[SSAValue, SSAValue, SSAValue]:
    statistics = running_mean, running_var
    if not training:
        return aten._native_batch_norm_legit_no_training(input, weight, bias, *statistics, momentum, eps)
    if running_mean is None:
        return aten._native_batch_norm_legit.no_stats(input, weight, bias, True, momentum, eps)
    return aten._native_batch_norm_legit_functional(input, weight, bias, *statistics, True, momentum, eps)[:3]


@decomposition("aten._batch_norm_with_update_functional")
def batch_norm_with_update(
    aten: Namespace,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue,
    running_var: SSAValue,
    momentum: float,
    eps: float,
) -> tuple[SSAValue, ...]:
    """The fourth result is scratch memory, of which CPUs need none."""
    statistics = running_mean, running_var
    results = aten._native_batch_norm_legit_functional(input, weight, bias, *statistics, True, momentum, eps)
    return *results[:3], aten.full([0], 0, dtype=Byte), *results[3:]


@decomposition("aten.instance_norm")
def instance_norm(
    aten: Namespace,
    input: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue | None,
    running_var: SSAValue | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> SSAValue:
    """Batch norm of one sample whose channels are those of all samples."""
    flat, *of_channels = one_sample(aten, input, weight, bias, running_mean, running_var)
    result = aten.batch_norm(flat, *of_channels, use_input_stats, momentum, eps, False)
    return aten.view(result, sizes(aten, input))


def one_sample(aten: Namespace, input: SSAValue, *of_channels: SSAValue | None) -> Iterator[SSAValue | None]:
    """All samples as one that has the channels of all, and what there is for each channel for each of these."""
    samples = sizes(aten, input)[0]
    yield aten.unsqueeze(laid_flat(aten, input, 2), 0)
    for each in of_channels:
        yield None if each is None else aten.repeat(each, [samples])


# --- layer, group and RMS norm -------------------------------------------------------------------------------


@decomposition("aten.group_norm")
def group_norm(
    aten: Namespace,
    input: SSAValue,
    num_groups: int,
    weight: SSAValue | None,
    bias: SSAValue | None,
    eps: float,
) -> SSAValue:
    samples, channels, *_ = sizes(aten, input)
    positions = Sizes(aten, input).flat(meta(input).shape[2:])
    return aten.native_group_norm(input, weight, bias, samples, channels, positions, num_groups, eps)[0]


EPSILON = {Double: math.ulp(1.0)}
"""Distance of 1 to the next number, by dtype; of float32 where there is no entry."""

FLOAT_EPSILON = 2.0**-23


@decomposition("aten._fused_rms_norm")
def fused_rms_norm(
    aten: Namespace,
    input: SSAValue,
    normalized_shape: Sequence[int],
    weight: SSAValue | None,
    eps: float | None,
) -> tuple[SSAValue, SSAValue]:
    """`x / sqrt(mean(x ** 2) + eps) * weight`, and the factor before the weight."""
    dtype = meta(input).dtype
    x = cast(aten, input, opmath(dtype))
    rank = meta(input).ndim
    dims = [rank - 1 - dim for dim in range(len(normalized_shape))]
    mean = aten.mean.dim(aten.pow.Tensor_Scalar(x, 2), dims, True)
    if eps is None:
        eps = EPSILON.get(dtype, FLOAT_EPSILON)
    rstd = aten.rsqrt(aten.add.Scalar(mean, eps))
    result = aten.mul.Tensor(x, rstd)
    if weight is not None:
        result = aten.mul.Tensor(result, weight)
    return cast(aten, result, dtype), rstd


@decomposition("aten.rms_norm")
def rms_norm(
    aten: Namespace,
    input: SSAValue,
    normalized_shape: Sequence[int],
    weight: SSAValue | None,
    eps: float | None,
) -> SSAValue:
    return fused_rms_norm(aten, input, normalized_shape, weight, eps)[0]


# --- softmax -------------------------------------------------------------------------------------------------


@decomposition("aten.softmax.int", "aten.special_softmax")
def softmax(aten: Namespace, self: SSAValue, dim: int, dtype: DType | None) -> SSAValue:
    return aten._softmax(cast(aten, self, dtype or meta(self).dtype), dim, False)


@decomposition("aten.log_softmax.int", "aten.special_log_softmax")
def log_softmax(aten: Namespace, self: SSAValue, dim: int, dtype: DType | None) -> SSAValue:
    return aten._log_softmax(cast(aten, self, dtype or meta(self).dtype), dim, False)


@decomposition("aten._safe_softmax")
def safe_softmax(aten: Namespace, self: SSAValue, dim: int, dtype: DType | None) -> SSAValue:
    """Softmax that is 0, not NaN, where all is masked out with minus infinity."""
    probabilities = softmax(aten, self, dim, dtype)
    masked_out = aten.eq.Scalar(self, -math.inf)
    nothing_left = aten.logical_not(aten.any.dim(aten.logical_not(masked_out), dim, True))
    return aten.where.self(nothing_left, aten.full_like(probabilities, 0), probabilities)


# --- weight norm ---------------------------------------------------------------------------------------------


@decomposition("aten.norm_except_dim")
def norm_except_dim(aten: Namespace, v: SSAValue, pow: int, dim: int) -> SSAValue:
    """The norm of all elements of an index of one dimension; of the whole if that is -1."""
    if dim == -1:
        return aten.linalg_vector_norm(v, pow)
    return aten.linalg_vector_norm(v, pow, [i for i in range(meta(v).ndim) if i != dim], True)


@decomposition("aten._weight_norm")
def weight_norm(aten: Namespace, v: SSAValue, g: SSAValue, dim: int) -> SSAValue:
    return aten.mul.Tensor(v, aten.div.Tensor(g, aten.norm_except_dim(v, 2, dim)))
