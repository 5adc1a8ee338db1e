"""Fake quantization that observes what it is given, as models have it that are trained for quantization.

Formulas: `aten/src/ATen/native/quantized/cpu/fused_obs_fake_quant.cpp`, and `ChooseQuantizationParams` of `QuantUtils.h`.
"""

from __future__ import annotations

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.exchange.graph import Ref, Value
from xdsl_exir.importers.synonyms.calls import Calls, Table

OBSERVED = Table("aten")

SMALL_SCALE = 6.1e-5
"""What a scale is at least."""


@OBSERVED.of("fused_moving_avg_obs_fake_quant")
def fused_moving_avg_obs_fake_quant(
    calls: Calls,
    self: Value,
    observer_on: Value,
    fake_quant_on: Value,
    running_min: Value,
    running_max: Value,
    scale: Value,
    zero_point: Value,
    averaging_const: Value,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> Ref:
    """Writes to the running bounds where it observes; where it quantizes, to scale and zero point."""
    if 0 in calls.meta(running_min).sizes:
        raise calls.unsupported("that has not observed anything")
    dims = [dim for dim in range(len(calls.meta(self).sizes)) if not per_row_fake_quant or dim != ch_axis]
    bounds = [
        _averaged(
            calls, calls(f"aten.{name}", self=self, dim=tuple(dims)), running, averaging_const, observer_on
        )
        for name, running in (("amin", running_min), ("amax", running_max))
    ]
    found = _scale_and_point(calls, bounds, quant_min, quant_max, symmetric_quant)
    on = _flag(calls, fake_quant_on)
    for written, value in zip((scale, zero_point), found, strict=True):
        _write(calls, written, value, on)
    chosen = {"self": self, "scale": scale, "zero_point": zero_point}
    limits = {"quant_min": quant_min, "quant_max": quant_max}
    if per_row_fake_quant:
        made = calls("aten.fake_quantize_per_channel_affine", **chosen, axis=ch_axis, **limits)
    else:
        made = calls("aten.fake_quantize_per_tensor_affine.tensor_qparams", **chosen, **limits)
    return calls("aten.where.self", condition=on, self=made, other=self)


def _flag(calls: Calls, value: Value) -> Ref:
    return calls("aten.ne.Scalar", self=calls("aten.reshape", self=value, shape=()), other=0)


def _write(calls: Calls, written: Value, value: Value, on: Value) -> None:
    old = calls.meta(written)
    shaped = calls("aten.reshape", self=calls.cast(value, old.dtype), shape=tuple(old.sizes))
    calls("aten.copy_", self=written, src=calls("aten.where.self", condition=on, self=shaped, other=written))


def _averaged(calls: Calls, seen: Ref, running: Value, weight: Value, observer_on: Value) -> Ref:
    """A running bound with what is seen now, which alone it is at first."""
    seen = calls("aten.reshape", self=seen, shape=tuple(calls.meta(running).sizes))
    step = calls("aten.mul.Scalar", self=calls("aten.sub.Tensor", self=seen, other=running), other=weight)
    moved = calls("aten.add.Tensor", self=running, other=step)
    first = calls("aten.isinf", self=running)
    new = calls("aten.where.self", condition=first, self=seen, other=moved)
    _write(calls, running, new, _flag(calls, observer_on))
    return calls.cast(running, dt.Double)


def _scale_and_point(
    calls: Calls, bounds: list[Ref], least: int, most: int, symmetric: bool
) -> tuple[Ref, Ref]:
    """Where `symmetric`, and numbers have both signs, zero is in the middle."""
    low, high = bounds
    below, above = calls("aten.lt.Scalar", self=low, other=0), calls("aten.gt.Scalar", self=high, other=0)
    both = calls("aten.bitwise_and.Tensor", self=below, other=above)
    if symmetric:
        half = (most - least) // 2
        ends = [
            calls("aten.div.Scalar", self=end, other=of)
            for end, of in ((low, float(-half - 1)), (high, float(half)))
        ]
        widest = calls(
            "aten.maximum", self=calls("aten.abs", self=ends[0]), other=calls("aten.abs", self=ends[1])
        )
        low, high = (
            calls(
                "aten.where.self",
                condition=both,
                self=calls("aten.mul.Scalar", self=widest, other=of),
                other=end,
            )
            for end, of in ((low, float(-half - 1)), (high, float(half)))
        )
    low, high = calls("aten.clamp", self=low, max=0), calls("aten.clamp", self=high, min=0)
    given = calls(
        "aten.div.Scalar", self=calls("aten.sub.Tensor", self=high, other=low), other=float(most - least)
    )
    tiny = calls("aten.isinf", self=calls("aten.reciprocal", self=calls.cast(given, dt.Float)))
    given = calls("aten.masked_fill.Scalar", self=given, mask=tiny, value=0.1)
    scale = calls("aten.clamp", self=given, min=SMALL_SCALE)
    # bounds that are as far apart as the scale says: by as much as it grew
    grown = calls("aten.div.Tensor", self=scale, other=given)
    steps = [
        calls("aten.div.Tensor", self=calls("aten.mul.Tensor", self=end, other=grown), other=scale)
        for end in (low, high)
    ]
    points = [
        calls("aten.rsub.Scalar", self=step, other=of) for step, of in zip(steps, (least, most), strict=True)
    ]
    errors = [
        calls("aten.add.Scalar", self=calls("aten.abs", self=step), other=abs(of))
        for step, of in zip(steps, (least, most), strict=True)
    ]
    is_lower = calls("aten.lt.Tensor", self=errors[0], other=errors[1])
    point = calls("aten.where.self", condition=is_lower, self=points[0], other=points[1])
    if symmetric:
        point = calls("aten.masked_fill.Scalar", self=point, mask=both, value=(least + most) / 2)
    return scale, calls("aten.clamp", self=calls("aten.round", self=point), min=least, max=most)
