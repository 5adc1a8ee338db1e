"""Shape rules of pooling operators: windows over the last one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.expr import Dim, Expr, ceildiv, min_
from xdsl_exir.dialects.meta import Shape, check, pair, shape_rule, shape_text


def window_count(
    size: Dim, kernel: Dim, stride: int, padding: int, dilation: int = 1, ceil_mode: bool = False
) -> Dim:
    """How many windows of `kernel` taps start along a dimension of this size.

    In `ceil_mode` the last window may reach past the padding, but must start inside the input or the left padding
    (torch.nn.MaxPool2d's documentation).
    """
    reach = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return reach // stride + 1
    return min_((reach + stride - 1) // stride + 1, ceildiv(size + padding, stride))


def check_batched(shape: Sequence[Dim], count: int) -> None:
    """Checks `[N, C, *spatial]` or `[C, *spatial]` with `count` spatial dimensions; only N may be 0."""
    check(
        len(shape) in (count + 1, count + 2),
        f"expected {count + 1} or {count + 2} dimensions, got {shape_text(shape)}",
    )
    check(
        all(size != 0 for size in shape[-count - 1 :]),
        f"only the batch dimension may be empty, got {shape_text(shape)}",
    )


def check_positive(name: str, values: Sequence[int]) -> None:
    check(all(value > 0 for value in values), f"{name} {list(values)} must be greater than zero")


def pooled(
    shape: Shape,
    count: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> Shape:
    """The shape of a tensor pooled over its last `count` dimensions. No stride is the kernel's size."""
    check_batched(shape, count)
    kernel = pair(kernel_size, count)
    strides = pair(stride, count) or kernel
    paddings, dilations = pair(padding, count), pair(dilation, count)
    for name, values in (("kernel_size", kernel), ("stride", strides), ("dilation", dilations)):
        check(len(values) == count, f"{name} {values} must be one number or {count}")
        check_positive(name, values)
    for taps, pad, step in zip(kernel, paddings, dilations, strict=True):
        check(0 <= 2 * pad <= step * (taps - 1) + 1, f"padding {pad} is more than half of kernel size {taps}")
    sizes = tuple(
        window_count(size, *window, ceil_mode)
        for size, *window in zip(shape[-count:], kernel, strides, paddings, dilations, strict=True)
    )
    check(
        all(isinstance(size, Expr) or size > 0 for size in sizes),
        f"output size {shape_text(sizes)} of input {shape_text(shape)} is too small",
    )
    return shape[:-count] + sizes


@shape_rule("aten.max_pool1d")
def max_pool1d(
    self: TensorMeta,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> Shape:
    return pooled(self.shape, 1, kernel_size, stride, padding, dilation, ceil_mode)


@shape_rule("aten.max_pool2d")
def max_pool2d(
    self: TensorMeta,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> Shape:
    return pooled(self.shape, 2, kernel_size, stride, padding, dilation, ceil_mode)


@shape_rule("aten.max_pool3d")
def max_pool3d(
    self: TensorMeta,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> Shape:
    return pooled(self.shape, 3, kernel_size, stride, padding, dilation, ceil_mode)


@shape_rule("aten.max_pool2d_with_indices")
def max_pool2d_with_indices(
    self: TensorMeta,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> list[Shape]:
    return [pooled(self.shape, 2, kernel_size, stride, padding, dilation, ceil_mode)] * 2


@shape_rule("aten.max_pool3d_with_indices")
def max_pool3d_with_indices(
    self: TensorMeta,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> list[Shape]:
    return [pooled(self.shape, 3, kernel_size, stride, padding, dilation, ceil_mode)] * 2


@shape_rule("aten.avg_pool1d")
def avg_pool1d(
    self: TensorMeta, kernel_size: list[int], stride: list[int], padding: list[int], ceil_mode: bool
) -> Shape:
    return pooled(self.shape, 1, kernel_size, stride, padding, ceil_mode=ceil_mode)


def averaged(
    self: TensorMeta,
    count: int,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    ceil_mode: bool,
    divisor_override: int | None,
) -> Shape:
    check(divisor_override != 0, "divisor_override must not be zero")
    return pooled(self.shape, count, kernel_size, stride, padding, ceil_mode=ceil_mode)


@shape_rule("aten.avg_pool2d")
def avg_pool2d(
    self: TensorMeta,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    ceil_mode: bool,
    divisor_override: int | None,
) -> Shape:
    return averaged(self, 2, kernel_size, stride, padding, ceil_mode, divisor_override)


@shape_rule("aten.avg_pool3d")
def avg_pool3d(
    self: TensorMeta,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    ceil_mode: bool,
    divisor_override: int | None,
) -> Shape:
    return averaged(self, 3, kernel_size, stride, padding, ceil_mode, divisor_override)


def adaptive(self: TensorMeta, count: int, output_size: Sequence[Dim]) -> Shape:
    """The shape of a tensor pooled to a given size of its last `count` dimensions."""
    sizes = tuple(pair(output_size, count))
    check_batched(self.shape, count)
    check(len(sizes) == count, f"output_size {shape_text(sizes)} must be one number or {count}")
    check(
        all(isinstance(size, Expr) or size >= 0 for size in sizes),
        f"output_size {shape_text(sizes)} must not be negative",
    )
    return self.shape[:-count] + sizes


@shape_rule("aten.adaptive_avg_pool1d")
def adaptive_avg_pool1d(self: TensorMeta, output_size: list[Dim]) -> Shape:
    return adaptive(self, 1, output_size)


@shape_rule("aten.adaptive_avg_pool2d", "aten._adaptive_avg_pool2d")
def adaptive_avg_pool2d(self: TensorMeta, output_size: list[Dim]) -> Shape:
    return adaptive(self, 2, output_size)


@shape_rule("aten.adaptive_avg_pool3d", "aten._adaptive_avg_pool3d")
def adaptive_avg_pool3d(self: TensorMeta, output_size: list[Dim]) -> Shape:
    return adaptive(self, 3, output_size)


@shape_rule("aten.adaptive_max_pool2d")
def adaptive_max_pool2d(self: TensorMeta, output_size: list[Dim]) -> list[Shape]:
    return [adaptive(self, 2, output_size)] * 2
