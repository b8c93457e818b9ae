"""What `embedded-aws inventory` tells."""

from collections.abc import Callable

from amis import AMAZON_LINUX

from embedded_aws.deployment import Deployment
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.inventory import inventory

TEMPLATE = {
    "Resources": {
        "Near": {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": "cluster"}},
        "Node": {
            "Type": "AWS::EC2::LaunchTemplate",
            "Properties": {
                "LaunchTemplateData": {
                    "NetworkInterfaces": [
                        {"NetworkCardIndex": 0, "DeviceIndex": 0, "InterfaceType": "interface"},
                        {"NetworkCardIndex": 0, "DeviceIndex": 1, "InterfaceType": "efa-only"},
                        {"NetworkCardIndex": 1, "DeviceIndex": 0, "InterfaceType": "efa-only"},
                    ]
                }
            },
        },
    }
}


def test_an_empty_account_has_nothing_to_tell(clean_aws: EmbeddedAws) -> None:
    assert inventory(clean_aws.client) == []


def test_it_lists_what_a_stack_made(
    clean_aws: EmbeddedAws, deployed: Callable[..., Deployment]
) -> None:
    stack = deployed(TEMPLATE, stack_name="Nodes")

    rows = {row["kind"]: (row["name"], row["facts"]) for row in inventory(clean_aws.client)}

    assert rows == {
        "stack": ("Nodes", "CREATE_COMPLETE, resources: 2"),
        "placement group": (stack.resources["Near"], "cluster"),
        "launch template": (stack.resources["Node"], "version 1: 3 interfaces, 2 with EFA"),
    }


def test_jobs_that_are_not_multi_node_are_reported_too(clean_aws: EmbeddedAws) -> None:
    clean_aws.client("batch").register_job_definition(
        jobDefinitionName="single",
        type="container",
        containerProperties={
            "image": "busybox",
            "resourceRequirements": [
                {"type": "VCPU", "value": "1"},
                {"type": "MEMORY", "value": "512"},
            ],
        },
    )

    assert inventory(clean_aws.client) == [
        {"kind": "job definition", "name": "single:1", "facts": "container"}
    ]


def test_groups_tell_how_many_instances_they_have(
    clean_aws: EmbeddedAws, deployed: Callable[..., Deployment]
) -> None:
    subnet = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24", "AvailabilityZoneId": "usw2-az4"}
    data = {"ImageId": AMAZON_LINUX, "InstanceType": "trn1.32xlarge"}
    group = {
        "MinSize": "2",
        "MaxSize": "2",
        "LaunchTemplate": {"LaunchTemplateId": {"Ref": "Node"}, "Version": "1"},
        "VPCZoneIdentifier": [{"Ref": "Subnet"}],
    }
    resources = {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": subnet},
        "Node": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
        "Nodes": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": group},
    }
    stack = deployed({"Resources": resources}, stack_name="Nodes")

    [found] = [row for row in inventory(clean_aws.client) if row["kind"] == "auto scaling group"]

    assert found["name"] == stack.resources["Nodes"]
    assert found["facts"] == "2 of 2 instances"


def test_it_lists_more_groups_than_one_answer_holds(clean_aws: EmbeddedAws) -> None:
    ec2, autoscaling = clean_aws.client("ec2"), clean_aws.client("autoscaling")
    template = ec2.create_launch_template(
        LaunchTemplateName="node",
        LaunchTemplateData={"ImageId": AMAZON_LINUX, "InstanceType": "t3.micro"},
    )["LaunchTemplate"]["LaunchTemplateId"]
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/24")["Subnet"]["SubnetId"]
    names = {f"group-{index:02}" for index in range(51)}
    for name in names:
        autoscaling.create_auto_scaling_group(
            AutoScalingGroupName=name,
            LaunchTemplate={"LaunchTemplateId": template, "Version": "1"},
            VPCZoneIdentifier=subnet,
            MinSize=0,
            MaxSize=0,
        )

    rows = inventory(clean_aws.client)

    assert {row["name"] for row in rows if row["kind"] == "auto scaling group"} == names


def test_it_lists_file_systems(clean_aws: EmbeddedAws) -> None:
    home = clean_aws.client("efs").create_file_system(ThroughputMode="elastic")["FileSystemId"]

    rows = {row["kind"]: (row["name"], row["facts"]) for row in inventory(clean_aws.client)}

    assert rows == {"efs file system": (home, "elastic, 0 mount targets, available")}
