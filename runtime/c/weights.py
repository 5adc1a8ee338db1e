"""The weights file: a header of 64 bytes (magic, version, CRC-32 of the rest, size of the rest, its SHA-256), and arrays."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from xdsl_exir.lowering.dispatch import ALIGNMENT, Array
from xdsl_exir.runtime.c.interface import HEADER_BYTES, MAGIC, VERSION


@dataclass
class Weights:
    """Arrays back to back, each aligned; equal ones are stored once."""

    arrays: list[tuple[int, memoryview]] = field(default_factory=list[tuple[int, memoryview]])
    size: int = 0
    known: dict[bytes, int] = field(default_factory=dict[bytes, int])
    """Offsets by digest of the bytes."""

    def add(self, array: Array) -> int:
        """Offset of an array's elements, in bytes from the first array's."""
        flat = elements(array)
        key = hashlib.sha256(flat).digest()
        if key not in self.known:
            self.known[key] = self.size
            self.arrays.append((self.size, flat))
            self.size = aligned(self.size + flat.nbytes)
        return self.known[key]

    def chunks(self) -> Iterator[memoryview | bytes]:
        """The bytes in order, with padding."""
        for offset, flat in self.arrays:
            yield flat
            yield bytes(aligned(offset + flat.nbytes) - offset - flat.nbytes)

    def digest(self) -> bytes:
        """SHA-256 of the bytes."""
        total = hashlib.sha256()
        for chunk in self.chunks():
            total.update(chunk)
        return total.digest()

    def write(self, path: Path) -> None:
        """Writes the file."""
        checksum = 0
        for chunk in self.chunks():
            checksum = zlib.crc32(chunk, checksum)
        header = struct.pack("<8sIIQ32s", MAGIC, VERSION, checksum, self.size, self.digest())
        with path.open("wb") as file:
            file.write(header.ljust(HEADER_BYTES, b"\0"))
            for chunk in self.chunks():
                file.write(chunk)


def elements(array: Array) -> memoryview:
    """The bytes of an array's elements, row-major."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def aligned(size: int) -> int:
    """The next multiple of the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT
