"""Internet and NAT gateways, elastic IP addresses, and routes to them.

VPC user guide: a public NAT gateway needs an internet gateway on its VPC, and releases its address
when deleted; an address in use is not released; an internet gateway is not detached while its VPC
has mapped public addresses; a route has one target. Inferred: on AWS a NAT gateway without an
internet gateway is made and fails a little later; here the call is refused. The words about a
route's target.
"""

from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.ec2.refusals import invalid_combination
from embedded_aws.ec2.subnets import subnet_of

_TARGETS = (
    *("CarrierGatewayId", "CoreNetworkArn", "EgressOnlyInternetGatewayId", "GatewayId"),
    *("InstanceId", "LocalGatewayId", "NatGatewayId", "NetworkInterfaceId", "OdbNetworkArn"),
    *("TransitGatewayId", "VpcEndpointId", "VpcPeeringConnectionId"),
)


@action("ec2", "CreateRoute")
def create_route(call: Call) -> Any:
    """Create a route with exactly one target."""
    if sum(bool(call.params.get(target)) for target in _TARGETS) != 1:
        raise invalid_combination(f"The request must contain exactly one of {', '.join(_TARGETS)}.")
    return call.moto()


@action("ec2", "CreateNatGateway")
def create_nat_gateway(call: Call) -> Any:
    """Create a NAT gateway; a public one needs an internet gateway in its VPC."""
    vpc_id = subnet_of(call, call.params["SubnetId"]).vpc_id
    gateways = call.backend("ec2").internet_gateways.values()
    attached = any(gateway.vpc is not None and gateway.vpc.id == vpc_id for gateway in gateways)
    if call.params.get("ConnectivityType", "public") == "public" and not attached:
        raise Refusal("Gateway.NotAttached", f"Network {vpc_id} has no Internet gateway attached")
    return call.moto()


@action("ec2", "DeleteNatGateway")
def delete_nat_gateway(call: Call) -> Any:
    """Delete a NAT gateway and its interface, and free its elastic IP address."""
    answer = call.moto()
    ec2 = call.backend("ec2")
    gateway = ec2.nat_gateways[call.params["NatGatewayId"]]
    ec2.enis.pop(gateway._eni.id, None)
    for address in ec2.addresses:
        if address.eni is gateway._eni:
            address.eni = address.association_id = None
    return answer


@action("ec2", "ReleaseAddress")
def release_address(call: Call) -> Any:
    """Release an address that is not in use."""
    for address in call.backend("ec2").addresses:
        if address.allocation_id == call.params.get("AllocationId") and address.association_id:
            raise Refusal("InvalidIPAddress.InUse", f"Address {address.public_ip} is in use.")
    return call.moto()


@action("ec2", "DetachInternetGateway")
def detach_internet_gateway(call: Call) -> Any:
    """Detach an internet gateway from a VPC without public addresses."""
    vpc_id = call.params["VpcId"]
    for address in call.backend("ec2").addresses:
        if address.eni is not None and address.eni.vpc_id == vpc_id:
            raise Refusal(
                "DependencyViolation",
                f"Network {vpc_id} has some mapped public address(es). Please unmap those public "
                "address(es) before detaching the gateway.",
            )
    return call.moto()
