"""Programs back out: to torch.export, to `.pt2` and `.mlir` files, and in again; what comes back is what went out."""

from __future__ import annotations

import collections
import copy
import dataclasses
import importlib.util
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import sample_module
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.errors import ExirError, LoadError, UnsupportedError, VerificationError
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.safetensors import DTYPES, read_safetensors
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.exporters.graph import graphs_of
from xdsl_exir.exporters.pt2 import save_pt2
from xdsl_exir.exporters.safetensors import write_safetensors
from xdsl_exir.exporters.symbols import contiguous_strides
from xdsl_exir.importers.pt2 import read_models
from xdsl_exir.program import Program, context, from_graphs
from xdsl_exir.transforms.layouts import ToMemoryFormats

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("default")

STAGES: dict[str, Callable[[Program], Program]] = {
    "imported": lambda program: program,
    "core": lambda program: program.to_core(),
    "edge": lambda program: program.to_edge(),
}

# --- programs ------------------------------------------------------------------------------------------------


def module(forward: Callable[..., Any], **members: Any) -> Any:
    """A module made of its forward function and of what it holds."""
    made = type("Program", (torch.nn.Module,), {"forward": forward})()
    for name, member in members.items():
        setattr(made, name, member)
    return made


def randn(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def rows() -> Any:
    return torch.export.Dim("rows", min=2, max=64)


def _cond() -> tuple[Any, ...]:
    linear = torch.nn.Linear(3, 3)

    def forward(self: Any, x: Any) -> Any:
        def yes(x: Any) -> Any:
            return self.linear(x), x.sin()

        def no(x: Any) -> Any:
            return torch.cond(x.max() > 1, lambda x: (x.cos(), x + 1), lambda x: (x * 2, x.cos()), (x,))

        return torch.cond(x.sum() > 0, yes, no, (x,))

    return module(forward, linear=linear), (randn(3, 3),)


def _while_loop() -> tuple[Any, ...]:
    from torch._higher_order_ops.while_loop import while_loop

    def forward(self: Any, i: Any, x: Any) -> Any:
        return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * self.w), (i, x))

    return module(forward, w=torch.nn.Parameter(torch.ones(3) * 1.5)), (torch.tensor(0), randn(3))


def _map_and_scan() -> tuple[Any, ...]:
    from torch._higher_order_ops.map import map as map_
    from torch._higher_order_ops.scan import scan

    def forward(self: Any, xs: Any, y: Any) -> Any:
        return map_(lambda x, y: x.sin() + y, xs, y), scan(lambda c, x: (c + x, (c * x).sin()), y, xs)

    return module(forward), (randn(4, 3), randn(3))


def _recurrent() -> tuple[Any, ...]:
    return module(lambda self, x: self.rnn(x), rnn=torch.nn.GRU(3, 4)), (randn(2, 3, 3),)


def _dynamic() -> tuple[Any, ...]:
    def forward(self: Any, x: Any, y: Any) -> Any:
        return torch.cat([x, y], 0).reshape(-1, 4) * x.shape[0], x.shape[0] * 2 + 1, x.view(-1)

    return module(forward), (randn(4, 4), randn(4, 4)), {}, ({0: (d := rows())}, {0: d})


def _data_dependent() -> tuple[Any, ...]:
    def forward(self: Any, x: Any, n: Any) -> Any:
        u = n.item()
        torch._check(u >= 0)
        torch._check(u <= x.shape[0])
        return x[:u].sum(), torch.zeros(u + 1), x.nonzero() * 2

    return module(forward), (randn(5), torch.tensor(3))


def _integer_input() -> tuple[Any, ...]:
    return (
        module(lambda self, x, n: (x * n, n + 1)),
        (randn(3), 5),
        {},
        {"x": None, "n": torch.export.Dim.AUTO},
    )


def _state() -> tuple[Any, ...]:
    """Mutated buffer and input, a transient buffer, tied and strided weights, constants, inputs and outputs that are fixed."""
    weight = torch.nn.Parameter(randn(3, 3))

    class State(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(3))
            self.register_buffer("scale", torch.ones(3), persistent=False)
            self.one, self.other = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
            self.one.weight = self.other.weight = weight
            self.strided = torch.nn.Parameter(torch.randn(3, 3).t(), requires_grad=False)
            self.constant = torch.tensor([1.0, 2, 3])

        def forward(self, x: Any, *, k: Any = None, flag: bool = True) -> Any:
            self.count.add_(x[0])
            x.mul_(2)
            y = self.other(self.one(x)) @ self.strided
            return {"a": y + self.count, "b": (self.scale * self.constant, None, 3)}

    return State(), (randn(2, 3),), {"k": None, "flag": True}


