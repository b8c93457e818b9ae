"""Whether nodes that use EFA are launched close to each other."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from trainshed.documents.problems import Path
from trainshed.documents.yaml import Value
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.lint.batch_parts import COMPUTE_ENVIRONMENT
from trainshed.lint.cloudformation import CloudFormationDocument
from trainshed.lint.conditions import functions_in, parameters_of
from trainshed.lint.examples import eksctl_example, resources_example, slurm_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, Known, LintedFile, NodeGroup, Unknown
from trainshed.lint.nodes_of_template import LAUNCH_TEMPLATE
from trainshed.lint.parts import efa_interfaces, groups_with_interfaces, node_groups
from trainshed.lint.read import NotDecided, read, value_of
from trainshed.lint.symbol import logical_id
from trainshed.lint.template import Template, TemplateResource

_PLACEMENT = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html"
_BATCH = "https://docs.aws.amazon.com/batch/latest/userguide/efa.html"
_GROUP = "AWS::EC2::PlacementGroup"
_NODES = """
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: g5.48xlarge
        {more}
        NetworkInterfaces: [{{DeviceIndex: 0, InterfaceType: efa}}]
"""


def _group_of(group: NodeGroup, document: LintedFile) -> TemplateResource | None:
    """Return the placement group of nodes, if it is in the template."""
    name = read(group.placement_group)
    if not name or not isinstance(document, CloudFormationDocument):
        return None
    resource = document.template.resources.get(logical_id(name.value) or "")
    return resource if resource and resource.type == _GROUP else None


@rule(
    "TS-CAP-008",
    title="The placement group of nodes with EFA is not a cluster group",
    severity=Severity.ERROR,
    why="""
`spread` and `partition` keep nodes apart, on other racks: the opposite of what EFA needs, and a
`spread` group takes seven nodes at most. Only `cluster` puts nodes close to each other.
""",
    sources=(_PLACEMENT, _BATCH),
    over=in_files(groups_with_interfaces),
    example=resources_example(
        """
  Together:
    Type: AWS::EC2::PlacementGroup
    Properties: {Strategy: partition}"""
        + _NODES.format(more="Placement: {GroupName: !Ref Together}")
    ),
)
def not_a_cluster(group: NodeGroup, document: LintedFile) -> Iterator[Violation]:
    """Nodes with EFA belong into a cluster placement group."""
    placement = _group_of(group, document)
    if placement and efa_interfaces(group):
        strategy = read(placement.get("Strategy").text())
        if strategy and strategy.value != "cluster":
            yield Violation(
                path=strategy.path,
                message=f"{placement.logical_id}, of {group.name}, has strategy {strategy.value}",
                remedy="set Strategy to cluster",
            )


@rule(
    "TS-CAP-009",
    title="Nodes with EFA are in no placement group",
    why="""
AWS Batch's page on EFA asks for one cluster placement group for all instances that use EFA.
Without one, nodes may be anywhere in the zone, and collectives between them are slower. Capacity
Blocks need no group: their nodes are together already.
""",
    sources=(_BATCH, _PLACEMENT),
    over=in_files(groups_with_interfaces),
    example=resources_example(
        _NODES.format(more="ImageId: ami-11111111")
        + """
  Cluster:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties:
      MinSize: "0"
      MaxSize: "4"
      VPCZoneIdentifier: [subnet-11111111]
      LaunchTemplate:
        LaunchTemplateId: !Ref Nodes
        Version: !GetAtt Nodes.LatestVersionNumber
"""
    ),
)
def no_group(group: NodeGroup) -> Iterator[Violation]:
    """Nodes that use EFA belong close to each other."""
    if not efa_interfaces(group) or read(group.placement_group):
        return
    purchase, nodes = read(group.purchase), read(group.nodes)
    if (purchase and purchase.value == "capacity-block") or (nodes and nodes.value <= 1):
        return
    # AWS Batch API reference, ComputeResource, type: no multi-node jobs on Spot, so that its nodes
    # do not work together.
    if group.launch == COMPUTE_ENVIRONMENT and purchase and purchase.value == "spot":
        return
    if group.launch == LAUNCH_TEMPLATE:
        why = f"the placement group: what uses {group.name} is not in this file, and may name one"
        raise NotDecided(Unknown(why=why, path=group.path))
    yield Violation(
        path=group.path,
        message=f"the nodes of {group.name} use EFA, and are in no placement group",
        remedy="make an AWS::EC2::PlacementGroup with Strategy cluster, and name it in the launch "
        "template's Placement.GroupName",
    )


@rule(
    "TS-CAP-010",
    title="Nodes that belong together may be in several zones",
    why="""
