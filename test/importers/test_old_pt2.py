"""`.pt2` files as earlier versions of PyTorch wrote them: the layouts of their archives, and their schemas, against PyTorch where it reads them."""

# pyright: basic, reportMissingImports=false, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import io
import json
import logging
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.errors import LoadError

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")

LATER: list[tuple[tuple[int, int], str, str]] = [
    ((8, 2), "", "kind"),
    ((8, 4), "graph", "sym_float_values"),
    ((8, 5), "node", "is_hop_single_tensor_return"),
    ((8, 9), "graph_module", "treespec_namedtuple_fields"),
    ((8, 9), "program", "guards_code"),
    ((8, 13), "node", "name"),
]
"""Fields that are younger than the oldest schema of version 8: in which version at the latest they are there, in what, and their names
(`torch/_export/serde/schema.py` and its history)."""
OWNERS = {
    "node": "metadata",
    "graph": "tensor_values",
    "graph_module": "module_call_graph",
    "program": "opset_version",
}
"""A field by which what they are in is told."""


class Net(nn.Module):
    calls: Any

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 3)
        self.tied = self.inner
        self.register_buffer("shift", torch.arange(3.0).to(torch.bfloat16))
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))
        self.constant = torch.tensor([1, 2, 3], dtype=torch.int16)

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return self.tied(self.inner(x)[:, :1].expand(-1, 4)) + self.shift + self.constant.float() * self.calls


def as_of(value: Any, version: tuple[int, int]) -> Any:
    """JSON of today as this version had it."""
    if isinstance(value, list):
        return [as_of(item, version) for item in value]
    if not isinstance(value, dict):
        return value
    gone = {name for since, owner, name in LATER if version < since and (not owner or OWNERS[owner] in value)}
    made = {key: as_of(item, version) for key, item in value.items() if key not in gone}
    if "schema_version" in made:
        made["schema_version"] = dict(zip(("major", "minor"), version, strict=True))
    if made.keys() == {"as_none"} and version < (8, 4):
        made["as_none"] = []
    if made.keys() == {"min_val", "max_val"} and version < (8, 0):
        made["max_val"] = "Infinity" if made["max_val"] is None else made["max_val"]
    return made


