"""Convolutions, NCHW in and out, padding inside: dense, grouped and 1x1. It is done in one of five ways:

    "pixels"     1x1, stride 1: a matrix product [O, C] x [C, H*W], vector lanes along pixels
    "channels"   any kernel, stride, dilation and groups: lanes along output channels on packed weights, a tile's rows are
                 neighbouring pixels of one output row, transposed in registers before the epilogue: convolution_channels.py
    "depthwise"  one input channel per group: depthwise.py
    "winograd"   3x3, stride 1, filters known beforehand: winograd.py
    "tiles"      bfloat16 where the machine has tiles of registers (AMX): convolution_tiles.py

Padding costs a copy of the input to a scratch buffer, spread over the threads; so do images of halves "by channels", which are float32 there,
or pairs of channels where the machine multiplies those (AVX512-BF16). "By channels" nothing is done of padding but for that beside the image. A 1-D
convolution is one of height 1; a 3-D one is done "by channels". Batch, depth, height and width may be symbolic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from xdsl.dialects.builtin import MemRefType

from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.errors import VerificationError
from xdsl_exir.lowering.sizes import Sizes, static
from xdsl_exir.targets.cpu.kernels.builder import (
    KernelBuilder,
    ceil_div,
    collapse,
    power_of_two,
)
from xdsl_exir.targets.cpu.kernels.contraction import Matmul
from xdsl_exir.targets.cpu.kernels.convolution_channels import ByChannels
from xdsl_exir.targets.cpu.kernels.convolution_tiles import BAND, TiledConvolution
from xdsl_exir.targets.cpu.kernels.depthwise import Depthwise
from xdsl_exir.targets.cpu.kernels.description import (
    Choice,
    Epilogue,
    Input,
    Machine,
    Strategy,
    memref,
    register_tiles,
    workers,
)
from xdsl_exir.targets.cpu.kernels.kernel import Kernel, Split
from xdsl_exir.targets.cpu.kernels.packing import pack_filters, repack_filters, unpack_filters
from xdsl_exir.targets.cpu.kernels.tile import FEW
from xdsl_exir.targets.cpu.kernels.tiles import LONG as TILED
from xdsl_exir.targets.cpu.kernels.tiles import SIDE, TERMS
from xdsl_exir.targets.cpu.kernels.winograd import Winograd, pack_transformed, restore_filters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from xdsl_exir.lowering.linalg import LinalgBuilder
    from xdsl_exir.lowering.tensors import Tensor


LONG, DEEP = 2048, 512
"""Steps of a reduction from which on it is done part by part, and of a part, whose weights a first-level cache keeps."""

BY_CHANNELS = ("channels", "tiles")
"""Strategies whose weights are panels of channels."""

APART = 4
"""Pixels that tiles see side by side lie at most so far apart in a row."""


@dataclass(frozen=True)
class Planes:
    """The first dimension of a convolution of three: `depth` planes of an image and `count` of a result, one below the other."""

    depth: Dim
    count: Dim
    kernel: int
    stride: int = 1
    padding: int = 0
    dilation: int = 1


@dataclass(frozen=True, eq=False)
class Conv2d(Kernel):
    """out[N, O, HO, WO] = epilogue(conv2d(x[N, C, H, W], weight[O, C / groups, KH, KW])), float32. With `planes` x is [N, C, D * H, W], out
    [N, O, DO * HO, WO], and weight [O, C / groups, KD * KH, KW].

    `padding` is zeros on both sides of (height, width). The function's arguments: x, weight as `pack` makes it, the epilogue's
    inputs, scratch if `scratch` is not None, out. An epilogue's input has either both of out's spatial dimensions or neither
    (1, or absent), and no strides: a bias has shape (O, 1, 1), a residual (N, O, HO, WO).
    """

    n: Dim
    c: int
    h: Dim
    w: Dim
    o: int
    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1
    said: tuple[Dim, Dim] | None = None
    """(HO, WO), if a program says it in other words than the formula."""
    planes: Planes | None = None
    transforms: bool = False
    """Whether `pack` may transform the filters, of which that has to be known (`winograd.is_moderate`)."""
    weight_dtype: Literal["f32", "f16", "bf16", "i8"] = "f32"
    """Of weights by channels, which the kernel reads as they are; others are made float32 when they are packed."""
    x_dtype: Literal["f32", "f16", "bf16"] = "f32"
    """Of images, which are no halves but by channels."""
    out_dtype: Literal["f16", "bf16"] | None = None
    """Of the result, if the epilogue ends in numbers of another than float32."""
    epilogue: Epilogue = field(default_factory=Epilogue)
    machine: Machine = field(default_factory=Machine)
    choice: Choice = field(default_factory=Choice)

    @property
    def out_plane(self) -> tuple[Dim, Dim]:
        """(HO, WO), by the formula of torch.nn.Conv2d."""
        if self.said is not None:
            return self.said
        sizes = zip((self.h, self.w), self.kernel, self.stride, self.padding, self.dilation, strict=True)
        height, width = ((size + 2 * p - d * (k - 1) - 1) // s + 1 for size, k, s, p, d in sizes)
        return height, width

    @property
    def out_size(self) -> tuple[Dim, Dim]:
        """The same of all planes."""
        height, width = self.out_plane
        return height if self.planes is None else self.planes.count * height, width

    @property
    def in_size(self) -> tuple[Dim, Dim]:
        """(H, W) of all planes."""
        return self.h if self.planes is None else self.planes.depth * self.h, self.w

    @property
    def taps(self) -> tuple[int, int]:
        """(KH, KW) of all planes."""
        height, width = self.kernel
        return height if self.planes is None else self.planes.kernel * height, width

    @property
    def out_shape(self) -> tuple[Dim, int, Dim, Dim]:
        return (self.n, self.o, *self.out_size)

    @property
    def flops(self) -> Dim:
        return 2 * prod((self.n, self.o, *self.out_size, self.c // self.groups, *self.taps))

    @property
    def work(self) -> Dim:
        # Depthwise ones move more than they compute.
        return self.flops * (4 if self.strategy == "depthwise" else 1)

    @property
    def threads(self) -> int:
        return workers(self.machine, self.work)

    @property
    def pointwise(self) -> bool:
        """Whether pixels do not see each other: then the image is one row of H*W pixels."""
        moves = (self.kernel, self.stride, self.padding)
        return moves == ((1, 1), (1, 1), (0, 0)) and self.planes is None

    @property
    def strategies(self) -> Sequence[Strategy]:
        """All that can be, first what is best unless something else is known."""
        if self.planes is not None:
            return ("channels",)
        if self.x_dtype != "f32":
            return ("tiles", "channels") if self.fits_tiles else ("channels",)
        if self.transforms and self.fits_winograd:
            return "winograd", "channels"
        if self.c == self.groups and self.kernel != (1, 1):
            return "depthwise", "channels"
        return ("pixels", "channels") if self.pointwise and self.groups == 1 else ("channels",)

    @property
    def strategy(self) -> Strategy:
        """For 1x1, whichever leaves fewer lanes idle; transposing costs about as much as 24 steps of the reduction."""
        first = self.strategies[0]
        if (wanted := self.choice.strategy) is not None:
            if wanted not in self.strategies:
                ways = " or ".join(self.strategies)
                raise VerificationError(f"this convolution is not done by {wanted!r:.100}, but by {ways}")
            return wanted
        if first != "pixels":
            return first
        lanes, pixels = self.machine.lanes, self.h * self.w
        if not isinstance(pixels, int):
            return "pixels"
        idle_pixels = ceil_div(pixels, lanes) * lanes / pixels
        idle_channels = ceil_div(self.o, lanes) * lanes / self.o * (1 + 24 / self.c)
        return "pixels" if idle_pixels <= idle_channels else "channels"

    @property
    def fits_winograd(self) -> bool:
        """Whether it is one of those whose products `winograd` saves, and the sums that it adds are few beside them."""
        sizes = (self.h, self.w, *self.out_size)
        kind = (self.kernel, self.stride, self.dilation, self.groups) == ((3, 3), (1, 1), (1, 1), 1)
        if not kind or max(self.padding) > 1 or not all(isinstance(size, int) for size in sizes):
            return False
        height, width = static(self.out_size)
        return min(static((self.h, self.w))) >= 4 and min(self.c, self.o) >= 16 and height * width >= 16

    @property
    def fits_tiles(self) -> bool:
        """Whether tiles of pairs of bfloat16 are multiplied at once, and each group fills them, or half of their rows."""
        both = (self.x_dtype, self.weight_dtype) == ("bf16", "bf16") and self.machine.tiles
        if not both or not is_static((self.n, self.h, self.w, *self.out_size)):
            return False
        inputs, (kh, kw) = self.c // self.groups, self.kernel
        rounded = self.out_dtype == "bf16" or inputs * kh * kw <= TILED
        fills = inputs >= SIDE and self.group_outputs >= SIDE // 2
        return fills and self.stride[1] <= APART and rounded

    @property
    def problem(self) -> Conv2d:
        return replace(self, epilogue=Epilogue(), choice=Choice())

    @property
    def weights(self) -> Sequence[int]:
        return (1,)

    @property
    def choices(self) -> Sequence[Choice]:
        if not is_static((self.n, self.h, self.w)):
            return ()
        tiles = register_tiles(self.machine, ceil_div(self.group_outputs, self.lanes))
        found = list[Choice]()
        for strategy in self.strategies:
            match strategy:
                case "pixels":
                    found += [replace(choice, strategy=strategy) for choice in self.matmul.choices]
                case "depthwise":
                    found += [Choice(strategy, rows) for rows in (2, 3, 4, 6, 8)]
                case "winograd":
                    found += [Choice(strategy, *tile, None, many) for tile in tiles for many in (16, 32, 64)]
                case "tiles":
                    found.append(Choice(strategy))
                case "channels":
                    found += [Choice(strategy, *tile) for tile in tiles]
        return found

    def chosen(self, choice: Choice) -> Conv2d:
        return replace(self, choice=choice)

    @property
    def flat_epilogue(self) -> Epilogue:
        """The epilogue on [N, O, HO * WO]."""
        inputs = tuple(Input(collapse(operand.shape), operand.dtype) for operand in self.epilogue.inputs)
        return replace(self.epilogue, inputs=inputs)

    @property
    def matmul(self) -> Matmul:
        """The matrix product of the "pixels" strategy."""
        pixels = self.h * self.w
        return Matmul(
            self.o,
            pixels,
            self.c,
            (self.n,),
            "row_major",
            lhs_batch=(),
            epilogue=self.flat_epilogue,
            machine=self.machine,
            choice=replace(self.choice, strategy=None),
        )

    @property
    def depthwise(self) -> Depthwise:
        """The kernel of the "depthwise" strategy."""
        return Depthwise(
            self.n,
            self.c,
            self.h,
            self.w,
            self.o,
            self.kernel,
            self.stride,
            self.padding,
            self.dilation,
            self.out_size,
            self.flat_epilogue,
            self.machine,
            self.threads,
            self.choice,
        )

    @property
    def winograd(self) -> Winograd:
        """The kernel of the "winograd" strategy."""
        (h, w), (height, width) = static((self.h, self.w)), static(self.out_size)
        return Winograd(
            self.n,
            self.c,
            h,
            w,
            self.o,
            self.padding,
            (height, width),
            self.lanes,
            self.width,
            self.flat_epilogue,
            self.machine,
            self.threads,
            self.work,
            self.choice,
        )

    # The tile of "channels".

    @property
    def pair(self) -> int:
        """Channels that a step of the reduction takes: those of a tile, or two of bfloat16 where there is an instruction, which is one of whole registers."""
        if self.strategy == "tiles":
            return TERMS
        both = (self.x_dtype, self.weight_dtype) == ("bf16", "bf16") and self.machine.prefers_pairs
        return 2 if both and self.lanes == self.machine.lanes else 1

    @property
    def depth(self) -> int:
        """Steps of the reduction over a group's channels, of which the last may be half of one."""
        return ceil_div(self.c // self.groups, self.pair)

    @property
    def group_outputs(self) -> int:
        return self.o // self.groups

    @property
    def lanes(self) -> int:
        """Lanes along a group's output channels: no wider than there are channels, but for whole tiles of them."""
        if self.strategy == "tiles":
            return SIDE
        return min(self.machine.lanes, max(4, power_of_two(self.group_outputs)))

    @property
    def strided(self) -> bool:
        """Whether pixels of a row lie apart: of more than four of them, addresses fill the registers of processors that have few (measured)."""
        return self.stride[1] > 1 and self.machine.registers < 32

    @property
    def vectors(self) -> int:
        """Of a tile's pixel: three where that leaves none over alone, whose products wait for one another."""
        there = ceil_div(self.group_outputs, self.lanes)
        alone = there % 2 == 1 and there % 3 != 1 and self.machine.fits_three
        wanted = 3 if alone or (self.strided and (there > 6 or there % 3 == 0)) else 2
        return min(self.choice.vectors or wanted, there)

    @property
    def rows(self) -> int:
        """Pixels of a tile."""
        return self.choice.rows or (4 if self.strided else self.machine.rows_of(self.vectors))

    @property
    def width(self) -> int:
        """Output channels of a panel of weights."""
        return self.lanes * self.vectors

    @property
    def panels(self) -> int:
        return ceil_div(self.group_outputs, self.width)

    @property
    def pitch(self) -> Dim:
        """Width with padding."""
        return self.w + 2 * self.padding[1]

    # The interface.

    @property
    def scratch(self) -> Sizes | None:
        """Shape of the float32 buffer the kernel needs, or None."""
        match self.strategy:
            case "pixels":
                return self.matmul.scratch
            case "depthwise":
                return self.depthwise.scratch
            case "winograd":
                return self.winograd.scratch
            case "tiles":
                return TiledConvolution(self).scratch
            case "channels":
                copied = self.padding[1] or self.x_dtype != "f32"
                return (self.n, self.groups * self.depth, self.in_size[0] * self.pitch) if copied else None

    @property
    def packed_shape(self) -> tuple[int, ...]:
        """Shape of the weights as the kernel takes them."""
        if self.strategy == "pixels":
            return (self.o, self.c)
        if self.strategy == "depthwise":
            return (self.o, *self.kernel)
        if self.strategy == "winograd":
            return (self.panels, 16, self.c, self.width)
        return (self.groups, self.panels, self.depth, *self.taps, self.width * self.pair)

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        types = {
            "x": memref((self.n, self.c, *self.in_size), self.x_dtype),
            "weight": memref(self.packed_shape, self.weight_dtype),
        }
        types |= {
            f"input{i}": memref(operand.shape, operand.dtype)
            for i, operand in enumerate(self.epilogue.inputs)
        }
        if self.scratch:
            types["scratch"] = memref(self.scratch)
        return types | {"result": memref(self.out_shape, self.out_dtype or "f32")}

    @property
    def in_place(self) -> list[str]:
        """Of known sizes no result is computed twice; of one part by part it has sums that are not finished."""
        out = Input(self.out_shape, self.out_dtype or "f32")
        known = is_static(self.out_shape) and not self.parts
        return [f"input{i}" for i, each in enumerate(self.epilogue.inputs) if known and each == out]

    def pack(self, weight: NDArray[np.float32]) -> NDArray[np.float32]:
        """Weights [O, C / groups, KH, KW] as the kernel takes them."""
        if self.strategy == "winograd":
            return pack_transformed(weight, self.width)
        if self.strategy in BY_CHANNELS:
            return pack_filters(weight, self.groups, self.width, self.pair)
        return weight.reshape(self.packed_shape)

    def repack(self, b: LinalgBuilder, weight: Tensor) -> Tensor:
        """The same in linalg, of weights that are not known before."""
        if self.strategy == "channels":
            return repack_filters(b, weight, self.groups, self.width)
        return b.reshape(weight, self.packed_shape)

    def unpack(self, b: LinalgBuilder, packed: Tensor) -> Tensor:
        """Weights [O, C / groups, KH, KW] as they were, in linalg."""
        if self.strategy == "winograd":
            return restore_filters(b, packed, self.o)
        if self.strategy in BY_CHANNELS:
            return unpack_filters(b, packed, (self.o, self.c // self.groups, *self.taps), self.pair)
        return b.reshape(packed, (self.o, self.c // self.groups, *self.kernel))

    def build(self, b: KernelBuilder) -> None:
        b.collapse_pixels("image", "x", (self.n, self.c, *self.in_size), self.x_dtype)
        b.collapse_pixels("out", "result", self.out_shape, self.out_dtype or "f32")
        for i, operand in enumerate(self.epilogue.inputs):
            b.collapse_pixels(f"in{i}", f"input{i}", operand.shape, operand.dtype)
        match self.strategy:
            case "pixels":
                self.matmul.multiply(b, b.buffers["weight"], b.buffers["image"])
            case "depthwise":
                self.depthwise.build(b)
            case "winograd":
                self.winograd.build(b)
            case "tiles":
                TiledConvolution(self).build(b)
            case "channels":
                ByChannels(self.in_one_row if self.pointwise else self).build(b)

    @property
    def in_one_row(self) -> Conv2d:
        """The same of an image whose pixels are one row, as those that do not see each other may be."""
        said = None if self.said is None else (1, prod(self.said))
        return replace(self, h=1, w=self.h * self.w, said=said)

    @property
    def parts(self) -> list[tuple[int, Dim, Dim]]:
        """(channels, first part, one past the last part) of the parts of a reduction whose weights a cache does not keep beside what they see, each done
        for all pixels of a task before the next one; none of one that is not so long."""
        taps, channels = math.prod(self.taps), self.depth
        sums = self.strategy == "channels" and self.out_dtype is None  # which no halves hold meanwhile
        if not sums or channels * taps <= LONG or not is_static((self.n, *self.out_size)):
            return []
        return Split(channels, max(1, DEEP // taps, ceil_div(channels, FEW))).kinds

    @property
    def bands(self) -> Dim:
        """Into how many bands of rows an image is cut, which are tasks."""
        height, width = self.out_size
        if not self.parts or not isinstance(height, int) or not isinstance(width, int):
            return height
        others = static((self.n,))[0] * self.groups * self.panels
        return min(height, max(ceil_div(height * width, BAND), ceil_div(self.threads, others)))
