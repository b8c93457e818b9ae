"""What AWS says about a job of AWS Batch and about what it needs."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from trainshed.account.capacity_reservations import (
    CapacityReservation,
    find_group,
    find_reservation,
)
from trainshed.account.quotas import AppliedQuota, find_quota
from trainshed.account.tags import BOOT_TAG, CLUSTER_TAG
from trainshed.aws import Region
from trainshed.catalogue import lookup
from trainshed.errors import UnknownName
from trainshed.jobs.model import Job, ListedJob
from trainshed.jobs.why.evidence import Environment, Evidence, FailedLaunch, Instance, Queue
from trainshed.jobs.why.questions import Questions
from trainshed.orchestrators.batch.container_instances import container_instances
from trainshed.orchestrators.batch.described_job import STARTED
from trainshed.orchestrators.batch.queue_environments import (
    Described,
    find_queue,
    group_beginnings,
    queue_environments,
)
from trainshed.prices import Price, Purchase, instance_item, load_prices

# Auto Scaling tries a launch again and again; the newest tell.
_MOST_ACTIVITIES = 20


def gather(
    region: Region,
    queue: str,
    unfinished: Iterable[ListedJob],
    evidence: Evidence,
    questions: Questions,
) -> Evidence:
    """Add what AWS says about a job's queue and of the nodes that it launches.

    Args:
        region: where it is.
        queue: ARN of the queue.
        unfinished: its jobs that are not over.
        evidence: what is known of the job.
        questions: ask them, and note what AWS refuses.
    """
    ask, job = questions.ask, evidence.job
    no_queue: Described = {}
    no_environments: tuple[Described, ...] = ()
    described = ask(lambda: find_queue(region, queue), no_queue)
    of_queue = ask(lambda: queue_environments(region, described), no_environments)
    environments = [_environment(each) for each in of_queue]
    others = [each for each in unfinished if each.job_id != job.job_id]
    return replace(
        evidence,
        queue=_queue(described) if described else None,
        environments=tuple(environments),
        placed=tuple(each for each in others if each.status in STARTED),
        # A queue places its jobs first in, first out.
        ahead=tuple(
            each
            for each in others
            if each.status == "RUNNABLE" and each.created_at < job.created_at
        ),
        short_of_capacity=(job.reason or "").startswith("CAPACITY:"),
        failed_launches=ask(lambda: tuple(_failed_launches(region, environments, job)), ()),
        instances=ask(lambda: tuple(_instances(region, environments)), ()),
        joined=ask(
            lambda: frozenset(each.instance_id for each in container_instances(region, of_queue)),
            None,
        ),
        reservations=ask(lambda: _reservations(region, environments), ()),
        quota=ask(lambda: _quota(region, environments), None),
        node_price=_node_price(region, environments),
    )


def _queue(each: Described) -> Queue:
    return Queue(
        name=each["jobQueueName"],
        state=each["state"],
        status=each.get("status", "VALID"),
        reason=each.get("statusReason", ""),
        capacity_wait_seconds=next(
            (
                limit["maxTimeSeconds"]
                for limit in each.get("jobStateTimeLimitActions", ())
                if limit["reason"] == "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
            ),
            None,
        ),
    )


def _environment(each: Described) -> Environment:
    resources = each.get("computeResources", {})
    template = resources.get("launchTemplate")
    return Environment(
        name=each["computeEnvironmentName"],
        state=each.get("state", "ENABLED"),
        status=each.get("status", "VALID"),
        reason=each.get("statusReason", ""),
        kind=resources.get("type", "UNMANAGED"),
        max_vcpus=resources.get("maxvCpus", 0),
        instance_types=tuple(resources.get("instanceTypes", ())),
        cluster=resources.get("tags", {}).get(CLUSTER_TAG),
        launch_template=(template["launchTemplateId"], template.get("version") or "$Default")
        if template and "launchTemplateId" in template
        else None,
    )


def _node_price(region: Region, environments: Iterable[Environment]) -> Price | None:
    """Return what a node costs, where the environments have one type."""
    types = {name for each in environments for name in each.instance_types}
    if len(types) != 1:
        return None
    return load_prices(region.name).price(instance_item(Purchase.ON_DEMAND, *types))


def _failed_launches(
    region: Region, environments: Iterable[Environment], job: Job
) -> Iterator[FailedLaunch]:
    beginnings = group_beginnings(each.name for each in environments)
    groups = [
        each["AutoScalingGroupName"]
        for each in region.pages("autoscaling", "describe_auto_scaling_groups", "AutoScalingGroups")
        if each["AutoScalingGroupName"].startswith(beginnings)
    ]
    for group in groups:
        activities = region.call(
            "autoscaling",
            "describe_scaling_activities",
            AutoScalingGroupName=group,
            MaxRecords=_MOST_ACTIVITIES,
        )["Activities"]
        for each in activities:
            if each["StatusCode"] == "Failed" and each["StartTime"] >= job.created_at:
                message = each.get("StatusMessage") or each.get("Description", "")
                yield FailedLaunch(group=group, message=message, at=each["StartTime"])


def _instances(region: Region, environments: Iterable[Environment]) -> Iterator[Instance]:
    clusters = [each.cluster for each in environments if each.cluster]
    if not clusters:
        return
    tagged = {"Name": f"tag:{CLUSTER_TAG}", "Values": clusters}
    for group in region.pages("ec2", "describe_instances", "Reservations", Filters=[tagged]):
        for each in group["Instances"]:
            tags = {tag["Key"]: tag["Value"] for tag in each.get("Tags", ())}
            yield Instance(
                instance_id=each["InstanceId"],
                is_running=each["State"]["Name"] in ("pending", "running"),
                launched_at=each["LaunchTime"],
                boot=tags.get(BOOT_TAG),
            )


def _reservations(
    region: Region, environments: Iterable[Environment]
) -> tuple[CapacityReservation, ...]:
    for environment in environments:
        if environment.launch_template is None:
            continue
        template_id, version = environment.launch_template
        [data] = region.call(
            "ec2",
            "describe_launch_template_versions",
            LaunchTemplateId=template_id,
            Versions=[version],
        )["LaunchTemplateVersions"]
        launched = data["LaunchTemplateData"]
        target = launched.get("CapacityReservationSpecification", {}).get(
            "CapacityReservationTarget", {}
        )
        if reservation_id := target.get("CapacityReservationId"):
            found = find_reservation(region, reservation_id)
            return (found,) if found else ()
        if arn := target.get("CapacityReservationResourceGroupArn"):
            group = find_group(region, arn)
            market = launched.get("InstanceMarketOptions", {}).get("MarketType")
            return tuple(
                each
                for each in (group.reservations if group else ())
                if each.is_block == (market == "capacity-block")
                and each.instance_type in environment.instance_types
            )
    return ()


def _quota(region: Region, environments: Iterable[Environment]) -> AppliedQuota | None:
    for name, kind in ((name, each.kind) for each in environments for name in each.instance_types):
        try:
            instance = lookup(name)
        except UnknownName:
            continue
        quota = instance.spot_quota if kind == "SPOT" else instance.on_demand_quota
        return find_quota(region, quota)
    return None
