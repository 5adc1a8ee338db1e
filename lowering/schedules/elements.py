"""Elementwise operators on vectors (or numbers) of float32, for epilogues and rows: what their lowering does to elements, done to lanes.

    expand(Elementwise("aten.relu"), Lanes(b, 16), [x])        # the result

An operator is elementwise here if its lowering to linalg is one `linalg.generic` whose body is made of operations that are the same on
vectors: on float32, and on Bools, which are i1 here and bytes in memory. The others go the general way, through linalg.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f32, i1
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import edge, vectors
from xdsl_exir.dialects.meta import result_dtypes
from xdsl_exir.dialects.spec import BY_ELEMENTS
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering.schedules.builder import INTEGER_PREDICATES, Lanes, type_of
from xdsl_exir.lowering.schedules.description import Elementwise, canonical
from xdsl_exir.program import REWRITING

DTYPES = {"f": dt.Float, "b": dt.Bool}
"""Of operands and results, by their codes in descriptions."""

COSTS: dict[type[Operation], int] = {
    **dict.fromkeys((arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.NegfOp), 1),
    **dict.fromkeys((arith.MaximumfOp, arith.MinimumfOp, arith.CmpfOp, arith.SelectOp), 1),
    **dict.fromkeys((arith.AndIOp, arith.OrIOp, arith.XOrIOp), 1),
    **dict.fromkeys((math.AbsFOp, math.CopySignOp, math.FmaOp), 1),
    arith.DivfOp: 4,
    math.SqrtOp: 6,
    math.ExpOp: 16,
    math.TanhOp: 30,
    math.ErfOp: 35,
}
"""Operations that vectors take as numbers do, and what each costs, in additions."""

VECTORS: dict[type[Operation], type[Operation]] = {
    arith.CmpfOp: vectors.CmpfOp,
    arith.SelectOp: vectors.SelectOp,
}
"""What xDSL has for numbers only."""

POWERS = (2.0, 3.0)
"""Exponents of powers that are products."""
SIZE = 7
"""Of the tensors on which an operator is looked at."""


@dataclass(frozen=True)
class Element:
    """How an operator computes an element."""

    args: Sequence[SSAValue]
    """Its operands in the block that computes it."""
    numbers: Mapping[SSAValue, float]
    """Those that are a number, always the same."""
    ops: Sequence[Operation]
    """What computes it, in order."""
    result: SSAValue
    dtype: str
    """Its code."""

    @property
    def cost(self) -> int:
        """Of one vector, in additions."""
        return sum(COSTS.get(type(op), 0) for op in self.ops) or 1


_KNOWN: dict[str, Element | None] = {}


def element_of(element: Elementwise) -> Element | None:
    """How an operator computes an element; None if it is not elementwise as is said above, or not with these dtypes and arguments."""
    key = canonical(element)  # Python takes True and 1.0 for equal
    if key not in _KNOWN:
        with REWRITING:
            _KNOWN[key] = _element_of(element)
    return _KNOWN[key]


def _element_of(element: Elementwise) -> Element | None:
    said = dict(element.arguments)
    metas = tensors_of(element)
    lowered = lowering_of(element, metas)
    if lowered is None:
        return None
    body, dtype = lowered
    args = dict[str, SSAValue](zip(metas, body.args, strict=False))
    numbers = {arg: float(number) for name, arg in args.items() if (number := said.get(name)) is not None}
    end = body.last_op
    assert isinstance(end, YieldOp)
    result = stored_bit(end.operands[0])
    ops = needed(body, result)
    if not all(is_taken(op, numbers) for op in ops):
        return None
    return Element([arg for arg in args.values() if arg not in numbers], numbers, ops, result, dtype)


def tensors_of(element: Elementwise) -> Mapping[str, TensorMeta]:
    """What an operator's tensors are taken for, by name, those that are one number included."""
    said = dict(element.arguments)
    slots = [slot.name for slot in edge.OPERATORS[element.operator].SLOTS.positional if slot.is_tensor]
    codes = {
        name: "b" if isinstance(said[name], bool) else "f" for name in slots if said.get(name) is not None
    }
    codes |= zip_longest((name for name in slots if name not in said), element.operands, fillvalue="f")
    return {name: TensorMeta((SIZE,), DTYPES[codes[name]]) for name in slots if name in codes}


