"""Try the launch of the nodes: a dry run of the launch template that the cluster has.

Orchestrators launch nodes in different ways: each has a rule TS-ACC-090 of its own, which says how.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainshed.account.deployed_stacks import DeployedStack, find_stack
from trainshed.aws import AwsRefusal
from trainshed.findings import Finding, Place, Severity, Violation
from trainshed.findings.rule import describe
from trainshed.plan import CapacityKind
from trainshed.preflight.rules.amis import ami_id
from trainshed.preflight.rules.capacity import own_nodes
from trainshed.preflight.rules.reservations import begins_later
from trainshed.preflight.subject import Subject

_TEMPLATE = "AWS::EC2::LaunchTemplate"
LAUNCH_ACTIONS = (
    "cloudformation:DescribeStacks",
    "cloudformation:ListExports",
    "cloudformation:ListStackResources",
    "ec2:DescribeInstances",
    "ec2:DescribeLaunchTemplateVersions",
    "ssm:GetParameter",
)
# "Error codes for the Amazon EC2 API": the dry run has passed.
_PASSED = "DryRunOperation"
# It says nothing about the launch.
_NO_ANSWER = frozenset(
    {
        "InsufficientInstanceCapacity",
        "InternalError",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "Unavailable",
    }
)
# Launch templates have what RunInstances takes. Tags would need a further permission.
_NOT_SENT = ("TagSpecifications",)


_SOURCE = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RunInstances.html"
_NOT_TRIED = describe(
    "TS-ACC-091",
    command="preflight",
    title="The launch was not tried, or not all of it",
    when="a launch cannot be tried, or the cluster is not deployed yet",
    why="""
A launch needs a subnet, an AMI and the permission to launch. What a deployment makes, such as
security groups, does not exist before.
""",
    sources=(_SOURCE,),
    severity=Severity.INFO,
)


describe(
    "TS-ACC-090",
    title="EC2 refuses to launch the nodes",
    when="the cluster is deployed, or its network is, and its project synthesises",
    why="""
A dry run checks what a launch is made of: instance type, zone, interfaces, subnet, security groups,
AMI, placement group, reservation and permissions. It is a dry run of the cluster's launch template,
for all of its nodes that do not run yet, and once more for each of `capacity.instance_types`, whose
refusal is a warning. For a cluster that is not deployed, it leaves out what
does not exist yet. It says nothing about capacity.

