"""Clients with the credentials of a role."""

from typing import Any

import boto3

from embedded_aws.embedded import EmbeddedAws


def role_client(aws: EmbeddedAws, service: str, role: str, region: str | None = None) -> Any:
    """Return a client of a service with the credentials of a session of a role.

    Args:
        aws: where the role is.
        service: for instance `ec2`.
        role: its ARN.
        region: by default the first one.
    """
    given = aws.client("sts").assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
    return boto3.client(
        service,
        endpoint_url=aws.endpoint,
        region_name=region or aws.settings.regions[0],
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )
