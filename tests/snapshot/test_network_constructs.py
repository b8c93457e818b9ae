"""What the constructs around the network put into a template, whole, for review."""

from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template
from syrupy.assertion import SnapshotAssertion

from trainshed import catalogue
from trainshed.interfaces import InterfaceProfile, plan_interfaces
from trainshed.plan import CapacityKind, CapacityPlan, RootVolumePlan, SubnetPlan, Zone
from trainshed_constructs import (
    ClusterPlacementGroup,
    DefaultSecurityGroupRules,
    EfaLaunchTemplate,
    EfaSecurityGroup,
    ExistingNetwork,
    TrainingNetwork,
)


def training_network(stack: cdk.Stack) -> None:
    TrainingNetwork(
        stack,
        "Network",
        cidr="10.20.0.0/16",
        subnets=[
            SubnetPlan(
                zone=Zone(name="usw2-az4", is_id=True, index=3),
                private_cidr=IPv4Network("10.20.96.0/19"),
                public_cidr=IPv4Network("10.20.236.0/22"),
            )
        ],
        endpoint_services=["ecr.api"],
    )


def default_security_group_rules(stack: cdk.Stack) -> None:
    DefaultSecurityGroupRules(stack, "Rules", security_group_id="sg-0123456789abcdef0")


def efa_security_group(stack: cdk.Stack) -> None:
    network = ExistingNetwork(
        stack,
        "Network",
        vpc_id="vpc-0123456789abcdef0",
        subnet_id="subnet-0123456789abcdef0",
        zone="usw2-az4",
    )
    EfaSecurityGroup(stack, "Peers", vpc=network.vpc, internet_egress=[ec2.Port.tcp(443)])


def cluster_placement_group(stack: cdk.Stack) -> None:
    ClusterPlacementGroup(stack, "Placement")


def efa_launch_template(stack: cdk.Stack) -> None:
    user_data = ec2.MultipartUserData()
    user_data.add_part(ec2.MultipartBody.from_user_data(ec2.UserData.for_linux()))
    EfaLaunchTemplate(
        stack,
        "Node",
        interfaces=plan_interfaces(catalogue.lookup("p4d.24xlarge"), InterfaceProfile.BATCH_MNP),
        security_groups=[
            ec2.SecurityGroup.from_security_group_id(stack, "Peers", "sg-0123456789abcdef0")
        ],
        root_device="/dev/xvda",
        root_volume=RootVolumePlan(gib=200, throughput=1000, iops=4000),
        user_data=user_data,
        capacity=CapacityPlan(
            kind=CapacityKind.CAPACITY_BLOCK, reservation_id="cr-0123456789abcdef0"
        ),
    )
    cdk.Tags.of(stack).add("trainshed:cluster", "train")


@pytest.mark.parametrize(
    "build",
    [
        training_network,
        default_security_group_rules,
        efa_security_group,
        cluster_placement_group,
        efa_launch_template,
    ],
)
def test_the_template_is_as_reviewed(
    build: Callable[[cdk.Stack], None],
    template_snapshot: Callable[..., dict[str, Any]],
    snapshot: SnapshotAssertion,
) -> None:
    stack = cdk.Stack(cdk.App(), "Stack")

    build(stack)

    template = template_snapshot(Template.from_stack(stack).to_json())
    assert template == snapshot(name=build.__name__)
