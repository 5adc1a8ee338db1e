"""Every pointwise operator against PyTorch: dtypes, broadcasting, 0-dim and empty tensors, the edges of arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, program_of, run  # noqa: E402
from xdsl.context import Context  # noqa: E402

from xdsl_exir.dialects.expr import Expr  # noqa: E402
from xdsl_exir.dialects.exir import TensorMeta  # noqa: E402
from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.meta import SHAPES, MetaError  # noqa: E402
from xdsl_exir.dialects.spec import find, load  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402
