"""Tests of native code: all here are skipped where it cannot be made."""

import pytest


@pytest.fixture(autouse=True)
def needs_native_tools(native_tools: None) -> None:
    """Asks for the tools before each test."""
