"""Weights in the order in which kernels read them: NumPy, once, when a program is compiled or loaded.

A panel holds as many columns (matmul) or output channels (convolution) as a register tile is wide, so that a kernel reads its
panel from front to end. The last panel is padded with zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pack_columns(matrix: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """[K, N] to panels [ceil(N / width), K, width], float32."""
    import numpy as np

    k, n = matrix.shape
    panels = -(-n // width)
    padded = np.zeros((k, panels * width), np.float32)
    padded[:, :n] = matrix
    return np.ascontiguousarray(padded.reshape(k, panels, width).swapaxes(0, 1))


def pack_filters(weight: NDArray[np.float32], groups: int, width: int) -> NDArray[np.float32]:
    """[O, C / groups, KH, KW] to panels [groups, ceil(O / groups / width), C / groups, KH, KW, width], float32."""
    import numpy as np

    outputs, *kernel = weight.shape
    per_group = outputs // groups
    panels = -(-per_group // width)
    padded = np.zeros((groups, panels * width, *kernel), np.float32)
    padded[:, :per_group] = weight.reshape(groups, per_group, *kernel)
    split = padded.reshape(groups, panels, width, *kernel)
    return np.ascontiguousarray(np.moveaxis(split, 2, -1))
