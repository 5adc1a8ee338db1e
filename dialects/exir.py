"""The `exir` dialect: what Export IR needs besides operators.

Types of symbolic numbers, the encoding of tensors that are not plain (symbolic sizes, dimension order, device), the
attributes of a program's signature, and the operations that make numbers, literals and refined types. Operators with a
schema live in `aten`, `edge` and users' dialects; regions in `higher_order`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import ClassVar, TypeAlias

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    ComplexType,
    DictionaryAttr,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Data, Dialect, Operation, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.canonicalization import Folds, IsItsValue, MaterializesConstants
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim, Expr, apply, provably, provably_equal
from xdsl_exir.errors import ExirError

f64 = Float64Type()

# --- text of expressions -------------------------------------------------------------------------------------

_OPEN, _CLOSE = "([{", ")]}"


def parse_dim(parser: AttrParser) -> Dim:
    """Reads a size expression up to the comma or bracket that ends it."""
    depth, parts = 0, list[str]()
    start = parser.pos
    while True:
        token = parser._current_token  # pyright: ignore[reportPrivateUsage]
        text = token.text
        if (text in _CLOSE or text in ",>") and depth == 0:
            break
        depth += (text in _OPEN) - (text in _CLOSE)
        if not text:
            parser.raise_error("unterminated size expression", start)
        parts.append(text)
        parser._consume_token()  # pyright: ignore[reportPrivateUsage]
    try:
        return Expr.parse(" ".join(parts))
    except ExirError as error:
        parser.raise_error(str(error), start, parser.pos)


def parse_optional_string(parser: AttrParser) -> str | None:
    """Reads a string literal; xDSL's lexer takes one with escapes beyond ASCII for bytes."""
    encoded = parser.parse_optional_bytes_literal()
    return parser.parse_optional_str_literal() if encoded is None else encoded.decode()


def parse_string(parser: AttrParser) -> str:
    """Reads a string literal that must stand here."""
    return parser.expect(lambda: parse_optional_string(parser), "string literal expected")


# --- tensors -------------------------------------------------------------------------------------------------

CPU = "cpu"


@dataclass(frozen=True)
class Layout:
    """What a tensor type says beyond its static shape and element type."""

    sizes: tuple[Dim, ...] | None = None
    """All sizes, when one of them is symbolic; else None."""
    dim_order: tuple[int, ...] | None = None
    """Dimensions from outermost to innermost in memory; None is contiguous."""
    device: str = CPU


@irdl_attr_definition
class ShapeAttr(Data[Layout]):
    """Encoding of a tensor whose sizes are symbolic, or whose dimension order or device is not the default one.

    ```mlir
    tensor<?x8xf32, #exir.shape<[2 * s0 + 1, 8]>>
    tensor<1x3x8x8xf32, #exir.shape<dim_order = [0, 2, 3, 1]>>
    ```
    """

    name = "exir.shape"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Layout:
        sizes: tuple[Dim, ...] | None = None
        dim_order: tuple[int, ...] | None = None
        device = CPU
        with parser.in_angle_brackets():
            while True:
                keyword = parser.parse_optional_keyword_in(("dim_order", "device"))
                if keyword is None:
                    items = parser.parse_comma_separated_list(
                        parser.Delimiter.SQUARE, lambda: parse_dim(parser)
                    )
                    sizes = tuple(items)
                else:
                    if keyword == "device":
                        parser.parse_punctuation("=")
                        device = parse_string(parser)
                    else:
                        dim_order = parse_dim_order(parser)
                if parser.parse_optional_punctuation(",") is None:
                    break
        return Layout(sizes, dim_order, device)

    def print_parameter(self, printer: Printer) -> None:
        layout, parts = self.data, list[str]()
        if layout.sizes is not None:
            parts.append(f"[{', '.join(str(size) for size in layout.sizes)}]")
        if layout.dim_order is not None:
            parts.append(f"dim_order = [{', '.join(map(str, layout.dim_order))}]")
        if layout.device != CPU:
            parts.append(f'device = "{layout.device}"')
        with printer.in_angle_brackets():
            printer.print_string(", ".join(parts))

    def verify(self) -> None:
        if self.data == Layout():
            raise VerifyException("an #exir.shape that says nothing is left out")
        check_dim_order(self.data.dim_order)


