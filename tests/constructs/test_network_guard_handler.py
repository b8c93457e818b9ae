"""The function that keeps a network and what is in it together, where a deployment shows little."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

OWN = "arn:aws:cloudformation:us-west-2:123456789012:stack/LabNetwork/1"
IMPORTS = {"Fn::ImportValue": "TrainNetwork:ExportsOutputRefVpc0"}
AS_YAML = "Vpc:\n  Fn::ImportValue: TrainNetwork:ExportsOutputRefVpc0\n"
AS_JSON = '{"Vpc": {"Fn::ImportValue": "TrainNetwork:ExportsOutputRefVpc0"}}'

# Status and reason of an answer.
Answer = tuple[str, str | None]
Ask = Callable[..., Answer]
LoadHandler = Callable[[str], tuple[Any, list[Any]]]


class CloudFormation:
    """Has the guard's own stack and perhaps TrainStorage; denies so often first, as a new role."""

    def __init__(self, status: str, user: str | None, body: object, denials: int = 0) -> None:
        self._statuses = {OWN: status} | ({"TrainStorage": user} if user else {})
        self._body, self._denials = body, denials

    def describe_stacks(self, *, StackName: str) -> Mapping[str, Any]:
        if self._denials:
            self._denials -= 1
            raise ClientError(
                {"Error": {"Code": "AccessDenied", "Message": "not authorized"}}, "DescribeStacks"
            )
        if StackName not in self._statuses:
            message = f"Stack with id {StackName} does not exist"
            raise ClientError(
                {"Error": {"Code": "ValidationError", "Message": message}}, "DescribeStacks"
            )
        status = self._statuses[StackName]
        return {"Stacks": [{"StackName": StackName.split("/")[-2:][0], "StackStatus": status}]}

    def get_template(self, *, StackName: str) -> Mapping[str, Any]:
        assert StackName == "TrainStorage"
        return {"TemplateBody": self._body}


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, load_handler: LoadHandler) -> Ask:
    """Sends a creation to the handler, for a network that TrainStorage is to be in.

    Others are in it, or were, by the properties that name them as users.
    """
    handler, answers = load_handler("network_guard")
    monkeypatch.setattr("time.sleep", lambda seconds: None)

    def ask(cloudformation: CloudFormation, **users: list[str]) -> Answer:
        monkeypatch.setattr(handler, "boto3", SimpleNamespace(client=lambda name: cloudformation))
        asked = {"Vpc": "10.20.0.0/16", "Exported": {}, "Users": ["TrainStorage"], "Help": "x.md"}
        event = {
            "RequestType": "Create",
            "StackId": OWN,
            "LogicalResourceId": "Guard",
            "ResourceProperties": asked,
        }
        event |= {key: {**asked, "Users": stacks} for key, stacks in users.items()}
        handler.handler(event, None)
        return answers[-1].status, answers[-1].reason

    return ask


@pytest.mark.parametrize("body", [{"Resources": {"A": IMPORTS}}, AS_YAML, AS_JSON])
def test_a_stack_of_another_network_is_found_in_whatever_form_its_template_has(
    ask: Ask, body: object
) -> None:
    status, reason = ask(CloudFormation("CREATE_IN_PROGRESS", "UPDATE_COMPLETE", body))

    assert status == "FAILED"
    assert reason is not None
    assert reason.startswith("TrainStorage cannot move from TrainNetwork to LabNetwork: undo")


@pytest.mark.parametrize(
    ("user", "body"),
    [
        (None, ""),
        ("ROLLBACK_COMPLETE", AS_JSON),  # its creation failed, and nothing of it is there
        ("REVIEW_IN_PROGRESS", AS_JSON),
        ("CREATE_COMPLETE", AS_JSON.replace("Train", "Lab")),
        ("CREATE_COMPLETE", "{}"),
    ],
)
def test_a_stack_that_is_not_in_another_network_may_come(
    ask: Ask, user: str | None, body: str
) -> None:
    assert ask(CloudFormation("CREATE_IN_PROGRESS", user, body))[0] == "SUCCESS"


@pytest.mark.parametrize("key", ["ResourceProperties", "OldResourceProperties"])
def test_a_stack_may_import_from_another_one_of_the_network(ask: Ask, key: str) -> None:
    cloudformation = CloudFormation("UPDATE_IN_PROGRESS", "CREATE_COMPLETE", AS_JSON)

    assert ask(cloudformation, **{key: ["TrainStorage", "TrainNetwork"]})[0] == "SUCCESS"


def test_a_rollback_passes(ask: Ask) -> None:
    cloudformation = CloudFormation("UPDATE_ROLLBACK_IN_PROGRESS", "CREATE_COMPLETE", AS_JSON)

    assert ask(cloudformation) == ("SUCCESS", None)


@pytest.mark.parametrize(("denials", "says"), [(3, "cannot move"), (4, "cannot tell")])
def test_a_role_that_does_not_count_yet_is_waited_for_but_not_for_ever(
    ask: Ask, denials: int, says: str
) -> None:
    cloudformation = CloudFormation("CREATE_IN_PROGRESS", "CREATE_COMPLETE", AS_JSON, denials)

    _, reason = ask(cloudformation)

    assert reason is not None
    assert says in reason
