"""Rules on interfaces, networks, zones, capacity, quotas and addresses: the nearest silent case."""

from collections.abc import Callable
from datetime import UTC, date, datetime

import pytest

from trainshed.catalogue import increase_command, lookup
from trainshed.checks import judge
from trainshed.findings import Finding, Severity
from trainshed.findings.rule import checks_of
from trainshed.plan import Fleet

Planned = Callable[..., Fleet]

TOPICS = (
    "TS-ADR",
    "TS-CAP",
    "TS-EFA",
    "TS-GRD",
    "TS-MON",
    "TS-NET-003",
    "TS-QUO",
    "TS-ZON-003",
    "TS-ZON-004",
)
EXISTING = "vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0"
BLOCK_GROUP = (
    "zone: usw2-az4\n"
    "capacity: {capacity_block: 'arn:aws:resource-groups:us-west-2:123456789012:group/Blocks'}"
)
BLOCK = "zone: usw2-az4\ncapacity: {capacity_block: cr-0123456789abcdef0}"
SPOT = "capacity: {spot: {}}"


def windows(*times: str, kind: str = "capacity_block") -> str:
    """A calendar of windows, each as DAY TIME/DAY TIME of a December to come."""
    listed = [
        f"  - {{{kind}: cr-{number:08x}, from: 2126-12-{begin}Z, until: 2126-12-{until}Z}}\n"
        for number, (begin, until) in enumerate(each.split("/") for each in times)
    ]
    return "zone: usw2-az4\ncapacity:\n  calendar:\n" + "".join(listed)


CHECKPOINTS = """
storage: {{lustre: {{capacity_gib: 1200}}}}
training: {{parameters: 11.3e9, checkpoint_minutes: {}}}
"""
TWO = ("01T11:30/08T11:30", "09T11:30/15T11:30")


def text(
    type_: str = "trn1.32xlarge",
    nodes: str = "{max: 2}",
    *,
    name: str = "Alpha",
    region: str = "us-west-2",
    more: str = "",
    added: str = "",
) -> str:
    return (
        f"name: {name}\nregion: {region}\n"
        f"instance: {{type: {type_}, nodes: {nodes}{more}}}\n{added}\n"
    )


def scratch(ebs: str, nodes: int, name: str = "Alpha") -> str:
    """A cluster with scratch volumes of EBS."""
    return text(
        "p3.16xlarge", f"{{max: {nodes}}}", name=name, more=f", scratch: {{ebs: {{{ebs}}}}}"
    )


