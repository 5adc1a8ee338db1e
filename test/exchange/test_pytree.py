"""Pytrees without PyTorch: reading and writing treespecs, flattening, unflattening, and what each refuses."""

from __future__ import annotations

import copy
import json
import pickle
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xdsl_exir.errors import InputError, LoadError
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.pytree import (
    LEAF,
    TreeSpec,
    check_known,
    dumps,
    flatten,
    flatten_call,
    loads,
    paths,
    register_dataclass,
    unflatten,
)

leaf = {"type": None, "context": None, "children_spec": []}


def _spec(kind: str, context: object, *children: object) -> dict[str, object]:
    return {"type": kind, "context": context, "children_spec": list(children)}


def _text(spec: object) -> str:
    return json.dumps([1, spec])


Point = namedtuple("Point", ["x", "y"])
FIELDS = {"my.Point": ("x", "y")}

CASES = [
    pytest.param(3, leaf, [3], id="leaf"),
    pytest.param((), _spec("builtins.tuple", "null"), [], id="empty tuple"),
    pytest.param((1, 2), _spec("builtins.tuple", "null", leaf, leaf), [1, 2], id="tuple"),
    pytest.param([1, (2,)], _spec("builtins.list", "null", leaf, _spec("builtins.tuple", "null", leaf)), [1, 2], id="list"),
    pytest.param({"a": 1, 2: None}, _spec("builtins.dict", '["a", 2]', leaf, leaf), [1, None], id="dict"),
    pytest.param({(1, "k"): 1}, _spec("builtins.dict", '[[1, "k"]]', leaf), [1], id="tuple key"),
    pytest.param(
        OrderedDict(b=1, a=2), _spec("collections.OrderedDict", '["b", "a"]', leaf, leaf), [1, 2], id="OrderedDict"
    ),
    pytest.param(
        defaultdict(list, a=1),
        _spec(
            "collections.defaultdict",
            {"default_factory_module": "builtins", "default_factory_name": "list", "dict_context": ["a"]},
            leaf,
        ),
        [1],
        id="defaultdict",
    ),
    pytest.param(deque([1, 2], maxlen=5), _spec("collections.deque", "5", leaf, leaf), [1, 2], id="deque"),
    pytest.param(deque([1]), _spec("collections.deque", "null", leaf), [1], id="unbounded deque"),
    pytest.param(Point(1, [2]), _spec("collections.namedtuple", "my.Point", leaf, _spec("builtins.list", "null", leaf)), [1, 2], id="namedtuple"),
]  # fmt: skip


@pytest.mark.parametrize(("tree", "spec", "leaves"), CASES)
def test_round_trip(tree: Any, spec: object, leaves: list[object]) -> None:
    parsed = loads(_text(spec), FIELDS)
    assert dumps(parsed) == _text(spec)
    assert parsed.num_leaves == len(leaves)
    assert flatten(tree, parsed) == leaves
    again = unflatten(leaves, parsed)
    assert again == tree
    assert type(again) is type(tree) or isinstance(tree, Point)
    assert getattr(again, "_fields", None) == getattr(tree, "_fields", None)
    assert getattr(again, "maxlen", None) == getattr(tree, "maxlen", None)
    assert getattr(again, "default_factory", None) == getattr(tree, "default_factory", None)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("tree", "spec", "leaves"), CASES)
def test_same_as_torch(tree: Any, spec: object, leaves: list[object]) -> None:
    torch_pytree: Any = pytest.importorskip("torch.utils._pytree")
    if Point not in torch_pytree.SUPPORTED_SERIALIZED_TYPES:
        torch_pytree._register_namedtuple(Point, serialized_type_name="my.Point")
    torch_leaves, torch_spec = torch_pytree.tree_flatten(tree)
    assert torch_leaves == leaves
    assert torch_pytree.treespec_dumps(torch_spec, 1) == _text(spec)


_trees = st.recursive(
    st.integers() | st.none() | st.text(),
    lambda children: (
        st.lists(children, max_size=3)
        | st.lists(children, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), children, max_size=3)
        | st.lists(children, max_size=3).map(deque)
    ),
    max_leaves=12,
)


