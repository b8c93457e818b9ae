"""When EC2 refuses to delete a subnet or a VPC.

VPC user guide, "Delete your VPC" and "Delete a subnet": not while interfaces, subnets, own security
groups, gateways, endpoints or own route tables are in it (DependencyViolation).
"""

from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.ec2.interfaces_in_use import interfaces


@action("ec2", "DeleteSubnet")
def delete_subnet(call: Call) -> Any:
    """Delete a subnet without interfaces, and its associations with route tables and ACLs."""
    subnet_id = call.params["SubnetId"]
    if any(interface.subnet.id == subnet_id for interface in interfaces(call)):
        raise Refusal(
            "DependencyViolation",
            f"The subnet '{subnet_id}' has dependencies and cannot be deleted.",
        )
    answer = call.moto()
    ec2 = call.backend("ec2")
    for table in ec2.route_tables.values():
        for association, target in list(table._associations.items()):
            if target == subnet_id:
                del table._associations[association]
    for acl in ec2.network_acls.values():
        for association in acl.associations:
            if association.subnet_id == subnet_id:
                del acl._associations[association.id]
    return answer


@action("ec2", "DeleteVpc")
def delete_vpc(call: Call) -> Any:
    """Delete a VPC that only contains what EC2 created itself."""
    vpc_id = call.params["VpcId"]
    ec2 = call.backend("ec2")
    if vpc_id in ec2.vpcs and _dependencies(call, vpc_id):
        raise Refusal(
            "DependencyViolation", f"The vpc '{vpc_id}' has dependencies and cannot be deleted."
        )
    answer = call.moto()
    for acl_id in [acl.id for acl in ec2.network_acls.values() if acl.vpc_id == vpc_id]:
        del ec2.network_acls[acl_id]
    return answer


def _dependencies(call: Call, vpc_id: str) -> list[str]:
    ec2 = call.backend("ec2")
    holders = [
        *(group for group in ec2.groups.get(vpc_id, {}).values() if not group.is_default),
        *(
            gateway
            for gateway in ec2.internet_gateways.values()
            if gateway.vpc and gateway.vpc.id == vpc_id
        ),
        *(
            endpoint
            for endpoint in ec2.vpc_end_points.values()
            if endpoint.vpc_id == vpc_id and endpoint.state != "deleted"
        ),
        *(interface for interface in interfaces(call) if interface.vpc_id == vpc_id),
    ]
    return [holder.id for holder in holders]
