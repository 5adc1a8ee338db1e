"""`xdsl-exir compile`: a C program loads the library and its weights, runs it, and gets what the interpreter gets."""

from __future__ import annotations

import ctypes
import re
import shutil
import struct
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.errors import ExirError
from xdsl_exir.program import context
from xdsl_exir.runtime.c.interface import ERRORS
from xdsl_exir.runtime.c.library import Artifact, compile_library
from xdsl_exir.tools.main import main

COMPILER = shutil.which("cc") or ""
pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not COMPILER, reason="no C compiler (cc) is installed"),
]
DIGITS = Path(__file__).parents[2] / "bench" / "digits"
CODES = {name: code for code, (name, _) in enumerate(ERRORS, 1)}

# Reads the inputs of each call from standard input, and writes its outputs to standard output.
PROGRAM = """
#include <stdio.h>
#include "NAME.h"

ARRAYS

int main(int argc, char **argv) {
  int code = NAME_load(argv[1]);
  if (code != UPPER_OK) {
    fprintf(stderr, "%s\\n", NAME_error());
    return code;
  }
  for (int call = 0; call < CALLS; call++) {
    READS
    if ((code = NAME_forward(ARGUMENTS)) != UPPER_OK) return code;
    WRITES
  }
  NAME_free();
  return NAME_forward(ARGUMENTS) == UPPER_ERROR_NOT_LOADED ? 0 : 100;
}
"""
TYPES = {
    "float32": "float",
    "uint8": "uint8_t",
    "int64": "int64_t",
    "bool": "bool",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
}


