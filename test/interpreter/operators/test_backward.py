"""Gradients against PyTorch: what autograd calls in the course of `backward()` is recorded, and each call checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, check_natively, check_symbolic, compare, program_of, to_numpy  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from xdsl_exir.dialects.meta import MetaError  # noqa: E402
from xdsl_exir.dialects.spec import specs  # noqa: E402

IN_POINTWISE = ("aten.threshold_backward", "aten.gelu_backward")
"""Those of `test_pointwise`."""
GRADIENTS = sorted(
    name
    for name, spec in specs().items()
    if spec.family == "activation" and name.endswith("_backward") and name not in IN_POINTWISE
)
"""Those of activation functions."""
OPERATORS = sorted(name for name, spec in specs().items() if spec.family == "backward") + GRADIENTS
Call = tuple[str, tuple[Any, ...], dict[str, Any]]
Forward = Callable[..., torch.Tensor]

HALVES = ("float16", "bfloat16")
FLOATS = ("float32", "float64", *HALVES)
FULL = ("float32", "float64")


class Recorder(TorchDispatchMode):
    """Keeps the calls of operators of the family."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func).removesuffix(".default")
        if name in OPERATORS:
            self.calls.append((name, args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def recorded(forward: Forward, dtype: str, *shapes: tuple[int, ...]) -> list[Call]:
    """Calls of the family in the backward pass of a function of random tensors."""
    generator = torch.Generator().manual_seed(0)
    kind = getattr(torch, dtype)
    tensors = [
        (torch.randn(shape, generator=generator) * 2).to(kind).requires_grad_(True) for shape in shapes
    ]
    result = forward(*tensors)
    weights = torch.randn(result.shape, generator=generator).to(result.dtype)
    if dtype in HALVES:  # PyTorch rounds partial sums: let them not cancel
        weights = weights.abs()
    with Recorder() as recorder:
        result.backward(weights)
    assert recorder.calls
    return recorder.calls


def calls(forward: Forward, *shapes: tuple[int, ...], dtypes: tuple[str, ...] = FLOATS) -> Any:
    """A row of the table: a function, the shapes of its arguments, the dtypes to try."""
    return forward, shapes, dtypes


LINE, IMAGE, VOLUME = (2, 3, 9), (2, 4, 9, 10), (1, 2, 5, 6, 7)
CLASSES = torch.tensor([0, 2, 1, -100])


def sdpa(**options: Any) -> Forward:
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options)


TABLE: dict[str, list[Any]] = {
    "activations": [
        calls(function, (4, 5))
        for function in (
            F.elu,
            lambda x: F.elu(x, 0.7),
            F.leaky_relu,
            lambda x: F.leaky_relu(x, 0.3),
            F.hardtanh,
            lambda x: F.hardtanh(x, -0.5, 1.25),
            F.hardsigmoid,
            F.hardswish,
            F.hardshrink,
            F.softshrink,
            F.softplus,
            lambda x: F.softplus(x, 2, 1),
            F.logsigmoid,
            torch.logit,
            lambda x: torch.logit(x, 0.1),
            F.silu,
            F.mish,
        )
    ]
    + [calls(F.glu, (3, 6)), calls(lambda x: F.glu(x, 0), (4, 5, 3))]
    + [calls(F.prelu, (3, 4, 2), (4,))],
    "losses": [
        calls(function, (4, 5), (4, 5), dtypes=FULL)
        for function in (
            F.mse_loss,
            lambda x, y: F.mse_loss(x, y.detach(), reduction="sum"),
            lambda x, y: F.smooth_l1_loss(x, y, beta=0.5),
            lambda x, y: F.smooth_l1_loss(x, y.detach(), reduction="none", beta=2),
            lambda x, y: F.huber_loss(x, y.detach(), delta=0.7),
            lambda x, y: F.soft_margin_loss(x, y.detach().sign()),
            lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.detach().sigmoid()),
            lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.detach().sigmoid(), y.detach(), reduction="sum"),
        )
    ]
    + [calls(F.mse_loss, (3,), (3,), dtypes=HALVES)]
    + [
        calls(lambda x: F.nll_loss(x, CLASSES), (4, 3)),
        calls(lambda x: F.nll_loss(x, CLASSES, reduction="none"), (4, 3)),
        calls(lambda x, w: F.nll_loss(x, CLASSES, w.detach().abs(), reduction="sum"), (4, 3), (3,)),
        calls(lambda x: F.nll_loss(x, torch.tensor(1)), (3,), dtypes=FULL),
        calls(lambda x, w: F.nll_loss(x, CLASSES.view(1, 2, 2), w.detach().abs()), (1, 3, 2, 2), (3,)),
        calls(lambda x: F.nll_loss(x, CLASSES.view(1, 2, 2), reduction="none"), (1, 3, 2, 2)),
    ],
    "normalizations": [
        calls(lambda x: F.softmax(x, 1), (4, 5)),
        calls(lambda x: F.softmax(x, 0), (3, 4, 2)),
        calls(lambda x: F.log_softmax(x, -1), (4, 5)),
        calls(lambda x, w, b: F.layer_norm(x, [5], w, b), (3, 4, 5), (5,), (5,)),
        calls(lambda x, w, b: F.layer_norm(x, [4, 5], w, b.detach()), (3, 4, 5), (4, 5), (4, 5), dtypes=FULL),
        calls(lambda x: F.layer_norm(x, [4, 5]), (3, 4, 5)),
        calls(lambda x, w, b: F.group_norm(x, 2, w, b), IMAGE, (4,), (4,)),
        calls(lambda x: F.group_norm(x, 4), IMAGE),
        calls(lambda x, w, b: F.batch_norm(x, None, None, w, b, True), IMAGE, (4,), (4,)),
        calls(lambda x: F.batch_norm(x, None, None, training=True), LINE),
        calls(
            lambda x, m, v, w: F.batch_norm(x, m.detach(), v.detach().abs(), w),
            (5, 3), (3,), (3,), (3,),
        ),
    ],
    "products": [
        calls(sdpa(), *[(2, 2, 4, 8)] * 3, dtypes=FULL),
        calls(sdpa(is_causal=True), *[(1, 2, 5, 8)] * 3, dtypes=FULL),
        calls(sdpa(attn_mask=torch.ones(4, 6).tril().log(), scale=0.3), (1, 2, 4, 8), *[(1, 2, 6, 8)] * 2, dtypes=("float32",)),
        calls(lambda w: F.embedding(torch.tensor([[0, 2, 2], [4, 1, 0]]), w), (5, 3)),
        calls(lambda w: F.embedding(torch.tensor([0, 2, 2]), w, 2, scale_grad_by_freq=True), (5, 3)),
        calls(lambda w: F.embedding(torch.tensor([0, 2, 2]), w, scale_grad_by_freq=True), (5, 3)),
        calls(F.conv1d, LINE, (4, 3, 3), (4,), dtypes=("float32", "bfloat16")),
        calls(lambda x, w, b: F.conv2d(x, w, b, (2, 3), (1, 2), (2, 1)), IMAGE, (6, 4, 3, 2), (6,), dtypes=FULL),
        calls(lambda x, w: F.conv2d(x, w, None, 2, 1, groups=2), IMAGE, (6, 2, 3, 3), dtypes=FULL),
        calls(lambda x, w: F.conv2d(x, w, None, 1, 1, groups=4), IMAGE, (4, 1, 3, 3), dtypes=FULL),
        calls(lambda x, w, b: F.conv2d(x.detach(), w, b), IMAGE, (2, 4, 3, 3), (2,), dtypes=FULL),
        calls(lambda x, w: F.conv3d(x, w, None, 2), VOLUME, (3, 2, 2, 2, 2), dtypes=FULL),
        calls(lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1), IMAGE, (4, 3, 3, 3), (3,), dtypes=FULL),
        calls(lambda x, w: F.conv_transpose2d(x, w, None, (2, 1), 0, (1, 0), 2, (2, 1)), IMAGE, (4, 3, 3, 2), dtypes=FULL),
        calls(lambda x, y: torch.cdist(x, y), (2, 4, 3), (2, 5, 3), dtypes=FULL),
        *[calls(lambda x, y, p=p: torch.cdist(x, y, p), (4, 3), (5, 3), dtypes=FULL) for p in (0.0, 0.5, 1.0, 1.5, 3.0, float("inf"))],
        calls(lambda x: torch.cdist(x, x.detach()), (4, 3), dtypes=FULL),
    ],
    "windows": [
        calls(lambda x: F.avg_pool2d(x, 2), IMAGE),
        calls(lambda x: F.avg_pool2d(x, (3, 2), 2, 1, True, False), IMAGE),
        calls(lambda x: F.avg_pool2d(x, 3, 2, 1, True, True), IMAGE[1:]),
        calls(lambda x: F.avg_pool2d(x, 3, 1, 1, divisor_override=5), IMAGE),
        calls(lambda x: F.avg_pool3d(x, (2, 3, 2), 2, 1), VOLUME, dtypes=FULL),
        calls(lambda x: F.adaptive_avg_pool2d(x, (3, 4)), IMAGE),
        calls(lambda x: F.adaptive_avg_pool2d(x, (12, 2)), IMAGE[1:]),
        calls(lambda x: F.adaptive_avg_pool3d(x, (2, 3, 7)), VOLUME),
        calls(lambda x: F.max_pool2d(x, 2), IMAGE),
        calls(lambda x: F.max_pool2d(x, 3, 1, 1), IMAGE[1:]),
        calls(lambda x: F.max_pool2d(x, 2, 2, 0, 2, True), IMAGE),
        calls(lambda x: F.max_pool3d(x, 2, 1), VOLUME),
        calls(lambda x: F.adaptive_max_pool2d(x, (3, 4)), IMAGE),
        calls(lambda x: F.adaptive_max_pool3d(x, (2, 3, 4)), VOLUME),
        calls(lambda x: F.fractional_max_pool2d(x, 2, (4, 5)), IMAGE),
        calls(lambda x: F.fractional_max_pool3d(x, 2, (3, 3, 4)), VOLUME),
    ],
    "resampling": [
        calls(lambda x, mode=mode, to=to, corners=corners: F.interpolate(x, to, mode=mode, align_corners=corners), shape, dtypes=("float32", "bfloat16"))
        for modes, shape, sizes in (
            (("nearest", "nearest-exact", "linear"), LINE, (13, 5)),
            (("nearest", "nearest-exact", "bilinear", "bicubic"), IMAGE, ((12, 7), (18, 20))),
            (("nearest", "nearest-exact", "trilinear"), VOLUME, ((4, 9, 14),)),
        )
        for mode in modes
        for to in sizes
        for corners in ((None,) if mode.startswith("nearest") else (False, True))
    ]
    + [calls(lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), IMAGE, dtypes=FULL)]
    + [
        calls(lambda x, mode=mode, pads=pads: F.pad(x, pads, mode), shape, dtypes=("float32", "float16", "complex64"))
        for mode in ("reflect", "replicate")
        for shape, pads in ((LINE, (2, 3)), (IMAGE, (1, 2, 3, 0)), (VOLUME, (1, 2, 0, 3, 2, 1)), (LINE, (-2, 4)))
    ],
    "views": [
        calls(lambda x: x.select(1, -2), (3, 4)),
        calls(lambda x: x[1:6:2], (7, 2), dtypes=("float32", "complex64")),
        calls(lambda x: x.diagonal(1, 0, 2), (3, 2, 4)),
        calls(lambda x: x.unfold(1, 3, 2), (2, 8, 2)),
        calls(lambda x: x.unfold(0, 3, 1), (6,)),
    ],
}  # fmt: skip

