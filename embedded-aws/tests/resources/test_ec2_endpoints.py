"""VPC endpoints and flow logs through their handlers."""

import json
from typing import Any

import pytest

from embedded_aws.cloudformation.resource import HandlerError


def endpoint_of(client: Any, endpoint: Any) -> dict[str, Any]:
    reply = client("ec2").describe_vpc_endpoints(VpcEndpointIds=[endpoint.ref])
    described: dict[str, Any] = reply["VpcEndpoints"][0]
    return described


def test_a_gateway_endpoint_changes_tables_and_policy(client: Any, deploy: Any, vpc: Any) -> None:
    first, second = (deploy("AWS::EC2::RouteTable", VpcId=vpc.ref) for _ in range(2))
    endpoint = deploy(
        "AWS::EC2::VPCEndpoint",
        VpcId=vpc.ref,
        ServiceName="com.amazonaws.us-west-2.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[first.ref],
    )
    policy = {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "*"}],
    }

    endpoint.update(RouteTableIds=[second.ref], PolicyDocument=policy)

    described = endpoint_of(client, endpoint)
    assert described["RouteTableIds"] == [second.ref]
    assert json.loads(described["PolicyDocument"]) == policy


def test_an_endpoint_is_a_gateway_by_default(client: Any, deploy: Any, vpc: Any) -> None:
    table = deploy("AWS::EC2::RouteTable", VpcId=vpc.ref)

    endpoint = deploy(
        "AWS::EC2::VPCEndpoint",
        VpcId=vpc.ref,
        ServiceName="com.amazonaws.us-west-2.s3",
        RouteTableIds=[table.ref],
    )

    assert endpoint_of(client, endpoint)["VpcEndpointType"] == "Gateway"
    endpoint.delete()
    assert endpoint_of(client, endpoint)["State"] == "deleted"


def test_an_interface_endpoint_has_interfaces_until_deleted(
    client: Any, deploy: Any, vpc: Any, subnet: Any, group: Any
) -> None:
    endpoint = deploy(
        "AWS::EC2::VPCEndpoint",
        VpcId=vpc.ref,
        ServiceName="com.amazonaws.us-west-2.ecr.api",
        VpcEndpointType="Interface",
        SubnetIds=[subnet.ref],
        SecurityGroupIds=[group.ref],
    )
    described = endpoint_of(client, endpoint)

    endpoint.delete()
    endpoint.delete()

    assert described["NetworkInterfaceIds"] == endpoint.attributes["NetworkInterfaceIds"]
    assert len(described["NetworkInterfaceIds"]) == 1
    live = client("ec2").describe_vpc_endpoints()["VpcEndpoints"]
    states = {each["VpcEndpointId"]: each["State"] for each in live}
    assert states.get(endpoint.ref, "deleted") == "deleted"


def test_a_flow_log_watches_a_vpc_until_deleted(
    client: Any, deploy: Any, vpc: Any, role: Any
) -> None:
    logs = deploy("AWS::Logs::LogGroup", "FlowLogs")
    flow_log = deploy(
        "AWS::EC2::FlowLog",
        ResourceId=vpc.ref,
        ResourceType="VPC",
        TrafficType="REJECT",
        LogGroupName=logs.ref,
        DeliverLogsPermissionArn=role.attributes["Arn"],
    )
    described = client("ec2").describe_flow_logs(FlowLogIds=[flow_log.ref])["FlowLogs"][0]

    flow_log.delete()
    flow_log.delete()

    assert (described["ResourceId"], described["TrafficType"]) == (vpc.ref, "REJECT")
    remaining = client("ec2").describe_flow_logs()["FlowLogs"]
    assert flow_log.ref not in [each["FlowLogId"] for each in remaining]


def test_a_flow_log_that_ec2_lists_as_unsuccessful_fails(deploy: Any, vpc: Any) -> None:
    with pytest.raises(HandlerError, match="LogDestination: no-such-bucket does not exist"):
        deploy(
            "AWS::EC2::FlowLog",
            ResourceId=vpc.ref,
            ResourceType="VPC",
            TrafficType="ALL",
            LogDestinationType="s3",
            LogDestination="arn:aws:s3:::no-such-bucket",
        )
