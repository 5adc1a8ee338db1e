"""What programs assert of numbers, where it holds whatever these are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.ir import Operation

from xdsl_exir.dialects.expr import Expr, provably
from xdsl_exir.dialects.meta import as_meta
from xdsl_exir.dialects.operator import OperatorOp


def drop_proved(ops: Iterable[Operation], ranges: Mapping[str, tuple[int | None, int | None]]) -> None:
    """Drops those of operations that assert what holds by what symbols may be: nobody has to look at it in a call."""
    for op in list(ops):
        if isinstance(op, OperatorOp) and op.SPEC.qualified_name == "aten._assert_scalar":
            condition = op.arguments(lambda value: as_meta(value.type))["self"]
            if isinstance(condition, Expr) and provably(condition, ranges):
                op.detach()
                op.erase()
