"""`kernel-forms`: programs that are quantized. Weights that are integers of 8 bits stay so up to the kernel, which makes numbers of them as it reads
them; what is quantized and at once dequantized is rounded and clamped, in the kernel that makes it.

    mm(x, permute(dequantize_per_channel(w, s)))    becomes    mm(x, _to_copy(permute(w))) * s
    mm(x, permute(_to_copy(w) * s))                 the same, of float32
    mm(x, permute(view(view(w, [N, G, g]) * s)))    becomes    mm(x, view(view(_to_copy(permute(w)), [G, g, N]) * permute(s)))
    convolution(x, dequantize_per_channel(w, s), b) becomes    convolution(x, _to_copy(w), none) * s + b

    dequantize(quantize(x, s, z, low, high), s, z)  becomes    (clamp(round(x * (1 / s)) + z, low, high) - z) * s

Scales are those of output channels, or of groups of the reduction for each of these; zero points are known to be 0. A fourth of the memory of float32 is read, where that takes most of the
time; no weight is computed anew at each call. Results of products are rounded elsewhere: their last bits change.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.transforms.dead_code_elimination import region_dce

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Builder, Namespace, Results, cast, meta
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.program import methods_of, state_of
from xdsl_exir.targets.cpu.row_forms import Arguments, Form
from xdsl_exir.transforms.canonicalization import is_apart
from xdsl_exir.transforms.canonicalizations.pointwise import is_lossless
from xdsl_exir.transforms.canonicalizations.quantization import DEQUANTIZE, QUANTIZE
from xdsl_exir.transforms.fold_constants import constant_arguments, is_of_state
from xdsl_exir.transforms.matching import is_tensor, known, made_by, same_arguments, static
from xdsl_exir.transforms.patterns import KEEP, OperatorPattern, apply_once

PER_CHANNEL = "quantized_decomposed.dequantize_per_channel"


def rounded(aten: Namespace, a: Arguments) -> Results:
    """What quantizing leaves of a tensor, by one scale and zero point: float32 holds all its steps."""
    quantizing = made_by(a["input"], *QUANTIZE)
    if quantizing is None or not same_arguments(quantizing, {name: a[name] for name in GRID}):
        return KEEP
    given = quantizing.arguments()
    scale, zero = (given[name] for name in GRID[:2])
    if is_tensor(scale):
        scale, zero = (aten.view(cast(aten, each, dt.Float), []) for each in (scale, zero))
        inverse = aten.reciprocal(scale)
    else:
        with np.errstate(all="ignore"):
            inverse, zero = float(np.float32(1) / np.float32(scale)), float(zero)
    steps = aten.round(aten.mul.Tensor(cast(aten, given["input"], dt.Float), inverse))
    kept = aten.clamp(
        aten.add.Tensor(steps, zero), *(float(given[end]) for end in ("quant_min", "quant_max"))
    )
    return cast(aten, aten.mul.Tensor(aten.sub.Tensor(kept, zero), scale), a["out"].dtype)


GRID = ("scale", "zero_point", "dtype")
SHORT = frozenset({dt.Byte, dt.Char, dt.Short})
"""Integers of which float32 holds all sums of two."""
QUANTIZED_FORMS: dict[str, Form] = {
    name: Form(
        rounded,
        frozenset({dt.Float, dt.Half, dt.BFloat16}),
        lambda a: meta(a["input"]).dtype in SHORT,
        mixed=True,
    )
    for name in DEQUANTIZE
}
"""By operator."""


@dataclass(frozen=True)
class Weight:
    """Integers, times a number or numbers along dimensions of theirs."""

    integers: SSAValue
    scale: SSAValue | float | None = None
    along: tuple[int, ...] = ()
    """Which dimensions; none for a number."""
    turned: bool = False
    """Whether the weight is these as a matrix whose dimensions are swapped."""
    grouped: bool = False
    """Whether they are [N, G, g], for a weight [N, G * g]."""

    def is_along(self, dim: int) -> bool:
        """Whether all integers at a place of a dimension have one scale."""
        return self.along in ((), (dim,)) and not self.grouped


@dataclass(frozen=True)
class IntegerWeights(OperatorPattern):
    """Of products and convolutions in float32. `constants` are arrays of values that are known."""

    constants: Mapping[SSAValue, Any]

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        form = {
            "aten.convolution": self.convolution,
            "aten.mm": self.product,
            "aten.addmm": self.product,
        }.get(op.SPEC.qualified_name)
        if form is None or meta(op.results[0]).dtype is not dt.Float or is_apart(op):
            return KEEP
        return form(Namespace(builder), op.arguments())

    def product(self, aten: Namespace, a: Mapping[str, Any]) -> Results:
        """Of matrices, the right one the weight [K, N], whose scales are along N."""
        weight = self.weight(a["mat2"])
        x, added = (a["mat1"], a["self"]) if "mat1" in a else (a["self"], None)
        plain = added is None or known(a["alpha"]) == known(a["beta"]) == 1
        if weight is None or not plain or is_ready(a["mat2"]):
            return KEEP
        if weight.grouped and weight.turned:
            return finished(aten, aten.mm(x, by_groups(aten, weight)), None, added, [-1])
        if not weight.is_along(0 if weight.turned else 1):
            return KEEP
        integers = aten.permute(weight.integers, [1, 0]) if weight.turned else weight.integers
        made = aten.mm(x, aten._to_copy(integers, dtype=dt.Float))
        return finished(aten, made, weight.scale, added, [-1])

    def convolution(self, aten: Namespace, a: Mapping[str, Any]) -> Results:
        """By filters [O, C, ...], whose scales are along O."""
        weight = self.weight(a["weight"])
        if (
            weight is None
            or weight.turned
            or a["transposed"]
            or not weight.is_along(0)
            or is_ready(a["weight"])
        ):
            return KEEP
        widened, bias = aten._to_copy(weight.integers, dtype=dt.Float), a["bias"]
        made = aten.convolution(**{**a, "weight": widened, "bias": None})
        channels = [-1, *[1] * (meta(made).ndim - 2)]
        return finished(aten, made, weight.scale, bias and aten.view(bias, channels), channels)

    def weight(self, value: SSAValue) -> Weight | None:
        """What a weight is made of, if that is integers."""
        op = value.owner
        if not isinstance(op, OperatorOp):
            return None
        a = op.arguments()
        match op.SPEC.qualified_name:
            case "aten.permute":
                found = self.weight(op.operands[0]) if a["dims"] == [1, 0] else None
                return found and replace(found, turned=not found.turned)
            case "aten._to_copy" if is_lossless(dt.Char, meta(value).dtype):
                # Each of these integers is a number of such a dtype; times a scale it is not.
                found, given = (
                    integers_of_state(op.operands[0]) or self.weight(op.operands[0]),
                    meta(op.operands[0]),
                )
                exact = found is not None and (found.scale is None or given.dtype is meta(value).dtype)
                return found if exact else None
            case "aten.view":
                return seen_as(self.weight(op.operands[0]), meta(op.operands[0]).shape, meta(value).shape)
            case "aten.sub.Tensor" if self.is_zero(op.operands[1]):
                found = self.weight(op.operands[0])
                return found if meta(op.operands[0]).shape == meta(value).shape else None
            case "aten.mul.Tensor" if meta(value).dtype is dt.Float:
                x, y = op.operands
                found = self.times(x, y) or self.times(y, x)
                return (
                    found if found is not None and meta(found.integers).shape == meta(value).shape else None
                )
            case name if name in (PER_CHANNEL, *DEQUANTIZE) and meta(value).dtype is dt.Float:
                return self.dequantized(a)
            case _:
                return None

    def times(self, x: SSAValue, scale: SSAValue) -> Weight | None:
        """A weight times a tensor, if that is one number, or some along a dimension."""
        found = self.weight(x)
        if found is None or found.scale is not None or meta(scale).dtype is not dt.Float or found.turned:
            return None
        shape = meta(scale).shape
        several = tuple(dim for dim, size in enumerate(shape, meta(x).ndim - len(shape)) if size != 1)
        return None if len(shape) > meta(x).ndim else replace(found, scale=scale, along=several)

    def dequantized(self, a: Mapping[str, Any]) -> Weight | None:
        """Integers that are dequantized, if their zero points are known to be 0."""
        found = integers_of_state(a["input"])
        scale, zero = (a.get(f"{name}s", a.get(name)) for name in ("scale", "zero_point"))
        if (
            found is None
            or (is_tensor(scale) and meta(scale).dtype is not dt.Float)
            or not self.is_zero(zero)
        ):
            return None
        return replace(found, scale=scale, along=(a["axis"],) if "axis" in a else ())

    def is_zero(self, points: Any) -> bool:
        """Whether zero points are known to be 0."""
        if not is_tensor(points):
            return points in (None, 0)
        while (op := made_by(points, "aten.view", "aten._to_copy")) is not None:
            points = op.operands[0]
        return points in self.constants and not self.constants[points].any()


def keep_integers(ctx: Context, module: ModuleOp) -> None:
    """Takes integers to the products and convolutions that are by them, and drops what made other numbers of them."""
    methods = methods_of(module).values()
    if not any(is_tensor(arg) and meta(arg).dtype is dt.Char for method in methods for arg in method.args):
        return
    state = state_of(ctx)
    known = (constant_arguments(module, method, state) for method in methods)
    apply_once(module, IntegerWeights(ChainMap(*known)))
    region_dce(module.body)


def seen_as(weight: Weight | None, given: Sequence[Dim], shape: Sequence[Dim]) -> Weight | None:
    """A weight of a shape in another one: the same, or groups behind one another."""
    if weight is None or given == shape:
        return weight
    groups = static(given) if not weight.grouped and not weight.turned and weight.along == (0, 1) else None
    if groups is None or len(groups) != 3 or tuple(shape) != (groups[0], groups[1] * groups[2]):
        return None
    return replace(weight, grouped=True)


def by_groups(aten: Namespace, weight: Weight) -> SSAValue:
    """A weight [K, N], whose scales are those of groups of rows."""
    shape, scale = static(meta(weight.integers).shape), weight.scale
    assert shape is not None and isinstance(scale, SSAValue)  # noqa: PT018
    columns, count, size = shape
    integers = aten.permute(aten.view(weight.integers, [columns, count * size]), [1, 0])
    scales = aten.permute(aten.view(scale, [columns, count]), [1, 0])
    groups = aten.view(aten._to_copy(integers, dtype=dt.Float), [count, size, columns])
    scaled = aten.mul.Tensor(groups, aten.view(scales, [count, 1, columns]))
    return aten.view(scaled, [count * size, columns])


def is_ready(weight: SSAValue) -> bool:
    """Whether a weight is integers that are widened, and nothing else."""
    widening = made_by(weight, "aten._to_copy")
    return widening is not None and integers_of_state(widening.operands[0]) is not None


def integers_of_state(value: SSAValue) -> Weight | None:
    """Integers of 8 bits of a program's state."""
    return Weight(value) if meta(value).dtype is dt.Char and is_of_state(value) else None


def finished(
    aten: Namespace,
    made: SSAValue,
    scale: SSAValue | float | None,
    added: SSAValue | None,
    channels: Sequence[int],
) -> SSAValue:
    """What was made of integers, times the scale of each channel, and what is added to that."""
    if scale is not None:
        if isinstance(scale, SSAValue) and meta(scale).shape not in ((), (1,)):
            scale = aten.view(scale, channels)
        made = aten.mul.Tensor(made, scale)
    return made if added is None else aten.add.Tensor(made, added)
