"""Pytrees without PyTorch: nested containers to a flat list of leaves and back, as a treespec says.

A program's calling convention is stored as PyTorch's treespec text, `[1, {"type": ..., "context": ..., "children_spec":
[...]}]` (`torch/utils/_pytree.py`, protocol 1), where type None is a leaf. Containers are those PyTorch knows; classes
of the user's own are registered here under their serialized names, as they were in PyTorch. Until then their instances are
records, if the treespec says the names of their fields; programs with other classes run on flat values. A treespec comes out of a file: nothing that it names is ever imported.
"""

from __future__ import annotations

import dataclasses
import json
import keyword
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NoReturn, cast

from xdsl_exir.errors import InputError, LoadError
from xdsl_exir.exchange.json_text import read_json
from xdsl_exir.exchange.record import Fields, Record

MAX_DEPTH = 64
"""Deeper treespecs are refused: no program has them, and they would exhaust the stack."""


@dataclass(frozen=True)
class TreeSpec:
    """The structure of a tree: the serialized name of the container (None for a leaf), what it needs besides its
    children (the keys of a dict, the maxlen of a deque...), and its children."""

    kind: str | None = None
    context: Any = None
    children: tuple[TreeSpec, ...] = ()
    num_leaves: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        leaves = 1 if self.kind is None else sum(child.num_leaves for child in self.children)
        object.__setattr__(self, "num_leaves", leaves)


LEAF = TreeSpec()


class _Mismatch(Exception):
    """A tree that does not have the structure of its spec; the text says what was expected."""


@dataclass(frozen=True)
class _Container:
    """How one kind of container is taken apart, put together, written and read."""

    flatten: Callable[[Any, Any], Sequence[object]]
    """From a tree and the spec's context to the children, in the spec's order. Raises _Mismatch."""
    unflatten: Callable[[Sequence[object], Any], object]
    """From children and context to a tree."""
    read: Callable[[object, Mapping[str, Sequence[str]]], Any]
    """From the context's JSON and the fields of all namedtuple classes to the context."""
    write: Callable[[Any], object]
    """From the context to its JSON."""
    steps: Callable[[Any], list[str]] | None = None
    """From the context to what leads to each child, for messages; None where children have indices only."""


# The containers


def _of_type(*types: type, name: str) -> Callable[[Any, Any], Sequence[object]]:
    def flatten(tree: Any, _context: object) -> Sequence[object]:
        if not isinstance(tree, types) or hasattr(tree, "_fields"):
            raise _Mismatch(f"a {name}")
        return list(tree)

    return flatten


def _no_context(context: object, _fields: object) -> None:
    if context not in (None, "null"):
        raise LoadError(f"treespec: expected an empty context, got {_short(context)}")


def _key(key: Any) -> Any:
    """A dict key, from JSON. Tuples became lists on the way in."""
    if isinstance(key, list):
        return tuple(_key(item) for item in cast("list[object]", key))
    if isinstance(key, dict):
        raise LoadError(f"treespec: dict key {_short(cast(object, key))} is no plain value")
    return key


def _read_keys(context: object, _fields: object = None) -> tuple[Any, ...]:
    keys: object = _parse(context) if isinstance(context, str) else context
    if not isinstance(keys, list):
        raise LoadError(f"treespec: expected a list of dict keys, got {_short(keys)}")
    result = tuple(_key(key) for key in cast("list[object]", keys))
    if len(set(result)) != len(result):
        raise LoadError(f"treespec: a dict has a key twice: {_short(result)}")
    return result


def _write_keys(keys: Sequence[Any]) -> str:
    return json.dumps(list(keys))


def _by_key(tree: Any, keys: Sequence[Any]) -> Sequence[object]:
    missing = [key for key in keys if key not in tree]
    unexpected = [key for key in tree if key not in keys]
    if missing or unexpected:
        missing_text = f"; missing {', '.join(map(repr, missing))}" if missing else ""
        unexpected_text = f"; unexpected {', '.join(map(repr, unexpected))}" if unexpected else ""
        raise _Mismatch(f"the keys {list(keys)}{missing_text}{unexpected_text}")
    return [tree[key] for key in keys]


def _mapping(cls: type, name: str) -> _Container:
    def flatten(tree: Any, keys: Any) -> Sequence[object]:
        if not isinstance(tree, cls):
            raise _Mismatch(f"a {name}")
        return _by_key(tree, keys)

    return _Container(
        flatten,
        lambda children, keys: cls(zip(keys, children, strict=True)),
        _read_keys,
        _write_keys,
        lambda keys: [f"[{key!r}]" for key in keys],
    )