def build(folder: Path, artifact: Artifact, arrays: dict[str, Any], outputs: list[str], calls: int) -> Path:
    """A C program for a library, whose arrays are these, in the order of its parameters."""
    name = artifact.header.stem
    macro = f"{name}_forward_".upper()
    fill = {
        "ARRAYS": "\n".join(
            f"static {TYPES[str(a.dtype)]} {n}[{macro}{n.upper()}_ELEMENTS];" for n, a in arrays.items()
        ),
        "READS": "\n    ".join(
            f"if (fread({n}, {macro}{n.upper()}_BYTES, 1, stdin) != 1) return 101;"
            for n in arrays
            if n.startswith("in_")
        ),
        "WRITES": "\n    ".join(f"fwrite({n}, {macro}{n.upper()}_BYTES, 1, stdout);" for n in outputs),
        "ARGUMENTS": ", ".join(arrays),
        "CALLS": str(calls),
        "NAME": name,
        "UPPER": name.upper(),
    }
    text = re.sub(r"[A-Z]{4,}(?=\b|_)", lambda match: fill.get(match[0], match[0]), PROGRAM)
    (folder / "main.c").write_text(text)
    command = [
        COMPILER,
        "-std=c11",
        "-Wall",
        "-Werror",
        "-o",
        "main",
        "main.c",
        f"-I{artifact.header.parent}",
    ]
    command += [f"-L{artifact.library.parent}", f"-l{name}", f"-Wl,-rpath,{artifact.library.parent}"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "main"


def run(executable: Path, weights: Path, inputs: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([str(executable), str(weights)], input=inputs, capture_output=True, check=False)


def undefined(library: Path) -> set[str]:
    """Symbols that a shared library needs from others."""
    listed = subprocess.run(
        ["nm", "-D", "--undefined-only", str(library)], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in listed.stdout.splitlines()]
    return {symbol.split("@")[0] for kind, symbol in rows if kind == "U"}


def assert_only_c_and_openmp(library: Path) -> None:
    known = [ctypes.CDLL("libc.so.6"), ctypes.CDLL("libm.so.6")]
    for symbol in undefined(library):
        assert symbol.startswith(("__kmpc_", "omp_")) or any(hasattr(lib, symbol) for lib in known), symbol


def assert_clean(header: Path) -> None:
    """A header is C99 and C++ without a warning."""
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    languages = [("c", "c99", COMPILER), ("c++", "c++11", shutil.which("c++"))]
    for language, standard, compiler in languages:
        if compiler:
            command = [compiler, "-x", language, f"-std={standard}", *flags, "-include", header, "-"]
            subprocess.run(command, input=b"int main(void);", check=True)


def export(model: Any, inputs: tuple[Any, ...]) -> xdsl_exir.Program:
    torch = pytest.importorskip("torch")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xdsl_exir.from_exported_program(torch.export.export(model.eval(), inputs))


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    folder = tmp_path_factory.mktemp("digits")
    assert main(["compile", str(DIGITS / "digits.pt2"), "-o", str(folder)]) == 0
    return Artifact(*(folder / name for name in ("libdigits.so", "digits.h", "digits.weights")))


@pytest.fixture(scope="module")
def digits_program(digits: Artifact, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    images = np.load(DIGITS / "test_images.npz")["images"]
    expected = xdsl_exir.compile(xdsl_exir.load(DIGITS / "digits.pt2")).flat([images])[0]
    arrays = {"in_images": images, "out0": expected}
    return build(tmp_path_factory.mktemp("c"), digits, arrays, ["out0"], 2), images, expected


def test_digits_from_c(digits: Artifact, digits_program: tuple[Path, Any, Any]):
    executable, images, expected = digits_program
    done = run(executable, digits.weights, images.tobytes() * 2)
    assert done.returncode == 0, done.stderr
    got = np.frombuffer(done.stdout, np.float32).reshape(2, *expected.shape)
    np.testing.assert_allclose(got, np.stack([expected] * 2), rtol=1e-4, atol=1e-4)


def test_digits_needs_only_c_and_openmp(digits: Artifact):
    assert_only_c_and_openmp(digits.library)
    assert not any("for_static" in symbol for symbol in undefined(digits.library))  # which are its own
    assert_clean(digits.header)


def damaged(weights: bytes, name: str) -> bytes:
    def with_byte(position: int) -> bytes:
        return weights[:position] + bytes([weights[position] ^ 1]) + weights[position + 1 :]

    return {
        "empty": lambda: b"",
        "half a header": lambda: weights[:32],
        "truncated": lambda: weights[:-64],
        "longer": lambda: weights + bytes(64),
        "magic": lambda: with_byte(0),
        "version": lambda: weights[:8] + struct.pack("<I", 99) + weights[12:],
        "digest": lambda: with_byte(24),
        "first byte": lambda: with_byte(64),
        "last byte": lambda: with_byte(len(weights) - 1),
    }[name]()


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        ("empty", "FORMAT"),
        ("half a header", "FORMAT"),
        ("truncated", "FORMAT"),
        ("longer", "FORMAT"),
        ("magic", "FORMAT"),
        ("version", "VERSION"),
        ("digest", "MISMATCH"),
        ("first byte", "DAMAGED"),
        ("last byte", "DAMAGED"),
    ],
)
def test_bad_weights_are_an_error(
    damage: str, error: str, digits: Artifact, digits_program: tuple[Path, Any, Any], tmp_path: Path
):
    path = tmp_path / "bad.weights"
    path.write_bytes(damaged(digits.weights.read_bytes(), damage))
    done = run(digits_program[0], path, b"")
    assert done.returncode == CODES[error]
    assert done.stderr.decode().strip() == ERRORS[CODES[error] - 1][1]


def test_weights_that_are_not_there_are_an_error(digits_program: tuple[Path, Any, Any], tmp_path: Path):
    for path in (tmp_path / "none.weights", tmp_path):
        assert run(digits_program[0], path, b"").returncode == CODES["OPEN"]


def test_weights_are_aligned_and_stored_once(tmp_path: Path):
    torch = pytest.importorskip("torch")

    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(31, 31))
            self.bias = torch.nn.Parameter(torch.randn(31))

        def forward(self, x: Any) -> Any:
            return (x @ self.weight + self.bias) @ self.weight + self.bias

    artifact = compile_library(export(Tied(), (torch.randn(2, 31),)), tmp_path, "tied")
    data = artifact.weights.read_bytes()
    assert len(data) % 64 == 0
    assert len(data) < 64 + 2 * 4 * (31 * 48 + 31)  # the packed weight's panels are padded


