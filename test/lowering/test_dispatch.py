"""Programs cut into dispatches: memory, views, folding, epilogues and row programs, against NumPy and the interpreter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.universe import Universe

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.interpreter.interpreter import InterpreterEngine
from xdsl_exir.lowering import pack_arguments
from xdsl_exir.lowering.dispatch import Buffer, Dispatches, Plan, Planner, Value
from xdsl_exir.lowering.dispatches.buffers import contiguous_strides
from xdsl_exir.lowering.dispatches.views import expanded, part, permuted, reshaped
from xdsl_exir.lowering.driver import calls_of
from xdsl_exir.lowering.printing import generic_text
from xdsl_exir.names import own_name
from xdsl_exir.runtime import linking
from xdsl_exir.runtime.native import NativeMethod
from xdsl_exir.targets.cpu.compile import objects_of, plan_arenas, units_of
from xdsl_exir.targets.cpu.kernels import Elementwise, Input, Machine
from xdsl_exir.targets.cpu.kernels.row_nodes import (
    Concat,
    Load,
    Map,
    Reduce,
    Slice,
)
from xdsl_exir.targets.cpu.kernels.rows import Rows
from xdsl_exir.targets.cpu.machine import processor
from xdsl_exir.targets.cpu.target import Cpu
from xdsl_exir.transforms.fold_batch_norm import FoldBatchNorm
from xdsl_exir.transforms.fold_constants import Folding


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path))


def as_array(value: Value, memory: np.ndarray) -> np.ndarray:
    steps = [s * memory.itemsize for s in value.strides]
    return np.lib.stride_tricks.as_strided(memory[value.offset :], value.shape, steps)


@settings(deadline=None)
@given(st.data())
def test_views_see_what_numpy_sees(data: st.DataObject):
    shape = tuple(data.draw(st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=4)))
    memory = np.arange(prod(shape), dtype=np.float32)
    value, array = Value(Buffer(memory.nbytes), shape, dt.Float), memory.reshape(shape)
    for _ in range(data.draw(st.integers(0, 4))):
        match data.draw(st.sampled_from(["permute", "expand", "part", "reshape"])):
            case "permute":
                dims = data.draw(st.permutations(range(array.ndim)))
                value, array = permuted(value, dims), array.transpose(dims)
            case "expand":
                sizes = (2, *(3 if n == 1 else n for n in array.shape))
                if prod(sizes) <= 300:
                    value, array = expanded(value, sizes), np.broadcast_to(array, sizes)
            case "part":
                dim = data.draw(st.integers(0, array.ndim - 1))
                start = data.draw(st.integers(0, array.shape[dim] - 1))
                value = part(value, dim, start, array.shape[dim] - start)
                array = array[(slice(None),) * dim + (slice(start, None),)]
            case _:
                count = array.size
                first = data.draw(st.sampled_from([d for d in range(1, count + 1) if count % d == 0]))
                seen = reshaped(value, (first, count // first))
                if seen is not None:
                    value, array = seen, array.reshape(first, count // first)
        np.testing.assert_array_equal(as_array(value, memory), array)


def test_contiguous_values_reshape_to_anything():
    value = Value(Buffer(96), (2, 3, 4), dt.Float)
    for shape in [(24,), (4, 6), (1, 2, 1, 12), (3, 8, 1)]:
        seen = reshaped(value, shape)
        assert seen is not None
        assert seen.strides == contiguous_strides(shape)


# --- programs ------------------------------------------------------------------------------------------------


def module_of(text: str) -> ModuleOp:
    context = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def planned(text: str, constants: Sequence[np.ndarray], threads: int = 1) -> tuple[FuncOp, Plan, Dispatches]:
    """Plans a module's function, whose last arguments are constants."""
    function = next(op for op in module_of(text).ops if isinstance(op, FuncOp))
    last = function.args[len(function.args) - len(constants) :]
    dispatches = Dispatches()
    target = Cpu(processor().with_threads(threads))
    return (
        function,
        Planner(function, dict(zip(last, constants, strict=True)), target, dispatches).run("main"),
        dispatches,
    )


def check(text: str, *arrays: np.ndarray, constants: Sequence[np.ndarray] = (), threads: int = 1) -> Plan:
    """Runs a program natively and by the interpreter; gives its plan."""
    _, plan, dispatches = planned(text, constants, threads)
    plan_arenas([plan], dispatches.kernels.get)
    library = linking.load_objects(objects_of(units_of(dispatches, [plan.driver])))
    actual = NativeMethod(plan, library.address(pack_arguments.ENTRY + "main"), range(len(arrays)))(arrays)
    expected = InterpreterEngine(module_of(text)).run("main", [*arrays, *constants])
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=2e-5, atol=2e-5)
    return plan


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def kinds(plan: Plan) -> list[str]:
    return [call.removeprefix(own_name("")).partition("_")[0] for call in calls_of(plan.driver)]


