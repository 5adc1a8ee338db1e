"""`count-sizes`: sizes that depend on data, each reduced to one number read out of memory.

Native code has the sizes of its buffers from its caller. So what finds out a size by computing is taken apart: first a
count, a tensor of one element; then `_local_scalar_dense`, which reads it and gives the symbol of the result's size; then
operators that take the size as they take any other.

    @counted("aten.nonzero")
    def nonzero(aten: Namespace, self: SSAValue, symbol: Dim) -> SSAValue:
        return aten.nonzero_static(self, size=count(aten, self, symbol))

Rules are written as decompositions are, in `aten`, and what they build becomes edge. Besides the operator's arguments a rule
may name `symbol`, the one that the results' types name first, or say again of data (or the number that the program holds for alone, which the count has to be),
or `out`, these types, where they name several. Of an operator
with a rule whose results are known to have no elements, they are made so. Without a rule, what names a symbol first for a size that its
operands' sizes and numbers tell gets that size, and is refined to the symbol. Other operators stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from xdsl_exir.dialects import aten as aten_dialect
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Builder, Namespace, Results, cast, meta, sizes
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.meta import UNKNOWN, as_meta, infer_result_types
from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp
from xdsl_exir.dialects.registry import Entry, Registry
from xdsl_exir.dialects.signature import held_ranges_of
from xdsl_exir.dialects.sizes import is_static, is_symbol, sizes_of, symbols_of
from xdsl_exir.dialects.spec import OperatorSpec
from xdsl_exir.dialects.tensors import SymIntType, is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.assertions import drop_proved
from xdsl_exir.transforms.aten_to_edge import AtenToEdge
from xdsl_exir.transforms.canonicalization import Canonicalization
from xdsl_exir.transforms.canonicalizations import CANONICALIZATIONS
from xdsl_exir.transforms.decompose_aten import Decomposer
from xdsl_exir.transforms.decompositions.symbolic import item
from xdsl_exir.transforms.matching import made_by, static
from xdsl_exir.transforms.patterns import KEEP, apply_once
from xdsl_exir.transforms.regions import Values, scan

F = TypeVar("F", bound=Callable[..., Any])

RULES: Registry[Callable[..., Any]] = Registry("size rule", leading=1, extras=frozenset({"symbol", "out"}))


def counted(*names: str) -> Callable[[F], F]:
    """Registers how the operators named are taken apart."""
    return RULES.register(*names)


# --- what rules are made of ----------------------------------------------------------------------------------


def number(aten: Namespace, element: SSAValue, symbol: Dim) -> SSAValue:
    """The element of a tensor as the number that a symbol stands for, or as one that it has to be."""
    if isinstance(symbol, int):
        aten._assert_async.msg(
            aten.eq.Scalar(element, symbol), f"a size that depends on data is not {symbol}"
        )
    return item(aten, element, [SymIntType(symbol)])


def true_places(aten: Namespace, flags: SSAValue, size: SSAValue) -> SSAValue:
    """Where a vector of booleans is True, which it is `size` times."""
    return aten.select.int(aten.nonzero_static(flags, size=size), 1, 0)


def count(aten: Namespace, flags: SSAValue, symbol: Dim) -> SSAValue:
    """How many of a tensor's elements are not 0."""
    return number(aten, aten.sum(truth(aten, flags)), symbol)


def truth(aten: Namespace, self: SSAValue) -> SSAValue:
    """Which elements are not 0."""
    return self if meta(self).dtype is dt.Bool else aten.ne.Scalar(self, 0)


def flat(aten: Namespace, self: SSAValue) -> SSAValue:
    """All elements in order."""
    return aten.reshape(self, [-1])


def length(aten: Namespace, vector: SSAValue) -> int | SSAValue:
    """The leading dimension's size."""
    return sizes(aten, vector)[0]


def require_natural(aten: Namespace, self: SSAValue, message: str) -> None:
    """Asserts that no element is negative."""
    aten._assert_async.msg(aten.all(aten.ge.Scalar(self, 0)), message)


# --- picking -------------------------------------------------------------------------------------------------


@counted("aten.nonzero")
def nonzero(aten: Namespace, self: SSAValue, symbol: Dim) -> SSAValue:
    return aten.nonzero_static(self, size=count(aten, self, symbol))


@counted("aten.masked_select")
def masked_select(aten: Namespace, self: SSAValue, mask: SSAValue, symbol: Dim) -> SSAValue:
    self, mask = aten.broadcast_tensors([self, mask])
    flags = flat(aten, mask)
    return aten.index_select(flat(aten, self), 0, true_places(aten, flags, count(aten, flags, symbol)))


