"""ResNet-18 in torchvision's topology, batch norms in eval mode with random running statistics.

Input: images, float32 [1, 3, 224, 224]. Output: logits, float32 [1, 1000].
"""

import torch
from torch import Tensor, nn


class BasicBlock(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.down = None
        if stride != 1 or in_channels != out_channels:
            self.down = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, 1, stride, bias=False),
                nn.BatchNorm2d(out_channels),
            )

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        shortcut = x if self.down is None else self.down(x)
        return self.relu(y + shortcut)


class ResNet18(nn.Module):
    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        )
        blocks: list[nn.Module] = []
        in_channels = 64
        for out_channels, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks.append(BasicBlock(in_channels, out_channels, stride))
            blocks.append(BasicBlock(out_channels, out_channels, 1))
            in_channels = out_channels
        self.layers = nn.Sequential(*blocks)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(torch.flatten(self.pool(self.layers(self.stem(x))), 1))


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
    model = ResNet18()
    randomize_running_stats(model)
    return model.eval(), (torch.randn(1, 3, 224, 224),)
