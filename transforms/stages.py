"""The stages of a program, and the passes that take it from edge to those below."""

from __future__ import annotations

from xdsl_exir.errors import ExirError
from xdsl_exir.program import Program
from xdsl_exir.transforms.verify import stage_of

STAGES = ("imported", "core", "edge")

RUN = (*STAGES, "linalg")
"""Those whose programs are run: by the interpreter as they stand."""

LOWERED = {
    "linalg": "edge-to-linalg",
    "buffers": "to-destinations",
    "planned": "to-destinations,plan-memory,verify-memory",
    "kernels": "to-destinations,plan-memory,verify-memory,expand-kernels,expand-math",
}
"""Passes that take a program from edge to the stages below."""


def to_stage(program: Program, stage: str) -> Program:
    """The program at a stage. Raises `ExirError` for a stage that there is not, or that lies before the program's."""
    if stage not in (*STAGES, *LOWERED):
        raise ExirError(f"no stage '{stage}'; there is {', '.join((*STAGES, *LOWERED))}")
    if stage == "imported":
        return program
    now = stage_of(program.module)
    if now == "linalg":
        if stage == now:
            return program
        raise ExirError(f"a program lowered to linalg is not taken to {stage}: take it there from edge")
    if stage == "core":
        return program.to_core()
    edge = program if now == "edge" else program.to_edge()
    return edge.transform(LOWERED[stage]) if stage in LOWERED else edge