Pair = collections.namedtuple("Pair", "p q")


def _trees() -> tuple[Any, ...]:
    if Pair not in torch.utils._pytree.SUPPORTED_SERIALIZED_TYPES:
        torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="test_back_out.Pair")

    def forward(self: Any, a: Any, b: Any) -> Any:
        return Pair(a["x"] + b[0], [a["y"], b[1] * 2])

    return module(forward), ({"x": randn(2), "y": randn(3)}, (randn(2), randn(4)))


def _derived() -> tuple[Any, ...]:
    return module(lambda self, x: x * 2), (randn(9, 4),), {}, ({0: 2 * rows() + 1},)


def _lists() -> tuple[Any, ...]:
    def forward(self: Any, x: Any, i: Any) -> Any:
        a, _ = x.chunk(2, 0)
        values, indices = x.max(0)
        parts = x.split([1, 3], 0)
        floor = torch.div(x, 2, rounding_mode="floor")
        return a + 1, values, indices, *parts, floor, x[:, i], torch.einsum("ij,kj->ik", x, x)

    return module(forward), (randn(4, 3), torch.tensor([0, 1]))


def _constants() -> tuple[Any, ...]:
    def forward(self: Any, x: Any) -> Any:
        y = x.to(torch.float16) * 1e-7 + float("inf")
        return y, torch.full((2,), 1 + 2j), torch.zeros(0, 3), torch.tensor([1, 2]) + 1, x.sum(dim=())

    return module(forward), (randn(3, 3),)


PROGRAMS = {
    function.__name__[1:]: function
    for function in (
        _cond,
        _while_loop,
        _map_and_scan,
        _recurrent,
        _dynamic,
        _derived,
        _data_dependent,
        _integer_input,
        _state,
        _trees,
        _lists,
        _constants,
    )
}


def exported(name: str, dialect: str) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """A program with its example arguments."""
    model, args, kwargs, shapes, *_ = (*PROGRAMS[name](), {}, None)[:4]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=False)
        return (program if dialect == "training" else program.run_decompositions()), args, kwargs


def leaves(tree: Any) -> list[Any]:
    return torch.utils._pytree.tree_leaves(tree)


def assert_same(got: Any, wanted: Any) -> None:
    got, wanted = leaves(got), leaves(wanted)
    assert len(got) == len(wanted)
    for value, expected in zip(got, wanted, strict=True):
        if isinstance(expected, torch.Tensor):
            torch.testing.assert_close(value, expected, equal_nan=True)
        else:
            assert value == expected


def assert_runs_alike(ours: Any, theirs: Any, args: Any, kwargs: Any) -> None:
    """Two calls, so that what the first does to buffers shows, with what they do to their inputs."""
    one, other = (
        ours.module(),
        copy.deepcopy(theirs).module(),
    )  # a module's calls write to its program's buffers
    for _ in range(2):
        mine, its = copy.deepcopy(args), copy.deepcopy(args)
        with torch.no_grad():
            assert_same((one(*mine, **kwargs), mine), (other(*its, **kwargs), its))


# --- torch.export --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["training", "core"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_exported_programs(name: str, dialect: str) -> None:
    """At every stage the ExportedProgram is valid and runs like the one that came in, to which it is equal where
    nothing was made functional."""
    theirs, args, kwargs = exported(name, dialect)
    program = xdsl_exir.from_exported_program(theirs)
    for stage, take in STAGES.items():
        ours = take(program).to_exported_program()
        ours.validate()
        assert_runs_alike(ours, theirs, args, kwargs)
        assert dict(ours.range_constraints) == dict(theirs.range_constraints)
        if stage == "imported" and dialect == "core":
            assert ours.graph_signature == theirs.graph_signature
            assert untupled(str(ours.graph)) == untupled(str(theirs.graph))
            assert ours.call_spec == theirs.call_spec


def test_derived_sizes_can_be_decomposed() -> None:
    """What PyTorch loads from its own archive of the same program, it cannot decompose."""
    theirs, args, kwargs = exported("derived", "core")
    ours = xdsl_exir.from_exported_program(theirs).to_exported_program().run_decompositions({})
    assert_runs_alike(ours, theirs, args, kwargs)


