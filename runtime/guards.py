"""What a call's inputs have to be, checked before every call, whatever runs it: dtypes, sizes, ranges of symbols, guards.

Sizes that are symbols say their values; of sizes of another form one that is not known yet is solved, and all have to agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Dim, Expr, condition_text
from xdsl_exir.dialects.signature import checked_ranges_of, conditions_of
from xdsl_exir.dialects.sizes import is_static, is_symbol
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, number_category, tensor_meta
from xdsl_exir.errors import InputError
from xdsl_exir.exchange.arrays import BOXES, MASKED, array_of
from xdsl_exir.lowering.sizes import solve

ANY = (None, None)
"""The range of a symbol of which nobody said one."""


def name_of(name: str) -> str:
    return f"input '{name}'" if name else "input"


@dataclass(frozen=True)
class Seen:
    """A size of an input, or a number among the inputs."""

    place: str
    """`input 'x', dimension 0`."""
    size: Dim
    """What the program says it is."""
    value: int


@dataclass
class Guards:
    """The conditions on a method's symbols."""

    ranges: dict[str, tuple[int | None, int | None]] = field(
        default_factory=dict[str, tuple[int | None, int | None]]
    )
    conditions: Sequence[Dim] = ()

    @staticmethod
    def of(function: FuncOp) -> Guards:
        return Guards(checked_ranges_of(function), conditions_of(function))

    def check(self, seen: Sequence[Seen]) -> None:
        """Raises `InputError` that names the input and dimension at fault."""
        symbols: dict[str, int] = {}
        sources: dict[str, Seen] = {}
        for one in sorted(seen, key=lambda one: not is_symbol(one.size)):
            unknown = free_symbols(one.size) - symbols.keys()
            if not unknown:
                self.check_equal(one, symbols, sources)
                continue
            if len(unknown) > 1:
                continue
            (symbol,) = unknown
            assert isinstance(one.size, Expr)
            value = solve(one.size.substitute(symbols), one.value)
            if value is None:
                continue
            symbols[symbol] = value
            sources[symbol] = one
            self.check_range(symbol, symbols[symbol], one)
            self.check_equal(one, symbols, sources)
        for condition in self.conditions:
            free = sorted(free_symbols(condition))
            if not isinstance(condition, Expr) or not symbols.keys() >= set(free):
                continue
            if not condition.evaluate(symbols):
                places = {symbol: source.place for symbol, source in sources.items()}
                raise InputError(guard_text(condition, places, symbols))

    def check_equal(self, one: Seen, symbols: dict[str, int], sources: dict[str, Seen]) -> None:
        if not isinstance(one.size, Expr):
            return
        expected = one.size.evaluate(symbols)
        if expected == one.value:
            return
        others = [sources[s] for s in sorted(free_symbols(one.size)) if sources[s] is not one]
        reason = ", ".join(f"{other.place} is {other.value}" for other in others)
        raise InputError(
            f"{one.place}: {one.value} is not {one.size}"
            + (f" = {expected}, since {reason}" if reason else "")
        )

    def check_range(self, symbol: str, value: int, one: Seen) -> None:
        for relation, bound in self.bounds(symbol):
            if value < bound if relation == ">=" else value > bound:
                raise InputError(range_text(one.place, one.size, one.value, symbol, value, relation, bound))

    def bounds(self, symbol: str) -> list[tuple[str, int]]:
        """The ends of a symbol's range, each after the relation in which the symbol is to it."""
        ends = zip((">=", "<="), self.ranges.get(symbol, ANY), strict=True)
        return [(relation, bound) for relation, bound in ends if bound is not None]


# --- what is said of inputs at fault --------------------------------------------------------------------------
# In compiled libraries too, in which placeholders stand for the values.


def place_text(name: str, dim: int | None) -> str:
    """A dimension of an input, or the input itself."""
    return name_of(name) if dim is None else f"{name_of(name)}, dimension {dim}"


def range_text(
    place: str, size: Dim, given: object, symbol: str, value: object, relation: str, bound: int
) -> str:
    """That a symbol's value, which a size says, is out of range."""
    through = "" if is_symbol(size) else f"{given} makes {symbol} "
    word = {">=": "less", "<=": "more"}[relation]
    return f"{place}: {through}{value} is {word} than {bound} ({symbol} {relation} {bound})"


def guard_text(condition: Expr, places: Mapping[str, str], values: Mapping[str, object]) -> str:
    """That the symbols of a condition have values for which it does not hold."""
    given = ", ".join(f"{places[s]}: {s} = {values[s]}" for s in sorted(condition.free_symbols()))
    return f"{given}; not {condition_text(condition)}"


def free_symbols(size: Dim) -> frozenset[str]:
    return size.free_symbols() if isinstance(size, Expr) else frozenset()


