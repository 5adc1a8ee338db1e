"""`linalg` on whole arrays: the body of a `linalg.generic` runs once, on what it sees in all turns of its loops.

An operand is seen through its indexing map as an array over the loops, of size 1 along those that it does not depend on. Where a map is linear
(windows of convolutions too) that is a view; else the elements are gathered. A reduction whose body combines its result with
what does not depend on it, by one operation that is associative, is NumPy's reduction by that operation, and a sum of products is an `einsum`:
sums are in another order than MLIR's loops would have. All other bodies run once for each turn of the reduction's loops, in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from xdsl_exir.dialects.named_linalg import OPERATIONS, NamedOp, linear
from xdsl_exir.dialects.upstream import CopyOp
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array, with_strides

LOOPS = "exir.loops"
"""Key of the loops in work, the innermost last, in the interpreter's data."""
MOST = 1 << 24
"""Turns of the loops that are looked at together."""

Loops = GenericOp | NamedOp
LOOP_OPERATIONS: tuple[type[Any], ...] = (GenericOp, *OPERATIONS.values())

COMBINERS: dict[type[Operation], np.ufunc] = {
    arith.AddfOp: np.add,
    arith.AddiOp: np.add,
    arith.MulfOp: np.multiply,
    arith.MuliOp: np.multiply,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
}
"""Associative operations."""

# --- operands over loops -------------------------------------------------------------------------------------


def value_of(expr: AffineExpr, loops: Sequence[Array]) -> Any:
    """An expression for all turns of the loops."""
    match expr:
        case AffineDimExpr(position=dim):
            return loops[dim]
        case AffineConstantExpr(value=value):
            return value
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            return KINDS[kind](value_of(lhs, loops), value_of(rhs, loops))
        case _:
            raise ExirError(f"the interpreter has no affine expression {expr}")


