"""How tensors lie in memory, and `as_strided` by elements: PyTorch's picks from memory, the IR's from its operand's elements in
row-major order.

What lies in memory as a permutation of itself is permuted first, and offsets count from where the operand starts. Of an
operand with gaps, or that overlaps itself, or that is left, the memory is that of the tensor it is a view of. Where that is
not in the graph it is not known, and the operator is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING
from zlib import crc32

from xdsl_exir.dialects import spec
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import (
    Dim,
    Expr,
    ExprError,
    Ranges,
    apply,
    condition,
    max_,
    prod,
    provably,
    provably_equal,
    to_srepr,
)
from xdsl_exir.dialects.sharing import Memory
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.rewriter import GraphRewriter, inverse, permute, permuted
from xdsl_exir.importers.views import CONJUGATIONS
from xdsl_exir.locations import text_of
from xdsl_exir.narrowing import is_sequence

if TYPE_CHECKING:
    from xdsl_exir.importers.functionalize import Mutation

Order = tuple[int, ...]

VIEWS = frozenset({"aten.as_strided", "aten.as_strided_copy"})
SCATTERS = frozenset({"aten.as_strided_scatter"})
DIAGONALS = frozenset({"aten.diagonal", "aten.linalg_diagonal"})
RESIZES = frozenset({"aten.resize", "aten.resize_", "aten.resize_as", "aten.resize_as_"})
"""Operators that give memory another shape: in the IR elements in row-major order."""


@lru_cache(maxsize=4096)
def read_expr(srepr: str) -> Dim:
    """A symbolic size of the file as expression."""
    return Expr.from_srepr(srepr)


def size_of(size: int | g.Symbolic) -> Dim:
    """A size of the file: a number or an expression."""
    return size if isinstance(size, int) else read_expr(size.srepr)


def number_of(size: int | g.Symbolic) -> int:
    """A size of the file as a number: what it was at export, of others one that has nothing in common with other symbols'.

    PyTorch decides by the former, with a guard, whether what depends on sizes gives a view.
    """
    if isinstance(size, int):
        return size
    if isinstance(size.hint, int):
        return size.hint
    expr = size_of(size)
    if isinstance(expr, int):
        return expr
    return int(expr.evaluate(usual(expr)))


def usual(expr: Expr) -> dict[str, int]:
    """Numbers for an expression's symbols, which have nothing in common."""
    return {name: _FIRST + crc32(name.encode()) % _FIRST for name in expr.free_symbols()}


_FIRST = 10007


def memory_of(meta: g.TensorMeta) -> Memory:
    """How a tensor lies in memory."""
    sizes, strides = tuple(map(number_of, meta.sizes)), tuple(map(number_of, meta.strides))
    return Memory(meta.dtype, sizes, strides, meta.device.name)


def tensor_of(meta: TensorMeta) -> g.TensorMeta:
    """A tensor of the IR as values are described, contiguous. Symbolic sizes keep their text."""
    sizes = tuple(size if isinstance(size, int) else g.Symbolic(to_srepr(size)) for size in meta.shape)
    strides: list[Dim] = [prod(meta.shape[dim + 1 :]) for dim in range(meta.ndim)]
    return g.TensorMeta(
        meta.dtype,
        sizes,
        False,
        g.Device(meta.device),
        tuple(stride if isinstance(stride, int) else g.Symbolic(to_srepr(stride)) for stride in strides),
        0,
        g.Layout("strided"),
    )


def memory_order(meta: g.TensorMeta) -> tuple[int, ...] | None:
    """Dimensions from outermost to innermost, if the tensor's elements lie in memory without gap or overlap; else None.

    Of several orders that describe the same memory (a dimension of size 1 lies anywhere) the one nearest to row-major.
    """
    return _order_of(tuple(map(size_of, meta.sizes)), tuple(map(size_of, meta.strides)))


@lru_cache(maxsize=1024)
def _order_of(sizes: tuple[Dim, ...], strides: tuple[Dim, ...]) -> tuple[int, ...] | None:
    if 0 in sizes:
        return tuple(range(len(sizes)))
    left = [dim for dim, size in enumerate(sizes) if size != 1]
    inner: list[int] = []
    while left:
        expected = prod(sizes[dim] for dim in inner)
        found = [dim for dim in left if provably_equal(strides[dim], expected)]
        if not found:
            return None
        left.remove(found[-1])
        inner.insert(0, found[-1])
    # Dimensions of size 1 stand where they do in row-major order, before the next one.
    for dim in reversed([dim for dim, size in enumerate(sizes) if size == 1]):
        place = inner.index(dim + 1) if dim + 1 in inner else len(inner)
        inner.insert(place, dim)
    return tuple(inner)


