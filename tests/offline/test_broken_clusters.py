"""Shipped templates with one mistake each: what AWS refuses fails the stack and leaves nothing."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings
from trainshed.plan import Fleet, load_fleet

ROOT = Path(__file__).parents[2]
CLUSTER, STORAGE = "TrainCluster", "TrainStorage"

Template = dict[str, Any]
Break = Callable[[Template], None]


@pytest.fixture(scope="module")
def templates(synthesise: Callable[[Fleet], Path]) -> dict[str, str]:
    """The texts of TrainCluster's templates, by stack."""
    assembly = synthesise(load_fleet([ROOT / "clusters" / "train.yaml"]))
    suffix = ".template.json"
    return {
        file.name.removesuffix(suffix): file.read_text() for file in assembly.glob(f"*{suffix}")
    }


@pytest.fixture(scope="module")
def aws(
    templates: dict[str, str],
    publish_ami: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[EmbeddedAws]:
    """An embedded AWS with all that the cluster depends on."""
    server = start(ServerSettings(), log=tmp_path_factory.mktemp("broken") / "server.log")
    aws = EmbeddedAws(server)
    publish_ami(aws)
    for name in ("TrainNetwork", STORAGE, "TrainContainers"):
        aws.deploy(json.loads(templates[name]), stack_name=name)
    yield aws
    server.stop()


def properties(template: Template, resource_type: str) -> dict[str, Any]:
    """The properties of the only resource of a type."""
    [found] = [it for it in template["Resources"].values() if it["Type"] == resource_type]
    own: dict[str, Any] = found["Properties"]
    return own


def compute(template: Template) -> dict[str, Any]:
    resources: dict[str, Any] = properties(template, "AWS::Batch::ComputeEnvironment")[
        "ComputeResources"
    ]
    return resources


def interfaces(template: Template) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = properties(template, "AWS::EC2::LaunchTemplate")[
        "LaunchTemplateData"
    ]["NetworkInterfaces"]
    return found


def groups_beside_interfaces(template: Template) -> None:
    compute(template)["SecurityGroupIds"] = interfaces(template)[1]["Groups"]


def type_without_efa(template: Template) -> None:
    compute(template)["InstanceTypes"] = ["m5.large"]


def card_outside(template: Template) -> None:
    compute(template)["InstanceTypes"] = ["p4d.24xlarge"]


def device_outside(template: Template) -> None:
    interfaces(template)[7]["DeviceIndex"] = 9


def two_primaries(template: Template) -> None:
    interfaces(template)[1] |= {"NetworkCardIndex": 0, "DeviceIndex": 0}


def public_address(template: Template) -> None:
    interfaces(template)[0]["AssociatePublicIpAddress"] = True


def unknown_kind(template: Template) -> None:
    interfaces(template)[3]["InterfaceType"] = "banana"


def image_by_name(template: Template) -> None:
    compute(template)["Ec2Configuration"][0]["ImageIdOverride"] = "train-image"


def group_of_another_vpc(template: Template) -> None:
    template["Resources"]["OtherVpc"] = {
        "Type": "AWS::EC2::VPC",
        "Properties": {"CidrBlock": "10.99.0.0/16"},
    }
    template["Resources"]["OtherGroup"] = {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "strangers", "VpcId": {"Ref": "OtherVpc"}},
    }
    interfaces(template)[2]["Groups"] = [{"Fn::GetAtt": ["OtherGroup", "GroupId"]}]


def second_zone(template: Template) -> None:
    group = properties(template, "AWS::EC2::SecurityGroup")
    template["Resources"]["OtherSubnet"] = {
        "Type": "AWS::EC2::Subnet",
        "Properties": {
            "VpcId": group["VpcId"],
            "CidrBlock": "10.20.240.0/24",
            "AvailabilityZoneId": "usw2-az4",
        },
    }
    compute(template)["Subnets"].append({"Ref": "OtherSubnet"})


