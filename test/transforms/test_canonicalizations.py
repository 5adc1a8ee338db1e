"""Canonicalizations, rule by rule: where each applies, where it is left alone, and that no bit of a result changes.

A case is what a rule is about, written as it is built, and how many operations are left of it in which kinds of dtypes. Every case is
run with both sides in all dtypes its operators take, on special values and on nothing, with sizes that are numbers and symbols.
"""

# pyright: basic

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from bits import bits
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.parser import Parser

from xdsl_exir.dialects import aten as aten_dialect
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Builder, Namespace, flat_results
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import tensor_type
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.interpreter import make_interpreter, run_function
from xdsl_exir.program import Program, context
from xdsl_exir.transforms.runnable import runnable

BOOLS = (dt.Bool,)
INTS = (dt.Byte, dt.Char, dt.Short, dt.Int, dt.Long)
FLOATS = (dt.Half, dt.BFloat16, dt.Float, dt.Double)
COMPLEX = (dt.ComplexFloat, dt.ComplexDouble)
EVERY = (*BOOLS, *INTS, *FLOATS, *COMPLEX)
REALS = (*INTS, *FLOATS)
NUMBERS = (*INTS, *FLOATS, *COMPLEX)

OF_A_KIND = (dt.Bool, dt.Byte, dt.Long, dt.BFloat16, dt.Float, dt.ComplexFloat)
"""Dtypes that are tried with nothing and with symbolic sizes as well."""

Rule = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """What is built of `x` and `y`, of one dtype, and in which dtypes how many operations are left of it; in others all are."""

    build: Rule
    dtypes: tuple[DType, ...] = EVERY
    left: int = 0
    gone: tuple[DType, ...] = ()
    """Dtypes in which none is left."""
    y: tuple[int, ...] | None = None
    """The shape of `y` where it is another than that of `x`."""
    symbolic: bool = True
    """Whether it may be built with a symbolic first size."""


