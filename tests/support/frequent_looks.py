"""Commands that look at AWS more often than AWS would like."""

import pytest

from trainshed.jobs import logs, watching
from trainshed.repair import repair
from trainshed.teardown import control_planes, removal


def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have jobs, stacks that are deleted and nodes that are repaired looked at more often."""
    monkeypatch.setattr(watching, "_SHORTEST_PAUSE_SECONDS", 0.1)
    monkeypatch.setattr(watching, "_LONGEST_PAUSE_SECONDS", 0.3)
    monkeypatch.setattr(logs, "_LAST_LINES_SECONDS", 0.05)
    for module in (control_planes, removal, repair):
        monkeypatch.setattr(module, "_PAUSE_SECONDS", 0.1)
