"""Algorithms, signals, images, geometry, graphs and losses."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from layers import integers, layer, uniform

Weights = Any


# --- algorithms ----------------------------------------------------------------------------------------------


@layer((64, 48), (64, 56))
def sinkhorn(w: Weights, x: Tensor, y: Tensor) -> Tensor:
    scores = -torch.cdist(x, y[:, :48]) / 5
    u, v = torch.zeros(64), torch.zeros(64)
    for _ in range(20):
        u = -math.log(64) - torch.logsumexp(scores + v[None], 1)
        v = -math.log(64) - torch.logsumexp(scores + u[:, None], 0)
    return torch.exp(scores + u[:, None] + v[None])


@layer((4, 12, 8), (4, 12, 8))
def soft_dtw(w: Weights, x: Tensor, y: Tensor) -> Tensor:
    cost = (x[:, :, None] - y[:, None]).square().sum(-1)
    table = torch.full((4, 13, 13), 1e8)
    table[:, 0, 0] = 0
    for i in range(1, 13):
        for j in range(1, 13):
            near = torch.stack([table[:, i - 1, j - 1], table[:, i - 1, j], table[:, i, j - 1]], -1)
            table[:, i, j] = cost[:, i - 1, j - 1] - torch.logsumexp(-near, -1)
    return table[:, -1, -1]


@layer((8, 40, 12), integers(12, 8, 40), transitions=(12, 12))
def random_field(w: Weights, emissions: Tensor, tags: Tensor) -> Tensor:
    score = emissions[:, 0]
    for t in range(1, 40):
        score = torch.logsumexp(score[:, :, None] + w.transitions + emissions[:, t, None], 1)
    gold = emissions.gather(2, tags[..., None]).sum((1, 2)) + w.transitions[tags[:, :-1], tags[:, 1:]].sum(1)
    return (torch.logsumexp(score, 1) - gold).mean()


@layer((8, 40, 12), transitions=(12, 12))
def viterbi(w: Weights, emissions: Tensor) -> tuple[Tensor, Tensor]:
    score, back = emissions[:, 0], []
    for t in range(1, 40):
        score, place = (score[:, :, None] + w.transitions).max(1)
        score = score + emissions[:, t]
        back.append(place)
    best, last = score.max(1)
    path = [last]
    for place in reversed(back):
        path.append(place.gather(1, path[-1][:, None])[:, 0])
    return best, torch.stack(path[::-1], 1)


@layer((500, 8))
def k_means(w: Weights, x: Tensor) -> tuple[Tensor, Tensor]:
    centers = x[:10]
    for _ in range(5):
        label = torch.cdist(x, centers).argmin(1)
        one = F.one_hot(label, 10).float()
        centers = one.T @ x / one.sum(0)[:, None].clamp(min=1)
    return centers, torch.cdist(x, centers).argmin(1)


@layer((32, 6), (32, 4), transition=(6, 6), seen=(4, 6))
def kalman(w: Weights, state: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
    p = torch.eye(6).expand(32, 6, 6)
    for _ in range(4):
        state = state @ w.transition.mT
        p = w.transition @ p @ w.transition.mT + 0.1 * torch.eye(6)
        gain = torch.linalg.solve(w.seen @ p @ w.seen.mT + torch.eye(4), w.seen @ p).mT
        state = state + (gain @ (z - state @ w.seen.mT)[..., None])[..., 0]
        p = (torch.eye(6) - gain @ w.seen) @ p
    return state, p


@layer((60, 3), (60,), (20, 3))
def gaussian_process(w: Weights, x: Tensor, y: Tensor, new: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    def kernel(a: Tensor, b: Tensor) -> Tensor:
        return torch.exp(-0.5 * (a[:, None] - b[None]).square().sum(-1))

    root = torch.linalg.cholesky(kernel(x, x) + 0.1 * torch.eye(60))
    alpha = torch.cholesky_solve(y[:, None], root)
    cross = kernel(x, new)
    solved = torch.linalg.solve_triangular(root, cross, upper=False)
    likelihood = -0.5 * y @ alpha[:, 0] - root.diagonal().log().sum() - 30 * math.log(2 * math.pi)
    return cross.T @ alpha, 1 - solved.square().sum(0), likelihood


@layer((64, 64), (64,))
def conjugate_gradient(w: Weights, a: Tensor, b: Tensor) -> Tensor:
    a = a @ a.T / 64 + torch.eye(64)
    x, r = torch.zeros_like(b), b
    p, rs = r, r @ r
    for _ in range(10):
        ap = a @ p
        step = rs / (p @ ap)
        x, r = x + step * p, r - step * ap
        rs, last = r @ r, rs
        p = r + rs / last * p
    return x


@layer((100, 20))
def principal_components(w: Weights, x: Tensor) -> Tensor:
    x = x - x.mean(0)
    values, vectors = torch.linalg.eigh(x.T @ x / 99)
    return x @ (vectors * torch.sign(vectors[0])).flip(1)[:, :5] / values.flip(0)[:5].sqrt()


@layer((16, 8), a=(64, 8), b=(8, 64))
def runge_kutta(w: Weights, y: Tensor) -> Tensor:
    def f(y: Tensor) -> Tensor:
        return torch.tanh(y @ w.a.T) @ w.b.T

    for _ in range(8):
        k1 = f(y)
        k2 = f(y + 0.05 * k1)
        k3 = f(y + 0.05 * k2)
        k4 = f(y + 0.1 * k3)
        y = y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@layer((8, 16, 12, 12), w=(16, 16), scale=(16, 1, 1))
def glow_step(w: Weights, x: Tensor) -> tuple[Tensor, Tensor]:
    x = (x - x.mean((0, 2, 3), keepdim=True)) / x.std((0, 2, 3), keepdim=True) * w.scale.exp()
    x = F.conv2d(x, w.w[..., None, None])
    kept, changed = x.chunk(2, 1)
    shift, scale = torch.tanh(kept), torch.sigmoid(kept + 2)
    log = 144 * (torch.linalg.slogdet(w.w)[1] + w.scale.sum()) + scale.log().sum((1, 2, 3))
    return torch.cat([kept, (changed + shift) * scale], 1), log


@layer((32, 64), grid=(64, 11), w=(32, 64, 7))
def kolmogorov_arnold(w: Weights, x: Tensor) -> Tensor:
    grid = torch.linspace(-2, 2, 11).expand(64, 11)
    x = x[..., None]
    bases = ((x >= grid[:, :-1]) & (x < grid[:, 1:])).to(x.dtype)
    for k in range(1, 4):
        left = (x - grid[:, : -(k + 1)]) / (grid[:, k:-1] - grid[:, : -(k + 1)]) * bases[..., :-1]
        right = (grid[:, k + 1 :] - x) / (grid[:, k + 1 :] - grid[:, 1:-k]) * bases[..., 1:]
        bases = left + right
    return torch.einsum("bik,oik->bo", bases, w.w)


@layer((5000,), (5000,))
def histograms(w: Weights, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    edges = torch.linspace(-3, 3, 31)
    place = torch.bucketize(x, edges)
    table = torch.zeros(32).scatter_add(0, place, y)
    count = torch.bincount(place, minlength=32)
    return (
        table / count.clamp(min=1),
        torch.quantile(x, torch.tensor([0.1, 0.5, 0.9])),
        torch.histc(y, 20, -2, 2),
    )


@layer(integers(50, 4, 200), uniform(4, 50))
def sample_top_p(w: Weights, previous: Tensor, logits: Tensor) -> tuple[Tensor, Tensor]:
    seen = torch.gather(logits, 1, previous)
    logits = logits.scatter(1, previous, torch.where(seen < 0, seen * 1.2, seen / 1.2)) * 6
    ordered, order = torch.sort(logits, descending=True)
    gone = ordered.softmax(-1).cumsum(-1) > 0.8
    gone[:, 1:] = gone[:, :-1].clone()
    gone[:, 0] = False
    logits = logits.masked_fill(gone.scatter(1, order, gone), -float("inf"))
    kth = torch.topk(logits, 10).values[:, -1:]
    return logits.masked_fill(logits < kth, -float("inf")).softmax(-1), logits.argmax(-1)


# --- signals -------------------------------------------------------------------------------------------------


@layer((4, 16000), mel=(201, 40))
def log_mel(w: Weights, x: Tensor) -> Tensor:
    spectrum = torch.stft(x, 400, 160, window=torch.hann_window(400), return_complex=True).abs().square()
    mel = torch.clamp(w.mel.abs().T @ spectrum, min=1e-10).log10()
    return (torch.maximum(mel, mel.amax((1, 2), keepdim=True) - 8) + 4) / 4


@layer((2, 8000))
def spectral_gate(w: Weights, x: Tensor) -> Tensor:
    window = torch.hann_window(256)
    s = torch.stft(x, 256, 64, window=window, return_complex=True)
    power = s.abs()
    mask = torch.sigmoid((power - power.mean(-1, keepdim=True)) * 4)
    return torch.istft(torch.polar(power * mask, s.angle()), 256, 64, window=window, length=8000)


@layer((4, 64, 512), h=(64, 512), d=(64,))
def long_convolution(w: Weights, x: Tensor) -> Tensor:
    y = torch.fft.irfft(torch.fft.rfft(x, 1024) * torch.fft.rfft(w.h, 1024), 1024)[..., :512]
    return F.gelu(y + x * w.d[:, None])


@layer((4, 32, 256), log_dt=(32,), a=(32, 16), b=(32, 16), c=(32, 16))
def diagonal_state_space(w: Weights, u: Tensor) -> Tensor:
    dt = torch.sigmoid(w.log_dt)[:, None] * 0.1
    a = torch.complex(-0.5 * torch.ones(32, 16), math.pi * torch.arange(16).expand(32, 16).float())
    steps = (a * dt)[..., None] * torch.arange(256)
    kernel = (
        2
        * torch.einsum("hn,hnl->hl", torch.complex(w.b, w.c) * (torch.exp(a * dt) - 1) / a, steps.exp()).real
    )
    return torch.fft.irfft(torch.fft.rfft(u, n=512) * torch.fft.rfft(kernel, n=512), n=512)[..., :256]


@layer((2, 64, 32, 32), w=(64, 64, 12, 7, 2))
def spectral_layer(w: Weights, x: Tensor) -> Tensor:
    f = torch.fft.rfft2(x)
    out = torch.zeros(2, 64, 32, 17, dtype=torch.cfloat)
    out[:, :, :12, :7] = torch.einsum("bixy,ioxy->boxy", f[:, :, :12, :7], torch.view_as_complex(w.w))
    return torch.fft.irfft2(out, s=(32, 32))


@layer((16, 32, 32))
def cosine_transform(w: Weights, x: Tensor) -> Tensor:
    k = torch.arange(32)
    table = torch.cos(math.pi / 32 * (k[:, None] + 0.5) * k) * math.sqrt(2 / 32)
    table[:, 0] *= math.sqrt(0.5)
    blocks = (table.T @ x @ table).clamp(-2, 2)
    return table @ blocks @ table.T


@layer((4, 3, 64, 64))
def haar(w: Weights, x: Tensor) -> Tensor:
    a, b, c, d = x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]
    bands = torch.cat([a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d], 1) / 2
    return F.pixel_shuffle(F.softshrink(bands, 0.1).unflatten(1, (4, 3)).transpose(1, 2).flatten(1, 2), 2)


# --- images --------------------------------------------------------------------------------------------------


@layer(uniform(2, 3, 48, 48))
def bilateral(w: Weights, x: Tensor) -> Tensor:
    patches = F.unfold(F.pad(x, (2, 2, 2, 2), mode="reflect"), 5).view(2, 3, 25, 48, 48)
    weight = torch.exp(-(patches - x[:, :, None]).square().sum(1, keepdim=True) / 0.1)
    return (patches * weight).sum(2) / weight.sum(2)


@layer(uniform(2, 3, 64, 64), uniform(2, 3, 64, 64))
def structural_similarity(w: Weights, x: Tensor, y: Tensor) -> Tensor:
    g = torch.exp(-(torch.arange(11) - 5.0).square() / 4.5)
    window = (g[:, None] * g / g.sum() ** 2).expand(3, 1, 11, 11)
    mx, my = (F.conv2d(t, window, groups=3) for t in (x, y))
    xx, yy, xy = (F.conv2d(t, window, groups=3) for t in (x * x, y * y, x * y))
    top = (2 * mx * my + 1e-4) * (2 * (xy - mx * my) + 9e-4)
    return (top / ((mx**2 + my**2 + 1e-4) * (xx - mx**2 + yy - my**2 + 9e-4))).mean((1, 2, 3))


@layer(uniform(2, 1, 64, 64))
def canny_edges(w: Weights, x: Tensor) -> Tensor:
    sobel = torch.tensor([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])
    gx, gy = F.conv2d(x, torch.stack([sobel, sobel.T])[:, None], padding=1).split(1, 1)
    size, turn = torch.hypot(gx, gy), torch.round(torch.atan2(gy, gx) * 4 / math.pi) % 4
    near = F.unfold(size, 3, padding=1).view(2, 9, 64, 64)
    pairs = torch.stack([torch.maximum(near[:, a], near[:, 8 - a]) for a in (5, 8, 7, 6)], 1)
    return torch.where(size >= pairs.gather(1, turn.long()), size, 0.0) > 0.5


@layer((2, 32, 24, 24), (2, 32, 24, 24))
def correlation_volume(w: Weights, a: Tensor, b: Tensor) -> Tensor:
    b = F.pad(b, (3, 3, 3, 3))
    return torch.cat(
        [(a * b[:, :, i : i + 24, j : j + 24]).mean(1, True) for i in range(7) for j in range(7)], 1
    )


@layer((2, 16, 24, 24), offset=(18, 16, 3, 3), w=(16, 16, 9))
def deformed_convolution(w: Weights, x: Tensor) -> Tensor:
    shift = F.conv2d(x, w.offset, padding=1).view(2, 9, 2, 24, 24).permute(0, 1, 3, 4, 2)
    y, z = torch.meshgrid(torch.arange(24.0), torch.arange(24.0), indexing="ij")
    tap = torch.stack([torch.arange(9) % 3 - 1, torch.arange(9) // 3 - 1], -1)[:, None, None]
    grid = (torch.stack([z, y], -1) + tap + shift) / 11.5 - 1
    taken = [F.grid_sample(x, grid[:, k], align_corners=True) for k in range(9)]
    return torch.einsum("kbchw,ock->bohw", torch.stack(taken), w.w)


@layer(uniform(40, 4), uniform(40))
def suppressed_boxes(w: Weights, boxes: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
    scores, order = scores.sort(descending=True, stable=True)
    boxes = boxes[order] * 50
    boxes = torch.cat([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], 1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    inner = (
        torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
        - torch.maximum(boxes[:, None, :2], boxes[:, :2])
    ).clamp(0)
    overlap = inner.prod(-1) / (area[:, None] + area - inner.prod(-1))
    keep = torch.ones(40, dtype=torch.bool)
    for i in range(40):
        keep = keep & ~((overlap[i] > 0.5) & keep[i] & (torch.arange(40) > i))
    return order, keep


@layer((2, 32, 20, 20), w=(32, 32, 3, 3), style=(2, 32))
def modulated_convolution(w: Weights, x: Tensor) -> Tensor:
    weight = w.w[None] * (w.style[:, None, :, None, None] + 1)
    weight = weight * torch.rsqrt(weight.square().sum((2, 3, 4), keepdim=True) + 1e-8)
    out = F.conv2d(x.reshape(1, 64, 20, 20), weight.flatten(0, 1), padding=1, groups=2)
    return F.leaky_relu(out.view(2, 32, 20, 20), 0.2) * math.sqrt(2)


# --- geometry ------------------------------------------------------------------------------------------------


@layer((256, 3), freedom=(4, 60), out=(4, 4))
def radiance_field(w: Weights, x: Tensor) -> tuple[Tensor, Tensor]:
    rays = x[:, None] * torch.linspace(0.1, 2, 16)[:, None]
    angles = rays[..., None] * 2.0 ** torch.arange(10)
    encoded = torch.cat([angles.sin(), angles.cos()], -1).flatten(2)
    out = torch.relu(encoded @ w.freedom.T) @ w.out
    alpha = 1 - torch.exp(-F.softplus(out[..., 3]) * 0.1)
    through = torch.cumprod(torch.cat([torch.ones(256, 1), 1 - alpha + 1e-10], -1), -1)[:, :-1]
    weight = alpha * through
    return (weight[..., None] * out[..., :3].sigmoid()).sum(1), weight.sum(1)


@layer((200, 4), (200, 3), (200, 3))
def splats(w: Weights, q: Tensor, scale: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    r, i, j, k = F.normalize(q, dim=-1).unbind(-1)
    turn = torch.stack(
        [1 - 2 * (j * j + k * k), 2 * (i * j - k * r), 2 * (i * k + j * r),
         2 * (i * j + k * r), 1 - 2 * (i * i + k * k), 2 * (j * k - i * r),
         2 * (i * k - j * r), 2 * (j * k + i * r), 1 - 2 * (i * i + j * j)], -1
    ).view(-1, 3, 3)  # fmt: skip
    m = turn @ torch.diag_embed(scale.exp())
    flat = (m @ m.mT)[:, :2, :2] + 0.3 * torch.eye(2)
    inverse = torch.linalg.inv(flat)
    pixel = torch.stack(
        torch.meshgrid(torch.linspace(-2, 2, 12), torch.linspace(-2, 2, 12), indexing="xy"), -1
    ).view(-1, 2)
    apart = pixel[:, None] - x[None, :, :2]
    power = torch.exp(-0.5 * torch.einsum("pni,nij,pnj->pn", apart, inverse, apart))
    return power[:, x[:, 2].argsort()], torch.det(flat)


@layer((4, 100, 3), (4, 100, 3))
def aligned_points(w: Weights, x: Tensor, y: Tensor) -> Tensor:
    x, y = x - x.mean(1, keepdim=True), y + x
    u, _, vh = torch.linalg.svd(x.mT @ (y - y.mean(1, keepdim=True)))
    turn = torch.cat([torch.ones(4, 2), torch.det(u @ vh)[:, None]], 1)
    return x @ (u * turn[:, None]) @ vh


@layer((2, 128, 3))
def farthest_points(w: Weights, x: Tensor) -> tuple[Tensor, Tensor]:
    chosen, far = torch.zeros(2, 16, dtype=torch.long), torch.zeros(2, dtype=torch.long)
    apart, rows = torch.full((2, 128), 1e10), torch.arange(2)
    for i in range(16):
        chosen[:, i] = far
        center = x[rows, far].view(2, 1, 3)
        distance = ((x - center) ** 2).sum(-1)
        mask = distance < apart
        apart[mask] = distance[mask]
        far = apart.argmax(-1)
    return chosen, apart


@layer((2, 200, 3), w=(64, 6), v=(64, 128))
def edge_convolution(w: Weights, x: Tensor) -> Tensor:
    near = torch.cdist(x, x).topk(8, largest=False).indices
    around = x[torch.arange(2)[:, None, None], near]
    edges = torch.cat([x[:, :, None].expand_as(around), around - x[:, :, None]], -1)
    h = F.leaky_relu(edges @ w.w.T, 0.2).amax(2)
    return torch.cat([h, h.amax(1, keepdim=True).expand_as(h)], -1) @ w.v.T


# --- graphs --------------------------------------------------------------------------------------------------


@layer((100, 64), integers(100, 2, 600), w=(64, 64), source=(64,), target=(64,))
def graph_attention(w: Weights, x: Tensor, edges: Tensor) -> Tensor:
    h = x @ w.w
    start, end = edges
    e = F.leaky_relu((h @ w.source)[start] + (h @ w.target)[end], 0.2)
    top = torch.full((100,), float("-inf")).scatter_reduce(0, end, e, "amax")
    e = torch.exp(e - top[end])
    total = torch.zeros(100).index_add(0, end, e)
    return F.elu(torch.zeros_like(h).index_add_(0, end, h[start] * (e / total[end])[:, None]))


@layer((100, 64), integers(100, 2, 600), w=(64, 64), b=(64,))
def graph_convolution(w: Weights, x: Tensor, edges: Tensor) -> Tensor:
    adjacency = torch.zeros(100, 100)
    adjacency[edges[0], edges[1]] = 1
    adjacency = adjacency + torch.eye(100)
    degree = adjacency.sum(1).pow(-0.5)
    return torch.relu(degree[:, None] * adjacency * degree @ (x @ w.w) + w.b)


@layer((300, 32), lambda: torch.randint(20, (300,)).sort().values)
def pooled_graphs(w: Weights, x: Tensor, batch: Tensor) -> Tensor:
    at = batch[:, None].expand_as(x)
    kinds = ("sum", "mean", "amax", "amin", "prod")
    return torch.cat([torch.zeros(20, 32).scatter_reduce(0, at, x, k, include_self=False) for k in kinds], 1)


# --- losses --------------------------------------------------------------------------------------------------


@layer((64, 128), (64, 128))
def contrastive(w: Weights, x: Tensor, y: Tensor) -> Tensor:
    scores = F.normalize(x) @ F.normalize(y).T / 0.07
    label = torch.arange(64)
    return (F.cross_entropy(scores, label) + F.cross_entropy(scores.T, label)) / 2


@layer((8, 64, 100), (8, 64, 100), integers(100, 8, 64), (8,))
def group_policy(w: Weights, logits: Tensor, old: Tensor, tokens: Tensor, reward: Tensor) -> Tensor:
    new, past = (x.log_softmax(-1).gather(-1, tokens[..., None])[..., 0] for x in (logits, old))
    advantage = ((reward - reward.mean()) / (reward.std() + 1e-4))[:, None]
    ratio = torch.exp(new - past)
    loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage) + 0.04 * (past - new).expm1()
    mask = tokens.cumsum(1) < 3000
    return ((loss * mask).sum(1) / mask.sum(1)).mean()


@layer((4, 20, 21), integers(21, 4, 8))
def focal_and_dice(w: Weights, x: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    target = F.one_hot(labels, 21).float().repeat(1, 3, 1)[:, :20]
    p = x.sigmoid()
    ce = F.binary_cross_entropy_with_logits(x, target, reduction="none")
    focal = (0.25 * target + 0.75 * (1 - target)) * ce * (1 - (p * target + (1 - p) * (1 - target))) ** 2
    return focal.mean(), 1 - (2 * (p * target).sum((1, 2)) + 1) / (p.sum((1, 2)) + target.sum((1, 2)) + 1)


@layer((32, 50), (32, 50))
def ranking_losses(w: Weights, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    order = y.argsort(-1, descending=True)
    ranked = x.gather(1, order)
    listwise = (torch.logcumsumexp(ranked.flip(-1), -1).flip(-1) - ranked).mean()
    pairs = F.softplus(-(x[:, :, None] - x[:, None]) * torch.sign(y[:, :, None] - y[:, None])).triu(1).sum()
    return listwise, pairs, F.triplet_margin_loss(x, y, x.flip(0)), F.kl_div(x.log_softmax(-1), y.softmax(-1))


@layer((16, 256), (16, 256))
def decorrelated(w: Weights, x: Tensor, y: Tensor) -> Tensor:
    x, y = ((t - t.mean(0)) / (t.std(0) + 1e-5) for t in (x, y))
    c = x.T @ y / 16
    off = c.flatten()[:-1].view(255, 257)[:, 1:].flatten()
    return (c.diagonal() - 1).square().sum() + 0.005 * off.square().sum()
