"""The operators, as data, an entry each in the file of its family:

    - func: aten::div.Tensor(Tensor self, Tensor other) -> Tensor     # the FunctionSchema, as PyTorch writes it
      tags: [core, pointwise]
      shares: self                                                    # whose memory the result lies in, if anyone's
      rule: int_to_float                                              # the dtype rule: all further keys (dtype_rules.py)

This module finds entries by name. It reads text, and parses an entry when someone asks for it: a program uses a few dozen
of the operators, and `xdsl-opt` must start fast with all of them known. Users' operators (`xdsl_exir.libraries`) are in
the same table, from files of the same form.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from xdsl_exir.dialects.dtype_rules import DtypeRule
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.named_rules import expand
from xdsl_exir.dialects.schema import FunctionSchema, Type
from xdsl_exir.dialects.sharing import Sharing
from xdsl_exir.errors import SpecError
from xdsl_exir.libraries import WAYS, found
from xdsl_exir.threads import cached_property, once

FAMILIES = (
    "pointwise",
    "activation",
    "special",
    "reduction",
    "matmul",
    "linear_algebra",
    "fft",
    "convolution",
    "pooling",
    "resampling",
    "normalization",
    "attention",
    "recurrent",
    "loss",
    "backward",
    "view",
    "slicing",
    "joining",
    "indexing",
    "creation",
    "random",
    "symbolic",
    "quantization",
    "layout",
)
"""Families of schema operators; each stage has a file of this name. (Control flow has no schemas.)"""


def families(*names: str) -> frozenset[str]:
    """A set of families. Raises `SpecError` for what is none."""
    for name in names:
        if name not in FAMILIES:
            raise SpecError(f"no family '{name}'")
    return frozenset(names)


BY_ELEMENTS = families("pointwise", "activation", "special")
"""Families of operators that compute element by element. (`glu`, `prelu` look at where an element is.)"""
MOVING = families("view", "slicing", "joining", "layout")
"""Families of operators that move elements, and compute none."""

ENTRY = re.compile(
    r"^- func: (?P<schema>(?P<namespace>\w+)::(?P<name>[\w.]+)(?:\(.*)?)\n(?:  tags: \[(?P<tags>[\w, ]*)\]\n)?"
    r"(?:  shares: (?P<shares>.*)\n)?(?P<rule>(?:  .*\n)*)",
    re.MULTILINE,
)
"""An entry of a family's file, its parts in this order. (Of a new one `make spec` fills in all but the name.)"""


@dataclass(frozen=True)
class Constrained:
    """An argument or result of an operator with the dtypes that it may have."""

    name: str
    """Of a result PyTorch's name for it, mostly none."""
    type: Type
    allowed_types: frozenset[DType]
    """Empty where it has no dtype, and of a number whatever may be one."""


def constrained(
    schema: FunctionSchema, rule: DtypeRule | None
) -> tuple[tuple[Constrained, ...], tuple[Constrained, ...]]:
    """A schema's arguments and results, each with what a rule allows."""
    nothing = frozenset[DType]()
    given = iter(rule.given if rule else ())
    arguments = (
        Constrained(
            argument.name, argument.type, rule.allowed.get(argument.name, nothing) if rule else nothing
        )
        for argument in schema.arguments
    )
    returns = (
        Constrained(ret.name, ret.type, next(given, nothing) if ret.type.is_tensor else nothing)
        for ret in schema.returns
    )
    return tuple(arguments), tuple(returns)


