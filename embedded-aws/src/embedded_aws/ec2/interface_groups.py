"""The security groups of interfaces that are created directly or by a VPC endpoint.

EC2 API reference: they exist and are of the subnet's VPC; an endpoint is a gateway by default. moto
creates unknown groups, and gives the interfaces of an endpoint the VPC's default group instead of
the given ones.
"""

from typing import Any

from embedded_aws.actions import Call, action
from embedded_aws.ec2.subnets import check_groups, subnet_of


@action("ec2", "CreateNetworkInterface")
def create_network_interface(call: Call) -> Any:
    """Create an interface whose groups are of its subnet's VPC."""
    check_groups(call, call.params.get("Groups", []), subnet_of(call, call.params["SubnetId"]))
    return call.moto()


@action("ec2", "CreateVpcEndpoint")
def create_vpc_endpoint(call: Call) -> Any:
    """Create an endpoint whose interfaces carry the security groups it was given."""
    groups = call.params.get("SecurityGroupIds", [])
    for subnet_id in call.params.get("SubnetIds", []):
        check_groups(call, groups, subnet_of(call, subnet_id))
    # Gateway is EC2's default; moto stores no type then, and cannot delete the endpoint.
    call.response.params.setdefault("VpcEndpointType", "Gateway")
    answer = call.moto()
    ec2 = call.backend("ec2")
    endpoint = ec2.vpc_end_points[answer.result["VpcEndpoint"].id]
    if groups:
        for interface_id in endpoint.network_interface_ids or []:
            ec2.enis[interface_id]._group_set = [
                ec2.get_security_group_from_id(group) for group in groups
            ]
    return answer
