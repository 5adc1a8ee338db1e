"""Operators that torchvision registers, which detectors call: non-maximum suppression, boxes' features, deformable convolution.

Formulas: torchvision's CPU kernels (`torchvision/csrc/ops/cpu`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.synonyms.calls import Calls, Table

TORCHVISION = Table("torchvision")


def _at(calls: Calls, value: g.Value, *dims: int) -> g.Ref:
    """With dimensions of size 1, put in one after another."""
    made = value
    for dim in dims:
        made = calls("aten.unsqueeze", self=made, dim=dim)
    assert isinstance(made, g.Ref)
    return made


def _mul(calls: Calls, a: g.Value, b: g.Value) -> g.Ref:
    return calls("aten.mul.Tensor", self=a, other=b)


def _scaled(calls: Calls, value: g.Value, by: float, plus: float) -> g.Ref:
    return calls("aten.add.Scalar", self=calls("aten.mul.Scalar", self=value, other=by), other=plus)


@TORCHVISION.of("nms")
def nms(calls: Calls, dets: g.Value, scores: g.Value, iou_threshold: float) -> g.Ref:
    """Of boxes `(n, 4)`, those that no kept box of a higher score overlaps by more than the threshold, in the order of scores.

    Of all boxes at once it is asked, until the answers stay the same: they are right for one more of the first boxes each time.
    """
    order = calls("aten.argsort.stable", self=scores, stable=True, descending=True)
    boxes = calls("aten.index.Tensor", self=dets, indices=(order,))
    left, top, right, bottom = calls.unbind(boxes, 1, 4)

    def of_pairs(target: str, each: g.Ref) -> g.Ref:
        return calls(target, self=_at(calls, each, 1), other=_at(calls, each, 0))

    def side(low: g.Ref, high: g.Ref) -> g.Ref:
        ends = of_pairs("aten.minimum", high), of_pairs("aten.maximum", low)
        return calls("aten.clamp", self=calls("aten.sub.Tensor", self=ends[0], other=ends[1]), min=0.0)

    area = _mul(
        calls,
        calls("aten.sub.Tensor", self=right, other=left),
        calls("aten.sub.Tensor", self=bottom, other=top),
    )
    common = _mul(calls, side(left, right), side(top, bottom))
    union = calls("aten.sub.Tensor", self=of_pairs("aten.add.Tensor", area), other=common)
    overlap = calls("aten.div.Tensor", self=common, other=union)
    over = calls("aten.triu", self=calls("aten.gt.Scalar", self=overlap, other=iou_threshold), diagonal=1)
    kept = calls("aten.ones_like", self=scores, dtype=dt.Bool)
    begins = calls("aten.ones", size=(), dtype=dt.Bool)
    return calls("aten.index.Tensor", self=order, indices=(_settled(calls, kept, begins, over),))


def _settled(calls: Calls, kept: g.Ref, begins: g.Ref, over: g.Ref) -> g.Ref:
    """The `while_loop` that asks until nothing changes."""
    given = tuple(g.Ref(f"{calls.node.name}_{name}") for name in ("kept", "goes_on", "over"))
    again, turn = calls.inside("again"), calls.inside("turn")
    condition = again.graph(given, again("aten.clone", self=given[1]))
    by_kept = turn("aten.logical_and", self=given[2], other=_at(turn, given[0], 1))
    now = turn("aten.logical_not", self=turn("aten.any.dim", self=by_kept, dim=0))
    changed = turn("aten.any", self=turn("aten.ne.Tensor", self=now, other=given[0]))
    body = turn.graph(given, now, changed)
    inputs = [("", value) for value in (condition, body, (kept, begins), (over,))]
    return calls.of("higher_order.while_loop", 2, inputs)[0]


def _corners(calls: Calls, place: g.Ref, size: Any) -> list[tuple[g.Ref, g.Ref]]:
    """The two places between which one lies along a side, and what each counts; what lies outside counts nothing."""
    inside = calls(
        "aten.logical_and",
        self=calls("aten.ge.Scalar", self=place, other=-1.0),
        other=calls("aten.le.Scalar", self=place, other=size),
    )
    last = calls.number("sub", size, 1)
    place = calls("aten.clamp", self=place, min=0.0, max=last)
    low = calls("aten.floor", self=place)
    above = calls("aten.sub.Tensor", self=place, other=low)
    first = calls.cast(low, dt.Long)
    second = calls("aten.clamp", self=calls("aten.add.Scalar", self=first, other=1), max=last)
    return [
        (first, _mul(calls, _scaled(calls, above, -1.0, 1.0), inside)),
        (second, _mul(calls, above, inside)),
    ]


def _length(calls: Calls, start: g.Ref, end: g.Ref, aligned: bool) -> g.Ref:
    """How long boxes are along one side."""
    length = calls("aten.sub.Tensor", self=end, other=start)
    return length if aligned else calls("aten.clamp", self=length, min=1.0)


def _samples(calls: Calls, start: g.Ref, length: g.Ref, bins: int, each: int, dtype: DType) -> g.Ref:
    """Where each box is sampled along one side: `(boxes, bins * each)`."""
    steps = calls("aten.arange", end=bins * each, dtype=dtype)
    steps = calls("aten.div.Scalar", self=_scaled(calls, steps, 1.0, 0.5), other=float(bins * each))
    steps = _mul(calls, _at(calls, length, 1), _at(calls, steps, 0))
    return calls("aten.add.Tensor", self=steps, other=_at(calls, start, 1))


def _bilinear(calls: Calls, input: g.Value, images: g.Ref, ys: g.Ref, xs: g.Ref) -> g.Ref:
    """An image's values at places `(boxes, h)` and `(boxes, w)`: `(boxes, h, w, c)`."""
    height, width = calls.size(input, 2), calls.size(input, 3)
    parts: list[g.Ref] = []
    for y, counted_y in _corners(calls, ys, height):
        for x, counted_x in _corners(calls, xs, width):
            places = (images, None, _at(calls, y, 2), _at(calls, x, 1))
            value = calls("aten.index.Tensor", self=input, indices=places)
            counted = _mul(calls, _at(calls, counted_y, 2), _at(calls, counted_x, 1))
            parts.append(_mul(calls, value, _at(calls, counted, 3)))
    return _sum(calls, parts)


