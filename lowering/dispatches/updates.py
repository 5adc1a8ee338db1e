"""State that a method changes, written where it lies: a cache keeps its memory, and a call moves what is new of it alone.

An operator that puts elements into a tensor makes another tensor, whole. Where in the end that is what the method leaves in place of an
argument (`exir.output` says which), and nothing looks at what was there before any more, it is the argument's memory that is written to.
Where values would lie is found first, forwards: views of the argument, what is written into these, and what puts such a view back where it
was taken from, which then has nothing to do. From the result backwards, these are the operators that write. For each it is proved, before
anything is planned, that nothing uses after it what lay in the argument's memory before it; otherwise it is planned as all others are.

An element whose index is out of range is written nowhere; the method's caller is told, as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue, Use

from xdsl_exir.dialects.meta import as_meta, wrap_dim
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.shapes.slicing import clamped, slice_size
from xdsl_exir.dialects.signature import INPUT, MUTATIONS, OUTPUT, InputAttr, OutputAttr
from xdsl_exir.dialects.tensors import is_tensor_type, tensor_meta
from xdsl_exir.lowering.body_types import compute_dtype
from xdsl_exir.lowering.dispatches.boundaries import Boundaries, Formed
from xdsl_exir.lowering.dispatches.buffers import Value, value_for
from xdsl_exir.lowering.dispatches.groups import linalg_update
from xdsl_exir.lowering.dispatches.outline import Outline
from xdsl_exir.lowering.dispatches.views import expanded, is_view, number_of, part, views_of
from xdsl_exir.lowering.operators.indexing import masks

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner


@dataclass(frozen=True)
class Updates:
    """What a method writes to where its arguments lie."""

    operators: frozenset[Operation] = frozenset()
    """Those that write."""
    results: Mapping[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """By position of a result that is an argument's new value, the argument."""


def updates_of(function: FuncOp, boundaries: Boundaries) -> Updates:
    """What a method may write to where its arguments lie."""
    order = {op: position for position, op in enumerate(function.walk())}
    operators, results = set[Operation](), dict[int, SSAValue]()
    for position, argument in mutations(function).items():
        returned = function.get_return_op()
        assert returned is not None
        for through_views in (True, False):
            found = Memory(argument, through_views).made(returned.operands[position])
            if found and found.is_proved(order) and all(boundaries.takes(op, None) for op in found.writing):
                operators |= found.writing
                results[position] = argument
                break
    return Updates(frozenset(operators), results)


def mutations(function: FuncOp) -> dict[int, SSAValue]:
    """By position of a result that is written back to an argument, the argument."""
    given: dict[tuple[object, str], SSAValue] = {}
    for arg, attrs in zip(function.args, function.arg_attrs or (), strict=False):
        spec = attrs.data.get(INPUT)
        if isinstance(spec, InputAttr):
            given[spec.data.kind, spec.data.target] = arg
    found: dict[int, SSAValue] = {}
    for position, attrs in enumerate(function.res_attrs or ()):
        spec = attrs.data.get(OUTPUT)
        if isinstance(spec, OutputAttr) and (kind := MUTATIONS.get(spec.data.kind)) is not None:
            argument = given.get((kind, spec.data.target))
            found |= {} if argument is None else {position: argument}
    return found


