"""Which dtypes an operator takes, and which it gives: the language of dtype rules in `spec/`.

Every operator has one `DtypeRule`: rows of a table, each giving dtypes to operands and results through type variables
(the same variable is the same dtype wherever it stands in a row). Most operators name a rule (`promote`, `same`,
`int_to_float`...) that expands to rows; irregular ones write the rows out.

One table, two readings. In `edge` the operands must match a row as they are. In `aten`, operands of a rule that
promotes may differ: their promotion must match a row.

An entry of the short form, `{rule, types, ...}`, has these keys:

    rule: promote               how results follow from operands: one of NAMED_RULES
    types: Real                 dtypes that the operator computes in: names of dtypes and DTYPE_SETS; All if left out
    operands: NotBool           dtypes that operands that promote must have to begin with; any if left out
    index: [Int, Long]          an argument (or several) with dtypes of its own, apart from the rule
    alpha: Alpha                a number whose category is bound by the computation's: one of NUMBER_RULES
    dtype: Floating             what a `dtype` argument may be, where that is not `types`
    __ret_1: Long               the dtype of one result, or what of the rule's dtype (RETURN_RULES) it is
    before: [{self: t, end: t}] rows, one of which dtypes must fit before they promote; a lower-case name is any dtype
    when: [{train: False, ...}] other entries for one value of a flag

A flag is an argument of type `bool` or `str`, or the rank of a tensor: `bias.dim` is 0 for a 0-dim one, None where
it is absent, n else.

Numbers that do not take part in promotion may be complex only where the computation is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, TypeAlias

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.schema import Argument, FunctionSchema
from xdsl_exir.errors import ExirError, SpecError


class DtypeError(ExirError):
    """Operand dtypes that an operator does not take."""


# --- promotion -----------------------------------------------------------------------------------------------

DEFAULT_DTYPE = dt.Float
"""torch.get_default_dtype() as it is when a program is exported."""

NUMBER_DTYPE = {
    Category.BOOL: dt.Bool,
    Category.INT: dt.Long,
    Category.FLOAT: DEFAULT_DTYPE,
    Category.COMPLEX: dt.ComplexFloat,
}
"""The dtype a Python number promotes as."""


@dataclass(frozen=True)
class Operand:
    """What type promotion sees of an operand."""

    dtype: DType
    tier: int
    """2 for a tensor with dimensions, 1 for a 0-dim tensor, 0 for a Python number."""


_WIDE_UNSIGNED = (dt.UInt16, dt.UInt32, dt.UInt64)


@cache
def promote_types(a: DType, b: DType) -> DType:
    """The smallest dtype both convert to: the lattice of `torch.promote_types`.

    Raises `DtypeError` where PyTorch has none (eight-bit floats with anything else; unsigned integers wider than
    eight bits with anything but floats).
    """
    if a is b:
        return a
    low, high = sorted((a, b), key=lambda dtype: (dtype.category, dtype.bits))
    if not _convertible(low, high):
        raise DtypeError(f"no common dtype of {a} and {b}")
    if {low, high} == {dt.Byte, dt.Char}:
        return dt.Short
    if {low, high} == {dt.Half, dt.BFloat16}:
        return dt.Float
    if high is dt.ComplexFloat and low is dt.Double:
        return dt.ComplexDouble
    return high


def _convertible(low: DType, high: DType) -> bool:
    if any(dtype.category is Category.FLOAT and dtype.bits == 8 for dtype in (low, high)):
        return False
    return not (low in _WIDE_UNSIGNED or high in _WIDE_UNSIGNED) or high.category is Category.FLOAT


def _combine(higher: DType | None, lower: DType | None) -> DType | None:
    """A higher tier decides, unless the lower one is of a higher category (ATen/native/TypeProperties.cpp)."""
    if higher is None or lower is None:
        return higher or lower
    if lower.category is Category.COMPLEX and higher.category is Category.FLOAT:
        if higher not in _COMPLEX_OF:
            raise DtypeError(f"no complex dtype of the precision of {higher}")
        return _COMPLEX_OF[higher]
    if lower.category is Category.COMPLEX and higher.category <= Category.INT:
        return lower
    return promote_types(higher, lower) if lower.category > higher.category else higher


_COMPLEX_OF = {dt.BFloat16: dt.ComplexFloat, dt.Float: dt.ComplexFloat, dt.Double: dt.ComplexDouble}
"""What a float and a complex number of a lower tier compute in (float16 would in complex32, which the IR lacks)."""


@cache
def result_type(operands: tuple[Operand, ...]) -> DType:
    """The computation dtype of operands that promote, as `torch.result_type` has it. Raises `DtypeError` if there are none."""
    tiers: list[DType | None] = [None, None, None]
    for operand in operands:
        held = tiers[operand.tier]
        tiers[operand.tier] = operand.dtype if held is None else promote_types(held, operand.dtype)
    number, zero_dim, dimensioned = tiers
    result = _combine(dimensioned, _combine(zero_dim, number))
    if result is None:
        raise DtypeError("a number where a tensor belongs: nothing says in which dtype to compute")
    return result


# --- rows ----------------------------------------------------------------------------------------------------

DTYPE_SETS: dict[str, tuple[DType, ...]] = {
    "Integral": (dt.Byte, dt.Char, dt.Short, dt.Int, dt.Long),
    "Floating": (dt.Half, dt.BFloat16, dt.Float, dt.Double),
    "Complex": (dt.ComplexFloat, dt.ComplexDouble),
    "Index": (dt.Int, dt.Long),
}
"""Names that specs may use for sets of dtypes, besides the dtypes' own."""
DTYPE_SETS["IntegralBool"] = (dt.Bool, *DTYPE_SETS["Integral"])
DTYPE_SETS["Real"] = (*DTYPE_SETS["Integral"], *DTYPE_SETS["Floating"])
DTYPE_SETS["RealBool"] = (dt.Bool, *DTYPE_SETS["Real"])
DTYPE_SETS["FloatingComplex"] = (*DTYPE_SETS["Floating"], *DTYPE_SETS["Complex"])
DTYPE_SETS["NotBool"] = (*DTYPE_SETS["Real"], *DTYPE_SETS["Complex"])
DTYPE_SETS["All"] = (dt.Bool, *DTYPE_SETS["NotBool"])
DTYPE_SETS["Any"] = dt.DTYPES


