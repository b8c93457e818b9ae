"""How one node is launched: its network interfaces, disk, metadata service and capacity."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import jsii
from aws_cdk import Fn, ITaggable, TagManager, Tags, TagType
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed.catalogue.ebs import GP3_IOPS, GP3_THROUGHPUT
from trainshed.interfaces import InterfaceKind, NetworkInterface
from trainshed.plan import CapacityKind, CapacityPlan, RootVolumePlan, ScratchVolumes
from trainshed.spec import VolumeType
from trainshed_constructs.errors import ConstructError

_Data = ec2.CfnLaunchTemplate
# Amazon VPC user guide, "Amazon VPC quotas": security groups per network interface, by default.
_GROUPS_MAX = 5
# What gets the tags, by the property that has them.
_TAGGED: Mapping[str, Sequence[str]] = {
    "LaunchTemplateData.TagSpecifications": ("instance", "volume", "network-interface"),
    "TagSpecifications": ("launch-template",),
}


@jsii.implements(ITaggable)
class EfaLaunchTemplate(Construct):
    """Launch template of an EFA node, for AWS Batch or anything else that takes one.

    - The interfaces as given, each with the security groups that EFA needs, deleted with the node.
      Never a public IP: one interface alone refuses it. EC2 gives none beside several, and refuses
      even to be asked for none then ("associatePublicIPAddress parameter cannot be specified when
      launching with multiple network interfaces").
    - IMDSv2 only, and out of reach of containers, which are one hop further; no tags in the
      metadata.
    - An encrypted gp3 root volume, scratch volumes if they are asked for, and metrics every minute.
    - A node that powers itself off is terminated.
    - User data only as MIME multi-part, because AWS Batch adds a part of its own.
    - CDK tags on the instances, volumes and interfaces that are launched, too.

    No subnet and no key pair. AWS Batch has subnets, placement group and instance profile in the
    compute environment, and ignores them here (AWS Batch user guide, "Use Amazon EC2 launch
    templates"); an Auto Scaling group takes the last two from here.

    Attributes:
        launch_template: the resource.
        launch_template_id: its id.
        latest_version: number of the version that this deployment makes. CloudFormation does not
            move the default version, so name this one.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed import catalogue
        from trainshed.interfaces import InterfaceProfile, plan_interfaces
        from trainshed.plan import CapacityKind, CapacityPlan, RootVolumePlan
        from trainshed_constructs import EfaLaunchTemplate, EfaSecurityGroup

        stack = Stack(App(), "Compute")
        peers = EfaSecurityGroup(stack, "Peers", vpc=ec2.Vpc(stack, "Vpc"))
        node = catalogue.lookup("trn1.32xlarge")
        EfaLaunchTemplate(
            stack,
            "Node",
            interfaces=plan_interfaces(node, InterfaceProfile.BATCH_MNP),
            security_groups=[peers.security_group],
            root_device="/dev/xvda",
            root_volume=RootVolumePlan(gib=200, throughput=1000, iops=4000),
            capacity=CapacityPlan(kind=CapacityKind.ON_DEMAND),
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        interfaces: Sequence[NetworkInterface],
        security_groups: Sequence[ec2.ISecurityGroup],
        root_device: str,
        root_volume: RootVolumePlan,
        capacity: CapacityPlan,
        scratch_volumes: ScratchVolumes | None = None,
        primary_security_groups: Sequence[ec2.ISecurityGroup] = (),
        user_data: ec2.MultipartUserData | None = None,
        image_id: str | None = None,
        instance_type: str | None = None,
        instance_profile_arn: str | None = None,
        placement_group_name: str | None = None,
        kms_key_arn: str | None = None,
        managed_group: bool = False,
    ) -> None:
        """Declare the launch template.

        Args:
            scope: parent.
            construct_id: id within the parent.
            interfaces: of one node; see `plan_interfaces`.
            security_groups: of every interface.
            root_device: device name of the AMI's root volume, its `RootDeviceName`: `/dev/xvda` of
                Amazon Linux, `/dev/sda1` of Ubuntu. For another name EC2 adds an empty volume, and
                leaves the root volume as the AMI has it.
            root_volume: its size and speed.
            capacity: whether nodes come from a reservation, a Capacity Block or Spot.
            scratch_volumes: beside it, deleted with the node; by default none.
            primary_security_groups: of the primary interface in addition.
            user_data: what the node runs at boot.
            image_id: AMI; by default whoever launches names it.
            instance_type: by default whoever launches names it.
            instance_profile_arn: by default whoever launches names it.
            placement_group_name: cluster placement group; by default whoever launches names it.
            kms_key_arn: key that encrypts the volumes; by default the account's own for EBS.
            managed_group: for a managed node group of EKS, which asks for Spot itself, and refuses
                that and what a node does that powers itself off. Its Auto Scaling group replaces
                a node that has stopped.

        Raises:
            ConstructError: EC2 would refuse the interfaces or groups, or `capacity` has no id.
        """
        super().__init__(scope, construct_id)
        self._tags = TagManager(TagType.KEY_VALUE, "AWS::EC2::LaunchTemplate")
        groups, primary_groups = (
            [group.security_group_id for group in asked]
            for asked in (security_groups, primary_security_groups)
        )
        problems = (
            *_interface_problems(interfaces),
            *_group_problems(groups, primary_groups),
            *_capacity_problems(capacity),
        )
        if problems:
            raise ConstructError(self, "; ".join(problems))
        # L1: the L2 LaunchTemplate has one interface only, https://github.com/aws/aws-cdk/issues/14494
        self.launch_template = ec2.CfnLaunchTemplate(
            self,
            "Template",
            launch_template_data=_Data.LaunchTemplateDataProperty(
                image_id=image_id,
                instance_type=instance_type,
                iam_instance_profile=_Data.IamInstanceProfileProperty(arn=instance_profile_arn)
                if instance_profile_arn
                else None,
                placement=_Data.PlacementProperty(group_name=placement_group_name)
                if placement_group_name
                else None,
                user_data=Fn.base64(user_data.render()) if user_data else None,
                network_interfaces=[
                    _Data.NetworkInterfaceProperty(
                        network_card_index=row.card,
                        device_index=row.device,
                        interface_type=row.kind.value,
                        groups=[*groups, *primary_groups] if row.primary else groups,
                        associate_public_ip_address=False if len(interfaces) == 1 else None,
                        delete_on_termination=True,
                    )
                    for row in interfaces
                ],
                block_device_mappings=[
                    _Data.BlockDeviceMappingProperty(
                        device_name=root_device,
                        ebs=_Data.EbsProperty(
                            volume_size=root_volume.gib,
                            volume_type="gp3",
                            throughput=_above(GP3_THROUGHPUT, root_volume.throughput),
                            iops=_above(GP3_IOPS, root_volume.iops),
                            encrypted=True,
                            kms_key_id=kms_key_arn,
                            delete_on_termination=True,
                        ),
                    ),
                    *_scratch_mappings(scratch_volumes, kms_key_arn),
                ],
                metadata_options=_Data.MetadataOptionsProperty(
                    http_endpoint="enabled",
                    http_tokens="required",
                    # As far as the host; another network namespace is one hop further.
                    http_put_response_hop_limit=1,
                    instance_metadata_tags="disabled",
                ),
                # A node that cannot be set up powers off: it is to be replaced, and not to stay
                # as a stopped instance. AWS Batch's guide does not list this among what it
                # ignores; if it did, EC2 Auto Scaling would replace the stopped node all the same.
                instance_initiated_shutdown_behavior=None if managed_group else "terminate",
                monitoring=_Data.MonitoringProperty(enabled=True),
                instance_market_options=_market(capacity, managed_group),
                capacity_reservation_specification=_reservation(capacity),
            ),
        )
        # CDK's tags do not reach the specifications of an L1 launch template by themselves. The
        # name is what L2 constructs give, and keeps the lists of tags from being empty.
        Tags.of(self).add("Name", self.node.path)
        tags = self._tags.rendered_tags
        for path, resource_types in _TAGGED.items():
            self.launch_template.add_property_override(
                path, [{"ResourceType": kind, "Tags": tags} for kind in resource_types]
            )
        self.launch_template_id = self.launch_template.ref
        self.latest_version = self.launch_template.attr_latest_version_number

    @property
    def tags(self) -> TagManager:
        """What CDK's `Tags.of()` reaches: makes the construct an `ITaggable`."""
        return self._tags


def _above(included: int, planned: int) -> int | None:
    """Return what is provisioned of a volume, or None for what each volume has."""
    return planned if planned > included else None


def _scratch_mappings(
    volumes: ScratchVolumes | None, kms_key_arn: str | None
) -> list[_Data.BlockDeviceMappingProperty]:
    """Return the mappings of volumes without a snapshot, which are blank."""
    if volumes is None:
        return []
    gp3 = volumes.type is VolumeType.GP3
    return [
        _Data.BlockDeviceMappingProperty(
            device_name=device_name,
            ebs=_Data.EbsProperty(
                volume_size=volumes.gib,
                volume_type=volumes.type.value,
                # EC2 refuses a throughput of io2.
                throughput=_above(GP3_THROUGHPUT, volumes.throughput) if gp3 else None,
                iops=_above(GP3_IOPS if gp3 else 0, volumes.iops),
                encrypted=True,
                kms_key_id=kms_key_arn,
                delete_on_termination=True,
            ),
        )
        for device_name in volumes.device_names
    ]


def _market(
    capacity: CapacityPlan, managed_group: bool
) -> _Data.InstanceMarketOptionsProperty | None:
    if capacity.kind is CapacityKind.CAPACITY_BLOCK:
        return _Data.InstanceMarketOptionsProperty(market_type="capacity-block")
    if capacity.kind is not CapacityKind.SPOT or managed_group:
        return None
    price = capacity.max_price
    return _Data.InstanceMarketOptionsProperty(
        market_type="spot",
        spot_options=_Data.SpotOptionsProperty(
            max_price=None if price is None else f"{price:.10g}",
            # CloudFormation reference, SpotOptions: an Auto Scaling group asks again by itself.
            spot_instance_type="one-time",
        ),
    )


def _reservation(
    capacity: CapacityPlan,
) -> _Data.CapacityReservationSpecificationProperty | None:
    if not capacity.target:
        return None
    # EC2 user guide, "Launch instances into Capacity Reservations in a group": what finds
    # no room in the reservations of a group runs on demand otherwise; blocks are a market.
    only = capacity.kind is CapacityKind.RESERVATION and capacity.reservation_group
    return _Data.CapacityReservationSpecificationProperty(
        capacity_reservation_preference="capacity-reservations-only" if only else None,
        capacity_reservation_target=_Data.CapacityReservationTargetProperty(
            capacity_reservation_id=capacity.reservation_id,
            capacity_reservation_resource_group_arn=capacity.reservation_group,
        ),
    )


def _capacity_problems(capacity: CapacityPlan) -> Iterator[str]:
    if capacity.is_reserved != bool(capacity.target):
        yield (
            f"capacity is {capacity.kind} with the target {capacity.target}; a reservation and a "
            "capacity block have an id (cr-...) or a resource group's ARN, the others have none"
        )


def _group_problems(groups: Sequence[str], primary: Sequence[str]) -> Iterator[str]:
    if not groups:
        yield (
            "security_groups is empty, so that interfaces would be in the VPC's default group; "
            "give the group of an EfaSecurityGroup"
        )
    together = len(groups) + len(primary)
    if together > _GROUPS_MAX:
        yield f"the primary interface has {together} security groups; EC2 allows {_GROUPS_MAX}"


def _interface_problems(rows: Sequence[NetworkInterface]) -> Iterator[str]:
    slots = Counter((row.card, row.device) for row in rows)
    for (card, device), count in slots.items():
        if count > 1:
            yield f"{count} interfaces are on card {card}, device {device}; each needs its own slot"
    primaries = [row for row in rows if row.primary]
    if not primaries:
        yield "no interface is the primary one; put one on card 0, device 0"
    if any(row.kind is InterfaceKind.EFA_ONLY for row in primaries):
        yield "the primary interface is efa-only, which has no IP address; make it efa or interface"
