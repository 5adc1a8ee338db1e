"""Autocast on CPUs, made explicit: the casts that PyTorch makes when it calls an operator.

Which operators those are stands in `dialects/spec/autocast.yaml`. All others see what they are given; but one that PyTorch
composes of others calls these under autocast too, so it is decomposed where that changes something.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from xdsl.ir import Block

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Builder, Namespace, Results, Rule, cast, meta
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.spec import find
from xdsl_exir.dialects.spec.autocast import policies
from xdsl_exir.dialects.tensors import is_tensor_type, is_value
from xdsl_exir.errors import ExirError, LoadError, Unsupported, UnsupportedError
from xdsl_exir.narrowing import is_sequence
from xdsl_exir.transforms.decompose_aten import Decomposer

DEFAULT_DTYPE = dt.BFloat16
"""What autocast casts to on CPUs where the program does not say."""
DTYPES = (dt.BFloat16, dt.Half)
"""Dtypes that autocast has on CPUs. Asked for another one PyTorch warns, and does nothing."""

CAST_INSIDE = frozenset({"aten.linalg_pinv.atol_rtol_tensor"})
"""Operators of whose parts some are cast, and that are not made of parts here."""


def is_cast(value: Any) -> bool:
    """Whether autocast may cast an argument: a tensor of floats of up to 32 bits."""
    if not is_value(value) or not is_tensor_type(value.type):
        return False
    dtype = meta(value).dtype
    return dtype.category is Category.FLOAT and dtype is not dt.Double


class Autocast(Decomposer):
    """Autocast to a dtype."""

    def __init__(self, dtype: DType):
        super().__init__(keep=lambda name: "composite" not in find(name).tags)
        self.dtype = dtype
        self.casts = 0
        """How many there were so far."""

    def operands(self, builder: Builder, cls: type[OperatorOp], bound: Mapping[str, Any]) -> dict[str, Any]:
        """An operator's arguments, cast as it is called."""
        policy = policies().get(cls.SPEC.qualified_name)
        if policy is None:
            return dict(bound)
        names = [slot.name for slot in cls.SLOTS.slots if slot.is_tensor]
        given = [
            item for name in names for item in (bound[name] if is_sequence(bound[name]) else [bound[name]])
        ]
        dtypes = {meta(value).dtype for value in given if is_cast(value)}
        match policy:
            case "lower_precision":
                dtype = self.dtype
            case "float32":
                dtype = dt.Float
            case "widest":
                dtype = dt.Float if dt.Float in dtypes else self.dtype
                if others := dtypes - {dt.Float, self.dtype}:
                    raise LoadError(f"{others.pop()} under autocast to {self.dtype}, which PyTorch refuses")
        aten = Namespace(builder)

        def as_called(value: Any) -> Any:
            if is_sequence(value):
                return [as_called(item) for item in value]
            if not is_cast(value):
                return value
            self.casts += meta(value).dtype is not dtype
            return cast(aten, value, dtype)

        return {**bound, **{name: as_called(bound[name]) for name in names}}

    def composed(self, builder: Builder, cls: type[OperatorOp], bound: Mapping[str, Any]) -> Results | None:
        """The results of a composite operator whose parts are cast; None of one that may stay as it is."""
        name = cls.SPEC.qualified_name
        rule = None if name in policies() else self.rule(builder, name)
        if rule is None:
            return None
        block, casts, former = Block(), self.casts, (builder.before, builder.rule_of)
        builder.before, builder.rule_of = block, partial(self.rule, builder)
        try:
            results = rule(bound)
        except UnsupportedError:
            raise
        except ExirError:  # a size that only the program tells, in what comes of `item`
            if self.casts != casts:
                raise
            results = None
        builder.before, builder.rule_of = former
        if self.casts == casts or results is None:
            for op in reversed(list(block.ops)):
                op.detach()
                op.erase()
            return None
        for op in list(block.ops):
            op.detach()
            builder.insert(op)
        return results

    def rule(self, builder: Builder, name: str) -> Rule | None:
        """What is built in place of an operator, composite or a part of one. Raises `UnsupportedError`."""
        if name in CAST_INSIDE:
            reason = "autocast inside it; ExportedProgram.run_decompositions() makes the casts explicit"
            raise UnsupportedError([Unsupported(name, reason)])
        if name not in policies():
            return super().rule(builder, name)
        cls = builder.dialect_of(name)[name]
        return lambda bound: builder.build(cls, self.operands(builder, cls, bound))
