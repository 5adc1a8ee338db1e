"""A live ExportedProgram and its saved `.pt2` file read as the same thing, over the features of Export IR."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.errors import InputError, LoadError
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.graph import (
    CustomObj,
    Device,
    ExportedGraph,
    Frame,
    MemoryFormat,
    Node,
    Ref,
    Subgraph,
    Symbolic,
    SymMeta,
    TensorMeta,
)
from xdsl_exir.importers.exported_program import read_exported_program
from xdsl_exir.importers.pt2 import read_models, read_pt2

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("default")


# Programs, each a function from nothing to what `torch.export.export` takes


def _module(forward: Callable[..., Any], **tensors: Any) -> Any:
    """A module made of its forward function, and optionally of tensors."""
    module = type("Program", (torch.nn.Module,), {"forward": forward})()
    for name, tensor in tensors.items():
        setattr(module, name, tensor)
    return module


class _Mlp(torch.nn.Module):
    """Nested modules, dropout in evaluation mode, a scalar argument of every sort."""

    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 4))
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x: Any) -> Any:
        y = self.norm(self.body(x)).to(torch.float64).clone(memory_format=torch.contiguous_format)
        return torch.full((2,), float("inf")), y.clamp(max=float("inf")).sum(dim=-1)


def _x(*sizes: int) -> Any:
    return torch.arange(float(np.prod(sizes))).reshape(sizes)


def nested_modules() -> dict[str, Any]:
    return {"mod": _Mlp().eval(), "args": (_x(2, 4),)}


def cond() -> dict[str, Any]:
    def forward(_: Any, x: Any, y: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda x, y: (x + y, x * 2), lambda x, y: (x - y, y * 3), (x, y))[0]

    return {"mod": _module(forward), "args": (_x(3), _x(3))}


def while_loop() -> dict[str, Any]:
    def forward(_: Any, i: Any, x: Any) -> Any:
        from torch._higher_order_ops import while_loop

        return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (i, x))

    return {"mod": _module(forward), "args": (torch.tensor(0), _x(2, 3))}


def dynamic_batch() -> dict[str, Any]:
    batch = torch.export.Dim("batch", min=2, max=64)

    def forward(_: Any, x: Any, y: Any) -> Any:
        both = torch.cat([x, y]).reshape(-1, 2, 2) * x.shape[0]
        return {
            "both": both,
            "size": x.shape[0],
            "half": torch.nn.functional.max_pool1d(x[None], 2),
            "const": 7,
        }

    return {
        "mod": _module(forward),
        "args": (_x(4, 4), _x(4, 4)),
        "dynamic_shapes": ({0: batch}, {0: batch}),
    }


def unbounded_and_unbacked() -> dict[str, Any]:
    def forward(_: Any, x: Any, n: Any) -> Any:
        size = n.item()
        torch._check(size >= 1)
        torch._check(size <= 9)
        return x.nonzero(), torch.ones(size) + 1, x.shape[0] * 2 + 1

    dim = torch.export.Dim("n", min=0)
    return {
        "mod": _module(forward),
        "args": (_x(5), torch.tensor(3)),
        "dynamic_shapes": ({0: dim}, None),
    }


def lists_and_dead_results() -> dict[str, Any]:
    def forward(_: Any, x: Any) -> Any:
        parts = torch.split(x, [1, 2, 3])
        values, _indices = x.max(0)
        outputs, _state = torch._VF.lstm(
            x[:, None], (torch.zeros(1, 1, 2),) * 2, _LSTM_WEIGHTS, False, 1, 0.0, False, False, False
        )[:2]
        return parts[0] + parts[0], parts[2], values, outputs

    return {"mod": _module(forward), "args": (_x(6, 2),)}


_LSTM_WEIGHTS = [torch.zeros(8, 2), torch.zeros(8, 2)]


def mutations() -> dict[str, Any]:
    def forward(self: Any, x: Any, y: Any) -> Any:
        self.count.add_(1)
        self.cache[:1] = x
        y.mul_(2)
        return x + self.cache.sum() + self.scale

    module = _module(forward)
    module.register_buffer("count", torch.tensor(0))
    module.register_buffer("cache", torch.zeros(2, 3), persistent=False)
    module.register_buffer("scale", torch.tensor([1.5], dtype=torch.bfloat16))
    return {"mod": module, "args": (_x(3), _x(3))}


Point = namedtuple("Point", ["x", "y"])


def containers() -> dict[str, Any]:
    def forward(_: Any, a: Any, pair: Any, /, table: Any, *, scale: Any, mode: Any = None) -> Any:
        x = a + pair[1][0] * scale + table["u"]
        return OrderedDict(out=x, more=[x.sum(), (x * 2, None)]), Point(x + table["v"], 3)

    torch.utils._pytree._register_namedtuple(Point, serialized_type_name="test.Point")
    x = _x(2)
    return {
        "mod": _module(forward),
        "args": (x, (None, [x])),
        "kwargs": {"scale": 2.5, "table": {"v": x, "u": x}, "mode": "fast"},
    }


def constant_inputs() -> dict[str, Any]:
    def forward(_: Any, x: Any, n: Any, f: Any, flag: Any, s: Any, none: Any) -> Any:
        return x * n + f, n, flag, None, f

    return {"mod": _module(forward), "args": (_x(2), 3, 0.5, True, "text", None)}


def weights() -> dict[str, Any]:
    def forward(self: Any, x: Any) -> Any:
        return (
            x @ self.a @ self.tied @ self.strided @ self.sliced
            + self.bf16
            + self.empty.sum()
            + torch.tensor([1, 2])
        )

    base = torch.nn.Parameter(_x(2, 2))
    return {
        "mod": _module(
            forward,
            a=base,
            tied=base,
            strided=torch.nn.Parameter(_x(2, 2).t()),
            sliced=torch.nn.Parameter(_x(4, 4)[1::2, ::2]),
            bf16=torch.nn.Parameter(torch.tensor([1.5, -2.0], dtype=torch.bfloat16)),
            empty=torch.nn.Parameter(torch.zeros(0, 3)),
        ),
        "args": (_x(2, 2),),
    }


def optional_lists() -> dict[str, Any]:
    def forward(_: Any, x: Any, i: Any) -> Any:
        mask = torch.zeros_like(x, dtype=torch.bool, device="cpu")
        rolled = torch.nn.functional.pad(x, (1, 1)).flip([0, 1])
        return (
            x[:, i],
            torch.ops.aten.index_put(x, [None, i], torch.zeros(2, 2)),
            mask,
            rolled,
            torch.einsum("ij->ji", x),
        )

    return {"mod": _module(forward), "args": (_x(2, 4), torch.tensor([0, 2]))}


def custom_op() -> dict[str, Any]:
    def forward(_: Any, x: Any) -> Any:
        return torch.ops.xdsl_exir_test.scaled(x, 2.0, mode="up") + 1j

    return {"mod": _module(forward), "args": (_x(3),)}


def symbolic_arithmetic() -> dict[str, Any]:
    def forward(_: Any, x: Any) -> Any:
        n = x.shape[0]
        m = torch.sym_max(n // 2, 1)
        return x.new_zeros(m, n % 3 + 2), x * (n / 2), torch.sym_float(n)

    return {
        "mod": _module(forward),
        "args": (_x(7),),
        "dynamic_shapes": ({0: torch.export.Dim("n", min=5, max=99)},),
    }


PROGRAMS = (
    nested_modules,
    cond,
    while_loop,
    dynamic_batch,
    unbounded_and_unbacked,
    lists_and_dead_results,
    mutations,
    containers,
    constant_inputs,
    weights,
    optional_lists,
    custom_op,
    symbolic_arithmetic,
)


@pytest.fixture(scope="module", autouse=True)
def _operators() -> Any:
    library = torch.library.Library("xdsl_exir_test", "DEF")
    library.define("scaled(Tensor x, float factor, *, str mode='down') -> Tensor")
    library.impl("scaled", lambda x, factor, mode="down": x * factor, "CompositeExplicitAutograd")
    yield
    library._destroy()


@pytest.fixture(scope="module")
def export() -> Callable[..., Any]:
    """Exports a program by name and dialect, once."""
    known: dict[tuple[str, str], Any] = {}

    def get(program: Callable[[], dict[str, Any]], dialect: str = "TRAINING") -> Any:
        key = program.__name__, dialect
        if key not in known and dialect == "ATEN":
            known[key] = get(program).run_decompositions()
        elif key not in known:
            known[key] = torch.export.export(**program())
        return known[key]

    return get


def _exactly(value: object) -> object:
    """A value with the types of everything in it, for 1, 1.0 and True are equal."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        compared = (f.name for f in dataclasses.fields(value) if f.compare)
        return type(value).__name__, *(_exactly(getattr(value, name)) for name in compared)
    if isinstance(value, dict):
        return tuple(sorted((key, _exactly(item)) for key, item in value.items()))
    if isinstance(value, tuple):
        return tuple(map(_exactly, value))
    return type(value).__name__, repr(value)


