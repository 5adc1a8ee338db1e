"""Calls of operators with small arguments: PyTorch's own samples where it has them, and `WRITTEN` where it has none."""

# pyright: basic, reportMissingImports=false
# (PyTorch's types are unknown to the checker.)

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtype_rules import dtype_set
from xdsl_exir.dialects.schema import FunctionSchema
from xdsl_exir.dialects.spec import specs

POLYNOMIALS = (
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
)
"""Families of polynomials `special_<name>(x, n)`."""

PROBED = dtype_set("All")
"""The twelve dtypes that every slot is cast over."""
EXOTIC = tuple(dtype for dtype in dt.DTYPES if dtype not in PROBED)
"""The rest, tried where operators take all twelve alike: what only moves data takes these too."""
TORCH = {dtype: getattr(torch, dtype.torch_name) for dtype in dt.DTYPES}
OF_TORCH = {dtype: ours for ours, dtype in TORCH.items()}

# --- samples -------------------------------------------------------------------------------------------------

Call = tuple[Any, ...]
"""Arguments by schema position; left-out trailing ones are the defaults."""


def overload(name: str) -> Any:
    """The OpOverload of a qualified name. Raises `AttributeError` where PyTorch has none."""
    namespace, packet, *rest = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), rest[0] if rest else "default")


