"""Building operations on numbers and on vectors of them: what expansions of functions and kernels are written with.

Constants are kept apart, for the top of a function, each once. Operations are made by `create`, without looking at their types
again: thousands are made for a model, whenever its code is not in the cache. What they are is verified in tests.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from math import isfinite
from typing import Any, cast

from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import (
    ComplexType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xdsl_exir.dialects import vectors

ELEMENT_TYPES: dict[str, Attribute] = {
    "f16": f16,
    "bf16": bf16,
    "f32": f32,
    "f64": f64,
    "i1": i1,
    "i8": i8,
    "i16": i16,
    "i32": i32,
    "i64": i64,
    "index": IndexType(),
    "complex<f32>": ComplexType(f32),
    "complex<f64>": ComplexType(f64),
}
"""Types of elements by their names in descriptions, MLIR's."""


INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)


@cache
def type_of(dtype: str, lanes: int = 0) -> Attribute:
    """The type of a vector, or with 0 lanes of a number."""
    return VectorType(ELEMENT_TYPES[dtype], [lanes]) if lanes else ELEMENT_TYPES[dtype]


def vector_type(value: SSAValue) -> VectorType[Attribute]:
    """The type of a value that is a vector."""
    return cast("VectorType[Attribute]", value.type)


ANY_ZERO = arith.FastMathFlagsAttr([FastMathFlag.NO_SIGNED_ZEROS])


@cache
def defaults(kind: type[Operation]) -> Mapping[str, Attribute]:
    """The properties of an operation of floats, which says nothing of what arithmetic may take liberties with."""
    exact = "fastmath" in kind.get_irdl_definition().properties  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    return {"fastmath": arith.FastMathFlagsAttr("none")} if exact else {}


@cache
def own(kind: type[Operation]) -> Mapping[str, Attribute]:
    """The same for what kernels compute of themselves: of two zeros it does not matter which one is the largest, as it does not in PyTorch's
    reductions; without that they take twice as long."""
    of_zeros = kind in (arith.MaximumfOp, arith.MinimumfOp)
    return {"fastmath": ANY_ZERO} if of_zeros else defaults(kind)


@cache
def predicate(kind: type[Operation], name: str) -> Mapping[str, Attribute]:
    """The properties of a comparison."""
    names = FLOAT_PREDICATES if kind is vectors.CmpfOp else INTEGER_PREDICATES
    return {"predicate": IntegerAttr(names.index(name), i64), **defaults(kind)}


# Types are known by their names here, not to the type checker.
dense: Callable[[Attribute, Sequence[float]], Attribute] = DenseIntOrFPElementsAttr.from_list  # pyright: ignore[reportAssignmentType, reportUnknownMemberType]


class OperationBuilder:
    """Adds operations to blocks; constants are kept apart, for the top of a function."""

    def __init__(self, block: Block) -> None:
        self.block = block
        """The one that is being filled."""
        self.constants: list[Operation] = []
        self.known: dict[tuple[str, str, int], SSAValue] = {}

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """What is added goes into a block."""
        outer, self.block = self.block, block
        yield
        self.block = outer

    def op(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        type: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """Adds an operation with one result; the result."""
        made = kind.create(
            operands=operands,
            result_types=(type,),
            properties=own(kind) if properties is None else properties,
        )
        self.block.add_op(made)
        return made.results[0]

    def insert(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue] = (),
        regions: Sequence[Region] = (),
        **properties: Attribute,
    ) -> None:
        """Adds an operation without results."""
        self.block.add_op(kind.create(operands=operands, regions=regions, properties=properties))

    def constant(
        self, value: float | bool | tuple[float, ...], dtype: str = "f32", lanes: int = 0
    ) -> SSAValue:
        """A number, in all lanes if there are any, or one for each lane; once per function, at its top."""
        key = (repr(value), dtype, lanes)
        if key not in self.known:
            self.known[key] = self._constant(value, dtype, lanes)
        return self.known[key]

    def _constant(self, value: float | bool | tuple[float, ...], dtype: str, lanes: int) -> SSAValue:
        type = type_of(dtype, lanes)
        if lanes and isinstance(value, float) and not isfinite(value):
            # xDSL reads dense attributes of these as other numbers.
            return self.top(vector.BroadcastOp, type, operands=[self.constant(value, dtype)])
        attribute: Attribute
        if lanes:
            numbers = value if isinstance(value, tuple) else (value,)
            attribute = dense(type, numbers)
        elif not dtype.startswith("i"):
            attribute = FloatAttr(value, type)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]
        else:
            attribute = IntegerAttr(int(value), type)  # pyright: ignore[reportArgumentType, reportCallIssue]
        return self.top(arith.ConstantOp, type, properties={"value": attribute})

    def top(self, kind: type[Operation], type: Attribute, **given: Any) -> SSAValue:
        """An operation at the top of the function, among its constants."""
        made = kind.create(result_types=(type,), **given)
        self.constants.append(made)
        return made.results[0]


