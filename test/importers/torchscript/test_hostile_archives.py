"""Archives that are damaged, or made to do harm: one clear error each, and nothing in them is ever run."""

from __future__ import annotations

import pickle
import random
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scripted import MODULES, load, save, to_numpy  # noqa: E402

from xdsl_exir.errors import ExirError, LoadError  # noqa: E402
from xdsl_exir.importers.torchscript import machine, values  # noqa: E402
from xdsl_exir.importers.torchscript.literals import type_of_data  # noqa: E402
from xdsl_exir.importers.torchscript.pickles import decode  # noqa: E402


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


@pytest.fixture(scope="module", params=["scripted", "recurrent", "frozen"])
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    make, inputs = MODULES[request.param]
    path = save(make(), tmp_path_factory.mktemp("hostile") / "model.pt")
    return contents(path), [to_numpy(item) for item in inputs]


def try_all(path: Path, inputs: list[Any]) -> str:
    """Loads and runs: how far it gets. Nothing but `ExirError` may come of it, which says the file or a line of its code."""
    try:
        program = load(path)
        program.torchscript_text()
        program(*inputs)
        program.to_aten(inputs)
    except ExirError as error:
        said = str(error)
        return type(error).__name__ if re.search(rf"{path.name}|\.py:\d+", said) else f"no place: {said}"
    return "ran"


WORD = re.compile(r"[A-Za-z_][\w.]*|\d+")


def changed_word(text: str, rng: random.Random) -> str:
    """The text with a name or number replaced by another one."""
    words = list(WORD.finditer(text))
    word = rng.choice(words)
    new = rng.choice([rng.choice(words)[0], rng.choice(words)[0], str(1 << 40), "-3", "None", "3.5"])
    return text[: word.start()] + new + text[word.end() :]


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    at = rng.randrange(len(found))
    match rng.randrange(3):
        case 0:
            found[at] = rng.randrange(256)
        case 1:
            del found[at : at + rng.randint(1, 9)]
        case _:
            found[at:at] = rng.randbytes(rng.randint(1, 4))
    return bytes(found)


@pytest.mark.parametrize("kind", [".py", ".pkl"])
def test_changed_entries(archive, kind: str, tmp_path: Path) -> None:
    entries, inputs = archive
    names = [name for name in entries if name.endswith(kind)]
    outcomes = set()
    for seed in range(60):
        rng = random.Random(seed)
        name = rng.choice(names)
        if kind == ".py":
            data = changed_word(entries[name].decode(), rng).encode()
        else:
            data = changed_bytes(entries[name], rng)
        outcomes.add(try_all(write(tmp_path / "bad.pt", {**entries, name: data}), inputs))
    assert "LoadError" in outcomes
    assert not [outcome for outcome in outcomes if outcome.startswith("no place")]


def test_changed_archives(archive, tmp_path: Path) -> None:
    entries, inputs = archive
    whole = write(tmp_path / "model.pt", entries).read_bytes()
    for seed in range(60):
        path = tmp_path / "bad.pt"
        path.write_bytes(changed_bytes(whole, random.Random(seed)))
        try_all(path, inputs)
        path.write_bytes(whole[: random.Random(seed).randrange(len(whole))])
        assert try_all(path, inputs) != "ran"


# --- pickles -------------------------------------------------------------------------------------------------


class Runs:
    """What a pickle would run."""

    def __init__(self, function: Any, *arguments: Any):
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


MARK = Path("/tmp/xdsl-exir-pickle-was-run")
NO_STORAGE = b"\x80\x02"


def decoded(text: bytes) -> Any:
    def storage(key: str) -> Any:
        raise LoadError(f"no storage {key}")

    return decode(text, storage, "test")


