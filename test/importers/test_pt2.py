"""The `.pt2` reader on small archives written here: what it reads, and that every damaged or hostile file is one clear
LoadError. That it reads what PyTorch writes is tested in test_exported_program."""

from __future__ import annotations

import copy
import json
import math
import os
import random
import re
import stat
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xdsl_exir.dialects.dtypes import BFloat16, Bool, Float8_e4m3fn, Long
from xdsl_exir.errors import LoadError
from xdsl_exir.exchange import archive, pt2_schema
from xdsl_exir.exchange.graph import (
    CustomObj,
    Device,
    ExportedGraph,
    Layout,
    MemoryFormat,
    OperatorRef,
    Ref,
    Subgraph,
    Symbolic,
    SymMeta,
)
from xdsl_exir.importers import pt2
from xdsl_exir.importers.pt2 import read_models, read_pt2

# A good archive


def _meta(
    *sizes: int, dtype: int = 7, strides: tuple[int, ...] | None = None, offset: int = 0
) -> dict[str, Any]:
    strides = strides or tuple(math.prod(sizes[i + 1 :]) for i in range(len(sizes)))
    return {
        "dtype": dtype,
        "sizes": [{"as_int": n} for n in sizes],
        "requires_grad": False,
        "device": {"type": "cpu", "index": None},
        "strides": [{"as_int": n} for n in strides],
        "storage_offset": {"as_int": offset},
        "layout": 7,
    }


def _tensor(name: str) -> dict[str, Any]:
    return {"as_tensor": {"name": name}}


def _node(target: str, inputs: dict[str, Any], *outputs: Any, **more: Any) -> dict[str, Any]:
    return {
        "target": target,
        "inputs": [{"name": name, "arg": arg, "kind": 1} for name, arg in inputs.items()],
        "outputs": list(outputs),
        "metadata": {},
        "is_hop_single_tensor_return": None,
        "name": "n",
        **more,
    }


def _graph(inputs: list[Any], nodes: list[Any], outputs: list[Any], values: dict[str, Any]) -> dict[str, Any]:
    return {
        "inputs": inputs,
        "outputs": outputs,
        "nodes": nodes,
        "tensor_values": values,
        "sym_int_values": {},
        "sym_bool_values": {},
        "sym_float_values": {},
        "custom_obj_values": {},
        "is_single_tensor_return": False,
    }


def _subgraph() -> dict[str, Any]:
    return {
        "as_graph": {
            "name": "body_0",
            "graph": _graph(
                [_tensor("a")],
                [_node("torch.ops.aten.neg.default", {"self": _tensor("a")}, _tensor("neg"))],
                [_tensor("neg")],
                {"a": _meta(2, 2), "neg": _meta(2, 2)},
            ),
        }
    }


LEAF = '{"type": null, "context": null, "children_spec": []}'


