"""Derives `edge.yaml`, the dtype rules, from what PyTorch's CPU kernels accept and return.

    python -m xdsl_exir.tools.spec.probe                           # brings edge.yaml up to date
    python -m xdsl_exir.tools.spec.probe --check [aten.add.Tensor] # exits 1 where rules disagree with kernels
    python -m xdsl_exir.tools.spec.probe aten.add.Tensor           # only shows these operators' rules

Entries that agree with what is observed stay as they are, so those written by hand do. Those of operators that are
always decomposed may refuse what PyTorch takes (kernels of composite operators check little), but must be right in what
they take.

For every operator of the families' files: take small arguments (`samples`), cast every tensor, number and `dtype`
argument over the twelve dtypes and run the kernel (`Probe`), and write the shortest rule that says exactly what
was seen (`fit`). Needs PyTorch, with its testing modules; nothing else here does.
"""

# pyright: basic, reportMissingImports=false
# (PyTorch's types are unknown to the checker.)

from __future__ import annotations

import argparse
import itertools
import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtype_rules import (
    ABSENT,
    DTYPE_SETS,
    NAMED_RULES,
    NUMBER_DTYPE,
    NUMBER_RULES,
    RETURN_RULES,
    DtypeError,
    DtypeRule,
    Operand,
    dtype_set,
    expand,
    participants,
    result_type,
)
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.schema import Argument, FunctionSchema
from xdsl_exir.dialects.shapes.pointwise import POLYNOMIALS
from xdsl_exir.dialects.spec import OperatorSpec, specs
from xdsl_exir.transforms.decompositions import reaches_edge

# Kernels log some warnings to stderr past Python's warning filters.
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
import torch
from torch.utils._python_dispatch import TorchDispatchMode

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

# --- slots ---------------------------------------------------------------------------------------------------

Seen = Operand | DType | None
"""What a rule sees in a slot: an operand, a `dtype` argument, nothing."""


@dataclass(frozen=True)
class Slot:
    """A place in a call that has a dtype: a tensor, an element of a list of tensors, a number or a `dtype`."""

    argument: Argument
    value: Any
    index: int | None = None
    """Place in a list of tensors."""
    _cast: dict[Seen, Any] = field(default_factory=dict[Seen, Any], compare=False)

    @property
    def name(self) -> str:
        return self.argument.name

    @property
    def is_tensor(self) -> bool:
        return self.argument.type.is_tensor

    @property
    def is_number(self) -> bool:
        return self.argument.type.base == "Scalar"

    @property
    def tier(self) -> int:
        """The tier of a tensor of the slot's own shape."""
        return 2 if self.value.ndim else 1

    @cached_property
    def choices(self) -> tuple[Seen, ...]:
        """All that the slot is cast to, but for the shape of a tensor."""
        if self.is_tensor:
            return tuple(Operand(dtype, self.tier) for dtype in PROBED)
        if self.is_number:
            return tuple(Operand(dtype, 0) for dtype in NUMBER_DTYPE.values())
        absent = (None,) if self.argument.type.optional else ()
        return (*absent, *PROBED)

    @cached_property
    def usual(self) -> Seen:
        """The choice that other slots are cast under: an integer for a number, no `dtype`."""
        return Operand(dt.Long, 0) if self.is_number else self.choices[0]

    def cast(self, seen: Seen) -> Any:
        """The slot's value as `seen`."""
        if seen not in self._cast:
            self._cast[seen] = self._make(seen)
        return self._cast[seen]

    def _make(self, seen: Seen) -> Any:
        if not isinstance(seen, Operand):
            return None if seen is None else TORCH[seen]
        if seen.tier == 0:
            return number(self.value, seen.dtype.category)
        value = ones_for(self.value)
        return (value if seen.tier == self.tier else value.flatten()[0]).to(TORCH[seen.dtype])


def number(value: Any, category: Category) -> bool | int | float | complex:
    """A number of a category: one that no narrower category can hold."""
    if isinstance(value, torch.Tensor):
        value = value.flatten()[0].item()
    real = int(min(abs(value), 9))
    real = 1 if 0 < abs(value) < 1 else real
    return (True, real, real + 0.5, complex(real, 1))[category]


