"""What a review says about each cluster: facts, cost and quotas, before and after."""

from collections.abc import Callable
from pathlib import Path

import pytest
from planned_types import TAKEN

from trainshed import catalogue
from trainshed.cost import cluster_cost
from trainshed.plan import ClusterPlan, Fleet
from trainshed.prices import load_prices
from trainshed.review.clusters import cluster_changes
from trainshed.review.cost import total_cost
from trainshed.review.model import (
    ClusterChange,
    Effect,
    Mark,
    QuotaChange,
    ResourceChange,
    StackChange,
)
from trainshed.review.quotas import quota_changes
from trainshed.spec import Orchestrator

TRAIN = """
name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 16}}
storage: {lustre: {capacity_gib: 4800}}
"""
PLAIN = "name: PlainCluster\nregion: us-west-2\ninstance: {type: p4d.24xlarge, nodes: {max: 2}}\n"
SHARED = "network: {name: shared}\n"
NOTHING = Fleet(clusters=())
Planner = Callable[..., Fleet]


@pytest.fixture(autouse=True)
def _no_prices_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def stack(name: str, effect: Effect, *resources: tuple[str, Effect]) -> StackChange:
    return StackChange(
        name=name,
        effect=effect,
        resources=tuple(
            ResourceChange(
                stack=name, logical_id="Id", name="Path", resource_type=resource, effect=what
            )
            for resource, what in resources
        ),
    )


def facts(change: ClusterChange) -> dict[str, tuple[str | None, str | None]]:
    found = {each.name: (each.before, each.after) for each in change.facts}
    assert len(found) == len(change.facts)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            TRAIN.replace("trn1.32xlarge", "trn1n.32xlarge"),
            {
                "instance type": ("trn1.32xlarge", "trn1n.32xlarge"),
                "network cards": ("8", "16"),
                "interfaces": ("1 x efa + 7 x efa-only", "1 x efa + 15 x efa-only"),
                "EFA": ("800 of 800 Gbps", "1600 of 1600 Gbps"),
                "zone": ("usw2-az1", "usw2-az4"),
                "private subnet": ("10.20.0.0/19", "10.20.96.0/19"),
                "public subnet": ("10.20.224.0/22", "10.20.236.0/22"),
            },
            id="instance type",
        ),
        pytest.param(
            TRAIN.replace("{max: 16}", "{min: 1, max: 20}, interfaces: ec2"),
            {
                "nodes": ("0 to 16", "1 to 20"),
                "interfaces": ("1 x efa + 7 x efa-only", "1 x interface + 8 x efa-only"),
                "interface layout": ("batch-mnp", "ec2"),
                "failed boots that stop launches": ("4 in 3 hours", "5 in 3 hours"),
            },
            id="nodes and interfaces",
        ),
        pytest.param(
            TRAIN.replace("{max: 16}", "{max: 16}, ami: 'stable:7', root_gib: 512"),
            {
                "AMI": ("/trainshed/ami/neuron/ecs/stable", "/trainshed/ami/neuron/ecs/stable:7"),
                "root volume": ("200 GiB, 1000 MiB/s", "512 GiB, 1000 MiB/s"),
            },
            id="AMI and root volume",
        ),
        pytest.param(
            TRAIN + "capacity: {reservation: cr-0123456789abcdef0}\n",
            {
                "capacity": ("on-demand", "reservation cr-0123456789abcdef0"),
                "placement group": ("cluster", "none"),
            },
            id="capacity and placement group",
        ),
        pytest.param(
            TRAIN + "capacity: {calendar: [{capacity_block: cr-0123456789abcdef0, "
            "from: 2126-12-01T11:30Z, until: 2126-12-08T11:30Z}]}\n",
            {
                "capacity": (
                    "on-demand",
                    "capacity-block cr-0123456789abcdef0 2126-12-01 11:30 to 2126-12-08 11:30",
                ),
                "placement group": ("cluster", "none"),
                "wait for capacity": ("2 hours", "until a window begins"),
                "update time-out": ("72 hours", "120 hours"),
            },
            id="a calendar",
        ),
        pytest.param(
            TRAIN.partition("storage")[0],
            {
                "file system": ("Lustre persistent-2", None),
                "storage": ("4800 GiB", None),
                "storage throughput": ("250 MB/s per TiB", None),
                "storage network": ("TCP", None),
                "storage mount": ("/fsx", None),
            },
            id="storage",
        ),
        pytest.param(
            TRAIN + "image: {tag: v2}\njob: {timeout_hours: 24, attempts: 1}\n",
            {
                "container image": ("train:v1", "train:v2"),
                "time limit of a job": ("72 hours", "24 hours"),
                "attempts of a job": ("3", "1"),
                "update time-out": ("72 hours", "24 hours"),
            },
            id="image and job",
        ),
        pytest.param(
            TRAIN + "owner: speech\ntags: {team: asr}\niam: {prefix: ml-}\n",
            {
                "tags": ("owner=unassigned", "owner=speech, team=asr"),
                "beginning of role names": (None, "ml-"),
            },
            id="tags and roles",
        ),
        pytest.param(
            TRAIN + "kms_key: arn:aws:kms:us-west-2:111122223333:key/"
            "01234567-89ab-cdef-0123-456789abcdef\n",
            {
                "encryption key": (
                    "keys of AWS",
                    "arn:aws:kms:us-west-2:111122223333:key/01234567-89ab-cdef-0123-456789abcdef",
                )
            },
            id="key",
        ),
    ],
)
def test_the_facts_that_differ_are_named(
    fleet: Planner, text: str, expected: dict[str, tuple[str | None, str | None]]
) -> None:
    (change,) = cluster_changes(fleet(TRAIN), fleet(text), (), ())

    assert facts(change) == expected
    assert (change.name, change.effect) == ("TrainCluster", Effect.CHANGED)
    assert change.file.endswith("a.yaml")