@dataclass(frozen=True)
class TensorMeta:
    """A tensor type as shape rules see it: sizes (ints or symbolic), dtype and layout."""

    shape: tuple[Dim, ...]
    dtype: DType
    dim_order: tuple[int, ...] | None = None
    device: str = CPU

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def tier(self) -> int:
        """Its tier in type promotion: tensors with dimensions go before 0-dim ones."""
        return 2 if self.shape else 1


def is_value(value: object) -> TypeIs[SSAValue]:
    """Whether something is an SSA value."""
    return isinstance(value, SSAValue)


AnyTensor: TypeAlias = TensorType[Attribute]


def is_tensor_type(type: Attribute) -> TypeIs[AnyTensor]:
    """Whether a type is a ranked tensor's."""
    return isinstance(type, TensorType)


def is_array_attr(attr: Attribute) -> TypeIs[ArrayAttr[Attribute]]:
    """Whether an attribute is a list of attributes."""
    return isinstance(attr, ArrayAttr)


@lru_cache(maxsize=65536)
def tensor_type(
    shape: tuple[Dim, ...], dtype: DType, dim_order: tuple[int, ...] | None = None, device: str = CPU
) -> AnyTensor:
    """The type of a tensor of this shape and dtype. `dim_order` None is contiguous."""
    symbolic = any(isinstance(size, Expr) for size in shape)
    layout = Layout(shape if symbolic else None, dim_order, device)
    sizes = [DYNAMIC_INDEX if isinstance(size, Expr) else size for size in shape]
    return TensorType(dtype.mlir_type, sizes, NoneAttr() if layout == Layout() else ShapeAttr(layout))


@lru_cache(maxsize=65536)
def tensor_meta(type: AnyTensor) -> TensorMeta:
    """The reading of a tensor type; raises `VerifyException` for a type that Export IR has no meaning for."""
    dtype = dt.BY_MLIR_TYPE.get(type.element_type)
    if dtype is None:
        raise VerifyException(f"{type.element_type} is not the type of a PyTorch dtype")
    encoding, shape = type.encoding, type.get_shape()
    if isinstance(encoding, NoneAttr):
        if DYNAMIC_INDEX in shape:
            raise VerifyException(f"{type}: a dynamic size has no name; it needs an #exir.shape")
        return TensorMeta(shape, dtype)
    if not isinstance(encoding, ShapeAttr):
        raise VerifyException(f"{encoding} is not an #exir.shape")
    layout = encoding.data
    sizes = shape if layout.sizes is None else layout.sizes
    static = tuple(DYNAMIC_INDEX if isinstance(size, Expr) else size for size in sizes)
    if static != shape:
        raise VerifyException(f"{type}: shape and #exir.shape disagree")
    if layout.dim_order is not None and len(layout.dim_order) != len(shape):
        raise VerifyException(f"{type}: dim_order is of another rank")
    return TensorMeta(sizes, dtype, layout.dim_order, layout.device)


# --- symbolic numbers ----------------------------------------------------------------------------------------


