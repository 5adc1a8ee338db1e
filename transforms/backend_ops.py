"""Operators that a backend adds, each said by a Python function over `aten`.

    @backend_op("npu::linear_relu(Tensor x, Tensor w, Tensor? b=None) -> Tensor")
    def linear_relu(aten, x, w, b):
        return aten.relu(aten.linear(x, w, b))

The function is the operator's meaning, and nothing else says it again: its results' types are the operator's (dtype and shape rule),
what it calls is looked for in programs (`fuse-operators`) and put back in its place (`decompose-backend`), runs in the interpreter, and
is lowered where no kernel is registered. An `@impl` or a `@lowering` of the operator's name counts before it.

What is here makes one function, at the types of its arguments, a function of the IR. How it is looked for is `fuse_operators`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from xdsl_exir.dialects import aten
from xdsl_exir.dialects.arguments import from_python_name
from xdsl_exir.dialects.backend import BACKEND
from xdsl_exir.dialects.builder import Builder, Namespace, Results, flat_results
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.meta import SHAPES
from xdsl_exir.dialects.operator import EFFECT_TAGS, OperatorOp
from xdsl_exir.dialects.registry import Parameters
from xdsl_exir.dialects.spec import OperatorSpec, specs
from xdsl_exir.dialects.spec.library import schema_of
from xdsl_exir.dialects.tensors import (
    SymBoolType,
    SymFloatType,
    SymIntType,
    TensorMeta,
    is_value,
    tensor_type,
)
from xdsl_exir.errors import SpecError
from xdsl_exir.libraries import SCHEMA_NAMESPACES
from xdsl_exir.narrowing import is_list
from xdsl_exir.program import context
from xdsl_exir.transforms.aten_to_edge import AtenToEdge
from xdsl_exir.transforms.decompose_aten import DecomposeAten
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS
from xdsl_exir.transforms.rewrite import is_namespace

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class BackendOp:
    """An operator that a backend adds. Called, it is the function that says it."""

    spec: OperatorSpec
    function: Function
    patterns: tuple[Function, ...]
    """Functions that are looked for in place of `function`, as they are written; none if it is itself."""
    where: Function | None
    parameters: tuple[str, ...]
    """What `function` takes: namespaces, and arguments of the schema."""

    @property
    def name(self) -> str:
        """`npu.linear_relu`"""
        return self.spec.qualified_name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def body(self, arguments: Mapping[str, Any]) -> FuncOp:
        """What the operator is, of operations of `aten`: a function of those arguments that are types, in order; the others are
        constants. Raises `ExirError` for arguments that the function's operators do not take, `SpecError` where it gives
        another number of results than the operator."""
        block = Block()

        def value(argument: Any) -> Any:
            if is_list(argument):
                return [value(item) for item in argument]
            return (
                block.insert_arg(argument, len(block.args)) if isinstance(argument, Attribute) else argument
            )

        # Values are made in the schema's order, whatever order the function takes them in.
        values = {name: value(argument) for name, argument in arguments.items()}
        builder = Builder(aten.OPERATORS, block)
        results = [self._result(builder, result) for result in flat_results(self.built(builder, values))]
        for op in builder.made:
            if isinstance(op, OperatorOp) and op.SPEC.tags & EFFECT_TAGS:
                raise SpecError(f"{self.name}: {op.SPEC.qualified_name} does more than give a result")
        returns = self.spec.schema.returns
        if len(results) != len(returns) and not (len(returns) == 1 and returns[0].type.is_list):
            raise SpecError(f"{self.name}: its function gives {len(results)} results for {len(returns)}")
        block.add_op(ReturnOp(*results))
        types = block.arg_types, [result.type for result in results]
        return FuncOp(self.name, types, Region(block))

    def built(self, builder: Builder, values: Mapping[str, Any]) -> Results:
        """What the function builds of arguments, by the schema's names."""
        given = {
            name: Namespace(builder, name) if is_namespace(name) else values[from_python_name(name)]
            for name in self.parameters
        }
        return self.function(**given)

    def _result(self, builder: Builder, result: Any) -> SSAValue:
        if isinstance(result, bool | int | float | complex):
            return builder.number(result)
        if not is_value(result):
            raise SpecError(f"{self.name}: its function gives {result!r}, which is no value of the program")
        return result

    def explicit_body(self, arguments: Mapping[str, Any]) -> FuncOp:
        """The same decomposed, of operations of `edge`."""
        function = self.body(arguments)
        module = ModuleOp([function])
        for each in (DecomposeAten(), AtenToEdge()):
            each.apply(context(), module)
        function.detach()
        return function

    def types(self, **arguments: Any) -> list[Attribute]:
        """The types of the results, from arguments as shape rules have them."""
        returned = self.body({name: as_type(value) for name, value in arguments.items()}).get_return_op()
        assert returned is not None
        return [value.type for value in returned.operands]

    def decompose(self, namespace: Namespace, **arguments: Any) -> Results:
        """Builds the body in place of the operator."""
        body = self.explicit_body({name: type_of(value) for name, value in arguments.items()})
        values = [item for value in arguments.values() for item in values_in(value)]
        mapper: dict[SSAValue, SSAValue] = dict(zip(body.args, values, strict=True))
        returned = body.get_return_op()
        assert returned is not None
        for op in body.body.block.ops:
            if op is not returned:
                namespace.builder.insert(op.clone(mapper))
        results = [mapper[value] for value in returned.operands]
        returns = self.spec.schema.returns
        if len(returns) == 1 and not returns[0].type.is_list:
            return results[0]
        return results if len(returns) == 1 else tuple(results)


