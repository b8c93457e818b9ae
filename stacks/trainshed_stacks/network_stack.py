"""The network: lives long, and everything else is in it."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed.catalogue.kubernetes import WITHOUT_CONTROL_PLANE
from trainshed.plan import ClusterPlan, NetworkPlan
from trainshed.plan.control_plane import ControlPlanePlan
from trainshed_constructs import (
    DefaultSecurityGroupRules,
    ExistingNetwork,
    NetworkGuard,
    TrainingNetwork,
)
from trainshed_stacks.owned_stack import OwnedStack


class NetworkStack(OwnedStack):
    """VPC, subnets, endpoints, and one group for the clients of each file system in it.

    Attributes:
        network: the VPC and its subnets.
        storage_clients: by the name of its stack, the security group that nodes wear to reach
            storage. It is here so that compute and storage know it without knowing each other.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        network: NetworkPlan,
        users: Sequence[ClusterPlan],
    ) -> None:
        """Declare the stack, called as the plan says.

        Args:
            scope: the app.
            network: a new VPC, or an existing one.
            users: the clusters in it; their file systems are in it, too.
        """
        super().__init__(
            scope,
            network.stack_name,
            owners=users,
            cluster=network.name,
            description="Network of training clusters",
        )
        self.network = self._network(network)
        storages = {each.stack_name: each for user in users for each in user.network_storages}
        groups = {
            stack: ec2.SecurityGroup(
                self,
                f"{each.name}{each.clients_group}",
                vpc=self.network.vpc,
                description=f"Nodes that mount the {each.title} {each.name}",
                allow_all_outbound=False,
            )
            for stack, each in storages.items()
        }
        self.storage_clients: Mapping[str, ec2.ISecurityGroup] = groups
        if network.cidr or network.default_security_group_id or groups:
            exported = {each.exported_as: groups[stack] for stack, each in storages.items()}
            self._guard(network, exported, _stacks_in(users))
        else:
            cdk.Validations.of(self).acknowledge(
                cdk.Acknowledgment(
                    id="CloudFormation-Validate::F0001",
                    reason="nothing is added to the existing VPC, so the CDK CLI skips this stack",
                )
            )

    def control_plane_subnet_ids(
        self, user: ClusterPlan, control_plane: ControlPlanePlan
    ) -> list[str]:
        """Return the subnets of a control plane: the nodes', where it can be there, and others.

        Args:
            user: a cluster whose pods it places.
            control_plane: the control plane.
        """
        nodes = self.network.private_subnet(user.zone.name).subnet_id
        if isinstance(self.network, ExistingNetwork):
            return [nodes, str(control_plane.subnet_id)]
        others = [
            self.network.control_plane_subnet_id(each.zone.name)
            for each in user.network.control_plane_subnets
        ]
        return others if user.zone.name in WITHOUT_CONTROL_PLANE else [nodes, *others]

    def _guard(
        self, network: NetworkPlan, groups: Mapping[str, ec2.SecurityGroup], users: Sequence[str]
    ) -> None:
        exported: dict[str, cdk.CfnResource] = {}
        if isinstance(self.network, TrainingNetwork):
            for zone, subnet in self.network.zone_subnets.items():
                exported[f"zone {zone}"] = subnet
        for name, group in groups.items():
            resource = group.node.default_child
            assert isinstance(resource, cdk.CfnResource)
            exported[name] = resource
        made = self.node.children
        NetworkGuard(
            self,
            "Guard",
            vpc=str(network.cidr or network.vpc_id),
            exported=exported,
            users=users,
        ).before(*made)

    def _network(self, network: NetworkPlan) -> TrainingNetwork | ExistingNetwork:
        if network.cidr:
            return TrainingNetwork(
                self,
                "Network",
                cidr=network.cidr,
                subnets=network.subnets,
                control_plane_subnets=network.control_plane_subnets,
                endpoint_services=network.endpoint_services,
            )
        assert network.vpc_id and network.subnet_id and network.zone  # either new or existing
        if network.default_security_group_id:
            DefaultSecurityGroupRules(
                self,
                "DefaultSecurityGroupRules",
                security_group_id=network.default_security_group_id,
            )
        return ExistingNetwork(
            self,
            "Network",
            vpc_id=network.vpc_id,
            subnet_id=network.subnet_id,
            zone=network.zone.name,
        )


def _stacks_in(clusters: Sequence[ClusterPlan]) -> list[str]:
    """Name the stacks of clusters that import from their network's."""
    shared = [
        share.stack_name
        for each in clusters
        for share in (*each.network_storages, each.control_plane)
        if share
    ]
    return sorted({*(cluster.name for cluster in clusters), *shared})
