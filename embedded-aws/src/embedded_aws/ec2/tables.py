"""EC2's own data beside moto's, by id or ARN.

Rows are as Describe actions return them.
"""

from embedded_aws.actions import Call, Table


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
