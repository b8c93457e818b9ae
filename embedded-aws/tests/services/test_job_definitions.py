"""Batch job definitions, multi-node ones above all."""

from collections.abc import Callable
from typing import Any

import pytest

Definition = dict[str, Any]


@pytest.fixture
def definition(name: str, node_group: Definition) -> Definition:
    """A multi-node definition that AWS accepts."""
    return {
        "jobDefinitionName": name,
        "type": "multinode",
        "nodeProperties": {"numNodes": 4, "mainNode": 0, "nodeRangeProperties": [node_group]},
    }


def test_a_multi_node_definition_is_described_as_registered(
    batch: Any, definition: Definition, node_group: Definition
) -> None:
    node_group["container"] |= {
        "linuxParameters": {
            "devices": [
                {"hostPath": "/dev/infiniband/uverbs0", "permissions": ["READ", "WRITE", "MKNOD"]}
            ],
            "sharedMemorySize": 65536,
        },
        "ulimits": [{"name": "memlock", "softLimit": -1, "hardLimit": -1}],
        "volumes": [{"name": "fsx", "host": {"sourcePath": "/fsx"}}],
        "mountPoints": [{"sourceVolume": "fsx", "containerPath": "/fsx"}],
        "logConfiguration": {"logDriver": "awslogs"},
    }

    first = batch.register_job_definition(**definition)
    second = batch.register_job_definition(**definition)

    found = batch.describe_job_definitions(jobDefinitions=[second["jobDefinitionArn"]])
    (shown,) = found["jobDefinitions"]
    assert (first["revision"], second["revision"]) == (1, 2)
    assert shown["nodeProperties"] == definition["nodeProperties"]
    assert (shown["type"], shown["status"]) == ("multinode", "ACTIVE")


def test_a_deregistered_revision_is_inactive(batch: Any, name: str, definition: Definition) -> None:
    arn = batch.register_job_definition(**definition)["jobDefinitionArn"]

    batch.deregister_job_definition(jobDefinition=arn)

    found = batch.describe_job_definitions(jobDefinitionName=name)["jobDefinitions"]
    assert [d["status"] for d in found] == ["INACTIVE"]


@pytest.mark.parametrize(
    "ranges", [["0:"], [":"], ["0:3"], [":3"], ["0", "1:"], ["0:1", "2:3"], ["0:3", "1:2"]]
)
def test_ranges_that_cover_every_node_are_accepted(
    batch: Any, definition: Definition, node_group: Definition, ranges: list[str]
) -> None:
    definition["nodeProperties"]["nodeRangeProperties"] = [
        {**node_group, "targetNodes": target} for target in ranges
    ]

    assert batch.register_job_definition(**definition)["revision"] == 1


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        pytest.param(["0:2"], "node 3 has none", id="end"),
        pytest.param(["1:"], "node 0 has none", id="start"),
        pytest.param(["0:1", "3:"], "node 2 has none", id="gap"),
        pytest.param(["0:4"], "within the nodes 0:3", id="beyond"),
        pytest.param(["3:1"], "within the nodes 0:3", id="backwards"),
        pytest.param(["all"], "must be a range", id="word"),
        pytest.param([], "Between 1 and 5 node groups", id="none"),
        pytest.param(["0:"] * 6, "Between 1 and 5 node groups", id="six"),
    ],
)
def test_ranges_that_miss_a_node_are_refused(
    batch: Any,
    definition: Definition,
    node_group: Definition,
    refusal: Callable[..., Any],
    ranges: list[str],
    words: str,
) -> None:
    definition["nodeProperties"]["nodeRangeProperties"] = [
        {**node_group, "targetNodes": target} for target in ranges
    ]

    assert words in refusal(batch.register_job_definition, **definition).message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"numNodes": 1001}, "between 1 and 1000", id="nodes"),
        pytest.param({"mainNode": 4}, "mainNode 4", id="main"),
    ],
)
def test_broken_node_counts_are_refused(
    batch: Any,
    definition: Definition,
    refusal: Callable[..., Any],
    change: Definition,
    words: str,
) -> None:
    definition["nodeProperties"] |= change

    assert words in refusal(batch.register_job_definition, **definition).message


