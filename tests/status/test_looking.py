"""What is looked at of a cluster, and what of its stacks is wrong."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from deployed_stack import deployed_stack

from trainshed.aws import AwsRefusal, Region
from trainshed.orchestrators import Orchestrator
from trainshed.plan import make_plan
from trainshed.prices import load_prices
from trainshed.spec import ClusterSpec
from trainshed.status import looking
from trainshed.status.model import ClusterStatus

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
PLAN = make_plan(
    ClusterSpec.model_validate(
        {
            "name": "Train",
            "region": "us-west-2",
            "orchestrator": "ec2",
            "instance": {"type": "trn1.32xlarge", "nodes": {"max": 2}},
        }
    )
)


class Refusing(Region):
    """A region that answers nothing.

    Attributes:
        asked: the services.
    """

    def __init__(self) -> None:
        super().__init__("us-west-2")
        self.asked = set[str]()

    def call(self, service: str, operation: str, **params: Any) -> Any:
        self.asked.add(service)
        raise AwsRefusal("AccessDenied", f"may not call {service}:{operation}")

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Any:
        return self.call(service, operation)


def looked_at(monkeypatch: pytest.MonkeyPatch, **cluster: Any) -> tuple[ClusterStatus, set[str]]:
    """Look at a cluster whose stack is as it is said; return what is asked, too."""
    region = Refusing()

    def find(_: Region, name: str) -> Any:
        return deployed_stack(**(cluster if name == "Train" else {}))

    monkeypatch.setattr(looking, "find_stack", find)
    return looking.look(region, PLAN, load_prices("us-west-2"), NOW), region.asked


BATCH = {"Orchestrator": "batch", "JobQueue": "queue", "JobDefinition": "definition"}


@pytest.mark.parametrize(
    ("outputs", "orchestrator", "is_asked"),
    [
        pytest.param(BATCH, Orchestrator.BATCH, True, id="another than in the file"),
        pytest.param({"Orchestrator": "batch"}, Orchestrator.EC2, False, id="of another stack"),
        pytest.param({"Address": "a"}, Orchestrator.EC2, False, id="no cluster"),
    ],
)
def test_nodes_are_asked_for_as_they_are_deployed(
    monkeypatch: pytest.MonkeyPatch,
    outputs: Mapping[str, str],
    orchestrator: Orchestrator,
    is_asked: bool,
) -> None:
    found, asked = looked_at(monkeypatch, outputs=outputs)

    assert found.orchestrator is orchestrator
    assert ("batch" in asked) is is_asked


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("UPDATE_COMPLETE", []),
        ("UPDATE_IN_PROGRESS", []),
        ("REVIEW_IN_PROGRESS", ["stack Train is not deployed: npx cdk deploy Train"]),
        (
            "UPDATE_ROLLBACK_COMPLETE",
            ["stack Train is UPDATE_ROLLBACK_COMPLETE: its events in CloudFormation say why"],
        ),
    ],
)
def test_a_stack_that_is_not_as_it_was_asked_for_is_wrong(
    monkeypatch: pytest.MonkeyPatch, status: str, said: list[str]
) -> None:
    found, _ = looked_at(monkeypatch, status=status)

    assert [*found.problems] == said
