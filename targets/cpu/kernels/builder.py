"""Building kernels as operations: loops, threads, vectors and memory, in the scf, omp, arith, math, vector and memref dialects.

`KernelBuilder` fills the blocks of one function. An index is a Python int as long as it is known, so that arithmetic on constants
costs nothing and the function stays short; or an expression of the program's symbols, computed at the function's top; else an SSA
value. Constants stand there too, each once. Operations are made by `create`, without looking at their types again: thousands
are made for a model, whenever its code is not in the cache. What they are is verified in tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from typing_extensions import TypeIs
from xdsl.dialects import arith, func, llvm, memref, omp, scf, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StridedLayoutAttr,
    StringAttr,
    UnitAttr,
    VectorType,
    f16,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim, Expr, max_, min_, prod
from xdsl_exir.lowering.arithmetic import SYMBOLS, SizesOf
from xdsl_exir.lowering.reassociation import groups_attr
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.vector_builder import (
    ELEMENT_TYPES,
    OperationBuilder,
    predicate,
    type_of,
    vector_type,
)
from xdsl_exir.targets.cpu.kernels.description import WORTHWHILE
from xdsl_exir.targets.cpu.kernels.description import memref as memref_type

Index = int | Expr | SSAValue
"""A known number, one that the program's symbols say, or an SSA value of type index."""

INDEX = IndexType()
OF_WIDENED = (arith.MaximumfOp, arith.MinimumfOp, vectors.CmpfOp, arith.DivfOp)


def intrinsic(name: str, operands: int) -> Mapping[str, Attribute]:
    """The properties of a call of an intrinsic of LLVM."""
    return {
        "intrin": StringAttr(name),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, [operands, 0]),
        "fastmathFlags": llvm.FastMathAttr(None),
        "op_bundle_sizes": DenseArrayBase.from_list(i32, []),
    }


FENCE = intrinsic("llvm.arithmetic.fence", 1)
"""It gives what it takes, and says no more of it."""
ADD_PAIRS = intrinsic("llvm.x86.avx512bf16.dpbf16ps.512", 3)
Mask = SSAValue | None
"""Which lanes are there; None if all are."""
Piece = tuple[Index, int, Mask]
"""Where a vector of a row begins, how many elements it has, and which of them are there."""


def is_of_half(value: SSAValue) -> bool:
    """Whether a vector's floats are widened ones of float16."""
    made = value.owner
    if not isinstance(made, vectors.ExtFOp) or not isinstance(value.type, VectorType):
        return False
    return vector_type(made.operands[0]).element_type == f16


def is_known(value: Index) -> TypeIs[int | Expr]:
    """Whether a number is known before the kernel's loops run."""
    return not isinstance(value, SSAValue)


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def power_of_two(a: int) -> int:
    """The smallest power of two that is not smaller."""
    return 1 << (a - 1).bit_length()


def collapse(shape: Sequence[Dim]) -> Sizes:
    """The shape with its last two dimensions as one."""
    return (*shape[:-2], prod(shape[-2:]))


class KernelSizes(SizesOf):
    """Sizes at a kernel's top, whose numbers are the kernel's constants."""

    def __init__(self, builder: KernelBuilder, symbols: Mapping[str, SSAValue]):
        super().__init__(builder.entry, symbols)
        self.builder = builder

    def number(self, value: int) -> SSAValue:
        return self.builder.number(value)


