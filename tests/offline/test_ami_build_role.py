"""What the role of the builds of an AMI pipeline may do on an AWS: bake and publish, no harm."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from botocore.exceptions import ClientError
from role_client import role_client

from embedded_aws.embedded import EmbeddedAws
from trainshed.plan.pipeline import load_ami_pipeline
from trainshed_stacks.ami_pipeline_stack import add_ami_pipeline

ROOT = Path(__file__).parents[2]
WEST, EAST = "us-west-2", "us-east-1"
SPEC = {
    "region": WEST,
    "regions": [EAST],
    "repository": "https://github.com/example/trainshed",
    "connection": "arn:aws:codeconnections:us-west-2:123456789012:connection/"
    "0a1b2c3d-4e5f-6789-abcd-ef0123456789",
    "cells": ["neuron/ecs"],
    "schedule": "rate(7 days)",
}
# As packer/locals.pkr.hcl has them.
RUN_TAGS = {"Name": "builder", "trainshed:build": "20261120T030000Z"}
RUN_TAGS["trainshed:role"] = "ami-builder"
AMI_TAGS = {"Name": "trainshed", "trainshed:build": "20261120T030000Z", "trainshed:kernel": "6.12"}
DENIED = "UnauthorizedOperation"
EVERYBODY = {"Add": [{"Group": "all"}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Builds:
    """A deployed pipeline: clients with its role's credentials, here and where it copies to."""

    here: Any
    there: Any
    ssm: Any
    profile: str


def tags(texts: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in texts.items()]


def tagging(*kinds: str) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": tags(RUN_TAGS)} for kind in kinds]


def refusal(method: Callable[..., Any], **params: Any) -> str:
    with pytest.raises(ClientError) as caught:
        method(**params)
    return str(caught.value.response["Error"]["Code"])


def snapshot_of(ec2: Any, image: str) -> str:
    [found] = ec2.describe_images(ImageIds=[image])["Images"]
    return str(found["BlockDeviceMappings"][0]["Ebs"]["SnapshotId"])