# The nearest cluster in which a rule finds nothing.
SILENT = {
    "TS-ADR-001": text(nodes="{max: 55}", added="network: {cidr: 10.20.0.0/22}"),
    "TS-ADR-002": text(more=", interfaces: eks"),
    "TS-ADR-003": text(added="network: {cidr: 10.20.0.0/16}"),
    "TS-ADR-004": text(added="network: {cidr: 172.18.0.0/16}"),
    "TS-CAP-001": text("p5en.48xlarge"),
    "TS-CAP-002": text(nodes="{max: 64}", added=BLOCK),
    "TS-CAP-003": text(nodes="{max: 64}", added=BLOCK),
    "TS-CAP-004": text(added="capacity: {reservation: cr-0123456789abcdef0}"),
    "TS-CAP-005": text(nodes="{max: 1}", added="capacity: {reservation: cr-0123456789abcdef0}"),
    "TS-CAP-006": text(nodes="{min: 2, max: 2}", added=BLOCK),
    "TS-CAP-007": text(),
    "TS-CAP-015": text(added=windows("01T11:30/08T11:30", "08T11:00/15T11:30")),
    "TS-CAP-016": text(added=windows("01T11:30/08T11:30", "08T11:46/15T11:30")),
    "TS-CAP-017": text(added=windows(*TWO)),
    "TS-CAP-018": text(added=windows(*TWO)),
    "TS-CAP-020": text(added=windows("01T11:30/08T11:30", "08T11:46/15T11:30", kind="reservation")),
    # 15 minutes of boot, 1,401 of training, 9 of writing, and 30 at the end.
    "TS-CAP-021": text(added=windows("01T11:30/02T11:46") + CHECKPOINTS.format(1401)),
    "TS-CAP-019": text(
        "p4d.24xlarge",
        nodes="{max: 1}",
        added="orchestrator: ec2\ncapacity: {instance_types: [p4d.24xlarge, p4de.24xlarge]}",
    ),
    "TS-CAP-014": text(nodes="{max: 1}", added="orchestrator: ec2\ncapacity: {spot: {}}"),
    "TS-EFA-001": text("p6-b200.48xlarge"),
    "TS-EFA-002": text("trn1.2xlarge", nodes="{max: 1}"),
    "TS-EFA-003": text("p4d.24xlarge"),
    "TS-EFA-004": text("p5.48xlarge", more=", interfaces: batch-mnp"),
    "TS-EFA-014": text("g5.4xlarge", nodes="{max: 1}"),
    "TS-GRD-001": text(added='guard: {expires: "2126-12-31T18:00Z"}'),
    "TS-GRD-002": text(
        added='notify: [ml@example.com]\nguard: {expires: "2126-12-31T18:00Z"}',
    ),
    "TS-GRD-003": text(added="notify: [ml@example.com]"),
    "TS-MON-001": text(added="monitoring: false"),
    "TS-NET-003": text(added="network: {cidr: 10.20.0.0/16}"),
    "TS-QUO-001": text(added=BLOCK),
    "TS-QUO-002": text(added=f"network: {{{EXISTING}}}"),
    # 151 x (32 + 1) are 4,983.
    "TS-QUO-003": text("p5.48xlarge", nodes="{max: 151}"),
    "TS-QUO-004": text(nodes="{max: 100}", more=", root_gib: 512"),
    "TS-QUO-005": scratch("type: io2, gib: 2000, iops: 12500", nodes=8),
    "TS-ZON-003": text(added="zone: usw2-az1\nstorage: {lustre: {existing: fs-0123456789abcdef0}}"),
    "TS-ZON-004": text("trn1.32xlarge"),
}
# And further ones.
ALSO_SILENT = {
    "plain EC2 nodes in a block": (
        "TS-CAP-003",
        text(nodes="{min: 2, max: 2}", added=f"{BLOCK}\norchestrator: ec2"),
    ),
    "blocks of two overlapping windows": (
        "TS-CAP-002",
        text(nodes="{max: 128}", added=windows("01T11:30/08T11:30", "07T11:30/15T11:30")),
    ),
    "a job as long as the longest window": (
        "TS-BAT-003",
        text(added=windows(*TWO) + "job: {timeout_hours: 167}"),
    ),
    "reservations that follow each other": (
        "TS-CAP-016",
        text(added=windows("01T11:30/08T11:30", "08T11:30/15T11:30", kind="reservation")),
    ),
    "reservations of which one begins when the other ends": (
        "TS-CAP-020",
        text(added=windows("01T11:30/08T11:30", "08T11:30/15T11:30", kind="reservation")),
    ),
    "blocks with a short gap, which AWS sells no other way": (
        "TS-CAP-020",
        text(added=windows("01T11:30/08T11:30", "08T11:40/15T11:30")),
    ),
    "a short gap after a window within a longer one": (
        "TS-CAP-020",
        text(
            added=windows(
                "01T11:30/20T11:30", "02T11:30/03T11:30", "03T11:40/04T11:30", kind="reservation"
            )
        ),
    ),
    "one node of overlapping reservations": (
        "TS-CAP-015",
        text(
            nodes="{max: 1}",
            added=windows("01T11:30/08T11:30", "07T11:30/15T11:30", kind="reservation"),
        ),
    ),
    "a short window of a reservation, whose nodes outlive it": (
        "TS-CAP-021",
        text(added=windows("01T11:30/01T11:46", kind="reservation") + CHECKPOINTS.format(1402)),
    ),
    "checkpoints on a file system whose speed nobody knows": (
        "TS-CAP-021",
        text(
            added=windows("01T11:30/02T11:30")
            + "storage: {efs: {}, lustre: {existing: fs-0123456789abcdef0}}\n"
            "training: {parameters: 70e9, checkpoint_minutes: 1395}"
        ),
    ),
    "a resource group of blocks may have more nodes than one block": (
        "TS-CAP-002",
        text(nodes="{max: 100}", added=BLOCK_GROUP),
    ),
    "another type that is sold on demand": (
        "TS-CAP-001",
        text(
            "p4d.24xlarge",
            added="orchestrator: ec2\ncapacity: {instance_types: [p4d.24xlarge, p4de.24xlarge]}",
        ),
    ),
    "a reservation with its group": (
        "TS-CAP-005",
        text(added="capacity: {reservation: cr-0123456789abcdef0, placement_group: ours}"),
    ),
    "one node that reaches its file system over EFA": (
        "TS-EFA-002",
        text(
            "p5.48xlarge",
            nodes="{max: 1}",
            added="storage: {lustre: {efa: true, capacity_gib: 4800, throughput: 1000}}",
        ),
    ),
    "no job with an interface of its own": (
        "TS-EFA-004",
        text("p5.48xlarge", more=", interfaces: combined", added="orchestrator: ec2"),
    ),
    "a job on Spot, which has the network of its node": (
        "TS-EFA-004",
        text("p5.48xlarge", nodes="{max: 1}", more=", interfaces: eks", added=SPOT),
    ),
    "a job on Spot, which is not in the default group": (
        "TS-NET-001",
        text(nodes="{max: 1}", added=f"zone: usw2-az4\nnetwork: {{{EXISTING}}}\n{SPOT}"),
    ),
    "a withdrawn type, which no zone offers": ("TS-ZON-004", text("dl1.24xlarge")),
    "reserved capacity in the only zone": (
        "TS-ZON-004",
        text("trn1n.32xlarge", added="capacity: {reservation: cr-0123456789abcdef0}"),
    ),
}
# Cases in which a rule finds something, beside its example.
FOUND = {
    "one node more than a tenth of the subnet spares": (
        "TS-ADR-001",
        text(nodes="{max: 56}", added="network: {cidr: 10.20.0.0/22}"),
        "10.20.0.0/25 has 123 addresses, of which the largest jobs of Alpha take 112: 11 are left",
    ),
    "more nodes than the blocks of windows that do not overlap": (
        "TS-CAP-002",
        # The second begins when the first ends.
        text(nodes="{max: 65}", added=windows("01T11:30/08T11:30", "08T11:30/15T11:30")),
        "a job may have 65 nodes, and a Capacity Block has at most 64 instances, and at most 1 are "
        "active at a time",
    ),
    "windows that overlap": (
        "TS-CAP-015",
        text(added=windows("01T11:30/08T11:30", "08T10:59/15T11:30")),
        "cr-00000000 and cr-00000001 are both active from 2126-12-08 10:59 UTC to 2126-12-08 11:00 "
        "UTC: the 2 nodes of a job may be of both, and the job ends with the block that ends first",
    ),
    "windows that follow each other": (
        "TS-CAP-016",
        text(added=windows("01T11:30/08T11:30", "08T11:45/15T11:30")),
        "the nodes of cr-00000000 go at 2126-12-08 11:00 UTC, and those of cr-00000001 are there "
        "from about 2126-12-08 12:00 UTC on",
    ),
    "reservations that overlap": (
        "TS-CAP-015",
        text(added=windows("01T11:30/08T11:30", "07T11:30/15T11:30", kind="reservation")),
        "the 2 nodes of a job may be of both, and far from each other",
    ),
    "one node of blocks that overlap": (
        "TS-CAP-015",
        text(nodes="{max: 1}", added=windows("01T11:30/08T11:30", "07T11:30/15T11:30")),
        "the node of a job may be of either, and the job ends with it",
    ),
    "reservations that nearly touch": (
        "TS-CAP-020",
        text(added=windows("01T11:30/08T11:30", "08T11:45/15T11:30", kind="reservation")),
        "for 15 minutes before cr-00000001 begins no node is launched, because cr-00000000 is over",
    ),
    "a block that is over when its nodes have booted": (
        "TS-CAP-021",
        text(added=windows("01T11:30/01T12:15")),
        "cr-00000000 has nodes for 15 minutes, and their boot takes about 15 minutes: no job runs",
    ),
    "a reservation that is over when its nodes have booted": (
        "TS-CAP-021",
        text(added=windows("01T11:30/01T11:45", kind="reservation")),
        "about 15 minutes: jobs run on demand from the start",
    ),
    "a block that is over before the first checkpoint": (
        "TS-CAP-021",
        text(added=windows("01T11:30/02T11:45") + CHECKPOINTS.format(1401)),
        "cr-00000000 has nodes for 1,425 minutes, and the first checkpoint of a job takes 1,426: "
        "15 of boot, 1,401 of training, 10 of writing",
    ),
    "a window that is over": (
        "TS-CAP-017",
        text(added=windows(*TWO).replace("2126", "2025", 2)),
        "cr-00000000 is over since 2025-12-08 11:30 UTC",
    ),
    "reservations that end": (
        "TS-CAP-018",
        text(added=windows(*TWO, kind="reservation")),
        "a job that runs at 2126-12-15 11:30 UTC, when cr-00000001 ends, keeps its nodes",
    ),
    "reservations of a calendar, in no placement group": (
        "TS-CAP-005",
        text(added=windows(*TWO, kind="reservation")),
        "nothing says that cr-00000000 and cr-00000001 were made in a cluster placement group",
    ),
    "a job longer than the longest window": (
        "TS-BAT-003",
        text(added=windows(*TWO) + "job: {timeout_hours: 168}"),
        "jobs may run 168 hours, and the longest window of the calendar lasts 167.5",
    ),
    "nodes that are kept between windows": (
        "TS-CAP-003",
        text(nodes="{min: 1, max: 2}", added=windows(*TWO)),
        "AWS Batch keeps 1 nodes at all times, but each window begins at one time and ends at "
        "another",
    ),
    "the end of a window": (
        "TS-CAP-004",
        text(added=windows(*TWO)),
        "and end with the window that they run in: EC2 terminates its instances",
    ),
    "another type without a price on demand": (
        "TS-CAP-001",
        text(
            "p5.48xlarge",
            added="zone: usw2-az3\norchestrator: ec2\n"
            "capacity: {instance_types: [p5.48xlarge, p5e.48xlarge]}",
        ),
        "AWS publishes no on-demand price for p5e.48xlarge: it may launch from a Capacity Block",
    ),
    "a block before a node of plain EC2": (
        "TS-CAP-004",
        text(added=f"{BLOCK}\norchestrator: ec2"),
        "the cluster can be deployed while cr-0123456789abcdef0 is active, and ends with it",
    ),
    "nodes of plain EC2": (
        "TS-CAP-006",
        text(added="orchestrator: ec2"),
        "2 x trn1.32xlarge run, and are billed, while no job runs",
    ),
    "plain EC2 nodes on Spot": (
        "TS-CAP-006",
        text(added="orchestrator: ec2\ncapacity: {spot: {}}"),
        "2 x trn1.32xlarge run, and are billed, while no job runs",
    ),
    "a quota of Spot": (
        "TS-QUO-001",
        text(added="orchestrator: ec2\ncapacity: {spot: {}}"),
        "need 256 of the quota 'All Trn Spot Instance Requests' (L-6B0D517C)",
    ),
    "an OpenZFS file system that may be elsewhere": (
        "TS-ZON-003",
        text(added="storage: {openzfs: {existing: fs-0123456789abcdef0}}"),
        "fs-0123456789abcdef0 may be in another zone than",
    ),
    "p5e on demand": ("TS-CAP-001", text("p5e.48xlarge"), "no on-demand price for p5e.48xlarge"),
    "an address on each card of P5": (
        "TS-ADR-002",
        text("p5.48xlarge", more=", interfaces: combined"),
        "profile combined takes 32 addresses for each node of p5.48xlarge, batch-mnp takes 1",
    ),
    "index 1 on each card of Trn2": (
        "TS-EFA-004",
        text("trn2.48xlarge", region="us-east-2", more=", interfaces: pcs"),
        "profile pcs uses the device indexes 0 to 1 of trn2.48xlarge, whose cards have 2 slots",
    ),
    "what plain EC2 needs of a subnet": (
        "TS-NET-003",
        text(added=f"network: {{{EXISTING}}}\norchestrator: ec2"),
        "reaches the services cloudformation, ec2, ec2messages, logs, s3, ssm, ssmmessages, and",
    ),
    "a reservation counts against the quota": (
        "TS-QUO-001",
        text(added="capacity: {reservation: cr-0123456789abcdef0}"),
        "2 x 128 vCPUs of trn1.32xlarge need 256 of the quota 'Running On-Demand Trn instances'",
    ),
    "addresses of endpoints and storage": (
        "TS-ADR-003",
        text(
            nodes="{max: 16}",
            added=f"network: {{{EXISTING}}}\nstorage: {{lustre: {{capacity_gib: 2400}}}}",
        ),
        # 16 x (1 + 1), and 3 of the file system
        "subnet-0123456789abcdef0 must have 35 addresses free",
    ),
}


