"""Losses and distances against PyTorch: reductions, weights, ignored classes, smoothing, dtypes."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, program_of  # noqa: E402

from xdsl_exir.dialects.meta import MetaError  # noqa: E402
from xdsl_exir.dialects.promotion import DtypeError  # noqa: E402
from xdsl_exir.dialects.spec import specs  # noqa: E402

torch.manual_seed(0)
NONE, MEAN, SUM = 0, 1, 2
REDUCTIONS = (NONE, MEAN, SUM)
X, Y = torch.randn(4, 5), torch.randn(4, 5)
P, Q = torch.rand(4, 5), torch.rand(4, 5)
SIGNS = torch.tensor([1.0, -1, 1, -1, 1]).expand(4, 5)
CLASSES = torch.tensor([1, 0, 4, 2])
LABELS = torch.tensor([[1, 3, -1, 0, 2], [-1, 0, 0, 0, 0], [4, 2, 0, 1, 3], [2, 2, -1, -1, -1]])
IMAGE, PIXELS = torch.randn(2, 3, 4, 5), torch.randint(0, 3, (2, 4, 5))
WEIGHT = torch.rand(5)
MIXED = (
    (torch.bfloat16, torch.float32, torch.int64),
    (torch.float32, torch.bfloat16, torch.bool),
    (torch.float64, torch.float32, torch.float16),
)

CALLS: list[tuple[Any, ...]] = []
for _dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    _layer = X.to(_dtype), Y.to(_dtype), CLASSES % 4
    _policy = (2, "accuracy", torch.float64 if _dtype is torch.float64 else torch.float32)
    for _weights in ((None, None), (Y[0, :4].to(_dtype), WEIGHT[:4].to(_dtype))):
        _prefix = "torch_nn._linear_cross_entropy_batch_chunked"
        CALLS += [
            (_prefix, *_layer, *_weights, _r, 2, 0.0, *_policy, True, *_grads)
            for _r in ("mean", "sum")
            for _grads in ((False, False, False), (True, True, True))
        ]
        CALLS.append((f"{_prefix}_no_reduction", *_layer, *_weights, 2, *_policy))
for _r in REDUCTIONS:
    for _name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        CALLS += [(f"aten.{_name}", X, Y, _r), (f"aten.{_name}", X.double(), Y[:1].double(), _r)]
    CALLS += [
        ("aten.smooth_l1_loss", X, Y, _r, 0.3),
        ("aten.smooth_l1_loss", X, Y, _r, 0.0),
        ("aten.huber_loss", X, Y, _r, 0.3),
        ("aten.kl_div", X, P, _r),
        ("aten.kl_div", X, P.round(), _r),
        ("aten.kl_div", X, Y, _r),
        ("aten.binary_cross_entropy", P, Q, None, _r),
        ("aten.binary_cross_entropy", P.round(), Q, WEIGHT, _r),
        ("aten.binary_cross_entropy_with_logits", X, Q, None, None, _r),
        ("aten.binary_cross_entropy_with_logits", X, Q, WEIGHT, WEIGHT * 2, _r),
        ("aten.soft_margin_loss", X, SIGNS, _r),
        ("aten.poisson_nll_loss", X, P * 3, True, False, 1e-8, _r),
        ("aten.poisson_nll_loss", P, P * 3, False, True, 1e-8, _r),
        ("aten.hinge_embedding_loss", X, SIGNS, 1.0, _r),
        ("aten.multi_margin_loss", X, CLASSES, 1, 1, None, _r),
        ("aten.multi_margin_loss", X, CLASSES, 2, 0.5, WEIGHT, _r),
        ("aten.multi_margin_loss", X[0], CLASSES[0], 1, 1.5, None, _r),
        ("aten.multi_margin_loss", X[0], CLASSES[:1], 1, 1.5, None, _r),
        ("aten.multi_margin_loss", X[:1], CLASSES[0], 1, 1.5, None, _r),
        ("aten.multilabel_margin_loss", X, LABELS, _r),
        ("aten.multilabel_margin_loss", X[0], LABELS[0], _r),
        ("aten.margin_ranking_loss", X, Y, SIGNS, 0.5, _r),
        ("aten.cosine_embedding_loss", X, Y, SIGNS[0, :4], 0.1, _r),
        ("aten.cosine_embedding_loss", X[0], Y[0], SIGNS[0, 0], 0.0, _r),
        ("aten.triplet_margin_loss", X, Y, P, 1.0, 2.0, 1e-6, False, _r),
        ("aten.triplet_margin_loss", X, Y, P, 0.5, 1.0, 1e-6, True, _r),
    ]
    for _weight in (None, WEIGHT):
        for _ignored in (-100, 4):
            _options = (_weight, _r, _ignored)
            CALLS += [
                ("aten.nll_loss_forward", X, CLASSES, *_options),
                ("aten.nll_loss", X, CLASSES, *_options),
                ("aten.nll_loss_nd", X, CLASSES, *_options),
                ("aten.cross_entropy_loss", X, CLASSES, *_options),
                ("aten.cross_entropy_loss", X, CLASSES, *_options, 0.1),
            ]
        CALLS += [
            ("aten.cross_entropy_loss", X, P.softmax(1), _weight, _r),
            ("aten.cross_entropy_loss", X, P.softmax(1), _weight, _r, -100, 0.2),
            ("aten.cross_entropy_loss", X[0], P[0].softmax(0), _weight, _r),
            ("aten.cross_entropy_loss", X[0], CLASSES[0], _weight, _r),
            ("aten.nll_loss_forward", X[0], CLASSES[0], _weight, _r, -100),
        ]
    for _weight in (None, WEIGHT[:3]):
        CALLS += [
            ("aten.nll_loss2d_forward", IMAGE, PIXELS, _weight, _r, 1),
            ("aten.nll_loss2d", IMAGE, PIXELS, _weight, _r),
            ("aten.nll_loss_nd", IMAGE, PIXELS, _weight, _r, 1),
            ("aten.nll_loss_nd", IMAGE[:, :, 0], PIXELS[:, 0], _weight, _r, 1),
            ("aten.cross_entropy_loss", IMAGE, PIXELS, _weight, _r, 1, 0.1),
            ("aten.cross_entropy_loss", IMAGE, IMAGE.softmax(1), _weight, _r),
        ]
CALLS += [
    ("aten.mse_loss", X, CLASSES[:, None]),
    ("aten.mse_loss", X.half(), Y),
    ("aten.mse_loss", X[:0], Y[:0]),
    ("aten.l1_loss", X + 1j, Y),
    ("aten.nll_loss", X, CLASSES.to(torch.uint8)),
    ("aten.nll_loss", X[:0], CLASSES[:0]),
    ("aten.nll_loss", X, torch.full([4], -100)),
    ("aten.cross_entropy_loss", X.bfloat16(), CLASSES),
    *(
        ("aten.binary_cross_entropy_with_logits", X.to(a), P.to(b), WEIGHT.to(c), WEIGHT.to(a))
        for a, b, c in MIXED
    ),
    *(("aten.binary_cross_entropy", P, Q, WEIGHT.to(c)) for _, _, c in MIXED),
    ("aten.huber_loss", X, CLASSES[:, None]),
    ("aten.soft_margin_loss", X, SIGNS.long()),
    ("aten.poisson_nll_loss", CLASSES, CLASSES, True, True, 1e-8, MEAN),
    ("aten.margin_ranking_loss", CLASSES, CLASSES + 1, CLASSES),
    ("aten.cosine_similarity", X, Y),
    ("aten.cosine_similarity", X[0], Y[0], 0),
    ("aten.cosine_similarity", X, Y[:1], -1),
    ("aten.cosine_similarity", X, Y[0], 0),
    ("aten.cosine_similarity", X * 0, Y, 1, 1e-2),
    ("aten.cosine_similarity", X.double(), Y, 0),
    ("aten.cosine_similarity", IMAGE, IMAGE[:, :1], 1),
    *(("aten.pairwise_distance", X, Y, p) for p in (2.0, 1.0, 0.0, 3.0, inf)),
    ("aten.pairwise_distance", X[0], Y, 2.0, 1e-3, True),
    ("aten.pairwise_distance", CLASSES, CLASSES + 2),
]


def test_every_operator_occurs() -> None:
    assert {name for name, spec in specs().items() if spec.family == "loss"} == {c[0] for c in CALLS}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_calls(call: tuple[Any, ...]) -> None:
    check(*call, scale=2)


REFUSED: list[tuple[Any, ...]] = [
    ("do not broadcast", "aten.mse_loss", X, Y[:, :2]),
    ("reduction 3", "aten.mse_loss", X, Y, 3),
    ("input and target of shapes", "aten.binary_cross_entropy", P, Q[:1]),
    (r"take targets \[4\], not \[3\]", "aten.nll_loss", X, CLASSES[:3]),
    (r"weight \[3\] for 5 classes", "aten.cross_entropy_loss", X, CLASSES, WEIGHT[:3]),
    ("label_smoothing 2.0", "aten.cross_entropy_loss", X, CLASSES, None, MEAN, -100, 2.0),
    ("one dimension more", "aten.cosine_embedding_loss", X, Y, SIGNS[0, 0]),
    ("expected 4 dimensions", "aten.nll_loss2d_forward", X, CLASSES, None, MEAN, -100),
]


@pytest.mark.parametrize("call", REFUSED, ids=lambda call: call[1])
def test_refused(call: tuple[Any, ...]) -> None:
    message, *arguments = call
    with pytest.raises(MetaError, match=message):
        program_of(*arguments)


def test_integers_are_refused() -> None:
    with pytest.raises(DtypeError):
        program_of("aten.mse_loss", CLASSES, CLASSES)
