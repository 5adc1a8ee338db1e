"""What the verifiers refuse. Generic: every operator, changed in one thing. By hand: rules that concern a whole module.

The generic test counts. A mutant that the verifier lets pass is no miss where PyTorch itself runs it with results of the
types it has (broadcasting, promotion, another valid size): those are counted apart, as equivalent. All other survivors
must be explained here. The figures are printed after the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.operator import OperatorOp, metas
from xdsl_exir.dialects.spec import specs
from xdsl_exir.dialects.tensors import NumberMeta, TensorMeta
from xdsl_exir.errors import VerificationError
from xdsl_exir.program import Program, context
from xdsl_exir.transforms.verify import violations_of

torch = pytest.importorskip("torch")

import eager  # noqa: E402
from mutants import Mutant, mutants  # noqa: E402
from samples import Call, build, calls, f, function_of  # noqa: E402
from samples import call as sample_call  # noqa: E402

KILL_RATE = 0.998
"""Least share of mutants that are not equivalent and must be refused."""

EXPLANATIONS: dict[str, Callable[[Mutant], bool]] = {
    "a number in a tensor's place: aten takes one wherever it takes a tensor": (
        lambda m: m.kind == "operand kind" and m.op.NUMBERS and m.what.endswith((" f64", "symint<s0>"))
    ),
    "an assertion: whether it holds is found at run time": (
        lambda m: m.op.SPEC.qualified_name.startswith(("aten._assert", "aten.sym_constrain"))
    ),
    "a size that depends on the data": (
        lambda m: (
            m.op.SPEC.qualified_name
            in ("aten.one_hot", "aten.masked_scatter", "aten.tensor_split.tensor_indices_or_sections")
        )
    ),
    "lengths of segments: that they add up is found at run time": (
        lambda m: m.op.SPEC.qualified_name == "aten.segment_reduce" and m.kind == "operand size"
    ),
    "offsets of bool: the first is False in a call of PyTorch's, here all are True": (
        lambda m: (
            "embedding_bag" in m.op.name and m.kind == "operand dtype" and m.what == "operand 2 tensor<2xi1>"
        )
    ),
    "a combination of dtypes that the rule language does not tell apart (instance norms)": (
        lambda m: m.kind == "operand dtype" and ".instance_norm" in m.op.name
    ),
    "a scale or zero point of any dtype": (
        lambda m: m.kind == "operand dtype" and "quantize_per" in m.op.name and "operand 0" not in m.what
    ),
    "how many steps there are is in the elements of batch_sizes": (
        lambda m: (
            m.kind == "operand size" and m.op.SPEC.qualified_name.endswith(".data") and "operand 1" in m.what
        )
    ),
    "one value stands for all of a list of fixed length": (
        lambda m: m.kind == "list length" and "pool" in m.op.SPEC.qualified_name
    ),
}


@dataclass
class Score:
    """What became of the mutants of one stage."""

    killed: Counter[str] = field(default_factory=Counter[str])
    equivalent: Counter[str] = field(default_factory=Counter[str])
    survived: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Those that are not equivalent, by explanation; empty where there is none."""

    @property
    def rate(self) -> float:
        killed = sum(self.killed.values())
        return killed / (killed + sum(map(len, self.survived.values())))

    def add(self, mutant: Mutant) -> None:
        try:
            mutant.op.verify_()
        except VerifyException:
            self.killed[mutant.kind] += 1
            return
        if eager.accepts(mutant.op) and explicit(mutant.op):
            self.equivalent[mutant.kind] += 1
            return
        reason = next((reason for reason, holds in EXPLANATIONS.items() if holds(mutant)), "")
        self.survived.setdefault(reason, []).append(f"{mutant.op.name}: {mutant.kind}, {mutant.what}")

    def report(self, stage: str) -> str:
        killed, equivalent = sum(self.killed.values()), sum(self.equivalent.values())
        lines = [
            f"{stage}: kill rate {self.rate:.2%}, {killed} of {killed + sum(map(len, self.survived.values()))} "
            f"({equivalent} more are valid in PyTorch too)"
        ]
        for kind in sorted({*self.killed, *self.equivalent}):
            lines.append(f"  {kind:18} killed {self.killed[kind]:5}, valid {self.equivalent[kind]:5}")
        for reason, survivors in self.survived.items():
            lines.append(f"  {len(survivors)} survived: {reason or 'unexplained'}; such as {survivors[0]}")
        return "\n".join(lines)


