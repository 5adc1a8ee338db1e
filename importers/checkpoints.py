"""Tensors as `torch.save` writes them, by name: a zip of one pickle and storages, read as data. PyTorch before 2.9 had them in `.pt2` archives."""

from __future__ import annotations

import io
import os

from xdsl_exir.exchange.archive import Archive
from xdsl_exir.exchange.tensor_data import Storage, TensorData
from xdsl_exir.importers.sources import as_file
from xdsl_exir.importers.torchscript.pickles import PickledTensor, decode
from xdsl_exir.narrowing import is_dict


class Contents(io.BytesIO):
    """Bytes that errors call by a name."""

    def __init__(self, data: bytes, name: str):
        super().__init__(data)
        self.name = name


class Checkpoint(Archive):
    """A file of `torch.save`."""

    kind = "torch.save"

    def __init__(self, path: str | os.PathLike[str]):
        super().__init__(os.fspath(path), False)
        self._storages: dict[str, Storage] = {}

    def _bytes_of(self, key: str) -> Storage:
        """A storage; tensors of one share it."""
        if key not in self._storages:
            self._storages[key] = self.storage(f"data/{key}")
        return self._storages[key]

    def tensors(self) -> dict[str, TensorData]:
        """The tensors in the dict that was saved. Raises `LoadError` for anything else."""
        order = self.read("byteorder") if "byteorder" in self.names else b"little"
        if order.strip() != b"little":
            self.fail("byteorder", "only little-endian tensors are read")
        found = decode(self.read("data.pkl"), self._bytes_of, f"{self.path}: data.pkl")
        if not is_dict(found):
            self.fail("data.pkl", "what was saved is no dict of tensors")
        tensors: dict[str, TensorData] = {}
        for name, value in found.items():
            if not isinstance(name, str) or not isinstance(value, PickledTensor):
                self.fail("data.pkl", f"{name!r:.100} is no tensor, but a {type(value).__name__}")
            tensors[name] = value.data
        return tensors


def read_tensors(data: bytes, name: str) -> dict[str, TensorData]:
    """The tensors in such a file, which is called `name` in errors. Raises `LoadError`."""
    with as_file(Contents(data, name)) as path:
        return Checkpoint(path).tensors()
