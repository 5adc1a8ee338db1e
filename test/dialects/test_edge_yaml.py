"""Files of dtypes in ExecuTorch's form: what they say, what of it is wrong, and programs held to them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from xdsl.parser import Parser

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import edge
from xdsl_exir.dialects.spec import find
from xdsl_exir.dialects.spec.edge_yaml import edge_yaml_at, read_edge_yaml
from xdsl_exir.errors import SpecError, VerificationError
from xdsl_exir.program import Program, context
from xdsl_exir.transforms.verify import VerifyEdge

SIGMOID = """
- func: sigmoid
  namespace: edge
  inherits: aten::sigmoid
  type_alias:
    T0: [Bool, Long]
    T1: [Double, Float]
    T2: [Float]
  type_constraint:
  - self: T0
    __ret_0: T2
  - self: T1
    __ret_0: T1
"""

MAX = """
- func: aten::max.dim
  namespace: edge
  inherits: aten::max.dim
  type_alias: {T0: [Half, Float], T1: [Long]}
  type_constraint:
  - {self: T0, values: T0, indices: T1}
"""


def test_what_it_allows() -> None:
    op = read_edge_yaml(SIGMOID)["aten.sigmoid"]
    assert op.returns[0].allowed_types == {dt.Float, dt.Double}
    assert [(argument.name, argument.allowed_types) for argument in op.arguments] == [
        ("self", {dt.Bool, dt.Long, dt.Double, dt.Float})
    ]
    assert op.mistakes == ()


def test_results_by_name() -> None:
    op = read_edge_yaml(MAX)["aten.max.dim"]
    assert [(ret.name, ret.allowed_types) for ret in op.returns] == [
        ("values", {dt.Half, dt.Float}),
        ("indices", {dt.Long}),
    ]
    assert op.mistakes == ()


def test_operators_answer_likewise() -> None:
    spec = find("aten.max.dim")
    assert spec.returns[1].allowed_types == {dt.Long}
    assert edge.SigmoidOp.SPEC.returns[0].allowed_types == {dt.Half, dt.BFloat16, dt.Float, dt.Double} | {
        dt.ComplexFloat,
        dt.ComplexDouble,
    }
    assert spec.arguments[1].allowed_types == frozenset()  # dim has no dtype


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "- {func: add.Tensor, inherits: 'aten::add.Tensor', type_alias: {T: [Half, BFloat16], U: [BFloat16]},"
            " type_constraint: [{self: T, other: U, __ret_0: T}]}",
            "(self: Half, other: BFloat16) -> Half; PyTorch gives Float",
        ),
        (
            "- {func: 'aten::neg', type_alias: {T: [Bool]}, type_constraint: [{self: T, __ret_0: T}]}",
            "(self: Bool) -> Bool; PyTorch refuses them",
        ),
        (
            "- {func: 'aten::neg', type_alias: {T: [Float]}, type_constraint: [{input: T, __ret_0: T}]}",
            "the operator has no input",
        ),
    ],
)
def test_mistakes_are_a_table(text: str, reason: str) -> None:
    [mistake] = read_edge_yaml(text, "x.yaml").mistakes
    assert str(mistake).startswith("x.yaml:1: aten.")
    assert mistake.reason == reason


def test_a_flag_decides() -> None:
    """`div` gives integers if it rounds, of which such files say nothing."""
    row = "- {func: 'aten::div.Tensor_mode', type_alias: {T: [Int], F: [Float]}, type_constraint: [{self: T, other: T, __ret_0: %s}]}"
    assert read_edge_yaml(row % "T").mistakes == ()
    assert read_edge_yaml(row % "F").mistakes == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "- {func: 'aten::nonesuch', type_alias: {}, type_constraint: [{}]}",
            "unknown operator 'aten.nonesuch'",
        ),
        ("- {func: 'aten::neg', rule: same}", "unknown key 'rule'"),
        ("- {func: 'aten::neg', type_alias: {}}", "an entry needs 'type_constraint'"),
        ("- {func: 'aten::neg', namespace: core, type_alias: {}, type_constraint: []}", "expected edge"),
        (
            "- {func: 'aten::neg', type_alias: {T: Flaot}, type_constraint: [{self: T}]}",
            "'Flaot' is not a dtype",
        ),
        (
            "- {func: 'aten::neg', type_alias: {T: Float}, type_constraint: [{self: U, __ret_0: T}]}",
            "not a type alias",
        ),
        (SIGMOID + SIGMOID, "aten.sigmoid is there twice, before at x.yaml:2"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=r"x\.yaml:") as error:
        read_edge_yaml(text, "x.yaml")
    assert message in str(error.value)


def program(dtype: str) -> Program:
    text = f"""func.func @forward(%x: tensor<2x{dtype}>) -> tensor<2x{dtype}> {{
          %0 = edge.aten.sigmoid(%x) : (tensor<2x{dtype}>) -> tensor<2x{dtype}> loc("m.py":3:0)
          func.return %0 : tensor<2x{dtype}>
        }}"""
    return Program(Parser(context().clone(), text).parse_module())


def test_programs_are_held_to_it(tmp_path: Path) -> None:
    path = tmp_path / "edge.yaml"
    path.write_text(SIGMOID)
    program("f32").transform(f'verify-edge{{dtypes="{path}"}}')
    with pytest.raises(
        VerificationError, match=r"m\.py:3: edge\.aten\.sigmoid: .*edge\.yaml:2 lists no \(Half\)"
    ):
        program("f16").transform(VerifyEdge(dtypes=str(path)))
    with pytest.raises(SpecError, match=r"verify-edge: .*nowhere\.yaml: No such file"):
        program("f32").transform(VerifyEdge(dtypes=str(tmp_path / "nowhere.yaml")))


@pytest.mark.skipif(find_spec("executorch") is None, reason="ExecuTorch is not installed")
def test_executorch_s_own() -> None:
    root = find_spec("executorch")
    assert root is not None
    assert root.submodule_search_locations is not None
    path = Path(root.submodule_search_locations[0]) / "exir" / "dialects" / "edge" / "edge.yaml"
    table = edge_yaml_at(path, "test")
    assert table["aten.sigmoid"].returns[0].allowed_types
    # Half and BFloat16 are one variable there, though they promote to Float.
    assert "aten.add.Tensor" in {mistake.operator for mistake in table.mistakes}
