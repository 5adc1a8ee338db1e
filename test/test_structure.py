"""The house: rooms, and the one direction in which they import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import xdsl_exir
from xdsl_exir.dialects.spec import FAMILIES

PACKAGE = Path(xdsl_exir.__file__).parent
ROOMS = (
    ("errors", "files", "libraries", "limits", "locations", "names", "narrowing", "syntax", "threads"),
    ("dialects",),
    ("program",),
    ("interpreter",),
    ("transforms",),
    ("exchange",),
    ("importers",),
    ("exporters",),
    ("lowering",),
    ("targets",),
    ("runtime",),
    ("tools",),
)
"""Modules and folders of the package, lowest first: each imports what stands before it, those of one row each other."""
FACADE = ("__init__", "__main__", "universe")
"""What users see first. It imports what it calls, wherever that is, and nothing but the program's verbs imports it."""
VERBS = "program"
"""Data, which anybody above the dialects may make; the methods that do something import what they call when they are called."""

RANKS = {name: rank for rank, row in enumerate(ROOMS) for name in row}


def files(folder: Path = PACKAGE) -> Iterator[Path]:
    """The package's Python files, those of folders that are links included."""
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield from files(path)
        elif path.suffix == ".py":
            yield path


def imported(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """What a module imports of the package, anywhere in it: the first name below `xdsl_exir`, and the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "xdsl_exir":
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((name, node.lineno) for name in _below(node.module or ""))
        elif isinstance(node, ast.Import):
            yield from ((name, node.lineno) for alias in node.names for name in _below(alias.name))


def _below(module: str) -> list[str]:
    package, _, rest = module.partition(".")
    return [rest.partition(".")[0]] if package == "xdsl_exir" and rest else []


def test_every_module_has_a_room() -> None:
    found = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in files()}
    assert found == {*RANKS, *FACADE}


def test_imports_go_one_way() -> None:
    """Those inside functions and for types included."""
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path in files()
        if (room := path.relative_to(PACKAGE).parts[0].removesuffix(".py")) not in (*FACADE, VERBS)
        for name, line in imported(ast.parse(path.read_text()))
        if name in FACADE or RANKS.get(name, -1) > RANKS[room]
    ]
    assert not wrong, "\n".join(wrong)


def test_relative_imports_are_not_used() -> None:
    """They would hide from the test above."""
    for path in files():
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}:{node.lineno}"


@pytest.mark.parametrize(
    "name",
    [
        "interpreter.operators",
        "transforms.decompositions",
        "transforms.canonicalizations",
        "transforms.gradients",
        "dialects.shapes",
        "lowering.operators",
        "dialects.spec",
    ],
)
def test_families_have_one_name_everywhere(name: str) -> None:
    """One file each, called as the family is."""
    folder = PACKAGE.joinpath(*name.split("."))
    suffix = ".yaml" if name == "dialects.spec" else ".py"
    families = {path.stem for path in folder.iterdir() if path.suffix == suffix} - {"__init__"}
    assert families - OTHERS <= set(FAMILIES)


OTHERS = {"edge", "autocast", "control_flow"}
"""Files of the spec that are no family's; operations with regions are of none."""


LONGEST = 600
"""Lines of a file of code."""
LONGER = {
    "exchange/pt2_schema.py": "PyTorch's schema of archives as one table, and the combinators it is written in",
}
"""Files that may be longer, and why. (Stubs and the spec are data, which tools write.)"""


def test_files_are_short() -> None:
    long = {
        str(path.relative_to(PACKAGE)) for path in files() if len(path.read_text().splitlines()) > LONGEST
    }
    assert long == set(LONGER)
