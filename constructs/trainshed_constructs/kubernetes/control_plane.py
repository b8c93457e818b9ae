"""The control plane of a cluster of Amazon EKS."""

from collections.abc import Sequence

from aws_cdk import Acknowledgment, Aws, RemovalPolicy, Stack, Validations
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from trainshed.plan.control_plane import AccessEntry, ControlPlanePlan
from trainshed_constructs.kubernetes.managed_policies import managed_policies

_Cluster = eks.CfnCluster
_LOGS = ("api", "audit", "authenticator", "controllerManager", "scheduler")


class EksControlPlane(Construct):
    """Cluster of Amazon EKS that lets in whom an access entry names, and nobody else.

    - Authentication mode API. By default CloudFormation makes it CONFIG_MAP, and the role that
      deploys an administrator for good.
    - The API server is reached from the VPC, and over the internet only from the ranges given. By
      default it is the other way round.
    - Secrets are encrypted by a key that is kept: without it, no backup of them could be read.
    - All logs of the control plane, for three months. They are in a group whose name EKS fixes, so
      it goes with the cluster: a new cluster of the same name could not be made beside it.
    - Standard support: at its end EKS upgrades the control plane. By default it would go on, at six
      times the price.
    - Protected from deletion.
    - No add-on of EKS's own choice: see `AddOns`.

    L1, because the L2 cluster brings EKS Auto Mode, and a function for kubectl. Follows the EKS
    user guide, "Create an Amazon EKS cluster", and the API reference, CreateCluster.

    Attributes:
        cluster: the resource.
        cluster_name: its name.
        access_entries: who may use it.
        security_group_id: group that EKS makes for the control plane and the nodes; a node without
            it does not join.

    Example::

        from ipaddress import IPv4Network

        from aws_cdk import App, Stack
        from trainshed.catalogue.kubernetes import default_kubernetes
        from trainshed.plan.control_plane import ControlPlanePlan
        from trainshed_constructs import EksControlPlane

        stack = Stack(App(), "ControlPlane")
        EksControlPlane(
            stack,
            "Kubernetes",
            plan=ControlPlanePlan(
                name="train",
                stack_name="TrainControlPlane",
                network="train",
                version=default_kubernetes(),
                service_cidr=IPv4Network("10.100.0.0/16"),
                public_cidrs=(),
                access=(),
                subnet_id=None,
            ),
            subnet_ids=["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        plan: ControlPlanePlan,
        subnet_ids: Sequence[str],
        kms_key_arn: str | None = None,
    ) -> None:
        """Declare the cluster and its access entries.

        Args:
            scope: parent.
            construct_id: id within the parent.
            plan: name, version, ranges and access.
            subnet_ids: for its network interfaces, in two zones at least.
            kms_key_arn: key that encrypts secrets; by default one of its own, which is kept.
        """
        super().__init__(scope, construct_id)
        self.cluster_name = plan.name
        log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/eks/{plan.name}/cluster",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.cluster = _Cluster(
            self,
            "Cluster",
            name=plan.name,
            version=plan.version.name,
            role_arn=self._role(plan.name).role_arn,
            access_config=_Cluster.AccessConfigProperty(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
            ),
            bootstrap_self_managed_addons=False,
            deletion_protection=True,
            encryption_config=[
                _Cluster.EncryptionConfigProperty(
                    provider=_Cluster.ProviderProperty(key_arn=kms_key_arn or self._key()),
                    resources=["secrets"],
                )
            ],
            kubernetes_network_config=_Cluster.KubernetesNetworkConfigProperty(
                ip_family="ipv4", service_ipv4_cidr=str(plan.service_cidr)
            ),
            logging=_Cluster.LoggingProperty(
                cluster_logging=_Cluster.ClusterLoggingProperty(
                    enabled_types=[_Cluster.LoggingTypeConfigProperty(type=name) for name in _LOGS]
                )
            ),
            resources_vpc_config=_Cluster.ResourcesVpcConfigProperty(
                subnet_ids=list(subnet_ids),
                endpoint_private_access=True,
                endpoint_public_access=bool(plan.public_cidrs),
                public_access_cidrs=[*map(str, plan.public_cidrs)] or None,
            ),
            upgrade_policy=_Cluster.UpgradePolicyProperty(support_type="STANDARD"),
        )
        self.cluster.node.add_dependency(log_group)
        self.security_group_id = self.cluster.attr_cluster_security_group_id
        self.access_entries = [
            self._admit(f"Access{index}", entry) for index, entry in enumerate(plan.access)
        ]
        if plan.public_cidrs:
            Validations.of(self.cluster).acknowledge(
                Acknowledgment(
                    id="AwsSolutions-EKS1",
                    reason="the cluster file names the ranges from which the API server is reached",
                )
            )

    def _role(self, name: str) -> iam.Role:
        # EKS user guide, "Cross-service confused deputy prevention in Amazon EKS".
        arn = Stack.of(self).format_arn(service="eks", resource="cluster", resource_name=name)
        role = iam.Role(
            self,
            "Role",
            description="Control plane of Amazon EKS",
            assumed_by=iam.ServicePrincipal(
                "eks.amazonaws.com",
                conditions={
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                    "ArnLike": {"aws:SourceArn": arn},
                },
            ),
        )
        managed_policies(role, {"AmazonEKSClusterPolicy": "EKS asks for it by its name"})
        return role

    def _key(self) -> str:
        return kms.Key(
            self,
            "Secrets",
            description="Secrets of a cluster of Amazon EKS",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN,
        ).key_arn

    def _admit(self, construct_id: str, entry: AccessEntry) -> eks.CfnAccessEntry:
        own = f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/{entry.role}"
        scope = eks.CfnAccessEntry.AccessScopeProperty(
            type="namespace" if entry.namespace else "cluster",
            namespaces=[entry.namespace] if entry.namespace else None,
        )
        return eks.CfnAccessEntry(
            self,
            construct_id,
            cluster_name=self.cluster.ref,
            kubernetes_groups=[entry.group],
            principal_arn=entry.role if entry.role.startswith("arn:") else own,
            access_policies=[
                eks.CfnAccessEntry.AccessPolicyProperty(
                    policy_arn=f"arn:{Aws.PARTITION}:eks::aws:cluster-access-policy/{entry.policy}",
                    access_scope=scope,
                )
            ],
        )
