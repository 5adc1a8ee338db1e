"""Dtype rules: promotion as PyTorch has it, the forms of spec entries, and the table against eager kernels."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtype_rules import DTYPE_SETS, dtype_set
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.named_rules import NAMED_RULES, expand
from xdsl_exir.dialects.promotion import NUMBER_DTYPE, DtypeError, Operand, promote_types, result_type
from xdsl_exir.dialects.schema import FunctionSchema
from xdsl_exir.dialects.spec import find, specs
from xdsl_exir.errors import SpecError

NUMBERS = (True, 2, 2.5, 2 + 1j)


def attempt(compute: Callable[[], Any], *refusals: type[Exception]) -> Any:
    """A result, or None where it is refused."""
    try:
        return compute()
    except refusals:
        return None


def rule_of(entry: dict[str, Any], schema: str = "aten::f(Tensor self, Tensor other) -> Tensor"):
    return expand(FunctionSchema.parse(schema), entry)


# --- promotion -----------------------------------------------------------------------------------------------


def test_promote_types_is_torch_promote_types():
    torch = pytest.importorskip("torch")
    ours_of = {getattr(torch, dtype.torch_name): dtype for dtype in dt.DTYPES}
    for a, b in itertools.product(ours_of, repeat=2):
        expected = ours_of.get(attempt(lambda a=a, b=b: torch.promote_types(a, b), RuntimeError))
        assert attempt(lambda a=a, b=b: promote_types(ours_of[a], ours_of[b]), DtypeError) is expected, (a, b)


def test_result_type_is_torch_result_type():
    torch = pytest.importorskip("torch")
    ours_of = {getattr(torch, dtype.torch_name): dtype for dtype in dt.DTYPES}
    values = [
        (Operand(ours, tier), torch.ones((2,) * (tier == 2), dtype=theirs))
        for theirs, ours in ours_of.items()
        for tier in (1, 2)
    ]
    values += [
        (Operand(dtype, 0), number) for dtype, number in zip(NUMBER_DTYPE.values(), NUMBERS, strict=True)
    ]
    for (a, x), (b, y) in itertools.product(values, repeat=2):
        expected = ours_of.get(attempt(lambda x=x, y=y: torch.result_type(x, y), RuntimeError))
        assert attempt(lambda a=a, b=b: result_type((a, b)), DtypeError) is expected, (a, b)


# --- forms ---------------------------------------------------------------------------------------------------


def test_named_rules_promote_or_not():
    tensors = [Operand(dt.Int, 2), Operand(dt.Float, 2)]
    arguments = dict(zip(("self", "other"), tensors, strict=True))
    assert rule_of({"rule": "promote"}).infer(arguments) == (dt.Float,)
    assert rule_of({"rule": "bool"}).infer(arguments) == (dt.Bool,)
    with pytest.raises(DtypeError):
        rule_of({"rule": "same"}).infer(arguments)
    integers = dict.fromkeys(("self", "other"), Operand(dt.Int, 2))
    assert rule_of({"rule": "int_to_float"}).infer(integers) == (dt.Float,)
    assert rule_of({"rule": "same"}).infer(integers) == (dt.Int,)


def test_types_are_of_the_computation_and_operands_of_the_operands():
    arguments = {"self": Operand(dt.Bool, 2), "other": Operand(dt.Int, 2)}
    assert rule_of({"rule": "promote", "types": "Real"}).infer(arguments) == (dt.Int,)
    strict = rule_of({"rule": "promote", "types": "Real", "operands": "Real"})
    with pytest.raises(DtypeError, match="'self' is Bool"):
        strict.infer(arguments)
    assert dt.Bool in rule_of({"rule": "promote", "types": "Real"}).allowed["self"]
    assert dt.Bool not in strict.allowed["self"]


def test_the_edge_reading_promotes_nothing():
    rule = rule_of({"rule": "promote"})
    assert rule.match({"self": dt.Int, "other": dt.Int}) == (dt.Int,)
    with pytest.raises(DtypeError, match="takes no"):
        rule.match({"self": dt.Int, "other": dt.Float})


def test_own_dtypes_and_results():
    rule = rule_of({"rule": "same", "other": ["Index"], "__ret_0": "to_real"})
    index = Operand(dt.Long, 2)
    assert rule.infer({"self": Operand(dt.Half, 2), "other": index}) == (dt.Half,)
    assert rule.infer({"self": Operand(dt.ComplexDouble, 2), "other": index}) == (dt.Double,)
    with pytest.raises(DtypeError, match="'other' is Float"):
        rule.infer({"self": Operand(dt.Half, 2), "other": Operand(dt.Float, 2)})


def test_dtype_argument():
    schema = "aten::f(Tensor self, *, ScalarType? dtype=None) -> Tensor"
    rule = rule_of({"rule": "dtype_or_same", "types": "FloatingComplex"}, schema)
    integer = Operand(dt.Int, 2)
    assert rule.infer({"self": integer, "dtype": dt.Double}) == (dt.Double,)
    for wrong in (None, dt.Int):
        with pytest.raises(DtypeError):
            rule.infer({"self": integer, "dtype": wrong})


@pytest.mark.parametrize(
    ("rule", "dtype", "numbers"),
    [
        ("Number", dt.Bool, "BLF"),
        ("Number", dt.ComplexFloat, "BLFC"),
        ("Fill", dt.Bool, "BLFC"),
        ("Fill", dt.Float, "BLF"),
        ("Alpha", dt.Bool, "BL"),
        ("Alpha", dt.Int, "L"),
        ("Alpha", dt.Half, "LF"),
    ],
)
def test_number_rules(rule: str, dtype: DType, numbers: str):
    table = rule_of({"rule": "same", "alpha": rule}, "aten::f(Tensor self, *, Scalar alpha=1) -> Tensor")
    accepted = ""
    for number in NUMBER_DTYPE.values():
        arguments = {"self": Operand(dtype, 2), "alpha": Operand(number, 0)}
        if attempt(lambda arguments=arguments: table.infer(arguments), DtypeError) is not None:
            accepted += number.name[0]
    assert accepted == numbers


def test_cases_hold_for_one_value_of_a_flag():
    entry = {"rule": "same", "types": "Floating", "when": [{"train": False, "rule": "same"}]}
    rule = rule_of(entry, "aten::f(Tensor self, bool train) -> Tensor")
    integer = Operand(dt.Int, 2)
    assert rule.infer({"self": integer, "train": False}) == (dt.Int,)
    with pytest.raises(DtypeError):
        rule.infer({"self": integer, "train": True})


def test_lists_of_their_own_dtypes_may_mix():
    schema = "aten::f(Tensor self, Tensor?[] indices) -> Tensor"
    mixed = {"self": Operand(dt.Half, 2), "indices": (Operand(dt.Long, 2), Operand(dt.Bool, 2))}
    assert rule_of({"rule": "same", "indices": ["Index", "Bool"]}, schema).infer(mixed) == (dt.Half,)
    with pytest.raises(DtypeError):
        rule_of({"rule": "same"}, "aten::f(Tensor[] indices) -> Tensor").infer({"indices": mixed["indices"]})


def test_norm_mixes_half_precision_with_float_parameters():
    rule = rule_of({"rule": "norm", "types": "Floating"}, "aten::f(Tensor x, Tensor? w) -> (Tensor, Tensor)")
    half, single = Operand(dt.Half, 2), Operand(dt.Float, 2)
    assert rule.infer({"x": half, "w": half}) == (dt.Half, dt.Half)
    assert rule.infer({"x": half, "w": single}) == (dt.Half, dt.Float)
    assert rule.infer({"x": half}) == (dt.Half, dt.Half)
    with pytest.raises(DtypeError):
        rule.infer({"x": single, "w": half})


def test_cases_hold_for_ranks():
    schema = "aten::f(Tensor self, Tensor? weight) -> Tensor"
    entry = {
        "rule": "same",
        "when": [{"weight.dim": 0, "rule": "promote"}, {"weight.dim": None, "rule": "bool"}],
    }
    rule = rule_of(entry, schema)
    half = Operand(dt.Half, 2)
    assert rule.infer({"self": half}) == (dt.Bool,)
    assert rule.infer({"self": half, "weight": Operand(dt.Double, 1)}) == (dt.Half,)
    with pytest.raises(DtypeError):
        rule.infer({"self": half, "weight": Operand(dt.Double, 2)})


def test_dtypes_before_promotion():
    rule = rule_of({"rule": "promote", "before": [{"self": "t", "other": "t"}, {"self": "Double"}]})
    single, double = Operand(dt.Float, 2), Operand(dt.Double, 2)
    assert rule.infer({"self": single, "other": single}) == (dt.Float,)
    assert rule.infer({"self": double, "other": single}) == (dt.Double,)
    with pytest.raises(DtypeError):
        rule.infer({"self": single, "other": double})


def test_promotion_without_tiers():
    arguments = {"self": Operand(dt.Double, 1), "other": Operand(dt.Float, 2)}
    assert rule_of({"rule": "promote"}).infer(arguments) == (dt.Float,)
    assert rule_of({"rule": "promote_types"}).infer(arguments) == (dt.Double,)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"rule": "nonsense"}, "not a dtype rule"),
        ({"rule": "same", "types": "Nonsense"}, "not a dtype or set"),
        ({"rule": "same", "third": ["Float"]}, "no argument 'third'"),
        ({"type_constraint": [{"self": "T0", "__ret_0": "T0"}]}, "'T0' is not a type alias"),
        ({"rule": "same", "when": [{"rule": "same"}]}, "one flag"),
    ],
)
def test_bad_entries(entry: dict[str, Any], message: str):
    with pytest.raises(SpecError, match=message):
        rule_of(entry)


@pytest.mark.parametrize("name", sorted(NAMED_RULES))
def test_named_rules_are_described(name: str):
    assert NAMED_RULES[name].doc


@pytest.mark.parametrize("name", sorted(DTYPE_SETS))
def test_dtype_sets_name_themselves(name: str):
    assert dtype_set(name) == DTYPE_SETS[name]
    assert dtype_set([name, "Float"]).count(dt.Float) == 1


def with_rules() -> list[str]:
    table = specs()
    return [
        name
        for name, spec in table.items()
        if any(item.type.is_tensor for item in (*spec.schema.arguments, *spec.schema.returns))
    ]


def test_every_operator_on_tensors_has_a_rule():
    assert [name for name in with_rules() if find(name).dtype_rule is None] == []


def test_rows_written_out_are_the_same_rule():
    # The form of ExecuTorch's edge.yaml reads back as the rule it came from.
    for name in with_rules():
        spec = find(name)
        rule = spec.dtype_rule
        assert rule is not None
        again = expand(spec.schema, rule.to_yaml())
        assert (again.rows, again.promotes, again.operands, again.tiered) == (
            rule.rows,
            rule.promotes,
            rule.operands,
            rule.tiered,
        ), name
        assert again.allowed == rule.allowed, name


# --- against eager -------------------------------------------------------------------------------------------

PARTS = 16
STEP = 11


@pytest.mark.parametrize("part", range(PARTS))
def test_rules_are_exact(part: int, figures: Callable[[str], None]):
    """No valid combination of dtypes is rejected and no invalid one accepted, for every overload that reaches edge. Of all
    combinations a part is tried here; `python test/dtype_sweep.py` tries all."""
    pytest.importorskip("torch")
    import dtype_sweep

    names = dtype_sweep.with_rules()[part::PARTS]
    total = dtype_sweep.sweep(names, step=STEP)
    figures(total.line())
    assert not total.rejected, "\n".join(total.rejected[:40])
    assert not total.accepted, "\n".join(total.accepted[:40])
    assert sorted(set(names) - total.covered) == sorted(NOT_COMPARED.intersection(names))


NOT_COMPARED = frozenset({"aten.sym_size.int", "aten.sym_numel"})
"""Operators that take any dtype and whose results are no tensors."""


def test_numbers_stand_for_tensors_as_in_torch():
    torch = pytest.importorskip("torch")
    x = torch.ones(2)
    for name in with_rules():
        schema = find(name).schema
        tensors = [argument for argument in schema.arguments if argument.type.is_tensor]
        if (
            schema.namespace != "aten"
            or len(schema.arguments) != 2
            or [a.type.is_list for a in tensors] != [False] * 2
        ):
            continue
        packet = getattr(torch.ops.aten, schema.name)
        op = getattr(packet, schema.overload or "default")
        takes = attempt(lambda op=op: op(x, 2), RuntimeError, NotImplementedError) is not None
        assert takes == schema.takes_numbers or schema.name in dtype_conversions(), name


def dtype_conversions() -> tuple[str, ...]:
    import dtype_sweep

    return dtype_sweep.CONVERSIONS