def clone_order(meta: g.TensorMeta, ranges: Ranges) -> tuple[int, ...]:
    """Dimensions from outermost to innermost in a copy that PyTorch makes of the tensor: its own order, if that is known.

    Of a tensor with gaps or overlaps, by falling strides; a stride of 0 says nothing, nor do two whose order is not known
    (`infer_dense_strides` in ATen's `ExpandUtils.cpp`). `ranges` are those of the symbols.
    """
    order = memory_order(meta)
    if order is not None:
        return order
    return iterated_order([*map(size_of, meta.sizes)], [[*map(size_of, meta.strides)]], ranges)


def iterated_order(sizes: Sequence[Dim], held: Sequence[Sequence[Dim]], ranges: Ranges) -> Order:
    """Dimensions from outermost to innermost as PyTorch walks along operands that have these strides: the first one that says how two
    dimensions lie counts (`reorder_dimensions` in ATen's `TensorIterator.cpp`)."""

    def is_inside(dim: int, other: int) -> bool | None:
        """Whether a dimension lies inside another one; None where that is open."""
        for strides in held:
            if strides[dim] == 0 or strides[other] == 0:
                continue
            if strides[dim] != strides[other]:
                return provably(apply("lt", strides[dim], strides[other]), ranges)
            if provably(apply("lt", sizes[dim], sizes[other]), ranges):
                return True
        return None

    inner = [*reversed(range(len(sizes)))]
    for start in range(1, len(inner)):
        dim = start
        for other in reversed(range(start)):
            inside = is_inside(inner[dim], inner[other])
            if inside is False:
                break
            if inside:
                inner[dim], inner[other] = inner[other], inner[dim]
                dim = other
    return tuple(reversed(inner))


def strides_in(meta: g.TensorMeta, order: tuple[int, ...]) -> tuple[int | g.Symbolic, ...]:
    """The strides of a tensor without gaps, by its dimensions from outermost to innermost. What they were at export is what the sizes were."""
    inner: dict[int, int | g.Symbolic] = {}
    stride: Dim = 1
    hint = 1
    for dim in reversed(order):
        inner[dim] = stride if isinstance(stride, int) else g.Symbolic(to_srepr(stride), hint)
        stride, hint = stride * size_of(meta.sizes[dim]), hint * number_of(meta.sizes[dim])
    return tuple(inner[dim] for dim in range(len(order)))


def viewed_by(node: g.Node, result: str) -> g.Ref | None:
    """The operand in whose memory a result of a node may lie; None if there is none."""
    known = spec.specs().get(node.target)
    if known is None or known.sharing is None:
        return None
    viewed = next((item.value for item in node.inputs if item.name == known.sharing.source), None)
    if isinstance(viewed, tuple):
        place = node.result_names.index(result)
        viewed = viewed[place] if place < len(viewed) else None
    return viewed if isinstance(viewed, g.Ref) else None


def mutation_by(target: str) -> Mutation | None:
    """What an operator of tensors writes to; None if it writes to nothing, or is not known."""
    from xdsl_exir.importers.functionalize import mutation_of
    from xdsl_exir.importers.nodes import is_known

    return mutation_of(target) if is_known(target) else None


def sees_otherwise(target: str) -> bool:
    """Whether an operator of a tensor makes that be seen in another way."""
    mutation = mutation_by(target)
    return mutation is not None and mutation.is_view


def written_by(node: g.Node, result: str) -> g.Ref | None:
    """The operand that a result of a node is, as what operators like `fill_` give; None if there is none."""
    mutation = mutation_by(node.target)
    if mutation is None or mutation.is_view or mutation.resizes:
        return None
    names = node.result_names
    place = names.index(result) - (len(names) - len(mutation.written))
    given = {item.name: item.value for item in node.inputs}
    written = given.get(mutation.written[place]) if 0 <= place < len(mutation.written) else None
    return written if isinstance(written, g.Ref) else None


