"""A job queue of AWS Batch and its compute environments, as the API describes them."""

from collections.abc import Mapping
from typing import Any

from trainshed.aws import Region

Described = Mapping[str, Any]


def queue_environments(region: Region, queue_arn: str) -> tuple[Described, tuple[Described, ...]]:
    """Return a queue, and its compute environments.

    Args:
        region: where they are.
        queue_arn: of the queue.
    """
    [queue] = region.pages("batch", "describe_job_queues", "jobQueues", jobQueues=[queue_arn])
    arns = [each["computeEnvironment"] for each in queue["computeEnvironmentOrder"]]
    return queue, tuple(
        region.pages(
            "batch",
            "describe_compute_environments",
            "computeEnvironments",
            computeEnvironments=arns,
        )
    )
