"""The `backend` dialect: parts of an edge program handed to a backend, or to native code, with what they compute kept in sight.

A delegate or a dispatch holds its operators in a region that sees nothing of the program around it, so it can be verified, printed,
run by the interpreter, or put back (`inline-delegates`), whatever becomes of it. How delegates come about is
`transforms/partition.py`, dispatches `lowering/form_dispatches.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure, is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects.exir import ConstantOp, NumberOp, RefineOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.region_types import argument_types, check_types, types_of
from xdsl_exir.dialects.sym_ops import SymOp


def names_sizes(op: Operation) -> bool:
    """Whether an operation computes sizes, or gives them other names."""
    return isinstance(op, SymOp | NumberOp | RefineOp)


def is_delegable(op: Operation) -> bool:
    """Whether a delegate or a dispatch may hold an operation: edge operators without effects, and literals."""
    is_edge = isinstance(op, OperatorOp) and not op.NUMBERS
    return isinstance(op, ConstantOp) or (is_edge and is_side_effect_free(op))


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the region of a delegate or a dispatch with its results.

    ```mlir
    backend.yield %0, %1 : tensor<3xf32>, tensor<f32>
    ```
    """

    name = "backend.yield"

    values = var_operand_def()

    traits = lazy_traits_def(lambda: (IsTerminator(), Pure(), HasParent(DelegateOp, DispatchOp)))

    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, *values: SSAValue | Operation):
        super().__init__(operands=[values])


class PartOp(IRDLOperation):
    """Part of a program, held in a region that sees nothing of what is around it; its region says what it computes.

    The region's arguments are the inputs, its yield gives the outputs, of the same types. It holds edge operators without
    effects, and literals.
    """

    def may_hold(self, op: Operation) -> bool:
        """Whether the region may hold an operation."""
        return is_delegable(op)

    inputs = var_operand_def()
    body = region_def("single_block")
    outputs = var_result_def()

    traits = traits_def(IsolatedFromAbove(), Pure())

    @property
    def yielded(self) -> YieldOp:
        """The region's end. Raises `VerifyException` where there is none."""
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException(f"the region of {self.name} ends in {YieldOp.name}")
        return last

    def verify_(self) -> None:
        check_types("arguments of the body", argument_types(self.body), types_of(self.inputs), eq)
        check_types("yield of the body", types_of(self.yielded.values), types_of(self.outputs), eq)
        for op in self.body.block.ops:
            if op is not self.yielded and not self.may_hold(op):
                raise VerifyException(
                    f"{self.name} holds edge operators without effects and literals, not {op.name}"
                )


@irdl_op_definition
class DelegateOp(PartOp):
    """A part of the program that a backend runs.

    ```mlir
    %y = backend.delegate "native" inputs(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> {
    ^bb0(%a : tensor<2x3xf32>, %b : tensor<3x4xf32>):
      %0 = edge.aten.mm(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      %1 = edge.aten.relu(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      backend.yield %1 : tensor<2x4xf32>
    }
    ```
    """

    name = "backend.delegate"

    backend = prop_def(StringAttr)

    assembly_format = "$backend (`inputs` `(` $inputs^ `:` type($inputs) `)`)? (`->` type($outputs)^)? attr-dict-with-keyword $body"

    def __init__(
        self, backend: str, inputs: Sequence[SSAValue], body: Region, result_types: Sequence[Attribute]
    ):
        super().__init__(
            operands=[inputs],
            properties={"backend": StringAttr(backend)},
            regions=[body],
            result_types=[result_types],
        )


@irdl_op_definition
class DispatchOp(PartOp):
    """A part of the program that becomes one function of native code. It may also hold what computes sizes between its operators.

    `kernel` is the kind of kernel that is written for it; without one MLIR lowers it.

    ```mlir
    %y = backend.dispatch kernel "Matmul" inputs(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> {
    ^bb0(%a : tensor<2x3xf32>, %b : tensor<3x4xf32>):
      %0 = edge.aten.mm(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      %1 = edge.aten.relu(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      backend.yield %1 : tensor<2x4xf32>
    }
    ```
    """

    name = "backend.dispatch"

    kernel = opt_prop_def(StringAttr)

    def may_hold(self, op: Operation) -> bool:
        return is_delegable(op) or names_sizes(op)

    assembly_format = "(`kernel` $kernel^)? (`inputs` `(` $inputs^ `:` type($inputs) `)`)? (`->` type($outputs)^)? attr-dict-with-keyword $body"

    def __init__(
        self,
        kernel: str | None,
        inputs: Sequence[SSAValue],
        body: Region,
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[inputs],
            properties={"kernel": None if kernel is None else StringAttr(kernel)},
            regions=[body],
            result_types=[result_types],
        )


def dialect() -> Dialect:
    """The xDSL dialect."""
    return Dialect("backend", [YieldOp, DelegateOp, DispatchOp], [])
