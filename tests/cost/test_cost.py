"""What a cluster costs: the arithmetic, and what is said of prices that nobody knows."""

import math
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainshed import catalogue
from trainshed.catalogue.lustre import included_metadata_iops
from trainshed.cost import HOURS_PER_MONTH, ClusterCost, Total, cluster_cost, running_cost
from trainshed.errors import TrainshedError
from trainshed.monitoring.signals import sent_of
from trainshed.plan import ClusterPlan, load_fleet, make_plan
from trainshed.prices import (
    CLOUDWATCH_METRIC,
    GP3,
    Price,
    PriceList,
    Purchase,
    instance_item,
    load_prices,
    unit_of,
)
from trainshed.spec import ClusterSpec, SpecError

ROOT = Path(__file__).parents[2]
NONE = PriceList(region="us-west-2", prices={})


def shipped(name: str) -> ClusterPlan:
    (plan,) = load_fleet([ROOT / "clusters" / f"{name}.yaml"]).clusters
    return plan


def planned(**fields: object) -> ClusterPlan:
    return make_plan(
        ClusterSpec.model_validate(
            {
                "name": "TestCluster",
                "region": "us-west-2",
                "instance": {"type": "trn1.32xlarge", "nodes": {"max": 4}},
                **fields,
            }
        )
    )


def usd(amount: float, item: str) -> Price:
    return Price(
        usd=amount, unit=unit_of(item), region="us-west-2", date=date(2026, 1, 2), source="a test"
    )


def prices(**amounts: float) -> PriceList:
    """Prices by item, in which _ stands for / after the kind and for - elsewhere."""
    items = {
        "on_demand": "on-demand/trn1.32xlarge",
        "block": "capacity-block/trn1.32xlarge",
        "gp3": "ebs-gp3",
        "throughput": "ebs-gp3-throughput",
        "gp3_iops": "ebs-gp3-iops",
        "nat": "nat-gateway-hour",
        "address": "public-ipv4-hour",
        "endpoint": "endpoint-hour",
        "scratch": "lustre/scratch-2",
        "lustre250": "lustre/persistent-2/250",
        "iops": "lustre/metadata-iops",
        "metric": CLOUDWATCH_METRIC,
    }
    return PriceList(
        region="us-west-2",
        prices={items[name]: usd(amount, items[name]) for name, amount in amounts.items()},
    )


def row(cost: ClusterCost, start: str) -> tuple[float | None, float | None, float | None]:
    (found,) = [row for row in cost.rows if row.component.startswith(start)]
    return found.idle_usd_per_hour, found.full_usd_per_hour, found.run_usd_per_hour


def test_the_shipped_trn1_cluster_costs_what_one_reckons_by_hand() -> None:
    cost = cluster_cost(shipped("train"), load_prices("us-west-2", Path("none")), nodes=8, hours=24)

    # 16 nodes at 21.50; a root volume of 512 GiB each at 0.08 a month, with 875 MiB/s more than
    # every one at 0.04, and 1000 IOPS more at 0.005; 4800 GiB of persistent-2 at
    # 250 MB/s per TiB at 0.21; 6000 IOPS come with 4800 GiB; a NAT gateway with one address; a
    # dashboard at 3 a month, 8 metrics of alarms at 0.1; while nodes run, 13 metrics of each and of
    # the cluster at 0.3.
    always = 4800 * 0.21 / 730 + 0.045 + 0.005 + (3 + 8 * 0.1) / 730
    node = 21.5 + (512 * 0.08 + 875 * 0.04 + 1000 * 0.005 + 13 * 0.3) / 730
    running = always + 13 * 0.3 / 730
    assert cost.idle.usd == pytest.approx(always)
    assert cost.full.usd == pytest.approx(16 * node + running)
    assert cost.idle_month and cost.full_month
    assert cost.idle_month.usd == pytest.approx(730 * always)
    assert cost.full_month.usd == pytest.approx(730 * (16 * node + running))
    assert cost.run and cost.run.cost.usd == pytest.approx(24 * (8 * node + running))
    assert (cost.idle.unknown, cost.full.unknown, cost.run.cost.unknown) == ((), (), ())
    assert row(cost, "instances") == pytest.approx((0, 344, 172))