def test_complex_numbers_from_c(tmp_path: Path):
    torch = pytest.importorskip("torch")

    class Filter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(13, dtype=torch.complex64))

        def forward(self, x: Any, z: Any) -> Any:
            spectrum = torch.fft.rfft(x) * self.weight
            return torch.fft.irfft(spectrum, 24), spectrum, z.log().sin() / z

    model, inputs = Filter(), (torch.randn(2, 24), torch.randn(5, dtype=torch.complex128))
    program = export(model, inputs)
    given = [tensor.numpy() for tensor in inputs]
    expected = xdsl_exir.compile(program).flat(given)
    artifact = compile_library(program, tmp_path, "spectral")
    assert_only_c_and_openmp(artifact.library)
    assert_clean(artifact.header)
    names = ["out0", "out1", "out2"]
    arrays = {"in_x": given[0], "in_z": given[1], **dict(zip(names, expected, strict=True))}
    executable = build(tmp_path, artifact, arrays, names, 1)
    done = run(executable, artifact.weights, b"".join(array.tobytes() for array in given))
    assert done.returncode == 0, done.stderr
    offset = 0
    for array in expected:
        got = np.frombuffer(done.stdout, array.dtype, array.size, offset).reshape(array.shape)
        np.testing.assert_allclose(got, array, rtol=1e-4, atol=1e-4)
        offset += array.nbytes


def test_mlp_from_c(tmp_path: Path):
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(
        torch.nn.Linear(96, 200), torch.nn.GELU(), torch.nn.Linear(200, 33), torch.nn.Softmax(-1)
    )
    x = torch.randn(5, 96)
    program = export(model, (x,))
    expected = xdsl_exir.compile(program).flat([x.numpy()])[0]
    artifact = compile_library(program, tmp_path / "lib", "mlp")
    done = run(
        build(tmp_path, artifact, {"in_input": x.numpy(), "out0": expected}, ["out0"], 1),
        artifact.weights,
        x.numpy().tobytes(),
    )
    assert done.returncode == 0, done.stderr
    got = np.frombuffer(done.stdout, np.float32).reshape(expected.shape)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)
    assert_only_c_and_openmp(artifact.library)


