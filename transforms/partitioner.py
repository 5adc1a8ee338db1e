"""Partitioners: which operations of an edge program a backend takes, decided by any predicate.

    parts = partition(program, "npu", lambda op: op.name in ("aten.mm", "aten.relu") or "not on this chip")
    parts.program, parts.left

A predicate sees an operation as a `Candidate` and answers True, False, or the reason why not. What is chosen goes into as few
delegates as can be (`partition`), which own the weights that they alone use; `left` has everything that was not taken, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.backend import PartOp, is_delegable, names_sizes
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.meta import as_meta
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import InputKind
from xdsl_exir.dialects.tensors import TensorMeta, is_tensor_type, is_value, tensor_meta
from xdsl_exir.errors import Unsupported
from xdsl_exir.locations import location_text
from xdsl_exir.program import Program, state_of
from xdsl_exir.threads import cached_property
from xdsl_exir.transforms.out_variants import refuse_early
from xdsl_exir.transforms.partition import attribute_of, group, keep_ranges, own, state_names


@dataclass(frozen=True)
class Candidate:
    """An operation, as a partitioner sees it."""

    op: Operation

    @property
    def name(self) -> str:
        """`aten.mm`, `npu.linear_relu`; of operations with regions `higher_order.cond`."""
        return self.op.SPEC.qualified_name if isinstance(self.op, OperatorOp) else self.op.name

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        """An operator's arguments by name: of values their types, shape and dtype of tensors."""
        op = self.op
        return op.arguments(lambda value: as_meta(value.type)) if isinstance(op, OperatorOp) else {}

    @cached_property
    def inputs(self) -> Sequence[TensorMeta]:
        """Shapes and dtypes of the tensors that it takes."""
        return _metas(self.op.operands)

    @cached_property
    def outputs(self) -> Sequence[TensorMeta]:
        """Shapes and dtypes of the tensors that it gives."""
        return _metas(self.op.results)

    @property
    def dtypes(self) -> frozenset[DType]:
        """Those of all tensors that it takes and gives."""
        return frozenset(meta.dtype for meta in (*self.inputs, *self.outputs))

    @property
    def rank(self) -> int:
        """That of its first result, 0 without one."""
        return self.outputs[0].ndim if self.outputs else 0

    @property
    def is_static(self) -> bool:
        """Whether all sizes are numbers."""
        return all(isinstance(size, int) for meta in (*self.inputs, *self.outputs) for size in meta.shape)

    def is_constant(self, argument: str) -> bool:
        """Whether an argument is known when the program is compiled: a literal, state, or no tensor at all."""
        op = self.op
        value = op.arguments().get(argument) if isinstance(op, OperatorOp) else None
        if not is_value(value):
            return True
        if isinstance(value.owner, ConstantOp):
            return True
        function = op.parent_op()
        attr = attribute_of(function, value) if isinstance(function, FuncOp) else None
        return attr is not None and attr.data.kind is not InputKind.USER_INPUT

    @property
    def users(self) -> Sequence[Candidate]:
        """The operations that use its results, each once."""
        found = dict.fromkeys(use.operation for result in self.op.results for use in result.uses)
        return [Candidate(op) for op in found]


def _metas(values: Sequence[SSAValue]) -> Sequence[TensorMeta]:
    return [tensor_meta(value.type) for value in values if is_tensor_type(value.type)]


Predicate: TypeAlias = Callable[[Candidate], "bool | str"]
"""What decides: True for what is taken, False or the reason for what is not."""


@dataclass(frozen=True)
class Partitioned:
    """A program with delegates, and what is in none."""

    program: Program
    left: Sequence[Unsupported]
    """The operations that were not taken, each with the reason and its source line."""


@dataclass(frozen=True)
class PartitionBy(ModulePass):
    """Moves the operations that a predicate chooses into delegates of a backend; from Python only.

    Raises `UnsupportedError` where the program is not at the edge stage.
    """

    name = "partition-by"

    backend: str
    predicate: Predicate
    constants: bool = True
    """Whether delegates own the state that they alone use."""
    specs: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    left: list[Unsupported] = field(default_factory=list[Unsupported], compare=False)
    """Filled with what was not taken."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refuse_early(op)
        by_block: dict[Block, set[Operation]] = {}
        for inner in op.walk():
            if not _is_open(inner):
                continue
            reason = self.reason(inner)
            if reason is not None:
                self.left.append(Unsupported(inner.name, reason, location_text(inner)))
            elif inner.parent is not None:
                by_block.setdefault(inner.parent, set()).add(inner)
        specs = {key: StringAttr(value) for key, value in self.specs.items()}
        outermost = {
            block: {each for each in chosen if not _is_in(each, by_block)}
            for block, chosen in by_block.items()
        }
        for block, outer in outermost.items():
            for made in group(block, outer, self.backend, specs) if outer else ():
                keep_ranges(made)
                if self.constants:
                    own(made, state_names(op, state_of(ctx)))

    def reason(self, op: Operation) -> str | None:
        """Why an operation is not taken; None where it is."""
        if not is_side_effect_free(op):
            return "it does more than give results"
        if not is_delegable(op) and not isinstance(op, cf.OPERATIONS):
            return "no operation that delegates hold"
        answer = self.predicate(Candidate(op))
        if isinstance(answer, str):
            return answer
        return None if answer else f"not chosen for {self.backend}"


def _is_open(op: Operation) -> bool:
    """Whether an operation is one that partitioners decide of."""
    if isinstance(op, ConstantOp | ReturnOp | FuncOp | ModuleOp | cf.YieldOp | PartOp) or names_sizes(op):
        return False
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, PartOp):
        parent = parent.parent_op()
    return parent is None and op.name != "backend.yield"


def _is_in(op: Operation, chosen: Mapping[Block, set[Operation]]) -> bool:
    """Whether an operation is inside of one that is chosen itself."""
    parent = op.parent_op()
    while parent is not None:
        if parent.parent is not None and parent in chosen.get(parent.parent, ()):
            return True
        parent = parent.parent_op()
    return False


def partition(
    program: Program,
    backend: str,
    predicate: Predicate,
    constants: bool = True,
    specs: Mapping[str, str] = MappingProxyType({}),
) -> Partitioned:
    """Moves the operations of an edge program that a predicate chooses into delegates of a backend.

    With `constants`, delegates own the state that they alone use; `specs` is what the backend is told besides.
    Raises `UnsupportedError` where the program is not at the edge stage.
    """
    each = PartitionBy(backend, predicate, constants, dict(specs))
    return Partitioned(program.transform(each), tuple(each.left))
