"""Which dtypes an operator takes, and which it gives: the language of `spec/edge.yaml`.

Every operator has one `DtypeRule`: rows of a table, each giving dtypes to operands and results through type variables
(the same variable is the same dtype wherever it stands in a row). Most operators name a rule (`promote`, `same`,
`int_to_float`...) that expands to rows; irregular ones write the rows out.

One table, two readings. In `edge` the operands must match a row as they are. In `aten`, operands of a rule that
promotes may differ: each must be allowed on its own, and their promotion must match a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

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


_SIGNED = (dt.Char, dt.Short, dt.Int, dt.Long)
_UNSIGNED = (dt.UInt16, dt.UInt32, dt.UInt64)


@cache
def promote_types(a: DType, b: DType) -> DType:
    """The smallest dtype both convert to: the lattice of `torch.promote_types`.

    Raises `DtypeError` where PyTorch has none (large unsigned with other integers, different eight-bit floats).
    """
    if a is b:
        return a
    low, high = sorted((a, b), key=lambda dtype: (dtype.category, dtype.bits))
    if low.category is Category.BOOL:
        return high
    if low.category is high.category is Category.INT:
        return _promote_integers(low, high)
    if low.category is high.category is Category.FLOAT and low.bits == high.bits:
        if low.bits == 8:
            raise DtypeError(f"no common dtype of {a} and {b}")
        return dt.Float
    if high is dt.ComplexFloat and low is dt.Double:
        return dt.ComplexDouble
    return high


def _promote_integers(low: DType, high: DType) -> DType:
    if low in _UNSIGNED or high in _UNSIGNED:
        raise DtypeError(f"no common dtype of {low} and {high}")
    if {low, high} == {dt.Byte, dt.Char}:
        return dt.Short
    return high


def _combine(higher: DType | None, lower: DType | None) -> DType | None:
    """A higher tier decides, unless the lower one is of a higher category (ATen/native/TypeProperties.cpp)."""
    if higher is None or lower is None:
        return higher or lower
    if higher.category is Category.FLOAT and lower.category is Category.COMPLEX:
        return dt.ComplexDouble if higher is dt.Double else dt.ComplexFloat
    if lower.category > higher.category:
        return promote_types(higher, lower)
    return higher


@cache
def result_type(operands: tuple[Operand, ...]) -> DType:
    """The computation dtype of operands that promote, as `torch.result_type` has it. Needs at least one operand."""
    tiers: list[DType | None] = [None, None, None]
    for operand in operands:
        held = tiers[operand.tier]
        tiers[operand.tier] = operand.dtype if held is None else promote_types(held, operand.dtype)
    number, zero_dim, dimensioned = tiers
    result = _combine(dimensioned, _combine(zero_dim, number))
    assert result is not None, "result_type of no operands"
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


@dataclass(frozen=True)
class Row:
    """One line of an operator's table. Variables are names; `aliases` of the rule says which dtypes they range over."""

    operands: Mapping[str, str]
    returns: tuple[str, ...]

    def match(
        self, aliases: Mapping[str, tuple[DType, ...]], dtypes: Mapping[str, DType | None]
    ) -> tuple[DType, ...] | None:
        """Result dtypes if the operands' dtypes fit this row. `None` stands for an absent `dtype` argument."""
        bound: dict[str, DType] = {}
        for name, variable in self.operands.items():
            if name not in dtypes:
                continue
            dtype = dtypes[name]
            if dtype is None:
                if variable != ABSENT:
                    return None
                continue
            if bound.setdefault(variable, dtype) is not dtype or dtype not in aliases.get(variable, ()):
                return None
        return tuple(bound[ret] if ret in bound else aliases[ret][0] for ret in self.returns)


