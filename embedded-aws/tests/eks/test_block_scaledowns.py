"""Scale-downs of the node groups of Capacity Blocks, with an Auto Scaling that notes its calls."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from embedded_aws.eks import block_scaledowns
from embedded_aws.eks.block_scaledowns import BlockScaledowns
from embedded_aws.eks.node_machines import Machine

TARGET = {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}}
NODES = ("i-1", "i-2")


class Bench:
    """A node group of a block that ends in half an hour.

    Attributes:
        group: it.
        sizes: what its Auto Scaling group is told, in this order.
        draining: what is called once a node is drained, by instance.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.group: dict[str, Any] = {
            "nodegroupArn": "arn",
            "clusterName": "main",
            "capacityType": "CAPACITY_BLOCK",
            "refusal": None,
            "scalingConfig": {"minSize": 1, "maxSize": 4, "desiredSize": 2},
            "resources": {"autoScalingGroups": [{"name": "nodes"}]},
        }
        self.sizes: list[dict[str, int]] = []
        self.draining: dict[str, Callable[[bool], None]] = {}
        self.block = {"EndDate": datetime.now(UTC) + timedelta(minutes=30)}
        for name, fake in {
            "client": lambda *_, **__: self,
            "nodegroups": lambda _: {"arn": self.group},
            "template_of": lambda *_: {"CapacityReservationSpecification": TARGET},
            "tables": SimpleNamespace(capacity_reservations=lambda _: {"cr-1": self.block}),
            "drain_first": lambda _, instance_id, then: self.draining.update({instance_id: then}),
            "end_node": lambda *_, **__: None,
        }.items():
            monkeypatch.setattr(block_scaledowns, name, fake)
        call: Any = SimpleNamespace(account="123456789012", region="us-west-2")
        self.scaledowns = BlockScaledowns(call, {"name": "main"})

    def update_auto_scaling_group(self, *, AutoScalingGroupName: str, **sizes: int) -> None:
        assert AutoScalingGroupName == "nodes"
        self.sizes.append(sizes)

    def look(self, *nodes: str) -> None:
        """Look, where these nodes of the group are registered."""
        self.scaledowns.look(
            {
                name: Machine(instance=SimpleNamespace(), group=self.group, template={})
                for name in nodes
            }
        )


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def test_no_node_is_wanted_once_the_last_one_is_drained(bench: Bench) -> None:
    bench.look(*NODES)
    assert bench.sizes == [{"MinSize": 0}]

    bench.draining["i-1"](True)
    assert bench.sizes == [{"MinSize": 0}]
    bench.draining["i-2"](False)

    assert bench.sizes == [{"MinSize": 0}, {"DesiredCapacity": 0}]
    assert bench.group["scalingConfig"] == {"minSize": 0, "maxSize": 4, "desiredSize": 0}


def test_no_node_is_wanted_at_once_if_none_is_registered(bench: Bench) -> None:
    bench.look()

    assert bench.sizes == [{"MinSize": 0, "DesiredCapacity": 0}]


def test_a_group_is_scaled_down_once(bench: Bench) -> None:
    for _ in range(2):
        bench.look(*NODES)

    assert bench.sizes == [{"MinSize": 0}]


def test_a_group_keeps_its_nodes_until_forty_minutes_before_the_end(bench: Bench) -> None:
    bench.block["EndDate"] += timedelta(minutes=11)

    bench.look(*NODES)

    assert bench.sizes == []