KINDS: dict[AffineBinaryOpKind, Callable[[Any, Any], Any]] = {
    AffineBinaryOpKind.Add: lambda a, b: a + b,
    AffineBinaryOpKind.Mul: lambda a, b: a * b,
    AffineBinaryOpKind.Mod: lambda a, b: a % b,
    AffineBinaryOpKind.FloorDiv: lambda a, b: a // b,
    AffineBinaryOpKind.CeilDiv: lambda a, b: -(-a // b),
}


def loops_of(sizes: Sequence[int]) -> list[Array]:
    """For each loop its turns, as an array over all loops."""
    return [
        np.arange(size).reshape([size if d == dim else 1 for d in range(len(sizes))])
        for dim, size in enumerate(sizes)
    ]


def seen(array: Array, map: AffineMap, sizes: Sequence[int]) -> Array:
    """What an operand is in each turn of the loops: an array over them, of size 1 along those on which it does not depend."""
    forms = [linear(expr) for expr in map.results]
    if any(form is None for form in forms) or 0 in sizes:
        loops = loops_of(sizes)
        at = [value_of(expr, loops) for expr in map.results]
        found = array[tuple(at)] if at else array
        return np.reshape(found, [1] * (len(sizes) - np.ndim(found)) + list(np.shape(found)))
    start, strides = [0] * array.ndim, [0] * len(sizes)
    for axis, form in enumerate(forms):
        assert form is not None
        factors, start[axis] = form
        last = start[axis] + sum(factor * (sizes[dim] - 1) for dim, factor in factors.items())
        if not 0 <= last < array.shape[axis]:
            raise ExirError(f"element {last} of a dimension of size {array.shape[axis]}")
        for dim, factor in factors.items():
            strides[dim] += factor * array.strides[axis]
    shape = [size if stride else 1 for size, stride in zip(sizes, strides, strict=True)]
    begin = array[(*(slice(at, None) for at in start), ...)]
    return with_strides(begin, shape, strides, array.flags.writeable)


def sizes_of(op: Loops, arrays: Sequence[Array]) -> list[int]:
    """How many turns each loop has. Raises `ExirError` where no operand says so."""
    found: dict[int, int] = {}
    for map, array in zip(op.indexing_maps, arrays, strict=True):
        for expr, size in zip(map.data.results, np.shape(array), strict=True):
            if isinstance(expr, AffineDimExpr) and found.setdefault(expr.position, size) != size:
                raise ExirError(
                    f"loop {expr.position} of {op.name} has {found[expr.position]} and {size} turns"
                )
    count = len(op.iterator_types)
    if len(found) != count:
        raise ExirError(f"{op.name}: no operand says how many turns each of the {count} loops has")
    return [found[dim] for dim in range(count)]


# --- bodies --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turns:
    """Some turns of the loops of an operation."""

    interpreter: Interpreter
    op: Loops
    inputs: tuple[Array, ...]
    """What these are in each turn, over the loops."""
    outputs: tuple[Array, ...]
    """What is written in each turn: views of the results, over the loops."""
    loops: tuple[Array, ...]
    """The turns themselves."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(loop.size for loop in self.loops)

    def part(self, dim: int, turns: slice) -> Turns:
        """Those in which a loop is in some of its turns."""

        def cut(array: Array) -> Array:
            return array if array.shape[dim] == 1 else array[(slice(None),) * dim + (turns,)]

        inputs, outputs = tuple(map(cut, self.inputs)), tuple(map(cut, self.outputs))
        loops = tuple(
            loop[(slice(None),) * dim + (turns,)] if d == dim else loop for d, loop in enumerate(self.loops)
        )
        return replace(self, inputs=inputs, outputs=outputs, loops=loops)

    def evaluate(
        self, wanted: Sequence[SSAValue], without: frozenset[Operation] = frozenset()
    ) -> list[Array]:
        """Values of the body for all turns, as arrays over the loops; some of its operations are not run."""
        interpreter, block = self.interpreter, self.op.body.block
        outer = interpreter.get_data(LinalgFunctions, LOOPS, list[Any])
        outer.append(self.loops)
        interpreter.push_scope(self.op.name)
        interpreter.set_values(zip(block.args, (*self.inputs, *self.outputs), strict=True))
        for op in block.ops:
            if op not in without and op is not block.last_op:
                given = interpreter.get_values(op.operands)
                interpreter.set_values(zip(op.results, interpreter.run_op(op, given), strict=True))
        found = interpreter.get_values(wanted)
        interpreter.pop_scope()
        outer.pop()
        return [np.reshape(each, (1,) * (len(self.loops) - np.ndim(each)) + np.shape(each)) for each in found]

    def run_whole(self) -> None:
        """Runs the body once for all turns, none of which depends on another one."""
        last = self.op.body.block.last_op
        assert last is not None
        results = [each.copy() if each.base is not None else each for each in self.evaluate(last.operands)]
        for output, result in zip(self.outputs, results, strict=True):
            output[...] = result

    def reduce(self, combiners: Sequence[Operation], reduced: Sequence[int]) -> None:
        """Reduces along loops by associative operations, all turns of which fit into memory."""
        results = self.op.body.block.args[len(self.inputs) :]
        terms = [term_of(op, result) for op, result in zip(combiners, results, strict=True)]
        products = {term for term, op in zip(terms, combiners, strict=True) if is_product(term, op)}
        factors = {term: tuple(owner_of(term).operands) if term in products else (term,) for term in terms}
        wanted = [factor for term in terms for factor in factors[term]]
        skipped = frozenset((*combiners, *map(owner_of, products)))
        values = dict(zip(wanted, self.evaluate(wanted, skipped), strict=True))
        for op, term, output in zip(combiners, terms, self.outputs, strict=True):
            combine = COMBINERS[type(op)]
            if term in products:
                total = self.contraction([values[factor] for factor in factors[term]], reduced)
            else:
                value = values[term]
                sizes = [size if d in reduced else value.shape[d] for d, size in enumerate(self.sizes)]
                total = combine.reduce(
                    np.broadcast_to(value, sizes), axis=tuple(reduced), dtype=value.dtype, keepdims=True
                )
            output[...] = combine(output, total)

    def contraction(self, factors: Sequence[Array], reduced: Sequence[int]) -> Array:
        """The sum over loops of the product of two arrays."""
        operands: list[Any] = []
        absent = set(reduced)
        for factor in factors:
            dims = [dim for dim, size in enumerate(factor.shape) if size != 1]
            operands += [factor.reshape([factor.shape[dim] for dim in dims]), dims]
            absent -= set(dims)
        there = {dim for dims in operands[1::2] for dim in dims}
        left = sorted(there - set(reduced))
        total = np.einsum(*operands, left, optimize=True)
        repeated = math.prod(self.sizes[dim] for dim in absent)
        if repeated != 1:
            total = total * np.asarray(repeated).astype(total.dtype)
        return total.reshape([self.sizes[dim] if dim in left else 1 for dim in range(len(self.sizes))])


def owner_of(value: SSAValue) -> Operation:
    assert isinstance(value.owner, Operation)
    return value.owner


def term_of(op: Operation, result: SSAValue) -> SSAValue:
    """What an operation combines with a result."""
    a, b = op.operands
    return b if a is result else a


def is_product(term: SSAValue, combiner: Operation) -> bool:
    """Whether a term of a sum is a product, which nothing else uses."""
    sums: dict[type[Operation], type[Operation]] = {
        arith.AddfOp: arith.MulfOp,
        arith.AddiOp: arith.MuliOp,
    }
    product = sums.get(type(combiner))
    integer_bits = getattr(term.type, "bitwidth", 64)
    return product is not None and isinstance(term.owner, product) and term.has_one_use() and integer_bits > 1


def combiners_of(op: Loops) -> list[Operation] | None:
    """What combines each result of a body with a term that no result goes into; None where it does anything else."""
    block = op.body.block
    results, last = block.args[len(op.inputs) :], block.last_op
    assert last is not None
    found: list[Operation] = []
    for result, value in zip(results, last.operands, strict=True):
        owner = value.owner
        users = [use.operation for use in result.uses]
        if users != [owner] or type(owner) not in COMBINERS or not value.has_one_use():
            return None
        if (
            not isinstance(owner, Operation)
            or owner.parent is not block
            or owner.operands[0] is owner.operands[1]
        ):
            return None
        bits = getattr(value.type, "bitwidth", 64)
        if bits == 1 and type(owner) in (arith.AddiOp, arith.MuliOp, arith.MaxSIOp, arith.MinSIOp):
            return None
        found.append(owner)
    return found


@register_impls
class LinalgFunctions(InterpreterFunctions):
    """Implementations of `linalg`."""

    @impl(IndexOp)
    def run_index(self, interpreter: Interpreter, op: IndexOp, args: PythonValues) -> PythonValues:
        loops = interpreter.get_data(LinalgFunctions, LOOPS, list[Any])[-1]
        return (loops[op.dim.value.data].astype(np.int64),)

    @impl(FillOp)
    def run_fill(self, interpreter: Interpreter, op: FillOp, args: PythonValues) -> PythonValues:
        return written(op, *args)

    @impl(linalg.CopyOp)
    def run_copy(self, interpreter: Interpreter, op: linalg.CopyOp, args: PythonValues) -> PythonValues:
        return written(op, *args)

    @impl(CopyOp)
    def run_any_copy(self, interpreter: Interpreter, op: CopyOp, args: PythonValues) -> PythonValues:
        return written(op, *args)


def run_loops(
    _: InterpreterFunctions, interpreter: Interpreter, op: Loops, args: PythonValues
) -> PythonValues:
    """Runs loops over whole arrays."""
    count = len(op.inputs)
    # Of tensors results are new ones; memory is written to.
    outputs = [array.copy() if op.results else array for array in args[count:]]
    maps = [map.data for map in op.indexing_maps]
    sizes = sizes_of(op, [*args[:count], *outputs])
    reduced = [dim for dim, type in enumerate(op.iterator_types) if type.data is IteratorType.REDUCTION]
    if 0 not in sizes:
        turns = Turns(
            interpreter,
            op,
            tuple(seen(np.asarray(a), m, sizes) for a, m in zip(args[:count], maps[:count], strict=True)),
            tuple(seen(array, map, sizes) for array, map in zip(outputs, maps[count:], strict=True)),
            tuple(loops_of(sizes)),
        )
        run(turns, reduced, combiners_of(op) if reduced else None)
    return tuple(outputs) if op.results else ()


NamedFunctions: Any = register_impls(
    type("NamedFunctions", (InterpreterFunctions,), {op.name: impl(op)(run_loops) for op in LOOP_OPERATIONS})
)
"""Implementations of operations that are loops, by a name or by what they say."""


def written(op: FillOp | linalg.CopyOp, value: Any, output: Array) -> PythonValues:
    """A result that is a value all over, or memory that becomes it."""
    made = np.empty_like(output) if op.results else output
    made[...] = value
    return (made,) if op.results else ()


def run(turns: Turns, reduced: Sequence[int], combiners: Sequence[Operation] | None) -> None:
    """Runs all turns: together, or those of one half of a loop after those of the other where there are many."""
    sizes = turns.sizes
    if math.prod(sizes) > MOST and (combiners is None or not is_contraction(combiners, turns)):
        free = [dim for dim in range(len(sizes)) if combiners is not None or dim not in reduced]
        largest = max(free, key=lambda dim: sizes[dim], default=None)
        if largest is not None and sizes[largest] > 1:
            half = sizes[largest] // 2
            for part in (slice(0, half), slice(half, None)):
                run(turns.part(largest, part), reduced, combiners)
            return
    if not reduced:
        turns.run_whole()
    elif combiners is not None:
        turns.reduce(combiners, reduced)
    else:
        for at in np.ndindex(*(sizes[dim] for dim in reduced)):
            each = turns
            for dim, turn in zip(reduced, at, strict=True):
                each = each.part(dim, slice(turn, turn + 1))
            each.run_whole()


def is_contraction(combiners: Sequence[Operation], turns: Turns) -> bool:
    """Whether all that is reduced is sums of products."""
    results = turns.op.body.block.args[len(turns.inputs) :]
    return all(is_product(term_of(op, r), op) for op, r in zip(combiners, results, strict=True))
