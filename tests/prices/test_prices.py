"""Prices: what is shipped, a project's own file, and what the AWS price list answers."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from price_list_service import OFFERS, STORAGE, Quote, box, clients, rate, reserved

from trainshed import catalogue
from trainshed.aws import AwsRefusal, Region
from trainshed.catalogue.kubernetes import SYSTEM_TYPE
from trainshed.errors import Failure, TrainshedError
from trainshed.prices import (
    COMMITMENTS,
    EFS_ARCHIVE,
    EFS_ARCHIVE_READ,
    EFS_ARCHIVE_WRITTEN,
    EFS_BACKUP,
    EFS_IA,
    EFS_IA_READ,
    EFS_IA_WRITTEN,
    EFS_READ,
    EFS_STORED,
    EFS_WRITTEN,
    GP3,
    GP3_IOPS,
    GP3_THROUGHPUT,
    IO2,
    LOGS_INGESTED,
    NAT_GB,
    NAT_HOUR,
    OPENZFS_BACKUP,
    OPENZFS_IOPS,
    OPENZFS_STORED,
    OPENZFS_THROUGHPUT,
    PURCHASES,
    S3_MONITORED,
    S3_MOVED,
    S3_READ,
    S3_STORED,
    Purchase,
    Unit,
    instance_item,
    load_prices,
    lustre_item,
)
from trainshed.prices.items import unit_of
from trainshed.prices.lookup import read
from trainshed.prices.sync import Refreshed, synchronise

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
TRN1 = "on-demand/trn1.32xlarge"
GOOD: dict[str, Any] = {"usd": 20, "unit": "hour", "date": "2026-11-01", "source": "our contract"}


def shipped() -> Mapping[str, Any]:
    path = Path(catalogue.__file__).parents[1] / "prices" / "data" / "prices.json"
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("region", shipped())
def test_every_shipped_price_is_of_something_known_with_a_date_and_a_source(region: str) -> None:
    prices = load_prices(region, Path("none.json")).prices

    assert prices.keys() >= shipped()[region].keys()
    for item, price in prices.items():
        assert (price.unit, price.date >= date(2022, 1, 1)) == (unit_of(item), True)
        assert len(price.source) > 20, item
        kind, _, instance_type = item.partition("/")
        if kind in PURCHASES:
            assert instance_type in (*catalogue.all_types(), SYSTEM_TYPE)


def test_a_price_stands_in_for_that_of_a_region_with_the_same_prices_on_demand_alone() -> None:
    oregon, ireland = (load_prices(each, Path("none.json")) for each in ("us-west-2", "eu-west-1"))

    p3 = oregon.price("on-demand/p3.16xlarge")

    assert p3 and (p3.usd, p3.region) == (24.48, "us-east-1")
    assert (trn1 := oregon.price(TRN1)) and trn1.region == "us-west-2"
    assert ireland.price(TRN1) is None
    in_virginia = shipped()["us-east-1"].keys() - shipped()["us-west-2"].keys()
    stand_ins = {item for item, price in oregon.prices.items() if price.region == "us-east-1"}
    assert stand_ins == {item for item in in_virginia if item.startswith("on-demand/")}


def test_the_project_s_own_price_wins_and_the_others_stay(tmp_path: Path) -> None:
    own = tmp_path / "prices.json"
    own.write_text(json.dumps({"us-west-2": {TRN1: GOOD}}), encoding="utf-8")

    prices = load_prices("us-west-2", own)

    ours = prices.price(TRN1)
    assert ours and (ours.usd, ours.source, ours.date) == (20, "our contract", date(2026, 11, 1))
    assert (gp3 := prices.price(GP3)) and gp3.usd == 0.08


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param("{", "is not JSON", id="no-json"),
        pytest.param("[]", "write prices by region and item", id="no-object"),
        pytest.param('{"us-west-2": 3}', "write prices by region and item", id="no-items"),
        pytest.param({"on-demnd/trn1.32xlarge": GOOD}, "is not an item with a price", id="item"),
        pytest.param({TRN1: GOOD | {"date": 3}}, "3 is not a date", id="date-number"),
        pytest.param({TRN1: GOOD | {"usd": 0}}, "leave out a price that is not known", id="zero"),
        pytest.param({TRN1: GOOD | {"usd": -1}}, "is not a price", id="negative"),
        pytest.param({TRN1: GOOD | {"usd": True}}, "is not a number", id="bool"),
        pytest.param({TRN1: GOOD | {"usd": "20"}}, "is not a number", id="text"),
        pytest.param({TRN1: GOOD | {"upfront_usd": 0}}, "is not a price", id="upfront-zero"),
        pytest.param({TRN1: GOOD | {"unit": "day"}}, "it must be hour", id="unit"),
        pytest.param({TRN1: GOOD | {"date": "soon"}}, "'soon' is not a date; write", id="date"),
        pytest.param({TRN1: {"usd": 3}}, "is missing", id="missing"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, content: Any, words: str) -> None:
    own = tmp_path / "prices.json"
    own.write_text(
        content if isinstance(content, str) else json.dumps({"us-west-2": content}),
        encoding="utf-8",
    )

    with pytest.raises(TrainshedError, match=words) as raised:
        load_prices("us-west-2", own)

    assert str(own) in str(raised.value)


Sync = Callable[..., tuple[Refreshed, ...]]


@pytest.fixture
def sync(tmp_path: Path) -> Sync:
    """Refresh the prices of us-west-2 in `prices.json` of a temporary folder."""

    def run(
        offers: list[dict[str, Any]],
        quotes: tuple[Quote, ...] = (),
        denied: str = "",
        rates: tuple[dict[str, Any], ...] = (),
    ) -> tuple[Refreshed, ...]:
        client = clients(offers, quotes, denied, rates, since=NOW - timedelta(days=30))
        return synchronise(
            [Region("us-west-2", lambda service: client(service, "us-west-2"))],
            Region("us-east-1", lambda service: client(service, "us-east-1")),
            NOW,
            tmp_path / "prices.json",
            lambda region: None,
        )

    return run


def test_nothing_is_asked_for_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    def ask(service: str) -> Any:
        raise AssertionError(f"{service} is asked")

    region = Region("us-west-2", ask)

    with pytest.raises(Failure, match="there is no folder "):
        synchronise([region], region, NOW, tmp_path / "missing/prices.json", lambda _: None)


def test_the_price_list_s_answers_become_prices(sync: Sync, tmp_path: Path) -> None:
    sync(OFFERS)

    # Of the file alone: a price that the answer does not tell would be the shipped one.
    items = read(tmp_path / "prices.json")["us-west-2"]
    volumes = (GP3, GP3_THROUGHPUT, GP3_IOPS)
    wanted = (TRN1, *volumes, NAT_HOUR, NAT_GB, LOGS_INGESTED, "endpoint-gb")
    assert {item: (items[item]["usd"], items[item]["unit"]) for item in wanted} == {
        TRN1: (22.5, Unit.HOUR),
        GP3: (0.08, Unit.GB_MONTH),
        GP3_THROUGHPUT: (0.04, Unit.MIBPS_MONTH),
        GP3_IOPS: (0.005, Unit.IOPS_MONTH),
        NAT_HOUR: (0.045, Unit.HOUR),
        NAT_GB: (0.045, Unit.GB),
        LOGS_INGESTED: (0.5, Unit.GB),
        "endpoint-gb": (0.01, Unit.GB),
    }
    trn1 = load_prices("us-west-2", tmp_path / "prices.json").price(TRN1)
    assert trn1 and trn1.date == date(2026, 11, 23)
    assert trn1.source == "AWS price list, AmazonEC2 AMAZONEC2USW2BOX, published 2026-11-18"


def test_each_tier_of_the_iops_of_io2_has_its_own_price(sync: Sync, tmp_path: Path) -> None:
    sync(OFFERS)

    items = read(tmp_path / "prices.json")["us-west-2"]
    assert {item: items[item]["usd"] for item in items if item.startswith(IO2)} == {
        "ebs-io2": 0.125,
        "ebs-io2-iops": 0.065,
        "ebs-io2-iops-tier2": 0.0455,
        "ebs-io2-iops-tier3": 0.03185,
    }


def test_each_tier_of_lustre_has_its_own_price(sync: Sync, tmp_path: Path) -> None:
    sync(OFFERS)

    items = read(tmp_path / "prices.json")["us-west-2"]
    assert items[lustre_item("scratch-2", None)]["usd"] == 0.14
    assert items[lustre_item("persistent-2", 250)]["usd"] == 0.21
    assert lustre_item("persistent-2", 125) not in items


def test_storage_has_its_prices(sync: Sync, tmp_path: Path) -> None:
    sync(STORAGE)

    items = read(tmp_path / "prices.json")["us-west-2"]
    found = {name: (record["usd"], record["unit"]) for name, record in items.items()}
    assert found == {
        EFS_STORED: (0.3, Unit.GB_MONTH),
        EFS_IA: (0.016, Unit.GB_MONTH),
        EFS_ARCHIVE: (0.008, Unit.GB_MONTH),
        EFS_READ: (0.03, Unit.GB),
        EFS_WRITTEN: (0.06, Unit.GB),
        EFS_IA_READ: (0.01, Unit.GB),
        EFS_IA_WRITTEN: (0.011, Unit.GB),
        EFS_ARCHIVE_READ: (0.03, Unit.GB),
        EFS_ARCHIVE_WRITTEN: (0.031, Unit.GB),
        EFS_BACKUP: (0.05, Unit.GB_MONTH),
        OPENZFS_STORED: (0.09, Unit.GB_MONTH),
        OPENZFS_THROUGHPUT: (0.52, Unit.MBPS_MONTH),
        OPENZFS_IOPS: (0.006, Unit.IOPS_MONTH),
        OPENZFS_BACKUP: (0.05, Unit.GB_MONTH),
        S3_STORED["STANDARD"]: (0.023, Unit.GB_MONTH),
        S3_STORED["STANDARD_IA"]: (0.0125, Unit.GB_MONTH),
        S3_STORED["GLACIER_IR"]: (0.004, Unit.GB_MONTH),
        S3_STORED["GLACIER"]: (0.0036, Unit.GB_MONTH),
        S3_STORED["DEEP_ARCHIVE"]: (0.00099, Unit.GB_MONTH),
        S3_MOVED["STANDARD_IA"]: (0.01, Unit.THOUSAND_REQUESTS),
        S3_MOVED["GLACIER_IR"]: (0.02, Unit.THOUSAND_REQUESTS),
        S3_MOVED["GLACIER"]: (0.03, Unit.THOUSAND_REQUESTS),
        S3_MOVED["DEEP_ARCHIVE"]: (0.05, Unit.THOUSAND_REQUESTS),
        S3_READ["STANDARD_IA"]: (0.01, Unit.GB),
        S3_READ["GLACIER_IR"]: (0.03, Unit.GB),
        S3_READ["GLACIER"]: (0.01, Unit.GB),
        S3_READ["DEEP_ARCHIVE"]: (0.02, Unit.GB),
        S3_MONITORED: (0.0025, Unit.THOUSAND_OBJECTS_MONTH),
    }


def test_what_the_price_list_does_not_tell_is_named_and_not_written(
    sync: Sync, tmp_path: Path
) -> None:
    (refreshed,) = sync(OFFERS)

    unclear = {entry.item: entry.reason for entry in refreshed.unclear}
    items = read(tmp_path / "prices.json")["us-west-2"]
    assert unclear["lustre/persistent-2/500"] == "the price list has 2 prices that fit: 0.34, 0.35"
    assert unclear["ecr-stored"] == "the price list has no product that fits"
    assert not unclear.keys() & items.keys()


def test_what_changed_is_reported_and_the_rest_of_the_file_stays(
    sync: Sync, tmp_path: Path
) -> None:
    path = tmp_path / "prices.json"
    ours = {"us-west-2": {TRN1: GOOD, "ecr-stored": GOOD | {"unit": "GB-month"}}, "eu-west-1": {}}
    path.write_text(json.dumps(ours), encoding="utf-8")

    (first,) = sync(OFFERS)
    (second,) = sync(OFFERS)

    assert first.changed[TRN1] == ("20", "22.5")
    assert first.changed[GP3] == (None, "0.08")
    assert (second.changed, second.same) == ({}, len(first.changed))
    assert read(path)["us-west-2"]["ecr-stored"]["source"] == "our contract"
    assert "eu-west-1" in read(path)


def test_spot_prices_are_a_range_over_the_zones_and_thirty_days(sync: Sync, tmp_path: Path) -> None:
    sync(
        OFFERS,
        (
            ("trn1.32xlarge", "us-west-2a", "3.720000"),
            ("trn1.32xlarge", "us-west-2a", "3.700000"),
            ("trn1.32xlarge", "us-west-2d", "3.680000"),
            ("p4d.24xlarge", "us-west-2a", "8.000000"),
        ),
    )

    prices = load_prices("us-west-2", tmp_path / "prices.json")
    assert str(prices.price(instance_item(Purchase.SPOT, "trn1.32xlarge"))) == "3.68 to 3.72"
    assert str(prices.price(instance_item(Purchase.SPOT, "p4d.24xlarge"))) == "8"


def test_reserved_terms_of_the_price_list_become_effective_prices(
    sync: Sync, tmp_path: Path
) -> None:
    # The terms that the price list had for c5.xlarge in us-east-1 in 2020.
    terms = (
        (1, "No Upfront", "", "0.1070000000"),
        (1, "Partial Upfront", "447", "0.0510000000"),
        (1, "All Upfront", "876", "0.0000000000"),
        (3, "No Upfront", "", "0.0710000000"),
        (3, "Partial Upfront", "867", "0.0330000000"),
        (3, "All Upfront", "1629", "0.0000000000"),
    )
    offer = box("trn1.32xlarge", "0.1700000000")
    for term in terms:
        reserved(offer, *term)
        reserved(offer, *term[:2], "9999", "9.0", "convertible")

    sync([offer])

    prices = load_prices("us-west-2", tmp_path / "prices.json")
    found = {
        name: (price.usd, price.upfront_usd)
        for name in map(str, COMMITMENTS)
        if (price := prices.price(f"{name}/trn1.32xlarge")) and "published" in price.source
    }
    assert found == {
        "reserved-1y-no-upfront": (0.107, None),
        "reserved-1y-partial-upfront": (0.102027, 447),
        "reserved-1y-all-upfront": (0.1, 876),
        "reserved-3y-no-upfront": (0.071, None),
        "reserved-3y-partial-upfront": (0.065991, 867),
        "reserved-3y-all-upfront": (0.061986, 1629),
    }


def test_two_reserved_terms_that_fit_are_unclear(sync: Sync, tmp_path: Path) -> None:
    offer = box("trn1.32xlarge", "0.1700000000")
    for hourly in ("0.1", "0.2"):
        reserved(offer, 1, "No Upfront", "", hourly)

    (refreshed,) = sync([offer])

    unclear = {entry.item: entry.reason for entry in refreshed.unclear}
    item = "reserved-1y-no-upfront/trn1.32xlarge"
    assert unclear[item] == "the price list has 2 reserved terms that fit"
    assert item not in read(tmp_path / "prices.json")["us-west-2"]


def test_each_rate_of_a_savings_plan_has_its_own_price(sync: Sync, tmp_path: Path) -> None:
    sync(
        OFFERS,
        rates=(
            rate("Compute", 1, "No Upfront", "16.0"),
            rate("Compute", 3, "All Upfront", "9.0"),
            rate("EC2Instance", 1, "Partial Upfront", "13.0"),
            # What is no instance of ours that runs, on Linux, in the region.
            rate("Compute", 1, "No Upfront", "1.0", usage="UnusedBox"),
            rate("Compute", 1, "No Upfront", "2.0", productDescription="Windows"),
            rate("Compute", 1, "No Upfront", "3.0", tenancy="dedicated"),
            rate("Compute", 1, "No Upfront", "4.0", region="us-east-1"),
            rate("Compute", 1, "No Upfront", "5.0", instance_type="m5.large"),
        ),
    )

    items = read(tmp_path / "prices.json")["us-west-2"]
    found = {name: record["usd"] for name, record in items.items() if "savings-plan" in name}
    assert found == {
        "compute-savings-plan-1y-no-upfront/trn1.32xlarge": 16,
        "compute-savings-plan-3y-all-upfront/trn1.32xlarge": 9,
        "ec2-instance-savings-plan-1y-partial-upfront/trn1.32xlarge": 13,
    }
    record = items["compute-savings-plan-1y-no-upfront/trn1.32xlarge"]
    assert record["source"] == "Savings Plans API, DescribeSavingsPlansOfferingRates"
    assert (record["date"], "upfront_usd" in record) == ("2026-11-23", False)


def test_two_rates_that_fit_are_unclear(sync: Sync) -> None:
    (refreshed,) = sync(
        OFFERS, rates=tuple(rate("Compute", 1, "No Upfront", usd) for usd in ("16.0", "15.0"))
    )

    unclear = {entry.item: entry.reason for entry in refreshed.unclear}
    item = "compute-savings-plan-1y-no-upfront/trn1.32xlarge"
    assert unclear[item] == "there are 2 rates that fit: 15.0, 16.0"


@pytest.mark.parametrize(
    ("service", "action"),
    [
        ("pricing", "pricing:GetProducts"),
        ("savingsplans", "savingsplans:DescribeSavingsPlansOfferingRates"),
    ],
)
def test_a_refusal_names_the_permission_and_writes_nothing(
    sync: Sync, tmp_path: Path, service: str, action: str
) -> None:
    with pytest.raises(AwsRefusal, match=f"may not call {action}"):
        sync(OFFERS, denied=service)

    assert not (tmp_path / "prices.json").exists()
