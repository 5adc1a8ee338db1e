"""What methods say of their arguments and results: the graph signature, ranges, guards; and where operations come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
)
from xdsl.ir import Attribute, Block, Data, Operation, SSAValue
from xdsl.irdl import (
    irdl_attr_definition,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from xdsl_exir.dialects.expr import Dim, Expr, apply, provably
from xdsl_exir.dialects.tensors import SymBoolType, check_dim_order, parse_dim_order, parse_string


class InputKind(Enum):
    """What an argument of a method is (torch.export's InputKind)."""

    USER_INPUT = "user_input"
    PARAMETER = "parameter"
    BUFFER = "buffer"
    CONSTANT_TENSOR = "constant_tensor"
    CUSTOM_OBJ = "custom_obj"
    TOKEN = "token"


class OutputKind(Enum):
    """What a result of a method is (torch.export's OutputKind)."""

    USER_OUTPUT = "user_output"
    LOSS_OUTPUT = "loss_output"
    BUFFER_MUTATION = "buffer_mutation"
    PARAMETER_MUTATION = "parameter_mutation"
    GRADIENT_TO_PARAMETER = "gradient_to_parameter"
    GRADIENT_TO_USER_INPUT = "gradient_to_user_input"
    USER_INPUT_MUTATION = "user_input_mutation"
    TOKEN = "token"


MUTATIONS = {
    OutputKind.BUFFER_MUTATION: InputKind.BUFFER,
    OutputKind.PARAMETER_MUTATION: InputKind.PARAMETER,
    OutputKind.USER_INPUT_MUTATION: InputKind.USER_INPUT,
}
"""Output kinds that write back to an input, and the kind of that input."""


@dataclass(frozen=True)
class InputSpec:
    """One argument's part in the signature. `target` is the fully qualified name of the state it is bound to."""

    kind: InputKind
    target: str = ""
    persistent: bool = True
    dim_order: tuple[int, ...] | None = None
    """Of a user's input: its dimensions from outermost to innermost in memory, as it was exported; None is row-major."""


@dataclass(frozen=True)
class OutputSpec:
    """One result's part in the signature. `target` names the state or input it is written to."""

    kind: OutputKind
    target: str = ""
    dim_order: tuple[int, ...] | None = None
    """Of a user's output: its dimensions from outermost to innermost in memory, as it is returned; None is row-major."""


def written_inputs(inputs: Sequence[InputSpec], outputs: Sequence[OutputSpec]) -> list[int | None]:
    """By result, the position of the argument that it is the new value of. A buffer may be called what a user input is."""
    places = {(spec.kind is InputKind.USER_INPUT, spec.target): at for at, spec in enumerate(inputs)}
    kinds = [MUTATIONS.get(spec.kind) for spec in outputs]
    return [
        None if kind is None else places[kind is InputKind.USER_INPUT, spec.target]
        for spec, kind in zip(outputs, kinds, strict=True)
    ]


@irdl_attr_definition
class InputAttr(Data[InputSpec]):
    """`#exir.input<parameter, "fc.weight">`; a non-persistent buffer says `#exir.input<buffer, "mask", transient>`, an
    image whose channels are innermost `#exir.input<user_input, "x", dim_order = [0, 2, 3, 1]>`.
    """

    name = "exir.input"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> InputSpec:
        with parser.in_angle_brackets():
            kind = InputKind(parser.parse_keyword_in([kind.value for kind in InputKind]))
            target, persistent, order = "", True, None
            if parser.parse_optional_punctuation(","):
                target = parse_string(parser)
            if parser.parse_optional_punctuation(","):
                if parser.parse_keyword_in(("transient", "dim_order")) == "transient":
                    persistent = False
                else:
                    order = parse_dim_order(parser)
        return InputSpec(kind, target, persistent, order)

    def print_parameter(self, printer: Printer) -> None:
        spec = self.data
        with printer.in_angle_brackets():
            printer.print_string(spec.kind.value)
            if spec.target or not spec.persistent or spec.dim_order is not None:
                printer.print_string(", ")
                printer.print_string_literal(spec.target)
            if not spec.persistent:
                printer.print_string(", transient")
            elif spec.dim_order is not None:
                printer.print_string(f", dim_order = {list(spec.dim_order)}")

    def verify(self) -> None:
        check_dim_order(self.data.dim_order)


@irdl_attr_definition
class OutputAttr(Data[OutputSpec]):
    """`#exir.output<user_output>`, `#exir.output<buffer_mutation, "bn.running_mean">`."""

    name = "exir.output"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> OutputSpec:
        with parser.in_angle_brackets():
            kind = OutputKind(parser.parse_keyword_in([kind.value for kind in OutputKind]))
            target, order = "", None
            while parser.parse_optional_punctuation(","):
                if parser.parse_optional_keyword("dim_order"):
                    order = parse_dim_order(parser)
                else:
                    target = parse_string(parser)
        return OutputSpec(kind, target, order)

    def print_parameter(self, printer: Printer) -> None:
        spec = self.data
        with printer.in_angle_brackets():
            printer.print_string(spec.kind.value)
            if spec.target:
                printer.print_string(", ")
                printer.print_string_literal(spec.target)
            if spec.dim_order is not None:
                printer.print_string(f", dim_order = {list(spec.dim_order)}")

    def verify(self) -> None:
        check_dim_order(self.data.dim_order)


@dataclass(frozen=True)
class Origin:
    """Where an operation came from: the FX node, its operator, and the path of the module that called it."""

    node: str
    operator: str
    module: str = ""
    """With the number of each call that is not a module's first: `layers.0@1.ff@3`."""

    def calls(self) -> dict[str, str]:
        """The modules around the operation by path, outermost first, with the names of their calls: `layers.0.ff@3`."""
        found, path = dict[str, str](), ""
        for part in self.module.split(".") if self.module else ():
            name, _, number = part.partition("@")
            path = f"{path}.{name}" if path else name
            found[path] = f"{path}@{number}" if number else path
        return found


@irdl_attr_definition
class OriginAttr(Data[Origin]):
    """`#exir.origin<"linear_3", "aten.linear", "layers.0.ff">`: kept through every rewrite."""

    name = "exir.origin"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Origin:
        with parser.in_angle_brackets():
            parts = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_string(parser))
        if len(parts) != 3:
            parser.raise_error("an origin is a node, an operator and a module path")
        return Origin(*parts)

    def print_parameter(self, printer: Printer) -> None:
        origin = self.data
        with printer.in_angle_brackets():
            printer.print_list((origin.node, origin.operator, origin.module), printer.print_string_literal)


