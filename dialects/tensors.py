"""Types as Export IR has them: tensors with named sizes, and symbolic numbers; and what a `tensor<...>` says, as data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeAlias

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    ComplexType,
    NoneAttr,
    TensorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Data, SSAValue, TypeAttribute
from xdsl.irdl import (
    irdl_attr_definition,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.errors import ExirError

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


def parse_dim_order(parser: AttrParser) -> tuple[int, ...]:
    """Reads `= [0, 2, 3, 1]`."""
    parser.parse_punctuation("=")
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer))


def check_dim_order(order: tuple[int, ...] | None) -> None:
    """Raises `VerifyException` for what is no permutation."""
    if order is not None and sorted(order) != list(range(len(order))):
        raise VerifyException(f"dim_order {list(order)} is not a permutation")


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
