"""The runtime half of the accelerator: what runs its bytes, on a model of the chip with 64 kB of local memory.

python examples/npu/driver.py program.mlir
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np


class Chip:
    """Local memory, and what works on it alone."""

    def __init__(self, nbytes: int):
        self.local = np.zeros(nbytes, np.uint8)
        self.moved = 0
        """Bytes that went in and out."""

    def view(self, at: int, shape: Sequence[int], dtype: Any) -> np.ndarray[Any, Any]:
        """An array in local memory. Beyond its end there is none."""
        nbytes = math.prod(shape) * np.dtype(dtype).itemsize
        assert at + nbytes <= len(self.local)
        return self.local[at : at + nbytes].view(dtype).reshape(shape)

    def put(self, at: int, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Copies an array in."""
        view = self.view(at, array.shape, array.dtype)
        view[...] = array
        self.moved += array.nbytes
        return view


def layer(
    chip: Chip, step: Mapping[str, Any], x: np.ndarray[Any, Any], w: Any, b: Any
) -> np.ndarray[Any, Any]:
    """One layer, so many rows of the weight at a time as were found to fit."""
    rows, columns = w.shape
    given = x.reshape(-1, columns)
    at_x, at_w, at_y = step["places"]
    inside = chip.put(at_x, given)
    result = np.empty((len(given), rows), x.dtype)
    for start in range(0, rows, step["tile"]):
        end = min(start + step["tile"], rows)
        weight = chip.put(at_w, w[start:end])
        out = chip.view(at_y, (len(given), end - start), x.dtype)
        out[...] = multiply(step, inside, weight, None if b is None else b[start:end])
        result[:, start:end] = out
        chip.moved += out.nbytes
    return result.reshape(*x.shape[:-1], rows)


def multiply(step: Mapping[str, Any], x: Any, w: Any, b: Any) -> Any:
    """What the chip computes: sums of products in float32, those of int8 in int32."""
    if x.dtype == np.int8:
        sums = (x.astype(np.int32) - step["x_zero"]) @ w.astype(np.int32).T
        y = sums.astype(np.float32) * np.float32(step["x_scale"] * step["w_scale"])
    else:
        y = x @ w.T
    y = y if b is None else y + b
    y = np.maximum(y, 0) if step["relu"] else y
    if x.dtype == np.int8:
        return np.clip(np.rint(y / np.float32(step["y_scale"])) + step["y_zero"], -128, 127)
    return y


def load(blob: bytes, specs: Mapping[str, str]) -> Callable[..., Sequence[Any]]:
    """What runs a delegate of these bytes."""
    start = 4 + int.from_bytes(blob[:4], "little")
    header = json.loads(blob[4:start])

    def stored(place: Any) -> Any:
        if place is None:
            return None
        dtype, count = np.dtype(place["dtype"]), math.prod(place["shape"])
        return np.frombuffer(blob, dtype, count, start + place["at"]).reshape(place["shape"])

    arrays = [(stored(step["w"]), stored(step["b"])) for step in header["steps"]]

    def run(*inputs: Any) -> Sequence[Any]:
        chip, values = Chip(header["local"]), list(inputs)
        for step, (w, b) in zip(header["steps"], arrays, strict=True):
            values.append(layer(chip, step, values[step["x"]], w, b))
        return [values[output] for output in header["outputs"]]

    return run


def main(path: str) -> None:
    """Runs a saved program on random inputs."""
    import xdsl_exir
    from xdsl_exir.runtime.inputs import random_inputs

    xdsl_exir.register_backend("npu", load=load)
    program = xdsl_exir.load(path)
    for value in xdsl_exir.compile(program).flat(random_inputs(program)):
        print(value.dtype, value.shape)


if __name__ == "__main__":
    main(*sys.argv[1:])
