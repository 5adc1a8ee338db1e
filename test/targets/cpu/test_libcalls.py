"""What LLVM calls for what a processor lacks: it is always there, and its numbers are NumPy's, ml_dtypes' and Python's."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir import errors
from xdsl_exir.program import Program, context
from xdsl_exir.runtime import linking
from xdsl_exir.targets.cpu import libcalls, objects
from xdsl_exir.targets.cpu.machine import LEVELS, host, processor

pytest.importorskip("llvmlite", reason="needs llvmlite: pip install llvmlite==0.50.0")
pytestmark = pytest.mark.usefixtures("native_tools")
RUNNABLE = [
    "native",
    *(name for name in ("x86-64", "x86-64-v3") if LEVELS.get(name, {name}) <= host().enabled),
]
SHORT: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


def loop(name: str, source: str, target: str, body: str, count: int = 1, size: int = 1) -> str:
    """A function that computes `body` (%y of %x, and of %a) for each element of arrays."""
    given = f"memref<{size}x{source}>"
    loads = "\n".join(f"%{value} = memref.load %{value}s[%i] : {given}" for value in "xa"[:count])
    return f"""
    func.func @{name}({", ".join(f"%{value}s: {given}" for value in "xa"[:count])}, %ys: memref<{size}x{target}>)
        attributes {{llvm.emit_c_interface}} {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %size = arith.constant {size} : index
      scf.for %i = %zero to %size step %one {{
        {loads}
        {body}
        memref.store %y, %ys[%i] : memref<{size}x{target}>
      }}
      return
    }}"""


def equal(found: Any, expected: Any) -> bool:
    """The same bits, but for those of NaN."""
    nan = np.isnan(expected)
    bits = [np.where(nan, 0, values.view(f"u{values.itemsize}")) for values in (found, expected)]
    return np.array_equal(np.isnan(found), nan) and np.array_equal(bits[0], bits[1])


def singles(dtype: Any) -> Any:
    """Every number of a short dtype as float32, what lies midway to the next, and the neighbours of all."""
    numbers = np.arange(1 << 16, dtype=np.uint16).view(dtype).astype(np.float32)
    bits = numbers.view(np.uint32)[:, None]
    step = np.spacing(np.abs(numbers[np.isfinite(numbers)]).astype(dtype)).astype(np.float64) / 2
    midway = (numbers[np.isfinite(numbers)].astype(np.float64) + step).astype(np.float32).view(np.uint32)
    around = np.concatenate([bits.ravel(), midway])[:, None] + np.array([-1, 0, 1]).astype(np.uint32)
    return around.ravel().view(np.float32)


def doubles(dtype: Any) -> Any:
    """As `singles`, and float64 numbers that are next to them."""
    near = singles(dtype).astype(np.float64)
    return np.concatenate([near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf)])


def converted(x: Any, type: str, cpu: str) -> Any:
    """An array after `_to_copy` to an MLIR type, natively."""
    source = {"float32": "f32", "float64": "f64", "int64": "i64"}.get(x.dtype.name, type)
    target = "f32" if source == type else type
    text = f"""
        func.func @forward(%x: tensor<{x.size}x{source}>) -> tensor<{x.size}x{target}> {{
          %0 = edge.aten._to_copy(%x) : (tensor<{x.size}x{source}>) -> tensor<{x.size}x{target}>
          func.return %0 : tensor<{x.size}x{target}>
        }}"""
    program = Program(Parser(context().clone(), text).parse_module())
    return xdsl_exir.compile(program, "native", cpu=cpu)(x)[0]


@pytest.mark.parametrize("cpu", RUNNABLE)
@pytest.mark.parametrize("type", SHORT)
def test_conversions_of_short_floats(type: str, cpu: str) -> None:
    """Exhaustively: each number, and whatever rounds. float64 and integers are rounded to float32 first, as in PyTorch."""
    dtype = SHORT[type]
    every = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    with np.errstate(all="ignore"):
        assert equal(converted(every, type, cpu), every.astype(np.float32))
        for x in (singles(dtype), doubles(dtype)):
            assert equal(converted(x, type, cpu), x.astype(np.float32).astype(dtype))
        whole = (1 << np.arange(7, 63, dtype=np.int64))[:, None] + np.array([-1, 0, 1])
        whole = (whole[:, :, None] + (whole >> 8)[:, None, :]).ravel()
        assert equal(converted(whole, type, cpu), whole.astype(np.float32).astype(dtype))


@pytest.mark.parametrize("type", SHORT)
def test_functions_for_short_floats(type: str) -> None:
    """Those of our own, which x86-64 without further features calls. float64 is rounded once."""
    dtype, cpu = SHORT[type], processor(min(LEVELS, default="native"))
    with np.errstate(all="ignore"):
        single, double = singles(dtype), doubles(dtype)
        every = np.arange(1 << 16, dtype=np.uint16).view(dtype)
        texts = [
            loop("single", "f32", type, f"%y = arith.truncf %x : f32 to {type}", size=single.size),
            loop("double", "f64", type, f"%y = arith.truncf %x : f64 to {type}", size=double.size),
            loop("every", type, "f32", f"%y = arith.extf %x : {type} to f32", size=every.size),
        ]
        data = objects.compile_object("\n".join(texts), cpu=cpu)
        library = linking.load_objects([data])
        for name, x in (("single", single), ("double", double), ("every", every)):
            y = np.empty(x.shape, np.float32 if name == "every" else dtype)
            linking.bind(library, name, [x, y])()
            assert equal(y, x.astype(y.dtype) if name != "double" else rounded_once(x, dtype)), name


def rounded_once(x: Any, dtype: Any) -> Any:
    """float64 rounded to a short float, by the definition: NumPy's rounding, as ml_dtypes rounds twice."""
    if dtype is np.float16:
        return x.astype(dtype)
    near = x.astype(np.float32).astype(dtype)
    finite = np.isfinite(x)
    found = near.copy()
    steps = [near.view(np.uint16) + np.array(step).astype(np.uint16) for step in (-1, 0, 1)]
    candidates = np.stack([step.view(dtype) for step in steps])
    values = candidates.astype(np.float64)
    distance = np.abs(np.where(np.isinf(values), np.copysign(2.0**128, values), values) - x)
    distance[np.isnan(distance)] = np.inf
    odd = (candidates.view(np.uint16) & 1).astype(bool)
    best = np.lexsort((odd, distance), axis=0)[0]
    found[finite] = np.take_along_axis(candidates, best[None], 0)[0][finite]
    return found