@pytest.mark.native
def test_what_depends_on_constants_alone_is_folded():
    text = """func.func @main(%x: tensor<3x4xf32>, %w: tensor<5x4xf32>) -> tensor<3x5xf32> {
      %two = exir.constant 2.0 : tensor<f32>
      %s = edge.aten.mul.Tensor(%w, %two) : (tensor<5x4xf32>, tensor<f32>) -> tensor<5x4xf32>
      %t = edge.aten.permute(%s, dims = [1, 0]) : (tensor<5x4xf32>) -> tensor<4x5xf32>
      %r = edge.aten.mm(%x, %t) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
      func.return %r : tensor<3x5xf32>
    }"""
    plan = check(text, random(3, 4), constants=[random(5, 4)])
    assert kinds(plan) == ["kernel"]
    assert len(plan.constants) == 1


def widened(rows: int) -> tuple[str, list[np.ndarray]]:
    """A product with weights that are kept as int8."""
    w = f"tensor<{rows}x512x"
    text = f"""func.func @main(%x: tensor<3x512xf32>, %w: {w}si8>, %s: tensor<{rows}x1xf32>) -> tensor<3x{rows}xf32> {{
      %f = edge.aten._to_copy(%w, dtype = f32) : ({w}si8>) -> {w}f32>
      %m = edge.aten.mul.Tensor(%f, %s) : ({w}f32>, tensor<{rows}x1xf32>) -> {w}f32>
      %t = edge.aten.permute(%m, dims = [1, 0]) : ({w}f32>) -> tensor<512x{rows}xf32>
      %r = edge.aten.mm(%x, %t) : (tensor<3x512xf32>, tensor<512x{rows}xf32>) -> tensor<3x{rows}xf32>
      func.return %r : tensor<3x{rows}xf32>
    }}""".replace("si8", "i8")
    return text, [np.random.default_rng(0).integers(-9, 9, (rows, 512), np.int8), random(rows, 1) / 64]


@pytest.mark.native
def test_weights_of_few_bytes_stay_so():
    text, constants = widened(256)
    plan = check(text, random(3, 512), constants=constants)
    assert sum(array.nbytes for _, array in plan.constants) == sum(array.nbytes for array in constants)
    text, constants = widened(2)  # small enough not to matter: made numbers once
    assert kinds(check(text, random(3, 512), constants=constants)) == ["kernel"]


def test_what_only_folded_operators_needed_is_dropped():
    text = """func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
      %two = exir.constant 2.0 : tensor<f32>
      %a = edge.aten.mul.Tensor(%w, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      %b = edge.aten.add.Tensor(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %c = edge.aten.add.Tensor(%b, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      %r = edge.aten.add.Tensor(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %r : tensor<4xf32>
    }"""
    function = next(op for op in module_of(text).ops if isinstance(op, FuncOp))
    folding = Folding(function, {function.args[1]: np.arange(4, dtype=np.float32)})
    *_, c, r, _ = function.body.block.ops
    assert {op.name for op in folding.folded} == {
        "exir.constant",
        "edge.aten.mul.Tensor",
        "edge.aten.add.Tensor",
    }
    assert r not in folding.folded
    assert list(folding.known) == [function.args[1], c.results[0]]
    np.testing.assert_array_equal(folding.known[c.results[0]], np.arange(4) * 4 + 2)


@pytest.mark.native
def test_batch_norm_residual_and_relu_are_folded_into_the_convolution():
    t = "tensor<1x6x9x9xf32>"
    sizes = {"w": "6x6x3x3", "g": "6", "b": "6", "m": "6", "v": "6"}
    state = ", ".join(
        f'%{name}: tensor<{size}xf32> {{exir.input = #exir.input<parameter, "{name}">}}'
        for name, size in sizes.items()
    )
    text = f"""func.func @main(%x: {t} {{exir.input = #exir.input<user_input, "x">}}, {state}) -> {t} {{
      %c = edge.aten.convolution(%x, %w, bias = none, stride = [1, 1], padding = [1, 1], dilation = [1, 1],
        transposed = false, output_padding = [0, 0], groups = 1) : ({t}, tensor<6x6x3x3xf32>) -> {t}
      %n, %n1, %n2 = edge.aten._native_batch_norm_legit_no_training(%c, %g, %b, %m, %v, momentum = 0.1, eps = 1.0e-05)
        : ({t}, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> ({t}, tensor<0xf32>, tensor<0xf32>)
      %a = edge.aten.add.Tensor(%n, %x) : ({t}, {t}) -> {t}
      %r = edge.aten.relu(%a) : ({t}) -> {t}
      func.return %r : {t}
    }}"""
    weights = [random(6, 6, 3, 3), random(6), random(6), random(6), np.abs(random(6)) + 1]
    module = module_of(text)
    FoldBatchNorm().apply(Context(), module)
    assert kinds(check(str(module), random(1, 6, 9, 9), constants=weights)) == ["kernel"]