@counted("aten.index.Tensor")
def index(aten: Namespace, self: SSAValue, indices: list[SSAValue | None], symbol: Dim) -> Any:
    """A mask stands for the places where it is True, an index for each of its dimensions. Indices are broadcast."""
    masks = [index for index in indices if index and meta(index).dtype in (dt.Bool, dt.Byte)]
    if not masks or not all(meta(mask).ndim for mask in masks):
        return KEEP
    counts = [aten.sum(truth(aten, mask)) for mask in masks]
    total = reduce(lambda n, count: aten.where.self(aten.eq.Scalar(n, 1), count, n), counts)
    found = number(aten, total, symbol)
    if not any(index for index in indices if index is not masks[0]):
        where, rank = indices.index(masks[0]), meta(masks[0]).ndim
        rows = aten.flatten.using_ints(self, where, where + rank - 1)
        return aten.index_select(rows, where, true_places(aten, truth(aten, flat(aten, masks[0])), found))

    def columns(mask: SSAValue) -> list[SSAValue]:
        places = aten.nonzero_static(mask, size=found)
        if len(masks) > 1:
            picks = counts[masks.index(mask)]
            is_one = aten.eq.Scalar(picks, 1)
            fits = aten.logical_or(is_one, aten.eq.Tensor(picks, total))
            aten._assert_async.msg(fits, "masks pick different numbers of elements")
            rows = aten.arange.start_step(0, found)
            places = aten.index_select(places, 0, aten.where.ScalarSelf(is_one, 0, rows))
        return [aten.select.int(places, 1, dim) for dim in range(meta(mask).ndim)]

    return aten.index.Tensor(
        self, [i for index in indices for i in (columns(index) if index and index in masks else [index])]
    )


@counted("aten.tensor_split.tensor_indices_or_sections")
def tensor_split(
    aten: Namespace,
    self: SSAValue,
    tensor_indices_or_sections: SSAValue,
    dim: int,
    out: Sequence[Attribute],
) -> Any:
    """Slices from each index to the next one."""
    indices, rank = tensor_indices_or_sections, meta(self).ndim
    parts = [tensor_meta(type).shape[dim] for type in out if is_tensor_type(type)]
    if not meta(indices).ndim or not all(isinstance(size, Expr) for size in parts):
        return KEEP
    total = aten.scalar_tensor(sizes(aten, self)[dim], dtype=dt.Long)
    wrapped = aten.where.self(aten.lt.Scalar(indices, 0), aten.add.Tensor(indices, total), indices)
    bounds = aten.minimum(aten.clamp_min(wrapped, 0), total)
    places = [aten.select.int(bounds, 0, index) for index in range(len(parts) - 1)]
    starts, ends = [aten.full_like(total, 0), *places], [*places, total]

    def part(start: SSAValue, end: SSAValue, symbol: Dim) -> SSAValue:
        assert isinstance(symbol, Expr)
        size = number(aten, aten.clamp_min(aten.sub.Tensor(end, start), 0), symbol)
        return aten.index_select(self, dim % rank, aten.add.Tensor(aten.arange.start_step(0, size), start))

    return list(map(part, starts, ends, parts))


# --- unique --------------------------------------------------------------------------------------------------


def groups(
    aten: Namespace,
    rows: SSAValue,
    symbol: Dim,
    return_inverse: bool = True,
    return_counts: bool = True,
) -> list[SSAValue]:
    """Of rows of which equal ones are neighbours: where each group begins, the group of each row, and the groups' lengths.

    What is not asked for is empty.
    """
    total = length(aten, rows)
    positions = aten.arange.start_step(0, total)
    differs = aten.ne.Tensor(rows, aten.roll(rows, [1], [0]))
    differs = aten.any.dim(differs, 1) if meta(rows).ndim > 1 else differs
    first = aten.logical_or(differs, aten.eq.Scalar(positions, 0))
    size = count(aten, first, symbol)
    begins = true_places(aten, first, size)
    inverse = lengths = aten.full([0], 0, dtype=dt.Long)
    if return_inverse:
        inverse = aten.sub.Scalar(aten.cumsum(cast(aten, first, dt.Long), 0), 1)
    if return_counts:
        # Behind the last row of a group begins the next one, behind the last of all the first, on the way round.
        ends = true_places(aten, aten.roll(first, [-1], [0]), size)
        lengths = aten.add.Scalar(aten.sub.Tensor(ends, begins), 1)
    return [begins, inverse, lengths]