def apart_unless(node: g.Node, before: g.TensorMeta, after: g.TensorMeta) -> Iterator[Expr]:
    """Conditions on sizes without which the result of a node, which is a copy, would lie in the memory of what it has a view of: that
    these are not all 1."""
    ones = _ones((*before.sizes, *before.strides))
    found: list[set[Expr]] = []
    for count in range(1, min(len(ones), _MOST_ONES) + 1):
        for sizes in combinations(ones, count):
            symbols = dict(ones[size] for size in sizes)
            if len(symbols) < count or any(known.issubset(sizes) for known in found):
                continue
            old, new = (memory_where(meta, symbols) for meta in (before, after))
            if old is not None and new is not None and shares(node, old, new):
                found.append({*sizes})
                yield condition("ne", max_(*sizes), 1)


_MOST_ONES = 3
"""So many sizes are taken to be 1 together at most."""


def _ones(given: Iterable[int | g.Symbolic]) -> dict[Expr, tuple[str, int]]:
    """Sizes that may be 1, of symbols in those given and computed of one, and by what value of which symbol they are."""
    ones: dict[Expr, tuple[str, int]] = {}
    for expr in map(size_of, given):
        if not isinstance(expr, Expr):
            continue
        names = sorted(expr.free_symbols())
        ones.update((Expr.symbol(name), (name, 1)) for name in names)
        if len(names) == 1 and expr not in ones:
            [name] = names
            value = next((value for value in range(2, _FEW) if _is_one(expr, {name: value})), None)
            if value is not None:
                ones[expr] = name, value
    return ones


_FEW = 16
"""A size that is computed of a symbol is 1 of a number less than this, if ever: as half of it and the next are."""


def _is_one(expr: Expr, symbols: Mapping[str, int]) -> bool:
    """Whether an expression is 1; where it divides by 0 it is not."""
    try:
        return expr.evaluate(symbols) == 1
    except ExprError:
        return False


def memory_where(meta: g.TensorMeta, symbols: Mapping[str, int]) -> Memory | None:
    """How a tensor lies in memory where symbols have these values, and others some that have nothing in common. Strides of one element say
    nothing, and are alike. None where a size has no value then, as one that divides by 0: such calls do not come this far."""

    def numbers(given: Sequence[int | g.Symbolic]) -> Iterator[int]:
        for expr in map(size_of, given):
            yield expr if isinstance(expr, int) else int(expr.evaluate({**usual(expr), **symbols}))

    try:
        sizes, strides = tuple(numbers(meta.sizes)), tuple(numbers(meta.strides))
    except ExprError:
        return None
    strides = tuple(1 if size == 1 else stride for size, stride in zip(sizes, strides, strict=True))
    return Memory(meta.dtype, sizes, strides, meta.device.name)


def shares(node: g.Node, before: Memory, after: Memory) -> bool:
    """Whether the result of a node with a `viewed_by` lies in the memory of that."""
    known = spec.find(node.target)
    defaults = {item.name: None if item.required else item.default for item in known.schema.arguments}
    given = {item.name: item.value for item in node.inputs}
    return known.sharing is not None and known.sharing.holds({**defaults, **given}, before, after)


def in_memory_order(graph: g.Graph) -> g.Graph:
    """The graph with each `as_strided` on elements. Raises `UnsupportedError` listing all that cannot be."""
    refused: list[Unsupported] = []
    changed = _Rewriter(graph, refused).graph()
    if refused:
        raise UnsupportedError(refused)
    return changed


REPORTS = frozenset({"aten.sym_stride.int", "aten.sym_storage_offset", "aten.sym_is_contiguous"})
"""Operators that report how their operand lies in memory: it does as it did at export, whatever the caller gives."""


def reported(node: g.Node, meta: g.ValueMeta | None) -> Dim | bool:
    """What such an operator reports of its operand. Raises `UnsupportedError` where it is not known."""
    given = {item.name: item.value for item in node.inputs}
    dim, wish = given.get("dim"), given.get("memory_format")
    if isinstance(meta, g.TensorMeta):
        if node.target == "aten.sym_storage_offset":
            return size_of(meta.storage_offset)
        if (
            node.target == "aten.sym_stride.int"
            and isinstance(dim, int)
            and -len(meta.strides) <= dim < len(meta.strides)
        ):
            return size_of(meta.strides[dim])
        order = memory_order(meta)
        known = order is not None or _numbers(meta.strides) is not None
        if (
            node.target == "aten.sym_is_contiguous"
            and known
            and wish in (None, g.MemoryFormat("contiguous_format"))
        ):
            return order == tuple(range(len(meta.sizes)))
    reason = "how its operand lies in memory is not known"
    raise UnsupportedError([_unsupported(node, reason)])