def untupled(text: str) -> str:
    """A graph's text without what archives do not keep: which sequences are tuples, and that results are unused."""
    kept = [line for line in text.splitlines() if not re.search(r"_unused_\d+ : \[num_users=0\]", line)]
    text = re.sub(r"num_users=\d+", "", "\n".join(kept))
    return text.replace(",)", ")").translate(str.maketrans("()", "[]"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_executorch_takes_them(name: str) -> None:
    exir: Any = pytest.importorskip("executorch.exir")
    theirs, _, _ = exported(name, "core")
    program = xdsl_exir.from_exported_program(theirs)
    for stage in (program, program.to_edge()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exir.to_edge(
                stage.to_exported_program(), compile_config=exir.EdgeCompileConfig(_check_ir_validity=False)
            )


def test_transformed_programs_run_in_pytorch() -> None:
    """A view of what is no longer row-major, because a pass removed the copy, is one of a copy again."""

    def forward(self: Any, x: Any) -> Any:
        return x.t().contiguous().view(-1), x.t().reshape(2, -1)

    theirs = torch.export.export(module(forward), (randn(3, 4),)).run_decompositions()
    edge = xdsl_exir.from_exported_program(theirs).to_edge().transform("forget-layouts")
    assert "clone" not in str(edge)
    ours = edge.to_exported_program()
    assert_runs_alike(ours, theirs, (randn(3, 4),), {})
    targets = [str(node.target) for node in ours.graph.nodes]
    assert targets.count("aten.clone.default") == 2


GIVES_BACK = """
func.func @forward(%p : tensor<i1>, %x : tensor<3xf32>, %xs : tensor<4x3xf32>) -> (tensor<3xf32>, tensor<4x3x1xf32>, tensor<3xf32>, tensor<4x3xf32>) {
  %last, %ys = higher_order.scan init(%x : tensor<3xf32>) xs(%xs : tensor<4x3xf32>) -> tensor<3xf32>, tensor<4x3x1xf32> {
  ^bb0(%carry : tensor<3xf32>, %a : tensor<3xf32>):
    %b = aten.mul.Tensor(%carry, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %c = aten.unsqueeze(%b, dim = 1) : (tensor<3xf32>) -> tensor<3x1xf32>
    higher_order.yield %b, %c : tensor<3xf32>, tensor<3x1xf32>
  }
  %y = higher_order.cond %p : tensor<i1> inputs(%x : tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a : tensor<3xf32>):
    higher_order.yield %a : tensor<3xf32>
  } else {
  ^bb0(%a : tensor<3xf32>):
    %b = aten.neg(%a) : (tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %b : tensor<3xf32>
  }
  %zs = higher_order.map xs(%xs : tensor<4x3xf32>) -> tensor<4x3xf32> {
  ^bb0(%a : tensor<3xf32>):
    %b = aten.view(%a, size = [3]) : (tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %b : tensor<3xf32>
  }
  func.return %last, %ys, %y, %zs : tensor<3xf32>, tensor<4x3x1xf32>, tensor<3xf32>, tensor<4x3xf32>
}
"""


def test_regions_give_results_in_memory_of_their_own() -> None:
    """PyTorch refuses functions that give back an argument, a view of one, or two results in one memory."""
    program = Program(Parser(context().clone(), GIVES_BACK).parse_module())
    inputs = (torch.tensor(True), randn(3), randn(4, 3))
    again = program.to_exported_program().run_decompositions()
    expected = xdsl_exir.compile(program).flat([value.numpy() for value in inputs])
    assert_same(again.module()(*inputs), [torch.from_numpy(value.copy()) for value in expected])


def test_delegates_are_put_back() -> None:
    theirs = torch.export.export(module(lambda self, x: torch.mm(x, x).relu()), (randn(3, 3),))
    program = (
        xdsl_exir.from_exported_program(theirs)
        .to_edge()
        .transform('partition{backend="native" ops="aten.mm","aten.relu"}')
    )
    assert "backend.delegate" in str(program)
    assert_runs_alike(program.to_exported_program(), theirs, (randn(3, 3),), {})


def test_unsupported_operations_are_named() -> None:
    theirs = torch.export.export(module(lambda self, x: x.relu()), (randn(3, 3),))
    lowered = xdsl_exir.from_exported_program(theirs).to_edge().transform("edge-to-linalg")
    with pytest.raises(
        UnsupportedError, match="a program lowered to linalg: Export IR takes it as it was at edge"
    ):
        lowered.to_exported_program()


# --- files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_archives(name: str, tmp_path: Path) -> None:
    """What is saved without PyTorch is read by PyTorch and by this package, and saved again it is the same bytes."""
    theirs, args, kwargs = exported(name, "core")
    program = xdsl_exir.from_exported_program(theirs)
    path = tmp_path / "m.pt2"
    program.save(path)
    back = xdsl_exir.load(path)
    assert back.text() == program.text()
    assert_equal_state(back, program)
    assert_runs_alike(torch.export.load(path), theirs, args, kwargs)
    before = path.read_bytes()
    back.save(path)  # over the file that its weights are mapped from
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_text_with_weights(name: str, stage: str, tmp_path: Path) -> None:
    theirs, args, kwargs = exported(name, "core")
    program = STAGES[stage](xdsl_exir.from_exported_program(theirs))
    path = tmp_path / "m.mlir"
    program.save(path)
    back = xdsl_exir.load(path)
    assert back.module.is_structurally_equivalent(program.module)
    assert back.conventions == program.conventions
    assert_equal_state(back, program)
    back.save(path)
    assert xdsl_exir.load(path).text(locations=True) == program.text(locations=True)
    run = xdsl_exir.compile(back)
    flat = [x.numpy() if isinstance(x, torch.Tensor) else x for x in leaves((args, kwargs)) if x is not None]
    outputs = run(*torch.utils._pytree.tree_map(array_of, args), **kwargs)
    with torch.no_grad():
        expected = theirs.module()(*copy.deepcopy(args), **kwargs)
    assert len(flat) >= len(args)
    assert_same(
        torch.utils._pytree.tree_map(tensor_of, tuple(leaves_of(outputs))), tuple(leaves_of(expected))
    )


def array_of(value: Any) -> Any:
    return value.numpy().copy() if isinstance(value, torch.Tensor) else value


def tensor_of(value: Any) -> Any:
    return torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray | np.generic) else value


def leaves_of(tree: Any) -> list[Any]:
    """The leaves of results, whichever class their containers are of."""
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in leaves_of(value)]
    if isinstance(tree, tuple | list):
        return [leaf for value in tree for leaf in leaves_of(value)]
    return [tree]


def assert_equal_state(back: Program, program: Program) -> None:
    assert back.state.keys() == program.state.keys()
    for name, data in program.state.items():
        np.testing.assert_array_equal(back.state[name].numpy(), data.numpy())


def test_text_survives_other_tools(tmp_path: Path) -> None:
    """The calling convention goes with the text through a tool that knows nothing of it."""
    theirs, _, _ = exported("trees", "core")
    program = xdsl_exir.from_exported_program(theirs)
    program.save(tmp_path / "m.mlir")
    run = subprocess.run(
        [Path(sys.executable).with_name("xdsl-opt"), str(tmp_path / "m.mlir"), "-p", "canonicalize"],
        capture_output=True,
        text=True,
        check=True,
    )
    (tmp_path / "m.mlir").write_text(run.stdout)
    assert xdsl_exir.load(tmp_path / "m.mlir").conventions == program.conventions


def test_methods_share_their_weights(tmp_path: Path) -> None:
    shared = torch.nn.Linear(4, 4)
    programs = {
        "prefill": torch.export.export(module(lambda self, x: self.shared(x), shared=shared), (randn(2, 4),)),
        "decode": torch.export.export(
            module(lambda self, x: self.shared(x) + 1, shared=shared), (randn(1, 4),)
        ),
    }
    program = xdsl_exir.from_exported_program(programs)
    program.save(tmp_path / "m.pt2")
    back = xdsl_exir.load(tmp_path / "m.pt2")
    assert back.text() == program.text()
    models = read_models(tmp_path / "m.pt2")
    entries = {data.storage.entry for model in models.values() for data in model.state.values()}
    assert len(entries) == 2  # weight and bias, once each
    assert_runs_alike(program.to_exported_program("decode"), programs["decode"], (randn(1, 4),), {})


def test_strided_and_tied_weights_stay_so(tmp_path: Path) -> None:
    theirs, _, _ = exported("state", "core")
    xdsl_exir.from_exported_program(theirs).save(tmp_path / "m.pt2")
    back = torch.export.load(tmp_path / "m.pt2")
    state = back.state_dict
    assert (
        state["one.weight"].untyped_storage().data_ptr() == state["other.weight"].untyped_storage().data_ptr()
    )
    assert state["strided"].stride() == theirs.state_dict["strided"].stride()
    assert isinstance(state["one.weight"], torch.nn.Parameter)


@pytest.mark.parametrize("name", ["scf.yield", "test.op", "mine.op"])
def test_text_that_would_not_be_read_is_not_written(name: str, tmp_path: Path) -> None:
    known = context().clone()
    known.allow_unregistered = True
    body = f'"{name}"() : () -> ()\n %r = aten.relu(%x) : (tensor<3xf32>) -> tensor<3xf32>\n func.return %r : tensor<3xf32>'
    text = f"func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {{ {body} }}"
    program = Program(Parser(known, text).parse_module())
    with pytest.raises(VerificationError, match=f"{name}: not an operation of the aten stage"):
        program.save(tmp_path / "p.mlir")
    assert not list(tmp_path.iterdir())


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    theirs, _, _ = exported("lists", "core")
    with pytest.raises(ExirError, match=r"saved as \.pt2 or \.mlir"):
        xdsl_exir.from_exported_program(theirs).save(tmp_path / "m.onnx")


def test_saving_needs_no_torch(tmp_path: Path) -> None:
    digits = Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2"
    code = (
        "import sys, xdsl_exir; p = xdsl_exir.load(sys.argv[1]); p.save(sys.argv[2] + '/m.pt2'); "
        "p.to_edge().save(sys.argv[2] + '/m.mlir'); xdsl_exir.load(sys.argv[2] + '/m.mlir'); p.fx_text(); "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(digits), str(tmp_path)], check=True)


