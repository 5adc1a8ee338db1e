"""What TorchScript programs hold (`script_features.py`): run as they are, and as ordinary programs, they give what PyTorch gives."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from script_features import FEATURES  # noqa: E402
from scripted import assert_same, quiet, renamed, save, script, to_numpy  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.errors import UnsupportedError  # noqa: E402

REFUSED = {
    "Packed": "_pack_padded_sequence: of elements that are not known",
    "BeamSearch": "__getitem__.t: of a number that depends on data",
    "Gener": "manual_seed: an exported program draws from the stream",
    "Stateful2": "attribute 'hist' becomes",
}
"""What no exported program has a form for, and what is said of it."""


def check_pytorch_reads(ours: str, theirs: str) -> None:
    """What PyTorch reads of its own printing it reads of ours, as the same graph."""
    try:
        expected = str(torch._C.parse_ir(theirs))
    except RuntimeError:
        return  # `parse_ir` knows no modules, and no constants but numbers and text
    assert renamed(str(torch._C.parse_ir(ours))) == renamed(expected)


@pytest.mark.parametrize("name", FEATURES)
def test_feature(name: str, tmp_path: Path) -> None:
    cls, inputs = FEATURES[name]
    torch.manual_seed(0)
    module = script(cls().eval())
    path = save(module, tmp_path / "model.pt")

    def given() -> list[Any]:
        return deepcopy(to_numpy(list(inputs)))

    with quiet():
        theirs = torch.jit.load(str(path))
        expected = [deepcopy(to_numpy(theirs(*deepcopy(inputs)))) for _ in range(2)]
    program = xdsl_exir.load(path)
    for wanted in expected:
        assert_same(program(*given()), wanted)
    for graph in (module.graph, module.inlined_graph):
        again = xdsl_exir.from_torchscript_text(str(graph)).torchscript_text()
        assert renamed(again) == renamed(str(graph))
        check_pytorch_reads(again, str(graph))
    program = xdsl_exir.load(path)
    if name in REFUSED:
        with pytest.raises(UnsupportedError, match=REFUSED[name]):
            program.to_aten(given())
        return
    run = xdsl_exir.compile(program.to_aten(given()))
    for wanted in expected:
        assert_same(run(*given()), wanted)
