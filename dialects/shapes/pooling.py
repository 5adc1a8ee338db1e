"""Shape rules of pooling operators: windows over the last one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Dim, Expr, ceildiv, min_
from xdsl_exir.dialects.meta import (
    Shape,
    check,
    may_be_at_most,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
)
from xdsl_exir.dialects.tensors import TensorMeta


def window_count(
    size: Dim, kernel: Dim, stride: Dim, padding: Dim, dilation: Dim = 1, ceil_mode: bool = False
) -> Dim:
    """How many windows of `kernel` taps fit along a dimension of this size.

    In `ceil_mode` the last window may reach past the padding, but must start inside the input or the left padding
    (torch.nn.MaxPool2d's documentation).
    """
    reach = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return reach // stride + 1
    return min_((reach + stride - 1) // stride + 1, ceildiv(size + padding, stride))


def check_positive(name: str, values: Sequence[Dim]) -> None:
    check(
        all(may_be_at_most(1, value) for value in values), f"{name} {list(values)} must be greater than zero"
    )


def check_image(shape: Sequence[Dim], count: int, filled: Sequence[Dim] | None = None) -> None:
    """Checks `[N, C, *spatial]` or `[C, *spatial]` with `count` spatial dimensions, of which only N may be 0.

    `filled` are those that must not be 0 where others may be.
    """
    check(
        len(shape) in (count + 1, count + 2),
        f"expected {count + 1} or {count + 2} dimensions, got {shape_text(shape)}",
    )
    check(
        all(size != 0 for size in (shape[-count - 1 :] if filled is None else filled)),
        f"only the batch dimension may be empty, got {shape_text(shape)}",
    )


def pooled(
    shape: Shape,
    count: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Shape:
    """The shape of a tensor pooled over its last `count` dimensions. No stride is the kernel's size."""
    check_image(shape, count)
    windows = {
        "kernel_size": kernel_size,
        "stride": stride or kernel_size,
        "padding": padding,
        "dilation": [1] * count if dilation is None else dilation,
    }
    for name, values in windows.items():
        check(len(values) == count, f"{name} {values} must be one number or {count}")
        if name != "padding":
            check_positive(name, values)
    sizes: list[Dim] = []
    for size, taps, step, pad, spread in zip(shape[-count:], *windows.values(), strict=True):
        check(
            0 <= 2 * pad <= spread * (taps - 1) + 1, f"padding {pad} is more than half of kernel size {taps}"
        )
        sizes.append(window_count(size, taps, step, pad, spread, ceil_mode))
    check(
        all(isinstance(size, Expr) or size > 0 for size in sizes),
        f"output size {shape_text(sizes)} of input {shape_text(shape)} is too small",
    )
    return (*shape[:-count], *sizes)


def adaptive(shape: Shape, count: int, output_size: Sequence[Dim], filled: Shape | None = None) -> Shape:
    """The shape of a tensor pooled to given sizes of its last `count` dimensions; `filled` are those that must not be 0."""
    sizes = list(output_size)
    check_image(shape, count, filled)
    check(len(sizes) == count, f"output_size {shape_text(sizes)} must be one number or {count}")
    check(
        all(isinstance(size, Expr) or size >= 0 for size in sizes),
        f"output_size {shape_text(sizes)} must not be negative",
    )
    return (*shape[:-count], *sizes)


def _register(count: int) -> None:
    """The rules of the operators over `count` dimensions."""

    def max_pool(
        self: TensorMeta,
        kernel_size: list[int],
        stride: list[int],
        padding: list[int],
        dilation: list[int],
        ceil_mode: bool,
    ) -> Shape:
        return pooled(self.shape, count, kernel_size, stride, padding, dilation, ceil_mode)

    def max_pool_with_indices(
        self: TensorMeta,
        kernel_size: list[int],
        stride: list[int],
        padding: list[int],
        dilation: list[int],
        ceil_mode: bool,
    ) -> list[Shape]:
        return [max_pool(self, kernel_size, stride, padding, dilation, ceil_mode)] * 2

    def avg_pool(
        self: TensorMeta, kernel_size: list[int], stride: list[int], padding: list[int], ceil_mode: bool
    ) -> Shape:
        return pooled(self.shape, count, kernel_size, stride, padding, ceil_mode=ceil_mode)

    def avg_pool_with_divisor(
        self: TensorMeta,
        kernel_size: list[int],
        stride: list[int],
        padding: list[int],
        ceil_mode: bool,
        divisor_override: int | None,
    ) -> Shape:
        check(divisor_override != 0, "divisor_override must not be zero")
        return avg_pool(self, kernel_size, stride, padding, ceil_mode)

    def adaptive_avg_pool(self: TensorMeta, output_size: list[Dim]) -> Shape:
        # One element is the mean, which complex numbers have too.
        is_mean = all(size == 1 for size in output_size)
        check(
            (is_mean and count > 1) or self.dtype.category is not Category.COMPLEX,
            "complex numbers are pooled to one element only",
        )
        return adaptive(self.shape, count, output_size, filled=() if is_mean else self.shape[-count:])

    def adaptive_max_pool(self: TensorMeta, output_size: list[Dim]) -> list[Shape]:
        return [adaptive(self.shape, count, output_size)] * 2

    shape_rule(f"aten.max_pool{count}d")(max_pool)
    shape_rule(f"aten.max_pool{count}d_with_indices")(max_pool_with_indices)
    shape_rule(f"aten.adaptive_max_pool{count}d")(adaptive_max_pool)
    shape_rule(f"aten.adaptive_avg_pool{count}d")(adaptive_avg_pool)
    if count == 1:
        shape_rule("aten.avg_pool1d")(avg_pool)
    else:
        shape_rule(f"aten.avg_pool{count}d")(avg_pool_with_divisor)
        shape_rule(f"aten._adaptive_avg_pool{count}d")(adaptive_avg_pool)


for _count in (1, 2, 3):
    _register(_count)


@shape_rule("aten.fractional_max_pool2d", "aten.fractional_max_pool3d")
def fractional_max_pool(
    self: TensorMeta, kernel_size: list[int], output_size: list[int], random_samples: TensorMeta
) -> list[Shape]:
    """Windows at random distances: a number per plane and dimension says where they lie."""
    check(random_samples.ndim == 3, f"random samples of shape {shape_text(random_samples.shape)}")
    count = len(kernel_size)
    check(
        count == len(output_size) and same_size(random_samples.shape[-1], count),
        f"kernel {kernel_size}, output {output_size}, random samples of shape {shape_text(random_samples.shape)}",
    )
    shape = adaptive(self.shape, count, output_size)
    sizes = zip(self.shape[-count:], kernel_size, output_size, strict=True)
    for size, taps, windows in sizes:
        # In three dimensions PyTorch wants one element more.
        fits = isinstance(size, Expr) or 0 < taps <= size - windows + (count == 2)
        check(fits, f"{windows} windows of {taps} in a dimension of size {size}")
    batch = self.shape[0] if self.ndim == count + 2 else 1
    expected = (batch, self.shape[-count - 1], count)
    check(
        same_shape(random_samples.shape, expected),
        f"random samples of shape {shape_text(random_samples.shape)}, expected {shape_text(expected)}",
    )
    return [shape, shape]


def unpooled(self: TensorMeta, indices: TensorMeta, count: int, output_size: Sequence[Dim]) -> Shape:
    """A shape with other sizes in its last `count` dimensions."""
    check_image(self.shape, count)
    shapes = f"{shape_text(self.shape)} and {shape_text(indices.shape)}"
    check(same_shape(self.shape, indices.shape), f"input and indices of shapes {shapes}")
    check(len(output_size) == count, f"output_size {shape_text(output_size)} must be {count} numbers")
    return (*self.shape[:-count], *output_size)


@shape_rule("aten.max_unpool2d")
def max_unpool2d(self: TensorMeta, indices: TensorMeta, output_size: list[Dim]) -> Shape:
    return unpooled(self, indices, 2, output_size)


@shape_rule("aten.max_unpool3d")
def max_unpool3d(
    self: TensorMeta, indices: TensorMeta, output_size: list[Dim], stride: list[int], padding: list[int]
) -> Shape:
    check(len(stride) == len(padding) == 3, "stride and padding must be 3 numbers")
    check_positive("stride", stride)
    return unpooled(self, indices, 3, output_size)
