"""Whether a processor can run a C library, in C: asked of `cpuid`, feature by feature, as compilers differ in the names they know."""

from __future__ import annotations

from string import Template

from xdsl_exir.targets.cpu.architectures import ARCHITECTURES
from xdsl_exir.targets.cpu.machine import Processor

# What `cpuid` says of each leaf, and XCR0: what the system saves of registers. Leaves that a processor does not have say
# nothing; so does XCR0 where the system does not say it, by bit 27 of leaf 1's ecx.
CPU_CHECK = Template("""\
static inline bool has(uint32_t leaf, uint32_t subleaf, char name, uint32_t bits) {
  uint32_t a, b, c, d;
  if (!__get_cpuid_count(leaf, subleaf, &a, &b, &c, &d)) return false;
  return ((name == 'a' ? a : name == 'b' ? b : name == 'c' ? c : d) & bits) == bits;
}

static inline bool saves(uint32_t state) {
  if (!has(1, 0, 'c', UINT32_C(1) << 27)) return false;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & state) == state;
}

/* Whether this processor has $features, and the system saves the registers. */
static bool usable(void) { return $conditions; }
""")


def cpu_check(cpu: Processor) -> str:
    """C that says whether the processor has all that the code may use."""
    bits = cpu.checked
    if asked := capabilities(cpu):
        mask = sum(1 << bit for bit in asked.values())
        return f"""\
/* Whether this processor has {", ".join(asked)}: getauxval(3). */
static bool usable(void) {{ return (getauxval(AT_HWCAP) & {mask:#x}) == {mask:#x}; }}
"""
    if not bits:
        return "static bool usable(void) { return true; }\n"
    words: dict[tuple[int, int, str], int] = {}
    for bit in bits.values():
        where = bit.leaf, bit.subleaf, bit.register
        words[where] = words.get(where, 0) | 1 << bit.bit
    state = max(bit.state for bit in bits.values())  # each holds the smaller ones
    conditions = [f"saves({state:#x})"] if state else []
    conditions += [
        f"has({leaf:#x}, {subleaf}, '{register}', {mask:#x})"
        for (leaf, subleaf, register), mask in words.items()
    ]
    return CPU_CHECK.substitute(features=", ".join(sorted(bits)), conditions=" && ".join(conditions))


def capabilities(cpu: Processor) -> dict[str, int]:
    """What code may use that Linux says of a processor, and the bits that say it."""
    if not cpu.triple:
        return {}
    return {name: bit for name, bit in ARCHITECTURES[cpu.arch].capabilities.items() if name in cpu.enabled}


def cpu_include(cpu: Processor) -> str:
    """What the check includes."""
    if capabilities(cpu):
        return "#include <sys/auxv.h>\n"
    return "#include <cpuid.h>\n" if cpu.checked else ""


def needs_text(cpu: Processor) -> str:
    """What the code needs, in words."""
    asked = sorted({*cpu.checked, *capabilities(cpu)})
    system = cpu.triple or f"{cpu.arch}, Linux"
    features = f"a processor with {', '.join(asked)}" if asked else "any processor of this architecture"
    threads = (
        "and, where it shares loops among threads, LLVM's OpenMP runtime" if cpu.openmp else "and no OpenMP"
    )
    return f"{system}; {features}; libc, libm {threads}"