@pytest.mark.native
def test_a_diamond_after_a_product_is_its_epilogue():
    """x sigmoid(x) y, where y waits in a group."""
    t = "tensor<7x33xf32>"
    text = f"""func.func @main(%x: tensor<7x5xf32>, %y: {t}, %w: tensor<5x33xf32>) -> {t} {{
      %e = edge.aten.exp(%y) : ({t}) -> {t}
      %m = edge.aten.mm(%x, %w) : (tensor<7x5xf32>, tensor<5x33xf32>) -> {t}
      %s = edge.aten.sigmoid(%m) : ({t}) -> {t}
      %p = edge.aten.mul.Tensor(%m, %s) : ({t}, {t}) -> {t}
      %r = edge.aten.mul.Tensor(%p, %e) : ({t}, {t}) -> {t}
      func.return %r : {t}
    }}"""
    assert kinds(check(text, random(7, 5), random(7, 33), constants=[random(5, 33)])) == ["kernel"] * 2


@pytest.mark.native
def test_a_value_that_is_used_elsewhere_is_stored():
    t = "tensor<7x33xf32>"
    text = f"""func.func @main(%x: tensor<7x5xf32>, %w: tensor<5x33xf32>) -> ({t}, {t}) {{
      %m = edge.aten.mm(%x, %w) : (tensor<7x5xf32>, tensor<5x33xf32>) -> {t}
      %s = edge.aten.tanh(%m) : ({t}) -> {t}
      %r = edge.aten.mul.Tensor(%m, %s) : ({t}, {t}) -> {t}
      func.return %s, %r : {t}, {t}
    }}"""
    check(text, random(7, 5), constants=[random(5, 33)])


@pytest.mark.native
@pytest.mark.parametrize(
    "body",
    [
        "%p = edge.aten.permute(%m, dims = [1, 0]) : (T) -> T\n %r = edge.aten.add.Tensor(%m, %p) : (T, T) -> T",
        "%p = edge.aten.permute(%m, dims = [1, 0]) : (T) -> T\n %r = edge.aten.add.Tensor(%p, %y) : (T, T) -> T",
        "%p = edge.aten.permute(%m, dims = [1, 0]) : (T) -> T\n %s = edge.aten.sigmoid(%p) : (T) -> T\n"
        "%r = edge.aten.mul.Tensor(%p, %s) : (T, T) -> T",
        "%p = edge.aten.add.Tensor(%m, %y) : (T, T) -> T\n %q = edge.aten.mul.Tensor(%p, %m) : (T, T) -> T\n"
        "%r = edge.aten._softmax(%q, dim = 0, half_to_float = false) : (T) -> T",
    ],
)
def test_only_what_meets_the_same_element_is_absorbed(body: str):
    """A transpose moves elements: what combines them with others is not the product's epilogue."""
    text = """func.func @main(%x: tensor<6x5xf32>, %y: T, %w: tensor<5x6xf32>) -> T {
      %m = edge.aten.mm(%x, %w) : (tensor<6x5xf32>, tensor<5x6xf32>) -> T
      BODY
      func.return %r : T
    }"""
    text = re.sub(r"\bT\b", "tensor<6x6xf32>", text.replace("BODY", body))
    check(text, random(6, 5), random(6, 6), constants=[random(5, 6)])


@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_attention_copies_nothing(threads: int):
    """Heads are split and merged by strides, scales and masks are in the epilogue, softmax is one dispatch."""
    text = """func.func @main(%q: tensor<1x9x12xf32>, %k: tensor<1x9x12xf32>, %mask: tensor<9xf32>) -> tensor<9x12xf32> {
      %s = exir.constant 0.5 : tensor<f32>
      %q1 = edge.aten.view(%q, size = [1, 9, 3, 4]) : (tensor<1x9x12xf32>) -> tensor<1x9x3x4xf32>
      %q2 = edge.aten.permute(%q1, dims = [0, 2, 1, 3]) : (tensor<1x9x3x4xf32>) -> tensor<1x3x9x4xf32>
      %q3 = edge.aten.mul.Tensor(%q2, %s) : (tensor<1x3x9x4xf32>, tensor<f32>) -> tensor<1x3x9x4xf32>
      %q4 = edge.aten.view(%q3, size = [3, 9, 4]) : (tensor<1x3x9x4xf32>) -> tensor<3x9x4xf32>
      %k1 = edge.aten.view(%k, size = [1, 9, 3, 4]) : (tensor<1x9x12xf32>) -> tensor<1x9x3x4xf32>
      %k2 = edge.aten.permute(%k1, dims = [0, 2, 3, 1]) : (tensor<1x9x3x4xf32>) -> tensor<1x3x4x9xf32>
      %k3 = edge.aten.view(%k2, size = [3, 4, 9]) : (tensor<1x3x4x9xf32>) -> tensor<3x4x9xf32>
      %a = edge.aten.bmm(%q4, %k3) : (tensor<3x9x4xf32>, tensor<3x4x9xf32>) -> tensor<3x9x9xf32>
      %b = edge.aten.add.Tensor(%a, %mask) : (tensor<3x9x9xf32>, tensor<9xf32>) -> tensor<3x9x9xf32>
      %p = edge.aten._softmax(%b, dim = -1, half_to_float = false) : (tensor<3x9x9xf32>) -> tensor<3x9x9xf32>
      %v1 = edge.aten.permute(%k1, dims = [0, 2, 1, 3]) : (tensor<1x9x3x4xf32>) -> tensor<1x3x9x4xf32>
      %v2 = edge.aten.view(%v1, size = [3, 9, 4]) : (tensor<1x3x9x4xf32>) -> tensor<3x9x4xf32>
      %o = edge.aten.bmm(%p, %v2) : (tensor<3x9x9xf32>, tensor<3x9x4xf32>) -> tensor<3x9x4xf32>
      %o1 = edge.aten.view(%o, size = [1, 3, 9, 4]) : (tensor<3x9x4xf32>) -> tensor<1x3x9x4xf32>
      %o2 = edge.aten.permute(%o1, dims = [0, 2, 1, 3]) : (tensor<1x3x9x4xf32>) -> tensor<1x9x3x4xf32>
      %r = edge.aten.view(%o2, size = [9, 12]) : (tensor<1x9x3x4xf32>) -> tensor<9x12xf32>
      func.return %r : tensor<9x12xf32>
    }"""
    plan = check(text, random(1, 9, 12), random(1, 9, 12) + 1, random(9), threads=threads)
    assert kinds(plan) == ["kernel"] * 3


