"""Whether the account may run the nodes, and where."""

from collections.abc import Iterator
from typing import Any

from trainshed.account.quotas import find_quota
from trainshed.account.tags import CLUSTER_TAG
from trainshed.catalogue import Quota, increase_command, quota_for, quota_of
from trainshed.findings import Severity, Violation, rule
from trainshed.preflight.subject import Subject, accounts


def zones_offering(subject: Subject, instance_type: str) -> list[str]:
    """Return the zones that offer a type to the account: names or ids, as the cluster's is."""
    return sorted(
        each["Location"]
        for each in subject.aws.pages(
            "ec2",
            "describe_instance_type_offerings",
            "InstanceTypeOfferings",
            LocationType="availability-zone-id" if subject.plan.zone.is_id else "availability-zone",
            Filters=[{"Name": "instance-type", "Values": [instance_type]}],
        )
    )


@rule(
    "TS-ACC-010",
    over=accounts,
    title="The zone does not offer the instance type",
    when="always",
    why="""
A type that the zone does not offer is never launched: EC2 answers `Unsupported`, and AWS Batch
tries again forever. The catalogue says what was offered on one day; EC2 says what is offered today.
""",
    actions=("ec2:DescribeInstanceTypeOfferings",),
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/"
        "API_DescribeInstanceTypeOfferings.html",
    ),
    severity=Severity.ERROR,
)
def offered_in_zone(subject: Subject) -> Iterator[Violation]:
    """EC2 lists the zones that offer the type."""
    plan = subject.plan
    for other in plan.capacity.other_types:
        if plan.zone.name not in (zones := zones_offering(subject, other.name)):
            yield Violation(
                path=("capacity", "instance_types"),
                message=f"{plan.zone.name} does not offer {other.name} to this account; "
                + (f"it is in {', '.join(zones)}" if zones else f"no zone of {plan.region} does"),
                remedy=f"take {other.name} out of capacity.instance_types",
                severity=Severity.WARNING,
            )
    name, zone = plan.instance.name, plan.zone
    offering = zones_offering(subject, name)
    if zone.name in offering:
        return
    others = f"it is in {', '.join(offering)}" if offering else f"no zone of {plan.region} does"
    yield Violation(
        path=("zone",) if plan.zone_is_asked else ("instance", "type"),
        message=f"{zone.name} does not offer {name} to this account; {others}",
        remedy=f"set zone to {offering[0]}, if subnet, reservation and file system can be there"
        if offering
        else f"take another region or type: trainshed catalogue show {name}",
    )


@rule(
    "TS-ACC-020",
    over=accounts,
    title="The quota of vCPUs is smaller than the full cluster",
    when="nodes are on demand, of a reservation or on Spot; a Capacity Block needs no quota",
    why="""
New accounts have quotas of 0 for most accelerators. A job of more nodes than the quota allows
stays in RUNNABLE, and AWS Batch does not say why. What already runs in the region counts too, and
a raise of a quota takes AWS hours or days.
""",
    actions=(
        "servicequotas:GetServiceQuota",
        "servicequotas:GetAWSDefaultServiceQuota",
        "ec2:DescribeInstances",
    ),
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html"
        "#ec2-on-demand-instances-limits",
    ),
    answers=("TS-QUO-001",),
    severity=Severity.ERROR,
)
def vcpu_quota(subject: Subject) -> Iterator[Violation]:
    """All nodes at once, beside what runs, must fit in the quota."""
    plan = subject.plan
    quota = quota_for(plan.instance, plan.capacity.kind)
    if quota is None:
        return
    applied = find_quota(subject.aws, quota)
    nodes = plan.nodes.max
    needed = plan.vcpus
    if needed > applied.value:
        others = 0
    else:
        others = sum(
            _vcpus(each)
            for each in running_instances(subject)
            if not _is_own(subject, each) and _quota_of(each) == quota
        )
    if needed + others > applied.value:
        beside = f", and {others} run already" if others else ""
        yield Violation(
            path=("instance", "nodes", "max"),
            message=f"{nodes} nodes of {plan.instance.name} need {needed} vCPUs{beside}; the "
            f"account's quota {quota.name!r} ({quota.code}) is {applied.value:g}",
            remedy=increase_command(quota, needed + others, plan.region),
        )


def running_instances(subject: Subject) -> list[dict[str, Any]]:
    """Return the instances that run in the region, or are about to."""
    alive = {"Name": "instance-state-name", "Values": ["pending", "running"]}
    return [
        each
        for group in subject.aws.pages("ec2", "describe_instances", "Reservations", Filters=[alive])
        for each in group["Instances"]
    ]


def own_nodes(subject: Subject) -> int:
    """Count the nodes of the cluster that run already."""
    return sum(_is_own(subject, each) for each in running_instances(subject))


def _is_own(subject: Subject, instance: dict[str, Any]) -> bool:
    tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())}
    return tags.get(CLUSTER_TAG) == subject.plan.name


def _quota_of(instance: dict[str, Any]) -> Quota | None:
    """Return the quota that an instance counts against: Spot has its own, a Capacity Block none."""
    lifecycle = instance.get("InstanceLifecycle")
    if lifecycle == "capacity-block":
        return None
    return quota_of(instance["InstanceType"], spot=lifecycle == "spot")


def _vcpus(instance: dict[str, Any]) -> int:
    cpus = instance["CpuOptions"]
    return int(cpus["CoreCount"]) * int(cpus["ThreadsPerCore"])
