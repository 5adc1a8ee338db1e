"""How types are written in graphs: symbolic sizes with an example of each, as PyTorch wants them, and strides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Dim, Expr, ExprError, to_srepr
from xdsl_exir.dialects.signature import (
    conditions_of,
)
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, tensor_meta
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.exchange.tensor_data import TensorData


def example_values(
    ranges: Mapping[str, tuple[int | None, int | None]], names: Iterator[str], guards: Sequence[Dim] = ()
) -> dict[str, int]:
    """A value in range for every backed symbol, all different where that goes: PyTorch wants an example of each size.

    Sizes that guards want to be multiples are searched among multiples.
    """
    symbols = sorted(names)

    def candidate(factor: int) -> dict[str, int]:
        values: dict[str, int] = {}
        for i, name in enumerate(symbols):
            low, high = ranges.get(name, (None, None))
            value = (max(2, low or 0) + i) * factor
            values[name] = value if high is None else min(value, high)
        return values

    candidates = map(candidate, range(1, _MOST_OF_A_MULTIPLE))
    return next((values for values in candidates if _hold(guards, values)), candidate(1))


_MOST_OF_A_MULTIPLE = 65


def _hold(conditions: Iterable[Dim], values: Mapping[str, int]) -> bool:
    """Whether conditions hold; those on other symbols do."""
    try:
        return all(
            one.evaluate(values)
            for one in conditions
            if isinstance(one, Expr) and one.free_symbols() <= values.keys()
        )
    except ExprError:
        return False


@dataclass(frozen=True)
class Symbols:
    """How symbolic sizes of a function are written."""

    examples: Mapping[str, int]
    plain: frozenset[str]
    """Symbols of integer inputs, of which PyTorch does not assume that they are positive."""

    @staticmethod
    def of(function: FuncOp, ranges: Mapping[str, tuple[int | None, int | None]]) -> Symbols:
        names: dict[str, None] = {}
        sizes: set[str] = set()
        for type in _types(function):
            names.update(dict.fromkeys(_symbols_of(type)))
        for type in function.function_type.inputs.data:
            sizes |= _symbols_of(type) if is_tensor_type(type) else set()
        inputs = {str(type.data) for type in function.function_type.inputs.data if isinstance(type, SymType)}
        backed = (name for name in names if not name.startswith(("u", "zuf")))
        return Symbols(example_values(ranges, backed, conditions_of(function)), frozenset(inputs - sizes))

    def size(self, dim: Dim) -> int | g.Symbolic:
        """A size or the value of a symbolic number."""
        if not isinstance(dim, Expr):
            return dim
        try:
            hint = dim.evaluate(self.examples) if dim.free_symbols() <= self.examples.keys() else None
        except ExprError:
            # No examples were found that the guards hold for, and these give a division by zero.
            hint = None
        return g.Symbolic(to_srepr(dim, self.plain), hint)

    def meta(
        self,
        type: Attribute,
        data: TensorData | None = None,
        requires_grad: bool = False,
        dim_order: tuple[int, ...] | None = None,
    ) -> g.ValueMeta:
        """What a value of this type is. Raises `UnsupportedError` for types that graphs have no values of."""
        if isinstance(type, SymType):
            kind = _SYM_KINDS[type.category]
            value = type.data
            if isinstance(value, Expr) and value.head == "constant":
                return g.SymMeta(kind, _NUMBERS[type.category](value.value))
            return g.SymMeta(kind, self.size(value))
        if not is_tensor_type(type):
            raise UnsupportedError([Unsupported(str(type), "a value of this type is no value of a graph")])
        meta = tensor_meta(type)
        order = dim_order or meta.dim_order or tuple(range(meta.ndim))
        strides = data.strides if data is not None else contiguous_strides(meta.shape, order)
        return g.TensorMeta(
            meta.dtype,
            tuple(map(self.size, meta.shape)),
            requires_grad,
            g.Device(meta.device),
            tuple(map(self.size, strides)),
            data.storage_offset if data is not None else 0,
            g.Layout("strided"),
        )


_SYM_KINDS: Mapping[Category, Any] = {Category.INT: "int", Category.FLOAT: "float", Category.BOOL: "bool"}
_NUMBERS: Mapping[Category, Callable[[Any], Any]] = {
    Category.INT: int,
    Category.FLOAT: float,
    Category.BOOL: bool,
}


def contiguous_strides(shape: Sequence[Dim], order: Sequence[int]) -> tuple[Dim, ...]:
    """Strides of a dense tensor whose dimensions lie in memory in this order, outermost first."""
    strides: dict[int, Dim] = {}
    stride: Dim = 1
    for dim in reversed(order):
        strides[dim] = stride
        size = shape[dim]
        stride = stride * (max(size, 1) if isinstance(size, int) else size)
    return tuple(strides[dim] for dim in range(len(shape)))


def _symbols_of(type: Attribute) -> set[str]:
    """Names of the symbols in a type."""
    dims: Sequence[Dim] = ()
    if is_tensor_type(type):
        dims = tensor_meta(type).shape
    elif isinstance(type, SymType):
        dims = (type.data,)
    return {name for dim in dims if isinstance(dim, Expr) for name in dim.free_symbols()}


def _types(function: FuncOp) -> Iterator[Attribute]:
    """Types of all values of a function."""
    for op in function.walk():
        arguments = [arg for region in op.regions for block in region.blocks for arg in block.args]
        yield from (value.type for value in (*op.results, *arguments))
