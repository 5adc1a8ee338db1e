"""Convolutions in the forms that kernels take.

    one of three dimensions, depthwise  becomes    one of two, whose channels are those of each depth that the kernel sees
      not of float32, or of fewer products so
    taps of a convolution that see      become     nothing
      nothing but padding
    a transposed convolution            becomes    one whose channels are the phases of its stride, put side by side
    convolution of float64, integers    becomes    a product of its filters with the columns of what they see
    one of bfloat16 patches             becomes    a product of these with its filters
    one that moves by symbolic sizes    becomes    one of what its kernel sees, gathered and put side by side

All of them hold for symbolic sizes, the last one for those of batches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Results, Size, cast, meta, opmath, sizes
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import pair
from xdsl_exir.targets.cpu.epilogues import HALVES
from xdsl_exir.targets.cpu.kernels import Conv2d
from xdsl_exir.targets.cpu.row_forms import WITH_KERNELS, Arguments, Form
from xdsl_exir.transforms.decompositions.view import Sizes, dims_of
from xdsl_exir.transforms.matching import made_by, static
from xdsl_exir.transforms.patterns import KEEP

MOVES = ("stride", "padding", "dilation", "output_padding")
"""How the kernel of a convolution moves."""


def moves_as_said(a: Arguments) -> bool:
    """Whether numbers say how the kernel of a convolution moves."""
    return all(isinstance(number, int) for name in MOVES for number in a[name])


def convolution(aten: Namespace, a: Arguments) -> Results:
    """Transposed ones, and those of three dimensions; others as they are."""
    space, out = meta(a["input"]).ndim - 2, a.pop("out")
    shape = static(meta(a["weight"]).shape)
    a |= {name: pair(a[name], space) for name in MOVES}
    a |= {name: unwidened(a[name]) for name in ("input", "weight")}
    if not moves_as_said(a):
        return moved_by_sizes(aten, a, out.shape[2:])
    if shape is None or 0 in shape or not 1 <= space <= 3:
        return convolution_of(aten, a)
    if not a["transposed"]:
        return convolved(aten, a)
    made = transposed(aten, a, shape, out.shape)
    return convolution_of(aten, a) if made is KEEP else made


def unwidened(x: SSAValue) -> SSAValue:
    """Halves, where float32 is made of them: they are put in another form as they are."""
    widening = made_by(x, "aten._to_copy")
    halves = None if widening is None else widening.operands[0]
    return halves if halves is not None and meta(halves).dtype in HALVES and meta(x).dtype is dt.Float else x


def convolution_of(aten: Namespace, a: Arguments) -> SSAValue:
    """The operator itself, of float32 if it is given halves."""
    wide = {name: cast(aten, a[name], opmath(meta(a[name]).dtype)) for name in ("input", "weight")}
    return aten.convolution(**a | wide)


def moved_by_sizes(aten: Namespace, a: Arguments, out: Sequence[Dim]) -> SSAValue:
    """A convolution that moves by symbolic sizes, as one that moves by numbers."""
    size = Sizes(aten, a["input"], a["weight"], *(move for name in MOVES for move in a[name]))
    axes = [at for at in range(len(out)) if not all(isinstance(a[name][at], int) for name in MOVES)]
    starts = [a["padding"][at] for at in axes]
    for at in axes:
        a = spread(aten, a, at, size) if a["transposed"] else gathered(aten, a, at, size, out[at])
    made = convolution_of(aten, a)
    for at, start in zip(axes, starts, strict=True) if a["transposed"] else ():
        places = aten.add.Tensor(aten.arange.start_step(0, size(out[at])), start)
        made = aten.index_select(made, 2 + at, places)
    return made


def gathered(aten: Namespace, a: Arguments, at: int, size: Sizes, extent: Dim) -> Arguments:
    """What the kernel sees along a dimension, put side by side: then it moves by its own length. Of padding alone, the padded input."""
    (step, before, apart, _), taps = moves_along(a, at), size(meta(a["weight"]).shape[2 + at])
    behind = meta(a["input"]).ndim - 3 - at
    x = aten.constant_pad_nd(a["input"], [0, 0] * behind + [before, before])
    if isinstance(step, int) and isinstance(apart, int):
        return moving(a, at, step, 0, apart, 0) | {"input": x}
    first = aten.unsqueeze(aten.mul.Tensor(aten.arange.start_step(0, size(extent)), step), 1)
    places = aten.view(aten.add.Tensor(first, aten.mul.Tensor(aten.arange.start_step(0, taps), apart)), [-1])
    return moving(a, at, taps, 0, 1, 0) | {"input": aten.index_select(x, 2 + at, places)}


def spread(aten: Namespace, a: Arguments, at: int, size: Sizes) -> Arguments:
    """A transposed one along a dimension without steps: of the input and the kernel with zeros between, and of nothing that is left out."""
    step, _, apart, more = moves_along(a, at)
    x, behind = with_zeros(aten, a["input"], 2 + at, step, size), meta(a["input"]).ndim - 3 - at
    weight = with_zeros(aten, a["weight"], 2 + at, apart, size)
    x = aten.constant_pad_nd(x, [0, 0] * behind + [0, more])
    return moving(a, at, 1, 0, 1, 0) | {"input": x, "weight": weight}


def with_zeros(aten: Namespace, x: SSAValue, dim: int, step: Size, size: Sizes) -> SSAValue:
    """A dimension's elements, each `step` from the next, and zeros between."""
    if step == 1:
        return x
    [between] = dims_of([step], "steps")
    places = aten.arange.start_step(0, size((meta(x).shape[dim] - 1) * between + 1))
    held = aten.index_select(x, dim, aten.div.Tensor_mode(places, step, rounding_mode="floor"))
    is_one = aten.eq.Tensor(aten.remainder.Tensor(places, step), 0)
    return aten.where.self(aten.view(is_one, [-1, *[1] * (meta(x).ndim - 1 - dim)]), held, 0)