def test_an_alarm_about_idle_nodes_is_two_metrics_of_alarms() -> None:
    def alarms(**guard: Any) -> list[str]:
        spec = {
            "name": "IdleCluster",
            "region": "us-west-2",
            "orchestrator": "ec2",
            "instance": {"type": "trn1.32xlarge"},
            **guard,
        }
        plan = make_plan(ClusterSpec.model_validate(spec))
        cost = cluster_cost(plan, load_prices("us-west-2", Path("none")))
        return [each.component for each in cost.rows if "metrics of alarms" in each.component]

    [without], [beside] = alarms(), alarms(guard={"idle": {"action": "scale-down"}})

    count = int(without.split()[1])
    assert beside == f"CloudWatch, {count + 2} metrics of alarms"


def test_the_shipped_p4d_cluster_costs_at_least_what_is_known_of_it() -> None:
    cost = cluster_cost(shipped("p4d"), load_prices("us-west-2", Path("none")))

    # Nobody has published what persistent-2 with 500 MB/s per TiB costs there.
    lustre = "Lustre persistent-2, 2400 GiB, 500 MB/s per TiB"
    # A NAT gateway with its address; a dashboard and 11 metrics of alarms; 17 metrics of each node.
    idle = 0.05 + (3 + 11 * 0.1) / 730
    node = 21.957642 + (200 * 0.08 + 40 + 17 * 0.3) / 730
    assert cost.idle.usd == pytest.approx(idle)
    assert cost.full.usd == pytest.approx(8 * node + 17 * 0.3 / 730 + idle)
    assert cost.idle.unknown == cost.full.unknown == cost.unknown == (lustre,)
    assert str(cost.idle) == "at least 0.056 USD"
    assert row(cost, "Lustre") == (None, None, None)


def test_nodes_that_are_kept_are_paid_for_while_no_job_runs() -> None:
    plan = planned(
        instance={"type": "trn1.32xlarge", "nodes": {"min": 3, "max": 4}, "root_gib": 73}
    )

    cost = cluster_cost(plan, prices(on_demand=10, gp3=1, nat=0.5, address=0.25), nodes=2, hours=2)

    assert row(cost, "instances") == (30, 40, 30)
    assert row(cost, "root volumes, gp3") == pytest.approx((0.3, 0.4, 0.3))
    assert cost.idle.usd == pytest.approx(30 + 0.3 + 0.75)
    assert cost.run and (cost.run.nodes, cost.run.billed_nodes) == (2, 3)
    assert cost.run.cost.usd == pytest.approx(2 * cost.idle.usd)


def test_plain_ec2_nodes_are_there_all_the_time() -> None:
    plan = planned(orchestrator="ec2", instance={"type": "trn1.32xlarge", "nodes": {"max": 4}})

    cost = cluster_cost(plan, prices(on_demand=10), nodes=1, hours=1)

    assert row(cost, "instances") == (40, 40, 40)
    assert not [entry for entry in cost.rows if "ECR" in entry.component]


def test_scratch_volumes_are_paid_for_by_size_and_speed() -> None:
    ebs = {"gib": 730, "throughput": 4000, "iops": 20000}
    instance = {"type": "inf2.48xlarge", "nodes": {"max": 1}, "scratch": {"ebs": ebs}}

    cost = cluster_cost(planned(instance=instance), prices(gp3=1, throughput=1, gp3_iops=1))

    # Two volumes, each with 125 MiB/s and 3000 IOPS without a charge.
    assert row(cost, "scratch volumes, gp3, 730 GiB")[1] == pytest.approx(1)
    assert row(cost, "scratch volumes, 3750 MiB/s more")[1] == pytest.approx(3750 / 730)
    assert row(cost, "scratch volumes, 14000 IOPS more")[1] == pytest.approx(14000 / 730)