def _model() -> dict[str, Any]:
    graph = _graph(
        [_tensor("p_w"), _tensor("c"), _tensor("x"), {"as_int": 3}],
        [
            _node("torch.ops.aten.mm.default", {"self": _tensor("x"), "mat2": _tensor("p_w")}, _tensor("mm")),
            _node(
                "torch.ops.aten.split.Tensor",
                {"self": _tensor("mm"), "split_size": {"as_int": 1}},
                {"as_tensors": [{"name": "first"}, {"name": "split_unused_1"}]},
            ),
            _node(
                "torch.ops.higher_order.map_impl",
                {"": _subgraph()},
                _tensor("mapped"),
                is_hop_single_tensor_return=False,
            ),
            _node("torch.ops.aten.sym_size.int", {"self": _tensor("x")}, {"as_sym_int": {"as_name": "n"}}),
            _node("torch.ops.aten._assert_scalar.default", {"self": {"as_sym_int": {"as_name": "n"}}}),
        ],
        [_tensor("mapped"), {"as_none": True}],
        {
            "p_w": _meta(2, 2, strides=(1, 2)),
            "c": _meta(3, dtype=5),
            "x": _meta(2, 2),
            "mm": _meta(2, 2),
            "first": _meta(2, 1),
            "split_unused_1": _meta(2, 1),
            "mapped": _meta(2, 2),
        },
    )
    graph["sym_int_values"] = {"n": {"as_expr": {"expr_str": "Symbol('s0')", "hint": {"as_int": 2}}}}
    return {
        "graph_module": {
            "graph": graph,
            "signature": {
                "input_specs": [
                    {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
                    {"tensor_constant": {"arg": {"name": "c"}, "tensor_constant_name": "c"}},
                    {"user_input": {"arg": _tensor("x")}},
                    {"constant_input": {"name": "k", "value": {"as_int": 3}}},
                ],
                "output_specs": [
                    {"user_output": {"arg": _tensor("mapped")}},
                    {"user_output": {"arg": {"as_none": True}}},
                ],
            },
            "module_call_graph": [
                {
                    "fqn": "",
                    "signature": {
                        "inputs": [],
                        "outputs": [],
                        "in_spec": f"[1, {LEAF}]",
                        "out_spec": f"[1, {LEAF}]",
                    },
                },
                {"fqn": "sub", "signature": None},
            ],
            "metadata": {},
            "treespec_namedtuple_fields": {"my.Point": {"field_names": ["x", "y"]}},
        },
        "opset_version": {"aten": 10},
        "range_constraints": {"s0": {"min_val": 2, "max_val": None}},
        "schema_version": {"major": 8, "minor": 20},
        "verifiers": ["ATEN"],
        "torch_version": "2.13.0",
        "guards_code": ["L['x'].size()[0] >= 2"],
    }


def _payload(path: str, meta: dict[str, Any]) -> dict[str, Any]:
    return {"path_name": path, "is_param": False, "use_pickle": False, "tensor_meta": meta}


WEIGHTS = "data/weights/model_weights_config.json"
CONSTANTS = "data/constants/model_constants_config.json"
MODEL = "models/model.json"


def _contents() -> dict[str, Any]:
    """Entries by name; dicts are written as JSON."""
    return {
        "archive_format": b"pt2",
        "data/weights/weight_0": np.arange(4, dtype="<f4").tobytes(),
        WEIGHTS: {
            "config": {
                "w": _payload("weight_0", _meta(2, 2, strides=(1, 2))),
                "tied": _payload("weight_0", _meta(2, offset=1, strides=(2,))),
            }
        },
        "data/constants/tensor_0": np.array([5, 6, 7], dtype="<i8").tobytes(),
        CONSTANTS: {"config": {"c": _payload("tensor_0", _meta(3, dtype=5))}},
        MODEL: _model(),
        "data/sample_inputs/model.pt": b"\x80\x02cos\nsystem\n.",
        "archive_version": b"0",
        "byteorder": b"little",
        ".data/version": b"6\n",
    }


def _write(
    path: Path, contents: dict[str, Any], root: str = "root/", compression: int = zipfile.ZIP_STORED
) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in contents.items():
            archive.writestr(root + name, json.dumps(data) if isinstance(data, dict) else data)
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return _write(tmp_path / "good.pt2", _contents())


def _read(path: Path) -> ExportedGraph:
    program = read_pt2(path)
    assert isinstance(program, ExportedGraph)
    return program


# What is read


def test_program(good: Path) -> None:
    program = _read(good)
    assert [node.target for node in program.graph.nodes] == [
        "aten.mm",
        "aten.split.Tensor",
        "higher_order.map_impl",
        "aten.sym_size.int",
        "aten._assert_scalar",
    ]
    assert program.graph.nodes[1].outputs == ((Ref("first"), Ref("split_unused_1")),)
    assert isinstance(program.graph.nodes[2].inputs[0].value, Subgraph)
    assert program.graph.values["n"] == SymMeta("int", Symbolic("Symbol('s0')"))
    assert program.graph.inputs == (Ref("p_w"), Ref("c"), Ref("x"), 3)
    assert program.range_constraints == {"s0": (2, None)}
    assert program.namedtuple_fields == {"my.Point": ("x", "y")}
    assert program.guards_code == ("L['x'].size()[0] >= 2",)
    assert (program.dialect, program.torch_version, program.opset) == ("ATEN", "2.13.0", {"aten": 10})
    assert [call.fqn for call in program.module_calls] == ["", "sub"]
    assert program.signature.in_spec == f"[1, {LEAF}]"


@pytest.mark.parametrize("mapped", [False, True])
def test_weights(good: Path, mapped: bool) -> None:
    program = read_pt2(good, mapped)
    assert isinstance(program, ExportedGraph)
    w, tied = program.state["w"], program.state["tied"]
    assert w.numpy().tolist() == [[0, 2], [1, 3]]
    assert tied.numpy().tolist() == [1, 3]
    assert w.storage_key == tied.storage_key
    assert np.shares_memory(w.numpy(), tied.numpy())
    assert program.data(program.inputs[1]).numpy().tolist() == [5, 6, 7]
    with pytest.raises(ValueError, match="read-only"):
        w.numpy()[0, 0] = 1


def test_compressed(tmp_path: Path, good: Path) -> None:
    packed = _write(tmp_path / "packed.pt2", _contents(), compression=zipfile.ZIP_DEFLATED)
    program = _read(packed)
    assert program == _read(good)
    assert program.state["w"].numpy().tolist() == [[0, 2], [1, 3]]


def test_bytes_in_front(tmp_path: Path, good: Path) -> None:
    moved = tmp_path / "moved.pt2"
    moved.write_bytes(b"#!/bin/sh\n" + good.read_bytes())
    assert _read(moved).state["w"].numpy().tolist() == [[0, 2], [1, 3]]


def test_unaligned_data_are_copied(tmp_path: Path) -> None:
    offsets: set[int] = set()
    for pad in range(4):
        contents = {"pad": b"x" * pad} | _contents()
        path = _write(tmp_path / f"{pad}.pt2", contents)
        program = read_pt2(path, mapped=True)
        assert isinstance(program, ExportedGraph)
        w = program.state["w"]
        offsets.add(path.read_bytes().index(bytes(w.storage.buffer)) % 4)
        assert w.numpy().flags.aligned
        assert w.numpy().tolist() == [[0, 2], [1, 3]]
        assert not w.numpy().flags.writeable
    assert offsets == {0, 1, 2, 3}


def test_folder_entries_and_any_root(tmp_path: Path) -> None:
    path = _write(tmp_path / "x.pt2", _contents() | {"data/": b""}, root="some model v1.2/")
    assert len(_read(path).state) == 2


def test_several_models(tmp_path: Path) -> None:
    contents = _contents()
    for name in (MODEL, WEIGHTS, CONSTANTS):
        contents[name.replace("model.json", "other.json").replace("model_", "other_")] = contents[name]
    both = read_pt2(_write(tmp_path / "x.pt2", contents))
    assert isinstance(both, dict)
    assert list(both) == ["model", "other"]
    assert both["model"] == both["other"]
    assert list(read_models(_write(tmp_path / "y.pt2", _contents()))) == ["model"]


def _arguments(tmp_path: Path, *arguments: Any) -> list[Any]:
    contents = _contents()
    node = _node("torch.ops.mylib.op.default", {f"a{i}": argument for i, argument in enumerate(arguments)})
    contents[MODEL]["graph_module"]["graph"]["nodes"].append(node)
    return [i.value for i in _read(_write(tmp_path / "a.pt2", contents)).graph.nodes[-1].inputs]


def test_every_argument(tmp_path: Path) -> None:
    arguments = {
        "as_none": (True, None),
        "as_tensor": ({"name": "x"}, Ref("x")),
        "as_tensors": ([{"name": "x"}, {"name": "mm"}], (Ref("x"), Ref("mm"))),
        "as_int": (-3, -3),
        "as_ints": ([1, 2], (1, 2)),
        "as_float": (1.5, 1.5),
        "as_floats": ([0.5, "-Infinity"], (0.5, -math.inf)),
        "as_string": ("Infinity", "Infinity"),
        "as_strings": (["a"], ("a",)),
        "as_sym_int": ({"as_name": "n"}, Ref("n")),
        "as_sym_ints": ([{"as_name": "n"}, {"as_int": 4}], (Ref("n"), 4)),
        "as_scalar_type": (13, BFloat16),
        "as_memory_format": (2, MemoryFormat("channels_last")),
        "as_layout": (7, Layout("strided")),
        "as_device": ({"type": "cuda", "index": 1}, Device("cuda:1")),
        "as_bool": (True, True),
        "as_bools": ([True, False], (True, False)),
        "as_sym_bool": ({"as_bool": True}, True),
        "as_sym_bools": ([{"as_bool": True}], (True,)),
        "as_optional_tensors": ([{"as_none": True}, {"as_tensor": {"name": "x"}}], (None, Ref("x"))),
        "as_custom_obj": ({"name": "o", "class_fqn": "C"}, CustomObj("o", "C")),
        "as_operator": ("torch.ops.aten.add.Tensor", OperatorRef("aten.add.Tensor")),
        "as_sym_float": ({"as_float": 0.5}, 0.5),
        "as_sym_floats": ([{"as_float": 0.5}], (0.5,)),
        "as_optional_tensor": ({"as_none": True}, None),
        "as_complex": ({"real": 1.0, "imag": "Infinity"}, complex(1, math.inf)),
        "as_nested_tensors": ([[{"name": "x"}], []], ((Ref("x"),), ())),
        "as_int_lists": ([[1], [2, 3]], ((1,), (2, 3))),
        "as_string_to_argument": ({"k": {"as_tensor": {"name": "x"}}}, {"k": Ref("x")}),
        "as_float_lists": ([[1.0]], ((1.0,),)),
    }
    values = _arguments(tmp_path, *({tag: json_value} for tag, (json_value, _) in arguments.items()))
    expected = [value for _, value in arguments.values()]
    assert values == expected
    assert list(map(type, values)) == list(map(type, expected))
    assert arguments.keys() | {"as_graph"} == pt2_schema.ARGUMENTS.keys()
    (nan,) = _arguments(tmp_path, {"as_float": "NaN"})
    assert math.isnan(nan)


def test_scalar_type_codes(tmp_path: Path) -> None:
    """The file's codes are c10's plus one only up to Bool."""
    assert _arguments(tmp_path, *({"as_scalar_type": code} for code in (5, 12, 13, 29))) == [
        Long,
        Bool,
        BFloat16,
        Float8_e4m3fn,
    ]


def test_codes_are_pytorchs() -> None:
    schema: Any = pytest.importorskip("torch._export.serde.schema")
    assert {int(code): name for code, name in schema.SCALAR_TYPE_TO_C10.items()} == pt2_schema.SCALAR_TYPES
    assert len(schema.LAYOUT_TO_C10) == len(pt2_schema.LAYOUTS)
    assert len(schema.MEMORY_FORMAT_TO_C10) == len(pt2_schema.MEMORY_FORMATS)
    assert set(schema.Argument.__annotations__) == pt2_schema.ARGUMENTS.keys()
    assert schema.SCHEMA_VERSION == pt2_schema.SCHEMA_VERSION


def test_early_minor_versions(tmp_path: Path) -> None:
    """Fields that later minor versions added may be missing."""
    contents = _contents()
    model = contents[MODEL]
    del model["guards_code"], model["graph_module"]["treespec_namedtuple_fields"]
    graph = model["graph_module"]["graph"]
    del graph["sym_float_values"], graph["custom_obj_values"], graph["is_single_tensor_return"]
    for node in graph["nodes"]:
        del node["name"], node["is_hop_single_tensor_return"]
        for argument in node["inputs"]:
            del argument["kind"]
    model["schema_version"]["minor"] = 2
    program = _read(_write(tmp_path / "x.pt2", contents))
    assert program.graph.nodes[0].name == ""
    assert program.guards_code == ()


def test_later_minor_versions(tmp_path: Path) -> None:
    """New fields are fine as long as they say nothing."""
    contents = _contents()
    contents[MODEL]["schema_version"]["minor"] = 99
    contents[MODEL]["graph_module"]["graph"]["nodes"][0]["is_new"] = None
    with pytest.warns(UserWarning, match=r"schema 8\.99 is later than 8\.20"):
        assert _read(_write(tmp_path / "x.pt2", contents)).dialect == "ATEN"
    contents[MODEL]["graph_module"]["graph"]["nodes"][0]["is_new"] = 1
    unknown = pytest.raises(LoadError, match=r"nodes\[0\]: unknown field 'is_new'")
    with pytest.warns(UserWarning, match="later"), unknown:
        read_pt2(_write(tmp_path / "y.pt2", contents))


# What is refused: the JSON

GRAPH = ("graph_module", "graph")
SIGNATURE = ("graph_module", "signature")
NODE = (*GRAPH, "nodes", 0)
X = (*GRAPH, "tensor_values", "x")
ARG = (*NODE, "inputs", 0, "arg")
DELETE = object()


def _nested(depth: int) -> Any:
    argument: Any = {"as_int": 1}
    for _ in range(depth):
        argument = {"as_string_to_argument": {"k": argument}}
    return argument


def _nested_graphs(depth: int) -> Any:
    graph = _subgraph()
    for _ in range(depth):
        outer = _subgraph()
        outer["as_graph"]["graph"]["nodes"][0]["inputs"].append({"name": "g", "arg": graph, "kind": 1})
        graph = outer
    return graph


MODEL_CASES: list[tuple[tuple[Any, ...], Any, str]] = [
    (("schema_version", "major"), 6, "schema_version: schema 6.20 is not supported"),
    (("schema_version", "major"), 9, "schema_version: schema 9.20 is not supported"),
    (("schema_version",), DELETE, "schema_version: expected an object, got null"),
    (("opset_version",), DELETE, "'opset_version' is missing"),
    (("opset_version",), [], "opset_version: expected an object, got a list"),
    (("verifiers",), "ATEN", "verifiers: expected a list, got 'ATEN'"),
    (("range_constraints", "s0", "min_val"), 1 << 70, "range_constraints.s0.min_val: expected a 64-bit integer"),
    (("range_constraints", "s0", "min_val"), 1.5, "range_constraints.s0.min_val: expected a 64-bit integer, got 1.5"),
    (("graph_module", "module_call_graph"), [], "no signature for the root module"),
    # nodes
    ((*NODE, "target"), "", "graph_module.graph.nodes[0].target: expected an operator's name, got ''"),
    ((*NODE, "target"), "torch.ops.aten.mm; rm", "nodes[0].target: expected an operator's name"),
    ((*NODE, "metadata", "stack_trace"), 3, "nodes[0].metadata.stack_trace: expected a string, got 3"),
    ((*NODE, "inputs", 0, "kind"), 3, "nodes[0].inputs[0].kind: expected the code of a argument kind, got 3"),
    (ARG, {}, "graph_module.graph.nodes[0].inputs[0].arg: expected exactly one key, got 0"),
    (ARG, {"as_int": 1, "as_none": True}, "nodes[0].inputs[0].arg: expected exactly one key, got 2"),
    (ARG, {"as_new": 1}, "nodes[0].inputs[0].arg: unknown kind of argument: 'as_new'"),
    (ARG, {"as_int": True}, "inputs[0].arg.as_int: expected a 64-bit integer, got True"),
    (ARG, {"as_int": 1 << 64}, "inputs[0].arg.as_int: expected a 64-bit integer"),
    (ARG, {"as_float": "inf"}, "inputs[0].arg.as_float: expected a finite number"),
    (ARG, {"as_bool": 1}, "inputs[0].arg.as_bool: expected true or false, got 1"),
    (ARG, {"as_none": "x"}, "inputs[0].arg.as_none: expected true, got 'x'"),
    (ARG, {"as_scalar_type": 99}, "as_scalar_type: expected the code of a dtype, got 99"),
    (ARG, {"as_scalar_type": 33}, "as_scalar_type: dtype Float8_e8m0fnu is not supported"),
    (ARG, {"as_scalar_type": 0}, "as_scalar_type: expected the code of a dtype, got 0"),
    (ARG, {"as_memory_format": 5}, "expected the code of a memory format, got 5"),
    (ARG, {"as_device": {"type": 3}}, "as_device.type: expected a value's name, got 3"),
    (ARG, {"as_tensor": {"name": "../x"}}, "as_tensor.name: expected a value's name, got '../x'"),
    (ARG, {"as_tensor": {}}, "as_tensor: 'name' is missing"),
    (ARG, _tensor("mm"), "nodes[0].inputs[0].arg: value 'mm' is used before anything defines it"),
    (ARG, _tensor("k"), "nodes[0].inputs[0].arg: value 'k' is used before"),
    (ARG, {"as_tensors": [{"name": "x"}, {"name": "y"}]}, "inputs[0].arg: value 'y' is used before"),
    (ARG, {"as_string_to_argument": {"k": _tensor("y")}}, "inputs[0].arg: value 'y' is used before"),
    (ARG, _nested(200), "arguments nested too deeply"),
    (ARG, _nested_graphs(60), "graphs nested too deeply"),
    ((*NODE, "outputs", 0), {"as_int": 3}, "nodes[0].outputs[0]: unknown kind of result: 'as_int'"),
    ((*NODE, "outputs", 0), _tensor("x"), "nodes[0].outputs[0]: value 'x' is defined twice"),
    ((*NODE, "outputs", 0), _tensor("new"), "nodes[0].outputs[0]: nothing says what value 'new' is"),
    (
        (*GRAPH, "nodes", 2, "inputs", 0, "arg", "as_graph", "graph", "nodes", 0, "inputs", 0, "arg"),
        _tensor("x"),  # of the graph around it
        "nodes[2].inputs[0].arg.graph.nodes[0].inputs[0].arg: value 'x' is used before",
    ),
    # values
    ((*GRAPH, "outputs", 0), _tensor("y"), "graph.outputs[0]: value 'y' is used before"),
    ((*GRAPH, "tensor_values", "extra"), _meta(1), "value 'extra' is described, but no input or node makes it"),
    ((*GRAPH, "sym_int_values", "x"), {"as_int": 1}, "graph: value 'x' is described twice"),
    ((*X, "dtype"), 33, "tensor_values.x.dtype: dtype Float8_e8m0fnu is not supported"),
    ((*X, "sizes"), [{"as_int": 2}], "tensor_values.x: 1 sizes, but 2 strides"),
    ((*X, "sizes", 0, "as_int"), -1, "sizes[0].as_int: expected a 64-bit integer, not negative, got -1"),
    ((*X, "sizes", 0), {"as_int": 2, "as_expr": 1}, "sizes[0]: expected exactly one key"),
    ((*X, "sizes", 0), {"as_expr": {"expr_str": 3}}, "sizes[0].as_expr.expr_str: expected a string, got 3"),
    ((*X, "layout"), 0, "layout: expected the code of a layout, got 0"),
    # signature
    ((*SIGNATURE, "input_specs", 2), DELETE, "input_specs: 3 input specs for 4 graph inputs"),
    ((*SIGNATURE, "input_specs", 2), {"new_kind": {}}, "input_specs[2]: unknown kind of input spec: 'new_kind'"),
    (
        (*SIGNATURE, "input_specs", 2, "user_input", "arg"),
        _tensor("c"),
        "input_specs[2]: user_input 'c' stands for graph input 'x'",
    ),
    (
        (*SIGNATURE, "input_specs", 2, "user_input", "arg"),
        {"as_int": 3},
        "input_specs[2].user_input.arg: a constant is no user_input",
    ),
    (
        (*SIGNATURE, "input_specs", 3, "constant_input", "value"),
        {"as_float": 3.0},
        "input_specs[3]: constant input 'k' is 3.0, in the graph 3",
    ),
    (
        (*SIGNATURE, "input_specs", 0, "parameter", "parameter_name"),
        "v",
        "input_specs[0]: no data for parameter 'v'",
    ),
    ((*SIGNATURE, "output_specs"), [], "output_specs: 0 output specs for 2 graph outputs"),
    (
        (*SIGNATURE, "output_specs", 0),
        {"user_output": {"arg": _tensor("x")}},
        "output_specs[0]: user_output Ref(name='x') stands for graph output Ref(name='mapped')",
    ),
    (
        (*SIGNATURE, "output_specs", 0),
        {"buffer_mutation": {"arg": {"name": "mapped"}, "buffer_name": "b"}},
        "output_specs[0]: buffer_mutation of 'b', which is no buffer",
    ),
    (
        (*SIGNATURE, "output_specs", 0),
        {"user_input_mutation": {"arg": {"name": "mapped"}, "user_input_name": "p_w"}},
        "user_input_mutation of 'p_w', which is no user_input",
    ),
]  # fmt: skip


def _edit(value: Any, path: tuple[Any, ...], new: Any) -> None:
    for step in path[:-1]:
        value = value[step]
    if new is DELETE:
        del value[path[-1]]
    else:
        value[path[-1]] = new


def _refused(path: Path, message: str) -> None:
    """One LoadError of one line, which starts with the file, and leaves nothing else in its folder."""
    before = sorted(path.parent.iterdir())
    with pytest.raises(LoadError) as caught:
        read_pt2(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    assert message in text
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert sorted(path.parent.iterdir()) == before


@pytest.mark.parametrize(("where", "new", "message"), MODEL_CASES, ids=[case[2][:60] for case in MODEL_CASES])
def test_bad_model(tmp_path: Path, where: tuple[Any, ...], new: Any, message: str) -> None:
    contents = _contents()
    _edit(contents[MODEL], where, copy.deepcopy(new) if new is not DELETE else new)
    path = _write(tmp_path / "bad.pt2", contents)
    _refused(path, message)
    with pytest.raises(LoadError, match=re.escape(f"bad.pt2: {MODEL}: ")):
        read_pt2(path)


W = ("config", "w")
W_META = (*W, "tensor_meta")
WEIGHT_CASES: list[tuple[tuple[Any, ...], Any, str]] = [
    ((*W, "use_pickle"), True, f"{WEIGHTS}: config.w.use_pickle: the data are a pickle; pickles are refused"),
    ((*W, "path_name"), "../../etc/passwd", "config.w.path_name: unsafe path '../../etc/passwd'"),
    ((*W, "path_name"), "weight_9", "data/weights/weight_9: the archive has no such entry"),
    ((*W, "tensor_meta"), None, "config.w.tensor_meta: expected an object, got null"),
    ((*W_META, "sizes"), [{"as_int": 3}, {"as_int": 2}], "config.w: a Float tensor of sizes [3, 2], strides [1, 2] and "
     "storage offset 0 needs 20 bytes, the storage has 16"),
    ((*W_META, "sizes", 0), {"as_int": 1 << 62}, "config.w: a Float tensor of sizes"),
    ((*W_META, "strides", 0), {"as_int": 3}, "needs 24 bytes, the storage has 16"),
    ((*W_META, "strides", 0), {"as_int": -1}, "strides[0].as_int: expected a 64-bit integer, not negative"),
    ((*W_META, "storage_offset"), {"as_int": 1}, "needs 20 bytes, the storage has 16"),
    ((*W_META, "dtype"), 8, "needs 32 bytes, the storage has 16"),
    ((*W_META, "dtype"), 4, "parameter 'w' is Float[2, 2] in the graph, its data Int[2, 2]"),
    ((*W_META, "layout"), 1, "config.w.tensor_meta: layout sparse_coo is not supported"),
    ((*W_META, "sizes", 0), {"as_expr": {"expr_str": "Symbol('s0')"}}, "cannot have symbolic sizes"),
    (W, DELETE, "input_specs[0]: no data for parameter 'w'"),
    (("config",), DELETE, f"{WEIGHTS}: 'config' is missing"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("where", "new", "message"), WEIGHT_CASES, ids=[case[2][:60] for case in WEIGHT_CASES]
)
def test_bad_weights(tmp_path: Path, where: tuple[Any, ...], new: Any, message: str) -> None:
    contents = _contents()
    _edit(contents[WEIGHTS], where, new)
    _refused(_write(tmp_path / "bad.pt2", contents), message)


def test_odd_number_of_bytes(tmp_path: Path) -> None:
    contents = _contents() | {"data/weights/weight_0": b"x" * 17}
    _refused(
        _write(tmp_path / "bad.pt2", contents),
        "config.w: 17 bytes of data are no whole number of Float elements",
    )


JSON_CASES = {
    "empty": (b"", "not JSON that can be read"),
    "not json": (b"\x80\x02cos\nsystem\n.", "not JSON that can be read"),
    "array": (b"[]", "expected an object, got a list"),
    "cut": (json.dumps(_model()).encode()[:-40], "not JSON that can be read"),
    "deep": (b"[" * 1_000_000, "not JSON that can be read"),
    "deep object": (b'{"a":' * 1_000_000, "not JSON that can be read"),
    "twice": (b'{"schema_version": 1, "schema_version": 2}', "an object has a key twice"),
    "nan": (json.dumps(_model()).replace('"as_int": 3', '"as_float": NaN').encode(), "NaN is not JSON"),
    "infinity": (json.dumps(_model()).replace('"as_int": 3', '"as_float": -Infinity').encode(), "-Infinity is not"),
    "overflow": (json.dumps(_model()).replace('"as_int": 3', '"as_float": 1e999').encode(), "expected a finite number"),
    "many digits": (json.dumps(_model()).replace('"as_int": 3', '"as_int": ' + "9" * 5000).encode(), "4300 digits"),
    "utf-16": (json.dumps(_model()).encode("utf-16"), "not JSON that can be read"),
    "half surrogate": (json.dumps(_model()).replace("2.13.0", "\\ud800").encode(), "surrogates not allowed"),
}  # fmt: skip


@pytest.mark.parametrize("case", JSON_CASES)
def test_bad_json(tmp_path: Path, case: str) -> None:
    data, message = JSON_CASES[case]
    _refused(_write(tmp_path / "bad.pt2", _contents() | {MODEL: data}), message)


def test_whole_surrogate_pairs_are_fine(tmp_path: Path) -> None:
    contents = _contents()
    contents[MODEL]["torch_version"] = "\N{SLICE OF PIZZA}"
    assert _read(_write(tmp_path / "x.pt2", contents)).torch_version == "\N{SLICE OF PIZZA}"


# What is refused: the archive


def _without(name: str) -> Callable[[], dict[str, Any]]:
    return lambda: {key: value for key, value in _contents().items() if key != name}


ARCHIVE_CASES: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "format missing": (_without("archive_format"), "archive_format: the archive has no such entry"),
    "wrong format": (lambda: _contents() | {"archive_format": b"pte"}, "archive_format: expected 'pt2', got 'pte'"),
    "byteorder missing": (_without("byteorder"), "byteorder: the archive has no such entry"),
    "big endian": (lambda: _contents() | {"byteorder": b"big"}, "byteorder: expected 'little', got 'big'"),
    "wrong version": (lambda: _contents() | {"archive_version": b"1"}, "archive_version: expected '0', got '1'"),
    "no model": (_without(MODEL), "models/: there is no exported program in this archive"),
    "no weights config": (_without(WEIGHTS), f"{WEIGHTS}: the archive has no such entry"),
    "missing weight": (_without("data/weights/weight_0"), "data/weights/weight_0: the archive has no such entry"),
    "legacy weights": (lambda: _contents() | {"data/weights/model.pt": b""}, "not a zip archive that can be read"),
    "parent folder": (lambda: _contents() | {"../evil": b""}, "'root/../evil': unsafe path in the archive"),
    "backslash": (lambda: _contents() | {"..\\evil": b""}, "unsafe path in the archive"),
    "absolute": (lambda: _contents() | {"/etc/evil": b""}, "'root//etc/evil': unsafe path in the archive"),
    "newline": (lambda: _contents() | {"a\nb": b""}, "unprintable name in the archive"),
}  # fmt: skip


@pytest.mark.parametrize("case", ARCHIVE_CASES)
def test_bad_archive(tmp_path: Path, case: str) -> None:
    contents, message = ARCHIVE_CASES[case]
    _refused(_write(tmp_path / "bad.pt2", contents()), message)


def test_roots(tmp_path: Path) -> None:
    _refused(_write(tmp_path / "a.pt2", _contents(), root=""), "its entries do not share one folder")
    _refused(_write(tmp_path / "b.pt2", _contents(), root="/"), "unsafe path in the archive")
    path = _write(tmp_path / "d.pt2", _contents())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("other/x", b"")
    _refused(path, "its entries do not share one folder")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_names(tmp_path: Path) -> None:
    path = _write(tmp_path / "bad.pt2", _contents())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("root/" + MODEL, b"{}")
    _refused(path, f"{MODEL}: the archive has two entries of this name")


def test_symbolic_links(tmp_path: Path) -> None:
    path = _write(tmp_path / "bad.pt2", _without("data/weights/weight_0")())
    link = zipfile.ZipInfo("root/data/weights/weight_0")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    _refused(path, "root/data/weights/weight_0: symbolic link in the archive")


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression(tmp_path: Path, compression: int) -> None:
    _refused(
        _write(tmp_path / "bad.pt2", _contents(), compression=compression),
        f"method {compression} is not supported",
    )


def test_not_files(tmp_path: Path) -> None:
    _refused(tmp_path / "missing.pt2", "there is no such file")
    (tmp_path / "folder.pt2").mkdir()
    _refused(tmp_path / "folder.pt2", "a folder, not a file")
    os.mkfifo(tmp_path / "fifo.pt2")
    _refused(tmp_path / "fifo.pt2", "not a file")
    (tmp_path / "empty.pt2").touch()
    _refused(tmp_path / "empty.pt2", "not a zip archive")
    (tmp_path / "text.pt2").write_text("hello")
    _refused(tmp_path / "text.pt2", "not a zip archive")
    _write(tmp_path / "none.pt2", {})
    _refused(tmp_path / "none.pt2", "its entries do not share one folder")


def test_truncated(tmp_path: Path, good: Path) -> None:
    data = good.read_bytes()
    path = tmp_path / "cut.pt2"
    for size in (len(data) - 1, len(data) - 30, len(data) // 2, 100, 10):
        path.write_bytes(data[:size])
        _refused(path, "not a zip archive that can be read (truncated?)")


def test_flipped_bits(tmp_path: Path, good: Path) -> None:
    """In what is read, the checksum shows them."""
    data = bytearray(good.read_bytes())
    data[data.index(b'"graph_module"') + 3] ^= 1
    path = tmp_path / "bad.pt2"
    path.write_bytes(data)
    _refused(path, f"{MODEL}: damaged: the checksum does not match")


def _directory_entry(data: bytes, name: str) -> int:
    """Where the central directory's record of an entry starts."""
    return data.rindex(name.encode()) - 46


def _patched(path: Path, offset: int, form: str, value: int) -> Path:
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, offset, value)
    path.write_bytes(data)
    return path


def test_lying_directory(tmp_path: Path) -> None:
    """The directory's record: 10 method, 20 compressed size, 24 size, 42 offset of the local header."""
    weight = "root/data/weights/weight_0"
    for field, form, value, message in [
        (10, "<H", 8, "the entry's header and the archive's directory differ"),
        (20, "<I", 12, "stored in 12 bytes, but 16 bytes long"),
        (24, "<I", 1 << 20, f"stored in 16 bytes, but {1 << 20} bytes long"),
        (42, "<I", 0, "the entry's header and the archive's directory differ"),
        (42, "<I", 1 << 30, "the entry lies outside the archive"),
        (8, "<H", 1, "encrypted entries are not supported"),
    ]:
        path = _write(tmp_path / "bad.pt2", _contents())
        _patched(path, _directory_entry(path.read_bytes(), weight) + field, form, value)
        _refused(path, message)


def test_entry_past_the_end(tmp_path: Path) -> None:
    path = _write(tmp_path / "bad.pt2", _contents())
    at = _directory_entry(path.read_bytes(), "root/data/weights/weight_0")
    _patched(path, at + 20, "<I", 1 << 20)
    _refused(_patched(path, at + 24, "<I", 1 << 20), "truncated: the entry ends outside the archive")


def test_lying_compressed_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weight = "root/data/weights/weight_0"
    for value in (15, 17, 0):
        path = _write(tmp_path / "bad.pt2", _contents(), compression=zipfile.ZIP_DEFLATED)
        _patched(path, _directory_entry(path.read_bytes(), weight) + 24, "<I", value)
        _refused(path, f"the entry does not expand to the {value} bytes it declares")
    bomb = _write(
        tmp_path / "bomb.pt2",
        _contents() | {"data/weights/weight_0": bytes(1 << 20)},
        compression=zipfile.ZIP_DEFLATED,
    )
    monkeypatch.setattr(archive, "MAX_INFLATED_BYTES", 1 << 19)
    _refused(bomb, f"compressed entry of {1 << 20} bytes; at most {1 << 19} are expanded")
    monkeypatch.setattr(pt2, "MAX_JSON_BYTES", 100)
    _refused(_write(tmp_path / "long.pt2", _contents()), "at most 100 are read")


def test_bombs_of_several_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = _contents() | {"data/weights/weight_0": bytes(1 << 20)}
    bomb = _write(tmp_path / "bomb.pt2", contents, compression=zipfile.ZIP_DEFLATED)
    monkeypatch.setattr(archive, "MAX_INFLATED_BYTES", (1 << 20) + 100)
    _refused(bomb, f"compressed entries expand to more than {(1 << 20) + 100} bytes")


def test_entries_that_overlap(tmp_path: Path) -> None:
    """The first of two entries of one size reaches over the second."""
    path = _write(tmp_path / "bad.pt2", _contents())
    data = path.read_bytes()
    at = _directory_entry(data, "root/data/weights/weight_0")
    local = struct.unpack_from("<I", data, at + 42)[0]
    for place in (at + 20, at + 24, local + 18, local + 22):
        path = _patched(path, place, "<I", 100)
    _refused(path, "damaged: the entry overlaps another one")


def test_json_of_millions_of_values(tmp_path: Path) -> None:
    contents = _contents() | {"models/model.json": b"[" + b"[]," * (9 << 20) + b"0]"}
    _refused(
        _write(tmp_path / "bad.pt2", contents), "JSON of up to 18874369 values; at most 16777216 are read"
    )


def test_damaged_anywhere(tmp_path: Path) -> None:
    """Whatever byte changes, the file is read or refused: no other error, no crash."""
    contents = _contents()
    del contents["data/sample_inputs/model.pt"]
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        good = _write(tmp_path / "good.pt2", contents, compression=compression).read_bytes()
        rng = random.Random(compression)
        path = tmp_path / "bad.pt2"
        refused = 0
        for _ in range(600):
            data = bytearray(good)
            for _ in range(rng.choice((1, 1, 4))):
                # Half of the damage goes to the directory, which stands at the end.
                start = rng.choice((0, len(data) - 900))
                data[rng.randrange(start, len(data))] = rng.randrange(256)
            path.write_bytes(data)
            try:
                read_pt2(path)
            except LoadError:
                refused += 1
        assert refused > 300


def test_damaged_json(tmp_path: Path) -> None:
    """Whatever value in the JSON is replaced by whatever other, the same holds."""
    rng = random.Random(0)
    spare: list[Any] = [None, True, 0, -1, 1 << 63, 1.5, "", "x", [], {}, [[]], {"as_int": 1}, {"name": "x"}]
    spare += [{"as_tensor": {"name": "x"}}, "torch.ops.aten.mm.default"]
    path = tmp_path / "bad.pt2"
    refused = 0
    for _ in range(500):
        contents = _contents()
        value: Any = contents[rng.choice((MODEL, MODEL, WEIGHTS))]
        steps: list[tuple[Any, Any]] = []
        while isinstance(value, dict | list) and value:
            step = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
            steps.append((value, step))
            value = value[step]
        container, step = rng.choice(steps)
        container[step] = rng.choice(spare)
        try:
            read_pt2(_write(path, contents))
        except LoadError:
            refused += 1
    assert refused > 300


def test_nothing_heavy_is_imported(good: Path) -> None:
    import subprocess

    code = (
        "import sys; from xdsl_exir.importers.pt2 import read_pt2; read_pt2(sys.argv[1]); "
        "print([m for m in ('torch', 'numpy', 'sympy', 'llvmlite', 'pickle') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code, str(good)], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