def moves_along(a: Arguments, at: int) -> list[Size]:
    """How the kernel moves along a dimension."""
    return [a[name][at] for name in MOVES]


def moving(a: Arguments, at: int, *moves: Size) -> Arguments:
    """The same that moves so along a dimension."""
    named = zip(MOVES, moves, strict=True)
    return a | {name: [*a[name][:at], move, *a[name][at + 1 :]] for name, move in named}


def in_planes(aten: Namespace, a: Arguments, weight: Sequence[int]) -> Results:
    """A convolution of three dimensions as one of each output's plane, whose channels are those of the planes that it sees: a depthwise one, one
    of another dtype than float32, and one that saves products so."""
    if not is_by_planes(a):
        return KEEP
    outputs, per_group, reach, *kernel = weight
    x, before, step, apart = a["input"], a["padding"][0], a["stride"][0], a["dilation"][0]
    if before:
        x = aten.constant_pad_nd(x, [0, 0, 0, 0, before, before])
    channels = per_group * a["groups"]
    n, _, depth, *plane = meta(x).shape
    if isinstance(depth, int) and depth <= apart * (reach - 1):
        return KEEP
    taps = [seen_by(aten, x, 2, tap, reach, step, apart) for tap in range(reach)]
    count = meta(taps[0]).shape[2]
    others = {name: a[name][1:] for name in ("stride", "padding", "dilation")}
    others |= {"transposed": False, "output_padding": [0, 0]}
    if is_depthwise(a, weight) and opmath(meta(x).dtype) is dt.Float:
        alone = of_planes_alone if isinstance(count, int) else of_images_alone
        return alone(aten, a["weight"], a["bias"], taps, others)
    # [n, c, d, h, w] of each to [n, d, c, taps, h, w]: images [n * d, c * taps, h, w].
    taps = [aten.unsqueeze(aten.permute(tap, [0, 2, 1, 3, 4]), 3) for tap in taps]
    seen = taps[0] if reach == 1 else aten.cat(taps, 3)
    size_of = Sizes(aten, taps[0])
    images = aten.view(seen, size_of.all([size_of.together([n, count]), channels * reach, *plane]))
    filters = aten.view(a["weight"], [outputs, per_group * reach, *kernel])
    given = {"input": images, "weight": filters, "bias": a["bias"], "groups": a["groups"]}
    made = convolved(aten, given | others)
    made = aten.view(made, [*size_of.all([n, count]), outputs, *sizes(aten, made)[2:]])
    return aten.permute(made, [0, 2, 1, 3, 4])


def is_depthwise(a: Arguments, weight: Sequence[int]) -> bool:
    """Whether each channel has a filter of its own."""
    return weight[0] == weight[1] * a["groups"] == a["groups"]


