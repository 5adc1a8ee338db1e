"""The optimiser: what each pass does with a program's weights, and that level 1 changes no bit."""

# pyright: basic

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from bits import bits
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.dialects.dtypes import Float
from xdsl_exir.errors import ExirError
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.program import Program, context
from xdsl_exir.transforms.optimize import LEVELS

rng = np.random.default_rng(0)
WEIGHTS: dict[str, Any] = {
    "w": rng.standard_normal((4, 2, 3, 3)),
    "scale": rng.random(4) + 0.5,
    "shift": rng.standard_normal(4),
    "mean": rng.standard_normal(4),
    "var": rng.random(4),
    "a": rng.standard_normal((9, 2)),
    "b": rng.standard_normal((9, 3)),
    "c": np.ones(3),
    "d": np.ones(3),
    "count": np.zeros(3),
}

TEXT = """
func.func @forward({arguments}, %x: tensor<2x2x5x5xf32> {{exir.input = #exir.input<user_input, "x">}})
    -> (tensor<3xf32> {{exir.output = #exir.output<buffer_mutation, "count">}}, tensor<8x2xf32> {{exir.output = #exir.output<user_output>}}, tensor<8x3xf32> {{exir.output = #exir.output<user_output>}}) {{
  %0 = edge.aten.convolution(%x, %w, bias = none, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : (tensor<2x2x5x5xf32>, tensor<4x2x3x3xf32>) -> tensor<2x4x3x3xf32>
  %1, %2, %3 = edge.aten._native_batch_norm_legit_no_training(%0, %scale, %shift, %mean, %var, momentum = 0.1, eps = 1.0e-05) : (tensor<2x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x3x3xf32>, tensor<0xf32>, tensor<0xf32>)
  %4 = edge.aten.view(%1, size = [8, 9]) : (tensor<2x4x3x3xf32>) -> tensor<8x9xf32>
  %5 = edge.aten.mm(%4, %a) : (tensor<8x9xf32>, tensor<9x2xf32>) -> tensor<8x2xf32>
  %6 = edge.aten.exp(%c) : (tensor<3xf32>) -> tensor<3xf32>
  %7 = edge.aten.add.Tensor(%6, %d) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %8 = edge.aten.addmm(%7, %4, %b) : (tensor<3xf32>, tensor<8x9xf32>, tensor<9x3xf32>) -> tensor<8x3xf32>
  %9 = edge.aten.mm(%4, %b) : (tensor<8x9xf32>, tensor<9x3xf32>) -> tensor<8x3xf32>
  %10 = edge.aten.add.Tensor(%8, %9) : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  %11 = edge.aten.add.Tensor(%count, %d) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %12 = edge.aten.add.Tensor(%10, %11) : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  func.return %11, %5, %12 : tensor<3xf32>, tensor<8x2xf32>, tensor<8x3xf32>
}}
"""


def program() -> Program:
    """A convolution, its norm, products with weights, and a buffer that counts calls."""
    arguments = ", ".join(
        f"%{name}: tensor<{'x'.join(map(str, array.shape))}xf32> "
        f'{{exir.input = #exir.input<{"buffer" if name == "count" else "parameter"}, "{name}">}}'
        for name, array in WEIGHTS.items()
    )
    module = Parser(context().clone(), TEXT.format(arguments=arguments)).parse_module()
    state = {name: TensorData.of(array.astype(np.float32), Float) for name, array in WEIGHTS.items()}
    return Program(module, state).verify()


X = rng.standard_normal((2, 2, 5, 5)).astype(np.float32)


def run(made: Program, calls: int = 2) -> list[Any]:
    """The results of several calls, one after another."""
    executable = xdsl_exir.compile(made)
    return [array for _ in range(calls) for array in executable.flat([X])]


def names(made: Program) -> list[str]:
    return [op.name.removeprefix("edge.aten.") for op in made.module.walk() if op.name.startswith("edge.")]