# --- operators -----------------------------------------------------------------------------------------------

NO_FORM = frozenset({"aten.gradient.scalarrayint"})
"""Operators whose samples mix integers and floats in a list, which PyTorch's schema has no form for either."""


@pytest.mark.parametrize("stage", ["aten", "edge"])
def test_every_operator_goes_out_and_in(stage: str, tmp_path: Path) -> None:
    """Samples of all operators, as methods of one program: graphs are read as they were written, and from aten the
    operations built from them are the ones that went out, layouts said in ATen's words."""
    program = Program(sample_module(stage))
    in_aten = program.apply(ToMemoryFormats())
    graphs = graphs_of(program)
    kept = {
        name: graph
        for name, graph in graphs.items()
        if not any(node.target in NO_FORM for node in graph.graph.nodes)
    }
    assert len(graphs) - len(kept) == len(NO_FORM)
    save_pt2(tmp_path / "all.pt2", kept)
    for name, read in read_models(tmp_path / "all.pt2").items():
        assert read.graph == kept[name].graph
        if stage == "aten":
            back = from_graphs({name: read}, name)
            assert operations(back, name) == operations(in_aten, name)


def operations(program: Program, method: str) -> list[str]:
    """The operations of a method as text, without names and attributes."""
    ops = program.method(method).body.block.ops
    return [re.sub(r"%\w+", "%", re.sub(r" \{exir[^}]*\}", "", str(op))) for op in ops]


