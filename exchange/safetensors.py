"""Reads tensors from `.safetensors` files: 8 bytes with the length of a JSON header, the header, the data.

Data are read when they are used. The file may come from anywhere: what does not hold together is a LoadError.
"""

from __future__ import annotations

import math
import os
import struct
from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import LoadError
from xdsl_exir.exchange.json_text import read_json
from xdsl_exir.exchange.tensor_data import SourceFile, TensorData
from xdsl_exir.narrowing import is_dict

LENGTH = struct.Struct("<Q")
"""The length of the header, which the file begins with."""
METADATA = "__metadata__"
"""The header's only key that names no tensor."""
DIGEST = "xdsl_exir.digest"
"""Among the metadata, a digest of all else in the file, which the program that the weights belong to names as well."""

DTYPES: dict[str, DType] = {
    "BOOL": dt.Bool,
    "U8": dt.Byte,
    "I8": dt.Char,
    "I16": dt.Short,
    "U16": dt.UInt16,
    "I32": dt.Int,
    "U32": dt.UInt32,
    "I64": dt.Long,
    "U64": dt.UInt64,
    "F16": dt.Half,
    "BF16": dt.BFloat16,
    "F32": dt.Float,
    "F64": dt.Double,
    "F8_E5M2": dt.Float8_e5m2,
    "F8_E4M3": dt.Float8_e4m3fn,
    "F8_E5M2FNUZ": dt.Float8_e5m2fnuz,
    "F8_E4M3FNUZ": dt.Float8_e4m3fnuz,
    "C64": dt.ComplexFloat,
    # The format has no names for these; only we read them.
    "C32": dt.ComplexHalf,
    "C128": dt.ComplexDouble,
}


class OtherWeightsError(LoadError):
    """A file with the weights of another program."""


def digest_of(path: str | os.PathLike[str]) -> str | None:
    """The `DIGEST` of a file; None of one that none of ours is. Raises as `read_safetensors` does."""
    return _digest(_header(SourceFile(os.fspath(path)))[0])


def read_safetensors(
    path: str | os.PathLike[str], digest: str | None = None, mapped: bool = False
) -> dict[str, TensorData]:
    """The tensors in a file by name, read when they are used, or `mapped`, as `SourceFile` says.

    Raises `LoadError`, `OtherWeightsError` where the file's `DIGEST` is not this one, and `OSError` for a file that is not
    there.
    """
    file = SourceFile(os.fspath(path), mapped)
    header, start = _header(file)
    if digest is not None and _digest(header) != digest:
        raise OtherWeightsError(f"{path}: these are not the weights of the program beside it; save it again")
    return {
        name: _tensor(f"{path}: header.{name!r:.100}", entry, file, start)
        for name, entry in header.items()
        if name != METADATA
    }


def _header(file: SourceFile) -> tuple[dict[Any, Any], int]:
    """The header of a file, and where the data begin."""
    path = file.path
    if file.nbytes < LENGTH.size:
        raise LoadError(f"{path}: no safetensors file: {file.nbytes} bytes")
    (length,) = LENGTH.unpack(file.read(0, LENGTH.size))
    start = LENGTH.size + length
    if start > file.nbytes:
        raise LoadError(f"{path}: the header's {length} bytes end outside the file")
    try:
        header: Any = read_json(file.read(LENGTH.size, length))
    except LoadError as error:
        raise LoadError(f"{path}: header: {error}") from None
    if not is_dict(header):
        raise LoadError(f"{path}: header: expected an object")
    return header, start


def _digest(header: dict[Any, Any]) -> str | None:
    metadata = header.get(METADATA)
    digest = metadata.get(DIGEST) if is_dict(metadata) else None
    return digest if isinstance(digest, str) else None


def _tensor(at: str, entry: Any, file: SourceFile, start: int) -> TensorData:
    match entry:
        case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [int(begin), int(end)]} if (
            dtype in DTYPES and all(type(size) is int and size >= 0 for size in shape)
        ):
            pass
        case _:
            raise LoadError(f"{at}: expected a known dtype, a shape and data_offsets, got {entry!r:.200}")
    if not 0 <= begin <= end <= file.nbytes - start:
        raise LoadError(
            f"{at}: data_offsets {begin}, {end} lie outside the {file.nbytes - start} bytes of data"
        )
    if math.prod(shape) * DTYPES[dtype].itemsize != end - begin:
        raise LoadError(f"{at}: {end - begin} bytes for a {dtype} tensor of shape {shape!r:.100}")
    strides = tuple(math.prod(shape[dim + 1 :]) for dim in range(len(shape)))
    storage = file.storage(start + begin, end - begin)
    return TensorData(DTYPES[dtype], tuple(shape), strides, 0, storage)
