"""What kernels compute of elements: bodies of `linalg.generic`s as data, and built again on vectors (or numbers), for epilogues and rows.

    body = element_of(Elementwise("aten.relu"))        # what its lowering does to an element
    expand(body, Lanes(b, 16), [x])                    # the same to 16

An operator is elementwise here if its lowering to linalg is one `linalg.generic` whose body is made of operations that are the same on
vectors: on floats, integers of 32 and 64 bits, and on Bools, which are i1 here and bytes in memory. The others go the general way, through
linalg. (Reductions and what is made of them are bodies too: `vectorize`.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, i1, i8, i64
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import edge, vectors
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.meta import result_dtypes
from xdsl_exir.dialects.spec import BY_ELEMENTS
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.dialects.upstream import ErfcOp, RemFOp
from xdsl_exir.lowering.expand_math import EXPANSIONS, WIDE
from xdsl_exir.lowering.kernel import canonical
from xdsl_exir.lowering.scalar import CONTRACT
from xdsl_exir.lowering.vector_builder import ELEMENT_TYPES, INTEGER_PREDICATES, Lanes, defaults, type_of
from xdsl_exir.program import REWRITING
from xdsl_exir.targets.cpu.kernels.builder import KernelBuilder
from xdsl_exir.targets.cpu.kernels.description import Body, Elementwise, Instruction

DTYPES = {
    "f": dt.Float,
    "b": dt.Bool,
    "d": dt.Double,
    "h": dt.Half,
    "g": dt.BFloat16,
    "i": dt.Int,
    "l": dt.Long,
}
"""Of operands and results, by their codes in descriptions."""

OF_FLOAT64 = tuple(kind for kind in WIDE if kind not in EXPANSIONS)
"""Functions that vectors have of float64 alone."""

COSTS: dict[type[Operation], int] = {
    **dict.fromkeys((arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.NegfOp), 1),
    **dict.fromkeys((arith.MaximumfOp, arith.MinimumfOp, vectors.CmpfOp, vectors.SelectOp), 1),
    **dict.fromkeys((vectors.ExtFOp, vectors.TruncFOp, vectors.SIToFPOp, vectors.UIToFPOp), 1),
    **dict.fromkeys((vectors.ExtSIOp, vectors.ExtUIOp, vectors.TruncIOp, vectors.FPToSIOp), 1),
    **dict.fromkeys((arith.AndIOp, arith.OrIOp, arith.XOrIOp, arith.BitcastOp), 1),
    **dict.fromkeys((arith.AddiOp, arith.SubiOp, arith.MuliOp, vectors.CmpiOp), 1),
    **dict.fromkeys((arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp), 1),
    **dict.fromkeys((math.FloorOp, math.CeilOp, math.TruncOp), 1),
    **dict.fromkeys((math.AbsFOp, math.CopySignOp, math.FmaOp), 1),
    arith.DivfOp: 4,
    math.SqrtOp: 6,
    **dict.fromkeys((math.ExpOp, math.Exp2Op), 16),
    **dict.fromkeys((math.LogOp, math.Log2Op, math.Log10Op), 24),
    **dict.fromkeys((math.TanhOp, math.ErfOp), 25),
    **dict.fromkeys((ErfcOp, math.AtanhOp), 35),
    **dict.fromkeys((*OF_FLOAT64, RemFOp), 40),
    **dict.fromkeys((math.SinOp, math.CosOp, math.AtanOp, math.AsinOp, math.AcosOp), 25),
    math.TanOp: 30,
    math.ExpM1Op: 18,
    math.Log1pOp: 30,
    math.PowFOp: 80,
    math.RoundEvenOp: 5,
}
"""Operations that vectors take as numbers do, and what each costs, in additions."""

OF_NUMBERS: tuple[type[Operation], ...] = (arith.IndexCastOp,)
"""What only numbers take: there is one of them a row."""

OF_VECTORS = frozenset(kind.name for kind in COSTS)
KINDS: dict[str, type[Operation]] = {kind.name: kind for kind in (*COSTS, *OF_NUMBERS)}
"""By their names."""

TYPES: dict[Attribute, str] = {type: name for name, type in ELEMENT_TYPES.items() if name != "i8"}
"""Of what they compute with."""

APPROXIMATED = {
    **{
        kind.name: tuple(of for of, known in (("f32", EXPANSIONS), ("f64", WIDE)) if kind in known)
        for kind in (*EXPANSIONS, *WIDE)
    },
    RemFOp.name: ("f32", "f64"),
    math.PowFOp.name: ("f32", "f64"),
}
"""Functions, and of which types vectors have them (`expand_math`)."""

CONSTANT, SIZE_OF = "arith.constant", "size"

POWERS = (2.0, 3.0)
"""Exponents of powers that are products."""
SIZE = 7
"""Of the tensors on which an operator is looked at."""


_KNOWN: dict[str, Body | None] = {}


def element_of(element: Elementwise | Body) -> Body | None:
    """How an operator computes an element; None if it is not elementwise as is said above, or not with these dtypes and arguments."""
    if isinstance(element, Body):
        return element
    key = canonical(element)  # Python takes True and 1.0 for equal
    if key not in _KNOWN:
        with REWRITING:
            _KNOWN[key] = _element_of(element)
    return _KNOWN[key]


def cost(body: Body) -> int:
    """Of one vector, in additions."""
    return sum(COSTS.get(KINDS[i.name], 0) for i in body.instructions if i.name in KINDS) or 1


def _element_of(element: Elementwise) -> Body | None:
    said = dict(element.arguments)
    metas = tensors_of(element)
    lowered = lowering_of(element, metas)
    if lowered is None:
        return None
    args = dict[str, SSAValue](zip(metas, lowered.args, strict=False))
    numbers = {arg: float(number) for name, arg in args.items() if (number := said.get(name)) is not None}
    end = lowered.last_op
    assert isinstance(end, YieldOp)
    body = body_of([arg for arg in args.values() if arg not in numbers], end.operands[0], numbers)
    return body if body is not None and is_of_vectors(body) else None


def tensors_of(element: Elementwise) -> Mapping[str, TensorMeta]:
    """What an operator's tensors are taken for, by name, those that are one number included."""
    said = dict(element.arguments)
    slots = [slot.name for slot in edge.OPERATORS[element.operator].SLOTS.positional if slot.is_tensor]
    # Tensors that are one number are float32, or Bools.
    codes = {
        name: "b" if isinstance(said[name], bool) else "f" for name in slots if said.get(name) is not None
    }
    codes |= zip_longest((name for name in slots if name not in said), element.operands, fillvalue="f")
    return {name: TensorMeta((SIZE,), DTYPES[codes[name]]) for name in slots if name in codes}


