"""Which dispatch an operator is part of, where the program says so: then it is planned with what is in that dispatch and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from xdsl_exir.dialects.backend import DispatchOp
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.locations import location_text
from xdsl_exir.lowering.dispatches.views import is_view
from xdsl_exir.transforms.partition import inline_dispatches


@dataclass(frozen=True, eq=False)
class Boundary:
    """Of a dispatch that the program has: the kind of kernel that it says is written for it, and where it comes from."""

    kernel: str | None
    location: str


@dataclass(frozen=True)
class Formed:
    """A dispatch that was made: its kind of kernel, None where MLIR lowers it, and the program's operators in it."""

    kernel: str | None
    ops: Sequence[Operation]


@dataclass(frozen=True)
class Boundaries:
    """The dispatches that operators are part of. What is part of none may be planned with all else that is not."""

    of: Mapping[Operation, Boundary] = field(default_factory=dict[Operation, Boundary])

    def are_together(self, one: Operation, other: Operation) -> bool:
        """Whether two operators may become part of one dispatch."""
        return self.of.get(one) is self.of.get(other)

    def takes(self, op: Operation, kernel: str | None) -> bool:
        """Whether an operator may become part of a dispatch with this kind of kernel."""
        return op not in self.of or self.of[op].kernel == kernel

    def check(self, formed: Sequence[Formed]) -> None:
        """Raises `UnsupportedError` naming the dispatches for which there is no kernel of the kind that they say."""
        made: dict[Boundary, set[str | None]] = {}
        for each in formed:
            for boundary in {self.of[op] for op in each.ops if op in self.of}:
                made.setdefault(boundary, set()).add(each.kernel)
        blocking = [
            Unsupported(DispatchOp.name, f"no kernel of kind {boundary.kernel!r} takes it", boundary.location)
            for boundary, kernels in made.items()
            if boundary.kernel not in kernels
        ]
        if blocking:
            raise UnsupportedError(blocking)


def take_boundaries(module: ModuleOp) -> Boundaries:
    """Puts what dispatches hold in their place; which operators were in which."""
    found: dict[Operation, Boundary] = {}
    dispatches = [op for op in module.walk() if isinstance(op, DispatchOp)]
    for dispatch in dispatches:
        boundary = Boundary(dispatch.kernel and dispatch.kernel.data, location_text(dispatch))
        found |= {op: boundary for op in dispatch.body.block.ops if not is_view(op)}
    blocks = dict.fromkeys(block for op in dispatches if (block := op.parent) is not None)
    inline_dispatches(module)
    for block in blocks:
        merge_views(block)
    return Boundaries(found)


def merge_views(block: Block) -> None:
    """Makes one of views and literals that are the same: each dispatch had its own."""
    known: dict[object, Operation] = {}
    for op in block.ops:
        if isinstance(op, ConstantOp) or (isinstance(op, OperatorOp) and is_view(op)):
            types = tuple(result.type for result in op.results)
            key = (op.name, tuple(op.operands), frozenset(op.properties.items()), types)
            same = known.setdefault(key, op)
            if same is not op:
                replace(op, same.results)


def replace(op: Operation, values: Sequence[SSAValue]) -> None:
    """Erases an operation for values that are the same as its results."""
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.detach()
    op.erase()
