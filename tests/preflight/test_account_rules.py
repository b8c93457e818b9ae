"""Each rule over an account: a case in which it finds something, and the nearest in which not.

The cluster of `account` is fine; `network` has an existing network for it.
"""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from preflight_account import REGION, TRN_QUOTA, ZONE, Account

from embedded_aws.faults import Fault
from trainshed.catalogue import lookup
from trainshed.findings import Finding, Severity
from trainshed.findings.rule import all_rules, checks_of
from trainshed.preflight import ask_account, judge_with_account

NOT_TRIED = "TS-ACC-091"
SPOT_NODES = {"type": "trn1.32xlarge", "nodes": {"max": 4}}
ROOT = Path(__file__).parents[2]
DOCUMENTED, _ = re.findall(r"```json\n(.*?)```", (ROOT / "docs/security.md").read_text(), re.DOTALL)
KEY = "arn:aws:kms:us-west-2:123456789012:key/11111111-1111-1111-1111-111111111111"


def rules(found: list[Finding]) -> list[str]:
    """Return the ids of what was found, but for a launch that could not be tried."""
    return sorted(finding.rule for finding in found if finding.rule != NOT_TRIED)


def only(found: list[Finding]) -> Finding:
    """Return the one thing that was found."""
    [finding] = [finding for finding in found if finding.rule != NOT_TRIED]
    return finding


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


def on_spot(account: Account, **options: float) -> dict[str, Finding]:
    """What is found of a cluster on Spot, by rule."""
    fields = {"image": None, "orchestrator": "ec2", "instance": SPOT_NODES}
    found = account.ask(**fields, capacity={"spot": options})
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
        on_spot(account, **options)["TS-ACC-036"]
        for options in ({}, {"max_price": 3.71}, {"max_price": 3.69})
    )

    assert "on Spot in usw2-az4 costs 3.7 USD an hour, and in the last 30 days" in plain.message
    assert "4 nodes cost 14.80 USD an hour now" in plain.remedy
    assert plain.severity is Severity.INFO
    # The shipped range of prices is 3.68 to 3.72.
    assert (above.severity, below.severity) == (Severity.WARNING, Severity.ERROR)
    assert "; capacity.spot.max_price is 3.71" in above.message


def test_a_zone_with_a_higher_placement_score_is_named(account: Account) -> None:
    ec2 = account.aws.client("ec2")
    scores = {
        each["AvailabilityZoneId"]: each["Score"]
        for each in ec2.get_spot_placement_scores(
            InstanceTypes=["trn1.32xlarge"], TargetCapacity=4, SingleAvailabilityZone=True
        )["SpotPlacementScores"]
    }

    found = on_spot(account)["TS-ACC-037"]

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
    assert "is not the default group" in only(network.ask(network=wrong)).message


@pytest.fixture
def reservation(account: Account) -> Callable[..., str]:
    def create(**fields: Any) -> str:
        asked = {
            "InstanceType": "trn1.32xlarge",
            "InstancePlatform": "Linux/UNIX",
            "AvailabilityZoneId": ZONE,
            "InstanceCount": 4,
            "InstanceMatchCriteria": "targeted",
        }
        answer = account.aws.client("ec2").create_capacity_reservation(**{**asked, **fields})
        created: str = answer["CapacityReservation"]["CapacityReservationId"]
        return created

    return create


def test_a_reservation_that_fits(account: Account, reservation: Callable[..., str]) -> None:
    assert rules(account.ask(capacity={"reservation": reservation()})) == []


def test_jobs_outlive_a_reservation_that_ends(
    account: Account, reservation: Callable[..., str]
) -> None:
    soon = datetime.now(UTC) + timedelta(hours=2)

    named = reservation(EndDateType="limited", EndDate=soon)

    assert rules(account.ask(capacity={"reservation": named}, job={"timeout_hours": 48})) == []


def test_a_reservation_that_is_not_there(account: Account) -> None:
    found = only(account.ask(capacity={"reservation": "cr-0123456789abcdef0"}))

    assert found.rule == "TS-ACC-030"
    assert "there is no cr-0123456789abcdef0 in us-west-2" in found.message