@TORCHVISION.of("roi_align")
def roi_align(
    calls: Calls,
    input: g.Value,
    rois: g.Value,
    spatial_scale: float,
    pooled_height: Any,
    pooled_width: Any,
    sampling_ratio: int,
    aligned: bool,
) -> g.Ref:
    """Means of bilinear samples in the bins of boxes: of `(n, c, h, w)` and `(k, 5)`, an image's number and a box each, `(k, c, ph, pw)`."""
    dtype = calls.meta(input).dtype
    batch, *sides = calls.unbind(rois, 1, 5)
    left, top, right, bottom = (
        _scaled(calls, side, spatial_scale, -0.5 if aligned else 0.0) for side in sides
    )
    images = _at(calls, calls.cast(batch, dt.Long), 1, 2)
    ys = (top, _length(calls, top, bottom, aligned), pooled_height)
    xs = (left, _length(calls, left, right, aligned), pooled_width)
    if sampling_ratio > 0:
        places = (_samples(calls, *each, sampling_ratio, dtype) for each in (ys, xs))
        total = _bilinear(calls, input, images, *places)
        for dim, bins in ((2, pooled_width), (1, pooled_height)):
            total = calls("aten.unflatten.int", self=total, dim=dim, sizes=(bins, sampling_ratio))
            total = calls("aten.mean.dim", self=total, dim=(dim + 1,))
    else:
        total = _mean_of_as_many(calls, input, rois, images, ys, xs)
    return calls("aten.permute", self=total, dims=(0, 3, 1, 2))


Side: TypeAlias = "tuple[g.Ref, g.Ref, int]"
"""Where boxes begin along one side, how long they are, and how many bins they have."""


