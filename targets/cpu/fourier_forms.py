"""Fourier transforms along several dimensions in the form that kernels take: along one after the other.

    _fft_c2c(x, [0, 1], ...)    becomes    _fft_c2c(_fft_c2c(x, [1], ...), [0], ...)

Of real values the last dimension comes first, whose transform is of real ones; of what becomes real it comes last. The factor of each
dimension, 1, 1 / n or its root, is that of the whole.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace
from xdsl_exir.targets.cpu.row_forms import Arguments, Form


def complex_to_complex(aten: Namespace, a: Arguments) -> SSAValue:
    return along(aten, a["self"], a["dim"], a["normalization"], a["forward"])


def along(aten: Namespace, x: SSAValue, dims: list[int], normalization: int, forward: bool) -> SSAValue:
    for dim in reversed(dims):
        x = aten._fft_c2c(x, [dim], normalization, forward)
    return x


def real_to_complex(aten: Namespace, a: Arguments) -> SSAValue:
    *others, last = a["dim"]
    half = aten._fft_r2c(a["self"], [last], a["normalization"], a["onesided"])
    return along(aten, half, others, a["normalization"], True)


def complex_to_real(aten: Namespace, a: Arguments) -> SSAValue:
    *others, last = a["dim"]
    half = along(aten, a["self"], others, a["normalization"], False)
    return aten._fft_c2r(half, [last], a["normalization"], a["last_dim_size"])


def has_several(a: Arguments) -> bool:
    return len(a["dim"]) > 1


FOURIER_FORMS: dict[str, Form] = {
    f"aten.{name}": Form(build, dtypes, has_several, mixed=True)
    for name, build, dtypes in (
        ("_fft_c2c", complex_to_complex, frozenset({dt.ComplexFloat, dt.ComplexDouble})),
        ("_fft_r2c", real_to_complex, frozenset({dt.ComplexFloat, dt.ComplexDouble})),
        ("_fft_c2r", complex_to_real, frozenset({dt.Float, dt.Double})),
    )
}
"""By operator."""
