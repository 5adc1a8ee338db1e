"""Operators that stand for others: what the programs compute that call them is what PyTorch does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("torch.ao.quantization.fx._decomposed")  # which registers quantized_decomposed

from differential import compare, to_numpy  # noqa: E402
from modules import Function  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.importers.synonyms import SYNONYMS  # noqa: E402

aten, prims, quantized = torch.ops.aten, torch.ops.prims, torch.ops.quantized_decomposed
torch.manual_seed(0)
X = torch.randn(3, 4)
CUBE = torch.randn(2, 3, 4)
INTEGERS = torch.randint(-9, 9, (3, 4), dtype=torch.int32)
ONES = torch.ones(3, 4, dtype=torch.int32)
BYTES = torch.randint(-99, 99, (16, 16), dtype=torch.int8)
MANY = torch.full((20, 1300), -128, dtype=torch.int8)
MATRIX = torch.randn(16, 16)
IMAGE, FILTERS = torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3)
CREATED = {"dtype": torch.float32, "device": "cpu", "requires_grad": False}
TOKENS = torch.randn(2, 3, 8)
SCALES, POINTS = torch.rand(2, 3, 1) + 0.1, torch.randint(-9, 9, (2, 3, 1))
GROUPS = torch.rand(16, 2) + 0.1, torch.randint(-9, 9, (16, 2), dtype=torch.int32)


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "convolution": (
        lambda x, w: aten._convolution(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, False, False, True, True),
        (IMAGE, FILTERS),
    ),
    "int_mm": (aten._int_mm, (BYTES, BYTES)),
    "int_mm of many": (aten._int_mm, (MANY, MANY.t().contiguous())),
    "scaled_mm": (
        lambda x, y, a, b: aten._scaled_mm(
            x.to(torch.float8_e4m3fn), y.to(torch.float8_e4m3fn).t(), a, b, out_dtype=torch.float32
        ),
        (MATRIX, MATRIX, torch.tensor(0.5), torch.tensor(3.0)),
    ),
    "index_put_impl": (lambda x, i: aten._index_put_impl(x, [i], x, True, True), (X, torch.tensor([1, 1, 0]))),
    "index_put_impl_": (
        lambda x, i: aten._index_put_impl_(x.clone(), [i], x, True).sum(0),
        (X, torch.tensor([1, 1, 0])),
    ),
    "reshape_alias": (lambda x: aten._reshape_alias(x, [4, 3], [3, 1]) + 1, (X,)),
    "cast_long": (lambda x: aten._cast_Long(x * 3), (X,)),
    "weight_norm_interface": (lambda v, g: aten._weight_norm_interface(v, g, 0), (X, X[:, 0:1].contiguous())),
    "size": (lambda x: x + aten.size.int(x, 1), (X,)),
    "same storage": (lambda x: x * 2 if aten._has_same_storage_numel(x, x) else x, (X,)),
    "is_all_true": (lambda x: (aten._is_all_true(x > 0), aten._is_any_true(x > 0)), (X,)),
    "collapse": (lambda x: (prims.collapse(x, 1, 2), prims.collapse_view(x, 0, 1) + 1), (CUBE,)),
    "split_dim": (lambda x: prims.split_dim(x, 2, 2) * 2, (CUBE,)),
    "squeeze": (lambda x: prims.squeeze(x[None, :, None], [0, 2]) * 2, (X,)),
    "broadcast_in_dim": (lambda x: prims.broadcast_in_dim(x, [3, 2, 4, 5], [0, 2]) * 2, (X,)),
    "transpose": (lambda x: prims.rev(prims.transpose(x, [1, 0]), [0]), (X,)),
    "write to a view": (lambda x: prims.copy_to(prims.transpose(y := x.clone(), [1, 0])[1], x[:, 0] * 2) + y[:, 1], (X,)),
    "copies are no views": (lambda x: (y := x.clone(), prims.reshape(y, [4, 3]).mul_(2), y)[1:], (X,)),
    "iota": (lambda x: x + prims.iota(4, start=3, step=-2, dtype=torch.int64, device="cpu", requires_grad=False), (X,)),
    "sum": (lambda x: prims.sum(x, [0, 1]), (X,)),
    "prod": (lambda x: (prims.prod(x, [0, 2]), prims.prod(x, [])), (CUBE,)),
    "amax": (lambda x: (prims.amax(x, [0]), prims.amin(x, [1])), (X,)),
    "var": (lambda x: prims.var(x, [0], 1.0), (X,)),
    "full": (lambda x: prims.full([3, 4], 2.5, **CREATED) + prims.full_like(x, 2, **CREATED) * x, (X,)),
    "div": (prims.div, (INTEGERS, ONES * 4)),
    "div of floats": (prims.div, (X, X + 3)),
    "shift": (lambda x, y: (prims.shift_left(x, y), prims.shift_right_arithmetic(x, y)), (INTEGERS, ONES)),
    "where": (lambda x: prims.where(prims.lt(x, x * 2), prims.cbrt(x), prims.pow(prims.abs(x), x)), (X,)),
    "special": (lambda x: prims.bessel_i1e(x) + prims.erf_inv(prims.tanh(x)) + prims.ndtri(prims.erfc(x) / 2), (X,)),
    "fft": (lambda x: (prims.fft_r2c(x, dim=[1], onesided=True), prims.fft_c2c(x + 1j * x, dim=[0], forward=False)), (X,)),
    "frexp": (prims.frexp, (X,)),
    "tokens": (lambda x: [each.float() for each in quantized.choose_qparams_per_token(x, torch.int8)], (TOKENS,)),
    "tokens, asymmetric": (lambda x: quantized.choose_qparams_per_token_asymmetric(x, torch.int8), (TOKENS,)),
    "tangents": (
        lambda x: x + aten._efficientzerotensor([4]) + aten._new_zeros_with_same_feature_meta(x, x),
        (X,),
    ),
    "symmetric": (
        lambda x: [
            *quantized.choose_qparams_symmetric.tensor(x, -127, 127, 1e-5, torch.int8),
            *quantized.choose_qparams_symmetric.tensor(x, 0, 255, 1e-5, torch.uint8),
        ],
        (TOKENS,),
    ),
    "all in tensors": (
        lambda x, *given: quantized.quantize_per_tensor.tensor2(x, *given, torch.int8),
        (TOKENS, torch.tensor([0.1]), torch.tensor([3]), torch.tensor(-9), torch.tensor([12])),
    ),
    "from all in tensors": (
        lambda x, *given: quantized.dequantize_per_tensor.tensor2(x, *given, torch.int8, out_dtype=torch.float16),
        (BYTES, torch.tensor(0.1), torch.tensor(3), torch.tensor(-99), torch.tensor(99)),
    ),
    "fake, by channels": (
        lambda x, s, z: quantized.fake_quant_per_channel(x, s, z, 1, -8, 7),
        (TOKENS, torch.rand(3) + 0.1, torch.tensor([1, 2, 3])),
    ),
    "fake, learnt": (
        lambda x, s, z: (
            aten._fake_quantize_learnable_per_tensor_affine(x, s[:1], z[:1], -8, 7, 1.0),
            aten._fake_quantize_learnable_per_channel_affine(x, s, z, 1, -8, 7),
        ),
        (TOKENS, torch.rand(3) + 0.1, torch.tensor([1.4, -99, 3.5])),
    ),
    "int8pack": (aten._weight_int8pack_mm, (MATRIX, BYTES, torch.rand(16) / 99)),
    "int8pack of halves": (aten._weight_int8pack_mm, (MATRIX.bfloat16(), BYTES, (torch.rand(16) / 99).bfloat16())),
    "dyn_quant": (
        lambda x, w, s, b: [
            aten._dyn_quant_matmul_4bit(x, aten._dyn_quant_pack_4bit_weight(w, given, bias, size, 64, 16), size, 64, 16)
            for size, given, bias in ((32, s, b), (32, s, None), (64, s[:, :1], b))
        ],
        (torch.randn(3, 64), torch.randint(0, 256, (16, 32), dtype=torch.uint8), torch.rand(16, 2), torch.randn(16)),
    ),
    "by tokens": (
        lambda x, s, z: quantized.quantize_per_token(x, s, z, -128, 127, torch.int8),
        (TOKENS, SCALES, POINTS),
    ),
    "from tokens": (
        lambda x, s, z: quantized.dequantize_per_token(x, s, z, -128, 127, torch.int8, torch.float32),
        (torch.randint(-99, 99, (2, 3, 8), dtype=torch.int8), SCALES.double(), POINTS),
    ),
    "by groups": (
        lambda x, s, z: quantized.quantize_per_channel_group(x, s, z, -8, 7, torch.int8, 8),
        (torch.randn(16, 16), *GROUPS),
    ),
    "from groups": (
        lambda x, s, z: quantized.dequantize_per_channel_group(x, s, z, -8, 7, torch.int8, 8, torch.float32),
        (BYTES, *GROUPS),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, native_tools: None) -> None:
    function, args = CALLS[name]
    exported = torch.export.export(Function(function), args)
    wanted = torch.utils._pytree.tree_leaves(function(*args))
    program = xdsl_exir.from_exported_program(exported)
    targets = ("interpreter", "native") if name in ("write to a view", "from groups") else ("interpreter",)
    for target in targets:
        made = xdsl_exir.compile(program, target).flat([to_numpy(x) for x in args])
        for got, want in zip(made, wanted, strict=True):
            compare(name, got, want)


class Foreach(torch.nn.Module):
    """A step of an optimizer with operators for lists of tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("m", torch.zeros(3))
        self.register_buffer("n", torch.ones(2, 2))

    def forward(self, a: Any, b: Any) -> Any:
        gradients, state = [a, b], [self.m, self.n]
        torch._foreach_mul_(state, 0.9)
        torch._foreach_add_(state, gradients, alpha=0.1)
        torch._foreach_copy_([self.n], [torch._foreach_clamp_max(state, 0.5)[1]])
        others = torch._foreach_addcdiv(gradients, state, torch._foreach_exp(gradients), [2.0, 3.0])
        return (
            *torch._foreach_norm(gradients),
            *torch._foreach_pow(2.0, others),
            *torch._foreach_lerp(others, gradients, 0.3),
            *torch._foreach_maximum(others, gradients),
        )


