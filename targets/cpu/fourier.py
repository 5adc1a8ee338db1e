"""Fourier transforms along one dimension as dispatches; those along several are forms of them (`fourier_forms`)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.lowering.body_types import PARTS
from xdsl_exir.lowering.dispatches.outline import Outline
from xdsl_exir.lowering.dispatches.views import reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of, shape_of
from xdsl_exir.targets.cpu.dispatches import ELEMENTS, Schedule, seen_along
from xdsl_exir.targets.cpu.kernels import Fourier, Machine
from xdsl_exir.targets.cpu.kernels.fourier import LONGEST

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner


def transform(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    """A transform along one dimension, of float32 or float64."""
    a, source, result = op.arguments(), op.operands[0], op.results[0]
    kind = op.SPEC.qualified_name.removeprefix("aten._fft_")
    forward = a.get("forward", kind == "r2c")
    shape, made, dtype = shape_of(source), shape_of(result), meta_of(result).dtype
    element = PARTS.get(dtype, dtype)
    if len(a["dim"]) != 1 or not shape or element not in ELEMENTS or 0 in (*shape, *made):
        return False
    dim: int = a["dim"][0] % len(shape)
    size, kept = (made if kind == "c2r" else shape)[dim], made[dim]
    if isinstance(size, int) and size > LONGEST:
        return False
    outer, given, inner = seen_along(shape, dim)
    kernel = Fourier(
        outer, size, inner, kind, forward, kept, a["normalization"], ELEMENTS[element], machine=machine
    )
    if given != kernel.given:
        return False
    x = reshaped(planner.contiguous(planner.value(source)), (outer, kernel.given, inner))
    out = reshaped(planner.make(result), (outer, kept, inner))
    assert x is not None
    assert out is not None
    roots = (
        planner.constant(table(kernel), element)
        if isinstance(size, int)
        else planner.allocate((kernel.numbers,), element)
    )
    arguments = [x, roots, planner.allocate(kernel.scratch, element), out]
    planner.call_kernel(
        kernel, arguments, lambda: Outline(planner, [op], True).body(arguments, [result]), [op]
    )
    return True


@lru_cache(maxsize=64)
def table(kernel: Fourier) -> np.ndarray[Any, np.dtype[Any]]:
    """A kernel's table, one of all equal kernels."""
    return kernel.table()


FOURIER_SCHEDULES: dict[str, tuple[str | None, Schedule]] = {
    f"aten._fft_{kind}": (Fourier.__name__, transform) for kind in ("c2c", "r2c", "c2r")
}
"""By operator."""
