"""Which dimensions of a tensor become which of another: of its reshaping, as `tensor.collapse_shape` and
`expand_shape` say it, and where it is broadcast."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    i64,
)
from xdsl.ir.affine import AffineExpr, AffineMap

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.lowering.sizes import Sizes, quotient


def groups_attr(groups: list[list[int]]) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    return ArrayAttr([ArrayAttr([IntegerAttr(dim, i64) for dim in group]) for group in groups])


def reassociation(source: Sizes, target: Sizes) -> list[list[int]]:
    """Groups of the source's dimensions that collapse to a common coarser shape, from which the target expands.

    All dimensions are one group where symbolic sizes do not say how they belong together.
    """
    if not source or not target:
        return []
    everything = [list(range(len(source)))]
    groups: list[list[int]] = []
    i = j = 0
    while i < len(source) and j < len(target):
        group, have, want = [i], source[i], target[j]
        while have != want:
            if _is_part(have, want) and i + 1 < len(source):
                i += 1
                group.append(i)
                have *= source[i]
            elif j + 1 < len(target):
                j += 1
                want *= target[j]
            else:
                return everything
        groups.append(group)
        i, j = i + 1, j + 1
    groups[-1] += list(range(i, len(source)))  # trailing dimensions of size 1
    return groups


def has_several_symbolic(sizes: Sizes, groups: list[list[int]]) -> bool:
    """Whether a group has more than one symbolic size, which MLIR's expand-strided-metadata fails on."""
    return any(sum(not isinstance(sizes[dim], int) for dim in group) > 1 for group in groups)


def _is_part(a: Dim, b: Dim) -> bool:
    """Whether more dimensions have to join those of size `a` to make `b`."""
    if isinstance(a, int) and isinstance(b, int):
        return a < b
    return quotient(b, a) is not None


def expansion(source: Sizes, target: Sizes) -> list[list[int]]:
    """For each dimension of the source the target's dimensions it expands to."""
    if len(source) == 1:
        return [list(range(len(target)))]
    groups: list[list[int]] = []
    j = 0
    for size in source:
        group, have = [j], target[j]
        j += 1
        while have != size:
            group.append(j)
            have *= target[j]
            j += 1
        groups.append(group)
    if groups:
        groups[-1] += list(range(j, len(target)))
    return groups


def broadcast_map(shape: Sequence[Dim], target: Sequence[Dim]) -> AffineMap:
    """The map from a result's indices to those of an input that broadcasts to it."""
    rank, offset = len(target), len(target) - len(shape)
    indices = [AffineExpr.dimension(dim) for dim in range(rank)]
    exprs = [
        AffineExpr.constant(0) if size == 1 and target[dim + offset] != 1 else indices[dim + offset]
        for dim, size in enumerate(shape)
    ]
    return AffineMap(rank, 0, tuple(exprs))
