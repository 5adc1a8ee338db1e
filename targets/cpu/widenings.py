"""What makes float32 of the halves or integers that a kernel reads as they are: it is taken out of what waits, and is part of the kernel's dispatch.

    mm(x, _to_copy(w))                                        of w, which is bfloat16, or integers of 8 bits
    mm(x, view(view(_to_copy(w), [G, g, N]) * s, [K, N]))     of w and s: scales of groups of its rows

What is not in such a form is computed on its own, before.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.dispatches.buffers import Array, Value
from xdsl_exir.lowering.dispatches.outline import Packed
from xdsl_exir.lowering.edge_to_linalg import meta_of, shape_of
from xdsl_exir.targets.cpu.epilogues import HALVES
from xdsl_exir.targets.cpu.kernels import Machine, Matmul
from xdsl_exir.targets.cpu.kernels.tiles import fits as fits_tiles
from xdsl_exir.transforms.matching import static

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner
    from xdsl_exir.lowering.linalg import LinalgBuilder
    from xdsl_exir.lowering.tensors import Tensor

HELD: dict[dt.DType, Literal["f16", "bf16", "i8"]] = {dt.Half: "f16", dt.BFloat16: "bf16", dt.Char: "i8"}
"""What the weights of products and convolutions in float32 may lie in memory as, by dtype."""


def is_float32(*values: SSAValue) -> bool:
    return all(meta_of(value).dtype is dt.Float for value in values)


def before_widening(
    planner: Planner,
    value: SSAValue,
    user: OperatorOp,
    *,
    through_views: bool = True,
    alone: bool = True,
    of: Container[dt.DType] = HALVES,
) -> OperatorOp | None:
    """What makes float32 of halves, of which a value is the result or, if that may be, a view, if it waits and nothing else uses it; `alone` if
    what makes the halves does not wait too."""
    root = planner.root(value)
    op = root.owner
    if root is not value and not through_views:
        return None
    if not isinstance(op, OperatorOp) or op not in planner.pending or not planner.is_private(root, value):
        return None
    if alone and planner.root(op.operands[0]).owner in planner.pending:
        return None  # they are made together
    is_widening = op.SPEC.qualified_name == "aten._to_copy" and meta_of(op.operands[0]).dtype in of
    fits = is_widening and is_float32(root) and shape_of(op.operands[0]) == shape_of(root)
    return op if fits and planner.boundaries.are_together(op, user) else None


def unwiden(
    planner: Planner, value: SSAValue, user: OperatorOp, of: Container[dt.DType] = HALVES
) -> list[OperatorOp]:
    """Takes that out of what a value is made of, which is then a view of the halves; gives it."""
    op = before_widening(planner, value, user, of=of)
    return [] if op is None else [taken_out(planner, op)]


def taken_out(planner: Planner, op: OperatorOp) -> OperatorOp:
    """What makes float32 of halves no longer waits: its result is then a view of the halves."""
    del planner.pending[op]
    planner.identities[op.results[0]] = op.operands[0]
    return op


THIN = 64
"""Columns, or terms, of which a product takes no longer than reading its operands: what makes float32 of them, for another instruction, is to no avail."""


def in_pairs(
    planner: Planner, op: OperatorOp, machine: Machine, lhs: SSAValue, rhs: SSAValue
) -> list[OperatorOp]:
    """What makes float32 of both sides of a product, taken out of them, if the machine multiplies pairs of bfloat16; of one row it has nothing to gain.
    A right-hand side that is packed may as well be float32 that bfloat16 holds."""
    m, k = shape_of(lhs)[-2:]
    if not isinstance(k, int) or k % 2 or m == 1 or not machine.pairs:
        return []
    is_thin = any(isinstance(size, int) and size <= THIN for size in (k, shape_of(rhs)[-1]))
    if not (machine.prefers_pairs or is_thin or fits_tiles(m, k)):
        return []
    found = [before_widening(planner, value, op, alone=False) for value in (lhs, rhs)]
    widening = [each for each in found if each is not None and meta_of(each.operands[0]).dtype is dt.BFloat16]
    integers = known_integers(planner, rhs, op)
    widening += [integers] if integers is not None else []
    fits = len(widening) == 2
    if not fits and widening == found[:1] and rhs in planner.constants:
        packed = len(shape_of(rhs)) == 2 and is_static(shape_of(rhs))
        fits = packed and is_held(planner.constants[rhs], dt.BFloat16)
    return [taken_out(planner, each) for each in widening] if fits else []


def known_integers(planner: Planner, value: SSAValue, user: OperatorOp) -> OperatorOp | None:
    """What makes a matrix of known integers of 8 bits, which bfloat16 holds too; not of a view of what it makes."""
    made = before_widening(planner, value, user, through_views=False, of=(dt.Char,))
    known = made is not None and made.operands[0] in planner.constants and len(shape_of(value)) == 2
    return made if known else None


def is_held(array: Array, dtype: dt.DType) -> bool:
    """Whether a dtype has all of these numbers."""
    with np.errstate(over="ignore"):
        return bool((array.astype(dtype.numpy) == array).all())


@dataclass(frozen=True)
class Groups:
    """A known weight of which groups of rows have scales of their own."""

    weight: SSAValue
    scales: SSAValue
    """[groups, 1, N]."""
    size: int
    """Rows of a group."""
    ops: Sequence[OperatorOp]
    """What made numbers of both."""

    def packed(self, planner: Planner, kernel: Matmul, instead: dict[SSAValue, Packed]) -> Value:
        """The scales as the kernel takes them, which it has `instead`."""
        array: Array = planner.constants[self.scales].squeeze(1)
        given = planner.constant(kernel.pack(array), dt.Float)

        def unpacked(b: LinalgBuilder, packed: Tensor) -> Tensor:
            return b.reshape(kernel.unpack(b, packed), shape_of(self.scales))

        instead[self.scales] = Packed(given, unpacked)
        return given


def groups_of(planner: Planner, value: SSAValue, user: OperatorOp) -> Groups | None:
    """What a weight is made of, taken out of it, if that is known integers in groups [groups, size, N], times known numbers [groups, 1, N]."""
    root = planner.root(value)
    op, shape = root.owner, static(shape_of(root))
    if (
        not isinstance(op, OperatorOp)
        or op not in planner.pending
        or op.SPEC.qualified_name != "aten.mul.Tensor"
    ):
        return None
    x, scales = op.operands
    if shape is None or len(shape) != 3 or shape_of(scales) != (shape[0], 1, shape[2]):
        return None
    widening = before_widening(planner, x, op, of=(dt.Char,))
    if widening is None or not {scales, widening.operands[0]} <= planner.constants.keys():
        return None
    in_order = is_view_of(value, root) and is_view_of(x, widening.results[0])
    if not in_order or shape_of(widening.operands[0]) != shape_of(value):
        return None
    if not planner.is_private(root, value) or not planner.boundaries.are_together(op, user):
        return None
    del planner.pending[op]
    return Groups(widening.operands[0], scales, shape[1], [taken_out(planner, widening), op])


def is_view_of(value: SSAValue, source: SSAValue) -> bool:
    """Whether a value is another one in another shape."""
    op = value.owner
    return isinstance(op, OperatorOp) and op.SPEC.qualified_name == "aten.view" and op.operands[0] is source