def pickled(tensors: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    torch.save(tensors, file)
    return file.getvalue()


@pytest.fixture(scope="module")
def exported() -> Any:
    return torch.export.export(
        Net(), (torch.randn(5, 4),), dynamic_shapes={"x": {0: torch.export.Dim("n", min=3)}}
    )


@pytest.fixture(scope="module")
def today(exported: Any) -> dict[str, bytes]:
    """The entries of the archive that is written today."""
    file = io.BytesIO()
    torch.export.save(exported, file)
    with zipfile.ZipFile(file) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def flat(exported: Any, program: dict[str, Any]) -> dict[str, bytes]:
    """As PyTorch 2.5 to 2.7 wrote it."""
    return {
        "version": ".".join(map(str, program["schema_version"].values())).encode(),
        "serialized_exported_program.json": json.dumps(program).encode(),
        "serialized_state_dict.pt": pickled(exported.state_dict),
        "serialized_constants.pt": pickled(exported.constants),
        "serialized_example_inputs.pt": pickled(exported.example_inputs),
    }


def as_28(exported: Any, today: dict[str, bytes], program: dict[str, Any]) -> dict[str, bytes]:
    """As PyTorch 2.8 wrote it."""
    kept = {f"root/{name}": data for name, data in today.items() if not name.startswith("data/")}
    return kept | {
        "root/models/model.json": json.dumps(program).encode(),
        "root/data/weights/model.pt": pickled(exported.state_dict),
        "root/data/constants/model.pt": pickled(exported.constants),
    }


def written(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def check(path: Path) -> None:
    run, eager = xdsl_exir.compile(xdsl_exir.load(path)), Net()
    eager.load_state_dict({name: torch.as_tensor(value) for name, value in STATE.items()})
    for count in (3, 7):
        x = torch.randn(count, 4)
        np.testing.assert_allclose(run(x.numpy()), eager(x).detach().numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(xdsl_exir.ExirError, match=r"1 is less than 3"):
        run(np.zeros((1, 4), np.float32))


STATE: dict[str, Any] = {}


@pytest.fixture(autouse=True)
def state(exported: Any) -> None:
    STATE.update({name: value.detach().clone() for name, value in exported.state_dict.items()})


@pytest.mark.parametrize("version", [(7, 3), (8, 1), (8, 3), (8, 7)], ids=str)
def test_flat(exported: Any, today: dict[str, bytes], version: tuple[int, int], tmp_path: Path) -> None:
    program = as_of(json.loads(today["models/model.json"]), version)
    path = written(tmp_path / "old.pt2", flat(exported, program))
    check(path)
    if version[0] == 8:  # PyTorch reads it too
        logging.disable(logging.CRITICAL)
        try:
            x = torch.randn(3, 4)
            peer = torch.export.load(path).module()(x)
        finally:
            logging.disable(logging.NOTSET)
        np.testing.assert_array_equal(
            xdsl_exir.compile(xdsl_exir.load(path))(x.numpy()).round(4), peer.detach().numpy().round(4)
        )


@pytest.mark.parametrize("version", [(8, 8), (8, 11)], ids=str)
def test_pickled_weights(
    exported: Any, today: dict[str, bytes], version: tuple[int, int], tmp_path: Path
) -> None:
    program = as_of(json.loads(today["models/model.json"]), version)
    check(written(tmp_path / "old.pt2", as_28(exported, today, program)))


def test_later_minor_versions_warn(exported: Any, today: dict[str, bytes], tmp_path: Path) -> None:
    program = as_of(json.loads(today["models/model.json"]), (8, 99))
    path = written(tmp_path / "new.pt2", flat(exported, program))
    with pytest.warns(UserWarning, match=r"schema 8\.99 is later than 8\.\d+"):
        xdsl_exir.load(path)


class Calls:
    """What a pickle could do."""

    def __reduce__(self) -> Any:
        return print, ("never printed",)


REFUSED: dict[str, tuple[Callable[[dict[str, bytes]], dict[str, bytes]], str]] = {
    "before 2.5": (
        lambda entries: (
            entries | {"serialized_exported_program.json": b'{"schema_version": {"major": 5, "minor": 3}}'}
        ),
        "schema 5.3 is not supported; 7.x and 8.x are, which PyTorch 2.5 and later write",
    ),
    "a major version to come": (
        lambda entries: (
            entries | {"serialized_exported_program.json": b'{"schema_version": {"major": 9, "minor": 1}}'}
        ),
        "schema 9.1 is not supported",
    ),
    "no weights": (
        lambda entries: {name: data for name, data in entries.items() if "state" not in name},
        "serialized_state_dict.pt: the archive has no such entry",
    ),
    "code in a pickle": (
        lambda entries: entries | {"serialized_constants.pt": pickled({"x": Calls()})},
        "refused: the pickle has a call of",
    ),
    "no tensors": (
        lambda entries: entries | {"serialized_state_dict.pt": pickled({"x": 1})},
        "serialized_state_dict.pt: data.pkl: 'x' is no tensor, but a int",
    ),
    "cut off": (
        lambda entries: entries | {"serialized_state_dict.pt": entries["serialized_state_dict.pt"][:-100]},
        "serialized_state_dict.pt: not a zip archive that can be read",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(
    exported: Any, today: dict[str, bytes], case: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    change, message = REFUSED[case]
    entries = flat(exported, as_of(json.loads(today["models/model.json"]), (8, 1)))
    path = written(tmp_path / "old.pt2", change(entries))
    with pytest.raises(LoadError) as caught:
        xdsl_exir.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert capfd.readouterr().out == ""
