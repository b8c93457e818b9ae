"""One Auto Scaling group, its instances and its tags, as they are kept."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.autoscaling.refusals import invalid, unsupported_change
from embedded_aws.ec2.spot_notices import notice_of

# Held by whoever reads or changes groups: their instances end at any time.
guard = threading.RLock()

GROUP_NAME_TAG = "aws:autoscaling:groupName"


@dataclass(slots=True, kw_only=True)
class Member:
    """An instance of a group.

    Attributes:
        instance: moto's.
        subnet_id: in which the group launched it.
        facts: what Describe actions show of it that does not change.
        protected: scale-in leaves it alone.
        unhealthy: SetInstanceHealth said so.
        drained: another service has drained it.
    """

    instance: Any
    subnet_id: str
    facts: Mapping[str, Any]
    protected: bool
    unhealthy: bool = False
    drained: bool = False

    @property
    def instance_id(self) -> str:
        """Its id."""
        return str(self.instance.id)

    @property
    def state(self) -> str:
        """Its EC2 state."""
        return str(self.instance.state)

    @property
    def is_healthy(self) -> bool:
        """Whether it passes its health checks.

        User guide, "Health checks for instances": one that is not running is unhealthy.
        """
        return not self.unhealthy and self.state in ("pending", "running")


@dataclass(slots=True, kw_only=True, eq=False)
class Group:
    """A group.

    Attributes:
        call: that created it; later launches are made in its name.
        fields: as DescribeAutoScalingGroups shows them, without what the other attributes hold.
        members: its instances, oldest first.
        tags: by key, as DescribeAutoScalingGroups shows them.
        suspended: its suspended processes.
        owner: UUID of the compute environment of AWS Batch that launches its instances, if one
            does.
        drains: another service drains an instance that is replaced, before it ends.
        refused_by: EC2's error code of the newest launch that failed; activities do not show it.
    """

    call: Call
    fields: Row
    members: list[Member] = field(default_factory=list)
    tags: dict[str, Row] = field(default_factory=dict)
    suspended: list[str] = field(default_factory=list)
    owner: str | None = None
    drains: bool = False
    refused_by: str = ""

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.fields["AutoScalingGroupName"])

    @property
    def desired(self) -> int:
        """Its desired capacity."""
        return int(self.fields["DesiredCapacity"])

    @property
    def subnets(self) -> list[str]:
        """The ids of its subnets."""
        return str(self.fields["VPCZoneIdentifier"]).split(",")

    @property
    def exists(self) -> bool:
        """Whether it has not been deleted."""
        return groups(self.call).get(self.name) is self

    def runs(self, process: str) -> bool:
        """Return whether a process is not suspended."""
        return process not in self.suspended

    @property
    def at_risk(self) -> list[Member]:
        """The instances on Spot that it replaces because EC2 takes them back, or may do so."""
        if not self.fields.get("CapacityRebalance"):
            return []
        notices = [(member, notice_of(member.instance)) for member in self.members]
        return [member for member, notice in notices if notice.rebalance or notice.terminate]

    def shown(self, member: Member) -> Row:
        """Return an instance as DescribeAutoScalingInstances shows it."""
        healthy, pending = member.is_healthy, member.state == "pending"
        return {
            **member.facts,
            "InstanceId": member.instance_id,
            "AutoScalingGroupName": self.name,
            "LifecycleState": "Pending" if pending else "InService" if healthy else "Terminating",
            "HealthStatus": "Healthy" if healthy else "Unhealthy",
            "ProtectedFromScaleIn": member.protected,
        }

    def described(self) -> Row:
        """Return the group as DescribeAutoScalingGroups shows it."""
        return {
            **self.fields,
            "Instances": [self.shown(member) for member in self.members],
            "Tags": list(self.tags.values()),
            "SuspendedProcesses": [
                {"ProcessName": name, "SuspensionReason": "User suspended"}
                for name in self.suspended
            ],
        }


def groups(call: Call) -> dict[str, Group]:
    """Return the groups of a call's account and region, by name."""
    return call.state("autoscaling", "groups", dict[str, Group])


def find(call: Call, name: str) -> Group:
    """Return a group that a user changes.

    Raises:
        Refusal: there is none of that name, or AWS Batch has it.
    """
    found = groups(call).get(name)
    if found is None:
        raise invalid(f"AutoScalingGroup name not found - AutoScalingGroup {name} not found")
    return changeable(found)


def changeable(group: Group) -> Group:
    """Return a group that a user changes.

    Raises:
        Refusal: AWS Batch has it.
    """
    if group.owner:
        raise unsupported_change(group.name)
    return group
