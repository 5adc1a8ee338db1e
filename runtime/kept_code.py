"""Native code of whole programs in the cache: what was compiled before, in whatever process, is not planned again.

An entry holds what `NativeCode` does: JSON, as saved executables have it, and after it arrays and object files. Arrays that are
the program's own state are not in it. Its key says the program, its state, the processor, this package's sources and the tools; what depends on more
than that (functions that users registered, delegates, passes that are watched) is planned anew, and so is what is small.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import xdsl_exir
from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.registry import REGISTRIES
from xdsl_exir.errors import Unsupported
from xdsl_exir.exchange.arrays import ALIGNMENT
from xdsl_exir.exchange.tensor_data import Storage
from xdsl_exir.limits import LIMITS
from xdsl_exir.locations import location_text
from xdsl_exir.lowering.cache import digest_of, keep, kept_memory
from xdsl_exir.lowering.printing import generic_text
from xdsl_exir.runtime.saved_plans import ArrayReader, ArrayWriter, read_call, write_call
from xdsl_exir.targets.cpu.machine import Processor
from xdsl_exir.targets.cpu.objects import cache_key
from xdsl_exir.targets.cpu.tuning import learned
from xdsl_exir.transforms.watch import is_watching

if TYPE_CHECKING:
    from xdsl_exir.program import Program
    from xdsl_exir.runtime.native import NativeCode

FEW = 32
"""Operations of a program that is planned as quickly as it is found."""


@dataclass(frozen=True)
class KeptCode:
    """Where a program's code is kept, and its state, which the code may refer to."""

    key: str
    state: Sequence[memoryview]
    """The bytes of each of its storages."""

    def find(self) -> NativeCode | None:
        """The code, if it is there."""
        memory = kept_memory(self.key)
        return None if memory is None else self.read(memory)

    def keep(self, code: NativeCode) -> None:
        """Keeps code, unless it is too large."""
        parts = self.write(code)
        if sum(map(len, parts)) <= LIMITS.program_bytes:
            keep({self.key: parts})

    def write(self, code: NativeCode) -> Sequence[bytes | memoryview]:
        """An entry: the length of the JSON, it, and blobs, each at its place."""
        arrays = CodeWriter(state=[*map(address_of, self.state)])
        methods = {name: write_call(call, arrays) for name, call in code.methods.items()}
        said = {
            "cpu": asdict(code.cpu),
            "slow": [[one.operator, one.reason, one.location] for one in code.slow],
            "methods": methods,
            "storages": arrays.storages,
            "objects": [*code.objects],
            "blobs": [len(data) for data in (*arrays.blobs.values(), *code.objects.values())],
        }
        text = json.dumps(said).encode()
        parts: list[bytes | memoryview] = [len(text).to_bytes(8, "little"), text]
        at = 8 + len(text)
        for data in (*arrays.blobs.values(), *code.objects.values()):
            parts += [bytes(-at % ALIGNMENT), data]
            at += -at % ALIGNMENT + len(data)
        return parts

    def read(self, memory: memoryview) -> NativeCode:
        """The code of an entry."""
        from xdsl_exir.runtime.native import NativeCode

        at = 8 + int.from_bytes(memory[:8], "little")
        said = json.loads(bytes(memory[8:at]))
        blobs: list[memoryview] = []
        for size in said["blobs"]:
            at += -at % ALIGNMENT
            blobs.append(memory[at : at + size])
            at += size
        objects = blobs[len(blobs) - len(said["objects"]) :]
        arrays = ArrayReader([Storage(self.storage(where, blobs)) for where in said["storages"]])
        return NativeCode(
            {name: read_call(call, arrays) for name, call in said["methods"].items()},
            {name: bytes(data) for name, data in zip(said["objects"], objects, strict=True)},
            Processor(**said["cpu"]),
            [Unsupported(*one) for one in said["slow"]],
        )

    def storage(self, where: int | Sequence[int], blobs: Sequence[memoryview]) -> memoryview:
        """The bytes of a storage: a part of one of the state's, or a blob."""
        if isinstance(where, int):
            return blobs[where]
        number, start, size = where
        return self.state[number][start : start + size]


def address_of(data: memoryview) -> tuple[int, int]:
    """Where bytes begin, and where they end."""
    start: int = np.frombuffer(data, np.uint8).ctypes.data
    return start, start + len(data)


@dataclass
class NumberedWriter(ArrayWriter):
    """Arrays whose storages have numbers, whatever is in them."""

    def place(self, data: memoryview) -> Any:
        self.blobs[str(len(self.blobs))] = data
        return len(self.blobs) - 1


@dataclass
class CodeWriter(NumberedWriter):
    """Arrays that are to be kept; of those that lie in the program's state it is said where."""

    state: Sequence[tuple[int, int]] = ()
    """Addresses of its storages."""

    def place(self, data: memoryview) -> Any:
        start, end = address_of(data)
        for number, (first, last) in enumerate(self.state):
            if data and first <= start and end <= last:
                return [number, start - first, len(data)]
        return super().place(data)


# --- keys ----------------------------------------------------------------------------------------------------


def kept_code(program: Program, cpu: Processor) -> KeptCode | None:
    """Where the code of a program is kept; None for one that is not."""
    operations = [*program.module.walk()]
    if len(operations) < FEW or is_watched() or any(registry.altered for registry in REGISTRIES):
        return None
    if any(isinstance(op, DelegateOp) or (isinstance(op, OperatorOp) and op.SPEC.place) for op in operations):
        return None
    storages = {data.storage_key: data.storage.nbytes for data in program.state.values()}
    if sum(storages.values()) > LIMITS.program_bytes:
        return None
    state = NumberedWriter()
    tensors = {name: state.data(data) for name, data in program.state.items()}
    memory = [*state.blobs.values()]
    parts = (
        sources(),
        generic_text(program.module),
        *map(location_text, operations),
        json.dumps(tensors),
        digest_of(memory).hex(),
        repr(sorted(asdict(cpu.with_threads(cpu.machine().threads)).items())),
        repr(sorted(learned(cpu).items())),
    )
    return KeptCode(cache_key("\0".join(parts), (), cpu), memory)


def is_watched() -> bool:
    """Whether somebody wants to see what passes do."""
    return is_watching() or logging.getLogger("xdsl_exir").isEnabledFor(logging.INFO)


@cache
def sources() -> str:
    """A digest of all that makes code: this package, whole, and the versions of what it stands on."""
    versions = [version(name).encode() for name in ("xdsl", "numpy", "sympy")]
    files = files_of(Path(xdsl_exir.__path__[0]))
    return digest_of([b"\0".join([*versions, *(path.read_bytes() for path in files)])]).hex()


def files_of(folder: Path) -> Sequence[Path]:
    """Python and tables under a folder, and under those it links to."""
    return sorted(
        Path(where, name)
        for where, _, names in os.walk(folder, followlinks=True)
        for name in names
        if name.endswith((".py", ".yaml"))
    )
