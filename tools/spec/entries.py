"""The families' files as what makes them from PyTorch sees them: entries, of which each tool brings one part up to date."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl_exir.dialects import spec
from xdsl_exir.narrowing import is_list, is_mapping

FOLDER = Path(spec.__file__).parent


@dataclass(frozen=True)
class Entry:
    """An operator's entry, its parts as text."""

    namespace: str
    name: str
    """With its overload: `add.Tensor`."""
    schema: str
    """`aten::add.Tensor(Tensor self, ...) -> Tensor`; of an entry that is new only the name."""
    tags: frozenset[str]
    shares: str
    rule: str
    """Lines of YAML, indented."""

    @property
    def qualified_name(self) -> str:
        return f"{self.namespace}.{self.name}"

    @staticmethod
    def of(match: re.Match[str]) -> Entry:
        """The entry that `spec.ENTRY` found."""
        tags = frozenset(re.findall(r"\w+", match["tags"] or ""))
        return Entry(
            match["namespace"], match["name"], match["schema"], tags, match["shares"] or "", match["rule"]
        )

    def __str__(self) -> str:
        tags = f"  tags: [{', '.join(sorted(self.tags))}]\n" if self.tags else ""
        shares = f"  shares: {self.shares}\n" if self.shares else ""
        return f"- func: {self.schema}\n{tags}{shares}{self.rule}"


def rewrite(change: Callable[[Entry], Entry], check: bool) -> int:
    """Writes what `change` makes of each entry, unless it is only to `check`; how many files differ, with their names
    printed."""
    stale = 0
    for family in spec.FAMILIES:
        path = FOLDER / f"{family}.yaml"
        before = path.read_text(encoding="utf-8")
        after = spec.ENTRY.sub(lambda match: str(change(Entry.of(match))), before)
        stale += before != after
        if before != after:
            print(f"{path.name}: {'out of date' if check else 'updated'}")
            if not check:
                path.write_text(after, encoding="utf-8")
    return stale


def options(doc: str | None, names: str = "") -> ArgumentParser:
    """The command line that these tools share; `names` says what operators given by name are for."""
    parser = ArgumentParser(description=doc.splitlines()[0] if doc else None)
    parser.add_argument(
        "--check", action="store_true", help="change nothing, exit 1 where a file is out of date"
    )
    if names:
        parser.add_argument(
            "names", nargs="*", help=f"operators to {names}; all are written if none is given"
        )
    return parser


# --- rules as text -------------------------------------------------------------------------------------------


def flow(value: Any) -> str:
    """A value as YAML in flow style."""
    if is_mapping(value):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if is_list(value):
        return "[" + ", ".join(map(flow, value)) + "]"
    return "null" if value is None else str(value)


def rule_text(rule: Mapping[str, Any]) -> str:
    """A dtype rule as it stands in an entry: a line for a key, an alias or a row."""
    text = ""
    for key, value in rule.items():
        if is_mapping(value) and value:
            text += f"  {key}:\n" + "".join(f"    {name}: {flow(item)}\n" for name, item in value.items())
        elif is_list(value) and value and is_mapping(value[0]):
            text += f"  {key}:\n" + "".join(f"  - {flow(row)}\n" for row in value)
        else:
            text += f"  {key}: {flow(value)}\n"
    return text