def test_foreach(native_tools: None) -> None:
    given, eager = (torch.randn(3), torch.randn(2, 2)), Foreach()
    program = xdsl_exir.from_exported_program(torch.export.export(Foreach(), given))
    wanted = eager(*given)
    for target in ("interpreter", "native"):
        run = xdsl_exir.compile(program, target)
        for got, want in zip(run.flat([to_numpy(x) for x in given]), wanted, strict=True):
            compare(target, got, want)
        compare(target, run.array("m"), eager.m)
        compare(target, run.array("n"), eager.n)


class Observed(torch.nn.Module):
    def __init__(self, least: int, most: int, rows: bool, symmetric: bool) -> None:
        super().__init__()
        self.given = (0.5, least, most, 0, rows, symmetric)
        count = 3 if rows else 1
        self.register_buffer("low", torch.full((count,), torch.inf))
        self.register_buffer("high", torch.full((count,), -torch.inf))
        self.register_buffer("scale", torch.ones(count))
        self.register_buffer("point", torch.zeros(count, dtype=torch.int32))

    def forward(self, x: Any, observe: Any, quantize: Any) -> Any:
        bounds = self.low, self.high, self.scale, self.point
        return torch.fused_moving_avg_obs_fake_quant(x, observe, quantize, *bounds, *self.given)


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize(("least", "most", "symmetric"), [(0, 255, False), (-128, 127, True), (-8, 7, False)])
def test_observed(least: int, most: int, rows: bool, symmetric: bool) -> None:
    """What it quantizes and what it remembers, over calls: at first, of both signs and of one, small, observing or not."""
    eager, on, off = Observed(least, most, rows, symmetric), torch.tensor([1]), torch.tensor([0])
    program = xdsl_exir.from_exported_program(torch.export.export(eager, (CUBE.view(3, 8), on, on.clone())))
    run = xdsl_exir.compile(program, "interpreter")
    for x, *switches in (
        (CUBE, on, on), (CUBE * 2, on, on), (CUBE.abs() * 9, on, off), (CUBE, off, on), (CUBE.abs() + 1, on, on), (CUBE * 0, on, on)
    ):  # fmt: skip
        given = (x.reshape(3, 8), *switches)
        compare("quantized", run.flat([to_numpy(each) for each in given])[0], eager(*given))
        for name, buffer in eager.named_buffers():
            compare(name, run.array(name), buffer)


