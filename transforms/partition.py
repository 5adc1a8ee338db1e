"""`partition`: convex groups of operators become delegates of a backend; `inline-delegates` puts them back.

Operations are dealt into *layers*: an operation goes into the layer of what it needs, but a chosen one that needs
something not chosen into the next. The chosen operations of one layer make one group, whether they are connected or
not. Nothing can run through a later layer and come back, so no two groups wait for each other; and there are as many
groups as chosen and other operations alternate on the longest such path, which no other grouping can undercut.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from types import MappingProxyType

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from xdsl_exir.dialects.backend import DelegateOp, DispatchOp, PartOp, YieldOp, is_delegable
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import INPUT, OUTPUT, RANGES, InputAttr, InputKind, InputSpec, OutputAttr
from xdsl_exir.dialects.sizes import sizes_of, symbols_of
from xdsl_exir.dialects.spec import specs
from xdsl_exir.errors import SpecError, Unsupported, UnsupportedError
from xdsl_exir.locations import location_text
from xdsl_exir.program import methods_of, state_of
from xdsl_exir.transforms.fold_constants import first_user_input, move_argument, take_arguments


def layers(block: Block, chosen: set[Operation]) -> dict[Operation, int]:
    """The layer of each operation of a block: how many groups of chosen ones are behind it, its own included.

    Operations with effects stay in order: each counts as needing the one before.
    """
    layer: dict[Operation, int] = {}
    effect: list[Operation] = []
    for op in block.ops:
        needed = [
            owner
            for inner in op.walk()
            for value in inner.operands
            if isinstance(owner := value.owner, Operation)
        ]
        if not is_side_effect_free(op):
            needed += effect
            effect = [op]
        behind = [(layer[before], before in chosen) for before in needed if before in layer]
        if op in chosen:
            layer[op] = max((count + (not grouped) for count, grouped in behind), default=1)
        else:
            layer[op] = max((count for count, _ in behind), default=0)
    return layer


def group(
    block: Block, chosen: set[Operation], backend: str, specs: Mapping[str, Attribute] = MappingProxyType({})
) -> list[DelegateOp]:
    """Moves the chosen operations of a block into as few delegates as can be; these, in order.

    Other operations move where their layer needs it. Literals are copied into each delegate that uses them.
    """
    layer = layers(block, chosen)
    rest = [op for op in block.ops if op is not block.last_op]
    end = block.last_op
    assert end is not None
    assert end not in chosen
    for op in rest:
        op.detach()

    def place(op: Operation) -> tuple[int, bool]:
        return layer[op], op not in chosen

    delegates: list[DelegateOp] = []
    for (_, other), run in groupby(sorted(rest, key=place), place):
        ops = list(run)
        if not other:
            ops = [delegate(ops, backend, specs)]
            delegates += ops
        block.insert_ops_before(ops, end)
    for op in rest:
        if isinstance(op, ConstantOp) and not op.result.uses:
            op.detach()
            op.erase()
    return delegates


def delegate(
    ops: Sequence[Operation], backend: str, specs: Mapping[str, Attribute] = MappingProxyType({})
) -> DelegateOp:
    """Detached operations, in order, as a delegate. What used their results uses the delegate's."""
    inside = set(ops)
    needed = [value for op in ops for value in op.operands if value.owner not in inside]
    literals = dict.fromkeys(owner for value in needed if isinstance(owner := value.owner, ConstantOp))
    inputs = list(dict.fromkeys(value for value in needed if value.owner not in literals))
    outputs = [
        result
        for op in ops
        for result in op.results
        if any(use.operation not in inside for use in result.uses)
    ]
    body = Block([op.clone() for op in literals], arg_types=[value.type for value in inputs])
    within: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    within |= {old.result: new.results[0] for old, new in zip(literals, body.ops, strict=True)}
    for op in ops:
        op.operands = [within.get(value, value) for value in op.operands]
        body.add_op(op)
    made = DelegateOp(backend, inputs, Region(body), [value.type for value in outputs], specs=specs)
    made.location = ops[0].location
    for old, new in zip((*inputs, *outputs), (*body.args, *made.outputs), strict=True):
        new.name_hint = old.name_hint
    for old, new in zip(outputs, made.outputs, strict=True):
        old.replace_uses_with_if(new, lambda use: use.operation not in inside)
    body.add_op(YieldOp(*outputs))
    return made