def of_rule(fleet: Fleet, rule: str) -> list[Finding]:
    """Return what a rule finds in any cluster of a fleet."""
    return [each for plan in fleet.clusters for each in judge(plan, fleet) if each.rule == rule]


def test_each_rule_of_these_topics_has_a_silent_case() -> None:
    rules = {check.rule_id for check in checks_of("check")}

    assert sorted(rule for rule in rules if rule.startswith(TOPICS)) == sorted(SILENT)


@pytest.mark.parametrize(
    ("rule", "cluster"),
    [*SILENT.items(), *ALSO_SILENT.values()],
    ids=[*SILENT, *ALSO_SILENT],
)
def test_a_rule_is_silent_where_nothing_is_wrong(fleet: Planned, rule: str, cluster: str) -> None:
    assert of_rule(fleet(cluster), rule) == []


@pytest.mark.parametrize(("rule", "cluster", "words"), FOUND.values(), ids=FOUND)
def test_a_rule_says_what_it_found(fleet: Planned, rule: str, cluster: str, words: str) -> None:
    (finding,) = of_rule(fleet(cluster), rule)

    assert words in finding.message


def test_clusters_that_share_a_subnet_fill_it_together(fleet: Planned) -> None:
    shared = "network: {name: shared, cidr: 10.20.0.0/22}"
    texts = [text(nodes="{max: 30}", name=name, added=shared) for name in ("Alpha", "Beta")]

    alone, together = fleet(texts[0]), fleet(*texts)

    assert of_rule(alone, "TS-ADR-001") == []
    found = of_rule(together, "TS-ADR-001")
    assert len(found) == 2
    assert "has 123 addresses, of which the largest jobs of Alpha, Beta take 120: 3 are left" in (
        found[0].message
    )
    assert found[0].remedy == "before you deploy, take 10.20.0.0/21; a VPC keeps its range"


def test_clusters_in_other_networks_or_zones_fill_no_subnet_together(fleet: Planned) -> None:
    cidr = "cidr: 10.20.0.0/22"
    together = fleet(
        text(nodes="{max: 30}", added=f"network: {{name: shared, {cidr}}}\nzone: usw2-az4"),
        text(
            nodes="{max: 30}",
            name="Beta",
            added=f"network: {{name: shared, {cidr}}}\nzone: usw2-az1",
        ),
        text(nodes="{max: 30}", name="Gamma", added=f"network: {{{cidr}}}\nzone: usw2-az4"),
    )

    assert of_rule(together, "TS-ADR-001") == []


def test_clusters_in_one_existing_subnet_need_the_addresses_of_all(fleet: Planned) -> None:
    network = f"network: {{{EXISTING}, name: shared}}\nzone: usw2-az4"
    together = fleet(text(added=network), text(name="Beta", nodes="{max: 3}", added=network))

    first, second = of_rule(together, "TS-ADR-003")

    assert "must have 10 addresses free, for Beta and this cluster at once" in first.message
    assert "must have 10 addresses free, for Alpha and this cluster at once" in second.message


def test_clusters_of_one_reservation_need_the_nodes_of_all(fleet: Planned) -> None:
    together = fleet(text(added=BLOCK), text(name="Beta", nodes="{max: 3}", added=BLOCK))

    first, _ = of_rule(together, "TS-CAP-007")

    assert "and have 5 instances, for Beta and this cluster at once" in first.message


