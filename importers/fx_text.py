"""Reads graphs as PyTorch prints them (`print(ep.graph)`); the form is described in `exporters.fx_text`.

The text does not say what values are: the caller gives the types of the inputs, all else is what the operators make of
them. It does not quote strings either, nor say which names are devices, so arguments are read with the operator's
schema in hand. All placeholders are inputs of the user's; what the text calls weights has no data here.

The text may come from anywhere: what is wrong is a LoadError with line and column. Nothing is evaluated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NoReturn, TypeAlias

from xdsl.ir import Attribute

from xdsl_exir.dialects import spec
from xdsl_exir.dialects.dtypes import BY_TORCH_NAME
from xdsl_exir.dialects.expr import Dim, Expr, scan, to_srepr
from xdsl_exir.dialects.schema import Argument, FunctionSchema
from xdsl_exir.dialects.sym_ops import SYM_OPS
from xdsl_exir.dialects.tensors import SymType, TensorMeta, is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError, LoadError, SpecError
from xdsl_exir.exchange import graph as g
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.pt2_schema import LAYOUTS, MEMORY_FORMATS
from xdsl_exir.importers.functionalize import mutation_of
from xdsl_exir.importers.strides import tensor_of
from xdsl_exir.narrowing import is_mapping
from xdsl_exir.program import DEFAULT_METHOD, Program, from_graphs

MAX_BRACKETS = 32
"""Limit to the depth of brackets in an argument."""
MAX_READ_AGAIN = 1 << 16
"""Lines of sub-graphs that are read again, since another node names them too: each may hold two of the one before."""

InputType: TypeAlias = "str | TensorMeta | Attribute | None"
"""The type of an input: text (`float32[2, s0]`, `symint[s0]` of a number), a reading, a type of the IR; or None for an
input that was None at export."""
InputTypes: TypeAlias = "Mapping[str, InputType] | Sequence[InputType]"


def from_fx_text(text: str, types: InputTypes, source: str = "FX text") -> Program:
    """The program that a text says, of one method.

    `types` are the inputs' types, in order or by name (see `InputType`); by name also those of values whose size depends on the data, which
    nothing else tells. Raises `LoadError` for a text that cannot be read, `UnsupportedError` listing every operator
    that is not known, `VerificationError` for a program that breaks the rules.
    """
    graph, names = _read(text, types, source)
    inputs = tuple(
        g.InputSpec("user_input", value.name)
        if isinstance(value, g.Ref)
        else g.InputSpec("constant_input", name, value=None)
        for name, value in zip(names, graph.inputs, strict=True)
    )
    outputs = tuple(g.OutputSpec("user_output", value) for value in graph.outputs)
    args = pytree.TreeSpec("builtins.tuple", None, (pytree.LEAF,) * len(inputs))
    in_spec = pytree.TreeSpec("builtins.tuple", None, (args, pytree.TreeSpec("builtins.dict", ())))
    out_spec = pytree.TreeSpec("builtins.tuple", None, (pytree.LEAF,) * len(outputs))
    signature = g.ModuleCallSignature((), (), pytree.dumps(in_spec), pytree.dumps(out_spec))
    program = g.ExportedGraph(
        graph=graph,
        inputs=inputs,
        outputs=outputs,
        range_constraints={},
        guards_code=(),
        module_calls=(g.ModuleCall("", signature),),
        namedtuple_fields={},
        state={},
        constants={},
        dialect="",
        torch_version="",
        opset={},
        metadata={},
    )
    return from_graphs({DEFAULT_METHOD: program}, source).verify()


# Types


def value_meta(type: str | TensorMeta | Attribute) -> g.ValueMeta:
    """What a value of this type is. Raises `LoadError` for a text that is no type."""
    match type:
        case str():
            return _read_type(type)
        case TensorMeta():
            return tensor_of(type)
        case SymType():
            return _number(f"sym{type.category.name.lower()}", type.data)
        case _ if is_tensor_type(type):
            return tensor_of(tensor_meta(type))
        case _:
            raise LoadError(f"{type} is not the type of an input")


_NUMBERS: dict[str, Literal["int", "float", "bool"]] = {
    "symint": "int",
    "symfloat": "float",
    "symbool": "bool",
}
_TYPE = re.compile(r"(\w+)\[(.*)\]")


def _number(name: str, value: Dim) -> g.SymMeta:
    return g.SymMeta(_NUMBERS[name], g.Symbolic(to_srepr(value)) if isinstance(value, Expr) else value)


def _read_type(text: str) -> g.ValueMeta:
    match = _TYPE.fullmatch(text.strip())
    name, sizes = match.groups() if match is not None else ("", "")
    dims: list[Dim] = []
    position = 0
    try:
        while sizes[position:].strip():
            dim, position = scan(sizes, position)
            dims.append(dim)
            if sizes[position:].strip() and sizes[position] != ",":
                break
            position += 1
    except ExirError as error:
        raise LoadError(f"type {text!r:.100}: {error}") from None
    if name in BY_TORCH_NAME and position >= len(sizes):
        return tensor_of(TensorMeta(tuple(dims), BY_TORCH_NAME[name]))
    if name in _NUMBERS and len(dims) == 1:
        return _number(name, dims[0])
    raise LoadError(f"type {text!r:.100}: expected a dtype, or {', '.join(_NUMBERS)}, then sizes in brackets")


# Lines

_HEADER = re.compile(r"(?:(?P<name>\w+(?:\.\w+)*) = )?graph\(\):\s*")
_NODE = re.compile(
    r"\s*%(?P<name>\w+) : (?:[^\[]* )?\[num_users=\d+\] = (?P<kind>\w+)\[target=(?P<target>[^\]]*)\]"
)
_RETURN = re.compile(r"\s*return ")
_GETITEM = re.compile(
    r"\s*%(\w+) : \[num_users=\d+\] = call_function\[target=operator\.getitem\]\(args = \(%(\w+), (\d{1,6})\), kwargs = \{\}\)"
)


@dataclass(frozen=True)
class _Line:
    """One line of the text."""

    source: str
    number: int
    text: str

    def fail(self, position: int, message: str) -> NoReturn:
        raise LoadError(f"{self.source}:{self.number}:{position + 1}: {message}")


def _read(text: str, types: InputTypes, source: str) -> tuple[g.Graph, list[str]]:
    """The graph of a text and the names of its placeholders."""
    sections: dict[str, list[_Line]] = {}
    lines: list[_Line] | None = None
    for number, content in enumerate(text.splitlines(), 1):
        line = _Line(source, number, content)
        if not content.strip():
            continue
        header = _HEADER.fullmatch(content)
        if header is not None:
            name = header["name"] or ""
            if name in sections:
                line.fail(0, f"a second graph {name!r}")
            lines = sections[name] = []
        elif lines is None:
            line.fail(0, "expected 'graph():'")
        else:
            lines.append(line)
    if "" not in sections:
        raise LoadError(f"{source}:1:1: there is no graph")
    reader = _GraphReader(sections, "", 0)
    heads = [head for line in sections[""] if (head := _NODE.match(line.text)) is not None]
    named = _by_name(types, [head["name"] for head in heads if head["kind"] == "placeholder"], source)
    reader.constants = {name for name, type in named.items() if type is None}
    graph = reader.read(sections[""])
    inputs = tuple(None if name in reader.constants else g.Ref(name) for name in reader.placeholders)
    values = {name: value_meta(type) for name, type in named.items() if type is not None}
    return replace(graph, inputs=inputs, values=values), reader.placeholders


def _by_name(types: InputTypes, placeholders: list[str], source: str) -> Mapping[str, InputType]:
    if is_mapping(types):
        if missing := [name for name in placeholders if name not in types]:
            raise LoadError(f"{source}: no type given for {', '.join(missing)}")
        return types
    if len(types) != len(placeholders):
        raise LoadError(f"{source}: {len(types)} types for {len(placeholders)} placeholders")
    return dict(zip(placeholders, types, strict=True))


@dataclass
class _GraphReader:
    """Reads the lines of one graph. Sub-graphs get a reader of their own."""

    sections: Mapping[str, list[_Line]]
    prefix: str
    """What the names of this graph's sub-graphs begin with in the text."""
    depth: int
    known: Counter[str] = field(default_factory=Counter[str])
    """Lines of the sub-graphs that were read, by name; under the empty one, those that were read again."""
    env: dict[str, g.Value] = field(default_factory=dict[str, g.Value])
    """What each node stands for where it is used."""
    placeholders: list[str] = field(default_factory=list[str])
    items: dict[str, dict[int, str]] = field(default_factory=dict[str, dict[int, str]])
    """The `getitem` nodes of each node, by index."""
    constants: set[str] = field(default_factory=set[str])
    """Placeholders that were None at export."""
    used: set[str] = field(default_factory=set[str])
    """Nodes that others use as they are."""

    def read(self, lines: list[_Line]) -> g.Graph:
        for line in lines:
            self.look_ahead(line)
        nodes: list[g.Node] = []
        for i, line in enumerate(lines):
            if start := _RETURN.match(line.text):
                if i + 1 < len(lines):
                    lines[i + 1].fail(0, "a line after the graph's return")
                outputs, bare = self.outputs(_Arguments(self, line, start.end()))
                inputs = tuple(g.Ref(name) for name in self.placeholders)
                return g.Graph(inputs, tuple(nodes), outputs, {}, bare)
            node = self.line(line)
            if node is not None:
                nodes.append(node)
        raise LoadError(
            f"{lines[-1].source}:{lines[-1].number}:1: the graph does not return" if lines else "empty graph"
        )

    def look_ahead(self, line: _Line) -> None:
        """Notes which results of which node have nodes of their own, and which nodes are used as they are."""
        if item := _GETITEM.fullmatch(line.text):
            self.items.setdefault(item[2], {}).setdefault(int(item[3]), item[1])
        else:
            head = _NODE.match(line.text)
            self.used.update(re.findall(r"\w+", line.text[head.end() if head else 0 :]))

    def line(self, line: _Line) -> g.Node | None:
        """Reads the line of one node; gives the call, if it is one."""
        head = _NODE.match(line.text)
        if head is None:
            line.fail(0, "expected a node, '%name : [num_users=N] = kind[target=...]', or the graph's return")
        name = head["name"]
        if not name.isidentifier():
            line.fail(head.start("name"), f"{name!r:.60} is no name")
        if name in self.env and not _GETITEM.fullmatch(line.text):
            line.fail(head.start("name"), f"a second node {name!r}")
        match head["kind"]:
            case "placeholder":
                self.placeholders.append(name)
                self.env[name] = None if name in self.constants else g.Ref(name)
            case "get_attr":
                self.env[name] = self.subgraph(line, head["target"])
            case "call_function" if head["target"] == "operator.getitem":
                self.getitem(line, name)
            case "call_function":
                return self.call(line, name, head["target"], _Arguments(self, line, head.end()))
            case kind:
                line.fail(head.start("kind"), f"{kind} nodes do not occur in exported programs")
        return None

    def subgraph(self, line: _Line, target: str) -> g.Subgraph:
        path = f"{self.prefix}{target}"
        if path not in self.sections:
            line.fail(0, f"the text does not have the graph of {path!r:.100}")
        if self.depth == g.MAX_NESTING:
            line.fail(0, "graphs nested too deeply")
        lines = self.sections[path]
        if path in self.known:
            self.known[""] += len(lines)
            if self.known[""] > MAX_READ_AGAIN:
                line.fail(0, f"graphs that are used again have more than {MAX_READ_AGAIN} lines")
        self.known[path] = len(lines)
        return g.Subgraph(
            target, _GraphReader(self.sections, f"{path}.", self.depth + 1, self.known).read(lines)
        )

    def getitem(self, line: _Line, name: str) -> None:
        item = _GETITEM.fullmatch(line.text)
        if item is None:
            line.fail(0, "a getitem of something else than a node's result")
        first = self.items[item[2]][int(item[3])]
        if f"({item[2]})" not in self.env:
            line.fail(0, f"nothing defines the results of %{item[2]}")
        self.env[name] = g.Ref(first)

    def call(self, line: _Line, name: str, target: str, arguments: _Arguments) -> g.Node:
        target = g.normal_target(f"_{target}" if target.startswith("operator.") else target)
        schema = spec.specs()[target].schema if target in spec.specs() else None
        known = (
            {argument.name: argument for argument in schema.arguments}
            if schema
            else written_arguments(target)
        )
        names = list(known)
        inputs: list[g.NodeInput] = []
        for i, value in enumerate(arguments.positional(list(known.values()))):
            inputs.append(g.NodeInput(names[i] if i < len(names) else "", value, False))
        inputs += [g.NodeInput(key, value, True) for key, value in arguments.keyword(known)]
        outputs = (g.Ref(name),) if target in SYM_OPS else self.results(name, schema)
        self.env[name] = g.Ref(name)
        self.env[f"({name})"] = None
        location = f'File "{line.source}", line {line.number}, in graph'
        return g.Node(name, target, tuple(inputs), outputs, None, location)

    def results(self, name: str, schema: FunctionSchema | None) -> tuple[g.Result, ...]:
        """The results of a node, under the names of the nodes that read them."""
        items = self.items.get(name, {})
        refs = tuple(g.Ref(items[i]) if i in items else None for i in range(max(items, default=-1) + 1))
        if schema is None:
            return refs or ((g.Ref(name),) if name in self.used else ())
        if len(schema.returns) == 1 and not schema.returns[0].type.is_list:
            return (g.Ref(name),)
        if len(schema.returns) == 1:
            return (refs or (None,),)
        return refs + (None,) * (len(schema.returns) - len(refs))

    def outputs(self, arguments: _Arguments) -> tuple[tuple[g.Value, ...], bool]:
        """What a graph returns, and whether it is a value rather than a tuple."""
        value = arguments.value(bare_names=True)
        arguments.end()
        return (value, False) if isinstance(value, tuple) else ((value,), True)


