"""Operators that torchvision registers, which detectors call: non-maximum suppression, boxes' features, deformable convolution.

Formulas: torchvision's CPU kernels (`torchvision/csrc/ops/cpu`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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

    def graph(name: str, *steps: tuple[str, dict[str, g.Value]], outputs: tuple[str, ...]) -> g.Subgraph:
        nodes = [
            replace(
                calls.node,
                name=f"step{at}",
                target=target,
                inputs=tuple(g.NodeInput(key, value, False) for key, value in of.items()),
                outputs=(g.Ref(f"step{at}"),),
            )
            for at, (target, of) in enumerate(steps)
        ]
        made = g.Graph(given, tuple(nodes), tuple(map(g.Ref, outputs)), {})
        return g.Subgraph(f"{calls.node.name}_{name}", made)

    condition = graph("again", ("aten.clone", {"self": given[1]}), outputs=("step0",))
    body = graph(
        "turn",
        ("aten.unsqueeze", {"self": given[0], "dim": 1}),
        ("aten.logical_and", {"self": given[2], "other": g.Ref("step0")}),
        ("aten.any.dim", {"self": g.Ref("step1"), "dim": 0}),
        ("aten.logical_not", {"self": g.Ref("step2")}),
        ("aten.ne.Tensor", {"self": g.Ref("step3"), "other": given[0]}),
        ("aten.any", {"self": g.Ref("step4")}),
        outputs=("step3", "step5"),
    )
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


def _samples(
    calls: Calls, start: g.Ref, end: g.Ref, bins: int, each: int, aligned: bool, dtype: DType
) -> g.Ref:
    """Where each box is sampled along one side: `(boxes, bins * each)`."""
    length = calls("aten.sub.Tensor", self=end, other=start)
    if not aligned:
        length = calls("aten.clamp", self=length, min=1.0)
    steps = calls("aten.arange", end=bins * each, dtype=dtype)
    steps = calls("aten.div.Scalar", self=_scaled(calls, steps, 1.0, 0.5), other=float(bins * each))
    steps = _mul(calls, _at(calls, length, 1), _at(calls, steps, 0))
    return calls("aten.add.Tensor", self=steps, other=_at(calls, start, 1))


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
    if sampling_ratio <= 0:
        raise calls.unsupported("with as many samples as boxes are large (sampling_ratio=-1)")
    dtype = calls.meta(input).dtype
    height, width = calls.size(input, 2), calls.size(input, 3)
    batch, *sides = calls.unbind(rois, 1, 5)
    sides = [_scaled(calls, side, spatial_scale, -0.5 if aligned else 0.0) for side in sides]
    ys = _samples(calls, sides[1], sides[3], pooled_height, sampling_ratio, aligned, dtype)
    xs = _samples(calls, sides[0], sides[2], pooled_width, sampling_ratio, aligned, dtype)
    images = _at(calls, calls.cast(batch, dt.Long), 1, 2)
    parts: list[g.Ref] = []
    for y, counted_y in _corners(calls, ys, height):
        for x, counted_x in _corners(calls, xs, width):
            places = (images, None, _at(calls, y, 2), _at(calls, x, 1))
            value = calls("aten.index.Tensor", self=input, indices=places)
            counted = _mul(calls, _at(calls, counted_y, 2), _at(calls, counted_x, 1))
            parts.append(_mul(calls, value, _at(calls, counted, 3)))
    total = _sum(calls, parts)
    for dim, bins in ((2, pooled_width), (1, pooled_height)):
        total = calls("aten.unflatten.int", self=total, dim=dim, sizes=(bins, sampling_ratio))
        total = calls("aten.mean.dim", self=total, dim=(dim + 1,))
    return calls("aten.permute", self=total, dims=(0, 3, 1, 2))


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
