"""Packaging: the wheel, the wheel of the source archive, the editable install, and the plugin's entry point.

Builds run in a copy of the sources, without network (`--no-isolation`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = (
    "dialects",
    "exchange",
    "exporters",
    "importers",
    "interpreter",
    "lowering",
    "runtime",
    "targets",
    "tools",
    "transforms",
)
"""Folders of the repository that the package links to."""
DATA = (".py", ".pyi", ".yaml", ".typed", ".gz")


def run(*command: str | Path, **kwargs: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **kwargs)  # pyright: ignore
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sources() -> set[str]:
    """Files that an installed package must have, by their path in it."""
    found = {path.name for path in (ROOT / "src" / "xdsl_exir").iterdir() if path.suffix in DATA}
    for folder in CODE:
        found |= {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*") if path.suffix in DATA}
    return {f"xdsl_exir/{path}" for path in found if "__pycache__" not in path}


@pytest.fixture(scope="session")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources without what builds and tools leave in them."""
    folder = tmp_path_factory.mktemp("source") / "xdsl-exir"
    left = shutil.ignore_patterns(
        ".*", "__pycache__", "*.egg-info", "build", "dist", "Output", "bench", "test"
    )
    shutil.copytree(ROOT, folder, symlinks=True, ignore=left)
    return folder


@pytest.fixture(scope="session")
def built(copy: Path) -> dict[str, Path]:
    """The source archive, the wheel made of it, and the wheel made of the folder."""
    build = (sys.executable, "-m", "build", "--no-isolation", "-q")
    run(*build, "-o", copy / "both", copy)
    run(*build, "--wheel", "-o", copy / "direct", copy)
    [sdist], [wheel] = (copy / "both").glob("*.tar.gz"), (copy / "both").glob("*.whl")
    [direct] = (copy / "direct").glob("*.whl")
    return {"sdist": sdist, "wheel of the sdist": wheel, "wheel": direct}


@pytest.mark.parametrize("kind", ["wheel", "wheel of the sdist"])
def test_wheels_are_complete(built: dict[str, Path], kind: str) -> None:
    with zipfile.ZipFile(built[kind]) as wheel:
        held = {name for name in wheel.namelist() if not name.split("/")[0].endswith(".dist-info")}
        about = {
            name.split("/", 1)[1]: wheel.read(name) for name in wheel.namelist() if ".dist-info/" in name
        }
    assert held == sources()
    entry_points = about["entry_points.txt"].decode()
    assert "[xdsl.universe]\nxdsl_exir = xdsl_exir.universe:XDSL_EXIR_UNIVERSE" in entry_points
    assert "[console_scripts]\nxdsl-exir = xdsl_exir.tools.main:main" in entry_points
    metadata = about["METADATA"].decode()
    assert "Name: xdsl-exir\n" in metadata
    assert "License-Expression: Apache-2.0 WITH LLVM-exception\n" in metadata
    assert "Requires-Dist: xdsl==0.74.0\n" in metadata
    assert about["licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()


def test_the_source_archive_has_files_for_links(built: dict[str, Path]) -> None:
    with tarfile.open(built["sdist"]) as archive:
        members = {member.name.split("/", 1)[1]: member for member in archive if "/" in member.name}
    assert {"LICENSE", "README.md", "pyproject.toml"} <= members.keys()
    assert not any(member.issym() or member.islnk() for member in members.values())
    assert {f"src/{path}" for path in sources()} <= members.keys()


def test_an_installed_wheel_works(built: dict[str, Path], tmp_path: Path) -> None:
    """In a folder of its own, ahead of the editable install."""
    run(
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        tmp_path,
        built["wheel"],
    )
    code = (
        "import xdsl_exir, sys; from xdsl_exir.dialects.spec import specs; "
        "p = xdsl_exir.load(sys.argv[1]); p.to_edge(); xdsl_exir.compile(p); "
        "print(xdsl_exir.__file__, len(specs()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    digits = ROOT / "bench" / "digits" / "digits.pt2"
    where, count = run(sys.executable, "-c", code, digits, env=environment, cwd=tmp_path).split()
    assert Path(where).is_relative_to(tmp_path)
    assert int(count) > 400


def test_the_editable_install_is_the_repository() -> None:
    import xdsl_exir

    origin = json.loads(distribution("xdsl-exir").read_text("direct_url.json") or "{}")
    if not origin.get("dir_info", {}).get("editable"):
        pytest.skip("the package under test is not installed as editable")
    package = ROOT / "src" / "xdsl_exir"
    assert Path(xdsl_exir.__file__) == package / "__init__.py"
    for folder in CODE:
        link = package / folder
        assert link.is_symlink()
        assert os.readlink(link) == f"../../{folder}"


def test_stock_tools_know_the_plugin() -> None:
    tool = Path(sys.executable).with_name("xdsl-opt")
    shown = "".join(run(tool, "--help").split())  # lines break after any hyphen
    for name in ("decompose-aten", "aten-to-edge", "verify-aten", "verify-edge"):
        assert name in shown
    text = "%x = exir.constant 2.0 : tensor<2xf32>\n%0 = aten.relu(%x) : (tensor<2xf32>) -> tensor<2xf32>"
    assert "edge.aten.relu(%x)" in run(tool, "-p", "aten-to-edge", input=text)
    method = "func.func @f() -> tensor<2xf32> { %x = exir.constant 2.0 : tensor<2xf32> func.return %x : tensor<2xf32> }"
    assert run(tool, "-t", "exir-run", input=method) == "float32[2] [2., 2.]\n"