class SymType(Data[Dim], TypeAttribute):
    """A number known by its expression: the type says the value. Lowered to i64, f64 or i1."""

    category: ClassVar[Category]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Dim:
        with parser.in_angle_brackets():
            return parse_dim(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


@irdl_attr_definition
class SymIntType(SymType):
    """`!exir.symint<2 * s0>`: a 64-bit integer."""

    name = "exir.symint"
    category = Category.INT


@irdl_attr_definition
class SymFloatType(SymType):
    """`!exir.symfloat<to_float(s0)>`: a float64."""

    name = "exir.symfloat"
    category = Category.FLOAT


@irdl_attr_definition
class SymBoolType(SymType):
    """`!exir.symbool<gt(s0, 4)>`: a boolean."""

    name = "exir.symbool"
    category = Category.BOOL


NumberType: TypeAlias = SymType | IntegerType | Float64Type | ComplexType[Float64Type]

NUMBER_TYPES: dict[Attribute, Category] = {
    i1: Category.BOOL,
    i64: Category.INT,
    f64: Category.FLOAT,
    ComplexType(f64): Category.COMPLEX,
}
"""Types of Python numbers as SSA values."""


@dataclass(frozen=True)
class NumberMeta:
    """A Python number in a tensor's position, as shape rules see it: 0-dim, lowest tier of promotion."""

    dtype: DType
    shape: tuple[Dim, ...] = ()
    tier: int = 0
    ndim: int = 0


def number_category(type: Attribute) -> Category | None:
    """The category of a number's type, None for other types."""
    return type.category if isinstance(type, SymType) else NUMBER_TYPES.get(type)


# --- signature attributes ------------------------------------------------------------------------------------


class InputKind(Enum):
    """What an argument of a method is (torch.export's InputKind)."""

    USER_INPUT = "user_input"
    PARAMETER = "parameter"
    BUFFER = "buffer"
    CONSTANT_TENSOR = "constant_tensor"
    CUSTOM_OBJ = "custom_obj"
    TOKEN = "token"


class OutputKind(Enum):
    """What a result of a method is (torch.export's OutputKind)."""

    USER_OUTPUT = "user_output"
    LOSS_OUTPUT = "loss_output"
    BUFFER_MUTATION = "buffer_mutation"
    PARAMETER_MUTATION = "parameter_mutation"
    GRADIENT_TO_PARAMETER = "gradient_to_parameter"
    GRADIENT_TO_USER_INPUT = "gradient_to_user_input"
    USER_INPUT_MUTATION = "user_input_mutation"
    TOKEN = "token"


MUTATIONS = {
    OutputKind.BUFFER_MUTATION: InputKind.BUFFER,
    OutputKind.PARAMETER_MUTATION: InputKind.PARAMETER,
    OutputKind.USER_INPUT_MUTATION: InputKind.USER_INPUT,
}
"""Output kinds that write back to an input, and the kind of that input."""


@dataclass(frozen=True)
class InputSpec:
    """One argument's part in the signature. `target` is the fully qualified name of the state it is bound to."""

    kind: InputKind
    target: str = ""
    persistent: bool = True
    dim_order: tuple[int, ...] | None = None
    """Of a user's input: its dimensions from outermost to innermost in memory, as it was exported; None is row-major."""


@dataclass(frozen=True)
class OutputSpec:
    """One result's part in the signature. `target` names the state or input it is written to."""

    kind: OutputKind
    target: str = ""
    dim_order: tuple[int, ...] | None = None
    """Of a user's output: its dimensions from outermost to innermost in memory, as it is returned; None is row-major."""


def parse_dim_order(parser: AttrParser) -> tuple[int, ...]:
    """Reads `= [0, 2, 3, 1]`."""
    parser.parse_punctuation("=")
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer))


def check_dim_order(order: tuple[int, ...] | None) -> None:
    """Raises `VerifyException` for what is no permutation."""
    if order is not None and sorted(order) != list(range(len(order))):
        raise VerifyException(f"dim_order {list(order)} is not a permutation")


