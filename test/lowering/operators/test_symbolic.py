"""Assertions about what is known at compile time: nothing is left of them; what has to raise later is `cf.assert`."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import program_of, run, run_native  # noqa: E402
from interpreter.operators.test_symbolic import ITEMS  # noqa: E402
from xdsl.context import Context  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402
from xdsl.dialects.func import FuncOp, ReturnOp  # noqa: E402
from xdsl.ir import Block, Region  # noqa: E402

from xdsl_exir.dialects import aten  # noqa: E402
from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.tensors import tensor_type  # noqa: E402
from xdsl_exir.errors import ExirError, UnsupportedError  # noqa: E402
from xdsl_exir.lowering.edge_to_linalg import EdgeToLinalg  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

X = torch.arange(12.0).reshape(3, 4)

PASSES: list[tuple[Any, ...]] = [
    ("aten._assert_tensor_metadata", X),
    ("aten._assert_tensor_metadata", X, [3, 4], [4, 1], torch.float32),
    ("aten._assert_tensor_metadata", X.bfloat16(), None, None, torch.bfloat16),
    ("aten._assert_tensor_metadata", X.to(torch.uint16), None, None, torch.uint16),
    ("aten._assert_tensor_metadata", X.to(torch.uint64), None, None, torch.uint64),
    ("aten._assert_tensor_metadata", X > 0, None, None, torch.bool),
    ("aten._assert_tensor_metadata", torch.tensor(1), [], None, torch.int64),
    ("aten._assert_tensor_metadata", X[:0], [0, 4], None, None),
    ("aten._assert_scalar", True, "bad"),
    ("aten._assert_scalar", 0.5, "bad"),
    ("aten.sym_constrain_range", 5),
    ("aten.sym_constrain_range_for_size", 0),
]
FAILS: list[tuple[Any, ...]] = [
    ("the message", "aten._assert_scalar", 0, "the message"),
    ("-1 is not between 0 and inf", "aten.sym_constrain_range_for_size", -1),
]


def edge_program(name: str, *args: Any) -> tuple[ModuleOp, list[Any]]:
    module, tensors = program_of(name, *args)
    DecomposeAten().apply(Context(), module)
    AtenToEdge().apply(Context(), module)
    return module, tensors


@pytest.mark.parametrize("call", PASSES, ids=lambda call: call[0])
def test_nothing_is_left(call: tuple[Any, ...]):
    module, tensors = edge_program(*call)
    assert run_native(module, tensors) == ()
    EdgeToLinalg().apply(Context(), module)
    assert [op.name for op in module.walk()] == ["builtin.module", "func.func", "func.return"]


@pytest.mark.parametrize("flag", [torch.tensor(True), torch.tensor([[3]]), torch.tensor([2.5])])
def test_an_assertion_about_data_is_left(flag: torch.Tensor):
    module, _ = edge_program("aten._assert_async.msg", flag, "bad")
    EdgeToLinalg().apply(Context(), module)
    [asserted] = [op for op in module.walk() if op.name == "cf.assert"]
    assert isinstance(asserted.parent_op(), FuncOp)


@pytest.mark.parametrize("call", FAILS, ids=lambda call: call[1])
def test_fails_at_compile_time(call: tuple[Any, ...]):
    message, *arguments = call
    module, _ = edge_program(*arguments)
    with pytest.raises(ExirError, match=message):
        EdgeToLinalg().apply(Context(), module)


def test_a_whole_number_is_read():
    tensor, type = ITEMS[0]
    block = Block(arg_types=[tensor_type((), dt.Long)])
    op = aten.OPERATORS["aten.item"].from_bound({"self": block.args[0]}, [type])
    block.add_ops([op, ReturnOp(op.results[0])])
    module = ModuleOp([FuncOp("forward", ([block.args[0].type], [type]), Region(block))])
    for transform in (DecomposeAten(), AtenToEdge(), EdgeToLinalg()):
        transform.apply(Context(), module)
    assert run(module, [tensor]) == (7,)


@pytest.mark.parametrize(("tensor", "type"), ITEMS[1:])
def test_items_are_refused(tensor: torch.Tensor, type: Any):
    dtype = dt.BY_TORCH_NAME[str(tensor.dtype).removeprefix("torch.")]
    block = Block(arg_types=[tensor_type(tuple(tensor.shape), dtype)])
    op = aten.OPERATORS["aten.item"].from_bound({"self": block.args[0]}, [type])
    block.add_ops([op, ReturnOp(op.results[0])])
    module = ModuleOp([FuncOp("forward", ([block.args[0].type], [type]), Region(block))])
    DecomposeAten().apply(Context(), module)
    AtenToEdge().apply(Context(), module)
    with pytest.raises(UnsupportedError, match="_local_scalar_dense"):
        EdgeToLinalg().apply(Context(), module)
