"""PyTorch's own collections: all that PyTorch exports is imported and run like eager, but for what is listed here."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("torch")

import exported_collections as collections

pytestmark = pytest.mark.native

NOT_EXPORTED = {
    "db.dynamic_shape_round": "UserError: Constraints violated",
    "hop.flex_attention_backward.explicit_buffers": "TypeError: 'NoneType' object is not callable",
    "hop.flex_attention_backward.simple": "TypeError: 'NoneType' object is not callable",
    "hop.invoke_quant.simple": "SpecViolationError: Node.meta invoke_quant is missing val field",
    "hop.local_map_hop.simple": "SpecViolationError: Operator '<function .*local_map",
}
"""What PyTorch itself does not export, and what it says."""

NOT_IMPORTED = {
    "hop.inline_asm_elementwise.simple": r"higher_order\.inline_asm_elementwise: .* PTX, the assembly of NVIDIA's GPUs",
}

REASONS = {"export": NOT_EXPORTED, "import": NOT_IMPORTED, "interpreter": {}, "native": {}}


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(
    ("collection", "count"), [(collections.examples, 36), (collections.higher_order_operators, 17)]
)
def test_all_but_what_is_listed(collection: collections.Collection, count: int) -> None:
    table = collections.results(collection())
    assert len(table) == count
    for step in collections.STEPS:
        failed = {name: steps[step] for name, steps in table.items() if steps.get(step)}
        expected = {name: reason for name, reason in REASONS[step].items() if name in table}
        assert failed.keys() == expected.keys(), step
        for name, reason in failed.items():
            assert re.search(expected[name], str(reason)), f"{name}: {reason}"
