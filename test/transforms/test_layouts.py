"""Layouts: channels-last inputs, weights and outputs, memory formats, `as_strided`; in values and in reported layout."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import spec
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.errors import ExirError, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.strides import memory_order
from xdsl_exir.lowering.driver import calls_of
from xdsl_exir.program import context
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.tools.spec.harvest import find_overload
from xdsl_exir.transforms.verify import violations_of

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("default")


def module(forward: Callable[..., Any], **members: Any) -> Any:
    """A module made of its forward function and of what it holds."""
    made = type("Program", (torch.nn.Module,), {"forward": forward})()
    for name, member in members.items():
        setattr(made, name, member)
    return made


def exported(model: Any, args: Any, dialect: str = "training", **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(model, copy.deepcopy(args), **kwargs)
        return program if dialect == "training" else program.run_decompositions()


def strides(array: Any) -> list[int]:
    return [stride // array.itemsize for stride in array.strides]


def agrees(program: xdsl_exir.Program, model: Any, args: Any, target: str = "interpreter") -> None:
    """Asserts eager's values and layouts, at every stage."""
    wanted = torch.utils._pytree.tree_leaves(model(*copy.deepcopy(args)))
    for stage in (program, program.to_core(), program.to_edge()):
        run = xdsl_exir.compile(stage, target=target)
        got = torch.utils._pytree.tree_leaves(run(*(arg.numpy() for arg in args)))
        for mine, its in zip(got, wanted, strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-4)
            assert strides(mine) == list(its.clone().stride())


# --- channels last -------------------------------------------------------------------------------------------


def network() -> tuple[Any, tuple[Any, ...]]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(8, 4, 1),
    )
    model = model.eval().to(memory_format=torch.channels_last).requires_grad_(False)
    return model, (torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last),)


@pytest.mark.parametrize("dialect", ["training", "core"])
def test_network(dialect: str, tmp_path: Path) -> None:
    model, args = network()
    theirs = exported(model, args, dialect)
    program = xdsl_exir.from_exported_program(theirs)
    assert '#exir.input<user_input, "input", dim_order = [0, 2, 3, 1]>' in str(program)
    assert "#exir.output<user_output, dim_order = [0, 2, 3, 1]>" in str(program)
    agrees(program, model, args)
    torch.export.save(theirs, tmp_path / "theirs.pt2")
    agrees(xdsl_exir.load(tmp_path / "theirs.pt2"), model, args)
    for suffix in ("mlir", "pt2"):
        program.save(tmp_path / f"ours.{suffix}")
        agrees(xdsl_exir.load(tmp_path / f"ours.{suffix}"), model, args)


@pytest.mark.usefixtures("native_tools")
def test_network_natively() -> None:
    model, args = network()
    agrees(xdsl_exir.from_exported_program(exported(model, args)), model, args, "native")


def test_inputs_of_any_layout() -> None:
    """The layout of the export is no condition: what counts is elements."""
    model, args = network()
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported(model, args)))
    np.testing.assert_array_equal(run(np.ascontiguousarray(args[0].numpy())), run(args[0].numpy()))


def test_back_to_pytorch() -> None:
    """Placeholders have the strides again; a view that a pass lays bare is one of a copy."""
    model = module(lambda self, x: x.contiguous().view(-1) * 2)
    args = network()[1]
    edge = xdsl_exir.from_exported_program(exported(model, args, "core")).to_edge()
    ours = edge.to_exported_program()
    [x] = [node for node in ours.graph.nodes if node.op == "placeholder"]
    assert x.meta["val"].stride() == args[0].stride()
    torch.testing.assert_close(ours.module()(*args), model(*args))


# --- memory formats ------------------------------------------------------------------------------------------

FORMATS: dict[str, Callable[..., Any]] = {
    "clone": lambda self, x: x.clone(memory_format=torch.channels_last),
    "to": lambda self, x: x.to(memory_format=torch.channels_last),
    "to_dtype": lambda self, x: x.to(torch.float64, memory_format=torch.channels_last),
    "contiguous": lambda self, x: (x.contiguous(memory_format=torch.channels_last) + 1).contiguous(),
    "zeros_like": lambda self, x: torch.zeros_like(x, memory_format=torch.channels_last),
    "preserved": lambda self, x: x.to(memory_format=torch.channels_last).clone(),
    "cat": lambda self, x: torch.cat([x.to(memory_format=torch.channels_last)] * 2, 1),
    "transposed": lambda self, x: (x.permute(1, 3, 0, 2), x.transpose(0, 1).contiguous()),
}


