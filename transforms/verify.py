"""`verify-aten`, `verify-edge` and `verify-backend`: the rules of a stage, checked everywhere, all violations reported.

Operations verify themselves (operands, properties, dtypes, result types); here stand the rules that concern more than
one: which operations a stage may hold, that values are defined before their use, in every region, and that a method's
signature fits its arguments and results. An error lists every violation with its source line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnrealizedConversionCastOp,
    UnregisteredOp,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects.backend import AllocOp, DelegateOp, OutVariantOp, PartOp
from xdsl_exir.dialects.control_flow import FlexAttentionOp
from xdsl_exir.dialects.exir import NumberOp, number_type
from xdsl_exir.dialects.meta import BACKEND, as_meta, numbers_as_tensors, result_dtypes
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.promotion import DtypeError
from xdsl_exir.dialects.signature import INPUT, MUTATIONS, OUTPUT, PLAN, InputAttr, InputKind, OutputAttr
from xdsl_exir.dialects.spec.edge_yaml import EdgeOperator, edge_yaml_at
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, tensor_meta
from xdsl_exir.dialects.upstream import UPSTREAM
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError, VerificationError
from xdsl_exir.locations import location_text

if TYPE_CHECKING:
    from xdsl_exir.program import Program

AttrT = TypeVar("AttrT", InputAttr, OutputAttr)


@dataclass(frozen=True)
class Violation:
    """One broken rule."""

    operation: str
    message: str
    location: str

    def __str__(self) -> str:
        at = f"{self.location}: " if self.location else ""
        return f"{at}{self.operation}: {self.message}"


@dataclass
class Verifier:
    """Walks a module and collects violations."""

    stage: str
    """`aten`, `edge`, `backend` or `linalg`."""
    violations: list[Violation] = field(default_factory=list[Violation])

    @property
    def is_explicit(self) -> bool:
        """Whether promotion is explicit, and tensors stand for numbers."""
        return self.stage in ("edge", BACKEND)

    def report(self, op: Operation, message: str) -> None:
        name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
        self.violations.append(Violation(name, " ".join(message.split()), location_text(op)))

    def module(self, module: ModuleOp) -> None:
        """Checks a whole module."""
        self.calls(module)
        for op in module.ops:
            if isinstance(op, FuncOp):
                self.function(op)
            self.operation(op, set())

    def calls(self, module: ModuleOp) -> None:
        """Checks that what is called is private, and that nothing calls itself; calls check types themselves."""
        functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
        called: dict[str, list[str]] = {}
        for caller, function in functions.items():
            calls = [op for op in function.walk() if isinstance(op, CallOp)]
            called[caller] = [call.callee.string_value() for call in calls]
            for call, name in zip(calls, called[caller], strict=True):
                if name in functions and functions[name].sym_visibility != StringAttr("private"):
                    self.report(call, f"@{name} is a method; functions that are called are private")
        for name, function in functions.items():
            reached, left = set[str](), list(called[name])
            while left:
                callee = left.pop()
                if callee not in reached:
                    reached.add(callee)
                    left += called.get(callee, ())
            if name in reached:
                self.report(function, f"@{name} calls itself")

    def operation(self, op: Operation, visible: set[SSAValue]) -> None:
        """Checks an operation and what is in its regions. `visible` are the values defined before it."""
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                self.report(op, f"operand {index} is used where it is not defined")
        try:
            op.verify_()
        except (VerifyException, ExirError) as error:
            self.report(op, str(error))
        self.allowed(op)
        for region in op.regions:
            inner = set[SSAValue]() if op.has_trait(IsolatedFromAbove) else set(visible)
            self.region(op, region, inner)

    def region(self, op: Operation, region: Region, visible: set[SSAValue]) -> None:
        if len(region.blocks) > 1:
            self.report(op, "control flow between blocks; Export IR has structured control flow only")
        for block in region.blocks:
            visible.update(block.args)
            for inner in block.ops:
                self.operation(inner, visible)
                visible.update(inner.results)
            self.terminator(op, block)

    def terminator(self, op: Operation, block: Block) -> None:
        last = None if any(isinstance(trait, NoTerminator) for trait in op.traits) else block.last_op
        for inner in block.ops:
            if inner.has_trait(IsTerminator, value_if_unregistered=False) != (inner is last):
                self.report(inner, "a block ends in its only terminator")
        if block.last_op is None and not isinstance(op, ModuleOp):
            self.report(op, "a block has no terminator")

    def allowed(self, op: Operation) -> None:
        """Checks that the stage may hold the operation."""
        if is_of_backend(op):
            if self.stage != BACKEND:
                self.report(
                    op, "an operator that only backend has; decompose-backend puts its body in its place"
                )
        elif isinstance(op, OperatorOp):
            if op.NUMBERS and self.is_explicit:
                self.report(op, "not an edge operation")
            elif not op.NUMBERS and self.stage == "aten":
                self.report(op, "not an aten operation")
            elif self.is_explicit and op.SPEC.qualified_name in ALIASES:
                self.report(op, "gives back its operand; edge has no aliases")
            elif self.is_explicit and "memory_format" in op.properties:
                self.report(op, "a memory format; edge has dim_order_ops in its place")
        elif isinstance(op, NumberOp):
            if self.is_explicit and op.result.type.name not in SYMBOLIC:
                self.report(op, "a Python number; edge has tensors in its place")
        elif isinstance(op, FlexAttentionOp) and self.stage != "aten":
            self.report(op, "functions of single scores; decompose-aten makes operators on all of them of it")
        elif op.dialect_name() not in DIALECTS[self.stage] and not isinstance(op, OTHERS[self.stage]):
            self.report(op, f"not an operation of the {self.stage} stage")

    # signatures

    def function(self, function: FuncOp) -> None:
        """Checks a method's signature attributes against its arguments and results."""
        if function.is_declaration:
            if (
                self.stage != "linalg" or function.sym_visibility is None
            ):  # else it is a dispatch with a kernel
                self.report(function, "a method without a body")
            return
        returned = function.get_return_op()
        if returned is None:
            self.report(function, "a method ends in func.return")
            return
        types = tuple(returned.operand_types)
        if types != function.function_type.outputs.data:
            self.report(function, "results of func.return differ from the function's type")
        for index, argument in enumerate(function.args):
            if problem := self.problem_of(argument.type):
                self.report(function, f"argument {index} is {argument.type}: {problem}")
        inputs = dict(self.entries(function, function.arg_attrs, INPUT, InputAttr, len(function.args)))
        outputs = dict(self.entries(function, function.res_attrs, OUTPUT, OutputAttr, len(types)))
        orders = [("argument", i, attr.data.dim_order, function.args[i].type) for i, attr in inputs.items()]
        orders += [
            ("result", i, attr.data.dim_order, types[i]) for i, attr in outputs.items() if i < len(types)
        ]
        for what, index, order, type in orders:
            if order is not None and not (is_tensor_type(type) and len(order) == len(type.get_shape())):
                self.report(function, f"{what} {index} is {type}, its dim_order {list(order)}")
        held: dict[tuple[InputKind, str], Attribute] = {}
        for index, attr in inputs.items():
            spec = attr.data
            if (spec.kind, spec.target) in held and spec.target:
                self.report(function, f"two arguments are {spec.kind.value} '{spec.target}'")
            held[spec.kind, spec.target] = function.args[index].type
        for index, attr in outputs.items():
            kind = MUTATIONS.get(attr.data.kind)
            if kind is None:
                continue
            target = held.get((kind, attr.data.target))
            if target is None:
                self.report(
                    function,
                    f"result {index} writes to {kind.value} '{attr.data.target}', which is no argument",
                )
            elif index < len(types) and not _same_shape_and_dtype(target, types[index]):
                self.report(
                    function, f"result {index} is {types[index]}, written to '{attr.data.target}' of {target}"
                )

    def problem_of(self, type: Attribute) -> str | None:
        """Why a method of the stage cannot take a value of a type."""
        if self.stage == "linalg" or isinstance(type, SymType):
            return None
        if type in NUMBERS:
            return "a Python number; edge has tensors in its place" if self.is_explicit else None
        if not is_tensor_type(type):
            return "neither a tensor nor a number of Export IR"
        try:
            tensor_meta(type)
        except VerifyException as error:
            return str(error).removeprefix(f"{type}: ")
        return None

    def entries(
        self,
        function: FuncOp,
        attrs: ArrayAttr[DictionaryAttr] | None,
        name: str,
        kind: type[AttrT],
        count: int,
    ) -> Iterator[tuple[int, AttrT]]:
        """The signature attributes of arguments or results, by index: all have one, or none."""
        given = list(attrs.data) if attrs is not None else []
        if given and len(given) != count:
            self.report(function, f"{len(given)} attribute dictionaries for {count} values")
        present = [item for item in given if name in item.data]
        if present and len(present) != count:
            self.report(function, f"{name} is missing on some of {count} values")
        for index, item in enumerate(given):
            attr = item.data.get(name)
            if isinstance(attr, kind):
                yield index, attr
            elif attr is not None:
                self.report(function, f"{name} of value {index} is {attr}")


