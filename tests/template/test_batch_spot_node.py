"""BatchSpotNode in a template, and what the stack of a cluster on Spot makes of it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Match, Template

from trainshed.nodes.exit_codes import PEER_LOST
from trainshed.nodes.folders import SPOT
from trainshed.plan import ContainerPlan, load_fleet
from trainshed.spec import NodeRange
from trainshed_constructs import BatchMultiNode, BatchSpotNode, ConstructError

ENVIRONMENT, QUEUE, JOB = (
    f"AWS::Batch::{kind}" for kind in ("ComputeEnvironment", "JobQueue", "JobDefinition")
)
CONTAINER = ContainerPlan(
    vcpus=96,
    memory_mib=1000,
    gpus=8,
    devices=("/dev/infiniband/uverbs0",),
    shared_memory_mib=100,
    environment={"GREETING": "hello"},
    folders={"scratch": "/scratch", "spot": SPOT},
)
CLUSTER = """name: SpotCluster
region: us-west-2
capacity: {spot: {}}
"""
ONE = "instance: {type: trn1.32xlarge}\n"


def given(scope: cdk.Stack, **changes: Any) -> dict[str, Any]:
    """What both constructs of AWS Batch take."""
    return {
        "subnet": ec2.Subnet.from_subnet_id(scope, "Subnet", "subnet-0123456789abcdef0"),
        "launch_template_id": "lt-0123456789abcdef0",
        "launch_template_version": "3",
        "instance_type": "p4d.24xlarge",
        "container": CONTAINER,
        "image_uri": "123456789012.dkr.ecr.us-west-2.amazonaws.com/train:v1",
        "image_type": "ECS_AL2023",
        **changes,
    }


def template_of(construct: Callable[..., Any] = BatchSpotNode, **changes: Any) -> Template:
    stack = cdk.Stack(cdk.App(), "Stack")
    construct(stack, "Batch", **given(stack, **changes))
    return Template.from_stack(stack)


def properties(template: Template, resource_type: str) -> dict[str, Any]:
    [found] = template.find_resources(resource_type).values()
    properties: dict[str, Any] = found["Properties"]
    return properties


@pytest.fixture(scope="module")
def plain() -> Template:
    return template_of()


def test_the_environment_asks_for_one_node_on_spot_at_the_price_of_the_day(
    plain: Template,
) -> None:
    plain.has_resource_properties(
        ENVIRONMENT,
        {
            "ComputeResources": {
                "Type": "SPOT",
                "AllocationStrategy": "SPOT_PRICE_CAPACITY_OPTIMIZED",
                "MinvCpus": 0,
                "MaxvCpus": 96,
                "BidPercentage": Match.absent(),
                "SpotIamFleetRole": Match.absent(),
                "PlacementGroup": Match.absent(),
                "SecurityGroupIds": Match.absent(),
            },
            "ReplaceComputeEnvironment": False,
            "UpdatePolicy": {"TerminateJobsOnUpdate": False, "JobExecutionTimeoutMinutes": 7200},
        },
    )


def test_several_types_are_tried_in_their_order_as_far_as_capacity_lets_it() -> None:
    template_of(other_types=["p4de.24xlarge"]).has_resource_properties(
        ENVIRONMENT,
        {
            "ComputeResources": {
                "AllocationStrategy": "SPOT_CAPACITY_OPTIMIZED_PRIORITIZED",
                "InstanceTypes": ["p4d.24xlarge", "p4de.24xlarge"],
            }
        },
    )


def test_a_node_may_be_kept_while_no_job_runs() -> None:
    template_of(keeps_node=True).has_resource_properties(
        ENVIRONMENT, {"ComputeResources": {"MinvCpus": 96, "MaxvCpus": 96}}
    )


def test_the_job_is_that_of_a_node_of_a_multi_node_job_without_its_type(plain: Template) -> None:
    several = properties(template_of(BatchMultiNode, nodes=NodeRange(max=2)), JOB)
    [nodes] = several.pop("NodeProperties")["NodeRangeProperties"]
    del nodes["Container"]["InstanceType"]

    job = properties(plain, JOB)

    container = job.pop("ContainerProperties")
    assert container == nodes["Container"]
    assert (job.pop("Type"), several.pop("Type")) == ("container", "multinode")
    assert job == several
    assert {"OnExitCode": str(PEER_LOST), "Action": "RETRY"} in job["RetryStrategy"][
        "EvaluateOnExit"
    ]


def test_jobs_read_what_ec2_says_and_cannot_write_it(plain: Template) -> None:
    mounts = properties(plain, JOB)["ContainerProperties"]["MountPoints"]

    assert {each["SourceVolume"]: each["ReadOnly"] for each in mounts} == {
        "scratch": False,
        "spot": True,
    }


@pytest.mark.parametrize(
    ("wait", "seconds"), [(None, []), (Duration.hours(3), [10_800])], ids=["by-default", "as-asked"]
)
def test_a_job_waits_for_a_node_as_long_as_it_takes_unless_a_limit_is_given(
    wait: Duration | None, seconds: list[int]
) -> None:
    limits = properties(template_of(capacity_wait=wait), QUEUE)["JobStateTimeLimitActions"]

    of_capacity = [each for each in limits if each["Reason"].startswith("CAPACITY:")]
    assert [each["MaxTimeSeconds"] for each in of_capacity] == seconds


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"attempts": 11}, "attempts is 11; AWS Batch takes 1 to 10", id="attempts"),
        pytest.param(
            {"capacity_wait": Duration.minutes(5)}, "capacity_wait is 300 seconds", id="wait"
        ),
        pytest.param({"instance_type": "p4d"}, "'p4d' is not one type", id="type"),
        pytest.param({"other_types": ["p4de"]}, "'p4de' is not one type", id="other-type"),
        pytest.param(
            {"container": replace(CONTAINER, environment={"AWS_BATCH_X": "1"})},
            "AWS Batch sets variables that start with AWS_BATCH itself: AWS_BATCH_X",
            id="variable",
        ),
    ],
)
def test_what_aws_batch_would_refuse_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConstructError, match=re.escape(message)):
        template_of(**changes)


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, synthesise: Callable[..., Path]
) -> Callable[[str], dict[str, Any]]:
    """Return the template of a cluster of AWS Batch on Spot, by the line of its nodes."""

    def run(instance: str = ONE) -> dict[str, Any]:
        file = tmp_path_factory.mktemp("clusters") / "spot.yaml"
        file.write_text(CLUSTER + instance)
        assembly = synthesise(load_fleet([file]))
        text = (assembly / "SpotCluster.template.json").read_text()
        found: dict[str, Any] = json.loads(text)
        return found

    return run


def of_type(template: dict[str, Any], resource_type: str) -> list[Any]:
    resources = template["Resources"].values()
    return [each["Properties"] for each in resources if each["Type"] == resource_type]


def test_the_launch_template_leaves_it_to_aws_batch_to_ask_for_spot(
    cluster: Callable[..., dict[str, Any]],
) -> None:
    template = cluster()

    [nodes] = of_type(template, "AWS::EC2::LaunchTemplate")
    [environment] = of_type(template, ENVIRONMENT)
    assert "InstanceMarketOptions" not in nodes["LaunchTemplateData"]
    assert environment["ComputeResources"]["Type"] == "SPOT"
    assert of_type(template, "AWS::EC2::PlacementGroup") == []


def test_the_stack_says_of_which_type_its_job_definition_is(
    cluster: Callable[..., dict[str, Any]],
) -> None:
    assert cluster()["Outputs"]["JobType"]["Value"] == "container"


def test_a_node_that_the_cluster_file_keeps_is_kept(
    cluster: Callable[..., dict[str, Any]],
) -> None:
    one = "instance: {type: trn1.32xlarge, nodes: {min: 1, max: 1}}\n"
    [environment] = of_type(cluster(one), ENVIRONMENT)

    assert environment["ComputeResources"]["MinvCpus"] == 128
