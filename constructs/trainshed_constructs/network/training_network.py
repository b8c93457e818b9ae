"""A VPC for training clusters: private nodes, a way out, and a record of who talked to whom."""

from collections.abc import Sequence
from ipaddress import IPv4Network

from aws_cdk import CfnTag, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from trainshed.errors import UnknownName
from trainshed.plan import SubnetPlan
from trainshed.plan.network import ControlPlaneSubnet
from trainshed_constructs.custom_resources.default_security_group.construct import (
    DefaultSecurityGroupRules,
)
from trainshed_constructs.errors import ConstructError
from trainshed_constructs.network.zone_subnets import ZoneSubnets, zone_subnet


class TrainingNetwork(Construct):
    """VPC with a private and a public subnet in each given zone.

    Nodes are in private subnets, because EC2 gives no public address to an instance with several
    interfaces (EC2 user guide, "Elastic Fabric Adapter"); NAT gateways and a gateway endpoint for
    S3 lead out, interface endpoints keep other AWS services inside. Flow logs say who talked to
    whom. The VPC's default security group gets the rules that multi-node parallel jobs need.

    VPC and subnets are L1: the L2 Vpc looks availability zones up in the account, and cannot say
    a zone's ID, which is the same in every account and which CloudFormation takes as it is
    (`AWS::EC2::Subnet`, AvailabilityZoneId). What reads the network sees an ordinary `IVpc`.

    Instances in the stack of the network must depend on it (`node.add_dependency(network)`), or
    they may boot before there is a way out.

    Attributes:
        vpc: the VPC; its subnets are in the order of the zones given.
        private_subnets: the private subnets, in the same order.
        zone_subnets: their resources by zone, for a `NetworkGuard`.

    Example::

        from ipaddress import IPv4Network
        from aws_cdk import App, Stack
        from trainshed.plan import SubnetPlan, Zone
        from trainshed_constructs import TrainingNetwork

        stack = Stack(App(), "Network")
        network = TrainingNetwork(
            stack,
            "Network",
            cidr="10.20.0.0/16",
            subnets=[
                SubnetPlan(
                    zone=Zone(name="usw2-az4", is_id=True, index=3),
                    private_cidr=IPv4Network("10.20.96.0/19"),
                    public_cidr=IPv4Network("10.20.236.0/22"),
                )
            ],
            endpoint_services=["ecr.api", "ecr.dkr"],
        )
        subnet = network.private_subnet("usw2-az4")
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cidr: IPv4Network | str,
        subnets: Sequence[SubnetPlan],
        control_plane_subnets: Sequence[ControlPlaneSubnet] = (),
        endpoint_services: Sequence[str] = (),
    ) -> None:
        """Declare the network.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cidr: address range of the VPC.
            subnets: one for each zone.
            control_plane_subnets: small ones in zones without nodes, for control planes.
            endpoint_services: services with an interface endpoint, for instance `ecr.api`.

        Raises:
            ConstructError: no zone, a zone twice, or a subnet outside of `cidr`.
        """
        super().__init__(scope, construct_id)
        cidr = IPv4Network(cidr)
        self._check(cidr, subnets)
        vpc = ec2.CfnVPC(
            self,
            "Vpc",
            cidr_block=str(cidr),
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=[CfnTag(key="Name", value=self.node.path)],
        )
        vpc_id = vpc.ref
        gateway = ec2.CfnInternetGateway(self, "InternetGateway")
        attachment = ec2.CfnVPCGatewayAttachment(
            self, "GatewayAttachment", vpc_id=vpc_id, internet_gateway_id=gateway.ref
        )
        zones = [
            ZoneSubnets(self, plan.zone.name, vpc_id=vpc_id, plan=plan, attachment=attachment)
            for plan in subnets
        ]
        self.zone_subnets = {
            plan.zone.name: zone.private for plan, zone in zip(subnets, zones, strict=True)
        }
        # Their route table is the VPC's own, which leads nowhere else.
        self._control_plane = {
            plan.zone.name: zone_subnet(
                self,
                f"ControlPlane {plan.zone.name}",
                name=f"{self.node.path}/ControlPlane {plan.zone.name}",
                vpc_id=vpc_id,
                zone=plan.zone,
                cidr=plan.cidr,
            ).ref
            for plan in control_plane_subnets
        }
        self.vpc: ec2.IVpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Imported",
            vpc_id=vpc_id,
            vpc_cidr_block=str(cidr),
            availability_zones=[zone.private.attr_availability_zone for zone in zones],
            private_subnet_ids=[zone.private_subnet_id for zone in zones],
            private_subnet_route_table_ids=[zone.private_route_table_id for zone in zones],
            public_subnet_ids=[zone.public_subnet_id for zone in zones],
            public_subnet_route_table_ids=[zone.public_route_table_id for zone in zones],
        )
        self.private_subnets = self.vpc.private_subnets
        self._by_zone = dict(
            zip((plan.zone.name for plan in subnets), self.private_subnets, strict=True)
        )
        DefaultSecurityGroupRules(
            self,
            "DefaultGroupRules",
            security_group_id=vpc.attr_default_security_group,
            close_egress=True,
        )
        self._add_endpoints(str(cidr), endpoint_services)
        self._log_flows(vpc_id)

    def private_subnet(self, zone_name: str) -> ec2.ISubnet:
        """Return the private subnet of a zone, named as it was given (ID or name).

        Raises:
            UnknownName: the network has no subnet there.
        """
        if zone_name not in self._by_zone:
            raise UnknownName("zone of this network", zone_name, self._by_zone)
        return self._by_zone[zone_name]

    def control_plane_subnet_id(self, zone_name: str) -> str:
        """Return the id of the small subnet of a zone, for a control plane.

        Raises:
            UnknownName: the network has no such subnet there.
        """
        if zone_name not in self._control_plane:
            raise UnknownName("zone of this network", zone_name, self._control_plane)
        return self._control_plane[zone_name]

    def _check(self, cidr: IPv4Network, subnets: Sequence[SubnetPlan]) -> None:
        names = [plan.zone.name for plan in subnets]
        ranges = [block for plan in subnets for block in (plan.private_cidr, plan.public_cidr)]
        problems = [] if subnets else ["subnets is empty; give one for each zone in use"]
        problems += [
            f"zone {name} is given twice; give each zone once"
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        ]
        problems += [
            f"subnet {block} is not within {cidr}; take a part of it"
            for block in ranges
            if not block.subnet_of(cidr)
        ]
        if problems:
            raise ConstructError(self, "; ".join(problems))

    def _add_endpoints(self, cidr: str, services: Sequence[str]) -> None:
        self.vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
        if not services:
            return
        group = ec2.SecurityGroup(
            self,
            "EndpointGroup",
            vpc=self.vpc,
            description="interface endpoints: HTTPS from the VPC",
            allow_all_outbound=False,
        )
        group.add_ingress_rule(ec2.Peer.ipv4(cidr), ec2.Port.tcp(443), "HTTPS from the VPC")
        for service in services:
            ec2.InterfaceVpcEndpoint(
                self,
                f"Endpoint {service}",
                vpc=self.vpc,
                service=ec2.InterfaceVpcEndpointAwsService(service),
                subnets=ec2.SubnetSelection(subnets=self.private_subnets),
                security_groups=[group],
                # The group has its rule, from the range that the L2 endpoint would open, too.
                open=False,
                private_dns_enabled=True,
            )

    def _log_flows(self, vpc_id: str) -> None:
        """Record accepted and rejected traffic; the log outlives the VPC and expires by itself."""
        log_group = logs.LogGroup(
            self,
            "FlowLog",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        stack = Stack.of(self)
        role = iam.Role(
            self,
            "FlowLogRole",
            # Amazon VPC user guide, "IAM role for publishing flow logs to CloudWatch Logs": the
            # conditions keep other accounts' flow logs from using the role.
            assumed_by=iam.ServicePrincipal(
                "vpc-flow-logs.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": stack.account}},
            ),
            inline_policies={
                "OneLog": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            actions=[
                                "logs:CreateLogStream",
                                "logs:DescribeLogStreams",
                                "logs:PutLogEvents",
                            ],
                            resources=[log_group.log_group_arn],
                        )
                    ]
                )
            },
        )
        # L1: the L2 FlowLog would let the role pass itself on (iam:PassRole), which nobody needs.
        ec2.CfnFlowLog(
            self,
            "Flows",
            resource_type="VPC",
            resource_id=vpc_id,
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_group_name=log_group.log_group_name,
            deliver_logs_permission_arn=role.role_arn,
        )
