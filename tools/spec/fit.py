"""The shortest dtype rule that says exactly what was observed: a named one if there is any, else rows."""

# pyright: basic, reportMissingImports=false
# (PyTorch's types are unknown to the checker.)

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtype_rules import ABSENT, DTYPE_SETS, DtypeRule
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.named_rules import NAMED_RULES, NUMBER_RULES, RETURN_RULES, expand, participants
from xdsl_exir.dialects.promotion import NUMBER_DTYPE, DtypeError, Operand, result_type
from xdsl_exir.dialects.schema import FunctionSchema
from xdsl_exir.dialects.spec import OperatorSpec
from xdsl_exir.tools.spec.observe import Probe
from xdsl_exir.tools.spec.samples import EXOTIC, PROBED

Rule = dict[str, Any]
"""A dtype rule as it stands in an operator's entry."""


@dataclass(frozen=True)
class Case:
    """One observation, in the words of `DtypeRule.infer`."""

    arguments: dict[str, Any]
    given: tuple[DType, ...] | None
    """Dtypes of the results, None where PyTorch refuses the arguments."""
    numbers: frozenset[str]
    """Arguments that are tensors, but here are Python numbers: rules speak of these only where they promote."""

    def operands(self, names: Collection[str]) -> list[Operand]:
        """The operands of some arguments, lists spread out."""
        given = [self.arguments[name] for name in names if self.arguments.get(name) is not None]
        return [operand for item in given for operand in (item if isinstance(item, tuple) else (item,))]


def cases(probe: Probe) -> list[Case]:
    """What was observed. Dtypes beyond the twelve count where the operator takes all of them."""
    exotic = all(probe.observed.get(probe.alike(dtype)) is not None for dtype in EXOTIC)
    exotic_argument = all(probe.observed.get(probe.into(dtype)) is not None for dtype in EXOTIC)
    found: list[Case] = []
    for seen, given in probe.observed.items():
        arguments: dict[str, Any] = dict(probe.flags)
        numbers: set[str] = set()
        for slot, choice in zip(probe.slots, seen, strict=True):
            arguments[slot.name] = choice if slot.index is None else (*arguments.get(slot.name, ()), choice)
            if slot.is_tensor and isinstance(choice, Operand) and choice.tier == 0:
                numbers.add(slot.name)
        operands = {item.dtype for item in seen if isinstance(item, Operand)}
        if (exotic or operands.isdisjoint(EXOTIC)) and (exotic_argument or set(seen).isdisjoint(EXOTIC)):
            found.append(Case(arguments, given, frozenset(numbers)))
    return found


def predicted(rule: DtypeRule, case: Case) -> tuple[DType, ...] | None:
    """What a rule says of a call."""
    try:
        return rule.infer(case.arguments)
    except DtypeError:
        return None


def disagreements(rule: DtypeRule, observed: Iterable[Case], at_most: float = float("inf")) -> list[Case]:
    """Cases of which a rule says something else. Stops when there are more than `at_most`."""
    found: list[Case] = []
    for case in observed:
        if case.numbers.issubset(rule.promotes) and predicted(rule, case) != case.given:
            found.append(case)
            if len(found) > at_most:
                break
    return found


def set_names(dtypes: Collection[DType]) -> str | list[str]:
    """The shortest way to write a set of dtypes: one of DTYPE_SETS, a few of them, single names for what is left."""
    left = set(dtypes)
    names: list[str] = []
    for name, members in sorted(DTYPE_SETS.items(), key=lambda item: -len(item[1])):
        if left.issuperset(members) or (not names and left == set(members)):
            names.append(name)
            left -= set(members)
    names += [dtype.name for dtype in dt.DTYPES if dtype in left]
    return names[0] if len(names) == 1 and names[0] in DTYPE_SETS else names