def test_other_scratch_volumes_are_named(fleet: Planner) -> None:
    before = TRAIN.partition("storage")[0].replace(
        "trn1.32xlarge, nodes: {max: 16}", "p3.16xlarge, scratch: {ebs: {gib: 1000}}"
    )
    after = before.replace("gib: 1000", "gib: 2000, throughput: 1600")

    (change,) = cluster_changes(fleet(before), fleet(after), (), ())

    assert facts(change) == {
        "scratch volumes": ("1 x gp3 of 1000 GiB", "1 x gp3 of 2000 GiB"),
        "speed of each scratch volume": ("125 MiB/s, 3000 IOPS", "1600 MiB/s, 6400 IOPS"),
    }


def test_another_orchestrator_is_named(fleet: Planner) -> None:
    (change,) = cluster_changes(fleet(TRAIN), fleet(TRAIN + "orchestrator: ec2\n"), (), ())

    assert facts(change)["orchestrator"] == ("batch", "ec2")
    assert facts(change)["nodes"] == ("0 to 16", "16")


def test_another_value_of_a_variable_is_named_and_not_shown(fleet: Planner) -> None:
    before, after = (
        fleet(f"{TRAIN}job: {{environment: {{TOKEN: {value}, MODE: fast}}}}\n")
        for value in ("hunter2", "hunter3")
    )

    (change,) = cluster_changes(before, after, (), ())

    assert facts(change) == {"variable TOKEN of a job": ("set", "another value")}
    assert "hunter" not in str(change)


def test_the_same_cluster_on_both_sides_differs_in_nothing(fleet: Planner) -> None:
    (change,) = cluster_changes(fleet(TRAIN), fleet(TRAIN), (), ())

    assert (change.effect, change.facts) == (None, ())
    assert change.cost.full_before == change.cost.full_after


def test_what_is_trained_changes_nothing_of_a_cluster(fleet: Planner) -> None:
    training = "training: {parameters: 1e9, checkpoint_minutes: 60}\n"

    (change,) = cluster_changes(fleet(TRAIN), fleet(TRAIN + training), (), ())

    assert (change.effect, change.facts) == (None, ())
    assert change.cost.full_before == change.cost.full_after


@pytest.mark.parametrize(("name", "orchestrator"), TAKEN)
def test_no_type_differs_from_itself(
    plan_of: Callable[[str, Orchestrator], ClusterPlan], name: str, orchestrator: Orchestrator
) -> None:
    alone = Fleet(clusters=(plan_of(name, orchestrator),))

    (change,) = cluster_changes(alone, Fleet(clusters=(plan_of(name, orchestrator),)), (), ())

    assert (change.effect, change.facts) == (None, ())


TEMPLATE = ("AWS::EC2::LaunchTemplate", Effect.CHANGED)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            TRAIN,
            "a new version: the compute environment takes it, and running jobs may go on for "
            "72 hours",
            id="batch",
        ),
        pytest.param(
            TRAIN.replace("trn1.32xlarge", "p4d.24xlarge")
            + "capacity: {capacity_block: cr-0123456789abcdef0}\n",
            "a new version: another compute environment, which takes it, replaces this one",
            id="block",
        ),
        pytest.param(
            TRAIN + "orchestrator: ec2\n",
            "a new version: nodes that are launched from now on take it, and those that run keep "
            "theirs",
            id="ec2",
        ),
    ],
)
def test_a_new_version_of_the_launch_template_says_who_takes_it(
    fleet: Planner, text: str, said: str
) -> None:
    changes = [stack("TrainCluster", Effect.CHANGED, TEMPLATE)]

    (change,) = cluster_changes(fleet(text), fleet(text), changes, ())

    assert facts(change) == {"launch template": ("the latest version", said)}
    assert change.effect is Effect.CHANGED


