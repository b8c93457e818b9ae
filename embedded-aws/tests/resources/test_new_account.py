"""What an account has at birth."""

from typing import Any

import pytest

from embedded_aws.ec2.ami_parameters import seeded_amis
from embedded_aws.hooks import when_account_made

ACCOUNT, REGION = "210987654321", "us-west-2"

# Parameters that moto brings along: ECS's public ones.
ECS = "/aws/service/ecs/optimized-ami/amazon-linux-2023"


def image_behind(client: Any, parameter: str) -> dict[str, Any]:
    image_id = client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"]
    image: dict[str, Any] = client("ec2").describe_images(ImageIds=[image_id])["Images"][0]
    return image


@pytest.mark.parametrize(
    "parameter",
    [
        f"{ECS}/recommended/image_id",
        f"{ECS}/gpu/recommended/image_id",
        f"{ECS}/neuron/recommended/image_id",
        "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64",
        *(ami.parameter for ami in seeded_amis()),
    ],
)
def test_every_parameter_leads_to_an_image(client: Any, parameter: str) -> None:
    image = image_behind(client, parameter)

    assert image["State"] == "available"
    assert image["RootDeviceName"] == ("/dev/sda1" if "ubuntu" in parameter else "/dev/xvda")
    assert image["Architecture"] == ("arm64" if "arm64" in parameter else "x86_64")


def test_public_images_belong_to_amazon(client: Any) -> None:
    image = image_behind(client, "/aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id")

    assert (image["ImageOwnerAlias"], image["Public"]) == ("amazon", True)


def test_ubuntus_images_belong_to_canonical(client: Any) -> None:
    parameter = "/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id"

    image = image_behind(client, parameter)

    assert (image["OwnerId"], image["Public"]) == ("099720109477", True)
    assert image["Name"].startswith("ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-")


def test_nobody_else_writes_below_aws_service(client: Any) -> None:
    ssm = client("ssm")

    with pytest.raises(ssm.exceptions.ClientError, match="No access to reserved parameter name"):
        ssm.put_parameter(Name="/aws/service/neuron/mine", Value="x", Type="String")


def test_batch_has_its_role(client: Any) -> None:
    iam = client("iam")

    role = iam.get_role(RoleName="AWSServiceRoleForBatch")["Role"]

    assert role["Path"] == "/aws-service-role/batch.amazonaws.com/"
    attached = iam.list_attached_role_policies(RoleName=role["RoleName"])["AttachedPolicies"]
    assert [policy["PolicyName"] for policy in attached] == ["BatchServiceRolePolicy"]


def test_there_is_no_default_vpc(client: Any) -> None:
    default = [{"Name": "is-default", "Values": ["true"]}]

    assert client("ec2").describe_vpcs(Filters=default)["Vpcs"] == []


def test_a_second_seeding_changes_nothing(client: Any) -> None:
    def seen() -> tuple[int, int, int]:
        ami = next(seeded_amis())
        versions = client("ssm").get_parameter_history(Name=ami.parameter)["Parameters"]
        images = client("ec2").describe_images(Filters=[{"Name": "name", "Values": [ami.name]}])[
            "Images"
        ]
        return len(versions), len(images), len(client("iam").list_roles()["Roles"])

    before = seen()
    when_account_made.call(ACCOUNT, REGION)

    assert seen() == before


def test_regions_have_images_of_their_own() -> None:
    ami = next(seeded_amis())

    assert ami.ami_id("us-west-2") != ami.ami_id("us-east-1")
    assert ami.ami_id("us-west-2").startswith("ami-0")
    assert len(ami.ami_id("us-west-2")) == len("ami-0123456789abcdef0")
