"""Route tables, routes, elastic addresses and NAT gateways."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.ec2.resource_types.handler import Ec2Handler


@resource("AWS::EC2::RouteTable")
class RouteTable(Ec2Handler):
    """A route table; its Ref is the table's id."""

    kind = "route-table"
    gone = ("InvalidRouteTableID.NotFound",)

    def _create(self, request: Request) -> str:
        return str(self._make(request, "CreateRouteTable")["RouteTable"]["RouteTableId"])

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"RouteTableId": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ec2").delete_route_table(RouteTableId=physical_id)


@resource("AWS::EC2::Route")
class Route(Handler):
    """A route; its Ref is `rtb-...|destination`."""

    service = "ec2"
    gone = ("InvalidRoute.NotFound", "InvalidRouteTableID.NotFound")

    _destinations = ("DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId")

    def _create(self, request: Request) -> str:
        self._call(request, "CreateRoute", request.properties)
        destination = next(
            request.properties[name] for name in self._destinations if name in request.properties
        )
        return f"{request.properties['RouteTableId']}|{destination}"

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        self._call(request, "ReplaceRoute", request.properties)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"CidrBlock": physical_id.partition("|")[2]}

    def _delete(self, request: Request, physical_id: str) -> None:
        table_id, _, destination = physical_id.partition("|")
        if destination.startswith("pl-"):
            argument = "DestinationPrefixListId"
        elif ":" in destination:
            argument = "DestinationIpv6CidrBlock"
        else:
            argument = "DestinationCidrBlock"
        request.client("ec2").delete_route(RouteTableId=table_id, **{argument: destination})


@resource("AWS::EC2::SubnetRouteTableAssociation")
class SubnetRouteTableAssociation(Handler):
    """A subnet's route table; its Ref is the association's id."""

    service = "ec2"
    gone = ("InvalidAssociationID.NotFound",)

    def _create(self, request: Request) -> str:
        return str(self._call(request, "AssociateRouteTable", request.properties)["AssociationId"])

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"Id": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ec2").disassociate_route_table(AssociationId=physical_id)


@resource("AWS::EC2::EIP")
class ElasticIp(Ec2Handler):
    """An elastic address; its Ref is the address itself."""

    kind = "elastic-ip"
    gone = ("InvalidAddress.NotFound", "InvalidAllocationID.NotFound")
    fixed = ("Domain", "PublicIpv4Pool")

    def _create(self, request: Request) -> str:
        leave = ("Domain", "InstanceId", "TransferAddress")
        domain = request.properties.get("Domain", "vpc")
        return str(self._make(request, "AllocateAddress", leave=leave, Domain=domain)["PublicIp"])

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        if not changed(request, before, "InstanceId"):
            return
        ec2 = request.client("ec2")
        address = self._address(request, physical_id)
        if "AssociationId" in address:
            ec2.disassociate_address(AssociationId=address["AssociationId"])
        if instance_id := request.properties.get("InstanceId"):
            ec2.associate_address(AllocationId=address["AllocationId"], InstanceId=instance_id)

    def _address(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("ec2").describe_addresses(PublicIps=[physical_id])
        address: dict[str, Any] = reply["Addresses"][0]
        return address

    def _taggable_id(self, request: Request, physical_id: str) -> str:
        return str(self._address(request, physical_id)["AllocationId"])

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        allocation_id = self._address(request, physical_id)["AllocationId"]
        return {"PublicIp": physical_id, "AllocationId": allocation_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        ec2 = request.client("ec2")
        address = self._address(request, physical_id)
        if "AssociationId" in address and "InstanceId" in address:
            ec2.disassociate_address(AssociationId=address["AssociationId"])
        ec2.release_address(AllocationId=address["AllocationId"])


@resource("AWS::EC2::NatGateway")
class NatGateway(Ec2Handler):
    """A NAT gateway; its Ref is the gateway's id."""

    kind = "natgateway"
    gone = ("NatGatewayNotFound",)
    fixed = (
        "AvailabilityZoneAddresses",
        "MaxDrainDurationSeconds",
        "SecondaryAllocationIds",
        "SecondaryPrivateIpAddressCount",
        "SecondaryPrivateIpAddresses",
    )

    def _create(self, request: Request) -> str:
        reply = self._make(request, "CreateNatGateway", leave=("MaxDrainDurationSeconds",))
        return str(reply["NatGateway"]["NatGatewayId"])

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("ec2").describe_nat_gateways(NatGatewayIds=[physical_id])
        gateway = reply["NatGateways"][0]
        addresses = gateway["NatGatewayAddresses"]
        return {
            "NatGatewayId": physical_id,
            "EniId": next((address["NetworkInterfaceId"] for address in addresses), ""),
            "AutoProvisionZones": gateway.get("AutoProvisionZones", "disabled"),
            "AutoScalingIps": gateway.get("AutoScalingIps", "disabled"),
            "RouteTableId": gateway.get("RouteTableId", ""),
        }

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ec2").delete_nat_gateway(NatGatewayId=physical_id)
