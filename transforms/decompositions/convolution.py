"""Decompositions of convolutions: all are `convolution`, of a batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.shapes.convolution import same_padding
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.decompositions import decomposition

Convolve: TypeAlias = "Callable[[SSAValue, SSAValue, SSAValue | None], SSAValue]"
"""What convolves an input with a weight, and adds a bias."""


def batched(
    aten: Namespace, input: SSAValue, weight: SSAValue, bias: SSAValue | None, convolve: Convolve
) -> SSAValue:
    """Convolves an input that may lack the batch dimension."""
    if meta(weight).dtype.category is Category.COMPLEX:
        convolve = partial(of_complex, aten, convolve)
    if meta(input).ndim == meta(weight).ndim:
        return convolve(input, weight, bias)
    return aten.squeeze.dims(convolve(aten.unsqueeze(input, 0), weight, bias), [0])


def of_complex(
    aten: Namespace, convolve: Convolve, input: SSAValue, weight: SSAValue, bias: SSAValue | None
) -> SSAValue:
    """A convolution of complex numbers in three of real ones: of real parts, of imaginary ones, of their sums."""

    def total(value: SSAValue) -> SSAValue:
        return aten.add.Tensor(aten.real(value), aten.imag(value))

    a = convolve(aten.real(input), aten.real(weight), None if bias is None else aten.real(bias))
    b = convolve(aten.imag(input), aten.imag(weight), None)
    c = convolve(total(input), total(weight), None if bias is None else total(bias))
    return aten.complex(aten.sub.Tensor(a, b), aten.sub.Tensor(aten.sub.Tensor(c, a), b))


@decomposition("aten.conv1d", "aten.conv2d", "aten.conv3d")
def conv(
    aten: Namespace,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    groups: int,
) -> SSAValue:
    def convolve(*given: SSAValue | None) -> SSAValue:
        zeros = [0] * len(padding)
        return aten.convolution(*given, stride, padding, dilation, False, zeros, groups)

    return batched(aten, input, weight, bias, convolve)


@decomposition("aten.conv_transpose1d", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def conv_transpose(
    aten: Namespace,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    stride: list[int],
    padding: list[int],
    output_padding: list[int],
    groups: int,
    dilation: list[int],
) -> SSAValue:
    def convolve(*given: SSAValue | None) -> SSAValue:
        return aten.convolution(*given, stride, padding, dilation, True, output_padding, groups)

    return batched(aten, input, weight, bias, convolve)


def static(size: Dim) -> int:
    """A size that a rule needs to know. Raises `ExirError` for a symbolic one."""
    if isinstance(size, Expr):
        raise ExirError(f"padding 'same' of a kernel of symbolic size {size}")
    return size


@decomposition("aten.conv1d.padding", "aten.conv2d.padding", "aten.conv3d.padding")
def conv_padding(
    aten: Namespace,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    stride: list[int],
    padding: str,
    dilation: list[int],
    groups: int,
) -> SSAValue:
    kernel = meta(weight).shape[2:]
    zeros = [0] * len(kernel)
    if padding == "valid":
        margins = [(0, 0) for _ in kernel]
    else:
        margins = [(static(before), static(after)) for before, after in same_padding(kernel, dilation)]

    def convolve(image: SSAValue, weight: SSAValue, bias: SSAValue | None) -> SSAValue:
        # convolution pads both sides alike; what one side has more is padded before, last dimension first.
        extra = [pad for before, after in reversed(margins) for pad in (0, after - before)]
        if any(extra):
            image = aten.constant_pad_nd(image, extra)
        even = [before for before, _ in margins]
        return aten.convolution(image, weight, bias, stride, even, dilation, False, zeros, groups)

    return batched(aten, input, weight, bias, convolve)


@decomposition("aten.conv_tbc")
def conv_tbc(aten: Namespace, self: SSAValue, weight: SSAValue, bias: SSAValue, pad: int) -> SSAValue:
    """A convolution of [time, batch, channel] with [time, from, to]."""
    time, batch, channels = meta(self).shape
    if channels == 0 and isinstance(time, int) and isinstance(batch, int):  # sums without terms
        return aten.expand(bias, [time + 2 * pad - static(meta(weight).shape[0]) + 1, batch, -1])
    input, kernel = aten.permute(self, [1, 2, 0]), aten.permute(weight, [2, 1, 0])
    return aten.permute(aten.conv1d(input, kernel, bias, [1], [pad]), [2, 0, 1])
