"""TorchScript archives: read without PyTorch, run as they are, and brought to aten, against `torch.jit.load`."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scripted import MODULES, Stateful, assert_same, load, quiet, save, script, to_numpy  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.errors import ExirError, InputError, UnsupportedError  # noqa: E402
from xdsl_exir.importers.torchscript.values import ScriptError  # noqa: E402


@pytest.fixture(scope="module", params=MODULES)
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    torch.manual_seed(0)
    make, inputs = MODULES[request.param]
    return save(make(), tmp_path_factory.mktemp("scripted") / "model.pt"), inputs


def loaded(path: Path):
    with quiet():
        return torch.jit.load(str(path))


def test_runs_as_in_pytorch(archive) -> None:
    """Again and again: state stays."""
    path, inputs = archive
    program, theirs = load(path), loaded(path)
    for _ in range(3):
        assert_same(program(*map(to_numpy, inputs)), theirs(*inputs))
    for name, buffer in theirs.named_buffers():
        assert_same(program.state[name].numpy(), buffer)


def test_to_aten(archive) -> None:
    path, inputs = archive
    arrays = [to_numpy(item) for item in inputs]
    program = load(path, inputs=arrays)
    run, theirs = xdsl_exir.compile(program.to_edge()), loaded(path)
    for _ in range(3):
        assert_same(run(*arrays), theirs(*inputs))
    # The other way round, where data decide.
    assert_same(run(*(-array for array in arrays)), theirs(*(-item for item in inputs)))


def test_text_is_parsed_again(archive) -> None:
    from xdsl.parser import Parser

    from xdsl_exir.program import context

    path, _ = archive
    program = load(path).verify()
    assert str(Parser(context().clone(), str(program)).parse_module()) == str(program)


def test_without_pytorch(tmp_path: Path) -> None:
    path = save(script(Stateful()), tmp_path / "model.pt")
    code = (
        "import sys, numpy as np; from xdsl_exir.importers.torchscript.program import read_torchscript; "
        "p = read_torchscript(sys.argv[1]); print(p(np.ones((2, 3), np.float32))[0].sum(), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["12.0", "False"]


def test_exceptions_and_methods(tmp_path: Path) -> None:
    program = load(save(script(Stateful()), tmp_path / "model.pt"))
    assert set(program.method_names) == {"forward", "reset"}
    ones = np.ones((2, 3), np.float32)
    program(ones)
    with pytest.raises(ScriptError, match="ValueError: not two rows: 1"):
        program(np.ones((1, 3), np.float32))
    assert_same(program.state["last"].numpy(), torch.full((2, 3), 2.0))  # as the last call that ended left it
    program.call("reset")
    assert (program.state["last"].numpy() == 0).all()
    assert_same(program(ones, scale=3.0), (torch.full((2, 3), 3.0), 3))
    for wrong in ((), (ones, 1.0, 2.0)):
        with pytest.raises(InputError):
            program(*wrong)
    with pytest.raises(InputError, match="no method"):
        program.call("nonesuch")
    with pytest.raises(ExirError, match="to_aten"):
        program.to_edge()
    with pytest.raises(ExirError, match="to_aten"):
        xdsl_exir.compile(program)


def test_sizes_that_are_symbols(tmp_path: Path) -> None:
    make, [x] = MODULES["scripted"]
    path = save(make(), tmp_path / "model.pt")
    run = xdsl_exir.compile(load(path, inputs=["float32[s0, 3, 8, 8]"]))
    for count in (2, 5):
        given = x.repeat(count, 1, 1, 1)
        assert_same(run(to_numpy(given)), loaded(path)(given))


def test_attributes_that_change_their_shape(tmp_path: Path) -> None:
    class Grows(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last = torch.zeros(0)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if len(self.last) == 0:
                self.last = torch.zeros_like(x)
            self.last = self.last + x
            return self.last

    program = load(save(script(Grows()), tmp_path / "model.pt"))
    ones = np.ones(3, np.float32)
    with pytest.raises(UnsupportedError, match="attribute 'last' becomes"):
        program.to_aten([ones])
    program(ones)
    run = xdsl_exir.compile(program.to_aten([ones]))
    assert [run(ones)[0] for _ in range(3)] == [2, 3, 4]


def test_native(tmp_path: Path, native_tools) -> None:
    make, [x] = MODULES["recurrent"]
    path = save(make(), tmp_path / "model.pt")
    program = load(path, inputs=[to_numpy(x)])
    run, theirs = xdsl_exir.compile(program.to_edge(), target="native"), loaded(path)
    for _ in range(2):
        assert_same(run(to_numpy(x)), theirs(x))


def test_saved_as_pt2(tmp_path: Path) -> None:
    make, [x] = MODULES["recurrent"]
    path = save(make(), tmp_path / "model.pt")
    load(path, inputs=[to_numpy(x)]).save(tmp_path / "model.pt2")
    assert_same(torch.export.load(tmp_path / "model.pt2").module()(x), loaded(path)(x))


class Overlapping(torch.nn.Module):
    """A write to what repeats, and to what views see."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        row = x[1].expand(3, 3)
        row.fill_diagonal_(2.0)
        turned = x.t().contiguous()
        turned.add_(1.0)
        same = x.reshape(9)
        same[0] = 5.0
        return x, turned, row


