"""Elements that rows may as well not have: those to which a mask adds minus infinity, of which a softmax makes nothing.

    exp(x - most), where most is the largest x of the row, and the sum of these: of an x of minus infinity there is 0

What operators make of such an element follows from their bodies; what numbers of a row say is not known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from xdsl.dialects import arith
from xdsl.dialects import math as math_dialect

from xdsl_exir.dialects import vectors
from xdsl_exir.targets.cpu.kernels.description import Body, Instruction
from xdsl_exir.targets.cpu.kernels.elements import CONSTANT, element_of
from xdsl_exir.targets.cpu.kernels.row_nodes import Load, Map, Node, Number, Reduce

Made = float | bool | None | Literal["unknown"]
"""What is made of such an element; None is some number of its row, which is no less known than for others."""

NOTHING = -math.inf
"""What a mask adds."""

NEUTRAL = {"add": 0.0, "max": NOTHING}
"""What leaves a row's reduction as it is."""


def masked(program: Sequence[Node], at: int) -> tuple[int, int] | None:
    """(node, input): where a mask is added to the rows that are input `at`, or these times a number, and which input the mask is, or says where it is 0;
    None if nothing is, or something else is done with them."""
    loads = {n: node.input for n, node in enumerate(program) if type(node) is Load}
    rows = {n for n, of in loads.items() if of == at}
    while True:
        users = [n for n, node in enumerate(program) if not rows.isdisjoint(node.operands)]
        if len(users) != 1 or not isinstance(node := program[users[0]], Map):
            return None
        others = [program[each] for each in node.operands if each not in rows]
        match operations(node), others:
            case [arith.MulfOp.name | arith.DivfOp.name], [other] if other.length == 1:
                rows = {users[0]}
            case [arith.AddfOp.name], [other]:
                mask = other if type(other) is Load else opened_by(program, other)
                return None if mask is None else (users[0], mask.input)
            case _:
                return None


def body_of(node: Map) -> Body | None:
    """What computes a node's elements, if that is known."""
    return element_of(node.element) if node.element else None


def operations(node: Map) -> list[str]:
    """The operations of a node's body."""
    body = body_of(node)
    return [] if body is None else [instruction.name for instruction in body.instructions]


def opened_by(program: Sequence[Node], node: Node) -> Load | None:
    """What says where a mask is 0, and not minus infinity."""
    if not isinstance(node, Map) or operations(node) != [vectors.SelectOp.name]:
        return None
    match [program[each] for each in node.operands]:
        case [Load() as opened, Number() as zero, Number() as nothing] if (zero.value, nothing.value) == (
            0,
            NOTHING,
        ):
            return opened
        case _:
            return None


def are_left_out(program: Sequence[Node], outputs: Sequence[int], sum: int, length: int) -> bool:
    """Whether rows of this length are the same without elements of which a node says minus infinity, and their first output has 0 there."""
    made: dict[int, Made] = {sum: NOTHING}
    for n, node in enumerate(program):
        if n == sum or (node.length == 1 and not isinstance(node, Reduce)):
            continue
        if isinstance(node, Reduce):
            [operand] = node.operands
            if program[operand].length != 1 and made.get(operand) != NEUTRAL.get(node.kind, math.nan):
                return False
        elif isinstance(node, Map) and node.length == length:
            body = body_of(node)
            given: list[Made] = [element(program[operand], made.get(operand)) for operand in node.operands]
            made[n] = made_of(body, given) if body else "unknown"
        elif not isinstance(node, Load):
            return False
    return made.get(outputs[0]) == 0 and all(program[n].length == 1 for n in outputs[1:])


def element(node: Node, made: Made) -> Made:
    """What a node is where there is such an element, of which this was made if it is a row."""
    if isinstance(node, Number):
        return node.value
    if node.length == 1:
        return None
    return "unknown" if made is None else made


def made_of(body: Body, given: Sequence[Made]) -> Made:
    """What a body makes of such elements, and of numbers."""
    values = list(given)
    for instruction in body.instructions:
        values.append(value_of(instruction, [values[n] for n in instruction.operands]))
    return values[-1]


def value_of(instruction: Instruction, given: Sequence[Made]) -> Made:
    """What an operation makes of these. Numbers of a row are taken to be finite: of others, nothing is made of any element."""
    match instruction.name, given:
        case str(name), [] if name == CONSTANT and isinstance(instruction.value, float | int):
            return instruction.value
        case ((arith.AddfOp.name | arith.SubfOp.name), [float(x), None]) if x == NOTHING:
            return NOTHING
        case math_dialect.ExpOp.name, [float(x)] if x == NOTHING:
            return 0.0
        case ((arith.MulfOp.name | arith.DivfOp.name), [float(x), None]) if x == 0:
            return 0.0
        case _:
            return "unknown"