def _mean_of_as_many(calls: Calls, input: g.Value, rois: g.Value, images: g.Ref, ys: Side, xs: Side) -> g.Ref:
    """Means of as many samples as bins are large, in pixels, rounded up: `(k, ph, pw, c)`. A `while_loop` takes one sample of each bin a turn,
    row by row, those of the largest bins; one that a bin does not have counts nothing."""
    dtype = calls.meta(input).dtype
    if dtype not in (dt.Float, dt.Double):  # which count turns
        raise calls.unsupported(f"with as many samples as boxes are large, of {dtype.torch_name}")
    counts = [
        calls("aten.ceil", self=calls("aten.div.Scalar", self=length, other=bins))
        for _, length, bins in (ys, xs)
    ]
    rows, row = (  # 0 where there are no boxes
        calls("aten.amax", self=calls("aten.constant_pad_nd", self=count, pad=(0, 1)), dim=())
        for count in counts
    )
    shape = (calls.size(rois, 0), ys[2], xs[2], calls.size(input, 1))
    carried = (
        calls("aten.zeros", size=(), dtype=dtype),
        calls("aten.zeros", size=shape, dtype=dtype),
    )
    shared = (_mul(calls, rows, row), row, images, input, *ys[:2], counts[0], *xs[:2], counts[1])
    given = [g.Ref(f"{calls.node.name}_given{at}") for at in range(len(carried) + len(shared))]
    again, body = calls.inside("again"), calls.inside("turn", {given[5]: input})
    goes_on = again("aten.lt.Tensor", self=given[0], other=given[2])
    graphs = (
        again.graph(given, goes_on),
        body.graph(given, *_turn(body, given, ys[2], xs[2], dtype)),
    )
    inputs: list[tuple[str, Any]] = [("", value) for value in (*graphs, carried, shared)]
    _, total = calls.of("higher_order.while_loop", 2, inputs)
    samples = calls("aten.clamp", self=_mul(calls, *counts), min=1.0)
    return calls("aten.div.Tensor", self=total, other=_at(calls, samples, 1, 2, 3))


def _turn(
    calls: Calls, given: Sequence[g.Ref], bins_y: int, bins_x: int, dtype: DType
) -> tuple[g.Ref, g.Ref]:
    """What a turn of `_mean_of_as_many` carries on: the number of the next one, and the sum with a sample more."""
    turn, total, _, row, images, input, *sides = given
    at_y = calls("aten.div.Tensor_mode", self=turn, other=row, rounding_mode="floor")
    at_x = calls("aten.sub.Tensor", self=turn, other=_mul(calls, at_y, row))
    has_y, ys = _sample(calls, at_y, sides[:3], bins_y, dtype)
    has_x, xs = _sample(calls, at_x, sides[3:], bins_x, dtype)
    has = _at(calls, calls("aten.logical_and", self=has_y, other=has_x), 1, 2, 3)
    value = _bilinear(calls, input, images, ys, xs)
    value = calls("aten.where.ScalarOther", condition=has, self=value, other=0)
    return _scaled(calls, turn, 1.0, 1.0), calls("aten.add.Tensor", self=total, other=value)


def _sample(calls: Calls, at: g.Ref, side: Sequence[g.Ref], bins: int, dtype: DType) -> tuple[g.Ref, g.Ref]:
    """Whether bins have a sample of this number along one side, `(boxes,)`, and where it is, `(boxes, bins)`; of a side is said where boxes
    begin, how long they are, and how many samples their bins have."""
    start, length, count = side
    size = calls("aten.div.Scalar", self=length, other=bins)
    there = calls("aten.lt.Tensor", self=at, other=count)
    step = calls("aten.div.Tensor", self=size, other=calls("aten.clamp", self=count, min=1.0))
    first = calls("aten.add.Tensor", self=start, other=_mul(calls, _scaled(calls, at, 1.0, 0.5), step))
    bin = calls("aten.arange", end=bins, dtype=dtype)
    of_bins = _mul(calls, _at(calls, size, 1), _at(calls, bin, 0))
    return there, calls("aten.add.Tensor", self=of_bins, other=_at(calls, first, 1))


def _sum(calls: Calls, parts: Sequence[g.Ref]) -> g.Ref:
    total = parts[0]
    for part in parts[1:]:
        total = calls("aten.add.Tensor", self=total, other=part)
    return total


def _valid(calls: Calls, place: g.Ref, size: Any) -> g.Ref:
    """Whether a place is one of an image."""
    at_least = calls("aten.ge.Scalar", self=place, other=0)
    return calls("aten.logical_and", self=at_least, other=calls("aten.lt.Scalar", self=place, other=size))


