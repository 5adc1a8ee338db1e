"""xdsl-exir: PyTorch's Export IR as MLIR, through xDSL.

    program = xdsl_exir.load("model.pt2")
    run = xdsl_exir.compile(program.to_edge())
    outputs = run(*inputs)

Importing the package costs little: what a name needs is imported when the name is first used. PyTorch is needed by
`from_exported_program` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl_exir.threads import register_with_forks

register_with_forks()  # first of all, as forks wait for imports from now on

if TYPE_CHECKING:
    from xdsl_exir.errors import (
        ExirError,
        InputError,
        LoadError,
        SpecError,
        UnsupportedError,
        VerificationError,
    )
    from xdsl_exir.importers.fx_text import from_fx_text
    from xdsl_exir.importers.torchscript.graph_text import from_torchscript_text
    from xdsl_exir.interpreter.backend import register_backend
    from xdsl_exir.program import Program, from_exported_program, load
    from xdsl_exir.runtime.c.library import compile_library
    from xdsl_exir.runtime.diff import diff
    from xdsl_exir.runtime.executable import Executable, compile
    from xdsl_exir.runtime.saved import load_executable
    from xdsl_exir.runtime.targets import Memory, Target, register_target
    from xdsl_exir.runtime.tune import tune
    from xdsl_exir.transforms.backend_ops import backend_op
    from xdsl_exir.transforms.partitioner import partition
    from xdsl_exir.transforms.rewrite import rewrite
    from xdsl_exir.universe import register_ops, register_with_transformers, unregister_ops

    __version__: str

_HOMES = {
    **dict.fromkeys(
        ("ExirError", "InputError", "LoadError", "SpecError", "UnsupportedError", "VerificationError"),
        "errors",
    ),
    "from_fx_text": "importers.fx_text",
    "from_torchscript_text": "importers.torchscript.graph_text",
    **dict.fromkeys(("Program", "from_exported_program", "load"), "program"),
    **dict.fromkeys(("Executable", "compile"), "runtime.executable"),
    "compile_library": "runtime.c.library",
    "load_executable": "runtime.saved",
    "diff": "runtime.diff",
    **dict.fromkeys(("Memory", "Target", "register_target"), "runtime.targets"),
    "tune": "runtime.tune",
    "register_backend": "interpreter.backend",
    **dict.fromkeys(("register_ops", "register_with_transformers", "unregister_ops"), "universe"),
    "backend_op": "transforms.backend_ops",
    "partition": "transforms.partitioner",
    "rewrite": "transforms.rewrite",
}

__all__ = [
    "Executable",
    "ExirError",
    "InputError",
    "LoadError",
    "Memory",
    "Program",
    "SpecError",
    "Target",
    "UnsupportedError",
    "VerificationError",
    "backend_op",
    "compile",
    "compile_library",
    "diff",
    "from_exported_program",
    "from_fx_text",
    "from_torchscript_text",
    "load",
    "load_executable",
    "partition",
    "register_backend",
    "register_ops",
    "register_target",
    "register_with_transformers",
    "rewrite",
    "tune",
    "unregister_ops",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        return version("xdsl-exir")
    if name not in _HOMES:
        raise AttributeError(f"module 'xdsl_exir' has no attribute '{name}'")
    value = getattr(import_module(f"xdsl_exir.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