@pytest.mark.native
@pytest.mark.parametrize("ones", [1, 2])
def test_batches_without_dimensions_of_one(ones: int):
    """Queries that an `unbind` gave, whose first dimension was not squeezed before they became one batch: nothing is copied."""
    first = "1x" * ones
    text = f"""
    func.func @main(%q : tensor<{first}5x6x2x4xf32>, %k : tensor<5x6x2x4xf32>) -> tensor<10x6x6xf32> {{
      %0 = edge.aten.permute(%q, dims = [{", ".join(map(str, range(ones)))}, {ones}, {ones + 2}, {ones + 1}, {ones + 3}]) : (tensor<{first}5x6x2x4xf32>) -> tensor<{first}5x2x6x4xf32>
      %1 = edge.aten.view(%0, size = [10, 6, 4]) : (tensor<{first}5x2x6x4xf32>) -> tensor<10x6x4xf32>
      %2 = edge.aten.permute(%k, dims = [0, 2, 3, 1]) : (tensor<5x6x2x4xf32>) -> tensor<5x2x4x6xf32>
      %3 = edge.aten.view(%2, size = [10, 4, 6]) : (tensor<5x2x4x6xf32>) -> tensor<10x4x6xf32>
      %4 = edge.aten.bmm(%1, %3) : (tensor<10x6x4xf32>, tensor<10x4x6xf32>) -> tensor<10x6x6xf32>
      func.return %4 : tensor<10x6x6xf32>
    }}"""
    plan = check(text, random(*(1,) * ones, 5, 6, 2, 4), random(5, 6, 2, 4))
    assert kinds(plan) == ["kernel"]


@pytest.mark.native
def test_rotary_embedding_is_one_dispatch():
    t, h, c = "tensor<2x5x8xf32>", "tensor<2x5x4xf32>", "tensor<5x8xf32>"
    text = f"""func.func @main(%x: tensor<5x2x8xf32>, %c: {c}, %s: {c}) -> {t} {{
      %y = edge.aten.permute(%x, dims = [1, 0, 2]) : (tensor<5x2x8xf32>) -> {t}
      %a, %b = edge.aten.split_with_sizes(%y, split_sizes = [4, 4], dim = -1) : ({t}) -> ({h}, {h})
      %m = edge.aten.mul.Tensor(%y, %c) : ({t}, {c}) -> {t}
      %n = edge.aten.neg(%b) : ({h}) -> {h}
      %r = edge.aten.cat([%n, %a], dim = -1) : ({h}, {h}) -> {t}
      %u = edge.aten.mul.Tensor(%r, %s) : ({t}, {c}) -> {t}
      %v = edge.aten.add.Tensor(%m, %u) : ({t}, {t}) -> {t}
      func.return %v : {t}
    }}"""
    assert kinds(check(text, random(5, 2, 8), random(5, 8), random(5, 8) + 1)) == ["kernel"]


