"""The control plane of Kubernetes: outlives the nodes of every cluster that it places pods on."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed.orchestrators.eks.traits import POD_ADDRESSES
from trainshed.plan import ClusterPlan
from trainshed.plan.control_plane import POD_LOGS_ADD_ON, ControlPlanePlan
from trainshed_constructs import AddOns, EksControlPlane, PodLogs, SystemNodes, UnprotectOnRollback
from trainshed_stacks.network_stack import NetworkStack
from trainshed_stacks.owned_stack import OwnedStack


class ControlPlaneStack(OwnedStack):
    """Cluster of Amazon EKS, its add-ons, who may use it, and the nodes for what is not a job.

    The stack is protected from deletion from the end of its creation, and the cluster itself, too.

    Attributes:
        kubernetes: the control plane.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        control_plane: ControlPlanePlan,
        network: NetworkStack,
        users: Sequence[ClusterPlan],
    ) -> None:
        """Declare the stack, called as the plan says.

        Args:
            scope: the app.
            control_plane: its version, ranges and access.
            network: stack of the network that it is in.
            users: the clusters whose pods it places; their key encrypts its secrets.
        """
        super().__init__(
            scope,
            control_plane.stack_name,
            owners=users,
            cluster=control_plane.name,
            description="Control plane of training clusters on Amazon EKS",
            protected=True,
        )
        kms_key_arn = users[0].security.kms_key
        self.kubernetes = EksControlPlane(
            self,
            "Kubernetes",
            plan=control_plane,
            subnet_ids=network.control_plane_subnet_ids(users[0], control_plane),
            kms_key_arn=kms_key_arn,
        )
        name = self.kubernetes.cluster.ref
        versions = control_plane.lock.add_ons if control_plane.lock else {}
        add_ons = AddOns(
            self,
            "AddOns",
            cluster_name=name,
            addresses=POD_ADDRESSES,
            versions=versions,
        )
        system = SystemNodes(
            self,
            "System",
            cluster_name=name,
            version=control_plane.version.name,
            subnet=network.network.private_subnet(users[0].zone.name),
            security_group=self.nodes_group(self),
            kms_key_arn=kms_key_arn,
        )
        for each in add_ons.before_nodes:
            system.group.add_resource_dependency(each)
        add_ons.after(system.group)
        pod_logs = PodLogs(
            self,
            "PodLogs",
            cluster_name=control_plane.name,
            nodes=system.group,
            version=versions.get(POD_LOGS_ADD_ON),
        )
        protection = UnprotectOnRollback(self, "Protection", eks_cluster=control_plane.name)
        protection.before(self.kubernetes, add_ons, system, pod_logs)
        released = protection.after_cluster(self.kubernetes.cluster)
        for later in (*self.kubernetes.access_entries, add_ons, system, pod_logs):
            later.node.add_dependency(released)

    def nodes_group(self, scope: Construct) -> ec2.ISecurityGroup:
        """Return the security group that EKS makes for the control plane and its nodes.

        Args:
            scope: the stack of the nodes.
        """
        return ec2.SecurityGroup.from_security_group_id(
            scope, "ControlPlaneGroup", self.kubernetes.security_group_id, mutable=False
        )
