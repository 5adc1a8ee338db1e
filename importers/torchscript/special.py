"""Operators of tensors that are no nodes of a graph: what they ask is known of every tensor, or they are others of aten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import BY_CODE, Category, DType
from xdsl_exir.dialects.sharing import Memory
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.importers.torchscript.arguments import dtype_of_code
from xdsl_exir.importers.torchscript.tensors import Tensors
from xdsl_exir.importers.torchscript.values import Condition, DeviceValue, Number, ScriptError, TensorValue
from xdsl_exir.narrowing import is_list

Function = Callable[..., Any]

SPECIAL: dict[str, Function] = {}
"""Functions of the run's tensors and the operator's arguments, by the operator's name with overload."""


def special(*names: str) -> Callable[[Function], Function]:
    """Registers a function."""

    def register(function: Function) -> Function:
        SPECIAL.update(dict.fromkeys(names, function))
        return function

    return register


# --- what is asked of a tensor -------------------------------------------------------------------------------


@special("aten.size")
def sizes(tensors: Tensors, self: TensorValue) -> list[Any]:
    return [tensors.size(self, dim) for dim in range(tensors.meta(self).ndim)]


@special("aten.size.int")
def size(tensors: Tensors, self: TensorValue, dim: int) -> Any:
    ndim = tensors.meta(self).ndim
    if not -ndim <= dim < ndim:
        raise ScriptError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})"
        )
    return tensors.size(self, dim % ndim)


@special("aten.len.Tensor")
def length(tensors: Tensors, self: TensorValue) -> Any:
    if not tensors.meta(self).ndim:
        raise ScriptError("len() of a 0-d tensor")
    return tensors.size(self, 0)


@special("aten.dim", "aten.ndimension")
def dim(tensors: Tensors, self: TensorValue) -> int:
    return tensors.meta(self).ndim


@special("aten.numel")
def numel(tensors: Tensors, self: TensorValue) -> Any:
    count: Any = 1
    for item in sizes(tensors, self):
        count = product(tensors, count, item)
    return count


def product(tensors: Tensors, a: Any, b: Any) -> Any:
    """The product of two sizes."""
    if isinstance(a, Number) or isinstance(b, Number):
        return tensors.symbolic("_operator.mul", a, b)
    return a * b


@special("aten.stride")
def strides(tensors: Tensors, self: TensorValue) -> list[int]:
    return list(_memory(tensors, self, "aten.stride").strides)


@special("aten.stride.int")
def stride(tensors: Tensors, self: TensorValue, dim: int) -> int:
    found = strides(tensors, self)
    if not -len(found) <= dim < len(found):
        raise ScriptError(f"Dimension out of range: {dim} of {len(found)}")
    return found[dim]


@special("aten.is_contiguous")
def is_contiguous(tensors: Tensors, self: TensorValue) -> bool:
    return _memory(tensors, self, "aten.is_contiguous").is_contiguous


def _memory(tensors: Tensors, self: TensorValue, target: str) -> Memory:
    memory = tensors.memory(self)
    if memory is None:
        raise UnsupportedError([Unsupported(target, "how its operand lies in memory is not known")])
    return memory


@special("aten.as_strided", "aten.as_strided_", "aten.storage_offset", "aten.set_.source_Tensor")
def of_memory(tensors: Tensors, self: TensorValue, *rest: Any) -> None:
    raise UnsupportedError([Unsupported("aten.as_strided", "how its operand lies in memory is not kept")])


@special("aten.is_floating_point")
def is_floating_point(tensors: Tensors, self: TensorValue) -> bool:
    return tensors.meta(self).dtype.category is Category.FLOAT


@special("aten.is_complex")
def is_complex(tensors: Tensors, self: TensorValue) -> bool:
    return tensors.meta(self).dtype.category is Category.COMPLEX


@special("aten.is_signed")
def is_signed(tensors: Tensors, self: TensorValue) -> bool:
    dtype = tensors.meta(self).dtype
    return dtype is not dt.Bool and not dtype.torch_name.startswith("uint")


@special("prim.dtype")
def dtype(tensors: Tensors, self: TensorValue) -> int:
    return tensors.meta(self).dtype.code


@special("prim.itemsize", "aten.element_size")
def itemsize(tensors: Tensors, self: TensorValue) -> int:
    return tensors.meta(self).dtype.itemsize