@pytest.mark.parametrize("name", ["mlp", "bert6", "resnet18", "mobilenetv2"])
def test_models(name: str, tmp_path: Path) -> None:
    """Models of bench/models: the core program goes out as it came in; at edge it still runs to the same results."""
    folder = Path(__file__).parents[2] / "bench"
    spec = importlib.util.spec_from_file_location("export_models", folder / "export_models.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules["export_models"] = script
    spec.loader.exec_module(script)
    model, inputs = script.get_model_and_inputs(name)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = torch.export.export(model, inputs).run_decompositions()
    program = xdsl_exir.from_exported_program(theirs)
    assert program.fx_text() == str(theirs.graph)
    program.save(tmp_path / "m.pt2")
    back = torch.export.load(tmp_path / "m.pt2")
    assert untupled(str(back.graph)) == untupled(str(theirs.graph))
    assert back.graph_signature == theirs.graph_signature
    with torch.no_grad():
        expected = leaves(theirs.module()(*inputs))
        for ours in (back, program.to_edge().to_exported_program()):
            for value, wanted in zip(leaves(ours.module()(*inputs)), expected, strict=True):
                torch.testing.assert_close(value, wanted, rtol=1e-4, atol=1e-4)


# --- safetensors ---------------------------------------------------------------------------------------------


def test_safetensors_of_every_dtype(tmp_path: Path) -> None:
    tensors = {
        dtype.name: TensorData.of(np.arange(6).astype(dtype.numpy).reshape(2, 3), dtype)
        for dtype in dt.DTYPES
    }
    tensors |= {"scalar": TensorData.of(np.array(1.5, np.float32), dt.Float), "empty": TensorData.of(np.zeros((0, 3), np.int8), dt.Char)}  # fmt: skip
    assert set(DTYPES.values()) == set(dt.DTYPES)
    path = tmp_path / "t.safetensors"
    write_safetensors(path, tensors)
    back = read_safetensors(path)
    assert back.keys() == tensors.keys()
    for name, data in tensors.items():
        assert back[name].dtype is data.dtype
        np.testing.assert_array_equal(back[name].numpy(), data.numpy())
        assert back[name].storage.nbytes == data.nbytes


def test_safetensors_are_those_of_others(tmp_path: Path) -> None:
    safetensors: Any = pytest.importorskip("safetensors.numpy")
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    write_safetensors(tmp_path / "t.safetensors", {"a": TensorData.of(array, dt.Float)})
    np.testing.assert_array_equal(safetensors.load_file(tmp_path / "t.safetensors")["a"], array)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "0 bytes"),
        (b"\xff" * 8, "end outside the file"),
        (b"\x04" + bytes(7) + b"nope", "not JSON"),
        (b"\x02" + bytes(7) + b"[]", "expected an object"),
        (b"\x02" + bytes(7) + b"\xff\xfe", "not JSON"),
        ({"a": 1}, "expected a known dtype"),
        ({"a": {"dtype": "F4", "shape": [], "data_offsets": [0, 4]}}, "expected a known dtype"),
        ({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, "expected a known dtype"),
        ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, "4 bytes for a F32 tensor"),
        ({"a": {"dtype": "F32", "shape": [1 << 62, 1 << 62], "data_offsets": [0, 4]}}, "4 bytes for a F32"),
        ({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, "lie outside the 4 bytes"),
        ({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}, "lie outside"),
    ],
)
def test_damaged_safetensors(content: Any, message: str, tmp_path: Path) -> None:
    if isinstance(content, dict):
        text = json.dumps(content).encode()
        content = len(text).to_bytes(8, "little") + text + bytes(4)
    (tmp_path / "t.safetensors").write_bytes(content)
    with pytest.raises(LoadError, match=message):
        read_safetensors(tmp_path / "t.safetensors")


