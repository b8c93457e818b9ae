"""Which container a node of a job gets."""

from typing import Any

import pytest

from embedded_aws.batch.job_containers import container_of_node


@pytest.mark.parametrize("order", [["0:3", "1:2", "2"], ["2", "1:2", "0:3"]])
def test_where_ranges_nest_the_narrowest_counts(order: list[str]) -> None:
    groups = [{"targetNodes": target, "container": {"image": target}} for target in order]
    nodes = {"numNodes": 4, "mainNode": 0, "nodeRangeProperties": groups}

    containers = [container_of_node(nodes, index, {}, {}) for index in range(4)]

    assert [container and container["image"] for container in containers] == [
        *("0:3", "1:2", "2", "0:3"),
    ]


def test_an_override_changes_the_nodes_of_its_range_only() -> None:
    groups = [
        {"targetNodes": target, "container": {"command": ["train", "Ref::model"]}}
        for target in ("0", "1:")
    ]
    nodes = {"numNodes": 3, "mainNode": 0, "nodeRangeProperties": groups}
    change: dict[str, Any] = {"command": ["evaluate", "Ref::model", "Ref::none"]}
    overrides = {"nodePropertyOverrides": [{"targetNodes": "1:", "containerOverrides": change}]}

    containers = [
        container_of_node(nodes, index, overrides, {"model": "bert"}) for index in range(3)
    ]

    changed = ["evaluate", "bert", "Ref::none"]
    assert [container and container["command"] for container in containers] == [
        ["train", "bert"],
        changed,
        changed,
    ]
