"""The runtime half of the accelerator: what runs its bytes, on a model of the chip with 64 kB of local memory. In C: driver.c.

python examples/npu/driver.py program.mlir
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

INTEGERS = "x w b relu int8 batch rows columns tile at_x at_w at_y x_zero y_zero"
STEP = np.dtype([(name, "<i8") for name in INTEGERS.split()] + [(f"{name}_scale", "<f8") for name in "xwy"])
"""A layer: which value it takes, where weight and bias lie (a bias at -1 is none), sizes, rows at a time, places in local memory."""


class Chip:
    """Local memory, and what works on it alone."""

    local = np.zeros(64 * 1024, np.uint8)

    def view(self, at: int, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Room for an array in local memory. Beyond its end there is none."""
        assert at + array.nbytes <= len(self.local)
        return self.local[at : at + array.nbytes].view(array.dtype).reshape(array.shape)

    def put(self, at: int, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Copies an array in."""
        view = self.view(at, array)
        view[...] = array
        return view


def layer(chip: Chip, step: Any, x: np.ndarray[Any, Any], w: Any, b: Any) -> np.ndarray[Any, Any]:
    """One layer, so many rows of the weight at a time as were found to fit."""
    inside = chip.put(step["at_x"], x.reshape(step["batch"], step["columns"]))
    result = np.empty((step["batch"], step["rows"]), x.dtype)
    for start in range(0, step["rows"], step["tile"]):
        rows = slice(start, start + step["tile"])
        out = chip.view(step["at_y"], np.ascontiguousarray(result[:, rows]))
        out[...] = multiply(step, inside, chip.put(step["at_w"], w[rows]), None if b is None else b[rows])
        result[:, rows] = out
    return result.reshape(*x.shape[:-1], step["rows"])


def multiply(step: Any, x: Any, w: Any, b: Any) -> Any:
    """What the chip computes: sums of products in float32, those of int8 in int32."""
    if not step["int8"]:
        y = x @ w.T
    else:
        sums = (x.astype(np.int32) - np.int32(step["x_zero"])) @ w.astype(np.int32).T
        y = sums.astype(np.float32) * np.float32(step["x_scale"] * step["w_scale"])
    y = y if b is None else y + b
    y = np.maximum(y, 0) if step["relu"] else y
    return (
        np.clip(np.rint(y / step["y_scale"].astype("f4")) + step["y_zero"], -128, 127) if step["int8"] else y
    )


def load(blob: bytes, specs: Mapping[str, str]) -> Callable[..., Sequence[Any]]:
    """What runs a delegate of these bytes."""
    count, returned = np.frombuffer(blob, "<i8", 2)
    steps = np.frombuffer(blob, STEP, count, 16)
    outputs = np.frombuffer(blob, "<i8", returned, 16 + steps.nbytes)
    base = 16 + steps.nbytes + outputs.nbytes

    def stored(dtype: Any, at: int, *shape: int) -> Any:
        return np.frombuffer(blob, dtype, np.prod(shape), base + at).reshape(shape) if at >= 0 else None

    def run(*inputs: Any) -> Sequence[Any]:
        chip, values = Chip(), list(inputs)
        for step in steps:
            w = stored(np.int8 if step["int8"] else np.float32, step["w"], step["rows"], step["columns"])
            values.append(
                layer(chip, step, values[step["x"]], w, stored(np.float32, step["b"], step["rows"]))
            )
        return [values[output] for output in outputs]

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