def _sides(calls: Calls, place: g.Ref, size: Any) -> list[tuple[g.Ref, g.Ref]]:
    """As `_corners`, where only those outside count nothing."""
    low = calls("aten.floor", self=place)
    above = calls("aten.sub.Tensor", self=place, other=low)
    found: list[tuple[g.Ref, g.Ref]] = []
    for corner, counted in (
        (low, _scaled(calls, above, -1.0, 1.0)),
        (calls("aten.add.Scalar", self=low, other=1), above),
    ):
        counted = _mul(calls, counted, _valid(calls, corner, size))
        kept = calls("aten.clamp", self=corner, min=0, max=calls.number("sub", size, 1))
        found.append((calls.cast(kept, dt.Long), counted))
    return found


@TORCHVISION.of("deform_conv2d")
def deform_conv2d(
    calls: Calls,
    input: g.Value,
    weight: g.Value,
    offset: g.Value,
    mask: g.Value,
    bias: g.Value,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> g.Ref:
    """A convolution whose every tap lies where the program says: `(n, c, h, w)` sampled at its place and an offset, bilinearly, zero outside.

    Offsets are `(n, offset groups * taps * 2, oh, ow)`, y before x; masks, by which samples are multiplied, `(n, offset groups * taps, oh, ow)`.
    """
    out_channels, _, kernel_h, kernel_w = calls.fixed(weight, range(4))
    [channels] = calls.fixed(input, [1])
    dtype = calls.meta(input).dtype
    taps = kernel_h * kernel_w
    images, height, width = (calls.size(input, dim) for dim in (0, 2, 3))
    out_h, out_w = calls.size(offset, 2), calls.size(offset, 3)
    shape = (images, offset_groups, taps, 2, out_h, out_w)
    ys, xs = calls.unbind(calls("aten.reshape", self=offset, shape=shape), 3, 2)

    def grid(taps_of: int, stride: int, pad: int, dilation: int, out: Any, offsets: g.Ref, own: int) -> g.Ref:
        """Where taps lie: `(n, groups, taps, oh, ow)`. `own` is the axis of the output that is this one's."""
        tap = calls("aten.arange", end=taps, dtype=dt.Long)
        if taps_of == 0:
            tap = calls("aten.div.Scalar_mode", self=tap, other=kernel_w, rounding_mode="floor")
        else:
            tap = calls("aten.remainder.Scalar", self=tap, other=kernel_w)
        tap = calls("aten.mul.Scalar", self=tap, other=dilation)
        place = calls("aten.arange", end=out, dtype=dt.Long)
        place = calls("aten.add.Scalar", self=calls("aten.mul.Scalar", self=place, other=stride), other=-pad)
        place = _at(calls, place, 1) if own == 0 else _at(calls, place, 0)
        both = calls("aten.add.Tensor", self=_at(calls, tap, 1, 2), other=place)
        return calls("aten.add.Tensor", self=calls.cast(both, dtype), other=offsets)

    ys = grid(0, stride_h, pad_h, dilation_h, out_h, ys, 0)
    xs = grid(1, stride_w, pad_w, dilation_w, out_w, xs, 1)
    flat = calls("aten.reshape", self=input, shape=(images, offset_groups, channels // offset_groups, -1))
    parts: list[g.Ref] = []
    for y, counted_y in _sides(calls, ys, height):
        for x, counted_x in _sides(calls, xs, width):
            at = calls("aten.add.Tensor", self=calls("aten.mul.Scalar", self=y, other=width), other=x)
            at = calls("aten.reshape", self=at, shape=(images, offset_groups, 1, -1))
            at = calls("aten.expand", self=at, size=(-1, -1, channels // offset_groups, -1))
            value = calls("aten.gather", self=flat, dim=3, index=at)
            counted = calls(
                "aten.reshape",
                self=_mul(calls, counted_y, counted_x),
                shape=(images, offset_groups, 1, -1),
            )
            parts.append(_mul(calls, value, counted))
    columns = _sum(calls, parts)
    if use_mask:
        by = calls("aten.reshape", self=mask, shape=(images, offset_groups, 1, -1))
        columns = _mul(calls, columns, by)
    inner = channels // groups * taps
    columns = calls(
        "aten.reshape", self=columns, shape=(images, groups, inner, calls.number("mul", out_h, out_w))
    )
    kernel = calls("aten.reshape", self=weight, shape=(1, groups, out_channels // groups, inner))
    made = calls("aten.matmul", self=kernel, other=columns)
    made = calls("aten.reshape", self=made, shape=(images, out_channels, out_h, out_w))
    return calls("aten.add.Tensor", self=made, other=_at(calls, bias, 1, 2))
