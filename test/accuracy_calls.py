"""The calls that `accuracy` measures: of every operator that adds up or multiplies many numbers, on five shapes and numbers of
three distributions; and why the other operators of those families are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from xdsl_exir.dialects.spec import specs

Tensor = torch.Tensor
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
DISTRIBUTIONS = ("ones", "large mean", "wide range")
FAMILIES = (
    "reduction",
    "normalization",
    "matmul",
    "convolution",
    "pooling",
    "loss",
    "attention",
    "fft",
    "recurrent",
    "backward",
)
"""Families of which every operator is measured or an exception."""

# --- numbers -------------------------------------------------------------------------------------------------


@dataclass
class Draw:
    """Draws the arguments of a call."""

    distribution: str
    dtype: torch.dtype
    generator: torch.Generator

    def randn(self, *shape: int) -> Tensor:
        return torch.randn(shape, generator=self.generator, dtype=torch.float64)

    def __call__(self, *shape: int) -> Tensor:
        """Numbers of the distribution."""
        short = self.dtype is not torch.float32
        match self.distribution:
            case "ones":
                values = torch.ones(shape)
            case "large mean":
                values = self.randn(*shape) + (100 if short else 10_000)
            case _:
                power = torch.rand(shape, generator=self.generator, dtype=torch.float64) * 2 - 1
                values = self.randn(*shape) * 10 ** (power * (2 if short else 4))
        return values.to(self.dtype)

    def near_one(self, *shape: int) -> Tensor:
        """Numbers of which long products are neither tiny nor huge."""
        return (1 + self(*shape).double().tanh() / 1000).to(self.dtype)

    def small(self, *shape: int) -> Tensor:
        """Numbers from -1 to 1."""
        return self(*shape).double().tanh().to(self.dtype) * self.randn(*shape).sign().to(self.dtype)

    def logits(self, *shape: int) -> Tensor:
        """Numbers whose exponentials are of many magnitudes."""
        values = self(*shape).double()
        return (self.randn(*shape) * 4 + values.mean()).to(self.dtype)

    def share(self, *shape: int) -> Tensor:
        """Numbers between 0 and 1."""
        return (torch.rand(shape, generator=self.generator, dtype=torch.float64) * 0.98 + 0.01).to(self.dtype)

    def integers(self, high: int, *shape: int) -> Tensor:
        return torch.randint(high, shape, generator=self.generator)


Shape = tuple[int, ...]
Arguments = Callable[[Draw, Shape], Sequence[Any]]
"""A call's arguments, the last one a dict where there are keyword arguments, on a shape."""

VALUES: tuple[Shape, ...] = ((70001,), (5, 4099), (4099, 5), (6, 70, 71), (2, 3, 33, 65))
ROWS: tuple[Shape, ...] = ((8, 70001), *VALUES[1:])
"""Without a vector: of sums of products that are rounded one by one, one sum alone may happen to be nearly right in PyTorch."""
MATRICES: tuple[Shape, ...] = ((300, 300), (5, 4099), (4099, 5), (64, 64), (1, 3000))
PRODUCTS: tuple[Shape, ...] = ((64, 300, 64), (7, 4099, 33), (64, 4000, 1), (1, 5000, 40), (3, 70001, 2))
"""M, K, N."""
IMAGES: tuple[Shape, ...] = ((4, 8, 20, 20), (2, 16, 33, 9), (1, 4, 64, 64), (8, 32, 5, 5), (3, 4, 128, 6))
FILTERS: tuple[Shape, ...] = (
    (1, 64, 14, 32, 3),
    (2, 16, 20, 8, 1),
    (1, 4, 30, 16, 7),
    (1, 500, 6, 4, 3),
    (3, 8, 9, 8, 5),
)
"""N, C, height and width, O, height and width of the kernel."""
LENGTHS: tuple[Shape, ...] = ((4, 64), (3, 1000), (2, 97), (1, 2048), (5, 1536))


