"""The processors that code can be made for besides this one: by LLVM's triple, what all of an architecture have and what some add.

Nothing here is of the machine that compiles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl_exir.errors import ExirError


@dataclass(frozen=True)
class Architecture:
    """A kind of processor."""

    processors: Mapping[str, tuple[str, str]]
    """By the names that users give, what LLVM calls a processor and its features; first what all of the kind run."""
    abi: str = ""
    """LLVM's name of the calling convention, where there are several."""
    capabilities: Mapping[str, int] = field(default_factory=dict[str, int])
    """Features that code has to ask for, and the bit of Linux's AT_HWCAP that says each (`getauxval(3)`)."""
    lacks: tuple[str, ...] = ()
    """Types of LLVM's that it ends the process over, and makes no code of."""
    has_files: bool = True
    """Whether a C library of it is linked and loaded: else there are objects, assembly and LLVM IR."""


ARCHITECTURES: dict[str, Architecture] = {
    "x86_64": Architecture({}),  # `targets.cpu.machine` has its levels
    "aarch64": Architecture({"armv8-a": ("generic", "+fp-armv8,+neon")}),
    "riscv64": Architecture(
        {
            "rv64gc": ("generic-rv64", "+64bit,+a,+c,+d,+f,+m,+zicsr,+zifencei"),
            "rv64gcv": ("generic-rv64", "+64bit,+a,+c,+d,+f,+m,+v,+zicsr,+zifencei"),
        },
        abi="lp64d",
        capabilities={"v": ord("v") - ord("a")},
    ),
    "wasm32": Architecture(
        {"wasm": ("generic", "-simd128"), "wasm-simd128": ("generic", "+simd128")},
        lacks=("bfloat",),
        has_files=False,
    ),
}
"""By the first part of the triple."""

ALIASES = {"amd64": "x86_64", "arm64": "aarch64", "riscv64gc": "riscv64", "wasm": "wasm32"}


def canonical(triple: str) -> str:
    """A triple as LLVM has it: `aarch64-linux-gnu` is `aarch64-unknown-linux-gnu`.

    Raises `ExirError` for one that there is no code for."""
    first, *rest = triple.lower().split("-")
    arch = ALIASES.get(first, first)
    if arch not in ARCHITECTURES:
        raise ExirError(f"no triple '{triple}': code is made for {', '.join(ARCHITECTURES)}")
    if arch == "wasm32":
        return "-".join([arch, *(rest if len(rest) == 2 else ["unknown", rest[-1] if rest else "unknown"])])
    system = next((at for at, part in enumerate(rest) if part.startswith("linux")), None)
    if system is None or len(rest) > system + 2:
        raise ExirError(
            f"no triple '{triple}': code for {arch} is made for Linux, as {arch}-linux-gnu; for macOS and Windows there is none yet"
        )
    environment = rest[system + 1] if len(rest) > system + 1 else "gnu"
    if not re.fullmatch(r"(gnu|musl)\w*", environment):
        raise ExirError(f"no triple '{triple}': Linux has the environments gnu and musl")
    return f"{arch}-unknown-linux-{environment}"
