"""The states of jobs, as DescribeJobs shows them.

Batch API reference, JobStatus: SUBMITTED, PENDING, RUNNABLE, STARTING, RUNNING, SUCCEEDED, FAILED;
the parent of an array is PENDING as soon as a child is RUNNABLE, until all have ended, and its
statusSummary counts the children. From memory: the reason of a parent that failed.
"""

import time
from typing import Any

from embedded_aws.actions import Row, Table
from embedded_aws.batch.job_events import state_changed

STATES = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
OVER = ("SUCCEEDED", "FAILED")
BEFORE_START = ("SUBMITTED", "PENDING", "RUNNABLE")


def now() -> int:
    """Return the time as the API gives it, in milliseconds."""
    return int(time.time() * 1000)


def no_children(size: int) -> dict[str, Any]:
    """Return the arrayProperties of a new array job."""
    return {"size": size, "statusSummary": {**dict.fromkeys(STATES, 0), "SUBMITTED": size}}


def enter(jobs: Table, row: Row, status: str, reason: str | None = None) -> None:
    """Bring a job, a node or a child of an array into a state; hold the lock of the jobs.

    Args:
        jobs: all of the account and region.
        row: of the job.
        status: its new state.
        reason: its statusReason; None for none.
    """
    before, row["status"] = row["status"], status
    row.pop("statusReason", None)
    if reason is not None:
        row["statusReason"] = reason
    if status in OVER:
        row["stoppedAt"] = now()
    # Of a node EventBridge hears nothing.
    if "#" not in row["jobId"] and before != status:
        state_changed(row)
    parent = jobs.get(row["jobId"].rpartition(":")[0])
    if parent is not None and parent["status"] not in OVER:
        _count(jobs, parent, before, status)


def _count(jobs: Table, parent: Row, before: str, after: str) -> None:
    summary = parent["arrayProperties"]["statusSummary"]
    summary[before] -= 1
    summary[after] += 1
    if summary["SUCCEEDED"] + summary["FAILED"] == parent["arrayProperties"]["size"]:
        failed = summary["FAILED"] > 0
        reason = "Array Child Job failed" if failed else None
        enter(jobs, parent, "FAILED" if failed else "SUCCEEDED", reason)
    elif parent["status"] == "SUBMITTED" and after != "SUBMITTED":
        enter(jobs, parent, "PENDING")