@special("prim.device")
def device(tensors: Tensors, self: TensorValue) -> DeviceValue:
    return DeviceValue(tensors.meta(self).device)


@special("prim.layout", "prim.requires_grad")
def zero(tensors: Tensors, self: TensorValue) -> int:
    return 0


@special(
    "prim.is_cuda", "prim.is_xpu", "prim.is_mps", "prim.is_mkldnn", "prim.is_sparse", "prim.is_sparse_csr",
    "prim.is_quantized", "prim.is_meta", "prim.is_nested", "prim.is_vulkan", "prim.is_ipu", "prim.is_mtia",
    "prim.is_maia", "prim.is_xla", "aten.is_conj", "aten.is_neg", "aten.is_inference",
)  # fmt: skip
def no(tensors: Tensors, self: TensorValue) -> bool:
    return False


@special("prim.is_cpu")
def is_cpu(tensors: Tensors, self: TensorValue) -> bool:
    return tensors.meta(self).device == "cpu"


# --- numbers of tensors --------------------------------------------------------------------------------------


def _one(tensors: Tensors, self: TensorValue, target: str) -> None:
    shape = tensors.meta(self).shape
    if any(isinstance(size, int) and size != 1 for size in shape):
        raise ScriptError(f"{target}: a tensor of sizes {list(shape)} is no number")


def _item(convert: Callable[[Any], Any], target: str) -> Function:
    def item(tensors: Tensors, self: TensorValue) -> Any:
        _one(tensors, self, "a number is asked for, but")
        number = tensors.item(self)
        return (
            tensors.symbolic(target, number)
            if isinstance(number, Number) and number.kind != target[10:]
            else (number if isinstance(number, Number) else convert(number))
        )

    return item


SPECIAL["aten.Int.Tensor"] = SPECIAL["aten.IntImplicit"] = _item(int, "torch.sym_int")
SPECIAL["aten.Float.Tensor"] = SPECIAL["aten.FloatImplicit"] = _item(float, "torch.sym_float")


@special("aten.Complex.Tensor", "aten.ComplexImplicit", "aten.ScalarImplicit", "aten.item")
def item(tensors: Tensors, self: TensorValue) -> Any:
    _one(tensors, self, "a number is asked for, but")
    return tensors.item(self)


@special("aten.Bool.Tensor", "aten.is_nonzero")
def bool_(tensors: Tensors, self: TensorValue) -> Any:
    _one(tensors, self, "a boolean is asked for, but")
    array = tensors.array(self)
    if array is not None:
        return bool(array.item())
    known = tensors.meta(self)
    if known.dtype is not dt.Bool:
        self = tensors.call("aten.ne.Scalar", {"self": self, "other": 0})
    return Condition(tensors.call("aten.reshape", {"self": self, "shape": []}) if known.ndim else self)


# --- tensors of numbers --------------------------------------------------------------------------------------


def _dtype_of_number(value: Any) -> DType:
    kind = value.kind if isinstance(value, Number) else type(value).__name__
    return {"bool": dt.Bool, "int": dt.Long, "float": dt.Float, "complex": dt.ComplexFloat}[kind]


@special("prim.NumToTensor.Scalar", "prim.NumToTensor.bool")
def number_to_tensor(tensors: Tensors, value: Any) -> TensorValue:
    wide = {dt.Float: dt.Double, dt.ComplexFloat: dt.ComplexDouble}
    made = _dtype_of_number(value)
    return tensors.call("aten.scalar_tensor", {"s": value, "dtype": wide.get(made, made).code}, SCALAR_TENSOR)


class _Dtype:
    """A stand-in for an argument that is a dtype."""

    required = True

    class type:
        base = "ScalarType"


SCALAR_TENSOR: Any = {"dtype": _Dtype}