def zone_without_the_type(template: Template) -> None:
    second_zone(template)
    template["Resources"]["OtherSubnet"]["Properties"]["AvailabilityZoneId"] = "usw2-az3"
    compute(template)["Subnets"] = [{"Ref": "OtherSubnet"}]


def off_the_ladder(template: Template) -> None:
    properties(template, "AWS::FSx::FileSystem")["StorageCapacity"] = 5000
    # The guard would refuse a second file system of this name, and FSx never be asked.
    properties(template, "Custom::ReplacementGuard")["AllowReplacement"] = "true"


@pytest.mark.parametrize(
    ("stack", "mistake", "reason"),
    [
        (CLUSTER, groups_beside_interfaces, "Security Groups or Network Interfaces in Launch temp"),
        (CLUSTER, type_without_efa, "not supported on instance type 'm5.large'"),
        (CLUSTER, card_outside, "Network card index 4 is not valid"),
        (CLUSTER, device_outside, "Device index 9 on network card index 7 exceeds the limit"),
        (CLUSTER, two_primaries, "Exactly one interface can be primary"),
        (CLUSTER, public_address, "associatePublicIPAddress parameter cannot be specified"),
        (CLUSTER, unknown_kind, "Invalid value 'banana' for InterfaceType"),
        (CLUSTER, image_by_name, 'Invalid id: "train-image"'),
        (CLUSTER, group_of_another_vpc, "belong to different networks"),
        (CLUSTER, second_zone, "cannot span Availability Zones"),
        (CLUSTER, zone_without_the_type, "not supported in your requested Availability Zone"),
        (STORAGE, off_the_ladder, "Storage capacity 5000 GiB is not valid"),
    ],
)
def test_a_mistake_fails_the_stack_with_its_reason_and_leaves_nothing(
    aws: EmbeddedAws, templates: dict[str, str], stack: str, mistake: Break, reason: str
) -> None:
    template = json.loads(templates[stack])
    mistake(template)
    before = everything(aws)

    with pytest.raises(DeploymentFailed) as failed:
        aws.deploy(template, stack_name="Broken")

    assert reason in str(failed.value)
    assert everything(aws) == before
    cloudformation = aws.client("cloudformation")
    [described] = cloudformation.describe_stacks(StackName="Broken")["Stacks"]
    assert described["StackStatus"] == "ROLLBACK_COMPLETE"
    cloudformation.delete_stack(StackName="Broken")


def everything(aws: EmbeddedAws) -> set[str]:
    """The identities of whatever a cluster is made of."""
    ec2, batch, iam = aws.client("ec2"), aws.client("batch"), aws.client("iam")
    definitions = batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"]
    lists = [
        (ec2.describe_vpcs()["Vpcs"], "VpcId"),
        (ec2.describe_subnets()["Subnets"], "SubnetId"),
        (ec2.describe_security_groups()["SecurityGroups"], "GroupId"),
        (ec2.describe_security_group_rules()["SecurityGroupRules"], "SecurityGroupRuleId"),
        (ec2.describe_network_interfaces()["NetworkInterfaces"], "NetworkInterfaceId"),
        (ec2.describe_launch_templates()["LaunchTemplates"], "LaunchTemplateId"),
        (ec2.describe_placement_groups()["PlacementGroups"], "GroupId"),
        (batch.describe_compute_environments()["computeEnvironments"], "computeEnvironmentArn"),
        (batch.describe_job_queues()["jobQueues"], "jobQueueArn"),
        (definitions, "jobDefinitionArn"),
        (iam.list_roles()["Roles"], "Arn"),
        (iam.list_instance_profiles()["InstanceProfiles"], "Arn"),
        (aws.client("logs").describe_log_groups()["logGroups"], "arn"),
        (aws.client("fsx").describe_file_systems()["FileSystems"], "FileSystemId"),
        (aws.client("s3").list_buckets()["Buckets"], "Name"),
    ]
    return {item[name] for items, name in lists for item in items}