def fit(spec: OperatorSpec, probes: Sequence[Probe]) -> tuple[Rule, list[Case]]:
    """The shortest entry that agrees with what was observed; else the best, and where it does not."""
    observed = [case for probe in probes for case in cases(probe)]
    flag = deciding_flag(probes)
    if flag is None:
        return fit_plain(spec, observed)
    by_value: dict[Any, list[Case]] = defaultdict(list)
    for case in observed:
        by_value[case.arguments[flag]].append(case)
    fits = {value: fit_plain(spec, group)[0] for value, group in by_value.items()}
    # What most values have is the rule, the others are its cases.
    default = spec.schema.argument(flag).default
    said = list(fits.values())
    usual = max(fits, key=lambda value: (said.count(fits[value]), value == default, -len(str(fits[value]))))
    whens = [{flag: value} | entry for value, entry in fits.items() if entry != fits[usual]]
    entry = fits[usual] | {"when": whens}
    return entry, disagreements(expand(spec.schema, entry), observed)


def deciding_flag(probes: Sequence[Probe]) -> str | None:
    """The argument that tells apart probes with different observations; None where there are none such."""

    def disagree(some: Iterable[Probe]) -> bool:
        said: dict[Any, Any] = {}
        return any(
            said.setdefault((len(probe.slots), seen), given) != given
            for probe in some
            for seen, given in probe.observed.items()
        )

    if not disagree(probes):
        return None
    for flag in probes[0].flags:
        values = {probe.flags[flag] for probe in probes}
        if not any(disagree(probe for probe in probes if probe.flags[flag] == value) for value in values):
            return flag
    return None


def fit_plain(spec: OperatorSpec, observed: list[Case]) -> tuple[Rule, list[Case]]:
    """As `fit`, for observations that no flag decides."""
    short, left = fit_short(spec, observed)
    if not left or compares(observed):
        return short, left
    rows = fit_rows(spec, observed)
    if rows is not None:
        found = disagreements(expand(spec.schema, rows), observed)
        if len(found) < len(left) and (len(rows["type_constraint"]) <= 3 or len(left) > len(observed) * RARE):
            return rows, found
    return short, left


ROWS = 8
"""Rows beyond which a rule is no longer readable, and a short one with exceptions better..."""
RARE = 0.05
"""...as it is if there are more than three for the sake of this share of the cases."""


def fit_short(spec: OperatorSpec, observed: list[Case]) -> tuple[Rule, list[Case]]:
    """The entry of the short form that agrees best with what was observed, and where it does not."""
    accepted = [case for case in observed if case.given is not None]
    best: Rule = {}
    left = observed
    for entry in candidates(spec, accepted):
        found = disagreements(expand(spec.schema, entry), observed, len(left) - 1 if best else len(left))
        if not best or len(found) < len(left):
            best, left = entry, found
        if not left:
            break
    return best, left


def compares(observed: Iterable[Case]) -> bool:
    """Whether results are always Bool: then what operands promote to is not seen, but they do all the same."""
    return {case.given for case in observed if case.given is not None} == {(dt.Bool,)}


def candidates(spec: OperatorSpec, accepted: list[Case]) -> Iterator[Rule]:
    """Entries that could describe the accepted cases, simple ones first."""
    schema = spec.schema
    by_dtype = any(argument.type.base == "ScalarType" for argument in schema.arguments)
    rules = [name for name in NAMED_RULES if name.startswith("dtype") == by_dtype]
    present = {name for case in accepted for name, value in case.arguments.items() if value is not None}
    tensors = [
        argument.name for argument in schema.arguments if argument.type.is_tensor and argument.name in present
    ]
    numbers = any(argument.type.base == "Scalar" for argument in schema.arguments)
    if compares(accepted):
        yield from completed(schema, "bool", (), accepted)
        return
    for count in range(max(1, len(tensors) + numbers)):
        for own in itertools.combinations(reversed(tensors), count):
            for rule in rules:
                yield from completed(schema, rule, own, accepted)