def test_clusters_that_share_a_block_of_their_calendars_need_the_nodes_of_both(
    fleet: Planned,
) -> None:
    mine, theirs = windows(TWO[0]), windows(*TWO)
    together = fleet(text(added=mine), text(name="Beta", nodes="{max: 3}", added=theirs))

    _, second = of_rule(together, "TS-CAP-007")

    assert second.message.startswith("cr-00000000 and cr-00000001 must be for trn1.32xlarge in")
    assert "and have 5 instances each, for Alpha and this cluster at once" in second.message
    assert "--capacity-reservation-ids cr-00000000 cr-00000001 --region" in second.remedy


def test_a_window_overlaps_all_that_begin_in_it(fleet: Planned) -> None:
    calendar = windows("01T11:30/28T11:30", "02T11:30/03T11:30", "20T11:30/21T11:30")

    found = of_rule(fleet(text(added=calendar)), "TS-CAP-015")

    assert ["cr-00000001" in found[0].message, "cr-00000002" in found[1].message] == [True, True]
    assert "from 2126-12-20 11:30 UTC to 2126-12-21 11:00 UTC" in found[1].message


@pytest.mark.parametrize(("day", "over"), [(8, []), (9, ["remove its window"])])
def test_a_window_is_over_on_the_day_after_it_ends(
    fleet: Planned, monkeypatch: pytest.MonkeyPatch, day: int, over: list[str]
) -> None:
    monkeypatch.setattr("trainshed.checks.rules.calendar.today", lambda: date(2126, 12, day))

    found = of_rule(fleet(text(added=windows(*TWO))), "TS-CAP-017")

    assert [each.remedy.partition(";")[0] for each in found] == over


