"""Building linalg on tensors: elementwise maps, reductions and reshapings over PyTorch's tensors.

Loop bodies see numbers in the dtype they compute in (`scalar`). Every `linalg.generic` has one result.
Sizes may be symbolic (`sizes`); in bodies they are numbers like others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod as math_prod
from typing import TypeAlias

from xdsl.dialects import arith, math, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.dialects.complex import CreateOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Bool, Category, DType
from xdsl_exir.dialects.expr import Dim, Expr, prod
from xdsl_exir.dialects.upstream import CopyOp, ReshapeOp
from xdsl_exir.errors import ExirError
from xdsl_exir.lowering import body_types
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.arithmetic import IndexArithmetic
from xdsl_exir.lowering.body_types import PARTS, TWICE, complex_type, compute_dtype, sum_dtype
from xdsl_exir.lowering.compensated import compensated, total_of
from xdsl_exir.lowering.reassociation import (
    broadcast_map,
    expansion,
    groups_attr,
    has_several_symbolic,
    reassociation,
)
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes, compute
from xdsl_exir.lowering.tensors import (
    Tensor,
    load,
    places,
    read,
    static_size,
    storage_type,
    store,
    tensor_of,
)

Body: TypeAlias = (
    Callable[[Scalar], Scalar]
    | Callable[[Scalar, Scalar], Scalar]
    | Callable[[Scalar, Scalar, Scalar], Scalar]
    | Callable[[Scalar, Scalar, Scalar, Scalar], Scalar]
)
"""What happens to elements, however many: written out so that the parameters of lambdas have types."""


def dims(count: int) -> list[AffineExpr]:
    """The loop indices d0, d1, ..."""
    return [AffineExpr.dimension(index) for index in range(count)]


BLOCK = 16
"""Elements that are added up one after the other where sums are no wider: so the error of a long sum is that of a short one."""


def itself(x: Scalar) -> Scalar:
    """The term that a sum takes of an element unless it is told another."""
    return x


def is_empty(whole: Sizes, offsets: Sequence[Dim | SSAValue], part: Sequence[Dim]) -> bool:
    """Whether a rectangular part certainly has no elements: one that begins at the end has none, whatever its sizes are."""
    places = zip(whole, offsets, strict=True)
    return 0 in part or any(isinstance(a, int) and isinstance(b, int) and a <= b for a, b in places)


class LinalgBuilder(IndexArithmetic):
    """Inserts operations before an operation of the program being lowered."""

    def __init__(
        self,
        insert: Callable[[Operation], None],
        symbol: Callable[[str], SSAValue] | None = None,
        around: LinalgBuilder | None = None,
    ):
        self._insert, self._symbol, self._around = insert, symbol, around
        """For the body of a loop, what builds around it."""
        self._sizes: dict[Dim | str, SSAValue] = {}

    def add(self, op: Operation) -> SSAValue:
        """Inserts an operation and gives its result."""
        self._insert(op)
        return op.results[0]

    def accumulator(self, dtype: DType) -> DType:
        """What sums of products accumulate in."""
        return sum_dtype(dtype)

    # sizes

    def size(self, size: Dim) -> SSAValue:
        """A size as an `index` value, which stands before all loops."""
        if self._around is not None:
            return self._around.size(size)
        if size not in self._sizes:
            self._sizes[size] = compute(size, self)
        return self._sizes[size]

    def mixed(self, sizes: Sequence[Dim | SSAValue]) -> list[SSAValue | int]:
        """Sizes, those that are symbolic as values."""
        return [size if isinstance(size, int | SSAValue) else self.size(size) for size in sizes]

    def dynamic(self, sizes: Sequence[Dim]) -> list[SSAValue]:
        """Values of the sizes that are symbolic."""
        return [self.size(size) for size in sizes if not isinstance(size, int)]

    def bit_length(self, size: Dim) -> SSAValue:
        """How many binary digits a size has, an `index` value."""
        number = self.add(arith.IndexCastOp(self.size(size), i64))
        rest = self.add(math.CountLeadingZerosOp(number))
        return self.binary("subi", self.size(64), self.add(arith.IndexCastOp(rest, IndexType())))

    def symbol(self, name: str) -> SSAValue:
        if name not in self._sizes:
            if self._symbol is None:
                raise ExirError(f"the symbol {name} is not known")
            self._sizes[name] = self._symbol(name)
        return self._sizes[name]

    # making tensors

    def empty(self, shape: Sizes, dtype: DType) -> SSAValue:
        return self.add(tensor.EmptyOp(self.dynamic(shape), tensor_of(shape, dtype)))

    def constant(self, value: complex, dtype: DType) -> SSAValue:
        """A number in the form that tensors hold it in."""
        if dtype.category is Category.COMPLEX:
            whole = complex(value)
            parts = [self.constant(part, PARTS[dtype]) for part in (whole.real, whole.imag)]
            return self.add(CreateOp(parts[0], parts[1], complex_type(dtype)))
        value = bool(value) if dtype is Bool else value
        assert not isinstance(value, complex)
        type = storage_type(dtype)
        if isinstance(type, AnyFloat):
            return self.add(arith.ConstantOp(FloatAttr(float(value), type)))
        number = body_types.integer_of(value, dtype)
        return self.add(arith.ConstantOp(IntegerAttr(number, IntegerType(dtype.bits), truncate_bits=True)))

    def fill(self, value: complex | Expr, shape: Sizes, dtype: DType) -> Tensor:
        """A tensor full of one number, which may be computed from sizes."""
        if isinstance(value, Expr) or dtype.category is Category.COMPLEX:  # xDSL's linalg.fill takes none

            def number(*_: SSAValue) -> Scalar:
                return s.constant(value, compute_dtype(dtype))

            return self.indexed(number, shape, dtype)
        fill = self.constant(value, dtype)
        init = self.empty(shape, dtype)
        return Tensor(self.add(linalg.FillOp((fill,), (init,), (init.type,))), shape, dtype)

    # loops

    def generic(
        self,
        inputs: Sequence[tuple[Tensor, AffineMap]],
        init: Tensor,
        output_map: AffineMap,
        iterators: Sequence[str],
        body: Body,
    ) -> Tensor:
        """A `linalg.generic` with one result. `body` gets the inputs' elements and the result's so far, each in the
        dtype it computes in, and gives the result's new element."""
        op = linalg.GenericOp(
            [t.value for t, _ in inputs],
            [init.value],
            Region(self.body([t for t, _ in inputs], init, body)),
            [AffineMapAttr(m) for _, m in inputs] + [AffineMapAttr(output_map)],
            ArrayAttr([IteratorTypeAttr(IteratorType(kind)) for kind in iterators]),
            [init.value.type],
        )
        return Tensor(self.add(op), init.shape, init.dtype)

    def body(self, inputs: Sequence[Tensor], init: Tensor, body: Body) -> Block:
        """What a `linalg.generic` does to elements: those of the inputs, and the result's so far."""
        tensors = [*inputs, init]
        block = Block(arg_types=[storage_type(t.dtype) for t in tensors])
        with s.body(block, self.size):
            args = [load(arg, t.dtype) for arg, t in zip(block.args, tensors, strict=True)]
            result = s.cast(body(*args), compute_dtype(init.dtype))
            linalg.YieldOp(store(result, init.dtype))
        return block

    def elementwise(self, body: Body, inputs: Sequence[Tensor], shape: Sizes, dtype: DType) -> Tensor:
        """A map over elements; inputs broadcast to `shape`."""
        maps = [(t, broadcast_map(t.shape, shape)) for t in inputs]

        def without_result(*elements: Scalar) -> Scalar:
            return body(*elements[:-1])

        init = Tensor(self.empty(shape, dtype), shape, dtype)
        return self.generic(
            maps,
            init,
            AffineMap.identity(len(shape)),
            ["parallel"] * len(shape),
            without_result,
        )

    def indexed(
        self,
        body: Callable[..., Scalar],
        shape: Sizes,
        dtype: DType,
        inputs: Sequence[tuple[Tensor, AffineMap]] = (),
    ) -> Tensor:
        """A tensor whose elements `body` computes from those of inputs and from their indices (`index` values)."""
        init = Tensor(self.empty(shape, dtype), shape, dtype)

        def at(*elements: Scalar) -> Scalar:
            return body(*elements[:-1], *[linalg.IndexOp(dim).results[0] for dim in range(len(shape))])

        return self.generic(inputs, init, AffineMap.identity(len(shape)), ["parallel"] * len(shape), at)

    def update(
        self,
        into: Tensor,
        over: Sizes,
        step: Callable[..., tuple[Sequence[Scalar | SSAValue], Scalar]],
    ) -> Tensor:
        """`into` with one element replaced at each point of an index space, in order. `step` gets the tensor so far and
        the point's indices (`index` values), and gives the element's place and its new value."""

        def replace(so_far: SSAValue, *at: SSAValue) -> SSAValue:
            place, value = step(Tensor(so_far, into.shape, into.dtype), *at)
            element = store(s.cast(value, compute_dtype(into.dtype)), into.dtype)
            return tensor.InsertOp(element, so_far, places(place)).result

        return self.in_order(into, over, replace)

    def update_where(
        self,
        into: Tensor,
        over: Sizes,
        step: Callable[..., tuple[Scalar, Sequence[Scalar | SSAValue], Scalar]],
        combine: Callable[[Scalar, Scalar], Scalar] | None,
    ) -> Tensor:
        """The same where `step` says so, which gets the point's indices and gives that, the element's place, and the new value or what is
        combined with the one that stands there."""

        def replace(so_far: SSAValue, *at: SSAValue) -> SSAValue:
            where, place, value = step(*at)
            there, elsewhere = Block(), Block()
            with s.body(elsewhere, self.size):
                scf.YieldOp(so_far)
            with s.body(there, self.size):
                if combine is not None:
                    value = combine(read(Tensor(so_far, into.shape, into.dtype), place), value)
                element = store(s.cast(value, compute_dtype(into.dtype)), into.dtype)
                scf.YieldOp(tensor.InsertOp(element, so_far, places(place)).result)
            return scf.IfOp(where.value, [so_far.type], [there], [elsewhere]).results[0]

        return self.in_order(into, over, replace)

    def in_order(self, into: Tensor, over: Sizes, step: Callable[..., SSAValue]) -> Tensor:
        """`into` after what `step` does to it at each point of an index space, in order: it gets the tensor's value so far and the point's
        indices, and gives its new value."""
        space = over or (1,)
        zero, one, *sizes = map(self.size, (0, 1, *space))

        def nest(so_far: SSAValue, indices: list[SSAValue]) -> SSAValue:
            if len(indices) == len(space):
                return step(so_far, *indices[: len(over)])
            block = Block(arg_types=[IndexType(), into.value.type])
            with s.body(block, self.size):
                scf.YieldOp(nest(block.args[1], [*indices, block.args[0]]))
            return scf.ForOp(zero, sizes[len(indices)], one, [so_far], block).results[0]

        result = nest(into.value, [])
        assert isinstance(result.owner, Operation)
        return Tensor(self.add(result.owner), into.shape, into.dtype)

    def steps(
        self,
        count: Dim | SSAValue,
        state: Sequence[Tensor],
        step: Callable[[LinalgBuilder, Scalar, list[Tensor]], Sequence[Tensor]],
        backward: bool = False,
        in_place: bool = False,
    ) -> list[Tensor]:
        """Tensors that `step` makes from the last ones, from `state` on, for each number from 0 to `count`, or `backward`.

        What a loop carries has to stay in its buffer: results, which a step makes while it reads those before, are copied; but
        not those that are the last ones with a part replaced, `in_place`.
        """
        first, last, one = (x if isinstance(x, SSAValue) else self.size(x) for x in (0, count, 1))
        block = Block(arg_types=[IndexType(), *(tensor.value.type for tensor in state)])
        inside = LinalgBuilder(block.add_op, around=self)
        before = [Tensor(arg, t.shape, t.dtype) for arg, t in zip(block.args[1:], state, strict=True)]
        with s.body(block, self.size):
            number = s.from_index(block.args[0])
            number = s.constant(last, dt.Long) - 1 - number if backward else number
        after = step(inside, number, before)
        pairs = zip(after, before, strict=True)
        kept = [new.value if in_place else inside.replace(old, new) for new, old in pairs]
        block.add_op(scf.YieldOp(*kept))
        loop = scf.ForOp(first, last, one, [tensor.value for tensor in state], block)
        self.add(loop)
        return [Tensor(value, t.shape, t.dtype) for value, t in zip(loop.results, state, strict=True)]

    def replace(self, old: Tensor, new: Tensor) -> SSAValue:
        """A tensor's elements in the buffer of another one."""
        return self.add(CopyOp([new.value], [old.value]))

    def reduce(
        self,
        combine: Callable[[Scalar, Scalar], Scalar],
        input: Tensor,
        over: Sequence[int],
        initial: bool | int | float,
        dtype: DType,
    ) -> Tensor:
        """A reduction over dimensions, which the result keeps with size 1. Accumulates in `dtype`."""
        accumulator = compute_dtype(dtype)
        return self.fold(
            lambda total, x: combine(total, s.cast(x, accumulator)), [input], over, initial, dtype
        )

    def fold(
        self,
        combine: Body,
        inputs: Sequence[Tensor],
        over: Sequence[int],
        initial: bool | int | float,
        dtype: DType,
        join: Body | None = None,
    ) -> Tensor:
        """A reduction of several tensors, which broadcast to the first. `combine` gets the result so far, which
        accumulates in what `dtype` computes in, and one element of each in the dtype they compute in.

        What `join` makes one of two results (sums, products) is reduced in blocks where `dtype` is no wider than elements
        are, if it is known how many there are; sums of an unknown number keep what they round off.
        """
        source, rank = inputs[0].shape, inputs[0].ndim
        sizes = [size for dim in over if isinstance(size := source[dim], int)]
        narrow = inputs[0].dtype is dtype and dtype in TWICE.values()
        if join and narrow and len(sizes) == len(over) and math_prod(sizes) > BLOCK:
            return self._fold_in_blocks(combine, inputs, over, initial, dtype, join)
        if join is s.add and narrow and dtype is dt.Double and len(sizes) < len(over):
            pairs = self.fold(compensated(combine), inputs, over, 0, dt.ComplexDouble)
            return self.elementwise(total_of, [pairs], pairs.shape, dtype)
        shape = tuple(1 if dim in over else size for dim, size in enumerate(source))
        kept = tuple(size for dim, size in enumerate(source) if dim not in over)
        indices = dims(rank)

        def result_first(*elements: Scalar) -> Scalar:
            return combine(elements[-1], *elements[:-1])

        if not over:
            # Not a loop that reads what it writes: mlir-opt 22 fuses one without reductions into loops that run it many times.
            def of_one(*elements: Scalar) -> Scalar:
                return combine(s.constant(initial, compute_dtype(dtype)), *elements)

            return self.convert(self.elementwise(of_one, inputs, shape, compute_dtype(dtype)), dtype)

        reduced = self.generic(
            [(input, broadcast_map(input.shape, source)) for input in inputs],
            self.fill(initial, kept, compute_dtype(dtype)),
            AffineMap(rank, 0, tuple(indices[dim] for dim in range(rank) if dim not in over)),
            ["reduction" if dim in over else "parallel" for dim in range(rank)],
            result_first,
        )
        return self.convert(self.reshape(reduced, shape), dtype)

    def _fold_in_blocks(
        self,
        combine: Body,
        inputs: Sequence[Tensor],
        over: Sequence[int],
        initial: bool | int | float,
        dtype: DType,
        join: Body,
    ) -> Tensor:
        """A reduction of which at most `BLOCK` elements follow one another: along the longest dimension first, in blocks."""
        shape = inputs[0].shape
        size, dim = max((size, dim) for dim in over if isinstance(size := shape[dim], int))
        if size <= BLOCK:
            sums = self.fold(combine, inputs, [dim], initial, dtype)
            return self.fold(join, [sums], [other for other in over if other != dim], initial, dtype, join)

        def part(start: int, *sizes: int) -> list[Tensor]:
            """The elements from a place of the dimension on, which becomes dimensions of these sizes."""
            return [self._split(input, dim - len(shape), start, sizes) for input in inputs]

        blocks, rest = divmod(size, BLOCK)
        sums = self.fold(combine, part(0, blocks, BLOCK), [dim + 1], initial, dtype)
        sums = self.reshape(sums, (*shape[:dim], blocks, *shape[dim + 1 :]))
        total = self.fold(join, [sums], over, initial, dtype, join)
        if not rest:
            return total
        end = self.fold(combine, part(size - rest, rest), over, initial, dtype, join)
        return self.elementwise(join, [total, end], total.shape, dtype)

    def _split(self, input: Tensor, dim: int, start: int, sizes: Sequence[int]) -> Tensor:
        """Elements from a place of a dimension (counted from the last) on, as dimensions of these sizes; a dimension of size 1
        that broadcasts becomes as many."""
        if -dim > input.ndim:
            return input
        dim += input.ndim
        lead, last = input.shape[:dim], input.shape[dim + 1 :]
        if input.shape[dim] == 1:
            return self.reshape(input, (*lead, *[1] * len(sizes), *last))
        offsets = [start if axis == dim else 0 for axis in range(input.ndim)]
        taken = self.slice(input, offsets, (*lead, prod(sizes), *last), [1] * input.ndim)
        return self.reshape(taken, (*lead, *sizes, *last))

    def sum(
        self, input: Tensor, over: Sequence[int], term: Callable[..., Scalar] = itself, *others: Tensor
    ) -> Tensor:
        """The sum over dimensions, which stay with size 1, of elements, or of a `term` of each and of those of `others`,
        which broadcast: not rounded yet, in the dtype that sums accumulate in."""
        wide = sum_dtype(input.dtype)

        def add(total: Scalar, *elements: Scalar) -> Scalar:
            return total + s.cast(term(*elements), wide)

        return self.fold(add, [input, *others], over, 0, wide, s.add)

    def convert(self, input: Tensor, dtype: DType) -> Tensor:
        """A tensor in another dtype."""
        if input.dtype is dtype:
            return input
        return self.elementwise(lambda x: s.cast(x, compute_dtype(dtype)), [input], input.shape, dtype)

    # reshaping

    def reshape(self, input: Tensor, shape: Sizes) -> Tensor:
        """The same elements in another shape."""
        if input.shape == shape:
            return input
        if 0 in shape:
            return Tensor(self.empty(shape, input.dtype), shape, input.dtype)
        groups = reassociation(input.shape, shape)
        coarse = tuple(prod(input.shape[dim] for dim in group) for group in groups)
        if has_several_symbolic(input.shape, groups) or has_several_symbolic(shape, expansion(coarse, shape)):
            return self._reshape(input, shape)
        collapsed = self._collapse(input, groups)
        return collapsed if collapsed.shape == shape else self._expand(collapsed, shape)

    def _reshape(self, input: Tensor, shape: Sizes) -> Tensor:
        """In one step, of which MLIR knows less."""
        sizes = [self.size(size) for size in shape]
        list_of_sizes = self.add(
            tensor.FromElementsOp(*sizes, result_type=TensorType(IndexType(), [len(shape)]))
        )
        op = ReshapeOp(operands=[input.value, list_of_sizes], result_types=[tensor_of(shape, input.dtype)])
        return Tensor(self.add(op), shape, input.dtype)

    def _collapse(self, input: Tensor, groups: list[list[int]]) -> Tensor:
        shape = tuple(prod(input.shape[dim] for dim in group) for group in groups)
        if shape == input.shape:
            return input
        op = tensor.CollapseShapeOp(
            operands=[input.value],
            result_types=[tensor_of(shape, input.dtype)],
            properties={"reassociation": groups_attr(groups)},
        )
        return Tensor(self.add(op), shape, input.dtype)

    def _expand(self, input: Tensor, shape: Sizes) -> Tensor:
        if not input.ndim:  # xDSL's tensor.expand_shape starts from rank 1
            return self.broadcast(input, shape)
        groups = expansion(input.shape, shape)
        # A symbolic size may expand to numbers alone, or the other way round: MLIR wants to read the same on both sides.
        input = self.retyped(input, tuple(prod(shape[dim] for dim in group) for group in groups))
        sizes = list(map(static_size, shape))
        op = tensor.ExpandShapeOp(
            input.value, self.dynamic(shape), groups_attr(groups), sizes, tensor_of(shape, input.dtype)
        )
        return Tensor(self.add(op), shape, input.dtype)

    def retyped(self, input: Tensor, sizes: Sizes) -> Tensor:
        """The tensor with its sizes written otherwise."""
        if input.shape == sizes:
            return input
        type = tensor_of(sizes, input.dtype)
        value = input.value if input.value.type == type else self.add(tensor.CastOp(input.value, type))
        return Tensor(value, sizes, input.dtype)

    def permute(self, input: Tensor, order: Sequence[int]) -> Tensor:
        """Dimensions in another order: dimension i of the result is `order[i]` of the input."""
        if list(order) == list(range(input.ndim)):
            return input
        shape = tuple(input.shape[dim] for dim in order)
        indices = dims(input.ndim)
        input_map = AffineMap(
            input.ndim, 0, tuple(indices[list(order).index(dim)] for dim in range(input.ndim))
        )
        init = Tensor(self.empty(shape, input.dtype), shape, input.dtype)
        return self.copy(input, input_map, init)

    def broadcast(self, input: Tensor, shape: Sizes) -> Tensor:
        """The input repeated along dimensions of size 1, and along new leading ones."""
        if input.shape == shape:
            return input
        init = Tensor(self.empty(shape, input.dtype), shape, input.dtype)
        return self.copy(input, broadcast_map(input.shape, shape), init)

    def copy(self, input: Tensor, input_map: AffineMap, init: Tensor) -> Tensor:
        """The elements of `input` that a map of the result's indices picks."""
        rank = init.ndim
        return self.generic(
            [(input, input_map)], init, AffineMap.identity(rank), ["parallel"] * rank, lambda x, _: x
        )

    def slice(
        self, input: Tensor, offsets: Sequence[Dim], sizes: Sequence[Dim], strides: Sequence[Dim]
    ) -> Tensor:
        """A rectangular part."""
        shape = tuple(sizes)
        if is_empty(input.shape, offsets, shape):  # of these MLIR takes no slices
            return Tensor(self.empty(shape, input.dtype), shape, input.dtype)
        op = tensor.ExtractSliceOp(
            input.value,
            self.mixed(offsets),
            self.mixed(shape),
            self.mixed(strides),
            tensor_of(shape, input.dtype),
        )
        return Tensor(self.add(op), shape, input.dtype)

    def insert(
        self,
        part: Tensor,
        into: Tensor,
        offsets: Sequence[Dim | SSAValue],
        strides: Sequence[Dim] | None = None,
    ) -> Tensor:
        """`into` with a rectangular part replaced, of one in the leading dimensions that the part does not have."""
        sizes = (*[1] * (into.ndim - part.ndim), *part.shape)
        if is_empty(into.shape, offsets, sizes):
            return into
        # By its parts: the constructor takes numbers only.
        lists = [self.mixed(each) for each in (offsets, sizes, strides or [1] * into.ndim)]
        op = tensor.InsertSliceOp.build(
            operands=[part.value, into.value, *([x for x in one if not isinstance(x, int)] for one in lists)],
            result_types=[into.value.type],
            properties={
                name: DenseArrayBase.from_list(i64, [x if isinstance(x, int) else DYNAMIC_INDEX for x in one])
                for name, one in zip(("static_offsets", "static_sizes", "static_strides"), lists, strict=True)
            },
        )
        return Tensor(self.add(op), into.shape, into.dtype)

    def pad(self, input: Tensor, low: Sequence[Dim], high: Sequence[Dim], value: complex) -> Tensor:
        """The input with a border of one number; borders are not negative."""
        if not any(low) and not any(high):
            return input
        shape = tuple(a + size + b for a, size, b in zip(low, input.shape, high, strict=True))
        return self.insert(input, self.fill(value, shape, input.dtype), low)