def explicit(op: OperatorOp) -> bool:
    """Whether an operation keeps edge's own rules, which PyTorch does not have: no numbers, nothing promotes."""
    if op.NUMBERS:
        return True
    rule = op.SPEC.dtype_rule
    arguments = op.arguments(lambda value: metas(value))
    flat = {name: value if isinstance(value, list) else [value] for name, value in arguments.items()}
    if any(isinstance(item, NumberMeta) for values in flat.values() for item in values):
        return False
    promoting = [item for name in (rule.promotes if rule else ()) for item in flat[name]]
    return len({item.dtype for item in promoting if isinstance(item, TensorMeta)}) <= 1


def is_symbolic(sample: Call) -> bool:
    return "Expr" in repr(sample) or "expr" in repr(sample)


@pytest.mark.parametrize("stage", ["aten", "edge"])
def test_mutants(stage: str, figures: Callable[[str], None]) -> None:
    score = Score()
    for name, spec in specs().items():
        # Symbolic sizes leave more open than PyTorch can be asked; they have tests of their own below.
        samples = [sample for sample in calls(spec) if not is_symbolic(sample)] or list(calls(spec))
        for sample in [*samples[:1], *samples[2::2]]:
            if stage == "aten" or not sample.mixed:
                op = build(name, sample, stage)
                op.verify_()
                for mutant in mutants(op):
                    score.add(mutant)
    figures(score.report(stage))
    assert score.survived.get("", []) == []
    assert score.rate >= KILL_RATE


def test_samples_are_valid_in_pytorch() -> None:
    """What the mutants start from is what PyTorch takes and gives."""
    refused = []
    for name, spec in specs().items():
        for sample in calls(spec):
            op = build(name, sample)
            if not eager.accepts(op):
                refused.append(str(op))
    assert refused == []


# --- symbolic sizes ------------------------------------------------------------------------------------------


def refuses(text: str, message: str) -> None:
    """Asserts that operations on the arguments of `parsed` do not verify."""
    with pytest.raises(VerifyException, match=message):
        parsed(text).verify()


X, Y, Z = (f"tensor<?x3xf32, #exir.shape<[{size}, 3]>>" for size in ("s0", "s0 + 1", "s1"))


def parsed(text: str) -> ModuleOp:
    arguments = f"%x: {X}, %y: {Y}, %z: {Z}, %c: tensor<2x3xf32>, %n: !exir.symint<s0>"
    return Parser(context().clone(), f"func.func @f({arguments}) {{\n{text}\nfunc.return\n}}").parse_module()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"%0 = aten.add.Tensor(%x, %y) : ({X}, {Y}) -> {X}", "do not broadcast"),
        (f"%0 = aten.relu(%x) : ({X}) -> {Y}", "result 0 is"),
        (f"%0 = aten.relu(%x) : ({X}) -> tensor<?xf32, #exir.shape<[s0]>>", "result 0 is"),
        (f"%0 = aten.cat([%x, %y]) : ({X}, {Y}) -> tensor<?x3xf32, #exir.shape<[2 * s0, 3]>>", "result 0 is"),
        (f"%0 = aten.sym_size.int(%x, dim = 0) : ({X}) -> !exir.symint<s0 + 1>", "result 0 is"),
        (f"%0 = aten.sym_size.int(%x, dim = 0) : ({X}) -> !exir.symfloat<to_float(s0)>", "result 0 is"),
        (f"%0 = aten.sym_size.int(%x, dim = 2) : ({X}) -> !exir.symint<s0>", "dimension 2"),
        (f"%0 = aten.expand(%x, size = [%n, 4]) : ({X}, !exir.symint<s0>) -> {X}", "expand"),
        (f"%0 = aten.relu(%x) : ({X}) -> tensor<?x3xf32>", "has no name"),
    ],
)
def test_symbolic_sizes(text: str, message: str) -> None:
    refuses(text, message)


@pytest.mark.parametrize(
    "text",
    [
        f"%0 = aten.add.Tensor(%x, %z) : ({X}, {Z}) -> {X}",
        f"%0 = aten.add.Tensor(%x, %c) : ({X}, tensor<2x3xf32>) -> tensor<2x3xf32>",
        f"%0 = aten.relu(%x) : ({X}) -> {Z}",
        f"%0 = aten.sym_size.int(%x, dim = 0) : ({X}) -> !exir.symint<u0>",
    ],
)
def test_undecided_sizes_are_left_to_the_run(text: str) -> None:
    parsed(text).verify()


