"""RunInstances: template, type and subnet together."""

from collections.abc import Callable
from typing import Any

import pytest
from moto.ec2.models.instances import Instance

IMAGE = "ami-0123456789abcdef0"


@pytest.fixture
def launch(subnet: str, interfaces: list[dict[str, Any]]) -> dict[str, Any]:
    """A launch that EC2 accepts."""
    return {
        "ImageId": IMAGE,
        "InstanceType": "trn1.32xlarge",
        "MinCount": 1,
        "MaxCount": 1,
        "NetworkInterfaces": [{**interface, "SubnetId": subnet} for interface in interfaces],
    }


def test_a_dry_run_of_a_good_launch_says_so(
    ec2: Any, name: str, launch: dict[str, Any], refusal: Callable[..., Any]
) -> None:
    image = ec2.register_image(Name=name, RootDeviceName="/dev/xvda")["ImageId"]

    dry_run = refusal(ec2.run_instances, **{**launch, "ImageId": image}, DryRun=True)

    assert dry_run.code == "DryRunOperation"


def test_a_dry_run_needs_an_ami_that_is_there(
    ec2: Any, launch: dict[str, Any], refusal: Callable[..., Any]
) -> None:
    assert refusal(ec2.run_instances, **launch, DryRun=True).code == "InvalidAMIID.NotFound"


def test_an_instance_has_the_cpus_of_its_type(ec2: Any, launch: dict[str, Any]) -> None:
    [instance] = ec2.run_instances(**launch)["Instances"]

    [shown] = ec2.describe_instances(InstanceIds=[instance["InstanceId"]])["Reservations"]

    assert shown["Instances"][0]["CpuOptions"] == {"CoreCount": 64, "ThreadsPerCore": 2}


def test_each_card_of_an_instance_has_its_interface(ec2: Any, launch: dict[str, Any]) -> None:
    instance = ec2.run_instances(**launch)["Instances"][0]["InstanceId"]

    found = ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
    places = sorted(
        (
            interface["Attachment"]["NetworkCardIndex"],
            interface["Attachment"]["DeviceIndex"],
            interface["InterfaceType"],
            "PrivateIpAddress" in interface,
        )
        for interface in found["NetworkInterfaces"]
    )

    assert places == [(0, 0, "efa", True), *((card, 1, "efa-only", False) for card in range(1, 8))]


@pytest.mark.parametrize("given", [True, False])
def test_the_interfaces_of_a_launch_go_with_the_instance(
    ec2: Any, launch: dict[str, Any], subnet: str, given: bool
) -> None:
    plain = {key: value for key, value in launch.items() if key != "NetworkInterfaces"}
    [instance] = ec2.run_instances(**(launch if given else {**plain, "SubnetId": subnet}))[
        "Instances"
    ]

    ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])

    of_subnet = [{"Name": "subnet-id", "Values": [subnet]}]
    assert ec2.describe_network_interfaces(Filters=of_subnet)["NetworkInterfaces"] == []
    [ended] = ec2.describe_instances(InstanceIds=[instance["InstanceId"]])["Reservations"]
    assert ended["Instances"][0]["NetworkInterfaces"] == []


def test_a_template_brings_what_the_request_leaves_out(
    ec2: Any, name: str, launch: dict[str, Any]
) -> None:
    data = {key: value for key, value in launch.items() if not key.endswith("Count")}
    ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data)

    instance = ec2.run_instances(
        LaunchTemplate={"LaunchTemplateName": name}, MinCount=1, MaxCount=1
    )["Instances"][0]

    assert (instance["InstanceType"], instance["ImageId"]) == ("trn1.32xlarge", IMAGE)
    assert len(instance["NetworkInterfaces"]) == 8


def test_an_image_is_resolved_from_a_parameter(
    ec2: Any, client: Callable[..., Any], name: str, subnet: str
) -> None:
    client("ssm").put_parameter(
        Name=f"/{name}", Type="String", DataType="aws:ec2:image", Value=IMAGE
    )

    instance = ec2.run_instances(
        ImageId=f"resolve:ssm:/{name}",
        InstanceType="trn1.32xlarge",
        SubnetId=subnet,
        MinCount=1,
        MaxCount=1,
    )["Instances"][0]

    assert instance["ImageId"] == IMAGE


