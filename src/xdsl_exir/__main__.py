"""`python -m xdsl_exir` is the command `xdsl-exir`."""

from __future__ import annotations

import sys

from xdsl_exir.tools.main import main

if __name__ == "__main__":
    sys.exit(main())