def _same_shape_and_dtype(a: Attribute, b: Attribute) -> bool:
    if not (is_tensor_type(a) and is_tensor_type(b)):
        return a == b
    x, y = tensor_meta(a), tensor_meta(b)
    return (x.shape, x.dtype) == (y.shape, y.dtype)


DIALECTS = {
    "aten": frozenset({"exir", "higher_order"}),
    "edge": frozenset({"exir", "higher_order", "backend"}),
    "backend": frozenset({"exir", "higher_order", "backend"}),
    "linalg": UPSTREAM | {"llvm", "omp", "vector"},  # what the interpreter runs, and what kernels are made of
}
"""Dialects that a stage may hold besides its operators."""
FUNCTIONS = (FuncOp, ReturnOp, CallOp)
OTHERS: dict[str, tuple[type[Operation], ...]] = {
    **dict.fromkeys(DIALECTS, FUNCTIONS),
    "linalg": (*FUNCTIONS, UnrealizedConversionCastOp),  # complex numbers in memory as their parts
}
"""Operations of other dialects."""

ALIASES = frozenset({"aten.alias", "aten.detach", "aten.lift_fresh"})
"""Operators that are their operand under another name, which `aten-to-edge` removes."""

NUMBERS = frozenset(number_type(number) for number in (False, 0, 0.0, 0j))
"""Types of Python numbers."""

