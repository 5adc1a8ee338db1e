"""Compiled code kept on disk, under a key that says all it was made from.

An entry begins with its key and with a digest of what follows: one that is empty, cut off, altered or of another key counts as
none, is made again and takes the place of the bad one. Without a directory that can be written to, nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import stat
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from xdsl_exir.files import aside

VARIABLE = "XDSL_EXIR_CACHE"
SUFFIX = ".entry"
MAGIC = b"xdsl-exir cache 1\n"


def cache_directory() -> Path:
    """$XDSL_EXIR_CACHE, or ~/.cache/xdsl-exir. Raises `FileNotFoundError` where nobody says what ~ is."""
    try:
        return Path(os.environ.get(VARIABLE) or Path("~/.cache/xdsl-exir").expanduser())
    except RuntimeError:
        raise FileNotFoundError("there is no home directory") from None


def cached(key: str, make: Callable[[], bytes]) -> bytes:
    """What `make` gives, or what it gave before for this key (a digest in hexadecimal, of all that it depends on)."""
    found = kept(key)
    if found is None:
        found = make()
        keep({key: found})
    return found


def keep(made: Mapping[str, bytes]) -> None:
    """Keeps what was made, by key, if there is where; else warns."""
    try:
        _write(made)
    except OSError as error:
        warnings.warn(f"compiled code cannot be kept ({error}); set {VARIABLE} to a directory", stacklevel=3)


def _path(key: str) -> Path:
    return cache_directory() / f"{key}{SUFFIX}"


def _header(key: str, data: bytes) -> bytes:
    return MAGIC + key.encode() + b"\n" + hashlib.sha256(data).digest()


def kept(key: str) -> bytes | None:
    """What was kept for a key; None where there is nothing that is whole and of this key."""
    try:
        entry = _path(key).read_bytes()
    except OSError:
        return None
    size = len(_header(key, b""))
    data = entry[size:]
    return data if entry[:size] == _header(key, data) else None


def _write(made: Mapping[str, bytes]) -> None:
    """Writes entries, for this user alone; one that does not get to the disk whole counts as none. Raises `OSError`."""
    cache_directory().mkdir(parents=True, exist_ok=True)
    with aside(*map(_path, made), durable=False) as files:
        for file, (key, data) in zip(files, made.items(), strict=True):
            with open(file, "xb") as entry:
                os.fchmod(entry.fileno(), stat.S_IRUSR | stat.S_IWUSR)
                entry.write(_header(key, data) + data)
