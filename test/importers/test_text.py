"""Floats in dense literals that are written as their bits, as infinities are, and numbers that six digits do not say."""

from __future__ import annotations

import math
from typing import Any

import pytest
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from xdsl_exir.errors import LoadError
from xdsl_exir.importers.mlir import read_module


def constant(literal: str) -> Any:
    """The attribute of a constant."""
    module = read_module(f"func.func @f() {{\n  %0 = arith.constant {literal}\n  func.return\n}}", "text")
    [op] = [op for op in module.walk() if isinstance(op, ConstantOp)]
    return op.value


@pytest.mark.parametrize(
    ("literal", "values"),
    [
        ("dense<0x4B400000> : tensor<2xf32>", [12582912.0] * 2),
        ("dense<[0x7F800000, 1.0, -2.5, 3]> : tensor<4xf32>", [math.inf, 1.0, -2.5, 3.0]),
        ("dense<[0x7F80, 0.5]> : vector<2xbf16>", [math.inf, 0.5]),
        ("dense<[0x7C00, 0x0001]> : tensor<2xf16>", [math.inf, 2.0**-24]),
        ("dense<0xFFF0000000000000> : tensor<1xf64>", [-math.inf]),
        ("dense<[(0x7F800000, 1.0), (0.5, 2.0)]> : tensor<2xcomplex<f32>>", [(math.inf, 1.0), (0.5, 2.0)]),
        ("dense<[0x10, 3]> : tensor<2xi32>", [16, 3]),
        ("dense<[(0x10, 2)]> : tensor<1xcomplex<i32>>", [(16, 2)]),
        ("dense<[true, false]> : tensor<2xi1>", [-1, 0]),
    ],
)
def test_literals(literal: str, values: list[Any]) -> None:
    attr = constant(literal)
    assert isinstance(attr, DenseIntOrFPElementsAttr)
    assert list(attr.get_values()) == values
    assert list(constant(str(attr)).get_values()) == list(attr.get_values()), "as it is written"


def test_one_that_is_no_number() -> None:
    [value] = constant("dense<0x7FC00000> : tensor<1xf32>").get_values()
    assert math.isnan(value)


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        ("dense<0x17F800000> : tensor<2xf32>", "0x17f800000 has more bits than f32"),
        ("dense<[(1, 2.0)]> : tensor<1xcomplex<f32>>", "a complex number is two of one kind"),
        ("dense<[(1, 2, 3)]> : tensor<1xcomplex<f32>>", "a complex number is two of one kind"),
        ("dense<[(1.0, 2.0)]> : tensor<1xf32>", "No conversion from complex to float"),
    ],
)
def test_refused(literal: str, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        constant(literal)


@pytest.mark.parametrize("kind", ["memref", "tensor"])
def test_copies_of_complex_numbers(kind: str) -> None:
    type = f"{kind}<2xcomplex<f64>>"
    made, result = ("%2 = ", f" -> {type}") if kind == "tensor" else ("", "")
    text = f"func.func @f(%0 : {type}, %1 : {type}) {{\n  {made}linalg.copy ins(%0 : {type}) outs(%1 : {type}){result}\n  func.return\n}}"
    read = read_module(text, "text")
    assert str(read_module(str(read), "text")) == str(read)