def ungrouped(aten: Namespace, order: SSAValue, inverse: SSAValue) -> SSAValue:
    """The groups of sorted rows, in the order in which the rows were before."""
    return aten.scatter.src(inverse, 0, order, inverse)


@counted("aten._unique2")
def unique(aten: Namespace, self: SSAValue, return_inverse: bool, return_counts: bool, symbol: Dim) -> Any:
    values, order = aten.sort.stable(flat(aten, self), stable=True)
    begins, inverse, counts = groups(aten, values, symbol, return_inverse, return_counts)
    if return_inverse:
        inverse = aten.view(ungrouped(aten, order, inverse), sizes(aten, self))
    return aten.index_select(values, 0, begins), inverse, counts


@counted("aten.unique_consecutive")
def unique_consecutive(
    aten: Namespace,
    self: SSAValue,
    return_inverse: bool,
    return_counts: bool,
    dim: int | None,
    symbol: Dim,
) -> Any:
    if dim is not None:
        begins, inverse, counts = groups(aten, lines(aten, self, dim), symbol)
        return aten.index_select(self, dim, begins), inverse, counts
    rows = flat(aten, self)
    begins, inverse, counts = groups(aten, rows, symbol, return_inverse, return_counts)
    inverse = aten.view(inverse, sizes(aten, self)) if return_inverse else inverse
    return aten.index_select(rows, 0, begins), inverse, counts


@counted("aten.unique_dim")
def unique_dim(aten: Namespace, self: SSAValue, dim: int, symbol: Dim) -> Any:
    rows = lines(aten, self, dim)
    order = lexicographic(aten, rows)
    begins, inverse, counts = groups(aten, aten.index_select(rows, 0, order), symbol)
    values = aten.index_select(self, dim, aten.index_select(order, 0, begins))
    return values, ungrouped(aten, order, inverse), counts


def lines(aten: Namespace, self: SSAValue, dim: int) -> SSAValue:
    """A tensor as a matrix with a row for each element along a dimension."""
    rest = [other for other in range(meta(self).ndim) if other != dim % meta(self).ndim]
    return aten.flatten.using_ints(aten.unsqueeze(aten.permute(self, [dim, *rest]), 1), 1, -1)


def lexicographic(aten: Namespace, rows: SSAValue) -> SSAValue:
    """The order of a matrix's rows: sorted, stably, by each column from the last to the first."""
    order = aten.arange.start_step(0, length(aten, rows))
    columns = aten.flip(aten.t(rows), [0])
    if meta(columns).shape[0] == 0:
        return order

    def combine(order: Values, column: Values, _: Values) -> tuple[Values, Values]:
        _, step = aten.sort.stable(aten.index_select(column[0], 0, order[0]), stable=True)
        return [aten.index_select(order[0], 0, step)], []

    [order], _ = scan(aten, combine, [order], [columns])
    return order


# --- counting ------------------------------------------------------------------------------------------------


@counted("aten.repeat_interleave.Tensor")
def repeat_interleave(aten: Namespace, repeats: SSAValue, symbol: Dim) -> SSAValue:
    return aten.repeat_interleave.Tensor(repeats, output_size=number(aten, aten.sum(repeats), symbol))


@counted("aten.bincount")
def bincount(
    aten: Namespace, self: SSAValue, weights: SSAValue | None, minlength: int, symbol: Dim
) -> SSAValue:
    require_natural(aten, self, "bincount: an element is negative")
    numbers = cast(aten, self, dt.Long)
    [size] = meta(numbers).shape
    # Of no numbers there is no greatest.
    some = (
        numbers if isinstance(size, int) and size else aten.cat([numbers, aten.full([1], -1, dtype=dt.Long)])
    )
    greatest = aten.clamp_min(aten.amax(some), minlength - 1)
    total = number(aten, aten.add.Scalar(greatest, 1), symbol)
    dtype = dt.Long if weights is None else meta(weights).dtype
    dtype = dtype if weights is None or dtype is dt.Float else dt.Double
    each = aten.full_like(numbers, 1) if weights is None else cast(aten, weights, dtype)
    return aten.scatter_add(aten.full([total], 0, dtype=dtype), 0, numbers, each)


@counted("aten.one_hot")
def one_hot(aten: Namespace, self: SSAValue, symbol: Dim) -> SSAValue:
    require_natural(aten, self, "one_hot: Class values must be non-negative.")
    classes = aten.arange.start_step(0, number(aten, aten.add.Scalar(aten.amax(self), 1), symbol))
    return cast(aten, aten.eq.Tensor(aten.unsqueeze(self, -1), classes), dt.Long)


