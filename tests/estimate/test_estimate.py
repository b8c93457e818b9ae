"""Estimates: what the model predicts, and that nothing is estimated without published figures."""

from datetime import date
from pathlib import Path

import pytest

from trainshed.errors import TrainshedError
from trainshed.estimate import (
    Estimate,
    by_purchase,
    check_models,
    compare,
    comparisons,
    estimate,
    scaling_model,
    scalings,
)
from trainshed.estimate.scaling_model import MODELS
from trainshed.plan import ClusterPlan, load_fleet
from trainshed.prices import Price, PriceList, Unit, load_prices
from trainshed.ready_jobs import find_ready_job

ROOT = Path(__file__).parents[2]


def cluster(name: str) -> ClusterPlan:
    (plan,) = load_fleet([ROOT / "clusters" / f"{name}.yaml"]).clusters
    return plan


def estimated(model: str, name: str, nodes: int) -> Estimate:
    return estimate(model, cluster(name), nodes, load_prices("us-west-2", Path("none")))


def test_the_used_model_predicts_the_published_large_counts() -> None:
    model, largest = scaling_model()

    # T(n) = n t (1 - a log2 n): a is 0.0204 from 1, 2 and 4 nodes of BERT-Large, by least squares
    # (0.01957 x 1 + 0.04124 x 2) / (1 + 4), and 0.0496 from 1 and 8 of BERT 1.5B.
    checks = {c.training: c for c in check_models() if c.model == model.name}
    assert model.name == "each doubling costs the same"
    assert {name: (c.fitted, c.nodes) for name, c in checks.items()} == {
        "bert-340m": ((1, 2, 4), 8),
        "bert-1.5b": ((1, 8), 16),
    }
    a = ((1 - 2705.57 / 2 / 1379.76) + 2 * (1 - 5291.58 / 4 / 1379.76)) / 5
    assert checks["bert-340m"].predicted == pytest.approx(8 * 1379.76 * (1 - 3 * a))
    a = (1 - 1883.63 / 8 / 276.66) / 3
    assert checks["bert-1.5b"].predicted == pytest.approx(16 * 276.66 * (1 - 4 * a))
    assert [round(c.error_percent, 1) for c in checks.values()] == [3.9, -3.1]
    assert largest == checks["bert-340m"].error_percent


def test_the_used_model_is_the_one_with_the_smallest_largest_error() -> None:
    model, largest = scaling_model()

    errors = {
        other.name: max(abs(c.error_percent) for c in check_models() if c.model == other.name)
        for other in MODELS
    }
    assert errors[model.name] == largest == min(errors.values())
    assert len(set(errors.values())) == len(MODELS)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_gives_one_node_its_own_throughput_and_two_points_exactly(model: object) -> None:
    fitted = model.fit({1: 100.0, 4: 360.0})  # type: ignore[attr-defined]  # parametrized

    assert fitted(1) == 100
    assert fitted(4) == pytest.approx(360)
    assert 180 < fitted(2) < 200


def test_a_published_count_is_answered_with_the_published_figures() -> None:
    found = estimated("bert-1.5b", "dl1", 16)

    assert (found.per_second.low, found.per_second.high) == (3659.15, 3659.15)
    assert found.efficiency and round(found.efficiency.low, 3) == 0.827
    assert found.hours and (found.hours.low, found.hours.high) == (15, 16)
    assert found.published
    # 16 nodes with a fast root volume of 200 GiB, 2400 GiB of scratch-2, a NAT gateway; 14 metrics
    # of each node and of the cluster, 9 of alarms, and a dashboard.
    an_hour = 16 * (13.10904 + (200 * 0.08 + 40) / 730) + 2400 * 0.14 / 730 + 0.05
    an_hour += (17 * 14 * 0.3 + 9 * 0.1 + 3) / 730
    assert found.cost
    assert [total.usd for total in found.cost] == pytest.approx([15 * an_hour, 16 * an_hour])
    assert found.cost_per_million[0].usd == pytest.approx(1e6 / 3659.15 / 3600 * an_hour)
    assert "the source gives two times to train on 16 instances" in found.remarks[-1]


def test_eight_nodes_have_the_one_published_time() -> None:
    found = estimated("bert-1.5b", "dl1", 8)

    assert found.hours and (found.hours.low, found.hours.high) == (25, 25)


def test_a_count_between_two_published_ones_is_a_range_by_the_model() -> None:
    found = estimated("bert-1.5b", "dl1", 12)

    model, error = scaling_model()
    middle = model.fit({1: 276.66, 8: 1883.63, 16: 3659.15})(12)
    assert not found.published
    assert found.per_second.low == pytest.approx(middle * (1 - error / 100))
    assert found.per_second.high == pytest.approx(middle * (1 + error / 100))
    # The published times stand for 25 h x 1883.63/s at the least, 16 h x 3659.15/s at the most.
    assert found.hours
    assert found.hours.low == pytest.approx(25 * 1883.63 / found.per_second.high)
    assert found.hours.high == pytest.approx(16 * 3659.15 / found.per_second.low)
    assert found.hours.low < 25
    assert any("its largest error where it could be checked, 3.9 %" in r for r in found.remarks)
    assert any("170 to 211 million sequences" in remark for remark in found.remarks)


