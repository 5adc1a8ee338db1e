"""Tensors that came with a program: where their bytes are, and NumPy views of them made when asked for.

A `Storage` is a run of bytes, in memory or in a file; a `TensorData` is a strided view of one, as in PyTorch.
Tied weights and views of one another share the storage. Nothing is read, and NumPy not imported, until `numpy()`. What is
read is a copy of one's own, of the file as it was when it was opened, or an error: other programs may write to the file, or
cut it off, at any time.
"""

from __future__ import annotations

import math
import mmap
import os
import weakref
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import LoadError

if TYPE_CHECKING:
    import numpy as np


class SourceFile:
    """A file that a program is read from. It stays open: what takes its place under its name later is another file.

    With `mapped`, its bytes are those of the file at any time: whoever writes to it changes them, and a read of what was cut
    off ends the process. Raises `OSError` for a file that cannot be opened.
    """

    def __init__(self, path: str, mapped: bool = False):
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._descriptor)
        self._version = self._now()
        self._map = (
            mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_READ) if mapped and self.nbytes else None
        )

    def _now(self) -> tuple[int, int]:
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns

    @property
    def nbytes(self) -> int:
        """Length in bytes, when it was opened."""
        return self._version[0]

    def read(self, start: int, size: int) -> bytes:
        """A copy of bytes of it. Raises `LoadError` where they lie outside, or the file has changed since it was opened."""
        data = bytearray(max(min(size, self.nbytes - start), 0))
        self._fill(memoryview(data), start)
        if len(data) != size:
            raise LoadError(f"{self.path}: truncated: {size} bytes at {start} lie outside")
        return bytes(data)

    def _fill(self, data: memoryview, start: int) -> None:
        done = 0
        while done < len(data) and (count := os.preadv(self._descriptor, [data[done:]], start + done)):
            done += count
        if done < len(data) or self._now() != self._version:
            raise LoadError(f"{self.path}: the file has changed since it was loaded; load it again")

    def open(self) -> BinaryIO:
        """The file, open once more, for a reader of its own."""
        return open(os.dup(self._descriptor), "rb")

    def storage(self, start: int, size: int, entry: str = "", checksum: int | None = None) -> Storage:
        """Bytes of it, read when they are needed. `entry` is what they are called in errors, `checksum` their CRC-32."""
        if self._map is not None:
            return Storage(memoryview(self._map)[start : start + size])
        return _Part(self, start, size, entry, checksum)


class Storage:
    """A read-only run of bytes. Two storages are the same only if they are one object."""

    def __init__(self, buffer: memoryview):
        self._buffer = buffer

    @property
    def buffer(self) -> memoryview:
        """The bytes. Raises `LoadError` where they are in a file that has changed, or is damaged."""
        return self._buffer

    @property
    def nbytes(self) -> int:
        """Length in bytes."""
        return self._buffer.nbytes

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled: the bytes, wherever they are."""
        return _in_memory, (bytes(self.buffer),)


def _in_memory(data: bytes) -> Storage:
    return Storage(memoryview(data))


class _Part(Storage):
    """Bytes of a file: read when asked for, as often as nobody has them any more."""

    def __init__(self, file: SourceFile, start: int, size: int, entry: str, checksum: int | None):
        self._file, self._start, self._size = file, start, size
        self.entry, self._checksum = entry, checksum
        """Name of the entry that the bytes are, or are part of."""
        self._read: Callable[[], np.ndarray[Any, Any] | None] = lambda: None

    @property
    def buffer(self) -> memoryview:
        import numpy as np

        data = self._read()
        if data is None:
            data = np.empty(self._size, np.uint8)
            self._file._fill(data.data, self._start)  # pyright: ignore[reportPrivateUsage]
            if self._checksum is not None and zlib.crc32(data.data) != self._checksum:
                raise LoadError(f"{self._file.path}: {self.entry}: damaged: the checksum does not match")
            self._checksum = None  # from now on it is known whether somebody writes to the file
            data.flags.writeable = False
            self._read = weakref.ref(data)
        return data.data

    @property
    def nbytes(self) -> int:
        return self._size


@dataclass(frozen=True, slots=True)
class TensorData:
    """A strided view of a storage; strides and the offset count elements. Compared without the bytes.

    Raises LoadError when it does not lie inside its storage.
    """

    dtype: DType
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    storage_offset: int
    storage: Storage = field(compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.sizes) != len(self.strides):
            raise LoadError(f"{len(self.sizes)} sizes, but {len(self.strides)} strides")
        if min((*self.sizes, *self.strides, self.storage_offset)) < 0:
            raise LoadError("negative size, stride or storage offset")
        if 0 in self.sizes:
            return
        last = self.storage_offset + sum((n - 1) * s for n, s in zip(self.sizes, self.strides, strict=True))
        needed = (last + 1) * self.dtype.itemsize
        if needed > self.storage.nbytes:
            raise LoadError(
                f"a {self.dtype} tensor of sizes {list(self.sizes)}, strides {list(self.strides)} and storage offset "
                f"{self.storage_offset} needs {needed} bytes, the storage has {self.storage.nbytes}"
            )

    @classmethod
    def of(cls, array: np.ndarray[Any, np.dtype[Any]], dtype: DType) -> TensorData:
        """The data of an array of this dtype, row-major; copied where the array is not."""
        import numpy as np

        flat = np.ascontiguousarray(array).reshape(-1)
        strides = tuple(math.prod(array.shape[dim + 1 :]) for dim in range(array.ndim))
        storage = Storage(flat.view(np.uint8).data)
        return cls(dtype, array.shape, strides, 0, storage)

    @property
    def nbytes(self) -> int:
        """Size of the elements in bytes, were they contiguous."""
        return math.prod(self.sizes) * self.dtype.itemsize

    @property
    def storage_key(self) -> int:
        """Equal for tensors that share their memory. Valid as long as one of them lives."""
        return id(self.storage)

    def numpy(self) -> np.ndarray[Any, np.dtype[Any]]:
        """A read-only array over the bytes, bfloat16 and eight-bit floats in ml_dtypes' types.

        Copies only when the bytes lie at an address that is not aligned for the dtype.
        """
        import numpy as np

        if 0 in self.sizes:
            array = np.empty(self.sizes, self.dtype.numpy)
        else:
            itemsize = self.dtype.itemsize
            array = np.ndarray(
                self.sizes,
                self.dtype.numpy,
                self.storage.buffer,
                self.storage_offset * itemsize,
                [stride * itemsize for stride in self.strides],
            )
        if not array.flags.aligned:
            array = array.copy()
        array.flags.writeable = False
        return array
