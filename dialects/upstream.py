"""Operations of upstream dialects that xDSL lacks, or has in another form: names, operands and properties are MLIR's.

This package's context reads them back; stock `xdsl-opt` needs `--allow-unregistered-dialect` for those that it does not know, since no two plugins may
have one dialect.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import AnyFloatConstr, IndexType, TensorType
from xdsl.ir import Attribute, Dialect, Operation
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


UPSTREAM = frozenset(("arith", "bufferization", "complex", "linalg", "math", "memref", "scf", "tensor"))
"""The dialects below edge that the interpreter runs."""

OPERATIONS: tuple[type[Operation], ...] = (RemFOp, ErfcOp, ReshapeOp)
DIALECTS = frozenset(op.name.partition(".")[0] for op in OPERATIONS)
"""Those of these operations."""


class Completed(Dialect):
    """A dialect of xDSL with these operations."""

    def __init__(self, dialect: Dialect):
        known = {op.name: op for op in dialect.operations}
        known |= {op.name: op for op in OPERATIONS if op.name.partition(".")[0] == dialect.name}
        super().__init__(dialect.name, list(known.values()), list(dialect.attributes))
        self.dialect = dialect

    def get_interface(self, interface: type[Any]) -> Any:
        return self.dialect.get_interface(interface)
