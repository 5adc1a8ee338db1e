"""`memref` and `bufferization` on NumPy arrays, which are views of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, UnrealizedConversionCastOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xdsl_exir.dialects.upstream import MaterializeInDestinationOp, ToTensorOp
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array, with_strides
from xdsl_exir.interpreter.upstream.scalars import numpy_dtype
from xdsl_exir.interpreter.upstream.tensors import mixed, number, parts, unwritten


def type_of(value: Any) -> MemRefType[Attribute]:
    assert isa(value.type, MemRefType[Attribute])
    return value.type


class View(np.ndarray[Any, np.dtype[Any]]):
    """A view of memory that knows what it is a view of: another one may be made of it, from the memory's beginning."""

    whole: Array


@register_impls
class MemoryFunctions(InterpreterFunctions):
    """Implementations of `memref` and `bufferization`."""

    @impl(memref.AllocOp)
    def run_alloc(self, interpreter: Interpreter, op: memref.AllocOp, args: PythonValues) -> PythonValues:
        type = type_of(op.memref)
        return (unwritten(mixed(type.get_shape(), args), numpy_dtype(type.element_type), op.name),)

    @impl(memref.DeallocOp)
    def run_dealloc(self, interpreter: Interpreter, op: memref.DeallocOp, args: PythonValues) -> PythonValues:
        return ()

    @impl(memref.ViewOp)
    def run_view(self, interpreter: Interpreter, op: memref.ViewOp, args: PythonValues) -> PythonValues:
        memory, offset, *sizes = args
        type = type_of(op.results[0])
        dtype, shape = numpy_dtype(type.element_type), mixed(type.get_shape(), sizes)
        count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        found = memory[number(offset) : number(offset) + count]
        if found.size != count:
            raise ExirError(f"{op.name}: {count} bytes at {number(offset)} of {memory.size}")
        return (found.view(dtype).reshape(shape),)

    @impl(memref.ReinterpretCastOp)
    def run_reinterpret(
        self, interpreter: Interpreter, op: memref.ReinterpretCastOp, args: PythonValues
    ) -> PythonValues:
        memory, *rest = args
        whole = memory.whole if isinstance(memory, View) else memory
        if not whole.flags.c_contiguous:
            raise ExirError(f"{op.name}: of memory with gaps")
        (offset,), sizes, strides = parts(op, rest)
        seen = view(whole, offset, sizes, strides, op.name).view(View)
        seen.whole = whole
        return (seen,)

    @impl(memref.ExtractStridedMetaDataOp)
    def run_metadata(
        self, interpreter: Interpreter, op: memref.ExtractStridedMetaDataOp, args: PythonValues
    ) -> PythonValues:
        (memory,) = args
        whole = memory.whole if isinstance(memory, View) else memory
        size = memory.itemsize
        offset = (memory.ctypes.data - whole.ctypes.data) // size
        strides = [stride // size for stride in memory.strides]
        return (whole, *map(np.int64, (offset, *memory.shape, *strides)))

    @impl(UnrealizedConversionCastOp)
    def run_elements(
        self, interpreter: Interpreter, op: UnrealizedConversionCastOp, args: PythonValues
    ) -> PythonValues:
        """Memory, from its beginning on, as of other elements."""
        (memory,) = args
        whole = memory.whole if isinstance(memory, View) else memory
        dtype = numpy_dtype(type_of(op.results[0]).element_type)
        count = whole.nbytes // dtype.itemsize * dtype.itemsize // whole.itemsize
        return (whole.reshape(-1)[:count].view(dtype),)

    @impl(memref.CastOp)
    def run_cast(self, interpreter: Interpreter, op: memref.CastOp, args: PythonValues) -> PythonValues:
        return args

    @impl(memref.DimOp)
    def run_dim(self, interpreter: Interpreter, op: memref.DimOp, args: PythonValues) -> PythonValues:
        return (np.int64(args[0].shape[number(args[1])]),)

    @impl(memref.LoadOp)
    def run_load(self, interpreter: Interpreter, op: memref.LoadOp, args: PythonValues) -> PythonValues:
        return (args[0][tuple(map(number, args[1:]))],)

    @impl(memref.StoreOp)
    def run_store(self, interpreter: Interpreter, op: memref.StoreOp, args: PythonValues) -> PythonValues:
        args[1][tuple(map(number, args[2:]))] = args[0]
        return ()

    @impl(ToTensorOp)
    def run_to_tensor(self, interpreter: Interpreter, op: ToTensorOp, args: PythonValues) -> PythonValues:
        return (np.asarray(args[0]),)  # read before any result is written

    @impl(MaterializeInDestinationOp)
    def run_materialize(
        self,
        interpreter: Interpreter,
        op: MaterializeInDestinationOp,
        args: PythonValues,
    ) -> PythonValues:
        args[1][...] = args[0]
        return ()


def view(memory: Array, offset: int, sizes: list[int], strides: list[int], name: str) -> Array:
    """Memory from an offset on, with strides, both in elements. Raises `ExirError` beyond its end."""
    reach = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if 0 not in sizes and not 0 <= offset <= reach < memory.size:
        raise ExirError(f"{name}: elements {offset} to {reach} of {memory.size}")
    flat = memory.reshape(-1)[offset if 0 not in sizes else 0 :]
    return with_strides(flat, sizes, [stride * memory.itemsize for stride in strides], memory.flags.writeable)
