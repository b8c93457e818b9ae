"""Nodes of AWS Batch, by the job queue and the compute environments of a cluster."""

from collections.abc import Iterator
from typing import Any

import pytest

from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.guard.outputs import EXPIRES_OUTPUT, START_OUTPUT
from trainshed.jobs.nodes import Node
from trainshed.jobs.why.questions import Questions
from trainshed.orchestrators.batch import former, node_states
from trainshed.orchestrators.batch.repair import connect

OUTPUTS = {"JobQueue": "arn:queue", "ComputeEnvironment": "arn:nodes"}


class Batch(Region):
    """A region with compute environments, of which the job queue has the first.

    Args:
        environments: as AWS Batch describes them; the queue is gone when there are none.
    """

    def __init__(self, *environments: dict[str, Any]) -> None:
        super().__init__("us-west-2")
        self._environments = environments
        self.calls: list[tuple[str, str]] = []

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Iterator[Any]:
        match operation:
            case "describe_job_queues":
                order = [{"order": 1, "computeEnvironment": "arn:nodes"}]
                if self._environments:
                    yield {"jobQueueName": "queue", "computeEnvironmentOrder": order}
            case "describe_compute_environments":
                names = params.get("computeEnvironments")
                for each in self._environments:
                    if names is None or each["computeEnvironmentArn"] in names:
                        yield each
            case "list_container_instances":
                yield params["cluster"].replace("arn:ecs", "arn:instance")

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        if operation != "describe_container_instances":
            self.calls.append((operation, params["cluster"]))
            return {"failures": []}
        described = [
            {
                "containerInstanceArn": each,
                "ec2InstanceId": each.replace("arn:instance", "i"),
                "status": "DRAINING",
                "agentConnected": True,
            }
            for each in params["containerInstances"]
        ]
        return {"containerInstances": described}


def environment(arn: str = "arn:nodes", **changes: Any) -> dict[str, Any]:
    return {
        "computeEnvironmentArn": arn,
        "computeEnvironmentName": arn.removeprefix("arn:"),
        "state": "ENABLED",
        "status": "VALID",
        **changes,
    }


def test_of_a_queue_that_is_gone_nothing_is_known() -> None:
    questions = Questions()

    found = node_states.look(Batch(), "Train", OUTPUTS, questions)

    assert (found.wanted, found.reached) == (None, None)
    assert questions.refusals == []
    assert node_states.kept_nodes(Batch(), OUTPUTS) is None
    assert connect(Batch(), "Train", OUTPUTS).why_no_launch() is None


@pytest.mark.parametrize(
    ("guard", "said"),
    [
        pytest.param({}, "--compute-environment nodes --state ENABLED", id="failed boots"),
        pytest.param(
            {EXPIRES_OUTPUT: "2026-01-01T00:00Z", START_OUTPUT: "aws batch start"},
            "guard.expires of the cluster was 2026-01-01 00:00 UTC: its nodes are stopped, and its "
            "data is kept; postpone guard.expires in the cluster file, deploy, then: aws batch",
            id="the guard",
        ),
        pytest.param(
            {EXPIRES_OUTPUT: "2999-01-01T00:00Z"}, "too many nodes fail", id="the guard, later"
        ),
    ],
)
def test_who_disabled_an_environment_is_told_where_no_node_would_be_launched(
    guard: dict[str, str], said: str
) -> None:
    outputs = OUTPUTS | guard

    reason = connect(Batch(environment(state="DISABLED")), "Train", outputs).why_no_launch()

    assert said in (reason or "")
    assert connect(Batch(environment()), "Train", outputs).why_no_launch() is None


def with_nodes(arn: str, role: str, **changes: Any) -> dict[str, Any]:
    resources = {"instanceRole": role, "instanceTypes": ["trn1.32xlarge"], "desiredvCpus": 128}
    ecs = arn.replace("arn:", "arn:ecs-")
    return environment(arn, computeResources=resources, ecsClusterArn=ecs, **changes)


def test_nodes_of_a_former_environment_are_nodes_of_the_cluster() -> None:
    region = Batch(
        with_nodes("arn:nodes", "role"),
        with_nodes("arn:former", "role", state="DISABLED"),
        with_nodes("arn:gone", "role", status="DELETING"),
        with_nodes("arn:other", "other"),
    )

    found = node_states.look(region, "Train", OUTPUTS, Questions())

    assert found.reached == found.drained == frozenset(("i-nodes", "i-former"))
    assert (found.wanted, found.problems, found.disabled) == (1, (), ())


def test_a_node_of_a_former_environment_is_drained_in_its_own_ecs_cluster() -> None:
    region = Batch(with_nodes("arn:nodes", "role"), with_nodes("arn:former", "role"))
    node = Node(
        instance_id="i-former",
        address="10.0.0.1",
        addresses=(),
        boot="",
        on_spot=False,
        drained=False,
        reservation="",
    )

    connect(region, "Train", OUTPUTS).drain(node)

    assert region.calls == [("update_container_instances_state", "arn:ecs-former")]


class Removal(Region):
    """A region in which an environment is deleted.

    Args:
        looks: what each look finds, None when it is gone; one more is an error.
    """

    def __init__(self, *looks: dict[str, Any] | None) -> None:
        super().__init__("us-west-2")
        self._looks = list(looks)
        self.calls: list[str] = []

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        if operation == "describe_compute_environments":
            found = self._looks.pop(0)
            return {"computeEnvironments": [found] if found else []}
        self.calls.append(operation)
        return {}


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nobody wait between two looks."""
    monkeypatch.setattr(former, "_PAUSE_SECONDS", 0)


@pytest.mark.parametrize("last", [None, {"status": "DELETED"}], ids=["gone", "deleted"])
def test_a_former_environment_is_removed(no_pause: None, last: dict[str, Any] | None) -> None:
    region = Removal({"status": "UPDATING"}, {"status": "VALID"}, {"status": "DELETING"}, last)

    former.remove_former(region, "old", lambda _: None)

    assert region.calls == ["update_compute_environment", "delete_compute_environment"]


def test_an_environment_that_is_not_deleted_ends_the_wait_with_the_reason(no_pause: None) -> None:
    refused = {"status": "INVALID", "statusReason": "CLIENT_ERROR - no role."}
    region = Removal({"status": "VALID"}, {"status": "DELETING"}, refused)

    with pytest.raises(Failure, match=r"AWS Batch does not delete old: CLIENT_ERROR - no role$"):
        former.remove_former(region, "old", lambda _: None)
