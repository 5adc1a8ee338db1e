"""`tensor` on NumPy arrays. Tensors are values: what makes one of another copies what it changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xdsl_exir.dialects.upstream import ReshapeOp
from xdsl_exir.interpreter.memory import check_fits
from xdsl_exir.interpreter.operators import Array
from xdsl_exir.interpreter.upstream.scalars import numpy_dtype
from xdsl_exir.interpreter.upstream.structured import elements, guarded


def number(value: Any) -> int:
    """A number that is an array without dimensions."""
    return int(np.asarray(value).item())


def mixed(static: Iterable[int], dynamic: Iterable[Any]) -> list[int]:
    """Numbers of which some are known, the others given in order."""
    left = iter(dynamic)
    return [number(next(left)) if value == DYNAMIC_INDEX else value for value in static]


def unwritten(shape: Sequence[int], dtype: np.dtype[Any], name: str) -> Array:
    """An array that nobody has written to: of numbers that would be seen in a result."""
    check_fits(f"{name} {list(shape)}", int(np.prod(shape, dtype=object)) * dtype.itemsize)
    return np.full(shape, np.nan if dtype.kind in "fcV" else 0x55 if dtype.kind != "b" else True, dtype)


def window(offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]) -> tuple[slice, ...]:
    """The part of an array that begins at offsets."""
    return tuple(
        slice(offset, offset + size * stride, stride)
        for offset, size, stride in zip(offsets, sizes, strides, strict=True)
    )


@register_impls
class TensorFunctions(InterpreterFunctions):
    """Implementations of `tensor`."""

    @impl(tensor.EmptyOp)
    def run_empty(self, interpreter: Interpreter, op: tensor.EmptyOp, args: PythonValues) -> PythonValues:
        type = op.tensor.type
        assert isa(type, TensorType[Attribute])
        return (unwritten(mixed(type.get_shape(), args), numpy_dtype(type.element_type), op.name),)

    @impl(tensor.DimOp)
    def run_dim(self, interpreter: Interpreter, op: tensor.DimOp, args: PythonValues) -> PythonValues:
        return (np.int64(np.shape(args[0])[number(args[1])]),)

    @impl(tensor.CastOp)
    def run_cast(self, interpreter: Interpreter, op: tensor.CastOp, args: PythonValues) -> PythonValues:
        return args

    @impl(tensor.ExpandShapeOp)
    def run_expand(
        self, interpreter: Interpreter, op: tensor.ExpandShapeOp, args: PythonValues
    ) -> PythonValues:
        return (np.reshape(args[0], mixed(op.static_output_shape.get_values(), args[1:])),)

    @impl(tensor.CollapseShapeOp)
    def run_collapse(
        self, interpreter: Interpreter, op: tensor.CollapseShapeOp, args: PythonValues
    ) -> PythonValues:
        (array,) = args
        groups = [[dim.value.data for dim in group] for group in op.reassociation]
        return (np.reshape(array, [int(np.prod([array.shape[dim] for dim in group])) for group in groups]),)

    @impl(tensor.ExtractSliceOp)
    def run_extract_slice(
        self, interpreter: Interpreter, op: tensor.ExtractSliceOp, args: PythonValues
    ) -> PythonValues:
        offsets, sizes, strides = parts(op, args[1:])
        found = args[0][window(offsets, sizes, strides)]
        type = op.result.type
        assert isa(type, TensorType[Attribute])
        return (np.reshape(found, kept(sizes, type.get_shape())),)

    @impl(tensor.InsertSliceOp)
    def run_insert_slice(
        self, interpreter: Interpreter, op: tensor.InsertSliceOp, args: PythonValues
    ) -> PythonValues:
        source, made = args[0], args[1].copy()
        offsets, sizes, strides = parts(op, args[2:])
        made[window(offsets, sizes, strides)] = np.reshape(source, sizes)
        return (made,)

    @impl(tensor.PadOp)
    def run_pad(self, interpreter: Interpreter, op: tensor.PadOp, args: PythonValues) -> PythonValues:
        left = iter(args[1:])
        low, high = (mixed(static.get_values(), left) for static in (op.static_low, op.static_high))
        last = op.region.block.last_op
        assert last is not None
        # What a region yields it has of outside: a border of one number.
        (value,) = interpreter.get_values(last.operands)
        return (np.pad(args[0], list(zip(low, high, strict=True)), constant_values=value),)

    @impl(tensor.ExtractOp)
    def run_extract(self, interpreter: Interpreter, op: tensor.ExtractOp, args: PythonValues) -> PythonValues:
        return (elements(args[0], args[1:], guarded(interpreter)),)

    @impl(tensor.InsertOp)
    def run_insert(self, interpreter: Interpreter, op: tensor.InsertOp, args: PythonValues) -> PythonValues:
        made = args[1].copy()
        made[tuple(map(number, args[2:]))] = args[0]
        return (made,)

    @impl(ReshapeOp)
    def run_reshape(self, interpreter: Interpreter, op: ReshapeOp, args: PythonValues) -> PythonValues:
        return (np.reshape(args[0], [number(size) for size in args[1]]),)

    @impl(tensor.FromElementsOp)
    def run_from_elements(
        self, interpreter: Interpreter, op: tensor.FromElementsOp, args: PythonValues
    ) -> PythonValues:
        type = op.result.type
        assert isa(type, TensorType[Attribute])
        return (np.array(args, numpy_dtype(type.element_type)).reshape(type.get_shape()),)


def parts(
    op: tensor.ExtractSliceOp | tensor.InsertSliceOp | memref.ReinterpretCastOp, dynamic: Iterable[Any]
) -> list[list[int]]:
    """Offsets, sizes and strides of a view, of which the dynamic ones are given in this order."""
    left = iter(dynamic)
    return [
        mixed(static.get_values(), left) for static in (op.static_offsets, op.static_sizes, op.static_strides)
    ]


def kept(sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """The sizes of a slice in a type that leaves out some of those that are 1."""
    left = list(sizes)
    for dim in range(len(sizes) - 1, -1, -1):
        if len(left) > len(shape) and left[dim] == 1:
            del left[dim]
    return left
