"""Keeping groups at their desired capacity.

User guide: instances are spread over the subnets; where one cannot launch, another is tried; an
instance that is terminated, stopped or set unhealthy is terminated and replaced. "Capacity
Rebalancing": one that EC2 may take back is terminated once another one is healthy, until when the
group may exceed its maximum. The words of causes are those of `activities`. Inferred: a failed
launch is tried again after a minute; each instance is launched by itself, and the first that cannot
be launched anywhere ends the attempt; the maximum is exceeded by a tenth, or by one instance, as
where zones are rebalanced; what causes say of recommendations. A group sees at once that an
instance has ended, where it takes AWS some minutes.
"""

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

from embedded_aws.actions import Refusal
from embedded_aws.autoscaling import activities, launches
from embedded_aws.autoscaling.activities import at_this_time
from embedded_aws.autoscaling.group import Group, Member, guard
from embedded_aws.autoscaling.group_metrics import note_sizes
from embedded_aws.autoscaling.mixed_instances import template_of
from embedded_aws.autoscaling.termination import first_to_go
from embedded_aws.clock import seconds_here
from embedded_aws.cloudformation.clients import client
from embedded_aws.ec2.service_launches import LaunchRefused
from embedded_aws.ec2.spot_notices import notice_of
from embedded_aws.ec2.subnets import subnet_of
from embedded_aws.hooks import (
    when_faults_changed,
    when_instance_changed,
    when_instance_ended,
    when_spot_noticed,
)

_TRY_AGAIN_SECONDS = 60
# moto's instances know their groups by this attribute.
_GROUP = "embedded_aws_auto_scaling_group"
# A part of causes.
DIFFERENCE = "in response to a difference between desired and actual capacity"

# Groups whose launches failed, with what tries again.
_trying_again: dict[Group, threading.Timer] = {}


def converge(group: Group, request: str = "") -> None:
    """Bring a group to its desired capacity, as far as it can be.

    Args:
        group: the group.
        request: the sentence of a cause that says what a user changed.
    """
    with guard:
        if timer := _trying_again.pop(group, None):
            timer.cancel()
        if not group.exists:
            return
        note_sizes(group)
        replaced = _end_unhealthy(group)
        _scale_in(group, request)
        _scale_out(group, request, replaced)
        _end_replaced(group)
        note_sizes(group)


@when_faults_changed
def _try_again() -> None:
    """Try failed launches again at once."""
    with guard:
        waiting = list(_trying_again)
    for group in waiting:
        _soon(group)


def end(group: Group, members: Sequence[Member]) -> None:
    """Terminate instances, which leave the group."""
    ids = [member.instance_id for member in members]
    group.members = [member for member in group.members if member.instance_id not in ids]
    if ids:
        ec2 = client("ec2", account=group.call.account, region=group.call.region)
        for member in members:
            # EC2 user guide: termination protection does not stop Auto Scaling.
            member.instance.disable_api_termination = False
        ec2.terminate_instances(InstanceIds=ids)


def record_end(group: Group, member: Member, cause: str) -> dict[str, Any]:
    """Record that an instance is terminated, and why."""
    return activities.record(
        group,
        f"Terminating EC2 instance: {member.instance_id}",
        cause,
        Details=activities.place(member.subnet_id, member.facts["AvailabilityZone"]),
    )


def _end_unhealthy(group: Group) -> int:
    """Terminate what is unhealthy, and return how many instances that were."""
    if not all(map(group.runs, ("HealthCheck", "ReplaceUnhealthy", "Terminate"))):
        return 0
    unhealthy = [member for member in group.members if not member.is_healthy]
    for member in unhealthy:
        why = (
            "a user health-check."
            if member.unhealthy
            else "an EC2 health check indicating it has been terminated or stopped."
        )
        cause = at_this_time(f"an instance was taken out of service in response to {why}")
        record_end(group, member, cause)
    end(group, unhealthy)
    return len(unhealthy)


def _scale_in(group: Group, request: str) -> None:
    staying = _staying(group)
    before, surplus = len(staying), len(staying) - group.desired
    if surplus <= 0 or not group.runs("Terminate"):
        return
    chosen = first_to_go(group, staying, surplus)
    cause = [request] if request else []
    if len(chosen) < surplus:
        activities.record(
            group,
            "Could not scale to desired capacity because all remaining instances are protected "
            "from scale-in.",
            "  ".join([*cause, at_this_time("group reached equilibrium.")]),
            StatusCode="Cancelled",
        )
    if chosen:
        shrinking = f"shrinking the capacity from {before} to {before - len(chosen)}."
        cause.append(
            at_this_time(f"an instance was taken out of service {DIFFERENCE}, {shrinking}")
        )
        cause += [
            at_this_time(f"instance {member.instance_id} was selected for termination.")
            for member in chosen
        ]
    for member in chosen:
        record_end(group, member, "  ".join(cause))
    end(group, chosen)


