"""The health of nodes, by what EC2 and the orchestrator say of them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from trainshed.aws import Region
from trainshed.jobs.node_states import NodeStates
from trainshed.status.model import Health, NodesStatus
from trainshed.status.nodes import node_problems, nodes_status

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


class Instances(Region):
    """A region with some instances of the cluster."""

    def __init__(self, *instances: dict[str, Any]) -> None:
        super().__init__("us-west-2")
        self._instances = instances

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Iterator[Any]:
        assert params["Filters"] == [{"Name": "tag:trainshed:cluster", "Values": ["Train"]}]
        yield {"Instances": self._instances}


def instance(
    name: str, *, boot: str = "ok", state: str = "running", minutes: float = 60
) -> dict[str, Any]:
    tags = [{"Key": "trainshed:boot", "Value": boot}] if boot else []
    return {
        "InstanceId": name,
        "InstanceType": "trn1.32xlarge",
        "State": {"Name": state},
        "LaunchTime": NOW - timedelta(minutes=minutes),
        "Tags": tags,
    }


def looked_at(
    *instances: dict[str, Any],
    reached: tuple[str, ...] | None = (),
    drained: tuple[str, ...] = (),
    wanted: int | None = None,
) -> NodesStatus:
    states = NodeStates(wanted=wanted, reached=reached, drained=drained)
    return nodes_status(Instances(*instances), "Train", states, 4, NOW)


def health(found: NodesStatus) -> dict[str, Health]:
    return {each.instance_id: each.health for each in found.nodes}


def test_a_node_is_running_when_jobs_can_start_there() -> None:
    found = looked_at(
        instance("i-well"), instance("i-silent", boot=""), reached=("i-well", "i-silent")
    )

    assert set(health(found).values()) == {Health.RUNNING}
    assert not [*node_problems(found)]


def test_a_node_boots_for_half_an_hour_and_is_then_unreachable() -> None:
    found = looked_at(
        instance("i-new", boot="", state="pending", minutes=29), instance("i-old", minutes=31)
    )

    assert health(found) == {"i-old": Health.UNREACHABLE, "i-new": Health.BOOTING}
    assert [*node_problems(found)] == [
        "node i-old is unreachable: launched 31 minutes ago, its first boot went well, and no job "
        "can start there"
    ]


def test_without_an_answer_of_the_orchestrator_the_boot_counts() -> None:
    found = looked_at(instance("i-well"), instance("i-new", boot="", minutes=1), reached=None)

    assert health(found) == {"i-well": Health.RUNNING, "i-new": Health.BOOTING}


def test_a_drained_node_and_one_that_ends_are_not_wrong() -> None:
    found = looked_at(
        instance("i-drained"),
        instance("i-ending", state="shutting-down"),
        reached=("i-drained",),
        drained=("i-drained",),
    )

    assert health(found) == {"i-drained": Health.DRAINED, "i-ending": Health.ENDING}
    assert not [*node_problems(found)]


def test_a_node_that_ends_does_not_count_as_one_that_is_wanted() -> None:
    found = looked_at(
        instance("i-well"), instance("i-ending", state="stopping"), reached=("i-well",), wanted=3
    )

    assert [*node_problems(found)] == ["2 of 3 nodes that are wanted are not there"]


def test_failed_boots_of_one_reason_are_told_together() -> None:
    lost = "failed: 7 of 8 efa devices are on the PCI bus"
    found = looked_at(
        instance("i-1", boot=lost, state="terminated"),
        instance("i-2", boot=lost, state="shutting-down"),
        instance("i-3", boot="failed: /fsx: not mounted", state="terminated"),
        instance("i-4", state="terminated"),
    )

    assert [*node_problems(found)] == [
        "2 nodes have failed the checks: 7 of 8 efa devices are on the PCI bus (i-1, i-2)",
        "1 node has failed the checks: /fsx: not mounted (i-3)",
    ]


def test_nodes_that_are_all_there_are_well_and_the_oldest_is_first() -> None:
    found = looked_at(
        instance("i-a", minutes=60),
        instance("i-b", minutes=90),
        reached=("i-a", "i-b"),
        wanted=2,
    )

    assert [each.instance_id for each in found.nodes] == ["i-b", "i-a"]
    assert not [*node_problems(found)]


def test_a_node_whose_boot_failed_is_told_once_while_it_runs() -> None:
    found = looked_at(instance("i-1", boot="failed: /fsx: not mounted"), reached=("i-1",))

    assert health(found) == {"i-1": Health.FAILED}
    assert [*node_problems(found)] == ["node i-1 is failed: /fsx: not mounted"]


def test_what_is_not_said_of_a_boot_is_no_good_boot() -> None:
    found = looked_at(
        instance("i-quiet", boot="", minutes=1),
        instance("i-looking", boot="looking for devices", minutes=2),
        reached=None,
    )

    assert [(each.health, each.reason) for each in found.nodes] == [
        (Health.BOOTING, ""),
        (Health.BOOTING, "its first boot has said nothing yet"),
    ]


def test_a_node_that_stops_or_ends_has_the_reason_of_ec2() -> None:
    reason = "Server.SpotInstanceTermination"
    found = looked_at(
        *(
            instance(state, state=state) | {"StateTransitionReason": reason}
            for state in ("shutting-down", "stopping")
        )
    )

    assert [(each.health, each.reason) for each in found.nodes] == [(Health.ENDING, reason)] * 2
