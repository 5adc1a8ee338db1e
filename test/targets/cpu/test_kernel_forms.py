"""Products and convolutions in the forms that kernels take: they give what PyTorch does, in the interpreter and natively."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ComplexType, f32

import xdsl_exir
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import tensor_meta
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import Chain, Conv2d, Matmul
from xdsl_exir.targets.cpu.kernels.copies import Copy
from xdsl_exir.transforms.fold_constants import LARGEST_WIDENED

F = torch.nn.functional


class Several(torch.nn.Module):
    """Functions of the same inputs, each a result; weights are state."""

    def __init__(self, calls: Any, **weights: Any):
        super().__init__()
        self.calls = calls
        for name, weight in weights.items():
            self.register_buffer(name, weight)

    def forward(self, *inputs: Any) -> Any:
        return tuple(call(self, *inputs) for call in self.calls)


def exported(calls: Any, *inputs: Any, dynamic: Any = None, **weights: Any) -> Any:
    program = torch.export.export(Several(calls, **weights), inputs, dynamic_shapes=dynamic)
    return xdsl_exir.from_exported_program(program).to_edge()


def names_of(program: Any) -> set[str]:
    return {op.SPEC.qualified_name for op in program.module.walk() if isinstance(op, OperatorOp)}


def agree(calls: Any, inputs: Any, weights: Any, tolerance: float = 1e-5) -> Any:
    """What the form computes in the interpreter, and natively, is what PyTorch does; gives the program in that form."""
    program = exported(calls, *inputs, **weights)
    form = program.transform("kernel-forms")
    wanted = [result.double().numpy() for result in Several(calls, **weights)(*inputs)]
    arrays = [x if x.dtype is torch.bfloat16 else x.numpy() for x in inputs]
    for run in (xdsl_exir.compile(form, "interpreter"), xdsl_exir.compile(program, "native")):
        for number, (got, right) in enumerate(zip(run.flat(arrays), wanted, strict=True)):
            scale = np.nan_to_num(np.abs(right), posinf=0).max(initial=1)
            np.testing.assert_allclose(
                np.asarray(got).astype("f8"), right, tolerance, tolerance * scale, err_msg=str(number)
            )
    return form


def conv(dims: int, transposed: bool, **given: Any) -> Any:
    """A convolution of the input of a number of dimensions by the weight of its kernel's size."""
    function = getattr(F, f"conv_transpose{dims}d" if transposed else f"conv{dims}d")
    name, bias = given.pop("weight"), given.pop("bias", None)

    def call(module: Any, *inputs: Any) -> Any:
        x = next(x for x in inputs if x.ndim == dims + 2)
        return function(x, getattr(module, name), bias and getattr(module, bias), **given)

    return call


@pytest.mark.native
def test_transposed_convolutions() -> None:
    torch.manual_seed(0)
    weights = {
        "w1": torch.randn(4, 3, 5),
        "w2": torch.randn(4, 3, 3, 4),
        "one": torch.randn(4, 2, 1, 1),
        "w3": torch.randn(4, 2, 3, 2, 3),
        "b6": torch.randn(6),
        "b3": torch.randn(3),
    }
    two = [
        {"stride": 1, "padding": 1},
        {"stride": (2, 3), "padding": (1, 0), "output_padding": (1, 2), "bias": "b3"},
        {"stride": 1, "dilation": 2, "padding": (4, 3)},
        {"stride": 2, "dilation": 3, "padding": (0, 2), "output_padding": 1},
        {"stride": (3, 1), "dilation": (1, 2), "groups": 2, "bias": "b6"},
        {"stride": 5, "padding": 2, "output_padding": 4, "bias": "b3"},
        {"stride": (4, 3), "padding": (5, 1), "dilation": (6, 5), "output_padding": (2, 4), "bias": "b3"},
        {"stride": (3, 4), "padding": (0, 4), "dilation": (3, 2)},
    ]
    calls = [
        *(conv(2, True, weight="w2", **given) for given in two),
        conv(2, True, weight="one", stride=2, output_padding=1),
        conv(1, True, weight="w1", stride=2, padding=4, output_padding=1, bias="b3"),
        conv(1, True, weight="w1", stride=3, padding=6, dilation=2),
        conv(3, True, weight="w3", stride=2, padding=1, output_padding=(0, 1, 0)),
        conv(3, True, weight="w3", stride=(1, 2, 1), groups=2, padding=(1, 0, 2)),
    ]
    inputs = [torch.randn(2, 4, 6), torch.randn(2, 4, 5, 4), torch.randn(2, 4, 3, 4, 5)]
    inputs[1][0, 1, 2, 3] = torch.inf
    form = agree(calls, inputs, weights, 2e-5)
    left = [op.arguments() for op in form.module.walk() if isinstance(op, OperatorOp)]
    assert not [a for a in left if a.get("transposed")]