def test_io2_is_paid_for_by_the_tiers_of_each_volume_s_iops() -> None:
    ebs = {"gib": 2000, "type": "io2", "iops": 140000}
    instance = {"type": "inf2.48xlarge", "nodes": {"max": 1}, "scratch": {"ebs": ebs}}
    prices = {"ebs-io2": 73, "ebs-io2-iops": 7.3, "ebs-io2-iops-tier2": 0.73}
    known = PriceList(
        region="us-west-2", prices={item: usd(amount, item) for item, amount in prices.items()}
    )

    cost = cluster_cost(planned(instance=instance), known)

    assert row(cost, "scratch volumes, io2, 2000 GiB")[1] == pytest.approx(200)
    assert row(cost, "scratch volumes, 32000 IOPS a node, of 1 to")[1] == pytest.approx(320)
    assert row(cost, "scratch volumes, 32000 IOPS a node, of 32001")[1] == pytest.approx(32)
    assert row(cost, "scratch volumes, 76000 IOPS a node, of 64001 to")[:2] == (0, None)


def test_the_volumes_of_system_nodes_are_paid_for() -> None:
    plan = planned(orchestrator="eks")

    cost = cluster_cost(plan, prices(on_demand=10, gp3=7.3))

    # Two of 50 GiB.
    assert row(cost, "root volumes of system nodes")[:2] == pytest.approx((1, 1))


@pytest.mark.parametrize(
    ("capacity", "price"),
    [
        pytest.param({"reservation": "cr-0123456789abcdef0"}, {"on_demand": 10}, id="reservation"),
        pytest.param({"capacity_block": "cr-0123456789abcdef0"}, {"block": 10}, id="block"),
    ],
)
def test_what_is_reserved_is_paid_for_whether_nodes_run_or_not(
    capacity: dict[str, str], price: dict[str, float]
) -> None:
    cost = cluster_cost(planned(capacity=capacity), prices(**price), nodes=1, hours=1)

    assert row(cost, "instances") == (40, 40, 40)
    assert any("cr-0123456789abcdef0 is taken to hold 4" in remark for remark in cost.remarks)


@pytest.mark.parametrize(
    ("item", "fields", "hourly"),
    [
        pytest.param("on_demand", {}, [0, 10, 40], id="instances"),
        pytest.param(
            "on_demand", {"capacity": {"reservation": "cr-0123456789abcdef0"}}, [40] * 3, id="held"
        ),
        pytest.param("gp3", {}, [0, 0.1, 0.4], id="volumes"),
    ],
)
def test_what_runs_costs_what_so_many_nodes_cost(
    item: str, fields: dict[str, Any], hourly: list[float]
) -> None:
    instance = {"type": "trn1.32xlarge", "nodes": {"min": 2, "max": 4}, "root_gib": 73}
    plan = planned(instance=instance, **fields)

    costs = [running_cost(plan, prices(**{item: 10 if item != "gp3" else 1}), n) for n in (0, 1, 4)]

    assert [each.usd for each in costs] == pytest.approx(hourly)


def test_each_node_that_runs_has_metrics_and_so_has_the_cluster() -> None:
    plan = planned(orchestrator="eks")
    sent = len(sent_of(plan))

    costs = [running_cost(plan, prices(metric=HOURS_PER_MONTH), nodes).usd for nodes in (1, 4)]

    assert sent
    assert costs == pytest.approx([2 * sent, 5 * sent])


def of_two_types(**capacity: object) -> ClusterPlan:
    types = ["p4d.24xlarge", "p4de.24xlarge"]
    return planned(
        orchestrator="ec2",
        instance={"type": types[0], "nodes": {"max": 2}},
        capacity={**capacity, "instance_types": types},
    )


