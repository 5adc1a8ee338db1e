"""Users' libraries of operators: the example runs, each of the three ways leads to one, and what is wrong is told."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import edge
from xdsl_exir.dialects.meta import SHAPES, shape_rule
from xdsl_exir.dialects.spec import find, specs
from xdsl_exir.dialects.tensors import NumberMeta, TensorMeta
from xdsl_exir.errors import ExirError, LoadError, SpecError, UnsupportedError
from xdsl_exir.importers.nodes import dialect_of
from xdsl_exir.interpreter.operators import impl
from xdsl_exir.libraries import found
from xdsl_exir.program import Program, context
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS, decomposition
from xdsl_exir.universe import XDSL_EXIR_UNIVERSE

# What torch.export warns of is its own use of its own functions.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:torch",
    "ignore:`isinstance\\(treespec, LeafSpec\\)` is deprecated:FutureWarning",
)

EXAMPLE = Path(__file__).parents[1] / "examples" / "mylib"
XDSL_OPT = Path(sys.executable).with_name("xdsl-opt")
WAYS = ("register_ops", "entry point", "XDSL_EXIR_OPS")

TEXT = """\
func.func @f(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>) {
  %rows, %norms = mylib.row_norms(%x) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
  %0 = mylib.soft_relu(%rows, beta = 2.0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %0, %norms : tensor<2x4xf32>, tensor<2xf32>
}
"""
X = np.random.default_rng(0).standard_normal((2, 4), np.float32)


def run(*command: str | Path, fails: bool = False, input: str | None = None, **environment: str) -> str:
    """What a command prints; of one that fails what it says."""
    env = {**os.environ, **environment}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=env, input=input)
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


def python(code: str, *arguments: str | Path, **environment: str) -> str:
    return run(sys.executable, "-c", code, *arguments, **environment)


def program_of(text: str) -> Program:
    return Program(Parser(context().clone(), text).parse_module()).verify()


# --- the example ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, native_tools: None) -> Path:
    """The example's model, saved, after the example's own checks, which run native code too."""
    pytest.importorskip("torch")
    path = tmp_path_factory.mktemp("example") / "model.pt2"
    shown = run(sys.executable, EXAMPLE / "model.py", path)
    assert "%getitem, %getitem_1 = mylib.row_norms(%linear, %p_weight)" in shown
    assert "edge.mylib.soft_relu(%getitem_1, beta = 2.0)" in shown
    assert "interpreter and native code agree with PyTorch, at every stage" in shown
    return path


def test_example_in_python_without_torch(model: Path) -> None:
    code = """if True:
        import sys
        sys.modules["torch"] = None
        import numpy as np, xdsl_exir
        from xdsl_exir.dialects.tensors import tensor_type
        program = xdsl_exir.load(sys.argv[1])
        x = np.random.default_rng(0).standard_normal((5, 8), np.float32)
        first = None
        for stage in (program, program.to_core(), program.to_edge(), program.to_edge(keep=("mylib.row_norms",))):
            print([op.name for op in stage.method().body.block.ops if "mylib" in op.name])
            results = xdsl_exir.compile(stage)(x)
            first = first or results
            for one, other in zip(results, first, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-6)
    """
    shown = python(code, model, XDSL_EXIR_OPS=str(EXAMPLE / "mylib.yaml")).splitlines()
    imported = "['mylib.row_norms', 'mylib.soft_relu', 'mylib.soft_relu']"
    kept = "['edge.mylib.row_norms', 'edge.mylib.soft_relu', 'edge.mylib.soft_relu']"
    assert shown == [
        imported,
        "['mylib.soft_relu', 'mylib.soft_relu']",
        "['edge.mylib.soft_relu', 'edge.mylib.soft_relu']",
        kept,
    ]


def test_example_in_stock_xdsl_opt(model: Path) -> None:
    environment = {"XDSL_EXIR_OPS": str(EXAMPLE / "mylib.yaml")}
    tool = Path(sys.executable).with_name("xdsl-exir")
    for stage in ("imported", "edge"):
        custom = run(tool, "import", model, "--stage", stage, **environment)
        generic = run(XDSL_OPT, "--print-op-generic", input=custom, **environment)
        assert '"edge.mylib.soft_relu"' in generic or '"mylib.row_norms"' in generic
        assert run(XDSL_OPT, input=generic, **environment).strip() == custom.strip()
    pipeline = "decompose-aten,aten-to-edge,verify-edge"
    assert "edge.mylib.soft_relu" in run(XDSL_OPT, "-p", pipeline, input=TEXT, **environment)
    literal = TEXT.replace("(%x: tensor<2x4xf32>)", "()").replace(
        "%rows,", "%x = exir.constant 1.0 : tensor<2x4xf32>\n  %rows,", 1
    )
    assert "float32[2] [2., 2.]" in run(XDSL_OPT, "-t", "exir-run", input=literal, **environment)


def test_example_with_mlir_opt(tmp_path: Path) -> None:
    """The dialect of a library is among those that IRDL describes, and its names come back."""
    environment = {"XDSL_EXIR_OPS": str(EXAMPLE / "mylib.yaml")}
    tool = Path(sys.executable).with_name("xdsl-exir")
    assert "irdl.operation @soft_relu" in run(tool, "irdl", "mylib", **environment)
    renamed = run(XDSL_OPT, "-p", "to-irdl-names", input=TEXT, **environment)
    assert "mylib.soft_relu" in renamed
    again = run(
        XDSL_OPT, "--allow-unregistered-dialect", "-p", "from-irdl-names", input=renamed, **environment
    )
    assert again == run(XDSL_OPT, input=TEXT, **environment)
    assert "specified at" in run(tool, "ops", "mylib.soft_relu", **environment)


def test_without_registration(model: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UnsupportedError, match=r"mylib\.row_norms: unknown operator: no operators of namespace"
    ) as told:
        xdsl_exir.load(model)
    assert all(way in str(told.value) for way in WAYS)
    assert "model.py:" in str(told.value)
    with pytest.raises(SpecError) as unknown:
        find("mylib.soft_relu")
    assert all(way in str(unknown.value) for way in WAYS)
    text = tmp_path / "m.mlir"
    text.write_text(TEXT)
    told_of_text = run(Path(sys.executable).with_name("xdsl-exir"), "import", text, fails=True)
    assert all(way in told_of_text for way in WAYS)


# --- the three ways ------------------------------------------------------------------------------------------


def test_by_call(clean: None) -> None:
    assert xdsl_exir.register_ops(EXAMPLE / "mylib.yaml") == ("mylib.soft_relu", "mylib.row_norms")
    program = program_of(TEXT)
    assert program_of(program.text(generic=True)).module.is_structurally_equivalent(program.module)
    rows, norms = xdsl_exir.compile(program.to_edge()).flat([X])
    expected = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(norms, expected, rtol=1e-6)
    np.testing.assert_allclose(rows, np.log1p(np.exp(2 * X / expected[:, None])) / 2, rtol=1e-5)
    # One class for all who ask.
    [made] = {type(op) for op in program.module.walk() if op.name == "mylib.soft_relu"}
    assert dialect_of("mylib.soft_relu")["mylib.soft_relu"] is made
    assert [dtype.name for dtype in sorted(made.allowed_types("x"), key=lambda dtype: dtype.bits)] == [
        "Float",
        "Double",
    ]
    assert made.SPEC.place == f"{EXAMPLE / 'mylib.yaml'}:2"


def test_by_text_with_functions_elsewhere(clean: None) -> None:
    text = (EXAMPLE / "mylib.yaml").read_text()
    xdsl_exir.register_ops(text, functions=EXAMPLE / "mylib.py")
    assert len(xdsl_exir.compile(program_of(TEXT)).flat([X])) == 2
    with pytest.raises(SpecError, match=r"register_ops: no file .*nonesuch\.py"):
        xdsl_exir.register_ops("- {func: a::b(Tensor x) -> Tensor, rule: same}", functions="nonesuch.py")
    xdsl_exir.register_ops("- {func: a::b(Tensor x) -> Tensor, rule: same}", functions="no_such_module")
    with pytest.raises(SpecError, match="no module 'no_such_module'"):
        SHAPES.find(find("a.b"))


def write_package(folder: Path, entry: str = "mylib = mypackage.ops") -> None:
    """An installed package with an entry point, that tells when it is imported."""
    package, about = folder / "mypackage", folder / "mypackage-1.0.dist-info"
    package.mkdir()
    about.mkdir()
    (package / "__init__.py").write_text("import sys\nprint('mypackage is imported', file=sys.stderr)\n")
    for suffix in ("yaml", "py"):
        (package / f"ops.{suffix}").write_text((EXAMPLE / f"mylib.{suffix}").read_text())
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[xdsl_exir.operators]\n{entry}\n")


def test_by_entry_point(tmp_path: Path) -> None:
    write_package(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    pipeline = [XDSL_OPT, "-p", "decompose-aten,aten-to-edge,verify-edge"]
    done = subprocess.run(pipeline, input=TEXT, capture_output=True, text=True, env=environment)
    assert "edge.mylib.soft_relu" in done.stdout
    assert done.stderr == "mypackage is imported\n"
    # It may import PyTorch: what needs none of its functions leaves it alone.
    code = "import xdsl_exir; from xdsl_exir.program import context; print(context().clone().get_optional_op('edge.mylib.soft_relu'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("<class 'xdsl_exir.dialects.edge.SoftReluOp'>\n", "")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("mylib = nonesuch.ops", "no module 'nonesuch'"),
        ("mylib = mypackage.other", r"no file .*/mypackage/other\.yaml"),
        ("mylib = mypackage", r"no file mypackage/<module>\.yaml"),
        ("other = mypackage.ops", "mylib.soft_relu is not of namespace 'other'"),
        ("arith = mypackage.ops", "namespace 'arith' is the name of another dialect"),
    ],
)
def test_entry_points_that_lead_nowhere(tmp_path: Path, entry: str, message: str) -> None:
    write_package(tmp_path, entry)
    code = "import xdsl_exir.universe; from xdsl_exir.dialects.spec import specs; specs()"
    told = run(sys.executable, "-c", code, fails=True, PYTHONPATH=str(tmp_path))
    assert re.search(f"SpecError: .*{message}", told)


def test_two_libraries_by_environment(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("- func: other::twice(Tensor x) -> Tensor\n  rule: same\n")
    other.with_suffix(".py").write_text(
        "from xdsl_exir.dialects.meta import shape_rule\n"
        "from xdsl_exir.interpreter.operators import impl\n"
        "shape_rule('other.twice')(lambda x: x.shape)\n"
        "impl('other.twice')(lambda x: 2 * x)\n"
    )
    both = os.pathsep.join([str(EXAMPLE / "mylib.yaml"), str(other), str(other)])
    text = """
      %x = exir.constant 2.0 : tensor<2xf32>
      %0 = mylib.soft_relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
      %1 = other.twice(%0) : (tensor<2xf32>) -> tensor<2xf32>
      func.return %1 : tensor<2xf32>"""
    text = f"func.func @f() -> tensor<2xf32> {{ {text} }}"
    shown = run(XDSL_OPT, "-p", "aten-to-edge,verify-edge", "-t", "exir-run", input=text, XDSL_EXIR_OPS=both)
    assert shown == "float32[2] [4.2539, 4.2539]\n"
    # What was found may be registered by a call as well, once.
    code = "import sys, xdsl_exir; print(xdsl_exir.register_ops(sys.argv[1])); xdsl_exir.register_ops(sys.argv[1])"
    told = run(sys.executable, "-c", code, other, fails=True, XDSL_EXIR_OPS=both)
    assert re.search(
        r"SpecError: .*other.yaml:1: other.twice is specified twice, before at .*other.yaml:1", told
    )


def test_a_variable_that_leads_nowhere() -> None:
    told = run(XDSL_OPT, "--help", fails=True, XDSL_EXIR_OPS="/nonesuch.yaml")
    assert "SpecError: XDSL_EXIR_OPS: /nonesuch.yaml: No such file or directory" in told


def test_finding_libraries_imports_nothing(tmp_path: Path) -> None:
    """So `xdsl-opt` starts as fast with them as without; a timed check would tell less."""
    write_package(tmp_path, "second = mypackage.ops")
    code = (
        "import sys, xdsl_exir.universe as u; print('mylib' in u.XDSL_EXIR_UNIVERSE.all_dialects, 'second' in "
        "u.XDSL_EXIR_UNIVERSE.all_dialects, [m for m in sys.modules if m.startswith(('xdsl_exir.dialects', 'xdsl_exir.program', "
        "'numpy', 'yaml', 'torch', 'sympy', 'mypackage'))])"
    )
    environment = {"XDSL_EXIR_OPS": str(EXAMPLE / "mylib.yaml"), "PYTHONPATH": str(tmp_path)}
    assert python(code, **environment) == "True True []\n"


def test_found_is_empty_here() -> None:
    assert found() == ()


# --- what is wrong -------------------------------------------------------------------------------------------

GOOD = "- {func: lib::f(Tensor x) -> Tensor, rule: same}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func: [", ":2: not YAML"),
        (GOOD + "\0", ":2: not YAML"),
        (
            "- func: lib::f(Tensor x, int n=abc) -> Tensor\n  rule: same",
            ":1: 'int n=abc': the default is no int",
        ),
        ("- func: lib::f(Tensor x, int[] n=3) -> Tensor\n  rule: same", r":1: .*the default is no int\[\]"),
        (GOOD + "- func: {", ":3: not YAML"),
        ("func: lib::f(Tensor x) -> Tensor\n", ":1: expected a list of operators"),
        (GOOD + "- just text\n", ":2: expected a list of operators"),
        (GOOD + "- rule: same\n  func: 3\n", ":2: an operator needs 'func'"),
        (GOOD + "\n- func: lib::f(Tensor x\n", r":3: 'lib::f\(Tensor x' is not a function schema"),
        (
            "- func: lib::f(Tensr x) -> Tensor\n  rule: same",
            r":1: 'Tensr x': no type 'Tensr'; there is Device",
        ),
        ("- func: lib::f(Tensor x, Tensor x) -> Tensor\n  rule: same", ":1: .*two arguments of one name"),
        ("- func: lib::f(Tensor x) -> str\n  rule: same", ":1: 'str': no type 'str'"),
        (
            "- func: lib::f.default(Tensor x) -> Tensor\n  rule: same",
            ":1: the default overload is written without",
        ),
        (
            "- func: func::f(Tensor x) -> Tensor\n  rule: same",
            ":1: namespace 'func' is the name of another dialect",
        ),
        (
            "- func: edge::f(Tensor x) -> Tensor\n  rule: same",
            ":1: namespace 'edge' is the name of another dialect",
        ),
        ("- func: lib::f(Tensor x) -> Tensor\n", ":1: lib.f gives tensors and has no dtype rule"),
        (
            "- func: lib::f(Tensor x) -> Tensor\n  rule: sane",
            ":1: 'sane' is not a dtype rule; there is same, each, promote",
        ),
        ("- func: lib::f(Tensor x) -> Tensor\n  rule: [same]", ":1: .* is not a dtype rule"),
        ("- func: lib::f(Tensor x) -> Tensor\n  types: Float", ":1: .* is not a dtype rule"),
        (
            "- func: lib::f(Tensor x) -> Tensor\n  rule: same\n  types: Flaot",
            ":1: 'Flaot' is not a dtype or set of",
        ),
        (
            "- func: lib::f(Tensor x) -> Tensor\n  rule: same\n  types: 3",
            ":1: 'types' is 3, expected names of dtypes",
        ),
        ("- func: lib::f(Tensor x) -> Tensor\n  rule: same\n  y: Float", ":1: lib.f has no argument 'y'"),
        (
            "- func: lib::f(Tensor x) -> Tensor\n  rule: same\n  __ret_0: Foo",
            ":1: __ret_0 is 'Foo', expected a dtype",
        ),
        (
            "- func: lib::f(Tensor x) -> Tensor\n  rule: same\n  __ret_1: Float",
            ":1: lib.f has no argument '__ret_1'",
        ),
        (
            "- func: lib::f(Tensor x) -> Tensor\n  rule: same\n  when: 3",
            ":1: 'when' is 3, expected a list of cases",
        ),
        (
            "- func: lib::f(Tensor x) -> Tensor\n  rule: same\n  when: [{rule: sum}]",
            ":1: .*a case must name one flag",
        ),
        (
            "- func: lib::f(Tensor x) -> Tensor\n  rule: same\n  tags: [fast]",
            r":1: tags are \['fast'\], expected some",
        ),
        (
            "- func: lib::f(Tensor x) -> Tensor\n  type_constraint: 3",
            ":1: 'type_constraint' is 3, expected a list",
        ),
        (
            "- func: lib::f(Tensor x) -> Tensor\n  type_constraint: [{y: Float, __ret_0: Float}]",
            ":1: a row speaks of 'y', which is no argument or result",
        ),
        (
            "- func: lib::f(Tensor x) -> Tensor\n  type_constraint: [{x: T0, __ret_0: Float}]",
            ":1: .*'T0' is not a type alias",
        ),
        ("- func: lib::f(Tensor x) -> Tensor\n  type_constraint: [{x: Float}]", ":1: a row lacks __ret_0"),
        (GOOD + GOOD, ":2: lib.f is specified twice, before at <text>:1"),
        (GOOD + "- {func: lib::g, rule: same}\n", ":2: a dtype rule of lib.g, which has no schema here"),
        (
            GOOD + "- {func: lib::f, rule: same}\n",
            ":2: a second dtype rule of lib.f, besides that at <text>:1",
        ),
        (
            "- {func: aten::mm(Tensor x) -> Tensor, rule: same}\n",
            ":1: aten.mm is specified twice, it is built in",
        ),
        (
            "- {func: 'lib::f(Tensor(a!)? x) -> ()', rule: same}\n",
            r":1: lib.f writes to 'Tensor\(a!\)\? x'; only a Tensor can be written",
        ),
        (
            "- {func: 'lib::f(Tensor(a!) x) -> (Tensor(a!), Tensor)', rule: same}\n",
            ":1: lib.f gives back what it writes in another order",
        ),
    ],
)
def test_specs_that_are_wrong(text: str, message: str) -> None:
    before = len(specs())
    with pytest.raises(SpecError, match=f"^<text>{message}"):
        xdsl_exir.register_ops(text if "\n" in text else text + "\n")
    assert len(specs()) == before


def test_twice(clean: None, tmp_path: Path) -> None:
    path = tmp_path / "lib.yaml"
    path.write_text("# operators\n" + GOOD)
    xdsl_exir.register_ops(path)
    more = "- {func: lib::g(Tensor x) -> Tensor, rule: same}\n"
    with pytest.raises(SpecError, match=rf"^<text>:2: lib\.f is specified twice, before at {path}:2$"):
        xdsl_exir.register_ops(more + GOOD)
    assert "lib.g" not in specs()
    with pytest.raises(SpecError, match=r"lib\.f is specified twice"):
        xdsl_exir.register_ops(path)
    with pytest.raises(SpecError, match=r"register_ops: .*none\.yaml: No such file"):
        xdsl_exir.register_ops(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"- func: \xff\n")
    with pytest.raises(SpecError, match=r"latin\.yaml: not text"):
        xdsl_exir.register_ops(tmp_path / "latin.yaml")
    # Another file may add to a namespace, also to a built-in one.
    assert xdsl_exir.register_ops(more) == ("lib.g",)
    assert xdsl_exir.register_ops("- {func: aten::my_own(Tensor x) -> Tensor, rule: same}\n") == (
        "aten.my_own",
    )
    assert "aten.my_own" in [op.name for op in XDSL_EXIR_UNIVERSE.all_dialects["aten"]().operations]


def test_a_file_may_hold_both_forms(clean: None) -> None:
    """As the built-in files have them, schemas and rules apart, or together; an empty one is a library as well."""
    assert xdsl_exir.register_ops("# nothing\n") == ()
    xdsl_exir.register_ops("""
- func: lib::f(Tensor x, *, ScalarType? dtype=None, str mode='a') -> Tensor
- func: lib::g(Tensor x,
    Tensor y) -> (Tensor, Tensor)
  type_alias: {T0: [Int, Long]}
  type_constraint:
  - {x: T0, y: Float, __ret_0: T0, __ret_1: Float}
- func: lib::h(Tensor x) -> SymInt
- {func: lib::f, rule: dtype_or_same, types: Floating}
""")
    rule = find("lib.g").dtype_rule
    assert rule is not None
    assert {dtype.name for dtype in rule.allowed["x"]} == {"Int", "Long"}
    assert find("lib.f").dtype_rule is not None
    assert find("lib.h").dtype_rule is None
    assert find("lib.g").schema_text == "lib::g(Tensor x, Tensor y) -> (Tensor, Tensor)"


def test_pointwise_operators_need_no_shape_rule(clean: None) -> None:
    """Their tensors broadcast, those that are given; a rule that is registered counts."""
    xdsl_exir.register_ops("""
- func: lib::p(Tensor x, Tensor? y, float z) -> Tensor
  tags: [pointwise]
  rule: promote
""")

    def shape(*operands: TensorMeta | NumberMeta | None) -> Any:
        rule = SHAPES.find(find("lib.p"))
        assert rule is not None
        return rule.call(dict(zip("xy", operands, strict=True)))

    x, y, number = TensorMeta((3, 1), dt.Float), TensorMeta((4,), dt.Float), NumberMeta(dt.Float)
    assert [shape(x, y), shape(x, None), shape(number, y)] == [(3, 4), (3, 1), (4,)]
    shape_rule("lib.p")(lambda x: (*x.shape, 2))
    assert shape(x, y) == (3, 1, 2)


def test_missing_functions_are_named(clean: None) -> None:
    xdsl_exir.register_ops(GOOD)
    text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {{ %0 = lib.f(%x) : (tensor<2xf32>) -> {0} func.return %0 : {0} }}"
    with pytest.raises(ExirError, match=r"lib\.f has no shape rule"):
        program_of(text.format("tensor<2xf32>"))
    shape_rule("lib.f")(lambda x: x.shape)
    program = program_of(text.format("tensor<2xf32>"))
    with pytest.raises(UnsupportedError, match=r"edge\.lib\.f: the interpreter has no function for it"):
        xdsl_exir.compile(program.to_edge())
    with pytest.raises(SpecError, match=r"function of lib\.f: the operator has no argument 'y'"):
        impl("lib.f")(lambda y: y)
    with pytest.raises(SpecError, match=r"unknown operator 'lib\.nonesuch'$"):
        impl("lib.nonesuch")(lambda x: x)


# --- what users do to operators ------------------------------------------------------------------------------


def test_writing_operators_are_functional(clean: None, tmp_path: Path) -> None:
    """Their calls are made functional by the importer, or by PyTorch's `auto_functionalized_v2`: views, several calls."""
    torch = pytest.importorskip("torch")
    library = torch.library.Library("writes", "DEF")
    library.define("push(Tensor(a!) cache, Tensor x) -> ()")
    library.define("swap(Tensor(a!) a, Tensor(b!) b, Tensor? by=None) -> Tensor")
    library.define("scale_(Tensor(a!) x, float by) -> Tensor(a!)")
    library.define("scale(Tensor x, float by) -> Tensor")

    def push(cache: Any, x: Any) -> None:
        cache.add_(x)

    def swap(a: Any, b: Any, by: Any = None) -> Any:
        before = a.clone()
        a.copy_(b)
        b.copy_(before)
        return before.sum()

    library.impl("push", push, "CompositeExplicitAutograd")
    library.impl("swap", swap, "CompositeExplicitAutograd")
    library.impl("scale_", lambda x, by: x.mul_(by), "CompositeExplicitAutograd")
    library.impl("scale", lambda x, by: x.mul(by), "CompositeExplicitAutograd")
    torch.library.register_fake("writes::scale", lambda x, by: torch.empty_like(x))
    torch.library.register_fake("writes::push", lambda cache, x: None)
    torch.library.register_fake("writes::swap", lambda a, b, by=None: a.new_empty(()))
    torch.library.register_fake("writes::scale_", lambda x, by: x)

    class Writer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("cache", torch.zeros(3, 4))

        def forward(self, x: Any) -> Any:
            torch.ops.writes.push(self.cache[1:], x)
            torch.ops.writes.push(self.cache[:, 1], x[:3])
            torch.ops.writes.push(self.cache, x)
            a, b = x + 1, x * 2
            return torch.ops.writes.swap(a, b), a, b, self.cache * 2

    class InPlace(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            y = x + 1
            torch.ops.writes.scale_(y[1:], 3.0)
            return y

    xdsl_exir.register_ops("""
- {func: "writes::push(Tensor(a!) cache, Tensor x) -> ()", rule: same}
- {func: "writes::swap(Tensor(a!) a, Tensor(b!) b, Tensor? by=None) -> Tensor", rule: same}
- {func: "writes::scale(Tensor x, float by) -> Tensor", rule: same}
""")
    assert find("writes.push").schema_text == "writes::push(Tensor cache, Tensor x) -> Tensor"
    assert find("writes.swap").writes == ("a", "b")
    shape_rule("writes.push")(lambda cache: cache.shape)
    shape_rule("writes.scale")(lambda x: x.shape)
    shape_rule("writes.swap")(lambda a, b: [(), b.shape, a.shape])
    impl("writes.push")(lambda cache, x: cache + x)
    impl("writes.scale")(lambda x, by: x * by)
    impl("writes.swap")(lambda a, b: (a.sum(), b, a))
    x = torch.tensor([1.0, -2.0, 3.0, 0.5])
    for model, decomposes in ((Writer(), True), (InPlace(), False)):
        exported = torch.export.export(model, (x,))
        forms = [exported]
        for second_form in (True, False) if decomposes else ():
            with torch._export.config.patch(enable_auto_functionalized_v2_for_export=second_form):
                forms.append(exported.run_decompositions())
        for form in forms:
            torch.export.save(form, tmp_path / "m.pt2")
            for program in (xdsl_exir.from_exported_program(form), xdsl_exir.load(tmp_path / "m.pt2")):
                runs, eager = xdsl_exir.compile(program.to_edge()), type(model)()
                back = program.to_exported_program().module()
                for _ in range(2):  # the buffer lives on
                    given, expected = back(x), eager(x)
                    torch.testing.assert_close(given, expected)
                    expected = expected if isinstance(expected, tuple) else (expected,)
                    for one, other in zip(runs.flat([x.numpy()]), expected, strict=True):
                        np.testing.assert_allclose(one, other.numpy(), rtol=1e-6)
    library._destroy()


def test_an_override_before_the_file_is_read_stays(clean: None) -> None:
    """The file is read when a function is first asked for; what was registered by hand is newer all the same."""
    xdsl_exir.register_ops(EXAMPLE / "mylib.yaml")
    impl("mylib.soft_relu")(lambda x: x * 0)
    decomposition("mylib.row_norms")(lambda aten, x: (x, aten.select.int(x, 1, 0)))
    rows, norms = xdsl_exir.compile(program_of(TEXT).to_core()).flat([X])
    np.testing.assert_array_equal(rows, X * 0)
    np.testing.assert_array_equal(norms, X[:, 0])


def test_an_override_of_a_built_in_stays() -> None:
    code = """if True:
        from xdsl_exir.dialects.spec import find
        from xdsl_exir.transforms.decompositions import DECOMPOSITIONS, decomposition
        @decomposition("aten.silu")
        def mine(aten, self):
            return aten.relu(self)
        print(DECOMPOSITIONS.find(find("aten.silu")).function is mine)
        former = DECOMPOSITIONS.override("aten.selu", None)
        print(DECOMPOSITIONS.find(find("aten.selu")), former is not None)
        DECOMPOSITIONS.override("aten.selu", former)
        print(DECOMPOSITIONS.find(find("aten.selu")) is former)
    """
    assert python(code) == "True\nNone True\nTrue\n"


def test_unknown_operator_inside_auto_functionalized(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    library = torch.library.Library("nowhere", "DEF")
    library.define("push(Tensor(a!) cache, Tensor x) -> ()")
    library.impl("push", lambda cache, x: (cache.add_(x), None)[1], "CompositeExplicitAutograd")
    torch.library.register_fake("nowhere::push", lambda cache, x: None)

    class Writer(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            y = x + 1
            torch.ops.nowhere.push(y, x)
            return y

    exported = torch.export.export(Writer(), (torch.ones(2),)).run_decompositions()
    with pytest.raises(UnsupportedError, match=r"nowhere\.push: unknown operator: no operators of namespace"):
        xdsl_exir.from_exported_program(exported)
    library._destroy()


def test_load_error_is_still_a_load_error(tmp_path: Path) -> None:
    path = tmp_path / "m.pt2"
    path.write_bytes(b"nothing")
    with pytest.raises(LoadError):
        xdsl_exir.load(path)


@pytest.mark.usefixtures("clean")
def test_unregistered_and_edited(tmp_path: Path) -> None:
    """A library may be registered again with another schema; what it changed of built-in operators goes with it."""
    source, functions = tmp_path / "edited.yaml", tmp_path / "edited.py"
    functions.write_text(
        "from xdsl_exir.dialects.meta import shape_rule\n"
        "from xdsl_exir.transforms.decompositions import decomposition\n"
        "@shape_rule('edited.f')\n"
        "def f(x): return x.shape\n"
        "@decomposition('aten.silu')\n"
        "def silu(aten, self): return aten.relu(self)\n"
    )
    silu = DECOMPOSITIONS.find(find("aten.silu"))
    for parameter in ("alpha", "beta"):
        source.write_text(f"- func: edited::f(Tensor x, float {parameter}=1.0) -> Tensor\n  rule: same\n")
        assert xdsl_exir.register_ops(source) == ("edited.f",)
        assert SHAPES.find(find("edited.f")) is not None
        assert [slot.name for slot in edge.OPERATORS["edited.f"].SLOTS.slots] == ["x", parameter]
        assert DECOMPOSITIONS.find(find("edited.f")) is None  # which reads the library
        assert DECOMPOSITIONS.find(find("aten.silu")) is not silu
        xdsl_exir.unregister_ops("edited.f")
        assert DECOMPOSITIONS.find(find("aten.silu")) is silu
        with pytest.raises(SpecError, match="unknown operator"):
            find("edited.f")
    with pytest.raises(SpecError, match=r"aten\.silu is built in"):
        xdsl_exir.unregister_ops("aten.silu")
