"""The nodes of a cluster by their health."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from trainshed.account.tags import BOOT_TAG, CLUSTER_TAG
from trainshed.aws import Region
from trainshed.jobs.node_states import NodeStates
from trainshed.status.model import FailedBoot, Health, NodesStatus, NodeStatus

# EC2 API reference, InstanceState.
_THERE = ("pending", "running")
_ENDING = ("shutting-down", "stopping")
_FAILED = "failed: "
# So long the first boot waits for storage, by default of its `wait_seconds`.
_BOOT = timedelta(minutes=30)


def nodes_status(
    region: Region, cluster: str, states: NodeStates, most: int, now: datetime
) -> NodesStatus:
    """Ask EC2 for the nodes, and judge their health.

    Args:
        region: the cluster's.
        cluster: its name.
        states: what the orchestrator says of them.
        most: how many there are at most.
        now: the time.
    """
    tagged = {"Name": f"tag:{CLUSTER_TAG}", "Values": [cluster]}
    reservations = region.pages("ec2", "describe_instances", "Reservations", Filters=[tagged])
    instances = sorted(
        (each for group in reservations for each in group["Instances"]),
        key=lambda each: (each["LaunchTime"], each["InstanceId"]),
    )
    return NodesStatus(
        wanted=states.wanted,
        most=most,
        nodes=tuple(
            _node(each, states, now)
            for each in instances
            if each["State"]["Name"] in (*_THERE, *_ENDING)
        ),
        failed_boots=tuple(
            _failed_boots(each for each in instances if each["State"]["Name"] not in _THERE)
        ),
    )


def node_problems(found: NodesStatus) -> Iterator[str]:
    """Yield what is wrong with the nodes."""
    for each in found.failed_boots:
        count = len(each.instance_ids)
        nodes = "1 node has" if count == 1 else f"{count} nodes have"
        yield f"{nodes} failed the checks: {each.reason} ({', '.join(each.instance_ids)})"
    for node in found.nodes:
        if node.health in (Health.FAILED, Health.UNREACHABLE):
            yield f"node {node.instance_id} is {node.health}: {node.reason}"
    there = sum(node.health is not Health.ENDING for node in found.nodes)
    if found.wanted is not None and there < found.wanted:
        yield f"{found.wanted - there} of {found.wanted} nodes that are wanted are not there"


def _node(instance: Mapping[str, Any], states: NodeStates, now: datetime) -> NodeStatus:
    health, reason = _health(instance, states, now)
    return NodeStatus(
        instance_id=instance["InstanceId"],
        instance_type=instance["InstanceType"],
        health=health,
        reason=reason,
        launched_at=instance["LaunchTime"],
    )


def _health(instance: Mapping[str, Any], states: NodeStates, now: datetime) -> tuple[Health, str]:
    boot, instance_id = _boot(instance), instance["InstanceId"]
    if instance["State"]["Name"] in _ENDING:
        return Health.ENDING, instance.get("StateTransitionReason", "")
    if boot.startswith(_FAILED):
        return Health.FAILED, boot.removeprefix(_FAILED)
    if instance_id in states.drained:
        return Health.DRAINED, "somebody has drained it"
    reached = boot == "ok" if states.reached is None else instance_id in states.reached
    if reached:
        return Health.RUNNING, ""
    if now - instance["LaunchTime"] < _BOOT:
        return Health.BOOTING, "" if boot else "its first boot has said nothing yet"
    told = "its first boot went well" if boot else "its first boot has said nothing"
    minutes = int((now - instance["LaunchTime"]) / timedelta(minutes=1))
    return Health.UNREACHABLE, f"launched {minutes} minutes ago, {told}, and no job can start there"


def _failed_boots(ended: Iterable[Mapping[str, Any]]) -> Iterator[FailedBoot]:
    by_reason: dict[str, list[str]] = {}
    for each in ended:
        boot = _boot(each)
        if boot.startswith(_FAILED):
            by_reason.setdefault(boot.removeprefix(_FAILED), []).append(each["InstanceId"])
    for reason, instance_ids in by_reason.items():
        yield FailedBoot(reason=reason, instance_ids=tuple(instance_ids))


def _boot(instance: Mapping[str, Any]) -> str:
    tags: dict[str, str] = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())}
    return tags.get(BOOT_TAG, "")
