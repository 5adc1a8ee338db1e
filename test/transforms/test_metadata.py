"""Where operations come from survives every pass: the line of Python, and the FX node, operator and module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from samples import build, calls, function_of
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, NameLoc, StringAttr, UnknownLoc
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.traits import IsTerminator

import xdsl_exir
from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.signature import ORIGIN, Origin, OriginAttr
from xdsl_exir.dialects.spec import specs
from xdsl_exir.errors import ExirError
from xdsl_exir.locations import location_text
from xdsl_exir.program import Program

EDGE = "decompose-aten,aten-to-edge"
PARTITION = f'{EDGE},partition{{backend=native ops="aten.*"}}'
TIDY = "canonicalize,cse,dce"
PASSES = (
    TIDY,
    "decompose-aten",
    f"decompose-aten,{TIDY}",
    EDGE,
    f"{EDGE},{TIDY}",
    PARTITION,
    f"{PARTITION},inline-delegates",
    "unflatten",
    "unflatten,inline-modules",
)
LINALG = (f"{EDGE},edge-to-linalg", f"{EDGE},{TIDY},edge-to-linalg")


NUMBERS = frozenset({"aten.sym_size.int", "aten.sym_numel"})
"""Operators whose result, a number, linalg computes where it is used: in a sample, for the return, which has no origin."""


def operations(program: Program) -> Iterator[Operation]:
    """What should say where it comes from. Functions, calls and delegates are where others are; those say it."""
    for op in program.module.walk():
        if not isinstance(op, ModuleOp | FuncOp | ReturnOp | CallOp | DelegateOp) and not op.has_trait(
            IsTerminator
        ):
            yield op


def without_descent(program: Program, linalg: bool) -> list[str]:
    """The operations that do not; in linalg both are in the location."""
    return [
        str(op)
        for op in operations(program)
        if isinstance(op.location, UnknownLoc)
        or not (isinstance(op.location, NameLoc) if linalg else ORIGIN in op.attributes)
    ]


def sample(name: str) -> Program:
    """A call of an operator, with where it comes from."""
    op = build(name, next(iter(calls(specs()[name]))))
    function = function_of(op)
    for inner in function.walk():
        inner.location = FileLineColLoc(StringAttr("model.py"), IntAttr(3), IntAttr(0))
        if not isinstance(inner, FuncOp | ReturnOp):
            inner.attributes[ORIGIN] = OriginAttr(Origin("node", name, "layers.0"))
    return Program(ModuleOp([function]))


@pytest.mark.parametrize("pipeline", [*PASSES, LINALG[-1]])
def test_operators(pipeline: str) -> None:
    """Of every operator a call, where it takes the pass."""
    passes, taken = Program.passes(pipeline), 0
    lost: dict[str, list[str]] = {}
    for name in specs():
        try:
            program = sample(name).apply(*passes)
        except ExirError:  # not known to the lowering
            continue
        taken += 1
        if pipeline in LINALG and name in NUMBERS:
            continue
        if found := without_descent(program, pipeline in LINALG):
            lost[name] = found
    assert lost == {}
    assert taken > (300 if pipeline in LINALG else len(specs()) - 5)


@pytest.fixture(scope="module")
def model() -> Program:
    torch = pytest.importorskip("torch")
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    return xdsl_exir.from_exported_program(torch.export.export(encoder, (torch.randn(2, 3, 8),)))


@pytest.mark.parametrize("pipeline", ["", *PASSES, *LINALG])
def test_model(model: Program, pipeline: str) -> None:
    program = model.apply(*Program.passes(pipeline)) if pipeline else model
    assert without_descent(program, pipeline in LINALG) == []
    origins = {op.attributes[ORIGIN] for op in operations(program)} if pipeline not in LINALG else set()
    known = {op.attributes[ORIGIN] for op in operations(model)}
    assert origins <= known


def test_print_debuginfo(model: Program) -> None:
    """The user's lines, and in upstream dialects the names too, in MLIR's own syntax."""
    op = next(op for op in operations(model) if op.name == "aten.linear")
    file, _, line = location_text(op).rpartition(":")
    assert f'loc("{file}":{line}:0)' in model.text(locations=True)
    linalg = model.apply(*Program.passes(LINALG[0]))
    origin = op.attributes[ORIGIN]
    assert isinstance(origin, OriginAttr)
    named = f'loc("{origin.data.node} aten.linear {origin.data.module}"("{file}":{line}:0))'
    assert named in linalg.text(locations=True)
    assert named in linalg.text(generic=True, locations=True)
