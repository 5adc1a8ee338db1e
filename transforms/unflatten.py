"""`unflatten`: the module hierarchy back, as functions; `inline-modules` undoes it.

Operations say in `exir.origin` which `nn.Module` called them. A run of operations of one module, its submodules' among
them, becomes a private `func.func @layers.0.ff`, called where the run stood; inside it the same is done for its
submodules. A run is convex whatever its operations are, and putting it back gives the very program that it was taken from.
A module that is called several times has a function for each call: `@act`, `@act@1`, as in `torch.export.unflatten`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_exir.dialects.exir import ORIGIN, OriginAttr
from xdsl_exir.errors import VerificationError

PRIVATE = "private"


def is_private(function: FuncOp) -> bool:
    """Whether a function is part of others, not a method."""
    return function.sym_visibility == StringAttr(PRIVATE)


# --- functions of modules ------------------------------------------------------------------------------------


def path_of(op: Operation) -> str | None:
    """The module that called an operation, the root being empty; None where that is not known."""
    origin = op.attributes.get(ORIGIN)
    return origin.data.module if isinstance(origin, OriginAttr) else None


@dataclass
class Outliner:
    """Makes functions of the modules in one module of the IR."""

    modules: frozenset[str]
    """Paths of the modules that are called; empty for those that operations name."""
    names: set[str]
    """Names of functions that are taken."""
    made: list[FuncOp] = field(default_factory=list[FuncOp])

    def child(self, path: str, parent: str) -> str:
        """The outermost module below `parent` that leads to `path`; `parent` itself if there is none."""
        prefixes = (path[:end] for end in _ends(path))
        below = (prefix for prefix in prefixes if prefix in self.modules and len(prefix) > len(parent))
        return next(below, parent)

    def outline(self, block: Block, parent: str) -> None:
        """Moves the runs of modules below `parent` out of a block."""
        last = block.last_op
        ops = [op for op in block.ops if op is not last]
        # What has no origin (a literal that a pass made) goes with what follows.
        children, known = list[str](), parent
        for op in reversed(ops):
            path = path_of(op)
            known = known if path is None else self.child(path, parent)
            children.append(known)
        pairs = zip(reversed(children), ops, strict=True)
        for child, run in groupby(pairs, key=lambda pair: pair[0]):
            if child != parent:
                self.function([op for _, op in run], child)

    def function(self, ops: Sequence[Operation], path: str) -> None:
        """Makes a function of consecutive operations of a block, and a call in their place."""
        inside = {result for op in ops for inner in op.walk() for result in inner.results}
        inside |= {arg for op in ops for inner in op.walk() for arg in _arguments(inner)}
        used = (value for op in ops for inner in op.walk() for value in inner.operands)
        inputs = list(dict.fromkeys(value for value in used if value not in inside))
        group = set(ops)
        outputs = [
            result
            for op in ops
            for result in op.results
            if any(_ancestor(use.operation, op.parent) not in group for use in result.uses)
        ]
        name = self.name(path)
        body = Block(arg_types=[value.type for value in inputs])
        call = CallOp(name, inputs, [value.type for value in outputs])
        call.location = ops[0].location
        if (block := ops[0].parent) is not None:
            block.insert_op_before(call, ops[0])
        for old, new in zip(outputs, call.res, strict=True):
            new.name_hint = old.name_hint
            old.replace_uses_with_if(new, lambda use: _ancestor(use.operation, block) not in group)
        for old, new in zip(inputs, body.args, strict=True):
            new.name_hint = old.name_hint
            old.replace_uses_with_if(new, lambda use: _ancestor(use.operation, block) in group)
        for op in ops:
            op.detach()
            body.add_op(op)
        body.add_op(ReturnOp(*outputs))
        types = [value.type for value in inputs], [value.type for value in outputs]
        function = FuncOp(name, types, Region(body), PRIVATE)
        function.location = call.location
        self.made.append(function)
        self.outline(body, path)

    def name(self, path: str) -> str:
        """A name for the next call of a module."""
        name, count = path, 0
        while name in self.names:
            count += 1
            name = f"{path}@{count}"
        self.names.add(name)
        return name


def _ends(path: str) -> Iterator[int]:
    """Where the prefixes of a path end, shortest first."""
    yield from (index for index, char in enumerate(path) if char == ".")
    if path:
        yield len(path)


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


@dataclass(frozen=True)
class Unflatten(ModulePass):
    """Makes private functions of the `nn.Module`s that operations come from, nested as the modules are.

    `modules` are the paths of those that are called; by default the ones that operations name as theirs, which leaves
    out containers that do nothing but call others.
    """

    name = "unflatten"

    modules: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [inner for inner in op.ops if isinstance(inner, FuncOp)]
        paths = frozenset(self.modules or filter(None, map(path_of, op.walk())))
        outliner = Outliner(paths, {function.sym_name.data for function in functions})
        for function in functions:
            if not function.is_declaration and not is_private(function):
                outliner.outline(function.body.block, "")
        op.body.block.add_ops(outliner.made)


@dataclass(frozen=True)
class InlineModules(ModulePass):
    """Puts the operations of private functions back where these are called."""

    name = "inline-modules"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        inline_modules(op)
