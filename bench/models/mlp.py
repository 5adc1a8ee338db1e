"""Multilayer perceptron 64-128-128-10 with ReLU, GELU and a final softmax.

Input: float32 [4, 64]. Output: probabilities, float32 [4, 10].
"""

import torch
from torch import Tensor, nn


class MLP(nn.Module):
    def __init__(self, features: int = 64, hidden: int = 128, classes: int = 10) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(features, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.GELU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(self.net(x), dim=-1)


def get_model_and_inputs(seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The model in eval mode and its example inputs, both drawn from ``seed``."""
    torch.manual_seed(seed)
    return MLP().eval(), (torch.randn(4, 64),)
