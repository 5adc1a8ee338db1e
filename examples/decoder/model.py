"""A decoder with a cache, for use in C: two methods, one that takes a prompt of any length and one that takes a word.

    python examples/decoder/model.py decoder.pt2
    xdsl-exir compile decoder.pt2 -o out
    cc examples/decoder/generate.c -o generate -Iout -Lout -ldecoder -Wl,-rpath,$PWD/out
    ./generate out/decoder.weights 3 14 15 92

Its weights are random, so it has nothing to say; but it says the same in C as in PyTorch.
"""

from __future__ import annotations

import sys

import torch
from torch import Tensor, nn
from torch.export import Dim

import xdsl_exir


class Decoder(nn.Module):
    """Two layers of attention over what was seen so far, kept in buffers, and the position in a buffer of its own."""

    keys: Tensor
    values: Tensor
    position: Tensor

    def __init__(self, dim: int = 32, heads: int = 4, layers: int = 2, length: int = 64, words: int = 100):
        super().__init__()
        self.heads = heads
        self.embedding, self.head = nn.Embedding(words, dim), nn.Linear(dim, words)
        self.qkv = nn.ModuleList(nn.Linear(dim, 3 * dim) for _ in range(layers))
        self.project = nn.ModuleList(nn.Linear(dim, dim) for _ in range(layers))
        self.register_buffer("keys", torch.zeros(layers, 1, heads, length, dim // heads))
        self.register_buffer("values", torch.zeros(layers, 1, heads, length, dim // heads))
        self.register_buffer("position", torch.zeros((), dtype=torch.long))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        count = ids.shape[1]
        where = self.position + torch.arange(count)
        visible = torch.arange(self.keys.shape[3])[None, :] <= where[:, None]
        for i, (qkv, project) in enumerate(zip(self.qkv, self.project, strict=True)):
            q, k, v = (y.view(1, count, self.heads, -1).transpose(1, 2) for y in qkv(x).chunk(3, -1))
            self.keys[i].index_copy_(2, where, k)
            self.values[i].index_copy_(2, where, v)
            y = nn.functional.scaled_dot_product_attention(q, self.keys[i], self.values[i], attn_mask=visible)
            x = x + project(y.transpose(1, 2).flatten(2))
        self.position += count
        return self.head(x)[:, -1]


def export(model: Decoder) -> xdsl_exir.Program:
    """Both methods as one program."""
    ids = torch.zeros(1, 8, dtype=torch.long)
    with torch.no_grad():
        prefill = torch.export.export(model, (ids,), dynamic_shapes=({1: Dim("time", min=1, max=64)},))
        decode = torch.export.export(model, (ids[:, :1],))
    return xdsl_exir.from_exported_program({"prefill": prefill, "decode": decode})


if __name__ == "__main__":
    torch.manual_seed(0)
    export(Decoder().eval()).save(sys.argv[1])
