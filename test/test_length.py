"""Long programs: what is done for one grows no faster than the program, and is right.

Calls of Python functions are counted, which no other process disturbs; `length.py`, whose programs these are, takes the time.
"""

from __future__ import annotations

import cProfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from length import SHAPES, function, op
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, i1
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

import xdsl_exir
from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.errors import ExirError, LoadError
from xdsl_exir.importers.mlir import read_module
from xdsl_exir.limits import LIMITS
from xdsl_exir.lowering.mlir import to_llvm_ir
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.native import Planned, plan_program
from xdsl_exir.targets.cpu.compile import units_of
from xdsl_exir.targets.cpu.machine import processor
from xdsl_exir.targets.cpu.objects import emit_object

LINEAR = 2.3
"""How many times more calls twice the length may take."""


def calls(function: Callable[[], Any]) -> int:
    """How many calls of Python functions one makes."""
    profile = cProfile.Profile(builtins=False)
    profile.runcall(function)
    return sum(entry.callcount for entry in profile.getstats())


def assert_linear(function: Callable[[int], Callable[[], Any]], count: int) -> None:
    """`function` prepares what is then measured, for `count` and twice and four times that."""
    function(1)()  # what is made once in a process is made
    one, two, four = (calls(function(factor * count)) for factor in (1, 2, 4))
    assert four - two < LINEAR * (two - one), (one, two, four)


def loaded(shape: str, count: int, folder: Path) -> Program:
    path = folder / f"{count}.mlir"
    path.write_text(SHAPES[shape][0](count))
    return xdsl_exir.load(path)


# --- reading -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "most"), [("text of operations", 600), ("dense numbers", 15), ("numbers in a list", 60)]
)
def test_reading_is_linear(shape: str, most: int, tmp_path: Path) -> None:
    """And takes few calls: what is written as before is looked up, and lists are read whole (some 800 calls an operation, 50
    and 90 a number otherwise)."""
    loaded(shape, 1, tmp_path)
    one, two = (calls(lambda count=count: loaded(shape, count, tmp_path)) for count in (500, 1000))
    assert two - one < 500 * most


def test_printing_takes_few_calls(tmp_path: Path) -> None:
    """The types of operations that are alike are printed once (some 250 calls an operation otherwise)."""
    str(loaded("text of operations", 1, tmp_path))
    programs = [loaded("text of operations", count, tmp_path) for count in (500, 1000)]
    one, two = (calls(lambda program=program: str(program)) for program in programs)
    assert two - one < 500 * 200


@pytest.mark.parametrize(
    "text",
    [
        *(
            "[1, -2,  3]",
            "[]",
            "[1 : i32, 2]",
            "[1.5, 2]",
            "[true, 1]",
            "[ 9223372036854775807 ]",
            "[[1, 2], [3]]",
        ),
        *(
            "[0x10, 1]",
            "[1, 2,]",
            "[1,, 2]",
            "[9223372036854775808]",
            "[1 2]",
            "[1, 2",
            "[- 1]",
            "[1 // one\n, 2]",
        ),
        *(
            f"dense<{row}> : tensor<2xf32>"
            for row in ("[1, -2.5]", "[-0.0, -0]", "[1e3, 2]", "[1.0E+2, 3.e-1]")
        ),
        *(
            f"dense<{row}> : tensor<2xf32>"
            for row in ("[0x7F800000, 1]", "[true, 1]", "[1, 2, 3]", "[1, 2,]")
        ),
        *(f"dense<{row}> : tensor<2xi8>" for row in ("[1, -128]", "[1, 300]", "[1.0, 2]", "5", "[1]", "[]")),
        *(
            f"dense<{row}> : tensor<2x2xui8>"
            for row in ("[[1, 2], [3, 4]]", "[[1, 2], [3]]", "[[-1, 2], [3, 4]]")
        ),
        "dense<[(1.0, 2.0), (3.0, -0.0)]> : tensor<2xcomplex<f32>>",
        "dense<[0, 1]> : tensor<2xi1>",
        *(
            "(i32) -> i32",
            "(tensor<4xf32>) -> tensor<4xf32>",
            "(tensor<4xf32>,tensor<f32>) -> (tensor<2xi1>)",
        ),
        *(
            "() -> tensor<2x?xf32>",
            "(tensor<4xf32>) -> ()",
            "(tensor<f32>) -> () -> ()",
            "(tensor<f32>,) -> tensor<i1>",
        ),
        *(
            "(tensor<2xf32>) -> tensor<2xnope>",
            "tensor<?xf32, #exir.shape<[s0]>>",
            "tensor<2x3xf32, #exir.shape<[s0]>>",
        ),
        "(tensor<?xf32, #exir.shape<[2 * s0 + 1]>>) -> tensor<?x?xf32, #exir.shape<[gt(s0, 1), s1]>>",
    ],
)
def test_attributes_are_what_xdsl_reads(text: str) -> None:
    """Lists and types, of which this reader has its own ways; each twice, as one that was read is found again."""
    text = f'"builtin.module"() ({{}}) {{a = {text}, b = [{text}, {text}]}} : () -> ()'
    try:
        expected = Parser(context().clone(), text).parse_module()
    except (ParseError, ValueError, VerifyException):
        with pytest.raises(LoadError):
            read_module(text, "text")
    else:
        assert read_module(text, "text").is_structurally_equivalent(expected)