def is_by_planes(a: Arguments) -> bool:
    """Whether a convolution is one of three dimensions that the kernel for these does not do, or one of planes with fewer products (`winograd`)."""
    weight, x = static(meta(a["weight"]).shape), meta(unwidened(a["input"]))
    if weight is None or len(weight) < 5 or 0 in weight:
        return False
    outputs, per_group, reach, *kernel = weight
    if x.dtype is not dt.Float or is_depthwise(a, weight):
        return True
    stride, padding, dilation = ((high, wide) for _, high, wide in (pair(a[name], 3) for name in MOVES[:3]))
    (h, w), channels = x.shape[3:], per_group * a["groups"] * reach
    kernel = (kernel[0], kernel[1])
    return Conv2d(1, channels, h, w, outputs, kernel, stride, padding, dilation, a["groups"]).fits_winograd


def seen_by(aten: Namespace, x: SSAValue, dim: int, tap: int, taps: int, step: int, apart: int) -> SSAValue:
    """The elements along a dimension that one tap of so many sees."""
    return aten.slice.Tensor(x, dim, tap * apart, apart * (tap + 1 - taps) or BEYOND, step)


def of_planes_alone(
    aten: Namespace,
    weight: SSAValue,
    bias: SSAValue | None,
    taps: Sequence[SSAValue],
    others: Arguments,
) -> SSAValue:
    """A depthwise convolution of three dimensions, given by the planes that each tap sees: a sum of depthwise ones, whose channels are those of
    each plane, a tap each."""
    n, channels, count, *plane = sizes(aten, taps[0])
    assert isinstance(channels, int)
    assert isinstance(count, int)

    def of_each_plane(value: SSAValue, *shape: Any) -> SSAValue:
        repeated = aten.expand(aten.unsqueeze(value, 1), [channels, count, *shape])
        return aten.view(repeated, [channels * count, *([1] if shape else []), *shape])

    parts: list[SSAValue] = []
    for at, tap in enumerate(taps):
        filters = aten.select.int(aten.squeeze.dims(weight, [1]), 1, at)
        given: Arguments = {
            "input": aten.view(tap, [n, channels * count, *plane]),
            "weight": of_each_plane(filters, *sizes(aten, filters)[1:]),
            "bias": None if bias is None or at else of_each_plane(bias),
            "groups": channels * count,
        }
        parts.append(convolution_of(aten, given | others))
    made = reduce(aten.add.Tensor, parts)
    return aten.view(made, [n, channels, count, *sizes(aten, made)[2:]])


def of_images_alone(
    aten: Namespace,
    weight: SSAValue,
    bias: SSAValue | None,
    taps: Sequence[SSAValue],
    others: Arguments,
) -> SSAValue:
    """The same of any number of planes, which are images."""
    size_of, (n, channels, count, *plane) = Sizes(aten, taps[0]), meta(taps[0]).shape
    images = size_of.all([size_of.together([n, count]), channels, *plane])
    parts: list[SSAValue] = []
    for at, tap in enumerate(taps):
        given: Arguments = {
            "input": aten.view(aten.permute(tap, [0, 2, 1, 3, 4]), images),
            "weight": aten.select.int(weight, 2, at),
            "bias": None if at else bias,
            "groups": channels,
        }
        parts.append(convolution_of(aten, given | others))
    made = reduce(aten.add.Tensor, parts)
    made = aten.view(made, [*size_of.all([n, count, channels]), *sizes(aten, made)[2:]])
    return aten.permute(made, [0, 2, 1, 3, 4])


@dataclass(frozen=True)
class Phases:
    """Positions of a result that are equal modulo the stride, `count` of them from `first` on, which see as many taps."""

    first: int
    count: int
    taps: int


