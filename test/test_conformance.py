"""Conformance to Export IR: every kind of input, output, argument, higher-order operator and expression, with its test.

`docs/conformance.md` is made of the tables here (`python test/test_conformance.py` writes it). A row names the test that
covers it, in this file or another, or what refuses it with the error's text, which is provoked here. That the rows are all
there are is checked against PyTorch's own lists.
"""

from __future__ import annotations

import ast
import dataclasses as dc
import json
import re
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.dialects.expr import Expr, pytorch, to_srepr, values
from xdsl_exir.dialects.spec.of_pytorch import OF_PYTORCH
from xdsl_exir.errors import ExirError
from xdsl_exir.exchange import graph as g
from xdsl_exir.exchange.pt2_schema import ARGUMENTS
from xdsl_exir.importers.control_flow import HIGHER_ORDER as BUILT
from xdsl_exir.importers.exported_program import read_exported_program
from xdsl_exir.program import from_graphs

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("default")

TESTS = Path(__file__).parent
DOCUMENT = TESTS.parent / "docs" / "conformance.md"


@dataclass(frozen=True)
class Row:
    """What becomes of something in the IR, and the test that shows it; of what is refused, the error's text."""

    meaning: str
    test: str = ""
    refused: str = ""


# --- programs ------------------------------------------------------------------------------------------------


def module(forward: Callable[..., Any], **members: Any) -> Any:
    """A module made of its forward function and of what it holds."""
    made = type("Program", (torch.nn.Module,), {"forward": forward})()
    for name, member in members.items():
        setattr(made, name, member)
    return made


def quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A call of PyTorch's exporter; its deprecation warnings are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def export(forward: Callable[..., Any], args: Any, shapes: Any = None, **members: Any) -> Any:
    return quietly(torch.export.export, module(forward, **members), args, dynamic_shapes=shapes)


def counted(*sizes: int) -> Any:
    return torch.arange(1.0, 1 + np.prod(sizes)).reshape(sizes)


def imported(graph: g.ExportedGraph) -> xdsl_exir.Program:
    return from_graphs({"forward": graph}, "test")


def agrees(program: xdsl_exir.Program, model: Any, args: Any) -> None:
    """Asserts that a program gives eager's results at every stage."""
    wanted = torch.utils._pytree.tree_leaves(model(*args))
    for stage in (program, program.to_core(), program.to_edge()):
        got = torch.utils._pytree.tree_leaves(
            xdsl_exir.compile(stage)(*(a.numpy() if isinstance(a, torch.Tensor) else a for a in args))
        )
        for mine, its in zip(got, wanted, strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-5, atol=1e-5)


# --- inputs and outputs --------------------------------------------------------------------------------------

INPUT_KINDS = {
    "user_input": Row("an argument, `#exir.input<user_input>`", "test_api.py"),
    "parameter": Row(
        "an argument bound to the program's state", "importers/test_exported_program.py::test_weights"
    ),
    "buffer": Row(
        "an argument bound to the program's state, which keeps what is written; one that is not persistent says `transient`",
        "importers/test_functionalize.py::test_program[updated_buffer]",
    ),
    "tensor_constant": Row(
        "an argument bound to the program's constants, `#exir.input<constant_tensor>`",
        "importers/test_functionalize.py::test_program[constant_tensor]",
    ),
    "constant_input": Row(
        "no argument: part of the calling convention, and checked at a call",
        "importers/test_exported_program.py::constant_inputs",
    ),
    "token": Row("nothing: operations with effects stay in order", "importers/test_effects.py"),
    "custom_obj": Row("refused: its methods are not in the program", refused="a custom object of class"),
}
"""Kinds of inputs, as the file format names them."""