@pytest.mark.native
@pytest.mark.parametrize("length", [1, 3, 16, 17, 128, 144, 145, 257, 384, 1000])
def test_row_programs_agree_with_the_interpreter(length: int):
    """Layer norm, softmax and reductions over rows that are shorter, longer and no multiple of a vector."""
    t, one, mask = f"tensor<1x5x{length}xf32>", "tensor<1x5x1xf32>", f"tensor<1x5x{length}xi1>"
    w = f"tensor<{length}xf32>"
    text = f"""func.func @main(%x: {t}, %w: {w}, %b: {w}) -> ({t}, {t}, {one}, {t}, tensor<1x5xf32>, tensor<1x5x1xi1>) {{
      %zero = exir.constant 0.0 : tensor<f32>
      %n, %mean, %rstd = edge.aten.native_layer_norm(%x, normalized_shape = [{length}], weight = %w, bias = %b,
        eps = 1.0e-05) : ({t}, {w}, {w}) -> ({t}, {one}, {one})
      %g = edge.aten.gelu(%n) : ({t}) -> {t}
      %s = edge.aten._softmax(%g, dim = -1, half_to_float = false) : ({t}) -> {t}
      %m = edge.aten.mean.dim(%x, dim = [-1], keepdim = true) : ({t}) -> {one}
      %d = edge.aten.sub.Tensor(%x, %m) : ({t}, {one}) -> {t}
      %p = edge.aten.gt.Tensor(%d, %zero) : ({t}, tensor<f32>) -> {mask}
      %k = edge.aten.where.self(%p, %d, %zero) : ({mask}, {t}, tensor<f32>) -> {t}
      %y = edge.aten.any.dim(%p, dim = -1, keepdim = true) : ({mask}) -> tensor<1x5x1xi1>
      %q = edge.aten.amax(%k, dim = [-1]) : ({t}) -> tensor<1x5xf32>
      func.return %n, %s, %m, %k, %q, %y : {t}, {t}, {one}, {t}, tensor<1x5xf32>, tensor<1x5x1xi1>
    }}"""
    assert "group" not in kinds(check(text, random(1, 5, length), random(length), random(length) + 1))


@pytest.mark.native
@pytest.mark.parametrize("shape", [(), (1,), (7, 1), (3, 5, 7), (2, 4096), (20000,)])
def test_elementwise_chains_over_any_shape(shape: tuple[int, ...]):
    t = f"tensor<{''.join(f'{n}x' for n in shape)}f32>"
    column = f"tensor<{''.join(f'{n}x' for n in (*shape[:-1], 1))}f32>"
    text = f"""func.func @main(%x: {t}, %c: {column}) -> {column if not shape else t} {{
      %a = edge.aten.tanh(%x) : ({t}) -> {t}
      %r = edge.aten.add.Tensor(%a, %c) : ({t}, {column}) -> {column if not shape else t}
      func.return %r : {column if not shape else t}
    }}"""
    check(text, random(*shape), random(*shape[:-1], 1), threads=2)


@pytest.mark.native
@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (1, 3)])
def test_rows_of_repeated_elements(shape: tuple[int, int]):
    """What is reduced along a row is all of it, though one element in memory may stand for it."""
    rows, columns = shape
    text = f"""
    func.func @main(%x: tensor<{rows}x{columns}xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<4x3xf32>) {{
      %0 = edge.aten.expand(%x, size = [4, 3]) : (tensor<{rows}x{columns}xf32>) -> tensor<4x3xf32>
      %1 = edge.aten.sum.dim_IntList(%0, dim = []) : (tensor<4x3xf32>) -> tensor<f32>
      %2 = edge.aten.sum.dim_IntList(%0, dim = [1]) : (tensor<4x3xf32>) -> tensor<4xf32>
      %3 = edge.aten._softmax(%0, dim = 1, half_to_float = false) : (tensor<4x3xf32>) -> tensor<4x3xf32>
      func.return %1, %2, %3 : tensor<f32>, tensor<4xf32>, tensor<4x3xf32>
    }}"""
    check(text, np.linspace(1, 2, rows * columns, dtype=np.float32).reshape(shape))


def test_results_that_are_views_of_inputs_and_of_each_other():
    t = "tensor<3x4xf32>"
    text = f"""func.func @main(%x: {t}) -> ({t}, tensor<4x3xf32>, {t}, {t}, tensor<2xf32>) {{
      %p = edge.aten.permute(%x, dims = [1, 0]) : ({t}) -> tensor<4x3xf32>
      %y = edge.aten.exp(%x) : ({t}) -> {t}
      %c = edge.aten.select.int(%y, dim = 1, index = 2) : ({t}) -> tensor<3xf32>
      %d = edge.aten.slice.Tensor(%c, start = 1, end = 3) : (tensor<3xf32>) -> tensor<2xf32>
      func.return %x, %p, %y, %y, %d : {t}, tensor<4x3xf32>, {t}, {t}, tensor<2xf32>
    }}"""
    check(text, random(3, 4))


@pytest.mark.native
def test_rows_are_taken_from_a_table():
    text = """func.func @main(%i: tensor<2x3xi64>, %w: tensor<10x20xf32>) -> tensor<2x3x20xf32> {
      %e = edge.aten.embedding(%w, %i) : (tensor<10x20xf32>, tensor<2x3xi64>) -> tensor<2x3x20xf32>
      %r = edge.aten.relu(%e) : (tensor<2x3x20xf32>) -> tensor<2x3x20xf32>
      func.return %r : tensor<2x3x20xf32>
    }"""
    assert kinds(check(text, np.array([[0, 9, 4], [4, 1, 0]]), constants=[random(10, 20)])) == ["kernel"]


# --- random programs -----------------------------------------------------------------------------------------


