"""Reads MLIR text as xDSL does, from anywhere and in linear time.

xDSL's parser trusts its input: it recurses where texts nest, expands what they abbreviate, and takes long over long words.
So a text is scanned once before it is parsed (`check_text`), for what can be seen word by word; `TextParser` looks after
the rest. It is also about twice as fast: one regular expression finds each word, the type of tensors that is written a
thousand times is read once, and lists of numbers are read whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    RankedStructure,
    i64,
)
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.ir.affine import AffineBinaryOpExpr, AffineExpr, AffineMap, AffineSet
from xdsl.parser import AttrParser, Parser
from xdsl.utils.hints import isa
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRLexer, MLIRToken, MLIRTokenKind

from xdsl_exir.errors import LoadError
from xdsl_exir.limits import LIMITS

if TYPE_CHECKING:
    from xdsl.context import Context

T = TypeVar("T", bound=TypeAttribute)

# --- before parsing ------------------------------------------------------------------------------------------

_SCANNED = re.compile(
    r'//[^\n]*|"(?>(?:[^"\\\n\v\f]+|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*)"|->|[<>]='
    rf"|(?P<rank>(?:(?:[0-9]{{1,20}}|\?)x){{{LIMITS.rank + 1}}})"
    r'|(?P<word>[#!%^][\w.$-]+|@?[\w.$]+)|(?P<broken>")'
    r"|(?P<open>[\[({])|(?P<close>[\])}])|(?P<less><)|(?P<greater>>)|\n"
)
"""Comments, strings, dimensions, names and numbers, the beginnings of what would be a string but for its end or an escape in
it, brackets, and ends of lines."""


@dataclass
class _Scan:
    """One pass over a text: how deep it nests, how long its words are."""

    path: str
    text: str
    depth: int = 0
    angles: int = 0
    """`<` that stand open on this line. A `<` may be a comparison, too, which nothing closes."""
    outermost: int = 0
    """Where the first of them is, with the word before it."""
    last: tuple[int, int] = 0, 0
    """The last word."""

    def fail(self, position: int, what: str) -> NoReturn:
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        raise LoadError(f"{self.path}:{line}:{column}: {what}")

    def run(self) -> None:
        for found in _SCANNED.finditer(self.text):
            kind = found.lastgroup
            if kind is not None:
                getattr(self, kind)(found)
            elif found[0] == "\n":
                self.angles = 0

    def word(self, found: re.Match[str]) -> None:
        self.last = found.span()
        if found.end() - found.start() > LIMITS.word:
            self.fail(found.start(), f"a name or number of more than {LIMITS.word} characters")

    def rank(self, found: re.Match[str]) -> None:
        self.fail(found.start(), f"more than {LIMITS.rank} dimensions")

    def broken(self, found: re.Match[str]) -> None:
        self.fail(found.start(), "a string that does not end on its line, or has an unknown escape")

    def open(self, found: re.Match[str]) -> None:
        self.depth += 1
        self.check_depth(found.start())

    def close(self, found: re.Match[str]) -> None:
        self.depth = max(self.depth - 1, 0)

    def less(self, found: re.Match[str]) -> None:
        if not self.angles:
            self.outermost = self.last[0] if self.last[1] == found.start() else found.start()
        self.angles += 1
        self.check_depth(self.outermost)

    def greater(self, found: re.Match[str]) -> None:
        self.angles = max(self.angles - 1, 0)

    def check_depth(self, position: int) -> None:
        if self.depth + self.angles > LIMITS.nesting:
            self.fail(position, f"brackets are nested more than {LIMITS.nesting} deep")


def check_text(path: str, text: str) -> None:
    """Raises `LoadError`, with line and column, for what xDSL's parser does not survive: strings that do not end as they
    should, over which its lexer takes for ever, and what is beyond the limits of nesting, words and rank."""
    _Scan(path, text).run()


# --- parsing -------------------------------------------------------------------------------------------------

_WORDS = {
    "bare": MLIRTokenKind.BARE_IDENT,
    "at": MLIRTokenKind.AT_IDENT,
    "float": MLIRTokenKind.FLOAT_LIT,
    "int": MLIRTokenKind.INTEGER_LIT,
}
_SIGILS = {
    "#": MLIRTokenKind.HASH_IDENT,
    "!": MLIRTokenKind.EXCLAMATION_IDENT,
    "^": MLIRTokenKind.CARET_IDENT,
    "%": MLIRTokenKind.PERCENT_IDENT,
}
_SUFFIX = "[a-zA-Z0-9_$.]*"
_TOKEN = re.compile(
    r"(?>(?:[ \t\n\r\f\v]+|//[^\n]*)*)"
    rf"(?:(?P<bare>[a-zA-Z_]{_SUFFIX})|(?P<sigil>(?!#-\}})[#!^%](?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))"
    r"|(?P<punctuation>->|[:,()}\[\]<>=+/*?|-]|\{(?!-#))"
    r"|(?P<float>[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?)|(?P<int>0x[0-9a-fA-F]+|[0-9]+)"
    rf"|(?P<at>@[a-zA-Z_]{_SUFFIX}))"
)
"""The words of MLIR but for strings, with what stands before them."""


class TextLexer(MLIRLexer):
    """xDSL's lexer, whose words one regular expression finds."""

    def lex(self) -> MLIRToken:
        found = _TOKEN.match(self.input.content, self.pos)
        if found is None or (name := found.lastgroup) is None:
            return super().lex()
        start, self.pos = found.span(name)
        if name == "punctuation":
            kind = KIND_BY_PUNCTUATION_SPELLING[found[name]]
        else:
            kind = _SIGILS[found[name][0]] if name == "sigil" else _WORDS[name]
        return Token(kind, Span(start, self.pos, self.input))


