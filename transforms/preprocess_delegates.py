"""`preprocess-delegates`: backends make bytes of their delegates, which become part of the program's state.

The region stays, and says what the bytes compute, in operators of edge: who runs them need not know those of the backend. What they
were made of stays state as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.interpreter.backend import registered
from xdsl_exir.locations import location_text
from xdsl_exir.program import state_of
from xdsl_exir.transforms.fuse_operators import put_bodies_inside


@dataclass(frozen=True)
class PreprocessDelegates(ModulePass):
    """Has the delegates of these backends, of all without any, preprocessed: `preprocess-delegates{backends=npu}`. What is already, stays.

    Raises `UnsupportedError` that lists the delegates of backends that are not registered, or have no `preprocess`.
    """

    name = "preprocess-delegates"

    backends: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        state = state_of(ctx)
        waiting = [
            inner
            for inner in op.walk()
            if isinstance(inner, DelegateOp)
            and inner.processed is None
            and (not self.backends or inner.backend.data in self.backends)
        ]
        missing = [
            Unsupported(
                f"delegate of backend {inner.backend.data}",
                "it is not registered" if found is None else "it has no `preprocess`",
                location_text(inner),
            )
            for inner in waiting
            if (found := registered(inner.backend.data)) is None or found.preprocess is None
        ]
        if missing:
            raise UnsupportedError(missing)
        for inner in waiting:
            found = registered(inner.backend.data)
            assert found is not None
            blob = found.preprocessed(inner, state)
            name = state.add(f"{inner.backend.data}.processed", np.frombuffer(blob, np.uint8))
            inner.properties["processed"] = StringAttr(name)
            put_bodies_inside(inner)
