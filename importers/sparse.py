"""Sparse tensors as the two tensors that PyTorch's COO layout holds them in: where elements are, and what they are.

A program may make them, compute with them and take them apart; in terms of the two it is a graph of ordinary tensors, before anything is
built of it. What is not held takes no part, as in PyTorch: 0 times an infinity is 0 where nothing is held. How many elements are held is
known when the program runs, as of `nonzero`. What a program returns sparse it returns dense.

Formulas: `aten/src/ATen/native/sparse/SparseTensor.cpp`, `SparseTensorMath.cpp`, `SoftMax.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.sizes import symbols_of
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.exchange import graph as g
from xdsl_exir.exchange.graph import Ref, Value
from xdsl_exir.importers.nodes import at_node
from xdsl_exir.importers.rewriter import GraphRewriter
from xdsl_exir.importers.strides import size_of, tensor_of
from xdsl_exir.importers.synonyms import called, under_names
from xdsl_exir.importers.synonyms.calls import Calls, Table


@dataclass
class SparseCalls(Calls):
    """Calls whose results may have as many elements as the data say."""

    rewriter: _InPairs = field(kw_only=True)

    def places(self, held: Ref, dims: int) -> Ref:
        """Where a tensor of `dims` dimensions is true: int64 of [dims, elements]."""
        places = self("aten.nonzero", self=held)
        self.rewriter.values[places.name] = tensor_of(TensorMeta((self.rewriter.new_count(), dims), dt.Long))
        return self("aten.t", self=places)


@dataclass(frozen=True)
class Coo:
    """A sparse tensor. The first `dims` of its sizes are sparse, the others are those of its elements."""

    indices: Ref
    """Where elements are: int64 of [dims, elements]."""
    values: Ref
    """[elements, *the other sizes]"""
    sizes: tuple[Value, ...]
    dims: int
    is_coalesced: bool
    """Whether the places are in order, and each is there once."""
    is_counted: bool = False
    """Whether the program knows how many elements there are. Where data decide PyTorch's tracer takes it that there are none."""

    def rows(self, calls: SparseCalls) -> tuple[Ref, ...]:
        """The indices, dimension by dimension."""
        return calls.unbind(self.indices, 0, self.dims)

    def full(self, calls: SparseCalls, value: float) -> Ref:
        """A dense tensor of these sizes."""
        return calls("aten.new_full", self=self.values, size=self.sizes, fill_value=value)

    def onto(self, calls: SparseCalls, dense: Value, accumulate: bool) -> Ref:
        """A dense tensor with the elements in their places, or added to what is there."""
        rows = self.rows(calls)
        return calls("aten.index_put", self=dense, indices=rows, values=self.values, accumulate=accumulate)

    def dense(self, calls: SparseCalls) -> Ref:
        return self.onto(calls, self.full(calls, 0), not self.is_coalesced)

    def of(self, calls: SparseCalls, dense: Value) -> Ref:
        """What a dense tensor has in the places."""
        return calls("aten.index.Tensor", self=dense, indices=self.rows(calls))

    def turned(self, calls: SparseCalls, dims: Sequence[int]) -> Coo:
        """With these of the sparse dimensions, in this order."""
        rows = self.rows(calls)
        indices = calls("aten.stack", tensors=tuple(rows[dim] for dim in dims), dim=0)
        return replace(self, indices=indices, dims=len(dims), is_coalesced=False)

    def coalesced(self, calls: SparseCalls) -> Coo:
        """Elements in order, those of one place added up. Zeros among them stay."""
        if self.is_coalesced:
            return self
        nowhere, here = (
            calls("aten.full", size=size, fill_value=value, dtype=dt.Bool)
            for size, value in ((self.sizes[: self.dims], False), ((), True))
        )
        held = calls("aten.index_put", self=nowhere, indices=self.rows(calls), values=here)
        return _held(calls, held, self.dims, self.dense(calls), self.sizes)


