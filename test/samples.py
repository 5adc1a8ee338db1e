"""Valid calls of every operator in the spec, and operations made of them.

A call is written with tensor readings in place of tensors, so that the table needs no PyTorch:

    "aten.mm": call(f(2, 3), f(3, 4))

Operators that take what `default_call` gives them (most of the pointwise and reduction families) are not in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import edge
from xdsl_exir.dialects.arguments import ArgumentSlots
from xdsl_exir.dialects.builder import Builder
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp
from xdsl_exir.dialects.schema import Argument
from xdsl_exir.dialects.spec import OperatorSpec, specs
from xdsl_exir.dialects.tensors import SymIntType, TensorMeta, tensor_type
from xdsl_exir.importers import nodes

# --- notation ------------------------------------------------------------------------------------------------


def _tensors(dtype: DType) -> Callable[..., TensorMeta]:
    def tensor(*shape: int | str) -> TensorMeta:
        return TensorMeta(tuple(Expr.parse(size) if isinstance(size, str) else size for size in shape), dtype)

    return tensor


f, d, h, bf, c = map(_tensors, (dt.Float, dt.Double, dt.Half, dt.BFloat16, dt.ComplexFloat))
i, i32, i8, u8, b = map(_tensors, (dt.Long, dt.Int, dt.Char, dt.Byte, dt.Bool))
"""Tensor readings by dtype: `f(2, 3)` is a float32 one of two dimensions, `f("s0", 3)` one of symbolic size."""


@dataclass(frozen=True)
class Number:
    """A computed number: an operand of type `!exir.symint<expr>`."""

    expr: str


@dataclass(frozen=True)
class Call:
    """Arguments of an operator's call."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    results: tuple[Attribute, ...] | None = None
    """Result types, where they depend on data."""
    mixed: bool = False
    """Whether its operands promote to a dtype that not all of them have: edge has no such operation."""


def call(
    *args: Any, results: Sequence[TensorMeta | Attribute] | None = None, mixed: bool = False, **kwargs: Any
) -> Call:
    """A call; `results` and `mixed` as in `Call`."""
    types = (
        None if results is None else tuple(type_of(r) if isinstance(r, TensorMeta) else r for r in results)
    )
    return Call(args, kwargs, types, mixed)


def type_of(meta: TensorMeta) -> Attribute:
    return tensor_type(meta.shape, meta.dtype, meta.dim_order, meta.device)


# --- the table -----------------------------------------------------------------------------------------------

_U0 = SymIntType(Expr.parse("u0"))
_IMAGE, _LINE, _VOLUME = f(1, 4, 6, 6), f(1, 4, 8), f(1, 4, 4, 4, 4)
_ATTENTION = (f(12, 4), f(12), f(4, 4), f(4))
"""Weights and biases of a layer of attention: of queries, keys and values together, of what comes out."""
_FEED_FORWARD = (*[f(4)] * 4, f(6, 4), f(6), f(4, 6), f(4))
"""Those of the norms and of the feed-forward network after it."""
_HEADS = f(1, 2, 4, 8)
_STATS = (f(4), f(4), f(4), f(4))
_RNN, _GRU, _LSTM = ([f(n, 3), f(n, 4), f(n), f(n)] for n in (4, 12, 16))
"""Weights and biases of a cell with 3 inputs and a state of 4."""

_OF_SQUARES: tuple[str, ...] = (
    "linalg_lu_factor", "linalg_cholesky_ex", "linalg_cholesky", "cholesky", "cholesky_inverse", "linalg_inv_ex",
    "linalg_inv", "inverse", "linalg_ldl_factor_ex", "linalg_ldl_factor", "_linalg_eigh",
    "linalg_eigh", "linalg_eigvalsh", "linalg_eigvals", "_linalg_eigvals", "linalg_eig", "_lu_with_info", "_linalg_det",
    "_linalg_slogdet", "linalg_det", "det", "linalg_slogdet", "slogdet", "logdet",
    "linalg_matrix_exp", "matrix_exp",
)  # fmt: skip

