"""Operations of upstream dialects that xDSL lacks, or has in another form: names, operands and properties are MLIR's."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloatConstr, IndexType, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def


@irdl_op_definition
class RemFOp(IRDLOperation):
    """The remainder of floats with the dividend's sign, which xDSL's arith lacks."""

    name = "arith.remf"

    lhs = operand_def(AnyFloatConstr)
    rhs = operand_def(AnyFloatConstr)
    result = result_def(AnyFloatConstr)


@irdl_op_definition
class ErfcOp(IRDLOperation):
    """The complementary error function, which xDSL's math lacks."""

    name = "math.erfc"

    operand = operand_def(AnyFloatConstr)
    result = result_def(AnyFloatConstr)


@irdl_op_definition
class ReshapeOp(IRDLOperation):
    """A reshape to computed sizes: xDSL's takes no dynamic ones."""

    name = "tensor.reshape"

    source = operand_def(TensorType[Attribute])
    sizes = operand_def(TensorType[IndexType])
    result = result_def(TensorType[Attribute])
