"""`unflatten`: the module hierarchy back, as functions; `inline-modules` undoes it.

Operations say in `exir.origin` which `nn.Module` called them. A run of operations of one module, its submodules' among
them, becomes a private `func.func @layers.0.ff`, called where the run stood; inside it the same is done for its
submodules. A run is convex whatever its operations are, and putting it back gives the very program that it was taken from.
A module that is called several times has a function for each call: `@act`, `@act@1`, as in `torch.export.unflatten`.
Where a pass has torn a call apart each piece is one: `@act`, `@act#1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_exir.dialects.ancestry import Place, calls_of, origin_of, places_of
from xdsl_exir.errors import VerificationError

if TYPE_CHECKING:
    from xdsl_exir.program import CallingConvention

PRIVATE = "private"


def is_private(function: FuncOp) -> bool:
    """Whether a function is part of others, not a method."""
    return function.sym_visibility == StringAttr(PRIVATE)


# --- functions of modules ------------------------------------------------------------------------------------


Boundary: TypeAlias = tuple[list[SSAValue], list[SSAValue]]
"""What a call takes and what it gives."""


@dataclass
class Outliner:
    """Makes functions of the modules in functions of the IR."""

    modules: frozenset[str]
    """Paths of the modules that are called."""
    signatures: Mapping[str, CallingConvention | None]
    """How calls are made whose signature is to be kept."""
    names: set[str]
    """Names of functions that are taken."""
    places: dict[Block, dict[Place, SSAValue]] = field(default_factory=dict["Block", "dict[Place, SSAValue]"])
    """What stands in each block for the values of the exported graph."""
    made: list[FuncOp] = field(default_factory=list[FuncOp])
    kept: dict[str, CallingConvention] = field(default_factory=dict[str, "CallingConvention"])
    """How functions are called that take and give what their module did."""

    def method(self, function: FuncOp) -> None:
        """Moves the modules of a method out of it."""
        block = function.body.block
        self.places[block] = places_of(function)
        self.outline(block, "")

    def child(self, calls: Mapping[str, str], parent: str) -> str:
        """The outermost of these calls that is below the module `parent`; empty if there is none."""
        below = (call for path, call in calls.items() if path in self.modules and len(path) > len(parent))
        return next(below, "")

    def outline(self, block: Block, parent: str) -> None:
        """Moves the runs of calls below the module `parent` out of a block."""
        last = block.last_op
        ops = [op for op in block.ops if op is not last]
        # What has no origin (a literal that a pass made) goes with what follows.
        children, known = list[str](), ""
        for op in reversed(ops):
            origin = origin_of(op)
            known = known if origin is None else self.child(origin.calls(), parent)
            children.append(known)
        pairs = zip(reversed(children), ops, strict=True)
        for call, run in groupby(pairs, key=lambda pair: pair[0]):
            if call:
                self.function([op for _, op in run], call, block)

    def function(self, ops: Sequence[Operation], call: str, block: Block) -> None:
        """Makes a function of consecutive operations of a block, and a call in their place."""
        group = set(ops)
        inside = {result for op in ops for inner in op.walk() for result in inner.results}
        inside |= {arg for op in ops for inner in op.walk() for arg in _arguments(inner)}
        name = self.name(call)
        boundaries = dict(self.boundaries(ops, inside, block))
        taken, given = boundaries.get(name, ([], []))
        if name in boundaries and (signature := self.signatures[name]) is not None:
            self.kept[name] = self.living(signature, block)
        used = [value for op in ops for inner in op.walk() for value in inner.operands]
        used += [value for sides in boundaries.values() for side in sides for value in side]
        inputs = [*taken, *dict.fromkeys(value for value in used if value not in inside.union(taken))]
        left = [
            value
            for op in ops
            for value in op.results
            if any(_ancestor(use.operation, block) not in group for use in value.uses)
        ]
        outputs = [*given, *(value for value in left if value not in given)]
        body = Block(arg_types=[value.type for value in inputs])
        made = CallOp(name, inputs, [value.type for value in outputs])
        made.location = ops[0].location
        block.insert_op_before(made, ops[0])
        without, within = dict(zip(outputs, made.res, strict=True)), dict[SSAValue, SSAValue]()
        for old, new in zip(outputs, made.res, strict=True):
            new.name_hint = old.name_hint
            if old in left:
                old.replace_uses_with_if(new, lambda use: _ancestor(use.operation, block) not in group)
        for old, new in zip(inputs, body.args, strict=True):
            new.name_hint = old.name_hint
            within.setdefault(old, new)
            old.replace_uses_with_if(new, lambda use: _ancestor(use.operation, block) in group)
        here = self.places[block]
        self.places[body] = {
            place: within.get(value, value)
            for place, value in here.items()
            if value in within or value in inside
        }
        here |= {
            place: without[value] for place, value in here.items() if value in inside and value in without
        }
        for op in ops:
            op.detach()
            body.add_op(op)
        body.add_op(ReturnOp(*(within.get(value, value) for value in outputs)))
        types = [value.type for value in inputs], [value.type for value in outputs]
        function = FuncOp(name, types, Region(body), PRIVATE)
        function.location = made.location
        self.made.append(function)
        self.outline(body, call.partition("@")[0])

    def boundaries(
        self, ops: Sequence[Operation], inside: Set[SSAValue], block: Block
    ) -> Iterator[tuple[str, Boundary]]:
        """What the calls that operations of a block are of take and give by their signatures, by name: nothing of calls
        without a signature, and of those that a pass has moved before what they take."""

        def is_there(value: SSAValue) -> bool:
            return value in inside or isinstance(value.owner, Block) or value.owner.is_before_in_block(ops[0])

        places = self.places[block]
        for call in calls_of(ops):
            if (signature := self.signatures.get(call)) is None:
                continue
            signature = self.living(signature, block)
            taken, given = (
                [places[slot.name, slot.index] for slot in side if not slot.is_constant]
                for side in (signature.inputs, signature.outputs)
            )
            if all(map(is_there, (*taken, *given))):
                yield call, (taken, given)

    def living(self, signature: CallingConvention, block: Block) -> CallingConvention:
        """A signature with None for what a pass has dropped."""
        inputs, outputs = (
            tuple(
                slot
                if slot.is_constant or (slot.name, slot.index) in self.places[block]
                else replace(slot, is_constant=True)
                for slot in side
            )
            for side in (signature.inputs, signature.outputs)
        )
        return replace(signature, inputs=inputs, outputs=outputs)

    def name(self, call: str) -> str:
        """The name of a call; of another piece of it, which a pass may have left, with a number."""
        name, count = call, 0
        while name in self.names:
            count += 1
            name = f"{call}#{count}"
        self.names.add(name)
        return name


def _arguments(op: Operation) -> Iterator[SSAValue]:
    return (arg for region in op.regions for block in region.blocks for arg in block.args)


def _ancestor(op: Operation, block: Block | None) -> Operation | None:
    """The operation of a block that an operation is, or is inside."""
    return block.find_ancestor_op_in_block(op) if block is not None else None


# --- and back ------------------------------------------------------------------------------------------------


def inline_modules(module: ModuleOp) -> None:
    """Puts private functions where they are called, and removes them. Raises `VerificationError` for one that is
    called but has no body, or calls itself."""
    private = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and is_private(op)}
    bodies = {name: function for name, function in private.items() if not function.is_declaration}

    def calls(function: FuncOp) -> Iterable[CallOp]:
        return [op for op in function.walk() if isinstance(op, CallOp)]

    def expand(function: FuncOp, within: tuple[str, ...]) -> None:
        for call in calls(function):
            name = call.callee.string_value()
            if name in within or name not in bodies:
                reason = "calls itself" if name in within else "is no function of the program"
                raise VerificationError(f"func.call: @{name} {reason}")
            copy = bodies[name].clone()
            expand(copy, (*within, name))
            _inline(call, copy)

    for function in [op for op in module.ops if isinstance(op, FuncOp) and not is_private(op)]:
        expand(function, (function.sym_name.data,))
    for function in bodies.values():
        function.detach()
        function.erase(safe_erase=False)


def _inline(call: CallOp, function: FuncOp) -> None:
    block = function.body.block
    end = block.last_op
    assert isinstance(end, ReturnOp)
    within: dict[SSAValue, SSAValue] = dict(zip(block.args, call.arguments, strict=True))
    for result, value in zip(call.res, end.arguments, strict=True):
        result.replace_all_uses_with(within.get(value, value))
    end.detach()
    end.erase()
    Rewriter.inline_block(block, InsertPoint.before(call), call.arguments)
    call.detach()
    call.erase()


def outline_modules(
    module: ModuleOp, conventions: Mapping[str, CallingConvention], modules: Iterable[str] = ()
) -> dict[str, CallingConvention]:
    """Makes private functions of the `nn.Module`s that operations come from, nested as the modules are.

    `modules` are the paths of those that are called, beside those that the methods' conventions name; if there are none,
    all that operations name as theirs, which leaves out containers that do nothing but call others. Returns how
    functions are called whose module had to keep its signature: they take its inputs, then the weights and whatever
    else is used, and give its outputs, then whatever else is.
    """
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    known = {path for convention in conventions.values() for path in convention.modules} | {*modules}
    if not known:
        origins = filter(None, map(origin_of, module.walk()))
        known = {path for origin in origins for path in [*origin.calls()][-1:]}
    outliner = Outliner(frozenset(known), {}, {function.sym_name.data for function in functions})
    for function in functions:
        if not function.is_declaration and not is_private(function):
            convention = conventions.get(function.sym_name.data)
            outliner.signatures = convention.calls if convention is not None else {}
            outliner.method(function)
    module.body.block.add_ops(outliner.made)
    return outliner.kept


@dataclass(frozen=True)
class Unflatten(ModulePass):
    """Makes private functions of the `nn.Module`s that operations come from, nested as the modules are.

    `modules` are the paths of those that are called; by default the ones that operations name as theirs, which leaves
    out containers that do nothing but call others.
    """

    name = "unflatten"

    modules: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        outline_modules(op, {}, self.modules)


@dataclass(frozen=True)
class InlineModules(ModulePass):
    """Puts the operations of private functions back where these are called. Raises `VerificationError` for a function that is called
    and has no body, or calls itself."""

    name = "inline-modules"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        inline_modules(op)