IAM cannot allow dry runs alone: whoever may do them may also launch, and the policy that
`--print-policy` prints leaves `ec2:RunInstances` out. Without it the finding TS-ACC-091 says so.
""",
    sources=(_SOURCE,),
    severity=Severity.ERROR,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Launch:
    """What RunInstances is asked.

    Attributes:
        params: of the call.
        left_out: parts of the launch template that do not exist yet.
    """

    params: Mapping[str, Any]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """What launches the nodes of a cluster, beside their launch template.

    Attributes:
        resource_type: its type of resource in the cluster's stack.
        deployed: returns the subnet into which it launches in a deployed stack, and what it gives
            RunInstances of its own; None where AWS no longer has it.
        subnets: returns what a template says about its subnets, of resources by their type.
    """

    resource_type: str
    deployed: Callable[[Subject, DeployedStack], tuple[str, Mapping[str, Any]] | None]
    subnets: Callable[[Mapping[str, Mapping[str, Any]]], Any]


def try_launch(subject: Subject, launcher: Launcher) -> Iterator[Violation | Finding]:
    """Yield why RunInstances with DryRun does not answer DryRunOperation."""
    stack = find_stack(subject.aws, subject.plan.name)
    launch: _Launch | str | None
    # A stack may still have what another orchestrator launches with.
    if stack and stack.ids(launcher.resource_type):
        launch = _of_stack(subject, stack, launcher)
        if launch is None:
            name = stack.name
            yield Violation(
                path=("instance",),
                message=f"no node of {name} can be launched: its {launcher.resource_type} was "
                "deleted, but not by CloudFormation",
                remedy=f"delete the stack and deploy it again: trainshed teardown {name} --stack "
                f"{name}; npx cdk deploy {name}",
            )
            return
    else:
        launch = _of_template(subject, launcher)
    if isinstance(launch, str):
        yield _not_tried(
            subject, launch, "deploy the network first, and run this in the folder of the project"
        )
        return
    # Those that run have the quota, the addresses and the reservation that they need.
    nodes = subject.plan.nodes.max - own_nodes(subject)
    if nodes < 1:
        return
    if error := _dry_run(subject, launch.params, nodes):
        if error.lacks:
            yield _not_tried(
                subject,
                f"the credentials lack {error.lacks}",
                "leave it so, or allow it where real launches may be allowed, too",
            )
        elif later := begins_later(subject):
            yield _not_tried(
                subject, f"{later} has not begun; {error}", "run it again when it has begun"
            )
        else:
            yield Violation(
                path=("instance",),
                message=f"a dry run of the launch of {nodes} nodes fails: {error}",
                remedy="fix what the message names",
            )
        return
    for other in subject.plan.capacity.other_types:
        if error := _dry_run(subject, {**launch.params, "InstanceType": other.name}, nodes):
            yield Violation(
                path=("capacity", "instance_types"),
                severity=Severity.WARNING,
                message=f"a dry run of the launch of {nodes} nodes of {other.name} fails: {error}",
                remedy=f"fix what the message names, or leave {other.name} out",
            )
    if launch.left_out:
        yield _not_tried(
            subject,
            f"of the launch template, these do not exist yet: {', '.join(launch.left_out)}; the "
            "rest passes",
            "run it again when the cluster is deployed",
        )


def _dry_run(subject: Subject, params: Mapping[str, Any], nodes: int) -> AwsRefusal | None:
    """Return why RunInstances would refuse a launch; None when it would not.

    Raises:
        AwsRefusal: it says nothing about the launch.
    """
    try:
        subject.aws.call(
            "ec2", "run_instances", **params, MinCount=nodes, MaxCount=nodes, DryRun=True
        )
    except AwsRefusal as error:
        if error.code in _NO_ANSWER:
            raise
        return None if error.code == _PASSED else error
    return None


def _not_tried(subject: Subject, why: str, remedy: str) -> Finding:
    return Finding(
        rule=_NOT_TRIED.id,
        severity=_NOT_TRIED.severity,
        message=f"the launch of the nodes was not tried, or not all of it: {why}",
        remedy=remedy,
        place=Place.of(subject.plan.where, ("instance",)),
    )


def _of_stack(subject: Subject, stack: DeployedStack, launcher: Launcher) -> _Launch | None:
    """Return the launch as the deployed cluster does it; None when nothing launches its nodes."""
    [template_id] = stack.ids(_TEMPLATE)
    versions = {"LaunchTemplateId": template_id, "Versions": ["$Latest"]}
    subject.aws.start("ec2", "describe_launch_template_versions", **versions)
    deployed = launcher.deployed(subject, stack)
    if deployed is None:
        return None
    subnet, own = deployed
    [version] = subject.aws.call("ec2", "describe_launch_template_versions", **versions)[
        "LaunchTemplateVersions"
    ]
    data = version["LaunchTemplateData"]
    return _Launch(
        params={
            "LaunchTemplate": {"LaunchTemplateId": template_id, "Version": "$Latest"},
            **own,
            **_placed(data["NetworkInterfaces"], subnet),
        }
    )


def _of_template(subject: Subject, launcher: Launcher) -> _Launch | str:
    """Return the launch as the synthesised template has it, or why there is none."""
    if subject.template is None:
        return "the cluster is not deployed, and there is no synthesised template"
    resources = subject.template["Resources"].values()
    kinds = {resource["Type"]: resource["Properties"] for resource in resources}
    exports = {
        each["Name"]: each["Value"]
        for each in subject.aws.pages("cloudformation", "list_exports", "Exports")
    }
    left_out: list[str] = []
    [subnet, *_] = _resolved(launcher.subnets(kinds), exports, "the subnet", []) or [None]
    image = ami_id(subject)
    if subnet is None or image is None:
        return f"{'the AMI' if subnet else 'its network'} does not exist yet"
    data = _resolved(kinds[_TEMPLATE]["LaunchTemplateData"], exports, "", left_out)
    sent = {key: value for key, value in data.items() if key not in _NOT_SENT}
    if subject.plan.capacity.kind is CapacityKind.SPOT:
        # Where the template does not say so, whoever launches does.
        sent.setdefault("InstanceMarketOptions", {"MarketType": "spot"})
    if calendar := subject.plan.capacity.calendar:
        # In place of their group, which does not exist yet.
        window = next((each for each in calendar if subject.now < each.ends_at), calendar[-1])
        target = {"CapacityReservationId": window.reservation_id}
        sent["CapacityReservationSpecification"] = {"CapacityReservationTarget": target}
    return _Launch(
        params={
            **sent,
            "InstanceType": subject.plan.instance.name,
            "ImageId": image,
            **_placed(sent["NetworkInterfaces"], subnet),
        },
        left_out=tuple(dict.fromkeys(left_out)),
    )


def _placed(interfaces: list[dict[str, Any]], subnet: str) -> dict[str, Any]:
    """Return the interfaces in a subnet."""
    return {"NetworkInterfaces": [{**each, "SubnetId": subnet} for each in interfaces]}


def _resolved(value: Any, exports: Mapping[str, str], path: str, left_out: list[str]) -> Any:
    """Return a part of a template without what CloudFormation would fill in; None for nothing.

    Args:
        value: the part.
        exports: of the stacks that are there, by name.
        path: of the part, for `left_out`.
        left_out: gets the paths of what is unknown.
    """
    if isinstance(value, Mapping):
        exported = value.get("Fn::ImportValue")
        if isinstance(exported, str) and exported in exports:
            return exports[exported]
        if len(value) == 1 and next(iter(value)).startswith(("Fn::", "Ref")):
            left_out.append(path)
            return None
        members = {
            key: _resolved(each, exports, f"{path}.{key}".lstrip("."), left_out)
            for key, each in value.items()
        }
        return {key: each for key, each in members.items() if each is not None}
    if isinstance(value, list):
        known = [_resolved(each, exports, path, left_out) for each in value]
        return [each for each in known if each is not None] or None
    return value
