"""The stages of a program, and the passes that take it from edge to those below."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from xdsl_exir.dialects.backend import DispatchOp
from xdsl_exir.dialects.signature import ARENA_BYTES, EXPANDED, PLAN
from xdsl_exir.errors import ExirError
from xdsl_exir.program import Program, methods_of
from xdsl_exir.transforms import verify

STAGES = ("imported", "core", "edge")

LOWERED: dict[str, tuple[str, str]] = {
    "dispatches": ("edge", "form-dispatches"),
    "linalg": ("edge", "edge-to-linalg"),
    "named-linalg": ("edge", "edge-to-linalg{named=true}"),
    "buffers": ("edge", "to-destinations"),
    "planned": ("buffers", "plan-memory,verify-memory"),
    "kernels": ("planned", "expand-kernels,expand-math"),
}
"""For a stage below edge, the one before it, and the passes from there."""

EDGE = ("edge", "backend", "dispatches")
"""Those from which the passes that take an edge program go on."""

RUN = (*STAGES, "dispatches", "linalg", "buffers", "planned")
"""Those whose programs are run by the interpreter as they stand."""


def has_drivers(module: ModuleOp) -> bool:
    """Whether the methods of a module are drivers over memrefs."""
    return any(PLAN in method.attributes for method in methods_of(module).values())


def stage_of(module: ModuleOp) -> str:
    """The last stage that a module has reached; `aten` for those before edge."""
    if not has_drivers(module):
        has_dispatches = any(isinstance(op, DispatchOp) for op in module.walk())
        return "dispatches" if has_dispatches else verify.stage_of(module)
    if not all(ARENA_BYTES in method.attributes for method in methods_of(module).values()):
        return "buffers"
    return "kernels" if any(EXPANDED in op.attributes for op in module.ops) else "planned"


def to_stage(program: Program, stage: str) -> Program:
    """The program at a stage. Raises `ExirError` for a stage that there is not, or that the program does not come to from where it is."""
    stages = (*STAGES, *LOWERED)
    if stage not in stages:
        raise ExirError(f"no stage '{stage}'; there is {', '.join(stages)}")
    now = stage_of(program.module)
    if stage == "imported" or stage == now:
        return program
    if now == "backend" and stage not in LOWERED:
        program, now = program.transform("decompose-backend"), "edge"
        if stage == now:
            return program
    if now not in LOWERED and stage not in LOWERED:
        return program.to_core() if stage == "core" else program.to_edge()
    for passes in reversed(road(now, stage)):
        program = program.to_edge() if passes == "edge" else program.transform(passes)
    return program


def road(now: str, stage: str) -> Sequence[str]:
    """The passes from one stage to another, the last ones first. Raises `ExirError` where there is no way."""
    found: list[str] = []
    at = stage
    while at != now:
        if at == "edge" and now in EDGE:
            return found
        if at == "edge" and now == "aten":
            return [*found, "edge"]
        if at not in LOWERED:
            raise ExirError(f"a program lowered to {now} is not taken to {stage}: take it there from edge")
        at, passes = LOWERED[at]
        found.append(passes)
    return found
