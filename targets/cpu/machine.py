"""Which processor native code is for: one description that feeds the schedules, LLVM and C libraries' check at load alike.

    processor("x86-64-v3").machine()                      # what schedules have to know: lanes, registers, threads
    processor("rv64gcv", "riscv64-linux-gnu")             # of another architecture: `architectures` has them

`native` is the processor that this runs on; the levels are those of the x86-64 ABI, `baseline` is what all of an architecture run. LLVM is told of every feature in the
table below whether the code may use it, and of no other: what code needs is then exactly `Processor.enabled`, which C
checks when it loads a library, each by the bit that the processor says it with.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import sys
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from xdsl_exir.errors import ExirError, ToolchainError
from xdsl_exir.targets.cpu.architectures import ALIASES, ARCHITECTURES, canonical
from xdsl_exir.targets.cpu.kernels.description import Machine
from xdsl_exir.threads import wait_for_in_forks

VARIABLE = "XDSL_EXIR_CPU"
"""Environment variable with the processor's name, for programs that are compiled without one."""

NATIVE = "native"

BASELINE = "baseline"
"""Name of what every processor of the architecture is."""

IS_X86 = platform.machine() in ("x86_64", "AMD64")


class Bit(NamedTuple):
    """Where x86's `cpuid` says that the processor has a feature, and the state that the system has to save for it."""

    leaf: int
    subleaf: int
    register: str
    bit: int
    state: int = 0
    """Bits of the register XCR0, all of which have to be set."""


_YMM, _ZMM, _TILES = 0x6, 0xE6, 0x600E6


def _bits(leaf: int, subleaf: int, register: str, state: int, **bits: int) -> dict[str, Bit]:
    return {name.replace("_", "."): Bit(leaf, subleaf, register, bit, state) for name, bit in bits.items()}


FEATURES: dict[str, Bit] = {
    **_bits(1, 0, "c", 0, sse3=0, pclmul=1, ssse3=9, cx16=13, sse4_1=19, sse4_2=20, movbe=22, popcnt=23, aes=25),
    **_bits(1, 0, "c", _YMM, fma=12, avx=28, f16c=29),
    **_bits(7, 0, "b", 0, bmi=3, bmi2=8, adx=19),
    **_bits(7, 0, "b", _YMM, avx2=5),
    **_bits(7, 0, "b", _ZMM, avx512f=16, avx512dq=17, avx512ifma=21, avx512cd=28, avx512bw=30, avx512vl=31),
    **_bits(7, 0, "c", 0, gfni=8),
    **_bits(7, 0, "c", _YMM, vaes=9, vpclmulqdq=10),
    **_bits(7, 0, "c", _ZMM, avx512vbmi=1, avx512vbmi2=6, avx512vnni=11, avx512bitalg=12, avx512vpopcntdq=14),
    **_bits(7, 0, "d", _ZMM, avx512fp16=23),
    **_bits(7, 1, "a", _YMM, avxvnni=4, avxifma=23),
    **_bits(7, 1, "a", _ZMM, avx512bf16=5),
    **_bits(0x80000001, 0, "c", 0, sahf=0, lzcnt=5),
    "amx-tile": Bit(7, 0, "d", 24, _TILES), "amx-bf16": Bit(7, 0, "d", 22, _TILES),
}  # fmt: skip
"""The x86 features that code may use beyond those of every 64-bit processor, by LLVM's name. Intel's manual, volume 2A, CPUID; AMD's, volume 3, appendix E."""

TILES = frozenset(("amx-tile", "amx-bf16", "avx512f"))
"""What tiles of bfloat16 need."""

_BASELINE = frozenset(("64bit", "cmov", "cx8", "fxsr", "mmx", "sse", "sse2"))
"""What every 64-bit x86 processor has."""


def _levels() -> dict[str, frozenset[str]]:
    """The levels of the x86-64 ABI (x86-64 psABI, section 3.1.1), each with the features of those before."""
    added = {
        "x86-64": (),
        "x86-64-v2": ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"),
        "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
        "x86-64-v4": ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"),
    }
    levels: dict[str, frozenset[str]] = {}
    features: frozenset[str] = frozenset()
    for name, more in added.items():
        levels[name] = features = features | set(more)
    return levels


X86 = _levels()
LEVELS = X86 if IS_X86 else {}
"""What this machine's processor may have besides a name of its own."""

# (feature, float32 lanes of a vector register, number of vector registers), best first.
_VECTOR_UNITS = (("avx512f", 16, 32), ("avx", 8, 16), ("neon", 4, 32), ("v", 4, 32))


@dataclass(frozen=True)
class Processor:
    """A processor as LLVM is told of it."""

    name: str
    """What LLVM tunes for."""
    features: str
    """What code may use and what not, as LLVM reads it: `+avx,-avx2`."""
    threads: int | None = None
    """How many threads share a loop, if not as many as the process that compiles may use."""

    triple: str = ""
    """Architecture and system as LLVM calls them, if they are not those of this process."""
    openmp: bool = True
    """Whether loops may be shared among threads: without, code calls no OpenMP."""

    def with_threads(self, threads: int) -> Processor:
        """The processor, with so many threads."""
        return replace(self, threads=threads)

    @property
    def arch(self) -> str:
        """The architecture, as `ARCHITECTURES` calls it."""
        own = platform.machine().lower()
        return self.triple.partition("-")[0] or ALIASES.get(own, own)

    @property
    def enabled(self) -> frozenset[str]:
        """Names of the features that code may use."""
        return frozenset(name[1:] for name in self.features.split(",") if name.startswith("+"))

    @property
    def fuses(self) -> bool:
        """Whether it has an instruction for a product and a sum, rounded once."""
        return "fma" in self.enabled if self.arch == "x86_64" else self.arch != "wasm32"

    @property
    def checked(self) -> dict[str, Bit]:
        """What code may use that not every processor of its architecture has, and where a processor says that it has it."""
        enabled = self.enabled if self.arch == "x86_64" else frozenset[str]()
        return {name: bit for name, bit in FEATURES.items() if name in enabled}

    def machine(self, threads: int | None = None) -> Machine:
        """What schedules have to know. `threads` defaults to the cores this process may use."""
        enabled = self.enabled
        lanes, registers = next((unit[1:] for unit in _VECTOR_UNITS if unit[0] in enabled), (4, 16))
        own = 1 if self.triple or not self.openmp else cores()
        pairs, tiles = "avx512bf16" in enabled, enabled >= TILES
        return Machine(lanes, registers, threads or self.threads or own, pairs, tiles)

    def check_runs_here(self) -> None:
        """Raises `ExirError` where the processor that this runs on lacks what the code may use."""
        check_system()
        if self.triple:
            raise ExirError(f"this process cannot run code for {self.triple}")
        missing = self.enabled - host().enabled
        if missing:
            raise ExirError(
                f"this processor cannot run code for {self.name}: it has no {', '.join(sorted(missing))}"
            )


