"""What the embedded AWS remembers beside moto: one table per kind of resource.

Each lives in the moto backend of its service, so moto's reset empties it. Rows are as the API's
Describe action returns them, by id or ARN.
"""

from typing import Any

from trainshed.offline.services.actions import Call

# A resource by its API fields.
Row = dict[str, Any]
Table = dict[str, Row]


def placement_groups(call: Call) -> Table:
    """Return the EC2 placement groups, by id."""
    return call.state("ec2", "placement_groups", Table)


def placement_group_members(call: Call) -> dict[str, str]:
    """Return the name of the placement group of each instance launched into one."""
    return call.state("ec2", "placement_group_members", dict[str, str])


def capacity_reservations(call: Call) -> Table:
    """Return the EC2 capacity reservations, by id; ended ones too."""
    return call.state("ec2", "capacity_reservations", Table)


def capacity_reservation_members(call: Call) -> dict[str, str]:
    """Return the id of the reservation of each instance that was launched into one."""
    return call.state("ec2", "capacity_reservation_members", dict[str, str])


def capacity_block_offerings(call: Call) -> Table:
    """Return the capacity blocks that were offered, by id."""
    return call.state("ec2", "capacity_block_offerings", Table)


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


def data_repository_associations(call: Call) -> Table:
    """Return the FSx data repository associations, by id."""
    return call.state("fsx", "associations", Table)


def applied_quotas(call: Call) -> dict[str, float]:
    """Return the EC2 quotas that were raised, by code."""
    return call.state("service-quotas", "applied", dict[str, float])
