"""`trainshed check` and `explain` of several clusters that share something."""

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


@pytest.fixture
def shared_subnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Two clusters, each of which leaves half of their subnet; the options that name them."""
    for name in ("Alpha", "Beta"):
        (tmp_path / f"{name}.yaml").write_text(CLUSTER.format(name=name), encoding="utf-8")
    # No project is here, so that our own rules alone judge.
    monkeypatch.chdir(tmp_path)
    return "--clusters", "*.yaml"


def test_clusters_are_judged_with_those_that_are_checked_with_them(
    trainshed: Trainshed, shared_subnet: tuple[str, ...]
) -> None:
    everything = trainshed("check", *shared_subnet)
    both = trainshed("check", "Alpha", "Beta", *shared_subnet)
    twice = trainshed("check", "Alpha", "Alpha.yaml", *shared_subnet)

    assert everything.code == both.code == 1
    assert everything.out == both.out
    assert everything.out.count("warning TS-ADR-001") == 2
    assert (twice.code, "TS-ADR-001" in twice.out) == (0, False)


def test_the_list_of_clusters_names_what_is_wrong_with_them_together(
    trainshed: Trainshed, shared_subnet: tuple[str, ...]
) -> None:
    listed = trainshed("explain", "--json", *shared_subnet)
    alone = trainshed("explain", "Alpha", "--json", *shared_subnet)

    assert ["TS-ADR-001" in entry["findings"] for entry in listed.json] == [True, True]
    assert "TS-ADR-001" not in [finding["rule"] for finding in alone.json["findings"]]