def test_a_reservation_that_is_over(account: Account, reservation: Callable[..., str]) -> None:
    named = reservation()
    account.aws.client("ec2").cancel_capacity_reservation(CapacityReservationId=named)

    found = only(account.ask(capacity={"reservation": named}))

    assert found.rule == "TS-ACC-030"
    assert f"capacity reservation {named} is over (cancelled)" in found.message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"InstanceType": "trn1.2xlarge"}, "has instance type trn1.2xlarge"),
        ({"AvailabilityZoneId": "usw2-az1"}, "has zone usw2-az1"),
        ({"InstancePlatform": "Windows"}, "has platform Windows"),
        ({"Tenancy": "dedicated"}, "has tenancy dedicated"),
    ],
)
def test_a_reservation_of_another_kind(
    account: Account, reservation: Callable[..., str], fields: dict[str, str], message: str
) -> None:
    found = only(account.ask(capacity={"reservation": reservation(**fields)}))

    assert found.rule == "TS-ACC-031"
    assert message in found.message


def test_a_reservation_is_no_capacity_block(
    account: Account, reservation: Callable[..., str]
) -> None:
    named = reservation()

    found = only(account.ask(capacity={"capacity_block": named}))

    assert found.rule == "TS-ACC-031"
    assert found.remedy == f"write capacity: {{reservation: {named}}}"


def test_a_reservation_that_is_too_small(account: Account, reservation: Callable[..., str]) -> None:
    found = only(account.ask(capacity={"reservation": reservation(InstanceCount=3)}))

    assert found.rule == "TS-ACC-032"
    assert "is for 3 instances, and the cluster has up to 4" in found.message


def test_a_reservation_that_others_use(network: Account, reservation: Callable[..., str]) -> None:
    network.aws.grant_quota(TRN_QUOTA, 5000)
    named = reservation()
    target = {"CapacityReservationTarget": {"CapacityReservationId": named}}
    network.aws.client("ec2").run_instances(
        ImageId=network.ids["ami"],
        InstanceType="trn1.32xlarge",
        MinCount=1,
        MaxCount=1,
        SubnetId=network.ids["subnet"],
        CapacityReservationSpecification=target,
    )

    found = only(network.ask(capacity={"reservation": named}))

    assert found.rule == "TS-ACC-032"
    assert "has 3 of its 4 instances free" in found.message


