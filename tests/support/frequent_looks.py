"""Commands that look at AWS more often than AWS would like."""

import pytest

from trainshed.jobs import logs, watching
from trainshed.teardown import control_planes, removal


def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have jobs, and stacks that are deleted, looked at more often."""
    monkeypatch.setattr(watching, "_SHORTEST_PAUSE_SECONDS", 0.1)
    monkeypatch.setattr(watching, "_LONGEST_PAUSE_SECONDS", 0.3)
    monkeypatch.setattr(logs, "_LAST_LINES_SECONDS", 0.05)
    for module in (control_planes, removal):
        monkeypatch.setattr(module, "_PAUSE_SECONDS", 0.1)