CALLS: dict[str, tuple[Call, ...]] = {
    # pointwise
    "aten.add.Tensor": (
        call(f(2, 3), f(2, 3)),
        call(f(2, 3), d(3), alpha=2, mixed=True),
        call(f("s0", 3), f("s0", 3)),
        call(i(2, 3), 1.5, mixed=True),
    ),
    "aten.div.Tensor_mode": (call(f(2, 3), f(2, 3), rounding_mode="floor"),),
    "aten.div.Scalar_mode": (call(f(2, 3), 2, rounding_mode=None),),
    "aten.where.self": (call(b(2, 3), f(2, 3), f(2, 3)), call(b(3), f(2, 3), f())),
    "aten.where.ScalarOther": (call(b(2, 3), f(2, 3), 2),),
    "aten.where.ScalarSelf": (call(b(2, 3), 2, f(2, 3)),),
    "aten.where.Scalar": (call(b(2, 3), 1, 2),),
    "aten.masked_fill.Scalar": (call(f(2, 3), b(2, 3), 2),),
    "aten.masked_fill.Tensor": (call(f(2, 3), b(3), f()),),
    "aten.fill.Tensor": (call(f(2, 3), f()),),
    "aten.binary_cross_entropy_backward": (
        call(f(2, 3), f(2, 3), f(2, 3)),
        call(f(), f(2, 3), f(2, 3), f(2, 3)),
    ),
    "aten.hardtanh": (call(f(2, 3)), call(f(2, 3), 0, 2)),
    "aten.lerp.Tensor": (call(f(2, 3), f(2, 3), f(2, 3)), call(f(2, 3), f(2, 3), f())),
    "aten.prelu": (call(f(2, 3), f(3)),),
    "aten._prelu_kernel": (call(f(2, 3), f(1, 3)),),
    "aten.clip": (call(f(2, 3), 0),),
    "aten.clip.Tensor": (call(f(2, 3), f(3)),),
    "aten.divide.Tensor_mode": (call(f(2, 3), f(2, 3), rounding_mode="floor"),),
    "aten.divide.Scalar_mode": (call(f(2, 3), 2, rounding_mode=None),),
    "aten.gelu": (call(f(2, 3)), call(f(2, 3), approximate="tanh")),
    "aten.glu": (call(f(2, 4)),),
    "aten.clamp": (call(f(2, 3), 0), call(f(2, 3), None, 1.5)),
    "aten.clamp.Tensor": (call(f(2, 3), f(3)), call(f(2, 3), None, f(2, 3))),
    "aten.bitwise_and.Scalar": (call(i(2, 3), 3),),
    "aten.bitwise_or.Scalar": (call(i(2, 3), 3),),
    "aten.bitwise_xor.Scalar": (call(i(2, 3), 3),),
    "aten.__and__.Scalar": (call(i(2, 3), 3),),
    "aten.__or__.Scalar": (call(i(2, 3), 3),),
    "aten.__xor__.Scalar": (call(i(2, 3), 3),),
    "aten.__lshift__.Scalar": (call(i(2, 3), 3),),
    "aten.__rshift__.Scalar": (call(i(2, 3), 3),),
    "aten.bitwise_left_shift.Tensor_Scalar": (call(i(2, 3), 3),),
    "aten.bitwise_right_shift.Tensor_Scalar": (call(i(2, 3), 3),),
    "aten.bitwise_left_shift.Scalar_Tensor": (call(3, i(2, 3)),),
    "aten.bitwise_right_shift.Scalar_Tensor": (call(3, i(2, 3)),),
    "aten.bitwise_and.Scalar_Tensor": (call(3, i(2, 3)),),
    "aten.bitwise_or.Scalar_Tensor": (call(3, i(2, 3)),),
    "aten.bitwise_xor.Scalar_Tensor": (call(3, i(2, 3)),),
    "aten.remainder.Scalar_Tensor": (call(3, i(2, 3)),),
    "aten.to.device": (call(f(2, 3), "cpu", dt.Double),),
    "aten._to_copy": (call(f(2, 3)), call(f(2, 3), dtype=dt.Half)),
    "dim_order_ops._to_dim_order_copy": (call(f(2, 3, 4, 5), dtype=dt.Half, dim_order=[0, 2, 3, 1]),),
    "dim_order_ops._clone_dim_order": (call(f(2, 3, 4, 5), dim_order=[0, 2, 3, 1]),),
    "dim_order_ops._empty_dim_order": (call([2, 3, 4, 5], dim_order=[0, 2, 3, 1]),),
    "aten._conj": (call(c(2, 3)),),
    "aten.view_as_complex": (call(f(3, 2)),),
    # reduction
    "aten.amax": (call(f(2, 3)), call(f(2, 3), [1], True)),
    "aten.sum.dim_IntList": (call(f(2, 3), [1]), call(f("s0", 3), [-1], True, dtype=dt.Double)),
    "aten.norm.Scalar": (call(f(2, 3)),),
    "aten.norm.ScalarOpt_dim": (call(f(2, 3), 2, [1]),),
    "aten.special_logsumexp": (call(f(2, 3), [1]),),
    "aten.quantile": (call(f(2, 3), f(), 1),),
    "aten.sum_to_size": (call(f(2, 3), [3]),),
    "aten.histogram.bins_tensor": (call(f(2, 3), f(4)),),
    "aten.histogram.bin_ct": (call(f(2, 3), 4),),
    "aten._histogramdd_bin_edges": (call(f(5, 2), [2, 3]), call(f(5, 2), [2, 3], weight=f(5))),
    "aten._histogramdd_from_bin_cts": (call(f(5, 2), [2, 3]),),
    "aten._histogramdd_from_bin_tensors": (call(f(5, 2), [f(3), f(4)]),),
    "aten.bincount": (call(i(5), results=[i("u0")]), call(i(5), f(5), results=[f("u0")])),
    "aten.segment_reduce": (
        call(f(3, 2), "max", lengths=i(3)),
        call(f(2, 5), "sum", offsets=i(2, 4), axis=1),
    ),
    "aten.gradient.scalarint": (call(f(2, 3)), call(f(2, 3), spacing=2, dim=1)),
    "aten.gradient.scalararray": (call(f(2, 3), spacing=2, dim=[1]),),
    "aten.gradient.array": (call(f(2, 3), dim=[1, 0]),),
    "aten.gradient.scalarrayint": (call(f(2, 3), spacing=[2, 0.5]),),
    "aten.gradient.scalarrayarray": (call(f(2, 3), spacing=[2], dim=[1]),),
    "aten.gradient.tensorarrayint": (call(f(2, 3), spacing=[f(3)], dim=1),),
    "aten.gradient.tensorarray": (call(f(2, 3), spacing=[f(3)], dim=[1]),),
    "aten.nanquantile": (call(f(2, 3), f(), 1),),
    # matmul
    "aten.mm": (call(f(2, 3), f(3, 4)), call(f("s0", 3), f(3, "s1"))),
    "aten.bmm": (call(f(2, 3, 4), f(2, 4, 5)),),
    "aten._grouped_mm": (
        call(f(6, 4), f(3, 4, 8), TensorMeta((3,), dt.Int)),
        call(f(3, 4, 8), f(3, 8, 8)),
    ),
    "transformers.grouped_mm_fallback": (call(f(6, 4), f(3, 4, 8), i(3)),),
    "aten.addmm": (call(f(4), f(2, 3), f(3, 4)),),
    "aten.baddbmm": (call(f(2, 3, 5), f(2, 3, 4), f(2, 4, 5)),),
    "aten.addbmm": (call(f(3, 5), f(2, 3, 4), f(2, 4, 5)),),
    "aten.matmul": (call(f(2, 3), f(3, 4)), call(f(2, 3, 4), f(4))),
    "aten.linalg_matmul": (call(f(2, 3), f(3, 4)),),
    "aten.linear": (call(f(2, 3), f(4, 3)), call(f("s0", 5, 3), f(4, 3), f(4))),
    "aten.dot": (call(f(3), f(3)),),
    "aten.vdot": (call(f(3), f(3)),),
    "aten.mv": (call(f(2, 3), f(3)),),
    "aten.addmv": (call(f(2), f(2, 3), f(3)),),
    "aten.outer": (call(f(2), f(3)),),
    "aten.ger": (call(f(2), f(3)),),
    "aten.addr": (call(f(2, 3), f(2), f(3)),),
    "aten.einsum": (call("ij,jk->ik", [f(2, 3), f(3, 4)]),),
    "aten.chain_matmul": (call([f(2, 3), f(3, 4), f(4, 5)]),),
    "aten.tensordot": (call(f(2, 3), f(3, 4), [1], [0]),),
    # linear algebra
    "aten._linalg_solve_ex": (call(f(3, 3), f(3, 2)), call(f(2, 3, 3), f(2, 3))),
    "aten.linalg_solve_ex": (call(f(3, 3), f(3, 2)),),
    "aten.linalg_solve": (call(f(1, 1), f(1, 2)),),
    "aten.linalg_lu_solve": (call(f(3, 3), i32(3), f(3, 2)),),
    "aten.lu_solve": (call(f(3, 2), f(3, 3), i32(3)),),
    "aten.linalg_ldl_solve": (call(f(3, 3), i32(3), f(3, 2)),),
    "aten.orgqr": (call(f(3, 2), f(2)),),
    "aten.linalg_matrix_rank": (call(f(2, 3), 0.5),),
    "aten.linalg_matrix_rank.atol_rtol_float": (call(f(2, 3), rtol=0.5),),
    "aten.linalg_cond.p_str": (call(f(3, 3), "nuc"),),
    "aten.frobenius_norm.dim": (call(f(2, 3), [0, 1]),),
    "aten.nuclear_norm": (call(f(2, 3)),),
    "aten.nuclear_norm.dim": (call(f(2, 3, 4), [0, 1]),),
    "aten.lu_unpack": (call(f(2, 3), i32(2)),),
    "aten.linalg_lu": (call(f(2, 3)),),
    "aten.triangular_solve": (call(f(3, 2), f(3, 3)),),
    "aten.linalg_solve_triangular": (call(f(3, 3), f(3, 2), upper=True),),
    "aten.cholesky_solve": (call(f(3, 2), f(3, 3)),),
    "aten.linalg_householder_product": (call(f(3, 2), f(2)),),
    "aten.ormqr": (call(f(3, 2), f(2), f(3, 4)),),
    "aten._linalg_check_errors": (call(i32(), "linalg.inv", is_matrix=True),),
    "aten.linalg_tensorinv": (call(f(1, 1), 1),),
    "aten.linalg_tensorsolve": (call(f(1, 1), f(1)),),
    "aten.linalg_multi_dot": (call([f(2, 3), f(3, 4), f(4, 5)]),),
    "aten.linalg_norm": (call(f(2, 3)),),
    "aten.linalg_norm.ord_str": (call(f(2, 3), "fro"),),
    "aten.linalg_matrix_norm": (call(f(2, 3), 1),),
    "aten.linalg_matrix_rank.atol_rtol_tensor": (call(f(2, 3)), call(f(2, 3), atol=f(), rtol=f())),
    "aten.linalg_pinv.atol_rtol_tensor": (call(f(2, 3)), call(f(2, 3), atol=f(), rtol=f())),
    "aten.svd": (call(f(2, 3)),),
    "aten.cdist": (call(f(2, 3), f(4, 3)),),
    "aten._cdist_forward": (call(f(2, 3), f(4, 3), 2.0, None),),
    **{f"aten.{name}": (call(f(1, 1)),) for name in _OF_SQUARES},
    "aten.linalg_matrix_power": (call(f(3, 3), 2), call(f(3, 3), 0), call(f("s0", "s0"), 0)),
    "aten.matrix_power": (call(f(3, 3), 2), call(f(3, 3), 1)),
    # fft
    "aten._fft_r2c": (call(f(2, 6), [1], 0, True), call(f("s0", "s1"), [0, 1], 1, True)),
    "aten._fft_c2r": (call(c(2, 4), [1], 2, 6),),
    "aten._fft_c2c": (call(c(2, 4), [0, 1], 0, True),),
    **{
        f"aten.fft_{name}": (call((c if name.startswith(("hfft", "irfft")) else f)(4, 6)),)
        for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for name in (kind, f"{kind}2", f"{kind}n")
    },
    "aten.fft_fftfreq": (call(5),),
    "aten.fft_rfftfreq": (call(5),),
    "aten.stft": (call(f(2, 16), 4, return_complex=True),),
    "aten.istft": (call(c(3, 8), 4), call(c(3, 8), 4, window=f(4))),
    # convolution
    "aten.convolution": (
        call(_IMAGE, f(8, 4, 3, 3), f(8), [2, 2], [1, 1], [1, 1], False, [0, 0], 1),
        call(_IMAGE, f(4, 2, 3, 3), None, [2, 2], [1, 1], [1, 1], True, [1, 1], 2),
    ),
    "aten.conv1d": (call(_LINE, f(8, 4, 3)),),
    "aten.conv2d": (call(_IMAGE, f(8, 4, 3, 3), f(8), padding=1), call(_IMAGE, f(8, 2, 3, 3), groups=2)),
    "aten.conv3d": (call(_VOLUME, f(8, 4, 3, 3, 3)),),
    "aten.conv1d.padding": (call(_LINE, f(8, 4, 3), f(8), padding="same"),),
    "aten.conv2d.padding": (call(_IMAGE, f(8, 4, 3, 3), f(8)),),
    "aten.conv_transpose1d": (call(_LINE, f(4, 8, 3), f(8)),),
    "aten.conv_transpose2d.input": (call(_IMAGE, f(4, 8, 3, 3), f(8), stride=[2, 2]),),
    "aten.conv_transpose3d.input": (call(_VOLUME, f(4, 8, 3, 3, 3), f(8)),),
    # pooling
    "aten.max_pool1d": (call(_LINE, [2]),),
    "aten.max_pool2d": (call(_IMAGE, [2, 2]),),
    "aten.max_pool3d": (call(_VOLUME, [2, 2, 2]),),
    "aten.max_pool2d_with_indices": (call(_IMAGE, [3, 3], [2, 2], [1, 1]),),
    "aten.max_pool3d_with_indices": (call(_VOLUME, [2, 2, 2]),),
    "aten.avg_pool1d": (call(_LINE, [2]),),
    # gradients
    "aten.glu_backward": (call(f(2, 3), f(2, 6), 1),),
    "aten.nll_loss_backward": (call(f(), f(4, 3), i(4), f(3), 1, -100, f()),),
    "aten.nll_loss2d_backward": (call(f(1, 2, 2), f(1, 3, 2, 2), i(1, 2, 2), None, 0, -100, f()),),
    "aten._softmax_backward_data": (call(f(2, 3), f(2, 3), 1, dt.Float),),
    "aten._log_softmax_backward_data": (call(h(2, 3), h(2, 3), 1, dt.Half),),
    "aten.native_layer_norm_backward": (
        call(f(2, 3), f(2, 3), [3], f(2, 1), f(2, 1), f(3), f(3), [True, True, True]),
    ),
    "aten.native_group_norm_backward": (
        call(_IMAGE, _IMAGE, f(1, 2), f(1, 2), f(4), 1, 4, 36, 2, [True, True, True]),
    ),
    "aten.native_batch_norm_backward": (
        call(_IMAGE, _IMAGE, f(4), None, None, f(4), f(4), True, 1e-5, [True, True, True]),
        call(_IMAGE, _IMAGE, f(4), f(4), f(4), None, None, False, 1e-5, [True, False, True]),
    ),
    "aten._scaled_dot_product_flash_attention_for_cpu_backward": (
        call(*[_HEADS] * 5, f(1, 2, 4), 0.0, True),
    ),
    "aten.embedding_dense_backward": (call(f(2, 3), i(2), 5, -1, True),),
    "aten.convolution_backward": (
        call(f(1, 8, 3, 3), _IMAGE, f(8, 4, 3, 3), [8], [2, 2], [1, 1], [1, 1], False, [0, 0], 1, [True] * 3),
        call(
            f(1, 4, 12, 12),
            _IMAGE,
            f(4, 2, 3, 3),
            None,
            [2, 2],
            [1, 1],
            [1, 1],
            True,
            [1, 1],
            2,
            [True, True, False],
        ),
    ),
    "aten.avg_pool2d_backward": (call(f(1, 4, 3, 3), _IMAGE, [2, 2], [], [0, 0], False, True, None),),
    "aten.avg_pool3d_backward": (
        call(f(1, 4, 2, 2, 2), _VOLUME, [2, 2, 2], [], [0, 0, 0], False, True, None),
    ),
    "aten._adaptive_avg_pool2d_backward": (call(f(1, 4, 2, 3), _IMAGE),),
    "aten._adaptive_avg_pool3d_backward": (call(f(1, 4, 2, 3, 4), _VOLUME),),
    "aten.max_pool2d_with_indices_backward": (
        call(f(1, 4, 3, 3), _IMAGE, [2, 2], [], [0, 0], [1, 1], False, i(1, 4, 3, 3)),
    ),
    "aten.max_pool3d_with_indices_backward": (
        call(f(1, 4, 2, 2, 2), _VOLUME, [2, 2, 2], [], [0, 0, 0], [1, 1, 1], False, i(1, 4, 2, 2, 2)),
    ),
    **{
        f"aten.{name}_backward": (call(f(1, 4, 3, 3), _IMAGE, *sizes, i(1, 4, 3, 3)),)
        for name, sizes in (("adaptive_max_pool2d", []), ("fractional_max_pool2d", [[2, 2], [3, 3]]))
    },
    **{
        f"aten.{name}_backward": (call(f(1, 4, 2, 2, 2), _VOLUME, *sizes, i(1, 4, 2, 2, 2)),)
        for name, sizes in (("adaptive_max_pool3d", []), ("fractional_max_pool3d", [[2, 2, 2], [2, 2, 2]]))
    },
    **{
        f"aten.{name}{rank}d_backward": (call(f(1, 2, *[6] * rank), [6] * rank, [1, 2, *[3] * rank]),)
        for name in ("upsample_nearest", "_upsample_nearest_exact")
        for rank in (1, 2, 3)
    },
    **{
        f"aten.upsample_{name}{rank}d_backward": (
            call(f(1, 2, *[6] * rank), [6] * rank, [1, 2, *[3] * rank], False),
        )
        for name, rank in (("linear", 1), ("bilinear", 2), ("trilinear", 3), ("bicubic", 2))
    },
    **{
        f"aten.{name}_pad{rank}d_backward": (call(f(2, *[6] * rank), f(2, *[3] * rank), [1, 2] * rank),)
        for name in ("reflection", "replication")
        for rank in (1, 2, 3)
    },
    "aten.select_backward": (call(f(3), [2, 3], 0, 1),),
    "aten.slice_backward": (call(f(1, 3), [2, 3], 0, 0, 1, 1),),
    "aten.diagonal_backward": (call(f(2), [2, 3], 0, 0, 1),),
    "aten.unfold_backward": (call(f(2, 2), [3], 0, 2, 1),),
    "aten._cdist_backward": (call(f(2, 3), f(2, 4), f(3, 4), 2.0, f(2, 3)),),
    "aten.avg_pool2d": (call(_IMAGE, [2, 2], ceil_mode=True),),
    "aten.fractional_max_pool2d": (call(_IMAGE, [2, 2], [3, 4], f(1, 4, 2)),),
    "aten.fractional_max_pool3d": (call(_VOLUME, [2, 2, 2], [2, 2, 2], f(1, 4, 3)),),
    "aten.conv3d.padding": (call(_VOLUME, f(8, 4, 3, 3, 3), f(8), padding="same"),),
    "aten._batch_norm_with_update_functional": (call(_IMAGE, *_STATS, 0.1, 1e-5),),
    "aten._trilinear": (call(f(3, 4), f(2, 4, 5), f(3, 5), [1, 3], [0], [1, 2], [2, 3]),),
    "aten.bilinear": (call(f(3, 4), f(3, 5), f(2, 4, 5), f(2)),),
    "aten._upsample_bilinear2d_aa": (call(_IMAGE, [4, 9], False),),
    "aten._upsample_bilinear2d_aa.vec": (call(_IMAGE, None, False, [0.5, 1.5]),),
    "aten.avg_pool3d": (call(_VOLUME, [2, 2, 2]),),
    "aten.adaptive_avg_pool1d": (call(_LINE, [2]),),
    "aten.adaptive_avg_pool2d": (call(_IMAGE, [2, 2]), call(_IMAGE, [1, 1])),
    "aten.adaptive_avg_pool3d": (call(_VOLUME, [2, 2, 2]), call(_VOLUME, [1, 1, 1])),
    "aten._adaptive_avg_pool2d": (call(_IMAGE, [2, 2]),),
    "aten._adaptive_avg_pool3d": (call(_VOLUME, [2, 2, 2]),),
    "aten.adaptive_max_pool1d": (call(_LINE, [2]),),
    "aten.adaptive_max_pool2d": (call(_IMAGE, [2, 2]),),
    "aten.adaptive_max_pool3d": (call(_VOLUME, [2, 2, 2]),),
    "aten.upsample_nearest1d": (call(_LINE, [16]),),
    "aten.upsample_nearest2d": (call(_IMAGE, [12, 12]),),
    "aten.upsample_nearest2d.vec": (call(_IMAGE, [12, 12], None),),
    "aten.upsample_bilinear2d": (call(_IMAGE, [12, 12], False),),
    "aten.upsample_bilinear2d.vec": (call(_IMAGE, [12, 12], False, None),),
    "aten.max_pool1d_with_indices": (call(_LINE, [2]),),
    "aten.max_unpool2d": (call(_IMAGE, i(1, 4, 6, 6), [12, 12]),),
    "aten.max_unpool3d": (call(_VOLUME, i(1, 4, 4, 4, 4), [8, 8, 8], [2, 2, 2], [0, 0, 0]),),
    # resampling
    "aten.upsample_nearest1d.vec": (call(_LINE, [16], None),),
    "aten.upsample_nearest3d": (call(_VOLUME, [8, 8, 8]),),
    "aten.upsample_nearest3d.vec": (call(_VOLUME, [8, 8, 8], None),),
    "aten._upsample_nearest_exact1d": (call(_LINE, [16]),),
    "aten._upsample_nearest_exact1d.vec": (call(_LINE, [16], None),),
    "aten._upsample_nearest_exact2d": (call(_IMAGE, [12, 12]),),
    "aten._upsample_nearest_exact2d.vec": (call(_IMAGE, [12, 12], None),),
    "aten._upsample_nearest_exact3d": (call(_VOLUME, [8, 8, 8]),),
    "aten._upsample_nearest_exact3d.vec": (call(_VOLUME, [8, 8, 8], None),),
    "aten.upsample_linear1d": (call(_LINE, [16], False),),
    "aten.upsample_linear1d.vec": (call(_LINE, [16], False, None),),
    "aten.upsample_bicubic2d": (call(_IMAGE, [12, 12], False),),
    "aten.upsample_bicubic2d.vec": (call(_IMAGE, [12, 12], False, None),),
    "aten.upsample_trilinear3d": (call(_VOLUME, [8, 8, 8], False),),
    "aten.upsample_trilinear3d.vec": (call(_VOLUME, [8, 8, 8], False, None),),
    "aten.grid_sampler": (call(_IMAGE, f(1, 3, 3, 2), 0, 0, False),),
    "aten.affine_grid_generator": (call(f(2, 2, 3), [2, 1, 3, 4], False),),
    "aten.grid_sampler_2d": (call(_IMAGE, f(1, 3, 3, 2), 0, 0, False),),
    "aten.grid_sampler_3d": (call(_VOLUME, f(1, 3, 3, 3, 3), 0, 0, False),),
    # normalization
    "aten.batch_norm": (call(_IMAGE, *_STATS, False, 0.1, 1e-5, False),),
    "aten._native_batch_norm_legit_no_training": (call(_IMAGE, *_STATS, 0.1, 1e-5),),
    "aten._native_batch_norm_legit_functional": (call(_IMAGE, *_STATS, True, 0.1, 1e-5),),
    "aten._native_batch_norm_legit.no_stats": (call(_IMAGE, f(4), f(4), True, 0.1, 1e-5),),
    "aten.native_batch_norm": (call(_IMAGE, *_STATS, False, 0.1, 1e-5),),
    "aten.layer_norm": (call(f(2, 3), [3], f(3), f(3)), call(f(2, 3), [3])),
    "aten.native_layer_norm": (call(f(2, 3), [3], f(3), f(3), 1e-5),),
    "aten.group_norm": (call(_IMAGE, 2, f(4), f(4)),),
    "aten.native_group_norm": (call(_IMAGE, f(4), f(4), 1, 4, 36, 2, 1e-5),),
    "aten.instance_norm": (call(_IMAGE, *_STATS, False, 0.1, 1e-5, False),),
    "aten.rms_norm": (call(f(2, 3), [3], f(3)),),
    "aten._fused_rms_norm": (call(f(2, 3), [3], f(3), 1e-5),),
    # attention
    "aten.scaled_dot_product_attention": (call(_HEADS, _HEADS, _HEADS, f(4, 4)),),
    "aten._scaled_dot_product_flash_attention_for_cpu": (call(_HEADS, _HEADS, _HEADS),),
    "aten._native_multi_head_attention": (
        call(*[f(2, 3, 4)] * 3, 4, 2, *_ATTENTION),
        call(*[f(2, 3, 4)] * 3, 4, 2, *_ATTENTION, b(3, 3), mask_type=0),
    ),
    "aten._transformer_encoder_layer_fwd": (
        call(f(2, 3, 4), 4, 2, *_ATTENTION, True, False, 1e-5, *_FEED_FORWARD),
        call(f(2, 3, 4), 4, 2, *_ATTENTION, True, False, 1e-5, *_FEED_FORWARD, b(3, 3), 0),
    ),
    # recurrent
    "aten.lstm.input": (
        call(f(5, 2, 3), [f(1, 2, 4), f(1, 2, 4)], _LSTM, True, 1, 0.0, False, False, False),
    ),
    "aten.gru.input": (call(f(5, 2, 3), f(1, 2, 4), _GRU, True, 1, 0.0, False, False, False),),
    "aten.rnn_tanh.input": (call(f(5, 2, 3), f(1, 2, 4), _RNN, True, 1, 0.0, False, False, False),),
    "aten.rnn_relu.input": (call(f(5, 2, 3), f(1, 2, 4), _RNN, True, 1, 0.0, False, False, False),),
    "aten.lstm.data": (call(f(5, 3), i(5), [f(1, 1, 4), f(1, 1, 4)], _LSTM, True, 1, 0.0, False, False),),
    "aten.gru.data": (call(f(5, 3), i(5), f(1, 1, 4), _GRU, True, 1, 0.0, False, False),),
    "aten.rnn_tanh.data": (call(f(5, 3), i(5), f(1, 1, 4), _RNN, True, 1, 0.0, False, False),),
    "aten.rnn_relu.data": (call(f(5, 3), i(5), f(1, 1, 4), _RNN, True, 1, 0.0, False, False),),
    "aten.lstm_cell": (call(f(2, 3), [f(2, 4), f(2, 4)], *_LSTM),),
    "aten.gru_cell": (call(f(2, 3), f(2, 4), *_GRU),),
    "aten.rnn_tanh_cell": (call(f(2, 3), f(2, 4), *_RNN),),
    "aten.rnn_relu_cell": (call(f(2, 3), f(2, 4), *_RNN),),
    # loss
    "aten.cross_entropy_loss": (
        call(f(2, 3), i(2)),
        call(f(2, 3), f(2, 3), f(3)),
        call(f(2, "s0"), i(2), label_smoothing=0.3),
    ),
    "aten.multi_margin_loss": (
        call(f(2, 3), i(2)),
        call(f(2, 3), i(2), 2, 0.5, f(3), 0),
        call(f(2, "s0"), i(2)),
    ),
    "aten.multilabel_margin_loss": (call(f(2, 3), i(2, 3)), call(f("s0", "s1"), i("s0", "s1"), 0)),
    "torch_nn._linear_cross_entropy_batch_chunked": tuple(
        call(
            *(t(2, 3), t(4, 3), i(2), t(4), t(4), "mean", -100, 0.0, 1, "balanced", accumulator),
            *(True, True, True, True),
        )
        for t, accumulator in ((f, dt.Float), (d, dt.Double))
    ),
    "torch_nn._linear_cross_entropy_batch_chunked_no_reduction": tuple(
        call(t(2, 3), t(4, 3), i(2), t(4), t(4), -100, 1, "balanced", accumulator)
        for t, accumulator in ((f, dt.Float), (d, dt.Double))
    ),
    "aten.nll_loss": (call(f(2, 3), i(2)),),
    "aten.nll_loss_nd": (call(f(2, 3), i(2)),),
    "aten.nll_loss2d": (call(_IMAGE, i(1, 6, 6)),),
    "aten.nll_loss_forward": (call(f(2, 3), i(2), f(3), 1, -100),),
    "aten.binary_cross_entropy_with_logits": (call(f(2, 3), f(2, 3)), call(f(2, 3), f(2, 3), f(2, 3), f(3))),
    "aten.nll_loss2d_forward": (call(_IMAGE, i(1, 6, 6), None, 1, -100),),
    "aten.poisson_nll_loss": (call(f(2, 3), f(2, 3), True, False, 1e-8, 1),),
    "aten.cosine_embedding_loss": (call(f(2, 3), f(2, 3), f(2)),),
    # view
    "aten.view": (call(f(2, 3), [3, 2]), call(f("s0", 3), [Number("s0"), 1, 3])),
    "aten._unsafe_view": (call(f(2, 3), [6]),),
    "aten.reshape": (call(f(2, 3), [-1]),),
    "aten.view_copy": (call(f(2, 3), [3, 2]),),
    "aten.movedim.int": (call(f(2, 3), 0, 1),),
    "aten.moveaxis.int": (call(f(2, 3), 0, 1),),
    "aten.movedim.intlist": (call(f(2, 3), [0, 1], [1, 0]),),
    "aten.moveaxis.intlist": (call(f(2, 3), [0, 1], [1, 0]),),
    "aten.squeeze.dim": (call(f(2, 1, 3), 1),),
    "aten.squeeze.dims": (call(f(2, 1, 3), [1]),),
    "aten.expand": (call(f(1, 3), [2, 3]), call(f(3), [Number("s0"), -1])),
    "aten.expand_as": (call(f(3), f(2, 3)),),
    "aten.broadcast_to": (call(f(3), [2, 3]),),
    "aten.unflatten.int": (call(f(2, 6), 1, [2, 3]),),
    "aten.view_as": (call(f(2, 3), f(3, 2)),),
    "aten.reshape_as": (call(f(2, 3), f(3, 2)),),
    "aten.slice.Tensor": (
        call(f(4, 6), 1, 1, 5, 2),
        call(f("s0", 3), 0, 1),
        call(f("s0", 3), 0, None, Number("s0 - 1")),
    ),
    "aten.select.int": (call(f(2, 3), 1, 2),),
    "aten.narrow": (call(f(2, 3), 1, 0, 2),),
    "aten.narrow.Tensor": (call(f(2, 7), 1, i(), 1),),
    "aten.unsafe_split_with_sizes": (call(f(2, 6), [1, 2, 3], 1),),
    "aten.native_channel_shuffle": (call(_IMAGE, 2),),
    "aten.view_as_complex_copy": (call(f(3, 2)),),
    "aten._neg_view": (call(f(2, 3)),),
    "aten.range.step": (call(0, 5, 2),),
    "aten.conv_tbc": (call(f(4, 2, 3), f(2, 3, 5), f(5), 1),),
    "aten.embedding_renorm": (call(f(5, 3), i(2, 4), 0.5, 2.0),),
    "aten.vander": (call(f(3)), call(f(3), 2, True)),
    "aten.linalg_matrix_rank.tol_tensor": (call(f(2, 3), f()),),
    "aten.linalg_pinv.rcond_tensor": (call(f(2, 3), f()),),
    "aten._upsample_bicubic2d_aa": (call(_IMAGE, [4, 9], False),),
    "aten._upsample_bicubic2d_aa.vec": (call(_IMAGE, None, False, [0.5, 1.5]),),
    "aten._upsample_lanczos2d_aa": (call(_IMAGE, [4, 9], False),),
    "aten._upsample_lanczos2d_aa.vec": (call(_IMAGE, None, False, [0.5, 1.5]),),
    "aten.split.Tensor": (call(f(2, 6), 2, 1),),
    "aten.unsafe_split.Tensor": (call(f(2, 6), 2, 1),),
    "aten.split_with_sizes": (call(f(2, 6), [1, 2, 3], 1),),
    "aten.split.sizes": (call(f(2, 6), [1, 2, 3], 1),),
    "aten.split_with_sizes_copy": (call(f(2, 6), [1, 2, 3], 1),),
    "aten.chunk": (call(f(2, 6), 3, 1),),
    "aten.unsafe_chunk": (call(f(2, 6), 3, 1),),
    "aten.tensor_split.sections": (call(f(2, 7), 3, 1),),
    "aten.tensor_split.indices": (call(f(2, 7), [2, 3], 1),),
    "aten.tensor_split.tensor_indices_or_sections": (
        call(f(2, 7), i(1), 1, results=[f(2, "u0"), f(2, "u1")]),
    ),
    "aten._chunk_cat": (call([f(5, 3), f(2, 4)], 0, 2), call([f("s0", 3), f(2, 4)], 0, 2)),
    "aten.resize": (call(f(2, 3), [2, 2]),),
    "aten.cat": (call([f(2, 3), f(2, 4)], 1), call([f("s0", 3), f(2, 3)])),
    "aten.column_stack": (call([f(2), f(2, 3)]),),
    "aten.repeat": (call(f(2, 3), [2, 1]),),
    "aten.repeat_interleave.self_int": (call(f(2, 3), 2, 1),),
    "aten.repeat_interleave.Tensor": (call(i(3), results=[i("u0")]),),
    "aten.repeat_interleave.self_Tensor": (call(f(2, 3), i(3), 1, results=[f(2, "u0")]),),
    "aten.tile": (call(f(2, 3), [2, 1]),),
    "aten.roll": (call(f(2, 3), [1], [1]),),
    "aten.as_strided": (call(f(2, 3), [3, 2], [1, 3]),),
    "aten.as_strided_copy": (call(f(2, 3), [3, 2], [1, 3]),),
    "aten.constant_pad_nd": (call(f(2, 3), [1, 1]), call(f(2, 3), [1, 0, 0, 1], 1.5)),
    "aten.pad": (call(f(2, 3), [1, 1]),),
    "aten.reflection_pad1d": (call(_LINE, [1, 1]),),
    "aten.reflection_pad2d": (call(_IMAGE, [1, 1, 2, 2]),),
    "aten.reflection_pad3d": (call(_VOLUME, [1, 1, 1, 1, 1, 1]),),
    "aten.replication_pad1d": (call(_LINE, [1, 1]),),
    "aten.replication_pad2d": (call(_IMAGE, [1, 1, 2, 2]),),
    "aten.replication_pad3d": (call(_VOLUME, [1, 1, 1, 1, 1, 1]),),
    "aten.slice_scatter": (call(f(4, 6), f(4, 2), 1, 1, 3),),
    "aten.select_scatter": (call(f(2, 3), f(2), 1, 2),),
    "aten.diagonal_scatter": (call(f(2, 3), f(2)),),
    "aten.as_strided_scatter": (call(f(2, 3), f(3, 2), [3, 2], [1, 3]),),
    "aten.pixel_shuffle": (call(_IMAGE, 2),),
    "aten.pixel_unshuffle": (call(_IMAGE, 2),),
    "aten.channel_shuffle": (call(_IMAGE, 2),),
    "aten.meshgrid": (call([f(2), f(3)]),),
    "aten.meshgrid.indexing": (call([f(2), f(3)], indexing="xy"),),
    "aten.unfold": (call(f(2, 6), 1, 2, 2),),
    "aten.fliplr": (call(f(2, 3)),),
    "aten.view.dtype": (call(f(2, 4), dt.Int), call(f(2, 4), dt.Double)),
    "aten.view_copy.dtype": (call(f(2, 4), dt.Half),),
    "aten.expand_copy": (call(f(1, 3), [2, 3]),),
    "aten.narrow_copy": (call(f(2, 3), 1, 0, 2),),
    "aten.split_copy.Tensor": (call(f(2, 6), 2, 1),),
    "aten.unfold_copy": (call(f(2, 6), 1, 2, 2),),
    "aten.hsplit.int": (call(f(2, 6), 2),),
    "aten.hsplit.array": (call(f(2, 6), [1, 3]),),
    "aten.vsplit.int": (call(f(2, 6), 2),),
    "aten.vsplit.array": (call(f(2, 6), [1]),),
    "aten.dsplit.int": (call(f(2, 3, 4), 2),),
    "aten.dsplit.array": (call(f(2, 3, 4), [1, 3]),),
    "aten.im2col": (call(_IMAGE, [2, 2], [1, 1], [0, 0], [2, 2]),),
    "aten.col2im": (
        call(f(1, 16, 9), [6, 6], [2, 2], [1, 1], [0, 0], [2, 2]),
        call(f(2, 18, 15), [6, 5], [3, 3], [1, 1], [1, 1], [2, 1]),
        call(f(12, 9), [5, 7], [2, 3], [2, 1], [0, 0], [1, 2]),
        call(f(8, 6), [6, 6], [2, 4], [3, 1], [1, 0], [3, 1]),
    ),
    # indexing
    "aten.embedding": (call(f(5, 3), i(2, 4)),),
    "aten.embedding_bag": (call(f(5, 3), i(4), i(2)),),
    "aten._embedding_bag": (call(f(5, 3), i(4), i(2)),),
    "aten._embedding_bag_forward_only": (call(f(5, 3), i(4), i(2)),),
    "aten.embedding_bag.padding_idx": (call(f(5, 3), i(4), i(2), False, 0, False, None, False, 1),),
    "aten.index_select": (call(f(2, 3), 1, i(4)),),
    "aten.gather": (call(f(2, 3), 1, i(2, 2)),),
    "aten.index.Tensor": (call(f(2, 3), [i(4)]), call(f(2, 3), [None, i(4)])),
    "aten.index_put": (call(f(2, 3), [i(4)], f(4, 3)), call(f(2, 3), [None, i(4)], f(2, 4), True)),
    "aten.scatter.src": (call(f(2, 3), 1, i(2, 2), f(2, 2)),),
    "aten.scatter.value": (call(f(2, 3), 1, i(2, 2), 2),),
    "aten.scatter.reduce": (call(f(2, 3), 1, i(2, 2), f(2, 2), reduce="add"),),
    "aten.scatter.value_reduce": (call(f(2, 3), 1, i(2, 2), 2, reduce="add"),),
    "aten.scatter_add": (call(f(2, 3), 1, i(2, 2), f(2, 2)),),
    "aten.scatter_reduce.two": (call(f(2, 3), 1, i(2, 2), f(2, 2), "sum"),),
    "aten.take_along_dim": (call(f(2, 3), i(2, 2), 1),),
    "aten.take": (call(f(2, 3), i(4)),),
    "aten.put": (call(f(2, 3), i(4), f(4)),),
    "aten.topk": (call(f(2, 3), 2),),
    "aten.sort.stable": (call(f(2, 3), stable=True),),
    "aten.one_hot": (call(i(3), 5),),
    "aten.masked_select": (call(f(2, 3), b(2, 3), results=[f("u0")]),),
    "aten.nonzero": (call(f(2, 3), results=[i("u0", 2)]),),
    "aten.index_fill.int_Scalar": (call(f(2, 3), 1, i(2), 2),),
    "aten.index_fill.int_Tensor": (call(f(2, 3), 1, i(2), f()),),
    "aten.index_add": (call(f(2, 3), 1, i(2), f(2, 2)),),
    "aten.index_copy": (call(f(2, 3), 1, i(2), f(2, 2)),),
    "aten.searchsorted.Tensor": (call(f(5), f(2, 3)),),
    "aten.bucketize.Tensor": (call(f(2, 3), f(5)),),
    "aten.masked_scatter": (call(f(2, 3), b(2, 3), f(6)),),
    "aten.index_reduce": (call(f(2, 3), 1, i(2), f(2, 2), "amax"),),
    "aten._unsafe_index.Tensor": (call(f(2, 3), [i(4)]),),
    "aten._unsafe_index_put": (call(f(2, 3), [i(4)], f(4, 3)),),
    "aten._unsafe_masked_index": (
        call(f(2, 3), b(4), [i(4), i(4)], 2),
        call(f("s0", 3), b(4), [i(4), i(4)], 2),
    ),
    "aten._unsafe_masked_index_put_accumulate": (
        call(f(2, 3), b(4), [i(4), i(4)], f(4)),
        call(f("s0", 3), b(4), [i(4), i(4)], f(4)),
    ),
    "aten.searchsorted.Scalar": (call(f(5), 2),),
    "aten.bucketize.Scalar": (call(2, f(5)),),
    "aten.nonzero_static": (call(f(2, 3), size=4),),
    "aten.unique_dim": (call(f(2, 3), 1, results=[f(2, "u0"), i(3), i("u0")]),),
    "aten.isin.Tensor_Tensor": (call(f(2, 3), f(4)), call(i(2, 3), i(40), invert=True)),
    "aten.argwhere": (call(f(2, 3), results=[i("u0", 2)]),),
    "aten.where": (call(f(2, 3), results=[i("u0"), i("u0")]),),
    "aten.nonzero_numpy": (call(f(2, 3), results=[i("u0"), i("u0")]),),
    "aten._unique2": (call(f(2, 3), results=[f("u0"), i(0), i(0)]),),
    "aten.unique_consecutive": (call(f(2, 3), results=[f("u0"), i(0), i(0)]),),
    # creation
    "aten.arange": (call(5),),
    "aten.arange.start": (call(1, 5),),
    "aten.arange.start_step": (call(1, 5, 2), call(0, Number("s0"))),
    "aten.full": (call([2, 3], 1.5), call([Number("s0"), 3], True, dtype=dt.Float)),
    "aten.empty_strided": (call([2, 3], [3, 1]),),
    "aten.empty_permuted": (call([2, 3], [0, 1]),),
    "aten.new_zeros": (call(f(2, 3), [4]),),
    "aten.new_ones": (call(f(2, 3), [4]),),
    "aten.new_full": (call(f(2, 3), [4], 2),),
    "aten.new_empty": (call(f(2, 3), [4]),),
    "aten.new_empty_strided": (call(f(2, 3), [4], [1]),),
    "aten.eye": (call(3),),
    **{f"aten.{name}_window": (call(4),) for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")},
    **{
        f"aten.{name}_window.periodic": (call(4, False),)
        for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")
    },
    "aten.kaiser_window.beta": (call(4, False, 5.0),),
    "aten.hamming_window.periodic_alpha": (call(4, True, 0.5),),
    "aten.hamming_window.periodic_alpha_beta": (call(4, True, 0.5, 0.5),),
    "aten.eye.m": (call(3, 4),),
    "aten.linspace": (call(0, 1, 5),),
    "aten.linspace.Tensor_Tensor": (call(f(), f(), 5),),
    "aten.linspace.Tensor_Scalar": (call(f(), 1, 5),),
    "aten.linspace.Scalar_Tensor": (call(0, f(), 5),),
    "aten.logspace": (call(0, 1, 5),),
    "aten.logspace.Tensor_Tensor": (call(f(), f(), 5),),
    "aten.logspace.Tensor_Scalar": (call(f(), 1, 5),),
    "aten.logspace.Scalar_Tensor": (call(0, f(), 5),),
    "aten.random.from": (call(f(2, 3), 0, 5),),
    "aten.cartesian_prod": (call([f(2), f(3)]), call([f("s0"), f(3)])),
    "aten.combinations": (call(f(4), results=[f("u0", 2)]),),
    "aten.tril_indices": (call(3, 3),),
    "aten.triu_indices": (call(3, 3),),
    # random
    "aten.randint": (call(9, [2, 3]),),
    "aten.randint.low": (call(1, 9, [2, 3]),),
    "aten.randint_like": (call(f(2, 3), 9),),
    "aten.randint_like.low_dtype": (call(f(2, 3), 1, 9),),
    "aten.randperm": (call(5),),
    # symbolic
    "aten.sym_size.int": (call(f("s0", 3), 0), call(f("s0", 3), 1)),
    "aten.item": (call(i(), results=[_U0]),),
    "aten._local_scalar_dense": (call(i(), results=[_U0]),),
    "aten._assert_scalar": (call(Number("u0"), "u0 > 0"),),
    "aten._print": (call('a "line"'),),
    "aten._assert_async.msg": (call(b(), 'says "no"\n'),),
    "aten._assert_tensor_metadata": (call(f(2, 3), [2, 3], [3, 1], dt.Float),),
    "aten.sym_constrain_range_for_size": (call(Number("u0"), min=2, max=9),),
    "aten.sym_constrain_range": (call(Number("u0"), max=9),),
    # scans
    "aten.cummax": (call(f(2, 3), 1), call(f(), 0)),
    "aten.cummin": (call(f(2, 3), 1), call(f(), 0)),
    # quantization
    "aten._weight_norm": (call(f(2, 3, 4), f(2, 1, 1)), call(f(2, 3), f(), -1)),
    "aten.norm_except_dim": (call(f(2, 3, 4), 2, 1),),
    "aten.atleast_1d.Sequence": (call([f(), i(2)]),),
    "aten.atleast_2d.Sequence": (call([f(), i(2)]),),
    "aten.atleast_3d.Sequence": (call([f(), i(2)]),),
    "aten.fake_quantize_per_tensor_affine": (call(f(2, 3), 0.5, 3, 0, 255),),
    "aten.fake_quantize_per_tensor_affine_cachemask": (call(f(2, 3), 0.5, 3, 0, 255),),
    "aten.fake_quantize_per_tensor_affine.tensor_qparams": (call(f(2, 3), f(1), i32(1), 0, 255),),
    "aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams": (
        call(f(2, 3), f(1), i32(1), i(1), 0, 255),
    ),
    "aten.fake_quantize_per_channel_affine": (call(f(2, 3), f(3), i32(3), 1, -128, 127),),
    "aten.fake_quantize_per_channel_affine_cachemask": (call(f(2, 3), f(3), i32(3), 1, -128, 127),),
    "quantized_decomposed.choose_qparams.tensor": (call(f(2, 3), -128, 127, 1e-5, dt.Char),),
    "quantized_decomposed.quantize_per_tensor": (call(f(2, 3), 0.5, 0, -128, 127, dt.Char),),
    "quantized_decomposed.quantize_per_tensor.tensor": (call(f(2, 3), d(1), i(1), -128, 127, dt.Char),),
    "quantized_decomposed.dequantize_per_tensor": (
        call(i8(2, 3), 0.5, 0, -128, 127, dt.Char),
        call(i8(2, 3), 0.5, 0, 0, 127, dt.Char),
    ),
    "quantized_decomposed.dequantize_per_tensor.tensor": (call(i8(2, 3), d(1), i(1), -128, 127, dt.Char),),
    "quantized_decomposed.quantize_per_channel": (call(f(2, 3), d(3), i(3), 1, -128, 127, dt.Char),),
    "quantized_decomposed.dequantize_per_channel": (call(i8(2, 3), d(3), i(3), 1, -128, 127, dt.Char),),
}

_BY_TYPE: dict[str, Any] = {
    "Scalar": 2,
    "float": 0.5,
    "bool": False,
    "ScalarType": dt.Double,
    "str": "none",
    "SymInt": 1,
    "int": 1,
}
_BY_NAME: dict[str, Any] = {
    "dim0": 0,
    "axis0": 0,
    "size": [2, 3],
    "dims": [1, 0],
    "dim": 1,
}
"""Values of required arguments that are no tensors."""


_PREFERRED = (dt.Float, dt.Long, *dt.DTYPES)


def default_call(spec: OperatorSpec) -> Call:
    """A call with all required arguments: tensors of two dimensions, of float32 where the operator takes it."""

    def value(argument: Argument) -> Any:
        kind = argument.type
        if kind.is_tensor:
            allowed = spec.dtype_rule.allowed.get(argument.name) if spec.dtype_rule else None
            dtype = next((dtype for dtype in _PREFERRED if allowed is None or dtype in allowed), dt.Float)
            tensor = TensorMeta((2, 3), dtype)
            return [tensor, tensor] if kind.is_list else tensor
        known = _BY_NAME.get(argument.name, _BY_TYPE.get(kind.base))
        if known is None:
            raise KeyError(
                f"{spec.qualified_name}: no sample of {argument}; write a call of it in samples.py"
            )
        return [known] if kind.is_list and not isinstance(known, list) else known

    required = [argument for argument in spec.schema.arguments if argument.required]
    return Call((), {argument.name: value(argument) for argument in required})


def calls(spec: OperatorSpec) -> tuple[Call, ...]:
    """Valid calls of an operator, at least one."""
    return CALLS[spec.qualified_name] if spec.qualified_name in CALLS else (default_call(spec),)


# --- operations ----------------------------------------------------------------------------------------------


def dialect_of(name: str, stage: str) -> OperatorDialect:
    """The dialect of an operator at a stage (`aten` or `edge`)."""
    return edge.OPERATORS if stage == "edge" else nodes.dialect_of(name)


def build(name: str, sample: Call, stage: str = "aten", block: Block | None = None) -> OperatorOp:
    """An operation of a call, at the end of a block of its own; its tensors and computed numbers are block arguments.

    Python numbers in tensor positions are `exir.number`s in aten, literals in edge.
    """
    block = Block() if block is None else block
    dialect = dialect_of(name, stage)
    cls = dialect[name]

    def lower(value: Any) -> Any:
        match value:
            case TensorMeta():
                return block.insert_arg(type_of(value), len(block.args))
            case Number():
                return block.insert_arg(SymIntType(Expr.parse(value.expr)), len(block.args))
            case list():
                return [lower(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
            case _:
                return value

    builder = Builder(dialect, block)
    args = [lower(value) for value in sample.args]
    kwargs = {key: lower(value) for key, value in sample.kwargs.items()}
    bound = cls.SLOTS.bind(*builder.with_numbers(cls, args, kwargs))
    builder.build(cls, bound, sample.results)
    op = block.last_op
    assert isinstance(op, OperatorOp)
    return op


def sample_ops(stage: str) -> Iterator[OperatorOp]:
    """A fresh operation of every call of every operator that a stage may hold."""
    for name, spec in specs().items():
        for sample in calls(spec):
            if stage == "aten" or not sample.mixed:
                yield build(name, sample, stage)


def function_of(op: Operation, name: str = "f") -> FuncOp:
    """A function around the block of an operation, which returns the operation's results."""
    block = op.parent
    assert block is not None
    block.add_op(ReturnOp(*op.results))
    return FuncOp(name, (block.arg_types, op.result_types), Region(block))


def sample_module(stage: str) -> ModuleOp:
    """One module of all samples, a function each."""
    return ModuleOp([function_of(op, f"f{n}") for n, op in enumerate(sample_ops(stage))])


def with_all_arguments(spec: OperatorSpec, stage: str) -> OperatorOp:
    """An operation in which every argument has a value other than its default: for syntax, it need not be valid."""
    block = Block()
    values: dict[str, Any] = {
        "float": -1.5e-07,
        "bool": True,
        "Scalar": float("-inf"),
        "SymInt": 1 << 40,
        "int": -7,
        "ScalarType": dt.BFloat16,
    }

    def value(argument: Argument) -> Any:
        kind, default = argument.type, argument.default
        if kind.is_tensor:
            tensors = [block.insert_arg(type_of(f(2, "s0")), len(block.args)) for _ in range(2)]
            return [*tensors, None] if kind.item_optional else tensors if kind.is_list else tensors[0]
        single = values.get(kind.base, 'a "b"\\c')
        if kind.base == "bool" and not kind.is_list:
            single = not default
        number = block.insert_arg(SymIntType(Expr.parse("2 * s0 + 1")), len(block.args))
        return [single, *([number] if kind.base == "SymInt" else [single])] if kind.is_list else single

    layout = ArgumentSlots.of(spec)
    bound = layout.bind((), {slot.name: value(slot.argument) for slot in layout.slots})
    cls = dialect_of(spec.qualified_name, stage)[spec.qualified_name]
    types = [
        type_of(f("s0")) if ret.type.is_tensor else SymIntType(Expr.parse("s0"))
        for ret in spec.schema.returns
    ]
    op = cls.from_bound(bound, types)
    block.add_op(op)
    return op
