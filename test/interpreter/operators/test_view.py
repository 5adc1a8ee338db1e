"""Every view operator against PyTorch: dtypes, negative dims and bounds, 0-dim and empty tensors, symbolic sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, compare, find_operator, flatten, program_of, run, to_numpy  # noqa: E402
from xdsl.context import Context  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402
from xdsl.dialects.func import FuncOp, ReturnOp  # noqa: E402
from xdsl.ir import Block, Region  # noqa: E402

from xdsl_exir.dialects import aten  # noqa: E402
from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.builder import Builder, Namespace, flat_results  # noqa: E402
from xdsl_exir.dialects.expr import Dim, Expr  # noqa: E402
from xdsl_exir.dialects.meta import SHAPES  # noqa: E402
from xdsl_exir.dialects.spec import find, specs  # noqa: E402
from xdsl_exir.dialects.tensors import TensorMeta, tensor_meta, tensor_type  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402
from xdsl_exir.interpreter.interpreter import make_interpreter, run_function  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402
from xdsl_exir.transforms.decompositions import joining, slicing, view  # noqa: E402
from xdsl_exir.transforms.decompositions.view import Sizes  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:torch.meshgrid")

MAX = (1 << 63) - 1


def t(*shape: int, dtype: torch.dtype = torch.float32, start: float = 1) -> torch.Tensor:
    """The numbers from `start` on, in this shape."""
    count = torch.Size(shape).numel()
    return (torch.arange(count) + start).to(dtype).reshape(shape)


X = t(2, 3, 4)
IMAGE = t(1, 2, 4, 5)
SCALAR = torch.tensor(7.0)
EMPTY = torch.zeros(2, 0, 3)
ONES = t(1, 3, 1)
HALF, BF16, BOOL, LONG, BYTE = torch.float16, torch.bfloat16, torch.bool, torch.int64, torch.uint8

Case = tuple[Any, ...]
"""Arguments of a call; a dict at the end holds keyword arguments."""

TABLE: dict[str, list[Case]] = {
    "view": [(X, [6, -1]), (X, [24]), (X, [2, -1, 2, 2]), (SCALAR, [1, 1]), (t(1), []), (EMPTY, [0, 7]), (EMPTY, [3, -1])],
    "_unsafe_view": [(X, [6, 4]), (t(4, dtype=BF16), [2, -1])],
    "view_copy": [(X, [6, -1])],
    "reshape": [(X, [-1]), (X.transpose(0, 1), [6, 4]), (SCALAR, [-1]), (EMPTY, [-1])],
    "view_as": [(X, t(4, 6)), (SCALAR, t(1))],
    "reshape_as": [(X, t(4, 6, dtype=LONG))],
    "ravel": [(X,), (SCALAR,)],
    "permute": [(X, [2, 0, 1]), (X, [-1, 0, 1]), (SCALAR, []), (t(2, 3, dtype=torch.complex64), [1, 0])],
    "permute_copy": [(X, [2, 1, 0])],
    "transpose.int": [(X, 0, -1), (X, 1, 1), (SCALAR, 0, -1), (t(2, 3, dtype=BOOL), 0, 1)],
    "t": [(t(2, 3),), (t(3),), (SCALAR,)],
    "numpy_T": [(t(2, 3),), (SCALAR,)],
    "mT": [(X,)],
    "swapaxes": [(X, 0, -1)],
    "swapdims": [(X, -2, 0)],
    "movedim.int": [(X, 0, 2), (X, -1, 0), (X, 1, 1)],
    "movedim.intlist": [(X, [0, 1], [2, 0]), (X, [-1], [0]), (X, [], [])],
    "moveaxis.int": [(X, 0, 2)],
    "moveaxis.intlist": [(X, [0, 1], [-1, 0])],
    "unsqueeze": [(X, 0), (X, -1), (X, 3), (SCALAR, 0), (SCALAR, -1)],
    "squeeze": [(ONES,), (X,), (SCALAR,), (t(1, 1),)],
    "squeeze.dim": [(ONES, 0), (ONES, -1), (ONES, 1), (SCALAR, 0), (SCALAR, -1)],
    "squeeze.dims": [(ONES, [0, 2]), (ONES, [1, -1]), (ONES, []), (SCALAR, [0])],
    "expand": [(ONES, [2, 3, 4]), (ONES, [5, -1, -1, 2]), (SCALAR, [2, 3]), (SCALAR, []), (ONES, [1, 3, 0]), (t(1, dtype=BF16), [3])],
    "expand_as": [(ONES, X)],
    "broadcast_to": [(ONES, [2, 3, 4])],
    "flatten.using_ints": [(X,), (X, 1), (X, 0, 1), (X, -2, -1), (X, 1, 1), (SCALAR,), (EMPTY,)],
    "unflatten.int": [(X, 2, [2, -1]), (X, -1, [4, 1]), (t(6), 0, [-1]), (EMPTY, 1, [0, 5])],
    "slice.Tensor": [
        (X,), (X, 1, 1, 2), (X, 2, -3, -1), (X, -1, None, None, 2), (X, 2, 1, MAX, 2), (X, 2, -MAX, MAX), (X, 2, 3, 1),
        (X, 2, 10, 20), (X, 2, -10, 2), (EMPTY, 1, 0, 5), (X, 2, 1, None, 5), (t(5, dtype=BF16), 0, 1, 3),
    ],
    "select.int": [(X, 1, -1), (X, -1, 0), (t(3), 0, 2), (t(3, dtype=BOOL), 0, -3)],
    "narrow": [(X, 1, 1, 2), (X, -1, -2, 1), (X, 2, 4, 0)],
    "split.Tensor": [(X, 2, 1), (X, 3, -1), (X, 5), (EMPTY, 2, 1), (EMPTY, 0, 1), (X, 2, 2)],
    "split_with_sizes": [(X, [1, 2], 1), (X, [0, 4], -1), (X, [2])],
    "split.sizes": [(X, [1, 2, 0], 1)],
    "chunk": [(X, 2, 1), (X, 3, 2), (X, 7, -1), (X, 1), (EMPTY, 3, 1)],
    "unbind.int": [(X,), (X, -1), (t(3, dtype=LONG),), (EMPTY, 2)],
    "tensor_split.sections": [(X, 3, 2), (X, 5, 1), (X, 1)],
    "tensor_split.indices": [(X, [1, 2], 2), (X, [2, 1], -1), (X, [-1, 9], 1), (X, [])],
    "_chunk_cat": [([t(5, 3), t(2, 4)], 0, 2), ([t(5), t(2)], 0, 3), ([t(2, 3, 2), t(2, 5), t(2, 4, 1, 3)], 1, 2)],
    "resize": [(X, [2, 2]), (X, [4, 6]), (X, [0, 3]), (SCALAR, [1, 1])],
    "resize_as": [(X, t(3, 2)), (X, t(2, dtype=LONG))],
    "unsafe_split.Tensor": [(X, 2, 1)],
    "unsafe_chunk": [(X, 2, 1)],
    "unsafe_split_with_sizes": [(X, [1, 2], 1)],
    "narrow.Tensor": [(X, 1, torch.tensor(1), 2), (X, 1, torch.tensor(-2), 1)],
    "native_channel_shuffle": [(t(1, 6, 2, 3), 3)],
    "_neg_view": [(X,)],
    "view_as_complex_copy": [(t(3, 2),)],
    "cat": [
        ([X, X], 1), ([X], -1), ([torch.zeros(0), X], 2), ([torch.zeros(0), torch.zeros(0)],), ([t(2, 0), t(2, 3)], 1),
        ([t(2), t(3, dtype=LONG)],), ([t(2, dtype=HALF), t(3, dtype=BF16)],), ([t(2, dtype=BYTE), t(3, dtype=BOOL)],),
        ([t(2, dtype=torch.complex64), t(1)],), ([t(2, dtype=BF16), t(2, dtype=BF16)],),
        ([torch.zeros(0, dtype=torch.float64), t(2)],),
    ],
    "concat": [([X, t(2, 1, 4)], 1)],
    "stack": [([X, X],), ([X, X], 1), ([X, X, X], -1), ([SCALAR, SCALAR],), ([t(2), t(2, dtype=LONG)], -2), ([EMPTY, EMPTY], 1)],
    "repeat": [(X, [1, 2, 1]), (X, [3, 1, 1, 2]), (SCALAR, [2, 2]), (SCALAR, []), (X, [0, 1, 1])],
    "repeat_interleave.self_int": [(X, 2), (X, 3, 1), (X, 2, -1), (SCALAR, 2), (X, 0, 0)],
    "repeat_interleave.Tensor": [(torch.tensor([2, 0, 3]), {"output_size": 5})],
    "repeat_interleave.self_Tensor": [(X, torch.tensor([2, 0, 3]), 1, {"output_size": 5})],
    "tile": [(X, [2]), (X, [2, 1, 1, 1]), (SCALAR, [2]), (X, [])],
    "flip": [(X, [0, -1]), (X, []), (SCALAR, []), (SCALAR, [0]), (t(3, dtype=BF16), [0])],
    "roll": [(X, [1]), (X, [1, -1], [0, 2]), (X, [5], [1]), (X, [0], [1]), (X, [1, 1], [0, 0]), (EMPTY, [1], [1]), (SCALAR, [1])],
    "diagonal": [(X,), (X, 1, 0, 2), (X, -1, -1, 0), (X, 9), (t(3, 3, dtype=BF16), -2)],
    "diagonal_copy": [(X, 1, 1, 2)],
    "unfold": [(X, 2, 2, 1), (X, -1, 3, 2), (X, 1, 3, 1), (SCALAR, 0, 1, 1), (X, 2, 0, 1), (SCALAR, 0, 0, 1)],
    "as_strided": [(X, [2, 2], [1, 2], 3), (X, [3, 3], [1, 1]), (X, [], [], 5), (X, [0, 3], [99, 1]), (X, [2, 24], [0, 1])],
    "constant_pad_nd": [
        (X, [1, 2]), (X, [1, -1], 2.0), (X, [0, 0, -1, 1, 2, 0], -3), (X, []), (t(2, 3, dtype=LONG), [1, 1], 2.7),
        (t(2, dtype=BOOL), [1, 1], 2), (t(2, dtype=BF16), [1, 0], 0.1), (EMPTY, [1, 1, 1, 0]), (X, [-2, -2]),
    ],
    "pad": [
        (X, [1, 1]), (X, [1, 1], "constant", 1.5), (X, [2, 1], "reflect"), (IMAGE, [1, 2, 0, 3], "reflect"),
        (IMAGE, [1, 2, 3, 4], "replicate"), (IMAGE, [1, 2, 4, 0], "circular"), (X, [1, -1], "circular"),
        (X, [-1, 2], "circular"), (X, [4, 4], "circular"), (t(1, 2, 2, 2, 3), [1, 1, 2, 0, 1, 2], "circular"),
        (t(1, 2, 2, 2, 3), [1, 1, 1, 0, 1, 1], "reflect"), (X, [2, 1], "replicate"),
    ],
    "reflection_pad1d": [(X, [2, 1]), (t(2, 4), [0, 3]), (X, [-1, 2]), (t(2, 12), [9, 11]), (t(2, 4, dtype=BF16), [1, 1])],
    "reflection_pad2d": [(IMAGE, [1, 2, 3, 0]), (t(2, 3, 4), [3, 0, 1, 2])],
    "reflection_pad3d": [(t(1, 2, 2, 3, 4), [1, 3, 2, 0, 1, 1])],
    "replication_pad1d": [(X, [2, 5]), (t(2, 4), [0, 3])],
    "replication_pad2d": [(IMAGE, [1, 2, 3, 0]), (IMAGE, [-1, 2, 0, -1])],
    "replication_pad3d": [(t(1, 2, 2, 3, 4), [1, 3, 2, 0, 1, 1])],
    "hstack": [([X, X],), ([t(2), t(3)],), ([SCALAR, t(2)],)],
    "vstack": [([t(3), t(3)],), ([t(3), t(2, 3)],), ([SCALAR, SCALAR],)],
    "dstack": [([t(3), t(3)],), ([t(2, 3), t(2, 3)],), ([X, X],), ([SCALAR, SCALAR],)],
    "column_stack": [([t(3), t(3, 2)],), ([X, X],), ([SCALAR, SCALAR],)],
    "rot90": [(t(2, 3),), (t(2, 3), 2), (t(2, 3), -1), (t(2, 3), 4), (X, 1, [2, 0]), (X, 3, [-1, 0])],
    "fliplr": [(t(2, 3),)],
    "flipud": [(t(3),)],
    "slice_scatter": [
        (X, t(2, 1, 4, start=90), 1, 1, 2), (X, t(2, 3, 2, start=90), -1, None, None, 2), (X, t(2, 3, 2, start=90), 2, -2, MAX),
        (X, X, 0), (t(4, dtype=BF16), t(2, dtype=BF16, start=9), 0, 1, 3),
    ],
    "select_scatter": [(X, t(2, 4, start=90), 1, 0), (X, t(2, 3, start=90), -1, -1), (t(3, dtype=LONG), torch.tensor(9), 0, 1)],
    "diagonal_scatter": [(t(3, 4), t(3, start=90)), (X, t(3, 2, start=90), 1, 0, 2), (X.transpose(0, 1), t(4, 2, start=90), -1)],
    "as_strided_scatter": [(X, t(2, 2, start=90), [2, 2], [1, 2], 3), (X, t(2, start=90), [2], [5])],
    "pixel_shuffle": [(t(1, 8, 2, 3), 2), (t(4, 2, 2), 2), (t(2, 1, 9, 1, 2), 3)],
    "pixel_unshuffle": [(t(1, 2, 4, 6), 2), (t(1, 3, 3), 3)],
    "channel_shuffle": [(t(1, 6, 2, 3), 3), (t(1, 4, 2), 2)],
    "atleast_1d.Sequence": [([SCALAR, t(2, dtype=LONG), t(2, 3), X],), ([t(2)],)],
    "atleast_1d": [(SCALAR,), (t(2),)],
    "atleast_2d.Sequence": [([SCALAR, t(2, dtype=LONG), t(2, 3), X],), ([t(2)],)],
    "atleast_2d": [(SCALAR,), (t(2),), (X,)],
    "atleast_3d.Sequence": [([SCALAR, t(2, dtype=LONG), t(2, 3), X],), ([t(2)],)],
    "atleast_3d": [(SCALAR,), (t(2),), (t(2, 3),), (X,)],
    "meshgrid": [([t(2), t(3)],), ([SCALAR, t(3)],)],
    "meshgrid.indexing": [([t(2), t(3), t(4)], {"indexing": "xy"}), ([t(2), t(3)], {"indexing": "ij"}), ([t(2)], {"indexing": "xy"})],
    "broadcast_tensors": [([t(1, 2), t(3, 1)],), ([SCALAR, t(2)],), ([t(2), t(2)],), ([t(2, dtype=LONG), t(3, 1)],)],
    "pad_sequence": [
        ([t(2, 3), t(4, 3), t(1, 3)],), ([t(2), t(3)], True, -1.0), ([t(2, dtype=LONG), t(0, dtype=LONG)], False, 3.0, "left"),
    ],
    "block_diag": [([t(2, 3), t(2), SCALAR],), ([t(1, 2, dtype=LONG), t(1)],)],
    "alias_copy": [(X,)],
    "detach_copy": [(X,)],
    "view.dtype": [(X, torch.int32), (X, torch.float64), (X, BYTE), (t(2, dtype=BF16), torch.int16), (SCALAR, torch.int32)],
    "view_copy.dtype": [(X, HALF)],
    "mH": [(X,), (t(2, 3, dtype=torch.complex64) * 1j,)],
    "adjoint": [(X,), (t(2, 3, dtype=torch.complex64) * 1j,)],
    "matrix_H": [(t(2, 3),), (t(2, 3, dtype=torch.complex64) * 1j,)],
    "hsplit.int": [(X, 3), (t(4), 2)],
    "hsplit.array": [(X, [1, 2]), (t(4), [3])],
    "vsplit.int": [(X, 2)],
    "vsplit.array": [(X, [1])],
    "dsplit.int": [(X, 2)],
    "dsplit.array": [(X, [1, 3])],
    "diag": [(t(3),), (t(3, 4), 1), (t(3), -2), (t(2, 3, dtype=BOOL), -1)],
    "diagflat": [(X,), (t(3), 1), (SCALAR, -1)],
    "diag_embed": [(X,), (X, 1, 0, 2), (X, 1, 2, 0), (X, -2, -1, 1), (t(2, 0), 1), (t(2, dtype=BOOL),)],
    "diff": [(X,), (X, 2), (X, 9, 0), (X, 0), (X, 0, 1, X), (X, 1, 1, X[:, :1], X), (t(4, dtype=BOOL),), (t(4, dtype=BYTE), 1, -1, None, t(2, dtype=BYTE))],
    "view_as_real_copy": [(t(2, 3, dtype=torch.complex64) * 1j,)],
}  # fmt: skip


for _name, _operator in (view.OTHER_NAMES | slicing.OTHER_NAMES | joining.OTHER_NAMES).items():
    TABLE.setdefault(_name, TABLE.get(_operator, []))


def split_case(case: Case) -> tuple[Sequence[Any], dict[str, Any]]:
    return (case[:-1], case[-1]) if case and isinstance(case[-1], dict) else (case, {})


@pytest.mark.parametrize("name", TABLE)
def test_agrees(name: str):
    for case in TABLE[name]:
        args, kwargs = split_case(case)
        check(f"aten.{name}", *args, **kwargs)


@pytest.mark.parametrize("dtype", [torch.float64, HALF, BF16, LONG, torch.int8, BYTE, BOOL, torch.complex64])
def test_moves_any_dtype(dtype: torch.dtype):
    x = t(2, 3, 4, dtype=dtype)
    for name, *args in [
        ("view", [4, 6]), ("permute", [1, 2, 0]), ("expand", [2, 2, 3, 4]), ("slice.Tensor", 2, 1, 3), ("select.int", 0, 1),
        ("split_with_sizes", [1, 2], 1), ("repeat", [1, 2, 1]), ("flip", [1]), ("roll", [1], [2]), ("diagonal",),
        ("constant_pad_nd", [1, 1], 1), ("unfold", 2, 2, 1), ("as_strided", [3], [2]),
    ]:  # fmt: skip
        check(f"aten.{name}", x, *args)
    check("aten.cat", [x, x], 1)
    check("aten.slice_scatter", x, x[:, :1], 1, 2, 3)


def test_every_operator_occurs():
    families = {name for name, spec in specs().items() if spec.family in ("view", "slicing", "joining")}
    # test_indexing has what depends on the data.
    assert families == {f"aten.{name}" for name in [*TABLE, "tensor_split.tensor_indices_or_sections"]}


REFUSED: list[Case] = [
    ("view.dtype", t(3), torch.float64), ("view.dtype", SCALAR, torch.float64), ("mH", t(3)), ("matrix_H", X), ("adjoint", t(3)),
    ("hsplit.int", SCALAR, 1), ("vsplit.int", t(3), 1), ("dsplit.int", t(2, 3), 1), ("hsplit.int", X, 2), ("diag", X), ("diff", SCALAR),
    ("diag_embed", X, 0, 1, 1), ("diff", X, 1, 0, t(3)),
    ("view", X, [5, -1]), ("view", X, [-1, -1]), ("view", X, [24, -2]), ("view", X, [23]), ("view", EMPTY, [0, -1]),
    ("permute", X, [0, 1]), ("permute", X, [0, 1, 1]), ("permute", X, [0, 1, 3]), ("transpose.int", X, 0, 3), ("t", X),
    ("mT", t(3)), ("movedim.intlist", X, [0, 0], [1, 2]), ("movedim.intlist", X, [0], [1, 2]), ("unsqueeze", X, 4),
    ("squeeze.dim", X, 3), ("squeeze.dims", ONES, [0, 0]), ("expand", X, [3, 4]), ("expand", X, [2, 3, 5]),
    ("expand", X, [-1, 2, 3, 4]), ("flatten.using_ints", X, 2, 1), ("unflatten.int", X, 2, [3, -1]), ("slice.Tensor", X, 3),
    ("slice.Tensor", X, 0, 0, 1, 0), ("slice.Tensor", SCALAR), ("select.int", X, 0, 2), ("select.int", X, 0, -3),
    ("select.int", SCALAR, 0, 0), ("narrow", X, 0, 1, 2), ("narrow", X, 0, 0, -1), ("split.Tensor", X, 0),
    ("split.Tensor", X, -1), ("split_with_sizes", X, [1, 1], 1), ("split_with_sizes", X, [4, -1], 1), ("chunk", X, 0),
    ("tensor_split.sections", X, 0), ("unbind.int", SCALAR), ("cat", []), ("cat", [X, t(2)]), ("cat", [X, t(2, 3, 3)], 1),
    ("cat", [SCALAR, SCALAR]), ("cat", [X, X], 3), ("stack", []), ("stack", [t(2), t(3)]), ("repeat", X, [1, 1]),
    ("repeat", X, [1, 1, -1]), ("flip", X, [0, 0]), ("flip", X, [3]), ("roll", X, []), ("roll", X, [1, 1], [0]),
    ("diagonal", t(3)), ("diagonal", X, 0, 1, 1), ("unfold", X, 2, 5, 1), ("unfold", X, 2, 2, 0), ("as_strided", X, [25], [1]),
    ("as_strided", X, [2], [1, 1]), ("as_strided", X, [-1], [1]), ("constant_pad_nd", X, [1]), ("constant_pad_nd", X, [-3, -2]),
    ("constant_pad_nd", t(2), [1, 1, 1, 1]), ("constant_pad_nd", X, [-5, 3]), ("pad", X, [1, 1], "wrap"), ("pad", X, [1, 1], "reflect", 1.0),
    ("pad", t(4), [1, 1], "reflect"), ("pad", X, [5, 0], "circular"), ("reflection_pad1d", X, [4, 0]), ("reflection_pad2d", t(2, 3), [1, 1, 1, 1]),
    ("replication_pad1d", X, [-2, -2]), ("hstack", [t(2), t(2, 2)]), ("column_stack", [t(2), t(3, 1)]), ("rot90", t(3)),
    ("rot90", X, 1, [0, 0]), ("fliplr", t(3)), ("flipud", SCALAR), ("slice_scatter", X, t(2, 2, 4), 1, 1, 2),
    ("select_scatter", X, t(2, 3), 1, 0), ("select_scatter", X, t(2, 4), 1, 3), ("diagonal_scatter", t(3, 3), t(2)),
    ("as_strided_scatter", X, t(3), [2], [1]), ("pixel_shuffle", t(1, 3, 2, 2), 2), ("pixel_shuffle", t(4, 4), 2),
    ("pixel_unshuffle", t(1, 3, 3), 2), ("channel_shuffle", t(1, 3, 2), 2), ("meshgrid", [t(2, 2)]), ("broadcast_tensors", [t(2), t(3)]),
    ("broadcast_to", X, [3, 3, 4]), ("block_diag", [X]), ("pad_sequence", [t(2, 3), t(2, 4)]), ("tile", X, [-1]), ("repeat_interleave.self_int", X, -1),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[0])
def test_refuses_what_pytorch_refuses(case: Case):
    name, *args = case
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        find_operator(f"aten.{name}")(*args)
    with pytest.raises(ExirError):
        program_of(f"aten.{name}", *args)


def test_meshgrid_indexing_is_ij_or_xy():
    with pytest.raises(ExirError, match="'ij' or 'xy'"):
        program_of("aten.meshgrid.indexing", [t(2)], indexing="yx")


def test_repeats_decomposition_as_pytorch():
    module, tensors = program_of("aten.stack", [X, X], 1)
    DecomposeAten().apply(Context(), module)
    assert [op.name for op in module.walk()][2:-1] == ["aten.cat", "aten.view"]
    compare("stack", run(module, tensors)[0], torch.stack([X, X], 1))


# --- symbolic sizes ------------------------------------------------------------------------------------------

S, N = Expr.symbol("s0"), Expr.symbol("s1")


def shape_of(name: str, *shapes: Sequence[Dim], **arguments: Any) -> Any:
    """What a shape rule gives for tensors of these shapes."""
    spec = find(f"aten.{name}")
    metas = [TensorMeta(tuple(shape), dt.Float) for shape in shapes]
    names = [argument.name for argument in spec.schema.arguments]
    entry = SHAPES.find(spec)
    assert entry is not None
    given = (
        {names[0]: metas} if spec.schema.arguments[0].type.is_list else dict(zip(names, metas, strict=False))
    )
    defaults = {argument.name: argument.default for argument in spec.schema.arguments}
    return entry.call(defaults | given | arguments)


@pytest.mark.parametrize(
    ("name", "shapes", "arguments", "expected"),
    [
        ("view", [(S, 4)], {"size": [2, -1]}, (2, 2 * S)),
        ("view", [(S, 4)], {"size": [-1, 2]}, (2 * S, 2)),
        ("view", [(S, N, 4)], {"size": [S, N, 2, 2]}, (S, N, 2, 2)),
        ("flatten.using_ints", [(S, N, 4)], {}, (4 * S * N,)),
        ("slice.Tensor", [(S, 4)], {"end": MAX}, (S, 4)),
        ("slice.Tensor", [(S, 4)], {"start": -1}, (1, 4)),
        ("slice.Tensor", [(S + 3, 4)], {"start": 1}, (S + 2, 4)),
        ("slice.Tensor", [(2 * S,)], {"step": 2}, (S,)),
        ("slice.Tensor", [(S + 8,)], {"end": 5}, (5,)),
        ("slice.Tensor", [(S,)], {"end": -1}, (S - 1,)),
        ("slice.Tensor", [(8,)], {"end": S}, (Expr.parse("min(8, s0)"),)),
        ("chunk", [(2 * S, 3)], {"chunks": 2}, [(S, 3), (S, 3)]),
        ("split.Tensor", [(3 * S,)], {"split_size": S}, [(S,)] * 3),
        ("cat", [(S, 3), (N, 3), (2, 3)], {}, (S + N + 2, 3)),
        ("cat", [(S, 3), (4, 3)], {"dim": 1}, (4, 6)),
        ("stack", [(S,), (S,)], {"dim": -1}, (S, 2)),
        ("expand", [(S, 1)], {"size": [-1, N]}, (S, N)),
        ("repeat", [(S, 2)], {"repeats": [N, 1, 3]}, (N, S, 6)),
        ("constant_pad_nd", [(S, 2)], {"pad": [0, 1, 1, 1]}, (S + 2, 3)),
        ("unfold", [(S,)], {"dimension": 0, "size": 1, "step": 1}, (S, 1)),
        ("squeeze", [(S, 1)], {}, (S,)),
        ("pixel_shuffle", [(1, 4, S, N)], {"upscale_factor": 2}, (1, 1, 2 * S, 2 * N)),
    ],
)  # fmt: skip
def test_shapes_may_be_symbolic(name: str, shapes: Any, arguments: dict[str, Any], expected: Any):
    assert shape_of(name, *shapes, **arguments) == expected


def test_symbolic_shapes_are_refused_where_no_size_fits():
    with pytest.raises(ExirError, match="invalid"):
        shape_of("view", (S, 4), size=[S, 5])
    with pytest.raises(ExirError, match="number of results"):
        shape_of("unbind.int", (S, 4))


def symbolic_program(name: str, shapes: Sequence[Sequence[Dim]], *args: Any, **kwargs: Any) -> ModuleOp:
    """A program that calls the operator on tensors of these shapes, then on `args`."""
    block = Block(arg_types=[tensor_type(tuple(shape), dt.Float) for shape in shapes])
    builder = Builder(aten.OPERATORS, block)
    operands = [list(block.args)] if find(name).schema.arguments[0].type.is_list else list(block.args)
    flat = flat_results(builder.call(name, [*operands, *args], kwargs))
    block.add_op(ReturnOp(*flat))
    types = [value.type for value in flat]
    return ModuleOp([FuncOp("forward", ([arg.type for arg in block.args], types), Region(block))])


@pytest.mark.parametrize(
    ("name", "shapes", "tensors", "args"),
    [
        ("flatten.using_ints", [(S, N, 4)], [X], []),
        ("flatten.using_ints", [(S, 3, 4)], [X], [1]),
        ("unflatten.int", [(N, S, 4)], [X], [2, [2, -1]]),
        ("transpose.int", [(S, N, 4)], [X], [0, 1]),
        ("reshape", [(S, 3, 4)], [X], [[-1, 12]]),
        ("stack", [(S, 3), (S, 3)], [t(2, 3), t(2, 3)], [1]),
        ("expand_as", [(1, 3), (S, 3)], [t(1, 3), t(2, 3)], []),
        ("chunk", [(S,)], [t(7)], [2]),
        ("chunk", [(2 * S + 4,)], [t(8)], [2]),
        ("tensor_split.sections", [(S,)], [t(7)], [3]),
        ("roll", [(S, 3)], [t(4, 3)], [[5, 1], [0, 1]]),
        ("roll", [(S, N)], [t(4, 3)], [[1]]),
        ("repeat_interleave.self_int", [(S, N)], [t(2, 3)], [2, 1]),
        ("meshgrid", [(S,), (N,)], [t(2), t(3)], []),
        ("broadcast_tensors", [(S, 1), (1, N)], [t(2, 1), t(1, 3)], []),
        ("select_scatter", [(S, N), (N,)], [t(3, 2), t(2, start=9)], [0, -1]),
        ("reflection_pad2d", [(1, 1, S, N)], [t(1, 1, 4, 3)], [[1, 2, 3, 0]]),
        ("pad", [(1, S, N)], [t(1, 4, 3)], [[1, 2], "replicate"]),
        ("pixel_shuffle", [(1, 4, S, N)], [t(1, 4, 2, 3)], [2]),
        ("pixel_unshuffle", [(1, 1, 2 * S, 2 * N)], [t(1, 1, 4, 6)], [2]),
        ("channel_shuffle", [(S, 4, N, 1)], [t(2, 4, 3, 1)], [2]),
        ("block_diag", [(S, N), (2, 3)], [t(1, 2), t(2, 3)], []),
        ("pad_sequence", [(S, N), (2, N)], [t(1, 3), t(2, 3)], [True]),
        ("vstack", [(S,), (S,)], [t(2), t(2)], []),
        ("narrow", [(S, 3)], [t(4, 3)], [0, -2, 1]),
        ("constant_pad_nd", [(S, 3)], [t(4, 3)], [[1, 1]]),
        ("diagonal_copy", [(S, N)], [t(4, 3)], [-1]),
    ],
)  # fmt: skip
def test_decomposes_symbolic_sizes(name: str, shapes: Any, tensors: list[torch.Tensor], args: list[Any]):
    module = symbolic_program(f"aten.{name}", shapes, *args)
    DecomposeAten().apply(Context(), module)
    module.verify()
    taken = [tensors] if find(f"aten.{name}").schema.arguments[0].type.is_list else tensors
    expected = flatten(find_operator(f"aten.{name}")(*taken, *args))
    results = run_function(make_interpreter(module), "forward", tuple(map(to_numpy, tensors)))
    for index, (got, value) in enumerate(zip(results, expected, strict=True)):
        compare(f"{name}, result {index}", got, value)


@pytest.mark.parametrize(
    "text",
    [
        "2 * s0 + s1 - 1", "max(s0, s1, 3)", "(s0 + 1) floordiv 2", "s0 mod 4", "s0 * s0 * s1",
        "ceil_to_int(truediv(s0, 2))", "s2 + 1", "2 * s3 * s4 - 2 * s3", "1 - s3 * s4 + s3",
        "s5 * s6", "s5 * s6 - 1",
    ],
)  # fmt: skip
def test_sizes_are_computed(text: str):
    shape = (*map(Expr.parse, ("s0", "2 * s2 + 4", "s1", "s3 * s4 - s3 + 1", "2 * s5 * s6")),)
    block = Block(arg_types=[tensor_type(shape, dt.Float)])
    value = Sizes(Namespace(Builder(aten.OPERATORS, block)), block.args[0])(Expr.parse(text))
    assert value.type.data == Expr.parse(text)


def test_sizes_that_no_operand_tells_are_refused():
    block = Block(arg_types=[tensor_type((S,), dt.Float)])
    with pytest.raises(ExirError, match="s1 cannot be computed"):
        Sizes(Namespace(Builder(aten.OPERATORS, block)), block.args[0])(S + N)


@pytest.mark.parametrize(
    ("name", "shapes", "tensors", "args"),
    [
        ("view", [(S,)], [t(3)], [[-1, 2]]),
        ("expand", [(S, N)], [t(3, 2)], [[-1, 7]]),
        ("cat", [(S, 2), (N, 2)], [t(1, 2), t(1, 3)], []),
    ],
)
def test_sizes_that_do_not_fit_at_run_time_are_refused(name: str, shapes: Any, tensors: Any, args: list[Any]):
    interpreter = make_interpreter(symbolic_program(f"aten.{name}", shapes, *args))
    with pytest.raises(ExirError, match="fit"):
        run_function(interpreter, "forward", tuple(map(to_numpy, tensors)))


def test_as_strided_reaches_no_foreign_memory():
    size = (Expr.symbol("s0"),)
    module = symbolic_program("aten.as_strided", [size], [100], [1])
    assert tensor_meta(next(iter(module.ops)).function_type.outputs.data[0]).shape == (100,)
    with pytest.raises(ExirError, match="reaches element 99 of 3"):
        run_function(make_interpreter(module), "forward", (to_numpy(t(3)),))