@irdl_attr_definition
class InputAttr(Data[InputSpec]):
    """`#exir.input<parameter, "fc.weight">`; a non-persistent buffer says `#exir.input<buffer, "mask", transient>`, an
    image whose channels are innermost `#exir.input<user_input, "x", dim_order = [0, 2, 3, 1]>`.
    """

    name = "exir.input"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> InputSpec:
        with parser.in_angle_brackets():
            kind = InputKind(parser.parse_keyword_in([kind.value for kind in InputKind]))
            target, persistent, order = "", True, None
            if parser.parse_optional_punctuation(","):
                target = parse_string(parser)
            if parser.parse_optional_punctuation(","):
                if parser.parse_keyword_in(("transient", "dim_order")) == "transient":
                    persistent = False
                else:
                    order = parse_dim_order(parser)
        return InputSpec(kind, target, persistent, order)

    def print_parameter(self, printer: Printer) -> None:
        spec = self.data
        with printer.in_angle_brackets():
            printer.print_string(spec.kind.value)
            if spec.target or not spec.persistent or spec.dim_order is not None:
                printer.print_string(", ")
                printer.print_string_literal(spec.target)
            if not spec.persistent:
                printer.print_string(", transient")
            elif spec.dim_order is not None:
                printer.print_string(f", dim_order = {list(spec.dim_order)}")

    def verify(self) -> None:
        check_dim_order(self.data.dim_order)


@irdl_attr_definition
class OutputAttr(Data[OutputSpec]):
    """`#exir.output<user_output>`, `#exir.output<buffer_mutation, "bn.running_mean">`."""

    name = "exir.output"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> OutputSpec:
        with parser.in_angle_brackets():
            kind = OutputKind(parser.parse_keyword_in([kind.value for kind in OutputKind]))
            target, order = "", None
            while parser.parse_optional_punctuation(","):
                if parser.parse_optional_keyword("dim_order"):
                    order = parse_dim_order(parser)
                else:
                    target = parse_string(parser)
        return OutputSpec(kind, target, order)

    def print_parameter(self, printer: Printer) -> None:
        spec = self.data
        with printer.in_angle_brackets():
            printer.print_string(spec.kind.value)
            if spec.target:
                printer.print_string(", ")
                printer.print_string_literal(spec.target)
            if spec.dim_order is not None:
                printer.print_string(f", dim_order = {list(spec.dim_order)}")

    def verify(self) -> None:
        check_dim_order(self.data.dim_order)


@dataclass(frozen=True)
class Origin:
    """Where an operation came from: the FX node, its operator, and the path of the module that called it."""

    node: str
    operator: str
    module: str = ""
    """With the number of each call that is not a module's first: `layers.0@1.ff@3`."""

    def calls(self) -> dict[str, str]:
        """The modules around the operation by path, outermost first, with the names of their calls: `layers.0.ff@3`."""
        found, path = dict[str, str](), ""
        for part in self.module.split(".") if self.module else ():
            name, _, number = part.partition("@")
            path = f"{path}.{name}" if path else name
            found[path] = f"{path}@{number}" if number else path
        return found


@irdl_attr_definition
class OriginAttr(Data[Origin]):
    """`#exir.origin<"linear_3", "aten.linear", "layers.0.ff">`: kept through every rewrite."""

    name = "exir.origin"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Origin:
        with parser.in_angle_brackets():
            parts = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_string(parser))
        if len(parts) != 3:
            parser.raise_error("an origin is a node, an operator and a module path")
        return Origin(*parts)

    def print_parameter(self, printer: Printer) -> None:
        origin = self.data
        with printer.in_angle_brackets():
            printer.print_list((origin.node, origin.operator, origin.module), printer.print_string_literal)


def ranges_of(function: Operation) -> dict[str, tuple[int | None, int | None]]:
    """What each symbol of a function may be, both ends included; None is no bound."""
    return {str(dim): bounds for dim, bounds in _ranges(function).items() if dim.head == "symbol"}


def derived_ranges_of(function: Operation) -> dict[Expr, tuple[int | None, int | None]]:
    """What sizes may be that are made of a function's symbols (`2 * s0`), where that was said of them."""
    return {dim: bounds for dim, bounds in _ranges(function).items() if dim.head != "symbol"}


def _ranges(function: Operation) -> dict[Expr, tuple[int | None, int | None]]:
    ranges = function.attributes.get(RANGES)
    held = ranges.data if isinstance(ranges, DictionaryAttr) else dict[str, Attribute]()
    said = {Expr.parse(name): attr.data for name, attr in held.items() if isinstance(attr, RangeAttr)}
    return {dim: bounds for dim, bounds in said.items() if isinstance(dim, Expr)}


