"""Dtype rules: promotion as PyTorch has it, the forms of spec entries, and the table against eager kernels."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtype_rules import (
    DTYPE_SETS,
    NAMED_RULES,
    NUMBER_DTYPE,
    DtypeError,
    Operand,
    dtype_set,
    expand,
    promote_types,
    result_type,
)
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.schema import FunctionSchema
from xdsl_exir.dialects.spec import find, specs
from xdsl_exir.errors import SpecError

TWELVE = dtype_set("All")
NUMBERS = (True, 2, 2.5, 2 + 1j)


def attempt(compute: Callable[[], Any], *refusals: type[Exception]) -> Any:
    """A result, or None where it is refused."""
    try:
        return compute()
    except refusals:
        return None


def rule_of(entry: dict[str, Any], schema: str = "aten::f(Tensor self, Tensor other) -> Tensor"):
    return expand(FunctionSchema.parse(schema), {"func": "aten::f", **entry})


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
        # complex32 is none of ours
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
        assert (again.rows, again.promotes, again.operands) == (rule.rows, rule.promotes, rule.operands), name
        assert again.allowed == rule.allowed, name


# --- against eager -------------------------------------------------------------------------------------------

# Not the generator's samples: other shapes, values and arguments. `T` stands for tensors of the given shapes, which
# are cast over all dtypes, two at a time; 0-dim tensors and numbers take the place of the second where "tiers" is said.
UNARY = """abs neg exp log sqrt rsqrt reciprocal sin cos tanh sigmoid erf relu gelu silu hardtanh:0,5 hardswish leaky_relu
elu softplus ceil floor round trunc sign square logical_not isnan bitwise_not clone alias sum mean amax argmax max min
any all var.default cumsum:0 softmax.int:-1 log_softmax.int:-1 _softmax:-1,False prod sort topk:1 tril nonzero
zeros_like ones_like permute:[1,0] view:[-1] flip:[0] repeat:[2,1] unsqueeze:0 native_dropout:0.5,True"""
BINARY = """add.Tensor sub.Tensor mul.Tensor div.Tensor floor_divide remainder.Tensor fmod.Tensor pow.Tensor_Tensor atan2
minimum maximum eq.Tensor ne.Tensor lt.Tensor ge.Tensor logical_and bitwise_and.Tensor bitwise_or.Tensor
bitwise_left_shift.Tensor hypot copysign.Tensor xlogy.Tensor gcd"""
SQUARE = "mm matmul linear"
SCALAR = """add.Scalar sub.Scalar mul.Scalar div.Scalar pow.Tensor_Scalar remainder.Scalar eq.Scalar lt.Scalar clamp_min
masked_fill fill.Scalar full_like"""


def overload(torch: Any, name: str) -> tuple[str, Any]:
    packet, _, rest = name.partition(".")
    op = getattr(getattr(torch.ops.aten, packet), rest or "default")
    return f"aten.{name.removesuffix('.default')}", op


def compare(name: str, op: Any, arguments: list[Any]) -> str | None:
    """How the rule and the kernel differ on some arguments, None where they do not."""
    import torch

    spec = find(name)
    rule = spec.dtype_rule
    assert rule is not None
    names = [argument.name for argument in spec.schema.arguments]
    seen: dict[str, Any] = {argument.name: argument.default for argument in spec.schema.arguments}
    seen |= dict(zip(names, arguments, strict=False))
    ours_of = {getattr(torch, known.torch_name): known for known in dt.DTYPES}

    def as_seen(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return Operand(ours_of[value.dtype], 2 if value.ndim else 1)
        if isinstance(value, torch.dtype):
            return ours_of[value]
        return value

    said: dict[str, Any] = {}
    for argument in spec.schema.arguments:
        value = as_seen(seen[argument.name])
        if argument.type.base in ("Scalar", "Tensor") and isinstance(value, bool | int | float | complex):
            value = Operand(ours_of[torch.result_type(value, value)], 0)
        if argument.name in rule.constrained and (value is not None or not argument.type.is_tensor):
            said[argument.name] = value
    ours = attempt(lambda: rule.infer(said), DtypeError)
    keywords = {"rounding_mode": arguments.pop()} if name.endswith("_mode") else {}
    result = attempt(
        lambda: op(*arguments, **keywords), RuntimeError, TypeError, IndexError, ZeroDivisionError
    )
    results = result if isinstance(result, tuple) else (result,)
    theirs = None if result is None else tuple(ours_of.get(item.dtype) for item in results)
    if theirs is not None and None in theirs:  # complex32
        theirs = None
    return None if ours == theirs else f"{name}({said}): {ours}, PyTorch {theirs}"


def tensors(torch: Any, shape: tuple[int, ...]) -> list[Any]:
    values = torch.arange(1, 1 + max(1, torch.Size(shape).numel())).reshape(shape)
    return [values.to(getattr(torch, dtype.torch_name)) for dtype in TWELVE]


def eager_cases(torch: Any) -> Iterator[tuple[str, Any, list[Any]]]:
    for item in UNARY.split():
        name, _, rest = item.partition(":")
        arguments = list(eval(f"[{rest}]"))
        for x in tensors(torch, (2, 3)):
            yield *overload(torch, name), [x, *arguments]
    for name in BINARY.split():
        # Only some operators take numbers for tensors.
        takes_numbers = (
            attempt(lambda name=name: overload(torch, name)[1](torch.ones(2), 2), RuntimeError) is not None
        )
        for x in tensors(torch, (2, 3)):
            others = [*tensors(torch, (3,)), *tensors(torch, ()), *(NUMBERS if takes_numbers else ())]
            for y in others:
                yield *overload(torch, name), [x, y]
        for x, y in itertools.product(tensors(torch, ()), tensors(torch, (2,))):
            yield *overload(torch, name), [x, y]
    for name in SQUARE.split():
        for x, y in itertools.product(tensors(torch, (2, 2)), repeat=2):
            yield *overload(torch, name), [x, y]
    for name in SCALAR.split():
        mask = [torch.tensor([True, False, True])] if name == "masked_fill" else []
        for x, number in itertools.product(tensors(torch, (2, 3)), NUMBERS):
            yield *overload(torch, "masked_fill.Scalar" if mask else name), [x, *mask, number]
    floats = tensors(torch, (4,))
    index = torch.tensor([1, 0])
    for x, i in itertools.product(floats, tensors(torch, (2,))):
        yield *overload(torch, "index_select"), [x, 0, i]
        yield *overload(torch, "embedding"), [x.reshape(4, 1), i]
        yield *overload(torch, "gather"), [x, 0, i]
    for x, y in itertools.product(tensors(torch, (2,)), repeat=2):
        yield *overload(torch, "scatter.src"), [x, 0, index, y]
        yield *overload(torch, "index_add"), [x, 0, index, y]
        yield *overload(torch, "where.self"), [torch.tensor([True, False]), x, y]
        yield *overload(torch, "native_layer_norm"), [x, [2], y, y, 1e-5]
        for mode in (None, "floor", "trunc"):
            yield *overload(torch, "div.Tensor_mode"), [x, y, mode]
    image, weight = tensors(torch, (1, 1, 4, 4)), tensors(torch, (1, 1, 2, 2))
    for x, w in itertools.product(image, weight):
        yield *overload(torch, "convolution"), [x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1]
    for x in image:
        yield *overload(torch, "max_pool2d_with_indices"), [x, [2, 2]]
        yield *overload(torch, "avg_pool2d"), [x, [2, 2]]


def computes_in_complex32(torch: Any, arguments: list[Any]) -> bool:
    """Whether float16 meets a complex number of a lower tier: only `eq` and `ne` take these, and we refuse them."""
    operands = [item for item in arguments[:2] if isinstance(item, torch.Tensor | complex)]
    return (
        len(operands) == 2 and attempt(lambda: torch.result_type(*operands), RuntimeError) is torch.complex32
    )


def test_rules_agree_with_kernels():
    torch = pytest.importorskip("torch")
    count, wrong = 0, []
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="ComplexHalf support is experimental")
        warnings.filterwarnings("ignore", message="Casting complex values to real")
        for name, op, arguments in eager_cases(torch):
            if computes_in_complex32(torch, arguments):
                continue
            count += 1
            difference = compare(name, op, arguments)
            if difference:
                wrong.append(difference)
    print(f"{count} calls, {len(wrong)} differ")
    assert count > 10_000
    assert not wrong, "\n".join(wrong[:40])
