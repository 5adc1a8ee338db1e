"""Which operators autocast calls in other dtypes on CPUs: a table, `autocast.yaml`, that is measured on PyTorch.

    python -m xdsl_exir.dialects.spec.autocast            # rewrites it
    python -m xdsl_exir.dialects.spec.autocast --check    # exits 1 where it differs

PyTorch has a kernel of autocast's for each such operator. It casts the tensors among the arguments that are floats of up to
32 bits, and calls the operator: in autocast's dtype (`lower_precision`), in Float (`float32`), or in the widest of their
dtypes (`widest`). Which of them is seen from its first cast. Reading the table needs no PyTorch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Literal, TypeAlias

Policy: TypeAlias = Literal["lower_precision", "float32", "widest"]

POLICIES: tuple[Policy, ...] = ("lower_precision", "float32", "widest")


@cache
def policies() -> Mapping[str, Policy]:
    """The dtype that operators are called in, by qualified name; of all others it is that of their arguments."""
    import yaml

    table = yaml.safe_load(
        files("xdsl_exir.dialects.spec").joinpath("autocast.yaml").read_text(encoding="utf-8")
    )
    return {name: policy for policy in POLICIES for name in table[policy]}


# --- how it is measured --------------------------------------------------------------------------------------


def measured() -> dict[str, Policy]:
    """The table of the installed PyTorch. Raises `ValueError` for an operator that does none of the three."""
    dispatcher = import_module("torch._C")
    names = dispatcher._dispatch_get_all_op_names()
    cast = [name for name in names if dispatcher._dispatch_has_kernel_for_dispatch_key(name, "AutocastCPU")]
    table: dict[str, Policy] = {name.replace("::", ".", 1): policy(name) for name in sorted(cast)}
    return {**table, **{name: table[layer] for name, layer in ONEDNN.items()}}


ONEDNN = {"aten.lstm.input": "aten.mkldnn_rnn_layer"}
"""Operators that PyTorch runs as one of oneDNN's layers on CPUs, which it casts."""


def policy(name: str) -> Policy:
    """What autocast does to one operator, by its schema's name (`aten::add.Tensor`)."""
    import torch

    if first_cast(name, repeat(torch.float32)) is torch.bfloat16:
        return "lower_precision"
    if first_cast(name, repeat(torch.bfloat16)) is torch.float32:
        return "float32"
    if first_cast(name, chain([torch.float32], repeat(torch.bfloat16))) is torch.float32:
        return "widest"
    raise ValueError(f"autocast casts no argument of {name}")


def first_cast(name: str, dtypes: Iterator[Any]) -> Any:
    """What autocast to bfloat16 first casts to when the operator is called with tensors of these dtypes, or None."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Casts(TorchDispatchMode):
        first: Any = None

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.ops.aten._to_copy.default:
                self.first = kwargs["dtype"]
            raise RuntimeError("what comes after the first operator is of no interest")

    namespace, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    operator = getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")
    arguments = {
        argument.name: example(str(argument.type), lambda: torch.ones(2, 2, dtype=next(dtypes)))
        for argument in operator._schema.arguments
        if not argument.has_default_value() or "Tensor" in str(argument.type)
    }
    casts = Casts()
    # The operator itself may refuse the arguments, after the casts.
    with suppress(RuntimeError), torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad(), casts:
        operator(**arguments)
    return casts.first


EXAMPLES: Mapping[str, Any] = {"int": 1, "float": 1.0, "bool": False, "number": 1, "str": ""}


def example(type: str, tensor: Callable[[], Any]) -> Any:
    """An argument of a type, good enough for what happens before the operator itself."""
    inner = type.removeprefix("Optional[").removeprefix("List[").rstrip("]").removeprefix("Optional[")
    if inner != "Tensor" and type.startswith("Optional["):
        return None
    one = tensor() if inner == "Tensor" else EXAMPLES[inner]
    if "List[" not in type:
        return one
    return [one, tensor()] if inner == "Tensor" else [one]


def as_text(table: Mapping[str, Policy]) -> str:
    """The table's file."""
    lines = ["# Which operators autocast calls in other dtypes on CPUs; measured on PyTorch (autocast.py)."]
    for policy in POLICIES:
        lines += [f"{policy}:", *(f"- {name}" for name, its in table.items() if its == policy)]
    return "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    """Writes the file, or says with `--check` whether it is up to date."""
    path, text = Path(str(files("xdsl_exir.dialects.spec").joinpath("autocast.yaml"))), as_text(measured())
    if "--check" in argv:
        return int(path.read_text(encoding="utf-8") != text)
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
