"""`aten-to-edge`: everything explicit.

Operands that promote are cast to the computation dtype; Python numbers in tensor positions become 0-dim literals of
that dtype; overloads that take a number where a tensor twin exists become the twin; what does nothing goes away. A memory
format is an order of dimensions, of a copy that says nothing else (`dialects/dim_order_ops.py`). Every other operator keeps
its name and arguments under the `edge.` prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_exir.dialects import edge
from xdsl_exir.dialects.builder import (
    Builder,
    Results,
    computation_dtype,
    meta,
    opmath,
    promoting_operands,
)
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.exir import NumberOp
from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp
from xdsl_exir.dialects.promotion import NUMBER_DTYPE, UNROUNDED
from xdsl_exir.dialects.signature import STRAIGHT
from xdsl_exir.dialects.spec import find
from xdsl_exir.dialects.tensors import is_tensor_type, is_value, number_category, tensor_type
from xdsl_exir.narrowing import is_list
from xdsl_exir.transforms.layouts import COPY, in_order_of, order_of
from xdsl_exir.transforms.patterns import KEEP, OperatorPattern, apply_once

SCALAR_TWINS = {
    f"aten.{scalar}": f"aten.{tensor}"
    for scalar, tensor in {
        "add.Scalar": "add.Tensor",
        "sub.Scalar": "sub.Tensor",
        "mul.Scalar": "mul.Tensor",
        "div.Scalar": "div.Tensor",
        "div.Scalar_mode": "div.Tensor_mode",
        "remainder.Scalar": "remainder.Tensor",
        "fmod.Scalar": "fmod.Tensor",
        "pow.Tensor_Scalar": "pow.Tensor_Tensor",
        "pow.Scalar": "pow.Tensor_Tensor",
        "eq.Scalar": "eq.Tensor",
        "ne.Scalar": "ne.Tensor",
        "lt.Scalar": "lt.Tensor",
        "le.Scalar": "le.Tensor",
        "gt.Scalar": "gt.Tensor",
        "ge.Scalar": "ge.Tensor",
        "bitwise_and.Scalar": "bitwise_and.Tensor",
        "bitwise_or.Scalar": "bitwise_or.Tensor",
        "bitwise_xor.Scalar": "bitwise_xor.Tensor",
        "bitwise_and.Scalar_Tensor": "bitwise_and.Tensor",
        "bitwise_or.Scalar_Tensor": "bitwise_or.Tensor",
        "bitwise_xor.Scalar_Tensor": "bitwise_xor.Tensor",
        "bitwise_left_shift.Tensor_Scalar": "bitwise_left_shift.Tensor",
        "bitwise_left_shift.Scalar_Tensor": "bitwise_left_shift.Tensor",
        "bitwise_right_shift.Tensor_Scalar": "bitwise_right_shift.Tensor",
        "bitwise_right_shift.Scalar_Tensor": "bitwise_right_shift.Tensor",
        "__lshift__.Tensor": "bitwise_left_shift.Tensor",
        "__lshift__.Scalar": "bitwise_left_shift.Tensor",
        "__rshift__.Tensor": "bitwise_right_shift.Tensor",
        "__rshift__.Scalar": "bitwise_right_shift.Tensor",
        "remainder.Scalar_Tensor": "remainder.Tensor",
        "copysign.Scalar": "copysign.Tensor",
        "where.ScalarOther": "where.self",
        "where.ScalarSelf": "where.self",
        "where.Scalar": "where.self",
    }.items()
}
"""Overloads that take a number, and the overload of the same operator that takes a tensor in its place; and what `<<`
and `>>` are."""

NO_OPS = frozenset(
    {"aten.alias", "aten.detach", "aten.lift_fresh", "aten.lift_fresh_copy", "aten.contiguous", "aten.clone"}
)
"""Operators that, on values, give back their operand, unless they say how it lies in memory."""


class Specialiser(OperatorPattern):
    """Rewrites single operations of `aten` to `edge`."""

    def __init__(self, *names: str):
        self.names = frozenset(names)
        """The operators that it is for; all if none are named."""

    def label(self, op: Operation) -> str:
        return f"specialisation of {op.name}"

    def dialect(self, op: OperatorOp) -> OperatorDialect:
        return edge.OPERATORS

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        """What an operation of the aten dialect is in edge."""
        name = op.SPEC.qualified_name
        if not op.NUMBERS or (self.names and name not in self.names):
            return KEEP
        arguments = op.arguments()
        order = order_of(op, arguments)
        if name in NO_OPS and order is None and op.operands[0].type == op.results[0].type:
            return op.operands[0]
        if STRAIGHT in op.attributes and op.operands[1].type == op.results[0].type:
            return op.operands[1]
        target = edge.OPERATORS[SCALAR_TWINS.get(name, name)]
        wide = unrounded_dtype(op, arguments)
        explicit = self.promote(builder, op, arguments, wide)
        explicit = {given: value for given, value in explicit.items() if given != "memory_format"}
        in_order = in_order_of(op)
        if order is not None and in_order is not None:
            target = edge.OPERATORS[in_order]
            explicit, order = {**explicit, "dim_order": order}, None
        if wide is not None:
            wanted = meta(op.results[0])
            type = tensor_type(wanted.shape, wide, wanted.dim_order, wanted.device)
            computed = builder.build(target, target.SLOTS.bind((), explicit), [type])
            return builder.call("aten._to_copy", [computed], {"dtype": wanted.dtype})
        # The result's type does not change, so shapes need not be inferred a second time.
        results = builder.build(target, target.SLOTS.bind((), explicit), op.result_types)
        return results if order is None else builder.call(COPY, [results], {"dim_order": order})

    def promote(
        self, builder: Builder, op: OperatorOp, arguments: Mapping[str, Any], wide: DType | None
    ) -> Mapping[str, Any]:
        """Arguments with promoting operands cast to the computation dtype, or to `wide` if that is given; numbers made tensors."""
        # What an overload for numbers computes in is said by its twin for tensors, if it has one.
        computed = edge.OPERATORS[SCALAR_TWINS.get(op.SPEC.qualified_name, op.SPEC.qualified_name)]
        rule = computed.SPEC.dtype_rule
        names = [name for name in (rule.promotes if rule else ()) if arguments[name] is not None]
        twin = op.SPEC.qualified_name in SCALAR_TWINS
        layout = op.SLOTS
        tensors = [name for name in names if layout.by_name[name].is_tensor or twin]
        explicit = dict(arguments)
        if tensors:
            dtype = computation_dtype(computed, arguments)
            result = meta(op.results[0]).dtype
            mixed = any(operand.dtype is not dtype for operand in promoting_operands(computed, arguments))
            if mixed and dtype.category < Category.FLOAT <= result.category:
                # Integers of several dtypes become floats each by itself: -3 is none of Byte's, but divides them.
                dtype = result
            for name in tensors:
                explicit[name] = self.as_tensor(builder, arguments[name], wide or dtype)
        # A number where the operator does not promote is a tensor of the number's own dtype.
        for slot in layout.slots:
            value = explicit[slot.name]
            if slot.is_tensor and is_value(value) and not is_tensor_type(value.type):
                category = number_category(value.type)
                assert category is not None
                explicit[slot.name] = self.as_tensor(builder, value, NUMBER_DTYPE[category])
        return explicit

    def as_tensor(self, builder: Builder, value: Any, dtype: DType) -> Any:
        """An operand as tensor of this dtype."""
        if is_list(value):
            return [self.as_tensor(builder, item, dtype) for item in value]
        if not is_value(value):
            return builder.constant(value, dtype)
        if is_tensor_type(value.type):
            if meta(value).dtype is dtype:
                return value
            return builder.call("aten._to_copy", [value], {"dtype": dtype})
        if isinstance(value.owner, NumberOp):
            return builder.constant(value.owner.number, dtype)
        return builder.call("aten.scalar_tensor", [value], {"dtype": dtype})


def unrounded_dtype(op: OperatorOp, arguments: Mapping[str, Any]) -> DType | None:
    """The dtype, wider than its result's, that an operator computes in so that its `UNROUNDED` operand keeps its number."""
    name = UNROUNDED.get(op.SPEC.qualified_name)
    if name is None:
        return None
    dtype = meta(op.results[0]).dtype
    return None if opmath(dtype) is dtype or keeps_number(arguments[name], dtype) else opmath(dtype)


