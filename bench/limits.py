"""What this processor can do at most, now: multiply-adds in registers, and reading memory, by loops in LLVM IR of our own.

python bench/limits.py [--threads N]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from xdsl_exir.lowering.pack_arguments import ENTRY
from xdsl_exir.runtime.linking import Library, load_objects
from xdsl_exir.targets.cpu.machine import processor
from xdsl_exir.targets.cpu.objects import emit_object

CHAINS = 10
"""Multiply-adds that do not wait for each other: more than a processor has under way."""
TURNS = 100_000
NBYTES = 1 << 28
"""Beyond what caches hold, for all threads together."""
ROUNDS = 30


@dataclass(frozen=True)
class Limits:
    threads: int
    multiply_adds: float
    """Operations a second of float32, of which a multiply-add is two."""
    bandwidth: float
    """Bytes a second, read."""

    def __str__(self) -> str:
        return (
            f"limits of this run, {self.threads} thread(s): {self.multiply_adds / 1e9:.1f} GFLOP/s of float32 "
            f"multiply-adds, {self.bandwidth / 1e9:.1f} GB/s read"
        )

    def seconds(self, flops: float, nbytes: float) -> float:
        """What so many operations and so much memory that is read take at least."""
        return max(flops / self.multiply_adds, nbytes / self.bandwidth)

    @staticmethod
    def measured(threads: int) -> Limits:
        """The best of some rounds."""
        lanes = processor().machine().lanes
        library = load_objects([emit_object(code(lanes), processor())])
        parts = np.ones((threads, NBYTES // 4 // threads), np.float32)
        with ThreadPoolExecutor(threads) as pool:
            flops = [2 * lanes * CHAINS * TURNS] * threads
            nbytes = [part.nbytes for part in parts]
            return Limits(
                threads,
                best(pool, library, "multiply_add", [(TURNS, part) for part in parts], flops),
                best(pool, library, "read", [(part.size // (4 * lanes), part) for part in parts], nbytes),
            )


def best(
    pool: ThreadPoolExecutor,
    library: Library,
    name: str,
    calls: list[tuple[int, np.ndarray]],
    work: list[int],
) -> float:
    """Work a second of all threads together in the best round, by the time that each ran: others may have the processor between."""
    function = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_int64, ctypes.c_void_p)(
        library.address(ENTRY + name)
    )

    def rate(call: tuple[int, np.ndarray], done: int) -> float:
        start = time.thread_time()
        function(call[0], call[1].ctypes.data)
        return done / (time.thread_time() - start)

    return max(sum(pool.map(rate, calls, work)) for _ in range(ROUNDS))


def code(lanes: int) -> str:
    """`multiply_add(turns, _)` in registers, `read(turns, memory)`: 4 vectors a turn."""
    vector = f"<{lanes} x float>"
    chains, loads = range(CHAINS), range(4)
    zero = f"{vector} zeroinitializer"

    def total(names: list[str]) -> str:
        lines, last = list[str](), names[0]
        for number, name in enumerate(names[1:]):
            lines.append(f"  %t{number} = fadd {vector} {last}, {name}")
            last = f"%t{number}"
        return "\n".join([*lines, f"  %y = extractelement {vector} {last}, i32 0", "  ret float %y"])

    def loop(name: str, count: int, turn: str) -> str:
        phis = "\n".join(
            f"  %a{c} = phi {vector} [zeroinitializer, %start], [%b{c}, %turn]" for c in range(count)
        )
        return f"""
define float @"{ENTRY}{name}"(i64 %turns, ptr %memory) {{
start:
  %x0 = insertelement {zero}, float 5.000000e-01, i32 0
  %x = shufflevector {vector} %x0, {zero}, <{lanes} x i32> zeroinitializer
  br label %turn
turn:
  %i = phi i64 [0, %start], [%next, %turn]
{phis}
{turn}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %turns
  br i1 %more, label %turn, label %end
end:
{total([f"%b{c}" for c in range(count)])}
}}
"""

    adds = "\n".join(
        f"  %b{c} = call {vector} @llvm.fma({vector} %x, {vector} %a{c}, {vector} %x)" for c in chains
    )
    reads = "\n".join(
        f"  %o{c} = mul i64 %i, {4 * lanes}\n  %p{c} = add i64 %o{c}, {c * lanes}\n"
        f"  %q{c} = getelementptr float, ptr %memory, i64 %p{c}\n"
        f"  %v{c} = load {vector}, ptr %q{c}, align 4\n  %b{c} = fadd {vector} %a{c}, %v{c}"
        for c in loads
    )
    declared = f"declare {vector} @llvm.fma.v{lanes}f32({vector}, {vector}, {vector})"
    return (
        declared
        + loop("multiply_add", CHAINS, adds).replace("@llvm.fma(", f"@llvm.fma.v{lanes}f32(")
        + loop("read", len(loads), reads)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    print(Limits.measured(parser.parse_args().threads))
    return 0


if __name__ == "__main__":
    sys.exit(main())