_TYPE = r"tensor<(?>(?:(?:[0-9]+|\?)x)*)[a-z][a-zA-Z0-9]*(?:, #exir\.shape<[^<>\"]*>)?>"
_TENSOR = re.compile(_TYPE)
_TYPES = rf"\((?:{_TYPE}(?:, {_TYPE})*+)?\)"
_FUNCTION = re.compile(rf"{_TYPES} -> (?:{_TYPES}|{_TYPE})")
_NUMBERS = re.compile(r":((?:\s*-?[0-9]+\s*,)*\s*-?[0-9]+\s*)>")
_INTEGERS = re.compile(r"\[((?:\s*-?[0-9]+\s*,)*+\s*-?[0-9]+\s*)\]")
_NUMBER = re.compile(r"-?[0-9]++(?P<fraction>\.[0-9]*+(?:[eE][+-]?[0-9]++)?)?")
_ROW = re.compile(rf"\[(?:\s*{_NUMBER.pattern.replace('?P<fraction>', '?:')}\s*,)*+\s*{_NUMBER.pattern}\s*\]")


class Aliases(dict[str, Attribute]):
    """Attributes by alias. Each may hold others twice and more: those that are used, expanded, have to fit the limits."""

    def __init__(self, fail: Callable[[str], NoReturn]):
        super().__init__()
        self.fail = fail
        self.costs: dict[str, tuple[int, int]] = {}
        """Characters and depth of brackets that an alias stands for."""
        self.expanded = self.deepest = 0
        """Of those used so far, and since the last definition."""

    def __getitem__(self, name: str) -> Attribute:
        size, depth = self.costs[name]
        self.expanded += size
        self.deepest = max(self.deepest, depth)
        if self.expanded > LIMITS.aliases:
            self.fail(f"aliases expand to more than {LIMITS.aliases} characters")
        return super().__getitem__(name)

    def define(self, name: str, text: str, expanded: int) -> None:
        """Notes what a new alias costs. `expanded` were the characters of aliases used before it."""
        open = depth = 0
        for bracket in re.findall(r"[\[({<]|[\])}>]", text):
            open += 1 if bracket in "[({<" else -1
            depth = max(depth, open)
        depth += self.deepest
        if depth > LIMITS.nesting:
            self.fail(f"aliases nest brackets more than {LIMITS.nesting} deep")
        self.costs[name] = len(text) + self.expanded - expanded, depth
        self.deepest = 0


class Bits(int):
    """A number that is written as `0x7F800000`: of a float, its bits."""

    def as_float(self, parser: AttrParser, type: AnyFloat) -> float:
        """The float of a type."""
        if self.bit_length() > 8 * type.compile_time_size:
            parser.raise_error(f"{self:#x} has more bits than {type}")
        return next(type.iter_unpack(self.to_bytes(type.compile_time_size, "little")))