MIXED: list[Call] = [
    ("aten.native_layer_norm_backward",
     (*torch.randn(2, 3, 4).bfloat16(), [4], *torch.randn(2, 3, 1), *torch.randn(2, 4), [True] * 3), {}),
    ("aten.native_batch_norm_backward",
     (*torch.randn(2, 3, 4, 5).half(), *torch.rand(5, 4), True, 1e-5, [True] * 3), {}),
    ("aten.native_group_norm_backward",
     (*torch.randn(2, 3, 4, 5).half(), *torch.rand(2, 3, 2), torch.rand(4), 3, 4, 5, 2, [True] * 3), {}),
]  # fmt: skip
"""Inputs of half precision beside parameters in Float. PyTorch rounds in between: only types are compared."""

BY_HAND: list[Call] = [
    ("aten.elu_backward", (torch.randn(5), 1.0, 1.5, 0.5, True, torch.randn(5)), {}),
    *[
        ("aten.rrelu_with_noise_backward", (*torch.randn(3, 5), 0.1, 0.3, training, False), {})
        for training in (False, True)
    ],
    ("aten.unfold_backward", (torch.randn(1), [], 0, 1, 1), {}),
    ("aten.softplus_backward", (torch.randn(0, 2), torch.randn(0, 2), 1, 20), {}),
    ("aten.hardtanh_backward", (torch.ones(4).bfloat16(), torch.tensor([0.7, 0.699, 0.71, -1]).bfloat16(), -1, 0.7), {}),
]  # fmt: skip