CASES: dict[str, Case] = {
    "times 1": Case(lambda aten, x: aten.mul.Tensor(x, 1), REALS),
    "1 times": Case(lambda aten, x: aten.mul.Tensor(aten.builder.constant(1, dt.Int), x), REALS),
    "times 1.0": Case(lambda aten, x: aten.mul.Tensor(x, 1.0), FLOATS),
    "times -1": Case(lambda aten, x: aten.mul.Tensor(x, -1), ()),
    "times 0": Case(lambda aten, x: aten.mul.Tensor(x, 0), (*BOOLS, *INTS), symbolic=False),
    "times two numbers": Case(lambda aten, x: aten.mul.Tensor(aten.mul.Tensor(x, 100), 77), INTS, 1),
    "over 1": Case(lambda aten, x: aten.div.Tensor(x, 1), FLOATS),
    "over 1, floored": Case(lambda aten, x: aten.div.Tensor_mode(x, 1, rounding_mode="floor"), INTS),
    "plus 0": Case(lambda aten, x: aten.add.Tensor(x, 0), INTS),
    "plus False": Case(lambda aten, x: aten.add.Tensor(x, False), (*BOOLS, *INTS)),
    "plus 0.0": Case(lambda aten, x: aten.add.Tensor(x, 0.0), ()),
    "plus -0.0": Case(lambda aten, x: aten.add.Tensor(x, -0.0), FLOATS),
    "plus -1 times 0": Case(lambda aten, x: aten.add.Tensor(x, 0, alpha=-1), REALS),
    "plus 7 times 0": Case(lambda aten, x: aten.add.Tensor(x, 0, alpha=7), INTS),
    "-0.0 plus": Case(lambda aten, x: aten.add.Tensor(aten.builder.constant(-0.0, dt.Half), x), (dt.Half, dt.BFloat16, dt.Float, dt.Double)),
    "plus two numbers": Case(lambda aten, x: aten.add.Tensor(aten.add.Tensor(x, 100, alpha=2), 77), INTS, 1),
    "minus 0": Case(lambda aten, x: aten.sub.Tensor(x, 0), REALS),
    "minus -0.0": Case(lambda aten, x: aten.sub.Tensor(x, -0.0), ()),
    "minus -1 times 0": Case(lambda aten, x: aten.sub.Tensor(x, 0, alpha=-1), INTS),
    "minus itself": Case(lambda aten, x: aten.sub.Tensor(x, x), INTS, symbolic=False),
    "to the 1": Case(lambda aten, x: aten.pow.Tensor_Scalar(x, 1), REALS),
    "to the 0": Case(lambda aten, x: aten.pow.Tensor_Scalar(x, 0), (*BOOLS, *REALS), symbolic=False),
    "- -": Case(lambda aten, x: aten.neg(aten.neg(x)), NUMBERS),
    "not not": Case(lambda aten, x: aten.logical_not(aten.logical_not(x)), BOOLS),
    "bits not not": Case(lambda aten, x: aten.bitwise_not(aten.bitwise_not(x)), (*BOOLS, *INTS)),
    "relu relu": Case(lambda aten, x: aten.relu(aten.relu(x)), REALS, 1),
    "floor floor": Case(lambda aten, x: aten.floor(aten.floor(x)), REALS, 1),
    "clamp clamp": Case(lambda aten, x: aten.clamp(aten.clamp(x, -1, 2), -1, 2), (*BOOLS, *REALS), 1),
    "clamp crossed": Case(lambda aten, x: aten.clamp(aten.clamp(x, 2, 1), 2, 1), (*BOOLS, *REALS), 1),
    "clamp to other limits": Case(lambda aten, x: aten.clamp(aten.clamp(x, -1, 2), -1, 3), ()),
    "clamp between zeros": Case(lambda aten, x: aten.clamp(aten.clamp(x, -0.0), 0.0), ()),
    "clamp to y": Case(lambda aten, x, y: aten.clamp.Tensor(aten.clamp.Tensor(x, y), y), (*BOOLS, *REALS), 1),
    "abs abs": Case(lambda aten, x: aten.abs(aten.abs(x)), NUMBERS, 1),
    "abs -": Case(lambda aten, x: aten.abs(aten.neg(x)), (*INTS[1:], *FLOATS, *COMPLEX), 1),
    "maximum of itself": Case(lambda aten, x: aten.maximum(x, x), (*BOOLS, *REALS)),
    "and of itself": Case(lambda aten, x: aten.bitwise_and.Tensor(x, x), (*BOOLS, *INTS)),
    "logical and of itself": Case(lambda aten, x: aten.logical_and(x, x), BOOLS),
    "xor of itself": Case(lambda aten, x: aten.bitwise_xor.Tensor(x, x), ()),
    "and -1": Case(lambda aten, x: aten.bitwise_and.Tensor(x, -1), INTS),
    "and 1": Case(lambda aten, x: aten.bitwise_and.Tensor(x, 1), ()),
    "or 0": Case(lambda aten, x: aten.bitwise_or.Scalar(x, 0), INTS),
    "xor False": Case(lambda aten, x: aten.bitwise_xor.Tensor(x, False), (*BOOLS, *INTS)),
    "logical and True": Case(lambda aten, x: aten.logical_and(x, aten.builder.constant(True, dt.Bool)), BOOLS),
    "clone": Case(lambda aten, x: aten.clone(aten.alias(aten.detach(x)))),
    "clone of a format": Case(lambda aten, x: aten.clone(x, memory_format="contiguous_format"), ()),
    "cast to itself": Case(lambda aten, x: aten._to_copy(x)),
    "cast there and back": Case(lambda aten, x: there_and_back(aten, x, dt.Double), (*BOOLS, *INTS[:4], *FLOATS)),
    "cast by way of float32": Case(lambda aten, x: there_and_back(aten, x, dt.Float), (*BOOLS, *INTS[:3], *FLOATS[:3])),
    "cast by way of int16": Case(lambda aten, x: there_and_back(aten, x, dt.Short), (*BOOLS, *INTS[:3])),
    "cast by way of bfloat16": Case(lambda aten, x: there_and_back(aten, x, dt.BFloat16), (*BOOLS, *INTS[:2], dt.BFloat16)),
    "cast to int64 and float16": Case(lambda aten, x: cast(aten, x, dt.Long, dt.Half), (*BOOLS, *INTS), 1),
    "cast to float64 and float16": Case(lambda aten, x: cast(aten, x, dt.Double, dt.Half), (*BOOLS, *INTS[:4], *FLOATS), 1, (dt.Half,)),
    "cast to float64 and int8": Case(lambda aten, x: cast(aten, x, dt.Double, dt.Char), (*BOOLS, dt.Char, dt.Double), 1, (dt.Char,)),
    "cast to float64 and bool": Case(lambda aten, x: cast(aten, x, dt.Double, dt.Bool), (*BOOLS, *INTS[:4], *FLOATS), 1, BOOLS),
    "where True": Case(lambda aten, x, y: aten.where.self(aten.builder.constant(True, dt.Bool), x, y)),
    "where False": Case(lambda aten, x, y: aten.where.self(aten.builder.constant(False, dt.Bool), x, y)),
    "where it is the same": Case(lambda aten, x: aten.where.self(aten.eq.Scalar(x, 1), x, x)),
    "where not": Case(lambda aten, x, y: aten.where.self(aten.logical_not(aten.eq.Scalar(x, 1)), x, y), EVERY, 2),
    "masked nowhere": Case(lambda aten, x: aten.masked_fill.Scalar(x, aten.builder.constant(False, dt.Bool), 1)),
    "dropout": Case(lambda aten, x: aten.dropout(x, 0.5, False)),
    "view of view": Case(lambda aten, x: aten.view(aten.view(x, [3, -1]), [-1, 4]), left=1, symbolic=False),
    "view of unsqueeze": Case(lambda aten, x: aten.reshape(aten.unsqueeze(x, 1), [-1]), left=1),
    "squeeze of unsqueeze": Case(lambda aten, x: aten.squeeze.dim(aten.unsqueeze(x, 1), 1)),
    "view and back": Case(lambda aten, x: aten.view(aten.view(x, [-1]), [4, 6]), symbolic=False),
    "expand of expand": Case(lambda aten, x: aten.expand(aten.expand(aten.unsqueeze(x, 0), [2, -1, -1]), [3, 2, -1, 6]), left=2, symbolic=False),
    "expand to itself": Case(lambda aten, x: aten.expand(x, [-1, 6])),
    "repeat once": Case(lambda aten, x: aten.repeat(x, [1, 1])),
    "t t": Case(lambda aten, x: aten.t(aten.t(x))),
    "permute of transpose": Case(lambda aten, x: aten.permute(aten.transpose.int(aten.unsqueeze(x, 0), 0, -1), [2, 0, 1]), left=2),
    "permute of mT": Case(lambda aten, x: aten.permute(aten.mT(x), [-1, 0])),
    "permute of nothing": Case(lambda aten, x: aten.permute(x, [0, -1])),
    "flip flip": Case(lambda aten, x: aten.flip(aten.flip(x, [0, 1]), [-1, 0])),
    "flip one, flip both": Case(lambda aten, x: aten.flip(aten.flip(x, [0]), [0, 1]), left=1),
    "slice of all": Case(lambda aten, x: aten.slice.Tensor(x, 0, 0, 1 << 62), symbolic=False),
    "slice of slice": Case(lambda aten, x: aten.slice.Tensor(aten.slice.Tensor(x, 1, 1, 6, 2), -1, -2, None), left=1),
    "slice of other slice": Case(lambda aten, x: aten.slice.Tensor(aten.slice.Tensor(x, 0, 1, 3), 1, 1, None), (), symbolic=False),
    "empty slice of slice": Case(lambda aten, x: aten.slice.Tensor(aten.slice.Tensor(x, 1, 1, 6, 2), 1, 3, 2), left=1),
    "select of stack": Case(lambda aten, x, y: aten.select.int(aten.stack([x, y], -1), 2, -1)),
    "select of unsqueeze": Case(lambda aten, x: aten.select.int(aten.unsqueeze(x, 0), 0, 0)),
    "split into one": Case(lambda aten, x: aten.split_with_sizes(x, [6], 1)),
    "cat of one": Case(lambda aten, x: aten.cat([x], 1)),
    "cat of cat": Case(lambda aten, x, y: aten.cat([x, aten.cat([y, x], 1)], -1), left=1),
    "cat of cat the other way": Case(lambda aten, x, y: aten.cat([aten.cat([x, y], 1), aten.cat([y, x], 1)], 0), (), symbolic=False),
    "cat of nothing": Case(lambda aten, x, y: aten.cat([x, y], 1), y=(4, 0), symbolic=False),
    "pad by nothing": Case(lambda aten, x: aten.constant_pad_nd(x, [0, 0, 0, 0], 1)),
    "pad of pad": Case(lambda aten, x: aten.constant_pad_nd(aten.constant_pad_nd(x, [1, 2], 1), [0, 1, 2, 3], 1), left=1),
    "pad of other pad": Case(lambda aten, x: aten.constant_pad_nd(aten.constant_pad_nd(x, [1, 2], 1), [0, 1], 0), ()),
    "pad of cut": Case(lambda aten, x: aten.constant_pad_nd(aten.constant_pad_nd(x, [-1, 2], 1), [1, 0], 1), ()),
    "amax of one": Case(lambda aten, x: aten.amax(aten.unsqueeze(x, 1), [1]), (*BOOLS, *REALS)),
    "tril of tril": Case(lambda aten, x: aten.tril(aten.tril(x, 1), 1), left=1),
}  # fmt: skip


