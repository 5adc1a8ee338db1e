"""Reads graphs as TorchScript prints them (`print(scripted.graph)`) into the `torchscript` dialect.

Modules with `GetAttr`, profiled types, blocks, source ranges, scopes and sub-graphs (`with prim::DifferentiableGraph_0 = graph(...)`,
which become regions) are read; the overload of each operator is found by the types of its operands. A tensor constant's text
is kept, its elements are not all in it. `exchange.torchscript_text` prints what was read.

The text may come from anywhere: what is wrong is a LoadError with its line. Nothing is evaluated.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.matching import overload_of
from xdsl_exir.dialects.torchscript.operations import (
    STRUCTURAL,
    FuncOp,
    ReturnOp,
    ScriptOp,
    YieldOp,
    operation,
)
from xdsl_exir.errors import LoadError
from xdsl_exir.importers.torchscript.literals import constant_attribute
from xdsl_exir.importers.torchscript.program import ScriptProgram
from xdsl_exir.limits import LIMITS
from xdsl_exir.narrowing import is_list
from xdsl_exir.syntax import parse_expression


def from_torchscript_text(text: str, name: str = "forward") -> ScriptProgram:
    """The program that a graph's text says: one `torchscript.func`, called `name`.

    Raises `LoadError` for a text that cannot be read, `VerificationError` for a graph that breaks the rules.
    """
    if len(text) > LIMITS.text_bytes:
        raise LoadError(f"TorchScript text: {len(text)} characters; at most {LIMITS.text_bytes} are read")
    try:
        reader = _Reader(text)
        function = reader.program(name)
    except RecursionError:
        raise LoadError("TorchScript text: blocks or types lie too deep in one another") from None
    return ScriptProgram(ModuleOp([function])).verify(reader.places)


_NAME = re.compile(r"%([A-Za-z0-9_.$-]+)")
_KIND = re.compile(r"([A-Za-z_]\w*)::([A-Za-z_]\w*)")
_WORD = re.compile(r"[A-Za-z_][\w.]*")
_DEFAULT = re.compile(r'"(?:[^"\\\\]|\\\\.)*"|[^,()\[\]"]+')
_SPACE = re.compile(r"\s+")
_RANGE = re.compile(r"#\s*(?P<file>[^\n]*?):(?P<line>\d{1,9}):(?P<column>\d{1,9})[ \t]*(?=\n|$)|#[^\n]*")
_SCOPE = re.compile(r",\s*scope:\s*(?P<scope>[^\n#]*?)\s*(?=#|\n|$)")


class _Reader:
    """Reads from a place in the text onwards."""

    def __init__(self, text: str):
        self.text, self.at = text, 0
        self.values: dict[str, SSAValue] = {}
        self.subgraphs: dict[str, tuple[Region, list[Attribute]]] = {}
        self.waiting: list[tuple[ScriptOp, str]] = []
        self.depth = 0
        self.places: dict[Operation, str] = {}
        """The lines of operations."""
        self._counted = (0, 1)

    # characters

    def line(self) -> int:
        """The line that is read."""
        at, line = self._counted
        self._counted = (self.at, line + self.text.count("\n", at, self.at))
        return self._counted[1]

    def error(self, message: str) -> LoadError:
        line = self.text.count("\n", 0, self.at) + 1
        return LoadError(
            f"TorchScript text, line {line}: {message}, at {self.text[self.at : self.at + 40]!r}"
        )

    def skip(self) -> None:
        if (space := _SPACE.match(self.text, self.at)) is not None:
            self.at = space.end()

    def sees(self, word: str) -> bool:
        self.skip()
        return self.text.startswith(word, self.at)

    def take(self, word: str) -> bool:
        """Whether the text goes on with a word, which is then read."""
        if not self.sees(word):
            return False
        self.at += len(word)
        return True

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise self.error(f"expected '{word}'")

    def match(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        self.skip()
        found = pattern.match(self.text, self.at)
        if found is None:
            raise self.error(f"expected {what}")
        self.at = found.end()
        return found

    def listed(self, item: Callable[[], Any], opening: str = "(", closing: str = ")") -> list[Any]:
        """Items in brackets, with commas between them."""
        self.expect(opening)
        found: list[Any] = []
        while not self.take(closing):
            if found:
                self.expect(",")
            found.append(item())
        return found

    # types

    def type(self) -> Attribute:
        """A type: `(Tensor, int)[]?`."""
        self.depth += 1
        if self.depth > LIMITS.nesting:
            raise self.error("types or blocks lie too deep in one another")
        made = self._base_type()
        while True:
            if self.text.startswith("?", self.at):
                self.at += 1
                made = ts.optional(made)
            elif self.text.startswith("[]", self.at):
                self.at += 2
                made = ts.list_of(made)
            else:
                self.depth -= 1
                return made

    def _base_type(self) -> Attribute:
        if self.sees("("):
            return ts.tuple_of(self.listed(self.type))
        start = self.at
        word = self.match(_WORD, "a type")[0]
        start = self.at - len(word) if start != self.at else start
        if word == "Dict" and self.sees("("):
            items = self.listed(self.type)
            if len(items) != 2:
                raise self.error("a dict has keys and items")
            return ts.DictType(items[0], items[1])
        if word in ("Future", "RRef", "Await"):
            brackets = ("(", ")") if self.sees("(") else ("[", "]")
            items = self.listed(self.type, *brackets)
            if len(items) != 1:
                raise self.error("a future has one type")
            made = ts.FutureType(items[0])
            return made if word == "Future" else ts.SpelledType(StringAttr(self.text[start : self.at]), made)
        if word == "Union" and self.sees("["):
            return ts.UnionType(ArrayAttr(self.listed(self.type, "[", "]")))
        if word == "NamedTuple" and self.sees("("):
            items = [type for _, type in self.listed(self._field)]
            return ts.SpelledType(StringAttr(self.text[start : self.at]), ts.tuple_of(items))
        if word in ("Enum", "InterfaceType") and self.take("<"):
            name = self.match(_WORD, "a class")[0]
            self.expect(">")
            return ts.SpelledType(StringAttr(self.text[start : self.at]), ts.class_of(name))
        if self.text.startswith("(", self.at) and word[0].isupper() and "." not in word:
            self._balanced("(", ")")
            return ts.SpelledType(StringAttr(self.text[start : self.at]), ts.TENSOR)
        if "." in word:
            return ts.class_of(word)
        named = {"NoneType": ts.NONE, "number": ts.SCALAR}
        if word == "Function":
            return ts.SpelledType(StringAttr(word), ts.ANY)
        if word in named:
            return named[word]
        if word in ts.PLAIN:
            return ts.PLAIN[word]
        if word in ("Float", "Double", "Half", "Long", "Int", "Short", "Char", "Byte", "Bool", "BFloat16"):
            return ts.SpelledType(StringAttr(word), ts.TENSOR)
        raise self.error(f"'{word}' is no type that is known")

    def _field(self) -> tuple[str, Attribute]:
        name = self.match(_WORD, "a field")[0]
        self.expect(":")
        type = self.type()
        if self.take("="):
            self.match(_DEFAULT, "a default")
        return name, type

    def _balanced(self, opening: str, closing: str) -> str:
        """The text in brackets, whatever it is: quotes and brackets in it are whole."""
        start, depth, quoted = self.at, 0, False
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if quoted:
                self.at += char == "\\"
                quoted = char != '"'
            elif char == '"':
                quoted = True
            else:
                depth += (char == opening) - (char == closing)
                if depth == 0:
                    return self.text[start + 1 : self.at - 1]
        raise self.error(f"'{opening}' without '{closing}'")

    # graphs

    def program(self, name: str) -> FuncOp:
        """The whole text."""
        block, results = self.graph()
        while self.take("with"):
            kind = self.match(_KIND, "a sub-graph's name")[0]
            self.expect("=")
            outer, self.values = self.values, {}
            inner, of = self.graph(YieldOp)
            self.values = outer
            self.subgraphs[kind] = Region(inner), of
        self.skip()
        if self.at < len(self.text):
            raise self.error("expected the end")
        for op, kind in self.waiting:
            if kind not in self.subgraphs:
                raise LoadError(f"TorchScript text: nothing says what {kind} is")
            op.add_region(self.subgraphs[kind][0].clone())
        attributes: dict[str, Attribute] = {"sym_name": StringAttr(name), "results": ArrayAttr(results)}
        return FuncOp([], [], attributes, [Region(block)])

    def graph(self, end: type[ScriptOp] = ReturnOp) -> tuple[Block, list[Attribute]]:
        """`graph(%x : Tensor): ... return (%y)`."""
        self.expect("graph")
        block = Block()
        self.listed(lambda: self.argument(block))
        self.expect(":")
        self.ranges()
        self.operations(block)
        self.expect("return")
        returned = self.listed(self.value)
        self.ranges()
        block.add_op(end(returned))
        return block, [value.type for value in returned]

    def argument(self, block: Block) -> None:
        name = self.match(_NAME, "a value")[1]
        self.expect(":")
        self.define(name, block.insert_arg(self.type(), len(block.args)))

    def define(self, name: str, value: SSAValue) -> None:
        if name in self.values:
            raise self.error(f"%{name} is defined twice")
        value.name_hint = name if SSAValue.is_valid_name(name) and not name[0].isdigit() else None
        self.values[name] = value

    def value(self) -> SSAValue:
        name = self.match(_NAME, "a value")[1]
        if name not in self.values:
            raise self.error(f"nothing is called %{name}")
        return self.values[name]

    def operations(self, block: Block) -> None:
        while not self.sees("return") and not self.sees("->"):
            self.operation(block)

    def operation(self, block: Block) -> None:
        results: list[tuple[str, Attribute]] = []
        self.skip()
        line = self.line()
        while not self.take("="):
            if results:
                self.expect(",")
            name = self.match(_NAME, "a value or '='")[1]
            self.expect(":")
            results.append((name, self.type()))
        found = self.match(_KIND, "an operator")
        attributes = self.attributes() if self.text.startswith("[", self.at) else {}
        operands = self.listed(self.value)
        if (scope := _SCOPE.match(self.text, self.at)) is not None:
            self.at = scope.end()
            attributes["scope"] = scope["scope"]
        location = self.ranges()
        types = [type for _, type in results]
        cls, subgraph = self._class(found, [operand.type for operand in operands], types)
        op = cls(operands, types, self._attributes(cls, types, attributes), [], location)
        self.places[op] = f"TorchScript text, line {line}"
        if subgraph:
            op.attributes["subgraph"] = StringAttr(found[0])
            self.waiting.append((op, found[0]))
        block.add_op(op)
        while (head := re.compile(r"\s*block\d+\(").match(self.text, self.at)) is not None:
            self.at = head.end() - 1
            op.add_region(self.block())
        for (name, _), value in zip(results, op.results, strict=True):
            self.define(name, value)

    def _attributes(
        self, cls: type[ScriptOp], types: list[Attribute], said: Mapping[str, str]
    ) -> dict[str, Attribute]:
        """The attributes of an operation: constants that have one form are values, all else is kept as it is written."""
        from xdsl_exir.exchange.torchscript_text import constant_text

        found: dict[str, Attribute] = {}
        for name, text in said.items():
            if name == "value" and cls.name.endswith("prim.Constant"):
                type = types[0] if types else ts.NONE  # the verifier tells of a constant without a result
                value = _constant(text, ts.unspelled(type))
                attribute = None if value is None else constant_attribute(value, self.error)
                if attribute is not None and constant_text(attribute, type) == text:
                    found["value"] = attribute
                    continue
                found["text"] = StringAttr(text)
            elif name in ("name", "scope"):
                found[name] = StringAttr(text[1:-1] if text.startswith('"') else text)
            else:
                found[f"text_{name}"] = StringAttr(text)
        return found

    def _class(
        self, found: re.Match[str], types: list[Attribute], results: list[Attribute]
    ) -> tuple[type[ScriptOp], bool]:
        """The operation that a name is, and whether it is one of a sub-graph."""
        namespace, word = found[1], found[2]
        if f"{namespace}.{word}" in STRUCTURAL:
            return operation(f"{namespace}.{word}"), False
        schema = overload_of(found[0], types, results)
        if schema is not None:
            return operation(schema.qualified_name), False
        group = re.fullmatch(r"(\w+)_\d+", word)
        if namespace == "prim" and group is not None:
            try:
                return operation(f"prim.{group[1]}"), True
            except KeyError:
                pass
        raise self.error(f"{found[0]}: no overload takes ({', '.join(map(str, types))})")

    def block(self) -> Region:
        self.depth += 1
        if self.depth > LIMITS.nesting:
            raise self.error("types or blocks lie too deep in one another")
        outer, self.values = self.values, dict(self.values)
        block = Block()
        self.listed(lambda: self.argument(block))
        self.expect(":")
        self.operations(block)
        self.expect("->")
        block.add_op(YieldOp(self.listed(self.value)))
        self.values = outer
        self.depth -= 1
        return Region(block)

    def ranges(self) -> FileLineColLoc | None:
        """The line of source that a comment says."""
        at = self.at
        while at < len(self.text) and self.text[at] in " \t":
            at += 1
        comment = _RANGE.match(self.text, at)
        if comment is None:
            return None
        self.at = comment.end()
        if comment["file"] is None:
            return None
        return FileLineColLoc(
            StringAttr(comment["file"]), IntAttr(int(comment["line"])), IntAttr(int(comment["column"]))
        )

    def attributes(self) -> dict[str, str]:
        """`[value=1, name="x"]`, each as its text."""
        text = self._balanced("[", "]")
        found: dict[str, str] = {}
        for part in _split(text):
            name, equals, value = part.partition("=")
            if not equals or not name.strip().isidentifier():
                raise self.error(f"'{part:.40}' is no attribute")
            found[name.strip()] = value
        return found


def _split(text: str) -> list[str]:
    """Splits at commas outside brackets and quotes, where a name and '=' follow."""
    parts, depth, quoted, start, at = list[str](), 0, False, 0, 0
    while at < len(text):
        char = text[at]
        if quoted:
            at += char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in "[{(<":
            depth += 1
        elif char in "]})>":
            depth -= 1
        elif char == "," and depth == 0 and re.match(r", *[A-Za-z_]\w*=", text[at:]):
            parts.append(text[start:at])
            start = at + 1
        at += 1
    return [*parts, text[start:]]


def _constant(text: str, type: Attribute) -> Any:
    """The constant that a text is; None where it is none that is known."""
    if type == ts.BOOL and text in ("0", "1"):
        return text == "1"
    try:
        value: Any = ast.literal_eval(parse_expression(text.strip()))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if type == ts.FLOAT and isinstance(value, int | float):
        return float(value)
    return value if isinstance(value, int | str) or is_list(value) else None
