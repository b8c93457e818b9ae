"""The function that stops a deployment which would make another, empty file system."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

STACK_ID = "arn:aws:cloudformation:us-west-2:123456789012:stack/TrainStorage/1"
FILE_SYSTEM = {
    "FileSystemType": "LUSTRE",
    "StorageCapacity": "4800",
    "SubnetIds": ["subnet-1"],
    "DeploymentType": "PERSISTENT_2",
    "PerUnitStorageThroughput": "250",
}

KEPT = {
    "FileSystemId": "fs-0123456789abcdef0",
    "StorageCapacity": 4800,
    "Lifecycle": "AVAILABLE",
    "Tags": [{"Key": "trainshed:lustre", "Value": "train"}],
}

Answer = tuple[str, str, str | None]
Ask = Callable[..., Answer]
LoadHandler = Callable[[str], tuple[Any, list[Any]]]


class CloudFormation:
    """Knows one stack, and nothing when its status is empty."""

    def __init__(self, status: str) -> None:
        self._status = status

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:
        assert StackName == STACK_ID
        if not self._status:
            raise ConnectionError("no route to CloudFormation")
        return {"Stacks": [{"StackStatus": self._status}]}


class FileSystems:
    """Has file systems; refuses so often first, as it does a new role."""

    def __init__(self, file_systems: list[dict[str, Any]], denials: int) -> None:
        self._file_systems, self._denials = file_systems, denials

    def get_paginator(self, operation: str) -> "FileSystems":
        assert operation == "describe_file_systems"
        return self

    def paginate(self) -> "FileSystems":
        return self

    def search(self, expression: str) -> Iterator[dict[str, Any]]:
        assert expression == "FileSystems"
        if self._denials:
            self._denials -= 1
            denied = {"Code": "AccessDeniedException", "Message": "not authorized"}
            raise ClientError({"Error": denied}, "DescribeFileSystems")
        yield from self._file_systems


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, load_handler: LoadHandler) -> Ask:
    """Sends an event to the handler; returns status, physical id and reason of its answer."""
    handler, answers = load_handler("replacement_guard")

    def ask(
        kind: str = "Update",
        *,
        service: str = "fsx",
        tag: str = "trainshed:lustre",
        allow: bool = False,
        status: str = "UPDATE_IN_PROGRESS",
        links: tuple[str, str] = ("", ""),
        file_systems: tuple[dict[str, Any], ...] = (),
        denials: int = 0,
        **changes: Any,
    ) -> Answer:
        clients = {
            "cloudformation": CloudFormation(status),
            service: FileSystems(list(file_systems), denials),
        }
        monkeypatch.setattr(handler, "boto3", SimpleNamespace(client=clients.__getitem__))
        monkeypatch.setattr("time.sleep", lambda seconds: None)
        now = {key: value for key, value in (FILE_SYSTEM | changes).items() if value}
        event = {
            "RequestType": kind,
            "StackId": STACK_ID,
            "LogicalResourceId": "Guard",
            "ResourceProperties": {
                "FileSystem": now,
                "Name": "train",
                "Service": service,
                "Tag": tag,
                "S3": links[1],
                "AllowReplacement": str(allow).lower(),
                "HowToAllow": "storage.lustre.allow_replacement: true",
                "HowToAdopt": "storage.lustre.existing",
            },
        }
        if kind != "Create":
            event["PhysicalResourceId"] = "the-guard"
        if kind == "Update":
            event["OldResourceProperties"] = {"FileSystem": FILE_SYSTEM, "S3": links[0]}
        handler.handler(event, None)
        [answer] = answers
        return answer.status, answer.physical_id, answer.reason

    return ask


@pytest.mark.parametrize("kind", ["Create", "Delete"])
def test_creation_and_deletion_pass(ask: Ask, kind: str) -> None:
    status, physical_id, _ = ask(kind)

    assert status == "SUCCESS"
    assert physical_id == ("Guard" if kind == "Create" else "the-guard")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"StorageCapacity": "12000"}, id="more-storage"),
    ],
)
def test_what_happens_in_place_passes(ask: Ask, changes: dict[str, Any]) -> None:
    assert ask(**changes)[0] == "SUCCESS"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param(
            {"SubnetIds": ["subnet-2"]},
            "SubnetIds from subnet-1 to subnet-2",
            id="other-value",
        ),
        pytest.param(
            {"DeploymentType": "SCRATCH_2", "PerUnitStorageThroughput": None},
            "DeploymentType from PERSISTENT_2 to SCRATCH_2, "
            "PerUnitStorageThroughput from 250 to none",
            id="gone",
        ),
        pytest.param({"KmsKeyId": "key-1"}, "KmsKeyId from none to key-1", id="new"),
        pytest.param({"EfaEnabled": "true"}, "EfaEnabled from none to true", id="on"),
    ],
)
def test_a_replacement_is_refused_with_what_would_be_lost_and_how_to_allow_it(
    ask: Ask, changes: dict[str, Any], said: str
) -> None:
    status, physical_id, reason = ask(**changes)

    assert (status, physical_id) == ("FAILED", "the-guard")
    assert reason is not None
    assert f"changing {said} needs a new, empty file system" in reason
    assert reason.endswith("allow it with storage.lustre.allow_replacement: true")


def test_a_replacement_passes_when_it_is_allowed(ask: Ask) -> None:
    assert ask(allow=True, SubnetIds=["subnet-2"], StorageCapacity="2400")[0] == "SUCCESS"


@pytest.mark.parametrize("allow", [False, True])
def test_less_storage_is_refused_because_fsx_cannot(ask: Ask, allow: bool) -> None:
    status, _, reason = ask(allow=allow, StorageCapacity="2400")

    assert status == "FAILED"
    assert reason is not None
    assert "cannot take storage away (StorageCapacity from 4800 to 2400 GiB)" in reason
    assert reason.endswith("make a second cluster with another name")


def test_a_rollback_passes_because_it_brings_back_what_is_there(ask: Ask) -> None:
    assert ask(status="UPDATE_ROLLBACK_IN_PROGRESS", SubnetIds=["subnet-2"])[0] == "SUCCESS"


def test_not_being_able_to_look_is_a_refusal(ask: Ask) -> None:
    status, _, reason = ask(status="", SubnetIds=["subnet-2"])

    assert status == "FAILED"
    assert reason is not None
    assert "cannot tell whether" in reason
    assert "no route to CloudFormation" in reason


def test_a_creation_beside_a_kept_file_system_is_refused_with_both_ways_out(ask: Ask) -> None:
    status, _, reason = ask("Create", file_systems=(KEPT,), denials=2)

    assert status == "FAILED"
    assert reason is not None
    assert reason.startswith("fs-0123456789abcdef0 was kept")
    assert "storage.lustre.existing: fs-0123456789abcdef0" in reason
    assert reason.endswith("storage.lustre.allow_replacement: true")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"Tags": []}, id="of-somebody-else"),
        pytest.param({"Tags": [{"Key": "trainshed:lustre", "Value": "lab"}]}, id="other-name"),
        pytest.param({"Lifecycle": "DELETING"}, id="going"),
    ],
)
def test_a_creation_beside_other_file_systems_passes(ask: Ask, other: dict[str, Any]) -> None:
    assert ask("Create", file_systems=(KEPT | other,))[0] == "SUCCESS"


@pytest.mark.parametrize(("state", "status"), [("available", "FAILED"), ("deleting", "SUCCESS")])
def test_a_creation_beside_a_kept_file_system_of_efs(ask: Ask, state: str, status: str) -> None:
    tag = "trainshed:efs"
    kept = {
        "FileSystemId": "fs-0123456789abcdef0",
        "LifeCycleState": state,
        "Tags": [{"Key": tag, "Value": "train"}],
    }

    assert ask("Create", service="efs", tag=tag, file_systems=(kept,))[0] == status


def test_a_creation_beside_a_kept_file_system_passes_when_it_is_allowed(ask: Ask) -> None:
    assert ask("Create", allow=True, file_systems=(KEPT,))[0] == "SUCCESS"


@pytest.mark.parametrize(
    ("links", "status"),
    [
        pytest.param(("s3://a/old/", "s3://a/new/"), "FAILED", id="another"),
        pytest.param(("s3://a/old/", ""), "SUCCESS", id="none"),
        pytest.param(("", "s3://a/new/"), "SUCCESS", id="first"),
        pytest.param(("s3://a/old/", "s3://a/old/"), "SUCCESS", id="same"),
    ],
)
@pytest.mark.parametrize("allow", [False, True])
def test_a_link_goes_before_another_comes(
    ask: Ask, links: tuple[str, str], status: str, allow: bool
) -> None:
    assert ask(allow=allow, links=links)[0] == status