def test_a_change_of_templates_alone_is_a_change(fleet: Planner) -> None:
    role = stack("TrainCluster", Effect.CHANGED, ("AWS::IAM::Role", Effect.CHANGED))
    grown = stack("TrainStorage", Effect.CHANGED, ("AWS::FSx::FileSystem", Effect.REPLACED))
    other = stack("OtherStack", Effect.CHANGED, ("AWS::IAM::Role", Effect.CHANGED))

    effects = [
        cluster_changes(fleet(TRAIN), fleet(TRAIN), [each], ())[0].effect
        for each in (role, grown, other)
    ]

    assert effects == [Effect.CHANGED, Effect.CHANGED, None]


def test_a_renamed_cluster_is_one_added_and_one_removed(fleet: Planner) -> None:
    renamed = TRAIN.replace("TrainCluster", "SpeechCluster")
    changes = [stack("SpeechCluster", Effect.ADDED), stack("TrainCluster", Effect.REMOVED)]

    added, removed = cluster_changes(fleet(TRAIN), fleet(renamed), changes, ())

    assert (added.name, added.effect) == ("SpeechCluster", Effect.ADDED)
    assert (removed.name, removed.effect) == ("TrainCluster", Effect.REMOVED)
    assert facts(added)["nodes"] == (None, "0 to 16")
    assert facts(removed)["nodes"] == ("0 to 16", None)
    assert "root volume" not in facts(added)
    assert (added.cost.full_before, removed.cost.full_after) == (None, None)
    assert added.cost.full_after == removed.cost.full_before


def test_with_a_broken_base_nothing_is_new(fleet: Planner) -> None:
    (change,) = cluster_changes(NOTHING, fleet(TRAIN), (), ())

    assert (change.effect, change.facts) == (None, ())
    assert {part.mark for part in change.picture.parts} == {Mark.SAME}
    assert change.cost.full_before is None


def test_changed_clusters_come_first(fleet: Planner) -> None:
    before, after = fleet(PLAIN, TRAIN), fleet(PLAIN, TRAIN.replace("4800", "7200"))

    names = [each.name for each in cluster_changes(before, after, (), ())]

    assert names == ["TrainCluster", "PlainCluster"]


def test_the_cost_of_a_cluster_is_that_of_the_cost_command(fleet: Planner) -> None:
    before, after = fleet(TRAIN), fleet(TRAIN.replace("max: 16", "min: 1, max: 8"))

    (change,) = cluster_changes(before, after, (), ())

    old, new = (
        cluster_cost(side.clusters[0], load_prices("us-west-2")) for side in (before, after)
    )
    cost = change.cost
    assert (cost.idle_before, cost.full_before) == (old.idle, old.full)
    assert (cost.idle_after, cost.full_after) == (new.idle, new.full)
    assert old.full.usd > new.full.usd and old.idle.usd < new.idle.usd


def test_what_clusters_share_costs_once_in_all(fleet: Planner) -> None:
    shared = fleet(TRAIN + SHARED, PLAIN + SHARED)
    alone = fleet(TRAIN, PLAIN)

    cost = total_cost(alone, shared, ())

    each = [cluster_cost(plan, load_prices("us-west-2")).full.usd for plan in alone.clusters]
    assert cost.full_before and cost.full_after
    assert cost.full_before.usd == pytest.approx(sum(each))
    # One NAT gateway, and its address, less.
    assert cost.full_before.usd - cost.full_after.usd == pytest.approx(0.05)


def test_a_network_in_two_zones_has_all_its_parts_twice(fleet: Planner) -> None:
    ecr = "network: {name: shared, endpoints: [ecr]}\n"
    one = fleet(TRAIN + ecr, PLAIN + ecr + "zone: usw2-az1\n")
    two = fleet(TRAIN + ecr, PLAIN + ecr + "zone: usw2-az2\n")
    assert one.clusters[0].zone.name == "usw2-az1"

    cost = total_cost(one, two, ())

    assert cost.idle_before and cost.idle_after
    assert cost.idle_after.usd - cost.idle_before.usd == pytest.approx(0.05 + 2 * 0.01)


def test_a_file_system_that_is_shared_costs_once(fleet: Planner) -> None:
    data = "storage: {lustre: {name: data, capacity_gib: 4800}}\n"
    first = PLAIN + SHARED + "zone: usw2-az2\nmonitoring: false\n" + data
    second = first.replace("PlainCluster", "OtherCluster")

    cost = total_cost(fleet(first), fleet(first, second), ())

    assert cost.idle_before and cost.idle_after
    assert cost.idle_after == cost.idle_before


