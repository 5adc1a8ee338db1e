"""What detectors' archives call of torchvision where it is run as it is: `nms` keeps as many boxes as data say, one decided after another."""

from __future__ import annotations

import numpy as np

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.importers.torchscript.special import special
from xdsl_exir.importers.torchscript.tensors import Tensors
from xdsl_exir.importers.torchscript.values import TensorValue


@special("torchvision.nms")
def nms(tensors: Tensors, dets: TensorValue, scores: TensorValue, iou_threshold: float) -> TensorValue:
    """The boxes that no box of a higher score overlaps by more than the threshold, in the order of scores."""
    boxes, ranked = tensors.array(dets), tensors.array(scores)
    if boxes is None or ranked is None:
        return tensors.stands_for(
            "torchvision.nms", {"dets": dets, "scores": scores, "iou_threshold": iou_threshold}
        )
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
