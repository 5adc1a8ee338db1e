"""`xdsl-exir memory`: what a program keeps in memory while it runs natively, where, and from when until when.

xdsl-exir memory model.pt2                        # a line for each buffer, and how full the arena is
xdsl-exir memory model.pt2 --svg memory.svg       # time goes to the right, addresses upwards; the fullest moment is marked

Sizes that are symbolic are shown for typical values of the symbols (`exir.typical`).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import NameLoc
from xdsl.dialects.func import FuncOp

from xdsl_exir.locations import location_text
from xdsl_exir.lowering.plan_memory import arena_bytes_of, buffers_of, offset_of
from xdsl_exir.program import load
from xdsl_exir.tools.common import step


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "memory",
        help="show what a program keeps in memory while it runs natively",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("program", help="a .pt2 archive, or MLIR text (.mlir)")
    parser.add_argument("--cpu", help="the processor (default: this one)")
    parser.add_argument("--svg", type=Path, help="draw it into this file")
    parser.set_defaults(function=run)


@dataclass(frozen=True)
class Row:
    """A buffer: bytes, where they begin, and the first and the last operation of the driver that need them."""

    source: str
    line: str
    start: int
    nbytes: int
    first: int
    last: int


def rows_of(driver: FuncOp) -> list[Row]:
    """The buffers of a driver with planned memory, in order."""
    rows: list[Row] = []
    for op, buffer in buffers_of(driver).items():
        source = op.location.desc.data if isinstance(op.location, NameLoc) else ""
        start = offset_of(op)
        rows.append(Row(source, location_text(op), start, buffer.typical, buffer.first, buffer.last))
    return [until_replaced(row, rows) for row in rows]


def until_replaced(row: Row, rows: Sequence[Row]) -> Row:
    """A buffer in whose place another one lies from where a kernel reads it for the last time: until then."""
    later = (
        other.first
        for other in rows
        if (other.start, other.nbytes) == (row.start, row.nbytes) and row.first < other.first <= row.last
    )
    return replace(row, last=min(later, default=row.last + 1) - 1)


def live_bytes(rows: Sequence[Row]) -> Mapping[int, int]:
    """Bytes that are needed, by operation."""
    moments = range(1, max((row.last for row in rows), default=0) + 1)
    return {now: sum(row.nbytes for row in rows if row.first <= now <= row.last) for now in moments}


def table(name: str, driver: FuncOp) -> str:
    """A method's buffers as text."""
    rows, total = rows_of(driver), arena_bytes_of(driver)
    peak = max(live_bytes(rows).values(), default=0)
    lines = [f"{name}: arena of {total} bytes, {peak} of them needed at once, {len(rows)} buffers"]
    if rows:
        lines.append(f"{'offset':>12} {'bytes':>12} {'from':>6} {'until':>6}  source")
    lines += [
        f"{row.start:>12} {row.nbytes:>12} {row.first:>6} {row.last:>6}  {row.source} {row.line}".rstrip()
        for row in rows
    ]
    return "\n".join(lines)


WIDTH, HEIGHT, MARGIN = 1200, 600, 40
"""Of a drawing, in pixels."""


def svg(methods: Mapping[str, FuncOp]) -> str:
    """The methods' memory as drawings, one below the other."""
    drawings = [drawing(name, rows_of(driver), index) for index, (name, driver) in enumerate(methods.items())]
    height = len(drawings) * (HEIGHT + 2 * MARGIN)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + 2 * MARGIN}" height="{height}" '
        f'font-family="sans-serif" font-size="11">\n' + "\n".join(drawings) + "\n</svg>\n"
    )


def drawing(name: str, rows: Sequence[Row], index: int) -> str:
    """A box for each buffer, time to the right and addresses upwards; the fullest moment marked."""
    live = live_bytes(rows)
    across = WIDTH / max([*live, 1])
    up = HEIGHT / max([row.start + row.nbytes for row in rows] or [1])
    fullest = max(live, key=lambda now: live[now], default=0)
    lines = [
        f'<g transform="translate({MARGIN},{index * (HEIGHT + 2 * MARGIN) + MARGIN})">',
        f'<text y="-12" font-size="14">{escape(name)}: {live.get(fullest, 0)} bytes at once</text>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#f6f6f6"/>',
    ]
    for number, row in enumerate(rows):
        x, width = (row.first - 1) * across, (row.last - row.first + 1) * across
        height = row.nbytes * up
        y = HEIGHT - row.start * up - height
        box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        label = escape(f"{row.source} {row.line}".strip() or f"buffer {number}")
        said = f"{label}: {row.nbytes} bytes at {row.start}, {row.first} to {row.last}"
        lines.append(
            f'<rect {box} fill="hsl({number * 47 % 360},60%,75%)" stroke="#555"><title>{said}</title></rect>'
        )
        if width > 60 and height > 12:
            fits = escape((row.source or f"buffer {number}")[: int(width / 6)])
            lines.append(f'<text x="{x + 3:.1f}" y="{y + 11:.1f}">{fits}</text>')
    if live:
        x = (fullest - 0.5) * across
        lines.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{HEIGHT}" stroke="#c00" stroke-dasharray="4 3"/>'
        )
    return "\n".join([*lines, "</g>"])


def run(args: argparse.Namespace) -> int:
    """Prints and draws."""
    from xdsl_exir.runtime.native import plan_program
    from xdsl_exir.targets.cpu.machine import processor

    with step(f"planning {args.program}"):
        planned = plan_program(load(args.program), processor(args.cpu))
    methods = {name: plan.driver for name, plan in planned.plans.items()}
    print("\n\n".join(table(name, driver) for name, driver in methods.items()))
    if args.svg is not None:
        args.svg.write_text(svg(methods), encoding="utf-8")
    return 0
