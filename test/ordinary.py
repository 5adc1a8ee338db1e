"""Models as people write them, at small size: one class each, with the inputs it is called with.

They are what the tests of whole programs run beside the five of `bench/models`: other layers, other idioms (in-place
updates, masks, integer arithmetic on indices, several inputs and outputs, containers of tensors).
"""

# pyright: basic, reportMissingImports=false, reportIndexIssue=false, reportOperatorIssue=false
# pyright: reportCallIssue=false, reportOptionalMemberAccess=false, reportArgumentType=false
# (PyTorch types attributes of modules as `Tensor | Module`.)

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Case = Callable[[], tuple[nn.Module, tuple[Any, ...]]]
ORDINARY: dict[str, Case] = {}


def ordinary(*inputs: Callable[[], Any]) -> Callable[[type[nn.Module]], type[nn.Module]]:
    """Registers a model with the functions that make its inputs."""

    def register(model: type[nn.Module]) -> type[nn.Module]:
        ORDINARY[model.__name__] = lambda: (model().eval(), tuple(make() for make in inputs))
        return model

    return register


def normal(*shape: int) -> Callable[[], Tensor]:
    return lambda: torch.randn(*shape)


def below(high: int, *shape: int) -> Callable[[], Tensor]:
    return lambda: torch.randint(0, high, shape)


# --- images --------------------------------------------------------------------------------------------------


def conv_bn(inputs: int, outputs: int, kernel: int = 3, **kwargs: Any) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False, **kwargs)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


@ordinary(normal(1, 3, 32, 32))
class UNet(nn.Module):
    """Encoder and decoder joined by concatenation, transposed convolutions going up."""

    def __init__(self, width: int = 8):
        super().__init__()
        w = width
        self.down = nn.ModuleList([conv_bn(3, w), conv_bn(w, 2 * w), conv_bn(2 * w, 4 * w)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(4 * w, 2 * w, 2, 2), nn.ConvTranspose2d(2 * w, w, 2, 2)])
        self.merge = nn.ModuleList([conv_bn(4 * w, 2 * w), conv_bn(2 * w, w)])
        self.head = nn.Conv2d(w, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        skips: list[Tensor] = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if i else x)
            skips.append(x)
        for up, merge, skip in zip(self.up, self.merge, reversed(skips[:-1]), strict=True):
            x = merge(torch.cat([up(x), skip], 1))
        return self.head(x)


@ordinary(normal(2, 3, 32, 32))
class ViT(nn.Module):
    """Patches by a strided convolution, a class token, `nn.TransformerEncoder`."""

    def __init__(self, dim: int = 32):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, 8, 8)
        self.cls = nn.Parameter(torch.randn(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, 17, dim) * 0.1)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(dim, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.pos
        return self.head(self.encoder(x)[:, 0])


@ordinary(normal(1, 3, 32, 32))
class ConvNeXt(nn.Module):
    """Depthwise 7x7, channels-last layer norm, a scaled residual."""

    class Block(nn.Module):
        def __init__(self, dim: int):
            super().__init__()
            self.depthwise = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
            self.norm = nn.LayerNorm(dim, eps=1e-6)
            self.expand, self.project = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
            self.gamma = nn.Parameter(torch.full((dim,), 0.5))

        def forward(self, x: Tensor) -> Tensor:
            y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
            return x + (self.gamma * self.project(F.gelu(self.expand(y)))).permute(0, 3, 1, 2)

    def __init__(self, dim: int = 16):
        super().__init__()
        self.stem = nn.Conv2d(3, dim, 4, 4)
        self.blocks = nn.Sequential(self.Block(dim), self.Block(dim))
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.norm(self.blocks(self.stem(x)).mean([-2, -1])))


