"""Random programs at small scale: `python test/random_programs.py` runs more of them."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

import fused_programs as fused  # noqa: E402
from random_programs import (  # noqa: E402
    Expected,
    Input,
    Program,
    Step,
    attempt,
    export,
    program_of,
    pruned,
    smaller,
)

import xdsl_exir  # noqa: E402
from xdsl_exir.errors import UnsupportedError  # noqa: E402


def program(*steps: str, outputs: tuple[str, ...] = ("v1",)) -> Program:
    """Steps from one matrix, `v0`."""
    return Program(0, (Input("v0", (3, 4), torch.float32, "plain", 0),), tuple(map(Step, steps)), outputs)


def test_a_program_is_its_seed() -> None:
    texts = [str(program_of(seed)) for seed in range(5)]
    assert texts == [str(program_of(seed)) for seed in range(5)]
    assert len(set(texts)) == 5
    assert all(p.steps and p.outputs for p in map(program_of, range(5)))


def test_another_number_shape_or_dtype_is_a_difference() -> None:
    square = program("v1 = v0 * v0")
    expected = Expected(square, square.values())
    (right, *inputs) = expected.results
    assert not expected.difference([right, *inputs])
    assert "of 12 torch.float32" in expected.difference([right + 1e-3, *inputs])
    assert "shape (1, 3, 4)" in expected.difference([right[None], *inputs])
    assert "dtype torch.float64" in expected.difference([right.double(), *inputs])
    assert "v0 afterwards" in expected.difference([right, inputs[0] + 1])


def test_what_the_last_bits_decide_is_left_out() -> None:
    steps = (Step("v2 = v0.sin()", exact=False), Step("v1 = (v2 * 1e7) % 7"))
    chaotic = Program(0, (Input("v0", (3, 4), torch.float32, "plain", 0),), steps, ("v1", "v2"))
    expected = Expected(chaotic, chaotic.values())
    first, second, *inputs = expected.results
    assert not expected.difference([first + 3, second, *inputs])
    assert "v2: 12 of 12" in expected.difference([first, second + 1, *inputs])


def test_the_run_in_float64_stays_there_after_casts() -> None:
    casts = program("v2 = v0.to(torch.float32)", "v1 = v2 / 3")
    values = casts.values()
    assert torch.equal(Expected(casts, values).exact[0], values[0].double() / 3)


def test_shrinking_keeps_what_is_needed() -> None:
    long = program(
        "v2 = v0.neg()", "v3 = v2.exp()", "v3.add_(1)", "v1 = v3.sum()", "v4 = v1 * 2", outputs=("v1", "v4")
    )
    assert [step.text for step in pruned(program("v2 = v0.neg()", "v1 = v0.exp()")).steps] == [
        "v1 = v0.exp()"
    ]
    shorter = list(smaller(long))
    assert any("v3.add_(1)" not in str(p) for p in shorter)
    assert any({i.name for i in p.inputs} == {"v3"} for p in shorter)


# --- programs that were wrong --------------------------------------------------------------------------------

F32, F64, I32, I64, B8, C64 = (
    torch.float32,
    torch.float64,
    torch.int32,
    torch.int64,
    torch.bool,
    torch.complex64,
)

FOUND = {
    "mT of a number": ([F32], "v1 = v0.mT"),
    "powers of one": ([C64, 3], "v1 = 1 ** (v0 * float('inf'))", "v2 = 1 ** v1"),
    "a write to every other place of what overlaps": ([F32, 3], "v1 = v0.new_ones(3).as_strided((2, 2), (1, 1))", "v1.floor_()", "v1[v1 > 0] = 0.5"),
    "dtypes of what has no elements": ([B8, 2, "s0"], "v2 = v0[:0]", "v1 = torch.log_softmax(v2, 0)"),
    "distances of nothing": ([torch.bfloat16, 0, 3], "v1 = torch.cdist(v0, v0)"),
    "mH of a number": ([C64], "v1 = v0.mH"),
    "empty dims": ([B8, 3, 4], "v1 = torch.all(v0, dim=[])"),
    "min of a number": ([F32], "v1, v2 = torch.min(v0, 0)"),
    "trapezoid of integers": ([I32, 3, 5], "v1 = torch.trapezoid(v0)"),
    "leading dimensions of size 1": ([F32, 1, 0, 0], "v1 = (v0 @ v0).permute(0, 2, 1)"),
    "a line between booleans": ([F32], "v1 = torch.linspace(True, 3, 4)"),
    "scans of complex numbers": ([C64], "v1, v2 = torch.cummax(v0, 0)"),
    "pieces of symbolic sizes": ([F32, "s0", 3], "v1 = torch.tensor_split(v0, 3)[1]"),
    "quantiles of symbolic sizes": ([F32, "s0", 3], "v1 = torch.quantile(v0, 0.3, dim=0)"),
    "numbers for symbolic sizes": ([F32, 17, "s0", "s1"], "v2 = v0.reshape(6, 51).cummin(1)[1]", "v1 = v2.reshape(1, 18, 17)[:, ::2] * 2"),
    "unfold after mT": ([F32, 2, 3, 4], "v1 = v0.mT.unfold(1, 2, 1)"),
    "as_strided of a number repeated": ([F32, 2, 2], "v1 = torch.full((3, 4), 2.5).as_strided((2, 2), (2, 1)) + v0"),
    "index_put into nothing": ([F32, 0, 3], "v1 = v0 + 1", "v1[v0 > 0] = 2.0"),
    "index_put of booleans": ([B8, 3], "v1 = ~v0", "v1[torch.tensor([0, 0])] = True", "v1[v0] = False"),
    "a write to a part of what repeats": ([F32, 1, 4], "v1 = v0 + 1", "v1.expand(3, 4)[0].add_(2)"),
    "a fill of a part of what repeats": ([F32, 3, 1], "v1 = v0 + 1", "torch.broadcast_tensors(v1, torch.ones(1, 3))[0].tensor_split(2, -1)[0].fill_(2.0)"),
    "a write to a part of a grid": ([F32, 4], "v1 = v0 + 1", "torch.meshgrid(torch.ones(2, dtype=v0.dtype), v1, indexing='ij')[1][0].mul_(2)"),
    "a write to one of windows": ([F32, 4], "v1 = v0 + 1", "v1.unfold(0, 2, 1)[1].mul_(2)"),
    "a write to strides that repeat": ([F32, 4], "v1 = v0 + 1", "v1.as_strided((3, 2), (1, 1))[1].mul_(2)"),
    "a write to real parts of a part": ([C64, 1, 4], "v1 = v0 + 1", "v1.expand(3, 4)[0].real.mul_(2)"),
    "a write to a conjugated part": ([C64, 1, 4], "v1 = v0 + 1", "v1.expand(3, 4)[0].conj().mul_(2j)"),
    "an index that reads nothing": ([F32, "s0", 3], "v1 = v0[torch.tensor([-1, 6]), -1:-1:2]"),
    "an index beside one of nothing": ([F32, "s0", 3], "v1 = v0[torch.tensor([6]), torch.zeros(0, 1).long()]"),
    "integers summed to their size": ([I32, 3, 4], "v1 = v0.sum_to_size(3, 4)", "v2 = v1.sum_to_size(3, 1)", "v3 = v1 + 1"),
    "distance of numbers": ([F32], "v1 = torch.pairwise_distance(v0, v0 * 2)", "v2 = torch.pairwise_distance(v0, v0 * 2, keepdim=True)"),
    "a number summed to its size": ([I32], "v1 = v0.sum_to_size(())", "v2 = v1 + 1", "v1.mul_(2)"),
    "a write to what is not summed": ([I32, 3, 4], "v1 = v0 + 1", "v1.sum_to_size(3, 4).mul_(2)"),
    "a copy with strides": ([F32, 3, 4], "v1 = torch.ops.prims.copy_strided(v0, [1, 3])", "v2 = v1.t() * 2"),
    "attention over heads of symbolic sizes": ([F32, "s0", "s1"], "v1 = torch.nn.functional.scaled_dot_product_attention(v0, v0, v0)"),
    "transforms of symbolic sizes": ([F32, "s0", "s1"], "v1 = torch.fft.irfft(v0)", "v2 = torch.fft.fft(v0, 3)", "v3 = torch.fft.irfft2(v0, (v0.shape[1], v0.shape[0]))"),
    "shifts of symbolic sizes": ([F32, "s0", 3], "v1 = torch.fft.fftshift(v0)", "v2 = torch.fft.ifftshift(v0)"),
    "no places in nothing": ([F64, 2, 0, 0], "v1 = v0.index_fill(1, torch.tensor([-1]), -2)", "v2 = v0.index_reduce(1, torch.tensor([5]), v0.new_zeros(2, 1, 0), 'mean')"),
    "the median of no integers": ([torch.int8, 0], "v1 = v0.median()", "v2 = v0.long().median()", "v3 = v0.float().nanmedian()"),
    "products of nothing": ([C64, 1, "s0", 0], "v1 = torch.inner(v0, v0)"),
    "products of several symbolic sizes": ([F32, "s0", "s1"], "v1 = torch.einsum('abi,jki->abjk', v0[..., None], v0[..., None])"),
    "sizes that are known as a product": ([F32, "s0", "s1"], "v1 = v0.repeat_interleave(1, 0)", "v2 = torch.nn.functional.interpolate(v1.reshape(1, 1, -1), scale_factor=2)"),
    "norms of nothing": ([F32, 0], "v1 = torch.nn.functional.batch_norm(v0, None, None, training=True)", "v2 = torch.nn.functional.batch_norm(v0.reshape(2, 3, 0), torch.zeros(3), torch.ones(3), training=True)"),
    "a mean of no pixels": ([F32, 1, 1, 0], "v1 = torch.nn.functional.adaptive_avg_pool1d(v0, 1)", "v2 = torch.nn.functional.adaptive_avg_pool1d(v0.mT, 2)"),
    "a loss rounded at each step": ([torch.float16, 3, 4], "v1 = torch.nn.functional.soft_margin_loss(v0 * 20 - 9, 9 - v0 * 20)"),
    "memory of what was written": ([F32, 3, 3], "v1 = v0 + 1", "v2 = v1[0, 0:-1:3]", "v2.neg_()", "v2.as_strided((2,), (1,)).fill_(0.5)", "v3 = v1[1:, 1].mul_(2).as_strided((2,), (2,), 1)"),
    "a write to the adjoint of a part": ([F32, 1, 4], "v1 = v0 + 1", "v1.expand(3, 4)[:1].adjoint().mul_(2)"),
    "a scatter into what is expanded": ([F32, 2, 4], "v1 = torch.as_strided_scatter(v0[1].expand(3, 4), torch.ones(3), [3], [2])", "v2 = torch.as_strided_scatter(v0.t()[:, None].expand(4, 3, 2), torch.ones(2, 2), [2, 2], [5, 1], 3)"),
    "pieces counted at export": ([F32, "s0", 3], "v1 = v0 + 1", "v1.split(4)[-1].mul_(3)", "v2, v3 = v0.unsafe_split(4, 0)", "v4 = v0.chunk(5)[3]", "v1.chunk(5)[1].neg_()"),
    "distances of complex numbers": ([C64, 3, 4], "v1 = torch.pairwise_distance(v0, v0 * 2)"),
    "products of booleans": ([B8, 3, 4], "v1 = torch.einsum('ij,kl->ijkl', v0, v0)", "v2 = torch.einsum('ij->ji', v0)"),
    "a sum as an einsum": ([I32, 3], "v1 = torch.einsum('i->', v0)", "v2 = torch.einsum('i,i->', v0, v0)"),
    "no areas": ([I32, 2, 1], "v1 = torch.trapezoid(v0, dx=2)"),
    "powers of booleans": ([B8, 3], "v1 = v0 ** True", "v2 = v0 ** False", "v3 = v0 ** 2"),
    "a complex number in a tensor of integers": ([I32, 2], "v1 = v0 + 1", "v1.copy_(1j)"),
    "a write to what guards squeeze": ([F32, "s0", "s0"], "v1 = v0 + 1", "v1[:, 2:3:2].squeeze(1)[1:2].mul_(2)"),
    "distinct rows from the end": ([I64, 3, 4], "v1, v2, v3 = torch.unique_consecutive(v0 > 0, return_inverse=True, return_counts=True, dim=-1)"),
    "nothing laid flat": ([F32, 2, 0, "s0"], "v1 = v0.transpose(0, 1).unfold(2, 2, 2).flatten(-2)"),
    "pieces of a computed size": ([F32, "s0", "s1"], "v1 = torch.nn.functional.avg_pool1d(v0.reshape(1, 1, -1), 2)", "v1.tensor_split(3, -1)[0].fill_(2.0)"),
    "pieces of a quotient of sizes": ([F32, "s0", 1, "s0"], "v1 = v0.reshape(-1, v0.shape[0], v0.shape[0]) + 1", "v1.tensor_split(3, -2)[0].fill_(-1)"),
    "the last but one of a sum of sizes": ([F32, "s0", "s1"], "v2 = torch.cat([v0.flatten(), v0[0]])", "v1 = torch.cat([v2, v2], -1)", "v1[-8] = v1[0].clone()", "v3 = torch.roll(v0, 1)"),
    "a squeeze that a guard decides": ([F32, "s1", "s0"], "v1 = v0[:, ::16].squeeze() * 2", "v2, v3 = v0[:3].tensor_split(2)", "v4 = torch.complex(v2, v3)"),
    "a part of memory that grows": ([F32, "s0", "s0", 1], "v2 = v0 + 1", "v3 = v2[0:1, 1, -2:100:3]", "v3.sgn_()", "v1 = v3.as_strided((2, 3), (3, 2))"),
    "antialiasing of symbolic sizes": ([F32, 1, 2, "s0", "s1"], "v1 = torch.nn.functional.interpolate(v0, (3, 4), mode='bilinear', antialias=True)", "v2 = torch.nn.functional.interpolate(v0, scale_factor=0.7, mode='bicubic', antialias=True)"),
    "a write of what integers do not have into nothing": ([I64, 0, 3], "v1 = v0 + 1", "v1.scatter_(-2, torch.zeros_like(v1), 1j)", "v2 = v0.half()", "v2.eq_(1j)"),
    "a write through an einsum of booleans": ([B8, 3, 1], "v1 = v0.clone()", "torch.einsum('ij->ji', v1)[None, :].logical_not_()"),
    "distances of many points of bfloat16": ([torch.bfloat16, 26, 1], "v1 = torch.cdist(v0, v0[:3])"),
    "quarters of a circle": ([F32, 1, 4], "v2 = v0.clamp_max(-5)[:, :3]", "v1 = torch.fft.irfft(v2).sgn()"),
    "a fill of a copy of what repeats": ([F32, 6], "v2 = v0.as_strided((2, 2, 2), (1, 1, 3)).index_fill(-1, torch.tensor([0]), 2.0)", "v1 = v2.reshape(2, 4, 1)", "v2[0] = 5.0"),
    "products of batches of nothing": ([F32, "s0", "s0", 0, "s1"], "v1 = v0.mT @ v0", "v2 = v0 @ v0[0, 0].mT"),
    "losses of complex numbers": ([C64, 3, 4], "v1 = torch.nn.functional.triplet_margin_loss(v0, v0 + 1, v0 * 2)"),
    "products from an infinity": ([F32, 3], "v1 = torch.cumprod(torch.complex(v0, v0 / 0), 0)"),
    "twice a size that is a sum of products": ([F32, 1, "s0", "s1"], "v2 = torch.cumulative_trapezoid(v0).reshape(1, 1, -1)", "v1 = torch.nn.functional.interpolate(v2, scale_factor=2)"),
    "lengths of what is broadcast to symbolic sizes": ([F32, "s0", "s1"], "v1 = torch.cosine_similarity(v0.sum(1, keepdim=True), v0[2], dim=1)"),
    "statistics of halves": ([torch.float16, 3, 4], "v1 = v0[0] / 7", "v2 = v0[1].abs() / 3", "v3 = torch.nn.functional.batch_norm(v0 / 3, v1, v2, training=True, momentum=-1.2)"),
    "elements that more rows leave none of": ([F32, "s0", 3], "v1 = torch.tanh(torch.tensor_split(v0[4:], 2)[1])", "v2 = torch.cumulative_trapezoid(v1)", "v1[2:1:1, -1:100] += 2.5"),
    "a computed size that a range fixes": ([F32, 1, "s0"], "v2 = torch.nn.functional.conv1d(v0.reshape(1, 1, -1), torch.arange(1., 3., dtype=v0.dtype).reshape(1, 1, 2), stride=6, dilation=2)", "v1 = torch.nn.functional.mse_loss(v0, v2)"),
    "reflectors of a tall matrix of symbolic sizes": ([F32, "s0", "s1"], "v1 = torch.linalg.householder_product(v0.mT, v0[:, 0])"),
    "powers and conditions of symbolic sizes": ([F32, "s0", "s1"], "v1 = torch.linalg.vander(v0)", "v2 = torch.linalg.cond(v0)", "v3 = v0.mT @ v0 + 30 * torch.eye(v0.shape[1])", "v4 = torch.linalg.tensorinv(v3, ind=1)", "v5 = torch.linalg.tensorsolve(v3, v0[0])"),
    "a computed size that a guard fixes": ([F32, "s0"], "v2 = torch.nn.functional.lp_pool1d(torch.selu(v0).reshape(1, 1, -1), 2, 5)", "v1 = torch.logsumexp(v2, -2)"),
    "sums that count from zero": ([F32, 3], "v1 = 1 / (-(v0 * 0).abs()).cumsum(0)"),
    "nothing in another shape": ([I32, 2, 0], "v1 = v0 + 1", "v2 = v1.reshape(0, 1, 0)", "v2.lt_(3)"),
    "a transposed number that was traced as a matrix": ([B8, 2, 4], "v1 = torch.nansum(v0, dim=[])", "v1.t_()"),
    "no repetitions": ([F32, 3, 2], "v1 = v0.repeat_interleave(0, 0)"),
    "unpooling of symbolic sizes": ([F32, 2, 3, "s0", 4], "v2, v3 = torch.nn.functional.max_pool2d(v0, 2, return_indices=True)", "v1 = torch.nn.functional.max_unpool2d(v2, v3, 2)"),
    "overlapping frames of symbolic sizes": ([F32, "s0", "s1"], "v1 = torch.istft(torch.stft(v0.flatten().repeat(4), 4, 2, window=torch.ones(4), return_complex=True), 4, 2, window=torch.ones(4))"),
    "overlapping frames of a given length": ([F32, 3, "s0"], "v1 = torch.istft(torch.stft(v0, 4, 2, window=torch.ones(4), return_complex=True), 4, 2, window=torch.ones(4), length=12)"),
    "a grid of a computed size": ([F32, "s0", 2, 3], "v1 = torch.nn.functional.affine_grid(v0, (v0.shape[0], 2, v0.shape[0] + 1, 3), align_corners=True)", "v2 = torch.nn.functional.affine_grid(v0, (v0.shape[0], 2, v0.shape[0], 3), align_corners=False)"),
    "ranks of symbolic sizes": ([F32, "s0", 4], "v1 = torch.linalg.matrix_rank(v0)", "v2 = torch.linalg.matrix_rank(v0[:, :1] * v0[0])"),
    "what is equal along a dimension": ([F32, 3, 1, 2], "v1 = torch.unique_consecutive(v0.round(), dim=0)", "v2 = torch.unique_consecutive(v0 * 0, dim=-3)"),
    "bags counted by int32": ([I32, 5], "v2 = torch.tensor([0, 2], dtype=torch.int32)", "v1 = torch.nn.functional.embedding_bag(v0.abs() % 3, torch.arange(6.0).reshape(3, 2), v2, mode='mean')", "v3 = torch.nn.functional.embedding_bag(v0.abs() % 3, torch.arange(6.0).reshape(3, 2), v2, mode='max')"),
    "sums of twice a boolean": ([B8, 3], "v1 = torch.index_add(v0, 0, torch.tensor([0, 1]), ~v0[:2], alpha=2)"),
    "memory from where a piece begins": ([I32, "s0", 4, "s0"], "v2 = v0 + 1", "v1 = v2.chunk(3)[2].as_strided((2, 2), (2, 1))", "v1.mul_(3)"),
}  # fmt: skip
NOT_NATIVE = {"scans of complex numbers"}
NOT_CORE = {
    "sums of twice a boolean",
    "memory from where a piece begins",
    "memory of what was written",
    "a fill of a part of what repeats",
    "a write to one of windows",
    "a write to strides that repeat",
    "a fill of a copy of what repeats",
}
"""Those that PyTorch's own functionalization and decompositions, which make programs core, change."""


