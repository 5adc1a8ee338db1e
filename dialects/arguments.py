"""The arguments of an operator's schema as an operation has them: operands and properties.

A Tensor argument becomes an operand; a list of tensors a variadic one; everything else a property. Sizes and scalars
(`SymInt`, `Scalar`...) are properties while they are constant, and operands where the program computes them: a list
that mixes both is a static array with a sentinel plus operands, as MLIR's offsets and sizes are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from keyword import iskeyword
from typing import Any, TypeAlias, cast

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    IntegerType,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    OperandDef,
    OptOperandDef,
    VarOperandDef,
)
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.exir import number_attr, number_value
from xdsl_exir.dialects.schema import MISSING, Argument
from xdsl_exir.dialects.spec import OperatorSpec
from xdsl_exir.dialects.tensors import is_array_attr, is_value
from xdsl_exir.narrowing import is_list, is_sequence
from xdsl_exir.threads import cached_property

Value: TypeAlias = Any
"""An argument: an SSA value, a Python constant, a `DType`, or a list of them."""

SENTINEL = -(1 << 63)
"""Stands in a static list for a size that is an operand."""

# --- arguments as attributes ---------------------------------------------------------------------------------

SYMBOLIC = frozenset({"SymInt", "Scalar", "SymFloat", "SymBool"})
"""Base types whose values the program may compute."""
STRINGS = frozenset({"str", "Device", "Layout", "MemoryFormat"})


def _float(value: Value) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"expected a float, got {value!r}")
    return float(value)


def _dtype(value: Value) -> DType:
    dtype = value if isinstance(value, DType) else dt.BY_CODE.get(value)
    if dtype is None:
        raise TypeError(f"expected a dtype, got {value!r}")
    return dtype


MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
"""By c10::MemoryFormat's values, as schema defaults write them."""


