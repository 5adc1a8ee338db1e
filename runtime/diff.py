"""Where two forms of one program begin to give other numbers: both run in the interpreter, their values compared.

    diff(program, program.to_edge(), inputs)                    # None, or the first operation that differs
    verify_numerics(program, "decompose-aten,aten-to-edge", inputs)

Values are aligned by ancestry: every operation says from which node of the exported graph it comes (`exir.origin`), and
what the last one of a node gives is that node's value, whatever the node became. Nodes that a form does not have any
more, or whose value has another type in it, are passed over.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from xdsl_exir.dialects.signature import ORIGIN, Origin, OriginAttr
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.generator import Generator
from xdsl_exir.interpreter.interpreter import RNG, OperatorFunctions
from xdsl_exir.locations import location_text
from xdsl_exir.program import Program
from xdsl_exir.runtime.executable import Executable, interpreting

BOTH = ("the first program", "the second program")
BEFORE_AND_AFTER = ("the program before", "the program after")
"""What the two forms are called where all nodes agree and the programs' results do not."""


@dataclass(frozen=True)
class Difference:
    """The first value in which two forms of a program differ."""

    node: str
    """The node of the exported graph, its operator, and the module that called it; the number of a result where all nodes agree."""
    operations: tuple[str, str]
    """What gives it in either form: an operation, or the program."""
    location: str
    """The line of Python that it comes from."""
    largest: float
    """The largest absolute difference; infinite where one is NaN and the other is not."""
    index: tuple[int, ...]
    """Where in the tensor."""
    values: tuple[Any, Any]
    """What is there in either form."""

    def __str__(self) -> str:
        at = f" ({self.location})" if self.location else ""
        left, right = self.operations
        return (
            f"{self.node}{at}: {left} gives {self.values[0]!s}, {right} gives {self.values[1]!s} "
            f"at {list(self.index)}; largest difference {self.largest:.3g}"
        )


@dataclass(frozen=True)
class Traced:
    """What the last operation of a node gave."""

    operation: Operation
    values: PythonValues


class Trace(Interpreter.Listener):
    """Keeps the value of every node of the exported graph while a program runs."""

    def __init__(self) -> None:
        self.nodes: dict[Origin, Traced] = {}

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        """Nothing is known yet."""

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        """Takes what an operation gave for its node's value, until a later one of that node."""
        origin = op.attributes.get(ORIGIN)
        if isinstance(origin, OriginAttr) and results:
            self.nodes.pop(origin.data, None)
            self.nodes[origin.data] = Traced(op, results)


def traced(program: Program, inputs: Sequence[Any]) -> tuple[dict[Origin, Traced], list[Any]]:
    """The values of a program's nodes in order, and its results, for the first method's flat inputs."""
    trace, engine = Trace(), interpreting(program)
    engine.interpreter.listeners = (trace,)
    # Both forms are to draw the same random numbers.
    engine.interpreter.set_data(OperatorFunctions, RNG, Generator(0))
    # A program may write to its inputs; the other form is to have them as they were.
    results = Executable(program, engine).method().run(copy.deepcopy(list(inputs)))
    return trace.nodes, results


def largest_difference(a: Any, b: Any, rtol: float, atol: float) -> tuple[float, tuple[int, ...]] | None:
    """The largest difference of two arrays and where it is; None where they agree within `atol + rtol * abs(b)`."""
    wide = np.complex128 if np.asarray(a).dtype.kind == "c" else np.float64
    a, b = np.asarray(a).astype(wide), np.asarray(b).astype(wide)
    with np.errstate(invalid="ignore"):
        difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b))
    difference = np.where(np.isnan(difference), np.inf, difference)
    allowed = atol + rtol * np.where(np.isfinite(b), np.abs(b), 0)
    if not (difference > allowed).any():
        return None
    index = tuple(int(i) for i in np.unravel_index(difference.argmax(), difference.shape))
    return float(difference.max()), index


def comparable(a: Any, b: Any) -> bool:
    """Whether two values are numbers, of one dtype and shape."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.dtype.kind in "biufcV"


def diff(
    a: Program,
    b: Program,
    inputs: Sequence[Any],
    rtol: float = 1e-4,
    atol: float = 1e-4,
    called: tuple[str, str] = BOTH,
) -> Difference | None:
    """The first node, in the order in which `a` computes them, whose value differs in `b`; None where all agree.

    `inputs` are flat user inputs of the first method, `called` is what messages call the two. Raises `InputError` for inputs that do
    not fit, `ExirError` where the results are not of the same number and types.
    """
    (left, results), (right, others) = traced(a, inputs), traced(b, inputs)
    for origin, ours in left.items():
        theirs = right.get(origin)
        if theirs is None or len(ours.values) != len(theirs.values):
            continue
        for value, other in zip(ours.values, theirs.values, strict=True):
            found = largest_difference(value, other, rtol, atol) if comparable(value, other) else None
            if found is not None:
                of = f" in {origin.module}" if origin.module else ""
                node, names = (
                    f"{origin.node}, {origin.operator}{of}",
                    (ours.operation.name, theirs.operation.name),
                )
                return difference_of(node, names, location_text(ours.operation), (value, other), found)
    if len(results) != len(others) or not all(map(comparable, results, others)):
        raise ExirError("the two programs' results are not of the same number and types")
    for number, (value, other) in enumerate(zip(results, others, strict=True)):
        found = largest_difference(value, other, rtol, atol)
        if found is not None:
            return difference_of(f"result {number}", called, "", (value, other), found)
    return None


def difference_of(
    node: str,
    names: tuple[str, str],
    location: str,
    values: tuple[Any, Any],
    found: tuple[float, tuple[int, ...]],
) -> Difference:
    """The description of a difference that was found."""
    largest, index = found
    value, other = (np.asarray(one)[index] for one in values)
    return Difference(node, names, location, largest, index, (value, other))


def verify_numerics(
    program: Program,
    passes: Sequence[ModulePass],
    inputs: Sequence[Any],
    rtol: float = 1e-4,
    atol: float = 1e-4,
    report: Callable[[str], None] = lambda _: None,
) -> Program:
    """The program after the passes, verified; after each it is run, and what it computes compared with before.

    `report` is told of each pass that changed nothing. Raises `ExirError` that names the first pass which does, and
    the first operation that differs.
    """
    for transform in passes:
        after = program.apply(transform).verify()
        found = diff(program, after, inputs, rtol, atol, BEFORE_AND_AFTER)
        if found is not None:
            raise ExirError(f"{transform.name} changes what the program computes: {found}")
        report(transform.name)
        program = after
    return program