@pytest.mark.parametrize(
    ("bought", "capacity"),
    [
        pytest.param(Purchase.ON_DEMAND, {}, id="on-demand"),
        pytest.param(Purchase.SPOT, {"spot": {}}, id="spot"),
    ],
)
def test_there_are_totals_with_all_nodes_of_each_type(
    bought: Purchase, capacity: dict[str, object]
) -> None:
    items = [instance_item(bought, each) for each in ("p4d.24xlarge", "p4de.24xlarge")]
    known = {items[0]: usd(22, items[0]), items[1]: usd(27.5, items[1]), GP3: usd(0, GP3)}

    cost = cluster_cost(
        of_two_types(**capacity), PriceList(region="us-west-2", prices=known), nodes=1, hours=3
    )

    first, second = cost.by_type
    assert cost.run and cost.full_month
    assert (first.instance_type, first.full, first.run) == (
        "p4d.24xlarge",
        cost.full,
        cost.run.cost,
    )
    assert second.price == known[items[1]]
    # All nodes of ec2 are there all the time.
    more = 2 * (27.5 - 22)
    assert second.idle.usd == pytest.approx(cost.idle.usd + more)
    assert second.full_month.usd == pytest.approx(cost.full_month.usd + more * 730)
    assert second.run
    assert second.run.usd == pytest.approx(cost.run.cost.usd + more * 3)
    assert any("may launch p4de.24xlarge in place of p4d.24xlarge" in it for it in cost.remarks)


def test_a_total_of_a_type_says_that_its_price_is_unknown() -> None:
    item = instance_item(Purchase.ON_DEMAND, "p4d.24xlarge")

    cost = cluster_cost(of_two_types(), PriceList(region="us-west-2", prices={item: usd(22, item)}))

    first, second = cost.by_type
    assert "instances, on-demand" not in first.full.unknown
    assert "instances, on-demand" in second.full.unknown
    assert (second.price, second.run) == (None, None)


def test_a_cluster_of_one_type_has_no_totals_by_type() -> None:
    assert cluster_cost(planned(), prices(on_demand=1)).by_type == ()


@pytest.mark.parametrize(
    ("kind", "known", "said"),
    [
        # 4 nodes for 7 and 5 days.
        pytest.param("capacity_block", {"block": 10}, "cost 11,520.00 USD in them, paid when each"),
        pytest.param("capacity_block", {"on_demand": 10}, "cost an unknown sum in them"),
        pytest.param("reservation", {"on_demand": 5}, "cost 5,760.00 USD in them, at the price on"),
    ],
    ids=["blocks", "unknown", "reservations"],
)
def test_the_windows_of_a_calendar_are_added_up(
    kind: str, known: dict[str, float], said: str
) -> None:
    days = {"cr-0123456789abcdef0": ("01", "08"), "cr-0fedcba9876543210": ("10", "15")}
    windows = [
        {kind: each, "from": f"2126-12-{begin}T11:30Z", "until": f"2126-12-{end}T11:30Z"}
        for each, (begin, end) in days.items()
    ]
    instance = {"type": "trn1.32xlarge", "nodes": {"max": 4}}

    cost = cluster_cost(planned(instance=instance, capacity={"calendar": windows}), prices(**known))

    [of_windows] = [each for each in cost.remarks if "windows" in each]
    [held] = [each for each in cost.remarks if "taken to hold" in each]
    assert f"have 288 hours: 4 nodes {said}" in of_windows
    assert (cost.idle_month, cost.full_month) == (None, None)
    assert held.startswith("cr-0123456789abcdef0 and cr-0fedcba9876543210 are taken to hold 4 ins")


def test_a_capacity_block_never_gets_the_on_demand_price() -> None:
    plan = planned(capacity={"capacity_block": "cr-0123456789abcdef0"})

    cost = cluster_cost(plan, prices(on_demand=10))

    assert cost.full.unknown[0] == "instances, capacity-block"


