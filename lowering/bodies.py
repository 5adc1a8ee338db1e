"""Operators that backends add, natively: those that nobody registered a lowering for are what their functions say,
and out-variants what they are of."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xdsl_exir.lowering import LOWERINGS
from xdsl_exir.transforms.backend_ops import BACKEND_OPS
from xdsl_exir.transforms.fuse_operators import put_bodies
from xdsl_exir.transforms.verify import is_of_backend


def without_lowering() -> Collection[str]:
    """Names of the operators of backends that have no lowering."""
    return {name for name, op in BACKEND_OPS.items() if LOWERINGS.find(op.spec) is None}


@dataclass(frozen=True)
class BodiesInPlace(ModulePass):
    """Puts the bodies of operators of backends that have no lowering in their place."""

    name = "bodies-in-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if any(map(is_of_backend, op.walk())):
            put_bodies(op, without_lowering())
