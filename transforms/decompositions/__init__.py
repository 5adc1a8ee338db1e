"""Decompositions: one operator in terms of simpler ones, a small function each, in the family's file.

    @decomposition("aten.silu")
    def silu(aten: Namespace, self: SSAValue) -> SSAValue:
        return aten.mul.Tensor(self, aten.sigmoid(self))

A rule gets the namespace to build with and the arguments that it names, in normal form (lists are lists, tensors and
computed numbers are SSA values). It returns what the operator's call returns. Operators that a rule uses may have
rules of their own. A rule that does not apply to its arguments returns `KEEP`, and the operator stays. Besides the
operator's arguments a rule may name `out`, the types of its results, where they depend on the data (None for an
operator that another rule builds).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from xdsl_exir.dialects.registry import Registry
from xdsl_exir.dialects.spec import OperatorSpec, find
from xdsl_exir.transforms.patterns import EXTRAS, KEEP

__all__ = ["DECOMPOSITIONS", "KEEP", "decomposition", "other_names", "reaches_edge"]

F = TypeVar("F", bound=Callable[..., Any])

DECOMPOSITIONS: Registry[Callable[..., Any]] = Registry(
    "decomposition", "xdsl_exir.transforms.decompositions", leading=1, extras=EXTRAS
)


def decomposition(*names: str, may_keep: bool = False) -> Callable[[F], F]:
    """Registers the decomposition of the operators named; `may_keep` says that it returns `KEEP` of some arguments."""
    return DECOMPOSITIONS.register(*names, may_keep=may_keep)


def reaches_edge(spec: OperatorSpec) -> bool:
    """Whether an operator can be in a decomposed program: it is a core one, has no rule, or one that may keep it."""
    entry = DECOMPOSITIONS.find(spec)
    return "core" in spec.tags or entry is None or entry.options.get("may_keep", False)


def other_names(operators: Mapping[str, str | tuple[str, int]]) -> None:
    """Registers operators of `aten` that are others: what each is another name of, or of which of its results."""
    for name, other in operators.items():
        operator, result = (other, None) if isinstance(other, str) else other
        _other_name(f"aten.{name}", f"aten.{operator}", result)


def _other_name(name: str, operator: str, result: int | None) -> None:
    """Arguments are the other's of the same name, or else in the same place; what it does not take makes no difference."""
    spec, places = find(name), [argument.name for argument in find(operator).schema.arguments]
    given = [argument.name for argument in spec.schema.arguments]
    names = {own: own if own in places else place for own, place in zip(given, places, strict=False)}
    names |= {own: own for own in given if own in places}

    def rule(aten: Any, **arguments: Any) -> Any:
        results = aten.builder.call(operator, (), {names[own]: value for own, value in arguments.items()})
        return results if result is None else results[result]

    rule.__module__ = f"{__name__}.{spec.family}"  # whose table names it
    DECOMPOSITIONS.register(name, parameters=tuple(names))(rule)
