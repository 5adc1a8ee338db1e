"""FX text: read as PyTorch prints it, printed as PyTorch prints it."""

from __future__ import annotations

import random
import re
import time
import warnings
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.tensors import SymIntType, TensorMeta, tensor_type
from xdsl_exir.errors import ExirError, LoadError, UnsupportedError, VerificationError
from xdsl_exir.program import Program

TWO = """
graph():
    %p_w : [num_users=1] = placeholder[target=p_w]
    %x : [num_users=2] = placeholder[target=x]
    %mm : [num_users=1] = call_function[target=torch.ops.aten.mm.default](args = (%x, %p_w), kwargs = {})
    %max_1 : [num_users=2] = call_function[target=torch.ops.aten.max.dim](args = (%mm, 1), kwargs = {})
    %getitem : [num_users=1] = call_function[target=operator.getitem](args = (%max_1, 0), kwargs = {})
    %getitem_1 : [num_users=1] = call_function[target=operator.getitem](args = (%max_1, 1), kwargs = {})
    %div : [num_users=1] = call_function[target=torch.ops.aten.div.Tensor_mode](args = (%x, 2), kwargs = {rounding_mode: floor})
    return (getitem, getitem_1, div)
""".strip()

COND = """
graph():
    %x : [num_users=2] = placeholder[target=x]
    %sym_size_int : [num_users=2] = call_function[target=torch.ops.aten.sym_size.int](args = (%x, 0), kwargs = {})
    %gt : [num_users=1] = call_function[target=operator.gt](args = (%sym_size_int, 4), kwargs = {})
    %true_graph_0 : [num_users=1] = get_attr[target=true_graph_0]
    %false_graph_0 : [num_users=1] = get_attr[target=false_graph_0]
    %cond : [num_users=1] = call_function[target=torch.ops.higher_order.cond](args = (%gt, %true_graph_0, %false_graph_0, (%x,)), kwargs = {})
    %getitem : [num_users=1] = call_function[target=operator.getitem](args = (%cond, 0), kwargs = {})
    %mul : [num_users=1] = call_function[target=operator.mul](args = (%sym_size_int, 2), kwargs = {})
    return (getitem, mul)

true_graph_0 = graph():
    %arg0_1 : [num_users=1] = placeholder[target=arg0_1]
    %sin : [num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%arg0_1,), kwargs = {})
    return (sin,)

false_graph_0 = graph():
    %arg0_1 : [num_users=1] = placeholder[target=arg0_1]
    %cos : [num_users=1] = call_function[target=torch.ops.aten.cos.default](args = (%arg0_1,), kwargs = {})
    return (cos,)
""".strip()

TWO_TYPES = {"p_w": "float32[3, 4]", "x": "float32[2, 3]"}
COND_TYPES = {"x": "float32[s0, 3]"}


def array(*shape: int) -> Any:
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


# --- reading -------------------------------------------------------------------------------------------------


def test_a_program_of_text_runs() -> None:
    program = xdsl_exir.from_fx_text(TWO, TWO_TYPES)
    w, x = array(3, 4), array(2, 3)
    values, indices, floor = xdsl_exir.compile(program)(w, x)
    np.testing.assert_allclose(values, (x @ w).max(1), rtol=1e-6)
    np.testing.assert_array_equal(indices, (x @ w).argmax(1))
    np.testing.assert_array_equal(floor, np.floor(x / 2))
    assert program.fx_text() == TWO


def test_types_are_inferred() -> None:
    text = str(xdsl_exir.from_fx_text(TWO, TWO_TYPES))
    assert "aten.mm(%x, %p_w)" in text
    assert "-> (tensor<2xf32>, tensor<2xi64>)" in text


@pytest.mark.parametrize(
    "types",
    [
        COND_TYPES,
        ["float32[s0, 3]"],
        [TensorMeta((Expr.parse("s0"), 3), dt.Float)],
        [tensor_type((Expr.parse("s0"), 3), dt.Float)],
    ],
)
def test_control_flow_and_symbols(types: Any) -> None:
    program = xdsl_exir.from_fx_text(COND, types)
    run = xdsl_exir.compile(program)
    for rows, function in ((3, np.cos), (6, np.sin)):
        result, doubled = run(array(rows, 3))
        np.testing.assert_allclose(result, function(array(rows, 3)), rtol=1e-6)
        assert doubled == 2 * rows
    assert program.fx_text() == COND


