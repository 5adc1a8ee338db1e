"""Gradients: what an operator's arguments get of the gradient of its result, a small function each, in the family's file.

    @gradient("aten.mm")
    def mm(aten: Namespace, grad: SSAValue, self: SSAValue, mat2: SSAValue) -> Gradients:
        return aten.mm(grad, adjoint(aten, mat2)), aten.mm(adjoint(aten, self), grad)

A rule gets the namespace to build with, the gradient of the result (of several results a tuple, None where there is none),
and by name the arguments that it asks for, as decompositions do. It may ask for `result` or `results`, what the operator
gave, and for `needed`, which arguments' gradients are used. What it asks for and builds with is what the forward pass
saves. It gives the gradients of the arguments that are tensors, in the schema's order: one for the first alone, a tuple
for several, a list for a list of tensors, None for none. A rule sees to neither broadcasting nor dtypes: what a
gradient is of more elements than its argument is summed, of fewer repeated, and cast (`reverse.fitted`).

Of operators that compute element by element the rule gives the derivatives:

    @derivative("aten.sin")
    def sin(aten: Namespace, self: SSAValue) -> SSAValue:
        return aten.cos(self)

Complex numbers have PyTorch's convention: the gradient of a real loss L is dL/d(conj z), so derivatives are conjugated.
The formulas are those of matrix calculus as the literature has them, and where a function has no derivative PyTorch's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace
from xdsl_exir.dialects.registry import Parameters, Registry
from xdsl_exir.dialects.tensors import is_value
from xdsl_exir.transforms.decompositions.pointwise import is_complex

F = TypeVar("F", bound=Callable[..., Any])

Gradient: TypeAlias = SSAValue | None
"""Of one argument."""
Gradients: TypeAlias = "Gradient | Sequence[Gradient | Sequence[Gradient]]"
"""Of the arguments that are tensors."""
Several: TypeAlias = Sequence[Gradient]
"""The gradients of several results."""

EXTRAS = frozenset({"result", "results", "needed"})

GRADIENTS: Registry[Callable[..., Any]] = Registry(
    "gradient", "xdsl_exir.transforms.gradients", leading=2, extras=EXTRAS
)


def gradient(*names: str) -> Callable[[F], F]:
    """Registers the gradient rule of the operators named."""
    return GRADIENTS.register(*names)


def derivative(*names: str) -> Callable[[F], F]:
    """Registers the derivatives of operators that compute element by element, by each argument that is a tensor."""

    def decorate(rule: F) -> F:
        def product(aten: Namespace, grad: SSAValue, **arguments: Any) -> Gradients:
            slopes: SSAValue | Sequence[Gradient] = rule(aten, **arguments)
            if is_value(slopes):
                return times(aten, grad, slopes)
            return tuple(slope and times(aten, grad, slope) for slope in slopes)

        product.__module__, product.__name__ = rule.__module__, rule.__name__
        GRADIENTS.register(*names, parameters=Parameters.of(rule).names[1:])(product)
        return rule

    return decorate


def constant(*names: str) -> None:
    """Registers operators whose results count as constants: steps, what only asks, what is told to be one, random numbers."""
    GRADIENTS.register(*names, parameters=(), constant=True)(no_gradient)


def no_gradient(aten: Namespace, grad: object) -> Gradients:
    return None


def times(aten: Namespace, grad: SSAValue, slope: SSAValue) -> SSAValue:
    """A gradient times a derivative, which is conjugated."""
    return aten.mul.Tensor(grad, conj(aten, slope))


def conj(aten: Namespace, value: SSAValue) -> SSAValue:
    return aten._conj_physical(value) if is_complex(value) else value
