"""The subnets that a build can be moved to, each in a zone of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainshed.aws import Region
from trainshed.errors import TrainshedError


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSubnet:
    """A subnet to build in.

    Attributes:
        subnet_id: for instance `subnet-0123456789abcdef0`.
        zone: name of its zone, for instance `us-west-2a`.
    """

    subnet_id: str
    zone: str

    def __str__(self) -> str:
        """Return for instance `subnet-0123456789abcdef0 (us-west-2a)`."""
        return f"{self.subnet_id} ({self.zone})"


def find_subnets(
    region: Region, *, named: Sequence[str], filters: Sequence[str]
) -> list[BuildSubnet]:
    """Return the subnets to try, in this order: as named, or by zone those that were found.

    Args:
        region: where.
        named: ids of subnets.
        filters: `NAME=VALUE` of ec2:DescribeSubnets, all of which must match, for instance
            `tag:Name=build-*`. With neither, the default VPC's.

    Raises:
        TrainshedError: a malformed filter, or no subnet.
        AwsRefusal: a subnet does not exist, or a permission is missing.
    """
    if named:
        answer = region.call("ec2", "describe_subnets", SubnetIds=list(named))
        found = {subnet.subnet_id: subnet for subnet in map(_subnet, answer["Subnets"])}
        return [found[subnet_id] for subnet_id in dict.fromkeys(named)]
    wanted = [read_filter(text) for text in filters] or [
        {"Name": "default-for-az", "Values": ["true"]}
    ]
    subnets = sorted(
        map(_subnet, region.pages("ec2", "describe_subnets", "Subnets", Filters=wanted)),
        key=lambda subnet: (subnet.zone, subnet.subnet_id),
    )
    if not subnets:
        what = f"matches {', '.join(filters)}" if filters else "is in a default VPC"
        raise TrainshedError(
            f"no subnet of {region.name} {what}; give one that reaches the internet"
        )
    return subnets


def read_filter(text: str) -> dict[str, Any]:
    """Read a filter of ec2:DescribeSubnets.

    Raises:
        TrainshedError: it is not `NAME=VALUE`.
    """
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise TrainshedError(
            f"subnet filter {text!r} is not NAME=VALUE, for instance tag:Name=build-*"
        )
    return {"Name": name, "Values": [value]}


def _subnet(entry: dict[str, Any]) -> BuildSubnet:
    return BuildSubnet(subnet_id=entry["SubnetId"], zone=entry["AvailabilityZone"])
