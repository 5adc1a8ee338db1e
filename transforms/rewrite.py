"""Rewrites in two lines of Python: what is looked for, and what stands in its place.

    rewrite(
        lambda aten, x, w, b: aten.add.Tensor(aten.mm(x, w), b),
        lambda aten, x, w, b: aten.addmm(b, x, w),
    )

Parameters that are called as a namespace of operators is (`aten`, that of a library of one's own) build operators of it,
all others are variables. A variable stands for any operand, and for any argument that is no tensor: sizes, numbers,
dtypes, lists. Where it occurs twice, it is the same value. What the first function does not say of an operator's
arguments is their default; numbers are equal to numbers of that value. It is called once, with variables; the second one
for every match, with what they stand for, and may look at types.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, Operation, OpResult
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from xdsl_exir.dialects import aten
from xdsl_exir.dialects.arguments import Slot, from_python_name, normalise
from xdsl_exir.dialects.builder import Builder, Namespace
from xdsl_exir.dialects.exir import ConstantOp, NumberOp
from xdsl_exir.dialects.operator import EFFECT_TAGS, OperatorOp
from xdsl_exir.dialects.schema import MISSING
from xdsl_exir.dialects.spec import OperatorSpec, find, specs
from xdsl_exir.dialects.tensors import is_value, tensor_meta
from xdsl_exir.errors import ExirError, SpecError
from xdsl_exir.narrowing import is_list, is_sequence
from xdsl_exir.transforms.patterns import dialect_of, replace, undo
from xdsl_exir.transforms.watch import Labelled, tell_kept

COMMUTATIVE = frozenset(
    {
        "aten.add.Tensor",
        "aten.mul.Tensor",
        "aten.maximum",
        "aten.minimum",
        "aten.fmax",
        "aten.fmin",
        "aten.eq.Tensor",
        "aten.ne.Tensor",
        "aten.logical_and",
        "aten.logical_or",
        "aten.logical_xor",
        "aten.bitwise_and.Tensor",
        "aten.bitwise_or.Tensor",
        "aten.bitwise_xor.Tensor",
    }
)
"""Operators that give the same with `self` and `other` exchanged: a pattern matches both. Of sums those are, that
multiply `other` by nothing (`alpha`)."""


@dataclass(frozen=True, eq=False)
class Variable:
    """Stands for any value."""

    name: str


@dataclass(frozen=True, eq=False)
class Call:
    """Stands for an operation of an operator with such arguments."""

    spec: OperatorSpec
    arguments: Mapping[str, Any]

    def orders(self) -> Iterator[Mapping[str, Any]]:
        """The arguments, and in the other order if that makes no difference."""
        yield self.arguments
        if self.spec.qualified_name in COMMUTATIVE and equal(self.arguments.get("alpha", 1), 1):
            yield {**self.arguments, "self": self.arguments["other"], "other": self.arguments["self"]}


@dataclass(frozen=True, eq=False)
class Result:
    """Stands for one of the results of a call."""

    call: Call
    index: int


@dataclass(frozen=True, eq=False)
class Anything:
    """Stands for whatever there is: what else is found says what it has to be."""


ANYTHING = Anything()

Bindings = Mapping[Variable | Call, Any]
"""What variables and calls of a pattern stand for."""


class Tracing(Builder):
    """Takes down calls of operators."""

    def __init__(self) -> None:
        super().__init__(aten.OPERATORS, Block())
        self.calls: list[Call] = []

    def call(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The results of a call. Raises `SpecError` for arguments that do not fit the operator's schema."""
        layout = self.dialect[name].SLOTS
        given = dict(zip((slot.name for slot in layout.positional), args, strict=False))
        named = {from_python_name(key): value for key, value in kwargs.items()}
        wrong = [*args[len(layout.positional) :], *(named.keys() & given), *(named.keys() - layout.by_name)]
        if wrong:
            raise SpecError(f"rewrite: {find(name).schema_text} does not take {wrong[0]!r}, or has it twice")
        given |= named
        call = Call(find(name), {slot.name: _pattern_of(name, slot, given) for slot in layout.slots})
        self.calls.append(call)
        returns = call.spec.schema.returns
        if any(result.type.is_list for result in returns):
            raise SpecError(f"rewrite: {name} has a list of results, which has no form in patterns")
        results = tuple(Result(call, index) for index in range(len(returns)))
        return results[0] if len(results) == 1 else results


def _pattern_of(name: str, slot: Slot, given: Mapping[str, Any]) -> Any:
    if slot.name not in given:
        if slot.default is MISSING:
            raise SpecError(f"rewrite: {name}: argument '{slot.name}' is missing")
        return slot.default
    value = given[slot.name]
    if _is_open(value) or (slot.is_tensor and isinstance(value, int | float | complex)):
        return list(value) if is_sequence(value) else value
    try:
        return normalise(slot.argument, value)
    except (TypeError, ValueError) as error:
        raise SpecError(f"rewrite: {name}: {slot.name}: {error}") from None


def _is_open(value: Any) -> bool:
    return any(map(_is_open, value)) if is_sequence(value) else isinstance(value, Variable | Result)