OUTPUT_KINDS = {
    "user_output": Row("a result, `#exir.output<user_output>`", "test_api.py"),
    "loss_output": Row("a result, returned like a user's", "test_conformance.py::test_gradients"),
    "buffer_mutation": Row(
        "a result that the buffer is after the call",
        "importers/test_functionalize.py::test_program[updated_buffer]",
    ),
    "parameter_mutation": Row(
        "a result that the parameter is after the call", "test_conformance.py::test_parameter_mutation"
    ),
    "gradient_to_parameter": Row(
        "a result; after a call it is in the executable's `gradients`", "test_conformance.py::test_gradients"
    ),
    "gradient_to_user_input": Row("the same", "test_conformance.py::test_gradients"),
    "user_input_mutation": Row(
        "a result that is copied into the caller's array",
        "importers/test_functionalize.py::test_program[mutated_input]",
    ),
    "token": Row("nothing: operations with effects stay in order", "importers/test_effects.py"),
}


def test_gradients() -> None:
    """A joint graph gives the loss and the gradients that autograd has, and goes back to PyTorch as it came."""
    experimental = pytest.importorskip("torch.export.experimental")
    torch.manual_seed(0)
    linear = torch.nn.Linear(3, 3)
    model = module(lambda self, x, y: ((self.linear(x) * y) ** 2).mean(), linear=linear)
    x, y = torch.randn(2, 3), torch.randn(2, 3, requires_grad=True)
    joint = quietly(experimental._export_forward_backward, quietly(torch.export.export, model, (x, y)))
    program = xdsl_exir.from_exported_program(joint)
    assert '#exir.output<gradient_to_user_input, "y">' in str(program)
    loss = model(x, y)
    loss.backward()
    wanted = {"linear.weight": linear.weight.grad, "linear.bias": linear.bias.grad, "y": y.grad}
    arrays = [x.numpy(), y.detach().numpy()]
    for stage in (program, program.to_core(), program.to_edge()):
        run = xdsl_exir.compile(stage)
        np.testing.assert_allclose(run(*arrays), loss.detach(), rtol=1e-5)
        assert run.gradients.keys() == wanted.keys()
        for name, gradient in wanted.items():
            np.testing.assert_allclose(run.gradients[name], gradient, rtol=1e-5, atol=1e-6)
    back = program.to_exported_program()
    assert str(back.graph) == str(joint.graph)
    assert back.graph_signature.input_specs == joint.graph_signature.input_specs
    ours, theirs = back.graph_signature.output_specs, joint.graph_signature.output_specs
    # PyTorch has in the last target the name that the input had before it was renamed.
    assert [*ours[:-1], (ours[-1].kind, ours[-1].arg)] == [*theirs[:-1], (theirs[-1].kind, theirs[-1].arg)]


@pytest.mark.parametrize("dialect", ["training", "core"])
def test_parameter_mutation(dialect: str) -> None:
    def forward(self: Any, x: Any) -> Any:
        with torch.no_grad():
            self.weight.add_(1)
        return x + self.weight

    exported = export(forward, (counted(3),), weight=torch.nn.Parameter(torch.zeros(3)))
    if dialect == "core":
        exported = quietly(exported.run_decompositions)
        assert "PARAMETER_MUTATION" in {s.kind.name for s in exported.graph_signature.output_specs}
    program = xdsl_exir.from_exported_program(exported)
    for stage in (program, program.to_core(), program.to_edge()):
        run = xdsl_exir.compile(stage)
        x = counted(3).numpy()
        for call in (1, 2):
            np.testing.assert_array_equal(run(x), x + call)
            np.testing.assert_array_equal(run.array("weight"), np.full(3, float(call)))


# --- arguments -----------------------------------------------------------------------------------------------

ROWS = {0: torch.export.Dim("rows", min=3, max=9)}


def _upsample(self: Any, x: Any) -> Any:
    return torch.ops.aten.upsample_nearest2d.vec(x[None, None], None, [2.0, 3.0])


def _checked(self: Any, x: Any) -> Any:
    torch._check(x.shape[0] * 2 < 18)
    return x + 1


def _assert_symbol(self: Any, x: Any) -> Any:
    n = x.sum().to(torch.int64).item()
    torch._check(n >= 0)
    torch._check(n <= 999)
    return torch.ones(n).sum()


