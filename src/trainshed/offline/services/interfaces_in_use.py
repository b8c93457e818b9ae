"""The elastic network interfaces that hold on to subnets and security groups.

[S] VPC user guide: a subnet or a security group with a network interface in it cannot be deleted.
moto keeps the interfaces of deleted NAT gateways and of terminated instances; on AWS they go.
"""

from typing import Any

from trainshed.offline.services.actions import Call, action


def interfaces(call: Call) -> list[Any]:
    """Return moto's interfaces that would still exist on AWS."""
    return [
        interface
        for interface in call.backend("ec2").enis.values()
        if interface.instance is None or interface.instance.state != "terminated"
    ]


@action("ec2", "CreateVpcEndpoint")
def create_vpc_endpoint(call: Call) -> Any:
    """Create an endpoint whose interfaces carry the security groups it was given."""
    answer = call.moto()
    ec2 = call.backend("ec2")
    endpoint = list(ec2.vpc_end_points.values())[-1]
    if groups := call.params.get("SecurityGroupIds"):
        for interface_id in endpoint.network_interface_ids or []:
            ec2.enis[interface_id]._group_set = [
                ec2.get_security_group_from_id(group) for group in groups
            ]
    return answer
