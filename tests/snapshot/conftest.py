"""Snapshots in files that are called what they show."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension


class _NamedFile(JSONSnapshotExtension):
    @classmethod
    def get_snapshot_name(cls, *, test_location: Any, index: int | str = 0) -> str:
        return str(index)


@pytest.fixture
def snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Compares with `__snapshots__/MODULE/NAME.json`: `template == snapshot(name=NAME)`."""
    return snapshot.use_extension(_NamedFile)
