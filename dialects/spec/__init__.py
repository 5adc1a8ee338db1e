"""The operators, as data: their schemas by family, and their dtype rules.

`<family>.yaml` lists FunctionSchemas as PyTorch writes them, with tags and whose memory results share; `edge.yaml` lists
dtype rules. This module
finds entries by name. It reads text, and parses an entry when someone asks for it: a program uses a few dozen of the
operators, and `xdsl-opt` must start fast with all of them known. Users' operators (`xdsl_exir.libraries`) are in the
same table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Any

from xdsl_exir.dialects.dtype_rules import DtypeRule, expand
from xdsl_exir.dialects.schema import FunctionSchema
from xdsl_exir.dialects.sharing import Sharing
from xdsl_exir.errors import SpecError
from xdsl_exir.libraries import WAYS, found
from xdsl_exir.threads import once

FAMILIES = (
    "pointwise",
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
    "indexing",
    "creation",
    "random",
    "symbolic",
    "quantization",
    "layout",
)
"""Families of schema operators; each stage has a file of this name. (Control flow has no schemas.)"""

_SCHEMA_ENTRY = re.compile(
    r"^- func: (?P<schema>(?P<namespace>\w+)::(?P<name>[\w.]+)\(.*)\n(?:  tags: \[(?P<tags>[\w, ]*)\]\n)?"
    r"(?:  shares: (?P<shares>.*)\n)?",
    re.MULTILINE,
)
_RULE_ENTRY = re.compile(r"^- (?:\{)?func: (?P<namespace>\w+)::(?P<name>[\w.]+)", re.MULTILINE)


@dataclass(frozen=True)
class OperatorSpec:
    """All that the spec says of one operator."""

    qualified_name: str
    """`aten.add.Tensor`"""
    schema_text: str
    family: str
    tags: frozenset[str]
    rule_text: str = field(repr=False)
    """The YAML list item of its dtype rule; empty where it has none (it then takes and gives no tensors)."""
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
    def sharing(self) -> Sharing | None:
        return Sharing.parse(self.shares) if self.shares else None

    @cached_property
    def dtype_rule(self) -> DtypeRule | None:
        if not self.rule_text:
            return None
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        [entry] = yaml.load(self.rule_text, Loader=loader)
        return expand(self.schema, entry)


class SpecTable(Mapping[str, OperatorSpec]):
    """Specs by qualified name, in the order of their files."""

    def __init__(self) -> None:
        self._specs: dict[str, OperatorSpec] = {}

    def add(self, family: str, schemas: str, rules: Mapping[str, str]) -> None:
        """Adds the operators of one family's file. `rules` gives dtype rule entries by qualified name."""
        for match in _SCHEMA_ENTRY.finditer(schemas):
            name = f"{match['namespace']}.{match['name']}"
            if name in self._specs:
                raise SpecError(f"{name} is specified twice")
            tags = frozenset(re.findall(r"\w+", match["tags"] or ""))
            rule, shares = rules.get(name, ""), match["shares"] or ""
            self._specs[name] = OperatorSpec(name, match["schema"], family, tags, rule, shares=shares)

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

    def __getitem__(self, name: str) -> OperatorSpec:
        return self._specs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)


def index_rules(text: str) -> dict[str, str]:
    """Dtype rule entries of an edge.yaml, as text, by qualified name."""
    matches = list(_RULE_ENTRY.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    return {
        f"{m['namespace']}.{m['name']}": text[m.start() : end] for m, end in zip(matches, ends, strict=True)
    }


@once
def specs() -> SpecTable:
    """The built-in operators, and those of the libraries that the environment names. `register_ops` adds to them.

    Raises `SpecError` for a library that is not right.
    """
    folder = files("xdsl_exir.dialects.spec")
    rules = index_rules(folder.joinpath("edge.yaml").read_text(encoding="utf-8"))
    table = SpecTable()
    for family in FAMILIES:
        path = folder.joinpath(f"{family}.yaml")
        if path.is_file():
            table.add(family, path.read_text(encoding="utf-8"), rules)
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


def dump(entry: Mapping[str, Any]) -> str:
    """A dtype rule as YAML text."""
    import yaml

    return yaml.safe_dump([dict(entry)], sort_keys=False, default_flow_style=None)