def test_control_flow_from_c(tmp_path: Path):
    torch = pytest.importorskip("torch")
    from torch._higher_order_ops.while_loop import while_loop

    class Steps(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(8, 8)

        def forward(self, count: Any, x: Any) -> Any:
            def body(i: Any, x: Any) -> Any:
                return i - 1, torch.cond(x.sum() > 0, lambda x: self.linear(x).tanh(), lambda x: 1 - x, (x,))

            return while_loop(lambda i, x: i > 0, body, (count, x))[1]

    x = torch.randn(4, 8)
    program = export(Steps().requires_grad_(False), (torch.tensor(5), x))
    calls = [(np.array(count), sign * x.numpy()) for count in (0, 1, 5, 9) for sign in (1, -1)]
    expected = [xdsl_exir.compile(program).flat([np.array(c), v])[0] for c, v in calls]
    artifact = compile_library(program, tmp_path / "lib", "steps")
    arrays = {"in_count": calls[0][0], "in_x": calls[0][1], "out0": expected[0]}
    executable = build(tmp_path, artifact, arrays, ["out0"], len(calls))
    done = run(executable, artifact.weights, b"".join(c.tobytes() + v.tobytes() for c, v in calls))
    assert done.returncode == 0, done.stderr
    got = np.frombuffer(done.stdout, np.float32).reshape(len(calls), *x.shape)
    np.testing.assert_allclose(got, np.stack(expected), rtol=1e-4, atol=1e-5)


def test_recurrent_layers_from_c(tmp_path: Path):
    torch = pytest.importorskip("torch")
    model = torch.nn.LSTM(4, 5, 2, bidirectional=True).requires_grad_(False)
    x = torch.randn(9, 2, 4)
    program = export(model, (x,))
    expected = [value.numpy() for value in torch.utils._pytree.tree_leaves(model(x))]
    artifact = compile_library(program, tmp_path / "lib", "steps")
    names = [f"out{i}" for i in range(len(expected))]
    arrays = {"in_input": x.numpy(), **dict(zip(names, expected, strict=True))}
    done = run(build(tmp_path, artifact, arrays, names, 2), artifact.weights, x.numpy().tobytes() * 2)
    assert done.returncode == 0, done.stderr
    got = np.frombuffer(done.stdout, np.float32).reshape(2, -1)
    wanted = np.concatenate([array.reshape(-1) for array in expected])
    np.testing.assert_allclose(got, np.stack([wanted] * 2), rtol=1e-4, atol=1e-5)


def test_state_lives_in_the_instance_and_inputs_are_written_back(tmp_path: Path):
    torch = pytest.importorskip("torch")

    class Running(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.arange(4.0))

        def forward(self, x: Any, count: Any) -> Any:
            old = self.total * 1.0
            self.total.add_(x)
            count.add_(1)
            return old, self.total * 2, x, torch.ones(2, dtype=torch.bool)

    x, count = np.float32([1, 2, 3, 4]), np.int64([10, 20])
    program = export(Running(), (torch.from_numpy(x), torch.from_numpy(count.copy())))
    artifact = compile_library(program, tmp_path, "running")
    outputs = {f"out{i}": a for i, a in enumerate((x, x, x, np.zeros(2, bool)))}
    executable = build(
        tmp_path, artifact, {"in_x": x, "in_count": count, **outputs}, ["in_count", *outputs], 3
    )
    assert "const float *in_x, int64_t *in_count" in artifact.header.read_text()
    done = run(executable, artifact.weights, (x.tobytes() + count.tobytes()) * 3)
    assert done.returncode == 0, done.stderr

    reference, expected = xdsl_exir.compile(program), b""
    for _ in range(3):
        given = count.copy()
        results = reference.flat([x, given])
        expected += given.tobytes() + b"".join(np.asarray(result).tobytes() for result in results)
    assert done.stdout == expected


def test_two_libraries_in_one_process(tmp_path: Path):
    torch = pytest.importorskip("torch")
    x = torch.ones(8)
    names = ("one", "two")
    for name, scale in zip(names, (2.0, 3.0), strict=True):

        class Scale(torch.nn.Module):
            def forward(self, x: Any, scale: float = scale) -> Any:
                return torch.exp(x) * scale

        compile_library(export(Scale(), (x,)), tmp_path, name)
    for name, scale in zip(names, (2.0, 3.0), strict=True):
        library = ctypes.CDLL(str(tmp_path / f"lib{name}.so"), mode=ctypes.RTLD_GLOBAL)
        assert getattr(library, f"{name}_load")(str(tmp_path / f"{name}.weights").encode()) == 0
        out = np.empty(8, np.float32)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x.numpy(), out)]
        assert getattr(library, f"{name}_forward")(*pointers) == 0
        np.testing.assert_allclose(out, np.exp(1) * scale, rtol=1e-5)
        assert not hasattr(library, "_mlir_ciface_forward")
        getattr(library, f"{name}_free")()


CALLED = (
    *(
        "fmodf",
        "aligned_alloc",
        "memcpy",
        "kernel0",
        "group0",
        "forward0",
        "_mlir_ciface_forward0",
        "main",
        "int",
    ),
    *(
        "prefill-128",
        "prefill_128",
        "prefill 128",
        "Prefill-128",
        "",
        "größe",
        "\U0001f600",
        "x" * 300,
        "free",
        "load",
    ),
)


def called(names: Sequence[str]) -> xdsl_exir.Program:
    """A program of methods of these names: each adds its position to fmod(x, 2), which LLVM calls fmodf for."""
    text = """func.func @NAME(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = aten.fmod.Scalar(%x, other = 2.0) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = aten.add.Scalar(%0, other = ADDED) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %1 : tensor<4xf32>
    }"""
    methods = [text.replace("NAME", f"m{i}").replace("ADDED", str(i)) for i in range(len(names))]
    module = Parser(context().clone(), "\n".join(methods)).parse_module()
    for function, name in zip(module.body.block.ops, names, strict=True):
        function.properties["sym_name"] = StringAttr(name)
    return xdsl_exir.Program(module).verify()


