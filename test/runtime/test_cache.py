"""The cache of compiled code: whatever is wrong with an entry or the directory, programs are compiled and right."""

from __future__ import annotations

import itertools
import os
import pwd
import random
import resource
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir import files
from xdsl_exir.lowering import cache, external

KEY, OTHER = "0" * 64, "1" * 64

DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda entry: b"",
    "cut in the header": lambda entry: entry[:40],
    "cut": lambda entry: entry[:-1],
    "longer": lambda entry: entry + b"\0",
    "zeroed": lambda entry: bytes(len(entry)),
    "data zeroed": lambda entry: entry[:130] + bytes(len(entry) - 130),
    "one bit": lambda entry: entry[:-1] + bytes([entry[-1] ^ 1]),
    "another file": lambda entry: b"\x7fELF" + entry,
}


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def never(*_: object) -> bytes:
    raise AssertionError("made again")


def test_made_once(directory: Path) -> None:
    assert cache.cached(KEY, lambda: b"code") == b"code"
    assert cache.cached(KEY, never) == b"code"
    assert [path.stem for path in directory.iterdir()] == [KEY], "nothing is left beside the entry"


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_replaced(directory: Path, damage: str) -> None:
    cache.cached(KEY, lambda: b"code" * 100)
    [path] = directory.iterdir()
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert cache.cached(KEY, lambda: b"code again") == b"code again"
    assert cache.cached(KEY, never) == b"code again"


def test_another_programs_entry_is_replaced(directory: Path) -> None:
    cache.cached(KEY, lambda: b"code")
    [path] = directory.iterdir()
    path.rename(path.with_stem(OTHER))
    assert cache.cached(OTHER, lambda: b"other") == b"other"
    assert cache.cached(OTHER, never) == b"other"


def test_without_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file stands where the directory should be: what is made is made each time."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path / "file"))
    for code in (b"one", b"two"):
        with pytest.warns(UserWarning, match="cannot be kept.*file"):
            assert cache.cached(KEY, lambda code=code: code) == code


