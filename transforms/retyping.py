"""Sizes of a method: others in all its types, and what its arguments say of symbols when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from xdsl_exir.dialects.builder import Builder, flat_results
from xdsl_exir.dialects.exir import NumberOp
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.sizes import is_symbol
from xdsl_exir.dialects.sym_ops import SymOp
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, tensor_meta, tensor_type


def with_sizes(type: Attribute, change: Callable[[Dim], Dim]) -> Attribute:
    """A type with other sizes."""
    if is_tensor_type(type):
        meta = tensor_meta(type)
        shape = tuple(map(change, meta.shape))
        return type if shape == meta.shape else tensor_type(shape, meta.dtype, meta.dim_order, meta.device)
    if isinstance(type, SymType) and (value := change(type.data)) != type.data:
        return type.__class__(value)
    return type


def change_sizes(function: FuncOp, change: Callable[[Dim], Dim]) -> None:
    """Puts other sizes in all types of a method."""
    for value in list(values_of(function)):
        after = with_sizes(value.type, change)
        if after != value.type:
            Rewriter.replace_value_with_new_type(value, after)
    function.update_function_type()


def values_of(root: Operation) -> Iterator[SSAValue]:
    """Everything of an operation that has a type, regions included."""
    for op in root.walk():
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


Place: TypeAlias = tuple[BlockArgument, int]
"""An argument, and one of its dimensions."""


def places_of(block: Block) -> dict[str, Place]:
    """The first place of which each symbol is the size."""
    places: dict[str, Place] = {}
    for arg in block.args:
        for dim, size in enumerate(tensor_meta(arg.type).shape if is_tensor_type(arg.type) else ()):
            if is_symbol(size):
                places.setdefault(str(size), (arg, dim))
    return places


def compared(builder: Builder, place: Place, how: type[SymOp], number: int) -> SSAValue:
    """How a place's size compares with a number."""
    [size] = flat_results(builder.call("aten.sym_size.int", [*place], {}))
    other = builder.insert(NumberOp(number, symbolic=True)).results[0]
    return builder.insert(how([size, other])).results[0]
