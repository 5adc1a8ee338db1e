"""Dtype rules as the spec writes them: the short form, which names a rule, and rows; `expand` makes a `DtypeRule` of either."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtype_rules import (
    ABSENT,
    NOT,
    RANK,
    DtypeRule,
    Row,
    dtype_set,
)
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.promotion import (
    NUMBER_DTYPE,
)
from xdsl_exir.dialects.schema import Argument, FunctionSchema
from xdsl_exir.errors import SpecError


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
    "to_real": {dt.ComplexHalf: dt.Half, dt.ComplexFloat: dt.Float, dt.ComplexDouble: dt.Double},
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