@pytest.mark.native
def test_convolutions_of_one_and_three_dimensions() -> None:
    torch.manual_seed(0)
    weights = {
        "w1": torch.randn(6, 2, 3),
        "depthwise": torch.randn(8, 1, 3),
        "w3": torch.randn(4, 2, 3, 2, 3),
        "b6": torch.randn(6),
        "b4": torch.randn(4),
    }
    calls = [
        conv(1, False, weight="w1", groups=2, padding=2, stride=2, bias="b6"),
        conv(1, False, weight="depthwise", groups=4, dilation=2, padding=4),
        lambda m, x, y: torch.relu(F.conv1d(x, m.w1, groups=2) + m.b6[:, None]) * 2,
        conv(3, False, weight="w3", groups=2, padding=(1, 0, 2), stride=(2, 1, 1), bias="b4"),
        conv(3, False, weight="w3", groups=2, dilation=(2, 1, 1), padding=(2, 1, 1)),
    ]
    agree(calls, [torch.randn(2, 4, 11), torch.randn(2, 4, 5, 4, 6)], weights)


@pytest.mark.native
@pytest.mark.parametrize(
    "dtype", ["float64", "float16", "bfloat16", "int64", "int32", "int16", "uint8", "int8"]
)
def test_products_of_other_dtypes(dtype: str) -> None:
    kind = getattr(torch, dtype)

    def draw(*shape: int) -> Any:
        if kind.is_floating_point:
            return torch.randn(shape).to(kind)
        info = torch.iinfo(kind)
        return torch.randint(info.min, info.max, shape, dtype=kind)

    x, weight = draw(5, 37), draw(37, 70)
    if kind.is_floating_point:
        x[1, 3], x[2, 4] = torch.inf, torch.nan
    calls = [
        lambda m, x, y: x @ m.w,
        lambda m, x, y: x @ y,
        lambda m, x, y: y.T @ x.T,
        lambda m, x, y: y.T @ y,
        lambda m, x, y: torch.addmm(m.b, x, m.w),
        lambda m, x, y: torch.addmm(m.b, x, y, beta=2, alpha=3),
        lambda m, x, y: torch.addmm(m.nan, x, y, beta=0),
        lambda m, x, y: torch.bmm(x.view(5, 1, 37), y.T[:5].unsqueeze(-1)),
        lambda m, x, y: torch.addmv(m.b[:5], x, y[:, 0], alpha=2),
    ]
    nan = torch.full((70,), torch.nan) if kind.is_floating_point else draw(70)
    # What PyTorch accumulates in of halves differs between processors.
    tolerance = {"float16": 1e-2, "bfloat16": 5e-2}.get(dtype, 1e-12)
    agree(calls, [x, draw(37, 70)], {"w": weight, "b": draw(70), "nan": nan.to(kind)}, tolerance)


@pytest.mark.native
@pytest.mark.parametrize("symbolic", [False, True])
def test_products_of_one_row_or_column(symbolic: bool) -> None:
    """Whose sums are in lanes, where matrix and row lie along them: a column with gaps is copied, heads may share a matrix."""
    torch.manual_seed(0)
    weights = {"one": torch.randn(1)}
    calls = [
        lambda m, x, y: x[:1] @ y.T,
        lambda m, x, y: y @ x[1],
        lambda m, x, y: y @ x.T[:, 2:],
        lambda m, x, y: torch.relu(torch.addmm(m.one, y, x[:1].T)),
        lambda m, x, y: x.unsqueeze(1) @ y.T.unsqueeze(0),
        lambda m, x, y: (y.T @ y[:, :1]) @ x[:1, :1],
        lambda m, x, y: y.double() @ x[0].double(),
        lambda m, x, y: (y * 9).long() @ (x[0] * 9).long(),
    ]
    size, count = torch.export.Dim("size", min=2), torch.export.Dim("count", min=2)
    dynamic = {"inputs": ({1: size}, {0: count, 1: size})} if symbolic else None
    shapes = [(37, 70), (2, 3), (16, 16), (500, 5)]
    program = None
    for length, rows in shapes:
        inputs = torch.randn(3, length), torch.randn(rows, length)
        if program is None or not symbolic:
            program = exported(calls, *inputs, dynamic=dynamic, **weights)
            run = xdsl_exir.compile(program, "native")
        for got, right in zip(
            run.flat([x.numpy() for x in inputs]), Several(calls, **weights)(*inputs), strict=True
        ):
            np.testing.assert_allclose(got, right.numpy(), 1e-5, 1e-4)


def planned(program: Any) -> list[Any]:
    """The kernels of a program."""
    from xdsl_exir.runtime.native import plan_program

    return list(plan_program(program).dispatches.scheduled)


