"""Shape rules of convolutions. Weights are `[out, in / groups, *kernel]`, transposed `[in, out / groups, *kernel]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl_exir.dialects.expr import Dim, max_
from xdsl_exir.dialects.meta import Shape, check, may_be_at_most, pair, same_size, shape_rule, shape_text
from xdsl_exir.dialects.shapes.pooling import check_positive, window_count
from xdsl_exir.dialects.shapes.view import is_negative
from xdsl_exir.dialects.tensors import TensorMeta


@dataclass(frozen=True)
class Window:
    """How a kernel moves: in each list a number per spatial dimension, or one for all."""

    stride: Sequence[Dim]
    padding: Sequence[Dim]
    dilation: Sequence[Dim]
    output_padding: Sequence[Dim] = (0,)

    def spread(self, count: int) -> list[tuple[Dim, ...]]:
        """(stride, padding, dilation, output padding) of each of `count` dimensions; checks them."""
        check_positive("stride", self.stride)
        check_positive("dilation", self.dilation)
        check(not any(map(is_negative, self.padding)), f"negative padding {list(self.padding)}")
        check(
            not any(map(is_negative, self.output_padding)),
            f"negative output_padding {list(self.output_padding)}",
        )
        lists = vars(self)
        for name, values in lists.items():
            check(len(values) in (1, count), f"{name} {list(values)} must be one number or {count}")
        return list(zip(*(pair(values, count) for values in lists.values()), strict=True))


def extent(size: Dim, kernel: Dim, stride: Dim, padding: Dim, dilation: Dim, output_padding: Dim) -> Dim:
    """The size that a convolution makes of a spatial dimension."""
    padded, reach = size + 2 * padding, dilation * (kernel - 1) + 1
    check(
        may_be_at_most(reach, padded),
        f"kernel of extent {reach} is greater than the padded input of size {padded}",
    )
    return window_count(size, kernel, stride, padding, dilation)


def transposed_extent(
    size: Dim, kernel: Dim, stride: Dim, padding: Dim, dilation: Dim, output_padding: Dim
) -> Dim:
    """The size that a transposed convolution makes of a spatial dimension."""
    check(
        may_be_at_most(output_padding + 1, max_(stride, dilation)),
        f"output_padding {output_padding} must be smaller than stride or dilation",
    )
    result = (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1
    check(may_be_at_most(1, result), f"output of size {result} is too small")
    return result


def convolved(
    input: TensorMeta,
    weight: TensorMeta,
    bias: TensorMeta | None,
    window: Window,
    groups: int,
    transposed: bool = False,
) -> Shape:
    """The shape of a convolution of a batch."""
    shapes = f"input {shape_text(input.shape)}, weight {shape_text(weight.shape)}"
    count = weight.ndim - 2
    check(count > 0, f"{shapes}: the weight needs at least three dimensions")
    check(input.ndim == weight.ndim, f"{shapes}: expected input of {weight.ndim} dimensions")
    check_positive("groups", [groups])
    batch, channels, *sizes = input.shape
    first, second, *kernel = weight.shape
    given, out = (first, second * groups) if transposed else (second * groups, first)
    check(same_size(first % groups, 0), f"{shapes}: {first} does not divide into {groups} groups")
    check(
        same_size(channels, given),
        f"{shapes}: expected input of {given} channels in {groups} groups, got {channels}",
    )
    check(
        bias is None or (bias.ndim == 1 and same_size(bias.shape[0], out)),
        f"{shapes}: expected bias of {out} elements",
    )
    size_of = transposed_extent if transposed else extent
    moves = window.spread(count)
    # Of no channels PyTorch makes no channels, whatever the weight says.
    return (
        batch,
        0 if channels == 0 else out,
        *(size_of(n, k, *move) for n, k, move in zip(sizes, kernel, moves, strict=True)),
    )


@shape_rule("aten.convolution")
def convolution(
    input: TensorMeta,
    weight: TensorMeta,
    bias: TensorMeta | None,
    stride: Sequence[Dim],
    padding: Sequence[Dim],
    dilation: Sequence[Dim],
    transposed: bool,
    output_padding: Sequence[Dim],
    groups: int,
) -> Shape:
    window = Window(stride, padding, dilation, output_padding)
    return convolved(input, weight, bias, window, groups, transposed)


def same_padding(kernel: Sequence[Dim], dilation: Sequence[Dim]) -> list[tuple[Dim, Dim]]:
    """What goes before and after each dimension so that its size stays; of an odd sum more goes after."""
    sums = [step * (taps - 1) for taps, step in zip(kernel, pair(dilation, len(kernel)), strict=True)]
    return [(total // 2, total - total // 2) for total in sums]


def _register(count: int) -> None:
    """The rules of the operators over `count` dimensions, whose input may lack the batch dimension."""

    def maybe_batched(
        input: TensorMeta,
        weight: TensorMeta,
        bias: TensorMeta | None,
        window: Window,
        groups: int,
        transposed: bool = False,
    ) -> Shape:
        check(
            weight.ndim == count + 2,
            f"expected {count + 2}-dimensional weight, got {shape_text(weight.shape)}",
        )
        if input.ndim != count + 1:
            return convolved(input, weight, bias, window, groups, transposed)
        image = replace(input, shape=(1, *input.shape))
        return convolved(image, weight, bias, window, groups, transposed)[1:]

    def conv(
        input: TensorMeta,
        weight: TensorMeta,
        bias: TensorMeta | None,
        stride: Sequence[Dim],
        padding: Sequence[Dim],
        dilation: Sequence[Dim],
        groups: int,
    ) -> Shape:
        return maybe_batched(input, weight, bias, Window(stride, padding, dilation), groups)

    def conv_padding(
        input: TensorMeta,
        weight: TensorMeta,
        bias: TensorMeta | None,
        stride: Sequence[Dim],
        padding: str,
        dilation: Sequence[Dim],
        groups: int,
    ) -> Shape:
        check(padding in ("valid", "same"), f"padding '{padding}' is neither 'valid' nor 'same'")
        if padding == "same":
            check(set(stride) == {1}, f"padding 'same' takes no stride, got {stride}")
            check(
                weight.ndim == count + 2 and input.ndim in (count + 1, count + 2),
                f"input {shape_text(input.shape)}, weight {shape_text(weight.shape)} of {count} dimensions",
            )
            check(len(dilation) in (1, count), f"dilation {dilation} must be one number or {count}")
            kernel = weight.shape[2:]
            sizes = zip(input.shape[-len(kernel) :], same_padding(kernel, dilation), strict=True)
            padded = tuple(size + before + after for size, (before, after) in sizes)
            input = replace(input, shape=input.shape[: -len(kernel)] + padded)
        return maybe_batched(input, weight, bias, Window(stride, [0], dilation), groups)

    def conv_transpose(
        input: TensorMeta,
        weight: TensorMeta,
        bias: TensorMeta | None,
        stride: Sequence[Dim],
        padding: Sequence[Dim],
        output_padding: Sequence[Dim],
        groups: int,
        dilation: Sequence[Dim],
    ) -> Shape:
        window = Window(stride, padding, dilation, output_padding)
        return maybe_batched(input, weight, bias, window, groups, transposed=True)

    shape_rule(f"aten.conv{count}d")(conv)
    shape_rule(f"aten.conv_transpose{count}d" + ("" if count == 1 else ".input"))(conv_transpose)
    shape_rule(f"aten.conv{count}d.padding")(conv_padding)


for _count in (1, 2, 3):
    _register(_count)


@shape_rule("aten.conv_tbc")
def conv_tbc(self: TensorMeta, weight: TensorMeta, bias: TensorMeta, pad: int) -> Shape:
    check(self.ndim == weight.ndim == 3, "input is [time, batch, channel], weight [time, from, to]")
    check(
        same_size(self.shape[2], weight.shape[1]), f"{self.shape[2]} channels, weight for {weight.shape[1]}"
    )
    check(
        bias.ndim == 1 and same_size(bias.shape[0], weight.shape[2]),
        f"bias {shape_text(bias.shape)} for {weight.shape[2]} channels",
    )
    return (self.shape[0] + 2 * pad - weight.shape[0] + 1, self.shape[1], weight.shape[2])
