"""Convolutions as dispatches: with weights packed, images and results of halves as they are, and what follows folded in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import prod
from xdsl_exir.dialects.meta import pair
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import tensor_type
from xdsl_exir.lowering.dispatches import groups
from xdsl_exir.lowering.dispatches.buffers import Array, Shape, Value
from xdsl_exir.lowering.dispatches.outline import Body, Outline, Packed
from xdsl_exir.lowering.dispatches.views import reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of, shape_of
from xdsl_exir.lowering.tensors import storage_type
from xdsl_exir.targets.cpu.dispatches import Schedule, dispatch, is_as_said
from xdsl_exir.targets.cpu.epilogues import HALVES, Absorber
from xdsl_exir.targets.cpu.kernels import Conv2d, Machine
from xdsl_exir.targets.cpu.kernels.convolution import BY_CHANNELS, Planes
from xdsl_exir.targets.cpu.kernels.winograd import is_moderate
from xdsl_exir.targets.cpu.row_forms import Arguments
from xdsl_exir.targets.cpu.widenings import (
    HELD,
    before_widening,
    is_float32,
    is_held,
    taken_out,
    unwiden,
)
from xdsl_exir.transforms.matching import static

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner
    from xdsl_exir.lowering.linalg import LinalgBuilder
    from xdsl_exir.lowering.tensors import Tensor


def convolution(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    """One whose filters are of known sizes, by weights that are known or not, with what happens to its result before it is stored."""
    a = op.arguments()
    constants = planner.constants
    halves = before_widening(planner, a["weight"], op, through_views=False, of=HELD)
    if halves is not None and halves.operands[0] not in constants:
        halves = None
    given_weight = a["weight"] if halves is None else halves.operands[0]
    known = given_weight in constants and (a["bias"] is None or a["bias"] in constants)
    filters = static(shape_of(a["weight"]))
    shape, space = shape_of(op.results[0]), len(shape_of(a["input"])) - 2
    floats = is_float32(
        *op.results, *(a[name] for name in ("input", "weight", "bias") if a[name] is not None)
    )
    if a["transposed"] or space not in (1, 2, 3) or not floats or filters is None:
        return False
    conv, made = described(a, filters, shape, machine)
    n, o = conv.n, conv.o
    frame = in_plane(shape)
    said = frame[2:] if conv.planes is None else shape[2:]
    if 0 in shape or frame[:2] != (n, o) or not is_as_said(planner, said, made):
        return False
    if said[-2:] != conv.out_plane:
        conv = replace(conv, said=said[-2:])
    filters = (*filters[:2], *conv.taps)
    result = op.results[0]
    ops = [*(unwiden(planner, a["weight"], op, HELD) if known else ()), op]
    weight = bias = np.zeros(o, np.float32)
    if known:
        weight = constants[given_weight].reshape(filters).astype(np.float32)
        bias = constants[a["bias"]] if a["bias"] is not None else bias
        conv = replace(
            conv, transforms=is_moderate(weight), weight_dtype=str(storage_type(meta_of(given_weight).dtype))
        )
    conv, widening = of_halves(planner, op, a["input"], conv, weight) if known else (conv, [])
    absorber = Absorber(
        planner,
        result,
        lambda value: value.is_plain and fits_convolution(value, conv),
        frame,
        narrows=not conv.parts,
    )
    absorber.run()
    narrow = HALVES.get(meta_of(absorber.result).dtype)
    if known or a["bias"] is None:
        shift = planner.constant(bias.astype(np.float32).reshape(o, 1, 1), dt.Float)
    else:
        shift = planner.contiguous(planner.value(a["bias"]))
        shift = replace(shift, shape=(o, 1, 1), strides=())
    conv = replace(conv, epilogue=absorber.epilogue([shift]), out_dtype=narrow)
    conv = planner.target.tuned(conv)
    stored = dt.Float
    if known:
        stored = next((held for held, name in HELD.items() if name == conv.weight_dtype), dt.Float)
        stored = stored if conv.strategy in BY_CHANNELS else dt.Float
        conv = replace(conv, weight_dtype=str(storage_type(stored)))
        packed = planner.constant(conv.pack(weight).astype(stored.numpy), stored)
    else:
        given_filters = reshaped(planner.contiguous(planner.value(a["weight"])), filters)
        assert given_filters is not None
        packed = planner.allocate(conv.packed_shape, dt.Float)
        made_of = groups.made_of(given_filters, packed, conv.repack, planner.is_large([packed]))
        planner.call_function(made_of, [given_filters, packed], [])
    source = reshaped(planner.contiguous(planner.value(a["input"])), (n, conv.c, *conv.in_size))
    assert source is not None
    absorber.commit()
    ops = [*widening, *ops, *absorber.ops]

    def unpacked(b: LinalgBuilder, packed: Tensor) -> Tensor:
        return b.convert(b.reshape(conv.unpack(b, packed), shape_of(a["weight"])), dt.Float)

    def body(arguments: Sequence[Value]) -> Body | None:
        outline = Outline(planner, widening, True)
        given = {
            "input": outline.brought(a["input"]),
            "weight": outline.argument(a["weight"].type, Packed(packed, unpacked)),
            "bias": outline.argument(tensor_type((o,), dt.Float), replace(shift, shape=(o,), strides=())),
        }
        made = outline.add(type(op).from_bound({**a, **given}, op.result_types))
        outline.mapper |= {op.results[0]: made.results[0], result: made.results[0]}
        outline.epilogue(absorber.ops, absorber.made)
        return outline.body(arguments, [absorber.result])

    arguments = [source, packed, shift, *absorber.inputs]
    planner.values[result] = planner.allocate(shape, meta_of(absorber.result).dtype)
    out = reshaped(planner.values[result], frame)
    assert out is not None
    dispatch(planner, conv, arguments, out, body, ops)
    return True


def described(a: Arguments, filters: Sequence[int], shape: Shape, machine: Machine) -> tuple[Conv2d, Shape]:
    """The kernel for a convolution's arguments, and the sizes of its result by the formula: three where it has planes. One dimension is the
    width of images one pixel high; points that do not see each other are in one plane."""
    (n, _, *image), (o, per_group, *kernel) = shape_of(a["input"]), filters
    space = len(kernel)
    moves = [[*pair(a[name], space)] for name in ("stride", "padding", "dilation")]
    plain = is_plain(kernel, moves)
    if space == 3 and plain:
        image = [image[0] * image[1], image[2]]
    h, w = [1, *image][-2:]
    kh, kw = [1, *kernel][-2:]
    (sh, sw), (ph, pw), (dh, dw) = ([alone, *move][-2:] for alone, move in zip((1, 0, 1), moves, strict=True))
    conv = Conv2d(
        *(n, per_group * a["groups"], h, w, o),
        (kh, kw),
        (sh, sw),
        (ph, pw),
        (dh, dw),
        a["groups"],
        machine=machine,
    )
    if space < 3 or plain:
        return conv, conv.out_size
    step, before, apart = (move[0] for move in moves)
    count = (image[0] + 2 * before - apart * (kernel[0] - 1) - 1) // step + 1
    planes = Planes(image[0], shape[2], kernel[0], step, before, apart)
    return replace(conv, planes=planes), (count, *conv.out_size)


def is_plain(kernel: Sequence[int], moves: Sequence[Sequence[int]]) -> bool:
    """Whether each pixel of a result sees one, at its own place; by stride, padding and dilation."""
    stride, padding, _ = moves
    return set(kernel) == set(stride) == {1} and not any(padding)


def in_plane(shape: Shape) -> Shape:
    """A shape of images, as it is of two dimensions: one dimension is a row, and planes are one below the other."""
    n, channels, *space = shape
    return (n, channels, prod(space[:-1]), space[-1])


def of_halves(
    planner: Planner, op: OperatorOp, images: SSAValue, conv: Conv2d, weight: Array
) -> tuple[Conv2d, list[OperatorOp]]:
    """The convolution of images of halves as they are, if it is done by channels or in pairs of these, and what made float32 of them,
    taken out. Weights that these halves hold are such, too."""
    made = before_widening(planner, images, op, alone=False)
    if made is None:
        return conv, []
    dtype = meta_of(made.operands[0]).dtype
    of_them = replace(conv, x_dtype=HALVES[dtype])
    if conv.weight_dtype in ("f32", "i8") and is_held(weight, dtype):
        of_them = replace(of_them, weight_dtype=HALVES[dtype])
    rounded = replace(of_them, out_dtype=HALVES[dtype])
    of_them = rounded if rounded.strategy == "tiles" else of_them
    fits = conv.strategy == "channels" or of_them.pair > 1
    return (of_them, [taken_out(planner, made)]) if fits else (conv, [])


def fits_convolution(value: Value, conv: Conv2d) -> bool:
    """Whether a convolution's epilogue takes an input of this shape: both spatial dimensions, or neither."""
    return value.shape[-2:] in (conv.out_size, (1, 1))


CONVOLUTION_SCHEDULES: dict[str, tuple[str | None, Schedule]] = {
    "aten.convolution": (Conv2d.__name__, convolution)
}
"""By operator."""