def dtype_set(names: str | Sequence[str]) -> tuple[DType, ...]:
    """Dtypes of a list of names, each a dtype's or a set's: `[Integral, Half]`."""
    members: dict[DType, None] = {}
    for name in [names] if isinstance(names, str) else names:
        if name in DTYPE_SETS:
            members.update(dict.fromkeys(DTYPE_SETS[name]))
        elif name in dt.BY_NAME:
            members[dt.BY_NAME[name]] = None
        else:
            raise SpecError(f"'{name}' is not a dtype or set of dtypes")
    return tuple(members)


Seen: TypeAlias = "DType | tuple[DType, ...] | str | bool | None"
"""What a row is matched with: a dtype, those of a list, or the value of a flag (absent `dtype` arguments are None)."""


@dataclass(frozen=True)
class Row:
    """One line of an operator's table.

    Values are variables, of which the rule's `aliases` say which dtypes they range over, or flags' values (`None`,
    `True`). Elements of a list may differ if nothing else in the row has their variable.
    """

    operands: Mapping[str, str]
    returns: tuple[str, ...]
    promotes: bool = True
    """Whether it speaks of what operands promote to, in a rule that promotes, or of their own dtypes."""
    before: tuple[Row, ...] = ()
    """Rows, one of which the operands' own dtypes must fit as well, if there are any."""

    @cached_property
    def _alone(self) -> frozenset[str]:
        """Variables that stand in one place only."""
        places = Counter((*self.operands.values(), *self.returns))
        return frozenset(variable for variable, count in places.items() if count == 1)

    def admits(self, aliases: Mapping[str, tuple[DType, ...]], dtypes: Mapping[str, Seen]) -> bool:
        """Whether it takes operands of these dtypes of their own, as far as `before` says."""
        return not self.before or any(row.match(aliases, dtypes) is not None for row in self.before)

    def match(
        self, aliases: Mapping[str, tuple[DType, ...]], dtypes: Mapping[str, Seen]
    ) -> tuple[DType, ...] | None:
        """Result dtypes if the operands' dtypes fit this row, None where they do not."""
        bound: dict[str, DType] = {}
        for name, variable in self.operands.items():
            if name not in dtypes:
                continue
            seen = dtypes[name]
            if not isinstance(seen, DType | tuple):
                if not _flag_matches(str(seen), variable):
                    return None
                continue
            for dtype in seen if isinstance(seen, tuple) else (seen,):
                if dtype not in aliases.get(variable, ()):
                    return None
                if bound.setdefault(variable, dtype) is not dtype and variable not in self._alone:
                    return None
        return tuple(bound[ret] if ret in bound else aliases[ret][0] for ret in self.returns)