def found(name: str) -> Program:
    (dtype, *sizes), *steps = FOUND[name]
    symbols = ({"s0": 3, "s1": 6},) if "s1" in sizes else ({"s0": 7}, {"s0": 8}, {"s0": 5})
    made = tuple(map(Step, steps))
    outputs = tuple(dict.fromkeys(n for step in made for n in step.makes))
    return Program(
        0, (Input("v0", tuple(sizes), dtype, "plain", 0),), made, outputs, symbols if "s0" in sizes else ({},)
    )


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        (name, stage)
        for name in FOUND
        for stage in ("training", "core")
        if stage == "training" or name not in NOT_CORE
    ],
)
def test_found_programs_are_right(name: str, stage: str) -> None:
    assert [o.status + o.detail for o in attempt(found(name), ["interpreter"], stage)] == ["ok"]


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("name", [name for name in FOUND if name not in NOT_NATIVE])
def test_found_programs_are_right_natively(name: str) -> None:
    assert [o.status + o.detail for o in attempt(found(name), ["native"], "training")] == ["ok"]


# --- random ones ---------------------------------------------------------------------------------------------


def run(count: int, engine: str, stage: str) -> Counter[str]:
    """How the first programs went; what went wrong fails."""
    outcomes = [o for seed in range(count) for o in attempt(program_of(seed), [engine], stage)]
    assert [o for o in outcomes if o.status in ("wrong", "error")] == []
    return Counter(o.status for o in outcomes)