ARGUMENT_PROGRAMS: dict[str, tuple[Callable[..., Any], Any]] = {
    "as_none": (lambda self, x: torch.ops.aten.clamp(x, None, 3.0), None),
    "as_tensor": (lambda self, x: x.relu(), None),
    "as_tensors": (lambda self, x: torch.cat([x, x]), None),
    "as_int": (lambda self, x: x.cumsum(1), None),
    "as_ints": (lambda self, x: x.permute(1, 0), None),
    "as_float": (lambda self, x: torch.nn.functional.elu(x, 0.5), None),
    "as_floats": (_upsample, None),
    "as_string": (lambda self, x: torch.div(x, 2.0, rounding_mode="floor"), None),
    "as_sym_int": (lambda self, x: x * x.shape[0], ROWS),
    "as_sym_ints": (lambda self, x: x.reshape(x.shape[0] * 4), ROWS),
    "as_scalar_type": (lambda self, x: x.to(torch.float64), None),
    "as_memory_format": (lambda self, x: x.clone(memory_format=torch.contiguous_format), None),
    "as_layout": (lambda self, x: torch.ops.aten.zeros_like(x, layout=torch.strided), None),
    "as_device": (lambda self, x: torch.zeros(2, device="cpu") + x.sum(), None),
    "as_bool": (lambda self, x: x.sum(0, keepdim=True), None),
    "as_bools": (lambda self, x: torch.ops.aten.native_layer_norm_backward(
        x, x, [4], x[:, :1] + 1, x[:, :1] + 2, None, None, [True, False, False])[0], None),
    "as_sym_bool": (_assert_symbol, None),
    "as_graph": (lambda self, x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)), None),
    "as_optional_tensors": (lambda self, x: x[:, torch.tensor([0, 2])], None),
    "as_sym_float": (lambda self, x: x * (x.shape[0] / 2), ROWS),
    "as_complex": (lambda self, x: torch.ops.aten.add.Tensor(x, 1j).real, None),
}  # fmt: skip
"""For each kind of argument that aten's operators have a program that passes one."""


@pytest.mark.parametrize("kind", ARGUMENT_PROGRAMS)
def test_argument(kind: str, tmp_path: Path) -> None:
    """A program as PyTorch saves it, which holds an argument of the kind, gives eager's results at every stage."""
    forward, shapes = ARGUMENT_PROGRAMS[kind]
    exported = export(forward, (counted(4, 4),), (shapes,) if shapes else None)
    path = tmp_path / "m.pt2"
    quietly(torch.export.save, exported, path)
    with zipfile.ZipFile(path) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("models/model.json")]
        model = json.loads(archive.read(name))
    arguments = [item["arg"] for node in model["graph_module"]["graph"]["nodes"] for item in node["inputs"]]
    assert any(kind in argument for argument in arguments)
    for rows in (4, 6) if shapes else (4,):
        agrees(xdsl_exir.load(path), module(forward), (counted(rows, 4),))


def _covered(meaning: str) -> Callable[[str], Row]:
    return lambda kind: Row(meaning, f"test_conformance.py::test_argument[{kind}]")


