"""C libraries of real programs on other processors: equal to the interpreter, their size, and how long they take to make.

    python bench/targets.py [digits bert6 decoder]

Under qemu-user (`apt-get install qemu-user gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu`), and for wasm32 under wasmtime with Zig's linker
and C library (`pip install wasmtime ziglang`); x86-64 without AVX, with AVX2 and as it is here. What is not installed is said to be missing.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import importlib.util
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import xdsl_exir
from xdsl_exir.runtime.c.library import compile_library

ROOT = Path(__file__).parents[1]
QEMU_ROOTS = os.environ.get("QEMU_ROOTS", "/usr")
"""Where the C libraries of other processors are, for the emulators."""


@dataclass(frozen=True)
class Machine:
    """Something that runs libraries."""

    name: str
    triple: str | None
    cpu: str | None
    command: Sequence[str]
    compiler: Sequence[str] = ("cc",)


def qemu(arch: str, cpu: str) -> tuple[str, ...]:
    root = () if arch == "x86_64" else ("-L", f"{QEMU_ROOTS}/{arch}-linux-gnu")
    return (f"qemu-{arch}", "-cpu", cpu, *root)


def cross(arch: str) -> tuple[str, ...]:
    return (f"{arch}-linux-gnu-gcc",)


MACHINES = (
    Machine("x86-64, here", None, None, ()),
    Machine("x86-64, no AVX", None, None, qemu("x86_64", "Nehalem")),
    Machine("x86-64, AVX2", None, None, qemu("x86_64", "Haswell")),
    Machine("AArch64", "aarch64-linux-gnu", None, qemu("aarch64", "max"), cross("aarch64")),
    Machine("RISC-V", "riscv64-linux-gnu", None, qemu("riscv64", "rv64"), cross("riscv64")),
    Machine("RISC-V, V", "riscv64-linux-gnu", "rv64gcv", qemu("riscv64", "rv64,v=true"), cross("riscv64")),
    Machine("wasm32", "wasm32", None, ("wasm",), ()),
    Machine("wasm32, SIMD", "wasm32", "wasm-simd128", ("wasm",), ()),
)


@dataclass(frozen=True)
class Model:
    """A program, the calls that are made of it, and what the interpreter says of them."""

    program: xdsl_exir.Program
    calls: Sequence[tuple[str, Sequence[Any]]]
    """Methods, and arrays: all their inputs."""


def digits() -> Model:
    images = np.load(ROOT / "bench" / "digits" / "test_images.npz")["images"]
    return Model(xdsl_exir.load(ROOT / "bench" / "digits" / "digits.pt2"), [("forward", [images])])


def bert6() -> Model:
    """Of the benchmark, in float32."""
    import torch

    model, inputs = runpy.run_path(str(ROOT / "bench" / "models" / "bert6.py"))["get_model_and_inputs"](0)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(model, inputs)
    return Model(xdsl_exir.from_exported_program(exported), [("forward", [x.numpy() for x in inputs])])


def decoder() -> Model:
    """A prompt, and words after it, each with what the ones before left in the library."""
    import torch

    torch.manual_seed(0)
    made = runpy.run_path(str(ROOT / "examples" / "decoder" / "model.py"))
    words = [np.array([[word]]) for word in (7, 3, 99)]
    prompt = np.array([[3, 14, 15, 92, 65]])
    return Model(
        made["export"](made["Decoder"]().eval()),
        [("prefill", [prompt]), *(("decode", [word]) for word in words)],
    )


MODELS = {"digits": digits, "bert6": bert6, "decoder": decoder}

TYPES = {"float32": "float", "int64": "int64_t", "uint8": "uint8_t"}


def main_text(name: str, model: Model, results: Sequence[Sequence[Any]]) -> str:
    """A C program that makes the calls: inputs from standard input, results to standard output."""
    lines = [f'#include <stdio.h>\n#include "{name}.h"\nint main(int argc, char **argv) {{']
    lines.append(f'  if ({name}_load(argv[1])) {{ fprintf(stderr, "%s\\n", {name}_error()); return 1; }}')
    for call, ((method, inputs), outputs) in enumerate(zip(model.calls, results, strict=True)):
        for kind, arrays in (("in", inputs), ("out", outputs)):
            lines += [
                f"  static {TYPES[str(a.dtype)]} {kind}{call}_{i}[{a.size}];" for i, a in enumerate(arrays)
            ]
        lines += [
            f"  if (fread(in{call}_{i}, sizeof in{call}_{i}, 1, stdin) != 1) return 2;"
            for i in range(len(inputs))
        ]
        sizes = model.program.methods[method].function_type.inputs
        known = [str(inputs[0].shape[1])] if method == "prefill" else []
        assert len(sizes) >= len(inputs)
        names = [
            *known,
            *(f"in{call}_{i}" for i in range(len(inputs))),
            *(f"out{call}_{i}" for i in range(len(outputs))),
        ]
        lines.append(
            f'  if ({name}_{method}({", ".join(names)})) {{ fprintf(stderr, "%s\\n", {name}_error()); return 3; }}'
        )
        lines += [f"  fwrite(out{call}_{i}, sizeof out{call}_{i}, 1, stdout);" for i in range(len(outputs))]
    return "\n".join([*lines, f"  {name}_free();\n  return 0;\n}}\n"])


def zig() -> list[str]:
    """Zig's C compiler, which brings a linker and a C library for WebAssembly."""
    return [sys.executable, "-m", "ziglang", "cc", "--target=wasm32-wasi"]


