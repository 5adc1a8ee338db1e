"""Fake quantization against PyTorch: by numbers and tensors, per channel, all floats, what is not finite and out of bounds."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch.ao.quantization.fx._decomposed")  # registers operators

from differential import check, program_of  # noqa: E402

from xdsl_exir.dialects.meta import MetaError  # noqa: E402

X = torch.tensor([[0.25, 0.75, -0.25, 1.25], [1e6, -1e6, 33.3, float("nan")], [-3.05, 7.95, 0.0, -0.0]])
SCALE, POINT = torch.tensor([0.1, 0.3, 1.7, 0.5]), torch.tensor([0, 3, -2, 7], dtype=torch.int32)
OF_TENSORS = "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"
CALLS: list[tuple[str, Any]] = [
    call
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16)
    for x in (X.nan_to_num().clamp(-1000, 1000).to(dtype), *([X] if dtype is torch.float32 else []))
    for call in (
        *(
            (f"fake_quantize_per_tensor_affine{form}", (x, scale, point, *bounds))
            for form in ("", "_cachemask")
            for scale, point, bounds in ((0.1, 0, (0, 255)), (0.3, -3, (-8, 7)))
        ),
        ("fake_quantize_per_tensor_affine.tensor_qparams", (x, SCALE[:1], POINT[:1], 0, 255)),
        ("fake_quantize_per_tensor_affine.tensor_qparams", (x, SCALE[1], POINT[1], -128, 127)),
        *((OF_TENSORS, (x, SCALE[:1], POINT[:1], torch.tensor([on]), 0, 255)) for on in (0, 1)),
        *(
            (f"fake_quantize_per_channel_affine{form}", (x, SCALE, POINT, 1, -128, 127))
            for form in ("", "_cachemask")
        ),
    )
]


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=[name for name, _ in CALLS])
def test_fake_quantization(name: str, arguments: tuple[Any, ...]):
    check(f"aten.{name}", *arguments)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_choosing_scales(dtype: Any):
    for x in (X[0], X[2] + 4, -X[0].abs(), torch.zeros(3), X.nan_to_num().clamp(-99, 99)):
        check("quantized_decomposed.choose_qparams.tensor", x.to(dtype), -128, 127, 1e-5, torch.int8)
        check("quantized_decomposed.choose_qparams.tensor", x.to(dtype), 0, 255, 1e-5, torch.uint8)


def test_refusals():
    for arguments in (
        (X, SCALE[:3], POINT, 1, 0, 255),
        (X, SCALE, POINT, 0, 0, 255),
        (X, SCALE, POINT, -1, 0, 255),
    ):
        with pytest.raises(MetaError):
            program_of("aten.fake_quantize_per_channel_affine", *arguments)
    with pytest.raises(MetaError, match="not between the bounds"):
        program_of("aten.fake_quantize_per_tensor_affine", X, 0.1, 300, 0, 255)