ABSENT = "None"
"""The variable of an argument (a `dtype`, an optional tensor) that is not given."""
RANK = ".dim"
"""What the name of a flag ends in that is the rank of a tensor."""
NOT = "not "
"""What begins a variable that excludes values of a flag: `not floor|trunc`."""
OTHER = "other"
"""A value that no row names."""


def _flag_matches(value: str, variable: str) -> bool:
    if variable.startswith(NOT):
        return value not in variable.removeprefix(NOT).split("|")
    return value == variable


Argued: TypeAlias = "Operand | tuple[Operand, ...] | DType | str | bool | None"
"""What inference sees of an argument: an operand, a list of operands, a `dtype` argument, the value of a flag."""


@dataclass(frozen=True)
class DtypeRule:
    """The dtype table of one operator."""

    func: str
    aliases: Mapping[str, tuple[DType, ...]]
    rows: tuple[Row, ...]
    promotes: tuple[str, ...] = ()
    """Arguments whose dtypes promote to one computation dtype."""
    rule: str = ""
    """The named rule that the rows came from, if any."""
    operands: frozenset[DType] | None = None
    """Dtypes that arguments that promote must have before they do, numbers included; None is any."""
    tiered: bool = True
    """Whether 0-dim tensors give way to others when they promote."""
    _memo: dict[Any, tuple[DType, ...]] = field(default_factory=dict[Any, tuple[DType, ...]], compare=False)

    @cached_property
    def allowed(self) -> Mapping[str, frozenset[DType]]:
        """For each argument the dtypes that it can have in some combination."""
        unions: dict[str, set[DType]] = {}
        for row in self.rows:
            for name, variable in row.operands.items():
                unions.setdefault(name, set()).update(self.aliases.get(variable, ()))
        for name in self.promotes:
            unions[name] = self._allowed_promoting(unions[name])
        return {name: frozenset(union) for name, union in unions.items()}

    @cached_property
    def given(self) -> tuple[frozenset[DType], ...]:
        """For each result that is a tensor the dtypes that it can have."""
        columns = zip(*(row.returns for row in self.rows), strict=True)
        return tuple(frozenset(dtype for ret in column for dtype in self.aliases[ret]) for column in columns)

    def _allowed_promoting(self, computing: set[DType]) -> set[DType]:
        """Dtypes that promote with some other operand to one that the operator computes in."""
        if self.operands is not None:
            return set(self.operands)
        return computing | {
            dtype for dtype in dt.DTYPES for other in computing if _promotes_into(dtype, other, computing)
        }

    @cached_property
    def _named(self) -> tuple[str, ...]:
        rows = (row for held in self.rows for row in (held, *held.before))
        return tuple(dict.fromkeys(name for row in rows for name in row.operands))

    @cached_property
    def constrained(self) -> tuple[str, ...]:
        """Names of the arguments that the rows speak of."""
        return tuple(dict.fromkeys(name.removesuffix(RANK) for name in self._named))

    @cached_property
    def ranks(self) -> tuple[str, ...]:
        """The flags that are ranks."""
        return tuple(name for name in self._named if name.endswith(RANK))

    @cached_property
    def flags(self) -> Mapping[str, tuple[str, ...]]:
        """The flags that are arguments, each with a value for every case that rows tell apart."""
        values: dict[str, dict[str, None]] = {}
        for row in self.rows:
            for name, variable in row.operands.items():
                if not self.allowed[name] and not name.endswith(RANK):
                    values.setdefault(name, {}).setdefault(OTHER if variable.startswith(NOT) else variable)
        return {name: tuple(held) for name, held in values.items()}

    @cached_property
    def may_miss(self) -> frozenset[str]:
        """Names of the arguments of whose absence a row speaks."""
        return frozenset(name for row in self.rows for name in row.operands if row.operands[name] == ABSENT)

    def infer(self, arguments: Mapping[str, Argued]) -> tuple[DType, ...]:
        """Dtypes of the results, in the reading of the aten dialect.

        `arguments` holds, by name, what the rows constrain; arguments that are absent are left out, except that those
        of whose absence a row speaks, and absent flags, are `None`. Raises `DtypeError` for operands that the operator
        does not take.
        """
        key = tuple(arguments.items())
        known = self._memo.get(key)
        if known is None:
            known = self._memo[key] = self._infer(arguments)
        return known

    def _infer(self, arguments: Mapping[str, Argued]) -> tuple[DType, ...]:
        promoting: list[Operand] = []
        dtypes: dict[str, Seen] = {name: _rank(arguments.get(name.removesuffix(RANK))) for name in self.ranks}
        for name, argument in arguments.items():
            if name not in self.allowed:
                continue
            if not isinstance(argument, Operand | tuple):
                dtypes[name] = argument
                continue
            operands = argument if isinstance(argument, tuple) else (argument,)
            for operand in operands:
                self._check_allowed(name, operand)
            if name in self.promotes:
                promoting.extend(operands)
            dtypes[name] = tuple(operand.dtype for operand in operands)
        if not promoting:
            return self.match(dtypes)
        try:
            computation = self.promotion(promoting)
        except DtypeError:
            if all(row.promotes for row in self.rows):
                raise
            return self.match(dtypes, promotion=False)
        present = [name for name in self.promotes if dtypes.get(name) is not None]
        return self.match(dtypes, dtypes | dict.fromkeys(present, computation))

    def promotion(self, operands: Sequence[Operand]) -> DType:
        """What operands promote to. Raises `DtypeError` where there is nothing."""
        if self.tiered:
            return result_type(tuple(operands))
        return result_type(tuple(Operand(operand.dtype, min(operand.tier, 1)) for operand in operands))

    def match(
        self, dtypes: Mapping[str, Seen], promoted: Mapping[str, Seen] | None = None, promotion: bool = True
    ) -> tuple[DType, ...]:
        """Result dtypes of the first row that fits; the reading of the edge dialect. Raises `DtypeError`.

        `promoted` are the dtypes after promotion; without `promotion` only rows count that need none.
        """
        for row in self.rows:
            if not row.admits(self.aliases, dtypes) or not (promotion or not row.promotes):
                continue
            returns = row.match(self.aliases, dtypes if promoted is None or not row.promotes else promoted)
            if returns is not None:
                return returns
        shown = ", ".join(f"{name}: {_shown(dtype)}" for name, dtype in dtypes.items())
        raise DtypeError(f"takes no ({shown})")

    def _check_allowed(self, name: str, operand: Operand) -> None:
        # A Python number that promotes has no dtype of its own, unless its kind is spoken of.
        bare = name in self.promotes and self.operands is None and operand.tier == 0
        if not bare and operand.dtype not in self.allowed[name]:
            options = ", ".join(str(dtype) for dtype in dt.DTYPES if dtype in self.allowed[name])
            raise DtypeError(f"'{name}' is {operand.dtype}; allowed: {options}")

    def to_yaml(self) -> dict[str, Any]:
        """The rows in the form of ExecuTorch's edge.yaml, with `promotes` (and `operands`) for rules that promote."""
        rows = [row for held in self.rows for row in (held, *held.before)]
        used = dict.fromkeys(v for row in rows for v in (*row.operands.values(), *row.returns))
        text: dict[str, Any] = {
            "func": self.func,
            "namespace": "edge",
            "inherits": self.func,
            "type_alias": {v: [d.name for d in self.aliases[v]] for v in used if v in self.aliases},
            "type_constraint": [self._line(row) for row in self.rows],
        }
        if self.promotes:
            text["promotes"] = list(self.promotes)
        if not self.tiered:
            text["tiered"] = False
        if self.operands is not None:
            text["operands"] = [dtype.name for dtype in dt.DTYPES if dtype in self.operands]
        return text

    def _line(self, row: Row) -> dict[str, Any]:
        line: dict[str, Any] = dict(row.operands) | {f"__ret_{i}": ret for i, ret in enumerate(row.returns)}
        if self.promotes and not row.promotes:
            line["promotes"] = False
        if row.before:
            line["before"] = [dict(held.operands) for held in row.before]
        return line


