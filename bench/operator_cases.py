"""The first cases of `operators.py`: products, convolutions, functions of rows. A case makes, of a number of bytes, a function and operands
that take about so many.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

F = torch.nn.functional
Call = Callable[..., Any]
Case = Callable[[int], tuple[Call, tuple[Any, ...]]]
"""From bytes of operands to a function (or module) and what it is called with."""

BYTES = {"16k": 16_384, "1M": 1_048_576, "64M": 67_108_864}
CASES: dict[str, Case] = {}
DTYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i32": torch.int32,
    "i64": torch.int64,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}


def draw(*shape: int, dtype: str = "f32") -> torch.Tensor:
    """Normal numbers, or small integers."""
    kind = DTYPES[dtype]
    if kind.is_floating_point:
        return torch.randn(shape).to(kind)
    return torch.randint(0, 2 if dtype == "bool" else 8, shape).to(kind)


def whole(size: float, multiple: int = 8) -> int:
    """A size near this one, a multiple of a number that is not odd."""
    return max(multiple, round(size / multiple) * multiple)


def side(nbytes: int, matrices: float = 2, itemsize: int = 4) -> int:
    """The side of square matrices that take so many bytes together."""
    return whole(math.sqrt(nbytes / itemsize / matrices))


def width(dtype: str) -> int:
    return DTYPES[dtype].itemsize


# --- contractions ------------------------------------------------------------------------------------------------


def products() -> None:
    def square(dtype: str, call: Call) -> Case:
        def case(nbytes: int) -> tuple[Call, tuple[Any, ...]]:
            n = side(min(nbytes, 8 << 20), itemsize=width(dtype))
            return call, (draw(n, n, dtype=dtype), draw(n, n, dtype=dtype))

        return case

    layouts: dict[str, Call] = {
        "matmul": lambda a, b: a @ b,
        "matmul_nt": lambda a, b: a @ b.t(),
        "matmul_tn": lambda a, b: a.t() @ b,
        "matmul_tt": lambda a, b: a.t() @ b.t(),
    }
    for name, call in layouts.items():
        for dtype in ("f32", "f64", "f16", "bf16", "i32", "i64"):
            CASES[f"{name} {dtype}"] = square(dtype, call)
    CASES["matmul i8"] = square("i8", layouts["matmul"])

    def batched(dtype: str, transposed: bool = False) -> Case:
        def case(nbytes: int) -> tuple[Call, tuple[Any, ...]]:
            count = max(2, min(nbytes, 8 << 20) // (2 * 32 * 32 * width(dtype)))
            call: Call = (lambda a, b: a @ b.mT) if transposed else (lambda a, b: a @ b)
            return call, (draw(count, 32, 32, dtype=dtype), draw(count, 32, 32, dtype=dtype))

        return case

    for dtype in ("f32", "f64", "f16", "bf16"):
        CASES[f"bmm {dtype}"] = batched(dtype)
        CASES[f"bmm_nt {dtype}"] = batched(dtype, True)

    def shaped(shapes: Callable[[int], tuple[tuple[int, ...], ...]], call: Call, dtype: str = "f32") -> Case:
        return lambda nbytes: (call, tuple(draw(*s, dtype=dtype) for s in shapes(nbytes // width(dtype))))

    CASES["matmul odd"] = shaped(
        lambda n: ((side(4 * n) + 1, side(4 * n) + 3), (side(4 * n) + 3, side(4 * n) - 3)), layouts["matmul"]
    )
    CASES["matmul thin k"] = shaped(lambda n: ((whole(n / 32), 8), (8, 64)), layouts["matmul"])
    CASES["matmul thin n"] = shaped(
        lambda n: ((side(4 * n, 1), side(4 * n, 1)), (side(4 * n, 1), 4)), layouts["matmul"]
    )
    CASES["matmul thin m"] = shaped(
        lambda n: ((4, side(4 * n, 1)), (side(4 * n, 1), side(4 * n, 1))), layouts["matmul"]
    )
    CASES["matmul wide"] = shaped(lambda n: ((16, whole(n / 32)), (whole(n / 32), 16)), layouts["matmul"])
    CASES["outer"] = shaped(lambda n: ((side(4 * n, 1),), (side(4 * n, 1),)), torch.outer)
    for dtype in ("f32", "f64", "bf16"):
        CASES[f"mv {dtype}"] = shaped(
            lambda n: ((side(4 * n, 1), side(4 * n, 1)), (side(4 * n, 1),)), lambda a, x: a @ x, dtype
        )
        CASES[f"vm {dtype}"] = shaped(
            lambda n: ((side(4 * n, 1),), (side(4 * n, 1), side(4 * n, 1))), lambda x, a: x @ a, dtype
        )
    CASES["dot"] = shaped(lambda n: ((n // 2,), (n // 2,)), torch.dot)
    CASES["addmm"] = shaped(
        lambda n: ((side(4 * n, 3),), (side(4 * n, 3),) * 2, (side(4 * n, 3),) * 2), torch.addmm
    )
    CASES["einsum heads"] = shaped(
        lambda n: ((2, 4, max(16, n // 512), 32), (2, 4, max(16, n // 512), 32)),
        lambda a, b: torch.einsum("bhid,bhjd->bhij", a, b),
    )
    for dtype in ("f32", "f64", "bf16", "f16"):
        CASES[f"linear {dtype}"] = lambda nbytes, dtype=dtype: (
            nn.Linear(side(nbytes, 1, width(dtype)), side(nbytes, 1, width(dtype)), dtype=DTYPES[dtype]),
            (draw(8, side(nbytes, 1, width(dtype)), dtype=dtype),),
        )
    CASES["linear row"] = lambda nbytes: (
        nn.Linear(side(nbytes, 1), side(nbytes, 1)),
        (draw(1, side(nbytes, 1)),),
    )
    for name, dtype in (("attention", "f32"), ("attention bf16", "bf16")):
        CASES[name] = lambda nbytes, dtype=dtype: (
            F.scaled_dot_product_attention,
            tuple(
                draw(1, 4, max(16, min(nbytes, 4 << 20) // 3 // 4 // 32 // width(dtype)), 32, dtype=dtype)
                for _ in range(3)
            ),
        )
    CASES["attention causal"] = lambda nbytes: (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        tuple(draw(1, 4, max(16, min(nbytes, 4 << 20) // 3 // 4 // 32 // 4), 32) for _ in range(3)),
    )


# --- convolutions ------------------------------------------------------------------------------------------------


def convolutions() -> None:
    def layer(dims: int, channels: int, make: Callable[[Any, int], nn.Module], dtype: str = "f32") -> Case:
        """A layer of a dimension, on an image whose size takes about so many bytes, with at most so many channels."""

        def case(nbytes: int) -> tuple[Call, tuple[Any, ...]]:
            elements = min(nbytes, 16 << 20) / width(dtype)
            c = channels if elements >= channels * 4**dims * 4 else 8
            size = max(6, round((elements / c) ** (1 / dims)))
            return make(nn, c).to(DTYPES[dtype]), (draw(1, c, *[size] * dims, dtype=dtype),)

        return case

    for dtype in ("f32", "f64", "bf16", "f16"):
        CASES[f"conv2d 3x3 {dtype}"] = layer(2, 32, lambda n, c: n.Conv2d(c, c, 3, padding=1), dtype)
    CASES["conv2d 1x1"] = layer(2, 64, lambda n, c: n.Conv2d(c, c, 1))
    CASES["conv2d 7x7 s2"] = layer(2, 8, lambda n, c: n.Conv2d(c, 64, 7, 2, 3))
    CASES["conv2d 5x1"] = layer(2, 32, lambda n, c: n.Conv2d(c, c, (5, 1), padding=(2, 0)))
    CASES["conv2d depthwise"] = layer(2, 64, lambda n, c: n.Conv2d(c, c, 3, padding=1, groups=c))
    CASES["conv2d grouped"] = layer(2, 64, lambda n, c: n.Conv2d(c, c, 3, padding=1, groups=4))
    CASES["conv2d dilated"] = layer(2, 32, lambda n, c: n.Conv2d(c, c, 3, padding=2, dilation=2))
    CASES["conv2d patches"] = layer(2, 8, lambda n, c: n.Conv2d(c, 128, 4, 4))
    CASES["conv1d 3"] = layer(1, 64, lambda n, c: n.Conv1d(c, c, 3, padding=1))
    CASES["conv1d stride 2"] = layer(1, 64, lambda n, c: n.Conv1d(c, c, 3, 2, padding=1))
    CASES["conv1d depthwise"] = layer(1, 64, lambda n, c: n.Conv1d(c, c, 3, padding=1, groups=c))
    CASES["conv1d dilated"] = layer(1, 64, lambda n, c: n.Conv1d(c, c, 3, padding=4, dilation=4))
    CASES["conv1d causal"] = layer(1, 64, lambda n, c: n.Conv1d(c, c, 4, padding=3, groups=c))
    CASES["conv3d 3"] = layer(3, 16, lambda n, c: n.Conv3d(c, 16, 3, padding=1))
    CASES["conv3d stride 2"] = layer(3, 16, lambda n, c: n.Conv3d(c, 16, 3, 2, padding=1))
    CASES["conv_transpose2d 4 s2"] = layer(2, 32, lambda n, c: n.ConvTranspose2d(c, c, 4, 2, 1))
    CASES["conv_transpose2d 3 s2"] = layer(2, 32, lambda n, c: n.ConvTranspose2d(c, c, 3, 2, 1, 1))
    CASES["conv_transpose2d 3 s1"] = layer(2, 32, lambda n, c: n.ConvTranspose2d(c, c, 3, 1, 1))
    CASES["conv_transpose2d 2 s2"] = layer(2, 32, lambda n, c: n.ConvTranspose2d(c, c, 2, 2))
    CASES["conv_transpose2d grouped"] = layer(2, 32, lambda n, c: n.ConvTranspose2d(c, c, 4, 2, 1, groups=4))
    CASES["conv_transpose1d 4 s2"] = layer(1, 64, lambda n, c: n.ConvTranspose1d(c, c, 4, 2, 1))
    CASES["conv_transpose1d 16 s8"] = layer(1, 64, lambda n, c: n.ConvTranspose1d(c, c // 2, 16, 8, 4))
    CASES["conv_transpose3d 2 s2"] = layer(3, 16, lambda n, c: n.ConvTranspose3d(c, 8, 2, 2))

    def given(dims: int) -> Case:
        call: Call = {1: F.conv1d, 2: F.conv2d}[dims]

        def case(nbytes: int) -> tuple[Call, tuple[Any, ...]]:
            size = max(6, round((nbytes / 4 / 16) ** (1 / dims)))
            return call, (draw(1, 16, *[size] * dims), draw(16, 16, *[3] * dims))

        return case

    CASES["conv2d of inputs"], CASES["conv1d of inputs"] = given(2), given(1)
    pool: dict[str, Call] = {
        "max_pool2d 3 s2": lambda x: F.max_pool2d(x, 3, 2, 1),
        "max_pool2d indices": lambda x: F.max_pool2d(x, 2, return_indices=True),
        "avg_pool2d 3 s2": lambda x: F.avg_pool2d(x, 3, 2, 1),
        "avg_pool2d 2": lambda x: F.avg_pool2d(x, 2),
        "adaptive_avg_pool2d 1": lambda x: F.adaptive_avg_pool2d(x, 1),
        "adaptive_avg_pool2d 7": lambda x: F.adaptive_avg_pool2d(x, 7),
        "unfold": lambda x: F.unfold(x, 3, padding=1),
        "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
        "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 2),
        "interpolate bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        "interpolate nearest": lambda x: F.interpolate(x, scale_factor=2),
        "interpolate bicubic": lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"),
        "pad zero": lambda x: F.pad(x, (2, 2, 2, 2)),
        "pad reflect": lambda x: F.pad(x, (2, 2, 2, 2), mode="reflect"),
        "pad replicate": lambda x: F.pad(x, (2, 2, 2, 2), mode="replicate"),
        "pad circular": lambda x: F.pad(x, (2, 2, 2, 2), mode="circular"),
        "channels to last": lambda x: x.permute(0, 2, 3, 1).contiguous(),
        "channel mean": lambda x: x.mean((2, 3)),
        "batch mean": lambda x: x.mean((0, 2, 3)),
        "instance_norm": lambda x: F.instance_norm(x),
    }
    for name, call in pool.items():
        CASES[name] = lambda nbytes, call=call: (
            call,
            (draw(1, 32, *[2 * max(7, round(math.sqrt(nbytes / 4 / 32 / 4)))] * 2),),
        )
    CASES["max_pool1d"] = lambda nbytes: (lambda x: F.max_pool1d(x, 3, 2, 1), (draw(1, 64, nbytes // 256),))
    CASES["grid_sample"] = lambda nbytes: (
        lambda x, g: F.grid_sample(x, g, align_corners=False),
        (draw(1, 16, *[side(nbytes, 18)] * 2), draw(1, side(nbytes, 18), side(nbytes, 18), 2).clamp(-1, 1)),
    )
    norms: dict[str, Call] = {
        "group_norm": lambda c: nn.GroupNorm(8, c),
        "batch_norm": nn.BatchNorm2d,
    }
    for name, make in norms.items():
        CASES[name] = lambda nbytes, make=make: (make(32), (draw(1, 32, *[max(4, side(nbytes, 32))] * 2),))


# --- rows --------------------------------------------------------------------------------------------------------


def rows() -> None:
    """Functions of one matrix, four times as wide as high."""

    def matrix(call: Call, dtype: str = "f32", positive: bool = False) -> Case:
        def case(nbytes: int) -> tuple[Call, tuple[Any, ...]]:
            high = max(8, round(math.sqrt(nbytes / width(dtype) / 4)))
            x = draw(high, 4 * high, dtype=dtype)
            return call, (x.abs() if positive else x,)

        return case

    calls: dict[str, Call] = {
        "sum first": lambda x: x.sum(0),
        "sum last": lambda x: x.sum(-1),
        "sum all": lambda x: x.sum(),
        "mean first": lambda x: x.mean(0),
        "mean all": lambda x: x.mean(),
        "amax first": lambda x: x.amax(0),
        "amax last": lambda x: x.amax(-1),
        "amax all": lambda x: x.amax(),
        "min last": lambda x: x.min(-1),
        "prod last": lambda x: x.prod(-1),
        "std last": lambda x: x.std(-1),
        "var first": lambda x: x.var(0),
        "norm last": lambda x: x.norm(dim=-1),
        "norm all": lambda x: x.norm(),
        "all": lambda x: (x > -9).all(),
        "logsumexp": lambda x: x.logsumexp(-1),
        "argmax last": lambda x: x.argmax(-1),
        "argmax first": lambda x: x.argmax(0),
        "argmax all": lambda x: x.argmax(),
        "topk 5": lambda x: x.topk(5),
        "sort": lambda x: x.sort(-1),
        "sort first": lambda x: x.sort(0),
        "argsort": lambda x: x.argsort(-1),
        "median": lambda x: x.median(-1),
        "cumsum": lambda x: x.cumsum(-1),
        "cumsum first": lambda x: x.cumsum(0),
        "cumprod": lambda x: x.cumprod(-1),
        "cummax": lambda x: x.cummax(-1),
        "softmax": lambda x: x.softmax(-1),
        "softmax first": lambda x: x.softmax(0),
        "log_softmax": lambda x: x.log_softmax(-1),
        "rfft": lambda x: torch.fft.rfft(x).abs(),
        "fft": lambda x: torch.view_as_real(torch.fft.fft(x)),
        "transpose": lambda x: x.t().contiguous(),
        "flip": lambda x: x.flip(-1),
        "roll": lambda x: x.roll(3, -1),
        "tril": torch.tril,
        "repeat": lambda x: x.repeat(2, 2),
        "narrow": lambda x: x[:, 1:-1].contiguous(),
        "cat": lambda x: torch.cat([x, x], 0),
        "cat last": lambda x: torch.cat([x, x], -1),
        "stack last": lambda x: torch.stack([x, x], -1),
        "normalize": lambda x: F.normalize(x, dim=-1),
        "clone": torch.clone,
        "relu": torch.relu,
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "gelu": F.gelu,
        "silu": F.silu,
        "exp": torch.exp,
        "sin": torch.sin,
        "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
        "softplus": F.softplus,
        "erf": torch.erf,
        "hardswish": F.hardswish,
        "leaky_relu": F.leaky_relu,
        "elu": F.elu,
        "clamp": lambda x: x.clamp(-1, 1),
        "where": lambda x: torch.where(x > 0, x, -x),
        "round": torch.round,
        "add scalar": lambda x: x + 1,
        "floor divide": lambda x: x // 0.3,
        "to f16": lambda x: x.half(),
        "to i32": lambda x: x.int(),
        "one_hot": lambda x: F.one_hot((x[0] > 0).long(), 2),
        "histc": lambda x: x.histc(16, -3.0, 3.0),
        "diff": torch.diff,
        "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
        "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:]),
        "pow": lambda x: (x.abs() + 0.1) ** 1.7,
    }
    for name, call in calls.items():
        CASES[name] = matrix(call)
    for name in ("log", "sqrt", "rsqrt", "log1p"):
        CASES[name] = matrix(getattr(torch, name), positive=True)
    for dtype in ("f64", "bf16", "f16", "i32", "i64"):
        for name in ("sum first", "sum last", "sum all", "amax last", "cumsum", "sort", "add scalar"):
            CASES[f"{name} {dtype}"] = matrix(calls[name], dtype)
    for dtype in ("f64", "bf16", "f16"):
        for name in ("softmax", "layer_norm", "gelu", "exp", "sigmoid"):
            CASES[f"{name} {dtype}"] = matrix(calls[name], dtype)

    def pair(call: Call, shapes: Callable[[int], tuple[tuple[int, ...], ...]]) -> Case:
        return lambda nbytes: (call, tuple(draw(*shape) for shape in shapes(nbytes // 4)))

    CASES["add"] = pair(torch.add, lambda n: ((n // 2,), (n // 2,)))
    CASES["mul row"] = pair(torch.mul, lambda n: ((n // 256, 256), (256,)))
    CASES["mul column"] = pair(torch.mul, lambda n: ((n // 256, 256), (n // 256, 1)))
    CASES["add transposed"] = pair(lambda a, b: a + b.t(), lambda n: ((side(4 * n),) * 2,) * 2)
    CASES["atan2"] = pair(torch.atan2, lambda n: ((n // 2,), (n // 2,)))
    CASES["cdist"] = pair(torch.cdist, lambda n: ((64, max(4, n // 128)),) * 2)

    def table(call: Call) -> Case:
        def case(nbytes: int) -> tuple[Call, tuple[Any, ...]]:
            high = max(16, nbytes // 4 // 64)
            return call, (draw(high, 64), torch.randint(0, high, (high // 2,)))

        return case

    CASES["index_select"] = table(lambda x, i: x.index_select(0, i))
    CASES["index"] = table(lambda x, i: x[i])
    CASES["embedding"] = table(lambda x, i: F.embedding(i, x))
    CASES["gather"] = table(lambda x, i: x.gather(0, i[:, None].expand(-1, 64)))
    CASES["index_add"] = table(lambda x, i: x.index_add(0, i, x[: len(i)]))
    CASES["scatter"] = table(lambda x, i: x.scatter(0, i[:, None].expand(-1, 64), x[: len(i)]))
    CASES["index_put"] = table(lambda x, i: x.index_put((i,), x[: len(i)]))
    CASES["cross_entropy"] = lambda nbytes: (
        F.cross_entropy,
        (draw(max(4, nbytes // 4 // 256), 256), torch.randint(0, 256, (max(4, nbytes // 4 // 256),))),
    )
    for name, make, ratio in (("lstm", nn.LSTM, 4), ("gru", nn.GRU, 3)):
        CASES[name] = lambda nbytes, make=make, ratio=ratio: (
            Take(make(side(min(nbytes, 4 << 20), 2 * ratio), side(min(nbytes, 4 << 20), 2 * ratio))),
            (draw(16, 4, side(min(nbytes, 4 << 20), 2 * ratio)),),
        )

    def linear_algebra(call: Call) -> Case:
        def case(nbytes: int) -> tuple[Call, tuple[Any, ...]]:
            n = min(side(nbytes, 1), 256)
            x = draw(n, n)
            return call, (x @ x.t() / n + torch.eye(n),)

        return case

    CASES["svdvals"] = linear_algebra(torch.linalg.svdvals)
    CASES["inv"] = linear_algebra(torch.linalg.inv)
    CASES["cholesky"] = linear_algebra(torch.linalg.cholesky)
    CASES["solve"] = linear_algebra(lambda a: torch.linalg.solve(a, a))
    CASES["det"] = linear_algebra(torch.linalg.det)


class Take(nn.Module):
    """The first result of a recurrent layer."""

    def __init__(self, layer: nn.Module):
        super().__init__()
        self.layer = layer

    def forward(self, x: Any) -> Any:
        return self.layer(x)[0]


for register in (products, convolutions, rows):
    register()
