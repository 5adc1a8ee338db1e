"""What is in a TorchScript archive: a zip of code, two pickles and storages, all read as data."""

from __future__ import annotations

import os
import re
import struct
import zipfile
from typing import Any

from xdsl_exir.errors import LoadError
from xdsl_exir.exchange.archive import Archive
from xdsl_exir.exchange.tensor_data import Storage
from xdsl_exir.importers.torchscript.pickles import Instance, decode
from xdsl_exir.limits import LIMITS
from xdsl_exir.narrowing import is_tuple

LAST_VERSION = 10
"""The newest version of operators that is known: `torch._C._get_max_operator_version()`."""


class ScriptArchive(Archive):
    """A file of `torch.jit.save`. Raises `LoadError` for one that is damaged, newer, or of another kind."""

    kind = "TorchScript"

    def __init__(self, path: str | os.PathLike[str], mapped: bool = False):
        super().__init__(os.fspath(path), mapped)
        self._storages: dict[str, Storage] = {}
        if "model.json" in self.names:
            self.fail(
                "model.json", "archives of PyTorch before 1.4 are not read; save again with a later one"
            )
        if "data.pkl" not in self.names or not any(name.startswith("code/") for name in self.names):
            self.fail(
                "",
                "not a TorchScript archive: it has no data.pkl and code (a checkpoint of torch.save has none)",
            )
        if "byteorder" in self.names and self._word("byteorder") != "little":
            self.fail("byteorder", "only little-endian archives are read")
        self.version = self._version()
        """The version of the operators that its code means."""

    def _word(self, entry: str) -> str:
        return self.read(entry)[:40].decode("utf-8", "replace").strip()

    def _version(self) -> int:
        entry = next((name for name in (".data/version", "version") if name in self.names), None)
        if entry is None:
            self.fail("version", "the archive has no such entry")
        text = self._word(entry)
        if not re.fullmatch(r"\d{1,4}", text) or not 1 <= int(text) <= LAST_VERSION:
            self.fail(entry, f"version {text!r}; known are those up to {LAST_VERSION}")
        return int(text)

    def pickle(self, name: str) -> Any:
        """What `data.pkl` or `constants.pkl` says; their storages are in folders of their names."""
        folder = name.removesuffix(".pkl")
        return decode(self.read(name), lambda key: self._tensor_bytes(folder, key), f"{self.path}: {name}")

    def _tensor_bytes(self, folder: str, key: str) -> Storage:
        entry = f"{folder}/{key}"
        if entry not in self._storages:
            self._storages[entry] = self.storage(entry)
        return self._storages[entry]

    def root(self) -> Instance:
        """The module that was saved."""
        found = self.pickle("data.pkl")
        if not isinstance(found, Instance):
            self.fail("data.pkl", "what was saved is no module")
        return found

    def constants(self) -> tuple[Any, ...]:
        """The constants that the code names `CONSTANTS.c0` and so on."""
        found = self.pickle("constants.pkl") if "constants.pkl" in self.names else ()
        if not is_tuple(found):
            self.fail("constants.pkl", "the constants are no tuple")
        return found

    def code(self, qualifier: str) -> str | None:
        """The code of `__torch__.torch.nn.functional`; None where there is none."""
        entry = f"code/{qualifier.replace('.', '/')}.py"
        if entry not in self.names:
            return None
        data = self.read(entry)
        if len(data) > LIMITS.text_bytes:
            self.fail(entry, f"code of {len(data)} bytes; at most {LIMITS.text_bytes} are read")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise LoadError(f"{self.path}: {entry}: {error}") from None


def is_torchscript(path: str | os.PathLike[str]) -> bool:
    """Whether a file is an archive with a pickle where those of `torch.jit.save` have one; of `torch.save`, too."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, ValueError, EOFError, NotImplementedError, struct.error, zipfile.BadZipFile):
        return False
    return any(re.fullmatch(r"[^/]+/(data\.pkl|model\.json)", name) for name in names)
