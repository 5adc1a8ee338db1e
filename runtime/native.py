"""Native code in process: a program lowered to linalg, compiled by MLIR 22 and LLVM, called through ctypes.

Weights are arguments of the compiled functions: pointers to the program's own arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.printer import Printer

from xdsl_exir.dialects.exir import TensorMeta, is_tensor_type, tensor_meta
from xdsl_exir.lowering.edge_to_linalg import EdgeToLinalg
from xdsl_exir.lowering.linalg import static_shape
from xdsl_exir.lowering.toolchain import BUFFERIZE, TO_LLVM, describe, load

PASSES = (*BUFFERIZE, *TO_LLVM)


def linalg_text(module: ModuleOp) -> str:
    """An edge module as linalg on tensors, in MLIR's generic form. Raises `UnsupportedError` listing all in the way."""
    lowered = module.clone()
    EdgeToLinalg().apply(Context(), lowered)
    for function in lowered.ops:
        function.attributes["llvm.emit_c_interface"] = UnitAttr()
    stream = StringIO()
    Printer(stream, print_generic_format=True).print_op(lowered)
    return stream.getvalue()


@dataclass(frozen=True)
class NativeFunction:
    """One compiled method."""

    address: int
    results: tuple[TensorMeta, ...]

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        arrays = [np.ascontiguousarray(value) for value in values]
        outputs = [np.empty(static_shape(meta), meta.dtype.numpy) for meta in self.results]
        described = [describe(array) for array in (*arrays, *outputs)]
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(described))(self.address)
        function(*[ctypes.byref(one) for one in described])
        return outputs


class NativeEngine:
    """Runs the methods of an edge module as native code."""

    def __init__(self, module: ModuleOp):
        self.library = load(linalg_text(module), PASSES)
        self.functions: dict[str, NativeFunction] = {}
        for function in module.ops:
            assert isinstance(function, FuncOp)
            results = [tensor_meta(t) for t in function.function_type.outputs.data if is_tensor_type(t)]
            name = function.sym_name.data
            self.functions[name] = NativeFunction(self.library.address(name), tuple(results))

    def run(self, method: str, values: Sequence[Any]) -> Sequence[Any]:
        """Results of a method for argument values (arrays)."""
        return self.functions[method](values)