def processor(name: str | None = None, triple: str | None = None, threads: int | None = None) -> Processor:
    """The processor of a name: `native`, `baseline`, or a level of the x86-64 ABI. Without one, $XDSL_EXIR_CPU's, else `native`.

    With a triple it is one of that architecture, by default its baseline, and nothing is of this machine. `threads` share a loop; of 1 the
    code calls no OpenMP. Raises `ExirError` that lists the known ones for another name or triple, `ToolchainError` where `native` is
    asked for and llvmlite is missing.
    """
    if threads is not None and threads < 1:
        raise ExirError(f"code runs in 1 thread or more, not in {threads}")
    if triple is not None:
        made = of_triple(name or BASELINE, canonical(triple))
    else:
        name = check_name(name)
        made = {NATIVE: host, BASELINE: baseline}.get(name, lambda: _described(name, LEVELS[name]))()
    if threads is None:
        return made
    return replace(made, threads=threads, openmp=threads > 1)


def of_triple(name: str, triple: str) -> Processor:
    """A processor of a triple that LLVM knows; with one thread, as nothing says how many it has. Raises `ExirError`."""
    arch = triple.partition("-")[0]
    known = ARCHITECTURES[arch].processors
    names = [*(X86 if arch == "x86_64" else known)]
    if name not in (*names, BASELINE):
        raise ExirError(f"no processor '{name}' for {triple}; there is {', '.join((*names, BASELINE))}")
    name = names[0] if name == BASELINE else name
    made = _described(name, X86[name]) if arch == "x86_64" else Processor(*known[name])
    return replace(made, triple=triple, openmp=False)


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_system() -> None:
    """Raises `ExirError` on systems for which there is no native code."""
    if sys.platform != "linux":
        raise ExirError(f"native code runs on Linux, not on {sys.platform}: the interpreter runs everywhere")


def baseline() -> Processor:
    """What every processor of this architecture runs."""
    return _described("x86-64", LEVELS["x86-64"]) if IS_X86 else host()


def check_name(name: str | None = None) -> str:
    """The name of a processor as `processor` takes it, the default for None. Raises `ExirError` for unknown ones."""
    where, name = ("", name) if name is not None else (f"{VARIABLE}: ", os.environ.get(VARIABLE) or NATIVE)
    known = (NATIVE, *LEVELS, BASELINE)
    if name not in known:
        raise ExirError(f"{where}no processor '{name}'; there is {', '.join(known)}")
    return name


@functools.cache
def host() -> Processor:
    """The processor that this runs on, by LLVM's detection."""
    llvm = llvm_binding()
    found: dict[str, bool] = dict(llvm.get_host_cpu_features())
    name = str(llvm.get_host_cpu_name())
    if found.get("amx-tile") and not may_have_tiles():
        found |= {feature: False for feature in found if feature.startswith("amx")}
    if not IS_X86:
        return Processor(name, llvm.get_host_cpu_features().flatten())
    return _described(name, frozenset(feature for feature, has in found.items() if has), frozenset(found))


REQUEST_STATE, TILE_DATA = 0x1023, 18
"""Linux's ARCH_REQ_XCOMP_PERM and XFEATURE_XTILEDATA (Documentation/arch/x86/xstate.rst)."""
ARCH_PRCTL = 158
"""The number of that call on x86-64."""


def may_have_tiles() -> bool:
    """Asks the system to let this process, and its forks, use registers of tiles, which it saves from then on; whether it does."""
    return ctypes.CDLL(None).syscall(ARCH_PRCTL, REQUEST_STATE, TILE_DATA) == 0


def _described(name: str, has: frozenset[str], others: frozenset[str] = frozenset()) -> Processor:
    """An x86 processor with these features of the table; without the other ones, which its name may stand for."""
    allowed = has & FEATURES.keys()
    refused = (FEATURES.keys() | others) - allowed - _BASELINE
    signs = {**dict.fromkeys(refused, "-"), **dict.fromkeys(allowed, "+")}
    return Processor(name, ",".join(f"{signs[feature]}{feature}" for feature in sorted(signs)))


@functools.cache
def llvm_binding() -> Any:
    """llvmlite's binding, set up for this kind of processor. Raises `ToolchainError` where it is missing."""
    try:
        import llvmlite.binding as llvm  # pyright: ignore[reportMissingTypeStubs, reportMissingImports]
    except ImportError as error:
        raise ToolchainError(
            "native code needs llvmlite; install it with: pip install llvmlite==0.50.0"
        ) from error
    binding: Any = llvm
    wait_for_in_forks(binding.ffi.lib._lock)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding
