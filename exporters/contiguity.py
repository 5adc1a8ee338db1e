"""Which values PyTorch will hold in row-major order, and which in one memory.

In the IR a tensor is its elements; in PyTorch it is a view of memory, and a few operators (`aten.view` is one) fail, or mean
something else, where the elements of their operand do not lie in row-major order. A program as it was imported never
calls them so; once a pass has removed a copy it may. The exporter copies the operands of which it is not known here.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects.ancestry import origin_of
from xdsl_exir.dialects.exir import ConstantOp, RefineOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.spec import families, specs
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.narrowing import is_list

NEEDS_ROW_MAJOR = frozenset(
    {
        "aten.view",
        "aten._unsafe_view",
        "aten.view.dtype",
        "aten.view_as_complex",
        "aten.as_strided",
        "aten.as_strided_scatter",
    }
)
"""Operators that depend on how their first operand lies in memory."""
NEEDS_ITS_START = frozenset({"aten.as_strided", "aten.as_strided_scatter"})
"""Those among them that count from where memory starts: the importer has changed them to count from their operand's start."""

_FRESH = frozenset({"aten.mm", "aten.bmm", "aten.addmm", "aten.baddbmm", "aten.linear"})
"""Operators whose result is row-major whatever their operands are."""
_KEEPING = frozenset(
    {
        *("aten.view", "aten._unsafe_view", "aten.alias", "aten.detach", "aten.lift_fresh"),
        *("aten.unsqueeze", "aten.squeeze", "aten.squeeze.dim", "aten.squeeze.dims"),
    }
)
"""Views that are row-major where what they view is."""
_OWN_ORDER = families("linear_algebra", "fft", "attention", "recurrent")
"""Families whose kernels may give results in an order of their own."""


class Contiguity:
    """Says of values whether they are row-major. Operations are shown to it in their order."""

    def __init__(self):
        self.row_major: set[SSAValue] = set()
        """Values that are known to be row-major."""
        self.foreign: set[Operation] = set()
        """Operations that are not those of the imported program, or that something foreign leads to."""

    def visit(self, op: Operation) -> None:
        """Notes what is known of an operation's results."""
        foreign = any(operand.owner in self.foreign for operand in op.operands)
        if foreign or not _is_as_imported(op):
            self.foreign.add(op)
        if self.gives_row_major(op):
            self.row_major.update(op.results)

    def copy_needed(self, op: OperatorOp) -> bool:
        """Whether the operator's first operand must be copied for it to mean in PyTorch what it means here."""
        name = op.SPEC.qualified_name
        concerned = name in NEEDS_ITS_START or (name in NEEDS_ROW_MAJOR and op in self.foreign)
        return concerned and op.operands[0] not in self.row_major

    def lost_its_copy(self, op: OperatorOp) -> bool:
        """Whether an operator's results lay row-major in memory of their own in the imported program, and are views now
        of which that is not known."""
        origin = origin_of(op)
        before = specs().get(origin.operator) if origin is not None else None
        # Operators made of others may give views though their schemas do not say so, as broadcast_tensors does.
        was_copied = before is not None and not before.schema.is_view and "composite" not in before.tags
        return op.SPEC.schema.is_view and was_copied and not self.row_major.issuperset(op.results)

    def gives_row_major(self, op: Operation) -> bool:
        """Whether an operation's results are known to be row-major."""
        if not isinstance(op, OperatorOp):
            return isinstance(op, ConstantOp) or (isinstance(op, RefineOp) and op.input in self.row_major)
        spec = op.SPEC
        if spec.qualified_name in _FRESH:
            return True
        if spec.qualified_name == "aten.clone" and op.arguments()["memory_format"] == "contiguous_format":
            return True
        if spec.family in _OWN_ORDER or ("view" in spec.tags and spec.qualified_name not in _KEEPING):
            return False
        return all(operand in self.row_major for operand in op.operands if is_tensor_type(operand.type))


def bases_of(value: SSAValue) -> frozenset[SSAValue]:
    """The values whose memory PyTorch surely holds a tensor in: what it is a view of, and itself if it is none."""
    op = value.owner
    if isinstance(op, RefineOp):
        return bases_of(op.input)
    sharing = op.SPEC.sharing if isinstance(op, OperatorOp) else None
    if not isinstance(op, OperatorOp) or sharing is None or sharing.condition != "always":
        return frozenset([value])
    source = op.arguments()[sharing.source]
    return frozenset[SSAValue]().union(*map(bases_of, source if is_list(source) else [source]))


def _is_as_imported(op: Operation) -> bool:
    """Whether an operation is one that the importer made of a node of the same operator."""
    if not isinstance(op, OperatorOp):
        return True
    origin = origin_of(op)
    return op.NUMBERS and origin is not None and origin.operator == op.SPEC.qualified_name
