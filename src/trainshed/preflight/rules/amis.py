"""Whether the AMI is there, and is one for these nodes."""

from collections.abc import Iterator
from datetime import timedelta

from trainshed.ami.ami import Ami, find_ami
from trainshed.ami.channel import names_a_channel
from trainshed.aws import accepting
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.preflight.subject import Subject, accounts

_PATH = ("instance", "ami")
_ACTIONS = ("ssm:GetParameter", "ec2:DescribeImages")
_IMAGES = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeImages.html"
_OLD = timedelta(days=180)


def ami_id(subject: Subject) -> str | None:
    """Return the id of the AMI, or None when its parameter is not there."""
    ami = subject.plan.ami
    if ami.parameter is None:
        return ami.asked
    name = f"{ami.parameter}:{ami.version}" if ami.version else ami.parameter
    with accepting("ParameterNotFound", "ParameterVersionNotFound"):
        value: str = subject.aws.call("ssm", "get_parameter", Name=name)["Parameter"]["Value"]
        return value
    return None


def ami_of(subject: Subject) -> Ami | None:
    """Return the AMI of the nodes, or None when it is not there."""
    found = ami_id(subject)
    return find_ami(subject.aws, found, anyone=True) if found else None


@rule(
    "TS-ACC-040",
    over=accounts,
    title="The AMI does not exist",
    when="always",
    why="""
The stack reads the channel's parameter when it is deployed, and EC2 the AMI when a node is
launched. A new account has neither channels nor AMIs of ours.
""",
    actions=_ACTIONS,
    sources=(_IMAGES,),
    severity=Severity.ERROR,
)
def ami_is_there(subject: Subject) -> Iterator[Violation]:
    """The parameter holds the id of an AMI that can be launched."""
    plan, found = subject.plan, ami_id(subject)
    if found is None:
        version = f" has no version {plan.ami.version}, or" if plan.ami.version else ""
        yield Violation(
            path=_PATH,
            message=f"SSM parameter {plan.ami.parameter}{version} does not exist in {plan.region}",
            remedy=plan.ami.remedy,
        )
        return
    ami = ami_of(subject)
    held = f", which {plan.ami.parameter} holds," if plan.ami.parameter else ""
    if ami is None:
        yield Violation(
            path=_PATH,
            message=f"{found}{held} is not in {plan.region}, or this account may not launch it",
            remedy=plan.ami.remedy,
        )
    elif ami.state != "available":
        because = f": {ami.reason}" if ami.reason else ""
        yield Violation(
            path=_PATH,
            message=f"{found}{held} is {ami.state}{because}",
            remedy="wait until it is available"
            if ami.state == "pending"
            else "name another, or bake one: trainshed ami build",
        )


@rule(
    "TS-ACC-041",
    over=accounts,
    title="The AMI does not fit the nodes",
    when="the AMI is there",
    why="""
EC2 refuses an AMI of another processor architecture. An AMI that was baked for other accelerators,
or for another agent, boots without the drivers or the agent, and the node takes no job.
""",
    actions=_ACTIONS,
    sources=(_IMAGES,),
    basis=Basis.INFERRED,
    severity=Severity.ERROR,
)
def ami_fits(subject: Subject) -> Iterator[Violation]:
    """Architecture and tags are those of the plan."""
    plan, ami = subject.plan, ami_of(subject)
    if ami is None:
        return
    if ami.architecture != plan.instance.architecture:
        yield Violation(
            path=_PATH,
            message=f"{ami.image_id} is for {ami.architecture}, and {plan.instance.name} is "
            f"{plan.instance.architecture}",
            remedy="name an AMI for that architecture",
        )
    if plan.ami.cell and ami.build and ami.cell != plan.ami.cell:
        yield Violation(
            path=_PATH,
            message=f"{ami.image_id} was baked for {ami.cell}, and the nodes need {plan.ami.cell}",
            remedy=plan.ami.remedy,
        )


@rule(
    "TS-ACC-044",
    over=accounts,
    title="The AMI has another root device than the launch template",
    when="the AMI is there",
    why="""
EC2 launches such a node, with the root volume that the AMI says, not `instance.root_gib`; the
volume that the launch template says is a second, empty one.
""",
    actions=_ACTIONS,
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/block-device-mapping-concepts.html",
    ),
    severity=Severity.WARNING,
    basis=Basis.INFERRED,
)
def root_device_fits(subject: Subject) -> Iterator[Violation]:
    """The root device is that of the plan."""
    plan, ami = subject.plan, ami_of(subject)
    if ami and ami.root_device and ami.root_device != plan.ami.root_device:
        yield Violation(
            path=_PATH,
            message=f"the root device of {ami.image_id} is {ami.root_device}, and the launch "
            f"template names {plan.ami.root_device}",
            remedy="name an AMI with that root device",
        )


@rule(
    "TS-ACC-042",
    over=accounts,
    title="The AMI of the channel was not baked by us",
    when="instance.ami names a channel",
    why="""
`trainshed ami build` writes tags that say which drivers an AMI has. Without them nothing can
compare it with the nodes or with the container image.
""",
    actions=_ACTIONS,
    sources=(_IMAGES,),
    severity=Severity.WARNING,
)
def ami_has_tags(subject: Subject) -> Iterator[Violation]:
    """An AMI of a channel has the tag of a build."""
    ami = ami_of(subject)
    if ami and names_a_channel(subject.plan.ami.asked) and not ami.build:
        yield Violation(
            path=_PATH,
            message=f"{ami.image_id} has no tag trainshed:build",
            remedy="publish an AMI of trainshed ami build to the channel",
        )


@rule(
    "TS-ACC-043",
    over=accounts,
    title="The AMI is old",
    when="the AMI is there",
    why=f"""
Fixes of the kernel, the drivers and the container runtime come with new AMIs. This one is older
than {_OLD.days} days.
""",
    actions=_ACTIONS,
    sources=(_IMAGES,),
    severity=Severity.INFO,
    basis=Basis.INFERRED,
)
def ami_is_recent(subject: Subject) -> Iterator[Violation]:
    """Older than half a year."""
    ami = ami_of(subject)
    if ami and subject.now - ami.created > _OLD:
        days = (subject.now - ami.created).days
        yield Violation(
            path=_PATH,
            message=f"{ami.image_id} ({ami.name}, of account {ami.owner}) is {days} days old",
            remedy="bake a new one, test it, and publish it: docs/amis.md",
        )
