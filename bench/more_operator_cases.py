"""More cases of `operators.py`: what real models have besides, in all float dtypes, over each dimension, and in other shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from operator_cases import CASES, DTYPES, Call, Case, Take, draw, side, whole, width
from torch import nn

F = torch.nn.functional
Shape = tuple[int, ...]
Shapes = Callable[[int], Sequence[Shape]]
"""From elements of all operands to their shapes."""

FLOATS, HALVES, OTHERS = ("f32", "f64", "f16", "bf16"), ("f16", "bf16"), ("f64", "f16", "bf16")
INTEGERS = ("i32", "i64", "i8")


def of(call: Call, shapes: Shapes, dtype: str = "f32", change: Callable[[Any], Any] = lambda x: x) -> Case:
    """A function of drawn tensors."""
    return lambda nbytes: (
        call,
        tuple(change(draw(*shape, dtype=dtype)) for shape in shapes(nbytes // width(dtype))),
    )


def add(name: str, call: Call, shapes: Shapes, dtypes: Sequence[str] = ("f32",), **options: Any) -> None:
    """A case for each dtype."""
    for dtype in dtypes:
        CASES[name if dtype == "f32" else f"{name} {dtype}"] = of(call, shapes, dtype, **options)


def matrix(n: int) -> list[Shape]:
    """Four times as wide as high."""
    high = max(8, round(math.sqrt(n / 4)))
    return [(high, 4 * high)]


def pair(n: int) -> list[Shape]:
    return matrix(n // 2) * 2


def cube(n: int) -> list[Shape]:
    """As activations of a transformer: few sequences, positions, features."""
    inner = 64 if n < 1 << 16 else 384
    return [(4, max(4, n // 4 // inner), inner)]


def image(n: int) -> list[Shape]:
    """[1, channels, height, width]."""
    channels = 32 if n < 1 << 16 else 64
    size = max(8, 2 * round(math.sqrt(n / channels / 4)))
    return [(1, channels, size, size)]


def line(n: int) -> list[Shape]:
    return [(2, 32, max(16, n // 64))]


def volume(n: int) -> list[Shape]:
    size = max(4, 2 * round((n / 16 / 8) ** (1 / 3)))
    return [(1, 16, size, size, size)]


# --- elements ------------------------------------------------------------------------------------------------


def elements() -> None:
    calls: dict[str, Call] = {
        "relu": torch.relu,
        "silu": F.silu,
        "erf": torch.erf,
        "sin": torch.sin,
        "cos": torch.cos,
        "tanh": torch.tanh,
        "softplus": F.softplus,
        "mish": F.mish,
        "elu": F.elu,
        "hardswish": F.hardswish,
        "clamp": lambda x: x.clamp(-1, 1),
        "where": lambda x: torch.where(x > 0, x, -x),
        "pow 2": lambda x: x**2,
        "reciprocal": torch.reciprocal,
        "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    }
    for name, call in calls.items():
        add(name, call, matrix, OTHERS)
    add("mish", F.mish, matrix)
    add("cos", torch.cos, matrix)
    add("expm1", torch.expm1, matrix)
    add("atan", torch.atan, matrix)
    add("selu", F.selu, matrix)
    add("logit", lambda x: torch.logit(x.clamp(0.1, 0.9)), matrix)
    add("glu", F.glu, matrix)
    add("prelu", F.prelu, lambda n: [*image(n), (image(n)[0][1],)])
    for name in ("log", "sqrt", "rsqrt"):
        add(name, getattr(torch, name), matrix, OTHERS, change=torch.abs)
    add("pow tensor", torch.pow, pair, FLOATS, change=torch.abs)
    for name, both in {
        "add": torch.add,
        "mul": torch.mul,
        "div": torch.div,
        "maximum": torch.maximum,
        "gt": torch.gt,
    }.items():
        add(name, both, pair, ("f64", "f16", "bf16", "i32", "i64") if name != "div" else OTHERS)
    add("gt", torch.gt, pair)
    add("div", torch.div, pair)
    add("fmod", torch.fmod, pair)
    add("hypot", torch.hypot, pair)
    add("addcmul", torch.addcmul, lambda n: matrix(n // 3) * 3, FLOATS)
    add("lerp", lambda a, b: torch.lerp(a, b, 0.3), pair, FLOATS)
    for dtype in INTEGERS:
        add("floor divide", lambda x: x // 3, matrix, [dtype])
        add("remainder", lambda x: x % 5, matrix, [dtype])
        add("bitwise_and", lambda a, b: a & b, pair, [dtype])
        add("shift", lambda x: x << 2, matrix, [dtype])
        add("eq", torch.eq, pair, [dtype])
        add("neg", torch.neg, matrix, [dtype])
        add("where", lambda x: torch.where(x > 3, x, -x), matrix, [dtype])
        add("amax last", lambda x: x.amax(-1), matrix, [dtype])
        add("argmax last", lambda x: x.argmax(-1), matrix, [dtype])
    add("logical_and", torch.logical_and, pair, ["bool"])
    add("logical_not", torch.logical_not, matrix, ["bool"])
    add("bitwise_xor", torch.bitwise_xor, pair, ["bool"])
    add("any last", lambda x: x.any(-1), matrix, ["bool"])
    add("all", torch.all, matrix, ["bool"])
    add("sum all", torch.sum, matrix, ["bool"])
    add("sum last", lambda x: x.sum(-1), matrix, ["bool", "i8"])
    casts = "f32 f16,f32 bf16,f16 f32,bf16 f32,f32 f64,f64 f32,f32 i64,f32 u8,f32 bool,i64 f32,i32 f32,u8 f32,bool f32,i64 i32,i32 i64,f16 bf16,f32 i32"
    for each in casts.split(","):
        source, target = each.split()
        CASES[f"cast {each}"] = of(lambda x, to=DTYPES[target]: x.to(to), matrix, source)
    add("isnan", torch.isnan, matrix, FLOATS)
    add("add row", lambda a, b: a + b[0], pair, OTHERS)
    add("mul column", lambda a, b: a * b[:, :1], pair, OTHERS)
    add("residual gelu", lambda a, b: F.gelu(a + b) * b, pair, FLOATS)
    add("swiglu", lambda a, b: F.silu(a) * b, pair, FLOATS)


# --- reductions ----------------------------------------------------------------------------------------------


def reductions() -> None:
    over: dict[str, Any] = {"first": 0, "middle": 1, "last": -1, "outer two": (0, 1), "inner two": (1, 2)}
    several: dict[str, Callable[[Any, Any], Any]] = {
        "mean": lambda x, dim: x.mean(dim),
        "sum": lambda x, dim: x.sum(dim),
        "amax": lambda x, dim: x.amax(dim),
        "var": lambda x, dim: x.var(dim),
        "std": lambda x, dim: x.std(dim),
        "norm": lambda x, dim: torch.linalg.vector_norm(x, dim=dim),
        "logsumexp": lambda x, dim: x.logsumexp(dim),
    }
    for name, call in several.items():
        for where, dim in over.items():
            CASES[f"{name} 3d {where}"] = of(lambda x, call=call, dim=dim: call(x, dim), cube)
    single: dict[str, Callable[[Any, Any], Any]] = {
        "prod": lambda x, dim: x.prod(dim),
        "argmax": lambda x, dim: x.argmax(dim),
        "max": lambda x, dim: x.max(dim),
        "any": lambda x, dim: (x > 3).any(dim),
        "cumsum": lambda x, dim: x.cumsum(dim),
        "softmax": lambda x, dim: x.softmax(dim),
        "log_softmax": lambda x, dim: x.log_softmax(dim),
    }
    for name, call in single.items():
        for where in ("first", "middle", "last"):
            CASES[f"{name} 3d {where}"] = of(lambda x, call=call, dim=over[where]: call(x, dim), cube)
    for dtype in OTHERS:
        for where in ("first", "middle", "last"):
            for name in ("sum", "mean", "amax", "var"):
                call = several[name]
                CASES[f"{name} 3d {where} {dtype}"] = of(
                    lambda x, call=call, dim=over[where]: call(x, dim), cube, dtype
                )
            for name in ("softmax", "argmax", "cumsum"):
                call = single[name]
                CASES[f"{name} 3d {where} {dtype}"] = of(
                    lambda x, call=call, dim=over[where]: call(x, dim), cube, dtype
                )
    alls: dict[str, Call] = {
        "mean all": torch.mean,
        "var all": torch.var,
        "std all": torch.std,
        "prod all": torch.prod,
        "amin all": torch.amin,
        "norm all": torch.norm,
        "argmax all": torch.argmax,
        "logsumexp all": lambda x: x.logsumexp((0, 1)),
        "count_nonzero": torch.count_nonzero,
    }
    for name, call in alls.items():
        add(name, call, matrix, ("f64", "f16", "bf16"))
    for name in ("var all", "std all", "prod all", "amin all", "logsumexp all", "count_nonzero"):
        add(name, alls[name], matrix)
    add("norm 1", lambda x: x.norm(1, -1), matrix)
    add("aminmax", torch.aminmax, matrix)
    add("cumprod first", lambda x: x.cumprod(0), matrix)
    add("cummax first", lambda x: x.cummax(0), matrix)
    add("logcumsumexp", lambda x: x.logcumsumexp(-1), matrix)
    add("cummin", lambda x: x.cummin(-1), matrix, ("f64", "f16", "bf16", "i64"))
    norms: dict[str, Call] = {
        "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:]),
        "layer_norm 3d": lambda x: F.layer_norm(x, x.shape[-1:]),
        "layer_norm two": lambda x: F.layer_norm(x, x.shape[-2:]),
        "log_softmax": lambda x: x.log_softmax(-1),
        "normalize": lambda x: F.normalize(x, dim=-1),
    }
    for name, call in norms.items():
        add(name, call, cube, FLOATS)
    for dtype in OTHERS:
        CASES[f"group_norm {dtype}"] = of(lambda x: F.group_norm(x, 8), image, dtype)
        CASES[f"instance_norm {dtype}"] = of(F.instance_norm, image, dtype)
        CASES[f"batch_norm {dtype}"] = lambda nbytes, dtype=dtype: (
            nn.BatchNorm2d(image(nbytes // width(dtype))[0][1]).to(DTYPES[dtype]),
            (draw(*image(nbytes // width(dtype))[0], dtype=dtype),),
        )
    add("batch_norm train", lambda x: F.batch_norm(x, None, None, training=True), image)
    add("batch_norm 1d", lambda x: F.batch_norm(x, None, None, training=True), matrix)
    add("local_response_norm", lambda x: F.local_response_norm(x, 5), image)
    add(
        "layer_norm weights",
        lambda x, w, v: F.layer_norm(x, w.shape, w, v),
        lambda n: [*cube(n), *[cube(n)[0][-1:]] * 2],
        FLOATS,
    )


# --- orders and indices --------------------------------------------------------------------------------------


def orders() -> None:
    add("topk 50", lambda x: x.topk(50), lambda n: [(max(1, n // 4096), min(n, 4096))])
    add("topk first", lambda x: x.topk(3, 0), matrix)
    add("kthvalue", lambda x: x.kthvalue(5), matrix)
    add("median all", torch.median, matrix)
    add("sort flat", lambda x: x.flatten().sort(), matrix)
    add("sort descending", lambda x: x.sort(-1, descending=True), matrix, ("f32", "bf16", "i64"))
    add("argsort i64", lambda x: x.argsort(-1), matrix, ["i64"])
    add("quantile", lambda x: x.quantile(0.3, -1), matrix)
    add("unique", torch.unique, lambda n: [(n,)], ["i64"])
    add(
        "searchsorted", lambda x, y: torch.searchsorted(x.sort()[0].contiguous(), y), lambda n: [(256,), (n,)]
    )
    add("bucketize", lambda x: torch.bucketize(x, torch.linspace(-2, 2, 32)), matrix)
    add("bincount", lambda x: torch.bincount(x, minlength=16), lambda n: [(n,)], ["i64"])
    add("one_hot 16", lambda x: F.one_hot(x, 16), lambda n: [(n // 4,)], ["i64"])


def table(call: Call, dtype: str = "f32", shape: Callable[[int], Shape] | None = None) -> Case:
    """A function of a table and of indices of its rows."""

    def case(nbytes: int) -> tuple[Call, tuple[Any, ...]]:
        elements = nbytes // width(dtype)
        high, wide = (max(16, elements // 64), 64) if shape is None else shape(elements)
        return call, (draw(high, wide, dtype=dtype), torch.randint(0, high, (high // 2,)))

    return case


def indices() -> None:
    CASES["gather last"] = lambda nbytes: (
        lambda x, i: x.gather(-1, i),
        (draw(*matrix(nbytes // 8)[0]), torch.randint(0, 16, matrix(nbytes // 8)[0])),
    )
    CASES["take_along_dim"] = lambda nbytes: (
        lambda x: torch.take_along_dim(x, x.argsort(-1), -1),
        (draw(*matrix(nbytes // 4)[0]),),
    )
    calls: dict[str, Call] = {
        "scatter_add": lambda x, i: x.scatter_add(0, i[:, None].expand(-1, x.shape[1]), x[: len(i)]),
        "index_put accumulate": lambda x, i: x.index_put((i,), x[: len(i)], accumulate=True),
        "index_copy": lambda x, i: x.index_copy(0, torch.arange(len(i)), x[: len(i)]),
        "index_fill": lambda x, i: x.index_fill(0, i, 1.0),
        "index two": lambda x, i: x[i, i % 64],
        "index middle": lambda x, i: x.view(4, -1, 64)[:, i // 4],
        "index_select last": lambda x, i: x.index_select(1, i[:16] % 64),
        "scatter value": lambda x, i: x.scatter(1, (i % 64)[:, None], 2.0),
        "scatter_reduce": lambda x, i: x.scatter_reduce(0, i[:, None].expand(-1, 64), x[: len(i)], "amax"),
        "embedding_bag": lambda x, i: F.embedding_bag(i.view(-1, 8), x, mode="sum"),
        "take": lambda x, i: x.take(i),
    }
    for name, call in calls.items():
        CASES[name] = table(call)
    for dtype in OTHERS:
        CASES[f"embedding {dtype}"] = table(lambda x, i: F.embedding(i, x), dtype)
        CASES[f"index {dtype}"] = table(lambda x, i: x[i], dtype)
        CASES[f"index_add {dtype}"] = table(lambda x, i: x.index_add(0, i, x[: len(i)]), dtype)
    CASES["embedding wide"] = table(lambda x, i: F.embedding(i, x), shape=lambda n: (max(16, n // 768), 768))
    add("masked_fill", lambda x: x.masked_fill(x > 0, -1.0), matrix, FLOATS)
    add("masked_select", lambda x: x.masked_select(x > 0), matrix)
    add("nonzero", lambda x: (x > 1).nonzero(), matrix)
    add("roll both", lambda x: x.roll((1, 2), (0, 1)), matrix)
    add("flip first", lambda x: x.flip(0), matrix, FLOATS)
    add("tile", lambda x: x.tile(3, 1), matrix)
    add("repeat_interleave", lambda x: x.repeat_interleave(2, -1), matrix)
    add("repeat_interleave first", lambda x: x.repeat_interleave(2, 0), matrix)
    add("cat", lambda x: torch.cat([x, x], 0), matrix, OTHERS)
    add("cat last", lambda x: torch.cat([x, x, x], -1), matrix, OTHERS)
    add("stack", lambda x: torch.stack([x, x]), matrix, OTHERS)
    add("cat channels", lambda x: torch.cat([x, x], 1), image)
    add("split", lambda x: [part.contiguous() for part in x.chunk(4, -1)], matrix)
    add("strided", lambda x: x[::2, ::2].contiguous(), matrix)
    add("transpose", lambda x: x.t().contiguous(), matrix, (*OTHERS, "i64", "i8"))
    add(
        "heads",
        lambda x: x.view(x.shape[0], -1, 8, 8).permute(0, 2, 1, 3).contiguous(),
        lambda n: [(4, max(8, n // 256), 64)],
        FLOATS,
    )
    add("permute reversed", lambda x: x.permute(3, 2, 1, 0).contiguous(), image)
    add("permute last to channels", lambda x: x.permute(0, 3, 1, 2).contiguous(), image, FLOATS)
    add("permute 5d", lambda x: x.permute(0, 2, 3, 4, 1).contiguous(), volume)
    add(
        "windows",
        lambda x: (
            x.view(1, x.shape[1], x.shape[2] // 4, 4, x.shape[3] // 4, 4)
            .permute(0, 2, 4, 3, 5, 1)
            .contiguous()
        ),
        lambda n: [(1, 32, whole(math.sqrt(n / 32), 4), whole(math.sqrt(n / 32), 4))],
    )
    add("triu", torch.triu, matrix, FLOATS)
    add("diag", torch.diag, lambda n: [(side(4 * n, 1),) * 2])
    add("diag_embed", torch.diag_embed, lambda n: [(4, side(n, 1))])
    add("diagonal", lambda x: x.diagonal().contiguous(), matrix)
    add("unfold view", lambda x: x.unfold(-1, 8, 4).contiguous(), matrix)
    add("fold", lambda x: F.fold(x, (16, 16), 3, padding=1), lambda n: [(1, max(9, n // 256 // 9 * 9), 256)])
    add("meshgrid", lambda x: torch.meshgrid(x, x, indexing="ij"), lambda n: [(side(4 * n, 1),)])
    for mode in ("constant", "reflect", "replicate", "circular"):
        add(f"pad1d {mode}", lambda x, mode=mode: F.pad(x, (3, 4), mode=mode), line)
        add(f"pad3d {mode}", lambda x, mode=mode: F.pad(x, (1,) * 6, mode=mode), volume)
        add(f"pad2d {mode}", lambda x, mode=mode: F.pad(x, (1, 1, 1, 1), mode=mode), image, OTHERS)


def grown(x: Any, mode: str) -> Any:
    """An image half as large again."""
    return F.interpolate(x, (x.shape[2] * 3 // 2, x.shape[3] * 3 // 2), mode=mode)


# --- images --------------------------------------------------------------------------------------------------


def images() -> None:
    resized: dict[str, Any] = {
        "bilinear": {"mode": "bilinear"},
        "bilinear corners": {"mode": "bilinear", "align_corners": True},
        "nearest": {"mode": "nearest"},
        "bicubic": {"mode": "bicubic"},
        "area": {"mode": "area"},
        "antialias": {"mode": "bilinear", "antialias": True},
    }
    for name, options in resized.items():
        add(f"interpolate down {name}", partial(F.interpolate, scale_factor=0.5, **options), image)
    for mode in ("bilinear", "nearest"):
        add(
            f"interpolate {mode}",
            lambda x, mode=mode: F.interpolate(x, scale_factor=2, mode=mode),
            image,
            OTHERS,
        )
        add(f"interpolate 1.5 {mode}", partial(grown, mode=mode), image)
    add("interpolate nearest1d", lambda x: F.interpolate(x, scale_factor=2), line)
    add("interpolate linear1d", lambda x: F.interpolate(x, scale_factor=2, mode="linear"), line)
    add("interpolate trilinear", lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"), volume)
    add("interpolate nearest3d", lambda x: F.interpolate(x, scale_factor=2), volume)
    for options in ({"mode": "nearest"}, {"padding_mode": "border"}, {"padding_mode": "reflection"}):
        CASES[f"grid_sample {next(iter(options.values()))}"] = lambda nbytes, options=options: (
            lambda x, g: F.grid_sample(x, g, align_corners=False, **options),
            (draw(1, 16, *[side(nbytes, 18)] * 2), draw(1, side(nbytes, 18), side(nbytes, 18), 2)),
        )
    pools: dict[str, tuple[Call, Shapes]] = {
        "max_pool2d 2": (lambda x: F.max_pool2d(x, 2), image),
        "max_pool2d 3 s1": (lambda x: F.max_pool2d(x, 3, 1, 1), image),
        "max_pool2d 5 s1": (lambda x: F.max_pool2d(x, 5, 1, 2), image),
        "avg_pool2d 3 s1": (lambda x: F.avg_pool2d(x, 3, 1, 1), image),
        "avg_pool2d 7": (lambda x: F.avg_pool2d(x, 7, 7, 3), image),
        "adaptive_avg_pool2d 5": (lambda x: F.adaptive_avg_pool2d(x, 5), image),
        "adaptive_max_pool2d 7": (lambda x: F.adaptive_max_pool2d(x, 7), image),
        "lp_pool2d": (lambda x: F.lp_pool2d(x, 2, 2), image),
        "avg_pool1d": (lambda x: F.avg_pool1d(x, 3, 2, 1), line),
        "adaptive_avg_pool1d": (lambda x: F.adaptive_avg_pool1d(x, 8), line),
        "max_pool1d 2": (lambda x: F.max_pool1d(x, 2), line),
        "max_pool1d dilated": (lambda x: F.max_pool1d(x, 8, 1, 4, 3), line),
        "max_pool2d dilated": (lambda x: F.max_pool2d(x, 3, 2, 1, 2), image),
        "rms_norm channels": (lambda x: x / (x.square().mean(1, keepdim=True) + 1e-5).sqrt(), image),
        "group_norm silu": (lambda x: F.silu(F.group_norm(x, 8, x[0, :, 0, 0], x[0, :, 0, 1])), image),
        "sum of squares, amax of abs": (lambda x: x.abs().amax() + (x * x).mean(), image),
        "max_pool3d": (lambda x: F.max_pool3d(x, 2), volume),
        "avg_pool3d": (lambda x: F.avg_pool3d(x, 3, 2, 1), volume),
        "adaptive_avg_pool3d": (lambda x: F.adaptive_avg_pool3d(x, 2), volume),
    }
    for name, (call, shapes) in pools.items():
        add(name, call, shapes)
    for dtype in OTHERS:
        add("max_pool2d 3 s2", lambda x: F.max_pool2d(x, 3, 2, 1), image, [dtype])
        add("avg_pool2d 2", lambda x: F.avg_pool2d(x, 2), image, [dtype])
        add("adaptive_avg_pool2d 1", lambda x: F.adaptive_avg_pool2d(x, 1), image, [dtype])
        add("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), image, [dtype])
        add("unfold", lambda x: F.unfold(x, 3, padding=1), image, [dtype])
    add("channel_shuffle", lambda x: F.channel_shuffle(x, 4), image)
    add("affine_grid", lambda x: F.affine_grid(x, [1, 1, 64, 64], align_corners=False), lambda n: [(1, 2, 3)])
    add("col2im", lambda x: F.fold(F.unfold(x, 2, stride=2), x.shape[-2:], 2, stride=2), image)


def layers() -> None:
    """Convolutions with channels that are no power of two, and in other dtypes."""

    def layer(
        name: str, dtypes: Sequence[str], shape: Callable[[int], Shape], make: Callable[[], nn.Module]
    ) -> None:
        for dtype in dtypes:
            CASES[name if dtype == "f32" else f"{name} {dtype}"] = lambda nbytes, dtype=dtype: (
                make().to(DTYPES[dtype]),
                (draw(*shape(min(nbytes, 16 << 20) // width(dtype)), dtype=dtype),),
            )

    def on_line(c: int) -> Callable[[int], Shape]:
        return lambda n: (1, c, max(16, n // c))

    def on_image(c: int) -> Callable[[int], Shape]:
        return lambda n: (1, c, *[max(7, round(math.sqrt(n / c)))] * 2)

    def in_volume(c: int) -> Callable[[int], Shape]:
        return lambda n: (1, c, *[max(5, round((n / c) ** (1 / 3)))] * 3)

    layer("conv1d odd", FLOATS, on_line(37), lambda: nn.Conv1d(37, 53, 5, padding=2))
    layer("conv1d 3", OTHERS, on_line(64), lambda: nn.Conv1d(64, 64, 3, padding=1))
    layer("conv1d first", FLOATS, on_line(1), lambda: nn.Conv1d(1, 64, 10, 5))
    layer("conv1d 1", FLOATS, on_line(64), lambda: nn.Conv1d(64, 96, 1))
    layer("conv1d depthwise", HALVES, on_line(64), lambda: nn.Conv1d(64, 64, 3, padding=1, groups=64))
    layer("conv1d grouped", ["f32"], on_line(64), lambda: nn.Conv1d(64, 64, 15, padding=7, groups=8))
    layer("conv2d odd", OTHERS, on_image(19), lambda: nn.Conv2d(19, 31, 3, padding=1))
    layer("conv2d unpadded", FLOATS, on_image(8), lambda: nn.Conv2d(8, 32, 3))
    layer("conv2d unpadded 3", ["f32"], on_image(3), lambda: nn.Conv2d(3, 32, 3))
    layer("conv2d 5x7", ["f32"], on_image(16), lambda: nn.Conv2d(16, 32, (5, 7)))
    layer("conv2d unpadded grouped", ["f32"], on_image(32), lambda: nn.Conv2d(32, 32, 3, groups=4))
    layer("conv3d unpadded", ["f32"], in_volume(3), lambda: nn.Conv3d(3, 32, (3, 5, 5)))
    layer("conv2d 1x1", OTHERS, on_image(64), lambda: nn.Conv2d(64, 64, 1))
    layer("conv2d depthwise", OTHERS, on_image(64), lambda: nn.Conv2d(64, 64, 3, padding=1, groups=64))
    layer("conv2d grouped", OTHERS, on_image(64), lambda: nn.Conv2d(64, 64, 3, padding=1, groups=4))
    layer("conv2d patches", OTHERS, on_image(3), lambda: nn.Conv2d(3, 192, 16, 16))
    layer("conv2d stem", OTHERS, on_image(3), lambda: nn.Conv2d(3, 64, 7, 2, 3))
    layer("conv2d dilated", HALVES, on_image(32), lambda: nn.Conv2d(32, 32, 3, padding=2, dilation=2))
    layer("conv3d odd", ("f32", "f64", "bf16"), in_volume(7), lambda: nn.Conv3d(7, 13, 3, padding=1))
    layer("conv3d 1x3x3", ["f32"], in_volume(16), lambda: nn.Conv3d(16, 16, (1, 3, 3), padding=(0, 1, 1)))
    layer("conv3d 3x1x1", ["f32"], in_volume(16), lambda: nn.Conv3d(16, 16, (3, 1, 1), padding=(1, 0, 0)))
    layer("conv3d depthwise", ["f32"], in_volume(16), lambda: nn.Conv3d(16, 16, 3, padding=1, groups=16))
    layer("conv_transpose2d 4 s2", OTHERS, on_image(32), lambda: nn.ConvTranspose2d(32, 32, 4, 2, 1))
    layer("conv_transpose2d odd", ["f32"], on_image(21), lambda: nn.ConvTranspose2d(21, 13, 3, 2, 1, 1))
    layer(
        "conv_transpose2d dilated s2",
        ["f32"],
        on_image(32),
        lambda: nn.ConvTranspose2d(32, 32, (3, 5), (2, 3), (1, 2), groups=4, dilation=(2, 1)),
    )
    layer(
        "conv_transpose1d dilated s2",
        ["f32"],
        on_line(32),
        lambda: nn.ConvTranspose1d(32, 64, 3, 2, 1, dilation=2),
    )
    layer(
        "conv_transpose2d depthwise",
        ["f32"],
        on_image(32),
        lambda: nn.ConvTranspose2d(32, 32, 4, 2, 1, groups=32),
    )
    layer("conv_transpose1d 4 s2", HALVES, on_line(64), lambda: nn.ConvTranspose1d(64, 64, 4, 2, 1))
    layer("conv_transpose3d 3 s2", ["f32"], in_volume(16), lambda: nn.ConvTranspose3d(16, 16, 3, 2, 1, 1))
    # Along small images many taps see padding.
    layer("conv2d 5 full", ["f32"], on_image(64), lambda: nn.Conv2d(64, 32, 5, padding=4))
    layer("conv3d 1x1x1", ["f32"], in_volume(32), lambda: nn.Conv3d(32, 32, 1))
    for size in ((3, 3, 3), (3, 5, 5), (5, 5, 5)):
        name = "x".join(map(str, size))
        layer(
            f"conv_transpose3d {name}",
            ["f32"],
            in_volume(16),
            lambda size=size: nn.ConvTranspose3d(16, 32, size),
        )


def masked_attention(q: Any, k: Any, v: Any) -> Any:
    mask = torch.ones(q.shape[-2], k.shape[-2]).tril().bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def shared_heads(q: Any, k: Any) -> Any:
    return F.scaled_dot_product_attention(q, k, k, enable_gqa=True)


# --- products ------------------------------------------------------------------------------------------------


def contractions() -> None:
    def heads(n: int) -> list[Shape]:
        return [(2, 8, max(16, n // 3 // 16 // 64), 64)] * 3

    add("baddbmm", torch.baddbmm, lambda n: [(max(2, n // 3072), 32, 32)] * 3, FLOATS)
    add("addmm", torch.addmm, lambda n: [(side(4 * n, 3),), *[(side(4 * n, 3),) * 2] * 2], OTHERS)
    add(
        "addmm scaled",
        lambda c, a, b: torch.addmm(c, a, b, alpha=0.5, beta=2),
        lambda n: [(side(4 * n, 3),) * 2] * 3,
    )
    add("mv", torch.mv, lambda n: [(side(4 * n, 1),) * 2, (side(4 * n, 1),)], ("f16", "i64"))
    add("mv transposed", lambda a, x: a.t() @ x, lambda n: [(side(4 * n, 1),) * 2, (side(4 * n, 1),)], FLOATS)
    add("dot", torch.dot, lambda n: [(n // 2,)] * 2, OTHERS)
    add("outer", torch.outer, lambda n: [(side(4 * n, 1),)] * 2, OTHERS)
    add("bmm thin", torch.bmm, lambda n: [(max(2, n // 1088), 1, 64), (max(2, n // 1088), 64, 16)], FLOATS)
    add("bmm odd", torch.bmm, lambda n: [(max(2, n // 500), 17, 13), (max(2, n // 500), 13, 19)], FLOATS)
    add(
        "einsum bilinear",
        lambda a, b: torch.einsum("bi,bj->bij", a, b),
        lambda n: [(max(2, n // 64), 32)] * 2,
    )
    add(
        "einsum trace",
        lambda a, b: torch.einsum("bij,bij->b", a, b),
        lambda n: [(max(2, n // 2048), 32, 32)] * 2,
    )
    add(
        "einsum last",
        lambda a, b: torch.einsum("bhqd,hdk->bqhk", a, b),
        lambda n: [(4, 4, max(4, n // 512), 32), (4, 32, 16)],
    )
    add(
        "tensordot",
        lambda a, b: torch.tensordot(a, b, ([1, 2], [0, 1])),
        lambda n: [(max(8, n // 2048), 16, 32), (16, 32, 64)],
    )
    add("matmul broadcast", torch.matmul, lambda n: [(8, max(8, n // 512), 64), (64, 64)], FLOATS)
    add("matmul thin n", torch.matmul, lambda n: [(side(4 * n, 1),) * 2, (side(4 * n, 1), 4)], OTHERS)
    add("matmul thin m", torch.matmul, lambda n: [(4, side(4 * n, 1)), (side(4 * n, 1),) * 2], OTHERS)
    add("matmul thin k", torch.matmul, lambda n: [(whole(n / 32), 8), (8, 64)], OTHERS)
    add("matmul wide", torch.matmul, lambda n: [(16, whole(n / 32)), (whole(n / 32), 16)], OTHERS)
    add("kron", torch.kron, lambda n: [(8, 8), (max(4, side(4 * n, 64)),) * 2])
    add("cdist p1", lambda a, b: torch.cdist(a, b, p=1.0), lambda n: [(max(8, side(4 * n, 8)), 16)] * 2)
    add("cdist wide", torch.cdist, lambda n: [(max(8, min(256, n // 256)), 128)] * 2)
    add("cosine_similarity", F.cosine_similarity, pair, FLOATS)
    add("pairwise_distance", F.pairwise_distance, pair)
    options: dict[str, Any] = {"sdpa": {}, "sdpa causal": {"is_causal": True}}
    for name, said in options.items():
        call = partial(F.scaled_dot_product_attention, **said)
        for dtype in FLOATS:
            CASES[f"{name} {dtype}"] = lambda nbytes, call=call, dtype=dtype: of(call, heads, dtype)(
                min(nbytes, 4 << 20)
            )
    add(
        "sdpa decode",
        F.scaled_dot_product_attention,
        lambda n: [(1, 8, 1, 64), *[(1, 8, max(16, n // 1024), 64)] * 2],
        FLOATS,
    )
    CASES["sdpa mask"] = lambda nbytes: of(masked_attention, heads)(min(nbytes, 4 << 20))
    CASES["sdpa gqa"] = lambda nbytes: of(
        shared_heads, lambda n: [(1, 8, max(16, n // 768), 64), (1, 2, max(16, n // 768), 64)]
    )(min(nbytes, 4 << 20))
    for name, make, ratio in (("lstm_cell", nn.LSTMCell, 8), ("gru_cell", nn.GRUCell, 6)):
        CASES[name] = lambda nbytes, make=make, ratio=ratio: (
            make(*[side(nbytes, ratio)] * 2),
            (draw(4, side(nbytes, ratio)),),
        )
    CASES["rnn"] = lambda nbytes: (
        Take(nn.RNN(*[side(min(nbytes, 4 << 20), 2)] * 2)),
        (draw(16, 4, side(min(nbytes, 4 << 20), 2)),),
    )
    for dtype in OTHERS:
        CASES[f"linear row {dtype}"] = lambda nbytes, dtype=dtype: (
            nn.Linear(*[side(nbytes, 1, width(dtype))] * 2, dtype=DTYPES[dtype]),
            (draw(1, side(nbytes, 1, width(dtype)), dtype=dtype),),
        )


def losses() -> None:
    add("mse_loss", F.mse_loss, pair, FLOATS)
    add("l1_loss", F.l1_loss, pair)
    add("smooth_l1_loss", F.smooth_l1_loss, pair)
    add("kl_div", lambda a, b: F.kl_div(a.log_softmax(-1), b.softmax(-1), reduction="batchmean"), pair)
    add("bce_with_logits", lambda a, b: F.binary_cross_entropy_with_logits(a, b.sigmoid()), pair)
    for dtype in OTHERS:
        CASES[f"cross_entropy {dtype}"] = lambda nbytes, dtype=dtype: (
            F.cross_entropy,
            (
                draw(max(4, nbytes // width(dtype) // 1000), 1000, dtype=dtype),
                torch.randint(0, 1000, (max(4, nbytes // width(dtype) // 1000),)),
            ),
        )
    CASES["cross_entropy pixels"] = lambda nbytes: (
        F.cross_entropy,
        (draw(1, 21, *[side(nbytes, 21)] * 2), torch.randint(0, 21, (1, *[side(nbytes, 21)] * 2))),
    )


def algebra() -> None:
    real: dict[str, Call] = {
        "rfft2": lambda x: torch.fft.rfft2(x).abs(),
        "irfft": lambda x: torch.fft.irfft(torch.complex(x, x)),
        "fft2": lambda x: torch.fft.fft2(x).abs(),
        "fft first": lambda x: torch.fft.fft(x, dim=0).abs(),
        "ifft": lambda x: torch.fft.ifft(torch.complex(x, x)).real,
    }
    for name, call in real.items():
        add(name, call, matrix)
    add(
        "rfft 512",
        lambda x: torch.view_as_real(torch.fft.rfft(x)),
        lambda n: [(max(1, n // 512), 512)],
        ("f32", "f64"),
    )
    add("rfft 400", lambda x: torch.view_as_real(torch.fft.rfft(x)), lambda n: [(max(1, n // 400), 400)])
    add("rfft prime", lambda x: torch.view_as_real(torch.fft.rfft(x)), lambda n: [(max(1, n // 509), 509)])
    add(
        "fft 1024",
        lambda x: torch.view_as_real(torch.fft.fft(x)),
        lambda n: [(max(1, n // 1024), 1024)],
        ("f32", "f64"),
    )
    add(
        "stft",
        lambda x: torch.view_as_real(
            torch.stft(x, 400, 160, window=torch.hann_window(400), return_complex=True)
        ),
        lambda n: [(max(800, n),)],
    )
    small: dict[str, Call] = {
        "inv": torch.linalg.inv,
        "det": torch.linalg.det,
        "cholesky": torch.linalg.cholesky,
        "solve": lambda a: torch.linalg.solve(a, a[..., :1]),
        "qr": torch.linalg.qr,
        "eigvalsh": torch.linalg.eigvalsh,
        "svdvals": torch.linalg.svdvals,
        "lu": torch.linalg.lu_factor,
        "pinv": torch.linalg.pinv,
        "matrix_exp": torch.matrix_exp,
        "triangular": lambda a: torch.linalg.solve_triangular(a.tril(), a, upper=False),
        "slogdet": torch.linalg.slogdet,
    }

    def definite(*shape: int) -> torch.Tensor:
        x = draw(*shape)
        return x @ x.mT / shape[-1] + torch.eye(shape[-1])

    for name, call in small.items():
        CASES[f"{name} small"] = lambda nbytes, call=call: (
            call,
            (definite(max(1, min(nbytes, 4 << 20) // 256), 8, 8),),
        )
        CASES[f"{name} 128"] = lambda nbytes, call=call: (
            call,
            (definite(min(128, side(nbytes, 1)), min(128, side(nbytes, 1))),),
        )
    add("cross", lambda a, b: torch.linalg.cross(a, b), lambda n: [(n // 6, 3)] * 2)
    CASES["complex mul"] = lambda nbytes: (
        lambda a, b: torch.view_as_real(torch.view_as_complex(a) * torch.view_as_complex(b)),
        (draw(nbytes // 16, 2), draw(nbytes // 16, 2)),
    )
    add(
        "rotary",
        lambda x, y: torch.cat([-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]], -1) * y + x,
        pair,
        FLOATS,
    )


for register in (elements, reductions, orders, indices, images, layers, contractions, losses, algebra):
    register()
