"""What has to hold for a call in C: of the numbers that sizes depend on, in the words of `guards`, and of elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects.func import FuncOp

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, Expr, apply, provably
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import InputSpec
from xdsl_exir.dialects.sizes import is_symbol
from xdsl_exir.dialects.tensors import is_tensor_type, tensor_meta
from xdsl_exir.errors import Unsupported
from xdsl_exir.interpreter.operators.linear_algebra import failure_text
from xdsl_exir.locations import location_text
from xdsl_exir.lowering import plan_memory
from xdsl_exir.lowering.body_types import is_short
from xdsl_exir.lowering.dispatch import Place as Source
from xdsl_exir.lowering.dispatch import Plan
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.runtime.c.interface import C_TYPES, Requirement
from xdsl_exir.runtime.c.sizes import PLACEHOLDER
from xdsl_exir.runtime.guards import ANY, Guards, guard_text, place_text, range_text

Named = tuple[str, Dim]
"""A size, and where it is, in words."""
Ranges = dict[str, tuple[int | None, int | None]]


def requirements_of(
    method: FuncOp,
    inputs: Sequence[InputSpec],
    symbols: Mapping[str, Source],
    sizes: Iterable[Named],
    ranges: Ranges,
) -> list[Requirement]:
    """What has to hold of the numbers that a method's caller passes for its symbols; none of the `sizes` may be negative. Adds to `ranges` what
    that says."""
    guards = Guards.of(method)
    said = {symbol: place_text(inputs[at.argument].target, at.dim) for symbol, at in symbols.items()}
    found: list[Requirement] = []
    for symbol, at in symbols.items():
        value = Expr.symbol(symbol)
        for relation, bound in guards.bounds(symbol):
            text = range_text(said[symbol], at.size, PLACEHOLDER, symbol, PLACEHOLDER, relation, bound)
            condition = apply({">=": "ge", "<=": "le"}[relation], value, bound)
            found.append(Requirement(condition, "SIZE", text, (value,) if at.is_symbol else (at.size, value)))
    ranges |= {symbol: guards.ranges.get(symbol, ANY) for symbol in symbols}
    found += not_negative(sizes, ranges, found)
    placeholders = dict.fromkeys(symbols, PLACEHOLDER)
    for condition in guards.conditions:
        if isinstance(condition, Expr) and condition.free_symbols() <= symbols.keys():
            values = tuple(map(Expr.symbol, sorted(condition.free_symbols())))
            found.append(Requirement(condition, "SIZE", guard_text(condition, said, placeholders), values))
    return found


def not_negative(
    sizes: Iterable[Named], ranges: Ranges, known: Sequence[Requirement] = ()
) -> list[Requirement]:
    """That sizes are not negative, as far as ranges, to which it adds, do not say it."""
    conditions = {one.condition for one in known}
    found: list[Requirement] = []
    for place, size in sizes:
        condition = apply("ge", size, 0)
        if not provably(condition, ranges) and condition not in conditions:
            found.append(Requirement(condition, "SIZE", f"{place}: {PLACEHOLDER} is negative", (size,)))
            conditions.add(condition)
            ranges |= {str(size): (0, None)} if is_symbol(size) else {}
    return found


def input_sizes(method: FuncOp, inputs: Sequence[InputSpec]) -> Iterator[Named]:
    """The sizes of a method's inputs."""
    for type, spec in zip(method.function_type.inputs, inputs, strict=True):
        for dim, size in enumerate(tensor_meta(type).shape if is_tensor_type(type) else ()):
            yield place_text(spec.target, dim), size


def result_sizes(results: Iterable[Sizes]) -> Iterator[Named]:
    """Those of results of these shapes."""
    for index, shape in enumerate(results):
        for dim, size in enumerate(shape):
            yield f"result {index}, dimension {dim}", size


def memory_sizes(plan: Plan) -> Iterator[Named]:
    """The bytes of what native code keeps while it runs."""
    for nbytes in plan_memory.symbolic_bytes(plan.driver):
        yield "bytes of an intermediate result", nbytes


def asserted(plan: Plan) -> list[Requirement]:
    """What the program asserts about symbols."""
    return [Requirement(condition, "ASSERTION", text) for condition, text in plan.checks]


ASSERTIONS: dict[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "aten._assert_async.msg": ("!=", lambda arguments: arguments["assert_msg"]),
    "aten._linalg_check_errors": ("==", lambda arguments: failure_text(arguments["api_name"])),
}
"""Checks of what a tensor holds, by operator: how its elements have to be to 0, and the text where one is not."""


def obstacle(check: OperatorOp) -> Unsupported | None:
    """Why a check of what a tensor holds has no form in C; None where it has one."""
    if check.SPEC.qualified_name not in ASSERTIONS:
        reason = "a check of what a tensor holds"
    elif (dtype := meta_of(check.operands[0]).dtype) in UNREADABLE:
        reason = f"a check of what a tensor of {dtype.torch_name} holds"
    else:
        return None
    return Unsupported(check.name, f"{reason}, in C", location_text(check))


UNREADABLE = frozenset(dt.DTYPES) - C_TYPES.keys() | {dtype for dtype in dt.DTYPES if is_short(dtype)}
"""Dtypes whose elements C does not compare."""
