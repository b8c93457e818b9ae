"""Whether EC2 would launch the nodes: a dry run of the launch template that the cluster has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainshed.aws import AwsRefusal
from trainshed.deployed_stacks import DeployedStack, find_stack
from trainshed.findings import Finding, Place, Severity, Violation, rule
from trainshed.findings.rule import describe
from trainshed.preflight.rules.amis import ami_id
from trainshed.preflight.rules.capacity import own_nodes
from trainshed.preflight.rules.reservations import begins_later
from trainshed.preflight.subject import Subject, accounts

_TEMPLATE = "AWS::EC2::LaunchTemplate"
_ENVIRONMENT = "AWS::Batch::ComputeEnvironment"
_GROUP = "AWS::AutoScaling::AutoScalingGroup"
# [S] "Error codes for the Amazon EC2 API": the dry run has passed.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Launch:
    """What RunInstances is asked.

    Attributes:
        params: of the call.
        left_out: parts of the launch template that do not exist yet.
    """

    params: Mapping[str, Any]
    left_out: tuple[str, ...] = ()


@rule(
    "TS-ACC-090",
    over=accounts,
    title="EC2 refuses to launch the nodes",
    when="the cluster is deployed, or its network is, and its project synthesises",
    why="""
A dry run checks what a launch is made of: instance type, zone, interfaces, subnet, security groups,
AMI, placement group, reservation and permissions. It is a dry run of the launch template that the
cluster has, for all of its nodes that do not run yet; of one that is not deployed, what does not
exist yet is left out. It tells nothing about capacity.

IAM cannot allow dry runs only: who may do them may launch, and the policy that
`--print-policy` prints leaves `ec2:RunInstances` out. Without it the finding TS-ACC-091 says so.
""",
    actions=(
        "autoscaling:DescribeAutoScalingGroups",
        "batch:DescribeComputeEnvironments",
        "cloudformation:DescribeStacks",
        "cloudformation:ListExports",
        "cloudformation:ListStackResources",
        "ec2:DescribeInstances",
        "ec2:DescribeLaunchTemplateVersions",
        "ssm:GetParameter",
    ),
    sources=(_SOURCE,),
    severity=Severity.ERROR,
)
def launch_is_possible(subject: Subject) -> Iterator[Violation | Finding]:
    """RunInstances with DryRun answers DryRunOperation."""
    stack = find_stack(subject.aws, subject.plan.name)
    deployed = stack is not None and bool(stack.ids(_TEMPLATE))
    launch = _of_stack(subject, stack) if stack and deployed else _of_template(subject)
    if isinstance(launch, str):
        yield _not_tried(
            subject, launch, "deploy the network first, and run this in the folder of the project"
        )
        return
    # Those that run have the quota, the addresses and the reservation that they need.
    nodes = subject.plan.nodes.max - own_nodes(subject)
    if nodes < 1:
        return
    try:
        subject.aws.call(
            "ec2",
            "run_instances",
            **launch.params,
            MinCount=nodes,
            MaxCount=nodes,
            DryRun=True,
        )
    except AwsRefusal as error:
        if error.lacks:
            yield _not_tried(
                subject,
                f"the credentials lack {error.lacks}",
                "leave it so, or allow it where real launches may be allowed, too",
            )
            return
        if error.code in _NO_ANSWER:
            raise
        if error.code != _PASSED:
            if later := begins_later(subject):
                yield _not_tried(
                    subject, f"{later} has not begun; {error}", "run it again when it has begun"
                )
                return
            yield Violation(
                path=("instance",),
                message=f"a dry run of the launch of {nodes} nodes fails: {error}",
                remedy="put right what the message names",
            )
            return
    if launch.left_out:
        yield _not_tried(
            subject,
            f"of the launch template, these do not exist yet: {', '.join(launch.left_out)}; the "
            "rest passes",
            "run it again when the cluster is deployed",
        )


def _not_tried(subject: Subject, why: str, remedy: str) -> Finding:
    return Finding(
        rule=_NOT_TRIED.id,
        severity=_NOT_TRIED.severity,
        message=f"the launch of the nodes was not tried, or not all of it: {why}",
        remedy=remedy,
        place=Place.of(subject.plan.where, ("instance",)),
    )


def _of_stack(subject: Subject, stack: DeployedStack) -> _Launch:
    """Return the launch as the deployed cluster does it."""
    [template_id] = stack.ids(_TEMPLATE)
    environments = list(stack.ids(_ENVIRONMENT))
    if environments:
        subject.aws.start(
            "batch", "describe_compute_environments", computeEnvironments=environments
        )
    [version] = subject.aws.call(
        "ec2",
        "describe_launch_template_versions",
        LaunchTemplateId=template_id,
        Versions=["$Latest"],
    )["LaunchTemplateVersions"]
    data = version["LaunchTemplateData"]
    own: dict[str, Any]
    if environments:
        [found] = subject.aws.call(
            "batch", "describe_compute_environments", computeEnvironments=environments
        )["computeEnvironments"]
        resources = found["computeResources"]
        subnet = resources["subnets"][0]
        own = {
            "InstanceType": subject.plan.instance.name,
            "ImageId": resources["ec2Configuration"][0]["imageIdOverride"],
            "IamInstanceProfile": {"Arn": resources["instanceRole"]},
        }
        if group := resources.get("placementGroup"):
            own["Placement"] = {"GroupName": group}
    else:
        [found] = subject.aws.call(
            "autoscaling",
            "describe_auto_scaling_groups",
            AutoScalingGroupNames=list(stack.ids(_GROUP)),
        )["AutoScalingGroups"]
        subnet, own = found["VPCZoneIdentifier"].split(",")[0], {}
    return _Launch(
        params={
            "LaunchTemplate": {"LaunchTemplateId": template_id, "Version": "$Latest"},
            **own,
            **_placed(data["NetworkInterfaces"], subnet),
        }
    )


def _of_template(subject: Subject) -> _Launch | str:
    """Return the launch as the synthesised template has it, or why there is none."""
    if subject.template is None:
        return "the cluster is not deployed, and there is no synthesised template"
    resources = subject.template["Resources"].values()
    kinds = {resource["Type"]: resource["Properties"] for resource in resources}
    exports = {
        each["Name"]: each["Value"]
        for each in subject.aws.pages("cloudformation", "list_exports", "Exports")
    }
    environment = kinds.get(_ENVIRONMENT)
    subnets = environment["ComputeResources"]["Subnets"] if environment else None
    if subnets is None:
        subnets = kinds[_GROUP]["VPCZoneIdentifier"]
    left_out: list[str] = []
    [subnet, *_] = _resolved(subnets, exports, "the subnet", []) or [None]
    image = ami_id(subject)
    if subnet is None or image is None:
        return f"{'the AMI' if subnet else 'its network'} is not there yet"
    data = _resolved(kinds[_TEMPLATE]["LaunchTemplateData"], exports, "", left_out)
    sent = {key: value for key, value in data.items() if key not in _NOT_SENT}
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