def test_observed_of_little() -> None:
    given = (torch.rand(3, 8) * 1e-4 - 2e-5, torch.tensor([1]), torch.tensor([1]))
    for symmetric in (False, True):
        eager = Observed(-128, 127, False, symmetric)
        program = xdsl_exir.from_exported_program(torch.export.export(eager, given))
        got = xdsl_exir.compile(program, "interpreter").flat([to_numpy(each) for each in given])
        compare("quantized", got[0], eager(*given))


def test_packed_for_a_processor() -> None:
    packed = torch.zeros(16, 32, dtype=torch.uint8)
    function = Function(lambda x, s: aten._weight_int4pack_mm_for_cpu(x, packed, 32, s))
    exported = torch.export.export(function, (torch.randn(4, 64), torch.rand(2, 16, 2)))
    with pytest.raises(xdsl_exir.UnsupportedError, match="the layout of the processor that packed them"):
        xdsl_exir.from_exported_program(exported)


def test_scaled_groups() -> None:
    """PyTorch has no kernel for processors that says what is right: experts in a loop."""
    ends, eight = torch.tensor([16, 32], dtype=torch.int32), torch.float8_e4m3fn
    x, w = torch.randn(32, 32).to(eight), torch.randn(2, 16, 32).to(eight)
    scale_x, scale_w = torch.rand(32), torch.rand(2, 16)
    graph = """graph():
    %x : [num_users=1] = placeholder[target=x]
    %w : [num_users=1] = placeholder[target=w]
    %a : [num_users=1] = placeholder[target=a]
    %b : [num_users=1] = placeholder[target=b]
    %offs : [num_users=1] = placeholder[target=offs]
    %y : [num_users=1] = call_function[target=torch.ops.aten._scaled_grouped_mm.default](args = (%x, %w, %a, %b, %offs), kwargs = {out_dtype: torch.float32})
    return (y,)
"""
    types = {"x": "float8_e4m3fn[32, 32]", "w": "float8_e4m3fn[2, 32, 16]", "a": "float32[32]", "b": "float32[2, 16]", "offs": "int32[2]"}  # fmt: skip
    run = xdsl_exir.compile(xdsl_exir.from_fx_text(graph, types), "interpreter")
    got = run.flat([x, w.mT.contiguous(), scale_x, scale_w, ends])
    scaled, matrices = x.float() * scale_x[:, None], (w.float() * scale_w[:, :, None]).mT
    compare("groups", got[0], torch.cat([scaled[:16] @ matrices[0], scaled[16:] @ matrices[1]]))


