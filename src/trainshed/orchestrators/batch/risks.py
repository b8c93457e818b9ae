"""What a change does to the jobs of AWS Batch, and to the nodes that it launches for them."""

from collections.abc import Iterator

from trainshed.review.model import Level, Risk
from trainshed.review.risks.affected import Affected, at, is_true, whole_number
from trainshed.review.risks.jobs_killed import WAIT, killed
from trainshed.review.risks.node_updates import new_nodes

LAUNCHES_NODES = "AWS::Batch::ComputeEnvironment"
_ENDS = "the jobs that run in it are ended, and tried again while their attempts last"
RUNS_JOBS = {
    LAUNCHES_NODES: ("the compute environment", _ENDS),
    "AWS::Batch::JobQueue": (
        "the job queue",
        "its jobs are ended, those that wait as well as those that run",
    ),
}
# AWS Batch user guide, "Updating compute environments": these are infrastructure updates. Others,
# such as the number of vCPUs and the state, are scaling updates.
_INFRASTRUCTURE = (
    "AllocationStrategy",
    "BidPercentage",
    "Ec2Configuration",
    "Ec2KeyPair",
    "ImageId",
    "InstanceRole",
    "InstanceTypes",
    "LaunchTemplate",
    "PlacementGroup",
    "SecurityGroupIds",
    "Subnets",
    "Tags",
    "Type",
    "UpdateToLatestImageVersion",
)
_DEFAULT_MINUTES = 30  # AWS Batch API reference, UpdatePolicy
# CloudFormation's schema of schemas, timeoutInMinutes; that of the environment has none.
_STACK_WAITS_MINUTES = 120


def changed(affected: Affected) -> Iterator[Risk]:
    """Yield what ends jobs, or lets them wait. Another number of vCPUs ends none."""
    resource_type = affected.change.resource_type
    if at(affected.new, "State") == "DISABLED" != at(affected.old, "State"):
        it, _ = RUNS_JOBS[resource_type]
        yield killed(
            affected,
            Level.MEDIUM,
            f"{it} is disabled: jobs that run go on, those that wait have to wait",
            "ask until when, and where jobs go meanwhile",
            None,
        )
    if resource_type == LAUNCHES_NODES:
        reasons = new_nodes(affected, _INFRASTRUCTURE, within="ComputeResources")
        if reasons:
            yield _environment(affected, ", ".join(reasons))


def _environment(affected: Affected, reasons: str) -> Risk:
    properties = affected.new["Properties"]
    if is_true(properties.get("ReplaceComputeEnvironment", True)):
        # The engine cannot know: its own properties look the same.
        message = f"the compute environment is replaced, because of {reasons}: {_ENDS}"
        return killed(affected, Level.HIGH, message)
    what = f"AWS Batch exchanges its nodes, because of {reasons}"
    policy = properties.get("UpdatePolicy", {})
    if is_true(policy.get("TerminateJobsOnUpdate")):
        message = f"{what}: the jobs that run are ended at once (TerminateJobsOnUpdate)"
        return killed(affected, Level.HIGH, message)
    minutes = whole_number(policy.get("JobExecutionTimeoutMinutes", _DEFAULT_MINUTES))
    longest = _longest_job_minutes(affected)
    spared = f"the jobs that run go on for {_time(minutes) if minutes else 'an unknown time'}"
    if minutes and longest and longest <= minutes:
        return killed(
            affected,
            Level.MEDIUM,
            f"{what}: {spared}, and by its job definition none runs longer, so it should end none; "
            f"{_waits(longest)}",
            "ask whether a job was submitted with a longer limit (--timeout-hours); nodes with "
            "jobs stay until these are over",
            minutes,
        )
    may = (
        f"they may run for {_time(longest)}" if longest else "nothing limits how long they may run"
    )
    return killed(
        affected,
        Level.HIGH,
        f"{what}: {spared}, and are then ended; {may}; {_waits(minutes)}",
        f"{WAIT}; a cluster file spares them for job.timeout_hours, at most 120 hours",
        minutes or 0,
    )


def _waits(minutes: int | None) -> str:
    """Return what the deployment does while jobs go on for at most some minutes."""
    if minutes and minutes <= _STACK_WAITS_MINUTES:
        return "the deployment takes as long as they do"
    return f"the deployment waits for them, and may fail after {_time(_STACK_WAITS_MINUTES)}"


def _time(minutes: int) -> str:
    """Return a time in hours, as cluster files have it, or in minutes if it is not whole."""
    hours, rest = divmod(minutes, 60)
    return f"{minutes} minutes" if rest or hours < 2 else f"{hours} hours"


def _longest_job_minutes(affected: Affected) -> int | None:
    """Return how long jobs may take that were submitted before the change; None for any time."""
    found = [
        whole_number(at(resource, "Timeout.AttemptDurationSeconds"))
        for resource in affected.before.values()
        if resource["Type"] == "AWS::Batch::JobDefinition"
    ]
    limits = [seconds for seconds in found if seconds is not None]
    return -(-max(limits) // 60) if limits and len(limits) == len(found) else None
