"""What the stock pass `canonicalize` does to our operations: rules found by operator, and constants.

Rules stand in `canonicalizations/`; here they are made xDSL's patterns. An operator of small constants is computed by the
interpreter, and numbers that an operation gets as values though they are known become part of it. What a backend has
accepted as a delegate stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, LocationAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Data, Operation, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.printer import Printer
from xdsl.traits import is_side_effect_free

from xdsl_exir.dialects.arguments import SENTINEL, SYMBOLIC
from xdsl_exir.dialects.backend import DelegateOp, DispatchOp
from xdsl_exir.dialects.builder import Builder, Results, flat_results
from xdsl_exir.dialects.exir import ConstantOp, NumberOp, RefineOp, number_attr, number_value, symbolic_type
from xdsl_exir.dialects.meta import may_equal
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import ORIGIN
from xdsl_exir.dialects.tensors import SymType, is_array_attr, is_tensor_type, is_value, tensor_meta
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.generator import Generator
from xdsl_exir.interpreter.interpreter import literal_array, obstacle, run_operator
from xdsl_exir.narrowing import is_list
from xdsl_exir.transforms.canonicalizations import CANONICALIZATIONS
from xdsl_exir.transforms.canonicalizations.control_flow import PATTERNS
from xdsl_exir.transforms.matching import known, says_order, static, symbolic_constant
from xdsl_exir.transforms.patterns import KEEP, RulePattern

LARGEST = 256
"""Elements up to which literals are computed with, and made: they are text of the program."""

Array = np.ndarray[Any, np.dtype[Any]]

# --- constants -----------------------------------------------------------------------------------------------


@irdl_attr_definition
class FoldedAttr(Data[tuple[Attribute, LocationAttr, Mapping[str, Attribute]]]):
    """What an operation folds to, on its way from `fold` to `constant_of`: a number or an array of them, with the location
    and the origin of the operation. It is never part of a program."""

    name = "exir.folded"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        parser.raise_error("exir.folded has no text")

    def print_parameter(self, printer: Printer) -> None:
        printer.print_attribute(self.data[0])


def constant_of(value: Attribute, type: Attribute) -> Operation | None:
    """The constant of this value and type; None for a type that has none."""
    cls = ConstantOp if is_tensor_type(type) else NumberOp
    location, attributes = None, dict[str, Attribute]()
    if isinstance(value, FoldedAttr):
        value, location, inherited = value.data
        attributes = dict(inherited)
    return cls.create(
        properties={"value": value}, result_types=[type], attributes=attributes, location=location
    )


def fold(op: Operation) -> Sequence[SSAValue | Attribute] | None:
    """An operation's results, where they are constants or operands of it; None else."""
    if in_delegate(op) or not op.results:
        return None
    if isinstance(op, RefineOp):
        return (op.input,) if op.input.type == op.result.type else None
    values = [_symbolic(result.type) for result in op.results]
    if None in values:
        values = computed(op) if isinstance(op, OperatorOp) else None
    if values is None:
        return None
    inherited = {ORIGIN: op.attributes[ORIGIN]} if ORIGIN in op.attributes else {}
    return [FoldedAttr((value, op.location, inherited)) for value in values if value is not None]


def _symbolic(type: Attribute) -> Attribute | None:
    """The value of a symbolic number whose type says it."""
    value = symbolic_constant(type) if isinstance(type, SymType) else None
    if value is None or symbolic_type(value) != type:
        return None
    return number_attr(value) if not isinstance(value, int) or abs(value) < 1 << 63 else None


def computed(op: OperatorOp) -> list[Attribute | None] | None:
    """The results of an operator of small constants; None where it is none, has effects, or is an error to run."""
    results = run_small(op, [operand_value(operand) for operand in op.operands])
    if results is None:
        return None
    literals = [literal_of(result, value.type) for result, value in zip(results, op.results, strict=True)]
    # Exported graphs have literals of several numbers as inputs, and those of regions have no inputs of their own.
    outside = isinstance(op.parent_op(), FuncOp)
    return literals if all(is_value_of(attr, outside) for attr in literals) else None


def run_small(op: OperatorOp, operands: Sequence[Any]) -> Sequence[Any] | None:
    """What an operator gives for values of which some may be unknown (None); None where that cannot be said."""
    if any(operand is None for operand in operands) or not is_side_effect_free(op):
        return None
    if obstacle(op) is not None or says_order(op) or not all(map(is_small, (*op.operands, *op.results))):
        return None
    try:
        with np.errstate(all="ignore"):
            return run_operator(op, tuple(operands), Generator(0))
    except ExirError:
        return None  # it is an error when the program is run, if it is run


def is_value_of(attr: Attribute | None, several: bool) -> bool:
    """Whether there is a literal, of one number if `several` are not wanted."""
    return attr is not None and (several or not is_array_attr(attr))