@pytest.mark.parametrize("group", TABLE)
def test_gradients(group: str) -> None:
    for forward, shapes, dtypes in TABLE[group]:
        for dtype in dtypes:
            for name, args, kwargs in recorded(forward, dtype, *shapes):
                least = LEAST.get((name, dtype), 0)
                check(name, *args, scale=SCALE.get(dtype, 1), least=least, keywords=kwargs)


SCALE = {"float32": 4, "float16": 8, "bfloat16": 2}
"""Sums are in another order; PyTorch rounds some in between."""
LEAST = {("aten.convolution_backward", "bfloat16"): 2**-8}
"""What results may differ by, absolutely: a unit in the last place of terms of 1, to which oneDNN rounds on some processors."""


@pytest.mark.parametrize("call", BY_HAND, ids=lambda call: call[0])
def test_by_hand(call: Call) -> None:
    name, args, kwargs = call
    check(name, *args, scale=4, keywords=kwargs)


@pytest.mark.parametrize("call", MIXED, ids=lambda call: call[0])
def test_mixed(call: Call) -> None:
    name, args, kwargs = call
    check(name, *args, values=False, keywords=kwargs)


def test_symbolic_sizes() -> None:
    x, grad = torch.randn(2, 7, 5)
    check_symbolic({7: "s0"}, "aten.silu_backward", grad, x)
    check_symbolic({7: "s0"}, "aten.mse_loss_backward", torch.tensor(2.0), x, grad, 1)
    check_symbolic({7: "s0"}, "aten._softmax_backward_data", grad, x.softmax(1), 1, torch.float32)
    statistics = torch.rand(2, 7, 1)
    arguments = (grad, x, [5], *statistics, torch.rand(5), None, [True, True, False])
    check_symbolic({7: "s0"}, "aten.native_layer_norm_backward", *arguments)
    check_symbolic({7: "s0"}, "aten.embedding_dense_backward", grad, torch.arange(7) % 4, 4, -1, False)
    check_symbolic({7: "s0"}, "aten.slice_backward", grad[2:5], [7, 5], 0, 2, 5, 1)


