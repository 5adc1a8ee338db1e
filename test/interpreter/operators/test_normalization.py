"""Every normalization, softmax and dropout against PyTorch: absent weights, mixed dtypes, empty and 0-dim tensors."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from differential import check, check_symbolic, program_of, run, to_numpy  # noqa: E402

from xdsl_exir.dialects.meta import MetaError  # noqa: E402
from xdsl_exir.dialects.promotion import DtypeError  # noqa: E402
from xdsl_exir.dialects.spec import specs  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight")

FLOATS = ["float32", "float16", "bfloat16", "float64"]


def tensor(*shape: int, dtype: str = "float32", seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(shape, generator=generator).to(getattr(torch, dtype))


Call = tuple[tuple[Any, ...], dict[str, Any]]


def call(*args: Any, **kwargs: Any) -> Call:
    return args, kwargs


MIXED = [(dtype, dtype) for dtype in FLOATS] + [("float16", "float32"), ("bfloat16", "float32")]
"""Dtypes of the input and of the weights: short floats also take float32 weights."""


def channels(count: int, dtype: str = "float32") -> tuple[torch.Tensor, ...]:
    """Weight, bias, running mean and variance."""
    weight, bias, mean, variance = (tensor(count, dtype=dtype, seed=seed) for seed in range(4))
    return weight, bias, mean, variance.abs() + 0.5


def batch_norms(*after: Any, training: bool | None) -> list[Call]:
    """Calls of a batch norm; `training` None is of an operator that does not take it."""
    flag = () if training is None else (training,)
    shapes = [(4, 3), (4, 3, 5), (2, 3, 4, 5), (2, 3, 2, 2, 2)] + ([] if training else [(0, 3, 2)])
    return [
        *(call(tensor(*shape), *channels(3), *flag, *after) for shape in shapes),
        *(
            call(tensor(2, 3, 4, dtype=dtype), *channels(3, weights), *flag, *after)
            for dtype, weights in MIXED
        ),
        call(tensor(2, 3, 4), None, None, *channels(3)[2:], *flag, *after),
        call(tensor(2, 3, 4), channels(3)[0], None, *channels(3)[2:], *flag, *after),
        call(tensor(2, 3, 4), None, channels(3)[1], *channels(3)[2:], *flag, *after),
    ]


NO_STATISTICS = [
    call(tensor(2, 3, 4), *channels(3)[:2], None, None, True, 0.1, 1e-5),
    call(tensor(2, 3, 4, dtype="float16"), None, None, None, None, True, 0.1, 1e-3),
]


def rms_norms() -> list[Call]:
    return [
        *(
            call(tensor(2, 3, 4, dtype=dtype), [4], tensor(4, dtype=weights), 1e-6)
            for dtype, weights in MIXED
        ),
        *(call(tensor(2, 3, 4, dtype=dtype), [3, 4], None, None) for dtype in FLOATS),
        call(tensor(2, 3, 4), [2, 3, 4], tensor(2, 3, 4), None),
        call(tensor(0, 4), [4], None, None),
    ]


def softmaxes(*after: Any) -> list[Call]:
    return [
        *(call(tensor(2, 3, 4, dtype=dtype), 1, *after) for dtype in FLOATS),
        *(call(tensor(2, 3, 4) * 50, dim, *after) for dim in (0, -1)),
        call(torch.tensor([[inf, 1.0], [-inf, 1.0], [nan, 1.0], [-inf, -inf]]), -1, *after),
        call(torch.tensor(3.0), 0, *after),
        call(torch.tensor(3.0), -1, *after),
        call(torch.empty(2, 0), 1, *after),
        call(torch.empty(0, 2), 1, *after),
    ]


def softmax_dtypes() -> list[Call]:
    return [
        call(tensor(2, 3, dtype="float16"), -1, torch.float32),
        call(tensor(2, 3), -1, torch.float32),
        call(tensor(2, 3), 0, torch.float64),
        call(torch.arange(6).reshape(2, 3), 0, torch.float32),
    ]


def group_norms() -> list[Call]:
    return [
        *(call(tensor(2, 6, 4, dtype=dtype), 3, tensor(6, dtype=weights), tensor(6, dtype=weights, seed=1))
          for dtype, weights in MIXED),
        call(tensor(2, 6, 4, 3), 2), call(tensor(2, 4), 2), call(tensor(2, 6, 4), 1, None, tensor(6)),
        call(tensor(2, 6, 4), 6, tensor(6), None, 0.1), call(tensor(0, 6, 2), 3),
    ]  # fmt: skip


CASES: dict[str, list[Call]] = {
    "aten.norm_except_dim": [call(tensor(2, 3, 4, dtype=dtype), 2, dim) for dtype in FLOATS for dim in (0, 1, 2, -1)],
    "aten._weight_norm": [
        *(call(tensor(2, 3, 4, dtype=dtype), tensor(2, 1, 1, dtype=dtype)) for dtype in FLOATS),
        call(tensor(2, 3), tensor(1, 3), 1), call(tensor(2, 3, 4), tensor(1, 3, 1), 1), call(tensor(2, 3, 4), tensor(), -1),
    ],
    "aten.batch_norm": [*batch_norms(0.1, 1e-5, True, training=False), *batch_norms(0.1, 1e-5, True, training=True),
                        *(((*args, True), kwargs) for args, kwargs in NO_STATISTICS)],
    "aten.native_batch_norm": [*batch_norms(0.1, 1e-5, training=False), *batch_norms(0.1, 1e-5, training=True),
                               *NO_STATISTICS],
    "aten._native_batch_norm_legit_no_training": batch_norms(0.1, 1e-5, training=None),
    "aten._native_batch_norm_legit_functional": [
        *batch_norms(0.3, 1e-5, training=False), *batch_norms(0.3, 1e-5, training=True)],
    "aten._batch_norm_with_update_functional": [
        (args[:5] + args[6:], kwargs) for args, kwargs in batch_norms(0.3, 1e-5, training=True)],
    "aten._native_batch_norm_legit.no_stats": [(args[:3] + args[5:], kwargs) for args, kwargs in NO_STATISTICS],
    "aten.layer_norm": [
        *(call(tensor(2, 3, 4, dtype=dtype), [4], tensor(4, dtype=weights), tensor(4, dtype=weights, seed=1))
          for dtype, weights in MIXED),
        call(tensor(2, 3, 4), [3, 4]), call(tensor(2, 3, 4), [4], None, tensor(4)), call(tensor(4), [4], tensor(4), None, 0.1)],
    "aten.native_layer_norm": [
        *(call(tensor(2, 3, 4, dtype=dtype), [3, 4], tensor(3, 4, dtype=weights), tensor(3, 4, dtype=weights, seed=1), 1e-5)
          for dtype, weights in MIXED),
        *(call(tensor(2, 3, 4, dtype=dtype), [4], None, None, 1e-5) for dtype in FLOATS),
        call(tensor(0, 3), [3], None, tensor(3), 1e-5)],
    "aten.group_norm": group_norms(),
    "aten.native_group_norm": [
        *(call(tensor(2, 6, 4, dtype=dtype), tensor(6, dtype=weights), tensor(6, dtype=weights, seed=1), 2, 6, 4, 3, 1e-5)
          for dtype, weights in MIXED),
        call(tensor(2, 6, 2, 2), None, None, 2, 6, 4, 2, 1e-5), call(tensor(0, 6, 2), None, None, 0, 6, 2, 3, 1e-5)],
    "aten.instance_norm": [
        *(args for args in batch_norms(0.1, 1e-5, True, training=False) if args[0][0].numel()),
        *batch_norms(0.1, 1e-5, True, training=True)[1:4], *(((*args, True), kwargs) for args, kwargs in NO_STATISTICS)],
    "aten.rms_norm": rms_norms(),
    "aten._fused_rms_norm": rms_norms(),
    "aten.softmax.int": [*softmaxes(), *softmax_dtypes()],
    "aten.log_softmax.int": [*softmaxes(), *softmax_dtypes()],
    "aten.special_softmax": softmax_dtypes(),
    "aten.special_log_softmax": [call(tensor(2, 3), 1), call(tensor(2, 3), -1, dtype=torch.float64)],
    "aten._safe_softmax": [*softmaxes(), *softmax_dtypes()],
    "aten._softmax": softmaxes(False),
    "aten._log_softmax": softmaxes(False),
    "aten.native_dropout": [
        *(call(tensor(2, 3, dtype=dtype), 0.0, True) for dtype in FLOATS), call(tensor(2, 3), 1.0, True),
        call(tensor(2, 3), 0.3, False),],
}  # fmt: skip

X = tensor(2, 3, 4)
REFUSED: list[tuple[str, Call]] = [
    ("aten.batch_norm", call(tensor(3), *channels(3), False, 0.1, 1e-5, True)),
    ("aten.batch_norm", call(X, *channels(4), False, 0.1, 1e-5, True)),
    ("aten.batch_norm", call(X, None, None, None, None, False, 0.1, 1e-5, True)),
    ("aten.native_batch_norm", call(torch.empty(0, 3), *channels(3), True, 0.1, 1e-5)),
    ("aten._native_batch_norm_legit_no_training", call(X, *channels(2), 0.1, 1e-5)),
    ("aten._native_batch_norm_legit_functional", call(X, *channels(2), True, 0.1, 1e-5)),
    ("aten.instance_norm", call(X, None, None, None, None, False, 0.1, 1e-5, True)),
    ("aten.layer_norm", call(X, [3])),
    ("aten.layer_norm", call(X, [4], tensor(3))),
    ("aten.native_layer_norm", call(X, [], None, None, 1e-5)),
    ("aten.rms_norm", call(X, [4], tensor(3), None)),
    ("aten.rms_norm", call(X, [5, 2, 3, 4], None, None)),
    ("aten.group_norm", call(X, 2)),
    ("aten.group_norm", call(tensor(3), 1)),
    ("aten.native_group_norm", call(X, None, None, 2, 3, 5, 3, 1e-5)),
    ("aten.softmax.int", call(X, 3)),
    ("aten._softmax", call(X, 0, True)),
    ("aten._softmax", call(torch.ones(2, dtype=torch.int64), 0, False)),
    ("aten.softmax.int", call(torch.ones(2, dtype=torch.int64), 0)),
    ("aten.native_dropout", call(X, 1.5, True)),
]


def test_every_operator_occurs() -> None:
    mine = {name for name, spec in specs().items() if spec.family == "normalization"}
    assert mine | {"aten.native_dropout"} == set(CASES)


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
        ("aten.layer_norm", call(tensor(7, 11, 4), [4], tensor(4))),
        ("aten.rms_norm", call(tensor(7, 11, 4), [4], tensor(4))),
        ("aten.group_norm", call(tensor(7, 6, 11, 5), 3, tensor(6), tensor(6))),
        ("aten.instance_norm", call(tensor(7, 6, 11), *channels(6)[:2], None, None, True, 0.1, 1e-5, True)),
        ("aten.batch_norm", call(tensor(7, 6, 11), *channels(6), True, 0.1, 1e-5, True)),
        ("aten._safe_softmax", call(tensor(7, 11), -1)),
    ],
)
def test_symbolic_sizes(name: str, arguments: Call) -> None:
    args, kwargs = arguments
    check_symbolic({7: "s0", 11: "s1"}, name, *args, **kwargs)


@pytest.mark.parametrize("dtype", FLOATS)
def test_dropout_drops_and_scales(dtype: str) -> None:
    module, tensors = program_of(
        "aten.native_dropout", torch.ones(100, 100).to(getattr(torch, dtype)), 0.2, True
    )
    result, mask = run(module, tensors)
    assert abs(mask.mean() - 0.8) < 0.02
    kept = to_numpy(torch.tensor(1.25).to(getattr(torch, dtype)))
    np.testing.assert_array_equal(result, np.where(mask, kept, np.zeros_like(kept)))