def ones_for(value: torch.Tensor) -> torch.Tensor:
    """Ones for a tensor of floats, a fine argument for any function; integers (indices, sizes) stay as they are."""
    return torch.ones(value.shape) if value.is_floating_point() or value.is_complex() else value


@dataclass
class Probe:
    """One call of an operator, to be repeated with other dtypes."""

    spec: OperatorSpec
    arguments: dict[str, Any]
    observed: dict[tuple[Seen, ...], tuple[DType, ...] | None] = field(
        default_factory=dict[tuple[Seen, ...], "tuple[DType, ...] | None"]
    )
    """Dtypes of the results by what was in the slots; None where PyTorch refuses them."""

    @cached_property
    def op(self) -> Any:
        return overload(self.spec.qualified_name)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        found: list[Slot] = []
        for argument in self.spec.schema.arguments:
            value = self.arguments.get(argument.name)
            if argument.type.is_tensor and isinstance(value, list | tuple):
                found += [Slot(argument, item, i) for i, item in enumerate(value) if item is not None]
            elif argument.type.base == "ScalarType" or (argument.type.is_tensor and value is not None):
                found.append(Slot(argument, value))
            elif argument.type.base == "Scalar" and not argument.type.is_list:
                default = None if argument.required else argument.default
                value = default if value is None else value
                found += [Slot(argument, value)] if value is not None else []
        return tuple(found)

    @cached_property
    def flags(self) -> dict[str, Any]:
        """Arguments that choose between behaviours: their values tell probes of one operator apart."""
        return {
            argument.name: self.arguments.get(argument.name, argument.default)
            for argument in self.spec.schema.arguments
            if argument.type.base in ("bool", "str") and not argument.type.is_list
        }

    def try_(self, seen: tuple[Seen, ...]) -> tuple[DType, ...] | None:
        """Runs the kernel with slots cast, and notes what it says."""
        if seen not in self.observed:
            self.observed[seen] = self.run(seen)
        return self.observed[seen]

    def run(self, seen: tuple[Seen, ...]) -> tuple[DType, ...] | None:
        """Dtypes of the results with slots cast; None where PyTorch refuses them."""
        arguments = {
            name: list(value) if isinstance(value, tuple) else value for name, value in self.arguments.items()
        }
        for slot, choice in zip(self.slots, seen, strict=True):
            if slot.index is None:
                arguments[slot.name] = slot.cast(choice)
            else:
                if arguments[slot.name] is self.arguments[slot.name]:
                    arguments[slot.name] = list(arguments[slot.name])
                arguments[slot.name][slot.index] = slot.cast(choice)
        result = run(self.op, (), arguments)
        dtypes = None if result is None else self._dtypes(result)
        return None if dtypes == (dt.Bool,) and in_complex32(seen) else dtypes

    def _dtypes(self, result: tuple[Any, ...]) -> tuple[DType, ...] | None:
        """Dtypes of the tensor results; None where the IR has none of them or they differ within a list."""
        found: list[DType] = []
        for value, ret in zip(result, self.spec.schema.returns, strict=True):
            if not ret.type.is_tensor:
                continue
            items: list[Any] = value if ret.type.is_list else [value]
            if not items:
                return None
            # `aten.to.other(2, tensor)` is another operator, of numbers.
            within = {OF_TORCH.get(item.dtype) if isinstance(item, torch.Tensor) else None for item in items}
            dtype = within.pop()
            if dtype is None or within:
                return None
            found.append(dtype)
        return tuple(found)

    def alike(self, dtype: DType) -> tuple[Seen, ...]:
        """All tensors of one dtype, the rest as usual."""
        return tuple(Operand(dtype, slot.tier) if slot.is_tensor else slot.usual for slot in self.slots)

    def into(self, dtype: DType) -> tuple[Seen, ...]:
        """Tensors of float32, and `dtype` as dtype argument."""
        pairs = zip(self.slots, self.alike(dt.Float), strict=True)
        return tuple(seen if slot.is_tensor or slot.is_number else dtype for slot, seen in pairs)

    def explore(self) -> None:
        """Tries all combinations where they are few; else all pairs of slots, the other slots being alike."""
        choices = [slot.choices for slot in self.slots]
        if len(list(itertools.islice(itertools.product(*choices), FEW + 1))) <= FEW:
            for seen in itertools.product(*choices):
                self.try_(seen)
        else:
            for seen in self._pairs():
                self.try_(seen)
        for seen in self._tiers():
            self.try_(seen)
        for as_ in (self.alike, self.into):
            if all(self.observed.get(as_(dtype)) is not None for dtype in PROBED):
                for dtype in EXOTIC:
                    self.try_(as_(dtype))

    def _pairs(self) -> Iterator[tuple[Seen, ...]]:
        for dtype in (dt.Bool, dt.Long, dt.Half, dt.Float, dt.ComplexFloat):
            base = self.alike(dtype)
            for i, j in itertools.combinations(range(len(self.slots)), 2):
                for a, b in itertools.product(self.slots[i].choices, self.slots[j].choices):
                    yield (*base[:i], a, *base[i + 1 : j], b, *base[j + 1 :])
        # One slot apart, the others alike: an input beside parameters of another dtype.
        for i, slot in enumerate(self.slots):
            for dtype, other in itertools.product(PROBED, slot.choices):
                base = self.alike(dtype)
                yield (*base[:i], other, *base[i + 1 :])

    def _tiers(self) -> Iterator[tuple[Seen, ...]]:
        """Two operands of all dtypes and tiers (0-dim tensors, Python numbers), the others alike."""
        operands = [i for i, slot in enumerate(self.slots) if slot.is_tensor or slot.is_number]
        for i, j in itertools.combinations(operands, 2):
            for dtype in (dt.Bool, dt.Float):
                base = self.alike(dtype)
                for a, b in itertools.product(self._tiered(i), self._tiered(j)):
                    seen = (*base[:i], a, *base[i + 1 : j], b, *base[j + 1 :])
                    if any(isinstance(item, Operand) and item.tier for item in seen):
                        yield seen

    def _tiered(self, i: int) -> tuple[Seen, ...]:
        """The choices of a slot, also as 0-dim tensor and as number where the operator takes them so."""
        slot = self.slots[i]
        choices = slot.choices
        for tier, dtypes in ((1, PROBED), (0, NUMBER_DTYPE.values())):
            base = self.alike(dt.Float)
            lowered = Operand(dt.Float, tier)
            trial = (*base[:i], lowered, *base[i + 1 :])
            if slot.is_tensor and slot.tier == 2 and self.run(trial) is not None:
                choices = (*choices, *(Operand(dtype, tier) for dtype in dtypes))
        return choices


