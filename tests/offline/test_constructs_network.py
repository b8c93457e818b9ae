"""The constructs around the network, deployed to the embedded AWS."""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from embedded_aws.deployment import Deployment
from embedded_aws.embedded import EmbeddedAws
from trainshed import catalogue
from trainshed.interfaces import InterfaceProfile, plan_interfaces
from trainshed.plan import CapacityKind, CapacityPlan, RootVolumePlan, SubnetPlan, Zone
from trainshed_constructs import (
    ClusterPlacementGroup,
    EfaLaunchTemplate,
    EfaSecurityGroup,
    TrainingNetwork,
)

INTERFACES = plan_interfaces(catalogue.lookup("trn1.32xlarge"), InterfaceProfile.BATCH_MNP)
Rules = set[tuple[str, str, str]]


def new_stack() -> cdk.Stack:
    return cdk.Stack(cdk.App(), "Stack", synthesizer=cdk.BootstraplessSynthesizer())


def everything() -> Mapping[str, Any]:
    stack = new_stack()
    network = TrainingNetwork(
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
    peers = EfaSecurityGroup(
        stack, "EfaPeers", vpc=network.vpc, internet_egress=[ec2.Port.tcp(443)]
    ).security_group
    node = EfaLaunchTemplate(
        stack,
        "Node",
        interfaces=INTERFACES,
        security_groups=[peers],
        root_device="/dev/xvda",
        root_volume=RootVolumePlan(gib=200, throughput=1000, iops=4000),
        capacity=CapacityPlan(kind=CapacityKind.ON_DEMAND),
    )
    outputs = {
        "Vpc": network.vpc.vpc_id,
        "Subnet": network.private_subnet("usw2-az4").subnet_id,
        "Peers": peers.security_group_id,
        "Placement": ClusterPlacementGroup(stack, "Near").name,
        "Template": node.launch_template_id,
        "Version": node.latest_version,
    }
    for name, value in outputs.items():
        cdk.CfnOutput(stack, name, value=value)
    template: Mapping[str, Any] = Template.from_stack(stack).to_json()
    return template


def delete(aws: EmbeddedAws, stack_name: str) -> None:
    cloudformation = aws.client("cloudformation")
    cloudformation.delete_stack(StackName=stack_name)
    cloudformation.get_waiter("stack_delete_complete").wait(
        StackName=stack_name, WaiterConfig={"Delay": 1, "MaxAttempts": 60}
    )


@pytest.fixture(scope="module")
def deployment(embedded_aws: EmbeddedAws) -> Iterator[Deployment]:
    yield embedded_aws.deploy(everything(), stack_name="NetworkConstructs")
    delete(embedded_aws, "NetworkConstructs")


@pytest.fixture(scope="module")
def client(embedded_aws: EmbeddedAws) -> Any:
    return embedded_aws.client("ec2")


def rules(client: Any, group_id: str) -> Rules:
    """Direction, protocol with port, peer."""
    found = client.describe_security_group_rules(
        Filters=[{"Name": "group-id", "Values": [group_id]}]
    )["SecurityGroupRules"]
    return {
        (
            "egress" if rule["IsEgress"] else "ingress",
            f"{rule['IpProtocol']} {rule['ToPort']}",
            rule.get("CidrIpv4") or rule["ReferencedGroupInfo"]["GroupId"],
        )
        for rule in found
    }


def between_members_and_https(group_id: str) -> Rules:
    return {
        ("ingress", "-1 -1", group_id),
        ("egress", "-1 -1", group_id),
        ("egress", "tcp 443", "0.0.0.0/0"),
    }


def test_the_default_group_has_the_rules_of_the_stack_and_none_of_aws(
    client: Any, deployment: Deployment
) -> None:
    of_vpc = [
        {"Name": "vpc-id", "Values": [deployment.outputs["Vpc"]]},
        {"Name": "group-name", "Values": ["default"]},
    ]

    [group] = client.describe_security_groups(Filters=of_vpc)["SecurityGroups"]

    group_id = group["GroupId"]
    assert rules(client, group_id) == between_members_and_https(group_id)


def test_efa_peers_reach_each_other_and_https_only(client: Any, deployment: Deployment) -> None:
    group_id = deployment.outputs["Peers"]

    localhost = ("egress", "-1 -1", "127.0.0.1/32")
    assert rules(client, group_id) == {*between_members_and_https(group_id), localhost}


def test_the_private_subnet_is_in_the_zone_and_goes_out_through_nat(
    client: Any, deployment: Deployment
) -> None:
    subnet_id = deployment.outputs["Subnet"]

    [subnet] = client.describe_subnets(SubnetIds=[subnet_id])["Subnets"]
    [table] = client.describe_route_tables(
        Filters=[{"Name": "association.subnet-id", "Values": [subnet_id]}]
    )["RouteTables"]
    ways_out = [
        route for route in table["Routes"] if route.get("DestinationCidrBlock") == "0.0.0.0/0"
    ]

    assert (subnet["AvailabilityZoneId"], subnet["CidrBlock"]) == ("usw2-az4", "10.20.96.0/19")
    assert [route["NatGatewayId"][:4] for route in ways_out] == ["nat-"]


def test_flow_logs_are_on(client: Any, deployment: Deployment) -> None:
    [log] = client.describe_flow_logs(
        Filters=[{"Name": "resource-id", "Values": [deployment.outputs["Vpc"]]}]
    )["FlowLogs"]

    assert (log["FlowLogStatus"], log["TrafficType"]) == ("ACTIVE", "ALL")


def test_the_launch_template_has_the_planned_interfaces(
    client: Any, deployment: Deployment
) -> None:
    outputs = deployment.outputs

    [version] = client.describe_launch_template_versions(
        LaunchTemplateId=outputs["Template"], Versions=[outputs["Version"]]
    )["LaunchTemplateVersions"]

    assert [
        (entry["NetworkCardIndex"], entry["DeviceIndex"], entry["InterfaceType"], entry["Groups"])
        for entry in version["LaunchTemplateData"]["NetworkInterfaces"]
    ] == [(row.card, row.device, row.kind.value, [outputs["Peers"]]) for row in INTERFACES]


def test_the_placement_group_is_a_cluster(client: Any, deployment: Deployment) -> None:
    [group] = client.describe_placement_groups(GroupNames=[deployment.outputs["Placement"]])[
        "PlacementGroups"
    ]

    assert (group["Strategy"], group["State"]) == ("cluster", "available")
