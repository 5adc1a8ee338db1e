"""Result types from operand types: what PyTorch calls meta kernels.

Dtypes come from the operator's dtype rule in the spec; shapes come from shape rules, one small function per operator
in the family files of `shapes/`, or from the tag `pointwise`. A shape rule takes arguments of the schema by name: tensors
as `TensorMeta`, Python numbers in tensor positions as `NumberMeta`, sizes as ints or `Expr`. It returns a shape (a tuple
of sizes), a list of shapes for an operator with several results or a list result, or for a number result its expression.
A size `None` depends on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import repeat
from typing import Any, TypeAlias, TypeVar

from xdsl.ir import Attribute

from xdsl_exir.dialects.dtypes import BY_CODE, Category, DType
from xdsl_exir.dialects.exir import number_type
from xdsl_exir.dialects.expr import Dim, Expr, condition, provably
from xdsl_exir.dialects.promotion import NUMBER_DTYPE, DtypeError, Operand, promote_types
from xdsl_exir.dialects.registry import Entry, Registry
from xdsl_exir.dialects.spec import OperatorSpec
from xdsl_exir.dialects.tensors import (
    CPU,
    NumberMeta,
    SymBoolType,
    SymFloatType,
    SymIntType,
    SymType,
    TensorMeta,
    is_tensor_type,
    number_category,
    tensor_meta,
    tensor_type,
)
from xdsl_exir.errors import ExirError
from xdsl_exir.narrowing import is_list, is_sequence

Shape: TypeAlias = tuple[Dim, ...]
ShapeRule = TypeVar("ShapeRule", bound=Callable[..., Any])

BACKEND = "backend"
"""The tag of operators that backends add, and the dialect that alone has them."""


def _of_tag(spec: OperatorSpec) -> tuple[Callable[..., Any], tuple[str, ...]] | None:
    """The shape rule that an operator has by its tag: results of pointwise ones have the shape that their tensors broadcast to."""
    [kind, *others] = [ret.type for ret in spec.schema.returns] or [None]
    if "pointwise" not in spec.tags or others or kind is None or kind.is_list or not kind.is_tensor:
        return None
    tensors = [one.name for one in spec.schema.arguments if one.type.is_tensor and not one.type.is_list]
    return broadcast, tuple(tensors)


SHAPES: Registry[Callable[..., Any]] = Registry("shape rule", "xdsl_exir.dialects.shapes", default=_of_tag)


def type_rule(spec: OperatorSpec) -> Entry[Callable[..., Any]] | None:
    """The shape rule of an operator for which it gives the types of the results, dtypes and all: one that is made of others."""
    entry = SHAPES.find(spec) if BACKEND in spec.tags else None
    return entry if entry is not None and entry.options.get("types") else None


class MetaError(ExirError):
    """Operands whose shapes an operator does not take."""


def shape_rule(*names: str) -> Callable[[ShapeRule], ShapeRule]:
    """Registers the shape rule of the operators named."""
    return SHAPES.register(*names)


Number: TypeAlias = bool | int | float | complex | Expr | NumberMeta
"""A number argument: a constant, or what is known of one that the program computes."""


def check(condition: bool, message: str) -> None:
    """Raises `MetaError` unless the condition holds."""
    if not condition:
        raise MetaError(message)


def check_order(order: Sequence[int] | None, rank: int, what: str = "dim_order") -> None:
    """Raises `MetaError` unless an order of dimensions, if one is given, is a permutation of them."""
    valid = order is None or sorted(order) == list(range(rank))
    check(valid, f"{what} {order} is no permutation of {rank} dimensions")


# --- what shape rules share ----------------------------------------------------------------------------------


_assumed: ContextVar[list[Expr] | None] = ContextVar("assumed", default=None)


@contextmanager
def assumptions() -> Generator[list[Expr]]:
    """Collects the conditions on symbols that rules take to hold as nothing disproves them: an operator is what its rule says where
    they do."""
    found: list[Expr] = []
    token = _assumed.set(found)
    try:
        yield found
    finally:
        _assumed.reset(token)


def may_hold(relation: str, a: Dim, b: Dim) -> bool:
    """Whether a relation of two sizes is possible: False only where it is disproved."""
    said, assumed = condition(relation, a, b), _assumed.get()
    proof = provably(said)
    if proof is None and assumed is not None:
        assumed.append(said)
    return proof is not False


def same_size(a: Dim, b: Dim) -> bool:
    """Whether two sizes may be equal: False only where they provably differ."""
    return a == b or may_hold("eq", a, b)


def may_be_at_most(a: Dim, b: Dim) -> bool:
    """Whether a <= b is possible: False only where it is disproved."""
    return a <= b if isinstance(a, int) and isinstance(b, int) else may_hold("le", a, b)


def same_shape(a: Sequence[Dim], b: Sequence[Dim]) -> bool:
    """Whether two shapes may be equal."""
    return len(a) == len(b) and all(same_size(x, y) for x, y in zip(a, b, strict=True))


def broadcast_shapes(*shapes: Sequence[Dim]) -> Shape:
    """The shape that all broadcast to, by NumPy's rule. Raises `MetaError` where they do not."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Dim] = []
    for position in range(-rank, 0):
        size: Dim = 1
        for shape in shapes:
            if -position > len(shape) or shape[position] == 1 or shape[position] == size:
                continue
            if size != 1 and not same_size(size, shape[position]):
                raise MetaError(f"shapes {' and '.join(map(shape_text, shapes))} do not broadcast")
            # Of two sizes that must be equal the constant one says more.
            if size == 1 or isinstance(size, Expr):
                size = shape[position]
        result.append(size)
    return tuple(result)


