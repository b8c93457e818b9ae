"""Batch's own data beside moto's, by id or ARN.

Rows are as Describe actions return them.
"""

from collections.abc import Iterable

from embedded_aws.actions import Call, Row, Table


def compute_environments(call: Call) -> Table:
    """Return the Batch compute environments, by ARN."""
    return call.state("batch", "compute_environments", Table)


def job_queues(call: Call) -> Table:
    """Return the Batch job queues, by ARN."""
    return call.state("batch", "job_queues", Table)


def job_definitions(call: Call) -> Table:
    """Return the Batch job definitions, by ARN, oldest first."""
    return call.state("batch", "job_definitions", Table)


def jobs(call: Call) -> Table:
    """Return the Batch jobs, by id."""
    return call.state("batch", "jobs", Table)


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
