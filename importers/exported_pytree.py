"""Pytrees of live `ExportedProgram`s: as PyTorch saves their specs, with the classes that it was told of.

`torch.utils._pytree` prints some specs itself and refuses others, of classes without a name to save; here every one has its text."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass
from typing import Any

from xdsl_exir.errors import LoadError
from xdsl_exir.exchange import pytree


def import_untyped(module: str) -> Any:
    """A module of torch's or sympy's. Untyped: torch need not be there when this file is checked, and what it says of
    its own types is too partial for strict checking."""
    return importlib.import_module(module)


def treespec(spec: Any) -> str:
    """PyTorch's text of a treespec; also where it has none, for namedtuple classes without a serialized name."""
    return json.dumps([1, _treespec_node(spec)])


def _treespec_node(spec: Any) -> dict[str, object]:
    torch_pytree = import_untyped("torch.utils._pytree")

    children = [_treespec_node(child) for child in spec.children()]
    if (found := _namedtuple(spec)) is not None:
        return {"type": "collections.namedtuple", "context": found[0], "children_spec": children}
    if spec.type in torch_pytree.SUPPORTED_SERIALIZED_TYPES:
        name = _serialized_name(spec.type)
        write = torch_pytree.SUPPORTED_SERIALIZED_TYPES[spec.type].to_dumpable_context or json.dumps
        try:
            return {"type": name, "context": write(spec.context), "children_spec": children}
        except TypeError as error:
            raise LoadError(f"treespec: {name}: {error}") from None
    if not spec.is_leaf():
        raise LoadError(f"treespec: PyTorch does not know {spec.type}")
    return {"type": None, "context": None, "children_spec": []}


def _serialized_name(cls: type) -> str:
    """The name of a container class in treespecs, made up where it was registered without one."""
    torch_pytree = import_untyped("torch.utils._pytree")

    known = torch_pytree.SUPPORTED_SERIALIZED_TYPES.get(cls)
    name = known.serialized_type_name if known else torch_pytree.NO_SERIALIZED_TYPE_NAME_FOUND
    made_up = name == torch_pytree.NO_SERIALIZED_TYPE_NAME_FOUND
    return f"{cls.__module__}.{cls.__qualname__}" if made_up else name


def _namedtuple(spec: Any) -> tuple[str, tuple[str, ...]] | None:
    """The name and the fields of the namedtuple class of a node; what `max` and `topk` return is one as well."""
    torch_pytree = import_untyped("torch.utils._pytree")

    cls = spec.context if torch_pytree.is_namedtuple_class(spec.context) else spec.type
    if cls is None or not (torch_pytree.is_namedtuple_class(cls) or torch_pytree.is_structseq_class(cls)):
        return None
    return _serialized_name(cls), tuple(
        cls.__match_args__ if torch_pytree.is_structseq_class(cls) else cls._fields
    )


def register_containers(entries: Sequence[Any]) -> None:
    """Makes the user's own containers in the treespecs known, as PyTorch knows them."""
    torch_pytree = import_untyped("torch.utils._pytree")

    for spec in _treespec_nodes(entries):
        if spec.is_leaf() or _namedtuple(spec) is not None:
            continue
        name = _serialized_name(spec.type)
        if pytree.is_registered(name):
            continue
        cls: type = spec.type
        known = torch_pytree.SUPPORTED_NODES[cls]
        if is_dataclass(spec.type) and known.flatten_fn.__qualname__.startswith("register_dataclass."):
            pytree.register_dataclass(cls, serialized_type_name=name)
            continue
        saved = torch_pytree.SUPPORTED_SERIALIZED_TYPES[cls]
        pytree.register_pytree_node(
            cls,
            known.flatten_fn,
            known.unflatten_fn,
            serialized_type_name=name,
            to_dumpable_context=saved.to_dumpable_context or json.dumps,
            from_dumpable_context=saved.from_dumpable_context,
        )


def _treespec_nodes(entries: Sequence[Any]) -> Iterator[Any]:
    """All nodes of the treespecs of a program's modules."""
    todo = [
        spec
        for entry in entries
        if (signature := entry.signature) is not None
        for spec in (signature.in_spec, signature.out_spec)
    ]
    while todo:
        spec = todo.pop()
        yield spec
        todo += spec.children()


def namedtuple_fields(entries: Sequence[Any]) -> dict[str, tuple[str, ...]]:
    """The fields of all namedtuple classes in the treespecs, by the classes' serialized names."""
    return dict(found for spec in _treespec_nodes(entries) if (found := _namedtuple(spec)) is not None)