@pytest.mark.parametrize(
    "text",
    [
        pickle.dumps(Runs(eval, f"open({str(MARK)!r}, 'w').close()"), 2),
        pickle.dumps(Runs(exec, f"open({str(MARK)!r}, 'w').close()"), 2),
        pickle.dumps(Runs(getattr, 1, "real"), 2),
        pickle.dumps(Runs(Path, "x"), 2),
        pickle.dumps(Runs(np.zeros, 1 << 40), 2),
        b"cos\nsystem\n(S'true'\ntR.",
        b"\x80\x02c__torch__\nX\n)\x81}(X\x01\x00\x00\x00acos\nsystem\nX\x04\x00\x00\x00true\x85Rsb.",
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x00)\x89)tR.",
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x01tQK\x00J\xff\xff\xff\xff\x85)\x89)tR.",
        b"\x80\x02i__builtin__\neval\n.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
        b"\x80\x02)\x82\x01.",
        b"\x80\x02h\x05.",
        b"\x80\x02" + b"(" * 100_000,
        b"\x80\x02" + b"0" * 10,
        b"\x80\x02\x8a\xff" + b"\x01" * 255,
        b"\x80\x02N}N\x81.",
        b"\x80\x02]q\x00h\x00Na.",
        b"",
        b".",
        b"\x80\x02N",
    ],
)
def test_pickles_that_would_run_something(text: bytes) -> None:
    MARK.unlink(missing_ok=True)
    try:
        found = decoded(text)
    except LoadError:
        found = None
    assert isinstance(found, int | list | None)
    assert not MARK.exists()


def doubling(opening: bytes, closing: bytes, depth: int) -> bytes:
    """A container of two of a container of two..., each said once."""
    text = b"\x80\x02" + opening + b"K\x01" + closing + b"q\x00"
    for level in range(1, depth):
        text += (
            opening + b"h" + bytes([level - 1]) + b"h" + bytes([level - 1]) + closing + b"q" + bytes([level])
        )
    return text + b"."


@pytest.mark.parametrize(("opening", "closing"), [(b"(", b"t"), (b"](", b"e")])
def test_containers_that_double(opening: bytes, closing: bytes) -> None:
    """Each half is the one before: exponential to whoever looks at both."""
    found = decoded(doubling(opening, closing, 60))
    with pytest.raises(LoadError, match="a constant of more than"):
        type_of_data(found)
    made = values.Loader(lambda data: None, None).value(found)
    assert made[0] is made[1]


def test_containers_that_lie_deep_or_in_themselves() -> None:
    deep = decoded(b"\x80\x02N" + b"\x85" * 10_000 + b".")
    with pytest.raises(ExirError, match="too deep"):
        values.Loader(lambda data: None, None).value(deep)
    with pytest.raises(LoadError):
        type_of_data(deep)
    itself = decoded(b"\x80\x02]q\x00h\x00a.")
    assert itself[0] is itself
    with pytest.raises(LoadError):
        type_of_data(itself)


def test_what_is_no_torchscript_archive(tmp_path: Path) -> None:
    torch.save({"weight": torch.zeros(2)}, tmp_path / "checkpoint.pt")
    with pytest.raises(LoadError, match="not a TorchScript archive"):
        load(tmp_path / "checkpoint.pt")
    with pytest.raises(LoadError, match=r"before 1\.4"):
        load(write(tmp_path / "old.pt", {"m/model.json": b"{}", "m/tensors/0": b""}))
    (tmp_path / "text.pt").write_text("hello")
    with pytest.raises(LoadError, match="not a zip"):
        load(tmp_path / "text.pt")


def test_versions_and_storages(archive, tmp_path: Path) -> None:
    entries, _ = archive
    root = next(iter(entries)).partition("/")[0]
    with pytest.raises(LoadError, match="version '999'"):
        load(write(tmp_path / "new.pt", {**entries, f"{root}/version": b"999\n"}))
    with pytest.raises(LoadError, match="little-endian"):
        load(write(tmp_path / "big.pt", {**entries, f"{root}/byteorder": b"big"}))
    without = {name: data for name, data in entries.items() if not re.search(r"/(data|constants)/0$", name)}
    with pytest.raises(LoadError, match="no such entry"):
        load(write(tmp_path / "without.pt", without))


