"""Rows of an image, each apart by phases of a stride: columns 0, S, 2S, ...; 1, S + 1, ...; so that who takes every S-th pixel reads
consecutive elements. Padding on the left is part of a row."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, ceildiv
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder

Place = tuple[SSAValue, Sequence[Index]]
"""A buffer, and where in it a row begins; of a row in phases, where each phase begins."""


def copy_row(
    b: KernelBuilder, source: Place, phases: Sequence[Place], size: Dim, left: int, lanes: int
) -> None:
    """A row of `size` pixels to its phases, behind `left` pixels of padding, which are not written."""
    match len(phases):
        case 1:
            b.copy(source, shifted(b, phases[0], left), size, lanes)
        case 2:
            _in_halves(b, source, phases, size, left, lanes)
        case count:
            for element in range(count):
                offset, phase = divmod(element + left, count)
                with b.loop(0, ceildiv(size - element, count)) as i:
                    buffer, at = shifted(b, source, b.add(b.mul(i, count), element))
                    value = b.load(buffer, at, 1)
                    buffer, at = shifted(b, phases[phase], b.add(i, offset))
                    b.store(value, buffer, at)


def _in_halves(
    b: KernelBuilder, source: Place, phases: Sequence[Place], size: Dim, left: int, lanes: int
) -> None:
    """A row's even and odd elements apart, two vectors at a time."""
    for offset, most, some in b.pieces(size, 2 * lanes):
        # How many there are the last piece of an unknown size has to find out.
        count = most if some is None else b.sub(size, offset)
        halves: list[SSAValue] = []
        for half in range(2):
            buffer, at = shifted(b, source, b.add(offset, half * lanes))
            present = b.sub(count, half * lanes)
            is_there = not isinstance(present, int) or present > 0
            zeros = b.constant(0.0, "f32", lanes)
            halves.append(b.load(buffer, at, lanes, b.mask_below(lanes, present)) if is_there else zeros)
        for parity in range(2):
            present = b.div(b.add(count, 1 - parity), 2)
            value = b.shuffle(halves[0], halves[1], lanes, range(parity, 2 * lanes, 2))
            shift, phase = divmod(parity + left, 2)
            buffer, at = shifted(b, phases[phase], b.add(b.div(offset, 2), shift))
            if present != 0:
                b.store(value, buffer, at, b.mask_below(lanes, present))


def shifted(b: KernelBuilder, place: Place, by: Index) -> Place:
    """A place so many elements further."""
    buffer, at = place
    return buffer, [*at[:-1], b.add(at[-1], by)]