EFA traffic does not cross availability zones, and a cluster placement group is in one zone. With
subnets of several zones, nodes of one job may be in different zones, or a launch into the placement
group fails.
""",
    sources=("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html", _PLACEMENT),
    over=in_files(node_groups),
    example=resources_example(
        _NODES.format(more="ImageId: ami-11111111")
        + """
  Cluster:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties:
      MinSize: "0"
      MaxSize: "4"
      AvailabilityZones: [us-east-1a, us-east-1b]
      PlacementGroup: my-group
      LaunchTemplate:
        LaunchTemplateId: !Ref Nodes
        Version: !GetAtt Nodes.LatestVersionNumber
"""
    ),
)
def several_zones(group: NodeGroup, document: LintedFile) -> Iterator[Violation]:
    """Nodes that use EFA, or are in a placement group, belong into one zone."""
    efa = group.interfaces is not None and bool(efa_interfaces(group))
    if not efa and not read(group.placement_group):
        return
    zones = _zones(group, document)
    if len(zones) > 1:
        place = next(given for given in (group.zones, group.subnets) if isinstance(given, Known))
        yield Violation(
            path=place.path,
            message=f"{group.name} may launch nodes in {len(zones)} zones: {', '.join(zones)}",
            remedy="name subnets of one zone only",
        )


def _zones(group: NodeGroup, document: LintedFile) -> list[str]:
    """Return the zones that nodes may be in.

    Raises:
        NotDecided: they may be several.
    """
    zones = read(group.zones)
    if zones and len(zones.value) > 1:
        return [*dict.fromkeys(zones.value)]
    subnets = read(group.subnets)
    if not subnets or len(subnets.value) < 2 or not isinstance(document, CloudFormationDocument):
        return []
    found: dict[str, None] = {}
    for name in subnets.value:
        resource = document.template.resources.get(logical_id(name) or "")
        zone = value_of(resource.get("AvailabilityZone").reference()) if resource else None
        if zone is None:
            why = f"the zones of the {len(subnets.value)} subnets of {group.name}"
            raise NotDecided(Unknown(why=why, path=subnets.path))
        found[zone] = None
    return [*found]


@rule(
    "TS-CAP-011",
    title="Nodes of a Capacity Block are put into a placement group",
    why="""
The nodes of a Capacity Block are placed together when the block is reserved. A placement group is a
second constraint on the place: when both cannot be met, launches fail with
`InsufficientInstanceCapacity`.
""",
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html",
        "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3091",
    ),
    over=in_files(node_groups),
    example=resources_example("""
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p5.48xlarge
        InstanceMarketOptions: {MarketType: capacity-block}
        Placement: {GroupName: my-group}
