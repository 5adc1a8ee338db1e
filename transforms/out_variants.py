"""`to-out-variants`: operators that write to memory which they are given, by ExecuTorch's names, each beside its allocation.

`decompose-backend` is its inverse. What is run here, natively or by the interpreter, is what the operators compute.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free

from xdsl_exir.dialects.backend import AllocOp, OutVariantOp, PartOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.out_variants import out_variant
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.locations import location_text


@dataclass(frozen=True)
class ToOutVariants(ModulePass):
    """Makes operators that give tensors write to memory that is allocated before: `to-out-variants{ignore=true}` leaves those as they
    are that have no out-variant. What gives no tensor stays, and so does what delegates hold.

    Raises `UnsupportedError` that lists operators without an out-variant, unless they are to be ignored, and where the program is not
    at the edge stage.
    """

    name = "to-out-variants"

    ignore: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refuse_early(op)
        giving = [
            inner
            for inner in op.walk()
            if isinstance(inner, OperatorOp)
            and any(is_tensor_type(result.type) for result in inner.results)
            and not isinstance(inner.parent_op(), PartOp)
        ]
        missing = [inner for inner in giving if not has_out_variant(inner)]
        if missing and not self.ignore:
            raise UnsupportedError(
                [Unsupported(inner.name, "it has no out-variant", location_text(inner)) for inner in missing]
            )
        for inner in giving:
            target = out_variant(inner.SPEC)
            if target is not None and inner not in missing:
                allocs = [AllocOp(result.type) for result in inner.results]
                made = OutVariantOp(target, inner, [alloc.result for alloc in allocs])
                made.attributes |= inner.attributes
                for each in (*allocs, made):
                    each.location = inner.location
                for old, new in zip(inner.results, made.outputs, strict=True):
                    new.name_hint = old.name_hint
                Rewriter.replace_op(inner, [*allocs, made], list(made.outputs))


def has_out_variant(op: OperatorOp) -> bool:
    """Whether an operation has an out-variant. Draws of random numbers and what else has effects stay as they are."""
    return is_side_effect_free(op) and out_variant(op.SPEC) is not None


def from_out_variants(module: ModuleOp) -> None:
    """Makes out-variants the operators that they are."""
    for op in [op for op in module.walk() if isinstance(op, OutVariantOp)]:
        made = op.functional_op()
        made.attributes |= op.attributes
        made.location = op.location
        for old, new in zip(op.outputs, made.results, strict=True):
            new.name_hint = old.name_hint
        Rewriter.replace_op(op, made, list(made.results))
    for op in [op for op in module.walk() if isinstance(op, AllocOp) and op.result.first_use is None]:
        op.detach()
        op.erase()


def refuse_early(module: ModuleOp) -> None:
    """Raises `UnsupportedError` for operations that are not at the edge stage."""
    early = [op for op in module.walk() if isinstance(op, OperatorOp) and op.NUMBERS]
    if early:
        raise UnsupportedError(
            [Unsupported(op.name, "not an edge operation", location_text(op)) for op in early]
        )