def written_arguments(target: str) -> dict[str, Argument]:
    """The arguments of an operator that writes to one, by those of its functional variant; none of other operators."""
    if target in SYM_OPS or target.startswith("higher_order."):
        return {}
    try:
        mutation = mutation_of(target)
    except SpecError:
        mutation = None  # an unknown operator, which the builder lists with all others
    if mutation is None:
        return {}
    names = {functional: name for name, functional in mutation.names.items()}
    arguments = spec.find(mutation.functional).schema.arguments
    return {names.get(argument.name, argument.name): argument for argument in arguments}


# Arguments

_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf|nan)(?![\w.])")
_COMPLEX = re.compile(r"\([-+0-9.a-z]{1,60}j\)|[-+0-9.]{1,30}j(?!\w)")
_WORD = re.compile(r"[^\s,()\[\]{}%][^,()\[\]{}]*")
_OPEN = {"(": ")", "[": "]"}
_WORDS: dict[str, g.Value] = {
    "None": None,
    "True": True,
    "False": False,
    **{f"torch.{name}": dtype for name, dtype in BY_TORCH_NAME.items()},
    **{f"torch.{layout.name}": layout for layout in LAYOUTS.values()},
    **{f"torch.{memory.name}": memory for memory in MEMORY_FORMATS.values()},
}
_KWARGS = ", kwargs = {"


