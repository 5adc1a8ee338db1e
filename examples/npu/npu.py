"""An accelerator with 64 kB of local memory: its operators, what fits, and the bytes that its driver takes.

    python examples/npu/npu.py model.pt2 out.mlir       # partitioned and compiled; what is left, and why
    python examples/npu/driver.py out.mlir              # another process, which knows the bytes and nothing else
    xdsl-exir compile out.mlir -o out                   # or in C, with driver.c

The chip multiplies by weights that it has been given, in float32 and in int8. A layer streams its weights through local memory, so
many rows at a time as fit beside the layer's input; a layer whose input does not leave room for one row is the host's.
"""

# pyright: basic

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import xdsl_exir
from xdsl_exir import Memory, Program, Target, backend_op
from xdsl_exir.dialects.dtypes import Char
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import tensor_meta
from xdsl_exir.interpreter.interpreter import literal_array
from xdsl_exir.transforms.partitioner import Candidate

sys.path.append(str(Path(__file__).parent))
from driver import STEP, load

LOCAL = Memory("local", nbytes=64 * 1024, alignment=64, space=1)


@backend_op("npu::linear(Tensor x, Tensor w, Tensor? b=None) -> Tensor")
def linear(aten, x, w, b):
    return aten.linear(x, w, b)


@backend_op("npu::linear_relu(Tensor x, Tensor w, Tensor? b=None) -> Tensor")
def linear_relu(aten, x, w, b):
    return aten.relu(aten.linear(x, w, b))


@backend_op(
    "npu::quantized_linear_relu(Tensor x, Tensor w, Tensor? b, float x_scale, int x_zero, float w_scale, float y_scale, int y_zero) -> Tensor"
)
def quantized_linear_relu(aten, quantized_decomposed, x, w, b, x_scale, x_zero, w_scale, y_scale, y_zero):
    """What PyTorch's quantizers leave of a linear layer in int8: scales around float32, which the chip takes for what they mean."""
    q, int8 = quantized_decomposed, (-128, 127, Char)
    given = q.dequantize_per_tensor(x, x_scale, x_zero, *int8)
    weight = q.dequantize_per_tensor(w, w_scale, 0, -127, 127, Char)
    return q.quantize_per_tensor(aten.relu(aten.linear(given, weight, b)), y_scale, y_zero, *int8)


def rows_at_a_time(x: Any, w: Any) -> int:
    """How many rows of the weight, and of what they make, fit beside the input; 0 where none does."""
    batch, (rows, columns) = math.prod(x.shape[:-1]), w.shape
    size = x.dtype.bits // 8
    for tile in (rows >> shift for shift in range(rows.bit_length())):
        if LOCAL.fits(buffers(batch, columns, tile, size)):
            return tile
    return 0


def buffers(batch: Any, columns: Any, tile: int, size: int) -> list[tuple[int, int, int]]:
    """Input, weight and output of a tile: all are needed at once."""
    return [(count * size, 0, 0) for count in (batch * columns, tile * columns, batch * tile)]


def takes(op: Candidate) -> bool | str:
    """Whether the chip takes an operation, or why not."""
    if not op.is_static:
        return "sizes are not known"
    if not op.is_constant("w") or not op.is_constant("b"):
        return "weights are computed"
    x, w = op.arguments["x"], op.arguments["w"]
    if x.dtype.name not in ("Float", "Char"):
        return f"no {x.dtype} on this chip"
    return rows_at_a_time(x, w) > 0 or f"an input of {x.shape} leaves no room in {LOCAL.nbytes} bytes"


def preprocess(program: Program, specs: Mapping[str, str]) -> bytes:
    """A delegate as bytes: how many steps and outputs there are, the steps, the numbers of the outputs, and the weights one after another."""
    block = program.method().body.block
    names: Any = {
        value: index for index, value in enumerate(block.args[: len(block.args) - len(program.state)])
    }
    owned = zip(block.args[len(names) :], program.state.values(), strict=True)
    arrays: Any = {value: data.numpy() for value, data in owned}
    weights, steps = bytearray(), list[Any]()

    def stored(value: Any) -> int:
        """Puts an array behind the others; where it lies."""
        if value is None:
            return -1
        weights.extend(bytes(-len(weights) % LOCAL.alignment))
        weights.extend(np.ascontiguousarray(arrays[value]).tobytes())
        return len(weights) - arrays[value].nbytes

    for op in block.ops:
        if isinstance(op, ConstantOp):
            arrays[op.result] = literal_array(op)
        elif isinstance(op, OperatorOp):
            given = op.arguments()
            x, w = (tensor_meta(given[name].type) for name in "xw")
            batch, (rows, columns), tile = math.prod(x.shape[:-1]), w.shape, rows_at_a_time(x, w)
            places = LOCAL.place(buffers(batch, columns, tile, x.dtype.bits // 8))
            numbers = [given.get(name, 0) for name in ("x_zero", "y_zero", "x_scale", "w_scale", "y_scale")]
            what = names[given["x"]], stored(given["w"]), stored(given["b"]), op.name.endswith("relu")
            steps.append((*what, x.dtype is Char, batch, rows, columns, tile, *places, *numbers))
            names[op.results[0]] = len(names)
    returned: Any = program.method().get_return_op()
    outputs = np.array([names[value] for value in returned.operands], np.int64)
    counts = np.array([len(steps), len(outputs)], np.int64)
    return counts.tobytes() + np.array(steps, STEP).tobytes() + outputs.tobytes() + bytes(weights)


OPERATORS = linear, linear_relu, quantized_linear_relu
TARGET = Target("npu", ("npu.*",), (), OPERATORS, takes, memories=(LOCAL,), preprocess=preprocess, load=load)
xdsl_exir.register_target(TARGET)


def main(source: str, result: str) -> None:
    """Saves a program for the chip, with the bytes, and says what is left to the host."""
    program, left = TARGET.lowered(xdsl_exir.load(source))
    print(*left, sep="\n")
    program.transform("preprocess-delegates").save(result)


if __name__ == "__main__":
    main(*sys.argv[1:])
