"""From edge IR to linalg on tensors, and from there to native code.

    @lowering("aten.mm")
    def mm(b: LinalgBuilder, self: Tensor, mat2: Tensor) -> Tensor:
        ...

A lowering gets the builder and the operator's arguments by name: tensors as `Tensor` (a value of the lowered program
with its PyTorch dtype and shape), everything else as in the schema. It returns what the operator's call returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xdsl_exir.dialects.registry import Registry

F = TypeVar("F", bound=Callable[..., Any])

LOWERINGS: Registry[Callable[..., Any]] = Registry(
    "lowering",
    "xdsl_exir.lowering.operators",
    leading=1,
    extras=frozenset({"out"}),
)


def lowering(
    *names: str,
    refuses: Callable[[Mapping[str, Any]], str | None] | None = None,
    static: Sequence[str] = (),
    takes_complex: bool = False,
) -> Callable[[F], F]:
    """Registers the lowering of the operators named. `out` in its parameters is the list of its results' types.

    `refuses` says why a call cannot be lowered, from the arguments by name with `TensorMeta`s for tensors, and `used`,
    which results are; None where it can be. Dtypes that no lowering takes are refused before. Sizes may be symbolic,
    and numbers expressions of symbols, but for those of the arguments that are named to be `static`. A call with complex
    tensors is refused, unless the lowering `takes_complex`: then it is the one for all dtypes.
    """
    return LOWERINGS.register(*names, refuses=refuses, static=static, takes_complex=takes_complex)
