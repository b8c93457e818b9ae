"""The job queue, and how long a job may block it."""

from aws_cdk import aws_batch as batch
from constructs import Construct

# Seconds that the job at the head of the queue may wait; AWS Batch takes 600 to 86400. A job that
# can never fit need not wait.
_MISCONFIGURATION_WAIT = 600


def job_queue(
    scope: Construct,
    construct_id: str,
    *,
    compute_environment_arn: str,
    capacity_wait_seconds: int | None,
) -> batch.CfnJobQueue:
    """Declare a first-in-first-out queue of one environment; see `BatchCluster`.

    It cancels a job that blocks it: AWS Batch user guide, "Job queue blocked events". AWS Batch
    does not always give a reason when capacity is missing, so do not rely on that one alone.

    Args:
        scope: parent.
        construct_id: id within the parent.
        compute_environment_arn: of the environment.
        capacity_wait_seconds: how long a job may wait for capacity; None without a limit.
    """
    limits = {
        "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE": _MISCONFIGURATION_WAIT,
        "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT": _MISCONFIGURATION_WAIT,
    }
    if capacity_wait_seconds is not None:
        limits["CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"] = capacity_wait_seconds
    return batch.CfnJobQueue(
        scope,
        construct_id,
        priority=1,
        state="ENABLED",
        compute_environment_order=[
            batch.CfnJobQueue.ComputeEnvironmentOrderProperty(
                order=1, compute_environment=compute_environment_arn
            )
        ],
        job_state_time_limit_actions=[
            batch.CfnJobQueue.JobStateTimeLimitActionProperty(
                state="RUNNABLE", action="CANCEL", reason=reason, max_time_seconds=seconds
            )
            for reason, seconds in limits.items()
        ],
    )