_OPERAND, _PROPERTY = _covered("operands"), _covered("a property")
ARGUMENT_KINDS: dict[str, Row] = {
    **{kind: _OPERAND(kind) for kind in ("as_tensor", "as_tensors", "as_sym_int", "as_sym_float", "as_sym_bool")},
    "as_sym_ints": _covered("a list of numbers, of which the computed ones are operands")("as_sym_ints"),
    "as_optional_tensors": _covered("a list of operands, some of them left out")("as_optional_tensors"),
    "as_optional_tensor": Row(
        "an operand, or none", "importers/test_pt2.py::test_every_argument"
    ),
    "as_none": _covered("an operand or property left out")("as_none"),
    "as_graph": _covered("a region, which sees nothing of the values around it")("as_graph"),
    **{
        kind: _PROPERTY(kind)
        for kind in (
            *("as_int", "as_ints", "as_float", "as_floats", "as_bool", "as_bools", "as_string", "as_complex"),
            *("as_scalar_type", "as_memory_format", "as_layout", "as_device"),
        )
    },
    "as_operator": Row(
        "the operation itself, where `with_effects` or `auto_functionalized_v2` wraps an operator", "importers/test_effects.py"
    ),
    "as_strings": Row("a property, of users' operators", "importers/test_pt2.py::test_every_argument"),
    "as_sym_floats": Row("operands of users' operators", "importers/test_pt2.py::test_every_argument"),
    "as_sym_bools": Row("operands of users' operators", "importers/test_pt2.py::test_every_argument"),
    "as_custom_obj": Row("refused: see `custom_obj`", refused="an argument of kind CustomObj"),
    "as_string_to_argument": Row("refused, but by `auto_functionalized_v2`", refused="an argument of kind dict"),
    "as_nested_tensors": Row("refused: no operator has one", refused="a list of lists"),
    "as_int_lists": Row("refused: no operator has one", refused="a list of lists"),
    "as_float_lists": Row("refused: no operator has one", refused="a list of lists"),
}  # fmt: skip

# --- higher-order operators ----------------------------------------------------------------------------------

_FLOW = "test_control_flow.py::test_against_eager[{}]"
HIGHER_ORDER = {
    "cond": Row("`higher_order.cond`, a region for each branch", _FLOW.format("captured_weights")),
    "while_loop": Row("`higher_order.while_loop`", _FLOW.format("two_carried")),
    "while_loop_stack_output": Row("`higher_order.while_loop_stack_output`", _FLOW.format("stacked_turns")),
    "map_impl": Row("`higher_order.map_impl`", _FLOW.format("map_of_two")),
    "scan": Row("`higher_order.scan`", _FLOW.format("scan_with_capture")),
    "associative_scan": Row("`higher_order.associative_scan`", "test_control_flow.py::test_associative_scan"),
    "flex_attention": Row(
        "`higher_order.flex_attention`, with regions for its functions of scores; block masks, which are for GPUs, go",
        "transforms/test_flex_attention.py::test_against_eager",
    ),
    "executorch_call_delegate": Row(
        "`backend.delegate`: its graph is the region, what it owns are its last operands",
        "transforms/test_delegates.py::test_archives_have_delegates_whole",
    ),
    "invoke_subgraph": Row("built where it is called", "test_conformance.py::test_invoke_subgraph"),
    **dict.fromkeys(
        ("invoke_quant", "invoke_quant_packed"),
        Row(
            "built where it is called; what it says of quantization is for code generators",
            "test_conformance.py::test_wrapped_as_saved",
        ),
    ),
    **dict.fromkeys(
        ("tag_activation_checkpoint", "wrap_activation_checkpoint"),
        Row(
            "built where it is called; what it says of memory is for training",
            "test_conformance.py::test_wrapped_as_saved",
        ),
    ),
    **dict.fromkeys(
        ("wrap", "foreach_map", "hints_wrapper", "run_const_graph", "strict_mode"),
        Row("built where it is called", "test_conformance.py::test_wrapped_as_saved"),
    ),
    "out_dtype": Row("the operator, with casts before and after", "test_conformance.py::test_out_dtype"),
    "wrap_with_set_grad_enabled": Row("built where it is called", _FLOW.format("wrappers")),
    "wrap_with_autocast": Row(
        "built where it is called, with the casts that PyTorch makes on CPUs (`dialects/spec/autocast.yaml`)",
        "importers/test_autocast.py::test_casts",
    ),
    "with_effects": Row("the operator that it wraps", "importers/test_effects.py"),
    "auto_functionalized_v2": Row(
        "the operator that it wraps, whose last results are what it writes",
        "test_user_operators.py::test_writing_operators_are_functional",
    ),
    "auto_functionalized": Row("the same", "test_user_operators.py::test_writing_operators_are_functional"),
    **{
        name.removeprefix("higher_order."): Row("refused", refused=what)
        for name, what in OF_PYTORCH.items()
        if name.startswith("higher_order.") and not name.endswith(".")
    },
}


