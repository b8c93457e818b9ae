"""The Auto Scaling group of a compute environment, whose activities tell of its launches.

Batch user guide, "Managed compute environments": AWS Batch makes Auto Scaling groups in the account
and changes them itself; what users change there is not supported. Inferred: their name,
ENVIRONMENT-asg-UUID, from AWS's messages that users quote; here there is one for each environment,
from its first launch on, whose desired capacity is that of the instances that it has; it goes with
the last of them once the environment is deleted. From memory: the tag AWSBatchServiceTag; the
causes of its activities.
"""

from collections.abc import Sequence
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Row
from embedded_aws.autoscaling import activities
from embedded_aws.autoscaling.activities import at_this_time
from embedded_aws.autoscaling.convergence import DIFFERENCE, record_end
from embedded_aws.autoscaling.group import Group, Member, groups, guard
from embedded_aws.autoscaling.groups import new_fields
from embedded_aws.autoscaling.tags import put
from embedded_aws.batch import tables
from embedded_aws.ec2.subnets import subnet_of

# Batch's tag of what it makes in an account.
SERVICE_TAG = {"AWSBatchServiceTag": "batch"}


def group_of(call: Call, environment: Row) -> Group:
    """Return an environment's group, which is created now if there is none."""
    resources = environment["computeResources"]
    with guard:
        for group in groups(call).values():
            if group.owner == environment["uuid"]:
                break
        else:
            name = f"{environment['computeEnvironmentName']}-asg-{mock_random.uuid4()}"
            sizes = {"MinSize": 0, "MaxSize": 0, "DesiredCapacity": 0}
            group = Group(
                call=call,
                fields={**new_fields(call, name), **sizes},
                owner=environment["uuid"],
            )
            groups(call)[name] = group
        zones = {subnet_of(call, each).availability_zone for each in resources["subnets"]}
        group.fields["VPCZoneIdentifier"] = ",".join(resources["subnets"])
        group.fields["AvailabilityZones"] = sorted(zones)
        tags = {**SERVICE_TAG, **resources.get("tags", {})}
        put(
            group,
            (
                {"Key": key, "Value": value, "PropagateAtLaunch": True}
                for key, value in tags.items()
            ),
        )
        return group


def launch_cause(group: Group, count: int) -> str:
    """Return the cause of launches.

    Args:
        group: that launches.
        count: how many instances.
    """
    with guard:
        before = len(group.members)
        started = f"an instance was started {DIFFERENCE}, increasing the capacity from {before} to"
        sentences = [_request(group, before + count), f"{started} {before + count}."]
        return "  ".join(map(at_this_time, sentences))


def record_refusal(group: Group, cause: str, subnet: Any, message: str) -> None:
    """Record that EC2 refused to launch an instance.

    Args:
        group: its group.
        cause: of the launch.
        subnet: moto's.
        message: EC2's.
    """
    with guard:
        details = activities.place(subnet.id, subnet.availability_zone)
        activities.failed_launch(group, cause, message, details)


def add_member(group: Group, cause: str, launched: Row, subnet: Any) -> None:
    """Record that an instance was launched, which is in the group from now on.

    Args:
        group: its group.
        cause: of the launch.
        launched: the instance, as DescribeInstances returns it.
        subnet: moto's.
    """
    with guard:
        facts = {
            "InstanceType": launched["InstanceType"],
            "ImageId": launched["ImageId"],
            "AvailabilityZone": subnet.availability_zone,
            "AvailabilityZoneId": subnet.availability_zone_id,
        }
        instance = group.call.backend("ec2").get_instance(launched["InstanceId"])
        member = Member(instance=instance, subnet_id=subnet.id, facts=facts, protected=True)
        group.members.append(member)
        activities.record(
            group,
            f"Launching a new EC2 instance: {member.instance_id}",
            cause,
            Details=activities.place(subnet.id, subnet.availability_zone),
        )
        _follow_members(group)


def remove_members(call: Call, environment: Row, instance_ids: Sequence[str]) -> None:
    """Record that instances of an environment are terminated, which leave its group."""
    with guard:
        for group in _groups_of(call, environment):
            leaving = [member for member in group.members if member.instance_id in instance_ids]
            rest = [member for member in group.members if member not in leaving]
            for member in leaving:
                sentences = [
                    _request(group, len(rest)),
                    f"an instance was taken out of service {DIFFERENCE}, shrinking the capacity "
                    f"from {len(group.members)} to {len(rest)}.",
                    f"instance {member.instance_id} was selected for termination.",
                ]
                record_end(group, member, "  ".join(map(at_this_time, sentences)))
            group.members = rest
            _follow_members(group)
        delete_unused(call, environment)


def members_of(call: Call, environment: Row) -> list[Member]:
    """Return the instances of an environment, without waiting for changes of groups.

    Who counts them holds the guard of Batch's tables, for which an instance waits that ends; and
    another group, whose guard is this one, may be ending one.
    """
    return [member for group in _groups_of(call, environment) for member in list(group.members)]


def delete_unused(call: Call, environment: Row) -> None:
    """Delete the group of an environment that is deleted, unless it still has instances."""
    with guard:
        if environment in tables.compute_environments(call).values():
            return
        for group in _groups_of(call, environment):
            if not group.members:
                del groups(call)[group.name]


def _groups_of(call: Call, environment: Row) -> list[Group]:
    """Return an environment's group, or nothing before its first launch."""
    return [each for each in groups(call).values() if each.owner == environment["uuid"]]


def _request(group: Group, wanted: int) -> str:
    return (
        f"a user request update of AutoScalingGroup constraints to min: 0, max: {wanted}, desired: "
        f"{wanted} changing the desired capacity from {group.desired} to {wanted}."
    )


def _follow_members(group: Group) -> None:
    group.fields["MaxSize"] = group.fields["DesiredCapacity"] = len(group.members)