@pytest.fixture
def block(account: Account) -> dict[str, Any]:
    """A Capacity Block of four nodes for three days."""
    ec2 = account.aws.client("ec2")
    offerings = ec2.describe_capacity_block_offerings(
        InstanceType="trn1.32xlarge", InstanceCount=4, CapacityDurationHours=72
    )["CapacityBlockOfferings"]
    [offered] = [each for each in offerings if each["AvailabilityZone"] == "us-west-2d"]
    bought: dict[str, Any] = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offered["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]
    return bought


@pytest.mark.parametrize(("hours", "expected"), [(71, []), (72, ["TS-ACC-033"])])
def test_a_job_that_outlasts_the_block(
    account: Account, block: dict[str, Any], hours: int, expected: list[str]
) -> None:
    # No quota is needed.
    account.aws.grant_quota(TRN_QUOTA, 0)
    asked = {
        "capacity": {"capacity_block": block["CapacityReservationId"]},
        "job": {"timeout_hours": hours},
    }

    before = account.ask(**asked, now=block["StartDate"] - timedelta(hours=1))
    meanwhile = account.ask(**asked, now=block["StartDate"])

    assert rules(before) == [*expected, "TS-ACC-034"]
    assert rules(meanwhile) == expected
    if expected:
        assert only(meanwhile).remedy == "set job.timeout_hours to 71"


@pytest.mark.parametrize(("gone_hours", "outlasts"), [(0, False), (24, True)])
def test_a_job_on_plain_nodes_runs_48_hours_of_a_block_at_most(
    account: Account, block: dict[str, Any], gone_hours: int, outlasts: bool
) -> None:
    asked = {
        "capacity": {"capacity_block": block["CapacityReservationId"]},
        "orchestrator": "ec2",
        "image": {},
    }

    found = account.ask(**asked, now=block["StartDate"] + timedelta(hours=gone_hours))

    assert ("TS-ACC-033" in rules(found)) is outlasts


def windows(*blocks: dict[str, Any], kind: str = "capacity_block", **moved: Any) -> Any:
    """A calendar of blocks in their windows, which begin or end otherwise by `begins`, `ends`."""
    none = timedelta()
    return {
        "calendar": [
            {
                kind: each["CapacityReservationId"],
                "from": f"{each['StartDate'] + moved.get('begins', none):%FT%H:%MZ}",
                "until": f"{each['EndDate'] + moved.get('ends', none):%FT%H:%MZ}",
            }
            for each in blocks
        ]
    }


def test_a_calendar_of_blocks_as_ec2_has_them(account: Account) -> None:
    account.aws.grant_quota(TRN_QUOTA, 0)
    first, second = buy(account, 4, 24), buy(account, 4, 72)
    short = {"timeout_hours": 20}

    before = account.ask(
        capacity=windows(first, second), job=short, now=first["StartDate"] - timedelta(hours=1)
    )
    meanwhile = account.ask(capacity=windows(first, second), job=short, now=first["StartDate"])
    one_over = account.ask(capacity=windows(first, second), job=short, now=first["EndDate"])

    assert (rules(before), rules(meanwhile)) == (["TS-ACC-034"], [])
    over = only(one_over)
    assert (over.rule, over.remedy) == ("TS-ACC-030", "remove its window")
    assert over.place and over.place.field == "capacity.calendar.0.capacity_block"


@pytest.mark.parametrize(
    ("moved", "severity", "field"),
    [
        pytest.param({"begins": timedelta(hours=-1)}, Severity.ERROR, "from", id="begins-later"),
        pytest.param({"begins": timedelta(hours=1)}, Severity.WARNING, "from", id="has-begun"),
        pytest.param({"ends": timedelta(hours=1)}, Severity.ERROR, "until", id="ends-earlier"),
        pytest.param({"ends": timedelta(hours=-1)}, Severity.WARNING, "until", id="ends-later"),
    ],
)
def test_a_window_that_ec2_has_otherwise(
    account: Account, moved: dict[str, Any], severity: Severity, field: str
) -> None:
    account.aws.grant_quota(TRN_QUOTA, 0)
    bought = buy(account, 4, 72)

    found = only(
        account.ask(
            capacity=windows(bought, **moved), job={"timeout_hours": 1}, now=bought["StartDate"]
        )
    )

    there = bought["StartDate" if field == "from" else "EndDate"]
    assert (found.rule, found.severity) == ("TS-ACC-038", severity)
    assert found.remedy == f"write {field}: {there:%FT%H:%MZ}"
    assert found.place and found.place.field == f"capacity.calendar.0.{field}"


def test_a_part_of_the_time_of_a_reservation_is_a_window(
    account: Account, reservation: Callable[..., str]
) -> None:
    made = account.aws.client("ec2").describe_capacity_reservations(
        CapacityReservationIds=[reservation()]
    )["CapacityReservations"][0]
    times = {"StartDate": made["StartDate"] + timedelta(days=1)}
    times["EndDate"] = times["StartDate"] + timedelta(days=7)

    found = account.ask(capacity=windows({**made, **times}, kind="reservation"))

    assert rules(found) == []


@pytest.mark.parametrize(
    ("small", "large", "severities"),
    [
        pytest.param(2, 4, {Severity.WARNING}, id="one-is-enough"),
        pytest.param(2, 3, {Severity.ERROR}, id="none-is-enough"),
    ],
)
def test_a_window_with_too_few_instances(
    account: Account, small: int, large: int, severities: set[Severity]
) -> None:
    account.aws.grant_quota(TRN_QUOTA, 0)
    first, second = buy(account, small, 24), buy(account, large, 72)
    # One after the other, as EC2 sells them; those of the embedded AWS begin at one time.
    second = {**second, "StartDate": first["EndDate"]}

    found = [
        each
        for each in account.ask(
            capacity=windows(first, second),
            job={"timeout_hours": 1},
            now=first["StartDate"],
        )
        if each.rule == "TS-ACC-039"
    ]

    assert {each.severity for each in found} == severities
    assert "begins, 2 instances are there, and the cluster has up to 4 nodes" in found[0].message


def test_a_calendar_names_reservations_of_the_nodes_type(account: Account) -> None:
    other = buy(account, 4, 24, "p4d.24xlarge")

    found = [
        each
        for each in account.ask(capacity=windows(other, kind="reservation"))
        if each.rule == "TS-ACC-031"
    ]

    assert "has instance type p4d.24xlarge, and the nodes have trn1.32xlarge" in found[1].message
    assert found[0].remedy == (
        f"write capacity_block: {other['CapacityReservationId']} in its window"
    )


POOL = [
    {"Type": "AWS::EC2::CapacityReservationPool"},
    {
        "Type": "AWS::ResourceGroups::Generic",
        "Parameters": [
            {"Name": "allowed-resource-types", "Values": ["AWS::EC2::CapacityReservation"]}
        ],
    },
]


def buy(account: Account, instances: int, hours: int, instance_type: str = "trn1.32xlarge") -> Any:
    """Return a Capacity Block in the zone of the cluster."""
    ec2 = account.aws.client("ec2")
    offered = ec2.describe_capacity_block_offerings(
        InstanceType=instance_type, InstanceCount=instances, CapacityDurationHours=hours
    )["CapacityBlockOfferings"]
    [here] = [each for each in offered if each["AvailabilityZone"] == "us-west-2d"]
    return ec2.purchase_capacity_block(
        CapacityBlockOfferingId=here["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]


def pool(account: Account, *members: str, configuration: Any = POOL) -> str:
    """Return the ARN of a resource group of these reservations."""
    groups = account.aws.client("resource-groups")
    made = groups.create_group(Name="Blocks", Configuration=configuration)["Group"]["GroupArn"]
    if members:
        assert groups.group_resources(Group=made, ResourceArns=members)["Failed"] == []
    return str(made)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        (6, ["TS-ACC-033"]),
        (7, ["TS-ACC-032", "TS-ACC-033"]),
    ],
)
def test_the_blocks_of_a_group_count_together(
    account: Account, reservation: Callable[..., str], nodes: int, expected: list[str]
) -> None:
    account.aws.grant_quota(TRN_QUOTA, 0)
    long, short = buy(account, 4, 72), buy(account, 2, 24)
    plain = account.aws.client("ec2").describe_capacity_reservations(
        CapacityReservationIds=[reservation()]
    )["CapacityReservations"][0]
    members = [each["CapacityReservationArn"] for each in (long, short, plain)]

    found = account.ask(
        instance={"type": "trn1.32xlarge", "nodes": {"max": nodes}},
        capacity={"capacity_block": pool(account, *members)},
        job={"timeout_hours": 48},
        now=max(long["StartDate"], short["StartDate"]),
    )

    assert rules(found) == expected
    messages = {each.rule: each.message for each in found}
    assert "after now" in messages["TS-ACC-033"]
    assert short["CapacityReservationId"] in messages["TS-ACC-033"]
    if "TS-ACC-032" in expected:
        assert "are for 6 instances, and the cluster has up to 7" in messages["TS-ACC-032"]


def test_blocks_that_are_not_there_at_one_time_do_not_count_together(account: Account) -> None:
    long, short = buy(account, 4, 72), buy(account, 2, 24)
    arn = pool(account, *(each["CapacityReservationArn"] for each in (long, short)))

    found = account.ask(
        instance={"type": "trn1.32xlarge", "nodes": {"max": 6}},
        capacity={"capacity_block": arn},
        job={"timeout_hours": 1},
        now=short["EndDate"],
    )

    assert rules(found) == ["TS-ACC-032"]
    assert (
        f"Capacity Block {long['CapacityReservationId']} is for 4 instances" in only(found).message
    )


@pytest.mark.parametrize("case", ["absent", "plain", "empty", "other type"])
def test_a_group_without_a_block_for_the_nodes(account: Account, case: str) -> None:
    match case:
        case "absent":
            arn = "arn:aws:resource-groups:us-west-2:123456789012:group/Blocks"
            message = f"there is no {arn}"
        case "plain":
            arn = pool(account, configuration=POOL[1:])
            message = "is not of type AWS::EC2::CapacityReservationPool"
        case "empty":
            arn = pool(account)
            message = "has no Capacity Block for trn1.32xlarge in usw2-az4 that is not over, of 0"
        case _:
            other = buy(account, 2, 24, "p4d.24xlarge")
            arn = pool(account, other["CapacityReservationArn"])
            message = "that is not over, of 1 reservations"

    found = only(account.ask(capacity={"capacity_block": arn}))

    assert found.rule == "TS-ACC-035"
    assert message in found.message


def test_a_block_that_is_over(account: Account, block: dict[str, Any]) -> None:
    asked = {"capacity_block": block["CapacityReservationId"]}

    found = only(account.ask(capacity=asked, now=block["EndDate"]))

    assert found.rule == "TS-ACC-030"
    assert f"{block['EndDate']:%Y-%m-%d %H:%M} UTC" in found.message


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


def test_a_bucket_that_is_not_there(account: Account) -> None:
    account.aws.client("s3").create_bucket(
        Bucket="runs", CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    buckets = [{"bucket": "runs"}, {"bucket": "absent"}]

    found = only(account.ask(job={"buckets": buckets}))

    assert found.rule == "TS-ACC-060"
    assert found.message == "there is no bucket absent"
    assert found.place and found.place.field == "job.buckets.1.bucket"


def test_a_bucket_of_another_region(account: Account) -> None:
    account.aws.client("s3").create_bucket(
        Bucket="runs", CreateBucketConfiguration={"LocationConstraint": REGION}
    )

    # The embedded AWS has one region; it is the cluster that is in another one.
    found = account.ask(region="us-east-2", zone="use2-az3", job={"buckets": [{"bucket": "runs"}]})

    [bucket] = [each for each in found if each.rule == "TS-ACC-061"]
    assert bucket.severity is Severity.WARNING
    assert bucket.message == "runs is in us-west-2, and the cluster is in us-east-2"


def test_a_file_system_that_cannot_be_mounted(network: Account) -> None:
    created = network.aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[network.ids["subnet"]],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]["FileSystemId"]

    def of(named: str, **fields: Any) -> list[str]:
        lustre = {"lustre": {"existing": named}}
        found = network.ask(network=network.network, storage=lustre, **fields)
        return [each.message for each in found if each.rule in ("TS-ACC-062", "TS-ACC-063")]

    assert of(created) == []
    assert of("fs-0123456789abcdef0") == [
        "there is no file system fs-0123456789abcdef0 in us-west-2"
    ]
    assert of(created, zone="usw2-az1") == [
        f"{created} is in {ZONE}, and the nodes are in usw2-az1"
    ]


def test_an_openzfs_file_system_that_cannot_be_mounted(network: Account) -> None:
    fsx, ids = network.aws.client("fsx"), network.ids
    group = network.aws.client("ec2").create_security_group(
        GroupName="files", Description="files", VpcId=ids["vpc"]
    )["GroupId"]
    network.aws.client("ec2").authorize_security_group_ingress(
        GroupId=group,
        IpPermissions=[
            {
                "IpProtocol": "tcp",
                "FromPort": 2049,
                "ToPort": 2049,
                "UserIdGroupPairs": [{"GroupId": group}],
            }
        ],
    )
    openzfs = fsx.create_file_system(
        FileSystemType="OPENZFS",
        StorageCapacity=64,
        SubnetIds=[ids["subnet"]],
        SecurityGroupIds=[group],
        OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160},
    )["FileSystem"]["FileSystemId"]

    def of(kind: str, **fields: Any) -> list[str]:
        storage = {kind: {"existing": openzfs}}
        found = network.ask(network=network.network, storage=storage, **fields)
        return [each.message for each in found if each.rule in ("TS-ACC-062", "TS-ACC-063")]

    assert of("openzfs") == []
    assert of("lustre") == [f"{openzfs} is of type OPENZFS, not LUSTRE"]
    assert of("openzfs", zone="usw2-az1") == [
        f"{openzfs} is in {ZONE}, and the nodes are in usw2-az1"
    ]


