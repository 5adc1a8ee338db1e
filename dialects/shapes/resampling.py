"""Shape rules of resampling: images scaled up or down, sampled along grids, taken apart into patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from xdsl_exir.dialects.expr import Dim, Expr, max_
from xdsl_exir.dialects.expr import apply as apply_function
from xdsl_exir.dialects.meta import Shape, check, numel, same_size, shape_rule, shape_text
from xdsl_exir.dialects.shapes.pooling import check_positive, window_count
from xdsl_exir.dialects.tensors import TensorMeta

# --- upsampling ----------------------------------------------------------------------------------------------


def scaled(size: Dim, factor: float) -> Dim:
    """A size times a factor, rounded down (UpSample.h). Symbolic where the size is; exact for whole factors."""
    if float(factor).is_integer():
        return size * int(factor)
    if isinstance(size, int):
        return int(size * factor)
    return apply_function("trunc_to_int", apply_function("mul", apply_function("to_float", size), factor))


def upsampled(shape: Shape, count: int, output_size: Sequence[Dim]) -> Shape:
    """`[N, C, *spatial]` with other spatial sizes."""
    check(len(shape) == count + 2, f"expected {count + 2} dimensions, got {shape_text(shape)}")
    check(len(output_size) == count, f"output_size {shape_text(output_size)} must be {count} numbers")
    sizes = (*shape[1:], *output_size)
    check(
        all(isinstance(size, Expr) or size > 0 for size in sizes),
        f"sizes must be greater than zero, got {shape_text(shape)} to {shape_text(output_size)}",
    )
    return (*shape[:2], *output_size)


def size_from(
    shape: Shape, count: int, output_size: Sequence[Dim] | None, scale_factors: Sequence[float] | None
) -> Sequence[Dim]:
    """The spatial sizes that the `.vec` overloads ask for by exactly one of their arguments."""
    check(
        (output_size is None) != (scale_factors is None), "either output_size or scale_factors must be given"
    )
    if output_size is not None:
        return output_size
    assert scale_factors is not None
    check(len(shape) == count + 2, f"expected {count + 2} dimensions, got {shape_text(shape)}")
    check(len(scale_factors) == count, f"scale_factors {list(scale_factors)} must be {count} numbers")
    return [scaled(size, factor) for size, factor in zip(shape[2:], scale_factors, strict=True)]


def _register(count: int, *names: str) -> None:
    """The rules of the operators that resample this many dimensions."""

    def upsample(self: TensorMeta, output_size: list[Dim]) -> Shape:
        return upsampled(self.shape, count, output_size)

    def upsample_vec(
        input: TensorMeta, output_size: list[Dim] | None, scale_factors: list[float] | None
    ) -> Shape:
        return upsampled(input.shape, count, size_from(input.shape, count, output_size, scale_factors))

    shape_rule(*(f"aten.{name}" for name in names))(upsample)
    shape_rule(*(f"aten.{name}.vec" for name in names))(upsample_vec)


_register(1, "upsample_nearest1d", "_upsample_nearest_exact1d", "upsample_linear1d")
_register(
    2,
    "upsample_nearest2d",
    "_upsample_nearest_exact2d",
    "upsample_bilinear2d",
    "upsample_bicubic2d",
    "_upsample_bilinear2d_aa",
    "_upsample_bicubic2d_aa",
    "_upsample_lanczos2d_aa",
)
_register(3, "upsample_nearest3d", "_upsample_nearest_exact3d", "upsample_trilinear3d")


# --- sampling along a grid -----------------------------------------------------------------------------------


BILINEAR, NEAREST, BICUBIC = 0, 1, 2
"""Values of `interpolation_mode`."""
ZEROS, BORDER, REFLECTION = 0, 1, 2
"""Values of `padding_mode`."""


def check_grid(input: TensorMeta, grid: TensorMeta, interpolation_mode: int, padding_mode: int) -> Shape:
    """`[N, C, *spatial]` sampled at `[N, *out, rank]` gives `[N, C, *out]`."""
    count = input.ndim - 2
    check(count in (2, 3), f"expected an input of 4 or 5 dimensions, got {shape_text(input.shape)}")
    check(grid.ndim == input.ndim, f"input {shape_text(input.shape)} and grid {shape_text(grid.shape)}")
    check(same_size(input.shape[0], grid.shape[0]), "input and grid of different batch sizes")
    check(
        same_size(grid.shape[-1], count),
        f"grid {shape_text(grid.shape)} must have size {count} in its last dimension",
    )
    check(all(size != 0 for size in input.shape[2:]), f"the input {shape_text(input.shape)} is empty")
    check(interpolation_mode in (BILINEAR, NEAREST, BICUBIC), f"interpolation mode {interpolation_mode}")
    check(interpolation_mode != BICUBIC or count == 2, "bicubic sampling takes inputs of 4 dimensions")
    check(padding_mode in (ZEROS, BORDER, REFLECTION), f"padding mode {padding_mode}")
    return (*input.shape[:2], *grid.shape[1:-1])


@shape_rule("aten.grid_sampler")
def grid_sampler(input: TensorMeta, grid: TensorMeta, interpolation_mode: int, padding_mode: int) -> Shape:
    return check_grid(input, grid, interpolation_mode, padding_mode)


@shape_rule("aten.grid_sampler_2d")
def grid_sampler_2d(input: TensorMeta, grid: TensorMeta, interpolation_mode: int, padding_mode: int) -> Shape:
    check(input.ndim == 4, f"expected 4 dimensions, got {shape_text(input.shape)}")
    return check_grid(input, grid, interpolation_mode, padding_mode)


@shape_rule("aten.grid_sampler_3d")
def grid_sampler_3d(input: TensorMeta, grid: TensorMeta, interpolation_mode: int, padding_mode: int) -> Shape:
    check(input.ndim == 5, f"expected 5 dimensions, got {shape_text(input.shape)}")
    return check_grid(input, grid, interpolation_mode, padding_mode)


@shape_rule("aten.affine_grid_generator")
def affine_grid_generator(theta: TensorMeta, size: Sequence[Dim]) -> Shape:
    count = len(size) - 2
    check(count in (2, 3), f"a grid for {len(size)} dimensions")
    check(
        theta.ndim == 3 and theta.shape[1:] == (count, count + 1) and same_size(theta.shape[0], size[0]),
        f"theta is {shape_text(theta.shape)}, not {shape_text((size[0], count, count + 1))}",
    )
    return (size[0], *size[2:], count)


# --- patches -------------------------------------------------------------------------------------------------


def blocks(
    sizes: Sequence[Dim],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> list[Dim]:
    """How many patches fit along each of two dimensions."""
    check(len(sizes) == 2, f"{shape_text(sizes)} must be 2 sizes")
    options = {"kernel_size": kernel_size, "dilation": dilation, "stride": stride}
    for name, values in options.items():
        check_positive(name, values)
    for name, values in {**options, "padding": padding}.items():
        check(len(values) == 2, f"{name} {list(values)} must be 2 numbers")
    check(all(pad >= 0 for pad in padding), f"padding {list(padding)} must not be negative")
    given = zip(sizes, kernel_size, stride, padding, dilation, strict=True)
    counts = [window_count(size, kernel, step, pad, spread) for size, kernel, step, pad, spread in given]
    check(
        all(isinstance(count, Expr) or count > 0 for count in counts),
        f"no block of size {list(kernel_size)} fits {shape_text(sizes)}",
    )
    return counts


@shape_rule("aten.im2col")
def im2col(
    self: TensorMeta, kernel_size: list[int], dilation: list[int], padding: list[int], stride: list[int]
) -> Shape:
    """`[N, C, H, W]` gives `[N, C kh kw, L]`, a column for each of L patches."""
    check(self.ndim in (3, 4), f"expected 3 or 4 dimensions, got {shape_text(self.shape)}")
    check(
        all(size != 0 for size in self.shape[-3:]), f"only the batch may be empty: {shape_text(self.shape)}"
    )
    counts = blocks(self.shape[-2:], kernel_size, dilation, padding, stride)
    return (*self.shape[:-3], self.shape[-3] * numel(kernel_size), numel(counts))


@shape_rule("aten.col2im")
def col2im(
    self: TensorMeta,
    output_size: list[Dim],
    kernel_size: list[int],
    dilation: list[int],
    padding: list[int],
    stride: list[int],
) -> Shape:
    """`[N, C kh kw, L]` gives `[N, C, H, W]`: the patches added up where they lie."""
    check(self.ndim in (2, 3), f"expected 2 or 3 dimensions, got {shape_text(self.shape)}")
    check(
        all(size != 0 for size in self.shape[-2:]), f"only the batch may be empty: {shape_text(self.shape)}"
    )
    counts = blocks(output_size, kernel_size, dilation, padding, stride)
    taps = numel(kernel_size)
    check(same_size(self.shape[-2] % taps, 0), f"{self.shape[-2]} rows do not divide by {taps} taps")
    check(same_size(self.shape[-1], numel(counts)), f"{self.shape[-1]} columns, {numel(counts)} blocks")
    return (*self.shape[:-2], self.shape[-2] // taps, *output_size)


# --- positions -----------------------------------------------------------------------------------------------

CUBIC = -0.75
"""The free parameter of cubic convolution, as PyTorch has it."""


@overload
def ratio(size: int, count: int, align_corners: bool = False, factor: float | None = None) -> float: ...
@overload
def ratio(size: Dim, count: Dim, align_corners: bool = False, factor: float | None = None) -> float | Dim: ...
def ratio(size: Dim, count: Dim, align_corners: bool = False, factor: float | None = None) -> float | Dim:
    """The distance between output elements, in input elements (area_pixel_compute_scale in UpSample.h)."""
    if align_corners:
        return 0.0 if count == 1 else (size - 1) / max_(count - 1, 1)
    return 1 / factor if factor is not None and factor > 0 else size / count