def test_methods_are_called_anything(tmp_path: Path) -> None:
    program, x = called(CALLED), np.arange(4, dtype=np.float32)
    run = xdsl_exir.compile(program, "native")
    artifact = compile_library(program, tmp_path, "lib")
    assert_clean(artifact.header)
    functions = re.findall(r"\* Runs .*\n(?: \*.*\n)* \*/\nint (\w+)\(", artifact.header.read_text())
    library = loaded(artifact)
    assert len({name.upper() for name in functions}) == len(CALLED)
    made: set[float] = set()
    for i, name in enumerate(CALLED):
        np.testing.assert_array_equal(run.method(name).flat([x])[0], np.fmod(x, 2) + i)
    for function in functions:
        out = np.empty(4, np.float32)
        assert getattr(library, function)(*(ctypes.c_void_p(one.ctypes.data) for one in (x, out))) == 0
        np.testing.assert_array_equal(out - out[0], np.fmod(x, 2))
        made.add(float(out[0]))
    assert made == set(range(len(CALLED)))
    assert {f"lib_{name}" for name in ("fmodf", "aligned_alloc", "kernel0", "prefill_128")} <= {*functions}


def loaded(artifact: Artifact) -> ctypes.CDLL:
    """A library with its weights, in this process."""
    library = ctypes.CDLL(str(artifact.library))
    assert getattr(library, f"{artifact.header.stem}_load")(str(artifact.weights).encode()) == 0
    return library


def test_arrays_that_are_null_are_an_error(tmp_path: Path) -> None:
    artifact = compile_library(called(["forward"]), tmp_path, "lib")
    library, x = loaded(artifact), np.ones(4, np.float32)
    library.lib_error.restype = ctypes.c_char_p
    address = ctypes.c_void_p(x.ctypes.data)
    for position, name in enumerate((b"in_", b"out0")):
        arrays: list[Any] = [address, address]
        arrays[position] = None
        assert library.lib_forward(*arrays) == CODES["NULL"]
        assert library.lib_error().startswith(name)
        assert library.lib_error().endswith(b" is NULL")
    assert library.lib_load(None) == CODES["OPEN"]


def test_arrays_without_elements_may_be_null(tmp_path: Path) -> None:
    text = """func.func @forward(%x: tensor<0xf32>, %n: tensor<?xf32, #exir.shape<[s0]>>)
      -> (tensor<0xf32>, tensor<?xf32, #exir.shape<[s0]>>) attributes {exir.ranges = {s0 = #exir.range<0, 4>}} {
      %0 = edge.aten.exp(%x) : (tensor<0xf32>) -> tensor<0xf32>
      %1 = edge.aten.exp(%n) : (tensor<?xf32, #exir.shape<[s0]>>) -> tensor<?xf32, #exir.shape<[s0]>>
      func.return %0, %1 : tensor<0xf32>, tensor<?xf32, #exir.shape<[s0]>>
    }"""
    program = xdsl_exir.Program(Parser(context().clone(), text).parse_module()).verify()
    library = loaded(compile_library(program, tmp_path, "lib"))
    assert library.lib_forward(ctypes.c_int64(0), None, None, None, None) == 0
    assert library.lib_forward(ctypes.c_int64(1), None, None, None, None) == CODES["NULL"]


def test_prefixes(tmp_path: Path) -> None:
    with pytest.raises(ExirError, match="would be called 'aligned_alloc', as one of the C library"):
        compile_library(called(["alloc"]), tmp_path, "aligned")
    for name in ("last", "exir", "_mlir_ciface"):  # names in the wrapper begin so, or did
        loaded(compile_library(called(["forward", "forward0"]), tmp_path, name))


def test_a_name_that_c_refuses_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["compile", str(DIGITS / "digits.pt2"), "-o", str(tmp_path), "--name", "2x"]) == 1
    assert "'2x' cannot be the prefix of C functions" in capsys.readouterr().err
