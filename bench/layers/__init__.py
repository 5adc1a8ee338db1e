"""Layers of the literature as people write them, for `bench/literature.py`: functions of weights and inputs, with shapes of both.

`sequences` holds recurrences and kinds of attention, `numerics` algorithms, signals, images, graphs and losses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

Shape = tuple[int, ...]


class Layer(nn.Module):
    """A function of weights by name and of inputs."""

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: tuple[Shape | Callable[[], Tensor], ...],
        weights: Mapping[str, Shape],
    ) -> None:
        super().__init__()
        self.function, self.made = function, inputs
        self.weights = nn.ParameterDict(
            {
                name: nn.Parameter(torch.randn(shape) / (shape[-1] ** 0.5 if len(shape) > 1 else 1.0))
                for name, shape in weights.items()
            }
        )

    def inputs(self) -> tuple[Tensor, ...]:
        return tuple(torch.randn(x) if isinstance(x, tuple) else x() for x in self.made)

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(SimpleNamespace(**self.weights), *inputs)


LAYERS: dict[str, Callable[[], Layer]] = {}


def layer(
    *inputs: Shape | Callable[[], Tensor], **weights: Shape
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Records a layer under its function's name."""

    def record(function: Callable[..., Any]) -> Callable[..., Any]:
        LAYERS[function.__name__] = lambda: Layer(function, inputs, weights)
        return function

    return record


def integers(high: int, *shape: int) -> Callable[[], Tensor]:
    """Inputs of indices below `high`."""
    return lambda: torch.randint(high, shape)


def uniform(*shape: int) -> Callable[[], Tensor]:
    """Inputs between 0 and 1."""
    return lambda: torch.rand(shape)
