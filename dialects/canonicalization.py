"""How operations say that they can be simplified: xDSL's traits, for the stock passes `canonicalize` and its kin.

What is simpler, and what a constant result is, stands in the stage above, in `transforms/canonicalizations/`, and is found
by the package's name when it is first asked for, as all functions of operators are (`registry.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait, HasFolder

MECHANISM = "xdsl_exir.transforms.canonicalization"
"""The module that applies rules (`patterns_of`) and computes constants (`fold`)."""


def _mechanism() -> Any:
    return import_module(MECHANISM)


@dataclass(frozen=True)
class Canonicalizes(HasCanonicalizationPatternsTrait):
    """The operation's rules are in `transforms/canonicalizations/`."""

    def verify(self, op: Operation) -> None:
        return

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        return _mechanism().patterns_of(op)


@dataclass(frozen=True)
class Folds(HasFolder):
    """The operation's results are computed by the interpreter where its operands are small constants."""

    def verify(self, op: Operation) -> None:
        return

    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute] | None:
        return _mechanism().fold(op)


@dataclass(frozen=True)
class IsItsValue(HasFolder):
    """A constant: it folds to its attribute."""

    def verify(self, op: Operation) -> None:
        return

    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute] | None:
        return (op.properties["value"],)


class MaterializesConstants(ConstantMaterializationInterface):
    """Makes `exir.constant` and `exir.number` of what operations fold to, whatever dialect they are of."""

    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        return _mechanism().constant_of(value, type)
