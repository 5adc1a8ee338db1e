"""How the methods of an executable are called, as JSON and arrays: plans, and the arrays that they name.

Sizes are numbers, or expressions of a method's symbols as text; arrays are views of storages, as in PyTorch, which stand in a list of their
own. Storages of the same bytes may lie in one place, but are not one storage: of state, that would say that it shares memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xdsl_exir.dialects.dtypes import BY_TORCH_NAME
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.exchange.tensor_data import Storage, TensorData
from xdsl_exir.interpreter.interpreter import dtype_of
from xdsl_exir.lowering.checks import check_of, check_text
from xdsl_exir.lowering.dispatches.buffers import Array, Buffer, Place, Plan, Value
from xdsl_exir.runtime.native import NativeCall

Json = Any
"""What JSON has a form for. What is read was written here: its file has a digest."""


@dataclass
class ArrayWriter:
    """Arrays that are to be saved."""

    blobs: dict[str, memoryview] = field(default_factory=dict[str, memoryview])
    """Bytes, by their digests: where storages are."""
    storages: list[Json] = field(default_factory=list[Any])
    """Where each storage is: the digest of its bytes."""
    known: dict[int, tuple[int, Storage]] = field(default_factory=dict[int, "tuple[int, Storage]"])
    """Numbers of storages that are here, which live as long."""

    def storage(self, storage: Storage) -> int:
        """The number of a storage."""
        number, _ = self.known.setdefault(id(storage), (len(self.storages), storage))
        if number == len(self.storages):
            self.storages.append(self.place(storage.buffer.cast("B")))
        return number

    def place(self, data: memoryview) -> Json:
        """Where the bytes of a storage are."""
        digest = hashlib.sha256(data).hexdigest()
        self.blobs.setdefault(digest, data)
        return digest

    def data(self, data: TensorData) -> Json:
        """A tensor."""
        place = [data.storage_offset, self.storage(data.storage)]
        return [data.dtype.torch_name, list(data.sizes), list(data.strides), *place]

    def array(self, array: Array) -> Json:
        """An array, whose dimensions lie as they do."""
        return self.data(data_of(array))


def data_of(array: Array) -> TensorData:
    """The data of an array, its dimensions in the order in which they lie in memory."""
    order = sorted(range(array.ndim), key=lambda dim: -abs(array.strides[dim]))
    transposed: Array = array.transpose(order)
    lying = TensorData.of(transposed, dtype_of(array.dtype))
    strides = [0] * array.ndim
    for dim, stride in zip(order, lying.strides, strict=True):
        strides[dim] = stride
    return TensorData(lying.dtype, array.shape, tuple(strides), 0, lying.storage)


@dataclass(frozen=True)
class ArrayReader:
    """Arrays that were saved."""

    storages: Sequence[Storage]

    def data(self, said: Json) -> TensorData:
        """A tensor."""
        dtype, sizes, strides, offset, number = said
        return TensorData(
            BY_TORCH_NAME[dtype], tuple(sizes), tuple(strides), offset, self.storages[int(number)]
        )

    def array(self, said: Json) -> Array:
        """An array. Nothing may write to it."""
        return self.data(said).numpy()


# --- plans ---------------------------------------------------------------------------------------------------


def write_size(size: Dim) -> Json:
    """A size."""
    return str(size) if isinstance(size, Expr) else size


def read_size(said: Json) -> Dim:
    """A size."""
    return Expr.parse(said) if isinstance(said, str) else said


def write_value(value: Value) -> Json:
    """What a driver is given: its dtype and shape."""
    return [value.dtype.torch_name, *map(write_size, value.shape)]


def read_value(said: Json) -> Value:
    """What a driver is given."""
    dtype, shape = BY_TORCH_NAME[said[0]], tuple(map(read_size, said[1:]))
    return Value(Buffer(0), shape, dtype)


def write_call(call: NativeCall, arrays: ArrayWriter) -> Json:
    """How a method's code is called."""
    plan = call.plan
    return {
        "entry": call.entry,
        "passed": list(call.passed),
        "symbols": {
            name: [place.argument, place.dim, write_size(place.size)] for name, place in plan.symbols.items()
        },
        "inputs": [*map(write_value, plan.inputs)],
        "outputs": [*map(write_value, plan.outputs)],
        "constants": [arrays.array(array) for _, array in plan.constants],
        "copies": [[at, copied(source, arrays.array)] for at, source in plan.copies],
        "arena": write_size(plan.arena_bytes),
        "reads": [[name, write_size(most)] for name, most in plan.reads.items()],
        "numbers": [[at, write_size(size)] for at, size in plan.numbers.items()],
        "updates": [*plan.updates.items()],
        "orders": [[at, list(order)] for at, order in plan.orders.items()],
        "conditions": [[write_size(condition), message] for condition, message in plan.checks],
        "checks": [check_text(check) for check in call.checks],
    }


def copied(source: Array | int, write: Callable[[Array], Json]) -> Json:
    """What an output is a copy of: a number, or an array."""
    return write(source) if isinstance(source, np.ndarray) else source


def read_call(said: Mapping[str, Json], arrays: ArrayReader) -> NativeCall:
    """How a method's code is called."""
    plan = Plan()
    plan.symbols = {
        name: Place(argument, dim, read_size(size)) for name, (argument, dim, size) in said["symbols"].items()
    }
    plan.inputs = [*map(read_value, said["inputs"])]
    plan.outputs = [*map(read_value, said["outputs"])]
    for array in map(arrays.array, said["constants"]):
        plan.constants.append((Value(Buffer(array.nbytes), array.shape, dtype_of(array.dtype)), array))
    plan.copies = [
        (at, source if isinstance(source, int) else arrays.array(source)) for at, source in said["copies"]
    ]
    plan.arena_bytes = read_size(said["arena"])
    plan.reads = {name: read_size(most) for name, most in said["reads"]}
    plan.numbers = {at: read_size(size) for at, size in said["numbers"]}
    plan.updates = dict(said["updates"])
    plan.orders = {at: tuple(order) for at, order in said["orders"]}
    plan.checks = [(read_size(condition), message) for condition, message in said["conditions"]]
    return NativeCall(plan, said["passed"], [check_of(text) for text in said["checks"]], said["entry"])
