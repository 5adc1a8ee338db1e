"""Gives PyTorch a program back as a `torch.export.ExportedProgram`: the mirror of `importers.exported_program`.

There is one exporter, that of `.pt2` archives; this one lets PyTorch read such an archive from memory. It is the only
module here that imports torch, and does it inside its function.
"""

from __future__ import annotations

import importlib
import io
from typing import Any

from xdsl_exir.exporters.pt2 import MODEL, write_pt2
from xdsl_exir.importers.graph import ExportedGraph


def exported_program_of(graph: ExportedGraph) -> Any:
    """The `torch.export.ExportedProgram` of a program, its weights copied. Raises `UnsupportedError` as `write_pt2` does."""
    export: Any = importlib.import_module("torch.export")
    archive = io.BytesIO()
    write_pt2(archive, {MODEL: graph})
    archive.seek(0)
    return export.load(archive)
