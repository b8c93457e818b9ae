"""A product of the AWS price list, by what tells it from all others, and its units."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainshed.prices.model import Unit

# The units' names in the price list, with how many of ours each is: those in the sources of
# data/prices.json.
UNITS: Mapping[Unit, Mapping[str, float]] = {
    Unit.HOUR: {"Hrs": 1, "hours": 1, "Hours": 1},
    Unit.GB: {"GB": 1},
    Unit.GB_MONTH: {"GB-Mo": 1, "GB-month": 1},
    Unit.IOPS_MONTH: {"IOPS-Mo": 1},
    Unit.MIBPS_MONTH: {"MiBps-Mo": 1, "GiBps-mo": 1024},
    Unit.MBPS_MONTH: {"MiBps-Mo": 1},
    Unit.MONTH: {"Metrics": 1, "Alarms": 1},
    Unit.THOUSAND_REQUESTS: {"Requests": 0.001},
    Unit.THOUSAND_OBJECTS_MONTH: {"Objects": 0.001},
}
# Usage types begin with a code of the region, which us-east-1 leaves out at times.
REGION_CODE = "(?:[A-Z]+[0-9]?-)?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """Where to find an item in the price list.

    Attributes:
        item: the item.
        service: the service's code.
        filters: attributes that AWS selects by, beside the region.
        usage_type: the usage type, without the region's code; empty for any.
        attributes: further attributes of the product.
    """

    item: str
    service: str
    filters: Mapping[str, str] = field(default_factory=dict)
    usage_type: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)

    def fits(self, product: Mapping[str, Any]) -> bool:
        """Return whether a product of the price list is the item."""
        found = product["attributes"]
        usage_type = found.get("usagetype", "")
        pattern = REGION_CODE + re.escape(self.usage_type)
        return (not self.usage_type or re.fullmatch(pattern, usage_type) is not None) and all(
            found.get(name) == value for name, value in self.attributes.items()
        )
