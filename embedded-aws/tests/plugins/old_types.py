"""A plug-in as another package would bring it: types that EC2 withdrew in 2026, and a price."""

import json
from datetime import date
from pathlib import Path
from typing import Any

from embedded_aws.plugins import Plugin, WithdrawnType


class OldTypes(Plugin):
    """dl1 and p3, by the EC2 API's last records of them."""

    def withdrawn_types(self) -> dict[str, WithdrawnType]:
        found = json.loads(Path(__file__).with_suffix(".json").read_text())
        return {
            name: WithdrawnType(
                record=entry["record"],
                first_missing=date.fromisoformat(entry["first_missing"]),
                zone_ids={region: tuple(zones) for region, zones in entry["zones"].items()},
            )
            for name, entry in found.items()
        }

    def price_list(self) -> list[dict[str, Any]]:
        attributes = {
            "instanceType": "trn1.32xlarge",
            "regionCode": "us-west-2",
            "operatingSystem": "Linux",
            "tenancy": "Shared",
            "preInstalledSw": "NA",
            "capacitystatus": "Used",
        }
        dimension = {"unit": "Hrs", "pricePerUnit": {"USD": "21.5"}}
        return [
            {
                "product": {"attributes": attributes, "sku": "TRN"},
                "serviceCode": "AmazonEC2",
                "terms": {"OnDemand": {"TRN.1": {"priceDimensions": {"TRN.1.1": dimension}}}},
                "version": "1",
                "publicationDate": "2026-11-18T00:57:01Z",
            }
        ]


PLUGIN = OldTypes()