class Memory:
    """The memory of an argument, and what would lie in it if all that writes into it did so where it lies; of views of it as
    well, if it is to be written `through_views`."""

    def __init__(self, argument: SSAValue, through_views: bool):
        self.argument, self.through_views = argument, through_views
        self.lying: dict[SSAValue, Value] = {argument: value_for(tensor_meta(argument.type))}
        """Where values lie."""
        self.made_of: dict[SSAValue, list[SSAValue]] = {argument: []}
        """Of each, the others that it is made of by views and by writing."""
        self.writing: set[OperatorOp] = set()
        """What writes."""
        left = [argument]
        while left:
            for user in {use.operation for use in left.pop().uses}:
                if isinstance(user, OperatorOp) and user.parent is argument.owner:
                    left += self.put(user)

    def put(self, op: OperatorOp) -> Sequence[SSAValue]:
        """Says where the results of an operator lie, which are given, if they do. One that puts a part back is looked at again when it
        is known where the part lies."""
        known = self.lying.get(op.operands[0])
        if known is None:
            return []
        if is_view(op):
            places = views_of(known, op)
        elif (
            writes(op)
            and (self.through_views or known.is_whole)
            and op.operands[0].type == op.results[0].type
        ):
            places = [known]
        else:
            return []
        made_of = [op.operands[0]]
        if not is_view(op) and self.is_put_back(op):
            made_of.append(part_of(op))
        found = [result for result, place in zip(op.results, places, strict=True) if place is not None]
        new = [result for result in found if result not in self.lying]
        self.lying |= {
            result: place for result, place in zip(op.results, places, strict=True) if place is not None
        }
        self.made_of |= dict.fromkeys(found, made_of)
        return new

    def is_put_back(self, op: OperatorOp) -> bool:
        """Whether what an operator puts into a tensor lies where it goes."""
        if op.SPEC.qualified_name != "aten.slice_scatter":
            return False
        return self.lying.get(part_of(op)) == window(op, self.lying[op.operands[0]])

    def made(self, value: SSAValue) -> Memory | None:
        """Itself, with what writes to make this value lie as the argument does; None if it does not."""
        if value is self.argument or self.lying.get(value) != self.lying[self.argument]:
            return None
        left, seen = [value], {value}
        while left:
            at = left.pop()
            if isinstance(at.owner, OperatorOp) and not is_view(at.owner):
                self.writing.add(at.owner)
            new = [each for each in self.made_of[at] if each not in seen]
            seen.update(new)
            left += new
        return self if self.writing else None

    def is_proved(self, order: Mapping[Operation, int]) -> bool:
        """Whether no operator uses what lay in the memory before something was written to it, but to say where what is written goes.
        What is put back was written already."""
        return all(self.is_put_back(op) or self.is_last(op, order) for op in self.writing)

    def is_last(self, op: OperatorOp, order: Mapping[Operation, int]) -> bool:
        """Whether no operator uses, after this one, what lay in the memory before it."""
        after = self.after(op.results)
        for value in self.lying:
            if value in after or not self.is_real(value):
                continue
            for use in self.read_by(value):
                user = use.operation
                goes_on = user in self.writing and use.index == 0 and (user is op or user.results[0] in after)
                if not goes_on and order[user] >= order[op]:
                    return False
        return True

    def read_by(self, value: SSAValue) -> Iterator[Use]:
        """What uses a value in memory as it is. Views are made when they are asked for: one that lies there is a value of its own, one
        that has to be a copy is made for who uses it."""
        left = [value]
        while left:
            for use in left.pop().uses:
                if is_view(use.operation):
                    left += [result for result in use.operation.results if result not in self.lying]
                else:
                    yield use

    def is_real(self, value: SSAValue) -> bool:
        """Whether a value lies in the memory: what would by operators that do not write there after all does not."""
        while isinstance(value.owner, OperatorOp) and is_view(value.owner):
            value = value.owner.operands[0]
        return value is self.argument or value.owner in self.writing

    def after(self, results: Iterable[SSAValue]) -> set[SSAValue]:
        """What is made of these."""
        found, left = set(results), list(results)
        while left:
            for use in left.pop().uses:
                new = [
                    result
                    for result in use.operation.results
                    if result not in found
                    and use.operation.operands[use.index] in self.made_of.get(result, ())
                ]
                found.update(new)
                left += new
        return found


# --- what writes ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Writer:
    """How an operator writes to where its first operand lies, and whether it does with these arguments, tensors as what is known of them."""

    write: Callable[[Planner, OperatorOp, Value], None]
    takes: Callable[[Mapping[str, Any]], bool] = lambda arguments: True
    in_dtype: Callable[[Mapping[str, Any]], bool] = lambda arguments: True
    """Whether it does so element by element: sums of halves are of float32, so all of the operand is converted, there and back."""
    partly: bool = True
    """Whether elements stay as they were."""


def writes(op: OperatorOp) -> bool:
    """Whether an operator can write to where its first operand lies."""
    writer = WRITERS.get(op.SPEC.qualified_name)
    return writer is not None and writer.takes(op.arguments(lambda value: as_meta(value.type)))


