"""Kernels as descriptions: found equal by their text, expanded only where code is not in the cache, to operations that read back."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from xdsl.dialects import builtin, func
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.lowering.expand_kernels import KERNEL
from xdsl_exir.lowering.kernel import canonical
from xdsl_exir.lowering.printing import generic_text
from xdsl_exir.program import Program, context
from xdsl_exir.targets.cpu.kernels import (
    Chain,
    Columns,
    Constant,
    Conv2d,
    Elementwise,
    Epilogue,
    Fourier,
    Input,
    Kernel,
    KthValue,
    Machine,
    Matmul,
    Pool,
    Rows,
    Scan,
    Sort,
    Step,
)
from xdsl_exir.targets.cpu.kernels.attributes import as_attribute, kernel_of
from xdsl_exir.targets.cpu.kernels.builder import KernelBuilder
from xdsl_exir.targets.cpu.kernels.description import Body, Choice, Instruction, memref
from xdsl_exir.targets.cpu.kernels.row_nodes import (
    Gather,
    Load,
    Map,
    Number,
    Reduce,
    needed,
)
from xdsl_exir.targets.cpu.kernels.tails import without_tail
from xdsl_exir.targets.cpu.kernels.tile import Weights

DIGITS = Path(__file__).parents[3] / "bench" / "digits" / "digits.pt2"

S0, S1 = Expr.symbol("s0"), Expr.symbol("s1")


def clamped(low: float | bool) -> Matmul:
    return Matmul(4, 4, 4, epilogue=Epilogue((), (Step(Elementwise("aten.maximum"), (0, Constant(low))),)))


MEAN = Body(
    1,
    (
        Instruction("arith.constant", (), "f64", 20.0),
        Instruction("arith.divf", (0, 1), "f64"),
        Instruction("arith.truncf", (2,)),
    ),
)
"""Of a sum of 20 numbers."""


def table_rows() -> Rows:
    """Rows of a table, less their mean, their square roots, and which are positive. (xDSL reads numbers of vectors that are said by
    their bits as integers, so there is none here.)"""
    program = (
        Gather(20, input=0, index=1),
        Reduce(1, (0,), "f64"),
        Map(1, (1,), element=MEAN),
        Map(20, (0, 2), element=Elementwise("aten.sub.Tensor", (("alpha", 1),))),
        Map(20, (3,), element=Elementwise("aten.sqrt")),
        Number(1, value=0.0),
        Map(20, (4, 5), "i1", Elementwise("aten.gt.Tensor")),
    )
    inputs = (Input((7, 20)), Input((5, 1), "i64"))
    return Rows((5,), inputs, program, (4, 6), Machine(8, 16, 2))


def chained(rows: int, keys: Dim) -> Chain:
    """Rows of products, less their sum, multiplied by other rows and divided by their sum."""
    less = Elementwise("aten.sub.Tensor", (("alpha", 1),))
    divide = Elementwise("aten.div.Tensor")
    program = (
        Load(keys, input=1),
        Load(keys, input=0),
        Map(keys, (0, 1), element=Elementwise("aten.add.Tensor", (("alpha", 1),))),
        Reduce(1, (2,)),
        Map(keys, (2, 3), element=less),
        Reduce(1, (4,)),
        Map(keys, (4, 5), element=divide),
    )
    machine = Machine(8, 16, 2)
    between = Rows((2, rows), (Input((1, 1, keys)), Input((2, rows, keys))), program, (6,), machine)
    left, tail = without_tail(between, 5)
    first = Matmul(rows, keys, 3, (2,), "transposed", machine=machine)
    return Chain(first, left, 1, Matmul(rows, 5, keys, (2,), "row_major", machine=machine), tail)


KERNELS: dict[str, Kernel] = {
    "chain": chained(45, 70),
    "symbolic chain": chained(45, S0),
    "matmul": clamped(0.0),
    "symbolic": Matmul(S1, 40, S0, rhs="transposed"),
    "channels": Conv2d(1, 5, 9, 11, 19, (3, 3), padding=(1, 1)),
    "three vectors": Conv2d(1, 5, 6, 13, 37, (3, 3), padding=(1, 1)),
    "pixels": Conv2d(S0, 5, 6, 8, 7, (1, 1)),
    "depthwise": Conv2d(1, 3, 9, 75, 3, (3, 3), (2, 2), (1, 1), groups=3),
    "deep": Matmul(50, 40, 5000, rhs="row_major"),
    "along rows": Matmul(512, 600, 10, rhs="transposed"),
    "chosen": Matmul(5, 40, 3, choice=Choice(None, 4, 3)),
    "pool": Pool("mean", 2, (S0, S1), (S0, S1), (3, 3), (1, 1), (1, 1), (1, 1)),
    "rows": table_rows(),
    "fourier": Fourier(3, 8, 1, "c2r", False, 8, 2, "f64"),
    "sort": Sort(5, 70, 2, 70, "f16", descending=True),
    "kthvalue": KthValue(5, 70, 2, 1, "f32", start=12),
    "neighbours": Scan(5, 70, "max", "f32", "f32"),
    "neighbours that add up": Scan(S0, S1, "sum", "f16", "f16"),
    "halves": Columns(2, 5, 16, "max", "f16", "f32"),
}


def test_equal_kernels_are_found_equal() -> None:
    assert table_rows() == table_rows()
    assert len({table_rows(), table_rows(), clamped(0.0), clamped(0.0)}) == 2
    assert replace(clamped(0.0), machine=Machine(8)) != clamped(0.0)


@pytest.mark.parametrize(("one", "other"), [(0.0, -0.0), (1.0, True), (1.0, 1.0000001)])
def test_numbers_that_compare_equal_are_told_apart(one: float, other: float) -> None:
    assert clamped(one) != clamped(other)


def test_halves_are_compared_as_floats() -> None:
    """LLVM, which would compare halves, does not see what was widened; where it is added up it may."""
    apart = [
        kind
        for kind in ("max", "min", "sum")
        if "fence" in str(Columns(2, 5, 16, kind, "f16", "f32").function("f"))
    ]
    assert apart == ["max", "min"]


@pytest.mark.parametrize(
    ("kernel", "asks"),
    [
        (Matmul(16, 100, 20), True),
        (Matmul(4, 100, 20), False),  # a tile, which reads them all
        (Matmul(16, 32, 20), False),  # a panel, which none follows
        (Matmul(16, 100, 20, rhs="row_major"), False),
        (Matmul(16, S0, 20), False),
        (Conv2d(1, 5, 9, 11, 100, (3, 3)), True),
        (Conv2d(1, 5, 3, 3, 100, (3, 3)), False),
        (Conv2d(1, 64, 28, 28, 96, (3, 3), padding=(1, 1), transforms=True), True),
    ],
)
def test_which_kernels_ask_for_weights_ahead(kernel: Kernel, asks: bool) -> None:
    assert ("memref.prefetch" in str(kernel.function("f"))) == asks


@pytest.mark.parametrize("tiles", [2, 3, 7, 40])
@pytest.mark.parametrize(("turns", "size"), [(20, 48), (5, 9 * 32)])
def test_the_tiles_of_a_panel_ask_for_all_of_the_next(
    tiles: int, turns: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And for nothing beyond it, by more than a line; those of the last panel for itself."""
    b = KernelBuilder([], {"weights": memref((3, turns, size))})
    asked = list[int]()
    monkeypatch.setattr(b, "prefetch", lambda _, at: asked.extend(at))
    for panel, next in ((0, 1), (1, 2), (2, 2)):
        asked.clear()
        for tile in range(tiles):
            ask = Weights(b, b.buffers["weights"], turns, size).ahead(panel, tile, tiles)
            for turn in range(turns):
                ask(turn)
        begin, end = next * turns * size, (next + 1) * turns * size
        assert {at // 16 for at in asked} >= set(range(begin // 16, end // 16))
        assert begin <= min(asked)
        assert max(asked) < end + 16


def test_not_a_number_is_itself() -> None:
    assert clamped(float("nan")) == clamped(float("nan"))


def test_the_order_in_which_a_program_was_written_does_not_matter() -> None:
    nodes = (
        Load(4),
        Load(4, input=1),
        Load(4, input=2),
        Map(4, (1, 0), element=Elementwise("aten.mul.Tensor")),
    )
    swapped = (nodes[1], nodes[0], Map(4, (0, 1), element=Elementwise("aten.mul.Tensor")))
    assert needed(nodes, [3]) == needed(swapped, [2])


def test_a_reduction_is_made_once() -> None:
    """And numbers that compare equal stay apart."""
    most, product = Reduce(1, (0,), kind="max"), Elementwise("aten.mul.Tensor")
    zeros = (Number(1, value=0.0), Number(1, value=-0.0))
    nodes = (Load(4), most, most, *zeros, *(Map(1, (1 + i, 3 + i), element=product) for i in range(2)))
    program, outputs = needed(nodes, (5, 6))
    assert program.count(most) == 1
    assert [str(program[program[at].operands[1]].value) for at in outputs] == ["0.0", "-0.0"]  # pyright: ignore[reportAttributeAccessIssue]


def test_texts_are_the_same_in_every_process() -> None:
    code = (
        "from xdsl_exir.dialects.expr import Expr\n"
        "from xdsl_exir.targets.cpu.kernels import Matmul\n"
        "a, b = Expr.symbol('s0'), Expr.symbol('s1')\n"
        "print(Matmul(a * b + 2 * a, 3, b // 2).key)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout.rstrip("\n") == Matmul(S0 * S1 + 2 * S0, 3, S1 // 2).key


@pytest.mark.parametrize("name", KERNELS)
def test_symbols_are_the_first_arguments(name: str) -> None:
    kernel = KERNELS[name]
    function = kernel.function(name)
    taken = [arg.type for arg in function.body.block.args]
    symbols = (
        ["s0", "s1"]
        if name in ("symbolic", "pool", "neighbours that add up")
        else ["s0"]
        if name in ("pixels", "symbolic chain")
        else []
    )
    assert kernel.symbols == symbols
    assert taken == [*[builtin.IndexType()] * len(symbols), *kernel.types.values()]


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_read_back(name: str) -> None:
    """What is built verifies, and says in text all that it is."""
    function = KERNELS[name].function(name)
    function.verify()
    text = generic_text(function)
    again = Parser(context(), text).parse_module()
    again.verify()
    assert generic_text(next(iter(again.ops))) == text


PROGRAM = """
func.func @forward(%x: tensor<6x20xf32>, %y: tensor<20x5xf32>) -> tensor<6x5xf32> {
  %0 = edge.aten._softmax(%x, dim = -1, half_to_float = false) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  %1 = edge.aten.mm(%0, %y) : (tensor<6x20xf32>, tensor<20x5xf32>) -> tensor<6x5xf32>
  %2 = edge.aten.relu(%1) : (tensor<6x5xf32>) -> tensor<6x5xf32>
  func.return %2 : tensor<6x5xf32>
}"""


@pytest.mark.native
def test_kernels_are_expanded_only_where_their_code_is_not_kept(
    native_tools: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path))
    built: list[str] = []
    whole = Kernel.function

    def counted(self: Kernel, name: str, public: bool = False) -> func.FuncOp:
        built.append(type(self).__name__)
        return whole(self, name, public)

    monkeypatch.setattr(Kernel, "function", counted)
    program = Program(Parser(context().clone(), PROGRAM).parse_module())
    xdsl_exir.compile(program, "native")
    assert sorted(built) == ["Matmul", "Rows"]
    xdsl_exir.compile(program, "native")
    assert len(built) == 2


def test_texts_say_what_they_hold() -> None:
    assert canonical((1, True, 0.5, None, "a", S0 + 1)) == "(1, True, 0.5, None, 'a', s0 + 1)"
    assert (
        canonical(Machine(4, 16, 1)) == "Machine(lanes=4, registers=16, threads=1, pairs=False, tiles=False)"
    )


@pytest.mark.parametrize("name", KERNELS)
def test_descriptions_are_attributes(name: str) -> None:
    """Of upstream MLIR, which print and read back."""
    kernel = KERNELS[name]
    text = f"func.func private @f() -> () attributes {{exir.kernel = {as_attribute(kernel)}}}"
    module = Parser(context(), text).parse_module()
    [function] = module.body.block.ops
    assert kernel_of(function.attributes["exir.kernel"]).key == kernel.key


@pytest.mark.parametrize(
    "value", [0.0, -0.0, 1.0, 0.1, float("inf"), float("-inf"), 1e-45, 3.4028235e38, True, False]
)
def test_numbers_of_descriptions_keep_their_bits(value: float | bool) -> None:
    text = f"func.func private @f() -> () attributes {{a = {as_attribute(clamped(value))}}}"
    [function] = Parser(context(), text).parse_module().body.block.ops
    assert kernel_of(function.attributes["a"]).key == clamped(value).key


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 : i64", "1 : i64 describes no kernel"),
        ("unit", "a kernel's description holds no unit"),
        ('{is = "Nothing"}', "a kernel's description has no part 'Nothing'; there is Across, "),
        ('{is = "Matmul", m = 1 : i64}', "Matmul: .*missing 2 required positional arguments: 'n' and 'k'"),
        ('{is = "Machine", cores = 4 : i64}', "Machine: .*unexpected keyword argument 'cores'"),
        ('{is = "Machine"}', "describes no kernel"),
    ],
)
def test_what_describes_no_kernel(text: str, message: str) -> None:
    [function] = (
        Parser(context(), f"func.func private @f() -> () attributes {{a = {text}}}")
        .parse_module()
        .body.block.ops
    )
    with pytest.raises(xdsl_exir.VerificationError, match=message):
        kernel_of(function.attributes["a"])


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_the_stage_of_kernels(tmp_path: Path) -> None:
    """Each dispatch with a kernel has its code, that of its object file; the text goes through mlir-opt's verifier."""
    program = xdsl_exir.load(DIGITS)
    planned, expanded = program.to("planned"), program.to("kernels")
    described = [op for op in planned.module.ops if isinstance(op, func.FuncOp) and KERNEL in op.attributes]
    functions = {op.sym_name.data: op for op in expanded.module.ops if isinstance(op, func.FuncOp)}
    assert described
    for dispatch in described:
        made = functions[dispatch.sym_name.data]
        assert made.function_type == dispatch.function_type
        assert KERNEL not in made.attributes
        assert not any(op.dialect_name() == "linalg" for op in made.walk())
    done = subprocess.run(
        ["mlir-opt-22"], input=expanded.text(generic=True), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:1000]