def in_complex32(seen: Iterable[Seen]) -> bool:
    """Whether operands promote to complex32, a dtype that the IR does not have."""
    operands = tuple(item for item in seen if isinstance(item, Operand))
    if dt.Half not in {operand.dtype for operand in operands}:
        return False
    try:
        result_type(operands)
    except DtypeError:
        return True
    return False


FEW = 2500
"""Combinations up to which all are tried."""


def representative(calls: Iterable[dict[str, Any]], spec: OperatorSpec) -> list[Probe]:
    """The calls worth probing: for each combination of flags the one with most slots, and small ones of these."""
    best: dict[str, tuple[Any, Probe]] = {}
    for call in calls:
        probe = Probe(spec, call)
        tensors = [slot.value for slot in probe.slots if slot.is_tensor]
        if any(
            not isinstance(tensor, torch.Tensor) or tensor.numel() == 0 or tensor.is_sparse
            for tensor in tensors
        ):
            continue
        full = sum(tensor.ndim > 0 for tensor in tensors)
        rank = (-full, -len(probe.slots), sum(tensor.numel() for tensor in tensors))
        key = repr(probe.flags)
        if key not in best or rank < best[key][0]:
            best[key] = (rank, probe)
    return [probe for _, probe in best.values()][:PROBES]


PROBES = 6
"""Combinations of flags tried of one operator."""


