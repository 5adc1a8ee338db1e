"""Recurrences over time, written as loops or in chunks, and kinds of attention."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from layers import integers, layer, uniform

Weights = Any


def heads(x: Tensor, count: int) -> Tensor:
    batch, time, width = x.shape
    return x.view(batch, time, count, width // count).transpose(1, 2)


def joined(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | float = 0.0) -> Tensor:
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]) + bias, -1) @ v


# --- recurrences ---------------------------------------------------------------------------------------------


@layer((2, 32, 4, 32), (2, 32, 4, 32), (2, 32, 4, 64), uniform(2, 32, 4))
def delta_rule(w: Weights, q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    state = q.new_zeros(2, 4, 32, 64)
    out = torch.zeros_like(v)
    for t in range(q.shape[1]):
        read = torch.einsum("bhkv,bhk->bhv", state, k[:, t])
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, t], beta[:, t, :, None] * (v[:, t] - read))
        out[:, t] = torch.einsum("bhk,bhkv->bhv", q[:, t], state)
    return out


@layer((2, 32, 256), qkv=(768, 256), gates=(8, 256), out=(256, 256))
def gated_delta_net(w: Weights, x: Tensor) -> Tensor:
    q, k, v = (heads(part, 4) for part in F.silu(x @ w.qkv.mT).chunk(3, -1))
    decay, beta = (x @ w.gates.mT).chunk(2, -1)
    decay, beta = torch.exp(-F.softplus(decay)).transpose(1, 2), beta.sigmoid().transpose(1, 2)
    q, k = (part / (part.norm(dim=-1, keepdim=True) + 1e-6) for part in (q, k))
    state, outs = q.new_zeros(2, 4, 64, 64), []
    for t in range(x.shape[1]):
        state = state * decay[:, :, t, None, None]
        error = beta[:, :, t, None] * (v[:, :, t] - (state * k[:, :, t, :, None]).sum(-2))
        state = state + k[:, :, t, :, None] * error[:, :, None]
        outs.append((state * q[:, :, t, :, None]).sum(-2))
    return joined(torch.stack(outs, 2)) @ w.out.mT


@layer((2, 4, 128, 32), (2, 4, 128, 32), (2, 4, 128, 64), (2, 4, 128))
def chunked_delta_rule(w: Weights, q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    size = 32
    q, k, beta = (
        F.normalize(q, dim=-1) * q.shape[-1] ** -0.5,
        F.normalize(k, dim=-1),
        beta.sigmoid()[..., None],
    )
    q, k, v, beta = (x.unflatten(2, (-1, size)) for x in (q, k, v, beta))
    upper = torch.triu(torch.ones(size, size, dtype=torch.bool))
    inner = -((k * beta) @ k.mT).masked_fill(upper, 0)
    for i in range(1, size):
        inner[..., i, :i] = inner[..., i, :i] + (
            inner[..., i, :, None].clone() * inner[..., :, :i].clone()
        ).sum(-2)
    inner = inner + torch.eye(size)
    reads, values = inner @ (k * beta), inner @ (v * beta)
    state, out = q.new_zeros(2, 4, 32, 64), torch.zeros_like(v)
    for c in range(q.shape[2]):
        new = values[:, :, c] - reads[:, :, c] @ state
        scores = (q[:, :, c] @ k[:, :, c].mT).masked_fill_(upper.triu(1), 0)
        out[:, :, c] = q[:, :, c] @ state + scores @ new
        state = state + k[:, :, c].mT @ new
    return out.flatten(2, 3)


@layer((2, 48, 4, 32), (2, 48, 4, 32), (2, 48, 4, 32), (2, 48, 4, 32))
def gated_linear_attention(w: Weights, q: Tensor, k: Tensor, v: Tensor, gate: Tensor) -> Tensor:
    q, k, v, g = (x.transpose(1, 2).float() for x in (q, k, v, F.logsigmoid(gate) / 16))
    state, out = q.new_zeros(2, 4, 32, 32), torch.zeros_like(v)
    for i in range(q.shape[2]):
        state = state * g[:, :, i, :, None].exp() + k[:, :, i, :, None] * v[:, :, i, None, :]
        out[:, :, i] = (q[:, :, i, :, None] * 32**-0.5 * state).sum(-2)
    return out.transpose(1, 2)


@layer((2, 24, 128), mix=(5, 128), rkvwg=(5, 128, 128), u=(2, 64), out=(128, 128))
def rwkv6(w: Weights, x: Tensor) -> Tensor:
    shifted = F.pad(x, (0, 0, 1, -1))
    mixed = x + (shifted - x) * w.mix.sigmoid()[:, None, None]
    r, k, v, decay, g = torch.einsum("nbtc,ncd->nbtd", mixed, w.rkvwg).unbind(0)
    r, k, v, decay = (heads(part, 2) for part in (r, k, v, torch.exp(-torch.exp(decay))))
    state, outs = x.new_zeros(2, 2, 64, 64), []
    for t in range(x.shape[1]):
        kv = k[:, :, t, :, None] @ v[:, :, t, None, :]
        outs.append(r[:, :, t, None, :] @ (state + w.u[None, :, :, None] * kv))
        state = decay[:, :, t, :, None] * state + kv
    y = F.group_norm(joined(torch.cat(outs, 2)).flatten(0, 1), 2).view(x.shape)
    return (y * F.silu(g)) @ w.out


@layer((2, 16, 2, 64), (2, 16, 2, 64), (2, 16, 2, 64), (2, 16, 2, 64), (2, 16, 2, 64), (2, 16, 2, 64))
def rwkv7(w: Weights, r: Tensor, decay: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor) -> Tensor:
    state, y = r.new_zeros(2, 2, 64, 64), torch.empty_like(v)
    kk = F.normalize(a, dim=-1, p=2.0)
    decay = torch.exp(-0.606531 * torch.sigmoid(decay))
    for t in range(r.shape[1]):
        sa = state @ -kk[:, t, :, :, None]
        state = (
            state * decay[:, t, :, None, :]
            + sa @ (kk * b.sigmoid())[:, t, :, None, :]
            + v[:, t, :, :, None] @ k[:, t, :, None, :]
        )
        y[:, t] = (state @ r[:, t, :, :, None]).squeeze(-1)
    return y


@layer((2, 64, 128), (2, 64, 128), (2, 64, 16), (2, 64, 16), a=(128, 16), d=(128,))
def selective_scan(w: Weights, u: Tensor, delta: Tensor, b: Tensor, c: Tensor) -> Tensor:
    delta = F.softplus(delta)
    decay = torch.exp(torch.einsum("bld,dn->bldn", delta, -w.a.exp()))
    entered = torch.einsum("bld,bln,bld->bldn", delta, b, u)
    x, ys = u.new_zeros(2, 128, 16), []
    for i in range(u.shape[1]):
        x = decay[:, i] * x + entered[:, i]
        ys.append(torch.einsum("bdn,bn->bd", x, c[:, i]))
    return torch.stack(ys, 1) + u * w.d


def segment_sums(x: Tensor) -> Tensor:
    """Sums of each stretch of the last dimension, minus infinity where it is none."""
    time = x.shape[-1]
    x = x[..., None].expand(*x.shape, time)
    x = x.masked_fill(~torch.tril(torch.ones(time, time, dtype=torch.bool), -1), 0).cumsum(-2)
    return x.masked_fill(~torch.tril(torch.ones(time, time, dtype=torch.bool)), -torch.inf)


@layer((2, 128, 4, 64), uniform(2, 128, 4), (2, 128, 4, 32), (2, 128, 4, 32))
def state_space_dual(w: Weights, x: Tensor, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    x, b, c = (part.unflatten(1, (-1, 32)) for part in (x, b, c))
    a = -a.unflatten(1, (-1, 32)).permute(0, 3, 1, 2)
    sums = a.cumsum(-1)
    diagonal = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", c, b, segment_sums(a).exp(), x)
    states = torch.einsum("bclhn,bhcl,bclhp->bchpn", b, torch.exp(sums[..., -1:] - sums), x)
    states = torch.cat([torch.zeros_like(states[:, :1]), states], 1)
    decay = torch.exp(segment_sums(F.pad(sums[..., -1], (1, 0))))
    states = torch.einsum("bhzc,bchpn->bzhpn", decay, states)[:, :-1]
    return (diagonal + torch.einsum("bclhn,bchpn,bhcl->bclhp", c, states, sums.exp())).flatten(1, 2)


@layer((2, 64, 256), w=(768, 256), lower=(256,))
def hgrn(w: Weights, x: Tensor) -> Tensor:
    i, f, g = (x @ w.w.mT).chunk(3, -1)
    f = w.lower.sigmoid() + (1 - w.lower.sigmoid()) * f.sigmoid()
    i, h, hs = F.silu(i) * (1 - f), torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        h = f[:, t] * h + i[:, t]
        hs.append(h)
    return F.rms_norm(torch.stack(hs, 1), (256,)) * F.silu(g)


@layer((4, 64, 128), w=(512, 128), r=(4, 128, 128), b=(512,))
def slstm(w: Weights, x: Tensor) -> tuple[Tensor, Tensor]:
    c = n = h = m = x.new_zeros(4, 128)
    gates = x @ w.w.mT + w.b
    out = []
    for t in range(x.shape[1]):
        z, i, f, o = (gates[:, t] + torch.einsum("bc,gcd->bgd", h, w.r).flatten(1)).chunk(4, 1)
        f = F.logsigmoid(f)
        new = torch.maximum(f + m, i)
        i, f, m = torch.exp(i - new), torch.exp(f + m - new), new
        c, n = f * c + i * torch.tanh(z), f * n + i
        h = torch.sigmoid(o) * c / n.clamp(min=1e-6)
        out.append(h)
    return torch.stack(out, 1), c


@layer((2, 4, 96, 32), (2, 4, 96, 32), (2, 4, 96, 32), (2, 4, 96), (2, 4, 96))
def mlstm(w: Weights, q: Tensor, k: Tensor, v: Tensor, i: Tensor, f: Tensor) -> Tensor:
    sums = torch.cat([f.new_zeros(2, 4, 1), F.logsigmoid(f).cumsum(-1)], -1)
    matrix = sums[..., 1:, None] - sums[..., None, 1:] + i[..., None, :]
    matrix = torch.where(torch.ones(96, 96).tril().bool(), matrix, float("-inf"))
    top = matrix.amax(-1, keepdim=True)
    scores = q @ k.mT * 32**-0.5 * torch.exp(matrix - top)
    return scores @ v / (torch.maximum(scores.sum(-1, keepdim=True).abs(), torch.exp(-top)) + 1e-6)


@layer((4, 200, 64), (4, 200, 64))
def associative_scan(w: Weights, a: Tensor, x: Tensor) -> Tensor:
    a, step = a.sigmoid(), 1
    while step < a.shape[1]:
        x = torch.cat([x[:, :step], x[:, step:] + a[:, step:] * x[:, :-step]], 1)
        a = torch.cat([a[:, :step], a[:, step:] * a[:, :-step]], 1)
        step *= 2
    return x


@layer((2, 30, 96), w=(3, 96, 96), u=(3, 96, 96))
def written_gru(w: Weights, x: Tensor) -> Tensor:
    h, out = torch.zeros(2, 96), torch.zeros(2, 30, 96)
    for t in range(30):
        z = torch.sigmoid(x[:, t] @ w.w[0] + h @ w.u[0])
        r = torch.sigmoid(x[:, t] @ w.w[1] + h @ w.u[1])
        h = z * h + (1 - z) * torch.tanh(x[:, t] @ w.w[2] + (r * h) @ w.u[2])
        out[:, t, :] = h
    return out


# --- attention -----------------------------------------------------------------------------------------------


@layer((2, 64, 256), qkv=(768, 256), out=(256, 256), slopes=(4,))
def alibi(w: Weights, x: Tensor) -> Tensor:
    q, k, v = (heads(part, 4) for part in (x @ w.qkv.mT).chunk(3, -1))
    place = torch.arange(x.shape[1])
    bias = -(place[None] - place[:, None]).abs() * w.slopes.abs()[:, None, None]
    bias = bias.masked_fill(place[None] > place[:, None], float("-inf"))
    return joined(attend(q, k, v, bias)) @ w.out.mT


@layer((2, 4, 128, 32), (2, 4, 128, 32), (2, 4, 128, 32), table=(32, 4))
def relative_buckets(w: Weights, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    place = torch.arange(128)
    apart = place[None] - place[:, None]
    bucket = (apart > 0).long() * 16
    far = 8 + (torch.log(apart.abs().float().clamp(min=1) / 8) / math.log(128 / 8) * 8).long()
    bucket = bucket + torch.where(apart.abs() < 8, apart.abs(), far.clamp(max=15))
    return attend(q, k, v, w.table[bucket].permute(2, 0, 1)[None])


@layer((2, 4, 256, 32), (2, 4, 256, 32), (2, 4, 256, 32))
def windowed(w: Weights, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    size = 32
    q = q.unflatten(2, (-1, size))
    k, v = (F.pad(x, (0, 0, size, 0)).unfold(2, 2 * size, size).mT for x in (k, v))
    rows, columns = torch.arange(size)[:, None] + size, torch.arange(2 * size)
    mask = (columns <= rows) & (columns > rows - size)
    return attend(q, k, v, torch.where(mask, 0.0, -1e9)).flatten(2, 3)


@layer((2, 4, 128, 32), (2, 4, 128, 32), (2, 4, 128, 32), features=(32, 64))
def performer(w: Weights, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    def feature(x: Tensor) -> Tensor:
        x = x * 32**-0.25
        return (
            torch.exp(x @ w.features - (x**2).sum(-1, keepdim=True) / 2 - (x @ w.features).amax(-1, True))
            + 1e-4
        )

    q, k = feature(q), feature(k)
    kv = torch.einsum("bhnf,bhnd->bhfd", k, v)
    return torch.einsum("bhnf,bhfd,bhn->bhnd", q, kv, 1 / torch.einsum("bhnf,bhf->bhn", q, k.sum(2)))


@layer((2, 4, 128, 32), (2, 4, 128, 32), (2, 4, 128, 32))
def nystrom(w: Weights, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    marks_q, marks_k = (x.reshape(2, 4, 16, 8, 32).mean(-2) for x in (q, k))
    first, middle, last = (
        torch.softmax(a @ b.mT / 32**0.5, -1) for a, b in ((q, marks_k), (marks_q, marks_k), (marks_q, k))
    )
    unit = torch.eye(16)
    inverse = middle.mT / middle.sum(-2).amax(-1)[..., None, None]
    for _ in range(6):
        both = middle @ inverse
        inverse = 0.25 * inverse @ (13 * unit - both @ (15 * unit - both @ (7 * unit - both)))
    return first @ inverse @ (last @ v)


@layer((2, 128, 64), (2, 128, 64), directions=(64, 8))
def hashed(w: Weights, qk: Tensor, v: Tensor) -> Tensor:
    turned = qk @ w.directions
    buckets = torch.cat([turned, -turned], -1).argmax(-1)
    order = (buckets * 128 + torch.arange(128)).argsort(-1)
    back = order.argsort(-1)
    q, x = (torch.gather(t, 1, order[..., None].expand_as(t)).unflatten(1, (-1, 32)) for t in (qk, v))
    k = F.normalize(q, dim=-1)
    k, x = (torch.cat([t, t.roll(1, 1)], 2) for t in (k, x))
    out = attend(q, k, x).flatten(1, 2)
    return out.gather(1, back[..., None].expand_as(out))


@layer((2, 96, 4, 32), (2, 96, 4, 32), (2, 96, 4, 32), (2, 96, 4))
def forgetting(w: Weights, q: Tensor, k: Tensor, v: Tensor, gate: Tensor) -> Tensor:
    sums = F.logsigmoid(gate).cumsum(1).transpose(1, 2)
    bias = sums[..., :, None] - sums[..., None, :]
    mask = torch.ones(96, 96, dtype=torch.bool).tril()
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / 32**0.5
    scores = torch.where(mask, scores + bias, torch.finfo(torch.float32).min)
    return torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v)


@layer((2, 64, 4, 32), (2, 64, 4, 32), (2, 64, 4, 32), uniform(2, 4, 7, 64), uniform(2, 64, 4))
def log_linear(w: Weights, q: Tensor, k: Tensor, v: Tensor, levels: Tensor, gate: Tensor) -> Tensor:
    i, j = torch.cartesian_prod(torch.arange(64), torch.arange(64)).unbind(1)
    sums = -gate.transpose(1, 2).cumsum(-1)
    decay = (
        (sums[..., :, None] - sums[..., None, :])
        .masked_fill(~torch.ones(64, 64).tril().bool(), -torch.inf)
        .exp()
    )
    total = torch.zeros_like(decay)
    for level in range(7):
        if level == 0:
            mask = torch.diag_embed(levels[..., 0, :])
        else:
            half = 1 << (level - 1)
            start = i - i % half
            inside = (i % (2 * half) >= half) & (j + half >= start) & (j < start)
            mask = torch.where(
                inside.view(64, 64), levels[..., level, :].unsqueeze(-1).expand(-1, -1, 64, 64), 0
            )
        total += decay * mask
    return torch.einsum("bhlc,bchp->blhp", torch.einsum("bhlc,blhn,bchn->bhlc", total, q, k), v)


@layer((1, 4, 96, 32), (1, 4, 96, 32), (1, 4, 96, 32))
def compressed_and_chosen(w: Weights, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    blocks_k, blocks_v = (x.unflatten(2, (-1, 16)) for x in (k, v))
    place = torch.arange(96)
    scores = q @ blocks_k.mean(-2).mT / 32**0.5
    seen = place[:, None] >= torch.arange(6) * 16 + 15
    chances = torch.nan_to_num(scores.masked_fill(~seen, -torch.inf).softmax(-1))
    coarse = chances @ blocks_v.mean(-2)
    best = chances.topk(3, -1).indices
    chosen = torch.zeros(1, 4, 96, 6, dtype=torch.bool).scatter_(-1, best, True)
    mask = chosen.repeat_interleave(16, -1) & (place <= place[:, None])
    fine = (q @ k.mT / 32**0.5).masked_fill(~mask, -1e9).softmax(-1) * mask
    return coarse + fine @ v


@layer((2, 64, 256), (2, 64, 512), down=(64, 512), up=(512, 64), q=(256, 256), rope=(32, 512))
def latent_attention(w: Weights, x: Tensor, context: Tensor) -> Tensor:
    latent = F.rms_norm(context @ w.down.mT, (64,))
    k, v = (latent @ w.up.mT).view(2, 64, 4, 128).transpose(1, 2).split([64, 64], -1)
    angle = torch.outer(torch.arange(64), 1e4 ** (-torch.arange(0, 32, 2) / 32))
    turn = torch.polar(torch.ones_like(angle), angle)
    shared = torch.view_as_real(
        torch.view_as_complex((context @ w.rope.mT).unflatten(-1, (-1, 2))) * turn
    ).flatten(-2)
    k = torch.cat([k[..., :32], shared[:, None].expand(-1, 4, -1, -1)], -1)
    return joined(F.scaled_dot_product_attention(heads(x @ w.q.mT, 4), k, v, is_causal=True))


@layer((2, 8, 1, 64), (2, 2, 200, 64), (2, 2, 200, 64), integers(200, 2))
def grouped_decoding(w: Weights, q: Tensor, k: Tensor, v: Tensor, length: Tensor) -> Tensor:
    mask = torch.arange(200)[None] <= length[:, None]
    k, v = (x[:, :, None].expand(-1, -1, 4, -1, -1).reshape(2, 8, 200, 64) for x in (k, v))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None])


@layer((1, 24, 24, 64), g=(64, 64), a=(64, 64), b=(64, 64), out=(64, 64))
def triangle_multiplication(w: Weights, x: Tensor) -> Tensor:
    x = F.layer_norm(x, (64,))
    left, right = x @ w.a * torch.sigmoid(x @ w.g), x @ w.b * torch.sigmoid(x @ w.g)
    return F.layer_norm(torch.einsum("bikd,bjkd->bijd", left, right), (64,)) @ w.out


@layer((2, 128, 128), (2, 128, 128), w=(3, 128, 128))
def based_attention(w: Weights, x: Tensor, y: Tensor) -> Tensor:
    q, k, v = (x @ w.w[0])[..., :16], (y @ w.w[1])[..., :16], y @ w.w[2]

    def taylor(x: Tensor) -> Tensor:
        square = (x[..., :, None] * x[..., None, :]).flatten(-2) / math.sqrt(2)
        return torch.cat([torch.ones_like(x[..., :1]), x / 2, square / 4], -1)

    scores = torch.tril(taylor(q) @ taylor(k).mT)
    return scores @ v / (scores.sum(-1, keepdim=True) + 1e-6)


@layer((64, 128), router=(8, 128), up=(8, 256, 128), down=(8, 128, 256))
def mixture_of_experts(w: Weights, x: Tensor) -> Tensor:
    weight, chosen = torch.topk((x @ w.router.mT).softmax(-1), 2)
    weight, out = weight / weight.sum(-1, keepdim=True), torch.zeros_like(x)
    for expert in range(8):
        share = (weight * (chosen == expert)).sum(-1, keepdim=True)
        out = out + share * (F.silu(x @ w.up[expert].mT) @ w.down[expert].mT)
    return out


@layer((2, 16, 1152), w=(16, 10, 16, 8))
def capsules(w: Weights, x: Tensor) -> Tensor:
    votes = torch.einsum("iodk,bik->biod", w.w, x[..., :8])
    logits = torch.zeros(2, 16, 10)
    out = votes.sum(1)
    for _ in range(3):
        s = (logits.softmax(-1)[..., None] * votes).sum(1)
        norm = s.norm(dim=-1, keepdim=True)
        out = norm**2 / (1 + norm**2) * s / (norm + 1e-8)
        logits = logits + (votes * out[:, None]).sum(-1)
    return out


@layer((2, 7, 64), (2, 96, 64), q=(64, 64), kv=(128, 64), w=(192, 64), u=(192, 64))
def slot_attention(w: Weights, slots: Tensor, x: Tensor) -> Tensor:
    k, v = (F.layer_norm(x, (64,)) @ w.kv.mT).chunk(2, -1)
    for _ in range(3):
        q = F.layer_norm(slots, (64,)) @ w.q.mT
        share = (k @ q.mT / 8).softmax(-1) + 1e-8
        update = (share / share.sum(1, keepdim=True)).mT @ v
        gi, gh = (update @ w.w.mT).chunk(3, -1), (slots @ w.u.mT).chunk(3, -1)
        r, z = torch.sigmoid(gi[0] + gh[0]), torch.sigmoid(gi[1] + gh[1])
        slots = (1 - z) * torch.tanh(gi[2] + r * gh[2]) + z * slots
    return slots
