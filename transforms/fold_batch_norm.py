"""`fold-batch-norm`: a batch norm of running statistics after a convolution or a linear layer becomes part of its weight and bias.

    norm(layer(x, weight, bias))    becomes    layer(x, norm'(weight), norm(bias))

where norm' has neither mean nor shift. The norms of weights are operators of state alone, for `fold-constants` to compute. Results are
rounded elsewhere: their last bits change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

from xdsl_exir.dialects.builder import Builder, Namespace, Results, meta
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.transforms.canonicalization import in_delegate
from xdsl_exir.transforms.fold_constants import is_of_state
from xdsl_exir.transforms.matching import known, made_by, static
from xdsl_exir.transforms.patterns import KEEP, OperatorPattern

NORM = "aten._native_batch_norm_legit_no_training"

Given = Mapping[str, Any]


@dataclass(frozen=True)
class Layer:
    """How an operator multiplies by a weight, of which one dimension is the channels, and adds a bias of the channels."""

    weight: str
    """The argument that is the weight."""
    bias: str | None
    """The argument that is the bias; None where there is none."""
    channels: int
    """The dimension of the weight that is the channels."""
    build: Callable[[Namespace, Given, SSAValue, SSAValue], Results]
    """The same with another weight and a bias."""
    applies: Callable[[Given], bool] = lambda given: True


def is_plain(given: Given) -> bool:
    """Whether a product is added to as many numbers as there are channels, neither times anything."""
    plain = known(given["beta"]) == known(given["alpha"]) == 1
    return plain and meta(given["self"]).shape == meta(given["mat2"]).shape[1:]


LAYERS = {
    "aten.convolution": Layer(
        "weight", "bias", 0,
        lambda aten, given, weight, bias: aten.convolution(**{**given, "weight": weight, "bias": bias}),
        lambda given: not given["transposed"],
    ),
    "aten.linear": Layer(
        "weight", "bias", 0,
        lambda aten, given, weight, bias: aten.linear(given["input"], weight, bias),
        lambda given: meta(given["input"]).ndim == 2,
    ),
    "aten.mm": Layer("mat2", None, 1, lambda aten, given, weight, bias: aten.addmm(bias, given["self"], weight)),
    "aten.addmm": Layer(
        "mat2", "self", 1, lambda aten, given, weight, bias: aten.addmm(bias, given["mat1"], weight), is_plain
    ),
}  # fmt: skip
"""By operator. A norm's channels are dimension 1, which of a linear layer's result is the last where there are two."""


class FoldNorm(OperatorPattern):
    """A norm of which only the first result is used, of a layer that nothing else uses; all weights are made of state, of one dtype."""

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        if op.SPEC.qualified_name != NORM or in_delegate(op) or any(value.uses for value in op.results[1:]):
            return KEEP
        norm = op.arguments()
        inner = made_by(norm["input"], *LAYERS) if norm["input"].has_one_use() else None
        layer, given = (
            (LAYERS[inner.SPEC.qualified_name], inner.arguments()) if inner is not None else (None, {})
        )
        if layer is None or not layer.applies(given):
            return KEEP
        weight, bias = given[layer.weight], given[layer.bias] if layer.bias is not None else None
        scale, shift, mean, variance = (
            norm[name] for name in ("weight", "bias", "running_mean", "running_var")
        )
        weights = [value for value in (weight, bias, scale, shift, mean, variance) if value is not None]
        dtype, shape = meta(op.results[0]).dtype, static(meta(weight).shape)
        of_one_dtype = all(is_of_state(value) and meta(value).dtype is dtype for value in weights)
        if shape is None or not of_one_dtype or dtype.category is not Category.FLOAT or dtype.bits < 32:
            return KEEP
        aten, channels = Namespace(builder), shape[layer.channels]

        def normed(value: SSAValue, **changed: SSAValue | None) -> SSAValue:
            """The norm of what has the channels as its second dimension."""
            return aten._native_batch_norm_legit_no_training(**{**norm, "input": value, **changed})[0]

        zeros = builder.constant(0, dtype, (channels,))
        bias = aten.view(zeros if bias is None else bias, [1, channels])
        weight = weight if layer.channels else aten.view(weight, [1, channels, -1])
        weight = normed(weight, bias=None, running_mean=zeros)
        weight = weight if layer.channels else aten.view(weight, shape)
        return layer.build(aten, given, weight, aten.view(normed(bias), [channels])), None, None


@dataclass(frozen=True)
class FoldBatchNorm(ModulePass):
    """Makes batch norms part of the convolutions and linear layers before them."""

    name = "fold-batch-norm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(GreedyRewritePatternApplier([FoldNorm()])).rewrite_module(op)