@special(
    "aten.tensor", "aten.tensor.float", "aten.tensor.int", "aten.tensor.bool", "aten.tensor.complex",
    "aten.as_tensor.list", "aten.as_tensor.float", "aten.as_tensor.int", "aten.as_tensor.bool",
    "aten.as_tensor.complex", "aten._tensor",
)  # fmt: skip
def tensor(tensors: Tensors, data: Any, dtype: int | None = None, *rest: Any) -> TensorValue:
    shape: list[int] = []
    item = data
    while is_list(item):
        shape.append(len(item))
        if not item:
            break
        item = item[0]
    flat = _flat(data, shape, 0)
    made = dtype_of_code(dtype) if dtype is not None else (_common([_dtype_of_number(item) for item in flat]))
    if any(isinstance(item, Number) for item in flat):
        each = [
            tensors.call("aten.scalar_tensor", {"s": item, "dtype": made.code}, SCALAR_TENSOR)
            for item in flat
        ]
        if not shape:
            return each[0]
        stacked = tensors.call("aten.stack", {"tensors": each})
        return tensors.call("aten.view", {"self": stacked, "size": shape})
    if not shape:
        given: dict[str, Any] = {"size": [], "fill_value": data, "dtype": made.code}
        return tensors.call("aten.full", given, SCALAR_TENSOR)
    with np.errstate(all="ignore"):
        return tensors.literal(np.array(flat).astype(made.numpy).reshape(shape), made)


@special("aten.as_tensor")
def as_tensor(
    tensors: Tensors, data: TensorValue, dtype: int | None = None, device: Any = None
) -> TensorValue:
    return (
        data
        if dtype is None
        else tensors.call("aten.to.dtype", {"self": data, "dtype": dtype}, SCALAR_TENSOR)
    )


def _common(dtypes: Sequence[DType]) -> DType:
    return max(dtypes, key=lambda dtype: dtype.category, default=dt.Float)


def _flat(data: Any, shape: Sequence[int], depth: int) -> list[Any]:
    if depth == len(shape):
        if is_list(data):
            raise ScriptError("a tensor of lists of different lengths")
        return [data]
    if not is_list(data) or len(data) != shape[depth]:
        raise ScriptError("a tensor of lists of different lengths")
    return [item for part in data for item in _flat(part, shape, depth + 1)]


# --- operators that are others -------------------------------------------------------------------------------


def _to(tensors: Tensors, self: TensorValue, dtype: int | None, copy: bool) -> TensorValue:
    code = tensors.meta(self).dtype.code if dtype is None else dtype
    if code not in BY_CODE:
        raise UnsupportedError([Unsupported(f"dtype {code}", "the IR has no such tensors")])
    return tensors.call("aten.to.dtype", {"self": self, "dtype": code, "copy": copy}, SCALAR_TENSOR)


@special("aten.to.prim_dtype")
def to_dtype(
    tensors: Tensors,
    self: TensorValue,
    dtype: int | None = None,
    non_blocking: bool = False,
    copy: bool = False,
) -> TensorValue:
    return _to(tensors, self, dtype, copy)


@special("aten.to.prim_Device")
def to_device(
    tensors: Tensors,
    self: TensorValue,
    device: Any,
    dtype: int | None = None,
    non_blocking: bool = False,
    copy: bool = False,
) -> TensorValue:
    return _to(tensors, self, dtype, copy)


@special("aten.to.device")
def to_device_dtype(
    tensors: Tensors,
    self: TensorValue,
    device: Any,
    dtype: int,
    non_blocking: bool = False,
    copy: bool = False,
    *rest: Any,
) -> TensorValue:
    return _to(tensors, self, dtype, copy)


@special("aten.to.prim_other")
def to_other(
    tensors: Tensors, self: TensorValue, non_blocking: bool = False, copy: bool = False
) -> TensorValue:
    return _to(tensors, self, None, copy)


@special("aten.cpu", "aten.requires_grad_", "aten.pin_memory", "aten.cuda")
def itself(tensors: Tensors, self: TensorValue, *rest: Any) -> TensorValue:
    return self


@special("prim.data")
def data(tensors: Tensors, self: TensorValue) -> TensorValue:
    return tensors.call("aten.detach", {"self": self})


@special("aten.dropout_")
def dropout_(tensors: Tensors, self: TensorValue, p: float, train: bool) -> TensorValue:
    if not train or p == 0:
        return self  # nothing is written
    dropped = tensors.call("aten.dropout", {"input": self, "p": p, "train": train})
    return tensors.call("aten.copy_", {"self": self, "src": dropped})


@special("aten._convolution", "aten._convolution.deprecated")
def convolution(tensors: Tensors, *arguments: Any) -> TensorValue:
    names = (
        "input",
        "weight",
        "bias",
        "stride",
        "padding",
        "dilation",
        "transposed",
        "output_padding",
        "groups",
    )
    return tensors.call("aten.convolution", dict(zip(names, arguments, strict=False)))
