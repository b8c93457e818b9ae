"""Prices: what is shipped, a project's own file, and what the AWS price list answers."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.stub import Stubber

from trainshed import catalogue
from trainshed.aws import AwsRefusal, Region
from trainshed.errors import TrainshedError
from trainshed.prices import (
    GP3,
    LOGS_INGESTED,
    NAT_GB,
    NAT_HOUR,
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

    assert prices.keys() == shipped()[region].keys()
    for item, price in prices.items():
        assert (price.unit, price.date >= date(2022, 1, 1)) == (unit_of(item), True)
        assert len(price.source) > 20, item
        kind, _, instance_type = item.partition("/")
        if kind in list(Purchase):
            assert instance_type in catalogue.all_types()


def test_no_region_has_the_prices_of_another() -> None:
    assert load_prices("eu-west-1", Path("none.json")).price(TRN1) is None


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
        pytest.param(
            {"on-demnd/trn1.32xlarge": GOOD}, "is not something that has a price", id="item"
        ),
        pytest.param({TRN1: GOOD | {"usd": 0}}, "leave out a price that is not known", id="zero"),
        pytest.param({TRN1: GOOD | {"usd": -1}}, "is not a price", id="negative"),
        pytest.param({TRN1: GOOD | {"usd": True}}, "is not a number", id="bool"),
        pytest.param({TRN1: GOOD | {"usd": "20"}}, "is not a number", id="text"),
        pytest.param({TRN1: GOOD | {"unit": "day"}}, "it must be hour", id="unit"),
        pytest.param({TRN1: GOOD | {"date": "soon"}}, "soon", id="date"),
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


def offer(
    service: str, usage_type: str, *tiers: tuple[str, str, str], unit: str, **attributes: str
) -> dict[str, Any]:
    """A product of the price list, in the form of the AWS CLI reference, `pricing get-products`."""
    sku = f"{service}{usage_type}".upper().replace("-", "").replace(":", "")[:16]
    term = f"{sku}.JRTCKXETXF"
    family = (
        {"productFamily": attributes.pop("productFamily")} if "productFamily" in attributes else {}
    )
    return {
        "product": {
            **family,
            "attributes": {
                "servicecode": service,
                "usagetype": usage_type,
                "regionCode": "us-west-2",
                "locationType": "AWS Region",
                "location": "US West (Oregon)",
                **attributes,
            },
            "sku": sku,
        },
        "serviceCode": service,
        "terms": {
            "OnDemand": {
                term: {
                    "priceDimensions": {
                        f"{term}.{number}": {
                            "unit": unit,
                            "beginRange": begin,
                            "endRange": end,
                            "description": f"${usd} per {unit}",
                            "appliesTo": [],
                            "rateCode": f"{term}.{number}",
                            "pricePerUnit": {"USD": usd},
                        }
                        for number, (begin, end, usd) in enumerate(tiers)
                    },
                    "sku": sku,
                    "effectiveDate": "2026-11-01T00:00:00Z",
                    "offerTermCode": "JRTCKXETXF",
                    "termAttributes": {},
                }
            }
        },
        "version": "20261118005701",
        "publicationDate": "2026-11-18T00:57:01Z",
    }


def flat(
    service: str, usage_type: str, usd: str, *, unit: str, **attributes: str
) -> dict[str, Any]:
    return offer(service, usage_type, ("0", "Inf", usd), unit=unit, **attributes)


def box(instance_type: str, usd: str, **attributes: str) -> dict[str, Any]:
    standard = {
        "instanceType": instance_type,
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
    }
    return flat(
        "AmazonEC2",
        f"USW2-BoxUsage:{instance_type}",
        usd,
        unit="Hrs",
        **standard | attributes,
    )


def lustre(usage_type: str, usd: str) -> dict[str, Any]:
    return flat(
        "AmazonFSx",
        usage_type,
        usd,
        unit="GB-Mo",
        productFamily="Storage",
        fileSystemType="Lustre",
        storageType="SSD",
    )


NAT = {"group": "NGW:NatGateway", "productFamily": "NAT Gateway"}
OFFERS = [
    box("trn1.32xlarge", "22.5000000000"),
    box("trn1.32xlarge", "99.0000000000", operatingSystem="Windows"),
    box("trn1.32xlarge", "98.0000000000", tenancy="Dedicated"),
    box("p4d.24xlarge", "21.9576420000"),
    flat(
        "AmazonEC2",
        "USW2-EBS:VolumeUsage.gp3",
        "0.0800000000",
        unit="GB-Mo",
        productFamily="Storage",
        volumeApiName="gp3",
    ),
    flat("AmazonEC2", "USW2-NatGateway-Hours", "0.0450000000", unit="Hrs", **NAT),
    flat("AmazonEC2", "USW2-NatGateway-Bytes", "0.0450000000", unit="GB", **NAT),
    flat("AmazonEC2", "USW2-RegionalNatGateway-Hours", "0.0500000000", unit="Hrs", **NAT),
    # The first of the tiers counts, but not one that is free.
    offer(
        "AmazonCloudWatch",
        "USW2-DataProcessing-Bytes",
        ("5", "Inf", "0.5000000000"),
        ("0", "5", "0.0000000000"),
        unit="GB",
    ),
    offer(
        "AmazonVPC",
        "USW2-VpcEndpoint-Bytes",
        ("1048576", "Inf", "0.0060000000"),
        ("0", "1048576", "0.0100000000"),
        unit="GB",
    ),
    # A unit that is not ours is not taken for ours.
    flat("AmazonECR", "USW2-TimedStorage-ByteHrs", "0.1000000000", unit="TB-Mo"),
    lustre("USW2-Storage", "0.1400000000"),
    lustre("USW2-Storage.SSD.250", "0.2100000000"),
    lustre("USW2-Storage.SSD.500", "0.3400000000"),
    lustre("USW2-Storage.SSD.500", "0.3500000000"),
]


class PriceListService:
    """AWSPriceListService.GetProducts over a list, as the API reference describes it.

    It sits below boto3's client, which checks the request by botocore's model and reads the answer.
    """

    def __init__(self, offers: list[dict[str, Any]], denied: bool) -> None:
        self.offers, self.denied, self.requests = offers, denied, 0

    def __call__(self, request: Any, **_: Any) -> AWSResponse:
        asked = json.loads(request.body)
        self.requests += 1
        assert request.url == "https://api.pricing.us-east-1.amazonaws.com/"
        assert request.headers["X-Amz-Target"] == b"AWSPriceListService.GetProducts"
        if self.denied:
            return self.answer(
                request,
                400,
                {
                    "__type": "AccessDeniedException",
                    "Message": "User: arn:aws:iam::123456789012:user/eve is not authorized to "
                    "perform: pricing:GetProducts",
                },
            )
        found = [entry for entry in self.offers if self.matches(entry, asked)]
        # Two a page, so that the pages count.
        start = int(asked.get("NextToken", "0"))
        body: dict[str, Any] = {
            "FormatVersion": "aws_v1",
            "PriceList": [json.dumps(entry) for entry in found[start : start + 2]],
        }
        if start + 2 < len(found):
            body["NextToken"] = str(start + 2)
        return self.answer(request, 200, body)

    @staticmethod
    def matches(entry: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
        product = entry["product"]
        values = product["attributes"] | {"productFamily": product.get("productFamily")}
        return entry["serviceCode"] == asked["ServiceCode"] and all(
            each["Type"] == "TERM_MATCH" and values.get(each["Field"]) == each["Value"]
            for each in asked["Filters"]
        )

    @staticmethod
    def answer(request: Any, status: int, body: object) -> AWSResponse:
        class Raw:
            def stream(self, **_: Any) -> Iterator[bytes]:
                yield json.dumps(body).encode()

        headers = {"Content-Type": "application/x-amz-json-1.1"}
        return AWSResponse(request.url, status, headers, Raw())


Sync = Callable[..., tuple[Refreshed, ...]]


def client(service: str, region: str) -> Any:
    return boto3.client(
        service,
        region_name=region,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"max_attempts": 1}),
    )


@pytest.fixture
def sync(tmp_path: Path) -> Sync:
    """Refresh the prices of us-west-2 in `prices.json` of a temporary folder."""

    def run(
        offers: list[dict[str, Any]],
        quotes: tuple[tuple[str, str, str], ...] = (),
        denied: bool = False,
    ) -> tuple[Refreshed, ...]:
        price_list, ec2 = client("pricing", "us-east-1"), client("ec2", "us-west-2")
        service = PriceListService(offers, denied)
        price_list.meta.events.register("before-send.pricing.GetProducts", service)
        spot = Stubber(ec2)
        sold = [
            name
            for name in catalogue.all_types()
            if "us-west-2" in catalogue.regions_offering(name)
            and "spot" in catalogue.lookup(name).usage_classes
        ]
        spot.add_response(
            "describe_spot_price_history",
            {
                "SpotPriceHistory": [
                    {"InstanceType": name, "AvailabilityZone": zone, "SpotPrice": usd}
                    for name, zone, usd in quotes
                ]
            },
            {
                "InstanceTypes": sold,
                "ProductDescriptions": ["Linux/UNIX"],
                "StartTime": NOW,
                "EndTime": NOW,
            },
        )
        with spot:
            return synchronise(
                [Region("us-west-2", lambda name: {"ec2": ec2}[name])],
                Region("us-east-1", lambda name: {"pricing": price_list}[name]),
                NOW,
                tmp_path / "prices.json",
                lambda region: None,
            )

    return run


def test_the_price_list_s_answers_become_prices(sync: Sync, tmp_path: Path) -> None:
    sync(OFFERS)

    # Of the file alone: a price that the answer does not tell would be the shipped one.
    items = read(tmp_path / "prices.json")["us-west-2"]
    wanted = (TRN1, GP3, NAT_HOUR, NAT_GB, LOGS_INGESTED, "endpoint-gb")
    assert {item: (items[item]["usd"], items[item]["unit"]) for item in wanted} == {
        TRN1: (22.5, Unit.HOUR),
        GP3: (0.08, Unit.GB_MONTH),
        NAT_HOUR: (0.045, Unit.HOUR),
        NAT_GB: (0.045, Unit.GB),
        LOGS_INGESTED: (0.5, Unit.GB),
        "endpoint-gb": (0.01, Unit.GB),
    }
    trn1 = load_prices("us-west-2", tmp_path / "prices.json").price(TRN1)
    assert trn1 and trn1.date == date(2026, 11, 23)
    assert trn1.source == "AWS price list, AmazonEC2 AMAZONEC2USW2BOX, published 2026-11-18"


def test_each_tier_of_lustre_has_its_own_price(sync: Sync, tmp_path: Path) -> None:
    sync(OFFERS)

    items = read(tmp_path / "prices.json")["us-west-2"]
    assert items[lustre_item("scratch-2", None)]["usd"] == 0.14
    assert items[lustre_item("persistent-2", 250)]["usd"] == 0.21
    assert lustre_item("persistent-2", 125) not in items


def test_what_the_price_list_does_not_tell_is_named_and_not_written(
    sync: Sync, tmp_path: Path
) -> None:
    (refreshed,) = sync(OFFERS)

    unclear = {entry.item: entry.reason for entry in refreshed.unclear}
    items = read(tmp_path / "prices.json")["us-west-2"]
    assert unclear["lustre/persistent-2/500"] == "the price list has 2 prices that fit: 0.34, 0.35"
    assert unclear["ecr-stored"] == "the price list has no product that fits"
    assert not unclear.keys() & items.keys()


def test_what_changed_is_told_and_the_rest_of_the_file_stays(sync: Sync, tmp_path: Path) -> None:
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


def test_spot_prices_are_a_range_over_the_zones(sync: Sync, tmp_path: Path) -> None:
    sync(
        OFFERS,
        (
            ("trn1.32xlarge", "us-west-2a", "3.720000"),
            ("trn1.32xlarge", "us-west-2d", "3.680000"),
            ("p4d.24xlarge", "us-west-2a", "8.000000"),
        ),
    )

    prices = load_prices("us-west-2", tmp_path / "prices.json")
    assert str(prices.price(instance_item(Purchase.SPOT, "trn1.32xlarge"))) == "3.68 to 3.72"
    assert str(prices.price(instance_item(Purchase.SPOT, "p4d.24xlarge"))) == "8"


def test_a_refusal_names_the_permission_and_writes_nothing(sync: Sync, tmp_path: Path) -> None:
    with pytest.raises(AwsRefusal, match="may not call pricing:GetProducts"):
        sync(OFFERS, denied=True)

    assert not (tmp_path / "prices.json").exists()