UNSAID = (2, None)
"""The range that PyTorch writes of a size of which nobody said one (`Dim.AUTO`, `Dim.DYNAMIC`). It runs such programs
at 0 and 1 too: that the size is neither was assumed only to trace them."""


def checked_ranges_of(function: Operation) -> dict[str, tuple[int | None, int | None]]:
    """What each symbol is when a function runs: a size of which nobody said a range may be any."""
    return {name: (0, None) if said == UNSAID else said for name, said in ranges_of(function).items()}


def guards_of(function: Operation) -> list[Dim]:
    """Conditions on the symbols of a function beyond their ranges."""
    guards = function.attributes.get(GUARDS)
    if not isa(guards, ArrayAttr[Attribute]):
        return []
    return [guard.data for guard in guards if isinstance(guard, SymBoolType)]


def conditions_of(function: Operation) -> list[Dim]:
    """Conditions on the symbols of a function beyond the ranges of each: its guards, and the ranges of what is made of them."""
    ranges = ranges_of(function)
    ends = [
        condition
        for size, (low, high) in derived_ranges_of(function).items()
        for head, bound in (("ge", low), ("le", high))
        if bound is not None and provably(condition := apply(head, size, bound), ranges) is not True
    ]
    return [*guards_of(function), *ends]


@irdl_attr_definition
class RangeAttr(Data[tuple[int | None, int | None]]):
    """`#exir.range<2, 1024>`: what a symbol may be, both ends included; `inf` for no bound."""

    name = "exir.range"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int | None, int | None]:
        def bound() -> int | None:
            negative = parser.parse_optional_punctuation("-") is not None
            if parser.parse_optional_keyword("inf"):
                return None
            value = parser.parse_integer(allow_negative=False)
            return -value if negative else value

        with parser.in_angle_brackets():
            low = bound()
            parser.parse_punctuation(",")
            return low, bound()

    def print_parameter(self, printer: Printer) -> None:
        low, high = self.data
        with printer.in_angle_brackets():
            printer.print_string(f"{'-inf' if low is None else low}, {'inf' if high is None else high}")


INPUT, OUTPUT, RANGES, ORIGIN = "exir.input", "exir.output", "exir.ranges", "exir.origin"
GUARDS = "exir.guards"
"""Names of the discardable attributes that carry the above."""

# --- numbers and literals ------------------------------------------------------------------------------------

PythonNumber: TypeAlias = bool | int | float | complex


def number_attr(value: object) -> Attribute:
    """A Python number as attribute: i1, i64, f64, or a pair of f64 for a complex one. Raises `TypeError` for others."""
    if isinstance(value, bool):
        return IntegerAttr.from_bool(value)
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    if not isinstance(value, complex):
        raise TypeError(f"expected a number, got {value!r}")
    return ArrayAttr([FloatAttr(value.real, f64), FloatAttr(value.imag, f64)])


def number_value(attr: Attribute) -> PythonNumber:
    """The Python number of an attribute; raises `VerifyException` where it is none."""
    match attr:
        case IntegerAttr() if attr.type == i64:
            return attr.value.data
        case IntegerAttr() if attr.type == i1:
            return bool(attr.value.data)
        case FloatAttr() if attr.type == f64:
            return attr.value.data
        case ArrayAttr(data=(FloatAttr() as real, FloatAttr() as imag)):
            return complex(real.value.data, imag.value.data)
        case _:
            raise VerifyException(f"{attr} is not a number")


def number_type(value: PythonNumber) -> Attribute:
    """The type of a Python number as SSA value."""
    match value:
        case bool():
            return i1
        case int():
            return i64
        case float():
            return f64
        case complex():
            return ComplexType(f64)


