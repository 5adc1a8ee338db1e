"""The cache of compiled code: whatever is wrong with an entry or the directory, programs are compiled and right."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.lowering import cache

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


def never() -> bytes:
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


def test_a_full_disk(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.warns(UserWarning, match="No space left"):
            assert cache.cached(KEY, lambda: b"code") == b"code"
    assert not list(directory.iterdir()), "what was written aside is gone"
    assert cache.cached(KEY, lambda: b"again") == b"again"


@pytest.mark.usefixtures("native_tools")
def test_programs_with_damaged_entries(directory: Path) -> None:
    """An entry that holds another program's code would give other numbers."""
    x = np.arange(4, dtype=np.float32)
    programs = [
        xdsl_exir.from_fx_text(
            f"""graph():
    %x : [num_users=1] = placeholder[target=x]
    %y : [num_users=1] = call_function[target=torch.ops.aten.{name}.default](args = (%x,), kwargs = {{}})
    return (y,)""",
            {"x": "float32[4]"},
        )
        for name in ("neg", "exp")
    ]

    def results() -> list[Any]:
        return [xdsl_exir.compile(program, "native").flat([x])[0] for program in programs]

    wanted = results()
    first, second = directory.iterdir()
    whole = [first.read_bytes(), second.read_bytes()]
    for entries in ([whole[1], whole[0]], [b"", whole[1][:-100]]):
        for path, entry in zip((first, second), entries, strict=True):
            path.write_bytes(entry)
        for got, expected in zip(results(), wanted, strict=True):
            np.testing.assert_array_equal(got, expected)
        assert [first.read_bytes(), second.read_bytes()] == whole
