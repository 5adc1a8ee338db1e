"""Operators that backends add: what they are follows from one function, wherever they are met."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir import ExirError, SpecError, VerificationError, backend_op
from xdsl_exir.dialects import backend, edge
from xdsl_exir.dialects.builder import meta
from xdsl_exir.interpreter.operators import impl
from xdsl_exir.lowering.pointwise import pointwise
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.inputs import random_inputs
from xdsl_exir.transforms.verify import stage_of

DIGITS = Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2"

pytestmark = pytest.mark.usefixtures("clean")


def program(arguments: str, body: str, results: str, types: str) -> Program:
    text = f"func.func @forward({arguments}) -> ({types}) {{\n{body}\nfunc.return {results} : {types} }}"
    return Program(Parser(context().clone(), text).parse_module()).verify()


def backend_names(program: Program) -> list[str]:
    return [
        op.name.removeprefix("backend.") for op in program.module.walk() if op.name.startswith("backend.")
    ]


def same(program: Program, other: Program, target: str = "interpreter") -> None:
    inputs = random_inputs(program)
    pairs = zip(
        xdsl_exir.compile(program, target).flat(inputs),
        xdsl_exir.compile(other, target).flat(inputs),
        strict=True,
    )
    for one, another in pairs:
        np.testing.assert_array_equal(one, another)


def linear_relu() -> None:
    @backend_op("npu::linear_relu(Tensor x, Tensor w, Tensor? b=None) -> Tensor")
    def op(aten: Any, x: Any, w: Any, b: Any) -> Any:
        return aten.relu(aten.linear(x, w, b))


def of_digits() -> list[str]:
    """Registers operators that the classifier has; the names of those that are found in it, in order."""

    @backend_op("npu::linear(Tensor x, Tensor w, Tensor? b=None) -> Tensor")
    def linear(aten: Any, x: Any, w: Any, b: Any) -> Any:
        return aten.linear(x, w, b)

    @backend_op(
        "npu::norm_relu(Tensor x, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float momentum, float eps) -> Tensor"
    )
    def norm_relu(
        aten: Any, x: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: Any, eps: Any
    ) -> Any:
        normal = aten._native_batch_norm_legit_no_training(x, weight, bias, mean, var, momentum, eps)
        return aten.relu(normal[0])

    return [*["npu.norm_relu"] * 3, "npu.linear"]


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_a_model_fused_gives_the_same(target: str) -> None:
    expected = of_digits()
    edge = xdsl_exir.load(DIGITS).to_edge()
    fused = edge.transform("fuse-operators", check=True)
    assert backend_names(fused) == expected
    assert stage_of(fused.module) == "backend"
    inputs = random_inputs(edge)
    for one, another in zip(
        xdsl_exir.compile(edge, target).flat(inputs),
        xdsl_exir.compile(fused, target).flat(inputs),
        strict=True,
    ):
        np.testing.assert_array_equal(one, another)
    again = fused.transform("decompose-backend")
    assert stage_of(again.module) == "edge"
    assert not backend_names(again)
    same(edge, again)
    assert stage_of(fused.to("edge").module) == "edge"


def test_saved_as_text_with_weights(tmp_path: Path) -> None:
    expected = of_digits()
    fused = xdsl_exir.load(DIGITS).to_edge().transform("fuse-operators")
    fused.save(tmp_path / "fused.mlir")
    loaded = xdsl_exir.load(tmp_path / "fused.mlir")
    assert backend_names(loaded) == expected
    same(fused, loaded)


def test_archives_name_them_and_are_read_as_what_they_are_made_of(tmp_path: Path) -> None:
    expected = of_digits()
    edge = xdsl_exir.load(DIGITS).to_edge()
    edge.transform("fuse-operators").save(tmp_path / "fused.pt2")
    loaded = xdsl_exir.load(tmp_path / "fused.pt2")
    assert stage_of(loaded.module) == "aten"
    assert not backend_names(loaded)
    same(edge, loaded)
    assert backend_names(loaded.to_edge().transform("fuse-operators")) == expected
    xdsl_exir.unregister_ops(*{*expected})
    with pytest.raises(xdsl_exir.UnsupportedError, match=r"npu\.norm_relu"):
        xdsl_exir.load(tmp_path / "fused.pt2")


X = "tensor<2x3xf32>"


@pytest.mark.parametrize("kept", [(), ("aten.linear",)])
def test_dynamic_sizes(kept: Sequence[str]) -> None:
    """Sizes are named; what the body computes of them is what the program does."""
    linear_relu()
    x, w = "tensor<?x5xf32, #exir.shape<[s0, 5]>>", "tensor<4x5xf32>"
    y = "tensor<?x4xf32, #exir.shape<[s0, 4]>>"
    core = program(
        f"%x: {x}, %w: {w}",
        f"%0 = aten.linear(%x, %w) : ({x}, {w}) -> {y}\n%1 = aten.relu(%0) : ({y}) -> {y}",
        "%1",
        y,
    )
    fused = core.to_edge(keep=tuple(kept)).transform("fuse-operators")
    assert backend_names(fused) == ["npu.linear_relu"]
    assert str(fused).count(y) >= 2
    same(core, fused)


@pytest.mark.parametrize(
    ("x", "y", "result"),
    [
        ("f32", "f32", "f32"),
        ("i8", "f32", "f32"),
        ("i8", "i64", "i64"),
        ("f16", "f32", "f32"),
        ("i1", "i8", "i8"),
    ],
)
def test_types_follow_from_the_function(x: str, y: str, result: str) -> None:
    """Promotion too, which the program has casts for: they are part of what is found."""

    @backend_op("npu::both(Tensor x, Tensor y) -> Tensor")
    def both(aten: Any, x: Any, y: Any) -> Any:
        return aten.abs(aten.mul.Tensor(x, y))

    a, b, c = f"tensor<3x1x{x}>", f"tensor<1x2x{y}>", f"tensor<3x2x{result}>"
    core = program(
        f"%x: {a}, %y: {b}",
        f"%0 = aten.mul.Tensor(%x, %y) : ({a}, {b}) -> {c}\n%1 = aten.abs(%0) : ({c}) -> {c}",
        "%1",
        c,
    )
    made = backend.OPERATORS["npu.both"](*core.method().args)
    assert made.result_types[0] == core.method().function_type.outputs.data[0]
    made.erase()
    fused = core.to_edge().transform("fuse-operators", check=True)
    assert "npu.both" in backend_names(fused)
    same(core, fused)
    fused.transform("decompose-backend,verify-edge")


def test_what_looks_alike_at_one_rank_is_not_taken_at_another() -> None:
    """`t` does nothing to a vector, and is a permutation of a matrix."""

    @backend_op("npu::relu_t(Tensor x) -> Tensor")
    def relu_t(aten: Any, x: Any) -> Any:
        return aten.sin(aten.relu(aten.t(x)))

    square = "tensor<2x2xf32>"
    core = program(
        f"%x: {square}",
        f"%0 = aten.relu(%x) : ({square}) -> {square}\n%1 = aten.sin(%0) : ({square}) -> {square}",
        "%1",
        square,
    )
    assert backend_names(core.to_edge().transform("fuse-operators")) == []


def test_where_and_patterns_say_what_is_looked_for() -> None:
    @backend_op(
        "npu::matmul(Tensor x, Tensor w) -> Tensor",
        pattern=lambda aten, x, w: aten.mm(x, aten.permute(w, [1, 0])),
        where=lambda x: meta(x).shape[0] == 2,
    )
    def matmul(aten: Any, x: Any, w: Any) -> Any:
        return aten.mm(x, aten.t(w))

    edge = program(
        "%x: tensor<2x3xf32>, %y: tensor<3x3xf32>, %w: tensor<3x3xf32>",
        "%t = edge.aten.permute(%w, dims = [1, 0]) : (tensor<3x3xf32>) -> tensor<3x3xf32>\n"
        "%0 = edge.aten.mm(%x, %t) : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>\n"
        "%u = edge.aten.permute(%w, dims = [1, 0]) : (tensor<3x3xf32>) -> tensor<3x3xf32>\n"
        "%1 = edge.aten.mm(%y, %u) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>",
        "%0, %1",
        "tensor<2x3xf32>, tensor<3x3xf32>",
    )
    fused = edge.transform("fuse-operators", check=True)
    assert backend_names(fused) == ["npu.matmul"]
    same(edge, fused)


def test_a_function_and_a_lowering_of_ones_own_count_first() -> None:
    @backend_op("npu::twice(Tensor x) -> Tensor")
    def twice(aten: Any, x: Any) -> Any:
        return aten.add.Tensor(x, x)

    @impl("npu.twice")
    def hundred(x: Any) -> Any:
        return x * 100

    @pointwise("npu.twice")
    def thousand(x: Any) -> Any:
        return x * 1000

    fused = program(f"%x: {X}", f"%0 = edge.aten.add.Tensor(%x, %x) : ({X}, {X}) -> {X}", "%0", X).transform(
        "fuse-operators"
    )
    x = np.ones((2, 3), np.float32)
    [many] = xdsl_exir.compile(fused).flat([x])
    assert np.all(many == 100)
    linalg = fused.to("linalg")
    assert "1000" in str(linalg) or "1.000000e+03" in str(linalg)
    [back] = xdsl_exir.compile(fused.transform("decompose-backend")).flat([x])
    assert np.all(back == 2)


def test_lists_and_sizes() -> None:
    @backend_op("npu::pool(Tensor x, SymInt[] size, int dim=0) -> Tensor")
    def pool(aten: Any, x: Any, size: Any, dim: Any) -> Any:
        return aten.amax(aten.view(x, size), [dim])

    edge = program(
        "%x: tensor<6xf32>",
        "%0 = edge.aten.view(%x, size = [2, 3]) : (tensor<6xf32>) -> tensor<2x3xf32>\n"
        "%1 = edge.aten.amax(%0, dim = [0]) : (tensor<2x3xf32>) -> tensor<3xf32>",
        "%1",
        "tensor<3xf32>",
    )
    fused = edge.transform("fuse-operators", check=True)
    assert "npu.pool(%x, size = [2, 3])" in str(fused)
    same(edge, fused)


def test_refusals() -> None:
    def body(aten: Any, x: Any) -> Any:
        return aten.relu(x)

    with pytest.raises(SpecError, match=r"test_backend_ops.py:\d+: .*"):
        backend_op("npu::f(Tensor x")(body)
    with pytest.raises(SpecError, match="writes to 'x'"):
        backend_op("npu::f(Tensor(a!) x) -> Tensor(a!)")(body)
    with pytest.raises(SpecError, match="namespace 'aten' is PyTorch's"):
        backend_op("aten::f(Tensor x) -> Tensor")(body)
    with pytest.raises(SpecError, match="'x' is neither an argument of"):
        backend_op("npu::f(Tensor y) -> Tensor")(body)
    backend_op("npu::f(Tensor x) -> Tensor")(body)
    with pytest.raises(SpecError, match="specified twice"):
        backend_op("npu::f(Tensor x) -> Tensor")(body)
    with pytest.raises(SpecError, match=r"npu\.f is no operator of the edge dialect"):
        edge.OPERATORS["npu.f"]
    with pytest.raises(ExirError, match="relu"):
        backend.OPERATORS["npu.f"](
            program("%x: tensor<2xcomplex<f32>>", "", "%x", "tensor<2xcomplex<f32>>").method().args[0]
        )
    backend_op("npu::two(Tensor x) -> (Tensor, Tensor)")(body)
    with pytest.raises(SpecError, match="gives 1 results for 2"):
        backend.OPERATORS["npu.two"](program(f"%x: {X}", "", "%x", X).method().args[0])
    xdsl_exir.unregister_ops("npu.two")
    backend_op("npu::odd(Tensor x, int n) -> Tensor")(lambda aten, x, n: aten.relu(aten.add.Tensor(x, n + 1)))
    with pytest.raises(SpecError, match=r"npu\.odd: nothing to look for"):
        program(f"%x: {X}", "", "%x", X).transform("fuse-operators")


def test_no_other_stage_has_them() -> None:
    linear_relu()
    made = backend.OPERATORS["npu.linear_relu"]
    text = program(f"%x: {X}, %w: tensor<4x3xf32>", "", "%x", X)
    op = made(*text.method().args)
    text.method().body.block.insert_op_before(op, text.method().body.block.last_op)
    for stage in ("aten", "edge"):
        with pytest.raises(VerificationError, match="an operator that only backend has"):
            text.transform(f"verify-{stage}")
    text.transform("verify-backend")
    op.operands[1] = text.method().args[0]
    with pytest.raises(VerificationError, match="linear_relu"):
        text.transform("verify-backend")


def test_random_numbers_are_no_operator_of_a_backend() -> None:
    """Two of an operator without effects may become one; two draws are two."""

    @backend_op("npu::noisy(Tensor x) -> Tensor")
    def noisy(aten: Any, x: Any) -> Any:
        return aten.add.Tensor(x, aten.rand_like(x))

    given = program(f"%x: {X}", "", "%x", X)
    with pytest.raises(SpecError, match=r"npu\.noisy: aten\.rand_like does more than give a result"):
        backend.OPERATORS["npu.noisy"](given.method().args[0])
    with pytest.raises(SpecError, match=r"npu\.noisy: aten\.rand_like does more than give a result"):
        given.to_edge().transform("fuse-operators")


def test_a_branch_has_bodies_in_place() -> None:
    linear_relu()
    x, w = "tensor<2x3xf32>", "tensor<3x3xf32>"
    body = f"""
      %r = higher_order.cond %p : tensor<i1> inputs(%x, %w : {x}, {w}) -> {x} {{
      ^bb0(%a: {x}, %b: {w}):
        %0 = backend.npu.linear_relu(%a, %b) : ({x}, {w}) -> {x}
        higher_order.yield %0 : {x}
      }} else {{
      ^bb0(%a: {x}, %b: {w}):
        higher_order.yield %a : {x}
      }}"""
    branch = program(f"%p: tensor<i1>, %x: {x}, %w: {w}", body, "%r", x)
    inputs = [np.array(True), np.ones((2, 3), np.float32), np.ones((3, 3), np.float32)]
    [found] = xdsl_exir.compile(branch).flat(inputs)
    assert np.all(found == 3)
    assert not backend_names(branch.transform("decompose-backend,verify-edge"))
