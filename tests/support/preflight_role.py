"""A role that asks an account, with a policy that a test changes."""

import json
from typing import Any

import boto3
from preflight_account import REGION

from embedded_aws.embedded import EmbeddedAws


class Role:
    """A role whose policy changes, and clients of its session."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self._aws, self._clients = aws, dict[str, Any]()
        role = aws.client("iam").create_role(RoleName="reader", AssumeRolePolicyDocument="{}")
        self._given = aws.client("sts").assume_role(
            RoleArn=role["Role"]["Arn"], RoleSessionName="test"
        )["Credentials"]

    def may(self, policy: dict[str, Any]) -> None:
        self._aws.client("iam").put_role_policy(
            RoleName="reader", PolicyName="own", PolicyDocument=json.dumps(policy)
        )

    def client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = boto3.client(
                service,
                endpoint_url=self._aws.endpoint,
                region_name=REGION,
                aws_access_key_id=self._given["AccessKeyId"],
                aws_secret_access_key=self._given["SecretAccessKey"],
                aws_session_token=self._given["SessionToken"],
            )
        return self._clients[service]


def without(policy: dict[str, Any], action: str) -> dict[str, Any]:
    statements = [
        {**each, "Action": [name for name in each["Action"] if name != action]}
        for each in policy["Statement"]
    ]
    return {**policy, "Statement": [each for each in statements if each["Action"]]}