# --- exir ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%0 = exir.number 2.0 : i64", "is of type f64"),
        ("%0 = exir.number 2 : f64", "is of type i64"),
        ("%0 = exir.number true : i64", "is of type i1"),
        ("%0 = exir.number 2 : !exir.symint<3>", "is of type i64"),
        ("%0 = exir.number 2 : tensor<i64>", "is of type i64"),
        ('%0 = "exir.number"() {value = "two"} : () -> i64', "is not a number"),
        ('%0 = "exir.number"() <{value = 2 : i32}> : () -> i32', "is not a number"),
        ('%0 = "exir.number"() : () -> i64', "property 'value' expected"),
        ("%0 = exir.constant [1, 2] : tensor<3xi64>", "2 values for 3 elements"),
        ("%0 = exir.constant [] : tensor<3xi64>", "0 values for 3 elements"),
        ("%0 = exir.constant 1.5 : tensor<3xi64>", "is not an element"),
        ("%0 = exir.constant 2 : tensor<3xi1>", "is not an element"),
        ("%0 = exir.constant (1.0, 2.0) : tensor<3xf32>", "is not an element|2 values"),
        ("%0 = exir.constant 1 : tensor<?xi64, #exir.shape<[s0]>>", "static shape"),
        ("%0 = exir.constant 1 : tensor<?xi64>", "has no name"),
        ("%0 = exir.constant 1 : tensor<3xindex>", "not the type of a PyTorch dtype"),
        (f"%0 = exir.refine %x : {X} -> tensor<?x3xf64, #exir.shape<[s0, 3]>>", "only names of sizes"),
        (f"%0 = exir.refine %x : {X} -> tensor<?xf32, #exir.shape<[s0]>>", "only names of sizes"),
        (f"%0 = exir.refine %x : {X} -> tensor<?x4xf32, #exir.shape<[u0, 4]>>", "3 is never 4"),
        (f"%0 = exir.refine %x : {X} -> {Y}", "s0 is never s0 \\+ 1"),
        (f"%0 = exir.refine %x : {X} -> !exir.symint<s0>", "cannot refine"),
        ("%0 = exir.refine %n : !exir.symint<s0> -> !exir.symint<s0 - 1>", "s0 is never s0 - 1"),
        ("%0 = exir.refine %n : !exir.symint<s0> -> !exir.symfloat<to_float(s0)>", "cannot refine"),
        ("%0 = exir.refine %n : !exir.symint<s0> -> i64", "cannot refine"),
        ("%0 = exir.sym_add %n, %n : (!exir.symint<s0>, !exir.symint<s0>) -> !exir.symint<s0>", "result is"),
        (
            "%0 = exir.sym_add %n, %n : (!exir.symint<s0>, !exir.symint<s0>) -> !exir.symfloat<to_float(s0)>",
            "result is",
        ),
        ("%0 = exir.sym_add %n : (!exir.symint<s0>) -> !exir.symint<s0>", "2 operands expected"),
        (
            "%0 = exir.sym_neg %n, %n : (!exir.symint<s0>, !exir.symint<s0>) -> !exir.symint<-s0>",
            "1 operands expected",
        ),
        ("%0 = exir.sym_not %n : (!exir.symint<s0>) -> !exir.symbool<gt(s0, 1)>", "expects a condition"),
        (f"%0 = exir.sym_neg %x : ({X}) -> !exir.symint<-s0>", "SymType|exir.sym"),
        ('%0 = "exir.sym_neg"(%n) : (!exir.symint<s0>) -> i64', "SymType|exir.sym"),
    ],
)
def test_exir(text: str, message: str) -> None:
    refuses(text, message)


# --- whole modules -------------------------------------------------------------------------------------------

F32, I64 = "tensor<2xf32>", "tensor<2xi64>"


def module(body: str) -> ModuleOp:
    return Parser(context().clone(), body, "model.mlir").parse_module()


def messages(body: str, stage: str = "aten") -> list[str]:
    """The violations of a module, as a user reads them."""
    return [str(violation) for violation in violations_of(module(body), stage)]


