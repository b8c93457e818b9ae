"""Nodes that the guard of a cluster begins to stop, and what becomes of the jobs on them."""

from collections.abc import Iterator

from trainshed.guard.stop_times import StopTimes
from trainshed.guard.working_hours import WorkingHours
from trainshed.plan import ClusterPlan, Fleet
from trainshed.review.model import Level, Risk, RiskKind


def stopped_nodes(before: Fleet, after: Fleet) -> Iterator[Risk]:
    """Yield when a guard stops nodes that are there today; a new cluster has none.

    By the plans: in a template, a stop and a start are the same call.

    Args:
        before: the clusters before the change.
        after: those after it.
    """
    old = {each.name: each for each in before.clusters}
    for plan in after.clusters:
        if plan.name in old:
            yield from stopped_sooner(old[plan.name].guard.stop_times, plan)


def stopped_sooner(was: StopTimes, after: ClusterPlan) -> Iterator[Risk]:
    """Yield when the guard of a cluster stops nodes when it does not today.

    Args:
        was: when it stops them today.
        after: the cluster after the change.
    """
    times = after.guard.stop_times
    expires, hours, idle = times.expires_at, times.working_hours, times.idle_minutes
    if expires and (was.expires_at is None or expires < was.expires_at):
        yield _risk(
            after,
            "Guard/Expires",
            f"guard stops the nodes at {expires:%Y-%m-%d %H:%M} UTC, for good: "
            f"{after.traits.at_expiry}",
            "ask whether jobs are over by then; data is kept",
        )
    if hours and not _stay_there(was.working_hours, hours):
        yield _risk(
            after,
            "Guard/End",
            f"guard stops the nodes outside of {hours}: {after.traits.when_stopped}",
            "ask whether jobs run at these times",
        )
    # Without a minimum, AWS Batch ends no node that a job runs on.
    sooner = idle and (was.idle_minutes is None or idle < was.idle_minutes)
    if sooner and after.traits.keeps_nodes:
        yield _risk(
            after,
            "Idle/Alarm",
            f"guard stops the nodes when no accelerator is busy for {idle} minutes: "
            f"{after.traits.when_stopped}",
            "ask whether jobs compile or read data for so long; guard.idle.action: notify "
            "stops nothing",
        )


def _stay_there(before: WorkingHours | None, after: WorkingHours) -> bool:
    """Whether nodes are there whenever they were before."""
    return (
        before is not None
        and before.zone == after.zone
        and {*before.days} <= {*after.days}
        and after.begins <= before.begins
        and before.ends <= after.ends
    )


def _risk(plan: ClusterPlan, resource: str, message: str, remedy: str) -> Risk:
    return Risk(
        kind=RiskKind.JOBS_KILLED,
        # The deployment itself ends no jobs.
        level=Level.MEDIUM,
        stack=plan.name,
        resource=resource,
        message=message,
        remedy=remedy,
    )
