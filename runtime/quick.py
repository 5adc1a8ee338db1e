"""Calls of compiled methods with arrays as they usually are, without Python in between.

    call = quick(types, place_of_each, address)
    call(arrays, words)                  # the arrays' pointers to the words, and off it goes; or False, and nothing was done

A function in LLVM IR looks at each array: is it one, of this dtype and shape, contiguous and aligned? Where all are, their memory goes to the words that the
driver of the method takes, and it runs. Where one is not, Python looks, converts, and says what is wrong. It reads CPython's and
NumPy's objects (`PyListObject`, `PyArrayObject_fields`), which are compiled into every extension as they lie; where an interpreter
has others there are no quick calls. https://numpy.org/doc/stable/reference/c-api/types-and-structures.html
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xdsl_exir.lowering.pack_arguments import ENTRY
from xdsl_exir.runtime.linking import load_objects
from xdsl_exir.targets.cpu.machine import baseline
from xdsl_exir.targets.cpu.objects import emit_object
from xdsl_exir.threads import once

NAME = f"{ENTRY}quick"
LIST_ITEMS, TYPE, DATA, RANK, SHAPE, DTYPE, FLAGS = 24, 8, 16, 24, 32, 56, 64
"""Offsets in a list, and in an array."""
CONTIGUOUS_ALIGNED = 0x101
"""NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED."""
NOWHERE = -1
"""The place of an array that the driver does not take."""

CODE = f"""
define i64 @"{NAME}"(ptr %list, ptr %table, ptr %words) {{
start:
  %items_at = getelementptr i8, ptr %list, i64 {LIST_ITEMS}
  %items = load ptr, ptr %items_at
  %driver_at = load i64, ptr %table
  %driver = inttoptr i64 %driver_at to ptr
  %type_at = getelementptr i64, ptr %table, i64 1
  %type = load i64, ptr %type_at
  %count_at = getelementptr i64, ptr %table, i64 2
  %count = load i64, ptr %count_at
  br label %each
each:
  %i = phi i64 [0, %start], [%next, %done]
  %row = phi i64 [3, %start], [%next_row, %done]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %all
look:
  %item_at = getelementptr ptr, ptr %items, i64 %i
  %item = load ptr, ptr %item_at
  %its_type_at = getelementptr i8, ptr %item, i64 {TYPE}
  %its_type = load i64, ptr %its_type_at
  %is_array = icmp eq i64 %its_type, %type
  br i1 %is_array, label %array, label %other
array:
  %place_at = getelementptr i64, ptr %table, i64 %row
  %place = load i64, ptr %place_at
  %dtype_at = getelementptr i64, ptr %place_at, i64 1
  %dtype = load i64, ptr %dtype_at
  %rank_at = getelementptr i64, ptr %place_at, i64 2
  %rank = load i64, ptr %rank_at
  %sizes = getelementptr i64, ptr %place_at, i64 3
  %its_dtype_at = getelementptr i8, ptr %item, i64 {DTYPE}
  %its_dtype = load i64, ptr %its_dtype_at
  %same_dtype = icmp eq i64 %its_dtype, %dtype
  %its_rank_at = getelementptr i8, ptr %item, i64 {RANK}
  %its_rank_short = load i32, ptr %its_rank_at
  %its_rank = sext i32 %its_rank_short to i64
  %same_rank = icmp eq i64 %its_rank, %rank
  %flags_at = getelementptr i8, ptr %item, i64 {FLAGS}
  %flags = load i32, ptr %flags_at
  %flags_wanted = and i32 %flags, {CONTIGUOUS_ALIGNED}
  %lies = icmp eq i32 %flags_wanted, {CONTIGUOUS_ALIGNED}
  %both = and i1 %same_dtype, %same_rank
  %fits = and i1 %both, %lies
  %shape_at = getelementptr i8, ptr %item, i64 {SHAPE}
  %shape = load ptr, ptr %shape_at
  br i1 %fits, label %size, label %other
size:
  %d = phi i64 [0, %array], [%next_d, %compare]
  %left = icmp ult i64 %d, %rank
  br i1 %left, label %compare, label %take
compare:
  %wanted_at = getelementptr i64, ptr %sizes, i64 %d
  %wanted = load i64, ptr %wanted_at
  %its_size_at = getelementptr i64, ptr %shape, i64 %d
  %its_size = load i64, ptr %its_size_at
  %next_d = add i64 %d, 1
  %same_size = icmp eq i64 %its_size, %wanted
  br i1 %same_size, label %size, label %other
take:
  %nowhere = icmp slt i64 %place, 0
  br i1 %nowhere, label %done, label %lay
lay:
  %data_at = getelementptr i8, ptr %item, i64 {DATA}
  %data = load i64, ptr %data_at
  %word = getelementptr i64, ptr %words, i64 %place
  store i64 %data, ptr %word
  %word_after = getelementptr i64, ptr %word, i64 1
  store i64 %data, ptr %word_after
  br label %done
done:
  %next = add i64 %i, 1
  %row_and = add i64 %row, 3
  %next_row = add i64 %row_and, %rank
  br label %each
all:
  call void %driver(ptr %words)
  ret i64 1
other:
  ret i64 0
}}
"""

Quick = Callable[[list[Any], "ctypes.Array[ctypes.c_int64]"], int]


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
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p)
    function = prototype(library.address(NAME))
    function.keep = library  # pyright: ignore[reportAttributeAccessIssue]
    return function


def quick(
    types: Sequence[tuple[np.dtype[Any], Sequence[int]]], places: Sequence[int], driver: int
) -> Quick | None:
    """A call of the driver at an address with a list of arrays of these dtypes and shapes, whose pointers go to these places among the
    words, or `NOWHERE`. None where this interpreter has other objects.

    Nobody else may have the list. The call is 0 where an array is another one: then nothing ran."""
    if not is_known():
        return None
    words = [driver, id(np.ndarray), len(types)]
    for (dtype, shape), place in zip(types, places, strict=True):
        words += [place, id(dtype), len(shape), *shape]
    table, function = (ctypes.c_int64 * len(words))(*words), _function()
    kept = [dtype for dtype, _ in types]  # others would have their addresses

    def call(arrays: list[Any], words: ctypes.Array[ctypes.c_int64], kept: object = kept) -> int:
        return function(arrays, table, words)

    return call
