"""Which models go through `iree-compile` as our linalg with named operations, and how far what it makes of them is from eager PyTorch.

    python bench/through_iree.py [NAME ...]

At O0, which is what IREE does unless it is told: from O2 on it fuses more of bert6 than it allows functions of stack, whoever names the products.
Names are those of `run_time.py`; the five models of bench/models and some architectures by default. Needs torch and IREE: pip install '.[iree]'.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from export_models import MODELS, export_model
from run_time import iree

NAMES = (*MODELS, "unet", "convnext", "whisper_encoder")


def distance(name: str, directory: Path) -> float:
    """The largest difference of an output, over the largest of its elements."""
    export_model(name, directory)
    arrays = np.load(directory / f"{name}.npz")
    inputs, outputs = ([arrays[key] for key in arrays.files if key.startswith(end)] for end in ("in", "out"))
    found = iree(directory / f"{name}.core.pt2", inputs, "O0")()()
    # What a program writes to buffers comes first.
    pairs = zip(found[len(found) - len(outputs) :], outputs, strict=True)
    return max(float(np.abs(got - out).max() / np.abs(out).max()) for got, out in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=NAMES)
    names = parser.parse_args().names
    with tempfile.TemporaryDirectory() as directory:
        for name in names:
            print(f"{name:20} {distance(name, Path(directory)):.1e}", flush=True)


if __name__ == "__main__":
    main()
