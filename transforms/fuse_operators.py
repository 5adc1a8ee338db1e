"""`fuse-operators` and its inverse, `decompose-backend`.

What is looked for is the function that says an operator (`backend_ops`), in two forms. As it is written: what an edge program
kept from being decomposed is found by it. And as it is decomposed, which depends on types: a function is decomposed
at small ranks to see what it looks like, sizes left open. What looks like it is looked at again: the function is decomposed at the
types that were found, and has to be the very operations that are there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from xdsl_exir.dialects import backend, edge
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.arguments import from_python_name, normalise
from xdsl_exir.dialects.backend import PartOp, load_targets
from xdsl_exir.dialects.builder import Builder, Namespace
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.operator import EFFECT_TAGS, OperatorOp
from xdsl_exir.dialects.registry import Parameters
from xdsl_exir.dialects.schema import MISSING, Argument
from xdsl_exir.dialects.tensors import is_value, tensor_meta, tensor_type
from xdsl_exir.errors import ExirError, SpecError
from xdsl_exir.narrowing import is_list, is_sequence
from xdsl_exir.threads import cached_property
from xdsl_exir.transforms.aten_to_edge import SCALAR_TWINS
from xdsl_exir.transforms.backend_ops import BACKEND_OPS, BackendOp, type_of, values_in
from xdsl_exir.transforms.decompose_aten import Decomposer
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS
from xdsl_exir.transforms.out_variants import from_out_variants, refuse_early
from xdsl_exir.transforms.patterns import apply_once, undo
from xdsl_exir.transforms.rewrite import (
    ANYTHING,
    Bindings,
    Call,
    Result,
    Tracing,
    Variable,
    calls_of,
    is_namespace,
    unify_all,
    unify_roots,
)
from xdsl_exir.transforms.watch import Labelled, tell_kept

MOST_RANK = 4
"""Ranks up to which functions are decomposed to see what they look like."""
SEEN = [-0.8675309 - index for index in range(100)]
"""Numbers that no function has: where one turns up, an argument was."""


@dataclass(frozen=True, eq=False)
class Form:
    """What an operator looks like: variables of its arguments, and the results that stand for its own."""

    variables: Mapping[str, Variable]
    constants: Mapping[str, Any]
    """Arguments that are what they are here: absent tensors, flags."""
    outputs: Sequence[Result]
    is_exact: bool
    """Whether what looks like it is it."""

    @cached_property
    def roots(self) -> list[Call]:
        """The calls whose results are the operator's, the last one first."""
        calls = list(dict.fromkeys(output.call for output in self.outputs))
        inside = {inner for call in calls for inner in calls_of(call) if inner is not call}
        return [call for call in reversed(calls) if call not in inside] + [
            call for call in calls if call in inside
        ]

    @property
    def size(self) -> int:
        """How many operations it has."""
        return len({call for root in self.roots for call in calls_of(root)})

    def text(self) -> str:
        """What it looks like, variables by name: equal for equal forms."""
        return repr([self.constants, [_text(output) for output in self.outputs]])


def _text(pattern: Any) -> Any:
    match pattern:
        case Variable():
            return f"%{pattern.name}"
        case Result():
            arguments = {name: _text(value) for name, value in pattern.call.arguments.items()}
            return pattern.call.spec.qualified_name, arguments, pattern.index
        case _:
            return [_text(item) for item in pattern] if is_list(pattern) else repr(pattern)


# --- forms ---------------------------------------------------------------------------------------------------


def variants(arguments: Sequence[Argument]) -> Iterator[dict[str, Any]]:
    """The arguments that are constants in a form, in every way: optional tensors absent or there, flags on or off."""
    choices: list[list[dict[str, Any]]] = []
    for argument in arguments:
        if argument.type.base == "bool" and not argument.type.is_list:
            choices.append([{argument.name: True}, {argument.name: False}])
        elif argument.type.optional:
            choices.append([{}, {argument.name: None}])
    for chosen in product(*choices):
        yield {name: value for choice in chosen for name, value in choice.items()}


