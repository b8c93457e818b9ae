"""Jobs that a deployment ends, and for how long they are spared."""

from collections.abc import Iterator

from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.risks.affected import GIVEN_UP, Affected, at, is_true, whole_number
from trainshed.review.risks.node_updates import new_nodes

_ENVIRONMENT, _QUEUE = "AWS::Batch::ComputeEnvironment", "AWS::Batch::JobQueue"
_GROUP = "AWS::AutoScaling::AutoScalingGroup"
_DEFAULT_MINUTES = 30  # AWS Batch API reference, UpdatePolicy
# CloudFormation's schema of schemas, timeoutInMinutes; that of the environment has none.
_STACK_WAITS_MINUTES = 120
_ENDS = "the jobs that run in it are ended, and tried again while their attempts last"
_RUNS_JOBS = {
    _ENVIRONMENT: ("the compute environment", _ENDS),
    _QUEUE: ("the job queue", "its jobs are ended, those that wait as well as those that run"),
    _GROUP: ("the Auto Scaling group", "its nodes are terminated, and the jobs on them end"),
}
_WAIT = "deploy when no job runs, or have jobs resume from their checkpoints"


def jobs_killed(affected: Affected) -> Iterator[Risk]:
    """Yield what ends jobs. Another number of vCPUs in AWS Batch ends none."""
    change = affected.change
    if change.resource_type not in _RUNS_JOBS:
        return
    it, consequence = _RUNS_JOBS[change.resource_type]
    if change.effect in GIVEN_UP:
        level = Level.HIGH if affected.remains else Level.MEDIUM
        yield _risk(affected, level, f"{it} {affected.what_happens}: {consequence}")
    elif change.effect is Effect.CHANGED:
        if at(affected.new, "State") == "DISABLED" != at(affected.old, "State"):
            yield _risk(
                affected,
                Level.MEDIUM,
                f"{it} is disabled: jobs that run go on, those that wait have to wait",
                "ask until when, and where jobs go meanwhile",
            )
        if change.resource_type == _GROUP:
            yield from _group(affected)
        elif reasons := new_nodes(affected):
            yield _environment(affected, ", ".join(reasons))


def _risk(affected: Affected, level: Level, message: str, remedy: str = _WAIT) -> Risk:
    return affected.risk(RiskKind.JOBS_KILLED, level, message, remedy)


def _environment(affected: Affected, reasons: str) -> Risk:
    properties = affected.new["Properties"]
    if is_true(properties.get("ReplaceComputeEnvironment", True)):
        # The engine cannot know: its own properties look the same.
        message = f"the compute environment is replaced, because of {reasons}: {_ENDS}"
        return _risk(affected, Level.HIGH, message)
    what = f"AWS Batch exchanges its nodes, because of {reasons}"
    policy = properties.get("UpdatePolicy", {})
    if is_true(policy.get("TerminateJobsOnUpdate")):
        message = f"{what}: the jobs that run are ended at once (TerminateJobsOnUpdate)"
        return _risk(affected, Level.HIGH, message)
    minutes = whole_number(policy.get("JobExecutionTimeoutMinutes", _DEFAULT_MINUTES))
    longest = _longest_job_minutes(affected)
    spared = f"the jobs that run go on for {_time(minutes) if minutes else 'an unknown time'}"
    if minutes and longest and longest <= minutes:
        return _risk(
            affected,
            Level.MEDIUM,
            f"{what}: {spared}, and by its job definition none runs longer, so it should end none; "
            f"{_waits(longest)}",
            "ask whether a job was submitted with a longer limit (--timeout-hours); nodes with "
            "jobs stay until these are over",
        )
    may = (
        f"they may run for {_time(longest)}" if longest else "nothing limits how long they may run"
    )
    return _risk(
        affected,
        Level.HIGH,
        f"{what}: {spared}, and are then ended; {may}; {_waits(minutes)}",
        f"{_WAIT}; a cluster file spares them for job.timeout_hours, at most 120 hours",
    )


def _waits(minutes: int | None) -> str:
    """Return what the deployment does while jobs go on for at most some minutes."""
    if minutes and minutes <= _STACK_WAITS_MINUTES:
        return "the deployment takes as long as they do"
    return f"the deployment waits for them, and may fail after {_time(_STACK_WAITS_MINUTES)}"


def _time(minutes: int) -> str:
    """Return a time as cluster files have it, in hours, where it is that."""
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


def _group(affected: Affected) -> Iterator[Risk]:
    before, after = (whole_number(at(side, "MaxSize")) for side in (affected.old, affected.new))
    if before is not None and after is not None and after < before:
        newest = "NewestInstance" in (at(affected.new, "TerminationPolicies") or ())
        yield _risk(
            affected,
            Level.HIGH,
            f"the Auto Scaling group gets {after} nodes instead of {before}: the "
            f"{'newest' if newest else 'others'} are terminated, and the jobs on them end",
            "ask whether jobs run on them (trainshed job list)",
        )
    # Without such a policy, as in our own clusters, the change is for nodes that are launched
    # later (docs/plain-ec2.md).
    replacing = {"AutoScalingRollingUpdate", "AutoScalingReplacingUpdate"}
    reasons = new_nodes(affected)
    if reasons and replacing & affected.new.get("UpdatePolicy", {}).keys():
        yield _risk(
            affected,
            Level.HIGH,
            f"the UpdatePolicy of the Auto Scaling group replaces the nodes, because of "
            f"{', '.join(reasons)}: the jobs on them end",
        )
