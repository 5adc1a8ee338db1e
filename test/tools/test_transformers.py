"""Operators of Hugging Face's transformers, and its exporters with our backend where they are installed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import xdsl_exir

torch = pytest.importorskip("torch")


TEXT = """graph():
    %x : [num_users=1] = placeholder[target=x]
    %w : [num_users=1] = placeholder[target=w]
    %offs : [num_users=1] = placeholder[target=offs]
    %y : [num_users=1] = call_function[target=torch.ops.transformers.grouped_mm_fallback.default](args = (%x, %w, %offs), kwargs = {})
    return (y,)
"""


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
@pytest.mark.parametrize("ends", [[2, 2, 5, 6], [0, 0, 0, 0], [0, 1, 1, 3], [6, 6, 6, 6]])
@pytest.mark.parametrize("rows", [6, 3])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_grouped_mm(rows: int, ends: list[int], dtype: str, target: str) -> None:
    """Experts without rows, rows without an expert, few rows and many; infinities of other experts do not matter."""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((rows, 5)).astype(dtype), rng.standard_normal((4, 5, 7)).astype(dtype)
    offs = np.minimum(ends, rows).astype(np.int32)
    wanted, start = np.zeros((rows, 7), dtype), 0
    for expert, end in enumerate(offs):
        wanted[start:end] = x[start:end].astype(np.float32) @ w[expert].astype(np.float32)
        if start == end:
            w[expert] = np.inf
        start = end
    types = {"x": f"{dtype}[{rows}, 5]", "w": f"{dtype}[4, 5, 7]", "offs": "int32[4]"}
    program = xdsl_exir.from_fx_text(TEXT, types)
    run = xdsl_exir.compile(program, target)
    (got,) = run.flat([x, w, offs])
    torch.testing.assert_close(torch.as_tensor(got), torch.as_tensor(wanted))


def test_exporters(tmp_path: Path) -> None:
    """A model through transformers' own interface: exported, called, saved, loaded."""
    transformers = pytest.importorskip("transformers", minversion="5.23")
    exporters = pytest.importorskip("transformers.exporters")
    xdsl_exir.register_with_transformers()
    config = transformers.BertConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, vocab_size=9
    )
    model = transformers.BertModel(config).eval()
    inputs = {"input_ids": torch.randint(0, 9, (2, 7))}
    exported = exporters.AutoHfExporter.from_config({"export_format": "xdsl-exir"}).export(model, inputs, {})
    exported.save_pretrained(tmp_path)
    with torch.no_grad():
        wanted = model(**inputs)
    for each in (exported, exporters.ExportedModel.from_pretrained(tmp_path)):
        got = each.to(target="interpreter")(**inputs)
        assert type(got) is type(wanted)
        torch.testing.assert_close(got.last_hidden_state, wanted.last_hidden_state)


def test_without_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.setitem(sys.modules, "transformers.exporters", None)
    with pytest.raises(xdsl_exir.ExirError, match=r"transformers 5\.23 or later"):
        xdsl_exir.register_with_transformers()
