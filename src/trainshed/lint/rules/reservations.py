"""Capacity reservations beside placement groups."""

from collections.abc import Iterator

from trainshed.findings import Basis, Violation, rule
from trainshed.lint.cloudformation import CloudFormationDocument, resources
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import LintedFile
from trainshed.lint.nodes_of_template import LAUNCH_TEMPLATE
from trainshed.lint.read import read, value_of
from trainshed.lint.symbol import logical_id
from trainshed.lint.template import TemplateResource

_GROUP = "AWS::EC2::PlacementGroup"


@rule(
    "TS-CAP-013",
    title="A reservation is used in a placement group that it was not made in",
    why="""
A reservation that was not made in a placement group has its capacity anywhere in the zone, and only
what lies together fits into the group: of 16 reserved instances 11 started. A reservation that
exists cannot be in a placement group that the template makes.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://github.com/eksctl-io/eksctl/issues/7949",
        "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3730",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html",
    ),
    over=in_files(resources(LAUNCH_TEMPLATE)),
    example=resources_example("""
  Together:
    Type: AWS::EC2::PlacementGroup
    Properties: {Strategy: cluster}
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p4d.24xlarge
        Placement: {GroupName: !Ref Together}
        CapacityReservationSpecification:
          CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}
"""),
)
def new_group(template: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """A reservation is launched into the placement group that it was made in, or into none."""
    assert isinstance(document, CloudFormationDocument)
    data = template.get("LaunchTemplateData")
    market = value_of(data.get("InstanceMarketOptions", "MarketType").text())
    target = data.get("CapacityReservationSpecification", "CapacityReservationTarget")
    reservation = read(target.get("CapacityReservationId").reference())
    if not reservation or market == "capacity-block":  # TS-CAP-011 is about blocks
        return
    if logical_id(reservation.value) in document.template.resources:
        return
    for key in ("GroupName", "GroupId"):
        name = read(data.get("Placement", key).reference())
        group = document.template.resources.get(logical_id(name.value) or "") if name else None
        if name and group and group.type == _GROUP:
            yield Violation(
                path=name.path,
                message=f"{template.logical_id} launches into {reservation.value}, which was not "
                f"made in {group.logical_id}: that is new",
                remedy="leave the placement group out, or name the one of the reservation",
            )
