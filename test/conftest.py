"""What tests share: skipping without tools, and figures that they record, printed after the run (with xdist as well)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from xdsl_exir.lowering import toolchain


@pytest.fixture
def figures(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Called with a text: prints it in the summary of the run."""

    def record(text: str) -> None:
        record_property("figures", text)

    return record


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, text in report.user_properties:
            if name == "figures":
                terminalreporter.section(report.nodeid)
                terminalreporter.line(text)


@pytest.fixture(scope="session")
def native_tools() -> None:
    """Skips what needs native code where it cannot be made."""
    pytest.importorskip("llvmlite", reason="native code needs llvmlite: pip install llvmlite==0.50.0")
    try:
        toolchain.find_tool("mlir-opt")
    except toolchain.ToolchainError as error:
        pytest.skip(str(error))