# --- the pass ------------------------------------------------------------------------------------------------


class Counter(Decomposer):
    """Takes operators apart; what rules build is decomposed."""

    def __init__(self, function: FuncOp):
        super().__init__()
        self.known = symbols_of(sizes_of(function.args))
        """Symbols that a value before says."""

    def dialect(self, op: OperatorOp) -> OperatorDialect:
        return aten_dialect.OPERATORS

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        named = symbols_of(sizes_of(op.results)) - self.known
        new: list[Dim] = [Expr.symbol(symbol) for symbol in sorted(named) if Expr.symbol(symbol).is_unbacked]
        self.known |= named
        if not any(is_tensor_type(result.type) for result in op.results):
            return KEEP
        entry = RULES.find(op.SPEC)
        if entry is not None and is_nothing(op):
            return nothing(Namespace(builder), op)
        if not new and entry is not None:
            new = said_again(op)
        if not new:
            return KEEP
        if entry is None:
            return with_inferred_sizes(builder, op)
        if all(symbol in sizes_of(op.results) for symbol in new) and (
            len(new) == 1 or "symbol" not in entry.parameters
        ):
            given = {"symbol": new[0], "out": op.result_types, **op.arguments()}
            return entry.call(given, Namespace(builder))
        return KEEP


def said_again(op: OperatorOp) -> list[Dim]:
    """The sizes that depend on data, where they have been said: by a value before, as of masks that PyTorch knows to pick equally many, or
    by the program, which holds for one number only."""
    types = infer_result_types(op.SPEC, op.arguments(lambda value: as_meta(value.type)))
    said = {
        size
        for type, result in zip(types, op.results, strict=True)
        if type is not None and is_tensor_type(type)
        for known, size in zip(tensor_meta(type).shape, meta(result).shape, strict=True)
        if known == UNKNOWN
    }
    found = [size for size in said if isinstance(size, int) or size.is_unbacked]
    return found if len(found) == len(said) else []


def is_nothing(op: OperatorOp) -> bool:
    """Whether all results are known to have no elements."""
    metas = [tensor_meta(result.type) for result in op.results if is_tensor_type(result.type)]
    return all(0 in meta.shape and is_static(meta.shape) for meta in metas)


def nothing(aten: Namespace, op: OperatorOp) -> list[SSAValue]:
    """Tensors without elements, as the results are."""
    metas = [tensor_meta(result.type) for result in op.results if is_tensor_type(result.type)]
    return [aten.full([*meta.shape], 0, dtype=meta.dtype) for meta in metas]


def with_inferred_sizes(builder: Builder, op: OperatorOp) -> Any:
    """An operator with the sizes that its rule gives, where that knows them."""
    cls = type(op)
    try:
        types = cls.infer(op.arguments())
    except ExirError:
        return KEEP
    return builder.build(cls, op.arguments(), types)


def range_of(op: OperatorOp) -> tuple[str, tuple[int, int]] | None:
    """The symbol of how many of some elements are True, and between which numbers that is; None of anything else."""
    counted = made_by(op.operands[0], "aten.sum.dim_IntList") if "_local_scalar_dense" in op.name else None
    if counted is None or not is_symbol(symbol := sizes_of(op.results)[0]):
        return None
    flags = meta(counted.operands[0])
    shape = static(flags.shape)
    return (str(symbol), (0, prod(shape))) if flags.dtype is dt.Bool and shape is not None else None


def by_all_elements(spec: OperatorSpec) -> Entry[Callable[..., Any]] | None:
    """The rule of what need not count what a mask picks."""
    return CANONICALIZATIONS.find(spec) if spec.qualified_name == "aten.index_put" else None


@dataclass(frozen=True)
class CountSizes(ModulePass):
    """Takes operators of an edge program whose results' sizes depend on data apart, as far as there are rules."""

    name = "count-sizes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_once(op, Canonicalization(by_all_elements))
        for function in op.ops:
            if isinstance(function, FuncOp):
                counter = Counter(function)
                for inner in list(function.body.block.ops):
                    if isinstance(inner, OperatorOp):
                        counter.rewrite(inner)
                    else:
                        counter.known |= symbols_of(sizes_of(inner.results))
        AtenToEdge().apply(ctx, op)
        for function in op.ops:
            operators = [inner for inner in function.walk() if isinstance(inner, OperatorOp)]
            known = held_ranges_of(function) | dict(filter(None, map(range_of, operators)))
            drop_proved(operators, known)