def missing(machine: Machine) -> str:
    """What is not installed."""
    if machine.triple == "wasm32":
        return ", ".join(name for name in ("wasmtime", "ziglang") if importlib.util.find_spec(name) is None)
    needed = (*machine.command[:1], *machine.compiler)
    return ", ".join(name for name in needed if shutil.which(name) is None)


def run_wasm(module: Path, folder: Path, given: bytes) -> bytes:
    """Runs a WebAssembly program, which sees its folder."""
    import wasmtime

    (folder / "given").write_bytes(given)
    config = wasmtime.WasiConfig()
    config.argv = ["main", "/work/weights"]
    config.stdin_file, config.stdout_file = str(folder / "given"), str(folder / "made")
    config.stderr_file = str(folder / "errors")
    config.preopen_dir(str(folder), "/work")
    engine = wasmtime.Engine()
    store, linker = wasmtime.Store(engine), wasmtime.Linker(engine)
    linker.define_wasi()
    store.set_wasi(config)
    instance = linker.instantiate(store, wasmtime.Module.from_file(engine, str(module)))
    code = 0
    try:
        instance.exports(store)["_start"](store)  # type: ignore[operator]
    except wasmtime.ExitTrap as ended:
        code = ended.code
    assert code == 0, (folder / "errors").read_text()
    return (folder / "made").read_bytes()


def built(name: str, model: Model, results: Sequence[Sequence[Any]], machine: Machine, folder: Path) -> Any:
    """The files of a library, and the program that calls it."""
    is_wasm = machine.triple == "wasm32"
    emit = "obj" if is_wasm else "so"
    made = compile_library(model.program, folder, name, machine.cpu, machine.triple, emit, threads=1)
    (folder / "main.c").write_text(main_text(name, model, results))
    words = ["-std=c11", "-O2", f"-I{folder}", "-o", str(folder / "main"), str(folder / "main.c")]
    if is_wasm:
        emulated = ["-D_WASI_EMULATED_MMAN", "-lwasi-emulated-mman", "-Wl,-z,stack-size=1048576"]
        command = [*zig(), *words, str(made.source), str(made.library), *emulated, "-lm"]
        shutil.copyfile(made.weights, folder / "weights")
    else:
        command = [*machine.compiler, *words, str(made.library), f"-Wl,-rpath,{folder}", "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return made


def measure(name: str, model: Model, machine: Machine) -> str:
    """A row of the table."""
    if lacks := missing(machine):
        return f"not run: needs {lacks}"
    run, results = xdsl_exir.compile(model.program), list[Any]()
    for method, inputs in model.calls:
        results.append([np.asarray(x) for x in run.method(method).flat(list(inputs))])
    given = b"".join(np.ascontiguousarray(x).tobytes() for _, inputs in model.calls for x in inputs)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        start = time.process_time() + sum(os.times()[2:4])
        made = built(name, model, results, machine, folder)
        seconds = time.process_time() + sum(os.times()[2:4]) - start
        if machine.triple == "wasm32":
            data = run_wasm(folder / "main", folder, given)
        else:
            done = subprocess.run(
                [*machine.command, str(folder / "main"), str(made.weights)],
                input=given,
                capture_output=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr.decode()
            data = done.stdout
        worst, at = 0.0, 0
        for result in (r for results_of_call in results for r in results_of_call):
            found = np.frombuffer(data, result.dtype, result.size, at).reshape(result.shape)
            at += result.nbytes
            scale = np.abs(result).max()
            worst = max(worst, float(np.abs(found.astype(np.float64) - result).max() / scale))
        assert at == len(data)
        kilobytes = [path.stat().st_size / 1024 for path in (made.library, made.weights)]
    return f"{worst:.1e}  {kilobytes[0]:8.0f} {kilobytes[1]:9.0f}  {seconds:6.1f}"


def main(*names: str) -> None:
    print("model     machine          difference  code, KiB  weights, KiB  CPU s")
    for name in names or MODELS:
        model = MODELS[name]()
        for machine in MACHINES:
            print(f"{name:9} {machine.name:16} {measure(name, model, machine)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