def probes(names: Sequence[str]) -> dict[str, list[Probe]]:
    """The probes of operators, not yet explored."""
    table = specs()
    written = {f"aten.{name}" for name in WRITTEN}
    calls = harvest(frozenset(name for name in names if name not in written))
    for name in names:
        for call in WRITTEN.get(name.removeprefix("aten."), ()):
            calls[name].append(bind(table[name].schema, call, {}))
    return {name: representative(calls[name], table[name]) for name in names}


# --- fitting -------------------------------------------------------------------------------------------------

Entry = dict[str, Any]
"""A dtype rule as it stands in edge.yaml."""


@dataclass(frozen=True)
class Case:
    """One observation, in the words of `DtypeRule.infer`."""

    arguments: dict[str, Any]
    given: tuple[DType, ...] | None
    """Dtypes of the results, None where PyTorch refuses the arguments."""
    numbers: frozenset[str]
    """Arguments that are tensors, but here are Python numbers: rules speak of these only where they promote."""

    def operands(self, names: Collection[str]) -> list[Operand]:
        """The operands of some arguments, lists spread out."""
        given = [self.arguments[name] for name in names if self.arguments.get(name) is not None]
        return [operand for item in given for operand in (item if isinstance(item, tuple) else (item,))]


def cases(probe: Probe) -> list[Case]:
    """What was observed. Dtypes beyond the twelve count where the operator takes all of them."""
    exotic = all(probe.observed.get(probe.alike(dtype)) is not None for dtype in EXOTIC)
    exotic_argument = all(probe.observed.get(probe.into(dtype)) is not None for dtype in EXOTIC)
    found: list[Case] = []
    for seen, given in probe.observed.items():
        arguments: dict[str, Any] = dict(probe.flags)
        numbers: set[str] = set()
        for slot, choice in zip(probe.slots, seen, strict=True):
            arguments[slot.name] = choice if slot.index is None else (*arguments.get(slot.name, ()), choice)
            if slot.is_tensor and isinstance(choice, Operand) and choice.tier == 0:
                numbers.add(slot.name)
        operands = {item.dtype for item in seen if isinstance(item, Operand)}
        if (exotic or operands.isdisjoint(EXOTIC)) and (exotic_argument or set(seen).isdisjoint(EXOTIC)):
            found.append(Case(arguments, given, frozenset(numbers)))
    return found


def predicted(rule: DtypeRule, case: Case) -> tuple[DType, ...] | None:
    """What a rule says of a call."""
    try:
        return rule.infer(case.arguments)
    except DtypeError:
        return None


def disagreements(rule: DtypeRule, observed: Iterable[Case], at_most: float = float("inf")) -> list[Case]:
    """Cases of which a rule says something else. Stops when there are more than `at_most`."""
    found: list[Case] = []
    for case in observed:
        if case.numbers.issubset(rule.promotes) and predicted(rule, case) != case.given:
            found.append(case)
            if len(found) > at_most:
                break
    return found


def set_names(dtypes: Collection[DType]) -> str | list[str]:
    """The shortest way to write a set of dtypes: one of DTYPE_SETS, a few of them, single names for what is left."""
    left = set(dtypes)
    names: list[str] = []
    for name, members in sorted(DTYPE_SETS.items(), key=lambda item: -len(item[1])):
        if left.issuperset(members) or (not names and left == set(members)):
            names.append(name)
            left -= set(members)
    names += [dtype.name for dtype in dt.DTYPES if dtype in left]
    return names[0] if len(names) == 1 and names[0] in DTYPE_SETS else names


def fit(spec: OperatorSpec, probes: Sequence[Probe]) -> tuple[Entry, list[Case]]:
    """The shortest entry that agrees with what was observed; else the best, and where it does not."""
    observed = [case for probe in probes for case in cases(probe)]
    flag = deciding_flag(probes)
    if flag is None:
        return fit_plain(spec, observed)
    by_value: dict[Any, list[Case]] = defaultdict(list)
    for case in observed:
        by_value[case.arguments[flag]].append(case)
    fits = {value: fit_plain(spec, group)[0] for value, group in by_value.items()}
    # What most values have is the rule, the others are its cases.
    default = spec.schema.argument(flag).default
    said = list(fits.values())
    usual = max(fits, key=lambda value: (said.count(fits[value]), value == default, -len(str(fits[value]))))
    whens = [
        {flag: value} | {name: given for name, given in entry.items() if name != "func"}
        for value, entry in fits.items()
        if entry != fits[usual]
    ]
    entry = fits[usual] | {"when": whens}
    return entry, disagreements(expand(spec.schema, entry), observed)


