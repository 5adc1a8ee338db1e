"""xdsl-exir: PyTorch's Export IR as MLIR, through xDSL."""
