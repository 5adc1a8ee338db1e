"""Building linalg on tensors: elementwise maps, reductions and reshapings over PyTorch's tensors.

Tensors keep their PyTorch dtype beside the value, since the lowered types are signless: Bool and Byte are both `i8`
(`i1` buffers are bit-packed by some vector lowerings, and `arith` takes no `ui8`). Loop bodies see numbers in the dtype
they compute in (`scalar`); conversions happen where elements are read and written. Every `linalg.generic` has one result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.errors import ExirError
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.scalar import Scalar, compute_dtype

Shape = tuple[int, ...]
Body: TypeAlias = (
    Callable[[Scalar], Scalar]
    | Callable[[Scalar, Scalar], Scalar]
    | Callable[[Scalar, Scalar, Scalar], Scalar]
    | Callable[[Scalar, Scalar, Scalar, Scalar], Scalar]
)
"""What happens to elements, however many: written out so that the parameters of lambdas have types."""


def storage_type(dtype: DType) -> Attribute:
    """The element type of a lowered tensor."""
    if dtype is dt.Bool:
        return IntegerType(8)
    return s.register_type(dtype)


def static_shape(meta: TensorMeta) -> Shape:
    """The sizes of a tensor. Raises `ExirError` for symbolic ones."""
    sizes = tuple(size for size in meta.shape if not isinstance(size, Expr))
    if len(sizes) != len(meta.shape):
        raise ExirError(f"symbolic sizes {list(meta.shape)} are not lowered")
    return sizes


def lowered_type(meta: TensorMeta) -> TensorType[Attribute]:
    """The type of a tensor below edge."""
    return TensorType(storage_type(meta.dtype), static_shape(meta))


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor of the lowered program."""

    value: SSAValue
    shape: Shape
    dtype: DType

    @property
    def ndim(self) -> int:
        return len(self.shape)


def dims(count: int) -> list[AffineExpr]:
    """The loop indices d0, d1, ..."""
    return [AffineExpr.dimension(index) for index in range(count)]


