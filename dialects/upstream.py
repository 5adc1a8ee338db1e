"""Operations of upstream dialects that xDSL lacks, or has in another form: names, operands and properties are MLIR's.

This package's context reads them back; stock `xdsl-opt` needs `--allow-unregistered-dialect` for those that it does not know, since no two plugins may
have one dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import IndexType, MemRefType, TensorType, UnitAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.math import floatingPointLike
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    opt_result_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xdsl_exir.dialects import named_linalg


@irdl_op_definition
class RemFOp(IRDLOperation):
    """The remainder of floats with the dividend's sign, which xDSL's arith lacks."""

    name = "arith.remf"
    T: ClassVar = VarConstraint("T", floatingPointLike)

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)


@irdl_op_definition
class ErfcOp(IRDLOperation):
    """The complementary error function, which xDSL's math lacks."""

    name = "math.erfc"

    operand = operand_def(floatingPointLike)
    result = result_def(floatingPointLike)


@irdl_op_definition
class ReshapeOp(IRDLOperation):
    """A reshape to computed sizes: xDSL's takes no dynamic ones."""

    name = "tensor.reshape"

    source = operand_def(TensorType[Attribute])
    sizes = operand_def(TensorType[IndexType])
    result = result_def(TensorType[Attribute])


class CopyOp(linalg.CopyOp):
    """A copy of numbers of any kind: xDSL's is none of complex ones."""

    @staticmethod
    def body_arg_types(operands: Sequence[SSAValue]) -> Sequence[Any]:
        return [cast("MemRefType[Any] | TensorType[Any]", operand.type).element_type for operand in operands]


def check_same_elements(memory: SSAValue, tensor: SSAValue) -> None:
    """Raises `VerifyException` unless a memref, however it lies, and a tensor have one shape and one type of elements."""
    assert isa(memory.type, MemRefType[Attribute])
    assert isa(tensor.type, TensorType[Attribute])
    if (memory.type.shape, memory.type.element_type) != (tensor.type.shape, tensor.type.element_type):
        raise VerifyException(f"{memory.type} and {tensor.type} have not the same elements")


@irdl_op_definition
class ToTensorOp(IRDLOperation):
    """What memory holds as a tensor: xDSL's takes no memrefs with a layout."""

    name = "bufferization.to_tensor"

    memref = operand_def(MemRefType[Attribute])
    tensor = result_def(TensorType[Attribute])

    writable = opt_prop_def(UnitAttr)
    restrict = opt_prop_def(UnitAttr)

    assembly_format = "$memref (`restrict` $restrict^)? (`writable` $writable^)? attr-dict `:` type($memref) `to` type($tensor)"

    def __init__(self, memory: SSAValue, writable: bool = False):
        """Of memory that no other argument is a view of, and that what is made of the tensor may take the place of."""
        assert isa(memory.type, MemRefType[Attribute])
        type = TensorType(memory.type.element_type, memory.type.shape)
        properties = {"restrict": UnitAttr()} | ({"writable": UnitAttr()} if writable else {})
        super().__init__(operands=[memory], result_types=[type], properties=properties)

    def verify_(self) -> None:
        check_same_elements(self.memref, self.tensor)


@irdl_op_definition
class MaterializeInDestinationOp(IRDLOperation):
    """Writes a tensor to memory: xDSL's takes no memrefs with a layout."""

    name = "bufferization.materialize_in_destination"

    source = operand_def(TensorType[Attribute])
    dest = operand_def(MemRefType[Attribute])

    result = opt_result_def(TensorType[Attribute])

    restrict = opt_prop_def(UnitAttr)
    writable = opt_prop_def(UnitAttr)

    assembly_format = "$source `in` (`restrict` $restrict^)? (`writable` $writable^)? $dest attr-dict `:` functional-type(operands, results)"

    def __init__(self, source: SSAValue, dest: SSAValue):
        """To memory that no other argument is a view of."""
        properties = {"restrict": UnitAttr(), "writable": UnitAttr()}
        super().__init__(operands=[source, dest], result_types=[[]], properties=properties)

    def verify_(self) -> None:
        check_same_elements(self.dest, self.source)


UPSTREAM = frozenset(("arith", "bufferization", "cf", "complex", "linalg", "math", "memref", "scf", "tensor"))
"""The dialects below edge that the interpreter runs."""

OPERATIONS: tuple[type[Operation], ...] = (
    RemFOp,
    ErfcOp,
    CopyOp,
    ReshapeOp,
    ToTensorOp,
    MaterializeInDestinationOp,
    *named_linalg.OPERATIONS.values(),
)
KERNELS = ("arith", "llvm", "memref", "vector")
DIALECTS = frozenset(op.name.partition(".")[0] for op in OPERATIONS).union(KERNELS)
"""Those of these operations, and of those that `vectors` has for kernels."""


T = TypeVar("T", type[Operation], type[Attribute])


def of_dialect(name: str, all: Iterable[T]) -> list[T]:
    """Those of a dialect."""
    return [each for each in all if each.name.partition(".")[0] == name]


class Completed(Dialect):
    """A dialect of xDSL with these operations."""

    def __init__(self, dialect: Dialect):
        known = {op.name: op for op in dialect.operations}
        known |= {op.name: op for op in of_dialect(dialect.name, OPERATIONS)}
        attributes = list(dialect.attributes)
        if dialect.name in KERNELS:
            from xdsl_exir.dialects import vectors

            known |= {op.name: op for op in of_dialect(dialect.name, vectors.OPERATIONS)}
            known |= {
                name: vectors.on_numbers_or_vectors(known[name])
                for name in known.keys() & vectors.OF_VECTORS.keys()
            }
            attributes += of_dialect(dialect.name, vectors.ATTRIBUTES)
        super().__init__(dialect.name, list(known.values()), attributes)
        self.dialect = dialect

    def get_interface(self, interface: type[Any]) -> Any:
        return self.dialect.get_interface(interface)