OR, NONE = vector.CombiningKindAttr(vector.CombiningKindFlag.OR), arith.FastMathFlagsAttr("none")


class Lanes:
    """Builds operations on float32 vectors of some lanes; on numbers with 0 lanes."""

    dtype, of_bits, width = "f32", "i32", 32
    """The types of elements, and of integers of as many bits."""
    whole = 2.0**23
    """From there on there is nothing between integers."""
    halving = 2.0**12 + 1
    """Times which a number shows the upper half of its bits."""

    def __init__(self, builder: OperationBuilder, lanes: int) -> None:
        self.builder, self.lanes = builder, lanes

    def constant(self, value: float | bool) -> SSAValue:
        if isinstance(value, bool):
            return self.builder.constant(value, "i1", self.lanes)
        return self.builder.constant(float(value), self.dtype, self.lanes)

    def integer(self, value: int) -> SSAValue:
        return self.builder.constant(value, self.of_bits, self.lanes)

    def op(self, kind: type[Operation], *operands: SSAValue, dtype: str = "") -> SSAValue:
        return self.builder.op(kind, operands, type_of(dtype or self.dtype, self.lanes))

    def bits(self, kind: type[Operation], *operands: SSAValue) -> SSAValue:
        """An operation on the bits of elements."""
        return self.op(kind, *operands, dtype=self.of_bits)

    def rounded(self, x: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The nearest integer, and bits of which the lowest hold it."""
        large = self.constant(1.5 * self.whole)
        held = self.add(x, large)
        return self.sub(held, large), self.bits(arith.BitcastOp, held)

    def fma(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        return self.op(math.FmaOp, a, b, c)

    def compare(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        properties = predicate(vectors.CmpfOp, name)
        return self.builder.op(vectors.CmpfOp, (a, b), type_of("i1", self.lanes), properties)

    def select(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return self.op(vectors.SelectOp, condition, yes, no)

    def at_most(self, x: SSAValue, bound: float) -> SSAValue:
        """The number, or a bound that it is above; NaN stays. Said as processors' minimum does it: MLIR's takes them three operations."""
        high = self.constant(bound)
        return self.select(self.compare("olt", high, x), high, x)

    def at_least(self, x: SSAValue, bound: float) -> SSAValue:
        """The number, or a bound that it is below; NaN stays."""
        low = self.constant(bound)
        return self.select(self.compare("ogt", low, x), low, x)

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.op(arith.AddfOp, a, b)

    def sub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.op(arith.SubfOp, a, b)

    def mul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.op(arith.MulfOp, a, b)

    def div(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.op(arith.DivfOp, a, b)

    def size(self, x: SSAValue) -> SSAValue:
        return self.op(math.AbsFOp, x)

    def polynomial(self, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
        """By Horner's rule, lowest power first in `coefficients`."""
        value = self.constant(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            value = self.fma(value, x, self.constant(coefficient))
        return value

    def libm(self, kind: type[Operation], *operands: SSAValue) -> Callable[[], SSAValue]:
        """Builds a function as MLIR has it, of each lane."""
        return lambda: self.builder.op(kind, operands, operands[0].type)

    def unless(self, condition: SSAValue, slow: Callable[[], SSAValue], fast: SSAValue) -> SSAValue:
        """A value, or what `slow` builds where a condition holds in some lane."""
        b = self.builder
        some = condition
        if self.lanes:
            some = b.op(vector.ReductionOp, [condition], type_of("i1"), {"kind": OR, "fastmath": NONE})
        yes, no = Block(), Block()
        with b.inside(yes):
            value = slow()
        yes.add_op(scf.YieldOp(value))
        no.add_op(scf.YieldOp(fast))
        made = scf.IfOp.create(operands=[some], result_types=[fast.type], regions=[Region(yes), Region(no)])
        b.block.add_op(made)
        return made.results[0]
