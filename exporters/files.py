"""Writing files that may be the ones that a program's weights are mapped from."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path) -> Generator[IO[bytes]]:
    """A file that takes the place of `path` once it is written; what is there now stays as it is until then, and for
    those who have it mapped. Nothing is left of it if writing fails."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "xb") as file:
            yield file
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
