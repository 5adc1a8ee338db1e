"""What LLVM's code may call that no library on the system has to have: functions of our own, in LLVM IR.

LLVM calls compiler-rt's functions for what a processor has no instructions for: conversions of half and bfloat16, division
of 128-bit integers, integer powers. Those are here, in integer and float32 arithmetic; libm, libc and OpenMP have the rest.
The text is for code generation without the optimiser: that would make, of some, calls of themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

_TO_HALF = """
define half @__truncsfhf2(float %x) {
  %bits = bitcast float %x to i32
  %all = and i32 %bits, 2147483647
  %top = lshr i32 %bits, 16
  %sign = and i32 %top, 32768
  ; Normal: round to 10 bits, to even, and move the exponent.
  %last = lshr i32 %all, 13
  %odd = and i32 %last, 1
  %up = add i32 %all, 4095
  %rounded = add i32 %up, %odd
  %moved = sub i32 %rounded, 939524096
  %normal = lshr i32 %moved, 13
  ; Below 2^-14: in 0.5 + x the last bit is worth 2^-24, as in a denormal half.
  %positive = bitcast i32 %all to float
  %sum = fadd float %positive, 5.000000e-01
  %sumbits = bitcast float %sum to i32
  %denormal = sub i32 %sumbits, 1056964608
  %issmall = icmp ult i32 %all, 947912704
  %finite = select i1 %issmall, i32 %denormal, i32 %normal
  ; From 65520 on infinite; NaN stays NaN, and quiet.
  %isbig = icmp uge i32 %all, 1199566848
  %bounded = select i1 %isbig, i32 31744, i32 %finite
  %payload = and i32 %last, 1023
  %quiet = or i32 %payload, 32256
  %isnan = icmp ugt i32 %all, 2139095040
  %number = select i1 %isnan, i32 %quiet, i32 %bounded
  %signed = or i32 %number, %sign
  %short = trunc i32 %signed to i16
  %y = bitcast i16 %short to half
  ret half %y
}
"""
_FROM_HALF = """
define float @__extendhfsf2(half %x) {
  %short = bitcast half %x to i16
  %bits = zext i16 %short to i32
  %all = and i32 %bits, 32767
  %signbit = and i32 %bits, 32768
  %sign = shl i32 %signbit, 16
  %wide = shl i32 %all, 13
  %normal = add i32 %wide, 939524096
  %isspecial = icmp uge i32 %all, 31744
  %special = or i32 %wide, 2139095040
  %large = select i1 %isspecial, i32 %special, i32 %normal
  ; A denormal is so many times 2^-24.
  %count = sitofp i32 %all to float
  %scaled = fmul float %count, 0x3E70000000000000
  %denormal = bitcast float %scaled to i32
  %issmall = icmp ult i32 %all, 1024
  %number = select i1 %issmall, i32 %denormal, i32 %large
  %signed = or i32 %number, %sign
  %y = bitcast i32 %signed to float
  ret float %y
}
"""

_BFLOAT = """
define bfloat @__truncsfbf2(float %x) {
  %bits = bitcast float %x to i32
  %top = lshr i32 %bits, 16
  %odd = and i32 %top, 1
  %up = add i32 %bits, 32767
  %sum = add i32 %up, %odd
  %rounded = lshr i32 %sum, 16
  %quiet = or i32 %top, 64
  %isnan = fcmp uno float %x, %x
  %number = select i1 %isnan, i32 %quiet, i32 %rounded
  %short = trunc i32 %number to i16
  %y = bitcast i16 %short to bfloat
  ret bfloat %y
}
"""

# Rounded once: float32 is rounded towards zero, and made odd where that is not exact, which later roundings see (Boldo and
# Melquiond, 2008, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd").
_FROM_DOUBLE = """
define {type} @__truncdf{suffix}2(double %x) {{
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %isexact = fcmp ueq double %back, %x
  %bits = bitcast float %near to i32
  %magnitude = call double @llvm.fabs.f64(double %x)
  %found = call double @llvm.fabs.f64(double %back)
  %isover = fcmp ogt double %found, %magnitude
  %less = sub i32 %bits, 1
  %towardszero = select i1 %isover, i32 %less, i32 %bits
  %odd = or i32 %towardszero, 1
  %chosen = select i1 %isexact, i32 %bits, i32 %odd
  %single = bitcast i32 %chosen to float
  %y = call {type} @__truncsf{suffix}2(float %single)
  ret {type} %y
}}
"""

# LLVM writes out the arithmetic of integers wider than 128 bits.
_DIVISION = """
define i128 @__{name}ti3(i128 %a, i128 %b) {{
  %wide.a = {extend} i128 %a to i256
  %wide.b = {extend} i128 %b to i256
  %wide = {instruction} i256 %wide.a, %wide.b
  %y = trunc i256 %wide to i128
  ret i128 %y
}}
"""
_FROM_INTEGER = """
define {type} @__float{un}ti{suffix}(i128 %a) {{
  %wide = {extend} i128 %a to i256
  %y = {instruction} i256 %wide to {type}
  ret {type} %y
}}
"""
_TO_INTEGER = """
define i128 @__fix{uns}{suffix}ti({type} %x) {{
  %wide = {instruction} {type} %x to i256
  %y = trunc i256 %wide to i128
  ret i128 %y
}}
"""

# Halves that are finite, and integers below the greatest half, are float32 without rounding.
_HALF_FROM_INTEGER = """
define half @__float{un}tihf(i128 %a) {{
  %single = call float @__float{un}tisf(i128 %a)
  %y = call half @__truncsfhf2(float %single)
  ret half %y
}}
"""
_HALF_TO_INTEGER = """
define i128 @__fix{uns}hfti(half %x) {{
  %single = call float @__extendhfsf2(half %x)
  %y = call i128 @__fix{uns}sfti(float %single)
  ret i128 %y
}}
"""

# The products of the squares that the exponent's bits name; of a negative exponent the reciprocal.
_POWER = """
define {type} @__powi{suffix}2({type} %x, i32 %n) {{
entry:
  br label %loop
loop:
  %square = phi {type} [ %x, %entry ], [ %next.square, %loop ]
  %rest = phi i32 [ %n, %entry ], [ %next.rest, %loop ]
  %product = phi {type} [ 1.0, %entry ], [ %next.product, %loop ]
  %isodd = trunc i32 %rest to i1
  %times = fmul {type} %product, %square
  %next.product = select i1 %isodd, {type} %times, {type} %product
  %next.square = fmul {type} %square, %square
  %next.rest = sdiv i32 %rest, 2
  %isdone = icmp eq i32 %next.rest, 0
  br i1 %isdone, label %end, label %loop
end:
  %inverse = fdiv {type} 1.0, %next.product
  %isnegative = icmp slt i32 %n, 0
  %y = select i1 %isnegative, {type} %inverse, {type} %next.product
  ret {type} %y
}}
"""

_FLOATS = {"sf": "float", "df": "double"}
_DIVISIONS = {
    "div": ("sext", "sdiv"),
    "mod": ("sext", "srem"),
    "udiv": ("zext", "udiv"),
    "umod": ("zext", "urem"),
}


@dataclass(frozen=True)
class Function:
    """A function of our own."""

    name: str
    types: frozenset[str]
    """What it works on that not all architectures have arithmetic of."""
    llvm_ir: str


def _functions() -> Iterator[Function]:
    def of(name: str, types: str, template: str, /, **values: str) -> Function:
        text = template.format(**values) if values else template
        return Function(name, frozenset(types.split()), text)

    yield of("__truncsfhf2", "half", _TO_HALF)
    yield of("__extendhfsf2", "half", _FROM_HALF)
    yield of("__truncsfbf2", "bfloat", _BFLOAT)
    for suffix, type in {"hf": "half", "bf": "bfloat"}.items():
        yield of(f"__truncdf{suffix}2", f"{type} double", _FROM_DOUBLE, suffix=suffix, type=type)
    for name, (extend, instruction) in _DIVISIONS.items():
        yield of(f"__{name}ti3", "i128", _DIVISION, name=name, extend=extend, instruction=instruction)
    for suffix, type in _FLOATS.items():
        yield of(f"__powi{suffix}2", type, _POWER, suffix=suffix, type=type)
        for un, extend, instruction in (("", "sext", "sitofp"), ("un", "zext", "uitofp")):
            values = {"un": un, "suffix": suffix, "type": type, "extend": extend, "instruction": instruction}
            yield of(f"__float{un}ti{suffix}", f"i128 {type}", _FROM_INTEGER, **values)
        for uns, instruction in (("", "fptosi"), ("uns", "fptoui")):
            values = {"uns": uns, "suffix": suffix, "type": type, "instruction": instruction}
            yield of(f"__fix{uns}{suffix}ti", f"i128 {type}", _TO_INTEGER, **values)
    for un, uns in (("", ""), ("un", "uns")):
        yield of(f"__float{un}tihf", "i128 half", _HALF_FROM_INTEGER, un=un)
        yield of(f"__fix{uns}hfti", "i128 half", _HALF_TO_INTEGER, uns=uns)


FUNCTIONS = tuple(_functions())
NAMES = frozenset(function.name for function in FUNCTIONS)


def llvm_ir(lacked: Collection[str] = ()) -> str:
    """A module of the functions, without those that work on some types."""
    kept = (function.llvm_ir for function in FUNCTIONS if not function.types & set(lacked))
    return "".join(("declare double @llvm.fabs.f64(double)\n", *kept))