@pytest.mark.parametrize(("second", "expired"), [(-1, False), (0, True)])
def test_a_cluster_expires_at_its_time_of_the_day(
    fleet: Planned, monkeypatch: pytest.MonkeyPatch, second: int, expired: bool
) -> None:
    at = datetime(2126, 12, 31, 18, tzinfo=UTC)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(at.timestamp()) + second))

    found = of_rule(fleet(text(added='guard: {expires: "2126-12-31T18:00Z"}')), "TS-GRD-001")

    assert bool(found) is expired


def test_a_calendar_of_the_past_is_an_error(fleet: Planned) -> None:
    found = of_rule(fleet(text(added=windows(*TWO).replace("2126", "2025"))), "TS-CAP-017")

    assert [each.severity for each in found] == [Severity.ERROR, Severity.ERROR]
    assert "and no window is left: no node can be launched" in found[0].message


def test_clusters_of_one_group_of_blocks_need_the_nodes_of_all(fleet: Planned) -> None:
    together = fleet(
        text(added=BLOCK_GROUP), text(name="Beta", nodes="{max: 3}", added=BLOCK_GROUP)
    )

    first, _ = of_rule(together, "TS-CAP-007")

    assert "and have 5 instances, for Beta and this cluster at once" in first.message
    assert "aws resource-groups list-group-resources --group arn:aws:" in first.remedy


def test_clusters_of_one_quota_need_the_vcpus_of_all(fleet: Planned) -> None:
    together = fleet(
        text(nodes="{max: 4}"),
        text("trn1n.32xlarge", name="Beta"),
        text("p4d.24xlarge", name="Gamma"),
        text(name="Delta", region="us-east-1"),
        text(name="Epsilon", added=BLOCK),
    )

    first, *others = of_rule(together, "TS-QUO-001")

    assert first.message.endswith(
        "of the quota 'Running On-Demand Trn instances' (L-2C3B7624); with Beta, 768 at once"
    )
    assert increase_command(lookup("trn1.32xlarge").on_demand_quota, 768, "us-west-2") in (
        first.remedy
    )
    assert [each.message.partition(" of ")[0] for each in others] == [
        "2 x 96 vCPUs",
        "2 x 128 vCPUs",
    ]
    assert all("at once" not in each.message for each in others)


def test_new_vpcs_of_a_region_are_counted_once(fleet: Planned) -> None:
    together = fleet(
        text(added=f"network: {{{EXISTING}}}"),
        text(name="Beta", added="network: {name: shared}\nzone: usw2-az1"),
        text(name="Gamma", added="network: {name: shared}\nzone: usw2-az4"),
        text(name="Delta"),
        text(name="Epsilon", region="us-east-1"),
    )

    here, there = of_rule(together, "TS-QUO-002")

    assert "new in us-west-2 for Beta, Gamma, Delta: VPCs: 2, Elastic IPs: 3;" in here.message
    assert "new in us-east-1 for Epsilon: VPCs: 1, Elastic IPs: 1;" in there.message


