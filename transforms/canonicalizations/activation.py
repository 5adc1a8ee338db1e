"""Canonicalizations of activation functions."""

from __future__ import annotations

from xdsl_exir.transforms.canonicalizations.pointwise import each, idempotent

each(("aten.relu", "aten.relu6", "aten.hardtanh"), idempotent)
