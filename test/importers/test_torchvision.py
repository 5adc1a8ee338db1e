"""torchvision's operators, in programs that `torch.export` gives, against their definitions in loops."""

# pyright: basic

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import xdsl_exir

TARGETS = ["interpreter", pytest.param("native", marks=pytest.mark.native)]
RNG = np.random.default_rng(0)


def program(operator: str, names: str, arguments: str, types: dict[str, str]) -> xdsl_exir.Program:
    """A call of one operator, as FX text."""
    inputs = "\n".join(f"    %{name} : [num_users=1] = placeholder[target={name}]" for name in names.split())
    call = (
        f"call_function[target=torch.ops.torchvision.{operator}.default](args = ({arguments}), kwargs = {{}})"
    )
    text = f"graph():\n{inputs}\n    %y : [num_users=1] = {call}\n    return (%y,)\n"
    return xdsl_exir.from_fx_text(text, types)


def typed(arrays: dict[str, np.ndarray], symbolic: dict[str, str]) -> dict[str, str]:
    """The types of arrays; `symbolic` are those with sizes that are symbols."""
    known = {name: f"{x.dtype}[{', '.join(map(str, x.shape))}]" for name, x in arrays.items()}
    return known | symbolic


def sample(image: np.ndarray, y: float, x: float) -> np.ndarray:
    """Bilinear, of `(c, h, w)`; what lies outside is zero."""
    _, height, width = image.shape
    low, left = int(np.floor(y)), int(np.floor(x))
    total = np.zeros(len(image))
    for row, column in itertools.product((low, low + 1), (left, left + 1)):
        if 0 <= row < height and 0 <= column < width:
            total += (1 - abs(y - row)) * (1 - abs(x - column)) * image[:, row, column]
    return total


def deformed(given: dict[str, np.ndarray], numbers: list[int], use_mask: bool) -> np.ndarray:
    input, weight, offset, mask, bias = given.values()
    (sh, sw, ph, pw, dh, dw, groups, own), (count, height, width) = numbers, weight.shape[1:]
    out = np.zeros((len(input), len(weight), *offset.shape[2:]))
    each, outs = input.shape[1] // own, len(weight) // groups
    for n, y, x in itertools.product(range(len(input)), *map(range, offset.shape[2:])):
        taps = np.zeros((input.shape[1], height, width))
        for g, i, j in itertools.product(range(own), range(height), range(width)):
            k = (g * height + i) * width + j
            at = offset[n, 2 * k : 2 * k + 2, y, x]
            found = sample(input[n, g * each : (g + 1) * each], y * sh - ph + i * dh + at[0], x * sw - pw + j * dw + at[1])  # fmt: skip
            taps[g * each : (g + 1) * each, i, j] = found * (mask[n, k, y, x] if use_mask else 1)
        for g in range(groups):
            own_taps = taps[g * count : (g + 1) * count]
            out[n, g * outs : (g + 1) * outs, y, x] = np.tensordot(weight[g * outs : (g + 1) * outs], own_taps, 3)  # fmt: skip
    return out + bias[:, None, None]