def bind(schema: FunctionSchema, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a call by name, defaults left out."""
    names = [argument.name for argument in schema.arguments]
    return dict(zip(names, args, strict=False)) | dict(kwargs)


class Recorder(TorchDispatchMode):
    """Keeps the arguments of every call of a known operator that reaches the dispatcher."""

    def __init__(self, keep: Any) -> None:
        super().__init__()
        self.keep = keep

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func).removesuffix(".default")
        self.keep(name, args, kwargs or {})
        return func(*args, **(kwargs or {}))


def harvest(names: frozenset[str]) -> dict[str, list[dict[str, Any]]]:
    """Calls of the named operators, in the course of running PyTorch's own operator samples (`OpInfo`s).

    Composite operators never reach a dispatch mode; those that have a sample's name are called with it directly.
    """
    from torch.testing._internal.common_methods_invocations import op_db

    calls: dict[str, list[dict[str, Any]]] = defaultdict(list)
    table = specs()

    def keep(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if name in names:
            calls[name].append(bind(table[name].schema, args, kwargs))

    composite = defaultdict(list)
    for name in names:
        if "composite" in table[name].tags:
            composite[name.split(".")[1]].append(name)
    for info in op_db:
        if not info.dtypes or info.name.startswith("jiterator"):  # no dtypes on the CPU, or no CPU
            continue
        dtype = torch.float32 if torch.float32 in info.dtypes else min(info.dtypes, key=str)
        torch.manual_seed(0)
        for sample in itertools.islice(info.sample_inputs("cpu", dtype), SAMPLES):
            args = (sample.input, *sample.args)
            try:
                with Recorder(keep):
                    info.op(*args, **sample.kwargs)
            except (RuntimeError, TypeError, ValueError):
                continue  # a sample that is there to fail
            for name in sorted(
                {*composite[info.name.split(".")[-1]], *composite[info.name.replace(".", "_")]}
            ):
                if run(overload(name), args, sample.kwargs) is not None:
                    keep(name, args, sample.kwargs)
    return calls


SAMPLES = 8
"""Samples taken of each OpInfo."""


def run(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a call as a tuple, None where PyTorch refuses it."""
    try:
        result = op(*args, **kwargs)
    except (RuntimeError, TypeError, ValueError, IndexError, ZeroDivisionError, NotImplementedError):
        return None
    if result is None:
        return ()
    return result if isinstance(result, tuple) else (result,)


def _f(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


def _i(*values: int) -> torch.Tensor:
    return torch.tensor(values)


_MASK = torch.tensor([True, False, True])
_IMAGE, _FILTER, _NORM = _f(1, 2, 4, 4), _f(2, 2, 3, 3), _f(2)
_STATS = (_IMAGE, _NORM, _NORM, _NORM, _NORM)
_QKV = (_f(1, 2, 4, 8), _f(1, 2, 4, 8), _f(1, 2, 4, 8))

_UNARY = """
    negative absolute arccos arccosh arcsin arcsinh arctan arctanh fix special_expit special_exp2 special_expm1
    special_erf special_erfc special_erfinv special_log1p special_logit special_sinc special_round lift
    detach_copy view_as_real_copy
"""
_BINARY = """
    divide.Tensor subtract.Tensor multiply.Tensor greater.Tensor greater_equal.Tensor less.Tensor
    less_equal.Tensor not_equal.Tensor arctan2 special_xlogy clip.Tensor
"""
_THEN_NUMBER = """
    divide.Scalar true_divide.Scalar subtract.Scalar multiply.Scalar greater.Scalar greater_equal.Scalar
    less.Scalar less_equal.Scalar not_equal.Scalar clip xlogy.Scalar_Other special_xlogy.other_scalar
    special_xlog1py.other_scalar float_power.Tensor_Scalar special_zeta.other_scalar
""" + " ".join(f"special_{name}.n_scalar" for name in POLYNOMIALS)
_NUMBER_FIRST = " ".join(
    (
        "xlogy.Scalar_Self special_xlogy.self_scalar special_xlog1py.self_scalar float_power.Scalar",
        "special_zeta.self_scalar",
        *(f"special_{name}.x_scalar" for name in POLYNOMIALS),
    )
)
_OF_MATRICES = "squeeze_copy mH adjoint matrix_H t_copy diag diagflat diag_embed diff"

WRITTEN: dict[str, Sequence[Call]] = {
    # Not in the samples.
    "_native_batch_norm_legit_functional": [(*_STATS, True, 0.1, 1e-5)],
    "_native_batch_norm_legit_no_training": [(*_STATS, 0.1, 1e-5)],
    "_native_batch_norm_legit.no_stats": [(_IMAGE, _NORM, _NORM, True, 0.1, 1e-5)],
    "native_batch_norm": [(*_STATS, True, 0.1, 1e-5)],
    "batch_norm": [(*_STATS, True, 0.1, 1e-5, False)],
    "instance_norm": [(*_STATS, True, 0.1, 1e-5, False)],
    "_fused_rms_norm": [(_f(2, 4), [4], _f(4), 1e-5)],
    "scaled_dot_product_attention": [(*_QKV, _f(1, 1, 4, 4))],
    "_scaled_dot_product_flash_attention_for_cpu": [(*_QKV, 0.0, False), (*_QKV, 0.0, False, _f(1, 1, 4, 4))],
    "native_dropout": [(_f(3), 0.5, True)],
    "dropout": [(_f(3), 0.5, True), (_f(3), 0.5, False)],
    "feature_dropout": [(_f(2, 3, 4), 0.5, True), (_f(2, 3, 4), 0.5, False)],
    "norm.Scalar": [(_f(3), 2)],
    "rand_like": [(_f(3),)],
    "searchsorted.Tensor": [
        (_f(3), _f(3), out_int32, False, None, _i(0, 1, 2)) for out_int32 in (False, True)
    ],
    "bucketize.Tensor": [(_f(3), _f(3), False), (_f(3), _f(3), True)],
    "log_sigmoid": [(_f(3),)],
    "bernoulli.p": [(_f(3), 0.5)],
    "clamp_max": [(_f(3), 2)],
    "pow.Scalar": [(2, _f(3))],
    "copy": [(_f(3), _f(3))],
    "detach_": [(_f(3),)],
    "lift_fresh_copy": [(_f(3),)],
    "fill.Tensor": [(_f(3), _f())],
    "fmod.Scalar": [(_f(3), 2)],
    "floor_divide.Scalar": [(_f(3), 2)],
    "gt.Scalar": [(_f(3), 2)],
    "div.Scalar_mode": [(_f(3), 2, None), (_f(3), 2, "floor"), (_f(3), 2, "trunc")],
    "div.Tensor_mode": [(_f(3), _f(3), None), (_f(3), _f(3), "floor"), (_f(3), _f(3), "trunc")],
    **{f"bitwise_{name}.Scalar": [(_f(3), 2)] for name in ("and", "or", "xor")},
    **{f"__{name}__.Tensor": [(_f(3), _f(3))] for name in ("and", "or", "xor")},
    **{f"special_{name}": [(_f(3),)] for name in ("i0", "gammaln", "digamma", "psi")},
    "special_gammainc": [(_f(3), _f(3))],
    "special_gammaincc": [(_f(3), _f(3))],
    "special_polygamma": [(1, _f(3))],
    "special_multigammaln": [(_f(3), 1)],
    "sigmoid_backward": [(_f(3), _f(3))],
    "tanh_backward": [(_f(3), _f(3))],
    "threshold_backward": [(_f(3), _f(3), 2)],
    "gelu_backward": [(_f(3), _f(3))],
    # Of one element, of which all ones are not singular.
    **{
        name: [(_f(1, 1),)]
        for name in ("cholesky", "linalg_cholesky", "linalg_inv", "inverse", "linalg_lu_factor", "svd")
    },
    "linalg_ldl_factor": [(_f(1, 1),)],
    "linalg_ldl_solve": [(_f(1, 1), _i(1).int(), _f(1, 1))],
    "linalg_eig": [(_f(1, 1),)],
    "_linalg_eigvals": [(_f(1, 1),)],
    "_lu_with_info": [(_f(1, 1),)],
    "orgqr": [(_f(2, 2), _f(2))],
    "linalg_matrix_rank.atol_rtol_float": [(_f(2, 2),)],
    "linalg_matrix_rank": [(_f(2, 2), 1e-3)],
    "linalg_matrix_rank.tol_tensor": [(_f(2, 2), _f())],
    "linalg_pinv.rcond_tensor": [(_f(2, 2), _f())],
    "vander": [(_f(3), 2)],
    "narrow.Tensor": [(_f(2, 3), 1, torch.tensor(1), 2)],
    "unsafe_split_with_sizes": [(_f(3, 2), [1, 2])],
    "native_channel_shuffle": [(_f(1, 4, 2, 2), 2)],
    "view_as_complex_copy": [(_f(3, 2),)],
    "_neg_view": [(_f(3, 2),)],
    "range.step": [(0, 3, 1)],
    "conv_tbc": [(_f(3, 2, 4), _f(2, 4, 5), _f(5), 1)],
    "embedding_renorm": [(_f(3, 2), torch.tensor([0, 2]), 1.0, 2.0)],
    "linalg_cond.p_str": [(_f(2, 2), "fro")],
    "frobenius_norm.dim": [(_f(2, 2), [0])],
    "nuclear_norm": [(_f(2, 2),)],
    "nuclear_norm.dim": [(_f(2, 2), [0, 1])],
    "linalg_svd": [(_f(1, 1),)],
    "linalg_solve": [(_f(1, 1), _f(1, 1))],
    "linalg_solve_triangular": [(_f(1, 1), _f(1, 1), True)],
    "linalg_tensorinv": [(_f(1, 1), 1)],
    "linalg_tensorsolve": [(_f(1, 1), _f(1))],
    "linalg_pinv": [(_f(2, 2), 1e-3)],
    "linalg_matrix_norm": [(_f(2, 2), 1)],
    "linalg_norm.ord_str": [(_f(2, 2), "fro")],
    **{f"{name}_window": [(4,)] for name in ("hann", "hamming", "blackman", "bartlett")},
    **{f"{name}_window.periodic": [(4, False)] for name in ("hann", "hamming", "blackman", "bartlett")},
    "hamming_window.periodic_alpha": [(4, False, 0.5)],
    "hamming_window.periodic_alpha_beta": [(4, False, 0.5, 0.5)],
    "istft": [
        (_f(3, 4).to(torch.complex64), 4, 1, 4, _f(4), False),
        (_f(4, 4).to(torch.complex64), 4, 1, 4, _f(4), False, False, False),
        (_f(4, 4).to(torch.complex64), 4, 1, 4, _f(4).to(torch.complex64), False, False, False, None, True),
    ],
    "fft_fftfreq": [(4,)],
    "fft_rfftfreq": [(4,)],
    "linalg_matrix_rank.atol_rtol_tensor": [(_f(2, 2), _f(), _f())],
    "cdist": [(_f(2, 3), _f(2, 3))],
    "_pdist_forward": [(_f(3, 2),)],
    "randperm": [(4,)],
    "scatter.value": [(_f(3), 0, _i(0, 1), 2)],
    "arange": [(3,)],
    "arange.start": [(0, 3)],
    "arange.start_step": [(0, 5, 2)],
    "_assert_async.msg": [(_f(), "")],
    "_assert_tensor_metadata": [(_f(3),)],
    "sym_size.int": [(_f(3), 0)],
    "sym_numel": [(_f(3),)],
    "broadcast_tensors": [([_f(3), _f(3)],)],
    "meshgrid": [([_f(3), _f(3)],)],
    "concat": [([_f(3), _f(3)],)],
    "chain_matmul": [([_f(2, 2), _f(2, 2), _f(2, 2)],)],
    "linalg_matmul": [(_f(2, 2), _f(2, 2))],
    "einsum": [("ij,jk->ik", [_f(2, 2), _f(2, 2)])],
    "tensordot": [(_f(2, 2), _f(2, 2), [1], [0])],
    "convolution": [
        (_IMAGE, _FILTER, _NORM, [1, 1], [0, 0], [1, 1], transposed, [0, 0], 1)
        for transposed in (False, True)
    ],
    "conv2d": [(_IMAGE, _FILTER, _NORM)],
    "conv1d": [(_f(1, 2, 4), _f(2, 2, 3), _NORM)],
    "conv1d.padding": [(_f(1, 2, 4), _f(2, 2, 3), _NORM, [1], "same")],
    "conv2d.padding": [(_IMAGE, _FILTER, _NORM, [1], "same")],
    "max_pool1d": [(_f(1, 2, 4), [2])],
    "max_pool2d": [(_IMAGE, [2, 2])],
    "max_pool3d": [(_f(1, 2, 4, 4, 4), [2, 2, 2])],
    "moveaxis.int": [(_f(2, 3), 0, 1)],
    "moveaxis.intlist": [(_f(2, 3), [0], [1])],
    "reflection_pad3d": [(_f(1, 2, 4, 4, 4), [1] * 6)],
    "replication_pad3d": [(_f(1, 2, 4, 4, 4), [1] * 6)],
    "movedim.int": [(_f(2, 3), 0, 1)],
    "numpy_T": [(_f(2, 3),)],
    "swapaxes": [(_f(2, 3), 0, 1)],
    "swapdims": [(_f(2, 3), 0, 1)],
    "to.dtype": [(_f(3), torch.float32)],
    "to.dtype_layout": [(_f(3),)],
    "to.device": [(_f(3), "cpu", torch.float32)],
    "to.other": [(_f(3), _f(3))],
    "type_as": [(_f(3), _f(3))],
    "where.self": [(_MASK, _f(3), _f(3))],
    "where.Scalar": [(_MASK, 2, 2)],
    "where.ScalarOther": [(_MASK, _f(3), 2)],
    "where.ScalarSelf": [(_MASK, 2, _f(3))],
    # Other names, which the samples go by only where nothing has the first name.
    **{name: [(_f(3),)] for name in _UNARY.split()},
    **{name: [(_f(3), _f(3))] for name in _BINARY.split()},
    **{name: [(_f(3), 2)] for name in _THEN_NUMBER.split()},
    **{name: [(2, _f(3))] for name in _NUMBER_FIRST.split()},
    "divide.Scalar_mode": [(_f(3), 2, None), (_f(3), 2, "floor"), (_f(3), 2, "trunc")],
    "divide.Tensor_mode": [(_f(3), _f(3), None), (_f(3), _f(3), "floor"), (_f(3), _f(3), "trunc")],
    "special_logsumexp": [(_f(2, 3), [1])],
    "special_softmax": [(_f(2, 3), 1)],
    "special_log_softmax": [(_f(2, 3), 1)],
    "concatenate": [([_f(3), _f(3)],)],
    "row_stack": [([_f(3), _f(3)],)],
    **{f"{name}.int": [(_f(2, 2, 2), 2)] for name in ("hsplit", "vsplit", "dsplit")},
    **{f"{name}.array": [(_f(2, 2, 2), [1])] for name in ("hsplit", "vsplit", "dsplit")},
    **{name: [(_f(1, 2),)] for name in _OF_MATRICES.split()},
    **{name: [(_f(1, 2), 0)] for name in ("squeeze_copy.dim", "unsqueeze_copy", "unbind_copy.int")},
    "squeeze_copy.dims": [(_f(1, 2), [0])],
    "expand_copy": [(_f(1, 2), [2, 2])],
    **{name: [(_f(16), torch.float32)] for name in ("view.dtype", "view_copy.dtype")},
    "transpose_copy.int": [(_f(1, 2), 0, 1)],
    "as_strided_copy": [(_f(1, 2), [2], [1])],
    "unfold_copy": [(_f(1, 2), 1, 2, 1)],
    "slice_copy.Tensor": [(_f(3), 0, 1)],
    "select_copy.int": [(_f(3), 0, 1)],
    "split_copy.Tensor": [(_f(3), 2)],
    "split_with_sizes_copy": [(_f(3), [1, 2])],
    "narrow_copy": [(_f(3), 0, 0, 2)],
    "scatter.reduce": [(_f(3), 0, _i(0, 1, 2), _f(3), "add")],
    "scatter.value_reduce": [(_f(3), 0, _i(0, 1, 2), 2, "add")],
    "put": [(_f(3), _i(0, 1, 2), _f(3))],
    "index_fill.int_Tensor": [(_f(3), 0, _i(0, 1), _f())],
    "index_reduce": [(_f(3), 0, _i(0, 1, 2), _f(3), "prod")],
    "_unsafe_index.Tensor": [(_f(4), [_i(1, 2, 3, 1)]), (_f(4, 4), [_i(1, 2, 3, 1), _i(1, 2, 3, 1)])],
    "_unsafe_index_put": [
        (_f(4), [_i(1, 2, 3, 1)], _f(1)),
        (_f(4, 4), [_i(1, 2, 3, 1), _i(1, 2, 3, 1)], _f(1)),
    ],
    "_unsafe_masked_index": [(_f(4), _MASK, [_i(1, 2, 3)], 2)],
    "_unsafe_masked_index_put_accumulate": [(_f(4), _MASK, [_i(1, 2, 3)], _f(3))],
    "msort": [(_f(3),)],
    "argsort.stable": [(_f(3), True)],
    "kthvalue": [(_f(3), 1)],
    "searchsorted.Scalar": [(_f(3), 2, out_int32, False, None, _i(0, 1, 2)) for out_int32 in (False, True)],
    "bucketize.Scalar": [(2, _f(3), False), (2, _f(3), True)],
    "nonzero_static": [(_f(3), 2)],
    "_unique2": [(_f(3),)],
    "unique_consecutive": [(_f(3),)],
    "nanmedian": [(_f(3),)],
    "nanmedian.dim": [(_f(3), 0)],
    "logcumsumexp": [(_f(3), 0)],
    **{name: [(_f(3), _f())] for name in ("quantile", "nanquantile")},
    **{name: [(_f(3), 0.5)] for name in ("quantile.scalar", "nanquantile.scalar")},
    "normal.float_float": [(0.5, 1.5, [3])],
    "new_empty_strided": [(_f(3), [2], [1])],
    "bernoulli.Tensor": [(_f(3), _f(3))],
    "normal_functional": [(_f(3),)],
    "multinomial": [(_f(3), 2)],
    **{name: [(_f(3),)] for name in ("exponential", "cauchy", "log_normal", "uniform", "random")},
    "geometric": [(_f(3), 0.5)],
    "random.from": [(_f(3), 0, 1)],
    "random.to": [(_f(3), 1)],
    "normal.Tensor_float": [(_f(3),)],
    "normal.float_Tensor": [(0.5, _f(3))],
    "normal.Tensor_Tensor": [(_f(3), _f(3))],
    "inner": [(_f(3), _f(3))],
    "addr": [(_f(3, 3), _f(3), _f(3))],
    "ger": [(_f(3), _f(3))],
    "kron": [(_f(3), _f(3))],
    "cross": [(_f(3), _f(3))],
    "unique_dim": [(_f(2, 3), 1)],
    "isin.Tensor_Tensor": [(_f(3), _f(2))],
    "isin.Tensor_Scalar": [(_f(3), 2)],
    "isin.Scalar_Tensor": [(2, _f(3))],
    "cartesian_prod": [([_f(3), _f(2)],)],
    "gradient.scalarint": [(_f(3),)],
    "gradient.scalararray": [(_f(3), 2, [0])],
    "gradient.array": [(_f(3), [0])],
    "gradient.tensorarrayint": [(_f(3), [_f(3)], 0)],
    "gradient.tensorarray": [(_f(3), [_f(3)], [0])],
    "nonzero_numpy": [(_f(3),)],
    "histogram.bin_ct": [(_f(3), 2, None, _f(3))],
    "histogram.bins_tensor": [(_f(3), _f(3), _f(3))],
    # Their rules speak of absent operands, which are not tried.
    "bincount": [],
    "clamp.Tensor": [],
    "segment_reduce": [(_f(3), "sum", _i(3), None, _i(0, 3))],
    "resize": [(_f(3), [2])],
    "resize_as": [(_f(3), _f(2))],
    "dist": [(_f(3), _f(3))],
    "trapezoid.dx": [(_f(3),)],
    "trapz.dx": [(_f(3),)],
    "cumulative_trapezoid.dx": [(_f(3),)],
    "fractional_max_pool2d": [(_IMAGE, [2, 2], [1, 1], _f(1, 2, 2) / 2)],
    "fractional_max_pool3d": [(_f(1, 1, 3, 3, 3), [2] * 3, [1] * 3, _f(1, 1, 3) / 2)],
    "conv3d.padding": [(_f(1, 2, 4, 4, 4), _f(2, 2, 3, 3, 3), _NORM, [1], "same")],
    "_batch_norm_with_update_functional": [(*_STATS, 0.1, 1e-5)],
    "_trilinear": [(_f(3, 4), _f(2, 4, 5), _f(3, 5), [1, 3], [0], [1, 2], [2, 3])],
    "bilinear": [(_f(3, 4), _f(3, 5), _f(2, 4, 5), _f(2))],
    "_upsample_bilinear2d_aa": [(_IMAGE, [2, 2], False)],
    "_upsample_bilinear2d_aa.vec": [(_IMAGE, [2, 2], False, None)],
    "_upsample_bicubic2d_aa": [(_IMAGE, [2, 2], False)],
    "_upsample_bicubic2d_aa.vec": [(_IMAGE, [2, 2], False, None)],
    "_upsample_lanczos2d_aa": [(_IMAGE, [2, 2], False)],
    "_upsample_lanczos2d_aa.vec": [(_IMAGE, [2, 2], False, None)],
    "rrelu_with_noise_functional": [(_f(3), _f(3), 2, 2, training) for training in (False, True)],
    # Gradients.
    **{
        f"{name}_backward": [(_f(3), _f(3))] for name in ("hardsigmoid", "hardswish", "logit", "mish", "silu")
    },
    **{f"{name}_backward": [(_f(3), _f(3), 2)] for name in ("hardshrink", "softshrink")},
    **{f"{name}_backward": [(_f(3), _f(3), 2, 2)] for name in ("hardtanh", "softplus")},
    "elu_backward": [(_f(3), 2, 2, 2, is_result, _f(3)) for is_result in (False, True)],
    "leaky_relu_backward": [(_f(3), _f(3), 2, False)],
    "rrelu_with_noise_backward": [(_f(3), _f(3), _f(3), 2, 2, training, False) for training in (False, True)],
    "log_sigmoid_backward": [(_f(3), _f(3), _f(3))],
    "glu_backward": [(_f(2), _f(4), 0)],
    "_prelu_kernel_backward": [(_f(3), _f(3), _f(3))],
    **{f"{name}_loss_backward": [(_f(3), _f(3), _f(3), 0)] for name in ("mse", "soft_margin")},
    **{f"{name}_loss_backward": [(_f(3), _f(3), _f(3), 0, 1.0)] for name in ("smooth_l1", "huber")},
    "binary_cross_entropy_backward": [(_f(3), _f(3), _f(3), _f(3))],
    "nll_loss_backward": [(_f(), _f(2, 3), _i(0, 1), _f(3), 1, -100, _f())],
    "nll_loss2d_backward": [(_f(), _f(1, 3, 1, 2), _i(0, 1).view(1, 1, 2), _f(3), 1, -100, _f())],
    **{
        f"_{name}_backward_data": [(_f(2, 3), _f(2, 3), 1, torch.float32)]
        for name in ("softmax", "log_softmax")
    },
    "native_layer_norm_backward": [
        (_f(2, 4), _f(2, 4), [4], _f(2, 1), _f(2, 1), _f(4), _f(4), [True, True, True])
    ],
    "native_group_norm_backward": [
        (_IMAGE, _IMAGE, _f(1, 2), _f(1, 2), _NORM, 1, 2, 16, 2, [True, True, True])
    ],
    "native_batch_norm_backward": [
        (_IMAGE, _IMAGE, _NORM, _NORM, _NORM, _NORM, _NORM, train, 1e-5, [True, True, True])
        for train in (False, True)
    ],
    "_scaled_dot_product_flash_attention_for_cpu_backward": [
        (_QKV[0], *_QKV, _QKV[0], _f(1, 2, 4), 0.0, False)
    ],
    "embedding_dense_backward": [(_f(3, 2), _i(0, 1, 1), 2, -1, False)],
    "convolution_backward": [
        (_f(1, 2, 2, 2), _IMAGE, _FILTER, [2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, True])
    ],
    "avg_pool2d_backward": [(_f(1, 2, 2, 2), _IMAGE, [2, 2], [], [0, 0], False, True, None)],
    "avg_pool3d_backward": [(_f(1, 1, 1, 1, 1), _f(1, 1, 2, 2, 2), [2] * 3, [], [0] * 3, False, True, None)],
    "_adaptive_avg_pool2d_backward": [(_f(1, 2, 2, 2), _IMAGE)],
    "_adaptive_avg_pool3d_backward": [(_f(1, 1, 1, 1, 1), _f(1, 1, 2, 2, 2))],
    "max_pool2d_with_indices_backward": [
        (_f(1, 2, 1, 1), _IMAGE, [4, 4], [], [0, 0], [1, 1], False, _i(0, 0).view(1, 2, 1, 1))
    ],
    "max_pool3d_with_indices_backward": [
        (
            _f(1, 1, 1, 1, 1),
            _f(1, 1, 2, 2, 2),
            [2] * 3,
            [],
            [0] * 3,
            [1] * 3,
            False,
            _i(0).view(1, 1, 1, 1, 1),
        )
    ],
    "adaptive_max_pool2d_backward": [(_f(1, 2, 1, 1), _IMAGE, _i(0, 0).view(1, 2, 1, 1))],
    "adaptive_max_pool3d_backward": [(_f(1, 1, 1, 1, 1), _f(1, 1, 2, 2, 2), _i(0).view(1, 1, 1, 1, 1))],
    "fractional_max_pool2d_backward": [(_f(1, 2, 1, 1), _IMAGE, [2, 2], [1, 1], _i(0, 0).view(1, 2, 1, 1))],
    "fractional_max_pool3d_backward": [
        (_f(1, 1, 1, 1, 1), _f(1, 1, 2, 2, 2), [2] * 3, [1] * 3, _i(0).view(1, 1, 1, 1, 1))
    ],
    **{
        f"{name}{rank}d_backward": [(_f(1, 1, *[4] * rank), [4] * rank, [1, 1, *[2] * rank])]
        for name in ("upsample_nearest", "_upsample_nearest_exact")
        for rank in (1, 2, 3)
    },
    **{
        f"upsample_{name}{rank}d_backward": [(_f(1, 1, *[4] * rank), [4] * rank, [1, 1, *[2] * rank], False)]
        for name, rank in (("linear", 1), ("bilinear", 2), ("trilinear", 3), ("bicubic", 2))
    },
    **{
        f"{name}_pad{rank}d_backward": [(_f(1, *[4] * rank), _f(1, *[2] * rank), [1, 1] * rank)]
        for name in ("reflection", "replication")
        for rank in (1, 2, 3)
    },
    "select_backward": [(_f(3), [2, 3], 0, 0)],
    "slice_backward": [(_f(1, 3), [2, 3], 0, 0, 1, 1)],
    "diagonal_backward": [(_f(2), [2, 3], 0, 0, 1)],
    "unfold_backward": [(_f(2, 2), [3], 0, 2, 1)],
    "_cdist_backward": [(_f(2, 3), _f(2, 4), _f(3, 4), 2.0, _f(2, 3))],
    # In the samples, but their arguments do not survive the casts: a mask in place of indices has another shape.
    "index.Tensor": [(_f(4), [_i(1, 2, 3, 1)]), (_f(4, 4), [_i(1, 2, 3, 1), _i(1, 2, 3, 1)])],
    "index_put": [
        (_f(4), [_i(1, 2, 3, 1)], _f(1)),
        (_f(4, 4), [_i(1, 2, 3, 1), _i(1, 2, 3, 1)], _f(1)),
    ],
}
"""Arguments for operators that the samples do not reach, or not well."""
