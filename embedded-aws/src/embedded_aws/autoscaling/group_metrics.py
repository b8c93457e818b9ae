"""The metrics that groups send of themselves.

EC2 Auto Scaling API reference, EnableMetricsCollection: every minute, and without names all. User
guide, "Amazon CloudWatch metrics for Amazon EC2 Auto Scaling": namespace, dimension and meaning; of
instances without weights, each is one of capacity. Inferred: that instances which have ended and
are not replaced yet are not counted.

Nothing runs each minute: that the sizes of a group change is noted, and what it would have sent is
there when metrics are read. Of a jump of the clock it sends the last hours only.
"""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from embedded_aws.actions import Call, action
from embedded_aws.autoscaling.group import Group, find, guard
from embedded_aws.autoscaling.refusals import invalid
from embedded_aws.clock import now
from embedded_aws.hooks import when_metrics_read

_NAMESPACE, _DIMENSION = "AWS/AutoScaling", "AutoScalingGroupName"
_GRANULARITY = "1Minute"
_MINUTE, _AT_MOST = timedelta(minutes=1), timedelta(hours=3)
# Those of warm pools, which are refused, are left out.
_METRICS = (
    "GroupMinSize",
    "GroupMaxSize",
    "GroupDesiredCapacity",
    "GroupInServiceInstances",
    "GroupInServiceCapacity",
    "GroupPendingInstances",
    "GroupPendingCapacity",
    "GroupStandbyInstances",
    "GroupStandbyCapacity",
    "GroupTerminatingInstances",
    "GroupTerminatingCapacity",
    "GroupTotalInstances",
    "GroupTotalCapacity",
)


@dataclass(slots=True, kw_only=True)
class _Sender:
    """What a group has not sent yet.

    Attributes:
        next_minute: the first one of which it has sent nothing.
        sizes: of the group, each time that they changed, the last of what it has sent first.
        lock: of both.
    """

    next_minute: datetime
    sizes: list[tuple[datetime, Mapping[str, int]]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def at(self, time: datetime) -> Mapping[str, int]:
        """Return the sizes at a time."""
        with self.lock:
            first, *later = self.sizes
        return next((sizes for since, sizes in reversed(later) if since <= time), first[1])


# Those that send.
_senders: dict[Group, _Sender] = {}


@action("autoscaling", "EnableMetricsCollection", "DisableMetricsCollection")
def enable_or_disable_metrics_collection(call: Call) -> dict[str, Any]:
    """Note which metrics a group sends."""
    if call.params.get("Granularity", _GRANULARITY) != _GRANULARITY:
        raise invalid(f"Granularity is not valid; it must be {_GRANULARITY}")
    named = call.params.get("Metrics") or _METRICS
    if unknown := sorted(set(named).difference(_METRICS)):
        raise invalid(f"{unknown[0]} is not a valid metric")
    with guard:
        group = find(call, call.params["AutoScalingGroupName"])
        fields = group.fields
        others = [each for each in fields["EnabledMetrics"] if each["Metric"] not in named]
        added = [{"Metric": each, "Granularity": _GRANULARITY} for each in named]
        enables = call.operation == "EnableMetricsCollection"
        fields["EnabledMetrics"] = [*others, *(added if enables else ())]
        if not fields["EnabledMetrics"]:
            _senders.pop(group, None)
        elif group not in _senders:
            _senders[group] = _Sender(next_minute=_minute_of(now()))
            note_sizes(group)
    return {}


def note_sizes(group: Group) -> None:
    """Note the sizes of a group that sends them, if they have changed; nobody need hold a lock."""
    if sender := _senders.get(group):
        sizes = _sizes(group)
        with sender.lock:
            if not sender.sizes or sender.sizes[-1][1] != sizes:
                sender.sizes.append((now(), sizes))


@when_metrics_read
def _send(account: str, region: str) -> None:
    """Send what groups have not sent yet of the minutes that have begun."""
    with guard:
        for group, sender in list(_senders.items()):
            if not group.exists:
                del _senders[group]
            elif (group.call.account, group.call.region) == (account, region):
                note_sizes(group)
                _send_of(group, sender)


def _send_of(group: Group, sender: _Sender) -> None:
    time = now()
    minute = max(sender.next_minute, _minute_of(time - _AT_MOST))
    names = [each["Metric"] for each in group.fields["EnabledMetrics"]]
    backend = group.call.backend("cloudwatch")
    while minute <= time:
        sizes = sender.at(minute + _MINUTE)
        data = [
            {
                "MetricName": name,
                "Dimensions": [{"Name": _DIMENSION, "Value": group.name}],
                "Timestamp": minute.replace(tzinfo=None),
                "Unit": "None",
                "Value": sizes[name],
            }
            for name in names
        ]
        backend.put_metric_data(_NAMESPACE, data)
        minute += _MINUTE
    with sender.lock:
        sender.next_minute = minute
        del sender.sizes[:-1]


def _sizes(group: Group) -> Mapping[str, int]:
    """Return the sizes of a group, by the names of their metrics."""
    states = Counter(group.shown(member)["LifecycleState"] for member in group.members)
    counts = {
        "InService": states["InService"],
        "Pending": states["Pending"],
        "Standby": 0,
        "Terminating": 0,
        "Total": states["InService"] + states["Pending"],
    }
    return {
        "GroupMinSize": group.fields["MinSize"],
        "GroupMaxSize": group.fields["MaxSize"],
        "GroupDesiredCapacity": group.desired,
        **{f"Group{state}Instances": count for state, count in counts.items()},
        **{f"Group{state}Capacity": count for state, count in counts.items()},
    }


def _minute_of(time: datetime) -> datetime:
    return time.replace(second=0, microsecond=0)