def _spec_of(tree: Any) -> TreeSpec:
    kinds = {
        tuple: "builtins.tuple",
        list: "builtins.list",
        dict: "builtins.dict",
        deque: "collections.deque",
    }
    if type(tree) not in kinds:
        return LEAF
    children = tree.values() if isinstance(tree, dict) else tree
    context = tuple(tree) if isinstance(tree, dict) else None
    return TreeSpec(kinds[type(tree)], context, tuple(map(_spec_of, children)))


@given(_trees)
def test_any_tree(tree: Any) -> None:
    spec = _spec_of(tree)
    assert loads(dumps(spec)) == spec
    leaves = flatten(tree, spec)
    assert len(leaves) == spec.num_leaves
    assert unflatten(leaves, spec) == tree


def test_dict_order_does_not_matter() -> None:
    spec = loads(_text(_spec("builtins.dict", '["a", "b"]', leaf, leaf)))
    assert flatten({"b": 2, "a": 1}, spec) == [1, 2]


# Trees of another structure

NESTED = _spec("builtins.list", "null", _spec("builtins.dict", '["m", "n"]', leaf, leaf))


@pytest.mark.parametrize(
    ("tree", "spec", "message"),
    [
        ((1,), NESTED, r"inputs: expected a list, got a tuple"),
        ([], NESTED, r"inputs: expected 1 elements, got 0"),
        ([3], NESTED, r"inputs\[0\]: expected a dict, got a int"),
        ([{"m": 1}], NESTED, r"inputs\[0\]: expected the keys \['m', 'n'\]; missing 'n', got a dict"),
        ([{"m": 1, "n": 2, "o": 3}], NESTED, r"inputs\[0\]: expected the keys .*; unexpected 'o'"),
        ([{"m": 1, "n": [2]}], NESTED, r"inputs\[0\]\['n'\]: expected a tensor, number, string or None, got a list"),
        (Point(1, 2), _spec("builtins.tuple", "null", leaf, leaf), r"expected a tuple, got a Point"),
        ((1, 2), _spec("collections.namedtuple", "my.Point", leaf, leaf), r"a namedtuple my.Point with the fields x, y"),
        (Point([1], 2), _spec("collections.namedtuple", "my.Point", leaf, leaf), r"inputs\.x: expected a tensor"),
        ({"a": 1}, _spec("collections.OrderedDict", '["a"]', leaf), r"expected a OrderedDict, got a dict"),
        ([1], _spec("collections.deque", "null", leaf), r"expected a deque, got a list"),
    ],
)  # fmt: skip
def test_mismatch(tree: Any, spec: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        flatten(tree, loads(_text(spec), FIELDS))


def test_wrong_number_of_leaves() -> None:
    with pytest.raises(InputError, match="a tree of 1 leaves cannot be made of 2"):
        unflatten([1, 2], LEAF)


# Calls

CALL = loads(
    _text(
        _spec(
            "builtins.tuple",
            "null",
            _spec("builtins.tuple", "null", leaf, _spec("builtins.list", "null", leaf)),
            _spec("builtins.dict", '["scale", "mask"]', leaf, leaf),
        )
    )
)
NAMES = ("x", "rest", "scale", "mask")


def test_call() -> None:
    assert flatten_call((1, [2]), {"mask": 4, "scale": 3}, CALL) == [1, 2, 3, 4]
    assert flatten_call((1, [2]), {"mask": 4, "scale": 3}, CALL, NAMES) == [1, 2, 3, 4]
    assert flatten_call((1,), {"mask": 4, "scale": 3, "rest": [2]}, CALL, NAMES) == [1, 2, 3, 4]
    assert flatten_call((1, [2], 3), {"mask": 4}, CALL, NAMES) == [1, 2, 3, 4]
    assert flatten_call((), {"mask": 4, "scale": 3, "rest": [2], "x": 1}, CALL, NAMES) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("args", "kwargs", "names", "message"),
    [
        ((1,), {"mask": 4, "scale": 3}, None, "expected 2 positional arguments, got 1"),
        ((1, [2]), {"mask": 4}, None, r"keyword arguments: expected the keys .* missing 'scale'"),
        ((1, [2]), {"mask": 4, "scale": 3, "y": 5}, NAMES, "unexpected 'y'"),
        ((1,), {"mask": 4, "scale": 3}, NAMES, "missing arguments: rest"),
        ((1,), {"mask": 4, "scale": 3, "rst": [2]}, NAMES, "missing arguments: rest; unexpected: rst"),
        ((1, [2]), {"mask": 4, "scale": 3, "x": 1}, NAMES, "arguments passed twice: x"),
        ((1, [2], 3, 4, 5), {}, NAMES, "expected at most 4 arguments, got 5"),
        ((1, 2), {"mask": 4, "scale": 3}, NAMES, r"args\[1\]: expected a list, got a int"),
        ((1, [2]), {"mask": [4], "scale": 3}, NAMES, r"kwargs\['mask'\]: expected a tensor"),
    ],
)
def test_bad_call(args: Any, kwargs: Any, names: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        flatten_call(args, kwargs, CALL, names)


def test_not_a_call() -> None:
    with pytest.raises(InputError, match="not that of a call"):
        flatten_call((), {}, LEAF)


# Classes of the user's own


@dataclass
class Box:
    inside: object
    label: str


@pytest.fixture
def _registered() -> Any:
    before = dict(pytree._CONTAINERS), dict(pytree._NAMEDTUPLES), list(pytree._NOT_LEAVES)
    pytree.register_pytree_node(
        Box,
        lambda box: ([box.inside], box.label),
        lambda children, label: Box(children[0], label),
        serialized_type_name="my.Box",
    )
    pytree.register_namedtuple(Point, serialized_type_name="my.Point")
    yield
    pytree._CONTAINERS.clear()
    pytree._NAMEDTUPLES.clear()
    pytree._CONTAINERS.update(before[0])
    pytree._NAMEDTUPLES.update(before[1])
    pytree._NOT_LEAVES[:] = before[2]


@pytest.mark.usefixtures("_registered")
def test_registered_classes() -> None:
    text = _text(_spec("my.Box", '"red"', _spec("collections.namedtuple", "my.Point", leaf, leaf)))
    spec = loads(text)
    assert dumps(spec) == text
    assert flatten(Box(Point(1, 2), "red"), spec) == [1, 2]
    tree = unflatten([1, 2], spec)
    assert tree == Box(Point(1, 2), "red")
    assert type(tree.inside) is Point
    with pytest.raises(InputError, match=r"expected a Box of the structure .*red.*, got a Box"):
        flatten(Box(Point(1, 2), "blue"), spec)
    with pytest.raises(InputError, match="expected a tensor, number, string or None, got a Box"):
        flatten(Box(1, "red"), LEAF)


# Texts that are refused


def _deep(depth: int) -> str:
    return (
        "[1, "
        + '{"type": "builtins.list", "context": "null", "children_spec": [' * depth
        + "]}" * depth
        + "]"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[2, null]", "protocol 1"),
        ("{}", "protocol 1"),
        ("[1, 3]", "expected type, context and children_spec, got 3"),
        (_text({"type": "builtins.list"}), "expected type, context"),
        (_text(_spec("builtins.tuple", "[3]", leaf)), "expected an empty context"),
        (_text(_spec("builtins.dict", '["a"]')), "has 0 children"),
        (_text(_spec("builtins.dict", '["a", "a"]', leaf, leaf)), "a key twice"),
        (_text(_spec("builtins.dict", '[{"__enum__": true}]', leaf)), "no plain value"),
        (_text(_spec("builtins.dict", '{"a": 1}', leaf)), "a list of dict keys"),
        (_text(_spec("collections.namedtuple", "os.stat_result")), "fields of namedtuple 'os.stat_result' are not known"),
        (_text(_spec("collections.namedtuple", 3)), "name of a namedtuple class"),
        (_text(_spec("collections.namedtuple", "bad.Fields", leaf)), "cannot have the fields"),
        (_text(_spec("collections.deque", "-1")), "maximum length of a deque"),
        (_text(_spec("collections.deque", [1])), "expected JSON text"),
        (
            _text(_spec("collections.defaultdict", {"default_factory_module": "os", "default_factory_name": "getcwd", "dict_context": []})),
            "factory is no builtin type",
        ),
        (_deep(100), "nested deeper than 64"),
        ("[" * 100_000, "not JSON"),
        ("9" * 5000, "not JSON"),
    ],
)  # fmt: skip
def test_refused_text(text: str, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        loads(text, {"bad.Fields": ("import os; x",)})


def test_containers_that_are_not_registered() -> None:
    """Their treespecs are read and written, calls are refused; once they are registered, calls go on."""

    @dataclass
    class Late:
        x: object
        y: object = None

    box = _text(_spec("my.Late", '{"x": 0}', leaf))
    assert dumps(loads(box)) == box
    for call in (
        lambda: flatten(Late(1), loads(box)),
        lambda: unflatten([1], loads(box)),
        lambda: check_known(
            loads(_text(_spec("builtins.list", "null", leaf, _spec("my.Late", '["x", "y"]', leaf))))
        ),
    ):
        with pytest.raises(
            InputError,
            match=r"unknown container 'my.Late', .* names of its fields; tell it to .* or give flat inputs",
        ):
            call()
    text = _text(_spec("my.Late", '[["x"], ["y"]]', leaf))
    spec = loads(text)
    register_dataclass(Late, serialized_type_name="my.Late")
    assert flatten(Late(1), spec) == [1]
    assert unflatten([1], spec) == Late(1)
    with pytest.raises(LoadError, match=r"expected fields of my\.Late"):
        loads(_text(_spec("my.Late", '[["z"], ["y"]]', leaf)))


@dataclass
class Output:
    logits: object
    values: object = None
    loss: object = None


@pytest.mark.parametrize(
    ("context", "path"),
    [('["logits", "values"]', "['logits']"), ([["logits", "values"], ["loss"]], ".logits"), ('[["logits", "values"], [null]]', "['logits']")],
)  # fmt: skip
def test_records_of_classes_that_are_not_registered(context: object, path: str) -> None:
    """A class whose fields have names in the treespec is a record: mapping, attributes, positions."""
    text = _text(_spec("hub.Output", context, leaf, _spec("builtins.list", "null", leaf)))
    spec = loads(text)
    assert dumps(spec) == text
    check_known(spec)
    made = unflatten([1, 2], spec)
    assert (made.logits, made.values, made["values"], made[0], made[-1], made[:1]) == (
        1,
        [2],
        [2],
        1,
        [2],
        (1,),
    )
    assert list(made) == ["logits", "values"]
    assert dict(made) == {**made} == {"logits": 1, "values": [2]}
    assert made.to_tuple() == (1, [2])
    assert repr(made) == "Output(logits=1, values=[2])"
    assert copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made
    assert copy.copy(made).logits == 1
    with pytest.raises(KeyError):
        made["loss"]
    with pytest.raises(AttributeError):
        made.other  # noqa: B018
    if path == ".logits":
        assert made.loss is None
    mapping = {"values": [2], "logits": 1, "loss": None}
    for tree in (made, mapping, Output(1, [2]), SimpleNamespace(logits=1, values=[2])):
        assert flatten(tree, spec) == [1, 2]
    call = TreeSpec(
        "builtins.tuple", None, (TreeSpec("builtins.tuple", None, (spec,)), TreeSpec("builtins.dict", ()))
    )
    assert paths(call, ["x"])[0] == f"['x']{path}"
    for tree in ({"logits": 1}, {**mapping, "loss": 3}, Output(1, [2], 3), [1, [2]]):
        with pytest.raises(
            InputError, match=r"inputs: expected a hub\.Output, or a mapping, with the fields logits, values"
        ):
            flatten(tree, spec)


def test_nothing_is_imported() -> None:
    import sys

    loads(_text(_spec("collections.namedtuple", "antigravity.Point", leaf)), {"antigravity.Point": ("x",)})
    assert "antigravity" not in sys.modules