def test_use_before_definition() -> None:
    broken = module(f"""
func.func @f(%x: {F32}) -> {F32} {{
  %0 = aten.relu(%x) : ({F32}) -> {F32}
  %1 = aten.exp(%0) : ({F32}) -> {F32}
  func.return %1 : {F32}
}}""")
    relu, exp = (next(op for op in broken.walk() if op.name == name) for name in ("aten.relu", "aten.exp"))
    relu.detach()
    assert exp.parent is not None
    exp.parent.insert_op_after(relu, exp)
    [violation] = violations_of(broken, "aten")
    assert str(violation) == "aten.exp: operand 0 is used where it is not defined"


def test_use_of_another_functions_value() -> None:
    two = module(f"""
func.func @f(%x: {F32}) -> {F32} {{ func.return %x : {F32} }}
func.func @g(%y: {F32}) -> {F32} {{ func.return %y : {F32} }}""")
    f_, g_ = two.ops
    g_.regions[0].block.last_op.operands[0] = f_.regions[0].block.args[0]  # pyright: ignore
    violation = violations_of(two, "aten")[-1]
    assert violation.message == "operand 0 is used where it is not defined"


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        (
            f'(%x: {F32} {{exir.input = #exir.input<buffer, "a">}}) -> ({F32} {{exir.output = #exir.output<buffer_mutation, "b">}})',
            "result 0 writes to buffer 'b', which is no argument",
        ),
        (
            f'(%x: {F32} {{exir.input = #exir.input<parameter, "a">}}) -> ({F32} {{exir.output = #exir.output<buffer_mutation, "a">}})',
            "result 0 writes to buffer 'a', which is no argument",
        ),
        (
            f'(%x: {F32} {{exir.input = #exir.input<user_input, "x">}}) -> ({F32} {{exir.output = #exir.output<user_input_mutation, "y">}})',
            "result 0 writes to user_input 'y', which is no argument",
        ),
        (
            f"(%x: {F32} {{exir.input = #exir.output<user_output>}}) -> {F32}",
            "exir.input of value 0 is #exir.output<user_output>",
        ),
    ],
)
def test_signature(signature: str, message: str) -> None:
    [found] = messages(f"func.func @f{signature} {{ func.return %x : {F32} }}")
    assert found == f"func.func: {message}"


def test_mutation_of_another_type() -> None:
    [found] = messages(f"""
func.func @f(%x: {F32} {{exir.input = #exir.input<buffer, "a">}})
    -> ({I64} {{exir.output = #exir.output<buffer_mutation, "a">}}) {{
  %0 = aten._to_copy(%x, dtype = i64) : ({F32}) -> {I64}
  func.return %0 : {I64}
}}""")
    assert found == f"func.func: result 0 is {I64}, written to 'a' of {F32}"


def test_two_arguments_of_one_name_and_a_missing_attribute() -> None:
    found = messages(f"""
func.func @f(%x: {F32} {{exir.input = #exir.input<buffer, "a">}}, %y: {F32} {{exir.input = #exir.input<buffer, "a">}}, %z: {F32}) {{
  func.return
}}""")
    assert found == [
        "func.func: exir.input is missing on some of 3 values",
        "func.func: two arguments are buffer 'a'",
    ]


def test_return_and_type_of_the_function() -> None:
    op = build("aten.relu", sample_call(f(2, 3)))
    function = function_of(op)
    whole = ModuleOp([function])
    assert violations_of(whole, "aten") == []
    op.results[0].replace_all_uses_with(op.operands[0])
    function.get_return_op().operands = ()  # pyright: ignore
    found = [str(violation) for violation in violations_of(whole, "aten")]
    assert "func.func: results of func.return differ from the function's type" in found


def test_terminators() -> None:
    op = build("aten.relu", sample_call(f(2, 3)))
    function = function_of(op)
    whole = ModuleOp([function])
    last = function.get_return_op()
    assert last is not None
    last.detach()
    last.erase()
    found = {violation.message for violation in violations_of(whole, "aten")}
    assert {"a method ends in func.return", "a block ends in its only terminator"} <= found


def test_a_method_without_a_body() -> None:
    assert "func.func: a method without a body" in messages(f"func.func private @f({F32}) -> {F32}")


def test_blocks() -> None:
    found = messages("""
func.func @f() {
  cf.br ^bb1
^bb1:
  func.return
}""")
    assert "func.func: control flow between blocks; Export IR has structured control flow only" in found
    assert "cf.br: not an operation of the aten stage" in found