def lowering_of(element: Elementwise, metas: Mapping[str, TensorMeta]) -> tuple[Block, str] | None:
    """What an operator's lowering to linalg does to elements, and the code of the result's dtype."""
    from xdsl_exir.lowering import LOWERINGS
    from xdsl_exir.lowering.linalg import LinalgBuilder, Tensor, tensor_of

    cls = edge.OPERATORS[element.operator]
    entry = LOWERINGS.find(cls.SPEC)
    if entry is None or cls.SPEC.family not in BY_ELEMENTS or len(cls.SPEC.schema.returns) != 1:
        return None
    defaults = {slot.name: slot.default for slot in cls.SLOTS.slots}
    arguments = {**defaults, **dict(element.arguments), **metas}
    (dtype,) = result_dtypes(cls.SPEC, arguments)
    code = next((code for code, of in DTYPES.items() if of is dtype), None)
    refuses = entry.options.get("refuses")
    if code is None or (refuses and refuses({**arguments, "used": [True]})):
        return None
    block = Block(arg_types=[tensor_of(meta.shape, meta.dtype) for meta in metas.values()])
    pairs = zip(metas.items(), block.args, strict=True)
    tensors = {name: Tensor(arg, meta.shape, meta.dtype) for (name, meta), arg in pairs}
    entry.call({**arguments, **tensors, "out": [TensorMeta((SIZE,), dtype)]}, LinalgBuilder(block.add_op))
    body = body_of(block)
    return None if body is None else (body, code)


def body_of(block: Block) -> Block | None:
    """What a block does to elements, if it is one `linalg.generic` that takes all its arguments, in order, each at its own place."""
    made = [op for op in block.ops if op.name != "tensor.empty"]
    match made:
        case [GenericOp() as generic] if [*generic.inputs] == [*block.args]:
            maps = generic.indexing_maps.data
            return generic.body.block if all(each == maps[-1] for each in maps) else None
        case _:
            return None


def needed(block: Block, result: SSAValue) -> list[Operation]:
    """The operations of a block that a value is made of, in order."""
    wanted = {result}
    found: list[Operation] = []
    for op in reversed(list(block.ops)):
        if wanted.intersection(op.results):
            found.append(op)
            wanted.update(op.operands)
    return found[::-1]


def stored_bit(value: SSAValue) -> SSAValue:
    """The bit that is stored as a byte, if a value is one."""
    return value.owner.operands[0] if isinstance(value.owner, arith.ExtUIOp) else value


def is_bit(op: Operation) -> bool:
    """Whether an operation only asks whether a byte, or a bit, is set."""
    zero = number_of(op.operands[1]) if isinstance(op, arith.CmpiOp) else None
    return (
        isinstance(op, arith.CmpiOp)
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


def is_taken(op: Operation, numbers: Mapping[SSAValue, float]) -> bool:
    """Whether vectors take an operation."""
    if isinstance(op, math.PowFOp):
        return numbers.get(op.rhs) in POWERS
    known = isinstance(op, arith.ConstantOp) or is_bit(op) or type(op) in COSTS
    return known and (op.results[0].type in (f32, i1) or isinstance(op, arith.ConstantOp))


def expand(element: Elementwise, w: Lanes, operands: Sequence[SSAValue]) -> SSAValue:
    """Builds the operations of an operator on vectors."""
    found = element_of(element)
    assert found is not None
    values = dict(zip(found.args, operands, strict=True))
    values |= {arg: w.constant(number) for arg, number in found.numbers.items()}
    for op in found.ops:
        values[op.results[0]] = build(op, w, values, found.numbers)
    return values[found.result]


def build(
    op: Operation, w: Lanes, values: Mapping[SSAValue, SSAValue], numbers: Mapping[SSAValue, float]
) -> SSAValue:
    """Builds an operation on numbers on vectors of them."""
    number = number_of(op.results[0])
    if number is not None:
        return w.constant(number if op.results[0].type == i1 else float(number))
    if is_bit(op):
        return values[op.operands[0]]
    if isinstance(op, math.PowFOp):
        x = values[op.lhs]
        square = w.op(arith.MulfOp, x, x)
        return w.op(arith.MulfOp, square, x) if numbers[op.rhs] == 3 else square
    kind = VECTORS.get(type(op), type(op))
    type_ = type_of("i1" if op.results[0].type == i1 else "f32", w.lanes)
    return w.builder.op(kind, [values[operand] for operand in op.operands], type_, op.properties)
