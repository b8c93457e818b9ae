"""EfaLaunchTemplate in a template."""

from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Match, Template

from trainshed import catalogue
from trainshed.interfaces import InterfaceKind, InterfaceProfile, NetworkInterface, plan_interfaces
from trainshed.plan import CapacityKind, CapacityPlan, RootVolumePlan, ScratchVolumes
from trainshed.spec import VolumeType
from trainshed_constructs import ConstructError, EfaLaunchTemplate

ROOT = RootVolumePlan(gib=200, throughput=1000, iops=4000)
ON_DEMAND = CapacityPlan(kind=CapacityKind.ON_DEMAND)
RESERVATION = "cr-0123456789abcdef0"
PEERS, OTHERS = "sg-00000000000000001", "sg-00000000000000002"

Slot = tuple[int, int, str]


def group(scope: cdk.Stack, group_id: str) -> ec2.ISecurityGroup:
    return ec2.SecurityGroup.from_security_group_id(scope, group_id, group_id)


def row(card: int, device: int, kind: InterfaceKind = InterfaceKind.EFA) -> NetworkInterface:
    return NetworkInterface(card=card, device=device, kind=kind, reason="a test")


def slots(rows: Sequence[NetworkInterface]) -> tuple[Slot, ...]:
    return tuple((row.card, row.device, row.kind.value) for row in rows)


def build(scope: cdk.Stack, **changes: Any) -> EfaLaunchTemplate:
    given = {
        "interfaces": [row(0, 0), row(1, 1, InterfaceKind.EFA_ONLY)],
        "root_device": "/dev/xvda",
        "root_volume": ROOT,
        "capacity": ON_DEMAND,
        **changes,
    }
    if "security_groups" not in given:
        given["security_groups"] = [group(scope, PEERS)]
    return EfaLaunchTemplate(scope, "Node", **given)


def data(**changes: Any) -> dict[str, Any]:
    """The LaunchTemplateData of a template built with changes."""
    stack = cdk.Stack()
    build(stack, **changes)
    [found] = Template.from_stack(stack).find_resources("AWS::EC2::LaunchTemplate").values()
    properties: dict[str, Any] = found["Properties"]["LaunchTemplateData"]
    return properties


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    return data()


@pytest.fixture(scope="module")
def layouts() -> dict[str, tuple[NetworkInterface, ...]]:
    """Every layout that a type of the catalogue gets from a profile, once, by where it is from."""
    distinct: dict[tuple[Slot, ...], tuple[str, tuple[NetworkInterface, ...]]] = {}
    for instance in map(catalogue.lookup, catalogue.all_types()):
        for profile in InterfaceProfile:
            rows = plan_interfaces(instance, profile)
            name = f"{instance.name} {profile}".replace(".", "-")
            distinct.setdefault(slots(rows), (name, rows))
    return dict(distinct.values())


