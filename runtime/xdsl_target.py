"""`xdsl-opt -t exir-run`: runs a module's first method in the interpreter and prints its results.

Inputs are made up, the same in every run: that shows what a program computes, in FileCheck tests and at first sight.
`exir-run{inputs=ones}` takes ones, `inputs=arange` counts, `inputs=random` (the default) draws with a fixed seed.
`delegates=region` runs what the regions of delegates say, whoever their backends are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, cast, get_args

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.signature import InputKind
from xdsl_exir.dialects.tensors import TensorMeta, is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError
from xdsl_exir.program import Program
from xdsl_exir.runtime.executable import Delegates, compile

Fill = Callable[[tuple[int, ...]], Any]

_GENERATOR = np.random.default_rng(0)

FILLS: dict[str, Fill] = {
    "ones": np.ones,
    "arange": lambda shape: np.arange(math.prod(shape)).reshape(shape),
    "random": lambda shape: _GENERATOR.normal(size=shape),
}


def make_input(meta: TensorMeta, fill: Fill) -> Any:
    """An array of a type; symbolic sizes are 2."""
    symbols = {name: 2 for size in meta.shape if isinstance(size, Expr) for name in size.free_symbols()}
    shape = tuple(int(size.evaluate(symbols)) if isinstance(size, Expr) else size for size in meta.shape)
    values = fill(shape)
    if meta.dtype.category is Category.BOOL:
        values = values > 0
    elif meta.dtype.category is Category.INT:
        values = np.abs(np.rint(values))
    return np.asarray(values).astype(meta.dtype.numpy)


@dataclass(frozen=True)
class RunTarget(Target):
    """Runs the first method on made-up inputs and prints its results."""

    name = "exir-run"

    inputs: str = "random"
    delegates: str = "backend"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        if self.inputs not in FILLS:
            raise ExirError(f"exir-run: inputs are one of {', '.join(FILLS)}, not '{self.inputs}'")
        if self.delegates not in get_args(Delegates):
            raise ExirError(
                f"exir-run: delegates are run by their {' or '.join(get_args(Delegates))}, not '{self.delegates}'"
            )
        method = compile(Program(module), delegates=cast(Delegates, self.delegates)).method()
        values: list[Any] = []
        for spec, type in zip(method.inputs, method.types, strict=True):
            if spec.kind is not InputKind.USER_INPUT:
                raise ExirError(f"exir-run: {spec.kind.value} '{spec.target}' has no data in MLIR text")
            if not is_tensor_type(type):
                raise ExirError(f"exir-run: makes up no input of type {type}")
            values.append(make_input(tensor_meta(type), FILLS[self.inputs]))
        for value in method.flat(values):
            array = np.asarray(value)
            with np.printoptions(precision=4, suppress=True, threshold=16):
                text = np.array2string(array, separator=", ")
            output.write(f"{array.dtype}{list(array.shape)} {text}\n")