# --- compiling -----------------------------------------------------------------------------------------------

NATIVE = [name for name, (_, _, targets) in SHAPES.items() if "native" in targets]


@pytest.mark.parametrize("shape", NATIVE)
def test_planning_is_linear(shape: str, tmp_path: Path) -> None:
    def plan(count: int) -> Callable[[], Planned]:
        program = loaded(shape, count, tmp_path)
        return lambda: plan_program(program)

    assert_linear(plan, 40)


@pytest.mark.parametrize("shape", ["views", "views, sum"])
def test_planning_does_not_recurse(shape: str, tmp_path: Path) -> None:
    """Over a chain that is longer than Python's stack."""
    plan_program(loaded(shape, 1200, tmp_path))


def dispatches(planned: Planned) -> list[str]:
    """The texts of the functions that a plan calls."""
    return [unit.write() for unit in units_of(planned.dispatches, [])]


@pytest.mark.usefixtures("native_tools")
def test_code_of_drivers_takes_time_in_proportion(tmp_path: Path) -> None:
    """What LLVM makes of a driver that passes on thousands of arrays: four times as many took it 20 times as long."""

    def seconds(count: int) -> float:
        *_, driver = plan_program(loaded("arguments", count, tmp_path)).units
        llvm_ir = to_llvm_ir(driver.write(), driver.passes)
        start = time.process_time()
        emit_object(llvm_ir, processor())
        return time.process_time() - start

    assert seconds(2000) < 8 * seconds(500)


@pytest.mark.parametrize("shape", NATIVE)
def test_dispatches_do_not_grow_with_the_program(shape: str, tmp_path: Path) -> None:
    """MLIR and LLVM take time that grows faster than a function."""
    one, two = (
        max(map(len, dispatches(plan_program(loaded(shape, count, tmp_path))))) for count in (100, 200)
    )
    assert two < 1.2 * one, (one, two)