_FACTORIES: Mapping[str, Callable[[], object]] = {
    f.__name__: f for f in (list, dict, set, tuple, int, float, complex, bool, str)
}


def _read_defaultdict(context: Any, _fields: object) -> tuple[str, tuple[Any, ...]]:
    match context:
        case {
            "default_factory_module": "builtins",
            "default_factory_name": str(name),
            "dict_context": keys,
        } if name in _FACTORIES:
            return name, _read_keys(cast(object, keys))
        case _:
            raise LoadError(f"treespec: a defaultdict whose factory is no builtin type: {_short(context)}")


def _write_defaultdict(context: tuple[str, tuple[Any, ...]]) -> object:
    name, keys = context
    return {"default_factory_module": "builtins", "default_factory_name": name, "dict_context": list(keys)}


def _flatten_defaultdict(tree: Any, context: tuple[str, tuple[Any, ...]]) -> Sequence[object]:
    if not isinstance(tree, defaultdict):
        raise _Mismatch("a defaultdict")
    return _by_key(tree, context[1])


def _read_maxlen(context: object, _fields: object) -> int | None:
    maxlen: object = _parse(context)
    if maxlen is not None and (type(maxlen) is not int or not 0 <= maxlen < 1 << 63):
        raise LoadError(f"treespec: expected the maximum length of a deque, got {_short(maxlen)}")
    return maxlen


@lru_cache(maxsize=1024)
def _namedtuple_class(name: str, fields: tuple[str, ...]) -> type:
    # A field may start with an underscore only if the class was made otherwise; namedtuple() would raise ValueError.
    bad = [f for f in fields if not f.isidentifier() or keyword.iskeyword(f) or f.startswith("_")]
    if bad or len(set(fields)) != len(fields):
        raise LoadError(f"treespec: namedtuple {name!r} cannot have the fields {list(fields)}")
    short = name.rpartition(".")[2]
    known = short if short.isidentifier() and not keyword.iskeyword(short) else "NamedTuple"
    return namedtuple(known, fields)  # pyright: ignore[reportUntypedNamedTuple]


def _read_namedtuple(context: object, fields: Mapping[str, Sequence[str]]) -> tuple[str, tuple[str, ...]]:
    if not isinstance(context, str):
        raise LoadError(f"treespec: expected the name of a namedtuple class, got {_short(context)}")
    if context in _NAMEDTUPLES:
        return context, tuple(cast(Any, _NAMEDTUPLES[context])._fields)
    if context not in fields:
        raise LoadError(f"treespec: the fields of namedtuple {context!r} are not known")
    _namedtuple_class(context, tuple(fields[context]))
    return context, tuple(fields[context])


def _flatten_namedtuple(tree: Any, context: tuple[str, tuple[str, ...]]) -> Sequence[object]:
    name, fields = context
    if getattr(tree, "_fields", None) != fields:
        raise _Mismatch(f"a namedtuple {name} with the fields {', '.join(fields)}")
    return tree


def _unflatten_namedtuple(children: Sequence[object], context: tuple[str, tuple[str, ...]]) -> object:
    return (_NAMEDTUPLES.get(context[0]) or _namedtuple_class(*context))(*children)


_CONTAINERS: dict[str, _Container] = {
    "builtins.tuple": _Container(
        _of_type(tuple, name="tuple"),
        lambda children, _: tuple(children),
        _no_context,
        lambda _: "null",
    ),
    # A tuple of sizes: without PyTorch it is a tuple.
    "torch.Size": _Container(
        _of_type(tuple, name="torch.Size"),
        lambda children, _: tuple(children),
        _no_context,
        lambda _: "null",
    ),
    "builtins.list": _Container(
        _of_type(list, name="list"),
        lambda children, _: list(children),
        _no_context,
        lambda _: "null",
    ),
    "builtins.dict": _mapping(dict, "dict"),
    "collections.OrderedDict": _mapping(OrderedDict, "OrderedDict"),
    "collections.defaultdict": _Container(
        _flatten_defaultdict,
        lambda children, context: defaultdict(_FACTORIES[context[0]], zip(context[1], children, strict=True)),
        _read_defaultdict,
        _write_defaultdict,
        lambda context: [f"[{key!r}]" for key in context[1]],
    ),
    "collections.deque": _Container(
        _of_type(deque, name="deque"),
        lambda children, maxlen: deque(children, maxlen),
        _read_maxlen,
        json.dumps,
    ),
    "collections.namedtuple": _Container(
        _flatten_namedtuple,
        _unflatten_namedtuple,
        _read_namedtuple,
        lambda context: context[0],
        lambda context: [f".{name}" for name in context[1]],
    ),
}
_NAMEDTUPLES: dict[str, type] = {}
_NOT_LEAVES: list[type] = [tuple, list, dict, deque]


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Sequence[object], Any]],
    unflatten_fn: Callable[[Sequence[object], Any], object],
    *,
    serialized_type_name: str,
    to_dumpable_context: Callable[[Any], object] = json.dumps,
    from_dumpable_context: Callable[[Any], Any] | None = None,
) -> None:
    """Make instances of `cls` containers, as `torch.utils._pytree.register_pytree_node` does with the same arguments.

    `flatten_fn` gives the children and the context of an instance, `unflatten_fn` makes an instance of both.
    """

    def flatten(tree: Any, context: Any) -> Sequence[object]:
        if not isinstance(tree, cls):
            raise _Mismatch(f"a {cls.__name__}")
        children, own = flatten_fn(tree)
        if to_dumpable_context(own) != to_dumpable_context(context):
            raise _Mismatch(f"a {cls.__name__} of the structure {_short(to_dumpable_context(context))}")
        return children

    _CONTAINERS[serialized_type_name] = _Container(
        flatten,
        unflatten_fn,
        lambda context, _fields: (from_dumpable_context or _parse)(context),
        to_dumpable_context,
    )
    _NOT_LEAVES.append(cls)


