"""From operator specs to IRDL operations: one rule for every operator of every schema dialect.

A Tensor argument becomes an operand; a list of tensors a variadic one; everything else a property. Sizes and scalars
(`SymInt`, `Scalar`...) are properties while they are constant, and operands where the program computes them: a list
that mixes both is a static array with a sentinel plus operands, as MLIR's offsets and sizes are. The classes are
ordinary IRDL definitions with named operands, properties and results; their dtypes are constraints, and the allowed
combinations and the result types are traits that verify.

A class costs little until it is used: its IRDL definition is made when first asked for, so that a dialect of many
hundred operators loads in milliseconds.

Every operator prints and parses in call form, arguments in the schema's order, defaults left out:

    %3 = aten.add.Tensor(%x, %y, alpha = 2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from keyword import iskeyword
from typing import Any, ClassVar, Self, TypeAlias, cast

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, OpTraits, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    AttrSizedOperandSegments,
    IRDLOperation,
    OpDef,
    OperandDef,
    OptOperandDef,
    OptPropertyDef,
    PropertyDef,
    RangeOf,
    ResultDef,
    VarOperandDef,
    VarResultDef,
    VerificationContext,
)
from xdsl.irdl.operations import get_accessors_from_op_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import OpTrait, Pure
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import spec as operator_specs
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.exir import (
    NumberMeta,
    SymType,
    TensorMeta,
    is_array_attr,
    is_tensor_type,
    is_value,
    number_attr,
    number_category,
    number_value,
    parse_optional_number,
    parse_optional_string,
    print_number,
    tensor_meta,
)
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.meta import as_meta, depends_on_data, infer_result_types, may_equal
from xdsl_exir.dialects.schema import MISSING, Argument
from xdsl_exir.dialects.spec import OperatorSpec
from xdsl_exir.errors import ExirError
from xdsl_exir.narrowing import is_list, is_sequence
from xdsl_exir.threads import once

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

    @property
    def is_tensor(self) -> bool:
        return self.argument.type.is_tensor

    @property
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


class OperatorLayout:
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
    def of(spec: OperatorSpec) -> OperatorLayout:
        """The layout of an operator's operations."""
        return OperatorLayout(spec)

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

# --- constraints and traits ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TensorOf(AttrConstraint[Attribute]):
    """A tensor with one of these dtypes; in `aten` of some operators also a number, which promotes."""

    dtypes: frozenset[DType] | None
    """None is any."""
    numbers: bool = False

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not is_tensor_type(attr):
            if self.numbers and number_category(attr) is not None:
                return
            raise VerifyException(f"{attr} is not a tensor")
        dtype = tensor_meta(attr).dtype
        if self.dtypes is not None and dtype not in self.dtypes:
            options = ", ".join(str(known) for known in dt.DTYPES if known in self.dtypes)
            raise VerifyException(f"dtype {dtype} is not allowed; allowed: {options}")

    def mapping_type_vars(self, type_var_mapping: Mapping[Any, Any]) -> TensorOf:
        return self


@dataclass(frozen=True)
class NumberConstraint(AttrConstraint[Attribute]):
    """A number as SSA value: a Python number or a symbolic one."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if number_category(attr) is None:
            raise VerifyException(f"{attr} is not a number")

    def mapping_type_vars(self, type_var_mapping: Mapping[Any, Any]) -> NumberConstraint:
        return self


@dataclass(frozen=True)
class ConstantOf(AttrConstraint[Attribute]):
    """A property that holds a constant of a schema type."""

    base: str
    is_list: bool

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        read: Any = list_from_attr if self.is_list else from_attr
        values = read(self.base, attr)
        expected = _PYTHON_TYPES.get(self.base)
        for value in values if self.is_list else [values]:
            if expected is not None and type(value) not in expected:
                raise VerifyException(f"expected {self.base}, got {value!r}")

    def mapping_type_vars(self, type_var_mapping: Mapping[Any, Any]) -> ConstantOf:
        return self


_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "SymInt": (int,),
    "bool": (bool,),
    "SymBool": (bool,),
    "float": (float,),
    "SymFloat": (float, int),
    "Scalar": (bool, int, float, complex),
}


@dataclass(frozen=True)
class ResultTypes(OpTrait):
    """The operands' dtypes are a combination the operator takes, and the results are what it makes of them."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, OperatorOp)
        op.verify_result_types()