def _held(calls: SparseCalls, held: Ref, dims: int, dense: Value, sizes: tuple[Value, ...]) -> Coo:
    """The elements of a dense tensor in the places, of the first `dims` dimensions, where `held` is true."""
    indices = calls.places(held, dims)
    values = calls("aten.index.Tensor", self=dense, indices=calls.unbind(indices, 0, dims))
    return Coo(indices, values, sizes, dims, True)


# What operators are of sparse tensors

SPARSE = Table("aten")
"""Take `Calls` and an operator's arguments, sparse tensors as `Coo`; make the calls, and give the result: a `Coo`, a tensor, or nothing."""
LAYOUTS = frozenset(map(g.Layout, ("sparse_coo", "sparse_csr", "sparse_csc")))
"""Whose elements are single ones: how their places are held makes no difference to what a program may see of them here."""


@SPARSE.of("to_sparse", "_to_sparse")
def _to_sparse(
    calls: SparseCalls,
    self: Value | Coo,
    *,
    layout: Any = None,
    blocksize: Value = None,
    dense_dim: Value = None,
) -> Coo:
    if layout not in (None, *LAYOUTS) or blocksize is not None or dense_dim is not None:
        raise calls.unsupported(
            f"in the layout {layout or 'of an element'}, in blocks or with dense dimensions"
        )
    return _to_sparse_dims(calls, self, None)


@SPARSE.of("to_sparse_csr", "_to_sparse_csr", "to_sparse_csc", "_to_sparse_csc")
def _to_sparse_compressed(calls: SparseCalls, self: Value | Coo, dense_dim: Value = None) -> Coo:
    return _to_sparse(calls, self, dense_dim=dense_dim)


@SPARSE.of("to_sparse.sparse_dim", "_to_sparse.sparse_dim")
def _to_sparse_dims(calls: SparseCalls, self: Value | Coo, sparse_dim: int | None) -> Coo:
    if isinstance(self, Coo):
        return self
    rank = len(calls.meta(self).sizes)
    dims = rank if sparse_dim is None else sparse_dim
    if dims == 0:
        raise calls.unsupported("with no sparse dimension")
    held = calls("aten.ne.Scalar", self=self, other=0)
    if dims < rank:
        held = calls("aten.any.dims", self=held, dim=tuple(range(dims, rank)))
    return _held(calls, held, dims, self, tuple(calls.size(self, dim) for dim in range(rank)))


@SPARSE.of("to_dense", "_to_dense")
def _to_dense(calls: SparseCalls, self: Coo, dtype: Any = None, masked_grad: Value = None) -> Ref:
    dense = self.dense(calls)
    return dense if dtype is None else calls.cast(dense, dtype)


@SPARSE.of("sparse_coo_tensor.indices_size", "_sparse_coo_tensor_unsafe")
def _made(
    calls: SparseCalls,
    indices: Ref,
    values: Ref,
    size: tuple[Value, ...],
    *,
    is_coalesced: bool | None = None,
    **where: Any,
) -> Coo:
    [dims] = calls.fixed(indices, [0])
    return Coo(indices, values, size, dims, bool(is_coalesced), True)


@SPARSE.of("_sparse_coo_tensor_with_dims_and_tensors")
def _made_of_dims(
    calls: SparseCalls,
    sparse_dim: int,
    dense_dim: int,
    size: tuple[Value, ...],
    indices: Ref,
    values: Ref,
    *,
    is_coalesced: bool | None = None,
    **where: Any,
) -> Coo:
    return Coo(indices, values, size, sparse_dim, bool(is_coalesced), True)


@SPARSE.of("_assert_tensor_metadata")
def _nothing(calls: SparseCalls, *checked: Value | Coo, **as_traced: Any) -> None:
    """What PyTorch saw when it traced: a dtype, a device, a layout."""


@SPARSE.of("coalesce", "_coalesce")
def _coalesce(calls: SparseCalls, self: Coo) -> Coo:
    return self.coalesced(calls)


