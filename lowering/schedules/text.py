"""Writing kernels as MLIR text: SSA names, loops and vectors, in the scf, omp, arith, vector and memref dialects.

`Text` collects the body of one function. An index is a Python int as long as it is known, so that arithmetic on constants
costs nothing and the text stays short; or an expression of the program's symbols, computed at the function's top, of which the
symbols become the first arguments; else the name of an SSA value. What kernels have in common lives here: the machine
they are made for, the operands of an epilogue, and how work is shared out to threads. The kernels themselves do not.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from struct import pack

from typing_extensions import TypeIs

from xdsl_exir.dialects.expr import Dim, Expr, ceildiv, max_, min_, prod
from xdsl_exir.lowering.sizes import Sizes, compute

Index = int | Expr | str
"""A known number, one that the program's symbols say, or the name of an SSA value of type index."""


WORTHWHILE = 1_000_000
"""Operations from which on they repay a parallel region, which costs a few microseconds."""


@dataclass(frozen=True)
class Machine:
    """What a schedule has to know: float32 lanes of a vector register, how many registers, how many threads."""

    lanes: int = 16
    registers: int = 32
    threads: int = 1

    @property
    def rows(self) -> int:
        """Rows of a register tile that is two vectors wide: half of the registers accumulate in a tile."""
        return self.registers // 4


@dataclass(frozen=True)
class Input:
    """A further operand of an epilogue: broadcast against the kernel's result by NumPy's rule.

    With strides and offset (in elements) it is a view; its last dimension must be contiguous all the same.
    """

    shape: Sizes
    dtype: str = "f32"
    strides: Sizes | None = None
    offset: Dim = 0

    @property
    def type(self) -> str:
        return memref(self.shape, self.dtype, self.strides, self.offset)


@dataclass(frozen=True)
class Epilogue:
    """What happens to a result before it is stored.

    `body` gets the text to write to, the float32 vector of results, the vectors of the inputs (same lanes, each of its own
    dtype), and the number of lanes, and returns the vector to store. It may use arith and math.
    """

    inputs: tuple[Input, ...] = ()
    body: Callable[[Text, str, Sequence[str], int], str] = lambda text, value, inputs, lanes: value


def memref(
    shape: Sequence[Dim], dtype: str = "f32", strides: Sequence[Dim] | None = None, offset: Dim = 0
) -> str:
    """A memref type; contiguous without strides (in elements)."""
    layout = layout_text(strides, offset) if strides is not None else ""
    return f"memref<{''.join(f'{static(size)}x' for size in shape)}{dtype}{layout}>"


def layout_text(strides: Sequence[Dim], offset: Dim) -> str:
    """The layout in a memref type."""
    start = f", offset: {static(offset)}" if offset else ""
    return f", strided<[{', '.join(map(static, strides))}]{start}>"


def static(size: Dim) -> str:
    """A size as types have it: not known if symbolic."""
    return str(size) if isinstance(size, int) else "?"


def symbol_name(symbol: str) -> str:
    """The name of a symbol's value."""
    return f"%sym_{symbol}"


def literal(value: float | bool) -> str:
    """A number as MLIR reads it; a float32 by its bits where decimals do not say it."""
    if isinstance(value, bool):
        return str(int(value))
    if isfinite(value):
        return f"{value:.9e}"
    return f"0x{int.from_bytes(pack('>f', value)):08X}"


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def is_known(value: Index) -> TypeIs[int | Expr]:
    """Whether a number is known before the kernel's loops run."""
    return not isinstance(value, str)


def power_of_two(a: int) -> int:
    """The smallest power of two that is not smaller."""
    return 1 << (a - 1).bit_length()


def collapse(shape: Sequence[Dim]) -> Sizes:
    """The shape with its last two dimensions as one."""
    return (*shape[:-2], prod(shape[-2:]))


