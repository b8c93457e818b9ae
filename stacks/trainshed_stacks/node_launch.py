"""What the nodes of a cluster are launched with, whatever starts the jobs on them."""

from collections.abc import Sequence
from dataclasses import replace

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from trainshed.plan import CapacityKind, CapacityPlan, ClusterPlan
from trainshed_constructs import (
    CapacityGroup,
    ClusterPlacementGroup,
    EfaLaunchTemplate,
    EfaSecurityGroup,
    FirstBoot,
    TcpSecurityGroup,
)
from trainshed_stacks.data_bucket import let_nodes_mount
from trainshed_stacks.network_stack import NetworkStack
from trainshed_stacks.prerequisites_stack import pinned_ami


class NodeLaunch:
    """Security groups, first boot, AMI, placement and launch template of a cluster's nodes.

    Attributes:
        plan: the cluster.
        subnet: of the nodes.
        first_boot: what a node does before it takes jobs.
        image_id: id of the AMI.

    Args:
        stack: where they are declared.
        plan: the cluster.
        network: the cluster's.
        signals: logical id of the resource whose creation waits for the nodes; by default none.
        groups: further security groups of every interface; by default none.
    """

    def __init__(
        self,
        stack: cdk.Stack,
        plan: ClusterPlan,
        network: NetworkStack,
        *,
        signals: str | None = None,
        groups: Sequence[ec2.ISecurityGroup] = (),
    ) -> None:
        self._stack, self.plan = stack, plan
        self.subnet: ec2.ISubnet = network.network.private_subnet(plan.zone.name)
        # What nodes and their agents reach outside of the VPC: AWS's APIs, ECR, package mirrors.
        https = ec2.Port.tcp(443)
        vpc = network.network.vpc
        peers: EfaSecurityGroup | TcpSecurityGroup
        if plan.devices.get("efa"):
            peers = EfaSecurityGroup(stack, "Efa", vpc=vpc, internet_egress=[https])
        else:
            peers = TcpSecurityGroup(stack, "Tcp", vpc=vpc, internet_egress=[https])
        clients = {each: network.storage_clients[each.stack_name] for each in plan.network_storages}
        over_efa = [group for each, group in clients.items() if each.efa]
        self._groups = [peers.security_group, *groups, *over_efa]
        self._primary_groups = [group for each, group in clients.items() if not each.efa]
        self._scratch_volumes = plan.scratch.volumes if plan.scratch else None
        self.first_boot = FirstBoot(
            stack,
            "FirstBoot",
            cluster=plan.name,
            devices=plan.devices,
            kubernetes=plan.jobs.control_plane.version.name if plan.jobs.control_plane else None,
            monitoring=plan.monitoring,
            mounts=plan.mounts,
            scratch_devices=self._scratch_volumes.device_names if self._scratch_volumes else (),
            signals=signals,
            reserved=plan.capacity.target is not None,
        )
        self.image_id = self._image_id()

    def let_boot(self, role: iam.Role) -> None:
        """Let the role of the nodes read what they boot with, and what they mount."""
        self.first_boot.grant(role)
        let_nodes_mount(self.plan, role)

    def template(
        self,
        *,
        image_id: str | None = None,
        instance_type: str | None = None,
        instance_profile_arn: str | None = None,
        placement_group_name: str | None = None,
        user_data: ec2.MultipartUserData | None = None,
        managed_group: bool = False,
        buys_spot: bool = True,
    ) -> EfaLaunchTemplate:
        """Declare the launch template.

        Args:
            image_id: AMI; None where whoever launches names it, as for the others.
            instance_type: type of the nodes.
            instance_profile_arn: of the nodes' role.
            placement_group_name: of the nodes.
            user_data: what the orchestrator adds to the first boot; by default nothing.
            managed_group: for a managed node group of EKS.
            buys_spot: the template asks for Spot, where the nodes are on it; False where whoever
                launches does.
        """
        user_data = user_data or ec2.MultipartUserData()
        self.first_boot.add_to(user_data)
        return EfaLaunchTemplate(
            self._stack,
            "Nodes",
            interfaces=self.plan.interfaces,
            security_groups=self._groups,
            primary_security_groups=self._primary_groups,
            root_device=self.plan.ami.root_device,
            root_volume=self.plan.root_volume,
            scratch_volumes=self._scratch_volumes,
            user_data=user_data,
            capacity=self._capacity(buys_spot),
            image_id=image_id,
            instance_type=instance_type,
            instance_profile_arn=instance_profile_arn,
            placement_group_name=placement_group_name,
            kms_key_arn=self.plan.security.kms_key,
            managed_group=managed_group,
        )

    def _capacity(self, buys_spot: bool) -> CapacityPlan:
        """Return how the template buys nodes; declare the group of a calendar's windows."""
        capacity = self.plan.capacity
        on_spot = capacity.kind is CapacityKind.SPOT
        # A group of several types says itself how they are bought.
        if capacity.other_types or (on_spot and not buys_spot):
            return replace(capacity, kind=CapacityKind.ON_DEMAND, max_price=None)
        if not capacity.calendar:
            return capacity
        group = CapacityGroup(
            self._stack,
            "Capacity",
            # Not the cluster's name alone: a group of one's own may have it.
            name=f"trainshed-{self.plan.name}",
            reservation_ids=capacity.reservation_ids,
        )
        return replace(capacity, reservation_group=group.arn)

    def placement_group_name(self) -> str | None:
        """Declare the cluster's own placement group, or name the one of its reservation, if any."""
        if self.plan.capacity.own_placement_group:
            return ClusterPlacementGroup(self._stack, "Placement").name
        return self.plan.capacity.placement_group_name

    def _image_id(self) -> str:
        """Give the AMI's id, or the one that its parameter holds when the stack first reads it.

        It is checked here too, for `cdk deploy --exclusively`, which leaves the prerequisites out.
        """
        pinned = pinned_ami(self._stack, self.plan.ami)
        if self.plan.ami.parameter:
            cdk.CfnOutput(
                self._stack,
                "AmiVersion",
                description=f"Version of {self.plan.ami.parameter} that the nodes' AMI came from",
                value=pinned.version,
            )
        return pinned.image_id
