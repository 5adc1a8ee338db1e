"""How it is said which calls an operator stands for: a function makes them, one after another, and gives the results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g


@dataclass
class Calls:
    """The calls that one node stands for, as they are made: `calls("aten.add.Tensor", self=x, other=y)` is its result."""

    node: g.Node
    values: Mapping[str, g.ValueMeta]
    made: list[g.Node] = field(default_factory=list[g.Node])

    def __call__(self, target: str, /, **arguments: Any) -> g.Ref:
        """A call of an operator with one result."""
        [result] = self.of(target, 1, arguments.items())
        return result

    def of(self, target: str, count: int, arguments: Iterable[tuple[str, Any]]) -> tuple[g.Ref, ...]:
        """A call of an operator with `count` results; arguments by position have no names."""
        refs = self._refs(count)
        self._add(target, arguments, refs)
        return refs

    def unbind(self, value: g.Value, dim: int, count: int) -> tuple[g.Ref, ...]:
        """The `count` tensors of which one is made along a dimension."""
        refs = self._refs(count)
        self._add("aten.unbind.int", [("self", value), ("dim", dim)], (refs,))
        return refs

    def inside(self, name: str, values: Mapping[g.Ref, g.Value] | None = None) -> Calls:
        """Calls in a graph of its own, for an operator with graphs. Of what is given there that of another name here is known; metadata
        that it needs has to be said so."""
        node = replace(self.node, name=f"{self.node.name}_{name}")
        known = {own.name: self.meta(value) for own, value in (values or {}).items()}
        return Calls(node, known)

    def graph(self, given: Iterable[g.Ref], *results: g.Ref) -> g.Subgraph:
        """The calls as a graph."""
        return g.Subgraph(self.node.name, g.Graph(tuple(given), tuple(self.made), results, {}))

    def _refs(self, count: int) -> tuple[g.Ref, ...]:
        return tuple(g.Ref(f"{self.node.name}_of_{len(self.made)}_{index}") for index in range(count))

    def _add(self, target: str, arguments: Iterable[tuple[str, Any]], outputs: tuple[g.Result, ...]) -> None:
        inputs = tuple(g.NodeInput(name, value, False) for name, value in arguments)
        name = f"{self.node.name}_of_{len(self.made)}"
        self.made.append(replace(self.node, name=name, target=target, inputs=inputs, outputs=outputs))

    # sizes, which may be symbolic

    def size(self, value: g.Value, dim: int) -> Any:
        """A tensor's size: a number, or one of the graph."""
        size = self.meta(value).sizes[dim]
        return size if isinstance(size, int) else self("aten.sym_size.int", self=value, dim=dim)

    def fixed(self, value: g.Value, dims: Iterable[int]) -> list[int]:
        """Sizes that have to be numbers. Raises `UnsupportedError` where one is not."""
        sizes = [self.meta(value).sizes[dim] for dim in dims]
        found = [size for size in sizes if isinstance(size, int)]
        if len(found) < len(sizes):
            raise self.unsupported(f"of symbolic sizes {', '.join(map(str, sizes))}")
        return found

    def number(self, target: str, a: Any, b: Any) -> Any:
        """`add`, `sub` or `mul` of two numbers."""
        if isinstance(a, int) and isinstance(b, int):
            return getattr(operator, target)(a, b)
        [made] = self.of(f"_operator.{target}", 1, [("", a), ("", b)])
        return made

    def cast(self, value: g.Value, dtype: DType) -> g.Ref:
        return self("aten._to_copy", self=value, dtype=dtype)

    def meta(self, value: g.Value) -> g.TensorMeta:
        """What the program says of a tensor. Raises `UnsupportedError` where it says nothing, as text does."""
        known = self.values.get(value.name) if isinstance(value, g.Ref) else None
        if not isinstance(known, g.TensorMeta):
            raise self.unsupported("of an operand of which the program says neither dtype nor shape")
        return known

    @property
    def dtypes(self) -> list[DType | None]:
        """The dtypes of the results, where the program says them."""
        known = (self.values.get(name or "") for name in self.node.result_names)
        return [value.dtype if isinstance(value, g.TensorMeta) else None for value in known]

    def unsupported(self, reason: str) -> UnsupportedError:
        return UnsupportedError([Unsupported(self.node.target, reason)])


Synonym: TypeAlias = "Callable[..., g.Ref | tuple[g.Ref, ...]]"
"""Takes `Calls` and an operator's arguments, named and ordered as in its schema; makes the calls, and gives the results."""


FunctionT = TypeVar("FunctionT", bound="Callable[..., Any]")


class Table(dict[str, "Callable[..., Any]"]):
    """What operators of one namespace stand for, by target: functions that take `Calls`."""

    def __init__(self, namespace: str):
        super().__init__()
        self.namespace = namespace

    def of(self, *names: str) -> Callable[[FunctionT], FunctionT]:
        """Registers what operators stand for."""

        def register(function: FunctionT) -> FunctionT:
            self.update((f"{self.namespace}.{name}", function) for name in names)
            return function

        return register

    def renamed(self, name: str, target: str, names: str, **others: Any) -> None:
        """An operator of another name. `names` are its arguments in order, each with its name there (`a=self`), those that it has not
        with none (`requires_grad=`); `others` are arguments that it has besides."""
        pairs = [
            (own, there) if equals else (own, own)
            for own, equals, there in (name.partition("=") for name in names.split())
        ]

        def call(calls: Calls, *given: Any, **arguments: Any) -> tuple[g.Ref, ...]:
            arguments |= dict(zip((own for own, _ in pairs), given, strict=False))
            kept = {there: arguments[own] for own, there in pairs if there and own in arguments}
            return calls.of(target, max(len(calls.node.outputs), 1), {**kept, **others}.items())

        self[f"{self.namespace}.{name}"] = call