@pytest.mark.parametrize("dialect", ["TRAINING", "ATEN"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_live_and_saved_are_equal(program: Any, dialect: str, export: Any, tmp_path: Path) -> None:
    ep = export(program, dialect)
    live = read_exported_program(ep)
    torch.export.save(ep, str(tmp_path / "program.pt2"))
    saved = read_pt2(tmp_path / "program.pt2")
    assert isinstance(saved, ExportedGraph)
    assert live.dialect == dialect
    assert _exactly(live) == _exactly(saved)
    assert live == saved or "nan" in repr(live)
    for ours, tensors in ((live, ep), (saved, ep)):
        for name, tensor in [*tensors.state_dict.items(), *tensors.constants.items()]:
            data = (ours.state if name in ours.state else ours.constants)[name]
            assert np.array_equal(
                data.numpy().astype(np.complex128),
                tensor.detach().to(torch.complex128).numpy(),
                equal_nan=True,
            )
            assert data.numpy().shape == tuple(tensor.shape)
            assert not data.numpy().flags.writeable
    for ours in (live, saved):
        pytree.loads(ours.signature.in_spec, ours.namedtuple_fields)
        assert (
            pytree.dumps(pytree.loads(ours.signature.out_spec, ours.namedtuple_fields))
            == ours.signature.out_spec
        )


# What the plain data say


def _nodes(program: ExportedGraph, target: str) -> list[Node]:
    return [node for node in program.graph.nodes if node.target == target]


def _inputs(node: Node) -> dict[str, Any]:
    return {argument.name: argument.value for argument in node.inputs}


def test_targets_and_arguments(export: Any) -> None:
    program = read_exported_program(export(nested_modules))
    (to, *_) = _nodes(program, "aten.to.dtype")
    assert [(i.name, repr(i.value), i.keyword) for i in to.inputs[1:]] == [("dtype", "Double", False)]
    assert _inputs(_nodes(program, "aten.linear")[0]).keys() == {"input", "weight", "bias"}
    (clone,) = _nodes(program, "aten.clone")
    assert [(i.name, i.value, i.keyword) for i in clone.inputs[1:]] == [
        ("memory_format", MemoryFormat("contiguous_format"), True)
    ]
    (full,) = _nodes(program, "aten.full")
    assert _inputs(full)["fill_value"] == float("inf")
    assert _inputs(full).get("device", Device("cpu")) == Device("cpu")


def test_metadata(export: Any) -> None:
    program = read_exported_program(export(nested_modules))
    linear = _nodes(program, "aten.linear")[1]
    assert linear.module_path == "body.2"
    assert linear.modules[-1].type_name == "torch.nn.modules.linear.Linear"
    assert [module.path for module in linear.modules] == ["", "body", "body.2"]
    assert linear.torch_fn.endswith(";builtin_function_or_method.linear")
    assert linear.frames[-1].file.endswith("linear.py")
    frame = linear.frame
    assert frame is not None
    assert frame.file == __file__
    assert frame.function == "forward"
    assert "self.body(x)" in frame.code


def test_frames() -> None:
    trace = 'File "a b.py", line 3, in f\n    x = (\n      1)\n  File "<eval_with_key>.5", line 9, in forward'
    node = Node("n", "aten.mm", (), (), stack_trace=trace)
    assert node.frames == (
        Frame("a b.py", 3, "f", "x = (\n      1)"),
        Frame("<eval_with_key>.5", 9, "forward"),
    )
    assert node.frame == node.frames[0]
    assert Node("n", "aten.mm", (), ()).frame is None
    only_torch = 'File "/v/site-packages/torch/nn/x.py", line 1, in f'
    assert Node("n", "aten.mm", (), (), stack_trace=only_torch).frame == Frame(
        "/v/site-packages/torch/nn/x.py", 1, "f"
    )


def test_higher_order(export: Any) -> None:
    (node,) = _nodes(read_exported_program(export(cond)), "higher_order.cond")
    _, yes, no, operands = [argument.value for argument in node.inputs]
    assert isinstance(yes, Subgraph)
    assert isinstance(no, Subgraph)
    assert [n.target for n in yes.graph.nodes] == ["aten.add.Tensor", "aten.mul.Tensor"]
    assert operands == (Ref("x"), Ref("y"))
    assert node.outputs == (Ref("getitem"), Ref("getitem_1"))
    (loop,) = _nodes(read_exported_program(export(while_loop)), "higher_order.while_loop")
    condition, body = loop.inputs[0].value, loop.inputs[1].value
    assert isinstance(condition, Subgraph)
    assert isinstance(body, Subgraph)
    assert (condition.graph.returns_single_tensor, body.graph.returns_single_tensor) == (True, False)


def test_list_results(export: Any) -> None:
    program = read_exported_program(export(lists_and_dead_results))
    (split,) = _nodes(program, "aten.split.sizes") or _nodes(program, "aten.split_with_sizes")
    ((first, second, third),) = split.outputs  # type: ignore[misc]
    assert [type(part) for part in (first, second, third)] == [Ref, Ref, Ref]
    (maximum,) = _nodes(read_exported_program(export(lists_and_dead_results, "ATEN")), "aten.max.dim")
    assert len(maximum.outputs) == 2


def test_symbols(export: Any) -> None:
    program = read_exported_program(export(dynamic_batch))
    (name,) = program.range_constraints
    assert program.range_constraints[name] == (2, 64)
    (size,) = _nodes(program, "aten.sym_size.int")
    (ref,) = size.outputs
    assert isinstance(ref, Ref)
    meta = program.graph.values[ref.name]
    assert meta == SymMeta("int", Symbolic(f"Symbol('{name}', positive=True, integer=True)"))
    cat = program.graph.values["cat"]
    assert isinstance(cat, TensorMeta)
    assert isinstance(cat.sizes[0], Symbolic)
    assert cat.sizes[0].srepr.startswith("Mul(Integer(2)")
    unbacked = read_exported_program(export(unbounded_and_unbacked))
    assert (0, None) in unbacked.range_constraints.values()
    assert any(name.startswith("u") for name in unbacked.range_constraints)
    targets = {node.target for node in read_exported_program(export(symbolic_arithmetic)).graph.nodes}
    assert {"_operator.floordiv", "_operator.mod", "torch.sym_max", "_operator.truediv"} <= targets


def test_signature(export: Any) -> None:
    program = read_exported_program(export(mutations, "ATEN"))
    assert [(spec.kind, spec.target, spec.persistent) for spec in program.inputs] == [
        ("buffer", "count", True),
        ("buffer", "cache", False),
        ("buffer", "scale", True),
        ("user_input", None, None),
        ("user_input", None, None),
    ]
    assert [(spec.kind, spec.target) for spec in program.outputs] == [
        ("buffer_mutation", "count"),
        ("buffer_mutation", "cache"),
        ("user_input_mutation", program.inputs[-1].name),
        ("user_output", None),
    ]
    assert program.data(program.inputs[1]) is program.constants["cache"]
    constants = read_exported_program(export(constant_inputs))
    assert [spec.value for spec in constants.inputs if spec.kind == "constant_input"] == [
        3,
        0.5,
        True,
        "text",
        None,
    ]
    assert [spec.value for spec in constants.outputs][1:] == [3, True, None, 0.5]


def test_weights(export: Any, tmp_path: Path) -> None:
    ep = export(weights)
    torch.export.save(ep, str(tmp_path / "w.pt2"))
    for program in (read_exported_program(ep), read_pt2(tmp_path / "w.pt2")):
        assert isinstance(program, ExportedGraph)
        state = program.state
        assert state["a"].storage_key == state["tied"].storage_key != state["strided"].storage_key
        assert np.shares_memory(state["a"].numpy(), state["tied"].numpy())
        assert state["strided"].strides == (1, 2)
        assert np.array_equal(state["sliced"].numpy(), [[4, 6], [12, 14]])
        assert str(state["bf16"].numpy().dtype) == "bfloat16"
        assert state["empty"].numpy().shape == (0, 3)
        assert [data.numpy().tolist() for data in program.constants.values()] == [[1, 2]]


@pytest.mark.parametrize("share", [False, True])
def test_live_weights_are_copied_unless_shared(export: Any, share: bool) -> None:
    ep = export(weights)
    ours = read_exported_program(ep, share).state["strided"].numpy()
    assert (ours.ctypes.data == ep.state_dict["strided"].data_ptr()) == share


def test_several_models(export: Any, tmp_path: Path) -> None:
    path = tmp_path / "both.pt2"
    from torch.export.pt2_archive._package import package_pt2

    package_pt2(str(path), exported_programs={"first": export(cond), "second": export(weights)})
    both = read_pt2(path)
    assert isinstance(both, dict)
    assert list(both) == ["first", "second"]
    assert both["first"] == read_exported_program(export(cond))
    assert both["second"] == read_exported_program(export(weights))
    package_pt2(str(path), exported_programs={"only": export(weights)})
    assert list(read_models(path)) == ["only"]


def test_calling_convention(export: Any) -> None:
    program = read_exported_program(export(containers))
    signature = program.signature
    in_spec = pytree.loads(signature.in_spec, program.namedtuple_fields)
    out_spec = pytree.loads(signature.out_spec, program.namedtuple_fields)
    assert program.namedtuple_fields == {"test.Point": ("x", "y")}
    leaves = pytree.flatten_call(
        ("a", (None, ["b"])), {"mode": "fast", "table": {"u": 1, "v": 2}, "scale": 2.5}, in_spec
    )
    kinds = [spec.name for spec in program.inputs]
    assert len(leaves) == len(kinds)
    assert leaves[:3] == ["a", None, "b"]
    tree = pytree.unflatten(range(out_spec.num_leaves), out_spec)
    assert tree == (OrderedDict(out=0, more=[1, (2, 3)]), (4, 5))
    assert tree[1].y == 5


def test_namedtuples_without_a_serialized_name() -> None:
    """`torch.export.save` refuses them; a live program is read with the names of the classes."""
    pair = namedtuple("pair", ["top", "rest"])

    def forward(_: Any, x: Any) -> Any:
        return x.max(0), {"pair": pair(x + 1, x.topk(1, 0))}

    program = read_exported_program(torch.export.export(_module(forward), (_x(3),)))
    out_spec = pytree.loads(program.signature.out_spec, program.namedtuple_fields)
    largest, rest = pytree.unflatten(range(out_spec.num_leaves), out_spec)
    assert (largest.values, largest.indices) == (0, 1)
    assert (rest["pair"].top, rest["pair"].rest.indices) == (2, 4)
    assert program.namedtuple_fields["torch.return_types.max"] == ("values", "indices")


def test_dataclasses_of_live_programs() -> None:
    """Containers that PyTorch knows are known here too, whether or not they can be saved; guards find their fields."""

    @dataclasses.dataclass
    class State:
        x: Any
        y: Any = None

    torch.export.register_dataclass(State)

    def forward(_: Any, state: Any) -> Any:
        return State(state.x.reshape(-1, 2).sum(1), [state.x])

    shapes = {"state": [{0: torch.export.Dim.AUTO}]}
    exported = torch.export.export(_module(forward), (State(_x(4)),), dynamic_shapes=shapes)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported))
    given = np.arange(6, dtype=np.float32)
    result = run(State(given))
    assert isinstance(result, State)
    np.testing.assert_equal([result.x, *result.y], [np.array([1, 5, 9], np.float32), given])
    with pytest.raises(InputError, match=r"input 'state_x', dimension 0: s\d+ = 5; not s\d+ mod 2 == 0"):
        run(State(given[:5]))


