"""Calls of compiled methods with arrays and tensors as they usually are, without Python in between.

    call = quick(types, place_of_each, address)
    call(inputs, outputs, words)         # the arrays' pointers to the words, and off it goes; or 0, and nothing was done

A function in LLVM IR looks at each array: is it one, of this dtype and shape, contiguous and aligned? Where all are, their memory goes to the words that the
driver of the method takes, and it runs. Where one is not, Python looks, converts, and says what is wrong. It reads CPython's and
NumPy's objects (`PyListObject`, `PyArrayObject_fields`), which are compiled into every extension as they lie; where an interpreter
has others there are no quick calls. https://numpy.org/doc/stable/reference/c-api/types-and-structures.html

Tensors say themselves where they lie, to a function that their class has for it (`DLPackExchangeAPI`, https://dmlc.github.io/dlpack/latest/c_api.html,
in PyTorch from 2.10 on).
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.exchange.arrays import array_of, is_plain_tensor
from xdsl_exir.interpreter.interpreter import dtype_of
from xdsl_exir.lowering.dispatches.buffers import contiguous_strides
from xdsl_exir.lowering.pack_arguments import ENTRY
from xdsl_exir.lowering.sizes import static
from xdsl_exir.runtime.linking import load_objects
from xdsl_exir.targets.cpu.machine import baseline
from xdsl_exir.targets.cpu.objects import emit_object
from xdsl_exir.threads import Lock, once

NAME = f"{ENTRY}quick"
LIST_ITEMS, TYPE, DATA, RANK, SHAPE, DTYPE, FLAGS = 24, 8, 16, 24, 32, 56, 64
"""Offsets in a list, and in an array."""
CONTIGUOUS_ALIGNED = 0x101
"""NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED."""
TENSOR_BYTES, DEVICE, TENSOR_RANK, TENSOR_DTYPE, TENSOR_SHAPE, STRIDES, OFFSET = 48, 8, 16, 20, 24, 32, 40
"""A DLTensor, and offsets in it."""
CPU_DEVICE = 1
NOWHERE = -1
"""The place of an array that the driver does not take."""

CODE = f"""
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @PyErr_Clear()

