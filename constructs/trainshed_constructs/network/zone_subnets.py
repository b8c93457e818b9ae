"""The subnets of one availability zone, and their ways out."""

from aws_cdk import CfnTag
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed.plan import SubnetPlan


class ZoneSubnets(Construct):
    """The subnets of one zone: a public one with a NAT gateway, a private one that uses it.

    Part of a `TrainingNetwork`.

    Attributes:
        public: the public subnet.
        public_routes: its route table.
        private: the private subnet.
        private_routes: its route table.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.CfnVPC,
        plan: SubnetPlan,
        attachment: ec2.CfnVPCGatewayAttachment,
    ) -> None:
        """Declare the subnets.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc: where they are.
            plan: zone and address ranges.
            attachment: of the internet gateway; what leads outside waits for it.
        """
        super().__init__(scope, construct_id)
        self._vpc, self._zone = vpc, plan.zone
        self.public, self.public_routes = self._subnet("Public", str(plan.public_cidr))
        self.private, self.private_routes = self._subnet("Private", str(plan.private_cidr))
        internet = ec2.CfnRoute(
            self,
            "PublicRoute",
            route_table_id=self.public_routes.ref,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=attachment.internet_gateway_id,
        )
        internet.add_resource_dependency(attachment)
        address = ec2.CfnEIP(self, "NatAddress", domain="vpc")
        address.add_resource_dependency(attachment)
        nat = ec2.CfnNatGateway(
            self,
            "Nat",
            subnet_id=self.public.ref,
            allocation_id=address.attr_allocation_id,
            tags=[CfnTag(key="Name", value=self.node.path)],
        )
        nat.add_resource_dependency(internet)
        ec2.CfnRoute(
            self,
            "PrivateRoute",
            route_table_id=self.private_routes.ref,
            destination_cidr_block="0.0.0.0/0",
            nat_gateway_id=nat.attr_nat_gateway_id,
        )

    def _subnet(self, name: str, cidr: str) -> tuple[ec2.CfnSubnet, ec2.CfnRouteTable]:
        tags = [CfnTag(key="Name", value=f"{self.node.path}/{name}")]
        subnet = ec2.CfnSubnet(
            self,
            name,
            vpc_id=self._vpc.ref,
            cidr_block=cidr,
            availability_zone_id=self._zone.name if self._zone.is_id else None,
            availability_zone=None if self._zone.is_id else self._zone.name,
            map_public_ip_on_launch=False,
            tags=tags,
        )
        routes = ec2.CfnRouteTable(self, f"{name}Routes", vpc_id=self._vpc.ref, tags=tags)
        ec2.CfnSubnetRouteTableAssociation(
            self, f"{name}Association", subnet_id=subnet.ref, route_table_id=routes.ref
        )
        return subnet, routes
