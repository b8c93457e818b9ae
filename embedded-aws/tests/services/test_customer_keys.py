"""Keys and boundaries that an account has to have before something can use them."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

ROOT = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "kms:*", "Resource": "*"}
LOGS = {**ROOT, "Principal": {"Service": "logs.us-west-2.amazonaws.com"}}
TRUST = {
    "Version": "2012-10-17",
    "Statement": {
        "Effect": "Allow",
        "Principal": {"Service": "ec2.amazonaws.com"},
        "Action": "sts:AssumeRole",
    },
}

MakeKey = Callable[..., str]


@pytest.fixture
def make_key(client: Callable[..., Any]) -> MakeKey:
    def make(*statements: dict[str, Any]) -> str:
        policy = json.dumps({"Version": "2012-10-17", "Statement": [ROOT, *statements]})
        arn: str = client("kms").create_key(Policy=policy)["KeyMetadata"]["Arn"]
        return arn

    return make


@pytest.fixture
def group(client: Callable[..., Any], name: str) -> Iterator[str]:
    client("logs").create_log_group(logGroupName=name)
    yield name
    client("logs").delete_log_group(logGroupName=name)


def key_of(client: Callable[..., Any], group: str) -> str | None:
    [found] = client("logs").describe_log_groups(logGroupNamePrefix=group)["logGroups"]
    key: str | None = found.get("kmsKeyId")
    return key


def test_a_log_group_takes_a_key_whose_policy_names_the_service(
    client: Callable[..., Any], name: str, make_key: MakeKey
) -> None:
    key = make_key(LOGS)

    client("logs").create_log_group(logGroupName=name, kmsKeyId=key)

    assert key_of(client, name) == key


def test_a_log_group_refuses_a_key_that_it_may_not_use(
    client: Callable[..., Any], name: str, make_key: MakeKey, refusal: Callable[..., Any]
) -> None:
    closed = make_key()
    absent = closed[:-4] + "0000"
    elsewhere = make_key({**LOGS, "Principal": {"Service": ["logs.us-east-1.amazonaws.com"]}})

    for key in (closed, absent, elsewhere):
        refused = refusal(client("logs").create_log_group, logGroupName=name, kmsKeyId=key)

        assert refused.code == "AccessDeniedException"
        assert "does not exist or is not allowed to be used with Arn" in refused.message


def test_a_log_group_changes_its_key_later(
    client: Callable[..., Any], group: str, make_key: MakeKey, refusal: Callable[..., Any]
) -> None:
    logs, key = client("logs"), make_key(LOGS)

    refused = refusal(logs.associate_kms_key, logGroupName=group, kmsKeyId=make_key())
    logs.associate_kms_key(logGroupName=group, kmsKeyId=key)
    encrypted = key_of(client, group)
    logs.disassociate_kms_key(logGroupName=group)

    assert refused.code == "AccessDeniedException"
    assert encrypted == key
    assert key_of(client, group) is None


def test_a_permissions_boundary_has_to_exist(
    client: Callable[..., Any], name: str, refusal: Callable[..., Any]
) -> None:
    iam, role = client("iam"), {"RoleName": name, "AssumeRolePolicyDocument": json.dumps(TRUST)}
    absent = "arn:aws:iam::123456789012:policy/absent"
    allowed = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    document = {"Version": "2012-10-17", "Statement": [allowed]}
    boundary = iam.create_policy(PolicyName=name, PolicyDocument=json.dumps(document))

    refused = refusal(iam.create_role, **role, PermissionsBoundary=absent)
    iam.create_role(**role, PermissionsBoundary=boundary["Policy"]["Arn"])
    later = refusal(iam.put_role_permissions_boundary, RoleName=name, PermissionsBoundary=absent)

    assert refused.code == later.code == "NoSuchEntity"
    assert absent in refused.message
    kept = iam.get_role(RoleName=name)["Role"]["PermissionsBoundary"]
    assert kept["PermissionsBoundaryArn"] == boundary["Policy"]["Arn"]