def test_a_file_system_that_aws_does_not_change_costs_what_it_did(fleet: Planner) -> None:
    storage = "storage: {lustre: {capacity_gib: %s, metadata_iops: 6000}}\n"
    large, small = (fleet(PLAIN + storage % gib) for gib in (4800, 2400))
    # The price of metadata IOPS that do not come with the storage is not known.
    planned = total_cost(large, small, ())
    assert planned.full_after and planned.full_after.unknown

    cost = total_cost(large, small, {"PlainStorage"})
    (change,) = cluster_changes(large, small, (), {"PlainStorage"})

    assert cost.full_before == cost.full_after == change.cost.full_after
    assert cost.full_before and not cost.full_before.unknown


def test_a_price_that_nobody_knows_is_named_with_its_cluster(fleet: Planner) -> None:
    block = (
        PLAIN.replace("us-west-2", "us-east-2").replace("p4d.24xlarge", "p5e.48xlarge")
        + "capacity: {capacity_block: cr-0123456789abcdef0}\n"
    )

    cost = total_cost(NOTHING, fleet(block, TRAIN), ())

    assert cost.full_before is None
    assert cost.full_after and str(cost.full_after).startswith("at least ")
    assert "PlainCluster: instances, capacity-block" in cost.full_after.unknown


def needs(changes: tuple[QuotaChange, ...]) -> dict[str, tuple[int, int]]:
    return {change.code: (change.before, change.after) for change in changes}


def test_quotas_are_needed_by_all_clusters_together(fleet: Planner) -> None:
    before = fleet(TRAIN)
    after = fleet(TRAIN.replace("max: 16", "max: 8"), PLAIN)

    changes = quota_changes(before, after)

    assert {change.region for change in changes} == {"us-west-2"}
    trn, p = (
        catalogue.lookup(name).on_demand_quota.code for name in ("trn1.32xlarge", "p4d.24xlarge")
    )
    assert needs(changes) == {
        trn: (16 * 128, 8 * 128),
        p: (0, 2 * 96),
        "L-F678F1CE": (1, 2),  # VPCs
        "L-0263D0A3": (1, 2),  # Elastic IPs
        "L-DF5E4CA3": (16 * 9, 8 * 9 + 2 * 5),  # network interfaces, one of them the job's
        "L-7A658B76": (4, 2),  # TiB of volumes of 200 GiB, rounded up
    }


def test_a_change_of_the_purchase_is_one_of_price_and_quota(fleet: Planner) -> None:
    plain = TRAIN + "orchestrator: ec2\n"
    before, after = fleet(plain), fleet(plain + "capacity: {spot: {max_price: 9.5}}\n")
    [change] = cluster_changes(before, after, (), ())
    trn = catalogue.lookup("trn1.32xlarge")

    found = needs(quota_changes(before, after))

    assert facts(change) == {"capacity": ("on-demand", "spot at most 9.5 USD an hour")}
    assert found[trn.on_demand_quota.code] == (16 * 128, 0)
    assert found[trn.spot_quota.code] == (0, 16 * 128)


def test_clusters_of_amazon_eks_need_quotas_of_it(fleet: Planner) -> None:
    eks = """
region: us-west-2
orchestrator: eks
network: {name: lab}
kubernetes: {name: lab}
instance: {type: trn1.32xlarge, nodes: {max: %d}}
"""
    one, two = f"name: OneCluster{eks % 2}", f"name: TwoCluster{eks % 8}"

    found = needs(quota_changes(fleet(one), fleet(one, two)))

    assert {code: found[code] for code in ("L-1194D53C", "L-6D54EA21", "L-BD136A63")} == {
        "L-1194D53C": (1, 1),  # control planes
        "L-6D54EA21": (2, 3),  # node groups of a control plane, with that of its system nodes
        "L-BD136A63": (2, 8),  # nodes of a group
    }


def test_quotas_of_regions_and_accounts_are_apart(fleet: Planner) -> None:
    here = TRAIN + "account: '111122223333'\n"
    account = PLAIN.replace("p4d.24xlarge", "trn1.32xlarge") + "account: '444455556666'\n"
    region = (
        TRAIN.replace("us-west-2", "us-east-1").replace("TrainCluster", "EastCluster")
        + "account: '111122223333'\n"
    )

    changes = quota_changes(NOTHING, fleet(here, account, region))

    vcpus = [
        (change.region, change.after)
        for change in changes
        if change.code == catalogue.lookup("trn1.32xlarge").on_demand_quota.code
    ]
    assert vcpus == [("us-east-1", 2048), ("us-west-2", 2048), ("us-west-2", 256)]
    assert "1111" not in str(changes)


def test_a_capacity_block_in_an_existing_network_needs_few_quotas(fleet: Planner) -> None:
    text = (
        PLAIN
        + "capacity: {capacity_block: cr-0123456789abcdef0}\n"
        + "network: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0}\n"
    )

    assert needs(quota_changes(NOTHING, fleet(text))).keys() == {"L-DF5E4CA3", "L-7A658B76"}