@pytest.mark.native
@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda x, w: F.conv1d(x[:, :, 0], w[:, :, 0]), Conv2d),
        (lambda x, w: F.conv_transpose2d(x, w), Conv2d),
        (lambda x, w: F.conv_transpose2d(x, w, stride=3, padding=1), Conv2d),
        (lambda x, w: F.conv3d(x[None], w[None]), Conv2d),
        (lambda x, w: x.double() @ x.double().mT, Matmul),
        (lambda x, w: x.half() @ x.half().mT, Matmul),
        (lambda x, w: x.int() @ x.int().mT, Matmul),
    ],
)
def test_kernels_take_them(call: Any, kind: type) -> None:
    x, weight = torch.randn(4, 4, 8, 8), torch.randn(4, 4, 3, 3)
    found = planned(exported([lambda m, x: call(x, m.w)], x, w=weight))
    assert [kernel for kernel in found if isinstance(kernel, kind)]


@pytest.mark.native
def test_sizes_may_be_symbolic() -> None:
    torch.manual_seed(0)
    weights = {"w2": torch.randn(4, 3, 4, 4), "w1": torch.randn(4, 3, 5), "w3": torch.randn(2, 4, 2, 3, 3)}
    calls = [
        conv(2, True, weight="w2", stride=2, padding=1),
        conv(1, True, weight="w1", stride=2, padding=3, output_padding=1),
        lambda m, x, y: F.conv3d(y.unsqueeze(2).expand(-1, -1, 3, -1, -1), m.w3),
        lambda m, x, y: x.double() @ x.double().mT,
        lambda m, x, y: x.half() @ x.half().mT,
    ]
    size, other = torch.export.Dim("size", min=2), torch.export.Dim("other", min=4)
    dynamic = {"inputs": ({2: size}, {0: torch.export.Dim("batch"), 2: other})}
    program = exported(calls, torch.randn(2, 4, 7), torch.randn(2, 4, 5, 4), dynamic=dynamic, **weights)
    runs = [
        xdsl_exir.compile(program.transform("kernel-forms"), "interpreter"),
        xdsl_exir.compile(program, "native"),
    ]
    for length, batch, height in ((7, 2, 5), (40, 1, 4)):
        inputs = torch.randn(2, 4, length), torch.randn(batch, 4, height, 4)
        wanted = Several(calls, **weights)(*inputs)
        for run in runs:
            for got, right in zip(run.flat([x.numpy() for x in inputs]), wanted, strict=True):
                np.testing.assert_allclose(got, right.numpy(), 2e-3, 2e-3)


@pytest.mark.native
@pytest.mark.parametrize(
    ("shape", "kernel", "options", "left"),
    [
        ((14, 14), (3, 3), {"dilation": 24, "padding": 24}, (1, 1)),
        ((14, 14), (3, 3), {"dilation": 12, "padding": 12}, (3, 3)),
        ((14, 9), (5, 5), {"dilation": (8, 2), "padding": (16, 4)}, (3, 5)),
        ((14, 14), (3, 3), {"dilation": 14, "padding": 15, "stride": 2}, (3, 3)),
        ((6, 20), (4, 3), {"dilation": 6, "padding": 7}, (2, 3)),
        ((10, 10), (3, 3), {"dilation": 11, "padding": 30}, (3, 3)),
        ((1, 1), (3, 3), {"padding": 1}, (1, 1)),
        ((2, 7, 7), (3, 3, 3), {"dilation": (2, 9, 1), "padding": (2, 9, 1)}, (1, 3)),
    ],
)
def test_taps_that_see_nothing_but_padding_go(
    shape: Any, kernel: Any, options: Any, left: tuple[int, int]
) -> None:
    conv = {2: F.conv2d, 3: F.conv3d}[len(shape)]
    x, weights = torch.randn(2, 4, *shape), {"w": torch.randn(6, 4, *kernel), "b": torch.randn(6)}
    calls: list[Any] = [lambda m, x: conv(x, m.w, m.b, **options)]
    run = xdsl_exir.compile(exported(calls, x, **weights), "native")
    [got], [right] = run.flat([x.numpy()]), Several(calls, **weights)(x)
    np.testing.assert_allclose(got, right.numpy(), 1e-4, 1e-4)
    [found] = [kernel for kernel in planned(exported(calls, x, **weights)) if isinstance(kernel, Conv2d)]
    assert found.kernel == left


THREE: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "strides": ((4, 6, 3, 3, 3), {"stride": 2}),
    "padding that some taps alone see": ((4, 6, 5, 3, 3), {"padding": (4, 2, 2)}),
    "dilated": ((4, 6, 2, 3, 5), {"stride": (2, 1, 3), "padding": (1, 0, 2), "dilation": (1, 2, 1)}),
    "padding further than a kernel": ((3, 6, 2, 2, 2), {"padding": 4, "dilation": 3}),
    "groups": ((10, 3, 3, 1, 2), {"padding": (2, 0, 0), "groups": 2}),
    "of points": ((40, 6, 1, 1, 1), {}),
    "of some points": ((40, 6, 1, 1, 1), {"stride": 2, "padding": 1}),
    "along planes": ((5, 6, 3, 1, 1), {"padding": (1, 0, 0)}),
    "fewer products in planes": ((16, 6, 3, 3, 3), {"padding": 1}),
}
"""Filters, and how they move."""