COND = f"""
func.func @f(%p: tensor<i1>, %x: {F32}) -> {F32} {{
  %y = higher_order.cond %p : tensor<i1> inputs(%x : {F32}) -> {F32} {{
  ^bb0(%a : {F32}):
    %0 = edge.aten.relu(%a) : ({F32}) -> {F32}
    higher_order.yield %0 : {F32}
  }} else {{
  ^bb0(%a : {F32}):
    %two = exir.number 2.0 : f64
    %0 = aten.mul.Tensor(%a, %two) : ({F32}, f64) -> {F32}
    higher_order.yield %0 : {F32}
  }}
  func.return %y : {F32}
}}"""


def test_stages_in_regions() -> None:
    assert messages(COND, "edge") == [
        "exir.number: a Python number; edge has tensors in its place",
        "aten.mul.Tensor: not an edge operation",
    ]
    assert messages(COND, "aten") == ["edge.aten.relu: not an aten operation"]


def test_regions_see_nothing_around_them() -> None:
    broken = module(COND)
    [cond] = [op for op in broken.walk() if op.name == "higher_order.cond"]
    relu = cond.regions[0].block.first_op
    assert relu is not None
    relu.operands[0] = cond.operands[1]
    assert "edge.aten.relu: operand 0 is used where it is not defined" in [
        str(violation) for violation in violations_of(broken, "edge")
    ]


def test_other_dialects() -> None:
    [found] = messages("""
func.func @f() {
  %0 = arith.constant 1 : i32
  func.return
}""")
    assert found == "arith.constant: not an operation of the aten stage"


SEVERAL = f"""
func.func @f(%x: {F32}, %y: {I64}) -> {F32} {{
  %0 = aten.relu(%x) : ({F32}) -> {I64} loc("model.py":3:0)
  %1 = edge.aten.add.Tensor(%x, %y) : ({F32}, {I64}) -> {F32} loc("model.py":4:0)
  %2 = aten.cumsum(%x, dim = 7) : ({F32}) -> {F32} loc("layer.py":5:0)
  func.return %x : {F32}
}}"""


def test_all_violations_with_their_locations() -> None:
    assert messages(SEVERAL) == [
        f"model.py:3: aten.relu: result 0 is {F32}, not {I64}",
        "model.py:4: edge.aten.add.Tensor: operands would promote (self: Float, other: Long); edge casts explicitly",
        "model.py:4: edge.aten.add.Tensor: not an aten operation",
        "layer.py:5: aten.cumsum: aten.cumsum: dimension 7 of a 1-dimensional tensor",
    ]
    with pytest.raises(VerificationError, match="4 violations") as raised:
        Program(module(SEVERAL)).transform("verify-aten")
    assert all(place in str(raised.value) for place in ("model.py:3", "model.py:4", "layer.py:5"))


# --- what ExecuTorch's verifier lets pass -----------------------------------------------------------------------

CUDA, CHANNELS_LAST = (
    f"tensor<2x3x4x4xf32, #exir.shape<{layout}>>"
    for layout in ('device = "cuda:0"', "dim_order = [0, 2, 3, 1]")
)
X4 = "tensor<2x3x4x4xf32>"
AROUND_COND = f"""
func.func @f(%p: tensor<i1>, %x: {F32}) -> {F32} {{{{
  %y = higher_order.cond %p : tensor<i1> inputs(%x : {F32}) -> {F32} {{{{
  ^bb0(%a : {F32}):
    %0 = edge.aten.relu(%a) : ({F32}) -> {F32}
    {{inside}}
    higher_order.yield %0 : {F32}
  }}}} else {{{{
  ^bb0(%a : {F32}):
    higher_order.yield %a : {F32}
  }}}}
  {{after}}
  func.return %y : {F32}
}}}}"""


@pytest.mark.parametrize("place", ["inside", "after"])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (f"aten.relu(%x) : ({F32}) -> {F32}", "aten.relu: not an edge operation"),
        (f"edge.aten.relu(%x) : ({F32}) -> tensor<3xf32>", "edge.aten.relu: result 0 is"),
        (
            f"edge.aten.alias(%x) : ({F32}) -> {F32}",
            "edge.aten.alias: gives back its operand; edge has no aliases",
        ),
    ],
)
def test_inside_and_after_a_cond(place: str, bad: str, message: str) -> None:
    """ExecuTorch's verifier ends at the first higher-order operator."""
    places = {"inside": "", "after": ""}
    places[place] = f'%bad = {bad} loc("model.py":7:0)'.replace("%x", "%a" if place == "inside" else "%x")
    [found] = messages(AROUND_COND.format(**places), "edge")
    assert found.startswith(f"model.py:7: {message}")


