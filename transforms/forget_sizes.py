"""`forget-sizes`: sizes that a program asks its tensors for, as values of their own."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xdsl_exir.dialects import edge
from xdsl_exir.dialects.exir import NumberOp, RefineOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sym_ops import SymOp
from xdsl_exir.dialects.tensors import SymType, is_tensor_type


def is_number(op: Operation) -> bool:
    """Whether an operation only computes numbers whose types say their values."""
    asks = isinstance(op, OperatorOp) and op.SPEC.qualified_name.startswith("aten.sym_")
    return isinstance(op, SymOp | NumberOp) or (
        (asks or isinstance(op, UnrealizedConversionCastOp | RefineOp))
        and bool(op.results)
        and all(isinstance(result.type, SymType) for result in op.results)
    )


@dataclass(frozen=True)
class ForgetSizes(ModulePass):
    """Makes the sizes that a program asks its tensors for values of their own, since their types say what they are: then a
    tensor whose size alone is asked for has no use. What only gives sizes other names becomes an alias.
    """

    name = "forget-sizes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        alias = edge.OPERATORS["aten.alias"]
        for number in list(op.walk()):
            if isinstance(number, RefineOp) and is_tensor_type(number.result.type):
                Rewriter.replace_op(number, alias.from_bound({"self": number.input}, [number.result.type]))
            elif is_number(number) and any(is_tensor_type(operand.type) for operand in number.operands):
                types = [result.type for result in number.results]
                Rewriter.replace_op(number, UnrealizedConversionCastOp.get([], types))