def test_a_group_of_another_vpc_is_refused(
    ec2: Any,
    launch: dict[str, Any],
    subnet: str,
    foreign_group: str,
    refusal: Callable[..., Any],
) -> None:
    launch["NetworkInterfaces"][3]["Groups"] = [foreign_group]

    refused = refusal(ec2.run_instances, **launch)

    assert refused.message == (
        f"Security group {foreign_group} and subnet {subnet} belong to different networks."
    )


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        pytest.param(
            {"InstanceType": "trn1n.32xlarge", "SubnetId": "elsewhere"},
            "Unsupported",
            "Your requested instance type (trn1n.32xlarge) is not supported in your requested "
            "Availability Zone (us-west-2b). Please retry your request by not specifying an "
            "Availability Zone or choosing us-west-2d.",
            id="zone",
        ),
        pytest.param(
            {"InstanceType": "trn2.48xlarge"},
            "Unsupported",
            "No Availability Zone of us-west-2 supports it.",
            id="region",
        ),
        pytest.param(
            {"InstanceType": "dl1.24xlarge"},
            "InvalidParameterValue",
            "Invalid value 'dl1.24xlarge' for InstanceType.",
            id="withdrawn",
        ),
        pytest.param(
            {"InstanceType": "trn1.32xl"}, "InvalidParameterValue", "trn1.32xl", id="unknown"
        ),
        pytest.param(
            {"InstanceMarketOptions": {"MarketType": "capacity-block"}},
            "InvalidParameterCombination",
            "requires a CapacityReservationTarget",
            id="block-without-target",
        ),
        pytest.param(
            {
                "InstanceType": "trn1n.32xlarge",
                "InstanceMarketOptions": {"MarketType": "capacity-block"},
                "CapacityReservationSpecification": {
                    "CapacityReservationTarget": {"CapacityReservationId": "cr-1"}
                },
            },
            "InvalidParameterCombination",
            "does not support the market type 'capacity-block'",
            id="no-block",
        ),
        pytest.param(
            {"MinCount": 1, "MaxCount": 5000},
            "InsufficientFreeAddressesInSubnet",
            "Insufficient free addresses",
            id="addresses",
        ),
        pytest.param(
            {"Placement": {"GroupName": "nowhere"}},
            "InvalidPlacementGroup.Unknown",
            "'nowhere' is unknown",
            id="placement-group",
        ),
        pytest.param({"ImageId": "latest"}, "InvalidAMIID.Malformed", "latest", id="image"),
        pytest.param(
            {"NetworkInterfaces": [{"DeviceIndex": 1}], "SubnetId": None},
            "InvalidParameterValue",
            "you must include a device at index 0",
            id="no-primary",
        ),
        pytest.param(
            {"NetworkInterfaces": [{"DeviceIndex": 0}]},
            "InvalidParameterCombination",
            "instance-level subnet ID",
            id="subnet-beside",
        ),
    ],
)
def test_broken_launches_are_refused(
    ec2: Any,
    vpc: str,
    subnet: str,
    refusal: Callable[..., Any],
    change: dict[str, Any],
    code: str,
    words: str,
) -> None:
    elsewhere = ec2.create_subnet(
        VpcId=vpc, CidrBlock="10.20.16.0/20", AvailabilityZoneId="usw2-az1"
    )["Subnet"]["SubnetId"]
    launch = {
        "ImageId": IMAGE,
        "InstanceType": "trn1.32xlarge",
        "SubnetId": subnet,
        "MinCount": 1,
        "MaxCount": 1,
        **change,
    }
    launch["SubnetId"] = {"elsewhere": elsewhere}.get(launch["SubnetId"], launch["SubnetId"])

    refused = refusal(ec2.run_instances, **{k: v for k, v in launch.items() if v is not None})

    assert refused.code == code
    assert words in refused.message


def test_a_terminated_instance_cannot_be_started(
    ec2: Any, launch: dict[str, Any], refusal: Callable[..., Any]
) -> None:
    instance = ec2.run_instances(**launch)["Instances"][0]["InstanceId"]
    ec2.terminate_instances(InstanceIds=[instance])

    refused = refusal(ec2.start_instances, InstanceIds=[instance])

    assert refused.code == "IncorrectInstanceState"


def test_the_template_says_what_a_shutdown_from_within_does(ec2: Any, name: str) -> None:
    data = {"ImageId": IMAGE, "InstanceInitiatedShutdownBehavior": "terminate"}
    ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data)

    [instance] = ec2.run_instances(
        LaunchTemplate={"LaunchTemplateName": name}, MinCount=1, MaxCount=1
    )["Instances"]

    found = ec2.describe_instance_attribute(
        InstanceId=instance["InstanceId"], Attribute="instanceInitiatedShutdownBehavior"
    )
    assert found["InstanceInitiatedShutdownBehavior"]["Value"] == "terminate"


def test_a_launch_does_not_mind_what_is_made_meanwhile(
    ec2: Any, launch: dict[str, Any], subnet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ec2.run_instances(**launch)
    made: list[Any] = []

    def while_others_launch(instance: Any) -> str:
        """Return the state of an instance, at which the next launch looks."""
        if not made:
            made.append(ec2.create_network_interface(SubnetId=subnet))
        return str(instance._state.name)

    monkeypatch.setattr(Instance, "state", property(while_others_launch))
    launched = ec2.run_instances(**launch)["Instances"]

    assert len(launched) == len(made) == 1
