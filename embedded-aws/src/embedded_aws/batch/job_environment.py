"""The environment variables of a job's container.

Batch user guide, "Environment variables of a job" and "Environment variables for multi-node
parallel jobs": the main node's address is set on the other nodes only. ECS developer guide:
AWS_EXECUTION_ENV; credentials of the job's role come from an endpoint, with an authorization token
(there at AWS_CONTAINER_CREDENTIALS_RELATIVE_URI of 169.254.170.2, here at a URI of loopback, which
the SDKs accept, too); secrets are values of Secrets Manager and of parameters. Documented: on EC2,
other than on Fargate, it names no region: "You must specify a region", say users' issues. From
memory: ECS's words when it cannot read a secret; a failing call here says less than ECS, which adds
the SDK's retries.
"""

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from embedded_aws.actions import Call, Row
from embedded_aws.batch.task_refused import TaskRefused
from embedded_aws.cloudformation.clients import client


def batch_variables(
    row: Row, *, environment: str, queue: str, attempt: int, size: int | None
) -> dict[str, str]:
    """Return the variables that AWS Batch sets for a job or for a node of it.

    Args:
        row: of the job or the node.
        environment: name of the compute environment.
        queue: name of the job queue.
        attempt: number of the attempt, from 1.
        size: of the array, for a child of an array job.
    """
    variables = {
        "AWS_BATCH_JOB_ID": row["jobId"],
        "AWS_BATCH_JOB_ATTEMPT": str(attempt),
        "AWS_BATCH_CE_NAME": environment,
        "AWS_BATCH_JQ_NAME": queue,
    }
    if size is not None:
        variables |= {
            "AWS_BATCH_JOB_ARRAY_INDEX": str(row["arrayProperties"]["index"]),
            "AWS_BATCH_JOB_ARRAY_SIZE": str(size),
        }
    return variables


def node_variables(index: int, main: int, count: int, address: str) -> dict[str, str]:
    """Return the variables that AWS Batch sets for a node of a multi-node job.

    Args:
        index: of the node.
        main: index of the main node.
        count: how many nodes the job has.
        address: of the main node.
    """
    variables = {
        "AWS_BATCH_JOB_NODE_INDEX": str(index),
        "AWS_BATCH_JOB_NUM_NODES": str(count),
        "AWS_BATCH_JOB_MAIN_NODE_INDEX": str(main),
    }
    if index != main:
        variables["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] = address
    return variables


def machine_variables(image: Mapping[str, str], host: Mapping[str, str]) -> dict[str, str]:
    """Return what the container's host, image and ECS set.

    Args:
        image: variables of the image, or of what it stands for.
        host: variables of the host.
    """
    return {
        **host,
        **image,
        "AWS_EXECUTION_ENV": "AWS_ECS_EC2",
    }


def secret_variables(call: Call, container: Mapping[str, Any]) -> dict[str, str]:
    """Return the secrets of a container, by the names of their variables.

    Raises:
        TaskRefused: one cannot be read.
    """
    secrets = container.get("secrets", [])
    if secrets and not container.get("executionRoleArn"):
        raise TaskRefused(
            "ResourceInitializationError: unable to pull secrets: the job definition names "
            "secrets and no executionRoleArn"
        )
    return {secret["name"]: _secret(call, secret["valueFrom"]) for secret in secrets}


def _secret(call: Call, source: str) -> str:
    """Return a value of Secrets Manager or of a parameter.

    Args:
        call: of the job's account and region.
        source: ARN of a secret, which may end with `:key:stage:version`, or ARN or name of a
            parameter.
    """
    try:
        if ":secretsmanager:" in source:
            *arn, key, stage, version = [*source.split(":"), "", "", ""][:10]
            named = {"VersionStage": stage, "VersionId": version}
            value: str = client(
                "secretsmanager", account=call.account, region=call.region
            ).get_secret_value(
                SecretId=":".join(arn), **{name: text for name, text in named.items() if text}
            )["SecretString"]
            return str(json.loads(value)[key]) if key else value
        name = source.partition(":parameter")[2] or source
        parameters = client("ssm", account=call.account, region=call.region)
        found = parameters.get_parameter(Name=name, WithDecryption=True)
        return str(found["Parameter"]["Value"])
    except (ClientError, KeyError, ValueError) as error:
        raise TaskRefused(
            f"ResourceInitializationError: unable to pull secrets or registry auth: {source}: "
            f"{error}"
        ) from error
