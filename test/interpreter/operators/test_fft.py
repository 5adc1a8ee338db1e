"""Every Fourier transform against PyTorch: sizes cut and filled up, dimensions, normalizations, dtypes."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, check_symbolic  # noqa: E402

from xdsl_exir.dialects.meta import MetaError  # noqa: E402
from xdsl_exir.dialects.promotion import DtypeError  # noqa: E402
from xdsl_exir.dialects.spec import specs  # noqa: E402


def tensor(*shape: int, dtype: str = "float32") -> torch.Tensor:
    kind = getattr(torch, dtype)
    generator = torch.Generator().manual_seed(sum(shape))
    if not kind.is_floating_point and not kind.is_complex:
        return torch.randint(0, 2, shape, generator=generator).to(kind)
    return torch.randn(*shape, generator=generator, dtype=kind)


Call = tuple[tuple[Any, ...], dict[str, Any]]


def of(*args: Any, **kwargs: Any) -> Call:
    return args, kwargs


REALS = ["float32", "float64", "int64", "bool"]
COMPLEX = ["complex64", "complex128"]
NORMS = [None, "backward", "ortho", "forward"]


def one_dimension(dtypes: list[str]) -> list[Call]:
    first = dtypes[0]
    return [
        *(of(tensor(4, 5, dtype=dtype)) for dtype in dtypes),
        *(of(tensor(4, 5, dtype=first), norm=norm) for norm in NORMS),
        of(tensor(5, dtype=first), 8), of(tensor(4, 5, dtype=first), 3, 0), of(tensor(2, 3, 4, dtype=first), None, 1),
    ]  # fmt: skip


def several_dimensions(dtypes: list[str]) -> list[Call]:
    first = dtypes[0]
    return [
        *(of(tensor(3, 4, 5, dtype=dtype)) for dtype in dtypes),
        *(of(tensor(3, 4, dtype=first), norm=norm) for norm in NORMS),
        of(tensor(3, 4, 5, dtype=first), [2, 7], [0, 1]), of(tensor(3, 4, 5, dtype=first), [-1, 8], [1, -1]),
    ]  # fmt: skip


BOTH = [*REALS, *COMPLEX]
WINDOW = torch.hann_window(8)


def spectra(**options: Any) -> torch.Tensor:
    return torch.stft(tensor(2, 32), 8, 2, window=WINDOW, return_complex=True, **options)


CASES: dict[str, list[Call]] = {
    **{f"aten.fft_{name}": one_dimension(BOTH) for name in ("fft", "ifft")},
    **{f"aten.fft_{name}": one_dimension(REALS) for name in ("rfft", "ihfft")},
    **{f"aten.fft_{name}": one_dimension(["complex64", "complex128", "float32", "int64"]) for name in ("irfft", "hfft")},
    **{f"aten.fft_{name}": several_dimensions(BOTH) for name in ("fftn", "ifftn", "fft2", "ifft2")},
    **{f"aten.fft_{name}": several_dimensions(REALS) for name in ("rfftn", "ihfftn", "rfft2", "ihfft2")},
    **{f"aten.fft_{name}": several_dimensions(["complex64", "complex128", "float32"]) for name in ("irfftn", "hfftn", "irfft2", "hfft2")},
    "aten._fft_c2c": [of(tensor(3, 4, dtype="complex64"), [0, 1], norm, way) for norm in range(3) for way in (True, False)],
    "aten._fft_r2c": [of(tensor(3, 5), [0, 1], norm, half) for norm in range(3) for half in (True, False)],
    "aten._fft_c2r": [of(tensor(3, 4, dtype="complex64"), [0, 1], norm, last) for norm in range(3) for last in (6, 7)],
    **{f"aten.fft_{name}": [of(tensor(5)), of(tensor(4, 5)), of(tensor(4, 5, dtype="int64"), [0]), of(tensor(2, 3, 4), [1, -1])]
       for name in ("fftshift", "ifftshift")},
    **{f"aten.fft_{name}": [of(5), of(8, 0.1), of(1), of(6, dtype=torch.float64)] for name in ("fftfreq", "rfftfreq")},
    "aten.istft": [
        *(of(spectra(), 8, 2, window=WINDOW, **options) for options in ({}, {"length": 20}, {"length": 40}, {"normalized": True})),
        of(spectra()[0], 8, 2, 6, tensor(6).abs() + 1), of(spectra(), 8, 2, window=WINDOW + 1, center=False),
        of(spectra(onesided=False), 8, 2, window=WINDOW, onesided=False), of(spectra(), 8, 2),
        of(spectra(onesided=False), 8, 2, window=WINDOW, onesided=False, return_complex=True),
    ],
    "aten.stft": [
        of(tensor(20), 4, return_complex=True), of(tensor(2, 20), 4, 3, return_complex=False),
        of(tensor(20), 6, 2, 4, tensor(4), True, return_complex=True), of(tensor(20), 6, 2, 4, return_complex=True),
        of(tensor(20), 4, onesided=False, return_complex=True), of(tensor(20, dtype="complex64"), 4, return_complex=True),
    ],
}  # fmt: skip


def test_every_operator_is_checked() -> None:
    assert set(CASES) == {name for name, spec in specs().items() if spec.family == "fft"}


@pytest.mark.parametrize("name", CASES)
def test_against_pytorch(name: str) -> None:
    for args, kwargs in CASES[name]:
        check(name, *args, **kwargs)


def test_symbolic() -> None:
    check_symbolic({3: "s0"}, "aten.fft_fft", tensor(3, 4, dtype="complex64"))
    check_symbolic({3: "s0"}, "aten.fft_rfft", tensor(3, 4))


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("aten.fft_fft", (tensor(4),), {"norm": "twice"}),
        ("aten.fft_fft", (tensor(4), 0), {}),
        ("aten.fft_irfft", (tensor(1),), {}),
        ("aten.fft_fftn", (tensor(4, 4), [2], [0, 1]), {}),
        ("aten.fft_fftn", (tensor(4, 4), None, [0, 0]), {}),
        ("aten.stft", (tensor(3), 4), {"return_complex": True}),
        ("aten.fft_rfft", (tensor(4, dtype="complex64"),), {}),
        ("aten.fft_fft", (tensor(4, dtype="float16"),), {}),
    ],
)
def test_refusals(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    from differential import program_of

    with pytest.raises((MetaError, DtypeError)):
        program_of(name, *args, **kwargs)
