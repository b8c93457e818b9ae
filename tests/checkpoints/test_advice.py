"""What `trainshed explain` says of the storages that checkpoints may be written to."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from trainshed.catalogue.lustre import SSD_SIZES, efa_sizes
from trainshed.checkpoints import (
    STORAGES,
    Advice,
    Checkpoint,
    Clients,
    Lustre,
    WrittenCheckpoint,
    advise,
)
from trainshed.plan import ClusterPlan, make_plan
from trainshed.prices import Price, PriceList, lustre_item, unit_of
from trainshed.spec import ClusterSpec, DeploymentType

LARGE = {"parameters": 70e9, "checkpoint_minutes": 20}
PERSISTENT = {
    lustre_item("persistent-2", 125): 0.1,
    lustre_item("persistent-2", 250): 0.2,
    lustre_item("persistent-2", 500): 0.3,
    lustre_item("persistent-2", 1000): 0.4,
}


def planned(
    training: Mapping[str, Any] | None = LARGE,
    lustre: Mapping[str, Any] | None = None,
    efs: Mapping[str, Any] | None = None,
    openzfs: Mapping[str, Any] | None = None,
    bucket: Mapping[str, Any] | None = None,
    **instance: Any,
) -> ClusterPlan:
    fields = {"type": "trn1.32xlarge", "nodes": {"max": 16}} | instance
    asked: dict[str, Any] = {"name": "Cluster1", "region": "us-west-2", "instance": fields}
    storages = {"lustre": lustre, "efs": efs, "openzfs": openzfs, "bucket": bucket}
    asked["storage"] = {name: each for name, each in storages.items() if each is not None}
    return make_plan(
        ClusterSpec.model_validate(asked | ({"training": training} if training else {}))
    )


def price_list(usd: Mapping[str, float]) -> PriceList:
    prices = {
        item: Price(
            usd=amount,
            unit=unit_of(item),
            region="us-west-2",
            date=date(2026, 1, 1),
            source="this test",
        )
        for item, amount in usd.items()
    }
    return PriceList(region="us-west-2", prices=prices)


def advised(plan: ClusterPlan, usd: Mapping[str, float] | None = None) -> Advice:
    advice = advise(plan, lambda _: price_list(usd or {}))
    assert advice
    return advice


def by_name(advice: Advice) -> dict[str, WrittenCheckpoint]:
    return {each.storage: each for each in advice.others}


def clients(
    nodes: int, *, gbps: float = 400, lustre_efa: bool = False, region: str = "us-west-2"
) -> Clients:
    return Clients(nodes=nodes, gbps=gbps, lustre_efa=lustre_efa, region=region)


def persistent(throughput: int) -> Lustre:
    return Lustre(deployment=DeploymentType.PERSISTENT_2, throughput=throughput)


def test_without_training_there_is_no_advice() -> None:
    assert advise(planned(training=None), lambda _: price_list({})) is None


def test_the_own_file_system_writes_what_its_size_and_tier_give() -> None:
    [own] = advised(planned(lustre={"capacity_gib": 9600, "throughput": 500})).own

    assert (own.size, own.mbps) == ("9600 GiB", 9600 * 500 // 1024)
    assert own.seconds == pytest.approx(980_000 / 4687)


def test_without_storage_it_still_compares_what_can_be_had() -> None:
    advice = advised(planned(type="inf1.24xlarge"))

    assert (advice.own, advice.scratch, advice.unknown) == ((), None, ())
    assert len(advice.others) == len(STORAGES)


@pytest.mark.parametrize("kind", ["lustre", "efs", "openzfs"])
def test_of_a_file_system_that_exists_only_the_account_knows_the_speed(kind: str) -> None:
    storage = {kind: {"existing": "fs-0123456789abcdef0"}}

    advice = advised(planned(type="inf1.24xlarge", **storage))

    [unknown] = advice.unknown
    assert (advice.own, unknown.size) == ((), "fs-0123456789abcdef0")
    assert unknown.why.startswith("trainshed preflight asks AWS")


@pytest.mark.parametrize(
    ("access", "unknown"),
    [("read", []), ("read-write", ["S3 bucket"]), ("read-write-delete", ["S3 bucket"])],
)
@pytest.mark.parametrize("existing", [{}, {"existing": "ours"}], ids=["new", "existing"])
def test_of_a_bucket_that_jobs_may_write_to_nobody_knows_the_speed(
    access: str, unknown: list[str], existing: dict[str, str]
) -> None:
    advice = advised(planned(type="inf1.24xlarge", bucket={"access": access, **existing}))

    assert [each.storage for each in advice.unknown] == unknown


def test_of_an_instance_store_nobody_knows_the_speed() -> None:
    [unknown] = advised(planned()).unknown

    assert (unknown.storage, unknown.size) == ("instance store", "16 x 7600 GB")
    assert unknown.why.endswith("lost with it: copy checkpoints elsewhere")


@pytest.mark.parametrize(
    ("instance_type", "ebs", "mibps"),
    [
        pytest.param("inf1.24xlarge", {"gib": 500}, 125, id="gp3, what each has"),
        pytest.param("inf1.24xlarge", {"gib": 1000, "throughput": 2200}, 2200, id="gp3, striped"),
        pytest.param("p3.2xlarge", {"gib": 140_000}, 208, id="less than the type moves"),
        pytest.param(
            "inf1.24xlarge", {"type": "io2", "gib": 100, "iops": 6000}, 1536, id="io2, by IOPS"
        ),
        pytest.param(
            "inf1.24xlarge", {"type": "io2", "gib": 500, "iops": 20_000}, 2264, id="io2, the type"
        ),
    ],
)
def test_each_node_writes_its_part_to_its_scratch_volumes(
    instance_type: str, ebs: dict[str, Any], mibps: int
) -> None:
    plan = planned(type=instance_type, scratch={"ebs": ebs}, nodes={"max": 4})

    scratch = advised(plan).scratch

    assert scratch
    assert scratch.mbps == pytest.approx(4 * mibps * 1.048576)
    assert not scratch.replicated
    # They are paid for with the nodes.
    assert (scratch.usd_per_month, scratch.unknown) == (None, ())


@pytest.mark.parametrize(("gib", "full"), [(228, True), (229, False)])
def test_a_checkpoint_may_be_too_large_for_the_scratch_volumes(gib: int, full: bool) -> None:
    plan = planned(type="inf1.24xlarge", scratch={"ebs": {"gib": gib}}, nodes={"max": 4})

    scratch = advised(plan).scratch

    assert scratch
    assert scratch.remark.endswith("; one does not fit") is full


def test_of_a_file_system_of_openzfs_its_own_size_and_throughput_count() -> None:
    [own] = advised(planned(openzfs={"capacity_gib": 20_000, "throughput": 3840})).own

    assert (own.size, own.mbps) == ("20000 GiB, 3840 MB/s", 3840)


@pytest.mark.parametrize(
    ("efs", "own"),
    [
        pytest.param({}, ["EFS, Elastic throughput", "Lustre scratch-2"], id="new"),
        pytest.param({"existing": "fs-0123456789abcdef0"}, ["Lustre scratch-2"], id="existing"),
    ],
)
def test_of_the_clusters_storages_the_fastest_is_first(efs: dict[str, str], own: list[str]) -> None:
    advice = advised(planned(lustre={"deployment": "scratch-2"}, efs=efs))

    assert [each.storage for each in advice.own] == own


@pytest.mark.parametrize(
    ("nodes", "gbps", "lustre_efa", "mbps"),
    [
        pytest.param(1, 400, False, 4 * 625, id="one node: 5 Gbps with each server"),
        pytest.param(16, 400, False, 4687, id="many nodes: the file system"),
        pytest.param(1, 10, False, 1250, id="a slow node"),
        pytest.param(1, 800, True, 4687, id="one node over EFA"),
        pytest.param(1, 25, True, 3125, id="a slow node over EFA"),
    ],
)
def test_lustre_is_as_fast_as_its_nodes_reach_it(
    nodes: int, gbps: float, lustre_efa: bool, mbps: float
) -> None:
    offer = persistent(1000).sized(4800, clients(nodes, gbps=gbps, lustre_efa=lustre_efa))

    assert offer.mbps == mbps


@pytest.mark.parametrize(
    ("lustre_efa", "gbps"), [(False, 100), (True, 700)], ids=["over TCP", "over EFA"]
)
def test_one_client_of_lustre_has_a_limit_beside_its_network(lustre_efa: bool, gbps: int) -> None:
    offer = persistent(1000).sized(960_000, clients(1, gbps=3200, lustre_efa=lustre_efa))

    assert offer.mbps == gbps * 125


@pytest.mark.parametrize("throughput", [125, 250, 500, 1000])
@pytest.mark.parametrize("lustre_efa", [False, True])
@pytest.mark.parametrize("nodes", [4, 16])
def test_the_offered_size_is_one_that_fsx_has_and_the_next_smaller_one_loses_more(
    throughput: int, lustre_efa: bool, nodes: int
) -> None:
    found = Checkpoint(gb=1000, minutes=20, dataset_gb=0)
    kind, writers = persistent(throughput), clients(nodes, lustre_efa=lustre_efa)
    sizes = (efa_sizes(throughput) if lustre_efa else None) or SSD_SIZES

    offer = kind.smallest(found, writers, 0.02)

    assert offer.gib
    assert sizes.has(offer.gib)
    assert found.lost(offer.mbps) <= 0.02
    smaller = offer.gib - sizes.step
    if sizes.has(smaller):
        assert found.lost(kind.sized(smaller, writers).mbps) > 0.02


def test_a_size_that_is_too_slow_by_less_than_1_mbps_is_not_offered() -> None:
    # 2,400 GiB give 2,343 MB/s.
    found = Checkpoint(gb=2.3435 * 98, minutes=98 * 49 / 60, dataset_gb=0)

    offer = persistent(1000).smallest(found, clients(16), 0.02)

    assert found.mbps_for(0.02) == pytest.approx(2343.5)
    assert offer.gib == 4800


def test_a_size_has_room_for_the_data_set_and_two_checkpoints() -> None:
    found = Checkpoint(gb=1, minutes=1000, dataset_gb=20_000)

    offers = [each.smallest(found, clients(16), 0.02) for each in STORAGES]

    assert [offer.gib for offer in offers if offer and offer.gib] == [*[19_200] * 5, 18_629]


def test_where_no_size_is_fast_enough_the_smallest_that_nodes_can_use_is_offered() -> None:
    found = Checkpoint(gb=980, minutes=1, dataset_gb=0)

    offer = persistent(1000).smallest(found, clients(1, gbps=100), 0.02)

    # 100 Gbps are 20 servers of 5 Gbps.
    assert (offer.gib, offer.mbps) == (24_000, 12_500)


@pytest.mark.parametrize(
    ("nodes", "gbps", "region", "mbps"),
    [
        pytest.param(1, 10, "us-west-2", 1250, id="the network of one node"),
        pytest.param(1, 400, "us-west-2", 1572.864, id="one client"),
        pytest.param(2, 400, "us-west-2", 3145.728, id="two clients"),
        pytest.param(16, 400, "us-west-2", 5368.70912, id="a fast region"),
        pytest.param(16, 400, "us-west-1", 1073.741824, id="any other region"),
        pytest.param(1, 400, "us-west-1", 1073.741824, id="one client there"),
    ],
)
def test_efs_is_as_fast_as_its_region_and_its_clients(
    nodes: int, gbps: float, region: str, mbps: float
) -> None:
    found = Checkpoint(gb=100, minutes=20, dataset_gb=0)

    offer = STORAGES[5].smallest(found, clients(nodes, gbps=gbps, region=region), 0.02)

    assert offer
    assert offer.storage == "EFS, Elastic throughput"
    assert offer.mbps == pytest.approx(mbps)


def test_efs_is_paid_for_by_what_is_stored_and_written() -> None:
    usd = {"efs-stored": 0.5, "efs-written": 0.25}
    plan = planned({"parameters": 1e9, "checkpoint_minutes": 5, "dataset_gib": 100})

    efs = by_name(advised(plan, usd))["EFS, Elastic throughput"]

    each = 14 / 1.073741824
    minutes = 5 + 14_000 / 5368.70912 / 60
    stored, written = 100 + 2 * each, each * 730 * 60 / minutes
    assert efs.usd_per_month == pytest.approx(0.5 * stored + 0.25 * written)


@pytest.mark.parametrize(
    ("gb", "mbps"), [(1, 160), (10, 640), (200, 10_240), (2000, 10_240)], ids=str
)
def test_openzfs_is_offered_with_a_throughput_that_it_has(gb: float, mbps: int) -> None:
    found = Checkpoint(gb=gb, minutes=20, dataset_gb=0)

    offer = STORAGES[-1].smallest(found, clients(16), 0.02)

    assert offer
    assert (offer.mbps, offer.units["openzfs-throughput"]) == (mbps, mbps)


def test_openzfs_is_not_faster_than_its_nodes() -> None:
    found = Checkpoint(gb=2000, minutes=20, dataset_gb=0)

    offer = STORAGES[-1].smallest(found, clients(1, gbps=10), 0.02)

    assert offer
    assert (offer.mbps, offer.units["openzfs-throughput"]) == (1250, 1280)


def test_openzfs_has_no_room_for_a_petabyte() -> None:
    found = Checkpoint(gb=1, minutes=20, dataset_gb=1e6)

    assert STORAGES[-1].smallest(found, clients(16), 0.02) is None


def test_the_cheapest_loses_little_and_survives_the_loss_of_a_server() -> None:
    usd = PERSISTENT | {lustre_item("scratch-2", None): 0.001, "efs-stored": 0, "efs-written": 0}

    advice = advised(planned(), usd)

    assert advice.cheapest
    assert advice.cheapest.storage == "Lustre persistent-2, 1000 MB/s per TiB"
    assert advice.cheapest.usd_per_month == pytest.approx(43_200 * 0.4)


def test_a_storage_whose_price_is_unknown_is_not_the_cheapest_and_names_the_price() -> None:
    usd = dict(PERSISTENT)
    del usd[lustre_item("persistent-2", 1000)]

    advice = advised(planned(), usd)

    unknown = by_name(advice)["Lustre persistent-2, 1000 MB/s per TiB"]
    assert (unknown.usd_per_month, unknown.unknown) == (None, ("lustre/persistent-2/1000",))
    assert advice.cheapest
    assert advice.cheapest.storage == "Lustre persistent-2, 500 MB/s per TiB"


def test_without_any_price_nothing_is_the_cheapest() -> None:
    assert advised(planned()).cheapest is None


def test_the_own_file_system_over_efa_is_compared_with_sizes_that_efa_has() -> None:
    lustre = {"capacity_gib": 4800, "throughput": 1000, "efa": True}
    plan = planned(lustre=lustre, type="p5.48xlarge", ami="ami-0123456789abcdef0")

    sizes = {each.storage: int(each.size.split()[0]) for each in advised(plan).others[1:5]}

    assert [
        gib % step for gib, step in zip(sizes.values(), (38400, 19200, 9600, 4800), strict=True)
    ] == [0] * 4
    assert advised(plan).own[0].size == "4800 GiB"
