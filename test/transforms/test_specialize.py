"""`specialize`: sizes and dtypes that are pinned, and versions for some sizes, compute what the program does."""

# pyright: basic

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from bits import bits
from torch import nn
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.errors import ExirError
from xdsl_exir.program import Program, context

rng = np.random.default_rng(0)

SIZES = """
func.func @forward(%x: tensor<?x?xf32, #exir.shape<[s0, s1]>>) -> tensor<?xf32, #exir.shape<[s0*s1]>>
    attributes {exir.ranges = {s0 = #exir.range<2, 8>, s1 = #exir.range<0, inf>}, exir.guards = [!exir.symbool<ne(s0, s1)>]} {
  %0 = aten.sym_size.int(%x, dim = 0) : (tensor<?x?xf32, #exir.shape<[s0, s1]>>) -> !exir.symint<s0>
  %1 = aten.sym_size.int(%x, dim = 1) : (tensor<?x?xf32, #exir.shape<[s0, s1]>>) -> !exir.symint<s1>
  %2 = exir.sym_mul %0, %1 : (!exir.symint<s0>, !exir.symint<s1>) -> !exir.symint<s0*s1>
  %3 = aten.view(%x, size = [%2]) : (tensor<?x?xf32, #exir.shape<[s0, s1]>>, !exir.symint<s0*s1>) -> tensor<?xf32, #exir.shape<[s0*s1]>>
  func.return %3 : tensor<?xf32, #exir.shape<[s0*s1]>>
}"""


def test_symbols_are_pinned() -> None:
    made = Program(Parser(context().clone(), SIZES).parse_module()).verify()
    both = made.transform('specialize{symbols="s0=4","s1=3"},canonicalize')
    assert "%0 = aten.view(%x, size = [12]) : (tensor<4x3xf32>) -> tensor<12xf32>" in str(both)
    assert "s0" not in str(both)
    one = made.transform('specialize{symbols="s0=4"},canonicalize')
    assert "tensor<4x?xf32, #exir.shape<[4, s1]>>" in str(one)
    array = rng.standard_normal((4, 3)).astype(np.float32)
    expected = bits(xdsl_exir.compile(made).flat([array]))
    assert [bits(xdsl_exir.compile(each).flat([array])) for each in (both, one)] == [expected] * 2
    with pytest.raises(ExirError):
        xdsl_exir.compile(both).flat([array[:3]])


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ('"s0=9"', "s0 is 0 to 8, not 9"),
        ('"s0=4","s1=4"', "breaks a guard"),
        ('"s7=4"', "no symbol 's7'; there are s0, s1"),
        ('"s0=-1"', "is not SYMBOL=NUMBER"),
        ('"u0=1"', "'u0' depends on data"),
        ('"s0=4","s0=5"', "'s0' is 4, and 5"),
    ],
)
def test_symbols_that_cannot_be_pinned(symbols: str, message: str) -> None:
    made = Program(Parser(context().clone(), SIZES).parse_module())
    with pytest.raises(ExirError, match=message):
        made.transform(f"specialize{{symbols={symbols}}}")


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_versions_compute_the_same(target: str) -> None:
    """Those of the sizes named, of one of two that are named together, and of none."""
    made = Program(Parser(context().clone(), SIZES).parse_module()).verify()
    several = made.transform('specialize{versions="s0=2","s0=4 s1=3"},canonicalize')
    assert str(several).count("higher_order.cond") == 2
    assert "aten.view(%x, size = [12]) : (tensor<4x3xf32>)" in re.sub(r"%\d+", "%x", str(several))
    first, second = (xdsl_exir.compile(each.to_edge(), target=target) for each in (made, several))
    for shape in ((2, 3), (2, 7), (4, 3), (4, 5), (8, 0)):
        array = rng.standard_normal(shape).astype(np.float32)
        assert bits(second.flat([array])) == bits(first.flat([array]))
    with pytest.raises(ExirError):
        second.flat([np.resize(array, (9, 3))])


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ('"s0=9"', "s0 is 0 to 8, not 9"),
        ('"s0=4 s1=4"', "breaks a guard"),
        ('"s7=4"', "no symbol 's7'"),
        ('"s0=2",""', "names no symbol"),
    ],
)
def test_versions_that_cannot_be(versions: str, message: str) -> None:
    made = Program(Parser(context().clone(), SIZES).parse_module())
    with pytest.raises(ExirError, match=message):
        made.transform(f"specialize{{versions={versions}}}")


