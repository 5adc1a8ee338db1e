"""Passes that make a program one of kernels, for the processor that this runs on."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl_exir.lowering import expand_kernels, form_dispatches, to_destinations
from xdsl_exir.targets.cpu.machine import processor
from xdsl_exir.targets.cpu.target import Cpu


class Here:
    """Of a pass: its target is this processor."""

    @property
    def target(self) -> Cpu:
        return Cpu(processor().machine())


@dataclass(frozen=True)
class FormDispatches(Here, form_dispatches.FormDispatches):
    """`form-dispatches` for this processor."""


@dataclass(frozen=True)
class ToDestinations(Here, to_destinations.ToDestinations):
    """`to-destinations` for this processor."""


@dataclass(frozen=True)
class ExpandKernels(Here, expand_kernels.ExpandKernels):
    """`expand-kernels` for processors: what a kernel is for is in its description."""
