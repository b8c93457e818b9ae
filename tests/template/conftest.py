"""Synthesis of the shipped clusters, once for each test process."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from trainshed.plan import Fleet, load_fleet

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def assembly(synthesise: Callable[[Fleet], Path]) -> Path:
    """Every shipped cluster, as `cdk synth` makes it."""
    return synthesise(load_fleet(sorted((ROOT / "clusters").glob("*.yaml"))))


@pytest.fixture(scope="session")
def templates(assembly: Path) -> Mapping[str, dict[str, Any]]:
    """The templates of the shipped clusters, by stack name."""
    return {
        path.name.split(".")[0]: json.loads(path.read_text())
        for path in assembly.glob("*.template.json")
    }