class Model(nn.Module):
    """Numbers, integers, a reduction in float32 and a buffer that is written to."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.norm = nn.LayerNorm(3)
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x: torch.Tensor, n: torch.Tensor) -> Any:
        y = self.norm(torch.relu(self.linear(x)) * 0.1)
        self.seen.add_(y.sum(0))
        return (
            y * 2 + n,
            torch.softmax(y, -1, dtype=torch.float32),
            torch.cond(n[0] > 0, torch.sin, torch.cos, (y,)),
        )


INPUTS = torch.linspace(-2, 2, 20).reshape(5, 4), torch.arange(3)


def exported(model: nn.Module, dtype: torch.dtype) -> Program:
    shapes = ({0: torch.export.Dim("batch", min=2, max=64)}, None)
    x, n = INPUTS
    with torch.no_grad():
        program = torch.export.export(model, (x.to(dtype), n), dynamic_shapes=shapes)
    return xdsl_exir.from_exported_program(program)


@pytest.mark.parametrize("name", ["bf16", "f16", "f64"])
def test_dtypes_are_as_if_exported_so(name: str) -> None:
    """The program is that of `model.to(dtype)`, and so are its results, bit by bit."""
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}[name]
    torch.manual_seed(0)
    model = Model()
    before = exported(model, torch.float32)
    pinned = before.transform(f'specialize{{dtypes="f32={name}"}}')
    assert {data.dtype.name for data in before.state.values()} == {"Float"}, (
        "a pass changed the program that it was given"
    )
    again = exported(model.to(dtype), dtype)
    assert str(pinned) == str(again)
    arrays = [value.numpy() for value in INPUTS]
    arrays[0] = arrays[0].astype(next(iter(again.state.values())).numpy().dtype)
    first, second = (xdsl_exir.compile(each) for each in (pinned, again))
    for _ in range(2):
        assert bits(first.flat(arrays)) == bits(second.flat(arrays))


NAMED = """
func.func @forward(%x: tensor<3xf32>, %y: tensor<3xf32>, %n: tensor<3xi64>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = aten.mul.Tensor(%x, %n) : (tensor<3xf32>, tensor<3xi64>) -> tensor<3xf32>
  %1 = aten.add.Tensor(%0, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %0, %1 : tensor<3xf32>, tensor<3xf32>
}"""


def test_dtypes_by_name() -> None:
    made = Program(Parser(context().clone(), NAMED).parse_module())
    assert "-> (tensor<3xf16>, tensor<3xf32>)" in str(made.transform('specialize{dtypes="x=f16"}'))
    assert "-> (tensor<3xf16>, tensor<3xf64>)" in str(made.transform('specialize{dtypes="x=f16","f32=f64"}'))


@pytest.mark.parametrize(
    ("text", "dtypes", "message"),
    [
        (NAMED, '"z=f16"', "no method has an argument 'z'"),
        (NAMED, '"x=half"', "'x=half' is not NAME=DTYPE"),
        (NAMED, '"x"', "'x' is not NAME=DTYPE"),
        (NAMED, '"f32=f16","f32=bf16"', "'f32' is Half, and BFloat16"),
        (NAMED.replace("aten.", "edge.aten.").replace("%n: tensor<3xi64>", "%n: tensor<3xf32>").replace("tensor<3xi64>", "tensor<3xf32>"), '"x=f16"', "do this before `to_edge`"),
        (NAMED.replace("aten.mul.Tensor", "aten.bitwise_and.Tensor").replace("f32", "i64"), '"x=f32"', "'self' is Float; allowed"),
    ],
)  # fmt: skip
def test_dtypes_that_cannot_be_pinned(text: str, dtypes: str, message: str) -> None:
    made = Program(Parser(context().clone(), text).parse_module()).verify()
    with pytest.raises(ExirError, match=message):
        made.transform(f"specialize{{dtypes={dtypes}}}")
