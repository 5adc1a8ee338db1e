"""Building operations so that it reads like the operators' Python calls.

    aten.addmm(bias, x, aten.t(weight))
    aten.mul.Tensor(x, 2)

A `Builder` inserts at a place and gives results their types, its origin and its source location. `aten` above is a
`Namespace` of one: attributes are operator names, then overloads. While decomposing, an operator that has a rule is
never built: its rule runs in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from xdsl_exir.dialects.arguments import ArgumentSlots
from xdsl_exir.dialects.dtypes import Category, Double, DType, Float
from xdsl_exir.dialects.exir import ConstantOp, NumberOp, PythonNumber
from xdsl_exir.dialects.meta import as_meta, as_operand
from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp
from xdsl_exir.dialects.promotion import Operand
from xdsl_exir.dialects.signature import INHERITED
from xdsl_exir.dialects.tensors import (
    SymFloatType,
    SymType,
    TensorMeta,
    is_tensor_type,
    is_value,
    tensor_meta,
    tensor_type,
)
from xdsl_exir.narrowing import is_sequence

Results: TypeAlias = Any
"""What an operator's call returns: its result, a tuple of several, a list for a list result, None for none."""

Rule: TypeAlias = Callable[[Mapping[str, Any]], Results]


def meta(value: SSAValue) -> TensorMeta:
    """Shape and dtype of a tensor value."""
    assert is_tensor_type(value.type), f"{value} is not a tensor"
    return tensor_meta(value.type)


Size: TypeAlias = int | SSAValue
"""A size as operators take it: a number, or an SSA value where it is symbolic."""


def sizes(aten: Namespace, value: SSAValue) -> list[Size]:
    """A tensor's shape as arguments for `view` or `expand`: constant sizes are ints, the others computed from it."""
    return [
        size if isinstance(size, int) else aten.sym_size.int(value, dim)
        for dim, size in enumerate(meta(value).shape)
    ]


def cast(aten: Namespace, value: SSAValue, dtype: DType) -> SSAValue:
    """A tensor as one of this dtype."""
    return value if meta(value).dtype is dtype else aten._to_copy(value, dtype=dtype)


def opmath(dtype: DType) -> DType:
    """The dtype that PyTorch computes in: Float for shorter floats."""
    return Float if dtype.category is Category.FLOAT and dtype.bits < 32 else dtype


def results_of(op: OperatorOp) -> Results:
    """An operation's results as its Python call returns them."""
    returns = op.SPEC.schema.returns
    if not returns:
        return None
    if len(returns) == 1:
        return list(op.results) if returns[0].type.is_list else op.results[0]
    return tuple(op.results)


def flat_results(results: Results) -> list[SSAValue]:
    """The results of a call one after another."""
    if results is None:
        return []
    return [results] if isinstance(results, SSAValue) else list(results)