class Element(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """An element of a dense literal. (xDSL's takes the bits of floats for numbers.)"""

    def to_type(self, parser: AttrParser, type: Any) -> Any:
        of = type.element_type if isa(type, ComplexType) else type
        if isinstance(of, AnyFloat):
            given = self.value if isinstance(self.value, tuple) else (self.value,)
            read = tuple(
                each.as_float(parser, of) if isinstance(each, Bits) else float(each) for each in given
            )
            self.value = (read[0], read[-1]) if isinstance(self.value, tuple) else read[0]
        return super().to_type(parser, type)


class TextParser(Parser):
    """xDSL's parser, for texts that `check_text` lets pass."""

    def __init__(self, ctx: Context, text: str, name: str):
        super().__init__(ctx, "", name)
        self._parser_state.lexer = TextLexer(Input(text, name))
        self.aliases = self.attribute_aliases = Aliases(self.raise_error)
        self.types: dict[str, TypeAttribute] = {}
        """Types of tensors, and of functions of tensors, by their text."""

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        self._resume_from(0)
        return super().parse_module(allow_implicit_module)

    def _parse_alias_def(self) -> None:
        start, name, expanded = self.pos, self._current_token.text, self.aliases.expanded
        super()._parse_alias_def()
        self.aliases.define(name, self.lexer.input.content[start : self.pos], expanded)

    def parse_optional_type(self) -> TypeAttribute | None:
        return self._read_once(_TENSOR, super().parse_optional_type)

    def parse_optional_function_type(self) -> FunctionType | None:
        return self._read_once(_FUNCTION, super().parse_optional_function_type)

    def _read_once(self, pattern: re.Pattern[str], parse: Callable[[], T | None]) -> T | None:
        """What `parse` gives; where a text of this pattern was read before, what it was then."""
        found = pattern.match(self.lexer.input.content, self.pos)
        if found is None:
            return parse()
        if (known := self.types.get(found[0])) is not None:
            self._resume_from(found.end())
            return cast("T", known)
        type = parse()
        if type is not None:
            self.types[found[0]] = type
        return type

    def _parse_optional_bool_int_or_float(self) -> Any:
        is_of_bits = self._current_token.text[:2] in ("0x", "0X")
        found = super()._parse_optional_bool_int_or_float()
        return (Bits(found[0]), found[1]) if found is not None and is_of_bits else found

    def _parse_optional_complex(self) -> Any:
        """`(1.0, 0x7F800000)`, of which xDSL wants numbers of one kind."""
        start = self.pos
        if not self._current_token.text.startswith("("):
            return None
        parts = self.parse_comma_separated_list(self.Delimiter.PAREN, self._parse_bool_int_or_float)
        values = tuple(value for value, _ in parts)
        kinds = {type(value) for value in values} - {Bits}
        if len(values) != 2 or len(kinds) > 1:
            self.raise_error("a complex number is two of one kind", start)
        return values, Span(start, self.pos, self.lexer.input)

    def _parse_tensor_literal_element(self) -> Element:
        element = super()._parse_tensor_literal_element()
        return Element(element.is_negative, element.value, element.span)

    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        """`array<i64: 1, 2>`, behind its first word."""
        start = self.pos
        self.parse_characters("<", " in dense array")
        type = self.parse_attribute()
        # What is not a list of integers, or ends in the wrong place, is xDSL's.
        found = _NUMBERS.match(self.lexer.input.content, self.pos)
        if found is None or not isa(type, IntegerType):
            self._resume_from(start)
            return super()._parse_builtin_densearray_attr()
        values = list(map(int, found[1].split(",")))
        type.verify_value(min(values))
        type.verify_value(max(values))
        self._resume_from(found.end())
        return DenseArrayBase.from_list(type, values)

    def _parse_optional_array_attr(self) -> ArrayAttr | None:
        found = _INTEGERS.match(self.lexer.input.content, self.pos)
        if found is None:
            return super()._parse_optional_array_attr()
        attr = ArrayAttr([IntegerAttr(int(value), i64) for value in found[1].split(",")])
        self._resume_from(found.end())
        return attr

    def _parse_tensor_literal(self) -> tuple[list[AttrParser._TensorLiteralElement], list[int]]:
        input = self.lexer.input
        found = _ROW.match(input.content, self.pos)
        if found is None:
            return super()._parse_tensor_literal()
        elements: list[AttrParser._TensorLiteralElement] = []
        for number in _NUMBER.finditer(input.content, *found.span()):
            value = int(number[0]) if number["fraction"] is None else float(number[0])
            elements.append(self._TensorLiteralElement(value < 0, value, Span(*number.span(), input)))
        self._resume_from(found.end())
        return elements, [len(elements)]

    def _parse_dense_literal_type(self) -> RankedStructure[Any]:
        return self.bounded(super()._parse_dense_literal_type())

    def parse_dense_int_or_fp_elements_attr(self, type: RankedStructure[Any] | None) -> Any:
        return super().parse_dense_int_or_fp_elements_attr(type and self.bounded(type))

    def bounded(self, type: RankedStructure[Any]) -> RankedStructure[Any]:
        """A type, if the literal for it, which may well be one number, does not have too many elements."""
        elements = prod(type.get_shape())
        if elements > LIMITS.splat:
            self.raise_error(f"a dense literal of {elements} elements; at most {LIMITS.splat} are read")
        return type

    def parse_affine_map(self) -> AffineMap:
        start, read = self.pos, super().parse_affine_map()
        self.check_expressions(start, read.results)
        return read

    def parse_affine_set(self) -> AffineSet:
        start, read = self.pos, super().parse_affine_set()
        self.check_expressions(start, [side for one in read.constraints for side in (one.lhs, one.rhs)])
        return read

    def parse_affine_map_of_ssa_ids(self) -> tuple[AffineMap, Sequence[SSAValue[Any]]]:
        start = self.pos
        read, operands = super().parse_affine_map_of_ssa_ids()
        self.check_expressions(start, read.results)
        return read, operands

    def check_expressions(self, start: int, expressions: Sequence[AffineExpr]) -> None:
        """Raises an error where expressions nest too deep: xDSL's are printed and compared recursively."""
        level = list(expressions)
        for _ in range(LIMITS.nesting):
            level = [
                side for one in level if isinstance(one, AffineBinaryOpExpr) for side in (one.lhs, one.rhs)
            ]
            if not level:
                return
        self.raise_error(f"an affine expression is nested more than {LIMITS.nesting} deep", start, self.pos)

    @property
    def place(self) -> str:
        """`model.mlir:3:12` of the next word."""
        return str(self._current_token.span.get_location())