NUMBERS: dict[Category | None, tuple[str, tuple[type, ...]]] = {
    Category.BOOL: ("a bool", (bool,)),
    Category.INT: ("an integer", (int,)),
    Category.FLOAT: ("a number", (int, float)),
    Category.COMPLEX: ("a number", (int, float, complex)),
    None: ("a number", (int, float)),
}
"""What numbers among the inputs may be, by the category of their type."""


def typed(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array; with this dtype, if it has its bytes: .npy files hold what NumPy has no types of its own for as those."""
    return array.view(dtype) if array.dtype == np.dtype(f"V{dtype.itemsize}") else array


def plain_array(type: Attribute) -> tuple[np.dtype[Any], tuple[object, ...]] | None:
    """The dtype and shape of arrays of a type, if it names no symbols."""
    if not is_tensor_type(type):
        return None
    meta = tensor_meta(type)
    return (meta.dtype.numpy, tuple(meta.shape)) if is_static(meta.shape) else None


def check_input(name: str, value: Any, type: Attribute, seen: list[Seen], is_written: bool = False) -> Any:
    """A user input as the method takes it, which may write to it; notes its symbolic sizes.

    Raises `InputError` for another dtype, rank or size than the method was exported with.
    """
    what = name_of(name)
    if isinstance(value, MASKED):
        raise InputError(
            f"{what} is a masked array, and masks are not known here; give its data, or filled()"
        )
    if not is_tensor_type(type):
        if isinstance(value, BOXES) and value.ndim == 0:
            value = value.item()
        wanted, kinds = NUMBERS[number_category(type)]
        if not isinstance(value, kinds):
            given = f"an array of {value.dtype}" if isinstance(value, BOXES) else repr(value)
            raise InputError(f"{what} is {given}, expected {wanted}")
        if isinstance(type, SymType) and isinstance(value, int):
            seen.append(Seen(what, type.data, int(value)))
        return value
    meta = tensor_meta(type)
    try:
        array = typed(array_of(value), meta.dtype.numpy)
    except (TypeError, ValueError, RuntimeError, BufferError, AttributeError) as error:
        # Of sparse tensors, of those on other devices, of what is no array.
        raise InputError(f"{what} is no array: {error}") from None
    if not array.dtype.isnative and array.dtype.newbyteorder("=") == meta.dtype.numpy:
        if is_written:
            raise InputError(f"{what} is written to, and its bytes are in another order than this machine's")
        array = array.astype(meta.dtype.numpy)
    if array.dtype != meta.dtype.numpy:
        is_array = array is value or array.dtype.kind not in "OUS"
        found = str(array.dtype) if is_array else value.__class__.__name__
        raise InputError(f"{what} is {found}, expected {meta.dtype.torch_name}")
    if array.ndim != meta.ndim:
        raise InputError(f"{what} has {array.ndim} dimensions, expected {meta.ndim}")
    for dim, (size, given) in enumerate(zip(meta.shape, array.shape, strict=True)):
        if isinstance(size, Expr):
            seen.append(Seen(place_text(name, dim), size, given))
        elif size != given:
            raise InputError(f"{place_text(name, dim)}: {given} is not {size}")
    return array


def check_written(name: str, array: np.ndarray[Any, Any], others: Iterable[tuple[str, Any]]) -> None:
    """Checks an input that the program writes to. Raises `InputError` where it is read-only, where elements of it lie in one
    place, as PyTorch's in-place operators do, and where it shares memory with another input: whether that is read before it
    is written or after, a program without side effects does not say."""
    what = name_of(name)
    if not array.flags.writeable:
        raise InputError(f"{what} is written to, and is read-only")
    if overlaps_itself(array):
        raise InputError(
            f"{what} is written to, and more than one element of it refers to a single memory location"
        )
    for other, value in others:
        if isinstance(value, BOXES) and shares_memory(array, value):
            raise InputError(f"{what} is written to, and shares memory with {name_of(other)}")


def overlaps_itself(array: np.ndarray[Any, Any]) -> bool:
    """Whether elements lie in one place, or may: where the elements of a dimension are not beyond all of those within."""
    end = array.itemsize
    for stride, size in sorted(
        (abs(stride), size) for stride, size in zip(array.strides, array.shape, strict=True)
    ):
        if size > 1 and stride < end:
            return array.size > 0
        end += stride * (size - 1)
    return False


MOST_WORK = 100_000
"""Steps of finding out whether strided arrays share an element, which may take exponential time."""


def shares_memory(one: Any, other: Any) -> bool:
    """Whether arrays have memory in common, or it is too hard to say."""
    try:
        return np.shares_memory(one, other, MOST_WORK)  # pyright: ignore[reportArgumentType]
    except np.exceptions.TooHardError:
        return True
