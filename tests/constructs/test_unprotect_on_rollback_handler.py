"""The function that ends termination protection when a stack's creation is rolled back."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

STACK_ID = "arn:aws:cloudformation:us-west-2:123456789012:stack/TrainStorage/1"

# Status and reason of an answer.
Answer = tuple[str, str | None]
Ask = Callable[..., Answer]
LoadHandler = Callable[[str], tuple[Any, list[Any]]]


class CloudFormation:
    """Has one protected stack; refuses so often first, as it does a new role."""

    def __init__(self, status: str, denials: int) -> None:
        self._status, self._denials = status, denials
        self.protected = True

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:
        assert StackName == STACK_ID
        if self._denials:
            self._denials -= 1
            denied = {"Code": "AccessDenied", "Message": "not authorized"}
            raise ClientError({"Error": denied}, "DescribeStacks")
        return {"Stacks": [{"StackStatus": self._status}]}

    def update_termination_protection(
        self, *, StackName: str, EnableTerminationProtection: bool
    ) -> None:
        assert StackName == STACK_ID
        self.protected = EnableTerminationProtection


class Eks:
    """Has one protected cluster, whose update takes a while."""

    def __init__(self) -> None:
        self.protected, self._waits = True, 2

    @property
    def busy(self) -> bool:
        return self._waits > 0

    def update_cluster_config(self, *, name: str, deletionProtection: bool) -> dict[str, Any]:
        assert name == "train"
        self.protected = deletionProtection
        return {"update": {"id": "u-1", "status": "InProgress"}}

    def describe_update(self, *, name: str, updateId: str) -> dict[str, Any]:
        assert (name, updateId) == ("train", "u-1")
        self._waits -= 1
        return {"update": {"id": "u-1", "status": "InProgress" if self.busy else "Successful"}}


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, load_handler: LoadHandler) -> Ask:
    """Sends an event to the handler about a stack of that CloudFormation."""
    handler, answers = load_handler("unprotect_on_rollback")
    monkeypatch.setattr("time.sleep", lambda seconds: None)

    def ask(
        kind: str,
        cloudformation: CloudFormation,
        eks: Eks | None = None,
        eks_cluster: str | None = None,
    ) -> Answer:
        clients = {"cloudformation": cloudformation, "eks": eks}
        monkeypatch.setattr(handler, "boto3", SimpleNamespace(client=clients.__getitem__))
        event = {
            "RequestType": kind,
            "StackId": STACK_ID,
            "LogicalResourceId": "Protection",
            "ResourceProperties": {"EksCluster": eks_cluster} if eks_cluster else {},
        }
        handler.handler(event, None)
        return answers[-1].status, answers[-1].reason

    return ask


@pytest.mark.parametrize(
    ("kind", "status", "protected"),
    [
        ("Create", "CREATE_IN_PROGRESS", True),
        ("Delete", "ROLLBACK_IN_PROGRESS", False),
        ("Delete", "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS", True),
        ("Delete", "DELETE_IN_PROGRESS", True),
    ],
)
def test_only_a_creation_that_is_rolled_back_loses_its_protection(
    ask: Ask, kind: str, status: str, protected: bool
) -> None:
    cloudformation = CloudFormation(status, denials=2)

    assert ask(kind, cloudformation) == ("SUCCESS", None)
    assert cloudformation.protected is protected


def test_a_stack_that_stays_protected_says_so_and_what_to_do(ask: Ask) -> None:
    cloudformation = CloudFormation("ROLLBACK_IN_PROGRESS", denials=9)

    status, reason = ask("Delete", cloudformation)

    assert status == "FAILED"
    assert reason is not None
    assert "update-termination-protection --no-enable-termination-protection" in reason
    assert STACK_ID in reason


def test_a_cluster_of_a_failed_creation_can_be_deleted_when_it_answers(ask: Ask) -> None:
    eks = Eks()

    answer = ask("Delete", CloudFormation("ROLLBACK_IN_PROGRESS", denials=0), eks, "train")

    assert answer == ("SUCCESS", None)
    assert not eks.protected
    assert not eks.busy


def test_the_cluster_of_another_deletion_stays_protected(ask: Ask) -> None:
    eks = Eks()

    ask("Delete", CloudFormation("DELETE_IN_PROGRESS", denials=0), eks, "train")

    assert eks.protected


def test_a_cluster_that_stays_protected_says_so(ask: Ask) -> None:
    cloudformation = CloudFormation("ROLLBACK_IN_PROGRESS", denials=9)

    status, reason = ask("Delete", cloudformation, Eks(), "train")

    assert status == "FAILED"
    assert reason is not None
    assert "aws eks update-cluster-config --no-deletion-protection --name train" in reason