def lowering_of(element: Elementwise, metas: Mapping[str, TensorMeta]) -> Block | None:
    """What an operator's lowering to linalg does to elements."""
    from xdsl_exir.lowering import LOWERINGS
    from xdsl_exir.lowering.linalg import LinalgBuilder
    from xdsl_exir.lowering.tensors import Tensor, tensor_of

    cls = edge.OPERATORS[element.operator]
    entry = LOWERINGS.find(cls.SPEC)
    if entry is None or cls.SPEC.family not in BY_ELEMENTS or len(cls.SPEC.schema.returns) != 1:
        return None
    defaults = {slot.name: slot.default for slot in cls.SLOTS.slots}
    arguments: dict[str, Any] = {**defaults, **dict(element.arguments), **metas}
    if (named := arguments.get("dtype")) is not None:
        arguments["dtype"] = dt.named(named)
    (dtype,) = result_dtypes(cls.SPEC, arguments)
    refuses = entry.options.get("refuses")
    if dtype not in DTYPES.values() or (refuses and refuses({**arguments, "used": [True]})):
        return None
    block = Block(arg_types=[tensor_of(meta.shape, meta.dtype) for meta in metas.values()])
    pairs = zip(metas.items(), block.args, strict=True)
    tensors = {name: Tensor(arg, meta.shape, meta.dtype) for (name, meta), arg in pairs}
    entry.call({**arguments, **tensors, "out": [TensorMeta((SIZE,), dtype)]}, LinalgBuilder(block.add_op))
    return only_generic(block)


