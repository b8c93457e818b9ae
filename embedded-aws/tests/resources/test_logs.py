"""Log groups through their handler."""

from typing import Any

import pytest


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


def test_a_deleted_log_group_is_gone(client: Any, group: Any) -> None:
    group.delete()
    group.delete()

    assert described(client, group) == []
