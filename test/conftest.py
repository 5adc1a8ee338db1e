"""What tests tell beyond pass and fail: figures that they record are printed after the run, with xdist as well."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def figures(record_property: Any) -> Any:
    """Called with a text: prints it in the summary of the run."""
    return lambda text: record_property("figures", text)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, text in report.user_properties:
            if name == "figures":
                terminalreporter.section(report.nodeid)
                terminalreporter.line(text)