@pytest.fixture(scope="module")
def by_layout(
    layouts: Mapping[str, tuple[NetworkInterface, ...]],
) -> dict[str, list[dict[str, Any]]]:
    """The interfaces in the template, by layout."""
    stack = cdk.Stack(cdk.App(), "Stack")
    peers = group(stack, PEERS)
    others = group(stack, OTHERS)
    for name, rows in layouts.items():
        EfaLaunchTemplate(
            stack,
            name,
            interfaces=rows,
            security_groups=[peers],
            primary_security_groups=[others],
            root_device="/dev/xvda",
            root_volume=ROOT,
            capacity=ON_DEMAND,
        )
    found = Template.from_stack(stack).find_resources("AWS::EC2::LaunchTemplate")
    return {
        launch_name(template): template["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]
        for template in found.values()
    }


def launch_name(template: Mapping[str, Any]) -> str:
    [tags] = [entry["Tags"] for entry in template["Properties"]["TagSpecifications"]]
    [path] = [tag["Value"] for tag in tags if tag["Key"] == "Name"]
    name: str = path.removeprefix("Stack/")
    return name


def test_every_layout_of_the_catalogue_reaches_the_template(
    layouts: Mapping[str, tuple[NetworkInterface, ...]],
    by_layout: Mapping[str, list[dict[str, Any]]],
) -> None:
    assert len(layouts) > 10
    assert {name: slots(rows) for name, rows in layouts.items()} == {
        name: tuple(
            (entry["NetworkCardIndex"], entry["DeviceIndex"], entry["InterfaceType"])
            for entry in entries
        )
        for name, entries in by_layout.items()
    }


def test_every_interface_is_in_the_groups_and_only_the_primary_in_more(
    by_layout: Mapping[str, list[dict[str, Any]]],
) -> None:
    for primary, *rest in by_layout.values():
        assert primary["Groups"] == [PEERS, OTHERS]
        assert all(entry["Groups"] == [PEERS] for entry in rest)


def test_an_interface_alone_refuses_the_public_address_that_a_subnet_may_give(
    by_layout: Mapping[str, list[dict[str, Any]]],
) -> None:
    alone = [entries[0] for entries in by_layout.values() if len(entries) == 1]

    assert alone
    assert all(entry["AssociatePublicIpAddress"] is False for entry in alone)


def test_of_several_interfaces_none_says_anything_of_public_addresses_or_subnets(
    by_layout: Mapping[str, list[dict[str, Any]]],
) -> None:
    several = [entries for entries in by_layout.values() if len(entries) > 1]

    said = {key for entries in several for entry in entries for key in entry}

    assert said == {
        "NetworkCardIndex",
        "DeviceIndex",
        "InterfaceType",
        "Groups",
        "DeleteOnTermination",
    }


def test_interfaces_go_with_their_node(by_layout: Mapping[str, list[dict[str, Any]]]) -> None:
    assert all(
        entry["DeleteOnTermination"] is True for entries in by_layout.values() for entry in entries
    )


def test_groups_are_on_the_interfaces_and_not_beside_them(plain: dict[str, Any]) -> None:
    assert not {"SecurityGroupIds", "SecurityGroups"} & plain.keys()


def test_metadata_is_imdsv2_only_and_out_of_reach_of_containers(plain: dict[str, Any]) -> None:
    assert plain["MetadataOptions"] == {
        "HttpEndpoint": "enabled",
        "HttpTokens": "required",
        "HttpPutResponseHopLimit": 1,
        "InstanceMetadataTags": "disabled",
    }


def test_a_node_that_powers_itself_off_is_terminated(plain: dict[str, Any]) -> None:
    assert plain["InstanceInitiatedShutdownBehavior"] == "terminate"


def test_the_root_volume_has_the_device_name_of_the_image() -> None:
    [mapping] = data(root_device="/dev/sda1")["BlockDeviceMappings"]

    assert mapping["DeviceName"] == "/dev/sda1"


def test_the_root_volume_is_encrypted_gp3_of_the_given_size(plain: dict[str, Any]) -> None:
    assert plain["BlockDeviceMappings"] == [
        {
            "DeviceName": "/dev/xvda",
            "Ebs": {
                "VolumeSize": 200,
                "VolumeType": "gp3",
                "Throughput": 1000,
                "Iops": 4000,
                "Encrypted": True,
                "DeleteOnTermination": True,
            },
        }
    ]


def test_the_speed_that_each_volume_has_is_left_out() -> None:
    own = RootVolumePlan(gib=200, throughput=125, iops=3000)

    [mapping] = data(root_volume=own)["BlockDeviceMappings"]

    assert mapping["Ebs"].keys() == {
        *("VolumeSize", "VolumeType", "Encrypted", "DeleteOnTermination")
    }


@pytest.mark.parametrize(
    ("volumes", "mappings"),
    [
        pytest.param(
            {"type": VolumeType.GP3, "count": 2, "gib": 500, "iops": 7000, "throughput": 1750},
            {
                device: {"VolumeSize": 500, "VolumeType": "gp3", "Iops": 7000, "Throughput": 1750}
                for device in ("/dev/sdf", "/dev/sdg")
            },
            id="gp3",
        ),
        pytest.param(
            {"type": VolumeType.GP3, "count": 1, "gib": 500, "iops": 3000, "throughput": 125},
            {"/dev/sdf": {"VolumeSize": 500, "VolumeType": "gp3"}},
            id="what-gp3-has",
        ),
        pytest.param(
            {"type": VolumeType.IO2, "count": 1, "gib": 500, "iops": 3000, "throughput": 768},
            {"/dev/sdf": {"VolumeSize": 500, "VolumeType": "io2", "Iops": 3000}},
            id="io2",
        ),
    ],
)
def test_scratch_volumes_are_encrypted_and_go_with_the_node(
    volumes: dict[str, Any], mappings: dict[str, Any]
) -> None:
    key = "arn:aws:kms:us-west-2:123456789012:key/0a1b2c3d-4e5f-6789-abcd-ef0123456789"

    _, *made = data(scratch_volumes=ScratchVolumes(**volumes), kms_key_arn=key)[
        "BlockDeviceMappings"
    ]

    own = {"Encrypted": True, "KmsKeyId": key, "DeleteOnTermination": True}
    assert {each["DeviceName"]: each["Ebs"] for each in made} == {
        device: {**ebs, **own} for device, ebs in mappings.items()
    }


def test_what_was_not_given_is_left_to_whoever_launches(plain: dict[str, Any]) -> None:
    absent = {
        "ImageId",
        "InstanceType",
        "UserData",
        "InstanceMarketOptions",
        "CapacityReservationSpecification",
    }
    assert not absent & plain.keys()


def test_image_and_type_reach_the_template() -> None:
    found = data(image_id="ami-0123456789abcdef0", instance_type="p4d.24xlarge")

    assert (found["ImageId"], found["InstanceType"]) == ("ami-0123456789abcdef0", "p4d.24xlarge")


def test_user_data_is_base64_of_mime_parts() -> None:
    user_data = ec2.MultipartUserData()
    user_data.add_part(ec2.MultipartBody.from_user_data(ec2.UserData.custom("#!/bin/bash\ntrue")))

    _, [head, part, _] = data(user_data=user_data)["UserData"]["Fn::Base64"]["Fn::Join"]

    assert head.startswith("Content-Type: multipart/mixed; boundary=")
    assert part == {"Fn::Base64": "#!/bin/bash\ntrue"}


def test_a_reservation_is_targeted() -> None:
    found = data(capacity=CapacityPlan(kind=CapacityKind.RESERVATION, reservation_id=RESERVATION))

    assert found["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": RESERVATION}
    }
    assert "InstanceMarketOptions" not in found


