"""Out-variants: operators that write their results to tensors that they are given, by PyTorch's names, which ExecuTorch has.

Most are named by a rule: `aten.relu.out` of `aten.relu`, `aten.add.out` of `aten.add.Tensor`, `aten.amax.out`, `aten.pow.Tensor_Scalar_out`. Here
stand those that are not, and what has none. (`test/transforms/test_out_variants.py` compares all with PyTorch.)
"""

from __future__ import annotations

from xdsl_exir.dialects.spec import OperatorSpec

_TENSOR_OUT = """
    rsub remainder fmod clamp clamp_min clamp_max eq ne lt le gt ge bitwise_and bitwise_or
    bitwise_xor bitwise_left_shift bitwise_right_shift __lshift__ __rshift__ masked_fill lerp fill
    clip greater greater_equal less less_equal not_equal slice_copy repeat_interleave index
    searchsorted bucketize bernoulli
"""
TENSOR_OUT = frozenset(_TENSOR_OUT.split())
"""Operators of `aten` whose overload `Tensor` has the out-variant `Tensor_out`."""
_GRADIENTS = """
    sigmoid_backward tanh_backward threshold_backward gelu_backward elu_backward leaky_relu_backward
    hardtanh_backward hardsigmoid_backward hardshrink_backward softshrink_backward softplus_backward
    log_sigmoid_backward silu_backward glu_backward logit_backward mse_loss_backward
    smooth_l1_loss_backward soft_margin_loss_backward binary_cross_entropy_backward
    nll_loss_backward nll_loss2d_backward avg_pool2d_backward avg_pool3d_backward
    max_pool2d_with_indices_backward max_pool3d_with_indices_backward adaptive_max_pool2d_backward
    adaptive_max_pool3d_backward fractional_max_pool2d_backward fractional_max_pool3d_backward
    upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward
    _upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward
    _upsample_nearest_exact3d_backward upsample_linear1d_backward upsample_bilinear2d_backward
    upsample_trilinear3d_backward upsample_bicubic2d_backward reflection_pad1d_backward
    reflection_pad2d_backward reflection_pad3d_backward replication_pad1d_backward
    replication_pad2d_backward replication_pad3d_backward
"""
GRADIENTS = frozenset(_GRADIENTS.split())
"""Gradients, whose out-variants are called `grad_input`, as what they write to is."""
COPIES: dict[str, str] = {
    "alias": "out",
    "detach": "out",
    "lift_fresh": "out",
    "_conj": "out",
    "view_as_real": "out",
    "view_as_complex": "out",
    "view": "out",
    "permute": "out",
    "transpose.int": "int_out",
    "t": "out",
    "unsqueeze": "out",
    "squeeze": "out",
    "squeeze.dim": "dim_out",
    "squeeze.dims": "dims_out",
    "expand": "out",
    "view.dtype": "dtype_out",
    "_neg_view": "out",
    "slice.Tensor": "Tensor_out",
    "select.int": "int_out",
    "narrow": "out",
    "diagonal": "out",
    "unfold": "out",
    "as_strided": "out",
}
"""Views, of which their copies (`view_copy`) have an out-variant, by its overload."""
OTHERS = {
    name: (overload, tuple(outs))
    for name, overload, *outs in (
        line.split()
        for line in """
    div.Tensor_mode out_mode out
    xlogy.Tensor OutTensor out
    divide.Tensor_mode out_mode out
    xlogy.Scalar_Other OutScalar_Other out
    xlogy.Scalar_Self OutScalar_Self out
    frexp.Tensor Tensor_out mantissa exponent
    sum.dim_IntList IntList_out out
    mean.dim out out
    mean dtype_out out
    prod.dim_int int_out out
    aminmax out min max
    max unary_out out
    min unary_out out
    max.dim dim_max max max_values
    min.dim dim_min min min_indices
    max.other out out
    min.other out out
    any all_out out
    any.dim out out
    all all_out out
    all.dim out out
    var.dim out out
    std.dim out out
    norm.ScalarOpt_dim out out
    cummax out values indices
    cummin out values indices
    median.dim dim_values values indices
    nanmedian.dim dim_values values indices
    mode values values indices
    histogram.bin_ct bin_ct_out hist bin_edges
    histogram.bins_tensor bins_tensor_out hist bin_edges
    linalg_cholesky_ex L L info
    linalg_inv_ex inverse inverse info
    _linalg_solve_ex result result LU pivots info
    linalg_lu out P L U
    linalg_lu_factor_ex out LU pivots info
    lu_unpack out P L U
    linalg_eig out eigenvalues eigenvectors
    frobenius_norm.dim out out
    linalg_qr out Q R
    _linalg_svd U U S Vh
    _linalg_eigh eigenvalues eigenvalues eigenvectors
    _linalg_det result result LU pivots
    _linalg_slogdet sign sign logabsdet LU pivots
    triangular_solve X X M
    geqrf a a tau
    linalg_ldl_factor_ex out LD pivots info
    linalg_solve_ex out result info
    linalg_lu_factor out LU pivots
    linalg_ldl_factor out LD pivots
    linalg_svd U U S Vh
    svd U U S V
    linalg_eigh eigvals eigvals eigvecs
    linalg_slogdet out sign logabsdet
    slogdet out sign logabsdet
    qr Q Q R
    linalg_matrix_rank.tol_tensor out_tol_tensor out
    linalg_pinv.rcond_tensor out_rcond_tensor out
    max_pool2d_with_indices out out indices
    max_pool3d_with_indices out out indices
    adaptive_max_pool2d out out indices
    adaptive_max_pool3d out out indices
    fractional_max_pool2d output output indices
    fractional_max_pool3d output output indices
    _native_batch_norm_legit.no_stats no_stats_out out save_mean save_invstd
    native_batch_norm out out save_mean save_invstd
    nll_loss_forward output output total_weight
    nll_loss2d_forward output output total_weight
    huber_loss_backward out grad_input
    _softmax_backward_data out grad_input
    topk values values indices
    sort values values indices
    sort.stable values_stable values indices
    kthvalue values values indices
    arange.start_step start_out out
    empty.memory_format out out
    range.step out out
    bernoulli.p float_out out
    """.strip().splitlines()
    )
}
"""Out-variants of other names, with the arguments that they write to."""
_WITHOUT = """
    _grouped_mm
    isfinite __and__.Tensor __or__.Tensor __xor__.Tensor __and__.Scalar __or__.Scalar __xor__.Scalar
    where.ScalarOther where.ScalarSelf where.Scalar to.dtype to.dtype_layout to.device to.other
    type_as contiguous real conj divide.Scalar divide.Scalar_mode true_divide.Scalar subtract.Scalar
    multiply.Scalar isclose isreal resolve_conj resolve_neg imag positive relu6 selu prelu
    _prelu_kernel rrelu_with_noise_functional rrelu mish_backward _prelu_kernel_backward var std
    std_mean std_mean.dim var_mean var_mean.dim sum_to_size trapezoid.x trapezoid.dx trapz.x
    trapz.dx cumulative_trapezoid.x cumulative_trapezoid.dx einsum bilinear _lu_with_info
    _linalg_eigvals det logdet matrix_exp pinverse linalg_diagonal linalg_vander cdist pdist vander
    fft_fftshift fft_ifftshift stft istft conv1d conv2d conv3d conv1d.padding conv2d.padding
    conv3d.padding conv_transpose1d conv_transpose2d.input conv_transpose3d.input max_pool1d
    max_pool2d max_pool3d adaptive_max_pool1d max_pool1d_with_indices upsample_nearest1d.vec
    upsample_nearest3d.vec _upsample_nearest_exact1d.vec _upsample_nearest_exact2d.vec
    _upsample_nearest_exact3d.vec upsample_linear1d.vec upsample_trilinear3d.vec
    upsample_bicubic2d.vec grid_sampler _upsample_bilinear2d_aa.vec _upsample_bicubic2d_aa.vec
    _upsample_lanczos2d_aa.vec batch_norm _native_batch_norm_legit_functional
    _batch_norm_with_update_functional layer_norm group_norm instance_norm rms_norm _fused_rms_norm
    _safe_softmax special_softmax special_log_softmax _weight_norm norm_except_dim
    scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu lstm.input gru.input
    rnn_tanh.input rnn_relu.input lstm.data gru.data rnn_tanh.data rnn_relu.data lstm_cell gru_cell
    rnn_tanh_cell rnn_relu_cell cross_entropy_loss nll_loss_nd l1_loss kl_div poisson_nll_loss
    hinge_embedding_loss margin_ranking_loss triplet_margin_loss cosine_embedding_loss
    cosine_similarity pairwise_distance _scaled_dot_product_flash_attention_for_cpu_backward reshape
    numpy_T mT swapaxes swapdims movedim.int movedim.intlist moveaxis.int moveaxis.intlist expand_as
    broadcast_to flatten.using_ints ravel unflatten.int view_as reshape_as fliplr flipud atleast_1d
    atleast_2d atleast_3d mH adjoint matrix_H diagflat native_channel_shuffle narrow.Tensor
    repeat_interleave.self_int repeat_interleave.self_Tensor tile pad pad_sequence argsort one_hot
    embedding_bag embedding_bag.padding_idx _unsafe_index.Tensor _unsafe_index_put
    _unsafe_masked_index _unsafe_masked_index_put_accumulate argwhere arange.start cartesian_prod
    combinations normal_functional dropout feature_dropout alpha_dropout feature_alpha_dropout
    fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine.tensor_qparams
    fake_quantize_per_channel_affine
"""
WITHOUT = frozenset(_WITHOUT.split())
"""Operators of `aten` that have none."""


