"""`kernel-forms`: operators in the forms that fast kernels take, at edge, before a program is cut into dispatches.

    mm(f16, f16)                        becomes    _to_copy(mm(_to_copy(f16) : f32, ...)) : f16
    addmm(x, a, b, alpha = 2)           becomes    x + 2 * mm(a, b), but of float32 without factors, whose kernel adds
    convolution of three dimensions     becomes    one of two, whose channels are those of each depth that the kernel sees
    taps of a convolution that see      become     nothing
      nothing but padding
    a transposed convolution            becomes    one whose channels are the phases of its stride, put side by side
    a batch norm after a convolution    becomes    part of its weight and bias (`fold-batch-norm`)
    convolution of float64, integers    becomes    a product of its filters with the columns of what they see
    transforms of several dimensions    become     one after the other (`fourier_forms`)
    pow(x, 2)                           becomes    x * x

What is made of weights is written as operators of weights, for constants to be folded. A rule says KEEP where it has no
better form. All of them hold for symbolic sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.backend import DelegateOp, DispatchOp
from xdsl_exir.dialects.builder import Builder, Namespace, Results, flat_results, meta, sizes
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import pair
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.lowering.bodies import BodiesInPlace
from xdsl_exir.lowering.dispatches.views import is_view
from xdsl_exir.targets.cpu.fourier_forms import FOURIER_FORMS
from xdsl_exir.targets.cpu.order_forms import ORDER_FORMS
from xdsl_exir.targets.cpu.row_forms import ROW_FORMS, Arguments, Form, narrowed
from xdsl_exir.transforms.decompositions.pointwise import KERNEL_POWERS
from xdsl_exir.transforms.decompositions.view import Sizes
from xdsl_exir.transforms.fold_batch_norm import FoldBatchNorm
from xdsl_exir.transforms.matching import is_tensor, known, made_by, static
from xdsl_exir.transforms.patterns import KEEP, OperatorPattern, apply_once

WIDER = {dt.Half: dt.Float, dt.BFloat16: dt.Float, dt.Char: dt.Int, dt.Byte: dt.Int, dt.Short: dt.Int}
"""In which dtype a product of another is computed: sums are rounded once, integers are cut off."""


def product(aten: Namespace, name: str, a: Arguments) -> Results:
    """A product of two matrices, or of batches of them. Of a matrix and a vector it is that of the vector and the turned matrix."""
    multiply, matrix, other = getattr(aten, name), a["self"], a["mat2"]
    if not is_matvec(a):
        return multiply(matrix, other)
    *batch, rows, count = sizes(aten, matrix)
    vectors = aten.view(other, [*batch, 1, count])
    made = multiply(vectors, aten.permute(matrix, [*range(len(batch)), -1, -2]))
    return aten.view(made, [*batch, rows, 1])


def is_matvec(a: Arguments) -> bool:
    """Whether it is the product of a matrix of several rows and a vector."""
    *shape, count = meta(a["self"]).shape
    unknown = [size for size in shape if not isinstance(size, int)]
    if len(unknown) > 1 or not isinstance(count, int) or meta(a["mat2"]).shape[-2] != count:
        return False
    return 0 not in (*shape, count) and meta(a["mat2"]).shape[-1] == 1 and shape[-1] != 1


def added_product(aten: Namespace, a: Arguments) -> Results:
    """`beta * self + alpha * (mat1 @ mat2)`, where a `beta` of 0 drops even NaN; as it is where its kernel takes it."""
    beta, alpha, dtype = a["beta"], a["alpha"], meta(a["mat1"]).dtype
    factors = {"self": a["mat1"], "mat2": a["mat2"]}
    if (beta, alpha) == (1, 1) and dtype is dt.Float and not is_matvec(factors):
        return aten.addmm(a["self"], a["mat1"], a["mat2"])
    if dtype not in (dt.Float, dt.Double) and not (isinstance(beta, int) and isinstance(alpha, int)):
        return KEEP
    result = product(aten, "mm", factors)
    if alpha != 1:
        result = aten.mul.Tensor(result, alpha)
    if beta == 0:
        return result
    return aten.add.Tensor(result, a["self"] if beta == 1 else aten.mul.Tensor(a["self"], beta))


def is_added_apart(a: Arguments) -> bool:
    """Whether the kernel of products does not add."""
    scaled = (a["beta"], a["alpha"]) != (1, 1) or a["out"].dtype is not dt.Float
    return scaled or is_matvec({"self": a["mat1"], "mat2": a["mat2"]})


def added_matvec(aten: Namespace, a: Arguments) -> Results:
    """The same of a matrix and a vector, which is a matrix of one column."""
    vector = aten.unsqueeze(a["vec"], 1)
    addend = a["self"] if not meta(a["self"]).ndim else aten.unsqueeze(a["self"], 1)
    given = {**a, "self": addend, "mat1": a["mat"], "mat2": vector}
    made = added_product(aten, given)
    return KEEP if made is KEEP else aten.squeeze.dims(made, [1])


# --- convolutions ------------------------------------------------------------------------------------------------


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
    if shape is None or 0 in shape or not 1 <= space <= 3 or not moves_as_said(a):
        return aten.convolution(**a)
    if not a["transposed"]:
        return convolved(aten, a)
    made = transposed(aten, a, shape, out.shape)
    return aten.convolution(**a) if made is KEEP else made


def in_planes(aten: Namespace, a: Arguments, weight: Sequence[int]) -> Results:
    """A convolution of three dimensions as one of each output's plane, whose channels are those of the planes that it sees."""
    if len(weight) < 5:
        return KEEP
    outputs, per_group, reach, *kernel = weight
    x, before, step, apart = a["input"], a["padding"][0], a["stride"][0], a["dilation"][0]
    if before:
        x = aten.constant_pad_nd(x, [0, 0, 0, 0, before, before])
    n, channels, _, *plane = sizes(aten, x)
    depth = meta(x).shape[2]
    count = (depth - apart * (reach - 1) - 1) // step + 1
    if not isinstance(count, int):
        return KEEP
    if count <= 0:
        return KEEP
    taps = [
        aten.slice.Tensor(x, 2, tap * apart, tap * apart + (count - 1) * step + 1, step)
        for tap in range(reach)
    ]
    others = {name: a[name][1:] for name in ("stride", "padding", "dilation")}
    others |= {"transposed": False, "output_padding": [0, 0]}
    if outputs == channels == a["groups"] and isinstance(n, int) and meta(x).dtype is dt.Float:
        return of_planes_alone(aten, a["weight"], a["bias"], taps, outputs, count, others)
    # [n, c, d, h, w] of each to [n, d, c, taps, h, w]: images [n * d, c * taps, h, w].
    taps = [aten.unsqueeze(aten.permute(tap, [0, 2, 1, 3, 4]), 3) for tap in taps]
    seen = taps[0] if reach == 1 else aten.cat(taps, 3)
    images = aten.view(seen, [times(n, count), times(channels, reach), *plane])
    filters = aten.view(a["weight"], [outputs, per_group * reach, *kernel])
    given = {"input": images, "weight": filters, "bias": a["bias"], "groups": a["groups"]}
    made = convolved(aten, given | others)
    made = aten.view(made, [n, count, outputs, *sizes(aten, made)[2:]])
    return aten.permute(made, [0, 2, 1, 3, 4])