@SPARSE.of("indices", "values")
def _part(calls: SparseCalls, self: Coo) -> Ref:
    if not self.is_coalesced:
        raise calls.unsupported("of a sparse tensor that is not coalesced")
    return _part_as_held(calls, self)


@SPARSE.of("_indices", "_values")
def _part_as_held(calls: SparseCalls, self: Coo) -> Ref:
    if not self.is_counted:
        raise calls.unsupported("of as many elements as the data say: PyTorch traces it as of none")
    return calls("aten.alias", self=getattr(self, calls.node.target.removeprefix("aten.").strip("_")))


def _each(calls: SparseCalls, self: Coo, *others: Any, **named: Any) -> Coo:
    """An operator of each element, the same whether those of one place are added up before it or after it."""
    arguments = [("self", self.values), *(("", other) for other in others), *named.items()]
    [values] = calls.of(calls.node.target, 1, arguments)
    return replace(self, values=values)


SPARSE.of("neg", "positive", "clone", "alias", "detach", "_to_copy", "to.dtype", "mul.Scalar", "div.Scalar")(
    _each
)


_KEEP_ZERO = """abs asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor frac isinf isnan log1p nan_to_num
    pow.Tensor_Scalar rad2deg relu round sgn sign signbit sin sinh sqrt tan tanh trunc"""


@SPARSE.of(*_KEEP_ZERO.split())
def _each_once(calls: SparseCalls, self: Coo, *others: Any, **named: Any) -> Coo:
    """An operator of each element that gives 0 of 0."""
    return _each(calls, self.coalesced(calls), *others, **named)


def _is_number(calls: SparseCalls, value: Value) -> bool:
    """Whether an operand scales: a number, or a tensor of no dimension."""
    known = calls.values.get(value.name) if isinstance(value, Ref) else None
    return not isinstance(known, g.TensorMeta) or known.sizes == ()


@SPARSE.of("mul.Tensor")
def _mul(calls: SparseCalls, self: Coo | Value, other: Coo | Value) -> Coo:
    coo, by = (self, other) if isinstance(self, Coo) else (other, self)
    assert isinstance(coo, Coo)
    if isinstance(by, Coo):
        raise calls.unsupported("of two sparse tensors")
    if not _is_number(calls, by):
        by = coo.of(calls, calls("aten.expand", self=by, size=coo.sizes))
    return replace(coo, values=calls("aten.mul.Tensor", self=coo.values, other=by))


@SPARSE.of("div.Tensor")
def _div(calls: SparseCalls, self: Coo | Value, other: Coo | Value) -> Coo:
    if not isinstance(self, Coo) or isinstance(other, Coo) or not _is_number(calls, other):
        raise calls.unsupported("but of a sparse tensor by a number")
    return replace(self, values=calls("aten.div.Tensor", self=self.values, other=other))


@SPARSE.of("add.Tensor")
def _add(calls: SparseCalls, self: Coo | Value, other: Coo | Value, *, alpha: Value = 1) -> Coo | Ref:
    if not isinstance(other, Coo):
        # PyTorch wants them the other way round.
        raise calls.unsupported("of a sparse tensor and a dense one")
    if alpha != 1:
        other = replace(other, values=calls("aten.mul.Scalar", self=other.values, other=alpha))
    if not isinstance(self, Coo):
        return other.onto(calls, self, accumulate=True)
    both = ((self.indices, other.indices), 1), ((self.values, other.values), 0)
    indices, values = (calls("aten.cat", tensors=parts, dim=dim) for parts, dim in both)
    is_counted = self.is_counted and other.is_counted
    return replace(self, indices=indices, values=values, is_coalesced=False, is_counted=is_counted)


@SPARSE.of("sub.Tensor")
def _sub(calls: SparseCalls, self: Coo | Value, other: Coo | Value, *, alpha: Any = 1) -> Coo | Ref:
    return _add(calls, self, other, alpha=-alpha)


# sums and products


