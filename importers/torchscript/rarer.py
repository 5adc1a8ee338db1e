"""Operators that scripts and traces hold and exported programs do not: each is made of operators that those have.

Packed sequences, `interpolate` of older archives, what tracing writes in place of shapes, lists of tensors. What they do may depend on
elements (how long sequences are): those have to be known then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.importers.torchscript.special import (
    SCALAR_TENSOR,
    SPECIAL,
    bool_,
    numel,
    sizes,
    special,
    tensor,
)
from xdsl_exir.importers.torchscript.tensors import Tensors
from xdsl_exir.importers.torchscript.values import Object, ScriptError, TensorValue
from xdsl_exir.interpreter.operators import Array
from xdsl_exir.narrowing import is_list


def known(tensors: Tensors, value: TensorValue, target: str) -> Array:
    """The elements of a tensor that decide what is done. Raises `UnsupportedError` where only a run knows them."""
    array = tensors.array(value)
    if array is None:
        reason = "of elements that are not known before it runs"
        raise UnsupportedError([Unsupported(target, reason)])
    return array


def given_as(target: str, *names: str) -> None:
    """An operator is another one, whose arguments have these names in its order; those of no name are left out."""

    def call(tensors: Tensors, *arguments: Any) -> Any:
        given = {name: value for name, value in zip(names, arguments, strict=False) if name}
        return tensors.call(target, given)

    for kind in _AS[target]:
        SPECIAL[kind] = call


_AS = {
    "aten.index.Tensor": ("aten.index.Tensor_hacked_twin", "aten._unsafe_index.Tensor_hacked_twin"),
    "aten.index_put": ("aten.index_put.hacked_twin", "aten._unsafe_index_put.hacked_twin"),
    "aten.index_put_": ("aten.index_put_.hacked_twin", "aten._index_put_impl_.hacked_twin"),
    "aten.detach": ("aten.data",),
    "aten.abs": ("prim.abs",),
    "aten.zero_": ("aten._no_grad_zero_",),
    "aten.fill_.Scalar": ("aten._no_grad_fill_",),
    "aten.uniform_": ("aten._no_grad_uniform_",),
    "aten.normal_": ("aten._no_grad_normal_",),
}
"""Operators, and others that do the same."""
given_as("aten.index.Tensor", "self", "indices")
given_as("aten.index_put", "self", "indices", "values", "accumulate")
given_as("aten.index_put_", "self", "indices", "values", "accumulate")
given_as("aten.detach", "self")
given_as("aten.abs", "self")
given_as("aten.zero_", "self")
given_as("aten.fill_.Scalar", "self", "value")
given_as("aten.uniform_", "self", "from", "to")
given_as("aten.normal_", "self", "mean", "std")


@special("aten.copy_.Tensor", "aten.copy_.int", "aten.copy_.float")
def copy_(tensors: Tensors, self: TensorValue, other: Any) -> TensorValue:
    if not isinstance(other, TensorValue):
        code = tensors.meta(self).dtype.code
        other = tensors.call("aten.scalar_tensor", {"s": other, "dtype": code}, SCALAR_TENSOR)
    return tensors.call("aten.copy_", {"self": self, "src": other})


@special("aten.allclose")
def allclose(tensors: Tensors, self: TensorValue, *rest: Any) -> Any:
    given: dict[str, Any] = dict(
        zip(("self", "other", "rtol", "atol", "equal_nan"), (self, *rest), strict=False)
    )
    return bool_(tensors, tensors.call("aten.all", {"self": tensors.call("aten.isclose", given)}))


@special("aten.get_device")
def get_device(tensors: Tensors, self: TensorValue) -> int:
    return -1


@special("prim.nbytes")
def nbytes(tensors: Tensors, self: TensorValue) -> Any:
    return tensors.symbolic("_operator.mul", numel(tensors, self), tensors.meta(self).dtype.itemsize)


@special("aten.manual_seed")
def manual_seed(tensors: Tensors, seed: int, *rest: Any) -> None:
    if not tensors.runs:
        raise UnsupportedError(
            [Unsupported("aten.manual_seed", "an exported program draws from the stream of who calls it")]
        )
    tensors.evaluator.rng.seed(seed)


@special("profiler._record_function_enter_new", "profiler._record_function_enter")
def record_function(tensors: Tensors, *rest: Any) -> Object:
    return Object("__torch__.torch.classes.profiler._RecordFunction")


@special("profiler._record_function_exit", "profiler._record_function_exit._RecordFunction")
def record_function_exit(tensors: Tensors, *rest: Any) -> None:
    return None


@special("aten.where", "aten.nonzero_numpy")
def where_true(tensors: Tensors, self: TensorValue) -> list[TensorValue]:
    return tensors.call("aten.unbind.int", {"self": tensors.call("aten.nonzero", {"self": self}), "dim": 1})


# --- convolutions and interpolation --------------------------------------------------------------------------


@special("aten._convolution_mode")
def convolution_mode(tensors: Tensors, input: TensorValue, *rest: Any) -> TensorValue:
    names = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
    target = f"aten.conv{tensors.meta(rest[0]).ndim - 2}d.padding"
    return tensors.call(target, dict(zip(names, (input, *rest), strict=True)))


_UPSAMPLE = {
    ("nearest", 1): "nearest1d", ("nearest", 2): "nearest2d", ("nearest", 3): "nearest3d", ("linear", 1): "linear1d",
    ("bilinear", 2): "bilinear2d", ("trilinear", 3): "trilinear3d", ("bicubic", 2): "bicubic2d",
    ("nearest-exact", 1): "_nearest_exact1d", ("nearest-exact", 2): "_nearest_exact2d", ("nearest-exact", 3): "_nearest_exact3d",
}  # fmt: skip


@special(
    *(f"aten.__interpolate{suffix}" for suffix in ("", ".size_list", ".scale_list", ".size_list_scale_list")),
    *(f"aten.__upsample{suffix}" for suffix in ("", ".size_list")),
)
def interpolate(
    tensors: Tensors,
    input: TensorValue,
    size: Any = None,
    scale: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute: bool | None = None,
    antialias: bool = False,
) -> TensorValue:
    """What `torch.nn.functional.interpolate` was before it was Python."""
    count = tensors.meta(input).ndim - 2
    size, scale = (
        [value] * count if value is not None and not is_list(value) else value for value in (size, scale)
    )
    if size is None and (recompute or mode == "area"):
        pairs: list[tuple[Any, float]] = list(zip(sizes(tensors, input)[2:], scale, strict=True))
        size, scale = [int(of * by) for of, by in pairs], None
    if mode == "area":
        return tensors.call(f"aten.adaptive_avg_pool{count}d", {"self": input, "output_size": size})
    if (mode, count) not in _UPSAMPLE or antialias:
        raise UnsupportedError([Unsupported("aten.__interpolate", f"{mode} of {count} dimensions")])
    name = _UPSAMPLE[mode, count]
    target = f"aten.{'_upsample' + name if name.startswith('_') else 'upsample_' + name}.vec"
    given: dict[str, Any] = {"input": input, "output_size": size, "scale_factors": scale}
    if "nearest" not in mode:
        given["align_corners"] = bool(align_corners)
    return tensors.call(target, given)


@special(*(f"aten.__upsample_nearest{suffix}" for suffix in ("", ".size_list")))
def upsample_nearest(
    tensors: Tensors, input: TensorValue, size: Any = None, scale: Any = None
) -> TensorValue:
    return interpolate(tensors, input, size, scale)


@special(
    *(
        f"aten.__upsample_bilinear{suffix}"
        for suffix in ("", ".size_list", ".scale_list", ".size_list_scale_list")
    )
)
def upsample_bilinear(
    tensors: Tensors, input: TensorValue, size: Any = None, scale: Any = None
) -> TensorValue:
    return interpolate(tensors, input, size, scale, "bilinear", True)


# --- sequences -----------------------------------------------------------------------------------------------


def rows(tensors: Tensors, of: TensorValue, start: int, stop: int) -> TensorValue:
    return tensors.call("aten.slice.Tensor", {"self": of, "dim": 0, "start": start, "end": stop, "step": 1})


@special("aten._pack_padded_sequence")
def pack(
    tensors: Tensors, input: TensorValue, lengths: TensorValue, batch_first: bool
) -> tuple[TensorValue, TensorValue]:
    counts = known(tensors, lengths, "aten._pack_padded_sequence")
    if np.any(counts[:-1] < counts[1:]) or np.any(counts <= 0):
        raise ScriptError("lengths of packed sequences have to be positive and in decreasing order")
    if batch_first:
        input = tensors.call("aten.transpose.int", {"self": input, "dim0": 0, "dim1": 1})
    batches = [int(np.count_nonzero(counts > time)) for time in range(int(counts[0]))]
    steps = [
        rows(tensors, tensors.call("aten.select.int", {"self": input, "dim": 0, "index": time}), 0, count)
        for time, count in enumerate(batches)
    ]
    return tensors.call("aten.cat", {"tensors": steps}), tensors.literal(np.array(batches), dt.Long)


@special("aten._pad_packed_sequence")
def unpack(
    tensors: Tensors,
    data: TensorValue,
    batch_sizes: TensorValue,
    batch_first: bool,
    padding: Any,
    total_length: int,
) -> tuple[TensorValue, TensorValue]:
    batches = [int(count) for count in known(tensors, batch_sizes, "aten._pad_packed_sequence")]
    length = max(total_length, len(batches))
    if 0 < total_length < len(batches):
        raise ScriptError(f"sequences of {len(batches)} steps, more than {total_length}")
    starts = np.cumsum([0, *batches])
    ndim = tensors.meta(data).ndim

    def padded(of: TensorValue, behind: int) -> TensorValue:
        pad = [0, 0] * (tensors.meta(of).ndim - 1) + [0, behind]
        return (
            tensors.call("aten.constant_pad_nd", {"self": of, "pad": pad, "value": padding}) if behind else of
        )

    steps = [
        padded(rows(tensors, data, int(starts[time]), int(starts[time + 1])), batches[0] - count)
        for time, count in enumerate(batches)
    ]
    made = padded(tensors.call("aten.stack", {"tensors": steps}), length - len(batches))
    assert tensors.meta(made).ndim == ndim + 1
    if batch_first:
        made = tensors.call("aten.transpose.int", {"self": made, "dim0": 0, "dim1": 1})
    lengths = [sum(count > index for count in batches) for index in range(batches[0])]
    return made, tensors.literal(np.array(lengths), dt.Long)


# --- shapes as tensors, tensors as lists ---------------------------------------------------------------------


@special("aten._shape_as_tensor")
def shape_as_tensor(tensors: Tensors, self: TensorValue) -> TensorValue:
    return tensor(tensors, sizes(tensors, self), dt.Long.code)


@special("aten._list_to_tensor")
def list_to_tensor(tensors: Tensors, items: Sequence[Any]) -> TensorValue:
    return tensor(tensors, list(items), dt.Long.code)


@special("aten._reshape_from_tensor")
def reshape_from_tensor(tensors: Tensors, self: TensorValue, shape: TensorValue) -> TensorValue:
    return tensors.call("aten.reshape", {"self": self, "shape": tolist(tensors, shape)})


@special("aten._dim_arange")
def dim_arange(tensors: Tensors, like: TensorValue, dim: int) -> TensorValue:
    given = {"end": tensors.size(like, dim), "dtype": dt.Long.code}
    return tensors.call("aten.arange", given, SCALAR_TENSOR)


@special("prim.tolist", "aten._tensor_to_list")
def tolist(tensors: Tensors, self: TensorValue, *rest: Any) -> Any:
    array = tensors.array(self)
    if array is not None:
        return array.tolist()
    shape = tensors.meta(self).shape
    if not all(isinstance(size, int) for size in shape):
        raise UnsupportedError([Unsupported("prim.tolist", "a list of a length that is not known")])
    if not shape:
        return tensors.item(self)
    items = [
        tensors.call("aten.select.int", {"self": self, "dim": 0, "index": index})
        for index in range(int(str(shape[0])))
    ]
    return [tolist(tensors, item) for item in items]


# --- lists of tensors ----------------------------------------------------------------------------------------


def truth(tensors: Tensors, target: str, a: TensorValue, b: TensorValue) -> bool:
    """What a comparison of two tensors of one element says."""
    compared = tensors.call(target, {"self": a, "other": b})
    return bool(known(tensors, compared, target).item())


def where(tensors: Tensors, items: Sequence[TensorValue], item: TensorValue) -> list[int]:
    return [index for index, each in enumerate(items) if truth(tensors, "aten.eq.Tensor", each, item)]


@special("aten.index.list_Tensor")
def index(tensors: Tensors, items: list[TensorValue], item: TensorValue) -> int:
    found = where(tensors, items, item)
    if not found:
        raise ScriptError("the tensor is not in the list")
    return found[0]


@special("aten.count.Tensor")
def count(tensors: Tensors, items: list[TensorValue], item: TensorValue) -> int:
    return len(where(tensors, items, item))


@special("aten.remove.Tensor")
def remove(tensors: Tensors, items: list[TensorValue], item: TensorValue) -> None:
    del items[index(tensors, items, item)]


@special("aten.sorted.Tensor")
def sorted_(tensors: Tensors, items: list[TensorValue]) -> list[TensorValue]:
    made: list[TensorValue] = []
    for item in items:  # stable, as Python's
        at = sum(not truth(tensors, "aten.lt.Tensor", item, other) for other in made)
        made.insert(at, item)
    return made


@special("aten.sort.Tensor")
def sort(tensors: Tensors, items: list[TensorValue], reverse: bool = False) -> None:
    ordered = sorted_(tensors, items)
    items[:] = ordered[::-1] if reverse else ordered


Comparison = Callable[[Tensors, list[TensorValue], list[TensorValue]], bool]


def _same(wanted: bool) -> Comparison:
    def compare(tensors: Tensors, a: list[TensorValue], b: list[TensorValue]) -> bool:
        same = len(a) == len(b) and all(
            truth(tensors, "aten.eq.Tensor", *pair) for pair in zip(a, b, strict=True)
        )
        return same == wanted

    return compare


SPECIAL["aten.eq.Tensor_list"] = _same(True)
SPECIAL["aten.ne.Tensor_list"] = _same(False)