def ranges_of(function: Operation) -> dict[str, tuple[int | None, int | None]]:
    """What each symbol of a function may be, both ends included; None is no bound."""
    return {str(dim): bounds for dim, bounds in _ranges(function).items() if dim.head == "symbol"}


def ranges_around(value: SSAValue) -> dict[str, tuple[int | None, int | None]]:
    """The same of the function in which a value is."""
    owner = value.owner
    around = owner.parent_op() if isinstance(owner, Block) else owner
    while around is not None and RANGES not in around.attributes:
        around = around.parent_op()
    return {} if around is None else ranges_of(around)


def derived_ranges_of(function: Operation) -> dict[Expr, tuple[int | None, int | None]]:
    """What sizes may be that are made of a function's symbols (`2 * s0`), where that was said of them."""
    return {dim: bounds for dim, bounds in _ranges(function).items() if dim.head != "symbol"}


def _ranges(function: Operation) -> dict[Expr, tuple[int | None, int | None]]:
    ranges = function.attributes.get(RANGES)
    held = ranges.data if isinstance(ranges, DictionaryAttr) else dict[str, Attribute]()
    said = {Expr.parse(name): attr.data for name, attr in held.items() if isinstance(attr, RangeAttr)}
    return {dim: bounds for dim, bounds in said.items() if isinstance(dim, Expr)}


UNSAID = 2
"""The lower end that PyTorch writes of a size of which nobody said one (`Dim.AUTO`, `Dim.DYNAMIC(max=8)`). It runs such
programs at 0 and 1 too, whoever said the 2: that a size is neither was assumed only to trace them."""