class Builder:
    """Inserts operations before an operation, or at the end of a block."""

    def __init__(
        self,
        dialect: OperatorDialect,
        before: Operation | Block,
        rule_of: Callable[[str], Rule | None] = lambda name: None,
        rewriter: PatternRewriter | None = None,
    ):
        self.dialect = dialect
        self.before = before
        self.dialect_of: Callable[[str], OperatorDialect] = lambda name: dialect
        """The dialect of an operator, by qualified name: importers meet several namespaces."""
        self.settled: Callable[[Attribute], Attribute] = lambda type: type
        """The type of what an operator gives: importers know more of sizes than its operands say."""
        self.rule_of = rule_of
        """Gives the rule that runs in place of building an operator, by qualified name."""
        self.rewriter = rewriter
        """What inserts, where a pattern is at work: whoever listens to it hears of all operations."""
        self.made: list[Operation] = []
        """What has been inserted, in order."""
        self.location: LocationAttr | None = None
        self.attributes: Mapping[str, Attribute] = {}
        if isinstance(before, Operation):
            self.follow(before)

    def follow(self, op: Operation) -> None:
        """What is built from here on descends from this operation: it gets its source location and origin."""
        self.location = op.location
        self.attributes = {name: op.attributes[name] for name in INHERITED if name in op.attributes}

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """What is built meanwhile goes to the end of a block, by the same rules; what is of no use there is dropped."""
        former = self.before, self.made
        self.before, self.made = block, []
        try:
            yield
            for op in reversed(self.made):
                if is_trivially_dead(op):
                    op.detach()
                    op.erase()
        finally:
            self.before, self.made = former

    def insert(self, op: Operation) -> Operation:
        """Inserts an operation, with location and origin."""
        if self.location is not None:
            op.location = self.location
        for name, attr in self.attributes.items():
            op.attributes.setdefault(name, attr)
        if isinstance(self.before, Block):
            self.before.add_op(op)
        elif self.rewriter is not None:
            point = self.rewriter.insertion_point
            at_hand = point.insert_before is self.before
            self.rewriter.insert(op, point if at_hand else InsertPoint.before(self.before))
        else:
            block = self.before.parent
            assert block is not None, "building before an operation that is in no block"
            block.insert_op_before(op, self.before)
        self.made.append(op)
        return op

    def number(self, value: PythonNumber) -> SSAValue:
        """A Python number as SSA value."""
        return self.insert(NumberOp(value)).results[0]

    def constant(
        self, value: PythonNumber | Sequence[PythonNumber], dtype: DType, shape: tuple[int, ...] = ()
    ) -> SSAValue:
        """A literal tensor: one number that fills the shape, or all its elements."""
        values = value if isinstance(value, Sequence) else [value]
        converted = [_as_category(item, dtype.category) for item in values]
        literal = converted if isinstance(value, Sequence) else converted[0]
        return self.insert(ConstantOp(literal, tensor_type(shape, dtype))).results[0]

    def call(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Results:
        """Builds an operator, or runs its rule."""
        cls = self.dialect_of(name)[name]
        bound = cls.SLOTS.bind(*self.with_numbers(cls, args, kwargs))
        rule = self.rule_of(name)
        return rule(bound) if rule is not None else self.build(cls, bound)

    def build(
        self, cls: type[OperatorOp], bound: Mapping[str, Any], result_types: Sequence[Attribute] | None = None
    ) -> Results:
        """Builds an operator from arguments in normal form, without looking for a rule."""
        if result_types is None:
            result_types = [self.settled(type) for type in cls.infer(bound)]
        op = cls.from_bound(bound, result_types)
        self.insert(op)
        return results_of(op)

    def with_numbers(
        self, cls: type[OperatorOp], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Arguments with Python numbers in tensor positions made SSA values.

        They stay numbers where the operator takes these, and are tensors of the dtype it computes in else, as are symbolic ones.
        """
        layout = cls.SLOTS
        takes_numbers = cls.NUMBERS and cls.SPEC.schema.takes_numbers
        given = dict(zip((slot.name for slot in layout.positional), args, strict=False)) | dict(kwargs)
        numbers = {
            name: value
            for name, value in given.items()
            if (isinstance(value, bool | int | float | complex) or (is_symbolic(value) and not takes_numbers))
            and name in layout.by_name
            and layout.by_name[name].is_tensor
        }
        if not numbers:
            return args, kwargs
        if len(args) > len(layout.positional):
            return args, kwargs
        if takes_numbers:
            made = {name: self.number(value) for name, value in numbers.items()}
        else:
            dtype = computation_dtype(cls, given)
            made = {name: self.element(value, dtype) for name, value in numbers.items()}
        return (), given | made

    def element(self, value: Any, dtype: DType) -> Results:
        """A number as an operand of an operator that computes in a dtype: a float that its integers do not hold, as Double."""
        symbolic = is_value(value)
        if symbolic:
            is_held = not isinstance(value.type, SymFloatType)
        else:
            is_held = not isinstance(value, float) or abs(value) < 2 ** (dtype.bits - 1)
        dtype = dtype if is_held or dtype.category is not Category.INT else Double
        return (
            self.call("aten.scalar_tensor", [value], {"dtype": dtype})
            if symbolic
            else self.constant(value, dtype)
        )


def is_symbolic(value: object) -> bool:
    """Whether an argument is a number that the program computes."""
    return is_value(value) and isinstance(value.type, SymType)


def _as_category(value: PythonNumber, category: Category) -> PythonNumber:
    """A number as an element of a tensor of this category holds it: of complex ones that are none, the real part."""
    match category:
        case Category.BOOL:
            return bool(value)
        case Category.INT:
            return int(value.real)
        case Category.FLOAT:
            return float(value.real)
        case Category.COMPLEX:
            return complex(value)


def promoting_operands(cls: type[OperatorOp], arguments: Mapping[str, Any]) -> list[Operand]:
    """What takes part in an operator's type promotion."""
    rule = cls.SPEC.dtype_rule
    assert rule is not None, f"{cls.name} has no dtype rule"
    operands: list[Operand] = []
    for name in rule.promotes or ArgumentSlots.of(cls.SPEC).by_name:
        value = arguments.get(name)
        for item in value if is_sequence(value) else [value]:
            seen = as_operand(as_meta(item.type) if is_value(item) else item)
            if isinstance(seen, Operand) and (rule.promotes or is_value(item)):
                operands.append(seen)
    return operands


def computation_dtype(cls: type[OperatorOp], arguments: Mapping[str, Any]) -> DType:
    """The dtype that an operator's promoting operands are brought to."""
    operands, rule = promoting_operands(cls, arguments), cls.SPEC.dtype_rule
    assert rule is not None
    return rule.promotion(operands)


class Namespace:
    """Operators of a namespace as attributes: `aten.mm(a, b)`, `aten.add.Tensor(a, b)`."""

    def __init__(self, builder: Builder, namespace: str = "aten"):
        self.builder = builder
        self.namespace = namespace

    def __getattr__(self, name: str) -> Packet:
        packet = Packet(self.builder, f"{self.namespace}.{name}")
        self.__dict__[name] = packet
        return packet


class Packet:
    """An operator's overloads: called itself it is the default one."""

    def __init__(self, builder: Builder, name: str):
        self._builder = builder
        self._name = name

    def __call__(self, /, *args: Any, **kwargs: Any) -> Results:
        return self._builder.call(self._name, args, kwargs)

    def __getattr__(self, overload: str) -> Packet:
        packet = Packet(self._builder, f"{self._name}.{overload}")
        self.__dict__[overload] = packet
        return packet
