"""Memory of native programs: planners, their plan as IR, and the proof that it is right, which refuses plans that are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from plans import check
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.errors import ExirError, VerificationError
from xdsl_exir.lowering.arithmetic import SizesOf
from xdsl_exir.lowering.driver import BYTES, SYMBOLS, TYPICAL
from xdsl_exir.lowering.plan_memory import (
    OFFSET,
    PLANNERS,
    Buffer,
    arena_bytes,
    arena_bytes_of,
    buffers_of,
    drivers_of,
    plan_buffers,
    symbols_of,
)
from xdsl_exir.lowering.verify_memory import Trials, at_most
from xdsl_exir.program import context
from xdsl_exir.targets.cpu.passes import PlanMemory, VerifyMemory

# --- planners ------------------------------------------------------------------------------------------------

lifetimes = st.tuples(st.integers(1, 500), st.integers(0, 12), st.integers(0, 6))


def number(size: Dim, values: dict[str, int]) -> int:
    return int(size.evaluate(values)) if isinstance(size, Expr) else size


def assert_apart(offsets: dict[Buffer, Dim], total: Dim, values: dict[str, int]) -> None:
    """Buffers that live at the same time do not overlap, and all lie within the total, for values of the symbols."""
    places = [
        (number(at, values), number(at + buffer.nbytes, values), buffer) for buffer, at in offsets.items()
    ]
    assert all(start % 64 == 0 and end <= number(total, values) for start, end, _ in places)
    for index, (start, end, a) in enumerate(places):
        for other_start, other_end, b in places[:index]:
            if a.first <= b.last and b.first <= a.last:
                assert end <= other_start or other_end <= start


def peak_bytes(buffers: Sequence[Buffer]) -> int:
    """The most bytes that are needed at a time, of typical sizes: no arena is smaller."""
    changes: dict[int, int] = {}
    for buffer in buffers:
        changes[buffer.first] = changes.get(buffer.first, 0) + buffer.typical
        changes[buffer.last + 1] = changes.get(buffer.last + 1, 0) - buffer.typical
    live = peak = 0
    for position in sorted(changes):
        live += changes[position]
        peak = max(peak, live)
    return peak


@pytest.mark.parametrize("planner", PLANNERS)
@given(given=st.lists(lifetimes, max_size=25))
def test_live_buffers_never_overlap(planner: str, given: list[tuple[int, int, int]]) -> None:
    buffers = [Buffer(nbytes, first, first + length, nbytes) for nbytes, first, length in given]
    offsets, total = plan_buffers(buffers, PLANNERS[planner])
    assert_apart(offsets, total, {})
    assert number(total, {}) >= peak_bytes(buffers)


@given(given=st.lists(lifetimes, max_size=25))
def test_the_best_of_planners_is_the_best(given: list[tuple[int, int, int]]) -> None:
    buffers = [Buffer(nbytes, first, first + length, nbytes) for nbytes, first, length in given]
    sizes = {name: arena_bytes(buffers, plan(buffers)) for name, plan in PLANNERS.items()}
    assert sizes["best"] == min(sizes.values())


@pytest.mark.parametrize(
    ("element", "nbytes"), [("f32", 4), ("i8", 1), ("complex<f32>", 8), ("complex<f64>", 16)]
)
def test_bytes_of_elements(element: str, nbytes: int) -> None:
    type = f"memref<3x5x{element}>"
    text = f'func.func @main() {{ %0 = memref.alloc() : {type} "test.use"(%0) : ({type}) -> () func.return }}'
    function = parsed(text).body.block.first_op
    assert isinstance(function, FuncOp)
    assert [buffer.nbytes for buffer in buffers_of(function).values()] == [15 * nbytes]


def bytes_of(factor: int, extra: int) -> Dim:
    return factor * Expr.symbol("s0") + extra


nbytes = st.builds(bytes_of, st.integers(0, 300), st.integers(1, 300))


@given(given=st.lists(st.tuples(nbytes, st.integers(0, 12), st.integers(0, 6)), max_size=12))
def test_live_buffers_of_symbolic_sizes_never_overlap(given: list[tuple[Dim, int, int]]) -> None:
    buffers = [Buffer(size, first, first + length, number(size, {"s0": 64})) for size, first, length in given]
    offsets, total = plan_buffers(buffers, PLANNERS["best"])
    for value in (0, 1, 2, 7, 64, 1000):
        assert_apart(offsets, total, {"s0": value})


# --- plans of functions --------------------------------------------------------------------------------------


PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Without shrinking, which takes longer than reading what failed."""


SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Functions that allocate, see and use memory, in branches and loops, some of it of symbolic size."""
    count = 0

    def fresh() -> str:
        nonlocal count
        count += 1
        return f"%v{count}"

    def block(known: list[tuple[str, str]], depth: int, indent: str) -> list[str]:
        lines: list[str] = []
        known = list(known)
        for _ in range(draw(st.integers(1, 5))):
            match draw(
                st.sampled_from(["alloc", "alloc", "dynamic", "view", "use", "use", "for", "if", "while"])
            ):
                case "alloc":
                    name, type = fresh(), f"memref<{draw(st.integers(1, 90))}xf32>"
                    lines.append(f"{name} = memref.alloc() : {type}")
                    known.append((name, type))
                case "dynamic":
                    name, factor, extra = fresh(), draw(st.integers(1, 9)), draw(st.integers(0, 9))
                    said = f'"{4 * factor} * s0 + {4 * extra}"' if extra else f'"{4 * factor} * s0"'
                    attributes = f"{{{BYTES} = {said}, {TYPICAL} = {256 * factor + 4 * extra} : i64}}"
                    lines.append(f"{name} = memref.alloc(%s0) {attributes} : memref<?xf32>")
                    known.append((name, "memref<?xf32>"))
                case "view" if known:
                    (source, type), name = draw(st.sampled_from(known)), fresh()
                    lines.append(
                        f"{name} = memref.reinterpret_cast {source} to offset: [0], sizes: [1], strides: [1] : "
                        f"{type} to memref<1xf32, strided<[1]>>"
                    )
                    known.append((name, "memref<1xf32, strided<[1]>>"))
                case "use" if known:
                    used = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))
                    names, types = ", ".join(name for name, _ in used), ", ".join(type for _, type in used)
                    lines.append(f'"test.op"({names}) : ({types}) -> ()')
                case "for" if depth:
                    inner = block(known, depth - 1, indent + "  ")
                    lines += [f"scf.for {fresh()} = %s0 to %s0 step %s0 {{", *inner, "}"]
                case "if" if depth:
                    then, other = (block(known, depth - 1, indent + "  ") for _ in range(2))
                    lines += ["scf.if %c {", *then, "} else {", *other, "}"]
                case "while" if depth:
                    before, after = (block(known, depth - 1, indent + "  ") for _ in range(2))
                    lines += [
                        '"scf.while"() ({',
                        *before,
                        "scf.condition(%c)",
                        "}, {",
                        *after,
                        "scf.yield",
                        "}) : () -> ()",
                    ]
                case _:
                    pass
        return lines

    body = "\n".join(block([], 2, "  "))
    return f'func.func @f(%s0: index, %c: i1) attributes {{{SYMBOLS} = ["s0"]}} {{\n{body}\nfunc.return\n}}'


def parsed(text: str) -> ModuleOp:
    ctx = context().clone()  # it is everybody's
    ctx.allow_unregistered = True
    return Parser(ctx, text).parse_module()


@pytest.mark.parametrize("planner", ["by-size", "by-lifetime", "by-start", "best"])
@settings(deadline=None, max_examples=40, phases=PHASES, suppress_health_check=SLOW)
@given(text=programs())
def test_plans_of_random_functions_are_proved_right(planner: str, text: str) -> None:
    module = parsed(text)
    PlanMemory(planner).apply(context(), module)
    module.verify()
    assert not any(isinstance(op, memref.AllocOp) for op in module.walk())
    VerifyMemory().apply(context(), module)
    VerifyMemory().apply(context(), parsed(str(module)))  # from what is printed


def overlapping(module: ModuleOp) -> list[tuple[memref.ViewOp, memref.ViewOp]]:
    """Pairs of parts, both of one block, where the second one begins while the first one is needed."""
    [function] = drivers_of(module)
    allocated = list(buffers_of(function).items())
    PlanMemory().apply(context(), module)
    views = [op for op in function.walk() if isinstance(op, memref.ViewOp)]
    return [
        (views[i], views[j])
        for j in range(len(views))
        for i in range(j)
        if views[i].parent is views[j].parent
        and allocated[i][1].first < allocated[j][1].first <= allocated[i][1].last
    ]


@settings(deadline=None, max_examples=150, phases=PHASES, suppress_health_check=SLOW)
@given(text=programs(), data=st.data())
def test_corrupted_plans_are_refused(text: str, data: st.DataObject) -> None:
    """One part moved onto another one that is needed at the same time, or beyond the arena's end."""
    module = parsed(text)
    pairs = overlapping(module)
    if not pairs:
        return
    a, b = data.draw(st.sampled_from(pairs))
    b.operands[1] = a.byte_shift
    b.attributes.pop(OFFSET, None)
    if OFFSET in a.attributes:
        b.attributes[OFFSET] = a.attributes[OFFSET]
    with pytest.raises(VerificationError, match=r"overlaps|reaches beyond"):
        VerifyMemory().apply(context(), module)


