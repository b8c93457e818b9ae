"""GetSpotPlacementScores, invented.

EC2 API reference: of each region, or each zone, from 1 to 10; low where fewer than three types are
named; the ten best. Scores here follow from type, zone and day: nobody knows EC2's.
"""

from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from embedded_aws.actions import Call, action
from embedded_aws.ec2.instance_types import offering_zone_ids, require
from embedded_aws.ec2.refusals import invalid_value, missing_parameter

_MOST, _BEST, _LOW, _FEW = 10, 10, 4, 3


@action("ec2", "GetSpotPlacementScores")
def get_spot_placement_scores(call: Call) -> dict[str, Any]:
    """Score the regions, or their zones, that offer the types on Spot."""
    names = call.params.get("InstanceTypes")
    if not names:
        raise missing_parameter("InstanceTypes")
    if call.params["TargetCapacity"] < 1:
        raise invalid_value("TargetCapacity must be at least 1.")
    sold = [name for name in names if "spot" in require(name)["SupportedUsageClasses"]]
    best = _LOW if len(names) < _FEW else _BEST
    scores: list[dict[str, Any]] = []
    for region in call.params.get("RegionNames") or [call.region]:
        zones = sorted({zone for name in sold for zone in offering_zone_ids(name, region)})
        found = [
            {"Region": region, "AvailabilityZoneId": zone, "Score": _score(names, zone, best)}
            for zone in zones
        ]
        if found and not call.params.get("SingleAvailabilityZone"):
            found = [{"Region": region, "Score": max(each["Score"] for each in found)}]
        scores += found
    scores.sort(key=lambda each: each["Score"], reverse=True)
    return {"SpotPlacementScores": scores[:_MOST]}


def _score(names: list[str], zone: str, best: int) -> int:
    day = datetime.now(UTC).date()
    return 1 + crc32(f"{sorted(names)} {zone} {day}".encode()) % best
