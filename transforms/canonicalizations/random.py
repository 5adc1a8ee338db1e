"""Canonicalizations of random operators: of those that draw nothing."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Results
from xdsl_exir.transforms.canonicalizations import KEEP, canonicalization


@canonicalization("aten.dropout")
def dropout(aten: Namespace, input: SSAValue, train: bool) -> Results:
    return KEEP if train else input