def of_planes_alone(
    aten: Namespace,
    weight: SSAValue,
    bias: SSAValue | None,
    taps: Sequence[SSAValue],
    channels: int,
    count: int,
    others: Arguments,
) -> SSAValue:
    """A depthwise convolution of three dimensions, given by the `count` planes that each tap sees: a sum of depthwise ones, whose channels are those of
    each plane, a tap each."""
    n, _, _, *plane = sizes(aten, taps[0])

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
        parts.append(aten.convolution(**given, **others))
    made = parts[0]
    for part in parts[1:]:
        made = aten.add.Tensor(made, part)
    return aten.view(made, [n, channels, count, *sizes(aten, made)[2:]])


def times(size: Any, count: int) -> Any:
    """A size times a number; -1, which a view finds out, of a symbolic one."""
    return size * count if isinstance(size, int) else -1


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
    a = without_blind_taps(aten, a)
    shape = static(meta(a["weight"]).shape) or []
    made = in_planes(aten, a, shape)
    if made is KEEP and meta(a["input"]).dtype is not dt.Float:
        made = by_products(aten, a, shape)
    return aten.convolution(**a) if made is KEEP else made


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
    given = static(meta(x).shape)
    if given is None or 0 in given:
        return KEEP
    n, _, *image = given
    axes = list(zip(image, kernel, a["padding"], a["stride"], a["dilation"], strict=True))
    counts = [(size + 2 * pad - apart * (taps - 1) - 1) // step + 1 for size, taps, pad, step, apart in axes]
    if min(counts) <= 0:
        return KEEP
    x = aten.permute(x, [1, 0, *range(2, len(given))])
    if any(a["padding"]):
        x = aten.constant_pad_nd(x, [pad for pad in reversed(a["padding"]) for _ in range(2)])
    seen = [x]
    for dim, ((_, taps, _, step, apart), count) in enumerate(zip(axes, counts, strict=True), 2):
        seen = [
            aten.slice.Tensor(part, dim, tap * apart, tap * apart + (count - 1) * step + 1, step)
            for part in seen
            for tap in range(taps)
        ]
    columns = aten.cat([aten.unsqueeze(part, 1) for part in seen], 1)
    columns = aten.view(columns, [groups, per_group * prod(kernel), n * prod(counts)])
    filters = aten.view(a["weight"], [groups, outputs // groups, per_group * prod(kernel)])
    made = aten.view(aten.bmm(filters, columns), [outputs, n, *counts])
    made = aten.permute(made, [1, 0, *range(2, len(given))])
    return (
        made
        if a["bias"] is None
        else aten.add.Tensor(made, aten.view(a["bias"], [outputs, *[1] * len(kernel)]))
    )


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


def repeated(aten: Namespace, a: Arguments) -> Results:
    """Every dimension behind one of its repetitions, expanded and copied, of which both become one."""
    known, repeats = static(meta(a["self"]).shape), a["repeats"]
    if known is None or not all(isinstance(count, int) for count in repeats):
        return KEEP
    shape = [*[1] * (len(repeats) - len(known)), *known]
    apart = [size for own in shape for size in (1, own)]
    copies = [size for pair in zip(repeats, shape, strict=True) for size in pair]
    made = aten.clone(aten.expand(aten.view(a["self"], apart), copies))
    return aten.view(made, [count * size for count, size in zip(repeats, shape, strict=True)])


def power(aten: Namespace, a: Arguments) -> Results:
    """One of a number that is another function."""
    exponent = known(a["exponent"])
    assert exponent is not None
    return KERNEL_POWERS[exponent](aten, a["self"])


def is_function(a: Arguments) -> bool:
    """Whether a power is one of those; of integers the reciprocal is not."""
    exponent, category = known(a["exponent"]), a["out"].dtype.category
    is_real = category is Category.FLOAT or (category is Category.INT and exponent == 2)
    return is_real and exponent in KERNEL_POWERS and meta(a["self"]).shape == a["out"].shape


# --- all of them -------------------------------------------------------------------------------------------------

WITH_KERNELS = frozenset({dt.Float, dt.Double, dt.Int, dt.Long})
FORMS: dict[str, Form] = {
    "aten.repeat": Form(repeated, frozenset(dt.DTYPES)),
    "aten.pow.Tensor_Tensor": Form(power, frozenset(dt.DTYPES), is_function),
    "aten.mm": Form(lambda aten, a: product(aten, "mm", a), WITH_KERNELS, is_matvec),
    "aten.bmm": Form(lambda aten, a: product(aten, "bmm", a), WITH_KERNELS, is_matvec),
    "aten.addmm": Form(added_product, WITH_KERNELS, is_added_apart),
    "aten.addmv": Form(added_matvec, WITH_KERNELS),
    "aten.convolution": Form(
        convolution,
        WITH_KERNELS,
        lambda a: (
            moves_as_said(a)
            and (
                a["transposed"]
                or meta(a["input"]).ndim == 5
                or a["out"].dtype is not dt.Float
                or any(blind_taps(a))
            )
        ),
    ),
    **ROW_FORMS,
    **ORDER_FORMS,
    **FOURIER_FORMS,
}
"""By operator."""


class KernelForm(OperatorPattern):
    """Puts an operation in the form that kernels take, in the dtype that they compute in; not in a delegate or a dispatch, which
    are what they say."""

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        form = FORMS.get(op.SPEC.qualified_name)
        if form is None or isinstance(op.parent_op(), DelegateOp | DispatchOp):
            return KEEP
        out = meta(op.results[0])
        a: Arguments = {**op.arguments(), "out": out}
        wider, aten = WIDER.get(out.dtype), Namespace(builder)
        one_dtype = all(meta(value).dtype is out.dtype for value in op.operands if is_tensor(value))
        if not (one_dtype or form.mixed) or (
            not form.whole and any(result.uses for result in op.results[1:])
        ):
            return KEEP
        if out.dtype in form.dtypes:
            return form.build(aten, a) if form.helps(a) else KEEP
        if wider not in form.dtypes:
            return KEEP
        widened = {value: aten._to_copy(value, dtype=wider) for value in op.operands if is_tensor(value)}
        a |= {name: widened[value] for name, value in a.items() if is_tensor(value)}
        made = form.build(aten, a)
        if made is KEEP:
            return KEEP
        first, *others = flat_results(made)
        result = narrowed(aten, first, out.dtype)
        return (result, *others) if others else result


def sink_widenings(module: ModuleOp) -> None:
    """Moves what makes float32 of halves to what takes it, whose kernel may then read the halves: for one that does, or, of what
    is given, for each."""
    for op in list(module.walk()):
        widening = made_by(op.results[0], "aten._to_copy") if op.results else None
        if widening is None or WIDER.get(meta(widening.operands[0]).dtype) is not meta(op.results[0]).dtype:
            continue
        takers, block = list(dict.fromkeys(use.operation for use in op.results[0].uses)), op.parent
        apart = all(taker.parent is block for taker in takers)
        if block is None or not apart or not (len(takers) == 1 or is_given(widening.operands[0])):
            continue
        for taker in takers[1:]:
            block.insert_op_before(own := op.clone(), taker)
            taker.operands = [own.results[0] if each is op.results[0] else each for each in taker.operands]
        if takers and op.next_op is not takers[0]:
            op.detach()
            block.insert_op_before(op, takers[0])


def is_given(value: SSAValue) -> bool:
    """Whether it is an input, or a view of one."""
    while isinstance(op := value.owner, OperatorOp) and is_view(op):
        value = op.operands[0]
    return isinstance(value.owner, Block)


@dataclass(frozen=True)
class KernelForms(ModulePass):
    """Puts products, convolutions, reductions and norms in the forms that kernels take, norms of known statistics in what is before them."""

    name = "kernel-forms"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        BodiesInPlace().apply(ctx, op)
        FoldBatchNorm().apply(ctx, op)
        apply_once(op, KernelForm())
        sink_widenings(op)
