"""Operators that torchvision registers, which detectors' archives call: made of aten's, as far as that can be.

`nms` keeps as many boxes as data say. It decides on one after another where boxes are known, in runs of the program as it is; what is traced
decides on all at once, again and again until nothing changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.torchscript.special import SCALAR_TENSOR, special
from xdsl_exir.importers.torchscript.tensors import Tensors
from xdsl_exir.importers.torchscript.values import TensorValue


@special("torchvision.nms")
def nms(tensors: Tensors, dets: TensorValue, scores: TensorValue, iou_threshold: float) -> TensorValue:
    """The boxes that no box of a higher score overlaps by more than the threshold, in the order of scores."""
    boxes, ranked = tensors.array(dets), tensors.array(scores)
    if boxes is None or ranked is None:
        return _traced_nms(tensors, dets, scores, iou_threshold)
    order = np.argsort(-ranked, kind="stable")
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    gone, kept = np.zeros(len(boxes), bool), list[int]()
    with np.errstate(all="ignore"):
        for at in order:
            if gone[at]:
                continue
            kept.append(int(at))
            low, high = (
                np.maximum(boxes[at, :2], boxes[:, :2]),
                np.minimum(boxes[at, 2:], boxes[:, 2:]),
            )
            common = np.clip(high - low, 0, None).prod(axis=1, dtype=boxes.dtype)
            gone |= common / (area[at] + area - common) > iou_threshold
    return tensors.literal(np.array(kept, np.int64), dt.Long)


class _Calls:
    """Calls of aten's operators, by position."""

    def __init__(self, tensors: Tensors):
        self.tensors = tensors

    def __call__(self, target: str, /, **given: Any) -> TensorValue:
        return self.tensors.call(f"aten.{target}", given, SCALAR_TENSOR)

    def scaled(self, self_: TensorValue, by: float, plus: float = 0.0) -> TensorValue:
        made = self("mul.Scalar", self=self_, other=by) if by != 1 else self_
        return self("add.Scalar", self=made, other=plus) if plus else made

    def mul(self, a: TensorValue, b: TensorValue) -> TensorValue:
        return self("mul.Tensor", self=a, other=b)

    def at(self, self_: TensorValue, dim: int) -> TensorValue:
        return self("unsqueeze", self=self_, dim=dim)


def _traced_nms(
    tensors: Tensors, dets: TensorValue, scores: TensorValue, iou_threshold: float
) -> TensorValue:
    """A box is kept if none that is kept comes before it and overlaps it. Of all boxes at once, that is asked until the answers
    stay the same: they are right for one more of the first boxes each time."""
    aten = _Calls(tensors)
    order = aten("argsort.stable", self=scores, stable=True, descending=True)
    boxes = aten("index.Tensor", self=dets, indices=[order])
    left, top, right, bottom = tensors.call("aten.unbind.int", {"self": boxes, "dim": 1})

    def of_pairs(target: str, each: TensorValue) -> TensorValue:
        return aten(target, self=aten.at(each, 1), other=aten.at(each, 0))

    def side(low: TensorValue, high: TensorValue) -> TensorValue:
        length = aten("sub.Tensor", self=of_pairs("minimum", high), other=of_pairs("maximum", low))
        return aten("clamp", self=length, min=0.0)

    area = aten.mul(aten("sub.Tensor", self=right, other=left), aten("sub.Tensor", self=bottom, other=top))
    common = aten.mul(side(left, right), side(top, bottom))
    union = aten("sub.Tensor", self=of_pairs("add.Tensor", area), other=common)
    over = aten("gt.Scalar", self=aten("div.Tensor", self=common, other=union), other=iou_threshold)
    over = aten("triu", self=over, diagonal=1)
    kept = aten("ones_like", self=scores, dtype=dt.Bool.code)
    begins = aten("ones", size=[], dtype=dt.Bool.code)
    return aten("index.Tensor", self=order, indices=[_settled(tensors, kept, begins, over)])