ABSENT = "None"
"""The variable of a `dtype` argument that is not given."""


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
    _memo: dict[Any, tuple[DType, ...]] = field(default_factory=dict[Any, tuple[DType, ...]], compare=False)

    @cached_property
    def allowed(self) -> Mapping[str, frozenset[DType]]:
        """For each operand the union of its dtypes over all rows."""
        unions: dict[str, set[DType]] = {}
        for row in self.rows:
            for name, variable in row.operands.items():
                unions.setdefault(name, set()).update(self.aliases.get(variable, ()))
        return {name: frozenset(union) for name, union in unions.items()}

    @cached_property
    def constrained(self) -> tuple[str, ...]:
        """Names of the arguments that the rows speak of."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.operands))

    def infer(
        self, arguments: Mapping[str, Operand | tuple[Operand, ...] | DType | None]
    ) -> tuple[DType, ...]:
        """Dtypes of the results, in the reading of the aten dialect.

        `arguments` holds, by name, what the rows constrain: an operand, a list of operands, a `dtype` argument or
        `None` where it is absent. Raises `DtypeError` for operands that the operator does not take.
        """
        key = tuple(arguments.items())
        known = self._memo.get(key)
        if known is None:
            known = self._memo[key] = self._infer(arguments)
        return known

    def _infer(
        self, arguments: Mapping[str, Operand | tuple[Operand, ...] | DType | None]
    ) -> tuple[DType, ...]:
        promoting: list[Operand] = []
        dtypes: dict[str, DType | None] = {}
        for name, argument in arguments.items():
            if name not in self.allowed:
                continue
            if not isinstance(argument, Operand | tuple):
                dtypes[name] = argument
                continue
            for operand in argument if isinstance(argument, tuple) else (argument,):
                self._check_allowed(name, operand)
                if name in self.promotes:
                    promoting.append(operand)
                elif dtypes.setdefault(name, operand.dtype) is not operand.dtype:
                    raise DtypeError(f"'{name}' mixes {dtypes[name]} and {operand.dtype}")
        if promoting:
            computation = result_type(tuple(promoting))
            dtypes.update(dict.fromkeys(self.promotes, computation))
        return self.match(dtypes)

    def match(self, dtypes: Mapping[str, DType | None]) -> tuple[DType, ...]:
        """Result dtypes of the first row that fits; the reading of the edge dialect. Raises `DtypeError`."""
        for row in self.rows:
            returns = row.match(self.aliases, dtypes)
            if returns is not None:
                return returns
        shown = ", ".join(f"{name}: {dtype}" for name, dtype in dtypes.items())
        raise DtypeError(f"takes no ({shown})")

    def _check_allowed(self, name: str, operand: Operand) -> None:
        # A Python number has no dtype of its own: what it promotes to decides.
        if operand.tier and operand.dtype not in self.allowed[name]:
            options = ", ".join(str(dtype) for dtype in dt.DTYPES if dtype in self.allowed[name])
            raise DtypeError(f"'{name}' is {operand.dtype}; allowed: {options}")

    def to_yaml(self) -> dict[str, Any]:
        """The rows in the form of ExecuTorch's edge.yaml."""
        used = dict.fromkeys(v for row in self.rows for v in (*row.operands.values(), *row.returns))
        return {
            "func": self.func,
            "namespace": "edge",
            "inherits": self.func,
            "type_alias": {v: [d.name for d in self.aliases[v]] for v in used if v != ABSENT},
            "type_constraint": [
                dict(row.operands) | {f"__ret_{i}": ret for i, ret in enumerate(row.returns)}
                for row in self.rows
            ],
        }


# --- named rules ---------------------------------------------------------------------------------------------

Expansion = list[tuple[str, str, str]]
"""Rows of a named rule: (variable of the participants, variable of `dtype`, variable of the results)."""


def _ints(types: Iterable[DType]) -> tuple[DType, ...]:
    return tuple(dtype for dtype in types if dtype.category <= Category.INT)


def _floats(types: Iterable[DType]) -> tuple[DType, ...]:
    return tuple(dtype for dtype in types if dtype.category >= Category.FLOAT)


@dataclass(frozen=True)
class NamedRule:
    """A rule of the short form. `I` are the participants' integral dtypes, `F` the others, `T` all of them, `D` any."""

    rows: Expansion
    promotes: bool = False
    doc: str = ""
    every_number: bool = False
    """Whether numbers with a number as default take part as well."""


_BY_DTYPE = ("T", "D", "D")

