"""Templates of the constructs for AWS Batch and Lustre, also under cdk-nag's eyes.

Those of Trainium are whole; those of the other accelerators say what differs from them.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template
from batch_plans import batch_of
from cdk_nag import AwsSolutionsChecks
from syrupy.assertion import SnapshotAssertion

from trainshed.plan import ClusterPlan, LustrePlan, Mount, StorageKind, make_plan
from trainshed.spec import ClusterSpec
from trainshed_constructs import BatchMultiNode, FirstBoot, LustreFileSystem, TrainingRepository

CLUSTERS: dict[str, dict[str, Any]] = {
    "nvidia": {
        "instance": {"type": "p5en.48xlarge", "nodes": {"max": 4}, "ami": "ami-0123abcd"},
        "storage": {"lustre": {"capacity_gib": 4800, "throughput": 1000, "efa": True}},
    },
    "neuron": {
        "instance": {"type": "trn1.32xlarge", "nodes": {"max": 16}},
        "storage": {"lustre": {"metadata_iops": 6000}},
    },
    "gaudi": {
        "instance": {"type": "dl1.24xlarge", "nodes": {"max": 16}},
        "storage": {
            "lustre": {"deployment": "scratch-2", "s3": {"bucket": "my-data", "prefix": "wiki/"}}
        },
    },
}

Build = Callable[[cdk.Stack, ClusterPlan], None]


def storage(stack: cdk.Stack, plan: ClusterPlan) -> None:
    assert plan.lustre and plan.lustre.new
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
    )
    LustreFileSystem(
        stack,
        "Lustre",
        vpc=vpc,
        subnet=subnet(stack),
        clients=ec2.SecurityGroup.from_security_group_id(stack, "Clients", "sg-0123456789abcdef0"),
        name=plan.lustre.name,
        settings=plan.lustre.new,
    )


def compute(stack: cdk.Stack, plan: ClusterPlan) -> None:
    assert isinstance(plan.lustre, LustrePlan)
    assert plan.repository
    repository = TrainingRepository(stack, "Images", repository_name=plan.repository.name)
    lustre = Mount(kind=StorageKind.LUSTRE, name=plan.lustre.name, path=plan.lustre.mount)
    mount = FirstBoot(stack, "FirstBoot", cluster=plan.name, devices={"efa": 4}, mounts=[lustre])
    batch = BatchMultiNode(
        stack,
        "Batch",
        subnet=subnet(stack),
        launch_template_id="lt-0123456789abcdef0",
        launch_template_version="1",
        instance_type=plan.instance.name,
        nodes=plan.nodes,
        container=batch_of(plan).container,
        image_uri=repository.repository.repository_uri_for_tag_or_digest(
            batch_of(plan).image.tag_or_digest
        ),
        image_type=batch_of(plan).image_type,
        image_id=None if plan.ami.parameter else plan.ami.asked,
        placement_group_name="peers",
    )
    repository.grant_pull(batch.instance_role)
    mount.grant(batch.instance_role)
    user_data = ec2.MultipartUserData()
    mount.add_to(user_data)
    cdk.CfnOutput(stack, "UserData", value=user_data.render())


def subnet(stack: cdk.Stack) -> ec2.ISubnet:
    return ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")


@cache
def template_of(cluster: str, build: Build) -> dict[str, Any]:
    """Synthesise, which fails on a finding of cdk-nag."""
    spec = ClusterSpec.model_validate(
        {"name": "TestCluster", "region": "us-west-2", **CLUSTERS[cluster]}
    )
    app = cdk.App()
    stack = cdk.Stack(app, "Stack")
    build(stack, make_plan(spec))
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return dict(Template.from_stack(stack).to_json())


def differences(one: Any, other: Any, path: str = "") -> dict[str, Any]:
    """Return what is different in `other`, by its path; None stands for what it lacks."""
    if one == other:
        return {}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        one, other = dict(enumerate(one)), dict(enumerate(other))
    if isinstance(one, dict) and isinstance(other, dict):
        return {
            place: found
            for key in {**one, **other}
            for place, found in differences(
                one.get(key), other.get(key), f"{path}.{key}".lstrip(".")
            ).items()
        }
    if isinstance(one, list) and isinstance(other, list):
        return {
            f"{path} without": [each for each in one if each not in other],
            f"{path} with": [each for each in other if each not in one],
        }
    return {path: other}


@pytest.mark.parametrize("build", [storage, compute])
def test_the_template_of_trainium_is_as_reviewed(
    build: Build, template_snapshot: Callable[..., dict[str, Any]], snapshot: SnapshotAssertion
) -> None:
    template = template_snapshot(template_of("neuron", build))

    assert template == snapshot(name=f"neuron-{build.__name__}")


@pytest.mark.parametrize("build", [storage, compute])
@pytest.mark.parametrize("cluster", ["gaudi", "nvidia"])
def test_the_template_of_another_accelerator_differs_as_reviewed(
    cluster: str,
    build: Build,
    template_snapshot: Callable[..., dict[str, Any]],
    snapshot: SnapshotAssertion,
) -> None:
    trainium, template = (
        template_snapshot(template_of(each, build)) for each in ("neuron", cluster)
    )

    found = differences(trainium, template)

    assert found == snapshot(name=f"{cluster}-{build.__name__}-differs")