def test_bits_flipped_anywhere(directory: Path) -> None:
    """Three of an entry's bits at a time, in its header and in its data."""
    cache.cached(KEY, lambda: b"code" * 10)
    [path] = directory.iterdir()
    whole, rng = path.read_bytes(), random.Random(0)
    for trial in range(60):
        entry = bytearray(whole)
        for bit in rng.sample(range(8 * len(entry)), 3):
            entry[bit // 8] ^= 1 << bit % 8
        path.write_bytes(entry)
        assert cache.cached(KEY, lambda: b"again") == b"again", trial
        assert cache.cached(KEY, never) == b"again", trial


def test_a_full_disk(directory: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (0, 100):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            with pytest.warns(UserWarning, match="cannot be kept.*File too large"):
                assert cache.cached(KEY, lambda: b"code") == b"code"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(directory.iterdir()), "what was written aside is gone"
    assert cache.cached(KEY, lambda: b"again") == b"again"


def test_nobodys_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.delenv("XDSL_EXIR_CACHE", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.warns(UserWarning, match="no home directory"):
        assert cache.cached(KEY, lambda: b"code") == b"code"


def as_another_user(work: Callable[[], bool]) -> bool:
    """Whether `work` gives true in a process that may not do everything."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setuid(65534)
            code = 0 if work() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_another_users_entries() -> None:
    """They can neither be read nor be replaced."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDSL_EXIR_CACHE", folder)
        cache.cached(KEY, lambda: b"code")
        [path] = Path(folder).iterdir()
        assert path.stat().st_mode & 0o777 == 0o600
        Path(folder).chmod(0o555)
        if os.geteuid() != 0:
            path.chmod(0)

        def work() -> bool:
            with pytest.warns(UserWarning, match="cannot be kept.*Permission denied"):
                return cache.cached(KEY, lambda: b"mine") == b"mine"

        assert as_another_user(work)
        Path(folder).chmod(0o755)


def test_what_killed_processes_left_goes(directory: Path) -> None:
    cache.cached(KEY, lambda: b"code")
    left = directory / f"{files.SCRATCH}1"
    left.mkdir()
    (left / "half").write_text("an entry")
    cache.cached(OTHER, lambda: b"code")
    assert sorted(path.stem for path in directory.iterdir()) == [KEY, OTHER]


def test_what_is_unused_for_longest_goes(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once all together are too large; what was used again is young. Other files in the directory are nobody's business."""
    keys = [f"{number:064x}"[::-1] for number in range(1, 21)]
    cache.keep({key: [bytes(1000)] for key in keys})
    size = (directory / f"{keys[0]}.entry").stat().st_size
    other = directory / "readme.txt"
    other.write_text("x" * 100_000)
    for age, key in enumerate(reversed(keys)):
        path = directory / f"{key}.entry"
        old = path.stat().st_mtime - 1_000_000 - 100 * age  # the first is the oldest
        os.utime(path, (old, old))
    monkeypatch.setattr(cache, "LIMITS", replace(cache.LIMITS, cache_bytes=20 * size))
    assert cache.kept(keys[0]) is not None
    cache.keep({OTHER: [bytes(1000)]})
    assert all((directory / f"{key}.entry").exists() for key in keys), (
        "not every entry looks at the size of all"
    )
    cache.keep({KEY: [bytes(1000)]})
    left = {path.stem for path in directory.glob("*.entry")}
    assert left == {KEY, OTHER, keys[0], *keys[-12:]}
    assert other.exists()
    monkeypatch.setattr(cache, "LIMITS", replace(cache.LIMITS, cache_bytes=0))
    cache.keep({"2" * 64: [b"code"]})
    assert cache.kept("2" * 64) is None


def test_several_processes_remove_entries(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each finds what it keeps or makes it again; nothing fails."""
    monkeypatch.setattr(cache, "LIMITS", replace(cache.LIMITS, cache_bytes=5_000))

    def work() -> bool:
        for number in range(200):
            key, data = f"00{number % 7:062x}", bytes([number % 7]) * 1000
            assert cache.cached(key, lambda data=data: data) == data
        return True

    children: list[int] = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if work() else 1
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert sum(path.stat().st_size for path in directory.glob("*.entry")) <= 10_000


def named(name: str, argument: str = "") -> xdsl_exir.Program:
    """A program of one operator."""
    return xdsl_exir.from_fx_text(
        f"""graph():
    %x : [num_users=1] = placeholder[target=x]
    %y : [num_users=1] = call_function[target=torch.ops.aten.{name}.default](args = (%x, {argument}), kwargs = {{}})
    return (y,)""",
        {"x": "float32[4]"},
    )


@pytest.mark.usefixtures("native_tools")
def test_what_was_compiled_before_takes_no_tool(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither for groups in linalg, for which mlir-opt runs twice."""
    xdsl_exir.compile(named("flip", "[0]"), "native")
    monkeypatch.setattr(external, "run", never)
    xdsl_exir.compile(named("flip", "[0]"), "native")


@pytest.mark.usefixtures("native_tools")
def test_programs_with_damaged_entries(directory: Path) -> None:
    """An entry that holds another program's code would give other numbers."""
    x = np.arange(4, dtype=np.float32)
    programs = [named(name) for name in ("neg", "exp")]

    def results() -> list[Any]:
        return [xdsl_exir.compile(program, "native").flat([x])[0] for program in programs]

    wanted = results()
    whole = {path: path.read_bytes() for path in directory.iterdir()}
    first, *others = whole.values()
    for entries in ([*others, first], [b"", *(entry[:-100] for entry in others)]):
        for path, entry in zip(whole, entries, strict=True):
            path.write_bytes(entry)
        for got, expected in zip(results(), wanted, strict=True):
            np.testing.assert_array_equal(got, expected)
        assert {path: path.read_bytes() for path in directory.iterdir()} == whole


def test_pieces_are_kept_as_one(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one ends says nothing: what is read is one."""
    monkeypatch.setattr(cache, "CHUNK", 5)
    whole = bytes(range(23))
    for cuts in ([], [1], [5, 5, 10], [4, 6, 22], [0, 23]):
        ends = [0, *cuts, len(whole)]
        cache.keep({KEY: [whole[start:end] for start, end in itertools.pairwise(ends)]})
        assert cache.kept(KEY) == whole
        assert (
            cache.digest_of([whole[:9], whole[9:]])
            == cache.digest_of([whole])
            != cache.digest_of([whole[1:]])
        )