def of_three(name: str, x: torch.Tensor, **options: Any) -> tuple[xdsl_exir.Program, Any]:
    """A convolution of three dimensions with something before and after it, and the module."""
    filters, moves = THREE[name]
    weights = {"w": torch.randn(*filters), "b": torch.randn(filters[0])}

    def call(m: Any, x: torch.Tensor) -> torch.Tensor:
        made = F.conv3d(x, m.w, m.b, **moves)
        return torch.relu(made) * made.mean((2, 3, 4), keepdim=True) + made

    module = Several([call], **weights)
    return xdsl_exir.from_exported_program(torch.export.export(module, (x,), **options)), module


@pytest.mark.native
@pytest.mark.parametrize("name", THREE)
def test_three_dimensions(name: str) -> None:
    torch.manual_seed(5)
    x = torch.randn(2, 6, 6, 9, 11)
    program, module = of_three(name, x)
    assert [kernel for kernel in planned(program) if isinstance(kernel, Conv2d)]
    [got], [right] = xdsl_exir.compile(program, "native").flat([x.numpy()]), module(x)
    np.testing.assert_allclose(got, right.detach().numpy(), 1e-4, 1e-4)


@pytest.mark.native
@pytest.mark.parametrize("name", ["dilated", "groups", "of points"])
def test_three_symbolic_dimensions(name: str) -> None:
    torch.manual_seed(6)
    sizes = dict.fromkeys((0, 2, 3, 4), torch.export.Dim.AUTO)
    program, module = of_three(name, torch.randn(2, 6, 6, 9, 11), dynamic_shapes={"inputs": (sizes,)})
    assert "Conv2d" in str(program.to("dispatches").module)
    run = xdsl_exir.compile(program, "native")
    for shape in ((3, 6, 4, 8, 7), (2, 6, 12, 6, 40)):
        x = torch.randn(*shape)
        [got], [right] = run.flat([x.numpy()]), module(x)
        np.testing.assert_allclose(got, right.detach().numpy(), 1e-4, 1e-4)


def test_planes_of_three_dimensions_are_not_copied() -> None:
    weights = {"w": torch.randn(4, 3, 3, 3, 3)}
    program = exported([lambda m, x: F.conv3d(x, m.w, stride=2)], torch.randn(2, 3, 7, 9, 10), **weights)
    assert not [kernel for kernel in planned(program) if isinstance(kernel, Copy)]


@pytest.mark.native
def test_depthwise_ones_of_three_dimensions_stay_depthwise() -> None:
    weights = {"w": torch.randn(6, 1, 3, 3, 2), "b": torch.randn(6), "twice": torch.randn(12, 1, 2, 3, 3)}
    calls: list[Any] = [
        lambda m, x: F.conv3d(x, m.w, m.b, padding=1, groups=6),
        lambda m, x: F.conv3d(x, m.w, None, (2, 1, 2), (0, 1, 0), (2, 1, 1), 6),
        lambda m, x: F.conv3d(x, m.twice, groups=6),
    ]
    x = torch.randn(2, 6, 7, 9, 20)
    run = xdsl_exir.compile(exported(calls, x, **weights), "native")
    for got, right in zip(run.flat([x.numpy()]), Several(calls, **weights)(x), strict=True):
        np.testing.assert_allclose(got, right.numpy(), 1e-5, 1e-5)
    depthwise = [
        kernel
        for kernel in planned(exported(calls[:2], x, **weights))
        if isinstance(kernel, Conv2d) and kernel.strategy == "depthwise"
    ]
    assert len(depthwise) >= 2


@pytest.mark.native
def test_powers_that_are_other_functions() -> None:
    special = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1e-30, -3.0, 7.5])
    dtypes = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
    inputs = [*(special.to(dtype) for dtype in dtypes), torch.tensor([-3, 0, 181, 65536])]
    calls: list[Any] = [lambda module, *x, at=at: x[at] ** 2 for at in range(len(inputs))]
    calls += [lambda module, *x, at=at: x[at] ** -1.0 for at in range(len(dtypes))]
    form = agree(calls, inputs, {}, 0)
    assert names_of(form) == {"aten.mul.Tensor", "aten.reciprocal"}


def test_what_has_no_better_form_stays() -> None:
    calls = [lambda m, x: F.conv2d(x, m.w), lambda m, x: torch.addmm(m.b, x[0, 0], m.m)]
    weights = {"w": torch.randn(2, 3, 3, 3), "m": torch.randn(6, 5), "b": torch.randn(5)}
    program = exported(calls, torch.randn(1, 3, 6, 6), **weights)
    assert str(program.transform("kernel-forms")) == str(program)