def test_an_existing_bucket_is_there_and_archives_nothing_that_is_mounted(
    account: Account,
) -> None:
    s3 = account.aws.client("s3")
    here = {"LocationConstraint": "us-west-2"}
    s3.create_bucket(Bucket="ours", CreateBucketConfiguration=here)

    def of(**fields: Any) -> list[str]:
        found = account.ask(storage={"bucket": fields})
        return [each.message for each in found if each.rule in ("TS-ACC-060", "TS-ACC-067")]

    assert of(existing="theirs") == ["there is no bucket theirs"]
    assert of(existing="ours", mount="/data") == []
    to_archive = [{"Days": 90, "StorageClass": "GLACIER"}]
    s3.put_bucket_lifecycle_configuration(
        Bucket="ours",
        LifecycleConfiguration={
            "Rules": [
                {"Filter": {"Prefix": "runs/"}, "Status": "Enabled", "Transitions": to_archive}
            ]
        },
    )
    assert of(existing="ours", mount="/data") == [
        "a lifecycle rule of ours moves objects under runs/ to Glacier, where they cannot be read"
    ]
    assert of(existing="ours", mount="/data", mount_prefix="data/") == []
    assert of(existing="ours") == []


def test_a_bucket_that_was_kept(account: Account) -> None:
    s3, own = account.aws.client("s3"), account.aws.client("sts").get_caller_identity()["Account"]

    def of() -> list[str]:
        found = account.ask(storage={"bucket": {}})
        return [each.message for each in found if each.rule == "TS-ACC-066"]

    assert of() == []
    name = f"trainshed-train-{own}-us-west-2"
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    assert of() == [f"{name} is there already, and TrainBucket did not make it"]


