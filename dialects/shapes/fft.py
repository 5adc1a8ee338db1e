"""Shape rules of Fourier transforms.

The transforms of real numbers keep half of a spectrum along one dimension, `n // 2 + 1` of `n` values: the rest is
its mirror image.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import Shape, check, same_size, shape_rule, wrap_dim, wrap_dims
from xdsl_exir.dialects.tensors import TensorMeta

NORMALIZATIONS = (None, "backward", "ortho", "forward")
"""Where the factor 1 / n goes: to the inverse, its root to both, to the forward transform."""


def check_norm(norm: str | None) -> None:
    check(norm in NORMALIZATIONS, f"norm is '{norm}', not 'backward', 'ortho' or 'forward'")


def check_size(size: Dim) -> None:
    """Raises `MetaError` for a transform of no values."""
    check(not (isinstance(size, int) and size < 1), f"a transform of {size} values")


def resized(shape: Sequence[Dim], sizes: dict[int, Dim]) -> Shape:
    """A shape with other sizes in some dimensions."""
    return tuple(sizes.get(dim, size) for dim, size in enumerate(shape))


# --- core ----------------------------------------------------------------------------------------------------


@shape_rule("aten._fft_r2c")
def r2c(self: TensorMeta, dim: list[int], onesided: bool) -> Shape:
    dims = wrap_dims(dim, self.ndim)
    check(bool(dims), "no dimension to transform")
    last = dims[-1]
    return resized(self.shape, {last: self.shape[last] // 2 + 1}) if onesided else self.shape


@shape_rule("aten._fft_c2r")
def c2r(self: TensorMeta, dim: list[int], last_dim_size: Dim) -> Shape:
    dims = wrap_dims(dim, self.ndim)
    check(bool(dims), "no dimension to transform")
    check_size(last_dim_size)
    half, given = last_dim_size // 2 + 1, self.shape[dims[-1]]
    check(same_size(given, half), f"half a spectrum of {last_dim_size} values has {half}, not {given}")
    return resized(self.shape, {dims[-1]: last_dim_size})


@shape_rule("aten._fft_c2c")
def c2c(self: TensorMeta, dim: list[int]) -> Shape:
    wrap_dims(dim, self.ndim)
    return self.shape


# --- one dimension -------------------------------------------------------------------------------------------


def transformed(self: TensorMeta, n: Dim | None, dim: int, norm: str | None) -> tuple[int, Dim]:
    """The dimension, and the number of values transformed."""
    check_norm(norm)
    check(self.ndim > 0, "a 0-dimensional tensor has no dimension to transform")
    dim = wrap_dim(dim, self.ndim)
    size = self.shape[dim] if n is None else n
    check_size(size)
    return dim, size


@shape_rule("aten.fft_fft", "aten.fft_ifft")
def fft(self: TensorMeta, n: Dim | None, dim: int, norm: str | None) -> Shape:
    dim, size = transformed(self, n, dim, norm)
    return resized(self.shape, {dim: size})


@shape_rule("aten.fft_rfft", "aten.fft_ihfft")
def rfft(self: TensorMeta, n: Dim | None, dim: int, norm: str | None) -> Shape:
    dim, size = transformed(self, n, dim, norm)
    return resized(self.shape, {dim: size // 2 + 1})


@shape_rule("aten.fft_irfft", "aten.fft_hfft")
def irfft(self: TensorMeta, n: Dim | None, dim: int, norm: str | None) -> Shape:
    dim, size = transformed(self, n, dim, norm)
    size = 2 * (size - 1) if n is None else size
    check_size(size)
    return resized(self.shape, {dim: size})


# --- several dimensions --------------------------------------------------------------------------------------


def dims_and_sizes(
    shape: Sequence[Dim], s: Sequence[Dim] | None, dim: Sequence[int] | None
) -> tuple[list[int], list[Dim]]:
    """The dimensions transformed, and how many values along each: `s` -1 means all there are.

    Without `dim` they are the last `len(s)`, without both all.
    """
    rank = len(shape)
    if dim is None:
        check(s is None or len(s) <= rank, f"sizes {s} of a {rank}-dimensional tensor")
        dims = list(range(rank)) if s is None else list(range(rank - len(s), rank))
    else:
        dims = wrap_dims(dim, rank)
        check(s is None or len(s) == len(dims), f"sizes {s} of dimensions {dim}")
    sizes = [shape[d] for d in dims]
    if s is not None:
        sizes = [old if new == -1 else new for old, new in zip(sizes, s, strict=True)]
    for size in sizes:
        check_size(size)
    return dims, sizes


def full_last(shape: Sequence[Dim], s: Sequence[Dim] | None, dims: Sequence[int]) -> Dim:
    """The size that the last dimension of half a spectrum stands for."""
    given = None if s is None or s[-1] == -1 else s[-1]
    size = 2 * (shape[dims[-1]] - 1) if given is None else given
    check_size(size)
    return size


@shape_rule("aten.fft_fftn", "aten.fft_ifftn", "aten.fft_fft2", "aten.fft_ifft2")
def fftn(self: TensorMeta, s: list[Dim] | None, dim: list[int] | None, norm: str | None) -> Shape:
    check_norm(norm)
    return resized(self.shape, dict(zip(*dims_and_sizes(self.shape, s, dim), strict=True)))


@shape_rule("aten.fft_rfftn", "aten.fft_ihfftn", "aten.fft_rfft2", "aten.fft_ihfft2")
def rfftn(self: TensorMeta, s: list[Dim] | None, dim: list[int] | None, norm: str | None) -> Shape:
    check_norm(norm)
    dims, sizes = dims_and_sizes(self.shape, s, dim)
    check(bool(dims), "at least one dimension is transformed")
    return resized(self.shape, dict(zip(dims, [*sizes[:-1], sizes[-1] // 2 + 1], strict=True)))


@shape_rule("aten.fft_irfftn", "aten.fft_hfftn", "aten.fft_irfft2", "aten.fft_hfft2")
def irfftn(self: TensorMeta, s: list[Dim] | None, dim: list[int] | None, norm: str | None) -> Shape:
    check_norm(norm)
    dims, sizes = dims_and_sizes(self.shape, s, dim)
    check(bool(dims), "at least one dimension is transformed")
    last = full_last(self.shape, s, dims)
    return resized(self.shape, dict(zip(dims, [*sizes[:-1], last], strict=True)))


# --- what goes with them -------------------------------------------------------------------------------------


@shape_rule("aten.fft_fftshift", "aten.fft_ifftshift")
def fftshift(self: TensorMeta, dim: list[int] | None) -> Shape:
    wrap_dims(dim, self.ndim)
    return self.shape


@shape_rule("aten.fft_fftfreq")
def fftfreq(n: int) -> Shape:
    check(n >= 0, f"{n} frequencies")
    return (n,)


@shape_rule("aten.fft_rfftfreq")
def rfftfreq(n: int) -> Shape:
    check(n >= 0, f"{n} frequencies")
    return (n // 2 + 1,)


@shape_rule("aten.istft")
def istft(
    self: TensorMeta,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: TensorMeta | None,
    center: bool,
    onesided: bool | None,
    length: int | None,
    return_complex: bool,
) -> Shape:
    check(self.ndim in (2, 3), f"spectra, or a batch of them, have 2 or 3 dimensions, not {self.ndim}")
    *batch, frequencies, frames = self.shape
    half = same_size(frequencies, n_fft // 2 + 1) if onesided is None else onesided
    check(same_size(frequencies, n_fft // 2 + 1 if half else n_fft), f"{frequencies} frequencies of {n_fft}")
    check(not (half and return_complex), "the spectrum of complex numbers has two sides")
    hop = n_fft // 4 if hop_length is None else hop_length
    size = n_fft if win_length is None else win_length
    check(0 < hop <= size <= n_fft, f"hop_length is {hop}, win_length {size}, n_fft {n_fft}")
    check(window is None or window.shape == (size,), f"the window has to have shape [{size}]")
    samples = n_fft + hop * (frames - 1) - (n_fft // 2 * 2 if center else 0)
    return (*batch, samples if length is None else length)


@shape_rule("aten.stft")
def stft(
    self: TensorMeta,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: TensorMeta | None,
    onesided: bool | None,
    return_complex: bool | None,
    align_to_window: bool | None,
) -> Shape:
    check(self.ndim in (1, 2), f"a signal, or a batch of them, has 1 or 2 dimensions, not {self.ndim}")
    check(align_to_window is None, "align_to_window is for centred frames")
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    *batch, samples = self.shape
    check(
        n_fft > 0 and not (isinstance(samples, int) and samples < n_fft),
        f"frames of {n_fft} of {samples} samples",
    )
    check(hop > 0, f"hop_length is {hop}")
    check(0 < length <= n_fft, f"win_length is {length}, frames have {n_fft} samples")
    check(window is None or window.shape == (length,), f"the window has to have shape [{length}]")
    complex_signal = self.dtype.category is Category.COMPLEX
    half = not complex_signal if onesided is None else onesided
    check(not (half and complex_signal), "the spectrum of complex numbers has two sides")
    check(return_complex is not None, "return_complex has to be given")
    frames = (samples - n_fft) // hop + 1
    parts = () if return_complex else (2,)
    return (*batch, n_fft // 2 + 1 if half else n_fft, frames, *parts)