@pytest.mark.native
def test_dispatches_are_made_of_forms() -> None:
    program = exported(
        [lambda m, x: F.conv_transpose2d(x, m.w, stride=2), lambda m, x: x.half()[0, 0] @ x.half()[0, 1]],
        torch.randn(1, 3, 6, 6),
        w=torch.randn(3, 2, 3, 3),
    )
    dispatches = program.transform("form-dispatches")
    x = torch.randn(1, 3, 6, 6).numpy()
    for stage in (dispatches, program.transform("to-destinations")):
        for got, right in zip(
            xdsl_exir.compile(stage, "native").flat([x]),
            xdsl_exir.compile(program, "interpreter").flat([x]),
            strict=True,
        ):
            np.testing.assert_allclose(got, right, 1e-2, 1e-4)
    kernels = [op.kernel.data for op in dispatches.module.walk() if getattr(op, "kernel", None)]
    assert {"Conv2d", "Matmul"} <= set(kernels)


def distance(p: float) -> Any:
    return lambda m, x, y, empty: torch.cdist(x[0, :2], x[1, 1:3], p)


def distance_by_product(*batch: int) -> Any:
    by_product = "use_mm_for_euclid_dist"
    return lambda m, x, y, empty: torch.cdist(
        x.reshape(*batch, -1, 35), x.flip(-1).reshape(*batch, -1, 35)[..., :5, :], 2.0, by_product
    )


@pytest.mark.native
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_reductions_and_norms(dtype: str) -> None:
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    x, special = torch.randn(2, 6, 5, 7), torch.randn(4, 6, 3)
    special[0, 0, 0], special[1, 1, 1], special[2, 2] = torch.nan, torch.inf, -torch.inf
    special[3, 3, 0] = -torch.inf
    calls = [
        lambda m, x, y, empty: x.mean(),
        lambda m, x, y, empty: x[0, 0, 0, 0].mean(),
        lambda m, x, y, empty: y.mean((0, 2)),
        lambda m, x, y, empty: y.mean((0, 2), keepdim=True),
        lambda m, x, y, empty: x.sum((0, 2, 3)),
        lambda m, x, y, empty: x.sum((1, 3), keepdim=True),
        lambda m, x, y, empty: y.amax((0, 2)),
        lambda m, x, y, empty: x.amin((0, 1, 3), keepdim=True),
        lambda m, x, y, empty: empty.sum((0, 2)),
        lambda m, x, y, empty: empty.mean((0, 2)),
        lambda m, x, y, empty: empty.log_softmax(-1),
        lambda m, x, y, empty: empty.norm(dim=-1),
        lambda m, x, y, empty: y.log_softmax(-1),
        lambda m, x, y, empty: y.log_softmax(0),
        lambda m, x, y, empty: y.softmax(-1),
        lambda m, x, y, empty: x[0, 0, 0, 0].log_softmax(0),
        lambda m, x, y, empty: y.norm(dim=-1),
        lambda m, x, y, empty: x.norm(),
        lambda m, x, y, empty: x.norm(1, dim=(2, 3), keepdim=True),
        lambda m, x, y, empty: x.norm(3, dim=1),
        lambda m, x, y, empty: x.norm(2, dim=1),
        lambda m, x, y, empty: F.group_norm(x, 3, m.w, m.b),
        lambda m, x, y, empty: F.group_norm(y, 2),
        lambda m, x, y, empty: F.instance_norm(x[:1], weight=m.w, bias=m.b),
        lambda m, x, y, empty: F.instance_norm(x),
        lambda m, x, y, empty: F.layer_norm(x, (5, 7)),
        *(
            [*map(distance, (1.0, 2.0, 3.0)), distance_by_product(), distance_by_product(2)]
            if kind.itemsize > 2
            else []
        ),
        lambda m, x, y, empty: F.layer_norm(y, (3,)),
        lambda m, x, y, empty: x.amax((0, 1)),
        lambda m, x, y, empty: y.amin((0, 1), keepdim=True),
        lambda m, x, y, empty: x.reshape(20, 21).softmax(0),
        lambda m, x, y, empty: x.reshape(1, 20, 21).log_softmax(1),
        lambda m, x, y, empty: F.batch_norm(x, None, None, m.w, m.b, training=True),
        lambda m, x, y, empty: F.batch_norm(x[:, :, 0, 0], None, None, training=True),
        lambda m, x, y, empty: x.cumsum(-1),
        lambda m, x, y, empty: x.cumprod(1),
        lambda m, x, y, empty: y.cummax(-1)[0],
        lambda m, x, y, empty: y.cummin(0)[1],
        lambda m, x, y, empty: x[0, 0].t() @ x[0, 1, :, 0],
    ]
    inputs = [given.to(kind) for given in (x, special, torch.empty(3, 0, 2))]
    weights = {"w": torch.randn(6).to(kind), "b": torch.randn(6).to(kind)}
    agree(calls, inputs, weights, {"float16": 4e-3, "bfloat16": 3e-2, "float64": 1e-12}.get(dtype, 1e-5))


