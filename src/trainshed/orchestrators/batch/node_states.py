"""What the compute environments of a queue, and their ECS clusters, say of the nodes."""

from collections.abc import Iterable, Iterator, Mapping

from trainshed.account.scaling_groups import ScalingGroup, groups_that_begin
from trainshed.aws import Region
from trainshed.catalogue import lookup
from trainshed.jobs.node_states import NodeStates
from trainshed.jobs.why.questions import Questions
from trainshed.orchestrators.batch.container_instances import ContainerInstance, container_instances
from trainshed.orchestrators.batch.queue_environments import (
    Described,
    find_queue,
    group_beginnings,
    queue_environments,
)


def kept_nodes(region: Region, outputs: Mapping[str, str]) -> int | None:
    """Return how many nodes are there without a job; None when the queue is gone.

    Args:
        region: the cluster's.
        outputs: of its stack.
    """
    environments = queue_environments(region, find_queue(region, outputs["JobQueue"]))
    return sum(_nodes(each, "minvCpus") for each in environments) if environments else None


def look(
    region: Region, cluster: str, outputs: Mapping[str, str], questions: Questions
) -> NodeStates:
    """Ask for them.

    Args:
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
        questions: ask them, and note what AWS refuses.
    """
    no_queue: Described = {}
    queue = questions.ask(lambda: find_queue(region, outputs["JobQueue"]), no_queue)
    no_environments: tuple[Described, ...] = ()
    environments = questions.ask(lambda: queue_environments(region, queue), no_environments)
    instances: tuple[ContainerInstance, ...] | None = None
    if environments:
        instances = questions.ask(
            lambda: tuple(container_instances(region, environments)), instances
        )
    no_groups: tuple[ScalingGroup, ...] = ()
    groups = questions.ask(lambda: _groups(region, environments), no_groups)
    return NodeStates(
        wanted=sum(_nodes(each, "desiredvCpus") for each in environments) if environments else None,
        reached=None
        if instances is None
        else frozenset(each.instance_id for each in instances if each.connected),
        drained=frozenset(each.instance_id for each in instances or () if each.drains),
        problems=(
            *_off("job queue", "jobQueueName", (queue,) if queue else ()),
            *_problems("job queue", "jobQueueName", (queue,) if queue else ()),
            *_problems("compute environment", "computeEnvironmentName", environments),
            *(problem for group in groups for problem in group.problems),
        ),
        disabled=tuple(_off("compute environment", "computeEnvironmentName", environments)),
    )


def _nodes(environment: Described, vcpus: str) -> int:
    """Return how many nodes have a number of vCPUs.

    AWS Batch API reference, ComputeResource, desiredvCpus: it "modifies this value between the
    minimum and maximum values based on job queue demand".

    Args:
        environment: of AWS Batch.
        vcpus: its field with the number.
    """
    resources = environment["computeResources"]
    # Of several types, which have the same vCPUs in clusters of ours.
    of_node = lookup(resources["instanceTypes"][0]).vcpus
    return -(-int(resources[vcpus]) // of_node)


def _groups(region: Region, environments: Iterable[Described]) -> tuple[ScalingGroup, ...]:
    names = (each["computeEnvironmentName"] for each in environments)
    return groups_that_begin(region, *group_beginnings(names))


def _problems(what: str, name: str, described: Iterable[Described]) -> Iterator[str]:
    for each in described:
        status, reason = each.get("status", "VALID"), each.get("statusReason", "")
        if status not in ("VALID", "CREATING", "UPDATING"):
            yield f"{what} {each[name]} is {status}: {reason}"


def _off(what: str, name: str, described: Iterable[Described]) -> Iterator[str]:
    for each in described:
        if each.get("state", "ENABLED") != "ENABLED":
            yield f"{what} {each[name]} is {each['state']}, so that no node is launched"