def register_dataclass(cls: type, *, serialized_type_name: str) -> None:
    """Make instances of a dataclass containers, as `torch.export.register_dataclass` does: of the fields that are not None."""
    names = [item.name for item in dataclasses.fields(cls) if item.init]

    def flatten(tree: Any) -> tuple[list[object], list[list[str]]]:
        given = [name for name in names if getattr(tree, name) is not None]
        return [getattr(tree, name) for name in given], [given, [name for name in names if name not in given]]

    def read(context: object) -> list[list[str]]:
        match _parse(context):
            case [[*given], [*absent]] if sorted(map(str, given + absent)) == sorted(names):
                return [given, absent]
            case _:
                raise LoadError(f"treespec: expected fields of {serialized_type_name}, got {_short(context)}")

    register_pytree_node(
        cls,
        flatten,
        lambda children, context: cls(
            **dict(zip(context[0], children, strict=True)), **dict.fromkeys(context[1])
        ),
        serialized_type_name=serialized_type_name,
        from_dumpable_context=read,
    )
    registered = _CONTAINERS[serialized_type_name]
    _CONTAINERS[serialized_type_name] = dataclasses.replace(registered, steps=_given_fields)


def _given_fields(context: Sequence[Sequence[str]]) -> list[str]:
    return [f".{name}" for name in context[0]]


def is_registered(name: str) -> bool:
    """Whether a class is known under this serialized name."""
    return name in _CONTAINERS or name in _NAMEDTUPLES


def register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Make outputs of this namedtuple class instances of `cls`, rather than of a class with the same fields."""
    _NAMEDTUPLES[serialized_type_name] = cls


# Text


def loads(text: str, namedtuple_fields: Mapping[str, Sequence[str]] | None = None) -> TreeSpec:
    """The treespec of PyTorch's text; `namedtuple_fields` is the program's. Raises LoadError."""
    match _parse(text):
        case [1, spec]:
            return _read(spec, namedtuple_fields or {}, 0)
        case _:
            raise LoadError("treespec: expected protocol 1")


def dumps(spec: TreeSpec) -> str:
    """PyTorch's text of a treespec."""
    return json.dumps([1, _write(spec)])


def namedtuple_fields(spec: TreeSpec) -> dict[str, tuple[str, ...]]:
    """The fields of the namedtuple classes in a tree, by the classes' serialized names."""
    fields = dict([spec.context]) if spec.kind == "collections.namedtuple" else dict[str, tuple[str, ...]]()
    for child in spec.children:
        fields |= namedtuple_fields(child)
    return fields


def with_tuples(spec: TreeSpec, known: Callable[[str], bool]) -> TreeSpec:
    """A tree with tuples in place of the namedtuples of classes that are not known by their serialized names."""
    children = tuple(with_tuples(child, known) for child in spec.children)
    if spec.kind == "collections.namedtuple" and not known(spec.context[0]):
        return TreeSpec("builtins.tuple", None, children)
    return TreeSpec(spec.kind, spec.context, children)


def kinds_of(spec: TreeSpec) -> set[str]:
    """The serialized names of the containers in a tree."""
    return {spec.kind or ""}.union(*map(kinds_of, spec.children)) - {""}