def symbolic_type(value: PythonNumber) -> Attribute | None:
    """The symbolic type of a constant; None of a complex one."""
    match value:
        case bool():
            return SymBoolType(Expr.parse("true" if value else "false"))
        case int():
            return SymIntType(value)
        case float():
            return SymFloatType(Expr.parse(float_text(value)))
        case complex():
            return None


def print_number(printer: Printer, value: PythonNumber) -> None:
    """Prints `true`, `2`, `1.0e-05`, `inf`, `(1.0, 2.0)`: text that says the number's Python type."""
    match value:
        case bool():
            printer.print_string("true" if value else "false")
        case int():
            printer.print_string(str(value))
        case float():
            printer.print_string(float_text(value))
        case complex():
            printer.print_string(f"({float_text(value.real)}, {float_text(value.imag)})")


def float_text(value: float) -> str:
    """The shortest text that reads back as this float and that MLIR's lexer takes for one."""
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}.0{e}{exponent}" if e and "." not in mantissa else text


def parse_optional_number(parser: AttrParser) -> PythonNumber | None:
    """Reads what `print_number` writes; None where no number stands."""
    if parser.parse_optional_punctuation("("):
        real = _parse_float(parser)
        parser.parse_punctuation(",")
        imag = _parse_float(parser)
        parser.parse_punctuation(")")
        return complex(real, imag)
    word = parser.parse_optional_keyword_in(("true", "false", "inf", "nan"))
    if word is not None:
        return word == "true" if word in ("true", "false") else float(word)
    negative = parser.parse_optional_punctuation("-") is not None
    word = parser.parse_optional_keyword_in(("inf", "nan"))
    value = float(word) if word is not None else parser.parse_optional_number()
    if value is None:
        return parser.raise_error("a number must follow '-'") if negative else None
    return -value if negative else value


def _parse_float(parser: AttrParser) -> float:
    value = parser.expect(lambda: parse_optional_number(parser), "number expected")
    if isinstance(value, complex):
        parser.raise_error("real number expected")
    return float(value)


