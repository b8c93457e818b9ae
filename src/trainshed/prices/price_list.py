"""The AWS price list: which of its products are our items, and reading its answers.

The form of a product is that of the API's own example: AWS CLI reference, `pricing get-products`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from trainshed.aws import Region
from trainshed.catalogue.lustre import THROUGHPUTS
from trainshed.prices.items import (
    CLOUDWATCH_ALARM,
    CLOUDWATCH_METRIC,
    ECR_STORED,
    EKS_HOUR,
    ENDPOINT_GB,
    ENDPOINT_HOUR,
    GP3,
    GP3_IOPS,
    GP3_THROUGHPUT,
    IO2,
    IO2_IOPS_TIERS,
    LOAD_BALANCER_HOUR,
    LOGS_INGESTED,
    LOGS_STORED,
    LUSTRE_BACKUP,
    LUSTRE_METADATA_IOPS,
    NAT_GB,
    NAT_HOUR,
    PUBLIC_IPV4_HOUR,
    SNAPSHOT,
    Purchase,
    instance_item,
    lustre_item,
    unit_of,
)
from trainshed.prices.model import Price, Unclear, Unit
from trainshed.prices.product import UNITS, Product
from trainshed.prices.reserved import reserved_prices
from trainshed.prices.storage_products import STORAGE_PRODUCTS

# The price list is served in a few regions, and each has the prices of all.
PRICE_LIST_REGION = "us-east-1"


def _lustre(item: str, usage_type: str, **attributes: str) -> Product:
    return Product(
        item=item,
        service="AmazonFSx",
        filters={"fileSystemType": "Lustre"},
        usage_type=usage_type,
        attributes=attributes,
    )


# NAT gateways are products of AmazonEC2, endpoints and addresses of AmazonVPC. The usage types are
# those in the sources of data/prices.json. Inferred: the usage types of persistent-2, from those of
# persistent-1 (Storage.SSD.50, .100 and .200), that of its metadata and that of backups.
_PRODUCTS = (
    Product(
        item=GP3,
        service="AmazonEC2",
        filters={"productFamily": "Storage", "volumeApiName": "gp3"},
        usage_type="EBS:VolumeUsage.gp3",
    ),
    *(
        Product(
            item=item,
            service="AmazonEC2",
            filters={"productFamily": family, "volumeApiName": "gp3"},
            usage_type=f"EBS:{usage_type}.gp3",
        )
        for item, family, usage_type in (
            (GP3_THROUGHPUT, "Provisioned Throughput", "VolumeP-Throughput"),
            (GP3_IOPS, "System Operation", "VolumeP-IOPS"),
        )
    ),
    Product(
        item=IO2,
        service="AmazonEC2",
        filters={"productFamily": "Storage", "volumeApiName": "io2"},
        usage_type="EBS:VolumeUsage.io2",
    ),
    # Public cost tools read the tiers by these usage types, Infracost and AWS Pricing for Google
    # Sheets among them.
    *(
        Product(
            item=item,
            service="AmazonEC2",
            filters={"productFamily": "System Operation", "volumeApiName": "io2"},
            usage_type=f"EBS:VolumeP-IOPS.io2{tier}",
        )
        for (item, _, _), tier in zip(IO2_IOPS_TIERS, ("", ".tier2", ".tier3"), strict=True)
    ),
    # github.com/infracost/infracost, internal/resources/aws: ebs_snapshot_copy.go, lb.go, elb.go.
    Product(
        item=SNAPSHOT,
        service="AmazonEC2",
        filters={"productFamily": "Storage Snapshot"},
        usage_type="EBS:SnapshotUsage",
    ),
    *(
        Product(
            item=LOAD_BALANCER_HOUR[kind],
            service="AWSELB",
            filters={"productFamily": family},
            usage_type="LoadBalancerUsage",
        )
        for kind, family in (
            ("application", "Load Balancer-Application"),
            ("network", "Load Balancer-Network"),
            ("classic", "Load Balancer"),
        )
    ),
    Product(
        item=NAT_HOUR,
        service="AmazonEC2",
        filters={"group": "NGW:NatGateway"},
        usage_type="NatGateway-Hours",
    ),
    Product(
        item=NAT_GB,
        service="AmazonEC2",
        filters={"group": "NGW:NatGateway"},
        usage_type="NatGateway-Bytes",
    ),
    Product(item=PUBLIC_IPV4_HOUR, service="AmazonVPC", usage_type="PublicIPv4:InUseAddress"),
    Product(item=ENDPOINT_HOUR, service="AmazonVPC", usage_type="VpcEndpoint-Hours"),
    Product(item=ENDPOINT_GB, service="AmazonVPC", usage_type="VpcEndpoint-Bytes"),
    Product(item=LOGS_INGESTED, service="AmazonCloudWatch", usage_type="DataProcessing-Bytes"),
    Product(item=LOGS_STORED, service="AmazonCloudWatch", usage_type="TimedStorage-ByteHrs"),
    # A dashboard has no region in the price list. Usage types of KMS begin with a region's name.
    Product(item=CLOUDWATCH_METRIC, service="AmazonCloudWatch", usage_type="CW:MetricMonitorUsage"),
    Product(item=CLOUDWATCH_ALARM, service="AmazonCloudWatch", usage_type="CW:AlarmMonitorUsage"),
    Product(item=ECR_STORED, service="AmazonECR", usage_type="TimedStorage-ByteHrs"),
    # The usage type is inferred, from reports of cost tools; with extended support it is another.
    Product(item=EKS_HOUR, service="AmazonEKS", usage_type="AmazonEKS-Hours:perCluster"),
    _lustre(lustre_item("scratch-2", None), "Storage", storageType="SSD"),
    *(
        _lustre(lustre_item("persistent-2", throughput), f"Storage.SSD.{throughput}")
        for throughput in THROUGHPUTS
    ),
    _lustre(LUSTRE_METADATA_IOPS, "MetadataIOPS"),
    _lustre(LUSTRE_BACKUP, "BackupUsage"),
    *STORAGE_PRODUCTS,
)


def products(instance_types: Iterable[str]) -> tuple[Product, ...]:
    """Return the products of all items, those of instances among them."""
    return (*_PRODUCTS, *map(_instance, instance_types))


def _instance(instance_type: str) -> Product:
    return Product(
        item=instance_item(Purchase.ON_DEMAND, instance_type),
        service="AmazonEC2",
        filters={
            "instanceType": instance_type,
            "operatingSystem": "Linux",
            "tenancy": "Shared",
            "preInstalledSw": "NA",
            "capacitystatus": "Used",
        },
        usage_type=f"BoxUsage:{instance_type}",
    )


def ask(
    price_list: Region, region: str, instance_types: Iterable[str], today: date
) -> Iterator[tuple[str, Price] | Unclear]:
    """Ask the price list for all items of a region; needs pricing:GetProducts.

    Args:
        price_list: where it is served.
        region: whose prices are wanted.
        instance_types: those whose prices are wanted, on demand and reserved.
        today: the day of the answer.
    """
    answers: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for wanted in products(instance_types):
        filters = {"regionCode": region, **wanted.filters}
        question = (wanted.service, *map("=".join, filters.items()))
        if question not in answers:
            answers[question] = [
                json.loads(text)
                for text in price_list.pages(
                    "pricing",
                    "get_products",
                    "PriceList",
                    ServiceCode=wanted.service,
                    Filters=[
                        {"Type": "TERM_MATCH", "Field": name, "Value": value}
                        for name, value in filters.items()
                    ],
                )
            ]
        yield _price(wanted, answers[question], region, today)
        if instance_type := wanted.filters.get("instanceType"):
            fitting = [each for each in answers[question] if wanted.fits(each["product"])]
            yield from reserved_prices(instance_type, fitting, region, today)


def _price(
    wanted: Product, offers: Iterable[Mapping[str, Any]], region: str, today: date
) -> tuple[str, Price] | Unclear:
    found = [offer for offer in offers if wanted.fits(offer["product"])]
    unit = unit_of(wanted.item)
    prices = {
        (usd, offer["product"]["sku"], offer["publicationDate"][:10])
        for offer in found
        for usd in _first_tier(offer, unit)
    }
    amounts = sorted({usd for usd, _, _ in prices})
    if not amounts:
        return Unclear(item=wanted.item, reason="the price list has no product that fits")
    if len(amounts) > 1:
        some = ", ".join(map(str, amounts))
        reason = f"the price list has {len(amounts)} prices that fit: {some}"
        return Unclear(item=wanted.item, reason=reason)
    usd, sku, published = max(prices, key=lambda entry: entry[2])
    source = f"AWS price list, {wanted.service} {sku}, published {published}"
    return wanted.item, Price(usd=usd, unit=unit, region=region, date=today, source=source)


def _first_tier(offer: Mapping[str, Any], unit: Unit) -> Iterator[float]:
    """Yield the on-demand prices of the first unit that is used, where they are not zero."""
    for term in offer.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            usd = float(dimension["pricePerUnit"].get("USD", 0))
            # The first tier of what is free at first costs nothing; then the next one counts.
            if dimension["unit"] in UNITS[unit] and usd and _begins(dimension, term):
                yield round(usd / UNITS[unit][dimension["unit"]], 10)


def _begins(dimension: Mapping[str, Any], term: Mapping[str, Any]) -> bool:
    paid = [
        float(other.get("beginRange", 0))
        for other in term["priceDimensions"].values()
        if float(other["pricePerUnit"].get("USD", 0))
    ]
    return float(dimension.get("beginRange", 0)) == min(paid)
