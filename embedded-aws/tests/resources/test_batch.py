"""Batch's environments, queues and definitions through their handlers."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from embedded_aws.embedded import EmbeddedAws


@pytest.fixture
def environment(deploy: Any, subnet: Any, group: Any, role: Any) -> Any:
    profile = deploy("AWS::IAM::InstanceProfile", Roles=[role.ref])
    return deploy(
        "AWS::Batch::ComputeEnvironment",
        "Nodes",
        Type="MANAGED",
        ReplaceComputeEnvironment=False,
        UpdatePolicy={"TerminateJobsOnUpdate": False, "JobExecutionTimeoutMinutes": 7200},
        Tags={"Name": "nodes"},
        ComputeResources={
            "Type": "EC2",
            "AllocationStrategy": "BEST_FIT_PROGRESSIVE",
            "MinvCpus": 0,
            "MaxvCpus": 256,
            "InstanceTypes": ["trn1.32xlarge"],
            "InstanceRole": profile.attributes["Arn"],
            "Subnets": [subnet.ref],
            "SecurityGroupIds": [group.ref],
        },
    )


@pytest.fixture
def stack_of_cdk(clean_aws: EmbeddedAws) -> EmbeddedAws:
    """An embedded AWS with CDK's own compute environment and a queue for it."""
    app = cdk.App()
    stack = cdk.Stack(app, "Batch")
    vpc = ec2.Vpc(stack, "Vpc", nat_gateways=0, restrict_default_security_group=False)
    nodes = batch.ManagedEc2EcsComputeEnvironment(stack, "Nodes", vpc=vpc, spot=True)
    batch.JobQueue(stack, "Queue").add_compute_environment(nodes, 1)
    clean_aws.deploy(Template.from_stack(stack).to_json(), stack_name="Batch")
    return clean_aws


def environments(client: Any, environment: Any) -> list[dict[str, Any]]:
    reply = client("batch").describe_compute_environments(computeEnvironments=[environment.ref])
    found: list[dict[str, Any]] = reply["computeEnvironments"]
    return found


def test_an_environment_is_named_after_its_logical_id(client: Any, environment: Any) -> None:
    described = environments(client, environment)[0]

    assert described["computeEnvironmentName"].startswith("Nodes-")
    assert described["computeEnvironmentArn"] == environment.ref
    assert described["computeResources"]["maxvCpus"] == 256
    assert described["tags"]["Name"] == "nodes"


def test_an_environment_in_cdks_spelling_is_made(stack_of_cdk: EmbeddedAws) -> None:
    [described] = stack_of_cdk.client("batch").describe_compute_environments()[
        "computeEnvironments"
    ]

    assert described["type"] == "MANAGED"
    assert described["computeResources"]["type"] == "SPOT"
    assert described["computeResources"]["allocationStrategy"] == "SPOT_PRICE_CAPACITY_OPTIMIZED"


def test_an_environment_grows_in_place(client: Any, environment: Any) -> None:
    resources = environment.request.properties["ComputeResources"]

    environment.update(ComputeResources={**resources, "MaxvCpus": 2048})

    described = environments(client, environment)[0]
    assert described["computeResources"]["maxvCpus"] == 2048
    assert described["computeResources"]["instanceTypes"] == ["trn1.32xlarge"]


def test_a_queue_is_changed_and_both_are_deleted_though_enabled(
    client: Any, deploy: Any, environment: Any
) -> None:
    batch = client("batch")
    queue = deploy(
        "AWS::Batch::JobQueue",
        "Queue",
        Priority=1,
        ComputeEnvironmentOrder=[{"Order": 1, "ComputeEnvironment": environment.ref}],
    )

    queue.update(Priority=7)

    assert batch.describe_job_queues(jobQueues=[queue.ref])["jobQueues"][0]["priority"] == 7
    for resource in (queue, environment):
        resource.delete()
        resource.delete()
    left = batch.describe_job_queues(jobQueues=[queue.ref])["jobQueues"]
    left += environments(client, environment)
    assert [each["status"] for each in left if each["status"] != "DELETED"] == []


def nodes(image: str) -> dict[str, Any]:
    container = {
        "Image": image,
        "ResourceRequirements": [
            {"Type": "VCPU", "Value": "96"},
            {"Type": "MEMORY", "Value": "500000"},
        ],
        "LinuxParameters": {"Devices": [{"HostPath": "/dev/neuron0"}], "SharedMemorySize": 65536},
        "Environment": [{"Name": "FI_PROVIDER", "Value": "efa"}],
        "LogConfiguration": {"LogDriver": "awslogs", "Options": {"awslogs-group": "jobs"}},
        "Ulimits": [{"Name": "memlock", "SoftLimit": -1, "HardLimit": -1}],
    }
    group = {"TargetNodes": "0:", "Container": container}
    return {"MainNode": 0, "NumNodes": 2, "NodeRangeProperties": [group]}


def active(client: Any, definition: Any) -> dict[str, str]:
    """Images of the active revisions by ARN."""
    name = definition.ref.rpartition("/")[2].rpartition(":")[0]
    reply = client("batch").describe_job_definitions(jobDefinitionName=name, status="ACTIVE")
    return {
        found["jobDefinitionArn"]: found["nodeProperties"]["nodeRangeProperties"][0]["container"][
            "image"
        ]
        for found in reply["jobDefinitions"]
    }


def test_a_definition_keeps_what_maps_and_names_hold(client: Any, deploy: Any) -> None:
    definition = deploy("AWS::Batch::JobDefinition", Type="multinode", NodeProperties=nodes("a:1"))

    reply = client("batch").describe_job_definitions(jobDefinitions=[definition.ref])
    found = reply["jobDefinitions"][0]["nodeProperties"]["nodeRangeProperties"][0]["container"]
    assert found["logConfiguration"] == {
        "logDriver": "awslogs",
        "options": {"awslogs-group": "jobs"},
    }
    assert found["environment"] == [{"name": "FI_PROVIDER", "value": "efa"}]
    assert found["linuxParameters"]["sharedMemorySize"] == 65536


def test_a_changed_definition_is_the_next_revision(client: Any, deploy: Any) -> None:
    definition = deploy("AWS::Batch::JobDefinition", Type="multinode", NodeProperties=nodes("a:1"))
    first = definition.ref

    definition.update(NodeProperties=nodes("a:2"))

    assert first.endswith(":1")
    assert definition.ref == first.removesuffix("1") + "2"
    assert definition.attributes["JobDefinitionArn"] == definition.ref
    assert active(client, definition) == {definition.ref: "a:2"}
    definition.delete()
    definition.delete()
    assert active(client, definition) == {}


def test_a_definition_keeps_its_old_revision_when_reported(client: Any, deploy: Any) -> None:
    definition = deploy("AWS::Batch::JobDefinition", Type="multinode", NodeProperties=nodes("a:1"))
    first = definition.ref

    definition.update(
        NodeProperties=nodes("a:2"), ResourceRetentionPolicy={"SkipDeregisterOnUpdate": True}
    )

    assert active(client, definition) == {first: "a:1", definition.ref: "a:2"}
