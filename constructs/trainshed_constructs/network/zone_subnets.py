"""The subnets of one availability zone, and their ways out."""

from ipaddress import IPv4Network

from aws_cdk import CfnTag
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed.plan import SubnetPlan
from trainshed.plan.zone import Zone


def zone_subnet(
    scope: Construct,
    construct_id: str,
    *,
    name: str,
    vpc_id: str,
    zone: Zone,
    cidr: IPv4Network,
) -> ec2.CfnSubnet:
    """Declare a subnet that gives no public addresses.

    Args:
        scope: parent.
        construct_id: id within the parent.
        name: value of its tag `Name`.
        vpc_id: where it is.
        zone: its zone.
        cidr: its addresses.
    """
    return ec2.CfnSubnet(
        scope,
        construct_id,
        vpc_id=vpc_id,
        cidr_block=str(cidr),
        availability_zone_id=zone.name if zone.is_id else None,
        availability_zone=None if zone.is_id else zone.name,
        map_public_ip_on_launch=False,
        tags=[CfnTag(key="Name", value=name)],
    )


class ZoneSubnets(Construct):
    """The subnets of one zone: a public one with a NAT gateway, a private one that uses it.

    Part of a `TrainingNetwork`.

    Attributes:
        private: the private subnet.
        private_subnet_id: its id.
        private_route_table_id: of its route table.
        public_subnet_id: of the public subnet.
        public_route_table_id: of its route table.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc_id: str,
        plan: SubnetPlan,
        attachment: ec2.CfnVPCGatewayAttachment,
    ) -> None:
        """Declare the subnets.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc_id: where they are.
            plan: zone and address ranges.
            attachment: of the internet gateway; what leads outside waits for it.
        """
        super().__init__(scope, construct_id)
        self._vpc_id, self._zone, self._path = vpc_id, plan.zone, self.node.path
        public = self._subnet("Public", plan.public_cidr)
        _, self.public_subnet_id, self.public_route_table_id = public
        private = self._subnet("Private", plan.private_cidr)
        self.private, self.private_subnet_id, self.private_route_table_id = private
        internet = ec2.CfnRoute(
            self,
            "PublicRoute",
            route_table_id=self.public_route_table_id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=attachment.internet_gateway_id,
        )
        internet.add_resource_dependency(attachment)
        address = ec2.CfnEIP(self, "NatAddress", domain="vpc")
        address.add_resource_dependency(attachment)
        nat = ec2.CfnNatGateway(
            self,
            "Nat",
            subnet_id=self.public_subnet_id,
            allocation_id=address.attr_allocation_id,
            tags=[CfnTag(key="Name", value=self._path)],
        )
        nat.add_resource_dependency(internet)
        ec2.CfnRoute(
            self,
            "PrivateRoute",
            route_table_id=self.private_route_table_id,
            destination_cidr_block="0.0.0.0/0",
            nat_gateway_id=nat.attr_nat_gateway_id,
        )

    def _subnet(self, name: str, cidr: IPv4Network) -> tuple[ec2.CfnSubnet, str, str]:
        """Declare a subnet with a route table, and return it, its id and the table's id."""
        shown = f"{self._path}/{name}"
        subnet = zone_subnet(
            self, name, name=shown, vpc_id=self._vpc_id, zone=self._zone, cidr=cidr
        )
        tags = [CfnTag(key="Name", value=shown)]
        routes = ec2.CfnRouteTable(self, f"{name}Routes", vpc_id=self._vpc_id, tags=tags)
        subnet_id, route_table_id = subnet.ref, routes.ref
        ec2.CfnSubnetRouteTableAssociation(
            self, f"{name}Association", subnet_id=subnet_id, route_table_id=route_table_id
        )
        return subnet, subnet_id, route_table_id
