"""torchao's quantization: its operators block by block, and its models where it is installed.

pip install --no-deps torchao==0.18.0
"""

# pyright: basic

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import xdsl_exir

torch = pytest.importorskip("torch")

from differential import compare  # noqa: E402

ROWS = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
BLOCKS = {"one number": (4, 6), "rows": (1, 6), "columns": (4, 1), "groups": (1, 3), "tiles": (2, 3), "elements": (1, 1)}  # fmt: skip
"""Of elements torchao itself chooses no scales: `amin` over no dimensions is over all."""


def blocks(shape: Sequence[int], block: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    starts = [range(0, size, step) for size, step in zip(shape, block, strict=True)]
    for start in itertools.product(*starts):
        yield tuple(slice(at, at + step) for at, step in zip(start, block, strict=True))


def call(arguments: str, *inputs: np.ndarray, results: int = 1) -> list[Any]:
    """An operator in FX text, of inputs named a, b and c."""
    names = "abc"[: len(inputs)]
    lines = [f"    %{name} : [num_users=1] = placeholder[target={name}]" for name in names]
    operator, _, given = arguments.partition("(")
    lines.append(
        f"    %y : [num_users=1] = call_function[target=torch.ops.torchao.{operator}.default](args = ({given}, kwargs = {{}})"
    )
    if results > 1:
        lines += [
            f"    %y_{i} : [num_users=1] = call_function[target=operator.getitem](args = (%y, {i}), kwargs = {{}})"
            for i in range(results)
        ]
    returned = ", ".join(f"%y_{i}" for i in range(results)) if results > 1 else "%y"
    text = "graph():\n" + "\n".join(lines) + f"\n    return ({returned},)\n"
    types = {name: f"{x.dtype}[{', '.join(map(str, x.shape))}]" for name, x in zip(names, inputs, strict=True)}  # fmt: skip
    return xdsl_exir.compile(xdsl_exir.from_fx_text(text, types)).flat(list(inputs))


def counts(block: Sequence[int]) -> list[int]:
    return [size // step for size, step in zip(ROWS.shape, block, strict=True)]


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_numbers_in_blocks(block: tuple[int, int]) -> None:
    """There and back, each block as if it were alone."""
    rng = np.random.default_rng(1)
    scale = (rng.random(counts(block)) * 0.3 + 0.1).astype(np.float32)
    point = rng.integers(-3, 3, counts(block)).astype(np.int32)
    quantized, numbers = np.empty(ROWS.shape, np.int8), np.empty(ROWS.shape, np.float32)
    for place, s, z in zip(blocks(ROWS.shape, block), scale.flat, point.flat, strict=True):
        quantized[place] = np.clip(np.round(ROWS[place] * (1 / s)) + z, -8, 7)
        numbers[place] = (quantized[place] - z.astype(np.float32)) * s
    [made] = call(f"quantize_affine(%a, {list(block)}, %b, %c, torch.int8, -8, 7)", ROWS, scale, point)
    np.testing.assert_array_equal(made, quantized)
    arguments = f"(%a, {list(block)}, %b, %c, torch.int8, -8, 7)"
    [back] = call(f"dequantize_affine{arguments}", quantized, scale, point)
    np.testing.assert_array_equal(back, numbers)


def parameters(x: np.ndarray, mapping: str) -> tuple[np.float32, float]:
    """The scale and the zero point of one block, between -8 and 7."""
    low, high = np.float32(min(x.min(), 0)), np.float32(max(x.max(), 0))
    if mapping == "SYMMETRIC":
        return max(-low, high) / np.float32(7.5), 0
    if mapping == "SYMMETRIC_NO_CLIPPING_ERR":
        return max(low / np.float32(-8), high / np.float32(7)), 0
    scale = (high - low) / np.float32(15)
    return scale, float(np.clip(-8 - np.round(low / scale), -8, 7))


@pytest.mark.parametrize("mapping", ["SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR", "ASYMMETRIC"])
@pytest.mark.parametrize("block", list(BLOCKS.values())[:-1], ids=list(BLOCKS)[:-1])
def test_scales_of_blocks(block: tuple[int, int], mapping: str) -> None:
    found = [parameters(ROWS[place], mapping) for place in blocks(ROWS.shape, block)]
    arguments = f"(%a, {mapping}, {list(block)}, torch.int8, -8, 7, None, torch.float32, torch.int8, True)"
    scale, point = call(f"choose_qparams_affine{arguments}", ROWS, results=2)
    assert point.dtype == np.int8
    np.testing.assert_array_equal(scale, np.array([s for s, _ in found], np.float32).reshape(counts(block)))
    np.testing.assert_array_equal(point, np.array([z for _, z in found]).reshape(counts(block)))


def test_float8() -> None:
    largest = np.abs(ROWS).max(1, keepdims=True)
    [scale] = call("choose_scale_float8(%a, [1, 6])", ROWS)
    np.testing.assert_array_equal(scale, largest / np.float32(448))
    [made] = call("quantize_affine_float8(%a, %b)", ROWS, scale)
    wanted = torch.from_numpy(ROWS / scale).to(torch.float8_e4m3fn)
    np.testing.assert_array_equal(made.astype(np.float32), wanted.float().numpy())


def test_what_is_not_known_is_told() -> None:
    scale = np.ones((4, 2), np.float32)
    with pytest.raises(xdsl_exir.ExirError, match="scales of blocks within a dimension"):
        call("quantize_affine_float8(%a, %b)", ROWS, scale)
    with pytest.raises(xdsl_exir.ExirError, match="of mapping 'OTHER'"):
        call("choose_qparams_affine(%a, OTHER, [1, 6], torch.int8)", ROWS, results=2)


class Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = torch.nn.Linear(64, 96), torch.nn.Linear(96, 64)

    def forward(self, x: Any) -> Any:
        return self.b(torch.relu(self.a(x)))


def test_tensors_made_of_others() -> None:
    """PyTorch's own example of them: of two tensors, operators do the same to both."""
    TwoTensor = pytest.importorskip("torch.testing._internal.two_tensor").TwoTensor

    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(TwoTensor(torch.randn(3), torch.randn(3)))

        def forward(self, x: Any) -> Any:
            return x * (self.w.a + 2 * self.w.b)

    model, x = Twice(), torch.randn(3)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(torch.export.export(model, (x,))))
    compare("two tensors", run.flat([x.numpy()])[0], model(x).detach())


@pytest.mark.parametrize("batch", ["known", "symbolic"])
@pytest.mark.parametrize("name", ["int8 weights", "int8", "int8 by int4"])
def test_models(name: str, batch: str, native_tools: None) -> None:
    ao: Any = pytest.importorskip("torchao.quantization")
    configs = {
        "int8 weights": ao.Int8WeightOnlyConfig,
        "int8": ao.Int8DynamicActivationInt8WeightConfig,
        "int8 by int4": lambda: ao.Int8DynamicActivationIntxWeightConfig(
            weight_dtype=torch.int4, weight_granularity=ao.PerGroup(32)
        ),
    }
    model = Layers().eval()
    ao.quantize_(model, configs[name]())
    shapes = {"x": {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}} if batch == "symbolic" else None
    exported = torch.export.export(model, (torch.randn(3, 5, 64),), dynamic_shapes=shapes)
    for target in ("interpreter", "native"):
        run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target)
        x = torch.randn(2, 7, 64) if shapes else torch.randn(3, 5, 64)
        compare(name, run.flat([x.numpy()])[0], model(x).detach())
