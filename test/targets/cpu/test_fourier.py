"""Fourier transforms natively: of sizes of all kinds, along any dimension, no less exact than PyTorch's but for a small factor."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.errors import ExirError
from xdsl_exir.targets.cpu.fourier_forms import rounds
from xdsl_exir.targets.cpu.kernels import Fourier, Machine
from xdsl_exir.targets.cpu.kernels.fourier import LONGEST, factors, padded_size

torch = pytest.importorskip("torch")
fft = torch.fft

DTYPES = ["float32", "float64"]
SIZES = [1, 2, 9, 22, 34, 97, 400]
"""None, one, and several factors; odd and even ones; those that are convolutions, of real values both halved (34) and whole (97)."""
NORMS = ["backward", "ortho", "forward"]
Call = Callable[[Any], Any]


class Calls(torch.nn.Module):
    def __init__(self, *calls: Call):
        super().__init__()
        self.calls = calls

    def forward(self, *inputs: Any) -> Any:
        return tuple(parts(call(x)) for call, x in zip(self.calls, inputs, strict=True))


def parts(x: Any) -> Any:
    return torch.view_as_real(x.resolve_conj()) if x.is_complex() else x


def pairs(x: Any) -> Any:
    return torch.complex(x, x.flip(0))


def compiled(calls: Sequence[Call], inputs: list[Any], dynamic: Any = None) -> Any:
    program = torch.export.export(Calls(*calls), tuple(inputs), dynamic_shapes=dynamic)
    return xdsl_exir.compile(xdsl_exir.from_exported_program(program), "native")


def transforms_in(run: Any) -> list[str]:
    """What of a program the kernel does not take."""
    return [str(each.operator) for each in run.slow_paths if "_fft" in str(each.operator)]


@dataclass(frozen=True)
class Transform:
    """A transform along one dimension, of `x`, or of complex numbers made of it."""

    name: str
    paired: bool
    size: int | None
    dim: int
    norm: str

    def __call__(self, x: Any) -> Any:
        transform = getattr(fft, self.name)
        return parts(transform(pairs(x) if self.paired else x, self.size, self.dim, self.norm))

    def exact(self, x: Any) -> Any:
        """In NumPy's widest numbers: PyTorch's in float64 are up to 15 roundings off, by its library and processor."""
        wide = x.numpy().astype(np.longdouble)
        given = wide + 1j * wide[::-1] if self.paired else wide
        found = getattr(np.fft, self.name)(given, self.size, self.dim, self.norm)
        return np.stack((found.real, found.imag), -1) if np.iscomplexobj(found) else found


def check(calls: Sequence[Call], inputs: list[Any], run: Any) -> None:
    """Errors, against the largest number of a result, are at most four times PyTorch's, or a few roundings."""
    for call, x, got in zip(calls, inputs, run.flat([x.numpy() for x in inputs]), strict=True):
        theirs = call(x).numpy()
        exact = call.exact(x) if isinstance(call, Transform) else call(x.double()).numpy()
        assert got.dtype == theirs.dtype
        assert got.shape == theirs.shape
        scale = np.abs(exact).max() * np.finfo(theirs.real.dtype).eps
        error, usual = (np.abs(result - exact).max() for result in (got, theirs))
        assert error <= max(4 * usual, 8 * scale), (tuple(x.shape), x.dtype)


def of_sizes(dtype: str) -> tuple[list[Transform], list[Any]]:
    """Each kind of transform of each size, along the last dimension and along others."""
    calls: list[Transform] = []
    inputs: list[Any] = []
    for at, size in enumerate(SIZES):
        norm, dim = NORMS[at % 3], (-1, 0, 1)[at % 3]
        kinds = [
            (size, Transform("rfft", False, None, dim, norm)),
            (size, Transform("fft", True, None, dim, norm)),
            (size, Transform("ifft", False, None, dim, norm)),
            (size // 2 + 1, Transform("irfft", True, size, dim, norm)),
        ]
        for given, call in kinds:
            shape = {-1: (2, 5, given), 0: (given, 3), 1: (2, given, 21)}[dim]
            calls.append(call)
            inputs.append(torch.randn(shape, dtype=getattr(torch, dtype)))
    return calls, inputs


@pytest.mark.native
@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes_of_all_kinds(dtype: str) -> None:
    torch.manual_seed(0)
    calls, inputs = of_sizes(dtype)
    run = compiled(calls, inputs)
    assert not transforms_in(run)
    check(calls, inputs, run)


@pytest.mark.native
def test_several_dimensions_and_frames() -> None:
    torch.manual_seed(1)
    window = torch.hann_window(40)

    def frames(x: Any) -> Any:
        return parts(torch.stft(x, 40, 10, window=window.to(x.dtype), return_complex=True))

    def there_and_back(x: Any) -> Any:
        spectra = torch.stft(x, 40, 10, window=window.to(x.dtype), return_complex=True)
        return torch.istft(spectra, 40, 10, window=window.to(x.dtype), length=200)

    calls: list[Call] = [
        lambda x: parts(fft.fft2(x)),
        lambda x: parts(fft.rfftn(x, dim=(0, 2), norm="ortho")),
        lambda x: fft.irfft2(pairs(x), (6, 9)),
        lambda x: fft.hfftn(pairs(x), (4, 12), (1, 2)),
        lambda x: parts(fft.ihfftn(x, dim=(2, 0))),
        lambda x: parts(fft.ifftn(pairs(x), norm="forward")),
        frames,
        there_and_back,
    ]
    inputs = [*(torch.randn(3, 6, 10) for _ in calls[:-2]), torch.randn(2, 200), torch.randn(2, 200)]
    run = compiled(calls, inputs)
    assert not transforms_in(run)
    check(calls, inputs, run)


@pytest.mark.native
def test_rows_may_be_symbolic_and_shared() -> None:
    """So many that threads share them, and values of a symbolic number."""
    torch.manual_seed(2)
    rows = torch.export.Dim("rows", min=61)
    calls: list[Call] = [
        lambda x: parts(fft.rfft(x)),
        lambda x: fft.irfft(pairs(x), 60, dim=0),
        lambda x: fft.rfft(x).abs(),
    ]
    run = compiled(
        calls,
        [torch.randn(65, 60), torch.randn(31, 65), torch.randn(2, 65)],
        {"inputs": ({0: rows}, {1: rows}, {1: rows})},
    )
    assert not transforms_in(run)
    for count in (61, 64, 600):
        check(calls, [torch.randn(count, 60), torch.randn(31, count), torch.randn(2, count)], run)
    check([calls[0]], [x := torch.randn(700, 60)], compiled([calls[0]], [x]))


@pytest.mark.native
@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes_may_be_symbolic(dtype: str) -> None:
    """Products of radices, and primes that are convolutions; real ones of even and odd sizes; rows fewer than lanes, behind one another, side by side."""
    kind = getattr(torch, dtype)
    calls: list[Call] = [
        lambda x: parts(fft.rfft(x)),
        lambda x: parts(fft.fft(pairs(x), norm="ortho")),
        lambda x: parts(fft.ifft(pairs(x), dim=1)),
        lambda x: fft.irfft(fft.rfft(x, dim=1), n=x.shape[1], dim=1),
        lambda x: parts(fft.rfft2(x)),
        lambda x: parts(fft.fft(x, dim=0)),
    ]
    auto = torch.export.Dim.AUTO

    def inputs(n: int) -> list[Any]:
        torch.manual_seed(n)
        shapes = ((3, n), (40, n), (2, n, 24), (4, 2 * n, 3), (2, n, n), (n,))
        return [torch.randn(shape, dtype=kind) for shape in shapes]

    free = ({1: auto}, {0: auto, 1: auto}, {1: auto}, {1: auto}, {1: auto, 2: auto}, {0: auto})
    run = compiled(calls, inputs(18), {"inputs": free})
    assert not transforms_in(run)
    for n in (18, 2, 7, 64, 60, 61, 143):
        check(calls, inputs(n), run)


@pytest.mark.native
def test_no_values_are_not_transformed(tmp_path: Path) -> None:
    """A program may not say that there are some: natively nothing is then written that is not there."""
    auto = torch.export.Dim.AUTO
    exported = torch.export.export(
        Calls(fft.rfft), (torch.randn(3, 37),), dynamic_shapes={"inputs": ({0: auto, 1: auto},)}
    )
    text = re.sub(
        r"exir\.(ranges = \{[^}]*\}|guards = \[[^\]]*\])(, )?",
        "",
        str(xdsl_exir.from_exported_program(exported)),
    )
    (tmp_path / "empty.mlir").write_text(text)
    program, empty = xdsl_exir.load(tmp_path / "empty.mlir"), np.zeros((3, 0), np.float32)
    assert xdsl_exir.compile(program, "native").flat([empty])[0].shape == (3, 1, 2)
    with pytest.raises(ExirError, match="invalid number of data points"):
        xdsl_exir.compile(program, "interpreter").flat([empty])


@pytest.mark.native
@pytest.mark.parametrize("size", [12, 34])
def test_what_is_no_number_stays_in_its_row(size: int) -> None:
    x = torch.randn(9, size)
    x[4, 3] = torch.nan
    [got] = compiled([lambda x: parts(fft.rfft(x))], [x]).flat([x.numpy()])
    assert np.isnan(got).any(axis=(1, 2)).tolist() == [row == 4 for row in range(9)]


LONG = [1200, 2 * LONGEST, 3 * 5**5 * 7, 25000, 97 * 200]
"""Even and odd ones; with a factor that is a convolution; one that is in two rounds because of its few rows."""


@pytest.mark.native
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", LONG)
def test_long_ones_in_two_rounds(size: int, dtype: str) -> None:
    torch.manual_seed(3)
    made = getattr(torch, dtype)
    calls = [
        Transform("rfft", False, None, -1, "backward"),
        Transform("fft", False, None, 0, "ortho"),
        Transform("fft", True, None, 1, "backward"),
        Transform("ifft", True, None, -1, "backward"),
        Transform("irfft", True, size, 1, "forward"),
        Transform("irfft", True, size, -1, "backward"),
    ]
    shapes = [(3, size), (size, 2), (2, size, 2), (2, size), (1, size // 2 + 1, 3), (2, size // 2 + 1)]
    inputs = [torch.randn(shape, dtype=made) for shape in shapes]
    run = compiled(calls, inputs)
    assert not transforms_in(run)
    check(calls, inputs, run)


@pytest.mark.parametrize(
    ("size", "rows", "found"),
    [
        (LONGEST, 64, None),
        (2 * LONGEST, 64, (128, 256)),
        (25000, 64, (125, 200)),
        (97 * 200, 64, (100, 194)),
        (16411, 64, None),
        (LONGEST, 1, (128, 128)),
        (2 * 509, 1, None),
        (97 * 20, 1, None),
        (32, 1, None),
    ],
)
def test_rounds(size: int, rows: int, found: tuple[int, int] | None) -> None:
    assert rounds(size, rows) == found


@pytest.mark.parametrize("size", [*range(1, 70), 1000, 1024])
def test_rounds_make_the_transform(size: int) -> None:
    """Rounds in numpy, with the roots of the table."""
    kernel = Fourier(1, size, 1, "c2c", True, size, 0, "f64", Machine(8, 16, 1))
    if kernel.chirp:
        assert kernel.chirp >= 2 * size - 1
        assert factors(kernel.chirp)
        return
    x = np.random.default_rng(0).standard_normal(size) + 0j
    made = x
    for each in kernel.rounds:
        values = made.reshape(each.radix, each.rest, each.done)
        small = np.moveaxis(np.fft.fft(values, axis=0), 0, 1)
        turns = np.ones((each.rest, each.radix, 1), np.complex128)
        if each.rest > 1:
            found = each.roots()
            turns[:, 1:, 0] = found[..., 0] + 1j * found[..., 1]
        made = (small * turns).reshape(-1)
    np.testing.assert_allclose(made, np.fft.fft(x), atol=1e-12 * size)


@pytest.mark.parametrize(("size", "found"), [(1, []), (64, [8, 8]), (1024, [8, 8, 4, 4]), (34, None)])
def test_factors(size: int, found: list[int] | None) -> None:
    assert factors(size) == found


def test_sizes_that_hold_a_convolution() -> None:
    assert [padded_size(size) for size in (17, 509, 97)] == [36, 1024, 240]
