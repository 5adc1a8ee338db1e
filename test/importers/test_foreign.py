"""Files that hold no program: each is said what it is, and what to do with it."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import io
import pickle
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.errors import LoadError
from xdsl_exir.importers.foreign import KINDS, recognised

DIGITS = Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2"


def archive(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        for name in names:
            zipped.writestr(name, b"")
    return file.getvalue()


def array(save: object, *args: object) -> bytes:
    file = io.BytesIO()
    save(file, *args)  # pyright: ignore
    return file.getvalue()


FILES = {
    "empty": (b"", "this is empty"),
    "cut off": (DIGITS.read_bytes()[:1000], "cut off or damaged .*: copy it again"),
    "AOTInductor": (
        archive("model/archive_format", "model/data/aotinductor/model/c.so"),
        r"an AOTInductor package: it holds machine code.* torch.export.save\(",
    ),
    "checkpoint": (archive("w/data.pkl", "w/data/0", "w/version"), r"a checkpoint of torch.save: .*torch.export.save\(.*load_state"),
    "executable": (archive("executable/manifest.json", "executable/code/0"), r"an executable: .*load_executable"),
    "npz": (array(np.savez, np.ones(3)), "an archive of NumPy's"),
    "Keras": (archive("metadata.json", "model.weights.h5"), "a Keras model"),
    "pickle": (pickle.dumps({"w": 1}), "a pickle, .* no pickle is run"),
    "ONNX": (b"\x08\x07\x12\x07pytorch\x1a\x052.0.0", "an ONNX model"),
    "ExecuTorch": (b"\x30\0\0\0ET12" + bytes(99), "an ExecuTorch program"),
    "TFLite": (b"\x1c\0\0\0TFL3" + bytes(99), "a TensorFlow Lite model"),
    "safetensors": (b"\x02\0\0\0\0\0\0\0{}", "a safetensors file: these are weights alone"),
    "GGUF": (b"GGUF\3\0\0\0", "a GGUF file"),
    "HDF5": (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    "npy": (array(np.save, np.ones(3)), "it is an input, not a program"),
    "ELF": (b"\x7fELF\2\1\1", "machine code"),
    "bytecode": (b"ML\xefR\1", "MLIR bytecode: mlir-opt"),
    "gzip": (b"\x1f\x8b\x08\0", "compressed: decompress it first"),
    "LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "page": (b"<!DOCTYPE html><html>", "the download has failed"),
    "graph": (b"graph():\n    %x : placeholder\n", "from_fx_text"),
    "TorchScript": (b"graph(%x : Tensor):\n  return (%x)\n", "from_torchscript_text"),
    "MLIR": (b"// a program\nmodule {\n}\n", "files named .mlir"),
}  # fmt: skip


@pytest.mark.parametrize("suffix", ["pt2", "pt"])
@pytest.mark.parametrize("kind", FILES)
def test_kinds(kind: str, suffix: str, tmp_path: Path) -> None:
    data, message = FILES[kind]
    path = tmp_path / f"model.{suffix}"
    path.write_bytes(data)
    with pytest.raises(LoadError, match=message) as raised:
        xdsl_exir.load(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert len(str(raised.value)) < 500


def test_every_kind_has_its_file() -> None:
    found = {recognised(io.BytesIO(data)) for data, _ in FILES.values()}
    assert len(found) == len(FILES) == len(KINDS) + 1


def test_programs_are_not_taken_for_others() -> None:
    assert recognised(io.BytesIO(DIGITS.read_bytes())) is None
    # A program may hold what was compiled from it as well.
    assert recognised(io.BytesIO(archive("m/models/model.json", "m/data/aotinductor/model/c.so"))) is None
    assert recognised(io.BytesIO(archive("m/data.pkl", "m/code/__torch__.py"))) is None


def test_any_bytes() -> None:
    rng = random.Random(0)
    starts = [data[:40] for data, _ in FILES.values()]
    for _ in range(2000):
        data = rng.choice(starts)[: rng.randrange(40)] + rng.randbytes(rng.randrange(60))
        with pytest.raises(LoadError):
            xdsl_exir.load(data)


@pytest.mark.parametrize("suffix", ["pt2", "pt", "mlir"])
def test_no_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"model.{suffix}"
    with pytest.raises(LoadError, match="there is no such file"):
        xdsl_exir.load(path)
    path.mkdir()
    with pytest.raises(LoadError, match="a folder, not a file"):
        xdsl_exir.load(path)


def test_what_torch_saves(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(2, 2)
    for saved, zipped in ((model.state_dict(), True), (model.state_dict(), False), (model, True)):
        path = tmp_path / "model.pt"
        torch.save(saved, path, _use_new_zipfile_serialization=zipped)
        with pytest.raises(LoadError, match=r"torch\.save: these are weights alone"):
            xdsl_exir.load(path)