@dataclass(frozen=True)
class _Window:
    """The memory that an `as_strided` shows."""

    start: g.Value | g.Symbolic
    """Elements before it: a number, or one that the program computes."""
    length: int | None
    """Elements from its first to its last, in the example; None if they are not known."""

    @staticmethod
    def of(node: g.Node, operand: g.TensorMeta) -> _Window:
        given = {item.name: item.value for item in node.inputs}
        start = given.get("storage_offset")
        sizes, strides = (_numbers(given.get(name)) for name in ("size", "stride"))
        length = None
        if sizes is not None and strides is not None:
            ends = [(size - 1) * stride for size, stride in zip(sizes, strides, strict=False)]
            length = 0 if 0 in sizes else 1 + sum(ends)
        return _Window(operand.storage_offset if start is None else start, length)

    def is_within(self, base: g.TensorMeta) -> bool:
        """Whether a tensor without gaps had all of it in the example, as far as is known."""
        if not self.length or not isinstance(self.start, int | g.Symbolic):
            return True
        first, start = number_of(base.storage_offset), number_of(self.start)
        return first <= start and start + self.length <= first + math.prod(map(number_of, base.sizes))

    def counts_from(self, base: g.TensorMeta) -> bool:
        """Whether the graph says how many elements of a tensor lie before it; of one that starts its memory, all."""
        first = base.storage_offset
        return first == self.start or (isinstance(first, int) and not isinstance(self.start, g.Symbolic))


def _written(meta: g.TensorMeta) -> g.TensorMeta:
    """What an `as_strided_scatter` writes to: of a tensor that overlaps itself by an expansion, a copy."""
    if not any(stride == 0 and size != 1 for size, stride in zip(meta.sizes, meta.strides, strict=True)):
        return meta
    strides = dict[int, int]()
    for dim in reversed(clone_order(meta, {})):
        strides[dim] = math.prod(number_of(meta.sizes[inner]) for inner in strides)
    return replace(meta, strides=tuple(strides[dim] for dim in range(len(strides))), storage_offset=0)


def strides_of(meta: g.TensorMeta) -> str:
    return f"strides [{', '.join(str(size_of(stride)) for stride in meta.strides)}]"


def _numbers(values: object) -> list[int] | None:
    """A list of whole numbers; None if one is computed."""
    if not is_sequence(values):
        return None
    items = [item for item in values if isinstance(item, int)]
    return items if len(items) == len(values) else None


