"""Indexing operators against PyTorch: dtypes, masks, None entries, 0-dim tensors, order of NaNs and ties."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check as check_static  # noqa: E402
from differential import compare, dtype, find_operator, flatten, program_of, run  # noqa: E402
from xdsl.context import Context  # noqa: E402
from xdsl.dialects.builtin import ModuleOp, TensorType  # noqa: E402
from xdsl.dialects.func import FuncOp, ReturnOp  # noqa: E402
from xdsl.ir import Block, Region  # noqa: E402

from xdsl_exir.dialects import aten  # noqa: E402
from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.expr import Dim, Expr  # noqa: E402
from xdsl_exir.dialects.meta import SHAPES, MetaError  # noqa: E402
from xdsl_exir.dialects.spec import find, specs  # noqa: E402
from xdsl_exir.dialects.tensors import TensorMeta, tensor_type  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")

torch.manual_seed(0)
L = torch.tensor


def zeros(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.int64)


X, Z, S = torch.randn(4, 5), torch.randn(2, 3, 4, 5), L(1.0)
ROWS, PLACES = L([0, 2]), torch.randint(0, 4, (3, 5))
ORDER = L([1.0, nan, 3.0, nan, 1.0, -0.0, 0.0])
SORTED = L([[1.0, 2, 3], [4, 5, 6]])
LOOKED_UP = L([[1.0, 2.5, nan, 9], [4, 4, 0, 5]])

Call = tuple[Any, ...]
"""An operator's name, its positional arguments and perhaps a dictionary of keyword ones."""