def test_numbers_and_fixed_inputs() -> None:
    text = """graph():
    %x : [num_users=1] = placeholder[target=x]
    %n : [num_users=1] = placeholder[target=n]
    %none : [num_users=0] = placeholder[target=none]
    %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x, %n), kwargs = {})
    return (mul, None, 3)"""
    for n in ("symint[s0]", SymIntType(Expr.parse("s0"))):
        program = xdsl_exir.from_fx_text(text, ["float32[3]", n, None])
        product, none, three = xdsl_exir.compile(program)(array(3), 2, None)
        np.testing.assert_array_equal(product, array(3) * 2)
        assert (none, three) == (None, 3)
        assert program.fx_text() == text


def test_in_place_operators_are_made_functional() -> None:
    text = """graph():
    %x : [num_users=2] = placeholder[target=x]
    %view : [num_users=1] = call_function[target=torch.ops.aten.view.default](args = (%x, [6]), kwargs = {})
    %add_ : [num_users=0] = call_function[target=torch.ops.aten.add_.Tensor](args = (%view, 1), kwargs = {})
    %neg : [num_users=1] = call_function[target=torch.ops.aten.neg.default](args = (%x,), kwargs = {})
    return (neg,)"""
    program = xdsl_exir.from_fx_text(text, ["float32[2, 3]"])
    x = array(2, 3)
    [result] = xdsl_exir.compile(program)(x.copy())
    np.testing.assert_array_equal(result, -(x + 1))


def test_sizes_that_depend_on_data_are_given() -> None:
    text = """graph():
    %x : [num_users=1] = placeholder[target=x]
    %nonzero : [num_users=1] = call_function[target=torch.ops.aten.nonzero.default](args = (%x,), kwargs = {})
    return (nonzero,)"""
    with pytest.raises(LoadError, match=r"nonzero.*FX text:3.*depends on the data"):
        xdsl_exir.from_fx_text(text, {"x": "float32[3]"})
    program = xdsl_exir.from_fx_text(text, {"x": "float32[3]", "nonzero": "int64[u0, 1]"})
    [indices] = xdsl_exir.compile(program)(np.array([0, 1, 2], np.float32))
    np.testing.assert_array_equal(indices, [[1], [2]])


ARGUMENTS = {
    "inf": float("inf"),
    "-inf": float("-inf"),
    "1e-07": 1e-07,
    "-3": -3,
    "2.5": 2.5,
    "True": True,
}


@pytest.mark.parametrize("text", ARGUMENTS)
def test_numbers(text: str) -> None:
    source = f"""graph():
    %x : [num_users=1] = placeholder[target=x]
    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, {text}), kwargs = {{}})
    return (add,)"""
    program = xdsl_exir.from_fx_text(source, ["float32[2]"])
    [result] = xdsl_exir.compile(program)(array(2))
    np.testing.assert_array_equal(result, array(2) + np.float32(ARGUMENTS[text]))
    assert program.fx_text() == source


@pytest.mark.parametrize(
    "call",
    [
        "aten.full.default](args = ([2], (1+2j)), kwargs = {device: cpu, pin_memory: False})",
        "aten.full.default](args = ([], nan), kwargs = {dtype: torch.bfloat16, layout: torch.strided, device: cpu})",
        "aten.zeros.default](args = ([0, 3],), kwargs = {})",
        "aten.einsum.default](args = (ij,kj->ik, [%x, %x]), kwargs = {})",
        "aten.clone.default](args = (%x,), kwargs = {memory_format: torch.contiguous_format})",
        "aten._to_copy.default](args = (%x,), kwargs = {dtype: torch.float16})",
        "aten.index.Tensor](args = (%x, [None, %i]), kwargs = {})",
        "aten.sum.dim_IntList](args = (%x, []), kwargs = {})",
        "aten.gelu.default](args = (%x,), kwargs = {approximate: tanh})",
        "aten.slice.Tensor](args = (%x, 0, None, 1), kwargs = {})",
        "aten.convolution.default](args = (%w, %w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1), kwargs = {})",
        "aten._assert_async.msg](args = (%b, say, what (you) want [to], {all of it}), kwargs = {})",
    ],
)
def test_arguments(call: str) -> None:
    result = "None" if "_assert_async" in call else "y"
    source = f"""graph():
    %x : [num_users={call.count("%x")}] = placeholder[target=x]
    %i : [num_users={call.count("%i")}] = placeholder[target=i]
    %w : [num_users={min(call.count("%w"), 1)}] = placeholder[target=w]
    %b : [num_users={call.count("%b")}] = placeholder[target=b]
    %y : [num_users={int(result == "y")}] = call_function[target=torch.ops.{call}
    return ({result},)""".replace("num_users=2", "num_users=1")
    types = ["float32[2, 3]", "int64[2]", "float32[1, 1, 3, 3]", "bool[]"]
    assert xdsl_exir.from_fx_text(source, types).fx_text() == source


