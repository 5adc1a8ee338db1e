"""Trains the handwritten digit classifier of ``make demo`` and writes the two files the demo reads.

    pip install torch==2.13.0 scikit-learn
    python bench/digits/train.py

Run once; the files are committed, and the demo needs neither PyTorch nor scikit-learn.

    digits.pt2       the trained classifier in eval mode, straight from torch.export.export (training dialect)
    test_images.npz  the held-out test split: images uint8 [360, 8, 8] of values 0 to 16, labels uint8 [360]

The data is scikit-learn's ``load_digits``: 1,797 images of 8 x 8 pixels, the test part of the UCI data set
"Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, 1998, CC BY 4.0). A fifth of it, in equal
shares of each digit, is never seen in training. Seeds are fixed and one thread computes, so a second run
on the same machine gives the same weights; digits.pt2 as a file differs, for PyTorch writes memory addresses into it.
"""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

HERE = Path(__file__).resolve().parent
TEST_IMAGES = 360
EPOCHS = 30
BATCH = 64
PEAK_LEARNING_RATE = 1e-2
MIN_ACCURACY = 0.98
MAX_PT2_BYTES = 300_000


def conv_bn_relu(in_channels: int, out_channels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(inplace=True),
    )


class DigitClassifier(nn.Module):
    """Images uint8 [N, 8, 8] of values 0 to 16, as the data set has them, to logits float32 [N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            conv_bn_relu(1, 16),
            conv_bn_relu(16, 32),
            nn.MaxPool2d(2),
            conv_bn_relu(32, 64),
            nn.AdaptiveAvgPool2d((1, 1)),
        )
        self.classifier = nn.Linear(64, 10)

    def forward(self, images: Tensor) -> Tensor:
        x = images.unsqueeze(1).to(torch.float32) * (1 / 16)
        return self.classifier(torch.flatten(self.features(x), 1))


def load_split() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Training images, test images (uint8 [N, 8, 8]), training labels, test labels (int64 [N])."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    pixels, labels = load_digits(return_X_y=True)
    images = torch.tensor(pixels, dtype=torch.uint8).reshape(-1, 8, 8)
    train_rows, test_rows = train_test_split(
        np.arange(len(labels)), test_size=TEST_IMAGES, stratify=labels, random_state=0
    )
    targets = torch.tensor(labels)
    return images[train_rows], images[test_rows], targets[train_rows], targets[test_rows]


def train(model: nn.Module, images: Tensor, labels: Tensor) -> None:
    """Adam under a one-cycle learning rate, a fixed number of epochs: nothing is chosen by a look at the test split."""
    batches_per_epoch = -(-len(images) // BATCH)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, PEAK_LEARNING_RATE, total_steps=EPOCHS * batches_per_epoch
    )
    model.train()
    for epoch in range(EPOCHS):
        total_loss = 0.0
        for batch in torch.randperm(len(images)).split(BATCH):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            schedule.step()
            total_loss += loss.item() * len(batch)
        print(f"epoch {epoch + 1:2}/{EPOCHS}: loss {total_loss / len(images):.4f}", flush=True)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    train_images, test_images, train_labels, test_labels = load_split()

    model = DigitClassifier()
    train(model, train_images, train_labels)
    model.eval()

    pt2_path = HERE / "digits.pt2"
    torch.export.save(torch.export.export(model, (test_images,)), pt2_path)
    npz_path = HERE / "test_images.npz"
    np.savez_compressed(npz_path, images=test_images.numpy(), labels=test_labels.numpy().astype(np.uint8))

    # The accuracy of what is on disk, not of what was in memory.
    with torch.no_grad():
        logits = torch.export.load(pt2_path).module()(test_images)
    correct = int((logits.argmax(1) == test_labels).sum())
    accuracy = correct / len(test_labels)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(f"{parameters:,} parameters, {len(train_images):,} training images")
    print(f"test accuracy: {correct} of {len(test_labels)} = {accuracy:.2%}")
    for path in (pt2_path, npz_path):
        print(f"{path.name}: {path.stat().st_size:,} bytes")
    if accuracy < MIN_ACCURACY:
        raise SystemExit(f"accuracy is below {MIN_ACCURACY:.0%}")
    if pt2_path.stat().st_size > MAX_PT2_BYTES:
        raise SystemExit(f"{pt2_path.name} is over {MAX_PT2_BYTES:,} bytes")


if __name__ == "__main__":
    main()
