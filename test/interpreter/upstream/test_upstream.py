"""Upstream dialects in the interpreter: numbers against native code, loops of linalg against loops, programs against edge."""

# pyright: basic

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import cf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.linalg.ops import CopyOp
from xdsl.parser import Parser
from xdsl.rewriter import Rewriter

import xdsl_exir
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.interpreter import make_interpreter, run_function
from xdsl_exir.interpreter.upstream import linalg
from xdsl_exir.interpreter.upstream.linalg import combiners_of
from xdsl_exir.program import context
from xdsl_exir.runtime import linking

DIGITS = Path(__file__).parents[3] / "bench" / "digits" / "digits.pt2"


def parsed(text: str) -> ModuleOp:
    return Parser(context(), text).parse_module()


def run(text: str, *values: Any) -> Any:
    """The results of a function `f`; of one the result."""
    results = run_function(make_interpreter(parsed(text)), "f", values)
    return results[0] if len(results) == 1 else results


# --- numbers -------------------------------------------------------------------------------------------------

WHOLE = np.array([0, 1, -1, 2, 7, -8, 100, -128, 127, 3], np.int8)
REAL = np.array([0.0, -0.0, 1.5, -1.5, 2.5, np.inf, -np.inf, np.nan, 1e-40, 0.75, -2.0, 88.0], np.float32)
INTEGERS = (
    "addi",
    "subi",
    "muli",
    "divsi",
    "divui",
    "remsi",
    "remui",
    "floordivsi",
    "ceildivsi",
    "ceildivui",
)
BITS = ("andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
FLOATS = ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf")
MATH = (
    "absf",
    "sqrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "tanh",
    "erf",
)
MATH += ("erfc", "floor", "ceil", "roundeven", "trunc", "atan", "asinh", "cbrt", "sinh", "cosh")
PREDICATES = (
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
)


def pairs(values: np.ndarray, nonzero: bool = False) -> tuple[np.ndarray, np.ndarray]:
    a, b = (each.ravel().copy() for each in np.meshgrid(values, values))
    keep = (b != 0) & ~((a == values.min()) & (b == -1)) if nonzero else np.ones(a.shape, bool)
    return a[keep], b[keep]


def loop(name: str, size: int, body: str, types: list[str]) -> str:
    """A function that computes %y of %a and %b for each element."""
    names = "ab"[: len(types) - 1] + "y"
    memrefs = [f"memref<{size}x{type}>" for type in types]
    args = ", ".join(f"%{n}s: {memref}" for n, memref in zip(names, memrefs, strict=True))
    loads = "\n".join(
        f"%{n} = memref.load %{n}s[%i] : {m}" for n, m in zip(names[:-1], memrefs, strict=False)
    )
    return f"""
      func.func @{name}({args}) attributes {{llvm.emit_c_interface}} {{
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %size = arith.constant {size} : index
        scf.for %i = %zero to %size step %one {{
          {loads}
          {body}
          memref.store %y, %ys[%i] : {memrefs[-1]}
        }}
        func.return
      }}"""


def cases() -> dict[str, tuple[str, list[str], list[np.ndarray]]]:
    """By operation: its text, the types of its operands and its result, and operands."""
    found: dict[str, tuple[str, list[str], list[np.ndarray]]] = {}
    a, b = pairs(WHOLE, nonzero=True)
    for name in (*INTEGERS, *BITS):
        found[name] = f"%y = arith.{name} %a, %b : i8", ["i8"] * 3, [a, b]
    shifts = [a, np.abs(b) % 8]
    for name in ("shli", "shrsi", "shrui"):
        found[name] = f"%y = arith.{name} %a, %b : i8", ["i8"] * 3, shifts
    for name in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"):
        body = f"%c = arith.cmpi {name}, %a, %b : i8\n%y = arith.extui %c : i1 to i8"
        found[f"cmpi {name}"] = body, ["i8"] * 3, [a, b]
    for to, name in (("i32", "extsi"), ("i32", "extui"), ("f32", "sitofp"), ("f32", "uitofp")):
        found[f"{name} {to}"] = f"%y = arith.{name} %a : i8 to {to}", ["i8", to], [WHOLE]
    wide = np.array([300, -5, 2**31 - 1, 128], np.int32)
    found["trunci"] = "%y = arith.trunci %a : i32 to i8", ["i32", "i8"], [wide]
    found["ctlz"] = "%y = math.ctlz %a : i32", ["i32", "i32"], [np.append(wide, np.int32(0))]
    x, y = pairs(REAL)
    for name in FLOATS:
        found[name] = f'%y = "arith.{name}"(%a, %b) : (f32, f32) -> f32', ["f32"] * 3, [x, y]
    for name in PREDICATES:
        body = f"%c = arith.cmpf {name}, %a, %b : f32\n%y = arith.extui %c : i1 to i8"
        found[f"cmpf {name}"] = body, ["f32", "f32", "i8"], [x, y]
    for name in ("copysign", "atan2", "powf"):
        found[name] = f"%y = math.{name} %a, %b : f32", ["f32"] * 3, [x, y]
    for name in MATH:
        found[name] = f'%y = "math.{name}"(%a) : (f32) -> f32', ["f32"] * 2, [REAL]
    found["negf"] = "%y = arith.negf %a : f32", ["f32"] * 2, [REAL]
    found["bitcast"] = "%y = arith.bitcast %a : f32 to i32", ["f32", "i32"], [REAL]
    # AVX512-BF16 takes denormals for zero.
    for to in ("f64", "f16", "bf16"):
        name = "extf" if to == "f64" else "truncf"
        body = f"%m = arith.{name} %a : f32 to {to}\n%y = arith.{'truncf' if to == 'f64' else 'extf'} %m : {to} to f32"
        found[f"{name} {to}"] = body, ["f32", "f32"], [REAL[np.abs(REAL) != np.float32(1e-40)]]
    found["fptosi"] = (
        "%y = arith.fptosi %a : f32 to i32",
        ["f32", "i32"],
        [np.array([1.9, -1.9, 0, 7], np.float32)],
    )
    booleans = "%c = arith.cmpi slt, %a, %b : i8\n%d = arith.cmpi ult, %a, %b : i8"
    for name in ("addi", "subi", "muli", "andi", "ori", "xori", "maxui", "minui"):
        body = f"{booleans}\n%e = arith.{name} %c, %d : i1\n%y = arith.extsi %e : i1 to i8"
        found[f"i1 {name}"] = body, ["i8"] * 3, [a, b]
    body = f"{booleans}\n%e = arith.cmpi slt, %c, %d : i1\n%y = arith.select %e, %a, %b : i8"
    found["i1 slt, select"] = body, ["i8"] * 3, [a, b]
    return found


NUMPY = {"i8": np.int8, "i32": np.int32, "f32": np.float32}


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_numbers_are_those_of_native_code() -> None:
    """Bit by bit, but for functions of libm and NaN."""
    table = cases()
    texts = {
        name: loop(f"f{i}", len(v[0]), body, types)
        for i, (name, (body, types, v)) in enumerate(table.items())
    }
    library = linking.load("\n".join(texts.values()))
    for index, (name, (_, types, values)) in enumerate(table.items()):
        native, ours = (np.zeros(len(values[0]), NUMPY[types[-1]]) for _ in range(2))
        linking.bind(library, f"f{index}", [*values, native])()
        run_function(make_interpreter(parsed(texts[name])), f"f{index}", (*values, ours))
        if native.dtype.kind == "f" and (name in MATH or name in ("atan2", "powf")):
            np.testing.assert_allclose(ours, native, rtol=4e-7, atol=1e-39, err_msg=name)
            continue
        np.testing.assert_array_equal(ours, native, err_msg=name)
        if native.dtype.kind == "f" and name not in ("maxnumf", "minnumf"):  # of 0 and -0 these are either
            signs = [np.signbit(each[~np.isnan(each)]) for each in (ours, native)]
            np.testing.assert_array_equal(*signs, err_msg=name)


# --- linalg --------------------------------------------------------------------------------------------------

BODIES = {
    "sum": ("%r = arith.addf %o, %x : f32", lambda o, x, y: o + x),
    "product of two": (
        "%m = arith.mulf %x, %y : f32\n%r = arith.addf %m, %o : f32",
        lambda o, x, y: o + x * y,
    ),
    "largest": ("%r = arith.maximumf %x, %o : f32", lambda o, x, y: np.maximum(o, x)),
    "in order": (
        "%d = arith.subf %x, %o : f32\n%m = arith.mulf %d, %y : f32\n%r = arith.addf %o, %m : f32",
        lambda o, x, y: o + (x - o) * y,
    ),
    "no result": ("%r = arith.mulf %x, %y : f32", lambda o, x, y: x * y),
    "twice": ("%m = arith.addf %o, %o : f32\n%r = arith.addf %m, %x : f32", lambda o, x, y: 2 * o + x),
}
"""Bodies of reductions: as text, and as what each turn does to the result."""


def generic(
    body: str, maps: tuple[str, str, str], types: tuple[str, str, str], reduction: int, count: int
) -> str:
    iterators = ", ".join('"reduction"' if dim >= count - reduction else '"parallel"' for dim in range(count))
    dims = ", ".join(f"d{i}" for i in range(count))
    listed = ", ".join(f"affine_map<({dims}) -> ({each})>" for each in maps)
    a, b, c = types
    return f"""
      func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
        %0 = linalg.generic {{indexing_maps = [{listed}], iterator_types = [{iterators}]}}
            ins(%a, %b : {a}, {b}) outs(%c : {c}) {{
        ^bb0(%x: f32, %y: f32, %o: f32):
          {body}
          linalg.yield %r : f32
        }} -> {c}
        func.return %0 : {c}
      }}"""


def looped(
    turn: Any, sizes: tuple[int, ...], reads: list[Any], out: np.ndarray, arrays: list[np.ndarray]
) -> np.ndarray:
    """What loops give, one turn after the other."""
    made = out.copy()
    for at in np.ndindex(*sizes):
        x, y, place = (read(*at) for read in reads)
        made[place] = turn(made[place], arrays[0][x], arrays[1][y])
    return made


@pytest.mark.parametrize("most", [1, 8, 1 << 20])
@pytest.mark.parametrize("name", BODIES)
def test_reductions(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A windowed sum like a convolution's, a matrix product's, and one whose elements are gathered."""
    monkeypatch.setattr(linalg, "MOST", most)
    body, turn = BODIES[name]
    rng = np.random.default_rng(len(name))
    for maps, shapes, reads, sizes in (
        (
            ("d0, d1 * 2 + d2", "d2", "d0, d1"),
            ((3, 9), (3,), (3, 4)),
            [lambda i, j, k: (i, 2 * j + k), lambda i, j, k: k, lambda i, j, k: (i, j)],
            (3, 4, 3),
        ),
        (
            ("d0, d2", "d2, d1", "d1, d0"),
            ((3, 5), (5, 4), (4, 3)),
            [lambda i, j, k: (i, k), lambda i, j, k: (k, j), lambda i, j, k: (j, i)],
            (3, 4, 5),
        ),
        (
            ("d0, (d1 + d2) floordiv 2", "(d2 + 1) mod 3", "d0, d1"),
            ((2, 4), (3,), (2, 3)),
            [lambda i, j, k: (i, (j + k) // 2), lambda i, j, k: (k + 1) % 3, lambda i, j, k: (i, j)],
            (2, 3, 5),
        ),
    ):
        *arrays, out = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
        types = tuple(f"tensor<{'x'.join(map(str, shape))}xf32>" for shape in shapes)
        if "floordiv" in maps[0]:  # no operand says how many turns the last loop has
            with pytest.raises(ExirError, match="no operand says how many turns"):
                run(generic(body, maps, types, 1, 3), *arrays, out)
            continue
        found = run(generic(body, maps, types, 1, 3), *arrays, out)
        np.testing.assert_allclose(found, looped(turn, sizes, reads, out, arrays), rtol=1e-5, atol=1e-5)


def test_copies_of_both_kinds() -> None:
    """xDSL's, as its own passes make them, and ours, which text is read as."""
    given = np.arange(3, dtype=np.float32)
    text = "%0 = linalg.copy ins(%x : tensor<3xf32>) outs(%y : tensor<3xf32>) -> tensor<3xf32>"
    module = parsed(
        f"func.func @f(%x : tensor<3xf32>, %y : tensor<3xf32>) -> tensor<3xf32> {{ {text} func.return %0 : tensor<3xf32> }}"
    )
    [read] = [op for op in module.walk() if isinstance(op, CopyOp)]
    for made in (read, CopyOp(read.inputs, read.outputs)):
        if made is not read:
            Rewriter.replace_op(read, made)
        [copied] = run_function(make_interpreter(module), "f", (given, np.zeros_like(given)))
        np.testing.assert_array_equal(copied, given)


def test_gathered_elements() -> None:
    text = generic(
        "%r = arith.addf %x, %y : f32",
        ("(d0 + 1) mod 4", "d0 floordiv 2", "d0"),
        ("tensor<4xf32>", "tensor<2xf32>", "tensor<4xf32>"),
        0,
        1,
    )
    x, y = np.arange(4, dtype=np.float32), np.array([10, 20], np.float32)
    np.testing.assert_array_equal(run(text, x, y, np.zeros(4, np.float32)), [11, 12, 23, 20])


def test_which_bodies_are_combined() -> None:
    """Others run one turn after the other."""
    combined = {
        name: combiners_of(
            next(
                op
                for op in parsed(
                    generic(body, ("d0", "d0", ""), ("tensor<4xf32>",) * 2 + ("tensor<f32>",), 1, 1)
                ).walk()
                if op.name == "linalg.generic"
            )
        )
        is not None
        for name, (body, _) in BODIES.items()
    }
    assert [name for name, is_combined in combined.items() if is_combined] == [
        "sum",
        "product of two",
        "largest",
    ]


def test_sums_of_what_does_not_depend_on_the_loop() -> None:
    text = generic(
        "%m = arith.mulf %x, %y : f32\n%r = arith.addf %m, %o : f32",
        ("d0", "d0", "d0"),
        ("tensor<2xf32>",) * 3,
        0,
        1,
    )
    text = text.replace("(d0) -> (d0)", "(d0, d1) -> (d0)").replace(
        '["parallel"]', '["parallel", "reduction"]'
    )
    with pytest.raises(ExirError, match="no operand says"):
        run(text, *np.ones((3, 2), np.float32))


GUARDED = """
  func.func @f(%t: tensor<4xf32>, %i: tensor<6xi64>, %out: tensor<6xf32>) -> tensor<6xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%i : tensor<6xi64>) outs(%out : tensor<6xf32>) {
    ^bb0(%n: i64, %o: f32):
      %at = arith.index_cast %n : i64 to index
      %inside = arith.cmpi ult, %at, %four : index
      %sum = scf.if %inside -> (f32) {
        %start = tensor.extract %t[%at] : tensor<4xf32>
        %total = scf.for %k = %zero to %at step %one iter_args(%so_far = %start) -> (f32) {
          %more = tensor.extract %t[%k] : tensor<4xf32>
          %next = arith.addf %so_far, %more : f32
          scf.yield %next : f32
        }
        scf.yield %total : f32
      } else {
        %minus = arith.constant -1.0 : f32
        scf.yield %minus : f32
      }
      linalg.yield %sum : f32
    } -> tensor<6xf32>
    func.return %0 : tensor<6xf32>
  }
"""


def test_conditions_and_loops_of_each_turn() -> None:
    """What is not meant for a turn reads nothing that is not there."""
    t = np.array([1, 2, 4, 8], np.float32)
    indices = np.array([0, 3, 9, -1, 2, 1])
    np.testing.assert_array_equal(run(GUARDED, t, indices, np.zeros(6, np.float32)), [1, 15, -1, -1, 7, 3])
    unguarded = GUARDED.replace("arith.cmpi ult, %at, %four", "arith.cmpi eq, %at, %at")
    with pytest.raises(ExirError, match="index -1 to 9 of a dimension of size 4"):
        run(unguarded, t, indices, np.zeros(6, np.float32))


COLLATZ = """
  func.func @f(%n: tensor<5xi64>) -> tensor<5xi64> {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%n : tensor<5xi64>) {
    ^bb0(%start: i64):
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %two = arith.constant 2 : i64
      %three = arith.constant 3 : i64
      %r:2 = scf.while (%m = %start, %steps = %zero) : (i64, i64) -> (i64, i64) {
        %more = arith.cmpi ne, %m, %one : i64
        scf.condition(%more) %m, %steps : i64, i64
      } do {
      ^bb1(%m: i64, %steps: i64):
        %half = arith.divsi %m, %two : i64
        %triple = arith.muli %m, %three : i64
        %next = arith.addi %triple, %one : i64
        %rest = arith.remsi %m, %two : i64
        %even = arith.cmpi eq, %rest, %zero : i64
        %new = arith.select %even, %half, %next : i64
        %count = arith.addi %steps, %one : i64
        scf.yield %new, %count : i64, i64
      }
      linalg.yield %r#1 : i64
    } -> tensor<5xi64>
    func.return %0 : tensor<5xi64>
  }
"""


def test_loops_that_end_at_different_turns() -> None:
    np.testing.assert_array_equal(run(COLLATZ, np.array([1, 2, 3, 7, 27])), [0, 1, 7, 16, 111])


# --- programs ------------------------------------------------------------------------------------------------

MIXED = """
func.func @forward(%x : tensor<?x3xui8, #exir.shape<[s0, 3]>> {exir.input = #exir.input<user_input, "x">},
                   %w : tensor<3xf32> {exir.input = #exir.input<parameter, "w">},
                   %n : !exir.symint<s1> {exir.input = #exir.input<user_input, "n">})
    -> (tensor<?x3xi1, #exir.shape<[s0, 3]>>, tensor<?x3xf32, #exir.shape<[s0, 3]>>, !exir.symint<2 * s1>)
    attributes {exir.ranges = {s0 = #exir.range<1, 100>, s1 = #exir.range<0, 50>}} {
  %two = exir.constant 200 : tensor<ui8>
  %0 = edge.aten.gt.Tensor(%x, %two) : (tensor<?x3xui8, #exir.shape<[s0, 3]>>, tensor<ui8>) -> tensor<?x3xi1, #exir.shape<[s0, 3]>>
  %1 = edge.aten._to_copy(%x, dtype = f32) : (tensor<?x3xui8, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %2 = edge.aten.mul.Tensor(%1, %w) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3xf32>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %factor = exir.number 2 : !exir.symint<2>
  %3 = exir.sym_mul %n, %factor : (!exir.symint<s1>, !exir.symint<2>) -> !exir.symint<2 * s1>
  func.return %0, %2, %3 : tensor<?x3xi1, #exir.shape<[s0, 3]>>, tensor<?x3xf32, #exir.shape<[s0, 3]>>, !exir.symint<2 * s1>
}
"""


@pytest.fixture(scope="module")
def mixed() -> Any:
    from xdsl_exir.dialects import dtypes as dt
    from xdsl_exir.exchange.tensor_data import TensorData
    from xdsl_exir.program import Program, State

    weight = TensorData.of(np.array([1, 2, 3], np.float32), dt.Float)
    return Program(parsed(MIXED), State({"w": weight})).verify()


def same(found: Any, expected: Any) -> None:
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_a_lowered_program_is_called_as_before(
    mixed: Any, target: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Booleans, bytes, symbolic sizes and numbers; saved and loaded too."""
    if target == "native":
        request.getfixturevalue("native_tools")
    lowered = mixed.to("linalg")
    lowered.save(tmp_path / "lowered.mlir")
    for rows in (1, 5):
        inputs = [np.arange(rows * 3, dtype=np.uint8).reshape(rows, 3) * 17, 7]
        expected = xdsl_exir.compile(mixed).flat(inputs)
        assert expected[2] == 14
        for program in (lowered, xdsl_exir.load(tmp_path / "lowered.mlir")):
            same(xdsl_exir.compile(program, target).flat(inputs), expected)
    for wrong in (
        [np.zeros((2, 4), np.uint8), 7],
        [np.zeros((2, 3), np.float32), 7],
        [np.zeros((2, 3), np.uint8), 51],
    ):
        with pytest.raises(xdsl_exir.InputError):
            xdsl_exir.compile(lowered, target).flat(wrong)


def test_stages_agree(mixed: Any) -> None:
    edge = xdsl_exir.load(DIGITS).to("edge")
    x = np.random.default_rng(0).integers(0, 17, (360, 8, 8)).astype(np.uint8)
    assert xdsl_exir.diff(edge, edge.to("linalg"), [x]) is None
    assert xdsl_exir.diff(mixed, mixed.to("linalg"), [np.full((2, 3), 201, np.uint8), 3]) is None
    other = edge.to("linalg")
    add = next(op for op in other.module.walk() if op.name == "arith.addf")
    add.results[0].replace_all_uses_with(add.operands[0])
    assert "result 0: the first program gives " in str(xdsl_exir.diff(edge, other, [x]))


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_assertions_raise_where_linalg_runs(
    target: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Outside of regions and inside, one after another; a saved program, too."""
    torch = pytest.importorskip("torch")
    if target == "native":
        request.getfixturevalue("native_tools")

    def inside(x: Any) -> Any:
        torch._assert_async(x.max() < 5, "a large one")
        return x + 1

    class Checked(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            torch._assert_async(x.sum() < 9, "a large sum")
            return torch.cond(x.sum() > 0, inside, torch.neg, (x,))

    exported = torch.export.export(Checked(), (torch.ones(3),))
    lowered = xdsl_exir.from_exported_program(exported).to("linalg")
    lowered.save(tmp_path / "lowered.mlir")
    for program in (lowered, xdsl_exir.load(tmp_path / "lowered.mlir")):
        run = xdsl_exir.compile(program, target)
        same(run.flat([np.ones(3, np.float32)]), [np.full(3, 2, np.float32)])
        same(run.flat([np.full(3, -9, np.float32)]), [np.full(3, 9, np.float32)])
        for wrong, message in (([3, 3, 4], "a large sum"), ([6, 0, 0], "a large one")):
            with pytest.raises(xdsl_exir.ExirError, match=message):
                run.flat([np.array(wrong, np.float32)])


def test_assertions_in_loops(mixed: Any) -> None:
    """What others put into a body: LLVM's `cf.assert` ends the process, so that native code refuses it."""
    lowered = mixed.to("linalg")
    stored = next(op for op in lowered.module.walk() if op.name == "arith.extui")
    stored.parent.insert_op_before(cf.AssertOp(stored.operands[0], "not so large"), stored)
    run = xdsl_exir.compile(lowered)
    run.flat([np.full((2, 3), 201, np.uint8), 7])
    with pytest.raises(ExirError, match="not so large"):
        run.flat([np.full((2, 3), 9, np.uint8), 7])
    with pytest.raises(xdsl_exir.UnsupportedError, match=r"cf\.assert: an assertion inside a region"):
        xdsl_exir.compile(lowered, "native")


def test_stages_that_there_are_not(mixed: Any) -> None:
    with pytest.raises(
        ExirError,
        match="no stage 'llvm'; there is imported, core, edge, dispatches, linalg, named-linalg, buffers, planned, kernels",
    ):
        mixed.to("llvm")
    lowered = mixed.to("linalg")
    assert lowered.to("linalg") is lowered
    with pytest.raises(ExirError, match="a program lowered to linalg is not taken to edge"):
        lowered.to("edge")


def test_damaged_signatures(mixed: Any) -> None:
    """One clear error, or a program that can be called."""
    from xdsl_exir.program import Program, State

    lowered = mixed.to("linalg")
    [method] = lowered.methods.values()
    text = method.attributes["exir.signature"].data
    rng = np.random.default_rng(0)
    refused = 0
    for at in rng.choice(len(text), 60, replace=False):
        damaged = text[:at] + 'x%0"\\(<'[rng.integers(7)] + text[at + 1 :]
        method.attributes["exir.signature"] = StringAttr(damaged)
        try:
            xdsl_exir.compile(Program(lowered.module.clone(), State(mixed.state)))
        except ExirError:
            refused += 1
    assert refused > 30
    for wrong in ("", "func.func private @f()", 'func.func private @g(%x : tensor<2xf32>) "'):
        method.attributes["exir.signature"] = StringAttr(wrong)
        with pytest.raises(ExirError):
            xdsl_exir.compile(Program(lowered.module.clone(), State(mixed.state)))
