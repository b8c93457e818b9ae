"""What the services' models say of values, which other SDKs than boto3 leave to AWS to check."""

from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.config import Config

CAPACITY = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-0123456789abcdef0"]}


@pytest.mark.parametrize(
    ("service", "operation", "params", "code", "value", "path", "rule"),
    [
        pytest.param(
            "batch",
            "list_jobs",
            {"jobStatus": "DONE"},
            "ClientException",
            "DONE",
            "jobStatus",
            "satisfy enum value set: [SUBMITTED, PENDING, RUNNABLE, STARTING, RUNNING, SUCCEEDED, "
            "FAILED]",
            id="enum",
        ),
        pytest.param(
            "fsx",
            "create_file_system",
            {**CAPACITY, "StorageCapacity": -2400},
            "BadRequest",
            "-2400",
            "StorageCapacity",
            "have value greater than or equal to 0",
            id="least",
        ),
        pytest.param(
            "ec2",
            "describe_instance_topology",
            {"MaxResults": 101},
            "InvalidParameterValue",
            "101",
            "MaxResults",
            "have value less than or equal to 100",
            id="most",
        ),
        pytest.param(
            "codebuild",
            "create_project",
            {"serviceRole": ""},
            "InvalidInputException",
            "",
            "serviceRole",
            "have length greater than or equal to 1",
            id="shortest",
        ),
        pytest.param(
            "ecr",
            "create_pull_through_cache_rule",
            {"ecrRepositoryPrefix": "a" * 31, "upstreamRegistryUrl": "quay.io"},
            "InvalidParameterException",
            "a" * 31,
            "ecrRepositoryPrefix",
            "have length less than or equal to 30",
            id="longest",
        ),
        pytest.param(
            "fsx",
            "create_file_system",
            {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-none-at-all"]},
            "BadRequest",
            "subnet-none-at-all",
            "SubnetIds.member",
            "satisfy regular expression pattern: ^(subnet-[0-9a-f]{8,})$",
            id="pattern-in-list",
        ),
        pytest.param(
            "batch",
            "submit_job",
            {"jobName": "a", "jobQueue": "b", "jobDefinition": "c", "tags": {"team": "x" * 257}},
            "ClientException",
            "x" * 257,
            "tags.team",
            "have length less than or equal to 256",
            id="in-map",
        ),
    ],
)
def test_a_value_that_its_model_excludes_is_refused(
    refusal: Callable[..., Any],
    endpoint: str,
    service: str,
    operation: str,
    params: dict[str, Any],
    code: str,
    value: str,
    path: str,
    rule: str,
) -> None:
    client = boto3.client(
        service,
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        region_name="us-west-2",
        endpoint_url=endpoint,
        config=Config(parameter_validation=False),
    )

    refused = refusal(getattr(client, operation), **params)

    assert refused.code == code
    assert refused.message == (
        f"1 validation error detected: Value '{value}' at '{path}' failed to satisfy constraint: "
        f"Member must {rule}"
    )
