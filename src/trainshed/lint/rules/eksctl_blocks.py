"""Capacity Blocks of eksctl's node groups."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.eksctl import eksctl_groups
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.examples import eksctl_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import Known
from trainshed.lint.read import read

_BLOCK = "capacity-block"


@rule(
    "TS-EKS-013",
    title="A node group asks for a Capacity Block in a form that is refused",
    severity=Severity.ERROR,
    why="""
For a managed node group EKS wants three things in the launch template, and rejects the group if one
is missing: the market type `capacity-block`, the id of the block, and one instance type. eksctl
writes them from `instanceMarketOptions`, `capacityReservation` and `instanceType`; it refuses a
market type without a reservation, any other market type, and several types. Into a launch template
that the file names it writes nothing.
""",
    sources=(
        "https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html",
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/apis/eksctl.io/v1alpha5/validation.go",
        "https://github.com/eksctl-io/eksctl/blob/main/pkg/cfn/builder/managed_nodegroup.go",
    ),
    over=in_files(eksctl_groups),
    example=eksctl_example("""
        managedNodeGroups:
          - name: train
            instanceType: p5.48xlarge
            availabilityZones: [us-west-2a]
            instanceMarketOptions: {marketType: capacity-block}
    """),
)
def form_of_a_block(group: EksctlGroup) -> Iterator[Violation]:
    """A Capacity Block is named in the form that EKS takes."""
    market = read(group.market)
    if not market:
        return
    for what, remedy in _problems(group, market):
        yield Violation(
            path=market.path, message=f"{group.name} is for a Capacity Block, {what}", remedy=remedy
        )


def _problems(group: EksctlGroup, market: Known[str]) -> Iterator[tuple[str, str]]:
    if market.value != _BLOCK:
        yield f"and its market type is {market.value!r}", f"set marketType: {_BLOCK}"
        return
    if not read(group.reservation):
        yield (
            "and names none: it is refused",
            "name the block in capacityReservation.capacityReservationTarget.capacityReservationID",
        )
    elif group.managed and not read(group.reservation_id):
        yield (
            "and names a group of reservations, where EKS asks for the id of one block",
            "give each block a node group, with its capacityReservationID",
        )
    types = read(group.instance_types)
    if types and len(set(types.value)) > 1:
        yield (
            f"which is of one type, and names {', '.join(types.value)}",
            "name the type of the block in instanceType",
        )
    elif group.managed and group.template_version and types:
        yield (
            "and EKS wants its instance type in the launch template, into which eksctl writes "
            "nothing",
            "name the instance type in the launch template, and not in the file",
        )
