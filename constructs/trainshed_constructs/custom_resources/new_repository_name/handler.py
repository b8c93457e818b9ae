"""Lambda function that passes the name of a repository on, unless there is one of that name.

It also refuses another key for the repository that the stack has: ECR would need a new one.

CloudFormation puts this text inline, where 4096 characters is the limit.
"""

import logging
from typing import Any

import boto3
import cfnresponse

from trainshed_constructs.custom_resources.patiently import patiently


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation with the name, or with the reason why it is not free."""
    asked = event["ResourceProperties"]
    physical_id = name = asked["Name"]
    try:
        refusal = _refusal(event) if event["RequestType"] != "Delete" else None
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("cannot tell")
        refusal = f"cannot tell whether there is an ECR repository {name}: {error}"
    if refusal:
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=refusal)
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, {"Name": name}, physical_id)


def _refusal(event: dict[str, Any]) -> str | None:
    asked = event["ResourceProperties"]
    name, key = asked["Name"], asked["KmsKey"]
    found = _find(name)
    if not found:
        return None
    # An update that keeps the name keeps the repository.
    if event.get("OldResourceProperties", {}).get("Name") != name:
        return (
            f"there is an ECR repository {name} already, perhaps kept when a stack was deleted: "
            f"use it with {asked['HowToAdopt']}, or name another"
        )
    # What ECR has and not what was asked before, so that a rollback passes.
    has = found["encryptionConfiguration"].get("kmsKey", "")
    if has != key:
        return (
            f"ECR repository {name} is encrypted with {has or 'a key of ECR'}, and ECR cannot "
            f"change that to {key or 'a key of its own'}: put kms_key back, or name another "
            "repository"
        )
    return None


def _find(name: str) -> dict[str, Any] | None:
    ecr = boto3.client("ecr")
    try:
        found = patiently(ecr.describe_repositories, repositoryNames=[name])["repositories"]
    except ecr.exceptions.RepositoryNotFoundException:
        return None
    repository: dict[str, Any] = found[0]
    return repository