def cast(aten: Namespace, x: SSAValue, *dtypes: DType) -> SSAValue:
    for dtype in dtypes:
        x = aten._to_copy(x, dtype=dtype)
    return x


def there_and_back(aten: Namespace, x: SSAValue, dtype: DType) -> SSAValue:
    own = dt.BY_MLIR_TYPE[x.type.element_type]  # type: ignore[attr-defined]
    return cast(aten, x, dtype, own)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 1.5, -2.5, float("inf"), float("-inf"), float("nan"), 1e-45, 6e-8, 3e38, 7.0, 100.0, -77.0, 255.0,
           1e300, -1e-300, 0.1, 2.0, 65504.0, -3.0, 1e9, 2.0**53 + 2]  # fmt: skip


def values_of(dtype: DType, shape: tuple[int, ...], turn: int) -> Any:
    """Special values of a dtype, in this shape."""
    kind = dtype.numpy.kind
    with np.errstate(all="ignore"):
        if dtype is dt.Bool:
            some = np.array([True, False, True])
        elif kind in "iu":
            limits = np.iinfo(dtype.numpy)
            some = np.array([0, 1, 2, limits.max, limits.min, 7, limits.max - 1, 100], dtype.numpy)
        elif kind == "c":
            parts = np.array(SPECIAL)
            some = (parts + 0j).astype(dtype.numpy)
            some.imag = np.roll(parts, 5 + turn)
        else:
            some = (
                np.array(SPECIAL).astype(np.float32 if dtype.bits < 32 else dtype.numpy).astype(dtype.numpy)
            )
    return np.resize(np.roll(some, turn), shape)


def built(case: Case, dtype: DType, shape: Sequence[Any], y: Sequence[Any]) -> Program:
    """A program of one case."""
    block = Block(arg_types=[tensor_type(tuple(shape), dtype), tensor_type(tuple(y), dtype)])
    builder = Builder(aten_dialect.OPERATORS, block)
    count = case.build.__code__.co_argcount - 1
    results = flat_results(case.build(Namespace(builder), *block.args[:count]))
    block.add_op(ReturnOp(*results))
    types = ([arg.type for arg in block.args], [result.type for result in results])
    return Program(ModuleOp([FuncOp("forward", types, Region(block))]))


def operators_of(program: Program) -> list[str]:
    return [op.name for op in program.module.walk() if isinstance(op, OperatorOp)]


def run(program: Program, arrays: Sequence[Any]) -> list[Any]:
    return bits(run_function(make_interpreter(runnable(program.module), 0), "forward", tuple(arrays)))


def stages(program: Program) -> list[Program]:
    """The program as it is imported, and as edge where there is one for its dtypes."""
    try:
        return [program, program.to_edge()]
    except ExirError:
        return [program]


@pytest.mark.parametrize("name", CASES)
def test_rule(name: str) -> None:
    case, applied = CASES[name], set[DType]()
    for dtype in EVERY:
        for size in (4, 0, Expr.parse("s0")) if dtype in OF_A_KIND else (4,):
            if isinstance(size, Expr) and not case.symbolic:
                continue
            y = case.y or (size, 6)
            try:
                program = built(case, dtype, (size, 6), y)
                program.verify()
            except ExirError:
                continue  # not of this dtype, or not of nothing
            for number, stage in enumerate(
                stages(program) if size == 4 and dtype in OF_A_KIND else [program]
            ):
                simple = stage.transform("canonicalize")
                assert str(simple.transform("canonicalize")) == str(simple)
                for rows in (4, 0, 3) if isinstance(size, Expr) else (size,):
                    shapes = [tuple(rows if isinstance(s, Expr) else s for s in of) for of in ((size, 6), y)]
                    arrays = [values_of(dtype, tuple(shape), turn) for turn, shape in enumerate(shapes)]
                    try:
                        expected = run(stage, arrays)
                    except ExirError:
                        continue  # PyTorch leaves it open
                    assert run(simple, arrays) == expected, f"{dtype} {shapes}\n{stage}\n{simple}"
                if not number and size != 0:
                    left, before = operators_of(simple), operators_of(stage)
                    expected_left = (
                        0 if dtype in case.gone else case.left if dtype in case.dtypes else len(before)
                    )
                    assert len(left) == expected_left, f"{dtype}\n{stage}\n{simple}"
                    applied.add(dtype)
    assert applied.issuperset(case.dtypes), f"not tried: {set(case.dtypes) - applied}"


