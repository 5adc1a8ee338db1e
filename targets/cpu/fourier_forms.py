"""Fourier transforms in the forms that kernels take: those along several dimensions along one after the other, and some in two rounds.

    _fft_c2c(x, [0, 1], ...)    becomes    _fft_c2c(_fft_c2c(x, [1], ...), [0], ...)
    _fft_c2c(x[n], [0], ...)    becomes    _fft_c2c(_fft_c2c(x[p, q], [0], ...) * roots[p, q], [1], ...), turned, where n = p q

Of real values the last dimension comes first, whose transform is of real ones; of what becomes real it comes last. The factor of each
dimension, 1, 1 / n or its root, is that of the whole; that of each round makes it up too. Two rounds (Bailey, 1990) are of long transforms, whose short rows
caches hold, and of those of few rows, of which each round has many; of real values the first one leaves half of p, and the other half of the results are conjugates. The roots are state, for
constants to be folded.
"""

from __future__ import annotations

from math import isqrt, pi

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, cast, meta
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.targets.cpu.kernels.fourier import LONGEST, factors
from xdsl_exir.targets.cpu.row_forms import Arguments, Form
from xdsl_exir.transforms.matching import static

# --- two rounds -----------------------------------------------------------------------------------------


FEW = 8
"""Rows of transforms below which most lanes of kernels would do the same as others: then those of two rounds have more."""
SHORT = 1024
"""Values of a row that two rounds are not worth it for."""


