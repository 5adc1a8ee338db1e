"""Files under a live program: whoever writes to them, at whatever moment a process ends, numbers stay or there is one clear error."""

# pyright: basic, reportMissingImports=false, reportPrivateImportUsage=false

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir import files
from xdsl_exir.errors import ExirError, LoadError
from xdsl_exir.exchange.tensor_data import SourceFile
from xdsl_exir.files import aside
from xdsl_exir.importers import mlir
from xdsl_exir.program import Program
from xdsl_exir.runtime.c.library import compile_library

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning"
)

X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 64)
CHANGED = "has changed since it was loaded"


class Net(torch.nn.Module):
    """A layer of many weights, so that what is mapped is more than a page."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.layer = torch.nn.Linear(64, 512)

    def forward(self, x: Any) -> Any:
        return self.layer(x)


def exported(seed: int) -> Any:
    return torch.export.export(Net(seed).eval(), (torch.zeros(1, 64),))


@pytest.fixture(scope="module")
def programs() -> list[Program]:
    return [xdsl_exir.from_exported_program(exported(seed)) for seed in (1, 2)]


def result(program: Program) -> bytes:
    return xdsl_exir.compile(program).flat([X])[0].tobytes()


def overwrite(path: Path) -> None:
    torch.export.save(exported(2), path)


def cut(path: Path) -> None:
    os.truncate(path, 100)


def zero(path: Path) -> None:
    with open(path, "r+b") as file:
        file.write(bytes(path.stat().st_size))


WRITERS = [overwrite, cut, zero]


@pytest.fixture(params=["pt2", "mlir"])
def saved(request: Any, tmp_path: Path, programs: list[Program]) -> tuple[Path, Path]:
    """A program's file, and the file with its weights."""
    path = tmp_path / f"net.{request.param}"
    programs[0].save(path)
    return path, path.with_suffix(".safetensors") if request.param == "mlir" else path


# --- other programs that write ------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["interpreter", "native"])
@pytest.mark.parametrize("write", WRITERS)
def test_a_compiled_program_keeps_its_numbers(
    saved: tuple[Path, Path], write: Callable[[Path], None], target: str, request: Any
) -> None:
    """Also where it was never called before."""
    if target == "native":
        request.getfixturevalue("native_tools")
    path, weights = saved
    wanted = xdsl_exir.compile(xdsl_exir.load(path), target).flat([X])[0]
    run = xdsl_exir.compile(xdsl_exir.load(path), target)
    write(weights)
    np.testing.assert_array_equal(run.flat([X])[0], wanted)


@pytest.mark.parametrize("write", WRITERS)
def test_weights_that_changed_before_they_were_read(
    saved: tuple[Path, Path], write: Callable[[Path], None], tmp_path: Path
) -> None:
    path, weights = saved
    program = xdsl_exir.load(path)
    edge = program.to_edge()
    write(weights)
    for use in (lambda: xdsl_exir.compile(edge), lambda: edge.save(tmp_path / "other.pt2")):
        with pytest.raises(LoadError, match=f"{weights}: .*{CHANGED}"):
            use()


def test_a_file_that_another_one_replaced_is_still_read(
    saved: tuple[Path, Path], programs: list[Program]
) -> None:
    path, _ = saved
    program = xdsl_exir.load(path)
    programs[1].save(path)
    assert result(program) == result(programs[0])
    assert result(xdsl_exir.load(path)) == result(programs[1])


def test_files_that_are_gone_are_still_read(saved: tuple[Path, Path], programs: list[Program]) -> None:
    path, weights = saved
    program = xdsl_exir.load(path)
    for file in {path, weights}:
        file.unlink()
    assert result(program) == result(programs[0])


def test_a_program_is_saved_over_its_own_file(saved: tuple[Path, Path]) -> None:
    path, _ = saved
    program = xdsl_exir.load(path)
    wanted = result(program)
    for _ in range(2):
        program.save(path)
        assert result(program) == wanted
    assert result(xdsl_exir.load(path)) == wanted


def test_checksums_of_weights(tmp_path: Path, programs: list[Program]) -> None:
    """Damage that no time stamp shows."""
    path = tmp_path / "net.pt2"
    programs[0].save(path)
    data = bytearray(path.read_bytes())
    weights = bytes(programs[0].state["layer.weight"].storage.buffer)
    data[data.index(weights) + 1000] ^= 1
    path.write_bytes(data)
    program = xdsl_exir.load(path)
    with pytest.raises(LoadError, match=r"net\.pt2: data/weights/\w+: damaged: the checksum"):
        xdsl_exir.compile(program)


