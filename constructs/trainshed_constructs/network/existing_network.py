"""A VPC that is there already, read like a `TrainingNetwork`."""

from aws_cdk import Annotations
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed.errors import UnknownName


class ExistingNetwork(Construct):
    """An existing VPC with one private subnet; nothing in it is changed.

    The subnet needs a way to ECR, S3, SSM and CloudWatch Logs. Jobs need the VPC's default group to
    let its members reach each other, and TCP 443; see `DefaultSecurityGroupRules`. Without lookups,
    so that synthesis needs no credentials.

    Attributes:
        vpc: the VPC.
        private_subnets: the one subnet.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import ExistingNetwork

        stack = Stack(App(), "Network")
        network = ExistingNetwork(
            stack,
            "Network",
            vpc_id="vpc-0123456789abcdef0",
            subnet_id="subnet-0123456789abcdef0",
            zone="usw2-az4",
        )
        subnet = network.private_subnet("usw2-az4")
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc_id: str,
        subnet_id: str,
        zone: str,
    ) -> None:
        """Refer to the VPC.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc_id: the VPC, `vpc-...`.
            subnet_id: its private subnet, `subnet-...`.
            zone: ID or name of the subnet's zone.
        """
        super().__init__(scope, construct_id)
        self._zone = zone
        self.vpc: ec2.IVpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=vpc_id,
            availability_zones=[zone],
            private_subnet_ids=[subnet_id],
        )
        Annotations.of(self).acknowledge_warning(
            "@aws-cdk/aws-ec2:noSubnetRouteTableId", "nothing here adds routes to the subnet"
        )
        self.private_subnets = self.vpc.private_subnets

    def private_subnet(self, zone_name: str) -> ec2.ISubnet:
        """Return the subnet, if it is in that zone.

        Raises:
            UnknownName: the subnet is in another zone.
        """
        if zone_name != self._zone:
            raise UnknownName("zone of this network", zone_name, [self._zone])
        return self.private_subnets[0]