class _Rewriter(GraphRewriter):
    def __init__(self, graph: g.Graph, refused: list[Unsupported]):
        super().__init__(graph)
        self.refused = refused
        self.producers = {
            name: node for node in graph.nodes for output in node.outputs for name in g.references(output)
        }

        self.became: dict[str, str] = {}
        """Tensors that are seen in another way since, as after `transpose_`: the name that they have with it."""

    def of(self, graph: g.Graph) -> _Rewriter:
        return _Rewriter(graph, self.refused)

    def rewritten(self, node: g.Node) -> Iterator[g.Node]:
        self.see(node)
        if node.target in RESIZES:
            self.check_resize(node)
        if node.target not in VIEWS | SCATTERS:
            yield self.within(node)
            return
        source = node.inputs[0].value
        meta = self.values.get(source.name) if isinstance(source, g.Ref) else None
        if not isinstance(source, g.Ref) or not isinstance(meta, g.TensorMeta):
            yield node
            return
        if node.target in SCATTERS:
            views = [(source.name, meta := _written(meta))]
        else:
            views = [
                (name, self.tensor(name)) for name in map(self.now, self.views_of_same_memory(source.name))
            ]
        window = _Window.of(node, meta)
        if window.start == meta.storage_offset and any(
            map(self.is_empty_diagonal, (name for name, _ in views))
        ):
            self.refuse(node, "PyTorch gives an empty diagonal another place at export than when it runs")
            return
        dense = [(name, found) for name, found in views if memory_order(found) is not None]
        if not dense:
            self.refuse(node, f"its operand lies in memory with gaps or overlaps ({strides_of(meta)})")
            return
        fitting = [(name, base) for name, base in dense if window.is_within(base)]
        if not fitting:
            self.refuse(node, "it reaches memory that its operand was not seen to have")
            return
        fitting = [(name, base) for name, base in fitting if window.counts_from(base)] or fitting
        # Of a symbolic size the largest is taken: another example's may be smaller.
        name, base = next(((name, base) for name, base in fitting if _numbers(base.sizes)), fitting[-1])
        order = memory_order(base)
        assert order is not None
        node = self.from_its_start(node, window, name, base)
        source, meta = g.Ref(name), base
        if order == tuple(range(len(order))):
            yield node
            return
        after = permuted(meta, order)
        name = self.new_value(f"{node.name}_in_memory_order", after)
        yield permute(node, source.name, order, name)
        node = replace(node, inputs=(replace(node.inputs[0], value=g.Ref(name)), *node.inputs[1:]))
        if node.target in VIEWS:
            yield node
            return
        [result] = node.outputs
        assert isinstance(result, g.Ref)
        scattered = self.new_value(f"{node.name}_scattered", after)
        yield replace(node, outputs=(g.Ref(scattered),))
        yield permute(node, scattered, inverse(order), result.name)

    def see(self, node: g.Node) -> None:
        """Notes what a tensor is called after a node that makes it be seen in another way, as `transpose_` does."""
        match node:
            case g.Node(inputs=[g.NodeInput(value=g.Ref(name=name)), *_], outputs=[g.Ref(name=result), *_]):
                if isinstance(self.values.get(name), g.TensorMeta) and sees_otherwise(node.target):
                    self.became[name] = result
            case _:
                pass

    def now(self, name: str) -> str:
        """What a tensor is called by now."""
        while name in self.became:
            name = self.became[name]
        return name

    def is_empty_diagonal(self, name: str) -> bool:
        node = self.producers.get(name)
        return node is not None and node.target in DIAGONALS and 0 in self.tensor(name).sizes

    def tensor(self, name: str) -> g.TensorMeta:
        meta = self.values[name]
        assert isinstance(meta, g.TensorMeta)
        return meta

    def views_of_same_memory(self, name: str) -> Iterator[str]:
        """A tensor, and what it is a view of, outwards. Elements of another dtype lie otherwise, and conjugates differ."""
        while True:
            yield name
            node = self.producers.get(name)
            written = None if node is None else written_by(node, name)
            if written is not None:
                name = written.name
                continue
            viewed = None if node is None else viewed_by(node, name)
            if node is None or viewed is None:
                return
            before, after = self.values.get(viewed.name), self.tensor(name)
            if not isinstance(before, g.TensorMeta) or before.dtype is not after.dtype:
                return
            if node.target in CONJUGATIONS and before.dtype.category is Category.COMPLEX:
                return
            if not shares(node, memory_of(before), memory_of(after)):
                return
            name = viewed.name

    def from_its_start(self, node: g.Node, window: _Window, name: str, base: g.TensorMeta) -> g.Node:
        """The node as one of a base, with an offset that counts from the base's first element."""
        inputs = [item for item in node.inputs if item.name != "storage_offset"]
        inputs[0] = replace(inputs[0], value=g.Ref(name))
        start = window.start
        if start == base.storage_offset:
            start = 0
        elif base.storage_offset != 0 or isinstance(start, g.Symbolic):
            if not isinstance(start, int) or not isinstance(base.storage_offset, int):
                self.refuse(node, "a computed offset of an operand that does not start its memory")
            elif start < base.storage_offset:
                self.refuse(node, "it reaches memory before its operand")
            else:
                start -= base.storage_offset
        if start != 0 and not isinstance(start, g.Symbolic):
            inputs.append(g.NodeInput("storage_offset", start, False))
        return replace(node, inputs=tuple(inputs))

    def check_resize(self, node: g.Node) -> None:
        """Refuses to resize what does not lie in row-major order, before or after."""
        source = node.inputs[0].value
        meta = self.values.get(source.name) if isinstance(source, g.Ref) else None
        if isinstance(meta, g.TensorMeta) and memory_order(meta) != tuple(range(len(meta.sizes))):
            self.refuse(node, f"its operand does not lie in memory in row-major order ({strides_of(meta)})")
        wish = next((item.value for item in node.inputs if item.name == "memory_format"), None)
        if isinstance(wish, g.MemoryFormat) and wish.name != "contiguous_format":
            self.refuse(node, f"elements in the order of {wish.name}")

    def refuse(self, node: g.Node, reason: str) -> None:
        self.refused.append(_unsupported(node, reason))


def _unsupported(node: g.Node, reason: str) -> Unsupported:
    from xdsl_exir.importers.nodes import location_of

    return Unsupported(node.target, reason, text_of(location_of(node.stack_trace)))