def test_a_norm_whose_statistics_are_asked_for_stays() -> None:
    call = lambda m, x: torch.native_group_norm(x, None, None, 2, 4, 9, 2, 1e-5)[2]  # noqa: E731
    program = exported([call], torch.randn(2, 4, 3, 3))
    assert "aten.native_group_norm" in names_of(program.transform("kernel-forms"))


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_products_of_halves_read_them_as_they_are(dtype: torch.dtype) -> None:
    """Weights, caches of an attention by row and in blocks, with heads that share keys; and what others take, too."""
    torch.manual_seed(0)
    calls = [
        lambda m, q, k, v, x: F.linear(q, m.w),
        lambda m, q, k, v, x: F.linear(F.linear(q[0, :, 0], m.w, m.b)[:, :16], m.w, m.b),
        lambda m, q, k, v, x: F.scaled_dot_product_attention(q, k, v),
        lambda m, q, k, v, x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
        lambda m, q, k, v, x: F.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True),
        lambda m, q, k, v, x: (lambda wide: q.float() @ wide * wide.sum())(k.float().mT),
        lambda m, q, k, v, x: q[0, 0] @ v[0, 0, ::4].transpose(0, 1),
        lambda m, q, k, v, x: v.float().permute(0, 2, 1, 3).sum(1),
    ]
    inputs = [
        torch.randn(shape).to(dtype) for shape in ((1, 4, 1, 16), *[(1, 4, 37, 16)] * 2, (1, 2, 70, 16))
    ]
    rows = LARGEST_WIDENED // (16 * 4) + 1
    weights = {"w": torch.randn(rows, 16).to(dtype), "b": torch.randn(rows).to(dtype)}
    agree(calls, inputs, weights, 2e-2 if dtype is torch.bfloat16 else 2e-3)
    found = planned(exported(calls[:4], *inputs, **weights))
    products = [kernel for kernel in found if isinstance(kernel, Matmul)]
    products += [
        part for kernel in found if isinstance(kernel, Chain) for part in (kernel.first, kernel.second)
    ]
    assert len(products) >= 6
    assert all(product.rhs_dtype for product in products)


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_convolutions_keep_weights_of_halves(dtype: torch.dtype) -> None:
    """By channels as they are, and where processors multiply pairs of them; what other ways make of them is packed once, too."""
    torch.manual_seed(0)
    calls = [
        lambda m, x: F.conv2d(x, m.k, m.b, stride=2),
        lambda m, x: F.conv2d(x, m.k, padding=1).relu(),
        lambda m, x: F.conv1d(x[:, :, 0], m.k[:, :, 0]),
        lambda m, x: F.conv2d(x, m.k) + x.sum() * m.k.sum(),
    ]
    weights = {"k": torch.randn(64, 32, 3, 3).to(dtype), "b": torch.randn(64).to(dtype)}
    inputs = [torch.randn(1, 32, 9, 11).to(dtype)]
    agree(calls, inputs, weights, 2e-2 if dtype is torch.bfloat16 else 2e-3)
    found = [
        kernel for kernel in planned(exported(calls[:2], *inputs, **weights)) if isinstance(kernel, Conv2d)
    ]
    one = "tiles" if found[0].fits_tiles else "channels"
    other = one if found[1].pair > 1 else "winograd"
    assert [kernel.strategy for kernel in found] == [one, other]
    assert all((kernel.weight_dtype != "f32") == (kernel.strategy == one) for kernel in found)
    assert all(kernel.out_dtype for kernel in found)


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_other_convolutions_of_halves_are_of_halves_too(dtype: torch.dtype) -> None:
    """Images are put in another form as they are, and weights before they are packed: no float32 is made of either."""
    torch.manual_seed(0)
    calls = [
        conv(3, False, weight="w3", padding=(1, 0, 2), stride=(2, 1, 1), bias="b"),
        conv(3, False, weight="alone", groups=32, padding=1),
        conv(2, True, weight="w2", stride=2, padding=1, bias="b"),
        conv(1, True, weight="w1", stride=3, padding=2, output_padding=1),
    ]
    weights = {
        "w3": torch.randn(64, 32, 2, 3, 3),
        "w2": torch.randn(32, 64, 4, 4),
        "w1": torch.randn(32, 64, 5),
    }
    weights |= {"alone": torch.randn(32, 1, 3, 3, 3), "b": torch.randn(64)}
    weights = {name: (weight / weight[0].numel() ** 0.5).to(dtype) for name, weight in weights.items()}
    inputs = [torch.randn(1, 32, *sizes).to(dtype) for sizes in ((4, 9, 7), (5, 6), (11,))]
    form = agree(calls, inputs, weights, 2e-2 if dtype is torch.bfloat16 else 2e-3)
    made = [op for op in form.module.walk() if getattr(op, "name", "").endswith("aten.convolution")]
    assert len(made) >= 4
    for op in made:
        assert all(value.owner.name.endswith("_to_copy") for value in op.operands[:2])
        assert all(value.owner.operands[0].type.element_type != f32 for value in op.operands[:2])


