"""FileCheck tests: `lit test/filecheck` runs every `.mlir` file's RUN lines."""

import os
import shutil
import sys
from pathlib import Path

import lit.formats

sys.path.insert(0, str(Path(__file__).parent / "test"))
import forked

config.name = "xdsl-exir"  # noqa: F821  (lit defines config)
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
folders = [str(Path(sys.executable).parent), os.environ["PATH"]]
if not os.environ.get("XDSL_EXIR_LIT_PLAIN"):
    folders.insert(0, str(forked.start()))
config.environment["PATH"] = os.pathsep.join(folders)  # noqa: F821
if shutil.which("mlir-opt-22"):
    config.available_features.add("mlir-opt")  # noqa: F821