class KernelBuilder(OperationBuilder):
    """Builds one function. Its arguments are symbols, each an index, and then buffers, by name."""

    def __init__(self, symbols: Sequence[str], types: Mapping[str, MemRefType[Any]]) -> None:
        self.entry = Block(arg_types=[*[INDEX] * len(symbols), *types.values()])
        super().__init__(self.entry)
        self.sizes = KernelSizes(self, dict(zip(symbols, self.entry.args, strict=False)))
        self.buffers: dict[str, SSAValue] = dict(zip(types, self.entry.args[len(symbols) :], strict=True))
        self.numbers: dict[int, SSAValue] = {}

    def function(self, name: str, public: bool = False) -> func.FuncOp:
        """The whole function: for C if `public`, else to be called from the module it is in."""
        self.block.add_op(func.ReturnOp.create())
        first = self.entry.first_op
        assert first is not None
        self.entry.insert_ops_before(self.constants, first)
        made = func.FuncOp(
            name,
            ([arg.type for arg in self.entry.args], []),
            Region(self.entry),
            visibility=None if public else "private",
        )
        if self.sizes.symbols:
            made.attributes[SYMBOLS] = ArrayAttr([StringAttr(symbol) for symbol in self.sizes.symbols])
        if public:
            made.attributes["llvm.emit_c_interface"] = UnitAttr()
        else:
            made.attributes["passthrough"] = ArrayAttr([StringAttr("noinline")])
        return made

    def number(self, value: int) -> SSAValue:
        """A known index."""
        if value not in self.numbers:
            self.numbers[value] = self.top(
                arith.ConstantOp, INDEX, properties={"value": IntegerAttr(value, INDEX)}
            )
        return self.numbers[value]

    def index(self, value: Index) -> SSAValue:
        if isinstance(value, int):
            return self.number(value)
        return self.sizes.index(value) if isinstance(value, Expr) else value

    def indices(self, values: Sequence[Index]) -> list[SSAValue]:
        return [self.index(value) for value in values]

    def op(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        type: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """Adds an operation with one result; the result. Of what compares or divides halves LLVM is not to see that they are halves, widened: it would
        take the halves themselves, which most processors cannot compare but in eight times as long; and they divide these in twice as long."""
        if kind in OF_WIDENED:
            operands = [self.fenced(value) if is_of_half(value) else value for value in operands]
        return super().op(kind, operands, type, properties)

    def fenced(self, value: SSAValue) -> SSAValue:
        """A float of which LLVM does not know what made it."""
        return self.op(llvm.CallIntrinsicOp, [value], value.type, FENCE)

    # Arithmetic on indices.

    def _arith(self, kind: type[Operation], a: Index, b: Index) -> SSAValue:
        return self.op(kind, (self.index(a), self.index(b)), INDEX)

    def add(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return a + b
        if a == 0 or b == 0:
            return a if b == 0 else b
        return self._arith(arith.AddiOp, a, b)

    def sub(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return a - b
        return a if b == 0 else self._arith(arith.SubiOp, a, b)

    def mul(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return a * b
        if a == 1 or b == 1:
            return a if b == 1 else b
        return 0 if a == 0 or b == 0 else self._arith(arith.MuliOp, a, b)

    def div(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return a // b
        return a if b == 1 else self._arith(arith.DivUIOp, a, b)

    def rem(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return a % b
        return 0 if b == 1 else self._arith(arith.RemUIOp, a, b)

    def min(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return min_(a, b)
        return self._arith(arith.MinUIOp, a, b)

    def max(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return max_(a, b)
        return self._arith(arith.MaxUIOp, a, b)

    def chosen(self, condition: SSAValue, this: Index, other: Index) -> SSAValue:
        """This index where an i1 holds, else the other."""
        return self.op(arith.SelectOp, [condition, *self.indices([this, other])], INDEX)

    def to_float(self, value: Index, dtype: str) -> SSAValue:
        """An index as a float."""
        if isinstance(value, int):
            return self.constant(float(value), dtype)
        number = self.op(arith.IndexCastOp, [self.index(value)], ELEMENT_TYPES["i64"])
        return self.op(vectors.SIToFPOp, [number], ELEMENT_TYPES[dtype])

    def compare(self, name: str, a: Index, b: Index) -> SSAValue:
        """The i1 of a comparison, by arith.cmpi's predicates."""
        operands = self.index(a), self.index(b)
        return self.op(vectors.CmpiOp, operands, ELEMENT_TYPES["i1"], predicate(vectors.CmpiOp, name))

    def compare_integers(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """The same of values."""
        return self.op(vectors.CmpiOp, (a, b), ELEMENT_TYPES["i1"], predicate(vectors.CmpiOp, name))

    def delinearize(self, index: Index, extents: Sequence[Dim]) -> list[Index]:
        """The coordinates of a flat index, last extent fastest."""
        found: list[Index] = []
        for extent in reversed(extents[1:]):
            found.append(self.rem(index, extent))
            index = self.div(index, extent)
        return [*([index] if extents else []), *reversed(found)]

    # Loops.

    @contextmanager
    def loop(self, start: Index, stop: Index) -> Generator[Index]:
        """`for i in range(start, stop)`; without a loop when it is known to run once."""
        if isinstance(start, int) and isinstance(stop, int) and stop - start == 1:
            yield start
            return
        bounds = self.indices([start, stop, 1])
        body = Block(arg_types=[INDEX])
        with self.inside(body):
            yield body.args[0]
            self.insert(scf.YieldOp)
        self.insert(scf.ForOp, bounds, [Region(body)])

    def reduce(
        self,
        count: Index,
        carried: list[SSAValue],
        body: Callable[[Index, list[SSAValue]], list[SSAValue]],
        block: int = 0,
        combine: Sequence[type[Operation]] = (),
    ) -> list[SSAValue]:
        """`for i in range(count): carried = body(i, carried)`; without a loop when it runs once. In blocks of so many turns, if there
        are more: each begins with what is `carried` at first, a neutral element, and is combined with those before it."""
        if count == 1:
            return body(0, carried)
        if isinstance(count, int) and 0 < block < count:
            blocks, rest = divmod(count, block)

            def one(i: Index, before: list[SSAValue]) -> list[SSAValue]:
                first = self.mul(i, block)
                made = self.reduce(block, carried, lambda j, held: body(self.add(first, j), held))
                pairs = zip(combine, before, made, strict=True)
                return [self.op(kind, [old, new], old.type) for kind, old, new in pairs]

            made = self.reduce(blocks, carried, one)
            return (
                self.reduce(rest, made, lambda j, held: body(self.add(j, blocks * block), held))
                if rest
                else made
            )
        bounds, types = self.indices([0, count, 1]), [value.type for value in carried]
        nest = Block(arg_types=[INDEX, *types])
        with self.inside(nest):
            self.insert(scf.YieldOp, body(nest.args[0], list(nest.args[1:])))
        made = scf.ForOp.create(operands=[*bounds, *carried], result_types=types, regions=[Region(nest)])
        self.block.add_op(made)
        return list(made.results)

    @contextmanager
    def when(self, a: Index, name: str, b: Index) -> Generator[None]:
        """`if a <predicate> b:`, with arith.cmpi's predicates."""
        with self.when_true(self.compare(name, a, b)):
            yield

    @contextmanager
    def when_true(self, condition: SSAValue) -> Generator[None]:
        """`if condition:`, of an i1."""
        body = Block()
        with self.inside(body):
            yield
            self.insert(scf.YieldOp)
        self.insert(scf.IfOp, [condition], [Region(body), Region()])

    def span(self, part: Index, count: Dim, parts: Index) -> tuple[Index, Index]:
        """Where one of `parts` about as large parts of so many begins, and where the next one does."""
        first, last = (self.div(self.mul(at, count), parts) for at in (part, self.add(part, 1)))
        return first, last

    @contextmanager
    def share(self, tasks: Dim, threads: int, work: Dim = WORTHWHILE) -> Generator[tuple[Index, Index]]:
        """(worker, task) for each of `tasks` equal tasks, contiguous ranges of them to `threads` workers.

        A worker runs on one thread, so it may have a buffer of its own. Of fewer tasks than threads the first workers have one (`teams` looks at
        theirs), else the last have one more: the last task is often a part of one. All run on one where symbols say that there is little `work`, in operations.
        """
        if threads == 1:
            with self.loop(0, tasks) as task:
                yield 0, task
            return
        enough = [self.compare("sge", work, WORTHWHILE)] if isinstance(work, Expr) else []
        workers = self.min(tasks, threads)
        parallel, shared, nest = Block(), Block(), Block(arg_types=[INDEX])
        with self.inside(nest):
            worker = nest.args[0]
            with self.loop(*self.span(worker, tasks, workers)) as task:
                yield worker, task
            self.insert(omp.YieldOp)
        with self.inside(shared):
            self.insert(omp.LoopNestOp, self.indices([0, workers, 1]), [Region(nest)])
        with self.inside(parallel):
            none = DenseArrayBase.from_list(i32, [0] * 7)
            self.insert(omp.WsLoopOp, (), [Region(shared)], operandSegmentSizes=none)
            self.insert(omp.TerminatorOp)
        counts = DenseArrayBase.from_list(i32, [0, 0, len(enough), 0, 0, 0])
        self.insert(omp.ParallelOp, enough, [Region(parallel)], operandSegmentSizes=counts)

    # Memory.

    def mask_below(self, lanes: int, active: Index) -> Mask:
        """The mask of the first `active` lanes, of which there may be more; None when it is known that all are."""
        type = type_of("i1", lanes)
        if not isinstance(active, int):
            return self.op(vector.CreateMaskOp, [self.index(active)], type)
        if active >= lanes:
            return None
        sizes = DenseArrayBase.from_list(i64, [active])
        return self.op(vectors.ConstantMaskOp, (), type, {"mask_dim_sizes": sizes})

    def load(
        self, buffer: SSAValue, at: Sequence[Index], lanes: int, mask: Mask = None, dtype: str = "f32"
    ) -> SSAValue:
        """A vector of consecutive elements; lanes that the mask leaves out are 0 and their memory is not touched."""
        place, type = [buffer, *self.indices(at)], type_of(dtype, lanes)
        if mask is None:
            return self.op(vector.LoadOp, place, type, {})
        zero = self.constant(0 if dtype.startswith("i") else 0.0, dtype, lanes)
        return self.op(vector.MaskedLoadOp, [*place, mask, zero], type)

    def load_number(self, buffer: SSAValue, at: Sequence[Index], dtype: str = "f32") -> SSAValue:
        """One element."""
        return self.op(memref.LoadOp, [buffer, *self.indices(at)], type_of(dtype))

    def position(self, value: SSAValue) -> SSAValue:
        """An integer as an index; 0 if it is negative."""
        zero = self.constant(0, str(value.type))
        return self.op(arith.IndexCastOp, [self.op(arith.MaxSIOp, [value, zero], value.type)], INDEX)

    def store_number(self, value: SSAValue, buffer: SSAValue, at: Sequence[Index]) -> None:
        """Stores one element."""
        self.insert(memref.StoreOp, [value, buffer, *self.indices(at)])

    def broadcast(self, value: SSAValue, lanes: int, dtype: str = "f32") -> SSAValue:
        """A number in all lanes."""
        return self.op(vector.BroadcastOp, [value], type_of(dtype, lanes))

    def broadcast_load(
        self, buffer: SSAValue, at: Sequence[Index], lanes: int, dtype: str = "f32"
    ) -> SSAValue:
        """One element in all lanes."""
        return self.broadcast(self.load_number(buffer, at, dtype), lanes, dtype)

    def prefetch(self, buffer: SSAValue, at: Sequence[Index]) -> None:
        """Asks the second-level cache for the line of an element that is read soon."""
        self.insert(
            vectors.PrefetchOp,
            [buffer, *self.indices(at)],
            isWrite=BoolAttr(False, i1),
            localityHint=IntegerAttr(2, i32),
            isDataCache=BoolAttr(True, i1),
        )

    def flat(self, buffer: SSAValue) -> SSAValue:
        """The view of a buffer, of known sizes, whose elements lie one after the other, that has one dimension."""
        given = cast("MemRefType[Any]", buffer.type)
        shape, layout = given.get_shape(), given.layout
        if isinstance(layout, StridedLayoutAttr):
            layout = StridedLayoutAttr(
                [1], layout.offset.data if isinstance(layout.offset, IntAttr) else None
            )
        type = MemRefType(given.element_type, [math.prod(shape)], layout)
        one = {"reassociation": groups_attr([[*range(len(shape))]])}
        return self.op(memref.CollapseShapeOp, [buffer], type, one)

    def store(self, value: SSAValue, buffer: SSAValue, at: Sequence[Index], mask: Mask = None) -> None:
        """Stores a vector to consecutive elements, but for lanes that the mask leaves out."""
        indices = self.indices(at)
        if mask is None:
            self.insert(vector.StoreOp, [value, buffer, *indices])
        else:
            self.insert(vector.MaskedStoreOp, [buffer, *indices, mask, value])

    # Vectors.

    def widened(self, value: SSAValue, dtype: str) -> SSAValue:
        """A vector's elements, floating-point or signed, in a dtype that has them all."""
        given = vector_type(value)
        type = type_of(dtype, given.get_shape()[0])
        if given == type:
            return value
        if not isinstance(given.element_type, IntegerType):
            return self.op(vectors.ExtFOp, [value], type)
        if dtype.startswith("i"):
            return self.op(vectors.ExtSIOp, [value], type)
        wide = self.op(vectors.ExtSIOp, [value], type_of(dtype.replace("f", "i"), given.get_shape()[0]))
        return self.op(vectors.SIToFPOp, [wide], type)

    def halved(self, value: SSAValue, dtype: str, lanes: int) -> SSAValue:
        """Halves of float32, vectors or with 0 lanes a number, which hold halves; of bfloat16 it is the upper half."""
        if dtype == "f16":
            return self.op(vectors.TruncFOp, [value], type_of(dtype, lanes))
        bits = self.op(arith.BitcastOp, [value], type_of("i32", lanes), {})
        bits = self.op(arith.ShRUIOp, [bits, self.constant(16, "i32", lanes)], type_of("i32", lanes), {})
        half = self.op(vectors.TruncIOp, [bits], type_of("i16", lanes), {})
        return self.op(arith.BitcastOp, [half], type_of(dtype, lanes), {})

    def fma(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        return self.op(vector.FMAOp, (a, b, c), c.type)

    def bitcast(self, value: SSAValue, dtype: str, lanes: int) -> SSAValue:
        """The bits of a vector as so many elements of another dtype."""
        return self.op(vector.BitcastOp, [value], type_of(dtype, lanes), {})

    def add_pairs(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        """a[2i] * b[2i] + a[2i + 1] * b[2i + 1] + c[i], of bfloat16 that lie in pairs in vectors of float32's size."""
        [lanes] = vector_type(c).get_shape()
        pairs = [self.bitcast(value, "bf16", 2 * lanes) for value in (a, b)]
        return self.op(llvm.CallIntrinsicOp, [c, *pairs], c.type, ADD_PAIRS)

    def multiply_add(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        """a * b + c; of integers what wraps around."""
        if not isinstance(vector_type(c).element_type, IntegerType):
            return self.fma(a, b, c)
        return self.op(arith.AddiOp, (self.op(arith.MuliOp, (a, b), c.type), c), c.type)

    def shuffle(self, a: SSAValue, b: SSAValue, lanes: int, order: Sequence[int]) -> SSAValue:
        mask = DenseArrayBase.from_list(i64, list(order))
        return self.op(
            vector.ShuffleOp, (a, b), VectorType(vector_type(a).element_type, [len(order)]), {"mask": mask}
        )

    def every(self, value: SSAValue, step: int, first: int) -> SSAValue:
        """Every so many-th lane of a vector, from one on."""
        [lanes] = vector_type(value).get_shape()
        return value if step == 1 else self.shuffle(value, value, lanes, range(first, lanes, step))

    def transpose(self, rows: list[SSAValue], lanes: int) -> list[SSAValue]:
        """Rows of a matrix, a power of two of them, to vectors that hold its columns one after the other.

        By perfect shuffles: each round interleaves the first half of the
        rows with the second, which rotates the bits of an element's address by one.
        """
        half = len(rows) // 2
        orders = [
            [source for lane in range(start, start + lanes // 2) for source in (lane, lane + lanes)]
            for start in (0, lanes // 2)
        ]
        for _ in range(half.bit_length()):
            rows = [
                self.shuffle(rows[i], rows[i + half], lanes, order) for i in range(half) for order in orders
            ]
        return rows

    def columns(self, rows: list[SSAValue], lanes: int) -> Iterator[tuple[int, int, int, SSAValue]]:
        """The columns of a matrix of any number of rows, in pieces (column, first row, rows, vector).

        A piece may reach beyond the last row: its rows are a power of two.
        """
        padded = power_of_two(len(rows))
        packed = self.transpose([*rows, *[rows[-1]] * (padded - len(rows))], lanes)
        size = min(padded, lanes)
        for piece in range(padded * lanes // size):
            column, row = divmod(piece * size, padded)
            if row < len(rows):
                vector, lane = divmod(piece * size, lanes)
                value = packed[vector] if size == lanes else self.slice(packed[vector], lane, size)
                yield column, row, size, value

    def in_pairs(self, kind: type[Operation], values: Sequence[SSAValue]) -> SSAValue:
        """Values of one type combined two by two, and those so on: errors of a sum grow with the logarithm of how many there are."""
        left = list(values)
        while len(left) > 1:
            pairs = zip(left[::2], left[1::2], strict=False)
            odd = left[-1:] if len(left) % 2 else []
            left = [self.op(kind, pair, pair[0].type) for pair in pairs] + odd
        return left[0]

    def slice(self, value: SSAValue, start: int, size: int, dtype: str = "f32") -> SSAValue:
        """Lanes start, start + 1, ... of a vector."""
        bounds = {"offsets": start, "sizes": size, "strides": 1}
        properties = {name: ArrayAttr([IntegerAttr(number, i64)]) for name, number in bounds.items()}
        return self.op(vectors.ExtractStridedSliceOp, [value], type_of(dtype, size), properties)

    def part(self, buffer: SSAValue, offsets: Sequence[Index], sizes: Sequence[Dim]) -> SSAValue:
        """The view of so many of a buffer's elements from these offsets on."""
        given = cast("MemRefType[Any]", buffer.type)
        known = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
        dynamic = self.indices([size for size in sizes if not isinstance(size, int)])
        layout = StridedLayoutAttr(given.get_strides() or [], None)
        properties = {
            "static_offsets": DenseArrayBase.from_list(i64, [DYNAMIC_INDEX] * len(offsets)),
            "static_sizes": DenseArrayBase.from_list(i64, known),
            "static_strides": DenseArrayBase.from_list(i64, [1] * len(sizes)),
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, len(offsets), len(dynamic), 0]),
        }
        type = MemRefType(given.element_type, known, layout)
        return self.op(memref.SubviewOp, [buffer, *self.indices(offsets), *dynamic], type, properties)

    @contextmanager
    def seeing(self, buffers: Mapping[str, SSAValue]) -> Generator[None]:
        """What is built sees these buffers by their names."""
        own, self.buffers = self.buffers, dict(buffers)
        yield
        self.buffers = own

    # Memory, in rows.

    def pieces(self, count: Dim, lanes: int) -> Iterator[Piece]:
        """(offset, size, mask) of the vectors that cover `count` elements, in a loop where there are many."""
        full, rest = count // lanes, count % lanes
        if isinstance(full, int) and full <= 8:
            yield from ((i * lanes, lanes, None) for i in range(full))
        else:
            with self.loop(0, full) as i:
                yield self.mul(i, lanes), lanes, None
        if isinstance(rest, Expr):
            yield full * lanes, lanes, self.mask_below(lanes, rest)
        elif rest:
            yield full * lanes, rest, None

    def fill(
        self,
        buffer: SSAValue,
        at: Sequence[Index],
        count: Dim,
        lanes: int,
        value: float = 0.0,
        dtype: str = "f32",
    ) -> None:
        """One number in `count` consecutive elements."""
        for offset, size, mask in self.pieces(count, lanes):
            place = [*at[:-1], self.add(at[-1], offset)]
            self.store(self.constant(value, dtype, size), buffer, place, mask)

    def copy(
        self,
        source: tuple[SSAValue, Sequence[Index]],
        target: tuple[SSAValue, Sequence[Index]],
        count: Dim,
        lanes: int,
    ) -> None:
        """`count` consecutive elements; source and target are (buffer, index of the first)."""
        for offset, size, mask in self.pieces(count, lanes):
            (buffer, at), (to, to_at) = source, target
            value = self.load(buffer, [*at[:-1], self.add(at[-1], offset)], size, mask)
            self.store(value, to, [*to_at[:-1], self.add(to_at[-1], offset)], mask)

    def collapse_pixels(self, name: str, source: str, shape: Sequence[Dim], dtype: str = "f32") -> None:
        """Names the view of a buffer whose last two dimensions, height and width, are one."""
        rank = len(shape)
        groups = [*([i] for i in range(rank - 2)), [rank - 2, rank - 1]]
        self.buffers[name] = self.op(
            memref.CollapseShapeOp,
            [self.buffers[source]],
            memref_type(collapse(shape), dtype),
            {"reassociation": groups_attr(groups)},
        )
