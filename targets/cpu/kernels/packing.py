"""Weights in the order in which kernels read them: NumPy, once, when a program is compiled or loaded.

A panel holds as many columns (matmul) or output channels (convolution) as a register tile is wide, so that a kernel reads its
panel from front to end. The last panel is padded with zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl_exir.dialects.expr import Dim, prod

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from xdsl_exir.lowering.linalg import LinalgBuilder
    from xdsl_exir.lowering.tensors import Tensor


def pack_columns(matrix: NDArray[Any], width: int, rows: int = 1, steps: int | None = None) -> NDArray[Any]:
    """[K, N] to panels [ceil(N / width), K / rows, width * rows], of its dtype; the elements of so many rows in a column lie side by side. If there are
    to be more `steps` than K / rows, the last ones are zeros."""
    import numpy as np

    k, n = matrix.shape
    steps = steps or -(-int(k) // rows)
    packed = np.zeros((-(-n // width), steps, width, rows), matrix.dtype)
    # Panel by panel: a transposed matrix is read and written in what caches hold, and copied once.
    for panel, start in zip(packed, range(0, n, width), strict=True):
        for row in range(rows):
            columns = matrix[row::rows, start : start + width]
            panel[: columns.shape[0], : columns.shape[1], row] = columns
    return packed.reshape(-(-n // width), steps, width * rows)


def pack_filters(weight: NDArray[np.float32], groups: int, width: int, pair: int = 1) -> NDArray[np.float32]:
    """[O, C / groups, KH, KW] to panels [groups, ceil(O / groups / width), ceil(C / groups / pair), KH, KW, width * pair], float32; the elements of
    so many channels of the input lie side by side."""
    import numpy as np

    outputs, inputs, *kernel = weight.shape
    per_group, steps = outputs // groups, -(-inputs // pair)
    packed = np.zeros((groups, -(-per_group // width), steps, *kernel, width, pair), np.float32)
    split = weight.reshape(groups, per_group, inputs, *kernel)
    for index, start in enumerate(range(0, per_group, width)):
        for r in range(pair):
            channels = np.moveaxis(split[:, start : start + width, r::pair], 1, -1)
            packed[:, index, : channels.shape[1], ..., : channels.shape[-1], r] = channels
    return packed.reshape(*packed.shape[:-2], width * pair)


def repack_filters(b: LinalgBuilder, weight: Tensor, groups: int, width: int) -> Tensor:
    """The same in linalg, of known sizes."""
    outputs, *kernel = weight.shape
    assert isinstance(outputs, int)
    per_group = outputs // groups
    panels = -(-per_group // width)
    split = b.reshape(weight, (groups, per_group, *kernel))
    missing = [0, panels * width - per_group, *[0] * len(kernel)]
    whole = b.reshape(b.pad(split, [0] * len(missing), missing, 0), (groups, panels, width, *kernel))
    return b.permute(whole, (0, 1, *range(3, 3 + len(kernel)), 2))


def unpack_columns(b: LinalgBuilder, packed: Tensor, n: int, rows: int, k: Dim | None) -> Tensor:
    """[K, N] of panels of columns, in linalg; all the rows there are if K is not said."""
    panels, steps, width = packed.shape
    apart = b.reshape(packed, (panels, steps, width // rows, rows))
    whole = b.reshape(b.permute(apart, (1, 3, 0, 2)), (steps * rows, prod((panels, width // rows))))
    return b.slice(whole, (0, 0), (steps * rows if k is None else k, n), (1, 1))


def unpack_filters(b: LinalgBuilder, packed: Tensor, shape: tuple[int, ...], pair: int) -> Tensor:
    """[O, C / groups, KH, KW], which is `shape`, of panels of filters, in linalg."""
    groups, panels, steps, *kernel, width = packed.shape
    apart = b.reshape(packed, (groups, panels, steps, *kernel, width // pair, pair))
    turned = b.permute(apart, (0, 1, 5, 2, 6, 3, 4))
    whole = b.reshape(turned, (groups, prod((panels, width // pair)), prod((steps, pair)), *kernel))
    per_group: tuple[Dim, ...] = (groups, shape[0] // prod((groups,)), *shape[1:])
    return b.reshape(b.slice(whole, [0] * 5, per_group, [1] * 5), shape)
