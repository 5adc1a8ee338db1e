"""Random modules with views, writes, lists, branches and loops, as Python that `torch.jit.script` takes."""

from __future__ import annotations

import random

VIEWS = (
    "{b}.t()", "{b}.transpose(0, 1)", "{b}[{i}].expand(3, 3)", "{b}[:, {i}].unsqueeze(0).repeat(3, 1)", "{b}.view(9).view(3, 3)",
    "{b}.reshape(9).reshape(3, 3)", "{b}.contiguous()", "{b}.flatten().view(3, 3)", "{b}.detach()", "{b}.permute(1, 0)",
    "{b}.to(torch.float32)", "{b}.clone()", "{b}.flip(0)", "{b}.diag().expand(3, 3)", "{b}.chunk(1)[0]",
    "torch.narrow({b}, 0, 0, 2).sum(0).expand(3, 3)", "{b}.unflatten(0, [3, 1]).squeeze(1)",
)  # fmt: skip
WRITES = (
    "{b}.add_(0.5)", "{b}.mul_({c}.sum() * 0.01)", "{b}[{i}] = {c}[{i}]", "{b}[:, {i}] += 1.0", "{b}.copy_({c} * 0.5)",
    "{b}.zero_()", "{b}[0:2].neg_()", "{b}.relu_()", "{b}.fill_diagonal_(2.0)", "{b}.transpose(0, 1)[{i}].add_(3.0)",
)  # fmt: skip
CONDITIONS = ("bool({b}.sum() > 0)", "bool({b}.sum() > 0.3)", "n > 2", "n == 1")


class Writer:
    """Writes one module."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.names = ["x", "y"]
        self.lists: list[str] = []
        self.count = 0

    def filled(self, choices: tuple[str, ...]) -> str:
        values = {"b": self.name(), "c": self.name(), "i": self.rng.randrange(3)}
        return self.rng.choice(choices).format(**values)

    def name(self) -> str:
        return self.rng.choice(self.names)

    def assign(self, indent: int, expression: str) -> None:
        self.count += 1
        self.line(indent, f"t{self.count} = {expression}")
        self.names.append(f"t{self.count}")

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, head: str, depth: int) -> None:
        """A block, whose variables are not seen behind it."""
        before = list(self.names)
        self.line(indent, head)
        self.line(indent + 1, "pass")
        for _ in range(self.rng.randint(1, 3)):
            self.statement(indent + 1, depth + 1)
        self.names[:] = before

    def statement(self, indent: int, depth: int) -> None:
        kind = self.rng.random()
        if kind < 0.32:
            self.assign(indent, self.filled(VIEWS))
        elif kind < 0.5:
            self.assign(indent, f"{self.name()} {self.rng.choice('+-*')} {self.name()}")
        elif kind < 0.72:
            self.line(indent, self.filled(WRITES))
        elif kind < 0.8 and depth == 0:
            self.lists.append(f"l{len(self.lists)}")
            self.line(indent, f"{self.lists[-1]} = [{self.name()}, {self.name()}]")
        elif kind < 0.86 and self.lists:
            chosen = self.rng.choice(self.lists)
            self.line(
                indent,
                f"{chosen}.append({self.name()})"
                if self.rng.random() < 0.5
                else f"{chosen}[0] = {self.name()}",
            )
            self.assign(indent, f"{chosen}[{self.rng.choice((0, -1))}]")
        elif kind < 0.93 and depth < 2:
            self.block(indent, f"if {self.filled(CONDITIONS)}:", depth)
            if self.rng.random() < 0.6:
                self.block(indent, "else:", depth)
        elif depth < 2:
            self.block(indent, f"for i{depth} in range(n):", depth)

    def text(self) -> str:
        """The module: `forward` takes two tensors of (3, 3) and an integer."""
        self.line(2, "x = x.clone()")
        self.assign(2, "self.b")
        for _ in range(self.rng.randint(4, 12)):
            self.statement(2, 0)
        body = "\n".join(self.lines)
        return f"""import torch
class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.arange(9.0).reshape(3, 3) * 0.1)
    def forward(self, x, y, n: int):
{body}
        return {", ".join(self.names[-3:])}, x, self.b
"""
