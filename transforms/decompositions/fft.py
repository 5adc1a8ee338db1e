"""Decompositions of Fourier transforms, into one of three: real to complex, complex to real, complex to complex."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Size, cast, meta
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import wrap_dim, wrap_dims
from xdsl_exir.dialects.promotion import COMPLEX_OF
from xdsl_exir.dialects.shapes.fft import dims_and_sizes, full_last
from xdsl_exir.transforms.decompositions import decomposition
from xdsl_exir.transforms.decompositions.view import Sizes, dims_of

# --- what rules share ----------------------------------------------------------------------------------------


def normalization(norm: str | None, forward: bool) -> int:
    """PyTorch's number of a normalization: 0 none, 1 by the root of the number of values, 2 by their number."""
    if norm == "ortho":
        return 1
    return 2 if (norm == "forward") == forward else 0


def floating(aten: Namespace, self: SSAValue) -> SSAValue:
    """Integers as float32."""
    return cast(aten, self, dt.Float) if meta(self).dtype.category <= Category.INT else self


def as_complex(aten: Namespace, self: SSAValue) -> SSAValue:
    self = floating(aten, self)
    dtype: DType = meta(self).dtype
    return cast(aten, self, COMPLEX_OF.get(dtype, dtype))


def is_complex(self: SSAValue) -> bool:
    return meta(self).dtype.category is Category.COMPLEX


def length(n: Size) -> Dim:
    """How many values a transform is of. Raises `ExirError` where the data tells."""
    [size] = dims_of([n], "a Fourier transform")
    return size


def resize(
    aten: Namespace, self: SSAValue, dims: Sequence[int], sizes: Sequence[Dim], given: Sequence[Size] | None
) -> SSAValue:
    """Cuts dimensions off, or fills them up with zeros; sizes are computed from those of the tensor and from what is `given`."""
    padding: list[Size] = [0] * (2 * meta(self).ndim)
    for dim, size in zip(dims, sizes, strict=True):
        # What is missing may be negative, which cuts off.
        padding[2 * (meta(self).ndim - 1 - dim) + 1] = Sizes(aten, self, *given or ())(
            size - meta(self).shape[dim]
        )
    return aten.constant_pad_nd(self, padding) if any(padding) else self