def test_metadata_above_what_comes_with_the_storage_is_paid_for() -> None:
    lustre = {"capacity_gib": 2400, "metadata_iops": 12000}
    plan = planned(storage={"lustre": lustre})

    cost = cluster_cost(plan, prices(lustre250=0.73, iops=0.073))

    assert row(cost, "Lustre persistent-2")[0] == pytest.approx(2.4)
    assert row(cost, "Lustre metadata, 9000 IOPS")[0] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("gib", "iops"),
    [
        *[(1200, 1500), (2400, 3000), (4800, 6000), (9600, 6000), (12000, 12000)],
        *[(45600, 12000), (48000, 24000), (72000, 36000), (96000, 48000)],
    ],
)
def test_the_included_metadata_iops_follow_the_storage(gib: int, iops: int) -> None:
    assert included_metadata_iops(gib) == iops


def test_each_endpoint_is_paid_for() -> None:
    plan = planned(network={"endpoints": ["ecr", "logs"]})

    cost = cluster_cost(plan, prices(endpoint=0.01))

    assert row(cost, "interface endpoints: ecr.api, ecr.dkr, logs")[0] == pytest.approx(0.03)


def test_what_is_there_already_is_not_counted_and_said_so() -> None:
    plan = planned(
        network={"vpc": "vpc-0123456789abcdef0", "subnet": "subnet-0123456789abcdef0"},
        storage={"lustre": {"existing": "fs-0123456789abcdef0"}},
    )

    cost = cluster_cost(plan, prices(on_demand=1, gp3=1, throughput=1, gp3_iops=1))

    assert cost.idle.usd == 0
    assert not [each for each in cost.unknown if not each.startswith("CloudWatch")]
    said = " ".join(cost.remarks)
    assert "fs-0123456789abcdef0 is there already" in said
    assert "vpc-0123456789abcdef0 is there already" in said


@pytest.mark.parametrize(
    ("lustre", "backups"),
    [
        ({}, True),
        ({"deployment": "scratch-2"}, False),
        ({"s3": {"bucket": "my-bucket"}}, False),
        ({"existing": "fs-0123456789abcdef0"}, False),
    ],
)
def test_backups_are_paid_for_where_fsx_makes_some(
    lustre: dict[str, object], backups: bool
) -> None:
    cost = cluster_cost(planned(storage={"lustre": lustre}), NONE)

    assert any(entry.component == "backups of Lustre" for entry in cost.rows) is backups


def test_a_withdrawn_type_has_a_price_and_a_warning() -> None:
    cost = cluster_cost(shipped("dl1"), load_prices("us-west-2", Path("none")))

    assert row(cost, "instances")[1] == pytest.approx(16 * 13.10904)
    assert cost.remarks[0].startswith("the EC2 API has not listed dl1.24xlarge since 2026-07-11: ")
    assert "does not mean that it can be launched" in cost.remarks[0]


def test_a_type_on_sale_has_no_such_warning() -> None:
    assert len(cluster_cost(shipped("train"), NONE).remarks) == 1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"nodes": 5, "hours": 1.0}, "a run on 5 nodes: TestCluster has 1 to 4"),
        ({"nodes": 0, "hours": 1.0}, "a run on 0 nodes"),
        ({"hours": 0.0}, "a run of 0 hours"),
        ({"hours": math.nan}, "a run of nan hours"),
        ({"hours": math.inf}, "a run of inf hours"),
        ({"hours": 1e308}, r"a run of 1e\+308 hours: give a number above 0, at most 87600"),
        ({"nodes": 2}, "say for how many hours"),
    ],
)
def test_a_run_that_cannot_be_is_refused(asked: dict[str, float], words: str) -> None:
    with pytest.raises(TrainshedError, match=words):
        cluster_cost(planned(), NONE, **asked)  # type: ignore[arg-type]  # a table of both


