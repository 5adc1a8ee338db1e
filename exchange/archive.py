"""Zip archives that may come from anywhere, read without running or unpacking anything.

Every name, offset and size in them is checked; what is wrong becomes one LoadError that says where. Entries that are stored
uncompressed are read when they are used.
"""

from __future__ import annotations

import itertools
import os
import stat
import struct
import zipfile
import zlib
from typing import NoReturn

from xdsl_exir.errors import LoadError
from xdsl_exir.exchange.tensor_data import SourceFile, Storage
from xdsl_exir.limits import LIMITS

MAX_INFLATED_BYTES = LIMITS.inflated_bytes

_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED, _UTF8 = 1 << 0, 1 << 11


def no_file(path: str | os.PathLike[str]) -> str | None:
    """What is wrong with a path at which there is no file."""
    if os.path.isfile(path):
        return None
    if not os.path.lexists(path):
        return "there is no such file"
    return "a folder, not a file" if os.path.isdir(path) else "not a file"


class Archive:
    """The entries of a file under their names within its root folder, if it has one."""

    kind = "PyTorch"
    """Which archives these are, for error messages."""

    def __init__(self, path: str, mapped: bool):
        self.path = path
        if (problem := no_file(path)) is not None:
            self.fail("", problem)
        try:
            self._file = SourceFile(path, mapped)
            with self._file.open() as file, zipfile.ZipFile(file) as directory:
                infos = directory.infolist()
                self._directory_start = directory.start_dir
            if len(infos) > LIMITS.entries:
                raise ValueError(f"{len(infos)} entries; at most {LIMITS.entries} are read")
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            struct.error,
            ValueError,
            OSError,
            EOFError,
        ) as error:
            # What zipfile raises on damaged directories; UnicodeDecodeError is a ValueError.
            self.fail("", f"not a zip archive that can be read (truncated?): {error}")
        self._inflated = 0
        """Bytes that entries expanded to so far."""
        offsets = sorted({info.header_offset for info in infos})
        self._next = dict(itertools.pairwise([*offsets, self._directory_start]))
        """Where the entry behind that at an offset begins."""
        self._entries = self._by_name(infos)

    @property
    def names(self) -> list[str]:
        return list(self._entries)

    def fail(self, entry: str, message: str) -> NoReturn:
        raise LoadError(": ".join(part for part in (self.path, entry, message) if part)) from None

    def is_flat(self, names: list[str]) -> bool:
        """Whether it is of a form that has no root folder, by the names of its entries."""
        return False

    def _by_name(self, infos: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        for info in infos:
            self._check_name(info)
        files = [info for info in infos if not info.filename.endswith("/")]
        flat = self.is_flat([info.filename for info in files])
        roots = {info.filename.partition("/")[0] for info in files}
        if not flat and (len(roots) != 1 or not all("/" in info.filename for info in files)):
            self.fail("", f"not a {self.kind} archive: its entries do not share one folder")
        entries: dict[str, zipfile.ZipInfo] = {}
        for info in files:
            name = info.filename if flat else info.filename.partition("/")[2]
            if name in entries:
                self.fail(name, "the archive has two entries of this name")
            entries[name] = info
        return entries

    def _check_name(self, info: zipfile.ZipInfo) -> None:
        name = info.orig_filename
        parts = name.removesuffix("/").split("/")
        if name != info.filename or "\\" in name or "\0" in name or any(p in ("", ".", "..") for p in parts):
            self.fail(repr(name), "unsafe path in the archive")
        if not name.isprintable():
            self.fail(repr(name), "unprintable name in the archive")
        if stat.S_ISLNK(info.external_attr >> 16):
            self.fail(name, "symbolic link in the archive")

    def read(self, entry: str) -> bytes:
        """The bytes of an entry, checked against their CRC."""
        info, start = self._find(entry)
        data = self._file.read(start, info.compress_size)
        if info.compress_type == zipfile.ZIP_DEFLATED:
            data = self._inflate(entry, data, info.file_size)
        if zlib.crc32(data) != info.CRC:
            self.fail(entry, "damaged: the checksum does not match")
        return data

    def storage(self, entry: str) -> Storage:
        """The bytes of an entry: read when they are needed if it is stored, at once if it is compressed."""
        info, start = self._find(entry)
        if info.compress_type == zipfile.ZIP_DEFLATED:
            return Storage(memoryview(self.read(entry)))
        return self._file.storage(start, info.file_size, entry, info.CRC)

    def _find(self, entry: str) -> tuple[zipfile.ZipInfo, int]:
        """What the directory says of an entry, and where its data start."""
        if entry not in self._entries:
            self.fail(entry, "the archive has no such entry")
        info = self._entries[entry]
        start = self._data_start(entry, info)
        if info.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            self.fail(entry, f"compression method {info.compress_type} is not supported")
        if info.compress_type == zipfile.ZIP_STORED and info.compress_size != info.file_size:
            self.fail(entry, f"stored in {info.compress_size} bytes, but {info.file_size} bytes long")
        return info, start

    def _data_start(self, entry: str, info: zipfile.ZipInfo) -> int:
        """Where the data of an entry start, after the header that stands in front of them."""
        start = info.header_offset + _LOCAL_HEADER.size
        if info.header_offset < 0 or start > self._directory_start:
            self.fail(entry, "damaged: the entry lies outside the archive")
        signature, _, flags, method, _, _, _, _, _, name_size, extra_size = _LOCAL_HEADER.unpack(
            self._file.read(info.header_offset, _LOCAL_HEADER.size)
        )
        name = self._file.read(start, name_size).decode("utf-8" if flags & _UTF8 else "cp437", "replace")
        if signature != b"PK\x03\x04" or method != info.compress_type or name != info.orig_filename:
            self.fail(entry, "damaged: the entry's header and the archive's directory differ")
        if (flags | info.flag_bits) & _ENCRYPTED:
            self.fail(entry, "encrypted entries are not supported")
        start += name_size + extra_size
        if start + info.compress_size > self._directory_start:
            self.fail(entry, "truncated: the entry ends outside the archive")
        if start + info.compress_size > self._next[info.header_offset]:
            # This is how a small archive becomes a large one.
            self.fail(entry, "damaged: the entry overlaps another one")
        return start

    def _inflate(self, entry: str, data: bytes, size: int) -> bytes:
        self._inflated += size
        if size > MAX_INFLATED_BYTES:
            self.fail(entry, f"compressed entry of {size} bytes; at most {MAX_INFLATED_BYTES} are expanded")
        if self._inflated > MAX_INFLATED_BYTES:
            self.fail(entry, f"compressed entries expand to more than {MAX_INFLATED_BYTES} bytes")
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            inflated = inflater.decompress(data, size + 1)
        except zlib.error as error:
            self.fail(entry, f"damaged: {error}")
        if len(inflated) != size or not inflater.eof:
            self.fail(entry, f"damaged: the entry does not expand to the {size} bytes it declares")
        return inflated