def test_interfaces_of_all_clusters_count_together(fleet: Planned) -> None:
    together = fleet(
        text("p5.48xlarge", nodes="{max: 100}"), text("p5.48xlarge", "{max: 100}", name="Beta")
    )

    found = of_rule(together, "TS-QUO-003")

    assert len(found) == 2
    assert "100 nodes have 33 network interfaces each, 3300 in all, and 6600 with Beta" in (
        found[0].message
    )


def test_root_volumes_of_all_clusters_count_together(fleet: Planned) -> None:
    together = fleet(
        text(nodes="{max: 100}", more=", root_gib: 400"),
        text(nodes="{max: 30}", more=", root_gib: 500", name="Beta"),
    )

    first, _ = of_rule(together, "TS-QUO-004")

    assert (
        "100 nodes, each with a root volume of 400 GiB, need 40 TiB of gp3, and 54 with Beta;"
        in first.message
    )
    assert "--service-code ebs --quota-code L-7A658B76 --desired-value 54 " in first.remedy


def test_scratch_volumes_count_with_the_root_volumes(fleet: Planned) -> None:
    (found,) = of_rule(fleet(scratch("gib: 10000", nodes=6)), "TS-QUO-004")

    assert "6 nodes, each with a root volume of 200 GiB and scratch volumes of 10000 GiB" in (
        found.message
    )
    assert "need 60 TiB of gp3;" in found.message


def test_io2_has_quotas_of_size_and_of_iops(fleet: Planned) -> None:
    together = fleet(
        scratch("type: io2, gib: 3000, iops: 64000", nodes=8),
        scratch("type: io2, gib: 3000, iops: 64000", nodes=1, name="Beta"),
    )

    first, second, *_ = of_rule(together, "TS-QUO-005")

    assert "8 nodes need 24 TiB of io2, and 27 with Beta; an account may have 20" in first.message
    assert "need 512000 IOPS of io2, and 576000 with Beta; an account may have 100000" in (
        second.message
    )
    assert "--quota-code L-09BD8365 --desired-value 27 " in first.remedy
    assert "--quota-code L-8D977E7E --desired-value 576000 " in second.remedy


@pytest.mark.parametrize(
    ("second", "differences"),
    [
        (text("trn1n.32xlarge", name="Beta"), "instance.type is trn1n.32xlarge here and"),
        (text(name="Beta", region="us-east-1"), "region is us-east-1 here and us-west-2 there"),
    ],
)
def test_one_reservation_does_not_serve_two_types_or_zones(
    problems: Callable[..., list[str]], second: str, differences: str
) -> None:
    capacity = "capacity: {reservation: cr-0123456789abcdef0}"

    (problem,) = problems(text(added=capacity), second + capacity)

    assert problem.startswith(
        "b.yaml:5: capacity: launches into cr-0123456789abcdef0, as does Alpha (a.yaml:4), "
    )
    assert differences in problem


@pytest.mark.parametrize(
    ("kind", "severity"),
    [("capacity_block", Severity.ERROR), ("reservation", Severity.WARNING)],
)
def test_a_window_without_any_job_is_an_error_where_its_nodes_go(
    fleet: Planned, kind: str, severity: Severity
) -> None:
    until = {"capacity_block": "01T12:15", "reservation": "01T11:45"}[kind]

    (found,) = of_rule(fleet(text(added=windows(f"01T11:30/{until}", kind=kind))), "TS-CAP-021")

    assert found.severity is severity


@pytest.mark.parametrize(
    ("until", "remedy"),
    [
        ("01T13:00", "set training.checkpoint_minutes to at most 35"),
        ("01T12:25", "use faster storage, or give the window more time"),
    ],
)
def test_a_checkpoint_can_be_written_earlier_where_that_helps(
    fleet: Planned, until: str, remedy: str
) -> None:
    cluster = text(added=windows(f"01T11:30/{until}") + CHECKPOINTS.format(36))

    (found,) = of_rule(fleet(cluster), "TS-CAP-021")

    assert found.remedy == remedy
