"""Passes that make a program one of kernels, for the processor that this runs on."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from xdsl_exir.lowering import expand_kernels, form_dispatches, plan_memory, to_destinations, verify_memory
from xdsl_exir.lowering.kernel import Kernels
from xdsl_exir.targets.cpu.machine import processor
from xdsl_exir.targets.cpu.target import Cpu


class Here:
    """Of a pass: its target is this processor."""

    @property
    def target(self) -> Cpu:
        return Cpu(processor())

    def kernels(self, module: ModuleOp) -> Kernels:
        """The kernels that a module's functions describe."""
        return expand_kernels.kernels_in(module, self.target)


@dataclass(frozen=True)
class FormDispatches(Here, form_dispatches.FormDispatches):
    """`form-dispatches` for this processor."""


@dataclass(frozen=True)
class ToDestinations(Here, to_destinations.ToDestinations):
    """`to-destinations` for this processor."""


@dataclass(frozen=True)
class ExpandKernels(Here, expand_kernels.ExpandKernels):
    """`expand-kernels` for processors: what a kernel is for is in its description."""


@dataclass(frozen=True)
class PlanMemory(Here, plan_memory.PlanMemory):
    """`plan-memory` of drivers that call kernels of processors."""


@dataclass(frozen=True)
class VerifyMemory(Here, verify_memory.VerifyMemory):
    """`verify-memory` of the same."""
