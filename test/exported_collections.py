"""PyTorch's own collections of what can be exported, through everything: a table of how far each entry comes.

    python test/exported_collections.py [NAME ...]

The collections are the examples of `torch._export.db` and the operators of `torch.testing._internal.hop_db`. An entry is exported
by PyTorch as it stands, imported, run in the interpreter, and natively without fallback; results and inputs that are
written to have to be eager's. The table gives the reason where an entry goes no further.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

import xdsl_exir
from xdsl_exir.errors import ExirError

TESTLIB = Path(__file__).with_name("testlib.yaml")
"""What PyTorch's collection calls its own operator; beside it what it does."""

STEPS = ("export", "import", "interpreter", "native")
"""What happens to an entry, in order; each needs what is before it, but for the two ways of running."""


@dataclass
class Entry:
    """An entry of a collection: a module and arguments to call it with."""

    name: str
    model: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])
    dynamic_shapes: Any = None


class Function(torch.nn.Module):
    """A function as module, called with tensors; its other arguments, functions among them, are part of it."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]):
        super().__init__()
        self.function, self.others, self.kwargs = function, args, kwargs

    def forward(self, *tensors: Any) -> Any:
        given = iter(tensors)
        args = [next(given) if is_data(other) else other for other in self.others]
        return self.function(*args, **self.kwargs)


def is_data(value: Any) -> bool:
    """Whether an argument is a tensor or a list of tensors."""
    return isinstance(value, torch.Tensor) or (isinstance(value, list) and all(map(is_data, value)))


def examples() -> Iterator[Entry]:
    """The examples of `torch._export.db`."""
    from torch._export.db.examples import all_examples

    for name, case in sorted(all_examples().items()):
        yield Entry(f"db.{name}", case.model, case.example_args, case.example_kwargs, case.dynamic_shapes)


@cache
def register_testlib() -> None:
    """Says what the operator is that `hop_db` registers with PyTorch."""
    xdsl_exir.register_ops(TESTLIB)


def higher_order_operators() -> Iterator[Entry]:
    """The entries of `hop_db`, each with its first sample in float32."""
    from torch.testing._internal.hop_db import hop_db

    register_testlib()
    for info in hop_db:
        torch.manual_seed(0)
        # To their end: a generator of PyTorch's that is collected in an export breaks the tracer
        sample, *_ = info.sample_inputs("cpu", torch.float32, requires_grad=False)
        args = (sample.input, *sample.args)
        model = Function(info.op, args, sample.kwargs)
        yield Entry(f"hop.{info.name}.{info.variant_test_name}", model, tuple(filter(is_data, args)))


Collection = Callable[[], Iterator[Entry]]


def entries() -> Iterator[Entry]:
    """All entries."""
    yield from examples()
    yield from higher_order_operators()


def as_arrays(value: Any) -> Any:
    """A pytree with arrays for its tensors, in memory of their own."""
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.detach().numpy().copy(), value)


def compare(what: str, got: Any, wanted: Any) -> None:
    """Raises `AssertionError` unless two pytrees have equal leaves."""
    ours, theirs = map(torch.utils._pytree.tree_leaves, (got, as_arrays(wanted)))
    assert len(ours) == len(theirs), f"{what}: {len(ours)} for {len(theirs)}"
    for a, b in zip(ours, theirs, strict=True):
        if isinstance(b, np.ndarray):
            assert a.dtype == b.dtype, f"{what}: {a.dtype} for {b.dtype}"
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5, err_msg=what)
        else:
            assert a == b, f"{what}: {a!r} for {b!r}"


def run(program: xdsl_exir.Program, entry: Entry, target: str) -> None:
    """Runs a program and compares it with eager. Raises `AssertionError` where they differ."""
    args, kwargs = as_arrays((entry.args, entry.kwargs))
    results = xdsl_exir.compile(program, target=target)(*args, **kwargs)
    eager, (eager_args, eager_kwargs) = copy.deepcopy((entry.model, (entry.args, entry.kwargs)))
    with torch.no_grad():
        wanted = eager(*eager_args, **eager_kwargs)
    compare("results", results, wanted)
    compare("inputs", (args, kwargs), (eager_args, eager_kwargs))


def reason(error: Exception) -> str:
    """The first line that says what is in the way."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"


def follow(entry: Entry) -> dict[str, str | None]:
    """How far an entry comes: by step, None or the reason why it fails. What follows a failure is left out."""
    try:
        exported = torch.export.export(
            copy.deepcopy(entry.model), entry.args, entry.kwargs, dynamic_shapes=entry.dynamic_shapes
        )
    except Exception as error:  # PyTorch's own refusals are of all kinds
        return {"export": reason(error)}
    try:
        program = xdsl_exir.from_exported_program(exported)
    except ExirError as error:
        return {"export": None, "import": reason(error)}
    found: dict[str, str | None] = {"export": None, "import": None}
    for target in ("interpreter", "native"):
        try:
            run(program, entry, target)
            found[target] = None
        except (ExirError, AssertionError) as error:
            found[target] = reason(error)
    return found


def results(chosen: Iterable[Entry]) -> dict[str, dict[str, str | None]]:
    """How far entries come, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {entry.name: follow(entry) for entry in chosen}


def main(names: list[str]) -> None:
    """Prints the table."""
    table = results(entry for entry in entries() if not names or entry.name in names)
    width = max(map(len, table))
    for name, steps in table.items():
        marks = " ".join(f"{step if step in steps and steps[step] is None else '-':11}" for step in STEPS)
        print(
            f"{name:{width}} {marks} {'; '.join(dict.fromkeys(why for why in steps.values() if why))}".rstrip()
        )
    for collection in ("db", "hop"):
        chosen = [steps for name, steps in table.items() if name.startswith(f"{collection}.")]
        counts = [sum(step in steps and steps[step] is None for steps in chosen) for step in STEPS]
        figures = ", ".join(f"{step} {count}" for step, count in zip(STEPS, counts, strict=True))
        print(f"{collection}: {len(chosen)} entries: {figures}")


if __name__ == "__main__":
    main(sys.argv[1:])
