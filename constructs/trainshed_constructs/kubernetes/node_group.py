"""Managed groups of nodes of a cluster of Amazon EKS."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.catalogue.ebs import GP3_IOPS, GP3_THROUGHPUT
from trainshed.catalogue.kubernetes import SYSTEM_GIB, SYSTEM_NODES, SYSTEM_TYPE
from trainshed.interfaces import InterfaceKind, NetworkInterface
from trainshed.plan import CapacityKind, CapacityPlan, RootVolumePlan
from trainshed_constructs.compute.efa_launch_template import EfaLaunchTemplate
from trainshed_constructs.kubernetes.managed_policies import managed_policies

_Group = eks.CfnNodegroup
_ONE_INTERFACE = NetworkInterface(
    card=0, device=0, kind=InterfaceKind.INTERFACE, reason="IP traffic of pods and the node"
)
# Pods tolerate the key.
TAINT_VALUE = "present"

# `capacityType` of CreateNodegroup; ON_DEMAND, its default, for the others.
_CAPACITY_TYPES = {CapacityKind.CAPACITY_BLOCK: "CAPACITY_BLOCK", CapacityKind.SPOT: "SPOT"}

# EKS user guide, "Amazon EKS node IAM role".
NODE_POLICIES = {
    "AmazonEKSWorkerNodePolicy": "what the kubelet and the agent of EKS Pod Identity need",
    "AmazonEC2ContainerRegistryPullOnly": "add-ons and device plugins are in registries of AWS",
}


class AcceleratorNodes(Construct):
    """Managed node group of an exact size in one subnet, launched by a template with an AMI.

    - The template has the AMI, so the group names neither AMI type nor version, and EKS adds
      nothing to the user data.
    - No name: what cannot be changed of a group is replaced, and a name would be taken.
    - An update ends a node before it launches another (`MINIMAL`): there may be no capacity beside
      what is there.
    - With repair, EKS replaces a node that fails its checks. The agent that watches nodes knows
      NVIDIA's and Neuron's errors, and none of Gaudi's.

    Follows the EKS user guide, "Customize managed nodes with launch templates", and the API
    reference, CreateNodegroup.

    Attributes:
        group: the resource; its `Ref` is `CLUSTER/GROUP`.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from aws_cdk import aws_iam as iam
        from trainshed.plan import CapacityKind
        from trainshed_constructs import AcceleratorNodes

        stack = Stack(App(), "Compute")
        AcceleratorNodes(
            stack,
            "Nodes",
            cluster_name="train",
            role=iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")),
            subnet=ec2.Vpc(stack, "Vpc").private_subnets[0],
            nodes=4,
            launch_template_id="lt-0123456789abcdef0",
            launch_template_version="1",
            taint="habana.ai/gaudi",
            capacity=CapacityKind.ON_DEMAND,
            repair=True,
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        role: iam.Role,
        subnet: ec2.ISubnet,
        nodes: int,
        launch_template_id: str,
        launch_template_version: str,
        instance_types: Sequence[str] = (),
        taint: str,
        capacity: CapacityKind,
        repair: bool,
    ) -> None:
        """Declare the group.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster_name: of the EKS cluster.
            role: of the nodes; it gets what every node of EKS needs.
            subnet: private subnet of all nodes.
            nodes: how many.
            launch_template_id: template with the AMI, the interfaces, and the type unless
                `instance_types` are given: EKS refuses both.
            launch_template_version: its number.
            instance_types: several types, which have the interfaces of the template in common. On
                demand EKS launches them in this order, as far as there is capacity; on Spot those
                of the most capacity, and the cheapest of these.
            taint: key of the nodes' taint, which they register with, too.
            capacity: how nodes are bought.
            repair: a node that fails its checks is replaced.
        """
        super().__init__(scope, construct_id)
        managed_policies(role, NODE_POLICIES)
        self.group = _Group(
            self,
            "Group",
            cluster_name=cluster_name,
            node_role=role.role_arn,
            subnets=[subnet.subnet_id],
            capacity_type=_CAPACITY_TYPES.get(capacity),
            launch_template=_Group.LaunchTemplateSpecificationProperty(
                id=launch_template_id, version=launch_template_version
            ),
            scaling_config=_Group.ScalingConfigProperty(
                min_size=nodes, max_size=nodes, desired_size=nodes
            ),
            instance_types=[*instance_types] or None,
            taints=[_Group.TaintProperty(key=taint, value=TAINT_VALUE, effect="NO_SCHEDULE")],
            update_config=_Group.UpdateConfigProperty(max_unavailable=1, update_strategy="MINIMAL"),
            node_repair_config=_Group.NodeRepairConfigProperty(enabled=repair),
        )
        self.group.node.add_dependency(role)


class SystemNodes(Construct):
    """Managed node group for what runs beside the jobs, on AWS's own AMI.

    IMDSv2 alone, an encrypted root volume, no public address. The version is the cluster's, so that
    an update of that reaches these nodes, too: EKS leaves a group that names none as it is, and
    refuses to bring the cluster further than three versions beyond its nodes (EKS user guide,
    "Update existing cluster to new Kubernetes version").

    Attributes:
        group: the resource.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed_constructs import SystemNodes

        stack = Stack(App(), "ControlPlane")
        vpc = ec2.Vpc(stack, "Vpc")
        SystemNodes(
            stack,
            "System",
            cluster_name="train",
            version="1.35",
            subnet=vpc.private_subnets[0],
            security_group=ec2.SecurityGroup(stack, "Cluster", vpc=vpc),
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        version: str,
        subnet: ec2.ISubnet,
        security_group: ec2.ISecurityGroup,
        kms_key_arn: str | None = None,
    ) -> None:
        """Declare the group and its launch template.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster_name: of the EKS cluster.
            version: minor version of Kubernetes, the cluster's.
            subnet: private subnet of the nodes.
            security_group: that EKS makes for the control plane and its nodes.
            kms_key_arn: key that encrypts root volumes; by default the account's own for EBS.
        """
        super().__init__(scope, construct_id)
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            description="System nodes of a cluster of Amazon EKS",
        )
        managed_policies(role, NODE_POLICIES)
        template = EfaLaunchTemplate(
            self,
            "Nodes",
            interfaces=[_ONE_INTERFACE],
            security_groups=[security_group],
            root_device="/dev/xvda",
            root_volume=RootVolumePlan(gib=SYSTEM_GIB, throughput=GP3_THROUGHPUT, iops=GP3_IOPS),
            capacity=CapacityPlan(kind=CapacityKind.ON_DEMAND),
            kms_key_arn=kms_key_arn,
            managed_group=True,
        )
        self.group = _Group(
            self,
            "Group",
            cluster_name=cluster_name,
            node_role=role.role_arn,
            subnets=[subnet.subnet_id],
            ami_type="AL2023_x86_64_STANDARD",
            version=version,
            instance_types=[SYSTEM_TYPE],
            launch_template=_Group.LaunchTemplateSpecificationProperty(
                id=template.launch_template_id, version=template.latest_version
            ),
            scaling_config=_Group.ScalingConfigProperty(
                min_size=SYSTEM_NODES, max_size=SYSTEM_NODES + 1, desired_size=SYSTEM_NODES
            ),
            node_repair_config=_Group.NodeRepairConfigProperty(enabled=True),
        )
