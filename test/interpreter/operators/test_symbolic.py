"""Operators that give numbers, and assertions, against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, program_of, run  # noqa: E402
from xdsl.context import Context  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402
from xdsl.dialects.func import FuncOp, ReturnOp  # noqa: E402
from xdsl.ir import Block, Region  # noqa: E402

from xdsl_exir.dialects import aten  # noqa: E402
from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.expr import Expr  # noqa: E402
from xdsl_exir.dialects.meta import SHAPES  # noqa: E402
from xdsl_exir.dialects.spec import find, specs  # noqa: E402
from xdsl_exir.dialects.tensors import SymBoolType, SymFloatType, SymIntType, TensorMeta, tensor_type  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

X = torch.arange(12.0).reshape(3, 4)

PASSES: list[tuple[Any, ...]] = [
    ("aten.sym_size.int", X, 0),
    ("aten.sym_size.int", X, -1),
    ("aten.sym_numel", X),
    ("aten.sym_numel", X[:0]),
    ("aten.sym_numel", torch.tensor(1)),
    ("aten._assert_scalar", True, "bad"),
    ("aten._assert_scalar", 0.5, "bad"),
    ("aten._assert_async.msg", torch.tensor(True), "bad"),
    ("aten._assert_async.msg", torch.tensor([2.5]), "bad"),
    ("aten._assert_async.msg", torch.tensor([[3]]), "bad"),
    ("aten._assert_tensor_metadata", X),
    ("aten._assert_tensor_metadata", X, [3, 4], [4, 1], torch.float32),
    ("aten._assert_tensor_metadata", X.bfloat16(), None, None, torch.bfloat16),
    ("aten._assert_tensor_metadata", X.to(torch.uint16), None, None, torch.uint16),
    ("aten._assert_tensor_metadata", X.to(torch.uint64), None, None, torch.uint64),
    ("aten.sym_constrain_range", 5),
    ("aten.sym_constrain_range_for_size", 0),
]
FAILS: list[tuple[Any, ...]] = [
    ("aten._assert_scalar", 0, "the message"),
    ("aten._assert_async.msg", torch.tensor(False), "the message"),
    ("aten._assert_async.msg", torch.tensor([0.0]), "the message"),
    ("aten._assert_async.msg", torch.tensor([1, 0]), "ambiguous"),
    ("aten._assert_tensor_metadata", X, [3, 5], None, None, "expected sizes"),
    ("aten._assert_tensor_metadata", X, None, None, torch.int64, "dtype: Long"),
    ("aten.sym_size.int", X, 2, "dimension 2"),
    ("aten.sym_size.int", torch.tensor(1), 0, "dimension 0"),
]
RANGES = [(6, None), (None, 4), (0, 4)]
ITEMS = [
    (torch.tensor(7), SymIntType(Expr.symbol("u0"))),
    (torch.tensor([[2.5]], dtype=torch.bfloat16), SymFloatType(Expr.symbol("f0"))),
    (torch.tensor(True), SymBoolType(Expr.symbol("b0"))),
]


def test_every_operator_occurs() -> None:
    mine = {name for name, spec in specs().items() if spec.family == "symbolic"}
    tested = {call[0] for call in PASSES} | {"aten.item", "aten._local_scalar_dense", "aten._print"}
    assert mine <= tested


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    run(*program_of("aten._print", "a line"))
    assert capsys.readouterr().out == "a line\n"


@pytest.mark.parametrize("call", PASSES, ids=lambda call: call[0])
def test_passes(call: tuple[Any, ...]) -> None:
    check(*call)


@pytest.mark.parametrize("call", FAILS, ids=lambda call: call[0])
def test_fails(call: tuple[Any, ...]) -> None:
    message = call[-1]
    arguments = call if message == "the message" else call[:-1]
    if len(arguments) == 2 and "async" in call[0]:
        arguments = (*arguments, "bad")
    with pytest.raises(ExirError, match=message):
        run(*program_of(*arguments))


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("name", ["aten.sym_constrain_range", "aten.sym_constrain_range_for_size"])
def test_ranges(name: str, low: int | None, high: int | None) -> None:
    check(name, 5, min=0, max=9)
    with pytest.raises(ExirError, match="5 is not between"):
        run(*program_of(name, 5, min=low, max=high))


def test_a_size_is_not_negative() -> None:
    with pytest.raises(ExirError, match="-1 is not between 0 and inf"):
        run(*program_of("aten.sym_constrain_range_for_size", -1))


@pytest.mark.parametrize("name", ["aten.item", "aten._local_scalar_dense"])
@pytest.mark.parametrize(("tensor", "type"), ITEMS)
def test_item(name: str, tensor: torch.Tensor, type: Any) -> None:
    dtype = dt.BY_TORCH_NAME[str(tensor.dtype).removeprefix("torch.")]
    block = Block(arg_types=[tensor_type(tuple(tensor.shape), dtype)])
    op = aten.OPERATORS[name].from_bound({"self": block.args[0]}, [type])
    block.add_ops([op, ReturnOp(op.results[0])])
    function = FuncOp("forward", ([block.args[0].type], [type]), Region(block))
    module = ModuleOp([function])
    for transform in (None, DecomposeAten(), AtenToEdge()):
        if transform:
            transform.apply(Context(), module)
        module.verify()
        [result] = run(module, [tensor])
        assert result == tensor.item()
        assert isinstance(result, bool | int | float)
    assert next(op.name for op in function.body.block.ops) == "edge.aten._local_scalar_dense"


def test_item_of_several() -> None:
    block = Block(arg_types=[tensor_type((2,), dt.Float)])
    op = aten.OPERATORS["aten.item"].from_bound({"self": block.args[0]}, [SymFloatType(Expr.symbol("f0"))])
    block.add_ops([op, ReturnOp(op.results[0])])
    with pytest.raises(Exception, match="not one number"):
        op.verify()


def test_symbolic_sizes() -> None:
    s0 = Expr.symbol("s0")
    tensor = TensorMeta((s0, 8), dt.Float)

    def shape_of(name: str, **arguments: Any) -> Any:
        entry = SHAPES.find(find(name))
        assert entry is not None
        return entry.call(arguments)

    assert shape_of("aten.sym_size.int", self=tensor, dim=-2) == s0
    assert shape_of("aten.sym_numel", self=tensor) == s0 * 8
    assert shape_of("aten._assert_tensor_metadata", a=tensor, size=[4, 8]) is None