@pytest.mark.parametrize("pipeline", ["canonicalize", *dict.fromkeys(LEVELS[1]), "merge-views", "optimize"])
def test_no_bit_changes(pipeline: str) -> None:
    before = program()
    after = before.transform(pipeline)
    assert bits(run(after)) == bits(run(before))
    again = after.transform(pipeline)
    assert str(again) == str(after)
    assert again.state.keys() == after.state.keys()


def test_what_depends_on_weights_is_computed_once() -> None:
    before = program()
    after = before.transform("fold-constants")
    assert "exp" not in names(after)
    assert before.state.keys() - after.state.keys() == {"c"}
    assert set(before.state) == set(WEIGHTS), "a pass changed the program that it was given"
    assert {"d", "count"} <= set(after.state), "state that is needed, or written to"
    [folded] = after.state.keys() - before.state.keys()
    np.testing.assert_array_equal(after.state[folded].numpy(), np.exp(np.ones(3, np.float32)) + 1)


def test_more_memory_than_the_limit_is_not_taken() -> None:
    text = """
func.func @forward(%w: tensor<2xf32> {exir.input = #exir.input<parameter, "w">}) -> tensor<600x2xf32> {
  %0 = edge.aten.repeat(%w, repeats = [600, 1]) : (tensor<2xf32>) -> tensor<600x2xf32>
  func.return %0 : tensor<600x2xf32>
}"""
    state = {"w": TensorData.of(np.ones(2, np.float32), Float)}
    made = Program(Parser(context().clone(), text).parse_module(), state)
    assert "repeat" in names(made.transform("fold-constants{limit=1000}"))
    assert "repeat" not in names(made.transform("fold-constants"))


def test_permuted_weights_stay_views() -> None:
    """A copy would make no kernel faster; what is computed of it is folded with it."""
    text = """
func.func @forward(%w: tensor<3x2xf32> {exir.input = #exir.input<parameter, "w">}, %x: tensor<4x2xf32> {exir.input = #exir.input<user_input>}) -> (tensor<4x3xf32>, tensor<2x3xf32>) {
  %0 = edge.aten.permute(%w, dims = [1, 0]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %1 = edge.aten.mm(%x, %0) : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %2 = edge.aten.exp(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %2 : tensor<4x3xf32>, tensor<2x3xf32>
}"""
    w = np.arange(6, dtype=np.float32).reshape(3, 2)
    before = Program(Parser(context().clone(), text).parse_module(), {"w": TensorData.of(w, Float)}).verify()
    after = before.transform("fold-constants")
    assert names(after) == ["permute", "mm"]
    [folded] = after.state.keys() - {"w"}
    np.testing.assert_array_equal(after.state[folded].numpy(), np.exp(w.T))


def test_equal_weights_are_one() -> None:
    after = program().transform("dedupe-weights")
    assert set(WEIGHTS) - set(after.state) == {"d"}
    assert "count" in after.state


