"""Random drivers before and after their memory is planned, and with plans that were changed: `python test/plans.py --count 1000`.

A driver allocates, sees and uses memory in branches and loops, some of it of symbolic size. It is run here step by step, with memory of its
own for each allocation, then with the arenas of `plan-memory`, all of them full of other numbers at first: what it reads has to be the same. Then one
part after the other is moved: what `verify-memory` lets pass has to read the same, too, and 100 plans and more have to be refused. Exit
code 1 where that is not so.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, ModuleOp, f32
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.parser import Parser

from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.errors import VerificationError
from xdsl_exir.lowering.arithmetic import SYMBOLS, SizesOf
from xdsl_exir.lowering.driver import BYTES, TYPICAL
from xdsl_exir.lowering.kernel import Kernel
from xdsl_exir.lowering.plan_memory import OFFSET, PLANNERS, drivers_of, symbols_of
from xdsl_exir.lowering.pools import arenas_of
from xdsl_exir.lowering.verify_memory import compute
from xdsl_exir.program import context
from xdsl_exir.targets.cpu.compile import PlanDrivers, VerifyDrivers

Array = np.ndarray[Any, np.dtype[np.float32]]

# --- kernels -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Elements(Kernel):
    """A kernel of so many operands, which it reads element by element; or, if it `turns` them, from the end."""

    count: int
    size: Dim
    turns: bool = False

    @property
    def types(self) -> Mapping[str, MemRefType[Any]]:
        size = self.size if isinstance(self.size, int) else DYNAMIC_INDEX
        names = [*(f"in{number}" for number in range(self.count)), "out"]
        return {name: MemRefType(f32, [size]) for name in names}

    @property
    def in_place(self) -> list[str]:
        return [] if self.turns else [f"in{number}" for number in range(self.count)]

    def function(self, name: str, public: bool = False) -> FuncOp:
        raise NotImplementedError("nobody compiles it")

    @property
    def name(self) -> str:
        size = str(self.size) if isinstance(self.size, int) else f"s{str(self.size).partition(' ')[0]}"
        return f"{'turned' if self.turns else 'elements'}_{self.count}_{size}"

    def run(self, arrays: Sequence[Array]) -> None:
        """Computes some elements after the other, so that what it writes in place is seen where it reads it afterwards."""
        *given, out = arrays
        seen = [x[::-1] if self.turns else x for x in given]
        for at in range(0, len(out), LANES):
            total = sum((x[at : at + LANES] for x in seen), np.float32(1.0))
            out[at : at + LANES] = total * np.float32(0.5)


LANES = 8


# --- programs ------------------------------------------------------------------------------------------------

STATIC, FACTORS = (4, 16, 24, 90), (1, 3)
S0 = Expr.symbol("s0")
SIZES: tuple[Dim, ...] = (*STATIC, *(factor * S0 for factor in FACTORS))
KERNELS = {
    kernel.name: kernel
    for size in SIZES
    for count in (1, 2)
    for turns in (False, True)
    for kernel in [Elements(count, size, turns)]
}


class Writer:
    """Writes a driver: memory is written as soon as it is allocated."""

    def __init__(self, seed: int):
        self.draw, self.names = Random(seed), 0

    def fresh(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def text(self) -> str:
        body = "\n".join(self.block([], 2))
        head = f'func.func @f(%s0: index, %c: i1, %n: index) attributes {{{SYMBOLS} = ["s0"]}}'
        zero = "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n%three = arith.constant 3 : index"
        return f"{head} {{\n{zero}\n%wide = arith.muli %s0, %three : index\n{body}\nfunc.return\n}}"

    def block(self, known: list[tuple[str, Dim]], depth: int) -> list[str]:
        lines, known = list[str](), list(known)
        for _ in range(self.draw.randint(2, 7)):
            kind = self.draw.choice(
                ["new", "new", "kernel", "kernel", "kernel", "view", "read", "write", "for", "if", "while"]
            )
            if kind in ("for", "if", "while"):
                lines += self.region(kind, known, depth) if depth else []
            elif kind == "new" or not known:
                lines += self.new(known, self.draw.choice(SIZES), [])
            elif kind == "kernel":
                size = self.draw.choice(known)[1]
                alike = [name for name, other in known if other == size]
                lines += self.new(known, size, self.draw.choices(alike, k=self.draw.randint(1, 2)))
            elif kind == "view":
                (source, size), name = self.draw.choice(known), self.fresh()
                lines.append(
                    f"{name} = memref.reinterpret_cast {source} to offset: [0], sizes: [{whole(size)}], strides: [1] : {typed(size)} to {typed(size)}"
                )
                known.append((name, size))
            else:
                name, size = self.draw.choice(known)
                lines.append(f'"test.{kind}"({name}) : ({typed(size)}) -> ()')
        return lines

    def new(self, known: list[tuple[str, Dim]], size: Dim, given: Sequence[str]) -> list[str]:
        """Memory of a size, and what writes it: a kernel of what is given, or numbers of its own."""
        name = self.fresh()
        known.append((name, size))
        if isinstance(size, int):
            line = f"{name} = memref.alloc() : {typed(size)}"
        else:
            nbytes = 4 * size
            assert isinstance(nbytes, Expr)
            attributes = f'{BYTES} = "{nbytes}", {TYPICAL} = {nbytes.evaluate({"s0": 64})} : i64'
            line = f"{name} = memref.alloc({whole(size)}) {{{attributes}}} : {typed(size)}"
        if not given:
            return [line, f'"test.write"({name}) : ({typed(size)}) -> ()']
        kernel = Elements(len(given), size, self.draw.random() < 0.2)
        symbols = [] if isinstance(size, int) else ["%s0"]
        types = ", ".join([*["index"] * len(symbols), *[typed(size)] * (len(given) + 1)])
        return [line, f"func.call @{kernel.name}({', '.join([*symbols, *given, name])}) : ({types}) -> ()"]

    def region(self, kind: str, known: list[tuple[str, Dim]], depth: int) -> list[str]:
        first, second = (self.block(known, depth - 1) for _ in range(2))
        if kind == "for":
            return [f"scf.for {self.fresh()} = %zero to %n step %one {{", *first, "}"]
        if kind == "if":
            return ["scf.if %c {", *first, "} else {", *second, "}"]
        return [
            '"scf.while"() ({',
            *first,
            "scf.condition(%c)",
            "}, {",
            *second,
            "scf.yield",
            "}) : () -> ()",
        ]


def typed(size: Dim) -> str:
    return f"memref<{size if isinstance(size, int) else '?'}xf32>"


def whole(size: Dim) -> str:
    """A size, as an operand or a number."""
    return str(size) if isinstance(size, int) else "%s0" if size == S0 else "%wide"


def parsed(text: str) -> ModuleOp:
    ctx = context().clone()  # it is everybody's
    ctx.allow_unregistered = True
    return Parser(ctx, text).parse_module()


# --- running them --------------------------------------------------------------------------------------------


class Run:
    """One run of a driver: what it read, in order."""

    def __init__(self, function: FuncOp, s0: int, taken: bool, turns: int, noise: int):
        self.read: list[bytes] = []
        self.turns, self.noise, self.writes = turns, np.random.default_rng(noise), 0
        known: dict[SSAValue, Any] = dict(zip(function.args, (s0, int(taken), turns), strict=False))
        self.values = known
        if any(isinstance(op, memref.ViewOp) for op in function.walk()):
            for arena in arenas_of(function):
                total = arena.nbytes
                nbytes = int(total.evaluate({"s0": s0})) if isinstance(total, Expr) else total
                self.values[arena.argument] = self.noise.integers(0, 200, max(nbytes, 1), np.uint8)
        self.block(function.body.block)

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.operation(op)

    def operation(self, op: Operation) -> None:
        match op:
            case memref.AllocOp():
                count = self.count(op.memref.type, op.dynamic_sizes)
                self.values[op.memref] = self.noise.random(count).astype(np.float32)
            case memref.ViewOp():
                start = self.values[op.byte_shift]
                count = self.count(op.result.type, op.sizes)
                self.values[op.result] = self.values[op.source][start : start + 4 * count].view(np.float32)
            case memref.ReinterpretCastOp():
                self.values[op.results[0]] = self.values[op.operands[0]]
            case CallOp():
                arrays = [
                    array for value in op.operands if isinstance(array := self.values[value], np.ndarray)
                ]
                KERNELS[op.callee.string_value()].run(arrays)
            case scf.ForOp():
                for _ in range(self.turns):
                    self.block(op.body.block)
            case scf.IfOp():
                self.block((op.true_region if self.values[op.cond] else op.false_region).block)
            case scf.WhileOp():
                for _ in range(self.turns):
                    self.block(op.before_region.block)
                    self.block(op.after_region.block)
                self.block(op.before_region.block)
            case arith.ConstantOp(value=IntegerAttr(value=number)):
                self.values[op.result] = number.data
            case _ if op.results:
                self.values[op.results[0]] = compute(op, [self.values[operand] for operand in op.operands])
            case _ if op.operands and isinstance(array := self.values[op.operands[0]], np.ndarray):
                self.use(str(op.attributes.get("op_name__", op.name)), array)
            case _:
                pass

    def use(self, name: str, array: Array) -> None:
        if "write" in name:
            self.writes += 1
            array[:] = np.arange(len(array)) + 1000 * self.writes
        else:
            self.read.append(array.tobytes())

    def count(self, type: MemRefType[Any], sizes: Sequence[SSAValue]) -> int:
        return self.values[sizes[0]] if sizes else type.get_shape()[0]


CALLS = ((5, True, 2), (1, False, 1), (40, True, 1))
"""Values of the symbol, whether branches are taken, turns of loops."""


def reads(module: ModuleOp) -> list[list[bytes]]:
    """What a driver reads, call by call."""
    [function] = drivers_of(module)
    return [Run(function, *call, noise=number).read for number, call in enumerate(CALLS)]


def runs_as(module: ModuleOp, expected: list[list[bytes]]) -> bool:
    """Whether a driver reads what is expected; one whose parts reach beyond an arena does not."""
    try:
        return reads(module) == expected
    except (IndexError, ValueError):
        return False


def planned(program: ModuleOp, planner: str = "best") -> ModuleOp:
    """A copy of a program, its memory planned."""
    module = program.clone()
    PlanDrivers(known=KERNELS.get, planner=planner).apply(context(), module)
    return module


def accepts(module: ModuleOp) -> bool:
    """Whether `verify-memory` lets a plan pass."""
    try:
        VerifyDrivers(known=KERNELS.get).apply(context(), module)
    except VerificationError:
        return False
    return True


def parts(module: ModuleOp) -> list[memref.ViewOp]:
    return [op for op in module.walk() if isinstance(op, memref.ViewOp)]


def move(module: ModuleOp, part: memref.ViewOp, other: memref.ViewOp) -> None:
    """Puts a part where another one is."""
    [function] = drivers_of(module)
    offset = other.attributes.get(OFFSET)
    part.attributes.pop(OFFSET, None)
    if offset is not None:
        part.attributes[OFFSET] = offset
        known = Expr.parse(offset.data)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
    else:
        shift = other.byte_shift.owner
        assert isinstance(shift, arith.ConstantOp)
        assert isinstance(shift.value, IntegerAttr)
        known = shift.value.value.data
    part.operands[1] = SizesOf(function.body.block, symbols_of(function)).index(known)


def shared(module: ModuleOp) -> int:
    """Kernels that write where they read."""
    count = 0
    for op in module.walk():
        if isinstance(op, CallOp):
            arenas = [at for value in op.operands if (at := place(value)) is not None]
            count += bool(arenas) and arenas[-1] in arenas[:-1]
    return count


def place(value: SSAValue) -> SSAValue | None:
    while isinstance(value.owner, memref.ReinterpretCastOp):
        value = value.owner.operands[0]
    return value.owner.byte_shift if isinstance(value.owner, memref.ViewOp) else None


def check(seed: int, report: Callable[[str], None]) -> Counter[str]:
    """Plans one program in two ways, then moves its parts. Says what is wrong, and counts."""
    program, counts = parsed(Writer(seed).text()), Counter[str](programs=1)
    expected = reads(program)
    others = [name for name in PLANNERS if name != "best"]
    for planner in ("best", others[seed % len(others)]):
        module = planned(program, planner)
        counts["in place"] += shared(module) if planner == "best" else 0
        if not accepts(module):
            report(f"seed {seed}: the plan of {planner} is refused")
        if reads(module) != expected:
            report(f"seed {seed}: by the plan of {planner} something else is read")
    draw, whole = Random(seed), planned(program)
    count = len(parts(whole))
    for _ in range(min(4, count * (count - 1))):
        module = whole.clone()
        part, other = draw.sample(parts(module), 2)
        move(module, part, other)
        accepted = accepts(module)
        counts["moved, accepted" if accepted else "moved, refused"] += 1
        right = runs_as(module, expected)
        counts["moved, refused, wrong"] += not accepted and not right
        if accepted and not right:
            report(f"seed {seed}: {part} moved onto {other} is accepted, and something else is read")
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    wrong: list[str] = []
    counts = sum(
        (check(seed, wrong.append) for seed in range(given.seed, given.seed + given.count)), Counter[str]()
    )
    print("\n".join(wrong[:20]))
    print(", ".join(f"{count} {what}" for what, count in counts.items()), f"{len(wrong)} wrong", sep=", ")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