def _parse(text: object) -> Any:
    if not isinstance(text, str):
        raise LoadError(f"treespec: expected JSON text, got {_short(text)}")
    try:
        return read_json(text.encode("utf-8", "surrogatepass"))
    except LoadError as error:
        raise LoadError(f"treespec: {error}") from None


def _read(json_spec: Any, fields: Mapping[str, Sequence[str]], depth: int) -> TreeSpec:
    if depth > MAX_DEPTH:
        raise LoadError(f"treespec: nested deeper than {MAX_DEPTH}")
    match json_spec:
        case {"type": None, "context": None, "children_spec": []}:
            return LEAF
        case {"type": str(kind), "context": context, "children_spec": [*children]}:
            specs = tuple(_read(child, fields, depth + 1) for child in children)
            if kind not in _CONTAINERS:
                return TreeSpec(kind, _Unread(context), specs)
            container = _CONTAINERS[kind]
            known = container.read(context, fields)
            if container.steps is not None and len(container.steps(known)) != len(specs):
                raise LoadError(f"treespec: a {kind} of {_short(known)} has {len(specs)} children")
            return TreeSpec(kind, known, specs)
        case _:
            raise LoadError(f"treespec: expected type, context and children_spec, got {_short(json_spec)}")


@dataclass(frozen=True)
class _Unread:
    """The context of a container that was not registered when its treespec was read."""

    json: object


def _container(spec: TreeSpec) -> tuple[_Container, Any]:
    """How a node's container is taken apart, and its context. Raises InputError for a class that is not registered, and
    whose fields are not known."""
    assert spec.kind is not None
    if spec.kind in _CONTAINERS:
        container = _CONTAINERS[spec.kind]
        unread = isinstance(spec.context, _Unread)
        return container, container.read(spec.context.json, {}) if unread else spec.context
    if (fields := _fields_of(spec)) is not None:
        return _RECORD, fields
    raise InputError(
        f"unknown container {spec.kind!r}, whose treespec does not say the names of its fields; tell it to"
        " xdsl_exir.exchange.pytree.register_pytree_node or register_dataclass, or give flat inputs"
    )


def _fields_of(spec: TreeSpec) -> Fields | None:
    """The fields of a class that is not registered, where its treespec says their names."""
    context = spec.context.json if isinstance(spec.context, _Unread) else None
    if isinstance(context, str):
        try:
            context = _parse(context)
        except LoadError:
            return None
    return Fields.of(spec.kind or "", context, len(spec.children))


def _flatten_record(tree: Any, fields: Fields) -> Sequence[object]:
    values = fields.values(tree)
    if values is None:
        raise _Mismatch(f"a {fields.kind}, or a mapping, with the fields {', '.join(fields.given)}")
    return values


_RECORD = _Container(
    _flatten_record,
    lambda children, fields: Record(fields, children),
    lambda context, _: context,
    lambda context: context,
    lambda fields: list(map(fields.step, fields.given)),
)


def check_known(spec: TreeSpec) -> None:
    """Raises InputError for a tree with containers that cannot be made."""
    if spec.kind is not None:
        _container(spec)
        for child in spec.children:
            check_known(child)


def _steps(spec: TreeSpec) -> list[str]:
    """What leads to each child."""
    steps = None
    if spec.kind in _CONTAINERS or _fields_of(spec) is not None:
        container, context = _container(spec)
        steps = container.steps and container.steps(context)
    return steps or [f"[{i}]" for i in range(len(spec.children))]


def _write(spec: TreeSpec) -> object:
    if spec.kind is None:
        return {"type": None, "context": None, "children_spec": []}
    unread = isinstance(spec.context, _Unread)
    context = spec.context.json if unread else _CONTAINERS[spec.kind].write(spec.context)
    return {
        "type": spec.kind,
        "context": context,
        "children_spec": [_write(child) for child in spec.children],
    }


def _short(value: object) -> str:
    if isinstance(value, dict | list):
        return f"a JSON {'object' if isinstance(value, dict) else 'list'}"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


# Trees


def flatten(tree: object, spec: TreeSpec, what: str = "inputs") -> list[object]:
    """The leaves of a tree, in the spec's order; dicts may have their keys in any order.

    Raises InputError, which names the place (from `what` on) where the structure differs.
    """
    leaves: list[object] = []
    _flatten(tree, spec, what, leaves)
    return leaves


