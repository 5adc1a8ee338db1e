"""Arithmetic on symbolic numbers: what Python does to a `torch.SymInt`, as operations of the `exir` dialect.

Integers are 64-bit, division and modulo floor as Python's do. The result's type says its value, so it is computed from
the operands' types alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects.canonicalization import Folds
from xdsl_exir.dialects.expr import Dim, Expr, apply, provably_equal
from xdsl_exir.dialects.tensors import SymBoolType, SymFloatType, SymIntType, SymType
from xdsl_exir.errors import ExirError


def sym_type_of(value: Dim) -> SymType:
    """The type of a number with this value."""
    kind = value.kind if isinstance(value, Expr) else "int"
    return {"int": SymIntType, "float": SymFloatType, "bool": SymBoolType}[kind](value)


class SymOp(IRDLOperation):
    """Base of the arithmetic; `FUNCTION` is the name of the function in expressions.

    ```mlir
    %2 = exir.sym_add %0, %1 : (!exir.symint<s0>, !exir.symint<1>) -> !exir.symint<s0 + 1>
    ```
    """

    FUNCTION: ClassVar[str]
    ARITY: ClassVar[int] = 2

    args = var_operand_def(SymType)
    result = result_def(SymType)

    traits = traits_def(Pure(), Folds())

    assembly_format = "$args attr-dict `:` functional-type($args, $result)"

    def __init__(self, args: Sequence[SSAValue], result_type: Attribute | None = None):
        if result_type is None:
            result_type = sym_type_of(self.value_of([_data(arg) for arg in args]))
        super().__init__(operands=[args], result_types=[result_type])

    @classmethod
    def value_of(cls, args: Sequence[Dim]) -> Dim:
        """The result's expression. Raises `ExprError` for operands without one."""
        return apply(cls.FUNCTION, *args)

    def verify_(self) -> None:
        if self.ARITY and len(self.args) != self.ARITY:
            raise VerifyException(f"{self.ARITY} operands expected, {len(self.args)} given")
        try:
            value = self.value_of([_data(arg) for arg in self.args])
        except ExirError as error:
            raise VerifyException(str(error)) from error
        given = self.result.type
        assert isinstance(given, SymType)
        expected = sym_type_of(value)
        if type(given) is not type(expected) or provably_equal(given.data, value) is False:
            raise VerifyException(f"result is {expected}, not {given}")


def _data(value: SSAValue) -> Dim:
    assert isinstance(value.type, SymType)
    return value.type.data


class SymUnaryOp(SymOp):
    """Base of functions of one number."""

    ARITY: ClassVar = 1


@irdl_op_definition
class SymAddOp(SymOp):
    name = "exir.sym_add"
    FUNCTION: ClassVar = "add"


@irdl_op_definition
class SymSubOp(SymOp):
    name = "exir.sym_sub"
    FUNCTION: ClassVar = "sub"


@irdl_op_definition
class SymMulOp(SymOp):
    name = "exir.sym_mul"
    FUNCTION: ClassVar = "mul"


@irdl_op_definition
class SymFloorDivOp(SymOp):
    name = "exir.sym_floordiv"
    FUNCTION: ClassVar = "floordiv"


@irdl_op_definition
class SymModOp(SymOp):
    name = "exir.sym_mod"
    FUNCTION: ClassVar = "mod"


@irdl_op_definition
class SymTrueDivOp(SymOp):
    name = "exir.sym_truediv"
    FUNCTION: ClassVar = "truediv"


@irdl_op_definition
class SymPowOp(SymOp):
    name = "exir.sym_pow"
    FUNCTION: ClassVar = "pow"


@irdl_op_definition
class SymLShiftOp(SymOp):
    name = "exir.sym_lshift"
    FUNCTION: ClassVar = "lshift"


@irdl_op_definition
class SymRShiftOp(SymOp):
    name = "exir.sym_rshift"
    FUNCTION: ClassVar = "rshift"


@irdl_op_definition
class SymMaxOp(SymOp):
    name = "exir.sym_max"
    FUNCTION: ClassVar = "max"


@irdl_op_definition
class SymMinOp(SymOp):
    name = "exir.sym_min"
    FUNCTION: ClassVar = "min"


@irdl_op_definition
class SymEqOp(SymOp):
    name = "exir.sym_eq"
    FUNCTION: ClassVar = "eq"


@irdl_op_definition
class SymNeOp(SymOp):
    name = "exir.sym_ne"
    FUNCTION: ClassVar = "ne"


