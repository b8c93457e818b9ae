"""Rules over reservations, Capacity Blocks and calendars of an account."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from preflight_account import TRN_QUOTA, ZONE, Account, only, rules

from trainshed.findings import Severity


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


def test_a_job_that_outlasts_one_window_may_fit_into_another(account: Account) -> None:
    account.aws.grant_quota(TRN_QUOTA, 0)
    short, long = buy(account, 4, 24), buy(account, 4, 72)

    found = only(
        account.ask(
            capacity=windows(short, long), job={"timeout_hours": 48}, now=short["StartDate"]
        )
    )

    assert (found.rule, found.remedy) == (
        "TS-ACC-033",
        "submit with --timeout-hours 23 what is to end in it",
    )


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


def test_the_instances_of_a_window_that_is_over_do_not_count(account: Account) -> None:
    account.aws.grant_quota(TRN_QUOTA, 0)
    first, second = buy(account, 4, 24), buy(account, 2, 72)

    found = account.ask(
        capacity=windows(first, second), job={"timeout_hours": 1}, now=first["EndDate"]
    )

    [few] = [each for each in found if each.rule == "TS-ACC-039"]
    assert few.remedy == "set instance.nodes.max to 2"


def test_windows_that_overlap_have_their_instances_together(account: Account) -> None:
    account.aws.grant_quota(TRN_QUOTA, 0)
    first, second = buy(account, 2, 24), buy(account, 2, 72)

    found = account.ask(
        capacity=windows(first, second), job={"timeout_hours": 1}, now=first["StartDate"]
    )

    assert "TS-ACC-039" not in rules(found)


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
