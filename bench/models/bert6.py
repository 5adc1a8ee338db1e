"""BERT-like encoder: 6 post-norm layers, width 384, 12 heads, feed-forward 1536, vocabulary 8192.

Inputs: token ids, int64 [1, 128]; attention mask, int64 [1, 128], 1 for a token and 0 for padding.
Outputs: two-class logits of the first token, float32 [1, 2]; hidden states, float32 [1, 128, 384].
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class EncoderLayer(nn.Module):
    def __init__(self, width: int, heads: int, feed_forward: int) -> None:
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)
        self.o = nn.Linear(width, width)
        self.ln1 = nn.LayerNorm(width)
        self.ln2 = nn.LayerNorm(width)
        self.f1 = nn.Linear(width, feed_forward)
        self.f2 = nn.Linear(feed_forward, width)

    def split_heads(self, x: Tensor) -> Tensor:
        """[batch, time, width] to [batch, heads, time, width / heads]."""
        batch, time, width = x.shape
        return x.view(batch, time, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        q = self.split_heads(self.q(x))
        k = self.split_heads(self.k(x))
        v = self.split_heads(self.v(x))
        attention = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.ln1(x + self.o(attention.transpose(1, 2).reshape(x.shape)))
        return self.ln2(x + self.f2(F.gelu(self.f1(x))))


class Bert(nn.Module):
    def __init__(
        self,
        layers: int = 6,
        width: int = 384,
        heads: int = 12,
        feed_forward: int = 1536,
        vocabulary: int = 8192,
        positions: int = 512,
    ) -> None:
        super().__init__()
        self.tok = nn.Embedding(vocabulary, width)
        self.pos = nn.Embedding(positions, width)
        self.ln = nn.LayerNorm(width)
        self.layers = nn.ModuleList([EncoderLayer(width, heads, feed_forward) for _ in range(layers)])
        self.pool = nn.Linear(width, width)
        self.cls = nn.Linear(width, 2)

    def forward(self, ids: Tensor, attn: Tensor) -> tuple[Tensor, Tensor]:
        x = self.ln(self.tok(ids) + self.pos(torch.arange(ids.shape[1])))
        mask = (1.0 - attn[:, None, None, :].to(x.dtype)) * -1e4
        for layer in self.layers:
            x = layer(x, mask)
        return self.cls(torch.tanh(self.pool(x[:, 0]))), x


def get_model_and_inputs(seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The model in eval mode and its example inputs (the last 28 tokens are padding), drawn from ``seed``."""
    torch.manual_seed(seed)
    attn = torch.ones(1, 128, dtype=torch.int64)
    attn[:, 100:] = 0
    return Bert().eval(), (torch.randint(0, 8192, (1, 128)), attn)