def as_type(argument: Any) -> Any:
    """An argument with types in place of what shape rules see of values."""
    match argument:
        case TensorMeta():
            return tensor_type(argument.shape, argument.dtype, argument.dim_order, argument.device)
        case Expr():
            kinds = {"int": SymIntType, "float": SymFloatType, "bool": SymBoolType}
            return kinds[argument.kind](argument)
        case _ if is_list(argument):
            return [as_type(item) for item in argument]
        case _:
            return argument


def type_of(argument: Any) -> Any:
    """An argument with types in place of values."""
    if is_list(argument):
        return [type_of(item) for item in argument]
    return argument.type if is_value(argument) else argument


def values_in(argument: Any) -> list[SSAValue]:
    """The values in an argument."""
    return [item for item in (argument if is_list(argument) else [argument]) if is_value(item)]


BACKEND_OPS: dict[str, BackendOp] = {}
"""The operators that backends have added, by qualified name."""


def backend_op(
    schema: str, pattern: Function | Sequence[Function] = (), where: Function | None = None
) -> Callable[[Function], BackendOp]:
    """Decorator: the function is what an operator of a backend does. `schema` is as PyTorch writes it, with overloads, defaults,
    optional tensors, lists and several results.

    The function takes `aten`, and whatever other namespace it calls operators of, and arguments of the schema by name. It is
    looked for in programs as it is written and as it is decomposed, sums and products in either order, with and without optional
    tensors, at every type; `pattern` names functions that are looked for in its place, exactly as they are written. `where` is a
    condition on arguments by name (`where=lambda x: meta(x).ndim == 2`).

    Raises `SpecError` for a schema that is none, writes to its arguments, or is there already, and for a function whose
    parameters it does not have.
    """

    def register(function: Function) -> BackendOp:
        code = getattr(function, "__code__", None)
        place = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else repr(function)
        parsed, writes = schema_of(schema, place)
        if writes:
            raise SpecError(
                f"{place}: {parsed.qualified_name} writes to '{writes[0]}'; operators of backends give values"
            )
        if parsed.namespace in SCHEMA_NAMESPACES:
            raise SpecError(
                f"{place}: namespace '{parsed.namespace}' is PyTorch's; a backend has one of its own"
            )
        spec = OperatorSpec(
            parsed.qualified_name, str(parsed), parsed.namespace, frozenset({BACKEND}), "", place=place
        )
        patterns = (pattern,) if callable(pattern) else tuple(pattern)
        op = BackendOp(spec, function, patterns, where, Parameters.of(function).names)
        _check_parameters(op, place)
        specs().extend([spec])
        names = tuple(argument.name for argument in parsed.arguments)
        SHAPES.register(op.name, parameters=names, types=True)(op.types)
        DECOMPOSITIONS.register(op.name, parameters=names)(op.decompose)
        BACKEND_OPS[op.name] = op
        context.cache_clear()
        return op

    return register


def _check_parameters(op: BackendOp, place: str) -> None:
    known = {argument.name for argument in op.spec.schema.arguments}
    for function in (op.function, *op.patterns, *([op.where] if op.where is not None else [])):
        for name in Parameters.of(function).names:
            if from_python_name(name) not in known and not is_namespace(name):
                raise SpecError(
                    f"{place}: '{name}' is neither an argument of {op.spec.schema} nor a namespace"
                )
