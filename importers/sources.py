"""What programs are read from, and written to: paths, files that are open, bytes."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

from typing_extensions import TypeIs

from xdsl_exir.errors import LoadError
from xdsl_exir.importers.foreign import HEAD, is_mlir

Source: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview[int] | IO[bytes]"
"""A path, contents, or a file that is open."""
Target: TypeAlias = str | os.PathLike[str] | IO[bytes]


def is_file(source: object, verb: str) -> TypeIs[IO[bytes]]:
    """Whether this is a file that is open, by the method that is called of it."""
    return callable(getattr(source, verb, None))


@contextmanager
def as_file(source: Source) -> Generator[Path]:
    """A path to what is in a source. Of bytes, and of files that have none, it is a temporary one, which is gone afterwards, for all but
    those who have it open; text is told from archives by its beginning. Raises `LoadError` for what is no source."""
    if isinstance(source, str | os.PathLike):
        yield Path(os.fsdecode(source))
        return
    if isinstance(source, bytes | bytearray | memoryview):
        source = io.BytesIO(source)
    elif (path := _path(source)) is not None:
        yield path
        return
    if not is_file(source, "read"):  # pyright: ignore[reportUnnecessaryComparison]
        raise LoadError(f"a program is loaded from a path, a file or bytes, not from {_what(source)}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "contents")
        with open(path, "w+b") as file:
            while data := source.read(1 << 20):
                if isinstance(data, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                    raise LoadError("a program is loaded from a file that is open for bytes, not for text")
                file.write(data)
            file.seek(0)
            text = is_mlir(file.read(HEAD))
        path = path.rename(path.with_suffix(".mlir")) if text else path
        try:
            yield path
        except LoadError as error:
            # Nobody knows the temporary file.
            raise type(error)(str(error).replace(str(path), _name(source))) from None


def _path(source: Any) -> Path | None:
    """Where a file is that is open, at its beginning; None where it is nowhere, or another one has taken its place."""
    try:
        path = Path(source.name)
        is_it = source.tell() == 0 and os.path.samestat(os.fstat(source.fileno()), path.stat())
    except (AttributeError, TypeError, OSError, ValueError):
        return None
    return path if is_it and path.is_file() and "b" in getattr(source, "mode", "") else None


def _name(source: Any) -> str:
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "contents"


def _what(source: object) -> str:
    """What something is, and what to do with what PyTorch has."""
    cls = type(source)
    if cls.__name__ == "ExportedProgram":
        return "an ExportedProgram; xdsl_exir.from_exported_program takes it"
    if any(base.__name__ == "Module" and base.__module__.startswith("torch.nn") for base in cls.__mro__):
        return f"a module ({cls.__name__}); torch.export.export(module, inputs) makes a program of it, which xdsl_exir.from_exported_program takes"
    return f"a {cls.__name__}"