def completed(schema: FunctionSchema, rule: str, own: Sequence[str], accepted: list[Case]) -> Iterator[Rule]:
    """Entries of a named rule, with the sets of dtypes that the accepted cases have."""
    named = NAMED_RULES[rule]
    taking = participants(schema, named, own)
    head: Rule = {"rule": rule}
    usable = [
        case for case in accepted if not case.numbers or (named.promotes and case.numbers.issubset(taking))
    ]
    computing: dict[int, DType] = {}
    for case in usable:
        operands = tuple(case.operands(taking))
        if operands and named.promotes:
            try:
                computing[id(case)] = result_type(operands)
            except DtypeError:
                continue  # these do not promote, yet PyTorch takes them
        elif operands:
            computing[id(case)] = operands[0].dtype
    by_itself = [case for case in usable if case.arguments.get("dtype") is None and id(case) in computing]
    types = {
        computing[id(case)]
        for case in by_itself
        if named.promotes or len({operand.dtype for operand in case.operands(taking)}) == 1
    }
    dtype = {case.arguments["dtype"] for case in usable if case.arguments.get("dtype") is not None}
    middle: Rule = {}
    if not taking:
        types = types or dtype
    if types != set(PROBED) and types:
        middle["types"] = set_names(types)
    if dtype and dtype != types:
        middle["dtype"] = set_names(dtype)
    for name in reversed(own):
        middle[name] = _listed(
            set_names({operand.dtype for case in usable for operand in case.operands([name])})
        )
    for argument in schema.arguments:
        if argument.type.base == "Scalar" and argument.name not in taking:
            middle |= _number_rule(argument.name, usable, computing)
    entry = head | middle
    yield entry | _returns(schema, entry, usable)
    if named.promotes and len(taking) > 1:
        entry |= {
            "operands": set_names({operand.dtype for case in usable for operand in case.operands(taking)})
        }
        yield entry | _returns(schema, entry, usable)


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _number_rule(name: str, usable: list[Case], computing: Mapping[int, DType]) -> Rule:
    """What a number that does not promote may be: nothing to say, one of NUMBER_RULES, or fixed categories."""
    pairs: set[tuple[Category, DType]] = set()
    for case in usable:
        for number in case.operands([name]):
            dtype = case.arguments.get("dtype") or computing.get(
                id(case), case.given[0] if case.given else None
            )
            if dtype is not None:
                pairs.add((dtype.category, number.dtype))
    categories = {category for category, _ in pairs}
    for rule, table in NUMBER_RULES.items():
        if pairs == {(category, number) for category in categories for number in table[category]}:
            return {} if rule == "Number" else {name: rule}
    seen = {number for _, number in pairs}
    return {name: [dtype.name for dtype in NUMBER_DTYPE.values() if dtype in seen]} if seen else {}


def _returns(schema: FunctionSchema, entry: Rule, usable: list[Case]) -> Rule:
    """The results that are not as the rule has them."""
    rule = expand(schema, entry)
    pairs = [(predicted(rule, case), case.given) for case in usable]
    known = [(said, given) for said, given in pairs if said is not None and given is not None]
    found: Rule = {}
    for i in range(len(known[0][1]) if known else 0):
        said_given = {(said[i], given[i]) for said, given in known}
        if all(said is given for said, given in said_given):
            continue
        givens = {given for _, given in said_given}
        for name, table in RETURN_RULES.items():
            if all(table.get(said, said) is given for said, given in said_given):
                found[f"__ret_{i}"] = name
        if len(givens) == 1:
            found[f"__ret_{i}"] = givens.pop().name
    return found


# --- explicit rows -------------------------------------------------------------------------------------------

Point = tuple["DType | None", ...]
"""The dtypes of the arguments, by position."""


def fit_rows(spec: OperatorSpec, observed: list[Case]) -> Rule | None:
    """Rows that cover the accepted cases and none of the others, greedily: always the row that covers most.

    None for operators with lists of tensors, and where two cases of the same dtypes differ.
    """
    names = [
        argument.name
        for argument in spec.schema.arguments
        if argument.type.base in ("Tensor", "Scalar", "ScalarType")
        and observed
        and argument.name in observed[0].arguments
    ]
    points: dict[Point, tuple[DType, ...] | None] = {}
    for case in observed:
        values = [case.arguments.get(name) for name in names]
        if case.numbers:
            continue
        if any(isinstance(value, tuple) for value in values):
            return None
        point = tuple(value.dtype if isinstance(value, Operand) else value for value in values)
        if points.setdefault(point, case.given) != case.given:
            return None
    writer = RowWriter(spec, names)
    left = {point: given for point, given in points.items() if given is not None}
    while left:
        if len(writer.lines) == ROWS:
            return None
        box = max(
            (box for pattern in patterns(len(names)) for box in boxes(pattern, points, left)), key=Box.rank
        )
        writer.add(box)
        left = {point: given for point, given in left.items() if not box.covers(point)}
    return writer.entry()


