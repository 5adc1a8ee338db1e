"""Tails of row programs: what happens last to each row and may as well happen to its product with a matrix, as it commutes with sums.

    exp(x - most) / total @ v            is            (exp(x - most) @ v) / total

Which operations these are follows from their bodies: elements times numbers of the row, or 0 where a number says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import arith

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.targets.cpu.kernels.description import Body, Input
from xdsl_exir.targets.cpu.kernels.elements import CONSTANT, element_of
from xdsl_exir.targets.cpu.kernels.row_nodes import Load, Map, Node, Number, needed
from xdsl_exir.targets.cpu.kernels.rows import Rows

LINEAR, ZERO, NUMBER = "linear", "zero", "number"
KEPT = ("f32", "i1")
"""Dtypes of numbers that are kept for a tail."""


def is_linear(body: Body, kinds: Sequence[str]) -> bool:
    """Whether a body multiplies its one argument that is LINEAR, a row's element, by what its others say, which are a NUMBER or ZERO."""
    kinds = list(kinds)
    for instruction in body.instructions:
        match instruction.name, [kinds[n] for n in instruction.operands]:
            case str(name), [] if name == CONSTANT:
                kinds.append(ZERO if instruction.value == 0 else NUMBER)
            case _, given if LINEAR not in given:
                kinds.append(NUMBER)
            case ((arith.MulfOp.name | arith.DivfOp.name), [str(one), str(other)]) if one == LINEAR != other:
                kinds.append(LINEAR)
            case arith.MulfOp.name, [str(one), str(other)] if one != LINEAR == other:
                kinds.append(LINEAR)
            case vectors.SelectOp.name, [str(condition), *taken] if (
                condition != LINEAR and NUMBER not in taken
            ):
                kinds.append(LINEAR)
            case _:
                return False
    return bool(body.instructions) and kinds[-1] == LINEAR


def tail_at(program: Sequence[Node], n: int) -> int | None:
    """The row that a node multiplies by what numbers say; None if it does anything else."""
    node = program[n]
    if not isinstance(node, Map) or node.length == 1 or node.element is None:
        return None
    long = [at for at, operand in enumerate(node.operands) if program[operand].length != 1]
    numbers = [program[operand] for operand in node.operands if program[operand].length == 1]
    body = element_of(node.element)
    if body is None or len(long) != 1 or any(number.dtype not in KEPT for number in numbers):
        return None
    row = node.operands[long[0]]
    kinds = [LINEAR if operand == row else kind_of(program[operand]) for operand in node.operands]
    return row if program[row].dtype == node.dtype == "f32" and is_linear(body, kinds) else None


def kind_of(number: Node) -> str:
    """What a number is in a tail."""
    return ZERO if isinstance(number, Number) and number.value == 0 else NUMBER


def without_tail(rows: Rows, width: Dim) -> tuple[Rows, Rows | None]:
    """Rows of one result without what they end with, whose further results are the numbers that this takes; and what they end with, of
    rows of another length and these numbers."""
    program, [n] = rows.program, rows.outputs
    tail: list[int] = []
    while (row := tail_at(program, n)) is not None and isinstance(program[row], Map):
        tail, n = [n, *tail], row
    if not tail:
        return rows, None
    operands = dict.fromkeys(number for at in tail for number in program[at].operands)
    kept = [at for at in operands if program[at].length == 1 and not isinstance(program[at], Number)]
    left, outputs = needed(program, [n, *kept])
    return replace(rows, program=left, outputs=outputs), _tail(rows, tail, n, kept, width)


def _tail(rows: Rows, tail: Sequence[int], row: int, kept: Sequence[int], width: Dim) -> Rows:
    """What rows end with, as rows of another length: from their product and numbers that are kept."""
    inputs = [numbers_of(rows.leading, rows.program[row], width)]
    inputs += [numbers_of(rows.leading, rows.program[number], 1) for number in kept]
    nodes: list[Node] = [Load(width, (), "f32", 0)]
    nodes += [Load(1, (), rows.program[number].dtype, 1 + at) for at, number in enumerate(kept)]
    places = dict(zip((row, *kept), range(len(nodes)), strict=True))

    def place(n: int) -> int:
        if n not in places:
            places[n] = len(nodes)
            nodes.append(rows.program[n])
        return places[n]

    for n in tail:
        made = replace(rows.program[n], length=width, operands=tuple(map(place, rows.program[n].operands)))
        places[n] = len(nodes)
        nodes.append(made)
    return Rows(rows.leading, tuple(inputs), tuple(nodes), (len(nodes) - 1,), rows.machine)


def numbers_of(leading: Sizes, node: Node, length: Dim) -> Input:
    """What a node is in memory, for rows of a length."""
    return Input((*leading, length), node.stored)
