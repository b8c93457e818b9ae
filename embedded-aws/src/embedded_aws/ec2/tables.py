"""EC2's own data beside moto's, by id."""

from embedded_aws.actions import Call, table

placement_groups = table("ec2", "placement_groups")
# Ended ones too.
capacity_reservations = table("ec2", "capacity_reservations")
# Those that were offered.
capacity_block_offerings = table("ec2", "capacity_block_offerings")
# Of RunInstances; moto has those of RequestSpotInstances.
spot_requests = table("ec2", "spot_requests")


def placement_group_members(call: Call) -> dict[str, str]:
    """Return the name of the placement group of each instance launched into one."""
    return call.state("ec2", "placement_group_members", dict[str, str])


def capacity_reservation_members(call: Call) -> dict[str, str]:
    """Return the id of the reservation of each instance that was launched into one."""
    return call.state("ec2", "capacity_reservation_members", dict[str, str])