@pytest.mark.usefixtures("native_tools")
def test_compiling_reads_weights_once(
    tmp_path: Path, programs: list[Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.pt2"
    programs[0].save(path)
    program = xdsl_exir.load(path)
    read: list[int] = []
    fill = SourceFile._fill
    monkeypatch.setattr(
        SourceFile, "_fill", lambda file, data, start: (read.append(len(data)), fill(file, data, start))
    )
    xdsl_exir.compile(program, "native")
    assert sum(read) == sum(data.storage.nbytes for data in program.state.values())


def test_mapped_weights_are_the_files(saved: tuple[Path, Path], programs: list[Program]) -> None:
    """By name only: what is written shows."""
    path, weights = saved
    program = xdsl_exir.load(path, mmap=True)
    assert result(program) == result(programs[0])
    array = program.state["layer.weight"].numpy()
    with open(weights, "r+b") as file:
        place = weights.read_bytes().index(array.tobytes())
        file.seek(place)
        file.write(bytes(array.nbytes))
    assert not array.any()


# --- a process that ends ------------------------------------------------------------------------------------

STEPS = ("fsync", "replace")
"""What reaches the disk, besides writing."""


def ends_at(step: int, save: Callable[[], object]) -> bool:
    """Whether a process that saves, and is killed just before the given one of the steps that reach the disk, ended there."""
    child = os.fork()
    if child == 0:
        count = 0

        def killing(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                nonlocal count
                if count == step:
                    os._exit(9)
                count += 1
                return real(*args, **kwargs)

            return call

        for name in STEPS:
            setattr(os, name, killing(getattr(os, name)))
        try:
            save()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def test_killed_while_a_program_is_saved(saved: tuple[Path, Path], programs: list[Program]) -> None:
    """Old until a single step, then new; what is left of the killed ones goes with the next save."""
    path, weights = saved
    old, new = programs
    before, after = result(old), result(new)
    seen: list[bytes] = []
    while ends_at(len(seen), lambda: new.save(path)):
        seen.append(result(xdsl_exir.load(path)))
        old.save(path)
        assert set(path.parent.iterdir()) == {path, weights}
    at = seen.index(after)
    assert at >= 2
    assert seen == [before] * at + [after] * (len(seen) - at)


def test_killed_again_and_again(tmp_path: Path, programs: list[Program]) -> None:
    """Nothing puts things right in between; the first save is one that was killed, too."""
    path = tmp_path / "net.mlir"
    numbers = [result(program) for program in programs]
    wanted: bytes | None = None
    for which in range(24):
        program, step = programs[which % 2], which % 9
        ends_at(step, lambda program=program: program.save(path))
        if not path.exists():
            continue
        got = result(xdsl_exir.load(path))
        assert got in (wanted, numbers[which % 2])
        wanted = got
    programs[0].save(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["net.mlir", "net.safetensors"]


def test_a_reader_finds_one_program_while_others_save(tmp_path: Path, programs: list[Program]) -> None:
    """Threads that save one path, and one that loads it."""
    path = tmp_path / "net.mlir"
    programs[0].save(path)
    wanted = {result(program) for program in programs}

    def work(number: int) -> bool:
        for call in range(12):
            if number == 0:
                if result(xdsl_exir.load(path)) not in wanted:
                    return False
            else:
                programs[(number + call) % 2].save(path)
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    assert result(xdsl_exir.load(path)) in wanted
    assert sorted(file.name for file in tmp_path.iterdir()) == ["net.mlir", "net.safetensors"]


def test_a_reader_begins_again_where_the_same_program_was_saved(
    tmp_path: Path, programs: list[Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights of another program were there, and when they were read the program that was asked for was back."""
    path = tmp_path / "net.mlir"
    programs[0].save(path)
    read, calls = mlir._read, list[Path]()

    def between(file: Path, text: str, mapped: bool) -> Program:
        calls.append(file)
        if len(calls) > 1:
            return read(file, text, mapped)
        programs[1].save(file)
        try:
            return read(file, text, mapped)
        finally:
            programs[0].save(file)

    monkeypatch.setattr(mlir, "_read", between)
    assert result(xdsl_exir.load(path)) == result(programs[0])
    assert len(calls) == 2


@pytest.mark.parametrize("suffix", ["pt2", "mlir"])
def test_links_and_modes_are_kept(tmp_path: Path, programs: list[Program], suffix: str) -> None:
    """Text and weights may be links to files elsewhere; or the text alone, with the weights beside what it links to."""
    path, folder = tmp_path / f"net.{suffix}", tmp_path / "blobs"
    programs[0].save(path)
    folder.mkdir()
    for number, file in enumerate(sorted(tmp_path.glob("net.*"))):
        file.chmod(0o640)
        file.rename(folder / str(number))
        file.symlink_to(Path("blobs", str(number)))
    before = {file: os.readlink(file) for file in tmp_path.glob("net.*")}
    programs[1].save(path)
    assert {file: os.readlink(file) for file in tmp_path.glob("net.*")} == before
    assert result(xdsl_exir.load(path)) == result(programs[1])
    assert {file.stat().st_mode & 0o777 for file in before} == {0o640}
    assert len(list(folder.iterdir())) == len(before)

    latest = tmp_path / f"latest.{suffix}"
    programs[0].save(folder / f"run.{suffix}")
    latest.symlink_to(folder / f"run.{suffix}")
    programs[1].save(latest)
    assert latest.is_symlink()
    assert not latest.with_suffix(".safetensors").exists()
    for file in (latest, folder / f"run.{suffix}"):
        assert result(xdsl_exir.load(file)) == result(programs[1])


def test_the_mode_of_a_new_file_is_the_users(tmp_path: Path, programs: list[Program]) -> None:
    before = os.umask(0o027)
    try:
        programs[0].save(tmp_path / "net.mlir")
    finally:
        os.umask(before)
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o640}


@pytest.mark.parametrize("content", [b"", b"notes", b"\2\0\0\0\0\0\0\0{}"])
def test_weights_of_others_are_not_overwritten(
    tmp_path: Path, programs: list[Program], content: bytes
) -> None:
    other = tmp_path / "net.safetensors"
    other.write_bytes(content)
    with pytest.raises(ExirError, match=r"not of a program that was saved as net\.mlir"):
        programs[0].save(tmp_path / "net.mlir")
    assert list(tmp_path.iterdir()) == [other]
    assert other.read_bytes() == content


@pytest.mark.parametrize("suffix", ["pt2", "mlir"])
def test_a_full_disk(tmp_path: Path, programs: list[Program], suffix: str) -> None:
    """The file that was there stays, and nothing beside it."""
    path = tmp_path / f"net.{suffix}"
    programs[0].save(path)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (0, 1000, 100_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            with pytest.raises(OSError, match="File too large"):
                programs[1].save(path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_files_of_those_at_work_are_left_alone(tmp_path: Path) -> None:
    with aside(tmp_path / "a") as [first]:
        first.write_text("a")
        with aside(tmp_path / "b") as [second]:
            second.write_text("b")
        assert first.exists()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "b"]


def test_a_folder_that_another_process_keeps_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", 0.01)
    with (
        files.locked(tmp_path),
        pytest.raises(TimeoutError, match="another process has locked"),
        aside(tmp_path / "a"),
    ):
        raise AssertionError("not reached")


def test_a_text_names_its_weights_by_digest(tmp_path: Path, programs: list[Program]) -> None:
    path = tmp_path / "net.mlir"
    for program in programs:
        program.save(path)
        path.rename(tmp_path / f"{result(program).hex()[:8]}.mlir")
    text, *_ = [file for file in tmp_path.glob("*.mlir") if file.stem != result(programs[1]).hex()[:8]]
    text.rename(path)
    with pytest.raises(LoadError, match=r"net\.safetensors: these are not the weights of the program"):
        xdsl_exir.load(path)
    path.write_text(path.read_text().replace('exir.weights = "', 'exir.weights = "../'))
    with pytest.raises(LoadError, match="expected 64 hexadecimal digits"):
        xdsl_exir.load(path)


def test_files_of_one_program_take_their_places_together(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]

    def fail() -> None:
        with aside(*paths) as (first, _):
            first.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not list(tmp_path.iterdir())
    with aside(*paths) as names:
        for name in names:
            name.write_text("whole")
        assert not paths[0].exists()
    assert sorted(tmp_path.iterdir()) == paths


def test_text_without_a_digest_takes_any_weights(tmp_path: Path, programs: list[Program]) -> None:
    """A text that another tool wrote."""
    path = tmp_path / "net.mlir"
    programs[0].save(path)
    path.write_text(str(programs[0]))
    assert result(xdsl_exir.load(path)) == result(programs[0])


@pytest.mark.usefixtures("native_tools")
def test_killed_while_a_library_is_compiled(tmp_path: Path, programs: list[Program]) -> None:
    """At each step the library's weights are its own, or another one's, which it refuses."""
    old, new = programs
    compile_library(old, tmp_path, "net")
    names = {"libnet.so", "net.h", "net.weights"}
    before = {name: (tmp_path / name).read_bytes() for name in names}
    seen: list[int] = []
    step = 0
    while ends_at(step, lambda: compile_library(new, tmp_path, "net")):
        assert {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} == names
        seen.append(sum((tmp_path / name).read_bytes() != data for name, data in before.items()))
        step += 1
    assert seen[:4] == [0, 0, 0, 0], "nothing is replaced before all is written"
    library = ctypes.CDLL(str(tmp_path / "libnet.so"))
    (tmp_path / "old.weights").write_bytes(before["net.weights"])
    assert library.net_load(str(tmp_path / "net.weights").encode()) == 0
    assert library.net_load(str(tmp_path / "old.weights").encode()) != 0
