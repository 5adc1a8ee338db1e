"""Random small networks natively against eager PyTorch: which shapes, which neighbours fall off a cliff?

    python bench/random_kernels.py [--count N] [--seed S] [--show] [--threads N] [--cpu NAME] [--dtype D] [--larger N] [--dynamic]

A seed is a program: a contraction (a convolution of one to three dimensions, transposed or not, a linear layer, a product, a
recurrent layer) or a plain tensor, of sizes as nobody would round them, and up to six layers after it: activations,
normalisations, pools, reductions, losses, arithmetic. Results are compared with eager's in float64 (within four times eager's own
error and a little of the largest number); times are the least in turns, in milliseconds, of one
thread (`--threads`) the process' CPU time. `--show` prints the programs alone.
`--dynamic` exports them with all sizes symbolic, and looks at the numbers at several sizes alone.
"""

from __future__ import annotations

import argparse
import math
import random
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn
from turns import as_tensor, best, differs, set_threads

import xdsl_exir


class Most:
    """What a program may take."""

    elements = 1 << 20
    """Of a tensor between two layers."""
    products = 1 << 30
    """Multiply-adds of a contraction."""


class Then(nn.Module):
    """A function as a layer, with what it prints."""

    def __init__(self, text: str, call: Callable[..., Any]):
        super().__init__()
        self.text, self.call = text, call

    def forward(self, *args: Any) -> Any:
        return self.call(*args)

    def extra_repr(self) -> str:
        return self.text


class Scaled(nn.Module):
    """Arithmetic with a parameter that is broadcast over the channels."""

    def __init__(self, channels: int, dims: int, operation: str):
        super().__init__()
        self.operation = operation
        self.parameter = nn.Parameter(torch.randn(channels, *[1] * dims))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return getattr(torch, self.operation)(x, self.parameter)

    def extra_repr(self) -> str:
        return f"{self.operation}, {list(self.parameter.shape)}"


class Last(nn.Module):
    """What a recurrent layer gives without its state."""

    def __init__(self, layer: nn.Module):
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)[0]


# --- what a program begins with ----------------------------------------------------------------------------------


