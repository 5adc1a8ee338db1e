"""`register_ops`: a user's library of operators for this process, its namespaces as dialects included.

`dialects/spec/libraries.py` says what a library is, and finds those that the environment names.
"""

from __future__ import annotations

import os
from pathlib import Path

from xdsl_exir.dialects.spec import specs
from xdsl_exir.dialects.spec.libraries import (
    Library,
    dialects_of,
    functions_of,
    python_beside,
    registered_by_itself,
)
from xdsl_exir.dialects.spec.library import read
from xdsl_exir.program import context
from xdsl_exir.universe import XDSL_EXIR_UNIVERSE


def register_ops(
    source: str | os.PathLike[str], functions: str | os.PathLike[str] | None = None
) -> tuple[str, ...]:
    """Adds a library of operators to those known in this process, and gives their names (`mylib.my_op`).

    `source` is the path of a YAML file, or YAML text. `functions` is the Python that says what the operators do: a
    `.py` file or the name of a module, imported when first needed; by default the file beside `source`. The decorators
    (`shape_rule`, `impl`, `decomposition`, `lowering`) may also be used afterwards, anywhere.

    Raises `SpecError`, with file and line, for an entry that is not an operator, or an operator that is known already;
    then nothing is added. A file that `XDSL_EXIR_OPS` or an entry point names may be registered once more, which changes
    nothing.
    """
    table = specs()
    if isinstance(source, str) and ("\n" in source or "func:" in source):
        added = read(source, "<text>", functions_of(functions))
    else:
        path = Path(source).resolve()
        if functions is None and (names := registered_by_itself(path)) is not None:
            return names
        python = python_beside(path) if functions is None else functions_of(functions)
        added = Library(path, python, "register_ops").read()
    dialects = dialects_of([spec.schema.namespace for spec in added])
    table.extend(added)
    for name, dialect in dialects.items():
        XDSL_EXIR_UNIVERSE.all_dialects.setdefault(name, dialect)
    context.cache_clear()
    return tuple(spec.qualified_name for spec in added)
