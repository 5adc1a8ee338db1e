"""The `torchscript` dialect: PyTorch's older IR, with blocks, lists, objects and mutation.

An operation is called as TorchScript calls it, `torchscript.aten.add_.Tensor`, `torchscript.prim.If`. Those of
registered operators take and give what their schemas say; the others (`operations.STRUCTURAL`) are what graphs are
made of. Regions see the values around them. Types are in `types`, schemas in `schemas`, which call means which
overload in `matching`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Dialect


def dialect() -> Dialect:
    """The xDSL dialect: an operation of each registered operator, those of graphs, and the types."""
    from xdsl.ir import Dialect

    from xdsl_exir.dialects.torchscript.operations import all_operations
    from xdsl_exir.dialects.torchscript.types import TYPES

    return Dialect("torchscript", all_operations(), TYPES, [])