def deciding_flag(probes: Sequence[Probe]) -> str | None:
    """The argument that tells apart probes with different observations; None where there are none such."""

    def disagree(some: Iterable[Probe]) -> bool:
        said: dict[Any, Any] = {}
        return any(
            said.setdefault((len(probe.slots), seen), given) != given
            for probe in some
            for seen, given in probe.observed.items()
        )

    if not disagree(probes):
        return None
    for flag in probes[0].flags:
        values = {probe.flags[flag] for probe in probes}
        if not any(disagree(probe for probe in probes if probe.flags[flag] == value) for value in values):
            return flag
    return None


def fit_plain(spec: OperatorSpec, observed: list[Case]) -> tuple[Entry, list[Case]]:
    """As `fit`, for observations that no flag decides."""
    short, left = fit_short(spec, observed)
    if not left or compares(observed):
        return short, left
    rows = fit_rows(spec, observed)
    if rows is not None:
        found = disagreements(expand(spec.schema, rows), observed)
        if len(found) < len(left) and (len(rows["type_constraint"]) <= 3 or len(left) > len(observed) * RARE):
            return rows, found
    return short, left


ROWS = 8
"""Rows beyond which a rule is no longer readable, and a short one with exceptions better..."""
RARE = 0.05
"""...as it is if there are more than three for the sake of this share of the cases."""


def fit_short(spec: OperatorSpec, observed: list[Case]) -> tuple[Entry, list[Case]]:
    """The entry of the short form that agrees best with what was observed, and where it does not."""
    accepted = [case for case in observed if case.given is not None]
    best: Entry = {}
    left = observed
    for entry in candidates(spec, accepted):
        found = disagreements(expand(spec.schema, entry), observed, len(left) - 1 if best else len(left))
        if not best or len(found) < len(left):
            best, left = entry, found
        if not left:
            break
    return best, left


def compares(observed: Iterable[Case]) -> bool:
    """Whether results are always Bool: then what operands promote to is not seen, but they do all the same."""
    return {case.given for case in observed if case.given is not None} == {(dt.Bool,)}


def candidates(spec: OperatorSpec, accepted: list[Case]) -> Iterator[Entry]:
    """Entries that could describe the accepted cases, simple ones first."""
    schema = spec.schema
    by_dtype = any(argument.type.base == "ScalarType" for argument in schema.arguments)
    rules = [name for name in NAMED_RULES if name.startswith("dtype") == by_dtype]
    present = {name for case in accepted for name, value in case.arguments.items() if value is not None}
    tensors = [
        argument.name for argument in schema.arguments if argument.type.is_tensor and argument.name in present
    ]
    numbers = any(argument.type.base == "Scalar" for argument in schema.arguments)
    if compares(accepted):
        yield from completed(schema, "bool", (), accepted)
        return
    for count in range(max(1, len(tensors) + numbers)):
        for own in itertools.combinations(reversed(tensors), count):
            for rule in rules:
                yield from completed(schema, rule, own, accepted)