def test_the_model_s_range_contains_what_it_was_fitted_on() -> None:
    model, error = scaling_model()

    for training in scalings():
        if 1 in training.per_second:
            fitted = model.fit(training.per_second)
            for nodes, published in training.per_second.items():
                assert abs(fitted(nodes) / published - 1) <= error / 100


def test_without_a_published_time_there_is_none() -> None:
    found = estimated("bert-340m", "dl1", 8)

    assert (found.hours, found.cost) == (None, None)
    assert "nobody has published how long bert-340m takes to train" in found.remarks


def test_one_node_of_another_type_is_what_the_comparison_says() -> None:
    found = estimated("bert-340m", "p4d", 1)

    assert found.per_second.low == 2979
    assert found.training.source == "AWS Compute Blog, Amazon EC2 DL1 instances Deep Dive"
    assert found.cost_per_million[0].unknown == ("Lustre persistent-2, 2400 GiB, 500 MB/s per TiB",)


def test_without_one_node_there_is_no_efficiency() -> None:
    assert estimated("bert-5b", "dl1", 16).efficiency is None


@pytest.mark.parametrize(
    ("model", "name", "nodes", "words"),
    [
        pytest.param("gpt", "dl1", 1, "model 'gpt' is not known", id="model"),
        pytest.param("bert-1.5b", "train", 8, "how fast trn1.32xlarge trains", id="type"),
        pytest.param("bert-340m", "dl1", 16, "published for 1, 2, 4, 8 nodes", id="beyond"),
        pytest.param("bert-340m", "p4d", 2, "published for 1 node,", id="beyond-one"),
        pytest.param("bert-5b", "dl1", 8, "published for 16 nodes", id="below"),
        pytest.param("bert-1.5b", "dl1", 0, "published for 1, 8, 16 nodes", id="none"),
    ],
)
def test_nothing_is_estimated_without_published_figures(
    model: str, name: str, nodes: int, words: str
) -> None:
    with pytest.raises(TrainshedError, match=words) as raised:
        estimated(model, name, nodes)

    assert raised.value.exit_code == 2


def test_types_are_compared_by_what_a_million_samples_cost() -> None:
    rows = {(row.model, row.instance_type): row for row in compare(load_prices("us-east-1"))}

    assert len(rows) == 8
    dl1, p4d = rows["resnet-50", "dl1.24xlarge"], rows["bert-340m", "p4d.24xlarge"]
    assert dl1.usd_per_million == pytest.approx(13.10904 / 3600 / 13036 * 1e6)
    assert p4d.usd_per_million == pytest.approx(21.957642 / 3600 / 2979 * 1e6)
    assert (dl1.withdrawn, p4d.withdrawn) == (True, False)


def test_a_type_without_a_price_has_no_cost() -> None:
    rows = compare(load_prices("eu-west-1", Path("none")))

    assert {row.usd_per_million for row in rows} == {None}


def test_the_published_efficiencies_are_those_of_the_source() -> None:
    found = {
        (entry.model, nodes): round(100 * figure / nodes / entry.per_second[1], 1)
        for entry in scalings()
        if 1 in entry.per_second
        for nodes, figure in entry.per_second.items()
    }

    # As the source prints them itself, from the throughput of an accelerator.
    printed = {
        **{("bert-340m", 2): 98.0, ("bert-340m", 4): 95.9, ("bert-340m", 8): 90.4},
        **{("bert-1.5b", 8): 85.1, ("bert-1.5b", 16): 82.7},
    }
    assert {key: found[key] for key in printed} == printed


def test_models_of_several_nodes_are_ready_jobs() -> None:
    for entry in scalings():
        assert find_ready_job(entry.model, cluster("dl1").instance)
    assert {entry.model for entry in comparisons()} >= {"resnet-50", "bert-340m"}


def test_the_cost_by_purchase_is_that_of_the_cluster_with_other_nodes() -> None:
    plan = cluster("dl1")
    amounts: dict[str, tuple[float, float | None]] = {
        "on-demand": (10, None),
        "spot": (2, 3.0),
        "compute-savings-plan-3y-no-upfront": (5, None),
    }
    prices = PriceList(
        region="us-west-2",
        prices={
            f"{name}/dl1.24xlarge": Price(
                usd=usd,
                usd_to=most,
                unit=Unit.HOUR,
                region="us-west-2",
                date=date(2026, 1, 2),
                source="a test",
            )
            for name, (usd, most) in amounts.items()
        },
    )

    rows = by_purchase(
        estimate("bert-1.5b", plan, 16, prices),
        plan,
        prices,
        [*amounts, "reserved-1y-no-upfront"],
    )

    # 15 to 16 hours of 16 nodes; the prices of all else are unknown.
    found = {row.purchase: row.cost and tuple(total.usd for total in row.cost) for row in rows}
    assert found == {
        "on-demand": (15 * 16 * 10, 16 * 16 * 10),
        "spot": (15 * 16 * 2, 16 * 16 * 3),
        "compute-savings-plan-3y-no-upfront": (15 * 16 * 5, 16 * 16 * 5),
        "reserved-1y-no-upfront": None,
    }