def only_generic(block: Block) -> Block | None:
    """What a block does to elements, if it is one `linalg.generic` that takes all its arguments, in order, each at its own place."""
    made = [op for op in block.ops if op.name != "tensor.empty"]
    match made:
        case [GenericOp() as generic] if [*generic.inputs] == [*block.args]:
            maps = generic.indexing_maps.data
            return generic.body.block if all(each == maps[-1] for each in maps) else None
        case _:
            return None


# --- bodies --------------------------------------------------------------------------------------------------


def body_of(
    args: Sequence[SSAValue],
    result: SSAValue,
    known: Mapping[SSAValue, float | Expr] | None = None,
) -> Body | None:
    """What computes a value from a block's arguments, and from numbers that are `known`; None if it takes other operations than
    kernels build."""
    known, result = known or {}, stored_bit(result)
    places = {arg: at for at, arg in enumerate(args)}
    instructions: list[Instruction] = []

    def add(name: str, *operands: int, **said: Any) -> int:
        instructions.append(Instruction(name, operands, **said))
        return len(args) + len(instructions) - 1

    def place(value: SSAValue) -> int:
        if value not in places:
            number = known[value]
            of = (
                {"name": SIZE_OF, "dtype": str(value.type)}
                if isinstance(number, Expr)
                else {"name": CONSTANT}
            )
            places[value] = add(**of, value=number)
        return places[value]

    ops = needed(result)
    given = {*args, *known, *(value for op in ops for value in op.results)}
    if not given.issuperset((result, *(operand for op in ops for operand in taken_by(op)))):
        return None
    for op in ops:
        value = op.results[0]
        if is_bit(op):
            places[value] = place(op.operands[0])
            continue
        dtype = TYPES.get(value.type)
        number = number_of(value)
        if dtype is None or not (number is not None or op.name in KINDS):
            return None
        if number is not None:
            places[value] = add(CONSTANT, dtype=dtype, value=number)
        elif isinstance(op, math.PowFOp) and known.get(op.rhs) in POWERS:
            x = place(op.lhs)
            square = add(arith.MulfOp.name, x, x)
            places[value] = square if known[op.rhs] == 2 else add(arith.MulfOp.name, square, x)
        else:
            operands = [place(operand) for operand in op.operands]
            places[value] = add(op.name, *operands, dtype=dtype, **said_by(op))
    only_argument = not instructions and len(args) == 1
    last = place(result) == len(args) + len(instructions) - 1
    return Body(len(args), tuple(instructions)) if only_argument or (instructions and last) else None


def said_by(op: Operation) -> dict[str, Any]:
    """What properties say of an operation."""
    said: dict[str, Any] = {}
    if isinstance(op, arith.CmpfOp | arith.CmpiOp):
        said["predicate"] = op.predicate.value.data
    if op.properties.get("fastmath") == CONTRACT:
        said["contract"] = True
    return said


def needed(result: SSAValue) -> list[Operation]:
    """The operations of its block that a value is made of, in order."""
    wanted = {result}
    found: list[Operation] = []
    block = result.owner if isinstance(result.owner, Block) else result.owner.parent
    assert block is not None
    for op in reversed(list(block.ops)):
        if wanted.intersection(op.results):
            found.append(op)
            wanted.update(taken_by(op))
    return found[::-1]


def taken_by(op: Operation) -> Sequence[SSAValue]:
    """The operands that an operation computes with."""
    return op.operands[:1] if is_bit(op) else op.operands


def stored_bit(value: SSAValue) -> SSAValue:
    """The bit that is stored as a byte, if a value is one."""
    return value.owner.operands[0] if isinstance(value.owner, arith.ExtUIOp) and value.type == i8 else value


def is_bit(op: Operation) -> bool:
    """Whether an operation only asks whether a byte, or a bit, is set."""
    zero = number_of(op.operands[1]) if isinstance(op, arith.CmpiOp) else None
    return (
        isinstance(op, arith.CmpiOp)
        and op.lhs.type in (i1, i8)
        and zero == 0
        and op.predicate.value.data == INTEGER_PREDICATES.index("ne")
    )


def number_of(value: SSAValue) -> float | bool | None:
    """The number that a value is; None of anything else."""
    match value.owner:
        case arith.ConstantOp(value=FloatAttr(value=number)):
            return number.data
        case arith.ConstantOp(value=IntegerAttr(value=number, type=type)):
            return bool(number.data) if type == i1 else number.data
        case _:
            return None


def is_of_vectors(body: Body) -> bool:
    """Whether vectors take all operations of a body."""
    return all(
        i.name == CONSTANT or (i.name in OF_VECTORS and i.dtype in APPROXIMATED.get(i.name, (i.dtype,)))
        for i in body.instructions
    )


Part = tuple[Body, list[int]]
"""A body, and the positions of its arguments."""


def hoisted(body: Body, is_number: Sequence[bool]) -> tuple[list[Part], Part]:
    """What a body computes of those arguments alone that are numbers, and the rest of it, of which these results are further arguments,
    behind those of the body."""
    first, alone = body.arguments, list(is_number)
    for instruction in body.instructions:
        alone.append(all(alone[at] for at in instruction.operands))
    if alone[-1]:
        return [], (body, list(range(first)))
    inner = range(first, len(alone))
    taken = {at for i in inner if not alone[i] for at in operands_at(body, i) if at >= first and alone[at]}
    before = [at for at in sorted(taken) if operands_at(body, at)]
    rest = [at for at in inner if not alone[at] or (at in taken and at not in before)]
    return [part(body, range(first, at + 1)) for at in before], part(body, rest, before)


def operands_at(body: Body, at: int) -> Sequence[int]:
    return body.instructions[at - body.arguments].operands


def part(body: Body, kept: Sequence[int], further: Sequence[int] = ()) -> Part:
    """What the last of some instructions needs of these, of the body's arguments and of `further` ones: results of other instructions."""
    needed = {kept[-1]}
    for at in reversed(kept):
        needed |= {*operands_at(body, at)} if at in needed else set()
    given = [*range(body.arguments), *further]
    arguments = [place for place, at in enumerate(given) if at in needed]
    chosen = [at for at in kept if at in needed]
    places = {at: place for place, at in enumerate([*(given[a] for a in arguments), *chosen])}
    instructions = [body.instructions[at - body.arguments] for at in chosen]
    moved = (replace(i, operands=tuple(places[at] for at in i.operands)) for i in instructions)
    return Body(len(arguments), tuple(moved)), arguments


# --- built ---------------------------------------------------------------------------------------------------


def expand(element: Elementwise | Body, w: Lanes, operands: Sequence[SSAValue]) -> SSAValue:
    """Builds the operations of a body on vectors."""
    body = element_of(element)
    assert body is not None
    values = list(operands)
    for instruction in body.instructions:
        values.append(build(instruction, w, [values[at] for at in instruction.operands]))
    return values[-1]


def build(instruction: Instruction, w: Lanes, operands: Sequence[SSAValue]) -> SSAValue:
    """Builds an operation on numbers on vectors of them. A size is an index, of which there are no vectors."""
    b, value, dtype = w.builder, instruction.value, instruction.dtype
    if instruction.name == SIZE_OF:
        assert isinstance(b, KernelBuilder)
        assert isinstance(value, Expr)
        size = b.index(value)
        return b.broadcast(size, w.lanes, dtype) if w.lanes and value.kind == "float" else size
    if instruction.name == CONSTANT:
        assert isinstance(value, float | int)
        number = value if isinstance(value, bool) or dtype.startswith("i") else float(value)
        return b.constant(number, dtype, w.lanes)
    kind = KINDS[instruction.name]
    if kind is arith.IndexCastOp and w.lanes:
        assert isinstance(b, KernelBuilder)
        return b.broadcast(b.op(kind, operands, type_of(dtype)), w.lanes, dtype)
    properties = dict(defaults(kind))
    if instruction.contract:
        properties["fastmath"] = CONTRACT
    if instruction.predicate is not None:
        properties["predicate"] = IntegerAttr(instruction.predicate, i64)
    return b.op(kind, operands, type_of(dtype, w.lanes), properties)
