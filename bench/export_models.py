"""Exports the five models of bench/models, for benchmarks and tests to share.

    python bench/export_models.py OUTDIR [NAME ...]

For each model named (all five by default) it writes to OUTDIR

    NAME.training.pt2  straight from torch.export.export: training dialect, composite and in-place operators
    NAME.core.pt2      the same after run_decompositions(): functional core ATen
    NAME.npz           the example inputs in0, in1, ... and eager PyTorch's outputs out0, out1, ...

Needs torch; nothing else in bench/ or test/ has to import it to use the files.
"""

import argparse
import importlib.util
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
from torch import Tensor, nn

MODELS = ("mlp", "bert6", "llama8", "resnet18", "mobilenetv2")


def load_file(path: Path) -> ModuleType:
    """A Python file of bench/, from wherever it is run."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HERE = Path(__file__).resolve().parent


def get_model_and_inputs(name: str, seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The model bench/models/``name``.py, or that of bench/architectures.py, in eval mode and its example inputs, both drawn from ``seed``."""
    if name not in MODELS:
        return load_file(HERE / "architectures.py").get_model_and_inputs(name, seed)
    return load_file(HERE / "models" / f"{name}.py").get_model_and_inputs(seed)


def to_arrays(prefix: str, tensors: Sequence[Tensor]) -> dict[str, np.ndarray]:
    return {f"{prefix}{index}": tensor.numpy() for index, tensor in enumerate(tensors)}


def export_model(name: str, directory: Path) -> list[Path]:
    """Write the three files of model ``name`` to ``directory`` and return their paths."""
    model, inputs = get_model_and_inputs(name)
    with torch.no_grad():
        outputs = model(*inputs)
    if isinstance(outputs, Tensor):
        outputs = (outputs,)

    training_path = directory / f"{name}.training.pt2"
    core_path = directory / f"{name}.core.pt2"
    arrays_path = directory / f"{name}.npz"
    training = torch.export.export(model, inputs)
    torch.export.save(training, training_path)
    torch.export.save(training.run_decompositions(), core_path)
    arrays = to_arrays("in", inputs) | to_arrays("out", outputs)
    np.savez(arrays_path, allow_pickle=False, **arrays)
    return [training_path, core_path, arrays_path]


def main() -> None:
    parser = argparse.ArgumentParser(description="Export the models of bench/models.")
    parser.add_argument("directory", type=Path, metavar="OUTDIR")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join(MODELS)} (by default), or of architectures.py",
    )
    arguments = parser.parse_args()
    known = (*MODELS, *load_file(HERE / "architectures.py").ARCHITECTURES)
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        parser.error(f"no such model: {', '.join(unknown)} (there are {', '.join(known)})")

    arguments.directory.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or MODELS:
        start = time.perf_counter()
        paths = export_model(name, arguments.directory)
        seconds = time.perf_counter() - start
        sizes = ", ".join(f"{path.name} {path.stat().st_size / 1e3:,.0f} kB" for path in paths)
        print(f"{name}: {sizes} ({seconds:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
