"""What is printed is read back as it was: every operator, attribute and type, in custom and in generic form, by MLIR too."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from samples import build, call, calls, f, function_of, sample_module, with_all_arguments
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp as AnyOp  # pytest takes Test* for tests
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from xdsl_exir.dialects import aten, exir
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.exir import ConstantOp, NumberOp, RefineOp, symbolic_type
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.signature import (
    ORIGIN,
    InputAttr,
    InputKind,
    InputSpec,
    Origin,
    OriginAttr,
    OutputAttr,
    OutputKind,
    OutputSpec,
    RangeAttr,
)
from xdsl_exir.dialects.spec import OperatorSpec, specs
from xdsl_exir.dialects.sym_ops import SYM_OPS
from xdsl_exir.dialects.tensors import SymBoolType, SymFloatType, SymIntType, TensorMeta, tensor_type
from xdsl_exir.program import context
from xdsl_exir.universe import XDSL_EXIR_UNIVERSE

STAGES = ("aten", "edge")
MLIR_OPT = "mlir-opt-22"
needs_mlir_opt = pytest.mark.skipif(
    shutil.which(MLIR_OPT) is None, reason=f"{MLIR_OPT} (Debian package mlir-22-tools) is not installed"
)


def text(op: Operation, generic: bool = False, locations: bool = False) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=generic, print_debuginfo=locations).print_op(op)
    return stream.getvalue()


def parse(source: str) -> ModuleOp:
    return Parser(context().clone(), source).parse_module()


def same(a: Operation, b: Operation) -> bool:
    """Structural equality, but for what xDSL's attributes cannot: NaN equals NaN, a string its UTF-8 bytes."""
    if a.is_structurally_equivalent(b):
        return True
    printed = text(a, generic=True)
    return printed == text(b, generic=True) and ("nan" in printed or not ascii_escapes(printed))


def ascii_escapes(printed: str) -> bool:
    return all(int(code, 16) < 0x80 for code in re.findall(r"\\([0-9A-F]{2})", printed))


def check(op: Operation) -> None:
    """Asserts that a module comes back from both of its forms."""
    for generic in (False, True):
        printed = text(op, generic)
        back = parse(printed)
        assert same(op, back), printed
        assert text(back, generic) == printed


def module_of(*ops: Operation) -> ModuleOp:
    """A module of one function that holds these operations."""
    return ModuleOp([FuncOp("f", ([], []), Region(Block([*ops, ReturnOp()])))])


# --- operators -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
def test_samples(stage: str) -> None:
    """Every sample of every operator, types inferred, in one module."""
    module = sample_module(stage)
    module.verify()
    check(module)
    parse(text(module)).verify()


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("spec", specs().values(), ids=lambda spec: spec.qualified_name)
def test_operator(spec: OperatorSpec, stage: str) -> None:
    """Every operator by itself, in the shortest form, and with all that its schema has."""
    sample = calls(spec)[0]
    if stage == "aten" or not sample.mixed:
        check(ModuleOp([function_of(build(spec.qualified_name, sample, stage))]))
    check(ModuleOp([function_of(with_all_arguments(spec, stage))]))


@pytest.fixture(scope="module")
def through_mlir_opt() -> ModuleOp:
    """All samples of both stages and all of exir, printed in generic form, read and printed by MLIR."""
    return _through_mlir_opt(everything())


def region_modules() -> list[ModuleOp]:
    """Operations with regions, as the FileCheck files write them."""
    folder = Path(__file__).parents[1] / "filecheck"
    return [
        parse((folder / f"{name}.mlir").read_text())
        for name in ("control_flow", "delegate", "flex_attention")
    ]


def everything() -> ModuleOp:
    modules = [*map(sample_module, STAGES), exir_module(), *region_modules()]
    functions = [op for module in modules for op in module.ops]
    for index, op in enumerate(functions):
        op.detach()
        assert isinstance(op, FuncOp)
        op.properties["sym_name"] = StringAttr(f"f{index}")
    return ModuleOp(functions)


