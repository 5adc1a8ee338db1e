"""Writing files all or not: whatever happens meanwhile, what is there under a name is the old file or the new one, whole.

They may be the files that a program's weights are read from, which stay as they are for those who have them open.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def aside(*paths: Path) -> Generator[list[Path]]:
    """For paths in one folder, the same names in a folder beside them: of files that take their places, one after the other,
    once all are written and on the disk. Nothing is left of them if writing fails."""
    with tempfile.TemporaryDirectory(prefix=".", dir=paths[0].parent) as folder:
        temporary = [Path(folder, path.name) for path in paths]
        yield temporary
        for written in temporary:
            with open(written, "rb") as file:
                os.fsync(file.fileno())
        for written, path in zip(temporary, paths, strict=True):
            os.replace(written, path)


@contextmanager
def replacing(path: Path) -> Generator[IO[bytes]]:
    """A file that takes the place of `path` once it is written, as `aside` says."""
    with aside(path) as [temporary], open(temporary, "xb") as file:
        yield file