@pytest.mark.parametrize("stage", ["training", "core"])
def test_random_programs_in_the_interpreter(stage: str, figures: Callable[[str], None]) -> None:
    counts = run(30, "interpreter", stage)
    figures(f"{stage}: {dict(counts)}")
    assert counts["ok"] >= 20


@pytest.mark.usefixtures("native_tools")
def test_random_programs_natively(figures: Callable[[str], None]) -> None:
    counts = run(12, "native", "training")
    figures(str(dict(counts)))
    assert counts["ok"] >= 9


@pytest.mark.usefixtures("native_tools")
def test_programs_that_are_fused() -> None:
    """`python test/fused_programs.py` runs more of them. Of the second, some later sizes are none that it was traced for."""
    engines = ["interpreter", "native"]
    outcomes = [o for seed in range(3) for o in attempt(fused.program_of(seed), engines, "training")]
    assert [o for o in outcomes if o.status not in ("ok", "refused")] == []
    assert Counter(o.status for o in outcomes)["ok"] >= 4


def test_guards_on_the_memory_of_an_example() -> None:
    """An example that is a view leaves guards on what it is a view of, which other inputs are not."""
    rows = Input("v0", (4, 2, 1), torch.float32, "plain", 0)
    steps = (Step("v0.swapaxes_(-1, -3)"), Step("v1 = v0 * 2"), Step("v0.swapaxes_(-1, -3)"))
    viewed = Program(0, (rows,), steps, ("v1",))
    exported = export(viewed, "training")
    assert any("_base" in guard for guard in exported._guards_code)
    [given] = viewed.values()
    [got] = xdsl_exir.compile(xdsl_exir.from_exported_program(exported))(given.numpy().copy())
    torch.testing.assert_close(torch.as_tensor(got), given.swapaxes(-1, -3) * 2)


