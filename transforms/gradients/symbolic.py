"""Assertions, and numbers that are read out of tensors, count as constants."""

from __future__ import annotations

from xdsl_exir.transforms.gradients import constant

constant(
    "aten._assert_async.msg",
    "aten._assert_scalar",
    "aten._assert_tensor_metadata",
    "aten._local_scalar_dense",
)
constant("aten.item", "aten.sym_size.int", "aten.sym_numel")
