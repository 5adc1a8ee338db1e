"""Upstream's own way from linalg on tensors to memrefs, for modules that we did not make."""

from __future__ import annotations

from xdsl_exir.lowering.mlir import Pass

BUFFERIZE = (
    Pass("eliminate-empty-tensors", "results are computed in their destination, not copied there"),
    Pass("empty-tensor-to-alloc-tensor", "what is left becomes an allocation"),
    Pass(
        "one-shot-bufferize{bufferize-function-boundaries=1 allow-return-allocs-from-loops=1 "
        "function-boundary-type-conversion=identity-layout-map buffer-alignment=64}",
        "tensors to memrefs with contiguous arguments, so that a caller needs pointers only",
    ),
    Pass(
        "buffer-results-to-out-params{hoist-static-allocs=1 modify-public-functions=1}",
        "the caller owns results",
    ),
    Pass("canonicalize", "drops copies onto themselves"),
    Pass("buffer-deallocation-pipeline", "frees what was allocated"),
    Pass("convert-bufferization-to-memref", "clones become allocations and copies"),
)