@pytest.mark.parametrize("dialect", ["training", "core"])
@pytest.mark.parametrize("name", FORMATS)
def test_memory_formats(name: str, dialect: str) -> None:
    model, args = module(FORMATS[name]), (torch.arange(96.0).reshape(2, 3, 4, 4),)
    agrees(xdsl_exir.from_exported_program(exported(model, args, dialect)), model, args)


def wishes(self: Any, x: Any) -> Any:
    """All operators that edge has for memory formats."""
    y = x.to(memory_format=torch.channels_last)
    z = torch.cat([y, y], 1).contiguous()
    e = torch.empty(x.shape, memory_format=torch.channels_last).fill_(1)
    return (
        y.contiguous(),
        z.view(-1),
        z.to(torch.float64, memory_format=torch.channels_last),
        e,
        torch.zeros_like(y),
    )


ORDERED = [
    "_to_dim_order_copy",
    "_clone_dim_order",
    "_to_dim_order_copy",
    "_empty_dim_order",
    "_clone_dim_order",
]


def test_explicit_in_edge() -> None:
    """Every pass keeps them, and they go back to PyTorch as memory formats."""
    model, args = module(wishes), (torch.arange(96.0).reshape(2, 3, 4, 4),)
    edge = xdsl_exir.from_exported_program(exported(model, args)).to_edge()
    edge = edge.transform("canonicalize,cse,dce")
    found = [op.SPEC.qualified_name for op in edge.module.walk() if isinstance(op, OperatorOp)]
    assert sorted(name for name in found if name.startswith("dim_order_ops")) == sorted(
        f"dim_order_ops.{name}" for name in ORDERED
    )
    agrees(edge, model, args)
    for mine, its in zip(edge.to_exported_program().module()(*args), model(*args), strict=True):
        torch.testing.assert_close(mine, its, rtol=0, atol=0)
        assert mine.stride() == its.stride()


def test_orders_that_pytorch_has_no_format_for() -> None:
    text = """func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = edge.dim_order_ops._clone_dim_order(%x, dim_order = [1, 0]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      func.return %0 : tensor<2x3xf32>
    }"""
    program = xdsl_exir.Program(Parser(context().clone(), text).parse_module())
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(xdsl_exir.compile(program)(x)[0], x)
    with pytest.raises(UnsupportedError, match=r"dim_order \[1, 0\] is no memory format of PyTorch's"):
        program.to_exported_program()


def test_executorch() -> None:
    """Its operators are the spec's, it has the same of them for our edge programs as for the exported ones, and what it has is
    read."""
    pytest.importorskip("executorch.exir")
    from executorch.exir import to_edge

    for name in ORDERED:
        assert spec.find(f"dim_order_ops.{name}").schema_text == str(
            find_overload("dim_order_ops", name)._schema
        )
    model, args = module(wishes), (torch.arange(96.0).reshape(2, 3, 4, 4),)
    theirs = exported(model, args)
    ours = xdsl_exir.from_exported_program(theirs).to_edge().to_exported_program()
    for program in (theirs, ours):
        edge = to_edge(program).exported_program()
        found = [node.target._name for node in edge.graph.nodes if "dim_order_ops" in str(node.target)]
        assert sorted(found) == sorted(f"dim_order_ops::{name}" for name in ORDERED)
        agrees(xdsl_exir.from_exported_program(edge), model, args)


def test_dynamic_sizes() -> None:
    model = module(lambda self, x: (x.to(memory_format=torch.channels_last) * 2, x.transpose(1, 3)[:, 1:]))
    shapes = ({0: torch.export.Dim("n", min=2, max=9), 2: torch.export.Dim("h", min=2, max=9)},)
    args = (torch.arange(96.0).reshape(2, 3, 4, 4),)
    program = xdsl_exir.from_exported_program(exported(model, args, dynamic_shapes=shapes))
    for count, height in ((2, 4), (5, 7)):
        size = count * height * 12
        agrees(program, model, (torch.arange(float(size)).reshape(count, 3, height, 4),))


# --- as_strided ----------------------------------------------------------------------------------------------

A = torch.ops.aten.as_strided
X = torch.arange(24.0).reshape(2, 3, 4)
T = X.permute(2, 0, 1)
IMAGE = torch.arange(96.0).reshape(2, 3, 4, 4).to(memory_format=torch.channels_last)


