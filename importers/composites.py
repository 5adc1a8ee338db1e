"""Composite operators in dtypes that their own rule does not have.

A composite operator is Python or C++ that calls others, so it takes whatever those take in the path that a call goes: distances of
bfloat16 where they are products, sums of products of booleans where nothing is summed. Such a call is built as its decomposition.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from xdsl.ir import Attribute

from xdsl_exir.dialects.builder import Builder, Results, Rule, flat_results
from xdsl_exir.dialects.dtype_rules import DtypeError
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.meta import flat_dtypes, numbers_as_tensors
from xdsl_exir.dialects.operator import OperatorOp, metas
from xdsl_exir.dialects.tensors import is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS
from xdsl_exir.transforms.patterns import KEEP, call_rule


def of_parts(
    builder: Builder, cls: type[OperatorOp], bound: Mapping[str, Any], dtypes: list[DType | None]
) -> Results:
    """The results of a composite operator's decomposition where its own rule refuses a call, or has others; else None.

    `dtypes` are those of the results where they are known. Raises `UnsupportedError` where the decomposition has them neither.
    """
    if cls.SPEC.family == "resampling":
        return None  # called composite, but kernels of their own: of bytes in fixed point
    try:
        seen = numbers_as_tensors(cls.SPEC, {name: metas(value) for name, value in bound.items()})
        if all(dtype in (None, its) for its, dtype in zip(flat_dtypes(cls.SPEC, seen), dtypes, strict=False)):
            return None
    except DtypeError:
        pass
    except ExirError:
        return None  # said where it is built
    entry = DECOMPOSITIONS.find(cls.SPEC)
    try:
        with _inside(builder):
            made = KEEP if entry is None else call_rule(entry, builder, bound)
    except DtypeError as error:
        raise UnsupportedError([Unsupported(cls.SPEC.qualified_name, str(error))]) from error
    if made is KEEP:
        return None
    if not all(map(_is, [result.type for result in flat_results(made)], dtypes)):
        reason = f"gives other dtypes than {', '.join(map(str, dtypes))}, which the program says"
        raise UnsupportedError([Unsupported(cls.SPEC.qualified_name, reason)])
    return made


@contextmanager
def _inside(builder: Builder) -> Generator[None]:
    """Composite operators that a decomposition is made of are built so, too."""
    former = builder.rule_of

    def rule_of(operator: str) -> Rule | None:
        cls = builder.dialect_of(operator)[operator]
        return partial(_composite, builder, cls) if "composite" in cls.SPEC.tags else former(operator)

    builder.rule_of = rule_of
    try:
        yield
    finally:
        builder.rule_of = former


def _composite(
    builder: Builder, cls: type[OperatorOp], bound: Mapping[str, Any], types: Sequence[Attribute] = ()
) -> Results:
    made = of_parts(builder, cls, bound, [])
    return builder.build(cls, bound, types or None) if made is None else made


def call(
    builder: Builder, operator: str, given: Mapping[str, Any], types: Sequence[Attribute] = ()
) -> Results:
    """Builds an operator, or its decomposition where only that has the dtypes. Results of a composite one have the types, if some are given."""
    cls = builder.dialect_of(operator)[operator]
    if "composite" not in cls.SPEC.tags:
        return builder.call(operator, (), given)
    return _composite(builder, cls, cls.SLOTS.bind(*builder.with_numbers(cls, (), given)), types)


def _is(type: Attribute, dtype: DType | None) -> bool:
    """Whether a result has the dtype it should, where that is known."""
    return dtype is None or not is_tensor_type(type) or tensor_meta(type).dtype is dtype
