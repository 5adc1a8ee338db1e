"""The way of a 3x3 convolution with fewer products: F(2x2, 3x3), vector lanes along output channels.

    Y = A^T [(G g G^T) * (B^T d B)] A

Four outputs, a tile, come of 16 products in place of 36, with a patch of 4x4 inputs (Lavin and Gray, Fast Algorithms for Convolutional
Neural Networks, 2015; Winograd, 1980). The filters are transformed when the program is compiled. A task transforms the patches
of some rows of tiles for all input channels; then, panel by panel of output channels, it makes 16 matrix products [tiles, C] x [C, width] and
transforms these back. Its error is about that of 36 products: the sums are shorter.

Differences of infinities are no numbers where the sum of products may be one. So a task whose inputs are not all moderate computes its
outputs one by one, by the filters that the transformed ones give back.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, ceil_div, power_of_two, type_of
from xdsl_exir.targets.cpu.kernels.description import Choice, Epilogue, Machine
from xdsl_exir.targets.cpu.kernels.kernel import Split, finish
from xdsl_exir.targets.cpu.kernels.phases import copy_row
from xdsl_exir.targets.cpu.kernels.tile import Weights, register_tile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from xdsl_exir.lowering.linalg import LinalgBuilder
    from xdsl_exir.lowering.tensors import Tensor

MODERATE = 2.0**60
"""Below it inputs and transformed filters give finite sums."""

APART = 16
"""Elements between matrices in memory, so that their rows do not all go to the same set of a cache."""

TRANSFORM = 4
"""What it costs to transform inputs, in products with so many output channels."""

TILES = 32
"""Tiles of a task, about: enough to use what was loaded of the filters again, few enough for a cache to hold their inputs."""

Rows = Sequence[Sequence[SSAValue]]


class Band(NamedTuple):
    """What a task is about: rows of tiles of an image, and who does it."""

    worker: Index
    n: Index
    top: Index
    """Its first row of tiles."""
    height: Index
    """How many there are."""


@dataclass(frozen=True)
class Winograd:
    """A 3x3 convolution of stride 1: %image [N, C, H * W], %weight as `pack` makes it, %scratch, %out [N, O, HO * WO]."""

    n: Dim
    c: int
    h: int
    w: int
    o: int
    padding: tuple[int, int]
    out_size: tuple[int, int]
    lanes: int
    width: int
    """Output channels of a panel of weights."""
    epilogue: Epilogue
    machine: Machine
    threads: int
    work: Dim
    choice: Choice

    @property
    def tiles(self) -> tuple[int, int]:
        """In height and width; what reaches beyond the outputs is not stored."""
        height, width = self.out_size
        return ceil_div(height, 2), ceil_div(width, 2)

    @property
    def most(self) -> int:
        """Rows of tiles that make a task: about equal bands, of which the last one may be less."""
        height, width = self.tiles
        return ceil_div(height, ceil_div(height, max(1, (self.choice.tiles or TILES) // width)))

    @property
    def bands(self) -> list[int]:
        """How many rows of tiles each band has."""
        height, _ = self.tiles
        return [min(self.most, height - top) for top in range(0, height, self.most)]

    @property
    def panels(self) -> int:
        return ceil_div(self.o, self.width)

    @property
    def parts(self) -> int:
        """Into how many parts the panels are cut, so that threads have equal shares; each part transforms the inputs again.
        As if there were one image, if it is not known how many."""
        images = self.n if isinstance(self.n, int) else 1

        def longest(parts: int) -> float:
            tasks, cost = self.bands * images * parts, 1 / parts + TRANSFORM / self.o
            shares = [len(tasks) * worker // self.threads for worker in range(self.threads + 1)]
            return max(sum(tasks[low:high]) * cost for low, high in pairwise(shares))

        return min(range(1, min(self.panels, 2 * self.threads) + 1), key=longest)

    # The parts of a worker's scratch buffer.

    @property
    def across(self) -> int:
        """Lanes along the tiles of a row, when inputs are transformed."""
        return min(self.machine.lanes, power_of_two(self.tiles[1]))

    @property
    def reach(self) -> int:
        """Tiles of a row that vectors cover."""
        return ceil_div(self.tiles[1], self.across) * self.across

    @property
    def phase(self) -> int:
        """Elements of a padded row's half."""
        return self.reach + 1

    @property
    def pitch(self) -> int:
        """Elements from a channel of the transformed inputs to the next."""
        return (self.most - 1) * self.tiles[1] + self.reach

    @property
    def parts_of_scratch(self) -> list[int]:
        """Where begin: the rows of one channel, the transformed inputs, the products, the outputs of a panel; and where these end."""
        pixels = 4 * self.most * self.tiles[1]
        sizes = (
            (2 * self.most + 2) * 2 * self.phase,
            16 * self.inputs,
            16 * self.products,
            pixels * self.width,
        )
        return [0, *accumulate(sizes)]

    @property
    def inputs(self) -> int:
        """Elements from one of the 16 matrices of transformed inputs to the next."""
        return self.c * self.pitch + APART

    @property
    def products(self) -> int:
        """Elements from one of the 16 matrices of products to the next."""
        return self.most * self.tiles[1] * self.width + APART

    @property
    def scratch(self) -> tuple[int, int]:
        return self.threads, self.parts_of_scratch[-1]

    # The kernel's body.

    def build(self, b: KernelBuilder) -> None:
        # Beyond a row are zeros, which nobody overwrites.
        with b.share(self.threads, self.threads, self.work) as (worker, _):
            b.fill(b.buffers["scratch"], [worker, 0], self.parts_of_scratch[1], self.machine.lanes)
        tasks = (self.parts, self.n, len(self.bands))
        with b.share(prod(tasks), self.threads, self.work) as (worker, task):
            part, n, number = b.delinearize(task, tasks)
            top = b.mul(number, self.most)
            height = b.min(b.sub(self.tiles[0], top), self.most)
            at = Band(worker, n, top, height)
            moderate = self._is_moderate(b, at)
            other = b.op(arith.XOrIOp, [moderate, b.constant(True, "i1")], type_of("i1"), {})
            with b.when_true(moderate):
                self._transform(b, at)
            first, last = b.span(part, self.panels, self.parts)
            with b.loop(first, last) as panel:
                with b.when_true(moderate):
                    self._multiply(b, at, panel)
                    self._sum(b, at)
                with b.when_true(other):
                    self._one_by_one(b, at, panel)
                self._store(b, at, panel)

    def _is_moderate(self, b: KernelBuilder, at: Band) -> SSAValue:
        """Whether all inputs of a band are: as integers, floats without their signs are in order, and NaN is above infinity."""
        lanes = min(self.machine.lanes, power_of_two(self.w))
        above, down = self.padding[0], b.mul(at.top, 2)
        begin = b.sub(b.max(down, above), above)
        end = b.min(b.add(down, b.add(b.mul(at.height, 2), 2 - above)), self.h)
        count = b.mul(b.sub(end, begin), self.w)
        start, vectors = b.mul(begin, self.w), b.div(b.add(count, lanes - 1), lanes)

        def of_channel(channel: Index, most: list[SSAValue]) -> list[SSAValue]:
            def of_vector(i: Index, most: list[SSAValue]) -> list[SSAValue]:
                offset = b.min(b.mul(i, lanes), b.sub(count, lanes))
                value = b.load(b.buffers["image"], [at.n, channel, b.add(start, offset)], lanes)
                bits = b.op(vector.BitcastOp, [value], integers, {})
                size = b.op(arith.AndIOp, [bits, b.constant(0x7FFFFFFF, "i32", lanes)], integers, {})
                return [b.op(arith.MaxUIOp, [most[0], size], integers, {})]

            return b.reduce(vectors, most, of_vector)

        integers = type_of("i32", lanes)
        [most] = b.reduce(self.c, [b.constant(0, "i32", lanes)], of_channel)
        while lanes > 1:
            lanes //= 2
            halves = [b.slice(most, start, lanes, "i32") for start in (0, lanes)]
            most = b.op(arith.MaxUIOp, halves, type_of("i32", lanes), {})
        first = {"static_position": DenseArrayBase.from_list(i64, [0])}
        largest = b.op(vector.ExtractOp, [most], type_of("i32"), first)
        return b.compare_integers("ult", largest, b.constant(bits_of(MODERATE), "i32"))

    def _transform(self, b: KernelBuilder, at: Band) -> None:
        """B^T d B of a band's patches, to 16 matrices [C, tiles]."""
        scratch, matrices = b.buffers["scratch"], self.parts_of_scratch[1]
        with b.loop(0, self.c) as channel:
            with b.loop(0, b.add(b.mul(at.height, 2), 2)) as row:
                self._copy_row(b, at, channel, row)
            with b.loop(0, at.height) as row, b.loop(0, self.reach // self.across) as block:
                begin = b.add(b.mul(row, 4 * self.phase), b.mul(block, self.across))

                def load(i: int, j: int) -> SSAValue:
                    offset = (2 * i + j % 2) * self.phase + j // 2
                    return b.load(scratch, [at.worker, b.add(begin, offset)], self.across)

                patch = [[load(i, j) for j in range(4)] for i in range(4)]
                lines = transposed([differences(b, line) for line in patch])
                done = transposed([differences(b, line) for line in lines])
                tile = b.add(b.mul(row, self.tiles[1]), b.mul(block, self.across))
                place = b.add(matrices, b.add(b.mul(channel, self.pitch), tile))
                for number, value in enumerate(value for line in done for value in line):
                    b.store(value, scratch, [at.worker, b.add(place, number * self.inputs)])

    def _copy_row(self, b: KernelBuilder, at: Band, channel: Index, row: Index) -> None:
        """A row of a band's patches to the worker's buffer, of which the first may be beyond the image."""
        y, begin = b.sub(b.add(b.mul(at.top, 2), row), self.padding[0]), b.mul(row, 2 * self.phase)
        scratch, lanes = b.buffers["scratch"], self.machine.lanes
        with b.when(y, "ult", self.h):
            source = b.buffers["image"], [at.n, channel, b.mul(y, self.w)]
            halves = [(scratch, [at.worker, b.add(begin, half * self.phase)]) for half in range(2)]
            copy_row(b, source, halves, self.w, self.padding[1], lanes)
        with b.when(y, "uge", self.h):
            b.fill(scratch, [at.worker, begin], 2 * self.phase, lanes)

    def _multiply(self, b: KernelBuilder, at: Band, panel: Index) -> None:
        """The 16 products of a band's matrices and those of a panel of output channels."""
        scratch, lanes, vectors = b.buffers["scratch"], self.lanes, self.width // self.lanes
        rows = self.choice.rows or self.machine.rows_of(vectors)
        _, first, second, *_ = self.parts_of_scratch
        weights = Weights(b, b.buffers["weight"], self.c, self.width)
        tiles = ceil_div(max(self.bands) * self.tiles[1], rows)
        with b.loop(0, 16) as number:
            matrix, target = b.mul(number, self.inputs), b.mul(number, self.products)
            for size, low, high, start in self._blocks(b, at, rows):
                with b.loop(low, high) as block:
                    tile = start(block)
                    begin = b.add(b.add(first, matrix), tile)

                    def broadcast(r: int, k: Sequence[Index], begin: Index = begin) -> SSAValue:
                        place = b.add(begin, b.add(b.mul(k[0], self.pitch), r))
                        return b.broadcast_load(scratch, [at.worker, place], lanes)

                    def loaded(v: int, k: Sequence[Index]) -> SSAValue:
                        return b.load(b.buffers["weight"], [panel, number, k[0], v * lanes], lanes)

                    ask = weights.ahead(b.add(b.mul(panel, 16), number), block, tiles)
                    sums = register_tile(b, size, vectors, lanes, [self.c], broadcast, loaded, ahead=ask)
                    for r, v in itertools.product(range(size), range(vectors)):
                        place = b.add(b.mul(b.add(tile, r), self.width), v * lanes)
                        b.store(sums[r][v], scratch, [at.worker, b.add(b.add(second, target), place)])

    def _blocks(
        self, b: KernelBuilder, at: Band, limit: int
    ) -> Iterator[tuple[int, Index, Index, Callable[[Index], Index]]]:
        """A band's tiles in blocks that registers hold: (size, first block, one past its last, where a block starts).

        Blocks of two sizes where these fill all bands, else of one, of which the last overlaps the one before."""
        tiles, width = b.mul(at.height, self.tiles[1]), self.tiles[1]
        possible = [height * width for height in dict.fromkeys(self.bands)]
        large = [total - ceil_div(total, limit) * (limit - 1) for total in possible]
        if min(large) >= 0:
            count = b.div(b.add(tiles, limit - 1), limit)
            first = b.sub(tiles, b.mul(count, limit - 1))
            if any(large):
                yield limit, 0, first, lambda block: b.mul(block, limit)
            if any(number < ceil_div(total, limit) for number, total in zip(large, possible, strict=True)):
                yield limit - 1, first, count, lambda block: b.add(b.mul(block, limit - 1), first)
            return
        size = min(limit, *possible)
        count = b.div(b.add(tiles, size - 1), size)
        yield size, 0, count, lambda block: b.min(b.mul(block, size), b.sub(tiles, size))

    def _sum(self, b: KernelBuilder, at: Band) -> None:
        """A^T m A of a band's products, to pixels [rows, columns, width]."""
        scratch, lanes = b.buffers["scratch"], self.lanes
        _, _, products, pixels, _ = self.parts_of_scratch
        across = self.tiles[1]
        with (
            b.loop(0, at.height) as row,
            b.loop(0, across) as column,
            b.loop(0, self.width // lanes) as v,
        ):
            tile, lane = b.add(b.mul(row, across), column), b.mul(v, lanes)
            place = b.add(products, b.add(b.mul(tile, self.width), lane))

            def load(i: int, j: int) -> SSAValue:
                at_product = b.add(place, (4 * i + j) * self.products)
                return b.load(scratch, [at.worker, at_product], lanes)

            lines = [sums_of(b, [load(i, j) for i in range(4)]) for j in range(4)]
            for half, line in enumerate(transposed(lines)):
                y, x = b.add(b.mul(row, 2), half), b.mul(column, 2)
                begin = b.add(b.mul(b.add(b.mul(y, 2 * across), x), self.width), lane)
                for parity, value in enumerate(sums_of(b, line)):
                    b.store(value, scratch, [at.worker, b.add(begin, pixels + parity * self.width)])

    def _one_by_one(self, b: KernelBuilder, at: Band, panel: Index) -> None:
        """The outputs of a band and a panel, to the same pixels, as sums of products of inputs and filters."""
        (above, left), (_, wo), lanes = self.padding, self.out_size, self.lanes
        rows, begin = b.mul(at.height, 2), b.mul(at.top, 2)
        with b.loop(0, rows) as row, b.loop(0, wo) as x, b.loop(0, self.width // lanes) as v:

            def pixel(_: int, k: Sequence[Index]) -> SSAValue:
                channel, i, j = k
                y, along = b.sub(b.add(b.add(begin, row), i), above), b.sub(b.add(x, j), left)
                inside = [b.compare("ult", y, self.h), b.compare("ult", along, self.w)]
                place = b.add(b.mul(b.min(y, self.h - 1), self.w), b.min(along, self.w - 1))
                value = b.load_number(b.buffers["image"], [at.n, channel, place])
                both = b.op(arith.AndIOp, inside, type_of("i1"), {})
                value = b.op(arith.SelectOp, [both, value, b.constant(0.0)], type_of("f32"), {})
                return b.broadcast(value, lanes)

            def tap(_: int, k: Sequence[Index]) -> SSAValue:
                return self._tap(b, panel, k, b.mul(v, lanes))

            [[value]] = register_tile(b, 1, 1, lanes, [self.c, 3, 3], pixel, tap)
            place = b.add(b.mul(b.add(b.mul(row, 2 * self.tiles[1]), x), self.width), b.mul(v, lanes))
            b.store(value, b.buffers["scratch"], [at.worker, b.add(place, self.parts_of_scratch[3])])

    def _tap(self, b: KernelBuilder, panel: Index, k: Sequence[Index], lane: Index) -> SSAValue:
        """Filters at a tap, of the transformed ones: g0 = u0, g1 = u1 - u2, g2 = u3 in each direction."""
        (channel, i, j), zero = k, b.constant(0.0, "f32", self.lanes)

        def of(index: Index, load: Callable[[Index], SSAValue]) -> SSAValue:
            is_middle, place = b.compare("eq", index, 1), b.div(b.mul(index, b.add(index, 1)), 2)
            less = b.op(arith.SelectOp, [is_middle, load(2), zero], zero.type, {})
            return b.op(arith.SubfOp, [load(place), less], zero.type)

        def row(u: Index) -> SSAValue:
            return of(
                j,
                lambda w: b.load(
                    b.buffers["weight"], [panel, b.add(b.mul(u, 4), w), channel, lane], self.lanes
                ),
            )

        return of(i, row)

    def _store(self, b: KernelBuilder, at: Band, panel: Index) -> None:
        """The pixels of a panel, finished, to the result."""
        lanes, (full, rest) = self.lanes, divmod(self.o, self.lanes)
        first = b.mul(panel, self.width // lanes)
        if full:
            with b.loop(0, b.sub(b.min(b.add(first, self.width // lanes), full), b.min(first, full))) as v:
                self._store_vector(b, at, b.add(first, v), b.mul(v, lanes), lanes)
        if rest:
            with b.when(panel, "eq", self.panels - 1):
                self._store_vector(b, at, full, full * lanes % self.width, rest)

    def _store_vector(self, b: KernelBuilder, at: Band, v: Index, lane: Index, channels: int) -> None:
        """The pixels of one vector of output channels, so many of which there are: blocks are transposed in registers."""
        (ho, wo), lanes = self.out_size, self.lanes
        blocks, begin = Split(wo, max(lanes, 8)), b.mul(at.top, 2)
        with b.loop(0, b.sub(b.min(b.add(begin, b.mul(at.height, 2)), ho), begin)) as row:
            for size, low, high in blocks.kinds:
                with b.loop(low, high) as block:
                    x = blocks.start(b, block, size)
                    place = b.add(b.mul(b.add(b.mul(row, 2 * self.tiles[1]), x), self.width), lane)
                    place = b.add(place, self.parts_of_scratch[3])
                    pixels = [
                        b.load(b.buffers["scratch"], [at.worker, b.add(place, i * self.width)], lanes)
                        for i in range(size)
                    ]
                    start = b.add(b.mul(b.add(begin, row), wo), x)
                    for channel, pixel, count, value in b.columns(pixels, lanes):
                        if channel < channels:
                            mask = b.mask_below(count, size - pixel)
                            to = [at.n, b.add(b.mul(v, lanes), channel), b.add(start, pixel)]
                            finish(b, self.epilogue, value, (self.n, self.o, ho * wo), to, count, mask)


def bits_of(value: float) -> int:
    import numpy as np

    return int(np.float32(value).view(np.int32))


def differences(b: KernelBuilder, d: Sequence[SSAValue]) -> list[SSAValue]:
    """B^T d of a column."""
    subtract, add = arith.SubfOp, arith.AddfOp
    pairs = ((subtract, d[0], d[2]), (add, d[1], d[2]), (subtract, d[2], d[1]), (subtract, d[1], d[3]))
    return [b.op(kind, [x, y], x.type) for kind, x, y in pairs]


def sums_of(b: KernelBuilder, m: Sequence[SSAValue]) -> list[SSAValue]:
    """A^T m of a column."""
    type = m[0].type
    both, apart = b.op(arith.AddfOp, [m[1], m[2]], type), b.op(arith.SubfOp, [m[1], m[2]], type)
    return [b.op(arith.AddfOp, [m[0], both], type), b.op(arith.SubfOp, [apart, m[3]], type)]


def transposed(rows: Rows) -> list[list[SSAValue]]:
    return [list(column) for column in zip(*rows, strict=True)]


# --- filters -------------------------------------------------------------------------------------------------


def transform_taps(taps: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """G g along the first dimension."""
    even, odd = (taps[0] + taps[2]) / 2, taps[1] / 2
    return taps[0], even + odd, even - odd, taps[2]


def pack_transformed(weight: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """[O, C, 3, 3] to panels [ceil(O / width), 16, C, width] of G g G^T, rounded once."""
    import numpy as np

    outputs, c = weight.shape[:2]
    packed = np.zeros((-(-outputs // width), 16, c, width), np.float32)
    # Panel by panel: what is computed in float64 stays in caches.
    for panel, start in zip(packed, range(0, outputs, width), strict=True):
        taps = weight[start : start + width].transpose(2, 3, 1, 0).astype(np.float64, order="C")
        transformed = (whole for half in transform_taps(taps) for whole in transform_taps(half))
        for place, whole in zip(panel, transformed, strict=True):
            place[:, : whole.shape[-1]] = whole
    return packed


def is_moderate(weight: NDArray[np.float32]) -> bool:
    """Whether filters may be transformed: sums of products are finite for moderate inputs."""
    import numpy as np

    return bool((np.abs(weight) < MODERATE).all())


def restore_filters(b: LinalgBuilder, packed: Tensor, outputs: int) -> Tensor:
    """[O, C, 3, 3] of what `pack_transformed` made, in linalg, to the last bits."""
    panels, _, c, width = packed.shape
    whole = b.reshape(b.permute(packed, (0, 3, 2, 1)), (panels * width, c, 4, 4))
    filters = b.slice(whole, [0] * 4, (outputs, c, 4, 4), [1] * 4)
    for dim in (2, 3):
        filters = _taps(b, filters, dim)
    return filters


def _taps(b: LinalgBuilder, transformed: Tensor, dim: int) -> Tensor:
    """u0, u1 - u2, u3 along a dimension."""
    sizes = list(transformed.shape)
    sizes[dim] = 1

    def part(place: int) -> Tensor:
        return b.slice(transformed, [place if d == dim else 0 for d in range(4)], sizes, [1] * 4)

    middle = b.elementwise(lambda x, y: x - y, [part(1), part(2)], tuple(sizes), transformed.dtype)
    parts = part(0), middle, part(3)
    made = b.fill(0, (*sizes[:dim], 3, *sizes[dim + 1 :]), transformed.dtype)
    for place, taps in enumerate(parts):
        made = b.insert(taps, made, [place if d == dim else 0 for d in range(4)])
    return made