def test_an_efs_file_system_that_cannot_be_mounted(network: Account) -> None:
    efs, ids = network.aws.client("efs"), network.ids
    created = efs.create_file_system(CreationToken="home")["FileSystemId"]

    def of(named: str, **fields: Any) -> list[str]:
        found = network.ask(storage={"efs": {"existing": named}}, **fields)
        return [each.message for each in found if each.rule == "TS-ACC-064"]

    assert of(created, network=network.network) == []
    assert of("fs-0123456789abcdef0", network=network.network) == [
        "there is no EFS file system fs-0123456789abcdef0 in us-west-2"
    ]
    efs.create_mount_target(FileSystemId=created, SubnetId=ids["subnet"])
    assert of(created, network=network.network) == []
    assert of(created) == [
        f"{created} has mount targets in {ids['vpc']}, and the nodes are in a new VPC"
    ]


def test_a_key(account: Account) -> None:
    kms = account.aws.client("kms")
    key = kms.create_key(Policy=DOCUMENTED)["KeyMetadata"]["Arn"]
    off = kms.create_key(Policy=DOCUMENTED)["KeyMetadata"]
    kms.disable_key(KeyId=off["KeyId"])
    signing = kms.create_key(KeySpec="RSA_2048", KeyUsage="ENCRYPT_DECRYPT", Policy=DOCUMENTED)[
        "KeyMetadata"
    ]["Arn"]

    assert rules(account.ask(kms_key=key)) == []
    for wrong, message in (
        (KEY, "there is no key"),
        (off["Arn"], "is Disabled"),
        (signing, "symmetric keys only"),
    ):
        found = only(account.ask(kms_key=wrong))
        assert found.rule == "TS-ACC-070"
        assert message in found.message


def test_the_policy_of_a_key_lets_services_in(account: Account) -> None:
    kms = account.aws.client("kms")
    key = kms.create_key()["KeyMetadata"]["Arn"]
    role = (
        "arn:aws:iam::123456789012:role/aws-service-role/autoscaling.amazonaws.com/"
        "AWSServiceRoleForAutoScaling"
    )

    default = [each for each in account.ask(kms_key=key) if each.rule == "TS-ACC-071"]
    kms.create_grant(
        KeyId=key, GranteePrincipal=role, Operations=["CreateGrant", "Decrypt", "DescribeKey"]
    )
    granted = only(account.ask(kms_key=key))

    logs, volumes = (each.message for each in default)
    assert "not allow logs.us-west-2.amazonaws.com kms:Encrypt, kms:Decrypt, " in logs
    assert logs.endswith("no log group can be made with it")
    assert f"allow {role} kms:CreateGrant, kms:Decrypt, " in volumes
    assert volumes.endswith("no node starts")
    assert (granted.rule, granted.message) == ("TS-ACC-071", logs)


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