def _rank(argument: Argued) -> str:
    """The flag that is a tensor's rank."""
    if argument is None:
        return ABSENT
    return "0" if isinstance(argument, Operand) and argument.tier < 2 else "n"


def _shown(seen: Seen) -> str:
    return ", ".join(map(str, dict.fromkeys(seen))) if isinstance(seen, tuple) else str(seen)


def _promotes_into(dtype: DType, other: DType, computing: set[DType]) -> bool:
    try:
        return promote_types(dtype, other) in computing
    except DtypeError:
        return False


# --- named rules ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NamedRule:
    """A rule of the short form.

    Its rows are (variable of the participants, variable of `dtype`, variable of the results), where `T` are the
    `types`, `I` the integral ones of them, `F` the others, `A` is any dtype and `D` what `dtype` may be. (The rows of
    `norm` have a further one, with `H` for the half precision ones.)
    """

    rows: Sequence[tuple[str, str, str]]
    promotes: bool = False
    doc: str = ""
    every_number: bool = False
    """Whether numbers with a number as default take part as well."""
    converts: str = "Number"
    """Which of NUMBER_RULES numbers that take part follow where a `dtype` argument decides."""
    tiered: bool = True
    """Whether 0-dim tensors give way to others when they promote."""
    mixes: bool = False
    """Whether the first participant may be of half precision beside others in Float, as may the results."""


