"""Auto Scaling groups in the inventory."""

from collections.abc import Callable, Iterator
from typing import Any

from embedded_aws.inventory import Part, lists, row
from embedded_aws.plugins import Row


@lists(Part.GROUPS)
def _groups(client: Callable[[str], Any]) -> Iterator[Row]:
    groups = client("autoscaling").get_paginator("describe_auto_scaling_groups").paginate()
    for group in groups.search("AutoScalingGroups[]"):
        facts = f"{len(group['Instances'])} of {group['DesiredCapacity']} instances"
        yield row("auto scaling group", group["AutoScalingGroupName"], facts)