@dataclass(frozen=True)
class OperatorSpec:
    """All that the spec says of one operator."""

    qualified_name: str
    """`aten.add.Tensor`"""
    schema_text: str
    family: str
    tags: frozenset[str]
    rule_text: str = field(repr=False)
    """The keys of its dtype rule, as YAML; empty where it has none (it then takes and gives no tensors)."""
    functions: str = ""
    """Of a user's operator where its functions of all stages are: a module's name, or the path of a `.py` file."""
    writes: tuple[str, ...] = ()
    """Of a user's operator the arguments that PyTorch's writes: in the IR their new values are its last results."""
    shares: str = ""
    """Which operand's memory the result lies in, and when, as `Sharing.parse` reads it; empty where it has its own."""
    place: str = field(default="", compare=False)
    """Of a user's operator where it is specified: `mylib.yaml:3`."""

    @cached_property
    def schema(self) -> FunctionSchema:
        return FunctionSchema.parse(self.schema_text)

    @cached_property
    def arguments(self) -> tuple[Constrained, ...]:
        """The arguments, each with the dtypes that it may have in some combination."""
        return constrained(self.schema, self.dtype_rule)[0]

    @cached_property
    def returns(self) -> tuple[Constrained, ...]:
        """The results, each with the dtypes that it may have in some combination."""
        return constrained(self.schema, self.dtype_rule)[1]

    @cached_property
    def sharing(self) -> Sharing | None:
        return Sharing.parse(self.shares) if self.shares else None

    @cached_property
    def dtype_rule(self) -> DtypeRule | None:
        if not self.rule_text:
            return None
        import yaml

        return expand(
            self.schema, yaml.load(self.rule_text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        )


class SpecTable(Mapping[str, OperatorSpec]):
    """Specs by qualified name, in the order of their files."""

    def __init__(self) -> None:
        self._specs: dict[str, OperatorSpec] = {}

    def add(self, family: str, text: str) -> None:
        """Adds the operators of one family's file."""
        for match in ENTRY.finditer(text):
            name = f"{match['namespace']}.{match['name']}"
            if name in self._specs:
                raise SpecError(f"{name} is specified twice")
            tags = frozenset(re.findall(r"\w+", match["tags"] or ""))
            shares = match["shares"] or ""
            self._specs[name] = OperatorSpec(
                name, match["schema"], family, tags, match["rule"], shares=shares
            )

    def extend(self, added: Iterable[OperatorSpec]) -> None:
        """Adds users' operators, all or none. Raises `SpecError` where one is known already."""
        new: dict[str, OperatorSpec] = {}
        for spec in added:
            known = new.get(spec.qualified_name) or self._specs.get(spec.qualified_name)
            if known is not None:
                before = f"before at {known.place}" if known.place else "it is built in"
                raise SpecError(f"{spec.place}: {spec.qualified_name} is specified twice, {before}")
            new[spec.qualified_name] = spec
        self._specs = {**self._specs, **new}  # others may be going through those there were

    def remove(self, names: Collection[str]) -> None:
        """Takes operators away."""
        self._specs = {name: spec for name, spec in self._specs.items() if name not in names}

    @property
    def homes(self) -> frozenset[str]:
        """Where the functions of users' operators are: modules, and paths of `.py` files."""
        return frozenset(spec.functions for spec in self._specs.values() if spec.functions)

    def __getitem__(self, name: str) -> OperatorSpec:
        return self._specs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)


@once
def specs() -> SpecTable:
    """The built-in operators, and those of the libraries that the environment names. `register_ops` adds to them.

    Raises `SpecError` for a library that is not right.
    """
    folder = files("xdsl_exir.dialects.spec")
    table = SpecTable()
    for family in FAMILIES:
        table.add(family, folder.joinpath(f"{family}.yaml").read_text(encoding="utf-8"))
    if found():
        from xdsl_exir.dialects.spec.library import read_found

        table.extend(read_found())
    return table


def find(name: str) -> OperatorSpec:
    """The spec of an operator, by qualified name (`aten.add.Tensor`). Raises `SpecError` where there is none."""
    try:
        return specs()[name]
    except KeyError:
        raise SpecError(f"unknown operator '{name}'{hint(name)}") from None


def hint(name: str) -> str:
    """What to say to an unknown operator: what it is of PyTorch's own, and else how to register its namespace, where no
    operator of that is known."""
    from xdsl_exir.dialects.spec.of_pytorch import OF_PYTORCH

    for beginning, what in OF_PYTORCH.items():
        if name == beginning or (beginning.endswith(".") and name.startswith(beginning)):
            return f", {what}"
    namespace = name.partition(".")[0]
    if any(known.startswith(f"{namespace}.") for known in specs()):
        return ""
    return f": no operators of namespace '{namespace}' are registered (by {WAYS})"


def dump(rule: Mapping[str, Any]) -> str:
    """A dtype rule as YAML text."""
    import yaml

    return yaml.safe_dump(dict(rule), sort_keys=False, default_flow_style=None)
