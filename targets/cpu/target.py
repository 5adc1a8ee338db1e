"""The CPU as a target of lowering: which operators of a program have kernels, alone (`dispatches`) or row by row with others (`rows`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation

from xdsl_exir.dialects.meta import as_meta
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.lowering.dispatches.buffers import Value
from xdsl_exir.lowering.draws import draw, is_call
from xdsl_exir.lowering.kernel import Kernel
from xdsl_exir.lowering.target import CodeTarget, Solved
from xdsl_exir.program import REWRITING
from xdsl_exir.targets.cpu.chains import Links, dispatch_links, links_from
from xdsl_exir.targets.cpu.convolutions import CONVOLUTION_SCHEDULES
from xdsl_exir.targets.cpu.copies import copy_of
from xdsl_exir.targets.cpu.dispatches import SCHEDULES
from xdsl_exir.targets.cpu.fourier import FOURIER_SCHEDULES
from xdsl_exir.targets.cpu.joins import JOIN_SCHEDULES
from xdsl_exir.targets.cpu.kernel_forms import KernelForms
from xdsl_exir.targets.cpu.kernels.attributes import as_attribute, kernel_of
from xdsl_exir.targets.cpu.machine import Processor
from xdsl_exir.targets.cpu.orders import ORDER_SCHEDULES
from xdsl_exir.targets.cpu.rows import RowGroup, space_of
from xdsl_exir.targets.cpu.selections import SELECT_SCHEDULES
from xdsl_exir.targets.cpu.tuning import Choices, learned, with_choice
from xdsl_exir.targets.cpu.vectorize import RowProgram, row_program
from xdsl_exir.threads import cached_property

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner


ALL_SCHEDULES = (
    SCHEDULES
    | CONVOLUTION_SCHEDULES
    | FOURIER_SCHEDULES
    | JOIN_SCHEDULES
    | ORDER_SCHEDULES
    | SELECT_SCHEDULES
)
"""By operator."""


class Cpu(CodeTarget):
    """A processor: what lowering asks of a target, for this machine."""

    def __init__(self, cpu: Processor, draws: str | None = None):
        """`draws` is the prefix of the names of functions that draw random numbers, if there are any (`lowering.draws`)."""
        self.cpu, self.machine = cpu, cpu.machine()
        self.draws = draws
        self.row_programs: dict[str, RowProgram | None] = {}
        """By operator, arguments and types."""
        self.links: dict[OperatorOp, Links] = {}
        """Chains that were found, by the operators where they become dispatches."""

    @property
    def forms(self) -> KernelForms:
        return KernelForms()

    def takes(self, op: Operation) -> bool:
        return self.draws is not None and is_call(op)

    def dispatch(self, planner: Planner, op: OperatorOp) -> bool:
        if self.draws is not None and is_call(op):
            draw(planner, op, self.draws)
            return True
        if op in self.links:
            dispatch_links(planner, self.links.pop(op))
            return True
        if (links := links_from(self, planner, op)) is not None:
            self.links[links.second] = links
            planner.absorbed.update((op, *links.rows.ops))
            return True
        kernel, schedule = ALL_SCHEDULES.get(op.SPEC.qualified_name, (None, None))
        return (
            schedule is not None
            and planner.boundaries.takes(op, kernel)
            and schedule(planner, op, self.machine)
        )

    def group(self, planner: Planner, op: OperatorOp) -> RowGroup | None:
        space = space_of(self, planner, op)
        return None if space is None else RowGroup(self, planner, space.leading)

    def tuned(self, kernel: Solved) -> Solved:
        return with_choice(kernel, self.learned)

    @cached_property
    def learned(self) -> Choices:
        """What was measured of its kernels: read when the first of them is asked for."""
        return learned(self.cpu)

    def copy(self, source: Value, target: Value) -> tuple[Kernel, Sequence[Value]] | None:
        return copy_of(source, target, self.machine)

    def described(self, kernel: Kernel) -> Attribute:
        return as_attribute(kernel)

    def kernel(self, described: Attribute) -> Kernel:
        return kernel_of(described)

    def row_program(self, op: OperatorOp) -> RowProgram | None:
        """What an operator does row by row; None if it does not work so."""
        arguments = op.arguments(lambda value: as_meta(value.type))
        operands = list(op.operands)
        same = [operands.index(operand) for operand in operands]  # a program says them by position
        key = repr((op.SPEC.qualified_name, arguments, same, [as_meta(result.type) for result in op.results]))
        if key not in self.row_programs:
            with REWRITING:
                self.row_programs[key] = row_program(op)
        return self.row_programs[key]
