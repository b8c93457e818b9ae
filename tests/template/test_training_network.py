"""TrainingNetwork and ExistingNetwork in a template."""

import json
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Match, Template
from cdk_nag import AwsSolutionsChecks

from trainshed.errors import UnknownName
from trainshed.plan import SubnetPlan, Zone
from trainshed_constructs import ConstructError, ExistingNetwork, TrainingNetwork

CIDR = "10.20.0.0/16"


def subnet_plan(zone: str, number: int, *, is_id: bool = True) -> SubnetPlan:
    return SubnetPlan(
        zone=Zone(name=zone, is_id=is_id, index=number),
        private_cidr=IPv4Network(f"10.20.{32 * number}.0/19"),
        public_cidr=IPv4Network(f"10.20.{224 + 4 * number}.0/22"),
    )


BY_ID = subnet_plan("usw2-az4", 3)
BY_NAME = subnet_plan("us-west-2a", 0, is_id=False)


def network(scope: cdk.Stack, **changes: Any) -> TrainingNetwork:
    given = {"cidr": CIDR, "subnets": [BY_ID, BY_NAME], **changes}
    return TrainingNetwork(scope, "Network", **given)


@pytest.fixture(scope="module")
def stack() -> cdk.Stack:
    stack = cdk.Stack(cdk.App(), "Network")
    network(stack, endpoint_services=["ecr.api", "logs"])
    return stack


@pytest.fixture(scope="module")
def template(stack: cdk.Stack) -> Template:
    return Template.from_stack(stack)


@pytest.fixture(scope="module")
def resources(template: Template) -> dict[str, Any]:
    found: dict[str, Any] = template.to_json()["Resources"]
    return found


def of_type(resources: dict[str, Any], kind: str) -> dict[str, Any]:
    """Properties by logical id."""
    return {
        name: resource["Properties"]
        for name, resource in resources.items()
        if resource["Type"] == f"AWS::EC2::{kind}"
    }