@pytest.mark.parametrize(
    "attribute",
    ['"{"', "1", '"{}"', '"[]"', '"{\\"in_spec\\": \\"x\\"}"'],
)
def test_damaged_conventions(attribute: str, tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(f"func.func @f() attributes {{exir.convention = {attribute}}} {{ func.return }}")
    with pytest.raises(LoadError, match=r"exir\.convention"):
        xdsl_exir.load(path)


# --- details -------------------------------------------------------------------------------------------------


def test_strides() -> None:
    assert contiguous_strides((2, 3, 4), (0, 1, 2)) == (12, 4, 1)
    assert contiguous_strides((2, 3, 4), (0, 2, 1)) == (12, 1, 3)
    assert contiguous_strides((2, 0, 4), (0, 1, 2)) == tuple(torch.empty(2, 0, 4).stride())
    assert contiguous_strides((), ()) == ()


def test_a_program_without_convention_takes_flat_arguments(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(
        "func.func @f(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {\n"
        "  %0 = aten.add.Tensor(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>\n"
        "  %1 = exir.constant [1.0, 2.0, 3.0] : tensor<3xf32>\n"
        "  %2 = aten.mul.Tensor(%0, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>\n"
        "  func.return %0, %2 : tensor<3xf32>, tensor<3xf32>\n"
        "}"
    )
    ours = xdsl_exir.load(path).to_exported_program()
    x, y = randn(3), randn(3)
    assert_same(ours.module()(x, y), (x + y, (x + y) * torch.tensor([1.0, 2, 3])))
    assert ours.graph_signature.lifted_tensor_constants == ("lifted_tensor_0",)


def test_a_program_without_its_weights_is_refused(tmp_path: Path) -> None:
    theirs, _, _ = exported("state", "core")
    program = xdsl_exir.from_exported_program(theirs)
    with pytest.raises(LoadError, match="no data for parameter"):
        Program(program.module).save(tmp_path / "m.pt2")
    assert list(tmp_path.iterdir()) == []
    assert "placeholder[target=p_strided]" in Program(program.module).fx_text()


@pytest.mark.parametrize("strict", [False, True])
def test_guards_come_back(strict: bool) -> None:
    """What sizes have to fulfil beyond their ranges is said again, of the same inputs; strict exports count them."""

    def forward(self: Any, x: Any, y: Any) -> Any:
        torch._check(x.shape[0] % 2 == 0)
        torch._check(x.shape[0] * 2 >= y["a"].shape[0] + 1)
        return x + 1, y["a"]

    auto = torch.export.Dim.AUTO
    shapes = ({0: auto}, {"a": {0: auto}})
    args = (randn(6, 3), {"a": randn(5)})
    theirs = torch.export.export(module(forward), args, dynamic_shapes=shapes, strict=strict)
    program = xdsl_exir.from_exported_program(theirs)
    ours = program.to_exported_program()
    assert ours._guards_code == [
        "((L['x'].size()[0] % 2) == 0)",
        "((2 * L['x'].size()[0]) >= (L['y']['a'].size()[0] + 1))",
    ]
    assert xdsl_exir.from_exported_program(ours).text() == program.text()
    with pytest.raises(AssertionError, match=r"x\.size\(\)\[0\] % 2"):
        ours.module()(randn(7, 3), {"a": randn(5)})


def test_guards_of_parts_of_sizes() -> None:
    """A symbol that is no size itself is solved for, and examples of sizes are such that the guards hold."""

    def forward(self: Any, x: Any) -> Any:
        half = x.shape[0] // 2
        return x[:half] * x[half:].flip(0), x.reshape(half, -1, 2), x.view(-1, x.shape[1] // 4, 4)

    shapes = ({0: 2 * torch.export.Dim("half", min=2, max=100), 1: torch.export.Dim.AUTO},)
    theirs = torch.export.export(module(forward), (randn(8, 12),), dynamic_shapes=shapes)
    ours = xdsl_exir.from_exported_program(theirs).to_exported_program()
    assert "((L['x'].size()[0] - 0) // 2)" in "".join(ours._guards_code)
    x = randn(6, 20)
    assert_same(ours.module()(x), forward(None, x))
    with pytest.raises(AssertionError, match="Guard failed"):
        ours.module()(randn(6, 21))


def test_what_operators_return_is_a_tuple(tmp_path: Path) -> None:
    """PyTorch has no serialized name for `torch.return_types.max`, nor for classes that nobody registered."""
    x = randn(3, 4)
    anonymous = collections.namedtuple("anonymous", "p q")
    for returned in (lambda self, x: x.max(0), lambda self, x: [anonymous(x.sum(), x.topk(2))]):
        theirs = torch.export.export(module(returned), (x,))
        program = xdsl_exir.from_exported_program(theirs)
        ours = program.to_exported_program().module()(x)
        torch.testing.assert_close(
            torch.utils._pytree.tree_leaves(ours), torch.utils._pytree.tree_leaves(theirs.module()(x))
        )
    (made,) = ours
    assert [type(made), type(made[1])] == [tuple, tuple]
    program = xdsl_exir.from_exported_program(torch.export.export(module(lambda self, x: x.max(0)), (x,)))
    program.save(tmp_path / "max.pt2")
    values, indices = torch.export.load(tmp_path / "max.pt2").module()(x)
    torch.testing.assert_close((values, indices), tuple(x.max(0)))


def test_containers_that_pytorch_does_not_know_are_refused() -> None:
    theirs = torch.export.export(module(lambda self, x: {"a": x + 1}), (randn(3),))
    program = xdsl_exir.from_exported_program(theirs)
    method = program.conventions["forward"]
    spec = pytree.loads(
        '[1, {"type": "my.Box", "context": "0", "children_spec": [{"type": null, "context": null, "children_spec": []}]}]'
    )
    boxed = dataclasses.replace(program, conventions={"forward": dataclasses.replace(method, out_spec=spec)})
    with pytest.raises(UnsupportedError, match=r"'my\.Box': not registered with PyTorch"):
        boxed.to_exported_program()


def test_strings_are_saved_but_not_loaded_by_pytorch(tmp_path: Path) -> None:
    theirs = torch.export.export(module(lambda self, x: (x + 1, "mode", None)), (randn(3),))
    program = xdsl_exir.from_exported_program(theirs)
    with pytest.raises(UnsupportedError, match="output 'mode': PyTorch loads no strings"):
        program.to_exported_program()
    program.save(path := tmp_path / "m.pt2")
    assert xdsl_exir.compile(xdsl_exir.load(path))(np.zeros(3, np.float32))[1:] == ("mode", None)


def test_pytree_fields() -> None:
    spec = pytree.TreeSpec("collections.namedtuple", ("a.B", ("x", "y")), (pytree.LEAF, pytree.LEAF))
    assert pytree.namedtuple_fields(pytree.TreeSpec("builtins.list", None, (spec,))) == {"a.B": ("x", "y")}


# --- calling conventions -------------------------------------------------------------------------------------


@dataclasses.dataclass
class Batch:
    tokens: Any
    mask: Any = None
    number: int = 3


class Box:
    """Registered as a node of pytrees, with what it holds besides its child as context."""

    def __init__(self, inside: Any, label: str) -> None:
        self.inside, self.label = inside, label


@pytest.fixture(scope="module")
def _containers() -> None:
    """Tells PyTorch of the classes; this package is told of none."""
    torch.export.register_dataclass(Batch, serialized_type_name="test_back_out.Batch")
    torch.utils._pytree.register_pytree_node(
        Box,
        lambda box: ([box.inside], box.label),
        lambda children, label: Box(next(iter(children)), label),
        flatten_with_keys_fn=lambda box: (
            [(torch.utils._pytree.GetAttrKey("inside"), box.inside)],
            box.label,
        ),
        serialized_type_name="test_back_out.Box",
    )


@pytest.mark.usefixtures("_containers")
@pytest.mark.parametrize("without_torch", [False, True])
def test_containers(without_torch: bool, tmp_path: Path) -> None:
    """Whatever a model takes and gives goes through, also where nobody knows the classes."""

    def forward(self: Any, batch: Any, box: Any, *, more: Any) -> Any:
        x = batch.tokens + box.inside
        ordered = collections.OrderedDict(b=x, a=None)
        default = collections.defaultdict(list, k=[x * 2, (x, 3)])
        return Batch(x), Box(more["deque"][0], "out"), ordered, default, collections.deque([x], 4), None

    x = randn(3)
    kwargs = {"more": {"deque": collections.deque([x * 3, None]), "none": None}}
    args = (Batch(x), Box(x + 1, "in"))
    theirs = torch.export.export(module(forward), args, kwargs)
    torch.export.save(theirs, tmp_path / "in.pt2")
    if without_torch:
        code = (
            "import sys, xdsl_exir; p = xdsl_exir.load(sys.argv[1]); p.save(sys.argv[2]); "
            "xdsl_exir.load(sys.argv[2]).to_edge().save(sys.argv[3]); assert 'torch' not in sys.modules"
        )
        paths = [tmp_path / name for name in ("in.pt2", "m.mlir", "out.pt2")]
        subprocess.run([sys.executable, "-c", code, *map(str, paths)], check=True)
        ours = torch.export.load(tmp_path / "out.pt2")
    else:
        ours = xdsl_exir.from_exported_program(theirs).to_exported_program()
    assert ours.call_spec == theirs.call_spec
    got, wanted = (program.module()(*args, **kwargs) for program in (ours, theirs))
    assert list(map(type, got)) == list(map(type, wanted))
    assert got[1].label == "out"
    assert (got[3].default_factory, got[4].maxlen) == (list, 4)
    assert_same(got, wanted)


def test_a_choice_of_numbers(tmp_path: Path) -> None:
    """`sym_ite` has three arguments, of names of its own."""

    class Choice(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x + torch.sym_ite((x.sum() > 0).item(), 3, 5)

    x = torch.ones(2)
    program = xdsl_exir.from_exported_program(torch.export.export(Choice(), (x,)))
    program.save(tmp_path / "again.pt2")
    for again in (
        torch.export.load(tmp_path / "again.pt2").module(),
        xdsl_exir.compile(xdsl_exir.load(tmp_path / "again.pt2")),
    ):
        for sign in (1, -1):
            np.testing.assert_array_equal(np.asarray(again(sign * x)), Choice()(sign * x).numpy())
