"""PyTorch's training loop beside the one of train.py: the same classifier, images, weights to begin with, and optimisers.

    python examples/train/compare.py [sgd|adam] [steps] [native|interpreter]

Prints both losses of each step, the largest difference between them, and between what is learnt. Needs PyTorch.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

FOLDER = Path(__file__).parent


def script(path: Path, name: str) -> Any:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ours = script(FOLDER / "train.py", "train_digits_here")
theirs = script(FOLDER.parents[1] / "bench" / "digits" / "train.py", "train_digits_in_pytorch")

OPTIMISERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=1e-2),
}


def pytorchs(state: dict[str, Any], optimiser: str, steps: int) -> tuple[list[float], dict[str, Any]]:
    """The losses of PyTorch's loop, and the state that it leaves."""
    torch.use_deterministic_algorithms(True)
    model = theirs.DigitClassifier().train()
    with torch.no_grad():
        model.load_state_dict({name: torch.from_numpy(state[name]) for name in model.state_dict()})
    images, labels = map(torch.from_numpy, ours.data())
    update = OPTIMISERS[optimiser](model.parameters())
    losses = []
    for _ in range(steps):
        update.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        update.step()
        losses.append(loss.item())
    return losses, {name: value.numpy() for name, value in model.state_dict().items()}


def compare(optimiser: str, steps: int, target: str) -> tuple[list[float], list[float], float]:
    """Our losses, PyTorch's, and the largest difference of a weight or a statistic."""
    program = ours.training_step(ours.OPTIMISERS[optimiser])
    wanted, left = pytorchs(ours.initial_state(program), optimiser, steps)
    got, state = ours.train(program, steps, target)
    learnt = (name for name in left if not name.endswith("num_batches_tracked"))  # which nothing needs
    return got, wanted, max(float(np.abs(state[name] - left[name]).max()) for name in learnt)


def main(optimiser: str = "adam", steps: str = "60", target: str = "native") -> None:
    got, wanted, apart = compare(optimiser, int(steps), target)
    for step, (loss, expected) in enumerate(zip(got, wanted, strict=True)):
        print(f"step {step:3}: {loss:.6f}, PyTorch {expected:.6f}")
    difference = max(abs(loss - expected) for loss, expected in zip(got, wanted, strict=True))
    print(f"losses differ by {difference:.1e} at most, what is learnt by {apart:.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