def out_variant(spec: OperatorSpec) -> str | None:
    """The out-variant of an operator, by qualified name; None where it has none."""
    namespace, _, name = spec.qualified_name.partition(".")
    base, _, overload = name.partition(".")
    returns = spec.schema.returns
    if not returns or any(ret.type.is_list or not ret.type.is_tensor for ret in returns):
        return None
    by_rule = f"{namespace}.{base}.{'out' if overload in ('', 'Tensor') else f'{overload}_out'}"
    if namespace != "aten":
        return by_rule
    if name in WITHOUT:
        return None
    if name in COPIES:
        return f"aten.{base}_copy.{COPIES[name]}"
    if name in OTHERS:
        return f"aten.{base}.{OTHERS[name][0]}"
    if name in GRADIENTS:
        return f"aten.{base}.grad_input"
    return f"aten.{base}.Tensor_out" if overload == "Tensor" and base in TENSOR_OUT else by_rule


def out_names(spec: OperatorSpec) -> tuple[str, ...]:
    """The arguments that the out-variant of an operator writes to."""
    namespace, _, name = spec.qualified_name.partition(".")
    if namespace == "aten" and name in OTHERS:
        return OTHERS[name][1]
    if namespace == "aten" and name in GRADIENTS:
        return ("grad_input",)
    count = len(spec.schema.returns)
    return ("out",) if count == 1 else tuple(f"out{index}" for index in range(count))