@dataclass(frozen=True)
class Measured:
    """How an operator is called."""

    shapes: Sequence[Shape]
    arguments: Arguments
    dtypes: Sequence[str] = tuple(DTYPES)
    whole: bool = False
    """Whether each element of a result is as exact as its greatest, as in a spectrum."""


def over(shapes: Sequence[Shape], dtypes: Sequence[str] = tuple(DTYPES)) -> Callable[[Arguments], Measured]:
    return lambda arguments: Measured(shapes, arguments, dtypes)


values, rows, matrices, products, images, filters, lengths = map(
    over, (VALUES, ROWS, MATRICES, PRODUCTS, IMAGES, FILTERS, LENGTHS)
)
FLOAT32 = ("float32",)

# --- the calls -----------------------------------------------------------------------------------------------

CALLS: dict[str, Measured] = {}
"""By operator, or operator and what is special about a call."""


def pooled(space: int) -> Measured:
    def arguments(x: Draw, s: Shape) -> Sequence[Any]:
        return [x(*s[:2], *([s[2]] * space)), [3] * space, [2] * space, [1] * space]

    return filters(arguments)


def convolved(space: int, *rest: Any) -> Measured:
    def arguments(x: Draw, s: Shape) -> Sequence[Any]:
        n, c, size, o, kernel = s
        size, kernel = (size, kernel) if space < 3 else (min(size, 7), min(kernel, 3))
        return [x(n, c, *[size] * space), x(o, c, *[kernel] * space), x(o), *rest]

    return filters(arguments)


def transposed(space: int) -> Measured:
    def arguments(x: Draw, s: Shape) -> Sequence[Any]:
        n, c, size, o, kernel = s
        size, kernel = (size, kernel) if space < 3 else (min(size, 7), min(kernel, 3))
        return [x(n, c, *[size] * space), x(c, o, *[kernel] * space), x(o), [2] * space]

    return filters(arguments)


def channels(x: Draw, s: Shape) -> Iterator[Tensor]:
    """A number for each channel."""
    while True:
        yield x.share(s[1])


def affine(x: Draw, s: Shape) -> tuple[Tensor, Tensor]:
    return x.share(s[1]), x.share(s[1])