def test_a_capacity_block_is_targeted_and_is_a_market_of_its_own() -> None:
    found = data(
        capacity=CapacityPlan(kind=CapacityKind.CAPACITY_BLOCK, reservation_id=RESERVATION)
    )

    assert found["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": RESERVATION}
    }
    assert found["InstanceMarketOptions"] == {"MarketType": "capacity-block"}


def test_spot_is_asked_for_once_since_the_group_asks_again() -> None:
    found = data(capacity=CapacityPlan(kind=CapacityKind.SPOT, max_price=12.3456))

    assert found["InstanceMarketOptions"] == {
        "MarketType": "spot",
        "SpotOptions": {"MaxPrice": "12.3456", "SpotInstanceType": "one-time"},
    }
    assert "CapacityReservationSpecification" not in found


def test_without_a_price_spot_costs_at_most_what_ec2_takes_by_default() -> None:
    found = data(capacity=CapacityPlan(kind=CapacityKind.SPOT))

    assert found["InstanceMarketOptions"]["SpotOptions"] == {"SpotInstanceType": "one-time"}


def test_the_template_of_a_managed_group_does_not_ask_for_spot() -> None:
    found = data(capacity=CapacityPlan(kind=CapacityKind.SPOT), managed_group=True)

    assert "InstanceMarketOptions" not in found


def test_a_group_of_capacity_blocks_is_targeted() -> None:
    group = "arn:aws:resource-groups:us-west-2:123456789012:group/Blocks"

    found = data(capacity=CapacityPlan(kind=CapacityKind.CAPACITY_BLOCK, reservation_group=group))

    assert found["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": group}
    }
    assert found["InstanceMarketOptions"] == {"MarketType": "capacity-block"}