@SPARSE.of("mm", "_sparse_mm", "matmul", "mv")
def _product(calls: SparseCalls, *operands: Any, **named: Any) -> Ref:
    """Rows of a dense matrix, scaled and added up; or elements of a dense vector."""
    self, dense = (*operands, *named.values())
    if not isinstance(self, Coo) or isinstance(dense, Coo) or self.dims != 2 or len(self.sizes) != 2:
        raise calls.unsupported("but of a sparse matrix with a dense one")
    row, column = self.rows(calls)
    others = tuple(calls.size(dense, dim) for dim in range(1, len(calls.meta(dense).sizes)))
    if len(others) > 1:
        raise calls.unsupported("of a sparse matrix with several dense ones")
    weights = calls("aten.view", self=self.values, size=(-1, *(1 for _ in others)))
    terms = calls(
        "aten.mul.Tensor", self=calls("aten.index_select", self=dense, dim=0, index=column), other=weights
    )
    nothing = calls("aten.new_zeros", self=self.values, size=(self.sizes[0], *others))
    return calls("aten.index_add", self=nothing, dim=0, index=row, source=terms)


@SPARSE.of("addmm", "_sparse_addmm")
def _addmm(
    calls: SparseCalls, self: Value, mat1: Coo | Value, mat2: Value, *, beta: Any = 1, alpha: Any = 1
) -> Ref:
    product = _product(calls, mat1, mat2)
    if alpha != 1:
        product = calls("aten.mul.Scalar", self=product, other=alpha)
    if beta == 0:
        return product
    if beta != 1:
        self = calls("aten.mul.Scalar", self=self, other=beta)
    return calls("aten.add.Tensor", self=self, other=product)


@SPARSE.of("sum", "_sparse_sum", "_sparse_sum.dtype")
def _sum(calls: SparseCalls, self: Coo, *, dtype: Any = None) -> Ref:
    return calls("aten.sum", self=self.values, dtype=dtype)


@SPARSE.of("_sparse_sum.dim", "_sparse_sum.dim_dtype")
def _sum_dims(calls: SparseCalls, self: Coo, dim: Sequence[int], *, dtype: Any = None) -> Coo | Ref:
    over = {each % len(self.sizes) for each in dim}
    of_elements = {each for each in over if each >= self.dims}
    inner = [each - self.dims + 1 for each in sorted(of_elements)]
    kept = [each for each in range(self.dims) if each not in over]
    added = inner if kept else [0, *inner]
    values = self.values if dtype is None else calls.cast(self.values, dtype)
    if added:
        values = calls("aten.sum.dim_IntList", self=values, dim=tuple(added))
    if not kept:
        return values
    sizes = tuple(size for each, size in enumerate(self.sizes) if each not in over)
    summed = replace(self, values=values, sizes=sizes)
    return summed if len(kept) == self.dims else summed.turned(calls, kept)


@SPARSE.of("sum.dim_IntList")
def _sum_dim_list(
    calls: SparseCalls, self: Coo, dim: Sequence[int] | None, keepdim: bool = False, *, dtype: Any = None
) -> Coo | Ref:
    if keepdim:
        raise calls.unsupported("of a sparse tensor that keeps dimensions")
    return _sum_dims(calls, self, dim or range(len(self.sizes)), dtype=dtype)


@SPARSE.of("permute")
def _permute(calls: SparseCalls, self: Coo, dims: Sequence[int]) -> Coo:
    order = [dim % len(self.sizes) for dim in dims]
    if sorted(order[: self.dims]) != list(range(self.dims)) or order[self.dims :] != sorted(
        order[self.dims :]
    ):
        raise calls.unsupported("of a sparse tensor's elements")
    return replace(self, sizes=tuple(self.sizes[dim] for dim in order)).turned(calls, order[: self.dims])


@SPARSE.of("transpose.int")
def _transpose(calls: SparseCalls, self: Coo, dim0: int, dim1: int) -> Coo:
    order = list(range(len(self.sizes)))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return _permute(calls, self, order)


@SPARSE.of("t")
def _t(calls: SparseCalls, self: Coo) -> Coo:
    return _permute(calls, self, range(len(self.sizes))[::-1])


