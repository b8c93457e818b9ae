"""Libraries that are no dependency: PyTorch, and what goes with it."""

from importlib.util import find_spec

import pytest


def needs_libraries(*names: str) -> pytest.MarkDecorator:
    """Mark tests as skipped where a library is missing.

    It is looked for, and not loaded, which would take PyTorch seconds in each test process.
    """
    missing = ", ".join(name for name in names if find_spec(name) is None)
    return pytest.mark.skipif(bool(missing), reason=f"needs {missing}: run `make torch`")
