"""Compiled libraries of programs with symbolic sizes, assertions and several methods: called through ctypes and from C."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import copy
import ctypes
import math
import re
import runpy
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.dialects.signature import GUARDS, RANGES
from xdsl_exir.errors import ExirError, InputError
from xdsl_exir.runtime.c.interface import ERRORS
from xdsl_exir.runtime.c.library import Artifact, compile_library

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402

from runtime.test_c_library import COMPILER, assert_clean, assert_only_c_and_openmp  # noqa: E402
from runtime.test_state import EXAMPLE  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("native_tools"),
    pytest.mark.skipif(not COMPILER, reason="no C compiler (cc) is installed"),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning"),
]
CODES = {"OK": 0, **{name: code for code, (name, _) in enumerate(ERRORS, 1)}}


def export(model: Any, inputs: tuple[Any, ...], sizes: Any = None) -> xdsl_exir.Program:
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xdsl_exir.from_exported_program(
            torch.export.export(model.eval(), inputs, dynamic_shapes=sizes)
        )


class Library:
    """A compiled library, loaded."""

    def __init__(self, artifact: Artifact):
        self.name = artifact.header.stem
        self.header = artifact.header.read_text()
        self.library = ctypes.CDLL(str(artifact.library))
        self.function("error").restype = ctypes.c_char_p
        assert self.function("load")(str(artifact.weights).encode()) == 0

    def function(self, name: str) -> Any:
        return getattr(self.library, f"{self.name}_{name}")

    @property
    def error(self) -> str:
        return self.function("error")().decode()

    def number(self, name: str, sizes: Sequence[int], *rest: Any) -> int:
        """What a function of sizes returns."""
        function = self.function(name)
        function.restype = ctypes.c_int64
        return function(*map(ctypes.c_int64, sizes), *rest)

    def shape(self, name: str, rank: int, sizes: Sequence[int]) -> tuple[int, ...]:
        shape = (ctypes.c_int64 * rank)()
        assert (
            self.number(f"{name}_shape", sizes, shape)
            == math.prod(shape)
            == self.number(f"{name}_shape", sizes, None)
        )
        return tuple(shape)

    def __call__(self, sizes: Sequence[int], *arrays: np.ndarray, method: str = "forward") -> int:
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        return self.function(method)(*map(ctypes.c_int64, sizes), *pointers)


class Mixed(nn.Module):
    """Sizes of two symbols in inputs, results, state's values, a written input and a number."""

    total: Any

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 5)
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: Any, y: Any, z: Any) -> Any:
        self.total += x.sum()
        x.mul_(2)
        pairs = self.linear(x).relu() @ y
        halves = x[::2, 0] + z.view(2, -1).sum()
        return pairs, torch.cat([x, x[1:]]), halves, x.shape[0] * 2 + y.shape[1], self.total * 1


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[xdsl_exir.Program, Artifact]:
    rows = Dim("rows", min=3, max=64)
    inputs = torch.randn(4, 8), torch.randn(5, 6), torch.randn(8)
    program = export(Mixed(), inputs, ({0: rows}, {1: Dim.DYNAMIC}, {0: 2 * rows}))
    return program, compile_library(program, tmp_path_factory.mktemp("mixed"), "mixed")


def mixed_inputs(rows: int, columns: int) -> list[np.ndarray]:
    rng = np.random.default_rng(rows * columns)
    return [rng.standard_normal(s, np.float32) for s in ((rows, 8), (5, columns), (2 * rows,))]