def test_guards_on_the_strides_of_an_example() -> None:
    """An example with gaps leaves guards on its strides; other inputs may lie otherwise."""

    class Shuffle(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.pixel_shuffle(x, 2)

    sizes = (dict.fromkeys(range(4), torch.export.Dim.AUTO),)
    with_gaps = torch.zeros(384).reshape(2, 8, 3, 8)[..., ::2]
    exported = torch.export.export(Shuffle(), (with_gaps,), dynamic_shapes=sizes)
    exported = exported.run_decompositions()
    assert any("stride()" in guard for guard in exported._guards_code)
    given = torch.arange(240.0).reshape(3, 8, 2, 5)
    [got] = xdsl_exir.compile(xdsl_exir.from_exported_program(exported)).flat([given.numpy()])
    torch.testing.assert_close(torch.as_tensor(got), Shuffle()(given))


def test_an_input_that_changes_shape_is_refused() -> None:
    rows = Input("v0", (4, 2, 1), torch.float32, "plain", 0)
    steps = (Step("v0.swapaxes_(-1, -3)"), Step("v1 = v0 * 2"))
    exported = export(Program(0, (rows,), steps, ("v1",)), "training")
    with pytest.raises(UnsupportedError, match=r"aten\.swapaxes_: it changes the shape of input"):
        xdsl_exir.from_exported_program(exported)


def test_the_median_of_no_complex_numbers_is_refused() -> None:
    empty = Input("v0", (0, 3), C64, "plain", 0)
    [outcome] = attempt(
        Program(0, (empty,), (Step("v1 = v0.median()"),), ("v1",)), ["interpreter"], "training"
    )
    assert (outcome.status, outcome.detail.partition(" allowed")[0]) == (
        "refused",
        "aten.median: aten.median: 'self' is ComplexFloat;",
    )


@pytest.mark.parametrize(
    ("dtype", "step", "reason"),
    [
        (
            torch.bool,
            "v1 = v0[..., :0] @ v0[..., :0].mT",
            "aten.bmm: 'self' is Bool; allowed: Byte, Char, Short, Int, Long, Half, Float, Double",
        ),
    ],
)
def test_dtypes_that_a_rule_does_not_take_are_refused(dtype: torch.dtype, step: str, reason: str) -> None:
    given = Input("v0", (1, 1, 4, 4), dtype, "plain", 0)
    exported = export(Program(0, (given,), (Step(step),), ("v1",)), "training")
    with pytest.raises(UnsupportedError, match=re.escape(reason)):
        xdsl_exir.from_exported_program(exported)


def test_statistics_in_the_same_memory_are_refused() -> None:
    of_one = Input("v0", (2, 3), torch.float32, "plain", 0), Input("v1", (3,), torch.float32, "plain", 1)
    step = Step("v2 = torch.nn.functional.batch_norm(v0, v1, v1.view(3), training=True)")
    [outcome] = attempt(Program(0, of_one, (step,), ("v2",)), ["interpreter"], "training")
    assert (outcome.status, outcome.detail) == (
        "refused",
        "aten.batch_norm: a mean and a variance in the same memory",
    )