def keeps_number(value: Any, dtype: DType) -> bool:
    """Whether rounding to a reduced float is nothing to an operand; one of several elements is rounded in any case."""
    if is_value(value) and is_tensor_type(value.type):
        given = meta(value)
        is_small = given.dtype.category < Category.FLOAT and given.dtype.bits <= 8
        return given.dtype is dtype or is_small or given.shape.count(1) < given.ndim
    if is_value(value):
        return isinstance(value.owner, NumberOp) and keeps_number(value.owner.number, dtype)
    with np.errstate(all="ignore"):
        number = np.array(value, opmath(dtype).numpy)
        return bool(number.astype(dtype.numpy) == number)


class UnusedNumbers(RewritePattern):
    """Erases Python numbers that no operation takes any more."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NumberOp, rewriter: PatternRewriter, /) -> None:
        if op.result.first_use is None:
            rewriter.erase(op)


def specialisations(*names: str) -> list[RewritePattern]:
    """Specialisation to edge as patterns, for a walker or pass of one's own.

    One pattern for each operator named; without names, what `aten-to-edge` applies. Raises `SpecError` for an operator
    that is not known.
    """
    if not names:
        return [Specialiser(), UnusedNumbers()]
    return [Specialiser(find(name).qualified_name) for name in names]


@dataclass(frozen=True)
class AtenToEdge(ModulePass):
    """Makes promotion explicit and turns every `aten` operation into its `edge` one."""

    name = "aten-to-edge"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_once(op, Specialiser())
        apply_once(op, UnusedNumbers(), NumberOp)
