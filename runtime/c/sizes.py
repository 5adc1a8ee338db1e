"""Symbolic sizes as C: their arithmetic on `int64_t`, one operation after another, which notices what has no value there.

Also C's string literals, in which placeholders stand for numbers that `printf` fills in.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.lowering.sizes import compute

PLACEHOLDER = "\0"
"""Stands for a number in a text: see `c_string`."""

HELPERS = """\
static inline int64_t sum(int64_t a, int64_t b) { int64_t r; overflow |= __builtin_add_overflow(a, b, &r); return r; }
static inline int64_t difference(int64_t a, int64_t b) { int64_t r; overflow |= __builtin_sub_overflow(a, b, &r); return r; }
static inline int64_t product(int64_t a, int64_t b) { int64_t r; overflow |= __builtin_mul_overflow(a, b, &r); return r; }
static inline int64_t quotient(int64_t a, int64_t b) { return b == -1 ? difference(0, a) : a / b; }
"""
"""The functions of `OPERATIONS`; `overflow` is whether a size did not fit since it was last cleared."""

OPERATIONS = {
    "addi": "sum({0}, {1})",
    "subi": "difference({0}, {1})",
    "muli": "product({0}, {1})",
    "divsi": "quotient({0}, {1})",
    "xori": "{0} ^ {1}",
    "maxsi": "{0} > {1} ? {0} : {1}",
    "minsi": "{0} < {1} ? {0} : {1}",
    "maxui": "{0} | {1}",
    "minui": "{0} & {1}",
}
"""Operations of `lowering.sizes` in C; the unsigned ones, which are of conditions, as logic on 1 and 0."""

PREDICATES = {"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">="}


class SizesInC:
    """Writes the statements that compute sizes in a C function, each operation once."""

    def __init__(self, symbols: Mapping[str, str]):
        self.symbols = symbols
        """C's names of the program's symbols."""
        self.known: dict[str, str] = {}
        """Names of what was computed, by its text."""
        self.written = 0
        """How many of them stand in statements already."""

    def __call__(self, size: Dim) -> str:
        """A size: a number, or the name of what holds it."""
        return compute(size, self)

    def new_statements(self) -> list[str]:
        """The statements of what was computed since this was last called."""
        new = list(self.known.items())[self.written :]
        self.written += len(new)
        return [f"  const int64_t {name} = {text};" for text, name in new]

    def number(self, value: int) -> str:
        return str(value)

    def symbol(self, name: str) -> str:
        return self.symbols[name]

    def binary(self, name: str, a: str, b: str) -> str:
        return self.let(OPERATIONS[name].format(a, b))

    def scaled(self, a: str, factor: float) -> str:
        return self.let(f"(int64_t)((double){a} * {factor.hex()})")

    def choose(self, predicate: str, a: str, b: str, yes: str, no: str) -> str:
        return self.let(f"{a} {PREDICATES[predicate]} {b} ? {yes} : {no}")

    def let(self, text: str) -> str:
        """The name of a value."""
        return self.known.setdefault(text, f"z{len(self.known)}")


def c_string(text: str) -> str:
    """A text as a format of `printf`, in which each placeholder is a `long long`."""
    return f'"{"%lld".join(map(_escaped, text.split(PLACEHOLDER)))}"'


def _escaped(text: str) -> str:
    return "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.replace("%", "%%").encode()
    )