def test_one_library_runs_at_any_size(mixed: Any) -> None:
    program, artifact = mixed
    library, run = Library(artifact), xdsl_exir.compile(program)
    for sizes in ((3, 1), (64, 200), (17, 33), (4, 0), (63, 7)):
        ours, inputs = mixed_inputs(*sizes), mixed_inputs(*sizes)
        expected = [np.asarray(result) for result in run.flat(inputs)]
        outputs = [np.empty(e.shape, e.dtype) for e in expected]
        for index in range(3):
            assert library.shape(f"forward_out{index}", expected[index].ndim, sizes) == expected[index].shape
        assert library.shape("forward_in_z", 1, sizes) == ours[2].shape
        assert library(sizes, *ours, *outputs) == 0, library.error
        for got, wanted in zip([ours[0], *outputs], [inputs[0], *expected], strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    assert (
        library.number("forward_arena_bytes", (64, 200)) > library.number("forward_arena_bytes", (3, 1)) > 0
    )
    library.function("free")()


def test_header_of_symbolic_sizes(mixed: Any) -> None:
    artifact = mixed[1]
    assert_clean(artifact.header)
    assert_only_c_and_openmp(artifact.library)
    header = artifact.header.read_text()
    symbols = re.findall(r"(s\d+): input '[xy]'", header)
    header = re.sub(r"\bs\d+\b", lambda match: "st"[symbols.index(match[0])], header)
    assert " *   s: input 'x', dimension 0; s >= 3; s <= 64\n" in header
    assert " *   in_z: float32[2 * s], input 'z'\n" in header
    assert " *   out3: int64[], user output, 2 * s + t\n" in header
    assert "int mixed_forward(int64_t s, int64_t t, float *in_x, const float *in_y," in header


@pytest.mark.parametrize("sizes", [(2, 5), (65, 5), (-1, 5)])
def test_sizes_out_of_range_are_told_as_in_python(mixed: Any, sizes: tuple[int, int]) -> None:
    program, artifact = mixed
    library = Library(artifact)
    assert library(sizes, *[np.empty(1)] * 8) == CODES["SIZE"]
    if sizes[0] >= 0:
        with pytest.raises(InputError) as caught:
            xdsl_exir.compile(program).flat(mixed_inputs(*sizes))
        assert library.error == str(caught.value)
    assert library.error.startswith(f"input 'x', dimension 0: {sizes[0]} is")
    assert library.number("forward_arena_bytes", sizes) == -1
    assert library.number("forward_out0_shape", sizes, None) == -1


SOLVED = """
func.func @forward(%x: tensor<?xf32, #exir.shape<[2 * s0 + 1]>> {exir.input = #exir.input<user_input, "x">},
                   %y: tensor<?xf32, #exir.shape<[s0 floordiv 2]>> {exir.input = #exir.input<user_input, "y">})
    -> (tensor<?xf32, #exir.shape<[2 * s0 + 1]>>, tensor<?xf32, #exir.shape<[s0 floordiv 2]>>)
    attributes {exir.ranges = {s0 = #exir.range<3, 5>}} {
  %0 = edge.aten.neg(%x) : (tensor<?xf32, #exir.shape<[2 * s0 + 1]>>) -> tensor<?xf32, #exir.shape<[2 * s0 + 1]>>
  %1 = edge.aten.neg(%y) : (tensor<?xf32, #exir.shape<[s0 floordiv 2]>>) -> tensor<?xf32, #exir.shape<[s0 floordiv 2]>>
  func.return %0, %1 : tensor<?xf32, #exir.shape<[2 * s0 + 1]>>, tensor<?xf32, #exir.shape<[s0 floordiv 2]>>
}
"""


def test_sizes_that_are_no_symbols(tmp_path: Path) -> None:
    (tmp_path / "solved.mlir").write_text(SOLVED)
    program = xdsl_exir.load(tmp_path / "solved.mlir")
    library = Library(compile_library(program, tmp_path, "solved"))
    assert " *   s0: input 'x', dimension 0 is 2 * s0 + 1; s0 >= 3; s0 <= 5\n" in library.header
    for value in (3, 4, 5, 6, 2):
        inputs = [np.arange(size, dtype=np.float32) for size in (2 * value + 1, value // 2)]
        outputs = [np.zeros_like(array) for array in inputs]
        if library([value], *inputs, *outputs) == 0:
            assert all((-a == b).all() for a, b in zip(inputs, outputs, strict=True))
            continue
        with pytest.raises(InputError, match=re.escape(library.error)):
            xdsl_exir.compile(program).flat(inputs)
    assert library.error == "input 'x', dimension 0: 5 makes s0 2 is less than 3 (s0 >= 3)"


def test_sizes_and_numbers_by_way_of_fractions(tmp_path: Path) -> None:
    class Rounded(nn.Module):
        def forward(self, x: Any) -> Any:
            n = x.shape[0]
            sizes = (
                *(math.ceil(n * 0.7), math.floor(n * 1.3 - 0.5), round(n / 2) + 1, (n & 3) + 2, 2 << (n % 4)),
                *(math.ceil(torch._sym_sqrt(n)), abs(n - 5) + 2, torch.sym_max(n - 9, 2)),
            )
            return x * (n / 3 % 0.7), *(x.new_ones(size) * (n**-0.5) for size in sizes)

    program = export(Rounded(), (torch.randn(7),), ({0: Dim.AUTO},))
    library, run = Library(compile_library(program, tmp_path, "rounded")), xdsl_exir.compile(program)
    for size in (7, 3, 15, 40, 1999):
        x = np.linspace(-1, 1, size, dtype=np.float32)
        expected = [np.asarray(result) for result in run.flat([x])]
        outputs = [np.empty(each.shape, each.dtype) for each in expected]
        for index, each in enumerate(expected):
            assert library.shape(f"forward_out{index}", 1, [size]) == each.shape
        assert library([size], x, *outputs) == 0, library.error
        for got, wanted in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_sizes_that_do_not_fit_in_memory(tmp_path: Path) -> None:
    class Outer(nn.Module):
        def forward(self, x: Any) -> Any:
            return (x[:, None] @ x[None, :]) @ x

    program = export(Outer(), (torch.randn(4),), ({0: Dim.DYNAMIC},))
    library = Library(compile_library(program, tmp_path, "outer"))
    x, out = np.arange(3, dtype=np.float32), np.empty(3, np.float32)
    assert library([-5], x, out) == CODES["SIZE"]
    assert library.error == "input 'x', dimension 0: -5 is less than 0 (s77 >= 0)"
    for size in (2**30, 2**40, 2**63 - 1):
        assert library([size], x, out) == CODES["MEMORY"]
        assert library.error == "not enough memory"
    assert library([3], x, out) == 0
    np.testing.assert_array_equal(out, [0, 5, 10])
    assert library([0], x[:0], out[:0]) == 0


def test_guards_and_assertions_about_sizes(tmp_path: Path) -> None:
    class Checked(nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            torch._check(x.shape[0] % 4 != 3)
            return (x.flatten() + 1, y * 2) if x.shape[0] < y.shape[0] + 2 else (x.flatten() - 1, y)

    program = export(Checked(), (torch.randn(4, 2), torch.randn(8)), ({0: Dim.DYNAMIC}, {0: Dim.DYNAMIC}))
    library, run = (
        Library(compile_library(program, tmp_path, "checked")),
        xdsl_exir.compile(program, "native"),
    )
    for sizes in ((4, 8), (5, 4), (7, 8), (9, 7), (11, 2), (2, 1)):
        inputs = [np.random.default_rng(0).standard_normal(s, np.float32) for s in ((sizes[0], 2), sizes[1])]
        outputs = [np.empty(inputs[0].size, np.float32), np.empty(sizes[1], np.float32)]
        code = library(sizes, *inputs, *outputs)
        try:
            expected, error = run.flat(inputs), None
        except ExirError as raised:
            expected, error = [], raised
        if error is not None:
            assert code == CODES["SIZE" if isinstance(error, InputError) else "ASSERTION"]
            assert library.error == str(error)
            continue
        assert code == 0, library.error
        for got, wanted in zip(outputs, expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_assertions_about_elements(tmp_path: Path) -> None:
    class Solve(nn.Module):
        count: Any

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros((), dtype=torch.long))

        def forward(self, matrices: Any, classes: Any) -> Any:
            self.count += 1
            spread = torch.cond(classes[1] > 2, lambda a: a[0] // a[1], lambda a: a[0].clone(), (classes,))
            return torch.linalg.inv(matrices), nn.functional.one_hot(classes, 5), self.count * 1, 7 % spread

    example = torch.eye(3).repeat(2, 1, 1), torch.tensor([1, 2])
    program = export(Solve(), example, ({0: Dim("n", max=9)}, None))
    artifact = compile_library(program, tmp_path, "solve")
    library = Library(artifact)
    assert_only_c_and_openmp(artifact.library)

    def call(matrices: np.ndarray, classes: Sequence[int]) -> tuple[int, list[np.ndarray]]:
        numbers = np.empty((), np.int64), np.empty((), np.int64)
        outputs = [np.empty_like(matrices), np.empty((2, 5), np.int64), *numbers]
        return library([len(matrices)], matrices, np.array(classes), *outputs), outputs

    good = np.random.default_rng(0).standard_normal((5, 3, 3), np.float32)
    singular = good.copy()
    singular[4] = 1
    code, outputs = call(good, [4, 4])
    assert code == 0
    assert outputs[3] == 0
    np.testing.assert_allclose(outputs[0] @ good, np.broadcast_to(np.eye(3), good.shape), atol=1e-4)
    for matrices, classes, message in (
        (singular, [4, 4], "linalg.inv: a matrix of the batch is singular or not positive-definite"),
        (good, [0, 5], "one_hot: Class values must be smaller than num_classes."),
        (good, [-1, 0], "one_hot: Class values must be non-negative."),
        (good, [0, 2], "integer division by zero"),
        (good, [3, 4], "integer division by zero"),
    ):
        assert (call(matrices, classes)[0], library.error) == (CODES["ASSERTION"], message)
        with pytest.raises(ExirError, match=re.escape(message)):
            xdsl_exir.compile(program, "native").flat([matrices, np.array(classes)])
    assert call(good[:1], [3, 3])[1][2] == 2  # calls that failed changed nothing


def test_indices_out_of_range(tmp_path: Path) -> None:
    class Rows(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.zeros(4, 3))

        def forward(self, x: Any, at: Any) -> Any:
            self.table.index_copy_(0, at, x)
            return self.table.sum(1)

    artifact = compile_library(export(Rows(), (torch.ones(2, 3), torch.tensor([0, 2]))), tmp_path, "rows")
    library, sums = Library(artifact), np.empty(4, np.float32)
    for at, code, wanted in (
        ([0, 2], 0, [3, 0, 3, 0]),
        ([1, 4], CODES["ASSERTION"], None),
        ([3, 3], 0, [3, 3, 3, 3]),  # what a call that fails has written is written
    ):
        assert library((), np.ones((2, 3), np.float32), np.array(at), sums) == code
        if wanted is None:
            assert library.error == "an index is out of range for a dimension of size 4"
        else:
            assert sums.tolist() == wanted


def test_numbers_among_inputs_and_conditions_among_results(tmp_path: Path) -> None:
    class Numbers(nn.Module):
        def forward(self, x: Any, n: int) -> Any:
            return x.repeat(n, 1), n * n - 3, x.shape[0] == n

    program = export(Numbers(), (torch.randn(3, 2), 4), ({0: Dim.DYNAMIC}, Dim.DYNAMIC))
    artifact = compile_library(program, tmp_path, "numbers")
    assert_clean(artifact.header)
    library, run = Library(artifact), xdsl_exir.compile(program)
    first = re.findall(r"s\d+: input '(\w)'", library.header)[0]
    for rows, n in ((3, 4), (4, 4), (2, 7)):
        x = np.random.default_rng(0).standard_normal((rows, 2), np.float32)
        expected = run.flat([x, n])
        outputs = [np.empty(e.shape, e.dtype) for e in map(np.asarray, expected)]
        assert library((rows, n) if first == "x" else (n, rows), x, *outputs) == 0, library.error
        for got, wanted in zip(outputs, expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_numbers_that_make_sizes_negative(tmp_path: Path) -> None:
    class Fill(nn.Module):
        def forward(self, x: Any, n: int) -> Any:
            return torch.full((n,), 2.0) + x, x.repeat(n).sum() * n

    program = export(Fill(), (torch.ones(1), 5), (None, Dim.DYNAMIC))
    for said in (RANGES, GUARDS):  # PyTorch says that it is at least 2
        program.method().attributes.pop(said)
    library = Library(compile_library(program, tmp_path, "fill"))
    x, out, total = np.ones(1, np.float32), np.empty(4, np.float32), np.empty((), np.float32)
    assert library([4], x, out, total) == 0, library.error
    assert (out.tolist(), total) == ([3] * 4, 16)
    assert library([0], x, out, total) == 0, library.error
    assert library([-2], x, out, total) == CODES["SIZE"]
    assert library.error == "result 0, dimension 0: -2 is negative"


def test_numbers_that_are_read_out_of_tensors_and_are_no_sizes(tmp_path: Path) -> None:
    class Scale(nn.Module):
        def forward(self, x: Any, count: Any) -> Any:
            k = count.item()
            x = torch.cond(k > 3, lambda x: x + 1, lambda x: x - 1, (x,))
            return x * k

    x, out = np.float32([1, 2, 3]), np.empty(3, np.float32)
    program = export(Scale(), (torch.from_numpy(x), torch.tensor(4)))
    library = Library(compile_library(program, tmp_path, "scale"))
    for count in (-1, 3, 4):
        assert library([], x, np.array(count), out) == 0
        np.testing.assert_array_equal(out, xdsl_exir.compile(program).flat([x, np.array(count)])[0])


METHOD = """
func.func @NAME(%x: tensor<?xf32, #exir.shape<[s0]>>, %flag: tensor<f16>) -> (tensor<?xf32, #exir.shape<[s0]>>, RESULT) {
  OPERATION
  func.return %x, %r : tensor<?xf32, #exir.shape<[s0]>>, RESULT
}
"""


@pytest.mark.parametrize(
    ("names", "result", "operation", "error"),
    [
        (
            ("forward", "forward_arena_bytes"),
            "!exir.symint<s0>",
            "%r = aten.sym_size.int(%x, dim = 0) : (tensor<?xf32, #exir.shape<[s0]>>) -> !exir.symint<s0>",
            "two functions of the library would be called 'forward_arena_bytes'",
        ),
        (
            ("forward",),
            "!exir.symfloat<truediv(s0, 2)>",
            """%n = aten.sym_size.int(%x, dim = 0) : (tensor<?xf32, #exir.shape<[s0]>>) -> !exir.symint<s0>
            %two = exir.number 2 : !exir.symint<2>
            %r = exir.sym_truediv %n, %two : (!exir.symint<s0>, !exir.symint<2>) -> !exir.symfloat<truediv(s0, 2)>""",
            "forward: the result !exir.symfloat<",
        ),
        (
            ("forward",),
            "tensor<f16>",
            """edge.aten._assert_async.msg(%flag, "no") : (tensor<f16>) -> ()
            %r = edge.aten.neg(%flag) : (tensor<f16>) -> tensor<f16>""",
            "edge.aten._assert_async.msg: a check of what a tensor of float16 holds, in C",
        ),
    ],
    ids=["two functions of a name", "a result that is a float", "a check of half precision"],
)
def test_what_c_has_no_form_of_is_refused(
    names: Sequence[str], result: str, operation: str, error: str, tmp_path: Path
) -> None:
    text = METHOD.replace("RESULT", result).replace("OPERATION", operation)
    path = tmp_path / "it.mlir"
    path.write_text("".join(text.replace("NAME", name) for name in names))
    with pytest.raises(ExirError, match=re.escape(error)):
        compile_library(xdsl_exir.load(path), tmp_path, "it")


# --- several methods -----------------------------------------------------------------------------------------


def test_prefill_and_decode_share_their_cache(tmp_path: Path) -> None:
    """The example: a prompt of any length and then word by word, through ctypes and as the C program that it comes with."""
    torch.manual_seed(0)
    example = runpy.run_path(str(EXAMPLE / "model.py"))
    model = example["Decoder"]().eval()
    artifact = compile_library(example["export"](model), tmp_path, "decoder")
    assert_clean(artifact.header)
    library = Library(artifact)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}", f"-L{tmp_path}", "-ldecoder"]
    command = [COMPILER, EXAMPLE / "generate.c", "-o", "generate", *flags, f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(command, cwd=tmp_path, check=True)
    scores = np.empty((1, 100), np.float32)
    for prompt in ([3, 14, 15, 92, 65], [7]):
        eager, ids, words = copy.deepcopy(model), torch.tensor([prompt]), list[str]()
        library.function("load")(str(artifact.weights).encode())
        for step in range(16):
            with torch.no_grad():
                expected = eager(ids)
            method, sizes = ("decode", []) if step else ("prefill", [len(prompt)])
            assert library(sizes, ids.numpy(), scores, method=method) == 0, library.error
            np.testing.assert_allclose(scores, expected.numpy(), rtol=1e-4, atol=1e-5)
            ids = expected.argmax(-1, keepdim=True)
            words.append(str(ids.item()))
        generate = [tmp_path / "generate", artifact.weights, *map(str, prompt)]
        done = subprocess.run(generate, capture_output=True, text=True, check=True)
        assert done.stdout.split() == words
    done = subprocess.run(generate[:2], capture_output=True, text=True, check=False)
    assert done.returncode == CODES["SIZE"]
    assert done.stderr.startswith("input 'ids', dimension 1: 0 is less than 1 (s")


class AnyLength(nn.Module):
    """What a call finds out about sizes: the rounds of a transform, the panels of a factor, where bags end."""

    def __init__(self) -> None:
        super().__init__()
        self.bags = nn.EmbeddingBag(9, 20)

    def forward(self, x: Any, picked: Any, begin: Any) -> Any:
        factor = torch.linalg.cholesky(x.mT @ x / x.shape[0] + torch.eye(x.shape[1]))
        return torch.view_as_real(torch.fft.rfft(x)), factor, self.bags(picked, begin)


def test_kernels_of_any_length(tmp_path: Path) -> None:
    auto, model = Dim.AUTO, AnyLength()
    given = torch.randn(3, 37), torch.randint(9, (11,)), torch.tensor([0, 3])
    artifact = compile_library(
        export(model, given, ({0: auto, 1: auto}, {0: auto}, {0: auto})), tmp_path, "any"
    )
    assert_only_c_and_openmp(artifact.library)
    library = Library(artifact)
    for rows, columns, count, begin in ((3, 37, 11, [0, 3]), (20, 60, 5, [0, 0, 5]), (1, 16, 40, [0, 40])):
        inputs = torch.randn(rows, columns), torch.randint(9, (count,)), torch.tensor(begin)
        expected = [result.detach().numpy() for result in model(*inputs)]
        results = [np.full(result.shape, 7, np.float32) for result in expected]
        sizes = rows, columns, count, len(begin)
        assert library(sizes, *(x.numpy() for x in inputs), *results) == 0, library.error
        for got, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, wanted, 1e-4, 1e-4)