@dataclass(frozen=True)
class Axis:
    """One dimension of a transposed convolution: element i goes to i * stride + tap * dilation - padding.

    With g what divides stride and dilation, taps of one phase are `step` = stride / g apart, and see elements `apart` = dilation / g
    apart; only every g-th position sees any.
    """

    kernel: int
    stride: int
    padding: int
    dilation: int
    output_padding: int

    @property
    def every(self) -> int:
        return math.gcd(self.stride, self.dilation)

    @property
    def step(self) -> int:
        return self.stride // self.every

    @property
    def apart(self) -> int:
        return self.dilation // self.every

    @property
    def taps(self) -> int:
        """That a position sees, at most."""
        return -(-self.kernel // self.step)

    @property
    def phases(self) -> list[Phases]:
        """Those with taps, by the first of these: a tap of zeros would make NaN of infinity."""
        some = self.kernel % self.step
        all = [Phases(0, some or self.step, self.taps), Phases(some, self.step - some, self.taps - 1)]
        return [each for each in all[: 2 if some else 1] if each.taps]

    @property
    def order(self) -> list[int]:
        """The first taps of the phases, as these lie in the result."""
        return [at * pow(self.apart, -1, self.step) % self.step for at in range(self.step)]

    def late(self, tap: int) -> int:
        """By how many elements the phase with this first tap begins later than the first one."""
        return tap * self.apart // self.step

    @property
    def reach(self) -> int:
        return self.apart * (self.taps - 1) + self.late(self.step - 1)

    @property
    def border(self) -> int:
        """How much a phase's input is padded, so that all that is wanted of it is there."""
        end = self.dilation * (self.kernel - 1) + 1 + self.output_padding - self.padding - self.stride
        return max(self.reach - self.padding // self.stride, -(-end // self.stride), 0)

    @property
    def start(self) -> int:
        """Where in the phases the result begins."""
        return self.padding - (self.reach - self.border) * self.stride


def padding(from_last: int, count: int) -> list[int]:
    """Of zeros behind a dimension, given by its number from the last one, which is 1."""
    return [*[0, 0] * (from_last - 1), 0, count]


def transposed(aten: Namespace, a: Arguments, weight: Sequence[int], out: Sequence[Dim]) -> Results:
    """A transposed convolution as one whose output channels are those of all phases: positions that are equal modulo the stride
    are an ordinary convolution of the input, by every so manieth element of the kernel, turned around."""
    outputs, space = a["groups"] * weight[1], len(weight) - 2
    given = zip(
        weight[2:], *(a[name] for name in ("stride", "padding", "dilation", "output_padding")), strict=True
    )
    axes = [Axis(*each) for each in given]
    filters, bias = by_phases(aten, a["weight"], axes, a["groups"]), a["bias"]
    empty = any(axis.kernel < axis.step or axis.every > 1 for axis in axes)

    def phases(chosen: list[Phases]) -> SSAValue:
        """[n, o, phases..., sizes...], those of the first dimensions chosen."""
        if len(chosen) == space:
            return phase_images(aten, a, filters, None if empty else bias, axes, chosen)
        axis, dim = axes[len(chosen)], 2 + len(chosen)
        parts = [phases([*chosen, each]) for each in axis.phases]
        whole = parts[0] if len(parts) == 1 else aten.cat(parts, dim)
        missing = max(axis.step - axis.kernel, 0)
        return aten.constant_pad_nd(whole, padding(2 + 2 * space - dim, missing)) if missing else whole

    made = phases([])
    for at, axis in enumerate(axes):
        made = arranged(aten, made, axis, 2 + at, 2 + space + at)
    size_of, (n, _, *rest) = Sizes(aten, made), meta(made).shape
    order = [dim for at in range(space) for dim in (2 + space + at, 2 + at)]
    if any(axis.stride > 1 for axis in axes):
        made = aten.permute(made, [0, 1, *order])
    whole = [size_of.named(extent) * axis.stride for extent, axis in zip(rest[space:], axes, strict=True)]
    made = aten.view(made, [*size_of.all([n, outputs, *whole])])
    for at, (axis, size) in enumerate(zip(axes, out[2:], strict=True)):
        if more := meta(made).shape[2 + at] - size:
            if not isinstance(more, int):
                return KEEP
            made = aten.slice.Tensor(made, 2 + at, axis.start, axis.start - more or BEYOND)
    if empty and bias is not None:
        made = aten.add.Tensor(made, aten.view(bias, [outputs, *[1] * space]))
    return made


def arranged(aten: Namespace, made: SSAValue, axis: Axis, phase: int, along: int) -> SSAValue:
    """A dimension's phases, from the order of their first taps into that of the result, those without taps between them."""
    latest = axis.late(axis.step - 1)
    if latest or axis.order != sorted(axis.order):
        parts = list[SSAValue]()
        for tap in axis.order:
            part, late = aten.slice.Tensor(made, phase, tap, tap + 1), axis.late(tap)
            parts.append(aten.slice.Tensor(part, along, latest - late, -late or BEYOND))
        made = aten.cat(parts, phase)
    if axis.every == 1:
        return made
    shape = sizes(aten, made)
    apart = aten.constant_pad_nd(aten.unsqueeze(made, phase + 1), padding(len(shape) - phase, axis.every - 1))
    return aten.view(apart, [*shape[:phase], axis.stride, *shape[phase + 1 :]])


def by_phases(aten: Namespace, weight: SSAValue, axes: Sequence[Axis], groups: int) -> SSAValue:
    """A kernel [g * c / g, o / g, ...] as [g, c / g, o / g, (taps, phases)...]."""
    inputs, per_group, *_ = shape = static(meta(weight).shape) or []
    for at, axis in enumerate(axes):
        if more := axis.taps * axis.step - axis.kernel:
            weight = aten.constant_pad_nd(weight, padding(len(shape) - 2 - at, more))
    pairs = [size for axis in axes for size in (axis.taps, axis.step)]
    return aten.view(weight, [groups, inputs // groups, per_group, *pairs])


def convolved(aten: Namespace, a: Arguments) -> Results:
    """A convolution that is not transposed, in its best form."""
    if sees_patches(a):
        return by_patches(aten, a)
    a = without_blind_taps(aten, a)
    shape = static(meta(a["weight"]).shape) or []
    made = in_planes(aten, a, shape)
    if made is KEEP and opmath(meta(a["weight"]).dtype) is not dt.Float:
        made = by_products(aten, a, shape)
    return convolution_of(aten, a) if made is KEEP else made


def blind_taps(a: Arguments) -> list[int]:
    """How many of the first taps of each of a kernel's dimensions, and how many of the last, see nothing but padding, as those of a wide
    dilation do on a small image."""
    image, kernel = (static(meta(a[name]).shape) for name in ("input", "weight"))
    if image is None or kernel is None or 0 in image:
        return []
    steps = (pair(a[name], len(kernel) - 2) for name in ("padding", "stride", "dilation"))
    found: list[int] = []
    for size, taps, pad, step, apart in zip(image[2:], kernel[2:], *steps, strict=True):
        last = (
            (size + 2 * pad - apart * (taps - 1) - 1) // step * step
        )  # where the last output's first tap is
        blind = sum(last + tap * apart < pad for tap in range(taps))
        left = (taps - blind) * apart
        are_last = 2 * blind < taps and pad >= blind * apart and left - pad >= size
        found.append(blind if are_last else 0)
    return found


def without_blind_taps(aten: Namespace, a: Arguments) -> Arguments:
    """The same without these taps."""
    weight, padding = a["weight"], [*a["padding"]]
    for dim, blind in enumerate(blind_taps(a)):
        if blind:
            weight = aten.slice.Tensor(weight, dim + 2, blind, meta(weight).shape[dim + 2] - blind)
            padding[dim] -= blind * a["dilation"][dim]
    return {**a, "weight": weight, "padding": padding}


def by_products(aten: Namespace, a: Arguments, weight: Sequence[int]) -> Results:
    """A convolution of a dtype whose products alone have kernels: a product, for each group, of its filters with the columns of what
    they see."""
    x, groups, (outputs, per_group, *kernel) = a["input"], a["groups"], weight
    n, _, *image = meta(x).shape
    axes = list(zip(image, kernel, a["padding"], a["stride"], a["dilation"], strict=True))
    blind = (size + 2 * pad - apart * (taps - 1) for size, taps, pad, _, apart in axes)
    if n == 0 or any(isinstance(left, int) and left <= 0 for left in blind):
        return KEEP
    x = aten.permute(x, [1, 0, *range(2, len(weight))])
    if any(a["padding"]):
        x = aten.constant_pad_nd(x, [pad for pad in reversed(a["padding"]) for _ in range(2)])
    seen = [x]
    for dim, (_, taps, _, step, apart) in enumerate(axes, 2):
        seen = [seen_by(aten, part, dim, tap, taps, step, apart) for part in seen for tap in range(taps)]
    size_of, seen_in = Sizes(aten, seen[0]), meta(seen[0]).shape[1:]
    columns = aten.cat([aten.unsqueeze(part, 1) for part in seen], 1)
    columns = aten.view(columns, [groups, per_group * prod(kernel), size_of.flat(seen_in)])
    filters = aten.view(a["weight"], [groups, outputs // groups, per_group * prod(kernel)])
    made = aten.view(aten.bmm(filters, columns), [outputs, *size_of.all(seen_in)])
    made = aten.permute(made, [1, 0, *range(2, len(weight))])
    return (
        made
        if a["bias"] is None
        else aten.add.Tensor(made, aten.view(a["bias"], [outputs, *[1] * len(kernel)]))
    )


FEW_CHANNELS = 16
"""Of bfloat16: a kernel takes pairs, or more, of those of one place."""


def sees_patches(a: Arguments) -> bool:
    """Whether a convolution is of patches that lie side by side, as of images for a transformer, of bfloat16 and few channels."""
    weight, x = static(meta(a["weight"]).shape), meta(unwidened(a["input"]))
    image = static(x.shape[2:])
    if weight is None or image is None or 0 in weight or a["groups"] != 1 or x.dtype is not dt.BFloat16:
        return False
    _, channels, *kernel = weight
    moves = [[*pair(a[name], len(kernel))] for name in ("stride", "padding", "dilation")]
    is_apart = moves == [kernel, [0] * len(kernel), [1] * len(kernel)]
    fits = all(size >= taps for size, taps in zip(image, kernel, strict=True))
    return is_apart and fits and channels < FEW_CHANNELS and prod(kernel) > 1


def by_patches(aten: Namespace, a: Arguments) -> Results:
    """A convolution that `sees_patches`: a product of these with its filters."""
    x, weight = a["input"], a["weight"]
    outputs, channels, *kernel = static(meta(weight).shape) or []
    n, _, *image = meta(x).shape
    counts = [size // taps for size, taps in zip(static(image) or [], kernel, strict=True)]
    seen = [count * taps for count, taps in zip(counts, kernel, strict=True)]
    for dim, size in enumerate(seen, 2):
        x = x if size == image[dim - 2] else aten.slice.Tensor(x, dim, 0, size)
    batch, space = Sizes(aten, x)(n), len(kernel)
    x = aten.view(x, [batch, channels, *(size for each in zip(counts, kernel, strict=True) for size in each)])
    x = aten.permute(x, [0, *range(2, 2 + 2 * space, 2), 1, *range(3, 3 + 2 * space, 2)])
    x = aten.view(x, [-1, channels * prod(kernel)])
    filters = aten.permute(aten.view(weight, [outputs, channels * prod(kernel)]), [1, 0])
    made = aten.mm(*(cast(aten, each, dt.Float) for each in (x, filters)))
    made = made if a["bias"] is None else aten.add.Tensor(made, a["bias"])
    made = aten.view(made, [batch, *counts, outputs])
    return aten.permute(made, [0, space + 1, *range(1, space + 1)])


def phase_images(
    aten: Namespace,
    a: Arguments,
    filters: SSAValue,
    bias: SSAValue | None,
    axes: Sequence[Axis],
    chosen: Sequence[Phases],
) -> SSAValue:
    """Some phases of a transposed convolution, [n, o, phases..., sizes...], by filters as `by_phases` gives them."""
    groups, per_input, per_group, *_ = static(meta(filters).shape) or []
    space, count, outputs = len(axes), prod(each.count for each in chosen), groups * per_group
    for at, each in enumerate(chosen):
        filters = aten.slice.Tensor(filters, 3 + 2 * at, 0, each.taps)
        filters = aten.slice.Tensor(filters, 4 + 2 * at, each.first, each.first + each.count)
    # To [g * o / g * phases..., c / g, taps...], taps from the last to the first.
    filters = aten.flip(filters, [3 + 2 * at for at in range(space)])
    phases, taps = ([3 + first + 2 * at for at in range(space)] for first in (1, 0))
    filters = aten.permute(filters, [0, 2, *phases, 1, *taps])
    filters = aten.view(filters, [outputs * count, per_input, *(each.taps for each in chosen)])
    if bias is not None and count > 1:
        bias = aten.view(aten.expand(aten.unsqueeze(bias, 1), [outputs, count]), [outputs * count])
    inner = {
        "input": a["input"],
        "weight": filters,
        "bias": bias,
        "stride": [1] * space,
        "padding": [axis.border for axis in axes],
        "dilation": [axis.apart for axis in axes],
        "transposed": False,
        "output_padding": [0] * space,
        "groups": groups,
    }
    made = convolved(aten, inner)
    for at, (axis, each) in enumerate(zip(axes, chosen, strict=True)):
        if each.taps < axis.taps:  # fewer taps begin earlier
            made = aten.slice.Tensor(made, 2 + at, (axis.taps - each.taps) * axis.apart, BEYOND)
    n, _, *extents = sizes(aten, made)
    return aten.view(made, [n, outputs, *(each.count for each in chosen), *extents])


BEYOND = 2**63 - 1
"""The end of a slice that goes on to the last element."""

CONVOLUTION_FORMS: dict[str, Form] = {
    "aten.convolution": Form(
        convolution,
        WITH_KERNELS,
        lambda a: (
            not moves_as_said(a)
            or a["transposed"]
            or is_by_planes(a)
            or a["out"].dtype is not dt.Float
            or any(blind_taps(a))
            or sees_patches(a)
        ),
    ),
}
"""By operator."""
