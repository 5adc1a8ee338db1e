"""Delegates: what is put into them, that nothing waits for itself, and that results do not change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.dialects import edge
from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.dtypes import Float
from xdsl_exir.dialects.tensors import tensor_type
from xdsl_exir.errors import ExirError, SpecError, Unsupported, UnsupportedError
from xdsl_exir.program import Program, context
from xdsl_exir.transforms.partition import group, layers
from xdsl_exir.transforms.verify import stage_of

DIGITS = Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2"


def text_program(text: str) -> Program:
    return Program(Parser(context().clone(), text).parse_module())


def delegates(program: Program) -> list[DelegateOp]:
    return [op for op in program.module.walk() if isinstance(op, DelegateOp)]


def names(op: DelegateOp) -> list[str]:
    return [inner.name.removeprefix("edge.") for inner in op.body.block.ops][:-1]


# --- grouping ------------------------------------------------------------------------------------------------

Graph = list[tuple[bool, int, int]]
"""Operations as (chosen, first operand, second operand); operands count back from the operation."""


def build(graph: Graph) -> tuple[FuncOp, set[Operation]]:
    """A function of binary additions (chosen) and subtractions that returns every value nobody uses."""
    type = tensor_type((2,), Float)
    block = Block(arg_types=[type, type])
    values: list[SSAValue] = list(block.args)
    chosen: set[Operation] = set()
    for is_chosen, first, second in graph:
        operands = [values[-1 - back % len(values)] for back in (first, second)]
        op = edge.OPERATORS["aten.add.Tensor" if is_chosen else "aten.sub.Tensor"](*operands)
        block.add_op(op)
        values.append(op.results[0])
        if is_chosen:
            chosen.add(op)
    results = [value for value in values if not value.uses]
    block.add_op(ReturnOp(*results))
    return FuncOp("f", ([type, type], [type] * len(results)), Region(block)), chosen


def longest_alternation(block: Block, chosen: set[Operation]) -> int:
    """Most runs of chosen operations on any path: what no grouping can have fewer groups than."""
    runs: dict[SSAValue, tuple[int, bool]] = dict.fromkeys(block.args, (0, False))
    most = 0
    for op in list(block.ops)[:-1]:
        mine = op in chosen
        count = max((runs[v][0] + (mine and not runs[v][1]) for v in op.operands), default=0)
        most = max(most, count)
        runs[op.results[0]] = (count, mine)
    return most


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=16))
def test_groups_are_convex_as_few_as_can_be_and_change_no_result(graph: Graph) -> None:
    function, chosen = build(graph)
    program = Program(ModuleOp([function]))
    inputs = [np.array([1.0, 2.0], np.float32), np.array([-3.0, 0.5], np.float32)]
    expected = xdsl_exir.compile(program).flat(inputs)
    fewest = longest_alternation(function.body.block, chosen)
    made = group(function.body.block, chosen, "native")
    # A value is used after it is made: the groups are convex and none waits for itself.
    program.verify()
    assert len(made) == fewest
    assert {op for delegate in made for op in delegate.body.block.ops if op is not delegate.yielded} == chosen
    run = xdsl_exir.compile(program, delegates="region")
    for got, wanted in zip(run.flat(inputs), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
    inlined = program.transform("inline-delegates")
    assert not delegates(inlined)
    for got, wanted in zip(xdsl_exir.compile(inlined).flat(inputs), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_layers_keep_effects_in_order() -> None:
    program = text_program("""
    func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %0 = edge.aten.relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
      %1 = edge.aten.rand_like(%0) : (tensor<2xf32>) -> tensor<2xf32>
      %2 = edge.aten.rand_like(%x) : (tensor<2xf32>) -> tensor<2xf32>
      func.return %1, %2 : tensor<2xf32>, tensor<2xf32>
    }""")
    block = program.method().body.block
    relu, first, second, _ = block.ops
    assert layers(block, {relu}) == {relu: 1, first: 1, second: 1, block.last_op: 1}


# --- the pass ------------------------------------------------------------------------------------------------


def test_patterns_name_operators() -> None:
    program = xdsl_exir.load(DIGITS).to_edge()
    parts = program.transform('partition{backend=vendor ops="aten.*"}')
    [delegate] = delegates(parts)
    assert delegate.backend.data == "vendor"
    assert stage_of(parts.module) == "edge"
    few = program.transform('partition{backend=vendor ops="aten.addmm","aten.relu"}')
    assert {name for delegate in delegates(few) for name in names(delegate)} <= {"aten.addmm", "aten.relu"}
    # What is in a delegate stays there.
    assert str(few.transform('partition{backend=other ops="aten.addmm"}')) == str(few)


def test_refusals() -> None:
    program = xdsl_exir.load(DIGITS)
    with pytest.raises(SpecError, match=r"no operator matches 'aten\.nonesuch'"):
        program.transform('partition{backend=native ops="aten.nonesuch"}')
    with pytest.raises(UnsupportedError, match="not an edge operation"):
        program.transform('partition{backend=native ops="aten.*"}')
    with pytest.raises(ExirError, match="requires argument"):
        program.transform("partition{backend=native}")


@pytest.mark.parametrize("ops", ['"aten.*"', '"aten.addmm","aten.mm"', '"aten.relu","aten.convolution"'])
@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_model_in_delegates_gives_the_same(ops: str, target: str) -> None:
    program = xdsl_exir.load(DIGITS).to_edge()
    parts = program.transform(f"partition{{backend=native ops={ops}}}")
    assert delegates(parts)
    again = text_program(parts.text(generic=True))
    assert again.module.is_structurally_equivalent(parts.module)
    whole = xdsl_exir.compile(program).method()
    inputs = [np.random.default_rng(0).integers(0, 16, (360, 8, 8), np.uint8)]
    run = xdsl_exir.compile(parts, target, delegates="region")
    for got, wanted in zip(run.flat(inputs), whole.flat(inputs), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


# --- backends' own runtimes ----------------------------------------------------------------------------------

TWO_BACKENDS = """
func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %two = exir.constant 2.0 : tensor<f32>
  %0 = edge.aten.mul.Tensor(%x, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = edge.aten.relu(%0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
"""


def test_registered_backends_run_their_delegates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets its delegates once, as programs; those of a backend that nobody registered are an error that names it."""
    monkeypatch.setattr("xdsl_exir.interpreter.backend.BACKENDS", {})
    pipeline = 'partition{backend=own ops="aten.mul.Tensor"},partition{backend=other ops="aten.relu"}'
    program = text_program(TWO_BACKENDS).transform(pipeline)
    x = np.array([1, -1], np.float32)
    expected = xdsl_exir.compile(program, delegates="region").flat([x])
    with pytest.raises(
        UnsupportedError, match=r"delegate of backend own: it is not registered.*backend other"
    ):
        xdsl_exir.compile(program)
    given: list[Program] = []

    def interpreter(part: Program) -> Callable[..., Sequence[object]]:
        given.append(part.verify())
        run = xdsl_exir.compile(part)
        return lambda *inputs: run.flat(inputs)

    xdsl_exir.register_backend("own", interpreter)
    with pytest.raises(
        UnsupportedError, match="unsupported: delegate of backend other: it is not registered"
    ):
        xdsl_exir.compile(program)
    xdsl_exir.register_backend("other", lambda part: lambda *inputs: xdsl_exir.compile(part).flat(inputs))
    run = xdsl_exir.compile(program)
    for _ in range(2):
        for one, other in zip(run.flat([x]), expected, strict=True):
            np.testing.assert_array_equal(one, other)
    [part] = given
    assert [op.name for op in part.method().body.block.ops] == [
        "exir.constant",
        "edge.aten.mul.Tensor",
        "func.return",
    ]
    xdsl_exir.register_backend("own", lambda part: lambda *inputs: [])
    with pytest.raises(ExirError, match='backend "own" gives 0 results for 1'):
        xdsl_exir.compile(program).flat([x])

    def refuses(part: Program) -> Callable[..., Sequence[object]]:
        raise UnsupportedError([Unsupported("aten.mul.Tensor", "not on this chip")])

    xdsl_exir.register_backend("own", refuses)
    with pytest.raises(UnsupportedError, match="not on this chip"):
        xdsl_exir.compile(program)
    kept = program.transform("inline-delegates{keep=own}")
    assert [op.backend.data for op in delegates(kept)] == ["own"]