def test_invoke_subgraph() -> None:
    """A region that is compiled once and called twice is built where it is called."""
    mark = pytest.importorskip("torch._higher_order_ops.invoke_subgraph").mark_compile_region

    def forward(self: Any, x: Any) -> Any:
        region = mark(lambda x: x.sin() + self.offset)
        return region(region(x))

    exported = export(forward, (counted(3),), offset=torch.nn.Buffer(counted(3)))
    program = xdsl_exir.from_exported_program(exported)
    model = module(lambda self, x: (x.sin() + counted(3)).sin() + counted(3))
    agrees(program, model, (counted(3),))


@pytest.mark.parametrize(
    ("wrapper", "named", "listed"),
    [
        ("invoke_subgraph", ("repeated",), False),
        *((name, (), False) for name in ("wrap", "foreach_map", "invoke_quant", "invoke_quant_packed")),
        *((name, (), False) for name in ("tag_activation_checkpoint", "wrap_activation_checkpoint")),
        *((name, (), True) for name in ("hints_wrapper", "run_const_graph", "strict_mode")),
    ],
)
def test_wrapped_as_saved(wrapper: str, named: tuple[str, ...], listed: bool) -> None:
    """A sub-graph that is called in the graph, where not every exporter leaves it."""
    base = read_exported_program(export(lambda self, x: x.sin(), (counted(3),)))
    [sine] = base.graph.nodes
    argument, result = sine.inputs[0].value, sine.outputs[0]
    assert isinstance(argument, g.Ref)
    assert isinstance(result, g.Ref)
    inner = g.Subgraph("repeated", dc.replace(base.graph))
    given = (inner, *named, (argument,) if listed else argument)
    inputs = (*(g.NodeInput("", value, False) for value in given), g.NodeInput("hint", "nf4", True))
    call = dc.replace(sine, target=f"higher_order.{wrapper}", inputs=inputs, outputs=((result,),))
    graph = dc.replace(base, graph=dc.replace(base.graph, nodes=(call,)))
    agrees(imported(graph), module(lambda self, x: x.sin()), (counted(3),))
    broken = dc.replace(call, inputs=inputs[: len(named) + 1])
    with pytest.raises(ExirError, match="has 1 inputs for 0 operands"):
        imported(dc.replace(base, graph=dc.replace(base.graph, nodes=(broken,))))


def test_checkpoint() -> None:
    """Activation checkpointing: a sub-graph where it chooses what to keep, else nothing at all."""
    utils = pytest.importorskip("torch.utils.checkpoint")
    chosen = partial(utils.create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])

    def forward(self: Any, x: Any) -> Any:
        return utils.checkpoint(lambda x: self.linear(x).relu(), x, use_reentrant=False, context_fn=chosen)

    torch.manual_seed(0)
    model = module(forward, linear=torch.nn.Linear(3, 4).requires_grad_(False))
    exported = quietly(torch.export.export, model, (counted(2, 3),), strict=True)
    assert "tag_activation_checkpoint" in str(exported.graph)
    agrees(xdsl_exir.from_exported_program(exported), model, (counted(2, 3),))


@pytest.mark.parametrize("number", [False, True])
def test_out_dtype(number: bool) -> None:
    """Sums and products of eight-bit integers in 32 bits; with a float number in float32, as PyTorch promotes."""
    out_dtype = pytest.importorskip("torch._higher_order_ops.out_dtype").out_dtype
    x = torch.tensor([[-128, 127], [100, 99]], dtype=torch.int8)
    operator, other = (torch.ops.aten.mul.Tensor, 3.7) if number else (torch.ops.aten.mm.default, x)
    model = module(lambda self, x: out_dtype(operator, torch.int32, x, other if number else x))
    agrees(xdsl_exir.from_exported_program(quietly(torch.export.export, model, (x,))), model, (x,))


# --- symbolic expressions ------------------------------------------------------------------------------------