# What cannot be read


def test_not_a_program() -> None:
    with pytest.raises(LoadError, match=r"expected a torch.export.ExportedProgram, got a Linear"):
        read_exported_program(torch.nn.Linear(1, 1))


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (lambda: torch.ones(2, 2).to_sparse(), "quantized, sparse"),
        (lambda: torch.quantize_per_tensor(torch.ones(2, 2), 0.5, 0, torch.qint8), "quantized, sparse"),
        (lambda: torch.ones(2, 2, device="meta"), "without data"),
        (lambda: torch.ones(2, 2).as_subclass(_Subclass), "tensor subclass _Subclass"),
        (lambda: _leaked(), "of a function transform"),
    ],
    ids=["sparse", "quantized", "meta", "subclass", "transformed"],
)
def test_refused_tensors(export: Any, tensor: Callable[[], Any], message: str) -> None:
    ep = export(weights)
    before = ep.state_dict["a"]
    ep.state_dict["a"] = tensor()
    try:
        with pytest.raises(LoadError, match=message):
            read_exported_program(ep)
    finally:
        ep.state_dict["a"] = before


class _Subclass(torch.Tensor):
    pass


def _leaked() -> Any:
    """What `torch.func.grad` calls its function with, after it."""
    seen: list[Any] = []
    torch.func.grad(lambda x: (seen.append(x), x.sum())[1])(torch.ones(2, 2))
    return seen[0]


