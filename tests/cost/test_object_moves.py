"""From which size on it saves money to move objects: by hand, and where a price is unknown."""

from datetime import date

import pytest

from trainshed.cost import object_moves
from trainshed.plan import ClusterPlan, make_plan
from trainshed.prices import S3_MOVED, S3_STORED, Price, PriceList, unit_of
from trainshed.spec import ClusterSpec

# USD for a GB and month, and for 1000 moves.
STORED = {
    "STANDARD": 0.023,
    "STANDARD_IA": 0.0125,
    "GLACIER_IR": 0.004,
    "GLACIER": 0.0036,
    "DEEP_ARCHIVE": 0.00099,
}
MOVED = {"STANDARD_IA": 0.01, "GLACIER_IR": 0.02, "GLACIER": 0.03, "DEEP_ARCHIVE": 0.05}


def prices(*without: str) -> PriceList:
    amounts = {S3_STORED[name]: usd for name, usd in STORED.items()}
    amounts |= {S3_MOVED[name]: usd for name, usd in MOVED.items()}
    return PriceList(
        region="us-west-2",
        prices={
            item: Price(
                usd=usd,
                unit=unit_of(item),
                region="us-west-2",
                date=date(2026, 1, 2),
                source="a test",
            )
            for item, usd in amounts.items()
            if item not in without
        },
    )


def planned(**rule: object) -> ClusterPlan:
    return make_plan(
        ClusterSpec.model_validate(
            {
                "name": "TestCluster",
                "region": "us-west-2",
                "instance": {"type": "trn1.32xlarge", "nodes": {"max": 4}},
                "storage": {"bucket": {"lifecycle": [rule]}},
            }
        )
    )


def test_each_step_is_compared_with_the_class_before() -> None:
    plan = planned(prefix="runs/", infrequent_access_days=30, glacier_days=90, expire_days=180)

    to_ia, to_glacier = object_moves(plan, prices())

    assert (to_ia.objects, to_ia.to) == ("objects under runs/", "Standard-IA")
    assert (to_ia.after_days, to_ia.stay_days) == (30, 60)
    months = 60 * 12 / 365
    assert to_ia.smallest_kib == pytest.approx(0.01 / 1000 / ((0.023 - 0.0125) * months) * 2**20)
    # An archive adds 32 KiB at its own price and 8 KiB at that of Standard.
    months = 90 * 12 / 365
    added = (32 * 0.0036 + 8 * 0.023) * months / 2**20
    assert to_glacier.smallest_kib == pytest.approx(
        (0.03 / 1000 + added) / ((0.0125 - 0.0036) * months) * 2**20
    )
    assert to_glacier.smallest_kib == pytest.approx(1228, abs=1)


def test_what_leaves_an_archive_takes_what_it_added_with_it() -> None:
    _, to_deep_archive = object_moves(planned(glacier_days=90, deep_archive_days=180), prices())

    # Of a year; both archives add 8 KiB at the price of Standard.
    added = 32 * (0.00099 - 0.0036) * 12 / 2**20
    assert to_deep_archive.smallest_kib == pytest.approx(
        (0.05 / 1000 + added) / ((0.0036 - 0.00099) * 12) * 2**20
    )


def test_what_goes_early_is_paid_for_longer_than_it_is_there() -> None:
    (late,) = object_moves(planned(glacier_days=30, expire_days=300), prices())
    (early,) = object_moves(planned(glacier_days=30, expire_days=60), prices())
    (too_early,) = object_moves(planned(glacier_days=30, expire_days=40), prices())

    assert late.smallest_kib
    assert early.smallest_kib
    assert late.smallest_kib < early.smallest_kib
    assert (too_early.smallest_kib, too_early.never) == (None, True)


def test_s3_moves_none_below_128_kib() -> None:
    (move,) = object_moves(planned(glacier_instant_retrieval_days=1), prices())

    assert move.stay_days == 365
    assert move.smallest_kib == 128


def test_a_price_that_nobody_told_is_named() -> None:
    (move,) = object_moves(planned(glacier_days=90), prices("s3-glacier-moved"))

    assert move.unknown == ("s3-glacier-moved",)
    assert (move.smallest_kib, move.never) == (None, False)
