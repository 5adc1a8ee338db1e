"""Registries: what may be given as an operator's function, and what it gets."""

# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import pytest
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects.meta import SHAPES
from xdsl_exir.dialects.registry import Parameters
from xdsl_exir.errors import SpecError
from xdsl_exir.program import Program, context

TEXT = """
func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = aten.silu(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}"""


def scaled(factor: float, aten: Any, self: Any, extra: int = 0) -> Any:
    return aten.mul.Tensor(self, factor)


class OfItself:
    def __call__(self_, aten: Any, self: Any) -> Any:
        return aten.mul.Tensor(self, 3.0)


def twice(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@twice
def wrapped(aten: Any, self: Any) -> Any:
    return aten.mul.Tensor(self, 3.0)


def bound_by_name(aten: Any, self: Any, factor: float) -> Any:
    return aten.mul.Tensor(self, factor)


CALLABLES = {
    "partial": partial(scaled, 3.0),
    "partial by name": partial(bound_by_name, factor=3.0),
    "partial of partial": partial(partial(scaled, 3.0), extra=1),
    "object": OfItself(),
    "decorated": wrapped,
    "lambda": lambda aten, self: aten.mul.Tensor(self, 3.0),
}


@pytest.mark.parametrize("function", CALLABLES.values(), ids=CALLABLES)
def test_whatever_is_called_may_be_a_decomposition(function: Callable[..., Any]) -> None:
    program = Program(Parser(context().clone(), TEXT).parse_module())
    core = program.to_core(decompositions={"aten.silu": function})
    assert "aten.mul.Tensor(%x, %0)" in str(core)
    assert "exir.number 3.0" in str(core)
    assert program.transform("decompose-aten", stats=True)


def by_position(aten: Any, self: Any, /) -> Any:
    return self


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (by_position, "'self' is not taken so"),
        (3, "3 is no function"),
        (partial(bound_by_name), "no argument 'factor'"),
    ],
)
def test_what_cannot_be(function: Any, message: str) -> None:
    program = Program(Parser(context().clone(), TEXT).parse_module())
    with pytest.raises(SpecError, match=message):
        program.to_core(decompositions={"aten.silu": function})


def test_functions_are_read_as_signatures_are() -> None:
    """There is a short cut for plain functions."""

    def plain(a: int, b: int = 1, *, c: int, d: int = 2) -> None: ...

    assert (
        Parameters.of(plain)
        == Parameters.of(partial(plain))
        == Parameters(("a", "b", "c", "d"), frozenset({"b", "d"}))
    )


def test_verified_operations_are_verified_by_another_rule() -> None:
    """Of operations that are alike one is verified: until what says their types is another function."""
    module = Parser(context().clone(), TEXT).parse_module()
    module.verify()
    former = SHAPES.override("aten.silu", lambda self: (4,))
    try:
        with pytest.raises(VerifyException, match="result 0 is tensor<4xf32>"):
            module.verify()
    finally:
        SHAPES.override("aten.silu", former)
    module.verify()