@ordinary(normal(2, 3, 24, 24))
class SqueezeExcite(nn.Module):
    """Inverted residuals with channel attention (hardswish, hardsigmoid), as in MobileNetV3."""

    def __init__(self, w: int = 16):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, w, 3, 2, 1), nn.BatchNorm2d(w), nn.Hardswish())
        self.expand = nn.Conv2d(w, 4 * w, 1)
        self.depthwise = nn.Conv2d(4 * w, 4 * w, 5, padding=2, groups=4 * w)
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(4 * w, w, 1),
            nn.ReLU(),
            nn.Conv2d(w, 4 * w, 1),
            nn.Hardsigmoid(),
        )
        self.project = nn.Conv2d(4 * w, w, 1)
        self.head = nn.Linear(w, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        y = F.hardswish(self.depthwise(F.hardswish(self.expand(x))))
        x = x + self.project(y * self.squeeze(y))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


@ordinary(normal(1, 3, 24, 24))
class DenseNet(nn.Module):
    """Layers that see all earlier ones, average pooling between."""

    def __init__(self, growth: int = 8):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm2d(16 + i * growth), nn.ReLU(), nn.Conv2d(16 + i * growth, growth, 3, padding=1)
            )
            for i in range(4)
        )
        self.head = nn.Linear(16 + 4 * growth, 10)

    def forward(self, x: Tensor) -> Tensor:
        features = [self.stem(x)]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)))
        return self.head(F.avg_pool2d(torch.cat(features, 1), 4, ceil_mode=True).mean((2, 3)))


@ordinary(normal(1, 16, 12, 12))
class ShuffleNet(nn.Module):
    """Grouped convolutions, split and channel shuffle."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(8, 8, 1, groups=2)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.last = nn.Conv2d(8, 8, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept, x = x.chunk(2, 1)
        x = torch.cat([kept, F.relu(self.last(self.depthwise(F.relu(self.first(x)))))], 1)
        return F.channel_shuffle(x, 2) + x.view(1, 2, 8, 12, 12).transpose(1, 2).reshape(1, 16, 12, 12)


@ordinary(normal(2, 16, 16, 8))
class Swin(nn.Module):
    """Attention in shifted windows with a table of relative positions."""

    def __init__(self, dim: int = 8, window: int = 4, heads: int = 2):
        super().__init__()
        self.window, self.heads = window, heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads))
        grid = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(
            1
        )
        relative = (grid[:, :, None] - grid[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer(
            "index", relative[..., 0] * (2 * window - 1) + relative[..., 1], persistent=False
        )

    def forward(self, x: Tensor) -> Tensor:
        b, h, width, c = x.shape
        w = self.window
        y = torch.roll(x, (-w // 2, -w // 2), (1, 2)).view(b, h // w, w, width // w, w, c)
        y = y.permute(0, 1, 3, 2, 4, 5).reshape(-1, w * w, c)
        q, k, v = self.qkv(y).reshape(-1, w * w, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        bias = self.table[self.index.flatten()].view(w * w, w * w, -1).permute(2, 0, 1)
        attention = (q @ k.transpose(-2, -1) / math.sqrt(c // self.heads) + bias.unsqueeze(0)).softmax(-1)
        y = self.proj((attention @ v).transpose(1, 2).reshape(-1, w * w, c))
        y = y.view(b, h // w, width // w, w, w, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, width, c)
        return x + torch.roll(y, (w // 2, w // 2), (1, 2))


@ordinary(normal(1, 3, 12, 12))
class SuperResolution(nn.Module):
    """Sub-pixel convolution beside bicubic and bilinear resampling."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 5, padding=2), nn.PReLU(16), nn.Conv2d(16, 12, 3, padding=1)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = F.pixel_shuffle(self.body(x), 2) + F.interpolate(x, scale_factor=2, mode="bicubic")
        return y.clamp(0, 1), F.interpolate(y, size=(17, 19), mode="bilinear", align_corners=False)


@ordinary(normal(2, 1, 28, 28))
class SpatialTransformer(nn.Module):
    """A predicted affine map, sampled with `grid_sample`."""

    def __init__(self):
        super().__init__()
        self.locate = nn.Sequential(
            nn.Conv2d(1, 4, 7), nn.MaxPool2d(2, 2), nn.ReLU(True), nn.Flatten(), nn.Linear(484, 6)
        )
        self.head = nn.Linear(784, 10)

    def forward(self, x: Tensor) -> Tensor:
        theta = self.locate(x).tanh().view(-1, 2, 3)
        x = F.grid_sample(x, F.affine_grid(theta, list(x.shape), align_corners=False), align_corners=False)
        return F.log_softmax(self.head(x.flatten(1)), dim=1)