define i32 @"{NAME}"(ptr %list, ptr %table, ptr %words) {{
start:
  %tensor = alloca [{TENSOR_BYTES} x i8], align 8
  %items_at = getelementptr i8, ptr %list, i64 {LIST_ITEMS}
  %items = load ptr, ptr %items_at
  %driver = load ptr, ptr %table
  %array_type_at = getelementptr i64, ptr %table, i64 1
  %array_type = load i64, ptr %array_type_at
  %tensor_type_at = getelementptr i64, ptr %table, i64 2
  %tensor_type = load i64, ptr %tensor_type_at
  %says_at = getelementptr i64, ptr %table, i64 3
  %says = load ptr, ptr %says_at
  %count_at = getelementptr i64, ptr %table, i64 4
  %count = load i64, ptr %count_at
  br label %each
each:
  %i = phi i64 [0, %start], [%next, %done]
  %row = phi i64 [5, %start], [%next_row, %done]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %all
look:
  %item_at = getelementptr ptr, ptr %items, i64 %i
  %item = load ptr, ptr %item_at
  %its_type_at = getelementptr i8, ptr %item, i64 {TYPE}
  %its_type = load i64, ptr %its_type_at
  %place_at = getelementptr i64, ptr %table, i64 %row
  %place = load i64, ptr %place_at
  %rank_at = getelementptr i64, ptr %place_at, i64 1
  %rank = load i64, ptr %rank_at
  %wanted_sizes = getelementptr i64, ptr %place_at, i64 5
  %wanted_strides = getelementptr i64, ptr %wanted_sizes, i64 %rank
  %is_array = icmp eq i64 %its_type, %array_type
  br i1 %is_array, label %array, label %no_array
array:
  %dtype_at = getelementptr i64, ptr %place_at, i64 2
  %dtype = load i64, ptr %dtype_at
  %its_dtype_at = getelementptr i8, ptr %item, i64 {DTYPE}
  %its_dtype = load i64, ptr %its_dtype_at
  %same_dtype = icmp eq i64 %its_dtype, %dtype
  %array_rank_at = getelementptr i8, ptr %item, i64 {RANK}
  %array_rank = load i32, ptr %array_rank_at
  %flags_at = getelementptr i8, ptr %item, i64 {FLAGS}
  %flags = load i32, ptr %flags_at
  %flags_wanted = and i32 %flags, {CONTIGUOUS_ALIGNED}
  %array_lies = icmp eq i32 %flags_wanted, {CONTIGUOUS_ALIGNED}
  %array_fits = and i1 %same_dtype, %array_lies
  %array_sizes_at = getelementptr i8, ptr %item, i64 {SHAPE}
  %array_sizes = load ptr, ptr %array_sizes_at
  %array_data_at = getelementptr i8, ptr %item, i64 {DATA}
  %array_data = load i64, ptr %array_data_at
  br label %compare_rank
no_array:
  %is_tensor = icmp eq i64 %its_type, %tensor_type
  br i1 %is_tensor, label %ask, label %other
ask:
  %failed = call i32 %says(ptr %item, ptr %tensor)
  %said = icmp eq i32 %failed, 0
  br i1 %said, label %told, label %silent
silent:
  call void @PyErr_Clear()
  br label %other
told:
  %kind_at = getelementptr i64, ptr %place_at, i64 3
  %kind = load i64, ptr %kind_at
  %mask_at = getelementptr i64, ptr %place_at, i64 4
  %mask = load i64, ptr %mask_at
  %device_at = getelementptr i8, ptr %tensor, i64 {DEVICE}
  %device = load i32, ptr %device_at
  %is_here = icmp eq i32 %device, {CPU_DEVICE}
  %its_kind_at = getelementptr i8, ptr %tensor, i64 {TENSOR_DTYPE}
  %its_kind_short = load i32, ptr %its_kind_at
  %its_kind = zext i32 %its_kind_short to i64
  %same_kind = icmp eq i64 %its_kind, %kind
  %tensor_rank_at = getelementptr i8, ptr %tensor, i64 {TENSOR_RANK}
  %tensor_rank = load i32, ptr %tensor_rank_at
  %tensor_sizes_at = getelementptr i8, ptr %tensor, i64 {TENSOR_SHAPE}
  %tensor_sizes = load ptr, ptr %tensor_sizes_at
  %tensor_strides_at = getelementptr i8, ptr %tensor, i64 {STRIDES}
  %tensor_strides = load ptr, ptr %tensor_strides_at
  %offset_at = getelementptr i8, ptr %tensor, i64 {OFFSET}
  %offset = load i64, ptr %offset_at
  %storage = load i64, ptr %tensor
  %tensor_data = add i64 %storage, %offset
  %low = and i64 %tensor_data, %mask
  %is_aligned = icmp eq i64 %low, 0
  %here = and i1 %is_here, %same_kind
  %tensor_fits = and i1 %here, %is_aligned
  br label %compare_rank
compare_rank:
  %fits = phi i1 [%array_fits, %array], [%tensor_fits, %told]
  %its_rank_short = phi i32 [%array_rank, %array], [%tensor_rank, %told]
  %sizes = phi ptr [%array_sizes, %array], [%tensor_sizes, %told]
  %strides = phi ptr [%wanted_strides, %array], [%tensor_strides, %told]
  %data = phi i64 [%array_data, %array], [%tensor_data, %told]
  %its_rank = sext i32 %its_rank_short to i64
  %same_rank = icmp eq i64 %its_rank, %rank
  %may = and i1 %fits, %same_rank
  br i1 %may, label %size, label %other
size:
  %d = phi i64 [0, %compare_rank], [%next_d, %compare]
  %left = icmp ult i64 %d, %rank
  br i1 %left, label %compare, label %take
compare:
  %wanted_at = getelementptr i64, ptr %wanted_sizes, i64 %d
  %wanted = load i64, ptr %wanted_at
  %its_size_at = getelementptr i64, ptr %sizes, i64 %d
  %its_size = load i64, ptr %its_size_at
  %same_size = icmp eq i64 %its_size, %wanted
  %wanted_stride_at = getelementptr i64, ptr %wanted_strides, i64 %d
  %wanted_stride = load i64, ptr %wanted_stride_at
  %its_stride_at = getelementptr i64, ptr %strides, i64 %d
  %its_stride = load i64, ptr %its_stride_at
  %same_stride = icmp eq i64 %its_stride, %wanted_stride
  %any_stride = icmp eq i64 %wanted_stride, 0
  %lies = or i1 %same_stride, %any_stride
  %next_d = add i64 %d, 1
  %same = and i1 %same_size, %lies
  br i1 %same, label %size, label %other
take:
  %nowhere = icmp slt i64 %place, 0
  br i1 %nowhere, label %done, label %lay
lay:
  %word = getelementptr i64, ptr %words, i64 %place
  store i64 %data, ptr %word
  %word_after = getelementptr i64, ptr %word, i64 1
  store i64 %data, ptr %word_after
  br label %done
done:
  %next = add i64 %i, 1
  %row_and = add i64 %row, 5
  %twice = mul i64 %rank, 2
  %next_row = add i64 %row_and, %twice
  br label %each
all:
  %thread = call ptr @PyEval_SaveThread()
  call void %driver(ptr %words)
  call void @PyEval_RestoreThread(ptr %thread)
  ret i32 1
other:
  ret i32 0
}}
"""


@functools.cache
def is_known() -> bool:
    """Whether this interpreter's lists and arrays lie as the code takes them to."""
    if sys.implementation.name != "cpython" or sys.maxsize < 1 << 32 or hasattr(sys, "gettotalrefcount"):
        return False
    if (object.__basicsize__, list.__basicsize__) != (16, 40) or np.ndarray.__basicsize__ < FLAGS + 4:
        return False
    array, items = np.zeros((3, 5), np.float32), [object()]

    def word(of: object, offset: int) -> int:
        return ctypes.c_int64.from_address(id(of) + offset).value

    rank, flags = (ctypes.c_int32.from_address(id(array) + offset).value for offset in (RANK, FLAGS))
    return (
        ctypes.c_int64.from_address(word(items, LIST_ITEMS)).value == id(items[0])
        and (word(array, TYPE), word(array, DTYPE)) == (id(np.ndarray), id(array.dtype))
        and (word(array, DATA), rank) == (array.ctypes.data, 2)
        and list((ctypes.c_int64 * 2).from_address(word(array, SHAPE))) == [3, 5]
        and flags & CONTIGUOUS_ALIGNED == CONTIGUOUS_ALIGNED
    )