_BY_DTYPE = ("A", "D", "D")

NAMED_RULES: dict[str, NamedRule] = {
    "same": NamedRule([("T", "", "T")], doc="participants share one dtype, which the results have"),
    "each": NamedRule(
        [("T", "", "A")], doc="a list is given whose tensors have the dtypes of those of the operand"
    ),
    "promote": NamedRule([("T", "", "T")], True, "results have the promoted dtype"),
    "promote_types": NamedRule(
        [("T", "", "T")],
        True,
        "results have the promoted dtype, to which 0-dim tensors count as any",
        tiered=False,
    ),
    "int_to_float": NamedRule(
        [("I", "", "Float"), ("F", "", "F")], True, "promote; integers compute in float32"
    ),
    "bool": NamedRule([("T", "", "Bool")], True, "participants promote to be compared; results are Bool"),
    "int64": NamedRule([("T", "", "Long")], doc="results are Long"),
    "norm": NamedRule(
        [("T", "", "T")],
        doc="same; or Float parameters and statistics beside a half precision input",
        mixes=True,
    ),
    "sum": NamedRule([("I", "", "Long"), ("F", "", "F")], doc="integers accumulate in Long"),
    "dtype": NamedRule([_BY_DTYPE], doc="results have the dtype argument; participants are cast to it"),
    "dtype_or_same": NamedRule([("T", ABSENT, "T"), _BY_DTYPE], doc="the dtype argument, else same"),
    "dtype_or_float": NamedRule(
        [("A", ABSENT, "Float"), _BY_DTYPE], doc="the dtype argument, else the default dtype"
    ),
    "dtype_or_int64": NamedRule([("A", ABSENT, "Long"), _BY_DTYPE], doc="the dtype argument, else Long"),
    "dtype_or_promote": NamedRule([("T", ABSENT, "T"), _BY_DTYPE], True, "the dtype argument, else promote"),
    "dtype_or_sum": NamedRule(
        [("I", ABSENT, "Long"), ("F", ABSENT, "F"), _BY_DTYPE], doc="the dtype argument, else sum"
    ),
    "dtype_or_range": NamedRule(
        [("I", ABSENT, "Long"), ("F", ABSENT, "F"), _BY_DTYPE],
        True,
        "the dtype argument, else sum of numbers",
        True,
    ),
    "dtype_or_scalar": NamedRule(
        [("T", ABSENT, "T"), _BY_DTYPE],
        True,
        "the dtype argument, else what the numbers promote to",
        True,
        "Fill",
    ),
    "dtype_or_line": NamedRule(
        [("I", ABSENT, "Float"), ("F", ABSENT, "F"), _BY_DTYPE],
        True,
        "the dtype argument, else int_to_float",
        True,
    ),
}

