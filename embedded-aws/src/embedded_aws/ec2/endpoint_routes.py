"""The routes to a gateway endpoint, in each of its route tables.

VPC user guide, "Gateway endpoints": a route is added to each table that is associated with the
endpoint, and removed with the association. moto does so when the endpoint is created, not when it
is modified, and does not delete an endpoint whose routes are not there.
"""

from typing import Any

from embedded_aws.actions import Call, action


@action("ec2", "ModifyVpcEndpoint")
def modify_vpc_endpoint(call: Call) -> Any:
    """Modify an endpoint, and the routes to it."""
    answer = call.moto()
    ec2 = call.backend("ec2")
    endpoint = ec2.vpc_end_points[call.params["VpcEndpointId"]]
    prefixes = endpoint.destination_prefix_list_id
    for table in call.params.get("AddRouteTableIds", []):
        ec2.create_route(table, None, gateway_id=endpoint.id, destination_prefix_list_id=prefixes)
    for table in call.params.get("RemoveRouteTableIds", []):
        ec2.delete_route(table, prefixes)
    return answer