class Generator:
    """Writes random programs of views, products, reductions and elementwise operators."""

    def __init__(self, seed: int):
        self.random = Random(seed)
        self.lines: list[str] = []
        self.values: list[tuple[str, tuple[int, ...]]] = []

    def emit(
        self, op: str, operands: Sequence[tuple[str, tuple[int, ...]]], shape: tuple[int, ...], rest: str = ""
    ) -> None:
        name = f"%v{len(self.lines)}"
        names, types = ", ".join(n for n, _ in operands), ", ".join(tensor(s) for _, s in operands)
        self.lines.append(f"{name} = edge.aten.{op}({names}{rest}) : ({types}) -> {tensor(shape)}")
        self.values.append((name, shape))

    def step(self) -> None:
        # Mostly what was made last, so that chains grow long.
        recent = self.values[-4:]
        x = self.random.choice(recent if self.random.random() < 0.7 else self.values)
        y = self.random.choice(recent if self.random.random() < 0.5 else self.values)
        shape, dims = x[1], list(range(len(x[1])))
        match self.random.randrange(9):
            case 0:
                self.emit(self.random.choice(["relu", "neg", "tanh", "sigmoid", "gelu"]), [x], shape)
            case 1 | 2:
                try:
                    result = np.broadcast_shapes(shape, y[1])
                except ValueError:
                    return
                self.emit(self.random.choice(["add.Tensor", "sub.Tensor", "maximum"]), [x, y], result)
            case 3:
                self.random.shuffle(dims)
                self.emit("permute", [x], tuple(shape[d] for d in dims), f", dims = {dims}")
            case 4 if shape:
                dim = self.random.choice(dims)
                kept = self.random.choice([True, False])
                reduced = [n if d != dim else 1 for d, n in enumerate(shape) if d != dim or kept]
                self.emit("mean.dim", [x], tuple(reduced), f", dim = [{dim}], keepdim = {str(kept).lower()}")
            case 5 if shape:
                self.emit("_softmax", [x], shape, ", dim = -1, half_to_float = false")
            case 6:
                merged = (prod(shape[:1]), prod(shape[1:]))
                self.emit("view", [x], merged, f", size = {list(merged)}")
            case 7 if len(shape) == len(y[1]) == 2:
                if shape[1] == y[1][0]:
                    self.emit("mm", [x, y], (shape[0], y[1][1]))
            case 8 if shape and shape[-1] > 1:
                start = self.random.randrange(shape[-1] - 1)
                sliced = (*shape[:-1], shape[-1] - start)
                self.emit("slice.Tensor", [x], sliced, f", dim = -1, start = {start}, end = {shape[-1]}")
            case _:
                self.emit("exp", [(x)], shape)
                self.emit("_softmax", [self.values[-1]], shape, ", dim = -1, half_to_float = false")

    def function(self, name: str, arguments: Sequence[tuple[int, ...]], steps: int) -> str:
        self.values = [(f"%a{i}", shape) for i, shape in enumerate(arguments)]
        for _ in range(steps):
            self.step()
        results = [self.values[-1], *self.random.sample(self.values[len(arguments) :], k=1)]
        head = ", ".join(f"{n}: {tensor(s)}" for n, s in self.values[: len(arguments)])
        types, names = ", ".join(tensor(s) for _, s in results), ", ".join(n for n, _ in results)
        return "\n  ".join(
            [f"func.func @{name}({head}) -> ({types}) {{", *self.lines, f"func.return {names} : {types}\n}}"]
        )


def tensor(shape: tuple[int, ...]) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_random_programs_agree_with_the_interpreter(threads: int):
    shapes = [(6, 18), (18, 6), (3, 6, 18), (6, 1), (18,), (18, 18)]
    arrays = [random(*shape) for shape in shapes]
    names = [f"f{seed}" for seed in range(40)]
    texts = [Generator(2 * i + threads).function(name, shapes, 14) for i, name in enumerate(names)]
    module = module_of("\n".join(texts))
    target, dispatches = Cpu(processor().with_threads(threads)), Dispatches()
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    plans = {op.sym_name.data: Planner(op, {}, target, dispatches).run(op.sym_name.data) for op in functions}
    plan_arenas(list(plans.values()), dispatches.kernels.get)
    drivers = [plan.driver for plan in plans.values()]
    library = linking.load_objects(objects_of(units_of(dispatches, drivers)))
    interpreter = InterpreterEngine(module)
    for name, text in zip(names, texts, strict=True):
        actual = NativeMethod(plans[name], library.address(pack_arguments.ENTRY + name), range(len(arrays)))(
            arrays
        )
        expected = interpreter.run(name, arrays)
        for a, e in zip(actual, expected, strict=True):
            np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-4, err_msg=text)


# --- row programs by themselves ------------------------------------------------------------------------------


def load_kernel(kernel: Rows) -> linking.Library:
    """A kernel by itself, verified, as the function `f`."""
    function = kernel.function("f", True)
    function.verify()
    return linking.load(generic_text(function))


