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


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, load_handler: LoadHandler) -> Ask:
    """Sends an event to the handler about a stack of that CloudFormation."""
    handler, answers = load_handler("unprotect_on_rollback")
    monkeypatch.setattr("time.sleep", lambda seconds: None)

    def ask(kind: str, cloudformation: CloudFormation) -> Answer:
        monkeypatch.setattr(handler, "boto3", SimpleNamespace(client=lambda name: cloudformation))
        event = {"RequestType": kind, "StackId": STACK_ID, "LogicalResourceId": "Protection"}
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
