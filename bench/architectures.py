"""Sixteen architectures beside the five models, small and with random weights, for `run_time.py` (which takes their names).

python bench/run_time.py vit unet lstm --contenders native eager frozen
python bench/run_time.py all           # of all architectures, in turn
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Attention(nn.Module):
    """With heads of 64, over a context of its own or another one."""

    def __init__(self, dim: int, causal: bool = False):
        super().__init__()
        self.heads, self.causal = max(1, dim // 64), causal
        self.q, self.k, self.v, self.out = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x: Tensor, context: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        context = x if context is None else context
        q, k, v = (
            layer(given).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer, given in ((self.q, x), (self.k, context), (self.v, context))
        )
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).flatten(-2))


class Block(nn.Module):
    """A layer of a transformer, norms first; with attention to a context in a decoder."""

    def __init__(self, dim: int, causal: bool = False, cross: bool = False, norm: Any = nn.LayerNorm):
        super().__init__()
        self.attention, self.cross = Attention(dim, causal), Attention(dim) if cross else None
        self.norms = nn.ModuleList(norm(dim) for _ in range(3))
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x: Tensor, context: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        x = x + self.attention(self.norms[0](x), bias=bias)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), context)
        return x + self.mlp(self.norms[2](x))


class VisionTransformer(nn.Module):
    def __init__(self, dim: int = 192, depth: int = 6, size: int = 224, patch: int = 16, classes: int = 1000):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, dim))
        self.place = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, dim))
        self.blocks, self.norm = nn.Sequential(*(Block(dim) for _ in range(depth))), nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x: Tensor) -> Tensor:
        patches = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), patches], 1) + self.place
        return self.head(self.norm(self.blocks(x))[:, 0])


class ConvNeXt(nn.Module):
    class Block(nn.Module):
        def __init__(self, dim: int):
            super().__init__()
            self.depthwise, self.norm = nn.Conv2d(dim, dim, 7, padding=3, groups=dim), nn.LayerNorm(dim)
            self.wide, self.narrow = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

        def forward(self, x: Tensor) -> Tensor:
            y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
            return x + self.narrow(F.gelu(self.wide(y))).permute(0, 3, 1, 2)

    def __init__(self):
        super().__init__()
        stages: list[nn.Module] = [nn.Conv2d(3, 48, 4, 4)]
        for dim, depth in ((48, 2), (96, 2), (192, 4)):
            stages += [self.Block(dim) for _ in range(depth)]
            stages.append(nn.Conv2d(dim, 2 * dim, 2, 2))
        self.stages, self.head = nn.Sequential(*stages), nn.Linear(384, 1000)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.stages(x).mean((2, 3)))


def double(c: int, o: int) -> nn.Module:
    """Two convolutions with norms and activations."""
    layers = ((nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU()) for i in (c, o))
    return nn.Sequential(*(layer for group in layers for layer in group))


class UNet(nn.Module):
    def __init__(self, dims: tuple[int, ...] = (32, 64, 128)):
        super().__init__()
        self.down = nn.ModuleList(double(i, o) for i, o in zip((3, *dims), dims, strict=False))
        self.middle = double(dims[-1], 2 * dims[-1])
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * d, d, 2, 2) for d in reversed(dims))
        self.merge, self.head = (
            nn.ModuleList(double(2 * d, d) for d in reversed(dims)),
            nn.Conv2d(dims[0], 2, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        seen: list[Tensor] = []
        for layer in self.down:
            seen.append(layer(x))
            x = F.max_pool2d(seen[-1], 2)
        x = self.middle(x)
        for up, merge in zip(self.up, self.merge, strict=True):
            x = merge(torch.cat([up(x), seen.pop()], 1))
        return self.head(x)


class EfficientNet(nn.Module):
    class MBConv(nn.Module):
        def __init__(self, c: int, o: int, kernel: int, stride: int):
            super().__init__()
            wide, few = 6 * c, max(1, c // 4)
            self.expand = nn.Sequential(nn.Conv2d(c, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.SiLU())
            self.depthwise = nn.Sequential(
                nn.Conv2d(wide, wide, kernel, stride, kernel // 2, groups=wide, bias=False),
                nn.BatchNorm2d(wide),
                nn.SiLU(),
            )
            self.squeeze = nn.Sequential(
                nn.Conv2d(wide, few, 1), nn.SiLU(), nn.Conv2d(few, wide, 1), nn.Sigmoid()
            )
            self.project = nn.Sequential(nn.Conv2d(wide, o, 1, bias=False), nn.BatchNorm2d(o))
            self.same = c == o and stride == 1

        def forward(self, x: Tensor) -> Tensor:
            y = self.depthwise(self.expand(x))
            y = self.project(y * self.squeeze(y.mean((2, 3), keepdim=True)))
            return x + y if self.same else y

    def __init__(self):
        super().__init__()
        rows = (
            (16, 24, 3, 2),
            (24, 24, 3, 1),
            (24, 40, 5, 2),
            (40, 40, 5, 1),
            (40, 80, 3, 2),
            (80, 112, 5, 1),
        )
        stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.SiLU())
        self.body = nn.Sequential(stem, *(self.MBConv(*row) for row in rows))
        self.head = nn.Linear(112, 1000)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x).mean((2, 3)))


class Whisper(nn.Module):
    """The encoder, or the decoder with its attention to what the encoder gives."""

    def __init__(self, decoder: bool, dim: int = 256, depth: int = 4):
        super().__init__()
        self.decoder = decoder
        if decoder:
            self.words, self.place = nn.Embedding(4000, dim), nn.Parameter(torch.randn(64, dim))
        else:
            self.first, self.second = nn.Conv1d(80, dim, 3, padding=1), nn.Conv1d(dim, dim, 3, 2, 1)
            self.place = nn.Parameter(torch.randn(250, dim))
        self.blocks = nn.ModuleList(Block(dim, causal=decoder, cross=decoder) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)

    def forward(self, x: Tensor, heard: Tensor | None = None) -> Tensor:
        x = self.words(x) if self.decoder else F.gelu(self.second(F.gelu(self.first(x)))).transpose(1, 2)
        x = x + self.place
        for block in self.blocks:
            x = block(x, heard)
        x = self.norm(x)
        return x @ self.words.weight.t() if self.decoder else x


class Wav2Vec2(nn.Module):
    def __init__(self, dim: int = 256):
        super().__init__()
        kernels = ((10, 5), (3, 2), (3, 2), (3, 2), (2, 2))
        convs = [nn.Conv1d(1 if i == 0 else 128, 128, k, s) for i, (k, s) in enumerate(kernels)]
        self.norm = nn.GroupNorm(128, 128)
        self.convs, self.project = nn.ModuleList(convs), nn.Linear(128, dim)
        self.place = nn.Conv1d(dim, dim, 17, padding=8, groups=16)
        self.blocks = nn.Sequential(*(Block(dim) for _ in range(4)))

    def forward(self, x: Tensor) -> Tensor:
        x = F.gelu(self.norm(self.convs[0](x)))
        for conv in self.convs[1:]:
            x = F.gelu(conv(x))
        x = self.project(x.transpose(1, 2))
        return self.blocks(x + F.gelu(self.place(x.transpose(1, 2))).transpose(1, 2))


class Recurrent(nn.Module):
    def __init__(self, kind: type[nn.RNNBase]):
        super().__init__()
        self.words, self.layers = nn.Embedding(1000, 128), kind(128, 256, 2)
        self.head = nn.Linear(256, 1000)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(self.words(x))[0])


class T5(nn.Module):
    """An encoder with a bias by distance and norms without means."""

    def __init__(self, dim: int = 256, tokens: int = 128):
        super().__init__()
        self.words, self.bias = nn.Embedding(4000, dim), nn.Embedding(2 * tokens, dim // 64)
        self.blocks, self.norm = nn.ModuleList(Block(dim, norm=nn.RMSNorm) for _ in range(4)), nn.RMSNorm(dim)
        place = torch.arange(tokens)
        self.register_buffer("distance", place[:, None] - place + tokens)

    def forward(self, x: Tensor) -> Tensor:
        x, bias = self.words(x), self.bias(self.distance).permute(2, 0, 1)[None]
        for block in self.blocks:
            x = block(x, bias=bias)
        return self.norm(x)


class Detector(nn.Module):
    """A pyramid of features, and heads that all its levels share."""

    def __init__(self, dim: int = 64):
        super().__init__()
        dims = (32, 64, 128, 256)
        layers = (
            nn.Sequential(nn.Conv2d(i, o, 3, 2, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(), double(o, o))
            for i, o in zip((3, *dims), dims, strict=False)
        )
        self.body = nn.ModuleList(layers)
        self.lateral = nn.ModuleList(nn.Conv2d(d, dim, 1) for d in dims[1:])
        self.smooth = nn.ModuleList(nn.Conv2d(dim, dim, 3, padding=1) for _ in dims[1:])
        self.classes = nn.Sequential(double(dim, dim), nn.Conv2d(dim, 20, 3, padding=1))
        self.boxes = nn.Sequential(double(dim, dim), nn.Conv2d(dim, 4, 3, padding=1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        levels: list[Tensor] = []
        for layer in self.body:
            levels.append(x := layer(x))
        merged = [lateral(level) for lateral, level in zip(self.lateral, levels[1:], strict=True)]
        for i in (1, 0):
            merged[i] = merged[i] + F.interpolate(merged[i + 1], scale_factor=2.0)
        smooth = [layer(level) for layer, level in zip(self.smooth, merged, strict=True)]
        classes, boxes = (
            torch.cat([head(level).flatten(2) for level in smooth], 2) for head in (self.classes, self.boxes)
        )
        return classes.sigmoid(), boxes.exp()


class DiffusionUNet(nn.Module):
    class Residual(nn.Module):
        def __init__(self, c: int, o: int, time: int):
            super().__init__()
            self.norms = nn.ModuleList((nn.GroupNorm(8, c), nn.GroupNorm(8, o)))
            self.convs = nn.ModuleList((nn.Conv2d(c, o, 3, padding=1), nn.Conv2d(o, o, 3, padding=1)))
            self.time, self.skip = nn.Linear(time, o), nn.Conv2d(c, o, 1) if c != o else nn.Identity()

        def forward(self, x: Tensor, time: Tensor) -> Tensor:
            y = self.convs[0](F.silu(self.norms[0](x))) + self.time(F.silu(time))[:, :, None, None]
            return self.skip(x) + self.convs[1](F.silu(self.norms[1](y)))

    def __init__(self, c: int = 64):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(64, 128), nn.SiLU(), nn.Linear(128, 128))
        self.stem, self.down = nn.Conv2d(4, c, 3, padding=1), nn.Conv2d(c, c, 3, 2, 1)
        self.residuals = nn.ModuleList(
            self.Residual(i, o, 128) for i, o in ((c, c), (c, 2 * c), (2 * c, 2 * c), (3 * c, c))
        )
        self.norm, self.attention = nn.GroupNorm(8, 2 * c), Attention(2 * c)
        self.head = nn.Sequential(nn.GroupNorm(8, c), nn.SiLU(), nn.Conv2d(c, 4, 3, padding=1))

    def forward(self, x: Tensor, step: Tensor) -> Tensor:
        waves = step[:, None] * torch.exp(torch.arange(32) * (-math.log(10000.0) / 32))
        time = self.time(torch.cat([waves.sin(), waves.cos()], -1))
        first = self.residuals[0](self.stem(x), time)
        y = self.residuals[1](self.down(first), time)
        flat = self.norm(y).flatten(2).transpose(1, 2)
        y = y + self.attention(flat).transpose(1, 2).unflatten(2, y.shape[2:])
        y = F.interpolate(self.residuals[2](y, time), scale_factor=2.0)
        return self.head(self.residuals[3](torch.cat([y, first], 1), time))


class CLIP(nn.Module):
    def __init__(self, dim: int = 192):
        super().__init__()
        self.image = VisionTransformer(dim, 4, 128, 16, 128)
        self.words, self.place = nn.Embedding(4000, dim), nn.Parameter(torch.randn(32, dim))
        self.text = nn.Sequential(*(Block(dim, causal=True) for _ in range(4)))
        self.project = nn.Linear(dim, 128)

    def forward(self, image: Tensor, text: Tensor) -> Tensor:
        seen, read = self.image(image), self.project(self.text(self.words(text) + self.place)[:, -1])
        return F.normalize(seen, dim=-1) @ F.normalize(read, dim=-1).t()


class Mamba(nn.Module):
    """Selective state spaces, whose states follow each other step by step."""

    class Layer(nn.Module):
        def __init__(self, dim: int, states: int = 16):
            super().__init__()
            self.norm, self.wide, self.out = nn.RMSNorm(dim), nn.Linear(dim, 4 * dim), nn.Linear(2 * dim, dim)
            self.conv = nn.Conv1d(2 * dim, 2 * dim, 4, padding=3, groups=2 * dim)
            self.select, self.step = nn.Linear(2 * dim, 2 * states), nn.Linear(2 * dim, 2 * dim)
            self.rates = nn.Parameter(torch.rand(2 * dim, states))

        def forward(self, x: Tensor) -> Tensor:
            y, gate = self.wide(self.norm(x)).chunk(2, -1)
            y = F.silu(self.conv(y.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2))
            step, (b, c) = F.softplus(self.step(y)), self.select(y).chunk(2, -1)
            keep = torch.exp(-step[..., None] * self.rates)
            add = (step * y)[..., None] * b[:, :, None]
            state, states = torch.zeros_like(add[:, 0]), list[Tensor]()
            for t in range(x.shape[1]):
                state = keep[:, t] * state + add[:, t]
                states.append((state * c[:, t, None]).sum(-1))
            return x + self.out(torch.stack(states, 1) * F.silu(gate))

    def __init__(self, dim: int = 128):
        super().__init__()
        self.words, self.layers = nn.Embedding(1000, dim), nn.Sequential(self.Layer(dim), self.Layer(dim))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(self.words(x))


class MLPMixer(nn.Module):
    class Layer(nn.Module):
        def __init__(self, tokens: int, dim: int):
            super().__init__()
            self.norms = nn.ModuleList((nn.LayerNorm(dim), nn.LayerNorm(dim)))
            self.tokens = nn.Sequential(nn.Linear(tokens, dim), nn.GELU(), nn.Linear(dim, tokens))
            self.channels = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

        def forward(self, x: Tensor) -> Tensor:
            x = x + self.tokens(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
            return x + self.channels(self.norms[1](x))

    def __init__(self, dim: int = 256):
        super().__init__()
        self.patch, self.head = nn.Conv2d(3, dim, 16, 16), nn.Linear(dim, 1000)
        self.layers = nn.Sequential(*(self.Layer(196, dim) for _ in range(6)))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(self.patch(x).flatten(2).transpose(1, 2)).mean(1))


class SuperResolution(nn.Module):
    def __init__(self, c: int = 48):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, c, 3, padding=1), nn.Conv2d(c, 27, 3, padding=1)
        layers = (nn.Conv2d(c, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1))
        self.blocks = nn.ModuleList(nn.Sequential(*layers) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x)
        return F.pixel_shuffle(self.last(x), 3)


Drawn = tuple[nn.Module, tuple[Tensor, ...]]


def image(size: int = 224) -> Tensor:
    return torch.randn(1, 3, size, size)


def words(tokens: int, most: int = 1000) -> Tensor:
    return torch.randint(most, (1, tokens))


ARCHITECTURES: dict[str, Callable[[], Drawn]] = {
    "vit": lambda: (VisionTransformer(), (image(),)),
    "convnext": lambda: (ConvNeXt(), (image(128),)),
    "unet": lambda: (UNet(), (image(96),)),
    "efficientnet": lambda: (EfficientNet(), (image(),)),
    "whisper_encoder": lambda: (Whisper(decoder=False), (torch.randn(1, 80, 500),)),
    "whisper_decoder": lambda: (Whisper(decoder=True), (words(64), torch.randn(1, 250, 256))),
    "wav2vec2": lambda: (Wav2Vec2(), (torch.randn(1, 1, 16000),)),
    "lstm": lambda: (Recurrent(nn.LSTM), (words(32).t(),)),
    "gru": lambda: (Recurrent(nn.GRU), (words(32).t(),)),
    "t5": lambda: (T5(), (words(128),)),
    "detector": lambda: (Detector(), (image(128),)),
    "diffusion": lambda: (DiffusionUNet(), (torch.randn(1, 4, 32, 32), torch.tensor([17.0]))),
    "clip": lambda: (CLIP(), (image(128), words(32))),
    "mamba": lambda: (Mamba(), (words(32),)),
    "mlp_mixer": lambda: (MLPMixer(), (image(),)),
    "super_resolution": lambda: (SuperResolution(), (image(64),)),
}


def get_model_and_inputs(name: str, seed: int = 0) -> Drawn:
    """A model in eval mode and inputs for it, drawn from a seed."""
    torch.manual_seed(seed)
    model, inputs = ARCHITECTURES[name]()
    return model.eval(), inputs
