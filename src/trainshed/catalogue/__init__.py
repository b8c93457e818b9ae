"""What AWS says about the instance types that train models: the only home of hardware numbers.

The data are the EC2 API's own records (`data/instance_types.json`, `data/offerings.json`), the
records that the API has stopped returning (`data/withdrawn.json`), and a short commented overlay
where the API is wrong or silent (`data/overlay.toml`).
"""

from trainshed.catalogue.lookup import (
    all_regions,
    all_types,
    known_region,
    lookup,
    quota_of,
    regions_offering,
    with_efa_like,
    zone_ids,
    zones_offering,
)
from trainshed.catalogue.model import (
    Accelerator,
    AcceleratorFamily,
    InstanceType,
    Lifecycle,
    LifecycleStatus,
    NetworkCard,
    Quota,
)
from trainshed.catalogue.quotas import increase_command, quota_for

__all__ = [
    "Accelerator",
    "AcceleratorFamily",
    "InstanceType",
    "Lifecycle",
    "LifecycleStatus",
    "NetworkCard",
    "Quota",
    "all_regions",
    "all_types",
    "increase_command",
    "known_region",
    "lookup",
    "quota_for",
    "quota_of",
    "regions_offering",
    "with_efa_like",
    "zone_ids",
    "zones_offering",
]
