"""The accelerator of `examples/npu`: what it takes, what it leaves, and that its bytes run elsewhere."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir import UnsupportedError
from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.dtypes import Char, Float
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.program import Program, context

EXAMPLE = Path(__file__).parents[1] / "examples" / "npu"


@pytest.fixture
def npu(clean: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The example's module, registered while a test runs."""
    from xdsl_exir.interpreter.backend import BACKENDS
    from xdsl_exir.runtime.targets import TARGETS

    monkeypatch.syspath_prepend(str(EXAMPLE))
    spec = importlib.util.spec_from_file_location("npu_example", EXAMPLE / "npu.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del TARGETS["npu"], BACKENDS["npu"]
    sys.modules.pop("driver", None)


def layers(batch: int, *sizes: int, between: str = "relu") -> Program:
    """Linear layers with biases, and an operator after each; aten, as captured."""
    rng, state, body = np.random.default_rng(0), dict[str, Any](), list[str]()
    args, value = list[str](), "x"
    for index, (columns, rows) in enumerate(pairwise(sizes)):
        w, b, y = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>", f"tensor<{batch}x{rows}xf32>"
        for name, type, shape in ((f"w{index}", w, (rows, columns)), (f"b{index}", b, (rows,))):
            args.append(f'%{name}: {type} {{exir.input = #exir.input<parameter, "{name}">}}')
            state[name] = TensorData.of(rng.normal(size=shape).astype(np.float32) / 8, Float)
        x = f"tensor<{batch}x{columns}xf32>"
        body.append(f"%l{index} = aten.linear(%{value}, %w{index}, %b{index}) : ({x}, {w}, {b}) -> {y}")
        body.append(f"%y{index} = aten.{between}(%l{index}) : ({y}) -> {y}")
        value = f"y{index}"
    args.append(f'%x: tensor<{batch}x{sizes[0]}xf32> {{exir.input = #exir.input<user_input, "x">}}')
    result = f"tensor<{batch}x{sizes[-1]}xf32>"
    text = (
        f"func.func @forward({', '.join(args)}) -> ({result} {{exir.output = #exir.output<user_output>}}) {{\n"
        + "\n".join(body)
        + f"\nfunc.return %{value} : {result}}}"
    )
    return Program(Parser(context().clone(), text).parse_module(), state).verify()


def delegates(program: Program) -> list[DelegateOp]:
    return [op for op in program.module.walk() if isinstance(op, DelegateOp)]


def x_of(program: Program) -> Any:
    shape = program.method().function_type.inputs.data[-1].get_shape()  # pyright: ignore[reportAttributeAccessIssue]
    return np.random.default_rng(1).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("kept", [True, False])
def test_float_layers_run_on_the_chip(npu: Any, kept: bool) -> None:
    """Weights of 256 kB go through 64 kB of local memory; captured, and as others decomposed it."""
    program = layers(4, 64, 256, 256, 10)
    given = program if kept else program.to_edge()
    lowered, left = npu.TARGET.lowered(given)
    assert not left
    [op] = delegates(lowered)
    assert [inner.name for inner in op.body.block.ops][:-1] == ["backend.npu.linear_relu"] * 3
    assert len(op.owned) == 6
    [found] = xdsl_exir.compile(given, "npu").flat([x_of(program)])
    [expected] = xdsl_exir.compile(program).flat([x_of(program)])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("host", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_what_does_not_fit_or_is_not_known_is_the_hosts(npu: Any, host: str) -> None:
    import dataclasses

    target = dataclasses.replace(npu.TARGET, host=host)
    program = layers(8, 16, 2100, 8, between="tanh")
    with pytest.raises(UnsupportedError) as refused:
        xdsl_exir.compile(program, target)
    assert "an input of (8, 2100) leaves no room in 65536 bytes" in str(refused.value)
    assert "edge.aten.tanh: npu has no such operator" in str(refused.value)
    run = xdsl_exir.compile(program, target, fallback="interpreter")
    assert [item.operator for item in run.fallbacks] == [
        "edge.aten.tanh",
        "backend.npu.linear",
        "edge.aten.tanh",
    ]
    [found], [expected] = run.flat([x_of(program)]), xdsl_exir.compile(program).flat([x_of(program)])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


INT8 = """
func.func @forward(%w: tensor<300x64xi8> {exir.input = #exir.input<parameter, "w">}, %b: tensor<300xf32> {exir.input = #exir.input<parameter, "b">}, %x: tensor<4x64xi8> {exir.input = #exir.input<user_input, "x">})
    -> (tensor<4x300xi8> {exir.output = #exir.output<user_output>}) {
  %0 = quantized_decomposed.dequantize_per_tensor(%x, scale = 0.05, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<4x64xi8>) -> tensor<4x64xf32>
  %1 = quantized_decomposed.dequantize_per_tensor(%w, scale = 0.02, zero_point = 0, quant_min = -127, quant_max = 127, dtype = i8) : (tensor<300x64xi8>) -> tensor<300x64xf32>
  %2 = aten.linear(%0, %1, %b) : (tensor<4x64xf32>, tensor<300x64xf32>, tensor<300xf32>) -> tensor<4x300xf32>
  %3 = aten.relu(%2) : (tensor<4x300xf32>) -> tensor<4x300xf32>
  %4 = quantized_decomposed.quantize_per_tensor(%3, scale = 0.25, zero_point = -7, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<4x300xf32>) -> tensor<4x300xi8>
  func.return %4 : tensor<4x300xi8>
}
"""


def test_int8_and_a_second_process(npu: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    state = {
        "w": TensorData.of(rng.integers(-127, 127, (300, 64), np.int8), Char),
        "b": TensorData.of(rng.normal(size=300).astype(np.float32), Float),
    }
    program = Program(Parser(context().clone(), INT8).parse_module(), state).verify()
    run = xdsl_exir.compile(program, "npu")
    x = rng.integers(-128, 127, (4, 64), np.int8)
    [found], [expected] = run.flat([x]), xdsl_exir.compile(program).flat([x])
    assert found.dtype == np.int8
    assert len(np.unique(found)) > 20
    # Sums of int32 and of float32 may be rounded to neighbours.
    assert np.abs(found.astype(int) - expected).max() <= 1
    assert np.mean(found == expected) > 0.99
    lowered, left = npu.TARGET.lowered(program)
    assert not left
    for suffix in (".mlir", ".pt2"):
        path = tmp_path / f"npu{suffix}"
        lowered.transform("preprocess-delegates").save(path)
        np.save(tmp_path / "x.npy", x)
        code = """if True:
            import sys, numpy as np
            sys.path.insert(0, sys.argv[1])
            import driver, xdsl_exir
            xdsl_exir.register_backend("npu", load=driver.load)
            run = xdsl_exir.compile(xdsl_exir.load(sys.argv[2]))
            np.save(sys.argv[3] + "/y.npy", run.flat([np.load(sys.argv[3] + "/x.npy")])[0])
            assert "npu" not in sys.modules
        """
        done = subprocess.run(
            [sys.executable, "-c", code, EXAMPLE, path, tmp_path], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), found)


FROM_C = """
#include <stdio.h>
#include "net.h"

extern const exir_backend npu;
static void *taken(const void *bytes, int64_t count, const char *const *specs) { return count ? "made" : NULL; }
static void *refused(const void *bytes, int64_t count, const char *const *specs) { return NULL; }
static int fails(void *made, int inputs, const exir_array *in, int outputs, const exir_array *out) { return 42; }
static void nothing(void *made) {}

int main(int argc, char **argv) {
  static float x[NET_FORWARD_IN_X_ELEMENTS], y[NET_FORWARD_OUT0_ELEMENTS];
  const exir_backend bad[] = {{refused, fails, nothing}, {taken, fails, nothing}};
  printf("%d ", net_load(argv[1]) == NET_ERROR_BACKEND);
  puts(net_error());
  net_backend_npu(&bad[0]);
  printf("%d ", net_load(argv[1]) == NET_ERROR_BACKEND);
  puts(net_error());
  net_backend_npu(&bad[1]);
  printf("%d ", net_load(argv[1]));
  printf("%d ", net_forward(x, y) == NET_ERROR_DELEGATE);
  puts(net_error());
  net_backend_npu(&npu);
  if (net_load(argv[1]) != NET_OK) return puts(net_error()), 1;
  FILE *given = fopen("x", "rb"), *made = fopen("y", "wb");
  if (fread(x, sizeof x, 1, given) != 1 || net_forward(x, y) != NET_OK) return puts(net_error()), 2;
  fwrite(y, sizeof y, 1, made);
  fclose(given);
  fclose(made);
  net_free();
  return 0;
}
"""


@pytest.mark.native
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc) is installed")
def test_from_c(npu: Any, native_tools: None, tmp_path: Path) -> None:
    """Delegates around a host's operator, and what is not as it should be."""
    program = layers(4, 64, 256, 10, between="tanh")
    lowered, left = npu.TARGET.lowered(program)
    assert [item.operator for item in left] == ["edge.aten.tanh"] * 2
    made = xdsl_exir.compile_library(lowered, tmp_path, "net", threads=1)
    (tmp_path / "main.c").write_text(FROM_C)
    x_of(program).tofile(tmp_path / "x")
    flags = [
        "-std=c11",
        "-Wall",
        "-Werror",
        '-DLIBRARY="net.h"',
        f"-I{tmp_path}",
        f"-L{tmp_path}",
        f"-Wl,-rpath,{tmp_path}",
    ]
    words = ["cc", *flags, "-o", "main", "main.c", str(EXAMPLE / "driver.c"), "-lnet", "-lm"]
    subprocess.run(words, cwd=tmp_path, check=True)
    done = subprocess.run(
        [tmp_path / "main", made.weights], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines() == [
        "1 nobody runs the delegates of backend npu: say who does before they are loaded",
        "1 backend npu does not take delegate 0",
        "0 1 backend npu failed in delegate 0, with code 42",
    ]
    [expected] = xdsl_exir.compile(program).flat([x_of(program)])
    np.testing.assert_allclose(
        np.fromfile(tmp_path / "y", np.float32).reshape(4, 10), expected, rtol=1e-4, atol=1e-5
    )


def test_weights_are_replaced(npu: Any) -> None:
    program = layers(2, 8, 8)
    weights = {"w0": np.eye(8, dtype=np.float32)}
    runs = [xdsl_exir.compile(program, target) for target in ("npu", "interpreter")]
    for run in runs:
        run.load_state(weights, strict=False)
    [found], [expected] = (run.flat([x_of(program)]) for run in runs)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_example_is_short() -> None:
    assert sum(len(path.read_text().splitlines()) for path in EXAMPLE.glob("*.*")) <= 300
