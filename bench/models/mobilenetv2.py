"""MobileNetV2 at width 1.0: inverted residuals with depthwise convolutions, random running statistics.

Input: images, float32 [1, 3, 224, 224]. Output: logits, float32 [1, 1000].
"""

import torch
from torch import Tensor, nn

# Rows of table 2 of Sandler et al., 2018: expansion, output channels, repeats, stride of the first repeat.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def conv_bn_relu6(
    in_channels: int, out_channels: int, kernel: int = 3, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    padding = (kernel - 1) // 2
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel, stride, padding, groups=groups, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU6(inplace=True),
    )


class InvertedResidual(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = in_channels * expansion
        self.residual = stride == 1 and in_channels == out_channels
        expand = [] if expansion == 1 else [conv_bn_relu6(in_channels, hidden, kernel=1)]
        self.conv = nn.Sequential(
            *expand,
            conv_bn_relu6(hidden, hidden, stride=stride, groups=hidden),
            nn.Conv2d(hidden, out_channels, 1, bias=False),
            nn.BatchNorm2d(out_channels),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.residual else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        blocks: list[nn.Module] = [conv_bn_relu6(3, 32, stride=2)]
        in_channels = 32
        for expansion, out_channels, repeats, first_stride in STAGES:
            for repeat in range(repeats):
                stride = first_stride if repeat == 0 else 1
                blocks.append(InvertedResidual(in_channels, out_channels, stride, expansion))
                in_channels = out_channels
        blocks.append(conv_bn_relu6(in_channels, 1280, kernel=1))
        self.features = nn.Sequential(*blocks)
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, classes))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x).mean((2, 3)))


def randomize_running_stats(model: nn.Module) -> None:
    """Give every batch norm non-trivial running statistics, so that an error in folding it shows."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            assert module.running_mean is not None
            assert module.running_var is not None
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)


def get_model_and_inputs(seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The model in eval mode and its example inputs, both drawn from ``seed``."""
    torch.manual_seed(seed)
    model = MobileNetV2()
    randomize_running_stats(model)
    return model.eval(), (torch.randn(1, 3, 224, 224),)