def equal(a: Any, b: Any) -> bool:
    """Whether two constants are the same: numbers by value, conditions and the signs of zeros told apart."""
    if is_list(a) and is_list(b):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, bool) or isinstance(b, bool) or not isinstance(b, int | float | complex):
        return type(a) is type(b) and a == b
    if isinstance(a, complex) and isinstance(b, complex):
        return equal(a.real, b.real) and equal(a.imag, b.imag)
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return False
    if a == 0 == b:
        return math.copysign(1, a) == math.copysign(1, b)
    return a == b or (a != a and b != b)


# --- matching ------------------------------------------------------------------------------------------------


def unify(pattern: Any, value: Any, bound: Bindings) -> Iterator[Bindings]:
    """The ways in which a pattern stands for an argument of an operation."""
    match pattern:
        case Variable():
            if pattern not in bound:
                yield {**bound, pattern: value}
            elif same(bound[pattern], value):
                yield bound
        case Anything():
            yield bound
        case Result():
            if isinstance(value, OpResult) and value.index == pattern.index:
                yield from unify_call(pattern.call, value.op, bound)
        case _ if is_list(pattern):
            if is_list(value) and len(value) == len(pattern):
                yield from unify_all(list(zip(pattern, value, strict=True)), bound)
        case _:
            if is_constant(value, pattern) if is_value(value) else equal(pattern, value):
                yield bound


def unify_call(call: Call, op: Operation, bound: Bindings) -> Iterator[Bindings]:
    """The ways in which a call stands for an operation, of `aten` or `edge`."""
    if call in bound:
        if bound[call] is op:
            yield bound
        return
    if not isinstance(op, OperatorOp) or op.SPEC.qualified_name != call.spec.qualified_name:
        return
    given = op.arguments()
    for arguments in call.orders():
        pairs = [(arguments[name], value) for name, value in given.items()]
        yield from unify_all(pairs, {**bound, call: op})


def unify_all(pairs: Sequence[tuple[Any, Any]], bound: Bindings) -> Iterator[Bindings]:
    """The ways in which patterns stand for values, all at once."""
    if not pairs:
        yield bound
        return
    for found in unify(*pairs[0], bound):
        yield from unify_all(pairs[1:], found)


def unify_roots(roots: Sequence[Call], op: Operation, bound: Bindings) -> Iterator[Bindings]:
    """The ways in which the first of some calls stands for an operation, and the others for those that have operands of the match
    as well."""
    first, *others = roots
    for found in unify_call(first, op, bound):
        if not others:
            yield found
            continue
        known = [
            value
            for held in found.values()
            for value in (held.results if isinstance(held, Operation) else [held])
        ]
        users = (use.operation for value in known if is_value(value) for use in value.uses)
        for user in dict.fromkeys([*_operations(found), *users]):
            if user.parent is op.parent:
                yield from unify_roots(others, user, found)


def _operations(bound: Bindings) -> list[Operation]:
    return [op for call, op in bound.items() if isinstance(call, Call)]


def same(a: Any, b: Any) -> bool:
    """Whether two occurrences of a variable stand for the same."""
    if is_list(a) and is_list(b):
        return len(a) == len(b) and all(map(same, a, b))
    return a is b if is_value(a) or is_value(b) else equal(a, b)


def is_constant(value: Any, number: Any) -> bool:
    """Whether an operand is a number: a Python number, or a tensor without dimensions that holds it."""
    match value.owner:
        case NumberOp(number=known):
            return equal(known, number)
        case ConstantOp() as constant if not tensor_meta(constant.type).ndim:
            return equal(constant.values[0], number)
        case _:
            return False


# --- the pattern ---------------------------------------------------------------------------------------------