def broadcast(**operands: TensorMeta | NumberMeta | None) -> Shape:
    """The shape that all operands broadcast to, of those that are given."""
    return broadcast_shapes(*(operand.shape for operand in operands.values() if operand is not None))


def broadcasts(operators: Mapping[str, str]) -> None:
    """Registers operators without the tag `pointwise` whose operands, named first, do no more than broadcast:
    `{"self other": "floor_divide arctan2"}`."""
    for operands, names in operators.items():
        register = SHAPES.register(
            *(f"aten.{name}" for name in names.split()), parameters=tuple(operands.split())
        )
        register(broadcast)


def shape_text(shape: Sequence[Dim]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def check_shape(what: str, given: Sequence[Dim], expected: Sequence[Dim]) -> None:
    """Raises `MetaError` unless `what` has the shape that it has to have."""
    check(
        same_shape(given, expected), f"{what} has shape {shape_text(given)}, expected {shape_text(expected)}"
    )


def wrap_dim(dim: int, rank: int) -> int:
    """A dimension counted from the front; 0-dim tensors have one for this purpose, as in PyTorch."""
    rank = max(rank, 1)
    check(-rank <= dim < rank, f"dimension {dim} of a {rank}-dimensional tensor")
    return dim % rank


def wrap_dims(dims: Sequence[int] | None, rank: int) -> list[int]:
    """Several dimensions; None is all. Raises `MetaError` where one comes twice."""
    if dims is None:
        return list(range(rank))
    wrapped = [wrap_dim(dim, rank) for dim in dims]
    check(len(set(wrapped)) == len(wrapped), f"a dimension of {list(dims)} comes twice")
    return wrapped


def numel(shape: Sequence[Dim]) -> Dim:
    """Number of elements."""
    count: Dim = 1
    for size in shape:
        count = count * size
    return count


def pair(values: Sequence[Any], count: int) -> list[Any]:
    """An `int[n]` argument of which one value stands for all."""
    return list(values) * count if len(values) == 1 else list(values)


# --- inference -----------------------------------------------------------------------------------------------


def as_meta(type: Attribute) -> TensorMeta | NumberMeta | Dim:
    """The reading of an SSA value's type that shape rules get."""
    if is_tensor_type(type):
        return tensor_meta(type)
    if isinstance(type, SymType):
        return type.data
    category = number_category(type)
    if category is None:
        raise MetaError(f"{type} is neither a tensor nor a number")
    return NumberMeta(NUMBER_DTYPE[category])


EXPR_CATEGORY = {"int": Category.INT, "float": Category.FLOAT, "bool": Category.BOOL}


def as_operand(value: Any) -> Operand | tuple[Operand, ...] | DType | None:
    """What dtype rules see of an argument."""
    match value:
        case TensorMeta() | NumberMeta():
            return Operand(value.dtype, value.tier)
        case bool() | int() | float() | complex():
            category = number_category(number_type(value))
            assert category is not None
            return Operand(NUMBER_DTYPE[category], 0)
        case Expr():
            return Operand(NUMBER_DTYPE[EXPR_CATEGORY[value.kind]], 0)
        case _ if is_sequence(value):
            items = [as_operand(item) for item in value if item is not None]
            return tuple(item for item in items if isinstance(item, Operand))
        case _:
            return value


def result_dtypes(spec: OperatorSpec, arguments: Mapping[str, Any]) -> tuple[DType, ...]:
    """Dtypes of the results by the operator's rule. Raises `DtypeError`, `MetaError` where it has no rule."""
    rule = spec.dtype_rule
    if (whole := type_rule(spec)) is not None:
        types: list[Attribute] = whole.call(arguments)
        return tuple(tensor_meta(type).dtype for type in types if is_tensor_type(type))
    if rule is None:
        if any(ret.type.is_tensor for ret in spec.schema.returns):
            raise MetaError(f"{spec.qualified_name} has no dtype rule")
        return ()
    seen: dict[str, Operand | tuple[Operand, ...] | DType | str | bool | None] = {}
    for name in rule.constrained:
        value = arguments[name]
        if not rule.allowed[name]:  # no dtype of its own: a flag that rows are told apart by
            seen[name] = value
        elif value is not None or name in rule.may_miss:
            seen[name] = as_operand(value)
    try:
        return rule.infer(seen)
    except DtypeError as error:
        raise DtypeError(f"{spec.qualified_name}: {error}") from None


def numbers_as_tensors(spec: OperatorSpec, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments with the expressions of symbolic numbers in tensor positions read as 0-dim numbers."""
    numbers: dict[str, Any] = {}
    for argument in spec.schema.arguments:
        if argument.type.is_tensor:
            value = arguments.get(argument.name)
            if isinstance(value, Expr | int):
                numbers[argument.name] = _number_meta(value)
            elif is_list(value) and any(isinstance(item, Expr | int) for item in value):
                numbers[argument.name] = [_number_meta(item) for item in value]
    return {**arguments, **numbers} if numbers else arguments


def _number_meta(value: Any) -> Any:
    """An expression as a 0-dim number; all else as it is."""
    if not isinstance(value, Expr | int):
        return value
    operand = as_operand(value)
    assert isinstance(operand, Operand)
    return NumberMeta(operand.dtype)


def infer_result_types(spec: OperatorSpec, arguments: Mapping[str, Any]) -> list[Attribute | None]:
    """Types of the results, from the operator's arguments with types in place of values.

    A size that depends on the data is `UNKNOWN`, the type of a number that does is None. Raises `MetaError` or
    `DtypeError` for arguments that the operator does not take, and `MetaError` where it has no shape rule.
    """
    entry = SHAPES.find(spec)
    if entry is None:
        raise MetaError(f"{spec.qualified_name} has no shape rule")
    if type_rule(spec) is not None:
        return entry.call(arguments)
    arguments = numbers_as_tensors(spec, arguments)
    dtypes = result_dtypes(spec, arguments)
    try:
        given = entry.call(arguments)
    except MetaError as error:
        raise MetaError(f"{spec.qualified_name}: {error}") from None
    returns = spec.schema.returns
    if not returns:
        return []
    device = _device(spec, arguments)
    if len(returns) == 1:
        [ret] = returns
        if ret.type.is_list:
            each = _dtypes_of_each(spec, arguments)
            return [
                _tensor_type(shape, each[i] if each else dtypes[0], device) for i, shape in enumerate(given)
            ]
        if not ret.type.is_tensor:
            return [sym_type(ret.type.base, given)]
        return [_tensor_type(given, dtypes[0], device)]
    return [_tensor_type(shape, dtype, device) for shape, dtype in zip(given, dtypes, strict=True)]


def flat_dtypes(spec: OperatorSpec, arguments: Mapping[str, Any]) -> Iterable[DType | None]:
    """Dtypes of the results one after another, lists as what they hold: None of what is no tensor.

    Raises `DtypeError`, `MetaError` where the operator has no rule.
    """
    dtypes, returns = result_dtypes(spec, arguments), spec.schema.returns
    if len(returns) == 1 and returns[0].type.is_list:
        return _dtypes_of_each(spec, arguments) or repeat(dtypes[0])
    given = iter(dtypes)
    return [next(given) if ret.type.is_tensor else None for ret in returns]


def _dtypes_of_each(spec: OperatorSpec, arguments: Mapping[str, Any]) -> list[DType]:
    """The dtypes of the results of a list, where those of the tensors of a list are kept."""
    if spec.dtype_rule is None or spec.dtype_rule.rule != "each":
        return []
    [name] = spec.dtype_rule.constrained
    return [meta.dtype for meta in arguments[name]]


UNKNOWN = Expr.parse("unknown")
"""Stands in an inferred type for a size that depends on the data: it may equal any."""


def _tensor_type(shape: Sequence[Dim | None], dtype: DType, device: str) -> Attribute:
    return tensor_type(tuple(UNKNOWN if size is None else size for size in shape), dtype, None, device)


def depends_on_data(type: Attribute | None) -> bool:
    """Whether an inferred type leaves something to the data."""
    return type is None or (is_tensor_type(type) and UNKNOWN in tensor_meta(type).shape)


def _device(spec: OperatorSpec, arguments: Mapping[str, Any]) -> str:
    """The device of the results: the one asked for, else that of the operands. Raises `MetaError` for several.

    As in PyTorch, 0-dim tensors on the CPU go with every device, and so do indices and what is copied.
    """
    device = arguments.get("device")
    if isinstance(device, str):
        return device
    devices: dict[str, str] = {}
    for name, value in arguments.items():
        if name in _OF_ANY_DEVICE.get(spec.qualified_name, ()):
            continue
        for item in value if is_list(value) else (value,):
            if isinstance(item, TensorMeta) and (item.shape or item.device != CPU):
                devices.setdefault(item.device, name)
    if len(devices) > 1:
        listed = ", ".join(f"{name}: {device}" for device, name in devices.items())
        raise MetaError(f"{spec.qualified_name}: operands on several devices ({listed})")
    return next(iter(devices), CPU)


_OF_ANY_DEVICE = {
    **dict.fromkeys(("aten.index.Tensor", "aten._unsafe_index.Tensor"), ("indices",)),
    **dict.fromkeys(("aten.index_put", "aten._unsafe_index_put"), ("indices",)),
    "aten.copy": ("src",),
}
"""Arguments that may be on another device than the others."""

_SYM_TYPES = {"SymInt": SymIntType, "SymFloat": SymFloatType, "SymBool": SymBoolType, "Scalar": SymIntType}


def sym_type(base: str, value: Dim | None) -> Attribute | None:
    """The type of a number result: the value's expression, None where it depends on the data."""
    return None if value is None else _SYM_TYPES[base](value)


def may_equal(a: Attribute, b: Attribute) -> bool:
    """Whether two types can be of one value: equal but for sizes that are not provably different."""
    if a is b or a == b:
        return True
    if is_tensor_type(a) and is_tensor_type(b):
        x, y = tensor_meta(a), tensor_meta(b)
        same_rest = (x.dtype, x.dim_order, x.device) == (y.dtype, y.dim_order, y.device)
        return same_rest and same_shape(x.shape, y.shape)
    return (
        type(a) is type(b) and isinstance(a, SymType) and isinstance(b, SymType) and same_size(a.data, b.data)
    )


__all__ = [
    "BY_CODE",
    "MetaError",
    "Number",
    "Shape",
    "broadcast_shapes",
    "check",
    "check_shape",
    "may_be_at_most",
    "numel",
    "pair",
    "promote_types",
    "same_shape",
    "same_size",
    "shape_rule",
    "shape_text",
    "wrap_dim",
    "wrap_dims",
]
