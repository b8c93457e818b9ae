"""Route tables, routes, elastic addresses and NAT gateways."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, present
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.ec2.resource_types.handler import Ec2Handler


@resource("AWS::EC2::RouteTable")
class RouteTable(Ec2Handler):
    """A route table; its Ref is the table's id."""

    kind = "route-table"
    target = "RouteTableId"
    creation = "CreateRouteTable", "RouteTable.RouteTableId"
    deletion = "DeleteRouteTable"


@resource("AWS::EC2::Route")
class Route(Handler):
    """A route; its Ref is `rtb-...|destination`."""

    service = "ec2"
    changing = "ReplaceRoute"

    _destinations = ("DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId")

    def _create(self, request: Request) -> str:
        self._call(request, "CreateRoute", request.properties)
        [destination] = present(request.properties, *self._destinations).values()
        return f"{request.properties['RouteTableId']}|{destination}"

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"CidrBlock": physical_id.partition("|")[2]}

    def _delete(self, request: Request, physical_id: str) -> None:
        route = present(request.properties, "RouteTableId", *self._destinations)
        request.client("ec2").delete_route(**route)


@resource("AWS::EC2::SubnetRouteTableAssociation")
class SubnetRouteTableAssociation(Handler):
    """A subnet's route table; its Ref is the association's id."""

    service = "ec2"
    target = "AssociationId"
    creation = "AssociateRouteTable", "AssociationId"
    deletion = "DisassociateRouteTable"


@resource("AWS::EC2::EIP")
class ElasticIp(Ec2Handler):
    """An elastic address; its Ref is the address itself."""

    kind = "elastic-ip"
    target = "PublicIp"
    creation = "AllocateAddress", "PublicIp"
    reading = "DescribeAddresses", "Addresses"
    tagged = "AllocationId"
    later = ("InstanceId", "TransferAddress")
    fixed = ("Domain", "PublicIpv4Pool")

    def _wanted(self, request: Request) -> dict[str, Any]:
        return {"Domain": "vpc", **super()._wanted(request)}

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        if not changed(request, before, "InstanceId"):
            return
        ec2 = request.client("ec2")
        address = self._described(request, physical_id)
        if "AssociationId" in address:
            ec2.disassociate_address(AssociationId=address["AssociationId"])
        if instance_id := request.properties.get("InstanceId"):
            ec2.associate_address(AllocationId=address["AllocationId"], InstanceId=instance_id)

    def _delete(self, request: Request, physical_id: str) -> None:
        ec2 = request.client("ec2")
        address = self._described(request, physical_id)
        if "AssociationId" in address and "InstanceId" in address:
            ec2.disassociate_address(AssociationId=address["AssociationId"])
        ec2.release_address(AllocationId=address["AllocationId"])


@resource("AWS::EC2::NatGateway")
class NatGateway(Ec2Handler):
    """A NAT gateway; its Ref is the gateway's id."""

    kind = "natgateway"
    target = "NatGatewayId"
    creation = "CreateNatGateway", "NatGateway.NatGatewayId"
    reading = "DescribeNatGateways", "NatGateways"
    deletion = "DeleteNatGateway"
    later = ("MaxDrainDurationSeconds",)
    attributes = {
        "EniId": "NatGatewayAddresses.NetworkInterfaceId",
        "RouteTableId": "RouteTableId",
    }
    fixed = (
        "AvailabilityZoneAddresses",
        "MaxDrainDurationSeconds",
        "SecondaryAllocationIds",
        "SecondaryPrivateIpAddressCount",
        "SecondaryPrivateIpAddresses",
    )

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        switches = {"AutoProvisionZones": "disabled", "AutoScalingIps": "disabled"}
        return switches | super()._attributes(request, physical_id)