def test_conjugates_are_resolved(export: Any) -> None:
    ep = export(weights)
    ep.constants["extra"] = torch.tensor([1 + 2j]).conj()
    ep.constants["negative"] = torch.tensor([1 + 2j]).conj().imag
    try:
        program = read_exported_program(ep)
    finally:
        del ep.constants["extra"], ep.constants["negative"]
    assert program.constants["extra"].numpy().tolist() == [1 - 2j]
    assert program.constants["negative"].numpy().tolist() == [-2.0]


def test_weight_of_another_shape(export: Any) -> None:
    ep = export(weights)
    before = ep.state_dict["a"]
    ep.state_dict["a"] = torch.ones(3, 3)
    try:
        with pytest.raises(
            LoadError, match=r"parameter 'a' is Float\[2, 2\] in the graph, its data Float\[3, 3\]"
        ):
            read_exported_program(ep)
    finally:
        ep.state_dict["a"] = before


def test_importing_does_not_import_torch() -> None:
    code = (
        "import sys; import xdsl_exir.importers.exported_program, xdsl_exir.importers.pt2, xdsl_exir.exchange.pytree; "
        "print([m for m in ('torch', 'numpy', 'sympy') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


def test_custom_objects_compare() -> None:
    assert CustomObj("a", "B") == CustomObj("a", "B")