@pytest.mark.parametrize(
    "code",
    [
        "(" * 5_000 + ")" * 5_000,
        "-" * 50_000 + "1",
        "x" + ".a" * 50_000,
        "1" + "+1" * 50_000,
        "import os",
        "x = __import__('os').system('true')",
        "f'{x}'",
        "lambda: 1",
        "[y for y in range(3)]",
        "torch.ops.os.system('true')",
        "ops.prim.PythonOp(x)",
        "10 ** 10 ** 10",
        "'" + "%s" * 10 + "'" + " % x",
    ],
)  # fmt: skip
def test_hostile_code(code: str, tmp_path: Path) -> None:
    make, inputs = MODULES["frozen"]
    entries = contents(save(make(), tmp_path / "model.pt"))
    name = next(name for name in entries if name.endswith(".py"))
    text = entries[name].decode()
    first = text.index("    input = ")
    assert (
        try_all(
            write(
                tmp_path / "bad.pt",
                {**entries, name: (text[:first] + f"    _9 = {code}\n" + text[first:]).encode()},
            ),
            [to_numpy(item) for item in inputs],
        )
        != "ran"
    )


def with_code(old: str, new: str, folder: Path) -> tuple[Path, list[Any]]:
    """An archive whose code is changed, and inputs."""
    make, inputs = MODULES["frozen"]
    entries = contents(save(make(), folder / "model.pt"))
    name = next(name for name in entries if name.endswith(".py"))
    text = entries[name].decode()
    assert old in text
    changed = {**entries, name: text.replace(old, new, 1).encode()}
    return write(folder / "bad.pt", changed), [to_numpy(item) for item in inputs]


FIRST = "    input = "
"""What the first line of `forward` begins with."""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def forward(", "def two(self, x: Tensor) -> Tensor:\n    return x\n  def backward(", "no function 'forward'"),
        ("def forward(", "def backward(", "no method 'forward'"),
        ("x: Tensor)", "x: Tensor, y: float=True)", "y: expected float, got True"),
        ("x: Tensor)", "x: Tensor, y: float)", "needs argument 'y'"),
        (FIRST, f"    while True:\n      pass\n{FIRST}", "a loop of more than"),
        (FIRST, f"    _9 = torch.append(annotate(List[int], []), 1 << 62 << 2)\n{FIRST}", "no 64-bit integer"),
        (FIRST, f"    _9 = torch.zeros([2], dtype=99)\n{FIRST}", "99"),
    ],
)  # fmt: skip
def test_errors_say_where(
    old: str, new: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "MAX_ITERATIONS", 100)
    path, inputs = with_code(old, new, tmp_path)
    for run in (
        lambda program: [program.torchscript_text(), program(*inputs)],
        lambda program: [program.torchscript_text(), program.to_aten(inputs)],
    ):
        with pytest.raises(ExirError, match=message) as raised:
            run(load(path))
        assert re.search(r"bad\.pt|\.py:\d+", str(raised.value))


def test_types_as_text_warn_of_nothing(tmp_path: Path) -> None:
    """Python's parser warns of what it may not take some day."""
    path, inputs = with_code(FIRST, f"    _9 = annotate('Tensor[1if x else y]', x)\n{FIRST}", tmp_path)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert try_all(path, inputs) == "LoadError"
    assert not heard


def test_lists_that_hold_something_else(tmp_path: Path) -> None:
    """Lists are not looked into before an operator takes them."""
    make, inputs = MODULES["recurrent"]
    entries = contents(save(make(), tmp_path / "model.pt"))
    name = next(name for name in entries if name.endswith("__torch__/scripted.py"))
    text = entries[name].decode()
    changed = text.replace("torch.zeros([torch.size(x, 1), 5])", "torch.zeros(annotate(List[int], [3.5]))")
    assert changed != text
    path = write(tmp_path / "bad.pt", {**entries, name: changed.encode()})
    assert try_all(path, [to_numpy(item) for item in inputs]) in ("VerificationError", "ScriptError")
