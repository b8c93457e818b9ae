"""Log groups through their handler."""

from typing import Any

import pytest
from moto.logs.models import LogsBackend

from embedded_aws.cloudformation.resource import HandlerError


@pytest.fixture
def group(deploy: Any) -> Any:
    tags = [{"Key": "old", "Value": "1"}]
    return deploy("AWS::Logs::LogGroup", "Jobs", RetentionInDays=30, Tags=tags)


def described(client: Any, group: Any) -> list[dict[str, Any]]:
    reply = client("logs").describe_log_groups(logGroupNamePrefix=group.ref)
    found: list[dict[str, Any]] = reply["logGroups"]
    return found


def test_a_log_group_keeps_logs_as_long_as_the_template_says(client: Any, group: Any) -> None:
    first = described(client, group)[0]["retentionInDays"]

    group.update(RetentionInDays=7)
    second = described(client, group)[0]["retentionInDays"]
    group.update("RetentionInDays")

    assert (first, second) == (30, 7)
    assert described(client, group)[0].get("retentionInDays") is None
    assert group.attributes["Arn"].endswith(f":log-group:{group.ref}:*")


def test_a_log_group_changes_its_tags(client: Any, group: Any) -> None:
    group.update(Tags=[{"Key": "new", "Value": "2"}])

    arn = group.attributes["Arn"].removesuffix(":*")
    tags = client("logs").list_tags_for_resource(resourceArn=arn)["tags"]
    assert tags["new"] == "2"
    assert "old" not in tags


def test_a_data_protection_policy_is_refused_before_anything_is_made(
    client: Any, deploy: Any, group: Any
) -> None:
    policy = {"Name": "mask", "Version": "2021-06-01", "Statement": []}

    with pytest.raises(HandlerError, match="DataProtectionPolicy"):
        deploy("AWS::Logs::LogGroup", LogGroupName="protected", DataProtectionPolicy=policy)
    with pytest.raises(HandlerError, match="cannot change DataProtectionPolicy"):
        group.update(DataProtectionPolicy=policy)

    groups = client("logs").describe_log_groups(logGroupNamePrefix="protected")["logGroups"]
    assert groups == []


def test_a_log_group_that_a_bug_keeps_from_being_configured_is_deleted(
    client: Any, deploy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(LogsBackend, "put_retention_policy", fail)

    with pytest.raises(NotImplementedError):
        deploy("AWS::Logs::LogGroup", LogGroupName="unfinished", RetentionInDays=7)

    groups = client("logs").describe_log_groups(logGroupNamePrefix="unfinished")["logGroups"]
    assert groups == []


def test_a_deleted_log_group_is_gone(client: Any, group: Any) -> None:
    group.delete()
    group.delete()

    assert described(client, group) == []