def has_one_dtype(given: Mapping[str, Any]) -> bool:
    """Whether what is written has the dtype of what it is written into."""
    return given["self"].dtype is given["src"].dtype


def part_of(op: OperatorOp) -> SSAValue:
    """What an operator writes into another tensor."""
    value: SSAValue = op.arguments()["src"]
    return value


def window(op: OperatorOp, into: Value) -> Value:
    """Where `slice_scatter` writes in a value."""
    given = op.arguments(number_of)
    dim: int = wrap_dim(given["dim"], len(into.shape))
    size, start = into.shape[dim], given["start"] or 0
    count = slice_size(size, start, given["end"], given["step"])
    assert count is not None, "numbers that depend on data are refused"
    return part(into, dim, clamped(start, size), count, given["step"])


def write_part(planner: Planner, op: OperatorOp, into: Value) -> None:
    """Some of a dimension becomes another tensor, if it is not there already."""
    there = window(op, into)
    source = expanded(planner.value(part_of(op)), there.shape)
    if source != there:
        planner.copy(source, there)


def write_all(planner: Planner, op: OperatorOp, into: Value) -> None:
    """All becomes another tensor, which is broadcast."""
    planner.copy(expanded(planner.value(part_of(op)), into.shape), into)


def write_elements(planner: Planner, op: OperatorOp, into: Value) -> None:
    """Elements at places that data says."""
    outline = Outline(planner, [op])
    block = outline.end(op.results)
    arguments = [
        into if value is op.operands[0] else planner.value(value)
        for value in outline.inputs
        if isinstance(value, SSAValue)
    ]
    planner.call_function(linalg_update(block, arguments, arguments.index(into)), arguments)


def sums_in_place(given: Mapping[str, Any]) -> bool:
    """Whether sums are of the dtype of what they are added to."""
    dtype = given["self"].dtype
    return compute_dtype(dtype) is dtype


WRITERS: dict[str, Writer] = {
    "aten.copy": Writer(write_all, has_one_dtype, partly=False),
    "aten.slice_scatter": Writer(write_part, has_one_dtype),
    "aten.index_put": Writer(
        write_elements,
        lambda given: not masks(given["indices"]),
        lambda given: not given["accumulate"] or sums_in_place(given),
    ),
    "aten.scatter.src": Writer(write_elements),
    "aten.scatter.value": Writer(write_elements),
    "aten.scatter_add": Writer(write_elements, in_dtype=sums_in_place),
}


def update(planner: Planner, op: OperatorOp) -> None:
    """Writes what an operator changes to where the argument lies."""
    planner.flush()
    into = planner.value(op.operands[0])
    assert into.buffer.is_argument
    WRITERS[op.SPEC.qualified_name].write(planner, op, into)
    planner.values[op.results[0]] = into
    planner.formed.append(Formed(None, [op]))


def has_elements(value: SSAValue) -> bool:
    """Whether a value is a tensor that is not known to be empty, or a number."""
    return not is_tensor_type(value.type) or 0 not in tensor_meta(value.type).shape


def write_to_copy(planner: Planner, op: OperatorOp) -> bool:
    """Makes a dispatch of an operator that writes into its operand: a copy of that, at the speed of memory, and what is written into it.
    (MLIR would copy all of it twice: to a tensor to write into, and from there.) Not of what is known, or one number everywhere, which is
    made where the result is."""
    name, first = op.SPEC.qualified_name, op.operands[0] if op.operands else None
    writer = WRITERS.get(name)
    if first is None or writer is None or not writer.partly or not writes(op) or first in planner.constants:
        return False
    if first.type != op.results[0].type or not all(map(has_elements, op.operands)):
        return False
    if not planner.boundaries.takes(op, None) or not writer.in_dtype(op.arguments(lambda v: as_meta(v.type))):
        return False
    source = planner.value(first)
    into = planner.make(op.results[0])
    planner.copy(source, into)
    writer.write(planner, op, into)
    planner.formed.append(Formed(None, [op]))
    return True


__all__ = ["Updates", "update", "updates_of", "write_to_copy"]