@dataclass
class _Arguments:
    """Reads arguments from a place in a line on."""

    graph: _GraphReader
    line: _Line
    position: int

    @property
    def text(self) -> str:
        return self.line.text

    def fail(self, message: str) -> NoReturn:
        self.line.fail(self.position, message)

    def at(self, text: str) -> bool:
        """Whether the text goes on like this."""
        return self.text.startswith(text, self.position)

    def skip(self, text: str) -> bool:
        """Steps over a text, if it is there."""
        found = self.at(text)
        self.position += len(text) * found
        return found

    def expect(self, text: str) -> None:
        if not self.skip(text):
            self.fail(f"expected {text!r}")

    def end(self) -> None:
        if self.text[self.position :].strip():
            self.fail("expected the end of the line")

    def positional(self, schema: Sequence[Argument]) -> list[g.Value]:
        """`(args = (...)`, of an operator with these arguments."""
        self.expect("(args = (")
        values: list[g.Value] = []
        while not self.skip(")"):
            argument = schema[len(values)] if len(values) < len(schema) else None
            values.append(self.argument(argument, f"){_KWARGS}"))
            if not self.skip(", ") and not self.skip(",") and not self.at(")"):
                self.fail("expected ',' or ')'")
        return values

    def keyword(self, schema: Mapping[str, Argument]) -> list[tuple[str, g.Value]]:
        """`, kwargs = {...})` to the end of the line."""
        self.expect(_KWARGS)
        values = self.named(lambda name: self.argument(schema.get(name), "})", schema))
        self.expect(")")
        self.end()
        return list(values.items())

    def named(self, read: Callable[[str], g.Value]) -> dict[str, g.Value]:
        """Values by name, after the bracket that opens them."""
        values: dict[str, g.Value] = {}
        while not self.skip("}"):
            key = re.compile(r"(\w+): ").match(self.text, self.position)
            if key is None or key[1] in values:
                self.fail("expected the name of an argument, each once")
            self.position = key.end()
            values[key[1]] = read(key[1])
            if not self.skip(", ") and not self.at("}"):
                self.fail("expected ',' or '}'")
        return values

    def argument(self, argument: Argument | None, end: str, names: Mapping[str, Argument] = {}) -> g.Value:
        """One argument. A string, which nothing quotes, goes on to `end`, or to the next argument."""
        base = argument.type.base if argument is not None else ""
        if base == "str":
            return self.string(end, names)
        value = self.value()
        return g.Device(value) if base == "Device" and isinstance(value, str) else value

    def string(self, end: str, names: Mapping[str, Argument]) -> str | None:
        stop = self.text.rfind(end)
        if stop < self.position:
            self.fail("a string without end")
        text = self.text[self.position : stop]
        if names:
            following = re.search(rf", (?:{'|'.join(map(re.escape, names))}): ", text)
            text = text[: following.start()] if following else text
        elif ", [" in text or ", (" in text or ", %" in text:
            text = re.split(r", [\[(%]", text)[0]
        else:
            text = text.removesuffix(",")
        self.position += len(text)
        return None if text == "None" else text

    def value(self, bare_names: bool = False, depth: int = 0) -> g.Value:
        """One value. In a return, names stand without '%'."""
        if depth > MAX_BRACKETS:
            self.fail("brackets nested too deeply")
        text, start = self.text, self.position
        if self.skip("%"):
            return self.reference()
        for pattern, make in ((_COMPLEX, complex), (_NUMBER, _to_number)):
            if number := pattern.match(text, start):
                self.position = number.end()
                try:
                    return make(number[0])
                except ValueError as error:
                    self.line.fail(start, str(error))
        if text[start : start + 1] in _OPEN:
            return self.values(_OPEN[text[start]], bare_names, depth)
        if self.skip("{"):
            return self.named(lambda name: self.value(depth=depth + 1))
        word = _WORD.match(text, start)
        if word is None:
            self.fail("expected a value")
        if bare_names and word[0] in self.graph.env:
            return self.reference()
        self.position = word.end()
        if word[0] in _WORDS:
            return _WORDS[word[0]]
        if word[0].startswith("torch.") or bare_names:
            self.line.fail(start, f"{word[0]!r:.60} is no value that is known")
        operator = g.normal_target(word[0])
        return g.OperatorRef(operator) if operator in spec.specs() else word[0]

    def values(self, close: str, bare_names: bool, depth: int) -> tuple[g.Value, ...]:
        self.position += 1
        values: list[g.Value] = []
        while not self.skip(close):
            values.append(self.value(bare_names, depth + 1))
            if not self.skip(", ") and not self.skip(",") and not self.at(close):
                self.fail(f"expected ',' or {close!r}")
        return tuple(values)

    def reference(self) -> g.Value:
        name = re.compile(r"\w+").match(self.text, self.position)
        if name is None or name[0] not in self.graph.env:
            self.fail(f"value {name[0] if name else ''!r} is used before anything defines it")
        self.position = name.end()
        return self.graph.env[name[0]]


def _to_number(text: str) -> int | float:
    if re.fullmatch(r"-?\d+", text) is None:
        return float(text)
    if len(text) > 20 or not -(1 << 63) <= int(text) < 1 << 63:
        raise ValueError("an integer of more than 64 bits")
    return int(text)
