"""`make demo`: a saved classifier of handwritten digits, imported, shown at every stage, and run. No PyTorch.

The model is digits.pt2 beside this file (train.py made it, once); the images are ones it was not trained on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

import xdsl_exir
from xdsl_exir.errors import ToolchainError

HERE = Path(__file__).parent
SHADES = " .:-=+*#%@"
T = TypeVar("T")

timings: list[tuple[str, float]] = []


def timed(what: str, function: Callable[[], T]) -> T:
    """Calls a function and notes how long it took."""
    start = time.perf_counter()
    result = function()
    timings.append((what, time.perf_counter() - start))
    return result


def show_stage(title: str, program: xdsl_exir.Program, lines: int = 6) -> None:
    """A few operations of a program, around its first convolution."""
    text = str(program).splitlines()
    # What an operation came from is kept, but makes long lines.
    body = [
        line.split(" {exir.")[0] + " : " + line.rsplit(" : ", 1)[-1]
        for line in text
        if " = " in line and "func." not in line
    ]
    first = next((index for index, line in enumerate(body) if "conv" in line), 0)
    start = max(0, first - 2)
    print(f"\n{title}: {len(body)} operations")
    for line in body[start : start + lines]:
        print("  " + (line.strip() if len(line.strip()) <= 150 else line.strip()[:147] + "..."))


def show_digits(images: np.ndarray, labels: np.ndarray, predicted: np.ndarray, count: int = 8) -> None:
    """Images side by side, as characters, with what the model takes them for."""
    print()
    for row in range(images.shape[1]):
        print(
            "   ".join(
                "".join(SHADES[pixel * 9 // 16] * 2 for pixel in image[row]) for image in images[:count]
            )
        )
    print(
        "   ".join(
            f"{f'is {label}, read {guess}':^16}"
            for label, guess in zip(labels[:count], predicted[:count], strict=True)
        )
    )


def classify(program: xdsl_exir.Program, target: str, images: np.ndarray) -> np.ndarray:
    """Scores of images by a program compiled for a target."""
    run = timed(f"compile, {target}", lambda: xdsl_exir.compile(program, target=target))
    run(images)  # the first call maps the weights
    return timed(f"classify {len(images)} images, {target}", lambda: run(images))


def report(what: str, predicted: np.ndarray, labels: np.ndarray) -> None:
    """Prints how many labels were read right."""
    correct = int((predicted == labels).sum())
    print(f"{what}: {correct} of {len(labels)} right ({100 * correct / len(labels):.1f} %)")


def main() -> int:
    data = np.load(HERE / "test_images.npz")
    images, labels = data["images"], data["labels"]
    program = timed("load digits.pt2", lambda: xdsl_exir.load(HERE / "digits.pt2"))
    core = timed("decompose to core aten", program.to_core)
    edge = timed("specialise to edge, verify", program.to_edge)
    show_stage("aten, as torch.export captured it, functionalized", program)
    show_stage("core aten", core)
    show_stage("edge: casts explicit, no Python numbers", edge)
    predicted = classify(edge, "interpreter", images).argmax(axis=1)
    show_digits(images, labels, predicted)
    print()
    report("NumPy interpreter", predicted, labels)
    try:
        report("native code", classify(edge, "native", images).argmax(axis=1), labels)
    except ToolchainError as error:
        print(f"native code: not here ({error})")
    print()
    for what, seconds in timings:
        print(f"  {what:36} {1000 * seconds:8.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