def test_lines_are_locations() -> None:
    program = xdsl_exir.from_fx_text(TWO, TWO_TYPES, "model.fx")
    assert '"model.fx":4:0' in program.text(locations=True)


# --- refused -------------------------------------------------------------------------------------------------

X = "    %x : [num_users=1] = placeholder[target=x]\n"
RELU = "    %r : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = ({}), kwargs = {{{}}})\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "FX text:1:1: there is no graph"),
        ("x", "FX text:1:1: expected 'graph():'"),
        ("graph():\ngraph():", "FX text:2:1: a second graph"),
        ("graph():\n" + X, "FX text:2:1: the graph does not return"),
        ("graph():\n" + X + "    nonsense", "FX text:3:1: expected a node"),
        ("graph():\n" + X + X + "    return (x,)", "FX text:3:6: a second node 'x'"),
        ("graph():\n" + X + "    return (x,)\n" + X, "FX text:4:1: a line after the graph's return"),
        ("graph():\n" + X + "    return (y,)", "FX text:3:13: 'y' is no value that is known"),
        ("graph():\n" + X + "    return (x", "FX text:3:14: expected ','"),
        ("graph():\n" + X + "    return (x,) more", "FX text:3:16: expected the end"),
        ("graph():\n" + X + RELU.format("%y", "") + "    return (r,)", "FX text:3:85: value 'y' is used before"),
        ("graph():\n" + X + RELU.format("%x", "a") + "    return (r,)", "expected the name of an argument"),
        ("graph():\n" + X + RELU.format("%x", "a: 1, a: 2") + "    return (r,)", "each once"),
        ("graph():\n" + X + RELU.format("%x, 3", "") + "    return (r,)", r"FX text:3\): .*relu.*"),
        ("graph():\n" + X + RELU.format("None", "") + "    return (r,)", "argument 'self' is None"),
        ("graph():\n" + X + RELU.format("9" * 40, "") + "    return (r,)", "FX text:3:84: an integer of more"),
        ("graph():\n" + X + RELU.format("[" * 50, "") + "    return (r,)", "nested too deeply"),
        ("graph():\n" + X + RELU.format("torch.foo", "") + "    return (r,)", "'torch.foo' is no value"),
        ("graph():\n" + X + "    %g : [num_users=1] = get_attr[target=g]\n    return (x,)", "does not have the graph"),
        ("graph():\n" + X + "    %g : [num_users=1] = call_module[target=g](args = (), kwargs = {})", "call_module nodes"),
        (
            "graph():\n" + X + "    %g : [num_users=1] = call_function[target=operator.getitem](args = (%x, 0), kwargs = {})",
            "FX text:3:1: nothing defines the results of %x",
        ),
        (
            "graph():\n    %g : [num_users=1] = get_attr[target=g]\n    return (None,)\ng = graph():\n"
            "    %g : [num_users=1] = get_attr[target=g]\n    return (None,)",
            "does not have the graph of 'g.g'",
        ),
    ],
)  # fmt: skip
def test_refused(text: str, message: str) -> None:
    with pytest.raises(LoadError, match=message if "\\" in message else re.escape(message)):
        xdsl_exir.from_fx_text(text, {"x": "float32[3]"})


@pytest.mark.parametrize("type", ["", "float33[3]", "float32", "float32[3", "float32[3;4]", "float32[(]", "symint[1, 2]", "symint[]"])  # fmt: skip
def test_refused_types(type: str) -> None:
    with pytest.raises(LoadError, match="type"):
        xdsl_exir.from_fx_text("graph():\n" + X + "    return (x,)", [type])


def test_types_must_be_complete() -> None:
    with pytest.raises(LoadError, match="1 types for 2 placeholders"):
        xdsl_exir.from_fx_text(TWO, ["float32[2]"])
    with pytest.raises(LoadError, match="no type given for p_w"):
        xdsl_exir.from_fx_text(TWO, {"x": "float32[2]"})


def test_unknown_operators_are_listed_with_their_lines() -> None:
    text = TWO.replace("aten.mm.default", "mylib.first.default").replace("aten.max.dim", "mylib.second.x")
    with pytest.raises(UnsupportedError) as caught:
        xdsl_exir.from_fx_text(text, TWO_TYPES)
    assert [(item.operator, item.location) for item in caught.value.items] == [
        ("mylib.first", "FX text:4"),
        ("mylib.second.x", "FX text:5"),
    ]


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises((LoadError, VerificationError), match=r"FX text:4"):
        xdsl_exir.from_fx_text(TWO, {"p_w": "float32[2, 2]", "x": "float32[2, 3]"})