def completed(schema: FunctionSchema, rule: str, own: Sequence[str], accepted: list[Case]) -> Iterator[Entry]:
    """Entries of a named rule, with the sets of dtypes that the accepted cases have."""
    named = NAMED_RULES[rule]
    taking = participants(schema, named, own)
    head: Entry = {"func": schema.qualified_name.replace(".", "::", 1), "rule": rule}
    usable = [
        case for case in accepted if not case.numbers or (named.promotes and case.numbers.issubset(taking))
    ]
    computing: dict[int, DType] = {}
    for case in usable:
        operands = tuple(case.operands(taking))
        if operands and named.promotes:
            try:
                computing[id(case)] = result_type(operands)
            except DtypeError:
                continue  # these do not promote, yet PyTorch takes them
        elif operands:
            computing[id(case)] = operands[0].dtype
    by_itself = [case for case in usable if case.arguments.get("dtype") is None and id(case) in computing]
    types = {
        computing[id(case)]
        for case in by_itself
        if named.promotes or len({operand.dtype for operand in case.operands(taking)}) == 1
    }
    dtype = {case.arguments["dtype"] for case in usable if case.arguments.get("dtype") is not None}
    middle: Entry = {}
    if not taking:
        types = types or dtype
    if types != set(PROBED) and types:
        middle["types"] = set_names(types)
    if dtype and dtype != types:
        middle["dtype"] = set_names(dtype)
    for name in reversed(own):
        middle[name] = _listed(
            set_names({operand.dtype for case in usable for operand in case.operands([name])})
        )
    for argument in schema.arguments:
        if argument.type.base == "Scalar" and argument.name not in taking:
            middle |= _number_rule(argument.name, usable, computing)
    entry = head | middle
    yield entry | _returns(schema, entry, usable)
    if named.promotes and len(taking) > 1:
        entry |= {
            "operands": set_names({operand.dtype for case in usable for operand in case.operands(taking)})
        }
        yield entry | _returns(schema, entry, usable)


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _number_rule(name: str, usable: list[Case], computing: Mapping[int, DType]) -> Entry:
    """What a number that does not promote may be: nothing to say, one of NUMBER_RULES, or fixed categories."""
    pairs: set[tuple[Category, DType]] = set()
    for case in usable:
        for number in case.operands([name]):
            dtype = case.arguments.get("dtype") or computing.get(
                id(case), case.given[0] if case.given else None
            )
            if dtype is not None:
                pairs.add((dtype.category, number.dtype))
    categories = {category for category, _ in pairs}
    for rule, table in NUMBER_RULES.items():
        if pairs == {(category, number) for category in categories for number in table[category]}:
            return {} if rule == "Number" else {name: rule}
    seen = {number for _, number in pairs}
    return {name: [dtype.name for dtype in NUMBER_DTYPE.values() if dtype in seen]} if seen else {}


def _returns(schema: FunctionSchema, entry: Entry, usable: list[Case]) -> Entry:
    """The results that are not as the rule has them."""
    rule = expand(schema, entry)
    pairs = [(predicted(rule, case), case.given) for case in usable]
    known = [(said, given) for said, given in pairs if said is not None and given is not None]
    found: Entry = {}
    for i in range(len(known[0][1]) if known else 0):
        said_given = {(said[i], given[i]) for said, given in known}
        if all(said is given for said, given in said_given):
            continue
        givens = {given for _, given in said_given}
        for name, table in RETURN_RULES.items():
            if all(table.get(said, said) is given for said, given in said_given):
                found[f"__ret_{i}"] = name
        if len(givens) == 1:
            found[f"__ret_{i}"] = givens.pop().name
    return found


# --- explicit rows -------------------------------------------------------------------------------------------

Point = tuple["DType | None", ...]
"""The dtypes of the arguments, by position."""


def fit_rows(spec: OperatorSpec, observed: list[Case]) -> Entry | None:
    """Rows that cover the accepted cases and none of the others, greedily: always the row that covers most.

    None for operators with lists of tensors, and where two cases of the same dtypes differ.
    """
    names = [
        argument.name
        for argument in spec.schema.arguments
        if argument.type.base in ("Tensor", "Scalar", "ScalarType")
        and observed
        and argument.name in observed[0].arguments
    ]
    points: dict[Point, tuple[DType, ...] | None] = {}
    for case in observed:
        values = [case.arguments.get(name) for name in names]
        if case.numbers:
            continue
        if any(isinstance(value, tuple) for value in values):
            return None
        point = tuple(value.dtype if isinstance(value, Operand) else value for value in values)
        if points.setdefault(point, case.given) != case.given:
            return None
    writer = RowWriter(spec, names)
    left = {point: given for point, given in points.items() if given is not None}
    while left:
        if len(writer.lines) == ROWS:
            return None
        box = max(
            (box for pattern in patterns(len(names)) for box in boxes(pattern, points, left)), key=Box.rank
        )
        writer.add(box)
        left = {point: given for point, given in left.items() if not box.covers(point)}
    return writer.entry()


