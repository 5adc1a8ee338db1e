"""The `exir` dialect: what Export IR needs besides operators.

Types of symbolic numbers, the encoding of tensors that are not plain (symbolic sizes, dimension order, device), the
attributes of a program's signature, and the operations that make numbers, literals and refined types. Operators with a
schema live in `aten`, `edge` and users' dialects; regions in `higher_order`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from xdsl.dialects.builtin import (
    ArrayAttr,
    ComplexType,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
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

from xdsl_exir.dialects.canonicalization import Folds, IsItsValue, MaterializesConstants
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Expr, provably_equal
from xdsl_exir.dialects.signature import InputAttr, OriginAttr, OutputAttr, RangeAttr
from xdsl_exir.dialects.tensors import (
    NUMBER_TYPES,
    AnyTensor,
    ShapeAttr,
    SymBoolType,
    SymFloatType,
    SymIntType,
    SymType,
    is_array_attr,
    is_tensor_type,
    tensor_meta,
)

# --- numbers and literals ------------------------------------------------------------------------------------

PythonNumber: TypeAlias = bool | int | float | complex


def number_attr(value: object) -> Attribute:
    """A Python number as attribute: i1, i64, f64, or a pair of f64 for a complex one. Raises `TypeError` for others."""
    if isinstance(value, bool):
        return _integer_attr(value, i1)
    if isinstance(value, int):
        return _integer_attr(value, i64)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    if not isinstance(value, complex):
        raise TypeError(f"expected a number, got {value!r}")
    return ArrayAttr([FloatAttr(value.real, f64), FloatAttr(value.imag, f64)])


@lru_cache(maxsize=1024)
def _integer_attr(value: int, type: IntegerType) -> Attribute:
    return IntegerAttr(value, type)


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
    negative = parser.parse_optional_punctuation("-") is not None
    value = parser.parse_optional_number()
    if value is None and (word := parser.parse_optional_keyword_in(("inf", "nan"))) is not None:
        value = float(word)
    if value is not None:
        return -value if negative else value
    if negative:
        parser.raise_error("a number must follow '-'")
    if parser.parse_optional_punctuation("("):
        real = _parse_float(parser)
        parser.parse_punctuation(",")
        imag = _parse_float(parser)
        parser.parse_punctuation(")")
        return complex(real, imag)
    word = parser.parse_optional_keyword_in(("true", "false"))
    return None if word is None else word == "true"


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