@ordinary(normal(2, 4, 8, 8), lambda: torch.tensor([3, 700]))
class DiffusionBlock(nn.Module):
    """Group norm, a sinusoidal time embedding, self-attention over pixels, as in a denoising U-Net."""

    def __init__(self, w: int = 16):
        super().__init__()
        self.enter, self.leave = nn.Conv2d(4, w, 3, padding=1), nn.Conv2d(w, 4, 3, padding=1)
        self.norm1, self.norm2 = nn.GroupNorm(4, w), nn.GroupNorm(4, w)
        self.time = nn.Sequential(nn.Linear(w, 4 * w), nn.SiLU(), nn.Linear(4 * w, 2 * w))
        self.attention = nn.MultiheadAttention(w, 4, batch_first=True)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        frequencies = torch.exp(-math.log(10000) * torch.arange(0, 8, dtype=torch.float32) / 8)
        angles = t[:, None].float() * frequencies[None]
        scale, shift = self.time(torch.cat([angles.cos(), angles.sin()], -1))[:, :, None, None].chunk(
            2, dim=1
        )
        h = self.enter(x)
        h = h + F.silu(self.norm1(h) * (1 + scale) + shift)
        sequence = self.norm2(h).flatten(2).mT
        h = h + self.attention(sequence, sequence, sequence, need_weights=False)[0].mT.reshape_as(h)
        return self.leave(F.silu(h))


@ordinary(normal(1, 2, 6, 10, 10))
class VideoNet(nn.Module):
    """3-D convolutions and pooling."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(2, 6, 3, padding=1)
        self.norm = nn.BatchNorm3d(6)
        self.up = nn.ConvTranspose3d(6, 3, 2, stride=2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = F.max_pool3d(F.leaky_relu(self.norm(self.conv(x)), 0.1), 2)
        return self.up(x), F.adaptive_avg_pool3d(x, (1, 2, 2)).flatten(1)


@ordinary(normal(2, 3, 16, 16))
class Autoencoder(nn.Module):
    """A variational autoencoder's mean path, strided and transposed convolutions."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), nn.ELU(), nn.Conv2d(8, 16, 4, 2, 1), nn.ELU())
        self.mean, self.log_variance = nn.Linear(256, 6), nn.Linear(256, 6)
        self.expand = nn.Linear(6, 256)
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.ELU(), nn.ConvTranspose2d(8, 3, 3, 2, 1, output_padding=1)
        )

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        h = self.encoder(x).flatten(1)
        mean, log_variance = self.mean(h), self.log_variance(h)
        divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(1).mean()
        return {
            "image": torch.sigmoid(self.decoder(self.expand(mean).view(-1, 16, 4, 4))),
            "loss": divergence,
        }


