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
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import FunctionType, LocationAttr
from xdsl.ir import Attribute, Block, Dialect, Operation, OpTraits, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    AttrSizedOperandSegments,
    IRDLOperation,
    OpDef,
    OperandDef,
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
from xdsl_exir.dialects.argument_syntax import is_default, parse_value, print_value, resolve
from xdsl_exir.dialects.arguments import (
    SYMBOLIC,
    ArgumentSlots,
    Slot,
    Value,
    field_name,
    flat,
    from_attr,
    from_python_name,
    list_from_attr,
    list_to_attr,
    to_attr,
)
from xdsl_exir.dialects.canonicalization import Canonicalizes, Folds, MaterializesConstants
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.meta import BACKEND, SHAPES, as_meta, depends_on_data, infer_result_types, may_equal
from xdsl_exir.dialects.schema import MISSING
from xdsl_exir.dialects.spec import OperatorSpec
from xdsl_exir.dialects.tensors import (
    NumberMeta,
    TensorMeta,
    is_tensor_type,
    is_value,
    number_category,
    tensor_meta,
)
from xdsl_exir.errors import ExirError, SpecError
from xdsl_exir.narrowing import is_list
from xdsl_exir.threads import once

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


MOST_VERIFIED = 1024


class OperatorOp(IRDLOperation):
    """Base of every operation made from an operator's spec."""

    SPEC: ClassVar[OperatorSpec]
    """The operator's spec."""
    SLOTS: ClassVar[ArgumentSlots]
    OP_DEF: ClassVar[OpDef]
    """The IRDL definition, once `define` has made it."""
    NUMBERS: ClassVar[bool]
    """Whether Python numbers may stand for tensors, and operands may promote (the reading of `aten`)."""
    VERIFIED: ClassVar[dict[tuple[object, ...], object]]
    """Types and properties of operations that were verified, at most `MOST_VERIFIED`, and the shape rule that they were by."""

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
        self._build(self.SLOTS.bind(args, named), result_types, attributes)

    def _build(
        self,
        bound: Mapping[str, Value],
        result_types: Sequence[Attribute] | None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        operands, properties = self.SLOTS.encode(bound)
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
    def create(
        cls,
        *,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] = MappingProxyType({}),
        attributes: Mapping[str, Attribute] = MappingProxyType({}),
        location: LocationAttr | None = None,
        successors: Sequence[Block] = (),
        regions: Sequence[Region] | None = None,
    ) -> Self:
        """Makes the operation of its parts.

        Rewrites in PDL do so, which say no more than they need: properties that are not given are defaults, and result
        types are inferred if there are none. Raises `ExirError` for operands that the operator does not take. Who gives
        regions, if only that there are none, as the parser and `clone` do, gives everything: the rest is as it is.
        """
        if regions is None:
            properties = cls.SLOTS.completed(len(operands), properties)
        op = super().create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes,
            location=location,
            successors=successors,
            regions=regions or (),
        )
        returns = cls.SPEC.schema.returns
        if regions is not None or result_types or not returns or returns[0].type.is_list:
            return op
        types = cls.infer(op.arguments())
        op.erase()
        return cls.create(
            operands=operands,
            result_types=types,
            properties=properties,
            attributes=attributes,
            location=location,
        )

    @classmethod
    def from_bound(cls, bound: Mapping[str, Value], result_types: Sequence[Attribute] | None = None) -> Self:
        """Builds the operation from arguments in normal form (as `ArgumentSlots.bind` gives them)."""
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
        return self.SLOTS.arguments(self, map_value)

    @classmethod
    def allowed_types(cls, argument: str) -> frozenset[DType]:
        """The dtypes that a tensor argument may have, by the operator's dtype rule."""
        rule = cls.SPEC.dtype_rule
        return rule.allowed.get(argument, frozenset()) if rule else frozenset()

    @classmethod
    def get_irdl_definition(cls) -> OpDef:
        return define(cls)

    def verify_(self) -> None:
        # What is verified are types and properties, by the shape rule: of operations that are alike, one is.
        alike, rule = (
            (self.operand_types, self.result_types, *self.properties.items()),
            SHAPES.find(self.SPEC),
        )
        if rule is not None and self.VERIFIED.get(alike) is rule and not self.regions:
            return
        define(type(self)).verify(self)
        if len(self.VERIFIED) >= MOST_VERIFIED:
            self.VERIFIED.clear()
        self.VERIFIED[alike] = rule

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
        for slot in self.SLOTS.slots:
            kind = slot.argument.type
            if kind.base in SYMBOLIC and not kind.optional and arguments[slot.name] is None:
                raise ExirError(f"argument '{slot.name}' is missing")

    def _verify_no_promotion(self, arguments: Mapping[str, Value]) -> None:
        rule = self.SPEC.dtype_rule
        promotes = rule.promotes if rule else ()
        dtypes = {
            tensor.dtype: name
            for name in promotes
            for tensor in flat(arguments[name])
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
        for slot in self.SLOTS.slots:
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
            print_value(printer, value)
        printer.print_string("()" if separator == "(" else ")")
        if self.attributes:
            printer.print_op_attributes(self.attributes)
        printer.print_string(f" : {_function_type(self.operand_types, self.result_types)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        given: dict[str, Value] = {}
        pending: list[UnresolvedOperand] = []
        positional = iter(cls.SLOTS.positional)

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
            if name not in cls.SLOTS.by_name or name in given:
                parser.raise_error(f"{cls.SPEC.qualified_name} has no further argument '{name}'", position)
            given[name] = parse_value(parser, pending)

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_argument)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        resolved = iter(parser.resolve_operands(pending, type.inputs.data, start))
        # `given` holds the operands in the order they were read, so resolving walks it in that order.
        bound_args = {name: resolve(value, resolved) for name, value in given.items()}
        try:
            return cls(result_types=type.outputs.data, attributes=attributes, **bound_args)
        except (TypeError, ExirError) as error:
            parser.raise_error(str(error), start, parser.pos)


@lru_cache(maxsize=1024)
def _function_type(operands: Sequence[Attribute], results: Sequence[Attribute]) -> str:
    """The text of a type, which takes longer to print than the rest of an operation."""
    return str(FunctionType.from_lists(operands, results))


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
    layout, rule = cls.SLOTS, cls.SPEC.dtype_rule
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
    taken = {slot.operand_name for slot in ArgumentSlots.of(spec).slots}
    names = [field_name(ret.name) if ret.name else f"result_{i}" for i, ret in enumerate(returns)]
    return [f"{name}_result" if name in taken else name for name in names]


def _result_defs(spec: OperatorSpec) -> Iterator[tuple[str, ResultDef]]:
    for name, ret in zip(result_names(spec), spec.schema.returns, strict=True):
        constraint = TensorOf(None) if ret.type.is_tensor else NumberConstraint()
        yield name, VarResultDef(RangeOf(constraint)) if ret.type.is_list else ResultDef(constraint)


EFFECT_TAGS = frozenset({"random", "effect"})
"""Tags of operators that must be kept, in order, even where nobody uses their results."""


def _traits(spec: OperatorSpec) -> tuple[OpTrait, ...]:
    simplifies = (ResultTypes(), Canonicalizes(), Folds())
    return simplifies if spec.tags & EFFECT_TAGS else (Pure(), *simplifies)


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
        "VERIFIED": {},
        "traits": OpTraits(lambda: _traits(spec)),
    }
    return type(class_name(spec), (OperatorOp,), members)