def checked_ranges_of(function: Operation) -> dict[str, tuple[int | None, int | None]]:
    """What each symbol is when a function runs: a size of which nobody said the lower end may be any."""
    return {name: checked_range(said) for name, said in ranges_of(function).items()}


def checked_range(said: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    """What a symbol is when a function runs, of which this was said."""
    low, high = said
    return 0 if low == UNSAID else low, high


def guards_of(function: Operation) -> list[Dim]:
    """Conditions on the symbols of a function beyond their ranges."""
    guards = function.attributes.get(GUARDS)
    if not isa(guards, ArrayAttr[Attribute]):
        return []
    return [guard.data for guard in guards if isinstance(guard, SymBoolType)]


_BOUNDS = {"ge": (0, None), "gt": (1, None), "le": (None, 0), "lt": (None, -1)}
"""What a comparison with a number makes the ends of a range: the number plus so much."""


def held_ranges_of(function: Operation) -> dict[str, tuple[int | None, int | None]]:
    """What each symbol of its arguments is when a function runs: its guards hold, of which some compare a symbol with a number. (Of what depends on
    data assertions say it, where it is computed.)"""
    checked = checked_ranges_of(function).items()
    ranges = {name: said for name, said in checked if not Expr.symbol(name).is_unbacked}
    for guard in guards_of(function):
        if not isinstance(guard, Expr) or guard.head not in _BOUNDS:
            continue
        size, end = guard.args
        if size.head == "symbol" and isinstance(end.value, int):
            said = [None if more is None else end.value + more for more in _BOUNDS[guard.head]]
            low, high = ranges.get(size.text, (None, None))
            ranges[size.text] = _tighter(max, low, said[0]), _tighter(min, high, said[1])
    return ranges


def _tighter(pick: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else pick(a, b)


def conditions_of(function: Operation) -> list[Dim]:
    """Conditions on the symbols of a function beyond the ranges of each: its guards, and the ranges of what is made of them."""
    ranges = checked_ranges_of(function)
    ends = [
        condition
        for size, said in derived_ranges_of(function).items()
        for head, bound in zip(("ge", "le"), checked_range(said), strict=True)
        if bound is not None and provably(condition := apply(head, size, bound), ranges) is not True
    ]
    return [*guards_of(function), *ends]


@irdl_attr_definition
class RangeAttr(Data[tuple[int | None, int | None]]):
    """`#exir.range<2, 1024>`: what a symbol may be, both ends included; `inf` for no bound."""

    name = "exir.range"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int | None, int | None]:
        def bound() -> int | None:
            negative = parser.parse_optional_punctuation("-") is not None
            if parser.parse_optional_keyword("inf"):
                return None
            value = parser.parse_integer(allow_negative=False)
            return -value if negative else value

        with parser.in_angle_brackets():
            low = bound()
            parser.parse_punctuation(",")
            return low, bound()

    def print_parameter(self, printer: Printer) -> None:
        low, high = self.data
        with printer.in_angle_brackets():
            printer.print_string(f"{'-inf' if low is None else low}, {'inf' if high is None else high}")


SIGNATURE = "exir.signature"
"""Of a function below edge: its declaration at edge, as text, which says how it is called."""
PLAN = "exir.plan"
"""Of a driver over memrefs: how its method is called (`lowering.method_plans`)."""
ARENA_BYTES = "exir.arena_bytes"
"""Of a driver whose memory is planned: how many bytes the arena has."""
POOLS = "exir.pools"
"""Of such a driver: the other memory spaces that it has arenas in (`lowering.pools`)."""
EXPANDED = "exir.expanded"
"""Of a dispatch that is a kernel's code: the kernel's description."""
INPUT, OUTPUT, RANGES, ORIGIN = "exir.input", "exir.output", "exir.ranges", "exir.origin"
GUARDS = "exir.guards"
"""Names of the discardable attributes that carry the above."""
RECOMPUTED = "exir.recomputed"
"""Of an operation that computes again what another one did, to be apart from it: passes that merge what is equal leave it."""
STRAIGHT = "exir.straight_through"
"""Of a copy over another value: its gradient is that other value's, as it is. So are writes that autograd does not see."""
INHERITED = (ORIGIN, RECOMPUTED)
"""What operations hand to those that descend from them."""
