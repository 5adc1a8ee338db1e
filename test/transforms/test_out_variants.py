"""Out-variants: their names are PyTorch's, and programs of them give the same."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.dialects.out_variants import (
    COPIES,
    GRADIENTS,
    OTHERS,
    TENSOR_OUT,
    WITHOUT,
    out_names,
    out_variant,
)
from xdsl_exir.dialects.spec import specs
from xdsl_exir.runtime.inputs import random_inputs

DIGITS = Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2"
FACTORY = ("dtype", "layout", "device", "pin_memory")
"""What out-variants take from the tensor that they write to."""


def test_names_are_pytorchs() -> None:
    """Each is a schema of PyTorch's, with the arguments of the operator and those that are written to; what has none, has none."""
    torch: Any = pytest.importorskip("torch")
    by_name: dict[str, dict[str, Any]] = defaultdict(dict)
    for schema in torch._C._jit_get_all_schemas():
        by_name[schema.name][schema.overload_name] = schema
    wrong: list[str] = []
    count = 0
    for name, spec in specs().items():
        if not name.startswith("aten.") or spec.place:
            continue
        base, _, overload = name.removeprefix("aten.").partition(".")
        functional = by_name[f"aten::{base}"].get(overload)
        if (
            functional is None
            or not spec.schema.returns
            or any(ret.type.is_list for ret in spec.schema.returns)
        ):
            continue
        if not all(ret.type.is_tensor for ret in spec.schema.returns):
            continue
        taken = [(one.name, str(one.type)) for one in functional.arguments]
        without_factory = [one for one in taken if one[0] not in FACTORY]
        found: dict[str, list[str]] = {}
        for own, schema in by_name[f"aten::{base}"].items():
            outs = [one.name for one in schema.arguments if one.is_out]
            rest = [(one.name, str(one.type)) for one in schema.arguments if not one.is_out]
            if len(outs) == len(spec.schema.returns) and rest in (taken, without_factory):
                found[f"aten.{base}.{own}"] = outs
        target = out_variant(spec)
        if name.removeprefix("aten.") in COPIES:
            base = f"{base}_copy"
            if target is None or target.split(".", 2)[2] not in by_name[f"aten::{base}"]:
                wrong.append(f"{name}: {target}")
        elif (target not in found if found else target is not None) or (
            target is not None and found[target] != list(out_names(spec))
        ):
            wrong.append(f"{name}: {target}, PyTorch has {found}")
        count += target is not None
    assert not wrong, "\n".join(wrong)
    assert count > 700


def test_tables_name_operators() -> None:
    names = {*COPIES, *GRADIENTS, *OTHERS, *WITHOUT, *(f"{name}.Tensor" for name in TENSOR_OUT)}
    assert not {name for name in names if f"aten.{name}" not in specs()}


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_a_model_gives_the_same(target: str, tmp_path: Path) -> None:
    edge = xdsl_exir.load(DIGITS).to_edge()
    outs = edge.transform("to-out-variants")
    assert "edge.aten.convolution" not in str(outs)
    outs.save(tmp_path / "outs.mlir")
    outs = xdsl_exir.load(tmp_path / "outs.mlir")
    inputs = random_inputs(edge)
    [expected], [found] = (xdsl_exir.compile(one, target).flat(inputs) for one in (edge, outs))
    np.testing.assert_array_equal(found, expected)
    back = outs.transform("decompose-backend")
    assert [op.name for op in back.module.walk()] == [op.name for op in edge.module.walk()]
    assert back.module.is_structurally_equivalent(edge.module)
