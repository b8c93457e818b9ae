"""What only the account knows of a cluster of AWS Batch."""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from trainshed.account.deployed_stacks import DeployedStack
from trainshed.findings import Basis, Finding, Severity, Violation, rule
from trainshed.lint.ports import ALL_PORTS, tcp_ports
from trainshed.orchestrators import Orchestrator
from trainshed.preflight.launch import LAUNCH_ACTIONS, Launcher, try_launch
from trainshed.preflight.rules.subnets import existing_subnet
from trainshed.preflight.subject import Subject, accounts

_ENVIRONMENT = "AWS::Batch::ComputeEnvironment"
_ANYWHERE = "0.0.0.0/0"


@rule(
    "TS-ACC-090",
    over=accounts,
    orchestrators=(Orchestrator.BATCH,),
    actions=(*LAUNCH_ACTIONS, "batch:DescribeComputeEnvironments"),
)
def launch_is_possible(subject: Subject) -> Iterator[Violation | Finding]:
    """The compute environment can launch the nodes."""
    launcher = Launcher(resource_type=_ENVIRONMENT, deployed=_deployed, subnets=_subnets)
    return try_launch(subject, launcher)


def _deployed(subject: Subject, stack: DeployedStack) -> tuple[str, Mapping[str, Any]] | None:
    found = subject.aws.call(
        "batch",
        "describe_compute_environments",
        computeEnvironments=list(stack.ids(_ENVIRONMENT)),
    )["computeEnvironments"]
    if not found:
        return None
    resources = found[0]["computeResources"]
    own = {
        "InstanceType": subject.plan.instance.name,
        "ImageId": resources["ec2Configuration"][0]["imageIdOverride"],
        "IamInstanceProfile": {"Arn": resources["instanceRole"]},
    }
    if group := resources.get("placementGroup"):
        own["Placement"] = {"GroupName": group}
    # The environment asks for Spot itself.
    if resources["type"] == "SPOT":
        own["InstanceMarketOptions"] = {"MarketType": "spot"}
    return resources["subnets"][0], own


def _subnets(properties: Mapping[str, Mapping[str, Any]]) -> Any:
    return properties[_ENVIRONMENT]["ComputeResources"]["Subnets"]


@rule(
    "TS-ACC-027",
    over=accounts,
    orchestrators=(Orchestrator.BATCH,),
    title="The default security group does not let containers of a job talk",
    when="an existing VPC with AWS Batch, and capacity is not spot",
    why="""
The containers of a multi-node job have interfaces of their own. A compute environment whose launch
template has the interfaces cannot name security groups, so that these interfaces are in the VPC's
default group. Many accounts take away that group's rules: then the nodes wait for each other.
""",
    actions=("ec2:DescribeSecurityGroups", "ec2:DescribeSubnets"),
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html",),
    basis=Basis.INFERRED,
    severity=Severity.ERROR,
)
def default_group(subject: Subject) -> Iterator[Violation]:
    """Its members reach each other, and HTTPS; or the stack adds the missing rules."""
    network = subject.plan.network
    if network.vpc_id is None or not subject.plan.traits.uses_default_group:
        return
    filters = [
        {"Name": "vpc-id", "Values": [network.vpc_id]},
        {"Name": "group-name", "Values": ["default"]},
    ]
    groups = list(
        subject.aws.pages("ec2", "describe_security_groups", "SecurityGroups", Filters=filters)
    )
    for group in groups:
        group_id, named = group["GroupId"], network.default_security_group_id
        if named and named != group_id:
            yield Violation(
                path=("network", "default_security_group"),
                message=f"{named} is not the default group of {network.vpc_id}",
                remedy=f"set it to {group_id}",
            )
        missing = [] if named else list(_missing_rules(group, existing_subnet(subject)))
        if missing:
            yield Violation(
                path=("network",),
                message=f"{group_id}, the default group of {network.vpc_id}, has no rules for: "
                f"{', '.join(missing)}",
                remedy=f"set network.default_security_group to {group_id}: the stack then adds "
                "the missing rules",
            )


def _missing_rules(group: Mapping[str, Any], subnet: Mapping[str, Any] | None) -> Iterator[str]:
    incoming, outgoing = group["IpPermissions"], group["IpPermissionsEgress"]

    def reaches_members(rule: Mapping[str, Any]) -> bool:
        groups = {pair.get("GroupId") for pair in rule.get("UserIdGroupPairs", ())}
        members = IPv4Network(subnet["CidrBlock"] if subnet else _ANYWHERE)
        ranges = (IPv4Network(each["CidrIp"]) for each in rule.get("IpRanges", ()))
        inside = any(members.subnet_of(each) for each in ranges)
        return _is_all(rule) and (group["GroupId"] in groups or inside)

    if not any(map(reaches_members, incoming)):
        yield "all traffic from its members"
    if not any(map(reaches_members, outgoing)):
        yield "all traffic to its members"
    # Which ranges are enough depends on where the endpoints are.
    if not any(
        443 in _ports(rule) and (rule.get("IpRanges") or rule.get("PrefixListIds"))
        for rule in outgoing
    ):
        yield "TCP 443 to anywhere"


def _is_all(rule: Mapping[str, Any]) -> bool:
    """Whether a rule is for everything that containers say to each other: EFA is not of them."""
    return _ports(rule) == ALL_PORTS


def _ports(rule: Mapping[str, Any]) -> range:
    return tcp_ports(rule["IpProtocol"], rule.get("FromPort"), rule.get("ToPort"))