def is_small(value: SSAValue) -> bool:
    """Whether a value is a number, or a tensor of few elements."""
    if not is_tensor_type(value.type):
        return True
    shape = static(tensor_meta(value.type).shape)
    return shape is not None and prod(shape) <= LARGEST


def operand_value(value: SSAValue) -> Any:
    """The array or the number that a constant is; None of what is none."""
    match value.owner:
        case ConstantOp() as op:
            return literal_array(op)
        case NumberOp() as op:
            return op.number
        case _:
            return None


def literal_of(value: Any, type: Attribute) -> Attribute | None:
    """The attribute of a constant; None where it would not read back as the same bits, as NaNs do with other than the usual ones."""
    if not is_tensor_type(type):
        return number_attr(value)
    array: Array = np.ascontiguousarray(value)
    if not array.size:
        return number_attr(np.zeros((), array.dtype).item())  # of which there are none
    items = [number_attr(item) for item in array.ravel().tolist()]
    splat = array.tobytes() == array.ravel()[:1].tobytes() * array.size
    attr = items[0] if splat else ArrayAttr(items)
    made = constant_of(attr, type)
    assert isinstance(made, ConstantOp)
    plain = [number_value(item) for item in items]
    again = np.array([_usual(number) for number in plain]).astype(array.dtype)
    same = again.tobytes() == array.tobytes() and literal_array(made).tobytes() == array.tobytes()
    return attr if same else None


def _usual(number: Any) -> Any:
    """A number as its text reads back: of NaNs there is one."""
    if isinstance(number, complex):
        return complex(_usual(number.real), _usual(number.imag))
    return float("nan") if number != number else number


# --- rules ---------------------------------------------------------------------------------------------------


def in_delegate(op: Operation) -> bool:
    """Whether an operation is part of what a backend runs."""
    return isinstance(op.parent_op(), DelegateOp)


def is_apart(op: Operation) -> bool:
    """Whether an operation is in a delegate or a dispatch, which are what they say."""
    return isinstance(op.parent_op(), DelegateOp | DispatchOp)


class Canonicalization(RulePattern):
    """Applies the rule of the operator that an operation is of, if it has one that applies. Types stay as they are."""

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        if in_delegate(op):
            return KEEP
        try:
            results = super().results(op, builder)
        except (
            ExirError
        ):  # what it would build is none: the operation is wrong itself, for the verifier to tell
            return KEEP
        values = None if results is KEEP else flat_results(results)
        if values is None or not fits(builder, op, values):
            return KEEP
        return [retyped(builder, new, old) for old, new in zip(op.results, values, strict=True)]


class KnownNumbers(RewritePattern):
    """Sizes and scalars that are computed, but known, become constants of the operation: `view(x, [%four, 2])`."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, OperatorOp)
        numbers = [slot for slot in op.SLOTS.slots if slot.argument.type.base in SYMBOLIC]
        arguments = op.arguments()
        if in_delegate(op) or not any(has_known(arguments[slot.name]) for slot in numbers):
            return
        static = {slot.name: made_static(arguments[slot.name]) for slot in numbers}
        made = type(op).from_bound({**arguments, **static}, op.result_types)
        made.location = op.location
        made.attributes.update(op.attributes)
        rewriter.replace(op, made)


def has_known(value: Any) -> bool:
    """Whether an argument is, or has among its items, a value that is known."""
    return any(
        is_value(item) and known(item) not in (None, SENTINEL)
        for item in (value if is_list(value) else [value])
    )


def made_static(value: Any) -> Any:
    """An argument with numbers in place of values that are known."""
    if is_list(value):
        return [made_static(item) for item in value]
    return known(value) if has_known(value) else value


def fits(builder: Builder, op: OperatorOp, values: Sequence[SSAValue]) -> bool:
    """Whether values can stand for an operation's results: of the same types, or built just now and of equal sizes under other names."""
    return len(values) == len(op.results) and all(
        new.type == old.type or (new.owner in builder.made and may_equal(new.type, old.type))
        for old, new in zip(op.results, values, strict=True)
    )


def retyped(builder: Builder, new: SSAValue, old: SSAValue) -> SSAValue:
    """A value that fits, of the type of what it stands for."""
    if new.type == old.type:
        return new
    assert builder.rewriter is not None
    return builder.rewriter.replace_value_with_new_type(new, old.type)


OPERATOR_PATTERNS: tuple[RewritePattern, ...] = (KnownNumbers(), Canonicalization(CANONICALIZATIONS.find))


def patterns_of(op: type[Operation]) -> tuple[RewritePattern, ...]:
    """The patterns of a class of operations."""
    if issubclass(op, OperatorOp):
        return OPERATOR_PATTERNS
    return PATTERNS.get(op, ())