CALLS: list[Call] = [
    ("embedding", X, L(1), {"padding_idx": 1}),
    ("embedding", X, zeros(2, 0).int()),
    ("embedding", X, L([[0, 3], [1, 1]])),
    ("embedding_renorm", X, L([1, 2, 1]), 0.5, 2.0),
    *(
        (name, X, L([1, 2, 0, 2, 3]), L([0, 1, 1, 4]), {"mode": mode})
        for name in ("embedding_bag", "_embedding_bag", "_embedding_bag_forward_only")
        for mode in (0, 1, 2)
    ),
    *(
        ("_embedding_bag", X, L([1, 2, 0, 2]), L([0, 1, 4]), False, mode, False, None, True)
        for mode in (0, 1)
    ),
    *(
        ("embedding_bag.padding_idx", X, L([1, 2, 0, 2]), L([0, 3]), False, mode, False, None, False, -2)
        for mode in (0, 1, 2)
    ),
    ("embedding_bag", X.half(), L([1, 2, 0]), L([0, 1]), False, 0, False, L([1.0, 2, 3]).half()),
    ("embedding_bag", X, zeros(0), L([0, 0])),
    ("index_select", S, 0, L([0])),
    ("index_select", S, -1, L(0)),
    ("index_select", X, -1, L([4, 0, 0])),
    ("index_select", X, 0, L(1).int()),
    ("index_select", X, 0, zeros(0)),
    ("gather", S, 0, L([0])),
    ("gather", L([1.0, 2.0]), 0, L(1)),
    ("gather", X, -1, zeros(0)),
    ("gather", X, 1, zeros(2, 7), {"sparse_grad": True}),
    ("index.Tensor", Z, [None, L([0, 2])]),
    ("index.Tensor", Z, [None, L([0, -1]).int()]),
    ("index.Tensor", Z, [L([0, 1]), None, L([0, -1])]),
    ("index.Tensor", Z, [None, L([0, 1]), L([0, -1])]),
    ("index.Tensor", Z, [None, L([[0], [1]]), L([0, -1, 2])]),
    ("index.Tensor", Z, [L([0, 1]), L(1), None, L([0, 1])]),
    ("index.Tensor", Z, [L(1)]),
    ("index.Tensor", Z, [L(1), None, L(1), L(-1)]),
    ("index.Tensor", Z, [L(1)] * 4),
    ("index.Tensor", Z, [None, zeros(0)]),
    ("index_put", Z, [torch.rand(2, 3, 4, 5) > 0.5], L(3.0)),
    ("index_put", Z, [None, L([True, False, True])], torch.randn(2, 2, 1, 5)),
    ("index_put", Z, [L([0, 1]), None, L([0, -1])], torch.randn(3, 5), True),
    ("index_put", X, [L([0, 0, 1, 0])], X, True),
    ("scatter.src", S, 0, L([0]), L([3.0])),
    ("scatter.src", X, 1, zeros(0), X),
    ("scatter.src", X, -1, torch.arange(6).reshape(2, 3) % 4, X),
    ("scatter.value", X, -1, zeros(2, 3), 2.5),
    ("scatter.value", X.long(), 0, zeros(2, 3), 2.5),
    ("scatter_add", S, 0, L(0), L(2.0)),
    ("scatter_add", X, 1, zeros(4, 5), X),
    ("scatter_reduce.two", S, 0, L(0), L(2.0), "prod"),
    ("scatter_reduce.two", L([1.0, 2.0]), 0, L([0, 0]), L([nan, 5.0]), "amax", {"include_self": False}),
    ("take", X, torch.randint(0, 20, (2, 3))),
    ("take", X, L([-1, 3])),
    ("take", S, L(0)),
    ("take_along_dim", X, zeros(3, 1)),
    ("take_along_dim", X, zeros(4, 1), 1),
    ("take_along_dim", X, zeros(3, 1), 0),
    ("take_along_dim", X[:1], zeros(3, 5), -1),
    ("topk", L([1.0, nan, 3.0, 2.0]), 3),
    ("topk", L([1.0, nan, 3.0, 2.0]), 3, {"largest": False}),
    ("topk", S, 1),
    ("topk", X, 0),
    ("sort", ORDER),
    ("sort", ORDER, -1, True),
    ("sort", S),
    ("sort", X[:0], 0),
    ("sort", X[:0], 1, True),
    ("sort.stable", S, {"stable": None}),
    ("sort.stable", ORDER, {"stable": True, "descending": True}),
    ("argsort", X),
    ("argsort", X, 0, True),
    ("one_hot", L([0, 2]), 5),
    ("one_hot", L(1), 3),
    ("one_hot", zeros(0, 2), 3),
    ("tril", torch.randn(2, 3, 5), 1),
    ("tril", X[:0]),
    ("triu", X, 7),
    ("index_fill.int_Scalar", S, 0, L([0]), 2),
    ("index_fill.int_Scalar", X, -1, L(1), 2.5),
    ("index_fill.int_Scalar", X.long(), 1, L([1, 1]), 2.5),
    ("index_add", X, 1, ROWS, torch.randn(4, 2), {"alpha": 2}),
    ("index_add", S, 0, L(0), L(2.0)),
    ("index_add", X, 0, L([1, 1, 1]), torch.randn(3, 5)),
    ("index_add", X, 0, L(1), torch.randn(1, 5)),
    ("index_copy", S, 0, L([0]), L([2.0])),
    ("index_copy", X, 0, L(1), torch.randn(1, 5)),
    ("masked_scatter", X, L([True, False, True, False, False]), torch.randn(20)),
    ("masked_scatter", L([1.0]), L([True, False]), L([3.0])),
    ("scatter.reduce", X, 0, PLACES, X[:3], {"reduce": "add"}),
    ("scatter.reduce", X, 0, PLACES, X[:3], {"reduce": "multiply"}),
    ("scatter.value_reduce", X, 0, PLACES, 2.5, {"reduce": "multiply"}),
    ("scatter.value_reduce", X.long(), 0, PLACES, 2, {"reduce": "add"}),
    ("put", X, L([0, -1, 3]), L([1.0, 2.0, 3.0])),
    ("put", X, L([[0], [0]]), L([1.0, 2.0]), True),
    ("put", X, zeros(0), torch.zeros(0)),
    ("index_fill.int_Tensor", X, 1, ROWS, L(7)),
    ("index_fill.int_Tensor", X.long(), 0, L(1), L(2.5)),
    ("index_fill.int_Tensor", S, 0, L([0]), L(2.5)),
    *(
        ("index_reduce", x, 1, L([0, 1, 1, 4]), x[:, :4] * 2, reduce, {"include_self": include_self})
        for x in (X, (X * 4).long())
        for reduce in ("prod", "mean", "amax", "amin")
        for include_self in (True, False)
    ),
    ("_unsafe_index.Tensor", Z, [None, L([0, 2])]),
    ("_unsafe_index_put", Z, [L([0, 1]), None, L([0, -1])], torch.randn(3, 5), True),
    ("_unsafe_masked_index", X, L([True, False, True]), [L([0, 9, 3]), L([0, 1, -7])], 2.5),
    (
        "_unsafe_masked_index_put_accumulate",
        X,
        L([True, False, True]),
        [L([0, 9, 3]), L([0, 1, -4])],
        L([1.0, 2, 3]),
    ),
    ("msort", ORDER),
    ("msort", X),
    ("msort", S),
    ("argsort.stable", ORDER, {"stable": True, "descending": True}),
    ("kthvalue", X, 2),
    ("kthvalue", X, 3, 0, True),
    ("kthvalue", L([1.0, nan, 2.0]), 3),
    ("kthvalue", torch.randperm(20).reshape(4, 5), 5, 1),
    ("kthvalue", S, 1),
    ("isin.Tensor_Tensor", L([[1, 2], [3, 4]]), L([[4, 2]])),
    ("isin.Tensor_Tensor", L([[1, 2], [3, 4]]), L(3), {"invert": True}),
    ("isin.Tensor_Tensor", L([1.0, nan, 2.5]), L([nan, 2.5])),
    ("isin.Tensor_Tensor", L([[-1, 2], [30, 4]]), torch.arange(0, 60, 2)),
    ("isin.Tensor_Tensor", L([[-1.0, 2.5], [99.0, 4.0]]), torch.arange(0, 60, 2), {"invert": True}),
    ("isin.Tensor_Tensor", L([1, 2]), L([], dtype=torch.int64)),
    ("isin.Tensor_Scalar", L([[1, 2], [3, 4]]), 3),
    ("isin.Tensor_Scalar", L([1.5, 2.0]), 2, {"invert": True}),
    ("isin.Scalar_Tensor", 3, L([[1, 2], [3, 4]])),
    ("isin.Scalar_Tensor", 5, L([[1, 2], [3, 4]]), {"invert": True}),
    ("nonzero_static", X > 0, {"size": 3}),
    ("nonzero_static", X > 0, {"size": 30, "fill_value": 7}),
    ("nonzero_static", S, {"size": 2}),
    ("searchsorted.Scalar", L([1.0, 2.0, 3.0]), 2),
    ("searchsorted.Scalar", L([1, 2, 3]), 2.5, {"right": True, "out_int32": True}),
    ("bucketize.Scalar", 2.5, L([1, 2, 3])),
    ("bucketize.Scalar", 2, L([1.0, 2, 3]), {"right": True}),
    ("searchsorted.Tensor", SORTED, LOOKED_UP),
    ("searchsorted.Tensor", SORTED, LOOKED_UP, {"right": True}),
    ("searchsorted.Tensor", L([1, 2, 3]), L(2), {"side": "right"}),
    ("searchsorted.Tensor", L([1.0, 2.0, nan]), L([nan, 3.0])),
    ("searchsorted.Tensor", X[0, :0], X),
    ("searchsorted.Tensor", L([3.0, 1, 2]).bfloat16(), X.bfloat16(), {"sorter": L([1, 2, 0])}),
    ("bucketize.Tensor", X, L([-1.0, 0, 1])),
    ("bucketize.Tensor", L([1, 2]), L([1, 2]), {"right": True}),
]