SYMBOLIC = frozenset({"exir.symint", "exir.symfloat", "exir.symbool"})


def violations_of(module: ModuleOp, stage: str) -> list[Violation]:
    """All violations of a stage's rules in a module."""
    verifier = Verifier(stage)
    verifier.module(module)
    return verifier.violations


def raise_for(violations: list[Violation]) -> None:
    """Raises `VerificationError` where there are violations."""
    if violations:
        lines = "\n".join(f"  {violation}" for violation in violations)
        count = len(violations)
        raise VerificationError(f"{count} violation{'s' if count > 1 else ''}\n{lines}")


def stage_of(module: ModuleOp) -> str:
    """`backend` once a module holds an operator that only backend has, outside of delegates, `edge` once it holds an edge operation or a
    delegate, `linalg` when it has nothing of ours left, else `aten`."""

    def is_edge(op: Operation) -> bool:
        return not op.NUMBERS if isinstance(op, OperatorOp) else op.dialect_name() == "backend"

    if any(map(is_edge, module.walk())):
        return BACKEND if any(map(is_of_backend, module.walk())) else "edge"
    if any(PLAN in op.attributes for op in module.ops):
        return "linalg"
    dialects = {op.dialect_name() for op in module.walk()} - {"builtin", "func"}
    return "linalg" if dialects and dialects <= DIALECTS["linalg"] else "aten"


def is_of_backend(op: Operation) -> bool:
    """Whether an operation is an operator that only backend has, or an out-variant, and is in no delegate."""
    return is_of_backends(type(op)) and not isinstance(op.parent_op(), PartOp)


@cache
def is_of_backends(cls: type[Operation]) -> bool:
    """Whether operations of a class are operators that only backend has, or out-variants."""
    return issubclass(cls, AllocOp | OutVariantOp) or (
        issubclass(cls, OperatorOp) and BACKEND in cls.SPEC.tags
    )


def refuse_dtypes(module: ModuleOp) -> None:
    """Raises `UnsupportedError` that lists the operators whose rule does not take the dtypes that they are given."""
    items: list[Unsupported] = []
    for op in module.walk():
        if isinstance(op, OperatorOp):
            name = op.SPEC.qualified_name
            try:
                given = op.arguments(lambda value: as_meta(value.type))
                result_dtypes(op.SPEC, numbers_as_tensors(op.SPEC, given))
            except DtypeError as error:
                items.append(Unsupported(name, str(error).removeprefix(f"{name}: "), location_text(op)))
            except ExirError:
                continue  # another violation
    if items:
        raise UnsupportedError(items)


def refuse_linalg(program: Program, what: str) -> None:
    """Raises `UnsupportedError` for a program that is lowered past edge; `what` says where it is needed as it was."""
    if stage_of(program.module) == "linalg":
        raise UnsupportedError(
            [Unsupported("a program lowered to linalg", f"{what} takes it as it was at edge")]
        )


