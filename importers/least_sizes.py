"""How small sizes may be whose range has 0 and 1: both, unless what was traced of larger ones does not hold for them; and which sizes have to be
equal, though PyTorch's tracer found that for none.

PyTorch traces `x[:1]` of such a size as one row, and runs the exported program at 0 too, where there is none. Types say one; so
what is computed by them would be read from beyond the memory. Where a type does not hold at 0, or at 1, that is a guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xdsl_exir.dialects.exir import RefineOp
from xdsl_exir.dialects.expr import Dim, Expr, Ranges, condition, provably, provably_equal
from xdsl_exir.dialects.meta import Shape, as_meta, assumptions, infer_result_types, same_shape
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import checked_ranges_of
from xdsl_exir.dialects.sizes import sizes_of, symbols_of
from xdsl_exir.dialects.tensors import TensorMeta, is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError
from xdsl_exir.narrowing import is_sequence


def least_sizes(function: FuncOp, guards: Iterable[Expr]) -> Iterator[Expr]:
    """What has to hold of a function's symbols beyond its guards: that they are at least 1, or 2, or equal."""
    given = symbols_of(sizes_of(function.body.block.args))
    ranges = {symbol: said for symbol, said in checked_ranges_of(function).items() if symbol in given}
    if not ranges:
        return
    of_each: dict[str, list[Operation]] = {}
    several: list[Operation] = []
    for op in unlike(function):
        symbols = symbols_of(sizes_of(op.operands)) & ranges.keys()
        for symbol in symbols:
            of_each.setdefault(symbol, []).append(op)
        if len(symbols) > 1 or isinstance(op, RefineOp):
            several.append(op)
    known = list(map(ordered, guards))
    together = dict.fromkeys(ordered(each) for op in several for each in of_several(op, ranges))
    together = [each for each in together if each not in known]
    known += together
    for symbol, ops in sorted(of_each.items()):
        for value in (1, 0):
            sizes = following(symbol, value, known)
            if within(value, ranges[symbol]) and not all(holds(op, sizes) for op in ops):
                yield condition("ge", Expr.symbol(symbol), value + 1)
                break
    yield from together


def following(symbol: str, value: int, known: Iterable[Expr]) -> dict[str, Dim]:
    """The symbols that are this value where one of them is: those known to be equal to one of these, or, of 0, to be no more than it."""
    found: dict[str, Dim] = {symbol: value}
    pairs = [(str(a), str(b)) for each in known for a, b in no_more(each, value)]
    while more := {a for a, b in pairs if b in found} - found.keys():
        found |= dict.fromkeys(more, value)
    return found


def no_more(known: Expr, value: int) -> list[tuple[Expr, Expr]]:
    """Pairs of symbols of which the first one is this value where the second one is."""
    if any(arg.head != "symbol" for arg in known.args):
        return []
    match known.head, known.args:
        case "eq", (a, b):
            return [(a, b), (b, a)]
        case "le", (a, b) if value == 0:
            return [(a, b)]
        case "ge", (a, b) if value == 0:
            return [(b, a)]
        case _:
            return []


def of_several(op: Operation, ranges: Ranges) -> Iterator[Expr]:
    """What has to hold of several symbols together: what the operation's rule takes for granted, as that keys are as many as values; and that
    what it makes has the sizes its type says: `x.flatten()[:3]` has 3 elements where rows and columns are enough, which PyTorch says
    of no symbol's range. Of what is refined, sizes of one symbol count, too."""
    try:
        with assumptions() as granted:
            shapes = list(shapes_of(op, {}))
    except ExirError:
        return  # what is wrong with the operation is the verifier's to say
    for each in granted:
        symbols = each.free_symbols()
        if len(symbols) > 1 and symbols <= ranges.keys() and provably(each, ranges) is None:
            yield each
    for made, declared in shapes:
        for size, said in zip(made, declared, strict=False):
            symbols = symbols_of([size, said])
            enough = len(symbols) > (0 if isinstance(op, RefineOp) else 1)
            if enough and symbols <= ranges.keys() and provably_equal(size, said, ranges) is None:
                yield condition("eq", size, said)


def ordered(each: Expr) -> Expr:
    """A condition with the sides of an equality in order, so that it is there once."""
    return condition("eq", *sorted(each.args, key=str)) if each.head == "eq" else each


def within(value: int, bounds: tuple[int | None, int | None]) -> bool:
    least, most = bounds
    return (least is None or least <= value) and (most is None or value <= most)


ASSERTED = frozenset(f"aten.{name}" for name in ("squeeze", "squeeze.dim", "squeeze.dims"))
"""Operators that say at a call which dimension they would drop (`lowering.dispatches.assertions`)."""


def unlike(function: FuncOp) -> Iterator[Operation]:
    """A function's operations that may make other shapes of 0 and of 1: of those that are alike, one."""
    seen = set[Any]()
    for op in function.body.block.ops:
        may = (
            (
                "pointwise" not in op.SPEC.tags
                or symbols_of(sizes_of(op.operands)) != symbols_of(sizes_of(op.results))
            )
            and op.SPEC.qualified_name not in ASSERTED
            if isinstance(op, OperatorOp)
            else isinstance(op, RefineOp)
        )
        if may:
            key = (op.name, tuple(op.operand_types), tuple(op.properties.items()), tuple(op.result_types))
            if key not in seen:
                seen.add(key)
                yield op


def holds(op: Operation, sizes: Mapping[str, Dim]) -> bool:
    """Whether an operation's results have their types' shapes where symbols have these values."""
    try:
        return all(same_shape(made, declared) for made, declared in shapes_of(op, sizes))
    except ExirError:
        return False


def shapes_of(op: Operation, sizes: Mapping[str, Dim]) -> Iterator[tuple[Shape, Shape]]:
    """The shapes that an operation makes where symbols have these values, and those that its types say."""
    if isinstance(op, OperatorOp):
        arguments = op.arguments(lambda value: as_meta(value.type))
        made = infer_result_types(
            op.SPEC, {name: with_sizes(value, sizes) for name, value in arguments.items()}
        )
    else:
        made = [value.type for value in op.operands]
    for a, b in zip(made, op.result_types, strict=False):
        if a is not None and is_tensor_type(a) and is_tensor_type(b):
            yield with_sizes(tensor_meta(a), sizes).shape, with_sizes(tensor_meta(b), sizes).shape


def with_sizes(argument: Any, sizes: Mapping[str, Dim]) -> Any:
    """An argument with values in the place of symbols."""
    match argument:
        case TensorMeta():
            return replace(argument, shape=tuple(with_sizes(size, sizes) for size in argument.shape))
        case Expr():
            return argument.substitute(sizes)
        case _ if is_sequence(argument):
            return [with_sizes(item, sizes) for item in argument]
        case _:
            return argument