@pytest.mark.parametrize(
    ("op", "message"),
    [
        pytest.param(f"edge.aten.relu(%x) : ({X4}) -> tensor<2x3x4x5xf32>", "result 0 is", id="shape"),
        pytest.param(f"edge.aten.relu(%x) : ({X4}) -> {CUDA}", "result 0 is", id="device"),
        pytest.param(
            f"edge.aten.add.Tensor(%x, %d) : ({X4}, {CUDA}) -> {X4}",
            "operands on several devices (self: cpu, other: cuda:0)",
            id="devices",
        ),
        pytest.param(
            f"edge.aten.cat([%x, %d], dim = 0) : ({X4}, {CUDA}) -> tensor<4x3x4x4xf32>",
            "operands on several devices",
            id="devices in a list",
        ),
        pytest.param(f"edge.aten.relu(%x) : ({X4}) -> {CHANNELS_LAST}", "result 0 is", id="layout"),
        pytest.param(f"edge.aten.alias(%x) : ({X4}) -> {X4}", "gives back its operand", id="alias"),
        pytest.param(f"edge.aten.detach(%x) : ({X4}) -> {X4}", "gives back its operand", id="detach"),
        pytest.param(f"edge.aten.triu(%x) : ({X4}) -> tensor<2x3x4x4xf64>", "result 0 is", id="dtype"),
        pytest.param(
            f"edge.aten.add.Tensor(%x, %n) : ({X4}, f64) -> {X4}", "f64 is not a tensor", id="scalar"
        ),
        pytest.param(
            f"edge.aten.sum.dim_IntList(%x, dim = [7]) : ({X4}) -> {X4}", "dimension 7", id="argument"
        ),
    ],
)
def test_single_operations(op: str, message: str) -> None:
    arguments = f"%x: {X4}, %d: {CUDA}, %n: f64"
    text = f'func.func @f({arguments}) {{ %0 = {op} loc("model.py":3:0)\n func.return }}'
    number, *found = messages(text, "edge")
    assert number.startswith("func.func: argument 2 is f64")
    assert len(found) == 1
    assert found[0].startswith("model.py:3: edge.")
    assert message in found[0]


def test_devices_that_may_differ() -> None:
    """0-dim tensors on the CPU, indices."""
    scalar = f"edge.aten.mul.Tensor(%x, %s) : ({CUDA}, tensor<f32>) -> {CUDA}"
    index = f"edge.aten.index.Tensor(%x, [%i]) : ({CUDA}, tensor<2xi64>) -> {CUDA}"
    for op in (scalar, index):
        arguments = f"%x: {CUDA}, %s: tensor<f32>, %i: tensor<2xi64>"
        assert messages(f"func.func @f({arguments}) {{ %0 = {op}\n func.return }}", "edge") == []


def test_custom_operators_without_a_spec() -> None:
    """Text does not parse; an operation that a tool lets through unregistered is none of the stage."""
    text = f'func.func @f(%x: {F32}) {{ %0 = "mylib.op"(%x) : ({F32}) -> {F32} loc("model.py":3:0)\n func.return }}'
    with pytest.raises(ParseError, match=r"mylib\.op is not registered"):
        module(text)
    lenient = context().clone()
    lenient.allow_unregistered = True
    [found] = violations_of(Parser(lenient, text, "model.mlir").parse_module(), "edge")
    assert str(found) == "model.py:3: mylib.op: not an operation of the edge stage"


def test_every_state_has_data() -> None:
    source = f'func.func @f(%x: {F32} {{exir.input = #exir.input<parameter, "w">}}) -> {F32} {{ func.return %x : {F32} }}'
    with pytest.raises(VerificationError, match="parameter 'w' has no data"):
        Program(module(source)).verify()


def test_symbols_are_expressions() -> None:
    """`is_symbolic` above recognises them."""
    assert is_symbolic(sample_call(f("s0")))
    assert not is_symbolic(sample_call(f(2)))
    assert isinstance(f("s0").shape[0], Expr)
