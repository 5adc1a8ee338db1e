"""Canonicalizations of what picks or masks elements: a triangle of a triangle is itself."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Results
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.transforms.canonicalizations import KEEP, canonicalization
from xdsl_exir.transforms.matching import made_by, same_arguments


@canonicalization("aten.tril", "aten.triu")
def triangle(aten: Namespace, self: SSAValue, diagonal: Any, op: OperatorOp) -> Results:
    inner = made_by(self, op.SPEC.qualified_name)
    return self if inner is not None and same_arguments(inner, {"diagonal": diagonal}) else KEEP
