"""Writes tensors to `.safetensors` files; the format is described in `importers.safetensors`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from xdsl_exir.exporters.files import replacing
from xdsl_exir.importers.safetensors import DTYPES, LENGTH
from xdsl_exir.importers.tensor_data import TensorData

ALIGNMENT = 8
"""Of the data, in bytes; the header ends in spaces up to there."""


def write_safetensors(path: Path, tensors: Mapping[str, TensorData]) -> None:
    """Writes tensors by name, each row-major; those that share memory are written each for itself."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    header: dict[str, object] = {}
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
    with replacing(path) as file:
        file.write(LENGTH.pack(len(text)) + text)
        for _, data in ordered:
            file.write(data.numpy().tobytes())