REFUSED: list[tuple[Any, ...]] = [
    ("expected", "aten.avg_pool2d_backward", torch.ones(1, 2, 3, 3), torch.ones(1, 2, 4, 4), [2, 2], [], [0, 0],
     False, True, None),
    ("the gradient has shape", "aten._softmax_backward_data", torch.ones(3), torch.ones(4), 0, torch.float32),
    ("output_mask must have 3", "aten.convolution_backward", torch.ones(1, 2, 3), torch.ones(1, 2, 3),
     torch.ones(2, 2, 1), None, [1], [0], [1], False, [0], 1, [True]),
    ("is odd", "aten.glu_backward", torch.ones(2), torch.ones(5), 0),
    ("'rstd' has shape", "aten.native_layer_norm_backward", *torch.ones(2, 3, 4), [4], torch.ones(3, 1),
     torch.ones(3), None, None, [True] * 3),
    ("padding 4 of a dimension of size 4", "aten.reflection_pad1d_backward", torch.ones(2, 12), torch.ones(2, 4),
     [4, 4]),
    ("'save_mean' is needed", "aten.native_batch_norm_backward", *torch.ones(2, 3, 4), None, None, None, None,
     None, True, 1e-5, [True] * 3),
    ("the gradient is one number", "aten.nll_loss_backward", torch.ones(2), torch.ones(2, 3), torch.tensor([0, 1]),
     None, 1, -100, torch.ones(())),
]  # fmt: skip