def _flatten(tree: object, spec: TreeSpec, at: str, leaves: list[object]) -> None:
    if spec.kind is None:
        if isinstance(tree, tuple(_NOT_LEAVES)):
            _differs(at, "a tensor, number, string or None", tree)
        leaves.append(tree)
        return
    container, context = _container(spec)
    try:
        children = container.flatten(tree, context)
    except _Mismatch as mismatch:
        _differs(at, str(mismatch), tree)
    if len(children) != len(spec.children):
        raise InputError(f"{at}: expected {len(spec.children)} elements, got {len(children)}")
    for child, child_spec, step in zip(children, spec.children, _steps(spec), strict=True):
        _flatten(child, child_spec, at + step, leaves)


def _differs(at: str, expected: str, tree: object) -> NoReturn:
    raise InputError(f"{at}: expected {expected}, got a {type(tree).__name__}")


def unflatten(leaves: Iterable[object], spec: TreeSpec) -> Any:
    """The tree of these leaves. Raises InputError if their number is not the spec's."""
    leaves = list(leaves)
    if len(leaves) != spec.num_leaves:
        raise InputError(f"a tree of {spec.num_leaves} leaves cannot be made of {len(leaves)}")
    return _unflatten(iter(leaves), spec)


def _unflatten(leaves: Iterable[object], spec: TreeSpec) -> object:
    if spec.kind is None:
        return next(iter(leaves))
    container, context = _container(spec)
    return container.unflatten([_unflatten(leaves, child) for child in spec.children], context)


def flatten_call(
    args: Sequence[object],
    kwargs: Mapping[str, object],
    in_spec: TreeSpec,
    arg_names: Sequence[str] | None = None,
) -> list[object]:
    """The leaves of a call's arguments. `in_spec` is that of `(args, kwargs)`; keyword arguments come in any order.

    With the names of all arguments (`ModuleCallSignature.forward_arg_names`), one that was positional at export may
    be passed by name, and the other way round. Raises InputError.
    """
    match in_spec:
        case TreeSpec(
            "builtins.tuple",
            _,
            (TreeSpec("builtins.tuple", _, positional), TreeSpec("builtins.dict", keywords, by_name)),
        ):
            pass
        case _:
            raise InputError("the program's treespec is not that of a call: a tuple of arguments and a dict")
    if arg_names is not None and len(arg_names) == len(positional) + len(by_name):
        args, kwargs = _rebind(args, kwargs, arg_names, len(positional))
    if len(args) != len(positional):
        raise InputError(f"expected {len(positional)} positional arguments, got {len(args)}")
    try:
        values = _by_key(kwargs, keywords)
    except _Mismatch as mismatch:
        raise InputError(f"keyword arguments: expected {mismatch}") from None
    leaves: list[object] = []
    for i, (arg, spec) in enumerate(zip(args, positional, strict=True)):
        _flatten(arg, spec, f"args[{i}]", leaves)
    for name, value, spec in zip(keywords, values, by_name, strict=True):
        _flatten(value, spec, f"kwargs[{name!r}]", leaves)
    return leaves


def _rebind(
    args: Sequence[object], kwargs: Mapping[str, object], names: Sequence[str], count: int
) -> tuple[Sequence[object], Mapping[str, object]]:
    """The same arguments with the first `count` names positional and the others by name, as at export."""
    if len(args) > len(names):
        raise InputError(f"expected at most {len(names)} arguments, got {len(args)}")
    bound = dict(zip(names, args, strict=False))
    if twice := bound.keys() & kwargs.keys():
        raise InputError(f"arguments passed twice: {', '.join(sorted(twice))}")
    bound |= kwargs
    if missing := [name for name in names[:count] if name not in bound]:
        others = [name for name in bound if name not in names]
        found = f"; unexpected: {', '.join(others)}" if others else ""
        raise InputError(f"missing arguments: {', '.join(missing)}{found}")
    return [bound.pop(name) for name in names[:count]], bound


def paths(in_spec: TreeSpec, arg_names: Sequence[str] | None = None) -> list[str]:
    """Where each leaf of a call's arguments is, as PyTorch writes it: `['x'][0]['a']`, an argument by its name."""
    positional, by_name = in_spec.children
    names = list(arg_names or [])[: len(positional.children)]
    names += [f"args[{i}]" for i in range(len(names), len(positional.children))]
    arguments = zip([*names, *by_name.context], [*positional.children, *by_name.children], strict=True)
    return [path for name, spec in arguments for path in _paths(spec, f"[{name!r}]")]


def _paths(spec: TreeSpec, at: str) -> list[str]:
    if spec.kind is None:
        return [at]
    return [
        path
        for name, child in zip(_steps(spec), spec.children, strict=True)
        for path in _paths(child, f"{at}{name}")
    ]


def leaf_paths(spec: TreeSpec) -> list[str]:
    """Where each leaf of a tree is, as Python would write it: `[0]['a']`, `.logits`."""
    return _paths(spec, "")
