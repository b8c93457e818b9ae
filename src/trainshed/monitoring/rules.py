"""The rules for events that every cluster has, whatever starts its jobs."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from trainshed.catalogue.capacity_blocks import ends_early
from trainshed.monitoring.model import EventRule
from trainshed.plan import CapacityKind, ClusterPlan

# EC2 user guide, "Monitor Capacity Blocks using EventBridge", of 2026, and EventBridge events
# reference, "Amazon EC2"; earlier versions of that page, and other guides still, have the second.
_BLOCK_ENDS = ("Capacity Block Expiration Warning", "Capacity Block Reservation Expiration Warning")

_TOLD_EARLY = timedelta(minutes=40)


def rules_of(plan: ClusterPlan) -> Iterator[EventRule]:
    """Yield the rule about the end of Capacity Blocks.

    EC2 user guide, "Monitor Capacity Blocks using EventBridge": forty minutes before the end; no
    event comes earlier. The id of a block is in the detail; of a resource group the file does not
    say which blocks are in it, so those of all blocks of the account are told.
    """
    if plan.capacity.kind is not CapacityKind.CAPACITY_BLOCK:
        return
    pattern: dict[str, Any] = {
        "source": ["aws.ec2"],
        "detail-type": [*_BLOCK_ENDS],
    }
    if ids := plan.capacity.reservation_ids:
        pattern["detail"] = {"capacity-reservation-id": [*ids]}
    minutes = (_TOLD_EARLY - ends_early(plan.instance.name)) // timedelta(minutes=1)
    ends = (
        f"begins to end its instances in {minutes} minutes"
        if minutes > 0
        else "has begun to end its instances"
    )
    yield EventRule(
        name="block-ends",
        description="A Capacity Block ends",
        pattern=pattern,
        paths={"block": "$.detail.capacity-reservation-id", "end": "$.detail.end-date"},
        says=f"{plan.name}: the Capacity Block <block> ends at <end>; EC2 {ends}. "
        "Have jobs write their checkpoints.",
    )
