"""Shape rules of random operators."""

from __future__ import annotations

from xdsl_exir.dialects.meta import (
    SHAPES,
    Shape,
    broadcast_shapes,
    broadcasts,
    check,
    shape_rule,
    shape_text,
)
from xdsl_exir.dialects.shapes.view import PartialShape, Size, only_sizes
from xdsl_exir.dialects.tensors import TensorMeta


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


@shape_rule("aten.bernoulli.Tensor")
def bernoulli_tensor(self: TensorMeta, p: TensorMeta) -> Shape:
    check(broadcast_shapes(self.shape, p.shape) == self.shape, "p does not broadcast to self")
    return self.shape


@shape_rule("aten.normal_functional")
def normal_functional(self: TensorMeta, std: float) -> Shape:
    check(std >= 0, f"std is {std}; it must not be negative")
    return self.shape


@shape_rule("aten.normal.Tensor_float")
def normal_mean(mean: TensorMeta, std: float) -> Shape:
    check(std >= 0, f"std is {std}; it must not be negative")
    return mean.shape


broadcasts({"std": "normal.float_Tensor", "mean std": "normal.Tensor_Tensor"})


@shape_rule("aten.normal.float_float")
def normal_sized(std: float, size: list[Size]) -> PartialShape:
    check(std >= 0, f"std is {std}; it must not be negative")
    return only_sizes(size)


@shape_rule("aten.exponential")
def exponential(self: TensorMeta, lambd: float) -> Shape:
    check(lambd > 0, f"lambd is {lambd}; it must be positive")
    return self.shape


@shape_rule("aten.multinomial")
def multinomial(self: TensorMeta, num_samples: Size, replacement: bool) -> PartialShape:
    check(self.ndim in (1, 2), f"takes one or two dimensions, not {shape_text(self.shape)}")
    if isinstance(num_samples, int):
        check(num_samples > 0, f"num_samples is {num_samples}; it must be positive")
        classes = self.shape[-1]
        check(
            replacement or not isinstance(classes, int) or num_samples <= classes,
            f"{num_samples} samples of {classes} without replacement",
        )
    return (*self.shape[:-1], *only_sizes([num_samples]))


@shape_rule("aten.cauchy")
def cauchy(self: TensorMeta, sigma: float) -> Shape:
    check(sigma > 0, f"sigma is {sigma}; it must be positive")
    return self.shape


@shape_rule("aten.log_normal")
def log_normal(self: TensorMeta, std: float) -> Shape:
    check(std > 0, f"std is {std}; it must be positive")
    return self.shape


@shape_rule("aten.geometric")
def geometric(self: TensorMeta, p: float) -> Shape:
    check(0 < p < 1, f"p is {p}; it must lie between 0 and 1")
    return self.shape


@SHAPES.register("aten.uniform", parameters=("self", "from", "to"))
def uniform(self: TensorMeta, to: float, **arguments: float) -> Shape:
    low = arguments["from"]
    check(low <= to, f"no number lies from {low} up to {to}")
    return self.shape


@shape_rule("aten.random", "aten.random.to")
def random(self: TensorMeta) -> Shape:
    return self.shape


@SHAPES.register("aten.random.from", parameters=("self", "from", "to"))
def random_from(self: TensorMeta, to: int | None, **arguments: int) -> Shape:
    low = arguments["from"]
    check(to is None or low < to, f"no integer lies from {low} up to {to}")
    return self.shape


# --- dropout -------------------------------------------------------------------------------------------------


@shape_rule("aten.dropout")
def dropout(input: TensorMeta, p: float) -> Shape:
    check(0 <= p <= 1, f"dropout probability {p} is not between 0 and 1")
    return input.shape


@shape_rule("aten.feature_dropout")
def feature_dropout(input: TensorMeta, p: float, train: bool) -> Shape:
    check(0 <= p <= 1, f"dropout probability {p} is not between 0 and 1")
    check(input.ndim >= 2 or not train or p in (0, 1), "feature dropout needs at least 2 dimensions")
    return input.shape


@shape_rule("aten.alpha_dropout", "aten.feature_alpha_dropout")
def alpha_dropout(input: TensorMeta, p: float, train: bool) -> Shape:
    check(0 <= p <= 1, f"dropout probability {p} is not between 0 and 1")
    return input.shape


@shape_rule("aten.native_dropout")
def native_dropout(input: TensorMeta, p: float) -> list[Shape]:
    check(0 <= p <= 1, f"a probability of {p}")
    return [input.shape, input.shape]