CONVOLUTIONS: dict[str, tuple[Any, ...]] = {
    "plain": ((2, 4, 7, 8), (6, 3, 3), [1, 1, 1, 1, 1, 1, 1, 1], True),
    "groups, strides": ((1, 4, 7, 9), (4, 3, 2), [2, 1, 0, 1, 1, 2, 2, 2], False),
    "one tap": ((1, 6, 5, 5), (6, 1, 1), [1, 1, 0, 0, 1, 1, 3, 3], True),
}
"""Sizes of the input, outputs and taps, numbers as they are given, whether there is a mask."""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("shape", "kernel", "numbers", "use_mask"), CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_deform_conv2d(shape, kernel, numbers, use_mask, target: str, native_tools: None) -> None:
    (n, channels, *sides), (outs, *taps) = shape, kernel
    sh, sw, ph, pw, dh, dw, groups, own = numbers
    out = [(side + 2 * p - d * (k - 1) - 1) // s + 1 for side, p, d, k, s in zip(sides, (ph, pw), (dh, dw), taps, (sh, sw), strict=True)]  # fmt: skip
    shapes = {
        "a": shape, "w": (outs, channels // groups, *taps), "o": (n, 2 * own * taps[0] * taps[1], *out),
        "m": (n, own * taps[0] * taps[1], *out), "b": (outs,),
    }  # fmt: skip
    given = {name: RNG.normal(size=size).astype(np.float32) * (2 if name == "o" else 1) for name, size in shapes.items()}  # fmt: skip
    arguments = f"%a, %w, %o, %m, %b, {', '.join(map(str, numbers))}, {use_mask}"
    wanted = deformed(given, numbers, use_mask)
    rows = {"a": f"float32[s0, {channels}, s1, s2]"} | {
        name: f"float32[s0, {shapes[name][1]}, s3, s4]" for name in "om"
    }
    for symbolic in ({}, rows):
        run = xdsl_exir.compile(
            program("deform_conv2d", "a w o m b", arguments, typed(given, symbolic)), target
        )
        np.testing.assert_allclose(run.flat(list(given.values()))[0], wanted, rtol=1e-4, atol=1e-5)


def aligned_features(input: np.ndarray, rois: np.ndarray, scale: float, bins: tuple[int, int], each: int, aligned: bool):  # fmt: skip
    out = np.zeros((len(rois), input.shape[1], *bins))
    _, _, height, width = input.shape
    for k, (image, left, top, right, bottom) in enumerate(rois):
        less = 0.5 if aligned else 0.0
        start = np.array([top, left]) * scale - less
        size = np.array([bottom, right]) * scale - less - start
        size = size if aligned else np.maximum(size, 1.0)
        rows, columns = (each, each) if each > 0 else np.maximum(np.ceil(size / bins), 0).astype(int)
        for i, j, u, v in itertools.product(range(bins[0]), range(bins[1]), range(rows), range(columns)):
            y, x = start + (np.array([i, j]) + (np.array([u, v]) + 0.5) / (rows, columns)) * size / np.array(
                bins
            )
            if -1 <= y <= height and -1 <= x <= width:
                y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
                out[k, :, i, j] += sample(input[int(image)], y, x) / (rows * columns)
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("each", [2, -1])
def test_roi_align(each: int, aligned: bool, target: str, native_tools: None) -> None:
    """Boxes of all sizes, outside of the image, too; some that end before they begin, and no boxes."""
    input = RNG.normal(size=(2, 3, 9, 11)).astype(np.float32)
    corners = RNG.uniform(-4, 24, size=(6, 4))
    rois = np.column_stack([RNG.integers(0, 2, 6), np.sort(corners.reshape(6, 2, 2), 1).reshape(6, 4)]).astype(np.float32)  # fmt: skip
    rois[-1, 1:] = rois[-1, [3, 4, 1, 2]]
    wanted = aligned_features(input, rois, 0.5, (3, 2), each, aligned)
    for types in ({}, {"a": "float32[s0, 3, s1, s2]", "r": "float32[s3, 5]"}):
        known = typed({"a": input, "r": rois}, types)
        made = program("roi_align", "a r", f"%a, %r, 0.5, 3, 2, {each}, {aligned}", known)
        run = xdsl_exir.compile(made, target)
        np.testing.assert_allclose(run.flat([input, rois])[0], wanted, rtol=1e-4, atol=1e-5)
        if types:
            assert run.flat([input, rois[:0]])[0].shape == (0, 3, 3, 2)


@pytest.mark.parametrize("target", TARGETS)
def test_nms_that_torch_exports(target: str, native_tools: None) -> None:
    """A detector's last step: how many boxes there are is a symbol of the program's."""
    torch = pytest.importorskip("torch")
    if not hasattr(torch.ops.torchvision, "nms"):
        library = torch.library.Library("torchvision", "FRAGMENT")
        library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        torch.library.register_fake("torchvision::nms", lambda dets, scores, most: dets.new_empty(
            torch.library.get_ctx().new_dynamic_size(), dtype=torch.int64), lib=library)  # fmt: skip

    class Best(torch.nn.Module):
        def forward(self, boxes, scores):
            return boxes[torch.ops.torchvision.nms(boxes, scores, 0.5)]

    boxes = RNG.uniform(0, 9, size=(40, 2, 2)).astype(np.float32)
    boxes, scores = np.sort(boxes, 1).reshape(40, 4), RNG.random(40, np.float32)
    left, kept = list(np.argsort(-scores)), []
    while left:
        best, *left = left
        kept.append(best)
        low, high = np.maximum(boxes[best, :2], boxes[left, :2]), np.minimum(boxes[best, 2:], boxes[left, 2:])  # fmt: skip
        common, area = (high - low).clip(0).prod(1), (boxes[:, 2:] - boxes[:, :2]).prod(1)
        left = [at for at, shared in zip(left, common / (area[best] + area[left] - common), strict=True) if shared <= 0.5]  # fmt: skip
    exported = torch.export.export(Best(), (torch.tensor(boxes), torch.tensor(scores)))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target)
    np.testing.assert_array_equal(run(boxes, scores), boxes[kept])
    assert 1 < len(kept) < 40