@SPARSE.of("_sparse_softmax.int", "_sparse_log_softmax.int")
def _softmax_in(calls: SparseCalls, self: Coo, dim: int, dtype: Any = None) -> Coo:
    cast = self if dtype is None else replace(self, values=calls.cast(self.values, dtype))
    return _softmax(calls, cast, dim)


@SPARSE.of("_sparse_softmax", "_sparse_log_softmax")
def _softmax(calls: SparseCalls, self: Coo, dim: int, half_to_float: Value = False) -> Coo:
    """Of the elements that are held: the others count as negative infinities."""
    coo = self.coalesced(calls)
    dense = coo.onto(calls, coo.full(calls, -float("inf")), accumulate=False)
    target = calls.node.target.replace("sparse_", "").removesuffix(".int")
    made = calls(target, self=dense, dim=dim, half_to_float=half_to_float)
    return replace(coo, values=coo.of(calls, made))


# Graphs


def in_pairs(program: g.ExportedGraph, source: str) -> g.ExportedGraph:
    """The program without sparse tensors. Raises `UnsupportedError` for operators that are not known of them."""
    if not any(map(_is_sparse, program.graph.values.values())):
        return program
    counted: list[Expr] = []
    graph = _InPairs(program.graph, source, _free_symbols(program), counted).graph()
    ranges = {**program.range_constraints, **{str(symbol): (0, None) for symbol in counted}}
    return replace(program, graph=graph, range_constraints=ranges)


def _is_sparse(meta: g.ValueMeta | None) -> bool:
    return isinstance(meta, g.TensorMeta) and meta.layout.name.startswith("sparse_")


def _free_symbols(program: g.ExportedGraph) -> Iterator[Expr]:
    """Numbers that depend on data, of names that the program has not."""
    tensors = (meta for meta in program.graph.values.values() if isinstance(meta, g.TensorMeta))
    taken = symbols_of(size_of(size) for tensor in tensors for size in tensor.sizes)
    taken |= program.range_constraints.keys()
    return (Expr.symbol(name) for number in count() if (name := f"u{number}") not in taken)


class _InPairs(GraphRewriter):
    def __init__(self, graph: g.Graph, source: str, symbols: Iterator[Expr], counted: list[Expr]):
        super().__init__(graph)
        self.source, self.symbols, self.counted = source, symbols, counted
        self.pairs: dict[str, Coo] = {}

    def of(self, graph: g.Graph) -> _InPairs:
        return _InPairs(graph, self.source, self.symbols, self.counted)

    def graph(self) -> g.Graph:
        graph = super().graph()
        values = {name: meta for name, meta in graph.values.items() if name not in self.pairs}
        return replace(graph, values=values) if self.pairs else graph

    def new_count(self) -> Expr:
        """A number of elements that depends on data."""
        self.counted.append(next(self.symbols))
        return self.counted[-1]

    def rewritten(self, node: g.Node) -> Iterator[g.Node]:
        names = {name for item in node.inputs for name in g.references(item.value)}
        taken, made = (
            {name for name in group if name and _is_sparse(self.values.get(name))}
            for group in (names, node.result_names)
        )
        if not taken and not made:
            yield self.within(node)
            return
        calls = SparseCalls(node, self.values, rewriter=self)
        function = SPARSE.get(node.target)
        if function is None or not taken <= self.pairs.keys():
            raise at_node(calls.unsupported("of a sparse tensor"), self.source, node)
        result = called(
            function, calls, ((item.name, self.pair(item.value)) for item in node.inputs), self.source
        )
        if isinstance(result, Coo):
            [name] = made
            self.pairs[name] = result
            is_returned = any(name in g.references(output) for output in self.before.outputs)
            result = result.dense(calls) if is_returned else None
        yield from under_names(calls, (result,))

    def pair(self, value: Value) -> Coo | Value:
        return self.pairs.get(value.name, value) if isinstance(value, Ref) else value