def _through_mlir_opt(module: ModuleOp) -> ModuleOp:
    arguments = [
        MLIR_OPT,
        "--allow-unregistered-dialect",
        "--mlir-print-op-generic",
        "--mlir-print-local-scope",
    ]
    run = subprocess.run(arguments, input=text(module, generic=True), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return nameless(parse(run.stdout))


def nameless(module: ModuleOp) -> ModuleOp:
    """A module without names of values, which MLIR does not keep."""
    for op in module.walk():
        for value in (
            *op.results,
            *(arg for region in op.regions for block in region.blocks for arg in block.args),
        ):
            value.name_hint = None
    return module


@pytest.mark.parametrize("index", range(3))
def test_regions(index: int) -> None:
    check(region_modules()[index])


def test_every_operation_is_there() -> None:
    """Of all dialects that the plugin has but torchscript, whose tests enumerate it."""
    seen = {op.name for op in everything().walk()}
    for name, dialect in XDSL_EXIR_UNIVERSE.all_dialects.items():
        if name != "torchscript":
            assert {op.name for op in dialect().operations} <= seen, name


@needs_mlir_opt
def test_mlir_reads_the_generic_form(through_mlir_opt: ModuleOp) -> None:
    before = everything()
    assert len(list(before.walk())) > 1000
    for sent, returned in zip(list(before.ops), list(through_mlir_opt.ops), strict=True):
        sent.detach(), returned.detach()  # compared one by one, so that a failure shows one
        assert same(sent, returned), f"{text(sent)}\n{text(returned)}"


# --- arguments' values ---------------------------------------------------------------------------------------

NUMBERS = [
    0,
    -1,
    2**31,
    -(2**63) + 1,
    2**63 - 1,
    True,
    False,
    0.0,
    -0.0,
    1.0,
    0.1,
    1e-300,
    -1e300,
    5e-324,
    1.7976931348623157e308,
    1e22,
    123456789.123456789,
    math.pi,
    math.inf,
    -math.inf,
    math.nan,
    1j,
    complex(-0.0, -1.5),
    complex(math.inf, math.nan),
]


def exact(value: object) -> str:
    """Text that tells apart 1, 1.0 and True, 0.0 and -0.0, and that NaN equals."""
    return f"{type(value).__name__} {value!r}"


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_numbers(value: complex) -> None:
    """A number keeps its value and its Python type as scalar argument, `exir.number` and literal."""
    fill = build("aten.full", call([2], value, dtype=dt.ComplexFloat))
    module = ModuleOp([function_of(fill)])
    check(module)
    numbers = [NumberOp(value)]
    symbolic = symbolic_type(value) if value == value else None
    if symbolic is not None:
        numbers.append(NumberOp(value, symbolic=True))
    dtype = dt.ComplexDouble if isinstance(value, complex) else dt.Double
    literals = [
        ConstantOp(value, tensor_type((2, 2), dtype)),
        ConstantOp([value] * 3, tensor_type((3,), dtype)),
    ]
    check(module_of(*numbers, *literals))
    for generic in (False, True):
        back = parse(text(module, generic))
        [held] = [op for op in back.walk() if op.name == "aten.full"]
        assert exact(held.arguments()["fill_value"]) == exact(value)  # pyright: ignore
        back = parse(text(module_of(*[op.clone() for op in (*numbers, *literals)]), generic))
        assert [exact(op.number) for op in back.walk() if isinstance(op, NumberOp)] == [exact(value)] * len(
            numbers
        )
        for op in back.walk():
            if isinstance(op, ConstantOp):
                assert {exact(item) for item in op.values} == {exact(value)}


def test_numbers_text_is_mlirs() -> None:
    """Floats look like floats, so that MLIR's lexer and Python's reading agree."""
    printed = text(
        module_of(*[NumberOp(value) for value in (1.0, 1e22, 1e-7, math.inf, -math.inf, True, 1j)])
    )
    for line in ("1.0 : f64", "1.0e+22 : f64", "1.0e-07 : f64", "inf : f64", "-inf : f64", "true : i1"):
        assert f"exir.number {line}" in printed
    assert "exir.number (0.0, 1.0) : complex<f64>" in printed


STRINGS = [
    "",
    "plain",
    'say "hi"',
    "back\\slash",
    "new\nline\ttab",
    "ünïcödé ∑ 漢",
    "a, b = [c] : >",
    "\x00\x01",
]


@pytest.mark.parametrize("value", STRINGS, ids=repr)
def test_strings(value: str) -> None:
    """Strings of arguments, signature targets and origins are any text."""
    op = build("aten._assert_async.msg", call(tensor_meta_bool(), value))
    op.attributes["origin"] = OriginAttr(Origin(value, "aten.x", value))
    op.attributes["input"] = InputAttr(InputSpec(InputKind.BUFFER, value, persistent=False))
    op.attributes["output"] = OutputAttr(OutputSpec(OutputKind.BUFFER_MUTATION, value))
    module = ModuleOp([function_of(op)])
    check(module)
    [back] = [inner for inner in parse(text(module)).walk() if inner.name == op.name]
    assert back.arguments()["assert_msg"] == value  # pyright: ignore


def tensor_meta_bool() -> TensorMeta:
    return TensorMeta((), dt.Bool)


# --- exir ----------------------------------------------------------------------------------------------------

EXPRESSIONS = [
    "s0",
    "2 * s0 + 1",
    "-s0",
    "(s53 - 1) floordiv 2 + 1",
    "s0 mod 4",
    "max(s0, 2 * s1)",
    "min(s0, 4)",
    "u0 + s0 * s1",
    "s0 * s0 * s0",
    "12",
]
SYMBOLIC_TYPES: list[Attribute] = [
    *(SymIntType(Expr.parse(expr)) for expr in EXPRESSIONS),
    SymFloatType(Expr.parse("to_float(s0)")),
    SymFloatType(Expr.parse("truediv(s0, 2)")),
    SymBoolType(Expr.parse("gt(s0, 4)")),
    SymBoolType(Expr.parse("and(eq(s0, 4), not(lt(s1, 2)))")),
]
TENSOR_TYPES: list[Attribute] = [
    *(tensor_type((2, 3), dtype) for dtype in dt.DTYPES),
    tensor_type((), dt.Float),
    tensor_type((0, 3), dt.Float),
    tensor_type((1, 3, 8, 8), dt.Float, (0, 2, 3, 1)),
    tensor_type((2,), dt.Float, None, "cuda:0"),
    tensor_type((Expr.parse("s0"), 3, 8, 8), dt.Half, (0, 2, 3, 1), "meta"),
    *(tensor_type((Expr.parse(expr), 8), dt.Long) for expr in EXPRESSIONS),
]
ATTRIBUTES: list[Attribute] = [
    *(InputAttr(InputSpec(kind, target)) for kind in InputKind for target in ("", "a.b")),
    InputAttr(InputSpec(InputKind.BUFFER, "", persistent=False)),
    *(OutputAttr(OutputSpec(kind, target)) for kind in OutputKind for target in ("", "a.b")),
    OriginAttr(Origin("linear_3", "aten.linear", "layers.0.ff")),
    OriginAttr(Origin("", "", "")),
    *(
        RangeAttr(bounds)
        for bounds in ((2, 1024), (0, None), (None, None), (None, -3), (-5, 0), (0, 2**63 - 2))
    ),
]


def exir_module() -> ModuleOp:
    """Every exir operation, and an operation that carries every type and attribute."""
    values = AnyOp(result_types=[*TENSOR_TYPES, *SYMBOLIC_TYPES])
    values.attributes["all"] = ArrayAttr(ATTRIBUTES)
    values.attributes["named"] = DictionaryAttr({"s0": RangeAttr((2, None))})
    s0, s1 = (
        AnyOp(result_types=[SymIntType(Expr.parse("s0"))]),
        AnyOp(result_types=[SymIntType(Expr.parse("s1"))]),
    )
    yes = AnyOp(result_types=[SymBoolType(Expr.parse("gt(s0, 4)"))])
    real = AnyOp(result_types=[SymFloatType(Expr.parse("truediv(s0, 3)"))])
    operands = {"exir.sym_and": [yes, yes], "exir.sym_or": [yes, yes], "exir.sym_not": [yes]}
    operands |= {f"exir.sym_{name}": [real] for name in ("int", "ceil", "floor", "round")}
    operands["exir.sym_ite"] = [yes, s0, s1]
    arithmetic: list[Operation] = []
    for cls in dict.fromkeys(SYM_OPS.values()):
        ops = operands.get(cls.name, [s0, s1][: cls.ARITY or 2])
        arithmetic.append(cls([op.results[0] for op in ops]))
    one = AnyOp(result_types=[tensor_type((Expr.parse("s0"),), dt.Float)])
    rest = [
        NumberOp(2.0),
        NumberOp(3, symbolic=True),
        ConstantOp([1, 2, 3], tensor_type((3,), dt.Long)),
        ConstantOp([], tensor_type((0,), dt.Long)),
        ConstantOp([True, False], tensor_type((2,), dt.Bool)),
        RefineOp(one, tensor_type((Expr.parse("u0"),), dt.Float)),
        RefineOp(s0, SymIntType(Expr.parse("u1"))),
    ]
    return module_of(values, s0, s1, yes, real, *arithmetic, one, *rest)


def test_exir() -> None:
    module = exir_module()
    module.verify()
    check(module)
    held = {op.name for op in module.walk()}
    assert {op.name for op in exir.dialect().operations} <= held


@pytest.mark.parametrize("attribute", [*ATTRIBUTES, *TENSOR_TYPES, *SYMBOLIC_TYPES], ids=str)
def test_attributes(attribute: Attribute) -> None:
    assert Parser(context().clone(), str(attribute)).parse_attribute() == attribute


def test_the_all_true_operators() -> None:
    """Attributes on an operation come along in both forms."""
    op = build("aten.relu", call(f(2)))
    op.attributes[ORIGIN] = OriginAttr(Origin("relu", "aten.relu", "net.0"))
    module = ModuleOp([function_of(op)])
    assert '{exir.origin = #exir.origin<"relu", "aten.relu", "net.0">}' in text(module)
    check(module)


@pytest.mark.parametrize("generic", [False, True])
def test_locations(generic: bool) -> None:
    op = build("aten.relu", call(f(2)))
    op.location = FileLineColLoc(StringAttr('my "model".py'), IntAttr(12), IntAttr(3))
    module = ModuleOp([function_of(op)])
    printed = text(module, generic, locations=True)
    [back] = [inner for inner in parse(printed).walk() if inner.name == "aten.relu"]
    assert back.location == op.location
    assert text(parse(printed), generic, locations=True) == printed


# --- what does not parse -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("aten.add.Tensor(%x) : (tensor<2xf32>) -> tensor<2xf32>", "argument 'other' is missing"),
        ("aten.relu(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>", "too many arguments"),
        ("aten.relu(%x, alpha = 1) : (tensor<2xf32>) -> tensor<2xf32>", "no further argument 'alpha'"),
        ("aten.relu(%x, self = %x) : (tensor<2xf32>) -> tensor<2xf32>", "no further argument 'self'"),
        ("aten.relu(2) : () -> tensor<2xf32>", "a tensor argument is 2"),
        ("aten.cumsum(%x, dim = ) : (tensor<2xf32>) -> tensor<2xf32>", "argument expected"),
        ("aten.relu(%x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>", "expected 2 operand"),
        ("aten.relu(%y) : (tensor<2xf32>) -> tensor<2xf32>", "y"),
        ("aten.nonesuch(%x) : (tensor<2xf32>) -> tensor<2xf32>", "nonesuch"),
        ("exir.number zwei : f64", "number expected"),
    ],
)
def test_refused(source: str, message: str) -> None:
    module = f"func.func @f(%x: tensor<2xf32>) {{ %0 = {source}\n func.return }}"
    with pytest.raises(ParseError, match=message):
        parse(module).verify()


@pytest.mark.parametrize(
    "source",
    [
        "#exir.shape<>",
        "#exir.shape<[s0 +]>",
        "#exir.shape<dim_order = [0, 0]>",
        "!exir.symint<>",
        "!exir.symint<s0 s1>",
        "#exir.input<weights>",
        "#exir.input<buffer, b>",
        "#exir.output<user_input>",
        '#exir.origin<"a", "b">',
        "#exir.range<1>",
        "#exir.range<a, b>",
    ],
)
def test_refused_attributes(source: str) -> None:
    with pytest.raises((ParseError, VerifyException)):
        Parser(context().clone(), source).parse_attribute()


def test_unknown_operators_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no operation NoneSuchOp in dialect aten"):
        _ = aten.NoneSuchOp  # pyright: ignore
