"""Batch's own data beside moto's: jobs by id, the others by ARN, oldest first.

Rows are as Describe actions return them. Jobs run meanwhile: whoever reads or changes their rows
holds the guard.
"""

import threading
from collections.abc import Iterable

from embedded_aws.actions import Call, Row, Table, table

guard = threading.RLock()

compute_environments = table("batch", "compute_environments")
job_queues = table("batch", "job_queues")
job_definitions = table("batch", "job_definitions")
jobs = table("batch", "jobs")


def named(rows: Table, kind: str, names: Iterable[str]) -> list[Row]:
    """Return the rows of some names or ARNs.

    Args:
        rows: compute environments or job queues.
        kind: `computeEnvironment` or `jobQueue`, as their fields begin.
        names: names or ARNs; unknown ones are ignored.
    """
    wanted = set(names)
    return [row for row in rows.values() if {row[f"{kind}Name"], row[f"{kind}Arn"]} & wanted]


def described(call: Call, rows: Table, kind: str) -> list[Row]:
    """Return the rows that a Describe action names, or all, as the API describes them.

    Args:
        call: the action.
        rows: compute environments or job queues.
        kind: as for `named`.
    """
    names = call.params.get(f"{kind}s") or rows
    return tagged(call, named(rows, kind, names), f"{kind}Arn")


def tagged(call: Call, rows: Iterable[Row], arn: str) -> list[Row]:
    """Return rows as the API describes them, with the tags of the ARN in this field."""
    tags = call.backend("batch").list_tags_for_resource
    return [{**row, "tags": tags(row[arn])} for row in rows]
