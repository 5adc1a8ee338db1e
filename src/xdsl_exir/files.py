"""Writing files all or not: whatever happens meanwhile, what is there under a name is the old file or the new one, whole.

They may be the files that a program's weights are read from, which stay as they are for those who have them open. A file is
written beside the one that it replaces, in a folder that its process has locked: what a killed one left is not, and goes
when the next file is written there. A link stays a link, and what takes the place of a file has its mode.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

PREFIX = ".xdsl-exir-"
"""What the names of files begin with that are about to take others' places."""
SCRATCH = f"{PREFIX}new-"
"""What the names of folders begin with in which they are written."""

NO_LOCKS = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""What file systems without locks say, NFS among them. There, nothing is known of who has ended."""

PATIENCE = 60.0
"""Seconds to wait for others to put their files in place, which takes them a few milliseconds."""


def real(path: Path) -> Path:
    """The file that is written when `path` is: what it links to."""
    return Path(os.path.realpath(path))


@contextmanager
def aside(*paths: Path, durable: bool = True) -> Generator[list[Path]]:
    """For paths, the same names in folders beside them: of files that take their places, one after the other, once all are
    written and on the disk. Nothing is left of them if writing fails. Those that are not `durable` may be empty or cut off when the
    machine has lost its power: for who sees that when he reads them."""
    targets = [real(path) for path in paths]
    with ExitStack() as stack:
        parents = {target.parent for target in targets}
        folders = {folder: stack.enter_context(scratch(folder)) for folder in parents}
        written = [folders[target.parent] / path.name for path, target in zip(paths, targets, strict=True)]
        yield written
        for file, target in zip(written, targets, strict=True):
            settle(file, target, durable)
        with locked(*parents):
            for file, target in zip(written, targets, strict=True):
                put(file, target, durable)


@contextmanager
def replacing(path: Path) -> Generator[IO[bytes]]:
    """A file that takes the place of `path` once it is written, as `aside` says."""
    with aside(path) as [temporary], open(temporary, "xb") as file:
        yield file


def settle(written: Path, target: Path, durable: bool = True) -> None:
    """Has a file on the disk, if it is to be durable, with the mode of the one that it is going to replace."""
    with open(written, "rb") as file:
        with suppress(FileNotFoundError):  # there is none, or another process removes it now
            os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
        if durable:
            os.fsync(file.fileno())


@contextmanager
def scratch(folder: Path) -> Generator[Path]:
    """A folder in this one for files that are going to take places in it. Those of processes that have ended are removed."""
    with ExitStack() as stack:
        with locked(folder):
            for left in folder.glob(f"{SCRATCH}*"):
                _remove_if_left(left)
            # Not a `TemporaryDirectory`: the child of a fork would remove it when it exits.
            temporary = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=folder))
            _lock(stack.enter_context(_opened(temporary)))
            stack.callback(shutil.rmtree, temporary)
        yield temporary


def _remove_if_left(folder: Path) -> None:
    """Removes a folder of files to be if nobody has locked it: whoever wrote them has ended."""
    try:
        with _opened(folder) as descriptor:
            if _lock(descriptor):
                shutil.rmtree(folder)
    except OSError:
        return  # another user's, or gone already


@contextmanager
def locked(*folders: Path) -> Generator[None]:
    """Keeps other threads and processes from putting files of theirs into these folders. Raises `TimeoutError` where another
    one does not come to an end with it."""
    with ExitStack() as stack:
        for folder in sorted(set(folders)):
            descriptor = stack.enter_context(_opened(folder))
            until = time.monotonic() + PATIENCE
            while _lock(descriptor) is False:
                if time.monotonic() > until:
                    raise TimeoutError(f"{folder}: another process has locked this folder")
                time.sleep(0.001)
        yield


def put(written: Path, target: Path, durable: bool = True) -> None:
    """Puts a file in its place, and has that on the disk, if it is to be durable."""
    os.replace(written, target)
    if not durable:
        return
    with _opened(target.parent) as descriptor:
        os.fsync(descriptor)


@contextmanager
def _opened(folder: Path) -> Generator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        # Closing is not enough: a child that another thread forked meanwhile has the file, and so the lock, as well.
        _flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _lock(descriptor: int) -> bool | None:
    """Whether this took a lock that nobody had; None on file systems that have none."""
    return _flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _flock(descriptor: int, operation: int) -> bool | None:
    try:
        fcntl.flock(descriptor, operation)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return None
    return True