@once
def _function() -> Callable[..., int]:
    library = load_objects([emit_object(CODE, baseline())])
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p)
    function = prototype(library.address(NAME))
    function.keep = library  # pyright: ignore[reportAttributeAccessIssue]
    return function


KINDS = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6}
"""DLDataTypeCode, by what names of dtypes begin with."""
OTHER_KIND = -1
"""Of dtypes whose tensors say not all: complex ones may be conjugates of what is there."""


def kind_of(dtype: DType) -> int:
    """A DLDataType: code, bits and lanes."""
    code = KINDS.get(dtype.torch_name.rstrip("0123456789"))
    return OTHER_KIND if code is None else code | dtype.bits << 8 | 1 << 16


@functools.cache
def exchange_of(kind: type[Any]) -> int:
    """Where the function is that a class of tensors has for saying where they lie (`dltensor_from_py_object_no_sync`); 0 if it has none of its own: one
    that is derived may have other elements than those that lie there."""
    capsule = vars(kind).get("__dlpack_c_exchange_api__")
    if capsule is None:
        return 0
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    api = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, b"dlpack_exchange_api")
    major = ctypes.c_uint32.from_address(api).value
    # A version, an older table, and functions: what allocates, what takes a tensor whole, what gives one, and this.
    return ctypes.c_int64.from_address(api + 5 * 8).value if major == 1 else 0


def lies_as_said(value: Any) -> bool:
    """Whether what has an exchange function says all of itself to it: all but a tensor that is the negative of what lies there."""
    return exchange_of(value.__class__) != 0 and not (hasattr(value, "is_neg") and value.is_neg())


def array_if_tensor(value: Any) -> Any:
    """An array, where a tensor was given for one."""
    return array_of(value) if is_plain_tensor(value) else value


LOCK = Lock()


class DriverCalls:
    """Calls of the driver at an address with arrays of these dtypes and shapes, whose pointers go to these places among the
    words, or `NOWHERE`."""

    def __init__(
        self, types: Sequence[tuple[np.dtype[Any], Sequence[int]]], places: Sequence[int], driver: int
    ):
        words = [driver, id(np.ndarray), 0, 0, len(types)]
        for (dtype, shape), place in zip(types, places, strict=True):
            known, empty = dtype_of(dtype), 0 in shape
            strides = static(contiguous_strides(shape))
            any_is_well = [empty or size == 1 for size in shape]
            words += [place, len(shape), id(dtype), kind_of(known), known.itemsize - 1, *shape]
            words += [0 if well else stride for stride, well in zip(strides, any_is_well, strict=True)]
        self.table = (ctypes.c_int64 * len(words))(*words)
        self.at = ctypes.addressof(self.table)
        self.kept = [dtype for dtype, _ in types]
        """Others would have their addresses."""
        self.function = _function()
        self.tensors: type[Any] | None = None
        """The class of which arguments may be besides arrays."""

    def __call__(self, inputs: Sequence[Any], outputs: Sequence[Any], words: int) -> int:
        """Calls with the memory of inputs and outputs; 0 where one is another array: then nothing ran."""
        tensors = [value for value in inputs if value.__class__ is not np.ndarray]
        if all(map(lies_as_said, tensors)):
            if tensors and self.tensors is None:
                self.also(tensors[0].__class__)
            if self.function([*inputs, *outputs], self.at, words):
                return 1
        if not any(map(is_plain_tensor, tensors)):
            return 0
        return self.function([*map(array_if_tensor, inputs), *outputs], self.at, words)

    def also(self, tensors: type[Any]) -> None:
        """From now on takes tensors of a class that has an exchange function, too: of the first one that comes."""
        with LOCK:
            if self.tensors is None:
                self.table[3], self.table[2] = exchange_of(tensors), id(tensors)
                self.tensors = tensors


def quick(
    types: Sequence[tuple[np.dtype[Any], Sequence[int]]], places: Sequence[int], driver: int
) -> DriverCalls | None:
    """Quick calls of a driver. None where this interpreter has other objects."""
    return DriverCalls(types, places, driver) if is_known() else None
