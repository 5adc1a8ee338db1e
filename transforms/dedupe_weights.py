"""`dedupe-weights`: state that has the same elements is kept once.

State that a program writes to stays apart, and so does what nobody uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument
from xdsl.passes import ModulePass

from xdsl_exir.program import methods_of, state_of
from xdsl_exir.transforms.fold_constants import Known, constant_arguments, forget, take_arguments


@dataclass(frozen=True)
class DedupeWeights(ModulePass):
    """Arguments of one type whose elements are equal, bit by bit, become the first of them. Without state nothing happens."""

    name = "dedupe-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        state, dropped = state_of(ctx), set[str]()
        for function in methods_of(op).values():
            dropped |= self.merge(function, constant_arguments(op, function, state))
        forget(op, state, dropped)

    def merge(self, function: FuncOp, constants: Known) -> set[str]:
        """Merges arguments of a method; gives the names of the state that it needs no more."""
        by_type: dict[Attribute, list[BlockArgument]] = {}
        for arg in function.args:
            if arg in constants and arg.uses:
                by_type.setdefault(arg.type, []).append(arg)
        taken: list[BlockArgument] = []
        for args in by_type.values():
            firsts: dict[bytes, BlockArgument] = {}
            for arg in args if len(args) > 1 else ():  # what has no like is not read
                first = firsts.setdefault(digest(constants.read(arg)), arg)
                if first is not arg:
                    arg.replace_all_uses_with(first)
                    taken.append(arg)
        return take_arguments(function, taken)


def digest(array: np.ndarray[Any, np.dtype[Any]]) -> bytes:
    """What tells arrays of one dtype and shape apart."""
    return sha256(np.ascontiguousarray(array).tobytes()).digest()