def written(x: Any) -> Any:
    y = x + 1
    A(y, [2, 2], [3, 1], 1).add_(5)
    return y


STRIDED: dict[str, tuple[Callable[..., Any], Any]] = {
    "contiguous": (lambda self, x: A(x, [2, 2], [3, 1], 1), X),
    "transposed": (lambda self, x: A(x, [2, 2], [3, 1], 1), T),
    "channels_last": (lambda self, x: A(x + 1, [2, 2], [3, 1], 1), IMAGE),
    "slice": (lambda self, x: A(x[1], [2, 2], [3, 1]), X),
    "offset_in_slice": (lambda self, x: A(x[1], [2, 2], [3, 1], 13), X),
    "overlapping": (lambda self, x: A(x, [5, 3], [1, 1]), T),
    "gaps": (lambda self, x: A(x[:, :, ::2], [2, 2], [3, 1], 1), X),
    "repeats": (lambda self, x: A((x + 1)[0, :1].expand(3, 4), [2], [1], 7), X),
    "channel": (lambda self, x: A((x + 1)[:, 1], [2, 3], [1, 4], 50), IMAGE),
    "before_its_start": (lambda self, x: A(x.chunk(2, 1)[1], [2, 2], [3, 1], 0), X),
    "written": (lambda self, x: written(x), X),
    "written_transposed": (lambda self, x: written(x), T),
    "scattered": (lambda self, x: torch.ops.aten.as_strided_scatter(x, x[:2, 0, :2], [2, 2], [3, 1], 1), X),
    "scattered_transposed": (
        lambda self, x: torch.ops.aten.as_strided_scatter(x, x[:2, 0, :2], [2, 2], [3, 1], 1),
        T,
    ),
    "weight": (lambda self, x: A(self.weight, [2, 2], [3, 1], 1) + x.sum(), X),
    "inside_cond": (lambda self, x: torch.cond(x.sum() > 0, lambda x: A(x, [2, 2], [3, 1], 1) * 1,
                                              lambda x: x[:2, 0, :2].contiguous(), (x,)), T),
}  # fmt: skip


@pytest.mark.parametrize("dialect", ["training", "core"])
@pytest.mark.parametrize("name", STRIDED)
def test_as_strided(name: str, dialect: str) -> None:
    forward, x = STRIDED[name]
    weight = torch.nn.Parameter(torch.arange(12.0).reshape(3, 4).t(), requires_grad=False)
    model = module(forward, weight=weight)
    program = xdsl_exir.from_exported_program(exported(model, (x,), dialect))
    wanted = model(x)
    for stage in (program, program.to_core(), program.to_edge()):
        np.testing.assert_allclose(xdsl_exir.compile(stage)(x.numpy()), wanted)
        if name != "inside_cond":
            torch.testing.assert_close(stage.to_exported_program().module()(x), wanted)


def test_written_through_a_view_with_gaps() -> None:
    def forward(self: Any, x: Any) -> Any:
        y = x + 1
        view = y[:, ::2]
        A(view, [2, 2], [12, 1], 4).mul_(2)
        return y, view

    agrees(xdsl_exir.from_exported_program(exported(module(forward), (X,))), module(forward), (X,))


@pytest.mark.parametrize(
    ("forward", "x", "message"),
    [
        (lambda self, x: A(x, [2, 2], [3, 1], 1), X[:, :, ::2], r"gaps or overlaps \(strides \[12, 4, 2\]\)"),
        (lambda self, x: A(x, [2], [1], 0), X[0, :1].expand(3, 4), "gaps or overlaps"),
        (lambda self, x: A(x, [2, 2], [3, 1], 0), X[1], "reaches memory that its operand was not seen to have"),
        (lambda self, x: A(x, [2, 2], [3, 1], 13), X[0], "reaches memory that its operand was not seen to have"),
        (lambda self, x: A(x.diagonal(4), [1, 2], [2, 1]), X[0], "an empty diagonal another place"),
        (
            lambda self, x: torch.ops.aten.as_strided_scatter((x + 1)[:, ::2], x[0, :2, :2], [2, 2], [3, 1], 0),
            X,
            "as_strided_scatter: its operand lies in memory with gaps",
        ),
        (lambda self, x: (x + 1).resize_(2, 2), T, "resize_: its operand does not lie in memory in row-major"),
        (lambda self, x: (x + 1).set_((x + 2)[0]), X, "set_.source_Tensor: unknown operator, which gives a tensor the memory"),
    ],
)  # fmt: skip
def test_memory_that_is_not_known_is_refused(forward: Callable[..., Any], x: Any, message: str) -> None:
    with pytest.raises(ExirError, match=message):
        xdsl_exir.from_exported_program(exported(module(forward), (x,)))