def keep_ranges(op: DelegateOp) -> None:
    """Says of a delegate what the symbols in it may be, as its method does."""
    function = op.parent_op()
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    ranges = function.attributes.get(RANGES) if function is not None else None
    if not isinstance(ranges, DictionaryAttr):
        return
    values = (value for inner in op.walk() for value in (*inner.operands, *inner.results))
    named = {str(name) for name in symbols_of(sizes_of(values))}
    kept = {name: attr for name, attr in ranges.data.items() if name in named}
    if kept:
        op.properties["ranges"] = DictionaryAttr(kept)


def own(op: DelegateOp, state: Container[str]) -> None:
    """Makes state that a delegate alone uses, and that nothing writes to, its own: the method takes it no more. `state` is what has
    data."""
    function = op.parent_op()
    if not isinstance(function, FuncOp):
        return
    written = {(attr.data.kind, attr.data.target) for attr in outputs_of(function)}
    attrs, taken = list[InputAttr](), list[BlockArgument]()
    for position, value in reversed(list(enumerate(op.inputs))):
        held = attribute_of(function, value)
        if held is None or held.data.kind is InputKind.USER_INPUT or held.data.target not in state:
            continue
        users = {use.operation for use in value.uses}
        if users != {op} or any(target == held.data.target for _, target in written):
            continue
        if sum(attr.data.target == held.data.target for attr in inputs_of(function)) > 1:
            continue
        assert isinstance(value, BlockArgument)
        inner = op.body.block.args[position]
        moved = op.body.block.insert_arg(inner.type, len(op.body.block.args) - len(attrs))
        moved.name_hint = inner.name_hint
        inner.replace_all_uses_with(moved)
        op.body.block.erase_arg(inner)
        op.operands = [*op.operands[:position], *op.operands[position + 1 :]]
        attrs.insert(0, held)
        taken.append(value)
    if attrs:
        op.properties["constants"] = ArrayAttr([*attrs, *(op.constants or ())])
        take_arguments(function, taken)


def attribute_of(function: FuncOp, value: SSAValue) -> InputAttr | None:
    """What an argument of a method is; None of other values."""
    if (
        not isinstance(value, BlockArgument)
        or value.block is not function.body.block
        or not function.arg_attrs
    ):
        return None
    attr = function.arg_attrs.data[value.index].data.get(INPUT)
    return attr if isinstance(attr, InputAttr) else None


def inputs_of(function: FuncOp) -> list[InputAttr]:
    """What the arguments of a method are."""
    attrs = (held.data.get(INPUT) for held in function.arg_attrs or ())
    return [attr for attr in attrs if isinstance(attr, InputAttr)]


def outputs_of(function: FuncOp) -> list[OutputAttr]:
    """What the results of a method are."""
    attrs = (held.data.get(OUTPUT) for held in function.res_attrs or ())
    return [attr for attr in attrs if isinstance(attr, OutputAttr)]


def with_input_attributes(function: FuncOp) -> None:
    """Says of a method that says nothing of its arguments that callers give them."""
    if function.arg_attrs is None:
        specs = (
            InputSpec(InputKind.USER_INPUT, arg.name_hint or f"arg_{arg.index}") for arg in function.args
        )
        function.arg_attrs = ArrayAttr([DictionaryAttr({INPUT: InputAttr(spec)}) for spec in specs])