def _settled(tensors: Tensors, kept: TensorValue, begins: TensorValue, over: TensorValue) -> TensorValue:
    """The `while_loop` that asks until nothing changes."""
    given = tuple(g.Ref(f"{tensors.fresh('nms')}_{name}") for name in ("kept", "goes_on", "over"))

    def graph(*steps: tuple[str, dict[str, g.Value]], outputs: tuple[str, ...]) -> g.Subgraph:
        nodes = [
            replace(
                tensors.node(target, tuple(g.NodeInput(name, value, False) for name, value in of.items())),
                outputs=(g.Ref(f"step{at}"),),
            )
            for at, (target, of) in enumerate(steps)
        ]
        made = g.Graph(given, tuple(nodes), tuple(map(g.Ref, outputs)), {})
        return g.Subgraph(tensors.fresh("graph"), made)

    condition = graph(("aten.clone", {"self": given[1]}), outputs=("step0",))
    body = graph(
        ("aten.unsqueeze", {"self": given[0], "dim": 1}),
        ("aten.logical_and", {"self": given[2], "other": g.Ref("step0")}),
        ("aten.any.dim", {"self": g.Ref("step1"), "dim": 0}),
        ("aten.logical_not", {"self": g.Ref("step2")}),
        ("aten.ne.Tensor", {"self": g.Ref("step3"), "other": given[0]}),
        ("aten.any", {"self": g.Ref("step4")}),
        outputs=("step3", "step5"),
    )
    carried = (g.Ref(kept.name), g.Ref(begins.name))
    inputs = (condition, body, carried, (g.Ref(over.name),))
    node = tensors.node("higher_order.while_loop", tuple(g.NodeInput("", item, False) for item in inputs))
    made = [tensors.fresh("while_loop") for _ in carried]
    tensors.add(replace(node, outputs=tuple(map(g.Ref, made))))
    return TensorValue(made[0])


def _samples(
    aten: _Calls, start: TensorValue, end: TensorValue, bins: int, each: int, aligned: bool, dtype: int
) -> TensorValue:
    """Where each box is sampled along one axis: `(boxes, bins * each)`."""
    length = aten("sub.Tensor", self=end, other=start)
    if not aligned:
        length = aten("clamp", self=length, min=1.0)
    steps = aten("arange", end=bins * each, dtype=dtype)
    steps = aten("div.Scalar", self=aten.scaled(steps, 1.0, 0.5), other=float(bins * each))
    return aten(
        "add.Tensor",
        self=aten.mul(aten.at(length, 1), aten.at(steps, 0)),
        other=aten.at(start, 1),
    )


def _corners(aten: _Calls, place: TensorValue, size: int) -> tuple[list[TensorValue], list[TensorValue]]:
    """The two places between which one lies, and what they count; what lies outside counts nothing."""
    inside = aten(
        "logical_and",
        self=aten("ge.Scalar", self=place, other=-1.0),
        other=aten("le.Scalar", self=place, other=float(size)),
    )
    place = aten("clamp", self=place, min=0.0, max=float(size - 1))
    low = aten("floor", self=place)
    above = aten("sub.Tensor", self=place, other=low)
    counted = aten("mul.Tensor", self=above, other=inside)
    below = aten("mul.Tensor", self=aten.scaled(above, -1.0, 1.0), other=inside)
    first = aten("to.dtype", self=low, dtype=dt.Long.code)
    second = aten("clamp", self=aten("add.Scalar", self=first, other=1), max=size - 1)
    return [first, second], [below, counted]


@special("torchvision.roi_align")
def roi_align(
    tensors: Tensors,
    input: TensorValue,
    rois: TensorValue,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> TensorValue:
    """Means of bilinear samples in the bins of boxes."""
    height, width = tensors.meta(input).shape[2:]
    if sampling_ratio <= 0 or not isinstance(height, int) or not isinstance(width, int):
        reason = "with as many samples as boxes are large, or of symbolic sizes"
        raise UnsupportedError([Unsupported("torchvision.roi_align", reason)])
    aten, dtype = _Calls(tensors), tensors.meta(input).dtype.code
    batch, *sides = tensors.call("aten.unbind.int", {"self": rois, "dim": 1})
    sides = [aten.scaled(side, spatial_scale, -0.5 if aligned else 0.0) for side in sides]
    ys = _samples(aten, sides[1], sides[3], pooled_height, sampling_ratio, aligned, dtype)
    xs = _samples(aten, sides[0], sides[2], pooled_width, sampling_ratio, aligned, dtype)
    batch = aten.at(aten.at(aten("to.dtype", self=batch, dtype=dt.Long.code), 1), 2)
    total: TensorValue | None = None
    for y, wy in zip(*_corners(aten, ys, height), strict=True):
        for x, wx in zip(*_corners(aten, xs, width), strict=True):
            value = aten("index.Tensor", self=input, indices=[batch, None, aten.at(y, 2), aten.at(x, 1)])
            weight = aten.mul(aten.at(wy, 2), aten.at(wx, 1))
            value = aten.mul(value, aten.at(weight, 3))
            total = value if total is None else aten("add.Tensor", self=total, other=value)
    assert total is not None
    for dim, bins in ((2, pooled_width), (1, pooled_height)):
        total = aten("unflatten.int", self=total, dim=dim, sizes=[bins, sampling_ratio])
        total = aten("mean.dim", self=total, dim=[dim + 1])
    return aten("permute", self=total, dims=[0, 3, 1, 2])