class Written(Tracing):
    """Takes down calls as edge has them: of overloads that take numbers, those of tensors."""

    def call(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return super().call(SCALAR_TWINS.get(name, name), args, kwargs)


def written_form(op: BackendOp, function: Any, constants: Mapping[str, Any]) -> Form:
    """A function as it is written."""
    names = Parameters.of(function).names
    tracing = Written()
    variables = {
        argument.name: Variable(argument.name)
        for argument in op.spec.schema.arguments
        if argument.name not in constants
    }
    given = {
        name: Namespace(tracing, name)
        if is_namespace(name)
        else {**variables, **constants}[from_python_name(name)]
        for name in names
    }
    returned = function(**given)
    outputs = [*returned] if is_sequence(returned) else [returned]
    if not outputs or not all(isinstance(output, Result) for output in outputs):
        raise SpecError(f"{op.name}: what is looked for is to return results of operators")
    return Form(variables, constants, outputs, is_exact=True)


def decomposed_form(
    op: BackendOp, arguments: Mapping[str, Any], variables: Mapping[str, Any], is_exact: bool
) -> Form | None:
    """A function decomposed at types; None where there is what has no form. Where it need not be exact, sizes are left open."""
    body = op.explicit_body(arguments)
    patterns: dict[SSAValue, Any] = dict(
        zip(
            body.args,
            (one for name, value in arguments.items() for one in _of_values(value, variables.get(name))),
            strict=True,
        )
    )
    numbers: dict[Any, Any] = {
        value: variables[name]
        for name, value in arguments.items()
        if isinstance(value, float) and name in variables
    }
    returned = body.get_return_op()
    assert returned is not None
    for inner in body.body.block.ops:
        match inner:
            case ReturnOp():
                pass
            case ConstantOp() if not tensor_meta(inner.type).ndim:
                patterns[inner.result] = numbers.get(inner.values[0], inner.values[0])
            case OperatorOp() if is_exact or inner.SPEC.family != "symbolic":
                call = Call(inner.SPEC, _arguments(inner, patterns, numbers, is_exact))
                patterns |= {result: Result(call, index) for index, result in enumerate(inner.results)}
            case _ if is_exact:
                return None
            case _:
                patterns |= dict.fromkeys(inner.results, ANYTHING)
    outputs = [patterns[value] for value in returned.operands]
    if not outputs or not all(isinstance(output, Result) for output in outputs):
        return None
    constants = {name: value for name, value in arguments.items() if name not in variables}
    return Form(variables, constants, outputs, is_exact)


def _of_values(argument: Any, variable: Any) -> list[Any]:
    """The variables of an argument that is a type, or a list of types."""
    if is_list(argument):
        return [
            one
            for item, held in zip(argument, variable or argument, strict=True)
            for one in _of_values(item, held)
        ]
    return [variable] if isinstance(argument, Attribute) else []


def _arguments(
    op: OperatorOp, patterns: Mapping[SSAValue, Any], numbers: Mapping[Any, Variable], is_exact: bool
) -> dict[str, Any]:
    open_slots = {
        slot.name for slot in op.SLOTS.slots if slot.argument.type.base == "SymInt" and not is_exact
    }

    def pattern(value: Any) -> Any:
        if is_list(value):
            return [pattern(item) for item in value]
        if is_value(value):
            return patterns[value]
        return numbers.get(value, value) if isinstance(value, float) else value

    return {
        name: ANYTHING if name in open_slots else pattern(value) for name, value in op.arguments().items()
    }


def forms(op: BackendOp) -> Iterator[Form]:
    """What an operator looks like, as it is written and as it is decomposed."""
    written = [*variants(op.spec.schema.arguments)]
    reasons: list[Exception] = []
    seen = set[str]()
    settled: list[Mapping[str, Any]] = []
    """What no operator is decomposed of: there is no other form."""
    for function in op.patterns or (op.function,):
        for constants in written:
            try:
                form = written_form(op, function, constants)
            except (SpecError, AttributeError, TypeError, AssertionError, KeyError) as error:
                reasons.append(
                    error
                )  # a function that looks at types, or computes with arguments: decomposed forms are left
                continue
            for call in (call for root in form.roots for call in calls_of(root)):
                if call.spec.tags & EFFECT_TAGS:
                    raise SpecError(f"{op.name}: {call.spec.qualified_name} does more than give a result")
            if _binds(form) and (text := form.text()) not in seen:
                seen.add(text)
                yield form
            if not any(map(_is_decomposed, form.roots)):
                settled.append(constants)
    if not op.patterns:
        yield from decomposed_forms(
            op, [constants for constants in written if constants not in settled], seen
        )
    if not seen:
        raise SpecError(
            f"{op.name}: nothing to look for: {reasons[0] if reasons else 'no call has all arguments'}"
        )


def operators_in(op: BackendOp) -> set[str]:
    """Names of the operators that its function, or what is looked for in its place, calls."""
    return {
        call.spec.qualified_name
        for form in forms(op)
        if form.is_exact
        for root in form.roots
        for call in calls_of(root)
    }


def _is_decomposed(root: Call) -> bool:
    return any(DECOMPOSITIONS.find(call.spec) is not None for call in calls_of(root))


def _binds(form: Form) -> bool:
    """Whether it says what all arguments are."""
    said: set[Variable] = set()

    def walk(pattern: Any) -> None:
        if isinstance(pattern, Variable):
            said.add(pattern)
        elif is_list(pattern):
            for item in pattern:
                walk(item)

    for root in form.roots:
        for call in calls_of(root):
            for argument in call.arguments.values():
                walk(argument)
    return said.issuperset(form.variables.values())


def decomposed_forms(op: BackendOp, written: Sequence[Mapping[str, Any]], seen: set[str]) -> Iterator[Form]:
    """Forms at small ranks, each once, that were not `seen`."""
    for constants in written:
        free = [argument for argument in op.spec.schema.arguments if argument.name not in constants]
        if not all(_can_be_seen(argument) for argument in free):
            continue
        tensors = [argument.name for argument in free if argument.type.is_tensor]
        for dtype in (dt.Float, dt.Char, dt.Byte, dt.Long):
            some = False
            for ranks in ranks_of(len(tensors)):
                form = _tried(op, constants, dict(zip(tensors, ranks, strict=True)), dtype)
                some = some or form is not None
                if form is not None and (text := form.text()) not in seen and _binds(form):
                    seen.add(text)
                    yield form
            if some:
                break


def ranks_of(count: int) -> Iterator[tuple[int, ...]]:
    """The ranks that so many tensors are tried with: all small ones of three, of more those that are of use beside the first's."""
    for first in range(MOST_RANK + 1) if count else ():
        others = range(MOST_RANK + 1) if count <= 3 else sorted({1, 2, first})
        yield from ((first, *rest) for rest in product(others, repeat=count - 1))


def _can_be_seen(argument: Argument) -> bool:
    return not argument.type.is_list and (
        argument.type.is_tensor or argument.type.base in ("float", "Scalar")
    )


def _tried(
    op: BackendOp, constants: Mapping[str, Any], ranks: Mapping[str, int], dtype: dt.DType
) -> Form | None:
    arguments: dict[str, Any] = {}
    symbols = 0
    for argument in op.spec.schema.arguments:
        if argument.name in constants:
            arguments[argument.name] = constants[argument.name]
        elif argument.name in ranks:
            shape = tuple(Expr.symbol(f"s{symbols + index}") for index in range(ranks[argument.name]))
            symbols += len(shape)
            arguments[argument.name] = tensor_type(shape, dtype)
        else:
            arguments[argument.name] = SEEN[len(arguments)]
    variables = {name: Variable(name) for name in arguments if name not in constants}
    try:
        return decomposed_form(op, arguments, variables, is_exact=False)
    except (ExirError, AssertionError):
        return None  # ranks that the operators do not take


# --- fusion --------------------------------------------------------------------------------------------------


class Fusion(Labelled):
    """Puts an operator of a backend in the place of what looks like some of its forms."""

    def __init__(self, op: BackendOp, forms: Sequence[Form]):
        self.op = op
        self.forms = forms

    def label(self, op: Operation) -> str:
        return f"fusion of {self.op.name}"

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrites the operations that end in one."""
        if (
            not isinstance(op, OperatorOp)
            or op.NUMBERS
            or op.parent is None
            or isinstance(op.parent_op(), PartOp)
        ):
            return
        for form in self.forms:
            if form.roots[0].spec.qualified_name == op.SPEC.qualified_name:
                for bound in unify_roots(form.roots, op, {}):
                    if self.fuse(form, bound, op, rewriter):
                        return

    def fuse(self, form: Form, bound: Bindings, op: OperatorOp, rewriter: PatternRewriter) -> bool:
        """Fuses a match, if it is one."""
        arguments = self.arguments(form, bound)
        if arguments is None:
            return False
        if self.op.where is not None and not self.op.where(
            **{name: arguments[from_python_name(name)] for name in Parameters.of(self.op.where).names}
        ):
            return False
        found = bound if form.is_exact else self.confirmed(form, arguments, op)
        outputs = form.outputs if form.is_exact else self._exact.outputs if found else ()
        if found is None or not self.is_alone(outputs, found) or not in_order(outputs, found):
            return False
        roots = [found[output.call] for output in outputs]
        last = max(roots, key=position)
        acted, builder = rewriter.has_done_action, Builder(edge.OPERATORS, last, rewriter=rewriter)
        old = [root.results[output.index] for root, output in zip(roots, outputs, strict=True)]
        try:
            cls = backend.OPERATORS[self.op.name]
            made = builder.insert(cls.from_bound(arguments))
        except ExirError as error:
            undo(builder, rewriter, acted)
            tell_kept(self.op.name, op, str(error))
            return False
        if [result.type for result in made.results] != [value.type for value in old]:
            undo(builder, rewriter, acted)
            tell_kept(self.op.name, op, "it gives other types")
            return False
        for name, value in zip(made.results, old, strict=True):
            name.name_hint = value.name_hint
            rewriter.replace_all_uses_with(value, name)
        inner = [each for call, each in found.items() if isinstance(call, Call)]
        while dead := next(filter(is_trivially_dead, inner), None):
            inner = [each for each in inner if each is not dead]
            rewriter.erase(dead)
        return True

    def arguments(self, form: Form, bound: Bindings) -> dict[str, Any] | None:
        """The operator's arguments, in the schema's order; None where a number is none that is known."""
        arguments: dict[str, Any] = {}
        for argument in self.op.spec.schema.arguments:
            value = form.constants.get(argument.name, MISSING)
            if value is MISSING:
                value = bound[form.variables[argument.name]]
                if not argument.type.is_tensor and is_value(value):
                    owner = value.owner
                    known = isinstance(owner, ConstantOp) and not tensor_meta(owner.type).ndim
                    if not known and argument.type.base not in ("SymInt", "SymFloat", "SymBool", "Scalar"):
                        return None
                    value = owner.values[0] if isinstance(owner, ConstantOp) and known else value
                if argument.type.is_tensor and value is not None and not values_in(value):
                    return None
                try:
                    value = normalise(argument, value)
                except (TypeError, ValueError):
                    return None
            arguments[argument.name] = value
        return arguments

    def confirmed(self, form: Form, arguments: Mapping[str, Any], op: OperatorOp) -> Bindings | None:
        """The match of the function decomposed at the types that were found, if there is one."""
        variables = {
            name: [Variable(name) for _ in value] if is_list(value) else Variable(name)
            for name, value in arguments.items()
            if values_in(value)
        }
        try:
            exact = decomposed_form(
                self.op, {name: type_of(value) for name, value in arguments.items()}, variables, is_exact=True
            )
        except ExirError:
            return None
        if exact is None:
            return None
        self._exact = exact
        pairs = [(variables[name], arguments[name]) for name in variables]
        known = next(unify_all(pairs, {}))
        return next(unify_roots(exact.roots, op, known), None)

    def is_alone(self, outputs: Sequence[Result], bound: Bindings) -> bool:
        """Whether nothing else uses what is made on the way, and all used results are given."""
        ops = {op for call, op in bound.items() if isinstance(call, Call)}
        given = {(output.call, output.index) for output in outputs}
        for call, op in bound.items():
            if not isinstance(call, Call):
                continue
            for result in op.results:
                if (call, result.index) not in given and any(use.operation not in ops for use in result.uses):
                    return False
        return True


def position(op: Operation) -> int:
    """Where an operation is in its block."""
    assert op.parent is not None
    return op.parent.get_operation_index(op)


def in_order(outputs: Sequence[Result], bound: Bindings) -> bool:
    """Whether what uses the results comes after the last of the operations that give them."""
    roots = {bound[output.call] for output in outputs}
    if len(roots) == 1:
        return True
    last = max(map(position, roots))
    inside = {op for call, op in bound.items() if isinstance(call, Call)}
    for output in outputs:
        result: OpResult = bound[output.call].results[output.index]
        for use in result.uses:
            if use.operation in inside:
                continue
            user: Operation | None = use.operation
            while user is not None and user.parent is not result.op.parent:
                user = user.parent_op()
            if user is None or position(user) < last:
                return False
    return True


def chosen(ops: Sequence[str]) -> list[BackendOp]:
    """The operators of backends that names or patterns say; all without any. Raises `SpecError` for one that says none."""
    load_targets()
    for pattern in ops:
        if not any(fnmatchcase(name, pattern) for name in BACKEND_OPS):
            raise SpecError(f"no operator of a backend matches '{pattern}'")
    return [op for name, op in BACKEND_OPS.items() if not ops or any(fnmatchcase(name, p) for p in ops)]


@dataclass(frozen=True)
class FuseOperators(ModulePass):
    """Puts operators of backends in the place of what they are: `fuse-operators{ops="npu.*"}`; all that are registered without `ops`.

    What takes the place of most goes first. What others use as well is not taken away from them, and what is in a delegate stays as
    it is. Raises `SpecError` for a pattern that matches no operator of a backend, `UnsupportedError` where the program is not at
    the edge stage.
    """

    name = "fuse-operators"

    ops: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refuse_early(op)
        looks = [(each, form) for each in chosen(self.ops) for form in forms(each)]
        for size in sorted({form.size for _, form in looks}, reverse=True):
            for each in dict.fromkeys(each for each, form in looks if form.size == size):
                apply_once(
                    op, Fusion(each, [form for owner, form in looks if owner is each and form.size == size])
                )


@dataclass(frozen=True)
class DecomposeBackend(ModulePass):
    """Puts what operators of backends are in their place, decomposed: `decompose-backend{keep="npu.linear_relu"}` leaves those alone.

    What is in a delegate stays as it is. Raises `SpecError` for operators to keep that are not known.
    """

    name = "decompose-backend"

    keep: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kept = {each.name for each in chosen(self.keep)} if self.keep else set[str]()
        put_bodies(op, BACKEND_OPS.keys() - kept)


class BodyInPlace(Decomposer):
    """Puts operators' bodies in their place, but in delegates."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not isinstance(op.parent_op(), PartOp):
            super().match_and_rewrite(op, rewriter)


def put_bodies_inside(op: PartOp) -> None:
    """Puts the bodies of all operators of backends in a delegate in their place."""
    decomposer = Decomposer(keep=lambda name: name not in BACKEND_OPS)
    for inner in list(op.body.walk()):
        if isinstance(inner, OperatorOp) and inner.SPEC.qualified_name in BACKEND_OPS:
            decomposer.rewrite(inner)


def put_bodies(module: ModuleOp, names: Collection[str]) -> None:
    """Puts the bodies of these operators in their place; out-variants are what they are of first."""
    from_out_variants(module)
    apply_once(module, BodyInPlace(keep=lambda name: name not in names))
