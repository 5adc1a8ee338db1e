"""Hugging Face's exporters with the programs of this package: `transformers.exporters` exports them, saves them and calls them.

    from transformers.exporters import AutoHfExporter
    xdsl_exir.register_with_transformers()
    exporter = AutoHfExporter.from_config({"export_format": "xdsl-exir"})
    exported = exporter.export(model, inputs, {"dynamic": True})
    exported(**inputs).logits                    # native code; exported.to(target="interpreter") for NumPy
    exported.program                             # the Program, for all else: passes, C libraries, .pt2
    exported.save_pretrained("folder")           # its own folder: exir_model.pt2 beside the configuration

The interface is that of transformers 5.23 (`transformers.exporters.register_backend`). Neither `transformers` nor PyTorch is
imported before `register_with_transformers` is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from xdsl_exir.errors import ExirError
from xdsl_exir.program import Program, from_exported_program, load
from xdsl_exir.runtime.executable import Executable, Fallback, compile

FORMAT = "xdsl-exir"
"""The `export_format`."""


@cache
def backend() -> tuple[Any, Any]:
    """The exporter and the runner, registered. They are made here, for what they are based on is there only now.

    Raises `ExirError` where `transformers` is not there, or has no exporters that others may add to."""
    try:
        exporters: Any = import_module("transformers.exporters")
        dynamo: Any = import_module("transformers.exporters.exporter_dynamo")
        register = exporters.register_backend
    except (ImportError, AttributeError) as error:
        raise ExirError(
            f"transformers 5.23 or later, with PyTorch, has exporters that others may add to; here: {error}"
        ) from error

    @dataclass
    class ExirConfig(exporters.DynamoConfig):
        """What `torch.export` is told."""

        export_format: str = FORMAT

    class ExirExporter(dynamo.DynamoExporter):
        """Exports a model by `torch.export`, as `DynamoExporter` does, to a `Program`. It is told what `DynamoExporter` is."""

        export_format = FORMAT
        config_class = ExirConfig
        program_prefix = "exir_"
        requires_trust_remote_code = False
        """Loading a program runs no code of it: nothing is unpickled."""

        def export_program(self, model: Any, sample_inputs: Any, config: Any) -> tuple[Program, Any]:
            made: Any = super()
            exported, metadata = made.export_program(model, sample_inputs, config)
            return from_exported_program(exported), metadata

        @classmethod
        def save_program(cls, program: Program, path: str | Path) -> None:
            program.save(path)

        @classmethod
        def load_program(cls, path: str | Path) -> Program:
            return load(path)

    class ExirRunner(exporters.ModelRunner):
        """Calls a program as its model is called: tensors in, on the CPU, and the model's own classes out."""

        def __init__(self, run: Executable, metadata: Any):
            made: Any = super()
            made.__init__(metadata)
            self.run = run
            spec_of: Any = import_module("transformers.exporters.metadata").load_treespec
            self.in_spec = spec_of(metadata.in_spec)

        @property
        def device(self) -> Any:
            return import_module("torch").device("cpu")

        @classmethod
        def from_program(
            cls,
            program: Program,
            metadata: Any,
            device: Any = None,
            target: str = "native",
            fallback: Fallback = "error",
            cpu: str | None = None,
        ) -> ExirRunner:
            """What `compile` makes of the program. Raises as it does, and `ExirError` for a device that is not the CPU."""
            if device is not None and str(device) != "cpu":
                raise ExirError(f"programs run on the CPU, not on {device}")
            return cls(compile(program, target, fallback, cpu), metadata)

        def __call__(self, share_inputs: bool = True, share_outputs: bool = False, **kwargs: Any) -> Any:
            given = {**self.metadata.in_constants, **kwargs}
            leaves = import_module("torch.fx._pytree").tree_flatten_spec(((), given), self.in_spec)
            if not share_inputs:
                leaves = [leaf.clone() if hasattr(leaf, "clone") else leaf for leaf in leaves]
            return self.unflatten(called(self.run, leaves))

    register(ExirExporter, ExirRunner)
    return ExirExporter, ExirRunner


def called(run: Executable, leaves: Sequence[Any]) -> list[Any]:
    """The flat results of the first method for the flat arguments that its model was called with, constants among both."""
    method = run.method()
    slots = method.convention.inputs if method.convention is not None else None
    if slots is not None:
        leaves = [leaf for leaf, slot in zip(leaves, slots, strict=True) if not slot.is_constant]
    return [as_tensor(value) for value in method.flat(leaves)]


def as_tensor(value: Any) -> Any:
    """An array as a tensor of PyTorch's over the same memory; what is none as it is."""
    if not hasattr(value, "dtype"):
        return value
    torch: Any = import_module("torch")
    array: Any = np.asarray(value)
    if not array.flags.writeable:
        array = array.copy()
    if array.dtype.isbuiltin == 1:
        return torch.from_numpy(array)
    held = torch.from_numpy(array.view(f"u{array.itemsize}"))
    return held.view(getattr(torch, array.dtype.name))


__all__ = ["FORMAT", "backend"]