S, U, F = (
    "Symbol('s0', positive=True, integer=True)",
    "Symbol('u0', integer=True)",
    "Symbol('zf0', real=True)",
)
VALUES = {"s0": 7, "u0": 3, "zf0": 0.75}

_HALF = "Float('0.5', precision=53)"
_ARITHMETIC = {
    "Abs": (f"Abs(Mul(Integer(-1), {S}))", 7),
    "Add": (f"Add({S}, {U}, Integer(1))", 11),
    "Mul": (f"Mul({S}, {U})", 21),
    "Pow": (f"Pow({S}, Integer(2))", 49),
    "PowByNatural": (f"PowByNatural({S}, {U})", 343),
    "FloatPow": (f"FloatPow(ToFloat({S}), {_HALF})", 7**0.5),
    "Max": (f"Max({S}, {U})", 7),
    "Min": (f"Min({S}, {U})", 3),
    "FloorDiv": (f"FloorDiv({S}, {U})", 2),
    "CeilDiv": (f"CeilDiv({S}, {U})", 3),
    "CleanDiv": (f"CleanDiv({S}, Integer(7))", 1),
    "Mod": (f"Mod({S}, {U})", 1),
    "PythonMod": (f"PythonMod(Mul(Integer(-1), {S}), {U})", 2),
    "ModularIndexing": (f"ModularIndexing({S}, Integer(2), Integer(2))", 1),
    "LShift": (f"LShift({S}, {U})", 56),
    "RShift": (f"RShift({S}, Integer(1))", 3),
    "IntTrueDiv": (f"IntTrueDiv({S}, {U})", 7 / 3),
    "FloatTrueDiv": (f"FloatTrueDiv({F}, {_HALF})", 1.5),
    "BitwiseFn_bitwise_and": (f"BitwiseFn_bitwise_and({S}, {U})", 3),
    "BitwiseFn_bitwise_or": (f"BitwiseFn_bitwise_or({S}, Integer(8))", 15),
    "BitwiseFn_bitwise_xor": (f"BitwiseFn_bitwise_xor({S}, {U})", 4),
    "Identity": (f"Identity({S})", 7),
}
_CONVERSIONS = {
    "ToFloat": (f"ToFloat({S})", 7.0),
    "TruncToFloat": (f"TruncToFloat(Mul(Float('10.0', precision=53), {F}))", 7.0),
    "TruncToInt": (f"TruncToInt(Mul(Float('-10.0', precision=53), {F}))", -7),
    "FloorToInt": (f"FloorToInt(Mul(Float('-10.0', precision=53), {F}))", -8),
    "CeilToInt": (f"CeilToInt(Mul(Float('10.0', precision=53), {F}))", 8),
    "RoundToInt": (f"RoundToInt(Mul(Float('10.0', precision=53), {F}))", 8),
    "RoundDecimal": (f"RoundDecimal({F}, Integer(1))", 0.8),
    "floor": (f"floor(Mul(Float('10.0', precision=53), {F}))", 7),
    "ceiling": (f"ceiling(Mul(Float('10.0', precision=53), {F}))", 8),
}
_CONDITIONS = {
    "And": (f"And(StrictGreaterThan({S}, {U}), LessThan({U}, Integer(2)))", False),
    "Or": (f"Or(StrictGreaterThan({S}, {U}), LessThan({U}, Integer(2)))", True),
    "Not": (f"Not(Equality({S}, {U}))", True),
    **{
        head: (f"{head}({S}, {U})", False)
        for head in ("Equality", "Eq", "LessThan", "Le", "StrictLessThan", "Lt")
    },
    **{
        head: (f"{head}({S}, {U})", True)
        for head in ("Unequality", "Ne", "GreaterThan", "Ge", "StrictGreaterThan", "Gt")
    },
    "ITE": (f"ITE(Equality({S}, {U}), true, Equality({U}, Integer(3)))", True),
    "Where": (f"Where(Equality({S}, {U}), {S}, {U})", 3),
    "Piecewise": (f"Piecewise(ExprCondPair({U}, Equality({S}, {U})), ExprCondPair({S}, true))", 7),
}
_FUNCTIONS = {
    head: (f"{head}({F})", getattr(np, {"acos": "arccos", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan"}.get(name, name))(0.75))
    for head in sorted(pytorch.PYTHON_FUNCTIONS)
    if (name := head.removeprefix("OpaqueUnaryFn_")) in values.REAL_FUNCTIONS
}  # fmt: skip
_LEAVES = {
    "Integer": ("Integer(-3)", -3),
    "Float": ("Float('2.5', precision=53)", 2.5),
    "Rational": (f"Mul(Rational(1, 7), {S})", 1),
    "Symbol": (S, 7),
}
HEADS: dict[str, tuple[str, float]] = {**_LEAVES, **_ARITHMETIC, **_CONVERSIONS, **_CONDITIONS, **_FUNCTIONS}
"""An expression under each head, and its value."""

EXPRESSION_HEADS = {
    **{head: Row(f"`{Expr.from_srepr(text)}`", f"test_conformance.py::test_head[{head}]") for head, (text, _) in HEADS.items()},
    "IsNonOverlappingAndDenseIndicator": Row(
        "refused: strides are not part of the IR", refused="unknown head 'IsNonOverlappingAndDenseIndicator'"
    ),
}  # fmt: skip


@pytest.mark.parametrize("head", HEADS)
def test_head(head: str) -> None:
    """An expression is read, has Python's value and type, and survives both texts."""
    text, wanted = HEADS[head]
    read = Expr.from_srepr(text)
    for same in (read, Expr.parse(str(read)), Expr.from_srepr(to_srepr(read))):
        got = same.evaluate(VALUES) if isinstance(same, Expr) else same
        assert got == pytest.approx(wanted, rel=1e-15)
        assert isinstance(got, bool) == isinstance(wanted, bool)


# --- refusals ------------------------------------------------------------------------------------------------


def with_node(target: str, *arguments: g.Value, **named: g.Value) -> g.ExportedGraph:
    """A program of one node, on a tensor."""
    base = read_exported_program(export(lambda self, x: x.sin(), (counted(3),)))
    [sine] = base.graph.nodes
    inputs = [g.NodeInput("", value, False) for value in arguments]
    inputs += [g.NodeInput(name, value, True) for name, value in named.items()]
    call = dc.replace(sine, target=target, inputs=tuple(inputs))
    return dc.replace(base, graph=dc.replace(base.graph, nodes=(call,)))


def with_custom_input() -> g.ExportedGraph:
    base = read_exported_program(export(lambda self, x: x.sin(), (counted(3),)))
    graph = dc.replace(
        base.graph,
        inputs=(g.CustomObj("obj", "__torch__.Queue"), *base.graph.inputs),
        values={**base.graph.values, "obj": g.CustomObjMeta("__torch__.Queue")},
    )
    return dc.replace(base, graph=graph, inputs=(g.InputSpec("custom_obj", "obj", "queue"), *base.inputs))


X = g.Ref("x")
REFUSALS: Mapping[tuple[str, str], Callable[[], Any]] = {
    ("input", "custom_obj"): lambda: imported(with_custom_input()),
    ("argument", "as_custom_obj"): lambda: imported(with_node("aten.sin", self=g.CustomObj("o", "C"))),
    ("argument", "as_string_to_argument"): lambda: imported(with_node("aten.sin", self={"a": X})),
    ("argument", "as_nested_tensors"): lambda: imported(with_node("aten.cat", tensors=((X,), (X,)))),
    ("argument", "as_int_lists"): lambda: imported(with_node("aten.sum.dim_IntList", self=X, dim=((0,),))),
    ("argument", "as_float_lists"): lambda: imported(
        with_node("aten.upsample_nearest2d.vec", input=X, output_size=None, scale_factors=((2.0,),))
    ),
    **{
        ("higher-order operator", name): lambda name=name: imported(with_node(f"higher_order.{name}", X))
        for name, row in HIGHER_ORDER.items()
        if f"higher_order.{name}" in OF_PYTORCH
    },
    ("expression", "IsNonOverlappingAndDenseIndicator"): lambda: Expr.from_srepr(
        f"IsNonOverlappingAndDenseIndicator({S})"
    ),
}

TABLES: dict[str, dict[str, Row]] = {
    "input": INPUT_KINDS,
    "output": OUTPUT_KINDS,
    "argument": ARGUMENT_KINDS,
    "higher-order operator": HIGHER_ORDER,
    "expression": EXPRESSION_HEADS,
}


@pytest.mark.parametrize(("table", "name"), REFUSALS)
def test_refused(table: str, name: str) -> None:
    with pytest.raises(ExirError, match=re.escape(TABLES[table][name].refused)):
        REFUSALS[table, name]()


def test_all_refusals_are_provoked() -> None:
    refused = {(table, name) for table, rows in TABLES.items() for name, row in rows.items() if row.refused}
    assert refused == set(REFUSALS)


# --- that nothing is missing ---------------------------------------------------------------------------------


def test_kinds_are_pytorchs() -> None:
    schema = pytest.importorskip("torch._export.serde.schema")
    assert set(INPUT_KINDS) == set(schema.InputSpec.__annotations__)
    assert set(OUTPUT_KINDS) == set(schema.OutputSpec.__annotations__)
    assert set(ARGUMENT_KINDS) == set(schema.Argument.__annotations__) == set(ARGUMENTS)


def test_higher_order_operators_are_pytorchs() -> None:
    pytest.importorskip("torch._higher_order_ops")
    known = set(pytest.importorskip("torch._ops")._higher_order_ops)
    assert known <= set(HIGHER_ORDER)
    assert not set(OF_PYTORCH) & set(BUILT)
    assert {name for name in BUILT if name.startswith("higher_order.")} <= {
        f"higher_order.{n}" for n in HIGHER_ORDER
    }


def test_expressions_are_pytorchs() -> None:
    functions = pytest.importorskip("torch.utils._sympy.functions")
    assert set(functions.__all__) <= set(EXPRESSION_HEADS)
    assert set(pytorch.PYTHON_FUNCTIONS) | set(pytorch.PYTHON_LEAVES) == set(HEADS)


@pytest.mark.parametrize(
    "test", sorted({row.test for rows in TABLES.values() for row in rows.values() if row.test})
)
def test_tests_exist(test: str) -> None:
    file, _, name = test.partition("::")
    text = (TESTS / file).read_text()
    function, _, case = name.partition("[")
    defined = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    assert not function or function in defined
    if file == Path(__file__).name:  # whose cases are made of the tables' own keys
        assert not case or case.rstrip("]") in {**ARGUMENT_PROGRAMS, **HEADS}
    else:
        assert not case or re.search(rf"\b{re.escape(case.rstrip(']'))}\b", text)


# --- the document --------------------------------------------------------------------------------------------

HEADER = """# Conformance to Export IR

Every kind of input, output and argument, every higher-order operator and every head of a symbolic expression that programs
of PyTorch 2.13 have, what it is in the IR, and the test that covers it; of what is refused, the error's text. This file is
made by `python test/test_conformance.py`; `test/test_conformance.py` checks that the tests exist, that the errors are raised,
and that nothing of PyTorch's is missing.
"""


def document() -> str:
    parts = [HEADER]
    for title, rows in TABLES.items():
        parts.append(
            f"\n## {title.capitalize()}s\n\n| {title} | in the IR | test, or error |\n|---|---|---|\n"
        )
        for name, row in rows.items():
            shown = f"error: `{row.refused}`" if row.refused else f"`{row.test}`"
            parts.append(f"| `{name}` | {row.meaning.replace('|', chr(92) + '|')} | {shown} |\n")
    return "".join(parts)


def test_document_is_up_to_date() -> None:
    assert DOCUMENT.read_text() == document()


if __name__ == "__main__":
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(document())