def _scale_out(group: Group, request: str, replaced: int) -> None:
    before = len(_staying(group))
    if not group.runs("Launch"):
        return
    at_risk = len(group.members) - before
    most = group.fields["MaxSize"] + (max(1, group.desired // 10) if at_risk else 0)
    for number in range(min(group.desired - before, most - len(group.members))):
        if number < at_risk:
            what = (
                "an instance was launched in response to an EC2 instance rebalance recommendation."
            )
            cause = at_this_time(what)
        elif number < at_risk + replaced:
            what = "an instance was launched in response to an unhealthy instance needing to be"
            cause = at_this_time(f"{what} replaced.")
        else:
            growing = f"increasing the capacity from {before} to {group.desired}."
            started = at_this_time(f"an instance was started {DIFFERENCE}, {growing}")
            cause = "  ".join(filter(None, [request, started]))
        if not _launch(group, cause):
            _later(group)
            return


def _staying(group: Group) -> list[Member]:
    """Return the instances that are not replaced because EC2 may take them back."""
    at_risk = group.at_risk
    return [member for member in group.members if member not in at_risk]


def _end_replaced(group: Group) -> None:
    """Terminate instances at risk in whose place others run; EC2 ends those that it takes back."""
    at_risk = group.at_risk
    if not (at_risk and group.runs("Terminate")):
        return
    lasting = [
        member
        for member in group.members
        if member.state == "running" and not notice_of(member.instance).terminate
    ]
    replaced = [
        member for member in lasting if member in at_risk and (member.drained or not group.drains)
    ][: max(0, len(lasting) - group.desired)]
    for member in replaced:
        what = "an instance was taken out of service in response to an EC2 instance rebalance"
        record_end(group, member, at_this_time(f"{what} recommendation."))
    end(group, replaced)


def _launch(group: Group, cause: str) -> bool:
    """Launch one instance in the first of the group's subnets that can."""
    homes = [member.subnet_id for member in group.members]
    for subnet_id in sorted(group.subnets, key=homes.count):
        details = "{}"
        tags = {key: tag["Value"] for key, tag in group.tags.items() if tag["PropagateAtLaunch"]}
        try:
            subnet = subnet_of(group.call, subnet_id)
            details = activities.place(subnet_id, subnet.availability_zone)
            launched = launches.launch(group.call, group.fields, subnet, tags)
        except (LaunchRefused, Refusal) as error:
            activities.failed_launch(group, cause, error.message, details)
            group.refused_by = error.code
            continue
        instance = group.call.backend("ec2").get_instance(launched["InstanceId"])
        facts = {
            "InstanceType": launched["InstanceType"],
            "ImageId": launched["ImageId"],
            "AvailabilityZone": subnet.availability_zone,
            "AvailabilityZoneId": subnet.availability_zone_id,
            "LaunchTemplate": template_of(group.fields),
        }
        protected = group.fields["NewInstancesProtectedFromScaleIn"]
        group.members.append(
            Member(instance=instance, subnet_id=subnet_id, facts=facts, protected=protected)
        )
        setattr(instance, _GROUP, group)
        description = f"Launching a new EC2 instance: {instance.id}"
        activities.record(group, description, cause, Details=details)
        return True
    return False


def _later(group: Group) -> None:
    timer = threading.Timer(seconds_here(_TRY_AGAIN_SECONDS), converge, [group])
    timer.daemon = True
    _trying_again[group] = timer
    timer.start()


def _soon(group: Group) -> None:
    threading.Thread(target=partial(converge, group), daemon=True).start()


@when_instance_changed
@when_instance_ended
def _note(instance: Any) -> None:
    """Note at once that a group has fewer or more instances in service."""
    if group := getattr(instance, _GROUP, None):
        note_sizes(group)


@when_instance_ended
def _replace(instance: Any) -> None:
    """Look at a group again when an instance of it has ended, whoever ended it."""
    if group := getattr(instance, _GROUP, None):
        _soon(group)


@when_instance_changed
@when_spot_noticed
def _rebalance(instance: Any) -> None:
    """Look at a group again when EC2 may take an instance of it back, or another one runs."""
    group = getattr(instance, _GROUP, None)
    if group and group.fields.get("CapacityRebalance"):
        _soon(group)