CALLS |= {
    "sum": values(lambda x, s: [x(*s)]),
    "sum.dim_IntList": values(lambda x, s: [x(*s), [0]]),
    "sum.dim_IntList rows": values(lambda x, s: [x(*s), [-1]]),
    "mean": values(lambda x, s: [x(*s)]),
    "mean.dim": values(lambda x, s: [x(*s), [0]]),
    "mean.dim rows": values(lambda x, s: [x(*s), [-1]]),
    "nansum": values(lambda x, s: [x(*s), [0]]),
    "nanmean": values(lambda x, s: [x(*s), [-1]]),
    "prod": values(lambda x, s: [x.near_one(*s)]),
    "prod.dim_int": values(lambda x, s: [x.near_one(*s), 0]),
    **{
        f"{name}.{form}": values(lambda x, s, rest=rest: [x(*s), *rest])
        for name in ("var", "std", "var_mean", "std_mean")
        for form, rest in (("correction", ([0],)), ("dim", ([-1],)))
    },
    **{name: values(lambda x, s: [x(*s)]) for name in ("var", "std", "var_mean", "std_mean")},
    "cumsum": values(lambda x, s: [x(*s), 0]),
    "cumprod": values(lambda x, s: [x.near_one(*s), 0]),
    "logcumsumexp": values(lambda x, s: [x.logits(*s), 0]),
    "logsumexp": values(lambda x, s: [x.logits(*s), [0]]),
    "special_logsumexp": values(lambda x, s: [x.logits(*s), [-1]]),
    "norm.Scalar": values(lambda x, s: [x(*s)]),
    "norm.ScalarOpt_dim": values(lambda x, s: [x(*s), 1, [0]]),
    "linalg_vector_norm": values(lambda x, s: [x(*s), 2, [-1]]),
    "linalg_vector_norm of order 3": values(lambda x, s: [x.small(*s), 3]),
    "dist": values(lambda x, s: [x(*s), x(*s)]),
    "renorm": matrices(lambda x, s: [x(*s), 2, 0, 5]),
    "sum_to_size": values(lambda x, s: [x(*s), [1] * len(s)]),
    "trace": matrices(lambda x, s: [x(*s)]),
    "segment_reduce": over(MATRICES, FLOAT32)(
        lambda x, s: [x(*s), "sum", {"lengths": torch.tensor([s[0] - s[0] // 3, s[0] // 3])}]
    ),
    "trapezoid.dx": values(lambda x, s: [x(*s)]),
    "trapz.dx": values(lambda x, s: [x(*s)]),
    "trapezoid.x": rows(lambda x, s: [x(*s), x.share(*s)]),
    "trapz.x": rows(lambda x, s: [x(*s), x.share(*s)]),
    "cumulative_trapezoid.dx": values(lambda x, s: [x(*s)]),
    "cumulative_trapezoid.x": values(lambda x, s: [x(*s), x.share(*s)]),
}

CALLS |= {
    "batch_norm": images(lambda x, s: [x(*s), *affine(x, s), None, None, True, 0.1, 1e-5, False]),
    "native_batch_norm": images(lambda x, s: [x(*s), *affine(x, s), None, None, True, 0.1, 1e-5]),
    "_native_batch_norm_legit.no_stats": images(lambda x, s: [x(*s), *affine(x, s), True, 0.1, 1e-5]),
    "_native_batch_norm_legit_functional": images(
        lambda x, s: [x(*s), *affine(x, s), *affine(x, s), True, 0.1, 1e-5]
    ),
    "_batch_norm_with_update_functional": images(
        lambda x, s: [x(*s), *affine(x, s), *affine(x, s), 0.1, 1e-5]
    ),
    "layer_norm": values(lambda x, s: [x(*s), [s[-1]], x.share(s[-1]), x.share(s[-1])]),
    "native_layer_norm": images(lambda x, s: [x(*s), list(s[1:]), x.share(*s[1:]), None, 1e-5]),
    "group_norm": images(lambda x, s: [x(*s), 4, *affine(x, s)]),
    "native_group_norm": images(lambda x, s: [x(*s), *affine(x, s), s[0], s[1], s[2] * s[3], 2, 1e-5]),
    "instance_norm": images(lambda x, s: [x(*s), *affine(x, s), None, None, True, 0.1, 1e-5, False]),
    "rms_norm": values(lambda x, s: [x(*s), [s[-1]], x.share(s[-1])]),
    "_fused_rms_norm": values(lambda x, s: [x(*s), [s[-1]], x.share(s[-1]), 1e-5]),
    "softmax.int": values(lambda x, s: [x.logits(*s), 0]),
    "_softmax": values(lambda x, s: [x.logits(*s), -1, False]),
    "_safe_softmax": values(lambda x, s: [x.logits(*s), -1]),
    "special_softmax": values(lambda x, s: [x.logits(*s), 0]),
    "log_softmax.int": values(lambda x, s: [x.logits(*s), 0]),
    "_log_softmax": values(lambda x, s: [x.logits(*s), -1, False]),
    "special_log_softmax": values(lambda x, s: [x.logits(*s), 0]),
    "_weight_norm": matrices(lambda x, s: [x(*s), x.share(s[0], 1), 0]),
    "norm_except_dim": matrices(lambda x, s: [x(*s), 2, 0]),
}


def operands(x: Draw, s: Shape) -> tuple[Tensor, Tensor]:
    return x(s[0], s[1]), x(s[1], s[2])


def batches(x: Draw, s: Shape) -> tuple[Tensor, Tensor]:
    return x(2, s[0], s[1]), x(2, s[1], s[2])


CALLS |= {
    "mm": products(operands),
    "mm by a transposed matrix": products(lambda x, s: [x(s[0], s[1]), x(s[2], s[1]).T]),
    "bmm": products(batches),
    "addmm": products(lambda x, s: [x(s[2]), *operands(x, s)]),
    "baddbmm": products(lambda x, s: [x(s[0], s[2]), *batches(x, s)]),
    "addbmm": products(lambda x, s: [x(s[0], s[2]), *batches(x, s)]),
    "matmul": products(lambda x, s: [x(2, s[0], s[1]), x(s[1], s[2])]),
    "linalg_matmul": products(operands),
    "linear": products(lambda x, s: [x(s[0], s[1]), x(s[2], s[1]), x(s[2])]),
    "dot": products(lambda x, s: [x(s[1]), x(s[1])]),
    "vdot": products(lambda x, s: [x(s[1]), x(s[1])]),
    "mv": products(lambda x, s: [x(s[0], s[1]), x(s[1])]),
    "addmv": products(lambda x, s: [x(s[0]), x(s[0], s[1]), x(s[1])]),
    "einsum": products(lambda x, s: ["mk,kn->nm", list(operands(x, s))]),
    "chain_matmul": products(lambda x, s: [list(operands(x, s))]),
    "tensordot": products(lambda x, s: [x(s[0], s[1]), x(s[2], s[1]), [1], [1]]),
    "inner": products(lambda x, s: [x(s[0], s[1]), x(s[2], s[1])]),
    "bilinear": over(((4, 60, 60), (2, 300, 8), (1, 7, 500), (9, 33, 31), (3, 5, 5)))(
        lambda x, s: [x(s[0], s[1]), x(s[0], s[2]), x(3, s[1], s[2]), x(3)]
    ),
    "_trilinear": over(((4, 60, 60), (2, 300, 8), (1, 7, 500), (9, 33, 31), (3, 5, 5)))(
        lambda x, s: [x(s[0], s[1]), x(s[0], s[1]), x(s[0], s[1]), [], [], [], [1]]
    ),
    "linalg_vecdot": products(lambda x, s: [x(s[0], s[1]), x(s[0], s[1])]),
    "linalg_multi_dot": products(lambda x, s: [list(operands(x, s))]),
    "cdist": products(lambda x, s: [x(s[0], s[1] // 10), x(s[2], s[1] // 10), 2.0, 2]),
    "_cdist_forward": over(PRODUCTS, FLOAT32)(
        lambda x, s: [x(s[0], s[1] // 10), x(s[2], s[1] // 10), 1.0, None]
    ),
    "_pdist_forward": over(((9, 33), (5, 4000), (3, 700), (20, 64), (2, 10001)), FLOAT32)(
        lambda x, s: [x(*s)]
    ),
    "conv1d": convolved(1),
    "conv_tbc": filters(lambda x, s: [x(s[2], s[0], s[1]), x(s[4], s[1], s[3]), x(s[3])]),
    "conv2d": convolved(2),
    "conv3d": convolved(3),
    "conv1d.padding": convolved(1, [1], "same"),
    "conv2d.padding": convolved(2, [1, 1], "same"),
    "conv3d.padding": convolved(3, [1, 1, 1], "valid"),
    "convolution": convolved(2, [2, 2], [1, 1], [1, 1], False, [0, 0], 1),
    "convolution by groups": filters(
        lambda x, s: [
            x(s[0], 8, s[2], s[2]),
            x(8, 1, s[4], s[4]),
            None,
            [1, 1],
            [1, 1],
            [1, 1],
            False,
            [0, 0],
            8,
        ]
    ),
    "conv_transpose1d": transposed(1),
    "conv_transpose2d.input": transposed(2),
    "conv_transpose3d.input": transposed(3),
    "avg_pool1d": pooled(1),
    "avg_pool2d": pooled(2),
    "avg_pool3d": pooled(3),
    "adaptive_avg_pool1d": images(lambda x, s: [x(s[0], s[1], s[2] * s[3]), [3]]),
    "adaptive_avg_pool2d": images(lambda x, s: [x(*s), [1, 1]]),
    "_adaptive_avg_pool2d": images(lambda x, s: [x(*s), [3, 2]]),
    "adaptive_avg_pool3d": images(lambda x, s: [x(2, *s), [1, 2, 1]]),
    "_adaptive_avg_pool3d": images(lambda x, s: [x(2, *s), [2, 1, 2]]),
}


def pair_loss(*rest: Any) -> Measured:
    return values(lambda x, s: [x(*s), x(*s), *rest])


def shares_loss(*rest: Any) -> Measured:
    return values(lambda x, s: [x.share(*s), x.share(*s), *rest])


def classes(x: Draw, s: Shape) -> tuple[Tensor, Tensor]:
    return x.logits(*s), x.integers(s[1], s[0])


def log_classes(x: Draw, s: Shape) -> tuple[Tensor, Tensor]:
    return x(*s), x.integers(s[1], s[0])


def planes(x: Draw, s: Shape) -> tuple[Tensor, Tensor]:
    return x(*s), x.integers(s[1], s[0], *s[2:])


CALLS |= {
    "cross_entropy_loss": matrices(classes),
    "nll_loss_nd": matrices(log_classes),
    "nll_loss": matrices(log_classes),
    "nll_loss2d": images(planes),
    "nll_loss_forward": matrices(lambda x, s: [*log_classes(x, s), None, 1, -100]),
    "nll_loss2d_forward": images(lambda x, s: [*planes(x, s), None, 1, -100]),
    "binary_cross_entropy": shares_loss(),
    "binary_cross_entropy_with_logits": values(lambda x, s: [x.small(*s), x.share(*s)]),
    "mse_loss": pair_loss(),
    "l1_loss": pair_loss(),
    "smooth_l1_loss": pair_loss(),
    "huber_loss": pair_loss(),
    "kl_div": shares_loss(),
    "soft_margin_loss": values(lambda x, s: [x.small(*s), x.small(*s).sign()]),
    "poisson_nll_loss": values(lambda x, s: [x.small(*s), x.share(*s), True, False, 1e-8, 1]),
    "hinge_embedding_loss": values(lambda x, s: [x(*s), x.small(*s).sign()]),
    "margin_ranking_loss": values(lambda x, s: [x(*s), x(*s), x.small(*s).sign()]),
    "triplet_margin_loss": matrices(lambda x, s: [*(x.small(*s) for _ in range(3)), 100.0]),
    "cosine_embedding_loss": matrices(
        lambda x, s: [x.small(*s), x.small(*s), torch.ones(s[0], dtype=x.dtype)]
    ),
    "cosine_similarity": matrices(lambda x, s: [x(*s), x(*s)]),
    "pairwise_distance": matrices(lambda x, s: [x(*s), x(*s)]),
    "multi_margin_loss": matrices(log_classes),
    "multilabel_margin_loss": over(((3, 64), (2, 30), (1, 100), (5, 8), (4, 33)))(
        lambda x, s: [x(*s), x.integers(s[1], *s)]
    ),
    "scaled_dot_product_attention": over(
        ((1, 2, 40, 16), (2, 1, 9, 64), (1, 1, 300, 8), (1, 4, 5, 128), (1, 2, 64, 32))
    )(lambda x, s: [x.small(*s), x.small(*s), x(*s)]),
    "_scaled_dot_product_flash_attention_for_cpu": over(
        ((1, 2, 40, 16), (2, 1, 9, 64), (1, 1, 300, 8), (1, 4, 5, 128), (1, 2, 64, 32))
    )(lambda x, s: [x.small(*s), x.small(*s), x(*s)]),
}


def spectra(arguments: Arguments) -> Measured:
    return Measured(LENGTHS, arguments, FLOAT32, whole=True)


CALLS |= {
    **{
        f"fft_{name}": spectra(lambda x, s: [x(*s)])
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        f"fft_{name}{many}": spectra(lambda x, s: [x(*s)])
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for many in ("2", "n")
    },
    "_fft_r2c": spectra(lambda x, s: [x(*s), [1], 0, True]),
    "_fft_c2r": spectra(
        lambda x, s: [torch.complex(x(s[0], s[1] // 2 + 1), x(s[0], s[1] // 2 + 1)), [1], 0, s[1]]
    ),
    "_fft_c2c": spectra(lambda x, s: [torch.complex(x(*s), x(*s)), [1], 0, True]),
}

CALLS |= {
    "native_layer_norm_backward": values(
        lambda x, s: [
            x(*s),
            x(*s),
            [s[-1]],
            x.share(*s[:-1], 1),
            x.share(*s[:-1], 1),
            x.share(s[-1]),
            x.share(s[-1]),
            [True] * 3,
        ]
    ),
    "native_group_norm_backward": images(
        lambda x, s: [
            x(*s),
            x(*s),
            x.share(s[0], 2),
            x.share(s[0], 2),
            x.share(s[1]),
            s[0],
            s[1],
            s[2] * s[3],
            2,
            [True] * 3,
        ]
    ),
    "native_batch_norm_backward": images(
        lambda x, s: [x(*s), x(*s), x.share(s[1]), None, None, *affine(x, s), True, 1e-5, [True] * 3]
    ),
    "_softmax_backward_data": values(lambda x, s: [x(*s), x.share(*s), -1, x.dtype]),
    "_log_softmax_backward_data": values(lambda x, s: [x(*s), -x.share(*s), -1, x.dtype]),
    "embedding_dense_backward": matrices(lambda x, s: [x(*s), x.integers(4, s[0]), 4, -1, False]),
    "convolution_backward": filters(
        lambda x, s: [
            x(s[0], s[3], s[2] - s[4] + 1, s[2] - s[4] + 1),
            x(s[0], s[1], s[2], s[2]),
            x(s[3], s[1], s[4], s[4]),
            [s[3]],
            [1, 1],
            [0, 0],
            [1, 1],
            False,
            [0, 0],
            1,
            [True] * 3,
        ]
    ),
    "avg_pool2d_backward": filters(
        lambda x, s: [
            x(s[0], s[1], s[2] - 2, s[2] - 2),
            x(s[0], s[1], s[2], s[2]),
            [3, 3],
            [1, 1],
            [0, 0],
            False,
            True,
            None,
        ]
    ),
    "_adaptive_avg_pool2d_backward": images(lambda x, s: [x(s[0], s[1], s[2] + 2, 2 * s[3]), x(*s)]),
    "max_pool2d_with_indices_backward": images(
        lambda x, s: [x(*s), x(*s), [3, 3], [1, 1], [1, 1], [1, 1], False, x.integers(4, *s)]
    ),
    "index_add": matrices(lambda x, s: [x(3, s[1]), 0, x.integers(3, s[0]), x(*s)]),
    "scatter_add": matrices(lambda x, s: [x(3, s[1]), 0, x.integers(3, *s), x(*s)]),
    "scatter_reduce.two": matrices(lambda x, s: [x(3, s[1]), 0, x.integers(3, *s), x(*s), "mean"]),
    "index_put": matrices(lambda x, s: [x(3, s[1]), [x.integers(3, s[0])], x(*s), True]),
    "_embedding_bag_forward_only": matrices(
        lambda x, s: [x(*s), x.integers(s[0], 500), torch.tensor([0, 400])]
    ),
}
"""Of the families that are not measured as a whole, those that add up."""

_SELECTS = "selects elements, or counts them: nothing is rounded"
_ELEMENTS = "each result is made of a few elements"
_RANDOM = "draws random numbers"
_COMPOSED = "a sequence of operators that are measured"
_MANY = "adds up in float64 in PyTorch as here"

EXCEPTIONS: dict[str, str] = {
    **dict.fromkeys(
        [
            "amax",
            "amin",
            "aminmax",
            "max",
            "min",
            "max.dim",
            "min.dim",
            "max.other",
            "min.other",
            "argmax",
            "argmin",
            "any",
            "any.dim",
            "any.dims",
            "all",
            "all.dim",
            "all.dims",
            "count_nonzero.dim_IntList",
            "count_nonzero",
            "cummax",
            "cummin",
            "median",
            "median.dim",
            "nanmedian",
            "nanmedian.dim",
            "hash_tensor",
            "mode",
            "max_pool1d",
            "max_pool2d",
            "max_pool3d",
            "max_pool2d_with_indices",
            "max_pool3d_with_indices",
            "adaptive_max_pool1d",
            "adaptive_max_pool2d",
            "adaptive_max_pool3d",
            "max_pool1d_with_indices",
            "max_unpool2d",
            "max_unpool3d",
            "fractional_max_pool2d",
            "fractional_max_pool3d",
            "histc",
            "fft_fftshift",
            "fft_ifftshift",
            "fft_fftfreq",
            "fft_rfftfreq",
            "_histogramdd_bin_edges",
            "select_backward",
            "slice_backward",
            "diagonal_backward",
        ],
        _SELECTS,
    ),
    **dict.fromkeys(
        [
            "quantile",
            "quantile.scalar",
            "nanquantile",
            "nanquantile.scalar",
            "gradient.scalarint",
            "gradient.scalararray",
            "gradient.array",
            "gradient.scalarrayint",
            "gradient.scalarrayarray",
            "gradient.tensorarrayint",
            "gradient.tensorarray",
            "_native_batch_norm_legit_no_training",
            "outer",
            "addr",
            "ger",
            "kron",
            "cross",
            "elu_backward",
            "leaky_relu_backward",
            "hardtanh_backward",
            "hardsigmoid_backward",
            "hardswish_backward",
            "hardshrink_backward",
            "softshrink_backward",
            "softplus_backward",
            "log_sigmoid_backward",
            "logit_backward",
            "silu_backward",
            "mish_backward",
            "glu_backward",
            "_prelu_kernel_backward",
            "mse_loss_backward",
            "smooth_l1_loss_backward",
            "huber_loss_backward",
            "soft_margin_loss_backward",
            "binary_cross_entropy_backward",
            "nll_loss_backward",
            "nll_loss2d_backward",
            "upsample_nearest1d_backward",
            "upsample_nearest2d_backward",
            "upsample_nearest3d_backward",
            "_upsample_nearest_exact1d_backward",
            "_upsample_nearest_exact2d_backward",
            "_upsample_nearest_exact3d_backward",
            "upsample_linear1d_backward",
            "upsample_bilinear2d_backward",
            "upsample_trilinear3d_backward",
            "upsample_bicubic2d_backward",
            "reflection_pad1d_backward",
            "reflection_pad2d_backward",
            "reflection_pad3d_backward",
            "replication_pad1d_backward",
            "replication_pad2d_backward",
            "replication_pad3d_backward",
            "unfold_backward",
            "_cdist_backward",
            "avg_pool3d_backward",
            "_adaptive_avg_pool3d_backward",
            "max_pool3d_with_indices_backward",
            "adaptive_max_pool2d_backward",
            "adaptive_max_pool3d_backward",
            "fractional_max_pool2d_backward",
            "fractional_max_pool3d_backward",
        ],
        _ELEMENTS,
    ),
    **dict.fromkeys(["native_dropout", "rrelu_with_noise_backward"], _RANDOM),
    **dict.fromkeys(
        [
            "_native_multi_head_attention",
            "_transformer_encoder_layer_fwd",
            "lstm.input",
            "gru.input",
            "rnn_tanh.input",
            "rnn_relu.input",
            "lstm.data",
            "gru.data",
            "rnn_tanh.data",
            "rnn_relu.data",
            "lstm_cell",
            "gru_cell",
            "rnn_tanh_cell",
            "rnn_relu_cell",
            "stft",
            "istft",
            "_scaled_dot_product_flash_attention_for_cpu_backward",
            "_grouped_mm",
        ],
        _COMPOSED,
    ),
    **dict.fromkeys(
        [
            "bincount",
            "histogram.bin_ct",
            "histogram.bins_tensor",
            "_histogramdd_from_bin_cts",
            "_histogramdd_from_bin_tensors",
        ],
        _MANY,
    ),
}
"""Operators of the families that are not measured, and why."""


def unaccounted() -> list[str]:
    """Operators of the families that are neither measured nor an exception."""
    measured = {name.split(" ")[0] for name in CALLS}
    found = (
        spec.qualified_name.removeprefix("aten.")
        for spec in specs().values()
        if spec.family in FAMILIES and spec.qualified_name.startswith("aten.")
    )
    return [name for name in found if name not in measured and name not in EXCEPTIONS]