def refuse_buffers(program: Program, what: str) -> None:
    """Raises `UnsupportedError` for a program whose methods take memory, and do not say what for; `what` says where it is needed as it was."""
    methods = (method for method in program.methods.values() if PLAN not in method.attributes)
    types = [type for method in methods for type in method.function_type.inputs]
    if any(isinstance(type, MemRefType) for type in types):
        raise UnsupportedError(
            [Unsupported("a program lowered to buffers", f"{what} takes it as it was at linalg or before")]
        )


def verify_program(program: Program) -> None:
    """Checks a program's module by the rules of its stage, and its state against the signature."""
    violations = violations_of(program.module, stage_of(program.module))
    for function in program.methods.values():
        violations += _state_violations(program, function)
        violations += _violations_of_delegates(program, function)
    raise_for(violations)


def _violations_of_delegates(program: Program, function: FuncOp) -> Iterator[Violation]:
    """What delegates own, and what their backends made of them, is in the state."""
    for op in function.walk():
        if not isinstance(op, DelegateOp):
            continue
        args = op.body.block.args[len(op.inputs) :]
        for spec, arg in zip(op.owned, args, strict=False):
            data = program.state.get(spec.target)
            if data is None:
                yield Violation(op.name, f"{spec.kind.value} '{spec.target}' has no data", location_text(op))
            elif is_tensor_type(arg.type):
                meta = tensor_meta(arg.type)
                if (data.dtype, tuple(data.sizes)) != (meta.dtype, meta.shape):
                    found = f"{data.dtype}{list(data.sizes)}"
                    message = f"{spec.kind.value} '{spec.target}' is {arg.type}, its data {found}"
                    yield Violation(op.name, message, location_text(op))
        if op.processed is not None and op.processed.data not in program.state:
            yield Violation(op.name, f"'{op.processed.data}' has no data", location_text(op))


_STATE = frozenset({InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR})


def _state_violations(program: Program, function: FuncOp) -> Iterator[Violation]:
    for arg, attrs in zip(function.args, function.arg_attrs or (), strict=False):
        attr = attrs.data.get(INPUT)
        if not isinstance(attr, InputAttr) or attr.data.kind not in _STATE or not is_tensor_type(arg.type):
            continue
        data, meta = program.state.get(attr.data.target), tensor_meta(arg.type)
        what = f"{attr.data.kind.value} '{attr.data.target}'"
        if data is None:
            yield Violation(function.name, f"{what} has no data", location_text(function))
        elif (data.dtype, tuple(data.sizes)) != (meta.dtype, meta.shape):
            found = f"{data.dtype}{list(data.sizes)}"
            yield Violation(function.name, f"{what} is {arg.type}, its data {found}", location_text(function))


@dataclass(frozen=True)
class VerifyAten(ModulePass):
    """Changes nothing. Raises `VerificationError` listing what the aten stage may not hold."""

    name = "verify-aten"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise_for(violations_of(op, "aten"))


@dataclass(frozen=True)
class VerifyEdge(ModulePass):
    """Changes nothing. Raises `VerificationError` listing what the edge stage may not hold.

    `dtypes="edge.yaml"` names a file of ExecuTorch's form (`dialects/spec/edge_yaml.py`): an operator that it lists may have
    only the dtypes that it lists.
    """

    name = "verify-edge"

    dtypes: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        violations = violations_of(op, "edge")
        if self.dtypes is not None:
            violations += _not_listed(op, edge_yaml_at(self.dtypes, self.name))
        raise_for(violations)


@dataclass(frozen=True)
class VerifyBackend(ModulePass):
    """Changes nothing. Raises `VerificationError` listing what the backend stage may not hold: it is edge, with the operators that
    backends add."""

    name = "verify-backend"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise_for(violations_of(op, BACKEND))


def _not_listed(module: ModuleOp, listed: Mapping[str, EdgeOperator]) -> Iterator[Violation]:
    """Operations whose dtypes a file of ExecuTorch's form does not list."""
    for op in module.walk():
        operator = listed.get(op.SPEC.qualified_name) if isinstance(op, OperatorOp) else None
        if operator is None:
            continue
        assert isinstance(op, OperatorOp)
        if not operator.admits(op.arguments(lambda value: as_meta(value.type))):
            dtypes = ", ".join(tensor_meta(t).dtype.name for t in op.operand_types if is_tensor_type(t))
            yield Violation(op.name, f"{operator.place} lists no ({dtypes})", location_text(op))