_NUMBERS = tuple(NUMBER_DTYPE.values())
_REAL_NUMBERS = _NUMBERS[:3]

NUMBER_RULES: dict[str, dict[Category, tuple[DType, ...]]] = {
    "Number": dict.fromkeys(Category, _REAL_NUMBERS) | {Category.COMPLEX: _NUMBERS},
    "Fill": dict.fromkeys(Category, _REAL_NUMBERS) | {Category.BOOL: _NUMBERS, Category.COMPLEX: _NUMBERS},
    "Alpha": {
        Category.BOOL: _NUMBERS[:2],
        Category.INT: _NUMBERS[1:2],
        Category.FLOAT: _NUMBERS[1:3],
        Category.COMPLEX: _NUMBERS[1:],
    },
}
"""What a number may be, by the category that the operator computes in.

`Number`: complex only in complex. `Fill`: the same, but all are true or false to Bool. `Alpha`: of no wider category,
and a bool only with bools (the check of `alpha` in ATen/native/BinaryOps.h).
"""

RETURN_RULES: dict[str, Mapping[DType, DType]] = {
    "to_real": {dt.ComplexFloat: dt.Float, dt.ComplexDouble: dt.Double},
    "to_opmath": {dt.Half: dt.Float, dt.BFloat16: dt.Float},
    "to_mask": {dtype: dt.Bool for dtype in dt.DTYPES if dtype is not dt.Byte},
}
"""Dtypes that a result may have in place of the rule's: the real part's, that of accumulation (as c10 calls them),
and Bool except that Byte stays Byte, as it did when masks were."""


def participants(schema: FunctionSchema, named: NamedRule, own: Collection[str]) -> tuple[str, ...]:
    """Arguments that a named rule speaks of: tensors, and where it promotes also numbers without a number default.

    (`other`, `exponent`, `min` promote; `alpha=1` and `beta=1` do not.) Arguments in `own` have their own dtypes.
    """

    def participates(argument: Argument) -> bool:
        if argument.name in own:
            return False
        if argument.type.base == "Scalar":
            optional = argument.required or argument.default is None
            return named.promotes and (optional or named.every_number)
        return argument.type.is_tensor

    return tuple(argument.name for argument in schema.arguments if participates(argument))


def expand(schema: FunctionSchema, entry: Mapping[str, Any]) -> DtypeRule:
    """A spec entry as a rule. Raises `SpecError` for one that is not of a known form or does not fit the schema."""
    rest = {name: value for name, value in entry.items() if name != "when"}
    cases: Sequence[Mapping[str, Any]] = entry.get("when", ())
    if not cases:
        return _plain(schema, rest)
    flags = _flags(schema)
    excluded: dict[str, list[str]] = {}
    rules: list[tuple[DtypeRule, dict[str, str]]] = []
    for case in cases:
        held = {name: str(value) for name, value in case.items() if name in flags}
        if len(held) != 1:
            raise SpecError(f"{schema.func}: a case must name one flag")
        own = {name: value for name, value in case.items() if name not in flags}
        rules.append((_plain(schema, own), held))
        for name, value in held.items():
            excluded.setdefault(name, []).append(value)
    rules.append((_plain(schema, rest), {name: NOT + "|".join(values) for name, values in excluded.items()}))
    return _joined(rules)


def _flags(schema: FunctionSchema) -> set[str]:
    """What may decide which rows hold: values of arguments, ranks of tensors."""
    values = {argument.name for argument in schema.arguments if argument.type.base in ("bool", "str")}
    return values | {argument.name + RANK for argument in schema.arguments if argument.type.is_tensor}


def _plain(schema: FunctionSchema, entry: Mapping[str, Any]) -> DtypeRule:
    return _explicit(entry, schema) if "type_constraint" in entry else _short(entry, schema)


