"""An AWS price list, rates of Savings Plans, and spot prices, below the clients of boto3."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.stub import ANY, Stubber

from trainshed import catalogue

# Instance type, zone and US dollars.
Quote = tuple[str, str, str]


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


def reserved(
    offer: dict[str, Any],
    years: int,
    option: str,
    upfront: str,
    hourly: str,
    kind: str = "standard",
) -> dict[str, Any]:
    """Add a reserved term to a product, in the form of the price list's answer for c5.xlarge.

    Only a term with an upfront fee has a price for it; one that is all upfront costs 0 an hour.
    """
    sku = offer["product"]["sku"]
    terms = offer["terms"].setdefault("Reserved", {})
    term = f"{sku}.{len(terms)}"
    fee = {"unit": "Quantity", "pricePerUnit": {"USD": upfront}, "description": "Upfront Fee"}
    hour = {
        "unit": "Hrs",
        "pricePerUnit": {"USD": hourly},
        "description": "Linux/UNIX (Amazon VPC), reserved instance applied",
        "beginRange": "0",
        "endRange": "Inf",
    }
    terms[term] = {
        "priceDimensions": {
            **({f"{term}.2TG2D8R56U": fee} if upfront else {}),
            f"{term}.6YS6EN2CT7": hour,
        },
        "sku": sku,
        "offerTermCode": str(len(terms)),
        "effectiveDate": "2026-11-01T00:00:00Z",
        "termAttributes": {
            "LeaseContractLength": f"{years}yr",
            "OfferingClass": kind,
            "PurchaseOption": option,
        },
    }
    return offer


def rate(
    plan: str,
    years: int,
    option: str,
    usd: str,
    *,
    instance_type: str = "trn1.32xlarge",
    usage: str = "BoxUsage",
    **properties: str,
) -> dict[str, Any]:
    """A rate of a Savings Plan, in the form of botocore's model of the API."""
    return {
        "savingsPlanOffering": {
            "offeringId": "12345678-1234-1234-1234-123456789012",
            "paymentOption": option,
            "planType": plan,
            "durationSeconds": years * 31_536_000,
            "currency": "USD",
            "planDescription": f"{years} year {option} {plan} Savings Plan",
        },
        "rate": usd,
        "unit": "Hrs",
        "productType": "EC2",
        "serviceCode": "AmazonEC2",
        "usageType": f"USW2-{usage}:{instance_type}",
        "operation": "RunInstances",
        "properties": [
            {"name": name, "value": value}
            for name, value in {
                "region": "us-west-2",
                "instanceType": instance_type,
                "instanceFamily": instance_type.partition(".")[0],
                "productDescription": "Linux/UNIX",
                "tenancy": "shared",
                **properties,
            }.items()
        ],
    }


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
    flat(
        "AmazonEC2",
        "USW2-EBS:VolumeP-Throughput.gp3",
        "40.9600000000",
        unit="GiBps-mo",
        productFamily="Provisioned Throughput",
        volumeApiName="gp3",
    ),
    flat(
        "AmazonEC2",
        "USW2-EBS:VolumeP-IOPS.gp3",
        "0.0050000000",
        unit="IOPS-Mo",
        productFamily="System Operation",
        volumeApiName="gp3",
    ),
    flat(
        "AmazonEC2",
        "USW2-EBS:VolumeUsage.io2",
        "0.1250000000",
        unit="GB-Mo",
        productFamily="Storage",
        volumeApiName="io2",
    ),
    *(
        flat(
            "AmazonEC2",
            f"USW2-EBS:VolumeP-IOPS.io2{tier}",
            usd,
            unit="IOPS-Mo",
            productFamily="System Operation",
            volumeApiName="io2",
        )
        for tier, usd in (("", "0.065"), (".tier2", "0.0455"), (".tier3", "0.03185"))
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


def efs(usage_type: str, usd: str, unit: str = "GB-Mo", **attributes: str) -> dict[str, Any]:
    return flat("AmazonEFS", f"USW2-{usage_type}", usd, unit=unit, **attributes)


def openzfs(usage_type: str, usd: str, unit: str, deployment: str) -> dict[str, Any]:
    return flat(
        "AmazonFSx",
        f"USW2-{usage_type}",
        usd,
        unit=unit,
        fileSystemType="OpenZFS",
        deploymentOption=deployment,
    )


def s3(
    usage_type: str, usd: str, unit: str, service: str = "AmazonS3", **attributes: str
) -> dict[str, Any]:
    return flat(service, f"USW2-{usage_type}", usd, unit=unit, **attributes)


# Products of storage, and others that are like them. What is dearer by a factor of 100 is none of
# ours.
STORAGE = [
    efs("TimedStorage-ByteHrs", "0.3000000000", storageClass="General Purpose"),
    efs("TimedStorage-Z-ByteHrs", "30.0000000000", storageClass="One Zone-General Purpose"),
    efs("IATimedStorage-ET-ByteHrs", "0.0160000000", storageClass="Infrequent Access-ET"),
    efs("IATimedStorage-ByteHrs", "2.5000000000", storageClass="Infrequent Access"),
    efs("ArchiveTimedStorage-ByteHrs", "0.0080000000", storageClass="Archive"),
    efs("ETDataAccess-Bytes", "0.0300000000", "GB", accessType="Read"),
    efs("ETDataAccess-Bytes", "0.0600000000", "GB", accessType="Write"),
    efs("IADataAccess-Bytes", "0.0100000000", "GB", accessType="Read"),
    efs("IADataAccess-Bytes", "0.0110000000", "GB", accessType="Write"),
    efs("ArchiveDataAccess-Bytes", "0.0300000000", "GB", accessType="Read"),
    efs("ArchiveDataAccess-Bytes", "0.0310000000", "GB", accessType="Write"),
    *(
        flat(
            "AWSBackup",
            f"USW2-{usage_type}",
            usd,
            unit="GB-month",
            productFamily="AWS Backup Storage",
        )
        for usage_type, usd in (
            ("WarmStorage-ByteHrs-EFS", "0.0500000000"),
            ("ColdStorage-ByteHrs-EFS", "1.0000000000"),
        )
    ),
    openzfs("Storage.SAZ_2N2:SSD", "0.0900000000", "GB-Mo", "Single-AZ_2N_2"),
    openzfs("Storage.SAZ2:SSD", "9.0000000000", "GB-Mo", "Single-AZ_2"),
    openzfs("ThroughputCapacity.SAZ_2N2", "0.5200000000", "MiBps-Mo", "Single-AZ_2N_2"),
    openzfs("ThroughputCapacity.SAZ2", "26.0000000000", "MiBps-Mo", "Single-AZ_2"),
    openzfs("ProvisionedSSDIOPS.SAZ_2N2", "0.0060000000", "IOPS-Mo", "Single-AZ_2N_2"),
    openzfs("BackupUsage", "0.0500000000", "GB-Mo", "N/A"),
    openzfs("BackupUsage.MultiAZ", "5.0000000000", "GB-Mo", "Multi-AZ"),
    flat("AmazonFSx", "USW2-BackupUsage", "5.0000000000", unit="GB-Mo", fileSystemType="ONTAP"),
    offer(
        "AmazonS3",
        "USW2-TimedStorage-ByteHrs",
        ("51200", "512000", "0.0220000000"),
        ("0", "51200", "0.0230000000"),
        unit="GB-Mo",
        volumeType="Standard",
    ),
    s3("TimedStorage-ByteHrs", "2.4000000000", "GB-Mo", operation="INTAAS3ObjectOverhead"),
    s3("Tables-TimedStorage-ByteHrs", "2.6500000000", "GB-Mo"),
    s3("TimedStorage-SIA-ByteHrs", "0.0125000000", "GB-Mo"),
    s3("TimedStorage-GIR-ByteHrs", "0.0040000000", "GB-Mo"),
    s3("TimedStorage-GlacierByteHrs", "0.0036000000", "GB-Mo"),
    s3("TimedStorage-GDA-ByteHrs", "0.0009900000", "GB-Mo", "AmazonS3GlacierDeepArchive"),
    s3("TimedStorage-GDA-Staging", "2.1000000000", "GB-Mo"),
    s3("Requests-Tier4", "0.0000100000", "Requests", operation="S3-SIATransition"),
    s3("Requests-Tier4", "0.0000200000", "Requests", operation="S3-GIRTransition"),
    s3("Requests-Tier3", "0.0000300000", "Requests", operation="S3-GlacierTransition"),
    s3("Requests-Tier3", "0.0000500000", "Requests", operation="S3-GDATransition"),
    s3("Requests-Tier3", "0.0050000000", "Requests", operation="RestoreObject"),
    s3("Retrieval-SIA", "0.0100000000", "GB"),
    s3("Retrieval-GIR", "0.0300000000", "GB"),
    s3("Standard-Retrieval-Bytes", "0.0100000000", "GB", operation="RestoreObject"),
    s3("Expedited-Retrieval-Bytes", "3.0000000000", "GB", operation="RestoreObject"),
    s3("Standard-Retrieval-Bytes", "0.0200000000", "GB", "AmazonS3GlacierDeepArchive"),
    s3("Monitoring-Automation-INT", "0.0000025000", "Objects"),
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


class SavingsPlansService:
    """DescribeSavingsPlansOfferingRates over a list, as the API reference describes it.

    All filters must fit, each by one of its values.
    """

    def __init__(self, rates: Sequence[Mapping[str, Any]], denied: bool) -> None:
        self.rates, self.denied = rates, denied

    def __call__(self, request: Any, **_: Any) -> AWSResponse:
        asked = json.loads(request.body)
        assert request.url == (
            "https://savingsplans.amazonaws.com/DescribeSavingsPlansOfferingRates"
        )
        if self.denied:
            message = (
                "User: arn:aws:iam::123456789012:user/eve is not authorized to perform: "
                "savingsplans:DescribeSavingsPlansOfferingRates"
            )
            denial = {"__type": "AccessDeniedException", "message": message}
            return PriceListService.answer(request, 403, denial)
        found = [each for each in self.rates if self.matches(each, asked)]
        # Two a page, so that the pages count.
        start = int(asked.get("nextToken", "0"))
        more = {"nextToken": str(start + 2)} if start + 2 < len(found) else {}
        return PriceListService.answer(
            request, 200, {"searchResults": found[start : start + 2], **more}
        )

    @staticmethod
    def matches(each: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
        properties = {entry["name"]: entry["value"] for entry in each["properties"]}
        return (
            each["savingsPlanOffering"]["planType"] in asked["savingsPlanTypes"]
            and each["productType"] in asked["products"]
            and each["serviceCode"] in asked["serviceCodes"]
            and all(properties.get(one["name"]) in one["values"] for one in asked["filters"])
        )


def clients(
    offers: list[dict[str, Any]],
    quotes: tuple[Quote, ...] = (),
    denied: str = "",
    rates: Sequence[Mapping[str, Any]] = (),
    since: Any = ANY,
) -> Callable[[str, str], Any]:
    """Return what makes a client of `pricing`, `savingsplans` or `ec2` in a region.

    The credentials may not use the service that is `denied`. Spot prices are asked for from
    `since` on.

    The clients are boto3's own, so that requests and answers are held to botocore's models.
    """
    below = {
        "pricing.GetProducts": PriceListService(offers, denied == "pricing"),
        "savingsplans.DescribeSavingsPlansOfferingRates": SavingsPlansService(
            rates, denied == "savingsplans"
        ),
    }

    def make(name: str, region: str) -> Any:
        client = boto3.client(
            name,
            region_name=region,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(retries={"max_attempts": 1}),
        )
        if name != "ec2":
            for operation, service in below.items():
                client.meta.events.register(f"before-send.{operation}", service)
            return client
        sold = [
            each
            for each in catalogue.all_types()
            if region in catalogue.regions_offering(each)
            and "spot" in catalogue.lookup(each).usage_classes
        ]
        spot = Stubber(client)
        spot.add_response(
            "describe_spot_price_history",
            {
                "SpotPriceHistory": [
                    {"InstanceType": each, "AvailabilityZone": zone, "SpotPrice": usd}
                    for each, zone, usd in quotes
                ]
            },
            {
                "Filters": [{"Name": "instance-type", "Values": sold}],
                "ProductDescriptions": ["Linux/UNIX"],
                "StartTime": since,
                "EndTime": ANY,
            },
        )
        spot.activate()
        return client

    return make