@dataclass(frozen=True)
class Split:
    """`total` cut into blocks of at most `limit`, nearly equal: `large` blocks of `size`, the rest of one less.

    A symbolic total is cut into blocks of one size, of which the last one overlaps the one before: `limit`, or less if there is not as much.
    """

    total: Dim
    limit: int

    @property
    def count(self) -> Dim:
        """Number of blocks."""
        if isinstance(self.total, int):
            return ceil_div(self.total, self.limit)
        count: Dim = 0
        for _, _, blocks in self.kinds:
            count = count + blocks
        return count

    @property
    def kinds(self) -> list[tuple[int, Dim, Dim]]:
        """(size, first block, one past its last block), for the one or two sizes there are."""
        if not isinstance(self.total, int):
            sizes = dict.fromkeys(size for size in (self.limit, self.limit // 2, 1) if size)
            larger: Dim = 0
            choices: list[tuple[int, Dim, Dim]] = []
            for size in sizes:
                fits = min_(self.total // size, 1)
                choices.append((size, 0, ceildiv(self.total, size) * (fits - larger)))
                larger = fits
            return choices
        blocks = ceil_div(self.total, self.limit)
        size = ceil_div(self.total, blocks) if blocks else 0
        large = self.total - blocks * (size - 1)
        kinds = [(size, 0, large), (size - 1, large, blocks)]
        return [kind for kind in kinds if kind[1] < kind[2]]

    def start(self, text: Text, block: Index, size: int) -> Index:
        """First element of `block`, which is of size `size`."""
        if not isinstance(self.total, int):
            return text.min(text.mul(block, size), text.sub(self.total, size)) if size > 1 else block
        largest, _, large = self.kinds[0]
        # Blocks of one less start `large` later.
        return text.add(text.mul(block, size), large if size < largest else 0)


class Text:
    """The body of a function in the making."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, str] = {}
        self.sizes: dict[Expr, str] = {}
        self.preamble: list[str] = []
        """What computes sizes, before everything else."""
        self.symbols: set[str] = set()
        self.turns: set[str] = set()
        """Symbols that loops of the function count with: what depends on them is computed where it is used."""
        self.late = False
        self.counter = 0
        self.depth = 1

    # Values.

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def fresh(self) -> str:
        self.counter += 1
        return f"%{self.counter}"

    def op(self, text: str) -> str:
        """Writes an operation with one result; the result's name."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        return name

    def constant(self, literal: str, type_: str) -> str:
        """A constant, once per function, at its top."""
        return self.constants.setdefault(f"arith.constant {literal} : {type_}", f"%c{len(self.constants)}")

    def index(self, value: Index) -> str:
        if isinstance(value, Expr):
            if self.turns and value.free_symbols() & self.turns:
                self.late = True
                name = compute(value, self)
                self.late = False
                return name
            if value not in self.sizes:
                self.sizes[value] = compute(value, self)
            return self.sizes[value]
        return self.constant(str(value), "index") if isinstance(value, int) else value

    # What sizes are computed with.

    def number(self, value: int) -> str:
        return self.index(value)

    def symbol(self, name: str) -> str:
        self.symbols.add(name)
        return symbol_name(name)

    def early(self, text: str) -> str:
        """Writes an operation at the function's top, unless it depends on a loop; the name of its result."""
        if self.late:
            return self.op(text)
        self.preamble.append(f"  %z{len(self.preamble)} = {text}")
        return f"%z{len(self.preamble) - 1}"

    def binary(self, name: str, a: str, b: str) -> str:
        return self.early(f"arith.{name} {a}, {b} : index")

    def scaled(self, a: str, factor: float) -> str:
        real = self.early(f"arith.sitofp {self.early(f'arith.index_cast {a} : index to i64')} : i64 to f64")
        constant = self.early(f"arith.constant {factor:.17e} : f64")
        whole = self.early(f"arith.fptosi {self.early(f'arith.mulf {real}, {constant} : f64')} : f64 to i64")
        return self.early(f"arith.index_cast {whole} : i64 to index")

    def choose(self, predicate: str, a: str, b: str, yes: str, no: str) -> str:
        condition = self.early(f"arith.cmpi {predicate}, {a}, {b} : index")
        return self.early(f"arith.select {condition}, {yes}, {no} : index")

    def vector(self, literal: str, lanes: int, dtype: str = "f32") -> str:
        return self.constant(f"dense<{literal}>", f"vector<{lanes}x{dtype}>")

    # Arithmetic on indices.

    def _arith(self, name: str, a: Index, b: Index) -> str:
        return self.op(f"arith.{name} {self.index(a)}, {self.index(b)} : index")

    def add(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return a + b
        if a == 0 or b == 0:
            return a if b == 0 else b
        return self._arith("addi", a, b)

    def sub(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return a - b
        return a if b == 0 else self._arith("subi", a, b)

    def mul(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return a * b
        if a == 1 or b == 1:
            return a if b == 1 else b
        return 0 if a == 0 or b == 0 else self._arith("muli", a, b)

    def div(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return a // b
        return a if b == 1 else self._arith("divui", a, b)

    def rem(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return a % b
        return 0 if b == 1 else self._arith("remui", a, b)

    def min(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return min_(a, b)
        return self._arith("minui", a, b)

    def max(self, a: Index, b: Index) -> Index:
        if is_known(a) and is_known(b):
            return max_(a, b)
        return self._arith("maxui", a, b)

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
        i = self.fresh()
        self.line(f"scf.for {i} = {self.index(start)} to {self.index(stop)} step {self.index(1)} {{")
        self.depth += 1
        yield i
        self.depth -= 1
        self.line("}")

    def reduce(
        self,
        count: Index,
        carried: list[str],
        types: Sequence[str],
        body: Callable[[Index, list[str]], list[str]],
    ) -> list[str]:
        """`for i in range(count): carried = body(i, carried)`; without a loop when it runs once."""
        if count == 1:
            return body(0, carried)
        i, result = self.fresh(), self.fresh()
        names = [self.fresh() for _ in carried]
        inits = ", ".join(f"{name} = {value}" for name, value in zip(names, carried, strict=True))
        all_types = ", ".join(types)
        steps = f"{self.index(0)} to {self.index(count)} step {self.index(1)}"
        self.line(f"{result}:{len(carried)} = scf.for {i} = {steps} iter_args({inits}) -> ({all_types}) {{")
        self.depth += 1
        self.line(f"scf.yield {', '.join(body(i, names))} : {all_types}")
        self.depth -= 1
        self.line("}")
        return [f"{result}#{position}" for position in range(len(carried))]

    @contextmanager
    def when(self, a: Index, predicate: str, b: Index) -> Generator[None]:
        """`if a <predicate> b:`, with arith.cmpi's predicates."""
        condition = self._arith(f"cmpi {predicate},", a, b)
        self.line(f"scf.if {condition} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    @contextmanager
    def share(self, tasks: Dim, threads: int, work: Dim = WORTHWHILE) -> Generator[tuple[Index, Index]]:
        """(worker, task) for each of `tasks` equal tasks, contiguous ranges of them to `threads` workers.

        A worker runs on one thread, so it may have a buffer of its own. All run on one where symbols say that there is little
        `work`, in operations.
        """
        if threads == 1:
            with self.loop(0, tasks) as task:
                yield 0, task
            return
        worker = self.fresh()
        enough = f" if({self._arith('cmpi sge,', work, WORTHWHILE)})" if isinstance(work, Expr) else ""
        steps = f"({self.index(0)}) to ({self.index(threads)}) step ({self.index(1)})"
        for opened in (f"parallel{enough}", "wsloop", f"loop_nest ({worker}) : index = {steps}"):
            self.line(f"omp.{opened} {{")
            self.depth += 1
        first = self.div(self.mul(worker, tasks), threads)
        last = self.div(self.mul(self.add(worker, 1), tasks), threads)
        with self.loop(first, last) as task:
            yield worker, task
        for ends in (["omp.yield"], [], ["omp.terminator"]):
            for end in ends:
                self.line(end)
            self.depth -= 1
            self.line("}")

    # Memory.

    def _at(self, buffer: str, indices: Sequence[Index]) -> str:
        return f"{buffer}[{', '.join(self.index(i) for i in indices)}]"

    def mask_below(self, lanes: int, active: Index) -> str | None:
        """The mask of the first `active` lanes, of which there may be more; None when it is known that all are."""
        if not isinstance(active, int):
            return self.op(f"vector.create_mask {self.index(active)} : vector<{lanes}xi1>")
        if active >= lanes:
            return None
        return self.op(f"vector.constant_mask [{active}] : vector<{lanes}xi1>")

    def load(
        self,
        buffer: str,
        type_: str,
        indices: Sequence[Index],
        lanes: int,
        mask: str | None = None,
        dtype: str = "f32",
    ) -> str:
        """A vector of consecutive elements; lanes that the mask leaves out are 0 and their memory is not touched."""
        vector = f"vector<{lanes}x{dtype}>"
        at = self._at(buffer, indices)
        if mask is None:
            return self.op(f"vector.load {at} : {type_}, {vector}")
        zero = self.vector("0.0" if dtype.startswith(("f", "bf")) else "0", lanes, dtype)
        return self.op(
            f"vector.maskedload {at}, {mask}, {zero} : {type_}, vector<{lanes}xi1>, {vector} into {vector}"
        )

    def broadcast_load(
        self, buffer: str, type_: str, indices: Sequence[Index], lanes: int, dtype: str = "f32"
    ) -> str:
        """One element in all lanes."""
        scalar = self.op(f"memref.load {self._at(buffer, indices)} : {type_}")
        return self.op(f"vector.broadcast {scalar} : {dtype} to vector<{lanes}x{dtype}>")

    def store(
        self,
        value: str,
        buffer: str,
        type_: str,
        indices: Sequence[Index],
        lanes: int,
        mask: str | None = None,
        dtype: str = "f32",
    ) -> None:
        at, vector = self._at(buffer, indices), f"vector<{lanes}x{dtype}>"
        if mask is None:
            self.line(f"vector.store {value}, {at} : {type_}, {vector}")
        else:
            self.line(f"vector.maskedstore {at}, {mask}, {value} : {type_}, vector<{lanes}xi1>, {vector}")

    def fma(self, a: str, b: str, c: str, lanes: int) -> str:
        return self.op(f"vector.fma {a}, {b}, {c} : vector<{lanes}xf32>")

    def shuffle(self, a: str, b: str, lanes: int, order: Sequence[int]) -> str:
        pair = f"vector<{lanes}xf32>, vector<{lanes}xf32>"
        return self.op(f"vector.shuffle {a}, {b} [{', '.join(map(str, order))}] : {pair}")

    def transpose(self, rows: list[str], lanes: int) -> list[str]:
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

    def columns(self, rows: list[str], lanes: int) -> Iterator[tuple[int, int, int, str]]:
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
                value = packed[vector] if size == lanes else self.slice(packed[vector], lanes, lane, size)
                yield column, row, size, value

    def slice(self, value: str, lanes: int, start: int, size: int, dtype: str = "f32") -> str:
        """Lanes start, start + 1, ... of a vector."""
        bounds = f"{{offsets = [{start}], sizes = [{size}], strides = [1]}}"
        return self.op(
            f"vector.extract_strided_slice {value} {bounds} : vector<{lanes}x{dtype}> to vector<{size}x{dtype}>"
        )

    # Memory, in rows.

    def pieces(self, count: Dim, lanes: int) -> Iterator[tuple[Index, int, str | None]]:
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

    def fill(self, buffer: str, type_: str, at: Sequence[Index], count: Dim, lanes: int) -> None:
        """Zeros in `count` consecutive elements."""
        for offset, size, mask in self.pieces(count, lanes):
            place = [*at[:-1], self.add(at[-1], offset)]
            self.store(self.vector("0.0", size), buffer, type_, place, size, mask)

    def copy(
        self,
        source: tuple[str, str, Sequence[Index]],
        target: tuple[str, str, Sequence[Index]],
        count: Dim,
        lanes: int,
    ) -> None:
        """`count` consecutive elements; source and target are (buffer, type, index of the first)."""
        for offset, size, mask in self.pieces(count, lanes):
            (buffer, type_, at), (to, to_type, to_at) = source, target
            value = self.load(buffer, type_, [*at[:-1], self.add(at[-1], offset)], size, mask)
            self.store(value, to, to_type, [*to_at[:-1], self.add(to_at[-1], offset)], size, mask)

    def collapse_pixels(self, name: str, source: str, shape: Sequence[Dim], dtype: str = "f32") -> None:
        """Names the view of a buffer whose last two dimensions, height and width, are one."""
        lead = [f"[{i}], " for i in range(len(shape) - 2)]
        groups = f"[{''.join(lead)}[{len(shape) - 2}, {len(shape) - 1}]]"
        types = f"{memref(shape, dtype)} into {memref(collapse(shape), dtype)}"
        self.line(f"{name} = memref.collapse_shape {source} {groups} : {types}")

    # The epilogue.

    def input_vector(
        self,
        buffer: str,
        operand: Input,
        extents: Sequence[Dim],
        at: Sequence[Index],
        lanes: int,
        mask: str | None,
    ) -> str:
        """The elements of an epilogue's operand that meet the result's `lanes` elements from index `at` on."""
        padded = (*[1] * (len(extents) - len(operand.shape)), *operand.shape)
        indices = [0 if size == 1 else i for size, i in zip(padded, at, strict=True)][
            len(padded) - len(operand.shape) :
        ]
        type_ = operand.type
        # With an extent of 1 there is a mask of one lane, and either way is right.
        if padded[-1] == 1:
            return self.broadcast_load(buffer, type_, indices, lanes, operand.dtype)
        return self.load(buffer, type_, indices, lanes, mask, operand.dtype)

    def finish(
        self,
        epilogue: Epilogue,
        value: str,
        extents: Sequence[Dim],
        at: Sequence[Index],
        lanes: int,
        mask: str | None = None,
        strides: Sequence[Dim] | None = None,
    ) -> None:
        """Applies the epilogue to a vector of results and stores it in %out, of these extents and strides, at index `at`."""
        inputs = [
            self.input_vector(f"%in{number}", operand, extents, at, lanes, mask)
            for number, operand in enumerate(epilogue.inputs)
        ]
        value = epilogue.body(self, value, inputs, lanes)
        self.store(value, "%out", memref(extents, strides=strides), at, lanes, mask)

    def function(
        self,
        name: str,
        arguments: Sequence[tuple[str, str]],
        public: bool,
        symbols: Sequence[str] | None = None,
    ) -> str:
        """The whole function: arguments are (name, type), behind `symbols`, by default those that are used."""
        taken = sorted(self.symbols) if symbols is None else symbols
        arguments = [*[(symbol_name(symbol), "index") for symbol in taken], *arguments]
        head = ", ".join(f"{argument}: {type_}" for argument, type_ in arguments)
        how = " attributes {llvm.emit_c_interface}" if public else ' attributes {passthrough = ["noinline"]}'
        constants = [f"  {value} = {text}" for text, value in self.constants.items()]
        lines = [
            f"func.func {'' if public else 'private '}@{name}({head}){how} {{",
            *constants,
            *self.preamble,
            *self.lines,
            "  return",
            "}",
        ]
        return "\n".join(lines) + "\n"


def workers(machine: Machine, work: Dim) -> int:
    """Threads worth starting for so many operations; all, if it is not known how many."""
    return machine.threads if isinstance(work, Expr) or work >= WORTHWHILE else 1
