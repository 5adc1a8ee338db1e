"""Compiled code kept on disk, under a key that says all it was made from.

An entry begins with its key and with a digest of what follows: one that is empty, cut off, altered or of another key counts as
none, is made again and takes the place of the bad one. Without a directory that can be written to, nothing is kept. The
entries together are kept to `LIMITS.cache_bytes`: what nobody has used for longest goes.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from xdsl_exir.exchange.arrays import aligned_bytes
from xdsl_exir.files import aside
from xdsl_exir.limits import LIMITS

VARIABLE = "XDSL_EXIR_CACHE"
SUFFIX = ".entry"
MAGIC = b"xdsl-exir cache 3\n"
CHUNK = 1 << 22
"""Bytes of which there is a digest each."""
COUNTED = "00"
"""What the keys begin with of entries with which the size of all is looked at: one in 256, as that takes longer the more there are."""
LARGE = 1 << 20
"""Bytes that are kept at once with which that is always done."""
LEFT = 0.75
"""How much of what may be kept is left once there was more."""
RECENT = 3600.0
"""Seconds within which an entry that is used again needs not say so."""


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
        keep({key: [found]})
    return found


Pieces: TypeAlias = Sequence[bytes | memoryview]
"""Memory, one after the other."""


def keep(made: Mapping[str, Pieces]) -> None:
    """Keeps what was made, by key, if there is where; else warns."""
    if not LIMITS.cache_bytes:
        return
    try:
        _write(made)
        if sum(len(piece) for data in made.values() for piece in data) > LARGE or any(
            key.startswith(COUNTED) for key in made
        ):
            prune()
    except OSError as error:
        warnings.warn(f"compiled code cannot be kept ({error}); set {VARIABLE} to a directory", stacklevel=3)


def _path(key: str) -> Path:
    return cache_directory() / f"{key}{SUFFIX}"


def _header(key: str, data: Pieces) -> bytes:
    return MAGIC + key.encode() + b"\n" + digest_of(data)


def digest_of(data: Pieces) -> bytes:
    """A digest of all pieces as one, of each chunk apart: by all cores, where there are many."""
    chunks = [*_chunks(data)]
    if len(chunks) < 3:
        digests = [*map(_digest, chunks)]
    else:
        with ThreadPoolExecutor() as pool:
            digests = [*pool.map(_digest, chunks)]
    return hashlib.sha256(b"".join(digests)).digest()


def _chunks(data: Pieces) -> Iterator[list[memoryview]]:
    """The pieces by chunks, which end where they do whatever the pieces are."""
    chunk, left = list[memoryview](), CHUNK
    for piece in map(memoryview, data):
        while piece:
            chunk.append(piece[:left])
            piece, left = piece[left:], left - len(chunk[-1])
            if not left:
                yield chunk
                chunk, left = [], CHUNK
    yield chunk


def _digest(chunk: Sequence[memoryview]) -> bytes:
    found = hashlib.sha256()
    for piece in chunk:
        found.update(piece)
    return found.digest()


def kept(key: str) -> bytes | None:
    """What was kept for a key; None where there is nothing that is whole and of this key."""
    memory = kept_memory(key)
    return None if memory is None else bytes(memory)


def kept_memory(key: str) -> memoryview | None:
    """The same, in memory of its own that begins at a cache line. Nothing writes to it."""
    try:
        with open(_path(key), "rb") as file:
            size = len(_header(key, []))
            header = file.read(size)
            data = aligned_bytes(max(0, os.fstat(file.fileno()).st_size - size)).data
            whole = file.readinto(data) == len(data) and not file.read(1)
            if time.time() - os.fstat(file.fileno()).st_mtime > RECENT:
                with suppress(
                    OSError
                ):  # another user's, or a disk that is not written to: it looks older than it is
                    os.utime(file.fileno())
    except OSError:
        return None
    return data.toreadonly() if whole and header == _header(key, [data]) else None


def _write(made: Mapping[str, Pieces]) -> None:
    """Writes entries, for this user alone; one that does not get to the disk whole counts as none. Raises `OSError`."""
    cache_directory().mkdir(parents=True, exist_ok=True)
    with aside(*map(_path, made), durable=False) as files:
        for file, (key, data) in zip(files, made.items(), strict=True):
            with open(file, "xb") as entry:
                os.fchmod(entry.fileno(), stat.S_IRUSR | stat.S_IWUSR)
                entry.write(_header(key, data))
                entry.writelines(data)


def prune() -> None:
    """Removes the entries that nobody has used for longest, if all together are larger than they may be. Who reads one meanwhile has it, or
    makes it again. Raises `OSError`."""
    entries = list(_entries())
    total, most = sum(size for _, size, _ in entries), LIMITS.cache_bytes
    if total <= most:
        return
    for _, size, path in sorted(entries):
        if total <= LEFT * most:
            break
        path.unlink(missing_ok=True)
        total -= size


def _entries() -> Iterator[tuple[float, int, Path]]:
    """When entries were used, how large they are, and where."""
    with os.scandir(cache_directory()) as found:
        for each in found:
            with suppress(FileNotFoundError):  # another process removed it meanwhile
                if each.name.endswith(SUFFIX):
                    status = each.stat(follow_symlinks=False)
                    yield status.st_mtime, status.st_size, Path(each.path)