def test_refusals_are_located_and_listed() -> None:
    def forward(self: Any, x: Any) -> Any:
        return A(x, [2], [1], 0), A(x, [3], [1], 0)

    with pytest.raises(UnsupportedError) as raised:
        xdsl_exir.from_exported_program(exported(module(forward), (X[:, ::2],)))
    assert len(raised.value.items) == 2
    assert all(item.location.startswith(__file__) for item in raised.value.items)


# --- what leaves ---------------------------------------------------------------------------------------------

CONV = torch.nn.Conv2d(3, 4, 1).to(memory_format=torch.channels_last).requires_grad_(False)
LEAVES: dict[str, tuple[Callable[..., Any], Any]] = {
    "by_weights": (lambda self, x: torch.relu(self.conv(x)), IMAGE.contiguous()),
    "in_between": (lambda self, x: self.conv(x.to(memory_format=torch.channels_last)), IMAGE.contiguous()),
    "mixed": (lambda self, x: (x + x.contiguous(), torch.cat([x, x.contiguous()], 1), x.sum(1)), IMAGE),
    "views": (lambda self, x: (x, x.permute(0, 2, 3, 1), x.flatten(2), x[0]), IMAGE),
    "gaps": (lambda self, x: (x[:, ::2], x[:, -1], x[..., 0], x.transpose(0, 2)[:, 1], x.chunk(2, -1)), X),
    "repeats": (lambda self, x: (x[:1].expand(4, 3, 4), x.sum(1, keepdim=True).expand(2, 3, 4)), X),
    "overlaps": (lambda self, x: (x.unfold(2, 3, 1), torch.diagonal(x, 0, 0, 1)), X),
}


@pytest.mark.parametrize("name", LEAVES)
def test_outputs_lie_as_eagers(name: str) -> None:
    """What has gaps or repeats in eager lies as eager's `clone()` of it."""
    forward, x = LEAVES[name]
    model = module(forward, conv=CONV)
    agrees(xdsl_exir.from_exported_program(exported(model, (x,))), model, (x,))


@pytest.mark.usefixtures("native_tools")
def test_outputs_natively() -> None:
    """Of symbolic sizes too; ExecuTorch's `cat` of channels-last operands is silently wrong."""

    def forward(self: Any, x: Any) -> Any:
        y = torch.cat([x, x.contiguous()], 1).to(memory_format=torch.channels_last)
        return (
            y,
            torch.cat([x, x], 1),
            x.contiguous().flatten(1),
            y.permute(0, 2, 3, 1)[:, 1],
            x[:1].expand(2, -1, -1, -1),
        )

    shapes = ({2: torch.export.Dim("h", min=2, max=9)},)
    program = xdsl_exir.from_exported_program(exported(module(forward), (IMAGE,), dynamic_shapes=shapes))
    run = xdsl_exir.compile(program, target="native")
    for x in (IMAGE, torch.rand(2, 3, 7, 4).to(memory_format=torch.channels_last)):
        for mine, its in zip(run(x.numpy()), module(forward)(x), strict=True):
            np.testing.assert_array_equal(mine, its)
            assert strides(mine) == list(its.clone().stride())


@pytest.mark.usefixtures("native_tools")
def test_formats_cost_nothing_natively() -> None:
    """A program with memory formats is cut into the dispatches of the one without: layouts are copied where it is called."""

    def planned(forward: Callable[..., Any], x: Any) -> Any:
        program = xdsl_exir.from_exported_program(exported(module(forward, conv=CONV), (x,)))
        plan = plan_program(program)
        dispatches = {*plan.dispatches.scheduled, *plan.dispatches.functions}
        return dispatches, len(calls_of(plan.plans["forward"].driver))

    plain = planned(lambda self, x: torch.relu(self.conv(x)) + 1, IMAGE.contiguous())
    assert plain == planned(lambda self, x: torch.relu(self.conv(x)) + 1, IMAGE)
    assert plain == planned(
        lambda self, x: torch.relu(self.conv(x.to(memory_format=torch.channels_last))).contiguous() + 1,
        IMAGE.contiguous(),
    )


