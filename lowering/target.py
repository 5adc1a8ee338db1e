"""What lowering asks of a target that code is made for: which operators its kernels take, and in which groups.

Lowering cuts programs into dispatches and knows no kernel; a target is passed in, and says of each operator whether it has one. All of a
target's own, descriptions of kernels and of the machine among it, is in its folder of `targets/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.lowering.kernel import Kernel

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner
    from xdsl_exir.lowering.dispatches.buffers import Value


Solved = TypeVar("Solved", bound=Kernel)


class Group(Protocol):
    """Operators of one dispatch, as they are put together."""

    ops: list[OperatorOp]
    inside: set[Operation]
    """The same."""

    def add(self, op: OperatorOp) -> None: ...

    def copy(self) -> Group:
        """The same operators, to which others may be added apart."""
        ...

    def takes(self, op: OperatorOp) -> bool:
        """Whether an operator can join."""
        ...

    def dispatch(self, outputs: Sequence[SSAValue]) -> None:
        """Makes a dispatch of the group; outputs are what is used outside."""
        ...


class CodeTarget(Protocol):
    """A target as lowering sees it. Operators that it does not take go through linalg, and MLIR's passes."""

    @property
    def forms(self) -> ModulePass:
        """Puts operators of an edge program in the forms that kernels take."""
        ...

    def takes(self, op: Operation) -> bool:
        """Whether there is code of the target's for an operator without a lowering, which `dispatch` makes."""
        ...

    def dispatch(self, planner: Planner, op: OperatorOp) -> bool:
        """Makes a dispatch of an operator and of what its kernel can absorb; False, and nothing is done, if no kernel takes it alone."""
        ...

    def group(self, planner: Planner, op: OperatorOp) -> Group | None:
        """A group, still empty, that begins with an operator; None if no kernel takes it with others."""
        ...

    def tuned(self, kernel: Solved) -> Solved:
        """A kernel as it is best, by what was measured; as it is, where nothing was."""
        ...

    def copy(self, source: Value, target: Value) -> tuple[Kernel, Sequence[Value]] | None:
        """The kernel that copies a value to another one of its shape, and what it is called with; None if there is none."""
        ...

    def described(self, kernel: Kernel) -> Attribute:
        """What a dispatch says of its kernel."""
        ...

    def kernel(self, described: Attribute) -> Kernel:
        """The kernel that a dispatch describes. Raises `VerificationError` where that is none."""
        ...
