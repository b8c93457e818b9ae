"""A subnet, and the security groups that belong to its VPC.

Documented: "Security group sg-... and subnet subnet-... belong to different networks."
"""

from collections.abc import Sequence
from typing import Any

from embedded_aws.actions import Call, Refusal
from embedded_aws.ec2.security_groups import group_of


def subnet_of(call: Call, subnet_id: str) -> Any:
    """Return moto's subnet.

    Raises:
        Refusal: there is none.
    """
    for subnets in call.backend("ec2").subnets.values():
        if subnet_id in subnets:
            return subnets[subnet_id]
    raise Refusal("InvalidSubnetID.NotFound", f"The subnet ID '{subnet_id}' does not exist")


def check_groups(call: Call, group_ids: Sequence[str], subnet: Any) -> None:
    """Refuse security groups that are not of the subnet's VPC.

    Raises:
        Refusal: a group does not exist or is of another VPC.
    """
    for group_id in group_ids:
        if group_of(call, group_id).vpc_id != subnet.vpc_id:
            raise Refusal(
                "InvalidParameter",
                f"Security group {group_id} and subnet {subnet.id} belong to different networks.",
            )
