"""Attention against PyTorch: ranks, masks, causality, grouped queries, scales, rows that are masked out."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, check_symbolic, program_of  # noqa: E402
from xdsl.context import Context  # noqa: E402

from xdsl_exir.dialects.meta import MetaError  # noqa: E402
from xdsl_exir.dialects.promotion import DtypeError  # noqa: E402
from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

FLOATS = ["float32", "float16", "bfloat16", "float64"]


def tensor(*shape: int, dtype: str = "float32", seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(shape, generator=generator).to(getattr(torch, dtype))


Call = tuple[tuple[Any, ...], dict[str, Any]]


def qkv(
    *batch: int, dtype: str = "float32", values: int = 6, heads: int | None = None, **kwargs: Any
) -> Call:
    """A call with 5 queries of size 8, 7 keys and values; keys may have fewer heads."""
    shared = batch if heads is None else (*batch[:-1], heads)
    query, key = tensor(*batch, 5, 8, dtype=dtype), tensor(*shared, 7, 8, dtype=dtype, seed=1)
    return (query, key, tensor(*shared, 7, values, dtype=dtype, seed=2)), kwargs


BOOLEANS = tensor(5, 7) > 0
"""A mask whose second row lets nothing through."""
BOOLEANS[1] = False


def layer(dtype: str, *options: Any, inputs: int = 3, mask: Any = None, kind: int | None = None) -> Call:
    """A call with 2 times 5 positions of 8 features, 2 heads; a mask and what it is of."""
    shapes = ((24, 8), (24,), (8, 8), (8,))
    weights = [tensor(*shape, dtype=dtype, seed=n) for n, shape in enumerate(shapes)]
    x = tensor(2, 5, 8, dtype=dtype)
    return (*[x] * inputs, 8, 2, *weights, *options), {} if mask is None else {
        "mask": mask,
        "mask_type": kind,
    }


def encoder(dtype: str, gelu: bool, first: bool, **mask: Any) -> Call:
    shapes = ((8,), (8,), (8,), (8,), (12, 8), (12,), (8, 12), (8,))
    weights = (tensor(*shape, dtype=dtype, seed=n) for n, shape in enumerate(shapes))
    return layer(dtype, gelu, first, 1e-5, *weights, inputs=1, **mask)


PADDING = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
FUTURE = torch.ones(5, 5).triu(1) > 0
CASES: dict[str, list[Call]] = {
    "aten._native_multi_head_attention": [
        *(layer(dtype) for dtype in ("float32", "float64")),
        layer("float32", mask=PADDING, kind=1), layer("float32", mask=FUTURE, kind=0),
        layer("float32", mask=FUTURE.expand(2, 2, 5, 5), kind=2), layer("float32", None, True, False),
        layer("float32", mask=PADDING * -math.inf, kind=1), layer("float32", mask=FUTURE.long(), kind=0),
    ],
    "aten._transformer_encoder_layer_fwd": [
        *(encoder("float32", gelu, first) for gelu in (False, True) for first in (False, True)),
        encoder("float64", True, False, mask=PADDING, kind=1), encoder("float32", True, True, mask=FUTURE, kind=0),
    ],
    "aten.scaled_dot_product_attention": [
        *(qkv(*batch) for batch in ((2, 4), (4,), (), (2, 2, 3), (0, 4))),
        *(qkv(2, 4, dtype=dtype) for dtype in FLOATS),
        *(qkv(2, 4, dtype=dtype, is_causal=True) for dtype in FLOATS),
        *(qkv(2, 4, dtype=dtype, attn_mask=tensor(5, 7, dtype=dtype)) for dtype in FLOATS),
        *(qkv(2, 4, dtype=dtype, attn_mask=BOOLEANS) for dtype in FLOATS),
        qkv(2, 4, dtype="float16", attn_mask=tensor(5, 7)),
        *(qkv(2, 4, attn_mask=tensor(*shape) > 0) for shape in ((2, 1, 5, 7), (1, 1, 1, 7), (2, 4, 5, 7))),
        qkv(2, 4, scale=0.3), qkv(2, 4, scale=-0.3), qkv(2, 4, values=8, is_causal=True, scale=1.5),
        qkv(2, 4, heads=2, enable_gqa=True), qkv(4, heads=1, enable_gqa=True), qkv(2, 4, enable_gqa=True),
        qkv(2, 4, heads=2, enable_gqa=True, is_causal=True, dtype="bfloat16"),
        ((tensor(1, 4, 5, 8), tensor(2, 4, 7, 8), tensor(2, 4, 7, 8)), {}),
        ((tensor(2, 4, 5, 8), tensor(4, 7, 8), tensor(4, 7, 8)), {}),
        ((tensor(2, 3, 0), tensor(2, 3, 0), tensor(2, 3, 4)), {}),
        ((tensor(2, 3, 2), tensor(2, 0, 2), tensor(2, 0, 4)), {}),
    ],
    "aten._scaled_dot_product_flash_attention_for_cpu": [
        *(qkv(2, 4, values=8, dtype=dtype) for dtype in FLOATS),
        qkv(2, 4, values=8, is_causal=True), qkv(2, 4, values=8, attn_mask=tensor(5, 7)),
        qkv(2, 4, values=8, attn_mask=tensor(2, 1, 5, 7), scale=0.2), qkv(2, 4, values=8, heads=2),
    ],
}  # fmt: skip

Q = tensor(2, 4, 5, 8)
REFUSED: list[tuple[str, Call]] = [
    ("aten.scaled_dot_product_attention", ((tensor(8), Q, Q), {})),
    ("aten.scaled_dot_product_attention", ((Q, tensor(2, 4, 5, 7), Q), {})),
    ("aten.scaled_dot_product_attention", ((Q, Q, tensor(2, 4, 6, 8)), {})),
    ("aten.scaled_dot_product_attention", ((Q, tensor(2, 3, 5, 8), tensor(2, 3, 5, 8)), {})),
    (
        "aten.scaled_dot_product_attention",
        ((Q, tensor(2, 3, 5, 8), tensor(2, 3, 5, 8)), {"enable_gqa": True}),
    ),
    ("aten.scaled_dot_product_attention", ((Q, Q, Q, tensor(4)), {})),
    ("aten.scaled_dot_product_attention", ((Q, Q, Q, tensor(4, 5)), {})),
    ("aten.scaled_dot_product_attention", ((Q, Q, Q, tensor(3, 2, 4, 5, 5)), {})),
    ("aten.scaled_dot_product_attention", ((Q, Q, Q, tensor(5, 5, dtype="float64")), {})),
    ("aten.scaled_dot_product_attention", ((Q, Q.double(), Q), {})),
    ("aten.scaled_dot_product_attention", ((Q.long(), Q.long(), Q.long()), {})),
    ("aten._native_multi_head_attention", layer("float32", mask=PADDING, kind=None)),
    ("aten._native_multi_head_attention", layer("float32", mask=PADDING[:, :4], kind=1)),
    ("aten._scaled_dot_product_flash_attention_for_cpu", ((Q[0], Q[0], Q[0]), {})),
    ("aten._scaled_dot_product_flash_attention_for_cpu", ((Q, Q, Q, 0.1), {})),
    ("aten._scaled_dot_product_flash_attention_for_cpu", ((Q, Q, tensor(2, 4, 5, 6)), {})),
    ("aten._scaled_dot_product_flash_attention_for_cpu", ((Q, Q, Q), {"attn_mask": tensor(5, 5) > 0})),
]


def test_every_operator_occurs() -> None:
    assert {name for name, spec in specs().items() if spec.family == "attention"} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str) -> None:
    for args, kwargs in CASES[name]:
        # The fused kernel adds up block by block, and keeps halves between blocks.
        scale = 8 if args[0].dtype in (torch.float16, torch.bfloat16) else 2
        check(name, *args, keywords=kwargs, scale=scale)


@pytest.mark.parametrize(
    "kwargs",
    [{}, {"is_causal": True}, {"heads": 2, "enable_gqa": True}, {"attn_mask": tensor(3, 1, 5, 7) > 0}],
)
def test_symbolic_sizes(kwargs: dict[str, Any]) -> None:
    args, kwargs = qkv(3, 4, **kwargs)
    symbols = {3: "s0", 5: "s1", 7: "s2"}
    check_symbolic(symbols, "aten.scaled_dot_product_attention", *args, **kwargs, scale=2)


def test_dropout() -> None:
    args, kwargs = qkv(2, 4, dropout_p=0.5)
    check("aten.scaled_dot_product_attention", *args, **kwargs, values=False)


@pytest.mark.parametrize(("name", "arguments"), REFUSED)
def test_refuses(name: str, arguments: Call) -> None:
    args, kwargs = arguments
    with pytest.raises((MetaError, DtypeError)):
        program_of(name, *args, **kwargs)


PRODUCT = "expand view expand view bmm view"
SAFE_SOFTMAX = "_softmax eq.Scalar logical_not any.dim logical_not full_like where.self"
SCALED = "mul.Scalar permute mul.Scalar"
CAUSAL = "full arange.start_step unsqueeze arange.start_step unsqueeze sub.Tensor le.Scalar logical_and"
ADDITIVE = "scalar_tensor scalar_tensor where.self"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (qkv(2, 4), f"{SCALED} {PRODUCT} {SAFE_SOFTMAX} {PRODUCT}"),
        (
            qkv(2, 4, is_causal=True),
            f"{SCALED} {CAUSAL} {ADDITIVE} {PRODUCT} add.Tensor {SAFE_SOFTMAX} {PRODUCT}",
        ),
        (qkv(2, 4, attn_mask=BOOLEANS), f"{SCALED} {ADDITIVE} {PRODUCT} add.Tensor {SAFE_SOFTMAX} {PRODUCT}"),
        (
            qkv(2, 4, heads=2, enable_gqa=True),
            f"{'unsqueeze expand clone view ' * 2}{SCALED} {PRODUCT} {SAFE_SOFTMAX} {PRODUCT}",
        ),
    ],
)
def test_ends_in_what_pytorch_ends_in(arguments: Call, expected: str) -> None:
    """The operators that `run_decompositions()` leaves; their order may differ."""
    args, kwargs = arguments
    module, _ = program_of("aten.scaled_dot_product_attention", *args, **kwargs)
    DecomposeAten().apply(Context(), module)
    operators = [op.name.removeprefix("aten.") for op in module.walk() if op.name.startswith("aten.")]
    assert sorted(operators) == sorted(expected.split())
