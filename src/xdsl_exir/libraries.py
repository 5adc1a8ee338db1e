"""Users' libraries of operators: how they are found.

A library is a YAML file that lists operators (`dialects/spec/library.py` reads it) and, beside it, a Python file of
the same name that says what they do: shape rules, functions of the interpreter, decompositions, lowerings. Three ways lead to one:

- `xdsl_exir.register_ops("mylib.yaml")`, for this process;
- the environment variable `XDSL_EXIR_OPS`: paths of YAML files, separated as in `PATH`;
- an entry point of the group `xdsl_exir.operators` in an installed package's metadata, `mylib = "mypackage.ops"`: the
  operators of namespace `mylib` are in `ops.yaml` and `ops.py` of `mypackage`.

`xdsl-opt` asks for the namespaces, which are its dialects, whenever it starts. So finding imports next to nothing: a
library's YAML is read when operators are first looked up, its Python when one of its functions is first asked for.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from xdsl_exir.errors import SpecError

GROUP = "xdsl_exir.operators"
VARIABLE = "XDSL_EXIR_OPS"
WAYS = f"xdsl_exir.register_ops, an entry point of group {GROUP}, or {VARIABLE}"
"""For error messages: the ways to register a library."""

SCHEMA_NAMESPACES = ("aten", "dim_order_ops", "quantized_decomposed", "torch_nn", "transformers")
"""Namespaces of built-in operators, which are dialects already. A library may add to them."""
OWN_DIALECTS = ("backend", "edge", "exir", "higher_order")
"""Dialects of this package that hold no namespace of PyTorch's."""

_NAMESPACE = re.compile(r"^\s*(?:-\s*)?\{?\s*[\"']?func[\"']?:\s*[\"']?(\w+)::", re.MULTILINE)


@dataclass(frozen=True)
class Library:
    """Where a library is."""

    path: Path
    functions: str
    """Its Python: the name of a module, or the path of a `.py` file. Empty where it has none."""
    origin: str
    """How it was found, for error messages."""
    namespace: str = ""
    """The namespace that an entry point promises; empty where the file decides."""

    def text(self) -> str:
        """The YAML. Raises `SpecError` where there is no such file, or it is no text."""
        try:
            return self.path.read_text("utf-8")
        except OSError as error:
            raise SpecError(f"{self.origin}: {self.path}: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise SpecError(f"{self.origin}: {self.path}: not text ({error.reason})") from None

    def namespaces(self) -> list[str]:
        """The namespaces of its operators."""
        return [self.namespace] if self.namespace else _NAMESPACE.findall(self.text())


def python_beside(path: Path) -> str:
    """The Python file that belongs to a YAML file; empty where there is none."""
    python = path.with_suffix(".py")
    return str(python) if python.is_file() else ""


def _of_entry_point(entry: EntryPoint) -> Library:
    """The library of an entry point, found without importing the package: it may well import PyTorch."""
    origin = f"entry point '{entry.name} = {entry.value}' of group {GROUP}"
    top, *rest = entry.value.split(".")
    package = find_spec(top) if top.isidentifier() else None
    if package is None:
        raise SpecError(f"{origin}: no module '{top}'")
    if package.submodule_search_locations is None:
        folders = [Path(package.origin or "").parent]
    else:
        folders = [Path(folder) for folder in package.submodule_search_locations] if rest else []
    paths = [folder.joinpath(*(rest or [top])).with_suffix(".yaml") for folder in folders]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise SpecError(f"{origin}: no file {' or '.join(map(str, paths)) or f'{top}/<module>.yaml'}")
    return Library(path.resolve(), entry.value if python_beside(path) else "", origin, entry.name)


@cache
def found() -> tuple[Library, ...]:
    """The libraries that the environment variable and the entry points name, each file once.

    Raises `SpecError` for one that is not there.
    """
    libraries: dict[Path, Library] = {}
    for name in os.environ.get(VARIABLE, "").split(os.pathsep):
        if name:
            path = Path(name).resolve()
            libraries.setdefault(path, Library(path, python_beside(path), VARIABLE))
    for entry in entry_points(group=GROUP):
        library = _of_entry_point(entry)
        libraries.setdefault(library.path, library)
    return tuple(libraries.values())


def check_namespace(name: str) -> None:
    """Raises `SpecError` for a namespace that cannot be a dialect, since another dialect has its name."""
    from xdsl.universe import XDSL_UNIVERSE

    if name in OWN_DIALECTS or name in XDSL_UNIVERSE.all_dialects:
        raise SpecError(f"namespace '{name}' is the name of another dialect")


def functions_of(given: str | os.PathLike[str] | None) -> str:
    """Where functions are, in `OperatorSpec.functions`' form. Raises `SpecError` for a file that is not there."""
    text = "" if given is None else os.fspath(given)
    if not text.endswith(".py"):
        return text
    path = Path(text).resolve()
    if not path.is_file():
        raise SpecError(f"register_ops: no file {path}")
    return str(path)