def default_routes(resources: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The 0.0.0.0/0 route of each subnet, by the subnet's address range."""
    routes = {
        route["RouteTableId"]["Ref"]: route
        for route in of_type(resources, "Route").values()
        if route["DestinationCidrBlock"] == "0.0.0.0/0"
    }
    subnets = of_type(resources, "Subnet")
    return {
        subnets[entry["SubnetId"]["Ref"]]["CidrBlock"]: routes[entry["RouteTableId"]["Ref"]]
        for entry in of_type(resources, "SubnetRouteTableAssociation").values()
    }


def test_a_zone_id_reaches_the_subnets_as_it_is(template: Template) -> None:
    for cidr in (BY_ID.private_cidr, BY_ID.public_cidr):
        template.has_resource_properties(
            "AWS::EC2::Subnet",
            {
                "CidrBlock": str(cidr),
                "AvailabilityZoneId": "usw2-az4",
                "AvailabilityZone": Match.absent(),
            },
        )


def test_a_zone_name_reaches_the_subnets_as_a_name(template: Template) -> None:
    for cidr in (BY_NAME.private_cidr, BY_NAME.public_cidr):
        template.has_resource_properties(
            "AWS::EC2::Subnet",
            {
                "CidrBlock": str(cidr),
                "AvailabilityZoneId": Match.absent(),
                "AvailabilityZone": "us-west-2a",
            },
        )


def test_no_subnet_gives_public_addresses(resources: dict[str, Any]) -> None:
    subnets = of_type(resources, "Subnet").values()

    assert [subnet["MapPublicIpOnLaunch"] for subnet in subnets] == [False] * 4


def test_private_subnets_go_out_through_the_nat_gateway_of_their_zone(
    resources: dict[str, Any],
) -> None:
    routes, subnets = default_routes(resources), of_type(resources, "Subnet")
    gateways = of_type(resources, "NatGateway")

    for plan in (BY_ID, BY_NAME):
        gateway_id = routes[str(plan.private_cidr)]["NatGatewayId"]["Fn::GetAtt"][0]
        in_subnet = gateways[gateway_id]["SubnetId"]["Ref"]
        assert subnets[in_subnet]["CidrBlock"] == str(plan.public_cidr)


def test_public_subnets_go_out_through_the_internet_gateway(resources: dict[str, Any]) -> None:
    [gateway] = of_type_names(resources, "AWS::EC2::InternetGateway")

    for plan in (BY_ID, BY_NAME):
        assert default_routes(resources)[str(plan.public_cidr)]["GatewayId"] == {"Ref": gateway}


def of_type_names(resources: dict[str, Any], kind: str) -> list[str]:
    return [name for name, resource in resources.items() if resource["Type"] == kind]


def test_dns_is_on_for_private_endpoint_names(template: Template) -> None:
    template.has_resource_properties(
        "AWS::EC2::VPC",
        {"CidrBlock": CIDR, "EnableDnsHostnames": True, "EnableDnsSupport": True},
    )


def test_s3_is_reached_from_every_subnet_without_nat(resources: dict[str, Any]) -> None:
    [endpoint] = [
        found
        for found in of_type(resources, "VPCEndpoint").values()
        if found["VpcEndpointType"] == "Gateway"
    ]

    tables = {table["Ref"] for table in endpoint["RouteTableIds"]}
    assert tables == set(of_type(resources, "RouteTable"))


def test_interface_endpoints_are_in_the_private_subnets(resources: dict[str, Any]) -> None:
    endpoints = [
        found
        for found in of_type(resources, "VPCEndpoint").values()
        if found["VpcEndpointType"] == "Interface"
    ]
    subnets = of_type(resources, "Subnet")
    private = {str(BY_ID.private_cidr), str(BY_NAME.private_cidr)}

    assert len(endpoints) == 2
    assert all(endpoint["PrivateDnsEnabled"] for endpoint in endpoints)
    for endpoint in endpoints:
        assert {subnets[ref["Ref"]]["CidrBlock"] for ref in endpoint["SubnetIds"]} == private


def test_interface_endpoints_take_https_from_the_vpc_only(resources: dict[str, Any]) -> None:
    [group] = of_type(resources, "SecurityGroup").values()

    [rule] = group["SecurityGroupIngress"]
    assert (rule["CidrIp"], rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == (
        CIDR,
        "tcp",
        443,
        443,
    )
    [egress] = group["SecurityGroupEgress"]
    assert egress["CidrIp"] == "255.255.255.255/32"


def test_without_services_there_is_no_endpoint_but_s3() -> None:
    stack = cdk.Stack()

    network(stack)

    template = Template.from_stack(stack)
    template.resource_count_is("AWS::EC2::VPCEndpoint", 1)
    template.resource_count_is("AWS::EC2::SecurityGroup", 0)


def test_flow_logs_record_everything_and_outlive_the_vpc(template: Template) -> None:
    template.has_resource_properties(
        "AWS::EC2::FlowLog", {"TrafficType": "ALL", "ResourceType": "VPC"}
    )
    template.has_resource(
        "AWS::Logs::LogGroup",
        {"Properties": {"RetentionInDays": 90}, "DeletionPolicy": "RetainExceptOnCreate"},
    )


def test_the_default_group_of_its_vpc_gets_its_rules_and_no_open_egress(
    template: Template, resources: dict[str, Any]
) -> None:
    [vpc] = of_type(resources, "VPC")

    template.has_resource_properties(
        "AWS::CloudFormation::CustomResource",
        {"GroupId": {"Fn::GetAtt": [vpc, "DefaultSecurityGroup"]}, "CloseEgress": True},
    )
    template.resource_count_is("AWS::EC2::SecurityGroupIngress", 0)
    template.resource_count_is("AWS::EC2::SecurityGroupEgress", 0)


def statements(resources: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        statement
        for resource in resources.values()
        if resource["Type"] == "AWS::IAM::Role"
        for policy in resource["Properties"]["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]


def test_no_role_has_a_wildcard_but_for_rules_that_do_not_exist_yet(
    resources: dict[str, Any],
) -> None:
    wild = [each for each in statements(resources) if "*" in json.dumps(each)]

    assert len(statements(resources)) == 5
    for statement in wild:
        assert statement["Resource"] == "*" or "security-group-rule/*" in json.dumps(statement)
    assert [each["Action"] for each in wild if each["Resource"] == "*"] == [
        "ec2:DescribeSecurityGroupRules"
    ]


def test_rules_change_in_the_default_group_only_and_with_the_tag_of_this_stack_only(
    resources: dict[str, Any],
) -> None:
    [vpc] = of_type(resources, "VPC")
    [rules] = [each for each in statements(resources) if "Authorize" in json.dumps(each)]
    [tags] = [each for each in statements(resources) if "ec2:CreateTags" in each["Action"]]

    assert json.dumps(["DefaultSecurityGroup"])[1:-1] in json.dumps(rules["Resource"])
    assert vpc in json.dumps(rules["Resource"])
    assert len(rules["Resource"]) == 2
    assert tags["Condition"] == {
        "ForAllValues:StringEquals": {"aws:TagKeys": ["trainshed:needed-by:Network"]},
        "Null": {"aws:TagKeys": "false"},
    }


def test_roles_have_no_managed_policy(template: Template) -> None:
    template.all_resources_properties("AWS::IAM::Role", {"ManagedPolicyArns": Match.absent()})


def test_aws_solutions_has_no_finding(tmp_path: Path) -> None:
    app = cdk.App(outdir=str(tmp_path))
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    network(cdk.Stack(app, "Network"), endpoint_services=["ecr.api"])

    app.synth()  # raises at a finding

    report = tmp_path / "validation-report.json"
    assert not report.exists() or "AwsSolutions" not in report.read_text()


def test_a_private_subnet_is_found_by_the_name_of_its_zone() -> None:
    stack = cdk.Stack()
    found = network(stack)

    subnet_id = stack.resolve(found.private_subnet("us-west-2a").subnet_id)

    resources = Template.from_stack(stack).to_json()["Resources"]
    assert resources[subnet_id["Ref"]]["Properties"]["CidrBlock"] == str(BY_NAME.private_cidr)


def test_an_unknown_zone_is_refused_with_the_nearest_one() -> None:
    found = network(cdk.Stack())

    with pytest.raises(UnknownName, match=r"'usw2-az9' is not known; did you mean usw2-az4\?"):
        found.private_subnet("usw2-az9")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"subnets": []}, "subnets is empty", id="no-zone"),
        pytest.param({"subnets": [BY_ID, BY_ID]}, "zone usw2-az4 is given twice", id="zone-twice"),
        pytest.param(
            {"cidr": "10.30.0.0/16", "subnets": [BY_ID]},
            "subnet 10.20.96.0/19 is not within 10.30.0.0/16",
            id="outside",
        ),
    ],
)
def test_contradictions_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConstructError, match=message):
        network(cdk.Stack(cdk.App(), "Stack"), **changes)


def test_an_existing_network_is_read_like_a_new_one() -> None:
    stack = cdk.Stack()
    found = ExistingNetwork(
        stack,
        "Network",
        vpc_id="vpc-0123456789abcdef0",
        subnet_id="subnet-0123456789abcdef0",
        zone="usw2-az4",
    )
    ec2.SecurityGroup(stack, "Group", vpc=found.vpc)

    assert found.private_subnet("usw2-az4").subnet_id == "subnet-0123456789abcdef0"
    assert [subnet.subnet_id for subnet in found.private_subnets] == ["subnet-0123456789abcdef0"]
    template = Template.from_stack(stack)
    assert len(template.to_json()["Resources"]) == 1
    template.has_resource_properties("AWS::EC2::SecurityGroup", {"VpcId": found.vpc.vpc_id})


def test_an_existing_network_refuses_another_zone() -> None:
    found = ExistingNetwork(
        cdk.Stack(), "Network", vpc_id="vpc-1", subnet_id="subnet-1", zone="usw2-az4"
    )

    with pytest.raises(UnknownName, match="usw2-az1"):
        found.private_subnet("usw2-az1")
