"""Each rule over an account: a case in which it finds something, and the nearest in which not.

The cluster of `account` is fine; `network` has an existing network for it.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from preflight_account import NOT_TRIED, REGION, TRN_QUOTA, ZONE, Account, answering, only, rules

from embedded_aws.faults import Fault
from trainshed.catalogue import lookup
from trainshed.findings import Finding, Severity
from trainshed.findings.rule import all_rules, checks_of
from trainshed.preflight import ask_account, judge_with_account

SPOT_NODES = {"type": "trn1.32xlarge", "nodes": {"max": 4}}
ONE_NODE = {"type": "trn1.32xlarge"}


def test_nothing_is_found_in_an_account_that_has_everything(account: Account) -> None:
    found = account.ask()

    assert rules(found) == []
    assert [finding.severity for finding in found] == [Severity.INFO]
    assert "not deployed" in found[0].message


def test_nothing_is_found_in_an_existing_network_that_has_everything(network: Account) -> None:
    assert rules(network.ask(network=network.network)) == []


def test_credentials_of_another_account(account: Account) -> None:
    found = only(account.ask(account="999999999999"))

    assert found.rule == "TS-ACC-003"
    assert "account 999999999999" in found.message and "of 123456789012" in found.message
    assert rules(account.ask(account="123456789012")) == []


def test_a_zone_without_the_type(account: Account) -> None:
    found = [each for each in account.ask(zone="us-west-2c") if each.rule == "TS-ACC-010"]

    assert "us-west-2c does not offer trn1.32xlarge" in found[0].message
    assert "it is in us-west-2b, us-west-2d" in found[0].message
    assert found[0].place and found[0].place.field == "zone"
    assert rules(account.ask(zone="us-west-2d")) == []


def test_another_type_that_the_zone_does_not_offer(account: Account) -> None:
    types = ["p4d.24xlarge", "p4de.24xlarge"]
    fields = {
        "image": None,
        "orchestrator": "ec2",
        "instance": {"type": types[0], "nodes": {"max": 4}, "ami": account.ids["ami"]},
        "capacity": {"instance_types": types},
    }

    def found(zone: str) -> list[Finding]:
        return [each for each in account.ask(**fields, zone=zone) if each.rule == "TS-ACC-010"]

    # Of these zones only the first has both, which no cluster file can know by their names.
    [lacking] = found("us-west-2d")
    assert found("us-west-2a") == []
    assert lacking.severity is Severity.WARNING
    assert "us-west-2d does not offer p4de.24xlarge to this account; it is in" in lacking.message
    assert lacking.remedy == "take p4de.24xlarge out of capacity.instance_types"


def test_a_quota_that_is_too_small(account: Account) -> None:
    found = only(account.ask(instance={"type": "trn1.32xlarge", "nodes": {"max": 5}}))

    assert found.rule == "TS-ACC-020"
    assert "5 nodes of trn1.32xlarge need 640 vCPUs" in found.message
    assert "is 512" in found.message
    assert found.remedy == (
        "aws service-quotas request-service-quota-increase --service-code ec2 --quota-code "
        f"{TRN_QUOTA} --desired-value 640 --region us-west-2"
    )
    assert found.place and found.place.field == "instance.nodes.max"


def on_spot(
    account: Account, now: datetime | None = None, zone: str = ZONE, **options: float
) -> dict[str, Finding]:
    """What is found of a cluster on Spot, by rule."""
    fields = {"image": None, "orchestrator": "ec2", "instance": SPOT_NODES}
    found = account.ask(**fields, zone=zone, capacity={"spot": options}, now=now)
    return {finding.rule: finding for finding in found}


def test_a_cluster_on_spot_counts_against_the_quota_of_spot(account: Account) -> None:
    quota = lookup("trn1.32xlarge").spot_quota
    few = on_spot(account)["TS-ACC-020"]

    account.aws.grant_quota(quota.code, 4 * 128)

    assert "the account's quota 'All Trn Spot Instance Requests' (L-6B0D517C) is 0" in few.message
    assert "TS-ACC-020" not in on_spot(account)


def test_the_price_of_spot_is_compared_with_the_highest_that_a_node_may_cost(
    account: Account,
) -> None:
    account.aws.set_spot_price("trn1.32xlarge", 3.70)

    plain, above, below = (
        found["TS-ACC-036"]
        for found in (
            on_spot(account),
            on_spot(account, max_price=3.71),
            on_spot(account, max_price=3.69),
        )
    )

    assert "on Spot in usw2-az4 costs 3.7 USD an hour, and in the last 30 days" in plain.message
    assert "4 nodes cost 14.80 USD an hour now" in plain.remedy
    assert plain.severity is Severity.INFO
    # The shipped range of prices is 3.68 to 3.72.
    assert (above.severity, below.severity) == (Severity.WARNING, Severity.ERROR)
    assert "; capacity.spot.max_price is 3.71" in above.message


def test_prices_of_other_zones_do_not_count(account: Account) -> None:
    now, quotes = datetime.now(UTC), [("us-west-2d", 3.5), ("us-west-2d", 3.7), ("us-west-2a", 9.0)]

    def answered(answer: dict[str, Any]) -> None:
        answer["SpotPriceHistory"] = [
            {
                "InstanceType": "trn1.32xlarge",
                "AvailabilityZone": zone,
                "AvailabilityZoneId": ZONE if zone == "us-west-2d" else "usw2-az1",
                "SpotPrice": f"{price}",
                "Timestamp": now - timedelta(days=days),
            }
            for days, (zone, price) in enumerate(quotes)
        ]

    with answering(account, "ec2", "DescribeSpotPriceHistory", answered):
        found = on_spot(account)["TS-ACC-036"]

    assert "costs 3.5 USD an hour, and in the last 30 days cost 3.5 to 3.7" in found.message


def test_prices_of_former_months_do_not_count(account: Account) -> None:
    account.aws.set_spot_price("trn1.32xlarge", 3.70)

    later = on_spot(account, now=datetime.now(UTC) + timedelta(days=40))["TS-ACC-036"]

    assert "in the last 30 days cost 3.7 to 3.7" in later.message


def test_a_zone_without_a_price_of_spot_is_pointed_out(account: Account) -> None:
    def answered(answer: dict[str, Any]) -> None:
        answer["SpotPriceHistory"].clear()

    with answering(account, "ec2", "DescribeSpotPriceHistory", answered):
        found = on_spot(account)["TS-ACC-036"]

    assert found.severity is Severity.WARNING
    assert "EC2 has no price of trn1.32xlarge on Spot in usw2-az4" in found.message


def test_the_price_of_each_type_is_shown(account: Account) -> None:
    types = ["g6e.8xlarge", "g6.8xlarge"]
    account.aws.set_spot_price(types[0], 2.5)
    account.aws.set_spot_price(types[1], 0.9)

    found = account.ask(instance={"type": types[0]}, capacity={"spot": {}, "instance_types": types})

    prices = [each for each in found if each.rule == "TS-ACC-036"]
    assert [each.message.partition(" USD an hour, and")[0] for each in prices] == [
        "g6e.8xlarge on Spot in usw2-az4 costs 2.5",
        "g6.8xlarge on Spot in usw2-az4 costs 0.9",
    ]
    # Each with its own range.
    assert " to 2.5" in prices[0].message
    assert " to 2.5" not in prices[1].message


def test_the_placement_score_is_that_of_all_types(account: Account) -> None:
    types = ["g6e.8xlarge", "g6.8xlarge"]
    ec2 = account.aws.client("ec2")
    asked = {"TargetCapacity": 2, "SingleAvailabilityZone": True, "RegionNames": ["us-west-2"]}
    scores = {
        each["AvailabilityZoneId"]: each["Score"]
        for each in ec2.get_spot_placement_scores(InstanceTypes=types, **asked)[
            "SpotPlacementScores"
        ]
    }

    found = account.ask(
        orchestrator="ec2",
        instance={"type": types[0], "nodes": {"max": 2}},
        capacity={"spot": {}, "instance_types": types},
        image=None,
    )

    [score] = [each for each in found if each.rule == "TS-ACC-037"]
    said = f"2 x g6e.8xlarge or g6.8xlarge in usw2-az4 is {scores['usw2-az4']}"
    assert said in score.message


def test_a_zone_with_a_higher_placement_score_is_named(account: Account) -> None:
    ec2 = account.aws.client("ec2")
    scores = {
        each["AvailabilityZoneId"]: each["Score"]
        for each in ec2.get_spot_placement_scores(
            InstanceTypes=["trn1.32xlarge"], TargetCapacity=4, SingleAvailabilityZone=True
        )["SpotPlacementScores"]
    }

    found, of_a_name = (on_spot(account, zone=zone)["TS-ACC-037"] for zone in (ZONE, "us-west-2d"))

    assert f"in us-west-2d is {scores['usw2-az4']}" in of_a_name.message
    assert f"4 x trn1.32xlarge in usw2-az4 is {scores['usw2-az4']}" in found.message
    better = max(scores.values()) > scores["usw2-az4"]
    assert found.severity is (Severity.WARNING if better else Severity.INFO)
    assert ("set zone to" in found.remedy) is better


@pytest.mark.parametrize(
    ("name", "instance_type", "expected"),
    [
        pytest.param("Other", "trn1.2xlarge", ["TS-ACC-020"], id="of the family"),
        pytest.param("TrainCluster", "trn1.2xlarge", [], id="the cluster's own"),
        pytest.param("Other", "m5.large", [], id="of another family"),
    ],
)
def test_what_runs_already_counts(
    network: Account, name: str, instance_type: str, expected: list[str]
) -> None:
    network.aws.client("ec2").run_instances(
        ImageId=network.ids["ami"],
        InstanceType=instance_type,
        MinCount=1,
        MaxCount=1,
        SubnetId=network.ids["public"],
        TagSpecifications=[
            {
                "ResourceType": "instance",
                "Tags": [{"Key": "trainshed:cluster", "Value": name}],
            }
        ],
    )

    found = network.ask()

    assert rules(found) == expected
    if expected:
        assert "need 512 vCPUs, and 8 run already" in only(found).message
        assert "--desired-value 520" in only(found).remedy


@pytest.mark.parametrize(
    ("rule", "service", "code", "name"),
    [
        ("TS-ACC-021", "vpc", "L-F678F1CE", "VPCs per Region"),
        ("TS-ACC-028", "ec2", "L-0263D0A3", "EC2-VPC Elastic IPs"),
        ("TS-ACC-029", "vpc", "L-FE5A380F", "NAT gateways per Availability Zone"),
    ],
)
def test_a_new_network_needs_quotas_of_its_own(
    network: Account, rule: str, service: str, code: str, name: str
) -> None:
    network.aws.grant_quota(code, 1, service=service)

    found = only(network.ask())

    assert found.rule == rule
    assert f"1 of the quota {name!r} ({code}), which is 1, are used" in found.message
    assert "--desired-value 2" in found.remedy
    assert rules(network.ask(network=network.network)) == []


def test_nat_gateways_of_other_zones_do_not_count(network: Account) -> None:
    network.aws.grant_quota("L-FE5A380F", 1, service="vpc")

    assert rules(network.ask(zone="usw2-az1")) == []


def test_a_subnet_that_is_not_there(network: Account) -> None:
    missing = {**network.network, "subnet": "subnet-0123456789abcdef0"}

    assert rules(network.ask(network=missing))[0] == "TS-ACC-022"


def test_a_subnet_of_another_vpc_and_zone(network: Account) -> None:
    ec2 = network.aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    other = ec2.create_subnet(VpcId=vpc, CidrBlock="10.60.0.0/24", AvailabilityZoneId="usw2-az1")

    found = network.ask(network={**network.network, "subnet": other["Subnet"]["SubnetId"]})

    messages = [each.message for each in found if each.rule == "TS-ACC-022"]
    assert [vpc in message for message in messages] == [True, False]
    assert f"is in usw2-az1, and the cluster is in {ZONE}" in messages[1]


def test_a_subnet_with_too_few_addresses(network: Account) -> None:
    network.aws.grant_quota(TRN_QUOTA, 5000)
    # 64 less AWS's 5 are 59; a node takes one, and its job another.
    fits, not_fits = (
        network.ask(
            network=network.network, instance={"type": "trn1.32xlarge", "nodes": {"max": nodes}}
        )
        for nodes in (29, 30)
    )

    assert rules(fits) == []
    assert only(not_fits).rule == "TS-ACC-023"
    assert "has 59 free addresses; 30 nodes x 2 need 60 more" in only(not_fits).message


def test_nodes_that_run_have_their_addresses(network: Account) -> None:
    network.aws.grant_quota(TRN_QUOTA, 5000)
    network.aws.client("ec2").run_instances(
        ImageId=network.ids["ami"],
        InstanceType="trn1.32xlarge",
        MinCount=2,
        MaxCount=2,
        SubnetId=network.ids["subnet"],
        TagSpecifications=[
            {
                "ResourceType": "instance",
                "Tags": [{"Key": "trainshed:cluster", "Value": "TrainCluster"}],
            }
        ],
    )

    nodes = {"type": "trn1.32xlarge", "nodes": {"max": 29}}

    assert rules(network.ask(network=network.network, instance=nodes)) == []


def test_a_deployed_file_system_has_its_addresses(network: Account) -> None:
    network.aws.grant_quota(TRN_QUOTA, 5000)
    fields: dict[str, Any] = {
        "network": network.network,
        "instance": {"type": "trn1.32xlarge", "nodes": {"max": 27}},
        "storage": {"lustre": {"capacity_gib": 4800}},
    }
    lustre = network.plan(**fields).lustre
    assert lustre
    new = {
        "Type": "AWS::FSx::FileSystem",
        "Properties": {
            "FileSystemType": "LUSTRE",
            "StorageCapacity": 4800,
            "SubnetIds": [network.ids["subnet"]],
            "LustreConfiguration": {"DeploymentType": "SCRATCH_2"},
        },
    }

    network.aws.deploy({"Resources": {"FileSystem": new}}, stack_name=lustre.stack_name)
    # 59 addresses less those of the file system.
    assert (
        network.aws.client("ec2").describe_subnets(SubnetIds=[network.ids["subnet"]])["Subnets"][0][
            "AvailableIpAddressCount"
        ]
        == 2 * 27
    )
    assert "TS-ACC-023" not in rules(network.ask(**fields))


def test_a_vpc_without_names(network: Account) -> None:
    network.aws.client("ec2").modify_vpc_attribute(
        VpcId=network.ids["vpc"], EnableDnsHostnames={"Value": False}
    )

    found = only(network.ask(network=network.network))

    assert found.rule == "TS-ACC-024"
    assert found.remedy.endswith(f"--vpc-id {network.ids['vpc']} --enable-dns-hostnames")


def test_a_subnet_without_a_way_out(network: Account) -> None:
    ec2 = network.aws.client("ec2")
    ec2.delete_route(RouteTableId=network.ids["table"], DestinationCidrBlock="0.0.0.0/0")

    found = only(network.ask(network=network.network))
    for name in ("ecr.api", "ecr.dkr", "ecs", "ecs-agent", "ecs-telemetry", "logs", "ssm"):
        ec2.create_vpc_endpoint(
            VpcId=network.ids["vpc"],
            ServiceName=f"com.amazonaws.{REGION}.{name}",
            VpcEndpointType="Interface",
            SubnetIds=[network.ids["subnet"]],
            PrivateDnsEnabled=True,
        )

    assert found.rule == "TS-ACC-025"
    assert "has no route out, and there are no endpoints for ecr.api, ecr.dkr, ecs," in (
        found.message
    )
    assert "s3" not in found.message
    assert rules(network.ask(network=network.network)) == []


def test_plain_ec2_needs_other_endpoints(network: Account) -> None:
    ec2 = network.aws.client("ec2")
    ec2.delete_route(RouteTableId=network.ids["table"], DestinationCidrBlock="0.0.0.0/0")

    [found] = [
        each
        for each in network.ask(network=network.network, orchestrator="ec2", image=None)
        if each.rule == "TS-ACC-025"
    ]

    assert "no endpoints for cloudformation, ec2, ec2messages, logs, ssm, ssmmessages" in (
        found.message
    )


def test_another_network_may_have_the_endpoints(network: Account) -> None:
    ec2 = network.aws.client("ec2")
    ec2.delete_route(RouteTableId=network.ids["table"], DestinationCidrBlock="0.0.0.0/0")
    gateway = ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
    ec2.create_route(
        RouteTableId=network.ids["table"],
        DestinationCidrBlock="10.0.0.0/8",
        TransitGatewayId=gateway,
    )

    assert rules(network.ask(network=network.network)) == []


def test_an_internet_gateway_is_no_way_out(network: Account) -> None:
    ec2 = network.aws.client("ec2")
    where = {"RouteTableId": network.ids["table"], "DestinationCidrBlock": "0.0.0.0/0"}
    ec2.delete_route(**where)
    ec2.create_route(**where, GatewayId=network.ids["gateway"])

    found = only(network.ask(network=network.network))

    assert found.rule == "TS-ACC-025"
    assert "an internet gateway, which needs public addresses" in found.message


def test_s3_through_nat(network: Account) -> None:
    ec2 = network.aws.client("ec2")
    [endpoint] = ec2.describe_vpc_endpoints()["VpcEndpoints"]
    ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint["VpcEndpointId"]])

    # Nodes use that of their own route table only.
    other = ec2.create_route_table(VpcId=network.ids["vpc"])["RouteTable"]["RouteTableId"]
    ec2.create_vpc_endpoint(
        VpcId=network.ids["vpc"],
        ServiceName=f"com.amazonaws.{REGION}.s3",
        RouteTableIds=[other],
    )

    found = only(network.ask(network=network.network))

    assert (found.rule, found.severity) == ("TS-ACC-026", Severity.INFO)
    assert network.ids["table"] in found.remedy


def test_a_default_group_without_its_rules(network: Account) -> None:
    ec2 = network.aws.client("ec2")
    filters = [
        {"Name": "vpc-id", "Values": [network.ids["vpc"]]},
        {"Name": "group-name", "Values": ["default"]},
    ]
    [group] = ec2.describe_security_groups(Filters=filters)["SecurityGroups"]
    own = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group["GroupId"]}]}]
    anywhere = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    ec2.revoke_security_group_ingress(GroupId=group["GroupId"], IpPermissions=own)
    ec2.revoke_security_group_egress(GroupId=group["GroupId"], IpPermissions=anywhere)

    bare = only(network.ask(network=network.network))
    one_on_spot = rules(
        network.ask(network=network.network, instance=ONE_NODE, capacity={"spot": {}})
    )
    named = {**network.network, "default_security_group": group["GroupId"]}
    fixed = rules(network.ask(network=named))
    inside = [
        {
            "IpProtocol": "tcp",
            "FromPort": 0,
            "ToPort": 65535,
            "IpRanges": [{"CidrIp": "10.50.0.0/16"}],
        }
    ]
    ec2.authorize_security_group_ingress(GroupId=group["GroupId"], IpPermissions=inside)
    ec2.authorize_security_group_egress(GroupId=group["GroupId"], IpPermissions=inside)
    by_range = rules(network.ask(network=network.network))
    wrong = {**network.network, "default_security_group": "sg-0123456789abcdef0"}

    assert bare.rule == "TS-ACC-027"
    assert bare.message.endswith(
        "has no rules for: all traffic from its members, all traffic to its members, "
        "TCP 443 to anywhere"
    )
    assert fixed == by_range == []
    assert "TS-ACC-027" not in one_on_spot
    assert "is not the default group" in only(network.ask(network=wrong)).message


def test_a_channel_that_is_not_there(account: Account) -> None:
    name = "/trainshed/ami/neuron/ecs/stable"
    account.aws.client("ssm").delete_parameter(Name=name)

    found = only(account.ask())

    assert found.rule == "TS-ACC-040"
    assert name in found.message and "trainshed ami build neuron ecs" in found.remedy


def test_a_version_of_a_channel(account: Account) -> None:
    def of(version: int) -> list[str]:
        ami = f"stable:{version}"
        return rules(
            account.ask(instance={"type": "trn1.32xlarge", "nodes": {"max": 4}, "ami": ami})
        )

    assert (of(1), of(2)) == ([], ["TS-ACC-040"])


def test_an_ami_that_is_gone(account: Account) -> None:
    account.aws.client("ec2").deregister_image(ImageId=account.ids["ami"])

    found = only(account.ask())

    assert found.rule == "TS-ACC-040"
    assert f"{account.ids['ami']}, which /trainshed/ami/neuron/ecs/stable holds," in found.message


def public_ami(account: Account, architecture: str, root_device: str) -> str:
    """Return one of AWS's or Canonical's AMIs."""
    filters = [
        {"Name": "architecture", "Values": [architecture]},
        {"Name": "root-device-name", "Values": [root_device]},
    ]
    found = account.aws.client("ec2").describe_images(Filters=filters)["Images"]
    return str(next(each["ImageId"] for each in found if "Tags" not in each or not each["Tags"]))


@pytest.mark.parametrize(
    ("architecture", "root_device", "rule", "message"),
    [
        ("arm64", "/dev/xvda", "TS-ACC-041", "is for arm64"),
        ("x86_64", "/dev/sda1", "TS-ACC-044", "is /dev/sda1"),
    ],
)
def test_an_ami_of_another_kind(
    account: Account, architecture: str, root_device: str, rule: str, message: str
) -> None:
    ami = public_ami(account, architecture, root_device)

    found = only(account.ask(instance={"type": "trn1.32xlarge", "nodes": {"max": 4}, "ami": ami}))

    assert found.rule == rule
    assert message in found.message


def test_an_ami_for_other_accelerators(account: Account, publish_ami: Callable[..., str]) -> None:
    other = publish_ami(account.aws, "nvidia/ecs")

    found = account.ask(instance={"type": "trn1.32xlarge", "nodes": {"max": 4}, "ami": other})

    messages = [each.message for each in found if each.rule == "TS-ACC-041"]
    assert any(
        "was baked for nvidia/ecs, and the nodes need neuron/ecs" in each for each in messages
    )


def test_an_ami_of_somebody_else_in_a_channel(account: Account) -> None:
    ami = public_ami(account, "x86_64", "/dev/xvda")
    account.aws.client("ssm").put_parameter(
        Name="/trainshed/ami/neuron/ecs/own", Value=ami, Type="String"
    )
    nodes = {"type": "trn1.32xlarge", "nodes": {"max": 4}}

    assert rules(account.ask(instance={**nodes, "ami": "own"})) == ["TS-ACC-042"]
    assert rules(account.ask(instance={**nodes, "ami": ami})) == []


def test_an_old_ami(account: Account) -> None:
    subject = account.subject()

    recent = account.ask(now=subject.now + timedelta(days=179))
    old = only(account.ask(now=subject.now + timedelta(days=181)))

    assert rules(recent) == []
    assert (old.rule, old.severity) == ("TS-ACC-043", Severity.INFO)


@pytest.fixture
def image(account: Account) -> dict[str, Any]:
    """The field `image` of a cluster whose image is in ECR; an index, which has no labels."""
    ecr = account.aws.client("ecr")
    ecr.create_repository(repositoryName="train")
    index = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [],
    }
    ecr.put_image(repositoryName="train", imageTag="v1", imageManifest=json.dumps(index))
    return {"repository": "train", "existing": True}


def test_an_image_that_is_there_without_labels(account: Account, image: dict[str, Any]) -> None:
    found = only(account.ask(image=image))

    assert found.rule == "TS-IMG-003"
    assert found.place and found.place.field == "image"


def test_an_image_that_is_not_there(account: Account, image: dict[str, Any]) -> None:
    found = only(account.ask(image={**image, "tag": "v2"}))
    digest = only(account.ask(image={**image, "digest": f"sha256:{'1' * 64}"}))
    uri = f"123456789012.dkr.ecr.{REGION}.amazonaws.com/train:v3"
    elsewhere = only(account.ask(image={"uri": uri}))

    assert {found.rule, digest.rule, elsewhere.rule} == {"TS-ACC-050"}
    assert "train:v2 is not in ECR" in found.message
    assert f"train:sha256:{'1' * 64} is not" in digest.message
    assert "train:v3 is not" in elsewhere.message


def test_an_image_that_ecr_cannot_give_now_is_not_missing(
    account: Account, image: dict[str, Any]
) -> None:
    subject = account.subject(image=image)
    known = subject.aws.call

    def call(service: str, operation: str, **params: Any) -> dict[str, Any]:
        if operation == "batch_get_image":
            return {"images": [], "failures": [{"failureCode": "UpstreamUnavailable"}]}
        return known(service, operation, **params)

    subject.aws.call = call  # type: ignore[method-assign]
    found = list(ask_account(subject).findings)

    assert set(rules(found)) == {"TS-ACC-002"}
    assert all("UpstreamUnavailable" in each.message for each in found if "050" in each.message)


def test_a_repository_that_is_not_there(account: Account) -> None:
    existing = only(account.ask(image={"repository": "lab", "existing": True}))
    to_come = only(account.ask(image={"repository": "lab"}))

    assert (existing.rule, existing.severity) == ("TS-ACC-050", Severity.ERROR)
    assert (to_come.rule, to_come.severity) == ("TS-ACC-051", Severity.INFO)
    assert "comes with the stack LabContainers" in to_come.message


def test_an_image_whose_drivers_do_not_fit(
    account: Account, image: dict[str, Any], tmp_path: Path
) -> None:
    labels = {"trainshed.accelerator": "nvidia"}
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"config": {"Labels": labels}}))
    manifest: dict[str, Any] = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": {"digest": f"sha256:{'2' * 64}"},
        "layers": [],
    }
    account.aws.client("ecr").put_image(
        repositoryName="train", imageTag="v5", imageManifest=json.dumps(manifest)
    )
    subject = account.subject(image={**image, "tag": "v5"})
    # ECR's layers are on this machine only with a registry, which needs an engine.
    known = subject.aws.call

    def call(service: str, operation: str, **params: Any) -> dict[str, Any]:
        if operation == "get_download_url_for_layer":
            assert params["layerDigest"] == manifest["config"]["digest"]
            return {"downloadUrl": config.as_uri()}
        return known(service, operation, **params)

    subject.aws.call = call  # type: ignore[method-assign]
    found = only(list(ask_account(subject).findings))

    assert (found.rule, found.severity) == ("TS-IMG-002", Severity.ERROR)
    assert "is for nvidia, and" in found.message and "for neuron" in found.message


@pytest.mark.parametrize(("version", "expected"), [("5", ["TS-ACC-080"]), ("6", [])])
def test_a_bootstrap_that_is_old(account: Account, version: str, expected: list[str]) -> None:
    account.aws.client("ssm").put_parameter(
        Name="/cdk-bootstrap/hnb659fds/version", Value=version, Type="String", Overwrite=True
    )

    assert rules(account.ask()) == expected


def test_no_bootstrap(account: Account) -> None:
    account.aws.client("ssm").delete_parameter(Name="/cdk-bootstrap/hnb659fds/version")

    found = only(account.ask())

    assert found.rule == "TS-ACC-080"
    assert found.remedy == "npx cdk bootstrap aws://123456789012/us-west-2"


def test_every_rule_says_what_its_page_needs() -> None:
    for check in checks_of("preflight"):
        rule = all_rules()[check.rule_id]
        assert rule.title and rule.why and rule.when
        assert all(source.startswith("https://") for source in rule.sources)
        assert set(check.answers) <= all_rules().keys()


def test_what_the_owner_says_of_findings_counts(account: Account) -> None:
    said = {"accept": {"TS-ACC-080": "deployed by a pipeline"}, "severity": {NOT_TRIED: "warning"}}
    account.aws.client("ssm").delete_parameter(Name="/cdk-bootstrap/hnb659fds/version")

    judged = judge_with_account(account.subject(findings=said), (), (), lambda _: None)
    found = {finding.rule: finding for finding in judged}

    assert found["TS-ACC-080"].accepted == "deployed by a pipeline"
    assert found[NOT_TRIED].severity is Severity.WARNING


def test_a_throttled_call_is_tried_again(account: Account) -> None:
    account.aws.fail(
        Fault(service="ec2", operation="DescribeImages", code="RequestLimitExceeded", count=2)
    )

    assert rules(account.ask()) == []


def test_an_acceptance_that_the_account_no_longer_needs_is_pointed_out(account: Account) -> None:
    said = {"accept": {"TS-ACC-080": "deployed by a pipeline", NOT_TRIED: "not yet"}}

    judged = judge_with_account(account.subject(findings=said), (), (), lambda _: None)

    unused = [finding.message for finding in judged if finding.rule == "TS-FND-002"]
    assert unused == ["TS-ACC-080 is accepted, but nothing finds it any more"]
