"""`edge.yaml` as ExecuTorch writes it: which combinations of dtypes operators of its Edge dialect take and give.

    - func: sigmoid
      namespace: edge
      inherits: aten::sigmoid
      type_alias:
        T0: [Bool, Byte, Char, Int, Long, Short]
        T1: [Double, Float]
        T2: [Float]
      type_constraint:
      - self: T0
        __ret_0: T2
      - self: T1
        __ret_0: T1

Such a file says of operators that are known what a runtime has kernels for: `verify-edge{dtypes="edge.yaml"}` holds a program to it.
It adds no operators and changes no rule. ExecuTorch's own is made by a program that runs PyTorch on samples; where a row
says other than PyTorch's kernels do, as our rules have them, it is a `Mistake` of the file's, and counts for nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtype_rules import DTYPE_SETS, Argued, DtypeRule, Row, Seen
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.meta import as_operand
from xdsl_exir.dialects.named_rules import expand
from xdsl_exir.dialects.promotion import NUMBER_DTYPE, DtypeError, Operand
from xdsl_exir.dialects.spec import Constrained, OperatorSpec, constrained, find
from xdsl_exir.dialects.spec.library import Item, check_rows, items
from xdsl_exir.errors import SpecError
from xdsl_exir.libraries import Library
from xdsl_exir.threads import cached_property

KEYS = frozenset({"func", "namespace", "inherits", "type_alias", "type_constraint"})

NUMBERS = {dtype.category: dtype for dtype in (dt.Bool, dt.Int, dt.Float, dt.ComplexFloat)}
"""What such files call a Python number of a category; `int` is Int there, and promotes as Long."""


@dataclass(frozen=True)
class Mistake:
    """A row that is wrong."""

    operator: str
    place: str
    """`edge.yaml:12`, where the operator's entry begins."""
    row: int
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.operator}: row {self.row}: {self.reason}"


def _names(dtypes: Iterable[DType]) -> str:
    return ", ".join(dtype.name for dtype in dtypes)


@dataclass(frozen=True)
class EdgeOperator:
    """One entry."""

    spec: OperatorSpec
    """The operator that it inherits from."""
    rule: DtypeRule
    place: str
    strange: Mapping[int, str]
    """By row, why it speaks of what the operator does not have, which `rule` leaves out."""

    @cached_property
    def arguments(self) -> tuple[Constrained, ...]:
        """The operator's arguments, each with the dtypes that it may have in some row."""
        return constrained(self.spec.schema, self.rule)[0]

    @cached_property
    def returns(self) -> tuple[Constrained, ...]:
        """The operator's results, each with the dtypes that it may have in some row."""
        return constrained(self.spec.schema, self.rule)[1]

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """Rows that speak of what is no argument, or of dtypes that PyTorch refuses or gives others for."""
        reasons = (self.strange.get(index) or self._wrong(row) for index, row in enumerate(self.rule.rows))
        name = self.spec.qualified_name
        return tuple(
            Mistake(name, self.place, index, reason)
            for index, reason in enumerate(reasons)
            if reason is not None
        )

    def admits(self, arguments: Mapping[str, Any]) -> bool:
        """Whether some row takes arguments, given by name with types in place of values; the row's results don't matter."""
        taken: dict[str, Seen] = {}
        for argument in self.spec.schema.arguments:
            value = arguments.get(argument.name)
            if argument.name not in self.rule.allowed or value is None:
                continue
            seen = as_operand(value)
            if argument.type.base == "Scalar" and isinstance(seen, Operand):
                taken[argument.name] = NUMBERS[seen.dtype.category]
            elif isinstance(seen, tuple):
                taken[argument.name] = tuple(operand.dtype for operand in seen)
            else:
                taken[argument.name] = seen.dtype if isinstance(seen, Operand) else seen
        return any(row.match(self.rule.aliases, taken) is not None for row in self.rule.rows)

    def _wrong(self, row: Row) -> str | None:
        """What of a row PyTorch says otherwise: the first such combination of the dtypes that our rules speak of."""
        variables = tuple(dict.fromkeys((*row.operands.values(), *row.returns)))
        ranges = ([d for d in self.rule.aliases[v] if d in DTYPE_SETS["All"]] for v in variables)
        for dtypes in product(*ranges):
            bound = dict(zip(variables, dtypes, strict=True))
            taken = {name: bound[variable] for name, variable in row.operands.items()}
            said, given = tuple(bound[ret] for ret in row.returns), self._given(taken)
            if said not in given:
                shown = ", ".join(f"{name}: {dtype.name}" for name, dtype in taken.items())
                gives = f"gives {' or '.join(map(_names, given))}" if given else "refuses them"
                return f"({shown}) -> {_names(said)}; PyTorch {gives}"
        return None

    def _given(self, taken: Mapping[str, DType]) -> list[tuple[DType, ...]]:
        """What PyTorch gives for operands of these dtypes, by the flags that decide; nothing where it refuses them."""
        rule = self.spec.dtype_rule
        assert rule is not None
        arguments: dict[str, Argued] = {name: None for name in rule.constrained if name in rule.may_miss}
        for argument in self.spec.schema.arguments:
            dtype, kind = taken.get(argument.name), argument.type
            if dtype is None or argument.name not in rule.constrained:
                continue
            if kind.base == "ScalarType":
                arguments[argument.name] = dtype
            elif kind.base == "Scalar":
                arguments[argument.name] = Operand(NUMBER_DTYPE[dtype.category], 0)
            else:
                operand = Operand(dtype, 2)
                arguments[argument.name] = (operand,) if kind.is_list else operand
        given: list[tuple[DType, ...]] = []
        for flags in product(*rule.flags.values()):
            try:
                given.append(rule.infer(arguments | dict(zip(rule.flags, flags, strict=True))))
            except DtypeError:
                continue  # refused, with these flags
        return given