@ordinary(normal(1, 8, 6, 6))
class Detector(nn.Module):
    """Anchors, box decoding, the best boxes by score, and who overlaps whom."""

    def __init__(self):
        super().__init__()
        self.scores, self.boxes = nn.Conv2d(8, 3, 1), nn.Conv2d(8, 12, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        n, _, h, w = x.shape
        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        centres = torch.stack([xs, ys], -1).float().add_(0.5).view(1, h * w, 1, 2)
        deltas = self.boxes(x).view(n, 3, 4, h * w).permute(0, 3, 1, 2)
        middle, size = centres + deltas[..., :2], torch.exp(deltas[..., 2:].clamp(max=4.0))
        boxes = torch.cat([middle - size / 2, middle + size / 2], -1).view(n, -1, 4)
        scores, best = self.scores(x).permute(0, 2, 3, 1).reshape(n, -1).sigmoid().topk(8, dim=1)
        boxes = boxes.gather(1, best[..., None].expand(-1, -1, 4))[0]
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        low = torch.maximum(boxes[:, None, :2], boxes[None, :, :2])
        high = torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
        overlap = (high - low).clamp_(min=0).prod(-1)
        overlap = overlap / (area[:, None] + area - overlap)
        kept = ~((overlap > 0.5) & torch.ones_like(overlap, dtype=torch.bool).triu(1)).any(0)
        return boxes, scores[0] * kept, kept


# --- sequences -----------------------------------------------------------------------------------------------


@ordinary(below(50, 2, 9))
class LSTM(nn.Module):
    """Two bidirectional layers over embedded tokens; the final state is a result too."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 12, padding_idx=0)
        self.lstm = nn.LSTM(12, 10, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(20, 5)

    def forward(self, ids: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        y, state = self.lstm(self.embedding(ids))
        return self.head(y), state


@ordinary(normal(1, 3, 12, 12))
class Sequencer(nn.Module):
    """Mixing of an image's patches by bidirectional LSTMs over its columns and over its rows."""

    def __init__(self):
        super().__init__()
        self.patches, self.norm = nn.Conv2d(3, 8, 4, 4), nn.LayerNorm(8)
        self.columns, self.rows = (
            nn.LSTM(8, 4, batch_first=True, bidirectional=True),
            nn.LSTM(8, 4, batch_first=True, bidirectional=True),
        )
        self.mix, self.head = nn.Linear(16, 8), nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).permute(0, 2, 3, 1)
        b, h, w, _ = x.shape
        y = self.norm(x)
        columns = self.columns(y.permute(0, 2, 1, 3).reshape(b * w, h, -1))[0]
        rows = self.rows(y.reshape(b * h, w, -1))[0].reshape(b, h, w, -1)
        columns = columns.reshape(b, w, h, -1).permute(0, 2, 1, 3)
        x = x + self.mix(torch.cat([columns, rows], -1))
        return self.head(x.mean((1, 2)))


@ordinary(normal(7, 2, 6), normal(2, 2, 8))
class GRU(nn.Module):
    """Two layers, time first, with a given state, and a cell of its own after."""

    def __init__(self):
        super().__init__()
        self.gru, self.cell = nn.GRU(6, 8, 2), nn.GRUCell(8, 8)

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        y, state = self.gru(x, state)
        return self.cell(y[-1], state[0]), y.max(0).values


