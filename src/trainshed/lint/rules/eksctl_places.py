"""Zones and placement groups that eksctl chooses."""

from collections.abc import Iterator

from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.lint.eksctl import eksctl_groups
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.examples import eksctl_example
from trainshed.lint.judging import in_files
from trainshed.lint.read import read
from trainshed.lint.tool_groups import has_efa


@rule(
    "TS-EKS-002",
    title="A group with EFA names several zones or subnets",
    severity=Severity.ERROR,
    why="""
EFA stays in one availability zone, and eksctl refuses such a file: "efaEnabled nodegroups must have
only one subnet or one availability zone".
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/apis/eksctl.io/v1alpha5/validation.go",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
    ),
    over=in_files(eksctl_groups),
    example=eksctl_example("""
        managedNodeGroups:
          - name: train
            instanceType: p5.48xlarge
            efaEnabled: true
            availabilityZones: [us-west-2a, us-west-2b]
    """),
)
def several_zones(group: EksctlGroup) -> Iterator[Violation]:
    """A group with EFA must name one zone."""
    if not has_efa(group):
        return
    for noun, places in (("zones", group.zones), ("subnets", group.subnets)):
        named = read(places)
        if named and len(set(named.value)) > 1:
            yield Violation(
                path=named.path,
                message=f"{group.name} has EFA and {len(set(named.value))} {noun}, which eksctl "
                f"refuses: {', '.join(named.value)}",
                remedy=f"name one of the {noun}, where the type is offered",
            )


@rule(
    "TS-EKS-009",
    title="A group with EFA names no zone, and gets several",
    why="""
EFA stays in one availability zone. To a group that names neither a zone nor a subnet eksctl gives a
subnet in each zone of the cluster that has the type: a node in another zone talks to the first ones
over TCP, and the placement group, which is in one zone, takes no node from another.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/cfn/builder/nodegroup.go",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
    ),
    over=in_files(eksctl_groups),
    example=eksctl_example(
        "managedNodeGroups: [{name: train, instanceType: p5.48xlarge, efaEnabled: true}]"
    ),
)
def no_zone(group: EksctlGroup) -> Iterator[Violation]:
    """A group with EFA should name its zone."""
    # TS-EKS-003 is about groups with a reservation; a launch template has its own interfaces.
    if not has_efa(group) or not group.efa or group.reservation:
        return
    if not read(group.zones) and not read(group.subnets) and group.listed_subnets != 1:
        yield Violation(
            path=group.efa.path,
            message=f"{group.name} has EFA and names neither a zone nor a subnet: its nodes may be "
            "in several zones",
            remedy="name one zone in availabilityZones, where the type is offered",
        )


@rule(
    "TS-EKS-003",
    title="A group with a reservation does not name its zone, or names others, too",
    why="""
A capacity reservation, or a Capacity Block, is in one availability zone. eksctl may make the group
in another one, or in several: nodes that are launched elsewhere do not get the reserved capacity.
""",
    sources=("https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html",),
    over=in_files(eksctl_groups),
    example=eksctl_example("""
        managedNodeGroups:
          - name: train
            instanceType: p5.48xlarge
            efaEnabled: true
            capacityReservation:
              capacityReservationTarget: {capacityReservationID: cr-0123456789abcdef0}
    """),
)
def reservation_without_zone(group: EksctlGroup) -> Iterator[Violation]:
    """A group with a reservation should be in the zone of the reservation."""
    reservation = read(group.reservation)
    if not reservation:
        return
    zones, subnets = read(group.zones), read(group.subnets)
    if not zones and not subnets:
        yield Violation(
            path=reservation.path,
            message=f"{group.name} is for {reservation.value}, which is in one zone, and names "
            "neither a zone nor a subnet",
            remedy="name the zone of the reservation in availabilityZones",
        )
    for noun, named in (("zones", zones), ("subnets", subnets)):
        # With EFA, TS-EKS-002 finds them.
        if named and len(set(named.value)) > 1 and not has_efa(group):
            yield Violation(
                path=named.path,
                message=f"{group.name} is for {reservation.value}, which is in one zone, and names "
                f"{len(set(named.value))} {noun}: {', '.join(named.value)}",
                remedy=f"name one of the {noun}, that of the reservation",
            )


@rule(
    "TS-EKS-005",
    title="eksctl makes a placement group that the reservation was not made in",
    why="""
For a self-managed group with EFA that names no placement group eksctl makes one. Capacity that was
reserved outside of it cannot be launched into it: of 16 reserved instances 11 started. For managed
groups with a reservation eksctl makes none since 2025.
""",
    sources=(
        "https://github.com/eksctl-io/eksctl/issues/7949",
        "https://github.com/eksctl-io/eksctl/pull/8220",
    ),
    over=in_files(eksctl_groups),
    example=eksctl_example("""
        nodeGroups:
          - name: train
            instanceType: p5.48xlarge
            efaEnabled: true
            availabilityZones: [us-west-2a]
            capacityReservation:
              capacityReservationTarget: {capacityReservationID: cr-0123456789abcdef0}
    """),
)
def group_beside_reservation(group: EksctlGroup) -> Iterator[Violation]:
    """A reservation is launched into the placement group that it was made in, or into none."""
    reservation = read(group.reservation)
    made = read(group.made_group) if reservation else None
    if reservation and made and made.value:
        yield Violation(
            path=made.path,
            message=f"eksctl makes a placement group for {group.name}, and {reservation.value} was "
            "not made in it",
            remedy="move the group to managedNodeGroups, or name the placement group of the "
            "reservation in placement.groupName",
        )
