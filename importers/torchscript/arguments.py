"""What values of TorchScript are as arguments of aten's operators: numbers stand for dtypes, memory formats and layouts there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl_exir.dialects.dtypes import BY_CODE, DType
from xdsl_exir.dialects.schema import Argument
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.torchscript.values import Number, TensorValue
from xdsl_exir.narrowing import is_sequence, is_tuple

MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "_mkldnn")


def word(base: str, value: int) -> g.Value:
    """A number of TorchScript's that stands for a dtype, memory format or layout."""
    tables: Mapping[str, Sequence[Any]] = {"MemoryFormat": MEMORY_FORMATS, "Layout": LAYOUTS}
    if base == "ScalarType":
        if value not in BY_CODE:
            raise UnsupportedError([Unsupported(f"dtype {value}", "the IR has no such tensors")])
        return BY_CODE[value]
    if base in tables:
        if not 0 <= value < len(tables[base]):
            raise UnsupportedError([Unsupported(f"{base} {value}", "it is not known")])
        return (g.MemoryFormat if base == "MemoryFormat" else g.Layout)(tables[base][value])
    return value


def is_default(value: Any, argument: Argument) -> bool:
    """Whether an argument is what it is when it is left out."""
    if argument.required or isinstance(value, TensorValue | Number):
        return False
    default = argument.default
    if is_sequence(value):
        # Items that are values of the graph compare by identity.
        return is_tuple(default) and list(default) == list(value)
    return type(value) is type(default) and value == default


def dtype_of_code(code: int) -> DType:
    """The dtype that TorchScript writes as a number."""
    made = word("ScalarType", code)
    assert isinstance(made, DType)
    return made
