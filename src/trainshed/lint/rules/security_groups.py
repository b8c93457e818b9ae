"""Whether the security groups of nodes let EFA through."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.cloudformation import CloudFormationDocument
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import Interface, LintedFile, NodeGroup, Unknown
from trainshed.lint.parts import efa_interfaces, groups_with_interfaces
from trainshed.lint.read import NotDecided, read, value_of
from trainshed.lint.security_rules import Direction, SecurityRule, rules_of, security_group
from trainshed.lint.symbol import logical_id
from trainshed.lint.template import Template, TemplateResource

_WORDS = {Direction.INGRESS: "inbound", Direction.EGRESS: "outbound"}


@rule(
    "TS-EFA-013",
    title="The security group of EFA interfaces does not let EFA through",
    severity=Severity.ERROR,
    why="""
EFA traffic is neither TCP nor UDP. It needs a security group that allows all traffic, in and out,
to and from itself. A rule for a range of addresses does not count, not even `0.0.0.0/0` for all
protocols: the rule must name the group. Without it, jobs of several nodes hang or fail when they
first talk over EFA.

CDK's `SecurityGroup` with `allow_all_outbound=True`, the default, drops an outbound rule to itself
with a warning only.
""",
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html",
        "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html",
        "https://github.com/open-mpi/ompi/issues/6795",
    ),
    over=in_files(groups_with_interfaces),
    example=resources_example("""
  Peers:
    Type: AWS::EC2::SecurityGroup
    Properties:
      GroupDescription: EFA peers
      VpcId: vpc-11111111
      SecurityGroupEgress: [{IpProtocol: "-1", CidrIp: 0.0.0.0/0}]
  FromPeers:
    Type: AWS::EC2::SecurityGroupIngress
    Properties: {GroupId: !Ref Peers, IpProtocol: "-1", SourceSecurityGroupId: !Ref Peers}
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: g5.48xlarge
        NetworkInterfaces:
          - {DeviceIndex: 0, InterfaceType: efa, Groups: [!Ref Peers]}
"""),
)
def no_rule_to_itself(group: NodeGroup, document: LintedFile) -> Iterator[Violation]:
    """EFA needs all traffic of a group to and from itself."""
    if not isinstance(document, CloudFormationDocument):
        return
    undecided: list[Unknown] = []
    for row in efa_interfaces(group):
        try:
            yield from _judged(_groups_of(row), group, document.template)
        except NotDecided as error:
            undecided.append(error.unknown)
    if undecided:
        raise NotDecided(undecided[0])


def _judged(
    references: tuple[str, ...], group: NodeGroup, template: Template
) -> Iterator[Violation]:
    """Say what the groups of an interface lack.

    Raises:
        NotDecided: what they lack, another may have.
    """
    found = [security_group(template, each) for each in references]
    known = [each for each in found if each]
    missing = {direction: _missing(template, known, direction) for direction in Direction}
    if not any(missing.values()):
        return
    if not known or len(known) < len(found):
        outside = [name for name, each in zip(references, found, strict=True) if not each]
        why = f"the rules of security group {', '.join(outside)}, which is not in this file"
        raise NotDecided(Unknown(why=why, path=group.path))
    ways = [_WORDS[direction] for direction, why in missing.items() if why]
    reasons = dict.fromkeys(why for why in missing.values() if why)
    yield Violation(
        path=known[0].path,
        message=f"{' and '.join(each.logical_id for each in known)}, of EFA interfaces of "
        f"{group.name}, does not allow all {' and '.join(ways)} traffic of its own members: "
        f"{'; '.join(reasons)}",
        remedy="add AWS::EC2::SecurityGroupIngress and AWS::EC2::SecurityGroupEgress with "
        'IpProtocol "-1" that name the group itself',
    )


def _groups_of(row: Interface) -> tuple[str, ...]:
    groups = read(row.security_groups)
    if groups is None:
        why = "the rules of the VPC's default security group, which an interface without groups has"
        raise NotDecided(Unknown(why=why, path=row.path))
    return groups.value


def _missing(
    template: Template, groups: list[TemplateResource], direction: Direction
) -> str | None:
    """Say what stands in place of a rule for all traffic between members; None when it is there.

    Raises:
        NotDecided: there may be one.
    """
    ids = {each.logical_id for each in groups}
    near: list[str] = []
    unknown: Unknown | None = None
    for group in groups:
        for each in rules_of(template, group, direction):
            if isinstance(each, Unknown):
                unknown = each
                continue
            peer = value_of(each.peer_group)
            inside = peer is not None and logical_id(peer) in ids
            if inside and each.all_traffic:
                return None
            if each.unknown and (inside or peer is None):
                unknown = each.unknown if not each.cidr else unknown
            near += _near(each, inside)
    if unknown:
        raise NotDecided(unknown)
    return ", ".join(dict.fromkeys(near)) or "there is no rule for the group itself"


def _near(rule: SecurityRule, inside: bool) -> Iterator[str]:
    if inside and (protocol := value_of(rule.protocol)):
        yield f"the rule for the group itself is for {protocol} only"
    elif cidr := value_of(rule.cidr):
        yield f"a rule for {cidr} does not count"
