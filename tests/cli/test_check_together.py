"""`trainshed check` of several clusters that share something."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Trainshed = Callable[..., Any]

CLUSTER = """name: {name}
region: us-west-2
instance: {{type: trn1.32xlarge, nodes: {{max: 30}}}}
network: {{name: shared, cidr: 10.20.0.0/22}}
"""


def test_clusters_are_judged_with_those_that_are_checked_with_them(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No project is here, so that our own rules alone judge.
    monkeypatch.chdir(tmp_path)
    for name in ("Alpha", "Beta"):
        (tmp_path / f"{name}.yaml").write_text(CLUSTER.format(name=name), encoding="utf-8")
    clusters = ("--clusters", "*.yaml")

    everything = trainshed("check", *clusters)
    both = trainshed("check", "Alpha", "Beta", *clusters)
    twice = trainshed("check", "Alpha", "Alpha.yaml", *clusters)

    assert everything.code == both.code == 1
    assert everything.out == both.out
    assert everything.out.count("warning TS-ADR-001") == 2
    assert (twice.code, "TS-ADR-001" in twice.out) == (0, False)
