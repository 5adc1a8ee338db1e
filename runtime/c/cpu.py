"""Whether a processor can run a C library, in C: asked of `cpuid`, feature by feature, as compilers differ in the names they know."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from xdsl_exir.targets.cpu.architectures import ARCHITECTURES
from xdsl_exir.targets.cpu.machine import ARCH_PRCTL, REQUEST_STATE, TILE_DATA, Processor

# What `cpuid` says of each leaf, and XCR0: what the system saves of registers. Leaves that a processor does not have say
# nothing; so does XCR0 where the system does not say it, by bit 27 of leaf 1's ecx.
CPUID = """\
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

"""

PERMITTED = f"""\
/* Linux lets those use registers of tiles who ask for them: ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA. */
extern long syscall(long number, ...);
static inline bool permitted(void) {{ return syscall({ARCH_PRCTL}L, {REQUEST_STATE:#x}L, {TILE_DATA}L) == 0; }}

"""

USABLE = Template("""\
/* Whether this processor has $features, and the system saves the registers. */
static bool $usable(void) { return $conditions; }
""")

CHOOSE = Template("""
/* Which of them this processor is, the last that it can be; -1 for none. Found out when the library is loaded, before others ask. */
static int processor = -1;
__attribute__((constructor(101))) static void choose_processor(void) {
  processor = $choices;
}
static bool usable(void) { return processor >= 0; }
""")


def cpu_check(cpus: Sequence[Processor]) -> str:
    """C that says whether the processor has all that the code may use; of several processors, which of them it is."""
    helpers = CPUID if any(cpu.checked for cpu in cpus) else ""
    helpers += PERMITTED if any("amx-tile" in cpu.checked for cpu in cpus) else ""
    if len(cpus) == 1:
        return helpers + _usable(cpus[0], "usable")
    numbers = range(len(cpus))
    choices = "".join(f"usable_{index}() ? {index} : " for index in reversed(numbers)) + "-1"
    checks = "".join(_usable(cpus[index], f"usable_{index}") for index in numbers)
    return helpers + checks + CHOOSE.substitute(choices=choices)


def _usable(cpu: Processor, name: str) -> str:
    """The function that says whether this processor has all that code for one may use."""
    bits = cpu.checked
    if asked := capabilities(cpu):
        mask = sum(1 << bit for bit in asked.values())
        return f"""\
/* Whether this processor has {", ".join(asked)}: getauxval(3). */
static bool {name}(void) {{ return (getauxval(AT_HWCAP) & {mask:#x}) == {mask:#x}; }}
"""
    if not bits:
        return f"static bool {name}(void) {{ return true; }}\n"
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
    conditions += ["permitted()"] if "amx-tile" in bits else []
    return USABLE.substitute(
        usable=name, features=", ".join(sorted(bits)), conditions=" && ".join(conditions)
    )


def capabilities(cpu: Processor) -> dict[str, int]:
    """What code may use that Linux says of a processor, and the bits that say it."""
    if not cpu.triple:
        return {}
    return {name: bit for name, bit in ARCHITECTURES[cpu.arch].capabilities.items() if name in cpu.enabled}


def cpu_include(cpus: Sequence[Processor]) -> str:
    """What the check includes."""
    if any(map(capabilities, cpus)):
        return "#include <sys/auxv.h>\n"
    return "#include <cpuid.h>\n" if any(cpu.checked for cpu in cpus) else ""


def needs_text(cpus: Sequence[Processor]) -> str:
    """What the code needs, in words."""
    first, *others = cpus
    asked = sorted({*first.checked, *capabilities(first)})
    system = first.triple or f"{first.arch}, Linux"
    features = f"a processor with {', '.join(asked)}" if asked else "any processor of this architecture"
    if others:
        better = " or ".join(f"{cpu.name} ({', '.join(sorted(cpu.checked))})" for cpu in others)
        features += f"; where it finds {better}, it uses that"
    threads = (
        "and, where it shares loops among threads, LLVM's OpenMP runtime" if first.openmp else "and no OpenMP"
    )
    return f"{system}; {features}; libc, libm {threads}"
