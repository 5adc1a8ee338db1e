"""Quick calls of methods: what an engine that has them makes (`runtime.quick`), and those of methods of symbolic shapes, by the shapes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

QuickCall: TypeAlias = Callable[[Sequence[Any]], "list[Any] | None"]
Shapes: TypeAlias = tuple[tuple[int, ...], ...]

MOST_SHAPES = 1024
"""That a method has quick calls for."""


@runtime_checkable
class Quick(Protocol):
    """An engine that may call methods with arrays as they usually are more quickly than `run` does."""

    def quick(
        self,
        method: str,
        types: Sequence[tuple[np.dtype[Any], Sequence[int]]],
        positions: Sequence[int],
        orders: Mapping[int, Sequence[int]],
    ) -> QuickCall | None:
        """A call with arrays of these dtypes and shapes, the arguments at these positions: the results, of which some are to have their
        dimensions in an order in memory; or None where an array is another, and nothing ran. None where there is no such call."""
        ...


class ByShapes(dict["Shapes | None", "QuickCall | None"]):
    """Quick calls by the shapes that arrays had with which calls went well: what is asked of their sizes holds."""

    def __init__(self, make: Callable[[Shapes], QuickCall | None]):
        self.make = make

    def meet(self, shapes: Shapes | None) -> None:
        """A call with arrays of these shapes went well, which was not quick. What comes twice will come again: then there is a quick call."""
        if shapes is None or self.get(shapes) is not None:
            return
        if len(self) >= MOST_SHAPES:
            self.clear()
        self[shapes] = self.make(shapes) or no_call if shapes in self else None


def no_call(inputs: Sequence[Any]) -> None:
    """Of a method that needs more of Python."""


def shapes_of(inputs: Sequence[Any]) -> Shapes | None:
    """The shapes of arrays or tensors; None if there is something else."""
    kinds = (np.ndarray, getattr(sys.modules.get("torch"), "Tensor", np.ndarray))
    return tuple([tuple(x.shape) for x in inputs]) if all(isinstance(x, kinds) for x in inputs) else None