TEXT = """func.func @f(%s0: index) attributes {exir.symbols = ["s0"]} {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc(%s0) {exir.bytes = "4 * s0", exir.typical = 256 : i64} : memref<?xf32>
  "test.op"(%a, %b) : (memref<16xf32>, memref<?xf32>) -> ()
  func.return
}"""


def planned() -> tuple[ModuleOp, list[memref.ViewOp]]:
    module = parsed(TEXT)
    PlanMemory().apply(context(), module)
    return module, [op for op in module.walk() if isinstance(op, memref.ViewOp)]


def test_symbolic_parts_lie_behind_the_others() -> None:
    module, views = planned()
    [function] = drivers_of(module)
    assert str(arena_bytes_of(function)) == "4 * s0 + 64"
    assert [BYTES in view.attributes for view in views] == [False, True]
    VerifyMemory().apply(context(), module)


@pytest.mark.parametrize("symbols", [("s0", "s1"), ("s1", "s0")])
@pytest.mark.parametrize(
    "nbytes", ["4 * s1 * (s0 floordiv s1)", "4 * s0 * ((s1 floordiv 56) floordiv (s1 floordiv 32 - 3))"]
)
def test_sizes_that_are_quotients(nbytes: str, symbols: tuple[str, str]) -> None:
    """Offsets are put in order for sizes of which none is 0: whichever symbol is the larger one, and if only images as models have them have windows."""
    names, args = ", ".join(f'"{name}"' for name in symbols), ", ".join(f"%{name}: index" for name in symbols)
    module = parsed(f"""func.func @f({args}) attributes {{exir.symbols = [{names}]}} {{
      %a = memref.alloc() : memref<16xf32>
      %b = memref.alloc(%s0) {{exir.bytes = "{nbytes}", exir.typical = 256 : i64}} : memref<?xf32>
      %c = memref.alloc(%s0) {{exir.bytes = "4 * s0", exir.typical = 256 : i64}} : memref<?xf32>
      "test.op"(%a, %b, %c) : (memref<16xf32>, memref<?xf32>, memref<?xf32>) -> ()
      func.return
    }}""")
    PlanMemory().apply(context(), module)
    VerifyMemory().apply(context(), module)


@pytest.mark.parametrize("zero", [0, 4])
def test_sizes_that_are_mostly_nothing(zero: int) -> None:
    """As of `x[-2:1]`, and of 0 elements: a part may begin where it ends."""
    module = parsed(f"""func.func @f(%s0: index, %s1: index) attributes {{exir.symbols = ["s0", "s1"]}} {{
      %a = memref.alloc() : memref<{zero}xf32>
      %b = memref.alloc(%s0) {{exir.bytes = "4 * s0", exir.typical = 256 : i64}} : memref<?xf32>
      %c = memref.alloc(%s1) {{exir.bytes = "4 * max(-min(s1, max(s1 - 2, 0)) + 1, 0)", exir.typical = 0 : i64}} : memref<?xf32>
      "test.op"(%a, %b, %c) : (memref<{zero}xf32>, memref<?xf32>, memref<?xf32>) -> ()
      func.return
    }}""")
    PlanMemory().apply(context(), module)
    VerifyMemory().apply(context(), module)


def shift(module: ModuleOp, view: memref.ViewOp, by: Dim) -> None:
    """Moves a part to another offset."""
    [function] = drivers_of(module)
    view.operands[1] = SizesOf(function.body.block, symbols_of(function)).index(by)


@pytest.mark.parametrize(
    ("which", "offset", "message"),
    [
        (0, 32, "is not aligned to 64 bytes"),
        (0, 64, "overlaps"),
        (0, 1 << 20, "reaches beyond the arena"),
        (1, 0, "overlaps"),
        (1, 4 * Expr.symbol("s0"), "at byte 256, not at 4"),
    ],
)
def test_what_is_wrong_is_said(which: int, offset: Dim, message: str) -> None:
    module, views = planned()
    shift(module, views[which], offset)
    with pytest.raises(VerificationError, match=message):
        VerifyMemory().apply(context(), module)


def test_an_arena_has_no_other_users() -> None:
    module, _ = planned()
    [function] = drivers_of(module)
    use = parsed('"test.op"() : () -> ()').body.block.first_op
    assert use is not None
    use.detach()
    use.operands = [function.args[-1]]
    function.body.block.insert_ops_before([use], function.body.block.last_op)  # pyright: ignore[reportArgumentType]
    with pytest.raises(VerificationError, match=r"used by test\.op"):
        VerifyMemory().apply(context(), module)