def _joined(rules: Sequence[tuple[DtypeRule, Mapping[str, str]]]) -> DtypeRule:
    """One rule of several, each with what flags it holds for. Their variables are told apart by a number."""
    last = rules[-1][0]
    promotes = tuple(dict.fromkeys(name for rule, _ in rules for name in rule.promotes))
    aliases = dict(_DTYPE_ALIASES)
    rows: list[Row] = []
    for index, (rule, flags) in enumerate(rules):
        names = {
            variable: f"{variable}_{index}" for variable in rule.aliases if variable not in _DTYPE_ALIASES
        }
        aliases |= {name: rule.aliases[variable] for variable, name in names.items()}
        for row in rule.rows:
            renamed = _renamed(row, names)
            promoting = not promotes or (bool(rule.promotes) and row.promotes)
            rows.append(replace(renamed, operands={**renamed.operands, **flags}, promotes=promoting))
    return DtypeRule(last.func, aliases, tuple(rows), promotes, last.rule, last.operands, last.tiered)


def _renamed(row: Row, names: Mapping[str, str]) -> Row:
    """A row with other names of variables."""
    return replace(
        row,
        operands={name: names.get(variable, variable) for name, variable in row.operands.items()},
        returns=tuple(names.get(ret, ret) for ret in row.returns),
        before=tuple(_renamed(held, names) for held in row.before),
    )


_DTYPE_ALIASES = {dtype.name: (dtype,) for dtype in dt.DTYPES}
_KEYS = ("rule", "types", "operands", "before")


def _before(entry: Mapping[str, Any], aliases: dict[str, tuple[DType, ...]]) -> tuple[Row, ...]:
    """The rows of `before`, their variables put into `aliases`."""
    rows: list[Row] = []
    for index, line in enumerate(entry.get("before", ())):
        operands: dict[str, str] = {}
        for name, allowed in line.items():
            if name.endswith(RANK):
                operands[name] = str(allowed)
                continue
            shared = isinstance(allowed, str) and allowed.islower()
            variable = allowed if shared else f"B{index}_{name}"
            aliases[variable] = dt.DTYPES if shared else dtype_set(allowed)
            operands[name] = variable
        rows.append(Row(operands, ()))
    return tuple(rows)


def _short(entry: Mapping[str, Any], schema: FunctionSchema) -> DtypeRule:
    """An entry of the short form, its cases left out."""
    named = NAMED_RULES.get(entry.get("rule", ""))
    if named is None:
        raise SpecError(f"{schema.func}: '{entry.get('rule')}' is not a dtype rule")
    own = {
        name: value for name, value in entry.items() if name not in _KEYS and not name.startswith("__ret_")
    }
    kinds = {argument.name: argument.type.base for argument in schema.arguments}
    for name in own:
        if name not in kinds:
            raise SpecError(f"{schema.func}: no argument '{name}'")
    taking = participants(schema, named, own)
    sets = {name: dtype_set(value) for name, value in own.items() if not _is_number_rule(value)}
    numbers = {name: "Number" for name in kinds if kinds[name] == "Scalar" and name not in (*taking, *sets)}
    numbers |= {name: value for name, value in own.items() if name not in sets}

    types = dtype_set(entry.get("types", "All"))
    ranges = _DTYPE_ALIASES | {
        "T": types,
        "I": _ints(types),
        "F": _floats(types),
        "A": dt.DTYPES,
        "D": sets.pop("dtype", types),
    }
    aliases = dict(_DTYPE_ALIASES) | {f"T_{name}": dtypes for name, dtypes in sets.items()}
    rows: list[Row] = []
    for taken, dtype_argument, given in named.rows:
        fixed = {name: f"T_{name}" for name in sets}
        if dtype_argument:
            fixed["dtype"] = dtype_argument
        # The variable that decides: the participants', or that of `dtype` where there is one.
        leading = "D" if dtype_argument == "D" else taken if taking else given
        returns = [
            entry.get(f"__ret_{i}", given) for i, ret in enumerate(schema.returns) if ret.type.is_tensor
        ]
        bound = dict(numbers)
        if leading == "D":
            bound |= {name: named.converts for name in taking if kinds[name] == "Scalar"}
        for variable, dtypes, row_numbers, row_returns in _split(leading, ranges[leading], bound, returns):
            aliases[variable] = dtypes
            if taken not in aliases and taken != leading:
                aliases[taken] = ranges[taken]
            if given == "A":
                aliases["A"] = ranges["A"]
            names = {leading: variable}
            operands = {name: names.get(taken, taken) for name in taking}
            operands |= {name: names.get(kept, kept) for name, kept in fixed.items()}
            for name, allowed in row_numbers.items():
                operands[name] = f"N_{variable}_{name}"
                aliases[operands[name]] = allowed
            rows.append(Row(operands, tuple(names.get(ret, ret) for ret in row_returns)))
    if named.mixes and taking:
        aliases["H"] = tuple(dtype for dtype in (dt.Half, dt.BFloat16) if dtype in types)
        results = ("H", *("Float" for _ in schema.returns[1:]))
        rows.append(
            Row(dict.fromkeys(taking, "Float") | {taking[0]: "H"} | {n: f"T_{n}" for n in sets}, results)
        )
    before = _before(entry, aliases)
    operands_key = entry.get("operands")
    return DtypeRule(
        schema.func,
        aliases,
        tuple(replace(row, before=before) for row in rows) if before else tuple(rows),
        taking if named.promotes else (),
        entry["rule"],
        None if operands_key is None else frozenset(dtype_set(operands_key)),
        named.tiered,
    )


