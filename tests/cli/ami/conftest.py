"""AMIs as a build leaves them, in an embedded AWS of two regions that the command line talks to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from embedded_aws.embedded import EmbeddedAws

WEST, EAST = "us-west-2", "us-east-1"


@pytest.fixture
def aws(
    trainshed: Callable[..., Any], two_regions: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> EmbeddedAws:
    """An embedded AWS with nothing in it but its seed; `trainshed` is led there."""
    two_regions.reset()
    two_regions.lead_here(monkeypatch)
    return two_regions


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What tests make and look at in the embedded AWS.

    Attributes:
        aws: the embedded AWS.
        subnets: ids of a subnet in each of two zones, by region.
    """

    aws: EmbeddedAws
    subnets: Mapping[str, list[str]]
    _builders: dict[str, str] = field(default_factory=dict)

    def bake(
        self,
        build: str = "20261101T120000Z",
        *,
        cell: str = "neuron/ecs",
        base: str = "amazon-linux-2023",
        region: str = WEST,
    ) -> str:
        """Make an AMI with the tags of the template, and return its id."""
        accelerator, orchestrator = cell.split("/")
        tags = {
            "Name": f"trainshed-{accelerator}-{orchestrator}-{build}",
            "trainshed:accelerator": accelerator,
            "trainshed:orchestrator": orchestrator,
            "trainshed:base": base,
            "trainshed:commit": "0123abc",
            "trainshed:build": build,
        }
        return self.image(tags["Name"], tags=tags, region=region)

    def image(self, name: str, *, tags: Mapping[str, str], region: str = WEST) -> str:
        """Make an AMI with these tags on it and on its snapshot."""
        ec2 = self.aws.client("ec2", region=region)
        if region not in self._builders:
            self._builders[region] = self.launch(self.stock_image(region), region=region)
        marked = [{"Key": key, "Value": value} for key, value in tags.items()]
        image_id: str = ec2.create_image(
            InstanceId=self._builders[region],
            Name=name,
            TagSpecifications=[
                {"ResourceType": kind, "Tags": marked} for kind in ("image", "snapshot")
            ]
            if marked
            else [],
        )["ImageId"]
        return image_id

    def launch(self, image_id: str, *, region: str = WEST, **params: Any) -> str:
        """Run an instance of an AMI, and return its id."""
        instance_id: str = self.aws.client("ec2", region=region).run_instances(
            **{
                "ImageId": image_id,
                "InstanceType": "m6i.xlarge",
                "SubnetId": self.subnets[region][0],
                "MinCount": 1,
                "MaxCount": 1,
                **params,
            }
        )["Instances"][0]["InstanceId"]
        return instance_id

    def stock_image(self, region: str = WEST) -> str:
        """Return the id of one of Amazon's AMIs."""
        parameter = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
        ssm = self.aws.client("ssm", region=region)
        image_id: str = ssm.get_parameter(Name=parameter)["Parameter"]["Value"]
        return image_id

    def channel(self, name: str, *, cell: str = "neuron/ecs", region: str = WEST) -> str | None:
        """Return the AMI that a channel points to, or None."""
        ssm = self.aws.client("ssm", region=region)
        found = ssm.get_parameters(Names=[f"/trainshed/ami/{cell}/{name}"])["Parameters"]
        return found[0]["Value"] if found else None

    def instances(self) -> dict[str, str]:
        """Return the state by id of every instance, but the one that images are made of."""
        found = self.aws.client("ec2").describe_instances()["Reservations"]
        return {
            instance["InstanceId"]: instance["State"]["Name"]
            for reservation in found
            for instance in reservation["Instances"]
            if instance["InstanceId"] not in self._builders.values()
        }

    def image_ids(self) -> set[str]:
        """Return the ids of the account's own AMIs."""
        found = self.aws.client("ec2").describe_images(Owners=["self"])["Images"]
        return {image["ImageId"] for image in found}


@pytest.fixture
def account(aws: EmbeddedAws) -> Account:
    subnets = {}
    for region in (WEST, EAST):
        ec2 = aws.client("ec2", region=region)
        vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        subnets[region] = [
            ec2.create_subnet(
                VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=region + zone
            )["Subnet"]["SubnetId"]
            for number, zone in enumerate("ab")
        ]
    return Account(aws=aws, subnets=subnets)
