"""A job queue of AWS Batch and its compute environments, as the API describes them."""

from collections.abc import Iterable, Mapping
from typing import Any

from trainshed.aws import Region

Described = Mapping[str, Any]


def find_queue(region: Region, arn: str) -> Described:
    """Return a queue; an empty mapping when it is gone.

    Args:
        region: where it is.
        arn: its ARN.
    """
    found = region.pages("batch", "describe_job_queues", "jobQueues", jobQueues=[arn])
    return next(iter(found), {})


def queue_environments(region: Region, queue: Described) -> tuple[Described, ...]:
    """Return the compute environments of a queue, in the order in which it uses them.

    Args:
        region: where they are.
        queue: as `find_queue` returns it.
    """
    order = sorted(queue.get("computeEnvironmentOrder", ()), key=lambda each: int(each["order"]))
    arns = [each["computeEnvironment"] for each in order]
    # Without names, AWS Batch describes all environments.
    if not arns:
        return ()
    described = region.pages(
        "batch",
        "describe_compute_environments",
        "computeEnvironments",
        computeEnvironments=arns,
    )
    found = {each["computeEnvironmentArn"]: each for each in described}
    return tuple(found[arn] for arn in arns if arn in found)


def group_beginnings(environments: Iterable[str]) -> tuple[str, ...]:
    """Return how the names of the Auto Scaling groups of environments begin.

    Inferred: AWS Batch calls them ENVIRONMENT-asg-UUID, by its messages that users quote.

    Args:
        environments: their names.
    """
    return tuple(f"{each}-asg-" for each in environments)