def test_norms_and_products_are_merged() -> None:
    before = program()
    after = before.transform("optimize{level=2}")
    assert names(after).count("convolution") == 1
    assert "_native_batch_norm_legit_no_training" not in names(after)
    assert sum(name in ("mm", "addmm") for name in names(after)) == 2
    for got, expected in zip(run(after), run(before), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


LINEAR = """
func.func @forward(%w: tensor<4x3xf32> {exir.input = #exir.input<parameter, "w">}, %b: tensor<4xf32> {exir.input = #exir.input<parameter, "b">},
                   %scale: tensor<4xf32> {exir.input = #exir.input<parameter, "scale">}, %var: tensor<4xf32> {exir.input = #exir.input<buffer, "var">},
                   %x: tensor<?x3xf32, #exir.shape<[s0, 3]>> {exir.input = #exir.input<user_input, "x">})
    -> (tensor<?x4xf32, #exir.shape<[s0, 4]>>, tensor<?x4xf32, #exir.shape<[s0, 4]>>) {
  %t = edge.aten.permute(%w, dims = [1, 0]) : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %0 = edge.aten.addmm(%b, %x, %t) : (tensor<4xf32>, tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x4xf32>) -> tensor<?x4xf32, #exir.shape<[s0, 4]>>
  %1, %2, %3 = edge.aten._native_batch_norm_legit_no_training(%0, %scale, %b, %b, %var, momentum = 0.1, eps = 1.0e-03) : (tensor<?x4xf32, #exir.shape<[s0, 4]>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32, #exir.shape<[s0, 4]>>, tensor<0xf32>, tensor<0xf32>)
  %4 = edge.aten.mm(%x, %t) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x4xf32>) -> tensor<?x4xf32, #exir.shape<[s0, 4]>>
  %5, %6, %7 = edge.aten._native_batch_norm_legit_no_training(%4, %scale, bias = none, running_mean = %b, running_var = %var, momentum = 0.1, eps = 1.0e-03) : (tensor<?x4xf32, #exir.shape<[s0, 4]>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32, #exir.shape<[s0, 4]>>, tensor<0xf32>, tensor<0xf32>)
  func.return %1, %5 : tensor<?x4xf32, #exir.shape<[s0, 4]>>, tensor<?x4xf32, #exir.shape<[s0, 4]>>
}"""


@pytest.mark.parametrize("rows", [5, 1, 0])
def test_norms_of_linear_layers_are_folded(rows: int) -> None:
    weights = {"w": rng.standard_normal((4, 3)), "b": rng.standard_normal(4), "scale": rng.random(4) + 0.5, "var": rng.random(4)}  # fmt: skip
    state = {name: TensorData.of(array.astype(np.float32), Float) for name, array in weights.items()}
    before = Program(Parser(context().clone(), LINEAR).parse_module(), state).verify()
    after = before.transform("optimize{level=1},fold-batch-norm,optimize{level=1}")
    assert names(after) == ["addmm", "addmm"], "two norms are made of weights alone"
    x = rng.standard_normal((rows, 3)).astype(np.float32)
    for got, expected in zip(*(xdsl_exir.compile(each).flat([x]) for each in (after, before)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


PRODUCTS = """
func.func @forward(%x: tensor<?x3x{t}, #exir.shape<[s0, 3]>>, %y: tensor<?x3x{t}, #exir.shape<[s0, 3]>>, %w: tensor<3x3x{t}>, %b: tensor<3x{t}>)
    -> (tensor<?x3x{t}, #exir.shape<[s0, 3]>>, tensor<?x3x{t}, #exir.shape<[s0, 3]>>, tensor<3x3x{t}>, tensor<3x3x{t}>) {{
  %0 = aten.mm(%x, %w) : (tensor<?x3x{t}, #exir.shape<[s0, 3]>>, tensor<3x3x{t}>) -> tensor<?x3x{t}, #exir.shape<[s0, 3]>>
  %1 = aten.mm(%y, %w) : (tensor<?x3x{t}, #exir.shape<[s0, 3]>>, tensor<3x3x{t}>) -> tensor<?x3x{t}, #exir.shape<[s0, 3]>>
  %2 = aten.addmm(%b, %w, %w) : (tensor<3x{t}>, tensor<3x3x{t}>, tensor<3x3x{t}>) -> tensor<3x3x{t}>
  %3 = aten.t(%w) : (tensor<3x3x{t}>) -> tensor<3x3x{t}>
  %4 = aten.addmm(%b, %w, %w) : (tensor<3x{t}>, tensor<3x3x{t}>, tensor<3x3x{t}>) -> tensor<3x3x{t}>
  %5 = aten.addmm(%b, %w, %3) : (tensor<3x{t}>, tensor<3x3x{t}>, tensor<3x3x{t}>) -> tensor<3x3x{t}>
  %6 = aten.mm(%0, %w) : (tensor<?x3x{t}, #exir.shape<[s0, 3]>>, tensor<3x3x{t}>) -> tensor<?x3x{t}, #exir.shape<[s0, 3]>>
  %7 = aten.add.Tensor(%4, %2) : (tensor<3x3x{t}>, tensor<3x3x{t}>) -> tensor<3x3x{t}>
  func.return %6, %1, %7, %5 : tensor<?x3x{t}, #exir.shape<[s0, 3]>>, tensor<?x3x{t}, #exir.shape<[s0, 3]>>, tensor<3x3x{t}>, tensor<3x3x{t}>
}}"""


@pytest.mark.parametrize(("dtype", "left"), [("f32", 4), ("f64", 4), ("i64", 4), ("f16", 5)])
@pytest.mark.parametrize("rows", [4, 0])
def test_products_of_one_shape_are_one(dtype: str, left: int, rows: int) -> None:
    """Integers keep their bits, floats but for the order of sums; of halves `addmm` stays, which rounds once."""
    kind = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "f16": np.float16}[dtype]
    made = Program(Parser(context().clone(), PRODUCTS.format(t=dtype)).parse_module()).verify()
    after = made.transform("batch-matmuls")
    assert sum(str(after).count(f"aten.{name}(") for name in ("mm", "bmm", "addmm")) == left
    arrays = [(rng.standard_normal(shape) * 4).astype(kind) for shape in ((rows, 3), (rows, 3), (3, 3), (3,))]
    tolerance = {"f16": 2e-3, "f32": 2e-6}.get(dtype, 0 if dtype == "i64" else 1e-14)
    for got, expected in zip(*(xdsl_exir.compile(each).flat(arrays) for each in (after, made)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * 50)


def test_products_with_weights_that_are_transposed_are_one() -> None:
    """As linear layers have them, each where it is used: behind the first product as well."""
    text = """
func.func @forward(%w: tensor<2x3xf32> {exir.input = #exir.input<parameter, "w">}, %v: tensor<4x3xf32> {exir.input = #exir.input<parameter, "v">},
    %b: tensor<2xf32> {exir.input = #exir.input<parameter, "b">}, %c: tensor<4xf32> {exir.input = #exir.input<parameter, "c">},
    %x: tensor<5x3xf32> {exir.input = #exir.input<user_input, "x">}) -> (tensor<5x2xf32> {exir.output = #exir.output<user_output>}, tensor<5x4xf32> {exir.output = #exir.output<user_output>}) {
  %0 = edge.aten.permute(%w, dims = [1, 0]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = edge.aten.addmm(%b, %x, %0) : (tensor<2xf32>, tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  %2 = edge.aten.permute(%v, dims = [1, 0]) : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %3 = edge.aten.permute(%2, dims = [0, 1]) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %4 = edge.aten.addmm(%c, %x, %3) : (tensor<4xf32>, tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  func.return %1, %4 : tensor<5x2xf32>, tensor<5x4xf32>
}"""
    arrays = {
        name: rng.standard_normal(shape).astype(np.float32)
        for name, shape in {"w": (2, 3), "v": (4, 3), "b": (2,), "c": (4,)}.items()
    }
    state = {name: TensorData.of(array, Float) for name, array in arrays.items()}
    made = Program(Parser(context().clone(), text).parse_module(), state).verify()
    after = made.transform("optimize,batch-matmuls,optimize")
    assert names(after) == ["addmm", "slice.Tensor", "slice.Tensor"]
    x = rng.standard_normal((5, 3)).astype(np.float32)
    for got, expected in zip(*(xdsl_exir.compile(each).flat([x]) for each in (after, made)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("suffix", ["pt2", "mlir"])
def test_optimised_programs_are_saved(suffix: str, tmp_path: Any) -> None:
    after = program().transform("optimize{level=2}")
    after.save(tmp_path / f"m.{suffix}")
    assert bits(run(xdsl_exir.load(tmp_path / f"m.{suffix}"))) == bits(run(after))


def test_there_are_three_levels() -> None:
    made = program()
    assert str(made.transform("optimize{level=0}")) == str(made)
    with pytest.raises(ExirError, match="no level 3; there are 0 to 2"):
        made.transform("optimize{level=3}")


def results(text: str, pipeline: str, arrays: Sequence[Any]) -> tuple[list[Any], list[Any], str]:
    """The bits of a program's results before and after a pipeline, and what it became."""
    made = Program(Parser(context().clone(), text).parse_module())
    after = made.transform(pipeline)
    first, second = (bits(xdsl_exir.compile(each).flat([a.copy() for a in arrays])) for each in (made, after))
    return first, second, str(after)


LOOP = """
func.func @forward(%x: tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>) {{
  %start = exir.constant {start} : tensor<i64>
  %0, %1 = higher_order.while_loop carried(%start, %x : tensor<i64>, tensor<2xf32>) -> tensor<i64>, tensor<2xf32> {{
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    %c = aten.lt.Scalar(%i, other = 9) : (tensor<i64>) -> tensor<i1>
    higher_order.yield %c : tensor<i1>
  }} do {{
  ^bb1(%i: tensor<i64>, %a: tensor<2xf32>):
    %two = exir.number 2 : i64
    %j = aten.mul.Tensor(%i, %two) : (tensor<i64>, i64) -> tensor<i64>
    %b = aten.sin(%a) : (tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %j, %b : tensor<i64>, tensor<2xf32>
  }}
  func.return %0, %1 : tensor<i64>, tensor<2xf32>
}}"""


@pytest.mark.parametrize(("start", "turns"), [(1, 4), (3, 2), (9, 0), (20, 0), (-1, None)])
def test_loops_of_few_turns_are_unrolled(start: int, turns: int | None) -> None:
    """-1 doubles until it wraps to 0, and turns for ever: it is not run."""
    text = LOOP.format(start=start)
    if turns is None:
        after = str(Program(Parser(context().clone(), text).parse_module()).transform("unroll-loops"))
        assert "while_loop" in after
        return
    before, after, made = results(text, "unroll-loops", [np.array([0.5, -3], np.float32)])
    assert before == after
    assert "while_loop" not in made
    assert made.count("aten.sin") == turns


MAP = """
func.func @forward(%x: tensor<{n}x2xf32>, %y: tensor<2xf32>) -> tensor<{n}x2xf32> {{
  %0 = higher_order.map xs(%x : tensor<{n}x2xf32>) args(%y : tensor<2xf32>) -> tensor<{n}x2xf32> {{
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %c = edge.aten.div.Tensor(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %c : tensor<2xf32>
  }}
  func.return %0 : tensor<{n}x2xf32>
}}"""


@pytest.mark.parametrize("n", [1, 3, 9])
def test_maps_of_few_turns_are_unrolled(n: int) -> None:
    arrays = [rng.standard_normal((n, 2)).astype(np.float32), np.array([0, -0.0], np.float32)]
    before, after, made = results(MAP.format(n=n), "unroll-loops", arrays)
    assert before == after
    assert ("higher_order.map" in made) == (n > 8)


FAST = """
func.func @forward(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %zero = exir.constant 0.0 : tensor<f32>
  %tiny = exir.constant 1.0e-40 : tensor<f32>
  %seven = exir.constant 7.0 : tensor<f32>
  %0 = aten.add.Tensor(%x, %zero) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = aten.mul.Tensor(%x, %zero) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %2 = aten.sub.Tensor(%x, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %3 = aten.div.Tensor(%x, %seven) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %4 = aten.div.Tensor(%3, %tiny) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  func.return %0, %1, %2, %3, %4 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}"""
FINITE = np.array([1, -2.5, 0.1, 3e20, -1e-20, 7], np.float32)


def test_flags_allow_what_finite_numbers_do_not_notice() -> None:
    """But for the last bit of a quotient; 1e-40 has no reciprocal in float32."""
    made = Program(Parser(context().clone(), FAST).parse_module())
    fast = made.transform("canonicalize-fastmath{flags=fast}")
    assert [str(fast).count(f"aten.{name}.") for name in ("add", "sub", "mul", "div")] == [0, 0, 1, 1]
    with np.errstate(all="ignore"):
        for got, expected in zip(
            *(xdsl_exir.compile(each).flat([FINITE]) for each in (fast, made)), strict=True
        ):
            np.testing.assert_allclose(got, expected, rtol=2e-7)
    assert str(made.transform("canonicalize-fastmath")) == str(made)


def test_flags_are_those_of_mlir() -> None:
    with pytest.raises(ExirError, match="no flag 'fsat'"):
        program().transform("canonicalize-fastmath{flags=fsat}")


INVARIANT = """
func.func @forward(%n: tensor<i64>, %x: tensor<2xf32>, %w: tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>) {
  %0, %1 = higher_order.while_loop carried(%n, %x : tensor<i64>, tensor<2xf32>) additional(%w : tensor<2xf32>) -> tensor<i64>, tensor<2xf32> {
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>, %v: tensor<2xf32>):
    %c = aten.gt.Scalar(%i, other = 0) : (tensor<i64>) -> tensor<i1>
    higher_order.yield %c : tensor<i1>
  } do {
  ^bb1(%i: tensor<i64>, %a: tensor<2xf32>, %v: tensor<2xf32>):
    %one = exir.number 1 : i64
    %half = exir.constant 0.5 : tensor<f32>
    %j = aten.sub.Tensor(%i, %one) : (tensor<i64>, i64) -> tensor<i64>
    %e = aten.exp(%v) : (tensor<2xf32>) -> tensor<2xf32>
    %f = aten.mul.Tensor(%e, %half) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %b = aten.mul.Tensor(%a, %f) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %j, %b : tensor<i64>, tensor<2xf32>
  }
  func.return %0, %1 : tensor<i64>, tensor<2xf32>
}"""


@pytest.mark.parametrize("turns", [0, 1, 4])
def test_what_no_turn_changes_is_computed_before(turns: int) -> None:
    arrays = [np.array(turns), np.array([0.5, np.inf], np.float32), np.array([-1, np.nan], np.float32)]
    before, after, made = results(INVARIANT, "hoist-invariants", arrays)
    assert before == after
    head, loop = made.split("higher_order.while_loop")
    assert head.count("aten.exp") == head.count("aten.mul.Tensor") == 1
    assert "aten.exp" not in loop
    assert loop.count("aten.mul.Tensor") == 1
    _, _, again = results(made, "hoist-invariants", arrays)
    assert again == made


def test_rows_share_what_is_theirs() -> None:
    text = MAP.format(n=3).replace("%c = edge.aten.div.Tensor(%a, %b)", "%e = edge.aten.neg(%b) : (tensor<2xf32>) -> tensor<2xf32>\n    %c = edge.aten.div.Tensor(%a, %e)")  # fmt: skip
    arrays = [rng.standard_normal((3, 2)).astype(np.float32), np.array([0, -2.0], np.float32)]
    before, after, made = results(text, "hoist-invariants", arrays)
    assert before == after
    assert made.index("edge.aten.neg") < made.index("higher_order.map")


def test_what_fails_is_left_to_fail_when_it_runs() -> None:
    """Five positions are said to be set in a tensor of one: torch.export takes a guard's word for it."""
    text = """func.func @main() -> tensor<5x1xi64> {
          %set = edge.aten.full(size = [1], fill_value = true, dtype = i1) : () -> tensor<1xi1>
          %found = edge.aten.nonzero(%set) : (tensor<1xi1>) -> tensor<5x1xi64>
          func.return %found : tensor<5x1xi64>
        }"""
    folded = Program(Parser(context(), text).parse_module()).transform("fold-constants")
    assert "edge.aten.nonzero" in str(folded)
    with pytest.raises(ExirError, match="gives shape"):
        xdsl_exir.compile(folded)()