INTEGERS = [
    0,
    1,
    -1,
    3,
    -7,
    10**9,
    1 << 63,
    -(1 << 63),
    (1 << 64) + 1,
    10**30,
    -(10**37),
    (1 << 127) - 1,
    -(1 << 127),
]


def words(numbers: list[int]) -> Any:
    """128-bit integers as they lie in memory."""
    raw = b"".join((number % (1 << 128)).to_bytes(16, "little") for number in numbers)
    return np.frombuffer(raw, np.uint64).copy()


def test_integers_of_128_bits() -> None:
    pairs = [(a, b) for a, b in itertools.product(INTEGERS, INTEGERS) if b and (a, b) != (-(1 << 127), -1)]
    unsigned = [(a % (1 << 128), b % (1 << 128)) for a, b in pairs]
    expected = {
        "divsi": [abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in pairs],
        "remsi": [abs(a) % abs(b) * (1 if a >= 0 else -1) for a, b in pairs],
        "divui": [a // b for a, b in unsigned],
        "remui": [a % b for a, b in unsigned],
        "muli": [a * b for a, b in pairs],
    }
    size = len(pairs)
    texts = [loop(op, "i128", "i128", f"%y = arith.{op} %x, %a : i128", 2, size) for op in expected]
    floats = [float(a) for a in INTEGERS]
    texts += [
        loop("to", "i128", "f64", "%y = arith.sitofp %x : i128 to f64", size=len(floats)),
        loop("tou", "i128", "f32", "%y = arith.uitofp %x : i128 to f32", size=len(floats)),
        loop("from", "f64", "i128", "%y = arith.fptosi %x : f64 to i128", size=len(floats)),
    ]
    library = linking.load("\n".join(texts))
    a, b = words([a for a, _ in pairs]), words([b for _, b in pairs])
    for op, numbers in expected.items():
        linking.bind(library, op, [a, b, y := np.empty_like(a)])()
        assert np.array_equal(y, words(numbers)), op
    x = words(INTEGERS)
    linking.bind(library, "to", [x, y := np.empty(len(floats))])()
    assert y.tolist() == floats
    linking.bind(library, "tou", [x, y := np.empty(len(floats), np.float32)])()
    with np.errstate(over="ignore"):
        assert np.array_equal(y, np.array([float(a % (1 << 128)) for a in INTEGERS], np.float32))
    inside = np.array([a for a in floats if abs(a) < 2.0**127] + [2.75, -2.75])
    inside.resize(len(floats))
    linking.bind(library, "from", [inside, y := np.empty(2 * len(floats), np.uint64)])()
    assert np.array_equal(y, words([int(a) for a in inside]))


def test_integer_powers() -> None:
    x = np.array([0.0, -0.0, 1.5, -1.25, 10.0, np.inf, np.nan, 1e-3])
    exponents = np.arange(-4, 4, dtype=np.int32)
    a, b = (values.ravel().copy() for values in np.meshgrid(x, exponents))
    body = "%n = memref.load %ns[%i] : memref<SIZExi32>\n%y = math.fpowi %x, %n : f64, i32"
    text = loop("f", "f64", "f64", body.replace("SIZE", str(a.size)), size=a.size)
    text = text.replace("%ys:", f"%ns: memref<{a.size}xi32>, %ys:")
    linking.bind(linking.load(text), "f", [a, b, y := np.empty_like(a)])()
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(y, a ** b.astype(float), rtol=1e-15)


FLOATS = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
INTS = ("i1", "i8", "i16", "i32", "i64", "i128")
UNARY = [
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "nearbyint",
    "round",
    "roundeven",
    "canonicalize",
]
BINARY = ["pow", "minnum", "maxnum", "minimum", "maximum", "minimumnum", "maximumnum", "copysign", "atan2"]


def instructions() -> Iterator[str]:
    """Functions in LLVM IR, one for each instruction and intrinsic on each type."""
    for (a, short), b in itertools.product(FLOATS.items(), INTS):
        for op in ("fptosi", "fptoui"):
            yield f"define {b} @f({a} %x) {{ %y = {op} {a} %x to {b} ret {b} %y }}"
        for op in ("sitofp", "uitofp"):
            yield f"define {a} @f({b} %x) {{ %y = {op} {b} %x to {a} ret {a} %y }}"
        yield f"define {b} @f({a} %x) {{ %y = call {b} @llvm.fptosi.sat.{b}.{short}({a} %x) ret {b} %y }}"
    for a, b in itertools.combinations(FLOATS, 2):
        if (a, b) != ("half", "bfloat"):
            yield f"define {b} @f({a} %x) {{ %y = fpext {a} %x to {b} ret {b} %y }}"
            yield f"define {a} @f({b} %x) {{ %y = fptrunc {b} %x to {a} ret {a} %y }}"
    for a, short in FLOATS.items():
        for op in ("fadd", "fsub", "fmul", "fdiv", "frem"):
            yield f"define {a} @f({a} %x, {a} %a) {{ %y = {op} {a} %x, %a ret {a} %y }}"
        for op in UNARY:
            yield f"define {a} @f({a} %x) {{ %y = call {a} @llvm.{op}.{short}({a} %x) ret {a} %y }}"
        for op in BINARY:
            yield f"define {a} @f({a} %x, {a} %a) {{ %y = call {a} @llvm.{op}.{short}({a} %x, {a} %a) ret {a} %y }}"
        for op in ("fma", "fmuladd"):
            yield (
                f"define {a} @f({a} %x, {a} %a) "
                f"{{ %y = call {a} @llvm.{op}.{short}({a} %x, {a} %a, {a} %x) ret {a} %y }}"
            )
        for op in ("powi", "ldexp"):
            yield (
                f"define {a} @f({a} %x, i32 %n) "
                f"{{ %y = call {a} @llvm.{op}.{short}.i32({a} %x, i32 %n) ret {a} %y }}"
            )
        for op in ("lround", "llround", "lrint", "llrint"):
            yield f"define i64 @f({a} %x) {{ %y = call i64 @llvm.{op}.i64.{short}({a} %x) ret i64 %y }}"
        yield f"define i1 @f({a} %x, {a} %a) {{ %y = fcmp olt {a} %x, %a ret i1 %y }}"
    for a in INTS:
        for op in ["add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "shl", "lshr", "ashr"]:
            yield f"define {a} @f({a} %x, {a} %a) {{ %y = {op} {a} %x, %a ret {a} %y }}"
        for op in ("ctpop", "bitreverse"):
            yield f"define {a} @f({a} %x) {{ %y = call {a} @llvm.{op}.{a}({a} %x) ret {a} %y }}"


def declarations(functions: list[str]) -> str:
    """Declarations of the intrinsics that functions call."""
    found: dict[str, str] = {}
    for text in functions:
        if "@llvm." in text:
            call = text.split("call ")[1]
            name = call.split("(")[0]
            types = [part.split()[0] for part in call.split("(")[1].split(")")[0].split(",")]
            found[name] = f"declare {name}({', '.join(types)})"
    return "\n".join(found.values())


@pytest.mark.parametrize("cpu", ["native", *LEVELS])
def test_all_that_llvm_may_call_is_there(cpu: str) -> None:
    functions = [
        text.replace("@f(", f"@f{i}(").replace(" %y = ", "\n%y = ").replace(" ret ", "\nret ")
        for i, text in enumerate(instructions())
    ]
    data = objects.emit_object("\n".join([*functions, declarations(functions)]), processor(cpu))
    linking.load_objects([data])
    if cpu == "x86-64":
        assert objects.symbols_of([data]).needed >= libcalls.NAMES - {"__powidf2", "__powisf2"}, (
            "not all are tried"
        )


def test_a_function_that_is_not_there_is_named() -> None:
    text = """
    func.func private @nowhere()
    func.func @f() attributes {llvm.emit_c_interface} {
      func.call @nowhere() : () -> ()
      return
    }"""
    with pytest.raises(errors.ToolchainError, match=r"no library here has: nowhere$"):
        linking.load(text)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc) is installed")
def test_c_libraries_have_them(tmp_path: Path) -> None:
    from xdsl_exir.runtime.c.library import compile_library

    text = """
        func.func @forward(%x: tensor<8xf16>) -> tensor<8xf16> {
          %0 = edge.aten.mul.Tensor(%x, %x) : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
          func.return %0 : tensor<8xf16>
        }"""
    program = Program(Parser(context().clone(), text).parse_module())
    made = compile_library(program, tmp_path, "square", min(LEVELS, default="native"))
    names = subprocess.run(
        ["nm", "-u", made.library], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not libcalls.NAMES & set(names)