@pytest.mark.native
def test_convolutions_by_weights_that_are_inputs() -> None:
    torch.manual_seed(0)
    weights = {"running": torch.rand(20) + 0.5, "shift": torch.randn(20), "k": torch.randn(20, 3, 3, 3)}
    calls = [
        lambda m, x, w, b, one, deep: F.conv2d(x, w, b, padding=1),
        lambda m, x, w, b, one, deep: F.conv2d(x, w[:18, :1], b[:18], (1, 2), 0, (2, 1), groups=3),
        lambda m, x, w, b, one, deep: torch.relu(F.conv2d(x, one, b)) + 1,
        lambda m, x, w, b, one, deep: F.conv2d(x, deep, padding=1, groups=3),
        lambda m, x, w, b, one, deep: F.conv1d(x[:, :, 0], w[:, :, 0], b),
        lambda m, x, w, b, one, deep: F.conv1d(x[:, :, 0], w[:, :, 0].half().float()),
        lambda m, x, w, b, one, deep: F.conv_transpose2d(x, w[:3], stride=2),
        lambda m, x, w, b, one, deep: F.conv2d(x, m.k, b),
        lambda m, x, w, b, one, deep: F.batch_norm(F.conv2d(x, w, b), m.shift, m.running),
    ]
    inputs = [torch.randn(2, 3, 9, 11), torch.randn(20, 3, 3, 3), torch.randn(20)]
    inputs += [torch.randn(20, 3, 1, 1), torch.randn(6, 1, 3, 3)]
    agree(calls, inputs, weights, 2e-5)
    found = planned(exported(calls[:1], *inputs, **weights))
    assert [kernel for kernel in found if isinstance(kernel, Conv2d)]


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.int32])
def test_convolutions_without_kernels_are_products(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    floats = dtype.is_floating_point

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape).to(dtype) if floats else torch.randint(-9, 9, shape).to(dtype)

    weights = {"w1": draw(6, 2, 3), "w2": draw(6, 2, 3, 2), "w3": draw(4, 2, 3, 2, 3), "b6": draw(6)}
    calls = [
        conv(1, False, weight="w1", groups=2, padding=2, stride=2, bias="b6"),
        conv(2, False, weight="w2", groups=2, padding=(2, 1), stride=(1, 2), bias="b6"),
        conv(3, False, weight="w3", groups=2, padding=(1, 0, 2), stride=(2, 1, 1)),
    ]
    if floats:
        calls.append(conv(2, False, weight="w2", groups=2, dilation=(1, 2)))
    inputs = [draw(2, 4, 11), draw(2, 4, 7, 5), draw(2, 4, 5, 4, 6)]
    if floats:
        inputs[1][0, 1, 2, 3] = torch.inf
    form = agree(calls, inputs, weights, 1e-12 if floats else 0)
    assert "aten.convolution" not in names_of(form)


@pytest.mark.native
def test_products_of_rows() -> None:
    x = torch.randn(3, 5, 40)
    x[0, 0, 0], x[0, 1, 1], x[0, 1, 2], x[1] = torch.nan, torch.inf, 0, 1.25
    calls = [lambda m, x: x.prod(-1), lambda m, x: x.prod(), lambda m, x: x.prod(1, keepdim=True)]
    agree(calls, [x], {})


