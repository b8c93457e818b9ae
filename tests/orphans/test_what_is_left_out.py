"""`trainshed orphans` lists no more than what is left, and what of it is billed."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from trainshed.aws import Region
from trainshed.orphans.search import find_orphans
from trainshed.prices import load_prices

Launch = Callable[..., str]
RESERVATION = {
    "InstanceType": "trn1.32xlarge",
    "InstancePlatform": "Linux/UNIX",
    "AvailabilityZone": "us-west-2d",
    "InstanceCount": 2,
}


def tagged(kind: str, **tags: str) -> list[dict[str, Any]]:
    """Return tags of a new resource; two underscores are a colon."""
    named = {"trainshed:cluster": "GoneCluster"} | {
        key.replace("__", ":").replace("_", "-"): value for key, value in tags.items()
    }
    return [
        {
            "ResourceType": kind,
            "Tags": [{"Key": key, "Value": value} for key, value in named.items()],
        }
    ]


@pytest.fixture
def launch(project: Any) -> Launch:
    """Launch a node of a cluster that is gone, with further tags; return its id."""
    ec2 = project.aws.client("ec2")
    [image] = ec2.describe_images(Owners=["self"])["Images"]
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]

    def run(**tags: str) -> str:
        launched = ec2.run_instances(
            ImageId=image["ImageId"],
            InstanceType="m6i.large",
            MinCount=1,
            MaxCount=1,
            SubnetId=subnet,
            TagSpecifications=tagged("instance", **tags),
        )
        return str(launched["Instances"][0]["InstanceId"])

    return run


def test_nodes_of_a_group_and_those_that_have_ended_are_not_listed(
    project: Any, launch: Launch
) -> None:
    ec2 = project.aws.client("ec2")
    left, ended = launch(), launch()
    ec2.terminate_instances(InstanceIds=[ended])
    launch(eks__nodegroup_name="nodes")

    found = project.orphans()["waste"]

    assert [each["name"] for each in found] == [left]


def test_a_stopped_instance_has_no_known_price(project: Any, launch: Launch) -> None:
    left = launch()
    [running] = project.orphans()["waste"]
    project.aws.client("ec2").stop_instances(InstanceIds=[left])

    [stopped] = project.orphans()["waste"]

    # At 0.096 USD an hour; then its volumes are billed, of which it does not say the size.
    assert (running["size"], running["usd_per_month"]) == ("m6i.large, running", 70.08)
    assert (stopped["size"], stopped["usd_per_month"]) == ("m6i.large, stopped", None)


def test_volumes_of_a_cluster_that_is_gone_unless_an_instance_has_them(
    project: Any, launch: Launch
) -> None:
    ec2 = project.aws.client("ec2")
    node = launch()
    zone = ec2.describe_instances(InstanceIds=[node])["Reservations"][0]["Instances"][0]
    volumes = [
        ec2.create_volume(
            AvailabilityZone=zone["Placement"]["AvailabilityZone"],
            Size=100,
            VolumeType="gp3",
            Throughput=225,
            Iops=3100,
            TagSpecifications=tagged("volume"),
        )["VolumeId"]
        for _ in range(2)
    ]
    ec2.attach_volume(Device="/dev/sdf", InstanceId=node, VolumeId=volumes[0])

    [found] = project.orphans()["kept"]

    assert (found["name"], found["why"]) == (volumes[1], "a node of GoneCluster had it")
    # 100 GiB at 0.08 USD, 100 MiB/s more than gp3 has at 0.04, and 100 IOPS more at 0.005.
    assert found["usd_per_month"] == 12.5


@pytest.mark.parametrize(
    ("tags", "running", "names"),
    [
        pytest.param(True, 0, 1, id="ours"),
        pytest.param(False, 0, 0, id="another-s"),
        pytest.param(True, 1, 0, id="used"),
    ],
)
def test_reservations_are_ours_by_their_tag_and_empty(
    project: Any, tags: bool, running: int, names: int
) -> None:
    ec2 = project.aws.client("ec2")
    asked = {**RESERVATION, "InstanceType": "m6i.large", "AvailabilityZone": "us-west-2a"}
    made = ec2.create_capacity_reservation(
        **asked,
        **({"TagSpecifications": tagged("capacity-reservation")} if tags else {}),
    )
    reservation = made["CapacityReservation"]["CapacityReservationId"]
    subnet = ec2.create_subnet(
        VpcId=ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"],
        CidrBlock="10.8.0.0/24",
        AvailabilityZone="us-west-2a",
    )["Subnet"]["SubnetId"]
    [image] = ec2.describe_images(Owners=["self"])["Images"]
    for _ in range(running):
        ec2.run_instances(
            ImageId=image["ImageId"],
            InstanceType="m6i.large",
            MinCount=1,
            MaxCount=1,
            SubnetId=subnet,
            CapacityReservationSpecification={
                "CapacityReservationTarget": {"CapacityReservationId": reservation}
            },
        )

    found = project.orphans()["waste"]

    assert len(found) == names
    # Two at 0.096 USD an hour.
    assert [each["usd_per_month"] for each in found] == [140.16] * names


@pytest.mark.parametrize(
    ("cluster", "owner", "names"),
    [
        pytest.param("GoneCluster", None, 1, id="ours"),
        pytest.param("GoneCluster", "210987654321", 0, id="of-another-account"),
        pytest.param("TrainCluster", None, 0, id="of-a-deployed-cluster"),
    ],
)
def test_reservations_of_deployed_clusters_and_other_accounts_are_not_listed(
    project: Any, cluster: str, owner: str | None, names: int
) -> None:
    topic = {"Type": "AWS::SNS::Topic"}
    project.aws.client("cloudformation").create_stack(
        StackName="TrainCluster", TemplateBody=json.dumps({"Resources": {"Topic": topic}})
    )
    ec2 = project.aws.client("ec2")
    tags = tagged("capacity-reservation", trainshed__cluster=cluster)
    ec2.create_capacity_reservation(**RESERVATION, TagSpecifications=tags)

    def client(service: str) -> Any:
        made = project.aws.client(service)
        made.meta.events.register("after-call.ec2.DescribeCapacityReservations", shared)
        return made

    def shared(parsed: Any, **_: Any) -> None:
        for each in parsed["CapacityReservations"]:
            each["OwnerId"] = owner or each["OwnerId"]

    region = Region("us-west-2", client=client)
    found, _ = find_orphans(region, (), load_prices("us-west-2"), now=datetime.now(UTC))

    assert [each.billed.what for each in found] == ["Capacity Reservation"] * names


@pytest.mark.parametrize(("hours", "names"), [(35, 0), (37, 1)])
def test_a_build_that_may_still_run_and_what_it_made_are_left_alone(
    project: Any, hours: int, names: int
) -> None:
    began = datetime.now(UTC) - timedelta(hours=hours)
    project.aws.client("ec2").create_key_pair(
        KeyName="packer_1",
        TagSpecifications=[
            {
                "ResourceType": "key-pair",
                "Tags": [
                    {"Key": "trainshed:role", "Value": "ami-builder"},
                    {"Key": "trainshed:build", "Value": f"{began:%Y%m%dT%H%M%SZ}"},
                ],
            }
        ],
    )

    assert len(project.orphans()["waste"]) == names


def test_parts_of_a_network_with_their_prices(project: Any) -> None:
    ec2 = project.aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16", TagSpecifications=tagged("vpc"))["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    gateway = ec2.create_internet_gateway(TagSpecifications=tagged("internet-gateway"))
    name = gateway["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=name, VpcId=vpc)
    for kind, subnets in (("Interface", [subnet]), ("Gateway", [])):
        ec2.create_vpc_endpoint(
            VpcEndpointType=kind,
            VpcId=vpc,
            ServiceName=f"com.amazonaws.us-west-2.{'s3' if kind == 'Gateway' else 'ssm'}",
            TagSpecifications=tagged("vpc-endpoint"),
            **({"SubnetIds": subnets} if subnets else {}),
        )
    ec2.allocate_address(Domain="vpc", TagSpecifications=tagged("elastic-ip"))

    found = project.orphans()["waste"]

    assert [(each["what"], each["usd_per_month"]) for each in found] == [
        # 0.005 and 0.01 USD an hour.
        ("Elastic IP", 3.65),
        ("VPC endpoint", 7.3),
        ("VPC endpoint", 0),
        ("internet gateway", 0),
        ("VPC", 0),
    ]
    for each in found:
        assert each["why"] == "made for GoneCluster"
        if each["what"] != "VPC":
            project.run(each["command"])
    assert [each["what"] for each in project.orphans()["waste"]] == ["VPC"]