@pytest.mark.parametrize("call", REFUSED, ids=lambda call: call[1])
def test_refused(call: tuple[Any, ...]) -> None:
    message, *arguments = call
    with pytest.raises(MetaError, match=message):
        program_of(*arguments)


def test_every_operator_is_checked() -> None:
    seen = {name for name, _, _ in BY_HAND}
    for rows in TABLE.values():
        for forward, shapes, dtypes in rows:
            seen |= {name for name, _, _ in recorded(forward, dtypes[0], *shapes)}
    assert sorted(set(OPERATORS) - seen) == []


@pytest.mark.native
@pytest.mark.parametrize("group", TABLE)
def test_natively(group: str) -> None:
    for_each = [
        call
        for forward, shapes, dtypes in TABLE[group]
        if "complex64" not in dtypes
        for call in recorded(forward, dtypes[0], *shapes)
    ]
    check_natively(for_each, scale=4)


@pytest.mark.native
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_natively_in_halves(name: str) -> None:
    """What decomposition leaves computes in float32 and rounds once."""
    rows = [row for row in TABLE["windows"] if name in row[2]]
    check_natively(
        [call for forward, shapes, _ in rows for call in recorded(forward, name, *shapes)], scale=8
    )


class Network(torch.nn.Module):
    """Convolution, normalization, pooling and a loss."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, 2, 1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.groups = torch.nn.GroupNorm(2, 8)
        self.second = torch.nn.ConvTranspose2d(8, 4, 2, 2)
        self.last = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.hardtanh(self.norm(self.first(x))), 2)
        x = F.avg_pool2d(F.silu(self.groups(x)), 2, 1)
        x = F.interpolate(F.hardswish(self.second(x)), scale_factor=2, mode="bilinear")
        x = F.adaptive_avg_pool2d(x, (3, 2)).mean((-1, -2))
        return F.cross_entropy(self.last(x), y)


@pytest.mark.native
@pytest.mark.filterwarnings("ignore")
def test_a_training_step() -> None:
    """A loss with the gradients of all parameters, as torch.export's joint graph gives them."""
    from torch.export.experimental import _export_forward_backward

    import xdsl_exir
    from xdsl_exir.interpreter.interpreter import InterpreterEngine
    from xdsl_exir.runtime.native import NativeEngine

    torch.manual_seed(0)
    inputs = torch.randn(2, 3, 17, 15), torch.tensor([2, 0])
    exported = _export_forward_backward(torch.export.export(Network(), inputs))
    signature, user = exported.graph_signature, iter(inputs)
    given = [exported.state_dict[s.target] if s.target else next(user) for s in signature.input_specs]
    with torch.no_grad():
        expected = exported.graph_module(*[value.clone() for value in given])
    program = xdsl_exir.from_exported_program(exported).to_edge()
    kinds = [spec.kind.name for spec in signature.output_specs]
    assert kinds.count("GRADIENT_TO_PARAMETER") == 10
    for engine in (InterpreterEngine(program.module), NativeEngine(program)):
        results = engine.run("forward", [to_numpy(value) for value in given])
        for got, value in zip(results, torch.utils._pytree.tree_leaves(expected), strict=True):
            compare("a training step", got, value, scale=50)
