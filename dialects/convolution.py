"""Shape rules of convolutions. Weights are `[out, in / groups, *kernel]`, transposed ones `[in, out / groups, *kernel]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.expr import Dim, provably
from xdsl_exir.dialects.expr import apply as apply_function
from xdsl_exir.dialects.meta import Shape, check, pair, same_size, shape_rule, shape_text
from xdsl_exir.dialects.pooling import check_positive, window_count


@dataclass(frozen=True)
class Window:
    """How a kernel moves: per spatial dimension, one number each or one for all."""

    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    output_padding: Sequence[int] = (0,)

    def spread(self, count: int) -> Window:
        """The window with a number for each of `count` dimensions."""
        lists = {
            "stride": pair(self.stride, count),
            "padding": pair(self.padding, count),
            "dilation": pair(self.dilation, count),
            "output_padding": pair(self.output_padding, count),
        }
        for name, values in lists.items():
            check(len(values) == count, f"{name} {values} must be one number or {count}")
        return Window(**lists)


def convolved(
    input: TensorMeta,
    weight: TensorMeta,
    bias: TensorMeta | None,
    window: Window,
    groups: int,
    transposed: bool = False,
) -> Shape:
    """The shape of a batched convolution."""
    count = weight.ndim - 2
    check(count > 0, f"weight {shape_text(weight.shape)} needs at least three dimensions")
    check(
        input.ndim == weight.ndim,
        f"expected {weight.ndim}-dimensional input for weight {shape_text(weight.shape)}, "
        f"got {shape_text(input.shape)}",
    )
    window = window.spread(count)
    check_positive("stride", window.stride)
    check_positive("dilation", window.dilation)
    check_positive("groups", [groups])
    check(min(window.padding) >= 0, f"negative padding {list(window.padding)}")
    check(min(window.output_padding) >= 0, f"negative output_padding {list(window.output_padding)}")
    batch, channels, *sizes = input.shape
    first, second, *kernel = weight.shape
    given, out = (first, second * groups) if transposed else (second * groups, first)
    check(
        same_size(first % groups, 0),
        f"weight {shape_text(weight.shape)} does not divide into {groups} groups",
    )
    check(
        same_size(channels, given),
        f"weight {shape_text(weight.shape)} in {groups} groups expects {given} channels, input {shape_text(input.shape)} has {channels}",
    )
    check(
        bias is None or (bias.ndim == 1 and same_size(bias.shape[0], out)),
        f"expected bias of {out} elements",
    )
    extents = transposed_extents if transposed else window_extents
    return (batch, out, *extents(sizes, kernel, window))


def window_extents(sizes: Sequence[Dim], kernel: Sequence[Dim], window: Window) -> list[Dim]:
    result: list[Dim] = []
    for size, taps, stride, padding, dilation in zip(
        sizes, kernel, window.stride, window.padding, window.dilation, strict=True
    ):
        padded, reach = size + 2 * padding, dilation * (taps - 1) + 1
        check(
            provably(apply_function("le", reach, padded)) is not False,
            f"kernel of extent {reach} is greater than the padded input of size {padded}",
        )
        result.append(window_count(size, taps, stride, padding, dilation))
    return result


def transposed_extents(sizes: Sequence[Dim], kernel: Sequence[Dim], window: Window) -> list[Dim]:
    result: list[Dim] = []
    for size, taps, stride, padding, dilation, extra in zip(
        sizes, kernel, window.stride, window.padding, window.dilation, window.output_padding, strict=True
    ):
        check(extra < max(stride, dilation), "output_padding must be smaller than stride or dilation")
        extent = (size - 1) * stride - 2 * padding + dilation * (taps - 1) + extra + 1
        check(
            provably(apply_function("gt", extent, 0)) is not False,
            f"output of size {extent} along a dimension is too small",
        )
        result.append(extent)
    return result


@shape_rule("aten.convolution")
def convolution(
    input: TensorMeta,
    weight: TensorMeta,
    bias: TensorMeta | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> Shape:
    return convolved(
        input, weight, bias, Window(stride, padding, dilation, output_padding), groups, transposed
    )


def batched(
    input: TensorMeta,
    weight: TensorMeta,
    bias: TensorMeta | None,
    window: Window,
    groups: int,
    transposed: bool = False,
) -> Shape:
    """The shape of a convolution whose input may lack the batch dimension."""
    if input.ndim != weight.ndim - 1:
        return convolved(input, weight, bias, window, groups, transposed)
    image = TensorMeta((1, *input.shape), input.dtype)
    return convolved(image, weight, bias, window, groups, transposed)[1:]


def conv(
    count: int,
    input: TensorMeta,
    weight: TensorMeta,
    bias: TensorMeta | None,
    window: Window,
    groups: int,
    transposed: bool = False,
) -> Shape:
    """The shape of a convolution over `count` dimensions."""
    check(weight.ndim == count + 2, f"expected {count + 2}-dimensional weight, got {shape_text(weight.shape)}")
    return batched(input, weight, bias, window, groups, transposed)


def same_padding(kernel: Sequence[Dim], dilation: Sequence[int]) -> list[tuple[Dim, Dim]]:
    """The padding before and after each dimension that keeps its size; of an odd sum more goes after."""
    sums = [step * (taps - 1) for taps, step in zip(kernel, dilation, strict=True)]
    return [(total // 2, total - total // 2) for total in sums]


def conv_padding(
    count: int,
    input: TensorMeta,
    weight: TensorMeta,
    bias: TensorMeta | None,
    stride: list[int],
    padding: str,
    dilation: list[int],
    groups: int,
) -> Shape:
    """The shape of a convolution whose padding is `valid` (none) or `same`."""
    check(padding in ("valid", "same"), f"padding '{padding}' is neither 'valid' nor 'same'")
    if padding == "same":
        check(set(stride) == {1}, f"padding 'same' takes no stride, got {stride}")
    result = conv(count, input, weight, bias, Window(stride, [0], dilation), groups) if padding == "valid" else ()
    if padding == "valid":
        return result
    raise AssertionError