def test_tags_of_the_app_reach_what_is_launched() -> None:
    stack = cdk.Stack(cdk.App(), "Stack")
    build(stack)
    cdk.Tags.of(stack).add("trainshed:cluster", "train")

    template = Template.from_stack(stack)

    tags = [
        {"Key": "Name", "Value": "Stack/Node"},
        {"Key": "trainshed:cluster", "Value": "train"},
    ]
    launched = ("instance", "volume", "network-interface")
    template.has_resource_properties(
        "AWS::EC2::LaunchTemplate",
        {
            "LaunchTemplateData": {
                "TagSpecifications": [
                    {"ResourceType": kind, "Tags": Match.array_with(tags)} for kind in launched
                ]
            },
            "TagSpecifications": [
                {"ResourceType": "launch-template", "Tags": Match.array_with(tags)}
            ],
        },
    )


def test_the_latest_version_is_a_number_that_moves_with_the_template() -> None:
    stack = cdk.Stack()

    node = build(stack)

    [name] = Template.from_stack(stack).find_resources("AWS::EC2::LaunchTemplate")
    assert stack.resolve(node.launch_template_id) == {"Ref": name}
    assert stack.resolve(node.latest_version) == {"Fn::GetAtt": [name, "LatestVersionNumber"]}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        pytest.param([], "no interface is the primary one", id="none"),
        pytest.param([row(0, 1), row(1, 0)], "no interface is the primary one", id="no-primary"),
        pytest.param(
            [row(0, 0, InterfaceKind.EFA_ONLY)], "primary interface is efa-only", id="no-address"
        ),
        pytest.param(
            [row(0, 0), row(0, 0, InterfaceKind.INTERFACE)],
            "2 interfaces are on card 0, device 0",
            id="two-primaries",
        ),
        pytest.param(
            [row(0, 0), row(3, 1), row(3, 1)], "2 interfaces are on card 3, device 1", id="slot"
        ),
    ],
)
def test_interfaces_that_ec2_refuses_are_refused(
    rows: list[NetworkInterface], message: str
) -> None:
    with pytest.raises(ConstructError, match=message):
        build(cdk.Stack(), interfaces=rows)


def test_an_interface_without_a_group_is_refused() -> None:
    with pytest.raises(ConstructError, match="security_groups is empty"):
        build(cdk.Stack(), security_groups=[])


def test_five_groups_on_the_primary_are_taken_and_six_refused() -> None:
    stack = cdk.Stack()
    groups = [group(stack, f"sg-0000000000000000{number}") for number in range(6)]
    split = {"security_groups": groups[:2], "primary_security_groups": groups[2:5]}

    build(stack, **split)

    with pytest.raises(ConstructError, match="has 6 security groups"):
        build(cdk.Stack(), **split | {"primary_security_groups": groups[2:]})


@pytest.mark.parametrize(
    "capacity",
    [
        pytest.param(CapacityPlan(kind=CapacityKind.CAPACITY_BLOCK), id="block-without-id"),
        pytest.param(CapacityPlan(kind=CapacityKind.RESERVATION), id="reservation-without-id"),
        pytest.param(
            CapacityPlan(kind=CapacityKind.ON_DEMAND, reservation_id=RESERVATION),
            id="on-demand-with-id",
        ),
    ],
)
def test_capacity_that_contradicts_itself_is_refused(capacity: CapacityPlan) -> None:
    with pytest.raises(ConstructError, match=f"capacity is {capacity.kind} with the target"):
        build(cdk.Stack(), capacity=capacity)


def test_every_problem_is_reported_at_once_with_the_place() -> None:
    with pytest.raises(ConstructError) as refused:
        build(cdk.Stack(cdk.App(), "Stack"), interfaces=[], security_groups=[])

    assert str(refused.value) == (
        "Stack/Node: no interface is the primary one; put one on card 0, device 0; "
        "security_groups is empty, so that interfaces would be in the VPC's default group; give "
        "the group of an EfaSecurityGroup"
    )
