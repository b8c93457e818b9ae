"""Roles with policies, and clients with their credentials."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import boto3
import pytest

from embedded_aws.embedded import EmbeddedAws

# Gives a client of a service with the credentials of a session of a role.
As = Callable[..., Any]
MakeRole = Callable[..., str]


def policy(*statements: Mapping[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


@pytest.fixture(scope="session")
def allow() -> Callable[..., dict[str, Any]]:
    """A statement that allows actions on a resource."""

    def statement(actions: str | list[str], resource: str = "*", **more: Any) -> dict[str, Any]:
        return {"Effect": "Allow", "Action": actions, "Resource": resource, **more}

    return statement


@pytest.fixture
def make_role(clean_aws: EmbeddedAws) -> MakeRole:
    """Make a role with an inline policy of these statements, and return its ARN."""
    iam = clean_aws.client("iam")

    def make(*statements: Mapping[str, Any], name: str = "job", **more: Any) -> str:
        arn: str = iam.create_role(RoleName=name, AssumeRolePolicyDocument=policy(), **more)[
            "Role"
        ]["Arn"]
        iam.put_role_policy(RoleName=name, PolicyName="own", PolicyDocument=policy(*statements))
        return arn

    return make


@pytest.fixture
def as_role(clean_aws: EmbeddedAws) -> As:
    """Return a client with the credentials of a session of a role."""

    def client(service: str, role: str, **session: Any) -> Any:
        given = clean_aws.client("sts").assume_role(
            RoleArn=role, RoleSessionName="test", **session
        )["Credentials"]
        return boto3.client(
            service,
            endpoint_url=clean_aws.endpoint,
            region_name="us-west-2",
            aws_access_key_id=given["AccessKeyId"],
            aws_secret_access_key=given["SecretAccessKey"],
            aws_session_token=given["SessionToken"],
        )

    return client
