"""Secondary address ranges of a VPC: which ones EC2 accepts, and when it removes them.

VPC user guide, "VPC CIDR blocks": IPv4 ranges are /16 to /28, overlap no other range of the VPC,
and private ranges of different kinds do not mix ("IPv4 CIDR block association restrictions").
Inferred: the refusals' words, and that removing a range with subnets is refused like others in use.
"""

from ipaddress import IPv4Network
from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.ec2.refusals import invalid_combination, invalid_value

_LARGEST, _SMALLEST = 16, 28
_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
# Accepted by VPCs with public and with private ranges.
_RESERVED = IPv4Network("198.19.0.0/16")


@action("ec2", "AssociateVpcCidrBlock")
def associate_vpc_cidr_block(call: Call) -> Any:
    """Add a secondary range to a VPC."""
    wanted, amazons = call.params.get("CidrBlock"), call.params.get("AmazonProvidedIpv6CidrBlock")
    if not wanted and not amazons:
        raise Refusal(
            "MissingParameter",
            "Either 'cidrBlock' or 'amazonProvidedIpv6CidrBlock' should be provided.",
        )
    if wanted and amazons:
        raise invalid_combination(
            "Only one of 'cidrBlock' and 'amazonProvidedIpv6CidrBlock' can be provided."
        )
    vpc = call.backend("ec2").vpcs.get(call.params["VpcId"])
    if wanted and vpc:
        call.response.params["CidrBlock"] = _checked_range(wanted, vpc)
    return call.moto()


@action("ec2", "DisassociateVpcCidrBlock")
def disassociate_vpc_cidr_block(call: Call) -> Any:
    """Remove a range that contains no subnet."""
    ec2, association_id = call.backend("ec2"), call.params["AssociationId"]
    for vpc in ec2.vpcs.values():
        association = vpc._cidr_block_association_set.get(association_id)
        if association and association["cidr_block_state"]["state"] == "associated":
            _check_unused(ec2, vpc, association_id, association["cidr_block"])
            return call.moto()
    # moto would remove it again, and fail on its route.
    raise Refusal(
        "InvalidVpcCidrBlockAssociationID.NotFound",
        f"The vpc CIDR block association ID '{association_id}' does not exist",
    )


def _check_unused(ec2: Any, vpc: Any, association_id: str, cidr_block: str) -> None:
    subnets = ec2.describe_subnets(filters={"vpc-id": vpc.id})
    if any(_lies_in(subnet, cidr_block) for subnet in subnets):
        raise Refusal(
            "InvalidCidrBlock.InUse",
            f"The vpc CIDR block with association ID {association_id} may not be disassociated. "
            "It is in use by a subnet.",
        )


def _checked_range(wanted: str, vpc: Any) -> str:
    """Return a range in canonical form, which EC2 stores."""
    try:
        network = IPv4Network(wanted, strict=False)
    except ValueError:
        raise invalid_value(
            f"Value ({wanted}) for parameter cidrBlock is invalid. This is not a valid CIDR block."
        ) from None
    if not _LARGEST <= network.prefixlen <= _SMALLEST:
        raise Refusal("InvalidVpc.Range", f"The CIDR '{wanted}' is invalid.")
    held = [
        IPv4Network(association["cidr_block"], strict=False)
        for association in vpc.get_cidr_block_association_set()
        if association["cidr_block_state"]["state"] == "associated"
    ]
    if any(network.overlaps(other) for other in held):
        raise Refusal(
            "InvalidVpc.Range",
            f"The CIDR '{wanted}' conflicts with another CIDR block of the VPC.",
        )
    if _restricted(network, IPv4Network(vpc.cidr_block, strict=False)):
        raise Refusal(
            "InvalidVpc.Range",
            f"The CIDR '{wanted}' is restricted. Use a CIDR from the same private address range as "
            "the current VPC CIDR, or use a publicly-routable CIDR.",
        )
    return str(network)


def _restricted(network: IPv4Network, primary: IPv4Network) -> bool:
    """Whether a range may not be combined with the primary one: two kinds of private ranges."""
    forbidden = [private for private in _PRIVATE if not primary.subnet_of(private)]
    return any(network.overlaps(other) for other in (*forbidden, _RESERVED))


def _lies_in(subnet: Any, cidr_block: str) -> bool:
    if ":" in cidr_block:
        return any(each["ipv6CidrBlock"] for each in subnet.ipv6_cidr_block_associations.values())
    return bool(IPv4Network(subnet.cidr_block).subnet_of(IPv4Network(cidr_block, strict=False)))
