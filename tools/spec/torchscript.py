"""`python -m xdsl_exir.tools.spec.torchscript`: brings the list of registered operators up to date with the installed PyTorch.

The list (`dialects/torchscript/schemas.txt.gz`) has their schemas, in the order in which TorchScript tries the
overloads of a name.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import xdsl_exir.dialects.torchscript.schemas as known


def registered() -> str:
    """The schemas of the installed PyTorch's operators, a line each."""
    import torch

    schemas = torch._C._jit_get_all_schemas()  # pyright: ignore[reportPrivateUsage]
    return "".join(f"{schema}\n" for schema in schemas)


if __name__ == "__main__":
    path = Path(known.__file__).with_name(known.FILE)
    path.write_bytes(gzip.compress(registered().encode(), 9, mtime=0))