class _LazySlots:
    """Class attribute that makes the layout of a class's spec when first read."""

    def __get__(self, instance: object, owner: type[OperatorOp]) -> ArgumentSlots:
        layout = ArgumentSlots.of(owner.SPEC)
        owner.SLOTS = layout
        return layout


OperatorOp.SLOTS = cast(ArgumentSlots, _LazySlots())


class OperatorDialect:
    """The operation classes of one schema dialect, by operator name; `edge` holds all namespaces, others their own, and
    `backend` what backends add."""

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
            if (BACKEND in spec.tags) != (self.name == BACKEND):
                raise SpecError(f"{operator} is no operator of the {self.name} dialect")
            known = self._classes[operator] = make_class(spec, self.prefix, self.numbers)
        return known

    def forget(self, names: Collection[str]) -> None:
        """Drops the classes of operators that are no longer known."""
        for name in names:
            self._classes.pop(name, None)
        _operators_by_class_name.cache_clear()

    def operators(self) -> Iterator[str]:
        """Qualified names of the operators of this dialect."""
        for name, spec in operator_specs.specs().items():
            if BACKEND in spec.tags or self.name == BACKEND:
                if BACKEND in spec.tags and self.name == BACKEND:
                    yield name
            elif self.prefix or name.startswith(f"{self.name}."):
                yield name

    def dialect(self) -> Dialect:
        """The xDSL dialect."""
        operations: list[type[Operation]] = [self[name] for name in self.operators()]
        return Dialect(self.name, operations, [], [MaterializesConstants()])

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