@pytest.mark.native
def test_a_long_product_is_rounded_once() -> None:
    """Threads share it, in float64: where PyTorch's, in float32, is infinite after half of the factors, too."""
    x = torch.cat([torch.full((1 << 15,), factor) for factor in (1.01, 1 / 1.01)])
    form = exported([lambda m, x: x.prod()], x).transform("kernel-forms")
    assert "aten.prod.dim_int" in names_of(form)
    (made,) = xdsl_exir.compile(form, "native").flat([x])
    assert abs(np.asarray(made) / x.double().prod().item() - 1) < 2**-23


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bags(dtype: torch.dtype) -> None:
    def bag(**said: Any) -> Any:
        return lambda m, w, at, by, ends: F.embedding_bag(at, w, **said)

    calls = [bag(mode=mode) for mode in ("sum", "mean", "max")]
    calls.append(bag(mode="sum", padding_idx=2))
    calls.append(lambda m, w, at, by, ends: F.embedding_bag(at, w, mode="sum", per_sample_weights=by))
    # Bags that begin where others do, and after the last index.
    calls += [
        lambda m, w, at, by, ends, mode=mode: F.embedding_bag(at.view(-1), w, ends, mode=mode)
        for mode in ("sum", "mean", "max")
    ]
    torch.manual_seed(0)
    inputs = (
        torch.randn(9, 20, dtype=dtype),
        torch.randint(0, 9, (6, 4)),
        torch.randn(6, 4, dtype=dtype),
        torch.tensor([0, 0, 3, 20, 24, 24]),
    )
    program = agree(calls, inputs, {})
    assert "aten._embedding_bag_forward_only" in names_of(program)


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_that_become_one_number_are_one_row(dtype: torch.dtype) -> None:
    """They are widened by the kernel that reduces them."""
    calls = [
        lambda m, x: x.sum(),
        lambda m, x: x.mean(),
        lambda m, x: x.sum((2, 0, 1), keepdim=True),
        lambda m, x: x.mean((0, 1, 2)),
        lambda m, x: x.amax(keepdim=True),
        lambda m, x: x.norm(),
        lambda m, x: torch.linalg.vector_norm(x, dim=(0, 1, -1), keepdim=True),
        lambda m, x: x.sign().prod(),
        lambda m, x: x[0, 0].sum(),
        lambda m, x: x.sum((0, 2)),
    ]
    torch.manual_seed(0)
    x = (torch.rand(3, 7, 41) - 0.25).to(dtype)
    agree(calls, (x,), {}, 1e-2)
    for call in [*calls[:7], lambda m, x: x.prod(), lambda m, x: x.flatten().prod(0)]:
        kernels = [*plan_program(exported([call], x)).dispatches.scheduled]
        assert kernels[0].inputs[0].dtype == ("bf16" if dtype is torch.bfloat16 else "f16")
        assert not any(
            node.length != 1 for kernel in kernels for node in map(kernel.program.__getitem__, kernel.outputs)
        )


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_sums_of_complex_numbers_are_those_of_their_parts(dtype: torch.dtype) -> None:
    """Over the first dimensions, and over all."""
    calls = [
        lambda m, x: torch.view_as_real(x.sum()),
        lambda m, x: torch.view_as_real(x.sum((0, 1, 2), keepdim=True)),
        lambda m, x: torch.view_as_real(x.sum(0, keepdim=True)),
        lambda m, x: torch.view_as_real(x.sum((1, 0))),
        lambda m, x: torch.view_as_real(x[0, 0].sum()),
    ]
    torch.manual_seed(0)
    x = torch.randn(6, 8, 7, dtype=dtype)
    form = agree(calls, (x,), {}, 1e-6)
    summed = [op for op in form.module.walk() if isinstance(op, OperatorOp) and "aten.sum" in op.name]
    assert not any(isinstance(tensor_meta(op.operands[0].type).dtype.mlir_type, ComplexType) for op in summed)
    assert "aten.view_as_complex" not in names_of(
        agree([lambda m, x: torch.view_as_real(x.sum(1))], (x,), {})
    )


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_where_extremes_are(dtype: torch.dtype) -> None:
    """The first of several, and the first NaN; of rows that are infinite all along, too."""
    torch.manual_seed(0)
    x = (torch.randn(7, 3, 40) * 2).round().to(dtype)
    x[1, :, 5], x[1, 0, 9], x[2] = float("nan"), float("nan"), float("-inf")
    calls = [
        *(lambda m, x, i=i: x.max(-1)[i] for i in (0, 1)),
        *(lambda m, x, i=i: x.min(2, keepdim=True)[i] for i in (0, 1)),
        lambda m, x: x.argmax(-1),
        lambda m, x: x.argmin(-1, keepdim=True),
        lambda m, x: x.argmax(),
        lambda m, x: x[3:].argmin(dim=None, keepdim=True),
    ]
    form = agree(calls, [x], {}, 0.0)
    assert not {"aten.max.dim", "aten.min.dim", "aten.argmax", "aten.argmin"} & names_of(form)


@pytest.mark.native
def test_what_is_repeated() -> None:
    x, n = torch.randn(3, 5), torch.arange(6).reshape(2, 3)
    calls = [
        lambda m, x, n: x.repeat(2, 3),
        lambda m, x, n: x.repeat(2, 1, 3),
        lambda m, x, n: n.repeat(1, 4),
        lambda m, x, n: x[:, :1].repeat(1, 7),
        lambda m, x, n: x.repeat(2, 0),
    ]
    assert "aten.repeat" not in names_of(agree(calls, [x, n], {}, 0.0))


@pytest.mark.native
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("shape", "kept"), [((2, 2, 3), 2), ((2, 2, 1), 2), ((3, 3, 3), 2), ((2, 2, 16), 2), ((2, 2, 2, 4), 3), ((4, 4), 1)])  # fmt: skip
def test_weights_that_are_computed(shape: tuple[int, ...], kept: int, dtype: torch.dtype) -> None:
    """As many rows as the weights' first dimension has, which are no rows: the sizes look alike."""
    torch.manual_seed(0)
    sizes = shape[-kept:]
    x, w, b = (torch.randn(size).to(dtype) for size in (shape, sizes, sizes))
    call = lambda m, x, w, b: F.layer_norm(x, sizes, w.exp(), b * 2 + w)  # noqa: E731
    agree([call], [x, w, b], {}, 2e-2 if dtype is torch.bfloat16 else 1e-5)