def rounds(size: Dim, rows: Dim) -> tuple[int, int] | None:
    """The numbers of values that the two rounds of a transform are of, as equal as they can be; None of one that is neither long, nor of few
    rows, or has no such factors."""
    least = SHORT if isinstance(rows, int) and rows < FEW else LONGEST + 1
    if not isinstance(size, int) or size < least:
        return None
    found = ((p, size // p) for p in range(isqrt(size), 1, -1) if size % p == 0)
    fitting = [pair for pair in found if pair[1] <= LONGEST]
    fast = [pair for pair in fitting if None not in map(factors, pair)]
    return next(iter([*fast, *(fitting if size > LONGEST else [])]), None)


def rounds_of(x: SSAValue, dim: int, size: Dim | None = None) -> tuple[int, int] | None:
    """The same of a transform along a dimension, of so many values if not of those it has."""
    shape = static(meta(x).shape)
    if shape is None or 0 in shape:
        return None
    return rounds(shape[dim] if size is None else size, prod((*shape[:dim], *shape[dim + 1 :])))


def roots(aten: Namespace, shape: tuple[int, int], size: int, forward: bool, like: SSAValue) -> SSAValue:
    """exp(-2 pi i j k / size), conjugated if not `forward`, [j, k, 1], computed in float64."""
    rows, columns = (aten.arange.start_step(0, count, dtype=dt.Double) for count in shape)
    turns = aten.mul.Tensor(aten.view(rows, [-1, 1, 1]), aten.view(columns, [-1, 1]))
    angles = aten.mul.Scalar(turns, (-2 if forward else 2) * pi / size)
    return cast(aten, aten.complex(aten.cos(angles), aten.sin(angles)), meta(like).dtype)


def apart(aten: Namespace, x: SSAValue, dim: int, p: int, q: int) -> SSAValue:
    """A dimension of p q as [outer, p, q, inner]."""
    shape = static(meta(x).shape)
    assert shape is not None
    return aten.view(x, [prod(shape[:dim]), p, q, prod(shape[dim + 1 :])])


def complex_rounds(aten: Namespace, x: SSAValue, dim: int, normalization: int, forward: bool) -> SSAValue:
    """X[k1 + p k2] is the sum over n2 of w_q^(n2 k2) w_n^(n2 k1) times that over n1 of w_p^(n1 k1) x[q n1 + n2]."""
    shape = list(meta(x).shape)
    pair = rounds_of(x, dim)
    if pair is None:
        return aten._fft_c2c(x, [dim], normalization, forward)
    p, q = pair
    first = aten._fft_c2c(apart(aten, x, dim, p, q), [1], normalization, forward)
    turned = aten.mul.Tensor(first, roots(aten, (p, q), p * q, forward, first))
    second = aten._fft_c2c(turned, [2], normalization, forward)
    return aten.view(aten.permute(second, [0, 2, 1, 3]), shape)


def real_rounds(aten: Namespace, a: Arguments, dim: int) -> SSAValue:
    """The same of real values: where k1 is beyond p / 2 the result is that of p - k1 and q - 1 - k2, conjugated."""
    x, normalization = a["self"], a["normalization"]
    pair = rounds_of(x, dim)
    if pair is None:
        return aten._fft_r2c(x, [dim], normalization, a["onesided"])
    p, q = pair
    first = aten._fft_r2c(apart(aten, x, dim, p, q), [1], normalization, True)
    turned = aten.mul.Tensor(first, roots(aten, (p // 2 + 1, q), p * q, True, first))
    second = aten._fft_c2c(turned, [2], normalization, True)
    others = aten._conj(aten.flip(aten.slice.Tensor(second, 1, 1, (p + 1) // 2), [1, 2]))
    kept, count = (q // 2 + 1, p * q // 2 + 1) if a["onesided"] else (q, p * q)
    parts = [aten.slice.Tensor(each, 2, 0, kept) for each in (second, others)]
    whole = aten.view(aten.permute(aten.cat(parts, 1), [0, 2, 1, 3]), [-1, kept * p, meta(first).shape[3]])
    shape = list(meta(x).shape)
    return aten.view(aten.slice.Tensor(whole, 1, 0, count), [*shape[:dim], count, *shape[dim + 1 :]])


def half_rounds(aten: Namespace, x: SSAValue, dim: int, normalization: int, size: Dim) -> SSAValue:
    """The other way round, of half a spectrum: k1 up to p / 2 of all k2, and last the transform to real values."""
    pair, shape = rounds_of(x, dim, size), static(meta(x).shape)
    if pair is None or shape is None:
        return aten._fft_c2r(x, [dim], normalization, size)
    p, q = pair
    n, inner = p * q, prod(shape[dim + 1 :])
    half = aten.view(x, [-1, n // 2 + 1, inner])
    others = aten._conj(aten.flip(aten.slice.Tensor(half, 1, 1, (n + 1) // 2), [1]))
    whole = aten.view(aten.cat([half, others], 1), [-1, q, p, inner])
    given = aten.permute(aten.slice.Tensor(whole, 2, 0, p // 2 + 1), [0, 2, 1, 3])
    first = aten._fft_c2c(given, [2], normalization, False)
    turned = aten.mul.Tensor(first, roots(aten, (p // 2 + 1, q), n, False, first))
    made = aten._fft_c2r(turned, [1], normalization, p)
    return aten.view(made, [*shape[:dim], n, *shape[dim + 1 :]])


# --- several dimensions --------------------------------------------------------------------------------------


def complex_to_complex(aten: Namespace, a: Arguments) -> SSAValue:
    return along(aten, a["self"], dims_of(a), a["normalization"], a["forward"])


def along(aten: Namespace, x: SSAValue, dims: list[int], normalization: int, forward: bool) -> SSAValue:
    for dim in reversed(dims):
        x = complex_rounds(aten, x, dim, normalization, forward)
    return x


def real_to_complex(aten: Namespace, a: Arguments) -> SSAValue:
    *others, last = dims_of(a)
    half = real_rounds(aten, a, last)
    return along(aten, half, others, a["normalization"], True)


def complex_to_real(aten: Namespace, a: Arguments) -> SSAValue:
    *others, last = dims_of(a)
    half = along(aten, a["self"], others, a["normalization"], False)
    return half_rounds(aten, half, last, a["normalization"], a["last_dim_size"])


def dims_of(a: Arguments) -> list[int]:
    ndim = meta(a["self"]).ndim
    return [dim % ndim for dim in a["dim"]] if ndim else []


def helps(a: Arguments) -> bool:
    """Whether it is along several dimensions, or in two rounds."""
    dims = dims_of(a)
    return len(dims) > 1 or (
        len(dims) == 1 and rounds_of(a["self"], dims[0], a.get("last_dim_size")) is not None
    )


FOURIER_FORMS: dict[str, Form] = {
    f"aten.{name}": Form(build, dtypes, helps, mixed=True)
    for name, build, dtypes in (
        ("_fft_c2c", complex_to_complex, frozenset({dt.ComplexFloat, dt.ComplexDouble})),
        ("_fft_r2c", real_to_complex, frozenset({dt.ComplexFloat, dt.ComplexDouble})),
        ("_fft_c2r", complex_to_real, frozenset({dt.Float, dt.Double})),
    )
}
"""By operator."""
