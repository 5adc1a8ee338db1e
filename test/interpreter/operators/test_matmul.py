"""Every matrix product against PyTorch: ranks, broadcast batches, factors, integers, empty operands, equations."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, check_symbolic, program_of  # noqa: E402
from xdsl.context import Context  # noqa: E402

from xdsl_exir.dialects.meta import MetaError  # noqa: E402
from xdsl_exir.dialects.promotion import DtypeError  # noqa: E402
from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:torch.chain_matmul is deprecated")

FLOATS = ["float32", "float16", "bfloat16", "float64"]
DTYPES = [*FLOATS, "int64", "int32", "uint8", "complex64"]


def tensor(*shape: int, dtype: str = "float32") -> torch.Tensor:
    """Multiples of 1/4: products and their sums are exact in every floating-point dtype."""
    generator = torch.Generator().manual_seed(sum(shape))
    numbers = torch.randint(-4, 5, shape, generator=generator)
    kind = getattr(torch, dtype)
    return (numbers / 4 if kind.is_floating_point or kind.is_complex else numbers).to(kind)


Shape = tuple[int, ...]
Call = tuple[tuple[Any, ...], dict[str, Any]]


def of(*shapes: Shape, dtype: str = "float32", **kwargs: Any) -> Call:
    """A call with tensors of these shapes."""
    return tuple(tensor(*shape, dtype=dtype) for shape in shapes), kwargs


def each(*shapes: Shape, dtypes: list[str] = DTYPES, **kwargs: Any) -> list[Call]:
    """One call per dtype."""
    return [of(*shapes, dtype=dtype, **kwargs) for dtype in dtypes]


def factors(*shapes: Shape) -> list[Call]:
    """Calls with `beta` and `alpha`; a `beta` of 0 ignores NaN."""
    first, *rest = of(*shapes)[0]
    return [
        *each(*shapes, beta=2, alpha=3),
        *each(*shapes, dtypes=FLOATS, beta=0.5, alpha=-1.5),
        ((torch.full_like(first, nan), *rest), {"beta": 0}),
        of((), *shapes[1:]),
    ]


def equation(text: str, *shapes: Shape, dtype: str = "float32", **kwargs: Any) -> Call:
    return (text, list(of(*shapes, dtype=dtype)[0])), kwargs


MATMUL = [
    *(of(a, b) for a in ((3,), (2, 3), (4, 2, 3), (5, 4, 2, 3), (5, 1, 2, 3), (1, 2, 3))
      for b in ((3,), (3, 6), (4, 3, 6), (5, 4, 3, 6), (1, 3, 6))),
    *each((2, 3), (3, 4)), *each((2, 2, 3), (3, 4)), *each((2, 2, 3), (2, 3, 4)), *each((3,), (3,)), *each((2, 3), (3,)),
    *each((3,), (2, 3, 4), dtypes=["float16", "int32"]),
    of((0, 3), (3, 4)), of((2, 0), (0, 4)), of((5, 0, 3), (3, 4)), of((5, 2, 0), (5, 0, 4)), of((0, 2, 3), (1, 3, 4)),
]  # fmt: skip

ENDS = torch.tensor([8, 8, 16, 16], dtype=torch.int32)
IN_GROUPS = [(16, 8), (4, 8, 16)], [(4, 8, 16), (16, 16)], [(8, 16), (16, 16)]
"""Rows, columns and what is summed, up to the last of `ENDS`: PyTorch leaves the rest as memory is. Its strides are of 16 bytes."""

CASES: dict[str, list[Call]] = {
    "aten.mm": [*each((2, 3), (3, 4)), of((2, 0), (0, 4)), of((0, 3), (3, 4))],
    "aten.bmm": [*each((5, 2, 3), (5, 3, 4)), of((5, 2, 0), (5, 0, 4)), of((0, 2, 3), (0, 3, 4))],
    "aten._grouped_mm": [
        *(((*of(*shapes, dtype=dtype)[0], ENDS), {}) for shapes in IN_GROUPS for dtype in ("float32", "float16", "bfloat16")),
        of((4, 8, 16), (4, 16, 8)), ((*of(*IN_GROUPS[0])[0], ENDS), {"out_dtype": torch.float32})],
    "transformers.grouped_mm_fallback": [
        ((*of((16, 8), (4, 8, 16), dtype=dtype)[0], ENDS.to(of_ends)), {}) for dtype in FLOATS for of_ends in (torch.int32, torch.int64)],
    "aten.addmm": [*each((4,), (2, 3), (3, 4)), *each((2, 4), (2, 3), (3, 4)), *factors((2, 1), (2, 3), (3, 4)),
                   of((4,), (2, 0), (0, 4), beta=2)],
    "aten.baddbmm": [*each((4,), (5, 2, 3), (5, 3, 4)), *factors((5, 2, 4), (5, 2, 3), (5, 3, 4))],
    "aten.addbmm": [*each((4,), (5, 2, 3), (5, 3, 4)), *factors((2, 4), (5, 2, 3), (5, 3, 4)), of((4,), (0, 2, 3), (0, 3, 4))],
    "aten.addmv": [*each((2,), (2, 3), (3,)), *factors((2,), (2, 3), (3,)), of((1,), (2, 3), (3,))],
    "aten.matmul": MATMUL,
    "aten.linalg_matmul": MATMUL,
    "aten.linear": [
        *(of(shape, (6, 3)) for shape in ((3,), (2, 3), (4, 2, 3), (5, 4, 2, 3), (0, 3))),
        *(of(shape, (6, 3), (6,)) for shape in ((3,), (2, 3), (4, 2, 3), (5, 4, 2, 3), (0, 3), (2, 0, 3))),
        *each((2, 3), (6, 3), (6,)), *each((2, 2, 3), (6, 3)), of((2, 3), (3,)), of((4, 2, 3), (3,)), of((3,), (3,)),
        of((2, 3), (6, 3), (2, 6)), of((4, 2, 3), (6, 3), (2, 6)), of((2, 3), (6, 3), ()), of((2, 3), (6, 3), (1,)),
        of((4, 2, 3), (3,), ()), of((3,), (3,), ())],
    "aten.dot": [*each((3,), (3,)), of((0,), (0,))],
    "aten.vdot": [*each((3,), (3,)), ((tensor(3) + 1j, tensor(3) - 2j), {})],
    "aten.mv": [*each((2, 3), (3,)), of((2, 0), (0,))],
    "aten.outer": [*each((2,), (3,)), of((0,), (3,)), ((tensor(2), tensor(3, dtype="int64")), {})],
    "aten.ger": each((2,), (3,)),
    "aten.inner": [*each((2, 3), (4, 3)), *each((), (4, 3)), of((3,), (3,)), of((2, 4, 3), (5, 3)), of((2, 0), (3, 0))],
    "aten.addr": [*each((3,), (2,), (3,)), *factors((2, 3), (2,), (3,)), of((), (2,), (3,), beta=0),
                  *(of((2, 3), (2,), (3,), dtype="bool", **kwargs) for kwargs in ({}, {"beta": 0}, {"alpha": 0}, {"beta": 2, "alpha": 3}))],
    "aten.kron": [*each((2, 3), (4, 5)), of((3,), (2, 3, 4)), of((), (2, 3)), of((0, 3), (2, 2))],
    "aten.cross": [*each((3, 4), (3, 4)), *each((2, 3), (1, 3)), of((3, 3), (3, 3), dim=-1), of((2, 3), (2, 3), dim=1)],
    "aten.chain_matmul": [(([tensor(*shape) for shape in shapes],), {}) for shapes in (
        [(2, 3)], [(2, 3), (3, 4)], [(2, 3), (3, 4), (4, 2)], [(5, 1), (1, 5), (5, 2), (2, 7)])],
    "aten.tensordot": [
        *(((tensor(2, 3, 4, dtype=dtype), tensor(4, 2, 5, dtype=dtype), [0, 2], [1, 0]), {}) for dtype in DTYPES),
        ((tensor(2, 1), tensor(3, 4), [1], [0]), {}), ((tensor(2, 1), tensor(3, 4), [], []), {}),
        ((tensor(2, 3), tensor(3, 2), [0, 1], [1, 0]), {}), ((tensor(2, 3), tensor(3, 2), [-1], [-2]), {})],
    "aten._trilinear": [
        *(
            ((*(tensor(*shape) for shape in shapes), *expand_and_sum), {})
            for shapes, *expand_and_sum in (
                # Scalars that get dimensions; a dimension that all three get is empty.
                (((), (2,), (2,)), [0], [], [], [], 0),
                (((), (2, 3), (2, 3)), [0, 1], [], [], [0]),
                (((), (), ()), [0], [0], [0], [], 0),
                (((), (), ()), [0], [0], [0], [0], 0),
                (((3,), (3,), (3,)), [0], [0], [0], [0]),
                (((3,), (3,), (3,)), [1], [1], [1], [0], 0),
            )
        ),
        ((*(tensor(*shape) for shape in ((3, 4), (2, 4, 5), (3, 5))), [1, 3], [0], [1, 2], [2, 3]), {}),
        ((*(tensor(*shape) for shape in ((3, 4), (3, 4), (4,))), [], [], [0], [-1]), {}),
    ],
    "aten.bilinear": [
        *(of((3, 4), (3, 5), (2, 4, 5), (2,), dtype=dtype) for dtype in FLOATS),
        of((2, 3, 4), (2, 3, 5), (2, 4, 5)),
        of((4,), (5,), (2, 4, 5), (2,)),
    ],
    "aten.einsum": [
        equation("ij,jk->ik", (2, 3), (3, 4)), equation("i j , j k", (2, 3), (3, 4)), equation("ij->ji", (2, 3)),
        equation("ij->", (2, 3)), equation("ij->j", (2, 3)), equation("ii->i", (3, 3)), equation("ii", (3, 3)),
        equation("iji->ji", (3, 2, 3)), equation("ba", (2, 3)), equation("aB,Bc", (2, 3), (3, 2)),
        equation("bij,bkj->bik", (2, 3, 4), (2, 5, 4)), equation("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
        equation("bhij,bhjd->bihd", (2, 3, 4, 5), (2, 3, 5, 6)), equation("bshd,hde->bse", (2, 3, 4, 5), (4, 5, 6)),
        equation("i,j->ij", (3,), (4,)), equation("ij,ij->ij", (2, 3), (2, 3)), equation("bi,bj->bij", (2, 3), (2, 4)),
        equation("i,i->", (3,), (3,)), equation("ij,ij", (2, 3), (1, 3)), equation("ij,jk->ik", (2, 1), (3, 4)),
        equation("bij,bjk->bik", (1, 2, 3), (5, 3, 4)), equation("ii,ij->j", (3, 3), (3, 4)),
        equation("ij,k->i", (2, 3), (4,)), equation("ij,k->", (2, 3), (4,)), equation(",i->i", (), (3,)),
        equation("...ij,jk", (2, 2, 3), (3, 4)), equation("...ij,...jk->...ik", (5, 1, 2, 3), (4, 3, 2)),
        equation("...,...", (2, 3), (2, 3)), equation("...i->i", (2, 3)), equation("i...->...", (2, 3, 4)),
        equation("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), equation("ij,jk,kl->il", (2, 3), (3, 4), (4, 5), path=[1, 2, 0, 1]),
        equation("bi,ij,bj->b", (5, 2), (2, 3), (5, 3)), equation("ij,jk->ik", (0, 3), (3, 4)),
        *(equation("bij,bkj->bik", (2, 3, 4), (2, 5, 4), dtype=dtype) for dtype in DTYPES),
        *(equation("ij->i", (2, 3), dtype=dtype) for dtype in [*FLOATS, "int64"])],
}  # fmt: skip

REFUSED: list[tuple[str, Call]] = [
    ("aten.mm", of((2, 3), (2, 3))),
    ("aten.mm", of((2, 3), (3,))),
    ("aten.bmm", of((5, 2, 3), (4, 3, 2))),
    ("aten.bmm", of((2, 3), (3, 2))),
    ("aten._grouped_mm", of((12, 8), (4, 8, 16))),
    ("aten._grouped_mm", of((4, 8), (4, 8, 16))),
    ("aten._grouped_mm", ((*of((16, 8), (3, 8, 16))[0], ENDS), {})),
    ("aten._grouped_mm", ((*of((16, 8), (4, 8, 16), dtype="float64")[0], ENDS), {})),
    ("aten._grouped_mm", ((*of((4, 12, 8), (4, 8, 16))[0], ENDS), {})),
    ("aten._grouped_mm", ((*of((16, 8), (4, 8, 16))[0], ENDS, tensor(4, 16)), {})),
    ("aten.addmm", of((3,), (2, 3), (3, 4))),
    ("aten.addmm", of((1, 2, 4), (2, 3), (3, 4))),
    ("aten.baddbmm", of((6, 2, 4), (1, 2, 3), (1, 3, 4))),
    ("aten.addbmm", of((5, 2, 4), (5, 2, 3), (5, 3, 4))),
    ("aten.mv", of((2, 3), (2,))),
    ("aten.addmv", of((3,), (2, 3), (3,))),
    ("aten.dot", of((2,), (3,))),
    ("aten.dot", of((2, 3), (3,))),
    ("aten.vdot", of((), ())),
    ("aten.outer", of((2, 3), (3,))),
    ("aten.ger", of((2, 3), (3,))),
    ("aten.inner", of((2, 3), (2, 4))),
    ("aten.addr", of((2,), (2,), (3,))),
    ("aten.cross", of((2, 4), (2, 4))),
    ("aten.cross", of((2, 4), (2, 4), dim=1)),
    ("aten.matmul", of((), (2, 3))),
    ("aten.matmul", of((4, 2, 3), (5, 3, 2))),
    ("aten.linalg_matmul", of((2, 3), (4, 3))),
    ("aten.linear", of((), (2, 3))),
    ("aten.linear", of((2, 3), (4, 2))),
    ("aten.linear", of((2, 3), (2, 3, 3))),
    ("aten.linear", of((2, 3), (6, 3), (5,))),
    ("aten.linear", of((2, 3), (3,), (1,))),
    ("aten.chain_matmul", (([tensor(3), tensor(3, 3)],), {})),
    ("aten.tensordot", ((tensor(2, 3), tensor(3, 2), [0], [0]), {})),
    ("aten.tensordot", ((tensor(2, 3), tensor(3, 2), [0, 1], [0]), {})),
    ("aten.einsum", equation("ij,jk", (2, 3), (2, 3))),
    ("aten.einsum", equation("i->ii", (2,))),
    ("aten.einsum", equation("i->j", (2,))),
    ("aten.einsum", equation("ij->i", (2,))),
    ("aten.einsum", equation("i,j->i", (2,))),
    ("aten.einsum", equation("i1->i", (2, 2))),
    ("aten.mm", of((2, 3), (3, 2), dtype="bool")),
    ("aten.mm", ((tensor(2, 3), tensor(3, 2, dtype="float64")), {})),
]


def test_every_operator_occurs() -> None:
    assert {name for name, spec in specs().items() if spec.family == "matmul"} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str) -> None:
    for args, kwargs in CASES[name]:
        check(name, *args, **kwargs)


@pytest.mark.parametrize(("name", "arguments"), REFUSED)
def test_refuses(name: str, arguments: Call) -> None:
    args, kwargs = arguments
    with pytest.raises((MetaError, DtypeError)):
        program_of(name, *args, **kwargs)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (
            "aten._grouped_mm",
            ((*of((16, 8), (7, 8, 16))[0], torch.tensor([4, 8, 8, 9, 9, 9, 16], dtype=torch.int32)), {}),
        ),
        ("aten.linear", of((7, 11, 3), (6, 3), (6,))),
        ("aten.linear", of((7, 3), (6, 3))),
        ("aten.matmul", of((7, 2, 11, 3), (7, 2, 3, 4))),
        ("aten.matmul", of((1, 2, 11, 3), (7, 2, 3, 11))),
        ("aten.matmul", of((7, 11, 3), (3,))),
        ("aten.matmul", of((3,), (7, 3, 11))),
        ("aten.outer", of((7,), (11,))),
        ("aten.baddbmm", of((7, 11, 4), (7, 11, 3), (7, 3, 4), beta=2)),
        ("aten.tensordot", ((tensor(7, 3, 4), tensor(4, 3, 11), [1, 2], [1, 0]), {})),
        ("aten.einsum", equation("bhid,bhjd->bhij", (7, 2, 11, 5), (7, 2, 11, 5))),
        ("aten.einsum", equation("bshd,hde->bse", (7, 11, 4, 5), (4, 5, 6))),
        ("aten.chain_matmul", (([tensor(7, 3), tensor(3, 4), tensor(4, 11)],), {})),
    ],
)
def test_symbolic_sizes(name: str, arguments: Call) -> None:
    args, kwargs = arguments
    check_symbolic({7: "s0", 11: "s1"}, name, *args, **kwargs)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("aten.linear", of((2, 3), (6, 3), (6,)), "permute addmm"),
        ("aten.linear", of((4, 2, 3), (6, 3), (6,)), "view permute addmm view"),
        ("aten.linear", of((4, 2, 3), (6, 3)), "permute view mm view"),
        ("aten.matmul", of((5, 4, 2, 3), (3, 6)), "view mm view"),
        ("aten.matmul", of((4, 2, 3), (4, 3, 6)), "expand view expand view bmm view"),
        ("aten.matmul", of((3,), (3, 6)), "unsqueeze mm squeeze.dims"),
        ("aten.matmul", of((3,), (2, 3, 6)), "permute clone view mul.Tensor sum.dim_IntList view"),
        ("aten.mv", of((2, 3), (3,), dtype="int32"), "mul.Tensor sum.dim_IntList _to_copy"),
    ],
)
def test_ends_in_what_pytorch_ends_in(name: str, arguments: Call, expected: str) -> None:
    module, _ = program_of(name, *arguments[0])
    DecomposeAten().apply(Context(), module)
    operators = [op.name.removeprefix("aten.") for op in module.walk() if op.name.startswith("aten.")]
    assert operators == expected.split()
