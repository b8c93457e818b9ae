"""Batch's own data beside moto's, by id or ARN.

Rows are as Describe actions return them.
"""

from embedded_aws.actions import Call, Table


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
