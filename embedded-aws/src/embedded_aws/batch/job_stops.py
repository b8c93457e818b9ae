"""Ending a job before its time."""

from embedded_aws.actions import Call, Row
from embedded_aws.batch import tables
from embedded_aws.batch.job_rows import OVER, enter
from embedded_aws.batch.service import scheduler


def stop(call: Call, row: Row, reason: str) -> None:
    """End a job that is not over; hold the guard of the jobs.

    Args:
        call: of its account and region.
        row: of the job, or of the child of an array; the parent follows its children.
        reason: its statusReason.
    """
    if row["status"] in OVER or "statusSummary" in row.get("arrayProperties", {}):
        return
    if running := scheduler():
        running.stop(row, reason)
    else:
        enter(tables.jobs(call), row, "FAILED", reason)
