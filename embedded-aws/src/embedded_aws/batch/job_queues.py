"""Batch job queues.

Batch API reference: 1 to 3 compute environments, each VALID, in distinct orders, EC2 and Fargate
not mixed; jobStateTimeLimitActions act on RUNNABLE jobs by CANCEL after 600 to 86400 seconds, for
one of three reasons; a first-in-first-out queue never gets a scheduling policy; a queue is deleted
only when DISABLED. Inferred: the exact words.
"""

from collections.abc import Sequence
from typing import Any

from embedded_aws.actions import Call, action
from embedded_aws.batch import compute_environments, tables
from embedded_aws.batch.compute_resources import EC2_TYPES
from embedded_aws.batch.job_stops import stop
from embedded_aws.batch.refusals import check_between, check_name, check_one_of, refuse

# A job queue, as DescribeJobQueues returns it.
Queue = dict[str, Any]

_REASONS = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE",
    "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT",
)


def find(call: Call, name_or_arn: str) -> Queue:
    """Return a job queue.

    Raises:
        Refusal: there is none.
    """
    if found := tables.named(tables.job_queues(call), "jobQueue", [name_or_arn]):
        return found[0]
    raise refuse(f"Job queue {name_or_arn} does not exist")


@action("batch", "CreateJobQueue")
def create_job_queue(call: Call) -> dict[str, Any]:
    """Create a job queue; it is VALID at once."""
    name = call.params["jobQueueName"]
    check_name("jobQueueName", name)
    if tables.named(tables.job_queues(call), "jobQueue", [name]):
        raise refuse("Object already exists")
    arn = call.arn("batch", f"job-queue/{name}")
    queue: Queue = {
        "jobQueueName": name,
        "jobQueueArn": arn,
        "status": "VALID",
        "statusReason": "JobQueue Healthy",
        "jobQueueType": call.params.get("jobQueueType", "ECS"),
        "state": "ENABLED",
        "jobStateTimeLimitActions": [],
    }
    _apply(call, queue)
    if "priority" not in queue or "computeEnvironmentOrder" not in queue:
        raise refuse("priority and computeEnvironmentOrder must be provided.")
    tables.job_queues(call)[arn] = queue
    call.backend("batch").tag_resource(arn, call.params.get("tags", {}))
    return {"jobQueueName": name, "jobQueueArn": arn}


@action("batch", "DescribeJobQueues")
def describe_job_queues(call: Call) -> dict[str, Any]:
    """Describe the named job queues, or all."""
    return {"jobQueues": tables.described(call, tables.job_queues(call), "jobQueue")}


@action("batch", "UpdateJobQueue")
def update_job_queue(call: Call) -> dict[str, Any]:
    """Change what the call names."""
    queue = find(call, call.params["jobQueue"])
    policy = call.params.get("schedulingPolicyArn")
    if policy is not None and ("schedulingPolicyArn" not in queue or not policy):
        raise refuse(
            "A scheduling policy can be replaced, but neither added to a first-in-first-out "
            "queue nor removed."
        )
    changed = dict(queue)
    _apply(call, changed)
    queue.update(changed)
    return {"jobQueueName": queue["jobQueueName"], "jobQueueArn": queue["jobQueueArn"]}


@action("batch", "DeleteJobQueue")
def delete_job_queue(call: Call) -> dict[str, Any]:
    """Delete a disabled job queue, and its jobs with it."""
    queue = find(call, call.params["jobQueue"])
    if queue["state"] != "DISABLED":
        raise refuse("Cannot delete, job queue state must be DISABLED.")
    with tables.guard:
        for row in tables.jobs(call).values():
            if row["jobQueue"] == queue["jobQueueArn"] and "nodeDetails" not in row:
                stop(call, row, "Job queue was deleted")
        del tables.job_queues(call)[queue["jobQueueArn"]]
    return {}


def _apply(call: Call, queue: Queue) -> None:
    """Put the call's parameters on the queue, after checking them."""
    if call.params.get("priority", 0) < 0:
        raise refuse("priority must be 0 or greater.")
    queue |= {name: call.params[name] for name in ("priority", "state") if name in call.params}
    if policy := call.params.get("schedulingPolicyArn"):
        if policy not in call.backend("batch").list_scheduling_policies():
            raise refuse(f"Scheduling policy {policy} does not exist.")
        queue["schedulingPolicyArn"] = policy
    if (order := call.params.get("computeEnvironmentOrder")) is not None:
        queue["computeEnvironmentOrder"] = _checked_order(call, order)
    if (actions := call.params.get("jobStateTimeLimitActions")) is not None:
        _check_time_limits(actions)
        queue["jobStateTimeLimitActions"] = actions


def _checked_order(call: Call, order: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the order with ARNs for names, lowest order first."""
    if not 1 <= len(order) <= 3:
        raise refuse("Between 1 and 3 compute environments must be provided.")
    if len({entry["order"] for entry in order}) < len(order):
        raise refuse("The order of each compute environment must be unique.")
    found = [compute_environments.find(call, entry["computeEnvironment"]) for entry in order]
    if len({environment["computeEnvironmentArn"] for environment in found}) < len(found):
        raise refuse("A compute environment can be in a job queue only once.")
    if len({_on_ec2(environment) for environment in found}) > 1:
        raise refuse("EC2 and Fargate compute environments can't be mixed in a job queue.")
    return [
        {"order": entry["order"], "computeEnvironment": environment["computeEnvironmentArn"]}
        for entry, environment in sorted(
            zip(order, found, strict=True), key=lambda pair: int(pair[0]["order"])
        )
    ]


def _on_ec2(environment: compute_environments.Environment) -> bool:
    return environment.get("computeResources", {"type": "EC2"})["type"] in EC2_TYPES


def _check_time_limits(actions: Sequence[dict[str, Any]]) -> None:
    for limit in actions:
        if limit["action"] != "CANCEL":
            raise refuse(
                f"jobStateTimeLimitActions: action {limit['action']} must be CANCEL for this "
                "job queue type."
            )
        seconds, reason = limit["maxTimeSeconds"], limit["reason"]
        check_between("jobStateTimeLimitActions: maxTimeSeconds", seconds, 600, 86400)
        check_one_of("jobStateTimeLimitActions: reason", reason, _REASONS)