def conjugate(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten._conj(self)


# --- one dimension -------------------------------------------------------------------------------------------


def of_real(
    aten: Namespace, self: SSAValue, n: Size | None, dim: int, norm: str | None, forward: bool, onesided: bool
) -> SSAValue:
    """A transform of real numbers; the inverse one is the forward one's conjugate."""
    self = floating(aten, self)
    dim = wrap_dim(dim, meta(self).ndim)
    if n is not None:
        self = resize(aten, self, [dim], [length(n)], [n])
    result = aten._fft_r2c(self, [dim], normalization(norm, forward), onesided)
    return result if forward else conjugate(aten, result)


def of_complex(
    aten: Namespace, self: SSAValue, n: Size | None, dim: int, norm: str | None, forward: bool
) -> SSAValue:
    if not is_complex(self):
        return of_real(aten, self, n, dim, norm, forward, onesided=False)
    dim = wrap_dim(dim, meta(self).ndim)
    if n is not None:
        self = resize(aten, self, [dim], [length(n)], [n])
    return aten._fft_c2c(self, [dim], normalization(norm, forward), forward)


def to_real(
    aten: Namespace, self: SSAValue, n: Size | None, dim: int, norm: str | None, forward: bool
) -> SSAValue:
    """The real numbers of which `self` is half the spectrum."""
    self = as_complex(aten, self)
    dim = wrap_dim(dim, meta(self).ndim)
    size = 2 * (meta(self).shape[dim] - 1) if n is None else length(n)
    last = Sizes(aten, self)(size) if n is None else n
    if n is not None:
        self = resize(aten, self, [dim], [size // 2 + 1], [n])
    if forward:
        self = conjugate(aten, self)
    return aten._fft_c2r(self, [dim], normalization(norm, forward), last)


def _register(name: str, transform: Callable[..., SSAValue], **how: bool) -> None:
    def rule(aten: Namespace, self: SSAValue, n: Size | None, dim: int, norm: str | None) -> SSAValue:
        return transform(aten, self, n, dim, norm, **how)

    decomposition(name)(rule)


_register("aten.fft_fft", of_complex, forward=True)
_register("aten.fft_ifft", of_complex, forward=False)
_register("aten.fft_rfft", of_real, forward=True, onesided=True)
_register("aten.fft_ihfft", of_real, forward=False, onesided=True)
_register("aten.fft_hfft", to_real, forward=True)
_register("aten.fft_irfft", to_real, forward=False)


# --- several dimensions --------------------------------------------------------------------------------------

Lengths = Sequence[Size] | None
Dims = Sequence[int] | None


def dims_and_lengths(self: SSAValue, s: Lengths, dim: Dims) -> tuple[list[int], list[Dim]]:
    """The dimensions transformed, and how many values along each."""
    return dims_and_sizes(meta(self).shape, None if s is None else dims_of(s, "a Fourier transform"), dim)


def of_complexes(
    aten: Namespace, self: SSAValue, s: Lengths, dim: Dims, norm: str | None, forward: bool
) -> SSAValue:
    self = as_complex(aten, self)
    dims, sizes = dims_and_lengths(self, s, dim)
    return aten._fft_c2c(resize(aten, self, dims, sizes, s), dims, normalization(norm, forward), forward)


@decomposition("aten.fft_fftn", "aten.fft_fft2")
def fftn(aten: Namespace, self: SSAValue, s: Lengths, dim: Dims, norm: str | None) -> SSAValue:
    return of_complexes(aten, self, s, dim, norm, forward=True)


@decomposition("aten.fft_ifftn", "aten.fft_ifft2")
def ifftn(aten: Namespace, self: SSAValue, s: Lengths, dim: Dims, norm: str | None) -> SSAValue:
    return of_complexes(aten, self, s, dim, norm, forward=False)


@decomposition("aten.fft_rfftn", "aten.fft_rfft2")
def rfftn(aten: Namespace, self: SSAValue, s: Lengths, dim: Dims, norm: str | None) -> SSAValue:
    self = floating(aten, self)
    dims, sizes = dims_and_lengths(self, s, dim)
    return aten._fft_r2c(resize(aten, self, dims, sizes, s), dims, normalization(norm, True), True)


@decomposition("aten.fft_ihfftn", "aten.fft_ihfft2")
def ihfftn(aten: Namespace, self: SSAValue, s: Lengths, dim: Dims, norm: str | None) -> SSAValue:
    self = floating(aten, self)
    dims, sizes = dims_and_lengths(self, s, dim)
    scale = normalization(norm, False)
    half = aten._fft_r2c(resize(aten, self, dims, sizes, s), dims[-1:], scale, True)
    half = conjugate(aten, half)
    return aten._fft_c2c(half, dims[:-1], scale, False) if len(dims) > 1 else half


def half_spectrum(aten: Namespace, self: SSAValue, s: Lengths, dim: Dims) -> tuple[SSAValue, list[int], Size]:
    """Complex numbers cut or filled up to half a spectrum, its dimensions, and the size the last one stands for."""
    self = as_complex(aten, self)
    dims, sizes = dims_and_lengths(self, s, dim)
    last = full_last(meta(self).shape, None if s is None else sizes, dims)
    length = Sizes(aten, self, *s or ())(last)
    return resize(aten, self, dims, [*sizes[:-1], last // 2 + 1], s), dims, length


@decomposition("aten.fft_irfftn", "aten.fft_irfft2")
def irfftn(aten: Namespace, self: SSAValue, s: Lengths, dim: Dims, norm: str | None) -> SSAValue:
    self, dims, last = half_spectrum(aten, self, s, dim)
    return aten._fft_c2r(self, dims, normalization(norm, False), last)


@decomposition("aten.fft_hfftn", "aten.fft_hfft2")
def hfftn(aten: Namespace, self: SSAValue, s: Lengths, dim: Dims, norm: str | None) -> SSAValue:
    self, dims, last = half_spectrum(aten, self, s, dim)
    scale = normalization(norm, True)
    if len(dims) > 1:
        self = aten._fft_c2c(self, dims[:-1], scale, True)
    return aten._fft_c2r(conjugate(aten, self), dims[-1:], scale, last)


# --- what goes with them -------------------------------------------------------------------------------------


@decomposition("aten.fft_fftshift")
def fftshift(aten: Namespace, self: SSAValue, dim: Dims) -> SSAValue:
    dims = wrap_dims(dim, meta(self).ndim)
    size_of = Sizes(aten, self)
    return aten.roll(self, [size_of(size_of.named(meta(self).shape[d]) // 2) for d in dims], dims)


@decomposition("aten.fft_ifftshift")
def ifftshift(aten: Namespace, self: SSAValue, dim: Dims) -> SSAValue:
    dims = wrap_dims(dim, meta(self).ndim)
    size_of = Sizes(aten, self)
    return aten.roll(self, [size_of((size_of.named(meta(self).shape[d]) + 1) // 2) for d in dims], dims)


def centred(
    aten: Namespace, window: SSAValue | None, length: int, n_fft: int, dtype: DType
) -> SSAValue | None:
    """A window in the middle of a frame, between zeros; None where it is 1 everywhere."""
    if window is None and length < n_fft:
        window = aten.full([length], 1, dtype=dtype)
    before = (n_fft - length) // 2
    if window is not None and length < n_fft:
        window = aten.constant_pad_nd(window, [before, n_fft - length - before])
    return window


@decomposition("aten.istft")
def istft(
    aten: Namespace,
    self: SSAValue,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: SSAValue | None,
    center: bool,
    normalized: bool,
    onesided: bool | None,
    length: int | None,
    return_complex: bool,
) -> SSAValue:
    """Frames times the window, added where they overlap, and divided by the sum of the windows' squares there."""
    hop = n_fft // 4 if hop_length is None else hop_length
    spectra = aten.transpose.int(self, -2, -1)
    size_of = Sizes(aten, spectra)
    *batch, frames, frequencies = map(size_of.named, meta(spectra).shape)
    last, scale = len(batch) + 1, 1 if normalized else 2
    if return_complex:
        signals = aten._fft_c2c(spectra, [last], scale, False)
    else:
        half = aten.slice.Tensor(spectra, last, 0, n_fft // 2 + 1) if frequencies == n_fft else spectra
        signals = aten._fft_c2r(half, [last], scale, n_fft)
    dtype = meta(signals).dtype
    weights = centred(aten, window, n_fft if win_length is None else win_length, n_fft, dtype)
    if weights is None:
        weights = aten.full([n_fft], 1, dtype=dtype)
    samples = n_fft + hop * (frames - 1)

    def added(frames: SSAValue, batch: Sequence[Dim]) -> SSAValue:
        return aten.unfold_backward(frames, size_of.all([*batch, samples]), len(batch), n_fft, hop)

    signal = added(aten.mul.Tensor(signals, weights), batch)
    envelope = added(aten.expand(aten.mul.Tensor(weights, weights), size_of.all([frames, n_fft])), [])
    start = n_fft // 2 if center else 0
    result = aten.div.Tensor(*(aten.slice.Tensor(x, -1, start) for x in (signal, envelope)))
    if length is None:
        return aten.slice.Tensor(result, -1, 0, size_of(samples - 2 * start))
    # What is missing may be negative, which cuts off.
    return aten.constant_pad_nd(result, [0, size_of(start + length - samples)])


@decomposition("aten.stft")
def stft(
    aten: Namespace,
    self: SSAValue,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: SSAValue | None,
    normalized: bool,
    onesided: bool | None,
    return_complex: bool | None,
) -> SSAValue:
    """Spectra of overlapping frames, each times a window in its middle."""
    window = centred(aten, window, n_fft if win_length is None else win_length, n_fft, meta(self).dtype)
    frames = aten.unfold(self, -1, n_fft, n_fft // 4 if hop_length is None else hop_length)
    if window is not None:
        frames = aten.mul.Tensor(frames, window)
    last = meta(frames).ndim - 1
    scale = 1 if normalized else 0
    if is_complex(frames):
        spectra = aten._fft_c2c(frames, [last], scale, True)
    else:
        spectra = aten._fft_r2c(frames, [last], scale, onesided is None or onesided)
    result = aten.transpose.int(spectra, last - 1, last)
    return aten.view_as_real(result) if return_complex is False else result