def disown(op: DelegateOp) -> None:
    """Makes what a delegate owns state of the method again."""
    function = op.parent_op()
    owned = op.owned
    if not owned:
        return
    assert isinstance(function, FuncOp)
    with_input_attributes(function)
    values = list(op.inputs)
    for spec, inner in zip(owned, op.body.block.args[len(values) :], strict=True):
        block, first = function.body.block, first_user_input(function)
        arg = block.insert_arg(inner.type, len(block.args))
        arg.name_hint = inner.name_hint
        move_argument(function, arg, first, {INPUT: InputAttr(spec)})
        values.append(block.args[first])
    op.properties.pop("constants")
    op.operands = values


def inline(op: PartOp) -> None:
    """Puts what a delegate or a dispatch holds in its place."""
    if isinstance(op, DelegateOp):
        disown(op)
    end = op.yielded
    outside: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, op.inputs, strict=True))
    for result, value in zip(op.outputs, end.values, strict=True):
        result.replace_all_uses_with(outside.get(value, value))
    end.detach()
    end.erase()
    Rewriter.inline_block(op.body.block, InsertPoint.before(op), op.inputs)
    op.detach()
    op.erase()


def inline_dispatches(module: ModuleOp) -> None:
    """Puts what dispatches hold in their place."""
    for op in [op for op in module.walk() if isinstance(op, DispatchOp)]:
        inline(op)


def matching(patterns: Iterable[str]) -> frozenset[str]:
    """The operators whose qualified names match patterns. Raises `SpecError` for a pattern that matches none."""
    names: set[str] = set()
    for pattern in patterns:
        matches = {name for name in specs() if fnmatchcase(name, pattern)}
        if not matches:
            raise SpecError(f"partition: no operator matches '{pattern}'")
        names |= matches
    return frozenset(names)


@dataclass(frozen=True)
class Partition(ModulePass):
    """Moves edge operators into delegates of a backend: `partition{backend=native ops="aten.mm","aten.relu"}`.

    `ops` are names or patterns (`"aten.*"`). With `constants` delegates own the state that they alone use; `specs="key=value"` is what the
    backend is told besides. Operators with effects stay where they are, and so does what is in a
    delegate already. Raises `SpecError` for a pattern that matches no operator, `UnsupportedError` where the program is
    not at the edge stage.
    """

    name = "partition"

    backend: str
    ops: tuple[str, ...]
    constants: bool = False
    specs: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = matching(self.ops)
        specs = specs_of(self.specs)
        listed = [
            inner
            for inner in op.walk()
            if isinstance(inner, OperatorOp)
            and inner.SPEC.qualified_name in names
            and not isinstance(inner.parent_op(), DelegateOp)
        ]
        early = [inner for inner in listed if inner.NUMBERS]
        if early:
            raise UnsupportedError(
                [Unsupported(i.name, "not an edge operation", location_text(i)) for i in early]
            )
        by_block: dict[Block, set[Operation]] = {}
        for inner in listed:
            if is_delegable(inner) and inner.parent is not None:
                by_block.setdefault(inner.parent, set()).add(inner)
        for block, chosen in by_block.items():
            for made in group(block, chosen, self.backend, specs):
                keep_ranges(made)
                if self.constants:
                    own(made, state_names(op, state_of(ctx)))


def state_names(module: ModuleOp, state: Mapping[str, object]) -> Container[str]:
    """Names of state that delegates may own: what has data, or in text alone, where none has, what methods take."""
    if state:
        return state
    return {attr.data.target for function in methods_of(module).values() for attr in inputs_of(function)}


def specs_of(texts: Iterable[str]) -> dict[str, Attribute]:
    """Compile specs from texts `key=value`. Raises `SpecError` for one that is none."""
    specs: dict[str, Attribute] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise SpecError(f"partition: specs are 'key=value', not '{text}'")
        specs[key] = StringAttr(value)
    return specs


@dataclass(frozen=True)
class InlineDelegates(ModulePass):
    """Puts the operations of delegates, and of dispatches, back into the program around them; not those of the backends in `keep`."""

    name = "inline-delegates"

    keep: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in [inner for inner in op.walk() if isinstance(inner, DelegateOp)]:
            if inner.backend.data not in self.keep:
                inline(inner)
        inline_dispatches(op)
