"""Symbolic sizes as C: their arithmetic on `int64_t`, one operation after another, which notices what has no value there.

Also C's string literals, in which placeholders stand for numbers that `printf` fills in.
"""

from __future__ import annotations

import math
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
static inline int64_t whole(double a) { const int fits = fabs(a) < 0x1p63; overflow |= !fits; return fits ? (int64_t)a : 0; }
"""
"""The functions of `OPERATIONS`; `overflow` is whether a size did not fit since it was last cleared."""

OPERATIONS = {
    "addi": "sum({0}, {1})",
    "subi": "difference({0}, {1})",
    "muli": "product({0}, {1})",
    "divsi": "quotient({0}, {1})",
    "andi": "{0} & {1}",
    "ori": "{0} | {1}",
    "xori": "{0} ^ {1}",
    "shli": "(int64_t){0} << {1}",
    "maxsi": "{0} > {1} ? {0} : {1}",
    "minsi": "{0} < {1} ? {0} : {1}",
    "maxui": "{0} | {1}",
    "minui": "{0} & {1}",
}
"""Operations of `lowering.sizes` in C; the unsigned ones, which are of conditions, as logic on 1 and 0."""

REAL_OPERATIONS = {
    "addf": "{0} + {1}",
    "subf": "{0} - {1}",
    "mulf": "{0} * {1}",
    "divf": "{0} / {1}",
    "remf": "fmod({0}, {1})",
    "powf": "pow({0}, {1})",
}
"""The same of `double`."""

PREDICATES = {
    "eq": "==",
    "ne": "!=",
    "slt": "<",
    "sle": "<=",
    "sgt": ">",
    "sge": ">=",
    "oeq": "==",
    "une": "!=",
    "olt": "<",
    "ole": "<=",
    "ogt": ">",
    "oge": ">=",
}


NOT_FINITE = {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}
"""Numbers that have no digits."""


class SizesInC:
    """Writes the statements that compute sizes in a C function, each operation once."""

    def __init__(self, symbols: Mapping[str, str]):
        self.symbols = symbols
        """C's names of the program's symbols."""
        self.known: dict[str, str] = {}
        """Names of what was computed, by its text."""
        self.reals: set[str] = set()
        """Those of numbers with fractions."""
        self.written = 0
        """How many of them stand in statements already."""

    def __call__(self, size: Dim) -> str:
        """A size: a number, or the name of what holds it."""
        return compute(size, self)

    def new_statements(self) -> list[str]:
        """The statements of what was computed since this was last called. What is `volatile` no compiler fuses, which would round otherwise."""
        new = list(self.known.items())[self.written :]
        self.written += len(new)
        return [
            f"  const {'volatile double' if name in self.reals else 'int64_t'} {name} = {text};"
            for text, name in new
        ]

    def number(self, value: int) -> str:
        return str(value)

    def real(self, value: float) -> str:
        return self.let_real(value.hex() if math.isfinite(value) else NOT_FINITE[str(value)])

    def symbol(self, name: str) -> str:
        return self.symbols[name]

    def binary(self, name: str, a: str, b: str) -> str:
        if name in REAL_OPERATIONS:
            return self.let_real(REAL_OPERATIONS[name].format(a, b))
        return self.let(OPERATIONS[name].format(a, b))

    def as_real(self, a: str) -> str:
        return self.let_real(f"(double){a}")

    def truncated(self, a: str) -> str:
        return self.let(f"whole({a})")

    def root(self, a: str) -> str:
        return self.let_real(f"sqrt({a})")

    def choose(self, predicate: str, a: str, b: str, yes: str, no: str) -> str:
        let = self.let_real if yes in self.reals else self.let
        return let(f"{a} {PREDICATES[predicate]} {b} ? {yes} : {no}")

    def let(self, text: str) -> str:
        """The name of a value."""
        return self.known.setdefault(text, f"z{len(self.known)}")

    def let_real(self, text: str) -> str:
        """The same of a number with a fraction."""
        name = self.let(text)
        self.reals.add(name)
        return name


def c_string(text: str) -> str:
    """A text as a format of `printf`, in which each placeholder is a `long long`."""
    return f'"{"%lld".join(map(_escaped, text.split(PLACEHOLDER)))}"'


def _escaped(text: str) -> str:
    return "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.replace("%", "%%").encode()
    )