def patterns(count: int) -> Iterator[tuple[int, ...]]:
    """The ways to share variables: for each of `count` arguments the number of its variable."""

    def extend(pattern: tuple[int, ...], used: int) -> Iterator[tuple[int, ...]]:
        if len(pattern) == count:
            yield pattern
            return
        for variable in range(min(used + 1, 3)):
            yield from extend((*pattern, variable), max(used, variable + 1))

    yield from extend((), 0)


@dataclass
class Box:
    """A row in the making: variables, and the dtypes that each ranges over."""

    pattern: tuple[int, ...]
    sets: list[set[DType | None]]
    returns: tuple[int | DType, ...]
    """For each result a variable, or a dtype."""
    covered: int = 0

    def values(self, point: Point) -> list[DType | None] | None:
        """The variables' dtypes at a point; None where one would need two."""
        values: dict[int, DType | None] = {}
        for variable, dtype in zip(self.pattern, point, strict=True):
            if values.setdefault(variable, dtype) is not dtype:
                return None
        return [values[variable] for variable in sorted(values)]

    def covers(self, point: Point) -> bool:
        values = self.values(point)
        return values is not None and all(
            value in held for value, held in zip(values, self.sets, strict=True)
        )

    def rank(self) -> tuple[int, int]:
        return self.covered, -len(self.sets)


def boxes(
    pattern: tuple[int, ...], points: Mapping[Point, Any], left: Mapping[Point, tuple[DType, ...]]
) -> Iterator[Box]:
    """Boxes of a pattern around the first point not covered yet, grown as far as the observations allow."""
    seed = Box(pattern, [], ())
    consistent = {point: values for point in points if (values := seed.values(point)) is not None}
    start = next((point for point in left if point in consistent), None)
    if start is None:
        return
    at = consistent[start]
    given = left[start]
    bound = [[*(v for v, dtype in enumerate(at) if dtype is ret), ret] for ret in given]
    for returns in itertools.product(*bound):
        for order in (range(len(at)), range(len(at) - 1, -1, -1)):
            box = Box(pattern, [{dtype} for dtype in at], returns)

            def fits(box: Box = box) -> bool:
                return all(
                    points[point]
                    == tuple(ret if isinstance(ret, DType) else values[ret] for ret in box.returns)
                    for point, values in consistent.items()
                    if all(value in held for value, held in zip(values, box.sets, strict=True))
                )

            for variable in order:
                for dtype in sorted({values[variable] for values in consistent.values()}, key=str):
                    if dtype is None or None in box.sets[variable] or dtype in box.sets[variable]:
                        continue
                    box.sets[variable].add(dtype)
                    if not fits():
                        box.sets[variable].remove(dtype)
            box.covered = sum(box.covers(point) for point in left)
            yield box


class RowWriter:
    """Boxes as an entry with explicit rows."""

    def __init__(self, spec: OperatorSpec, names: Sequence[str]) -> None:
        self.spec = spec
        self.names = names
        self.aliases: dict[str, Any] = {}
        self.lines: list[dict[str, str]] = []

    def add(self, box: Box) -> None:
        variables: list[str] = []
        for held in box.sets:
            dtypes = {dtype for dtype in held if dtype is not None}
            if len(dtypes) <= 1:
                variables.append(next(iter(dtypes)).name if dtypes else ABSENT)
                continue
            names = set_names(dtypes)
            known = (name for name, held in self.aliases.items() if held == names and name not in variables)
            variable = next(known, f"T{len(self.aliases)}")
            self.aliases[variable] = names
            variables.append(variable)
        line = {name: variables[variable] for name, variable in zip(self.names, box.pattern, strict=True)}
        for i, ret in enumerate(box.returns):
            line[f"__ret_{i}"] = ret.name if isinstance(ret, DType) else variables[ret]
        self.lines.append(line)

    def entry(self) -> Rule:
        return {"type_alias": self.aliases, "type_constraint": self.lines}
