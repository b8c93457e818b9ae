"""Cluster files in a folder of the test's own, planned. A plug-in for pytest."""

from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.plan import ClusterPlan, Fleet, load_fleet
from trainshed.spec import SpecError


@pytest.fixture
def problems(tmp_path: Path) -> Callable[..., list[str]]:
    """Plan files of these texts together; return the lines of the error, with file names only."""

    def run(*texts: str | bytes) -> list[str]:
        paths = []
        for number, text in enumerate(texts):
            path = tmp_path / f"{'abcdef'[number]}.yaml"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            paths.append(path)
        with pytest.raises(SpecError) as caught:
            load_fleet(paths)
        return str(caught.value).replace(f"{tmp_path}/", "").split("\n")

    return run


@pytest.fixture
def fleet(tmp_path: Path) -> Callable[..., Fleet]:
    """Plan files of these texts together."""

    def run(*texts: str) -> Fleet:
        paths = []
        for number, text in enumerate(texts):
            path = tmp_path / f"{'abcdef'[number]}.yaml"
            path.write_text(text, encoding="utf-8")
            paths.append(path)
        return load_fleet(paths)

    return run


@pytest.fixture
def planned(fleet: Callable[..., Fleet]) -> Callable[[str], ClusterPlan]:
    """Plan one file of this text."""
    return lambda text: fleet(text).clusters[0]