QUANTIZED = """
func.func @forward(%q: tensor<?x{t}, #exir.shape<[s0]>>) -> tensor<?x{t}, #exir.shape<[s0]>> {{
  %0 = quantized_decomposed.dequantize_per_tensor(%q, scale = {scale}, zero_point = {point}, quant_min = {low}, quant_max = {high}, dtype = {t}) : (tensor<?x{t}, #exir.shape<[s0]>>) -> tensor<?xf32, #exir.shape<[s0]>>
  %1 = quantized_decomposed.quantize_per_tensor(%0, scale = {scale}, zero_point = {point}, quant_min = {low}, quant_max = {high}, dtype = {t}) : (tensor<?xf32, #exir.shape<[s0]>>) -> tensor<?x{t}, #exir.shape<[s0]>>
  func.return %1 : tensor<?x{t}, #exir.shape<[s0]>>
}}"""


@pytest.mark.parametrize("dtype", [dt.Char, dt.Byte, dt.Short, dt.UInt16], ids=str)
@pytest.mark.parametrize("scale", [0.1, 1 / 3, 2.0**-100, 1.1e30, 1e-45, 3e38])
def test_numbers_that_are_quantized_again(dtype: DType, scale: float) -> None:
    """Every number of each dtype, with zero points near and far. Extreme scales lose numbers, so there nothing is left out."""
    limits = np.iinfo(dtype.numpy)
    every = np.arange(limits.min, limits.max + 1).astype(dtype.numpy)
    for point in (3, -(1 << 20), 1 << 23):
        text = QUANTIZED.format(
            t=dtype.mlir_type, scale=f"{scale:.17e}", point=point, low=limits.min, high=limits.max
        )
        program = Program(Parser(context().clone(), text).parse_module())
        simple = program.transform("canonicalize")
        is_exact = 2.0**-100 <= scale <= 2.0**100 and point < 1 << 23
        assert len(operators_of(simple)) == (0 if is_exact else 2)
        with np.errstate(all="ignore"):
            assert run(simple, [every]) == run(program, [every])