def _is_number_rule(value: Any) -> bool:
    return isinstance(value, str) and value in NUMBER_RULES


def _split(
    variable: str, dtypes: tuple[DType, ...], numbers: Mapping[str, str], returns: Sequence[str]
) -> Iterator[tuple[str, tuple[DType, ...], dict[str, tuple[DType, ...]], list[str]]]:
    """Splits a variable's dtypes into groups in which numbers and results follow the same way."""
    groups: dict[Any, list[DType]] = {}
    for dtype in dtypes:
        allowed = tuple((name, NUMBER_RULES[rule][dtype.category]) for name, rule in numbers.items())
        given = tuple(_returned(ret, variable, dtype) for ret in returns)
        groups.setdefault((allowed, given), []).append(dtype)
    for index, ((allowed, given), members) in enumerate(groups.items()):
        name = variable if len(groups) == 1 else f"{variable}{index}"
        yield name, tuple(members), dict(allowed), [name if ret == variable else ret for ret in given]


def _returned(ret: str, variable: str, dtype: DType) -> str:
    """The variable of a result, for one dtype of the variable that decides."""
    if ret not in RETURN_RULES:
        return ret
    return RETURN_RULES[ret][dtype].name if dtype in RETURN_RULES[ret] else variable


def _ints(types: Iterable[DType]) -> tuple[DType, ...]:
    return tuple(dtype for dtype in types if dtype.category <= Category.INT)


def _floats(types: Iterable[DType]) -> tuple[DType, ...]:
    return tuple(dtype for dtype in types if dtype.category >= Category.FLOAT)


def _explicit(entry: Mapping[str, Any], schema: FunctionSchema) -> DtypeRule:
    flags = _flags(schema)
    aliases = dict(_DTYPE_ALIASES)
    aliases |= {name: dtype_set(names) for name, names in entry.get("type_alias", {}).items()}
    rows: list[Row] = []
    for line in entry["type_constraint"]:
        returns = tuple(str(line[key]) for key in sorted(line) if key.startswith("__ret_"))
        before = tuple(Row({name: str(v) for name, v in held.items()}, ()) for held in line.get("before", ()))
        operands = {
            name: str(v)
            for name, v in line.items()
            if not name.startswith("__ret_") and name not in ("before", "promotes")
        }
        for variable in (*(v for name, v in operands.items() if name not in flags), *returns):
            if variable not in aliases and variable != ABSENT:
                raise SpecError(f"{schema.func}: '{variable}' is not a type alias")
        rows.append(Row(operands, returns, line.get("promotes", True), before))
    operands_key = entry.get("operands")
    return DtypeRule(
        schema.func,
        aliases,
        tuple(rows),
        tuple(entry.get("promotes", ())),
        operands=None if operands_key is None else frozenset(dtype_set(operands_key)),
        tiered=entry.get("tiered", True),
    )