@pytest.mark.native
@pytest.mark.parametrize("length", [6, 50, 300])
@pytest.mark.parametrize("machine", [Machine(16, 32, 1), Machine(8, 16, 2)])
def test_passes_over_parts_of_rows(length: int, machine: Machine):
    """max(x) + concat(x[half:], x[:half] - sum(x))."""
    half = length // 2
    program = (
        Load(length),
        Reduce(1, (0,)),
        Map(length, (0, 1), element=Elementwise("aten.sub.Tensor")),
        Slice(half, (0,), start=length - half),
        Slice(length - half, (2,), start=0),
        Concat(length, (3, 4)),
        Reduce(1, (0,), kind="max"),
        Map(length, (5, 6), element=Elementwise("aten.add.Tensor")),
    )
    kernel = Rows((3,), (Input((3, length)),), program, (7,), machine)
    library = load_kernel(kernel)
    given, out = random(3, length), np.full((3, length), np.nan, np.float32)
    scratch = [np.full(kernel.scratch, np.nan, np.float32)] if kernel.scratch else []
    linking.bind(library, "f", [given, *scratch, out])()
    parts = [given[:, length - half :], (given - given.sum(-1, keepdims=True))[:, : length - half]]
    expected = np.concatenate(parts, -1) + given.max(-1, keepdims=True)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.native
@pytest.mark.parametrize("length", [2, 17, 300])
def test_one_element_of_a_row(length: int):
    """Elements cut out of rows are numbers: of an input, of a row that is made, and of conditions on both."""
    t, one = f"tensor<2x3x{length}xf32>", "tensor<2x3x1xf32>"
    rest, c, c1 = f"tensor<2x3x{length - 1}xf32>", f"tensor<2x3x{length}xi1>", "tensor<2x3x1xi1>"
    parts = f"split_sizes = [{length - 1}, 1], dim = -1"
    text = f"""func.func @main(%x: {t}, %y: {t}) -> ({t}, {one}, {rest}) {{
      %s = edge.aten.add.Tensor(%x, %y) : ({t}, {t}) -> {t}
      %a, %b = edge.aten.split_with_sizes(%s, {parts}) : ({t}) -> ({rest}, {one})
      %k = edge.aten.gt.Tensor(%s, %y) : ({t}, {t}) -> {c}
      %d, %e = edge.aten.split_with_sizes(%k, {parts}) : ({c}) -> ({c.replace(str(length) + "xi1", str(length - 1) + "xi1")}, {c1})
      %n = edge.aten.neg(%b) : ({one}) -> {one}
      %r = edge.aten.mul.Tensor(%s, %n) : ({t}, {one}) -> {t}
      %w = edge.aten.where.self(%e, %n, %b) : ({c1}, {one}, {one}) -> {one}
      %v = edge.aten.sub.Tensor(%a, %w) : ({rest}, {one}) -> {rest}
      func.return %r, %w, %v : {t}, {one}, {rest}
    }}"""
    assert kinds(check(text, random(2, 3, length), random(2, 3, length) + 0.5)) == ["kernel"]


@pytest.mark.native
def test_one_element_of_an_input_s_row():
    program = (
        Load(5),
        Load(5, (), "i1", 1),
        Slice(1, (0,), start=4),
        Slice(1, (1,), "i1", start=2),
        Map(5, (3, 2, 0), element=Elementwise("aten.where.self", operands="bff")),
    )
    library = load_kernel(Rows((3,), (Input((3, 5)), Input((3, 5), "i8")), program, (4,)))
    given, out = random(3, 5), np.empty((3, 5), np.float32)
    bools = np.array([[0, 1, 0, 1, 1], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1]], np.int8)
    linking.bind(library, "f", [given, bools, out])()
    np.testing.assert_array_equal(out, np.where(bools[:, 2:3] != 0, given[:, 4:], given))