def test_refusals() -> None:
    with pytest.raises(ExirError, match=r"no planner 'other'; there are by-size"):
        PlanMemory("other").apply(context(), parsed(TEXT))
    with pytest.raises(ExirError, match=r"memref\.alloc of symbolic size without exir\.bytes"):
        PlanMemory().apply(
            context(), parsed(TEXT.replace('{exir.bytes = "4 * s0", exir.typical = 256 : i64}', ""))
        )
    with pytest.raises(ExirError, match="plan-memory has not run on @f"):
        VerifyMemory().apply(context(), parsed(TEXT))
    with pytest.raises(ExirError, match=r"memref\.alloc of index, whose elements have no size"):
        PlanMemory().apply(context(), parsed(TEXT.replace("memref<16xf32>", "memref<16xindex>")))


def test_long_chains_of_views() -> None:
    """Nothing recurses over the length of a program."""
    lines = [
        f"%v{i + 1} = memref.reinterpret_cast %v{i} to offset: [0], sizes: [16], strides: [1] : memref<16xf32> to memref<16xf32>"
        for i in range(3000)
    ]
    module = parsed(
        "\n".join(["func.func @f() {", "%v0 = memref.alloc() : memref<16xf32>", *lines, "func.return", "}"])
    )
    PlanMemory().apply(context(), module)
    VerifyMemory().apply(context(), module)


@pytest.mark.parametrize(
    ("nbytes", "room", "holds"),
    [
        ("4 * s0", "64 * ((4 * s0 + 63) floordiv 64)", True),
        ("4 * max(s0, s1)", "4 * max(s0, s1, 3)", True),
        ("4 * max(s0, s1)", "4 * max(s0, 3)", False),
        ("192 * max((s0 + 2) floordiv 3, 1) + 96", "64 * max(s0 + 2, 3) + 96", True),  # by trying
        ("64 * max(s0 + 2, 3) + 97", "192 * max((s0 + 2) floordiv 3, 1) + 96", False),
        ("4 * trunc_to_int(1.5 * to_float(s0))", "4 * trunc_to_int(1.5 * to_float(s0)) + 4 * s1", True),
        ("s0", "1000", False),
    ],
)
def test_what_fits(nbytes: str, room: str, holds: bool) -> None:
    assert at_most(0, Expr.parse(nbytes), Expr.parse(room), Trials()) is holds


# --- in place, pools -----------------------------------------------------------------------------------------


def test_random_drivers_read_what_they_read_before() -> None:
    """Their memory planned in every way, kernels in place; and with parts moved, wherever that is not refused."""
    wrong: list[str] = []
    counts = sum((check(seed, wrong.append) for seed in range(12)), Counter[str]())
    assert not wrong
    assert counts["in place"] > 0
    assert counts["moved, refused, wrong"] > 0


def test_planners_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not share memory at all is proved right; what puts all in one place is refused."""

    def apart(buffers: Sequence[Buffer]) -> list[int]:
        return [2048 * number for number, _ in enumerate(buffers)]

    monkeypatch.setitem(PLANNERS, "apart", apart)
    monkeypatch.setitem(PLANNERS, "nowhere", lambda buffers: [0 for _ in buffers])
    text = TEXT.replace("memref<16xf32>", "memref<16xf32, 1>").replace(
        "%b = ", "%c = memref.alloc() : memref<16xf32, 1>\n%b = "
    )
    text = text.replace('test.op"(%a', 'test.op"(%c, %a').replace(": (memref", ": (memref<16xf32, 1>, memref")
    for planner, right in (("apart", True), ("nowhere", False)):
        module = parsed(text)
        PlanMemory(planner, ("1:4096",)).apply(context(), module)
        with nullcontext() if right else pytest.raises(VerificationError, match="overlaps"):
            VerifyMemory().apply(context(), module)


def test_an_arena_that_is_too_small_is_refused() -> None:
    text = TEXT.replace("memref<16xf32>", "memref<16xf32, 1>")
    with pytest.raises(ExirError, match="memory space 1 has 32 bytes, and 64 are needed"):
        PlanMemory(pools=("1:32",)).apply(context(), parsed(text))
    module = parsed(text)
    PlanMemory(pools=("1:64",)).apply(context(), module)
    said = str(module).replace("capacity = 64", "capacity = 63")
    with pytest.raises(VerificationError, match="memory space 1 has 63 bytes, and 64 are needed"):
        VerifyMemory().apply(context(), parsed(said))