NAMED_RULES: dict[str, NamedRule] = {
    "same": NamedRule([("T", "", "T")], doc="participants share one dtype, which the results have"),
    "promote": NamedRule([("T", "", "T")], True, "results have the promoted dtype"),
    "int_to_float": NamedRule(
        [("I", "", "Float"), ("F", "", "F")], True, "promote; integers compute in float32"
    ),
    "bool": NamedRule([("T", "", "Bool")], True, "participants promote to be compared; results are Bool"),
    "int64": NamedRule([("T", "", "Long")], doc="results are Long"),
    "sum": NamedRule([("I", "", "Long"), ("F", "", "F")], doc="integers accumulate in Long"),
    "dtype": NamedRule([_BY_DTYPE], doc="results have the dtype argument"),
    "dtype_or_same": NamedRule([("T", ABSENT, "T"), _BY_DTYPE], doc="the dtype argument, else same"),
    "dtype_or_promote": NamedRule([("T", ABSENT, "T"), _BY_DTYPE], True, "the dtype argument, else promote"),
    "dtype_or_sum": NamedRule(
        [("I", ABSENT, "Long"), ("F", ABSENT, "F"), _BY_DTYPE], doc="the dtype argument, else sum"
    ),
    "dtype_or_scalar": NamedRule(
        [("T", ABSENT, "T"), _BY_DTYPE], True, "the dtype argument, else what the numbers promote to", True
    ),
    "dtype_or_float": NamedRule(
        [("T", ABSENT, "Float"), _BY_DTYPE], doc="the dtype argument, else the default dtype"
    ),
}


def participants(schema: FunctionSchema, named: NamedRule, own: Mapping[str, Any]) -> tuple[str, ...]:
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
    """A spec entry as a rule: `{func, rule, types, <operand>: dtypes, __ret_<i>: dtype}` or explicit rows."""
    if "type_constraint" in entry:
        return _explicit(entry)
    known = {"func", "rule", "types"}
    named = NAMED_RULES.get(entry.get("rule", ""))
    if named is None:
        raise SpecError(f"{entry['func']}: '{entry.get('rule')}' is not a dtype rule")
    types = dtype_set(entry.get("types", "All"))
    own = {
        name: names for name, names in entry.items() if name not in known and not name.startswith("__ret_")
    }
    for name in own:
        if all(argument.name != name for argument in schema.arguments):
            raise SpecError(f"{entry['func']}: no argument '{name}'")
    taking = participants(schema, named, own)
    aliases: dict[str, tuple[DType, ...]] = {dtype.name: (dtype,) for dtype in dt.DTYPES}
    aliases |= {"T": types, "I": _ints(types), "F": _floats(types), "D": dt.DTYPES}
    aliases |= {f"T_{name}": dtype_set(names) for name, names in own.items()}
    rows: list[Row] = []
    for taken, dtype_argument, given in named.rows:
        if not aliases[taken] and taking:
            continue
        operands = dict.fromkeys(taking, taken) | {name: f"T_{name}" for name in own}
        if dtype_argument:
            operands["dtype"] = dtype_argument
        returns = tuple(entry.get(f"__ret_{i}", given) for i in range(len(schema.returns)))
        rows.append(Row(operands, returns))
    return DtypeRule(entry["func"], aliases, tuple(rows), taking if named.promotes else (), entry["rule"])


def _explicit(entry: Mapping[str, Any]) -> DtypeRule:
    aliases = {dtype.name: (dtype,) for dtype in dt.DTYPES}
    aliases |= {name: dtype_set(names) for name, names in entry.get("type_alias", {}).items()}
    rows: list[Row] = []
    for line in entry["type_constraint"]:
        returns = tuple(str(line[key]) for key in sorted(line) if key.startswith("__ret_"))
        operands = {name: str(v) for name, v in line.items() if not name.startswith("__ret_")}
        for variable in (*operands.values(), *returns):
            if variable not in aliases and variable != ABSENT:
                raise SpecError(f"{entry['func']}: '{variable}' is not a type alias")
        rows.append(Row(operands, returns))
    return DtypeRule(entry["func"], aliases, tuple(rows), tuple(entry.get("promotes", ())))
