"""Writes tensors to `.safetensors` files; the format is described in `importers.safetensors`."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping
from pathlib import Path

from xdsl_exir.exchange.safetensors import DIGEST, DTYPES, LENGTH, METADATA
from xdsl_exir.exchange.tensor_data import TensorData

ALIGNMENT = 8
"""Of the data, in bytes; the header ends in spaces up to there."""
UNKNOWN = b"0" * 64
"""A digest that is not computed yet."""


def write_safetensors(path: Path, tensors: Mapping[str, TensorData]) -> str:
    """Writes tensors by name, each row-major; those that share memory are written each for itself. Gives the digest that the
    file says of itself: SHA-256 of the file, with zeros where the digest stands."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    header: dict[str, object] = {METADATA: {DIGEST: UNKNOWN.decode()}}
    # Longest elements first, so that all are aligned.
    ordered = sorted(tensors.items(), key=lambda item: -item[1].dtype.itemsize)
    end = 0
    for name, data in ordered:
        begin, end = end, end + data.nbytes
        header[name] = {
            "dtype": names[data.dtype],
            "shape": list(data.sizes),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    total = hashlib.sha256()
    with open(path, "xb") as file:
        for chunk in itertools.chain(
            [LENGTH.pack(len(text)), text], (data.numpy().tobytes() for _, data in ordered)
        ):
            total.update(chunk)
            file.write(chunk)
        file.seek(LENGTH.size + text.index(UNKNOWN))
        file.write(total.hexdigest().encode())
    return total.hexdigest()