DTYPES = ["float32", "float16", "bfloat16", "float64", "int64", "uint8", "bool", "complex64"]


def calls_of(kind: torch.dtype) -> list[Call]:
    """What must move, add or order elements of any dtype alike."""
    x = torch.randint(0, 4, (4, 5)).to(kind)
    calls: list[Call] = [
        ("embedding", x, ROWS),
        ("index_select", x, -1, ROWS),
        ("gather", x, 1, PLACES),
        ("index.Tensor", x, [ROWS]),
        ("index_put", x, [None, ROWS], x[:, :2]),
        ("index_put", x, [L([0, 0, 1])], x[:3], True),
        ("scatter.src", x, 0, L([[0, 1, 2]]), x),
        ("scatter.value", x, 1, L([[0], [1], [2]]), 1),
        ("scatter_add", x, 0, zeros(3, 5), x),
        ("take", x, PLACES),
        ("take_along_dim", x, PLACES, 0),
        ("tril", x),
        ("triu", x, -1),
        ("index_fill.int_Scalar", x, 1, ROWS, 1),
        ("index_add", x, 0, ROWS, x[:2]),
        ("index_copy", x, 1, ROWS, x[:, :2]),
        ("masked_scatter", x, x.bool(), x),
    ]
    if kind.is_complex:
        return calls
    calls += [("sort", x), ("sort.stable", x, {"stable": True, "dim": 0, "descending": True}), ("argsort", x)]
    reductions = ["sum", "prod", "amax", "amin"] + (["mean"] if kind != torch.bool else [])
    calls += [
        ("scatter_reduce.two", x, 0, PLACES, x[:3], reduce, {"include_self": include_self})
        for reduce in reductions
        for include_self in (True, False)
    ]
    if kind != torch.bool:
        y = torch.randperm(20).reshape(4, 5).to(kind)
        calls += [("topk", y, 2), ("topk", y, 3, 0, False)]
        calls += [("topk", y // 7, 4), ("topk", y // 7, 3, 0, False), ("topk", y, 3, 1, True, False)]
    return calls


def check(name: str, *args: Any) -> None:
    kwargs = args[-1] if isinstance(args[-1], dict) else {}
    check_static(f"aten.{name}", *args[: len(args) - bool(kwargs)], **kwargs)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_calls(call: Call) -> None:
    check(*call)


@pytest.mark.parametrize("kind", DTYPES)
def test_dtypes(kind: str) -> None:
    for call in calls_of(getattr(torch, kind)):
        check(*call)


# --- sizes that depend on the data ---------------------------------------------------------------------------

U0, U1, U2 = map(Expr.symbol, ("u0", "u1", "u2"))

DEPENDENT: list[tuple[Call, tuple[Dim, ...]]] = [
    (("nonzero", X > 0), (U0, 2)),
    (("nonzero", L(2.0)), (U0, 0)),
    (("nonzero", L(0)), (U0, 0)),
    (("nonzero", X.bfloat16().round()), (U0, 2)),
    (("masked_select", X, X > 0), (U0,)),
    (("masked_select", X, L([True, False, True, False, False])), (U0,)),
    (("masked_select", S, L([True, False])), (U0,)),
    (("index.Tensor", X, [X > 0]), (U0,)),
    (("index.Tensor", Z, [None, L([[True] * 4, [False] * 4, [False, True] * 2])]), (2, U0, 5)),
    (("index.Tensor", Z, [L([1, 0], dtype=torch.uint8), None, L([True] * 2 + [False] * 2)]), (U0, 3, 5)),
    (("one_hot", L([0, 2, 1]), -1), (3, U0)),
    (("argwhere", X > 0), (U0, 2)),
    (("argwhere", L(2.0)), (U0, 0)),
    (("bincount", L([0, 2, 2])), (U0,)),
    (("bincount", L([], dtype=torch.int64), None, 3), (U0,)),
    (("bincount", L([0, 2, 2], dtype=torch.uint8), L([0.5, 1.0, 2.0]), 5), (U0,)),
    (("bincount", L([0, 2, 2]), L([1, 2, 3])), (U0,)),
    (("combinations", L([3, 1, 2, 5])), (U0, 2)),
    (("combinations", L([3.0, 1.0, 2.0]), 3, True), (U0, 3)),
    (("combinations", L([3, 1]), 3), (U0, 3)),
    (("combinations", L([3, 1]), 0), (0,)),
    (("repeat_interleave.Tensor", L([2, 0, 3])), (U0,)),
    (("repeat_interleave.Tensor", L([0, 0], dtype=torch.int32)), (U0,)),
    (("repeat_interleave.self_Tensor", X, L([2, 0, 1, 1]), 0), (U0, 5)),
    (("repeat_interleave.self_Tensor", X, L([2]), -1), (4, U0)),
    (("repeat_interleave.self_Tensor", X, L(1, dtype=torch.int32)), (U0,)),
]


UNIQUE = L([[3.0, 1.0, 1.0], [nan, 3.0, nan], [3.0, 1.0, 1.0], [3.0, 1.0, 1.0]])

DEPENDENT_SEVERAL: list[tuple[Call, tuple[tuple[Dim, ...], ...]]] = [
    (("_unique2", UNIQUE), ((U0,), (0,), (0,))),
    (("_unique2", UNIQUE.nan_to_num().long(), True, True, True), ((U0,), (4, 3), (U0,))),
    (("_unique2", UNIQUE > 2, True, False, True), ((U0,), (0,), (U0,))),
    (("_unique2", zeros(0), True, True, True), ((U0,), (0,), (U0,))),
    (("_unique2", S, True, True, True), ((U0,), (), (U0,))),
    (("unique_dim", UNIQUE.nan_to_num(), 0), ((U0, 3), (4,), (U0,))),
    (("unique_dim", UNIQUE.bfloat16(), -1, True, True, True), ((4, U0), (3,), (U0,))),
    (("unique_dim", UNIQUE > 2, 0, True, False, True), ((U0, 3), (4,), (U0,))),
    (("tensor_split.tensor_indices_or_sections", X, L([1, 3]), 1), ((4, U0), (4, U1), (4, U2))),
    (("tensor_split.tensor_indices_or_sections", X, L([-1])), ((U0, 5), (U1, 5))),
    (("nonzero_numpy", X > 0), ((U0,), (U0,))),
    (("nonzero_numpy", L(2.0)), ((U0,),)),
    (("where", X > 0), ((U0,), (U0,))),
    (("where", L(0.0)), ((U0,),)),
    (("unique_consecutive", UNIQUE), ((U0,), (0,), (0,))),
    (("unique_consecutive", UNIQUE.long(), True, True), ((U0,), (4, 3), (U0,))),
    (("unique_consecutive", UNIQUE[2:], True, True, 0), ((U0, 3), (2,), (U0,))),
    (("unique_consecutive", UNIQUE[2:], True, True, -1), ((2, U0), (3,), (U0,))),
    (("unique_consecutive", S, True, True), ((U0,), (), (U0,))),
]


def dependent_program(name: str, *args: Any, types: list[TensorType[Any]]) -> ModuleOp:
    """A module that calls one operator whose results are of these types."""
    block = Block()

    def lower(value: Any) -> Any:
        if isinstance(value, list):
            return [lower(item) for item in value]
        if not isinstance(value, torch.Tensor):
            return value
        return block.insert_arg(tensor_type(tuple(value.shape), dtype(value.dtype)), len(block.args))

    cls = aten.OPERATORS[f"aten.{name}"]
    op = cls.from_bound(cls.SLOTS.bind([lower(arg) for arg in args], {}), types)
    block.add_ops([op, ReturnOp(*op.results)])
    function = FuncOp("forward", ([arg.type for arg in block.args], types), Region(block))
    return ModuleOp([function])


@pytest.mark.parametrize(
    ("call", "shapes"),
    [*((call, (shape,)) for call, shape in DEPENDENT), *DEPENDENT_SEVERAL],
    ids=lambda value: value[0],
)
def test_dependent_sizes(call: Call, shapes: tuple[tuple[Dim, ...], ...]) -> None:
    name, *args = call
    expected = flatten(find_operator(f"aten.{name}")(*args))
    types = [tensor_type(shape, dtype(e.dtype)) for shape, e in zip(shapes, expected, strict=True)]
    module = dependent_program(name, *args, types=types)
    tensors = [
        t for arg in args for t in (arg if isinstance(arg, list) else [arg]) if isinstance(t, torch.Tensor)
    ]
    for transform in (None, DecomposeAten(), AtenToEdge()):
        if transform:
            transform.apply(Context(), module)
        module.verify()
        for result, value in zip(run(module, tensors), expected, strict=True):
            compare(name, result, value)


def test_every_operator_occurs() -> None:
    mine = {name for name, spec in specs().items() if spec.family == "indexing"}
    # Of other families, but of sizes that depend on the data.
    mine |= {"aten.bincount", "aten.combinations", "aten.tensor_split.tensor_indices_or_sections"}
    mine |= {"aten.repeat_interleave.Tensor", "aten.repeat_interleave.self_Tensor"}
    assert mine == {
        f"aten.{call[0]}" for call in CALLS + [call for call, _ in [*DEPENDENT, *DEPENDENT_SEVERAL]]
    }


# --- refusals ------------------------------------------------------------------------------------------------

REFUSED: list[Call] = [
    ("must have two dimensions", "embedding", X[0], ROWS),
    ("2 indices for 3 elements", "put", X, ROWS, L([1.0, 2.0, 3.0])),
    ("is not prod", "index_reduce", X, 0, ROWS, X[:2], "sum"),
    ("out of range", "kthvalue", X, 6),
    ("counts from 1", "kthvalue", X, 0),
    ("must be a vector", "bucketize.Scalar", 1, X),
    ("must be a vector", "index_select", X, 0, PLACES),
    ("takes an index of one element", "index_select", S, 0, L([0, 0])),
    ("dimension 2", "index_select", X, 2, ROWS),
    ("of one rank", "gather", X, 0, ROWS),
    ("apart from dimension 0", "gather", X, 0, zeros(2, 6)),
    ("exceeds src", "scatter.src", X, 0, zeros(3, 5), X[:2]),
    ("exceeds src", "scatter_add", X, 0, zeros(3, 5), X[0]),
    ("apart from dimension 1", "scatter.value", X, 1, zeros(5, 5), 1),
    ("of one rank", "take_along_dim", X, ROWS, 0),
    ("do not broadcast", "take_along_dim", X, zeros(3, 5), 1),
    ("too many indices", "index.Tensor", X, [ROWS, ROWS, ROWS]),
    ("too many indices", "index.Tensor", X, [None, None, ROWS]),
    ("do not broadcast", "index.Tensor", X, [ROWS, L([0, 1, 2])]),
    ("does not match dimension 0", "index.Tensor", X, [L([True, False])]),
    ("at least one index", "index.Tensor", X, [None]),
    ("do not broadcast to the indexed", "index_put", X, [ROWS], torch.ones(3, 5)),
    ("do not broadcast to the indexed", "index_put", X, [ROWS], torch.ones(1, 2, 5)),
    ("out of range", "topk", X, 6),
    ("out of range", "topk", S, 2),
    ("dimension -3", "sort", X, -3),
    ("num_classes must be positive", "one_hot", ROWS, 0),
    ("at least two dimensions", "tril", X[0]),
    ("do not broadcast", "masked_scatter", X, ROWS.bool(), X),
    ("source", "index_add", X, 0, ROWS, X),
    ("source", "index_copy", X, 0, ROWS, X[0]),
    ("agree but for the last", "searchsorted.Tensor", SORTED, X),
    ("contradicts|opposites|neither", "searchsorted.Tensor", SORTED, SORTED, {"side": "middle"}),
    ("must be a vector", "bucketize.Tensor", X, SORTED),
]


def call_program(name: str, *args: Any) -> tuple[ModuleOp, list[torch.Tensor]]:
    kwargs = args[-1] if isinstance(args[-1], dict) else {}
    return program_of(f"aten.{name}", *args[: len(args) - bool(kwargs)], **kwargs)


@pytest.mark.parametrize("call", REFUSED, ids=lambda call: call[1])
def test_refused(call: Call) -> None:
    message, *arguments = call
    with pytest.raises(MetaError, match=message):
        call_program(*arguments)


FAILING: list[Call] = [
    ("index 4 is out of range", "embedding", X, L([0, 4])),
    ("index -1 is out of range", "embedding", X, L([-1])),
    ("index -1 is out of range", "index_select", X, 0, L([-1])),
    ("index -1 is out of range", "gather", X, 0, zeros(1, 1) - 1),
    ("index 5 is out of range", "scatter.src", X, 1, zeros(1, 1) + 5, X),
    ("index -5 is out of range", "index.Tensor", X, [L([-5])]),
    ("index 5 is out of range", "index_put", X, [None, L([5])], X[:, :1]),
    ("must be non-negative", "one_hot", L([-1]), 3),
    ("must be smaller than num_classes", "one_hot", L([3]), 3),
    ("1 elements in source for 2 places", "masked_scatter", X[0, :2], L([True, True]), L([1.0])),
    ("contradicts", "searchsorted.Tensor", SORTED, SORTED, {"side": "left", "right": True}),
]


@pytest.mark.parametrize("call", FAILING, ids=lambda call: call[1])
def test_failing(call: Call) -> None:
    """What PyTorch refuses when it sees the data."""
    message, *arguments = call
    module, tensors = call_program(*arguments)
    with pytest.raises(ExirError, match=message):
        run(module, tensors)


# --- symbolic sizes ------------------------------------------------------------------------------------------


def test_symbolic_sizes() -> None:
    n, s = Expr.symbol("s0"), Expr.symbol("s1")
    tensor, index = TensorMeta((n, s, 8), dt.Float), TensorMeta((n, 3), dt.Long)

    def shape_of(name: str, **arguments: Any) -> Any:
        entry = SHAPES.find(find(name))
        assert entry is not None
        return entry.call(arguments)

    weight = TensorMeta((100, 16), dt.Float)
    assert shape_of("aten.embedding", weight=weight, indices=index) == (n, 3, 16)
    assert shape_of("aten.index_select", self=tensor, dim=1, index=TensorMeta((s,), dt.Long)) == (n, s, 8)
    assert shape_of("aten.index.Tensor", self=tensor, indices=[None, index]) == (n, n, 3, 8)
    mask = TensorMeta((n, s), dt.Bool)
    assert shape_of("aten.index.Tensor", self=tensor, indices=[mask]) == (None, 8)
    assert shape_of("aten.topk", self=tensor, k=s, dim=-1) == [(n, s, s)] * 2
    with pytest.raises(MetaError, match="out of range"):
        shape_of("aten.topk", self=tensor, k=s + 1, dim=1)


def test_triangle_of_symbolic_size() -> None:
    """Sizes that a rule does not know are taken from the operand."""
    type = tensor_type((Expr.symbol("s0"), Expr.symbol("s1")), dt.Float)
    block = Block(arg_types=[type])
    cls = aten.OPERATORS["aten.tril"]
    op = cls.from_bound({"self": block.args[0], "diagonal": 0})
    block.add_ops([op, ReturnOp(op.results[0])])
    module = ModuleOp([FuncOp("forward", ([type], [type]), Region(block))])
    DecomposeAten().apply(Context(), module)
    module.verify()
    assert "aten.sym_size.int" in {op.name for op in module.walk()}
    [result] = run(module, [X])
    compare("tril", result, X.tril())