""")
    | eksctl_example("""
        managedNodeGroups:
          - name: train
            instanceType: p5.48xlarge
            instanceMarketOptions: {marketType: capacity-block}
            placement: {groupName: my-group}
    """)
    | slurm_example(
        "InstanceType: p5.48xlarge, MinCount: 4, MaxCount: 4",
        "CapacityType: CAPACITY_BLOCK",
        "CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}",
        "Networking: {SubnetIds: [subnet-1], PlacementGroup: {Enabled: true}}",
    ),
)
def group_of_a_block(group: NodeGroup) -> Iterator[Violation]:
    """Capacity Blocks need no placement group."""
    if value_of(group.purchase) == "capacity-block":
        name = read(group.placement_group)
        if name:
            yield Violation(
                path=name.path,
                message=f"{group.name} is on a Capacity Block, and in placement group {name.value}",
                remedy="leave the placement group out for Capacity Blocks",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Switched:
    """A placement group that a condition gives, or takes away, in one case of a template.

    Attributes:
        resource: that has it.
        path: of the `Fn::If`.
        asked: the switch that asks for it in this case, by its name; None when none does.
        used: what is used in this case; None for nothing.
        made: whether that is in the template in this case, as far as it can be known.
    """

    resource: str
    path: Path
    asked: str | None
    used: str | None
    made: bool


_SWITCH = re.compile(r"placement(group)?s?(enabled)?$")
_NEGATED = re.compile(r"^(no|not|disable|without|skip|omit)")
_YES, _NO = ("true", "yes", "1", "on"), ("false", "no", "0", "off")


def _switched_placements(document: LintedFile) -> Iterator[_Switched]:
    """Yield each `Fn::If` about a placement group."""
    if not isinstance(document, CloudFormationDocument):
        return
    template = document.template
    for resource in template.resources.values():
        given = resource.properties.given
        raw = given.value if isinstance(given, Known) else None
        for argument, path in functions_in(raw, "Fn::If", given.path if given else ()):
            if not any(str(key).startswith("Placement") for key in path):
                continue
            match argument:
                case [str(condition), yes, no] if isinstance(
                    holds := template.scope.conditions.get(condition), bool
                ):
                    used = _named_group(template, yes if holds else no, path)
                    yield _Switched(
                        resource=resource.logical_id,
                        path=path[:-1],
                        asked=_asked(document, condition, holds),
                        used=used,
                        made=logical_id(used or "") not in template.absent,
                    )


def _named_group(template: Template, value: Value, path: Path) -> str | None:
    """Return the placement group that a value names, or a value that may name one."""
    given = template.scope.resolve(value, path)
    if isinstance(given, Known) and isinstance(given.value, dict):
        given = template.scope.resolve(given.value.get("GroupName"), path)
    if isinstance(given, Known):
        return given.value if isinstance(given.value, str) and given.value else None
    return given.why if given else None


def _asked(document: CloudFormationDocument, condition: str, holds: bool) -> str | None:
    """Name what asks for a placement group in this case: a parameter, or else the condition.

    A parameter asks only where the condition depends on nothing else: what else it depends on, such
    as a Capacity Block, may be a reason for no group.
    """
    depends_on = parameters_of(condition, document.template.scope.sections["Conditions"])
    for name, text in document.case:
        value = text.strip("'").lower()
        if {name} == depends_on and _SWITCH.search(_plain(name)) and value in (*_YES, *_NO):
            return name if (value in _YES) != _negated(name) else None
    if _SWITCH.search(_plain(condition)):
        return f"condition {condition}" if holds != _negated(condition) else None
    return None


def _plain(name: str) -> str:
    return re.sub("[^a-z]", "", name.lower())


def _negated(name: str) -> bool:
    return bool(_NEGATED.search(_plain(name)))


@rule(
    "TS-CAP-012",
    title="A switch for the placement group does the opposite",
    severity=Severity.ERROR,
    why="""
A condition that is used the wrong way round takes the placement group away from those who ask for
one, or refers to a group that this condition does not make: CloudFormation then refuses the
template, "Unresolved resource dependencies". Without the group, nodes are far apart, and nothing
says so.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/conditions-section-structure.html",
    ),
    over=in_files(_switched_placements),
    example={
        FileKind.CLOUDFORMATION: """
Parameters:
  UsePlacementGroup: {Type: String, Default: "true", AllowedValues: ["true", "false"]}
Conditions:
  Placed: !Equals [!Ref UsePlacementGroup, "true"]
Resources:
  Together:
    Type: AWS::EC2::PlacementGroup
    Properties: {Strategy: cluster}
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p4d.24xlarge
        Placement: !If [Placed, !Ref AWS::NoValue, {GroupName: !Ref Together}]
"""
    },
)
def inverted_switch(found: _Switched) -> Iterator[Violation]:
    """Who asks for a placement group should get it."""
    if found.used and not found.made:
        yield Violation(
            path=found.path,
            message=f"{found.resource} uses {found.used}, which the template does not make then",
            remedy="use the placement group under the condition that makes it",
        )
    elif found.asked and not found.used:
        yield Violation(
            path=found.path,
            message=f"{found.asked} asks for a placement group, and {found.resource} gets none",
            remedy="exchange the two values of this Fn::If",
        )
