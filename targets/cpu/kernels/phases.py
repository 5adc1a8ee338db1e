"""Rows of an image, each apart by phases of a stride: columns 0, S, 2S, ...; 1, S + 1, ...; so that who takes every S-th pixel reads
consecutive elements. Padding on the left is part of a row."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, ceil_div

Place = tuple[SSAValue, Sequence[Index]]
"""A buffer, and where in it a row begins; of a row in phases, where each phase begins."""


def copy_row(
    b: KernelBuilder, source: Place, phases: Sequence[Place], size: int, left: int, lanes: int
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
                with b.loop(0, ceil_div(size - element, count)) as i:
                    buffer, at = shifted(b, source, b.add(b.mul(i, count), element))
                    value = b.load(buffer, at, 1)
                    buffer, at = shifted(b, phases[phase], b.add(i, offset))
                    b.store(value, buffer, at)


def _in_halves(
    b: KernelBuilder, source: Place, phases: Sequence[Place], size: int, left: int, lanes: int
) -> None:
    """A row's even and odd elements apart, two vectors at a time."""
    for offset, count, _ in b.pieces(size, 2 * lanes):
        halves: list[SSAValue] = []
        for half in range(2):
            present = min(max(count - half * lanes, 0), lanes)
            buffer, at = shifted(b, source, b.add(offset, half * lanes))
            mask = b.mask_below(lanes, present)
            zeros = b.constant(0.0, "f32", lanes)
            halves.append(b.load(buffer, at, lanes, mask) if present else zeros)
        for parity in range(2):
            present = min(lanes, ceil_div(count - parity, 2))
            value = b.shuffle(halves[0], halves[1], lanes, range(parity, 2 * lanes, 2))
            shift, phase = divmod(parity + left, 2)
            buffer, at = shifted(b, phases[phase], b.add(b.div(offset, 2), shift))
            if present:
                b.store(value, buffer, at, b.mask_below(lanes, present))


def shifted(b: KernelBuilder, place: Place, by: Index) -> Place:
    """A place so many elements further."""
    buffer, at = place
    return buffer, [*at[:-1], b.add(at[-1], by)]