def rows(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


@pytest.mark.native
@pytest.mark.parametrize(("dim", "dtype"), [(0, "f32"), (1, "i1"), (-1, "complex<f32>"), (2, "ui8")])
def test_many_pieces(dim: int, dtype: str, tmp_path: Path) -> None:
    """Some of them empty, one seen through a permutation."""
    sizes = [[3, 5, 4], [3, 5, 4], [3, 5, 4]]
    for size, extent in zip(sizes, (2, 0, 7), strict=True):
        size[dim] = extent
    turned = f"tensor<{'x'.join(map(str, sizes[0][::-1]))}x{dtype}>"
    types = [f"tensor<{'x'.join(map(str, size))}x{dtype}>" for size in sizes]
    names = [("%t", "%x1", "%x2")[i % 3] for i in range(50)]
    whole = list(sizes[0])
    whole[dim] = sum(sizes[i % 3][dim] for i in range(50))
    made = f"tensor<{'x'.join(map(str, whole))}x{dtype}>"
    lines = [
        op("%t", "permute", "%x0, dims = [2, 1, 0]", turned, types[0]),
        op(
            "%y",
            "cat",
            f"[{', '.join(names)}], dim = {dim}",
            ", ".join(types[i % 3] for i in range(50)),
            made,
        ),
    ]
    text = function([("%x0", turned), ("%x1", types[1]), ("%x2", types[2])], lines, [("%y", made)])
    path = tmp_path / "cat.mlir"
    path.write_text(text)
    program = xdsl_exir.load(path)
    arrays = [rows(*size) for size in (sizes[0][::-1], *sizes[1:])]
    if dtype == "complex<f32>":
        arrays = [(array + 1j * array**2).astype(np.complex64) for array in arrays]
    elif dtype != "f32":
        arrays = [(array > 0).astype(bool if dtype == "i1" else np.uint8) for array in arrays]
    given = (arrays[0].transpose(2, 1, 0), *arrays[1:])
    expected = np.concatenate([given[i % 3] for i in range(50)], dim)
    for target in ("interpreter", "native"):
        (actual,) = xdsl_exir.compile(program, target=target).flat(arrays)
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.native
def test_many_pieces_of_any_size(tmp_path: Path) -> None:
    """Offsets are known when it is called; some pieces are numbers."""
    piece, ones = "tensor<?x3xf32, #exir.shape<[s0, 3]>>", "tensor<1x3xf32>"
    made = "tensor<?x3xf32, #exir.shape<[25 * s0 + 25, 3]>>"
    names = ", ".join(["%x, %one"] * 25)
    lines = [
        f"%one = aten.full(size = [1, 3], fill_value = 1.0) : () -> {ones}",
        op("%y", "cat", f"[{names}]", ", ".join([f"{piece}, {ones}"] * 25), made),
    ]
    path = tmp_path / "cat.mlir"
    path.write_text(function([("%x", piece)], lines, [("%y", made)]))
    run = xdsl_exir.compile(xdsl_exir.load(path), target="native")
    for count in (4, 1, 300):
        x = rows(count, 3)
        (actual,) = run.flat([x])
        np.testing.assert_array_equal(actual, np.concatenate([x, np.ones((1, 3), np.float32)] * 25))


@pytest.mark.native
@pytest.mark.parametrize("shape", ["rolls", "slices, cat", "cat", "stack"])
def test_long_programs_are_right(shape: str, tmp_path: Path) -> None:
    """Longer than one dispatch takes."""
    program = loaded(shape, 150, tmp_path)
    inputs = [rows(*type.get_shape()) for type in program.method().function_type.inputs.data]  # pyright: ignore
    expected = xdsl_exir.compile(program).flat(inputs)
    actual = xdsl_exir.compile(program, target="native").flat(inputs)
    np.testing.assert_allclose(actual[0], expected[0], rtol=1e-6)


# --- texts ---------------------------------------------------------------------------------------------------


def fx_call(name: str, operator: str, arguments: str) -> str:
    return (
        f"    %{name} : [num_users=1] = call_function[target={operator}](args = ({arguments}), kwargs = {{}})"
    )


def fx_graph(lines: Sequence[str], result: str, inputs: str = "x") -> str:
    placeholders = [f"    %{name} : [num_users=1] = placeholder[target={name}]" for name in inputs.split()]
    return "\n".join(["graph():", *placeholders, *lines, f"    return ({result},)"])


@pytest.mark.parametrize("every", [1, 1000])
def test_writes_through_chains_of_views(every: int) -> None:
    """Each view is one of the view before; some, or the last one, are written to."""

    def text(count: int) -> str:
        lines = [fx_call("v0", "torch.ops.aten.clone.default", "%x,")]
        for i in range(count):
            size = "[4, 4]" if i % 2 == 0 else "[16]"
            lines.append(fx_call(f"v{i + 1}", "torch.ops.aten.view.default", f"%v{i}, {size}"))
            if i % every == 0 or i == count - 1:
                lines.append(fx_call(f"w{i}", "torch.ops.aten.add_.Scalar", f"%v{i + 1}, 1"))
        return fx_graph(lines, "v0")

    def read(count: int) -> Callable[[], Program]:
        return lambda: xdsl_exir.from_fx_text(text(count), ["float32[16]"])

    assert_linear(read, 60)
    (actual,) = xdsl_exir.compile(read(301)()).flat([np.zeros(16, np.float32)])
    np.testing.assert_array_equal(actual, 301 if every == 1 else 2)


def test_writes_through_chains_that_stay_chains() -> None:
    lines = [fx_call("v0", "torch.ops.aten.clone.default", "%x,")]
    lines += [fx_call(f"v{i + 1}", "torch.ops.aten.transpose.int", f"%v{i}, 0, 1") for i in range(1001)]
    lines.append(fx_call("w", "torch.ops.aten.copy_.default", "%v1001, %x"))
    program = xdsl_exir.from_fx_text(fx_graph(lines, "v0"), ["float32[4, 4]"])
    x = rows(4, 4)
    np.testing.assert_array_equal(xdsl_exir.compile(program).flat([x])[0], x.T)


def test_graphs_that_double() -> None:
    """Each graph names the next one twice."""
    main, last = fx_graph(twice(0), "g"), fx_call("g", "torch.ops.aten.sin.default", "%x,")
    names = [".".join(f"g{i}" for i in range(depth + 1)) for depth in range(25)]
    inner = [
        f"{name} = {fx_graph(twice(depth + 1) if depth < 24 else [last], 'g')}"
        for depth, name in enumerate(names)
    ]
    with pytest.raises(LoadError, match="graphs that are used again have more than"):
        xdsl_exir.from_fx_text("\n".join([main, *inner]), ["float32[4]"])


def twice(number: int) -> list[str]:
    lines = [f"    %{name} : [num_users=1] = get_attr[target=g{number}]" for name in ("a", "b")]
    return [*lines, fx_call("g", "torch.ops.aten.sin.default", "%x,")]


# --- nesting -------------------------------------------------------------------------------------------------


def conds(count: int) -> ModuleOp:
    """A function whose `cond`s lie in one another."""
    type = TensorType(f32, [4])
    condition = TensorType(i1, [])

    def block() -> Block:
        return Block(arg_types=[condition, type])

    inner, other = block(), block()
    inner.add_op(cf.YieldOp.create(operands=[inner.args[1]]))
    for _ in range(count):
        outer, other = block(), block()
        other.add_op(cf.YieldOp.create(operands=[other.args[1]]))
        cond = cf.CondOp.build(
            operands=[outer.args[0], list(outer.args)],
            regions=[Region(inner), Region(other)],
            result_types=[[type]],
        )
        outer.add_ops([cond, cf.YieldOp.create(operands=list(cond.results))])
        inner = outer
    last = inner.last_op
    assert last is not None
    given = list(last.operands)
    inner.erase_op(last)
    inner.add_op(ReturnOp(*given))
    return ModuleOp([FuncOp("f", ([condition, type], [type]), Region(inner))])


VERBS: dict[str, Callable[[Program, Path], Any]] = {
    "text": lambda program, folder: program.text(),
    "edge": lambda program, folder: program.to_edge(),
    "passes": lambda program, folder: program.transform("canonicalize,cse,dce"),
    "interpreter": lambda program, folder: xdsl_exir.compile(program),
    "plan": lambda program, folder: plan_program(program),
    "mlir": lambda program, folder: program.save(folder / "a.mlir"),
    "pt2": lambda program, folder: program.save(folder / "a.pt2"),
    "fx": lambda program, folder: program.fx_text(),
}


@pytest.mark.parametrize("verb", VERBS)
def test_deep_nesting(verb: str, tmp_path: Path) -> None:
    """As deep as programs may be, graphs less so: nothing runs out of stack."""
    program = Program(conds(LIMITS.nesting - 2)).verify()
    if verb in ("pt2", "fx"):
        with pytest.raises(ExirError, match="more than 32 graphs in one another"):
            VERBS[verb](program, tmp_path)
        program = Program(conds(32))
    VERBS[verb](program, tmp_path)


def test_deeper_nesting_is_refused() -> None:
    with pytest.raises(ExirError, match="regions lie more than 100 deep in one another"):
        Program(conds(400))