class WritesInBranches(torch.nn.Module):
    """Branches that write to one memory by two names."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        y = x.view(9)
        if bool(x.sum() > 0):
            y.add_(1.0)
        else:
            x.neg_()
        return x + y.view(3, 3)


def test_writes_to_what_repeats(tmp_path: Path) -> None:
    path = save(script(Overlapping()), tmp_path / "model.pt")
    x = torch.arange(9.0).reshape(3, 3)
    expected = loaded(path)(x.clone())
    assert_same(load(path)(to_numpy(x).copy()), expected)
    assert_same(xdsl_exir.compile(load(path, inputs=[to_numpy(x)]))(to_numpy(x).copy()), expected)


def test_branches_that_write_to_one_memory(tmp_path: Path) -> None:
    path = save(script(WritesInBranches()), tmp_path / "model.pt")
    x = torch.arange(9.0).reshape(3, 3) - 3
    for sign in (1, -1):
        assert_same(load(path)(to_numpy(x * sign)), loaded(path)(x * sign))
    with pytest.raises(UnsupportedError, match="shares memory"):
        load(path, inputs=[to_numpy(x)])


def test_load(tmp_path: Path) -> None:
    """`xdsl_exir.load` tells archives by what is in them."""
    make, [x] = MODULES["scripted"]
    path = save(make(), tmp_path / "model.pt")
    expected = loaded(path)(x)
    assert_same(xdsl_exir.load(path)(to_numpy(x)), expected)
    program = xdsl_exir.load(path, inputs=[to_numpy(x)])
    assert_same(xdsl_exir.compile(program)(to_numpy(x)), expected)
    program.save(tmp_path / "model.pt2")
    assert_same(xdsl_exir.compile(xdsl_exir.load(tmp_path / "model.pt2"))(to_numpy(x)), expected)


class Turns(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.t().reshape(-1)


@pytest.mark.parametrize(
    "dtype",
    ["bfloat16", "float16", "float8_e5m2", "float64", "bool", "uint8", "int16", "int64", "complex64", "complex128"],
)  # fmt: skip
def test_inputs_that_are_tensors(dtype: str, tmp_path: Path) -> None:
    """Of PyTorch's, of every dtype, in every order of memory, with gradients or conjugated."""
    path = save(script(Turns()), tmp_path / "model.pt")
    x = torch.tensor([[1, 0, 3], [4, 5, -6]]).to(getattr(torch, dtype)).mT
    if x.is_complex():
        x = (x * 1j).conj()
    if x.is_floating_point() and x.itemsize > 1:
        x.requires_grad_()
    expected = loaded(path)(x.float() if x.itemsize == 1 else x).detach().to(x.dtype).resolve_conj()
    program = xdsl_exir.load(path, inputs=[x])
    for run in (load(path), xdsl_exir.compile(program, target="interpreter")):
        made = run(x)
        assert str(made.dtype) == dtype
        np.testing.assert_array_equal(made.astype(np.complex128), expected.to(torch.complex128).numpy())


def test_arrays_in_another_order_of_bytes_and_with_masks(tmp_path: Path) -> None:
    path = save(script(Turns()), tmp_path / "model.pt")
    x = np.array([1.5, -2], ">f4")
    for run in (load(path), xdsl_exir.compile(load(path, [x]), target="interpreter")):
        assert_same(run(x), torch.tensor([1.5, -2]))
        with pytest.raises(InputError, match="mask"):
            run(np.ma.MaskedArray(x, [True, False]))


with quiet():

    @torch.jit.interface
    class Transforms(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            pass


class Doubles(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class CallsAnInterface(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Doubles()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner.forward(x) + 1


CallsAnInterface.__annotations__ = {"inner": Transforms}


def test_methods_of_interfaces(tmp_path: Path) -> None:
    path = save(script(CallsAnInterface()), tmp_path / "model.pt")
    x = torch.arange(3.0)
    assert_same(load(path)(to_numpy(x)), loaded(path)(x))


class Divides(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x / y


def test_divisions_of_older_archives(tmp_path: Path) -> None:
    """Of integers they were integers, up to version 3."""
    path = save(script(Divides()), tmp_path / "new.pt")
    with zipfile.ZipFile(path) as new, zipfile.ZipFile(tmp_path / "old.pt", "w") as old:
        for name in new.namelist():
            old.writestr(name, b"3" if name.endswith("version") else new.read(name))
    for x, y in (
        (torch.tensor([7, -7]), torch.tensor([2, 2])),
        (torch.tensor([7.0, -7.0]), torch.tensor([2, 2])),
    ):
        for archive in (path, tmp_path / "old.pt"):
            assert_same(load(archive)(to_numpy(x), to_numpy(y)), loaded(archive)(x, y))
