"""The job queue, and how long a job may block it."""

from aws_cdk import aws_batch as batch
from constructs import Construct

# Seconds that the job at the head of the queue may wait; AWS Batch takes 600 to 86400. Capacity
# for accelerators may come late, a job that can never fit will not.
_CAPACITY_WAIT = 86_400
_MISCONFIGURATION_WAIT = 600


def job_queue(
    scope: Construct,
    construct_id: str,
    *,
    compute_environment_arn: str,
    capacity_block: bool,
) -> batch.CfnJobQueue:
    """Declare a first-in-first-out queue of one environment; see `BatchMultiNode`.

    It cancels a job that blocks it: AWS Batch user guide, "Job queue blocked events". AWS Batch
    does not always give a reason when capacity is missing, so do not rely on that one alone.
    """
    limits = {
        "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE": _MISCONFIGURATION_WAIT,
        "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT": _MISCONFIGURATION_WAIT,
    }
    if not capacity_block:
        # Jobs for a Capacity Block wait for its start, which may be weeks ahead.
        limits["CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"] = _CAPACITY_WAIT
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
