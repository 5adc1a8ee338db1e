"""FileCheck tests: `lit test/filecheck` runs every `.mlir` file's RUN lines."""

import os
import shutil
import sys
from pathlib import Path

import lit.formats

config.name = "xdsl-exir"  # noqa: F821  (lit defines config)
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # noqa: F821
if shutil.which("mlir-opt-22"):
    config.available_features.add("mlir-opt")  # noqa: F821