@irdl_op_definition
class NumberOp(IRDLOperation):
    """A Python number where an operator takes a Tensor: it takes part in promotion as a number.

    ```mlir
    %0 = exir.number 2.0 : f64
    ```
    """

    name = "exir.number"

    value = prop_def()
    result = result_def()

    traits = traits_def(Pure(), ConstantLike(), IsItsValue())

    def __init__(self, value: PythonNumber, symbolic: bool = False):
        """`symbolic` makes a constant of symbolic arithmetic, whose type says its value: `!exir.symint<2>`."""
        type = symbolic_type(value) if symbolic else number_type(value)
        super().__init__(properties={"value": number_attr(value)}, result_types=[type])

    @property
    def number(self) -> PythonNumber:
        return number_value(self.value)

    def verify_(self) -> None:
        if self.result.type not in (number_type(self.number), symbolic_type(self.number)):
            raise VerifyException(f"{self.number!r} is of type {number_type(self.number)}")

    @classmethod
    def parse(cls, parser: Parser) -> NumberOp:
        value = parser.expect(lambda: parse_optional_number(parser), "number expected")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        # The type is kept as it was written, for the verifier to judge.
        return cls.create(
            properties={"value": number_attr(value)},
            attributes=attributes,
            result_types=[parser.parse_type()],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_number(printer, self.number)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A small literal tensor: one number that fills it, or all its elements in row-major order.

    ```mlir
    %0 = exir.constant 2.0 : tensor<f32>
    %1 = exir.constant [1, 2, 3] : tensor<3xi64>
    ```

    Numbers are held as the operator's Python numbers, not as a dense attribute: xDSL reads infinities and NaNs in
    `dense<>` as integers.
    """

    name = "exir.constant"

    value = prop_def()
    result = result_def(TensorType)

    traits = traits_def(Pure(), ConstantLike(), IsItsValue())

    def __init__(self, value: PythonNumber | Sequence[PythonNumber], result_type: AnyTensor):
        if isinstance(value, Sequence):
            attr = ArrayAttr([number_attr(item) for item in value])
        else:
            attr = number_attr(value)
        super().__init__(properties={"value": attr}, result_types=[result_type])

    @property
    def is_splat(self) -> bool:
        """Whether one number fills the tensor."""
        value = self.value
        if not is_array_attr(value):
            return True
        # A complex number is a pair of floats; a list of complex numbers is a list of pairs.
        pair = len(value.data) == 2 and all(isinstance(item, FloatAttr) for item in value.data)
        return pair and tensor_meta(self.type).dtype.category is Category.COMPLEX

    @property
    def type(self) -> AnyTensor:
        type = self.result.type
        assert is_tensor_type(type)
        return type

    @property
    def values(self) -> list[PythonNumber]:
        """The number that fills the tensor, or its elements."""
        if self.is_splat:
            return [number_value(self.value)]
        value = self.value
        assert is_array_attr(value)
        return [number_value(item) for item in value.data]

    def verify_(self) -> None:
        meta = tensor_meta(self.type)
        count = 1
        for size in meta.shape:
            if isinstance(size, Expr):
                raise VerifyException("a literal has a static shape")
            count *= size
        values = self.values
        if not self.is_splat and len(values) != count:
            raise VerifyException(f"{len(values)} values for {count} elements")
        for value in values:
            category = NUMBER_TYPES[number_type(value)]
            if category > meta.dtype.category:
                raise VerifyException(f"{value!r} is not an element of a {meta.dtype} tensor")

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        value: PythonNumber | list[PythonNumber] | None = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE,
            lambda: parser.expect(lambda: parse_optional_number(parser), "number expected"),
        )
        if value is None:
            value = parser.expect(lambda: parse_optional_number(parser), "number or list expected")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not is_tensor_type(type):
            parser.raise_error("a literal is a tensor", position, parser.pos)
        op = cls(value, type)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if self.is_splat:
            print_number(printer, self.values[0])
        else:
            with printer.in_square_brackets():
                printer.print_list(self.values, lambda value: print_number(printer, value))
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class RefineOp(IRDLOperation):
    """Retypes a value whose sizes are known under other names: where branches join, or after a check.

    ```mlir
    %1 = exir.refine %0 : tensor<?xf32, #exir.shape<[s0]>> -> tensor<?xf32, #exir.shape<[u0]>>
    ```
    """

    name = "exir.refine"

    input = operand_def()
    result = result_def()

    traits = traits_def(Pure(), Folds())

    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"

    def __init__(self, input: SSAValue | Operation, result_type: Attribute):
        super().__init__(operands=[input], result_types=[result_type])

    def verify_(self) -> None:
        before, after = self.input.type, self.result.type
        if is_tensor_type(before) and is_tensor_type(after):
            old, new = tensor_meta(before), tensor_meta(after)
            if old.dtype is not new.dtype or old.ndim != new.ndim:
                raise VerifyException("only names of sizes may change")
            sizes = zip(old.shape, new.shape, strict=True)
        elif isinstance(before, SymType) and isinstance(after, SymType) and type(before) is type(after):
            sizes = ((before.data, after.data),)
        else:
            raise VerifyException(f"cannot refine {before} to {after}")
        for old_size, new_size in sizes:
            if provably_equal(old_size, new_size) is False:
                raise VerifyException(f"{old_size} is never {new_size}")


def dialect() -> Dialect:
    """The xDSL dialect, symbolic arithmetic included."""
    from xdsl_exir.dialects.sym_ops import SYM_OPS

    operations: list[type[Operation]] = [NumberOp, ConstantOp, RefineOp, *dict.fromkeys(SYM_OPS.values())]
    return Dialect("exir", operations, ATTRIBUTES, [MaterializesConstants()])


ATTRIBUTES: list[type[Attribute]] = [
    ShapeAttr,
    SymIntType,
    SymFloatType,
    SymBoolType,
    InputAttr,
    OutputAttr,
    OriginAttr,
    RangeAttr,
]
