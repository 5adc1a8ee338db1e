"""What is made of an edge program before anything below it sees it, whoever asks: passes by name, as data."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xdsl_exir.lowering.bodies import BodiesInPlace
from xdsl_exir.transforms.count_sizes import CountSizes
from xdsl_exir.transforms.layouts import ForgetLayouts
from xdsl_exir.transforms.numbers_to_tensors import NumbersToTensors
from xdsl_exir.transforms.simplify_sizes import SimplifySizes

Passes = tuple[ModulePass, ...]

PLAIN: Passes = (BodiesInPlace(), ForgetLayouts(), SimplifySizes())
"""No bodies of their own, no wishes for layouts, and sizes that are known are numbers."""
COUNTED: Passes = (CountSizes(), NumbersToTensors())
"""Every size that depends on data is a number that is read, and numbers are tensors where code takes them so."""


def apply_all(passes: Iterable[ModulePass], ctx: Context, module: ModuleOp) -> None:
    """Applies passes one after the other."""
    for each in passes:
        each.apply(ctx, module)