@given(
    instance_type=st.sampled_from(catalogue.all_types()),
    nodes=st.tuples(st.integers(0, 3), st.integers(1, 3)),
    orchestrator=st.sampled_from(["batch", "ec2"]),
    lustre=st.sampled_from(
        [None, {}, {"deployment": "scratch-2"}, {"throughput": 1000, "metadata_iops": 12000}]
    ),
    endpoints=st.sampled_from([(), ("ecr",), ("ssm", "logs")]),
    known=st.sets(st.integers(0, 12)),
    run=st.sampled_from([None, 0.5, 24.0]),
)
def test_a_total_is_the_sum_of_the_known_rows_and_an_unknown_price_is_never_zero(
    instance_type: str,
    nodes: tuple[int, int],
    orchestrator: str,
    lustre: dict[str, object] | None,
    endpoints: tuple[str, ...],
    known: set[int],
    run: float | None,
) -> None:
    fewest, most = sorted(nodes) if orchestrator == "batch" else (nodes[1], nodes[1])
    most = max(most, 1)
    fields = {
        "name": "AnyCluster",
        "region": catalogue.regions_offering(instance_type)[0],
        "orchestrator": orchestrator,
        "instance": {
            "type": instance_type,
            "nodes": {"min": fewest, "max": most},
            "ami": "ami-0123456789abcdef0",
        },
        "storage": {"lustre": lustre} if lustre is not None else {},
        "network": {"endpoints": list(endpoints)},
    }
    try:
        plan = make_plan(ClusterSpec.model_validate(fields))
    except SpecError:
        # A type without EFA has one node; others do not fit either.
        return
    every = [entry.item for entry in cluster_cost(plan, NONE).rows]
    told = {item: usd(number + 1, item) for number, item in enumerate(every) if number in known}

    cost = cluster_cost(plan, PriceList(region=plan.region, prices=told), hours=run)

    for total, amounts in (
        (cost.idle, {entry.component: entry.idle_usd_per_hour for entry in cost.rows}),
        (cost.full, {entry.component: entry.full_usd_per_hour for entry in cost.rows}),
    ):
        assert total.usd == pytest.approx(math.fsum(filter(None, amounts.values())))
        counted = [entry for entry in cost.rows if not entry.by_use]
        assert set(total.unknown) == {e.component for e in counted if amounts[e.component] is None}
    for entry in cost.rows:
        assert (entry.price is None) == (entry.item not in told)
        if entry.price is None and entry.full:
            assert entry.full_usd_per_hour is None
    if run:
        assert cost.run and cost.run.cost.usd == pytest.approx(run * cost.full.usd)


def test_what_nothing_is_known_of_is_unknown_and_not_at_least_nothing() -> None:
    assert str(Total(usd=0, unknown=("instances",))) == "unknown"
    assert str(Total(usd=0)) == "0.00 USD"
    assert str(Total(usd=2, unknown=("instances",))) == "at least 2.00 USD"


@pytest.mark.parametrize(
    ("orchestrator", "why"),
    [("batch", "AWS Batch runs no"), ("ec2", "a job ends when EC2 takes a node back")],
)
def test_the_price_of_spot_comes_with_what_it_means(orchestrator: str, why: str) -> None:
    ways = cluster_cost(planned(orchestrator=orchestrator), NONE).ways

    [remark] = [way.remark for way in ways if way.purchase == "spot"]
    assert why in remark


def test_a_cluster_on_spot_costs_the_highest_price_that_was_seen() -> None:
    plan = planned(orchestrator="ec2", capacity={"spot": {}})

    cost = cluster_cost(plan, load_prices("us-west-2", Path("none")))

    found = next(each for each in cost.rows if each.component == "instances, spot")
    assert str(found.price) == "3.68 to 3.72"
    assert found.full_usd_per_hour == pytest.approx(4 * 3.72)
    assert any("totals count the highest" in remark for remark in cost.remarks)