def test_written_state_keeps_its_layout() -> None:
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(2, 3, 4, 4).to(memory_format=torch.channels_last))

        def forward(self, x: Any) -> Any:
            self.count.add_(x)
            x[:, 0].mul_(2)
            return self.count.contiguous()

    model, x = Counter(), IMAGE.clone()
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported(model, (x,))))
    mine = copy.deepcopy(x).numpy()
    for _ in range(2):
        run(mine)
        model(x)
    for got, wanted in ((mine, x), (run.array("count"), model.count)):
        np.testing.assert_array_equal(got, wanted)
        assert strides(got) == list(wanted.stride())


# --- what programs ask of layouts -----------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["training", "core"])
def test_strides_of_symbolic_sizes(dialect: str) -> None:
    def forward(self: Any, x: Any) -> Any:
        return x * x.stride(0) + A(x, [x.shape[0], 2], [x.stride(0), 1])[0, 1]

    shapes = ({0: torch.export.Dim("n", min=2), 1: torch.export.Dim("m", min=2)},)
    program = exported(module(forward), (X,), dialect, dynamic_shapes=shapes)
    assert "aten.sym_stride.int" in str(program.graph).replace("torch.ops.", "")
    for x in (X, torch.rand(4, 7, 4)):
        agrees(xdsl_exir.from_exported_program(program), module(forward), (x,))


def test_offsets_and_contiguity() -> None:
    text = """graph():
        %x : [num_users=3] = placeholder[target=x]
        %offset : [num_users=1] = call_function[target=torch.ops.aten.sym_storage_offset.default](args = (%x,), kwargs = {})
        %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x, %offset), kwargs = {})
        %whole : [num_users=1] = call_function[target=torch.ops.aten.sym_is_contiguous.default](args = (%x,), kwargs = {})
        return (mul, whole)"""
    program = xdsl_exir.from_fx_text(text, {"x": "float32[2, 3]"})
    x = np.ones((2, 3), np.float32)
    zeros, whole = xdsl_exir.compile(program).flat([x])
    assert not zeros.any()
    assert whole is True


# --- orders --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "held", "order"),
    [
        ((2, 3, 4), (12, 4, 1), (0, 1, 2)),
        ((2, 3, 4), (1, 2, 6), (2, 1, 0)),
        ((2, 3, 4, 5), (60, 1, 15, 3), (0, 2, 3, 1)),
        ((2, 1, 4), (4, 99, 1), (0, 1, 2)),
        ((1, 1, 1), (7, 7, 7), (0, 1, 2)),
        ((2, 0, 4), (1, 1, 1), (0, 1, 2)),
        ((), (), ()),
        ((2, 3), (6, 2), None),
        ((2, 3), (0, 1), None),
        ((2, 3), (1, 1), None),
    ],
)
def test_memory_order(sizes: tuple[int, ...], held: tuple[int, ...], order: tuple[int, ...] | None) -> None:
    meta = g.TensorMeta(dt.Float, sizes, False, g.Device("cpu"), held, 0, g.Layout("strided"))
    assert memory_order(meta) == order


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ('%x: tensor<2x3xf32> {exir.input = #exir.input<user_input, "x", dim_order = [0, 2, 1]>}', "argument 0 is"),
        ('%x: i64 {exir.input = #exir.input<user_input, "x", dim_order = [0]>}', "argument 0 is"),
    ],
)  # fmt: skip
def test_orders_of_another_rank_are_refused(signature: str, message: str) -> None:
    module = Parser(context().clone(), f"func.func @f({signature}) {{ func.return }}").parse_module()
    [found] = violations_of(module, "aten")
    assert found.message.startswith(message)


@pytest.mark.parametrize("pipeline", ["fold-constants", "optimize{level=1}", "canonicalize"])
def test_weights_keep_the_order_that_is_asked_for(pipeline: str) -> None:
    """A weight put in another order is not folded into an array that has none."""
    model = module(
        lambda self, x: (self.w.to(memory_format=torch.channels_last), x + 1),
        w=torch.arange(48.0).reshape(1, 3, 4, 4),
    )
    args = (torch.ones(2),)
    program = xdsl_exir.from_exported_program(exported(model, args)).to_edge().transform(pipeline)
    back = program.to_exported_program().module()(*args)
    assert [each.stride() for each in back] == [each.stride() for each in model(*args)]
