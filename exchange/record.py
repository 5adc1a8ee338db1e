"""What a program returns where the model returned an object of a class that is not known here: its fields by name.

A `.pt2` file says the name of the class and the names of the fields. Classes are not imported for that, and the package
that they are from may not be there; so results are records, which are read like the dataclasses and mappings that they
stand for (`transformers`' outputs are both).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True)
class Fields:
    """The names of an object's fields."""

    kind: str
    """The serialized name of its class."""
    given: tuple[str, ...]
    """Those with values."""
    absent: tuple[str, ...] = ()
    """Those that are None."""
    are_keys: bool = True
    """Whether PyTorch's paths lead to them as to the keys of a mapping; as to attributes otherwise."""

    @staticmethod
    def of(kind: str, context: Any, count: int) -> Fields | None:
        """The fields of a class with so many values, where the JSON that its treespec holds beside these is the list of
        their names, or a list that begins with that one; None where it is anything else.

        `transformers` writes the former of its outputs, `torch.export.register_dataclass` the names of the fields that
        have values and of those that are None.
        """
        match context:
            case [[*given], [*absent]] if _are_names(given, count):
                is_dataclass = _are_names(absent, len(absent))
                return Fields(kind, tuple(given), tuple(absent) if is_dataclass else (), not is_dataclass)
            case [*given] if _are_names(given, count):
                return Fields(kind, tuple(given))
            case _:
                return None

    def values(self, tree: Any) -> list[object] | None:
        """The fields of a mapping or of any object that has them, and of which all else is None; None for what is neither."""
        if isinstance(tree, Mapping):
            held = dict(cast("Mapping[object, object]", tree))
        elif dataclasses.is_dataclass(tree):
            held = {item.name: getattr(tree, item.name) for item in dataclasses.fields(tree)}
        else:
            held = {name: getattr(tree, name) for name in self.given if hasattr(tree, name)}
        fits = all(name in self.given or value is None for name, value in held.items())
        return [held[name] for name in self.given] if fits and held.keys() >= set(self.given) else None

    def step(self, name: str) -> str:
        """What leads to a field."""
        return f"[{name!r}]" if self.are_keys else f".{name}"


def _are_names(names: Sequence[object], count: int) -> bool:
    """Whether these are names, all different, and as many as there should be."""
    return len(names) == count and all(isinstance(name, str) for name in names) and len(set(names)) == count


class Record(dict[str, Any]):
    """A mapping from a class's fields, in order, to their values, that has them as attributes too; its values by their
    position as well: `out["logits"]`, `out.logits`, `out[0]` and `out[:2]`.

    Fields that were None are no keys; those that are known to be ones are attributes.
    """

    def __init__(self, fields: Fields, values: Sequence[object]):
        super().__init__(zip(fields.given, values, strict=True))
        # Of the instance, so that they win over methods of a mapping: a field may be called `values`.
        self.__dict__ |= dict.fromkeys(fields.absent)
        self.__dict__ |= self
        self.__dict__["__name__"] = fields.kind.rpartition(".")[2]

    def __getitem__(self, key: str | int | slice) -> Any:
        return super().__getitem__(key) if isinstance(key, str) else self.to_tuple()[key]

    def to_tuple(self) -> tuple[Any, ...]:
        """The values."""
        return tuple(super().values())

    def __repr__(self) -> str:
        fields = ", ".join(f"{field}={value!r}" for field, value in super().items())
        return f"{self.__dict__['__name__']}({fields})"