TYPES = ["float32[3, 3]", "float32[3]", "float32[s0, 4]", "int64[]", "symint[s0]", None, "float32[2, 3]"]
PIECES = ["%x", "None", "inf", "-1", *"[](){},", "torch.float32", "9" * 30, "1e99", "%%", "\0", "é", "[[[[", "getitem"]  # fmt: skip


def test_damaged_text() -> None:
    """Whatever becomes of a text, it is read or refused, at once, with a place."""
    rng = random.Random(0)
    read = 0
    for _ in range(600):
        text = list(rng.choice((TWO, COND)))
        names = re.findall(r"%(\w+) : .*placeholder", "".join(text).split("\n\n")[0])
        for _ in range(rng.choice((0, 1, 1, 2, 4, 10))):
            at = rng.randrange(len(text))
            match rng.randrange(4):
                case 0:
                    text[at : at + rng.choice((1, 1, 3, 20))] = []
                case 1:
                    text[at:at] = rng.choice(PIECES)
                case 2:
                    text[at] = chr(rng.randrange(32, 127))
                case _:
                    start = rng.randrange(len(text))
                    text[at:at] = text[start : start + rng.randrange(60)]
        begin = time.perf_counter()
        try:
            xdsl_exir.from_fx_text("".join(text), {name: rng.choice(TYPES) for name in names})
            read += 1
        except ExirError as error:
            assert "FX text:" in str(error)  # noqa: PT017
        assert time.perf_counter() - begin < 2
    assert read > 0


@pytest.mark.parametrize("strict", [False, True])
def test_operators_and_tables_as_arguments(strict: bool) -> None:
    """What PyTorch prints of operators that take an operator, or a table of options."""
    torch: Any = pytest.importorskip("torch")
    flex_attention = pytest.importorskip("torch.nn.attention.flex_attention").flex_attention
    out_dtype = pytest.importorskip("torch._higher_order_ops.out_dtype").out_dtype

    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            scaled = out_dtype(torch.ops.aten.mul.Tensor, torch.float64, x, 3)
            return scaled, flex_attention(x, x, x, score_mod=lambda score, b, h, i, j: score + i * j)

    x = torch.linspace(-1, 1, 32).reshape(1, 2, 4, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(Model(), (x,), strict=strict).run_decompositions()
        expected = Model()(x)
    graphs = [f"{name} = {inner.graph}" for name, inner in program.graph_module.named_children()]
    text = "\n\n".join([str(program.graph), *graphs])
    assert "(aten.mul.Tensor, torch.float64, %x, 3)" in text
    assert "{BACKEND: AUTO, " in text
    run = xdsl_exir.compile(xdsl_exir.from_fx_text(text, {"x": "float32[1, 2, 4, 4]"}))
    for given, wanted in zip(run(x.numpy()), expected, strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-5, atol=1e-6)
    for broken in ("{BACKEND AUTO, ", "{BACKEND: AUTO, BACKEND: AUTO, "):
        with pytest.raises(LoadError, match="expected the name of an argument, each once"):
            xdsl_exir.from_fx_text(text.replace("{BACKEND: AUTO, ", broken), {"x": "float32[1, 2, 4, 4]"})


# --- printing ------------------------------------------------------------------------------------------------


def test_digits_by_text_alone() -> None:
    """A whole classifier, printed, read and run with its weights as inputs."""
    from pathlib import Path

    program = xdsl_exir.load(Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2").to_core()
    text = program.fx_text()
    arguments = program.method().body.block.args
    back = xdsl_exir.from_fx_text(text, [argument.type for argument in arguments])
    assert back.fx_text() == text
    assert [op.name for op in back.method().body.block.ops] == [
        op.name for op in program.method().body.block.ops
    ]


def test_pytorchs_own_text() -> None:
    """Text that PyTorch printed, sub-graphs added, is read, and printed as it was."""
    torch: Any = pytest.importorskip("torch")

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            def yes(x: Any) -> Any:
                return self.linear(x), x.sin()

            parts = torch.cond(x.sum() > 0, yes, lambda x: (x.cos(), x + 1), (x,))
            return parts, torch.div(x, 2, rounding_mode="floor"), *x.max(0), *x.split([1, 2])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(Model(), (torch.randn(3, 3),))
        for program in (exported, exported.run_decompositions()):
            texts = [str(program.graph)]
            for name, graph_module in program.graph_module.named_children():
                texts.append(f"{name} = {graph_module.graph}")
            imported = xdsl_exir.from_exported_program(program)
            assert imported.fx_text().split("\n\n")[0] == texts[0]
            types = [argument.type for argument in imported.method().body.block.args]
            back: Program = xdsl_exir.from_fx_text("\n\n".join(texts), types)
            assert back.fx_text().split("\n\n")[0] == texts[0]
