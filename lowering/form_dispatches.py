"""`form-dispatches`: which operators of an edge program become one function of native code, decided and written down.

The plan of `to-destinations` is made and thrown away, but for what it puts together: the operators of each dispatch become a
`backend.dispatch`. Whoever moves operators between dispatches, or takes a dispatch's kernel away, gets what the program then says.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_exir.dialects.backend import DispatchOp, YieldOp, is_delegable
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.lowering.checks import take_checks
from xdsl_exir.lowering.dispatch import Dispatches, Planner
from xdsl_exir.lowering.dispatches.boundaries import Boundaries, take_boundaries
from xdsl_exir.lowering.target import CodeTarget
from xdsl_exir.lowering.to_destinations import prepare
from xdsl_exir.program import methods_of, state_of
from xdsl_exir.transforms.fold_constants import constant_arguments
from xdsl_exir.transforms.partition import inline


@dataclass(frozen=True)
class FormDispatches(ModulePass):
    """Puts the operators of an edge program into `backend.dispatch`es, for a target. What only says how elements are seen,
    sizes and control flow stay between them.

    Raises `UnsupportedError` listing everything that cannot be lowered; then nothing is changed.
    """

    name = "form-dispatches"

    @property
    @abstractmethod
    def target(self) -> CodeTarget:
        """What the code is for."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        whole, target = op.clone(), self.target
        target.forms.apply(ctx, whole)
        module = whole.clone()
        originals = dict(zip(flat(module), flat(whole), strict=True))
        planners = plan(ctx, module, prepare(ctx, module, target), target)
        old, new = op.body.block, whole.body.detach_block(0)
        op.body.erase_block(old)
        op.body.add_block(new)
        take_boundaries(op)
        position = {each: at for at, each in enumerate(op.walk())}
        chosen = [
            ([originals[each] for each in formed.ops if each in originals], formed.kernel)
            for planner in planners
            for formed in planner.formed
        ]
        free = position.keys() - {each for ops, _ in chosen for each in ops}
        for ops, kernel in chosen:
            form(sorted(ops, key=position.__getitem__), kernel, position, free)
        for block in [block for method in methods_of(op).values() for block in method.walk_blocks()]:
            sort(block)


def flat(module: ModuleOp) -> Iterable[Operation]:
    """The operations of a module, without dispatches."""
    return (op for op in module.walk() if not isinstance(op, DispatchOp | YieldOp))


def plan(ctx: Context, module: ModuleOp, boundaries: Boundaries, target: CodeTarget) -> Sequence[Planner]:
    """The plans of a module's methods."""
    dispatches, state = Dispatches(), state_of(ctx)
    take_checks(module, state)
    planners = [
        Planner(method, constant_arguments(module, method, state), target, dispatches, boundaries)
        for method in methods_of(module).values()
    ]
    for planner in planners:
        planner.run(planner.function.sym_name.data)
    return planners


# --- putting operators together ------------------------------------------------------------------------------


def form(
    ops: Sequence[Operation],
    kernel: str | None,
    position: Mapping[Operation, int],
    free: Collection[Operation],
) -> None:
    """Makes a dispatch of operators of one block, where the last of them is. Literals, and what is between these operators of those
    that are `free`, part of no dispatch, are copied into it. Positions are those in the program."""
    ops = [op for op in ops if op.parent is ops[0].parent and is_delegable(op)]
    if not ops:
        return
    members = dict.fromkeys(sorted([*ops, *between(ops, position, free)], key=position.__getitem__))
    needed = dict.fromkeys(value for op in members for value in op.operands if value.owner not in members)
    literals = dict.fromkeys(owner for value in needed if isinstance(owner := value.owner, ConstantOp))
    inputs = [value for value in needed if value.owner not in literals]
    outputs = [result for op in ops for result in op.results if is_used_outside(result, members, free)]
    block = Block(arg_types=[value.type for value in inputs])
    mapper = dict[SSAValue, SSAValue](zip(inputs, block.args, strict=True))
    for op in (*literals, *members):
        block.add_op(op.clone(mapper))
    block.add_op(YieldOp(*(mapper[value] for value in outputs)))
    made = DispatchOp(kernel, inputs, Region(block), [value.type for value in outputs])
    made.location = ops[-1].location
    Rewriter.insert_op(made, InsertPoint.after(ops[-1]))
    for old, new in zip((*inputs, *outputs), (*block.args, *made.outputs), strict=True):
        new.name_hint = old.name_hint
    for old, new in zip(outputs, made.outputs, strict=True):
        old.replace_uses_with_if(new, lambda use: use.operation.parent is not block)
    erase_unused([*literals, *members], set(ops))


def between(
    ops: Collection[Operation], position: Mapping[Operation, int], free: Collection[Operation]
) -> list[Operation]:
    """What operators see of what others of them make through: views, sizes, what is known when a program is compiled."""
    members, found = set(ops), set[Operation]()
    waiting = list(ops)
    while waiting:
        owners = {value.owner for value in waiting.pop().operands}
        new = [each for each in owners if isinstance(each, Operation) and each in free and each not in found]
        found.update(new)
        waiting += new
    between = dict[Operation, None]()
    for op in sorted(found, key=position.__getitem__):
        if any(value.owner in members or value.owner in between for value in op.operands):
            between[op] = None
    return list(between)


def is_used_outside(value: SSAValue, members: Collection[Operation], free: Collection[Operation]) -> bool:
    """Whether a value is used by other operations than these, or what those of these that are `free` make of it is."""
    left = [value]
    for value in left:
        for use in value.uses:
            if use.operation not in members:
                return True
            if use.operation in free:
                left += use.operation.results
    return False


def erase_unused(ops: Sequence[Operation], moved: Collection[Operation]) -> None:
    """Erases operations that are in a dispatch now, but those that others use too and are in no other."""
    for op in reversed(ops):
        if op in moved or not any(result.uses for result in op.results):
            op.detach()
            op.erase()


def sort(block: Block) -> None:
    """Brings the operations of a block into an order in which each comes after what it needs, close to theirs. A dispatch that needs
    itself, through what is known when the program is compiled, is given up: nothing is between its operators then."""
    while isinstance(order := order_of(block), DispatchOp):
        inline(order)
    for op in order:
        op.detach()
    block.add_ops(order)


def order_of(block: Block) -> list[Operation] | DispatchOp:
    """The operations of a block in such an order, or a dispatch that needs itself."""
    order = dict[Operation, None]()
    seen = set[Operation]()
    for op in block.ops:
        waiting = [op]
        while waiting:
            last = waiting[-1]
            owners = (value.owner for value in last.operands)
            needed = [each for each in owners if isinstance(each, Operation) and each not in order]
            if not needed:
                order[waiting.pop()] = None
            elif last not in seen:
                seen.add(last)
                waiting += needed
            else:
                return next(
                    each for each in reversed(waiting) if isinstance(each, DispatchOp) and each in seen
                )
    return list(order)
