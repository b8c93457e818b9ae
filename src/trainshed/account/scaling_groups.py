"""Auto Scaling groups: what they launch, why they do not, and how they replace instances."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trainshed.aws import Region

# EC2 Auto Scaling user guide, "Suspend and resume processes": what FailedBootLimit suspends.
_LAUNCH = "Launch"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingGroup:
    """An Auto Scaling group.

    Attributes:
        name: its name.
        desired: how many instances it wants.
        suspended: it launches none.
        failed_launch: why its newest launch failed; empty when it did not.
    """

    name: str
    desired: int
    suspended: bool
    failed_launch: str

    @property
    def problems(self) -> tuple[str, ...]:
        """Why it launches no instances, in words."""
        suspended = _suspended(self.name)
        failed = f"the newest launch of the Auto Scaling group {self.name}: {self.failed_launch}"
        return (*([suspended] if self.suspended else ()), *([failed] if self.failed_launch else ()))


def find_group(region: Region, name: str) -> ScalingGroup | None:
    """Return the group of a name, or None when there is none."""
    [*found] = region.call(
        "autoscaling", "describe_auto_scaling_groups", AutoScalingGroupNames=[name]
    )["AutoScalingGroups"]
    return _group(region, found[0]) if found else None


def groups_that_begin(region: Region, *beginnings: str) -> tuple[ScalingGroup, ...]:
    """Return the groups whose names begin with one of these."""
    if not beginnings:
        return ()
    groups = region.pages("autoscaling", "describe_auto_scaling_groups", "AutoScalingGroups")
    return tuple(
        _group(region, each)
        for each in groups
        if each["AutoScalingGroupName"].startswith(beginnings)
    )


def _group(region: Region, described: Mapping[str, Any]) -> ScalingGroup:
    name = described["AutoScalingGroupName"]
    # The newest comes first.
    [*newest] = region.call(
        "autoscaling", "describe_scaling_activities", AutoScalingGroupName=name, MaxRecords=1
    )["Activities"]
    failed = [each for each in newest if each["StatusCode"] == "Failed"]
    return ScalingGroup(
        name=name,
        desired=described["DesiredCapacity"],
        suspended=_is_suspended(described),
        failed_launch=failed[0].get("StatusMessage", "") if failed else "",
    )


def why_no_launch(region: Region, groups: Iterable[str]) -> str | None:
    """Return why groups launch nothing, and what to do; None when they do.

    Args:
        region: where they are.
        groups: their names.
    """
    names = list(groups)
    # Without names, EC2 Auto Scaling describes all groups.
    if not names:
        return None
    found = region.pages(
        "autoscaling",
        "describe_auto_scaling_groups",
        "AutoScalingGroups",
        AutoScalingGroupNames=names,
    )
    for group in found:
        if _is_suspended(group):
            return _suspended(group["AutoScalingGroupName"])
    return None


def replace(region: Region, instance_id: str) -> None:
    """Have the group of an instance terminate it, and launch another.

    EC2 Auto Scaling API reference, SetInstanceHealth: it "terminates and replaces the unhealthy
    instance".

    Args:
        region: where it is.
        instance_id: of the instance.
    """
    region.call(
        "autoscaling",
        "set_instance_health",
        InstanceId=instance_id,
        HealthStatus="Unhealthy",
        ShouldRespectGracePeriod=False,
    )


def _is_suspended(described: Mapping[str, Any]) -> bool:
    processes = described.get("SuspendedProcesses", ())
    return any(each["ProcessName"] == _LAUNCH for each in processes)


def _suspended(name: str) -> str:
    return (
        "the launches of its group are suspended, as they are when too many nodes fail "
        "their first boot; put that right, then: aws autoscaling resume-processes "
        f"--scaling-processes {_LAUNCH} --auto-scaling-group-name {name}"
    )
