"""The add-ons of a cluster of Amazon EKS, in an order that does not hang."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import CfnResource
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.plan.control_plane import ADD_ONS_AFTER_NODES, ADD_ONS_BEFORE_NODES
from trainshed_constructs.kubernetes.managed_policies import managed_policies
from trainshed_constructs.kubernetes.pod_identity import pod_principal


class AddOns(Construct):
    """Add-ons of EKS that every cluster needs.

    The VPC CNI, kube-proxy and the agent of EKS Pod Identity come before the first node; DNS and
    the agent that watches nodes wait for the system nodes, which they run on. Where no version is
    given, EKS takes its default for the cluster's version of Kubernetes.

    The VPC CNI keeps as many addresses of a node ready as pods of a training need. By default it
    takes all of an interface, 49 on p5.48xlarge.

    Follows the EKS user guide, "Amazon EKS add-ons".

    Attributes:
        before_nodes: resources that nodes have to wait for.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import AddOns

        stack = Stack(App(), "ControlPlane")
        AddOns(stack, "AddOns", cluster_name="train", addresses=10)
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        addresses: int,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        """Declare those that come before nodes; `after` declares the others.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster_name: of the cluster.
            addresses: that a node keeps for its pods.
            versions: of add-ons, by their name.
        """
        super().__init__(scope, construct_id)
        self._cluster_name, self._versions = cluster_name, versions or {}
        role = iam.Role(
            self,
            "CniRole",
            description="The VPC CNI of a cluster of Amazon EKS",
            assumed_by=pod_principal(),
        )
        managed_policies(
            role,
            {"AmazonEKS_CNI_Policy": "what the VPC CNI needs, kept by AWS with its releases"},
        )
        settings = {
            "env": {"MINIMUM_IP_TARGET": str(addresses), "WARM_IP_TARGET": "1"},
        }
        self.before_nodes = [
            self._add_on("vpc-cni", settings=settings, roles={"aws-node": role}),
            *map(self._add_on, ADD_ONS_BEFORE_NODES[1:]),
        ]

    def after(self, nodes: CfnResource) -> None:
        """Declare those that run on the system nodes."""
        for name in ADD_ONS_AFTER_NODES:
            self._add_on(name).add_resource_dependency(nodes)

    def _add_on(
        self,
        name: str,
        *,
        settings: Mapping[str, Any] | None = None,
        roles: Mapping[str, iam.IRole] | None = None,
    ) -> eks.CfnAddon:
        identities: Sequence[eks.CfnAddon.PodIdentityAssociationProperty] = [
            eks.CfnAddon.PodIdentityAssociationProperty(
                service_account=account, role_arn=role.role_arn
            )
            for account, role in (roles or {}).items()
        ]
        return eks.CfnAddon(
            self,
            name,
            addon_name=name,
            addon_version=self._versions.get(name),
            cluster_name=self._cluster_name,
            configuration_values=json.dumps(settings) if settings else None,
            pod_identity_associations=identities or None,
            resolve_conflicts="OVERWRITE",
        )