@pytest.fixture(scope="module")
def template(context: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("pipeline")
    (folder / "pipeline.yaml").write_text(json.dumps(SPEC))
    app = cdk.App(context=context, outdir=str(folder / "out"))
    plan = load_ami_pipeline(folder / "pipeline.yaml", pins=ROOT / "packer/pins.json")
    add_ami_pipeline(app, plan)
    app.synth()
    found: dict[str, Any] = json.loads((folder / "out/AmiPipeline.template.json").read_text())
    return found


@pytest.fixture
def aws(two_regions: EmbeddedAws) -> EmbeddedAws:
    """An embedded AWS with nothing in it but its seed."""
    two_regions.reset()
    return two_regions


@pytest.fixture
def builds(aws: EmbeddedAws, template: dict[str, Any]) -> Builds:
    stack = aws.deploy(template, stack_name="AmiPipeline")
    [project] = aws.client("codebuild").batch_get_projects(
        names=[stack.outputs["NeuronEcsProject"]]
    )["projects"]
    variables = project["environment"]["environmentVariables"]
    return Builds(
        here=role_client(aws, "ec2", project["serviceRole"]),
        there=role_client(aws, "ec2", project["serviceRole"], EAST),
        ssm=role_client(aws, "ssm", project["serviceRole"]),
        profile=next(each["value"] for each in variables if each["name"] == "INSTANCE_PROFILE"),
    )


@pytest.fixture
def base(aws: EmbeddedAws) -> str:
    """An AMI of AWS."""
    # Of all that EC2 has, the answer would take it half a second.
    named = [{"Name": "name", "Values": ["al2023-ami-2023*"]}]
    images = aws.client("ec2").describe_images(Owners=["amazon"], Filters=named)["Images"]
    return str(images[0]["ImageId"])


@pytest.fixture
def subnet(aws: EmbeddedAws) -> str:
    ec2 = aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    return str(ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/20")["Subnet"]["SubnetId"])


@pytest.fixture
def theirs(aws: EmbeddedAws, base: str, subnet: str) -> str:
    """An AMI of somebody else in the account."""
    ec2 = aws.client("ec2")
    [instance] = ec2.run_instances(
        ImageId=base, InstanceType="m6i.xlarge", SubnetId=subnet, MinCount=1, MaxCount=1
    )["Instances"]
    return str(ec2.create_image(InstanceId=instance["InstanceId"], Name="theirs")["ImageId"])


@pytest.fixture
def instance(builds: Builds, base: str, subnet: str) -> Iterator[str]:
    """A build instance, launched as Packer's plugin does."""
    ec2 = builds.here
    [found] = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"]
    ec2.create_key_pair(KeyName="packer_68a0", TagSpecifications=tagging("key-pair"))
    group = ec2.create_security_group(
        GroupName="packer_68a0",
        Description="Temporary group for Packer",
        VpcId=found["VpcId"],
        TagSpecifications=tagging("security-group"),
    )["GroupId"]
    [launched] = ec2.run_instances(
        ImageId=base,
        InstanceType="m6i.xlarge",
        KeyName="packer_68a0",
        IamInstanceProfile={"Name": builds.profile},
        NetworkInterfaces=[{"DeviceIndex": 0, "SubnetId": subnet, "Groups": [group]}],
        MinCount=1,
        MaxCount=1,
        TagSpecifications=tagging("instance", "volume", "network-interface"),
    )["Instances"]
    yield launched["InstanceId"]
    ec2.terminate_instances(InstanceIds=[launched["InstanceId"]])
    ec2.delete_security_group(GroupId=group)
    ec2.delete_key_pair(KeyName="packer_68a0")


@pytest.fixture
def ours(builds: Builds, instance: str) -> str:
    """An AMI of the build instance, as Packer's plugin makes it."""
    builds.here.stop_instances(InstanceIds=[instance])
    return str(
        builds.here.create_image(
            InstanceId=instance, Name="ours", TagSpecifications=tagging("image", "snapshot")
        )["ImageId"]
    )


def test_a_build_makes_copies_describes_tags_and_publishes_its_ami(
    builds: Builds, ours: str
) -> None:
    copy = builds.there.copy_image(
        SourceRegion=WEST, SourceImageId=ours, Name="ours", CopyImageTags=True
    )["ImageId"]
    for ec2, image in ((builds.here, ours), (builds.there, copy)):
        ec2.modify_image_attribute(ImageId=image, Description={"Value": "neuron nodes"})
        ec2.modify_image_attribute(ImageId=image, ImdsSupport={"Value": "v2.0"})
        for resources in ([image, snapshot_of(ec2, image)], [snapshot_of(ec2, image)]):
            ec2.create_tags(Resources=resources, Tags=tags(AMI_TAGS))
    builds.ssm.put_parameter(
        Name="/trainshed/ami/neuron/ecs/candidate",
        Value=ours,
        Type="String",
        DataType="aws:ec2:image",
    )

    for ec2, image in ((builds.here, ours), (builds.there, copy)):
        [found] = ec2.describe_images(ImageIds=[image])["Images"]
        assert tags(AMI_TAGS)[-1] in found["Tags"]
        assert found["ImdsSupport"] == "v2.0"


def test_a_build_withdraws_its_ami_when_it_fails(builds: Builds, ours: str) -> None:
    snapshot = snapshot_of(builds.here, ours)

    builds.here.deregister_image(ImageId=ours)
    builds.here.delete_snapshot(SnapshotId=snapshot)

    assert not builds.here.describe_snapshots(OwnerIds=["self"])["Snapshots"]


@pytest.mark.parametrize("key", ["trainshed:build", "trainshed:role", "Name"])
def test_nobody_elses_ami_and_snapshot_can_be_tagged_to_be_deleted(
    builds: Builds, theirs: str, key: str
) -> None:
    snapshot = snapshot_of(builds.here, theirs)

    for resource in (theirs, snapshot):
        given = tags({key: "ami-builder"})
        assert refusal(builds.here.create_tags, Resources=[resource], Tags=given) == DENIED

    assert refusal(builds.here.deregister_image, ImageId=theirs) == DENIED
    assert refusal(builds.here.delete_snapshot, SnapshotId=snapshot) == DENIED


def test_an_ami_that_does_not_carry_the_tag_is_not_made(builds: Builds, instance: str) -> None:
    assert refusal(builds.here.create_image, InstanceId=instance, Name="untagged") == DENIED


def test_where_it_copies_to_a_build_deletes_nothing_and_makes_nothing_its_own(
    aws: EmbeddedAws, builds: Builds, theirs: str
) -> None:
    there = aws.client("ec2", region=EAST)
    image = there.copy_image(SourceRegion=WEST, SourceImageId=theirs, Name="theirs")
    snapshot = snapshot_of(there, image["ImageId"])

    role = tags({"trainshed:role": "ami-builder"})
    assert refusal(builds.there.create_tags, Resources=[snapshot], Tags=role) == DENIED
    there.create_tags(Resources=[image["ImageId"], snapshot], Tags=role)
    assert refusal(builds.there.deregister_image, ImageId=image["ImageId"]) == DENIED
    assert refusal(builds.there.delete_snapshot, SnapshotId=snapshot) == DENIED


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"LaunchPermission": EVERYBODY}, id="LaunchPermission"),
        pytest.param(
            {"Attribute": "launchPermission", "OperationType": "add", "UserGroups": ["all"]},
            id="Attribute",
        ),
        pytest.param({"Attribute": "description", "LaunchPermission": EVERYBODY}, id="both"),
    ],
)
def test_no_ami_can_be_published_to_everybody(
    builds: Builds, theirs: str, ours: str, change: dict[str, Any]
) -> None:
    for image in (theirs, ours):
        assert refusal(builds.here.modify_image_attribute, ImageId=image, **change) == DENIED


def test_nobody_elses_ami_can_be_described(builds: Builds, theirs: str) -> None:
    described = {"ImageId": theirs, "Description": {"Value": "ours"}}

    assert refusal(builds.here.modify_image_attribute, **described) == DENIED
