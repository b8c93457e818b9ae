"""Lambda function that passes the name of a repository on, unless there is one of that name.

CloudFormation puts this text inline, where 4096 characters is the limit.
"""

import logging
import time
from typing import Any

import boto3
import cfnresponse
from botocore.exceptions import ClientError

# Seconds between tries: a role that was made a moment ago may not count everywhere yet.
_PAUSES = (2, 4, 8)


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation with the name, or with the reason why it is not free."""
    asked = event["ResourceProperties"]
    physical_id = name = asked["Name"]
    try:
        # An update that keeps the name keeps the repository.
        known = event.get("OldResourceProperties", {}).get("Name") == name
        refusal = None
        if event["RequestType"] != "Delete" and not known and _is_there(name):
            refusal = (
                f"there is an ECR repository {name} already, perhaps kept when a stack was "
                f"deleted: use it with {asked['HowToAdopt']}, or name another"
            )
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("cannot tell")
        refusal = f"cannot tell whether there is an ECR repository {name}: {error}"
    if refusal:
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=refusal)
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, {"Name": name}, physical_id)


def _is_there(name: str) -> bool:
    ecr = boto3.client("ecr")
    for pause in (*_PAUSES, None):
        try:
            ecr.describe_repositories(repositoryNames=[name])
            return True
        except ecr.exceptions.RepositoryNotFoundException:
            return False
        except ClientError as error:
            if error.response["Error"]["Code"] != "AccessDeniedException" or pause is None:
                raise
        time.sleep(pause)
    raise AssertionError("the last try returns or raises")
