"""complex32: pairs of halves, computed in complex64. What PyTorch computes in it we do too, or refuse by name; programs with it go everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from differential import check, check_natively, compare, find_operator, to_numpy  # noqa: E402
from lowering.test_complex import calls_of  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.dialects.promotion import DtypeError  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")

SHORT = {torch.complex64: torch.complex32, torch.float32: torch.float16}
Call = tuple[str, tuple[Any, ...], dict[str, Any]]

REFUSED = {"sgn", "var.correction", "var_mean.correction", "linalg_vector_norm", "_fft_c2c"}
"""What PyTorch computes in complex32, and we do not."""


def halves(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.view_as_complex(torch.randn(*shape, 2, generator=generator).half())


def shortened(value: Any) -> Any:
    """An argument with complex32 for complex64."""
    if isinstance(value, torch.Tensor):
        return value.to(SHORT.get(value.dtype, value.dtype))
    if isinstance(value, list | tuple):
        return [shortened(item) for item in value]
    return SHORT.get(value, value) if isinstance(value, torch.dtype) else value


def more() -> dict[str, tuple[Any, ...]]:
    z, y, index = halves(3, 4), halves(4), torch.tensor([0, 1])
    mask = z.real > 0
    return {
        "where.ScalarOther": (mask, z, 2j),
        "where.ScalarSelf": (mask, 2j, z),
        "masked_fill.Scalar": (z, mask, 1j),
        "masked_fill.Tensor": (z, mask, torch.tensor(1j)),
        "index_add": (z, 0, index, z[1:]),
        "index_copy": (z, 0, index, z[1:]),
        "index_fill.int_Scalar": (z, 0, index, 1j),
        "_unsafe_index.Tensor": (z, [index]),
        "roll": (z, [1], [0]),
        "tril": (z,),
        "triu": (z, 1),
        "fill.Scalar": (z, 1j),
        "isclose": (z, z),
        "isfinite": (z,),
        "count_nonzero": (z,),
        "select_scatter": (z, z[0] * 2, 0, 1),
        "select_backward": (z[0], [3, 4], 0, 1),
        "slice_backward": (z, [3, 9], 1, 2, 6, 1),
        "diagonal_backward": (y[:3], [3, 4], 0, 0, 1),
        "addcmul": (z, z, y),
        "diff": (z,),
        "_neg_view": (z,),
        "stack": ([z, z],),
        "real": (z,),
        "imag": (z,),
        "view_as_real": (y[0],),
        "add.Scalar": (z, 1j),
        "rsub.Scalar": (z, 2),
        "mul.Tensor": (z, z.real.clone()),
        "add.Tensor": (z.real.clone(), 1j),
    }


def calls() -> list[Call]:
    """The calls of `test_complex`, as far as PyTorch computes them in complex32, and some more."""
    found: list[Call] = [(f"aten.{name}", args, {}) for name, args in more().items()]
    for name, args, kwargs in calls_of(torch.complex64):
        call = (name, tuple(shortened(list(args))), {key: shortened(value) for key, value in kwargs.items()})
        try:
            find_operator(name)(*call[1], **call[2])
        except RuntimeError:  # no kernel for it
            continue
        found.append(call)
    return found


def test_operators(native_tools: None) -> None:
    given = calls()
    refused: set[str] = set()
    taken: list[Call] = []
    for name, args, kwargs in given:
        try:
            check(name, *args, **kwargs)
            taken.append((name, args, kwargs))
        except DtypeError:
            refused.add(name.removeprefix("aten."))
    assert refused == REFUSED
    assert len(taken) > 100
    check_natively(taken)


class Several(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", halves(3))
        self.plain = halves(3) * 2

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        z = torch.complex(x, y)
        return (
            z * self.scale,
            z + self.plain,
            z.conj() * (1 + 2j),
            z.real,
            -z.abs(),
            x.chalf(),
            z.to(torch.complex64),
            torch.view_as_real(torch.stack([z, z])),
            torch.full((2,), 1 + 1j, dtype=torch.complex32),
        )


INPUTS = torch.randn(3).half(), torch.tensor([1.5, float("inf"), -0.0]).half()


@pytest.fixture(scope="module")
def exported() -> Any:
    return torch.export.export(Several(), INPUTS)


def check_program(program: Any, exported: Any, target: str = "interpreter") -> None:
    run = xdsl_exir.compile(program, target=target)
    for index, (got, want) in enumerate(
        zip(run.flat([to_numpy(x) for x in INPUTS]), exported.module()(*INPUTS), strict=True)
    ):
        compare(f"{target}, result {index}", got, want)


@pytest.mark.parametrize("suffix", ["pt2", "mlir"])
def test_files(exported: Any, suffix: str, tmp_path: Path) -> None:
    torch.export.save(exported, tmp_path / "theirs.pt2")
    program = xdsl_exir.load(tmp_path / "theirs.pt2")
    check_program(program, exported)
    program.to_edge().save(tmp_path / f"edge.{suffix}")
    check_program(xdsl_exir.load(tmp_path / f"edge.{suffix}"), exported)


def test_back_to_pytorch(exported: Any) -> None:
    module = xdsl_exir.from_exported_program(exported).to_core().to_exported_program().module()
    for index, (got, want) in enumerate(zip(module(*INPUTS), exported.module()(*INPUTS), strict=True)):
        compare(f"result {index}", to_numpy(got), want)


def test_natively(exported: Any, native_tools: None) -> None:
    check_program(xdsl_exir.from_exported_program(exported), exported, "native")


def test_tensors_of_pytorch() -> None:
    z = halves(4)
    ep = torch.export.export(torch.nn.Identity(), (z,))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(ep))
    [result] = run.flat([z.conj()])
    assert np.array_equal(to_numpy(z.conj().resolve_conj()), result)


def test_c_has_no_such_type(exported: Any, native_tools: None, tmp_path: Path) -> None:
    with pytest.raises(ExirError, match="C has no type for complex32"):
        xdsl_exir.compile_library(xdsl_exir.from_exported_program(exported), tmp_path, "net")