class Rewrite(Labelled):
    """A rewrite that two functions say; made by `rewrite`."""

    def __init__(
        self,
        before: Callable[..., Any],
        after: Callable[..., Any],
        where: Callable[..., bool] | None,
        single_use: bool,
        name: str,
    ):
        self.after, self.where, self.single_use = after, where, single_use
        self.variables = {name: Variable(name) for name in _names(before) if not is_namespace(name)}
        tracing = Tracing()
        given = (self.variables.get(name) or Namespace(tracing, name) for name in _names(before))
        returned = _returned(before(*given))
        self.outputs = [output for output in returned if isinstance(output, Result)]
        """The results of the last call that are replaced."""
        calls = {output.call for output in self.outputs}
        if len(calls) != 1 or len(self.outputs) != len(returned):
            raise SpecError("rewrite: the first function is to return results of one call of an operator")
        [self.root] = calls
        self.name = name or f"rewrite of {self.root.spec.qualified_name}"
        self._check(tracing.calls)

    def _check(self, calls: Sequence[Call]) -> None:
        inside = set(calls_of(self.root))
        for call in calls:
            if call not in inside:
                raise SpecError(f"rewrite: the result of {call.spec.qualified_name} is not used")
            if call is not self.root and call.spec.tags & EFFECT_TAGS:
                raise SpecError(f"rewrite: {call.spec.qualified_name} does more than give a result")
        unused = self.variables.keys() - {variable.name for variable in _variables_of(self.root)}
        if unused:
            raise SpecError(
                f"rewrite: variable '{min(unused)}' does not occur in what the first function calls"
            )
        for function in (self.after, self.where):
            for name in _names(function) if function is not None else ():
                if name not in self.variables and (function is self.where or not is_namespace(name)):
                    raise SpecError(
                        f"rewrite: '{name}' is neither a variable of the first function nor a namespace"
                    )

    def label(self, op: Operation) -> str:
        return self.name

    def match(self, op: OperatorOp) -> Bindings | None:
        """What the pattern's variables and calls stand for; None where it does not match."""
        if op.SPEC.qualified_name != self.root.spec.qualified_name:
            return None
        replaced = {output.index for output in self.outputs}
        if any(result.first_use is not None for result in op.results if result.index not in replaced):
            return None
        return next(filter(self.allows, unify_call(self.root, op, {})), None)

    def allows(self, bound: Bindings) -> bool:
        """Whether a match is wanted."""
        if self.single_use:
            ops = {bound[self.root], *self.inner(bound)}
            users = (
                use.operation for op in self.inner(bound) for result in op.results for use in result.uses
            )
            if not ops.issuperset(users):
                return False
        return self.where is None or bool(self.where(**self._given(self.where, bound)))

    def inner(self, bound: Bindings) -> list[Operation]:
        """The operations of a match but for the last."""
        return [op for call, op in bound.items() if isinstance(call, Call) and call is not self.root]

    def _given(self, function: Callable[..., Any], bound: Bindings) -> dict[str, Any]:
        return {name: bound[self.variables[name]] for name in _names(function) if name in self.variables}

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrites an operation in which the pattern ends."""
        bound = self.match(op) if isinstance(op, OperatorOp) else None
        if bound is None:
            return
        assert isinstance(op, OperatorOp)
        acted, builder = rewriter.has_done_action, Builder(dialect_of(op), op, rewriter=rewriter)
        namespaces = {name: Namespace(builder, name) for name in _names(self.after) if is_namespace(name)}
        try:
            made = _returned(self.after(**namespaces, **self._given(self.after, bound)))
            replace(builder, op, self._in_place(op, made))
        except SpecError:
            raise
        except ExirError as error:
            # What was matched has no such form: shapes or dtypes that the operators do not take, or that differ.
            undo(builder, rewriter, acted)
            tell_kept(self.name, op, str(error))
            return
        inner = self.inner(bound)
        while dead := next(filter(is_trivially_dead, inner), None):
            inner.remove(dead)
            rewriter.erase(dead)

    def _in_place(self, op: OperatorOp, made: Sequence[Any]) -> list[Any]:
        if len(made) != len(self.outputs):
            raise SpecError(f"{self.name}: {len(made)} values in place of {len(self.outputs)}")
        results: list[Any] = [None] * len(op.results)
        for output, value in zip(self.outputs, made, strict=True):
            if not is_value(value):
                raise SpecError(
                    f"{self.name}: the second function returns {value!r}, which is no value of the program"
                )
            results[output.index] = value
        return results


def calls_of(pattern: Any) -> Iterator[Call]:
    """Calls in a pattern, the last first."""
    match pattern:
        case Call():
            yield pattern
            for argument in pattern.arguments.values():
                yield from calls_of(argument)
        case Result():
            yield from calls_of(pattern.call)
        case _ if is_list(pattern):
            for item in pattern:
                yield from calls_of(item)
        case _:
            pass


def _variables_of(pattern: Any) -> Iterator[Variable]:
    for call in calls_of(pattern):
        for argument in call.arguments.values():
            yield from (
                item for item in (argument if is_list(argument) else [argument]) if isinstance(item, Variable)
            )


def _returned(value: Any) -> list[Any]:
    return [*value] if is_sequence(value) else [value]


def _names(function: Callable[..., Any]) -> list[str]:
    if not callable(function):
        raise SpecError(f"rewrite: {function!r} is no function")
    return list(inspect.signature(function).parameters)


def is_namespace(name: str) -> bool:
    """Whether a function's parameter of this name is a namespace of operators."""
    return any(known.startswith(f"{name}.") for known in specs())


def rewrite(
    before: Callable[..., Any],
    after: Callable[..., Any],
    where: Callable[..., bool] | None = None,
    single_use: bool = False,
    name: str = "",
) -> Rewrite:
    """An xDSL rewrite pattern that puts what `after` builds in place of what `before` calls (see above).

    It is for operations of `aten` and `edge` alike: what is built is of the dialect of what it replaces. `where` is a
    condition on variables by name (`where=lambda x: meta(x).ndim == 2`). Operations inside the match that others use as
    well stay; with `single_use` there is no match then. Where the new operators do not take the operands, or give other
    types, nothing is replaced, and the pass's logger says why at DEBUG. `name` is for logs and figures.

    Raises `SpecError` for operators that are not known, arguments that they do not have, variables that do not occur.
    """
    return Rewrite(before, after, where, single_use, name)
