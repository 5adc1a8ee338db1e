"""What makes the operator spec from an installed PyTorch."""

import os

# Kernels log some warnings to stderr past Python's warning filters.
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
