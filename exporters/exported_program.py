"""Gives PyTorch a program back as a `torch.export.ExportedProgram`: the mirror of `importers.exported_program`.

There is one exporter, that of `.pt2` archives; this one lets PyTorch read such an archive from memory. It is the only
module here that imports torch, and does it inside its functions.
"""

from __future__ import annotations

import importlib
import io
from typing import Any

from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.graph import ExportedGraph, Symbolic, SymMeta, TensorMeta, ValueMeta
from xdsl_exir.exporters.pt2 import MODEL, with_tuples, write_pt2


def exported_program_of(graph: ExportedGraph) -> Any:
    """The `torch.export.ExportedProgram` of a program, its weights copied. Raises `UnsupportedError` as `write_pt2` does,
    and for constant results that PyTorch saves but does not load.
    """
    strings = [spec.value for spec in graph.outputs if isinstance(spec.value, str)]
    if strings:
        raise UnsupportedError([Unsupported(f"output {s!r}", "PyTorch loads no strings") for s in strings])
    torch: Any = importlib.import_module("torch")
    known = torch.utils._pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE
    graph = with_tuples(graph, known.__contains__)
    specs = [graph.signature.in_spec, graph.signature.out_spec]
    found = set[str]().union(
        *(pytree.kinds_of(pytree.loads(spec, graph.namedtuple_fields)) for spec in specs)
    )
    if unknown := sorted(found - set(known)):
        raise UnsupportedError(
            [
                Unsupported(f"container {name!r}", "not registered with PyTorch in this process")
                for name in unknown
            ]
        )
    archive = io.BytesIO()
    write_pt2(archive, {MODEL: graph})
    archive.seek(0)
    program = torch.export.load(archive)
    _without_derived_ranges(program)
    # PyTorch checks ranges and guards of programs with example inputs only.
    leaves = [
        spec.value if spec.kind == "constant_input" else _example(torch, graph.graph.values[spec.name])
        for spec in graph.inputs
        if spec.kind in ("user_input", "constant_input")
    ]
    program.example_inputs = torch.utils._pytree.tree_unflatten(leaves, program.call_spec.in_spec)
    return program


def _without_derived_ranges(program: Any) -> None:
    """Takes the ranges of derived sizes (`2*s0 + 1`) from those of symbols, where PyTorch 2.13 puts them when it loads a program: it cannot
    decompose what it saved itself. The program's own constraints keep them.
    """
    utils: Any = importlib.import_module("torch._export.utils")
    environment = utils._get_shape_env_from_gm(program.graph_module)
    ranges: dict[Any, Any] = {} if environment is None else environment.var_to_range
    for size in [each for each in ranges if not each.is_Symbol]:
        del ranges[size]


def _example(torch: Any, meta: ValueMeta) -> Any:
    """An input of a size that the program takes; tensors are zeros."""
    match meta:
        case TensorMeta():
            dtype = getattr(torch, meta.dtype.torch_name)
            sizes, strides = ([_number(n) for n in numbers] for numbers in (meta.sizes, meta.strides))
            return torch.empty_strided(sizes, strides, dtype=dtype, device=meta.device.name).zero_()
        case SymMeta():
            return _number(meta.expr)
        case _:
            raise AssertionError("custom objects do not leave the importers")


def _number(value: int | float | Symbolic) -> Any:
    return value.hint if isinstance(value, Symbolic) else value