GENERATORS = {
    "rand": lambda: aten.rand.generator([3], generator=None),
    "randn": lambda: aten.randn.generator([3], generator=None),
    "randint": lambda: aten.randint.low_generator(2, 9, [3], generator=None),
    "randperm": lambda: aten.randperm.generator(5, generator=None),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_overloads_with_a_generator(name: str) -> None:
    program = xdsl_exir.from_exported_program(torch.export.export(Function(GENERATORS[name]), ()))
    run = xdsl_exir.compile(program)
    run.manual_seed(5)
    torch.manual_seed(5)
    compare(name, run.flat([])[0], GENERATORS[name]())


@contextmanager
def registered(schema: str, meta: Callable[..., Any]) -> Iterator[None]:
    """With an operator of quantized_decomposed that PyTorch alone lacks; ExecuTorch, where a test imported it, defines all and implements some."""
    name = schema.partition("(")[0]
    with torch.library._scoped_library("quantized_decomposed", "FRAGMENT") as library:
        if not hasattr(quantized, name):
            library.define(schema)
        if not torch._C._dispatch_has_kernel_for_dispatch_key(f"quantized_decomposed::{name}", "Meta"):
            library.impl(name, meta, "Meta")
        yield


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_embeddings_of_small_numbers(bits: int) -> None:
    """ExecuTorch's operators are read without it, of text: bytes with several numbers in them."""
    name, count = {8: "embedding_byte", 4: "embedding_4bit", 2: "embedding_2bit"}[bits], 8 // bits
    numbers = torch.randint(-(1 << bits - 1), 1 << bits - 1, (6, 8), dtype=torch.int8)
    shifts = {8: [0], 4: [4, 0], 2: [0, 2, 4, 6]}[bits]
    parts = (numbers.to(torch.int16) + (1 << bits - 1)).view(6, 8 // count, count)
    packed = (
        numbers
        if bits == 8
        else sum(parts[..., i] << shift for i, shift in enumerate(shifts)).to(torch.uint8)
    )
    scales, points, indices = torch.rand(6, 2) + 0.1, torch.randn(6, 2).round(), torch.tensor([5, 0, 2])
    arguments = (
        "Tensor weight, Tensor weight_scales, Tensor? weight_zero_points, int weight_quant_min, int weight_quant_max, "
        "Tensor indices"
    )
    with registered(f"{name}({arguments}) -> Tensor", lambda w, s, z, low, high, i: s.new_empty(len(i), 8)):
        low = -(1 << bits - 1)
        call = Function(lambda *args: getattr(quantized, name)(*args[:3], low, -low - 1, args[3]))
        program = xdsl_exir.from_exported_program(
            torch.export.export(call, (packed, scales, points, indices))
        )
    wide = [each.repeat_interleave(4, 1) for each in (scales, points)]
    wanted = ((numbers - wide[1]) * wide[0])[indices]
    [got] = xdsl_exir.compile(program).flat([to_numpy(x) for x in (packed, scales, points, indices)])
    compare(name, got, wanted)


@pytest.mark.parametrize("name", ["add", "add_relu"])
def test_quantized_sums(name: str) -> None:
    a, b = (torch.randint(0, 255, (3, 4), dtype=torch.uint8) for _ in range(2))
    numbers = ((0.1, 7, 0, 255), (0.2, 100, 0, 255), (0.3, 30, 0, 255))
    arguments = ", ".join(
        f"{tensor}float {of}_scale, int {of}_zero_point, int {of}_quant_min, int {of}_quant_max"
        for of, tensor in (("a", "Tensor a, "), ("b", "Tensor b, "), ("out", ""))
    )
    with registered(f"{name}({arguments}) -> Tensor qc", lambda a, *_: torch.empty_like(a)):
        call = Function(lambda a, b: getattr(quantized, name)(a, *numbers[0], b, *numbers[1], *numbers[2]))
        program = xdsl_exir.from_exported_program(torch.export.export(call, (a, b)))
    of = [(x.float() - of[1]) * of[0] for x, of in zip((a, b), numbers, strict=False)]
    total = of[0] + of[1]
    total = total.relu() if name.endswith("relu") else total
    [got] = xdsl_exir.compile(program).flat([a.numpy(), b.numpy()])
    compare(name, got, torch.clamp((total / 0.3).round() + 30, 0, 255).to(torch.uint8))


def test_names_are_no_operators_of_the_ir() -> None:
    from xdsl_exir.dialects import spec

    assert not set(SYNONYMS) & set(spec.specs())


def test_text_has_them_too() -> None:
    text = """
graph():
    %x : [num_users=1] = placeholder[target=x]
    %y : [num_users=1] = call_function[target=torch.ops.prims.transpose.default](args = (%x, [1, 0]), kwargs = {})
    return (y,)
"""
    program = xdsl_exir.from_fx_text(text, {"x": "float32[2, 3]"})
    [got] = xdsl_exir.compile(program).flat([X[:2, :3].numpy()])
    compare("transpose", got, X[:2, :3].T)


def test_calls_that_are_wrong_are_told() -> None:
    text = """
graph():
    %x : [num_users=1] = placeholder[target=x]
    %y : [num_users=1] = call_function[target=torch.ops.prims.transpose.default](args = (%x,), kwargs = {})
    return (y,)
"""
    with pytest.raises(xdsl_exir.ExirError, match=r"aten\.permute: argument 'dims' is missing"):
        xdsl_exir.from_fx_text(text, {"x": "float32[2, 3]"})
