"""The function that reads an AMI id from an SSM parameter once."""

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

NAME = "/trainshed/ami/neuron/ecs/stable"
OLD, NEW = "ami-0123456789abcdef0", "ami-0fedcba9876543210"

# Status, physical id, data and reason of an answer.
Answer = tuple[str, str, Mapping[str, str], str | None]
Ask = Callable[..., Answer]


class ParameterNotFound(ClientError):  # type: ignore[misc]  # botocore has no types
    pass


class ParameterVersionNotFound(ClientError):  # type: ignore[misc]  # as above
    pass


class Ssm:
    """Holds versions of one parameter; refuses so often first, as a new role is."""

    def __init__(self, *values: str, denials: int = 0) -> None:
        self.values = list(values)
        self.denials = denials
        self.meta = SimpleNamespace(region_name="us-west-2")
        self.exceptions = SimpleNamespace(
            ParameterNotFound=ParameterNotFound, ParameterVersionNotFound=ParameterVersionNotFound
        )

    def get_parameter(self, *, Name: str) -> dict[str, Any]:
        if self.denials:
            self.denials -= 1
            denied = {"Code": "AccessDeniedException", "Message": "not authorized"}
            raise ClientError({"Error": denied}, "GetParameter")
        name, _, version = Name.partition(":")
        if name != NAME:
            raise ParameterNotFound({"Error": {"Code": "ParameterNotFound"}}, "GetParameter")
        number = int(version or len(self.values))
        if number > len(self.values):
            told = {"Error": {"Code": "ParameterVersionNotFound"}}
            raise ParameterVersionNotFound(told, "GetParameter")
        return {"Parameter": {"Value": self.values[number - 1], "Version": number}}


@pytest.fixture
def pauses() -> list[int]:
    """How long the function waited, in seconds."""
    return []


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, pauses: list[int]) -> Iterator[Ask]:
    """Sends an event to the handler."""
    answers: list[Answer] = []
    cfnresponse = ModuleType("cfnresponse")

    def send(
        event: object,
        context: object,
        status: str,
        data: Mapping[str, str],
        physical_id: str,
        *,
        reason: str | None = None,
    ) -> None:
        answers.append((status, physical_id, data, reason))

    for key, value in {"SUCCESS": "SUCCESS", "FAILED": "FAILED", "send": send}.items():
        setattr(cfnresponse, key, value)
    monkeypatch.setitem(sys.modules, "cfnresponse", cfnresponse)
    module = "trainshed_constructs.handlers.pinned_ami"
    monkeypatch.delitem(sys.modules, module, raising=False)
    handler = importlib.import_module(module)
    monkeypatch.setattr(handler, "time", SimpleNamespace(sleep=pauses.append))

    def ask(kind: str, ssm: Ssm, asked: str = NAME, **more: Any) -> Answer:
        monkeypatch.setattr(handler, "boto3", SimpleNamespace(client=lambda service: ssm))
        properties = {"Parameter": asked}
        event = {
            "RequestType": kind,
            "LogicalResourceId": "Ami",
            "ResourceProperties": properties,
            **more,
        }
        handler.handler(event, None)
        return answers.pop()

    yield ask
    sys.modules.pop(module, None)


def test_a_creation_reads_the_newest_version(ask: Ask) -> None:
    status, physical_id, data, _ = ask("Create", Ssm(OLD, NEW))

    assert status == "SUCCESS"
    assert physical_id == f"{NAME}:2={NEW}"
    assert data == {"ImageId": NEW, "Version": "2"}


def test_a_creation_reads_the_version_asked_for(ask: Ask) -> None:
    _, _, data, _ = ask("Create", Ssm(OLD, NEW), f"{NAME}:1")

    assert data == {"ImageId": OLD, "Version": "1"}


def test_an_update_for_another_reason_keeps_what_was_read(ask: Ask) -> None:
    pinned = f"{NAME}:1={OLD}"
    before = {"Parameter": NAME, "ServiceTimeout": "60"}

    status, physical_id, data, _ = ask(
        "Update", Ssm(OLD, NEW), PhysicalResourceId=pinned, OldResourceProperties=before
    )

    assert (status, physical_id) == ("SUCCESS", pinned)
    assert data == {"ImageId": OLD, "Version": "1"}


def test_an_update_to_another_version_reads_it(ask: Ask) -> None:
    _, _, data, _ = ask(
        "Update",
        Ssm(OLD, NEW),
        f"{NAME}:2",
        PhysicalResourceId=f"{NAME}:1={OLD}",
        OldResourceProperties={"Parameter": NAME},
    )

    assert data == {"ImageId": NEW, "Version": "2"}


@pytest.mark.parametrize(
    ("ssm", "asked", "reason"),
    [
        (
            Ssm(OLD),
            "/ours/ami",
            "there is no SSM parameter /ours/ami in us-west-2: publish an AMI to it, or name "
            "another",
        ),
        (
            Ssm(OLD),
            f"{NAME}:2",
            f"SSM parameter {NAME} has no version 2 in us-west-2: it is yet to come, or older "
            "than the 100 that SSM keeps; name another",
        ),
        (Ssm("none yet"), NAME, f"SSM parameter {NAME} holds 'none yet', which is no AMI id"),
        (
            Ssm("ami-123"),
            f"{NAME}:1",
            f"SSM parameter {NAME}:1 holds 'ami-123', which is no AMI id",
        ),
    ],
    ids=["no parameter", "no version", "no AMI id", "a bad AMI id"],
)
def test_what_is_wrong_is_told(ask: Ask, ssm: Ssm, asked: str, reason: str) -> None:
    status, _, data, told = ask("Create", ssm, asked)

    assert (status, data) == ("FAILED", {})
    assert told == reason


def test_a_right_that_does_not_count_yet_is_waited_for(ask: Ask, pauses: list[int]) -> None:
    status, *_ = ask("Create", Ssm(OLD, denials=2))

    assert status == "SUCCESS"
    assert pauses == [2, 4]


def test_a_right_that_never_counts_is_told_in_time(ask: Ask, pauses: list[int]) -> None:
    status, _, _, reason = ask("Create", Ssm(OLD, denials=99))

    assert status == "FAILED"
    assert reason and "AccessDeniedException" in reason
    # The function has 30 seconds.
    assert sum(pauses) < 20


def test_a_deletion_asks_nothing(ask: Ask) -> None:
    status, physical_id, *_ = ask("Delete", Ssm(), PhysicalResourceId=f"{NAME}:1={OLD}")

    assert (status, physical_id) == ("SUCCESS", f"{NAME}:1={OLD}")