@irdl_op_definition
class SymLtOp(SymOp):
    name = "exir.sym_lt"
    FUNCTION: ClassVar = "lt"


@irdl_op_definition
class SymLeOp(SymOp):
    name = "exir.sym_le"
    FUNCTION: ClassVar = "le"


@irdl_op_definition
class SymGtOp(SymOp):
    name = "exir.sym_gt"
    FUNCTION: ClassVar = "gt"


@irdl_op_definition
class SymGeOp(SymOp):
    name = "exir.sym_ge"
    FUNCTION: ClassVar = "ge"


@irdl_op_definition
class SymAndOp(SymOp):
    """Of conditions, or of the bits of whole numbers, as Python's `&`."""

    name = "exir.sym_and"
    FUNCTION: ClassVar = "bitwise_and"


@irdl_op_definition
class SymOrOp(SymOp):
    """Of conditions, or of the bits of whole numbers, as Python's `|`."""

    name = "exir.sym_or"
    FUNCTION: ClassVar = "bitwise_or"


@irdl_op_definition
class SymNotOp(SymUnaryOp):
    name = "exir.sym_not"
    FUNCTION: ClassVar = "not"


@irdl_op_definition
class SymNegOp(SymUnaryOp):
    name = "exir.sym_neg"
    FUNCTION: ClassVar = "neg"


@irdl_op_definition
class SymAbsOp(SymUnaryOp):
    name = "exir.sym_abs"
    FUNCTION: ClassVar = "abs"


@irdl_op_definition
class SymFloatOp(SymUnaryOp):
    name = "exir.sym_float"
    FUNCTION: ClassVar = "to_float"


@irdl_op_definition
class SymIntOp(SymUnaryOp):
    name = "exir.sym_int"
    FUNCTION: ClassVar = "trunc_to_int"


@irdl_op_definition
class SymCeilOp(SymUnaryOp):
    name = "exir.sym_ceil"
    FUNCTION: ClassVar = "ceil_to_int"


@irdl_op_definition
class SymFloorOp(SymUnaryOp):
    name = "exir.sym_floor"
    FUNCTION: ClassVar = "floor_to_int"


@irdl_op_definition
class SymRoundOp(SymUnaryOp):
    name = "exir.sym_round"
    FUNCTION: ClassVar = "round_to_int"


@irdl_op_definition
class SymSqrtOp(SymUnaryOp):
    name = "exir.sym_sqrt"
    FUNCTION: ClassVar = "sqrt"


@irdl_op_definition
class SymSumOp(SymOp):
    name = "exir.sym_sum"
    FUNCTION: ClassVar = "add"
    ARITY: ClassVar = 0


@irdl_op_definition
class SymIteOp(SymOp):
    name = "exir.sym_ite"
    FUNCTION: ClassVar = "where"
    ARITY: ClassVar = 3


SYM_OPS: dict[str, type[SymOp]] = {
    "_operator.add": SymAddOp,
    "_operator.sub": SymSubOp,
    "_operator.mul": SymMulOp,
    "_operator.floordiv": SymFloorDivOp,
    "_operator.mod": SymModOp,
    "_operator.truediv": SymTrueDivOp,
    "_operator.pow": SymPowOp,
    "_operator.lshift": SymLShiftOp,
    "_operator.rshift": SymRShiftOp,
    "_operator.neg": SymNegOp,
    "_operator.abs": SymAbsOp,
    "_operator.eq": SymEqOp,
    "_operator.ne": SymNeOp,
    "_operator.lt": SymLtOp,
    "_operator.le": SymLeOp,
    "_operator.gt": SymGtOp,
    "_operator.ge": SymGeOp,
    "_operator.and_": SymAndOp,
    "_operator.or_": SymOrOp,
    "math.ceil": SymCeilOp,
    "math.floor": SymFloorOp,
    "math.trunc": SymIntOp,
    "builtins.round": SymRoundOp,
    "torch.sym_max": SymMaxOp,
    "torch.sym_min": SymMinOp,
    "torch.sym_not": SymNotOp,
    "torch.sym_ite": SymIteOp,
    "torch.sym_float": SymFloatOp,
    "torch.sym_int": SymIntOp,
    "torch.sym_sum": SymSumOp,
    "torch._sym_sqrt": SymSqrtOp,
}
"""Python's functions on symbolic numbers, as graphs name them, and their operations."""