def patterns(count: int) -> Iterator[tuple[int, ...]]:
    """The ways to share variables: for each of `count` arguments the number of its variable."""

    def extend(pattern: tuple[int, ...], used: int) -> Iterator[tuple[int, ...]]:
        if len(pattern) == count:
            yield pattern
            return
        for variable in range(min(used + 1, 3)):
            yield from extend((*pattern, variable), max(used, variable + 1))

    yield from extend((), 0)


@dataclass
class Box:
    """A row in the making: variables, and the dtypes that each ranges over."""

    pattern: tuple[int, ...]
    sets: list[set[DType | None]]
    returns: tuple[int | DType, ...]
    """For each result a variable, or a dtype."""
    covered: int = 0

    def values(self, point: Point) -> list[DType | None] | None:
        """The variables' dtypes at a point; None where one would need two."""
        values: dict[int, DType | None] = {}
        for variable, dtype in zip(self.pattern, point, strict=True):
            if values.setdefault(variable, dtype) is not dtype:
                return None
        return [values[variable] for variable in sorted(values)]

    def covers(self, point: Point) -> bool:
        values = self.values(point)
        return values is not None and all(
            value in held for value, held in zip(values, self.sets, strict=True)
        )

    def rank(self) -> tuple[int, int]:
        return self.covered, -len(self.sets)


def boxes(
    pattern: tuple[int, ...], points: Mapping[Point, Any], left: Mapping[Point, tuple[DType, ...]]
) -> Iterator[Box]:
    """Boxes of a pattern around the first point not covered yet, grown as far as the observations allow."""
    seed = Box(pattern, [], ())
    consistent = {point: values for point in points if (values := seed.values(point)) is not None}
    start = next((point for point in left if point in consistent), None)
    if start is None:
        return
    at = consistent[start]
    given = left[start]
    bound = [[*(v for v, dtype in enumerate(at) if dtype is ret), ret] for ret in given]
    for returns in itertools.product(*bound):
        for order in (range(len(at)), range(len(at) - 1, -1, -1)):
            box = Box(pattern, [{dtype} for dtype in at], returns)

            def fits(box: Box = box) -> bool:
                return all(
                    points[point]
                    == tuple(ret if isinstance(ret, DType) else values[ret] for ret in box.returns)
                    for point, values in consistent.items()
                    if all(value in held for value, held in zip(values, box.sets, strict=True))
                )

            for variable in order:
                for dtype in sorted({values[variable] for values in consistent.values()}, key=str):
                    if dtype is None or None in box.sets[variable] or dtype in box.sets[variable]:
                        continue
                    box.sets[variable].add(dtype)
                    if not fits():
                        box.sets[variable].remove(dtype)
            box.covered = sum(box.covers(point) for point in left)
            yield box


class RowWriter:
    """Boxes as an entry with explicit rows."""

    def __init__(self, spec: OperatorSpec, names: Sequence[str]) -> None:
        self.spec = spec
        self.names = names
        self.aliases: dict[str, Any] = {}
        self.lines: list[dict[str, str]] = []

    def add(self, box: Box) -> None:
        variables: list[str] = []
        for held in box.sets:
            dtypes = {dtype for dtype in held if dtype is not None}
            if len(dtypes) <= 1:
                variables.append(next(iter(dtypes)).name if dtypes else ABSENT)
                continue
            names = set_names(dtypes)
            known = (name for name, held in self.aliases.items() if held == names and name not in variables)
            variable = next(known, f"T{len(self.aliases)}")
            self.aliases[variable] = names
            variables.append(variable)
        line = {name: variables[variable] for name, variable in zip(self.names, box.pattern, strict=True)}
        for i, ret in enumerate(box.returns):
            line[f"__ret_{i}"] = ret.name if isinstance(ret, DType) else variables[ret]
        self.lines.append(line)

    def entry(self) -> Entry:
        return {"func": func_name(self.spec), "type_alias": self.aliases, "type_constraint": self.lines}


