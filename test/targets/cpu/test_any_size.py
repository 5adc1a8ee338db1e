"""Convolutions and norms of images of any size: the numbers of PyTorch, by kernels."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

import xdsl_exir  # noqa: E402
from xdsl_exir.runtime.native import plan_program  # noqa: E402
from xdsl_exir.targets.cpu.kernels.copies import Copy  # noqa: E402

nn = torch.nn
DEPTHWISE = {
    f"depthwise {kernel} {stride} {padding} {dilation}": nn.Conv2d(
        6, 12 if stride == 3 else 6, kernel, stride, padding, dilation, groups=6, bias=stride == 1
    )
    for kernel, stride, padding, dilation in (
        (3, 1, 1, 1),
        (3, 2, 1, 1),
        ((7, 5), 1, (3, 2), 1),
        ((2, 3), (1, 2), (0, 1), (1, 2)),
        (3, 3, 2, 2),
    )
}
TRANSPOSED = {
    f"transposed {kernel} {stride} {padding} {more}": nn.ConvTranspose2d(
        6, 8, kernel, stride, padding, more, groups=groups
    )
    for kernel, stride, padding, more, groups in (
        (2, 2, 0, 0, 1),
        (4, 2, 1, 0, 1),
        (3, 2, 1, 1, 2),
        (3, 1, 1, 0, 1),
        ((1, 3), (3, 2), 0, 0, 1),
    )
}
LAYERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    **{name: (layer, (2, 6, 12, 18)) for name, layer in (DEPTHWISE | TRANSPOSED).items()},
    "depthwise of lines": (nn.Conv1d(6, 6, 4, padding=3, groups=6), (2, 6, 40)),
    "transposed of lines": (nn.ConvTranspose1d(6, 5, 8, 4, 2), (2, 6, 21)),
    "of volumes": (nn.Conv3d(6, 4, 3, (2, 1, 1), 1), (2, 6, 7, 9, 10)),
    "groups of volumes": (nn.Conv3d(6, 4, (2, 3, 1), dilation=(2, 1, 1), groups=2), (2, 6, 7, 9, 10)),
    "depthwise of volumes": (nn.Conv3d(6, 6, 3, padding=1, groups=6), (2, 6, 7, 9, 10)),
    "transposed of volumes": (nn.ConvTranspose3d(6, 4, 2, 2), (2, 6, 5, 6, 7)),
    "of float64": (nn.Conv2d(6, 4, 3, (1, 2), 1, groups=2).double(), (2, 6, 12, 18)),
    "group norm": (nn.GroupNorm(2, 6), (2, 6, 12, 18)),
    "group norm of each channel": (nn.GroupNorm(6, 6), (2, 6, 12, 18)),
    "group norm alone": (nn.GroupNorm(3, 6, affine=False), (2, 6, 12, 18)),
    "instance norm": (nn.InstanceNorm2d(6, affine=True), (2, 6, 12, 18)),
    "batch norm": (nn.BatchNorm2d(6, track_running_stats=False), (2, 6, 12, 18)),
}


class Followed(nn.Module):
    """A layer and what is computed of its result, which a kernel may take with it."""

    def __init__(self, layer: Any):
        super().__init__()
        self.layer = layer

    def forward(self, x: Any) -> Any:
        y = self.layer(x)
        return (y + y.flip(-1)).relu()


@pytest.mark.native
@pytest.mark.parametrize("name", LAYERS)
def test_the_numbers_of_pytorch(name: str) -> None:
    layer, shape = LAYERS[name]
    torch.manual_seed(0)
    dtype = torch.float64 if "float64" in name else torch.float32
    model = Followed(layer).eval()
    spatial = range(2, len(shape))
    exported = torch.export.export(
        model,
        (torch.randn(shape, dtype=dtype),),
        dynamic_shapes=(dict.fromkeys((0, *spatial), torch.export.Dim.AUTO),),
    )
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target="native", fallback="error")
    slow = [str(path) for path in run.slow_paths]
    assert not any("convolution" in path or "norm" in path for path in slow), slow
    sizes = [*itertools.product((1, 3), *[(5, 8, 17)] * 2)] if len(spatial) == 2 else [(2,), (3,)]
    for count, *rest in sizes:
        x = torch.randn(count, 6, *(rest or [5 + count + dim for dim in spatial]), dtype=dtype) + 3
        with torch.no_grad():
            wanted = model(x)
        torch.testing.assert_close(torch.as_tensor(run(x)), wanted, rtol=1e-4, atol=1e-4)


class Decided(nn.Module):
    """Convolutions of which guards say the size of the result, or of the images."""

    def __init__(self) -> None:
        super().__init__()
        self.patches, self.points = nn.Conv2d(3, 20, 4, 2), nn.Conv2d(20, 6, 1)
        self.place = nn.Parameter(torch.randn(1, 20, 7, 7))

    def forward(self, x: Any) -> Any:
        return self.points((self.patches(x) + self.place).relu())


@pytest.mark.native
def test_sizes_that_guards_decide() -> None:
    torch.manual_seed(0)
    model, auto = Decided(), torch.export.Dim.AUTO
    exported = torch.export.export(
        model, (torch.randn(2, 3, 16, 16),), dynamic_shapes=({0: auto, 2: auto, 3: auto},)
    )
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target="native", fallback="error")
    assert not [path for path in run.slow_paths if "convolution" in str(path)]
    for shape in ((2, 3, 16, 16), (3, 3, 17, 16)):
        x = torch.randn(shape)
        with torch.no_grad():
            wanted = model(x)
        torch.testing.assert_close(torch.as_tensor(run(x)), wanted, rtol=1e-4, atol=1e-4)
    with pytest.raises(xdsl_exir.InputError):
        run(torch.randn(2, 3, 30, 16))


class Windows(nn.Module):
    """Products of two inputs of which guards say that they are as long."""

    def forward(self, x: Any, y: Any) -> Any:
        x, y = x.unflatten(1, (-1, 4)), y.unflatten(1, (-1, 4))
        return (x @ y.mT).softmax(-1) @ y, torch.einsum("bwid,bwjd->bijw", x, y)


@pytest.mark.native
def test_products_of_sizes_that_guards_decide() -> None:
    auto = dict.fromkeys(range(3), torch.export.Dim.AUTO)
    given = torch.randn(2, 16, 6), torch.randn(2, 16, 6)
    exported = torch.export.export(Windows(), given, dynamic_shapes=(auto, auto))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target="native", fallback="error")
    assert not run.slow_paths
    for shape in ((2, 16, 6), (3, 20, 6), (3, 8, 17)):
        x, y = torch.randn(shape), torch.randn(shape)
        for got, wanted in zip(run(x, y), Windows()(x, y), strict=True):
            torch.testing.assert_close(torch.as_tensor(got), wanted, rtol=1e-4, atol=1e-4)
    with pytest.raises(xdsl_exir.InputError):
        run(torch.randn(2, 16, 6), torch.randn(2, 20, 6))


class OwnWidth(nn.Module):
    """Layer norms whose rows are as long as an input says."""

    def forward(self, x: Any, weight: Any, bias: Any) -> Any:
        norm, width = nn.functional.layer_norm, x.shape[1:]
        return norm(x, width, weight, bias).relu(), norm(x.half(), width), norm(x, width[-1:], eps=1e-3)


@pytest.mark.native
@pytest.mark.parametrize(
    "shapes", [[(4, 40), (1, 7), (130, 1), (3, 513)], [(4, 6, 8), (2, 3, 1), (1, 1, 33)]]
)
def test_layer_norms_of_any_width(shapes: list[tuple[int, ...]]) -> None:
    torch.manual_seed(0)

    def given(shape: tuple[int, ...]) -> tuple[Any, ...]:
        return torch.randn(shape) + 3, *torch.randn(2, *shape[1:])

    model, auto = OwnWidth(), torch.export.Dim.AUTO
    first = given(shapes[0])
    dynamic = tuple(dict.fromkeys(range(x.ndim), auto) for x in first)
    exported = torch.export.export(model, first, dynamic_shapes=dynamic)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target="native", fallback="error")
    assert not [path for path in run.slow_paths if "norm" in str(path)]
    for inputs in map(given, shapes):
        for got, wanted in zip(run(*inputs), model(*inputs), strict=True):
            tolerance = 2e-3 if wanted.dtype is torch.float16 else 1e-4
            torch.testing.assert_close(torch.as_tensor(got), wanted, rtol=tolerance, atol=tolerance)


class OfElements(nn.Module):
    """What is computed element by element: of tensors that lie alike, of one number for each, of rows and columns."""

    def forward(self, x: Any, y: Any, row: Any) -> Any:
        return (
            (x * y - x).sigmoid() + 2.5,
            (x > y, (x - y.mean()).half()),
            x.relu() * row + y[:, :1],
            x.T.exp() - 1,
            (x.T.contiguous() + y.T).abs(),
        )


@pytest.mark.native
@pytest.mark.parametrize("width", [3, None])
def test_elements_of_any_number(width: int | None) -> None:
    """They are one row, in parts that threads share, and what is left; stages down to kernels say the same."""
    torch.manual_seed(0)

    def given(count: int, width: int) -> tuple[Any, ...]:
        return torch.randn(count, width), torch.randn(count, width), torch.randn(width)

    model, rows, columns = OfElements(), torch.export.Dim("rows"), torch.export.Dim("columns")
    sizes = {0: rows} if width else {0: rows, 1: columns}
    first = given(20, width or 5)
    exported = torch.export.export(model, first, dynamic_shapes=(sizes, sizes, {} if width else {0: columns}))
    program = xdsl_exir.from_exported_program(exported)
    runs = [xdsl_exir.compile(program, target="native", fallback="error")]
    runs += [xdsl_exir.compile(program.to("planned"), target="interpreter")]
    for count in (1, 5, 341, 342, 2048, 70000):
        inputs = given(count, width or 7)
        wanted = torch.utils._pytree.tree_leaves(model(*inputs))
        for run in runs[: 1 if count > 400 else 2]:
            for got, expected in zip(run.flat(list(inputs)), wanted, strict=True):
                torch.testing.assert_close(torch.as_tensor(got), expected, rtol=2e-3, atol=1e-5)


class Distances(nn.Module):
    """Of rows of which PyTorch takes a product, as there are many; and a roll, whose pieces make a size of another name."""

    def forward(self, x: Any, y: Any) -> Any:
        return (
            torch.cdist(x, y),
            torch.cdist(x[None], y[None], compute_mode="use_mm_for_euclid_dist"),
            x.roll(3, 1),
        )


@pytest.mark.native
def test_distances_of_any_number_of_rows() -> None:
    torch.manual_seed(0)
    model, auto = Distances(), torch.export.Dim.AUTO
    first = torch.randn(30, 20), torch.randn(40, 20)
    exported = torch.export.export(model, first, dynamic_shapes=({0: auto, 1: auto}, {1: auto}))
    program = xdsl_exir.from_exported_program(exported)
    functions = plan_program(program).dispatches.scheduled
    assert not any(isinstance(kernel, Copy) for kernel in functions)
    run = xdsl_exir.compile(program, target="native", fallback="error")
    for count, width in ((30, 20), (26, 33), (50, 4), (70, 300)):
        inputs = torch.randn(count, width), torch.randn(40, width)
        for got, wanted in zip(run(*inputs), model(*inputs), strict=True):
            torch.testing.assert_close(torch.as_tensor(got), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.native
def test_rows_of_two_unknown_lengths() -> None:
    """What is computed of all and of half of a row is one dispatch, each with a length of its own."""

    class Halves(nn.Module):
        def forward(self, x: Any) -> Any:
            return nn.functional.glu(x, 0).exp(), x.sin(), x[:1] + 1

    exported = torch.export.export(Halves(), (torch.randn(6),), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    for size in (4, 10, 4098):
        x = torch.randn(size)
        for got, right in zip(run.flat([x.numpy()]), Halves()(x), strict=True):
            torch.testing.assert_close(torch.from_numpy(got), right)
