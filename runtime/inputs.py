"""Random inputs for a program, where nobody gives any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.signature import InputKind, ranges_of
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, number_category, tensor_meta
from xdsl_exir.errors import InputError
from xdsl_exir.program import Program, signature_of
from xdsl_exir.runtime.executable import Executable, interpreting

SIZE = 3
"""What a symbol is whose range has it: neither 0 nor 1, and odd."""


def random_inputs(program: Program, seed: int = 0) -> list[Any]:
    """Flat user inputs of a program's first method: floats around 0, integers and booleans of 0 and 1.

    Integers are small since many are indices. A symbol is 3, or what of its range is next to it. Raises `InputError` where
    an input is no tensor and no number.
    """
    rng = np.random.default_rng(seed)
    method = Executable(program, interpreting(program)).method()
    bindings = {name: _within(bounds) for name, bounds in ranges_of(signature_of(program.method())).items()}
    user = (
        (spec.target, type)
        for spec, type in zip(method.inputs, method.types, strict=True)
        if spec.kind is InputKind.USER_INPUT
    )
    return [_random(name, type, bindings, rng) for name, type in user]


def _within(bounds: tuple[int | None, int | None]) -> int:
    low, high = bounds
    return min(max(SIZE, low or 0), SIZE if high is None else high)


def _random(name: str, type: Attribute, bindings: Mapping[str, int], rng: np.random.Generator) -> Any:
    if is_tensor_type(type):
        meta = tensor_meta(type)
        return _array([_size(size, bindings) for size in meta.shape], meta.dtype, rng)
    match number_category(type):
        case None:
            raise InputError(f"input '{name}' is no tensor and no number; give inputs")
        case Category.FLOAT:
            return float(rng.standard_normal())
        case Category.BOOL:
            return bool(rng.integers(2))
        case _:
            return _size(type.data, bindings) if isinstance(type, SymType) else int(rng.integers(2))


def _size(size: Dim, bindings: Mapping[str, int]) -> int:
    if not isinstance(size, Expr):
        return size
    return int(size.evaluate({**dict.fromkeys(size.free_symbols(), SIZE), **bindings}))


def _array(shape: list[int], dtype: DType, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    match dtype.category:
        case Category.FLOAT:
            return rng.standard_normal(shape).astype(dtype.numpy)
        case Category.COMPLEX:
            return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype.numpy)
        case _:
            return rng.integers(0, 2, shape).astype(dtype.numpy)
