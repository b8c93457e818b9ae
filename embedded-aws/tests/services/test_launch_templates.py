"""Launch templates: what no launch could accept is refused when the template is made."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

IMAGE = "ami-0123456789abcdef0"
Data = dict[str, Any]


def nic(card: int, device: int, kind: str = "efa", **more: Any) -> Data:
    return {"NetworkCardIndex": card, "DeviceIndex": device, "InterfaceType": kind, **more}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({"ImageId": IMAGE}, id="ami"),
        pytest.param({"ImageId": "resolve:ssm:/images/stable"}, id="ssm"),
        pytest.param({"UserData": base64.b64encode(b"x" * 16384).decode()}, id="16-KB"),
        pytest.param({"NetworkInterfaces": [nic(0, 1, "efa-only")]}, id="no-primary-yet"),
        pytest.param(
            {
                "InstanceType": "p6-b300.48xlarge",
                "NetworkInterfaces": [
                    nic(0, 0, "interface"),
                    *(nic(card, 0, "efa-only") for card in range(1, 17)),
                ],
            },
            id="p6-b300",
        ),
        pytest.param(
            {
                "InstanceType": "p5.48xlarge",
                "NetworkInterfaces": [nic(card, 1 if card else 0) for card in range(32)],
            },
            id="p5",
        ),
        pytest.param(
            {"NetworkInterfaces": [nic(0, 0, AssociatePublicIpAddress=True)]}, id="public-alone"
        ),
    ],
)
def test_good_templates_are_made(ec2: Any, name: str, data: Data) -> None:
    made = ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data)

    assert made["LaunchTemplate"]["LatestVersionNumber"] == 1


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        pytest.param(
            {"ImageId": "al2023"},
            "InvalidAMIID.Malformed",
            'Invalid id: "al2023" (expecting "ami-...")',
            id="no-ami",
        ),
        pytest.param({"ImageId": "ami-xyz"}, "InvalidAMIID.Malformed", "ami-xyz", id="bad-ami"),
        pytest.param(
            {"UserData": "not base64!"},
            "InvalidUserData.Malformed",
            "Invalid BASE64 encoding of user data.",
            id="plain-user-data",
        ),
        pytest.param(
            {"UserData": base64.b64encode(b"x" * 16385).decode()},
            "InvalidParameterValue",
            "User data is limited to 16384 bytes",
            id="long-user-data",
        ),
        pytest.param(
            {"NetworkInterfaces": [nic(0, 0, "banana")]},
            "InvalidParameterValue",
            "Invalid value 'banana' for InterfaceType",
            id="kind",
        ),
        pytest.param(
            {"NetworkInterfaces": [nic(99, 0)]},
            "InvalidParameterValue",
            "Value (99) for parameter networkCardIndex is invalid",
            id="card-99",
        ),
        pytest.param(
            {"NetworkInterfaces": [nic(0, 99)]},
            "InvalidParameterValue",
            "Value (99) for parameter deviceIndex is invalid",
            id="device-99",
        ),
        pytest.param(
            {"NetworkInterfaces": [nic(0, 0), nic(1, 1), nic(1, 1)]},
            "InvalidParameterCombination",
            "network card index 1, device index 1 is given more than once",
            id="twice",
        ),
        pytest.param(
            {"NetworkInterfaces": [nic(0, 0), nic(0, 0, "interface")]},
            "InvalidParameterCombination",
            "Exactly one interface can be primary",
            id="two-primaries",
        ),
        pytest.param(
            {"NetworkInterfaces": [nic(0, 0, "efa-only")]},
            "InvalidParameterCombination",
            "efa-only network interface cannot be the primary",
            id="efa-only-primary",
        ),
        pytest.param(
            {"NetworkInterfaces": [nic(0, 0, AssociatePublicIpAddress=True), nic(1, 1)]},
            "InvalidParameterCombination",
            "The associatePublicIPAddress parameter cannot be specified when launching with "
            "multiple network interfaces.",
            id="public-ip",
        ),
        pytest.param(
            {"NetworkInterfaces": [nic(0, 0)], "SecurityGroupIds": ["sg-12345678"]},
            "InvalidParameterCombination",
            "instance-level security groups",
            id="groups-beside",
        ),
        pytest.param(
            {"InstanceType": "t3.micro", "NetworkInterfaces": [nic(0, 0)]},
            "InvalidParameterCombination",
            "EFA) interfaces are not supported on instance type 't3.micro'",
            id="no-efa-type",
        ),
        pytest.param(
            {"InstanceType": "p6-b300.48xlarge", "NetworkInterfaces": [nic(0, 0)]},
            "InvalidParameterCombination",
            "'efa' is not supported on network card index 0 of instance type 'p6-b300.48xlarge'",
            id="no-efa-card",
        ),
        pytest.param(
            {"InstanceType": "p4d.24xlarge", "NetworkInterfaces": [nic(0, 0), nic(4, 1)]},
            "InvalidParameterCombination",
            "Network card index 4 is not valid: instance type 'p4d.24xlarge' has 4",
            id="card-of-type",
        ),
        pytest.param(
            {"InstanceType": "p5.48xlarge", "NetworkInterfaces": [nic(0, 0), nic(0, 2)]},
            "AttachmentLimitExceeded",
            "Device index 2 on network card index 0 exceeds the limit",
            id="device-of-type",
        ),
        pytest.param(
            {"InstanceType": "g5.48xlarge", "NetworkInterfaces": [nic(0, 0), nic(0, 1)]},
            "AttachmentLimitExceeded",
            "2 EFA interfaces are specified, but instance type 'g5.48xlarge' supports at most 1",
            id="too-much-efa",
        ),
        pytest.param(
            {
                "CapacityReservationSpecification": {
                    "CapacityReservationPreference": "none",
                    "CapacityReservationTarget": {"CapacityReservationId": "cr-1"},
                }
            },
            "InvalidParameterCombination",
            "only one option at a time",
            id="reservation",
        ),
        pytest.param(
            {"InstanceType": "dl1.24xlarge"},
            "InvalidParameterValue",
            "Invalid value 'dl1.24xlarge' for InstanceType. The EC2 API stopped listing it",
            id="withdrawn",
        ),
    ],
)
def test_broken_templates_are_refused(
    ec2: Any, name: str, refusal: Callable[..., Any], data: Data, code: str, words: str
) -> None:
    refused = refusal(ec2.create_launch_template, LaunchTemplateName=name, LaunchTemplateData=data)

    assert refused.code == code
    assert words in refused.message
    assert (
        ec2.describe_launch_templates(Filters=[{"Name": "launch-template-name", "Values": [name]}])[
            "LaunchTemplates"
        ]
        == []
    )


def test_a_version_is_checked_together_with_its_source(
    ec2: Any, name: str, refusal: Callable[..., Any]
) -> None:
    ec2.create_launch_template(
        LaunchTemplateName=name, LaunchTemplateData={"InstanceType": "t3.micro"}
    )

    refused = refusal(
        ec2.create_launch_template_version,
        LaunchTemplateName=name,
        SourceVersion="1",
        LaunchTemplateData={"NetworkInterfaces": [nic(0, 0)]},
    )

    assert "not supported on instance type 't3.micro'" in refused.message


def test_a_version_keeps_what_its_source_says(ec2: Any, name: str) -> None:
    user_data = base64.b64encode(b"#!/bin/sh").decode()
    ec2.create_launch_template(
        LaunchTemplateName=name,
        LaunchTemplateData={"ImageId": IMAGE, "UserData": user_data},
        TagSpecifications=[
            {"ResourceType": "launch-template", "Tags": [{"Key": "a", "Value": "b"}]}
        ],
    )

    ec2.create_launch_template_version(
        LaunchTemplateName=name,
        SourceVersion="$Latest",
        LaunchTemplateData={"InstanceType": "trn1.32xlarge"},
    )

    versions = ec2.describe_launch_template_versions(LaunchTemplateName=name)
    first, second = sorted(
        versions["LaunchTemplateVersions"], key=lambda version: version["VersionNumber"]
    )
    assert second["LaunchTemplateData"]["ImageId"] == IMAGE
    assert second["LaunchTemplateData"]["UserData"] == user_data
    assert second["LaunchTemplateData"]["InstanceType"] == "trn1.32xlarge"
    # The template's own tags are no tags of its instances.
    assert not first["LaunchTemplateData"].get("TagSpecifications")