@dataclass(frozen=True)
class EdgeYaml(Mapping[str, EdgeOperator]):
    """A file's operators by qualified name (`aten.sigmoid`)."""

    operators: Mapping[str, EdgeOperator]

    def __getitem__(self, name: str) -> EdgeOperator:
        return self.operators[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.operators)

    def __len__(self) -> int:
        return len(self.operators)

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """All that the file says other than PyTorch."""
        return tuple(mistake for operator in self.values() for mistake in operator.mistakes)


def read_edge_yaml(text: str, source: str = "<text>") -> EdgeYaml:
    """Reads such a file's text; `source` names it in errors.

    Raises `SpecError`, with the line, for what is not of this form, and for an operator that is not known or there twice.
    """
    found: dict[str, EdgeOperator] = {}
    for item in items(text, source):
        operator = _operator(item)
        name = operator.spec.qualified_name
        if name in found:
            raise item.error(f"{name} is there twice, before at {found[name].place}")
        found[name] = operator
    return EdgeYaml(found)


def edge_yaml_at(path: str | os.PathLike[str], asker: str) -> EdgeYaml:
    """Reads such a file; `asker` begins the error where there is none. Raises `SpecError` as `read_edge_yaml` does."""
    return read_edge_yaml(Library(Path(path), "", asker).text(), os.fspath(path))


def _operator(item: Item) -> EdgeOperator:
    entry: Mapping[str, Any] = item.entry
    if unknown := sorted(entry.keys() - KEYS):
        raise item.error(f"unknown key '{unknown[0]}'; there is {', '.join(sorted(KEYS))}")
    if missing := sorted({"type_alias", "type_constraint"} - entry.keys()):
        raise item.error(f"an entry needs '{missing[0]}'")
    if entry.get("namespace", "edge") != "edge":
        raise item.error(f"namespace is {entry['namespace']!r}, expected edge")
    func = str(entry.get("inherits", entry["func"])).removesuffix(".default")
    try:
        spec = find(func.replace("::", ".", 1))
        if spec.dtype_rule is None:
            raise SpecError(f"{func} takes and gives no tensors")
        numbered = [f"__ret_{index}" for index in range(len(spec.schema.returns))]
        known = {*(argument.name for argument in spec.schema.arguments), *numbered}
        named = zip(spec.schema.returns, numbered, strict=True)
        results: dict[str, str] = {ret.name: number for ret, number in named if ret.name}
        check_rows(entry)
        # Some rows call results by PyTorch's names for them.
        lines: list[dict[str, str]] = entry["type_constraint"]
        rows = [{results.get(name, name): variable for name, variable in line.items()} for line in lines]
        strange = {
            index: f"the operator has no {', '.join(sorted(row.keys() - known))}"
            for index, row in enumerate(rows)
            if not row.keys() <= known
        }
        own = [{name: variable for name, variable in row.items() if name in known} for row in rows]
        rule = expand(spec.schema, {**entry, "type_constraint": own})
    except SpecError as error:
        raise item.error(error) from None
    return EdgeOperator(spec, rule, item.place, strange)