@ordinary(normal(2, 1, 400))
class AudioEncoder(nn.Module):
    """Strided 1-D convolutions with group norm, then a grouped positional convolution, as in wav2vec 2."""

    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv1d(1, 16, 10, 5, bias=False), nn.GroupNorm(16, 16)
        self.conv2 = nn.Conv1d(16, 16, 3, 2)
        self.position = nn.Conv1d(16, 16, 8, padding=4, groups=4)
        self.norm2, self.project = nn.LayerNorm(16), nn.Linear(16, 12)
        self.pool = nn.MaxPool1d(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = F.gelu(self.conv2(F.gelu(self.norm1(self.conv1(x)))))
        x = x + F.gelu(self.position(x)[..., :-1])
        return F.glu(self.project(self.norm2(self.pool(x).transpose(1, 2))))


@ordinary(normal(2, 4, 40))
class TemporalConv(nn.Module):
    """Causal dilated 1-D convolutions with gates, as in WaveNet."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Conv1d(4, 8, 1)
        self.gates = nn.ModuleList(nn.Conv1d(8, 16, 2, dilation=2**i) for i in range(4))
        self.out = nn.ModuleList(nn.Conv1d(8, 8, 1) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        x = self.enter(x)
        total = torch.zeros_like(x)
        for i, (gate, out) in enumerate(zip(self.gates, self.out, strict=True)):
            a, b = gate(F.pad(x, (2**i, 0))).chunk(2, 1)
            y = out(a.tanh() * b.sigmoid())
            total += y
            x = x + y
        return F.instance_norm(total)


@ordinary(below(40, 2, 7), below(40, 2, 5))
class Translator(nn.Module):
    """`nn.Transformer`: encoder, decoder, causal and padding masks."""

    def __init__(self, dim: int = 16):
        super().__init__()
        self.embedding = nn.Embedding(40, dim)
        self.transformer = nn.Transformer(dim, 2, 1, 2, 32, batch_first=True)
        self.head = nn.Linear(dim, 40)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        y = self.transformer(
            self.embedding(source),
            self.embedding(target),
            tgt_mask=mask,
            tgt_is_causal=True,
            src_key_padding_mask=source == 3,
        )
        return self.head(y).argmax(-1) + self.head(y).logsumexp(-1)


@ordinary(below(30, 2, 11))
class RelativeAttention(nn.Module):
    """Bucketed relative positions and RMS norm, as in T5."""

    def __init__(self, dim: int = 16, heads: int = 4):
        super().__init__()
        self.embedding, self.bias = nn.Embedding(30, dim), nn.Embedding(8, heads)
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.weight, self.heads = nn.Parameter(torch.ones(dim)), heads

    def buckets(self, t: int) -> Tensor:
        positions = torch.arange(t)
        distance = positions[None, :] - positions[:, None]
        side = (distance > 0).long() * 4
        distance = distance.abs()
        far = 2 + (torch.log(distance.float() / 2 + 1e-6) / math.log(8) * 2).long()
        return side + torch.where(distance < 2, distance, far.clamp(max=3))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
        q, k, v = (f(y).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(-1, -2) + self.bias(self.buckets(ids.shape[1])).permute(2, 0, 1)[None]
        scores = scores.masked_fill((ids == 0)[:, None, None, :], torch.finfo(scores.dtype).min)
        return x + self.o((F.softmax(scores.float(), -1).type_as(v) @ v).transpose(1, 2).flatten(2))


@ordinary(below(64, 1, 6))
class CachedDecoder(nn.Module):
    """One decoding step: keys and values written into buffers at a position that is itself a buffer."""

    def __init__(self, dim: int = 16, length: int = 24):
        super().__init__()
        self.embedding, self.qkv = nn.Embedding(64, dim), nn.Linear(dim, 3 * dim)
        self.register_buffer("keys", torch.zeros(1, length, dim))
        self.register_buffer("values", torch.zeros(1, length, dim))
        self.register_buffer("position", torch.zeros((), dtype=torch.long))

    def forward(self, ids: Tensor) -> Tensor:
        q, k, v = self.qkv(self.embedding(ids)).chunk(3, -1)
        where = self.position + torch.arange(ids.shape[1])
        self.keys.index_copy_(1, where, k)
        self.values[:, where] = v
        self.position += ids.shape[1]
        visible = torch.arange(self.keys.shape[1])[None, :] <= where[:, None]
        return F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=visible[None])


# --- graphs, sets, tables ------------------------------------------------------------------------------------


@ordinary(normal(10, 6), below(10, 2, 24))
class GraphNet(nn.Module):
    """Messages along edges: gathered, summed and maximised per node, normalised by degree."""

    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(12, 8), nn.Linear(6 + 16, 6)

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        source, target = edges
        messages = F.relu(self.message(torch.cat([nodes[source], nodes.index_select(0, target)], -1)))
        total = nodes.new_zeros(nodes.shape[0], 8).index_add(0, target, messages)
        degree = torch.zeros(nodes.shape[0]).scatter_add(0, target, torch.ones(target.shape[0]))
        most = torch.full((nodes.shape[0], 8), -1e9).scatter_reduce(
            0, target[:, None].expand(-1, 8), messages, "amax", include_self=True
        )
        mean = total / degree.clamp(min=1)[:, None]
        return nodes + self.update(torch.cat([nodes, mean, most.clamp(min=-1.0)], -1))


@ordinary(normal(2, 5, 12))
class MixtureOfExperts(nn.Module):
    """Every token to the two best of four experts, weights renormalised."""

    def __init__(self, dim: int = 12, experts: int = 4):
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)
        self.w1 = nn.Parameter(torch.randn(experts, dim, 2 * dim) * 0.2)
        self.w2 = nn.Parameter(torch.randn(experts, 2 * dim, dim) * 0.2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.flatten(0, 1)
        weights, chosen = self.gate(tokens).softmax(-1).topk(2, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        hidden = F.silu(torch.einsum("td,tkdh->tkh", tokens, self.w1[chosen]))
        y = torch.einsum("tkh,tkhd->tkd", hidden, self.w2[chosen])
        load = F.one_hot(chosen, 4).sum((0, 1)).float() / tokens.shape[0]
        return (y * weights[..., None]).sum(1).view_as(x), load


@ordinary(below(100, 20), lambda: torch.tensor([0, 4, 4, 13]), normal(4, 5))
class Recommender(nn.Module):
    """Bags of embeddings, dense features, and their pairwise products, as in DLRM."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.sum, self.mean = nn.EmbeddingBag(100, dim, mode="sum"), nn.EmbeddingBag(100, dim, mode="mean")
        self.bottom, self.top = nn.Linear(5, dim), nn.Linear(dim + 3, 1)

    def forward(self, ids: Tensor, offsets: Tensor, dense: Tensor) -> Tensor:
        x = F.relu(self.bottom(dense))
        features = torch.stack([x, self.sum(ids, offsets), self.mean(ids, offsets)], 1)
        products = torch.bmm(features, features.transpose(1, 2))
        rows, columns = torch.tril_indices(3, 3, -1)
        return torch.sigmoid(self.top(torch.cat([x, products[:, rows, columns]], 1))).squeeze(-1)


@ordinary(normal(3, 20, 3))
class PointNet(nn.Module):
    """Nearest neighbours of points, shared layers, a maximum over the set."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(6, 16, 1), nn.BatchNorm1d(16), nn.ReLU())

    def forward(self, points: Tensor) -> Tensor:
        near = torch.cdist(points, points).topk(4, largest=False).indices
        rows = torch.arange(points.shape[0])[:, None, None]
        offsets = (points[rows, near] - points[:, :, None]).mean(2)
        return self.layers(torch.cat([points, offsets], -1).transpose(1, 2)).amax(-1)


@ordinary(normal(4, 7), lambda: torch.tensor([2, 0, 4, 1]))
class Losses(nn.Module):
    """A training step's losses, label smoothing and triplets included."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(7, 5)

    def forward(self, x: Tensor, labels: Tensor) -> dict[str, Tensor]:
        logits = self.head(x)
        target = F.one_hot(labels, 5).float()
        return {
            "smooth": F.cross_entropy(logits, labels, label_smoothing=0.1),
            "binary": F.binary_cross_entropy_with_logits(logits, target, pos_weight=torch.arange(1.0, 6.0)),
            "huber": F.smooth_l1_loss(logits, target, beta=0.5),
            "divergence": F.kl_div(F.log_softmax(logits, -1), target * 0.9 + 0.02, reduction="batchmean"),
            "cosine": 1 - F.cosine_similarity(logits, target).mean(),
            "norm": torch.stack([p.pow(2).sum() for p in self.parameters()]).sum().sqrt(),
        }


@ordinary(normal(3, 64))
class Spectrum(nn.Module):
    """Framing by `unfold`, a windowed spectrum by matrix products, log-mel features and deltas."""

    def __init__(self):
        super().__init__()
        angles = 2 * math.pi * torch.outer(torch.arange(16.0), torch.arange(9.0)) / 16
        self.register_buffer("window", torch.hann_window(16))
        self.register_buffer("basis", torch.cat([angles.cos(), -angles.sin()], 1))
        self.mel = nn.Parameter(torch.rand(9, 6))

    def forward(self, x: Tensor) -> Tensor:
        frames = F.pad(x[:, None], (8, 8), mode="reflect")[:, 0].unfold(-1, 16, 8) * self.window
        real, imaginary = (frames @ self.basis).split(9, -1)
        features = torch.log10((real.square() + imaginary.square()) @ self.mel + 1e-3)
        deltas = F.pad(features.diff(dim=1), (0, 0, 1, 0))
        features = torch.cat([features, deltas, features.cumsum(1) / torch.arange(1, 10)[None, :, None]], -1)
        return (features - features.mean(1, keepdim=True)) / features.std(
            1, keepdim=True, unbiased=False
        ).add(1e-5)
