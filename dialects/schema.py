"""PyTorch's FunctionSchema language: operator signatures as text, parsed to frozen dataclasses and printed back.

    aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

One `parse` per grammar node (signature, argument, type, alias annotation), and `FunctionSchema.parse` asserts that
printing gives back its input, so nothing of a schema is lost silently. What the types mean in the IR (operand or
property) is decided in `operator`, not here.

The grammar is that of `c10::FunctionSchema` printing, as `str(torch.ops.aten.add.Tensor._schema)` shows it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl_exir.errors import SpecError
from xdsl_exir.narrowing import is_list
from xdsl_exir.syntax import parse_expression
from xdsl_exir.threads import cached_property

DefaultValue: TypeAlias = int | float | bool | str | tuple["DefaultValue", ...] | None


class _Missing:
    """The default of an argument that has none (`None` is a default of its own)."""

    def __repr__(self) -> str:
        return "<required>"


MISSING = _Missing()


@dataclass(frozen=True)
class Alias:
    """An alias annotation: `(a)` a view of set a, `(a!)` written to, `(a -> *)` escapes into a list, `(*)` of any set."""

    text: str

    def __post_init__(self):
        if not re.fullmatch(r"(\*|[a-z]+(\|[a-z]+)*)!?( -> (\*|[a-z]+(\|[a-z]+)*))?", self.text):
            raise SpecError(f"'({self.text})' is not an alias annotation")

    @property
    def is_write(self) -> bool:
        return "!" in self.text

    @property
    def sets(self) -> frozenset[str]:
        """Names of the alias sets on the left of the arrow."""
        return frozenset(self.text.split(" -> ")[0].rstrip("!").split("|"))

    def __str__(self) -> str:
        return f"({self.text})"


_WORD = re.compile(r"[A-Za-z_][\w.]*")
_ALIAS = re.compile(r"\((?P<alias>[^(),]*)\)")
_LIST = re.compile(r"\[(?P<size>\d*)\]")
GENERIC = frozenset(["Dict", "Future", "RRef"])
"""Types of other types, which schemas write in parentheses."""


@dataclass(frozen=True)
class Type:
    """A schema type: a base type, perhaps optional, perhaps a list of it (of a fixed size), perhaps that optional."""

    base: str
    """`Tensor`, `int`, `SymInt`, `Scalar`, `ScalarType`, a variable (`t`), a class (`__torch__.torch.classes.profiler._RecordFunction`);
    of `arguments`: `Tuple`, one of `GENERIC`, or `List`, whose lists are lists of lists."""
    optional: bool = False
    """Whether a value (of a list: the list as a whole) may be None."""
    is_list: bool = False
    size: int | None = None
    """Fixed length of a list: `int[2]` accepts one int for both."""
    item_optional: bool = False
    """Whether an item of the list may be None: `Tensor?[]`."""
    alias: Alias | None = None
    """Which set a value (of a list: its items) is in."""
    arguments: tuple[Type, ...] = ()
    """The types that this is made of: `Dict(str, t)`, `(str, t)`."""
    list_alias: Alias | None = None
    """Which set a list as a whole is in: `t[](a!)`."""

    def __post_init__(self):
        if (self.size is not None or self.list_alias is not None) and not self.is_list:
            raise SpecError(f"{self.base}: only a list has a size")

    @staticmethod
    def parse(text: str) -> Type:
        type, end = Type.scan(text)
        if end != len(text):
            raise SpecError(f"'{text}' is not a schema type")
        return type

    @staticmethod
    def scan(text: str, start: int = 0, depth: int = 0) -> tuple[Type, int]:
        """The type that a text begins with at a place, and where that ends. Raises `SpecError` where there is none."""
        if depth > MAX_NESTING:
            raise SpecError(f"'{text:.100}': types lie more than {MAX_NESTING} deep in one another")
        word = _WORD.match(text, start)
        base, at = (word[0], word.end()) if word is not None else ("Tuple", start)
        arguments: tuple[Type, ...] = ()
        if base in GENERIC or word is None:
            arguments, at = _scan_arguments(text, at, depth)
        alias, at = _scan_alias(text, at)
        item_optional, at = _scan_mark(text, at)
        type = Type(base, item_optional, alias=alias, arguments=arguments)
        while (bracket := _LIST.match(text, at)) is not None:
            list_alias, at = _scan_alias(text, bracket.end())
            optional, at = _scan_mark(text, at)
            size = int(bracket["size"]) if bracket["size"] else None
            if type.is_list:
                type = Type("List", arguments=(type,))
            type = replace(
                type,
                optional=optional,
                is_list=True,
                size=size,
                item_optional=type.optional,
                list_alias=list_alias,
            )
        return type, at

    @property
    def is_tensor(self) -> bool:
        return self.base == "Tensor"

    @property
    def written(self) -> bool:
        """Whether what it is of is written to."""
        return any(alias is not None and alias.is_write for alias in (self.alias, self.list_alias))

    @property
    def _base_text(self) -> str:
        of = ", ".join(map(str, self.arguments))
        match self.base:
            case "List":
                return of
            case "Tuple":
                return f"({of})"
            case _:
                return f"{self.base}({of})" if self.arguments else self.base

    def __str__(self) -> str:
        text = f"{self._base_text}{self.alias or ''}"
        if not self.is_list:
            return text + "?" * self.optional
        size = "" if self.size is None else self.size
        return f"{text}{'?' * self.item_optional}[{size}]{self.list_alias or ''}{'?' * self.optional}"


MAX_NESTING = 16
"""Limit to the depth of types in one another."""


def _scan_arguments(text: str, at: int, depth: int) -> tuple[tuple[Type, ...], int]:
    """Types in parentheses, with commas between them."""
    if not text.startswith("(", at):
        raise SpecError(f"'{text[at:]:.100}' is not a schema type")
    types: list[Type] = []
    while text[at] != ")":
        type, at = Type.scan(text, at + 1 if not types else at + 2, depth + 1)
        types.append(type)
        if not text.startswith((", ", ")"), at):
            raise SpecError(f"'{text[at:]:.100}': expected ', ' or ')'")
    return tuple(types), at + 1


def _scan_alias(text: str, at: int) -> tuple[Alias | None, int]:
    match = _ALIAS.match(text, at)
    return (None, at) if match is None else (Alias(match["alias"]), match.end())


def _scan_mark(text: str, at: int) -> tuple[bool, int]:
    is_there = text.startswith("?", at)
    return is_there, at + is_there


@dataclass(frozen=True)
class Argument:
    """A parameter of an operator; `default` is `MISSING` when the caller must give it."""

    name: str
    type: Type
    default: DefaultValue | _Missing = MISSING
    default_text: str = ""
    keyword_only: bool = False

    @staticmethod
    def parse(text: str, keyword_only: bool) -> Argument:
        type, end = Type.scan(text)
        name, equals, default_text = text[end:].removeprefix(" ").partition("=")
        if not name.isidentifier():
            raise SpecError(f"'{text}' is not an argument")
        default = _parse_default(default_text) if equals else MISSING
        return Argument(name, type, default, default_text, keyword_only)

    @property
    def is_write(self) -> bool:
        return self.type.written

    @property
    def required(self) -> bool:
        return self.default is MISSING

    def __str__(self) -> str:
        return f"{self.type} {self.name}" + ("" if self.required else f"={self.default_text}")


def _parse_default(text: str) -> DefaultValue:
    """A default as Python value. Bare words (`contiguous_format`, `Mean`) stay strings; lists become tuples."""
    if re.fullmatch(r"[A-Za-z_]\w*", text) and text not in ("None", "True", "False"):
        return text
    try:
        value = ast.literal_eval(parse_expression(text))
    except (SyntaxError, ValueError) as error:
        raise SpecError(f"'{text}' is not a default value") from error
    return tuple(value) if is_list(value) else value


@dataclass(frozen=True)
class Return:
    """A result of an operator; most have no name."""

    type: Type
    name: str = ""

    @staticmethod
    def parse(text: str) -> Return:
        type, end = Type.scan(text)
        name = text[end:].removeprefix(" ")
        if name and not name.isidentifier():
            raise SpecError(f"'{text}' is not a result")
        return Return(type, name)

    def __str__(self) -> str:
        return f"{self.type} {self.name}".rstrip()


_SIGNATURE = re.compile(
    r"(?P<namespace>\w+)::(?P<name>[\w.]*?\w)(?:\.(?P<overload>\w+))?\((?P<arguments>.*)\) -> (?P<returns>.*)"
)


ANY = "..."
"""What stands for any number of arguments or results."""

NUMBERS_AS_TENSORS = frozenset(
    ["add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide"]
)
"""Operators for whose tensors Python numbers may stand: `should_allow_numbers_as_tensors` of PyTorch's binding, but for
conversions (`to`, `copy`...), which give numbers of numbers."""


@dataclass(frozen=True)
class FunctionSchema:
    """An operator's signature. Arguments are in declaration order, keyword-only ones last."""

    namespace: str
    name: str
    overload: str
    """Empty for the `default` overload."""
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]
    returns_tuple: bool
    """Whether the returns were written in parentheses (`-> ()` returns nothing)."""
    takes_any: bool = False
    """Whether it takes any number of arguments besides (`...`)."""
    returns_any: bool = False
    """Whether it gives any number of results (`-> ...`)."""

    def __post_init__(self):
        order = [argument.keyword_only for argument in self.arguments]
        if order != sorted(order):
            raise SpecError(f"{self.qualified_name}: a positional argument after a keyword-only one")

    @staticmethod
    def parse(text: str) -> FunctionSchema:
        """Parses one schema; raises `SpecError` where it is not one, or where printing would not give it back."""
        match = _SIGNATURE.fullmatch(text)
        if match is None:
            raise SpecError(f"'{text}' is not a function schema")
        arguments: list[Argument] = []
        keyword_only = False
        parts = _split(match["arguments"])
        takes_any = parts[-1:] == [ANY]
        for part in parts[: len(parts) - takes_any]:
            if part == "*":
                keyword_only = True
            else:
                arguments.append(Argument.parse(part, keyword_only))
        returns_text = match["returns"]
        returns_tuple = returns_text.startswith("(")
        parts = _split(returns_text[1:-1]) if returns_tuple else [returns_text]
        returns_any = parts == [ANY]
        schema = FunctionSchema(
            match["namespace"],
            match["name"],
            match["overload"] or "",
            tuple(arguments),
            tuple(Return.parse(part) for part in parts if not returns_any),
            returns_tuple,
            takes_any,
            returns_any,
        )
        if str(schema) != text:
            raise SpecError(f"schema prints as '{schema}', was '{text}'")
        return schema

    @cached_property
    def qualified_name(self) -> str:
        """The name in the IR, `aten.add.Tensor`; the default overload has no suffix."""
        return f"{self.namespace}.{self.name}" + (f".{self.overload}" if self.overload else "")

    @cached_property
    def func(self) -> str:
        """The name as schemas write it, `aten::add.Tensor`."""
        return self.qualified_name.replace(".", "::", 1)

    @cached_property
    def takes_numbers(self) -> bool:
        """Whether Python numbers may stand for its tensors."""
        return self.namespace == "aten" and self.name in NUMBERS_AS_TENSORS

    @cached_property
    def is_mutable(self) -> bool:
        """Whether the operator writes to an argument."""
        return any(argument.is_write for argument in self.arguments)

    @cached_property
    def is_view(self) -> bool:
        """Whether a result shares memory with an argument that is not written to."""
        return any(ret.type.alias is not None and not ret.type.alias.is_write for ret in self.returns)

    def argument(self, name: str) -> Argument:
        for argument in self.arguments:
            if argument.name == name:
                return argument
        raise KeyError(name)

    def __str__(self) -> str:
        parts: list[str] = []
        for argument in self.arguments:
            if argument.keyword_only and "*" not in parts:
                parts.append("*")
            parts.append(str(argument))
        if self.takes_any:
            parts.append(ANY)
        returns = ANY if self.returns_any else ", ".join(str(ret) for ret in self.returns)
        name = self.name + (f".{self.overload}" if self.overload else "")
        result = f"({returns})" if self.returns_tuple else returns
        return f"{self.namespace}::{name}({', '.join(parts)}) -> {result}"


def _split(text: str) -> list[str]:
    """Splits at commas outside brackets and quotes."""
    if not text:
        return []
    parts: list[str] = []
    depth, quote, start = 0, "", 0
    escaped = False
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote and not escaped else quote
            escaped = char == "\\" and not escaped
        elif char in "\"'":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    parts.append(text[start:].strip())
    return parts
