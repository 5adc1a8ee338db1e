"""What is made like a tensor depends on its shape alone."""

from __future__ import annotations

from xdsl_exir.transforms.gradients import constant

constant(*(f"aten.{name}_like" for name in ("empty", "full", "ones", "zeros")))
