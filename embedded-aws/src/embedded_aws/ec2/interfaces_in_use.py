"""The elastic network interfaces that keep subnets and security groups from being deleted.

VPC user guide: a subnet or a security group with a network interface in it cannot be deleted. moto
keeps the interfaces of deleted NAT gateways and of terminated instances; AWS deletes them.
"""

from typing import Any

from embedded_aws.actions import Call


def interfaces(call: Call) -> list[Any]:
    """Return moto's interfaces that would still exist on AWS."""
    return [
        interface
        for interface in call.backend("ec2").enis.values()
        if interface.instance is None or interface.instance.state != "terminated"
    ]
