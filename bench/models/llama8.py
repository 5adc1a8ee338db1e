"""Llama-like decoder, prefill: 8 pre-norm layers, width 512, 8 heads over 4 key-value heads, vocabulary 8192.

RMSNorm, rotary position embedding from precomputed cosines and sines, causal attention, SwiGLU of width 1376.
Input: token ids, int64 [1, 128]. Output: next-token logits, float32 [1, 128, 8192].
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        normalized = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)
        return normalized.type_as(x) * self.w


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding of [batch, heads, time, d] by the angles behind [time, d] cosines and sines."""
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class DecoderLayer(nn.Module):
    def __init__(self, width: int, heads: int, kv_heads: int, feed_forward: int) -> None:
        super().__init__()
        self.heads = heads
        self.kv_heads = kv_heads
        self.head_dim = width // heads
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, kv_heads * self.head_dim, bias=False)
        self.v = nn.Linear(width, kv_heads * self.head_dim, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.w1 = nn.Linear(width, feed_forward, bias=False)
        self.w3 = nn.Linear(width, feed_forward, bias=False)
        self.w2 = nn.Linear(feed_forward, width, bias=False)
        self.n1 = RMSNorm(width)
        self.n2 = RMSNorm(width)

    def split_heads(self, x: Tensor, heads: int) -> Tensor:
        """[batch, time, heads * head_dim] to [batch, heads, time, head_dim]."""
        batch, time, _ = x.shape
        return x.view(batch, time, heads, self.head_dim).transpose(1, 2)

    def repeat_kv(self, x: Tensor) -> Tensor:
        """[batch, kv_heads, time, head_dim] to [batch, heads, time, head_dim], each head serving its group."""
        batch, kv_heads, time, head_dim = x.shape
        group = self.heads // kv_heads
        expanded = x[:, :, None].expand(batch, kv_heads, group, time, head_dim)
        return expanded.reshape(batch, self.heads, time, head_dim)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        y = self.n1(x)
        q = rotate(self.split_heads(self.q(y), self.heads), cos, sin)
        k = rotate(self.split_heads(self.k(y), self.kv_heads), cos, sin)
        v = self.split_heads(self.v(y), self.kv_heads)
        k = self.repeat_kv(k)
        v = self.repeat_kv(v)
        attention = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(attention.transpose(1, 2).reshape(x.shape))
        y = self.n2(x)
        return x + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Llama(nn.Module):
    cos: Tensor
    sin: Tensor

    def __init__(
        self,
        layers: int = 8,
        width: int = 512,
        heads: int = 8,
        kv_heads: int = 4,
        feed_forward: int = 1376,
        vocabulary: int = 8192,
        positions: int = 512,
    ) -> None:
        super().__init__()
        self.emb = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(
            [DecoderLayer(width, heads, kv_heads, feed_forward) for _ in range(layers)]
        )
        self.n = RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        head_dim = width // heads
        frequencies = 1.0 / 10000 ** (torch.arange(0, head_dim, 2).float() / head_dim)
        angles = torch.outer(torch.arange(positions).float(), frequencies)
        angles = torch.cat((angles, angles), -1)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        time = ids.shape[1]
        x = self.emb(ids)
        cos = self.cos[:time]
        sin = self.sin[:time]
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.head(self.n(x))


def get_model_and_inputs(seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The model in eval mode and its example inputs, both drawn from ``seed``."""
    torch.manual_seed(seed)
    return Llama().eval(), (torch.randint(0, 8192, (1, 128)),)
