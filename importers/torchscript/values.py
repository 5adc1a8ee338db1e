"""What values are while a program runs: Python's numbers, strings, lists, dicts and tuples are themselves.

Tensors are `TensorValue`s, names in the graph being built; numbers that nobody knows yet `Number`s. Objects and lists are
shared and written to, as in TorchScript.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from xdsl_exir.errors import ExirError
from xdsl_exir.importers.torchscript.pickles import Instance, PickledDevice, PickledTensor
from xdsl_exir.limits import LIMITS
from xdsl_exir.narrowing import is_dict, is_list, is_tuple

Value: TypeAlias = Any


class ScriptError(ExirError):
    """An exception that the program raised, or an operation of it that has no result."""


@dataclass(eq=False)
class TensorValue:
    """A tensor: a name of the graph."""

    name: str
    has_layout: bool = True
    """Whether it is known how it lies in memory: as the graph says, in row-major order where that says nothing."""


@dataclass(eq=False)
class Number:
    """A number that is a value of the graph: a size that is a symbol, an element of a tensor."""

    name: str
    kind: Literal["int", "float", "bool"]


@dataclass(eq=False)
class Condition:
    """A boolean that a tensor of one element says."""

    tensor: TensorValue


class UnknownText(str):
    """A text with a number in it that nobody knows yet: a message."""


@dataclass(frozen=True)
class DeviceValue:
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(eq=False)
class Function:
    """A function of the program, as a value."""

    name: str


@dataclass(frozen=True)
class EnumValue:
    """A member of an enum."""

    class_name: str
    name: str
    value: Any


@dataclass(eq=False)
class Object:
    """An object: a module or a class of the program's own."""

    class_name: str
    path: str = ""
    """Of modules: where it hangs."""
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])


UNINITIALIZED = object()
"""What `prim.Uninitialized` gives; nobody looks at it."""


def named(value: Value) -> str:
    """What a value is, in the words of who wrote the program."""
    match value:
        case TensorValue():
            return "a tensor"
        case Condition():
            return "a bool that data decide"
        case Number():
            return f"a number ({value.kind}) that nobody knows yet"
        case Object():
            return f"an object of {value.class_name:.100}"
        case EnumValue():
            return f"{value.class_name:.100}.{value.name:.100}"
        case Function():
            return f"the function {value.name:.100}"
        case DeviceValue():
            return f"the device {value.name:.100}"
        case _ if value is UNINITIALIZED:
            return "a value that was not set"
        case _ if is_list(value) or is_tuple(value) or is_dict(value):
            return f"a {type(value).__name__} of {len(value)}"
        case _:
            return f"{value!r:.100}"


class Loader:
    """Makes values of what pickles hold. What is one object there is one here."""

    def __init__(self, is_enum: Any, tensor: Any):
        self._is_enum, self._tensor = is_enum, tensor
        self._made: dict[int, Any] = {}
        self._kept: list[Any] = []

    def value(self, data: Any, path: str = "", name: str = "", owner: str = "", depth: int = 0) -> Any:
        """The value that `data` is, which is attribute `name` of the object of class `owner` at `path`.

        Raises `ExirError` for data that lie too deep in one another.
        """
        if depth > LIMITS.nesting:
            raise ExirError(f"{path or 'the module'}: its attributes lie too deep in one another")
        if id(data) in self._made:
            return self._made[id(data)]

        def inner(item: Any, key: str = "") -> Any:
            return self.value(item, path, f"{name}.{key}" if key else name, owner, depth + 1)

        match data:
            case PickledTensor():
                made = self._tensor(data, path, name, owner)
            case PickledDevice():
                return DeviceValue(data.name)
            case Instance():
                return self._instance(data, path, name, depth)
            case _ if is_tuple(data):
                made = tuple(inner(item, str(index)) for index, item in enumerate(data))
            case _ if is_list(data):
                items: list[Any] = []
                self._keep(data, items)
                items.extend(inner(item, str(index)) for index, item in enumerate(data))
                return items
            case _ if is_dict(data):
                pairs: dict[Any, Any] = {}
                self._keep(data, pairs)
                pairs.update((key, inner(item, str(key))) for key, item in data.items())
                return pairs
            case _:
                return data
        self._keep(data, made)
        return made

    def _keep(self, data: Any, made: Any) -> None:
        self._kept.append(data)  # its id stays its own
        self._made[id(data)] = made

    def _instance(self, data: Instance, path: str, name: str, depth: int) -> Any:
        member = self._is_enum(data)
        if member is not None:
            return member
        inside = ".".join(part for part in (path, name) if part)
        made = Object(data.class_name, inside)
        self._keep(data, made)
        for key, item in data.attributes.items():
            made.attributes[key] = self.value(item, inside, key, data.class_name, depth + 1)
        return made