def convolution(draw: random.Random) -> tuple[nn.Module, tuple[int, ...]]:
    """A convolution and the shape of what it takes."""
    dims = draw.choice([1, 2, 2, 2, 3])
    transposed = draw.random() < 0.35
    group = draw.choice([1, 1, 1, 1, 2, 4, 0])
    ins = draw.choice([3, 8, 16, 24, 32, 48, 64, 96, 128])
    outs = draw.choice([ins, 2 * ins, 16, 32, 64, 128])
    if group == 0:
        group, outs = ins, ins * draw.choice([1, 1, 2])
    if ins % group or outs % group:
        group = 1
    kernel = [draw.choice([1, 3, 3, 3, 5, 7, 4, 2]) for _ in range(dims)]
    if draw.random() < 0.7:
        kernel = [kernel[0]] * dims
    stride = draw.choice([1, 1, 1, 2, 3])
    dilation = draw.choice([1, 1, 1, 1, 2, 3])
    padding = draw.choice([0, kernel[0] // 2 * dilation, 1])
    batch = draw.choice([1, 1, 2, 4, 8, 16])
    kinds = [nn.Conv1d, nn.Conv2d, nn.Conv3d], [nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d]
    options: dict[str, Any] = {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "groups": group,
        "bias": draw.random() < 0.8,
    }
    if transposed and stride > 1 and draw.random() < 0.5:
        options["output_padding"] = 1
    layer = kinds[transposed][dims - 1](ins, outs, tuple(kernel), **options)
    reach = dilation * (max(kernel) - 1) + 1
    grown = stride**dims if transposed else 1 / stride**dims
    most = min(
        Most.elements / batch / max(ins, outs * grown),
        Most.products / (batch * ins * outs // group * math.prod(kernel) * (1 if transposed else grown)),
    )
    extent = max(reach + 1, int(most ** (1 / dims) * draw.uniform(0.5, 1)))
    return layer, (batch, ins, *[max(reach + 1, extent + draw.randint(-3, 3)) for _ in range(dims)])


def linear(draw: random.Random) -> tuple[nn.Module, tuple[int, ...]]:
    ins, outs = (draw.choice([draw.randint(10, 200), draw.randint(200, 2048), 512, 1024]) for _ in "io")
    rows = max(
        1,
        min(
            Most.products // (ins * outs),
            Most.elements // max(ins, outs),
            draw.choice([1, 4, 16, 64, 128, 1000]),
        ),
    )
    return nn.Linear(ins, outs, bias=draw.random() < 0.8), (rows, ins)


def product(draw: random.Random) -> tuple[nn.Module, tuple[int, ...]]:
    """A matrix product of an activation and a parameter, in one of the ways in which people write it."""
    m, k, n = (draw.choice([draw.randint(1, 64), draw.randint(64, 700), 256]) for _ in "mkn")
    batch = draw.choice([1, 2, 7, 16])
    text, weight = draw.choice(
        [
            ("x @ w", (k, n)),
            ("x @ w.T", (n, k)),
            ("x.mT @ w", (m, n)),
            ("einsum bmk,bnk->bmn", (batch, n, k)),
            ("x @ w batch", (batch, k, n)),
        ]
    )

    class Product(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.randn(weight) / math.sqrt(k))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if text == "x @ w.T":
                return x @ self.w.T
            if text == "x.mT @ w":
                return x.mT @ self.w
            if text.startswith("einsum"):
                return torch.einsum("bmk,bnk->bmn", x, self.w)
            return x @ self.w

        def extra_repr(self) -> str:
            return text

    return Product(), (batch, m, k)


def recurrent(draw: random.Random) -> tuple[nn.Module, tuple[int, ...]]:
    kind = draw.choice([nn.LSTM, nn.GRU, nn.RNN])
    ins, hidden = draw.choice([10, 64, 128]), draw.choice([20, 64, 256])
    layer = kind(
        ins, hidden, num_layers=draw.choice([1, 2]), batch_first=True, bidirectional=draw.random() < 0.4
    )
    return Last(layer), (draw.choice([1, 4, 10]), draw.choice([16, 50, 100]), ins)


def attention(draw: random.Random) -> tuple[nn.Module, tuple[int, ...]]:
    heads, size, length = draw.choice([2, 4, 8]), draw.choice([32, 64]), draw.choice([50, 128, 197, 256])
    causal = draw.random() < 0.5
    written = draw.random() < 0.5

    def call(x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = (part.view(b, t, heads, size).transpose(1, 2) for part in x.split(c // 3, dim=2))
        if written:
            scores = (q @ k.transpose(-2, -1)) / math.sqrt(size)
            if causal:
                scores = scores.masked_fill(torch.ones(t, t).tril() == 0, float("-inf"))
            y = scores.softmax(-1) @ v
        else:
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return y.transpose(1, 2).reshape(b, t, c // 3)

    text = f"attention of {heads} heads of {size}{', causal' * causal}{', written out' * written}"
    return Then(text, call), (draw.choice([1, 2, 4]), length, 3 * heads * size)


def plain(draw: random.Random) -> tuple[nn.Module, tuple[int, ...]]:
    rank = draw.choice([2, 2, 3, 4, 5])
    side = Most.elements ** (1 / rank)
    return nn.Identity(), tuple(
        max(1, min(1 << 14, int(side * 2 ** draw.uniform(-1.5, 0.7)))) for _ in range(rank)
    )


STARTS = [
    convolution,
    convolution,
    convolution,
    convolution,
    linear,
    product,
    recurrent,
    attention,
    plain,
    plain,
    plain,
]

# --- what follows ------------------------------------------------------------------------------------------------

ACTIVATIONS = [
    *[
        nn.ReLU(),
        nn.LeakyReLU(0.1),
        nn.GELU(),
        nn.GELU("tanh"),
        nn.SiLU(),
        nn.Mish(),
        nn.Hardswish(),
        nn.Hardsigmoid(),
        nn.Softplus(),
    ],
    *[
        nn.Softsign(),
        nn.ELU(),
        nn.SELU(),
        nn.Hardtanh(),
        nn.Sigmoid(),
        nn.Tanh(),
        nn.ReLU6(),
        nn.LogSigmoid(),
        nn.Tanhshrink(),
        nn.CELU(),
    ],
]

ARITHMETIC = {
    "x * sigmoid(x)": lambda x: x * torch.sigmoid(x),
    "x + 1.5": lambda x: x + 1.5,
    "x / 3 - 2": lambda x: x / 3 - 2,
    "clamp(-1, 1)": lambda x: x.clamp(-1, 1),
    "clamp_min(0.1)": lambda x: x.clamp(min=0.1),
    "min(x, 0.5)": lambda x: torch.minimum(x, torch.tensor(0.5)),
    "x * tanh(softplus(x))": lambda x: x * torch.tanh(nn.functional.softplus(x)),
    "x + x": lambda x: x + x,
    "abs": torch.abs,
    "x ** 2": lambda x: x**2,
    "exp(-x * x)": lambda x: torch.exp(-x * x),
    "x - mean": lambda x: x - x.mean(-1, keepdim=True),
    "x / norm": lambda x: x / (x.norm(dim=-1, keepdim=True) + 1e-5),
    "x / l1": lambda x: x / (x.abs().sum(1, keepdim=True) + 1e-5),
    "rms": lambda x: x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-5),
    "flip": lambda x: x.flip(-1),
    "transpose": lambda x: x.transpose(-1, -2),
    "transpose, contiguous": lambda x: x.transpose(1, -1).contiguous(),
    "roll": lambda x: x.roll(3, -1),
    "cat with itself": lambda x: torch.cat([x, x * 2], 1),
    "halves, gated": lambda x: (
        x[:, : x.shape[1] // 2] * torch.sigmoid(x[:, -(x.shape[1] // 2) :]) if x.shape[1] > 1 else x
    ),
    "pad": lambda x: nn.functional.pad(x, (1, 2)),
    "residual of gelu": lambda x: x + nn.functional.gelu(x),
    "where": lambda x: torch.where(x > 0, x, 0.1 * x),
    "masked_fill": lambda x: x.masked_fill(x > 1, 0.0),
    "bfloat16 and back": lambda x: x.bfloat16().to(x.dtype),
}

ALONG = {
    "softmax": lambda x, d: x.softmax(d),
    "log_softmax": lambda x, d: x.log_softmax(d),
    "cumsum": lambda x, d: x.cumsum(d),
    "cumprod": lambda x, d: (x.sigmoid() + 0.5).cumprod(d),
    "reverse cumsum": lambda x, d: x.flip(d).cumsum(d).flip(d),
    "sort": lambda x, d: x.sort(d)[0],
    "normalize": lambda x, d: nn.functional.normalize(x, dim=d),
    "logcumsumexp": lambda x, d: x.logcumsumexp(d),
    "diff": lambda x, d: x.diff(dim=d),
}

REDUCTIONS = {
    "sum": lambda x, d: x.sum(d, keepdim=True),
    "mean": lambda x, d: x.mean(d, keepdim=True),
    "amax": lambda x, d: x.amax(d, keepdim=True),
    "amin": lambda x, d: x.amin(d, keepdim=True),
    "logsumexp": lambda x, d: x.logsumexp(d, keepdim=True),
    "var": lambda x, d: x.var(d, keepdim=True),
    "std": lambda x, d: x.std(d, keepdim=True),
    "norm": lambda x, d: torch.linalg.vector_norm(x, dim=d, keepdim=True),
    "prod": lambda x, d: x.prod(d if isinstance(d, int) else d[0], keepdim=True),
    "max": lambda x, d: x.max(d if isinstance(d, int) else d[0], keepdim=True)[0],
    "median": lambda x, d: x.median(d if isinstance(d, int) else d[0], keepdim=True)[0],
    "argmax": lambda x, d: x.argmax(d if isinstance(d, int) else d[0], keepdim=True).float(),
    "topk": lambda x, d: x.topk(
        min(3, x.shape[d if isinstance(d, int) else d[0]]), dim=d if isinstance(d, int) else d[0]
    )[0],
}

LOSSES = {
    "mse": lambda x: nn.functional.mse_loss(x, x.roll(1, 0)),
    "smooth l1": lambda x: nn.functional.smooth_l1_loss(x, x.flip(-1)),
    "kl": lambda x: nn.functional.kl_div(x.log_softmax(-1), x.flip(0).softmax(-1), reduction="batchmean"),
    "hinge": lambda x: (1 - x * x.sign()).clamp(min=0).mean(),
    "cosine": lambda x: 1 - nn.functional.cosine_similarity(x, x.flip(0), dim=-1),
    "cross entropy": lambda x: nn.functional.cross_entropy(
        x.reshape(-1, x.shape[-1]), torch.arange(x.numel() // x.shape[-1]) % x.shape[-1]
    ),
    "triplet": lambda x: nn.functional.triplet_margin_loss(x, x.flip(0), x.roll(1, -1)),
}


def pool(draw: random.Random, shape: tuple[int, ...]) -> nn.Module | None:
    dims = len(shape) - 2
    if not 1 <= dims <= 3:
        return None
    size = draw.choice([2, 2, 3, 3, 5, 4])
    if min(shape[2:]) < size:
        return None
    at = dims - 1
    kinds: list[Callable[[], nn.Module]] = [
        lambda: [nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d][at](size, **strides),
        lambda: [nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d][at](size, **strides),
        lambda: [nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d][at](
            draw.choice([1, 1, 2, 5])
        ),
        lambda: [nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d][at](
            draw.choice([1, 2, 3])
        ),
        lambda: nn.Upsample(
            scale_factor=2, mode=draw.choice(["nearest", ["linear", "bilinear", "trilinear"][at]])
        ),
    ]
    strides = {"stride": draw.choice([None, 1, 2]), "padding": draw.choice([0, 0, size // 2])}
    return draw.choice(kinds)()


def norm(draw: random.Random, shape: tuple[int, ...]) -> nn.Module | None:
    channels, dims = shape[1] if len(shape) > 1 else 1, len(shape) - 2
    kinds: list[nn.Module] = [nn.LayerNorm(shape[-1]), nn.LayerNorm(shape[1:]), nn.RMSNorm(shape[-1])]
    if 1 <= dims <= 3:
        kinds += [
            [nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d][dims - 1](channels),
            [nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d][dims - 1](channels),
        ]
        kinds += [nn.GroupNorm(group, channels) for group in (4, 8) if channels % group == 0]
    if dims == 0:
        kinds.append(nn.BatchNorm1d(channels))
    found = draw.choice(kinds)
    if isinstance(found, nn.modules.batchnorm._BatchNorm):
        found.running_mean, found.running_var = torch.randn(channels), torch.rand(channels) + 0.5
    return (
        found
        if math.prod(shape[2:]) > 1 or not isinstance(found, nn.modules.instancenorm._InstanceNorm)
        else None
    )


def layer(draw: random.Random, shape: tuple[int, ...]) -> nn.Module | None:
    """A layer for what has such a shape, or none of the kind that was drawn."""
    rank = len(shape)
    kind = draw.choice(
        ["activation"] * 4
        + ["arithmetic"] * 3
        + ["scaled", "norm", "norm", "pool", "along", "reduction", "dropout", "linear"]
    )
    if rank < 2 or math.prod(shape) == 1:
        kind = "activation"
    if kind == "activation":
        return draw.choice(ACTIVATIONS)
    if kind == "arithmetic":
        text = draw.choice(sorted(ARITHMETIC))
        return Then(text, ARITHMETIC[text])
    if kind == "scaled":
        return Scaled(shape[1], rank - 2, draw.choice(["add", "mul", "sub"]))
    if kind == "dropout":
        return nn.Dropout(0.2)
    if kind == "linear":
        return (
            nn.Linear(shape[-1], draw.choice([32, 100, 256]))
            if shape[-1] <= 2048 and math.prod(shape) * 256 <= Most.products
            else None
        )
    if kind == "norm":
        return norm(draw, shape)
    if kind == "pool":
        return pool(draw, shape)
    dim = draw.randrange(1 if rank > 2 else 0, rank)
    if kind == "along":
        text = draw.choice(sorted(ALONG))
        return Then(f"{text} along {dim}", lambda x, call=ALONG[text]: call(x, dim))
    text = draw.choice(sorted(REDUCTIONS))
    over = draw.choice([dim, dim, tuple(range(1, rank)), tuple(range(2, rank)) or dim])
    return Then(f"{text} over {over}", lambda x, call=REDUCTIONS[text]: call(x, over))


def program(seed: int) -> tuple[nn.Module, torch.Tensor]:
    """The module and its input."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    first, shape = draw.choice(STARTS)(draw)
    x = torch.randn(shape)
    layers, y = [first.eval()], first.eval()(x)
    for _ in range(draw.randint(first.__class__ is nn.Identity, 6)):
        found = layer(draw, tuple(y.shape))
        if found is not None and y.numel():
            layers.append(found.eval())
            y = found(y)
            if y.numel() > 4 * Most.elements:
                break
    if draw.random() < 0.15 and y.dim() > 1 and y.shape[-1] > 1:
        text = draw.choice(sorted(LOSSES))
        layers.append(Then(f"loss {text}", LOSSES[text]))
    return nn.Sequential(*layers).eval(), x


# --- measuring ---------------------------------------------------------------------------------------------------


def check_sizes(module: nn.Module, x: torch.Tensor, seed: int, compiled: Callable[[Any], Any]) -> str:
    """What is wrong of a program that was exported with all its sizes symbolic (`Dim.AUTO`), called with some; sizes that PyTorch itself refuses are
    left out."""
    draw = random.Random(seed)
    exported = torch.export.export(
        module, (x,), dynamic_shapes=(dict.fromkeys(range(x.dim()), torch.export.Dim.AUTO),)
    )
    [shape] = [
        node.meta["val"].shape for node in exported.graph.find_nodes(op="placeholder") if node.name == "input"
    ]
    run, eager = compiled(exported), exported.module()
    for turn in range(5):
        sizes = [
            size
            if isinstance(kept, int) or not turn
            else draw.choice([1, 2, 3, 17, size // 2 + 1, size + 1, 2 * size])
            for size, kept in zip(x.shape, shape, strict=True)
        ]
        given = torch.randn(sizes, dtype=x.dtype)
        try:
            expected = eager(given)
        except Exception:
            continue
        said = differs(as_tensor(run(given)), expected, module.double()(given.double()).double())
        module.to(x.dtype)
        if said:
            return f"{said} at {sizes}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5, help="of measuring a program")
    parser.add_argument("--cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float16", "bfloat16", "float64"])
    parser.add_argument("--dynamic", action="store_true", help="only look at the numbers, at several sizes")
    parser.add_argument("--larger", type=int, default=1, help="so many times the elements and multiply-adds")
    args = parser.parse_args()
    dtype = getattr(torch, args.dtype)
    Most.elements, Most.products = Most.elements * args.larger, Most.products * args.larger
    set_threads(args.threads)
    clock = time.process_time if args.threads == 1 else time.perf_counter
    warnings.simplefilter("ignore")

    def compiled(exported: Any) -> Any:
        program = xdsl_exir.from_exported_program(exported)
        return xdsl_exir.compile(program, target="native", cpu=args.cpu, fallback="error")

    ratios: list[float] = []
    for seed in range(args.seed, args.seed + args.count):
        module, x = program(seed)
        text = f"{list(x.shape)} " + " | ".join(str(it).replace("\n", " ") for it in module)
        if args.show:
            print(seed, text)
            continue
        try:
            with torch.no_grad():
                module, x = module.to(dtype), x.to(dtype)
                if args.dynamic:
                    print(
                        f"{seed:7} {check_sizes(module, x, seed, compiled) or 'ok'} {text[:600]}", flush=True
                    )
                    continue
                start = time.perf_counter()
                run = compiled(torch.export.export(module, (x,)))
                compiling = time.perf_counter() - start
                reference, y = module(x), run(x)
                said = differs(as_tensor(y), reference, module.double()(x.double()).double())
                module.to(dtype)
                ours, eager = best(partial(run, x), partial(module, x), args.seconds, clock)
        except Exception as error:
            print(f"{seed:7} {type(error).__name__}: {str(error)[:200]} {text}", flush=True)
            continue
        ratios.append(ours / eager)
        print(
            f"{seed:7} {1e3 * ours:9.3f} {1e3 * eager:9.3f} {ours / eager:6.2f}{'!' if ours > 1.25 * eager else ' '} {compiling:5.1f}s {said} {text[:600]}",
            flush=True,
        )
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(
            f"{len(ratios)} programs, geometric mean {mean:.2f}, {sum(it > 1.25 for it in ratios)} above 1.25, worst {max(ratios):.2f}"
        )


if __name__ == "__main__":
    main()