def test_two_instance_types_are_refused(
    batch: Any, definition: Definition, node_group: Definition, refusal: Callable[..., Any]
) -> None:
    other = {
        "targetNodes": "1:",
        "container": {**node_group["container"], "instanceType": "p4d.24xlarge"},
    }
    definition["nodeProperties"]["nodeRangeProperties"].append(other)

    refused = refusal(batch.register_job_definition, **definition)

    assert "same instance type, not p4d.24xlarge, trn1.32xlarge" in refused.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"image": ""}, "an image", id="image"),
        pytest.param({"resourceRequirements": []}, "must contain VCPU", id="requirements"),
        pytest.param(
            {"resourceRequirements": [{"type": "VCPU", "value": "1"}]}, "MEMORY", id="memory"
        ),
        pytest.param(
            {"mountPoints": [{"sourceVolume": "fsx", "containerPath": "/fsx"}]},
            "Unknown volume 'fsx'",
            id="volume",
        ),
        pytest.param(
            {"ulimits": [{"name": "memlok", "softLimit": -1, "hardLimit": -1}]},
            "ulimit name memlok",
            id="ulimit",
        ),
        pytest.param(
            {"ulimits": [{"name": "nofile", "softLimit": 9, "hardLimit": 8}]},
            "exceeds hardLimit",
            id="soft-over-hard",
        ),
        pytest.param(
            {"linuxParameters": {"devices": [{"hostPath": "neuron0"}]}},
            "must be an absolute path",
            id="device",
        ),
        pytest.param(
            {"linuxParameters": {"sharedMemorySize": 0}}, "sharedMemorySize", id="shared-memory"
        ),
        pytest.param({"logConfiguration": {"logDriver": "paper"}}, "Value 'paper'", id="log"),
        pytest.param(
            {"environment": [{"name": "AWS_BATCH_JOB_ID", "value": "1"}]}, "reserved", id="env"
        ),
    ],
)
def test_broken_containers_are_refused(
    batch: Any,
    definition: Definition,
    node_group: Definition,
    refusal: Callable[..., Any],
    change: Definition,
    words: str,
) -> None:
    node_group["container"] |= change

    refused = refusal(batch.register_job_definition, **definition)

    assert refused.code == "ClientException"
    assert words in refused.message


RETRY_HOST = {"onStatusReason": "Host EC2*", "action": "RETRY"}
EXIT = {"onReason": "*", "action": "EXIT"}


@pytest.mark.parametrize(
    "strategy",
    [
        {"attempts": 10, "evaluateOnExit": [RETRY_HOST, EXIT]},
        {"attempts": 1, "evaluateOnExit": [{"onExitCode": "13*", "action": "retry"}]},
        {"attempts": 3},
    ],
)
def test_good_retry_strategies_are_accepted(
    batch: Any, definition: Definition, strategy: Definition
) -> None:
    assert batch.register_job_definition(**definition, retryStrategy=strategy)["revision"] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"retryStrategy": {"attempts": 11}}, "between 1 and 10", id="attempts"),
        pytest.param({"retryStrategy": {"evaluateOnExit": [EXIT]}}, "requires", id="no-attempts"),
        pytest.param(
            {"retryStrategy": {"attempts": 2, "evaluateOnExit": [EXIT] * 6}}, "at most 5", id="six"
        ),
        pytest.param(
            {"retryStrategy": {"attempts": 2, "evaluateOnExit": [{"action": "EXIT"}]}},
            "must have one of",
            id="no-pattern",
        ),
        pytest.param(
            {
                "retryStrategy": {
                    "attempts": 2,
                    "evaluateOnExit": [{"onReason": "*Host*", "action": "RETRY"}],
                }
            },
            "at the end only",
            id="leading-star",
        ),
        pytest.param(
            {
                "retryStrategy": {
                    "attempts": 2,
                    "evaluateOnExit": [{"onExitCode": "1x", "action": "RETRY"}],
                }
            },
            "may hold numbers",
            id="exit-code",
        ),
        pytest.param({"timeout": {"attemptDurationSeconds": 59}}, "at least 60", id="timeout"),
        pytest.param({"platformCapabilities": ["FARGATE"]}, "Fargate", id="fargate"),
        pytest.param({"type": "single"}, "Value 'single' at 'type' failed", id="type"),
        pytest.param({"parameters": {"x": "y" * 25000}}, "at most 24576", id="size"),
    ],
)
def test_broken_definitions_are_refused(
    batch: Any,
    definition: Definition,
    refusal: Callable[..., Any],
    change: Definition,
    words: str,
) -> None:
    assert words in refusal(batch.register_job_definition, **{**definition, **change}).message


def test_a_single_node_definition_is_accepted(
    batch: Any, name: str, node_group: Definition
) -> None:
    container = {k: v for k, v in node_group["container"].items() if k != "instanceType"}

    made = batch.register_job_definition(
        jobDefinitionName=name, type="container", containerProperties=container
    )

    assert made["revision"] == 1
