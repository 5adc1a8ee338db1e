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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.promotion import (
    DtypeError,
    Operand,
    promote_types,
    result_type,
)
from xdsl_exir.errors import SpecError
from xdsl_exir.threads import cached_property

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
