"""Shape rules of random operators."""

from __future__ import annotations

from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.meta import Shape, check, shape_rule
from xdsl_exir.dialects.view import PartialShape, Size, only_sizes


@shape_rule("aten.rand", "aten.randn")
def sized(size: list[Size]) -> PartialShape:
    return only_sizes(size)


@shape_rule("aten.rand_like", "aten.randn_like", "aten.bernoulli")
def like(self: TensorMeta) -> Shape:
    return self.shape


@shape_rule("aten.bernoulli.p")
def bernoulli_p(self: TensorMeta, p: float) -> Shape:
    check(0 <= p <= 1, f"p is {p}; a probability lies within 0 and 1")
    return self.shape


@shape_rule("aten.randint")
def randint(high: Size, size: list[Size]) -> PartialShape:
    return randint_low(0, high, size)


@shape_rule("aten.randint.low")
def randint_low(low: Size, high: Size, size: list[Size]) -> PartialShape:
    if isinstance(low, int) and isinstance(high, int):
        check(low < high, f"no integer lies from {low} up to {high}")
    return only_sizes(size)


@shape_rule("aten.randperm")
def randperm(n: Size) -> PartialShape:
    return only_sizes([n])


@shape_rule("aten.randint_like")
def randint_like(self: TensorMeta, high: Size) -> PartialShape:
    return randint_low(0, high, list(self.shape))


@shape_rule("aten.randint_like.low_dtype")
def randint_like_low(self: TensorMeta, low: Size, high: Size) -> PartialShape:
    return randint_low(low, high, list(self.shape))