def _memory_format(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and value in range(len(MEMORY_FORMATS)):
        return MEMORY_FORMATS[value]
    raise TypeError(f"expected a memory format, got {value!r}")


NORMALISE: dict[str, Callable[[Value], Value]] = {
    "float": _float,
    "ScalarType": _dtype,
    "MemoryFormat": _memory_format,
    "bool": bool,
}
"""How a constant of a base type is brought to its one Python form."""


def normalise(argument: Argument, value: Value) -> Value:
    """An argument's value in its one form: lists are lists, floats floats, dtypes `DType`s; SSA values stay."""
    if value is None:
        return None
    if argument.type.is_list:
        items = value if is_sequence(value) else [value] * (argument.type.size or 1)
        return stretched(argument, [_normalise_item(argument.type.base, item) for item in items])
    return _normalise_item(argument.type.base, value)


WINDOWS = frozenset({"kernel_size", "stride", "padding", "dilation", "output_padding"})
"""Arguments in which PyTorch's kernels take a list of one number for one of as many as there are dimensions."""


def stretched(argument: Argument, items: list[Value]) -> list[Value]:
    """A list in which one item that stands for all of an `int[2]` is there as often."""
    return items * (argument.type.size or 1) if len(items) == 1 and argument.name in WINDOWS else items


def _normalise_item(base: str, value: Value) -> Value:
    if isinstance(value, Operation):
        return SSAValue.get(value)
    if value is None or is_value(value):
        return value
    if base == "Tensor":
        raise TypeError(f"a tensor argument is {value!r}; Python numbers are made SSA values by exir.number")
    return NORMALISE[base](value) if base in NORMALISE else value


def to_attr(base: str, value: Value) -> Attribute:
    """A constant of a base type as attribute."""
    if base in STRINGS:
        return StringAttr(value)
    if base == "ScalarType":
        return cast(DType, value).mlir_type
    return number_attr(value)


def from_attr(base: str, attr: Attribute) -> Value:
    """The constant of an attribute made by `to_attr`. Raises `VerifyException` for another attribute."""
    if base in STRINGS:
        match attr:
            case StringAttr():
                return attr.data
            case BytesAttr():  # how xDSL reads a string with escapes beyond ASCII
                return attr.data.decode()
            case _:
                raise VerifyException(f"expected a string, got {attr}")
    if base == "ScalarType":
        if attr not in dt.BY_MLIR_TYPE:
            raise VerifyException(f"expected a dtype, got {attr}")
        return dt.BY_MLIR_TYPE[attr]
    return number_value(attr)


_DENSE = {"int": i64, "SymInt": i64, "bool": i1}


def is_dense_list(base: str) -> bool:
    """Whether a list of constants of a base type is a dense array."""
    return base in _DENSE


def dense_array(type: IntegerType, values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """A list of integers or booleans as attribute."""
    if len(values) > LONG:
        return DenseArrayBase.from_list(type, values)
    return _short_array(type, tuple(values))


LONG = 16
"""Elements of a list that is made again each time: of short ones programs have few different ones."""


@lru_cache(maxsize=4096)
def _short_array(type: IntegerType, values: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(type, values)


def list_to_attr(base: str, values: Sequence[Value]) -> Attribute:
    """A list of constants as attribute: dense for integers and booleans, an array of numbers or strings else."""
    if base in _DENSE:
        return dense_array(_DENSE[base], values)
    return ArrayAttr([to_attr(base, value) for value in values])


def list_from_attr(base: str, attr: Attribute) -> list[Value]:
    """The list of an attribute made by `list_to_attr`. Raises `VerifyException` for another attribute."""
    if base in _DENSE:
        if not is_dense_array(attr) or attr.elt_type != _DENSE[base]:
            raise VerifyException(f"expected array<{_DENSE[base]}>, got {attr}")
        values = attr.get_values()
        return [bool(value) for value in values] if base == "bool" else list(values)
    if not is_array_attr(attr):
        raise VerifyException(f"expected a list, got {attr}")
    return [from_attr(base, item) for item in attr.data]


def is_dense_array(attr: Attribute | None) -> TypeIs[DenseArrayBase[IntegerType]]:
    """Whether an attribute is a dense array; operators have none but of integers."""
    return isinstance(attr, DenseArrayBase)


# --- arguments as operands and properties --------------------------------------------------------------------

_OPERATION_MEMBERS = frozenset(dir(Operation)) | {"arguments", "spec", "result"}


def python_name(name: str) -> str:
    """An argument's name where Python takes it for a parameter's: `from` gets an underscore."""
    return f"{name}_" if iskeyword(name) else name


def from_python_name(name: str) -> str:
    """The argument of such a name."""
    return name[:-1] if name.endswith("_") and iskeyword(name[:-1]) else name


def field_name(name: str) -> str:
    """The accessor of an argument; names that `Operation` itself uses get an underscore."""
    return f"{name}_" if name in _OPERATION_MEMBERS else python_name(name)


@dataclass(frozen=True)
class Slot:
    """Where an operation keeps one argument of its schema."""

    argument: Argument
    operand: type[OperandDef] | None
    """How its operands are declared; None where it is always constant."""

    @cached_property
    def name(self) -> str:
        return self.argument.name

    @cached_property
    def default(self) -> Value:
        """The default in normal form, `MISSING` where the argument must be given."""
        default = self.argument.default
        return MISSING if default is MISSING else normalise(self.argument, default)

    @cached_property
    def is_tensor(self) -> bool:
        return self.argument.type.is_tensor

    @cached_property
    def property_name(self) -> str | None:
        """Name of the property that holds the constant part; of a `Tensor?[]`, which items are None."""
        if not self.is_tensor:
            return self.name
        return f"{self.name}_mask" if self.argument.type.item_optional else None

    @property
    def operand_name(self) -> str:
        """Name of the operands; computed numbers get one of their own beside the property."""
        return field_name(self.name) if self.is_tensor else f"{self.name}_operand"

    def encode(self, value: Value) -> tuple[list[SSAValue], Attribute | None]:
        """Operands and property of a value in normal form."""
        kind = self.argument.type
        if value is None:
            return [], None
        if kind.is_tensor:
            if not kind.is_list:
                return [value], None
            operands: list[SSAValue] = [item for item in value if item is not None]
            masked = len(operands) != len(value)
            mask = dense_array(i1, [item is not None for item in value]) if masked else None
            return operands, mask
        if not kind.is_list:
            return ([value], None) if is_value(value) else ([], to_attr(kind.base, value))
        operands = [item for item in value if is_value(item)]
        static = [SENTINEL if is_value(item) else item for item in value]
        return operands, list_to_attr(kind.base, static)

    def decode(self, operands: Sequence[Value], attr: Attribute | None) -> Value:
        """The value in normal form, with what stands for the operands put in their places."""
        kind = self.argument.type
        if kind.is_tensor:
            if not kind.is_list:
                return operands[0] if operands else None
            if attr is None:
                return list(operands)
            rest = iter(operands)
            return [next(rest, None) if present else None for present in list_from_attr("bool", attr)]
        if attr is None:
            if operands:
                return operands[0]
            return None if self.default is MISSING else self.default
        if not kind.is_list:
            return from_attr(kind.base, attr)
        rest = iter(operands)
        values = list_from_attr(kind.base, attr)
        return stretched(
            self.argument, [next(rest) if operands and value == SENTINEL else value for value in values]
        )


def _slot(argument: Argument) -> Slot:
    kind = argument.type
    if kind.is_tensor:
        operand = VarOperandDef if kind.is_list else OptOperandDef if kind.optional else OperandDef
    elif kind.base in SYMBOLIC:
        operand = VarOperandDef if kind.is_list else OptOperandDef
    else:
        operand = None
    return Slot(argument, operand)


class ArgumentSlots:
    """How the operations of one schema are laid out. Shared by the `aten` and the `edge` class of an operator."""

    def __init__(self, spec: OperatorSpec):
        self.spec = spec
        # A Generator has no meaning outside its process: random operators take theirs from the run.
        arguments = [argument for argument in spec.schema.arguments if argument.type.base != "Generator"]
        self.slots = [_slot(argument) for argument in arguments]
        self.by_name = {slot.name: slot for slot in self.slots}
        self.positional = [slot for slot in self.slots if not slot.argument.keyword_only]
        variadic = [slot for slot in self.slots if slot.operand not in (None, OperandDef)]
        self.segmented = len(variadic) > 1
        self.operand_count = sum(slot.operand is not None for slot in self.slots)

    @staticmethod
    @cache
    def of(spec: OperatorSpec) -> ArgumentSlots:
        """The layout of an operator's operations."""
        return ArgumentSlots(spec)

    def segments(self, op: Operation) -> Sequence[int]:
        """How many operands each slot that has operands holds."""
        if self.segmented:
            attr = op.properties.get(AttrSizedOperandSegments.attribute_name)
            if not is_dense_array(attr):
                raise VerifyException(f"{op.name} needs operandSegmentSizes")
            return attr.get_values()
        rest = len(op.operands) - self.operand_count + 1
        return [1 if slot.operand is OperandDef else rest for slot in self.slots if slot.operand is not None]

    def arguments(self, op: Operation, map_value: Callable[[SSAValue], Value]) -> dict[str, Value]:
        """An operation's arguments by name, in the schema's order, each SSA value replaced by `map_value` of it."""
        values = [map_value(value) for value in op.operands]
        sizes = iter(self.segments(op))
        start, arguments = 0, dict[str, Value]()
        for slot in self.slots:
            operands: Sequence[Value] = ()
            if slot.operand is not None:
                end = start + next(sizes)
                operands, start = values[start:end], end
            name = slot.property_name
            arguments[slot.name] = slot.decode(operands, op.properties.get(name) if name else None)
        return arguments

    def bind(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Value]:
        """Arguments of a call in normal form, defaults filled in. Raises `TypeError` as a Python call would."""
        name = self.spec.qualified_name
        if len(args) > len(self.positional):
            raise TypeError(f"{name} takes {len(self.positional)} positional arguments, got {len(args)}")
        given = dict(zip((slot.name for slot in self.positional), args, strict=False))
        for key, value in kwargs.items():
            if key not in self.by_name or key in given:
                raise TypeError(
                    f"{name}: {'argument given twice' if key in given else 'no argument'} '{key}'"
                )
            given[key] = value
        bound: dict[str, Value] = {}
        for slot in self.slots:
            if slot.name in given:
                bound[slot.name] = normalise(slot.argument, given[slot.name])
            elif slot.default is MISSING:
                raise TypeError(f"{name}: argument '{slot.name}' is missing")
            else:
                bound[slot.name] = slot.default
        return bound

    def completed(self, operands: int, properties: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
        """Properties with those that are missing: defaults, and which operands are which.

        Without sizes of segments, operands are the tensors in the schema's order, the last ones left out; where there
        is a list, it has all that others do not need. Where that does not say it, properties stay as they are.
        """
        sizes = properties.get(AttrSizedOperandSegments.attribute_name)
        held = list(sizes.get_values()) if is_dense_array(sizes) else self._sizes(operands)
        if held is None or len(held) != self.operand_count:
            return properties
        counts, defaults = iter(held), dict[str, Attribute]()
        for slot in self.slots:
            given = slot.operand is not None and next(counts)
            if given or slot.is_tensor or slot.property_name is None or slot.default is MISSING:
                continue
            attr = slot.encode(slot.default)[1]
            if attr is not None:
                defaults[slot.property_name] = attr
        if self.segmented:
            defaults[AttrSizedOperandSegments.attribute_name] = dense_array(operator_segment_type, held)
        return {**defaults, **properties}

    def _sizes(self, operands: int) -> list[int] | None:
        """How many of so many operands each slot holds."""
        slots = [slot for slot in self.slots if slot.operand is not None]
        lists = sum(slot.is_tensor and slot.argument.type.is_list for slot in slots)
        needed = sum(slot.operand is OperandDef for slot in slots)
        rest, sizes = operands, list[int]()
        for slot in slots:
            if slot.is_tensor and slot.argument.type.is_list:
                size = operands - needed
            else:
                size = int(slot.operand is OperandDef or (slot.is_tensor and not lists and rest > 0))
            sizes.append(size)
            rest -= size
        return sizes if lists < 2 and not rest and min(sizes, default=0) >= 0 else None

    def encode(self, bound: Mapping[str, Value]) -> tuple[list[SSAValue], dict[str, Attribute]]:
        """Operands and properties of bound arguments."""
        operands: list[SSAValue] = []
        properties: dict[str, Attribute] = {}
        sizes: list[int] = []
        for slot in self.slots:
            held, attr = slot.encode(bound[slot.name])
            if slot.operand is not None:
                operands += held
                sizes.append(len(held))
            if attr is not None and slot.property_name is not None:
                properties[slot.property_name] = attr
        if self.segmented:
            segments = dense_array(operator_segment_type, sizes)
            properties[AttrSizedOperandSegments.attribute_name] = segments
        return operands, properties


from xdsl.dialects.builtin import i32 as operator_segment_type  # noqa: E402


def flat(value: Value) -> list[Value]:
    return value if is_list(value) else [value]
