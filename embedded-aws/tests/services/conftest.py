"""Clients of the embedded AWS, and what a cluster's parts stand on."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.exceptions import ClientError

from embedded_aws import clock

Client = Callable[..., Any]


@pytest.fixture(scope="session")
def client(endpoint: str) -> Client:
    session = boto3.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name="us-west-2"
    )
    clients: dict[tuple[str, str], Any] = {}

    def make(service: str, region: str = "us-west-2") -> Any:
        if (service, region) not in clients:
            clients[service, region] = session.client(
                service, region_name=region, endpoint_url=endpoint
            )
        return clients[service, region]

    return make


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """The time at which the clock of the embedded AWS stands, so that no minute ends meanwhile."""
    stopped = datetime.now(UTC)

    class StoppedClock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return stopped

    monkeypatch.setattr(clock, "datetime", StoppedClock)
    return stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An error as boto3 shows it."""

    code: str
    message: str


@pytest.fixture(scope="session")
def refusal() -> Callable[..., Refused]:
    """Call an API that must refuse, and return what it says."""

    def call(method: Callable[..., Any], **params: Any) -> Refused:
        with pytest.raises(ClientError) as error:
            method(**params)
        refused = error.value.response["Error"]
        return Refused(code=refused["Code"], message=refused["Message"])

    return call


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"t{uuid4().hex[:12]}"


@pytest.fixture(scope="session")
def ec2(client: Client) -> Any:
    return client("ec2")


@pytest.fixture(scope="session")
def batch(client: Client) -> Any:
    return client("batch")


@pytest.fixture
def vpc(ec2: Any) -> str:
    vpc_id: str = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    return vpc_id


@pytest.fixture
def subnet(ec2: Any, vpc: str) -> str:
    """A subnet in a zone that offers trn1.32xlarge, p4d.24xlarge, p5.48xlarge and g5.48xlarge."""
    subnet_id: str = ec2.create_subnet(
        VpcId=vpc, CidrBlock="10.20.0.0/20", AvailabilityZoneId="usw2-az4"
    )["Subnet"]["SubnetId"]
    return subnet_id


@pytest.fixture
def group(ec2: Any, vpc: str) -> str:
    """A security group with EFA's rules: everything from and to itself."""
    group_id: str = ec2.create_security_group(GroupName="efa", Description="peers", VpcId=vpc)[
        "GroupId"
    ]
    own = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group_id}]}]
    ec2.authorize_security_group_ingress(GroupId=group_id, IpPermissions=own)
    ec2.authorize_security_group_egress(GroupId=group_id, IpPermissions=own)
    return group_id


@pytest.fixture
def foreign_group(ec2: Any) -> str:
    """A security group of another VPC."""
    other = ec2.create_vpc(CidrBlock="10.99.0.0/16")["Vpc"]["VpcId"]
    group_id: str = ec2.create_security_group(GroupName="x", Description="x", VpcId=other)[
        "GroupId"
    ]
    return group_id


@pytest.fixture
def placement_group(ec2: Any, name: str) -> str:
    ec2.create_placement_group(GroupName=name, Strategy="cluster")
    return name


@pytest.fixture(scope="session")
def instance_profile(client: Client) -> str:
    client("iam").create_instance_profile(InstanceProfileName="nodes")
    return "nodes"


@pytest.fixture(scope="session")
def role(client: Client) -> str:
    arn: str = client("iam").create_role(RoleName="runner", AssumeRolePolicyDocument="{}")["Role"][
        "Arn"
    ]
    return arn


@pytest.fixture
def interfaces(group: str) -> list[dict[str, Any]]:
    """The eight interfaces of a trn1.32xlarge: one with an address, seven efa-only."""
    return [
        {
            "NetworkCardIndex": card,
            "DeviceIndex": 1 if card else 0,
            "InterfaceType": "efa-only" if card else "efa",
            "Groups": [group],
        }
        for card in range(8)
    ]


@pytest.fixture
def launch_template(ec2: Any, name: str, interfaces: list[dict[str, Any]]) -> str:
    template_id: str = ec2.create_launch_template(
        LaunchTemplateName=name,
        LaunchTemplateData={
            "ImageId": "ami-0123456789abcdef0",
            "NetworkInterfaces": interfaces,
        },
    )["LaunchTemplate"]["LaunchTemplateId"]
    return template_id


@pytest.fixture
def resources(
    subnet: str, instance_profile: str, launch_template: str, placement_group: str
) -> dict[str, Any]:
    """The computeResources of a compute environment that AWS accepts."""
    return {
        "type": "EC2",
        "allocationStrategy": "BEST_FIT_PROGRESSIVE",
        "minvCpus": 0,
        "maxvCpus": 2048,
        "instanceTypes": ["trn1.32xlarge"],
        "subnets": [subnet],
        "instanceRole": instance_profile,
        "launchTemplate": {"launchTemplateId": launch_template, "version": "1"},
        "placementGroup": placement_group,
    }


@pytest.fixture
def compute_environment(batch: Any, name: str, resources: dict[str, Any]) -> str:
    batch.create_compute_environment(
        computeEnvironmentName=name, type="MANAGED", computeResources=resources
    )
    return name


@pytest.fixture
def node_group() -> dict[str, Any]:
    """A node group that covers every node."""
    return {
        "targetNodes": "0:",
        "container": {
            "image": "train:1",
            "instanceType": "trn1.32xlarge",
            "resourceRequirements": [
                {"type": "VCPU", "value": "96"},
                {"type": "MEMORY", "value": "500000"},
            ],
        },
    }