class OperatorOp(IRDLOperation):
    """Base of every operation made from an operator's spec."""

    SPEC: ClassVar[OperatorSpec]
    """The operator's spec."""
    LAYOUT: ClassVar[OperatorLayout]
    OP_DEF: ClassVar[OpDef]
    """The IRDL definition, once `define` has made it."""
    NUMBERS: ClassVar[bool]
    """Whether Python numbers may stand for tensors, and operands may promote (the reading of `aten`)."""

    def __init__(
        self,
        /,  # operators have arguments named `self`
        *args: Value,
        result_types: Sequence[Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        **kwargs: Value,
    ):
        """Builds the operation from arguments as a Python call of the operator gives them.

        Tensors are SSA values; sizes and scalars may be. Result types are inferred where not given. Raises
        `TypeError` for arguments that do not fit the schema, `ExirError` for operands the operator does not take.
        """
        named = {from_python_name(name): value for name, value in kwargs.items()}
        self._build(self.LAYOUT.bind(args, named), result_types, attributes)

    def _build(
        self,
        bound: Mapping[str, Value],
        result_types: Sequence[Attribute] | None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        operands, properties = self.LAYOUT.encode(bound)
        if result_types is None:
            result_types = self.infer(bound)
        Operation.__init__(
            self,
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes or {},
        )

    @classmethod
    def from_bound(cls, bound: Mapping[str, Value], result_types: Sequence[Attribute] | None = None) -> Self:
        """Builds the operation from arguments in normal form (as `OperatorLayout.bind` gives them)."""
        op = cls.__new__(cls)
        op._build(bound, result_types)
        return op

    @classmethod
    def infer(cls, bound: Mapping[str, Value]) -> list[Attribute]:
        """Result types for bound arguments. Raises `ExirError` where a result depends on the data."""
        types = infer_result_types(cls.SPEC, {name: metas(value) for name, value in bound.items()})
        if any(map(depends_on_data, types)):
            raise ExirError(f"{cls.name}: a result's size depends on the data; its type must be given")
        return cast("list[Attribute]", types)

    @property
    def spec(self) -> OperatorSpec:
        return self.SPEC

    def arguments(self, map_value: Callable[[SSAValue], Value] = lambda value: value) -> dict[str, Value]:
        """Arguments by name in the schema's order; SSA values are replaced by `map_value` of them."""
        return self.LAYOUT.arguments(self, map_value)

    @classmethod
    def allowed_types(cls, argument: str) -> frozenset[DType]:
        """The dtypes that a tensor argument may have, by the operator's dtype rule."""
        rule = cls.SPEC.dtype_rule
        return rule.allowed.get(argument, frozenset()) if rule else frozenset()

    @classmethod
    def get_irdl_definition(cls) -> OpDef:
        return define(cls)

    def verify_(self) -> None:
        define(type(self)).verify(self)

    def verify_result_types(self) -> None:
        """Raises `VerifyException` unless the results' types are those the operator gives."""
        try:
            arguments = self.arguments(_meta_of)
            self._verify_presence(arguments)
            if not self.NUMBERS:
                self._verify_no_promotion(arguments)
            inferred = infer_result_types(self.SPEC, arguments)
        except ExirError as error:
            raise VerifyException(str(error)) from error
        if len(inferred) != len(self.results):
            raise VerifyException(f"{len(inferred)} results expected, {len(self.results)} given")
        for index, (type, result) in enumerate(zip(inferred, self.results, strict=True)):
            if type is not None and not may_equal(type, result.type):
                raise VerifyException(f"result {index} is {type}, not {result.type}")

    def _verify_presence(self, arguments: Mapping[str, Value]) -> None:
        # A number's property and operand are both optional; one of them must be there.
        for slot in self.LAYOUT.slots:
            kind = slot.argument.type
            if kind.base in SYMBOLIC and not kind.optional and arguments[slot.name] is None:
                raise ExirError(f"argument '{slot.name}' is missing")

    def _verify_no_promotion(self, arguments: Mapping[str, Value]) -> None:
        rule = self.SPEC.dtype_rule
        promotes = rule.promotes if rule else ()
        dtypes = {
            tensor.dtype: name
            for name in promotes
            for tensor in _flat(arguments[name])
            if isinstance(tensor, TensorMeta)
        }
        if len(dtypes) > 1:
            shown = ", ".join(f"{name}: {dtype}" for dtype, name in dtypes.items())
            raise ExirError(f"operands would promote ({shown}); edge casts explicitly")

    # --- syntax

    def print(self, printer: Printer) -> None:
        arguments = self.arguments()
        positional = True
        separator = "("
        for slot in self.LAYOUT.slots:
            value = arguments[slot.name]
            if (value is None and not slot.argument.required) or is_default(slot, value):
                positional = False
                continue
            positional = positional and not slot.argument.keyword_only
            printer.print_string(separator)
            separator = ", "
            if not (positional and slot.is_tensor and value is not None):
                printer.print_string(f"{slot.name} = ")
                positional = False
            _print_value(printer, value)
        printer.print_string("()" if separator == "(" else ")")
        if self.attributes:
            printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        given: dict[str, Value] = {}
        pending: list[UnresolvedOperand] = []
        positional = iter(cls.LAYOUT.positional)

        def parse_argument() -> None:
            position = parser.pos
            name = parser.parse_optional_identifier()
            if name is None:
                slot = next(positional, None)
                if slot is None:
                    parser.raise_error("too many arguments", position)
                name = slot.name
            else:
                parser.parse_punctuation("=")
            if name not in cls.LAYOUT.by_name or name in given:
                parser.raise_error(f"{cls.SPEC.qualified_name} has no further argument '{name}'", position)
            given[name] = _parse_value(parser, pending)

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_argument)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        resolved = iter(parser.resolve_operands(pending, type.inputs.data, start))
        # `given` holds the operands in the order they were read, so resolving walks it in that order.
        bound_args = {name: _resolve(value, resolved) for name, value in given.items()}
        try:
            return cls(result_types=type.outputs.data, attributes=attributes, **bound_args)
        except (TypeError, ExirError) as error:
            parser.raise_error(str(error), start, parser.pos)


def _flat(value: Value) -> list[Value]:
    return value if is_list(value) else [value]


def _meta_of(value: SSAValue) -> TensorMeta | NumberMeta | Expr | int:
    return as_meta(value.type)


def metas(value: Value) -> Value:
    """An argument with types' readings in place of SSA values."""
    if is_value(value):
        return as_meta(value.type)
    if is_list(value):
        return [metas(item) for item in value]
    return value


# --- IRDL definitions ----------------------------------------------------------------------------------------


def define(cls: type[OperatorOp]) -> OpDef:
    """The IRDL definition of an operator's class, made at first use, with its accessors set on the class."""
    if "OP_DEF" in cls.__dict__:
        return cls.OP_DEF
    op_def = _op_def(cls)
    for name, accessor in get_accessors_from_op_def(op_def, None).items():
        if name not in ("verify_", "get_irdl_definition"):
            setattr(cls, name, accessor)
    cls.OP_DEF = op_def
    return op_def


def _op_def(cls: type[OperatorOp]) -> OpDef:
    layout, rule = cls.LAYOUT, cls.SPEC.dtype_rule
    op_def = OpDef(cls.name, traits=cls.traits)
    if layout.segmented:
        option = AttrSizedOperandSegments(as_property=True)
        op_def.options.append(option)
        segments = PropertyDef(AnyAttr(), None)
        op_def.properties[AttrSizedOperandSegments.attribute_name] = segments
    allowed: Mapping[str, frozenset[DType]] = rule.allowed if rule else {}
    numbers = cls.NUMBERS and cls.SPEC.schema.takes_numbers
    for slot in layout.slots:
        if slot.operand is not None:
            constraint = TensorOf(allowed.get(slot.name), numbers) if slot.is_tensor else NumberConstraint()
            op_def.operands.append((slot.operand_name, _operand_def(slot.operand, constraint)))
        if slot.property_name is not None:
            op_def.properties[slot.property_name] = _property_def(slot)
            accessor = field_name(slot.property_name)
            op_def.accessor_names[accessor] = (slot.property_name, "property")
    op_def.results.extend(_result_defs(cls.SPEC))
    return op_def


def _operand_def(kind: type[OperandDef], constraint: AttrConstraint) -> OperandDef:
    return kind(RangeOf(constraint)) if issubclass(kind, VarOperandDef) else kind(constraint)


def _property_def(slot: Slot) -> PropertyDef:
    kind = slot.argument.type
    if slot.is_tensor:
        return OptPropertyDef(ConstantOf("bool", is_list=True), None)
    constraint = ConstantOf(kind.base, kind.is_list)
    if kind.optional or (kind.base in SYMBOLIC and not kind.is_list):
        return OptPropertyDef(constraint, None)
    default = slot.default
    attr = None
    if default is not MISSING:
        attr = list_to_attr(kind.base, default) if kind.is_list else to_attr(kind.base, default)
    return PropertyDef(constraint, attr)


def result_names(spec: OperatorSpec) -> list[str]:
    """Accessors of the results: the schema's names, `result` or `result_<i>` where it has none."""
    returns = spec.schema.returns
    if len(returns) == 1:
        return ["result"]
    taken = {slot.operand_name for slot in OperatorLayout.of(spec).slots}
    names = [field_name(ret.name) if ret.name else f"result_{i}" for i, ret in enumerate(returns)]
    return [f"{name}_result" if name in taken else name for name in names]


def _result_defs(spec: OperatorSpec) -> Iterator[tuple[str, ResultDef]]:
    for name, ret in zip(result_names(spec), spec.schema.returns, strict=True):
        constraint = TensorOf(None) if ret.type.is_tensor else NumberConstraint()
        yield name, VarResultDef(RangeOf(constraint)) if ret.type.is_list else ResultDef(constraint)


EFFECT_TAGS = frozenset({"random", "effect"})
"""Tags of operators that must be kept, in order, even where nobody uses their results."""


def _traits(spec: OperatorSpec) -> tuple[OpTrait, ...]:
    return (ResultTypes(),) if spec.tags & EFFECT_TAGS else (Pure(), ResultTypes())


def class_name(spec: OperatorSpec) -> str:
    """`aten.add.Tensor` is `AddTensorOp`, `aten._softmax` is `_SoftmaxOp`."""
    namespace_free = spec.qualified_name.split(".", 1)[1]
    words = [word for part in namespace_free.split(".") for word in part.split("_")]
    private = "_" if namespace_free.startswith("_") else ""
    return private + "".join(word[:1].upper() + word[1:] for word in words) + "Op"


@once
def make_class(spec: OperatorSpec, prefix: str, numbers: bool) -> type[OperatorOp]:
    """The operation class of an operator, one for all who ask; `prefix` is `edge.` in the edge dialect."""
    members: dict[str, Any] = {
        "__doc__": spec.schema_text,
        "__module__": f"xdsl_exir.dialects.{prefix.rstrip('.') or spec.qualified_name.split('.')[0]}",
        "name": prefix + spec.qualified_name,
        "SPEC": spec,
        "NUMBERS": numbers,
        "traits": OpTraits(lambda: _traits(spec)),
    }
    return type(class_name(spec), (OperatorOp,), members)


class _LazyLayout:
    """Class attribute that makes the layout of a class's spec when first read."""

    def __get__(self, instance: object, owner: type[OperatorOp]) -> OperatorLayout:
        layout = OperatorLayout.of(owner.SPEC)
        owner.LAYOUT = layout
        return layout


OperatorOp.LAYOUT = cast(OperatorLayout, _LazyLayout())


class OperatorDialect:
    """The operation classes of one schema dialect, by operator name; `edge` holds all namespaces, others their own."""

    def __init__(self, name: str, prefix: str = "", numbers: bool = True):
        self.name = name
        self.prefix = prefix
        self.numbers = numbers
        self._classes: dict[str, type[OperatorOp]] = {}

    def __getitem__(self, operator: str) -> type[OperatorOp]:
        """The class of an operator, by qualified name. Raises `SpecError` for an unknown one."""
        known = self._classes.get(operator)
        if known is None:
            spec = operator_specs.find(operator)
            known = self._classes[operator] = make_class(spec, self.prefix, self.numbers)
        return known

    def forget(self, names: Collection[str]) -> None:
        """Drops the classes of operators that are no longer known."""
        for name in names:
            self._classes.pop(name, None)
        _operators_by_class_name.cache_clear()

    def operators(self) -> Iterator[str]:
        """Qualified names of the operators of this dialect."""
        for name in operator_specs.specs():
            if self.prefix or name.startswith(f"{self.name}."):
                yield name

    def dialect(self) -> Dialect:
        """The xDSL dialect."""
        return Dialect(self.name, [self[name] for name in self.operators()], [])

    def by_class_name(self, class_name_: str) -> type[OperatorOp]:
        """The class of this Python name; raises `AttributeError` as modules do."""
        names = _operators_by_class_name(self, len(operator_specs.specs()))
        if class_name_ not in names:
            raise AttributeError(f"no operation {class_name_} in dialect {self.name}")
        return self[names[class_name_]]


@cache
def _operators_by_class_name(dialect: OperatorDialect, known: int) -> dict[str, str]:
    # `known` is how many operators there are: more may be registered.
    return {class_name(operator_specs.find(name)): name for name in dialect.operators()}


# --- syntax of arguments -------------------------------------------------------------------------------------


def is_default(slot: Slot, value: Value) -> bool:
    """Whether an argument is the schema's default, so that it may be left out."""
    if slot.default is MISSING or isinstance(value, SSAValue):
        return False
    # 1 == True == 1.0 in Python; in the text they differ.
    return value == slot.default and _kinds(value) == _kinds(slot.default)


def _kinds(value: Value) -> list[type]:
    return [type(item) for item in _flat(value)]


def _print_value(printer: Printer, value: Value) -> None:
    match value:
        case _ if is_value(value):
            printer.print_operand(value)
        case _ if is_list(value):
            with printer.in_square_brackets():
                printer.print_list(value, lambda item: _print_value(printer, item))
        case None:
            printer.print_string("none")
        case str():
            printer.print_string_literal(value)
        case DType():
            printer.print_attribute(value.mlir_type)
        case _:
            print_number(printer, value)


class _Pending:
    """An operand that was read and waits for its type."""


_PENDING = _Pending()


def _parse_value(parser: Parser, pending: list[UnresolvedOperand]) -> Value:
    operand = parser.parse_optional_unresolved_operand()
    if operand is not None:
        pending.append(operand)
        return _PENDING
    items = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: _parse_value(parser, pending)
    )
    if items is not None:
        return items
    if parser.parse_optional_keyword("none"):
        return None
    text = parse_optional_string(parser)
    if text is not None:
        return text
    number = parse_optional_number(parser)
    if number is not None:
        return number
    position = parser.pos
    type = parser.parse_optional_type()
    if type is None:
        parser.raise_error("argument expected")
    if type not in dt.BY_MLIR_TYPE:
        parser.raise_error(f"{type} is not the type of a PyTorch dtype", position, parser.pos)
    return dt.BY_MLIR_TYPE[type]


def _resolve(value: Value, resolved: Iterator[SSAValue]) -> Value:
    if value is _PENDING:
        return next(resolved)
    if is_list(value):
        return [_resolve(item, resolved) for item in value]
    return value


__all__ = [
    "SENTINEL",
    "IntegerAttr",
    "OperatorDialect",
    "OperatorLayout",
    "OperatorOp",
    "SymType",
    "class_name",
    "define",
    "is_default",
    "make_class",
]