class LinalgBuilder:
    """Inserts operations before an operation of the program being lowered."""

    def __init__(self, insert: Callable[[Operation], None]):
        self._insert = insert

    def add(self, op: Operation) -> SSAValue:
        """Inserts an operation and gives its result."""
        self._insert(op)
        return op.results[0]

    # making tensors

    def empty(self, shape: Shape, dtype: DType) -> SSAValue:
        return self.add(tensor.EmptyOp((), TensorType(storage_type(dtype), shape)))

    def constant(self, value: bool | int | float, dtype: DType) -> SSAValue:
        """A number in the form that tensors hold it in."""
        type = storage_type(dtype)
        if dtype.category is Category.FLOAT:
            assert isinstance(type, AnyFloat)
            return self.add(arith.ConstantOp(FloatAttr(float(value), type)))
        if dtype.category is Category.COMPLEX:
            raise ExirError("complex numbers are not lowered")
        number = int(bool(value)) if dtype is dt.Bool else int(value)
        return self.add(arith.ConstantOp(IntegerAttr(number, IntegerType(dtype.bits), truncate_bits=True)))

    def fill(self, value: bool | int | float, shape: Shape, dtype: DType) -> Tensor:
        """A tensor full of one number."""
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
        **attributes: Attribute,
    ) -> Tensor:
        """A `linalg.generic` with one result. `body` gets the inputs' elements and the result's so far, each in the
        dtype it computes in, and gives the result's new element."""
        block = Block(arg_types=[storage_type(t.dtype) for t, _ in inputs] + [storage_type(init.dtype)])
        with ImplicitBuilder(block):
            args = [
                load(arg, t.dtype) for arg, t in zip(block.args, [t for t, _ in inputs] + [init], strict=True)
            ]
            result = s.cast(body(*args), compute_dtype(init.dtype))
            linalg.YieldOp(store(result, init.dtype))
        op = linalg.GenericOp(
            [t.value for t, _ in inputs],
            [init.value],
            Region(block),
            [AffineMapAttr(m) for _, m in inputs] + [AffineMapAttr(output_map)],
            ArrayAttr([IteratorTypeAttr(IteratorType(kind)) for kind in iterators]),
            [init.value.type],
        )
        op.attributes.update(attributes)
        return Tensor(self.add(op), init.shape, init.dtype)

    def elementwise(self, body: Body, inputs: Sequence[Tensor], shape: Shape, dtype: DType) -> Tensor:
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
        shape: Shape,
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
        over: Shape,
        step: Callable[..., tuple[Sequence[Scalar | SSAValue], Scalar]],
    ) -> Tensor:
        """`into` with one element replaced at each point of an index space, in order. `step` gets the tensor so far and
        the point's indices (`index` values), and gives the element's place and its new value."""
        space = over or (1,)
        zero, one, *sizes = (
            self.add(arith.ConstantOp.from_int_and_width(n, IndexType())) for n in (0, 1, *space)
        )

        def nest(so_far: SSAValue, indices: list[SSAValue]) -> SSAValue:
            if len(indices) == len(space):
                place, value = step(Tensor(so_far, into.shape, into.dtype), *indices[: len(over)])
                element = store(s.cast(value, compute_dtype(into.dtype)), into.dtype)
                return tensor.InsertOp(element, so_far, _places(place)).result
            block = Block(arg_types=[IndexType(), into.value.type])
            with ImplicitBuilder(block):
                scf.YieldOp(nest(block.args[1], [*indices, block.args[0]]))
            return scf.ForOp(zero, sizes[len(indices)], one, [so_far], block).results[0]

        result = nest(into.value, [])
        assert isinstance(result.owner, Operation)
        return Tensor(self.add(result.owner), into.shape, into.dtype)

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
    ) -> Tensor:
        """A reduction of several tensors, which broadcast to the first. `combine` gets the result so far, which
        accumulates in `dtype`, and one element of each in the dtype they compute in."""
        source, rank = inputs[0].shape, inputs[0].ndim
        shape = tuple(1 if dim in over else size for dim, size in enumerate(source))
        kept = tuple(size for dim, size in enumerate(source) if dim not in over)
        indices = dims(rank)

        def result_first(*elements: Scalar) -> Scalar:
            return combine(elements[-1], *elements[:-1])

        reduced = self.generic(
            [(input, broadcast_map(input.shape, source)) for input in inputs],
            self.fill(initial, kept, compute_dtype(dtype)),
            AffineMap(rank, 0, tuple(indices[dim] for dim in range(rank) if dim not in over)),
            ["reduction" if dim in over else "parallel" for dim in range(rank)],
            result_first,
        )
        return self.convert(self.reshape(reduced, shape), dtype)

    def convert(self, input: Tensor, dtype: DType) -> Tensor:
        """A tensor in another dtype."""
        if input.dtype is dtype:
            return input
        return self.elementwise(lambda x: s.cast(x, compute_dtype(dtype)), [input], input.shape, dtype)

    # reshaping

    def reshape(self, input: Tensor, shape: Shape) -> Tensor:
        """The same elements in another shape."""
        if input.shape == shape:
            return input
        groups = reassociation(input.shape, shape)
        collapsed = self._collapse(input, groups)
        return collapsed if collapsed.shape == shape else self._expand(collapsed, shape)

    def _collapse(self, input: Tensor, groups: list[list[int]]) -> Tensor:
        shape = tuple(_product(input.shape[dim] for dim in group) for group in groups)
        if shape == input.shape:
            return input
        type = TensorType(storage_type(input.dtype), shape)
        op = tensor.CollapseShapeOp(
            operands=[input.value], result_types=[type], properties={"reassociation": _groups_attr(groups)}
        )
        return Tensor(self.add(op), shape, input.dtype)

    def _expand(self, input: Tensor, shape: Shape) -> Tensor:
        groups = expansion(input.shape, shape)
        type = TensorType(storage_type(input.dtype), shape)
        op = tensor.ExpandShapeOp(input.value, [], _groups_attr(groups), list(shape), type)
        return Tensor(self.add(op), shape, input.dtype)

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

    def broadcast(self, input: Tensor, shape: Shape) -> Tensor:
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
        self, input: Tensor, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
    ) -> Tensor:
        """A rectangular part."""
        shape = tuple(sizes)
        if 0 in shape:  # of empty tensors MLIR takes no slices, not even empty ones
            return Tensor(self.empty(shape, input.dtype), shape, input.dtype)
        op = tensor.ExtractSliceOp.from_static_parameters(input.value, list(offsets), shape, list(strides))
        return Tensor(self.add(op), shape, input.dtype)

    def insert(
        self, part: Tensor, into: Tensor, offsets: Sequence[int], strides: Sequence[int] | None = None
    ) -> Tensor:
        """`into` with a rectangular part replaced."""
        if 0 in part.shape:
            return into
        op = tensor.InsertSliceOp.from_static_parameters(
            part.value, into.value, list(offsets), part.shape, list(strides or [1] * part.ndim)
        )
        return Tensor(self.add(op), into.shape, into.dtype)

    def pad(
        self, input: Tensor, low: Sequence[int], high: Sequence[int], value: bool | int | float
    ) -> Tensor:
        """The input with a border of one number; borders are not negative."""
        if not any(low) and not any(high):
            return input
        shape = tuple(a + size + b for a, size, b in zip(low, input.shape, high, strict=True))
        return self.insert(input, self.fill(value, shape, input.dtype), low)


