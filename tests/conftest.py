"""What holds for every test."""

from pathlib import Path

import pytest

# For the tests of our own pytest plugin.
pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]


def pytest_configure() -> None:
    """Stop with a clear word before the jsii import fails with an obscure one."""
    clash = [ROOT / "constructs.py", *ROOT.glob("constructs/__init__.py")]
    clash += (ROOT / "tests").rglob("constructs/__init__.py")
    if found := [path for path in clash if path.exists()]:
        raise pytest.UsageError(f"delete {found[0]}: it hides the PyPI library `constructs`")