@pytest.mark.native
@pytest.mark.parametrize("size", [(5, 5), (9, 40), (33, 17)])
@pytest.mark.parametrize("window", [(3, 2, 1, 1), (2, 2, 0, 1), (3, 1, 1, 2), (5, 3, 2, 1), (2, 2, 1, 4)])
def test_max_pool(size: tuple[int, int], window: tuple[int, int, int, int]):
    k, s, p, d = window
    h, w = ((n + 2 * p - d * (k - 1) - 1) // s + 1 for n in size)
    x, y = tensor((2, 3, *size)), tensor((2, 3, h, w))
    text = f"""func.func @main(%x: {x}) -> {y} {{
      %y, %i = edge.aten.max_pool2d_with_indices(%x, kernel_size = [{k}, {k}], stride = [{s}, {s}],
        padding = [{p}, {p}], dilation = [{d}, {d}]) : ({x}) -> ({y}, {y.replace("f32", "i64")})
      func.return %y : {y}
    }}"""
    assert kinds(check(text, random(2, 3, *size), threads=2)) == ["kernel"]


@pytest.mark.native
@pytest.mark.parametrize("rows", [(3,), (2, 3)])
def test_columns_of_one_element_are_read_along_their_stride(rows: tuple[int, ...]):
    whole, column = tensor((*rows, 5)), tensor((*rows, 1))
    dim = len(rows)
    check(
        f"""
        func.func @main(%x: {whole}) -> {column} {{
          %0 = edge.aten.slice.Tensor(%x, dim = {dim}, start = 0, end = 1) : ({whole}) -> {column}
          %1 = edge.aten.slice.Tensor(%x, dim = {dim}, start = -1, end = 5) : ({whole}) -> {column}
          %2 = edge.aten.div.Tensor(%0, %1) : ({column}, {column}) -> {column}
          func.return %2 : {column}
        }}
        """,
        random(*rows, 5),
    )


# --- destinations --------------------------------------------------------------------------------------------

BOTH_OVER_ONE = """
func.func @main(%x: tensor<7xf32>, %i: tensor<5xi64>, %j: tensor<5xi64>, %v: tensor<5xf32>)
    -> (tensor<7xf32>, tensor<7xf32>) {
  %y, %places = edge.aten.sort(%x) : (tensor<7xf32>) -> (tensor<7xf32>, tensor<7xi64>)
  %0 = edge.aten.index_put(%y, [%i], %v) : (tensor<7xf32>, tensor<5xi64>, tensor<5xf32>) -> tensor<7xf32>
  %1 = edge.aten.index_put(%y, [%j], %v) : (tensor<7xf32>, tensor<5xi64>, tensor<5xf32>) -> tensor<7xf32>
  func.return %0, %1 : tensor<7xf32>, tensor<7xf32>
}
"""
BOTH_OF_ZEROS = """
func.func @main(%x: tensor<7xf32>, %i: tensor<5xi64>, %j: tensor<5xi64>, %v: tensor<5xf32>)
    -> (tensor<7xf32>, tensor<7xf32>) {
  %a = edge.aten.full(size = [7], fill_value = 0, dtype = f32) : () -> tensor<7xf32>
  %b = edge.aten.full(size = [7], fill_value = 0, dtype = f32) : () -> tensor<7xf32>
  %0 = edge.aten.index_put(%a, [%i], %v) : (tensor<7xf32>, tensor<5xi64>, tensor<5xf32>) -> tensor<7xf32>
  %1 = edge.aten.index_put(%b, [%j], %v) : (tensor<7xf32>, tensor<5xi64>, tensor<5xf32>) -> tensor<7xf32>
  func.return %0, %1 : tensor<7xf32>, tensor<7xf32>
}
"""
BOTH_SUMS = """
func.func @main(%x: tensor<3x4x5xf32>, %y: tensor<3x4x5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %0 = edge.aten.sum.dim_IntList(%x, dim = [0, 1]) : (tensor<3x4x5xf32>) -> tensor<5xf32>
  %1 = edge.aten.sum.dim_IntList(%y, dim = [0, 1]) : (tensor<3x4x5xf32>) -> tensor<5xf32>
  func.return %0, %1 : tensor<5xf32>, tensor<5xf32>
}
"""


@pytest.mark.native
@pytest.mark.parametrize("text", [BOTH_OVER_ONE, BOTH_OF_ZEROS, BOTH_SUMS], ids=["one", "zeros", "sums"])
def test_results_made_of_equal_tensors_have_places_of_their_own(text: str) -> None:
    if text is BOTH_SUMS:
        check(text, random(3, 4, 5), random(3, 4, 5) + 1)
    else:
        check(text, random(7), np.array([0, 2, 4, 6, 1]), np.array([5, 3, 6, 4, 2]), random(5))


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_more_arguments_than_ctypes_passes() -> None:
    """Of one call ctypes takes 1,024."""
    count = 1100
    lines = [
        f"%s{i + 1} = edge.aten.add.Tensor(%s{i}, %x{i}) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>"
        for i in range(count)
    ]
    inputs = ", ".join(f"%{name}: tensor<2xf32>" for name in ("s0", *(f"x{i}" for i in range(count))))
    text = (
        f"func.func @main({inputs}) -> tensor<2xf32> {{\n"
        + "\n".join(lines)
        + f"\nfunc.return %s{count} : tensor<2xf32>\n}}"
    )
    check(text, *np.ones((count + 1, 2), np.float32))


@pytest.mark.native
def test_operators_of_equal_types_whose_operands_are_one_or_several():
    """What is known of the first, whose weight is its bias, is not known of the second."""
    t, w = "tensor<6x20xf32>", "tensor<20xf32>"
    results = f"({t}, tensor<6x1xf32>, tensor<6x1xf32>)"
    said = "normalized_shape = [20], eps = 1.0e-05"
    check(
        f"""func.func @main(%x: {t}, %w: {w}, %b: {w}) -> ({t}, {t}) {{
          %0, %1, %2 = edge.aten.native_layer_norm(%x, weight = %w, bias = %w, {said}) : ({t}, {w}, {w}) -> {results}
          %3, %4, %5 = edge.aten.native_layer_norm(%x, weight = %w, bias = %b, {said}) : ({t}, {w}, {w}) -> {results}
          func.return %0, %3 : {t}, {t}
        }}""",
        random(6, 20),
        random(20),
        random(20) + 1,
    )