def read(input: Tensor, place: Sequence[Scalar | SSAValue]) -> Scalar:
    """The element at computed indices (integers or `index` values), inside a body. They have to be in range."""
    value = tensor.ExtractOp(input.value, _places(place), storage_type(input.dtype)).result
    return load(value, input.dtype)


def _places(place: Sequence[Scalar | SSAValue]) -> list[SSAValue]:
    return [s.to_index(x) if isinstance(x, Scalar) else x for x in place]


def load(value: SSAValue, dtype: DType) -> Scalar:
    """An element as bodies compute with it."""
    if dtype is dt.Bool:
        zero = arith.ConstantOp(IntegerAttr(0, IntegerType(8))).result
        return Scalar(arith.CmpiOp(value, zero, "ne").result, dt.Bool)
    return s.cast(Scalar(value, dtype), compute_dtype(dtype))


def store(value: Scalar, dtype: DType) -> SSAValue:
    """A computed number as tensors hold it."""
    if dtype is dt.Bool:
        return arith.ExtUIOp(value.value, IntegerType(8)).result
    return s.cast(value, dtype).value


def broadcast_map(shape: Sequence[int], target: Sequence[int]) -> AffineMap:
    """The map from a result's indices to those of an input that broadcasts to it."""
    rank, offset = len(target), len(target) - len(shape)
    indices = dims(rank)
    exprs = [
        AffineExpr.constant(0) if size == 1 and target[dim + offset] != 1 else indices[dim + offset]
        for dim, size in enumerate(shape)
    ]
    return AffineMap(rank, 0, tuple(exprs))


def _product(sizes: Any) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def _groups_attr(groups: list[list[int]]) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    return ArrayAttr([ArrayAttr([IntegerAttr(dim, i64) for dim in group]) for group in groups])


def reassociation(source: Shape, target: Shape) -> list[list[int]]:
    """Groups of the source's dimensions that collapse to a common coarser shape, from which the target expands."""
    if not source or not target:
        return []
    if 0 in source:
        return [list(range(len(source)))]
    groups: list[list[int]] = []
    i = j = 0
    while i < len(source) and j < len(target):
        group, have, want = [i], source[i], target[j]
        while have != want:
            if have < want:
                i += 1
                group.append(i)
                have *= source[i]
            else:
                j += 1
                want *= target[j]
        groups.append(group)
        i, j = i + 1, j + 1
    groups[-1] += list(range(i, len(source)))  # trailing dimensions of size 1
    return groups


def expansion(source: Shape, target: Shape) -> list[list[int]]:
    """For each dimension of the source the target's dimensions it expands to."""
    groups: list[list[int]] = []
    j = 0
    for size in source:
        group, have = [j], target[j]
        j += 1
        while have != size:
            group.append(j)
            have *= target[j]
            j += 1
        groups.append(group)
    if groups:
        groups[-1] += list(range(j, len(target)))
    return groups