def func_name(spec: OperatorSpec) -> str:
    """The name as specs write it: `aten::add.Tensor`."""
    return spec.qualified_name.replace(".", "::", 1)


# --- edge.yaml -----------------------------------------------------------------------------------------------


def flow(value: Any) -> str:
    """A value as YAML in flow style."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return "null" if value is None else str(value)


def written(entry: Entry) -> str:
    """An entry as it stands in the file: a line in the short form, a block with explicit rows."""
    if "type_constraint" not in entry:
        return f"- {flow(entry)}\n"
    lines = [f"- func: {entry['func']}", "  type_alias:" + ("" if entry["type_alias"] else " {}")]
    lines += [f"    {name}: {flow(names)}" for name, names in entry["type_alias"].items()]
    for key in ("type_constraint", "when"):
        if key in entry:
            lines += [f"  {key}:", *(f"  - {flow(row)}" for row in entry[key])]
    return "\n".join(lines) + "\n"


def needs_rule(spec: OperatorSpec) -> bool:
    """Whether an operator takes or gives a tensor."""
    return any(item.type.is_tensor for item in (*spec.schema.arguments, *spec.schema.returns))


def derive(names: Sequence[str]) -> Iterator[tuple[str, Entry | None, list[Case]]]:
    """The entry of each operator, and the observed cases that it does not agree with.

    None for an entry that stays as it is: it agrees with all that was observed, or nothing ran.
    """
    table = specs()
    with torch.no_grad(), warnings.catch_warnings():
        for message in QUIET:
            warnings.filterwarnings("ignore", message=message)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what samples of other operators warn of is not our business
            found = probes(names)
        for name, some in found.items():
            for probe in some:
                probe.explore()
            observed = [case for probe in some for case in cases(probe)]
            rule = table[name].dtype_rule
            wrong = disagreements(rule, observed) if rule is not None else []
            if rule is not None and not reaches_edge(table[name]):
                wrong = [case for case in wrong if predicted(rule, case) is not None]
            if rule is not None and not wrong:
                yield name, None, []
            else:
                entry, left = fit(table[name], some)
                yield name, entry if entry else None, left


QUIET = (
    "Casting complex values to real",
    "ComplexHalf support is experimental",
    ".*degrees of freedom is <= 0",
    ".*deprecated",
    ".*received a mask with dtype torch.uint8",
    "indexing with dtype torch.uint8",
    "where received a uint8 condition",
    "The use of `x.T`",
)
"""Warnings of kernels at dtypes that they take, but had rather not."""

HEADER = "# Dtype rules of every operator, from PyTorch's CPU kernels by probe.py; dtype_rules.py explains the form.\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--check", action="store_true", help="change nothing, exit 1 where edge.yaml is out of date"
    )
    parser.add_argument(
        "names", nargs="*", help="operators to show, as in aten.add.Tensor; all are written if none is"
    )
    options = parser.parse_args()
    table = specs()
    names = options.names or [name for name in table if needs_rule(table[name])]
    text = HEADER
    changed = 0
    for name, entry, left in derive(names):
        shown = written(entry) if entry is not None else table[name].rule_text
        text += shown
        changed += entry is not None
        if entry is not None or (options.names and not options.check):
            print(shown, end="", flush=True)
        if left:
            assert entry is not None
            report(name, expand(table[name].schema, entry), left)
    if options.check:
        print(f"{changed} of {len(names)} rules disagree with PyTorch's kernels")
        return 1 if changed else 0
    if not options.names:
        Path(__file__).with_name("edge.yaml").write_text(text, encoding="utf-8")
    return 0


def report(name: str, rule: DtypeRule, left: list[Case]) -> None:
    """Prints what a rule gets wrong, with an example."""
    case = left[0]
    seen = {name: value for name, value in case.arguments.items() if name in rule.allowed}
    shown = ", ".join(f"{key}={value}" for key, value in seen.items())
    print(
        f"{name}: {len(left)} cases differ, as ({shown}): {predicted(rule, case)}, not {case.given}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    sys.exit(main())
