"""Tensors that came with a program: where their bytes are, and NumPy views of them made when asked for.

A `Storage` is a run of bytes, in a mapped file or in memory; a `TensorData` is a strided view of one, as in PyTorch.
Tied weights and views of one another share the storage. Nothing is read, and NumPy not imported, until `numpy()`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import LoadError

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, eq=False)
class Storage:
    """A read-only run of bytes. Two storages are the same only if they are one object."""

    buffer: memoryview
    path: str | None = None
    """The file that the bytes are mapped from; None for bytes in memory."""
    offset: int = 0
    """Where in that file they start."""

    @property
    def nbytes(self) -> int:
        """Length in bytes."""
        return self.buffer.nbytes


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
